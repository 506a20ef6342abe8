//! Eigenvalues, eigenvectors and Schur forms under the names of LAPACK.

use dae::Value;
use nalgebra::Complex;

use super::schur::{RealSchur, normalize, packed};
use super::{Answer, Arguments, Dense};

fn set_values(
    arguments: &mut Arguments<'_>,
    real: usize,
    imaginary: usize,
    values: &[Complex<f64>],
) -> Result<(), String> {
    arguments.set_reals(real, values.iter().map(|value| value.re).collect())?;
    arguments.set_reals(imaginary, values.iter().map(|value| value.im).collect())
}

/// dgees(jobvs, sort, select, n, A, lda, sdim, wr, wi, vs, ldvs, work, lwork, bwork, info)
pub fn dgees(arguments: &mut Arguments<'_>) -> Answer {
    let a = arguments.square(4)?;
    let Some(schur) = RealSchur::new(&a) else {
        arguments.set_info(14, a.nrows())?;
        return Ok(None);
    };
    arguments.set_dense(4, &schur.t)?;
    set_values(arguments, 7, 8, &schur.eigenvalues())?;
    if arguments.option(0)? == 'V' {
        arguments.set_dense(9, &schur.z)?;
    }
    arguments.set_info(14, 0)?;
    Ok(None)
}

/// Left and right eigenvectors of length 1, where wanted.
fn set_vectors(
    arguments: &mut Arguments<'_>,
    schur: &RealSchur,
    left: Option<usize>,
    right: Option<usize>,
) -> Result<(), String> {
    let values = schur.eigenvalues();
    for (position, left) in [(left, true), (right, false)] {
        if let Some(position) = position {
            let mut vectors = schur.eigenvectors(left);
            normalize(&mut vectors, false);
            arguments.set_dense(position, &packed(&vectors, &values))?;
        }
    }
    Ok(())
}

/// dgeev(jobvl, jobvr, n, A, lda, wr, wi, vl, ldvl, vr, ldvr, work, lwork, info)
pub fn dgeev(arguments: &mut Arguments<'_>) -> Answer {
    let a = arguments.square(3)?;
    let Some(schur) = RealSchur::new(&a) else {
        arguments.set_info(13, a.nrows())?;
        return Ok(None);
    };
    let left = (arguments.option(0)? == 'V').then_some(7);
    let right = (arguments.option(1)? == 'V').then_some(9);
    set_values(arguments, 5, 6, &schur.eigenvalues())?;
    set_vectors(arguments, &schur, left, right)?;
    arguments.set_info(13, 0)?;
    Ok(None)
}

/// dgeevx(balanc, jobvl, jobvr, sense, n, A, lda, wr, wi, vl, ldvl, vr, ldvr, ilo, ihi, scale, abnrm, rconde, rcondv, work,
/// lwork, iwork, info). Nothing is balanced.
pub fn dgeevx(arguments: &mut Arguments<'_>) -> Answer {
    let a = arguments.square(5)?;
    let n = a.nrows();
    let Some(schur) = RealSchur::new(&a) else {
        arguments.set_info(22, n)?;
        return Ok(None);
    };
    let left = (arguments.option(1)? == 'V').then_some(9);
    let right = (arguments.option(2)? == 'V').then_some(11);
    set_values(arguments, 7, 8, &schur.eigenvalues())?;
    set_vectors(arguments, &schur, left, right)?;
    arguments.set_dense(5, &schur.t)?;
    arguments.set(13, Value::Integer(1))?;
    arguments.set(14, Value::Integer(n as i64))?;
    arguments.set_reals(15, vec![1.0; n])?;
    arguments.set(16, Value::Real(super::solve::column_norm(&a)))?;
    arguments.set_info(22, 0)?;
    Ok(None)
}

/// dhseqr(job, compz, n, ilo, ihi, H, ldh, wr, wi, Z, ldz, work, lwork, info)
pub fn dhseqr(arguments: &mut Arguments<'_>) -> Answer {
    let h = arguments.square(5)?;
    let Some(schur) = RealSchur::new(&h) else {
        arguments.set_info(13, h.nrows())?;
        return Ok(None);
    };
    set_values(arguments, 7, 8, &schur.eigenvalues())?;
    if arguments.option(0)? == 'S' {
        arguments.set_dense(5, &schur.t)?;
    }
    match arguments.option(1)? {
        'I' => arguments.set_dense(9, &schur.z)?,
        'V' => {
            let z = arguments.square(9)?;
            arguments.need(z.nrows() == h.nrows(), "the sizes do not fit")?;
            arguments.set_dense(9, &(z * &schur.z))?;
        }
        _ => {}
    }
    arguments.set_info(13, 0)?;
    Ok(None)
}

