//! Backward differentiation for implicit systems `F(t, x, x') = 0` of index one, with a sparse iteration matrix
//! `∂F/∂x + c ∂F/∂x'`.
//!
//! The method of DASSL (Petzold 1982; Brenan, Campbell and Petzold 1996) on the same history and control as
//! [`crate::bdf`], for models whose algebraic unknowns are better given to the integrator than solved inside every
//! evaluation. The caller provides consistent initial values; they are needed again after every event.

use crate::error::{EvalError, Singular, StepError};
use crate::finite_differences::FiniteDifferences;
use crate::linear::LinearSolver;
use crate::multistep::{History, MAX_ORDER};
use crate::ode::{DenseOutput, Options, Statistics, Step};
use crate::order_control::OrderControl;
use crate::sparse::Pattern;
use crate::weights::{
    Failure, all_finite, norm, set_weights, smallest_step, step_in_time, step_towards, tighten, worst_component,
};

/// An implicit system of differential and algebraic equations, as many as unknowns.
pub trait DaeProblem {
    /// How many unknowns there are.
    fn size(&self) -> usize;

    /// What the equations leave over at a point.
    fn residual(&mut self, t: f64, x: &[f64], dx: &[f64], r: &mut [f64]) -> Result<(), EvalError>;

    /// Where ∂F/∂x or ∂F/∂x' can be non-zero; `None` stands for everywhere.
    fn jacobian_pattern(&self) -> Option<&Pattern> {
        None
    }

    /// Writes `∂F/∂x + c ∂F/∂x'` in the order of the pattern, or by full columns. `Ok(false)` asks for finite
    /// differences.
    fn jacobian(&mut self, _t: f64, _x: &[f64], _dx: &[f64], _c: f64, _values: &mut [f64]) -> Result<bool, EvalError> {
        Ok(false)
    }

    /// All unknowns and their slopes for given values of the first of them, the states. Slopes of algebraic unknowns may be
    /// zero.
    fn consistent(&mut self, _t: f64, _states: &[f64], _x: &mut [f64], _dx: &mut [f64]) -> Result<(), EvalError> {
        Err(EvalError::fatal(0))
    }

    /// `write` knows good values of all unknowns for the next evaluation outside of the integrator.
    fn guess(&mut self, _write: &mut dyn FnMut(&mut [f64])) {}

    /// Whether the derivative of this unknown occurs. Unknowns without it are left out of the error test: their
    /// errors follow from those of the others.
    fn is_differential(&self, _component: usize) -> bool {
        true
    }
}

const MAX_ITERATIONS: usize = 4;
const ITERATION_TOLERANCE: f64 = 0.1;
const COEFFICIENT_DRIFT: f64 = 0.25;
/// Steps after which the iteration matrix is renewed in any case.
const MATRIX_AGE: u64 = 50;

/// Backward differentiation of implicit systems.
#[derive(Clone)]
pub struct DaeBdf {
    options: Options,
    t: f64,
    t_old: f64,
    history: History,
    control: OrderControl,
    matrix: Option<Matrix>,
    has_matrix: bool,
    coefficient: f64,
    rate: f64,
    steps_since_matrix: u64,
    matrix_is_current: bool,
    fresh_start: bool,
    /// Weights of the Newton iteration, and those of the error test, which are zero for algebraic unknowns.
    weights: Vec<f64>,
    test_weights: Vec<f64>,
    differential: Vec<bool>,
    /// Factor of the weights: one, or more where errors last.
    strictness: f64,
    /// Another one, that the run asks for.
    sharpness: f64,
    predicted: Vec<f64>,
    predicted_slope: Vec<f64>,
    correction: Vec<f64>,
    x: Vec<f64>,
    dx: Vec<f64>,
    delta: Vec<f64>,
    scratch: Vec<f64>,
    statistics: Statistics,
}

#[derive(Clone)]
struct Matrix {
    pattern: Option<Pattern>,
    values: Vec<f64>,
    solver: LinearSolver,
    differences: Option<FiniteDifferences>,
    sizes: Vec<f64>,
    dx: Vec<f64>,
}

impl Matrix {
    fn new(problem: &dyn DaeProblem) -> Result<Self, Singular> {
        let size = problem.size();
        let pattern = problem.jacobian_pattern().cloned();
        Ok(Matrix {
            values: vec![0.0; pattern.as_ref().map_or(size * size, Pattern::entries)],
            solver: LinearSolver::new(size, pattern.as_ref())?,
            differences: None,
            sizes: vec![0.0; size],
            dx: vec![0.0; size],
            pattern,
        })
    }
}

