//! From the values left of an instant to those right of it, in the equations of the mode that is entered.
//!
//! With c differentiations of equation i and d of variable j (Pryce's Σ-method), the highest derivatives follow from the
//! equations differentiated c times; those differentiated less often are constraints. Where the left values meet them,
//! nothing jumps. Otherwise the highest equations are integrated over the instant: what is finite vanishes, a derivative
//! leaves the jump of what it is the derivative of, an unbounded variable its impulse. That is one system with the
//! matrix of the highest derivatives:
//!
//! - an equation that is not differentiated: its row of the matrix times the unknowns is zero;
//! - one that is: its next lower derivative holds on the right.
//!
//! So charge, flux and momentum are conserved to rounding. Where the row of an equation that is not differentiated changes
//! with what jumps, the integral is taken along the way (`path`). A constraint that is violated further down (a position that
//! has to jump, or one that index reduction differentiated more often than necessary) is met first, in the same way. What
//! lies above then has impulses, which the equations that are not differentiated pass on to others.

use compile::{Memory, Probe, Program};
use dae::VarId;
use solve::dense::{DenseMatrix, least_squares};
use solve::{LinearSolver, Pattern};
use transform::modes::chains::Chains;

use super::left::Sizes;
use super::path::{Leg, Path};

/// A constraint that is off by less, relative to its terms, holds.
const HOLDS: f64 = 1e-9;
/// Rounding errors, relative to the largest value that takes part: violations that are smaller are none, and corrections that are smaller go on
/// for nothing unless they shrink.
const ROUNDING: f64 = 1e-13;
const MOST_ITERATIONS: usize = 40;
/// Singular systems that are larger are given up.
const LARGEST_LEAST_SQUARES: usize = 400;

/// What jumps in an instant.
#[derive(Clone, Debug, Default)]
pub struct Jump {
    /// The variables and derivatives that are unbounded for the instant.
    pub pulses: Vec<Pulse>,
    /// How many levels below the highest derivatives the deepest jump is: 0 where nothing jumps.
    pub depth: usize,
    /// Derivatives that the model names have impulses of higher order.
    pub higher: bool,
    /// Coefficients change with what jumps: what is conserved was integrated along the way of the values.
    pub walked: bool,
    /// The matrix was singular, and the solution of least norm was taken.
    pub shared: bool,
}

/// What a variable or derivative adds up to in an instant.
#[derive(Clone, Copy, Debug)]
pub struct Pulse {
    pub variable: VarId,
    pub size: f64,
    /// It is no derivative.
    pub plain: bool,
}

/// Why there is no jump that leads into a mode.
#[derive(Clone, Debug)]
pub enum NoJump {
    /// The equations leave this unknown open, or contradict each other.
    Singular(VarId),
    NoConvergence,
    NotFinite(VarId),
    /// Where this one jumps to depends on the order in which constraints come to hold.
    Ambiguous(VarId),
    /// Something unbounded is multiplied by this one, which follows from derivatives itself.
    Unbounded(VarId),
}

/// The equations of one mode, prepared.
#[derive(Clone)]
pub struct Restart {
    pub(super) chains: Chains,
    /// Level l at place l − 1: the rows that are differentiated at least l times, and their residuals l levels below the
    /// highest.
    pub(super) levels: Vec<(Vec<usize>, Probe)>,
    /// The rows that are not differentiated; made when something below the highest derivatives jumps.
    plain: Option<(Vec<usize>, Probe)>,
    /// The entries of the chains' matrix; made when a constraint is not met to the last bit.
    jacobian: Option<Jacobian>,
    pub(super) values: Vec<f64>,
    evaluated: bool,
    /// Made when something jumps.
    solver: Option<Solver>,
    path: Option<Path>,
    residuals: Vec<f64>,
    /// The rows of a level that do not hold, and by how much.
    violated: Vec<(usize, f64)>,
    scales: Vec<f64>,
    /// The rounding errors of the constraints, level by level.
    noise: Vec<f64>,
}

#[derive(Clone)]
struct Jacobian {
    probe: Probe,
    /// It depends on parameters only.
    constant: bool,
}

