//! Error weights and norms shared by the integrators, and the choice of the first step.
//!
//! The norm is the weighted root mean square of DASSL and CVODE. The first step follows Hairer, Nørsett and Wanner,
//! *Solving Ordinary Differential Equations I*, section II.4.

use crate::error::{EvalError, StepError};
use crate::ode::{OdeProblem, Options, Statistics};

/// `weights[i] = 1 / (relative · |x[i]| + absolute[i])`
pub fn set_weights(options: &Options, x: &[f64], weights: &mut [f64]) {
    for (i, (w, x)) in weights.iter_mut().zip(x).enumerate() {
        *w = 1.0 / (options.relative_tolerance * x.abs() + options.absolute(i)).max(f64::MIN_POSITIVE);
    }
}

/// As [`set_weights`], with the larger of two states at each component.
pub fn set_weights_of_both(options: &Options, x: &[f64], y: &[f64], weights: &mut [f64]) {
    for (i, ((w, x), y)) in weights.iter_mut().zip(x).zip(y).enumerate() {
        *w = 1.0 / (options.relative_tolerance * x.abs().max(y.abs()) + options.absolute(i)).max(f64::MIN_POSITIVE);
    }
}

/// Makes weights stricter by a factor: what is accepted and how far iterations go.
pub fn tighten(weights: &mut [f64], factor: f64) {
    if factor != 1.0 {
        weights.iter_mut().for_each(|w| *w *= factor);
    }
}

/// Root mean square of the weighted components; zero for an empty vector.
pub fn norm(values: &[f64], weights: &[f64]) -> f64 {
    let sum: f64 = values.iter().zip(weights).map(|(v, w)| (v * w) * (v * w)).sum();
    (sum / values.len().max(1) as f64).sqrt()
}

/// The component with the largest weighted value (or the first that is not a number).
pub fn worst_component(values: &[f64], weights: &[f64]) -> usize {
    let mut worst = (0, -1.0);
    for (i, (v, w)) in values.iter().zip(weights).enumerate() {
        let size = (v * w).abs();
        if size.is_nan() {
            return i;
        }
        if size > worst.1 {
            worst = (i, size);
        }
    }
    worst.0
}

pub fn all_finite(values: &[f64]) -> bool {
    // A sum is finite unless some term is not, apart from overflow, which is no better.
    values.iter().map(|v| v * 0.0).sum::<f64>() == 0.0
}

/// Smallest step that still moves the time.
pub fn smallest_step(t: f64) -> f64 {
    (t.abs() * 4.0 * f64::EPSILON).max(f64::MIN_POSITIVE * 1e16)
}

/// Evaluates the right-hand side; a result that is not finite counts as a recoverable failure.
pub fn evaluate(
    problem: &mut dyn OdeProblem,
    t: f64,
    x: &[f64],
    dx: &mut [f64],
    statistics: &mut Statistics,
) -> Result<(), Failure> {
    statistics.rhs += 1;
    problem.rhs(t, x, dx).map_err(Failure::Evaluation)?;
    if all_finite(dx) {
        return Ok(());
    }
    let component = dx.iter().position(|d| !d.is_finite()).unwrap_or(0);
    Err(Failure::NotFinite { component })
}

/// Why an attempted step came to nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    Evaluation(EvalError),
    NotFinite { component: usize },
    NoConvergence { component: usize },
    Singular { column: usize },
}

impl Failure {
    /// Whether a shorter step may help.
    pub fn recoverable(&self) -> bool {
        !matches!(self, Failure::Evaluation(error) if !error.recoverable)
    }

    /// The error to report when no shorter step is possible.
    pub fn at(self, t: f64, h: f64) -> StepError {
        match self {
            Failure::Evaluation(error) => StepError::Evaluation { t, error },
            Failure::NotFinite { component } => StepError::NotFinite { t, component },
            Failure::NoConvergence { component } => StepError::NoConvergence { t, h, component },
            Failure::Singular { column } => StepError::Singular { t, column },
        }
    }
}

/// Estimates a first step for a method of the given order with one trial evaluation. `trial_x` and `trial_dx` are scratch.
#[allow(clippy::too_many_arguments)]
pub fn initial_step(
    problem: &mut dyn OdeProblem,
    t: f64,
    x: &[f64],
    dx: &[f64],
    order: usize,
    weights: &[f64],
    trial_x: &mut [f64],
    trial_dx: &mut [f64],
    statistics: &mut Statistics,
) -> f64 {
    let size = norm(x, weights);
    let slope = norm(dx, weights);
    let mut h0 = if size < 1e-5 || slope < 1e-5 { 1e-6 } else { 0.01 * size / slope };
    h0 = h0.max(smallest_step(t));
    for _ in 0..8 {
        for ((trial, x), d) in trial_x.iter_mut().zip(x).zip(dx) {
            *trial = x + h0 * d;
        }
        if evaluate(problem, t + h0, trial_x, trial_dx, statistics).is_ok() {
            for (trial, d) in trial_dx.iter_mut().zip(dx) {
                *trial = (*trial - d) / h0;
            }
            let curvature = norm(trial_dx, weights);
            let largest = slope.max(curvature);
            let h1 = if largest <= 1e-15 {
                (h0 * 1e-3).max(1e-6)
            } else {
                (0.01 / largest).powf(1.0 / (order as f64 + 1.0))
            };
            // The error control may wish for less than time can express, and has to try first.
            return h1.min(100.0 * h0).max(2.0 * smallest_step(t));
        }
        h0 *= 0.1;
    }
    h0
}

/// The distance of the two times that a step leads between. Far from zero time is coarse, and that is not what was wished for.
pub(crate) fn step_in_time(t: f64, h: f64) -> f64 {
    (t + h) - t
}

/// The step to take: exactly to the limit when that is near, and two equal steps rather than a tiny last one.
pub(crate) fn step_towards(t: f64, h: f64, t_limit: f64) -> (f64, f64) {
    let remaining = t_limit - t;
    if h >= remaining * (1.0 - 1e-9) {
        (remaining, t_limit)
    } else {
        let h = if 2.0 * h > remaining { step_in_time(t, 0.5 * remaining) } else { h };
        (h, t + h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_nominals() {
        let options = Options::with_nominals(1e-3, &[1.0, 1e6, 0.0]);
        let mut weights = [0.0; 3];
        set_weights(&options, &[1.0, 0.0, 0.0], &mut weights);
        assert_eq!(weights.map(|w| (1.0 / w * 1e9).round() / 1e9), [2e-3, 1e3, 1e-3]);
        assert_eq!(worst_component(&[1.0, 1e3, -2.0], &weights), 2);
        assert_eq!(worst_component(&[1.0, f64::NAN, -2.0], &weights), 1);
        assert_eq!(norm(&[], &[]), 0.0);
    }

    #[test]
    fn finiteness() {
        assert!(all_finite(&[1.0, -2.0]));
        assert!(!all_finite(&[1.0, f64::INFINITY]));
        assert!(!all_finite(&[f64::NAN]));
    }
}
