//! The values at the left of an instant, in terms that hold in every mode, and where a mode has them in its memory.

use base::Id;
use compile::{Memory, Program};
use dae::{VarId, VariableType};
use rustc_hash::FxHashMap;
use transform::Role;

use super::runtime::{ModeRuntime, RelationNumbers};
use crate::clockwork::same_instant;
use crate::columns::root_of;

/// A derivative in terms of all modes: what of, and of which order.
pub type Derivative = (VarId, u32);

/// Where what is carried from one mode to another lies in the memory of one of them.
#[derive(Clone)]
pub struct Carried {
    /// By the variables of the model in which nothing is decided.
    values: Vec<SignedAddress>,
    /// Those of them that change during the run: what is read as it is, with its address, and the others.
    plain: Vec<(u32, u32)>,
    turned: Vec<u32>,
    /// The variables that are put into memory, and where; those that change come first.
    puts: Vec<(u32, u32)>,
    moving_puts: usize,
    /// Those of them that are no discrete variables.
    smooth_puts: Vec<(u32, u32)>,
    /// The variables that only events change.
    discrete: Vec<u32>,
    /// The others have been put there.
    complete: bool,
    previous: Vec<(VarId, u32)>,
    /// In the order of the first part.
    derivatives: Vec<(Derivative, SignedAddress)>,
}

/// An address, and how the number there is read.
#[derive(Clone, Copy, Debug)]
struct SignedAddress {
    address: u32,
    reading: Reading,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reading {
    Plain,
    Negative,
    Negation,
}

impl SignedAddress {
    fn of(program: &Program, variable: VarId) -> Self {
        let place = program.layout.place(variable);
        let reading = match (place.negated, program.model().variables[variable].ty) {
            (false, _) => Reading::Plain,
            (true, VariableType::Boolean) => Reading::Negation,
            (true, _) => Reading::Negative,
        };
        Self { address: place.slot, reading }
    }

    /// Reading twice is not reading at all, so that this serves for writing, too.
    fn read(self, value: f64) -> f64 {
        match self.reading {
            Reading::Plain => value,
            Reading::Negative => -value,
            Reading::Negation => f64::from(u8::from(value == 0.0)),
        }
    }

    /// Reads or writes a tangent.
    fn tangent(self, tangent: f64) -> f64 {
        match self.reading {
            Reading::Plain => tangent,
            Reading::Negative => -tangent,
            Reading::Negation => 0.0,
        }
    }

    fn get(self, memory: &Memory) -> f64 {
        self.read(memory.values[self.address as usize])
    }

    fn set(self, memory: &mut Memory, value: f64) {
        memory.values[self.address as usize] = self.read(value);
    }
}

/// The tangents of what is carried.
#[derive(Clone, Debug, Default)]
pub struct CarriedTangents {
    /// By the variables of the model in which nothing is decided.
    values: Vec<f64>,
    /// In the order of the first part.
    derivatives: Vec<(Derivative, f64)>,
}

impl Carried {
    pub fn new(program: &Program, variables: usize) -> Self {
        let model = program.model();
        let ids = || model.variables.ids().take(variables);
        let is_number = |variable: &VarId| {
            let ty = &model.variables[*variable].ty;
            !matches!(ty, VariableType::String | VariableType::Object | VariableType::Clock)
        };
        let put = |variable: VarId| {
            let place = SignedAddress::of(program, variable);
            (place.reading == Reading::Plain).then_some((variable.index() as u32, place.address))
        };
        let previous = |variable: VarId| Some((variable, program.layout.previous(program.layout.slot(variable))?));
        // Derivatives that other modes have are constants.
        let is_in_use = |variable: VarId| !matches!(program.schedule.roles[variable], Role::Constant);
        let mut derivatives: Vec<(Derivative, SignedAddress)> = (model.variables.iter())
            .filter(|(variable, declared)| declared.derivative_of.is_some() && is_in_use(*variable))
            .map(|(variable, _)| (root_of(model, variable), SignedAddress::of(program, variable)))
            .collect();
        derivatives.sort_by_key(|&(derivative, _)| derivative);
        let role = |variable: &VarId| {
            let mut variable = *variable;
            while let Role::Alias { of, .. } = program.schedule.roles[variable] {
                variable = of;
            }
            program.schedule.roles[variable]
        };
        let moves = |variable: &VarId| !matches!(role(variable), Role::Constant | Role::Parameter);
        let is_discrete = |variable: &VarId| {
            model.variables[*variable].ty != VariableType::Real || matches!(role(variable), Role::Discrete)
        };
        let is_plain = |variable: &VarId| SignedAddress::of(program, *variable).reading == Reading::Plain;
        let (plain, turned): (Vec<VarId>, Vec<VarId>) = ids().filter(moves).partition(is_plain);
        // What has several names is put once.
        let is_own = |variable: &VarId| !matches!(program.schedule.roles[*variable], Role::Alias { .. });
        let (mut puts, resting): (Vec<VarId>, Vec<VarId>) = ids().filter(is_number).filter(is_own).partition(moves);
        let moving_puts = puts.iter().filter_map(|&variable| put(variable)).count();
        let smooth_puts = puts.iter().copied().filter(|variable| !is_discrete(variable)).filter_map(put).collect();
        puts.extend(resting);
        Self {
            values: ids().map(|variable| SignedAddress::of(program, variable)).collect(),
            plain: plain.into_iter().filter_map(put).collect(),
            turned: turned.into_iter().map(|variable| variable.index() as u32).collect(),
            puts: puts.into_iter().filter_map(put).collect(),
            moving_puts,
            smooth_puts,
            discrete: ids().filter(|v| moves(v) && is_discrete(v)).map(|v| v.index() as u32).collect(),
            complete: false,
            previous: ids().filter_map(previous).collect(),
            derivatives,
        }
    }