impl Jacobian {
    fn new(program: &Program, chains: &Chains, memory: &mut Memory) -> Result<Self, NoJump> {
        let entries: Vec<_> = chains.jacobian.iter().map(|&(.., entry)| entry).collect();
        let probe = Probe::new(program, &entries, memory).map_err(|_| NoJump::NoConvergence)?;
        let found = program.model().exprs.dependencies(&entries);
        let is_parameter = |&variable: &VarId| {
            let role = program.schedule.roles[variable];
            matches!(role, transform::Role::Constant | transform::Role::Parameter)
        };
        Ok(Self { probe, constant: !found.time && found.variables.iter().all(is_parameter) })
    }
}

#[derive(Clone)]
pub(super) struct Solver {
    solver: Option<LinearSolver>,
    /// Where each entry of the chains' matrix goes.
    places: Vec<usize>,
    entries: Vec<f64>,
    factored: bool,
}

impl Solver {
    pub fn new(size: usize, at: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let pattern = Pattern::from_entries(size, size, at.clone());
        let mut starts = vec![0; size + 1];
        for column in 0..size {
            starts[column + 1] = starts[column] + pattern.column(column).len();
        }
        let place = |(row, column): (usize, usize)| {
            starts[column] + pattern.column(column).binary_search(&(row as u32)).unwrap_or(0)
        };
        let places = at.map(place).collect();
        let entries = vec![0.0; pattern.indices.len()];
        Self { solver: LinearSolver::new(size, Some(&pattern)).ok(), places, entries, factored: false }
    }

    /// Solves with the matrix of these entries; the column at which it is singular, where it is.
    pub fn solve(&mut self, values: &[f64], right: &mut [f64]) -> Result<(), usize> {
        let solver = self.solver.as_mut().ok_or(0usize)?;
        if !self.factored {
            self.entries.fill(0.0);
            self.places.iter().zip(values).for_each(|(&place, value)| self.entries[place] += value);
            solver.factor(&self.entries).map_err(|singular| singular.column)?;
            self.factored = true;
        }
        solver.solve(right);
        Ok(())
    }

    /// The entries have changed.
    pub fn forget(&mut self) {
        self.factored = false;
    }
}

impl Restart {
    pub fn new(program: &Program, chains: Chains, memory: &mut Memory) -> Result<Self, Box<base::Diagnostic>> {
        let depth = chains.rows.iter().map(|row| row.times()).max().unwrap_or(0);
        let mut levels = Vec::new();
        for level in 1..=depth {
            let rows: Vec<usize> = (0..chains.rows.len()).filter(|&row| chains.rows[row].times() >= level).collect();
            let residuals: Vec<_> = rows
                .iter()
                .map(|&row| {
                    let row = &chains.rows[row];
                    row.residuals[row.times() - level]
                })
                .collect();
            levels.push((rows, Probe::new(program, &residuals, memory).map_err(Box::new)?));
        }
        Ok(Self {
            levels,
            plain: None,
            jacobian: None,
            values: Vec::new(),
            evaluated: false,
            solver: None,
            path: None,
            residuals: Vec::new(),
            violated: Vec::new(),
            scales: vec![0.0; chains.rows.len()],
            noise: Vec::new(),
            chains,
        })
    }

    /// Whether nothing can jump.
    pub fn has_no_constraints(&self) -> bool {
        self.levels.is_empty()
    }

    pub fn chains(&self) -> &Chains {
        &self.chains
    }

    /// The residuals of the constraints, level by level.
    pub fn constraints(&self) -> Vec<dae::ExprId> {
        let of_level = |(level, (rows, _)): (usize, &(Vec<usize>, Probe))| -> Vec<dae::ExprId> {
            let rows = rows.iter().map(|&row| &self.chains.rows[row]);
            rows.map(|row| row.residuals[row.times() - level]).collect()
        };
        (1..).zip(&self.levels).flat_map(of_level).collect()
    }

