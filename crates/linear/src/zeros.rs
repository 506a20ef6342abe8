//! Invariant zeros: the values of s at which [A - sI, B; C, D] loses rank.
//!
//! Emami-Naeini and Van Dooren, "Computation of zeros of linear multivariable systems", Automatica 18 (1982): orthogonal
//! transformations take away zeros at infinity and singular parts until D is square and regular, first on the system, then
//! on its dual; what is left is a generalized eigenvalue problem. Systems with any number of inputs and outputs and of any
//! normal rank are handled. Zeros of hidden modes (decoupling zeros) count as well.

use faer::Mat;
use faer::linalg::solvers::{DenseSolveCore, Solve};

use crate::balance::{balance, scale_signals};
use crate::eigen::generalized_eigenvalues;
use crate::householder::{Reflection, compress_rows};
use crate::modes::grouped_eigenvalues;
use crate::{Complex, Error, StateSpace};

/// Sorted by their real parts.
pub fn zeros(system: &StateSpace, tolerance: f64) -> Result<Vec<Complex>, Error> {
    system.check()?;
    let (mut a, mut b, mut c) = (system.a.dense(), system.b.dense(), system.c.dense());
    let mut d = system.d.dense();
    balance(&mut a, Some(&mut b), Some(&mut c));
    let size = a.norm_l2();
    scale_signals(if size > 0.0 { size } else { 1.0 }, &mut b, &mut c, &mut d);
    let all = [&a, &b, &c, &d].iter().map(|matrix| matrix.norm_l2().powi(2)).sum::<f64>().sqrt();
    let n = a.nrows() as f64;
    let limit = tolerance.max(10.0 * n * f64::EPSILON) * all;
    let reduced = Pencil { a, b, c, d }.reduce(limit).transposed().reduce(limit).transposed();
    reduced.eigenvalues(limit)
}

struct Pencil {
    a: Mat<f64>,
    b: Mat<f64>,
    c: Mat<f64>,
    d: Mat<f64>,
}

impl Pencil {
    fn transposed(&self) -> Self {
        let transposed = |matrix: &Mat<f64>| matrix.transpose().to_owned();
        Self { a: transposed(&self.a), b: transposed(&self.c), c: transposed(&self.b), d: transposed(&self.d) }
    }

    /// The same finite zeros with D of full row rank.
    fn reduce(mut self, limit: f64) -> Self {
        loop {
            let (n, m, p) = (self.a.nrows(), self.d.ncols(), self.d.nrows());
            let reflections = compress_rows(self.d.clone(), 0, limit);
            let rank = reflections.len();
            for reflection in &reflections {
                reflection.apply_left(&mut self.d);
                reflection.apply_left(&mut self.c);
            }
            if rank == p {
                return self;
            }
            // Rows of C below the rank of D: y₂ = C₂ x has to vanish.
            let rows = self.c.as_ref().submatrix(rank, 0, p - rank, n);
            let turned = compress_rows(rows.transpose().to_owned(), 0, limit);
            let fixed = turned.len();
            if fixed == 0 {
                self.c = part(&self.c, 0, rank, 0, n);
                self.d = part(&self.d, 0, rank, 0, m);
                return self;
            }
            for reflection in &turned {
                reflection.apply_left(&mut self.a);
                reflection.apply_right(&mut self.a);
                reflection.apply_left(&mut self.b);
                reflection.apply_right(&mut self.c);
            }
            // The first `fixed` states vanish; their equations become outputs.
            let kept = n - fixed;
            let (c, d) = (part(&self.c, 0, rank, fixed, kept), part(&self.d, 0, rank, 0, m));
            let (more_c, more_d) = (part(&self.a, 0, fixed, fixed, kept), part(&self.b, 0, fixed, 0, m));
            self = Self {
                a: part(&self.a, fixed, kept, fixed, kept),
                b: part(&self.b, fixed, kept, 0, m),
                c: stacked(&c, &more_c),
                d: stacked(&d, &more_d),
            };
        }
    }

    fn eigenvalues(&self, limit: f64) -> Result<Vec<Complex>, Error> {
        let (n, m) = (self.a.nrows(), self.d.ncols());
        if n == 0 {
            return Ok(Vec::new());
        }
        if m == 0 {
            return grouped_eigenvalues(self.a.clone());
        }
        // Columns of [D, C] are brought to [R, 0]; the other columns then carry the pencil.
        let rows = self.d.nrows();
        let outputs = Mat::from_fn(rows, m + n, |i, j| if j < m { self.d[(i, j)] } else { self.c[(i, j - m)] });
        let mut states = Mat::from_fn(n, m + n, |i, j| if j < m { self.b[(i, j)] } else { self.a[(i, j - m)] });
        let mut rates = Mat::from_fn(n, m + n, |i, j| if j == i + m { 1.0 } else { 0.0 });
        let reflections: Vec<Reflection> = compress_rows(outputs.transpose().to_owned(), 0, limit);
        for reflection in &reflections {
            reflection.apply_right(&mut states);
            reflection.apply_right(&mut rates);
        }
        let rank = reflections.len();
        if m + n - rank != n {
            // D is square and regular by construction, unless ranks were ambiguous.
            return Err(Error::NoConvergence);
        }
        let (a, e) = (part(&states, 0, n, rank, n), part(&rates, 0, n, rank, n));
        // An ordinary eigenvalue problem also tells multiple zeros apart from close ones.
        let factors = e.partial_piv_lu();
        let condition = e.norm_l2() * factors.inverse().norm_l2();
        if condition <= 1e4 * n as f64 {
            return grouped_eigenvalues(factors.solve(&a));
        }
        generalized_eigenvalues(a, e)
    }
}

fn part(matrix: &Mat<f64>, row: usize, rows: usize, column: usize, columns: usize) -> Mat<f64> {
    matrix.as_ref().submatrix(row, column, rows, columns).to_owned()
}

fn stacked(upper: &Mat<f64>, lower: &Mat<f64>) -> Mat<f64> {
    let split = upper.nrows();
    Mat::from_fn(
        split + lower.nrows(),
        upper.ncols(),
        |i, j| if i < split { upper[(i, j)] } else { lower[(i - split, j)] },
    )
}
