//! Linear systems: LU factors with partial pivoting, and what is solved with them.

use dae::Value;

use super::{Answer, Arguments, Dense};

/// LU factors in one matrix, and for each step the row it was exchanged with (from 0).
pub struct Lu {
    pub factors: Dense,
    pub pivots: Vec<usize>,
    /// The first column without a pivot, from 1; 0 if the matrix is regular.
    pub info: usize,
}

impl Lu {
    pub fn new(mut a: Dense) -> Self {
        let (rows, columns) = a.shape();
        let steps = rows.min(columns);
        let mut pivots = Vec::with_capacity(steps);
        let mut info = 0;
        for k in 0..steps {
            let pivot = (k..rows).max_by(|&i, &j| a[(i, k)].abs().total_cmp(&a[(j, k)].abs())).unwrap_or(k);
            // Of equal ones the first, as LAPACK does it.
            let pivot = (k..rows).find(|&i| a[(i, k)].abs() == a[(pivot, k)].abs()).unwrap_or(pivot);
            pivots.push(pivot);
            if a[(pivot, k)] == 0.0 {
                info = if info == 0 { k + 1 } else { info };
                continue;
            }
            a.swap_rows(k, pivot);
            for i in k + 1..rows {
                a[(i, k)] /= a[(k, k)];
                let factor = a[(i, k)];
                if factor != 0.0 {
                    for j in k + 1..columns {
                        a[(i, j)] -= factor * a[(k, j)];
                    }
                }
            }
        }
        Self { factors: a, pivots, info }
    }

    /// Solves `A·X = B` in place.
    pub fn solve(&self, b: &mut Dense) {
        for (k, &pivot) in self.pivots.iter().enumerate() {
            b.swap_rows(k, pivot);
        }
        triangular(&self.factors, false, false, true, b);
        triangular(&self.factors, true, false, false, b);
    }

    /// Solves `Aᵀ·X = B` in place.
    pub fn solve_transposed(&self, b: &mut Dense) {
        triangular(&self.factors, true, true, false, b);
        triangular(&self.factors, false, true, true, b);
        for (k, &pivot) in self.pivots.iter().enumerate().rev() {
            b.swap_rows(k, pivot);
        }
    }
}

/// Solves `op(T)·X = B` in place, T being one triangle of `a`.
pub fn triangular(a: &Dense, upper: bool, transposed: bool, unit: bool, b: &mut Dense) {
    let n = b.nrows();
    let forward = upper == transposed;
    for column in 0..b.ncols() {
        for step in 0..n {
            let i = if forward { step } else { n - 1 - step };
            let solved = if forward { 0..i } else { i + 1..n };
            let mut sum = b[(i, column)];
            for j in solved {
                let element = if transposed { a[(j, i)] } else { a[(i, j)] };
                sum -= element * b[(j, column)];
            }
            b[(i, column)] = if unit { sum } else { sum / a[(i, i)] };
        }
    }
}

fn pivots_value(pivots: &[usize]) -> Vec<i64> {
    pivots.iter().map(|&pivot| pivot as i64 + 1).collect()
}

/// Factors that were handed back by the caller.
fn given_factors(arguments: &Arguments<'_>, factors: usize, pivots: usize) -> Result<Lu, String> {
    let matrix = arguments.square(factors)?;
    let n = matrix.nrows();
    let pivots: Vec<usize> =
        arguments.integers(pivots)?.into_iter().map(|pivot| usize::try_from(pivot - 1).unwrap_or(usize::MAX)).collect();
    arguments.need(pivots.len() == n && pivots.iter().all(|&pivot| pivot < n), "the pivots do not fit the matrix")?;
    let info = (0..n).find(|&k| matrix[(k, k)] == 0.0).map_or(0, |k| k + 1);
    Ok(Lu { factors: matrix, pivots, info })
}

