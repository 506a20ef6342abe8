//! Continuation: follows the solution of `r(x, λ) = 0` from an easy system at λ = 0 to the wanted one at λ = 1.
//!
//! Natural parameter continuation with secant prediction and a step that adapts to how hard the corrector has to work
//! (Deuflhard, *Newton Methods for Nonlinear Problems*, section 5.1). A step that fails is halved.

use crate::newton::{NewtonError, NewtonSolver, NonlinearSystem};

/// A nonlinear system with a parameter between 0 (simplified) and 1 (actual).
pub trait HomotopySystem: NonlinearSystem {
    fn set_parameter(&mut self, lambda: f64);

    /// The system as the Newton iteration sees it.
    fn as_system(&mut self) -> &mut dyn NonlinearSystem;
}

/// The continuation came to a stop at this parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HomotopyError {
    pub lambda: f64,
    pub cause: NewtonError,
}

const SMALLEST_STEP: f64 = 1e-6;

/// Solves at λ = 0 from the guess in `x` and follows the solution to λ = 1. Returns the number of steps.
pub fn continuation(
    solver: &mut NewtonSolver,
    system: &mut dyn HomotopySystem,
    x: &mut [f64],
) -> Result<usize, HomotopyError> {
    system.set_parameter(0.0);
    solver.solve(system.as_system(), x).map_err(|cause| HomotopyError { lambda: 0.0, cause })?;
    let mut lambda = 0.0;
    let mut step: f64 = 0.25;
    let mut current = x.to_vec();
    let mut slope = vec![0.0; x.len()];
    let mut steps = 0;
    while lambda < 1.0 {
        let next = if lambda + step * 1.01 >= 1.0 { 1.0 } else { lambda + step };
        for ((x, c), s) in x.iter_mut().zip(&current).zip(&slope) {
            *x = c + (next - lambda) * s;
        }
        system.set_parameter(next);
        let before = solver.statistics().iterations;
        match solver.solve(system.as_system(), x) {
            Ok(()) => {
                let effort = solver.statistics().iterations - before;
                for ((slope, x), c) in slope.iter_mut().zip(x.iter()).zip(&current) {
                    *slope = (x - c) / (next - lambda);
                }
                current.copy_from_slice(x);
                lambda = next;
                steps += 1;
                if effort <= 4 {
                    step *= 2.0;
                } else if effort > 12 {
                    step *= 0.5;
                }
            }
            Err(cause) => {
                step = 0.25 * (next - lambda);
                if step < SMALLEST_STEP {
                    x.copy_from_slice(&current);
                    return Err(HomotopyError { lambda, cause });
                }
            }
        }
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EvalError;
    use crate::newton::NewtonOptions;

    struct Blend {
        lambda: f64,
        actual: fn(f64) -> f64,
    }

    impl NonlinearSystem for Blend {
        fn size(&self) -> usize {
            1
        }
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            r[0] = self.lambda * (self.actual)(x[0]) + (1.0 - self.lambda) * (x[0] - 5.0);
            Ok(())
        }
    }

    impl HomotopySystem for Blend {
        fn set_parameter(&mut self, lambda: f64) {
            self.lambda = lambda;
        }
        fn as_system(&mut self) -> &mut dyn NonlinearSystem {
            self
        }
    }

    #[test]
    fn reaches_what_newton_alone_does_not() {
        let actual: fn(f64) -> f64 = |x| (x - 9.0).atan();
        let mut system = Blend { lambda: 1.0, actual };
        let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
        let mut x = [-1e3];
        let steps = continuation(&mut solver, &mut system, &mut x).unwrap();
        assert!((x[0] - 9.0).abs() < 1e-9);
        assert!(steps <= 8, "{steps}");
    }

    #[test]
    fn reports_where_it_stops() {
        // No real solution for λ(x² + 1) + (1 − λ)(x − 5) = 0 beyond some λ below one.
        let mut system = Blend { lambda: 1.0, actual: |x| x * x + 1.0 };
        let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
        let error = continuation(&mut solver, &mut system, &mut [0.0]).unwrap_err();
        assert!(error.lambda > 0.3 && error.lambda < 0.95, "{error:?}");
    }
}
