//! The first point of a run, for a run of another form of the same model.

use base::{Diagnostic, Id};
use compile::Program;
use dae::{VarId, VariableType};

use crate::clockwork::Clockwork;
use crate::machine::Machine;

pub struct FirstPoint {
    /// Variables that are numbers, and their values.
    pub values: Vec<(VarId, f64)>,
    /// The instants of the start are over.
    pub clockwork: Clockwork,
    /// The message of a model that ends the run at once.
    pub terminated: Option<String>,
    pub warnings: Vec<Diagnostic>,
}

/// The values of the first `count` variables, as far as they are numbers.
pub fn values(program: &Program, machine: &Machine, count: usize) -> Vec<(VarId, f64)> {
    let variables = &program.model().variables;
    let is_number = |&variable: &VarId| {
        !matches!(variables[variable].ty, VariableType::String | VariableType::Object | VariableType::Clock)
    };
    (0..count).map(VarId::from_index).filter(is_number).map(|variable| (variable, machine.value(variable))).collect()
}
