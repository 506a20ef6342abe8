//! Steps of linear differential equations ṡ = A(t) s + b(t) with several right-hand sides at once, by the three-stage Radau IIA
//! method of order 5 with its embedded estimate (Hairer and Wanner, *Solving Ordinary Differential Equations II*, IV.8).
//!
//! Sensitivities are such equations along a trajectory that is known: no iteration is needed, and stiffness does not matter.

use crate::error::Singular;
use crate::linear::LinearSolver;

/// The equation at an instant.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Coefficients {
    /// The matrix, column after column.
    pub a: Vec<f64>,
    /// The inhomogeneity of each right-hand side.
    pub b: Vec<Vec<f64>>,
}

/// What a step came to.
#[derive(Clone, PartialEq, Debug)]
pub struct LinearStep {
    /// The solutions at the end of the step.
    pub s: Vec<Vec<f64>>,
    /// Their estimated errors.
    pub errors: Vec<Vec<f64>>,
}

/// The instants at which a step evaluates the equation, in parts of its length; the last is its end.
pub fn nodes() -> [f64; 3] {
    let root = 6f64.sqrt();
    [(4.0 - root) / 10.0, (4.0 + root) / 10.0, 1.0]
}

fn weights() -> [[f64; 3]; 3] {
    let root = 6f64.sqrt();
    [
        [(88.0 - 7.0 * root) / 360.0, (296.0 - 169.0 * root) / 1800.0, (-2.0 + 3.0 * root) / 225.0],
        [(296.0 + 169.0 * root) / 1800.0, (88.0 + 7.0 * root) / 360.0, (-2.0 - 3.0 * root) / 225.0],
        [(16.0 - root) / 36.0, (16.0 + root) / 36.0, 1.0 / 9.0],
    ]
}

/// A step of length `h` from the solutions `s`, with the equation at its beginning and at its nodes.
pub fn step(h: f64, begin: &Coefficients, stages: &[Coefficients; 3], s: &[Vec<f64>]) -> Result<LinearStep, Singular> {
    let size = s.first().map_or(0, Vec::len);
    if size == 0 {
        return Ok(LinearStep { s: s.to_vec(), errors: s.to_vec() });
    }
    let weights = weights();
    let mut solver = LinearSolver::new(3 * size, None)?;
    solver.factor(&stage_matrix(h, &weights, stages, size))?;
    let gamma = 1.0 / real_eigenvalue();
    let mut filter = LinearSolver::new(size, None)?;
    filter.factor(&filter_matrix(h * gamma, begin, size))?;
    let mut made = LinearStep { s: Vec::with_capacity(s.len()), errors: Vec::with_capacity(s.len()) };
    for (k, s) in s.iter().enumerate() {
        let slopes: Vec<Vec<f64>> = stages.iter().map(|stage| slope(stage, k, s)).collect();
        let mut z = vec![0.0; 3 * size];
        for (i, row) in weights.iter().enumerate() {
            for (weight, slope) in row.iter().zip(&slopes) {
                z[i * size..].iter_mut().zip(slope).for_each(|(z, slope)| *z += h * weight * slope);
            }
        }
        solver.solve(&mut z);
        made.errors.push(estimate(h, gamma, &mut filter, &slope(begin, k, s), &z));
        made.s.push(s.iter().zip(&z[2 * size..]).map(|(s, z)| s + z).collect());
    }
    Ok(made)
}

/// The real eigenvalue of the inverse of the weights.
fn real_eigenvalue() -> f64 {
    30.0 / (6.0 + 81f64.cbrt() - 9f64.cbrt())
}

/// A s + b of one right-hand side.
fn slope(at: &Coefficients, k: usize, s: &[f64]) -> Vec<f64> {
    let mut slope = at.b[k].clone();
    for (column, s) in at.a.chunks(slope.len()).zip(s) {
        slope.iter_mut().zip(column).for_each(|(slope, a)| *slope += a * s);
    }
    slope
}

/// 1 − h (W ⊗ A), column after column.
fn stage_matrix(h: f64, weights: &[[f64; 3]; 3], stages: &[Coefficients; 3], size: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; 9 * size * size];
    for (j, stage) in stages.iter().enumerate() {
        for (column, entries) in stage.a.chunks(size).enumerate() {
            let place = 3 * size * (j * size + column);
            for (i, row) in weights.iter().enumerate() {
                let part = &mut matrix[place + i * size..place + (i + 1) * size];
                part.iter_mut().zip(entries).for_each(|(entry, a)| *entry = -h * row[j] * a);
            }
            matrix[place + j * size + column] += 1.0;
        }
    }
    matrix
}

/// 1 − hγ A at the beginning.
fn filter_matrix(step: f64, begin: &Coefficients, size: usize) -> Vec<f64> {
    let mut matrix: Vec<f64> = begin.a.iter().map(|a| -step * a).collect();
    (0..size).for_each(|k| matrix[k * size + k] += 1.0);
    matrix
}

fn estimate(h: f64, gamma: f64, filter: &mut LinearSolver, slope: &[f64], z: &[f64]) -> Vec<f64> {
    let root = 6f64.sqrt();
    let factors = [-(13.0 + 7.0 * root) / 3.0, (-13.0 + 7.0 * root) / 3.0, -1.0 / 3.0];
    let size = slope.len();
    let combined = |k: usize| (0..3).map(|i| factors[i] * z[i * size + k]).sum::<f64>();
    let mut error: Vec<f64> = slope.iter().enumerate().map(|(k, slope)| gamma * (h * slope + combined(k))).collect();
    filter.solve(&mut error);
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ṡ = −2 t s from 1 has s = exp(−t²), ṡ = 2 t (1 − s) from 0 has s = 1 − exp(−t²).
    fn at(t: f64) -> Coefficients {
        Coefficients { a: vec![-2.0 * t], b: vec![vec![0.0], vec![2.0 * t]] }
    }

    fn integrate(steps: usize) -> [f64; 2] {
        let h = 1.0 / steps as f64;
        let mut s = vec![vec![1.0], vec![0.0]];
        for k in 0..steps {
            let t = k as f64 * h;
            s = step(h, &at(t), &nodes().map(|node| at(t + node * h)), &s).unwrap().s;
        }
        [s[0][0], s[1][0]]
    }

    #[test]
    fn the_order_is_five() {
        let exact = [(-1f64).exp(), 1.0 - (-1f64).exp()];
        let error = |steps| integrate(steps).iter().zip(exact).map(|(s, exact)| (s - exact).abs()).fold(0.0, f64::max);
        assert!(error(4) < 2e-6, "{}", error(4));
        let ratio = error(4) / error(8);
        assert!((20.0..50.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn the_estimate_bounds_the_error_and_stiffness_is_no_matter() {
        let s = [vec![1.0], vec![0.0]];
        let made = step(0.25, &at(0.0), &nodes().map(|node| at(0.25 * node)), &s).unwrap();
        let error = (made.s[0][0] - (-0.0625f64).exp()).abs();
        assert!(error <= made.errors[0][0].abs() && made.errors[0][0].abs() < 1e-2, "{made:?}");
        let stiff = Coefficients { a: vec![-1e8], b: vec![vec![2e8]] };
        let made = step(1.0, &stiff, &[stiff.clone(), stiff.clone(), stiff.clone()], &[vec![0.0]]).unwrap();
        assert!((made.s[0][0] - 2.0).abs() < 1e-6);
    }
}
