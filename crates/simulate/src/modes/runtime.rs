//! One mode, ready to run: its program with memory, integrator and location of events.

use compile::{Class, Probe, Program, RelationId, RelationKind};
use dae::{ExprId, Model, VarId};
use rustc_hash::FxHashMap;
use solve::{Integrator, RootFinder};
use transform::Role;

use super::left::{Carried, Sizes};
use super::limits::{Reason, Scratch};
use super::origins::{Origins, Residues};
use super::restart::Restart;
use super::tangents::RestartTangents;
use crate::bands::Bands;
use crate::continuity::{Broken, Continuity};
use crate::events::{self, Names};
use crate::exchange;
use crate::idle::IdleCrossings;
use crate::machine::{Machine, Phase, Trouble};
use crate::signals::Signals;

/// What is needed to run one structure.
pub struct ModeRuntime {
    pub machine: Machine,
    pub integrator: Box<dyn Integrator>,
    pub roots: RootFinder,
    pub bands: Bands,
    pub idle: IdleCrossings,
    /// Crossing functions of time alone.
    pub signals: Signals,
    pub names: Names,
    /// Relations may be undefined although all variables are finite.
    pub has_partial_relations: bool,
    pub switch: Option<Switch>,
    /// Where it has what is carried between modes; made when it is first needed.
    pub carried: Option<Box<Carried>>,
    /// Its integrator has been at work.
    pub started: bool,
}

/// A copy shares the program and nothing else.
impl Clone for ModeRuntime {
    fn clone(&self) -> Self {
        let mut machine = self.machine.clone();
        machine.own_external_objects();
        Self {
            machine,
            integrator: self.integrator.clone(),
            roots: self.roots.clone(),
            bands: self.bands.clone(),
            idle: self.idle.clone(),
            signals: self.signals.clone(),
            names: self.names.clone(),
            has_partial_relations: self.has_partial_relations,
            switch: self.switch.clone(),
            carried: self.carried.clone(),
            started: self.started,
        }
    }
}

/// What a runtime has besides if it is one of several.
#[derive(Clone)]
pub struct Switch {
    pub restart: Restart,
    /// Comparisons between continuous values or on time, and the addresses of their states.
    pub relations: Vec<RelationId>,
    pub states: Vec<compile::Address>,
    /// Their residues.
    pub residues: Residues,
    /// What the residues, and then the constraints of the restart, are computed from.
    pub origins: Origins,
    /// The number that each of them has in all modes.
    pub shared: Vec<usize>,
    /// The Jacobian of each set of exchangeable states.
    pub sets: Vec<Probe>,
    /// What constraints determine of the variables that a restart sets.
    pub continuity: Continuity,
    /// The states of relations with which a jump was found.
    assumed: Vec<f64>,
    /// The tangents of the restart; made when they are first asked for.
    pub tangents: Option<Box<RestartTangents>>,
    pub scratch: Scratch,
}

/// The numbers of relations in all modes.
#[derive(Clone, Default)]
pub struct RelationNumbers {
    by_text: FxHashMap<String, usize>,
    /// By the sides of comparisons: expressions are the same in all modes.
    by_sides: FxHashMap<(ExprId, ExprId), usize>,
}

impl RelationNumbers {
    /// The number of a relation of a mode, a new one where it has none yet.
    fn number(&mut self, model: &Model, relation: &compile::Relation) -> usize {
        let RelationKind::Compare { left, right } = relation.kind else {
            return self.by_text(model, relation.residue);
        };
        if let Some(&number) = self.by_sides.get(&(left, right)) {
            return number;
        }
        let number = self.by_text(model, relation.residue);
        self.by_sides.insert((left, right), number);
        number
    }

    fn by_text(&mut self, model: &Model, residue: ExprId) -> usize {
        let next = self.by_text.len();
        *self.by_text.entry(model.expression_text(residue)).or_insert(next)
    }

    /// The number of what reads like this.
    pub fn find(&self, text: &str) -> Option<usize> {
        self.by_text.get(text).copied()
    }
}

