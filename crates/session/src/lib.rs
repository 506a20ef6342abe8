//! The whole way from text to trajectory in one place: `pipeline.rs` is the way, the rest reports about it.

mod experiment;
mod formats;
mod front_ends;
mod inputs;
mod inspection;
mod linearization;
mod listing;
mod names;
mod page;
mod pipeline;
mod shipped;
mod stage;
mod start_from;
mod statistics;
mod summary;
mod target;

pub use experiment::Settings;
pub use inputs::{inputs_of, signal, signals_of_file};
pub use inspection::{Checked, Inspected, Verdict};
pub use lang::{Disk, Files, FrontEnd, MemoryFiles};
pub use linearization::{LinearRequest, Linearization};
pub use listing::{Listing, Notation};
pub use names::nearest;
pub use page::page;
pub use pipeline::{Failed, Request, Session};
pub use simulate::{Ending, EventLog, EventLogFormat, Method, Options as RunOptions, Outcome, Watcher};
pub use stage::{Seconds, Stage};
pub use start_from::{split_start_from, start_from_time, start_point};
pub use statistics::Statistics;
pub use summary::{BlockSummary, DiagnosticEntry, Differentiated, Events, Flat, StateSet, Status, Structure, Summary};
pub use target::{Choice, Target, TargetError};
