//! Jacobians by finite differences, one evaluation for each colour of the columns.
//!
//! The increment is the square root of the unit roundoff times the size of the unknown (Curtis, Powell and Reid 1974).

use crate::colouring::Colouring;
use crate::sparse::Pattern;

/// The columns to perturb together and scratch for the perturbed evaluation.
#[derive(Clone, Debug, Default)]
pub struct FiniteDifferences {
    colouring: Option<Colouring>,
    x: Vec<f64>,
    f: Vec<f64>,
    increments: Vec<f64>,
}

impl FiniteDifferences {
    pub fn new(size: usize, pattern: Option<&Pattern>) -> Self {
        FiniteDifferences {
            colouring: pattern.map(Colouring::new),
            x: vec![0.0; size],
            f: vec![0.0; size],
            increments: vec![0.0; size],
        }
    }

    /// Evaluations that one Jacobian costs.
    pub fn evaluations(&self) -> usize {
        self.colouring.as_ref().map_or(self.x.len(), Colouring::count)
    }

    /// Writes the derivative of `function` at `x`, where its value is `f`, in the order of the pattern or by full
    /// columns. `sizes` are typical magnitudes of the unknowns. A perturbation that cannot be evaluated is tried in
    /// the other direction.
    pub fn jacobian<E>(
        &mut self,
        pattern: Option<&Pattern>,
        x: &[f64],
        f: &[f64],
        sizes: &[f64],
        values: &mut [f64],
        mut function: impl FnMut(&[f64], &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let relative = f64::EPSILON.sqrt();
        for (((increment, x), size), f) in self.increments.iter_mut().zip(x).zip(sizes).zip(f) {
            let wanted = relative * x.abs().max(size.abs()).max(f64::MIN_POSITIVE * 1e20);
            // In the direction of the motion, away from limits the solution is leaving.
            let signed = if *f < 0.0 { -wanted } else { wanted };
            // The increment that the sum really makes.
            *increment = (x + signed) - x;
            if *increment == 0.0 {
                *increment = signed;
            }
        }
        let n = x.len();
        match (&self.colouring, pattern) {
            (Some(colouring), Some(pattern)) => {
                for group in &colouring.groups {
                    for retry in [false, true] {
                        self.x.copy_from_slice(x);
                        for j in group {
                            let j = *j as usize;
                            if retry {
                                self.increments[j] = -self.increments[j];
                            }
                            self.x[j] += self.increments[j];
                        }
                        match function(&self.x, &mut self.f) {
                            Ok(()) if self.f.iter().all(|f| f.is_finite()) => break,
                            Err(error) if retry => return Err(error),
                            _ => {}
                        }
                    }
                    for j in group {
                        let j = *j as usize;
                        for p in pattern.starts[j]..pattern.starts[j + 1] {
                            let i = pattern.indices[p] as usize;
                            values[p] = (self.f[i] - f[i]) / self.increments[j];
                        }
                    }
                }
            }
            _ => {
                for j in 0..n {
                    for retry in [false, true] {
                        if retry {
                            self.increments[j] = -self.increments[j];
                        }
                        self.x.copy_from_slice(x);
                        self.x[j] += self.increments[j];
                        match function(&self.x, &mut self.f) {
                            Ok(()) if self.f.iter().all(|f| f.is_finite()) => break,
                            Err(error) if retry => return Err(error),
                            _ => {}
                        }
                    }
                    for i in 0..n {
                        values[j * n + i] = (self.f[i] - f[i]) / self.increments[j];
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coloured_and_full_differences_agree_with_the_derivative() {
        let pattern = Pattern::from_entries(3, 3, [(0, 0), (1, 0), (1, 1), (2, 2)]);
        let function = |x: &[f64], f: &mut [f64]| -> Result<(), ()> {
            // Only x[0] ≥ 2 can be evaluated.
            if x[0] < 2.0 {
                return Err(());
            }
            f.copy_from_slice(&[-x[0] * x[0], x[0] * x[1], x[2].sin()]);
            Ok(())
        };
        let x = [2.0, 3.0, 0.5];
        let mut f = [0.0; 3];
        function(&x, &mut f).unwrap();
        let mut sparse = vec![0.0; 4];
        let mut differences = FiniteDifferences::new(3, Some(&pattern));
        assert_eq!(differences.evaluations(), 2);
        differences.jacobian(Some(&pattern), &x, &f, &[1.0; 3], &mut sparse, function).unwrap();
        let mut full = vec![0.0; 9];
        FiniteDifferences::new(3, None).jacobian(None, &x, &f, &[1.0; 3], &mut full, function).unwrap();
        for (value, exact) in sparse.iter().zip([-4.0, 3.0, 2.0, 0.5_f64.cos()]) {
            assert!((value - exact).abs() < 1e-6);
        }
        assert!((full[0] + 4.0).abs() < 1e-6 && full[3] == 0.0 && (full[4] - 2.0).abs() < 1e-6);
    }
}
