//! Householder reflections: QR factors with and without exchange of columns, and Hessenberg form. A reflection is
//! `I − τ·v·vᵀ`; v has a 1 where it begins and stands below the diagonal of the factors.

use super::{Answer, Arguments, Dense};

/// Makes a reflection of `x` (from `row` down in `column`) to a multiple of the first unit vector; gives τ.
fn reflection(a: &mut Dense, row: usize, column: usize) -> f64 {
    let rows = a.nrows();
    let below: f64 = (row + 1..rows).map(|i| a[(i, column)] * a[(i, column)]).sum();
    if below == 0.0 {
        return 0.0;
    }
    let first = a[(row, column)];
    let norm = (first * first + below).sqrt();
    let beta = if first >= 0.0 { -norm } else { norm };
    for i in row + 1..rows {
        a[(i, column)] /= first - beta;
    }
    a[(row, column)] = beta;
    (beta - first) / beta
}

/// The vector of a stored reflection.
fn vector(factors: &Dense, row: usize, column: usize) -> Vec<f64> {
    (0..factors.nrows())
        .map(|i| match i {
            i if i < row => 0.0,
            i if i == row => 1.0,
            i => factors[(i, column)],
        })
        .collect()
}

/// `H·C` in place, from a column on.
fn apply_left(v: &[f64], tau: f64, c: &mut Dense, from: usize) {
    for column in from..c.ncols() {
        let dot: f64 = (0..c.nrows()).map(|i| v[i] * c[(i, column)]).sum();
        for i in 0..c.nrows() {
            c[(i, column)] -= tau * dot * v[i];
        }
    }
}

/// `C·H` in place.
fn apply_right(v: &[f64], tau: f64, c: &mut Dense) {
    for row in 0..c.nrows() {
        let dot: f64 = (0..c.ncols()).map(|j| c[(row, j)] * v[j]).sum();
        for j in 0..c.ncols() {
            c[(row, j)] -= tau * dot * v[j];
        }
    }
}

/// QR factors in place; with `pivoting` the largest remaining column comes next. Gives τ and the order of the columns.
fn qr(a: &mut Dense, pivoting: bool) -> (Vec<f64>, Vec<i64>) {
    let (rows, columns) = a.shape();
    let mut order: Vec<i64> = (1..=columns as i64).collect();
    let mut tau = Vec::with_capacity(rows.min(columns));
    for k in 0..rows.min(columns) {
        if pivoting {
            let norm = |a: &Dense, j: usize| (k..rows).map(|i| a[(i, j)] * a[(i, j)]).sum::<f64>();
            let mut largest = k;
            for j in k + 1..columns {
                if norm(a, j) > norm(a, largest) * (1.0 + 1e-14) {
                    largest = j;
                }
            }
            a.swap_columns(k, largest);
            order.swap(k, largest);
        }
        let t = reflection(a, k, k);
        let v = vector(a, k, k);
        apply_left(&v, t, a, k + 1);
        tau.push(t);
    }
    (tau, order)
}

/// dgeqrf(m, n, A, lda, tau, work, lwork, info)
pub fn dgeqrf(arguments: &mut Arguments<'_>) -> Answer {
    let mut a = arguments.dense(2)?;
    let (tau, _) = qr(&mut a, false);
    arguments.set_dense(2, &a)?;
    arguments.set_reals(4, tau)?;
    arguments.set_info(7, 0)?;
    Ok(None)
}

fn pivoted(arguments: &mut Arguments<'_>) -> Answer {
    let mut a = arguments.dense(2)?;
    let (tau, order) = qr(&mut a, true);
    arguments.set_dense(2, &a)?;
    arguments.set_integers(4, order)?;
    arguments.set_reals(5, tau)?;
    let info = arguments.values.len().saturating_sub(1);
    arguments.set_info(info, 0)?;
    Ok(None)
}

/// dgeqpf(m, n, A, lda, jpvt, tau, work, info)
pub fn dgeqpf(arguments: &mut Arguments<'_>) -> Answer {
    pivoted(arguments)
}

/// dgeqp3(m, n, A, lda, jpvt, tau, work, lwork, info)
pub fn dgeqp3(arguments: &mut Arguments<'_>) -> Answer {
    pivoted(arguments)
}

/// The first columns of the product of reflections; the k-th begins `shift` rows below the diagonal.
fn product(factors: &Dense, tau: &[f64], columns: usize, shift: usize) -> Dense {
    let mut q = Dense::identity(factors.nrows(), columns);
    for (k, &t) in tau.iter().enumerate().rev() {
        apply_left(&vector(factors, k + shift, k), t, &mut q, 0);
    }
    q
}

/// dorgqr(m, n, k, A, lda, tau, work, lwork, info)
pub fn dorgqr(arguments: &mut Arguments<'_>) -> Answer {
    let (factors, tau) = (arguments.dense(3)?, arguments.reals(5)?);
    arguments.need(tau.len() <= factors.nrows().min(factors.ncols()), "there are too many reflections")?;
    let q = product(&factors, &tau, factors.ncols(), 0);
    arguments.set_dense(3, &q)?;
    arguments.set_info(8, 0)?;
    Ok(None)
}

