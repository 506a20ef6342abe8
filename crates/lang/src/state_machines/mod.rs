//! State machines (specification 17) as clocked equations.
//!
//! `statements` reads `initialState` and `transition`; `machines` makes states and machines of them; `semantics` writes
//! what the specification's model `StateMachineSemantics` says for each machine; `states` lets the equations of a state
//! hold only while it is active (each determines one of its `unknowns`) and merges what several states say about one
//! variable; `expressions` rewrites what they are made of. Nothing of it is left in the flat
//! model but clocked variables and equations.

mod expressions;
mod machines;
mod matching;
mod semantics;
mod statements;
mod states;
mod unknowns;

pub(crate) use machines::{Machines, declare};
pub(crate) use semantics::translate;
pub(crate) use statements::{Operator, Statement, operator, read};
