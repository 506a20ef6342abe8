//! One file a command.

pub mod check;
pub mod completions;
pub mod equations;
pub mod examples;
pub mod flatten;
pub mod linearize;
pub mod plot;
pub mod simulate;
pub mod translate;
