//! Running a program: initialisation, integration, events.

mod delay;
mod event_log;

pub use event_log::{Entry, EventLog, Format as EventLogFormat};
