//! Sparse LU factorisation of one matrix pattern with many values: block triangular form, minimum degree order in each
//! block, left-looking elimination with threshold pivoting once, and refactorisation with the same pivots thereafter.
//!
//! The elimination is that of Gilbert and Peierls, *Sparse partial pivoting in time proportional to arithmetic
//! operations*, SIAM J. Sci. Stat. Comput. 9 (1988). Pivots are compared after implicit scaling by the largest entry
//! of each row, in units that make columns alike where they differ by orders of magnitude, and the structural diagonal is
//! preferred. A refactorisation whose multipliers grow far beyond those
//! of the pivoted factorisation is given up, and pivots are chosen anew.

use crate::block_triangular::BlockTriangular;
use crate::dense::alternating;
use crate::equilibrate::{equilibrate, sizes_are_uneven};
use crate::error::Singular;
use crate::minimum_degree::minimum_degree;
use crate::sparse::Pattern;

const NONE: u32 = u32::MAX;
/// The diagonal is taken as pivot when it is at least this fraction of the largest candidate.
const DIAGONAL_PREFERENCE: f64 = 1e-3;
/// Growth of the multipliers, beyond those of the pivoted factorisation, at which fixed pivots are no longer trusted.
const GROWTH_LIMIT: f64 = 1e3;

/// One entry of a factor: what to do with it in a solve stands together, because columns are short.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    row: u32,
    column: u32,
    value: f64,
}

/// A triangular factor by columns; rows and columns are pivot positions.
#[derive(Clone, Debug, Default)]
struct Factor {
    starts: Vec<usize>,
    entries: Vec<Entry>,
}

impl Factor {
    fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.entries.clear();
    }

    fn close_column(&mut self) {
        self.starts.push(self.entries.len());
    }

    /// The entries of the columns from `start` up to `end`.
    fn columns(&self, start: usize, end: usize) -> &[Entry] {
        &self.entries[self.starts[start]..self.starts[end]]
    }
}

/// Factors of a sparse matrix.
#[derive(Clone, Debug, Default)]
pub struct SparseLu {
    pattern: Pattern,
    /// Order of columns and structural diagonal, block by block.
    columns: Vec<u32>,
    diagonal_rows: Vec<u32>,
    block_starts: Vec<usize>,
    /// Pivot position of each row.
    position_of_row: Vec<u32>,
    row_at: Vec<u32>,
    lower: Factor,
    /// Divided by the pivots of its columns, so that its diagonal is one.
    upper: Factor,
    /// Entries above the diagonal blocks.
    above: Factor,
    inverse_pivots: Vec<f64>,
    /// For each column position, the entries inside its block: where the value is and where it goes.
    inside_starts: Vec<usize>,
    inside: Vec<(u32, u32)>,
    /// For each entry of `above`, where its value is.
    above_source: Vec<u32>,
    largest_multiplier: f64,
    factored: bool,
    /// The sign of the determinant of the permutation that the pivots are.
    permutation_sign: f64,
    work: Vec<f64>,
    row_scale: Vec<f64>,
    mark: Vec<u32>,
    stack: Vec<(u32, usize)>,
    reach: Vec<u32>,
    /// For each column of L, where the search for its reach may stop.
    search_end: Vec<usize>,
    pivoted_factorisations: u64,
}

fn for_each_entry(pattern: &Pattern, values: &[f64], visit: &mut dyn FnMut(usize, usize, f64)) {
    for column in 0..pattern.columns {
        for position in pattern.starts[column]..pattern.starts[column + 1] {
            visit(pattern.indices[position] as usize, column, values[position]);
        }
    }
}

impl SparseLu {
    /// Analyses the pattern. Fails when it is structurally singular.
    pub fn new(pattern: &Pattern) -> Result<Self, Singular> {
        let n = pattern.columns;
        let form = BlockTriangular::new(pattern)?;
        let mut lu = SparseLu {
            pattern: pattern.clone(),
            columns: form.columns,
            diagonal_rows: form.rows,
            block_starts: form.starts,
            position_of_row: vec![NONE; n],
            row_at: vec![NONE; n],
            inverse_pivots: vec![0.0; n],
            work: vec![0.0; n],
            row_scale: vec![1.0; n],
            mark: vec![NONE; n],
            ..SparseLu::default()
        };
        lu.order_blocks();
        Ok(lu)
    }

