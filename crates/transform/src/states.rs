//! Which variables are integrated: the dummy derivatives of Mattsson and Söderlind (SIAM J. Sci. Comput. 14, 1993),
//! chosen once for the whole run where that is safe, else exchanged during it.
//!
//! The highest derivatives fall into components. In each, as many derivatives become dummies (algebraic) as there are
//! differentiated equations, level by level from the highest; the rest are derivatives of states. Which ones is free as
//! long as the dummies' columns of the Jacobian are regular, so the columns are tried in the order in which they are
//! wanted least as states. Where all entries are numbers, elimination decides. Elsewhere the entries that cannot vanish
//! have to match all rows, and the columns have to be independent at an arbitrary point too: a spring beside a rigid rod
//! can be matched with a state, but its length is constant.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use base::Name;
use dae::{
    Attributes, Equation, EquationRole, ExprId, Memo, Origin, OriginKind, Pivot, StateSelect, VarId, Variability,
    VariableType,
};
use rustc_hash::FxHashSet;

use crate::decisions::Subject;
use crate::derivatives::{Reduced, residual};
use crate::modes::numbers::numbers;
use crate::parts::{Role, State, StateSet};
use crate::structure::{Incidence, Matching, NONE, strong_components};
use crate::wishes;
use crate::work::Work;

/// Larger components are chosen by structure alone.
const LARGEST_ELIMINATION: usize = 2000;

/// A sum that is smaller than its terms by this factor is a rounding error.
const ROUNDING: f64 = 1e-11;

pub fn choose(work: &mut Work, reduced: &Reduced) -> (Vec<State>, Vec<StateSet>) {
    let (integrated, open) = choose_orders(work, reduced);
    let mut states = Vec::new();
    for (column, chain) in reduced.variables.iter().enumerate() {
        for order in 0..chain.len() - 1 {
            if order < integrated[column] as usize {
                work.roles[chain[order]] = Role::State { derivative: chain[order + 1] };
                states.push(State { variable: chain[order], derivative: chain[order + 1] });
            } else if (order as u32) < reduced.written[column] {
                work.summary.dummy_states.push(chain[order]);
            }
        }
    }
    wishes::tell(work, reduced, &integrated, &open_columns(&open));
    let sets: Vec<StateSet> =
        open.into_iter().enumerate().map(|(number, open)| add_set(work, number + 1, open, &mut states)).collect();
    let candidates: FxHashSet<VarId> = sets.iter().flat_map(|set| set.candidates.iter().copied()).collect();
    work.summary.dummy_states.retain(|variable| !candidates.contains(variable));
    (states, sets)
}

/// Where the model asks for states that may become bad, and there are more constraints than this, they stay all the same:
/// to follow the determinant would cost more than the steps.
const MOST_FOLLOWED: usize = 12;

/// A choice that is left to the run.
struct Open {
    /// How many of the last columns the model asks for as states: none, or as many as there are to be.
    asked: usize,
    demanded: bool,
    /// The variables that never are states, then the candidates, with their derivatives.
    columns: Vec<(VarId, VarId)>,
    dependent: usize,
    jacobian: Vec<Vec<ExprId>>,
}

/// What may become a state during the run.
fn open_columns(open: &[Open]) -> FxHashSet<VarId> {
    open.iter().flat_map(|open| open.columns[open.dependent..].iter().map(|(variable, _)| *variable)).collect()
}

