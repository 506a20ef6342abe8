//! Backward differentiation formulas of variable order (1 to 5) and variable step: the method for stiff problems that
//! are smooth for long.
//!
//! Fixed leading coefficient on modified divided differences (see `multistep`), order and step by
//! `order_control`. The corrector is a simplified Newton iteration. As in CVODE (Cohen and Hindmarsh 1996) the
//! Jacobian is kept until convergence suffers, the factorisation until the leading coefficient has drifted by 20 %, and
//! the convergence rate is carried from step to step so that one iteration can suffice. A restart at which neither
//! state nor slope jumped keeps the whole history.

use crate::error::StepError;
use crate::iteration_matrix::IterationMatrix;
use crate::multistep::{History, MAX_ORDER};
use crate::ode::{DenseOutput, Integrator, OdeProblem, Options, Statistics, Step};
use crate::order_control::OrderControl;
use crate::resume::{Point, Resume, SAME_END, SAME_SLOPE, is_outdated, is_same_state, slip};
use crate::weights::{
    Failure, evaluate, initial_step, norm, set_weights, smallest_step, step_in_time, step_towards, tighten,
    worst_component,
};

const MAX_ITERATIONS: usize = 4;
/// Fraction of the error tolerance that the iteration error may take.
const ITERATION_TOLERANCE: f64 = 0.1;
const COEFFICIENT_DRIFT: f64 = 0.2;
/// How much smaller the errors of steps must be where nothing damps them: over a hundred oscillations they add up.
const STRICTNESS: f64 = 200.0;
/// Steps after which the factorisation and the Jacobian are renewed in any case.
const FACTORISATION_AGE: u64 = 20;
const JACOBIAN_AGE: u64 = 50;

/// Backward differentiation of variable order.
#[derive(Clone)]
pub struct Bdf {
    options: Options,
    t: f64,
    t_old: f64,
    history: History,
    control: OrderControl,
    matrix: Option<IterationMatrix>,
    coefficient: f64,
    rate: f64,
    steps_since_factorisation: u64,
    steps_since_jacobian: u64,
    jacobian_is_current: bool,
    has_factorisation: bool,
    fresh_start: bool,
    weights: Vec<f64>,
    predicted: Vec<f64>,
    predicted_slope: Vec<f64>,
    correction: Vec<f64>,
    x: Vec<f64>,
    f: Vec<f64>,
    delta: Vec<f64>,
    scratch: Vec<f64>,
    jacobian_norm: f64,
    /// Factor of the weights: one, or more where errors last.
    strictness: f64,
    /// Another one, that the run asks for.
    sharpness: f64,
    statistics: Statistics,
    resume: Resume,
    /// Slopes at the end of the last step.
    slope: Vec<f64>,
}

enum Attempt {
    Accepted,
    Rejected,
}

impl Bdf {
    /// For so many states.
    pub fn new(size: usize, options: Options) -> Self {
        let zeros = || vec![0.0; size];
        let max_order = options.max_order.clamp(1, MAX_ORDER);
        Bdf {
            options,
            t: 0.0,
            t_old: 0.0,
            history: History::new(size),
            control: OrderControl::new(max_order),
            matrix: None,
            coefficient: 0.0,
            rate: 1.0,
            steps_since_factorisation: 0,
            steps_since_jacobian: 0,
            jacobian_is_current: false,
            has_factorisation: false,
            fresh_start: true,
            weights: zeros(),
            predicted: zeros(),
            predicted_slope: zeros(),
            correction: zeros(),
            x: zeros(),
            f: zeros(),
            delta: zeros(),
            scratch: Vec::with_capacity(size * (MAX_ORDER + 1)),
            jacobian_norm: f64::INFINITY,
            strictness: 1.0,
            sharpness: 1.0,
            statistics: Statistics::default(),
            resume: Resume::new(size),
            slope: zeros(),
        }
    }

    /// Order of the next step.
    pub fn order(&self) -> usize {
        self.control.order
    }

    /// Length of the next step.
    pub fn next_step(&self) -> f64 {
        self.control.h
    }

