//! A model that somebody else's solver drives: time, states and inputs in, derivatives, outputs and event indicators out.
//!
//! Events, modes, delays and clocks are those of a simulation. Its integrator is one that is given the steps
//! (`solve::given_steps`), so that left limits, the past of delays and branches of nonlinear systems are found on them in the
//! same way.

use dae::{Causality, Variability, VariableType};
use results::NullSink;

use super::*;
use crate::columns::Columns;
use crate::exchange::fitness;
use crate::linear::{Jacobian, Linearizer};

/// How far behind zero an event indicator changes its sign, relative to the largest value that its residue had: beyond rounding,
/// and far below what a solver resolves.
const HYSTERESIS: f64 = 1e-10;
/// And relative to the band in which rounding decides.
const BEYOND_BAND: f64 = 4.0;

/// A model at a point that somebody else's solver has chosen. It moves between threads, and a copy goes on in the same way.
///
/// Between events: set time, states and inputs, read derivatives, outputs and event indicators; tell each step that is accepted.
/// Where an indicator changes its sign, or time comes to [`Update::next_time_event`], or [`Accepted::event`] says so: enter the
/// event at a point at or just behind the change, set what jumps, update.
#[derive(Clone)]
pub struct System {
    simulation: Simulation,
    time: f64,
    x: Vec<f64>,
    slopes: Vec<f64>,
    /// Inputs that were set before the initialisation.
    early: Vec<(VarId, f64)>,
    /// By event indicator.
    hysteresis: Vec<f64>,
    residues: Vec<f64>,
    stage: Stage,
}

/// What may be called.
#[derive(Clone, Copy)]
enum Stage {
    New,
    Smooth,
    Event(Trigger),
}

/// What a step that was accepted means for the solver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Accepted {
    /// States were moved to constraints, or others were taken: read them anew.
    pub states_changed: bool,
    /// An event has to be entered here.
    pub event: bool,
}

/// What an event changed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Update {
    /// States have other values, or there are others, and other nominal values with them: read them anew.
    pub states_changed: bool,
    /// Other variables than states have other values.
    pub values_changed: bool,
    /// When the next event is due that is known in advance.
    pub next_time_event: Option<f64>,
    /// The message of a model that ends the analysis.
    pub terminated: Option<String>,
}

impl System {
    /// A system of a program, before its initialisation. Of the options the method is not used; the interval and the stop time say
    /// what is short and what is long.
    pub fn of(program: &Arc<Program>, options: &Options) -> Self {
        let options = Options { solver: Method::Given, ..options.clone() };
        let simulation = Simulation::of(program, &options);
        let time = options.start_time;
        let (x, slopes, early) = (Vec::new(), Vec::new(), Vec::new());
        let mut system = Self {
            simulation,
            time,
            x,
            slopes,
            early,
            hysteresis: Vec::new(),
            residues: Vec::new(),
            stage: Stage::New,
        };
        system.take_states();
        system
    }

    /// Finds the first point, at the start time of the options, with the inputs that were set before.
    pub fn initialise(&mut self) -> Result<Update, Box<Diagnostic>> {
        if !matches!(self.stage, Stage::New) {
            return Err(wrong_stage("it is initialised already"));
        }
        for &(input, value) in &self.early {
            self.simulation.program.set_value(&mut self.simulation.runtime.machine.memory, input, value);
        }
        let mut terminated = self.simulation.initialise()?;
        // A mode that is tried at the start begins with the inputs of the model.
        let machine = &self.simulation.runtime.machine;
        let is_missing = |&(input, value): &(VarId, f64)| machine.value(input) != value;
        if terminated.is_none() && self.early.iter().any(is_missing) {
            self.stage = Stage::Smooth;
            self.take_states();
            self.enter_event()?;
            for (input, value) in std::mem::take(&mut self.early) {
                self.set_input(input, value)?;
            }
            return self.update_discrete().map(|update| Update { states_changed: true, ..update });
        }
        if terminated.is_none() {
            let outcome = self.pass_what_is_due();
            terminated = outcome.map_err(|stop| self.simulation.failed(stop))?;
        }
        self.early.clear();
        self.stage = Stage::Smooth;
        self.take_states();
        Ok(self.update(true, true, terminated))
    }

