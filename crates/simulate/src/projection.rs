//! States that are all integrated drift away from the constraints between them; here they are moved back, by as little as
//! possible measured in units of their tolerance (Eich 1993; Ascher and Petzold 1998, section 10.2).
//!
//! Each iteration linearises the constraints g and solves `min |y|` with `A·y = -g`, where A is their Jacobian with columns
//! scaled by the tolerances and rows by their length. A slight regularisation lets constraints be there that follow from
//! others.

use base::{Decimal, Diagnostic};
use solve::{LinearSolver, OdeProblem, Pattern};
use transform::Projection;

use crate::machine::{Machine, Trouble};

/// Corrections below this fraction of the tolerance end the iteration.
const CONVERGED: f64 = 1e-4;
const MOST_ITERATIONS: usize = 20;
const REGULARISATION: f64 = 1e-12;
/// How far errors of integration may be from the constraints, in units of the tolerance.
const ERRORS: f64 = 100.0;

/// Moves states to the constraints.
#[derive(Clone)]
pub struct Projector {
    constraints: Projection,
    tolerance: f64,
    nominals: Vec<f64>,
    /// States that must not move.
    held: Vec<bool>,
    /// Constraints that are met; the others are left alone.
    met: Vec<bool>,
    pattern: Pattern,
    solver: LinearSolver,
    values: Vec<f64>,
    /// The correction, and behind it the multipliers.
    solution: Vec<f64>,
    lengths: Vec<f64>,
}

impl Projector {
    /// `None` if the model has no constraints that are not built in.
    pub fn new(machine: &Machine, tolerance: f64) -> Option<Self> {
        let constraints = machine.program.schedule.projection.as_ref()?;
        let (states, rows) = (machine.size(), constraints.residuals.len());
        let size = states + rows;
        let diagonal = (0..size).map(|place| (place, place));
        let entries = constraints.jacobian.iter().flat_map(|&(row, column, _)| {
            let (row, column) = (states + row as usize, column as usize);
            [(row, column), (column, row)]
        });
        let pattern = Pattern::from_entries(size, size, diagonal.chain(entries));
        let solver = LinearSolver::new(size, Some(&pattern)).ok()?;
        let nominals: Vec<f64> = machine.program.states.iter().map(|state| machine.nominal(state.variable)).collect();
        Some(Self {
            constraints: constraints.clone(),
            tolerance,
            held: vec![false; nominals.len()],
            met: vec![true; rows],
            nominals,
            values: vec![0.0; pattern.entries()],
            pattern,
            solver,
            solution: vec![0.0; size],
            lengths: vec![0.0; rows],
        })
    }

    /// Like `project`, but states that were set stay where they are. Others move for the constraints of their own level only: a
    /// velocity that was set moves velocities, not positions.
    pub fn project_others(
        &mut self,
        machine: &mut Machine,
        time: f64,
        x: &mut [f64],
        held: Vec<bool>,
    ) -> Result<f64, Trouble> {
        let outcome = self.project_by_levels(machine, time, x, &held);
        self.held.fill(false);
        self.met.fill(true);
        outcome
    }

    fn project_by_levels(
        &mut self,
        machine: &mut Machine,
        time: f64,
        x: &mut [f64],
        held: &[bool],
    ) -> Result<f64, Trouble> {
        let highest = self.constraints.constraint_levels.iter().copied().max().unwrap_or(0);
        let mut moved: f64 = 0.0;
        for level in (1..=highest).rev() {
            for (met, own) in self.met.iter_mut().zip(&self.constraints.constraint_levels) {
                *met = *own == level;
            }
            for (holds, (held, own)) in self.held.iter_mut().zip(held.iter().zip(&self.constraints.state_levels)) {
                *holds = *held || *own != level;
            }
            let before = x.to_vec();
            let mut outcome = self.project(machine, time, x);
            if outcome.is_err() {
                // What was set meets the constraints of its level but for errors of integration, or contradicts them.
                x.copy_from_slice(&before);
                for (holds, own) in self.held.iter_mut().zip(&self.constraints.state_levels) {
                    *holds = *own != level;
                }
                outcome = self.project(machine, time, x);
                if !matches!(outcome, Ok(moved) if moved <= ERRORS) {
                    return Err(contradiction(machine, time, held));
                }
            }
            moved = moved.max(outcome?);
        }
        Ok(moved)
    }

