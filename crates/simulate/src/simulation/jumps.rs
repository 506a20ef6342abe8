//! Whether something differentiated jumped at an event of a structure for all modes, and what explains that.

use super::*;
use crate::continuity::{Broken, Continuity};
use crate::modes::Left;

/// What is remembered of the left of an event, should the structure for all modes not do for it.
#[derive(Clone)]
pub(super) struct Fallback {
    /// Memory at the left.
    pub values: Vec<f64>,
    left: Left,
    /// The values at the left; where states were set, those that follow from them.
    continuity: Continuity,
    /// The largest magnitudes that everything in memory has had.
    largest: Vec<f64>,
    /// What jumped before states were set.
    jumped: Option<Broken>,
    /// The tangents at the left, where somebody asked for sensitivities.
    pub tangents: Option<Box<crate::sensitivities::Sensitivities>>,
    /// The modes, once something asked for them.
    pub modes: Option<Box<Switching>>,
}

impl Fallback {
    pub fn new(machine: &Machine, tolerance: f64) -> Self {
        let continuity = Continuity::new(machine, machine.program.schedule.constrained.clone(), tolerance);
        let (values, largest) = (Vec::new(), Vec::new());
        Self { values, left: Left::default(), continuity, largest, jumped: None, tangents: None, modes: None }
    }

    /// Takes note of how large values are where a row is written.
    pub fn note_sizes(&mut self, values: &[f64]) {
        self.continuity.note_sizes(values);
        if self.largest.len() != values.len() {
            self.largest.resize(values.len(), 0.0);
        }
        // All of memory at each row: a comparison, which leaves out what is not a number as `max` does, is one instruction for
        // several numbers.
        for (largest, value) in self.largest.iter_mut().zip(values) {
            let size = value.abs();
            *largest = if size > *largest { size } else { *largest };
        }
    }

    /// Tells the modes how large the variables have been before these were made.
    pub fn tell_sizes(&mut self, modes: &mut Switching, runtime: &mut ModeRuntime) {
        if self.largest.len() == runtime.machine.memory.values.len() {
            std::mem::swap(&mut runtime.machine.memory.values, &mut self.largest);
            modes.note_sizes(runtime);
            std::mem::swap(&mut runtime.machine.memory.values, &mut self.largest);
        }
    }

    pub fn remember(&mut self, values: &[f64]) {
        self.values.clear();
        self.values.extend_from_slice(values);
        self.continuity.remember(values);
        self.jumped = None;
    }

    /// Whether something that constraints determine is not what it was at the left.
    pub fn has_jumped(&self, machine: &Machine) -> bool {
        self.broken(machine).is_some()
    }

    fn broken(&self, machine: &Machine) -> Option<Broken> {
        self.jumped.or_else(|| self.continuity.broken(&machine.memory.values, |_| 0.0))
    }

    /// The values at the left, in terms that hold in every mode.
    pub fn left(&mut self, runtime: &mut ModeRuntime, variables: usize) -> Left {
        let mut left = std::mem::take(&mut self.left);
        std::mem::swap(&mut runtime.machine.memory.values, &mut self.values);
        left.take(runtime, variables);
        std::mem::swap(&mut runtime.machine.memory.values, &mut self.values);
        left
    }
}

/// What `reinit` sets takes along what constraints tie to it, and the relations on it. What jumps besides, does so by itself.
impl events::Watch for Fallback {
    fn is_in_doubt(&self, machine: &Machine) -> bool {
        self.has_jumped(machine)
    }

    fn before_reinit(&mut self, machine: &Machine) {
        self.jumped = self.broken(machine);
    }

    fn follows_reinit(&self) -> bool {
        !self.continuity.is_empty()
    }

    fn after_reinit(&mut self, machine: &Machine) {
        self.continuity.remember(&machine.memory.values);
    }
}

impl Simulation {
    /// What jumped although it is differentiated, where neither `reinit` nor the rounding of constraints explains it.
    pub(super) fn unexplained(&mut self, time: f64) -> Result<Option<Broken>, Stop> {
        let found = match self.projector {
            Some(_) => self.moved_by_projection(time)?,
            None => self.fallback.broken(&self.runtime.machine),
        };
        let Some(broken) = found else { return Ok(None) };
        if self.projection_follows_reinit(time) {
            return Ok(None);
        }
        let Some(mut modes) = self.take_modes() else { return Ok(None) };
        let left = self.fallback.left(&mut self.runtime, modes.variables());
        let violated = modes.is_violated(&mut self.runtime, &left);
        self.fallback.modes = Some(modes);
        Ok(violated?.then_some(broken))
    }

