//! Eigenvalues, eigenvectors, Hessenberg and Schur forms: what `faer` computes, with a check of each result.
//!
//! `faer` does not report an iteration that ends without convergence, so the eigenvalues are checked against the traces
//! of A and A², which cost next to nothing.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, evd_real, evd_scratch, hessenberg};
use faer::linalg::gevd::{gevd_real, gevd_scratch, qz_real};
use faer::linalg::householder;
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::linalg::solvers::Solve;
use faer::{Conj, Mat, MatRef, Par, Spec};

use crate::balance::balance;
use crate::{Complex, Error};

/// In the order of their real parts, the right-most last; conjugates stand together, the lower one first.
pub(crate) fn eigenvalues(a: MatRef<'_, f64>) -> Result<Vec<Complex>, Error> {
    if a.nrows() == 0 {
        return Ok(Vec::new());
    }
    let mut values = Vec::with_capacity(a.nrows());
    for block in coupled_blocks(a) {
        let mut balanced = Mat::from_fn(block.len(), block.len(), |i, j| a[(block[i], block[j])]);
        balance(&mut balanced, None, None);
        values.extend(real_eigen(balanced.as_ref(), false)?.values);
    }
    sort(&mut values);
    Ok(values)
}

/// The states in groups that depend on each other, by the zeros of A (Tarjan 1972). The eigenvalues of A are those of the groups, and
/// those of a slow group have nothing to do with the rounding errors of a fast one.
pub(crate) fn coupled_blocks(a: MatRef<'_, f64>) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let n = a.nrows();
    let (mut number, mut low) = (vec![NEW; n], vec![NEW; n]);
    let (mut stack, mut is_open) = (Vec::new(), vec![false; n]);
    let mut blocks = Vec::new();
    let mut count = 0;
    for root in 0..n {
        if number[root] != NEW {
            continue;
        }
        // State, and the next row of its column to look at.
        let mut path = vec![(root, 0)];
        while let Some(&mut (state, ref mut next)) = path.last_mut() {
            if *next == 0 {
                (number[state], low[state]) = (count, count);
                count += 1;
                stack.push(state);
                is_open[state] = true;
            }
            let found =
                (*next..n).find(|&row| row != state && a[(row, state)] != 0.0 && (number[row] == NEW || is_open[row]));
            match found {
                Some(row) => {
                    *next = row + 1;
                    if number[row] == NEW {
                        path.push((row, 0));
                    } else {
                        low[state] = low[state].min(number[row]);
                    }
                }
                None => {
                    path.pop();
                    if let Some(&(parent, _)) = path.last() {
                        low[parent] = low[parent].min(low[state]);
                    }
                    if low[state] == number[state] {
                        let start = stack.iter().rposition(|&it| it == state).unwrap_or(0);
                        let mut block = stack.split_off(start);
                        block.iter().for_each(|&it| is_open[it] = false);
                        block.sort_unstable();
                        blocks.push(block);
                    }
                }
            }
        }
    }
    blocks.sort();
    blocks
}

pub(crate) fn sort(values: &mut [Complex]) {
    values.sort_by(|x, y| x.re.total_cmp(&y.re).then(x.im.abs().total_cmp(&y.im.abs())).then(x.im.total_cmp(&y.im)));
}

pub(crate) struct Eigen {
    pub values: Vec<Complex>,
    /// Columns of unit length; empty where they were not asked for.
    pub right: Mat<Complex>,
    /// wᴴ A = λ wᴴ.
    pub left: Mat<Complex>,
}

/// Of a matrix that is balanced already.
pub(crate) fn real_eigen(a: MatRef<'_, f64>, vectors: bool) -> Result<Eigen, Error> {
    let n = a.nrows();
    let (mut re, mut im) = (Diag::<f64>::zeros(n), Diag::<f64>::zeros(n));
    let size = if vectors { n } else { 0 };
    let (mut left, mut right) = (Mat::<f64>::zeros(size, size), Mat::<f64>::zeros(size, size));
    let wanted = if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let need = evd_scratch::<f64>(n, wanted, wanted, Par::Seq, Spec::default());
    evd_real(
        a,
        re.as_mut(),
        im.as_mut(),
        vectors.then(|| left.as_mut()),
        vectors.then(|| right.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(need)),
        Spec::default(),
    )
    .map_err(|_| Error::NoConvergence)?;
    let values: Vec<Complex> = (0..n).map(|i| Complex::new(re[i], im[i])).collect();
    check_traces(a, &values)?;
    let (right, left) = (paired(right.as_ref(), &values), paired(left.as_ref(), &values));
    Ok(Eigen { values, right, left })
}