    /// The time of the point.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Sets the time of the point.
    pub fn set_time(&mut self, time: f64) {
        self.time = time;
    }

    /// The states of the point; their number and meaning may change at events of a model with modes.
    pub fn states(&self) -> &[f64] {
        &self.x
    }

    /// Sets the states of the point. Between events only: an event of the model says itself what becomes of them.
    pub fn set_states(&mut self, x: &[f64]) -> Result<(), Box<Diagnostic>> {
        if x.len() != self.x.len() {
            let message = format!("there are {} states, not {}", self.x.len(), x.len());
            return Err(Box::new(Diagnostic::error("wrong-call", message)));
        }
        self.x.copy_from_slice(x);
        Ok(())
    }

    /// The variables of the states and of their derivatives, in order. Of states that are exchanged during the run, those that
    /// they stand for now.
    pub fn state_variables(&self) -> impl Iterator<Item = (VarId, VarId)> {
        let model = self.simulation.program.model();
        self.simulation.program.schedule.states.iter().map(|state| {
            let now = self.simulation.state_now(state.variable);
            if now == state.variable {
                return (state.variable, state.derivative);
            }
            let derivative = model.variables.ids().find(|&id| model.variables[id].derivative_of == Some(now));
            (now, derivative.unwrap_or(state.derivative))
        })
    }

    /// Sizes of the states, by which solvers weigh errors.
    pub fn nominals(&self) -> Vec<f64> {
        let machine = &self.simulation.runtime.machine;
        machine.program.states.iter().map(|state| machine.nominal(state.variable)).collect()
    }

    /// Sets an input. A continuous one may change with every point, as long as it is smooth between events; others change before
    /// the initialisation and in events only.
    pub fn set_input(&mut self, input: VarId, value: f64) -> Result<(), Box<Diagnostic>> {
        let simulation = &mut self.simulation;
        let declared = &simulation.whole.model().variables[input];
        let refused = |what: &str| {
            let name = simulation.whole.model().variable_name(input);
            Err(Box::new(Diagnostic::error("wrong-call", format!("`{name}` {what}"))))
        };
        if declared.causality != Causality::Input || simulation.is_driven(input) {
            return refused("is no input that can be set");
        }
        if !value.is_finite() {
            return refused("cannot be set to what is not finite");
        }
        let is_smooth = declared.ty == VariableType::Real && declared.variability == Variability::Continuous;
        match self.stage {
            Stage::New => {
                self.early.retain(|(known, _)| *known != input);
                self.early.push((input, value));
            }
            Stage::Smooth if !is_smooth => return refused("is discrete: enter an event to set it"),
            Stage::Smooth | Stage::Event(_) => {
                let machine = &mut simulation.runtime.machine;
                if simulation.program.value(&machine.memory, input) != value {
                    simulation.program.set_value(&mut machine.memory, input, value);
                    machine.unsettle();
                }
            }
        }
        Ok(())
    }

    /// Sets parameters to values that they have from the next update on.
    pub fn set_parameters(&mut self, set: &[(VarId, f64)]) -> Result<(), Box<Diagnostic>> {
        self.simulation.set_parameters(set)
    }

    /// The derivatives of the states at the point.
    pub fn derivatives(&mut self, out: &mut [f64]) -> Result<(), Box<Diagnostic>> {
        check_length("states", self.slopes.len(), out)?;
        self.evaluate()?;
        out.copy_from_slice(&self.slopes);
        Ok(())
    }

    /// Evaluates all variables at the point; [`value`](Self::value) reads them.
    pub fn outputs(&mut self) -> Result<(), Box<Diagnostic>> {
        self.evaluate()?;
        let outcome = self.simulation.runtime.machine.evaluate_outputs();
        outcome.map_err(|trouble| self.simulation.failed(trouble.into()))
    }