/// How many orders of each unknown, from the lowest, are states of their own; and the choices left open.
fn choose_orders(work: &mut Work, reduced: &Reduced) -> (Vec<u32>, Vec<Open>) {
    let mut choice = Choice { integrated: reduced.offsets.variables.clone(), open: Vec::new() };
    if reduced.offsets.equations.iter().all(|&times| times == 0) {
        return (choice.integrated, choice.open);
    }
    if work.choice.stays {
        // Wishes count across all components; that is affordable where the system is small.
        let whole: Vec<u32> = (0..reduced.offsets.equations.len() as u32).collect();
        choice.decide(work, reduced, &whole, Trust::Wishes);
        return (choice.integrated, choice.open);
    }
    let components = strong_components(&reduced.offsets.tight, &reduced.offsets.matching);
    let groups: Vec<&[u32]> = components.iter().collect();
    let mut done = vec![false; groups.len()];
    for differentiated in [false, true] {
        for (members, wanted) in wishes::joined(work, reduced, &groups, differentiated) {
            if members.iter().any(|&group| done[group]) {
                continue;
            }
            let rows: Vec<u32> = members.iter().flat_map(|&group| groups[group].iter().copied()).collect();
            let mut joined = Choice { integrated: choice.integrated.clone(), open: Vec::new() };
            // Where the text has states of its own too, a wish is no assurance that they may be replaced.
            let trust = if differentiated { Trust::Numbers } else { Trust::Wishes };
            joined.decide(work, reduced, &rows, trust);
            // Where the wish cannot be met safely, each group keeps its own choice.
            if joined.open.is_empty() && wanted.iter().any(|&column| joined.integrated[column as usize] > 0) {
                choice.integrated = joined.integrated;
                members.iter().for_each(|&group| done[group] = true);
            }
        }
    }
    for (group, _) in groups.iter().zip(done).filter(|(_, done)| !done) {
        choice.decide(work, reduced, group, Trust::Wishes);
    }
    (choice.integrated, choice.open)
}

/// What is enough to choose states once and for all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// That the model asks for exactly as many as there can be.
    Wishes,
    /// That the constraints can be solved for the others, whatever the values.
    Numbers,
}

struct Choice {
    /// How many orders of each column are integrated.
    integrated: Vec<u32>,
    open: Vec<Open>,
}

impl Choice {
    /// Decides the columns that a group of rows is matched with, level by level.
    fn decide(&mut self, work: &mut Work, reduced: &Reduced, group: &[u32], trust: Trust) {
        let (c, d) = (&reduced.offsets.equations, &reduced.offsets.variables);
        let Self { integrated, open } = self;
        let mut columns: Vec<u32> =
            group.iter().map(|&row| reduced.offsets.matching.column_of_row[row as usize]).collect();
        for level in 1.. {
            let rows: Vec<u32> = group.iter().copied().filter(|&row| c[row as usize] >= level).collect();
            columns.retain(|&column| {
                if d[column as usize] < level {
                    integrated[column as usize] = 0;
                }
                d[column as usize] >= level
            });
            for &column in &columns {
                integrated[column as usize] = d[column as usize] + 1 - level;
            }
            if rows.is_empty() || columns.is_empty() {
                break;
            }
            columns.sort_by_key(|&column| wish(work, reduced, column, level));
            let request = match trust {
                Trust::Wishes => requested_states(work, reduced, &columns, rows.len(), level),
                Trust::Numbers => StateRequest::Nothing,
            };
            let stage = Stage::new(work, reduced, &reduced.offsets.tight, &rows, columns, level);
            work.choice.doubtful |= level > 1 && stage.entries.iter().any(Vec::is_empty);
            let selection = stage.select(request, work.choice.stays);
            stage.note(work, &selection);
            columns = match selection {
                Selection::Static(chosen) => chosen,
                Selection::Open { dependent, request } => {
                    let mut left = stage.open(work, reduced, &rows, &dependent, level);
                    left.asked = if request == StateRequest::Nothing { 0 } else { left.columns.len() - rows.len() };
                    left.demanded = request == StateRequest::Demand;
                    open.push(left);
                    // None of them is a state by itself at this level; below it the choice begins anew.
                    stage.columns
                }
            };
            for &column in &columns {
                integrated[column as usize] = d[column as usize] - level;
            }
        }
    }
}

/// Which candidates are the states to begin with is a form, as it is later: a run takes better ones at its first point.
fn values_at_start(work: &mut Work, jacobian: &[Vec<ExprId>]) -> Option<Vec<f64>> {
    let mut memo = Memo::default();
    jacobian.concat().iter().map(|&entry| work.evaluate_at_start(entry, &mut memo)).collect()
}

fn add_equation(work: &mut Work, variable: VarId, value: ExprId) {
    let left = work.model.exprs.var(variable);
    let origin = Origin { component: work.model.paths.root(), span: None, kind: OriginKind::Auxiliary };
    let eq = work.model.equations.push(Equation { left, right: value, role: EquationRole::Plain, origin });
    work.dynamic.push((left, value));
    work.active.push(eq);
}