fn multiplied(
    arguments: &mut Arguments<'_>,
    factors: usize,
    tau: usize,
    c: usize,
    info: usize,
    shift: usize,
) -> Answer {
    let (left, transposed) = (arguments.option(0)? == 'L', arguments.option(1)? != 'N');
    let (factors, tau) = (arguments.dense(factors)?, arguments.reals(tau)?);
    let mut product = arguments.dense(c)?;
    let order = if left { product.nrows() } else { product.ncols() };
    arguments.need(
        factors.nrows() == order && tau.len() + shift <= order && tau.len() <= factors.ncols(),
        "the sizes do not fit",
    )?;
    // Q is the first reflection times the second and so on.
    let forward = left == transposed;
    for step in 0..tau.len() {
        let k = if forward { step } else { tau.len() - 1 - step };
        let v = vector(&factors, k + shift, k);
        match left {
            true => apply_left(&v, tau[k], &mut product, 0),
            false => apply_right(&v, tau[k], &mut product),
        }
    }
    arguments.set_dense(c, &product)?;
    arguments.set_info(info, 0)?;
    Ok(None)
}

/// dormqr(side, trans, m, n, k, A, lda, tau, C, ldc, work, lwork, info)
pub fn dormqr(arguments: &mut Arguments<'_>) -> Answer {
    multiplied(arguments, 5, 7, 8, 12, 0)
}

/// Hessenberg form in place; gives τ.
pub fn hessenberg(a: &mut Dense) -> Vec<f64> {
    let n = a.nrows();
    let mut tau = vec![0.0; n.saturating_sub(1)];
    for (k, place) in tau.iter_mut().enumerate().take(n.saturating_sub(2)) {
        let t = reflection(a, k + 1, k);
        let v = vector(a, k + 1, k);
        apply_left(&v, t, a, k + 1);
        // The columns with stored vectors are multiplied by zeros of v only.
        apply_right(&v, t, a);
        *place = t;
    }
    tau
}

/// dgehrd(n, ilo, ihi, A, lda, tau, work, lwork, info)
pub fn dgehrd(arguments: &mut Arguments<'_>) -> Answer {
    let mut a = arguments.square(3)?;
    let tau = hessenberg(&mut a);
    arguments.set_dense(3, &a)?;
    arguments.set_reals(5, tau)?;
    arguments.set_info(8, 0)?;
    Ok(None)
}

/// dorghr(n, ilo, ihi, A, lda, tau, work, lwork, info)
pub fn dorghr(arguments: &mut Arguments<'_>) -> Answer {
    let (factors, tau) = (arguments.square(3)?, arguments.reals(5)?);
    arguments.need(tau.len() < factors.nrows().max(1), "there are too many reflections")?;
    let q = product(&factors, &tau, factors.ncols(), 1);
    arguments.set_dense(3, &q)?;
    arguments.set_info(8, 0)?;
    Ok(None)
}

/// dormhr(side, trans, m, n, ilo, ihi, A, lda, tau, C, ldc, work, lwork, info)
pub fn dormhr(arguments: &mut Arguments<'_>) -> Answer {
    multiplied(arguments, 6, 8, 9, 13, 1)
}

#[cfg(test)]
mod tests {
    use dae::Value;

    use super::super::testing::*;
    use super::*;

    #[test]
    fn factors_rebuild_the_matrix() {
        for (rows, columns) in [(5, 3), (3, 3), (3, 5)] {
            let a = example(rows, columns);
            for pivoting in [false, true] {
                let mut factors = a.clone();
                let (tau, order) = qr(&mut factors, pivoting);
                let r = factors.upper_triangle();
                let q = product(&factors.columns(0, rows.min(columns)).into_owned(), &tau, rows, 0);
                assert_close(&(q.transpose() * &q), &Dense::identity(rows, rows));
                let permuted = Dense::from_fn(rows, columns, |i, j| a[(i, order[j] as usize - 1)]);
                assert_close(&(q * r), &permuted);
                if pivoting {
                    let diagonal: Vec<f64> = (0..tau.len()).map(|k| factors[(k, k)].abs()).collect();
                    assert!(diagonal.windows(2).all(|pair| pair[0] >= pair[1] - 1e-12));
                }
            }
        }
    }

    #[test]
    fn products_with_q() {
        let a = example(4, 4);
        let c = example(4, 2);
        let factors = run(
            "dgeqrf",
            vec![
                integer(4),
                integer(4),
                value(&a),
                integer(4),
                Value::reals([0.0; 4]),
                zeros(1, 1),
                integer(1),
                integer(9),
            ],
        );
        let q = run(
            "dorgqr",
            vec![
                integer(4),
                integer(4),
                integer(4),
                factors[2].clone(),
                integer(4),
                factors[4].clone(),
                zeros(1, 1),
                integer(1),
                integer(9),
            ],
        );
        let q = dense(&q[3]);
        for (side, trans) in [("L", "N"), ("L", "T"), ("R", "N"), ("R", "T")] {
            let right = if side == "L" { c.clone() } else { c.transpose() };
            let product = run(
                "dormqr",
                vec![
                    text(side),
                    text(trans),
                    integer(right.nrows()),
                    integer(right.ncols()),
                    integer(4),
                    factors[2].clone(),
                    integer(4),
                    factors[4].clone(),
                    value(&right),
                    integer(4),
                    zeros(1, 1),
                    integer(1),
                    integer(9),
                ],
            );
            let op = if trans == "N" { q.clone() } else { q.transpose() };
            let expected = if side == "L" { op * right } else { right * op };
            assert_close(&dense(&product[8]), &expected);
        }
    }

    #[test]
    fn hessenberg_form_is_similar() {
        let a = example(5, 5);
        let mut factors = a.clone();
        let tau = hessenberg(&mut factors);
        let q = product(&factors, &tau, 5, 1);
        let h = Dense::from_fn(5, 5, |i, j| if i > j + 1 { 0.0 } else { factors[(i, j)] });
        assert_close(&(&q * h * q.transpose()), &a);
    }
}
