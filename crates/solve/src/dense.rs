//! Dense linear algebra for small blocks: LU with partial pivoting, after equilibration where sizes are uneven, and a
//! rank-revealing minimum-norm least-squares solve for singular systems.
//!
//! LU is the column-oriented outer-product form of Golub and Van Loan, *Matrix Computations*, algorithm 3.4.1; the
//! least-squares solve is QR with column pivoting followed by a second orthogonal transformation (complete
//! orthogonal decomposition, section 5.5.2). Matrices are stored by columns.

use crate::equilibrate::{equilibrate, sizes_are_uneven};
use crate::error::Singular;

/// A square matrix stored by columns: entry (row, column) is `values[column * size + row]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DenseMatrix {
    /// How many rows there are.
    pub rows: usize,
    /// How many columns there are.
    pub columns: usize,
    /// Column by column.
    pub values: Vec<f64>,
}

impl DenseMatrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        DenseMatrix { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// Builds the matrix from rows, as it would be written on paper. Short rows are filled with zeros.
    pub fn from_rows(rows: &[&[f64]]) -> Self {
        let columns = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        let mut matrix = DenseMatrix::zeros(rows.len(), columns);
        for (i, row) in rows.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                matrix.set(i, j, *value);
            }
        }
        matrix
    }

    /// An entry.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.values[column * self.rows + row]
    }

    /// Sets an entry.
    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        self.values[column * self.rows + row] = value;
    }

    /// A column.
    pub fn column(&self, column: usize) -> &[f64] {
        &self.values[column * self.rows..(column + 1) * self.rows]
    }

    /// A column, to be changed.
    pub fn column_mut(&mut self, column: usize) -> &mut [f64] {
        &mut self.values[column * self.rows..(column + 1) * self.rows]
    }

    /// `out = self · x`
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (j, xj) in x.iter().enumerate().take(self.columns) {
            for (o, a) in out.iter_mut().zip(self.column(j)) {
                *o += a * xj;
            }
        }
    }
}

/// LU factors of a square matrix with row exchanges; scratch is kept from one factorisation to the next.
///
/// Where the sizes of rows or columns are orders of magnitude apart, both are scaled by powers of two first. That makes the
/// choice of pivots, and what counts as singular, independent of the units of equations and unknowns.
#[derive(Clone, Debug, Default)]
pub struct DenseLu {
    size: usize,
    factors: Vec<f64>,
    pivots: Vec<usize>,
    /// Whether the factors are those of the scaled matrix.
    is_scaled: bool,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
    row_size: Vec<f64>,
    column_size: Vec<f64>,
}

impl DenseLu {
    /// For matrices of this size.
    pub fn new(size: usize) -> Self {
        DenseLu { size, factors: vec![0.0; size * size], pivots: vec![0; size], ..DenseLu::default() }
    }

    /// The number of rows.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Factorises a matrix given by columns.
    pub fn factor(&mut self, values: &[f64]) -> Result<(), Singular> {
        self.factors.clear();
        self.factors.extend_from_slice(values);
        self.size = self.pivots.len();
        self.measure();
        self.is_scaled = sizes_are_uneven(&self.row_size) || sizes_are_uneven(&self.column_size);
        if self.is_scaled {
            self.scale(values);
        }
        let Err(singular) = self.eliminate() else { return Ok(()) };
        self.factors.copy_from_slice(values);
        if self.is_scaled {
            self.apply_scales(values);
        }
        self.eliminate_with_bounds().map_err(|_| singular)
    }

    /// Notes the largest entry of each row and column, against which a pivot is judged.
    fn measure(&mut self) {
        let n = self.size;
        self.row_size.clear();
        self.row_size.resize(n, 0.0);
        self.column_size.clear();
        for column in self.factors.chunks_exact(n.max(1)) {
            let mut largest = 0.0_f64;
            // Comparisons, which leave out what is not a number as `max` does, but take fewer instructions.
            for (row, a) in self.row_size.iter_mut().zip(column) {
                let size = a.abs();
                *row = if size > *row { size } else { *row };
                largest = if size > largest { size } else { largest };
            }
            self.column_size.push(largest);
        }
    }

