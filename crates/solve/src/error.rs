//! The ways in which an evaluation, a factorisation, a Newton iteration or a step can fail.
//!
//! This crate knows no model, so failures carry positions (a column, a residual, a site number of the caller's
//! own) that the caller translates to names.

use std::fmt;

/// A right-hand side, residual or crossing function could not be evaluated.
///
/// `site` is a number that only the caller understands, for instance the index of the failing assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvalError {
    /// A recoverable failure makes the solver try again with a shorter step; any other ends the run.
    pub recoverable: bool,
    /// A number that the caller gives a meaning.
    pub site: u32,
}

impl EvalError {
    /// Another point may do.
    pub fn recoverable(site: u32) -> Self {
        EvalError { recoverable: true, site }
    }

    /// No other point will do.
    pub fn fatal(site: u32) -> Self {
        EvalError { recoverable: false, site }
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.recoverable { "recoverable" } else { "fatal" };
        write!(formatter, "{kind} evaluation failure at site {}", self.site)
    }
}

/// A matrix has no usable pivot for `column`: the unknown of that column is not determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular {
    /// The column without a pivot.
    pub column: usize,
}

impl fmt::Display for Singular {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "matrix is singular: no pivot for column {}", self.column)
    }
}

/// Why an integrator could not take a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the variants say what their fields are")]
pub enum StepError {
    /// The problem refused to be evaluated, and shortening the step was no remedy or not allowed.
    Evaluation { t: f64, error: EvalError },
    /// The step fell below what the time can resolve; `component` has the largest weighted error.
    StepTooSmall { t: f64, h: f64, component: usize },
    /// The corrector did not converge even with the smallest step; `component` has the largest correction.
    NoConvergence { t: f64, h: f64, component: usize },
    /// The iteration matrix has no pivot for the unknown `column`.
    Singular { t: f64, column: usize },
    /// A component of the right-hand side is not a number even with the smallest step.
    NotFinite { t: f64, component: usize },
}

impl fmt::Display for StepError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepError::Evaluation { t, error } => write!(formatter, "{error} at time {t}"),
            StepError::StepTooSmall { t, h, component } => {
                write!(formatter, "step size {h:e} too small at time {t}; largest error in component {component}")
            }
            StepError::NoConvergence { t, h, component } => write!(
                formatter,
                "corrector did not converge at time {t} with step {h:e}; largest correction in component {component}"
            ),
            StepError::Singular { t, column } => {
                write!(formatter, "iteration matrix singular at time {t}: column {column}")
            }
            StepError::NotFinite { t, component } => {
                write!(formatter, "derivative of component {component} is not finite at time {t}")
            }
        }
    }
}

impl std::error::Error for EvalError {}
impl std::error::Error for Singular {}
impl std::error::Error for StepError {}