/// dgesv(n, nrhs, A, lda, ipiv, B, ldb, info)
pub fn dgesv(arguments: &mut Arguments<'_>) -> Answer {
    let lu = Lu::new(arguments.square(2)?);
    let mut x = arguments.dense(5)?;
    arguments.need(x.nrows() == lu.factors.nrows(), "the right side does not fit the matrix")?;
    if lu.info == 0 {
        lu.solve(&mut x);
    }
    arguments.set_dense(2, &lu.factors)?;
    arguments.set_integers(4, pivots_value(&lu.pivots))?;
    arguments.set_dense(5, &x)?;
    arguments.set_info(7, lu.info)?;
    Ok(None)
}

/// dgesvx(fact, trans, n, nrhs, A, lda, AF, ldaf, ipiv, equed, R, C, B, ldb, X, ldx, rcond, ferr, berr, work, iwork, info)
pub fn dgesvx(arguments: &mut Arguments<'_>) -> Answer {
    let a = arguments.square(4)?;
    let norm = if arguments.option(1)? == 'N' { column_norm(&a) } else { row_norm(&a) };
    let lu = Lu::new(a);
    let mut x = arguments.dense(12)?;
    arguments.need(x.nrows() == lu.factors.nrows(), "the right side does not fit the matrix")?;
    if lu.info == 0 {
        match arguments.option(1)? {
            'N' => lu.solve(&mut x),
            _ => lu.solve_transposed(&mut x),
        }
    }
    arguments.set_dense(14, &x)?;
    arguments.set(16, Value::Real(reciprocal_condition(&lu, norm, arguments.option(1)? != 'N')))?;
    arguments.set_info(21, lu.info)?;
    Ok(None)
}

/// dgbsv(n, kl, ku, nrhs, AB, ldab, ipiv, B, ldb, info)
pub fn dgbsv(arguments: &mut Arguments<'_>) -> Answer {
    let (n, lower, upper) = (arguments.size(0)?, arguments.size(1)?, arguments.size(2)?);
    let band = arguments.dense(4)?;
    arguments.need(band.ncols() == n && band.nrows() > 2 * lower + upper, "the band does not fit the size")?;
    let mut a = Dense::zeros(n, n);
    for column in 0..n {
        for row in column.saturating_sub(upper)..(column + lower + 1).min(n) {
            a[(row, column)] = band[(lower + upper + row - column, column)];
        }
    }
    let lu = Lu::new(a);
    let mut x = arguments.dense(7)?;
    arguments.need(x.nrows() == n, "the right side does not fit the matrix")?;
    if lu.info == 0 {
        lu.solve(&mut x);
    }
    arguments.set_integers(6, pivots_value(&lu.pivots))?;
    arguments.set_dense(7, &x)?;
    arguments.set_info(9, lu.info)?;
    Ok(None)
}

/// dgtsv(n, nrhs, dl, d, du, B, ldb, info): a tridiagonal system with exchange of neighbouring rows.
pub fn dgtsv(arguments: &mut Arguments<'_>) -> Answer {
    let (mut lower, mut diagonal) = (arguments.reals(2)?, arguments.reals(3)?);
    let mut upper = arguments.reals(4)?;
    let mut x = arguments.dense(5)?;
    let n = diagonal.len();
    arguments.need(lower.len() + 1 == n && upper.len() + 1 == n && x.nrows() == n, "the diagonals do not fit")?;
    // A second diagonal above appears where rows are exchanged.
    let mut second = vec![0.0; n];
    upper.push(0.0);
    lower.push(0.0);
    let mut info = 0;
    for k in 0..n.saturating_sub(1) {
        if lower[k].abs() > diagonal[k].abs() {
            x.swap_rows(k, k + 1);
            let (d, u) = (diagonal[k], upper[k]);
            diagonal[k] = lower[k];
            upper[k] = diagonal[k + 1];
            second[k] = upper[k + 1];
            let factor = d / diagonal[k];
            diagonal[k + 1] = u - factor * upper[k];
            upper[k + 1] = -factor * second[k];
            lower[k] = factor;
        } else if diagonal[k] != 0.0 {
            let factor = lower[k] / diagonal[k];
            diagonal[k + 1] -= factor * upper[k];
            lower[k] = factor;
        } else {
            info = if info == 0 { k + 1 } else { info };
            continue;
        }
        for column in 0..x.ncols() {
            x[(k + 1, column)] -= lower[k] * x[(k, column)];
        }
    }
    if info == 0 && n > 0 && diagonal[n - 1] == 0.0 {
        info = n;
    }
    if info == 0 {
        for column in 0..x.ncols() {
            for k in (0..n).rev() {
                let mut sum = x[(k, column)];
                if k + 1 < n {
                    sum -= upper[k] * x[(k + 1, column)];
                }
                if k + 2 < n {
                    sum -= second[k] * x[(k + 2, column)];
                }
                x[(k, column)] = sum / diagonal[k];
            }
        }
    }
    arguments.set_dense(5, &x)?;
    arguments.set_info(7, info)?;
    Ok(None)
}

