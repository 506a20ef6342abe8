//! State machines (specification 17) as clocked equations.
//!
//! `statements` reads `initialState` and `transition`; `machines` makes states and machines of them; `semantics` writes
//! what the specification's model `StateMachineSemantics` says for each machine; `states` lets the equations of a state
//! hold only while it is active and merges what several states say about one variable. Nothing of it is left in the flat
//! model but clocked variables and equations.

mod machines;
mod matching;
mod semantics;
mod statements;
mod states;

pub(crate) use machines::{Machines, declare};
pub(crate) use semantics::translate;
pub(crate) use statements::{Operator, Statement, operator, read};
