//! Inputs as states whose derivatives are the inputs.
//!
//! A source that sets a stored quantity directly, such as a voltage at a capacitor, makes the derivative of the source part of the
//! solution. As a signal alone an input has none. As a state it has one, and the linear form of the model then shows
//! how all depends on the input and on its derivative.

use std::sync::Arc;

use base::{Name, Span};
use dae::{Causality, Equation, EquationRole, Model, Origin, OriginKind, StateSelect, VarId, Variability};
use dae::{Variable, VariableType};

/// Makes each continuous Real input of a model a state, which begins with its start value, and its derivative an input. Returns
/// both.
pub fn integrate_inputs(model: &mut Model) -> Vec<(VarId, VarId)> {
    let is_meant = |id: &VarId| {
        let variable = &model.variables[*id];
        variable.causality == Causality::Input
            && variable.ty == VariableType::Real
            && variable.variability == Variability::Continuous
    };
    let inputs: Vec<VarId> = model.variables.ids().filter(is_meant).collect();
    inputs.into_iter().map(|input| (input, integrate(model, input))).collect()
}

fn integrate(model: &mut Model, input: VarId) -> VarId {
    let path = model.variables[input].path;
    let rate_path = model.paths.child(path, Name::new("$rate"), &[]);
    let span: Option<Span> = model.variables[input].span;
    let rate = model.variables.push(Variable {
        causality: Causality::Input,
        prefix: Causality::Input,
        span,
        ..Variable::hidden(rate_path, VariableType::Real, Variability::Continuous)
    });
    let is_fixed = model.exprs.boolean(true);
    let variable = &mut model.variables[input];
    variable.causality = Causality::Local;
    let attributes = Arc::make_mut(&mut variable.attributes);
    attributes.state_select = StateSelect::Always;
    attributes.fixed = Some(is_fixed);
    let (left, right) = (model.exprs.der(input), model.exprs.var(rate));
    let component = model.paths.parent(path).unwrap_or(model.paths.root());
    let origin = Origin { component, span, kind: OriginKind::Auxiliary };
    model.equations.push(Equation { left, right, role: EquationRole::Plain, origin });
    rate
}
