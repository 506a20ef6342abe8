//! Slopes that a system does not tell where it has residuals: a derivative that somebody wrote for a function may fail where the
//! function itself has a value. Its entries of the Jacobian are undefined then, and differences take their place.
//!
//! Differences to both sides, and over two distances, have to agree. At a vertical slope, at a kink, at the end of what is defined and
//! where the residual is flat, as x·|x| at zero, they do not, and the entry stays undefined.

use super::{NewtonSolver, NonlinearSystem};

/// How far differences may be apart, relative to them.
const SMOOTH: f64 = 1e-3;
/// How many times shorter the second distance is.
const SHORTER: f64 = 4.0;

impl NewtonSolver {
    /// Fills in undefined entries of the Jacobian at `x`, where the residual is known.
    pub(super) fn replace_undefined_slopes(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) {
        if !self.values.iter().any(|value| value.is_nan()) {
            return;
        }
        let mut point = x.to_vec();
        let mut moved = vec![vec![0.0; self.size]; 4];
        for column in 0..self.size {
            let places = self.places_of(column);
            if !places.iter().any(|&(place, _)| self.values[place].is_nan()) {
                continue;
            }
            let step = f64::EPSILON.cbrt() * self.scale[column];
            let steps = [step, -step, step / SHORTER, -step / SHORTER];
            self.statistics.residuals += steps.len() as u64;
            let is_known = steps.iter().zip(&mut moved).all(|(step, moved)| {
                point[column] = x[column] + step;
                system.residual(&point, moved).is_ok()
            });
            point[column] = x[column];
            for (place, row) in places {
                if is_known && self.values[place].is_nan() {
                    let slopes: [f64; 4] =
                        std::array::from_fn(|which| (moved[which][row] - self.r[row]) / steps[which]);
                    self.values[place] = slope(slopes, 8.0 * f64::EPSILON * moved[0][row].abs() * SHORTER / step);
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

/// What differences tell that rounding errors change by so much; undefined where they do not agree.
fn slope(differences: [f64; 4], rounding: f64) -> f64 {
    let (least, most) = differences
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), slope| (least.min(*slope), most.max(*slope)));
    let agree = most - least <= SMOOTH * most.abs().max(least.abs()) + rounding;
    if agree { 0.5 * (differences[2] + differences[3]) } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EvalError;
    use crate::newton::NewtonOptions;

    /// A residual whose slopes are undefined.
    struct Undefined(fn(f64) -> f64);

    impl NonlinearSystem for Undefined {
        fn size(&self) -> usize {
            1
        }

        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            r[0] = (self.0)(x[0]);
            Ok(())
        }

        fn jacobian(&mut self, _: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
            values[0] = f64::NAN;
            Ok(true)
        }
    }

    #[test]
    fn differences_take_the_place_of_undefined_slopes() {
        let mut system = Undefined(|x| x * x - 2.0);
        let mut x = [1.0];
        let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).expect("a solver");
        solver.solve(&mut system, &mut x).expect("a solution");
        assert!((x[0] - 2f64.sqrt()).abs() < 1e-9, "{x:?}");
    }

    fn slope_at(function: fn(f64) -> f64, x: f64) -> f64 {
        let mut system = Undefined(function);
        let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).expect("a solver");
        solver.r = vec![function(x)];
        solver.values = vec![f64::NAN];
        solver.set_scale(&[x]);
        solver.replace_undefined_slopes(&mut system, &[x]);
        solver.values[0]
    }

    #[test]
    fn differences_that_do_not_agree_tell_no_slope() {
        assert!(slope_at(|x| (x - 1.0).abs().sqrt(), 1.0).is_nan(), "vertical");
        assert!(slope_at(f64::abs, 0.0).is_nan(), "a kink");
        assert!(slope_at(|x| x * x.abs(), 0.0).is_nan(), "flat");
        assert!((slope_at(|x| x * x * x, 2.0) - 12.0).abs() < 1e-6);
        assert_eq!(slope_at(|_| 3.0, 1.0), 0.0);
    }
}
