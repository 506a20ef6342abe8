//! Colouring of the columns of a sparse pattern, so that one directional derivative yields all columns of a colour.
//!
//! Two columns may share a colour when no row has entries in both (Curtis, Powell and Reid, 1974). The order is
//! largest column first, which Coleman and Moré (1983) found close to the best greedy orders at no cost. For banded
//! patterns the natural order is optimal, so both are tried and the better one is kept.

use crate::sparse::Pattern;

/// Groups of structurally orthogonal columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Colouring {
    /// The colour of each column.
    pub colour: Vec<u32>,
    /// The columns of each colour.
    pub groups: Vec<Vec<u32>>,
}

impl Colouring {
    pub fn new(pattern: &Pattern) -> Self {
        let by_row = pattern.transposed();
        let natural: Vec<u32> = (0..pattern.columns as u32).collect();
        let mut largest_first = natural.clone();
        largest_first.sort_by_key(|j| std::cmp::Reverse(conflict_bound(pattern, &by_row, *j as usize)));
        let first = greedy(pattern, &by_row, &natural);
        let second = greedy(pattern, &by_row, &largest_first);
        if second.groups.len() < first.groups.len() { second } else { first }
    }

    pub fn count(&self) -> usize {
        self.groups.len()
    }
}

fn conflict_bound(pattern: &Pattern, by_row: &Pattern, column: usize) -> usize {
    pattern.column(column).iter().map(|row| by_row.column(*row as usize).len()).sum()
}

fn greedy(pattern: &Pattern, by_row: &Pattern, order: &[u32]) -> Colouring {
    let mut colour = vec![u32::MAX; pattern.columns];
    let mut groups: Vec<Vec<u32>> = Vec::new();
    // forbidden[c] == column + 1 says that colour c is taken by a neighbour of this column.
    let mut forbidden: Vec<u32> = Vec::new();
    for column in order {
        let j = *column as usize;
        for row in pattern.column(j) {
            for neighbour in by_row.column(*row as usize) {
                let taken = colour[*neighbour as usize];
                if taken != u32::MAX {
                    forbidden[taken as usize] = column + 1;
                }
            }
        }
        let free = forbidden.iter().position(|mark| *mark != column + 1).unwrap_or(forbidden.len());
        if free == groups.len() {
            groups.push(Vec::new());
            forbidden.push(0);
        }
        colour[j] = free as u32;
        groups[free].push(*column);
    }
    Colouring { colour, groups }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn valid(pattern: &Pattern, colouring: &Colouring) -> bool {
        colouring.groups.iter().all(|group| {
            let mut seen = vec![false; pattern.rows];
            group
                .iter()
                .all(|j| pattern.column(*j as usize).iter().all(|i| !std::mem::replace(&mut seen[*i as usize], true)))
        })
    }

    #[test]
    fn tridiagonal_needs_three_and_arrow_needs_all() {
        let n = 50;
        let band = (0..n).flat_map(|j: usize| (j.saturating_sub(1)..(j + 2).min(n)).map(move |i| (i, j)));
        assert_eq!(Colouring::new(&Pattern::from_entries(n, n, band)).count(), 3);
        let arrow = (0..n).flat_map(|j| [(0, j), (j, j)]);
        assert_eq!(Colouring::new(&Pattern::from_entries(n, n, arrow)).count(), n);
        assert_eq!(Colouring::new(&Pattern::from_entries(n, n, (0..n).map(|j| (j, j)))).count(), 1);
        assert_eq!(Colouring::new(&Pattern::default()).count(), 0);
    }

    proptest! {
        #[test]
        fn groups_are_orthogonal(entries in proptest::collection::vec((0usize..20, 0usize..20), 0..80)) {
            let pattern = Pattern::from_entries(20, 20, entries);
            let colouring = Colouring::new(&pattern);
            prop_assert!(valid(&pattern, &colouring));
            prop_assert_eq!(colouring.groups.iter().map(Vec::len).sum::<usize>(), 20);
        }
    }
}
