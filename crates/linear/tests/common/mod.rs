//! Systems with known properties.
#![allow(dead_code)]

use linear::{Complex, Matrix, StateSpace};

pub fn complex(re: f64, im: f64) -> Complex {
    Complex::new(re, im)
}

pub fn multiply(left: &Matrix, right: &Matrix) -> Matrix {
    Matrix::from_fn(left.rows(), right.columns(), |i, j| {
        (0..left.columns()).map(|k| left[(i, k)] * right[(k, j)]).sum()
    })
}

/// gain Π(s - zero) / Π(s - pole) in companion form; both lists hold conjugates.
pub fn companion(zeros: &[Complex], poles: &[Complex], gain: f64) -> StateSpace {
    let n = poles.len();
    let denominator = linear::polynomial(poles);
    let mut numerator = vec![0.0; n - zeros.len()];
    numerator.extend(linear::polynomial(zeros).iter().map(|coefficient| coefficient * gain));
    let direct = numerator[0];
    let a = Matrix::from_fn(n, n, |i, j| match i {
        0 => -denominator[j + 1],
        _ if i == j + 1 => 1.0,
        _ => 0.0,
    });
    let b = Matrix::from_fn(n, 1, |i, _| if i == 0 { 1.0 } else { 0.0 });
    let c = Matrix::from_fn(1, n, |_, j| numerator[j + 1] - direct * denominator[j + 1]);
    StateSpace::unnamed([a, b, c, Matrix::from([[direct]])]).unwrap()
}

/// Block diagonal with these poles (of each pair the one with positive imaginary part).
pub fn modal(poles: &[Complex]) -> Matrix {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let n = poles.iter().map(|pole| if pole.im == 0.0 { 1 } else { 2 }).sum();
    for pole in poles {
        let at = rows.len();
        let mut row = vec![0.0; n];
        row[at] = pole.re;
        if pole.im != 0.0 {
            let mut next = row.clone();
            row[at + 1] = pole.im;
            next[at] = -pole.im;
            next[at + 1] = pole.re;
            rows.push(row);
            rows.push(next);
        } else {
            rows.push(row);
        }
    }
    Matrix::from_fn(n, n, |i, j| rows[i][j])
}

/// T⁻¹ A T and so on, T = product of elementary matrices of moderate condition.
pub fn transformed(system: &StateSpace, rng: &mut fastrand::Rng) -> StateSpace {
    let mut result = system.clone();
    let n = system.order();
    if n < 2 {
        return result;
    }
    for _ in 0..2 * n {
        let (i, j) = (rng.usize(..n), rng.usize(..n));
        if i == j {
            continue;
        }
        let f = rng.f64() - 0.5;
        // x_i = z_i + f z_j: column j of A and C gains f times column i, row i of A and B loses f times row j.
        for k in 0..n {
            let change = f * result.a[(k, i)];
            result.a[(k, j)] += change;
        }
        for k in 0..n {
            let change = f * result.a[(j, k)];
            result.a[(i, k)] -= change;
        }
        for k in 0..result.outputs.len() {
            let change = f * result.c[(k, i)];
            result.c[(k, j)] += change;
        }
        for k in 0..result.inputs.len() {
            let change = f * result.b[(j, k)];
            result.b[(i, k)] -= change;
        }
    }
    result
}

/// C (sI - A)⁻¹ B + D by Gaussian elimination, straight from the definition.
pub fn evaluate(system: &StateSpace, s: Complex) -> Matrix<Complex> {
    let (n, m) = (system.order(), system.inputs.len());
    let mut rows: Vec<Vec<Complex>> = (0..n)
        .map(|i| {
            let left = (0..n).map(|j| if i == j { s - system.a[(i, j)] } else { complex(-system.a[(i, j)], 0.0) });
            left.chain((0..m).map(|j| complex(system.b[(i, j)], 0.0))).collect()
        })
        .collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].norm().total_cmp(&rows[j][k].norm())).unwrap();
        rows.swap(k, pivot);
        let upper = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i != k {
                let factor = row[k] / upper[k];
                row.iter_mut().zip(&upper).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    Matrix::from_fn(system.outputs.len(), m, |i, j| {
        (0..n).map(|k| rows[k][n + j] / rows[k][k] * system.c[(i, k)]).sum::<Complex>() + system.d[(i, j)]
    })
}

/// The largest distance between two sets of numbers, matched greedily.
pub fn distance(left: &[Complex], right: &[Complex]) -> f64 {
    assert_eq!(left.len(), right.len(), "{left:?}\n{right:?}");
    let mut rest = right.to_vec();
    let mut worst: f64 = 0.0;
    for value in left {
        let near =
            (0..rest.len()).min_by(|&i, &j| (rest[i] - value).norm().total_cmp(&(rest[j] - value).norm())).unwrap();
        let found = rest.swap_remove(near);
        worst = worst.max((found - value).norm() / found.norm().max(1.0));
    }
    worst
}

pub fn random(rows: usize, columns: usize, rng: &mut fastrand::Rng) -> Matrix {
    Matrix::from_fn(rows, columns, |_, _| 2.0 * rng.f64() - 1.0)
}
