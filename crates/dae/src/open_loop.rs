//! Opens a model at a variable: the variable becomes an input, and what determined it does so no longer.
//!
//! Of a signal that `connect` brings to a variable, only that connection is cut; the other members of the connection set stay
//! joined. So with the input of a plant as input and the output of its controller as output the open loop is analysed.

use base::{Diagnostic, Id as _, IdVec};

use crate::model::{Causality, EqId, Equation, EquationRole, OriginKind, VarId, Variability, VariableType};
use crate::{Model, Node};

/// Makes a variable an input. A variable that is an input already stays as it is.
pub fn open_at(model: &mut Model, variable: VarId) -> Result<(), Diagnostic> {
    let declared = &model.variables[variable];
    let is_continuous = declared.ty == VariableType::Real && declared.variability == Variability::Continuous;
    if !is_continuous {
        let message = format!("`{}` cannot be an input: it is no continuous Real", model.variable_name(variable));
        return Err(Diagnostic::error("cannot-open", message));
    }
    if let Some((equation, other)) = cut(model, variable) {
        remove(model, equation);
        if let Some(other) = other {
            reconnect(model, variable, other);
        }
        model.variables[variable].causality = Causality::Input;
        return Ok(());
    }
    if model.variables[variable].causality == Causality::Input {
        return Ok(());
    }
    let name = model.variable_name(variable);
    Err(Diagnostic::error(
        "cannot-open",
        format!("the model cannot be opened at `{name}`: no equation determines it alone"),
    )
    .hint("name the input of a component, or a variable that is declared with its value or equal to an expression"))
}

/// The equation that gives the variable its value, and the other end where it is a connection.
fn cut(model: &Model, variable: VarId) -> Option<(EqId, Option<VarId>)> {
    let own = model.exprs.find(Node::Var(variable))?;
    // What is given in the equation of a source stands in balances too, perhaps alone on a side; those are no source.
    let is_given = |equation: &Equation| {
        let other = if equation.left == own { equation.right } else { equation.left };
        let needed = model.exprs.dependencies(&[other]);
        let is_fixed = |id: &VarId| model.variables[*id].variability <= Variability::Parameter;
        needed.derivatives.is_empty() && needed.variables.iter().all(is_fixed)
    };
    let rank = |equation: &Equation| match equation.origin.kind {
        OriginKind::Potential => 0,
        OriginKind::Binding => 1,
        _ if is_given(equation) => 2,
        _ => 3,
    };
    let determines =
        |equation: &Equation| equation.role == EquationRole::Plain && (equation.left == own || equation.right == own);
    let candidates = model.equations.iter().filter(|(_, equation)| determines(equation));
    let (id, equation) = candidates.min_by_key(|(id, equation)| (rank(equation), id.index()))?;
    let other = if equation.left == own { equation.right } else { equation.left };
    let other = match (&equation.origin.kind, model.exprs.node(other)) {
        (OriginKind::Potential, Node::Var(other)) => Some(other),
        _ => None,
    };
    Some((id, other))
}

fn remove(model: &mut Model, equation: EqId) {
    let known = std::mem::take(&mut model.equations).into_vec();
    let mut kept = IdVec::with_capacity(known.len());
    for (index, known) in known.into_iter().enumerate() {
        if index != equation.index() {
            kept.push(known);
        }
    }
    model.equations = kept;
}

/// The members of a connection set that were joined by way of a variable are joined by another one.
fn reconnect(model: &mut Model, variable: VarId, other: VarId) {
    let (own, other) = (model.exprs.make(Node::Var(variable)), model.exprs.make(Node::Var(other)));
    for equation in model.equations.values_mut().filter(|equation| equation.origin.kind == OriginKind::Potential) {
        for side in [&mut equation.left, &mut equation.right] {
            if *side == own {
                *side = other;
            }
        }
    }
}
