//! Dependencies that incidence cannot see: equations whose highest derivatives have constant factors, such that a
//! combination of them does not contain those unknowns at all.
//!
//! `0 = y1 + y2 + 2*x1` and `0 = y1 + y2 + x1 + 2*x2` can be matched with y1 and y2, but their difference `0 = x1 - 2*x2` is
//! a constraint. Pantelides' algorithm misses it, so such equations are replaced by their combination before the
//! offsets are believed. Only equations that are solved simultaneously can hide one, and what they are solved for has to
//! cancel; what other equations determine may stay. `c1.i + c2.i = r1.i` and `c1.i + c2.i = r2.i` with the currents of
//! capacitors in parallel say `r1.i = r2.i`, wherever the currents of the resistors come from. Equations that are
//! differentiated take part as often differentiated as the offsets say, and the one that is differentiated least is the
//! one replaced. Every replacement lowers the degrees of freedom that the structure promises, so this comes to an end.

use std::sync::Arc;

use dae::{EqId, Equation, EquationRole, ExprId, Exprs, Memo, Node, Origin, OriginKind, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cache::GroupKey;
use crate::decisions::{Row, Subject};
use crate::derivatives::at_order;
use crate::structure::elimination::{Terms, dependencies};
use crate::structure::offsets::Offsets;
use crate::structure::{Incidence, strong_components};
use crate::system::System;
use crate::work::Work;

/// Relative size below which a sum is a rounding error.
const ROUNDING: f64 = 1e-12;

/// Replaces equations that hide a constraint; false if there are none. `chains` are the equations with their derivatives.
pub fn reveal(work: &mut Work, system: &System, offsets: &Offsets, chains: &[Vec<EqId>]) -> bool {
    let mut found = false;
    for group in strong_components(&offsets.tight, &offsets.matching).iter().filter(|group| group.len() > 1) {
        let own = group.iter().map(|&row| offsets.matching.column_of_row[row as usize]).collect();
        let leading = Leading { system, offsets, chains, own };
        let key = work.modes.cache.is_some().then(|| leading.key(work, group));
        if let (Some(cache), Some(key)) = (&work.modes.cache, &key)
            && cache.without_hidden_constraints.contains(key)
        {
            continue;
        }
        let mut rows = Vec::new();
        let mut factors = Vec::new();
        let mut expressions: Vec<Row> = Vec::new();
        for &row in group {
            if let Some((terms, entries)) = leading.row(work, &offsets.tight, row) {
                rows.push(row);
                factors.push(terms);
                expressions.push(entries);
            }
        }
        let combinations = dependencies(&factors);
        if combinations.is_empty() {
            work.note_independent(expressions, Subject::Constraints);
        } else {
            let entries: Vec<ExprId> = expressions.iter().flatten().map(|&(_, entry)| entry).collect();
            work.note_values(&entries, Subject::Constraints, None);
        }
        if let (Some(cache), Some(key), true) = (&mut work.modes.cache, key, combinations.is_empty()) {
            cache.without_hidden_constraints.insert(key);
        }
        let mut replaced: Vec<(u32, Terms)> = Vec::new();
        for combination in combinations {
            let combination: Terms =
                combination.into_iter().map(|(place, factor)| (rows[place as usize], factor)).collect();
            if let Some((row, combination)) = leading.replace(work, without_replaced(combination, &replaced)) {
                replaced.push((row, combination));
                found = true;
            }
        }
    }
    found
}

/// The combination without rows that have been replaced: each by the others of the combination it was replaced by.
fn without_replaced(combination: Terms, replaced: &[(u32, Terms)]) -> Terms {
    let mut left: FxHashMap<u32, f64> = combination.into_iter().collect();
    for (row, others) in replaced {
        let own = others.iter().find(|(other, _)| other == row).map_or(1.0, |(_, factor)| *factor);
        let Some(factor) = left.remove(row).map(|factor| factor / own) else { continue };
        for (other, value) in others.iter().filter(|(other, _)| other != row) {
            let sum = left.entry(*other).or_default();
            let size = sum.abs().max((factor * value).abs());
            *sum -= factor * value;
            if sum.abs() <= ROUNDING * size {
                left.remove(other);
            }
        }
    }
    let mut left: Terms = left.into_iter().collect();
    left.sort_unstable_by_key(|(row, _)| *row);
    left
}

struct Leading<'a> {
    system: &'a System,
    offsets: &'a Offsets,
    chains: &'a [Vec<EqId>],
    /// The columns that have to cancel.
    own: FxHashSet<u32>,
}

