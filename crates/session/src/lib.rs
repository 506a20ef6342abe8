//! The whole way from text to trajectory in one place.

mod listing;
mod stage;
mod summary;
mod target;

pub use listing::{Listing, Notation};
pub use stage::{Seconds, Stage};
pub use summary::{BlockSummary, Differentiated, Events, Flat, Statistics, Status, Structure, Summary};
pub use target::{Target, TargetError};