    /// Scales the matrix: as the last one, where that serves.
    fn scale(&mut self, values: &[f64]) {
        /// Sizes that need no other scales.
        const NEAR_ONE: std::ops::RangeInclusive<f64> = 1e-3..=1e3;
        if !self.row_scale.is_empty() {
            self.apply_scales(values);
            let mut sizes = self.row_size.iter().chain(&self.column_size);
            if sizes.all(|size| *size == 0.0 || NEAR_ONE.contains(size)) {
                return;
            }
        }
        let n = self.size;
        self.row_scale.resize(n, 1.0);
        self.column_scale.resize(n, 1.0);
        equilibrate(&mut self.row_scale, &mut self.column_scale, |visit| {
            for (j, column) in values.chunks_exact(n.max(1)).enumerate() {
                column.iter().enumerate().for_each(|(i, &value)| visit(i, j, value));
            }
        });
        self.apply_scales(values);
    }

    fn apply_scales(&mut self, values: &[f64]) {
        let n = self.size.max(1);
        let columns = self.factors.chunks_exact_mut(n).zip(values.chunks_exact(n));
        for ((scaled, given), factor) in columns.zip(&self.column_scale) {
            for ((a, value), row) in scaled.iter_mut().zip(given).zip(&self.row_scale) {
                *a = value * row * factor;
            }
        }
        self.measure();
    }

    fn eliminate(&mut self) -> Result<(), Singular> {
        let n = self.size;
        for k in 0..n {
            let (mut pivot_row, mut pivot_size) = (k, -1.0_f64);
            for (i, a) in self.factors[k * n + k..(k + 1) * n].iter().enumerate() {
                if a.abs() > pivot_size {
                    (pivot_row, pivot_size) = (k + i, a.abs());
                }
            }
            // Below the threshold a pivot is noise of the elimination itself. Both the row and the column must have
            // been larger, so that mere bad scaling of one of them is no singularity.
            let threshold = 4.0 * f64::EPSILON * self.column_size[k].min(self.row_size[pivot_row]);
            // The negated comparison also catches a pivot that is not a number.
            if !(pivot_size > threshold) || !pivot_size.is_finite() {
                return Err(Singular { column: k });
            }
            self.pivots[k] = pivot_row;
            if pivot_row != k {
                self.row_size.swap(k, pivot_row);
                for j in 0..n {
                    self.factors.swap(j * n + k, j * n + pivot_row);
                }
            }
            let (left, right) = self.factors.split_at_mut((k + 1) * n);
            let multipliers = &mut left[k * n + k..];
            let inverse = 1.0 / multipliers[0];
            let multipliers = &mut multipliers[1..];
            multipliers.iter_mut().for_each(|l| *l *= inverse);
            for column in right.chunks_exact_mut(n) {
                let u = column[k];
                if u != 0.0 {
                    for (a, l) in column[k + 1..].iter_mut().zip(multipliers.iter()) {
                        *a -= l * u;
                    }
                }
            }
        }
        Ok(())
    }