/// Real and imaginary parts of conjugate vectors stand in neighbouring columns.
fn paired(real: MatRef<'_, f64>, values: &[Complex]) -> Mat<Complex> {
    let n = real.nrows();
    let mut vectors = Mat::<Complex>::zeros(n, n);
    let mut j = 0;
    while j < n {
        let pair = values[j].im != 0.0 && j + 1 < n;
        for i in 0..n {
            if pair {
                vectors[(i, j)] = Complex::new(real[(i, j)], real[(i, j + 1)]);
                vectors[(i, j + 1)] = vectors[(i, j)].conj();
            } else {
                vectors[(i, j)] = Complex::new(real[(i, j)], 0.0);
            }
        }
        j += if pair { 2 } else { 1 };
    }
    for j in 0..n {
        let norm = (0..n).map(|i| vectors[(i, j)].norm_sqr()).sum::<f64>().sqrt();
        if norm > 0.0 {
            (0..n).for_each(|i| vectors[(i, j)] /= norm);
        }
    }
    vectors
}

fn check_traces(a: MatRef<'_, f64>, values: &[Complex]) -> Result<(), Error> {
    let n = a.nrows();
    let norm = a.norm_l2();
    let trace: f64 = (0..n).map(|i| a[(i, i)]).sum();
    let square: f64 = (0..n).map(|j| (0..n).map(|i| a[(i, j)] * a[(j, i)]).sum::<f64>()).sum();
    let sum: Complex = values.iter().sum();
    let sum_of_squares: Complex = values.iter().map(|value| value * value).sum();
    let tolerance = 1e-10 * (n as f64).max(10.0);
    // Values that are no numbers fail as well.
    let passes = |error: f64, size: f64| !size.is_finite() || size <= 0.0 || error <= tolerance * size;
    let pass = passes((sum - trace).norm(), norm) && passes((sum_of_squares - square).norm(), norm * norm);
    if pass { Ok(()) } else { Err(Error::NoConvergence) }
}

/// H and Q with A = Q H Qᵀ.
pub(crate) fn hessenberg(a: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
    let n = a.nrows();
    let mut h = a.to_owned();
    let mut q = Mat::<f64>::identity(n, n);
    if n < 3 {
        return (h, q);
    }
    let block = recommended_block_size::<f64>(n - 1, n - 1);
    let mut factors = Mat::<f64>::zeros(block, n - 1);
    let need = hessenberg::hessenberg_in_place_scratch::<f64>(n, block, Par::Seq, Spec::default())
        .or(householder::apply_block_householder_sequence_on_the_right_in_place_scratch::<f64>(n - 1, block, n - 1));
    let mut buffer = MemBuffer::new(need);
    let stack = MemStack::new(&mut buffer);
    hessenberg::hessenberg_in_place(h.as_mut(), factors.as_mut(), Par::Seq, stack, Spec::default());
    householder::apply_block_householder_sequence_on_the_right_in_place_with_conj(
        h.as_ref().submatrix(1, 0, n - 1, n - 1),
        factors.as_ref(),
        Conj::No,
        q.as_mut().submatrix_mut(1, 1, n - 1, n - 1),
        Par::Seq,
        stack,
    );
    for j in 0..n {
        (j + 2..n).for_each(|i| h[(i, j)] = 0.0);
    }
    (h, q)
}

/// T and U with A = U T Uᴴ, T upper triangular.
///
/// `faer` keeps its real Schur form to itself but offers the QZ iteration. Of the pencil (A, I) that yields A = Q S Zᵀ and
/// I = Q R Zᵀ, where R is triangular and orthogonal, thus ±1 on its diagonal: A = Q (S R) Qᵀ is the real Schur form.
pub(crate) fn complex_schur(a: MatRef<'_, f64>) -> Result<(Mat<Complex>, Mat<Complex>), Error> {
    let n = a.nrows();
    let (mut s, mut q) = hessenberg(a);
    let mut z = q.clone();
    let mut r = Mat::<f64>::identity(n, n);
    if n > 1 {
        let (mut re, mut im, mut beta) = (Diag::<f64>::zeros(n), Diag::<f64>::zeros(n), Diag::<f64>::zeros(n));
        let parameters = <faer::linalg::gevd::GeneralizedSchurParams as faer::Auto<f64>>::auto();
        let need = qz_real::hessenberg_to_qz_scratch::<f64>(n, Par::Seq, parameters);
        qz_real::hessenberg_to_qz(
            s.as_mut(),
            r.as_mut(),
            Some(q.as_mut()),
            Some(z.as_mut()),
            re.as_mut().column_vector_mut(),
            im.as_mut().column_vector_mut(),
            beta.as_mut().column_vector_mut(),
            ComputeEigenvectors::Yes,
            Par::Seq,
            parameters,
            MemStack::new(&mut MemBuffer::new(need)),
        );
    }
    let mut t =
        Mat::from_fn(n, n, |i, j| Complex::new(if i > j + 1 { 0.0 } else { s[(i, j)] * r[(j, j)].signum() }, 0.0));
    let mut u = Mat::from_fn(n, n, |i, j| Complex::new(q[(i, j)], 0.0));
    for k in 0..n.saturating_sub(1) {
        triangularise(&mut t, &mut u, k);
    }
    Ok((t, u))
}