    /// The number of rows.
    pub fn size(&self) -> usize {
        self.columns.len()
    }

    /// How many diagonal blocks the matrix falls into.
    pub fn blocks(&self) -> usize {
        self.block_starts.len().saturating_sub(1)
    }

    /// Entries of both factors and above the blocks.
    pub fn fill(&self) -> usize {
        self.lower.entries.len() + self.upper.entries.len() + self.above.entries.len() + self.inverse_pivots.len()
    }

    /// Multiplications of a refactorisation.
    pub fn operations(&self) -> usize {
        let column = |k: usize| self.lower.starts[k + 1] - self.lower.starts[k] + 1;
        let updates: usize = self.upper.entries.iter().map(|u| column(u.row as usize)).sum();
        updates + self.lower.entries.len()
    }

    /// How often pivots were searched: once for a well-behaved sequence of matrices.
    pub fn pivoted_factorisations(&self) -> u64 {
        self.pivoted_factorisations
    }

    fn order_blocks(&mut self) {
        let mut local = vec![NONE; self.size()];
        for block in 0..self.blocks() {
            let (start, end) = (self.block_starts[block], self.block_starts[block + 1]);
            if end - start < 3 {
                continue;
            }
            for position in start..end {
                local[self.diagonal_rows[position] as usize] = (position - start) as u32;
            }
            let mut sub = Pattern { rows: end - start, columns: end - start, starts: vec![0], indices: Vec::new() };
            for position in start..end {
                let rows = self.pattern.column(self.columns[position] as usize);
                let first = sub.indices.len();
                sub.indices.extend(rows.iter().map(|row| local[*row as usize]).filter(|row| *row != NONE));
                sub.indices[first..].sort_unstable();
                sub.starts.push(sub.indices.len());
            }
            let order = minimum_degree(&sub);
            let columns: Vec<u32> = order.iter().map(|k| self.columns[start + *k as usize]).collect();
            let rows: Vec<u32> = order.iter().map(|k| self.diagonal_rows[start + *k as usize]).collect();
            for row in &rows {
                local[*row as usize] = NONE;
            }
            self.columns[start..end].copy_from_slice(&columns);
            self.diagonal_rows[start..end].copy_from_slice(&rows);
        }
    }

    /// The pattern of the matrix.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Factorises the matrix with these values (in the order of the pattern), with the known pivots if they serve.
    pub fn factor(&mut self, values: &[f64]) -> Result<(), Singular> {
        if self.factored && self.refactor(values) {
            return Ok(());
        }
        self.factor_with_pivoting(values)
    }

    /// Factorises with a new search for pivots.
    pub fn factor_with_pivoting(&mut self, values: &[f64]) -> Result<(), Singular> {
        self.factored = false;
        self.pivoted_factorisations += 1;
        self.largest_multiplier = 1.0;
        self.scale_rows(values);
        self.position_of_row.fill(NONE);
        self.mark.fill(NONE);
        self.search_end.clear();
        self.work.fill(0.0);
        for factor in [&mut self.lower, &mut self.upper, &mut self.above] {
            factor.clear();
        }
        for block in 0..self.blocks() {
            let (start, end) = (self.block_starts[block], self.block_starts[block + 1]);
            for k in start..end {
                self.eliminate_column(k, start, values)?;
            }
        }
        self.finish();
        self.factored = true;
        Ok(())
    }

