//! The tangents of a restart: how the values right of an instant move with those left of it and with parameters.
//!
//! A restart is a solution of equations (`restart`), and its tangent one more solution with the same matrix: level by level,
//! the rows of constraints differentiated at the values on the right, and for the rows J·Δ = 0 of what is conserved
//!
//!   J·δΔ = −δJ·Δ,  Δ the jumps with their impulses, δJ how the coefficients move.
//!
//! Tangents of values that meet the constraints only together with the shift of the instant are corrected here each by
//! itself; as all of this is linear, the sum of these corrections vanishes with the shift. So it has to for positions, whose
//! corrections would have impulses of higher order.
//!
//! Where coefficients change with what jumps the restart is an integral along a way (`path`), and has no tangent here.

use base::Decimal;
use compile::{Address, ExpressionTangents, Memory, Program};
use dae::{Node, VarId};

use super::restart::{Jump, Restart};
use crate::machine::Trouble;
use crate::sensitivities::refused;

/// Coefficients that follow from what jumps mostly do so after one round.
const MOST_ROUNDS: usize = 8;
const ROUNDING: f64 = 1e-12;

/// What the tangents of a restart are computed with.
#[derive(Clone)]
pub struct RestartTangents {
    expressions: ExpressionTangents,
    memory: Memory,
    /// The entries of the matrix that are no numbers, in rows that are not differentiated: their places in the matrix.
    entries: Vec<usize>,
    out: Vec<f64>,
}

/// The tangents right of a transition along one direction.
pub struct Right {
    /// By address.
    pub values: Vec<f64>,
    /// What positions have to move by: their variables, and by how much.
    pub moved: Vec<(VarId, f64)>,
}

/// The tangents of one restart, with the impulses of the jump at hand.
pub struct RestartPass<'a> {
    made: &'a mut RestartTangents,
    /// By column.
    impulses: Vec<f64>,
}

impl RestartTangents {
    pub fn new(restart: &Restart, program: &Program) -> Result<Self, Box<base::Diagnostic>> {
        let chains = restart.chains();
        let is_number = |entry| matches!(program.model().exprs.node(entry), Node::Real(_) | Node::Integer(_));
        let varies = |&place: &usize| {
            let (row, _, entry) = chains.jacobian[place];
            chains.rows[row as usize].times() == 0 && !is_number(entry)
        };
        let entries: Vec<usize> = (0..chains.jacobian.len()).filter(varies).collect();
        let mut expressions = restart.constraints();
        expressions.extend(entries.iter().map(|&place| chains.jacobian[place].2));
        let expressions = ExpressionTangents::new(program, &expressions)?;
        Ok(Self { memory: expressions.memory(), expressions, entries, out: Vec::new() })
    }

    /// Makes ready for a jump, whose values are in memory.
    pub fn begin<'a>(
        &'a mut self,
        restart: &mut Restart,
        program: &Program,
        memory: &mut Memory,
        jump: &Jump,
    ) -> Result<RestartPass<'a>, Trouble> {
        let time = Decimal(memory.time());
        let chains = restart.chains();
        let name = |variable: VarId| program.model().variable_name(variable);
        if jump.depth > 1 {
            let first = jump.pulses.first().map(|pulse| format!(", among them `{}`", name(pulse.variable)));
            return Err(refused(format!(
                "at time {time} values jump that are derived more than once{}: sensitivities do not go through impulses of \
                 higher order",
                first.unwrap_or_default()
            )));
        }
        if jump.depth > 0 && jump.walked {
            let first = jump.pulses.first().map(|pulse| format!("the impulse of `{}`", name(pulse.variable)));
            return Err(refused(format!(
                "at time {time} coefficients of equations change with what jumps ({}), so that what is conserved is integrated \
                 along the way of the values: sensitivities do not go through that",
                first.unwrap_or_default()
            )));
        }
        let mut impulses = vec![0.0; chains.columns.len()];
        for pulse in jump.pulses.iter().filter(|_| jump.depth > 0) {
            let column = chains.columns.iter().position(|chain| chain.last() == Some(&pulse.variable));
            if let Some(column) = column {
                impulses[column] += pulse.size;
            }
        }
        let undetermined = |_| refused(format!("the equations of the restart at time {time} cannot be differentiated"));
        restart.evaluate_jacobian(program, memory).map_err(undetermined)?;
        Ok(RestartPass { made: self, impulses })
    }
}

