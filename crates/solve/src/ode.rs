//! The small interfaces between a problem and an integrator: right-hand side and Jacobian on one side; start, step,
//! dense output and restart on the other.
//!
//! The problem is lent to each call instead of being owned, so that the event loop can change modes, relations and
//! parameters between steps.

use crate::dae_bdf::DaeProblem;
use crate::error::{EvalError, StepError};
use crate::sparse::Pattern;
use dyn_clone::DynClone;

/// An explicit system of ordinary differential equations, `x' = f(t, x)`.
pub trait OdeProblem {
    /// How many states there are.
    fn size(&self) -> usize;

    /// The derivatives at a point.
    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError>;

    /// Where ∂f/∂x can be non-zero; `None` stands for everywhere.
    fn jacobian_pattern(&self) -> Option<&Pattern> {
        None
    }

    /// Writes ∂f/∂x in the order of the pattern, or by columns when there is no pattern. `Ok(false)` says that there
    /// is no analytic Jacobian; coloured finite differences take its place.
    fn jacobian(&mut self, _t: f64, _x: &[f64], _values: &mut [f64]) -> Result<bool, EvalError> {
        Ok(false)
    }

    /// Solves `x = base + step·f(t, x)`, from what was found last; writes `x` and `f`. For problems that have a program of
    /// their own for this, in which states are unknowns among others: inline integration.
    fn inline_stage(
        &mut self,
        _t: f64,
        _step: f64,
        _base: &[f64],
        _x: &mut [f64],
        _dx: &mut [f64],
    ) -> Result<(), EvalError> {
        Err(EvalError::fatal(0))
    }

    /// The problem with its algebraic unknowns, for the integrator that takes them; the states come first.
    fn implicit(&mut self) -> Option<&mut dyn DaeProblem> {
        None
    }
}

/// The options of every integrator.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The error that a step may make, relative to the states.
    pub relative_tolerance: f64,
    /// One value for each component (tolerance times nominal value). A shorter list repeats its last value.
    pub absolute_tolerance: Vec<f64>,
    /// The longest step.
    pub max_step: f64,
    /// The step of fixed-step methods.
    pub fixed_step: f64,
    /// Largest order of the multistep methods.
    pub max_order: usize,
}

impl Options {
    /// The same relative tolerance for all; the absolute tolerance of a component is `tolerance · |nominal|`.
    pub fn with_nominals(tolerance: f64, nominals: &[f64]) -> Self {
        let absolute = nominals
            .iter()
            .map(|nominal| if *nominal == 0.0 || !nominal.is_finite() { tolerance } else { tolerance * nominal.abs() });
        Options { relative_tolerance: tolerance, absolute_tolerance: absolute.collect(), ..Options::default() }
    }

    /// With these tolerances for all components.
    pub fn with_tolerances(relative: f64, absolute: f64) -> Self {
        Options { relative_tolerance: relative, absolute_tolerance: vec![absolute], ..Options::default() }
    }

    /// Sets the absolute tolerance of one component of `size`.
    pub fn set_absolute(&mut self, component: usize, size: usize, absolute: f64) {
        if self.absolute_tolerance.len() < size {
            let last = self.absolute(size);
            self.absolute_tolerance.resize(size, last);
        }
        if let Some(tolerance) = self.absolute_tolerance.get_mut(component) {
            *tolerance = absolute;
        }
    }

    /// The absolute tolerance of a component.
    pub fn absolute(&self, component: usize) -> f64 {
        self.absolute_tolerance.get(component).or(self.absolute_tolerance.last()).copied().unwrap_or(1e-6)
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            relative_tolerance: 1e-6,
            absolute_tolerance: vec![1e-6],
            max_step: f64::INFINITY,
            fixed_step: 1e-3,
            max_order: 5,
        }
    }
}

/// One accepted step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Where the step began.
    pub t_old: f64,
    /// Where it ended.
    pub t_new: f64,
    /// `t_new` is exactly the limit that was given.
    pub at_limit: bool,
}

/// Effort spent since creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: u64,
    /// Steps repeated because of the error estimate.
    pub rejected: u64,
    /// Steps repeated because the corrector failed or the problem could not be evaluated.
    pub failed: u64,
    /// Evaluations of the right-hand side, those for finite differences included.
    pub rhs: u64,
    /// Evaluations of the Jacobian.
    pub jacobians: u64,
    /// Factorisations of the iteration matrix.
    pub factorisations: u64,
    /// Corrections.
    pub newton_iterations: u64,
    /// How often integration began anew.
    pub restarts: u64,
}

