//! What relations are just after an instant, in a mode that is tried.
//!
//! The sign of a residue is decided by the impulse in it if there is one, else by its value; where that is zero to
//! rounding, by where it goes: small steps into the future are taken, each larger than the one before, until the residue
//! leaves zero. This is what lets friction in its declarative form leave the stuck mode.

use base::Id;
use dae::VarId;

use super::restart::Jump;
use super::station::{Left, Station};
use crate::machine::{Phase, Trouble};

/// Residues below this, relative to the magnitudes of what is in them, are zero at first.
pub const ZERO: f64 = 1e-9;
/// Residues that stay at zero have left it when they are larger than this.
const RESTING: f64 = 1e-7;
/// A residue has left zero when it changed by more than this.
const MOVED: f64 = 1e-9;
/// Rounding errors relative to the largest values of the model.
const ROUNDING: f64 = 1e-13;
/// Rounds after which relations that keep changing each other are left as they are.
const MOST_ROUNDS: usize = 12;

/// How far into the future a residue at zero may be followed, in steps that grow tenfold.
#[derive(Clone, Copy, Debug)]
pub struct Horizon {
    pub first: f64,
    pub last: f64,
    /// Residues below this, relative to the magnitudes of what is in them, are zero.
    pub zero: f64,
}

/// What was found out about relations.
pub struct Found {
    /// Relations (by their place in the list of the station) that stay at zero.
    pub open: Vec<usize>,
    /// The residues that are zero, and how far from it they count as such.
    pub at_zero: Vec<(usize, f64)>,
}

/// Evaluates the mode right of the instant and sets its relations to their right limits. The states in memory must be those
/// after the jump. The relations with the numbers `triggers` made the event: where their residues are zero they are what
/// they became then.
pub fn settle(
    station: &mut Station,
    left: &Left,
    triggers: &[usize],
    jump: &Jump,
    sizes: &[f64],
    horizon: Horizon,
) -> Result<Found, Trouble> {
    station.machine.memory.set_time(left.after);
    let found = settle_after(station, left, triggers, jump, sizes, horizon);
    station.machine.memory.set_time(left.time);
    found
}

fn settle_after(
    station: &mut Station,
    left: &Left,
    triggers: &[usize],
    jump: &Jump,
    sizes: &[f64],
    horizon: Horizon,
) -> Result<Found, Trouble> {
    let Some(count) = station.switch.as_ref().map(|switch| switch.relations.len()) else {
        return Ok(Found { open: Vec::new(), at_zero: Vec::new() });
    };
    station.run_events(Phase::Live)?;
    let scales = residue_scales(station, sizes);
    let mut found = Found { open: Vec::new(), at_zero: Vec::new() };
    for _ in 0..MOST_ROUNDS {
        let residues = evaluate(station, None);
        let impulses = impulses(station, jump, &residues);
        let largest_impulse = impulses.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let mut wanted: Vec<Option<f64>> = vec![None; count];
        found = Found { open: Vec::new(), at_zero: Vec::new() };
        for k in 0..count {
            if impulses[k].abs() > 1e-9 * largest_impulse && impulses[k] != 0.0 {
                wanted[k] = Some(impulses[k].signum());
            } else if residues[k].abs() > horizon.zero * scales[k] {
                wanted[k] = Some(residues[k].signum());
            } else if residues[k].is_finite() {
                let number = station.switch.as_ref().map(|switch| switch.shared[k]);
                let became = number.filter(|number| triggers.contains(number)).and_then(|number| left.relation(number));
                found.at_zero.push((k, residues[k].abs()));
                wanted[k] = became;
            }
        }
        let places: Vec<usize> = found.at_zero.iter().map(|&(k, _)| k).filter(|&k| wanted[k].is_none()).collect();
        found.open = follow(station, &residues, &scales, &places, horizon, &mut wanted)?;
        // What counts as zero must not make events.
        found.at_zero.iter_mut().for_each(|(k, size)| *size = (4.0 * *size).max(2.0 * horizon.zero * scales[*k]));
        for &k in &found.open {
            // What a constraint of the mode holds at zero is as far from it as the constraint is met.
            found.at_zero.push((k, RESTING * scales[k]));
            wanted[k] = station.switch.as_ref().and_then(|switch| left.relation(switch.shared[k]));
        }
        if !apply(station, &wanted) {
            break;
        }
        station.run_events(Phase::Frozen)?;
    }
    Ok(found)
}

