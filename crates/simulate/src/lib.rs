//! Running a program: initialisation, integration, events, output.
//!
//! [`simulate`] is the whole of it. A `machine::Machine` evaluates the program at one point; `systems` solves the
//! simultaneous systems inside; `initial` finds the first point; `events` goes through the instants at which something
//! jumps; `simulation` puts them on the axis of time, a step at a time; `run` goes from start to stop and writes rows and log.
//! `modes` changes the program where the structure of the model changes.

mod ambiguity;
mod arrangement;
mod assertion_warnings;
mod bands;
mod beyond;
mod branches;
mod clockwork;
mod columns;
mod conditions;
mod continuity;
mod corners;
mod courses;
mod departure;
mod difference;
mod edges;
mod event_log;
mod events;
mod exchange;
mod first_point;
mod future;
mod guesses;
mod idle;
mod implicit;
mod influences;
mod initial;
mod intervals;
mod limits;
mod linear;
mod machine;
mod modes;
mod nominal;
mod options;
mod outcome;
mod places;
mod profile;
mod projection;
mod ranges;
mod real_time;
mod reinit;
mod resting;
mod rhythm;
mod run;
mod sensitivities;
mod signals;
mod simulation;
mod sizes;
mod start_point;
mod system_failure;
mod systems;
mod terms;
mod tied;
mod trouble;
mod undetermined;
mod watcher;

pub use base::Diagnostic;
pub use event_log::{Entry, EventLog, Format as EventLogFormat};
pub use linear::Jacobian;
pub use profile::{BlockProfile, Parts, Profile, StepTimes};
pub use real_time::Punctuality;
pub use sensitivities::{SensitivityRequest, SensitivityRows};
pub use solve::Method;

pub use simulation::{Accepted, Reached, Simulation, Snapshot, System, Update};
pub use start_point::{Lacking, Past, StartPoint};

pub use options::Options;
pub use outcome::{Ending, Outcome, RunStatistics};
pub use run::simulate;
pub use watcher::Watcher;
