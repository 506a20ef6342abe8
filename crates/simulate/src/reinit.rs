//! What `reinit` sets is a state from then on (specification 8.3.6), and nothing else changes more than it has to.
//!
//! Where constraints leave open which of some variables are states (`transform::StateSet`), those that are set become
//! states, as far as the constraints allow. The others of the set are moved as little as possible, measured in their
//! nominal values, so that what comes out depends neither on the states that were in use nor on the solver: a pendulum whose
//! x is set keeps the tangential part of its velocity. Where more is set than there can be states, the values have to agree
//! with the constraints.

use compile::Address;
use dae::{ActionKind, VarId};
use solve::dense::{DenseMatrix, least_squares};
use transform::{Role, StateSet};

use crate::exchange;
use crate::machine::{Machine, Phase, Trouble};
use crate::tied;

const MOST_ITERATIONS: usize = 40;
/// Changes that are smaller, relative to the values and their nominal values, end the iteration.
const CONVERGED: f64 = 1e-12;
/// Relative.
const SINGULAR: f64 = 1e-9;

/// The variables that are set at an instant.
pub struct Reinit {
    set: Vec<(VarId, f64)>,
    /// By set of exchangeable states: the values of the candidates before.
    before: Vec<Vec<f64>>,
}

impl Reinit {
    /// What the active actions are about to set; `None` if that is nothing.
    pub fn due(machine: &Machine) -> Option<Self> {
        let program = &machine.program;
        let values = &machine.memory.values;
        let actions = program.model().actions.iter().zip(&program.layout.actions);
        let set: Vec<(VarId, f64)> = actions
            .filter(|(_, slots)| values[slots.active as usize] != 0.0)
            .filter_map(|(action, slots)| match action.kind {
                ActionKind::Reinit { state, .. } => Some((state, values[slots.value as usize])),
                _ => None,
            })
            .collect();
        let candidates = |set: &StateSet| set.candidates.iter().map(|&candidate| machine.value(candidate)).collect();
        (!set.is_empty()).then(|| Self { set, before: program.schedule.state_sets.iter().map(candidates).collect() })
    }

    /// The values are in memory: states become what they have to be for them. Discrete variables and relations stay.
    pub fn follow(&self, machine: &mut Machine) -> Result<(), Trouble> {
        if !self.before.is_empty() {
            self.move_candidates(machine)?;
        }
        let is_tied = |&&(variable, _): &&(VarId, f64)| !is_state(machine, variable);
        let tied: Vec<(VarId, f64)> = self.set.iter().filter(is_tied).copied().collect();
        if tied.is_empty() {
            return Ok(());
        }
        // What may be a state elsewhere leads nothing: the others of its set would, and they are states here.
        let sets = &machine.program.schedule.state_sets;
        let is_candidate = |variable: &VarId| sets.iter().any(|set| set.candidates.contains(variable));
        let (compared, tied): (Vec<_>, Vec<_>) = tied.into_iter().partition(|(variable, _)| is_candidate(variable));
        let held: Vec<Address> = self.set.iter().filter_map(|&(variable, _)| state_of(machine, variable)).collect();
        let kept = machine.memory.values.clone();
        let outcome = match tied.is_empty() {
            true => machine.run(|sections| &sections.events, Phase::Live),
            false => tied::lead(machine, &tied, &held),
        };
        let outcome = outcome.and_then(|()| tied::compare(machine, &compared));
        let states: Vec<Address> = machine.program.states.iter().map(|state| state.value).collect();
        restore(machine, kept, states.into_iter());
        outcome
    }