impl Leading<'_> {
    fn has(&self, column: u32) -> bool {
        self.own.contains(&column)
    }

    /// What the factors of a group are found from.
    fn key(&self, work: &Work, group: &[u32]) -> GroupKey {
        let (mut sides, mut leading) = (Vec::with_capacity(group.len()), Vec::new());
        for &row in group {
            sides.push((self.system.sides[row as usize], leading.len() as u32));
            for &column in self.offsets.tight.row(row as usize).iter().filter(|&&column| self.has(column)) {
                let order = self.offsets.variables[column as usize].checked_sub(self.offsets.equations[row as usize]);
                leading.extend(order.and_then(|order| at_order(work, self.system.columns[column as usize], order)));
            }
        }
        (sides, leading)
    }

    /// The highest derivative of a column in equations that are differentiated so often.
    fn leaf(&self, work: &mut Work, column: u32, differentiated: u32) -> Option<ExprId> {
        let order = self.offsets.variables[column as usize].checked_sub(differentiated)?;
        let variable = at_order(work, self.system.columns[column as usize], order)?;
        Some(work.model.exprs.var(variable))
    }

    /// The factors of the leading unknowns, as numbers and as they are written; `None` unless all are constant.
    fn row(&self, work: &mut Work, tight: &Incidence, row: u32) -> Option<(Terms, Row)> {
        let (left, right) = self.system.sides[row as usize];
        let mut residual = work.model.exprs.sub(left, right);
        let (mut terms, mut entries) = (Terms::new(), Row::new());
        for &column in tight.row(row as usize).iter().filter(|&&column| self.has(column)) {
            let leaf = self.leaf(work, column, self.offsets.equations[row as usize])?;
            let (factor, rest) = work.linear_coefficient(residual, leaf)?;
            entries.push((column, factor));
            // What depends for the values of parameters does depend, as long as they are not changed.
            let factor = work.evaluate(factor).filter(|factor| factor.is_finite())?;
            terms.extend((factor != 0.0).then_some((column, factor)));
            residual = rest;
        }
        Some((terms, entries))
    }

    /// The equation of the combination that is differentiated least becomes the combination, in which the leading unknowns
    /// cancel. Gives its row, and the combination.
    fn replace(&self, work: &mut Work, combination: Terms) -> Option<(u32, Terms)> {
        let times = |row: u32| self.offsets.equations[row as usize];
        let (last, _) = *combination.iter().min_by_key(|(row, _)| (times(*row), std::cmp::Reverse(*row)))?;
        let least = times(last);
        let mut members = Vec::new();
        for &(row, factor) in &combination {
            let equation = *self.chains[row as usize].get((times(row) - least) as usize)?;
            let columns = self.system.matchable.row(row as usize).iter().filter(|&&column| self.has(column));
            let leaves: FxHashSet<ExprId> = columns.filter_map(|&column| self.leaf(work, column, least)).collect();
            members.push(Member { equation, factor, leaves });
        }
        let dynamic = sum(work, &members, |work, eq| work.dynamic[eq]);
        let initial = sum(work, &members, |work, eq| (work.model.equations[eq].left, work.model.equations[eq].right));
        let replaced = self.system.rows[last as usize];
        let Origin { component, span, .. } = work.model.equations[replaced].origin.clone();
        let sources: Arc<[EqId]> = members.iter().map(|member| member.equation).collect();
        let origin = Origin { component, span, kind: OriginKind::Combined(sources) };
        let equation = Equation { left: initial.0, right: initial.1, role: EquationRole::Plain, origin };
        let eq = work.model.equations.push(equation);
        work.dynamic.push(dynamic);
        for active in &mut work.active {
            if *active == replaced {
                *active = eq;
            }
        }
        Some((last, combination))
    }
}

/// An equation in a combination, and the unknowns in it that cancel.
struct Member {
    equation: EqId,
    factor: f64,
    leaves: FxHashSet<ExprId>,
}

fn sum(work: &mut Work, members: &[Member], sides: impl Fn(&Work, EqId) -> (ExprId, ExprId)) -> (ExprId, ExprId) {
    let residuals: Vec<ExprId> = members
        .iter()
        .map(|member| {
            let (left, right) = sides(work, member.equation);
            work.model.exprs.sub(left, right)
        })
        .collect();
    let cancelled = cancelled(work, members, &residuals);
    let mut terms = Vec::new();
    for (member, &residual) in members.iter().zip(&residuals) {
        let exprs = &mut work.model.exprs;
        let rest = exprs.rewrite(&[residual], &mut Memo::default(), |exprs, id, node| {
            if member.leaves.contains(&id) || cancelled.contains(&id) { exprs.int(0) } else { exprs.make(node) }
        })[0];
        let factor = number(exprs, member.factor);
        terms.push(exprs.mul(factor, rest));
    }
    let exprs = &mut work.model.exprs;
    let sum = exprs.sum(&terms);
    (exprs.int(0), collected(exprs, sum))
}