    /// Eliminates with a bound on what each entry may be off by rounding: a small pivot that no larger numbers were subtracted
    /// for is as exact as a large one, as that of `f - 1e-18*v`, `f = 1e-13`.
    fn eliminate_with_bounds(&mut self) -> Result<(), Singular> {
        let n = self.size;
        let mut bounds: Vec<f64> = self.factors.iter().map(|a| a.abs()).collect();
        for k in 0..n {
            let candidates = (k..n).map(|i| (i, self.factors[k * n + i].abs(), bounds[k * n + i]));
            let exact = candidates.filter(|&(_, size, bound)| size > 4.0 * f64::EPSILON * bound && size.is_finite());
            let Some((pivot_row, ..)) = exact.max_by(|a, b| a.1.total_cmp(&b.1)) else {
                return Err(Singular { column: k });
            };
            self.pivots[k] = pivot_row;
            for j in 0..n {
                self.factors.swap(j * n + k, j * n + pivot_row);
                bounds.swap(j * n + k, j * n + pivot_row);
            }
            let pivot = self.factors[k * n + k];
            let relative = bounds[k * n + k] / pivot.abs();
            for i in k + 1..n {
                let l = self.factors[k * n + i] / pivot;
                let l_bound = bounds[k * n + i] / pivot.abs() + l.abs() * relative;
                self.factors[k * n + i] = l;
                if l == 0.0 && l_bound == 0.0 {
                    continue;
                }
                for j in k + 1..n {
                    let u = self.factors[j * n + k];
                    self.factors[j * n + i] -= l * u;
                    bounds[j * n + i] += l.abs() * bounds[j * n + k] + l_bound * u.abs();
                }
            }
        }
        Ok(())
    }

    /// Overwrites `b` by the solution of `A x = b`.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.size;
        if self.is_scaled {
            b.iter_mut().zip(&self.row_scale).for_each(|(b, s)| *b *= s);
        }
        for k in 0..n {
            b.swap(k, self.pivots[k]);
        }
        for k in 0..n {
            let bk = b[k];
            if bk != 0.0 {
                let multipliers = &self.factors[k * n + k + 1..(k + 1) * n];
                for (b, l) in b[k + 1..].iter_mut().zip(multipliers) {
                    *b -= l * bk;
                }
            }
        }
        for k in (0..n).rev() {
            let column = &self.factors[k * n..k * n + k + 1];
            let xk = b[k] / column[k];
            b[k] = xk;
            if xk != 0.0 {
                for (b, u) in b[..k].iter_mut().zip(column) {
                    *b -= u * xk;
                }
            }
        }
        if self.is_scaled {
            b.iter_mut().zip(&self.column_scale).for_each(|(b, s)| *b *= s);
        }
    }

    /// Overwrites `b` by the solution of `Aᵀ x = b`.
    pub fn solve_transposed(&self, b: &mut [f64]) {
        let n = self.size;
        if self.is_scaled {
            b.iter_mut().zip(&self.column_scale).for_each(|(b, s)| *b *= s);
        }
        for k in 0..n {
            let column = &self.factors[k * n..k * n + k + 1];
            let sum: f64 = column[..k].iter().zip(b.iter()).map(|(u, x)| u * x).sum();
            b[k] = (b[k] - sum) / column[k];
        }
        for k in (0..n).rev() {
            let multipliers = &self.factors[k * n + k + 1..(k + 1) * n];
            let sum: f64 = multipliers.iter().zip(&b[k + 1..]).map(|(l, x)| l * x).sum();
            b[k] -= sum;
        }
        for k in (0..n).rev() {
            b.swap(k, self.pivots[k]);
        }
        if self.is_scaled {
            b.iter_mut().zip(&self.row_scale).for_each(|(b, s)| *b *= s);
        }
    }

    /// The sign of the determinant.
    pub fn orientation(&self) -> f64 {
        let n = self.size;
        let exchanged = self.pivots.iter().enumerate().filter(|&(k, &pivot)| k != pivot).count();
        let negative = (0..n).filter(|k| self.factors[k * n + k] < 0.0).count();
        alternating(exchanged + negative)
    }

    /// The logarithm of the size of the determinant.
    pub fn logarithm(&self) -> f64 {
        let n = self.size;
        let pivots: f64 = (0..n).map(|k| self.factors[k * n + k].abs().ln()).sum();
        let scales = self.row_scale.iter().chain(&self.column_scale).filter(|_| self.is_scaled);
        pivots - scales.map(|scale| scale.ln()).sum::<f64>()
    }

    /// The determinant, as the product of the pivots (of the matrix as given, not as scaled).
    pub fn determinant(&self) -> f64 {
        let n = self.size;
        let mut product = 1.0;
        for k in 0..n {
            let sign = if self.pivots[k] == k { 1.0 } else { -1.0 };
            product *= sign * self.factors[k * n + k];
            if self.is_scaled {
                product /= self.row_scale[k] * self.column_scale[k];
            }
        }
        product
    }
}

