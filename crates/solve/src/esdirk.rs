//! Singly diagonally implicit Runge–Kutta method ESDIRK4(3) with explicit first stage: stiffly accurate, L-stable,
//! cheap to restart, for stiff problems with many events.
//!
//! Implicit part of `ARK4(3)6L[2]SA` of Kennedy and Carpenter, *Additive Runge–Kutta schemes for
//! convection-diffusion-reaction equations*, Appl. Numer. Math. 44 (2003); all nodes lie inside the step. The dense output
//! was derived for this crate: third order everywhere, nearly fourth, and bounded by one for infinitely stiff
//! components. Stages are predicted by extrapolating the slopes nearest to them, those of the last step included.

use crate::error::StepError;
use crate::iteration_matrix::IterationMatrix;
use crate::ode::{DenseOutput, Integrator, OdeProblem, Options, Statistics, Step};
use crate::resume::{Point, Resume, SAME_END, SAME_SLOPE, is_outdated, is_same_state, slip};
use crate::step_control::{OneStep, StepControl, take_step};
use crate::vector::{add_combination, combined};
use crate::weights::{Failure, evaluate, initial_step, norm, set_weights, tighten, worst_component};

const STAGES: usize = 6;
const GAMMA: f64 = 0.25;
const NODES: [f64; STAGES] = [0.0, 0.5, 83.0 / 250.0, 31.0 / 50.0, 17.0 / 20.0, 1.0];
const A: [[f64; STAGES - 1]; STAGES] = [
    [0.0; 5],
    [0.25, 0.0, 0.0, 0.0, 0.0],
    [8611.0 / 62500.0, -1743.0 / 31250.0, 0.0, 0.0, 0.0],
    [5012029.0 / 34652500.0, -654441.0 / 2922500.0, 174375.0 / 388108.0, 0.0, 0.0],
    [15267082809.0 / 155376265600.0, -71443401.0 / 120774400.0, 730878875.0 / 902184768.0, 2285395.0 / 8070912.0, 0.0],
    [82889.0 / 524892.0, 0.0, 15625.0 / 83664.0, 69875.0 / 102672.0, -2260.0 / 8211.0],
];
const EMBEDDED: [f64; STAGES] = [
    4586570599.0 / 29645900160.0,
    0.0,
    178811875.0 / 945068544.0,
    814220225.0 / 1159782912.0,
    -3700637.0 / 11593932.0,
    61727.0 / 225920.0,
];
/// Weights of the slopes for dense output: row p multiplies the power p + 1 of the fraction of the step.
const DENSE: [[f64; STAGES]; 4] = [
    [
        0.9500023318043139,
        0.9691827642333164,
        -0.016550371668141328,
        -1.3888116701190276,
        0.694735793323837,
        -0.20855884757429727,
    ],
    [
        -2.2679412640355774,
        -4.636241699998795,
        3.4988162884167,
        6.904095704198269,
        -5.831356894818167,
        2.332627866237564,
    ],
    [
        2.1654721072980414,
        5.053499719432569,
        -4.9848598258598935,
        -7.629282292761435,
        10.245277786062893,
        -4.850107494172169,
    ],
    [
        -0.6896168799051077,
        -1.3864407836670916,
        1.6893528496353367,
        2.7945635539915332,
        -5.383897215563572,
        2.976038475508901,
    ],
];
const MAX_ITERATIONS: usize = 6;
/// Fraction of the error tolerance that the iteration error of a stage may take.
const ITERATION_TOLERANCE: f64 = 0.03;
/// Relative changes of the step that ask for a new factorisation: of a dear one, and of one that costs about as much as the
/// iterations it saves.
const STEP_DRIFT: f64 = 0.2;
const STEP_DRIFT_CHEAP: f64 = 0.01;
const CHEAP_FACTORISATION: f64 = 4.0;
/// Convergence is never trusted to be faster than this.
const SMALLEST_RATE: f64 = 1e-8;

/// How much smaller the errors of steps must be where nothing damps them: over a hundred oscillations they add up.
const STRICTNESS: f64 = 20.0;

