//! Sparse matrices stored by columns (compressed sparse column), and their patterns.
//!
//! A pattern is separate from the values because the pattern of a Jacobian is known from structure and analysed once,
//! while the values change all the time. Row indices within a column are ascending.

/// Where the entries of a sparse matrix are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// How many rows there are.
    pub rows: usize,
    /// How many columns there are.
    pub columns: usize,
    /// Entries of column j are at positions `starts[j]..starts[j + 1]`.
    pub starts: Vec<usize>,
    /// The row of each entry.
    pub indices: Vec<u32>,
}

impl Pattern {
    /// Builds a pattern from (row, column) pairs in any order; repeated pairs and pairs outside are dropped.
    pub fn from_entries(rows: usize, columns: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut pairs: Vec<(u32, u32)> = entries
            .into_iter()
            .filter(|(row, column)| *row < rows && *column < columns)
            .map(|(row, column)| (column as u32, row as u32))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; columns + 1];
        for (column, _) in &pairs {
            starts[*column as usize + 1] += 1;
        }
        for j in 0..columns {
            starts[j + 1] += starts[j];
        }
        Pattern { rows, columns, starts, indices: pairs.into_iter().map(|(_, row)| row).collect() }
    }

    /// Every entry present.
    pub fn full(rows: usize, columns: usize) -> Self {
        Pattern {
            rows,
            columns,
            starts: (0..=columns).map(|j| j * rows).collect(),
            indices: (0..columns).flat_map(|_| 0..rows as u32).collect(),
        }
    }

    /// How many entries there are.
    pub fn entries(&self) -> usize {
        self.indices.len()
    }

    /// The rows of a column.
    #[inline]
    pub fn column(&self, column: usize) -> &[u32] {
        &self.indices[self.starts[column]..self.starts[column + 1]]
    }

    /// The position of an entry among the values.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        let offset = self.column(column).binary_search(&(row as u32)).ok()?;
        Some(self.starts[column] + offset)
    }

    /// The share of entries among all places.
    pub fn density(&self) -> f64 {
        let cells = (self.rows * self.columns).max(1);
        self.entries() as f64 / cells as f64
    }

    /// The pattern with the whole diagonal added, as the iteration matrix `c·I − J` needs it.
    pub fn with_diagonal(&self) -> Pattern {
        let mut starts = Vec::with_capacity(self.columns + 1);
        let mut indices = Vec::with_capacity(self.entries() + self.columns.min(self.rows));
        starts.push(0);
        for j in 0..self.columns {
            let own = self.column(j);
            let above = own.partition_point(|i| (*i as usize) < j);
            indices.extend_from_slice(&own[..above]);
            if j < self.rows && own.get(above).is_none_or(|i| *i as usize != j) {
                indices.push(j as u32);
            }
            indices.extend_from_slice(&own[above..]);
            starts.push(indices.len());
        }
        Pattern { rows: self.rows, columns: self.columns, starts, indices }
    }

    /// For each entry of this pattern its position in `larger`, which holds them all.
    pub fn positions_in(&self, larger: &Pattern) -> Vec<u32> {
        let mut positions = Vec::with_capacity(self.entries());
        for j in 0..self.columns {
            let mut position = larger.starts[j];
            for i in self.column(j) {
                while larger.indices[position] < *i {
                    position += 1;
                }
                positions.push(position as u32);
            }
        }
        positions
    }

    /// The union of two patterns of the same shape.
    pub fn union(&self, other: &Pattern) -> Pattern {
        let entries_of = |p: &Pattern| -> Vec<(usize, usize)> {
            (0..p.columns).flat_map(|j| p.column(j).iter().map(move |i| (*i as usize, j))).collect()
        };
        Pattern::from_entries(self.rows, self.columns, entries_of(self).into_iter().chain(entries_of(other)))
    }

    /// The pattern of the transposed matrix.
    pub fn transposed(&self) -> Pattern {
        let mut starts = vec![0; self.rows + 1];
        for i in &self.indices {
            starts[*i as usize + 1] += 1;
        }
        for i in 0..self.rows {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut indices = vec![0; self.indices.len()];
        for j in 0..self.columns {
            for i in self.column(j) {
                let place = &mut next[*i as usize];
                indices[*place] = j as u32;
                *place += 1;
            }
        }
        Pattern { rows: self.columns, columns: self.rows, starts, indices }
    }
}

/// A sparse matrix: a pattern and the values in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseMatrix {
    /// Where the entries are.
    pub pattern: Pattern,
    /// The entries.
    pub values: Vec<f64>,
}

impl SparseMatrix {
    /// Builds a matrix from (row, column, value) triplets; values of repeated places are added.
    pub fn from_triplets(rows: usize, columns: usize, triplets: &[(usize, usize, f64)]) -> Self {
        let pattern = Pattern::from_entries(rows, columns, triplets.iter().map(|(i, j, _)| (*i, *j)));
        let mut values = vec![0.0; pattern.entries()];
        for (i, j, value) in triplets {
            if let Some(position) = pattern.position(*i, *j) {
                values[position] += value;
            }
        }
        SparseMatrix { pattern, values }
    }

    /// `out = self · x`
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (j, xj) in x.iter().enumerate().take(self.pattern.columns) {
            for position in self.pattern.starts[j]..self.pattern.starts[j + 1] {
                out[self.pattern.indices[position] as usize] += self.values[position] * xj;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let pattern = Pattern::from_entries(3, 3, [(2, 0), (0, 0), (2, 0), (1, 2), (7, 7)]);
        assert_eq!(pattern.starts, [0, 2, 2, 3]);
        assert_eq!(pattern.indices, [0, 2, 1]);
        assert_eq!(pattern.position(2, 0), Some(1));
        assert_eq!(pattern.position(1, 1), None);
        let whole = pattern.with_diagonal();
        assert_eq!(whole, Pattern::from_entries(3, 3, [(0, 0), (2, 0), (1, 1), (1, 2), (2, 2)]));
        assert_eq!(pattern.positions_in(&whole), [0, 1, 3]);
        assert_eq!(whole.with_diagonal(), whole);
        assert_eq!(pattern.transposed().transposed(), pattern);
        assert_eq!(Pattern::full(2, 2).entries(), 4);
    }

    #[test]
    fn triplets_add_up() {
        let matrix = SparseMatrix::from_triplets(2, 2, &[(0, 0, 1.0), (1, 0, 2.0), (0, 0, 3.0)]);
        let mut out = [0.0; 2];
        matrix.multiply(&[2.0, 5.0], &mut out);
        assert_eq!(out, [8.0, 4.0]);
    }
}
