//! Damped Newton iteration for nonlinear blocks.
//!
//! The damping is the error-oriented strategy of Deuflhard, *Newton Methods for Nonlinear Problems* (2004), section
//! 3.3.3 (NLEQ-ERR): a step is good when the next correction, computed with the same factorisation, is shorter. This
//! does not depend on the scaling of the equations, only on that of the unknowns, which are measured in nominals.
//! When it fails, steps that merely reduce the scaled residual are accepted, and when these fail, too, small systems are
//! brought nearer by [`crate::levenberg_marquardt`] and tried once more. A warm start first tries the
//! factorisation of the last solution; a point where the residual cannot be evaluated shortens the step; a singular
//! Jacobian is met with the correction of least norm.

use crate::dense::{DenseMatrix, least_squares};
use crate::error::{EvalError, Singular};
use crate::finite_differences::FiniteDifferences;
use crate::levenberg_marquardt::{self, DenseSystem};
use crate::linear::LinearSolver;
use crate::sparse::Pattern;
use crate::weights::all_finite;
use std::fmt;

/// Equations `r(x) = 0`, as many as unknowns.
pub trait NonlinearSystem {
    fn size(&self) -> usize;

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError>;

    /// Where ∂r/∂x can be non-zero; `None` stands for everywhere.
    fn jacobian_pattern(&self) -> Option<&Pattern> {
        None
    }

    /// Writes ∂r/∂x in the order of the pattern, or by full columns. `Ok(false)` asks for finite differences.
    fn jacobian(&mut self, _x: &[f64], _values: &mut [f64]) -> Result<bool, EvalError> {
        Ok(false)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewtonOptions {
    /// Largest error of an unknown in units of `max(|x|, nominal)`.
    pub tolerance: f64,
    pub max_iterations: usize,
    /// Typical magnitudes of the unknowns; a shorter list is continued with ones.
    pub nominals: Vec<f64>,
    /// Lower and upper bounds; empty for none.
    pub bounds: Vec<(f64, f64)>,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        NewtonOptions { tolerance: 1e-10, max_iterations: 100, nominals: Vec::new(), bounds: Vec::new() }
    }
}

/// Effort spent since creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewtonStatistics {
    pub solves: u64,
    pub iterations: u64,
    pub residuals: u64,
    pub jacobians: u64,
    pub factorisations: u64,
    pub failures: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NewtonError {
    /// No pivot for this unknown, and the equations are not consistent.
    Singular { column: usize },
    /// The iteration came to rest or ran out of steps; the residual with the largest scaled value is named.
    NoConvergence { iterations: usize, worst_residual: usize, value: f64 },
    /// The residual cannot be evaluated at the start, nor near the last good point.
    Evaluation(EvalError),
    /// A residual is not a number at the start.
    NotFinite { residual: usize },
}

impl fmt::Display for NewtonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NewtonError::Singular { column } => write!(formatter, "singular system: unknown {column} not determined"),
            NewtonError::NoConvergence { iterations, worst_residual, value } => write!(
                formatter,
                "no convergence after {iterations} iterations; residual {worst_residual} is still {value:e}"
            ),
            NewtonError::Evaluation(error) => error.fmt(formatter),
            NewtonError::NotFinite { residual } => write!(formatter, "residual {residual} is not finite"),
        }
    }
}

impl std::error::Error for NewtonError {}

/// Beyond this size dense decompositions cost too much to be a remedy.
const LARGEST_DENSE: usize = 400;

pub struct NewtonSolver {
    options: NewtonOptions,
    size: usize,
    pattern: Option<Pattern>,
    solver: LinearSolver,
    values: Vec<f64>,
    differences: Option<FiniteDifferences>,
    has_factors: bool,
    /// The Jacobian of the last correction, scaled, if it is singular; there are no factors then.
    deficient: Option<Box<DenseMatrix>>,
    r: Vec<f64>,
    step: Vec<f64>,
    trial: Vec<f64>,
    trial_r: Vec<f64>,
    next_step: Vec<f64>,
    scale: Vec<f64>,
    row_scale: Vec<f64>,
    start: Vec<f64>,
    /// The residual at the start.
    first_r: Vec<f64>,
    statistics: NewtonStatistics,
    /// The residuals that were largest when the last solve failed, worst first.
    worst: Vec<(usize, f64)>,
}