impl DaeBdf {
    /// For so many unknowns.
    pub fn new(size: usize, options: Options) -> Self {
        let zeros = || vec![0.0; size];
        let max_order = options.max_order.clamp(1, MAX_ORDER);
        DaeBdf {
            options,
            t: 0.0,
            t_old: 0.0,
            history: History::new(size),
            control: OrderControl::new(max_order),
            matrix: None,
            has_matrix: false,
            coefficient: 0.0,
            rate: 1.0,
            steps_since_matrix: 0,
            matrix_is_current: false,
            fresh_start: true,
            weights: zeros(),
            test_weights: zeros(),
            differential: vec![true; size],
            strictness: 1.0,
            sharpness: 1.0,
            predicted: zeros(),
            predicted_slope: zeros(),
            correction: zeros(),
            x: zeros(),
            dx: zeros(),
            delta: zeros(),
            scratch: Vec::with_capacity(size * (MAX_ORDER + 1)),
            statistics: Statistics::default(),
        }
    }

    /// Begins at consistent values: `F(t, x, dx) = 0`. Slopes of algebraic unknowns may be zero.
    pub fn start(
        &mut self,
        problem: &mut dyn DaeProblem,
        t: f64,
        x: &[f64],
        dx: &[f64],
        h0: Option<f64>,
    ) -> Result<(), StepError> {
        self.matrix = None;
        self.has_matrix = false;
        for (i, differential) in self.differential.iter_mut().enumerate() {
            *differential = problem.is_differential(i);
        }
        self.begin(t, x, dx, h0);
        Ok(())
    }

    fn begin(&mut self, t: f64, x: &[f64], dx: &[f64], h0: Option<f64>) {
        self.t = t;
        self.t_old = t;
        self.x.copy_from_slice(x);
        self.dx.copy_from_slice(dx);
        self.set_weights(x);
        let slope = norm(&self.dx, &self.weights);
        // Half the tolerance in the first step, as in DASSL; the control lets it grow quickly.
        let h = h0.filter(|h| *h > 0.0).unwrap_or(if slope > 0.0 { 0.5 / slope } else { 1e-3 });
        self.history.start(x, dx, h);
        self.control.start(h);
        self.fresh_start = true;
        self.rate = 1.0;
    }

    fn set_weights(&mut self, x: &[f64]) {
        set_weights(&self.options, x, &mut self.weights);
        tighten(&mut self.weights, self.strictness * self.sharpness);
        // The mean is that of the unknowns that are tested, however many others there are.
        let tested = self.differential.iter().filter(|differential| **differential).count().max(1);
        let share = (self.differential.len() as f64 / tested as f64).sqrt();
        for ((test, weight), differential) in self.test_weights.iter_mut().zip(&self.weights).zip(&self.differential) {
            *test = if *differential { share * *weight } else { 0.0 };
        }
    }

    /// Makes the errors of steps smaller by a factor from the next step on.
    pub fn set_strictness(&mut self, strictness: f64) {
        self.strictness = strictness;
    }

    /// See [`crate::Integrator::set_absolute_tolerance`].
    pub fn set_absolute_tolerance(&mut self, component: usize, absolute: f64) {
        self.options.set_absolute(component, self.x.len(), absolute);
    }

    /// Another such factor, until the next restart.
    pub fn sharpen(&mut self, factor: f64) {
        self.sharpness = factor;
    }

