//! A point of the search for a stationary state: what it conserves, where Newton's method goes from it, whether it is stable.
//!
//! A combination w·x of the states is conserved where w·∂ẋ/∂x = 0 and w·ẋ = 0. With states measured by their scales and rows by
//! what they feel of the states, such w are found by elimination. Newton's correction keeps them: the stationary states that a
//! linear model comes to from x are those x + δ with ∂ẋ/∂x·δ = −ẋ and w·δ = 0 for all of them.

use solve::dense::{DenseMatrix, least_squares};

/// Derivatives that errors of this relative size in the states explain are zero.
const VANISHED: f64 = 1e-8;
/// What is smaller, relative to the largest, depends on the rest.
const DEPENDENT: f64 = 1e-11;
/// Rates of growth that are smaller, relative to the fastest change, may be due to rounding.
const GROWING: f64 = 1e-10;
/// Above this number of states eigenvalues are too expensive.
const MOST_EIGENVALUES: usize = 400;
/// The relative change of what a derivative feels of the states up to which a model counts as nearly linear.
const NEARLY_LINEAR: f64 = 0.5;

/// A point of the search.
#[derive(Clone)]
pub(super) struct Point {
    pub x: Vec<f64>,
    pub slope: Vec<f64>,
    /// ∂ẋ/∂x.
    pub jacobian: DenseMatrix,
    /// The sizes that states are measured by.
    pub scale: Vec<f64>,
}

impl Point {
    pub fn new(size: usize) -> Self {
        Self {
            x: vec![0.0; size],
            slope: vec![0.0; size],
            jacobian: DenseMatrix::zeros(size, size),
            scale: vec![1.0; size],
        }
    }

    /// What a derivative may be due to errors of the states.
    pub fn negligible(&self, row: usize) -> f64 {
        let size = |column: usize| (self.jacobian.get(row, column) * self.scale[column]).abs();
        VANISHED * (0..self.x.len()).map(size).sum::<f64>()
    }

    pub fn has_vanished(&self, row: usize) -> bool {
        self.slope[row] == 0.0 || self.slope[row].abs() <= self.negligible(row)
    }

    pub fn is_stationary(&self) -> bool {
        (0..self.x.len()).all(|row| self.has_vanished(row))
    }

    /// The derivatives, each in units of what it feels of the states.
    pub fn residual(&self, slope: &[f64]) -> f64 {
        let unit = |row: usize| (self.negligible(row) / VANISHED).max(f64::MIN_POSITIVE);
        slope.iter().enumerate().map(|(row, slope)| (slope / unit(row)).powi(2)).sum::<f64>().sqrt()
    }

    /// What a derivative feels of the states; 1 where it feels nothing.
    fn unit(&self, row: usize) -> f64 {
        let unit = self.negligible(row) / VANISHED;
        if unit > 0.0 { unit } else { 1.0 }
    }

    /// ∂ẋ/∂x in units of the rows and of the scales, by rows.
    fn scaled_rows(&self) -> Vec<Vec<f64>> {
        let size = self.x.len();
        let row_of = |row: usize| {
            let unit = self.unit(row);
            (0..size).map(|column| self.jacobian.get(row, column) * self.scale[column] / unit).collect()
        };
        (0..size).map(row_of).collect()
    }

    /// Conserved combinations of the states, each with largest coefficient 1 in units of the scales.
    pub fn conserved(&self) -> Vec<Vec<f64>> {
        let mut found = eliminate(self.scaled_rows(), true).conserved;
        for combination in &mut found {
            for (row, factor) in combination.iter_mut().enumerate() {
                *factor *= self.scale[row] / self.unit(row);
            }
            let largest = combination.iter().fold(0.0, |largest: f64, factor| largest.max(factor.abs()));
            combination.iter_mut().for_each(|factor| *factor /= largest.max(f64::MIN_POSITIVE));
            combination.iter_mut().zip(&self.scale).for_each(|(factor, scale)| *factor /= scale);
        }
        found
    }

    /// Whether what is conserved elsewhere is conserved here, and nothing else.
    pub fn conserves(&self, combinations: &[Vec<f64>]) -> bool {
        /// Relative to the terms of the sum.
        const EXACT: f64 = 1e-9;
        let size = self.x.len();
        let keeps = |combination: &Vec<f64>| {
            (0..size).all(|column| {
                let terms = (0..size).map(|row| combination[row] * self.jacobian.get(row, column));
                let (sum, sizes) = terms.fold((0.0, 0.0), |(sum, sizes), term| (sum + term, sizes + term.abs()));
                sum.abs() <= EXACT * sizes
            })
        };
        let is_same_number = || eliminate(self.scaled_rows(), false).free.len() == combinations.len();
        combinations.iter().all(keeps) && is_same_number()
    }

