//! Slopes that a system does not tell where it has residuals: a derivative that somebody wrote for a function may fail where the
//! function itself has a value. Its entries of the Jacobian are undefined then, and differences take their place.
//!
//! Differences to both sides have to agree. At a vertical slope, at a kink and at the end of what is defined they do not, and the entry
//! stays undefined.

use super::{NewtonSolver, NonlinearSystem};

/// How far differences to both sides may be apart, relative to them.
const SMOOTH: f64 = 1e-3;

impl NewtonSolver {
    /// Fills in undefined entries of the Jacobian at `x`, where the residual is known.
    pub(super) fn replace_undefined_slopes(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) {
        if !self.values.iter().any(|value| value.is_nan()) {
            return;
        }
        let mut point = x.to_vec();
        let (mut above, mut below) = (vec![0.0; self.size], vec![0.0; self.size]);
        for column in 0..self.size {
            let places = self.places_of(column);
            if !places.iter().any(|&(place, _)| self.values[place].is_nan()) {
                continue;
            }
            let step = f64::EPSILON.cbrt() * self.scale[column];
            self.statistics.residuals += 2;
            point[column] = x[column] + step;
            let is_known = system.residual(&point, &mut above).is_ok();
            point[column] = x[column] - step;
            let is_known = is_known && system.residual(&point, &mut below).is_ok();
            point[column] = x[column];
            for (place, row) in places {
                if is_known && self.values[place].is_nan() {
                    let (ahead, behind) = ((above[row] - self.r[row]) / step, (self.r[row] - below[row]) / step);
                    let rounding = 8.0 * f64::EPSILON * (above[row].abs() + below[row].abs()) / step;
                    if (ahead - behind).abs() <= SMOOTH * ahead.abs().max(behind.abs()) + rounding {
                        self.values[place] = 0.5 * (ahead + behind);
                    }
                }
            }
        }
        self.evaluated.fill(f64::NAN);
    }

    /// Where the entries of a column lie, and their rows.
    fn places_of(&self, column: usize) -> Vec<(usize, usize)> {
        match &self.pattern {
            Some(pattern) => {
                let places = pattern.starts[column]..pattern.starts[column + 1];
                places.map(|place| (place, pattern.indices[place] as usize)).collect()
            }
            None => (0..self.size).map(|row| (column * self.size + row, row)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EvalError;
    use crate::newton::NewtonOptions;

    /// `x² = 2` with slopes that are undefined, and `√|x - 1| = 0` with its vertical one.
    struct Undefined {
        is_vertical: bool,
    }

    impl NonlinearSystem for Undefined {
        fn size(&self) -> usize {
            1
        }

        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            r[0] = if self.is_vertical { (x[0] - 1.0).abs().sqrt() } else { x[0] * x[0] - 2.0 };
            Ok(())
        }

        fn jacobian(&mut self, _: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
            values[0] = f64::NAN;
            Ok(true)
        }
    }

    #[test]
    fn differences_take_the_place_of_undefined_slopes() {
        let mut system = Undefined { is_vertical: false };
        let mut x = [1.0];
        let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).expect("a solver");
        solver.solve(&mut system, &mut x).expect("a solution");
        assert!((x[0] - 2f64.sqrt()).abs() < 1e-9, "{x:?}");
    }

    #[test]
    fn a_vertical_slope_stays_one() {
        let mut system = Undefined { is_vertical: true };
        let x = [1.0];
        let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).expect("a solver");
        solver.r = vec![0.0];
        solver.values = vec![f64::NAN];
        solver.set_scale(&x);
        solver.replace_undefined_slopes(&mut system, &x);
        assert!(solver.values[0].is_nan());
    }
}
