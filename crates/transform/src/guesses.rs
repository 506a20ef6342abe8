//! Start values that follow from others.
//!
//! The search for the first point begins with start values. A model often gives those of some variables only, such as pressure and
//! temperature, while the unknowns that a tearing guesses are others, such as the density, whose start value is the default of its
//! type or none at all. Such a guess contradicts what the model says, and may lead to another solution or to none. What the
//! model says is meant (specification 8.6.2): an equation that gives an unknown without start value of its own from variables
//! that have one gives its guess, too.

use std::sync::Arc;

use dae::{EqId, ExprId, Memo, VarId};
use rustc_hash::FxHashMap;

use crate::attributes::has_start_of_type;
use crate::blocks::solve;
use crate::parts::Sides;
use crate::work::Work;

/// An equation of a system, and the unknowns of the problem that it holds.
pub struct Row {
    pub equation: EqId,
    pub sides: Sides,
    pub unknowns: Vec<VarId>,
}

/// Guesses may follow from others that follow.
const PASSES: usize = 4;

/// Gives the unknowns in `iteration` start values that follow from those of other variables, where they have none of their own.
pub fn complete(work: &mut Work, rows: &[Row], iteration: &[VarId]) {
    let is_poor =
        |work: &Work, v: VarId| work.model.variables[v].attributes.start.is_none() || has_start_of_type(work, v);
    if !iteration.iter().any(|&v| is_poor(work, v)) {
        return;
    }
    let mut followed: FxHashMap<VarId, ExprId> = FxHashMap::default();
    for _ in 0..PASSES {
        let before = followed.len();
        for row in rows {
            let mut poor = row.unknowns.iter().filter(|&&v| !followed.contains_key(&v) && is_poor(work, v));
            let (Some(&variable), None) = (poor.next(), poor.next()) else { continue };
            if let Some(value) = guess(work, row, variable, &followed) {
                followed.insert(variable, value);
            }
        }
        if followed.len() == before {
            break;
        }
    }
    for &variable in iteration {
        if let Some(&value) = followed.get(&variable) {
            Arc::make_mut(&mut work.model.variables[variable].attributes).start = Some(value);
        }
    }
}

/// The value that a row gives to a variable for the start values of the others, as an expression of parameters.
fn guess(work: &mut Work, row: &Row, variable: VarId, followed: &FxHashMap<VarId, ExprId>) -> Option<ExprId> {
    let value = solve(work, row.equation, row.sides, variable)?;
    let found = work.model.exprs.dependencies(&[value]);
    if found.time || found.calls || !(found.derivatives.is_empty() && found.pre.is_empty() && found.previous.is_empty())
    {
        return None;
    }
    let mut starts: FxHashMap<VarId, ExprId> = FxHashMap::default();
    for read in found.variables {
        if work.is_parameter(read) {
            continue;
        }
        let declared = &work.model.variables[read].attributes;
        let own = declared.start.filter(|_| !has_start_of_type(work, read));
        starts.insert(read, followed.get(&read).copied().or(own)?);
    }
    let start = work.model.exprs.substitute(&[value], &mut Memo::default(), |v| starts.get(&v).copied())[0];
    let number = work.evaluate(start).filter(|number| number.is_finite())?;
    let attributes = work.model.variables[variable].attributes.clone();
    let mut limit = |limit: Option<ExprId>| limit.and_then(|limit| work.evaluate(limit));
    let (min, max) = (limit(attributes.min), limit(attributes.max));
    let is_within = min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max);
    is_within.then_some(start)
}
