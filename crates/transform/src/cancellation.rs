//! Dependencies that incidence cannot see: equations whose highest derivatives have constant factors, such that a
//! combination of them does not contain those unknowns at all.
//!
//! `0 = y1 + y2 + 2*x1` and `0 = y1 + y2 + x1 + 2*x2` can be matched with y1 and y2, but their difference `0 = x1 - 2*x2` is
//! a constraint. Pantelides' algorithm misses it, so such equations are replaced by their combination before the
//! offsets are believed. Only equations that are solved simultaneously can hide one; they are eliminated there with whole
//! numbers (fraction-free), within a bound of work.

use std::sync::Arc;

use dae::{EqId, Equation, EquationRole, ExprId, Exprs, Memo, Node, Origin, OriginKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::derivatives::at_order;
use crate::structure::offsets::Offsets;
use crate::structure::strong_components;
use crate::system::System;
use crate::work::Work;

/// Replaces equations that hide a constraint; false if there are none.
pub fn reveal(work: &mut Work, system: &System, offsets: &Offsets) -> bool {
    let tight = &offsets.tight;
    let mut found = false;
    for group in strong_components(tight, &offsets.matching).iter().filter(|group| group.len() > 1) {
        let mut by_offset: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for &row in group {
            by_offset.entry(offsets.equations[row as usize]).or_default().push(row);
        }
        let mut orders: Vec<u32> = by_offset.keys().copied().collect();
        orders.sort_unstable();
        for order in orders {
            let leading = Leading { system, offsets, differentiated: order };
            let rows: Vec<Row> = by_offset[&order].iter().filter_map(|&row| leading.row(work, tight, row)).collect();
            for combination in eliminate(rows) {
                replace(work, &leading, combination);
                found = true;
            }
        }
    }
    found
}

/// An equation over its leading unknowns, and the combination of equations it is by now.
struct Row {
    terms: Vec<(u32, i64)>,
    combination: Vec<(u32, i64)>,
}

struct Leading<'a> {
    system: &'a System,
    offsets: &'a Offsets,
    differentiated: u32,
}

impl Leading<'_> {
    /// The leaf of the highest derivative of a column that occurs in equations of this offset.
    fn leaf(&self, work: &mut Work, column: u32) -> Option<ExprId> {
        let order = self.offsets.variables[column as usize].checked_sub(self.differentiated)?;
        let variable = at_order(work, self.system.columns[column as usize], order)?;
        Some(work.model.exprs.var(variable))
    }

    /// `None` unless all leading unknowns have whole factors.
    fn row(&self, work: &mut Work, tight: &crate::structure::Incidence, row: u32) -> Option<Row> {
        let (left, right) = self.system.sides[row as usize];
        let mut residual = work.model.exprs.sub(left, right);
        let mut terms = Vec::new();
        for &column in tight.row(row as usize) {
            let leaf = self.leaf(work, column)?;
            let exprs = &mut work.model.exprs;
            let (factor, rest) = exprs.linear_coefficient(residual, leaf)?;
            let value = exprs.as_real(factor)?;
            if value.fract() != 0.0 || value.abs() > 1e6 {
                return None;
            }
            if value != 0.0 {
                terms.push((column, value as i64));
            }
            residual = rest;
        }
        terms.sort_unstable();
        Some(Row { terms, combination: vec![(row, 1)] })
    }
}

/// The combinations of rows that have no terms left.
fn eliminate(mut rows: Vec<Row>) -> Vec<Vec<(u32, i64)>> {
    rows.sort_by_key(|row| row.terms.len());
    let mut budget = 10_000 + 40 * rows.iter().map(|row| row.terms.len()).sum::<usize>();
    let mut pivots: FxHashMap<u32, usize> = FxHashMap::default();
    let mut done: Vec<Row> = Vec::new();
    let mut found = Vec::new();
    for mut row in rows {
        while let Some((column, pivot)) = row.terms.iter().find_map(|(column, _)| Some((*column, *pivots.get(column)?)))
        {
            let cost = row.terms.len() + done[pivot].terms.len();
            let Some(next) = reduce(&row, &done[pivot], column) else { return found };
            if cost > budget {
                return found;
            }
            budget -= cost;
            row = next;
        }
        match row.terms.first() {
            Some(&(column, _)) => {
                pivots.insert(column, done.len());
                done.push(row);
            }
            None => found.push(row.combination),
        }
    }
    found
}

/// `row` without `column`; `None` if the numbers grow too large.
fn reduce(row: &Row, pivot: &Row, column: u32) -> Option<Row> {
    let of = |row: &Row| row.terms.iter().find(|(c, _)| *c == column).map_or(0, |(_, value)| *value);
    let (a, b) = (of(row), of(pivot));
    let divisor = gcd(a, b);
    let (up, down) = (b / divisor, a / divisor);
    Some(Row {
        terms: combine(&row.terms, up, &pivot.terms, down)?,
        combination: combine(&row.combination, up, &pivot.combination, down)?,
    })
}

/// `up·a − down·b` of sorted lists.
fn combine(a: &[(u32, i64)], up: i64, b: &[(u32, i64)], down: i64) -> Option<Vec<(u32, i64)>> {
    let mut sum: FxHashMap<u32, i64> = FxHashMap::default();
    for (list, factor) in [(a, up), (b, down.checked_neg()?)] {
        for &(key, value) in list {
            let term = value.checked_mul(factor)?;
            let entry = sum.entry(key).or_default();
            *entry = entry.checked_add(term)?;
        }
    }
    let mut result: Vec<(u32, i64)> = sum.into_iter().filter(|(_, value)| *value != 0).collect();
    result.sort_unstable();
    Some(result)
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1) as i64
}

/// The last equation of the combination becomes the combination, in which the leading unknowns cancel.
fn replace(work: &mut Work, leading: &Leading, combination: Vec<(u32, i64)>) {
    let sources: Vec<EqId> = combination.iter().map(|(row, _)| leading.system.rows[*row as usize]).collect();
    let Some(&last) = sources.last() else { return };
    let new = |work: &mut Work, sides: &dyn Fn(&Work, EqId) -> (ExprId, ExprId)| {
        let mut terms = Vec::new();
        for (&eq, &(row, factor)) in sources.iter().zip(&combination) {
            let (left, right) = sides(work, eq);
            let leaves: FxHashSet<ExprId> = leading
                .system
                .matchable
                .row(row as usize)
                .iter()
                .filter_map(|&column| leading.leaf(work, column))
                .collect();
            let exprs = &mut work.model.exprs;
            let residual = exprs.sub(left, right);
            let rest = exprs.rewrite(&[residual], &mut Memo::default(), |exprs, id, node| {
                if leaves.contains(&id) { exprs.int(0) } else { exprs.make(node) }
            })[0];
            let factor = exprs.int(factor);
            terms.push(exprs.mul(factor, rest));
        }
        let sum = work.model.exprs.sum(&terms);
        (work.model.exprs.int(0), collected(&mut work.model.exprs, sum))
    };
    let dynamic = new(work, &|work, eq| work.dynamic[eq]);
    let initial = new(work, &|work, eq| (work.model.equations[eq].left, work.model.equations[eq].right));
    let Origin { component, span, .. } = work.model.equations[last].origin.clone();
    let origin = Origin { component, span, kind: OriginKind::Combined(Arc::from(sources)) };
    let equation = Equation { left: initial.0, right: initial.1, role: EquationRole::Plain, origin };
    let eq = work.model.equations.push(equation);
    work.dynamic.push(dynamic);
    for active in &mut work.active {
        if *active == last {
            *active = eq;
        }
    }
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
