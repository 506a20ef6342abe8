//! The driver of explicit Runge–Kutta pairs: stages, error estimate, step control, dense output, and the detection of
//! stiffness. The formulas are in files of their own.
//!
//! Stiffness is detected as in DOPRI5 (Hairer and Wanner, *Solving Ordinary Differential Equations II*, section IV.2): the
//! last two stages, both at the end of the step, estimate the dominant eigenvalue.

use crate::error::StepError;
use crate::ode::{DenseOutput, Integrator, OdeProblem, Options, Statistics, Step};
use crate::resume::{Resume, SAME_END, SAME_SLOPE, is_same_state, slip};
use crate::step_control::{OneStep, StepControl, take_step};
use crate::vector::{add_combination, combined};
use crate::weights::{
    Failure, evaluate, initial_step, norm, set_weights, set_weights_of_both, tighten, worst_component,
};
use std::marker::PhantomData;

/// Beyond this product of step and eigenvalue the step is limited by stability, not by accuracy.
const STABILITY_LIMIT: f64 = 2.2;
/// From here on an implicit method would probably take longer steps.
const SUSPICION_LIMIT: f64 = 1.0;

/// Distances, as fractions of a step, and factors of the central difference of order four for the slope of dense output.
/// Its error is that of rounding, since dense output is a polynomial of low degree.
const SLOPE_DIFFERENCE: [(f64, f64); 2] = [(1e-3, 2000.0 / 3.0), (2e-3, -250.0 / 3.0)];

/// The coefficients of a pair whose last stage is the slope at the end of the step, and the first of the next one.
pub trait Formula: Clone + Send + Sync + 'static {
    /// The name of the method.
    const NAME: &'static str;
    /// Order of the solution.
    const ORDER: usize;
    /// Where the stages are in a step.
    const NODES: &'static [f64];
    /// Row s holds the weights of the stages before stage s. Row `LAST` gives the solution; rows behind it are for dense
    /// output only.
    const ROWS: &'static [&'static [f64]];
    /// The stage at the end of the step.
    const LAST: usize;

    /// Norm of the error of a step of length `h`, the exponent of h in it being [`Self::ORDER`].
    fn error(slopes: &[Vec<f64>], h: f64, weights: &[f64], scratch: &mut [f64]) -> f64;

    /// How much smaller than the tolerance the errors of steps must be, so that they do not add up to much more.
    fn strictness(tolerance: f64) -> f64;

    /// The degree of the weights of the slopes as polynomials.
    const DENSE_DEGREE: usize;

    /// Weights of the slopes at a fraction of the step.
    fn dense(fraction: f64, weights: &mut [f64; MAX_STAGES]);
}

/// The most stages that a formula may have.
pub const MAX_STAGES: usize = 16;

/// From this product of step and fastest rate on the dense output is looked at.
const DENSE_LIMIT: f64 = 1.5;

/// An explicit Runge-Kutta method.
#[derive(Clone)]
pub struct RungeKutta<F: Formula> {
    options: Options,
    t: f64,
    t_old: f64,
    h_used: f64,
    x: Vec<f64>,
    x_old: Vec<f64>,
    slopes: Vec<Vec<f64>>,
    stage: Vec<f64>,
    error: Vec<f64>,
    weights: Vec<f64>,
    control: StepControl,
    statistics: Statistics,
    stiffness: f64,
    stiff_steps: u64,
    /// The step times the fastest rate, as the last stages show it.
    product: f64,
    middle: Vec<f64>,
    slope_is_current: bool,
    resume: Resume,
    formula: PhantomData<F>,
}

impl<F: Formula> RungeKutta<F> {
    /// For so many states.
    pub fn new(size: usize, options: Options) -> Self {
        let zeros = || vec![0.0; size];
        RungeKutta {
            options,
            t: 0.0,
            t_old: 0.0,
            h_used: 0.0,
            x: zeros(),
            x_old: zeros(),
            slopes: F::ROWS.iter().map(|_| zeros()).collect(),
            stage: zeros(),
            error: zeros(),
            weights: zeros(),
            control: StepControl::new(F::ORDER),
            statistics: Statistics::default(),
            stiffness: 0.0,
            stiff_steps: 0,
            product: 0.0,
            middle: zeros(),
            slope_is_current: false,
            resume: Resume::new(size),
            formula: PhantomData,
        }
    }

