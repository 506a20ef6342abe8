//! Initial conditions that others imply have to hold at the solution; otherwise they contradict each other.

use base::Diagnostic;
use dae::OriginKind;
use transform::InitialCheck;

use crate::machine::{Machine, Trouble};

/// The code of contradictions.
pub const CODE: &str = "inconsistent-initial-conditions";

/// Relative to the size of the quantity.
const TOLERANCE: f64 = 1e-6;

/// After the initial problem is solved.
pub fn check(machine: &Machine) -> Result<(), Trouble> {
    match violated(machine).next() {
        Some(check) => Err(Trouble::Model(Box::new(contradiction(machine, check)))),
        None => Ok(()),
    }
}

/// Conditions that contradict each other in every mode, after those of one mode have turned out to be contradictory.
pub fn lasting(machine: &Machine) -> Option<Diagnostic> {
    let found = violated(machine).find(|check| check.is_lasting);
    found.map(|check| contradiction(machine, check))
}

fn violated(machine: &Machine) -> impl Iterator<Item = &InitialCheck> {
    let checks = machine.program.schedule.initial_checks.iter();
    checks.filter(|check| machine.value(check.residual).abs() > TOLERANCE * size(machine, check))
}

/// The largest of the variables in the condition, at least 1 or the nominal value.
fn size(machine: &Machine, check: &InitialCheck) -> f64 {
    let model = machine.program.model();
    let equation = &model.equations[check.equation];
    let variables = model.exprs.dependencies(&[equation.left, equation.right]).variables;
    variables.iter().map(|&variable| machine.value(variable).abs().max(machine.nominal(variable))).fold(1.0, f64::max)
}

fn contradiction(machine: &Machine, check: &InitialCheck) -> Diagnostic {
    let (model, residual) = (machine.program.model(), machine.value(check.residual));
    let condition = model.equation_text(check.equation);
    let mut diagnostic = Diagnostic::error(
        CODE,
        format!("the initial condition `{condition}` contradicts the others: it is violated by {residual}"),
    );
    for &equation in std::iter::once(&check.equation).chain(&check.implied_by) {
        let origin = &model.equations[equation].origin;
        let kind = match origin.kind {
            OriginKind::StartValue(_) => "a fixed start value",
            OriginKind::Derivative(_) => "the derivative of a constraint",
            _ => "an equation",
        };
        // Of equal variables one stands for all, but each has a start value.
        let own = match origin.kind {
            OriginKind::StartValue(variable) => format!(" of `{}`", model.variable_name(variable)),
            _ => String::new(),
        };
        diagnostic = diagnostic.note(format!("{}, {kind}{own}", model.equation_text(equation)));
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
