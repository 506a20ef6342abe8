//! One file a command.

mod beginning;
pub mod bond;
pub mod check;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod diagram;
pub mod equations;
pub mod examples;
pub mod explain;
pub mod flatten;
pub mod install;
pub mod libraries;
pub mod library;
pub mod linearize;
pub mod plot;
pub mod simulate;
pub mod sweep;
pub mod symbolic;
pub mod translate;