    /// The value of a variable, as [`outputs`](Self::outputs), an event or the initialisation left it. Not a number for a
    /// derivative that the mode does not have.
    pub fn value(&self, variable: VarId) -> f64 {
        self.simulation.value(variable)
    }

    /// How many event indicators there are; the number may change at events of a model with modes.
    pub fn event_indicator_count(&self) -> usize {
        self.simulation.program.roots.len()
    }

    /// The event indicators at the point. An event is where one becomes zero or changes its sign. That is a little behind the place
    /// at which the condition changes, so that none is zero after an update, and rounding does not repeat an event.
    pub fn event_indicators(&mut self, out: &mut [f64]) -> Result<(), Box<Diagnostic>> {
        check_length("event indicators", self.event_indicator_count(), out)?;
        self.evaluate()?;
        let ModeRuntime { machine, roots, .. } = &mut *self.simulation.runtime;
        if solve::CrossingFunctions::evaluate(machine, self.time, &self.x, &mut self.residues).is_err() {
            return Err(self.last_trouble());
        }
        for (k, (indicator, &residue)) in out.iter_mut().zip(&self.residues).enumerate() {
            *indicator = indicator_of(roots.status()[k], residue, self.hysteresis[k]);
        }
        Ok(())
    }

    /// The longest step from the last point that was accepted: delays that are shorter than a step need values inside of it.
    pub fn longest_step(&mut self) -> f64 {
        let time = self.simulation.time;
        self.simulation.reach(time) - time
    }

    /// The solver has accepted the step from the last accepted point to this one. Assertions are checked, delays remember, and
    /// states are moved to constraints or exchanged where that is due.
    pub fn accepted_step(&mut self) -> Result<Accepted, Box<Diagnostic>> {
        if !matches!(self.stage, Stage::Smooth) {
            return Err(wrong_stage("a step is accepted between events only"));
        }
        let outcome = self.accept();
        outcome.map_err(|stop| self.simulation.failed(stop))
    }

    fn accept(&mut self) -> Result<Accepted, Stop> {
        self.check_time()?;
        let begin = self.simulation.time;
        let event = self.take_step()?;
        self.simulation.check_conditions(begin, self.time)?;
        self.simulation.time = self.time;
        self.simulation.accept(self.time)?;
        let states_changed = self.simulation.runtime.integrator.state() != self.x;
        self.simulation.evaluate_at(self.time)?;
        self.simulation.runtime.machine.drop_anchor();
        self.take_states();
        self.widen();
        Ok(Accepted { states_changed, event })
    }

    /// An event begins at the point: its values are the left limits. From here on inputs may jump.
    pub fn enter_event(&mut self) -> Result<(), Box<Diagnostic>> {
        if !matches!(self.stage, Stage::Smooth) {
            return Err(wrong_stage("an event is entered between events only"));
        }
        let outcome = self.enter();
        self.stage = Stage::Event(outcome.map_err(|stop| self.simulation.failed(stop))?);
        Ok(())
    }

    fn check_time(&self) -> Result<(), Stop> {
        match self.time.is_finite() {
            true => Ok(()),
            false => Err(Trouble::Model(wrong_stage("the time that was set is not finite")).into()),
        }
    }

    fn enter(&mut self) -> Result<Trigger, Stop> {
        self.check_time()?;
        if self.time > self.simulation.time {
            self.take_step()?;
            self.simulation.time = self.time;
        }
        let Simulation { clockwork, program, runtime, .. } = &mut self.simulation;
        let (known, relation) = clockwork.next(program, &mut runtime.machine.memory, self.time, f64::INFINITY);
        let is_due = known <= self.time || same_instant(known, self.time);
        self.find_crossings()?;
        let crossed = !self.simulation.crossings.is_empty();
        let trigger = Trigger { crossed, relation: is_due && relation, before: None };
        self.simulation.count_at_instant(self.time)?;
        self.simulation.take_left_limits(self.time, trigger)?;
        Ok(trigger)
    }

