//! Which variables are integrated: the dummy derivatives of Mattsson and Söderlind (SIAM J. Sci. Comput. 14, 1993),
//! chosen once for the whole run.
//!
//! The highest derivatives fall into components. In each, as many derivatives become dummies (algebraic) as there are
//! differentiated equations, level by level from the highest; the rest are derivatives of states. Which ones is free as
//! long as the dummies' columns of the Jacobian are regular, so the columns are tried in the order in which they are
//! wanted least as states, over entries that cannot vanish; where all entries are numbers, by elimination, which also sees
//! rows that depend on each other.

use dae::{Pivot, StateSelect, VarId};

use crate::derivatives::Reduced;
use crate::schedule::{Role, State};
use crate::structure::{NONE, strong_components};
use crate::work::Work;

/// Larger components are chosen by structure alone.
const LARGEST_ELIMINATION: usize = 300;

pub fn choose(work: &mut Work, reduced: &Reduced) -> Vec<State> {
    let dummies = dummy_counts(work, reduced);
    let mut states = Vec::new();
    for (column, chain) in reduced.variables.iter().enumerate() {
        let integrated = chain.len() - 1 - dummies[column] as usize;
        for order in 0..chain.len() - 1 {
            if order < integrated {
                work.roles[chain[order]] = Role::State { derivative: chain[order + 1] };
                states.push(State { variable: chain[order], derivative: chain[order + 1] });
            } else if (order as u32) < reduced.written[column] {
                work.summary.dummy_states.push(chain[order]);
            }
        }
    }
    states
}

/// How many derivatives of each unknown are dummies.
fn dummy_counts(work: &mut Work, reduced: &Reduced) -> Vec<u32> {
    let (c, d) = (&reduced.offsets.equations, &reduced.offsets.variables);
    let mut counts = vec![0; d.len()];
    if c.iter().all(|&times| times == 0) {
        return counts;
    }
    let tight = reduced.signature.tight(c, d);
    for group in strong_components(&tight, &reduced.offsets.matching).iter() {
        let levels = group.iter().map(|&row| c[row as usize]).max().unwrap_or(0);
        let mut columns: Vec<u32> =
            group.iter().map(|&row| reduced.offsets.matching.column_of_row[row as usize]).collect();
        for level in 1..=levels {
            let rows: Vec<u32> = group.iter().copied().filter(|&row| c[row as usize] >= level).collect();
            columns.retain(|&column| d[column as usize] >= level);
            columns.sort_by_key(|&column| wish(work, reduced, column, level));
            let stage = Stage::new(work, reduced, &tight, rows, columns);
            columns = stage.select();
            for &column in &columns {
                counts[column as usize] += 1;
            }
        }
    }
    counts
}

/// How much a variable is wanted as a state; the least wanted come first.
fn wish(work: &Work, reduced: &Reduced, column: u32, level: u32) -> impl Ord + use<> {
    let chain = &reduced.variables[column as usize];
    let order = chain.len() - 1 - level as usize;
    let declared = &work.model.variables[chain[order]];
    let attributes = &declared.attributes;
    let fixed = attributes.fixed.is_some_and(|fixed| work.model.exprs.as_boolean(fixed) != Some(false));
    let select = if order > 0 { StateSelect::Default } else { attributes.state_select };
    (
        select,
        fixed,
        // What was not differentiated in the text was not meant as a state.
        reduced.written[column as usize] > order as u32,
        std::cmp::Reverse(order),
        attributes.start.is_some(),
        std::cmp::Reverse(work.model.paths.text(declared.path).matches('.').count()),
        std::cmp::Reverse(column),
    )
}

/// One level of one component: `rows` equations, `columns` candidates, least wanted as states first.
struct Stage {
    rows: usize,
    columns: Vec<u32>,
    /// Entries by column: local row, value where it is a number, whether it cannot vanish.
    entries: Vec<Vec<(u32, Option<f64>, bool)>>,
}

