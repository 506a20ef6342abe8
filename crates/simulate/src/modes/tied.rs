//! Values that `reinit` gives to variables that are no states in the mode in use: constraints of this mode tie them to others,
//! while they are free in another mode. Where one state each determines them, that state moves.

use base::{Decimal, Diagnostic};
use compile::Address;
use dae::VarId;
use solve::dense::{DenseMatrix, least_squares};

use super::station::Station;
use crate::machine::{Phase, Trouble};

const MOST_ITERATIONS: usize = 40;
/// Steps of difference quotients, relative.
const STEP: f64 = 1e-7;
/// What a state changes by less, relative to its own change, does not depend on it.
const INDEPENDENT: f64 = 1e-9;
/// Relative.
const SINGULAR: f64 = 1e-11;
const REACHED: f64 = 1e-12;

/// What was set: variables with their values.
pub type Settings = [(VarId, f64)];

/// Moves states so that variables which are none have the values they were set to. States that were set themselves stay.
pub fn lead(station: &mut Station, tied: &Settings, set: &Settings) -> Result<(), Trouble> {
    let program = &station.machine.program;
    let is_free = |state: &Address| set.iter().all(|&(variable, _)| program.layout.slot(variable) != *state);
    let free: Vec<Address> = program.states.iter().map(|state| state.value).filter(is_free).collect();
    station.run_events(Phase::Live)?;
    let slopes = slopes(station, tied, &free)?;
    let moves = |column: &usize| slopes.iter().any(|row| row[*column].abs() > INDEPENDENT);
    let moving: Vec<Address> = (0..free.len()).filter(moves).map(|column| free[column]).collect();
    if moving.len() != tied.len() {
        return Err(refused(station, tied));
    }
    for _ in 0..MOST_ITERATIONS {
        let errors: Vec<f64> = tied.iter().map(|&(variable, value)| value - station.value(variable)).collect();
        let is_reached = |(error, (_, value)): (&f64, &(VarId, f64))| error.abs() <= REACHED * value.abs().max(REACHED);
        if errors.iter().zip(tied).all(is_reached) {
            return Ok(());
        }
        let slopes = self::slopes(station, tied, &moving)?;
        let rows: Vec<&[f64]> = slopes.iter().map(Vec::as_slice).collect();
        let mut steps = vec![0.0; moving.len()];
        least_squares(&DenseMatrix::from_rows(&rows), &errors, SINGULAR, &mut steps);
        for (&state, step) in moving.iter().zip(&steps) {
            station.machine.memory.values[state as usize] += step;
        }
        station.run_events(Phase::Live)?;
        let is_still = |(&state, step): (&Address, &f64)| {
            step.abs() <= 4.0 * f64::EPSILON * station.machine.memory.values[state as usize].abs()
        };
        if moving.iter().zip(&steps).all(is_still) {
            return Ok(());
        }
    }
    Err(refused(station, tied))
}

/// How the tied variables change with states, one row for each of them.
fn slopes(station: &mut Station, tied: &Settings, states: &[Address]) -> Result<Vec<Vec<f64>>, Trouble> {
    let here: Vec<f64> = tied.iter().map(|&(variable, _)| station.value(variable)).collect();
    let mut rows = vec![vec![0.0; states.len()]; tied.len()];
    let before = station.machine.memory.values.clone();
    for (column, &state) in states.iter().enumerate() {
        let value = before[state as usize];
        let step = STEP * value.abs().max(1.0);
        station.machine.memory.values[state as usize] = value + step;
        station.run_events(Phase::Frozen)?;
        for ((row, &(variable, _)), here) in rows.iter_mut().zip(tied).zip(&here) {
            row[column] = (station.value(variable) - here) / step;
        }
        station.machine.memory.values.clone_from(&before);
        station.machine.unsettle();
    }
    Ok(rows)
}

fn refused(station: &Station, tied: &Settings) -> Trouble {
    let model = station.machine.program.model();
    let names: Vec<String> = tied.iter().map(|&(variable, _)| format!("`{}`", model.variable_name(variable))).collect();
    let time = Decimal(station.machine.memory.time());
    let message = format!("reinit sets {} at time {time}, which constraints tie to others then", names.join(", "));
    let mut diagnostic = Diagnostic::error("reinit-of-no-state", message)
        .hint("set the variables that it follows from: what is tied to them goes with them")
        .specification("8.3.6");
    if let Some(span) = tied.first().and_then(|&(variable, _)| model.variables[variable].span) {
        diagnostic = diagnostic.at(span, "declared here");
    }
    Trouble::Model(Box::new(diagnostic))
}
