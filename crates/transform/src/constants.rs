//! Variables that follow from parameters alone become parameters themselves, before anything is differentiated or torn:
//! an equation with one unknown and otherwise parameters gives it, and may leave another equation with one unknown. Where such a
//! parameter is zero, what it multiplies vanishes.

use base::Id;
use dae::{Builtin, EqId, Equation, EquationRole, Node, VarId};
use rustc_hash::FxHashSet;

use crate::blocks::solve;
use crate::inverses;
use crate::occurrences::{Leaf, Scanner};
use crate::parts::{Assignment, Role};
use crate::structure::{Incidence, IncidenceBuilder};
use crate::system::is_discrete_equation;
use crate::vanishing;
use crate::work::Work;

pub fn propagate(work: &mut Work) {
    let unknowns = collect(work);
    let by_variable = unknowns.transpose();
    let mut open: Vec<u32> = (0..unknowns.rows()).map(|row| unknowns.row(row).len() as u32).collect();
    let mut ready: Vec<usize> =
        (0..open.len()).rev().filter(|&row| open[row] == 1 && is_candidate(work, row)).collect();
    let mut known: FxHashSet<VarId> = FxHashSet::default();
    let mut used: FxHashSet<EqId> = FxHashSet::default();
    let mut numbers = inverses::Known::new(work);
    while let Some(row) = ready.pop() {
        let eq = work.active[row];
        let unknown =
            unknowns.row(row).iter().map(|&index| VarId::from_index(index as usize)).find(|v| !known.contains(v));
        let Some(variable) = unknown else { continue };
        if work.is_discrete(variable) {
            continue;
        }
        let sides = work.dynamic[eq];
        let Some(value) = solve(work, eq, sides, variable) else { continue };
        // By Newton's method then, with the other equations.
        if !numbers.accept(work, sides, variable, value) {
            continue;
        }
        known.insert(variable);
        used.insert(eq);
        work.roles[variable] = Role::Parameter;
        work.model.variables[variable].binding = Some(value);
        if work.model.exprs.is_literal(value) {
            work.values[variable] = Some(value);
        }
        work.parameters.assignments.push(Assignment { variable, value, equation: Some(eq) });
        for &other in by_variable.row(variable.index()) {
            open[other as usize] -= 1;
            if open[other as usize] == 1 && is_candidate(work, other as usize) {
                ready.push(other as usize);
            }
        }
    }
    work.active.retain(|eq| !used.contains(eq));
    // Values of expressions with these variables are known better now.
    work.value_memo.clear();
    if !used.is_empty() {
        vanishing::fold(work);
    }
}

fn is_candidate(work: &Work, row: usize) -> bool {
    let eq = work.active[row];
    let (left, right) = work.dynamic[eq];
    matches!(work.model.equations[eq].role, EquationRole::Plain)
        && !is_discrete_equation(work, left, right)
        && work.is_steady(eq)
        && !begins_otherwise(work, eq)
}

/// Whether the equation gives something else during initialisation.
pub(crate) fn begins_otherwise(work: &Work, eq: EqId) -> bool {
    let Equation { left, right, .. } = work.model.equations[eq];
    let is_initial = |node: Node| matches!(node, Node::Builtin(Builtin::Initial, _));
    (left, right) != work.dynamic[eq] && [left, right].iter().any(|&side| work.model.exprs.any(side, is_initial))
}

/// The unknowns in each active equation; none for those with anything else that may change during the run.
fn collect(work: &Work) -> Incidence {
    let mut scanner = Scanner::default();
    let mut builder = IncidenceBuilder::with_capacity(work.active.len(), 3 * work.active.len());
    let mut row = Vec::new();
    for &eq in &work.active {
        row.clear();
        let mut changes = false;
        let (left, right) = work.dynamic[eq];
        scanner.scan(&work.model.exprs, &[left, right], |leaf, _| match leaf {
            Leaf::Variable(v) if work.is_unknown(v) => row.push(v.index() as u32),
            Leaf::Variable(v) => changes |= !work.is_parameter(v) || work.parameters.free[v],
            Leaf::Derivative(_) | Leaf::Pre(_) | Leaf::Time | Leaf::Instant => changes = true,
        });
        if changes {
            row.clear();
        }
        builder.push_row(row.iter().copied());
    }
    builder.finish(work.model.variables.len())
}
