//! Damped Newton iteration for nonlinear blocks.
//!
//! An unknown is settled when its next correction is small beside the unknown itself, whatever its unit is. What is computed
//! from the unknowns inside of the residual ([`NonlinearSystem::dependents`]) is judged with them: where it amplifies their
//! errors, the iteration goes on as long as corrections shrink. An unknown whose solution is zero but for rounding never
//! settles in this way; there the correction itself must turn out to be noise (see [`NewtonSolver::is_noise`]).
//!
//! The damping is the error-oriented strategy of Deuflhard, *Newton Methods for Nonlinear Problems* (2004), section
//! 3.3.3 (NLEQ-ERR): a step is good when the next correction, computed with the same factorisation, is shorter. This
//! does not depend on the scaling of the equations, only on that of the unknowns, which are measured in nominals.
//! When it fails, steps that merely reduce the scaled residual are accepted, and when these fail, too, small systems are
//! brought nearer by [`crate::levenberg_marquardt`] and tried once more, or the residual is reduced by and by. A warm start first tries the
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

    /// How many further numbers the residual computes from the unknowns on its way, and that have to be as exact.
    fn dependents(&self) -> usize {
        0
    }

    /// Writes them, as they were at the point at which the residual was evaluated last.
    fn read_dependents(&self, _values: &mut [f64]) {}

    /// Writes ∂r/∂x in the order of the pattern, or by full columns. `Ok(false)` asks for finite differences. The residual
    /// was evaluated at this point last.
    fn jacobian(&mut self, _x: &[f64], _values: &mut [f64]) -> Result<bool, EvalError> {
        Ok(false)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewtonOptions {
    /// Largest error of an unknown relative to itself.
    pub tolerance: f64,
    pub max_iterations: usize,
    /// Typical magnitudes of the unknowns: how long steps may be. A shorter list is continued with ones.
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
/// A correction that is so much shorter than the one before shows that the solution is near.
const VERIFIED: f64 = 0.25;
/// An iteration whose residual shrinks by a factor only may take so many times as long.
const SLOWEST: usize = 10;
/// Corrections of this size relative to an unknown are rounding errors.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// What is smaller than this in units of the nominal value is zero.
const SMALLEST: f64 = 1e-42;

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
    /// The sizes of the unknowns at the start, or of their first corrections.
    reach: Vec<f64>,
    /// Steps are not measured in nominal values.
    in_own_units: bool,
    /// One by the scale; zero for unknowns that are settled and not to be looked at.
    weight: Vec<f64>,
    /// Corrections of an unknown up to this size turned out to be noise lately.
    floor: Vec<f64>,
    /// So many solves ago.
    floor_age: u32,
    row_scale: Vec<f64>,
    /// Dependents at the last point that was evaluated, at the one before, and the largest that they have been.
    dependents: Vec<f64>,
    dependents_before: Vec<f64>,
    dependents_span: Vec<f64>,
    /// Changes of a dependent up to this size turned out to be noise lately.
    dependents_floor: Vec<f64>,
    /// The last point at which the residual was evaluated.
    evaluated: Vec<f64>,
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
        let dependents = vec![0.0; system.dependents()];
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
            reach: zeros(),
            in_own_units: false,
            weight: zeros(),
            floor: zeros(),
            floor_age: 0,
            row_scale: zeros(),
            dependents_before: dependents.clone(),
            dependents_span: dependents.clone(),
            dependents_floor: dependents.clone(),
            dependents,
            evaluated: vec![f64::NAN; size],
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

    /// The residuals at the solution found last.
    pub fn residuals(&self) -> &[f64] {
        &self.r
    }

    /// Drops the factorisation kept for warm starts.
    pub fn forget(&mut self) {
        self.has_factors = false;
        self.floor.fill(0.0);
        self.dependents_floor.fill(0.0);
        self.dependents_span.fill(0.0);
    }

    /// Solves the system from the guess in `x`, which holds the solution afterwards; the residual was evaluated there last.
    /// On failure `x` is left at the best point found.
    pub fn solve(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<(), NewtonError> {
        self.statistics.solves += 1;
        if self.size == 0 {
            return Ok(());
        }
        self.clamp(x);
        self.start.copy_from_slice(x);
        self.age_floors();
        let outcome = match self.evaluate_start(system, x) {
            Ok(()) => self.solve_from(system, x),
            Err(error) => self.begin_beside(system, x).map_err(|()| error),
        };
        let outcome = outcome.and_then(|()| self.finish(system, x));
        if outcome.is_err() {
            self.statistics.failures += 1;
            self.has_factors = false;
            self.collect_worst();
        }
        outcome
    }

    /// Noise of long ago says nothing about today.
    fn age_floors(&mut self) {
        const OLD: u32 = 50;
        self.floor_age += 1;
        if self.floor_age > OLD {
            self.floor_age = 0;
            self.floor.fill(0.0);
            self.dependents_floor.fill(0.0);
            self.dependents_span.iter_mut().for_each(|span| *span *= 0.5);
        }
    }

    /// Leaves the system as it is at the solution.
    fn finish(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<(), NewtonError> {
        if self.evaluated != *x {
            self.evaluate_start(system, x)?;
        }
        for (span, value) in self.dependents_span.iter_mut().zip(&self.dependents) {
            *span = span.max(value.abs());
        }
        Ok(())
    }

    /// Evaluates a residual, and remembers where and what else it computes.
    fn evaluate(&mut self, system: &mut dyn NonlinearSystem, x: &[f64], target: Target) -> Result<(), EvalError> {
        self.statistics.residuals += 1;
        self.evaluated.fill(f64::NAN);
        let r = match target {
            Target::Own => &mut self.r,
            Target::Trial => &mut self.trial_r,
        };
        system.residual(x, r)?;
        self.evaluated.copy_from_slice(x);
        if !self.dependents.is_empty() {
            std::mem::swap(&mut self.dependents, &mut self.dependents_before);
            system.read_dependents(&mut self.dependents);
        }
        Ok(())
    }

    /// From a point at which the residual is known.
    fn solve_from(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<(), NewtonError> {
        self.first_r.copy_from_slice(&self.r);
        if self.has_factors && self.simplified(system, x)? {
            return Ok(());
        }
        match self.damped(system, x) {
            Err(error) if self.can_be_rescued(error) => {
                let stuck_at = x.to_vec();
                let begin = self.start.clone();
                if self.damped_in_own_units(system, x, &begin) {
                    return Ok(());
                }
                x.copy_from_slice(&stuck_at);
                self.rescue(system, x, error)
            }
            outcome => outcome,
        }
    }

    /// Once more from the start, with steps measured in units of the unknowns and of the steps themselves: nominal values
    /// that are far too large hide the unknowns that overshoot.
    fn damped_in_own_units(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64], begin: &[f64]) -> bool {
        x.copy_from_slice(begin);
        self.in_own_units = true;
        let outcome = self.evaluate_start(system, x).and_then(|()| self.damped(system, x));
        self.in_own_units = false;
        outcome.is_ok()
    }

    /// Where there is no residual at the start, as that of y − 1/x at zero, there may be one beside it; where functions grow
    /// beyond all numbers, nearer to zero.
    fn begin_beside(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<(), ()> {
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

    /// Newton's homotopy: solves `r(x) = factor·r(start)` for smaller and smaller factors. Where the equations are monotone,
    /// as those of networks of diodes, there is one solution for each of them.
    fn reduce_residual(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> bool {
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
    fn bracket(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> bool {
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
    fn jumps_back(&self, x: &mut [f64], zero: f64, scale: f64) -> bool {
        let near = (x[0] - zero).abs() <= 1e-6 * scale && self.r[0].abs() <= 1e-9 * self.first_r[0].abs();
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
        self.evaluate(system, x, Target::Own).map_err(NewtonError::Evaluation)?;
        match self.r.iter().position(|r| !r.is_finite()) {
            Some(residual) => Err(NewtonError::NotFinite { residual }),
            None => Ok(()),
        }
    }

    /// Iterates with the factors at hand while the corrections shrink fast. False puts `x` back to its start.
    fn simplified(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<bool, NewtonError> {
        self.step.copy_from_slice(&self.r);
        self.solver.solve(&mut self.step);
        if self.is_settled_at_start(x) {
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
                && self.corrections_are_within(x, &self.step, tolerance)
                && self.dependents_are_settled(x, &self.next_step, &self.step)
            {
                return Ok(true);
            }
            if contraction > 0.2 || contraction.is_nan() {
                break;
            }
            size = next;
        }
        x.copy_from_slice(&self.start);
        self.evaluate_start(system, x)?;
        Ok(false)
    }

    /// Whether corrections are small beside each unknown, or nothing but noise.
    fn corrections_are_within(&self, x: &[f64], corrections: &[f64], tolerance: f64) -> bool {
        // NaN is not within anything.
        let is_small = |(j, (x, d)): (usize, (&f64, &f64))| {
            d.abs() <= tolerance * x.abs() || d.abs() <= self.floor[j].max(SMALLEST * self.nominal(j))
        };
        x.iter().zip(corrections).enumerate().all(is_small)
    }

    /// Whether no step is needed. Where nothing is known of how dependents amplify corrections, these have to be tiny.
    fn is_settled_at_start(&self, x: &[f64]) -> bool {
        let tolerance = if self.dependents.is_empty() { 0.1 * self.options.tolerance } else { 1e-13 };
        self.corrections_are_within(x, &self.step, tolerance)
    }

    /// Whether dependents, which changed with the correction `taken`, do not change much with the next one. Those that vanish
    /// but for rounding, compared with what they have been, do not count.
    fn dependents_are_settled(&self, x: &[f64], taken: &[f64], next: &[f64]) -> bool {
        const TOLERANCE: f64 = 1e-10;
        const VANISHING: f64 = 1e-5;
        if self.dependents.is_empty() {
            return true;
        }
        // How much shorter the next correction is; those within the rounding of an unknown are none.
        let mut contraction = 0.0f64;
        for ((x, taken), next) in x.iter().zip(taken).zip(next) {
            if next.abs() > 4.0 * f64::EPSILON * x.abs() {
                contraction = contraction.max(next.abs() / taken.abs().max(next.abs()));
            }
        }
        (0..self.dependents.len()).all(|k| {
            let size = self.dependents[k].abs().max(VANISHING * self.dependents_span[k]);
            let change = (self.dependents[k] - self.dependents_before[k]).abs();
            contraction * change <= TOLERANCE * size || change <= self.dependents_floor[k]
        })
    }

    /// Dependents that still change while corrections no longer shrink are differences that vanish but for rounding.
    fn note_noise_of_dependents(&mut self) {
        let changes = self.dependents.iter().zip(&self.dependents_before);
        for (floor, (value, before)) in self.dependents_floor.iter_mut().zip(changes) {
            *floor = floor.max(4.0 * (value - before).abs());
        }
    }

    fn damped(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<(), NewtonError> {
        let mut damping: f64 = 1.0;
        let mut previous_size = 0.0;
        // A short correction says nothing where the residual is steep and bent, as an exponential function is: that the next
        // one is much shorter shows that the solution is near.
        let mut verified = false;
        let mut shrinks = false;
        let mut previous_residual = f64::INFINITY;
        // From the steep side of an exponential function each step takes its argument back by one or so: that is slow, but no
        // failure.
        let mut reduces = false;
        let most = SLOWEST * self.options.max_iterations;
        for iteration in 0..most {
            if iteration >= self.options.max_iterations && !reduces {
                break;
            }
            self.statistics.iterations += 1;
            self.set_scale(x);
            if self.evaluated != *x {
                self.evaluate_start(system, x)?;
            }
            self.evaluate_jacobian(system, x)?;
            self.correction()?;
            if !all_finite(&self.step) {
                return Err(self.no_convergence(iteration));
            }
            let settled = match verified {
                true => self.is_settled_at_start(x),
                false => self.corrections_are_within(x, &self.step, ROUNDING),
            };
            if settled && self.is_consistent() {
                return Ok(());
            }
            if iteration == 0 {
                self.note_reach(x);
            }
            self.set_weight(x);
            let size = self.weighted_norm(&self.step);
            if iteration > 0 {
                // Prediction of the damping from the last change of the corrections.
                let change = self.weighted_distance(&self.next_step, &self.step);
                let mu = previous_size * self.weighted_norm(&self.next_step) / (change * size).max(f64::MIN_POSITIVE);
                damping = if mu.is_finite() { (mu * damping).min(1.0) } else { damping };
            }
            match self.search(system, x, size, &mut damping) {
                Search::Converged => return Ok(()),
                Search::Moved => {}
                Search::Stuck(_) if self.is_solved_up_to_rounding(system, x) => return Ok(()),
                Search::Stuck(error) => {
                    return Err(error.map_or_else(|| self.no_convergence(iteration + 1), NewtonError::Evaluation));
                }
            }
            if damping < 1e-2 && self.is_below_nominal_rounding() {
                return Ok(());
            }
            // Rounding errors do not get smaller; residuals of a steep function do with every step.
            let residual_size = self.scaled_residual(&self.r);
            if residual_size >= 0.5 * previous_residual
                && self.scaled_norm(&self.step) <= self.options.tolerance.sqrt()
                && self.is_rounding_of_terms(x)
            {
                return Ok(());
            }
            reduces = residual_size <= 0.8 * previous_residual;
            previous_residual = residual_size;
            shrinks = size <= 0.7 * previous_size;
            verified = damping == 1.0 && self.weighted_norm(&self.next_step) <= VERIFIED * size;
            previous_size = size;
        }
        if self.is_multiple_root(x, shrinks) || (self.is_short() && self.is_noise(system, x)) {
            return Ok(());
        }
        Err(self.no_convergence(self.options.max_iterations))
    }

    /// Where the Jacobian is singular, corrections may be short though the equations are not fulfilled.
    fn is_consistent(&self) -> bool {
        self.deficient.is_none() || self.residual_is_within(1e-9)
    }

    /// Whether residuals are small beside those at the start, or beside their terms.
    fn residual_is_within(&self, tolerance: f64) -> bool {
        const ROUNDING: f64 = 64.0 * f64::EPSILON;
        let mut residuals = self.r.iter().zip(&self.first_r).zip(&self.row_scale);
        residuals.all(|((r, first), scale)| r.abs() <= (tolerance * first.abs()).max(ROUNDING * scale))
    }

    /// At a multiple root, and where terms of very different sizes meet, corrections stay long while the residual is
    /// already rounding.
    fn is_solved_up_to_rounding(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> bool {
        if self.scaled_norm(&self.step) > self.options.tolerance.sqrt() {
            return false;
        }
        self.is_rounding_of_terms(x) || self.is_noise(system, x)
    }

    /// Whether corrections and residuals are rounding errors of nominal values: what part of a sum is quantised, as that of
    /// `exp(x) - 1` near zero, another part need not be.
    fn is_below_nominal_rounding(&self) -> bool {
        let is_tiny = |(d, scale): (&f64, &f64)| d.abs() <= 1e-15 * scale;
        self.step.iter().zip(&self.scale).all(is_tiny) && self.residual_is_within(0.0)
    }

    /// At a multiple root corrections shrink by a factor only, to the end: they are short beside the unknowns, or these have
    /// become zero beside what they were.
    fn is_multiple_root(&self, x: &[f64], shrinks: bool) -> bool {
        let is_short = |((d, x), reach): ((&f64, &f64), &f64)| d.abs() <= (1e-7 * x.abs()).max(1e-12 * reach);
        shrinks && self.step.iter().zip(x).zip(&self.reach).all(is_short) && self.residual_is_within(1e-13)
    }

    /// How far the iteration reaches out from its start, unknown by unknown.
    fn note_reach(&mut self, x: &[f64]) {
        for ((reach, x), step) in self.reach.iter_mut().zip(x).zip(&self.step) {
            *reach = x.abs().max(step.abs());
        }
    }

    /// Whether each residual is small beside the terms that the unknowns make, which are smaller than with nominal values.
    fn is_rounding_of_terms(&self, x: &[f64]) -> bool {
        const ROUNDING: f64 = 64.0 * f64::EPSILON;
        let mut terms = vec![0.0; self.size];
        self.for_each_entry(|row, column, value| terms[row] += (value * x[column]).abs());
        self.r.iter().zip(&terms).all(|(r, terms)| r.abs() <= ROUNDING * terms)
    }

    fn for_each_entry(&self, mut visit: impl FnMut(usize, usize, f64)) {
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

    /// Whether the corrections of the unknowns that are not settled are made of rounding errors: a small step along them does
    /// not change the residual as the Jacobian tells. Where the residual is smooth, it does so the better the smaller the
    /// step is; at a place without solution, such as a plateau, too.
    fn is_noise(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> bool {
        const STEP: f64 = 1.0 / 1024.0;
        if self.deficient.is_some() {
            return false;
        }
        let mut open = self.open(x);
        if open.is_empty() && !self.corrections_are_within(x, &self.step, ROUNDING) {
            open = (0..self.size).filter(|&j| self.step[j].abs() > ROUNDING * x[j].abs()).collect();
        }
        for step in [STEP, -STEP] {
            let point: Vec<f64> = x.iter().zip(&self.step).map(|(x, d)| x - step * d).collect();
            if self.evaluate(system, &point, Target::Trial).is_err() || !all_finite(&self.trial_r) {
                return false;
            }
            let mut next = self.trial_r.clone();
            self.solver.solve(&mut next);
            let unexpected = |&j: &usize| {
                let d = self.step[j];
                let off = (next[j] - (1.0 - step) * d).abs();
                off >= 0.5 * STEP * d.abs() && off <= 20.0 * d.abs()
            };
            if !open.iter().all(unexpected) {
                return false;
            }
        }
        for j in open {
            self.floor[j] = self.floor[j].max(4.0 * self.step[j].abs());
        }
        true
    }

    /// The unknowns that are not settled.
    fn open(&self, x: &[f64]) -> Vec<usize> {
        (0..self.size).filter(|&j| self.is_open(j, x[j])).collect()
    }

    fn is_open(&self, j: usize, x: f64) -> bool {
        let d = self.step[j].abs();
        !(d <= self.options.tolerance * x.abs() || d <= self.floor[j].max(SMALLEST * self.nominal(j)))
    }

    /// Whether all corrections are so short that they may be rounding errors of something larger.
    fn is_short(&self) -> bool {
        self.step.iter().zip(&self.scale).all(|(d, scale)| d.abs() <= 1e-9 * scale)
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
            let trial = std::mem::take(&mut self.trial);
            let outcome = self.evaluate(system, &trial, Target::Trial);
            self.trial = trial;
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
            let next_size = self.weighted_norm(&self.next_step);
            let contraction = next_size / size;
            // Distance of the next correction from what a linear system would give.
            let mut bent = 0.0;
            for ((next, d), w) in self.next_step.iter().zip(&self.step).zip(&self.weight) {
                let v = (next - (1.0 - *damping) * d) * w;
                bent += v * v;
            }
            let bent = (bent / self.size as f64).sqrt();
            let mu = 0.5 * size * *damping * *damping / bent.max(f64::MIN_POSITIVE);
            if *damping == 1.0 && !(contraction < 0.5) && self.is_short() && self.is_noise(system, x) {
                return Search::Converged;
            }
            if contraction >= 1.0 || contraction.is_nan() {
                let shorter = mu.min(0.5 * *damping);
                *damping = if shorter.is_finite() { shorter.max(0.01 * *damping) } else { 0.25 * *damping };
                continue;
            }
            let wanted = mu.min(1.0);
            if *damping == 1.0
                && wanted >= 1.0
                && (contraction <= VERIFIED || self.corrections_are_within(&self.trial, &self.next_step, ROUNDING))
                && self.corrections_are_within(&self.trial, &self.next_step, self.options.tolerance)
            {
                x.copy_from_slice(&self.trial);
                std::mem::swap(&mut self.r, &mut self.trial_r);
                let settled = self.dependents_are_settled(x, &self.step, &self.next_step);
                let is_noise = !settled && contraction > 0.5;
                if is_noise {
                    self.note_noise_of_dependents();
                }
                if !(settled || is_noise) || !self.is_consistent() {
                    return Search::Moved;
                }
                // The next correction is known already: apply it, too.
                x.iter_mut().zip(&self.next_step).for_each(|(x, d)| *x -= d);
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
                if self.evaluate(system, x, Target::Own).is_err() {
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
            self.evaluated.fill(f64::NAN);
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

    fn clamp(&self, x: &mut [f64]) {
        for (x, (low, high)) in x.iter_mut().zip(&self.options.bounds) {
            *x = x.max(*low).min(*high);
        }
    }

    fn set_scale(&mut self, x: &[f64]) {
        for (j, x) in x.iter().enumerate() {
            self.scale[j] = x.abs().max(self.nominal(j));
        }
    }

    fn nominal(&self, j: usize) -> f64 {
        let nominal = self.options.nominals.get(j).map_or(1.0, |nominal| nominal.abs());
        if nominal > 0.0 && nominal.is_finite() { nominal } else { 1.0 }
    }

    /// Steps are measured by the unknowns that are not settled, in units of their scales.
    fn set_weight(&mut self, x: &[f64]) {
        let open = self.open(x);
        if open.is_empty() || self.in_own_units {
            return self.set_relative_weight(x);
        }
        self.weight.fill(0.0);
        open.into_iter().for_each(|j| self.weight[j] = 1.0 / self.scale[j]);
    }

    /// Steps are measured by the unknowns that are not settled, in units of themselves; by all, if only dependents are left.
    fn set_relative_weight(&mut self, x: &[f64]) {
        let mut any = false;
        for all in [false, true] {
            for j in 0..self.size {
                let (size, step) = (x[j].abs(), self.step[j].abs());
                let measured = (all || self.is_open(j, x[j])) && step > 0.0;
                any |= measured;
                self.weight[j] = if measured { 1.0 / size.max(step) } else { 0.0 };
            }
            if any {
                break;
            }
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

    fn weighted_norm(&self, v: &[f64]) -> f64 {
        let sum: f64 = v.iter().zip(&self.weight).map(|(v, w)| (v * w) * (v * w)).sum();
        (sum / self.size as f64).sqrt()
    }

    fn weighted_distance(&self, v: &[f64], w: &[f64]) -> f64 {
        let sum: f64 = v.iter().zip(w).zip(&self.weight).map(|((v, w), s)| ((v - w) * s) * ((v - w) * s)).sum();
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

/// Where a residual is written.
#[derive(Clone, Copy)]
enum Target {
    Own,
    Trial,
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
