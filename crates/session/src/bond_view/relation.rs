//! What the equations of a component say about its ports, as linear rows over the port variables with the Laplace variable `s` in
//! place of derivatives. Inner variables are eliminated. Pairs of ports are joined to one where only the difference of their
//! potentials matters (a branch between two nodes), or only the sum of their flows (a part that moves as one).

use algebra::sparse::{Row, combined, row};
use algebra::{Field, Rational, Variable};

use crate::affine::ONE;

/// Columns from here on are no port variables: constants, signals, time.
pub(super) const SOURCES: u32 = 1 << 20;

/// Where a port is attached.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    /// At a connector, by its number.
    Connector(usize),
    /// From the first to the second, with the difference of their potentials.
    Branch(Box<Tree>, Box<Tree>),
    /// At both, with the sum of their flows.
    Shared(Box<Tree>, Box<Tree>),
}

impl Tree {
    /// How many connectors it joins.
    pub fn connectors(&self) -> usize {
        match self {
            Tree::Connector(_) => 1,
            Tree::Branch(one, other) | Tree::Shared(one, other) => one.connectors() + other.connectors(),
        }
    }
}

/// The variables of port `j` are the columns `2j` (potential, in mechanics the velocity) and `2j + 1` (flow into the component).
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub trees: Vec<Tree>,
    /// Whether potentials are velocities, by port.
    pub mechanical: Vec<bool>,
    /// In reduced row echelon form over the port variables.
    pub rows: Vec<Row<Rational>>,
    /// What the variables in equations that are not linear depend on, a list for each of them.
    pub nonlinear: Vec<Vec<Row<Rational>>>,
    /// The Laplace variable.
    s: Variable,
}

pub(super) fn across(port: usize) -> u32 {
    2 * port as u32
}

pub(super) fn through(port: usize) -> u32 {
    2 * port as u32 + 1
}

pub(super) fn at(row: &Row<Rational>, column: u32) -> Rational {
    row.iter().find(|(it, _)| *it == column).map_or_else(Rational::zero, |(_, value)| value.clone())
}

/// Whether there is something besides port variables.
pub(super) fn has_source(row: &Row<Rational>) -> bool {
    row.iter().any(|(column, _)| *column >= SOURCES)
}

impl Relation {
    pub fn new(
        connectors: Vec<usize>,
        mechanical: Vec<bool>,
        rows: Vec<Row<Rational>>,
        nonlinear: Vec<Vec<Row<Rational>>>,
        s: Variable,
    ) -> Self {
        let trees = connectors.into_iter().map(Tree::Connector).collect();
        let mut relation = Self { trees, mechanical, rows, nonlinear, s };
        relation.echelon();
        relation
    }

    pub fn count(&self) -> usize {
        self.trees.len()
    }

    fn echelon(&mut self) {
        let mut done: Vec<Row<Rational>> = Vec::new();
        let mut rest = std::mem::take(&mut self.rows);
        for column in 0..2 * self.count() as u32 {
            let Some(place) = rest.iter().position(|row| !at(row, column).is_zero()) else { continue };
            let pivot = rest.swap_remove(place);
            let Some(inverse) = at(&pivot, column).invert() else { continue };
            let pivot: Row<Rational> = pivot.iter().map(|(it, value)| (*it, value.multiply(&inverse))).collect();
            for other in rest.iter_mut().chain(&mut done) {
                let factor = at(other, column).negate();
                if !factor.is_zero() {
                    *other = combined(other, &factor, &pivot);
                }
            }
            done.push(pivot);
        }
        // The derivative of a constant is zero, such as the velocity of a fixed place.
        let is_rate = |value: &Rational| {
            value.denominator.degree(self.s) == 0
                && value.numerator.coefficients(self.s).first().is_none_or(algebra::Polynomial::is_zero)
        };
        done.iter_mut().for_each(|row| row.retain(|(column, value)| *column != ONE || !is_rate(value)));
        self.rows = done;
    }

    /// Whether a row follows from the others.
    fn contains(&self, wanted: Row<Rational>) -> bool {
        let mut rest = wanted;
        for known in &self.rows {
            let Some((pivot, _)) = known.first() else { continue };
            let factor = at(&rest, *pivot).negate();
            if !factor.is_zero() {
                rest = combined(&rest, &factor, known);
            }
        }
        rest.is_empty()
    }

    /// Joins ports as long as there are pairs.
    pub fn join(&mut self) {
        while let Some((one, other)) = self.pair() {
            self.remove(one, other);
        }
    }

    fn pair(&mut self) -> Option<(usize, usize)> {
        for one in 0..self.count() {
            for other in one + 1..self.count() {
                if self.mechanical[one] == self.mechanical[other]
                    && (self.branch(one, other) || self.shared(one, other))
                {
                    return Some((one, other));
                }
            }
        }
        None
    }

