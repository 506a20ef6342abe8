//! Index reduction without choice of states: everything that is differentiated is integrated, each equation that had to
//! be differentiated is replaced by its highest derivative, and what it said before becomes a constraint to project on.
//!
//! In an equation differentiated k times less than its offset asks, every unknown stands k orders below its highest: the
//! constraints hold states only, and their Jacobian follows from the expressions.

use base::Name;
use dae::{Equation, EquationRole, ExprId, Origin, OriginKind, PathId, VarId, VariableType};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::derivatives::{Reduced, residual};
use crate::parts::{Projection, Role, State};
use crate::work::Work;

/// Makes all lower derivatives states, and constraints of all equations below their highest derivative.
pub fn integrate_all(work: &mut Work, reduced: &Reduced) -> (Vec<State>, Option<Projection>) {
    let mut states = Vec::new();
    let (mut state_levels, mut constraint_levels) = (Vec::new(), Vec::new());
    for chain in &reduced.variables {
        for (order, pair) in chain.windows(2).enumerate() {
            work.roles[pair[0]] = Role::State { derivative: pair[1] };
            states.push(State { variable: pair[0], derivative: pair[1] });
            state_levels.push(chain.len() - 1 - order);
        }
    }
    for chain in &reduced.equations {
        work.constraints.extend_from_slice(&chain[..chain.len() - 1]);
        constraint_levels.extend((1..chain.len()).rev());
    }
    if work.constraints.is_empty() {
        return (states, None);
    }
    let constraints = FxHashSet::from_iter(work.constraints.iter().copied());
    work.active.retain(|eq| !constraints.contains(eq));
    let (residuals, jacobian) = constraint_variables(work, &states);
    (states, Some(Projection { residuals, jacobian, constraint_levels, state_levels }))
}

/// Variables for the residuals of the constraints and for their partial derivatives by the states.
fn constraint_variables(work: &mut Work, states: &[State]) -> (Vec<VarId>, Vec<(u32, u32, VarId)>) {
    let number: FxHashMap<VarId, u32> =
        states.iter().zip(0..).map(|(state, number)| (state.variable, number)).collect();
    let root = work.model.paths.root();
    let path = work.model.paths.child(root, Name::new("projection"), &[]);
    let (mut residuals, mut jacobian) = (Vec::new(), Vec::new());
    for (row, eq) in (0u32..).zip(work.constraints.clone()) {
        let value = residual(work, work.dynamic[eq]);
        let variable = add(work, path, "g", &[row + 1], value);
        residuals.push(variable);
        let mut inside = work.model.exprs.dependencies(&[value]).variables;
        inside.sort_unstable();
        for state in inside {
            if let Some(&column) = number.get(&state)
                && let Some(slope) = work.partial_derivative(value, state)
                && !work.model.exprs.is_zero(slope)
            {
                let variable = add(work, path, "J", &[row + 1, column + 1], slope);
                jacobian.push((row, column, variable));
            }
        }
    }
    (residuals, jacobian)
}

/// A variable with an equation that computes it.
fn add(work: &mut Work, path: PathId, name: &str, subscripts: &[u32], value: ExprId) -> VarId {
    let path = work.model.paths.child(path, Name::new(name), subscripts);
    let variable = work.add_variable(path, VariableType::Real, Role::Algebraic);
    let left = work.model.exprs.var(variable);
    let origin = Origin { component: work.model.paths.root(), span: None, kind: OriginKind::Auxiliary };
    let eq = work.model.equations.push(Equation { left, right: value, role: EquationRole::Plain, origin });
    work.dynamic.push((left, value));
    work.active.push(eq);
    variable
}