    /// Takes note of how large what each of the constraints is computed from is: they have the rounding errors of that.
    pub fn note_rounding(&mut self, size: impl Fn(usize) -> f64) {
        let count = self.levels.iter().map(|(rows, _)| rows.len()).sum();
        self.noise.clear();
        self.noise.extend((0..count).map(|place| ROUNDING * size(place)));
    }

    /// Takes the left values in memory to the right of the instant. `sizes` are the magnitudes that variables have had;
    /// violations up to `drift` are errors of integration, which are corrected without counting as jumps.
    pub fn pass(&mut self, program: &Program, memory: &mut Memory, sizes: &Sizes, drift: f64) -> Result<Jump, NoJump> {
        let mut jump = Jump::default();
        for level in (1..=self.levels.len()).rev() {
            let mut violation = self.violation(program, memory, level, sizes)?;
            let passed_on = if level == 1 { self.passed_on(program, memory, &jump.pulses)? } else { Vec::new() };
            if violation <= HOLDS && passed_on.is_empty() {
                continue;
            }
            let (mut path, mut signals) = (None, Vec::new());
            if violation > drift || !passed_on.is_empty() {
                path = self.path_at_left(program, memory, level)?;
                if let Some(path) = &mut path {
                    violation = self.violation(program, memory, level, sizes)?;
                    if violation > drift {
                        signals = path.set_signals(self, program, memory, level)?;
                        path.settle(self, program, memory)?;
                        self.violation(program, memory, level, sizes)?;
                    }
                }
            }
            if violation <= HOLDS && passed_on.is_empty() {
                self.path = path;
                continue;
            }
            let jumps = violation > drift || !passed_on.is_empty();
            jump.walked |= jumps && path.is_some();
            let walked = match &mut path {
                Some(path) if jumps => {
                    let violated = std::mem::take(&mut self.violated);
                    Some(path.walk(
                        self,
                        program,
                        memory,
                        &Leg { level, violated: &violated, passed_on: &passed_on, signals: &signals, sizes },
                    )?)
                }
                _ => None,
            };
            self.path = path.or(self.path.take());
            let moved = self.meet(program, memory, level, &passed_on, walked, &mut jump.shared)?;
            if jumps {
                if let Some(open) = self.path.as_ref().and_then(|path| path.open(&moved)) {
                    return Err(NoJump::Unbounded(open));
                }
                jump.depth = jump.depth.max(level);
                self.note(program, level, &moved, &mut jump);
            }
        }
        Ok(jump)
    }

    /// Notes what is unbounded where the variables of a level jump.
    fn note(&self, program: &Program, level: usize, moved: &[f64], jump: &mut Jump) {
        let model = program.model();
        let modes = program.schedule.mode.as_ref().map(|mode| &mode.modes);
        let is_named = |variable: &VarId| {
            modes.is_some_and(|modes| modes.has(*variable, model.variables[*variable].derivative_of))
        };
        let counts = self.counts(moved);
        let columns = self.chains.columns.iter().zip(moved).zip(counts);
        for ((chain, &size), _) in columns.filter(|(_, counts)| *counts) {
            let Some(place) = chain.len().checked_sub(level) else {
                jump.higher = true;
                continue;
            };
            jump.pulses.push(Pulse { variable: chain[place], size, plain: place == 0 });
            jump.higher |= chain.get(place + 1).is_some_and(is_named);
        }
    }

    /// Which of the jumps are more than rounding errors: in some equation a term with it counts beside the others.
    fn counts(&self, moved: &[f64]) -> Vec<bool> {
        const ROUNDED: f64 = 1e-12;
        let terms = || {
            let entries = self.chains.jacobian.iter().zip(&self.values);
            entries.map(|(&(row, column, _), entry)| {
                (row as usize, column as usize, (entry * moved[column as usize]).abs())
            })
        };
        let mut largest = vec![0.0f64; self.chains.rows.len()];
        terms().for_each(|(row, _, term)| largest[row] = largest[row].max(term));
        let mut counts = vec![false; moved.len()];
        terms().for_each(|(row, column, term)| counts[column] |= term > ROUNDED * largest[row]);
        counts
    }

