//! What came of a run.

use base::Diagnostic;

use crate::options::Options;
use crate::profile::Profile;
use crate::real_time::Punctuality;
use crate::sensitivities::SensitivityRows;

/// Effort of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunStatistics {
    /// Accepted steps.
    pub steps: u64,
    /// Steps repeated because of the error estimate.
    pub rejected: u64,
    /// Steps taken again because an output point in them contradicted them.
    pub retaken: u64,
    /// Evaluations of the right-hand side.
    pub rhs: u64,
    /// Evaluations of its Jacobian.
    pub jacobians: u64,
    /// Factorisations of the iteration matrix.
    pub factorisations: u64,
    /// Corrections by the integrator, and what the simultaneous systems of the model took.
    pub newton_iterations: u64,
    /// Corrections in the simultaneous systems of the model.
    pub block_iterations: u64,
    /// Factorisations of their matrices.
    pub block_factorisations: u64,
    /// Events at crossings.
    pub state_events: u64,
    /// Events known in advance.
    pub time_events: u64,
    /// Rows that were written.
    pub rows: u64,
    /// Modes that the run was in; those that were made for it, and the seconds that took.
    pub modes: u64,
    /// Modes that were made for the run.
    pub modes_made: u64,
    /// How often a mode was tried after an event.
    pub mode_trials: u64,
    /// Seconds spent on making modes.
    pub mode_seconds: f64,
    /// How often assertions of level warning began to fail.
    pub assertion_warnings: u64,
}

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Ending {
    /// The stop time was reached.
    Complete,
    /// The model called `terminate`.
    Terminated {
        /// The time that was reached.
        time: f64,
        /// What the model says about it.
        message: String,
    },
    /// Somebody asked to stop.
    Interrupted {
        /// The time that was reached.
        time: f64,
    },
    /// Initialisation did not succeed; nothing was computed.
    NotInitialised(Box<Diagnostic>),
    /// It stopped early; what was computed is in the result.
    Failed {
        /// The time that was reached.
        time: f64,
        /// Why.
        diagnostic: Box<Diagnostic>,
    },
    /// It came to this time, but something was decided on the way that must not be (`--strict`).
    Refused {
        /// The time that was reached.
        time: f64,
        /// What was decided.
        diagnostic: Box<Diagnostic>,
    },
}

impl Ending {
    /// The time that a run came to that did not fail.
    pub fn time_reached(&self, options: &Options) -> Option<f64> {
        match *self {
            Ending::Complete => Some(options.stop_time),
            Ending::Terminated { time, .. } | Ending::Interrupted { time } => Some(time),
            _ => None,
        }
    }
}

/// What came of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// Its effort.
    pub statistics: RunStatistics,
    /// What is to be said about it.
    pub warnings: Vec<Diagnostic>,
    /// How long initialisation took.
    pub initialise_seconds: f64,
    /// How long the rest took.
    pub integrate_seconds: f64,
    /// Where it was asked for.
    pub profile: Option<Profile>,
    /// Of a run that keeps pace with the clock.
    pub punctuality: Option<Punctuality>,
    /// The derivatives of the trajectories, where they were asked for.
    pub sensitivities: Option<SensitivityRows>,
}

impl Outcome {
    pub(crate) fn not_initialised(diagnostic: Box<Diagnostic>) -> Self {
        Self {
            ending: Ending::NotInitialised(diagnostic),
            statistics: RunStatistics::default(),
            warnings: Vec::new(),
            initialise_seconds: 0.0,
            integrate_seconds: 0.0,
            profile: None,
            punctuality: None,
            sensitivities: None,
        }
    }
}
