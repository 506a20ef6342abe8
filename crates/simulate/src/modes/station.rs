//! One mode, ready to run: its program with memory, integrator and location of events; and the values that are carried
//! from one mode to another.

use base::Id;
use compile::{Class, Probe, Program, RelationId, RelationKind};
use dae::{VarId, VariableType};
use rustc_hash::FxHashMap;
use solve::{Integrator, RootFinder};

use super::restart::Restart;
use crate::bands::Bands;
use crate::clockwork::same_instant;
use crate::columns::root_of;
use crate::events::Names;
use crate::exchange;
use crate::machine::{Machine, Phase, Trouble};

/// What is needed to run one structure.
pub struct Station<'p> {
    pub machine: Machine<'p>,
    pub integrator: Box<dyn Integrator>,
    pub roots: RootFinder,
    pub bands: Bands,
    pub names: Names,
    pub switch: Option<Switch>,
}

/// What a station has besides if it is one of several.
pub struct Switch {
    pub restart: Restart,
    /// Relations between continuous values or on time, and their residues.
    pub relations: Vec<RelationId>,
    pub residues: Probe,
    /// The variables in each residue, and whether time is in it.
    pub parts: Vec<(Vec<VarId>, bool)>,
    /// The number that each of them has in all modes.
    pub shared: Vec<usize>,
    /// The variables that are derivatives, what of, and of which order.
    pub derivatives: Vec<(VarId, VarId, u32)>,
    /// The Jacobian of each set of exchangeable states.
    pub sets: Vec<Probe>,
}

/// The numbers of relations in all modes, by their text.
pub type RelationNumbers = FxHashMap<String, usize>;

impl Switch {
    pub fn new(machine: &mut Machine, numbers: &mut RelationNumbers) -> Result<Self, Trouble> {
        let program = machine.program;
        let trouble = |diagnostic: Box<base::Diagnostic>| Trouble::Model(diagnostic);
        let chains = program.schedule.mode.as_ref().map(|mode| mode.chains.clone()).unwrap_or_default();
        let restart = Restart::new(program, chains, &mut machine.memory).map_err(trouble)?;
        let watched = |relation: &compile::Relation| {
            relation.class != Class::Discrete && matches!(relation.kind, RelationKind::Compare { .. })
        };
        let found: Vec<_> = program.layout.relations.iter().filter(|(_, relation)| watched(relation)).collect();
        let expressions: Vec<_> = found.iter().map(|(_, relation)| relation.residue).collect();
        let residues = Probe::new(program, &expressions, &mut machine.memory).map_err(|d| trouble(Box::new(d)))?;
        let model = program.model();
        let shared = expressions
            .iter()
            .map(|&residue| {
                let next = numbers.len();
                *numbers.entry(model.expression_text(residue)).or_insert(next)
            })
            .collect();
        let derivatives = derivatives(model);
        let part = |&residue: &dae::ExprId| {
            let found = model.exprs.dependencies(&[residue]);
            (found.variables, found.time)
        };
        let parts = expressions.iter().map(part).collect();
        let mut sets = Vec::new();
        for set in &program.schedule.state_sets {
            let value = |variable: &Option<VarId>| definition(program, (*variable)?);
            let entries: Vec<_> = set.jacobian.iter().flatten().filter_map(value).collect();
            sets.push(Probe::new(program, &entries, &mut machine.memory).map_err(|d| trouble(Box::new(d)))?);
        }
        let relations = found.iter().map(|(id, _)| *id).collect();
        Ok(Self { restart, relations, residues, parts, shared, derivatives, sets })
    }
}

/// The variables that are derivatives, what of, and of which order.
fn derivatives(model: &dae::Model) -> Vec<(VarId, VarId, u32)> {
    let derived = model.variables.iter().filter(|(_, declared)| declared.derivative_of.is_some());
    derived
        .map(|(variable, _)| {
            let (root, order) = root_of(model, variable);
            (variable, root, order)
        })
        .collect()
}

/// The expression that a variable is assigned.
fn definition(program: &Program, variable: VarId) -> Option<dae::ExprId> {
    program.schedule.blocks.iter().find_map(|block| match block {
        transform::Block::Assign { assignment, .. } if assignment.variable == variable => Some(assignment.value),
        _ => None,
    })
}

/// All values at the left of an instant, in terms that hold in every mode.
#[derive(Clone, Debug, Default)]
pub struct Left {
    pub time: f64,
    /// The time to evaluate relations at: where one on time alone makes the event, just after it.
    pub after: f64,
    /// By the variables of the model in which nothing is decided.
    pub values: Vec<f64>,
    previous: FxHashMap<VarId, f64>,
    derivatives: FxHashMap<(VarId, u32), f64>,
    /// The numbers of the relations that made the event.
    pub triggers: Vec<usize>,
    /// The states of relations by their numbers.
    relations: Vec<Option<f64>>,
    /// Start, interval and flag of samples.
    samples: Vec<[f64; 3]>,
    delays: Vec<compile::History>,
}

