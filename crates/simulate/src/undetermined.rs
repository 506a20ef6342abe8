//! What may be shared evenly where equations do not determine it, and what may not.
//!
//! Of a singular system that has solutions the one of least norm is taken: how two rigid supports share a load changes nothing
//! that moves. But where it is the motion that the equations leave open, any choice is an invention. So each such system
//! is looked at once: its unknowns are moved along the directions left open, everything behind them is computed again, and
//! nothing that is differentiated may move with them.

use compile::{SectionStep, SystemId};
use dae::VarId;

use crate::machine::{Machine, Phase, Trouble};
use crate::system_failure::{Reason, SystemFailure};

/// Relative to how far the unknowns are moved, what follows is moved only by rounding errors.
const ROUNDING: f64 = 1e-6;

/// An error if the motion depends on how a system was shared. Memory must hold the evaluation with outputs.
pub fn check(machine: &mut Machine, system: SystemId) -> Result<(), Trouble> {
    let program = &machine.program.clone();
    // What nothing but events changes is computed there.
    let sections = [&program.sections.dynamics, &program.sections.outputs, &program.sections.events];
    let is_it = |step: &SectionStep| matches!(step, SectionStep::Solve(own) if *own == system);
    let Some((section, place)) =
        sections.iter().enumerate().find_map(|(section, steps)| Some((section, steps.steps.iter().position(is_it)?)))
    else {
        return Ok(());
    };
    let directions = machine.systems.open_directions(program, system, &mut machine.memory);
    if directions.is_empty() {
        return Ok(());
    }
    let moving = differentiated(machine);
    let values = machine.memory.values.clone();
    let found = &program.systems[system];
    let mut residuals = vec![0.0; found.slots.len()];
    let mut moved = None;
    for direction in directions {
        let scale = found.slots.iter().fold(1.0f64, |most, &slot| most.max(values[slot as usize].abs()));
        for (&slot, share) in found.slots.iter().zip(&direction) {
            machine.memory.values[slot as usize] += scale * share;
        }
        let rest = &sections[section].steps[place + 1..];
        let behind: &[usize] = [&[1][..], &[], &[0, 1]][section];
        let is_evaluated = program.residuals(system, &mut machine.memory, &mut residuals).is_ok()
            && machine.run_steps(rest).is_ok()
            && behind.iter().all(|&section| machine.run_steps(&sections[section].steps).is_ok());
        let is_moved = |&variable: &VarId| {
            let slot = program.layout.slot(variable) as usize;
            (machine.memory.values[slot] - values[slot]).abs() > ROUNDING * scale
        };
        if is_evaluated {
            // A state that stands for several variables has no name that the model knows; their derivatives have.
            let is_derivative = |variable: &VarId| program.model().variables[*variable].derivative_of.is_some();
            let written = || found.unknowns.iter().copied().filter(is_derivative).find(is_moved);
            let first = || moving.iter().copied().find(is_moved).map(|variable| written().unwrap_or(variable));
            moved = moved.or_else(first);
        }
        machine.memory.values.copy_from_slice(&values);
    }
    machine.unsettle();
    match moved {
        None => Ok(()),
        Some(variable) => Err(Trouble::System(Box::new(SystemFailure {
            unknowns: found.unknowns.clone(),
            equations: found.equations.clone(),
            iteration: Vec::new(),
            reason: Reason::Singular(variable),
            time: machine.memory.time(),
        }))),
    }
}

/// What the text differentiates, and its derivatives, as far as blocks compute them.
fn differentiated(machine: &Machine) -> Vec<VarId> {
    let schedule = &machine.program.schedule;
    let dummies = &schedule.summary.dummy_states;
    let is_derivative = |variable: &VarId| {
        schedule.model.variables[*variable].derivative_of.is_some_and(|of| dummies.contains(&of))
            && schedule.roles[*variable] == transform::Role::Algebraic
    };
    let mut found: Vec<VarId> = schedule.states.iter().map(|state| state.derivative).collect();
    found.extend(dummies.iter().copied());
    found.extend(schedule.model.variables.ids().filter(is_derivative));
    found.retain(|&variable| !matches!(schedule.roles[variable], transform::Role::Constant));
    found
}

impl Machine {
    /// Runs a part of a section between events.
    fn run_steps(&mut self, steps: &[SectionStep]) -> Result<(), Trouble> {
        let Machine { program, memory, systems, .. } = self;
        program.run(steps, memory, &mut |system, memory| systems.solve(program, system, memory, Phase::Frozen))
    }
}