    /// Which relations have changed at the point.
    fn find_crossings(&mut self) -> Result<(), Stop> {
        let Simulation { runtime, crossings, excursions, .. } = &mut self.simulation;
        let ModeRuntime { machine, roots, .. } = &mut **runtime;
        crossings.clear();
        // How far residues went is not followed here.
        excursions.clear();
        if solve::CrossingFunctions::evaluate(machine, self.time, &self.x, &mut self.residues).is_err() {
            return Err(self.simulation.last_trouble().into());
        }
        for (function, &residue) in self.residues.iter().enumerate() {
            let from = roots.status()[function];
            if indicator_of(from, residue, self.hysteresis[function]) * signed(from) <= 0.0 {
                crossings.push(Crossing { function, from, to: solve::roots::sign_of(residue) });
            }
        }
        Ok(())
    }

    /// Goes through the event until nothing changes any more, at the inputs as they are now.
    pub fn update_discrete(&mut self) -> Result<Update, Box<Diagnostic>> {
        let Stage::Event(trigger) = self.stage else {
            return Err(wrong_stage("an event has to be entered first"));
        };
        let values = self.simulation.runtime.machine.memory.values.clone();
        let program = self.simulation.program.clone();
        let outcome = self.pass(trigger);
        let terminated = outcome.map_err(|stop| self.simulation.failed(stop))?;
        self.stage = Stage::Smooth;
        let is_same_program = Arc::ptr_eq(&program, &self.simulation.program);
        let before = std::mem::take(&mut self.x);
        self.take_states();
        let states_changed = !is_same_program || before != self.x;
        let variables = program.layout.tangible as usize;
        let now = &self.simulation.runtime.machine.memory.values;
        let values_changed = !is_same_program || values[..variables] != now[..variables];
        Ok(self.update(states_changed, values_changed, terminated))
    }

    fn pass(&mut self, trigger: Trigger) -> Result<Option<String>, Stop> {
        let mut sink = NullSink;
        let mut rows = Rows::new(Columns::default(), &mut sink);
        match self.simulation.pass(self.time, trigger, &mut rows)? {
            Some(message) => Ok(Some(message)),
            None => self.pass_what_is_due(),
        }
    }

    /// Passes what is due at the same instant: relations on time that are zero and about to leave.
    fn pass_what_is_due(&mut self) -> Result<Option<String>, Stop> {
        let mut sink = NullSink;
        let mut rows = Rows::new(Columns::default(), &mut sink);
        self.simulation.runtime.roots.forget_crossings();
        loop {
            let Simulation { clockwork, program, runtime, time, .. } = &mut self.simulation;
            let (known, relation) = clockwork.next(program, &mut runtime.machine.memory, *time, f64::INFINITY);
            if !(known <= *time || same_instant(known, *time)) {
                return Ok(None);
            }
            *time = known.max(*time);
            let time = *time;
            let trigger = Trigger { crossed: false, relation, before: None };
            if let Some(message) = self.simulation.event(time, trigger, &mut rows)? {
                return Ok(Some(message));
            }
        }
    }

    fn update(&mut self, states_changed: bool, values_changed: bool, terminated: Option<String>) -> Update {
        let Simulation { clockwork, program, runtime, time, .. } = &mut self.simulation;
        let (known, _) = clockwork.next(program, &mut runtime.machine.memory, *time, f64::INFINITY);
        let next_time_event = Some(known).filter(|known| known.is_finite());
        Update { states_changed, values_changed, next_time_event, terminated }
    }

