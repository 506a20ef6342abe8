//! The coarse decomposition of Dulmage and Mendelsohn (1958) of a structurally singular system, and the smallest set of
//! rows that explains it.

use super::{Incidence, Matching, NONE};

/// What of the system has too many rows, what too few.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Decomposition {
    /// More rows than columns.
    pub over_rows: Vec<u32>,
    /// The columns of the over-determined part.
    pub over_columns: Vec<u32>,
    /// Fewer rows than columns.
    pub under_rows: Vec<u32>,
    /// The columns of the under-determined part.
    pub under_columns: Vec<u32>,
}

/// `matching` must be a maximum matching of `incidence`.
pub fn decompose(incidence: &Incidence, matching: &Matching) -> Decomposition {
    let (over_rows, over_columns) =
        reach(incidence, &matching.row_of_column, matching.unmatched_rows().collect(), usize::MAX);
    let transposed = incidence.transpose();
    let (under_columns, under_rows) =
        reach(&transposed, &matching.column_of_row, matching.unmatched_columns().collect(), usize::MAX);
    Decomposition { over_rows, over_columns, under_rows, under_columns }
}

/// The smallest set of rows, over all unmatched rows, that has one row more than it has columns. Each such set is the
/// circuit of its unmatched row in the transversal matroid: leaving out any one of its rows makes the rest solvable.
pub fn smallest_over_determined(incidence: &Incidence, matching: &Matching) -> Option<(Vec<u32>, Vec<u32>)> {
    let mut best: Option<(Vec<u32>, Vec<u32>)> = None;
    // A search stops where it gets larger than the best; the number of searches is bounded for hopeless inputs.
    for row in matching.unmatched_rows().take(1000) {
        let limit = best.as_ref().map_or(usize::MAX, |(rows, _)| rows.len());
        let (rows, columns) = reach(incidence, &matching.row_of_column, vec![row], limit);
        if rows.len() < limit {
            best = Some((rows, columns));
        }
    }
    best
}

/// The rows that together with the unmatched `row` have one row too many, itself included.
pub fn circuit(incidence: &Incidence, matching: &Matching, row: u32) -> Vec<u32> {
    reach(incidence, &matching.row_of_column, vec![row], usize::MAX).0
}

/// Everything on alternating paths from `start` (rows): row, any of its columns, the row matched with that column.
fn reach(incidence: &Incidence, matched: &[u32], start: Vec<u32>, limit: usize) -> (Vec<u32>, Vec<u32>) {
    let mut seen_rows = rustc_hash::FxHashSet::from_iter(start.iter().copied());
    let mut seen_columns = rustc_hash::FxHashSet::default();
    let (mut rows, mut columns) = (start, Vec::new());
    let mut next = 0;
    while next < rows.len() && rows.len() <= limit {
        let row = rows[next];
        next += 1;
        for &column in incidence.row(row as usize) {
            if !seen_columns.insert(column) {
                continue;
            }
            columns.push(column);
            let owner = matched[column as usize];
            if owner != NONE && seen_rows.insert(owner) {
                rows.push(owner);
            }
        }
    }
    rows.sort_unstable();
    columns.sort_unstable();
    (rows, columns)
}