/// Other unknowns that happen to cancel: what is left must not seem to hold them.
fn cancelled(work: &mut Work, members: &[Member], residuals: &[ExprId]) -> FxHashSet<ExprId> {
    let mut sums: FxHashMap<VarId, Option<(f64, f64)>> = FxHashMap::default();
    for (member, &residual) in members.iter().zip(residuals) {
        for variable in work.model.exprs.dependencies(&[residual]).variables {
            let leaf = work.model.exprs.var(variable);
            if work.is_parameter(variable) || member.leaves.contains(&leaf) {
                continue;
            }
            let factor = work.linear_coefficient(residual, leaf).map(|(factor, _)| factor);
            work.note_values(factor.as_slice(), Subject::Constraints, None);
            let factor = factor.and_then(|factor| work.evaluate(factor));
            let sum = sums.entry(variable).or_insert(Some((0.0, 0.0)));
            *sum = sum.zip(factor).map(|((sum, size), factor)| {
                let term = member.factor * factor;
                (sum + term, f64::max(size, term.abs()))
            });
        }
    }
    let is_zero = |sum: &Option<(f64, f64)>| sum.is_some_and(|(sum, size)| sum.abs() <= ROUNDING * size);
    let zero: Vec<VarId> = sums.into_iter().filter(|(_, sum)| is_zero(sum)).map(|(variable, _)| variable).collect();
    zero.into_iter().map(|variable| work.model.exprs.var(variable)).collect()
}

/// The sides of an equation without unknowns that cancel (`a = a + 1`), where there are some: they only seem to be in it.
pub fn without_cancelled(exprs: &mut Exprs, left: ExprId, right: ExprId) -> Option<(ExprId, ExprId)> {
    /// Longer sums are left as they are.
    const LONGEST: usize = 64;
    let mut leaves: smallvec::SmallVec<[(ExprId, f64); 16]> = smallvec::smallvec![];
    let mut stack: smallvec::SmallVec<[(ExprId, f64); 16]> = smallvec::smallvec![(left, 1.0), (right, -1.0)];
    let mut steps = 0;
    while let Some((id, factor)) = stack.pop() {
        steps += 1;
        if steps > LONGEST {
            return None;
        }
        match exprs.node(id) {
            Node::Add(a, b) => stack.extend([(a, factor), (b, factor)]),
            Node::Sub(a, b) => stack.extend([(a, factor), (b, -factor)]),
            Node::Neg(a) => stack.push((a, -factor)),
            Node::Mul(a, b) if exprs.as_real(a).is_some() => stack.push((b, factor * exprs.as_real(a)?)),
            Node::Var(_) => leaves.push((id, factor)),
            _ => {}
        }
    }
    leaves.sort_unstable_by_key(|(id, _)| *id);
    let cancels =
        |group: &[(ExprId, f64)]| group.len() > 1 && group.iter().map(|(_, factor)| factor).sum::<f64>() == 0.0;
    if !leaves.chunk_by(|a, b| a.0 == b.0).any(cancels) {
        return None;
    }
    let sum = exprs.sub(right, left);
    Some((exprs.int(0), collected(exprs, sum)))
}

/// A whole number where it is one.
fn number(exprs: &mut Exprs, value: f64) -> ExprId {
    if value.fract() == 0.0 && value.abs() < 1e15 { exprs.int(value as i64) } else { exprs.real(value) }
}

/// A sum with equal terms put together.
fn collected(exprs: &mut Exprs, root: ExprId) -> ExprId {
    let mut factors: FxHashMap<ExprId, f64> = FxHashMap::default();
    let mut order = Vec::new();
    let mut stack = vec![(root, 1.0)];
    while let Some((id, factor)) = stack.pop() {
        match exprs.node(id) {
            Node::Add(a, b) => stack.extend([(b, factor), (a, factor)]),
            Node::Sub(a, b) => stack.extend([(b, -factor), (a, factor)]),
            Node::Neg(a) => stack.push((a, -factor)),
            Node::Mul(a, b) if exprs.as_real(a).is_some() => {
                stack.push((b, factor * exprs.as_real(a).unwrap_or(1.0)));
            }
            _ => {
                if !factors.contains_key(&id) {
                    order.push(id);
                }
                *factors.entry(id).or_default() += factor;
            }
        }
    }
    let terms: Vec<ExprId> = order
        .into_iter()
        .filter_map(|id| {
            let factor = factors.get(&id).copied().filter(|factor| *factor != 0.0)?;
            let factor = number(exprs, factor);
            Some(exprs.mul(factor, id))
        })
        .collect();
    exprs.sum(&terms)
}