/// One for an even number of changes of sign, minus one for an odd one.
pub(crate) fn alternating(count: usize) -> f64 {
    if count.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// What [`least_squares`] found out about the system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastSquares {
    /// The numerical rank.
    pub rank: usize,
    /// Euclidean norm of `A x − b`: zero (to rounding) when the system is consistent.
    pub residual: f64,
}

/// The vector of least norm among those that minimise `|A x − b|`. Columns whose remaining part is smaller than
/// `tolerance` times the largest column count as dependent.
pub fn least_squares(matrix: &DenseMatrix, b: &[f64], tolerance: f64, x: &mut [f64]) -> LeastSquares {
    let (m, n) = (matrix.rows, matrix.columns);
    let mut a = matrix.clone();
    let mut right = b.to_vec();
    let mut order: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    let mut first_norm = 0.0;
    while rank < m.min(n) {
        let k = rank;
        let (best, norm) = largest_remaining_column(&a, k);
        if k == 0 {
            first_norm = norm;
        }
        if !(norm > tolerance * first_norm) || norm == 0.0 {
            break;
        }
        swap_columns(&mut a, k, best);
        order.swap(k, best);
        reflect_columns(&mut a, &mut right, k, norm);
        rank += 1;
    }
    let residual = right[rank..].iter().map(|r| r * r).sum::<f64>().sqrt();
    minimum_norm(&mut a, &mut right, rank);
    for (position, original) in order.iter().enumerate() {
        x[*original] = if position < n { right.get(position).copied().unwrap_or(0.0) } else { 0.0 };
    }
    LeastSquares { rank, residual }
}

fn largest_remaining_column(a: &DenseMatrix, k: usize) -> (usize, f64) {
    let mut best = (k, -1.0);
    for j in k..a.columns {
        let norm = a.column(j)[k..].iter().map(|v| v * v).sum::<f64>().sqrt();
        if norm > best.1 {
            best = (j, norm);
        }
    }
    best
}

fn swap_columns(a: &mut DenseMatrix, i: usize, j: usize) {
    if i != j {
        for row in 0..a.rows {
            a.values.swap(i * a.rows + row, j * a.rows + row);
        }
    }
}

/// Householder reflection that annihilates column k below its diagonal, applied to the rest and to the right side.
fn reflect_columns(a: &mut DenseMatrix, right: &mut [f64], k: usize, norm: f64) {
    let diagonal = a.get(k, k);
    let image = if diagonal > 0.0 { -norm } else { norm };
    let mut reflector = a.column(k)[k..].to_vec();
    reflector[0] -= image;
    let square: f64 = reflector.iter().map(|v| v * v).sum();
    if square == 0.0 {
        return;
    }
    let apply = |target: &mut [f64]| {
        let factor = 2.0 * reflector.iter().zip(target.iter()).map(|(v, t)| v * t).sum::<f64>() / square;
        for (t, v) in target.iter_mut().zip(&reflector) {
            *t -= factor * v;
        }
    };
    for j in k..a.columns {
        let rows = a.rows;
        apply(&mut a.values[j * rows + k..(j + 1) * rows]);
    }
    apply(&mut right[k..]);
}