    /// Begins a new step at `(t, x)`, or at the point kept for resuming, with the step size planned before.
    /// `error` holds the slope there if `slope_is_known`.
    fn begin_again(
        &mut self,
        problem: &mut dyn OdeProblem,
        t: f64,
        x: Option<&[f64]>,
        slope_is_known: bool,
    ) -> Result<(), StepError> {
        self.statistics.restarts += 1;
        self.t = t;
        self.t_old = t;
        self.h_used = 0.0;
        self.x.copy_from_slice(x.unwrap_or(self.resume.state()));
        self.resume.clear();
        self.control.restart(t);
        if slope_is_known {
            std::mem::swap(&mut self.slopes[0], &mut self.error);
            self.slope_is_current = true;
            return Ok(());
        }
        self.evaluate_first_slope(problem)
    }

    /// Whether `(t, x)` lies on the last step, so that its slope may say more.
    fn is_on_last_step(&mut self, t: f64, x: &[f64]) -> bool {
        if self.h_used == 0.0 || !(t >= self.t_old && t < self.t) {
            return false;
        }
        let mut scratch = std::mem::take(&mut self.stage);
        self.interpolate(t, &mut scratch);
        self.stage = scratch;
        is_same_state(&mut self.stage, x, &self.weights)
    }

    /// Subtracts the slope of the dense output from the values in `stage`.
    fn subtract_dense_slope(&mut self, t: f64) {
        let fraction = (t - self.t_old) / self.h_used;
        let mut weights = [0.0; MAX_STAGES];
        for (distance, factor) in SLOPE_DIFFERENCE {
            let (mut ahead, mut behind) = ([0.0; MAX_STAGES], [0.0; MAX_STAGES]);
            F::dense(fraction + distance, &mut ahead);
            F::dense(fraction - distance, &mut behind);
            weights.iter_mut().zip(ahead.iter().zip(&behind)).for_each(|(w, (a, b))| *w += factor * (a - b));
        }
        add_combination(&mut self.stage, -1.0, &weights, &self.slopes);
    }

    /// Whether the right-hand side, which is in `error` for a time of the last step, is still the one it was made with.
    fn step_remains_valid(&mut self, problem: &mut dyn OdeProblem, t: f64) -> bool {
        self.stage.copy_from_slice(&self.error);
        self.subtract_dense_slope(t);
        if self.h_used * norm(&self.stage, &self.weights) > SAME_SLOPE {
            return false;
        }
        if evaluate(problem, self.t, &self.x, &mut self.stage, &mut self.statistics).is_err() {
            return false;
        }
        self.stage.iter_mut().zip(&self.slopes[F::LAST]).for_each(|(y, k)| *y -= k);
        self.h_used * norm(&self.stage, &self.weights) <= SAME_END
    }

    fn evaluate_first_slope(&mut self, problem: &mut dyn OdeProblem) -> Result<(), StepError> {
        evaluate(problem, self.t, &self.x, &mut self.slopes[0], &mut self.statistics)
            .map_err(|failure| failure.at(self.t, self.control.h))?;
        self.slope_is_current = true;
        Ok(())
    }

    fn evaluate_stage(&mut self, problem: &mut dyn OdeProblem, s: usize, h: f64, t_new: f64) -> Result<(), Failure> {
        let (known, rest) = self.slopes.split_at_mut(s);
        self.stage.copy_from_slice(&self.x);
        add_combination(&mut self.stage, h, F::ROWS[s], known);
        let time = if F::NODES[s] == 1.0 { t_new } else { self.t + F::NODES[s] * h };
        evaluate(problem, time, &self.stage, &mut rest[0], &mut self.statistics)
    }

    /// `error` holds the last stage but one and `stage` the last: both at the end of the step.
    fn watch_stiffness(&mut self, h: f64) {
        let mut distance = 0.0;
        let mut change = 0.0;
        let (last, before) = (&self.slopes[F::LAST], &self.slopes[F::LAST - 1]);
        for i in 0..self.stage.len() {
            let w = self.weights[i];
            let d = (self.stage[i] - self.error[i]) * w;
            distance += d * d;
            let slope = (last[i] - before[i]) * w;
            change += slope * slope;
        }
        let product = if distance > 0.0 { h * (change / distance).sqrt() } else { 0.0 };
        self.product = product;
        if product > STABILITY_LIMIT {
            self.stiffness += 1.0;
        } else if product > SUSPICION_LIMIT {
            self.stiffness += 0.25;
        } else {
            self.stiffness = (self.stiffness - 1.0).max(0.0);
        }
    }

