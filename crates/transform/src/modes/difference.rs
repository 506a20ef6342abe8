//! Derivatives replaced by difference formulas before anything is sorted, so that a switch never changes the structure
//! (Krebs, *Modeling of Conditional Index Changes*, 1997): with the backward Euler formula every storage element behaves
//! like a resistor, and one algebraic system serves all modes. The price is the accuracy of the formula, and that
//! impulses are spread over a step.

use base::Name;
use dae::{Attributes, Causality, Memo, Model, Node, VarId, Variability, VariableType};
use rustc_hash::FxHashMap;

use crate::work::hidden;

/// What has to be set before each step.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Difference {
    /// The length of the step.
    pub step: Option<VarId>,
    /// Each variable that is differentiated, and the variable that holds its value one step before.
    pub last: Vec<(VarId, VarId)>,
}

/// Replaces every `der(x)` by `(x - last)/step`. Start values become the values before the first step.
pub fn discretise(model: &mut Model) -> Difference {
    let mut differentiated: Vec<VarId> = Vec::new();
    for id in model.exprs.ids() {
        if let Node::Der(variable) = model.exprs.node(id) {
            differentiated.push(variable);
        }
    }
    differentiated.sort_unstable();
    let root = model.paths.root();
    let path = model.paths.child(root, Name::new("step"), &[]);
    let step = model.variables.push(input(path, VariableType::Real));
    let one = model.exprs.real(1.0);
    model.variables[step].attributes = std::sync::Arc::new(Attributes { start: Some(one), ..Attributes::default() });
    let given = given_by_initial_equations(model);
    let mut quotient = FxHashMap::default();
    let mut difference = Difference { step: Some(step), last: Vec::new() };
    for (number, &variable) in differentiated.iter().enumerate() {
        let path = model.paths.child(root, Name::new("last"), &[number as u32 + 1]);
        let last = model.variables.push(input(path, VariableType::Real));
        let start = given.get(&variable).copied().or(model.variables[variable].attributes.start);
        model.variables[last].attributes = std::sync::Arc::new(Attributes { start, ..Attributes::default() });
        let exprs = &mut model.exprs;
        let (x, before, h) = (exprs.var(variable), exprs.var(last), exprs.var(step));
        let change = exprs.sub(x, before);
        quotient.insert(variable, exprs.div(change, h));
        difference.last.push((variable, last));
    }
    release(model);
    replace(model, &quotient);
    difference
}

fn input(path: dae::PathId, ty: VariableType) -> dae::Variable {
    let mut variable = hidden(path, ty);
    (variable.causality, variable.variability) = (Causality::Input, Variability::Discrete);
    variable
}

/// The values that initial equations give to variables that stand alone.
fn given_by_initial_equations(model: &Model) -> FxHashMap<VarId, dae::ExprId> {
    let alone = |equation: &dae::Equation| match model.exprs.node(equation.left) {
        Node::Var(variable) => Some((variable, equation.right)),
        _ => None,
    };
    model.initial_equations.iter().filter_map(alone).collect()
}

/// Conditions for the start are in the values before the first step now.
fn release(model: &mut Model) {
    model.initial_equations.clear();
    for variable in model.variables.values_mut() {
        let continuous = variable.variability == Variability::Continuous && variable.ty == VariableType::Real;
        if continuous && variable.attributes.fixed.is_some() {
            let attributes = Attributes { fixed: None, ..(*variable.attributes).clone() };
            variable.attributes = std::sync::Arc::new(attributes);
        }
    }
}

fn replace(model: &mut Model, quotient: &FxHashMap<VarId, dae::ExprId>) {
    let mut memo = Memo::default();
    let mut rewrite = |model: &mut Model, expr: dae::ExprId| {
        model.exprs.rewrite(&[expr], &mut memo, |exprs, _, node| match node {
            Node::Der(v) => quotient.get(&v).copied().unwrap_or_else(|| exprs.real(0.0)),
            node => exprs.make(node),
        })[0]
    };
    for index in 0..model.equations.len() {
        let eq = base::Id::from_index(index);
        let (left, right) = (model.equations[eq].left, model.equations[eq].right);
        let (left, right) = (rewrite(model, left), rewrite(model, right));
        let equation = &mut model.equations[eq];
        (equation.left, equation.right) = (left, right);
    }
    let mut actions = std::mem::take(&mut model.actions);
    for action in &mut actions {
        action.condition = action.condition.map(|condition| rewrite(model, condition));
        match &mut action.kind {
            dae::ActionKind::Reinit { value, .. } => *value = rewrite(model, *value),
            dae::ActionKind::Assert { holds, .. } => *holds = rewrite(model, *holds),
            dae::ActionKind::Call(call) => *call = rewrite(model, *call),
            dae::ActionKind::Terminate { .. } => {}
        }
    }
    model.actions = actions;
}
