//! What other programs do with a simulation: they initialise it, step it, read and set its variables, copy it.

use dae::Causality;
use results::NullSink;

use super::*;
use crate::columns::{Columns, root_of};

/// Where `step_to` came to.
#[derive(Clone, PartialEq, Debug)]
pub enum Reached {
    /// The time that was asked for.
    Time,
    /// An event, which is passed, at [`Simulation::time`].
    Event,
    /// The model called `terminate` with this message, at [`Simulation::time`].
    Terminated(String),
    /// Who watches it did not want it to go on, at [`Simulation::time`].
    Interrupted,
}

/// A state of a simulation to return to.
#[derive(Clone)]
pub struct Snapshot(Box<Simulation>);

impl Simulation {
    /// A simulation of a program, before its initialisation. The stop time of the options is where it is expected to end: it
    /// bounds the length of steps, not the time.
    pub fn of(program: &Arc<Program>, options: &Options) -> Self {
        Self::new(program, options, Journal::default())
    }

    /// Finds the first point; the message of a model that terminates itself at once.
    pub fn initialise(&mut self) -> Result<Option<String>, Box<Diagnostic>> {
        let mut sink = NullSink;
        let outcome = match self.begin(&mut Rows::new(Columns::default(), &mut sink)) {
            // The integrator leaves memory where it looked last.
            Ok(None) => self.start().and_then(|()| self.evaluate_at(self.time)).map(|()| None),
            outcome => outcome,
        };
        outcome.map_err(|stop| self.failed(stop))
    }

    /// Goes on to a time; with `to_events` no further than to the next event, which is passed.
    pub fn step_to(&mut self, time: f64, to_events: bool) -> Result<Reached, Box<Diagnostic>> {
        self.step_to_while(time, to_events, &mut |_| true)
    }