    fn scale_rows(&mut self, values: &[f64]) {
        self.row_scale.fill(0.0);
        for (row, value) in self.pattern.indices.iter().zip(values) {
            let size = &mut self.row_scale[*row as usize];
            *size = size.max(value.abs());
        }
        for size in &mut self.row_scale {
            *size = if *size > 0.0 && size.is_finite() { 1.0 / *size } else { 1.0 };
        }
        let mut column_sizes = vec![0.0f64; self.pattern.columns];
        for_each_entry(&self.pattern, values, &mut |row, column, value| {
            column_sizes[column] = column_sizes[column].max((value * self.row_scale[row]).abs());
        });
        if sizes_are_uneven(&column_sizes) {
            equilibrate(&mut self.row_scale, &mut column_sizes, |visit| for_each_entry(&self.pattern, values, visit));
        }
    }

    /// One column of the elimination. While it runs, `lower` names rows by their original index.
    fn eliminate_column(&mut self, k: usize, block_start: usize, values: &[f64]) -> Result<(), Singular> {
        let column = self.columns[k] as usize;
        self.reach.clear();
        let mut size = 0.0_f64;
        for position in self.pattern.starts[column]..self.pattern.starts[column + 1] {
            let row = self.pattern.indices[position] as usize;
            let at = self.position_of_row[row];
            if at != NONE && (at as usize) < block_start {
                self.above.entries.push(Entry { row: at, column: k as u32, value: values[position] });
                continue;
            }
            self.search_from(row as u32, k as u32);
            self.work[row] = values[position];
            size = size.max((values[position] * self.row_scale[row]).abs());
        }
        self.above.close_column();
        // `reach` is in postorder: its reverse is topological.
        for index in (0..self.reach.len()).rev() {
            let row = self.reach[index] as usize;
            let at = self.position_of_row[row];
            if at == NONE {
                continue;
            }
            let u = self.work[row];
            self.upper.entries.push(Entry { row: at, column: k as u32, value: u });
            self.work[row] = 0.0;
            let at = at as usize;
            for l in &self.lower.entries[self.lower.starts[at]..self.lower.starts[at + 1]] {
                self.work[l.row as usize] -= l.value * u;
            }
        }
        self.upper.close_column();
        self.choose_pivot(k, size)
    }

    /// Depth-first search through the columns of L, from a row of the right-hand side.
    fn search_from(&mut self, root: u32, k: u32) {
        if self.mark[root as usize] == k {
            return;
        }
        self.mark[root as usize] = k;
        self.stack.clear();
        self.stack.push((root, self.first_of(root)));
        while let Some((row, cursor)) = self.stack.last_mut() {
            let at = self.position_of_row[*row as usize];
            let end = if at == NONE { 0 } else { self.search_end[at as usize] };
            let mut descend = NONE;
            while *cursor < end {
                let next = self.lower.entries[*cursor].row;
                *cursor += 1;
                if self.mark[next as usize] != k {
                    self.mark[next as usize] = k;
                    descend = next;
                    break;
                }
            }
            if descend == NONE {
                let row = *row;
                self.stack.pop();
                self.reach.push(row);
            } else {
                let first = self.first_of(descend);
                self.stack.push((descend, first));
            }
        }
    }

    fn first_of(&self, row: u32) -> usize {
        match self.position_of_row[row as usize] {
            NONE => 0,
            at => self.lower.starts[at as usize],
        }
    }

