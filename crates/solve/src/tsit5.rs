//! Explicit Runge–Kutta 5(4) of Tsitouras with its free fourth-order dense output, for problems that are not stiff.
//!
//! Ch. Tsitouras, *Runge–Kutta pairs of order 5(4) satisfying only the first column simplifying assumption*, Computers
//! and Mathematics with Applications 62 (2011). Stiffness is detected as in DOPRI5 (Hairer, Nørsett and Wanner I,
//! section IV.2 of volume II): the last two stages, both at the end of the step, estimate the dominant eigenvalue.

use crate::error::StepError;
use crate::ode::{DenseOutput, Integrator, OdeProblem, Options, Statistics, Step};
use crate::resume::{Resume, SAME_END, SAME_SLOPE, SAME_STATE};
use crate::weights::{
    Failure, StepController, evaluate, initial_step, norm, set_weights, set_weights_of_both, smallest_step,
    worst_component,
};

const NODES: [f64; 7] = [0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0, 1.0];
const STAGES: [[f64; 6]; 7] = [
    [0.0; 6],
    [0.161, 0.0, 0.0, 0.0, 0.0, 0.0],
    [-0.008480655492356989, 0.335480655492357, 0.0, 0.0, 0.0, 0.0],
    [2.8971530571054935, -6.359448489975075, 4.3622954328695815, 0.0, 0.0, 0.0],
    [5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525, 0.0, 0.0],
    [5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383, 0.0],
    [0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774],
];
/// Weights of the fifth-order solution less those of the fourth-order one.
const ERROR: [f64; 7] = [
    0.00178001105222577714,
    0.0008164344596567469,
    -0.007880878010261995,
    0.1447110071732629,
    -0.5823571654525552,
    0.45808210592918697,
    -1.0 / 66.0,
];
/// Beyond this product of step and eigenvalue the step is limited by stability, not by accuracy.
const STABILITY_LIMIT: f64 = 2.2;
/// From here on an implicit method would probably take longer steps.
const SUSPICION_LIMIT: f64 = 1.0;

pub struct Tsit5 {
    options: Options,
    t: f64,
    t_old: f64,
    h: f64,
    h_used: f64,
    x: Vec<f64>,
    x_old: Vec<f64>,
    slopes: [Vec<f64>; 7],
    stage: Vec<f64>,
    error: Vec<f64>,
    weights: Vec<f64>,
    controller: StepController,
    statistics: Statistics,
    stiffness: f64,
    slope_is_current: bool,
    resume: Resume,
}

impl Tsit5 {
    pub fn new(size: usize, options: Options) -> Self {
        let zeros = || vec![0.0; size];
        Tsit5 {
            options,
            t: 0.0,
            t_old: 0.0,
            h: 0.0,
            h_used: 0.0,
            x: zeros(),
            x_old: zeros(),
            slopes: std::array::from_fn(|_| zeros()),
            stage: zeros(),
            error: zeros(),
            weights: zeros(),
            controller: StepController::new(5),
            statistics: Statistics::default(),
            stiffness: 0.0,
            slope_is_current: false,
            resume: Resume::new(size),
        }
    }

    /// True when the recent steps were limited by stability: an implicit method would take longer ones.
    pub fn is_stiff(&self) -> bool {
        self.stiffness >= 15.0
    }

    /// The step the controller would take next.
    pub fn next_step(&self) -> f64 {
        self.h
    }

    /// Begins a new step at `(t, x)`, or at the point kept for resuming, with the step size planned before.
    fn begin_again(&mut self, problem: &mut dyn OdeProblem, t: f64, x: Option<&[f64]>) -> Result<(), StepError> {
        self.statistics.restarts += 1;
        self.t = t;
        self.t_old = t;
        self.h_used = 0.0;
        self.x.copy_from_slice(x.unwrap_or(self.resume.state()));
        self.resume.clear();
        self.controller.reset();
        self.evaluate_first_slope(problem)
    }