    /// Derivatives of variables along a direction of states, inputs and parameters, at the point: the product of the Jacobian
    /// with `seed`, which has a component for each of `with_respect_to`.
    pub fn directional(
        &mut self,
        of: &[VarId],
        with_respect_to: &[VarId],
        seed: &[f64],
    ) -> Result<Vec<f64>, Box<Diagnostic>> {
        let (of, directions) = self.differentiable(of, with_respect_to)?;
        let direction: Vec<(VarId, f64)> = directions.into_iter().zip(seed.iter().copied()).collect();
        self.outputs()?;
        self.simulation.linearized(|linearizer| {
            linearizer.follow(&direction)?;
            of.iter().map(|&variable| linearizer.slope(variable)).collect()
        })
    }

    /// The product of the transposed Jacobian with `seed`, which has a component for each variable in `of`: what a change of each
    /// of `with_respect_to` does to the sum that `seed` weighs. It is computed from one direction for each of these.
    pub fn adjoint(
        &mut self,
        of: &[VarId],
        with_respect_to: &[VarId],
        seed: &[f64],
    ) -> Result<Vec<f64>, Box<Diagnostic>> {
        let (of, directions) = self.differentiable(of, with_respect_to)?;
        self.outputs()?;
        self.simulation.linearized(|linearizer| {
            let weighed = |column: usize| {
                linearizer.follow_one(&directions, column)?;
                let mut sum = 0.0;
                for (&variable, weight) in of.iter().zip(seed).filter(|(_, weight)| **weight != 0.0) {
                    sum += weight * linearizer.slope(variable)?;
                }
                Ok(sum)
            };
            (0..directions.len()).map(weighed).collect()
        })
    }

    /// The matrix of derivatives at the point; see [`Simulation::jacobian`].
    pub fn jacobian(&mut self, of: &[VarId], with_respect_to: &[VarId]) -> Result<Jacobian, Box<Diagnostic>> {
        let (of, directions) = self.differentiable(of, with_respect_to)?;
        self.outputs()?;
        self.simulation.matrix(&of, &directions, Linearizer::slope)
    }

    fn differentiable(
        &self,
        of: &[VarId],
        with_respect_to: &[VarId],
    ) -> Result<(Vec<VarId>, Vec<VarId>), Box<Diagnostic>> {
        let of: Vec<VarId> =
            of.iter().map(|&variable| self.simulation.differentiable(variable)).collect::<Result<_, _>>()?;
        let direction = |&variable: &VarId| self.simulation.direction(variable);
        Ok((of, with_respect_to.iter().map(direction).collect::<Result<_, _>>()?))
    }

    /// The structural conditions that hold, in a model whose structure changes.
    pub fn mode(&mut self) -> Option<String> {
        self.simulation.mode()
    }

