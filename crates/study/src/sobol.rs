//! The sequence of Sobol' with the direction numbers of Joe and Kuo (2008, `new-joe-kuo-6`), scrambled as Owen (1995) proposes, by
//! the hash function of Burley (2020), so that samples of different seeds are independent and all keep their stratification: of any
//! 2ᵏ points that begin the sequence, each of 2ᵏ equal parts of a coordinate holds one.

use crate::generator::mix;

/// The most coordinates that a point may have.
pub const DIMENSIONS: usize = 63;

/// Degree and inner coefficients of the primitive polynomial, and the first direction numbers, from the second coordinate on.
const DIRECTIONS: [(u32, u32, &[u32]); DIMENSIONS - 1] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
    (7, 7, &[1, 1, 3, 13, 7, 35, 63]),
    (7, 8, &[1, 3, 5, 9, 1, 25, 53]),
    (7, 14, &[1, 3, 1, 13, 9, 35, 107]),
    (7, 19, &[1, 3, 1, 5, 27, 61, 31]),
    (7, 21, &[1, 1, 5, 11, 19, 41, 61]),
    (7, 28, &[1, 3, 5, 3, 3, 13, 69]),
    (7, 31, &[1, 1, 7, 13, 1, 19, 1]),
    (7, 32, &[1, 3, 7, 5, 13, 19, 59]),
    (7, 37, &[1, 1, 3, 9, 25, 29, 41]),
    (7, 41, &[1, 3, 5, 13, 23, 1, 55]),
    (7, 42, &[1, 3, 7, 3, 13, 59, 17]),
    (7, 50, &[1, 3, 1, 3, 5, 53, 69]),
    (7, 55, &[1, 1, 5, 5, 23, 33, 13]),
    (7, 56, &[1, 1, 7, 7, 1, 61, 123]),
    (7, 59, &[1, 1, 7, 9, 13, 61, 49]),
    (7, 62, &[1, 3, 3, 5, 3, 55, 33]),
    (8, 14, &[1, 3, 1, 15, 31, 13, 49, 245]),
    (8, 21, &[1, 3, 5, 15, 31, 59, 63, 97]),
    (8, 22, &[1, 3, 1, 11, 11, 11, 77, 249]),
    (8, 38, &[1, 3, 1, 11, 27, 43, 71, 9]),
    (8, 47, &[1, 1, 7, 15, 21, 11, 81, 45]),
    (8, 49, &[1, 3, 7, 3, 25, 31, 65, 79]),
    (8, 50, &[1, 3, 1, 1, 19, 11, 3, 205]),
    (8, 52, &[1, 1, 5, 9, 19, 21, 29, 157]),
    (8, 56, &[1, 3, 7, 11, 1, 33, 89, 185]),
    (8, 67, &[1, 3, 3, 3, 15, 9, 79, 71]),
    (8, 70, &[1, 3, 7, 11, 15, 39, 119, 27]),
    (8, 84, &[1, 1, 3, 1, 11, 31, 97, 225]),
    (8, 97, &[1, 1, 1, 3, 23, 43, 57, 177]),
    (8, 103, &[1, 3, 7, 7, 17, 17, 37, 71]),
    (8, 115, &[1, 3, 1, 5, 27, 63, 123, 213]),
    (8, 122, &[1, 1, 3, 5, 11, 43, 53, 133]),
    (9, 8, &[1, 3, 5, 5, 29, 17, 47, 173, 479]),
    (9, 13, &[1, 3, 3, 11, 3, 1, 109, 9, 69]),
    (9, 16, &[1, 1, 1, 5, 17, 39, 23, 5, 343]),
    (9, 22, &[1, 3, 1, 5, 25, 15, 31, 103, 499]),
    (9, 25, &[1, 1, 1, 11, 11, 17, 63, 105, 183]),
    (9, 44, &[1, 1, 5, 11, 9, 29, 97, 231, 363]),
    (9, 47, &[1, 1, 5, 15, 19, 45, 41, 7, 383]),
    (9, 52, &[1, 3, 7, 7, 31, 19, 83, 137, 221]),
    (9, 55, &[1, 1, 1, 3, 23, 15, 111, 223, 83]),
    (9, 59, &[1, 1, 5, 13, 31, 15, 55, 25, 161]),
];

const BITS: usize = 32;

/// Direction numbers of a coordinate.
fn directions(dimension: usize) -> [u32; BITS] {
    let mut found = [0u32; BITS];
    if dimension == 0 {
        found.iter_mut().enumerate().for_each(|(k, direction)| *direction = 1 << (BITS - 1 - k));
        return found;
    }
    let (degree, coefficients, first) = DIRECTIONS[dimension - 1];
    let degree = degree as usize;
    for k in 0..BITS {
        found[k] = if k < degree {
            first[k] << (BITS - 1 - k)
        } else {
            let mut direction = found[k - degree] ^ (found[k - degree] >> degree);
            for inner in 1..degree {
                if coefficients >> (degree - 1 - inner) & 1 == 1 {
                    direction ^= found[k - inner];
                }
            }
            direction
        };
    }
    found
}