/// Adds the variables and equations of a set of exchangeable states.
fn add_set(work: &mut Work, number: usize, open: Open, states: &mut Vec<State>) -> StateSet {
    let Open { columns, dependent, jacobian, asked, demanded } = open;
    let candidates = &columns[dependent..];
    let count = columns.len() - jacobian.len();
    let root = work.model.paths.root();
    let set_path = work.model.paths.child(root, Name::new("stateSet"), &[number as u32]);
    let mut set = StateSet {
        candidates: candidates.iter().map(|(variable, _)| *variable).collect(),
        states: Vec::new(),
        selection: Vec::new(),
        jacobian: Vec::new(),
        dependent,
        asked: (candidates.len() - asked..candidates.len()).collect(),
        demanded,
    };
    let values = values_at_start(work, &jacobian);
    for (row, entries) in jacobian.iter().enumerate() {
        let name = |column: usize| [row as u32 + 1, column as u32 + 1];
        let row = entries.iter().enumerate().map(|(column, &entry)| {
            (!work.model.exprs.is_zero(entry)).then(|| {
                let path = work.model.paths.child(set_path, Name::new("J"), &name(column));
                let variable = work.add_variable(path, VariableType::Real, Role::Algebraic);
                add_equation(work, variable, entry);
                variable
            })
        });
        let row = row.collect();
        set.jacobian.push(row);
    }
    let last = set.candidates.len() - count;
    let chosen =
        values.and_then(|values| set.prefer(&values, &[])).unwrap_or_else(|| (last..set.candidates.len()).collect());
    for (index, &first) in chosen.iter().enumerate() {
        let path = work.model.paths.child(set_path, Name::new("x"), &[index as u32 + 1]);
        let state = work.add_variable(path, VariableType::Real, Role::Algebraic);
        let derivative = work.derivative_variable(state);
        work.roles[state] = Role::State { derivative };
        let mut row = Vec::new();
        let (mut value, mut slope) = (Vec::new(), Vec::new());
        for (place, &(candidate, candidate_derivative)) in candidates.iter().enumerate() {
            let subscripts = [index as u32 + 1, place as u32 + 1];
            let path = work.model.paths.child(set_path, Name::new("A"), &subscripts);
            let factor = work.add_variable(path, VariableType::Integer, Role::Input);
            let exprs = &mut work.model.exprs;
            let start = exprs.int(i64::from(place == first));
            let attributes = Attributes { start: Some(start), ..Attributes::default() };
            work.model.variables[factor].attributes = Arc::new(attributes);
            work.model.variables[factor].variability = Variability::Discrete;
            let (a, x, dx) = (exprs.var(factor), exprs.var(candidate), exprs.var(candidate_derivative));
            value.push(exprs.mul(a, x));
            slope.push(exprs.mul(a, dx));
            row.push(factor);
        }
        for (variable, terms) in [(state, value), (derivative, slope)] {
            let sum = work.model.exprs.sum(&terms);
            add_equation(work, variable, sum);
        }
        states.push(State { variable: state, derivative });
        set.states.push(state);
        set.selection.push(row);
    }
    set
}

/// How much a variable is wanted as a state; the least wanted come first.
fn wish(work: &Work, reduced: &Reduced, column: u32, level: u32) -> impl Ord + use<> {
    let chain = &reduced.variables[column as usize];
    let order = chain.len() - 1 - level as usize;
    let declared = &work.model.variables[chain[order]];
    let attributes = &declared.attributes;
    let fixed = attributes.fixed.is_some_and(|fixed| work.model.exprs.as_boolean(fixed) != Some(false));
    let select = if order > 0 { StateSelect::Default } else { work.wanted_as_state(chain[0]) };
    (
        select,
        fixed,
        // What was not differentiated in the text was not meant as a state.
        reduced.written[column as usize] > order as u32,
        Reverse(order),
        attributes.start.is_some(),
        Reverse(depth(work, declared.path)),
        Reverse(column),
    )
}

/// How many components a variable is inside of.
fn depth(work: &Work, path: dae::PathId) -> usize {
    std::iter::successors(work.model.paths.parent(path), |&path| work.model.paths.parent(path)).count()
}

/// What the model asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StateRequest {
    Nothing,
    /// States that the text does not differentiate itself.
    Others,
    /// `StateSelect.prefer`.
    Wish,
    /// `StateSelect.always`.
    Demand,
}

