//! One program with its memory: evaluates the model at a point of time and state.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use compile::{Address, Memory, Program, Section, SectionStep, Sections};
use dae::VarId;
use solve::{CrossingFunctions, DaeProblem, EvalError, OdeProblem, Pattern};

use crate::arrangement::Arrangement;
use crate::branches::Branches;
use crate::departure::Departures;
use crate::guesses::Guesses;
use crate::nominal::nominal;
use crate::resting::Resting;
use crate::sensitivities::Sensitivities;
use crate::systems::{self, Systems};

pub use crate::systems::Phase;
pub use crate::trouble::Trouble;

/// What an evaluation took, since it was asked last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evaluations {
    pub right_hand_side: Duration,
    pub jacobian: Duration,
}

/// Names a section of a program.
pub type Choose = fn(&Sections) -> &Section;

#[derive(Clone)]
pub struct Machine {
    pub program: Arc<Program>,
    pub memory: Memory,
    pub systems: Systems,
    /// Where ∂ẋ/∂x has entries.
    pattern: Pattern,
    /// The Jacobian evaluated last: some of it never changes.
    known_jacobian: Vec<f64>,
    /// The step that the factorisations of inline integration were made with.
    inline_step: f64,
    /// Memory holds the evaluation at this time and its states.
    settled: Option<f64>,
    /// For the integrator that takes algebraic unknowns, made when it asks first.
    pub(crate) arrangement: Option<Box<Arrangement>>,
    pub(crate) guessed: Vec<f64>,
    guesses: Guesses,
    pub branches: Branches,
    /// The unknowns of nonlinear systems and their values at the beginning of the step: another place to start from.
    anchor: Vec<(Address, f64)>,
    /// What evaluations take, where that is measured.
    evaluations: Option<Evaluations>,
    /// How far relations on time look ahead of the instant of an event.
    pub ahead: f64,
    pub resting: Resting,
    /// Relations of nonlinear systems that may rest at zero.
    pub departures: Departures,
    /// How often systems were solved in place, and whether that lost digits: then no system is.
    solved_in_place: u64,
    /// The unknowns of systems that are solved in place, as they were before the section at hand.
    kept: Vec<(Address, f64)>,
    is_careful: bool,
    /// Values of parameters in place of those of the program.
    parameters: Arc<[(VarId, f64)]>,
    /// The last trouble of an evaluation that an integrator asked for.
    pub trouble: Option<Trouble>,
    /// Where somebody asked for sensitivities.
    pub(crate) sensitivities: Option<Box<Sensitivities>>,
}

impl Machine {
    pub fn new(program: Arc<Program>) -> Self {
        let pattern = systems::pattern(&program.ode_pattern);
        let memory = program.memory();
        Self {
            systems: Systems::new(&program),
            pattern,
            known_jacobian: Vec::new(),
            inline_step: 0.0,
            guesses: Guesses::new(&program),
            branches: Branches::new(&program, &memory),
            memory,
            settled: None,
            arrangement: None,
            guessed: Vec::new(),
            anchor: nonlinear_unknowns(&program),
            evaluations: None,
            ahead: 0.0,
            resting: Resting::new(&program),
            departures: Departures::new(&program),
            solved_in_place: 0,
            kept: Vec::new(),
            is_careful: false,
            parameters: Arc::default(),
            trouble: None,
            sensitivities: None,
            program,
        }
    }

    /// External objects and the states of functions in other languages become its own, not those of the machine it is a copy of.
    pub fn own_external_objects(&mut self) {
        let own = self.memory.native.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        self.memory.native = Arc::new(Mutex::new(own));
        self.systems.share_external_objects(&self.memory);
    }

    /// From now on parameters have these values in place of those of the program.
    pub fn set_parameters(&mut self, parameters: &Arc<[(VarId, f64)]>) {
        self.parameters = parameters.clone();
        self.program.set_parameters(parameters, &mut self.memory);
    }

    /// The values that parameters have in place of those of the program.
    pub fn parameters(&self) -> &[(VarId, f64)] {
        &self.parameters
    }

    /// Gives parameters other values during the run. Nothing that was computed from the old ones is kept.
    pub fn change_parameters(&mut self, parameters: &Arc<[(VarId, f64)]>) -> Result<(), Trouble> {
        self.set_parameters(parameters);
        self.run_parameters()?;
        self.known_jacobian.clear();
        self.inline_step = 0.0;
        self.systems.reset();
        Ok(())
    }

