//! Nominal values of variables.

use compile::{Memory, Program};
use dae::{Node, VarId};

/// The nominal value of a variable where it is a literal or a parameter, else 1.
pub fn nominal(program: &Program, memory: &Memory, variable: VarId) -> f64 {
    let model = program.model();
    let value = match model.variables[variable].attributes.nominal.map(|nominal| model.exprs.node(nominal)) {
        Some(Node::Real(value)) => value,
        Some(Node::Integer(value)) => value as f64,
        Some(Node::Var(parameter)) => program.value(memory, parameter),
        _ => 1.0,
    };
    if value.is_finite() && value != 0.0 { value.abs() } else { 1.0 }
}