/// Points of the sequence; at most [`DIMENSIONS`] coordinates, those beyond it are left out.
pub fn sobol(points: usize, dimensions: usize, seed: u64) -> Vec<Vec<f64>> {
    let dimensions = dimensions.min(DIMENSIONS);
    let table: Vec<[u32; BITS]> = (0..dimensions).map(directions).collect();
    let seeds: Vec<u64> = (0..dimensions as u64).map(|k| mix(seed ^ mix(k + 1))).collect();
    let coordinate = |index: u32, dimension: usize| {
        let chosen = (0..BITS).filter(|bit| index >> bit & 1 == 1);
        let place = chosen.fold(0, |place, bit| place ^ table[dimension][bit]);
        let scrambled = scrambled(place, seeds[dimension]);
        // The middle of its interval, so that no value is 0 or 1.
        (f64::from(scrambled) + 0.5) / (1u64 << BITS) as f64
    };
    (0..points).map(|index| (0..dimensions).map(|dimension| coordinate(index as u32, dimension)).collect()).collect()
}

/// A nested uniform scramble: each binary digit is flipped by a hash of all digits before it.
fn scrambled(place: u32, seed: u64) -> u32 {
    let seed_bits = (seed >> 32) as u32;
    let mut value = place.reverse_bits().wrapping_add(seed as u32);
    // Multiplication by even numbers moves information upwards only, that is from leading digits to later ones.
    for factor in [0x6c50_b47c, 0xb82f_1e52, 0xc7af_e638, 0x8d22_f6e6] {
        value ^= value.wrapping_mul(factor);
    }
    let value = value ^ lower_to_upper(value, seed_bits);
    value.reverse_bits()
}

/// One more round with other bits of the seed; bit k of it depends on the bits below k.
fn lower_to_upper(value: u32, seed: u32) -> u32 {
    value.wrapping_add(seed | 1).wrapping_mul((seed & !1) ^ 0x05d9_e3a6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_each_coordinate_holds_one_point() {
        for seed in [0, 1, 99] {
            for points in [1usize, 2, 64, 1024] {
                let sample = sobol(points, DIMENSIONS, seed);
                for dimension in 0..DIMENSIONS {
                    let mut parts: Vec<usize> =
                        sample.iter().map(|point| (point[dimension] * points as f64) as usize).collect();
                    parts.sort_unstable();
                    assert_eq!(parts, (0..points).collect::<Vec<_>>(), "coordinate {dimension}, seed {seed}");
                }
            }
        }
    }

    #[test]
    fn the_first_two_coordinates_are_a_net() {
        // A (0, m, 2)-net: each elementary interval of area 2⁻ᵐ holds one point.
        for seed in [3, 4] {
            let sample = sobol(256, 2, seed);
            for split in 0..=8 {
                let (wide, high) = (1usize << split, 1usize << (8 - split));
                let mut cells: Vec<usize> = sample
                    .iter()
                    .map(|point| (point[0] * wide as f64) as usize * high + (point[1] * high as f64) as usize)
                    .collect();
                cells.sort_unstable();
                assert_eq!(cells, (0..256).collect::<Vec<_>>(), "{wide} by {high}");
            }
        }
    }

    /// The square of the L2-star discrepancy, by the formula of Warnock (1972).
    fn discrepancy(sample: &[Vec<f64>]) -> f64 {
        let (n, d) = (sample.len() as f64, sample[0].len());
        let single: f64 = sample.iter().map(|p| p.iter().map(|x| 1.0 - x * x).product::<f64>()).sum();
        let pair = |p: &Vec<f64>, q: &Vec<f64>| p.iter().zip(q).map(|(a, b)| 1.0 - a.max(*b)).product::<f64>();
        let double: f64 = sample.iter().flat_map(|p| sample.iter().map(move |q| pair(p, q))).sum();
        3f64.powi(-(d as i32)) - 2f64.powi(1 - d as i32) / n * single + double / (n * n)
    }

    #[test]
    fn the_discrepancy_is_far_below_that_of_random_points() {
        for dimensions in [2, 4, 6] {
            let sobol = |points: usize| discrepancy(&sobol(points, dimensions, 1)).sqrt();
            // What independent points have in the mean of squares.
            let expected = ((2f64.powi(-(dimensions as i32)) - 3f64.powi(-(dimensions as i32))) / 512.0).sqrt();
            assert!(sobol(512) < 0.5 * expected, "{dimensions}: {} beside {expected}", sobol(512));
            // Independent points would gain a factor of 4.
            assert!(sobol(128) > 6.0 * sobol(2048), "{dimensions}: {} to {}", sobol(128), sobol(2048));
        }
    }

    #[test]
    fn polynomials_are_primitive() {
        for (degree, inner, first) in DIRECTIONS {
            assert_eq!(first.len(), degree as usize);
            assert!(first.iter().enumerate().all(|(k, m)| m % 2 == 1 && *m < 2 << k), "{first:?}");
            // The order of x modulo the polynomial is that of the whole field.
            let polynomial = 1u32 << degree | inner << 1 | 1;
            let (mut power, mut order) = (1u32, 0);
            loop {
                power <<= 1;
                if power >> degree & 1 == 1 {
                    power ^= polynomial;
                }
                order += 1;
                if power == 1 || order > 1 << degree {
                    break;
                }
            }
            assert_eq!(order, (1 << degree) - 1, "degree {degree}, inner {inner}");
        }
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(sobol(20, 3, 1), sobol(20, 3, 1));
        assert_ne!(sobol(20, 3, 1), sobol(20, 3, 2));
        assert!(sobol(5000, 9, 8).iter().flatten().all(|&x| 0.0 < x && x < 1.0));
    }
}