/// A singly diagonally implicit Runge-Kutta method.
#[derive(Clone)]
pub struct Esdirk {
    options: Options,
    t: f64,
    t_old: f64,
    h_used: f64,
    x: Vec<f64>,
    x_old: Vec<f64>,
    slopes: [Vec<f64>; STAGES],
    /// Slopes and start of the step before, for predictions.
    base: Vec<f64>,
    stage: Vec<f64>,
    f: Vec<f64>,
    delta: Vec<f64>,
    error: Vec<f64>,
    weights: Vec<f64>,
    old_slopes: [Vec<f64>; STAGES],
    matrix: Option<IterationMatrix>,
    factored_step: f64,
    has_factorisation: bool,
    jacobian_is_current: bool,
    slow_convergence: bool,
    /// Convergence slower than this asks for a new Jacobian; less is asked where a Jacobian is dear.
    slow_rate: f64,
    drift_limit: f64,
    /// Rate of convergence, and the size of the first increment with which it was seen: it grows with the distance.
    rate: f64,
    rate_size: f64,
    jacobian_norm: f64,
    /// Factor of the weights: one, or more where errors last.
    strictness: f64,
    control: StepControl,
    statistics: Statistics,
    resume: Resume,
}

impl Esdirk {
    /// For so many states.
    pub fn new(size: usize, options: Options) -> Self {
        let zeros = || vec![0.0; size];
        Esdirk {
            options,
            t: 0.0,
            t_old: 0.0,
            h_used: 0.0,
            x: zeros(),
            x_old: zeros(),
            slopes: std::array::from_fn(|_| zeros()),
            base: zeros(),
            stage: zeros(),
            f: zeros(),
            delta: zeros(),
            error: zeros(),
            weights: zeros(),
            old_slopes: std::array::from_fn(|_| zeros()),
            matrix: None,
            factored_step: 0.0,
            has_factorisation: false,
            jacobian_is_current: false,
            slow_convergence: false,
            slow_rate: 0.05,
            drift_limit: STEP_DRIFT,
            rate: 0.5,
            rate_size: f64::INFINITY,
            jacobian_norm: f64::INFINITY,
            strictness: 1.0,
            control: StepControl::new(4),
            statistics: Statistics::default(),
            resume: Resume::new(size),
        }
    }

    /// The length of the next step.
    pub fn next_step(&self) -> f64 {
        self.control.h
    }

    /// A bound for the eigenvalues of the Jacobian evaluated last.
    pub fn jacobian_norm(&self) -> f64 {
        self.jacobian_norm
    }