/// Solves the trapezoidal system `[R S] z = right` for the `z` of least norm: reflections from the right annihilate S.
fn minimum_norm(a: &mut DenseMatrix, right: &mut Vec<f64>, rank: usize) {
    let n = a.columns;
    let mut reflectors: Vec<(usize, f64, Vec<f64>)> = Vec::new();
    if rank < n {
        for k in (0..rank).rev() {
            let mut reflector: Vec<f64> = vec![a.get(k, k)];
            reflector.extend((rank..n).map(|j| a.get(k, j)));
            let norm = reflector.iter().map(|v| v * v).sum::<f64>().sqrt();
            let image = if reflector[0] > 0.0 { -norm } else { norm };
            reflector[0] -= image;
            let square: f64 = reflector.iter().map(|v| v * v).sum();
            if square == 0.0 {
                continue;
            }
            for i in 0..=k {
                let mut sum = a.get(i, k) * reflector[0];
                for (v, j) in reflector[1..].iter().zip(rank..n) {
                    sum += v * a.get(i, j);
                }
                let factor = 2.0 * sum / square;
                a.set(i, k, a.get(i, k) - factor * reflector[0]);
                for (v, j) in reflector[1..].iter().zip(rank..n) {
                    a.set(i, j, a.get(i, j) - factor * v);
                }
            }
            reflectors.push((k, square, reflector));
        }
    }
    right.resize(n.max(right.len()), 0.0);
    for k in (0..rank).rev() {
        let sum: f64 = (k + 1..rank).map(|j| a.get(k, j) * right[j]).sum();
        right[k] = (right[k] - sum) / a.get(k, k);
    }
    right[rank..].fill(0.0);
    for (k, square, reflector) in reflectors.iter().rev() {
        let mut sum = right[*k] * reflector[0];
        for (v, j) in reflector[1..].iter().zip(rank..n) {
            sum += v * right[j];
        }
        let factor = 2.0 * sum / square;
        right[*k] -= factor * reflector[0];
        for (v, j) in reflector[1..].iter().zip(rank..n) {
            right[j] -= factor * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn solves_and_exchanges_rows() {
        let matrix = DenseMatrix::from_rows(&[&[0.0, 2.0, 1.0], &[1.0, 1.0, 0.0], &[3.0, 0.0, 1.0]]);
        let mut lu = DenseLu::new(3);
        lu.factor(&matrix.values).unwrap();
        let mut b = [7.0, 3.0, 6.0];
        lu.solve(&mut b);
        b.iter().zip([1.0, 2.0, 3.0]).for_each(|(b, x)| assert!((b - x).abs() < 1e-15));
        assert!((lu.determinant() + 5.0).abs() < 1e-14);
    }

    #[test]
    fn a_small_pivot_is_none_of_rounding() {
        // f1 + f2 = 3e-13, f = 1e-18·d, d = v: every row and every column has an entry of one.
        let rows: [&[f64]; 4] =
            [&[0.0, 0.0, 1.0, 1.0], &[0.0, -1e-18, 1.0, 0.0], &[0.0, -2e-18, 0.0, 1.0], &[-1.0, 1.0, 0.0, 0.0]];
        let mut lu = DenseLu::new(4);
        lu.factor(&DenseMatrix::from_rows(&rows).values).unwrap();
        let mut b = [3e-13, 0.0, 0.0, 0.0];
        lu.solve(&mut b);
        assert!((b[0] - 1e5).abs() < 1e-9 && (b[1] - 1e5).abs() < 1e-9, "{b:?}");
        // What is left of 0.1 + 0.2 - 0.3 is rounding.
        let matrix = DenseMatrix::from_rows(&[&[1.0, 0.1], &[3.0, 0.1 + 0.2]]);
        assert_eq!(DenseLu::new(2).factor(&matrix.values), Err(Singular { column: 1 }));
    }

    #[test]
    fn names_the_column_without_pivot() {
        let matrix = DenseMatrix::from_rows(&[&[1.0, 2.0, 3.0], &[2.0, 4.0, 1.0], &[3.0, 6.0, 2.0]]);
        assert_eq!(DenseLu::new(3).factor(&matrix.values), Err(Singular { column: 1 }));
        assert!(DenseLu::new(2).factor(&[f64::NAN, 1.0, 1.0, 1.0]).is_err());
    }

    #[test]
    fn equilibration_makes_units_irrelevant() {
        // The same system with the second unknown in nano-units and the first equation in giga-units.
        let matrix = DenseMatrix::from_rows(&[&[1e9, 1e18], &[1.0, -1e9]]);
        let mut lu = DenseLu::new(2);
        lu.factor(&matrix.values).unwrap();
        let mut b = [3e9, -1.0];
        lu.solve(&mut b);
        assert!((b[0] - 1.0).abs() < 1e-15 && (b[1] - 2e-9).abs() < 1e-24);
    }

    #[test]
    fn minimum_norm_of_a_singular_consistent_system() {
        // x + y + z = 3 twice, x − y = 0: the solutions are (s, s, 3 − 2s), the shortest is (1, 1, 1).
        let matrix = DenseMatrix::from_rows(&[&[1.0, 1.0, 1.0], &[2.0, 2.0, 2.0], &[1.0, -1.0, 0.0]]);
        let mut x = [0.0; 3];
        let found = least_squares(&matrix, &[3.0, 6.0, 0.0], 1e-12, &mut x);
        assert_eq!(found.rank, 2);
        assert!(found.residual < 1e-14);
        x.iter().for_each(|x| assert!((x - 1.0).abs() < 1e-14));
    }

    #[test]
    fn least_squares_reports_inconsistency() {
        let matrix = DenseMatrix::from_rows(&[&[1.0], &[1.0]]);
        let mut x = [0.0];
        let found = least_squares(&matrix, &[0.0, 2.0], 1e-12, &mut x);
        assert!((x[0] - 1.0).abs() < 1e-15);
        assert!((found.residual - 2.0_f64.sqrt()).abs() < 1e-15);
        let zero = DenseMatrix::zeros(2, 2);
        let mut y = [1.0, 1.0];
        assert_eq!(least_squares(&zero, &[0.0, 0.0], 1e-12, &mut y).rank, 0);
        assert_eq!(y, [0.0, 0.0]);
    }

    proptest! {
        #[test]
        fn random_systems(n in 1usize..12, seed in proptest::collection::vec(-1.0f64..1.0, 144 + 12)) {
            let mut matrix = DenseMatrix::zeros(n, n);
            matrix.values.copy_from_slice(&seed[..n * n]);
            for i in 0..n {
                // Keeps the random matrix well-conditioned, while the pivots still have to be searched.
                let j = (i + 1) % n;
                matrix.set(i, j, matrix.get(i, j) + 4.0 * n as f64);
            }
            let x = &seed[144..144 + n];
            let mut b = vec![0.0; n];
            matrix.multiply(x, &mut b);
            {
                let mut lu = DenseLu::new(n);
                lu.factor(&matrix.values).unwrap();
                let mut y = b.clone();
                lu.solve(&mut y);
                for (x, y) in x.iter().zip(&y) {
                    prop_assert!((x - y).abs() < 1e-13);
                }
                let mut transposed = DenseMatrix::zeros(n, n);
                for i in 0..n {
                    for j in 0..n {
                        transposed.set(i, j, matrix.get(j, i));
                    }
                }
                let mut c = vec![0.0; n];
                transposed.multiply(x, &mut c);
                lu.solve_transposed(&mut c);
                for (x, y) in x.iter().zip(&c) {
                    prop_assert!((x - y).abs() < 1e-13);
                }
            }
            let mut z = vec![0.0; n];
            let found = least_squares(&matrix, &b, 1e-13, &mut z);
            prop_assert_eq!(found.rank, n);
            for (x, z) in x.iter().zip(&z) {
                prop_assert!((x - z).abs() < 1e-12);
            }
        }
    }
}