    /// The tangents of all values, from those by address.
    pub fn tangents(&self, at: impl Fn(u32) -> f64) -> CarriedTangents {
        let tangent = |place: &SignedAddress| place.tangent(at(place.address));
        CarriedTangents {
            values: self.values.iter().map(tangent).collect(),
            derivatives: self.derivatives.iter().map(|(derivative, place)| (*derivative, tangent(place))).collect(),
        }
    }

    /// Hands out tangents by address: those of variables that change during a run, and of their derivatives.
    pub fn put_tangents(&self, from: &CarriedTangents, mut put: impl FnMut(u32, f64)) {
        for &(variable, address) in &self.puts[..self.moving_puts] {
            put(address, from.values[variable as usize]);
        }
        let mut known = from.derivatives.iter().peekable();
        for &(derivative, place) in &self.derivatives {
            while known.next_if(|(other, _)| *other < derivative).is_some() {}
            if let Some(&(_, tangent)) = known.next_if(|(other, _)| *other == derivative) {
                put(place.address, place.tangent(tangent));
            }
        }
    }

    /// Takes the tangents of discrete variables over.
    pub fn take_discrete(&self, to: &mut CarriedTangents, from: &CarriedTangents) {
        self.discrete.iter().for_each(|&variable| to.values[variable as usize] = from.values[variable as usize]);
    }

    /// Where continuous variables and their derivatives are.
    pub fn smooth_addresses(&self) -> impl Iterator<Item = u32> + '_ {
        let variables = self.smooth_puts.iter().map(|&(_, address)| address);
        variables.chain(self.derivatives.iter().map(|(_, place)| place.address))
    }

    /// The values of all derivatives, in an order that is the same in all modes.
    pub fn derivatives<'a>(&'a self, memory: &'a Memory) -> impl Iterator<Item = (Derivative, f64)> + 'a {
        self.derivatives.iter().map(|&(derivative, place)| (derivative, place.get(memory)))
    }
}

/// The magnitudes that variables have had so far.
#[derive(Clone, Debug)]
pub struct Sizes {
    values: Vec<f64>,
    pub largest: f64,
}

impl Sizes {
    pub fn new(variables: usize) -> Self {
        Self { values: vec![0.0; variables], largest: 0.0 }
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn of(&self, variable: VarId) -> f64 {
        self.values.get(variable.index()).copied().unwrap_or(0.0)
    }

    /// Takes note of the values of a runtime.
    pub fn note(&mut self, runtime: &mut ModeRuntime) {
        runtime.carried(self.values.len());
        let Some(carried) = &runtime.carried else { return };
        let memory = &runtime.machine.memory;
        for &(variable, address) in &carried.plain {
            self.grow(variable, memory.values[address as usize].abs());
        }
        for &variable in &carried.turned {
            self.grow(variable, carried.values[variable as usize].get(memory).abs());
        }
    }

    fn grow(&mut self, variable: u32, value: f64) {
        let size = &mut self.values[variable as usize];
        if value > *size && value.is_finite() {
            *size = value;
            self.largest = self.largest.max(value);
        }
    }
}

/// All values at the left of an instant.
#[derive(Clone, Debug, Default)]
pub struct Left {
    pub time: f64,
    /// The time to evaluate relations at: where one on time alone makes the event, just after it.
    pub after: f64,
    /// Time ends here: relations on time are what they are at the instant, and have no right limits.
    pub is_end: bool,
    /// Up to this time jumps of inputs are passed.
    passed: f64,
    /// By the variables of the model in which nothing is decided.
    pub values: Vec<f64>,
    previous: Vec<(VarId, f64)>,
    derivatives: Vec<(Derivative, f64)>,
    /// The numbers of the relations that made the event, and what they became.
    pub triggers: Vec<(usize, f64)>,
    /// The same for all of the instant, also when modes have followed each other in it.
    pub crossed: Vec<(usize, f64)>,
    /// What keeps its value where states were set: they explain all other jumps.
    kept: Vec<Derivative>,
    /// The states of relations by their numbers: as they became where they made the event, and before that.
    relations: Vec<Option<f64>>,
    before: Vec<Option<f64>>,
    /// The states of all relations of a structure for all modes, in its own order.
    unnumbered: Vec<f64>,
    /// Start, interval and flag of samples.
    samples: Vec<[f64; 3]>,
    delays: Vec<compile::History>,
}

impl Left {
    pub fn of(runtime: &mut ModeRuntime, variables: usize) -> Self {
        let mut left = Self::default();
        left.take(runtime, variables);
        left
    }

