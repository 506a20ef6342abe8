//! The equations of one component, with its inner variables eliminated.

use algebra::sparse::{Row, combined, row};
use algebra::{Field, Rational, Variable};
use dae::{EqId, Model, Node, VarId, Variability, VariableType};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ports::{Across, Port};
use super::relation::{Relation, SOURCES, across, at, through};
use crate::affine::{Affine, ONE, Symbols};

/// Inner variables have columns from here on, before constants and what moves.
pub(super) const INNER: u32 = 1 << 24;
/// What moves in an equation, a column for each.
pub(super) const MOVING: u32 = 1 << 28;

/// A component with ports.
pub(super) struct Component<'a> {
    pub model: &'a Model,
    /// Its full name.
    pub name: &'a str,
    /// Its connectors: the number of each among all ports, and the port.
    pub ports: Vec<(usize, &'a Port)>,
    pub equations: Vec<EqId>,
    /// Variables that equations outside name, and whether one of those seems to determine it.
    pub visible: &'a FxHashMap<VarId, bool>,
}

/// What the equations say.
pub(super) struct Found {
    pub relation: Relation,
    /// There are derivatives in equations that are not linear.
    pub has_nonlinear_rates: bool,
}

impl Component<'_> {
    fn is_own(&self, variable: VarId) -> bool {
        let name = self.model.variable_name(variable);
        name.strip_prefix(self.name).is_some_and(|rest| rest.starts_with('.'))
    }

    /// `None` where it is not clear which signals go in.
    pub fn analysed(&self, symbols: &mut Symbols, s: &Rational, laplace: Variable) -> Option<Found> {
        let known = self.constants(symbols, s);
        let (rows, mut nonlinear, rates) = self.rows(symbols, s, &known);
        let inner = |row: &Row<Rational>| -> Vec<u32> {
            row.iter().map(|(column, _)| *column).filter(|column| (INNER..MOVING).contains(column)).collect()
        };
        let mut rows = rows;
        self.drop_results(&rows, &mut nonlinear);
        let variable = |column: u32| -> VarId { base::Id::from_index((column - INNER) as usize) };
        let is_visible = |column: u32| self.visible.contains_key(&variable(column));
        let mut open: Vec<u32> = rows.iter().chain(nonlinear.iter().flatten()).flat_map(inner).collect();
        open.sort_unstable();
        open.dedup();
        let (seen, hidden): (Vec<u32>, Vec<u32>) = open.into_iter().partition(|column| is_visible(*column));
        for column in hidden {
            eliminate(&mut rows, &mut nonlinear, column);
        }
        // As many equations as ports are left for these; the others determine what is seen from outside.
        let count = rows.len() + nonlinear.len();
        let inside = count.checked_sub(self.ports.len())?;
        let mut seen: Vec<u32> = seen;
        seen.sort_by_key(|column| self.visible.get(&variable(*column)).copied().unwrap_or(false));
        let doubtful = inside < seen.len()
            && inside > 0
            && self.visible.get(&variable(seen[inside - 1])) == self.visible.get(&variable(seen[inside]));
        if doubtful {
            return None;
        }
        for column in seen.iter().take(inside) {
            eliminate(&mut rows, &mut nonlinear, *column);
        }
        // What is left of inner variables comes from outside: their columns are those of sources.
        let connectors = self.ports.iter().map(|(number, _)| *number).collect();
        let mechanical = self.ports.iter().map(|(_, port)| port.kind.is_mechanical()).collect();
        let mut relation = Relation::new(connectors, mechanical, rows, nonlinear, laplace);
        relation.join();
        Some(Found { relation, has_nonlinear_rates: rates })
    }

    /// The leaf of an expression as a sum of columns.
    fn leaf(&self, node: Node, s: &Rational, known: &FxHashMap<VarId, Affine>) -> Option<Affine> {
        let (variable, is_rate) = match node {
            Node::Var(variable) => (variable, false),
            Node::Der(variable) => (variable, true),
            _ => return None,
        };
        let declared = &self.model.variables[variable];
        if declared.variability != Variability::Continuous || declared.ty != VariableType::Real {
            return None;
        }
        let rate = |value: Affine| if is_rate { value.scaled(s) } else { value };
        if let Some(value) = known.get(&variable) {
            return Some(if is_rate { Affine::default() } else { value.clone() });
        }
        for (index, (_, port)) in self.ports.iter().enumerate() {
            if port.across == variable {
                let column = Affine::column(across(index));
                let inverse = s.inverse()?;
                let value = if port.kind == Across::Position { column.scaled(&inverse) } else { column };
                return Some(rate(value));
            }
            if port.through == variable {
                return Some(rate(Affine::column(through(index))));
            }
        }
        let index = base::Id::index(variable) as u32;
        let column = if self.is_own(variable) { INNER + index } else { SOURCES + index };
        Some(rate(Affine::column(column)))
    }

    /// Inner variables that parameters alone determine.
    fn constants(&self, symbols: &mut Symbols, s: &Rational) -> FxHashMap<VarId, Affine> {
        let mut known: FxHashMap<VarId, Affine> = FxHashMap::default();
        loop {
            let before = known.len();
            for id in &self.equations {
                let Some(Affine { row, moving: false }) = self.difference(*id, symbols, s, &known) else { continue };
                let columns: Vec<u32> = row.iter().map(|(column, _)| *column).filter(|column| *column != ONE).collect();
                let [column] = columns[..] else { continue };
                if !(INNER..MOVING).contains(&column) {
                    continue;
                }
                let Some(factor) = at(&row, column).negate().invert() else { continue };
                let value = at(&row, ONE).multiply(&factor);
                let has_rate = value.variables().chain(factor.variables()).any(|it| s.variables().any(|own| own == it));
                if !has_rate {
                    known.insert(base::Id::from_index((column - INNER) as usize), Affine::constant(value));
                }
            }
            if known.len() == before {
                return known;
            }
        }
    }

    /// Left side minus right side; `None` where it is not linear.
    fn difference(
        &self,
        id: EqId,
        symbols: &mut Symbols,
        s: &Rational,
        known: &FxHashMap<VarId, Affine>,
    ) -> Option<Affine> {
        let equation = &self.model.equations[id];
        let mut leaf = |_: &mut Symbols, node: Node| self.leaf(node, s, known);
        let left = symbols.expression(equation.left, &mut leaf).ok()?;
        let right = symbols.expression(equation.right, &mut leaf).ok()?;
        Some(left.plus(&Rational::integer(-1), &right))
    }

    /// Linear rows, what the others depend on, and whether there are derivatives in those.
    #[allow(clippy::type_complexity, reason = "three lists that are used once")]
    fn rows(
        &self,
        symbols: &mut Symbols,
        s: &Rational,
        known: &FxHashMap<VarId, Affine>,
    ) -> (Vec<Row<Rational>>, Vec<Vec<Row<Rational>>>, bool) {
        let (mut rows, mut nonlinear, mut rates) = (Vec::new(), Vec::new(), false);
        for (index, id) in self.equations.iter().enumerate() {
            let equation = &self.model.equations[*id];
            let is_real = |side| match self.model.exprs.node(side) {
                Node::Var(variable) => {
                    let declared = &self.model.variables[variable];
                    declared.ty == VariableType::Real && declared.variability != Variability::Discrete
                }
                Node::Boolean(_)
                | Node::String(_)
                | Node::Compare { .. }
                | Node::Not(_)
                | Node::And(..)
                | Node::Or(..) => false,
                _ => true,
            };
            if !is_real(equation.left) || !is_real(equation.right) {
                continue;
            }
            match self.difference(*id, symbols, s, known) {
                Some(mut found) => {
                    if found.row.iter().all(|(column, _)| *column == ONE) {
                        continue;
                    }
                    if found.moving {
                        found.row.push((MOVING + index as u32, Rational::integer(1)));
                    }
                    rows.push(row(found.row));
                }
                None => {
                    let needed = self.model.exprs.dependencies(&[equation.left, equation.right]);
                    rates |= !needed.derivatives.is_empty();
                    let all = needed.variables.iter().chain(&needed.derivatives);
                    let value = |id: &VarId| self.leaf(Node::Var(*id), s, known).map(|value| value.row);
                    nonlinear.push(all.filter_map(value).collect());
                }
            }
        }
        (rows, nonlinear, rates)
    }

    /// Leaves out equations that determine something that no other equation needs, such as a power.
    fn drop_results(&self, rows: &[Row<Rational>], nonlinear: &mut Vec<Vec<Row<Rational>>>) {
        loop {
            let mut uses: FxHashMap<u32, usize> = FxHashMap::default();
            let columns = |parts: &[Row<Rational>]| -> FxHashSet<u32> {
                parts.iter().flatten().map(|(column, _)| *column).filter(|it| (INNER..MOVING).contains(it)).collect()
            };
            for row in rows {
                columns(std::slice::from_ref(row)).into_iter().for_each(|column| *uses.entry(column).or_default() += 1);
            }
            for parts in nonlinear.iter() {
                columns(parts).into_iter().for_each(|column| *uses.entry(column).or_default() += 1);
            }
            let is_result = |parts: &[Row<Rational>]| {
                // What seems to be determined outside is no result.
                let is_outside = |column: u32| {
                    let variable: VarId = base::Id::from_index((column - INNER) as usize);
                    self.visible.get(&variable).copied().unwrap_or(false)
                };
                columns(parts).into_iter().any(|column| uses.get(&column) == Some(&1) && !is_outside(column))
            };
            let before = nonlinear.len();
            nonlinear.retain(|parts| !is_result(parts));
            if nonlinear.len() == before {
                return;
            }
        }
    }
}

/// Removes a column by the row whose pivot makes least work; that row is used up.
fn eliminate(rows: &mut Vec<Row<Rational>>, nonlinear: &mut [Vec<Row<Rational>>], column: u32) {
    let candidates = rows.iter().enumerate().filter(|(_, row)| !at(row, column).is_zero());
    let Some((place, _)) = candidates.min_by_key(|(_, row)| (at(row, column).cost(), row.len())) else { return };
    let pivot = rows.swap_remove(place);
    let Some(inverse) = at(&pivot, column).invert() else { return };
    for other in rows.iter_mut().chain(nonlinear.iter_mut().flatten()) {
        let factor = at(other, column).multiply(&inverse).negate();
        if !factor.is_zero() {
            *other = combined(other, &factor, &pivot);
        }
    }
}
