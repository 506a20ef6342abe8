//! Step control of the one-step methods: length of the next step, rejection, failure, and what is remembered from one
//! event to the next.
//!
//! The controller is the PI controller of Gustafsson (*Control theoretic techniques for stepsize selection in explicit
//! Runge–Kutta methods*, 1991). After an event the step planned before is kept, but not beyond what the first steps
//! after the last two events could have been, since similar events stir up similar transients, nor beyond what was planned
//! at the event before, since a model often returns to where it was two events ago: what a flat part allows says nothing
//! about what comes after it. Nor does it reach far beyond the time between events, where the solution would be thrown away.

use crate::error::StepError;
use crate::ode::{OdeProblem, Statistics, Step};
use crate::weights::{Failure, smallest_step, step_in_time, step_towards};

/// Times the longest of the last two intervals between events that a first step may reach.
const INTERVALS_AHEAD: f64 = 4.0;
/// Intervals shorter than this fraction of the step are chattering or the resolution of the time, not a rhythm.
const SHORTEST_INTERVAL: f64 = 1e-6;

/// Step size of a one-step method; errors are scaled so that 1 is just acceptable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepControl {
    /// The step planned next.
    pub h: f64,
    order: f64,
    previous_error: f64,
    after_rejection: bool,
    /// Of the last restart: its time, the interval before it, and the step that was planned until then.
    restarted: f64,
    interval: f64,
    planned: f64,
    /// The steps that would have suited as first ones after the last two restarts, the last one first.
    first_steps: [f64; 2],
    is_first: bool,
}

impl StepControl {
    /// `order` is the order of the error estimate plus one, the power of h with which the error falls.
    pub fn new(order: usize) -> Self {
        StepControl {
            h: 0.0,
            order: order as f64,
            previous_error: 1e-4,
            after_rejection: false,
            restarted: f64::NAN,
            interval: f64::INFINITY,
            planned: f64::INFINITY,
            first_steps: [f64::INFINITY; 2],
            is_first: false,
        }
    }

    /// Forgets everything; the caller sets `h`.
    pub fn start(&mut self, t: f64) {
        *self = StepControl { h: self.h, restarted: t, ..StepControl::new(self.order as usize) };
    }

    /// Plans the first step after an event.
    pub fn restart(&mut self, t: f64) {
        let interval = t - self.restarted;
        let longest = self.interval.max(interval);
        let planned = self.h;
        if interval > 0.0 {
            self.interval = interval;
            self.restarted = t;
            self.h = self.h.min(self.planned);
            self.planned = planned;
        }
        if longest > SHORTEST_INTERVAL * self.h {
            self.h = self.h.min(INTERVALS_AHEAD * longest);
        }
        self.h = self.first_steps.iter().fold(self.h, |h, &first| h.min(first));
        self.is_first = true;
        self.previous_error = 1e-4;
        self.after_rejection = false;
    }

    /// Plans the first step from a point of a step that turned out to be too long.
    pub fn retake(&mut self, h: f64) {
        self.h = h;
        self.is_first = false;
        self.previous_error = 1e-4;
        self.after_rejection = true;
    }

    /// The factor for the next step after an accepted one.
    fn growth(&mut self, error: f64) -> f64 {
        let error = error.max(1e-10);
        let factor = 0.9 * error.powf(-0.7 / self.order) * self.previous_error.max(1e-4).powf(0.4 / self.order);
        let factor = factor.clamp(0.2, 10.0);
        self.previous_error = error;
        if std::mem::replace(&mut self.after_rejection, false) { factor.min(1.0) } else { factor }
    }

    /// After an accepted step; `keep` are the factors of growth that are not worth a change of the step.
    pub fn accepted(&mut self, h: f64, error: f64, keep: std::ops::Range<f64>) {
        if std::mem::replace(&mut self.is_first, false) {
            let first_step = h * (0.9 * error.max(1e-10).powf(-1.0 / self.order)).clamp(0.2, 10.0);
            self.first_steps = [first_step, self.first_steps[0]];
        }
        let mut factor = self.growth(error);
        if keep.contains(&factor) {
            factor = 1.0;
        }
        // A step cut short by the limit says nothing against the longer one that was planned.
        self.h = if h < self.h { self.h.max(h * factor) } else { h * factor };
    }

