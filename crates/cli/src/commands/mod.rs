//! One file a command.

pub mod examples;
pub mod plot;
