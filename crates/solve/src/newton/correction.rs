//! Corrections: the Jacobian, its factorisation, which a warm start uses again, and the correction of least norm where it is
//! singular.

use super::{LARGEST_DENSE, NewtonError, NewtonSolver, NonlinearSystem, Target};
use crate::dense::{DenseMatrix, least_squares};
use crate::error::Singular;
use crate::finite_differences::FiniteDifferences;
use crate::weights::all_finite;

/// How fast corrections shrink, at least, with factors of another point.
const SHRINKING: f64 = 0.2;

impl NewtonSolver {
    /// Iterates with the factors at hand while the corrections shrink fast. False puts `x` back to its start.
    pub(super) fn simplified(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<bool, NewtonError> {
        self.step.copy_from_slice(&self.r);
        self.solver.solve(&mut self.step);
        let near = self.has_slopes_of(x);
        if near && self.is_settled_at_start(x) && self.check_slopes(system, x).is_ok() {
            return Ok(true);
        }
        self.set_relative_weight(x);
        let mut size = self.weighted_norm(&self.step);
        // How far the slopes may have changed on the way.
        let moved = size.min(0.9);
        for round in 0..8 {
            self.statistics.iterations += 1;
            x.iter_mut().zip(&self.step).for_each(|(x, d)| *x -= d);
            self.clamp(x);
            if !size.is_finite() || self.evaluate(system, x, Target::Own).is_err() || !all_finite(&self.r) {
                break;
            }
            std::mem::swap(&mut self.step, &mut self.next_step);
            self.step.copy_from_slice(&self.r);
            self.solver.solve(&mut self.step);
            let next = self.weighted_norm(&self.step);
            let contraction = if size > 0.0 { next / size } else { 0.0 };
            // After one correction nothing is known of the contraction but what the length of the step tells: a long one may
            // land near the solution by chance, and with factors of a steeper place corrections are too short.
            let rate = if round == 0 { contraction.max(moved) } else { contraction };
            let tolerance = (1.0 - rate) * self.options.tolerance;
            if rate < 1.0
                && (near || self.residuals_shrank())
                && self.corrections_are_within(x, &self.step, &self.r, tolerance)
                && self.dependents_are_settled(x, &self.next_step, &self.step)
                && self.check_slopes(system, x).is_ok()
            {
                return Ok(true);
            }
            if contraction > SHRINKING || contraction.is_nan() {
                break;
            }
            size = next;
        }
        x.copy_from_slice(&self.start);
        self.evaluate_start(system, x)?;
        Ok(false)
    }

    /// Whether every residual is smaller than at the start. One that stays has unknowns that the factors do not let move.
    fn residuals_shrank(&self) -> bool {
        /// Relative to the largest residual at the start.
        const NOTHING: f64 = 1e-6;
        let largest = self.first_r.iter().fold(0.0f64, |largest, r| largest.max(r.abs()));
        let mut residuals = self.r.iter().zip(&self.first_r);
        residuals.all(|(r, first)| r.abs() <= (SHRINKING * first.abs()).max(NOTHING * largest))
    }

    /// Whether the factors are those of a point near by. Slopes of a much steeper place, such as that of a logarithm near zero, make
    /// every correction short.
    fn has_slopes_of(&self, x: &[f64]) -> bool {
        const NEAR: f64 = 0.5;
        x.iter().zip(&self.slopes_at).all(|(x, at)| (x - at).abs() <= NEAR * x.abs().max(at.abs()))
    }

    pub(super) fn for_each_entry(&self, mut visit: impl FnMut(usize, usize, f64)) {
        match &self.pattern {
            Some(pattern) => {
                for column in 0..self.size {
                    for p in pattern.starts[column]..pattern.starts[column + 1] {
                        visit(pattern.indices[p] as usize, column, self.values[p]);
                    }
                }
            }
            None => {
                for (column, values) in self.values.chunks_exact(self.size).enumerate() {
                    values.iter().enumerate().for_each(|(row, &value)| visit(row, column, value));
                }
            }
        }
    }

    pub(super) fn evaluate_jacobian(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<(), NewtonError> {
        self.statistics.jacobians += 1;
        self.slopes_at.copy_from_slice(x);
        let mut analytic = false;
        if self.differences.is_none() {
            analytic = system.jacobian(x, &mut self.values).map_err(NewtonError::Evaluation)?;
            if analytic {
                self.replace_undefined_slopes(system, x);
            }
        }
        if !analytic {
            let differences =
                self.differences.get_or_insert_with(|| FiniteDifferences::new(self.size, self.pattern.as_ref()));
            let residuals = &mut self.statistics.residuals;
            differences
                .jacobian(self.pattern.as_ref(), x, &self.r, &self.scale, &mut self.values, |x, r| {
                    *residuals += 1;
                    system.residual(x, r)
                })
                .map_err(NewtonError::Evaluation)?;
            self.evaluated.fill(f64::NAN);
        }
        self.set_row_scale();
        if self.first_row_scale[0] == f64::INFINITY {
            self.first_row_scale.copy_from_slice(&self.row_scale);
        }
        Ok(())
    }

    /// `step = J⁻¹ r`, or the correction of least norm where J is singular.
    pub(super) fn correction(&mut self) -> Result<(), NewtonError> {
        self.statistics.factorisations += 1;
        self.has_factors = false;
        self.deficient = None;
        if let Some(column) = self.vertical_slope() {
            return Err(NewtonError::Singular { column });
        }
        self.step.copy_from_slice(&self.r);
        match self.solver.factor(&self.values) {
            Ok(()) => {
                self.has_factors = true;
                self.solver.solve(&mut self.step);
                Ok(())
            }
            Err(Singular { column }) => self.least_norm_correction(column),
        }
    }

    /// An unknown along which an equation that does not hold is infinitely steep, as √x is at zero: its correction would be
    /// nothing, as if the equation did hold.
    fn vertical_slope(&self) -> Option<usize> {
        if all_finite(&self.values) {
            return None;
        }
        let mut found = None;
        self.for_each_entry(|row, column, value| {
            if value.is_infinite() && self.r[row] != 0.0 {
                found = Some(column);
            }
        });
        found
    }

    /// Short corrections show a solution as long as the slopes are those of more than a point. Where a slope is all but vertical, as
    /// that of √x is close to zero, a step that the unknown would notice has to change its equation as the slope tells.
    pub(super) fn check_slopes(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<(), NewtonError> {
        if self.steepest(x).is_none() {
            return Ok(());
        }
        if self.evaluated != *x {
            self.evaluate_start(system, x)?;
        }
        if self.slopes_at != *x {
            self.evaluate_jacobian(system, x)?;
            self.has_factors = false;
        }
        match self.steepest(x) {
            Some(steepest) if self.is_vertical(system, x, steepest) => {
                Err(NewtonError::Singular { column: steepest.1 })
            }
            _ => Ok(()),
        }
    }

    /// The steepest slope in an equation that does not hold exactly, where it is steeper than any that is meant, or became so on
    /// the way while the residual stayed.
    fn steepest(&self, x: &[f64]) -> Option<(usize, usize, f64)> {
        /// In units of the unknown.
        const STEEP: f64 = 1e15;
        const STEEPER: f64 = 1e6;
        const SHRUNK: f64 = 1e-3;
        let stays = |row: usize| {
            self.r[row].abs() > SHRUNK * self.first_r[row].abs()
                && self.row_scale[row] > STEEPER * self.first_row_scale[row]
        };
        let mut found = None;
        let mut most = 0.0;
        self.for_each_entry(|row, column, value| {
            let slope = value.abs() * self.nominal(column).max(x[column].abs());
            if slope > most && self.r[row] != 0.0 && (slope > STEEP || stays(row)) {
                (found, most) = (Some((row, column, value)), slope);
            }
        });
        found
    }

    /// Whether a steep slope is that of a point alone: no step, of whatever size, changes the equation as the slope tells, as √x
    /// at zero, or no short one fulfils it, as at the end of a logarithm, where the argument is as small as numbers become.
    fn is_vertical(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &[f64],
        (row, column, slope): (usize, usize, f64),
    ) -> bool {
        const LESS: f64 = 1e-3;
        let (value, nominal, there) = (x[column].abs(), self.nominal(column), self.r[row]);
        let steps = [1e-3 * value, 1e-6 * value, 1e-9 * nominal, 1e-12 * nominal, 1e-15 * nominal, 1e-20 * nominal];
        let steps = steps.map(|step| step.max(1e-30 * nominal));
        let follows = |step: f64, r: f64| (r - there).abs() >= LESS * (slope * step).abs();
        if !self.any_beside(system, x, (row, column), &steps, follows) {
            return true;
        }
        let short_steps: Vec<f64> = (0..12).map(|k| 4f64.powi(k) * f64::EPSILON * value.max(1e-10 * nominal)).collect();
        let fulfils = |_, r: f64| r.abs() <= 0.5 * there.abs() || r.signum() != there.signum();
        !self.any_beside(system, x, (row, column), &short_steps, fulfils)
    }

    /// Whether a step of an unknown, to one side or the other, changes an equation in some way.
    fn any_beside(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &[f64],
        (row, column): (usize, usize),
        steps: &[f64],
        mut is_met: impl FnMut(f64, f64) -> bool,
    ) -> bool {
        steps.iter().flat_map(|&step| [step, -step]).any(|step| {
            let mut point = x.to_vec();
            point[column] += step;
            let is_known = self.evaluate(system, &point, Target::Trial).is_ok() && self.trial_r[row].is_finite();
            is_known && is_met(step, self.trial_r[row])
        })
    }

    pub(super) fn least_norm_correction(&mut self, column: usize) -> Result<(), NewtonError> {
        if self.size > LARGEST_DENSE || !all_finite(&self.values) {
            return Err(NewtonError::Singular { column });
        }
        let n = self.size;
        let mut full = DenseMatrix::zeros(n, n);
        self.write_dense(&mut full);
        for j in 0..n {
            for i in 0..n {
                full.set(i, j, full.get(i, j) * self.scale[j] / self.row_scale[i]);
            }
        }
        let scaled: Vec<f64> = self.r.iter().zip(&self.row_scale).map(|(r, s)| r / s).collect();
        let found = least_squares(&full, &scaled, 1e-12, &mut self.step);
        self.step.iter_mut().zip(&self.scale).for_each(|(d, s)| *d *= s);
        let size = scaled.iter().map(|r| r * r).sum::<f64>().sqrt();
        if found.residual > 1e-8 * size.max(self.options.tolerance) && found.residual > self.options.tolerance {
            return Err(NewtonError::Singular { column });
        }
        self.deficient = Some(Box::new(full));
        Ok(())
    }

    /// Replaces the residual in `next_step` by its correction with the Jacobian of the last one.
    pub(super) fn correct_next_step(&mut self) {
        let Some(full) = &self.deficient else {
            self.solver.solve(&mut self.next_step);
            return;
        };
        let scaled: Vec<f64> = self.next_step.iter().zip(&self.row_scale).map(|(r, s)| r / s).collect();
        least_squares(full, &scaled, 1e-12, &mut self.next_step);
        self.next_step.iter_mut().zip(&self.scale).for_each(|(d, s)| *d *= s);
    }

    pub(super) fn write_dense(&self, full: &mut DenseMatrix) {
        match &self.pattern {
            Some(pattern) => {
                full.values.fill(0.0);
                for j in 0..self.size {
                    for p in pattern.starts[j]..pattern.starts[j + 1] {
                        full.set(pattern.indices[p] as usize, j, self.values[p]);
                    }
                }
            }
            None => full.values.copy_from_slice(&self.values),
        }
    }

    /// The size of a residual is what it changes by when the unknowns change by their own size.
    pub(super) fn set_row_scale(&mut self) {
        self.row_scale.fill(0.0);
        match &self.pattern {
            Some(pattern) => {
                for j in 0..self.size {
                    for p in pattern.starts[j]..pattern.starts[j + 1] {
                        self.row_scale[pattern.indices[p] as usize] += (self.values[p] * self.scale[j]).abs();
                    }
                }
            }
            None => {
                for (column, scale) in self.values.chunks_exact(self.size).zip(&self.scale) {
                    for (row, value) in self.row_scale.iter_mut().zip(column) {
                        *row += (value * scale).abs();
                    }
                }
            }
        }
        for scale in &mut self.row_scale {
            if !(*scale > 0.0) || !scale.is_finite() {
                *scale = 1.0;
            }
        }
    }
}
