//! What came of a run.

use base::Diagnostic;

use crate::options::Options;
use crate::profile::Profile;
use crate::real_time::Punctuality;

/// Effort of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunStatistics {
    pub steps: u64,
    pub rejected: u64,
    /// Steps taken again because an output point in them contradicted them.
    pub retaken: u64,
    pub rhs: u64,
    pub jacobians: u64,
    pub factorisations: u64,
    /// Corrections by the integrator, and what the simultaneous systems of the model took.
    pub newton_iterations: u64,
    pub block_iterations: u64,
    pub block_factorisations: u64,
    pub state_events: u64,
    pub time_events: u64,
    pub rows: u64,
    /// Modes that the run was in; those that were made for it, and the seconds that took.
    pub modes: u64,
    pub modes_made: u64,
    /// How often a mode was tried after an event.
    pub mode_trials: u64,
    pub mode_seconds: f64,
    /// How often assertions of level warning began to fail.
    pub assertion_warnings: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Ending {
    /// The stop time was reached.
    Complete,
    /// The model called `terminate`.
    Terminated { time: f64, message: String },
    /// Somebody asked to stop.
    Interrupted { time: f64 },
    /// Initialisation did not succeed; nothing was computed.
    NotInitialised(Box<Diagnostic>),
    /// It stopped early; what was computed is in the result.
    Failed { time: f64, diagnostic: Box<Diagnostic> },
    /// It came to this time, but something was decided on the way that must not be (`--strict`).
    Refused { time: f64, diagnostic: Box<Diagnostic> },
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

#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    pub ending: Ending,
    pub statistics: RunStatistics,
    pub warnings: Vec<Diagnostic>,
    pub initialise_seconds: f64,
    pub integrate_seconds: f64,
    /// Where it was asked for.
    pub profile: Option<Profile>,
    pub punctuality: Option<Punctuality>,
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
        }
    }
}