    /// Takes the values of a runtime, and nothing that was there before.
    pub fn take(&mut self, runtime: &mut ModeRuntime, variables: usize) {
        runtime.carried(variables);
        let Some(carried) = &runtime.carried else { return };
        let memory = &runtime.machine.memory;
        (self.time, self.after) = (memory.time(), memory.time());
        self.is_end = false;
        self.passed = memory.driven.passed();
        if self.values.len() == carried.values.len() {
            for &(variable, address) in &carried.plain {
                self.values[variable as usize] = memory.values[address as usize];
            }
            for &variable in &carried.turned {
                self.values[variable as usize] = carried.values[variable as usize].get(memory);
            }
        } else {
            self.values.clear();
            self.values.extend(carried.values.iter().map(|place| place.get(memory)));
        }
        let previous = |&(variable, address): &(VarId, u32)| (variable, memory.values[address as usize]);
        self.previous.clear();
        self.previous.extend(carried.previous.iter().map(previous));
        self.derivatives.clear();
        self.derivatives.extend(carried.derivatives(memory));
        let sample = |sample: &compile::Sample| {
            [sample.start_value, sample.interval_value, sample.flag].map(|address| memory.values[address as usize])
        };
        self.samples.clear();
        self.samples.extend(runtime.machine.program.layout.samples.iter().map(sample));
        self.delays.clone_from(&memory.delays);
        self.triggers.clear();
        self.kept.clear();
        self.relations.clear();
        self.unnumbered.clear();
        if runtime.switch.is_none() {
            let relations = runtime.machine.program.layout.relations.values();
            self.unnumbered.extend(relations.map(|relation| memory.values[relation.state as usize]));
        }
        self.remember_relations(runtime);
        self.before.clone_from(&self.relations);
    }

    /// Takes the discrete values of a runtime; what is continuous and the relations stay as they were at the left.
    pub fn take_discrete(&mut self, runtime: &mut ModeRuntime) {
        runtime.carried(self.values.len());
        let Some(carried) = &runtime.carried else { return };
        let memory = &runtime.machine.memory;
        for &variable in &carried.discrete {
            self.values[variable as usize] = carried.values[variable as usize].get(memory);
        }
        self.previous.clear();
        self.previous.extend(carried.previous.iter().map(|&(variable, at)| (variable, memory.values[at as usize])));
    }

    /// Takes over the states of relations only.
    pub fn remember_relations(&mut self, runtime: &ModeRuntime) {
        let Some(switch) = &runtime.switch else { return };
        let end = switch.shared.iter().max().map_or(0, |number| number + 1);
        if self.relations.len() < end {
            self.relations.resize(end, None);
        }
        for (&state, &number) in switch.states.iter().zip(&switch.shared) {
            self.relations[number] = Some(runtime.machine.memory.values[state as usize]);
        }
    }

    /// Gives the relations of a structure for all modes the numbers that they have in the modes.
    pub fn number_relations(&mut self, program: &Program, numbers: &RelationNumbers) {
        for (relation, &state) in program.layout.relations.values().zip(&self.unnumbered) {
            let Some(number) = numbers.find(&program.model().expression_text(relation.residue)) else { continue };
            if self.relations.len() <= number {
                self.relations.resize(number + 1, None);
            }
            self.relations[number] = Some(state);
        }
    }

    /// Conditions of when clauses were before what they are in a runtime now.
    pub fn keep_conditions(&mut self, runtime: &ModeRuntime) {
        let model = runtime.machine.program.model();
        for equation in model.equations.values() {
            let dae::EquationRole::When(clause) = &equation.role else { continue };
            for &condition in &clause.conditions {
                if let Some(value) = self.values.get_mut(condition.index()) {
                    *value = runtime.value(condition);
                }
            }
        }
    }

