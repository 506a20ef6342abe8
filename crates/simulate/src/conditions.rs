//! Initial conditions that others imply have to hold at the solution; otherwise they contradict each other.

use base::Diagnostic;
use dae::OriginKind;
use transform::InitialCheck;

use crate::machine::{Machine, Trouble};

/// Relative to the size of the quantity.
const TOLERANCE: f64 = 1e-6;

/// After the initial problem is solved.
pub fn check(machine: &Machine) -> Result<(), Trouble> {
    for check in &machine.program.schedule.initial_checks {
        let residual = machine.value(check.residual);
        if residual.abs() > TOLERANCE * size(machine, check) {
            return Err(Trouble::Model(Box::new(contradiction(machine, check, residual))));
        }
    }
    Ok(())
}

/// The largest of the variables in the condition, at least 1 or the nominal value.
fn size(machine: &Machine, check: &InitialCheck) -> f64 {
    let model = machine.program.model();
    let equation = &model.equations[check.equation];
    let variables = model.exprs.dependencies(&[equation.left, equation.right]).variables;
    variables.iter().map(|&variable| machine.value(variable).abs().max(machine.nominal(variable))).fold(1.0, f64::max)
}

fn contradiction(machine: &Machine, check: &InitialCheck, residual: f64) -> Diagnostic {
    let model = machine.program.model();
    let condition = model.equation_text(check.equation);
    let mut diagnostic = Diagnostic::error(
        "inconsistent-initial-conditions",
        format!("the initial condition `{condition}` contradicts the others: it is violated by {residual}"),
    );
    for &equation in std::iter::once(&check.equation).chain(&check.implied_by) {
        let origin = &model.equations[equation].origin;
        let kind = match origin.kind {
            OriginKind::StartValue(_) => "a fixed start value",
            OriginKind::Derivative(_) => "the derivative of a constraint",
            _ => "an equation",
        };
        diagnostic = diagnostic.note(format!("{}, {kind}", model.equation_text(equation)));
        if let Some(span) = origin.span {
            diagnostic = diagnostic.at(span, kind);
        }
    }
    if let OriginKind::StartValue(variable) = model.equations[check.equation].origin.kind
        && check.implied_by.is_empty()
    {
        let (name, value) = (model.variable_name(variable), machine.value(variable));
        diagnostic = diagnostic.note(format!("`{name}` is {value} by the equations"));
    }
    diagnostic.hint("leave one of the values open (`fixed = false`); it is then computed from the others")
}
