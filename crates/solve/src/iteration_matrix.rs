//! The matrix `c·I − J` of the implicit integrators: the Jacobian J, evaluated rarely; the factorisation, renewed when c
//! has drifted; and the solve.

use crate::error::Singular;
use crate::finite_differences::FiniteDifferences;
use crate::linear::LinearSolver;
use crate::ode::{OdeProblem, Options, Statistics};
use crate::sparse::Pattern;
use crate::weights::Failure;

#[derive(Clone, Debug)]
pub struct IterationMatrix {
    size: usize,
    pattern: Option<Pattern>,
    jacobian: Vec<f64>,
    matrix: Vec<f64>,
    /// Where each entry of the Jacobian goes in the matrix, and where the diagonal is; for sparse matrices only.
    places: Vec<u32>,
    diagonal: Vec<u32>,
    solver: LinearSolver,
    differences: Option<FiniteDifferences>,
    sizes: Vec<f64>,
    analytic: bool,
    /// Of the factorised matrix.
    coefficient: f64,
}

impl IterationMatrix {
    pub fn new(problem: &dyn OdeProblem) -> Result<Self, Singular> {
        let size = problem.size();
        let pattern = problem.jacobian_pattern().cloned();
        let Some(own) = &pattern else {
            return Ok(IterationMatrix {
                size,
                jacobian: vec![0.0; size * size],
                matrix: vec![0.0; size * size],
                places: Vec::new(),
                diagonal: Vec::new(),
                solver: LinearSolver::new(size, None)?,
                differences: None,
                sizes: vec![0.0; size],
                analytic: false,
                coefficient: 1.0,
                pattern,
            });
        };
        let whole = own.with_diagonal();
        let diagonal = |j: usize| whole.position(j, j).unwrap_or(0) as u32;
        Ok(IterationMatrix {
            size,
            jacobian: vec![0.0; own.entries()],
            matrix: vec![0.0; whole.entries()],
            places: own.positions_in(&whole),
            diagonal: (0..size).map(diagonal).collect(),
            solver: LinearSolver::new(size, Some(&whole))?,
            differences: None,
            sizes: vec![0.0; size],
            analytic: false,
            coefficient: 1.0,
            pattern,
        })
    }

    /// Whether the Jacobian is taken by finite differences, as far as is known before its first evaluation.
    pub fn uses_differences(&self) -> bool {
        self.differences.is_some() || !self.analytic
    }

    /// Evaluations of the right-hand side that a Jacobian costs; none where it is analytic.
    pub fn evaluations(&self) -> usize {
        self.differences.as_ref().map_or(0, FiniteDifferences::evaluations)
    }

    /// Evaluates the Jacobian at `(t, x)`, where the right-hand side is `f`. `h` is the current step, which tells how
    /// far the state moves.
    #[allow(clippy::too_many_arguments)]
    pub fn evaluate(
        &mut self,
        problem: &mut dyn OdeProblem,
        t: f64,
        x: &[f64],
        f: &[f64],
        h: f64,
        options: &Options,
        statistics: &mut Statistics,
    ) -> Result<(), Failure> {
        statistics.jacobians += 1;
        if self.differences.is_none() {
            if problem.jacobian(t, x, &mut self.jacobian).map_err(Failure::Evaluation)? {
                self.analytic = true;
                return match self.check() {
                    Ok(()) => Ok(()),
                    Err(_) => self.mend(problem, t, x, f, h, options, statistics),
                };
            }
            self.differences = Some(FiniteDifferences::new(self.size, self.pattern.as_ref()));
        }
        if let Some(mut differences) = self.differences.take() {
            let mut values = std::mem::take(&mut self.jacobian);
            let done = self.difference(&mut differences, &mut values, problem, t, x, f, h, options, statistics);
            (self.differences, self.jacobian) = (Some(differences), values);
            done?;
        }
        self.check()
    }

    /// Takes differences for entries that are not finite: tangents of `1/(1 + exp(u))` overflow long before the value does.
    #[allow(clippy::too_many_arguments)]
    fn mend(
        &mut self,
        problem: &mut dyn OdeProblem,
        t: f64,
        x: &[f64],
        f: &[f64],
        h: f64,
        options: &Options,
        statistics: &mut Statistics,
    ) -> Result<(), Failure> {
        let mut differences = FiniteDifferences::new(self.size, self.pattern.as_ref());
        let mut values = vec![0.0; self.jacobian.len()];
        self.difference(&mut differences, &mut values, problem, t, x, f, h, options, statistics)?;
        for (entry, value) in self.jacobian.iter_mut().zip(values).filter(|(entry, _)| !entry.is_finite()) {
            *entry = value;
        }
        self.check()
    }