    fn choose_pivot(&mut self, k: usize, size: f64) -> Result<(), Singular> {
        let (mut best, mut largest) = (NONE, 0.0_f64);
        for row in &self.reach {
            let i = *row as usize;
            if self.position_of_row[i] == NONE {
                let candidate = (self.work[i] * self.row_scale[i]).abs();
                if candidate > largest {
                    (best, largest) = (*row, candidate);
                }
                if candidate.is_nan() {
                    return Err(Singular { column: self.columns[k] as usize });
                }
            }
        }
        if best == NONE || !largest.is_finite() || largest <= 4.0 * f64::EPSILON * size {
            for row in &self.reach {
                self.work[*row as usize] = 0.0;
            }
            return Err(Singular { column: self.columns[k] as usize });
        }
        let diagonal = self.diagonal_rows[k] as usize;
        if self.position_of_row[diagonal] == NONE && self.mark[diagonal] == k as u32 {
            let candidate = (self.work[diagonal] * self.row_scale[diagonal]).abs();
            if candidate >= DIAGONAL_PREFERENCE * largest {
                best = diagonal as u32;
            }
        }
        let pivot = self.work[best as usize];
        self.position_of_row[best as usize] = k as u32;
        self.row_at[k] = best;
        self.inverse_pivots[k] = 1.0 / pivot;
        let upper_start = self.upper.starts[k];
        self.upper.entries[upper_start..].iter_mut().for_each(|u| u.value /= pivot);
        for index in 0..self.reach.len() {
            let row = self.reach[index] as usize;
            if self.position_of_row[row] == NONE {
                let multiplier = self.work[row] / pivot;
                self.largest_multiplier = self.largest_multiplier.max(multiplier.abs());
                self.lower.entries.push(Entry { row: row as u32, column: k as u32, value: multiplier });
            }
            self.work[row] = 0.0;
        }
        self.lower.close_column();
        self.search_end.push(self.lower.entries.len());
        self.prune(k, best);
        Ok(())
    }

    /// Columns of L that reach the new pivot row through U need not be searched beyond their pivotal rows any more,
    /// because the new column reaches the rest (symmetric pruning of Eisenstat and Liu, 1992).
    fn prune(&mut self, k: usize, pivot_row: u32) {
        for u in &self.upper.entries[self.upper.starts[k]..self.upper.starts[k + 1]] {
            let j = u.row as usize;
            let (start, end) = (self.lower.starts[j], self.lower.starts[j + 1]);
            let entries = &mut self.lower.entries[start..end];
            if self.search_end[j] < end || !entries.iter().any(|l| l.row == pivot_row) {
                continue;
            }
            let mut pivotal = 0;
            for place in 0..entries.len() {
                if self.position_of_row[entries[place].row as usize] != NONE {
                    entries.swap(pivotal, place);
                    pivotal += 1;
                }
            }
            self.search_end[j] = start + pivotal;
        }
    }

    /// The sign of the determinant.
    pub fn orientation(&self) -> f64 {
        let negative = self.inverse_pivots.iter().filter(|inverse| **inverse < 0.0).count();
        self.permutation_sign * alternating(negative)
    }

    /// Follows the cycles of the permutation that takes each pivot to the diagonal.
    fn sign_of_pivots(&mut self) -> f64 {
        let mut row_of_column = vec![0; self.size()];
        for (column, row) in self.columns.iter().zip(&self.row_at) {
            row_of_column[*column as usize] = *row as usize;
        }
        let mut exchanges = 0;
        for place in 0..row_of_column.len() {
            while row_of_column[place] != place {
                let other = row_of_column[place];
                row_of_column.swap(place, other);
                exchanges += 1;
            }
        }
        alternating(exchanges)
    }

    /// Renames rows to pivot positions, sorts the factors and notes where each value goes.
    fn finish(&mut self) {
        self.permutation_sign = self.sign_of_pivots();
        for l in &mut self.lower.entries {
            l.row = self.position_of_row[l.row as usize];
        }
        for factor in [&mut self.lower, &mut self.upper] {
            for k in 0..self.columns.len() {
                factor.entries[factor.starts[k]..factor.starts[k + 1]].sort_unstable_by_key(|entry| entry.row);
            }
        }
        self.inside.clear();
        self.inside_starts.clear();
        self.inside_starts.push(0);
        self.above_source.clear();
        for block in 0..self.blocks() {
            let (start, end) = (self.block_starts[block], self.block_starts[block + 1]);
            for k in start..end {
                let column = self.columns[k] as usize;
                for source in self.pattern.starts[column]..self.pattern.starts[column + 1] {
                    let at = self.position_of_row[self.pattern.indices[source] as usize];
                    if (at as usize) < start {
                        self.above_source.push(source as u32);
                    } else {
                        self.inside.push((source as u32, at));
                    }
                }
                self.inside_starts.push(self.inside.len());
            }
        }
    }

