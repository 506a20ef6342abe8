//! Invariant zeros: the values of s at which [A - sI, B; C, D] loses rank.
//!
//! Emami-Naeini and Van Dooren, "Computation of zeros of linear multivariable systems", Automatica 18 (1982): transformations
//! take away zeros at infinity and singular parts until D is square and regular, first on the system, then
//! on its dual; what is left is a generalized eigenvalue problem. Systems with any number of inputs and outputs and of any
//! normal rank are handled. Zeros of hidden modes (decoupling zeros) count as well. The transformations are elementary ones on a
//! balanced system, and each entry decides by itself whether it is zero (`graded`): zeros of slow parts are not lost beside fast ones.

use faer::Mat;
use faer::linalg::solvers::Solve;

use crate::balance::{balance, scale_signals};
use crate::eigen::generalized_eigenvalues;
use crate::graded::{Graded, row_sizes};
use crate::householder::{Reflection, compress_rows};
use crate::modes::grouped_eigenvalues;
use crate::{Complex, Error, StateSpace};

/// Sorted by their real parts.
pub fn zeros(system: &StateSpace, tolerance: f64) -> Result<Vec<Complex>, Error> {
    system.check()?;
    let (mut a, mut b, mut c) = (system.a.dense(), system.b.dense(), system.c.dense());
    let mut d = system.d.dense();
    balance(&mut a, Some(&mut b), Some(&mut c));
    scale_signals(a.norm_l2(), &mut b, &mut c, &mut d);
    let tolerance = tolerance.max(10.0 * a.nrows() as f64 * f64::EPSILON);
    let (states, outputs) = (row_sizes(&[&a, &b]), row_sizes(&[&c, &d]));
    let pencil = Pencil {
        a: Graded::new(a, &states, tolerance),
        b: Graded::new(b, &states, tolerance),
        c: Graded::new(c, &outputs, tolerance),
        d: Graded::new(d, &outputs, tolerance),
        gone: 0,
    };
    pencil.reduce(tolerance).transposed().reduce(tolerance).transposed().eigenvalues()
}

struct Pencil {
    a: Graded,
    b: Graded,
    c: Graded,
    d: Graded,
    /// So many of the first states vanish: their rows and columns are left out. A chain of integrators takes away one after the
    /// other, and copies of what is left would take most of the time.
    gone: usize,
}

impl Pencil {
    fn transposed(&self) -> Self {
        let (first, kept) = (self.gone, self.states());
        Self {
            a: self.a.part(first, kept, first, kept).transposed(),
            b: self.c.part(0, self.c.rows(), first, kept).transposed(),
            c: self.b.part(first, kept, 0, self.b.columns()).transposed(),
            d: self.d.transposed(),
            gone: 0,
        }
    }

    /// How many states are left.
    fn states(&self) -> usize {
        self.a.rows() - self.gone
    }

    /// The same finite zeros with D of full row rank.
    fn reduce(mut self, tolerance: f64) -> Self {
        loop {
            let (n, m, p) = (self.a.rows(), self.d.columns(), self.d.rows());
            let rank = self.compress_direct(tolerance);
            if rank == p {
                return self;
            }
            // Rows of C below the rank of D: y₂ = C₂ x has to vanish.
            let fixed = self.compress_outputs(rank, tolerance);
            let (c, d) = (self.c.part(0, rank, 0, n), self.d.part(0, rank, 0, m));
            if fixed == 0 {
                return Self { c, d, ..self };
            }
            // The first `fixed` states vanish; their equations become outputs.
            let (more_c, more_d) = (self.a.part(self.gone, fixed, 0, n), self.b.part(self.gone, fixed, 0, m));
            self = Self { a: self.a, b: self.b, c: c.stacked(&more_c), d: d.stacked(&more_d), gone: self.gone + fixed };
        }
    }

    /// Combines outputs so that the rows of D below its rank are zero.
    fn compress_direct(&mut self, tolerance: f64) -> usize {
        let (m, p) = (self.d.columns(), self.d.rows());
        for output in 0..p {
            self.d.even_row(output, &mut self.c, self.gone);
        }
        let mut free: Vec<usize> = (0..m).collect();
        let mut top = 0;
        while top < p {
            let found = free.iter().filter_map(|&column| self.d.pivot(top..p, column..column + 1, tolerance));
            let size = |&(i, j): &(usize, usize)| self.d.size(i, j, tolerance);
            let Some((row, column)) = found.max_by(|x, y| size(x).total_cmp(&size(y))) else { break };
            self.d.swap_rows(top, row);
            self.c.swap_rows(top, row);
            free.retain(|&it| it != column);
            for row in top + 1..p {
                if self.d.size(row, column, tolerance) > 0.0 {
                    let factor = self.d.value[(row, column)] / self.d.value[(top, column)];
                    self.d.add_row(row, -factor, top);
                    self.c.add_row(row, -factor, top);
                }
                self.d.clear(row, column);
            }
            top += 1;
        }
        for row in top..p {
            (0..m).for_each(|column| self.d.clear(row, column));
        }
        top
    }

