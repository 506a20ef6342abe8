//! One event of a run with several modes: which mode holds after it, iterated until no discrete variable changes.

use std::sync::Arc;

use base::Diagnostic;
use compile::Program;

use super::{Left, ModeRuntime, Switching, quiet};
use crate::clockwork::Clockwork;
use crate::event_log::{Entry, Journal};
use crate::events::{self, Aftermath};
use crate::machine::{Phase, Trouble};
use crate::reinit::Reinit;
use crate::sensitivities::Sensitivities;
use solve::roots::Crossing;

/// Modes that follow each other within one instant before it counts as one without end.
const MOST_ITERATIONS: u32 = 100;

/// What an event has to work with. The runtime in use stands at the left limits, which are saved as such.
pub struct Instant<'r> {
    pub switching: &'r mut Switching,
    pub runtime: &'r mut Box<ModeRuntime>,
    pub clockwork: &'r mut Clockwork,
    pub log: &'r mut Journal,
    pub time: f64,
    /// A relation on time alone changes here.
    pub timed: bool,
    pub crossings: &'r [Crossing],
    pub last_step: f64,
    /// The impulses of the variables that are reported, added up over the instant.
    pub impulses: &'r mut [(dae::VarId, f64)],
}

impl Instant<'_> {
    pub fn pass(&mut self) -> Result<Aftermath, Trouble> {
        let mut left = std::mem::take(&mut self.switching.scratch.left);
        let outcome = self.pass_from(&mut left);
        self.switching.scratch.left = left;
        outcome
    }

    fn pass_from(&mut self, left: &mut Left) -> Result<Aftermath, Trouble> {
        self.switching.note_sizes_at_times(self.runtime);
        let due = self.clockwork.raise(&self.program(), &mut self.runtime.machine.memory, self.time);
        let quiet = if due { quiet::Outcome::Open } else { self.pass_quietly() };
        if let quiet::Outcome::Passed(aftermath) = quiet {
            return Ok(aftermath);
        }
        self.take_left(left);
        let first = match quiet {
            quiet::Outcome::Leaves(key) => {
                let program = &self.program();
                self.runtime.bands.enter(&mut self.runtime.machine.memory, program, self.crossings);
                key
            }
            _ => self.first_candidate(due),
        };
        left.remember_relations(self.runtime);
        self.find_triggers(left);
        let mut aftermath = self.iterate(left, first)?;
        if due {
            // What reads the flags of samples has to see that they fell.
            Clockwork::lower(&self.program(), &mut self.runtime.machine.memory);
            self.take_left(left);
            self.runtime.run_events(Phase::Decided)?;
            let first = self.runtime.found_key();
            let rest = self.iterate(left, first)?;
            aftermath.terminated = aftermath.terminated.or(rest.terminated);
        }
        Ok(aftermath)
    }

    /// The start of a run, from values that were there before.
    pub fn begin(&mut self, mut left: Left) -> Result<Aftermath, Trouble> {
        let due = self.clockwork.raise(&self.program(), &mut self.runtime.machine.memory, self.time);
        let first = self.switching.first(self.runtime);
        // What is true from the beginning has not become true: when clauses do not see an edge.
        let tangents = self.runtime.machine.sensitivities.take();
        self.switching.choose(self.runtime, &left, first, self.last_step)?;
        self.runtime.machine.sensitivities = tangents;
        left.keep_conditions(self.runtime);
        let first = self.runtime.key();
        let aftermath = self.iterate(&mut left, first)?;
        if due {
            Clockwork::lower(&self.program(), &mut self.runtime.machine.memory);
        }
        Ok(aftermath)
    }

    /// The start of a run at a point that was found. The initial iteration takes relations as they are at that point, the mode
    /// takes them as they are just behind it: discrete variables that follow them go on.
    pub fn go_on(&mut self) -> Result<Aftermath, Trouble> {
        if !self.tell_changes(1) {
            return Ok(Aftermath::default());
        }
        self.runtime.machine.save_pre();
        let mut left = Left::of(self.runtime, self.switching.variables());
        self.with_tangents(Sensitivities::note_start);
        let first = self.runtime.found_key();
        self.iterate(&mut left, first)
    }

    fn program(&self) -> Arc<Program> {
        self.runtime.machine.program.clone()
    }

    /// Takes the values in use, as those at the left of what comes next.
    fn take_left(&mut self, left: &mut Left) {
        left.take(self.runtime, self.switching.variables());
        if self.timed {
            left.after = self.clockwork.just_after(self.time);
            left.is_end = left.after == left.time;
        }
    }

    /// The mode that the relations ask for as they are where they made the event.
    fn first_candidate(&mut self, due: bool) -> transform::modes::Key {
        let program = &self.program();
        let present = self.runtime.key();
        if self.timed {
            self.runtime.machine.memory.set_time(self.clockwork.just_after(self.time));
        }
        // Where a crossing alone makes the event, nothing else has changed.
        let inputs_jump = self.runtime.machine.memory.driven.has_jumped(self.time);
        let alone = !self.timed && !due && !inputs_jump && !self.crossings.is_empty();
        let mut outcome = if alone { Ok(()) } else { self.runtime.run_events(Phase::Live) };
        if !self.crossings.is_empty() {
            self.runtime.bands.enter(&mut self.runtime.machine.memory, program, self.crossings);
            outcome = outcome.and(self.runtime.run_events(Phase::Decided));
        }
        self.runtime.machine.memory.set_time(self.time);
        if outcome.is_ok() { self.runtime.found_key() } else { present }
    }

    /// The relations that made the event, and what they became.
    fn find_triggers(&self, left: &mut Left) {
        left.crossed.clear();
        let Some(switch) = &self.runtime.switch else { return };
        let roots = &self.program().roots;
        for crossing in self.crossings {
            let relation = roots[crossing.function].relation;
            let number = switch.relations.iter().position(|&known| known == relation).map(|place| switch.shared[place]);
            let trigger = number.and_then(|number| Some((number, left.relation(number)?)));
            left.triggers.extend(trigger);
        }
        left.crossed.clone_from(&left.triggers);
    }

    fn iterate(&mut self, left: &mut Left, mut first: transform::modes::Key) -> Result<Aftermath, Trouble> {
        let mut aftermath = Aftermath::default();
        let mut transition = None;
        loop {
            aftermath.iterations += 1;
            let before = self.program();
            let (number, place) = (self.switching.number(), self.switching.place());
            // Tangents belong to the run, whatever mode it is in.
            let tangents = self.runtime.machine.sensitivities.take();
            self.switching.choose(self.runtime, left, first, self.last_step)?;
            self.runtime.machine.sensitivities = tangents;
            let moved = !Arc::ptr_eq(&before, &self.program());
            if let Some(transition) = transition.take() {
                self.switching.note_proof(transition, self.runtime, !moved);
            }
            if moved && self.log.is_active() {
                self.log.write(&Entry::Mode(&self.switching.change(self.runtime, number, left)));
            }
            if moved {
                *self.clockwork =
                    self.clockwork.in_program(&self.runtime.machine.program, &self.runtime.machine.memory);
            }
            let taken_back = self.forbids_its_jump()?;
            if !taken_back {
                self.tell_jump(left);
            }
            let reinitialised = self.act(&mut aftermath, Self::follow_transition)?;
            let wanted = if reinitialised { self.follow_reinit(left)? } else { None };
            if reinitialised {
                self.with_tangents(|tangents, runtime| tangents.note_reset(runtime));
            }
            let changed = self.tell_changes(aftermath.iterations);
            self.runtime.machine.save_pre();
            let jumped = self.switching.jump().depth > 0;
            if !changed && !reinitialised && !moved && !jumped {
                return Ok(aftermath);
            }
            if aftermath.iterations >= MOST_ITERATIONS {
                return Err(self.endless());
            }
            if taken_back && !reinitialised {
                left.take_discrete(self.runtime);
                self.with_tangents(|tangents, runtime| tangents.take_back(runtime.carried.as_deref()));
                self.runtime.run_events(Phase::Decided)?;
                first = self.runtime.found_key();
                continue;
            }
            self.take_left(left);
            if let Some(wanted) = &wanted {
                left.keep_states(self.runtime, *wanted == self.runtime.key());
            }
            if !reinitialised && !jumped && self.switching.is_decided(place) && self.is_at_rest(&mut aftermath)? {
                return Ok(aftermath);
            }
            transition = (moved && !jumped).then_some((place, self.switching.place()));
            first = wanted.unwrap_or_else(|| self.runtime.found_key());
        }
    }

    /// Works on the tangents of the run, where there are some.
    fn with_tangents(&mut self, work: impl FnOnce(&mut Sensitivities, &mut ModeRuntime)) {
        let Some(mut tangents) = self.runtime.machine.sensitivities.take() else { return };
        work(&mut tangents, self.runtime);
        self.runtime.machine.sensitivities = Some(tangents);
    }

    /// The tangents go with the run into the mode that was chosen.
    fn follow_transition(&mut self) {
        let Some(mut tangents) = self.runtime.machine.sensitivities.take() else { return };
        tangents.pass_transition(self.runtime, self.switching.restarted());
        self.runtime.machine.sensitivities = Some(tangents);
    }

    /// Carries out the actions of the model once tangents have followed; whether a state was set.
    fn act(&mut self, aftermath: &mut Aftermath, follow: impl FnOnce(&mut Self)) -> Result<bool, Trouble> {
        // Those that only actions hold are decided nowhere else, and a mode that was just entered has none of them.
        let program = &self.program();
        program.update_discrete_relations(&mut self.runtime.machine.memory);
        self.runtime.machine.run(|sections| &sections.actions, Phase::Frozen)?;
        follow(self);
        let machine = &mut self.runtime.machine;
        let (actions, slots) = (&program.model().actions, &program.layout.actions);
        let reinit = Reinit::due(machine);
        let reinitialised = events::perform(machine, actions, slots, self.log, aftermath)?;
        if reinitialised {
            Sensitivities::pass_reinit(machine);
        }
        if reinitialised && let Some(reinit) = reinit {
            reinit.follow(machine)?;
        }
        Ok(reinitialised)
    }

    /// What constraints tie to a state that was set goes with it, and relations on it change: reinit is no impulse that they
    /// would share. Discrete variables stay, so that the next iteration sees what becomes of them. The mode that is called
    /// for, where that is known.
    fn follow_reinit(&mut self, left: &mut Left) -> Result<Option<transform::modes::Key>, Trouble> {
        let before = self.runtime.machine.memory.values.clone();
        self.take_left(left);
        if self.switching.settle(self.runtime, left, self.last_step).is_ok() {
            let wanted = self.runtime.found_key();
            self.runtime.keep_smooth(before);
            return Ok(Some(wanted));
        }
        self.runtime.machine.memory.values = before;
        self.runtime.machine.run(|sections| &sections.dynamics, Phase::Frozen)?;
        self.runtime.machine.run(|sections| &sections.outputs, Phase::Frozen)?;
        Ok(None)
    }

    /// Whether nothing changes with the new left limits: where no value jumped and every relation is decided by its value,
    /// one evaluation tells.
    fn is_at_rest(&mut self, aftermath: &mut Aftermath) -> Result<bool, Trouble> {
        self.runtime.remember_constrained();
        self.runtime.run_events(Phase::Decided)?;
        let calm = !self.has_changes() && self.is_in_its_mode() && !self.is_broken();
        if calm {
            aftermath.iterations += 1;
            let follow = |this: &mut Self| this.with_tangents(|tangents, runtime| tangents.follow_rest(runtime));
            let reinitialised = self.act(aftermath, follow)?;
            return Ok(!reinitialised);
        }
        Ok(false)
    }

    /// Whether something jumped that constraints determine.
    pub(super) fn is_broken(&mut self) -> bool {
        self.runtime.broken(&self.switching.sizes).is_some()
    }

    /// Whether discrete variables changed.
    pub(super) fn has_changes(&self) -> bool {
        let (machine, names) = (&self.runtime.machine, &self.runtime.names);
        machine.program.changed(&machine.memory).any(|slot| events::is_discrete(machine, names, slot))
    }

    /// Logs discrete variables that changed; whether there are any.
    pub(super) fn tell_changes(&mut self, iteration: u32) -> bool {
        let (machine, names) = (&self.runtime.machine, &self.runtime.names);
        let mut any = false;
        for slot in machine.program.changed(&machine.memory) {
            if events::is_discrete(machine, names, slot) {
                any = true;
                if self.log.is_active() {
                    events::log_change(machine, names, self.log, iteration, slot);
                }
            }
        }
        any
    }

    /// Logs what jumped and the impulses that made it.
    fn tell_jump(&mut self, left: &Left) {
        let jump = self.switching.jump();
        if jump.depth == 0 {
            return;
        }
        let program = &self.runtime.machine.program;
        let Some(switch) = &self.runtime.switch else { return };
        let columns = &switch.restart.chains().columns;
        let model = program.model();
        let time = self.time;
        let plain = jump.pulses.iter().filter(|pulse| pulse.plain);
        let by_slot: rustc_hash::FxHashMap<u32, f64> =
            plain.map(|pulse| (program.layout.slot(pulse.variable), pulse.size)).collect();
        let impulse = |variable: dae::VarId| {
            let place = program.layout.place(variable);
            let size = by_slot.get(&place.slot).copied()?;
            Some(if place.negated { -size } else { size })
        };
        for (variable, sum) in self.impulses.iter_mut() {
            *sum += impulse(*variable).unwrap_or(0.0);
        }
        if !self.log.is_active() {
            return;
        }
        for (variable, &from) in model.variables.ids().zip(&left.values) {
            let declared = &model.variables[variable];
            if declared.hidden || declared.ty != dae::VariableType::Real {
                continue;
            }
            let name = model.variable_name(variable);
            if let Some(value) = impulse(variable) {
                self.log.write(&Entry::Impulse { time, variable: &name, value });
            }
            let is_smooth = columns.iter().any(|chain| chain.len() > 1 && chain[0] == variable);
            let to = program.value(&self.runtime.machine.memory, variable);
            let size = self.switching.sizes.of(variable);
            if is_smooth && (to - from).abs() > 1e-9 * (to.abs() + from.abs() + size) {
                self.log.write(&Entry::Jump { time, variable: &name, from, to });
            }
        }
    }

    fn endless(&self) -> Trouble {
        let message = format!(
            "{MOST_ITERATIONS} modes follow each other at time {} without end; the last is {}",
            self.time,
            self.switching.modes().describe(&self.runtime.key())
        );
        let hint = "the mode after a transition calls for the one before it; look at it with --event-log";
        Trouble::Model(Box::new(Diagnostic::error("endless-events", message).names_time().hint(hint)))
    }
}