    /// Computes all parameters.
    pub fn run_parameters(&mut self) -> Result<(), Trouble> {
        self.program.set_parameters(&self.parameters, &mut self.memory);
        if !self.program.computes_any(&self.parameters) {
            return self.run(|sections| &sections.parameters, Phase::Live);
        }
        self.settled = None;
        Ok(self.program.run_parameters(&self.parameters, &mut self.memory)?)
    }

    /// Measures what evaluations take from now on.
    pub fn measure(&mut self) {
        self.evaluations = Some(Evaluations::default());
        self.systems.measure();
    }

    /// What evaluations took since this was asked last.
    pub fn take_evaluations(&mut self) -> Evaluations {
        self.evaluations.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(crate) fn now(&self) -> Option<Instant> {
        self.evaluations.map(|_| Instant::now())
    }

    /// Runs a section; simultaneous systems are solved on the way.
    pub fn run(&mut self, choose: Choose, phase: Phase) -> Result<(), Trouble> {
        self.settled = None;
        let Machine { program, memory, systems, kept, .. } = self;
        let section = choose(&program.sections);
        let mut run = |steps: &[SectionStep], memory: &mut Memory| {
            memory.set_live(phase == Phase::Live);
            let solve = &mut |system, memory: &mut Memory| systems.solve(program, system, memory, phase);
            program.run(steps, memory, solve)
        };
        let is_in_place = !self.is_careful && !section.in_place.is_empty();
        if is_in_place {
            keep_unknowns(program, section, memory, kept);
        }
        let mut outcome = if is_in_place { run(&section.in_place, memory) } else { run(section, memory) };
        // A system that was solved in place may have been singular. What its equations leave open stays what it was.
        if is_in_place && matches!(outcome, Err(Trouble::Evaluation(_))) {
            kept.iter().for_each(|&(slot, value)| memory.values[slot as usize] = value);
            outcome = run(section, memory);
        } else if is_in_place && outcome.is_ok() {
            outcome = self.watch_systems_in_place(choose, phase);
        }
        self.memory.set_live(false);
        outcome
    }

    /// Looks, less and less often, at what systems leave that were solved in place. Where one loses digits, the section is run
    /// again without this shortcut.
    fn watch_systems_in_place(&mut self, choose: Choose, phase: Phase) -> Result<(), Trouble> {
        self.solved_in_place += 1;
        if !self.solved_in_place.is_power_of_two() {
            return Ok(());
        }
        let Machine { program, memory, systems, .. } = self;
        let section = choose(&program.sections);
        for (step, usual) in section.iter().zip(&section.in_place) {
            if let (SectionStep::Solve(system), SectionStep::Code(_)) = (step, usual)
                && systems.goes_whole(program, *system, memory)?
            {
                self.is_careful = true;
            }
        }
        if self.is_careful { self.run(choose, phase) } else { Ok(()) }
    }

    /// Everything that changes between events, at `(t, x)`.
    pub fn evaluate(&mut self, t: f64, x: &[f64]) -> Result<(), Trouble> {
        // The end of a step is asked for by the integrator, by the search for events and by the output.
        if self.settled == Some(t) && self.memory.time() == t && self.program.has_states(&self.memory, x) {
            return Ok(());
        }
        self.memory.set_time(t);
        self.program.write_states(&mut self.memory, x);
        self.refresh()
    }

    /// Everything that changes between events, at a point of the step at hand, whose branches are known.
    pub fn evaluate_inside(&mut self, t: f64, x: &[f64]) -> Result<(), Trouble> {
        let is_settled = self.settled == Some(t) && self.memory.time() == t;
        if !self.branches.are_followed() || is_settled {
            return self.evaluate(t, x);
        }
        self.branches.approach(&mut self.memory, t);
        self.evaluate_guessed(t, x)
    }

    /// Everything that changes between events, at a point ahead of those that are known.
    pub fn evaluate_predicted(&mut self, t: f64, x: &[f64]) -> Result<(), Trouble> {
        self.unsettle();
        self.branches.predict(&mut self.memory, t);
        self.evaluate_guessed(t, x)
    }

    /// Evaluates from a guess of the branches; where that leads nowhere, from the solutions that were there before.
    fn evaluate_guessed(&mut self, t: f64, x: &[f64]) -> Result<(), Trouble> {
        let outcome = self.evaluate(t, x);
        match &outcome {
            Err(Trouble::System(_)) => {
                self.branches.take_back(&mut self.memory);
                self.evaluate(t, x).or(outcome)
            }
            _ => outcome,
        }
    }

    /// Remembers the solutions of nonlinear systems. A step is looked at in no particular order, from its end to its
    /// beginning; what is found from the last point looked at may be far away.
    pub fn drop_anchor(&mut self) {
        let Machine { memory, anchor, .. } = self;
        anchor.iter_mut().for_each(|(slot, value)| *value = memory.values[*slot as usize]);
    }

    /// Takes the solutions of nonlinear systems from the beginning of the step.
    pub fn return_to_anchor(&mut self) {
        let Machine { memory, anchor, .. } = self;
        anchor.iter().for_each(|&(slot, value)| memory.values[slot as usize] = value);
        self.unsettle();
    }

    /// Between events: runs a section, from the solutions at the beginning of the step where the last ones lead nowhere.
    fn run_between(&mut self, choose: Choose) -> Result<(), Trouble> {
        let outcome = self.run(choose, Phase::Frozen);
        match &outcome {
            // Predictions may lead to where an expression is not defined.
            Err(Trouble::System(_)) if !self.anchor.is_empty() => {
                self.return_to_anchor();
                self.run(choose, Phase::Frozen).or(outcome)
            }
            _ => outcome,
        }
    }

    /// Everything that changes between events, at the time and the states in memory.
    pub fn refresh(&mut self) -> Result<(), Trouble> {
        self.run_between(|sections| &sections.dynamics)?;
        // What a delay gives may depend on what was recorded since.
        self.settled = self.memory.delays.is_empty().then_some(self.memory.time());
        Ok(())
    }

    /// Memory was changed from outside: what it holds has to be evaluated again.
    pub fn unsettle(&mut self) {
        self.settled = None;
    }

    /// What only results need, after `evaluate`.
    pub fn evaluate_outputs(&mut self) -> Result<(), Trouble> {
        if self.program.sections.outputs.is_empty() {
            self.memory.set_live(false);
            return Ok(());
        }
        let settled = self.settled;
        let outcome = self.run_between(|sections| &sections.outputs);
        self.settled = settled;
        outcome
    }

    /// The values at hand become those before the event.
    pub fn save_pre(&mut self) {
        self.program.save_pre(&mut self.memory);
    }

    pub fn value(&self, variable: VarId) -> f64 {
        self.program.value(&self.memory, variable)
    }

    pub fn nominal(&self, variable: VarId) -> f64 {
        nominal(&self.program, &self.memory, variable)
    }

    /// A whole step by the program in which states are unknowns.
    fn run_inline(&mut self, t: f64, step: f64, base: &[f64]) -> Result<(), Trouble> {
        let program = &self.program;
        let Some(slots) = &program.inline else { return Err(no_inline_integration()) };
        if self.inline_step != step {
            self.inline_step = step;
            self.systems.forget_section(&program.sections.inline);
        }
        self.memory.set_time(t);
        self.memory.values[slots.step as usize] = step;
        for (&slot, &value) in slots.base.iter().zip(base) {
            self.memory.values[slot as usize] = value;
        }
        let guessed = self.guesses.write(&mut self.memory, step);
        let mut outcome = self.run(|sections| &sections.inline, Phase::Frozen);
        if guessed && outcome.is_err() {
            self.guesses.write_last(&mut self.memory);
            outcome = self.run(|sections| &sections.inline, Phase::Frozen);
        }
        outcome?;
        self.guesses.note(&self.memory, step);
        self.settled = self.memory.delays.is_empty().then_some(self.memory.time());
        Ok(())
    }

    pub(crate) fn count_jacobian(&mut self, begun: Option<Instant>) {
        if let (Some(evaluations), Some(begun)) = (&mut self.evaluations, begun) {
            evaluations.jacobian += begun.elapsed();
        }
    }

    pub(crate) fn count_evaluation(&mut self, begun: Option<Instant>) {
        if let (Some(evaluations), Some(begun)) = (&mut self.evaluations, begun) {
            evaluations.right_hand_side += begun.elapsed();
        }
    }

    /// Keeps the trouble for the message, should the integrator give up.
    pub(crate) fn recoverable(&mut self, outcome: Result<(), Trouble>) -> Result<(), EvalError> {
        outcome.map_err(|trouble| {
            self.trouble = Some(trouble);
            EvalError::recoverable(0)
        })
    }
}

/// Takes note of the unknowns of the systems that a section solves in place: where one is singular, the code leaves no number.
fn keep_unknowns(program: &Program, section: &Section, memory: &Memory, kept: &mut Vec<(Address, f64)>) {
    kept.clear();
    for (step, usual) in section.iter().zip(&section.in_place) {
        if let (SectionStep::Solve(system), SectionStep::Code(_)) = (step, usual) {
            let slots = &program.systems[*system].slots;
            kept.extend(slots.iter().map(|&slot| (slot, memory.values[slot as usize])));
        }
    }
}

fn no_inline_integration() -> Trouble {
    let message = "inline integration needs one structure for the whole run, and this one changes";
    let hint = "choose a method that is not inline, such as --solver implicit-euler";
    Trouble::Model(Box::new(base::Diagnostic::error("no-inline-integration", message).hint(hint)))
}

/// The unknowns that Newton's method iterates, with nothing known of them yet.
fn nonlinear_unknowns(program: &Program) -> Vec<(Address, f64)> {
    let steps = program.sections.dynamics.iter().chain(&program.sections.outputs);
    let systems = steps.filter_map(|step| match step {
        SectionStep::Solve(system) => Some(&program.systems[*system]),
        _ => None,
    });
    let nonlinear = systems.filter(|system| system.kind.matrix().is_none());
    nonlinear.flat_map(|system| system.slots.iter().map(|&slot| (slot, 0.0))).collect()
}

impl OdeProblem for Machine {
    fn size(&self) -> usize {
        self.program.states.len()
    }

    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        let begun = self.now();
        // Inline methods ask for this when they begin, at the start and behind events.
        self.guesses.forget();
        let is_guessed = self.branches.look_ahead(&mut self.memory, t);
        let outcome = if is_guessed { self.evaluate_guessed(t, x) } else { self.evaluate(t, x) };
        self.count_evaluation(begun);
        self.take_here_or_beyond(outcome, &mut |machine| machine.program.read_derivatives(&machine.memory, dx))
    }