    /// Whether all states that a projection moves are taken along by those that `reinit` set: with the equations from before
    /// the event they do the same.
    fn projection_follows_reinit(&mut self, time: f64) -> bool {
        let Some(projector) = &mut self.projector else { return false };
        let before = &self.fallback.values;
        let machine = &mut self.runtime.machine;
        let program = &machine.program.clone();
        let after = machine.memory.values.clone();
        let set: Vec<bool> =
            program.states.iter().map(|state| before[state.value as usize] != after[state.value as usize]).collect();
        if !set.contains(&true) {
            return false;
        }
        machine.memory.values.clone_from(before);
        for (state, _) in program.states.iter().zip(&set).filter(|(_, set)| **set) {
            machine.memory.values[state.value as usize] = after[state.value as usize];
        }
        machine.memory.set_time(time);
        machine.systems.forget_factors(program);
        let mut project = |machine: &mut Machine| {
            let mut x = vec![0.0; program.states.len()];
            program.read_states(&machine.memory, &mut x);
            projector.project_others(machine, time, &mut x, set.clone()).map(|_| x)
        };
        let then = project(machine);
        machine.memory.values.clone_from(&after);
        machine.systems.forget_factors(program);
        let tolerance = self.options.tolerance;
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * (1.0 + a.abs() + b.abs());
        let follows = matches!((then, project(machine)), (Ok(then), Ok(now)) if then.iter().zip(&now).all(is_near));
        machine.memory.values = after;
        machine.systems.forget_factors(program);
        machine.unsettle();
        follows
    }

    /// The state that goes furthest when all are moved to constraints that changed at an event.
    fn moved_by_projection(&mut self, time: f64) -> Result<Option<Broken>, Stop> {
        /// In units of the tolerance.
        const JUMPS: f64 = 10.0;
        let Some(projector) = &mut self.projector else { return Ok(None) };
        let machine = &mut self.runtime.machine;
        let program = &machine.program.clone();
        let after = machine.memory.values.clone();
        let mut x = vec![0.0; program.states.len()];
        program.read_states(&machine.memory, &mut x);
        let before = x.clone();
        let moved = projector.project(machine, time, &mut x);
        machine.memory.values = after;
        machine.unsettle();
        if moved? <= JUMPS {
            return Ok(None);
        }
        let states = program.states.iter().zip(before.iter().zip(&x));
        let furthest = states.max_by(|a, b| (a.1.0 - a.1.1).abs().total_cmp(&(b.1.0 - b.1.1).abs()));
        Ok(furthest.map(|(state, (&from, &to))| Broken { variable: state.variable, from, to }))
    }

    /// Something jumps, and no mode and no impulse accounts for it.
    pub(super) fn unexplained_jump(&self, time: f64, broken: Broken, reason: Trouble) -> Trouble {
        let model = self.runtime.machine.program.model();
        let reason = reason.diagnostic(model);
        let name = model.variable_name(broken.variable);
        let message = format!(
            "`{name}` is differentiated but would jump from {} to {} at time {}, and no impulse explains that",
            Decimal(broken.from),
            Decimal(broken.to),
            Decimal(time)
        );
        let declared = &model.variables[broken.variable];
        let mut diagnostic = Diagnostic::error("unexplained-jump", message).names_time().note(reason.message.clone());
        diagnostic = reason.notes.iter().fold(diagnostic, |diagnostic, note| diagnostic.note(note.clone()));
        if let Some(span) = declared.span {
            diagnostic = diagnostic.at(span, "declared here");
        }
        let component = model.paths.parent(declared.path).map_or_else(String::new, |parent| model.paths.text(parent));
        if !component.is_empty() {
            diagnostic = diagnostic.in_component(component);
        }
        let hint = "a signal or a constraint steps here; make the step a ramp, put a resistance or a compliance between, or set \
                    the variable with reinit";
        Trouble::Model(Box::new(diagnostic.hint(hint)))
    }
}