impl Stage {
    fn new(
        work: &mut Work,
        reduced: &Reduced,
        tight: &crate::structure::Incidence,
        rows: Vec<u32>,
        columns: Vec<u32>,
    ) -> Self {
        let mut entries = vec![Vec::new(); columns.len()];
        let local: rustc_hash::FxHashMap<u32, usize> =
            columns.iter().enumerate().map(|(index, &column)| (column, index)).collect();
        for (index, &row) in rows.iter().enumerate() {
            for column in tight.row(row as usize) {
                if let Some(&place) = local.get(column) {
                    let (value, safe) = entry(work, reduced, row, *column);
                    entries[place].push((index as u32, value, safe));
                }
            }
        }
        Self { rows: rows.len(), columns, entries }
    }

    /// As many columns as rows.
    fn select(&self) -> Vec<u32> {
        let numbers = self.entries.iter().flatten().all(|(_, value, _)| value.is_some());
        if numbers
            && self.rows <= LARGEST_ELIMINATION
            && let Some(chosen) = self.by_elimination()
        {
            return chosen;
        }
        let (chosen, mut row_of) = self.by_matching(|safe| safe, vec![NONE; self.rows], Vec::new());
        if chosen.len() == self.rows {
            return chosen.iter().map(|&place| self.columns[place]).collect();
        }
        // Nothing that is safe suffices: the rest by structure.
        row_of.truncate(self.rows);
        let (chosen, _) = self.by_matching(|_| true, row_of, chosen);
        chosen.iter().map(|&place| self.columns[place]).collect()
    }

    /// Greedy over columns with elimination of their numbers: a column is taken if it is independent of those before.
    fn by_elimination(&self) -> Option<Vec<u32>> {
        let mut basis: Vec<(usize, Vec<f64>)> = Vec::new();
        let mut chosen = Vec::new();
        for (place, entries) in self.entries.iter().enumerate() {
            if basis.len() == self.rows {
                break;
            }
            let mut column = vec![0.0; self.rows];
            for &(row, value, _) in entries {
                column[row as usize] += value?;
            }
            let size = column.iter().fold(0.0f64, |max, x| max.max(x.abs()));
            for (pivot, vector) in &basis {
                let factor = column[*pivot] / vector[*pivot];
                if factor != 0.0 {
                    for (x, y) in column.iter_mut().zip(vector) {
                        *x -= factor * y;
                    }
                }
            }
            let (pivot, largest) = column
                .iter()
                .enumerate()
                .fold((0, 0.0), |best, (k, x)| if x.abs() > best.1 { (k, x.abs()) } else { best });
            if largest > 1e-10 * size {
                basis.push((pivot, column));
                chosen.push(self.columns[place]);
            }
        }
        (chosen.len() == self.rows).then_some(chosen)
    }

    /// Greedy over columns by augmenting paths; keeps the columns already chosen.
    fn by_matching(
        &self,
        usable: impl Fn(bool) -> bool,
        mut column_of_row: Vec<u32>,
        mut chosen: Vec<usize>,
    ) -> (Vec<usize>, Vec<u32>) {
        let mut seen = vec![usize::MAX; self.rows];
        let mut mark = 0;
        for place in 0..self.columns.len() {
            if chosen.len() == self.rows || chosen.contains(&place) {
                continue;
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
                for &(row, _, safe) in &self.entries[column] {
                    if usable(safe) && seen[row as usize] != mark {
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
        (chosen, column_of_row)
    }
}

/// The derivative of an equation by the highest derivative of an unknown in it: its number, and whether it cannot vanish.
fn entry(work: &mut Work, reduced: &Reduced, row: u32, column: u32) -> (Option<f64>, bool) {
    let shift = reduced.offsets.variables[column as usize] - reduced.offsets.equations[row as usize];
    let variable: VarId = reduced.variables[column as usize][shift as usize];
    let (left, right) = work.dynamic[reduced.equations[row as usize][0]];
    let residual = work.model.exprs.sub(left, right);
    let unknown = work.model.exprs.var(variable);
    let Some((factor, _)) = work.model.exprs.linear_coefficient(residual, unknown) else { return (None, false) };
    if let Some(value) = work.evaluate(factor) {
        return (Some(value), value != 0.0);
    }
    let safe = work.model.exprs.pivot(factor, |v| work.is_parameter(v) && !work.free[v]) == Pivot::NonZero;
    (None, safe)
}