/// A matrix that is a Schur form already.
fn given_schur(arguments: &Arguments<'_>, position: usize, z: Dense) -> Result<RealSchur, String> {
    let t = arguments.square(position)?;
    arguments.need(z.ncols() == t.nrows(), "the sizes do not fit")?;
    Ok(RealSchur { z, t })
}

/// dtrevc(side, howmny, select, n, T, ldt, VL, ldvl, VR, ldvr, mm, m, work, info)
pub fn dtrevc(arguments: &mut Arguments<'_>) -> Answer {
    let (side, back) = (arguments.option(0)?, arguments.option(1)? == 'B');
    for (position, left) in [(6, true), (8, false)] {
        if side != 'B' && (side == 'L') != left {
            continue;
        }
        let z = match back {
            true => arguments.square(position)?,
            false => {
                let n = arguments.square(4)?.nrows();
                Dense::identity(n, n)
            }
        };
        let schur = given_schur(arguments, 4, z)?;
        let mut vectors = schur.eigenvectors(left);
        normalize(&mut vectors, true);
        arguments.set_dense(position, &packed(&vectors, &schur.eigenvalues()))?;
    }
    arguments.set_info(13, 0)?;
    Ok(None)
}

/// dtrsen(job, compq, select, n, T, ldt, Q, ldq, wr, wi, m, s, sep, work, lwork, iwork, liwork, info). Condition numbers are
/// not estimated.
pub fn dtrsen(arguments: &mut Arguments<'_>) -> Answer {
    let selected: Vec<bool> = arguments.integers(2)?.into_iter().map(|value| value != 0).collect();
    let accumulate = arguments.option(1)? == 'V';
    let n = arguments.square(4)?.nrows();
    let z = if accumulate { arguments.square(6)? } else { Dense::identity(n, n) };
    let mut schur = given_schur(arguments, 4, z)?;
    let moved = schur.reorder(&selected);
    arguments.set_dense(4, &schur.t)?;
    if accumulate {
        arguments.set_dense(6, &schur.z)?;
    }
    set_values(arguments, 8, 9, &schur.eigenvalues())?;
    arguments.set(10, Value::Integer(moved.unwrap_or(0) as i64))?;
    arguments.set_info(17, usize::from(moved.is_none()))?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn a_rotation_has_a_pair_of_eigenvalues() {
        let a = Dense::from_row_slice(3, 3, &[0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
        let n = integer(3);
        let values = run(
            "dgeev",
            vec![
                text("N"),
                text("V"),
                n.clone(),
                value(&a),
                n.clone(),
                Value::reals([0.0; 3]),
                Value::reals([0.0; 3]),
                zeros(1, 1),
                integer(1),
                zeros(3, 3),
                n,
                zeros(1, 1),
                integer(1),
                integer(9),
            ],
        );
        let (re, im) = (values[5].to_reals().unwrap(), values[6].to_reals().unwrap());
        let k = (0..3).find(|&k| im[k] > 0.0).unwrap();
        assert!((im[k] - 1.0).abs() < 1e-12 && (im[k + 1] + 1.0).abs() < 1e-12 && re[k].abs() < 1e-12);
        // A·(x + iy) = i·(x + iy), so A·x = −y and A·y = x.
        let v = dense(&values[9]);
        let (x, y) = (v.columns(k, 1).into_owned(), v.columns(k + 1, 1).into_owned());
        assert_close(&(&a * &x), &-&y);
        assert_close(&(&a * &y), &x);
        assert!((x.norm_squared() + y.norm_squared() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn schur_form() {
        let a = example(4, 4);
        let n = integer(4);
        let values = run(
            "dgees",
            vec![
                text("V"),
                text("N"),
                Value::integers([0]),
                n.clone(),
                value(&a),
                n.clone(),
                integer(0),
                Value::reals([0.0; 4]),
                Value::reals([0.0; 4]),
                zeros(4, 4),
                n,
                zeros(1, 1),
                integer(40),
                Value::integers([0; 4]),
                integer(9),
            ],
        );
        let (t, z) = (dense(&values[4]), dense(&values[9]));
        assert_close(&(&z * t * z.transpose()), &a);
        let sum: f64 = values[7].to_reals().unwrap().iter().sum();
        assert!((sum - a.trace()).abs() < 1e-9);
    }
}