/// Turns the block at `k` of a real Schur form, if there is one, into a triangular one by a complex rotation.
fn triangularise(t: &mut Mat<Complex>, u: &mut Mat<Complex>, k: usize) {
    let n = t.nrows();
    let below = t[(k + 1, k)];
    if below == Complex::ZERO {
        return;
    }
    let (a, b, d) = (t[(k, k)], t[(k, k + 1)], t[(k + 1, k + 1)]);
    let half = (a - d) * 0.5;
    let root = (half * half + b * below).sqrt();
    let value = d + half + if half.re * root.re + half.im * root.im >= 0.0 { root } else { -root };
    // The eigenvector of the block: (value - d, below).
    let (x, y) = (value - d, below);
    let norm = x.norm().hypot(y.norm());
    let (c, s) = (x / norm, y / norm);
    for j in 0..n {
        let (upper, lower) = (t[(k, j)], t[(k + 1, j)]);
        t[(k, j)] = c.conj() * upper + s.conj() * lower;
        t[(k + 1, j)] = c * lower - s * upper;
    }
    for matrix in [&mut *t, u] {
        for i in 0..n {
            let (left, right) = (matrix[(i, k)], matrix[(i, k + 1)]);
            matrix[(i, k)] = c * left + s * right;
            matrix[(i, k + 1)] = c.conj() * right - s.conj() * left;
        }
    }
    t[(k + 1, k)] = Complex::ZERO;
}

/// The finite generalized eigenvalues λ with det(A - λ E) = 0.
pub(crate) fn generalized_eigenvalues(a: Mat<f64>, e: Mat<f64>) -> Result<Vec<Complex>, Error> {
    let n = a.nrows();
    if n == 0 {
        return Ok(Vec::new());
    }
    let check = e.partial_piv_lu().solve(&a);
    let (mut a, mut e) = (a, e);
    let (size_a, size_e) = (a.norm_l2(), e.norm_l2());
    let (mut re, mut im, mut beta) = (Diag::<f64>::zeros(n), Diag::<f64>::zeros(n), Diag::<f64>::zeros(n));
    let no = ComputeEigenvectors::No;
    let need = gevd_scratch::<f64>(n, no, no, Par::Seq, Spec::default());
    gevd_real(
        a.as_mut(),
        e.as_mut(),
        re.as_mut(),
        im.as_mut(),
        beta.as_mut(),
        None,
        None,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(need)),
        Spec::default(),
    )
    .map_err(|_| Error::NoConvergence)?;
    let mut values = Vec::new();
    let mut i = 0;
    while i < n {
        let infinite = beta[i].abs() <= f64::EPSILON * size_e && re[i].hypot(im[i]) > f64::EPSILON * size_a;
        let value = Complex::new(re[i] / beta[i], im[i] / beta[i]);
        // faer 0.24 scales the second one of a conjugate pair wrongly; the first one says all.
        let pair = im[i] != 0.0 && i + 1 < n;
        if !infinite {
            values.push(value);
            values.extend(pair.then(|| value.conj()));
        }
        i += if pair { 2 } else { 1 };
    }
    if values.iter().any(|value| !value.re.is_finite() || !value.im.is_finite()) {
        return Err(Error::NoConvergence);
    }
    // Where E is far from singular, the trace of E⁻¹ A is the sum of the values.
    let size = check.norm_l2();
    if size.is_finite() && size_e * size <= 1e6 * size_a && values.len() == n {
        let trace: f64 = (0..n).map(|i| check[(i, i)]).sum();
        let error = (values.iter().sum::<Complex>() - trace).norm();
        if error.is_nan() || error > 1e-6 * size {
            return Err(Error::NoConvergence);
        }
    }
    sort(&mut values);
    Ok(values)
}
