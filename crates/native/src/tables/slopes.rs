//! Slopes of cubic Hermite splines at the points of a table.
//!
//! - Akima: H. Akima, *A New Method of Interpolation and Smooth Curve Fitting Based on Local Procedures*, 1970, and the
//!   modified weights that avoid overshoot where the data are flat.
//! - Fritsch–Butland: F. N. Fritsch, J. Butland, *A Method for Constructing Local Monotone Piecewise Cubic Interpolants*,
//!   1984.
//! - Steffen: M. Steffen, *A Simple Method for Monotonic Interpolation in One Dimension*, 1990.

use super::basis::Smoothness;

/// The slopes at all points. Data that repeat themselves beyond the ends have the same ones: what the Modelica Standard Library
/// gives inside of a table does not depend on how the table is continued.
pub fn slopes(x: &[f64], y: &[f64], smoothness: Smoothness) -> Vec<f64> {
    let count = x.len().min(y.len());
    // Lines and steps need no slopes, and may have two points at one place.
    if count < 2 || matches!(smoothness, Smoothness::Linear | Smoothness::Constant) {
        return vec![0.0; count];
    }
    let secants: Vec<f64> = (1..count).map(|k| (y[k] - y[k - 1]) / (x[k] - x[k - 1])).collect();
    if secants.len() == 1 {
        return vec![secants[0]; 2];
    }
    match smoothness {
        Smoothness::Akima => akima(&secants, |before, after| (after - before).abs()),
        Smoothness::ModifiedAkima => {
            akima(&secants, |before, after| (after - before).abs() + (after + before).abs() / 2.0)
        }
        Smoothness::FritschButland => monotone(x, &secants, fritsch_butland),
        Smoothness::Steffen => monotone(x, &secants, steffen),
        Smoothness::Linear | Smoothness::Constant => vec![0.0; count],
    }
}

/// Two more secants on each side, such that their differences stay equal.
pub fn extended(secants: &[f64]) -> Vec<f64> {
    let count = secants.len();
    let mut all = Vec::with_capacity(count + 4);
    let (first, last) = (secants[0], secants[count - 1]);
    let (second, next_to_last) = match count {
        1 => (first, last),
        _ => (secants[1], secants[count - 2]),
    };
    all.extend([3.0 * first - 2.0 * second, 2.0 * first - second]);
    all.extend_from_slice(secants);
    all.extend([2.0 * last - next_to_last, 3.0 * last - 2.0 * next_to_last]);
    all
}

/// The weights of the secants left and right of point `k` (in extended secants), as fractions.
pub fn akima_weights(all: &[f64], k: usize, weight: impl Fn(f64, f64) -> f64) -> (f64, f64) {
    let left = weight(all[k + 2], all[k + 3]);
    let right = weight(all[k], all[k + 1]);
    let sum = left + right;
    if sum > 0.0 { (left / sum, right / sum) } else { (0.5, 0.5) }
}

fn akima(secants: &[f64], weight: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let all = extended(secants);
    (0..=secants.len())
        .map(|k| {
            let (left, right) = akima_weights(&all, k, &weight);
            left * all[k + 1] + right * all[k + 2]
        })
        .collect()
}

/// Widths and secants of the intervals left and right of a point.
struct Sides {
    widths: [f64; 2],
    secants: [f64; 2],
}

/// At an end the slope is that of the secant next to it, as Modelica's tables have it.
fn monotone(x: &[f64], secants: &[f64], inner: fn(&Sides) -> f64) -> Vec<f64> {
    let count = secants.len();
    let width = |k: usize| x[k + 1] - x[k];
    let between = |left: usize, right: usize| Sides {
        widths: [width(left), width(right)],
        secants: [secants[left], secants[right]],
    };
    let mut slopes = Vec::with_capacity(count + 1);
    slopes.push(secants[0]);
    slopes.extend((1..count).map(|k| inner(&between(k - 1, k))));
    slopes.push(secants[count - 1]);
    slopes
}

/// A weighted harmonic mean of the secants.
fn fritsch_butland(sides: &Sides) -> f64 {
    let Sides { widths: [h0, h1], secants: [s0, s1] } = *sides;
    if s0 * s1 <= 0.0 {
        return 0.0;
    }
    let (w0, w1) = (2.0 * h1 + h0, h1 + 2.0 * h0);
    (w0 + w1) / (w0 / s0 + w1 / s1)
}

fn steffen(sides: &Sides) -> f64 {
    let Sides { widths: [h0, h1], secants: [s0, s1] } = *sides;
    if s0 * s1 <= 0.0 {
        return 0.0;
    }
    let parabola = (s0 * h1 + s1 * h0) / (h0 + h1);
    2.0 * s0.signum() * s0.abs().min(s1.abs()).min(parabola.abs() / 2.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CUBIC: [Smoothness; 4] =
        [Smoothness::Akima, Smoothness::FritschButland, Smoothness::Steffen, Smoothness::ModifiedAkima];

    #[test]
    fn a_straight_line_stays_straight() {
        let x = [0.0, 1.0, 3.0, 3.5, 7.0];
        let y = x.map(|x| 2.0 * x - 1.0);
        for smoothness in CUBIC {
            for slope in slopes(&x, &y, smoothness) {
                assert!((slope - 2.0).abs() < 1e-14, "{smoothness:?} {slope}");
            }
        }
    }

    #[test]
    fn monotone_splines_end_with_their_secants() {
        let (x, y) = ([0.0, 1.0, 3.0, 4.0], [0.0, 1.0, 2.0, 7.0]);
        for smoothness in [Smoothness::FritschButland, Smoothness::Steffen] {
            let slopes = slopes(&x, &y, smoothness);
            assert_eq!((slopes[0], slopes[3]), (1.0, 5.0));
        }
    }

    #[test]
    fn a_jump_has_no_slopes() {
        assert_eq!(slopes(&[1.0, 1.0], &[0.0, 1.0], Smoothness::Constant), [0.0, 0.0]);
    }

    #[test]
    fn akimas_parabola() {
        // Equal weights in the middle of a parabola, and its slope there.
        let x = [-2.0, -1.0, 0.0, 1.0, 2.0];
        let y = x.map(|x| x * x);
        assert_eq!(slopes(&x, &y, Smoothness::Akima), [-4.0, -2.0, 0.0, 2.0, 4.0]);
    }

    proptest! {
        #[test]
        fn monotone_data_stay_monotone(steps in prop::collection::vec((0.1..2.0f64, 0.0..3.0f64), 2..10)) {
            let mut x = vec![0.0];
            let mut y = vec![0.0];
            for (dx, dy) in steps {
                x.push(x[x.len() - 1] + dx);
                y.push(y[y.len() - 1] + dy);
            }
            for smoothness in [Smoothness::FritschButland, Smoothness::Steffen] {
                let slopes = slopes(&x, &y, smoothness);
                for k in 0..x.len() - 1 {
                    let secant = (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
                    // The condition of de Boor and Swartz.
                    prop_assert!(slopes[k] >= 0.0 && slopes[k] <= 3.0 * secant + 1e-12);
                    prop_assert!(slopes[k + 1] >= 0.0 && slopes[k + 1] <= 3.0 * secant + 1e-12);
                }
            }
        }
    }
}