    fn rejected(&mut self, h: f64, error: f64) {
        self.after_rejection = true;
        self.h = h * if error.is_finite() { (0.9 * error.powf(-1.0 / self.order)).clamp(0.1, 0.9) } else { 0.1 };
    }
}

/// What a one-step method gives to the loop over attempted steps.
pub(crate) trait OneStep {
    fn time(&self) -> f64;

    /// Computes a step to `t_new` and returns its scaled error. Nothing of the last step may be lost.
    fn attempt(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<f64, Failure>;

    /// Makes the attempted step the last accepted one, and informs the control.
    fn accept(&mut self, h: f64, t_new: f64, error: f64);

    fn control(&mut self) -> (&mut StepControl, &mut Statistics);

    fn max_step(&self) -> f64;

    /// The component with the largest error of the last attempt.
    fn worst_component(&self) -> usize;
}

/// Attempts steps until one is accepted, never past `t_limit`.
pub(crate) fn take_step(
    method: &mut dyn OneStep,
    problem: &mut dyn OdeProblem,
    t_limit: f64,
) -> Result<Step, StepError> {
    let t = method.time();
    let max_step = method.max_step();
    let mut last_failure = None;
    loop {
        let (control, _) = method.control();
        control.h = step_in_time(t, control.h.min(max_step));
        let (h, t_new) = step_towards(t, control.h, t_limit);
        if !(h > smallest_step(t)) && t_new < t_limit || h <= 0.0 {
            return Err(match last_failure {
                Some(failure) => Failure::at(failure, t, h),
                None => StepError::StepTooSmall { t, h, component: method.worst_component() },
            });
        }
        let outcome = method.attempt(problem, h, t_new);
        let (control, statistics) = method.control();
        match outcome {
            Ok(error) if error <= 1.0 => {
                statistics.steps += 1;
                method.accept(h, t_new, error);
                return Ok(Step { t_old: t, t_new, at_limit: t_new == t_limit });
            }
            Ok(error) => {
                statistics.rejected += 1;
                control.rejected(h, error);
                last_failure = None;
            }
            Err(failure) if failure.recoverable() => {
                statistics.failed += 1;
                control.h = h * 0.25;
                last_failure = Some(failure);
            }
            Err(failure) => return Err(failure.at(t, h)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_after_an_event_is_learnt_from_the_one_before() {
        let mut control = StepControl::new(4);
        control.start(0.0);
        control.h = 1.0;
        control.restart(1.0);
        assert_eq!(control.h, 1.0);
        // Ten thousand times too large an error, then a good step.
        control.rejected(1.0, 1e4);
        assert!((control.h - 0.1).abs() < 1e-15);
        control.accepted(0.1, 0.9_f64.powi(4), 1.0..1.0);
        control.h = 0.8;
        control.restart(2.0);
        assert!((control.h - 0.1).abs() < 1e-15);
        // Two harmless events: it grows again.
        control.accepted(0.1, 1e-12, 1.0..1.0);
        control.h = 0.8;
        control.restart(3.0);
        assert!((control.h - 0.1).abs() < 1e-15);
        control.accepted(0.1, 1e-12, 1.0..1.0);
        control.h = 0.8;
        control.restart(4.0);
        assert_eq!(control.h, 0.8);
    }

    #[test]
    fn the_step_of_a_flat_part_is_not_taken_behind_it() {
        let mut control = StepControl::new(4);
        control.start(0.0);
        for (plan, first) in [(0.1, 0.1), (3.0, 0.1), (0.2, 0.2), (2.0, 0.2)] {
            control.h = plan;
            control.restart(control.restarted + 1.0);
            assert_eq!(control.h, first);
        }
    }

    #[test]
    fn a_first_step_does_not_reach_far_past_the_next_event() {
        let mut control = StepControl::new(4);
        control.start(0.0);
        control.h = 1000.0;
        control.restart(1.0);
        assert_eq!(control.h, 1000.0);
        control.restart(3.0);
        assert_eq!(control.h, 8.0);
        // Two events at one instant are no rhythm.
        control.restart(3.0);
        assert_eq!(control.h, 8.0);
        // Nor is chattering: the step must not shrink with it until the time stands still.
        for k in 1..50 {
            control.restart(3.0 + 1e-12 * f64::from(k));
        }
        assert_eq!(control.h, 8.0);
    }
}
