//! Points at which slopes differ between the two sides: `abs(x)` at zero, `max(a, b)` where both are equal, a condition at its limit.
//!
//! Generated code takes one of the slopes. The expressions that may have a kink at the point are looked for where derivatives of
//! states or outputs depend on them. What counts is the whole: `x*abs(x)` has none. So the linear forms on the two sides are
//! compared, closer and closer to the point, with the branches that hold there.

use base::{Decimal, Diagnostic};
use dae::{Builtin, EqId, ExprId, Model, Node, VarId};
use rustc_hash::FxHashSet;
use simulate::Simulation;
use transform::Schedule;

use crate::names::list;
use crate::slopes::{expressions, needed_blocks, placed, size_of, value, varies};

/// Relative to the terms of a difference, what is left of it where it is zero.
const ROUNDING: f64 = 1e-13;
/// Smaller numbers are zero.
const SMALLEST: f64 = 1e-150;
/// Distances from the point, relative to the size of what is moved.
const DISTANCES: [f64; 2] = [1e-8, 1e-10];

/// A warning if the linear form at the point of a simulation is that of one side only.
pub(crate) fn warning(simulation: &mut Simulation, inputs: &[VarId], outputs: &[VarId]) -> Option<Diagnostic> {
    let kinks = kinks(&simulation.program().schedule, simulation, outputs);
    let (_, equation) = *kinks.first()?;
    if !has_two_slopes(simulation, inputs, outputs) {
        return None;
    }
    let model = &simulation.program().schedule.model;
    let texts: Vec<String> = kinks.iter().map(|(kink, _)| model.expression_text(*kink)).collect();
    let names = list(texts.iter().map(String::as_str));
    let time = Decimal(simulation.time());
    let message = format!(
        "the slopes on the two sides of the point differ at time {time}, by {names}: the matrices are those of one side"
    );
    let hint = "linearise at another point (`--at`), or with other start values";
    Some(placed(model, Diagnostic::warning("kink", message).hint(hint), equation).decides())
}

/// Whether a column of the linear form differs between the two sides, as close as one looks.
fn has_two_slopes(simulation: &Simulation, inputs: &[VarId], outputs: &[VarId]) -> bool {
    let columns = simulation.program().schedule.states.len() + inputs.len();
    (0..columns).any(|column| {
        let size = size_of(simulation, inputs, column);
        // A side may change discrete variables, so each has a simulation of its own.
        let side = |distance: f64| simulation.clone().linear_form_on_side(inputs, outputs, column, distance * size);
        let pair = |distance: f64| Some((side(distance)?, side(-distance)?));
        let Some((far, near)) = pair(DISTANCES[0]).zip(pair(DISTANCES[1])) else { return false };
        let gap = |(one, other): &(Vec<f64>, Vec<f64>), row: usize| (one[row] - other[row]).abs();
        (0..near.0.len()).any(|row| {
            let noise = 1e-12 + 1e-6 * near.0[row].abs().max(near.1[row].abs());
            gap(&near, row) > noise && gap(&near, row) > 0.5 * gap(&far, row)
        })
    })
}

/// The expressions that may have a kink at the point, with their equations, once each.
fn kinks(schedule: &Schedule, simulation: &Simulation, outputs: &[VarId]) -> Vec<(ExprId, Option<EqId>)> {
    let model = &schedule.model;
    let mut found = Vec::new();
    for (block, own) in schedule.blocks.iter().enumerate() {
        for (root, equation) in expressions(own) {
            let bent = bent(model, simulation, root);
            found.extend(bent.into_iter().map(|kink| (block, kink, equation)));
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let needed = needed_blocks(schedule, simulation, outputs);
    let mut seen = FxHashSet::default();
    found.retain(|(block, kink, _)| needed.contains(block) && seen.insert(*kink));
    found.into_iter().map(|(_, kink, equation)| (kink, equation)).collect()
}

/// What may have a kink at the point in an expression; branches that are not taken do not count.
fn bent(model: &Model, simulation: &Simulation, root: ExprId) -> Vec<ExprId> {
    let mut found = Vec::new();
    let mut stack = vec![root];
    let mut seen = FxHashSet::default();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        let is_bent = match model.exprs.node(id) {
            Node::If { condition, then, otherwise } => {
                stack.push(condition);
                let holds = value(model, simulation, condition).map(|value| value != 0.0);
                stack.extend(
                    [(then, true), (otherwise, false)].iter().filter(|(_, on)| holds != Some(!on)).map(|it| it.0),
                );
                continue;
            }
            Node::Compare { left, right, .. } => meet(model, simulation, left, right),
            Node::Builtin(op @ (Builtin::Abs | Builtin::SemiLinear | Builtin::Min | Builtin::Max), args) => {
                match (op, model.exprs.arguments(args)) {
                    (Builtin::Abs, &[argument]) | (Builtin::SemiLinear, &[argument, ..]) => {
                        vanishes(model, simulation, argument)
                    }
                    (_, &[one, other]) => meet(model, simulation, one, other),
                    _ => false,
                }
            }
            _ => false,
        };
        if is_bent {
            found.push(id);
        }
        model.exprs.for_each_child(id, |child| stack.push(child));
    }
    found
}

/// Whether two expressions are equal, and not by parameters alone.
fn meet(model: &Model, simulation: &Simulation, one: ExprId, other: ExprId) -> bool {
    let equal = |one: f64, other: f64| (one - other).abs() <= ROUNDING * one.abs().max(other.abs()) + SMALLEST;
    varies(model, &[one, other])
        && value(model, simulation, one).zip(value(model, simulation, other)).is_some_and(|(a, b)| equal(a, b))
}

fn vanishes(model: &Model, simulation: &Simulation, id: ExprId) -> bool {
    match model.exprs.node(id) {
        Node::Sub(one, other) => meet(model, simulation, one, other),
        _ => varies(model, &[id]) && value(model, simulation, id).is_some_and(|value| value.abs() <= SMALLEST),
    }
}
