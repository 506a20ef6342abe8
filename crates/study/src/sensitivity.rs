//! How much of the variance of a result each factor explains: the indices of Sobol' from a sample of Saltelli.
//!
//! First-order indices by the estimator of Saltelli et al. (2010), total ones by that of Jansen (1999). The sample is two halves A and
//! B of a Sobol' sequence of twice the dimensions, and for each factor A with that column of B. Confidence intervals are from a
//! bootstrap over the rows.

use crate::{Generator, quantile, sobol};

/// What a factor explains of the variance of a result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sensitivity {
    /// By itself.
    pub first: f64,
    /// Together with all others.
    pub total: f64,
    /// Half the width of the interval that holds `first` with a probability of 95 %.
    pub first_error: f64,
    /// The same of `total`.
    pub total_error: f64,
}

/// How many points a sample with that many rows has; `None` where the number is too large to count.
pub fn saltelli_size(rows: usize, factors: usize) -> Option<usize> {
    rows.checked_mul(factors.checked_add(2)?)
}

/// A sample for [`sensitivities`]: for each of `rows` rows the points of A, of B, and of A with one column of B in turn.
pub fn saltelli(rows: usize, factors: usize, seed: u64) -> Vec<Vec<f64>> {
    let both = sobol(rows, 2 * factors, seed);
    let row = |both: &Vec<f64>| {
        let (a, b) = both.split_at(both.len() / 2);
        let mixed = |factor: usize| {
            let mut point = a.to_vec();
            point[factor] = b[factor];
            point
        };
        let mut points = vec![a.to_vec(), b.to_vec()];
        points.extend((0..a.len()).map(mixed));
        points
    };
    both.iter().flat_map(row).collect()
}

/// The indices of each factor, from the results at the points of [`saltelli`] in their order. Rows with a result that is not finite
/// are left out. `None` without variance, or with fewer than two rows.
pub fn sensitivities(results: &[f64], factors: usize) -> Option<Vec<Sensitivity>> {
    const RESAMPLED: usize = 200;
    let rows: Vec<&[f64]> =
        results.chunks_exact(factors + 2).filter(|row| row.iter().all(|value| value.is_finite())).collect();
    let found = estimates(&rows, factors)?;
    let mut generator = Generator::new(1);
    let resampled: Vec<Vec<(f64, f64)>> = (0..RESAMPLED)
        .filter_map(|_| {
            let drawn: Vec<&[f64]> = (0..rows.len()).map(|_| rows[generator.below(rows.len())]).collect();
            estimates(&drawn, factors)
        })
        .collect();
    let half_width = |values: Vec<f64>| 0.5 * (quantile(&values, 0.975) - quantile(&values, 0.025));
    let with_errors = |(factor, &(first, total)): (usize, &(f64, f64))| Sensitivity {
        first,
        total,
        first_error: half_width(resampled.iter().map(|estimate| estimate[factor].0).collect()),
        total_error: half_width(resampled.iter().map(|estimate| estimate[factor].1).collect()),
    };
    Some(found.iter().enumerate().map(with_errors).collect())
}

/// First-order and total index of each factor.
fn estimates(rows: &[&[f64]], factors: usize) -> Option<Vec<(f64, f64)>> {
    if rows.len() < 2 {
        return None;
    }
    let count = rows.len() as f64;
    let of_both = || rows.iter().flat_map(|row| [row[0], row[1]]);
    let mean = of_both().sum::<f64>() / (2.0 * count);
    let variance = of_both().map(|value| (value - mean).powi(2)).sum::<f64>() / (2.0 * count);
    // Rounding is no variance.
    if variance <= (1e-14 * mean.abs()).powi(2) || !variance.is_finite() {
        return None;
    }
    let index = |factor: usize| {
        let mixed = |row: &&[f64]| row[2 + factor];
        // Values are taken relative to their mean, which changes nothing but rounding.
        let first: f64 = rows.iter().map(|row| (row[1] - mean) * (mixed(row) - row[0])).sum();
        let total: f64 = rows.iter().map(|row| (row[0] - mixed(row)).powi(2)).sum();
        (first / count / variance, 0.5 * total / count / variance)
    };
    Some((0..factors).map(index).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_of_ishigami() {
        let (a, b, pi) = (7.0f64, 0.1f64, std::f64::consts::PI);
        let f = |x: &[f64]| {
            let x: Vec<f64> = x.iter().map(|u| pi * (2.0 * u - 1.0)).collect();
            x[0].sin() + a * x[1].sin().powi(2) + b * x[2].powi(4) * x[0].sin()
        };
        // Closed form of Ishigami and Homma (1990).
        let first = [0.5 * (1.0 + b * pi.powi(4) / 5.0).powi(2), a * a / 8.0, 0.0];
        let joint = b * b * pi.powi(8) * 8.0 / 225.0;
        let variance = first.iter().sum::<f64>() + joint;
        let total = [first[0] + joint, first[1], joint];
        let results: Vec<f64> = saltelli(4096, 3, 1).iter().map(|point| f(point)).collect();
        let found = sensitivities(&results, 3).unwrap();
        for (factor, found) in found.iter().enumerate() {
            assert!((found.first - first[factor] / variance).abs() < 0.01, "{factor}: {found:?}");
            assert!((found.total - total[factor] / variance).abs() < 0.01, "{factor}: {found:?}");
            assert!(found.first_error < 0.05 && found.total_error < 0.05);
        }
    }

    #[test]
    fn a_sum_has_no_interactions() {
        let results: Vec<f64> =
            saltelli(1024, 2, 3).iter().map(|point| 1e6 + 3.0 * point[0] + 4.0 * point[1]).collect();
        let found = sensitivities(&results, 2).unwrap();
        for (found, expected) in found.iter().zip([0.36, 0.64]) {
            assert!((found.first - expected).abs() < 0.01 && (found.total - expected).abs() < 0.01, "{found:?}");
        }
    }

    #[test]
    fn nothing_to_explain() {
        assert_eq!(sensitivities(&[3.0; 40], 2), None);
        assert_eq!(sensitivities(&[], 2), None);
        // Rows that failed are left out.
        let mut results: Vec<f64> = saltelli(64, 1, 3).iter().map(|point| point[0]).collect();
        results[5] = f64::NAN;
        assert!((sensitivities(&results, 1).unwrap()[0].first - 1.0).abs() < 0.1);
    }
}