    fn branch(&mut self, one: usize, other: usize) -> bool {
        let unit = Rational::integer(1);
        if !self.contains(row(vec![(through(one), unit.clone()), (through(other), unit)])) {
            return false;
        }
        let changed = |row: &Row<Rational>| {
            let rest = at(row, across(one)).add(&at(row, across(other)));
            let flow = at(row, through(one)).add(&at(row, through(other)).negate());
            rest.is_zero().then(|| replaced(row, one, other, at(row, across(one)), flow))
        };
        self.apply(changed, one, other, Tree::Branch)
    }

    fn shared(&mut self, one: usize, other: usize) -> bool {
        let (unit, minus) = (Rational::integer(1), Rational::integer(-1));
        if !self.contains(row(vec![(across(one), unit), (across(other), minus)])) {
            return false;
        }
        let changed = |row: &Row<Rational>| {
            let rest = at(row, through(other)).add(&at(row, through(one)).negate());
            let potential = at(row, across(one)).add(&at(row, across(other)));
            rest.is_zero().then(|| replaced(row, one, other, potential, at(row, through(one))))
        };
        self.apply(changed, one, other, Tree::Shared)
    }

    fn apply(
        &mut self,
        changed: impl Fn(&Row<Rational>) -> Option<Row<Rational>>,
        one: usize,
        other: usize,
        tree: fn(Box<Tree>, Box<Tree>) -> Tree,
    ) -> bool {
        // The equation that was found is used up: its row vanishes.
        let rows: Option<Vec<_>> = self.rows.iter().map(&changed).collect();
        let nonlinear: Option<Vec<Vec<_>>> =
            self.nonlinear.iter().map(|parts| parts.iter().map(&changed).collect()).collect();
        let (Some(rows), Some(nonlinear)) = (rows, nonlinear) else { return false };
        self.rows = rows.into_iter().filter(|row| !row.is_empty()).collect();
        self.nonlinear = nonlinear;
        let second = std::mem::replace(&mut self.trees[other], Tree::Connector(usize::MAX));
        let first = std::mem::replace(&mut self.trees[one], Tree::Connector(usize::MAX));
        self.trees[one] = tree(Box::new(first), Box::new(second));
        true
    }

    /// Drops the second port of a pair that was joined.
    fn remove(&mut self, _one: usize, other: usize) {
        self.trees.remove(other);
        self.mechanical.remove(other);
        let moved = |row: &Row<Rational>| -> Row<Rational> {
            let shift = |column: u32| if column < SOURCES && column > through(other) { column - 2 } else { column };
            row.iter().map(|(column, value)| (shift(*column), value.clone())).collect()
        };
        self.rows = self.rows.iter().map(moved).collect();
        self.nonlinear = self.nonlinear.iter().map(|parts| parts.iter().map(moved).collect()).collect();
        self.echelon();
    }

    /// Solves for some columns; `None` where the rows do not determine them, or sources take part.
    pub fn solved(&self, wanted: &[u32], given: &[u32]) -> Option<Vec<Vec<Rational>>> {
        let mut rows = self.rows.clone();
        if rows.iter().any(has_source) || rows.len() != wanted.len() || !self.nonlinear.is_empty() {
            return None;
        }
        let mut order: Vec<Row<Rational>> = Vec::new();
        for column in wanted {
            let place = rows.iter().position(|row| !at(row, *column).is_zero())?;
            let pivot = rows.swap_remove(place);
            let inverse = at(&pivot, *column).invert()?;
            let pivot: Row<Rational> = pivot.iter().map(|(it, value)| (*it, value.multiply(&inverse))).collect();
            for other in rows.iter_mut().chain(&mut order) {
                let factor = at(other, *column).negate();
                if !factor.is_zero() {
                    *other = combined(other, &factor, &pivot);
                }
            }
            order.push(pivot);
        }
        Some(order.iter().map(|row| given.iter().map(|column| at(row, *column).negate()).collect()).collect())
    }
}

/// A row with new coefficients of one port and without another one.
fn replaced(old: &Row<Rational>, one: usize, other: usize, potential: Rational, flow: Rational) -> Row<Rational> {
    let is_other = |column: u32| [across(one), through(one), across(other), through(other)].contains(&column);
    let mut entries: Vec<(u32, Rational)> = old.iter().filter(|(column, _)| !is_other(*column)).cloned().collect();
    entries.extend([(across(one), potential), (through(one), flow)]);
    row(entries)
}

/// The coefficients of `1/s`, `1` and `s` of a function that is their sum.
pub(super) fn parts(value: &Rational, s: Variable) -> Option<[Rational; 3]> {
    let below = value.denominator.coefficients(s);
    let power = below.iter().position(|coefficient| !coefficient.is_zero())?;
    if power > 1 || below.iter().filter(|coefficient| !coefficient.is_zero()).count() != 1 {
        return None;
    }
    let mut parts = [Rational::zero(), Rational::zero(), Rational::zero()];
    for (index, coefficient) in value.numerator.coefficients(s).into_iter().enumerate() {
        if coefficient.is_zero() {
            continue;
        }
        let place = (index + 1).checked_sub(power).filter(|place| *place < 3)?;
        parts[place] = Rational::new(coefficient, below[power].clone())?;
    }
    Some(parts)
}
