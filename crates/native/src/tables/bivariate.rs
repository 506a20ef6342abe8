//! Tables of two inputs: the first column is the grid of the first, the first row that of the second.
//!
//! Smooth interpolation is bicubic by H. Akima, *A Method of Bivariate Interpolation and Smooth Surface Fitting Based on
//! Local Procedures*, 1974: slopes in both directions as in one dimension, and the mixed derivative as the mean of the
//! mixed differences around a point with the weights of both directions.

use super::Matrix;
use super::basis::{Basis, Extrapolation, Smoothness};
use super::slopes::{akima_weights, extended, slopes};
use super::univariate::{check_grid, outside};

#[derive(Clone, PartialEq, Debug)]
pub struct Table2 {
    grids: [Vec<f64>; 2],
    values: Matrix,
    /// Derivatives at the points: by the first input, by the second, by both.
    slopes: Option<[Matrix; 3]>,
    smoothness: Smoothness,
    extrapolation: Extrapolation,
}

/// A value with its derivatives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Surface {
    pub value: f64,
    pub first: [f64; 2],
    /// By the first input twice, by both, by the second twice.
    pub second: [f64; 3],
}

impl Surface {
    /// The time derivative for inputs that change.
    pub fn rate(&self, rates: [f64; 2]) -> f64 {
        self.first[0] * rates[0] + self.first[1] * rates[1]
    }

    pub fn acceleration(&self, rates: [f64; 2], accelerations: [f64; 2]) -> f64 {
        let [u, v] = rates;
        self.second[0] * u * u + 2.0 * self.second[1] * u * v + self.second[2] * v * v + self.rate(accelerations)
    }
}

impl Table2 {
    pub fn new(table: &Matrix, smoothness: Smoothness, extrapolation: Extrapolation) -> Result<Self, String> {
        if table.rows < 2 || table.columns < 2 {
            return Err(format!(
                "a table of two inputs needs 2 rows and columns, not {} x {}",
                table.rows, table.columns
            ));
        }
        if smoothness.is_cubic() && smoothness != Smoothness::Akima {
            return Err(format!("a table of two inputs cannot be interpolated by {smoothness:?}"));
        }
        let rows: Vec<f64> = (1..table.rows).map(|row| table.at(row, 0)).collect();
        let columns: Vec<f64> = (1..table.columns).map(|column| table.at(0, column)).collect();
        check_grid(&rows, true)?;
        check_grid(&columns, true)?;
        let inner = (1..table.rows).flat_map(|row| (1..table.columns).map(move |column| table.at(row, column)));
        let values = Matrix { rows: rows.len(), columns: columns.len(), values: inner.collect() };
        let grids = [rows, columns];
        let slopes = (smoothness == Smoothness::Akima).then(|| surface_slopes(&grids, &values));
        Ok(Self { grids, values, slopes, smoothness, extrapolation })
    }

    pub fn minimum(&self) -> [f64; 2] {
        [self.grids[0][0], self.grids[1][0]]
    }

    pub fn maximum(&self) -> [f64; 2] {
        [self.grids[0][self.grids[0].len() - 1], self.grids[1][self.grids[1].len() - 1]]
    }

    pub fn at(&self, inputs: [f64; 2]) -> Result<Surface, String> {
        // Beyond the end of a grid constant segments become straight ones, in both directions. A single row has no end.
        let is_outside = |k: usize| inputs[k] < self.minimum()[k] || inputs[k] > self.maximum()[k];
        let beyond = (0..2).any(|k| self.grids[k].len() > 1 && is_outside(k));
        let smoothness = match (self.smoothness, self.extrapolation) {
            (Smoothness::Constant, Extrapolation::Linear) if beyond => Smoothness::Linear,
            (smoothness, _) => smoothness,
        };
        let basis = |k: usize| {
            Basis::find(&self.grids[k], inputs[k], smoothness, self.extrapolation)
                .ok_or_else(|| outside(inputs[k], self.minimum()[k], self.maximum()[k]))
        };
        let (a, b) = (basis(0)?, basis(1)?);
        let sum = |order_a: usize, order_b: usize| -> f64 {
            let mut total = 0.0;
            for i in 0..2 {
                for j in 0..2 {
                    let (row, column) = (a.nodes[i], b.nodes[j]);
                    let (value_a, slope_a) = (a.value[i][order_a], a.slope[i][order_a]);
                    let (value_b, slope_b) = (b.value[j][order_b], b.slope[j][order_b]);
                    total += value_a * value_b * self.values.at(row, column);
                    if let Some([by_first, by_second, by_both]) = &self.slopes {
                        total += slope_a * value_b * by_first.at(row, column)
                            + value_a * slope_b * by_second.at(row, column)
                            + slope_a * slope_b * by_both.at(row, column);
                    }
                }
            }
            total
        };
        Ok(Surface { value: sum(0, 0), first: [sum(1, 0), sum(0, 1)], second: [sum(2, 0), sum(1, 1), sum(0, 2)] })
    }
}

fn surface_slopes(grids: &[Vec<f64>; 2], values: &Matrix) -> [Matrix; 3] {
    let by_second = along_rows(&grids[1], values);
    let by_first = along_rows(&grids[0], &values.transposed()).transposed();
    let by_both = mixed(grids, values);
    [by_first, by_second, by_both]
}

/// The slopes of each row.
fn along_rows(grid: &[f64], values: &Matrix) -> Matrix {
    let row = |row: usize| &values.values[row * values.columns..(row + 1) * values.columns];
    let all = (0..values.rows).flat_map(|k| slopes(grid, row(k), Smoothness::Akima)).collect();
    Matrix { rows: values.rows, columns: values.columns, values: all }
}