    /// Takes one accepted step, never past `t_limit`. A failed step leaves the state as it was before the call.
    pub fn step(&mut self, problem: &mut dyn DaeProblem, t_limit: f64) -> Result<Step, StepError> {
        self.x.copy_from_slice(self.history.value());
        let x = std::mem::take(&mut self.x);
        self.set_weights(&x);
        self.x = x;
        self.matrix_is_current = false;
        if self.fresh_start {
            self.control.h = self.control.h.min(1e-3 * (t_limit - self.t).max(0.0)).max(smallest_step(self.t) * 10.0);
        }
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
                Ok(true) => {
                    self.t_old = self.t;
                    self.t = t_new;
                    self.fresh_start = false;
                    self.steps_since_matrix += 1;
                    self.statistics.steps += 1;
                    return Ok(Step { t_old: self.t_old, t_new, at_limit: t_new == t_limit });
                }
                Ok(false) => {
                    self.statistics.rejected += 1;
                    last_failure = None;
                }
                Err(failure) if failure.recoverable() => {
                    self.statistics.failed += 1;
                    self.control.not_converged(h);
                    last_failure = Some(failure);
                }
                Err(failure) => return Err(failure.at(self.t, h)),
            }
        }
    }

    /// True when the step passed the error test and was taken.
    fn attempt(&mut self, problem: &mut dyn DaeProblem, h: f64, t_new: f64) -> Result<bool, Failure> {
        if self.fresh_start {
            self.history.rescale_start(h);
        }
        let c = self.history.prepare(h, self.control.order);
        self.history.predict(&mut self.predicted, &mut self.predicted_slope);
        self.correct(problem, t_new, h, c)?;
        let estimates = self.history.estimates(&self.correction, &self.test_weights);
        if estimates.test > 1.0 || estimates.test.is_nan() {
            self.control.rejected(h, &estimates);
            return Ok(false);
        }
        let (history, correction, weights) = (&self.history, &self.correction, &self.test_weights);
        self.control.accepted(h, &estimates, || history.higher_estimate(correction, weights));
        self.history.accept(&self.correction);
        Ok(true)
    }

    fn correct(&mut self, problem: &mut dyn DaeProblem, t: f64, h: f64, c: f64) -> Result<(), Failure> {
        let drift = (c / self.coefficient - 1.0).abs();
        let mut renew = !self.has_matrix || drift > COEFFICIENT_DRIFT || self.steps_since_matrix >= MATRIX_AGE;
        self.matrix_is_current = false;
        loop {
            self.correction.fill(0.0);
            self.apply_correction(c);
            self.residual(problem, t)?;
            if renew {
                self.set_up(problem, t, h, c)?;
            }
            match self.iterate(problem, t, c) {
                Err(failure) if failure.recoverable() && !self.matrix_is_current => renew = true,
                outcome => return outcome,
            }
        }
    }

    /// Sets the unknowns and their slopes to the prediction and what is to be added to it.
    fn apply_correction(&mut self, c: f64) {
        for i in 0..self.x.len() {
            self.x[i] = self.predicted[i] + self.correction[i];
            self.dx[i] = self.predicted_slope[i] + c * self.correction[i];
        }
    }

    /// The residual at `(t, x, dx)`, into `delta`.
    fn residual(&mut self, problem: &mut dyn DaeProblem, t: f64) -> Result<(), Failure> {
        self.statistics.rhs += 1;
        problem.residual(t, &self.x, &self.dx, &mut self.delta).map_err(Failure::Evaluation)?;
        if all_finite(&self.delta) {
            return Ok(());
        }
        Err(Failure::NotFinite { component: self.delta.iter().position(|r| !r.is_finite()).unwrap_or(0) })
    }

    fn set_up(&mut self, problem: &mut dyn DaeProblem, t: f64, h: f64, c: f64) -> Result<(), Failure> {
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => Matrix::new(problem).map_err(|s| Failure::Singular { column: s.column })?,
        };
        self.has_matrix = false;
        let outcome = self.evaluate_and_factor(&mut matrix, problem, t, h, c);
        self.matrix = Some(matrix);
        outcome
    }

    fn evaluate_and_factor(
        &mut self,
        matrix: &mut Matrix,
        problem: &mut dyn DaeProblem,
        t: f64,
        h: f64,
        c: f64,
    ) -> Result<(), Failure> {
        self.statistics.jacobians += 1;
        let analytic = matrix.differences.is_none()
            && problem.jacobian(t, &self.x, &self.dx, c, &mut matrix.values).map_err(Failure::Evaluation)?;
        if !analytic {
            let differences =
                matrix.differences.get_or_insert_with(|| FiniteDifferences::new(self.x.len(), matrix.pattern.as_ref()));
            for (i, (size, slope)) in matrix.sizes.iter_mut().zip(&self.dx).enumerate() {
                *size = (h * slope).abs().max(self.options.absolute(i) / self.options.relative_tolerance.max(1e-12));
            }
            let (x, dx, moved) = (&self.x, &self.dx, &mut matrix.dx);
            let evaluations = &mut self.statistics.rhs;
            differences
                .jacobian(matrix.pattern.as_ref(), x, &self.delta, &matrix.sizes, &mut matrix.values, |y, r| {
                    for (((m, d), y), x) in moved.iter_mut().zip(dx).zip(y).zip(x) {
                        *m = d + c * (y - x);
                    }
                    *evaluations += 1;
                    problem.residual(t, y, moved, r)
                })
                .map_err(Failure::Evaluation)?;
        }
        self.statistics.factorisations += 1;
        matrix.solver.factor(&matrix.values).map_err(|s| Failure::Singular { column: s.column })?;
        self.has_matrix = true;
        self.matrix_is_current = true;
        self.coefficient = c;
        self.rate = 1.0;
        self.steps_since_matrix = 0;
        Ok(())
    }

    /// Newton iteration from the unknowns at hand, where the residual is in `delta`.
    fn iterate(&mut self, problem: &mut dyn DaeProblem, t: f64, c: f64) -> Result<(), Failure> {
        let relaxation = 2.0 / (1.0 + c / self.coefficient);
        let factor = self.history.error_factor();
        let mut previous = 0.0;
        for iteration in 0..MAX_ITERATIONS {
            let Some(matrix) = &mut self.matrix else { return Err(Failure::Singular { column: 0 }) };
            matrix.solver.solve(&mut self.delta);
            self.statistics.newton_iterations += 1;
            for (e, d) in self.correction.iter_mut().zip(&mut self.delta) {
                *d *= relaxation;
                *e -= *d;
            }
            self.apply_correction(c);
            let size = norm(&self.delta, &self.weights).max(norm(&self.delta, &self.test_weights));
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
            self.residual(problem, t)?;
        }
        Err(Failure::NoConvergence { component: worst_component(&self.delta, &self.weights) })
    }

    /// Continues from consistent values after an event at a time of the last step. Without a jump the history is kept.
    pub fn restart(&mut self, t: f64, x: &[f64], dx: &[f64]) {
        self.statistics.restarts += 1;
        if !self.fresh_start && t > self.t_old && self.continues_smoothly(t, x, dx) {
            let order = self.history.order_used;
            self.history.truncate(t - self.t, &mut self.scratch);
            self.control.resume(order);
            self.t = t;
            return;
        }
        let h = self.control.h;
        self.sharpness = 1.0;
        // The matrix is one from before the event.
        self.has_matrix = false;
        self.begin(t, x, dx, None);
        self.control.h = self.control.h.min(h);
        self.history.rescale_start(self.control.h);
    }

    /// Replaces the values at the end of the last step by consistent ones that differ from them by drift only.
    pub fn move_to(&mut self, x: &[f64]) {
        self.history.move_to(x);
    }

    /// Begins again at consistent values of a time of the last step, with a shorter one.
    pub fn retake(&mut self, t: f64, x: &[f64], dx: &[f64], h: f64) {
        self.begin(t, x, dx, Some(h));
    }

    fn continues_smoothly(&mut self, t: f64, x: &[f64], dx: &[f64]) -> bool {
        let offset = t - self.t;
        self.history.interpolate(offset, &mut self.predicted);
        self.history.interpolate_slope(offset, &mut self.predicted_slope);
        for ((d, p), x) in self.delta.iter_mut().zip(&self.predicted).zip(x) {
            *d = p - x;
        }
        if norm(&self.delta, &self.weights) > 0.1 {
            return false;
        }
        for ((d, s), slope) in self.delta.iter_mut().zip(&self.predicted_slope).zip(dx) {
            *d = (s - slope) * self.control.h;
        }
        // Slopes of algebraic unknowns are not required to be known.
        norm(&self.delta, &self.test_weights) <= 0.5
    }

    /// The unknowns at the end of the last step.
    pub fn state(&self) -> &[f64] {
        self.history.value()
    }

    /// Length of the next step.
    pub fn next_step(&self) -> f64 {
        self.control.h
    }

    /// Slopes of the interpolating polynomial at a time of the last accepted step.
    pub fn interpolate_slope(&self, t: f64, out: &mut [f64]) {
        self.history.interpolate_slope(t - self.t, out);
    }

    /// See [`crate::Integrator::defect`]; `slope` is that of the first unknowns, the states. The algebraic unknowns are
    /// where the slope was found, so that only the equations of the states are violated.
    pub fn defect(&mut self, t: f64, slope: &[f64]) -> f64 {
        if self.fresh_start || t >= self.t {
            return 0.0;
        }
        let h = self.history.last_step();
        self.history.interpolate_slope(t - self.t, &mut self.delta);
        let (states, algebraic) = self.delta.split_at_mut(slope.len());
        states.iter_mut().zip(slope).for_each(|(d, f)| *d = f - *d);
        algebraic.fill(0.0);
        let plain = h * norm(&self.delta, &self.test_weights);
        match &mut self.matrix {
            Some(matrix) if self.has_matrix && plain > 1.0 => {
                matrix.solver.solve(&mut self.delta);
                h * self.coefficient * norm(&self.delta, &self.test_weights)
            }
            _ => plain,
        }
    }

    /// The effort so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }
}

