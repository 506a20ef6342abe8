//! Differentiated variables that are not integrated. Constraints determine them from the states, so that nothing but their
//! equations keeps them from jumping at an event; the run compares them with their left limits.

use dae::{Builtin, Model, Node, VarId};
use rustc_hash::FxHashSet;

use crate::parts::{Block, Role, Timing};
use crate::schedule::Schedule;

/// The variables under `der` in a flat model, where the model makes events at all.
pub fn differentiated(model: &Model) -> Vec<VarId> {
    let exprs = &model.exprs;
    if !exprs.ids().any(|id| makes_events(exprs.node(id))) {
        return Vec::new();
    }
    let differentiated = |id| if let Node::Der(variable) = exprs.node(id) { Some(variable) } else { None };
    exprs.ids().filter_map(differentiated).collect()
}

fn makes_events(node: Node) -> bool {
    use Builtin::{CeilEvent, DivEvent, FloorEvent, ModEvent, RemEvent, Sample};
    match node {
        Node::Compare { event, .. } => event,
        Node::Builtin(op, _) => matches!(op, FloorEvent | CeilEvent | DivEvent | ModEvent | RemEvent | Sample),
        _ => false,
    }
}

/// Of these variables, those that blocks compute and whose derivatives reach those of the states. States keep their values,
/// whatever happens to the equations; and where a signal that jumps is differentiated for a result alone, its impulse
/// changes nothing.
pub fn computed(schedule: &Schedule, differentiated: &[VarId]) -> Vec<VarId> {
    let stands_for = |variable: VarId| {
        let mut variable = variable;
        for _ in 0..schedule.roles.len() {
            let Role::Alias { of, .. } = schedule.roles[variable] else { break };
            variable = of;
        }
        variable
    };
    let mut found: Vec<VarId> = differentiated.iter().map(|&variable| stands_for(variable)).collect();
    found.sort_unstable();
    found.dedup();
    found.retain(|&variable| matches!(schedule.roles[variable], Role::Algebraic | Role::Discrete));
    if found.is_empty() {
        return found;
    }
    let results: FxHashSet<VarId> = schedule.blocks.iter().flat_map(results_of).copied().collect();
    let derivatives = schedule.model.variables.iter().filter_map(|(id, declared)| Some((declared.derivative_of?, id)));
    let idle: FxHashSet<VarId> = derivatives
        .filter(|&(_, derivative)| results.contains(&stands_for(derivative)))
        .map(|(variable, _)| stands_for(variable))
        .collect();
    found.retain(|variable| !idle.contains(variable));
    found
}

/// What a block computes, if nothing but results depends on it.
fn results_of(block: &Block) -> &[VarId] {
    match block {
        Block::Assign { assignment, timing: Timing::Output } => std::slice::from_ref(&assignment.variable),
        Block::System { system, timing: Timing::Output } => &system.unknowns,
        _ => &[],
    }
}