impl Switch {
    pub fn new(machine: &mut Machine, numbers: &mut RelationNumbers, tolerance: f64) -> Result<Self, Trouble> {
        let program = &machine.program;
        let trouble = |diagnostic: Box<base::Diagnostic>| Trouble::Model(diagnostic);
        let chains = program.schedule.mode.as_ref().map(|mode| mode.chains.clone()).unwrap_or_default();
        let is_computed = |variable: &VarId| matches!(program.schedule.roles[*variable], Role::Algebraic);
        let below_highest = chains.columns.iter().flat_map(|chain| &chain[..chain.len().saturating_sub(1)]);
        let constrained = below_highest.copied().filter(is_computed).collect();
        let continuity = Continuity::new(machine, constrained, tolerance);
        let restart = Restart::new(program, chains, &mut machine.memory).map_err(trouble)?;
        let watched = |relation: &compile::Relation| {
            relation.class != Class::Discrete && matches!(relation.kind, RelationKind::Compare { .. })
        };
        let found: Vec<_> = program.layout.relations.iter().filter(|(_, relation)| watched(relation)).collect();
        let expressions: Vec<_> = found.iter().map(|(_, relation)| relation.residue).collect();
        let model = program.model();
        let shared = found.iter().map(|(_, relation)| numbers.number(model, relation)).collect();
        let residues = Residues::new(program, &expressions);
        let constraints = restart.constraints();
        let origins = Origins::new(program, restart.chains(), &[&expressions[..], &constraints].concat());
        let mut sets = Vec::new();
        for set in &program.schedule.state_sets {
            let value = |variable: &Option<VarId>| definition(program, (*variable)?);
            let entries: Vec<_> = set.jacobian.iter().flatten().filter_map(value).collect();
            sets.push(Probe::new(program, &entries, &mut machine.memory).map_err(|d| trouble(Box::new(d)))?);
        }
        let relations = found.iter().map(|(id, _)| *id).collect();
        let states = found.iter().map(|(_, relation)| relation.state).collect();
        Ok(Self {
            restart,
            relations,
            states,
            residues,
            origins,
            shared,
            sets,
            continuity,
            assumed: Vec::new(),
            tangents: None,
            scratch: Scratch::default(),
        })
    }
}

impl Switch {
    /// The relations at zero that leave it: their numbers and their states.
    pub fn at_zero<'a>(&'a self, machine: &'a Machine) -> impl Iterator<Item = (usize, f64)> + 'a {
        let state = |k: usize| {
            let relation = &machine.program.layout.relations[self.relations[k]];
            (self.shared[k], machine.memory.values[relation.state as usize])
        };
        let leaves = |k: &usize| self.scratch.reasons.get(*k) == Some(&Reason::Future);
        (0..self.relations.len()).filter(leaves).map(state)
    }
}

/// The expression that a variable is assigned.
fn definition(program: &Program, variable: VarId) -> Option<dae::ExprId> {
    program.schedule.blocks.iter().find_map(|block| match block {
        transform::Block::Assign { assignment, .. } if assignment.variable == variable => Some(assignment.value),
        _ => None,
    })
}

impl ModeRuntime {
    /// Makes what says where carried values lie; the model in which nothing is decided has so many variables.
    pub fn carried(&mut self, variables: usize) {
        let program = &self.machine.program;
        self.carried.get_or_insert_with(|| Box::new(Carried::new(program, variables)));
    }

    pub fn value(&self, variable: VarId) -> f64 {
        self.machine.value(variable)
    }