    #[allow(clippy::too_many_arguments)]
    fn difference(
        &mut self,
        differences: &mut FiniteDifferences,
        values: &mut [f64],
        problem: &mut dyn OdeProblem,
        t: f64,
        x: &[f64],
        f: &[f64],
        h: f64,
        options: &Options,
        statistics: &mut Statistics,
    ) -> Result<(), Failure> {
        for (i, (size, f)) in self.sizes.iter_mut().zip(f).enumerate() {
            *size = (h * f).abs().max(options.absolute(i) / options.relative_tolerance.max(1e-12)).min(1e30);
        }
        differences
            .jacobian(self.pattern.as_ref(), x, f, &self.sizes, values, |x, f| {
                statistics.rhs += 1;
                problem.rhs(t, x, f)
            })
            .map_err(Failure::Evaluation)
    }

    fn check(&self) -> Result<(), Failure> {
        match self.jacobian.iter().position(|v| !v.is_finite()) {
            None => Ok(()),
            Some(place) => {
                let component = match &self.pattern {
                    Some(pattern) => pattern.indices.get(place).map_or(0, |i| *i as usize),
                    None => place % self.size.max(1),
                };
                Err(Failure::NotFinite { component })
            }
        }
    }

    /// Factorises `c·I − J` with the Jacobian evaluated last.
    pub fn factor(&mut self, c: f64, statistics: &mut Statistics) -> Result<(), Singular> {
        statistics.factorisations += 1;
        self.coefficient = c;
        if self.pattern.is_some() {
            self.matrix.fill(0.0);
            for (place, value) in self.places.iter().zip(&self.jacobian) {
                self.matrix[*place as usize] = -value;
            }
            for place in &self.diagonal {
                self.matrix[*place as usize] += c;
            }
        } else {
            for (m, j) in self.matrix.iter_mut().zip(&self.jacobian) {
                *m = -j;
            }
            for j in 0..self.size {
                self.matrix[j * self.size + j] += c;
            }
        }
        self.solver.factor(&self.matrix)
    }

    /// The `c` of the factorised matrix.
    pub fn coefficient(&self) -> f64 {
        self.coefficient
    }

    /// About how many solves cost as much as a factorisation.
    pub fn solves_per_factorisation(&self) -> f64 {
        self.solver.solves_per_factorisation()
    }

    /// Overwrites `b` by `(c·I − J)⁻¹ b`.
    pub fn solve(&mut self, b: &mut [f64]) {
        self.solver.solve(b);
    }

    /// Largest row sum of the Jacobian, weighted as errors are: a bound for its eigenvalues.
    pub fn norm(&mut self, weights: &[f64]) -> f64 {
        self.sizes.fill(0.0);
        for j in 0..self.size {
            match &self.pattern {
                Some(pattern) => {
                    for p in pattern.starts[j]..pattern.starts[j + 1] {
                        self.sizes[pattern.indices[p] as usize] += self.jacobian[p].abs() / weights[j];
                    }
                }
                None => {
                    for i in 0..self.size {
                        self.sizes[i] += self.jacobian[j * self.size + i].abs() / weights[j];
                    }
                }
            }
        }
        self.sizes.iter().zip(weights).map(|(sum, w)| sum * w).fold(0.0, f64::max)
    }

    /// Whether errors of steps of length `h` last: nothing damps them, the solution does not grow, and the steps are short enough to follow what the
    /// Jacobian says is fastest. So it is with undamped oscillations and orbits. What is compared does not depend on units:
    /// the trace with the products of opposite entries.
    pub fn errors_last(&self, h: f64) -> bool {
        /// Times the fastest rate that a step may last to follow it.
        const FOLLOWED: f64 = 2.0;
        const HARDLY_DAMPED: f64 = 0.3;
        let entry = |i: usize, j: usize| match &self.pattern {
            Some(pattern) => pattern.position(i, j).map_or(0.0, |place| self.jacobian[place]),
            None => self.jacobian[j * self.size + i],
        };
        let damping: f64 = -(0..self.size).map(|i| entry(i, i)).sum::<f64>();
        let products: f64 = match &self.pattern {
            Some(pattern) => (0..self.size)
                .flat_map(|j| (pattern.starts[j]..pattern.starts[j + 1]).map(move |place| (place, j)))
                .map(|(place, j)| (self.jacobian[place] * entry(j, pattern.indices[place] as usize)).abs())
                .sum(),
            None => (0..self.size * self.size)
                .map(|place| (self.jacobian[place] * entry(place / self.size, place % self.size)).abs())
                .sum(),
        };
        let rate = products.sqrt();
        rate > 0.0 && h * rate < FOLLOWED && damping.abs() < HARDLY_DAMPED * rate
    }

    /// `out = J · v`
    pub fn multiply(&self, v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        match &self.pattern {
            Some(pattern) => {
                for j in 0..self.size {
                    for p in pattern.starts[j]..pattern.starts[j + 1] {
                        out[pattern.indices[p] as usize] += self.jacobian[p] * v[j];
                    }
                }
            }
            None => {
                for (column, v) in self.jacobian.chunks_exact(self.size.max(1)).zip(v) {
                    for (o, a) in out.iter_mut().zip(column) {
                        *o += a * v;
                    }
                }
            }
        }
    }
}
