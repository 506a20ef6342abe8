//! Cholesky factors, norms, singular values.

use dae::Value;

use super::solve::{column_norm, row_norm};
use super::{Answer, Arguments, Dense};

/// dpotrf(uplo, n, A, lda, info); the other triangle stays as it was.
pub fn dpotrf(arguments: &mut Arguments<'_>) -> Answer {
    let upper = arguments.option(0)? == 'U';
    let mut a = arguments.square(2)?;
    if upper {
        a.transpose_mut();
    }
    let info = cholesky(&mut a);
    if upper {
        a.transpose_mut();
    }
    arguments.set_dense(2, &a)?;
    arguments.set_info(4, info)?;
    Ok(None)
}

/// The lower factor in place; the answer is the leading minor that is not positive.
fn cholesky(a: &mut Dense) -> usize {
    let n = a.nrows();
    for j in 0..n {
        let square = a[(j, j)] - (0..j).map(|k| a[(j, k)] * a[(j, k)]).sum::<f64>();
        if square.is_nan() || square <= 0.0 {
            return j + 1;
        }
        let root = square.sqrt();
        a[(j, j)] = root;
        for i in j + 1..n {
            let sum: f64 = (0..j).map(|k| a[(i, k)] * a[(j, k)]).sum();
            a[(i, j)] = (a[(i, j)] - sum) / root;
        }
    }
    0
}

/// dlange(norm, m, n, A, lda, work)
pub fn dlange(arguments: &mut Arguments<'_>) -> Answer {
    let a = arguments.dense(3)?;
    let norm = match arguments.option(0)? {
        'M' => a.iter().fold(0.0, |largest: f64, x| largest.max(x.abs())),
        'O' | '1' => column_norm(&a),
        'I' => row_norm(&a),
        'F' | 'E' => a.norm(),
        other => return Err(format!("`dlange` knows no norm `{other}`")),
    };
    Ok(Some(Value::Real(norm)))
}

/// Singular values in falling order, with square orthogonal matrices on both sides.
pub struct Singular {
    pub u: Dense,
    pub values: Vec<f64>,
    pub v_transposed: Dense,
}

impl Singular {
    pub fn new(a: &Dense) -> Option<Self> {
        let (rows, columns) = a.shape();
        if rows == 0 || columns == 0 {
            return Some(Self {
                u: Dense::identity(rows, rows),
                values: vec![],
                v_transposed: Dense::identity(columns, columns),
            });
        }
        if a.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let svd = a.clone().try_svd(true, true, f64::EPSILON, 1000 + 100 * (rows + columns))?;
        let (u, v_transposed) = (svd.u?, svd.v_t?);
        let mut order: Vec<usize> = (0..svd.singular_values.len()).collect();
        order.sort_by(|&i, &j| svd.singular_values[j].total_cmp(&svd.singular_values[i]));
        let values = order.iter().map(|&k| svd.singular_values[k]).collect();
        let u = Dense::from_columns(&order.iter().map(|&k| u.column(k).into_owned()).collect::<Vec<_>>());
        let v = Dense::from_columns(&order.iter().map(|&k| v_transposed.row(k).transpose()).collect::<Vec<_>>());
        Some(Self { u: completed(&u), values, v_transposed: completed(&v).transpose() })
    }
}

/// Adds columns to orthonormal ones until the matrix is square.
fn completed(columns: &Dense) -> Dense {
    let n = columns.nrows();
    let mut all: Vec<nalgebra::DVector<f64>> = columns.column_iter().map(|column| column.into_owned()).collect();
    for k in 0..n {
        if all.len() == n {
            break;
        }
        let mut candidate = nalgebra::DVector::zeros(n);
        candidate[k] = 1.0;
        // Twice is enough.
        for _ in 0..2 {
            for column in &all {
                let part = column.dot(&candidate);
                candidate.axpy(-part, column, 1.0);
            }
        }
        let norm = candidate.norm();
        // One of the unit vectors always has this much outside of fewer than n directions.
        if norm > 0.5 / (n as f64).sqrt() {
            all.push(candidate / norm);
        }
    }
    Dense::from_columns(&all)
}

fn singular(arguments: &mut Arguments<'_>, a: usize, outputs: [usize; 3], vectors: bool, info: usize) -> Answer {
    let Some(found) = Singular::new(&arguments.dense(a)?) else {
        arguments.set_info(info, 1)?;
        return Ok(None);
    };
    arguments.set_reals(outputs[0], found.values)?;
    if vectors {
        arguments.set_dense(outputs[1], &found.u)?;
        arguments.set_dense(outputs[2], &found.v_transposed)?;
    }
    arguments.set_info(info, 0)?;
    Ok(None)
}

/// dgesvd(jobu, jobvt, m, n, A, lda, s, u, ldu, vt, ldvt, work, lwork, info)
pub fn dgesvd(arguments: &mut Arguments<'_>) -> Answer {
    let vectors = arguments.option(0)? != 'N';
    singular(arguments, 4, [6, 7, 9], vectors, 13)
}

/// dgesdd(jobz, m, n, A, lda, s, u, ldu, vt, ldvt, work, lwork, iwork, info)
pub fn dgesdd(arguments: &mut Arguments<'_>) -> Answer {
    let vectors = arguments.option(0)? != 'N';
    singular(arguments, 3, [5, 6, 8], vectors, 13)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn singular_values_rebuild_the_matrix() {
        for (rows, columns) in [(4, 3), (3, 4), (3, 3)] {
            let a = example(rows, columns);
            let found = Singular::new(&a).unwrap();
            assert_close(&(found.u.transpose() * &found.u), &Dense::identity(rows, rows));
            let mut middle = Dense::zeros(rows, columns);
            for (k, &value) in found.values.iter().enumerate() {
                middle[(k, k)] = value;
            }
            assert!(found.values.windows(2).all(|pair| pair[0] >= pair[1]));
            assert_close(&(found.u * middle * found.v_transposed), &a);
        }
        // Rank one.
        let a = Dense::from_element(3, 2, 1.0);
        let found = Singular::new(&a).unwrap();
        assert!((found.values[0] - 6f64.sqrt()).abs() < 1e-12 && found.values[1].abs() < 1e-12);
        assert_close(&(found.u.transpose() * &found.u), &Dense::identity(3, 3));
    }

    #[test]
    fn cholesky_factor() {
        let b = example(4, 4);
        let a = &b * b.transpose() + Dense::identity(4, 4);
        let arguments = vec![text("U"), integer(4), value(&a), integer(4), integer(9)];
        let factor = dense(&run("dpotrf", arguments)[2]).upper_triangle();
        assert_close(&(factor.transpose() * factor), &a);
        let arguments = vec![text("L"), integer(2), value(&-Dense::identity(2, 2)), integer(2), integer(0)];
        assert_eq!(run("dpotrf", arguments)[4], integer(1));
    }
}