    /// Chooses states so that the rows of C from `first` on depend on the first ones only, and says on how many.
    fn compress_outputs(&mut self, first: usize, tolerance: f64) -> usize {
        let (n, p) = (self.a.rows(), self.c.rows());
        let mut free: Vec<usize> = (first..p).collect();
        let mut done = self.gone;
        while done < n {
            let found = free.iter().filter_map(|&row| self.c.pivot(row..row + 1, done..n, tolerance));
            let size = |&(i, j): &(usize, usize)| self.c.size(i, j, tolerance);
            let Some((row, state)) = found.max_by(|x, y| size(x).total_cmp(&size(y))) else { break };
            self.swap_states(done, state);
            free.retain(|&it| it != row);
            for other in done + 1..n {
                if self.c.size(row, other, tolerance) > 0.0 {
                    let factor = self.c.value[(row, other)] / self.c.value[(row, done)];
                    self.c.add_column(other, -factor, done);
                    self.a.add_column(other, -factor, done);
                    self.a.add_row(done, factor, other);
                    self.b.add_row(done, factor, other);
                }
                self.c.clear(row, other);
            }
            done += 1;
        }
        done - self.gone
    }

    fn swap_states(&mut self, one: usize, other: usize) {
        if one != other {
            self.a.swap_rows(one, other);
            self.a.swap_columns(one, other);
            self.b.swap_rows(one, other);
            self.c.swap_columns(one, other);
        }
    }

    /// Of a pencil of which no states are gone.
    fn eigenvalues(self) -> Result<Vec<Complex>, Error> {
        let terms = |i: usize, j: usize| self.a.terms(i, j);
        let [a, b, c, d] = [&self.a.value, &self.b.value, &self.c.value, &self.d.value];
        let (n, m) = (a.nrows(), d.ncols());
        if n == 0 {
            return Ok(Vec::new());
        }
        if m == 0 {
            return grouped_eigenvalues(a.clone());
        }
        // An ordinary eigenvalue problem tells multiple zeros apart from close ones, and keeps decoupled parts apart.
        let feedback = d.partial_piv_lu().solve(c);
        let closed = a - b * &feedback;
        // Where all cancels but rounding errors, nothing is left.
        let closed = Mat::from_fn(n, n, |i, j| {
            let added: f64 = (0..m).map(|k| (b[(i, k)] * feedback[(k, j)]).abs()).sum();
            let is_noise = closed[(i, j)].abs() <= 8.0 * f64::EPSILON * (terms(i, j) + added);
            if is_noise { 0.0 } else { closed[(i, j)] }
        });
        let is_plain = (0..n).all(|j| (0..n).all(|i| closed[(i, j)].is_finite()));
        if is_plain && closed.norm_l2() <= 1e4 * n as f64 * a.norm_l2().max(1.0) {
            return grouped_eigenvalues(closed);
        }
        // Zeros next to infinity: columns of [D, C] are brought to [R, 0]; the other columns then carry the pencil.
        let outputs = Mat::from_fn(m, m + n, |i, j| if j < m { d[(i, j)] } else { c[(i, j - m)] });
        let mut states = Mat::from_fn(n, m + n, |i, j| if j < m { b[(i, j)] } else { a[(i, j - m)] });
        let mut rates = Mat::from_fn(n, m + n, |i, j| if j == i + m { 1.0 } else { 0.0 });
        let reflections: Vec<Reflection> = compress_rows(outputs.transpose().to_owned(), 0, 0.0);
        for reflection in &reflections {
            reflection.apply_right(&mut states);
            reflection.apply_right(&mut rates);
        }
        if reflections.len() == m {
            let part = |matrix: &Mat<f64>| matrix.as_ref().submatrix(0, m, n, n).to_owned();
            if let Ok(found) = generalized_eigenvalues(part(&states), part(&rates)) {
                return Ok(found);
            }
        }
        if is_plain { grouped_eigenvalues(closed) } else { Err(Error::NoConvergence) }
    }
}