    /// A bound for the eigenvalues of the Jacobian evaluated last.
    pub fn jacobian_norm(&self) -> f64 {
        self.jacobian_norm
    }

    fn begin(&mut self, problem: &mut dyn OdeProblem, x: &[f64], h0: Option<f64>) -> Result<(), StepError> {
        self.x.copy_from_slice(x);
        evaluate(problem, self.t, &self.x, &mut self.f, &mut self.statistics)
            .map_err(|failure| failure.at(self.t, 0.0))?;
        set_weights(&self.options, &self.x, &mut self.weights);
        tighten(&mut self.weights, self.strictness * self.sharpness);
        let h = match h0 {
            Some(h) if h > 0.0 => h,
            _ => initial_step(
                problem,
                self.t,
                &self.x,
                &self.f,
                1,
                &self.weights,
                &mut self.predicted,
                &mut self.delta,
                &mut self.statistics,
            ),
        };
        self.history.start(&self.x, &self.f, h);
        self.control.start(h);
        self.fresh_start = true;
        self.rate = 1.0;
        Ok(())
    }

    fn attempt(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<Attempt, Failure> {
        if self.fresh_start {
            self.history.rescale_start(h);
        }
        let c = self.history.prepare(h, self.control.order);
        self.history.predict(&mut self.predicted, &mut self.predicted_slope);
        self.correct(problem, t_new, h, c)?;
        self.hold_still(problem, t_new);
        let estimates = self.history.estimates(&self.correction, &self.weights);
        if estimates.test > 1.0 || estimates.test.is_nan() {
            self.control.rejected(h, &estimates);
            return Ok(Attempt::Rejected);
        }
        let (history, correction, weights) = (&self.history, &self.correction, &self.weights);
        self.control.accepted(h, &estimates, || history.higher_estimate(correction, weights));
        for ((s, p), e) in self.slope.iter_mut().zip(&self.predicted_slope).zip(&self.correction) {
            *s = p + c * e;
        }
        self.history.accept(&self.correction);
        Ok(Attempt::Accepted)
    }

    /// Solves for the correction, renewing factorisation and Jacobian as needed.
    fn correct(&mut self, problem: &mut dyn OdeProblem, t: f64, h: f64, c: f64) -> Result<(), Failure> {
        let drift = (c / self.coefficient - 1.0).abs();
        let mut setup =
            !self.has_factorisation || drift > COEFFICIENT_DRIFT || self.steps_since_factorisation >= FACTORISATION_AGE;
        let mut renew_jacobian = self.matrix.is_none() || self.steps_since_jacobian >= JACOBIAN_AGE;
        loop {
            self.x.copy_from_slice(&self.predicted);
            evaluate(problem, t, &self.x, &mut self.f, &mut self.statistics)?;
            if setup || renew_jacobian {
                self.set_up(problem, t, h, c, renew_jacobian)?;
            }
            match self.iterate(problem, t, c) {
                Ok(()) => return Ok(()),
                Err(failure) => {
                    if !failure.recoverable() || self.jacobian_is_current {
                        return Err(failure);
                    }
                    // The step deserves a second try with a Jacobian of its own.
                    setup = true;
                    renew_jacobian = true;
                }
            }
        }
    }

    fn set_up(&mut self, problem: &mut dyn OdeProblem, t: f64, h: f64, c: f64, renew: bool) -> Result<(), Failure> {
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => IterationMatrix::new(problem).map_err(|s| Failure::Singular { column: s.column })?,
        };
        let outcome = self.set_up_matrix(&mut matrix, problem, t, h, c, renew);
        self.matrix = Some(matrix);
        outcome
    }

    fn set_up_matrix(
        &mut self,
        matrix: &mut IterationMatrix,
        problem: &mut dyn OdeProblem,
        t: f64,
        h: f64,
        c: f64,
        renew: bool,
    ) -> Result<(), Failure> {
        self.has_factorisation = false;
        if renew {
            matrix.evaluate(problem, t, &self.x, &self.f, h, &self.options, &mut self.statistics)?;
            self.jacobian_is_current = true;
            self.steps_since_jacobian = 0;
            self.jacobian_norm = matrix.norm(&self.weights);
        }
        self.set_strictness(if matrix.errors_last(h) { STRICTNESS } else { 1.0 });
        matrix.factor(c, &mut self.statistics).map_err(|s| Failure::Singular { column: s.column })?;
        self.has_factorisation = true;
        self.coefficient = c;
        self.rate = 1.0;
        self.steps_since_factorisation = 0;
        Ok(())
    }

