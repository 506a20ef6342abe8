//! Integrates a model together with its algebraic unknowns: [`DaeBdf`] behind the interface of the other methods.
//!
//! To the outside there are the states alone; the algebraic unknowns are the problem's, which is asked for consistent values of
//! them at the start and after every event.

use crate::dae_bdf::DaeBdf;
use crate::error::{EvalError, StepError};
use crate::iteration_matrix::IterationMatrix;
use crate::ode::{DenseOutput, Integrator, OdeProblem, Options, Statistics, Step};

#[derive(Clone)]
pub struct DaeMode {
    options: Options,
    states: usize,
    method: DaeBdf,
    /// All unknowns, and their slopes.
    values: Vec<f64>,
    slopes: Vec<f64>,
    /// The Jacobian of the states alone, which tells whether errors last.
    jacobian: Option<IterationMatrix>,
    /// Iteration matrices made when it was looked at.
    looked_at: u64,
}

/// How much smaller the errors of steps must be where nothing damps them, as in [`crate::bdf`].
const STRICTNESS: f64 = 200.0;
/// Iteration matrices after which the Jacobian of the states is looked at again.
const LOOK_AGAIN: u64 = 10;

impl DaeMode {
    pub fn new(size: usize, options: Options) -> Self {
        let method = DaeBdf::new(size, options.clone());
        DaeMode { options, states: size, method, values: Vec::new(), slopes: Vec::new(), jacobian: None, looked_at: 0 }
    }

    /// Finds out from time to time whether errors of steps last.
    fn judge_errors(&mut self, problem: &mut dyn OdeProblem) {
        let made = self.method.statistics().jacobians;
        if self.jacobian.is_some() && made < self.looked_at + LOOK_AGAIN {
            return;
        }
        self.looked_at = made;
        let Some(mut matrix) = self.jacobian.take().or_else(|| IterationMatrix::new(problem).ok()) else { return };
        let (t, h) = (self.method.time(), self.method.next_step());
        let (x, slope) = (&self.method.state()[..self.states], &self.slopes[..self.states]);
        let mut effort = Statistics::default();
        if matrix.evaluate(problem, t, x, slope, h, &self.options, &mut effort).is_ok() {
            self.method.set_strictness(if matrix.errors_last(h) { STRICTNESS } else { 1.0 });
        }
        self.jacobian = Some(matrix);
    }

    fn consistent(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Result<(), StepError> {
        let implicit = problem.implicit().ok_or_else(|| not_implicit(t))?;
        self.values.resize(implicit.size(), 0.0);
        self.slopes.resize(implicit.size(), 0.0);
        implicit
            .consistent(t, x, &mut self.values, &mut self.slopes)
            .map_err(|error| StepError::Evaluation { t, error })
    }
}

fn not_implicit(t: f64) -> StepError {
    StepError::Evaluation { t, error: EvalError::fatal(0) }
}

impl DenseOutput for DaeMode {
    fn time(&self) -> f64 {
        self.method.time()
    }

    fn interpolate(&self, t: f64, out: &mut [f64]) {
        self.method.interpolate(t, out);
    }

    fn interpolate_some(&self, t: f64, components: &[usize], out: &mut [f64]) {
        self.method.interpolate_some(t, components, out);
    }

    fn degree(&self) -> usize {
        self.method.degree()
    }
}

impl Integrator for DaeMode {
    fn start(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h0: Option<f64>) -> Result<(), StepError> {
        self.consistent(problem, t, x)?;
        self.method = DaeBdf::new(self.values.len(), self.options.clone());
        (self.jacobian, self.looked_at) = (None, 0);
        let implicit = problem.implicit().ok_or_else(|| not_implicit(t))?;
        self.method.start(implicit, t, &self.values, &self.slopes, h0)
    }

    fn step(&mut self, problem: &mut dyn OdeProblem, t_limit: f64) -> Result<Step, StepError> {
        let t = self.method.time();
        self.judge_errors(problem);
        let implicit = problem.implicit().ok_or_else(|| not_implicit(t))?;
        self.method.step(implicit, t_limit)
    }

    fn correct(&mut self, problem: &mut dyn OdeProblem, x: &[f64]) -> Result<(), StepError> {
        self.consistent(problem, self.method.time(), x)?;
        self.method.move_to(&self.values);
        Ok(())
    }

    fn restart(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Result<(), StepError> {
        self.consistent(problem, t, x)?;
        self.method.restart(t, &self.values, &self.slopes);
        Ok(())
    }

    fn approach(&self, problem: &mut dyn OdeProblem, t: f64) {
        if let Some(implicit) = problem.implicit() {
            implicit.guess(&mut |values| self.method.interpolate(t, values));
        }
    }

    fn defect(&mut self, t: f64, slope: &[f64]) -> f64 {
        self.method.defect(t, slope)
    }

    fn retake(&mut self, problem: &mut dyn OdeProblem, t: f64, h: f64) -> Result<(), StepError> {
        let mut x = vec![0.0; self.states];
        self.interpolate(t, &mut x);
        self.consistent(problem, t, &x)?;
        self.method.retake(t, &self.values, &self.slopes, h);
        Ok(())
    }

    fn set_absolute_tolerance(&mut self, component: usize, absolute: f64) {
        self.options.set_absolute(component, self.states, absolute);
        self.method.set_absolute_tolerance(component, absolute);
    }

    fn reset(&mut self, size: usize) {
        self.states = size;
        self.method = DaeBdf::new(size, self.options.clone());
    }

    fn state(&self) -> &[f64] {
        &self.method.state()[..self.states]
    }

    fn statistics(&self) -> Statistics {
        self.method.statistics()
    }

    fn begins_straight(&self) -> bool {
        true
    }

    fn sharpen(&mut self, factor: f64) {
        self.method.sharpen(factor);
    }

    fn planned_step(&self) -> Option<f64> {
        Some(self.method.next_step())
    }

    fn begin_anew(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h: f64) -> Result<(), StepError> {
        self.consistent(problem, t, x)?;
        self.method.retake(t, &self.values, &self.slopes, h);
        Ok(())
    }

    fn name(&self) -> &'static str {
        "dae"
    }
}