    /// The state of a relation before the event.
    pub fn relation_before(&self, number: usize) -> Option<f64> {
        self.before.get(number).copied().flatten()
    }

    pub fn relation(&self, number: usize) -> Option<f64> {
        self.relations.get(number).copied().flatten()
    }

    /// The values were taken after states of a runtime had been set. These stay; and where its mode does, so does what
    /// follows from them.
    pub fn keep_states(&mut self, runtime: &ModeRuntime, stays: bool) {
        let program = &runtime.machine.program;
        let states = program.states.iter().map(|state| state.variable);
        let tied = runtime.switch.iter().filter(|_| stays).flat_map(|switch| switch.continuity.variables());
        let kept = states.chain(tied.copied()).map(|variable| root_of(program.model(), variable));
        self.kept.clear();
        self.kept.extend(kept);
    }

    /// Whether the values follow from states that were set.
    pub fn follows_reinit(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Whether a runtime, evaluated without a jump, has the values of the states that were set or stayed.
    pub fn is_kept(&self, runtime: &ModeRuntime, sizes: &Sizes) -> bool {
        const SAME: f64 = 1e-7;
        let is_near = |one: f64, other: f64, size: f64| (one - other).abs() <= SAME * size.max(one.abs());
        let derivatives: FxHashMap<Derivative, f64> =
            runtime.carried.iter().flat_map(|carried| carried.derivatives(&runtime.machine.memory)).collect();
        self.kept.iter().all(|kept| match kept {
            &(variable, 0) => {
                let Some(&value) = self.values.get(variable.index()) else { return false };
                is_near(value, runtime.value(variable), sizes.of(variable))
            }
            _ => {
                let before = self.derivatives.iter().find(|(known, _)| known == kept);
                match (before, derivatives.get(kept)) {
                    (Some(&(_, before)), Some(&now)) => is_near(before, now, before.abs()),
                    _ => false,
                }
            }
        })
    }

    /// Puts the values into the memory of a runtime, as present values and as left limits.
    pub fn put(&self, runtime: &mut ModeRuntime) {
        let program = &runtime.machine.program.clone();
        runtime.carried(self.values.len());
        let Some(carried) = &mut runtime.carried else { return };
        let memory = &mut runtime.machine.memory;
        memory.driven.pass(self.passed);
        memory.set_time(self.time);
        let count = if carried.complete { carried.moving_puts } else { carried.puts.len() };
        carried.complete = true;
        for &(variable, address) in &carried.puts[..count] {
            memory.values[address as usize] = self.values[variable as usize];
        }
        self.put_previous(carried, memory);
        self.put_derivatives(carried, memory);
        if let Some(switch) = &runtime.switch {
            for (&state, &number) in switch.states.iter().zip(&switch.shared) {
                if let Some(value) = self.relation(number) {
                    memory.values[state as usize] = value;
                }
            }
        }
        for sample in &program.layout.samples {
            let same = |known: &&[f64; 3]| {
                same_instant(known[0], memory.values[sample.start_value as usize])
                    && same_instant(known[1], memory.values[sample.interval_value as usize])
            };
            if let Some(known) = self.samples.iter().find(same) {
                memory.values[sample.flag as usize] = known[2];
            }
        }
        if self.delays.len() == memory.delays.len() {
            memory.delays.clone_from(&self.delays);
        }
        program.save_pre(memory);
    }

    /// Puts the values that are continuous into memory once more; discrete variables and relations stay what they have
    /// become.
    pub fn put_smooth(&self, runtime: &mut ModeRuntime) {
        runtime.carried(self.values.len());
        let Some(carried) = &runtime.carried else { return };
        let memory = &mut runtime.machine.memory;
        memory.driven.pass(self.passed);
        memory.set_time(self.time);
        for &(variable, address) in &carried.smooth_puts {
            memory.values[address as usize] = self.values[variable as usize];
        }
        self.put_derivatives(carried, memory);
        runtime.machine.unsettle();
    }

    fn put_previous(&self, carried: &Carried, memory: &mut Memory) {
        // Both are in the order of the variables.
        let mut known = self.previous.iter().peekable();
        for &(variable, address) in &carried.previous {
            while known.next_if(|(other, _)| *other < variable).is_some() {}
            if let Some(&(_, value)) = known.next_if(|(other, _)| *other == variable) {
                memory.values[address as usize] = value;
            }
        }
    }

    fn put_derivatives(&self, carried: &Carried, memory: &mut Memory) {
        let mut known = self.derivatives.iter().peekable();
        for &(derivative, place) in &carried.derivatives {
            while known.next_if(|(other, _)| *other < derivative).is_some() {}
            if let Some(&(_, value)) = known.next_if(|(other, _)| *other == derivative) {
                place.set(memory, value);
            }
        }
    }
}