    fn set_strictness(&mut self, strictness: f64) {
        tighten(&mut self.weights, strictness / self.strictness);
        self.strictness = strictness;
    }

    fn iterate(&mut self, problem: &mut dyn OdeProblem, t: f64, c: f64) -> Result<(), Failure> {
        self.correction.fill(0.0);
        // A coefficient that differs from the factorised one is compensated to first order.
        let relaxation = 2.0 / (1.0 + c / self.coefficient);
        let factor = self.history.error_factor();
        let mut previous = 0.0;
        for iteration in 0..MAX_ITERATIONS {
            for (((d, f), s), e) in self.delta.iter_mut().zip(&self.f).zip(&self.predicted_slope).zip(&self.correction)
            {
                *d = f - s - c * e;
            }
            let Some(matrix) = &mut self.matrix else { return Err(Failure::Singular { column: 0 }) };
            matrix.solve(&mut self.delta);
            self.statistics.newton_iterations += 1;
            for ((e, d), (x, p)) in
                self.correction.iter_mut().zip(&mut self.delta).zip(self.x.iter_mut().zip(&self.predicted))
            {
                *d *= relaxation;
                *e += *d;
                *x = p + *e;
            }
            let size = norm(&self.delta, &self.weights);
            if iteration > 0 {
                self.rate = (0.3 * self.rate).max(size / previous);
            }
            if size * self.rate.min(1.0) * factor <= ITERATION_TOLERANCE {
                return Ok(());
            }
            if !size.is_finite() || iteration + 1 == MAX_ITERATIONS || iteration > 0 && size > 2.0 * previous {
                break;
            }
            previous = size;
            evaluate(problem, t, &self.x, &mut self.f, &mut self.statistics)?;
        }
        Err(Failure::NoConvergence { component: worst_component(&self.delta, &self.weights) })
    }

    /// What has no slope, predicted or found, does not move. An iteration with a Jacobian from before an event, when it did
    /// move, may shift it by a fraction of the tolerance: a mass that is stuck would creep, and leave a stop.
    fn hold_still(&mut self, problem: &mut dyn OdeProblem, t: f64) {
        /// A position follows its velocity.
        const ROUNDS: u32 = 3;
        for round in 0..ROUNDS {
            let (slope, f) = (&self.predicted_slope, &self.f);
            let rests = |i: usize| f[i] == 0.0 && slope[i] == 0.0;
            if !(0..f.len()).any(|i| self.correction[i] != 0.0 && rests(i)) {
                return;
            }
            if round == 0 {
                self.delta.copy_from_slice(&self.correction);
            }
            (0..f.len()).filter(|&i| rests(i)).for_each(|i| self.correction[i] = 0.0);
            self.x.iter_mut().zip(&self.predicted).zip(&self.correction).for_each(|((x, p), e)| *x = p + e);
            // The slopes at hand were those before the last correction.
            let found = evaluate(problem, t, &self.x, &mut self.f, &mut self.statistics);
            for i in 0..self.f.len() {
                if found.is_err() || self.f[i] != 0.0 {
                    self.correction[i] = self.delta[i];
                    self.x[i] = self.predicted[i] + self.delta[i];
                }
            }
            if found.is_err() {
                return;
            }
        }
    }

    /// Whether the state and slope after an event, which are in `x` and `f`, continue the solution so far.
    fn continues_smoothly(&mut self, problem: &mut dyn OdeProblem, t: f64) -> bool {
        let offset = t - self.t;
        self.history.interpolate(offset, &mut self.predicted);
        self.delta.copy_from_slice(&self.predicted);
        if !is_same_state(&mut self.delta, &self.x, &self.weights) {
            return false;
        }
        self.history.interpolate_slope(offset, &mut self.predicted_slope);
        for ((d, s), f) in self.delta.iter_mut().zip(&self.predicted_slope).zip(&self.f) {
            *d = f - s;
        }
        self.displacement(problem, t) <= SAME_SLOPE
    }

