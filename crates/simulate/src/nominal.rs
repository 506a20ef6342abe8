//! Nominal values of variables.

use compile::{Memory, Program};
use dae::{Node, VarId};

use crate::terms::Terms;

/// The nominal value of a variable, 1 where nobody gave one. It may follow from parameters: before these are computed it is
/// not known either.
pub fn nominal(program: &Program, memory: &Memory, variable: VarId) -> f64 {
    given(program, memory, variable).unwrap_or(1.0)
}

/// The nominal value that a variable was given.
pub fn given(program: &Program, memory: &Memory, variable: VarId) -> Option<f64> {
    let model = program.model();
    let nominal = model.variables[variable].attributes.nominal?;
    let value = match model.exprs.node(nominal) {
        Node::Real(value) => value,
        Node::Integer(value) => value as f64,
        Node::Var(parameter) => program.value(memory, parameter),
        _ => Terms::value_of(program, nominal, memory),
    };
    (value.is_finite() && value != 0.0).then(|| value.abs())
}

/// Whether a nominal value is known only when parameters are.
pub fn follows_from_parameters(program: &Program, variable: VarId) -> bool {
    let model = program.model();
    let nominal = model.variables[variable].attributes.nominal.map(|nominal| model.exprs.node(nominal));
    nominal.is_some_and(|node| !matches!(node, Node::Real(_) | Node::Integer(_)))
}
