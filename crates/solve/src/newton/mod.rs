//! Damped Newton iteration for nonlinear blocks.
//!
//! An unknown is settled when its next correction is small beside the unknown itself, whatever its unit is. What is computed
//! from the unknowns inside of the residual ([`NonlinearSystem::dependents`]) is judged with them: where it amplifies their
//! errors, the iteration goes on as long as corrections shrink. An unknown whose solution is zero but for rounding never
//! settles in this way; there the correction itself must turn out to be noise (see `stopping`).
//!
//! The damping is the error-oriented strategy of Deuflhard, *Newton Methods for Nonlinear Problems* (2004), section
//! 3.3.3 (NLEQ-ERR): a step is good when the next correction, computed with the same factorisation, is shorter. This
//! does not depend on the scaling of the equations, only on that of the unknowns, which are measured in nominals.
//! When it fails, steps that merely reduce the scaled residual are accepted, and when these fail, too, small systems are
//! brought nearer by `levenberg_marquardt` and tried once more, or the residual is reduced by and by. A warm start first tries the
//! factorisation of the last solution; a point where the residual cannot be evaluated shortens the step; a singular
//! Jacobian is met with the correction of least norm.

mod correction;
mod damping;
mod noise;
mod rescue;
mod stopping;
mod undefined_slopes;

use crate::dense::DenseMatrix;
use crate::error::{EvalError, Singular};
use crate::finite_differences::FiniteDifferences;
use crate::linear::LinearSolver;
use crate::sparse::Pattern;
use noise::Noise;
use std::fmt;

/// Equations `r(x) = 0`, as many as unknowns.
pub trait NonlinearSystem {
    /// How many unknowns there are.
    fn size(&self) -> usize;

    /// What the equations leave over at a point.
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

    /// Whether a point lies where the equations are meant as they are: they may be one branch of several.
    fn is_in_branch(&mut self, _x: &[f64]) -> bool {
        true
    }
}

/// How to iterate.
#[derive(Clone, Debug, PartialEq)]
pub struct NewtonOptions {
    /// Largest error of an unknown relative to itself.
    pub tolerance: f64,
    /// How many iterations there may be.
    pub max_iterations: usize,
    /// Typical magnitudes of the unknowns: how long steps may be. A shorter list is continued with ones.
    pub nominals: Vec<f64>,
    /// Lower and upper bounds; empty for none.
    pub bounds: Vec<(f64, f64)>,
    /// Gives up where the damped iteration leads nowhere: the caller has other systems to try first.
    pub is_quick: bool,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        NewtonOptions {
            tolerance: 1e-10,
            max_iterations: 100,
            nominals: Vec::new(),
            bounds: Vec::new(),
            is_quick: false,
        }
    }
}

/// Effort spent since creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewtonStatistics {
    /// How often a system was solved.
    pub solves: u64,
    /// Corrections.
    pub iterations: u64,
    /// Evaluations of the residual.
    pub residuals: u64,
    /// Evaluations of the Jacobian.
    pub jacobians: u64,
    /// Factorisations.
    pub factorisations: u64,
    /// How often there was no solution.
    pub failures: u64,
}

/// Why there is no solution.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the variants say what their fields are")]
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
/// So many iterations are left to it after each one that does.
const SOON: usize = 20;
/// Corrections of this size relative to an unknown are rounding errors.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// What is smaller than this in units of the nominal value is zero.
const SMALLEST: f64 = 1e-42;

/// Newton's method with its scratch space.
#[derive(Clone)]
pub struct NewtonSolver {
    options: NewtonOptions,
    size: usize,
    pattern: Option<Pattern>,
    solver: LinearSolver,
    values: Vec<f64>,
    differences: Option<FiniteDifferences>,
    has_factors: bool,
    /// The point of the Jacobian that was evaluated last.
    slopes_at: Vec<f64>,
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
    noise: Noise,
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
    /// The scales of the residuals by the first Jacobian after the start; infinite as long as there is none.
    first_row_scale: Vec<f64>,
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
            slopes_at: zeros(),
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
            noise: Noise::new(size),
            row_scale: zeros(),
            dependents_before: dependents.clone(),
            dependents_span: dependents.clone(),
            dependents_floor: dependents.clone(),
            dependents,
            evaluated: vec![f64::NAN; size],
            start: zeros(),
            first_r: zeros(),
            first_row_scale: vec![f64::INFINITY; size],
            statistics: NewtonStatistics::default(),
            worst: Vec::new(),
            options,
            size,
            pattern,
        })
    }

    /// The effort so far.
    pub fn statistics(&self) -> NewtonStatistics {
        self.statistics
    }

    /// How it iterates.
    pub fn options(&self) -> &NewtonOptions {
        &self.options
    }

    /// Where the last solve began.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// How it iterates, to be changed.
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

    /// The sign of the determinant of the Jacobian at the solution found last, if it is known. Where corrections shrink fast with
    /// the factors of another point, the sign is that of the other point.
    pub fn orientation(&self) -> Option<f64> {
        self.has_factors.then(|| self.solver.orientation())
    }

    /// Drops the factorisation kept for warm starts.
    pub fn forget(&mut self) {
        self.has_factors = false;
        self.noise.forget();
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
        self.first_row_scale.fill(f64::INFINITY);
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

    /// Leaves the system as it is at the solution.
    fn finish(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<(), NewtonError> {
        /// An unknown that went so far beyond its start went to infinity, as that of 1/x = 0 does.
        const INFINITE: f64 = 1e100;
        let is_infinite = |j: &usize| x[*j].abs() > INFINITE * self.start[*j].abs().max(self.nominal(*j));
        if let Some(column) = (0..self.size).find(is_infinite) {
            return Err(NewtonError::Singular { column });
        }
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

    fn evaluate_start(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> Result<(), NewtonError> {
        self.evaluate(system, x, Target::Own).map_err(NewtonError::Evaluation)?;
        match self.r.iter().position(|r| !r.is_finite()) {
            Some(residual) => Err(NewtonError::NotFinite { residual }),
            None => Ok(()),
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

    fn scaled_norm(&self, v: &[f64]) -> f64 {
        let sum: f64 = v.iter().zip(&self.scale).map(|(v, s)| (v / s) * (v / s)).sum();
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

/// Where a residual is written.
#[derive(Clone, Copy)]
enum Target {
    Own,
    Trial,
}

#[cfg(test)]
mod tests;