impl Statistics {
    /// Adds the effort of another integrator.
    pub fn add(&mut self, other: &Statistics) {
        self.steps += other.steps;
        self.rejected += other.rejected;
        self.failed += other.failed;
        self.rhs += other.rhs;
        self.jacobians += other.jacobians;
        self.factorisations += other.factorisations;
        self.newton_iterations += other.newton_iterations;
        self.restarts += other.restarts;
    }
}

/// The solution over the last accepted step, as root location and output need it.
pub trait DenseOutput {
    /// The end of the last accepted step.
    fn time(&self) -> f64;

    /// The solution at a time of the last accepted step.
    fn interpolate(&self, t: f64, out: &mut [f64]);

    /// As [`interpolate`](Self::interpolate), of some components only.
    fn interpolate_some(&self, t: f64, components: &[usize], out: &mut [f64]);

    /// The degree of the polynomials that the components are over the last accepted step, at most [`LARGEST_DEGREE`].
    fn degree(&self) -> usize;
}

/// Of the polynomials of dense output.
pub const LARGEST_DEGREE: usize = 7;

/// A method that advances a problem in time.
pub trait Integrator: DenseOutput + DynClone + Send + Sync {
    /// Begins at `(t, x)`; without `h0` the first step is estimated from the problem.
    fn start(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h0: Option<f64>) -> Result<(), StepError>;

    /// Takes one accepted step, never past `t_limit`. A failed step leaves the state as it was before the call.
    fn step(&mut self, problem: &mut dyn OdeProblem, t_limit: f64) -> Result<Step, StepError>;

    /// Takes note of a step that somebody else has taken from the last point to `(t, x)`, where the derivative is `slope`.
    fn take(&mut self, _t: f64, _x: &[f64], _slope: &[f64]) {}

    /// Continues from `(t, x)` after an event, where `t` lies in the last accepted step, or begins anew at a later time.
    /// Step size, order and the factorised Jacobian are kept as far as the change allows.
    fn restart(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Result<(), StepError>;

    /// Replaces the solution at the end of the last step by one that differs from it by drift only, such as its projection on
    /// an invariant. Nothing has happened: order and step size stay.
    fn correct(&mut self, problem: &mut dyn OdeProblem, x: &[f64]) -> Result<(), StepError> {
        let t = self.time();
        self.restart(problem, t, x)
    }

    /// Tells the problem what algebraic unknowns the method found at a time of the last accepted step, as a guess for an
    /// evaluation there.
    fn approach(&self, _problem: &mut dyn OdeProblem, _t: f64) {}

    /// How far, in units of the tolerance, the slope found on the dense output at a time of the last step leads away from
    /// the dense output within the length of the step. Large where something lies between the points that the step was made
    /// from. Methods without error control have no tolerance to compare with.
    fn defect(&mut self, _t: f64, _slope: &[f64]) -> f64 {
        0.0
    }

    /// Whether the first step after a start is a straight line, whatever the slope at its beginning.
    fn begins_straight(&self) -> bool {
        false
    }

    /// The length of the next step, of methods that may begin so.
    fn planned_step(&self) -> Option<f64> {
        None
    }

    /// Begins anew at `(t, x)` with a step of the length `h` at most, also where the solution has not jumped by more than the
    /// tolerance.
    fn begin_anew(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h: f64) -> Result<(), StepError> {
        self.start(problem, t, x, Some(h))
    }

    /// Makes errors smaller by a factor, from the next start or step until the next restart: something decides about events
    /// that is smaller than the tolerance. For methods whose steps may begin as straight lines.
    fn sharpen(&mut self, _factor: f64) {}

    /// Changes the absolute tolerance of a component from the next start or step on. Methods without error control have none.
    fn set_absolute_tolerance(&mut self, _component: usize, _absolute: f64) {}

    /// Goes back to a time of the last accepted step. The next step has the length `h` at most.
    fn retake(&mut self, problem: &mut dyn OdeProblem, t: f64, h: f64) -> Result<(), StepError> {
        let mut x = self.state().to_vec();
        self.interpolate(t, &mut x);
        self.start(problem, t, &x, Some(h))
    }

    /// Forgets the Jacobian: its pattern or the size of the problem may have changed. `start` must follow.
    fn reset(&mut self, size: usize);

    /// The states at the end of the last step.
    fn state(&self) -> &[f64];

    /// How many of the steps were limited by the stability of an explicit formula, not by its error.
    fn stiff_steps(&self) -> u64 {
        0
    }

    /// The effort so far.
    fn statistics(&self) -> Statistics;

    /// The name of the method.
    fn name(&self) -> &'static str;
}

dyn_clone::clone_trait_object!(Integrator);
