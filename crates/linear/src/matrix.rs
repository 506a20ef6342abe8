//! A dense matrix of anything: numbers, or texts of a symbolic state space.

use std::ops::{Index, IndexMut};

use faer::Mat;

/// Stored row by row.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Matrix<T = f64> {
    rows: usize,
    columns: usize,
    entries: Vec<T>,
}

impl<T> Matrix<T> {
    /// With an entry for each row and column.
    pub fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> T) -> Self {
        let entries = (0..rows * columns).map(|at| entry(at / columns, at % columns)).collect();
        Self { rows, columns, entries }
    }

    /// `None` where the entries do not fill the matrix exactly.
    pub fn from_entries(rows: usize, columns: usize, entries: Vec<T>) -> Option<Self> {
        (entries.len() == rows * columns).then_some(Self { rows, columns, entries })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[T] {
        &self.entries[row * self.columns..(row + 1) * self.columns]
    }

    /// All entries, row by row.
    pub fn entries(&self) -> &[T] {
        &self.entries
    }

    /// The same with other entries.
    pub fn map<U>(&self, f: impl FnMut(&T) -> U) -> Matrix<U> {
        Matrix { rows: self.rows, columns: self.columns, entries: self.entries.iter().map(f).collect() }
    }
}

impl Matrix {
    /// All entries are zero.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, entries: vec![0.0; rows * columns] }
    }

    pub(crate) fn dense(&self) -> Mat<f64> {
        Mat::from_fn(self.rows, self.columns, |i, j| self[(i, j)])
    }

    pub(crate) fn from_dense(dense: faer::MatRef<'_, f64>) -> Self {
        Self::from_fn(dense.nrows(), dense.ncols(), |i, j| dense[(i, j)])
    }
}

impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;

    fn index(&self, (row, column): (usize, usize)) -> &T {
        debug_assert!(column < self.columns);
        &self.entries[row * self.columns + column]
    }
}

impl<T> IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut T {
        debug_assert!(column < self.columns);
        &mut self.entries[row * self.columns + column]
    }
}

impl<T: Clone, const R: usize, const C: usize> From<[[T; C]; R]> for Matrix<T> {
    fn from(rows: [[T; C]; R]) -> Self {
        Self { rows: R, columns: C, entries: rows.into_iter().flatten().collect() }
    }
}