    /// What events and steps had to say so far.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.simulation.warnings()
    }

    /// The program in use.
    pub fn program(&self) -> &Arc<Program> {
        &self.simulation.program
    }

    /// Evaluates what changes between events; slopes are at hand then.
    fn evaluate(&mut self) -> Result<(), Box<Diagnostic>> {
        if matches!(self.stage, Stage::New) {
            return Err(wrong_stage("it has no values before its initialisation"));
        }
        if !self.time.is_finite() {
            return Err(wrong_stage("the time that was set is not finite"));
        }
        let machine = &mut self.simulation.runtime.machine;
        match machine.rhs(self.time, &self.x, &mut self.slopes) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.last_trouble()),
        }
    }

    fn last_trouble(&mut self) -> Box<Diagnostic> {
        let trouble = self.simulation.last_trouble();
        self.simulation.failed(trouble.into())
    }

    /// Takes note of the step to the point; whether a jump arrived through a delay on the way.
    fn take_step(&mut self) -> Result<bool, Stop> {
        let begin = self.simulation.runtime.integrator.time();
        let is_at_end = self.time == begin && self.simulation.runtime.integrator.state() == self.x;
        if is_at_end {
            return Ok(false);
        }
        if self.time < begin {
            let message = format!("time {} is before {}, which was accepted", Decimal(self.time), Decimal(begin));
            return Err(Trouble::Model(Box::new(Diagnostic::error("wrong-call", message))).into());
        }
        let had = self.state_fitness();
        let ModeRuntime { machine, integrator, .. } = &mut *self.simulation.runtime;
        if machine.rhs(self.time, &self.x, &mut self.slopes).is_err() {
            return Err(self.simulation.last_trouble().into());
        }
        integrator.take(self.time, &self.x, &self.slopes);
        self.simulation.last_step = self.time - begin;
        let mut sink = NullSink;
        let mut rows = Rows::new(Columns::default(), &mut sink);
        self.simulation.follow_branches(begin, self.time, &mut rows)?;
        let arrival = self.simulation.remember_step(begin, self.time)?;
        self.check_states(&had)?;
        Ok(arrival.is_some())
    }

    /// How well the states in use determine the rest, where others could be taken.
    fn state_fitness(&mut self) -> Vec<f64> {
        let mut found = Vec::new();
        if !self.simulation.program.schedule.state_sets.is_empty() {
            fitness(&self.simulation.runtime.machine, &mut found);
        }
        found
    }

    /// A step over a point at which the states do not determine the rest ends on a wrong branch.
    fn check_states(&mut self, before: &[f64]) -> Result<(), Stop> {
        if before.is_empty() {
            return Ok(());
        }
        self.simulation.evaluate_at(self.time)?;
        let after = self.state_fitness();
        // What is not a number is no better.
        if before.iter().zip(&after).all(|(before, after)| before * after > 0.0) {
            return Ok(());
        }
        let message = format!(
            "the step to time {} passes a point at which its states do not determine the rest",
            Decimal(self.time)
        );
        let diagnostic = Diagnostic::error("singular-states", message);
        Err(Trouble::Model(Box::new(diagnostic.hint("accept shorter steps: after each one better states are taken")))
            .into())
    }

    /// The states are those of the simulation.
    fn take_states(&mut self) {
        let Simulation { program, runtime, time, .. } = &self.simulation;
        self.time = *time;
        self.x.resize(program.states.len(), 0.0);
        self.slopes.resize(program.states.len(), 0.0);
        match self.stage {
            Stage::New => {}
            _ => program.read_states(&runtime.machine.memory, &mut self.x),
        }
        self.residues.resize(program.roots.len(), 0.0);
        if self.hysteresis.len() != program.roots.len() {
            self.hysteresis = vec![0.0; program.roots.len()];
        }
        for (k, hysteresis) in self.hysteresis.iter_mut().enumerate() {
            *hysteresis = hysteresis.max(BEYOND_BAND * runtime.roots.band(k));
        }
    }

    /// Indicators that are far from zero learn how large their residues are.
    fn widen(&mut self) {
        let Machine { program, memory, .. } = &mut self.simulation.runtime.machine;
        program.crossings(memory, &mut self.residues);
        for (hysteresis, residue) in self.hysteresis.iter_mut().zip(&self.residues) {
            if residue.is_finite() {
                *hysteresis = hysteresis.max(HYSTERESIS * residue.abs());
            }
        }
    }
}

/// An indicator that is positive or negative as long as a relation has its status. A status of zero has one that is positive.
fn indicator_of(status: i8, residue: f64, hysteresis: f64) -> f64 {
    match status {
        // It stands in a branch that is not active.
        _ if residue.is_nan() => signed(status),
        0 => hysteresis - residue.abs(),
        status => residue + f64::from(status) * hysteresis,
    }
}

/// The sign of the indicator while the status holds.
fn signed(status: i8) -> f64 {
    if status < 0 { -1.0 } else { 1.0 }
}

fn check_length(what: &str, expected: usize, given: &[f64]) -> Result<(), Box<Diagnostic>> {
    match given.len() == expected {
        true => Ok(()),
        false => Err(wrong_stage(&format!("there are {expected} {what}, not {}", given.len()))),
    }
}

fn wrong_stage(message: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("wrong-call", message))
}

/// Systems of one program are driven on many threads.
const _: () = {
    const fn can_move_to_another_thread<T: Send>() {}
    can_move_to_another_thread::<System>();
};