    /// Goes on like [`step_to`](Self::step_to) as long as `go_on`, which hears the time before each step, says so.
    pub fn step_to_while(
        &mut self,
        time: f64,
        to_events: bool,
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Reached, Box<Diagnostic>> {
        let outcome = self.advance(time, to_events, go_on);
        outcome.map_err(|stop| {
            let failure = self.failed(stop);
            // Values are those of the time that was reached, not of a place at which something was tried.
            if self.evaluate_at(self.time).is_err() {
                self.runtime.machine.trouble = None;
            }
            failure
        })
    }

    fn advance(&mut self, time: f64, to_events: bool, go_on: &mut dyn FnMut(f64) -> bool) -> Result<Reached, Stop> {
        self.extend(time)?;
        let mut sink = NullSink;
        let mut rows = Rows::new(Columns::default(), &mut sink);
        if let Some(reached) = self.pass_inputs(&mut rows)?.filter(|reached| to_events || *reached != Reached::Event) {
            if reached == Reached::Event {
                self.evaluate_at(self.time)?;
            }
            return Ok(reached);
        }
        while !self.has_reached(time) {
            if !go_on(self.time) {
                self.evaluate_at(self.time)?;
                return Ok(Reached::Interrupted);
            }
            match self.step(time, &mut rows)? {
                Progress::Again | Progress::Smooth => {}
                Progress::Event if !to_events => {}
                Progress::Event => {
                    self.evaluate_at(self.time)?;
                    return Ok(Reached::Event);
                }
                Progress::Terminated(message) => {
                    self.pass_terminal(&mut rows)?;
                    return Ok(Reached::Terminated(message));
                }
            }
        }
        self.evaluate_at(self.time)?;
        Ok(Reached::Time)
    }

    /// A run that goes on far behind its stop time may take steps as long as one that was meant to.
    fn extend(&mut self, time: f64) -> Result<(), Stop> {
        /// How much longer than expected it has to become: integration starts anew for it.
        const LONGER: f64 = 4.0;
        let start = self.options.start_time;
        if !time.is_finite() || time - start <= LONGER * (self.expected_end - start) {
            return Ok(());
        }
        self.expected_end = time;
        let options = Options { stop_time: time, ..self.options.clone() };
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        let method = applicable(self.options.solver, machine);
        let mut longer = method.integrator(machine.size(), settings(machine, &options));
        let (now, x) = (integrator.time(), integrator.state().to_vec());
        let outcome = longer.start(machine, now, &x, None);
        *integrator = longer;
        outcome.map_err(|error| Stop::from(self.step_trouble(error)))?;
        let extent = self.extent();
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        self.sizes.apply(machine, &mut **integrator, extent);
        Ok(())
    }

    /// Sets an input to a value that it has from now on. Where that is another one, the next step begins with an event.
    /// Without effect on what is no input, and on inputs that are given as functions of time.
    pub fn set_input(&mut self, input: VarId, value: f64) {
        if self.is_input(input) && !self.is_driven(input) {
            self.inputs.retain(|(known, _)| *known != input);
            self.inputs.push((input, value));
        }
    }

    /// Sets parameters to values that they have from now on. What depends on them is computed in an event with which the next
    /// step begins; states keep their values. The error says what a parameter decides that cannot be set during the run.
    pub fn set_parameters(&mut self, set: &[(VarId, f64)]) -> Result<(), Box<Diagnostic>> {
        let mut parameters = self.parameters.as_ref().unwrap_or(&self.options.parameters).to_vec();
        parameters.retain(|(known, _)| !set.iter().any(|(own, _)| own == known));
        parameters.extend_from_slice(set);
        let Some(&(cause, _)) = set.first() else { return Ok(()) };
        self.whole.check_parameters(&parameters)?;
        for program in [&self.whole, &self.program] {
            let [mut before, mut after] = [program.memory(), program.memory()];
            let told = |failure: compile::Failure| Box::new(failure.diagnostic(program.model()));
            program.run_parameters(&self.options.parameters, &mut before).map_err(told)?;
            program.run_parameters(&parameters, &mut after).map_err(told)?;
            program.check_change(&before, &after, cause)?;
            let schedule = &program.schedule;
            if let Some(decision) = program.violated(&schedule.decisions, &schedule.model, &after) {
                return Err(Box::new(decision.diagnostic(&schedule.model, cause)));
            }
        }
        self.parameters = Some(parameters.into());
        Ok(())
    }

    /// Lets the parameters that were set take their values.
    pub(super) fn take_parameters(&mut self) -> Result<(), Stop> {
        let Some(parameters) = self.parameters.take() else { return Ok(()) };
        self.options.parameters = parameters.clone();
        self.runtime.machine.change_parameters(&parameters)?;
        for modes in [&mut self.modes, &mut self.fallback.modes].into_iter().flatten() {
            modes.change_parameters(&parameters)?;
        }
        self.limits.check_parameters(&self.runtime.machine, self.options.tolerance);
        Ok(())
    }

    /// Whether a variable is determined from outside.
    pub fn is_input(&self, variable: VarId) -> bool {
        self.program.model().variables[variable].causality == Causality::Input
    }

    /// Whether an input is given as a function of time.
    pub fn is_driven(&self, variable: VarId) -> bool {
        self.options.inputs.has(variable)
    }

    /// Passes the event at which inputs change; nothing without such a change.
    fn pass_inputs(&mut self, rows: &mut Rows) -> Result<Option<Reached>, Stop> {
        let (program, machine) = (&self.program, &self.runtime.machine);
        self.inputs.retain(|&(input, value)| program.value(&machine.memory, input) != value);
        if self.inputs.is_empty() && self.parameters.is_none() {
            return Ok(None);
        }
        let terminated = self.event(self.time, Trigger { crossed: false, relation: false, before: None }, rows)?;
        Ok(Some(terminated.map_or(Reached::Event, Reached::Terminated)))
    }

    /// The value of a variable of the program that the simulation began with, at the time that it has come to. Not a number for
    /// a derivative that the mode in use does not have.
    pub fn value(&self, variable: VarId) -> f64 {
        self.in_mode(variable).map_or(f64::NAN, |variable| self.runtime.machine.value(variable))
    }

    /// The variable of the program in use that one of the program at the beginning stands for. Modes have derivatives of their
    /// own.
    pub fn in_mode(&self, variable: VarId) -> Option<VarId> {
        let (own, model) = (self.program.model(), self.whole.model());
        if base::Id::index(variable) >= model.variables.len() {
            return None;
        }
        if Arc::ptr_eq(&self.program, &self.whole) {
            return Some(variable);
        }
        let (root, order) = root_of(model, variable);
        if order == 0 {
            // Numbers are the same in all modes but for what a structure adds.
            let mode = self.program.schedule.mode.as_ref();
            let common = mode.map_or(own.variables.len(), |mode| mode.modes.model().variables.len());
            return Some(variable).filter(|&variable| base::Id::index(variable) < common);
        }
        let derivatives = self.derivatives.get_or_init(|| {
            let all = own.variables.iter().filter(|(_, declared)| declared.derivative_of.is_some());
            all.map(|(variable, _)| (root_of(own, variable), variable)).collect()
        });
        derivatives.get(&(root, order)).copied()
    }

    /// The program that is run.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// A copy to return to.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(Box::new(self.clone()))
    }

    /// Returns to a snapshot: from there it goes on as it did, bit for bit.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.clone_from(&snapshot.0);
    }

    pub(super) fn failed(&self, stop: Stop) -> Box<Diagnostic> {
        match stop {
            Stop::Trouble(trouble) => Box::new(trouble.diagnostic(self.program.model())),
            Stop::Result(error) => Box::new(Diagnostic::error("result", error.to_string())),
        }
    }
}
