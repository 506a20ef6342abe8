//! Code from a `Schedule`: one lowered form, run by an interpreter or as machine code, with exact derivatives.
//!
//! A [`Program`] holds the code, a [`Memory`] everything that changes. The simulator runs *sections*:
//!
//! | section | holds |
//! | --- | --- |
//! | `parameters` | parameters and dependent constants that are not literals |
//! | `starts` | start values that are not literals; run after `parameters` |
//! | `samples` | start and interval of every `sample` |
//! | `initial` | the initial problem (homotopy by lambda, relations updated when memory is live) |
//! | `dynamics` | what is evaluated between events: relations frozen |
//! | `events` | all blocks; relations updated when memory is live |
//! | `outputs` | what only results need, then what delays remember; run after `dynamics` |
//! | `histories` | what delays and transports remember |
//! | `actions` | conditions and values of all actions, to `layout.actions` |
//! | `assertions` | the assertions among them, frozen |
//! | `initial_actions` | actions of initial sections, to `layout.initial_actions` |
//!
//! A section is a list of steps; a step is a piece of code or a simultaneous system, which the caller solves with
//! `residuals` and `jacobian`:
//!
//! ```no_run
//! # fn newton(program: &compile::Program, system: compile::SystemId, memory: &mut compile::Memory)
//! #     -> Result<(), compile::Failure> { Ok(()) }
//! # fn example(schedule: transform::Schedule) -> Result<(), Box<dyn std::error::Error>> {
//! # let program = compile::Program::new(schedule).map_err(|d| d.message)?;
//! let mut memory = program.memory();
//! let mut solve = |system, memory: &mut compile::Memory| newton(&program, system, memory);
//! # let _ = || -> Result<(), compile::Failure> {
//! program.run(&program.sections.parameters, &mut memory, &mut solve)?;
//! program.run(&program.sections.starts, &mut memory, &mut solve)?;
//! // … the initial problem, then the right-hand side at (t, x):
//! memory.set_time(0.5);
//! program.write_states(&mut memory, &[1.0, 2.0]);
//! program.run(&program.sections.dynamics, &mut memory, &mut solve)?;
//! let mut derivatives = vec![0.0; program.states.len()];
//! program.read_derivatives(&memory, &mut derivatives);
//! let mut crossings = vec![0.0; program.roots.len()];
//! program.crossings(&mut memory, &mut crossings);
//! # Ok(()) };
//! # Ok(()) }
//! ```
//!
//! Relations keep a state (−1, 0, 1; for roundings an integer) in memory at `layout.relations[…].state`. Evaluation
//! reads truth from the state; code of `events`, `initial`, `actions` and of systems first updates it where
//! `Memory::set_live(true)` was called. `update_relations` updates all at once.

mod addresses;
mod build;
mod call;
#[cfg(test)]
mod call_tests;
mod code;
mod commons;
mod culprit;
mod defined;
mod differentiate;
mod eliminate;
mod execution;
mod external;
mod failure;
mod family;
mod implicit;
mod in_place;
mod interpret;
mod jit;
mod layout;
mod linear_form;
mod lookup;
mod lower;
mod math;
mod memory;
mod mode_programs;
mod places;
mod probe;
mod profile;
mod program;
mod quick;
#[cfg(test)]
mod random;
mod remembering;
mod runtime;
mod signals;
mod smooth;
mod sparsity;
mod specialize;
mod strings;
mod tangent;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tuning;
mod verify;
mod whole;

pub use code::{Address, ChunkId, Rounding, StatementOrigin};
pub use commons::Commons;
pub use external::{ExternalCode, Outside};
pub use failure::{Failure, Reason};
pub use layout::{
    ActionSlots, Class, Delay, INITIAL, LAMBDA, LIVE, Layout, Relation, RelationId, RelationKind, Sample, TERMINAL,
    TIME, VariableSlot,
};
pub use linear_form::ExpressionTangents;
pub use memory::{History, Memory, SharedNative};
pub use probe::Probe;
pub use program::{
    Implicit, InlineSlots, LinearForm, ModeProgram, ModePrograms, Program, Root, Section, SectionStep, Sections, Side,
    StateSlots, System, SystemId, bounds,
};
pub use signals::{Driven, Signal, Signals};
pub use sparsity::Pattern;
pub use strings::Strings;
pub use tuning::Misfit;
