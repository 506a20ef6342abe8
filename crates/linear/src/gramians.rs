//! Gramians: how much energy inputs put into states and states into outputs.
//!
//! A P + P Aᵀ + B Bᵀ = 0 by the method of Bartels and Stewart (1972) on the complex Schur form. The residual of each result
//! is checked.

use faer::{Mat, Side};

use crate::eigen::complex_schur;
use crate::modes::poles;
use crate::staircase::dual;
use crate::{Complex, Error, Matrix, StateSpace};

/// P of A P + P Aᵀ + B Bᵀ = 0; the system has to be stable.
pub fn controllability_gramian(system: &StateSpace) -> Result<Matrix, Error> {
    system.check()?;
    if let Some(&pole) = poles(system)?.iter().find(|pole| pole.re >= 0.0) {
        return Err(Error::Unstable { pole });
    }
    let (a, b) = (system.a.dense(), system.b.dense());
    let gramian = lyapunov(&a, &(&b * b.transpose()))?;
    Ok(Matrix::from_dense(gramian.as_ref()))
}

/// Q of Aᵀ Q + Q A + Cᵀ C = 0; the system has to be stable.
pub fn observability_gramian(system: &StateSpace) -> Result<Matrix, Error> {
    controllability_gramian(&dual(system))
}

/// The square roots of the eigenvalues of the product of both gramians, descending: how much each balanced state matters.
pub fn hankel_singular_values(system: &StateSpace) -> Result<Vec<f64>, Error> {
    if system.order() == 0 {
        return Ok(Vec::new());
    }
    let (p, q) = (controllability_gramian(system)?.dense(), observability_gramian(system)?.dense());
    // The singular values of the product of the factors keep the small ones accurate.
    let product = half(&q)?.transpose() * half(&p)?;
    product.singular_values().map_err(|_| Error::NoConvergence)
}

/// L with P = L Lᵀ, also of a matrix that rounding errors made indefinite.
fn half(p: &Mat<f64>) -> Result<Mat<f64>, Error> {
    let eigen = p.self_adjoint_eigen(Side::Lower).map_err(|_| Error::NoConvergence)?;
    let values = eigen.S();
    Ok(Mat::from_fn(p.nrows(), p.nrows(), |i, j| eigen.U()[(i, j)] * values[j].max(0.0).sqrt()))
}

/// P with A P + P Aᵀ + Q = 0.
fn lyapunov(a: &Mat<f64>, q: &Mat<f64>) -> Result<Mat<f64>, Error> {
    let n = a.nrows();
    if n == 0 {
        return Ok(Mat::zeros(0, 0));
    }
    // States of very different units make the matrices badly scaled.
    let mut scaled = a.clone();
    let scale = crate::balance::balance(&mut scaled, None, None);
    let (t, u) = complex_schur(scaled.as_ref())?;
    let right = Mat::from_fn(n, n, |i, j| Complex::new(q[(i, j)] / scale[i] / scale[j], 0.0));
    let mut y = u.adjoint() * &right * &u;
    // T Y + Y Tᴴ = -F, from the last column to the first.
    for k in (0..n).rev() {
        for j in k + 1..n {
            let factor = t[(k, j)].conj();
            for i in 0..n {
                let known = y[(i, j)];
                y[(i, k)] += factor * known;
            }
        }
        let shift = t[(k, k)].conj();
        for i in (0..n).rev() {
            let value = -y[(i, k)] / (t[(i, i)] + shift);
            y[(i, k)] = value;
            for above in 0..i {
                let coefficient = t[(above, i)];
                y[(above, k)] += coefficient * value;
            }
        }
    }
    let full = &u * &y * u.adjoint();
    let p = Mat::from_fn(n, n, |i, j| 0.5 * (full[(i, j)].re + full[(j, i)].re));
    let known = Mat::from_fn(n, n, |i, j| right[(i, j)].re);
    let residual = (&scaled * &p + &p * scaled.transpose() + &known).norm_l2();
    let size = known.norm_l2() + 2.0 * scaled.norm_l2() * p.norm_l2();
    if residual.is_nan() || residual > 1e-10 * size {
        return Err(Error::Inaccurate { what: "a gramian", residual: residual / size });
    }
    Ok(Mat::from_fn(n, n, |i, j| p[(i, j)] * scale[i] * scale[j]))
}
