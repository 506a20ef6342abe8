//! Generalised eigenvalues `A·x = λ·B·x`, also infinite ones, through the ordinary ones of `(A − σ·B)⁻¹·B` for a shift σ
//! that makes the first matrix regular: λ = σ + 1/μ.

use dae::Value;
use nalgebra::Complex;

use super::schur::{ComplexMatrix, RealSchur, normalize, packed};
use super::solve::Lu;
use super::{Answer, Arguments, Dense};

struct Pencil {
    /// λ = alpha/beta.
    alpha: Vec<Complex<f64>>,
    beta: Vec<f64>,
    left: ComplexMatrix,
    right: ComplexMatrix,
}

fn solve(a: &Dense, b: &Dense) -> Option<Pencil> {
    let n = a.nrows();
    // Any number will do that is no eigenvalue; some are tried, and the best conditioned is taken.
    let scale = (a.amax() / b.amax().max(f64::MIN_POSITIVE)).clamp(1e-100, 1e100);
    let candidates = [0.0, 0.7368, -1.2931, 2.5173, -0.3217].map(|factor| {
        let shift = factor * scale;
        let lu = Lu::new(a - b * shift);
        let diagonal: Vec<f64> = (0..n).map(|k| lu.factors[(k, k)].abs()).collect();
        let smallest = diagonal.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = diagonal.iter().copied().fold(0.0, f64::max);
        (shift, lu, if largest > 0.0 { smallest / largest } else { 0.0 })
    });
    let (shift, lu, quality) = candidates.into_iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
    if n > 0 && (lu.info != 0 || quality < f64::EPSILON) {
        return None;
    }
    let mut operator = b.clone();
    lu.solve(&mut operator);
    let schur = RealSchur::new(&operator)?;
    let values = schur.eigenvalues();
    let negligible = f64::EPSILON * n as f64 * operator.amax();
    let (alpha, beta) = values
        .iter()
        .map(|mu| match mu.norm() {
            size if size <= negligible => (Complex::new(1.0, 0.0), 0.0),
            size => (mu.conj() / size + Complex::new(shift * size, 0.0), size),
        })
        .unzip();
    let mut left = schur.eigenvectors(true);
    // Back from the left vectors of the operator to those of the pencil.
    let mut parts = Dense::zeros(n, 2 * n);
    for i in 0..n {
        for j in 0..n {
            (parts[(i, j)], parts[(i, n + j)]) = (left[(i, j)].re, left[(i, j)].im);
        }
    }
    lu.solve_transposed(&mut parts);
    for i in 0..n {
        for j in 0..n {
            left[(i, j)] = Complex::new(parts[(i, j)], parts[(i, n + j)]);
        }
    }
    let mut right = schur.eigenvectors(false);
    normalize(&mut left, true);
    normalize(&mut right, true);
    let mut pencil = Pencil { alpha, beta, left, right };
    pencil.order_pairs();
    Some(pencil)
}

impl Pencil {
    /// λ = 1/μ exchanges the members of a pair: the one with positive imaginary part comes first.
    fn order_pairs(&mut self) {
        let mut k = 0;
        while k + 1 < self.alpha.len() {
            if self.alpha[k].im < 0.0 {
                self.alpha.swap(k, k + 1);
                self.beta.swap(k, k + 1);
                self.left.swap_columns(k, k + 1);
                self.right.swap_columns(k, k + 1);
            }
            k += if self.alpha[k].im != 0.0 { 2 } else { 1 };
        }
    }
}

/// Where a routine has its arguments.
struct ArgumentPositions {
    a: usize,
    b: usize,
    alpha: usize,
    /// Left and right vectors.
    vectors: Option<[usize; 2]>,
    info: usize,
}

