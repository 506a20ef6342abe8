//! Dependencies that incidence cannot see: equations whose highest derivatives have constant factors, such that a
//! combination of them does not contain those unknowns at all.
//!
//! `0 = y1 + y2 + 2*x1` and `0 = y1 + y2 + x1 + 2*x2` can be matched with y1 and y2, but their difference `0 = x1 - 2*x2` is
//! a constraint. Pantelides' algorithm misses it, so such equations are replaced by their combination before the
//! offsets are believed. Only equations that are solved simultaneously can hide one; they are eliminated there with whole
//! numbers. Equations that are differentiated take part as often differentiated as the offsets say, and the one that is
//! differentiated least is the one replaced.

use std::sync::Arc;

use dae::{EqId, Equation, EquationRole, ExprId, Exprs, Memo, Node, Origin, OriginKind, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::derivatives::at_order;
use crate::structure::elimination::{Terms, dependencies, whole};
use crate::structure::offsets::Offsets;
use crate::structure::{Incidence, strong_components};
use crate::system::System;
use crate::work::{Sides, Work};

/// Replaces equations that hide a constraint; false if there are none. `chains` are the equations with their derivatives.
pub fn reveal(work: &mut Work, system: &System, offsets: &Offsets, chains: &[Vec<EqId>]) -> bool {
    let mut found = false;
    for group in strong_components(&offsets.tight, &offsets.matching).iter().filter(|group| group.len() > 1) {
        // Switches leave equations with one unknown; what they determine is known to others, as in the component it is.
        let own = work
            .touched
            .is_some()
            .then(|| group.iter().map(|&row| offsets.matching.column_of_row[row as usize]).collect::<FxHashSet<u32>>());
        let leading = Leading { system, offsets, chains, own };
        let key = work.recall.is_some().then(|| leading.key(work, group));
        if let (Some(recall), Some(key)) = (&work.recall, &key)
            && recall.frank.contains(key)
        {
            continue;
        }
        let mut rows = Vec::new();
        let mut factors = Vec::new();
        for &row in group {
            if let Some((terms, scale)) = leading.row(work, &offsets.tight, row) {
                rows.push((row, scale));
                factors.push(terms);
            }
        }
        let mut replaced = FxHashSet::default();
        let combinations = dependencies(&factors);
        if let (Some(recall), Some(key), true) = (&mut work.recall, key, combinations.is_empty()) {
            recall.frank.insert(key);
        }
        for combination in combinations {
            let member = |(place, factor): (u32, i128)| {
                let (row, scale) = rows[place as usize];
                (row, factor * i128::from(scale))
            };
            let combination: Terms = combination.into_iter().map(member).collect();
            // The next round finds what this one must leave because an equation can be replaced only once.
            if combination.iter().all(|(row, _)| !replaced.contains(row))
                && let Some(row) = leading.replace(work, &combination)
            {
                replaced.insert(row);
                found = true;
            }
        }
    }
    found
}

/// Equations, each with where its unknowns that would have to cancel begin, and these.
pub type GroupKey = (Vec<(Sides, u32)>, Vec<VarId>);

struct Leading<'a> {
    system: &'a System,
    offsets: &'a Offsets,
    chains: &'a [Vec<EqId>],
    /// The columns that have to cancel; `None`: all.
    own: Option<FxHashSet<u32>>,
}

impl Leading<'_> {
    fn has(&self, column: u32) -> bool {
        self.own.as_ref().is_none_or(|own| own.contains(&column))
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

    /// The factors of the leading unknowns and what they are multiplied by to be whole; `None` unless all are constant.
    fn row(&self, work: &mut Work, tight: &Incidence, row: u32) -> Option<(Vec<(u32, i64)>, i64)> {
        let (left, right) = self.system.sides[row as usize];
        let mut residual = work.model.exprs.sub(left, right);
        let (mut columns, mut factors) = (Vec::new(), Vec::new());
        for &column in tight.row(row as usize).iter().filter(|&&column| self.has(column)) {
            let leaf = self.leaf(work, column, self.offsets.equations[row as usize])?;
            let (factor, rest) = work.linear_coefficient(residual, leaf)?;
            columns.push(column);
            // The values of parameters are final, so what depends for them does depend.
            factors.push(work.evaluate(factor)?);
            residual = rest;
        }
        let (factors, scale) = whole(&factors)?;
        let terms = columns.into_iter().zip(factors);
        Some((terms.filter(|(_, factor)| *factor != 0).collect(), scale))
    }

    /// The equation of the combination that is differentiated least becomes the combination, in which the leading unknowns
    /// cancel. Gives its row.
    fn replace(&self, work: &mut Work, combination: &Terms) -> Option<u32> {
        let times = |row: u32| self.offsets.equations[row as usize];
        let (last, _) = *combination.iter().min_by_key(|(row, _)| (times(*row), std::cmp::Reverse(*row)))?;
        let least = times(last);
        let mut members = Vec::new();
        for &(row, factor) in combination {
            let equation = *self.chains[row as usize].get((times(row) - least) as usize)?;
            let columns = self.system.matchable.row(row as usize).iter().filter(|&&column| self.has(column));
            let leaves: FxHashSet<ExprId> = columns.filter_map(|&column| self.leaf(work, column, least)).collect();
            members.push(Member { equation, factor: i64::try_from(factor).ok()?, leaves });
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
        Some(last)
    }
}

/// An equation in a combination, and the unknowns in it that cancel.
struct Member {
    equation: EqId,
    factor: i64,
    leaves: FxHashSet<ExprId>,
}

fn sum(work: &mut Work, members: &[Member], sides: impl Fn(&Work, EqId) -> (ExprId, ExprId)) -> (ExprId, ExprId) {
    let mut terms = Vec::new();
    for member in members {
        let (left, right) = sides(work, member.equation);
        let exprs = &mut work.model.exprs;
        let residual = exprs.sub(left, right);
        let rest = exprs.rewrite(&[residual], &mut Memo::default(), |exprs, id, node| {
            if member.leaves.contains(&id) { exprs.int(0) } else { exprs.make(node) }
        })[0];
        let factor = exprs.int(member.factor);
        terms.push(exprs.mul(factor, rest));
    }
    let exprs = &mut work.model.exprs;
    let sum = exprs.sum(&terms);
    (exprs.int(0), collected(exprs, sum))
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
            let factor = if factor.fract() == 0.0 { exprs.int(factor as i64) } else { exprs.real(factor) };
            Some(exprs.mul(factor, id))
        })
        .collect();
    exprs.sum(&terms)
}
