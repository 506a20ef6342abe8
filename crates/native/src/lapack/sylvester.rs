//! Sylvester equations with matrices in Schur form, column by column (R. H. Bartels, G. W. Stewart, *Solution of the Matrix
//! Equation AX + XB = C*, 1972).

use dae::Value;

use super::{Answer, Arguments, Dense};

/// dtrsyl(trana, tranb, isgn, m, n, A, lda, B, ldb, C, ldc, scale, info): `op(A)·X ± X·op(B) = scale·C`
pub fn dtrsyl(arguments: &mut Arguments<'_>) -> Answer {
    let mut a = arguments.square(5)?;
    if arguments.option(0)? != 'N' {
        a.transpose_mut();
    }
    let b = arguments.square(7)?;
    let sign = arguments.integer(2)? as f64;
    let c = arguments.dense(9)?;
    arguments.need(c.nrows() == a.nrows() && c.ncols() == b.nrows(), "the sizes do not fit")?;
    let solved = solve(&a, &b, arguments.option(1)? != 'N', sign, &c);
    let info = usize::from(solved.is_none());
    if let Some(x) = solved {
        arguments.set_dense(9, &x)?;
    }
    arguments.set(11, Value::Real(1.0))?;
    arguments.set_info(12, info)?;
    Ok(None)
}

/// `a·X + sign·X·op(b) = c` for b in Schur form; `None` if there is no unique solution.
fn solve(a: &Dense, b: &Dense, transposed: bool, sign: f64, c: &Dense) -> Option<Dense> {
    let (m, n) = c.shape();
    let element = |row: usize, column: usize| if transposed { b[(column, row)] } else { b[(row, column)] };
    let mut blocks = Vec::new();
    let mut k = 0;
    while k < n {
        let size = if k + 1 < n && b[(k + 1, k)] != 0.0 { 2 } else { 1 };
        blocks.push((k, size));
        k += size;
    }
    if transposed {
        blocks.reverse();
    }
    let mut x = Dense::zeros(m, n);
    let mut done: Vec<usize> = Vec::with_capacity(n);
    for (first, size) in blocks {
        let mut system = Dense::zeros(m * size, m * size);
        let mut right = Dense::zeros(m * size, 1);
        for p in 0..size {
            system.view_mut((p * m, p * m), (m, m)).copy_from(a);
            for q in 0..size {
                for i in 0..m {
                    system[(p * m + i, q * m + i)] += sign * element(first + q, first + p);
                }
            }
            for i in 0..m {
                let known: f64 = done.iter().map(|&j| x[(i, j)] * element(j, first + p)).sum();
                right[(p * m + i, 0)] = c[(i, first + p)] - sign * known;
            }
        }
        let solution = system.lu().solve(&right)?;
        for p in 0..size {
            for i in 0..m {
                x[(i, first + p)] = solution[(p * m + i, 0)];
            }
        }
        done.extend(first..first + size);
    }
    x.iter().all(|value| value.is_finite()).then_some(x)
}

#[cfg(test)]
mod tests {
    use super::super::schur::RealSchur;
    use super::super::testing::*;
    use super::*;

    #[test]
    fn solutions_satisfy_the_equation() {
        let a = RealSchur::new(&example(3, 3)).unwrap().t;
        let b = RealSchur::new(&(example(4, 4) + Dense::identity(4, 4) * 20.0)).unwrap().t;
        let c = example(3, 4);
        for sign in [1.0, -1.0] {
            let x = solve(&a, &b, false, sign, &c).unwrap();
            assert_close(&(&a * &x + &x * &b * sign), &c);
            let x = solve(&a, &b, true, sign, &c).unwrap();
            assert_close(&(&a * &x + &x * b.transpose() * sign), &c);
        }
        assert!(solve(&Dense::zeros(1, 1), &Dense::zeros(1, 1), false, 1.0, &Dense::identity(1, 1)).is_none());
    }
}