    /// What impulses below the highest derivatives add to the rows that are not differentiated: row and sum.
    fn passed_on(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        pulses: &[Pulse],
    ) -> Result<Vec<(usize, f64)>, NoJump> {
        if pulses.is_empty() {
            return Ok(Vec::new());
        }
        if self.plain.is_none() {
            let rows: Vec<usize> = (0..self.chains.rows.len()).filter(|&k| self.chains.rows[k].times() == 0).collect();
            let residuals: Vec<_> = rows.iter().map(|&row| self.chains.rows[row].residuals[0]).collect();
            let probe = Probe::new(program, &residuals, memory).map_err(|_| NoJump::NoConvergence)?;
            self.plain = Some((rows, probe));
        }
        let Some((rows, probe)) = &self.plain else { return Ok(Vec::new()) };
        let (mut without, mut with) = (Vec::new(), Vec::new());
        probe.run(program, memory, &mut without);
        let before: Vec<f64> = pulses.iter().map(|pulse| program.value(memory, pulse.variable)).collect();
        for (pulse, value) in pulses.iter().zip(&before) {
            program.set_value(memory, pulse.variable, value + pulse.size);
        }
        probe.run(program, memory, &mut with);
        for (pulse, &value) in pulses.iter().zip(&before) {
            program.set_value(memory, pulse.variable, value);
        }
        let sums = rows.iter().zip(with.iter().zip(&without)).map(|(&row, (with, without))| (row, with - without));
        Ok(sums.filter(|(_, sum)| sum.is_finite() && *sum != 0.0).collect())
    }

    /// The largest violation of the constraints of a level, relative to their terms.
    fn violation(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        level: usize,
        sizes: &Sizes,
    ) -> Result<f64, NoJump> {
        self.violated.clear();
        self.levels[level - 1].1.run(program, memory, &mut self.residuals);
        if self.residuals.iter().all(|&residual| residual == 0.0) {
            return Ok(0.0);
        }
        self.evaluate_jacobian(program, memory)?;
        self.scales.fill(0.0);
        for (&(row, column, _), &entry) in self.chains.jacobian.iter().zip(&self.values) {
            let chain = &self.chains.columns[column as usize];
            let Some(order) = chain.len().checked_sub(1 + level) else { continue };
            let mut size = program.value(memory, chain[order]).abs();
            if order == 0 {
                size = size.max(sizes.of(chain[0]));
            }
            self.scales[row as usize] += entry.abs() * size;
        }
        let relative = |row: usize, residual: f64, noise: f64| match residual.abs() / self.scales[row] {
            _ if residual.abs() <= noise => 0.0,
            ratio if ratio.is_finite() => ratio,
            _ if residual == 0.0 => 0.0,
            _ => 1.0,
        };
        let mut largest = 0.0f64;
        let noise = &self.noise[self.levels[..level - 1].iter().map(|(rows, _)| rows.len()).sum()..];
        for ((&row, &residual), &noise) in self.levels[level - 1].0.iter().zip(&self.residuals).zip(noise) {
            let ratio = relative(row, residual, noise);
            largest = largest.max(ratio);
            if ratio > HOLDS {
                self.violated.push((row, residual));
            }
        }
        Ok(largest)
    }

    /// The way of the values, where coefficients change on it; what follows from the values in memory is up to date then.
    fn path_at_left(&mut self, program: &Program, memory: &mut Memory, level: usize) -> Result<Option<Path>, NoJump> {
        let mut path = match self.path.take() {
            Some(path) => path,
            None => Path::new(program, &self.chains, memory)?,
        };
        if path.varies(level) {
            path.settle(self, program, memory)?;
            return Ok(Some(path));
        }
        // Discrete variables may have changed coefficients.
        let values = memory.values.clone();
        if path.refresh(self, program, memory).is_err() {
            memory.values = values;
        }
        self.path = Some(path);
        Ok(None)
    }