    /// New values with the old pivots. False when the pivots have become too small.
    fn refactor(&mut self, values: &[f64]) -> bool {
        for (entry, source) in self.above.entries.iter_mut().zip(&self.above_source) {
            entry.value = values[*source as usize];
        }
        let limit = GROWTH_LIMIT * self.largest_multiplier;
        let work = &mut self.work[..];
        let lower_starts = &self.lower.starts[..];
        let (mut inside, mut upper) = (0, 0);
        for k in 0..self.columns.len() {
            let inside_end = self.inside_starts[k + 1];
            for (source, at) in &self.inside[inside..inside_end] {
                work[*at as usize] = values[*source as usize];
            }
            inside = inside_end;
            let upper_end = self.upper.starts[k + 1];
            for u in &mut self.upper.entries[upper..upper_end] {
                let at = u.row as usize;
                let value = std::mem::replace(&mut work[at], 0.0);
                u.value = value;
                for l in &self.lower.entries[lower_starts[at]..lower_starts[at + 1]] {
                    work[l.row as usize] -= l.value * value;
                }
            }
            let inverse = 1.0 / std::mem::replace(&mut work[k], 0.0);
            self.inverse_pivots[k] = inverse;
            self.upper.entries[upper..upper_end].iter_mut().for_each(|u| u.value *= inverse);
            upper = upper_end;
            let mut largest = 0.0_f64;
            for l in &mut self.lower.entries[lower_starts[k]..lower_starts[k + 1]] {
                let value = std::mem::replace(&mut work[l.row as usize], 0.0) * inverse;
                largest = largest.max(value.abs());
                l.value = value;
            }
            if !inverse.is_finite() || !(largest <= limit) {
                // The scratch of this column is clean already; later columns were not begun.
                return false;
            }
        }
        true
    }

    /// Overwrites `b` by the solution of `A x = b`.
    pub fn solve(&mut self, b: &mut [f64]) {
        let x = &mut self.work[..];
        for (x, row) in x.iter_mut().zip(&self.row_at) {
            *x = b[*row as usize];
        }
        for block in (0..self.block_starts.len().saturating_sub(1)).rev() {
            let (start, end) = (self.block_starts[block], self.block_starts[block + 1]);
            if end - start > 1 {
                subtract(x, self.lower.columns(start, end).iter());
                subtract(x, self.upper.columns(start, end).iter().rev());
            }
            for (x, inverse) in x[start..end].iter_mut().zip(&self.inverse_pivots[start..end]) {
                *x *= inverse;
            }
            if start > 0 {
                subtract(x, self.above.columns(start, end).iter());
            }
        }
        for (x, column) in x.iter_mut().zip(&self.columns) {
            b[*column as usize] = std::mem::replace(x, 0.0);
        }
    }
}

