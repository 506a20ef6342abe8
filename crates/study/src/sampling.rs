//! Samples of the unit cube from random numbers.

use crate::Generator;

/// Independent points, each coordinate from 0 to below 1.
pub fn random(points: usize, dimensions: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut generator = Generator::new(seed);
    (0..points).map(|_| (0..dimensions).map(|_| generator.uniform()).collect()).collect()
}

/// A Latin hypercube (McKay, Beckman and Conover 1979): in each coordinate every one of `points` equal parts holds one point.
pub fn latin_hypercube(points: usize, dimensions: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut generator = Generator::new(seed);
    let mut sample = vec![vec![0.0; dimensions]; points];
    let mut order: Vec<usize> = (0..points).collect();
    for dimension in 0..dimensions {
        // Fisher and Yates.
        for last in (1..points).rev() {
            order.swap(last, generator.below(last + 1));
        }
        for (point, &part) in sample.iter_mut().zip(&order) {
            // Rounding must not lift a number into the next part.
            let place = (part as f64 + generator.uniform()) / points as f64;
            point[dimension] = place.min(((part + 1) as f64 / points as f64).next_down());
        }
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coordinate(sample: &[Vec<f64>], dimension: usize) -> Vec<f64> {
        sample.iter().map(|point| point[dimension]).collect()
    }

    /// The distance of Kolmogorov and Smirnov from the uniform distribution.
    fn distance(mut values: Vec<f64>) -> f64 {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let step =
            |(k, value): (usize, &f64)| (value - k as f64 / count).abs().max(((k + 1) as f64 / count - value).abs());
        values.iter().enumerate().map(step).fold(0.0, f64::max)
    }

    #[test]
    fn random_points_are_uniform_and_independent() {
        let sample = random(4000, 3, 7);
        for dimension in 0..3 {
            // The critical distance for a chance of one in ten thousand is 2.23/√n.
            assert!(distance(coordinate(&sample, dimension)) < 2.23 / 4000f64.sqrt());
        }
        let product: f64 = sample.iter().map(|point| (point[0] - 0.5) * (point[1] - 0.5)).sum::<f64>() / 4000.0;
        assert!(product.abs() < 5.0 / 12.0 / 4000f64.sqrt(), "{product}");
    }

    #[test]
    fn every_part_of_a_hypercube_holds_one_point() {
        for points in [1, 2, 10, 997] {
            let sample = latin_hypercube(points, 4, 11);
            for dimension in 0..4 {
                let mut parts: Vec<usize> =
                    coordinate(&sample, dimension).iter().map(|x| (x * points as f64) as usize).collect();
                parts.sort_unstable();
                assert_eq!(parts, (0..points).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(latin_hypercube(50, 3, 1), latin_hypercube(50, 3, 1));
        assert_ne!(latin_hypercube(50, 3, 1), latin_hypercube(50, 3, 2));
        assert_eq!(random(50, 3, 1), random(50, 3, 1));
        assert_ne!(random(50, 3, 1), random(50, 3, 2));
        assert!(latin_hypercube(0, 3, 1).is_empty() && random(2, 0, 1) == [[0.0; 0], [0.0; 0]]);
    }
}