fn run(arguments: &mut Arguments<'_>, places: &ArgumentPositions, left: bool, right: bool) -> Answer {
    let (a, b) = (arguments.square(places.a)?, arguments.square(places.b)?);
    arguments.need(a.nrows() == b.nrows(), "the matrices do not fit")?;
    let Some(pencil) = solve(&a, &b) else {
        arguments.set_info(places.info, a.nrows().max(1))?;
        return Ok(None);
    };
    arguments.set_reals(places.alpha, pencil.alpha.iter().map(|x| x.re).collect())?;
    arguments.set_reals(places.alpha + 1, pencil.alpha.iter().map(|x| x.im).collect())?;
    arguments.set(places.alpha + 2, Value::reals(pencil.beta))?;
    if let Some([left_place, right_place]) = places.vectors {
        if left {
            arguments.set_dense(left_place, &packed(&pencil.left, &pencil.alpha))?;
        }
        if right {
            arguments.set_dense(right_place, &packed(&pencil.right, &pencil.alpha))?;
        }
    }
    arguments.set_info(places.info, 0)?;
    Ok(None)
}

/// dggev(jobvl, jobvr, n, A, lda, B, ldb, alphar, alphai, beta, vl, ldvl, vr, ldvr, work, lwork, info)
pub fn dggev(arguments: &mut Arguments<'_>) -> Answer {
    let (left, right) = (arguments.option(0)? == 'V', arguments.option(1)? == 'V');
    run(arguments, &ArgumentPositions { a: 3, b: 5, alpha: 7, vectors: Some([10, 12]), info: 16 }, left, right)
}

/// dggevx(balanc, jobvl, jobvr, sense, n, A, lda, B, ldb, alphar, alphai, beta, vl, ldvl, vr, ldvr, ilo, ihi, lscale, rscale,
/// abnrm, bbnrm, rconde, rcondv, work, lwork, iwork, bwork, info)
pub fn dggevx(arguments: &mut Arguments<'_>) -> Answer {
    let (left, right) = (arguments.option(1)? == 'V', arguments.option(2)? == 'V');
    run(arguments, &ArgumentPositions { a: 5, b: 7, alpha: 9, vectors: Some([12, 14]), info: 28 }, left, right)
}

/// dhgeqz(job, compq, compz, n, ilo, ihi, H, ldh, T, ldt, alphar, alphai, beta, Q, ldq, Z, ldz, work, lwork, info), for
/// eigenvalues only.
pub fn dhgeqz(arguments: &mut Arguments<'_>) -> Answer {
    run(arguments, &ArgumentPositions { a: 6, b: 8, alpha: 10, vectors: None, info: 19 }, false, false)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn vectors_satisfy_the_pencil() {
        let a = example(4, 4);
        let mut b = example(4, 4).transpose();
        for column in 0..4 {
            b[(3, column)] = 0.0;
        }
        for b in [Dense::identity(4, 4), example(4, 4).transpose() * 2.0 + Dense::identity(4, 4), b] {
            let pencil = solve(&a, &b).unwrap();
            let complex = |m: &Dense| m.map(|x| Complex::new(x, 0.0));
            for k in 0..4 {
                let (alpha, beta) = (pencil.alpha[k], Complex::new(pencil.beta[k], 0.0));
                let x = pencil.right.columns(k, 1);
                let residual = complex(&a) * x * beta - complex(&b) * x * alpha;
                assert!(residual.iter().all(|r| r.norm() < 1e-8), "{k} {residual}");
                let y = pencil.left.columns(k, 1).adjoint();
                let residual = &y * complex(&a) * beta - y * complex(&b) * alpha;
                assert!(residual.iter().all(|r| r.norm() < 1e-8), "left {k} {residual}");
            }
        }
    }

    #[test]
    fn infinite_eigenvalues() {
        let a = Dense::identity(2, 2);
        let b = Dense::from_row_slice(2, 2, &[2.0, 0.0, 0.0, 0.0]);
        let pencil = solve(&a, &b).unwrap();
        let infinite = (0..2).find(|&k| pencil.beta[k] == 0.0).unwrap();
        let finite = 1 - infinite;
        assert!((pencil.alpha[finite].re / pencil.beta[finite] - 0.5).abs() < 1e-12);
        assert!(solve(&Dense::zeros(2, 2), &Dense::zeros(2, 2)).is_none());
    }
}
