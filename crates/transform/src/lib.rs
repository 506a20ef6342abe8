//! From a flat hybrid DAE to a schedule: which equation determines which unknown, in which order, and how each
//! simultaneous system is solved.

pub mod schedule;
pub mod structure;

pub use schedule::{Assignment, Block, EquationSystem, Role, Schedule, State, SystemKind, Timing};