/// dgetrf(m, n, A, lda, ipiv, info)
pub fn dgetrf(arguments: &mut Arguments<'_>) -> Answer {
    let lu = Lu::new(arguments.dense(2)?);
    arguments.set_dense(2, &lu.factors)?;
    arguments.set_integers(4, pivots_value(&lu.pivots))?;
    arguments.set_info(5, lu.info)?;
    Ok(None)
}

/// dgetrs(trans, n, nrhs, A, lda, ipiv, B, ldb, info)
pub fn dgetrs(arguments: &mut Arguments<'_>) -> Answer {
    let lu = given_factors(arguments, 3, 5)?;
    let mut x = arguments.dense(6)?;
    arguments.need(x.nrows() == lu.factors.nrows(), "the right side does not fit the matrix")?;
    match arguments.option(0)? {
        'N' => lu.solve(&mut x),
        _ => lu.solve_transposed(&mut x),
    }
    arguments.set_dense(6, &x)?;
    arguments.set_info(8, 0)?;
    Ok(None)
}

/// dgetri(n, A, lda, ipiv, work, lwork, info)
pub fn dgetri(arguments: &mut Arguments<'_>) -> Answer {
    let lu = given_factors(arguments, 1, 3)?;
    if lu.info == 0 {
        let n = lu.factors.nrows();
        let mut inverse = Dense::identity(n, n);
        lu.solve(&mut inverse);
        arguments.set_dense(1, &inverse)?;
    }
    arguments.set_info(6, lu.info)?;
    Ok(None)
}

