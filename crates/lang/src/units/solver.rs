//! Finds unknown units: a union-find of units that must be equal, and constraints that wait until all but one of their
//! unknowns are found. Each constraint is looked at again only when one of its unknowns was found, so that the effort
//! is nearly linear.

use base::{Id as _, IdVec, Span};
use smallvec::SmallVec;
use units::Dimension;

use super::measure::Term;
use crate::instance::{ClassId, CompId};
use crate::typed::Expr;

base::id_type!(
    /// The unit of a component that is declared without one.
    pub UnknownId, "unit"
);
base::id_type!(
    pub ConstraintId, "constraint"
);

/// What stands on one side of a constraint.
#[derive(Clone, Copy, Debug)]
pub enum Side<'e> {
    Expr(&'e Expr),
    Component(CompId),
    /// What the language or a function asks for.
    Wanted(&'static str),
}

/// Two units that must be equal.
pub struct Constraint<'e> {
    pub left: Term,
    pub right: Term,
    pub a: Side<'e>,
    pub b: Side<'e>,
    /// The class instance in whose text it stands.
    pub class: ClassId,
    /// The equation.
    pub span: Option<Span>,
}

struct Unknown {
    parent: UnknownId,
    found: Option<Found>,
    /// Its size is not known: it is connected to others through numbers.
    loose: bool,
    /// Constraints that wait for it.
    waiting: Vec<ConstraintId>,
}

/// A unit that was found, and the constraint that told it.
#[derive(Clone)]
pub struct Found {
    pub term: Term,
    pub by: ConstraintId,
}

#[derive(Default)]
pub struct Solver<'e> {
    pub constraints: IdVec<ConstraintId, Constraint<'e>>,
    unknowns: IdVec<UnknownId, Unknown>,
    /// Constraints whose sides differ.
    pub wrong: Vec<ConstraintId>,
}

impl Solver<'_> {
    pub fn unknown(&mut self) -> UnknownId {
        let id = UnknownId::from_index(self.unknowns.len());
        self.unknowns.push(Unknown { parent: id, found: None, loose: false, waiting: Vec::new() })
    }

    /// What was found for an unknown.
    pub fn found(&self, mut unknown: UnknownId) -> Option<&Found> {
        while self.unknowns[unknown].parent != unknown {
            unknown = self.unknowns[unknown].parent;
        }
        self.unknowns[unknown].found.as_ref()
    }

    fn root(&mut self, mut unknown: UnknownId) -> UnknownId {
        while self.unknowns[unknown].parent != unknown {
            let above = self.unknowns[self.unknowns[unknown].parent].parent;
            self.unknowns[unknown].parent = above;
            unknown = above;
        }
        unknown
    }

    pub fn solve(&mut self) {
        // What needs no inference first, so that a plain mistake does not spoil what is inferred.
        let (plain, mut queue): (Vec<_>, Vec<_>) = self.constraints.ids().partition(|&id| {
            let constraint = &self.constraints[id];
            constraint.left.unknowns.is_empty() && constraint.right.unknowns.is_empty()
        });
        plain.into_iter().for_each(|id| drop(self.apply(id)));
        queue.reverse();
        while let Some(id) = queue.pop() {
            queue.extend(self.apply(id));
        }
        self.wrong.sort();
    }

    /// Uses a constraint; gives those that can be used now.
    fn apply(&mut self, id: ConstraintId) -> Vec<ConstraintId> {
        let (left, right) = (&self.constraints[id].left, &self.constraints[id].right);
        let (left, right) = (left.clone(), right.clone());
        let (left, right) = (self.resolved(&left), self.resolved(&right));
        if left.unknowns.is_empty() && right.unknowns.is_empty() {
            if !left.fits(&right) && (left.declared || right.declared) {
                self.wrong.push(id);
            }
            return Vec::new();
        }
        let quotient = left.over(&right);
        // Unknowns that cancel tell nothing: `der(x) = -k*x` of a model that does without units.
        let mut unknowns: SmallVec<[UnknownId; 4]> =
            left.unknowns.iter().chain(&right.unknowns).map(|&(unknown, _)| unknown).collect();
        unknowns.sort();
        unknowns.dedup();
        match *quotient.unknowns.as_slice() {
            [(unknown, exponent)] if unknowns.len() == 1 => {
                let mut term = Term { unknowns: Default::default(), ..quotient }.power(-1.0 / exponent);
                // An equality carries the zero of the scale along, too.
                if exponent.abs() == 1.0 {
                    term.offset = if left.unknowns.is_empty() { left.offset } else { right.offset };
                }
                if self.unknowns[unknown].loose {
                    term = term.scaled();
                }
                self.unknowns[unknown].found = Some(Found { term, by: id });
                std::mem::take(&mut self.unknowns[unknown].waiting)
            }
            [(first, a), (second, b)] if unknowns.len() == 2 && a == -b && quotient.dimension == Dimension::ONE => {
                let loose = quotient.factor.is_none_or(|factor| differs(factor, 1.0));
                self.join(first, second, loose)
            }
            _ => {
                for unknown in unknowns {
                    self.unknowns[unknown].waiting.push(id);
                }
                Vec::new()
            }
        }
    }

    /// With what is found put in for unknowns.
    pub fn resolved(&mut self, term: &Term) -> Term {
        let mut result = Term { unknowns: Default::default(), ..term.clone() };
        for &(unknown, exponent) in &term.unknowns {
            let root = self.root(unknown);
            let part = match &self.unknowns[root].found {
                Some(found) if exponent == 1.0 && term.unknowns.len() == 1 && term.dimension.is_one() => {
                    let (factor, offset) = (term.factor.and(found.term.factor), term.offset.and(found.term.offset));
                    let declared = term.declared || found.term.declared;
                    return Term { factor, offset, declared, ..found.term.clone() };
                }
                Some(found) => found.term.power(exponent),
                None => Term::unknown(root).power(exponent),
            };
            let offset = result.offset.and(part.offset);
            result = result.times(&part);
            result.offset = offset;
        }
        result
    }

    fn join(&mut self, first: UnknownId, second: UnknownId, loose: bool) -> Vec<ConstraintId> {
        let (into, from) = match self.unknowns[first].waiting.len() >= self.unknowns[second].waiting.len() {
            true => (first, second),
            false => (second, first),
        };
        self.unknowns[from].parent = into;
        let moved = std::mem::take(&mut self.unknowns[from].waiting);
        self.unknowns[into].loose |= loose | self.unknowns[from].loose;
        // Constraints with both may be decided now.
        moved
    }
}

pub fn differs(a: f64, b: f64) -> bool {
    (a - b).abs() > 1e-6 * a.abs().max(b.abs())
}