    /// The correction of Newton's method that keeps what is conserved; of least norm, in units of the scales, where there are
    /// several.
    pub fn correction(&self, conserved: &[Vec<f64>]) -> Vec<f64> {
        let size = self.x.len();
        let mut matrix = DenseMatrix::zeros(size + conserved.len(), size);
        let mut right = vec![0.0; size + conserved.len()];
        for (row, entries) in self.scaled_rows().into_iter().enumerate() {
            // A derivative that depends on no state is none of Newton's business.
            let is_constant = entries.iter().all(|entry| *entry == 0.0);
            right[row] = if is_constant { 0.0 } else { -self.slope[row] / self.unit(row) };
            entries.iter().enumerate().for_each(|(column, entry)| matrix.set(row, column, *entry));
        }
        for (row, combination) in conserved.iter().enumerate() {
            for (column, factor) in combination.iter().enumerate() {
                matrix.set(size + row, column, factor * self.scale[column]);
            }
        }
        let mut step = vec![0.0; size];
        least_squares(&matrix, &right, DEPENDENT, &mut step);
        step.iter().zip(&self.scale).map(|(step, scale)| step * scale).collect()
    }

    /// The states that the derivatives leave open: columns that depend on those before them.
    pub fn free(&self) -> Vec<usize> {
        eliminate(self.scaled_rows(), false).free
    }

    /// Whether a derivative feels the states in another way than at another point.
    pub fn differs_from(&self, other: &Point) -> bool {
        let size = self.x.len();
        (0..size).any(|row| {
            let (mut change, mut all) = (0.0, 0.0);
            for column in 0..size {
                let scale = self.scale[column].max(other.scale[column]);
                let (here, there) = (self.jacobian.get(row, column), other.jacobian.get(row, column));
                change += (here - there).abs() * scale;
                all += here.abs().max(there.abs()) * scale;
            }
            change > NEARLY_LINEAR * all
        })
    }

    /// Whether something grows by itself here: an eigenvalue with a positive real part.
    pub fn grows(&self) -> bool {
        let size = self.x.len();
        if size > MOST_EIGENVALUES {
            return false;
        }
        let mut matrix = Vec::with_capacity(size * size);
        for column in 0..size {
            matrix.extend((0..size).map(|row| self.jacobian.get(row, column) * self.scale[column] / self.scale[row]));
        }
        let values = native::eigenvalues(size, &matrix);
        let fastest = values.iter().map(|(real, imaginary)| real.hypot(*imaginary)).fold(0.0, f64::max);
        values.iter().any(|(real, _)| *real > GROWING * fastest)
    }
}

/// What elimination with full pivoting shows about a square matrix.
struct Eliminated {
    /// Columns that depend on the others.
    free: Vec<usize>,
    /// Combinations of the rows that vanish, where they are wanted.
    conserved: Vec<Vec<f64>>,
}

fn eliminate(mut rows: Vec<Vec<f64>>, wanted: bool) -> Eliminated {
    let size = rows.len();
    let mut made_of: Vec<Vec<f64>> = match wanted {
        true => (0..size).map(|row| (0..size).map(|k| f64::from(u8::from(k == row))).collect()).collect(),
        false => vec![Vec::new(); size],
    };
    let mut open: Vec<usize> = (0..size).collect();
    let mut rank = 0;
    while rank < size {
        let places = (rank..size).flat_map(|row| open.iter().map(move |&column| (row, column)));
        let largest = places.max_by(|a, b| rows[a.0][a.1].abs().total_cmp(&rows[b.0][b.1].abs()));
        let Some((row, column)) = largest.filter(|&(row, column)| rows[row][column].abs() > DEPENDENT) else { break };
        rows.swap(rank, row);
        made_of.swap(rank, row);
        open.retain(|&other| other != column);
        let (pivot, pivot_made_of) = (rows[rank].clone(), made_of[rank].clone());
        for (row, made_of) in rows[rank + 1..].iter_mut().zip(&mut made_of[rank + 1..]) {
            let factor = row[column] / pivot[column];
            if factor != 0.0 {
                row.iter_mut().zip(&pivot).for_each(|(entry, pivot)| *entry -= factor * pivot);
                made_of.iter_mut().zip(&pivot_made_of).for_each(|(entry, pivot)| *entry -= factor * pivot);
            }
        }
        rank += 1;
    }
    Eliminated { free: open, conserved: made_of.split_off(rank) }
}
