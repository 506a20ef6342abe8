//! Events that leave the mode as it is: most of those of a source or a control, and crossings that nothing follows from.
//!
//! No equation changes, so that neither the values on the left have to be taken nor the mode tried: the relations that make
//! the event take their new states, discrete variables follow, and what is left is to see that every other relation is
//! still what it was and that nothing jumped that constraints determine. Where a relation is not, or is at zero, or a
//! condition changes, or a signal inside a constraint jumped, the instant has to be gone through as a whole.

use compile::{RelationKind, Side};
use transform::modes::Key;

use super::instant::Instant;
use super::limits;
use crate::events::Aftermath;
use crate::machine::Phase;

/// Discrete variables that follow each other in more steps are left to the whole way.
const MOST_ITERATIONS: u32 = 8;

/// What came of it.
pub enum Outcome {
    Passed(Aftermath),
    /// The relations that make the event ask for this mode.
    Leaves(Key),
    Open,
}

impl Instant<'_> {
    /// Goes through the instant in the mode that is in use, where that is all there is to it. Otherwise nothing has happened.
    pub(super) fn pass_quietly(&mut self) -> Outcome {
        if !self.can_be_quiet() {
            return Outcome::Open;
        }
        let mut before = std::mem::take(&mut self.switching.scratch.before);
        before.clone_from(&self.runtime.machine.memory.values);
        self.runtime.remember_constrained();
        let mut outcome = self.follow_relations(false);
        if matches!(outcome, Outcome::Passed(_)) && (self.is_broken() || !self.relations_hold()) {
            outcome = Outcome::Open;
        }
        let passed = matches!(outcome, Outcome::Passed(_));
        if !passed || self.log.is_active() {
            self.runtime.machine.memory.values.clone_from(&before);
        }
        self.switching.scratch.before = before;
        if passed {
            if self.log.is_active() {
                self.follow_relations(true);
            }
            self.widen_bands();
        }
        outcome
    }

    fn can_be_quiet(&self) -> bool {
        // Tangents go the whole way.
        if self.runtime.machine.sensitivities.is_some() {
            return false;
        }
        let program = &self.runtime.machine.program;
        let compares = |root: &compile::Root| {
            let relation = &program.layout.relations[root.relation];
            matches!(relation.kind, RelationKind::Compare { .. })
        };
        let is_comparison = |crossing: &solve::roots::Crossing| compares(&program.roots[crossing.function]);
        program.sections.actions.is_empty() && self.crossings.iter().all(is_comparison)
    }

    /// Sets the relations whose residues have no errors: those between discrete values, and those on time, as right limits.
    fn update_exact_relations(&mut self) {
        let program = &self.runtime.machine.program.clone();
        let memory = &mut self.runtime.machine.memory;
        if self.timed {
            memory.set_time(self.clockwork.just_after(self.time));
        }
        program.update_exact_relations(memory);
        memory.set_time(self.time);
    }

    /// Lets discrete variables follow the relations that make the event until they come to rest or ask for another mode.
    fn follow_relations(&mut self, told: bool) -> Outcome {
        let program = &self.runtime.machine.program.clone();
        self.runtime.bands.enter(&mut self.runtime.machine.memory, program, self.crossings);
        for iteration in 1..=MOST_ITERATIONS {
            self.update_exact_relations();
            if self.runtime.run_events(Phase::Decided).is_err() {
                return Outcome::Open;
            }
            if !self.is_in_its_mode() {
                let first = iteration == 1 && !self.timed;
                return if first { Outcome::Leaves(self.runtime.found_key()) } else { Outcome::Open };
            }
            let changed = if told { self.tell_changes(iteration) } else { self.has_changes() };
            program.save_pre(&mut self.runtime.machine.memory);
            if !changed {
                return Outcome::Passed(Aftermath { iterations: iteration, terminated: None });
            }
        }
        Outcome::Open
    }

    /// Whether the conditions are those of the mode in use.
    pub(super) fn is_in_its_mode(&self) -> bool {
        let mode = self.runtime.machine.program.schedule.mode.as_ref();
        mode.is_some_and(|mode| self.runtime.agrees(&mode.key))
    }

    /// Whether all relations on continuous values are what their residues say, and none of them is at zero but those that
    /// make the event.
    fn relations_hold(&mut self) -> bool {
        let machine = &mut self.runtime.machine;
        let program = &machine.program;
        let mut residues = std::mem::take(&mut self.switching.scratch.residues);
        residues.resize(program.roots.len(), 0.0);
        program.crossings(&mut machine.memory, &mut residues);
        let zero = limits::ZERO * self.switching.sizes.largest.max(1e-4 * self.time.abs()).max(1e-6);
        let holds = |(function, (root, &residue)): (usize, (&compile::Root, &f64))| {
            let state = machine.memory.values[program.layout.relations[root.relation].state as usize];
            let state = match root.side {
                Side::Residue => state,
                Side::Lower => 1.0,
                Side::Upper => -1.0,
            };
            let agrees = residue * state > 0.0;
            let triggers = || self.crossings.iter().any(|crossing| crossing.function == function);
            // What cannot be evaluated stands in a branch that is not active.
            residue.is_nan() || if residue.abs() > zero { agrees } else { state != 0.0 && triggers() }
        };
        let all = program.roots.iter().zip(&residues).enumerate().all(holds);
        self.switching.scratch.residues = residues;
        all
    }

    /// The relations that made the event keep their states until their residues are clearly away from zero.
    fn widen_bands(&mut self) {
        let program = &self.runtime.machine.program.clone();
        self.runtime.bands.narrow();
        for crossing in self.crossings {
            let relation = program.roots[crossing.function].relation;
            let scale = limits::residue_scale(self.runtime, &self.switching.sizes, relation);
            let residue = self.switching.scratch.residues[crossing.function].abs();
            self.runtime.bands.widen(program, relation, (4.0 * residue).max(2.0 * limits::ZERO * scale));
        }
    }
}