impl NewtonSolver {
    /// Fails when the Jacobian is structurally singular.
    pub fn new(system: &dyn NonlinearSystem, options: NewtonOptions) -> Result<Self, Singular> {
        let size = system.size();
        let pattern = system.jacobian_pattern().cloned();
        let entries = pattern.as_ref().map_or(size * size, Pattern::entries);
        let zeros = || vec![0.0; size];
        Ok(NewtonSolver {
            solver: LinearSolver::new(size, pattern.as_ref())?,
            values: vec![0.0; entries],
            differences: None,
            has_factors: false,
            deficient: None,
            r: zeros(),
            step: zeros(),
            trial: zeros(),
            trial_r: zeros(),
            next_step: zeros(),
            scale: zeros(),
            row_scale: zeros(),
            start: zeros(),
            first_r: zeros(),
            statistics: NewtonStatistics::default(),
            worst: Vec::new(),
            options,
            size,
            pattern,
        })
    }

    pub fn statistics(&self) -> NewtonStatistics {
        self.statistics
    }

    pub fn options_mut(&mut self) -> &mut NewtonOptions {
        &mut self.options
    }

    /// Up to eight residuals of the last failure, worst first: index and value.
    pub fn worst_residuals(&self) -> &[(usize, f64)] {
        &self.worst
    }

    /// Drops the factorisation kept for warm starts.
    pub fn forget(&mut self) {
        self.has_factors = false;
    }