/// Differences of neighbours in a row over the differences of the grid, continued beyond both ends.
fn row_secants(grid: &[f64], values: &Matrix) -> Matrix {
    let mut all = Vec::new();
    let mut columns = 0;
    for row in 0..values.rows {
        let secants: Vec<f64> = (1..values.columns)
            .map(|k| (values.at(row, k) - values.at(row, k - 1)) / (grid[k] - grid[k - 1]))
            .collect();
        let secants = if secants.is_empty() { vec![0.0; 5] } else { extended(&secants) };
        columns = secants.len();
        all.extend(secants);
    }
    Matrix { rows: values.rows, columns, values: all }
}

fn mixed(grids: &[Vec<f64>; 2], values: &Matrix) -> Matrix {
    let (rows, columns) = (values.rows, values.columns);
    let mut all = vec![0.0; rows * columns];
    if rows < 2 || columns < 2 {
        return Matrix { rows, columns, values: all };
    }
    let in_rows = row_secants(&grids[1], values);
    let in_columns = row_secants(&grids[0], &values.transposed());
    // Differences of the secants in rows, from row to row.
    let cross = row_secants(&grids[0], &in_rows.transposed());
    let secants_at =
        |matrix: &Matrix, row: usize| matrix.values[row * matrix.columns..(row + 1) * matrix.columns].to_vec();
    let difference = |before: f64, after: f64| (after - before).abs();
    for row in 0..rows {
        for column in 0..columns {
            let (left, right) = akima_weights(&secants_at(&in_rows, row), column, difference);
            let (below, above) = akima_weights(&secants_at(&in_columns, column), row, difference);
            let at = |second: usize, first: usize| cross.at(column + second, row + first);
            all[row * columns + column] =
                left * (below * at(1, 1) + above * at(1, 2)) + right * (below * at(2, 1) + above * at(2, 2));
        }
    }
    Matrix { rows, columns, values: all }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(smoothness: Smoothness, extrapolation: Extrapolation, f: impl Fn(f64, f64) -> f64) -> Table2 {
        let (rows, columns) = ([0.0, 1.0, 2.5, 3.0, 4.0], [-1.0, 0.0, 2.0, 3.0, 5.0, 6.0]);
        let mut values = vec![0.0];
        values.extend(columns);
        for u in rows {
            values.push(u);
            values.extend(columns.map(|v| f(u, v)));
        }
        let matrix = Matrix { rows: rows.len() + 1, columns: columns.len() + 1, values };
        Table2::new(&matrix, smoothness, extrapolation).unwrap()
    }

    #[test]
    fn bilinear_functions_are_exact() {
        let f = |u: f64, v: f64| 2.0 + 3.0 * u - v + 0.5 * u * v;
        for smoothness in [Smoothness::Linear, Smoothness::Akima] {
            let table = table(smoothness, Extrapolation::Linear, f);
            for (u, v) in [(0.3, 0.7), (2.7, 4.4), (5.0, 1.0), (-1.0, 7.0), (4.0, 6.0)] {
                let surface = table.at([u, v]).unwrap();
                assert!((surface.value - f(u, v)).abs() < 1e-12, "{smoothness:?} at {u}, {v}: {surface:?}");
                assert!((surface.first[0] - (3.0 + 0.5 * v)).abs() < 1e-12, "{surface:?}");
                assert!((surface.first[1] - (0.5 * u - 1.0)).abs() < 1e-12, "{surface:?}");
                assert!((surface.second[1] - 0.5).abs() < 1e-12, "{surface:?}");
            }
        }
    }

    #[test]
    fn derivatives_are_limits_of_differences() {
        let table = table(Smoothness::Akima, Extrapolation::Linear, |u, v| (u * 0.7).sin() * (1.0 + v * v));
        let h = 1e-5;
        for (u, v) in [(0.4, 0.6), (2.6, 4.0), (3.5, 5.5)] {
            let z = |du: f64, dv: f64| table.at([u + du, v + dv]).unwrap().value;
            let surface = table.at([u, v]).unwrap();
            assert!((surface.first[0] - (z(h, 0.0) - z(-h, 0.0)) / (2.0 * h)).abs() < 1e-6);
            assert!((surface.first[1] - (z(0.0, h) - z(0.0, -h)) / (2.0 * h)).abs() < 1e-6);
            let mixed = (z(h, h) - z(h, -h) - z(-h, h) + z(-h, -h)) / (4.0 * h * h);
            assert!((surface.second[1] - mixed).abs() < 1e-3, "{mixed} {surface:?}");
        }
    }

    #[test]
    fn outside() {
        let f = |u: f64, v: f64| u + 10.0 * v;
        assert_eq!(table(Smoothness::Linear, Extrapolation::Hold, f).at([9.0, 0.0]).unwrap().value, 4.0);
        assert_eq!(table(Smoothness::Linear, Extrapolation::Periodic, f).at([5.0, 0.0]).unwrap().value, 1.0);
        assert_eq!(table(Smoothness::Constant, Extrapolation::Hold, f).at([1.9, 2.9]).unwrap().value, 21.0);
        assert_eq!(table(Smoothness::Constant, Extrapolation::Linear, f).at([0.5, 8.0]).unwrap().value, 80.5);
        assert!(table(Smoothness::Linear, Extrapolation::Never, f).at([5.0, 0.0]).is_err());
    }
}
