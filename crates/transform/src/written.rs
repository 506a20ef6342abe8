//! What is wrong with a model in terms of its equations as they were written: aliases, constants and index reduction
//! change equations, and what is left of two that contradict each other (`0 = 1`) explains nothing.

use base::{Diagnostic, Id};
use dae::{EqId, ExprId, Model, Node, VarId};
use rustc_hash::FxHashMap;

use crate::parts::{Problem, Role, Sides};
use crate::singular;
use crate::structure::Matching;
use crate::structure::elimination::dependencies;
use crate::system::System;
use crate::work::{Work, first_role};

/// The equations as they were written. Expressions are never removed, so their ids are all it takes.
#[derive(Clone)]
pub struct Written {
    pub sides: Vec<Sides>,
    variables: usize,
}

impl Written {
    pub fn of(model: &Model) -> Self {
        let sides = model.equations.values().map(|equation| (equation.left, equation.right)).collect();
        Self { sides, variables: model.variables.len() }
    }

    /// `None` if nothing is wrong with the equations as they were written, as far as structure and elimination can tell.
    pub fn problems(self, mut work: Work) -> Option<Vec<Diagnostic>> {
        self.restore(&mut work);
        let system = System::new(&work, Problem::Reduction, work.active.clone(), self.sides, |v| work.is_unknown(v));
        let matching = Matching::maximum(&system.matchable);
        if !matching.is_perfect() {
            return Some(singular::report(&work, &system, &matching));
        }
        let dependent = dependent(&mut work, &system);
        if dependent.is_empty() { None } else { Some(singular::report_dependent(&work, &system, &dependent)) }
    }

    fn restore(&self, work: &mut Work) {
        work.active = (0..self.sides.len()).map(EqId::from_index).collect();
        for (&eq, &(left, right)) in work.active.iter().zip(&self.sides) {
            let equation = &mut work.model.equations[eq];
            (equation.left, equation.right) = (left, right);
        }
        for variable in work.model.variables.ids() {
            let is_written = variable.index() < self.variables;
            work.roles[variable] =
                if is_written { first_role(&work.model.variables[variable]) } else { Role::Constant };
        }
    }
}

/// Sets of rows of which each is a combination of the others, as far as their unknowns go.
fn dependent(work: &mut Work, system: &System) -> Vec<Vec<u32>> {
    let mut columns: FxHashMap<ExprId, u32> = FxHashMap::default();
    let (mut rows, mut factors) = (Vec::new(), Vec::new());
    for (row, &(left, right)) in system.sides.iter().enumerate() {
        if let Some(terms) = linear_terms(work, left, right) {
            let mut own = Vec::with_capacity(terms.len());
            for (leaf, value) in terms {
                let next = columns.len() as u32;
                if value != 0.0 {
                    own.push((*columns.entry(leaf).or_insert(next), value));
                }
            }
            rows.push(row as u32);
            factors.push(own);
        }
    }
    let sets = dependencies(&factors).into_iter();
    sets.map(|set| set.into_iter().map(|(place, _)| rows[place as usize]).collect()).collect()
}

/// The factors of the unknowns and their derivatives in `left - right`; `None` if it is not linear with numbers as factors.
fn linear_terms(work: &mut Work, left: ExprId, right: ExprId) -> Option<Vec<(ExprId, f64)>> {
    let exprs = &work.model.exprs;
    let is_unknown = |v: VarId| work.is_unknown(v);
    let mut terms: Vec<(ExprId, f64)> = Vec::new();
    let mut stack = vec![(left, 1.0), (right, -1.0)];
    while let Some((id, factor)) = stack.pop() {
        match exprs.node(id) {
            Node::Neg(a) => stack.push((a, -factor)),
            Node::Add(a, b) => stack.extend([(a, factor), (b, factor)]),
            Node::Sub(a, b) => stack.extend([(a, factor), (b, -factor)]),
            Node::Mul(a, b) if exprs.as_real(a).is_some() => stack.push((b, factor * exprs.as_real(a)?)),
            Node::Mul(a, b) if exprs.as_real(b).is_some() => stack.push((a, factor * exprs.as_real(b)?)),
            Node::Div(a, b) if exprs.as_real(b).is_some() => stack.push((a, factor / exprs.as_real(b)?)),
            Node::Var(v) | Node::Der(v) if is_unknown(v) => match terms.iter_mut().find(|(leaf, _)| *leaf == id) {
                Some((_, sum)) => *sum += factor,
                None => terms.push((id, factor)),
            },
            _ => {
                let inside = exprs.dependencies(&[id]);
                if inside.variables.iter().chain(&inside.derivatives).any(|&v| is_unknown(v)) {
                    return None;
                }
            }
        }
    }
    Some(terms)
}
