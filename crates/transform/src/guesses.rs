//! Start values that follow from others.
//!
//! The search for the first point begins with start values. A model often gives those of some variables only, such as pressure and
//! temperature, while the unknowns that a tearing guesses are others, such as the density or a temperature on another scale, whose start
//! value is the default of its type or none at all. Such a guess contradicts what the model says, and may lead to another
//! solution or to none. What the model says is meant (specification 8.6.2): an equation that gives an unknown without start
//! value of its own from variables that have one gives its guess, too; so do several, one after the other.

use std::sync::Arc;

use dae::{ExprId, Memo, VarId};
use rustc_hash::FxHashMap;

use crate::attributes::{confidence, has_start_of_type};
use crate::blocks::solve;
use crate::parts::Assignment;
use crate::structure::{Incidence, NONE};
use crate::system::System;
use crate::work::Work;

/// So many equations lie between an unknown and start values of the model at most.
const FARTHEST: u32 = 3;
/// Equations that are looked at for one unknown, and unknowns that one of them holds.
const MOST_ROWS: u32 = 60;
const MOST_UNKNOWNS: usize = 8;
/// Relative to a start value, how far from it the search may begin.
const FAR: f64 = 0.1;

/// The guesses of an initial problem.
pub struct Guesses<'a> {
    system: &'a System,
    rows_of: Option<Incidence>,
    found: FxHashMap<VarId, ExprId>,
    /// Unknowns whose guesses are being looked for, each for the sake of the one before it.
    open: Vec<VarId>,
    /// Equations that may still be looked at for the first of them.
    left: u32,
}

impl<'a> Guesses<'a> {
    pub fn new(system: &'a System) -> Self {
        Self { system, rows_of: None, found: FxHashMap::default(), open: Vec::new(), left: 0 }
    }

    /// Gives the unknowns that are guessed start values that follow from those of other variables, where they have none of their own.
    pub fn complete(&mut self, work: &mut Work, iteration: &[VarId]) {
        for &variable in iteration {
            if own_start(work, variable).is_some() {
                continue;
            }
            if let Some(start) = self.nearest(work, variable) {
                Arc::make_mut(&mut work.model.variables[variable].attributes).start = Some(start);
            }
        }
    }

    /// Whether what follows from the guesses is far from the start values that the model gives for it. The search would
    /// begin there, wherever that is: small pivots lead far away.
    pub fn contradict(&mut self, work: &mut Work, iteration: &[VarId], inner: &[Assignment]) -> bool {
        let mut values: FxHashMap<VarId, ExprId> = FxHashMap::default();
        let own = iteration.iter().filter(|&&variable| own_start(work, variable).is_some());
        let least = own.map(|&variable| confidence(work, variable)).max();
        for &variable in iteration {
            let found = self.nearest(work, variable);
            let declared = work.model.variables[variable].attributes.start;
            let start = found.or(declared).unwrap_or_else(|| work.model.exprs.real(0.0));
            values.insert(variable, start);
        }
        for assignment in inner {
            for read in work.model.exprs.dependencies(&[assignment.value]).variables {
                if !work.is_parameter(read) && !values.contains_key(&read) {
                    let Some(start) = own_start(work, read) else { return false };
                    values.insert(read, start);
                }
            }
            let memo = &mut Memo::default();
            let value = work.model.exprs.substitute(&[assignment.value], memo, |v| values.get(&v).copied())[0];
            let Some(number) = work.evaluate(value) else { return false };
            let start = own_start(work, assignment.variable).and_then(|start| work.evaluate(start));
            // Zero is written where nobody knows better, and what was set further up counts more.
            let is_trusted = least.is_none_or(|least| confidence(work, assignment.variable) <= least);
            if is_trusted
                && start.is_some_and(|start| {
                    start != 0.0 && (number.is_nan() || (number - start).abs() > FAR * start.abs())
                })
            {
                return true;
            }
            let number = work.model.exprs.real(number);
            values.insert(assignment.variable, number);
        }
        false
    }

    /// The guess that the fewest equations lead to.
    fn nearest(&mut self, work: &mut Work, variable: VarId) -> Option<ExprId> {
        self.left = MOST_ROWS;
        (0..=FARTHEST).find_map(|reach| self.guess(work, variable, reach))
    }

    /// A start value, as an expression of parameters: its own one or what equations give.
    fn guess(&mut self, work: &mut Work, variable: VarId, reach: u32) -> Option<ExprId> {
        let known = own_start(work, variable).or_else(|| self.found.get(&variable).copied());
        if known.is_some() || reach == 0 || self.open.contains(&variable) {
            return known;
        }
        let column = self.system.column_of.get(variable).copied().filter(|&column| column != NONE)?;
        let rows = self.rows_of.get_or_insert_with(|| self.system.depends.transpose()).row(column as usize).to_vec();
        self.open.push(variable);
        let found = rows.into_iter().find_map(|row| self.follow(work, row as usize, variable, reach - 1));
        self.open.pop();
        self.found.extend(found.map(|found| (variable, found)));
        found
    }

    /// The value that a row gives to a variable for the start values of the others.
    fn follow(&mut self, work: &mut Work, row: usize, variable: VarId, reach: u32) -> Option<ExprId> {
        let columns = self.system.depends.row(row);
        self.left = self.left.checked_sub(1)?;
        if columns.len() > MOST_UNKNOWNS {
            return None;
        }
        let mut starts = FxHashMap::default();
        for column in columns {
            let other = self.system.columns[*column as usize];
            if other != variable {
                starts.insert(other, self.guess(work, other, reach)?);
            }
        }
        let value = solve(work, self.system.rows[row], self.system.sides[row], variable)?;
        let read = work.model.exprs.dependencies(&[value]);
        let is_of_values = read.derivatives.is_empty() && read.pre.is_empty() && read.previous.is_empty();
        if read.time || read.calls || !is_of_values {
            return None;
        }
        for other in read.variables {
            if !starts.contains_key(&other) && !work.is_parameter(other) {
                starts.insert(other, own_start(work, other)?);
            }
        }
        let start = work.model.exprs.substitute(&[value], &mut Memo::default(), |v| starts.get(&v).copied())[0];
        is_possible(work, variable, start).then_some(start)
    }
}

/// The start value that the model gives, not only the type.
fn own_start(work: &Work, variable: VarId) -> Option<ExprId> {
    work.model.variables[variable].attributes.start.filter(|_| !has_start_of_type(work, variable))
}

/// Whether a start value is a number that the variable may have.
fn is_possible(work: &mut Work, variable: VarId, start: ExprId) -> bool {
    let Some(number) = work.evaluate(start).filter(|number| number.is_finite()) else { return false };
    let attributes = work.model.variables[variable].attributes.clone();
    let mut limit = |limit: Option<ExprId>| limit.and_then(|limit| work.evaluate(limit));
    let (min, max) = (limit(attributes.min), limit(attributes.max));
    min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
}