/// Whether exactly as many candidates are asked for as states (`StateSelect.prefer` or `always`) as there are to be: then the
/// model has chosen.
fn requested_states(work: &Work, reduced: &Reduced, columns: &[u32], rows: usize, level: u32) -> StateRequest {
    let is_asked = |column: u32, wanted: StateSelect| {
        let chain = &reduced.variables[column as usize];
        chain.len() == 1 + level as usize && work.model.variables[chain[0]].attributes.state_select >= wanted
    };
    let states = columns.len().saturating_sub(rows);
    let request = [(StateSelect::Always, StateRequest::Demand), (StateSelect::Prefer, StateRequest::Wish)];
    let met = request.into_iter().find(|(wanted, _)| {
        states > 0 && columns.iter().filter(|&&column| is_asked(column, *wanted)).count() == states
    });
    let Some((wanted, request)) = met else { return StateRequest::Nothing };
    let is_written = |&column: &u32| !is_asked(column, wanted) || reduced.written[column as usize] > 0;
    if columns.iter().all(is_written) { request } else { StateRequest::Others }
}

/// One level of one component: `rows` equations, `columns` candidates, least wanted as states first.
struct Stage {
    rows: usize,
    columns: Vec<u32>,
    /// By column.
    entries: Vec<Vec<Entry>>,
}

/// A partial derivative of a constraint.
#[derive(Clone, Copy)]
struct Entry {
    row: u32,
    /// None where it cannot be made.
    expression: Option<ExprId>,
    /// Its value, or one at an arbitrary point.
    value: f64,
    is_number: bool,
    /// Whether it cannot vanish.
    safe: bool,
}

impl Stage {
    fn new(work: &mut Work, reduced: &Reduced, tight: &Incidence, rows: &[u32], columns: Vec<u32>, level: u32) -> Self {
        let mut entries = vec![Vec::new(); columns.len()];
        let local: rustc_hash::FxHashMap<u32, usize> =
            columns.iter().enumerate().map(|(index, &column)| (column, index)).collect();
        for (index, &row) in rows.iter().enumerate() {
            for column in tight.row(row as usize) {
                if let Some(&place) = local.get(column) {
                    entries[place].push(entry(work, reduced, (row, index as u32), *column, level));
                }
            }
        }
        Self { rows: rows.len(), columns, entries }
    }

    /// `request`: as many columns at the end as there can be states are wanted as states by the model. `stay`: nothing may
    /// be left to the run.
    fn select(&self, request: StateRequest, stay: bool) -> Selection {
        if self.columns.len() <= self.rows {
            return Selection::Static(self.columns.clone());
        }
        let all = || 0..self.columns.len();
        let of_places = |places: &[usize]| Selection::Static(places.iter().map(|&place| self.columns[place]).collect());
        let is_small = self.rows <= LARGEST_ELIMINATION;
        if is_small && self.entries.iter().flatten().all(|entry| entry.is_number) {
            let chosen = self.independent(all());
            if chosen.len() == self.rows {
                return of_places(&chosen);
            }
        }
        let is_regular = |places: &[usize]| !is_small || self.independent(places.iter().copied()).len() == self.rows;
        let first: Vec<usize> = (0..self.rows).collect();
        let safe = self.by_matching();
        if request != StateRequest::Nothing && self.by_structure(self.rows) && is_regular(&first) {
            // They are good as states wherever the others are determined; that is followed where it can change.
            if request == StateRequest::Others || stay || safe == first || self.rows > MOST_FOLLOWED {
                return of_places(&first);
            }
            let dependent = self.independent(safe.into_iter().filter(|&place| place < self.rows));
            return Selection::Open { dependent, request };
        }
        if safe.len() == self.rows && is_regular(&safe) {
            return of_places(&safe);
        }
        if stay && is_small {
            let chosen = self.independent(all());
            if chosen.len() == self.rows {
                return of_places(&chosen);
            }
        }
        let dependent = if is_small { self.independent(safe.into_iter()) } else { safe };
        Selection::Open { dependent, request: StateRequest::Nothing }
    }

    /// Records what the values of parameters decided: where the first columns were taken, that these are independent.
    fn note(&self, work: &mut Work, selection: &Selection) {
        if self.columns.len() <= self.rows {
            return;
        }
        let is_first = matches!(selection, Selection::Static(chosen) if *chosen == self.columns[..self.rows]);
        let expressions = |entry: &Entry| Some((entry.row, entry.expression?));
        if is_first && self.entries.iter().flatten().all(|entry| entry.is_number) {
            let chosen = self.entries[..self.rows].iter();
            let columns = chosen.map(|entries| entries.iter().filter_map(expressions).collect()).collect();
            work.note_independent(columns, Subject::Constraints);
        } else {
            let all: Vec<ExprId> = self.entries.iter().flatten().filter_map(|entry| entry.expression).collect();
            work.note_values(&all, Subject::Constraints, None);
        }
    }