    /// Whether the right-hand side at the end of the last step is still the one it was made with.
    fn end_remains_valid(&mut self, problem: &mut dyn OdeProblem) -> bool {
        self.x.copy_from_slice(self.history.value());
        if evaluate(problem, self.t, &self.x, &mut self.f, &mut self.statistics).is_err() {
            return false;
        }
        for ((d, f), s) in self.delta.iter_mut().zip(&self.f).zip(&self.slope) {
            *d = f - s;
        }
        self.displacement(problem, self.t) <= SAME_END
    }

    /// Norm of the change of state that the difference of slopes in `delta` causes within a step.
    fn displacement(&mut self, problem: &mut dyn OdeProblem, t: f64) -> f64 {
        match &mut self.matrix {
            Some(matrix) if self.has_factorisation => {
                let at = Point { t, x: &self.x, f: &self.f };
                self.resume.displacement(problem, matrix, &at, &mut self.delta, &self.weights, &mut self.statistics)
            }
            _ => f64::INFINITY,
        }
    }

    /// Makes the next step begin with a new Jacobian if the event was found to have changed it.
    fn renew_outdated(&mut self) {
        if self.resume.take_outdated() {
            self.steps_since_jacobian = JACOBIAN_AGE;
        }
    }

    /// Forgets the part of the last step behind `t`.
    fn cut_history(&mut self, t: f64) {
        let order = self.history.order_used;
        self.history.truncate(t - self.t, &mut self.scratch);
        self.control.resume(order);
        self.t = t;
    }
}

impl DenseOutput for Bdf {
    fn time(&self) -> f64 {
        self.resume.time().unwrap_or(self.t)
    }

    fn interpolate(&self, t: f64, out: &mut [f64]) {
        if self.fresh_start {
            out.copy_from_slice(self.history.value());
        } else {
            self.history.interpolate(t - self.t, out);
        }
    }

    fn interpolate_some(&self, t: f64, components: &[usize], out: &mut [f64]) {
        let offset = if self.fresh_start { 0.0 } else { t - self.t };
        self.history.interpolate_some(offset, components, out);
    }

    fn degree(&self) -> usize {
        self.history.degree()
    }
}

impl Integrator for Bdf {
    fn start(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h0: Option<f64>) -> Result<(), StepError> {
        self.t = t;
        self.t_old = t;
        self.sharpness = 1.0;
        self.resume.clear();
        self.has_factorisation = false;
        self.matrix = None;
        self.begin(problem, x, h0)
    }

    fn step(&mut self, problem: &mut dyn OdeProblem, t_limit: f64) -> Result<Step, StepError> {
        if let Some(t_old) = self.resume.take() {
            if self.t <= t_limit {
                return Ok(Step { t_old, t_new: self.t, at_limit: self.t == t_limit });
            }
            self.cut_history(t_old);
        }
        set_weights(&self.options, self.history.value(), &mut self.weights);
        tighten(&mut self.weights, self.strictness * self.sharpness);
        self.jacobian_is_current = false;
        let mut last_failure = None;
        loop {
            self.control.h = step_in_time(self.t, self.control.h.min(self.options.max_step));
            let (h, t_new) = step_towards(self.t, self.control.h, t_limit);
            if !(h > smallest_step(self.t)) && t_new < t_limit || h <= 0.0 {
                let component = worst_component(&self.correction, &self.weights);
                return Err(match last_failure {
                    Some(failure) => Failure::at(failure, self.t, h),
                    None => StepError::StepTooSmall { t: self.t, h, component },
                });
            }
            match self.attempt(problem, h, t_new) {
                Ok(Attempt::Accepted) => {
                    self.t_old = self.t;
                    self.t = t_new;
                    self.fresh_start = false;
                    self.steps_since_factorisation += 1;
                    self.steps_since_jacobian += 1;
                    self.statistics.steps += 1;
                    return Ok(Step { t_old: self.t_old, t_new, at_limit: t_new == t_limit });
                }
                Ok(Attempt::Rejected) => {
                    self.statistics.rejected += 1;
                    last_failure = None;
                }
                Err(failure) if failure.recoverable() => {
                    self.statistics.failed += 1;
                    self.control.not_converged(h);
                    self.jacobian_is_current = false;
                    last_failure = Some(failure);
                }
                Err(failure) => return Err(failure.at(self.t, h)),
            }
        }
    }