    /// Error of the dense output in the middle of the attempted step: what its slope there lacks, times the step.
    fn dense_error(&mut self, problem: &mut dyn OdeProblem, h: f64) -> Result<f64, Failure> {
        /// Of the slope's error that gets into the solution, and what an error between steps may be in units of one of them.
        const SHARE: f64 = 0.1;
        let (mut middle, mut ahead, mut behind) = ([0.0; MAX_STAGES], [0.0; MAX_STAGES], [0.0; MAX_STAGES]);
        F::dense(0.5, &mut middle);
        F::dense(0.5 + 1e-4, &mut ahead);
        F::dense(0.5 - 1e-4, &mut behind);
        let point = &mut self.middle;
        point.copy_from_slice(&self.x);
        add_combination(point, h, &middle, &self.slopes);
        let outcome = evaluate(problem, self.t + 0.5 * h, point, &mut self.error, &mut self.statistics);
        let slope: [f64; MAX_STAGES] = std::array::from_fn(|s| (behind[s] - ahead[s]) / 2e-4);
        add_combination(&mut self.error, 1.0, &slope, &self.slopes);
        outcome?;
        Ok(SHARE * h * norm(&self.error, &self.weights))
    }

    /// The stages that only dense output needs. They lie inside the step, where all others could be evaluated; if one
    /// cannot, the step is tried again shorter.
    fn complete(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<(), Failure> {
        if F::ROWS.len() == F::LAST + 1 {
            return Ok(());
        }
        self.error.copy_from_slice(&self.stage);
        for s in F::LAST + 1..F::ROWS.len() {
            self.evaluate_stage(problem, s, h, t_new)?;
        }
        self.stage.copy_from_slice(&self.error);
        Ok(())
    }
}

impl<F: Formula> OneStep for RungeKutta<F> {
    fn time(&self) -> f64 {
        self.t
    }

    fn attempt(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<f64, Failure> {
        for s in 1..=F::LAST {
            self.evaluate_stage(problem, s, h, t_new)?;
            if s + 1 == F::LAST {
                self.error.copy_from_slice(&self.stage);
            }
        }
        set_weights_of_both(&self.options, &self.x, &self.stage, &mut self.weights);
        tighten(&mut self.weights, F::strictness(self.options.relative_tolerance));
        self.watch_stiffness(h);
        let error = F::error(&self.slopes, h, &self.weights, &mut self.error);
        if error > 1.0 {
            return Ok(error);
        }
        self.complete(problem, h, t_new)?;
        // Next to the limit of stability the dense output is much worse than the solution at the end.
        if self.product < DENSE_LIMIT { Ok(error) } else { Ok(error.max(self.dense_error(problem, h)?)) }
    }

    fn accept(&mut self, h: f64, t_new: f64, error: f64) {
        self.t_old = self.t;
        self.t = t_new;
        self.h_used = h;
        std::mem::swap(&mut self.x_old, &mut self.x);
        self.x.copy_from_slice(&self.stage);
        self.slope_is_current = false;
        self.stiff_steps += u64::from(self.is_stiff());
        self.control.accepted(h, error, 1.0..1.0);
    }

    fn control(&mut self) -> (&mut StepControl, &mut Statistics) {
        (&mut self.control, &mut self.statistics)
    }

    fn max_step(&self) -> f64 {
        self.options.max_step
    }

    fn worst_component(&self) -> usize {
        worst_component(&self.error, &self.weights)
    }
}

/// What the automatic choice asks of an explicit method.
pub trait Explicit: Integrator {
    /// True when the recent steps were limited by stability: an implicit method would take longer ones.
    fn is_stiff(&self) -> bool;

    /// The step the controller would take next.
    fn next_step(&self) -> f64;
}

dyn_clone::clone_trait_object!(Explicit);

impl<F: Formula> Explicit for RungeKutta<F> {
    fn is_stiff(&self) -> bool {
        self.stiffness >= 15.0
    }

    fn next_step(&self) -> f64 {
        self.control.h
    }
}

impl<F: Formula> DenseOutput for RungeKutta<F> {
    fn time(&self) -> f64 {
        self.resume.time().unwrap_or(self.t)
    }