    /// Whether the first columns can be matched with all rows, over entries that may vanish at some points too.
    fn by_structure(&self, columns: usize) -> bool {
        let rows = self.entries[..columns].iter().map(|entries| entries.iter().map(|entry| entry.row).collect());
        let rows: Vec<Vec<u32>> = rows.collect();
        Matching::maximum(&Incidence::from_rows(&rows, self.rows)).size() == self.rows
    }

    /// What is left to choose during the run if the columns at `dependent` are dummies in any case.
    fn open(&self, work: &mut Work, reduced: &Reduced, rows: &[u32], dependent: &[usize], level: u32) -> Open {
        let others = (0..self.columns.len()).filter(|place| !dependent.contains(place));
        let columns: Vec<u32> = dependent.iter().copied().chain(others).map(|place| self.columns[place]).collect();
        let zero = work.model.exprs.real(0.0);
        let mut jacobian = Vec::new();
        for &row in rows {
            let entries = columns.iter().map(|&column| slope(work, reduced, row, column, level).unwrap_or(zero));
            jacobian.push(entries.collect());
        }
        let pair = |&column: &u32| {
            let chain = &reduced.variables[column as usize];
            let order = chain.len() - 1 - level as usize;
            (chain[order], chain[order + 1])
        };
        let (columns, dependent) = (columns.iter().map(pair).collect(), dependent.len());
        Open { columns, dependent, jacobian, asked: 0, demanded: false }
    }

    /// Greedy over columns with elimination of their values: those that are independent of the ones before.
    fn independent(&self, places: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut sizes = vec![0.0f64; self.rows];
        for entry in self.entries.iter().flatten() {
            let size = &mut sizes[entry.row as usize];
            *size = size.max(entry.value.abs());
        }
        let mut basis = Basis::new(sizes);
        let mut chosen = Vec::new();
        for place in places {
            if chosen.len() == self.rows {
                break;
            }
            if basis.take(self.entries[place].iter().map(|entry| (entry.row, entry.value))) {
                chosen.push(place);
            }
        }
        chosen
    }

    /// Greedy over columns by augmenting paths over entries that cannot vanish; the places of the columns taken.
    fn by_matching(&self) -> Vec<usize> {
        let mut column_of_row = vec![NONE; self.rows];
        let mut chosen = Vec::new();
        let mut seen = vec![usize::MAX; self.rows];
        let mut mark = 0;
        for place in 0..self.columns.len() {
            if chosen.len() == self.rows {
                break;
            }
            // Breadth first from the column over usable entries to a free row; `from` remembers the way.
            mark += 1;
            let mut from: Vec<u32> = vec![NONE; self.rows];
            let mut queue = vec![place];
            let mut next = 0;
            let mut end = None;
            'search: while next < queue.len() {
                let column = queue[next];
                next += 1;
                for &Entry { row, safe, .. } in &self.entries[column] {
                    if safe && seen[row as usize] != mark {
                        seen[row as usize] = mark;
                        from[row as usize] = column as u32;
                        if column_of_row[row as usize] == NONE {
                            end = Some(row);
                            break 'search;
                        }
                        queue.push(column_of_row[row as usize] as usize);
                    }
                }
            }
            if let Some(mut row) = end {
                chosen.push(place);
                loop {
                    let column = from[row as usize];
                    let before = column_of_row.iter().position(|&c| c == column);
                    column_of_row[row as usize] = column;
                    match before {
                        Some(previous) if column as usize != place => row = previous as u32,
                        _ => break,
                    }
                }
            }
        }
        chosen
    }
}

/// The derivative of an equation by the highest derivative of an unknown in it, both lowered to a level; `None` where it
/// cannot be made.
pub fn slope(work: &mut Work, reduced: &Reduced, row: u32, column: u32, level: u32) -> Option<ExprId> {
    let (equations, variables) = (&reduced.equations[row as usize], &reduced.variables[column as usize]);
    let (Some(time), Some(order)) =
        (equations.len().checked_sub(level as usize), variables.len().checked_sub(level as usize))
    else {
        return Some(work.model.exprs.real(0.0));
    };
    let sides = work.dynamic[equations[time]];
    let residual = residual(work, sides);
    work.partial_derivative(residual, variables[order])
}