impl DenseOutput for DaeBdf {
    fn time(&self) -> f64 {
        self.t
    }

    fn interpolate(&self, t: f64, out: &mut [f64]) {
        if self.fresh_start {
            out.copy_from_slice(&self.history.value()[..out.len()]);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn run(dae: &mut DaeBdf, problem: &mut dyn DaeProblem, end: f64) {
        while dae.time() < end {
            dae.step(problem, end).unwrap();
        }
    }

    /// Robertson's kinetics with the conservation of mass as third equation.
    struct Robertson;

    impl DaeProblem for Robertson {
        fn size(&self) -> usize {
            3
        }
        fn residual(&mut self, _: f64, x: &[f64], dx: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            r[0] = -0.04 * x[0] + 1e4 * x[1] * x[2] - dx[0];
            r[1] = 0.04 * x[0] - 1e4 * x[1] * x[2] - 3e7 * x[1] * x[1] - dx[1];
            r[2] = x[0] + x[1] + x[2] - 1.0;
            Ok(())
        }
        fn is_differential(&self, component: usize) -> bool {
            component < 2
        }
    }

    #[test]
    fn robertson() {
        // IDA's own example needs 362 steps and 537 residuals (without those of the Jacobian) at this tolerance.
        let options =
            Options { relative_tolerance: 1e-4, absolute_tolerance: vec![1e-8, 1e-12, 1e-6], ..Options::default() };
        let mut dae = DaeBdf::new(3, options);
        dae.start(&mut Robertson, 0.0, &[1.0, 0.0, 0.0], &[-0.04, 0.04, 0.0], None).unwrap();
        run(&mut dae, &mut Robertson, 40.0);
        let reference = [0.7158270687193941, 0.9185534764557338e-5, 0.2841637457458413];
        for (x, exact) in dae.state().iter().zip(reference) {
            assert!((x / exact - 1.0).abs() < 2e-3, "{x} {exact}");
        }
        run(&mut dae, &mut Robertson, 4e10);
        let effort = dae.statistics();
        assert!(effort.newton_iterations < 800 && effort.steps < 560, "{effort:?}");
        assert!(dae.state()[0] > 4e-8 && dae.state()[0] < 6e-8, "{:?}", dae.state());
    }

    /// x' = y, 0 = y + x − sin t … a pair with closed form: x = (sin t − cos t + exp(−t))/2.
    struct Linear;

    impl DaeProblem for Linear {
        fn size(&self) -> usize {
            2
        }
        fn residual(&mut self, t: f64, x: &[f64], dx: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            r[0] = dx[0] - x[1];
            r[1] = x[1] + x[0] - t.sin();
            Ok(())
        }
        fn jacobian(&mut self, _: f64, _: &[f64], _: &[f64], c: f64, v: &mut [f64]) -> Result<bool, EvalError> {
            v.copy_from_slice(&[c, 1.0, -1.0, 1.0]);
            Ok(true)
        }
        fn is_differential(&self, component: usize) -> bool {
            component == 0
        }
    }

    #[test]
    fn linear_with_closed_form_and_events_without_jump() {
        let exact = |t: f64| 0.5 * (t.sin() - t.cos() + (-t).exp());
        for events in [false, true] {
            let mut dae = DaeBdf::new(2, Options::with_tolerances(1e-8, 1e-8));
            dae.start(&mut Linear, 0.0, &[0.0, 0.0], &[0.0, 0.0], None).unwrap();
            let (mut x, mut dx) = ([0.0; 2], [0.0; 2]);
            while dae.time() < 10.0 {
                let step = dae.step(&mut Linear, 10.0).unwrap();
                let t = 0.5 * (step.t_old + step.t_new);
                dae.interpolate(t, &mut x);
                assert!((x[0] - exact(t)).abs() < 1e-6, "{t}");
                assert!((x[1] - (t.sin() - exact(t))).abs() < 1e-6, "{t}");
                if events && dae.statistics().steps.is_multiple_of(20) {
                    dae.interpolate_slope(t, &mut dx);
                    dae.restart(t, &x, &dx);
                }
            }
            assert!((dae.state()[0] - exact(10.0)).abs() < 1e-6);
            assert!(dae.statistics().rhs < 700, "{:?}", dae.statistics());
        }
    }

    #[test]
    fn singular_systems_name_the_unknown() {
        struct Undetermined;
        impl DaeProblem for Undetermined {
            fn size(&self) -> usize {
                2
            }
            fn residual(&mut self, _: f64, x: &[f64], dx: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
                r[0] = dx[0] + x[0];
                r[1] = dx[0] + x[0];
                Ok(())
            }
        }
        let mut dae = DaeBdf::new(2, Options::default());
        dae.start(&mut Undetermined, 0.0, &[1.0, 0.0], &[-1.0, 0.0], None).unwrap();
        let error = dae.step(&mut Undetermined, 1.0).unwrap_err();
        assert!(matches!(error, StepError::Singular { column: 1, .. }), "{error:?}");
    }
}