    fn jacobian_pattern(&self) -> Option<&Pattern> {
        Some(&self.pattern)
    }

    fn jacobian(&mut self, t: f64, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        let begun = self.now();
        let mut outcome = self.evaluate(t, x);
        if outcome.is_ok() {
            let Machine { program, memory, systems, known_jacobian, .. } = self;
            outcome = systems.factor_all(program, memory).and_then(|()| {
                let mut solve =
                    |system, memory: &mut Memory, rhs: &mut [f64]| systems.solve_tangent(program, system, memory, rhs);
                match known_jacobian.as_slice() {
                    [] => program.ode_jacobian(memory, values, &mut solve)?,
                    known => {
                        values.copy_from_slice(known);
                        program.renew_ode_jacobian(memory, values, &mut solve)?;
                    }
                }
                known_jacobian.clear();
                known_jacobian.extend_from_slice(values);
                Ok(())
            });
        }
        self.count_jacobian(begun);
        self.recoverable(outcome)?;
        Ok(true)
    }

    fn implicit(&mut self) -> Option<&mut dyn DaeProblem> {
        Some(self)
    }

    fn inline_stage(
        &mut self,
        t: f64,
        step: f64,
        base: &[f64],
        x: &mut [f64],
        dx: &mut [f64],
    ) -> Result<(), EvalError> {
        let begun = self.now();
        let outcome = self.run_inline(t, step, base);
        self.count_evaluation(begun);
        self.recoverable(outcome)?;
        self.program.read_states(&self.memory, x);
        self.program.read_derivatives(&self.memory, dx);
        Ok(())
    }
}

impl CrossingFunctions for Machine {
    fn count(&self) -> usize {
        self.program.roots.len()
    }

    fn evaluate(&mut self, t: f64, x: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        let outcome = self.evaluate_inside(t, x);
        self.take_here_or_beyond(outcome, &mut |machine| {
            let Machine { program, memory, .. } = machine;
            program.crossings(memory, values);
        })
    }
}