    /// Whether `(t, x)` lies on the last step and the right-hand side is still the one that step was made with.
    fn step_remains_valid(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> bool {
        if self.h_used == 0.0 || !(t >= self.t_old && t < self.t) {
            return false;
        }
        let mut scratch = std::mem::take(&mut self.stage);
        self.interpolate(t, &mut scratch);
        self.stage = scratch;
        self.stage.iter_mut().zip(x).for_each(|(y, x)| *y -= x);
        if norm(&self.stage, &self.weights) > SAME_STATE {
            return false;
        }
        if evaluate(problem, t, x, &mut self.stage, &mut self.statistics).is_err() {
            return false;
        }
        let fraction = (t - self.t_old) / self.h_used;
        let (ahead, behind) = (dense_weights(fraction + 1e-4), dense_weights(fraction - 1e-4));
        for (s, slope) in self.slopes.iter().enumerate() {
            let weight = (ahead[s] - behind[s]) / 2e-4;
            for (y, k) in self.stage.iter_mut().zip(slope) {
                *y -= weight * k;
            }
        }
        if self.h_used * norm(&self.stage, &self.weights) > SAME_SLOPE {
            return false;
        }
        if evaluate(problem, self.t, &self.x, &mut self.stage, &mut self.statistics).is_err() {
            return false;
        }
        self.stage.iter_mut().zip(&self.slopes[6]).for_each(|(y, k)| *y -= k);
        self.h_used * norm(&self.stage, &self.weights) <= SAME_END
    }

    fn evaluate_first_slope(&mut self, problem: &mut dyn OdeProblem) -> Result<(), StepError> {
        evaluate(problem, self.t, &self.x, &mut self.slopes[0], &mut self.statistics)
            .map_err(|failure| failure.at(self.t, self.h))?;
        self.slope_is_current = true;
        Ok(())
    }

    fn attempt(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<f64, Failure> {
        for s in 1..7 {
            let (known, rest) = self.slopes.split_at_mut(s);
            self.stage.copy_from_slice(&self.x);
            for (slope, a) in known.iter().zip(&STAGES[s]) {
                let scaled = a * h;
                for (y, k) in self.stage.iter_mut().zip(slope) {
                    *y += scaled * k;
                }
            }
            if s == 5 {
                self.error.copy_from_slice(&self.stage);
            }
            let time = if s >= 5 { t_new } else { self.t + NODES[s] * h };
            evaluate(problem, time, &self.stage, &mut rest[0], &mut self.statistics)?;
        }
        set_weights_of_both(&self.options, &self.x, &self.stage, &mut self.weights);
        self.watch_stiffness(h);
        self.error.fill(0.0);
        for (slope, e) in self.slopes.iter().zip(&ERROR) {
            let scaled = e * h;
            for (error, k) in self.error.iter_mut().zip(slope) {
                *error += scaled * k;
            }
        }
        Ok(norm(&self.error, &self.weights))
    }

    /// `error` holds the sixth stage and `stage` the seventh: both at the end of the step.
    fn watch_stiffness(&mut self, h: f64) {
        let mut distance = 0.0;
        let mut change = 0.0;
        for (i, (y, z)) in self.stage.iter().zip(&self.error).enumerate() {
            let w = self.weights[i];
            distance += (y - z) * (y - z) * w * w;
            let slope = (self.slopes[6][i] - self.slopes[5][i]) * w;
            change += slope * slope;
        }
        let product = if distance > 0.0 { h * (change / distance).sqrt() } else { 0.0 };
        if product > STABILITY_LIMIT {
            self.stiffness += 1.0;
        } else if product > SUSPICION_LIMIT {
            self.stiffness += 0.25;
        } else {
            self.stiffness = (self.stiffness - 1.0).max(0.0);
        }
    }

    fn accept(&mut self, h: f64, t_new: f64, error: f64) {
        self.t_old = self.t;
        self.t = t_new;
        self.h_used = h;
        std::mem::swap(&mut self.x_old, &mut self.x);
        self.x.copy_from_slice(&self.stage);
        self.slope_is_current = false;
        let factor = self.controller.accepted(error);
        // A step cut short by the limit says nothing against the longer one that was planned.
        self.h = if h < self.h { self.h.max(h * factor) } else { h * factor };
        self.statistics.steps += 1;
    }
}

/// The step to take: exactly to the limit when that is near, and two equal steps rather than a tiny last one.
pub(crate) fn step_towards(t: f64, h: f64, t_limit: f64) -> (f64, f64) {
    let remaining = t_limit - t;
    if h >= remaining * (1.0 - 1e-9) {
        (remaining, t_limit)
    } else if 2.0 * h > remaining {
        (0.5 * remaining, t + 0.5 * remaining)
    } else {
        (h, t + h)
    }
}

impl DenseOutput for Tsit5 {
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
        for (slope, weight) in self.slopes.iter().zip(weights) {
            let scaled = self.h_used * weight;
            for (o, k) in out.iter_mut().zip(slope) {
                *o += scaled * k;
            }
        }
    }
}

impl Integrator for Tsit5 {
    fn start(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h0: Option<f64>) -> Result<(), StepError> {
        self.t = t;
        self.t_old = t;
        self.h_used = 0.0;
        self.resume.clear();
        self.x.copy_from_slice(x);
        self.x_old.copy_from_slice(x);
        self.controller.reset();
        self.stiffness = 0.0;
        self.evaluate_first_slope(problem)?;
        self.h = match h0 {
            Some(h) if h > 0.0 => h,
            _ => {
                set_weights(&self.options, &self.x, &mut self.weights);
                let (first, second) = self.slopes.split_at_mut(1);
                initial_step(
                    problem,
                    t,
                    &self.x,
                    &first[0],
                    5,
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
            self.begin_again(problem, t_old, None)?;
        }
        if !self.slope_is_current {
            // The last stage of the previous step was evaluated at its end.
            if self.h_used != 0.0 {
                let (first, rest) = self.slopes.split_at_mut(1);
                first[0].copy_from_slice(&rest[5]);
                self.slope_is_current = true;
            } else {
                self.evaluate_first_slope(problem)?;
            }
        }
        let mut last_failure = None;
        loop {
            self.h = self.h.min(self.options.max_step);
            let (h, t_new) = step_towards(self.t, self.h, t_limit);
            if !(h > smallest_step(self.t)) && t_new < t_limit || h <= 0.0 {
                let component = worst_component(&self.error, &self.weights);
                return Err(match last_failure {
                    Some(failure) => Failure::at(failure, self.t, h),
                    None => StepError::StepTooSmall { t: self.t, h, component },
                });
            }
            match self.attempt(problem, h, t_new) {
                Ok(error) if error <= 1.0 => {
                    self.accept(h, t_new, error);
                    return Ok(Step { t_old: self.t_old, t_new, at_limit: t_new == t_limit });
                }
                Ok(error) => {
                    self.statistics.rejected += 1;
                    last_failure = None;
                    self.h = h * self.controller.rejected(error);
                }
                Err(failure) if failure.recoverable() => {
                    self.statistics.failed += 1;
                    last_failure = Some(failure);
                    self.h = h * 0.25;
                }
                Err(failure) => return Err(failure.at(self.t, h)),
            }
        }
    }

    fn restart(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Result<(), StepError> {
        if self.step_remains_valid(problem, t, x) {
            self.resume.set(t, x);
            return Ok(());
        }
        self.begin_again(problem, t, Some(x))
    }

    fn reset(&mut self, size: usize) {
        let statistics = self.statistics;
        *self = Tsit5::new(size, self.options.clone());
        self.statistics = statistics;
    }

    fn state(&self) -> &[f64] {
        if self.resume.time().is_some() { self.resume.state() } else { &self.x }
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn name(&self) -> &'static str {
        "tsit5"
    }
}

fn dense_weights(s: f64) -> [f64; 7] {
    let square = s * s;
    [
        -1.0530884977290216 * s * (s - 1.3299890189751412) * (square - 1.4364028541716351 * s + 0.7139816917074209),
        0.1017 * square * (square - 2.1966568338249754 * s + 1.2949852507374631),
        2.490627285651252793 * square * (square - 2.38535645472061657 * s + 1.57803468208092486),
        -16.54810288924490272 * (s - 1.21712927295533244) * (s - 0.61620406037800089) * square,
        47.37952196281928122 * (s - 1.203071208372362603) * (s - 0.658047292653547382) * square,
        -34.87065786149660974 * (s - 1.2) * (s - 0.666666666666666667) * square,
        2.5 * (s - 1.0) * (s - 0.6) * square,
    ]
}
