//! Which variables are integrated where no choice of states is good everywhere (`transform::StateSet`): looked at after
//! every step, changed before the one in use becomes singular.

use base::{Decimal, Diagnostic};
use compile::Program;
use transform::StateSet;

use crate::machine::{Machine, Trouble};

/// Takes better states where there are some; true if any state changed. Outputs must have been evaluated at this point.
pub fn exchange(machine: &mut Machine) -> bool {
    let program = &machine.program.clone();
    let mut changed = false;
    for set in &program.schedule.state_sets {
        let values = jacobian(machine, set);
        let current = current(program, machine, set);
        let Some(wanted) = set.prefer(&values, &current) else { continue };
        if wanted != current {
            let values = candidate_values(machine, set);
            take(program, machine, set, &wanted, &values);
            changed = true;
        }
    }
    changed
}

/// How well the states in use determine the rest, relative to the best ones: for each set a number that is zero where they
/// do not, and has another sign behind such a point. Outputs must have been evaluated.
pub fn fitness(machine: &Machine, fitness: &mut Vec<f64>) {
    fitness.clear();
    for set in &machine.program.schedule.state_sets {
        let values = jacobian(machine, set);
        let best = set.choose(&values).map_or(0.0, |best| set.quality(&values, &best));
        let own = set.determinant(&values, &current(&machine.program, machine, set));
        fitness.push(if best > 0.0 { own / best } else { 0.0 });
    }
}

/// Where states that the model demands determine the rest worse than others by a factor: what is wrong. By set, `fitness`
/// tells how well they do.
pub fn lost(machine: &Machine, fitness: &[f64], least: f64) -> Option<Trouble> {
    let program = &machine.program;
    let mut sets = program.schedule.state_sets.iter().zip(fitness);
    let (set, _) = sets.find(|(set, fitness)| set.demanded && (fitness.is_nan() || fitness.abs() <= least))?;
    let model = program.model();
    let names: Vec<String> =
        set.asked.iter().map(|&place| format!("`{}`", model.variable_name(set.candidates[place]))).collect();
    let message = format!(
        "the states that StateSelect.always demands ({}) do not determine the other variables near time {}",
        names.join(", "),
        Decimal(machine.memory.time())
    );
    let hint = "take StateSelect.prefer or leave it out: then other states are taken where these do not do";
    let mut diagnostic = Diagnostic::error("singular-states", message).names_time().hint(hint).specification("4.9.7.1");
    if let Some(span) = set.asked.first().and_then(|&place| model.variables[set.candidates[place]].span) {
        diagnostic = diagnostic.at(span, "declared here");
    }
    Some(Trouble::Model(Box::new(diagnostic)))
}

/// The variable that is integrated as a state now; itself unless states are exchanged.
pub fn state_now(machine: &Machine, state: dae::VarId) -> dae::VarId {
    for set in &machine.program.schedule.state_sets {
        let Some(row) = set.states.iter().position(|&it| it == state) else { continue };
        let chosen = set.selection.get(row).and_then(|row| row.iter().position(|&it| machine.value(it) != 0.0));
        return chosen.and_then(|place| set.candidates.get(place)).copied().unwrap_or(state);
    }
    state
}

pub fn jacobian(machine: &Machine, set: &StateSet) -> Vec<f64> {
    set.jacobian.iter().flatten().map(|entry| entry.map_or(0.0, |variable| machine.value(variable))).collect()
}

fn current(program: &Program, machine: &Machine, set: &StateSet) -> Vec<usize> {
    let chosen = |row: &Vec<dae::VarId>| row.iter().position(|&factor| program.value(&machine.memory, factor) != 0.0);
    set.selection.iter().filter_map(chosen).collect()
}

pub fn candidate_values(machine: &Machine, set: &StateSet) -> Vec<f64> {
    set.candidates.iter().map(|&candidate| machine.value(candidate)).collect()
}

/// Integrates the chosen candidates, from the given values; all of them get those, where they are or as a guess.
pub fn take(program: &Program, machine: &mut Machine, set: &StateSet, chosen: &[usize], values: &[f64]) {
    for (&candidate, &value) in set.candidates.iter().zip(values) {
        program.set_value(&mut machine.memory, candidate, value);
    }
    for ((row, &state), &candidate) in set.selection.iter().zip(&set.states).zip(chosen) {
        for (place, &factor) in row.iter().enumerate() {
            let value = if place == candidate { 1.0 } else { 0.0 };
            program.set_value(&mut machine.memory, factor, value);
        }
        program.set_value(&mut machine.memory, state, values[candidate]);
    }
    machine.unsettle();
}
