//! Tables that are interpolated, after the documentation of Modelica.Blocks.Tables and
//! Modelica.Blocks.Sources.CombiTimeTable.

mod basis;
mod bivariate;
mod slopes;
mod time;
mod univariate;

pub use basis::{Extrapolation, Smoothness};
pub use bivariate::Table2;
pub use time::{TimeEvents, TimeTable};
pub use univariate::Table1;

/// A matrix of numbers, row by row.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f64>,
}

impl Matrix {
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    pub fn column(&self, column: usize) -> Vec<f64> {
        (0..self.rows).map(|row| self.at(row, column)).collect()
    }

    pub fn transposed(&self) -> Matrix {
        let values = (0..self.columns).flat_map(|column| self.column(column)).collect();
        Matrix { rows: self.columns, columns: self.rows, values }
    }
}
