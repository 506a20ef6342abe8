//! One linear solver for a square matrix whose values change and whose pattern does not: dense LU, sparse LU, or the one
//! for chains, whichever is fastest for the pattern.

use crate::chain_lu::ChainLu;
use crate::dense::DenseLu;
use crate::error::Singular;
use crate::sparse::Pattern;
use crate::sparse_lu::SparseLu;

/// Below this size the dense factorisation, which searches pivots every time, costs no more.
const SMALLEST_SPARSE: usize = 6;
const SMALLEST_CHAIN: usize = 4;
/// A sparse matrix that looks singular is factorised as a dense one up to this size.
const LARGEST_DENSE: usize = 100;
/// Above this fraction of non-zeros fill-in makes the factors full anyway. Measured: refactorisation with known pivots
/// beats the dense one up to a fraction of one half for all sizes between 6 and 200.
const DENSEST_SPARSE: f64 = 0.4;

/// Solves linear systems by the method that suits their pattern.
#[derive(Clone, Debug)]
pub enum LinearSolver {
    /// As a full matrix.
    Dense {
        /// The factors.
        lu: DenseLu,
        /// Where each value of the pattern goes in the full matrix; empty when values come by full columns.
        places: Vec<u32>,
        /// The full matrix.
        full: Vec<f64>,
    },
    /// By sparse factors.
    Sparse(Box<SparseLu>),
    /// Until values come that need pivoting.
    Chain {
        /// The factors.
        lu: Box<ChainLu>,
        /// The pattern of the values.
        pattern: Pattern,
    },
}

impl LinearSolver {
    /// Values come in the order of the pattern, or by full columns without one.
    pub fn new(size: usize, pattern: Option<&Pattern>) -> Result<Self, Singular> {
        let Some(pattern) = pattern else {
            return Ok(LinearSolver::Dense { lu: DenseLu::new(size), places: Vec::new(), full: Vec::new() });
        };
        if size >= SMALLEST_CHAIN
            && let Some(lu) = ChainLu::new(pattern)
        {
            return Ok(LinearSolver::Chain { lu: Box::new(lu), pattern: pattern.clone() });
        }
        if size >= SMALLEST_SPARSE && pattern.density() <= DENSEST_SPARSE {
            return Ok(LinearSolver::Sparse(Box::new(SparseLu::new(pattern)?)));
        }
        Ok(Self::dense(pattern))
    }

    fn dense(pattern: &Pattern) -> Self {
        let size = pattern.columns;
        let columns = (0..size).flat_map(|j| pattern.column(j).iter().map(move |i| (j * size) as u32 + i));
        LinearSolver::Dense { lu: DenseLu::new(size), places: columns.collect(), full: vec![0.0; size * size] }
    }

    /// Whether the factors are sparse.
    pub fn is_sparse(&self) -> bool {
        !matches!(self, LinearSolver::Dense { .. })
    }

    /// About how many solves cost as much as a factorisation with known pivots.
    pub fn solves_per_factorisation(&self) -> f64 {
        match self {
            LinearSolver::Dense { lu, .. } => lu.size() as f64 / 3.0,
            LinearSolver::Sparse(lu) => lu.operations() as f64 / lu.fill().max(1) as f64,
            LinearSolver::Chain { .. } => 1.5,
        }
    }

    /// Factorises a matrix.
    pub fn factor(&mut self, values: &[f64]) -> Result<(), Singular> {
        match self {
            LinearSolver::Dense { lu, full, .. } if full.is_empty() => lu.factor(values),
            LinearSolver::Dense { lu, places, full } => {
                for (place, value) in places.iter().zip(values) {
                    full[*place as usize] = *value;
                }
                lu.factor(full)
            }
            LinearSolver::Sparse(lu) => {
                let Err(singular) = lu.factor(values) else { return Ok(()) };
                // The dense factorisation knows rounding from small numbers.
                let pattern = lu.pattern();
                if pattern.columns > LARGEST_DENSE {
                    return Err(singular);
                }
                let mut dense = Self::dense(pattern);
                dense.factor(values).map_err(|_| singular)?;
                *self = dense;
                Ok(())
            }
            LinearSolver::Chain { lu, pattern } => {
                if lu.factor(values) {
                    return Ok(());
                }
                let lu = SparseLu::new(pattern)?;
                *self = LinearSolver::Sparse(Box::new(lu));
                self.factor(values)
            }
        }
    }

    /// The sign of the determinant of the matrix that was factorised last.
    pub fn orientation(&self) -> f64 {
        match self {
            LinearSolver::Dense { lu, .. } => lu.orientation(),
            LinearSolver::Sparse(lu) => lu.orientation(),
            LinearSolver::Chain { lu, .. } => lu.orientation(),
        }
    }

    /// Overwrites `b` by the solution.
    pub fn solve(&mut self, b: &mut [f64]) {
        match self {
            LinearSolver::Dense { lu, .. } => lu.solve(b),
            LinearSolver::Sparse(lu) => lu.solve(b),
            LinearSolver::Chain { lu, .. } => lu.solve(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chooses_by_size_and_density() {
        let tridiagonal = |n: usize| {
            Pattern::from_entries(n, n, (0..n).flat_map(|j| (j.saturating_sub(1)..(j + 2).min(n)).map(move |i| (i, j))))
        };
        for n in [3, 100] {
            let pattern = tridiagonal(n);
            let mut solver = LinearSolver::new(n, Some(&pattern)).unwrap();
            assert_eq!(solver.is_sparse(), n == 100);
            let values: Vec<f64> = (0..n)
                .flat_map(|j| pattern.column(j).iter().map(move |i| if *i as usize == j { 2.0 } else { -1.0 }))
                .collect();
            solver.factor(&values).unwrap();
            // −u'' = 2 with zero boundary values: u = i (n + 1 − i).
            let mut b = vec![2.0; n];
            solver.solve(&mut b);
            for (i, x) in b.iter().enumerate() {
                let exact = ((i + 1) * (n - i)) as f64;
                assert!((x - exact).abs() < 1e-9 * exact);
            }
        }
        // A chain that turns out to need pivoting.
        let pattern = tridiagonal(6);
        let mut solver = LinearSolver::new(6, Some(&pattern)).unwrap();
        let zero_diagonal: Vec<f64> =
            (0..6).flat_map(|j| pattern.column(j).iter().map(move |i| f64::from(u8::from(*i as usize != j)))).collect();
        assert!(matches!(solver, LinearSolver::Chain { .. }));
        solver.factor(&zero_diagonal).unwrap();
        let mut b = vec![1.0, 2.0, 3.0, 2.0, 3.0, 1.0];
        solver.solve(&mut b);
        assert_eq!(b, [1.0, 1.0, 1.0, 2.0, 1.0, 1.0]);
        assert!(!LinearSolver::new(50, Some(&Pattern::full(50, 50))).unwrap().is_sparse());
        assert!(!LinearSolver::new(50, None).unwrap().is_sparse());
    }
}