/// The slope with its value.
fn entry(work: &mut Work, reduced: &Reduced, (row, place): (u32, u32), column: u32, level: u32) -> Entry {
    let Some(factor) = slope(work, reduced, row, column, level) else {
        return Entry { row: place, expression: None, value: 1.0, is_number: false, safe: work.choice.stays };
    };
    let expression = Some(factor);
    if let Some(value) = work.evaluate(factor) {
        return Entry { row: place, expression, value, is_number: true, safe: value != 0.0 };
    }
    let safe = work.model.exprs.pivot(factor, |v| work.is_parameter(v) && !work.parameters.free[v]) == Pivot::NonZero;
    let order = work.model.exprs.postorder(&[factor]);
    let value = numbers(work, &order).get(&factor).copied().unwrap_or(1.0);
    Entry { row: place, expression, value, is_number: false, safe: safe || work.choice.stays }
}

/// Columns that are independent of each other, eliminated. Each number carries the size of what it was computed from, so that
/// rounding errors are told from small numbers, whatever the scale of their row.
struct Basis {
    /// Each with its pivot and its numbers that are not zero; those of later ones are zero at the pivots of earlier ones.
    columns: Vec<(u32, Vec<(u32, f64)>)>,
    /// The column that has its pivot in a row.
    at: Vec<Option<usize>>,
    /// The largest number of each row.
    sizes: Vec<f64>,
    /// The column at hand: values, and what they were computed from.
    values: Vec<f64>,
    origins: Vec<f64>,
}

impl Basis {
    fn new(sizes: Vec<f64>) -> Self {
        let rows = sizes.len();
        Self { columns: Vec::new(), at: vec![None; rows], sizes, values: vec![0.0; rows], origins: vec![0.0; rows] }
    }

    /// Adds a column; false if it depends on those before.
    fn take(&mut self, entries: impl Iterator<Item = (u32, f64)>) -> bool {
        let mut touched: Vec<u32> = Vec::new();
        let mut waiting = BinaryHeap::new();
        for (row, value) in entries {
            self.add(row, value, &mut touched, &mut waiting);
        }
        let mut last = None;
        while let Some(Reverse(number)) = waiting.pop() {
            if last == Some(number) {
                continue;
            }
            last = Some(number);
            let (pivot, column) = std::mem::take(&mut self.columns[number]);
            let own = column.iter().find(|(row, _)| *row == pivot).map_or(1.0, |(_, value)| *value);
            let factor = self.values[pivot as usize] / own;
            if factor != 0.0 {
                for &(row, value) in &column {
                    self.add(row, -factor * value, &mut touched, &mut waiting);
                }
                self.values[pivot as usize] = 0.0;
            }
            self.columns[number] = (pivot, column);
        }
        let mut best = (0.0, None);
        let mut left = Vec::new();
        for &row in &touched {
            let value = std::mem::take(&mut self.values[row as usize]);
            let origin = std::mem::take(&mut self.origins[row as usize]);
            if value.abs() > ROUNDING * origin {
                left.push((row, value));
                let size = value.abs() / self.sizes[row as usize].max(f64::MIN_POSITIVE);
                if size > best.0 {
                    best = (size, Some(row));
                }
            }
        }
        let Some(pivot) = best.1 else { return false };
        self.at[pivot as usize] = Some(self.columns.len());
        self.columns.push((pivot, left));
        true
    }

    fn add(&mut self, row: u32, term: f64, touched: &mut Vec<u32>, waiting: &mut BinaryHeap<Reverse<usize>>) {
        let place = row as usize;
        if term == 0.0 || !term.is_finite() {
            return;
        }
        if self.origins[place] == 0.0 {
            touched.push(row);
            waiting.extend(self.at[place].map(Reverse));
        }
        self.values[place] += term;
        self.origins[place] = self.origins[place].max(term.abs());
        if self.values[place].abs() <= ROUNDING * self.origins[place] {
            self.values[place] = 0.0;
        }
    }
}

enum Selection {
    /// The columns that become dummies for the whole run.
    Static(Vec<u32>),
    /// The places of columns that do so in any case; which others do is decided during the run.
    Open { dependent: Vec<usize>, request: StateRequest },
}
