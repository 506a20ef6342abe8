//! Levenberg–Marquardt reduction of a residual, the rescue where the damped Newton iteration gets stuck.
//!
//! The damping parameter follows Nielsen (*Damping parameter in Marquardt's method*, 1999). Unknowns are measured in
//! their scales and residuals in units of the first Jacobian's rows. The method creeps where Newton's is fast, so it
//! stops as soon as the residual is small enough for Newton to take over.

use crate::dense::{DenseLu, DenseMatrix};
use crate::error::EvalError;

/// A system as this method sees it: everything dense.
pub(crate) trait DenseSystem {
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError>;
    fn jacobian(&mut self, x: &[f64], r: &[f64], matrix: &mut DenseMatrix) -> Result<(), EvalError>;
    fn clamp(&self, x: &mut [f64]);
}

const MAX_ITERATIONS: usize = 200;

/// Reduces the residual from `x` on, to the fraction `goal` of its first size if that is possible. Returns whether it
/// was reduced at all.
pub(crate) fn reduce(system: &mut dyn DenseSystem, x: &mut [f64], scale: &[f64], goal: f64) -> Result<bool, EvalError> {
    let n = x.len();
    let mut r = vec![0.0; n];
    system.residual(x, &mut r)?;
    let mut jacobian = DenseMatrix::zeros(n, n);
    system.jacobian(x, &r, &mut jacobian)?;
    let rows = row_units(&jacobian, scale);
    let mut size = squared(&r, &rows);
    let first = size;
    let mut normal = DenseMatrix::zeros(n, n);
    let mut lu = DenseLu::new(n);
    let (mut gradient, mut step) = (vec![0.0; n], vec![0.0; n]);
    let (mut trial, mut trial_r) = (vec![0.0; n], vec![0.0; n]);
    let mut damping = -1.0;
    let mut growth = 2.0;
    for _ in 0..MAX_ITERATIONS {
        if size <= goal * goal * first || !size.is_finite() {
            break;
        }
        form_normal_equations(&jacobian, &r, scale, &rows, &mut normal, &mut gradient);
        if damping < 0.0 {
            damping = 1e-3 * (0..n).fold(0.0_f64, |a, i| a.max(normal.get(i, i)));
        }
        let mut moved = false;
        for _ in 0..40 {
            let mut matrix = normal.clone();
            (0..n).for_each(|i| matrix.set(i, i, matrix.get(i, i) + damping));
            step.copy_from_slice(&gradient);
            if lu.factor(&matrix.values).is_ok() {
                lu.solve(&mut step);
                for i in 0..n {
                    trial[i] = x[i] - step[i] * scale[i];
                }
                system.clamp(&mut trial);
                let evaluated = system.residual(&trial, &mut trial_r);
                if let Err(error) = evaluated
                    && !error.recoverable
                {
                    return Err(error);
                }
                let trial_size = squared(&trial_r, &rows);
                if evaluated.is_ok() && trial_size < size {
                    let predicted: f64 = step.iter().zip(&gradient).map(|(s, g)| s * (damping * s + g)).sum();
                    let gain = (size - trial_size) / predicted.max(f64::MIN_POSITIVE);
                    damping *= (1.0 - (2.0 * gain - 1.0).powi(3)).max(1.0 / 3.0);
                    growth = 2.0;
                    x.copy_from_slice(&trial);
                    std::mem::swap(&mut r, &mut trial_r);
                    size = trial_size;
                    moved = true;
                    break;
                }
            }
            damping = (damping * growth).max(f64::MIN_POSITIVE);
            growth *= 2.0;
        }
        if !moved {
            break;
        }
        system.jacobian(x, &r, &mut jacobian)?;
    }
    Ok(size < first)
}

fn row_units(jacobian: &DenseMatrix, scale: &[f64]) -> Vec<f64> {
    (0..jacobian.rows)
        .map(|i| {
            let sum: f64 = scale.iter().enumerate().map(|(j, s)| (jacobian.get(i, j) * s).abs()).sum();
            if sum > 0.0 && sum.is_finite() { sum } else { 1.0 }
        })
        .collect()
}

fn squared(r: &[f64], rows: &[f64]) -> f64 {
    r.iter().zip(rows).map(|(r, s)| (r / s) * (r / s)).sum()
}

fn form_normal_equations(
    jacobian: &DenseMatrix,
    r: &[f64],
    scale: &[f64],
    rows: &[f64],
    normal: &mut DenseMatrix,
    gradient: &mut [f64],
) {
    let n = r.len();
    for j in 0..n {
        let mut sum = 0.0;
        for i in 0..n {
            sum += jacobian.get(i, j) * r[i] / (rows[i] * rows[i]);
        }
        gradient[j] = sum * scale[j];
        for k in 0..=j {
            let mut sum = 0.0;
            for i in 0..n {
                sum += jacobian.get(i, j) * jacobian.get(i, k) / (rows[i] * rows[i]);
            }
            let value = sum * scale[j] * scale[k];
            normal.set(j, k, value);
            normal.set(k, j, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Valley;

    impl DenseSystem for Valley {
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            r[0] = 10.0 * (x[1] - x[0] * x[0]);
            r[1] = 1.0 - x[0];
            Ok(())
        }
        fn jacobian(&mut self, x: &[f64], _: &[f64], matrix: &mut DenseMatrix) -> Result<(), EvalError> {
            *matrix = DenseMatrix::from_rows(&[&[-20.0 * x[0], 10.0], &[-1.0, 0.0]]);
            Ok(())
        }
        fn clamp(&self, _: &mut [f64]) {}
    }

    #[test]
    fn follows_a_curved_valley() {
        let mut x = [-1.2, 1.0];
        assert_eq!(reduce(&mut Valley, &mut x, &[1.0, 1.0], 1e-8), Ok(true));
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 1.0).abs() < 1e-6, "{x:?}");
    }
}