    /// Solves the system from the guess in `x`, which holds the solution afterwards. On failure `x` is left at the
    /// best point found.
    pub fn solve(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<(), NewtonError> {
        self.statistics.solves += 1;
        if self.size == 0 {
            return Ok(());
        }
        self.clamp(x);
        self.start.copy_from_slice(x);
        let outcome = match self.evaluate_start(system, x) {
            Ok(()) => self.solve_from(system, x),
            Err(error) => self.begin_beside(system, x).map_err(|()| error),
        };
        if outcome.is_err() {
            self.statistics.failures += 1;
            self.has_factors = false;
            self.collect_worst();
        }
        outcome
    }

    /// From a point at which the residual is known.
    fn solve_from(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<(), NewtonError> {
        self.first_r.copy_from_slice(&self.r);
        if self.has_factors && self.simplified(system, x)? {
            return Ok(());
        }
        match self.damped(system, x) {
            Err(error) if self.can_be_rescued(error) => self.rescue(system, x, error),
            outcome => outcome,
        }
    }

    /// Where there is no residual at the start, as that of y − 1/x at zero, there may be one beside it.
    fn begin_beside(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<(), ()> {
        self.set_scale(x);
        for size in [1e-3, 1e-6, 1e-9, 1e-12, 1.0] {
            for direction in [size, -size] {
                x.copy_from_slice(&self.start);
                x.iter_mut().zip(&self.scale).for_each(|(x, scale)| *x += direction * scale);
                self.clamp(x);
                if self.evaluate_start(system, x).is_ok() {
                    self.first_r.copy_from_slice(&self.r);
                    if self.damped(system, x).is_ok() {
                        return Ok(());
                    }
                }
            }
        }
        x.copy_from_slice(&self.start);
        Err(())
    }

    fn can_be_rescued(&self, error: NewtonError) -> bool {
        let kind = match error {
            NewtonError::NoConvergence { .. } | NewtonError::Singular { .. } => true,
            NewtonError::Evaluation(error) => error.recoverable,
            NewtonError::NotFinite { .. } => false,
        };
        kind && self.size <= LARGEST_DENSE
    }

    /// A second way to the solution from the same start. The error of the first is reported if it leads nowhere.
    fn rescue(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &mut [f64],
        first: NewtonError,
    ) -> Result<(), NewtonError> {
        let stuck_at = x.to_vec();
        let first_worst = std::mem::take(&mut self.worst);
        for goal in [1e-3, 1e-7] {
            x.copy_from_slice(&self.start);
            self.set_scale(x);
            let scale = self.scale.clone();
            let mut rescued = Rescue { solver: self, system };
            let reduced = levenberg_marquardt::reduce(&mut rescued, x, &scale, goal);
            if !matches!(reduced, Ok(true)) {
                break;
            }
            if self.evaluate_start(system, x).is_ok() && self.damped(system, x).is_ok() {
                return Ok(());
            }
        }
        if matches!(first, NewtonError::Singular { .. }) && self.leave_flat_point(system, x) {
            return Ok(());
        }
        if self.size == 1 && self.bracket(system, x) {
            return Ok(());
        }
        x.copy_from_slice(&stuck_at);
        // The residuals at the point that is handed back.
        if system.residual(x, &mut self.r).is_ok() {
            self.worst = first_worst;
        }
        Err(first)
    }

    /// One equation for one unknown: looks for the nearest change of sign on both sides of the start, and halves it. A
    /// solution may lie beyond an extreme of the residual, as that of a trigger whose branch has ended.
    fn bracket(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> bool {
        const FARTHEST: f64 = 1e8;
        const FIRST: f64 = 1e-3;
        let start = self.start[0];
        x[0] = start;
        self.set_scale(x);
        let scale = self.scale[0];
        let at_start = self.first_r[0];
        let mut residual = |solver: &mut Self, at: f64| {
            let mut point = [at];
            solver.clamp(&mut point);
            let mut r = [f64::NAN];
            solver.statistics.residuals += 1;
            system.residual(&point, &mut r).ok().map(|()| r[0]).filter(|r| r.is_finite())
        };
        // The ends reached so far to the left and to the right, and the residuals there.
        let mut ends = [(start, at_start); 2];
        let mut distance = FIRST;
        let mut found = None;
        while found.is_none() && distance <= FARTHEST {
            for (end, direction) in ends.iter_mut().zip([-1.0, 1.0]) {
                let next = start + direction * distance * scale;
                let Some(value) = residual(self, next) else { continue };
                if value.signum() != end.1.signum() {
                    found = Some((*end, (next, value)));
                    break;
                }
                *end = (next, value);
            }
            distance *= 2.0;
        }
        let Some(((mut a, value), (mut b, _))) = found else { return false };
        for _ in 0..60 {
            let middle = 0.5 * (a + b);
            match residual(self, middle) {
                Some(r) if r.signum() == value.signum() => a = middle,
                Some(_) => b = middle,
                None => return false,
            }
        }
        x[0] = b;
        self.evaluate_start(system, x).is_ok() && (self.damped(system, x).is_ok() || self.jumps_back(x, b, scale))
    }

    /// Whether the iteration stayed at the change of sign it began at: a corner, at which corrections do not shrink.
    fn jumps_back(&self, x: &mut [f64], zero: f64, scale: f64) -> bool {
        let near = (x[0] - zero).abs() <= 1e-6 * scale && self.r[0].abs() <= 1e-9 * self.first_r[0].abs().max(1.0);
        x[0] = if near { zero } else { x[0] };
        near
    }

    /// Where a residual does not feel an unknown, as x·|x| at zero, no correction leads away, though beside it one does.
    fn leave_flat_point(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> bool {
        const NUDGE: f64 = 1e-3;
        for nudge in [NUDGE, -NUDGE] {
            x.copy_from_slice(&self.start);
            self.set_scale(x);
            x.iter_mut().zip(&self.scale).for_each(|(x, scale)| *x += nudge * scale);
            self.clamp(x);
            if self.evaluate_start(system, x).is_ok() && self.damped(system, x).is_ok() {
                return true;
            }
        }
        false
    }

    fn evaluate_start(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<(), NewtonError> {
        self.statistics.residuals += 1;
        system.residual(x, &mut self.r).map_err(NewtonError::Evaluation)?;
        match self.r.iter().position(|r| !r.is_finite()) {
            Some(residual) => Err(NewtonError::NotFinite { residual }),
            None => Ok(()),
        }
    }

    /// Iterates with the factors at hand while the corrections shrink fast. False puts `x` back to its start.
    fn simplified(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<bool, NewtonError> {
        let mut previous = f64::INFINITY;
        for _ in 0..8 {
            self.set_scale(x);
            self.step.copy_from_slice(&self.r);
            self.solver.solve(&mut self.step);
            self.statistics.iterations += 1;
            let size = self.scaled_norm(&self.step);
            let contraction = size / previous;
            if !size.is_finite() || contraction > 0.2 {
                break;
            }
            for (x, d) in x.iter_mut().zip(&self.step) {
                *x -= d;
            }
            self.clamp(x);
            // After the first correction nothing is known of the contraction, so only a tiny one ends the iteration: with
            // factors of a steeper place it may be a small part of what is missing. Nor is a contraction to be trusted
            // that is better than the length of the step before: a long one may land near the solution by chance.
            let remaining = if previous.is_finite() {
                let rate = contraction.max(previous.min(0.1));
                size * rate / (1.0 - rate)
            } else {
                10.0 * size
            };
            if remaining <= self.options.tolerance {
                return Ok(true);
            }
            previous = size;
            self.statistics.residuals += 1;
            if system.residual(x, &mut self.r).is_err() || !all_finite(&self.r) {
                break;
            }
        }
        x.copy_from_slice(&self.start);
        self.evaluate_start(system, x)?;
        Ok(false)
    }

    fn damped(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<(), NewtonError> {
        let mut damping: f64 = 1.0;
        let mut previous_size = 0.0;
        for iteration in 0..self.options.max_iterations {
            self.statistics.iterations += 1;
            self.set_scale(x);
            self.evaluate_jacobian(system, x)?;
            self.correction()?;
            let size = self.scaled_norm(&self.step);
            if !size.is_finite() {
                return Err(self.no_convergence(iteration));
            }
            if size <= self.options.tolerance {
                self.move_by(x, 1.0);
                return Ok(());
            }
            if iteration > 0 {
                // Prediction of the damping from the last change of the corrections.
                let change = self.scaled_distance(&self.next_step, &self.step);
                let mu = previous_size * self.scaled_norm(&self.next_step) / (change * size).max(f64::MIN_POSITIVE);
                damping = (mu * damping).min(1.0);
            }
            match self.search(system, x, size, &mut damping) {
                Search::Converged => return Ok(()),
                Search::Moved => {}
                Search::Stuck(_) if self.is_solved_up_to_rounding(size) => return Ok(()),
                Search::Stuck(error) => {
                    return Err(error.map_or_else(|| self.no_convergence(iteration + 1), NewtonError::Evaluation));
                }
            }
            previous_size = size;
        }
        if self.is_solved_up_to_rounding(previous_size) {
            return Ok(());
        }
        Err(self.no_convergence(self.options.max_iterations))
    }

    /// At a multiple root, and where terms of very different sizes meet, corrections stay long while the residual is
    /// already rounding.
    fn is_solved_up_to_rounding(&self, correction: f64) -> bool {
        const ROUNDING: f64 = 64.0 * f64::EPSILON;
        let mut residuals = self.r.iter().zip(&self.first_r).zip(&self.row_scale);
        correction <= self.options.tolerance.sqrt()
            && residuals.all(|((r, first), scale)| r.abs() <= (1e-13 * first.abs().max(1.0)).max(ROUNDING * scale))
    }

    /// Finds a damped step that brings the solution nearer, and takes it.
    fn search(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64], size: f64, damping: &mut f64) -> Search {
        let residual_size = self.scaled_residual(&self.r);
        let mut refused = None;
        let mut best: Option<(f64, f64)> = None;
        let mut enlarged = false;
        loop {
            if *damping < 1e-10 {
                break;
            }
            for ((trial, x), d) in self.trial.iter_mut().zip(x.iter()).zip(&self.step) {
                *trial = x - *damping * d;
            }
            let mut trial = std::mem::take(&mut self.trial);
            self.clamp(&mut trial);
            self.trial = trial;
            self.statistics.residuals += 1;
            let outcome = system.residual(&self.trial, &mut self.trial_r);
            if let Err(error) = outcome {
                if !error.recoverable {
                    return Search::Stuck(Some(error));
                }
                refused = Some(error);
                *damping *= 0.25;
                continue;
            }
            if !all_finite(&self.trial_r) {
                *damping *= 0.25;
                continue;
            }
            let trial_residual = self.scaled_residual(&self.trial_r);
            if trial_residual < residual_size && best.is_none_or(|(_, value)| trial_residual < value) {
                best = Some((*damping, trial_residual));
            }
            self.next_step.copy_from_slice(&self.trial_r);
            self.correct_next_step();
            let next_size = self.scaled_norm(&self.next_step);
            let contraction = next_size / size;
            // Distance of the next correction from what a linear system would give.
            let mut bent = 0.0;
            for ((next, d), s) in self.next_step.iter().zip(&self.step).zip(&self.scale) {
                let v = (next - (1.0 - *damping) * d) / s;
                bent += v * v;
            }
            let bent = (bent / self.size as f64).sqrt();
            let mu = 0.5 * size * *damping * *damping / bent.max(f64::MIN_POSITIVE);
            if contraction >= 1.0 || contraction.is_nan() {
                let shorter = mu.min(0.5 * *damping);
                *damping = if shorter.is_finite() { shorter.max(0.01 * *damping) } else { 0.25 * *damping };
                continue;
            }
            let wanted = mu.min(1.0);
            if *damping == 1.0 && wanted >= 1.0 && next_size <= self.options.tolerance {
                // The next correction is known already: apply it, too.
                x.copy_from_slice(&self.trial);
                for (x, d) in x.iter_mut().zip(&self.next_step) {
                    *x -= d;
                }
                self.clamp(x);
                return Search::Converged;
            }
            if wanted >= 4.0 * *damping && !enlarged {
                *damping = wanted;
                enlarged = true;
                continue;
            }
            x.copy_from_slice(&self.trial);
            std::mem::swap(&mut self.r, &mut self.trial_r);
            return Search::Moved;
        }
        // Far from a solution the correction may have to grow first; a smaller residual is progress, too.
        match best {
            Some((value, reached)) if reached < 0.999 * residual_size => {
                for ((x, d), trial) in x.iter_mut().zip(&self.step).zip(&mut self.trial) {
                    *x -= value * d;
                    *trial = *x;
                }
                self.clamp(x);
                self.statistics.residuals += 1;
                if system.residual(x, &mut self.r).is_err() {
                    return Search::Stuck(refused);
                }
                self.next_step.copy_from_slice(&self.r);
                self.correct_next_step();
                *damping = value;
                Search::Moved
            }
            _ => Search::Stuck(refused),
        }
    }

    fn evaluate_jacobian(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<(), NewtonError> {
        self.statistics.jacobians += 1;
        let mut analytic = false;
        if self.differences.is_none() {
            analytic = system.jacobian(x, &mut self.values).map_err(NewtonError::Evaluation)?;
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
        }
        self.set_row_scale();
        Ok(())
    }

    /// `step = J⁻¹ r`, or the correction of least norm where J is singular.
    fn correction(&mut self) -> Result<(), NewtonError> {
        self.statistics.factorisations += 1;
        self.has_factors = false;
        self.deficient = None;
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

    fn least_norm_correction(&mut self, column: usize) -> Result<(), NewtonError> {
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
    fn correct_next_step(&mut self) {
        let Some(full) = &self.deficient else {
            self.solver.solve(&mut self.next_step);
            return;
        };
        let scaled: Vec<f64> = self.next_step.iter().zip(&self.row_scale).map(|(r, s)| r / s).collect();
        least_squares(full, &scaled, 1e-12, &mut self.next_step);
        self.next_step.iter_mut().zip(&self.scale).for_each(|(d, s)| *d *= s);
    }

    fn write_dense(&self, full: &mut DenseMatrix) {
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

    fn move_by(&mut self, x: &mut [f64], factor: f64) {
        for (x, d) in x.iter_mut().zip(&self.step) {
            *x -= factor * d;
        }
        self.clamp(x);
    }

    fn clamp(&self, x: &mut [f64]) {
        for (x, (low, high)) in x.iter_mut().zip(&self.options.bounds) {
            *x = x.max(*low).min(*high);
        }
    }

    fn set_scale(&mut self, x: &[f64]) {
        for (i, (scale, x)) in self.scale.iter_mut().zip(x).enumerate() {
            let nominal = self.options.nominals.get(i).map_or(1.0, |nominal| nominal.abs());
            *scale = x.abs().max(if nominal > 0.0 && nominal.is_finite() { nominal } else { 1.0 });
        }
    }

    /// The size of a residual is what it changes by when the unknowns change by their own size.
    fn set_row_scale(&mut self) {
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

    fn scaled_norm(&self, v: &[f64]) -> f64 {
        let sum: f64 = v.iter().zip(&self.scale).map(|(v, s)| (v / s) * (v / s)).sum();
        (sum / self.size as f64).sqrt()
    }

    fn scaled_distance(&self, v: &[f64], w: &[f64]) -> f64 {
        let sum: f64 = v.iter().zip(w).zip(&self.scale).map(|((v, w), s)| ((v - w) / s) * ((v - w) / s)).sum();
        (sum / self.size as f64).sqrt()
    }

    fn scaled_residual(&self, r: &[f64]) -> f64 {
        let sum: f64 = r.iter().zip(&self.row_scale).map(|(r, s)| (r / s) * (r / s)).sum();
        (sum / self.size as f64).sqrt()
    }

    fn no_convergence(&mut self, iterations: usize) -> NewtonError {
        self.collect_worst();
        let (worst_residual, value) = self.worst.first().copied().unwrap_or((0, f64::NAN));
        NewtonError::NoConvergence { iterations, worst_residual, value }
    }

    fn collect_worst(&mut self) {
        let scaled = |i: usize| (self.r[i] / if self.row_scale[i] > 0.0 { self.row_scale[i] } else { 1.0 }).abs();
        let mut order: Vec<usize> = (0..self.size).collect();
        order.sort_by(|a, b| scaled(*b).total_cmp(&scaled(*a)));
        self.worst = order.into_iter().take(8).map(|i| (i, self.r[i])).collect();
    }
}

/// The system as the rescue sees it: residuals and Jacobians through the solver, so that effort is counted.
struct Rescue<'a> {
    solver: &'a mut NewtonSolver,
    system: &'a mut dyn NonlinearSystem,
}

impl DenseSystem for Rescue<'_> {
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        self.solver.statistics.residuals += 1;
        self.system.residual(x, r)
    }

    fn jacobian(&mut self, x: &[f64], r: &[f64], matrix: &mut DenseMatrix) -> Result<(), EvalError> {
        self.solver.statistics.iterations += 1;
        self.solver.r.copy_from_slice(r);
        self.solver.set_scale(x);
        match self.solver.evaluate_jacobian(self.system, x) {
            Ok(()) => {
                self.solver.write_dense(matrix);
                Ok(())
            }
            Err(NewtonError::Evaluation(error)) => Err(error),
            Err(_) => Err(EvalError::recoverable(u32::MAX)),
        }
    }

    fn clamp(&self, x: &mut [f64]) {
        self.solver.clamp(x);
    }
}

enum Search {
    Converged,
    Moved,
    Stuck(Option<EvalError>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct System<R: FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>>(usize, R);

    impl<R: FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>> NonlinearSystem for System<R> {
        fn size(&self) -> usize {
            self.0
        }
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            (self.1)(x, r)
        }
    }

    fn solve(
        x: &mut [f64],
        options: NewtonOptions,
        residual: impl FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>,
    ) -> (Result<(), NewtonError>, NewtonStatistics) {
        let mut system = System(x.len(), residual);
        let mut solver = NewtonSolver::new(&system, options).unwrap();
        let outcome = solver.solve(&mut system, x);
        (outcome, solver.statistics())
    }

    #[test]
    fn rosenbrock_powell_and_a_diode() {
        let mut x = [-1.2, 1.0];
        let (outcome, effort) = solve(&mut x, NewtonOptions::default(), |x, r| {
            r[0] = 10.0 * (x[1] - x[0] * x[0]);
            r[1] = 1.0 - x[0];
            Ok(())
        });
        outcome.unwrap();
        assert!((x[0] - 1.0).abs() < 1e-10 && (x[1] - 1.0).abs() < 1e-10);
        assert!(effort.iterations <= 40, "{effort:?}");
        // Powell's badly scaled function.
        let mut x = [0.0, 1.0];
        let (outcome, _) = solve(&mut x, NewtonOptions::default(), |x, r| {
            r[0] = 1e4 * x[0] * x[1] - 1.0;
            r[1] = (-x[0]).exp() + (-x[1]).exp() - 1.0001;
            Ok(())
        });
        outcome.unwrap();
        assert!((x[0] - 1.098159e-5).abs() < 1e-11 && (x[1] - 9.106146).abs() < 1e-5, "{x:?}");
        // 5 V, 1 kΩ and a diode, from zero: exp overflows on a full step.
        let mut x = [0.0];
        let nominals = NewtonOptions { nominals: vec![0.1], ..NewtonOptions::default() };
        let (outcome, effort) = solve(&mut x, nominals, |x, r| {
            r[0] = 1e-14 * ((x[0] / 0.02585).exp() - 1.0) - (5.0 - x[0]) / 1000.0;
            Ok(())
        });
        outcome.unwrap();
        assert!((1e-14 * ((x[0] / 0.02585_f64).exp() - 1.0) - (5.0 - x[0]) / 1000.0).abs() < 1e-12);
        assert!(effort.iterations <= 60, "{effort:?}");
    }

    #[test]
    fn shortens_steps_where_the_residual_cannot_be_evaluated() {
        let mut x = [10.0];
        let (outcome, _) = solve(&mut x, NewtonOptions::default(), |x, r| {
            if x[0] <= 0.0 {
                return Err(EvalError::recoverable(7));
            }
            r[0] = x[0].ln() + 1.0;
            Ok(())
        });
        outcome.unwrap();
        assert!((x[0] - (-1.0_f64).exp()).abs() < 1e-10);
        let mut x = [1.0];
        let (outcome, _) = solve(&mut x, NewtonOptions::default(), |_, _| Err(EvalError::fatal(3)));
        assert_eq!(outcome, Err(NewtonError::Evaluation(EvalError::fatal(3))));
        let (outcome, _) = solve(&mut x, NewtonOptions::default(), |_, r| {
            r[0] = f64::NAN;
            Ok(())
        });
        assert_eq!(outcome, Err(NewtonError::NotFinite { residual: 0 }));
    }

    #[test]
    fn names_the_worst_residual() {
        let mut x = [0.3, 1.0];
        let (outcome, _) = solve(&mut x, NewtonOptions::default(), |x, r| {
            r[0] = x[1] - 1.0;
            r[1] = x[0] * x[0] + 1.0;
            Ok(())
        });
        let Err(NewtonError::NoConvergence { worst_residual, .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(worst_residual, 1);
    }

    #[test]
    fn singular_but_consistent_and_inconsistent() {
        let mut x = [0.0, 0.0];
        let (outcome, _) = solve(&mut x, NewtonOptions::default(), |x, r| {
            r[0] = x[0] + x[1] - 2.0;
            r[1] = 2.0 * x[0] + 2.0 * x[1] - 4.0;
            Ok(())
        });
        outcome.unwrap();
        assert!((x[0] - 1.0).abs() < 1e-7 && (x[1] - 1.0).abs() < 1e-7, "{x:?}");
        let (outcome, _) = solve(&mut x, NewtonOptions::default(), |x, r| {
            r[0] = x[0] + x[1] - 2.0;
            r[1] = 2.0 * x[0] + 2.0 * x[1] - 5.0;
            Ok(())
        });
        assert!(matches!(outcome, Err(NewtonError::Singular { .. })), "{outcome:?}");
    }

    /// A row and a column of zeros that do not meet on the diagonal.
    #[test]
    fn an_unknown_that_does_not_matter() {
        let pattern = Pattern::from_entries(3, 3, [(0, 0), (1, 0), (2, 1), (1, 1), (0, 2), (2, 2)]);
        let mut system = Sparse {
            pattern,
            residual: |x: &[f64], r: &mut [f64]| {
                r[0] = x[0] * x[0] - 2.0;
                r[1] = 0.0 * x[0];
                r[2] = x[1] - x[0] + 0.0 * x[2];
            },
        };
        let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
        let mut x = [1.0, 0.0, 5.0];
        solver.solve(&mut system, &mut x).unwrap();
        assert!((x[0] - 2.0_f64.sqrt()).abs() < 1e-12 && (x[1] - x[0]).abs() < 1e-12 && x[2] == 5.0, "{x:?}");
    }

    struct Sparse<F> {
        pattern: Pattern,
        residual: F,
    }

    impl<F: Fn(&[f64], &mut [f64])> NonlinearSystem for Sparse<F> {
        fn size(&self) -> usize {
            self.pattern.columns
        }

        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            (self.residual)(x, r);
            Ok(())
        }

        fn jacobian_pattern(&self) -> Option<&Pattern> {
            Some(&self.pattern)
        }
    }

    #[test]
    fn bounds_keep_the_iteration_inside() {
        let mut x = [10.0];
        let options = NewtonOptions { bounds: vec![(1e-3, 100.0)], ..NewtonOptions::default() };
        let (outcome, _) = solve(&mut x, options, |x, r| {
            assert!(x[0] > 9e-4);
            r[0] = x[0].ln() + 1.0;
            Ok(())
        });
        outcome.unwrap();
        assert!((x[0] - (-1.0_f64).exp()).abs() < 1e-10);
    }

    #[test]
    fn a_step_that_lands_by_chance_is_not_the_last() {
        // With the slope at 1.5, a step from 2 leads to the root 1 exactly, though the slope there is another one.
        let target = std::cell::Cell::new(2.25);
        let mut system = System(1, |x: &[f64], r: &mut [f64]| {
            r[0] = x[0] * x[0] - target.get();
            Ok(())
        });
        let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
        let mut x = [1.5 + 1e-9];
        solver.solve(&mut system, &mut x).unwrap();
        target.set(1.0);
        x[0] = 2.0 - 3e-8;
        solver.solve(&mut system, &mut x).unwrap();
        assert!((x[0] - 1.0).abs() < 1e-10, "{}", x[0]);
    }

    #[test]
    fn warm_start_needs_no_jacobian() {
        let target = std::cell::Cell::new(2.0);
        let mut system = System(1, |x: &[f64], r: &mut [f64]| {
            r[0] = x[0] * x[0] * x[0] - target.get();
            Ok(())
        });
        let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
        let mut x = [1.0];
        solver.solve(&mut system, &mut x).unwrap();
        let first = solver.statistics();
        for k in 1..=10 {
            target.set(2.0 + 0.001 * k as f64);
            solver.solve(&mut system, &mut x).unwrap();
            assert!((x[0].powi(3) - target.get()).abs() < 1e-9);
        }
        assert_eq!(solver.statistics().jacobians, first.jacobians);
        assert!(solver.statistics().residuals - first.residuals <= 60, "{:?}", solver.statistics());
    }

    proptest! {
        #[test]
        fn linear_systems_take_one_step(seed in proptest::collection::vec(-1.0f64..1.0, 20)) {
            let mut x = [0.0; 4];
            let exact = &seed[16..20];
            let (outcome, effort) = solve(&mut x, NewtonOptions::default(), |x, r| {
                for i in 0..4 {
                    r[i] = 8.0 * (x[i] - exact[i]);
                    for j in 0..4 {
                        r[i] += seed[4 * i + j] * (x[j] - exact[j]);
                    }
                }
                Ok(())
            });
            outcome.unwrap();
            for (x, e) in x.iter().zip(exact) {
                prop_assert!((x - e).abs() < 1e-10);
            }
            prop_assert!(effort.jacobians <= 2);
        }
    }
}