/// Sets the states of relations; whether any changed.
fn apply(station: &mut Station, wanted: &[Option<f64>]) -> bool {
    let Some(switch) = &station.switch else { return false };
    let layout = &station.machine.program.layout;
    let mut changed = false;
    for (&relation, wanted) in switch.relations.iter().zip(wanted) {
        let state = &mut station.machine.memory.values[layout.relations[relation].state as usize];
        if let Some(wanted) = *wanted
            && *state != wanted
        {
            *state = wanted;
            changed = true;
        }
    }
    changed
}

fn evaluate(station: &mut Station, at: Option<&mut compile::Memory>) -> Vec<f64> {
    let mut residues = Vec::new();
    if let Some(switch) = &station.switch {
        let program = station.machine.program;
        let memory = at.unwrap_or(&mut station.machine.memory);
        switch.residues.run(program, memory, &mut residues);
    }
    residues
}

/// The magnitude of what each residue is made of.
fn residue_scales(station: &Station, sizes: &[f64]) -> Vec<f64> {
    let Some(switch) = &station.switch else { return Vec::new() };
    let program = station.machine.program;
    let size_of = |variable: VarId| {
        let now = program.value(&station.machine.memory, variable).abs();
        now.max(sizes.get(variable.index()).copied().unwrap_or(0.0))
    };
    // What is zero by a sum of others has their rounding errors.
    let least = sizes.iter().fold(1e-6f64, |most, &size| most.max(ROUNDING * size / ZERO));
    let scale = |(variables, time): &(Vec<VarId>, bool)| {
        let time = if *time { station.machine.memory.time().abs() * 1e-4 } else { 0.0 };
        variables.iter().map(|&variable| size_of(variable)).fold(time, f64::max).max(least)
    };
    switch.parts.iter().map(scale).collect()
}

/// The impulse in each residue.
fn impulses(station: &mut Station, jump: &Jump, residues: &[f64]) -> Vec<f64> {
    if jump.depth == 0 {
        return vec![0.0; residues.len()];
    }
    let program = station.machine.program;
    let mut memory = station.machine.memory.clone();
    if let Some(switch) = &station.switch {
        // Unbounded are all derivatives above the one that jumps.
        for (chain, &size) in switch.restart.chains().columns.iter().zip(&jump.sizes) {
            if let Some(&highest) = chain.last() {
                let value = program.value(&memory, highest) + size;
                program.set_value(&mut memory, highest, value);
            }
        }
    }
    let with = evaluate(station, Some(&mut memory));
    let difference = |(with, without): (&f64, &f64)| match with - without {
        impulse if impulse.abs() > 1e-12 * (with.abs() + without.abs()) => impulse,
        _ => 0.0,
    };
    with.iter().zip(residues).map(difference).collect()
}

/// Follows the residues at `places`, which are zero, into the future; those that do not leave zero are returned.
fn follow(
    station: &mut Station,
    residues: &[f64],
    scales: &[f64],
    places: &[usize],
    horizon: Horizon,
    wanted: &mut [Option<f64>],
) -> Result<Vec<usize>, Trouble> {
    let mut open = places.to_vec();
    if open.is_empty() {
        return Ok(open);
    }
    let before = station.machine.memory.clone();
    let (time, program) = (before.time(), station.machine.program);
    let size = program.states.len();
    let (mut x, mut slope, mut later) = (vec![0.0; size], vec![0.0; size], vec![0.0; size]);
    program.read_states(&before, &mut x);
    let mut step = horizon.first;
    let mut outcome = station.machine.evaluate(time, &x);
    program.read_derivatives(&station.machine.memory, &mut slope);
    while outcome.is_ok() && !open.is_empty() && step <= horizon.last {
        // Heun's method: exact to the second derivative, which decides where the first is zero.
        let first: Vec<f64> = x.iter().zip(&slope).map(|(x, s)| x + step * s).collect();
        outcome = station.machine.evaluate(time + step, &first);
        if outcome.is_err() {
            break;
        }
        program.read_derivatives(&station.machine.memory, &mut later);
        let second: Vec<f64> =
            x.iter().zip(slope.iter().zip(&later)).map(|(x, (a, b))| x + 0.5 * step * (a + b)).collect();
        outcome = station.machine.evaluate(time + step, &second);
        if outcome.is_err() {
            break;
        }
        let there = evaluate(station, None);
        open.retain(|&k| {
            let moved = there[k] - residues[k];
            let left = moved.abs() > MOVED * scales[k];
            if left {
                wanted[k] = Some(moved.signum());
            }
            !left
        });
        step *= 10.0;
    }
    station.machine.memory = before;
    station.machine.systems.forget_factors(program);
    // A step that cannot be taken says nothing about residues.
    Ok(open)
}