    fn interpolate(&self, t: f64, out: &mut [f64]) {
        if t >= self.t || self.h_used == 0.0 {
            out.copy_from_slice(&self.x);
            return;
        }
        let mut weights = [0.0; MAX_STAGES];
        F::dense((t - self.t_old) / self.h_used, &mut weights);
        out.copy_from_slice(&self.x_old);
        add_combination(out, self.h_used, &weights, &self.slopes);
    }

    fn interpolate_some(&self, t: f64, components: &[usize], out: &mut [f64]) {
        let is_end = t >= self.t || self.h_used == 0.0;
        let mut weights = [0.0; MAX_STAGES];
        if !is_end {
            F::dense((t - self.t_old) / self.h_used, &mut weights);
        }
        for (out, &i) in out.iter_mut().zip(components) {
            *out = if is_end { self.x[i] } else { self.x_old[i] + self.h_used * combined(&weights, &self.slopes, i) };
        }
    }

    fn degree(&self) -> usize {
        F::DENSE_DEGREE
    }
}

impl<F: Formula> Integrator for RungeKutta<F> {
    fn start(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h0: Option<f64>) -> Result<(), StepError> {
        self.t = t;
        self.t_old = t;
        self.h_used = 0.0;
        self.resume.clear();
        self.x.copy_from_slice(x);
        self.x_old.copy_from_slice(x);
        self.control.start(t);
        self.stiffness = 0.0;
        self.evaluate_first_slope(problem)?;
        self.control.h = match h0 {
            Some(h) if h > 0.0 => h,
            _ => {
                set_weights(&self.options, &self.x, &mut self.weights);
                let (first, second) = self.slopes.split_at_mut(1);
                initial_step(
                    problem,
                    t,
                    &self.x,
                    &first[0],
                    F::ORDER,
                    &self.weights,
                    &mut self.stage,
                    &mut second[0],
                    &mut self.statistics,
                )
            }
        };
        Ok(())
    }

    fn step(&mut self, problem: &mut dyn OdeProblem, t_limit: f64) -> Result<Step, StepError> {
        if let Some(t_old) = self.resume.take() {
            if self.t <= t_limit {
                return Ok(Step { t_old, t_new: self.t, at_limit: self.t == t_limit });
            }
            self.begin_again(problem, t_old, None, false)?;
        }
        if !self.slope_is_current {
            // The last stage of the previous step was evaluated at its end.
            if self.h_used != 0.0 {
                let (first, rest) = self.slopes.split_at_mut(1);
                first[0].copy_from_slice(&rest[F::LAST - 1]);
                self.slope_is_current = true;
            } else {
                self.evaluate_first_slope(problem)?;
            }
        }
        take_step(self, problem, t_limit)
    }

    fn restart(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Result<(), StepError> {
        let on_last_step = self.is_on_last_step(t, x);
        if on_last_step {
            let statistics = &mut self.statistics;
            evaluate(problem, t, x, &mut self.error, statistics).map_err(|failure| failure.at(t, 0.0))?;
            if self.step_remains_valid(problem, t) {
                self.resume.set(t, x);
                return Ok(());
            }
        }
        self.begin_again(problem, t, Some(x), on_last_step)
    }

    fn defect(&mut self, t: f64, slope: &[f64]) -> f64 {
        if self.h_used == 0.0 || t >= self.t {
            return 0.0;
        }
        self.stage.copy_from_slice(slope);
        self.subtract_dense_slope(t);
        slip(None, &mut self.stage, &self.weights, self.h_used, 0.0)
    }

    fn retake(&mut self, problem: &mut dyn OdeProblem, t: f64, h: f64) -> Result<(), StepError> {
        let mut x = std::mem::take(&mut self.stage);
        self.interpolate(t, &mut x);
        self.x.copy_from_slice(&x);
        self.stage = x;
        (self.t, self.t_old, self.h_used) = (t, t, 0.0);
        self.resume.clear();
        self.control.retake(h);
        self.evaluate_first_slope(problem)
    }

    fn set_absolute_tolerance(&mut self, component: usize, absolute: f64) {
        self.options.set_absolute(component, self.x.len(), absolute);
    }

    fn reset(&mut self, size: usize) {
        let statistics = self.statistics;
        *self = RungeKutta::new(size, self.options.clone());
        self.statistics = statistics;
    }

    fn state(&self) -> &[f64] {
        if self.resume.time().is_some() { self.resume.state() } else { &self.x }
    }

    fn stiff_steps(&self) -> u64 {
        self.stiff_steps
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn name(&self) -> &'static str {
        F::NAME
    }
}
