//! External objects that connections and equations hand from one component to another. An object is made once (specification
//! 12.9.7), where a declaration calls its constructor; all variables that are equal to that one have its handle.

use base::{Diagnostic, Span};
use dae::{ExprId, Model, Node, VarId, VariableType};
use rustc_hash::FxHashMap;

use crate::elaborate::Elaborator;

/// The two variables of an equation that says that objects are the same.
pub fn pair(model: &Model, left: ExprId, right: ExprId) -> Option<(VarId, VarId)> {
    let object = |side| match model.exprs.node(side) {
        Node::Var(variable) if model.variables[variable].ty == VariableType::Object => Some(variable),
        _ => None,
    };
    object(left).zip(object(right))
}

/// Gives every variable of an object the object that it is equal to.
pub fn hand_over(elaborator: &mut Elaborator) {
    let pairs = std::mem::take(&mut elaborator.connected.equal_objects);
    let mut equal: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
    for &(one, other, _) in &pairs {
        equal.entry(one).or_default().push(other);
        equal.entry(other).or_default().push(one);
    }
    let variables = &elaborator.flat.model.variables;
    let made = |&variable: &VarId| variables[variable].binding.is_some();
    let mut open: Vec<VarId> = pairs.iter().flat_map(|&(one, other, _)| [one, other]).filter(made).collect();
    let mut source: FxHashMap<VarId, VarId> = open.iter().map(|&variable| (variable, variable)).collect();
    while let Some(variable) = open.pop() {
        let object = source[&variable];
        for &other in equal.get(&variable).into_iter().flatten() {
            if source.contains_key(&other) {
                continue;
            }
            source.insert(other, object);
            let model = &mut elaborator.flat.model;
            model.variables[other].binding = Some(model.exprs.var(object));
            open.push(other);
        }
    }
    for (one, other, span) in pairs {
        if let (Some(&first), Some(&second)) = (source.get(&one), source.get(&other))
            && first != second
        {
            refuse(elaborator, first, second, span);
        }
    }
}

fn refuse(elaborator: &mut Elaborator, one: VarId, other: VarId, span: Span) {
    let model = &elaborator.flat.model;
    let message =
        format!("the objects `{}` and `{}` are set equal", model.variable_name(one), model.variable_name(other));
    let diagnostic = Diagnostic::error("equal-objects", message)
        .at(span, "both are made by a constructor")
        .hint("make one of them, and hand it over")
        .specification("12.9.7");
    elaborator.instances.report(Box::new(diagnostic));
}
