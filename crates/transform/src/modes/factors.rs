//! Switches written with numbers: `0 = open*i + (1 - open)*u`, where `open` is 1 or 0 (Elmqvist, Cellier and Otter 1993;
//! Krebs 1997).
//!
//! A variable that takes constants by conditions, `open = if c then 1 else 0`, is replaced by that alternative where it
//! multiplies unknowns and is zero in one of its branches. Then the conditions show.

use dae::{Equation, EquationRole, ExprId, Exprs, Memo, Model, Node, VarId, Variability, VariableType};
use rustc_hash::FxHashMap;

pub fn write_out(model: &mut Model) {
    let factors = switching_factors(model);
    if factors.is_empty() {
        return;
    }
    for index in 0..model.equations.len() {
        let eq = base::Id::from_index(index);
        let Equation { left, right, role, .. } = &model.equations[eq];
        let (left, right) = (*left, *right);
        if !matches!(role, EquationRole::Plain) || !multiplies(model, &[left, right], &factors) {
            continue;
        }
        let new = model.exprs.substitute(&[left, right], &mut Memo::default(), |v| factors.get(&v).copied());
        let equation = &mut model.equations[eq];
        (equation.left, equation.right) = (new[0], new[1]);
    }
}

/// Variables that are alternatives of numbers, one of them a number that makes a factor vanish.
fn switching_factors(model: &Model) -> FxHashMap<VarId, ExprId> {
    let mut factors = FxHashMap::default();
    for equation in model.equations.values() {
        let sides = [(equation.left, equation.right), (equation.right, equation.left)];
        for (own, other) in sides {
            if let (Node::Var(variable), Node::If { .. }) = (model.exprs.node(own), model.exprs.node(other))
                && matches!(equation.role, EquationRole::Plain)
                && matches!(model.variables[variable].ty, VariableType::Real | VariableType::Integer)
                && model.variables[variable].variability > Variability::Parameter
                // What is differentiated jumps with an impulse, so that its values on the way matter.
                && model.exprs.find(Node::Der(variable)).is_none()
                && chooses_zero(&model.exprs, other)
            {
                factors.insert(variable, other);
            }
        }
    }
    factors
}

/// Whether all branches are numbers, and zero or one is among them.
fn chooses_zero(exprs: &Exprs, expr: ExprId) -> bool {
    let mut stack = vec![expr];
    let mut switches = false;
    while let Some(id) = stack.pop() {
        match exprs.node(id) {
            Node::If { then, otherwise, .. } => stack.extend([then, otherwise]),
            Node::Real(value) => switches |= value == 0.0 || value == 1.0,
            Node::Integer(value) => switches |= value == 0 || value == 1,
            _ => return false,
        }
    }
    switches
}

/// Whether one of the factors stands in a product.
fn multiplies(model: &Model, roots: &[ExprId], factors: &FxHashMap<VarId, ExprId>) -> bool {
    let exprs = &model.exprs;
    let holds = |id: ExprId| exprs.any(id, |node| matches!(node, Node::Var(v) if factors.contains_key(&v)));
    let unknown = |id: ExprId| {
        exprs.any(id, |node| {
            matches!(node, Node::Var(v) | Node::Der(v) if !factors.contains_key(&v)
            && model.variables[v].variability > Variability::Parameter)
        })
    };
    exprs.postorder(roots).into_iter().any(|id| match exprs.node(id) {
        Node::Mul(a, b) => holds(a) && unknown(b) || holds(b) && unknown(a),
        _ => false,
    })
}
