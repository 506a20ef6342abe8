//! Matrices that know how large the terms were that each entry came from, so that decisions about zeros are made entry by entry.
//!
//! In a system with fast and slow parts the entries of the slow ones are many orders of magnitude below the norm of the whole
//! matrix, and not zero for that. An entry is zero where it is no more than rounding errors of what was added up in it. Elementary
//! operations, with factors of at most one on balanced matrices, keep parts apart that reflections would mix.

use faer::Mat;

/// Rounding errors of the given entries, relative to the largest one of their row.
const NOISE: f64 = 8.0 * f64::EPSILON;

#[derive(Clone)]
pub(crate) struct Graded {
    pub value: Mat<f64>,
    /// The largest magnitude that took part in an entry.
    terms: Mat<f64>,
}

/// The largest magnitude in each row of matrices that stand side by side.
pub(crate) fn row_sizes(parts: &[&Mat<f64>]) -> Vec<f64> {
    let rows = parts.first().map_or(0, |part| part.nrows());
    let largest = |part: &Mat<f64>, i: usize| (0..part.ncols()).map(|j| part[(i, j)].abs()).fold(0.0, f64::max);
    (0..rows).map(|i| parts.iter().map(|part| largest(part, i)).fold(0.0, f64::max)).collect()
}

impl Graded {
    /// The sizes of rows bound the rounding errors that the entries came with.
    pub fn new(value: Mat<f64>, row_sizes: &[f64], tolerance: f64) -> Self {
        let floor = |i: usize| NOISE / tolerance * row_sizes.get(i).copied().unwrap_or(0.0);
        let terms = Mat::from_fn(value.nrows(), value.ncols(), |i, j| match value[(i, j)].abs() {
            0.0 => 0.0,
            size => size.max(floor(i)),
        });
        Self { value, terms }
    }

    pub fn rows(&self) -> usize {
        self.value.nrows()
    }

    pub fn columns(&self) -> usize {
        self.value.ncols()
    }

    pub fn transposed(&self) -> Self {
        Self { value: self.value.transpose().to_owned(), terms: self.terms.transpose().to_owned() }
    }

    /// How large an entry is; zero where it is rounding errors.
    pub fn size(&self, i: usize, j: usize, tolerance: f64) -> f64 {
        let size = self.value[(i, j)].abs();
        if size > tolerance * self.terms[(i, j)] { size } else { 0.0 }
    }

    /// The largest magnitude that took part in an entry.
    pub fn terms(&self, i: usize, j: usize) -> f64 {
        self.terms[(i, j)]
    }

    pub fn clear(&mut self, i: usize, j: usize) {
        (self.value[(i, j)], self.terms[(i, j)]) = (0.0, 0.0);
    }

    pub fn swap_rows(&mut self, i: usize, k: usize) {
        for matrix in [&mut self.value, &mut self.terms] {
            for j in 0..matrix.ncols() {
                let (one, other) = (matrix[(i, j)], matrix[(k, j)]);
                (matrix[(i, j)], matrix[(k, j)]) = (other, one);
            }
        }
    }

    pub fn swap_columns(&mut self, j: usize, k: usize) {
        for matrix in [&mut self.value, &mut self.terms] {
            for i in 0..matrix.nrows() {
                let (one, other) = (matrix[(i, j)], matrix[(i, k)]);
                (matrix[(i, j)], matrix[(i, k)]) = (other, one);
            }
        }
    }

    /// Adds a multiple of a row to another one.
    pub fn add_row(&mut self, to: usize, factor: f64, from: usize) {
        if factor == 0.0 {
            return;
        }
        for j in 0..self.value.ncols() {
            let added = self.value[(from, j)];
            if added != 0.0 {
                self.value[(to, j)] += factor * added;
                self.note(to, j, factor.abs() * self.terms[(from, j)]);
            }
        }
    }

    /// Adds a multiple of a column to another one.
    pub fn add_column(&mut self, to: usize, factor: f64, from: usize) {
        if factor == 0.0 {
            return;
        }
        for i in 0..self.value.nrows() {
            let added = self.value[(i, from)];
            if added != 0.0 {
                self.value[(i, to)] += factor * added;
                self.note(i, to, factor.abs() * self.terms[(i, from)]);
            }
        }
    }

    fn note(&mut self, i: usize, j: usize, term: f64) {
        let terms = self.terms[(i, j)].max(term).max(self.value[(i, j)].abs());
        self.terms[(i, j)] = terms;
    }

    /// A row times a power of two that brings its largest entry, here and in the columns of `other` from `first` on, near one.
    pub fn even_row(&mut self, i: usize, other: &mut Self, first: usize) {
        let largest =
            |it: &Self, first: usize| (first..it.columns()).map(|j| it.value[(i, j)].abs()).fold(0.0, f64::max);
        let size = largest(self, 0).max(largest(other, first));
        if size <= 0.0 || !size.is_finite() {
            return;
        }
        let factor = (-size.log2().round()).clamp(-900.0, 900.0).exp2();
        for it in [self, other] {
            for j in 0..it.columns() {
                it.value[(i, j)] *= factor;
                it.terms[(i, j)] *= factor;
            }
        }
    }

    pub fn part(&self, row: usize, rows: usize, column: usize, columns: usize) -> Self {
        let part = |matrix: &Mat<f64>| matrix.as_ref().submatrix(row, column, rows, columns).to_owned();
        Self { value: part(&self.value), terms: part(&self.terms) }
    }

    pub fn stacked(&self, lower: &Self) -> Self {
        let split = self.rows();
        let stack = |one: &Mat<f64>, other: &Mat<f64>| {
            Mat::from_fn(split + other.nrows(), one.ncols(), |i, j| {
                if i < split { one[(i, j)] } else { other[(i - split, j)] }
            })
        };
        Self { value: stack(&self.value, &lower.value), terms: stack(&self.terms, &lower.terms) }
    }

    /// The largest entry that is not zero in a part, by row and column.
    pub fn pivot(
        &self,
        rows: std::ops::Range<usize>,
        columns: std::ops::Range<usize>,
        tolerance: f64,
    ) -> Option<(usize, usize)> {
        let mut best = None;
        let mut largest = 0.0;
        for j in columns {
            for i in rows.clone() {
                let size = self.size(i, j, tolerance);
                if size > largest {
                    (largest, best) = (size, Some((i, j)));
                }
            }
        }
        best
    }
}
