//! Permutation of a square sparse pattern to block upper triangular form.
//!
//! First a maximum transversal by augmenting paths (Duff, *On algorithms for obtaining a maximum transversal*, ACM
//! TOMS 7, 1981), then the strong components of the matched graph (Tarjan 1972), both without recursion. Column
//! position k meets only rows of positions in its own block or in earlier blocks.

use crate::error::Singular;
use crate::sparse::Pattern;

const NONE: u32 = u32::MAX;

/// Rows and columns in the order of the blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockTriangular {
    /// The column at each position.
    pub columns: Vec<u32>,
    /// The row at each position, such that the diagonal is structurally non-zero.
    pub rows: Vec<u32>,
    /// Block b covers positions `starts[b]..starts[b + 1]`.
    pub starts: Vec<usize>,
}

impl BlockTriangular {
    /// Fails with a column that no transversal covers when the pattern is structurally singular.
    pub fn new(pattern: &Pattern) -> Result<Self, Singular> {
        let row_of_column = maximum_transversal(pattern)?;
        let mut column_of_row = vec![NONE; pattern.rows];
        for (column, row) in row_of_column.iter().enumerate() {
            column_of_row[*row as usize] = column as u32;
        }
        let (columns, starts) = strong_components(pattern, &column_of_row);
        let rows = columns.iter().map(|column| row_of_column[*column as usize]).collect();
        Ok(BlockTriangular { columns, rows, starts })
    }
}

/// The row matched with each column.
fn maximum_transversal(pattern: &Pattern) -> Result<Vec<u32>, Singular> {
    let n = pattern.columns;
    let mut column_of_row = vec![NONE; pattern.rows];
    let mut row_of_column = vec![NONE; n];
    for j in 0..n {
        // The diagonal first: most iteration matrices have it, and pivots on it cause the least fill.
        let diagonal = pattern.position(j, j).map(|_| j as u32);
        let free = diagonal
            .filter(|i| column_of_row[*i as usize] == NONE)
            .or_else(|| pattern.column(j).iter().copied().find(|i| column_of_row[*i as usize] == NONE));
        if let Some(row) = free {
            column_of_row[row as usize] = j as u32;
            row_of_column[j] = row;
        }
    }
    let mut visited = vec![NONE; n];
    let mut cursor = vec![0usize; n];
    let mut path: Vec<u32> = Vec::new();
    for root in 0..n {
        if row_of_column[root] != NONE {
            continue;
        }
        path.clear();
        path.push(root as u32);
        visited[root] = root as u32;
        cursor[root] = pattern.starts[root];
        if !augment(pattern, root as u32, &mut path, &mut visited, &mut cursor, &mut column_of_row, &mut row_of_column)
        {
            return Err(Singular { column: root });
        }
    }
    Ok(row_of_column)
}

fn augment(
    pattern: &Pattern,
    root: u32,
    path: &mut Vec<u32>,
    visited: &mut [u32],
    cursor: &mut [usize],
    column_of_row: &mut [u32],
    row_of_column: &mut [u32],
) -> bool {
    while let Some(column) = path.last().copied() {
        let j = column as usize;
        if let Some(free) = pattern.column(j).iter().copied().find(|i| column_of_row[*i as usize] == NONE) {
            shift_matching(path, free, column_of_row, row_of_column);
            return true;
        }
        let mut advanced = false;
        while cursor[j] < pattern.starts[j + 1] {
            let row = pattern.indices[cursor[j]];
            cursor[j] += 1;
            let next = column_of_row[row as usize];
            if visited[next as usize] != root {
                visited[next as usize] = root;
                cursor[next as usize] = pattern.starts[next as usize];
                path.push(next);
                advanced = true;
                break;
            }
        }
        if !advanced {
            path.pop();
        }
    }
    false
}

/// Gives the free row to the last column of the path, whose own row goes to the one before, and so on.
fn shift_matching(path: &mut Vec<u32>, free: u32, column_of_row: &mut [u32], row_of_column: &mut [u32]) {
    let mut row = free;
    while let Some(column) = path.pop() {
        let released = std::mem::replace(&mut row_of_column[column as usize], row);
        column_of_row[row as usize] = column;
        row = released;
    }
}

/// Columns in the order of their strong components, and where the components start.
fn strong_components(pattern: &Pattern, column_of_row: &[u32]) -> (Vec<u32>, Vec<usize>) {
    let n = pattern.columns;
    let mut number = vec![NONE; n];
    let mut low = vec![0u32; n];
    let mut finished = vec![false; n];
    let mut cursor = vec![0usize; n];
    let mut order = Vec::with_capacity(n);
    let mut starts = vec![0];
    let mut component: Vec<u32> = Vec::new();
    let mut path: Vec<u32> = Vec::new();
    let mut counter = 0;
    for root in 0..n {
        if number[root] != NONE {
            continue;
        }
        path.push(root as u32);
        while let Some(column) = path.last().copied() {
            let j = column as usize;
            if number[j] == NONE {
                number[j] = counter;
                low[j] = counter;
                counter += 1;
                cursor[j] = pattern.starts[j];
                component.push(column);
            }
            let mut descend = NONE;
            while cursor[j] < pattern.starts[j + 1] {
                let next = column_of_row[pattern.indices[cursor[j]] as usize];
                let k = next as usize;
                if number[k] == NONE {
                    descend = next;
                    break;
                }
                if !finished[k] {
                    low[j] = low[j].min(low[k]);
                }
                cursor[j] += 1;
            }
            if descend != NONE {
                path.push(descend);
                continue;
            }
            path.pop();
            if low[j] == number[j] {
                while let Some(member) = component.pop() {
                    finished[member as usize] = true;
                    order.push(member);
                    if member == column {
                        break;
                    }
                }
                starts.push(order.len());
            }
        }
    }
    (order, starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn chain_falls_apart_and_ring_stays_whole() {
        let n = 6;
        let chain = Pattern::from_entries(n, n, (0..n).flat_map(|i| [(i, i), (i, i.saturating_sub(1))]));
        assert_eq!(BlockTriangular::new(&chain).unwrap().starts.len(), n + 1);
        let ring = Pattern::from_entries(n, n, (0..n).flat_map(|i| [(i, i), (i, (i + 1) % n)]));
        assert_eq!(BlockTriangular::new(&ring).unwrap().starts, [0, n]);
        let singular = Pattern::from_entries(2, 2, [(0, 0), (0, 1)]);
        assert_eq!(BlockTriangular::new(&singular), Err(Singular { column: 1 }));
    }

    proptest! {
        #[test]
        fn form_is_block_upper_triangular(entries in proptest::collection::vec((0usize..15, 0usize..15), 15..60), shift in 0usize..15) {
            let transversal = (0..15).map(|j| ((j + shift) % 15, j));
            let pattern = Pattern::from_entries(15, 15, entries.into_iter().chain(transversal));
            let form = BlockTriangular::new(&pattern).unwrap();
            let mut block_of_row = [0; 15];
            let mut block_of_position = [0; 15];
            for (block, range) in form.starts.windows(2).enumerate() {
                for position in range[0]..range[1] {
                    block_of_row[form.rows[position] as usize] = block;
                    block_of_position[position] = block;
                }
            }
            for (position, column) in form.columns.iter().enumerate() {
                prop_assert!(pattern.position(form.rows[position] as usize, *column as usize).is_some());
                for row in pattern.column(*column as usize) {
                    prop_assert!(block_of_row[*row as usize] <= block_of_position[position]);
                }
            }
        }
    }
}