impl RestartPass<'_> {
    /// The tangents on the right from those on the left. `all` are the tangents of everything on the right, as far as they
    /// are known: coefficients and discrete variables. All are given by address.
    pub fn pass(
        &mut self,
        restart: &mut Restart,
        program: &Program,
        memory: &mut Memory,
        left: &[f64],
        all: Vec<f64>,
    ) -> Result<Right, Trouble> {
        let mut right = Right { values: all, moved: Vec::new() };
        let depth = restart.levels.len();
        let chains = restart.chains();
        for chain in &chains.columns {
            for &variable in chain.iter().take(chain.len().saturating_sub(1)) {
                let slot = program.layout.slot(variable) as usize;
                right.values[slot] = left[slot];
            }
        }
        for level in (1..=depth).rev() {
            let (of_rows, mut of_entries) = self.tangents(memory, &right.values);
            let mut shifts = vec![0.0; self.impulses.len()];
            let first: usize = restart.levels[..level - 1].iter().map(|(rows, _)| rows.len()).sum();
            for (&row, tangent) in restart.levels[level - 1].0.iter().zip(&of_rows[first..]) {
                shifts[row] = -tangent;
            }
            let mut moved = self.moved(restart, program, memory, level, shifts.clone(), &of_entries)?;
            // Coefficients may hold what jumps here, such as a ratio that is in a constraint as well: they move with its values on the right.
            for round in 0.. {
                let mut behind = right.values.clone();
                add(restart, program, level, &moved, &mut behind);
                let (_, found) = self.tangents(memory, &behind);
                if level > 1 || agree(&of_entries, &found) {
                    break;
                }
                if round == MOST_ROUNDS {
                    let time = Decimal(memory.time());
                    return Err(refused(format!(
                        "how the coefficients of the restart at time {time} move with a parameter depends on itself"
                    )));
                }
                moved = self.moved(restart, program, memory, level, shifts.clone(), &found)?;
                of_entries = found;
            }
            add(restart, program, level, &moved, &mut right.values);
            if level > 1 {
                let first_of = |(chain, shift): (&Vec<VarId>, &f64)| (chain.len() > level).then(|| (chain[0], *shift));
                right.moved.extend(restart.chains().columns.iter().zip(&moved).filter_map(first_of));
            }
        }
        Ok(right)
    }

    /// The tangents of the constraints and of the entries of the matrix, where everything moves by `values`.
    fn tangents(&mut self, memory: &mut Memory, values: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let seeds: Vec<(Address, f64)> = (0..).zip(values.iter().copied()).filter(|(_, t)| *t != 0.0).collect();
        let RestartTangents { expressions, memory: own, entries, out } = &mut *self.made;
        expressions.along(memory, own, &seeds, out);
        let of_entries = out.split_off(out.len() - entries.len());
        (std::mem::take(out), of_entries)
    }

    /// How the unknowns of a level move, with entries of the matrix that move.
    fn moved(
        &self,
        restart: &mut Restart,
        program: &Program,
        memory: &Memory,
        level: usize,
        mut shifts: Vec<f64>,
        of_entries: &[f64],
    ) -> Result<Vec<f64>, Trouble> {
        let mut coefficients_move = false;
        for (&place, tangent) in self.made.entries.iter().zip(of_entries).filter(|_| level == 1) {
            let (row, column, _) = restart.chains().jacobian[place];
            let term = tangent * self.impulses[column as usize];
            if term != 0.0 {
                shifts[row as usize] -= term;
                coefficients_move = true;
            }
        }
        solve(restart, program, memory, &mut shifts, coefficients_move)?;
        Ok(shifts)
    }
}

/// Adds what the unknowns of a level move by.
fn add(restart: &Restart, program: &Program, level: usize, shifts: &[f64], values: &mut [f64]) {
    for (chain, shift) in restart.chains().columns.iter().zip(shifts) {
        let Some(order) = chain.len().checked_sub(1 + level) else { continue };
        let place = program.layout.place(chain[order]);
        values[place.slot as usize] += if place.negated { -shift } else { *shift };
    }
}

/// Whether tangents are the same but for rounding.
fn agree(one: &[f64], other: &[f64]) -> bool {
    let size = one.iter().chain(other).fold(0.0f64, |size, tangent| size.max(tangent.abs()));
    one.iter().zip(other).all(|(one, other)| (one - other).abs() <= ROUNDING * size)
}

/// How far two sets of tangents are from each other at what a restart moves, relative to the largest.
pub fn distance(restart: &Restart, program: &Program, one: &[f64], other: &[f64]) -> f64 {
    let moved = restart.chains().columns.iter().flat_map(|chain| &chain[..chain.len().saturating_sub(1)]);
    let pairs = moved.map(|&variable| program.layout.slot(variable) as usize).map(|slot| (one[slot], other[slot]));
    let (distance, size) = pairs.fold((0.0f64, 0.0f64), |(distance, size), (one, other)| {
        let difference = (one - other).abs();
        let difference = if difference.is_nan() { f64::INFINITY } else { difference };
        (distance.max(difference), size.max(one.abs()).max(other.abs()))
    });
    if distance == 0.0 { 0.0 } else { distance / size }
}

/// Solves with the matrix of the restart. Of a singular one the solution of least norm counts where the matrix stands still.
fn solve(
    restart: &mut Restart,
    program: &Program,
    memory: &Memory,
    shifts: &mut [f64],
    coefficients_move: bool,
) -> Result<(), Trouble> {
    let time = Decimal(memory.time());
    let mut shared = false;
    if let Some(column) = shifts.iter().position(|shift| !shift.is_finite()) {
        let variable = program.model().variable_name(restart.chains().columns[column][0]);
        return Err(refused(format!("the restart at time {time} has no finite derivative near `{variable}`")));
    }
    let outcome = restart.solve(shifts, &mut shared);
    if outcome.is_err() || shared && coefficients_move {
        return Err(refused(format!(
            "the equations of the restart at time {time} determine the values behind it, but not how they move with a parameter"
        )));
    }
    Ok(())
}
