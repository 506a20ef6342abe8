//! Other ways to a solution, where the damped iteration leads nowhere: other starts, steps that reduce the residual along
//! Newton's corrections and by [`crate::levenberg_marquardt`], halving an interval, and Newton's homotopy last.

use super::{LARGEST_DENSE, NewtonError, NewtonSolver, NonlinearSystem, Target};
use crate::dense::DenseMatrix;
use crate::error::EvalError;
use crate::levenberg_marquardt::{self, DenseSystem};
use crate::sparse::Pattern;

impl NewtonSolver {
    /// Where there is no residual at the start, as that of y − 1/x at zero, there may be one beside it; where functions grow
    /// beyond all numbers, nearer to zero.
    pub(super) fn begin_beside(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<(), ()> {
        self.set_scale(x);
        for factor in [0.5, 0.1, 0.01, 1e-4, 1e-8, 0.0] {
            x.iter_mut().zip(&self.start).for_each(|(x, start)| *x = factor * start);
            self.clamp(x);
            if self.evaluate_start(system, x).is_ok() {
                self.first_r.copy_from_slice(&self.r);
                let begin = x.to_vec();
                if self.damped(system, x).is_ok() || self.damped_in_own_units(system, x, &begin) {
                    return Ok(());
                }
            }
        }
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

    pub(super) fn can_be_rescued(&self, error: NewtonError) -> bool {
        let kind = match error {
            NewtonError::NoConvergence { .. } | NewtonError::Singular { .. } => true,
            NewtonError::Evaluation(error) => error.recoverable,
            NewtonError::NotFinite { .. } => false,
        };
        kind && !self.options.is_quick
    }

    /// A second way to the solution from the same start. The error of the first is reported if it leads nowhere.
    pub(super) fn rescue(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &mut [f64],
        first: NewtonError,
    ) -> Result<(), NewtonError> {
        let stuck_at = x.to_vec();
        let first_worst = std::mem::take(&mut self.worst);
        if self.descend(system, x) {
            return Ok(());
        }
        if self.size <= LARGEST_DENSE && self.creep(system, x) {
            return Ok(());
        }
        if matches!(first, NewtonError::Singular { .. }) && self.leave_flat_point(system, x) {
            return Ok(());
        }
        if self.size == 1 && self.bracket(system, x) {
            return Ok(());
        }
        if self.reduce_residual(system, x) {
            return Ok(());
        }
        x.copy_from_slice(&stuck_at);
        // The residuals at the point that is handed back.
        if self.evaluate(system, x, Target::Own).is_ok() {
            self.worst = first_worst;
        }
        Err(first)
    }

    /// Newton's method from where [`levenberg_marquardt`] comes to.
    fn creep(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> bool {
        for goal in [1e-3, 1e-7] {
            x.copy_from_slice(&self.start);
            self.set_scale(x);
            let scale = self.scale.clone();
            let mut rescued = Rescue { solver: self, system };
            let reduced = levenberg_marquardt::reduce(&mut rescued, x, &scale, goal);
            if !matches!(reduced, Ok(true)) {
                return false;
            }
            if self.evaluate_start(system, x).is_ok() && self.damped(system, x).is_ok() {
                return true;
            }
        }
        false
    }

    /// Steps along Newton's corrections that reduce the residuals in units of their own terms, which no choice of nominal values
    /// hides. Where the Jacobian is regular everywhere, this has nowhere to get stuck.
    pub(super) fn descend(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> bool {
        /// After so many steps residuals are measured anew.
        const ROUNDS: usize = 20;
        const MOST_ROUNDS: usize = 20;
        x.copy_from_slice(&self.start);
        for _ in 0..MOST_ROUNDS {
            self.set_scale(x);
            let known = self.evaluate_start(system, x).and_then(|()| self.evaluate_jacobian(system, x));
            if known.and_then(|()| self.correction()).is_err() || self.deficient.is_some() {
                return false;
            }
            let mut units = vec![0.0; self.size];
            let reach: Vec<f64> = x.iter().zip(&self.step).map(|(x, d)| x.abs().max(d.abs())).collect();
            self.for_each_entry(|row, column, value| units[row] += (value * reach[column]).abs());
            units.iter_mut().for_each(|unit| *unit = if *unit > 0.0 { *unit } else { 1.0 });
            let first = size_in(&self.r, &units);
            for _ in 0..ROUNDS {
                if !self.descend_once(system, x, &units) {
                    return false;
                }
            }
            let reached = size_in(&self.r, &units);
            let begin = x.to_vec();
            if reached < 1e-3 * first && self.damped_in_own_units(system, x, &begin) {
                return true;
            }
            x.copy_from_slice(&begin);
            if reached >= 0.99 * first {
                return false;
            }
        }
        false
    }

    /// One step from a point whose residuals are known, as long as possible.
    fn descend_once(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64], units: &[f64]) -> bool {
        const SHORTEST: f64 = 1e-9;
        self.statistics.iterations += 1;
        self.set_scale(x);
        if self.evaluate_jacobian(system, x).and_then(|()| self.correction()).is_err() || self.deficient.is_some() {
            return false;
        }
        let before = size_in(&self.r, units);
        let mut part = 1.0;
        while part > SHORTEST && before > 0.0 {
            let mut trial: Vec<f64> = x.iter().zip(&self.step).map(|(x, d)| x - part * d).collect();
            self.clamp(&mut trial);
            let is_known = self.evaluate(system, &trial, Target::Trial).is_ok();
            if is_known && size_in(&self.trial_r, units) <= (1.0 - 1e-4 * part) * before {
                x.copy_from_slice(&trial);
                std::mem::swap(&mut self.r, &mut self.trial_r);
                return true;
            }
            part *= if is_known { 0.5 } else { 0.25 };
        }
        // Nothing is left to reduce.
        before <= 1e-12
    }

    /// Newton's homotopy: solves `r(x) = factor·r(start)` for smaller and smaller factors. Where the equations are monotone,
    /// as those of networks of diodes, there is one solution for each of them.
    pub(super) fn reduce_residual(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> bool {
        const SMALLEST_FACTOR: f64 = 1e-16;
        const MOST_STEPS: usize = 300;
        x.copy_from_slice(&self.start);
        if self.evaluate_start(system, x).is_err() {
            return false;
        }
        let first = self.r.clone();
        let mut reached = x.to_vec();
        let (mut factor, mut reduction) = (1.0f64, 0.1f64);
        self.in_own_units = true;
        let mut found = false;
        for _ in 0..MOST_STEPS {
            let next = if factor * reduction < SMALLEST_FACTOR { 0.0 } else { factor * reduction };
            let mut shifted = Shifted { system: &mut *system, first: &first, factor: next };
            x.copy_from_slice(&reached);
            let outcome = self.evaluate_start(&mut shifted, x).and_then(|()| self.damped(&mut shifted, x));
            match outcome {
                Ok(()) if next == 0.0 => {
                    found = true;
                    break;
                }
                Ok(()) => {
                    reached.copy_from_slice(x);
                    (factor, reduction) = (next, (reduction * reduction).max(1e-3));
                }
                Err(_) if reduction > 0.99 => break,
                Err(_) => reduction = reduction.sqrt(),
            }
        }
        self.in_own_units = false;
        // The residuals in memory are those of the system itself.
        self.evaluated.fill(f64::NAN);
        found
    }

    /// One equation for one unknown: looks for the nearest change of sign on both sides of the start, and halves it. A
    /// solution may lie beyond an extreme of the residual, as that of a trigger whose branch has ended.
    pub(super) fn bracket(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> bool {
        const FARTHEST: f64 = 1e8;
        const FIRST: f64 = 1e-3;
        const MOST_HALVINGS: usize = 200;
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
            solver.evaluated.fill(f64::NAN);
            system.residual(&point, &mut r).ok().map(|()| r[0]).filter(|r| r.is_finite())
        };
        // The ends reached so far to the left and to the right, and the residuals there.
        let mut ends = [(start, at_start); 2];
        // Nominal values may be far too large for the unknown; its first correction is not.
        let first = self.reach[0] / scale;
        let mut distance = if first > 0.0 { FIRST.min(first) } else { FIRST };
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
        for _ in 0..MOST_HALVINGS {
            let middle = between(a, b);
            if middle == a || middle == b {
                break;
            }
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
    pub(super) fn jumps_back(&self, x: &mut [f64], zero: f64, scale: f64) -> bool {
        let near = (x[0] - zero).abs() <= 1e-6 * scale && self.r[0].abs() <= 1e-9 * self.first_r[0].abs();
        x[0] = if near { zero } else { x[0] };
        near
    }

    /// Where a residual does not feel an unknown, as x·|x| at zero, no correction leads away, though beside it one does. Both
    /// sides may lead to a solution: the one on which the equations are meant as they are comes first.
    pub(super) fn leave_flat_point(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> bool {
        const NUDGE: f64 = 1e-3;
        for side in [true, false] {
            for nudge in [NUDGE, -NUDGE] {
                x.copy_from_slice(&self.start);
                self.set_scale(x);
                x.iter_mut().zip(&self.scale).for_each(|(x, scale)| *x += nudge * scale);
                self.clamp(x);
                if system.is_in_branch(x) == side
                    && self.evaluate_start(system, x).is_ok()
                    && self.damped(system, x).is_ok()
                {
                    return true;
                }
            }
        }
        false
    }
}

fn size_in(r: &[f64], units: &[f64]) -> f64 {
    let sum: f64 = r.iter().zip(units).map(|(r, unit)| (r / unit) * (r / unit)).sum();
    if sum.is_finite() { sum.sqrt() } else { f64::INFINITY }
}

/// A number between two others: halfway, or where they are of very different sizes, halfway between their logarithms.
fn between(a: f64, b: f64) -> f64 {
    let (small, large) = (a.abs().min(b.abs()), a.abs().max(b.abs()));
    if a * b > 0.0 && small < 1e-2 * large {
        return a.signum() * small.sqrt() * large.sqrt();
    }
    // With zero, or across it, one side is given up by orders of magnitude.
    if a == 0.0 || b == 0.0 {
        return 1e-3 * (a + b);
    }
    0.5 * (a + b)
}

/// The system as the rescue sees it: residuals and Jacobians through the solver, so that effort is counted.
struct Rescue<'a> {
    solver: &'a mut NewtonSolver,
    system: &'a mut dyn NonlinearSystem,
}

impl DenseSystem for Rescue<'_> {
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        self.solver.statistics.residuals += 1;
        self.solver.evaluated.fill(f64::NAN);
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

/// `r(x) - factor·r(start)`.
struct Shifted<'a> {
    system: &'a mut dyn NonlinearSystem,
    first: &'a [f64],
    factor: f64,
}

impl NonlinearSystem for Shifted<'_> {
    fn size(&self) -> usize {
        self.system.size()
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        self.system.residual(x, r)?;
        r.iter_mut().zip(self.first).for_each(|(r, first)| *r -= self.factor * first);
        Ok(())
    }

    fn dependents(&self) -> usize {
        self.system.dependents()
    }

    fn read_dependents(&self, values: &mut [f64]) {
        self.system.read_dependents(values);
    }

    fn jacobian_pattern(&self) -> Option<&Pattern> {
        self.system.jacobian_pattern()
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        self.system.jacobian(x, values)
    }
}