    /// Solves the system of a level by Newton's method, from the values `walked` to where there are any; the jumps, by
    /// column. Memory has the new values.
    fn meet(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        level: usize,
        passed_on: &[(usize, f64)],
        walked: Option<Vec<f64>>,
        shared: &mut bool,
    ) -> Result<Vec<f64>, NoJump> {
        let count = self.chains.columns.len();
        let passed_on = if walked.is_some() { &[] } else { passed_on };
        let base = walked.unwrap_or_else(|| vec![0.0; count]);
        let mut jumps = base.clone();
        let mut residuals = Vec::new();
        let mut last = f64::INFINITY;
        for _ in 0..MOST_ITERATIONS {
            let mut right = vec![0.0; count];
            self.evaluate_jacobian(program, memory)?;
            for (&(row, column, _), &entry) in self.chains.jacobian.iter().zip(&self.values) {
                right[row as usize] -= entry * (jumps[column as usize] - base[column as usize]);
            }
            passed_on.iter().for_each(|&(row, sum)| right[row] -= sum);
            let (rows, probe) = &self.levels[level - 1];
            probe.run(program, memory, &mut residuals);
            for (&row, &residual) in rows.iter().zip(&residuals) {
                right[row] = -residual;
            }
            self.solve(&mut right, shared)?;
            let mut change = 0.0f64;
            let (mut largest_step, mut largest) = (0.0f64, f64::MIN_POSITIVE);
            for (column, &step) in right.iter().enumerate() {
                let chain = &self.chains.columns[column];
                if !step.is_finite() {
                    return Err(NoJump::NotFinite(chain[0]));
                }
                jumps[column] += step;
                let mut size = jumps[column].abs();
                if let Some(order) = chain.len().checked_sub(1 + level) {
                    let value = program.value(memory, chain[order]) + step;
                    program.set_value(memory, chain[order], value);
                    size = size.max(value.abs());
                }
                change = change.max(step.abs() / (size + f64::MIN_POSITIVE));
                (largest_step, largest) = (largest_step.max(step.abs()), largest.max(size));
            }
            // What is zero has rounding errors of others only, and these do not become smaller.
            let is_rounding = change <= 1e-9 || largest_step <= ROUNDING * largest;
            if change <= 1e-14 || is_rounding && change >= 0.5 * last {
                return Ok(jumps);
            }
            last = change;
        }
        Err(NoJump::NoConvergence)
    }

    pub(super) fn evaluate_jacobian(&mut self, program: &Program, memory: &mut Memory) -> Result<(), NoJump> {
        let jacobian = match &mut self.jacobian {
            Some(jacobian) => jacobian,
            none => none.insert(Jacobian::new(program, &self.chains, memory)?),
        };
        if jacobian.constant && self.evaluated {
            return Ok(());
        }
        jacobian.probe.run(program, memory, &mut self.values);
        self.evaluated = false;
        self.solver.iter_mut().for_each(|solver| solver.factored = false);
        for (&value, &(_, column, _)) in self.values.iter().zip(&self.chains.jacobian) {
            if !value.is_finite() {
                return Err(NoJump::NotFinite(self.chains.columns[column as usize][0]));
            }
        }
        self.evaluated = true;
        Ok(())
    }

    pub(super) fn solve(&mut self, right: &mut [f64], shared: &mut bool) -> Result<(), NoJump> {
        let size = right.len();
        let at = self.chains.jacobian.iter().map(|&(row, column, _)| (row as usize, column as usize));
        let solver = self.solver.get_or_insert_with(|| Solver::new(size, at));
        let Err(failed) = solver.solve(&self.values, right) else { return Ok(()) };
        let Some(open) = self.chains.columns.get(failed.min(size.saturating_sub(1))) else { return Ok(()) };
        let open = NoJump::Singular(open[0]);
        if size > LARGEST_LEAST_SQUARES {
            return Err(open);
        }
        let mut matrix = DenseMatrix::zeros(size, size);
        for (&(row, column, _), &value) in self.chains.jacobian.iter().zip(&self.values) {
            let (row, column) = (row as usize, column as usize);
            matrix.set(row, column, matrix.get(row, column) + value);
        }
        let wanted = right.to_vec();
        let found = least_squares(&matrix, &wanted, 1e-11, right);
        let scale = wanted.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        if found.residual > 1e-9 * scale {
            return Err(open);
        }
        *shared = true;
        Ok(())
    }
}
