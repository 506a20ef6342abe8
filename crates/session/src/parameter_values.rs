//! The values of parameters as far as their bindings give them, for views of models that need not be able to run.

use dae::{ExprId, Model, Node, Value, VarId, Variability};
use rustc_hash::FxHashMap;

use crate::affine::number_of;

/// The values that follow from bindings and start values. What initial equations determine, or external functions, is left out.
pub(crate) fn bound_values(model: &Model) -> FxHashMap<VarId, f64> {
    let mut values: FxHashMap<VarId, f64> = FxHashMap::default();
    let mut open: Vec<(VarId, ExprId)> = model.variables.ids().filter_map(|id| Some((id, given(model, id)?))).collect();
    // A round gives all values that need those of the rounds before; a cycle is left.
    loop {
        let before = open.len();
        open.retain(|&(variable, expression)| match number(model, expression, &values) {
            Some(number) => {
                values.insert(variable, number);
                false
            }
            None => true,
        });
        if open.len() == before {
            return values;
        }
    }
}

/// The expression that gives a parameter its value.
fn given(model: &Model, id: VarId) -> Option<ExprId> {
    let declared = &model.variables[id];
    let is_fixed = match declared.attributes.fixed.map(|fixed| model.exprs.node(fixed)) {
        None | Some(Node::Boolean(true)) => true,
        Some(_) => false,
    };
    let is_set = matches!(declared.variability, Variability::Parameter | Variability::Constant) && is_fixed;
    is_set.then(|| declared.binding.or(declared.attributes.start)).flatten()
}

fn number(model: &Model, expression: ExprId, values: &FxHashMap<VarId, f64>) -> Option<f64> {
    let mut externals = dae::NoExternals;
    let mut evaluator = dae::Evaluator::new(&model.functions, &mut externals);
    let mut lookup = |node: Node| match node {
        Node::Var(variable) => values.get(&variable).map(|&value| number_of(model, variable, value)),
        _ => None,
    };
    match evaluator.expression(&model.exprs, expression, &mut lookup).ok()? {
        Value::Boolean(value) => Some(f64::from(u8::from(value))),
        other => other.as_real(),
    }
    .filter(|value| value.is_finite())
}