/// `x[row] −= value · x[column]` for one entry after the other.
fn subtract<'a>(x: &mut [f64], entries: impl Iterator<Item = &'a Entry>) {
    for entry in entries {
        x[entry.row as usize] -= entry.value * x[entry.column as usize];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::DenseLu;
    use crate::sparse::SparseMatrix;
    use proptest::prelude::*;

    fn check(lu: &mut SparseLu, matrix: &SparseMatrix, tolerance: f64) {
        let n = matrix.pattern.columns;
        let x: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64 * 0.7).sin()).collect();
        let mut b = vec![0.0; n];
        matrix.multiply(&x, &mut b);
        lu.solve(&mut b);
        for (x, b) in x.iter().zip(&b) {
            assert!((x - b).abs() < tolerance, "{x} {b}");
        }
    }

    #[test]
    fn grid_refactors_without_new_pivots() {
        let side = 15;
        let mut triplets = Vec::new();
        for k in 0..side * side {
            triplets.push((k, k, 4.1));
            if k % side + 1 < side {
                triplets.extend([(k, k + 1, -1.0), (k + 1, k, -1.0)]);
            }
            if k + side < side * side {
                triplets.extend([(k, k + side, -1.2), (k + side, k, -0.8)]);
            }
        }
        let mut matrix = SparseMatrix::from_triplets(side * side, side * side, &triplets);
        let mut lu = SparseLu::new(&matrix.pattern).unwrap();
        for round in 0..5 {
            for (p, value) in matrix.values.iter_mut().enumerate() {
                *value *= 1.0 + 0.01 * ((p + round) as f64).cos();
            }
            lu.factor(&matrix.values).unwrap();
            check(&mut lu, &matrix, 1e-12);
        }
        assert_eq!(lu.pivoted_factorisations(), 1);
        assert!(lu.fill() < 5200, "{}", lu.fill());
    }

    #[test]
    fn chooses_new_pivots_when_the_old_ones_vanish() {
        let pattern = Pattern::full(2, 2);
        let mut lu = SparseLu::new(&pattern).unwrap();
        let mut matrix = SparseMatrix { pattern: pattern.clone(), values: vec![1.0, 0.5, 0.5, 1.0] };
        lu.factor(&matrix.values).unwrap();
        check(&mut lu, &matrix, 1e-15);
        matrix.values = vec![0.0, 1.0, 1.0, 0.0];
        lu.factor(&matrix.values).unwrap();
        check(&mut lu, &matrix, 1e-15);
        matrix.values = vec![1e-20, 1.0, 1.0, 1e-20];
        lu.factor(&matrix.values).unwrap();
        check(&mut lu, &matrix, 1e-15);
        assert_eq!(lu.pivoted_factorisations(), 2);
        assert!(lu.factor(&[1.0, 2.0, 2.0, 4.0]).is_err());
        assert!(lu.factor(&[f64::NAN, 2.0, 2.0, 4.0]).is_err());
        // After a failure it is usable again.
        lu.factor(&matrix.values).unwrap();
        check(&mut lu, &matrix, 1e-15);
    }

    proptest! {
        #[test]
        fn agrees_with_dense(
            entries in proptest::collection::vec((0usize..12, 0usize..12, -1.0f64..1.0), 0..60),
            diagonal in proptest::collection::vec(prop_oneof![0.5f64..2.0, -2.0f64..-0.5], 12),
            shift in 0usize..12,
            changes in proptest::collection::vec(0.9f64..1.1, 100),
        ) {
            let mut triplets = entries;
            triplets.extend(diagonal.iter().enumerate().map(|(j, v)| ((j + shift) % 12, j, *v)));
            let mut matrix = SparseMatrix::from_triplets(12, 12, &triplets);
            let mut lu = SparseLu::new(&matrix.pattern).unwrap();
            for round in 0..3 {
                for (value, change) in matrix.values.iter_mut().zip(&changes[round..]) {
                    *value *= change;
                }
                let mut full = vec![0.0; 144];
                for j in 0..12 {
                    for p in matrix.pattern.starts[j]..matrix.pattern.starts[j + 1] {
                        full[j * 12 + matrix.pattern.indices[p] as usize] = matrix.values[p];
                    }
                }
                let mut dense = DenseLu::new(12);
                let reference = dense.factor(&full);
                let result = lu.factor(&matrix.values);
                let (Ok(()), Ok(())) = (reference, result) else { continue };
                // Nearly singular samples are no test of accuracy.
                let mut x: Vec<f64> = (0..12).map(|i| (i as f64).cos()).collect();
                let mut y = x.clone();
                dense.solve(&mut x);
                lu.solve(&mut y);
                let size = x.iter().fold(1.0f64, |a, b| a.max(b.abs()));
                if size > 1e4 { continue; }
                prop_assert_eq!(dense.orientation(), lu.orientation());
                prop_assert_eq!(dense.orientation(), dense.determinant().signum());
                for (x, y) in x.iter().zip(&y) {
                    prop_assert!((x - y).abs() < 1e-7 * size, "{} {}", x, y);
                }
            }
        }
    }
}