    fn correct(&mut self, problem: &mut dyn OdeProblem, x: &[f64]) -> Result<(), StepError> {
        self.x.copy_from_slice(x);
        self.history.move_to(x);
        let t = self.t;
        evaluate(problem, t, &self.x, &mut self.f, &mut self.statistics).map_err(|failure| failure.at(t, 0.0))
    }

    fn restart(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Result<(), StepError> {
        self.resume.clear();
        self.x.copy_from_slice(x);
        evaluate(problem, t, &self.x, &mut self.f, &mut self.statistics).map_err(|failure| failure.at(t, 0.0))?;
        if !self.fresh_start && t > self.t_old && t <= self.t && self.continues_smoothly(problem, t) {
            if t < self.t && self.end_remains_valid(problem) {
                self.resume.set(t, x);
            } else {
                self.cut_history(t);
            }
            self.renew_outdated();
            return Ok(());
        }
        self.renew_outdated();
        if let Some(matrix) = self.matrix.as_mut().filter(|_| self.has_factorisation) {
            let at = Point { t, x, f: &self.f };
            let scratch = (&mut self.predicted[..], &mut self.delta[..]);
            if is_outdated(problem, matrix, &at, &self.weights, scratch, &mut self.statistics) {
                self.steps_since_jacobian = JACOBIAN_AGE;
            }
        }
        self.sharpness = 1.0;
        self.statistics.restarts += 1;
        self.t = t;
        self.t_old = t;
        let h = self.control.h;
        self.begin(problem, x, None)?;
        self.control.h = self.control.h.min(h);
        self.history.rescale_start(self.control.h);
        Ok(())
    }

    fn defect(&mut self, t: f64, slope: &[f64]) -> f64 {
        if self.fresh_start || t >= self.t {
            return 0.0;
        }
        self.history.interpolate_slope(t - self.t, &mut self.delta);
        self.delta.iter_mut().zip(slope).for_each(|(d, f)| *d = f - *d);
        let matrix = self.matrix.as_mut().filter(|_| self.has_factorisation);
        slip(matrix, &mut self.delta, &self.weights, self.history.last_step(), 1.0)
    }

    fn retake(&mut self, problem: &mut dyn OdeProblem, t: f64, h: f64) -> Result<(), StepError> {
        let mut x = std::mem::take(&mut self.predicted);
        DenseOutput::interpolate(self, t, &mut x);
        (self.t, self.t_old) = (t, t);
        self.resume.clear();
        let outcome = self.begin(problem, &x, Some(h));
        self.predicted = x;
        outcome
    }

    fn set_absolute_tolerance(&mut self, component: usize, absolute: f64) {
        self.options.set_absolute(component, self.x.len(), absolute);
    }

    fn reset(&mut self, size: usize) {
        let statistics = self.statistics;
        *self = Bdf::new(size, self.options.clone());
        self.statistics = statistics;
    }

    fn state(&self) -> &[f64] {
        if self.resume.time().is_some() { self.resume.state() } else { self.history.value() }
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn begins_straight(&self) -> bool {
        true
    }

    fn sharpen(&mut self, factor: f64) {
        self.sharpness = factor;
    }

    fn planned_step(&self) -> Option<f64> {
        Some(self.control.h)
    }

    fn begin_anew(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h: f64) -> Result<(), StepError> {
        (self.t, self.t_old) = (t, t);
        self.resume.clear();
        self.begin(problem, x, Some(h))
    }

    fn name(&self) -> &'static str {
        "bdf"
    }
}