    fn move_candidates(&self, machine: &mut Machine) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let kept = machine.memory.values.clone();
        // The Jacobian needs the candidates only, and they have their values.
        machine.evaluate_outputs()?;
        for (set, before) in program.schedule.state_sets.iter().zip(&self.before) {
            let values = exchange::jacobian(machine, set);
            if let Some(chosen) = set.choose_with(&values, &self.wanted(set)) {
                exchange::take(program, machine, set, &chosen, &self.targets(set, before));
            }
        }
        for _ in 0..MOST_ITERATIONS {
            // What cannot be evaluated here fails at the next evaluation, too.
            let evaluated = machine.run(|sections| &sections.events, Phase::Live);
            if evaluated.is_err() || machine.evaluate_outputs().is_err() || !self.move_once(machine) {
                break;
            }
        }
        let sets = program.schedule.state_sets.iter();
        let variables = sets.flat_map(|set| set.selection.iter().flatten().chain(&set.states).chain(&set.candidates));
        let moved: Vec<Address> = variables.map(|&variable| program.layout.slot(variable)).collect();
        restore(machine, kept, moved.into_iter());
        Ok(())
    }

    /// One iteration from a point at which the constraints hold; false if nothing moved.
    fn move_once(&self, machine: &mut Machine) -> bool {
        let program = &machine.program.clone();
        let mut moved = false;
        for (set, before) in program.schedule.state_sets.iter().zip(&self.before) {
            let values = exchange::jacobian(machine, set);
            let wanted = self.wanted(set);
            let (Some(rows), Some(chosen)) = (set.between_candidates(&values), set.choose_with(&values, &wanted))
            else {
                continue;
            };
            let mut targets = self.targets(set, before);
            least_change(machine, set, &rows, &wanted, &mut targets);
            let here = set.candidates.iter().map(|&candidate| (machine.value(candidate), machine.nominal(candidate)));
            let is_far = |((here, nominal), target): ((f64, f64), &f64)| {
                (here - target).abs() > CONVERGED * (nominal + target.abs())
            };
            moved |= here.zip(&targets).any(is_far);
            exchange::take(program, machine, set, &chosen, &targets);
        }
        moved
    }

    /// The candidates that are set.
    fn wanted(&self, set: &StateSet) -> Vec<usize> {
        let is_set = |&place: &usize| self.value(set.candidates[place]).is_some();
        (0..set.candidates.len()).filter(is_set).collect()
    }

    fn value(&self, variable: VarId) -> Option<f64> {
        self.set.iter().rev().find(|(own, _)| *own == variable).map(|(_, value)| *value)
    }

    /// The values that the candidates are to have: those that were set, and those from before.
    fn targets(&self, set: &StateSet, before: &[f64]) -> Vec<f64> {
        let target = |(&candidate, &before)| self.value(candidate).unwrap_or(before);
        set.candidates.iter().zip(before).map(target).collect()
    }
}

/// Moves what is not wanted as little as possible from its target, so that the constraints hold, linearised at the values in
/// memory.
fn least_change(machine: &Machine, set: &StateSet, rows: &[Vec<f64>], wanted: &[usize], targets: &mut [f64]) {
    let free: Vec<usize> = (0..targets.len()).filter(|place| !wanted.contains(place)).collect();
    if free.is_empty() || rows.is_empty() {
        return;
    }
    let nominals: Vec<f64> = free.iter().map(|&place| machine.nominal(set.candidates[place])).collect();
    let off: Vec<f64> =
        set.candidates.iter().zip(&*targets).map(|(&candidate, target)| machine.value(candidate) - target).collect();
    let errors: Vec<f64> = rows.iter().map(|row| row.iter().zip(&off).map(|(slope, off)| slope * off).sum()).collect();
    let scaled: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| free.iter().zip(&nominals).map(|(&place, nominal)| row[place] * nominal).collect())
        .collect();
    let scaled: Vec<&[f64]> = scaled.iter().map(Vec::as_slice).collect();
    let mut steps = vec![0.0; free.len()];
    least_squares(&DenseMatrix::from_rows(&scaled), &errors, SINGULAR, &mut steps);
    for ((&place, step), nominal) in free.iter().zip(&steps).zip(&nominals) {
        targets[place] += step * nominal;
    }
}

/// Whether a variable is integrated now.
fn is_state(machine: &Machine, variable: VarId) -> bool {
    state_of(machine, variable).is_some()
}

/// The address of the state that a variable is, or that stands for it.
fn state_of(machine: &Machine, variable: VarId) -> Option<Address> {
    let program = &machine.program;
    // Where difference formulas stand for derivatives, what is set is the value that they begin with.
    let formula = program.schedule.difference.as_ref();
    if matches!(program.schedule.roles[variable], Role::State { .. } | Role::Input) || formula.is_some() {
        return Some(program.layout.slot(variable));
    }
    program.schedule.state_sets.iter().find_map(|set| {
        let place = set.candidates.iter().position(|&candidate| candidate == variable)?;
        let is_one = |row: &&Vec<VarId>| machine.value(row[place]) != 0.0;
        let (_, &state) = set.selection.iter().zip(&set.states).find(|(row, _)| is_one(row))?;
        Some(program.layout.slot(state))
    })
}

/// Goes back to values from before, except for those at some addresses.
fn restore(machine: &mut Machine, mut kept: Vec<f64>, except: impl Iterator<Item = Address>) {
    for address in except {
        kept[address as usize] = machine.memory.values[address as usize];
    }
    machine.memory.values = kept;
    machine.unsettle();
}