    /// Lets sets of exchangeable states take the best of their candidates, at the values in memory.
    pub fn choose_states(&mut self) {
        let Some(switch) = &self.switch else { return };
        let program = &self.machine.program.clone();
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
            if let Some(best) = set.prefer(&values, &[]) {
                let values = exchange::candidate_values(&self.machine, set);
                exchange::take(program, &mut self.machine, set, &best, &values);
            }
        }
    }

    /// Remembers what constraints determine.
    pub fn remember_constrained(&mut self) {
        if let Some(switch) = &mut self.switch {
            switch.continuity.remember(&self.machine.memory.values);
        }
    }

    /// Remembers what relations are, for a jump that was found with them.
    pub fn remember_relations(&mut self) {
        if let Some(switch) = &mut self.switch {
            let values = &self.machine.memory.values;
            switch.assumed.clear();
            switch.assumed.extend(switch.states.iter().map(|&state| values[state as usize]));
        }
    }

    /// Whether relations or discrete variables are not what they were when the jump was found.
    pub fn is_overtaken(&self) -> bool {
        let Some(switch) = &self.switch else { return false };
        let (machine, names) = (&self.machine, &self.names);
        let values = &machine.memory.values;
        let mut relations = switch.states.iter().zip(&switch.assumed);
        relations.any(|(&state, &assumed)| values[state as usize] != assumed)
            || machine.program.changed(&machine.memory).any(|slot| events::is_discrete(machine, names, slot))
    }

    /// What constraints determine and has jumped since it was remembered.
    pub fn broken(&mut self, sizes: &Sizes) -> Option<Broken> {
        let switch = self.switch.as_mut()?;
        let Machine { program, memory, .. } = &self.machine;
        switch.continuity.broken(&memory.values, |_| 0.0)?;
        switch.origins.note(program, memory, sizes, true);
        switch.continuity.broken(&memory.values, |variable| switch.origins.of(variable))
    }

    /// Goes back to values from before, except for those of continuous variables and of relations.
    pub fn keep_smooth(&mut self, mut before: Vec<f64>) {
        let values = &mut self.machine.memory.values;
        let states = self.switch.iter().flat_map(|switch| &switch.states).copied();
        let smooth = self.carried.iter().flat_map(|carried| carried.smooth_addresses());
        for address in smooth.chain(states) {
            before[address as usize] = values[address as usize];
        }
        *values = before;
        self.machine.unsettle();
    }

    /// Takes over the states of `floor` and the like, which no number tells apart in all modes.
    pub fn take_roundings(&mut self, other: &ModeRuntime) {
        let is_rounding = |relation: &&compile::Relation| !matches!(relation.kind, RelationKind::Compare { .. });
        let [own, others] = [&self.machine.program, &other.machine.program];
        let known: FxHashMap<String, f64> = (others.layout.relations.values().filter(is_rounding))
            .map(|relation| {
                let state = other.machine.memory.values[relation.state as usize];
                (others.model().expression_text(relation.expression), state)
            })
            .collect();
        if known.is_empty() {
            return;
        }
        for relation in own.layout.relations.values().filter(is_rounding) {
            if let Some(&state) = known.get(&own.model().expression_text(relation.expression)) {
                self.machine.memory.values[relation.state as usize] = state;
            }
        }
    }

    /// Evaluates everything at the instant in memory.
    pub fn run_events(&mut self, phase: Phase) -> Result<(), Trouble> {
        self.machine.run(|sections| &sections.events, phase)
    }

    /// The truth of the structural conditions, as it was found last.
    pub fn found_key(&self) -> transform::modes::Key {
        let mode = self.machine.program.schedule.mode.as_ref();
        let conditions = mode.map(|mode| mode.modes.conditions()).unwrap_or_default();
        conditions.iter().map(|condition| self.value(condition.monitor) != 0.0).collect()
    }

    /// Whether the conditions are what a mode says.
    pub fn agrees(&self, key: &[bool]) -> bool {
        let mode = self.machine.program.schedule.mode.as_ref();
        let conditions = mode.map(|mode| mode.modes.conditions()).unwrap_or_default();
        conditions.iter().zip(key).all(|(condition, &truth)| (self.value(condition.monitor) != 0.0) == truth)
    }

    pub fn key(&self) -> transform::modes::Key {
        self.machine.program.schedule.mode.as_ref().map(|mode| mode.key.clone()).unwrap_or_default()
    }
}
