//! Values that `reinit` gives to variables that are no states where that happens: constraints tie them to others. Where one
//! state each determines them, that state moves; where the others were set, too, the values have to agree.

use base::{Decimal, Diagnostic};
use compile::Address;
use dae::VarId;
use solve::dense::{DenseMatrix, least_squares};

use crate::machine::{Machine, Phase, Trouble};

const MOST_ITERATIONS: usize = 40;
/// Steps of difference quotients, relative.
const STEP: f64 = 1e-7;
/// What a state changes by less, relative to its own change, does not depend on it.
const INDEPENDENT: f64 = 1e-9;
/// Relative.
const SINGULAR: f64 = 1e-11;
const REACHED: f64 = 1e-12;
/// How far errors of integration may be from constraints, in units of the tolerance.
const ERRORS: f64 = 100.0;

/// What was set: variables with their values.
pub type Settings = [(VarId, f64)];

/// Moves states so that variables which are none have the values they were set to. States that were set themselves, given by
/// their addresses, stay.
pub fn lead(machine: &mut Machine, tied: &Settings, held: &[Address]) -> Result<(), Trouble> {
    let states = machine.program.states.iter().map(|state| state.value);
    let free: Vec<Address> = states.filter(|state| !held.contains(state)).collect();
    run_events(machine, Phase::Live)?;
    let slopes = slopes(machine, tied, &free)?;
    let moves = |column: &usize| slopes.iter().any(|row| row[*column].abs() > INDEPENDENT);
    let moving: Vec<Address> = (0..free.len()).filter(moves).map(|column| free[column]).collect();
    if moving.len() != tied.len() {
        return match agree(machine, tied) || moving.is_empty() {
            true => compare(machine, tied),
            false => Err(refused(machine, tied)),
        };
    }
    for _ in 0..MOST_ITERATIONS {
        let errors: Vec<f64> = tied.iter().map(|&(variable, value)| value - machine.value(variable)).collect();
        let is_reached = |(error, (_, value)): (&f64, &(VarId, f64))| error.abs() <= REACHED * value.abs().max(REACHED);
        if errors.iter().zip(tied).all(is_reached) {
            return Ok(());
        }
        let slopes = self::slopes(machine, tied, &moving)?;
        let rows: Vec<&[f64]> = slopes.iter().map(Vec::as_slice).collect();
        let mut steps = vec![0.0; moving.len()];
        least_squares(&DenseMatrix::from_rows(&rows), &errors, SINGULAR, &mut steps);
        for (&state, step) in moving.iter().zip(&steps) {
            machine.memory.values[state as usize] += step;
        }
        run_events(machine, Phase::Live)?;
        let is_still = |(&state, step): (&Address, &f64)| {
            step.abs() <= 4.0 * f64::EPSILON * machine.memory.values[state as usize].abs()
        };
        if moving.iter().zip(&steps).all(is_still) {
            return Ok(());
        }
    }
    Err(refused(machine, tied))
}

/// Variables that follow from others were set: these are the values in memory, or the settings contradict each other.
pub fn compare(machine: &Machine, tied: &Settings) -> Result<(), Trouble> {
    if agree(machine, tied) { Ok(()) } else { Err(contradiction(machine, tied)) }
}

fn agree(machine: &Machine, tied: &Settings) -> bool {
    tied.iter().all(|setting| agrees(machine, setting))
}

fn agrees(machine: &Machine, &(variable, value): &(VarId, f64)) -> bool {
    let error = (machine.value(variable) - value).abs();
    error <= ERRORS * machine.systems.tolerance * (machine.nominal(variable) + value.abs())
}

/// How the tied variables change with states, one row for each of them.
fn slopes(machine: &mut Machine, tied: &Settings, states: &[Address]) -> Result<Vec<Vec<f64>>, Trouble> {
    let here: Vec<f64> = tied.iter().map(|&(variable, _)| machine.value(variable)).collect();
    let mut rows = vec![vec![0.0; states.len()]; tied.len()];
    let before = machine.memory.values.clone();
    for (column, &state) in states.iter().enumerate() {
        let value = before[state as usize];
        let step = STEP * value.abs().max(1.0);
        machine.memory.values[state as usize] = value + step;
        run_events(machine, Phase::Frozen)?;
        for ((row, &(variable, _)), here) in rows.iter_mut().zip(tied).zip(&here) {
            row[column] = (machine.value(variable) - here) / step;
        }
        machine.memory.values.clone_from(&before);
        machine.unsettle();
    }
    Ok(rows)
}

fn run_events(machine: &mut Machine, phase: Phase) -> Result<(), Trouble> {
    machine.run(|sections| &sections.events, phase)
}

/// Several states could move.
fn refused(machine: &Machine, tied: &Settings) -> Trouble {
    let model = machine.program.model();
    let names: Vec<String> = tied.iter().map(|&(variable, _)| format!("`{}`", model.variable_name(variable))).collect();
    let time = Decimal(machine.memory.time());
    let message = format!("reinit sets {} at time {time}, which constraints tie to others then", names.join(", "));
    let hint = "set the variables that it follows from: what is tied to them goes with them";
    at_declaration(machine, tied, Diagnostic::error("reinit-of-no-state", message).names_time().hint(hint))
}

fn contradiction(machine: &Machine, tied: &Settings) -> Trouble {
    let model = machine.program.model();
    let text = |&(variable, value): &(VarId, f64)| {
        let name = model.variable_name(variable);
        format!("`{name}` to {}, but constraints make it {}", Decimal(value), Decimal(machine.value(variable)))
    };
    let wrong: Vec<(VarId, f64)> = tied.iter().filter(|setting| !agrees(machine, setting)).copied().collect();
    let texts: Vec<String> = wrong.iter().map(text).collect();
    let message = format!("reinit sets {} at time {}", texts.join(", and "), Decimal(machine.memory.time()));
    let hint = "set fewer variables, or at another place: what constraints tie to them goes with them";
    at_declaration(machine, &wrong, Diagnostic::error("contradicting-reinit", message).names_time().hint(hint))
}

fn at_declaration(machine: &Machine, tied: &Settings, diagnostic: Diagnostic) -> Trouble {
    let variables = &machine.program.model().variables;
    let span = tied.first().and_then(|&(variable, _)| variables[variable].span);
    let diagnostic = span.into_iter().fold(diagnostic, |diagnostic, span| diagnostic.at(span, "declared here"));
    Trouble::Model(Box::new(diagnostic.specification("8.3.6")))
}