pub fn column_norm(a: &Dense) -> f64 {
    a.column_iter().map(|column| column.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

pub fn row_norm(a: &Dense) -> f64 {
    a.row_iter().map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

fn reciprocal_condition(lu: &Lu, norm: f64, rows: bool) -> f64 {
    let n = lu.factors.nrows();
    if lu.info != 0 {
        return 0.0;
    }
    if n == 0 {
        return 1.0;
    }
    let mut inverse = Dense::identity(n, n);
    lu.solve(&mut inverse);
    let inverse_norm = if rows { row_norm(&inverse) } else { column_norm(&inverse) };
    if norm * inverse_norm > 0.0 { 1.0 / (norm * inverse_norm) } else { 0.0 }
}

/// dgecon(norm, n, A, lda, anorm, rcond, work, iwork, info). The pivots are not known here; they only exchange columns of
/// the inverse, which changes neither norm.
pub fn dgecon(arguments: &mut Arguments<'_>) -> Answer {
    let factors = arguments.square(2)?;
    let n = factors.nrows();
    let info = (0..n).find(|&k| factors[(k, k)] == 0.0).map_or(0, |k| k + 1);
    let lu = Lu { factors, pivots: (0..n).collect(), info };
    let condition = reciprocal_condition(&lu, arguments.real(4)?, arguments.option(0)? == 'I');
    arguments.set(5, Value::Real(condition))?;
    arguments.set_info(8, 0)?;
    Ok(None)
}

/// dtrsm(side, uplo, transa, diag, m, n, alpha, A, lda, B, ldb)
pub fn dtrsm(arguments: &mut Arguments<'_>) -> Answer {
    let (left, upper) = (arguments.option(0)? == 'L', arguments.option(1)? == 'U');
    let (transposed, unit) = (arguments.option(2)? != 'N', arguments.option(3)? == 'U');
    let a = arguments.square(7)?;
    let mut x = arguments.dense(9)? * arguments.real(6)?;
    let fitting = if left { x.nrows() } else { x.ncols() };
    arguments.need(a.nrows() == fitting, "the matrices do not fit")?;
    if left {
        triangular(&a, upper, transposed, unit, &mut x);
    } else {
        // X·op(A) = B is op(A)ᵀ·Xᵀ = Bᵀ.
        let mut flipped = x.transpose();
        triangular(&a, upper, !transposed, unit, &mut flipped);
        x = flipped.transpose();
    }
    arguments.set_dense(9, &x)?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn systems() {
        let a = example(5, 5);
        let x = example(5, 2);
        let b = &a * &x;
        let n = integer(5);
        let zeros5 = Value::integers([0; 5]);
        let solved = run(
            "dgesv",
            vec![n.clone(), integer(2), value(&a), n.clone(), zeros5.clone(), value(&b), n.clone(), integer(0)],
        );
        assert_close(&dense(&solved[5]), &x);
        assert_eq!(solved[7], integer(0));
        let factors = run("dgetrf", vec![n.clone(), n.clone(), value(&a), n.clone(), zeros5, integer(9)]);
        let (lu, pivots) = (factors[2].clone(), factors[4].clone());
        let transposed = a.transpose() * &x;
        let arguments = vec![
            text("T"),
            n.clone(),
            integer(2),
            lu.clone(),
            n.clone(),
            pivots.clone(),
            value(&transposed),
            n.clone(),
            integer(9),
        ];
        assert_close(&dense(&run("dgetrs", arguments)[6]), &x);
        let inverse = run("dgetri", vec![n.clone(), lu, n.clone(), pivots, zeros(1, 1), n, integer(9)]);
        assert_close(&(dense(&inverse[1]) * a), &Dense::identity(5, 5));
    }

    #[test]
    fn singular_matrices_are_reported() {
        let a = Dense::from_row_slice(2, 2, &[1.0, 2.0, 2.0, 4.0]);
        let two = integer(2);
        let arguments = vec![
            two.clone(),
            integer(1),
            value(&a),
            two.clone(),
            Value::integers([0, 0]),
            zeros(2, 1),
            two,
            integer(0),
        ];
        assert_eq!(run("dgesv", arguments)[7], integer(2));
    }

    #[test]
    fn tridiagonal_and_band() {
        let n = 6;
        let (lower, diagonal, upper) =
            ([4.0, 1.0, -2.0, 3.0, 0.5], [0.0, 2.0, 1.0, -1.0, 3.0, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0]);
        let a = Dense::from_fn(n, n, |i, j| match (i, j) {
            (i, j) if i == j => diagonal[i],
            (i, j) if i == j + 1 => lower[j],
            (i, j) if j == i + 1 => upper[i],
            _ => 0.0,
        });
        let x = example(n, 2);
        let b = value(&(&a * &x));
        let solved = run(
            "dgtsv",
            vec![
                integer(n),
                integer(2),
                Value::reals(lower),
                Value::reals(diagonal),
                Value::reals(upper),
                b.clone(),
                integer(n),
                integer(9),
            ],
        );
        assert_close(&dense(&solved[5]), &x);
        let band = Dense::from_fn(4, n, |i, j| match i {
            1 if j > 0 => upper[j - 1],
            2 => diagonal[j],
            3 if j + 1 < n => lower[j],
            _ => 0.0,
        });
        let arguments = vec![
            integer(n),
            integer(1),
            integer(1),
            integer(2),
            value(&band),
            integer(4),
            Value::integers([0; 6]),
            b,
            integer(n),
            integer(9),
        ];
        assert_close(&dense(&run("dgbsv", arguments)[7]), &x);
    }

    #[test]
    fn triangles() {
        let a = example(3, 3);
        let b = example(2, 3);
        let arguments = vec![
            text("R"),
            text("U"),
            text("N"),
            text("N"),
            integer(2),
            integer(3),
            Value::Real(2.0),
            value(&a),
            integer(3),
            value(&b),
            integer(2),
        ];
        let x = dense(&run("dtrsm", arguments)[9]);
        assert_close(&(x * a.upper_triangle()), &(b * 2.0));
    }
}
