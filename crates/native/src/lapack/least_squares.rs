//! Least squares: of full rank, of any rank by singular values, and with equations as side conditions.

use dae::Value;

use super::factor::Singular;
use super::{Answer, Arguments, Dense};

/// The shortest of the best solutions, and the rank: singular values below `threshold` times the largest count as zero.
fn shortest(a: &Dense, b: &Dense, threshold: f64) -> Option<(Dense, usize)> {
    let found = Singular::new(a)?;
    let limit = found.values.first().copied().unwrap_or(0.0) * threshold;
    let rank = found.values.iter().take_while(|&&value| value > limit).count();
    let projected = found.u.transpose() * b;
    let mut y = Dense::zeros(a.ncols(), b.ncols());
    for k in 0..rank {
        for column in 0..b.ncols() {
            y[(k, column)] = projected[(k, column)] / found.values[k];
        }
    }
    Some((found.v_transposed.transpose() * y, rank))
}

/// Rounding alone leaves singular values of this size.
fn rounding(a: &Dense) -> f64 {
    a.nrows().max(a.ncols()) as f64 * f64::EPSILON
}

/// The solution at the top of an array that was the right side.
fn stored(x: &Dense, rows: usize) -> Dense {
    let mut all = Dense::zeros(rows.max(x.nrows()), x.ncols());
    all.rows_mut(0, x.nrows()).copy_from(x);
    all
}

/// dgels(trans, m, n, nrhs, A, lda, B, ldb, work, lwork, info)
pub fn dgels(arguments: &mut Arguments<'_>) -> Answer {
    let mut a = arguments.dense(4)?;
    if arguments.option(0)? != 'N' {
        a.transpose_mut();
    }
    let b = arguments.dense(6)?;
    arguments.need(b.nrows() >= a.nrows().max(a.ncols()), "the right side is too short")?;
    let solved = shortest(&a, &b.rows(0, a.nrows()).into_owned(), rounding(&a));
    match solved {
        Some((x, _)) => {
            arguments.set_dense(6, &stored(&x, b.nrows()))?;
            arguments.set_info(10, 0)?;
        }
        None => arguments.set_info(10, 1)?,
    }
    Ok(None)
}

/// dgelsy(m, n, nrhs, A, lda, B, ldb, jpvt, rcond, rank, work, lwork, info); dgelsx has no `lwork`.
pub fn dgelsy(arguments: &mut Arguments<'_>) -> Answer {
    let a = arguments.dense(3)?;
    let b = arguments.dense(5)?;
    arguments.need(b.nrows() >= a.nrows().max(a.ncols()), "the right side is too short")?;
    let threshold = arguments.real(8)?.max(rounding(&a));
    let info = arguments.values.len().saturating_sub(1);
    match shortest(&a, &b.rows(0, a.nrows()).into_owned(), threshold) {
        Some((x, rank)) => {
            arguments.set_dense(5, &stored(&x, b.nrows()))?;
            arguments.set(9, Value::Integer(rank as i64))?;
            arguments.set_info(info, 0)?;
        }
        None => arguments.set_info(info, 1)?,
    }
    Ok(None)
}

/// dgglse(m, n, p, A, lda, B, ldb, c, d, x, work, lwork, info): the best x of `A·x = c` among those with `B·x = d`.
pub fn dgglse(arguments: &mut Arguments<'_>) -> Answer {
    let (a, b) = (arguments.dense(3)?, arguments.dense(5)?);
    let (c, d) = (arguments.dense(7)?, arguments.dense(8)?);
    arguments
        .need(a.ncols() == b.ncols() && c.nrows() == a.nrows() && d.nrows() == b.nrows(), "the sizes do not fit")?;
    let solved = constrained(&a, &b, &c, &d);
    let info = usize::from(solved.is_none());
    if let Some(x) = solved {
        arguments.set_dense(9, &x)?;
    }
    arguments.set_info(12, info)?;
    Ok(None)
}

fn constrained(a: &Dense, b: &Dense, c: &Dense, d: &Dense) -> Option<Dense> {
    let (particular, _) = shortest(b, d, rounding(b))?;
    let conditions = Singular::new(b)?;
    let limit = conditions.values.first().copied().unwrap_or(0.0) * rounding(b);
    let rank = conditions.values.iter().take_while(|&&value| value > limit).count();
    let free = conditions.v_transposed.rows(rank, b.ncols() - rank).transpose();
    if free.ncols() == 0 {
        return Some(particular);
    }
    let reduced = a * &free;
    let (z, _) = shortest(&reduced, &(c - a * &particular), rounding(&reduced))?;
    Some(particular + free * z)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn over_and_underdetermined() {
        for (rows, columns) in [(6, 3), (3, 5)] {
            let a = example(rows, columns);
            let b = example(rows, 1);
            let longest = rows.max(columns);
            let arguments = vec![
                text("N"),
                integer(rows),
                integer(columns),
                integer(1),
                value(&a),
                integer(rows),
                value(&stored(&b, longest)),
                integer(longest),
                zeros(1, 1),
                integer(1),
                integer(9),
            ];
            let x = dense(&run("dgels", arguments)[6]).rows(0, columns).into_owned();
            // The residual is orthogonal to the columns.
            assert_close(&(a.transpose() * (&a * &x - &b)), &Dense::zeros(columns, 1));
        }
    }

    #[test]
    fn rank() {
        let a = Dense::from_fn(4, 3, |i, j| (i + 1) as f64 * (j + 1) as f64);
        let (_, rank) = shortest(&a, &example(4, 1), rounding(&a)).unwrap();
        assert_eq!(rank, 1);
    }

    #[test]
    fn side_conditions_hold() {
        let (a, b) = (example(5, 3), Dense::from_row_slice(1, 3, &[1.0, 1.0, 1.0]));
        let (c, d) = (example(5, 1), Dense::from_element(1, 1, 2.0));
        let x = constrained(&a, &b, &c, &d).unwrap();
        assert_close(&(&b * &x), &d);
        // Along the free directions the residual is orthogonal.
        let free = Dense::from_row_slice(3, 2, &[1.0, 0.0, -1.0, 1.0, 0.0, -1.0]);
        assert_close(&((&a * free).transpose() * (&a * &x - &c)), &Dense::zeros(2, 1));
    }
}