    /// Begins a new step at `(t, x)`, or at the point kept for resuming, with the step size planned before. `base` holds
    /// the slope there if `slope_is_known`.
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
        self.jacobian_is_current = false;
        // The Jacobian from before the event may converge otherwise behind it.
        self.rate = 0.5;
        self.rate_size = f64::INFINITY;
        if slope_is_known {
            std::mem::swap(&mut self.slopes[0], &mut self.base);
        } else {
            let evaluated = evaluate(problem, t, &self.x, &mut self.slopes[0], &mut self.statistics);
            evaluated.map_err(|failure| failure.at(t, 0.0))?;
        }
        if let Some(matrix) = self.matrix.as_mut().filter(|_| self.has_factorisation) {
            let at = Point { t, x: &self.x, f: &self.slopes[0] };
            let scratch = (&mut self.stage[..], &mut self.f[..]);
            self.slow_convergence |= is_outdated(problem, matrix, &at, &self.weights, scratch, &mut self.statistics);
        }
        Ok(())
    }

    /// Whether `(t, x)` lies on the last step, so that its slope may say more.
    fn is_on_last_step(&mut self, t: f64, x: &[f64]) -> bool {
        if self.h_used == 0.0 || !self.has_factorisation || !(t >= self.t_old && t < self.t) {
            return false;
        }
        let mut scratch = std::mem::take(&mut self.stage);
        self.interpolate(t, &mut scratch);
        self.stage = scratch;
        is_same_state(&mut self.stage, x, &self.weights)
    }

    /// Whether the right-hand side, which is in `base` for a time of the last step, is still the one that step was made
    /// with. Slopes are compared through the iteration matrix, which says how far a difference would move the solution.
    fn step_remains_valid(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> bool {
        let Some(matrix) = &mut self.matrix else { return false };
        let (resume, weights, statistics) = (&mut self.resume, &self.weights, &mut self.statistics);
        self.f.copy_from_slice(&self.base);
        let dense = dense_slope_weights((t - self.t_old) / self.h_used);
        add_combination(&mut self.f, -1.0, &dense, &self.old_slopes);
        let at = Point { t, x, f: &self.base };
        if resume.displacement(problem, matrix, &at, &mut self.f, weights, statistics) > SAME_SLOPE {
            return false;
        }
        if evaluate(problem, self.t, &self.x, &mut self.f, statistics).is_err() {
            return false;
        }
        self.stage.copy_from_slice(&self.f);
        self.f.iter_mut().zip(&self.old_slopes[STAGES - 1]).for_each(|(f, k)| *f -= k);
        let at = Point { t: self.t, x: &self.x, f: &self.stage };
        resume.displacement(problem, matrix, &at, &mut self.f, weights, statistics) <= SAME_END
    }

    fn set_up(&mut self, problem: &mut dyn OdeProblem, h: f64, renew: bool) -> Result<(), Failure> {
        let (mut matrix, new) = match self.matrix.take() {
            Some(matrix) => (matrix, false),
            None => (IterationMatrix::new(problem).map_err(|s| Failure::Singular { column: s.column })?, true),
        };
        self.has_factorisation = false;
        let mut outcome = Ok(());
        if new || renew {
            // The first slope carries the iteration error of the last stage, too much for finite differences.
            if matrix.uses_differences() {
                outcome = evaluate(problem, self.t, &self.x, &mut self.f, &mut self.statistics);
            } else {
                self.f.copy_from_slice(&self.slopes[0]);
            }
            if outcome.is_ok() {
                let statistics = &mut self.statistics;
                outcome = matrix.evaluate(problem, self.t, &self.x, &self.f, h, &self.options, statistics);
            }
            self.jacobian_is_current = outcome.is_ok();
            self.jacobian_norm = matrix.norm(&self.weights);
            self.slow_rate = if matrix.evaluations() <= 10 { 0.05 } else { 0.3 };
        }
        if outcome.is_ok() {
            self.strictness = if matrix.errors_last(h) { STRICTNESS } else { 1.0 };
            set_weights(&self.options, &self.x, &mut self.weights);
            tighten(&mut self.weights, self.strictness);
            let factored = matrix.factor(1.0 / (h * GAMMA), &mut self.statistics);
            outcome = factored.map_err(|s| Failure::Singular { column: s.column });
            self.has_factorisation = outcome.is_ok();
            self.factored_step = h;
            let cheap = matrix.solves_per_factorisation() <= CHEAP_FACTORISATION;
            self.drift_limit = if cheap { STEP_DRIFT_CHEAP } else { STEP_DRIFT };
            self.slow_convergence = false;
            self.rate = 0.5;
            self.rate_size = f64::INFINITY;
        }
        self.matrix = Some(matrix);
        outcome
    }

    fn stages(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<(), Failure> {
        for s in 1..STAGES {
            self.base.copy_from_slice(&self.x);
            add_combination(&mut self.base, h, &A[s][..s], &self.slopes);
            self.predict_stage(s, h);
            let time = if s == STAGES - 1 { t_new } else { self.t + NODES[s] * h };
            self.solve_stage(problem, time, h)?;
            self.hold_still(problem, time, s);
            let inverse = 1.0 / (h * GAMMA);
            for ((k, y), b) in self.slopes[s].iter_mut().zip(&self.stage).zip(&self.base) {
                *k = (y - b) * inverse;
            }
        }
        Ok(())
    }

    /// What has no slope in a stage nor in those before it does not move. An iteration with a Jacobian from before an event, when
    /// it did move, may shift it by a fraction of the tolerance: a mass that is stuck would creep, and leave a stop.
    fn hold_still(&mut self, problem: &mut dyn OdeProblem, t: f64, s: usize) {
        /// A position follows its velocity.
        const ROUNDS: u32 = 3;
        for round in 0..ROUNDS {
            let (slopes, f, base) = (&self.slopes[..s], &self.f, &self.base);
            let rests = |i: usize| f[i] == 0.0 && slopes.iter().all(|slope| slope[i] == 0.0);
            if !(0..f.len()).any(|i| self.stage[i] != base[i] && rests(i)) {
                return;
            }
            if round == 0 {
                self.delta.copy_from_slice(&self.stage);
            }
            (0..f.len()).filter(|&i| rests(i)).for_each(|i| self.stage[i] = base[i]);
            // The slopes at hand were those before the last correction.
            let found = evaluate(problem, t, &self.stage, &mut self.f, &mut self.statistics);
            for ((y, moved), f) in self.stage.iter_mut().zip(&self.delta).zip(&self.f) {
                if found.is_err() || *f != 0.0 {
                    *y = *moved;
                }
            }
            if found.is_err() {
                return;
            }
        }
    }

    /// First guess of a stage: its slope extrapolated from the nearest slopes of this step and the last one.
    fn predict_stage(&mut self, s: usize, h: f64) {
        let ratio = if self.h_used > 0.0 { self.h_used / h } else { 0.0 };
        let usable = ratio > 0.4;
        // Stages of the last step by index, then those of this one.
        let (old, new): (&[usize], &[usize]) = match (s, usable) {
            (1, true) => (&[3, 4], &[0]),
            (1, false) => (&[], &[0]),
            (2, true) => (&[3, 4], &[0, 1]),
            (2, false) => (&[], &[0, 1]),
            (3, true) => (&[4], &[0, 2, 1]),
            (3, false) => (&[], &[0, 2, 1]),
            (4, _) => (&[], &[0, 2, 1, 3]),
            _ => (&[], &[2, 1, 3, 4]),
        };
        let count = old.len() + new.len();
        let mut nodes = [0.0; 4];
        for (place, stage) in nodes.iter_mut().zip(old) {
            *place = (NODES[*stage] - 1.0) * ratio;
        }
        for (place, stage) in nodes[old.len()..].iter_mut().zip(new) {
            *place = NODES[*stage];
        }
        let (mut old_weights, mut new_weights) = ([0.0; STAGES], [0.0; STAGES]);
        for i in 0..count {
            let mut weight = 1.0;
            for j in 0..count {
                if i != j {
                    weight *= (NODES[s] - nodes[j]) / (nodes[i] - nodes[j]);
                }
            }
            match old.get(i) {
                Some(stage) => old_weights[*stage] = weight,
                None => new_weights[new[i - old.len()]] = weight,
            }
        }
        self.stage.copy_from_slice(&self.base);
        add_combination(&mut self.stage, h * GAMMA, &new_weights, &self.slopes);
        add_combination(&mut self.stage, h * GAMMA, &old_weights, &self.old_slopes);
    }

    /// Solves `stage = base + h γ f(stage)`.
    fn solve_stage(&mut self, problem: &mut dyn OdeProblem, t: f64, h: f64) -> Result<(), Failure> {
        let c = 1.0 / (h * GAMMA);
        let ratio = self.factored_step / h;
        let relaxation = 2.0 / (1.0 + ratio);
        // What a matrix made for another step leaves after the relaxation.
        let mismatch = ((1.0 - ratio) / (1.0 + ratio)).abs();
        let (mut first, mut previous) = (0.0, 0.0);
        for iteration in 0..MAX_ITERATIONS {
            evaluate(problem, t, &self.stage, &mut self.f, &mut self.statistics)?;
            for (((d, f), y), b) in self.delta.iter_mut().zip(&self.f).zip(&self.stage).zip(&self.base) {
                *d = f - c * (y - b);
            }
            let Some(matrix) = &mut self.matrix else { return Err(Failure::Singular { column: 0 }) };
            matrix.solve(&mut self.delta);
            self.statistics.newton_iterations += 1;
            for (y, d) in self.stage.iter_mut().zip(&mut self.delta) {
                *d *= relaxation;
                *y += *d;
            }
            let size = norm(&self.delta, &self.weights);
            if iteration == 0 {
                first = size;
            } else {
                let rate = size / previous;
                let memory = if self.rate_size.is_finite() { 0.3 * self.rate } else { 0.0 };
                self.rate = memory.max(rate).max(SMALLEST_RATE);
                self.rate_size = first;
                if rate >= 0.9 && size > ITERATION_TOLERANCE {
                    break;
                }
                // An increment far below the tolerance may be rounding and says nothing about the Jacobian.
                self.slow_convergence |= rate > self.slow_rate && size > 0.1 * ITERATION_TOLERANCE;
            }
            let rate = (self.rate * (first / self.rate_size).max(1.0)).max(mismatch).min(0.9);
            if size * rate / (1.0 - rate) <= ITERATION_TOLERANCE {
                return Ok(());
            }
            if !size.is_finite() {
                break;
            }
            previous = size;
        }
        Err(Failure::NoConvergence { component: worst_component(&self.delta, &self.weights) })
    }
}

impl OneStep for Esdirk {
    fn time(&self) -> f64 {
        self.t
    }

    /// All stages of a step, the Jacobian renewed once if the iteration with an old one fails.
    fn attempt(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<f64, Failure> {
        let drift = (h / self.factored_step - 1.0).abs();
        if !self.has_factorisation || drift > self.drift_limit || self.slow_convergence && !self.jacobian_is_current {
            let renew = self.matrix.is_none() || self.slow_convergence && !self.jacobian_is_current;
            self.set_up(problem, h, renew)?;
        }
        if let Err(failure) = self.stages(problem, h, t_new) {
            if !failure.recoverable() || self.jacobian_is_current {
                return Err(failure);
            }
            self.set_up(problem, h, true)?;
            self.stages(problem, h, t_new)?;
        }
        self.error.fill(0.0);
        let weights: [f64; STAGES] = std::array::from_fn(|s| if s < 5 { A[5][s] } else { GAMMA } - EMBEDDED[s]);
        add_combination(&mut self.error, h, &weights, &self.slopes);
        Ok(norm(&self.error, &self.weights))
    }

    fn accept(&mut self, h: f64, t_new: f64, error: f64) {
        self.t_old = self.t;
        self.t = t_new;
        self.h_used = h;
        std::mem::swap(&mut self.x_old, &mut self.x);
        self.x.copy_from_slice(&self.stage);
        std::mem::swap(&mut self.old_slopes, &mut self.slopes);
        let (first, last) = (&mut self.slopes[0], &self.old_slopes[STAGES - 1]);
        first.copy_from_slice(last);
        self.jacobian_is_current = false;
        // A small change is not worth a new factorisation.
        self.control.accepted(h, error, 0.95..1.2);
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

fn dense_weights(fraction: f64) -> [f64; STAGES] {
    std::array::from_fn(|s| {
        fraction * (DENSE[0][s] + fraction * (DENSE[1][s] + fraction * (DENSE[2][s] + fraction * DENSE[3][s])))
    })
}

fn dense_slope_weights(fraction: f64) -> [f64; STAGES] {
    let [first, second, third, fourth] = &DENSE;
    std::array::from_fn(|s| {
        first[s] + fraction * (2.0 * second[s] + fraction * (3.0 * third[s] + fraction * 4.0 * fourth[s]))
    })
}

impl DenseOutput for Esdirk {
    fn time(&self) -> f64 {
        self.resume.time().unwrap_or(self.t)
    }

    fn interpolate(&self, t: f64, out: &mut [f64]) {
        if t >= self.t || self.h_used == 0.0 {
            out.copy_from_slice(&self.x);
            return;
        }
        let weights = dense_weights((t - self.t_old) / self.h_used);
        out.copy_from_slice(&self.x_old);
        add_combination(out, self.h_used, &weights, &self.old_slopes);
    }

    fn interpolate_some(&self, t: f64, components: &[usize], out: &mut [f64]) {
        let is_end = t >= self.t || self.h_used == 0.0;
        let weights = if is_end { [0.0; STAGES] } else { dense_weights((t - self.t_old) / self.h_used) };
        for (out, &i) in out.iter_mut().zip(components) {
            let inside = || self.x_old[i] + self.h_used * combined(&weights, &self.old_slopes, i);
            *out = if is_end { self.x[i] } else { inside() };
        }
    }

    fn degree(&self) -> usize {
        DENSE.len()
    }
}

impl Integrator for Esdirk {
    fn start(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h0: Option<f64>) -> Result<(), StepError> {
        self.t = t;
        self.t_old = t;
        self.h_used = 0.0;
        self.resume.clear();
        self.has_factorisation = false;
        self.matrix = None;
        self.x.copy_from_slice(x);
        self.control.start(t);
        evaluate(problem, t, &self.x, &mut self.slopes[0], &mut self.statistics)
            .map_err(|failure| failure.at(t, 0.0))?;
        self.control.h = match h0 {
            Some(h) if h > 0.0 => h,
            _ => {
                set_weights(&self.options, &self.x, &mut self.weights);
                tighten(&mut self.weights, self.strictness);
                let (stage, f) = (&mut self.stage, &mut self.f);
                let slope = &self.slopes[0];
                initial_step(problem, t, &self.x, slope, 3, &self.weights, stage, f, &mut self.statistics)
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
        set_weights(&self.options, &self.x, &mut self.weights);
        tighten(&mut self.weights, self.strictness);
        // What was learnt of the convergence in the last step counts less in this one.
        self.rate = self.rate.max(SMALLEST_RATE).powf(0.8);
        take_step(self, problem, t_limit)
    }

    fn restart(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Result<(), StepError> {
        let on_last_step = self.is_on_last_step(t, x);
        if on_last_step {
            let statistics = &mut self.statistics;
            evaluate(problem, t, x, &mut self.base, statistics).map_err(|failure| failure.at(t, 0.0))?;
            let remains = self.step_remains_valid(problem, t, x);
            // A Jacobian that the event has changed is renewed for the next step.
            if self.resume.take_outdated() {
                self.slow_convergence = true;
                self.jacobian_is_current = false;
            }
            if remains {
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
        self.f.copy_from_slice(slope);
        let dense = dense_slope_weights((t - self.t_old) / self.h_used);
        add_combination(&mut self.f, -1.0, &dense, &self.old_slopes);
        let matrix = self.matrix.as_mut().filter(|_| self.has_factorisation);
        slip(matrix, &mut self.f, &self.weights, self.h_used, 1.0)
    }

    fn retake(&mut self, problem: &mut dyn OdeProblem, t: f64, h: f64) -> Result<(), StepError> {
        let mut x = std::mem::take(&mut self.stage);
        self.interpolate(t, &mut x);
        self.x.copy_from_slice(&x);
        self.stage = x;
        (self.t, self.t_old, self.h_used) = (t, t, 0.0);
        self.resume.clear();
        self.jacobian_is_current = false;
        self.control.retake(h);
        evaluate(problem, t, &self.x, &mut self.slopes[0], &mut self.statistics).map_err(|failure| failure.at(t, 0.0))
    }

    fn set_absolute_tolerance(&mut self, component: usize, absolute: f64) {
        self.options.set_absolute(component, self.x.len(), absolute);
    }

    fn reset(&mut self, size: usize) {
        let statistics = self.statistics;
        *self = Esdirk::new(size, self.options.clone());
        self.statistics = statistics;
    }

    fn state(&self) -> &[f64] {
        if self.resume.time().is_some() { self.resume.state() } else { &self.x }
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn name(&self) -> &'static str {
        "esdirk"
    }
}