impl Left {
    pub fn of(station: &Station, variables: usize) -> Self {
        let program = station.machine.program;
        let memory = &station.machine.memory;
        let ids = || program.model().variables.ids().take(variables);
        let values = ids().map(|variable| program.value(memory, variable)).collect();
        let previous = ids().filter_map(|variable| {
            let place = program.layout.previous(program.layout.slot(variable))?;
            Some((variable, memory.values[place as usize]))
        });
        let sample = |sample: &compile::Sample| {
            [sample.start_value, sample.interval_value, sample.flag].map(|address| memory.values[address as usize])
        };
        let mut left = Self {
            time: memory.time(),
            after: memory.time(),
            values,
            previous: previous.collect(),
            samples: program.layout.samples.iter().map(sample).collect(),
            delays: memory.delays.clone(),
            ..Self::default()
        };
        let found;
        let derivatives = match &station.switch {
            Some(switch) => &switch.derivatives,
            None => {
                found = derivatives(program.model());
                &found
            }
        };
        let value = |&(variable, root, order): &(VarId, VarId, u32)| ((root, order), program.value(memory, variable));
        left.derivatives = derivatives.iter().map(value).collect();
        left.remember_relations(station);
        left
    }

    /// Takes over the states of relations only.
    pub fn remember_relations(&mut self, station: &Station) {
        let Some(switch) = &station.switch else { return };
        for (&relation, &number) in switch.relations.iter().zip(&switch.shared) {
            if self.relations.len() <= number {
                self.relations.resize(number + 1, None);
            }
            let state = station.machine.program.layout.relations[relation].state;
            self.relations[number] = Some(station.machine.memory.values[state as usize]);
        }
    }

    pub fn relation(&self, number: usize) -> Option<f64> {
        self.relations.get(number).copied().flatten()
    }

    /// Puts the values into the memory of a station, as present values and as left limits.
    pub fn put(&self, station: &mut Station) {
        let program = station.machine.program;
        let memory = &mut station.machine.memory;
        let model = program.model();
        memory.set_time(self.time);
        for (variable, &value) in model.variables.ids().zip(&self.values) {
            let is_number = !matches!(
                model.variables[variable].ty,
                VariableType::String | VariableType::Object | VariableType::Clock
            );
            if is_number && !program.layout.place(variable).negated {
                program.set_value(memory, variable, value);
            }
        }
        for (&variable, &value) in &self.previous {
            if let Some(place) = program.layout.previous(program.layout.slot(variable)) {
                memory.values[place as usize] = value;
            }
        }
        if let Some(switch) = &station.switch {
            for &(variable, root, order) in &switch.derivatives {
                if let Some(&value) = self.derivatives.get(&(root, order)) {
                    program.set_value(memory, variable, value);
                }
            }
            for (&relation, &number) in switch.relations.iter().zip(&switch.shared) {
                if let Some(state) = self.relation(number) {
                    memory.values[program.layout.relations[relation].state as usize] = state;
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
}

impl Station<'_> {
    pub fn value(&self, variable: VarId) -> f64 {
        self.machine.value(variable)
    }

    /// Lets sets of exchangeable states take the best of their candidates, at the values in memory.
    pub fn choose_states(&mut self) {
        let Some(switch) = &self.switch else { return };
        let program = self.machine.program;
        let mut found = Vec::new();
        for (set, probe) in program.schedule.state_sets.iter().zip(&switch.sets) {
            probe.run(program, &mut self.machine.memory, &mut found);
            let mut next = found.iter();
            let values: Vec<f64> = set
                .jacobian
                .iter()
                .flatten()
                .map(|entry| entry.and_then(|_| next.next().copied()).unwrap_or(0.0))
                .collect();
            if let Some(best) = set.choose(&values) {
                exchange::take(program, &mut self.machine, set, &best);
            }
        }
    }

    /// Evaluates everything at the instant in memory.
    pub fn run_events(&mut self, phase: Phase) -> Result<(), Trouble> {
        let program = self.machine.program;
        self.machine.run(&program.sections.events, phase)
    }

    /// The truth of the structural conditions, as it was found last.
    pub fn found_key(&self) -> transform::modes::Key {
        let mode = self.machine.program.schedule.mode.as_ref();
        let conditions = mode.map(|mode| mode.modes.conditions()).unwrap_or_default();
        conditions.iter().map(|condition| self.value(condition.monitor) != 0.0).collect()
    }

    pub fn key(&self) -> transform::modes::Key {
        self.machine.program.schedule.mode.as_ref().map(|mode| mode.key.clone()).unwrap_or_default()
    }

    /// The magnitudes that variables have had so far.
    pub fn note_sizes(&self, sizes: &mut [f64]) {
        let program = self.machine.program;
        for (index, size) in sizes.iter_mut().enumerate() {
            let value = program.value(&self.machine.memory, VarId::from_index(index)).abs();
            if value.is_finite() {
                *size = size.max(value);
            }
        }
    }
}
