//! Linear systems whose matrix is singular: the solution of least norm, and what the equations leave open.
//!
//! Where the sizes of rows or columns are orders of magnitude apart, numbers are compared in units that make them alike. Least
//! norm then means least in these units.

use solve::Pattern;
use solve::dense::{DenseLu, DenseMatrix, least_squares};
use solve::equilibrate::{equilibrate, sizes_are_uneven};

/// Relative size below which what is left of a column is a rounding error.
const ROUNDING: f64 = 1e-12;
/// How far the equations may be off.
const CONSISTENT: f64 = 1e-9;

pub struct LeastNorm {
    pub x: Vec<f64>,
    /// The matrix is regular after all.
    pub is_unique: bool,
}

/// The solution of least norm, or the column without a pivot if there is none. `b` is a residual at the point `x0`, so it has
/// the rounding errors of the terms there.
pub fn least_norm(pattern: &Pattern, values: &[f64], b: &[f64], x0: &[f64]) -> Result<LeastNorm, usize> {
    let (nearest, off) = least_errors(pattern, values, b, x0);
    match off <= CONSISTENT {
        true => Ok(nearest),
        false => {
            let singular = DenseLu::new(b.len()).factor(&dense(pattern, values).values).err();
            Err(singular.map_or(0, |singular| singular.column))
        }
    }
}

/// What comes nearest to a solution, and how far the equations are off then, in units of their terms.
pub fn least_errors(pattern: &Pattern, values: &[f64], b: &[f64], x0: &[f64]) -> (LeastNorm, f64) {
    let size = b.len();
    let matrix = dense(pattern, values);
    let units = is_uneven(pattern, values, &mut Vec::new()).then(|| Units::new(&matrix));
    let scaled = units.as_ref().map_or_else(|| matrix.clone(), |units| units.applied(&matrix));
    let right: Vec<f64> = match &units {
        Some(units) => b.iter().zip(&units.rows).map(|(b, row)| b * row).collect(),
        None => b.to_vec(),
    };
    let mut x = vec![0.0; size];
    let found = least_squares(&scaled, &right, ROUNDING, &mut x);
    let mut product = vec![0.0; size];
    scaled.multiply(&x, &mut product);
    let largest = |values: &[f64]| values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let scale = match &units {
        Some(units) => largest(&right).max(units.largest(x0)),
        None => largest(b).max(largest(values)),
    };
    let off = product.iter().zip(&right).fold(0.0f64, |most, (p, b)| most.max((p - b).abs()));
    if let Some(units) = &units {
        x.iter_mut().zip(&units.columns).for_each(|(x, column)| *x *= column);
    }
    let off = if off > 0.0 { off / scale } else { off };
    (LeastNorm { x, is_unique: units.is_some() && found.rank == size }, off)
}

/// Vectors that span what a matrix maps to zero, by elimination with full pivoting.
pub fn null_space(pattern: &Pattern, values: &[f64]) -> Vec<Vec<f64>> {
    const ROUNDING: f64 = 1e-11;
    let size = pattern.columns;
    let given = dense(pattern, values);
    let units = is_uneven(pattern, values, &mut Vec::new()).then(|| Units::new(&given));
    let scaled = units.as_ref().map_or_else(|| given.clone(), |units| units.applied(&given));
    let mut matrix: Vec<Vec<f64>> =
        (0..size).map(|row| (0..size).map(|column| scaled.get(row, column)).collect()).collect();
    let largest = scaled.values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let mut pivots: Vec<usize> = Vec::new();
    while pivots.len() < size {
        let done = pivots.len();
        let mut best = (ROUNDING * largest, None);
        for (row, entries) in matrix.iter().enumerate().skip(done) {
            for (column, entry) in entries.iter().enumerate().filter(|(column, _)| !pivots.contains(column)) {
                if entry.abs() > best.0 {
                    best = (entry.abs(), Some((row, column)));
                }
            }
        }
        let Some((row, column)) = best.1 else { break };
        matrix.swap(row, done);
        let pivot = matrix[done][column];
        matrix[done].iter_mut().for_each(|x| *x /= pivot);
        let own = matrix[done].clone();
        for (_, others) in matrix.iter_mut().enumerate().filter(|(other, _)| *other != done) {
            let factor = others[column];
            others.iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
        }
        pivots.push(column);
    }
    let unit = |column: usize| units.as_ref().map_or(1.0, |units| units.columns[column]);
    let free = (0..size).filter(|column| !pivots.contains(column));
    free.map(|column| {
        let mut vector = vec![0.0; size];
        vector[column] = 1.0;
        let own = unit(column);
        for (row, &pivot) in pivots.iter().enumerate() {
            vector[pivot] = -matrix[row][column] * unit(pivot) / own;
        }
        vector
    })
    .collect()
}

/// Whether the sizes of rows or columns are orders of magnitude apart; `sizes` is scratch.
pub(super) fn is_uneven(pattern: &Pattern, values: &[f64], sizes: &mut Vec<f64>) -> bool {
    sizes.clear();
    sizes.resize(pattern.rows + pattern.columns, 0.0);
    let (rows, columns) = sizes.split_at_mut(pattern.rows);
    let mut rest = values;
    for (column, largest) in columns.iter_mut().enumerate() {
        let places = pattern.column(column);
        let (here, behind) = rest.split_at(places.len());
        for (&row, value) in places.iter().zip(here) {
            let (size, row) = (value.abs(), &mut rows[row as usize]);
            *row = if size > *row { size } else { *row };
            *largest = if size > *largest { size } else { *largest };
        }
        rest = behind;
    }
    sizes_are_uneven(rows) || sizes_are_uneven(columns)
}

fn dense(pattern: &Pattern, values: &[f64]) -> DenseMatrix {
    let mut matrix = DenseMatrix::zeros(pattern.rows, pattern.columns);
    for ((row, column), &value) in places(pattern).zip(values) {
        matrix.set(row, column, value);
    }
    matrix
}

/// The row and the column of each entry of a pattern.
fn places(pattern: &Pattern) -> impl Iterator<Item = (usize, usize)> {
    (0..pattern.columns).flat_map(|column| pattern.column(column).iter().map(move |&row| (row as usize, column)))
}

/// Factors of rows and columns that make their entries alike.
struct Units {
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Units {
    fn new(matrix: &DenseMatrix) -> Self {
        let (mut rows, mut columns) = (vec![1.0; matrix.rows], vec![1.0; matrix.columns]);
        equilibrate(&mut rows, &mut columns, |visit| {
            for column in 0..matrix.columns {
                matrix.column(column).iter().enumerate().for_each(|(row, &value)| visit(row, column, value));
            }
        });
        Self { rows, columns }
    }

    fn applied(&self, matrix: &DenseMatrix) -> DenseMatrix {
        let mut scaled = matrix.clone();
        for (column, factor) in self.columns.iter().enumerate() {
            for (value, row) in scaled.column_mut(column).iter_mut().zip(&self.rows) {
                *value *= row * factor;
            }
        }
        scaled
    }

    /// The largest of some unknowns.
    fn largest(&self, x: &[f64]) -> f64 {
        x.iter().zip(&self.columns).fold(0.0f64, |most, (x, column)| most.max((x / column).abs()))
    }
}