    /// Changes `x` so that the constraints hold at `time` and leaves the machine evaluated there. Gives the length of the
    /// largest change in units of the tolerance.
    pub fn project(&mut self, machine: &mut Machine, time: f64, x: &mut [f64]) -> Result<f64, Trouble> {
        let mut moved: f64 = 0.0;
        for _ in 0..MOST_ITERATIONS {
            machine.evaluate(time, x)?;
            machine.evaluate_outputs()?;
            let mut met = self.constraints.residuals.iter().zip(&self.met).filter(|(_, met)| **met);
            if met.all(|(&residual, _)| machine.value(residual) == 0.0) {
                return Ok(moved);
            }
            self.linearise(machine, x);
            if self.is_stuck(machine) || self.solver.factor(&self.values).is_err() {
                break;
            }
            self.solver.solve(&mut self.solution);
            let mut largest: f64 = 0.0;
            for (index, value) in x.iter_mut().enumerate() {
                let step = self.solution[index];
                if !self.held[index] {
                    *value += step * unit(self.tolerance, self.nominals[index], *value);
                    largest = largest.max(step.abs());
                }
            }
            moved += largest;
            if largest < CONVERGED {
                machine.evaluate(time, x)?;
                machine.evaluate_outputs()?;
                return Ok(moved);
            }
        }
        Err(self.failed(machine, time))
    }

    /// The matrix `[I Aᵀ; A -ε]` and the right-hand side.
    fn linearise(&mut self, machine: &Machine, x: &[f64]) {
        let states = x.len();
        let scaled = |column: u32, value: f64| match self.held[column as usize] {
            true => 0.0,
            false => value * unit(self.tolerance, self.nominals[column as usize], x[column as usize]),
        };
        self.lengths.fill(0.0);
        let met = |row: u32| self.met[row as usize];
        for &(row, column, slope) in self.constraints.jacobian.iter().filter(|(row, ..)| met(*row)) {
            self.lengths[row as usize] += scaled(column, machine.value(slope)).powi(2);
        }
        self.lengths.iter_mut().for_each(|length| *length = length.sqrt());
        let mut set = |row: usize, column: usize, value: f64| {
            if let Some(place) = self.pattern.position(row, column) {
                self.values[place] = value;
            }
        };
        for place in 0..states + self.lengths.len() {
            set(place, place, if place < states { 1.0 } else { -REGULARISATION });
        }
        for &(row, column, slope) in &self.constraints.jacobian {
            let length = self.lengths[row as usize];
            let value = if length == 0.0 { 0.0 } else { scaled(column, machine.value(slope)) / length };
            set(states + row as usize, column as usize, value);
            set(column as usize, states + row as usize, value);
        }
        self.solution.fill(0.0);
        for (row, &residual) in self.constraints.residuals.iter().enumerate() {
            let length = self.lengths[row];
            self.solution[states + row] = if length == 0.0 { 0.0 } else { -machine.value(residual) / length };
        }
    }

    /// Whether a constraint is violated that nothing can change.
    fn is_stuck(&self, machine: &Machine) -> bool {
        let rows = self.constraints.residuals.iter().zip(&self.lengths).zip(&self.met);
        let mut fixed = rows.filter(|((_, length), met)| **met && **length == 0.0);
        fixed.any(|((&residual, _), _)| machine.value(residual).abs() > self.tolerance)
    }

    fn failed(&self, machine: &Machine, time: f64) -> Trouble {
        let model = machine.program.model();
        let sizes = self.constraints.residuals.iter().enumerate();
        let worst = sizes.max_by(|a, b| machine.value(*a.1).abs().total_cmp(&machine.value(*b.1).abs()));
        let names: Vec<String> = match worst {
            Some((row, _)) => {
                let inside = self.constraints.jacobian.iter().filter(|(own, ..)| *own as usize == row);
                let states = inside.filter_map(|(_, column, _)| machine.program.states.get(*column as usize));
                states.map(|state| format!("`{}`", model.variable_name(state.variable))).collect()
            }
            None => Vec::new(),
        };
        let time = Decimal(time);
        let message =
            format!("the states cannot be moved back to the constraint of {} at time {time}", names.join(", "));
        let hint = "the constraints may be singular here; the default index reduction exchanges states instead";
        Trouble::Model(Box::new(Diagnostic::error("projection-failed", message).names_time().hint(hint)))
    }
}

/// States were set to values between which a constraint does not hold.
fn contradiction(machine: &Machine, time: f64, set: &[bool]) -> Trouble {
    let model = machine.program.model();
    let states = machine.program.states.iter().zip(set).filter(|(_, set)| **set);
    let names: Vec<String> = states.map(|(state, _)| format!("`{}`", model.variable_name(state.variable))).collect();
    let message =
        format!("reinit sets {} at time {} to values that contradict a constraint", names.join(", "), Decimal(time));
    let hint = "set fewer variables: what constraints tie to them goes with them";
    Trouble::Model(Box::new(
        Diagnostic::error("contradicting-reinit", message).names_time().hint(hint).specification("8.3.6"),
    ))
}

/// What counts as one: the tolerance of a component.
fn unit(tolerance: f64, nominal: f64, value: f64) -> f64 {
    tolerance * (nominal.abs() + value.abs())
}
