//! A simulation as a value: steps of the integrator, events between them, rows of the result where somebody takes them.

use std::sync::{Arc, OnceLock};

use base::{Decimal, Diagnostic};
use compile::{Class, Program};
use dae::VarId;
use results::ResultError;
use rustc_hash::FxHashMap;
use solve::roots::{Crossing, Event};
use solve::{Method, OdeProblem, RootFinder, StepError};
use transform::modes::Modes;

use crate::bands::Bands;
use crate::clockwork::{self, Clockwork, same_instant};
use crate::columns::Rows;
use crate::departure::Departure;
use crate::event_log::{Entry, Journal};
use crate::events::{self, Aftermath, Names};
use crate::exchange::exchange;
use crate::idle::{Horizon, IdleCrossings};
use crate::initial;
use crate::limits::Limits;
use crate::machine::{Machine, Phase, Trouble};
use crate::modes::{ModeRuntime, Switching};
use crate::options::Options;
use crate::outcome::RunStatistics;
use crate::places::not_finite;
use crate::profile::{Meter, Part, Profile};
use crate::projection::Projector;
use crate::rhythm::{RecentEvents, RestlessEvents};
use crate::signals::Signals;
use crate::sizes::{Extent, Sizes};
use crate::systems::Systems;
use crate::undetermined;
use remember::Remembering;

mod depart;
mod failure;
mod follow;
mod given;
mod guard;
mod hidden_jumps;
mod jumps;
mod leaving;
mod linearize;
mod outside;
mod remember;
mod report;
mod retake;
mod sensitivity;
mod stalled;
mod steady;
mod takeover;
mod undefined;

pub use given::{Accepted, System, Update};
use jumps::Fallback;
pub use outside::{Reached, Snapshot};

/// The method that a run takes where the options name `method`.
fn applicable(method: Method, machine: &Machine) -> Method {
    match method {
        // Without states there is nothing to choose by.
        Method::Auto if machine.program.states.is_empty() => Method::Tsit5,
        // Without algebraic unknowns it is the same formula.
        Method::Dae if machine.program.implicit.is_none() => Method::Bdf,
        method => method,
    }
}

impl ModeRuntime {
    /// A runtime with the solver that the options name.
    pub fn new(mut machine: Machine, options: &Options) -> Self {
        let method = applicable(options.solver, &machine);
        machine.systems.tolerance = options.tolerance;
        machine.program.drive(&mut machine.memory, &options.inputs, options.start_time);
        machine.set_parameters(&options.parameters);
        if options.measure {
            machine.measure();
        }
        let program = &machine.program;
        let mut roots = RootFinder::new(program.roots.len(), machine.size());
        // What the states do not feel, such as a source behind a blocking diode, does not shorten steps.
        roots.set_resolution(options.interval);
        Self {
            integrator: method.integrator(machine.size(), settings(&machine, options)),
            roots,
            bands: Bands::new(program),
            idle: IdleCrossings::default(),
            signals: Signals::new(program),
            names: Names::new(&machine),
            has_partial_relations: program.has_partial_relations(),
            machine,
            switch: None,
            carried: None,
            started: false,
        }
    }
}

/// What an integrator may iterate: the states, then the unknowns of simultaneous systems.
fn unknowns(program: &Program) -> impl Iterator<Item = dae::VarId> {
    let algebraic = program.implicit.iter().flat_map(|implicit| &implicit.systems);
    let algebraic = algebraic.flat_map(|&system| &program.systems[system].iteration).copied();
    program.states.iter().map(|state| state.variable).chain(algebraic)
}

/// The options of the integrator: tolerances by nominal values, and the longest step.
fn settings(machine: &Machine, options: &Options) -> solve::Options {
    let states = &machine.program.states;
    let nominals: Vec<f64> = unknowns(&machine.program).map(|variable| machine.nominal(variable)).collect();
    let span = options.stop_time - options.start_time;
    let mut settings = solve::Options::with_nominals(options.tolerance, &nominals);
    settings.fixed_step = options.step.unwrap_or(options.interval);
    // Without states nothing but the output grid says how fast the model changes.
    settings.max_step = if states.is_empty() { options.interval.min(span / 50.0) } else { span };
    settings.max_step = options.max_step.map_or(settings.max_step, |longest| longest.min(settings.max_step));
    settings
}

/// How exactly crossings are located, relative to the time and the step: one that lies so close before an event known in
/// advance is part of it.
const LOCATED: f64 = 1e-12;

/// The time after which a run gets machine code, with that of the runs of its program before it.
const WORTH_MACHINE_CODE: std::time::Duration = std::time::Duration::from_millis(5);

/// What a run has taken so far.
#[derive(Clone)]
struct Effort {
    since: std::time::Instant,
    /// What runs before it took.
    earlier: std::time::Duration,
    /// The steps and rows made.
    rounds: u32,
    /// Machine code of everything is being made.
    complete: bool,
}

impl Effort {
    fn new(program: &Program) -> Self {
        Self { since: std::time::Instant::now(), earlier: program.time_spent(), rounds: 0, complete: false }
    }

    fn is_worth_machine_code(&self) -> bool {
        self.earlier + self.since.elapsed() > WORTH_MACHINE_CODE
    }
}

/// What made an event.
#[derive(Clone, Copy)]
struct Trigger {
    /// A crossing function.
    crossed: bool,
    /// A relation on time alone.
    relation: bool,
    /// The last time at which nothing had crossed.
    before: Option<f64>,
}

/// Why a part of a run did not go on.
pub(crate) enum Stop {
    Trouble(Trouble),
    Result(ResultError),
}

impl Stop {
    fn is_singular(&self) -> bool {
        matches!(self, Stop::Trouble(trouble) if trouble.is_singular())
    }
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Self {
        Stop::Trouble(trouble)
    }
}

impl From<ResultError> for Stop {
    fn from(error: ResultError) -> Self {
        Stop::Result(error)
    }
}

/// How far a step came.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Progress {
    /// The step is to be taken again.
    Again,
    /// Nothing happened.
    Smooth,
    Event,
    /// The model called `terminate`, with this message.
    Terminated(String),
}

/// A run of a program at an instant, with everything that its future depends on. A copy goes on in the same way, bit for bit.
#[derive(Clone)]
pub struct Simulation {
    pub(crate) program: Arc<Program>,
    /// The program that it began with; modes have others.
    whole: Arc<Program>,
    options: Options,
    pub(crate) runtime: Box<ModeRuntime>,
    modes: Option<Box<Switching>>,
    /// The modes of a model that is sorted as one structure, for the case that this becomes singular.
    spare: Option<Arc<Modes>>,
    /// What is remembered for the case that the structure for all modes does not do for the event at hand.
    fallback: Fallback,
    /// What the values of parameters change about a mode.
    violation: Option<Diagnostic>,
    /// How far the run has come.
    time: f64,
    /// Inputs that change at the next event.
    inputs: Vec<(VarId, f64)>,
    /// The values of parameters from the next event on, where they change.
    parameters: Option<Arc<[(VarId, f64)]>>,
    last_step: f64,
    /// The time that steps are meant to lead to.
    expected_end: f64,
    /// The end of a short flight for which errors are smaller than the tolerance.
    sharp_until: f64,
    /// The impulses of variables in the instant at hand.
    impulses: Vec<(VarId, f64)>,
    pub(crate) log: Journal,
    pub(crate) clockwork: Clockwork,
    pub(crate) statistics: RunStatistics,
    x: Vec<f64>,
    /// The slopes of the states at an output point.
    slopes: Vec<f64>,
    /// The number of the next output point.
    next_output: u64,
    /// What triggered the event at hand.
    crossings: Vec<Crossing>,
    /// How far their functions went since the event before, relative to how far they ever went.
    excursions: Vec<f64>,
    recent: RecentEvents,
    effort: Effort,
    /// What delays and transports remember.
    remembering: Remembering,
    /// The instant of the last event, and how many came before it at the same instant.
    instant: (f64, u32),
    projector: Option<Projector>,
    limits: Limits,
    meter: Meter,
    guard: guard::Guard,
    /// What the search for a stationary state has to say.
    notices: Vec<Diagnostic>,
    sizes: Sizes,
    stalled: stalled::Stalled,
    /// The side that relations at zero leave to in the event at hand.
    departure: Option<Departure>,
    /// How far the branches were followed in the step at hand, if another one begins inside of it.
    followed_until: Option<f64>,
    /// The derivatives of the rows so far, where somebody asked for sensitivities.
    sensitivity_rows: Vec<f64>,
    /// Once somebody asked for derivatives.
    linearizer: Option<Box<crate::linear::Linearizer>>,
    /// The derivatives of the mode in use by what they are derivatives of, once somebody asked for one.
    derivatives: OnceLock<FxHashMap<(VarId, u32), VarId>>,
}

impl Simulation {
    pub(crate) fn new(program: &Arc<Program>, options: &Options, log: Journal) -> Self {
        let runtime = Box::new(ModeRuntime::new(Machine::new(program.clone()), options));
        let schedule = &program.schedule;
        let modes = schedule.mode.as_ref().map(|mode| &*mode.modes).or(schedule.modes.as_deref());
        let switched = modes.map(|modes| modes.switched.as_slice()).unwrap_or_default();
        Self {
            options: options.clone(),
            program: program.clone(),
            whole: program.clone(),
            impulses: switched.iter().map(|&variable| (variable, 0.0)).collect(),
            log,
            clockwork: Clockwork::default(),
            statistics: RunStatistics { modes: 1, ..RunStatistics::default() },
            x: vec![0.0; runtime.machine.size()],
            slopes: vec![0.0; runtime.machine.size()],
            next_output: 1,
            crossings: Vec::new(),
            excursions: Vec::new(),
            recent: RecentEvents::default(),
            remembering: Remembering::new(options.start_time),
            effort: Effort::new(program),
            instant: (f64::NEG_INFINITY, 0),
            projector: Projector::new(&runtime.machine, options.tolerance),
            modes: None,
            spare: None,
            fallback: Fallback::new(&runtime.machine, options.tolerance),
            violation: None,
            time: options.start_time,
            inputs: Vec::new(),
            parameters: None,
            last_step: options.interval,
            expected_end: options.stop_time,
            sharp_until: f64::INFINITY,
            limits: Limits::default(),
            meter: Meter::new(options.measure),
            guard: guard::Guard::default(),
            notices: Vec::new(),
            sizes: Sizes::default(),
            stalled: stalled::Stalled::default(),
            departure: None,
            followed_until: None,
            sensitivity_rows: Vec::new(),
            linearizer: None,
            derivatives: OnceLock::new(),
            runtime,
        }
    }

    /// How far it has come.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Whether it has come to this time, but for rounding.
    pub(crate) fn has_reached(&self, time: f64) -> bool {
        self.time >= time || same_instant(self.time, time)
    }

    /// Initialises and writes the first row; `Some` when the model terminated itself at once.
    pub(crate) fn begin(&mut self, rows: &mut Rows) -> Result<Option<String>, Stop> {
        let start = self.options.start_time;
        self.begin_sensitivities()?;
        let begun = match &self.program.schedule.mode {
            Some(mode) => {
                let mut modes = Box::new(Switching::new(mode.modes.clone(), self.program.clone(), &self.options));
                modes.adopt(&mut self.runtime)?;
                match &self.options.start_point.clone() {
                    Some(point) => self.resume_in_modes(modes, point),
                    None => self.begin_in_modes(modes, false),
                }
            }
            None => {
                self.spare = self.program.schedule.modes.clone();
                self.begin_in_one(start)
            }
        };
        self.check_violation()?;
        let aftermath = begun?;
        if self.options.steady_state {
            self.find_steady_state()?;
        }
        rows.begin()?;
        self.settle_after_event()?;
        self.check_sensitivities()?;
        if self.exchange_if_better()? {
            self.settle_after_event()?;
        }
        self.begin_remembering()?;
        self.limits = Limits::new(&self.runtime.machine, self.options.tolerance);
        self.log_first_signs();
        self.write_row(rows)?;
        self.forget_impulses();
        Ok(aftermath.terminated)
    }

    /// Integration begins at the first point.
    pub(crate) fn start(&mut self) -> Result<(), Stop> {
        self.program.read_states(&self.runtime.machine.memory, &mut self.x);
        self.runtime.started = true;
        self.measure_states();
        if let Err(error) = self.runtime.integrator.start(&mut self.runtime.machine, self.time, &self.x, None) {
            return Err(self.step_trouble(error).into());
        }
        // The first step of a run is short, whatever follows.
        self.follow_short_flight(self.time, self.options.interval)?;
        self.effort = Effort::new(&self.whole);
        if self.options.solver.is_fixed_step() {
            // Steps are to cost the same from the beginning.
            self.effort.complete = true;
            self.program.compile_in_background();
        }
        Ok(())
    }

    /// The states at the beginning say how large they are.
    fn measure_states(&mut self) {
        if self.options.solver.is_fixed_step() {
            return;
        }
        let extent = self.extent();
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        self.sizes.begin(machine, self.time, &self.x, extent);
        self.sizes.apply(machine, &mut **integrator, extent);
    }

    /// A step was not possible: where sizes that have fallen with their states may be the reason, it is tried without them.
    fn takes_back_sizes(&mut self, error: StepError) -> bool {
        if !matches!(error, StepError::StepTooSmall { .. } | StepError::NoConvergence { .. }) {
            return false;
        }
        let extent = self.extent();
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        if !self.sizes.release(machine, &mut **integrator, extent) {
            return false;
        }
        machine.return_to_anchor();
        let (time, x) = (integrator.time(), integrator.state().to_vec());
        // The steps that failed have become too short.
        integrator.start(machine, time, &x, None).is_ok()
    }

    fn extent(&self) -> Extent {
        Extent { span: self.options.stop_time - self.options.start_time, tolerance: self.options.tolerance }
    }

    /// Goes on by a step of the integrator, to `stop` or the next event at most, and passes that event.
    pub(crate) fn step(&mut self, stop: f64, rows: &mut Rows) -> Result<Progress, Stop> {
        let begun = self.meter.begin_step(&mut self.runtime.machine);
        let mut time = self.time;
        let (known, relation) = self.clockwork.next(&self.program, &mut self.runtime.machine.memory, time, stop);
        if let Some((relation, gap)) = self.clockwork.crowded() {
            let expression = self.program.layout.relations[relation].expression;
            let crowd = RestlessEvents::Crowd { gap };
            return Err(crowd.trouble(time, self.program.model(), expression).into());
        }
        if known <= time || same_instant(known, time) {
            // A relation that is zero now and about to leave: the event is due before any step. One that crosses a
            // rounding error later needs that later time, or it would never cross.
            time = known.max(time);
            self.time = time;
            let terminated = self.event(time, Trigger { crossed: false, relation, before: None }, rows)?;
            self.meter.add(Part::Events, begun);
            return Ok(terminated.map_or(Progress::Event, Progress::Terminated));
        }
        let kink = self.next_kink(time);
        let limit = known.min(stop).min(self.reach(time)).min(self.remembering.limit(time)).min(kink);
        self.runtime.machine.drop_anchor();
        let step = match self.integrate(limit) {
            Ok(step) => step,
            Err(error) if self.takes_back_sizes(error) => return Ok(Progress::Again),
            Err(error) => return Err(self.lost_states().unwrap_or_else(|| self.step_trouble(error)).into()),
        };
        self.last_step = step.t_new - step.t_old;
        self.meter.end_step(begun, &mut self.runtime.machine);
        let followed = self.meter.now();
        if !self.follow_branches(step.t_old, step.t_new, rows)? {
            self.time = self.retake_from(step.t_old)?;
            self.meter.add(Part::Events, followed);
            return Ok(Progress::Again);
        }
        let reached = self.followed_until.take().unwrap_or(step.t_new);
        let mut arrival = self.remember_step(step.t_old, reached)?;
        if let Some(jump) = arrival
            && self.takes_in(&step, jump)
        {
            self.time = self.retake_from(step.t_old)?;
            self.meter.add(Part::Events, followed);
            return Ok(Progress::Again);
        }
        let end = arrival.unwrap_or(reached);
        let searched = self.meter.now();
        let found = self.search_step(step.t_old, end)?;
        // What only rounding separates from the end may as well cross behind it, unless it is computed from time alone.
        let mut crossing = found.filter(|event| !same_instant(event.t, stop) || self.crosses_by_time());
        if let Some(event) = &crossing
            && self.leaves_wrongly(&step, event)?
        {
            self.time = self.retake(step.t_old, step.t_old)?;
            self.meter.add(Part::Events, searched);
            return Ok(Progress::Again);
        }
        if let Some(event) = &crossing
            && self.has_unfrozen_relations()
            && self.takes_in(&step, event.t)
        {
            self.time = self.retake(step.t_old, step.t_old)?;
            self.meter.add(Part::Events, searched);
            return Ok(Progress::Again);
        }
        if crossing.is_none() && self.turns_unseen(&step)? {
            self.time = self.retake(step.t_old, step.t_old)?;
            self.meter.add(Part::Events, searched);
            return Ok(Progress::Again);
        }
        time = crossing.map_or(end, |event| event.t);
        if let Some(departed) = self.find_departure(step.t_old, time)? {
            (crossing, arrival, time) = (None, None, departed);
        }
        if same_instant(step.t_new, known) && known - time <= LOCATED * known.abs().max(self.last_step) {
            time = known;
        }
        if time < end
            && let Some(jump) = self.remember_part(step.t_old, time)?
        {
            if self.takes_in(&step, jump) {
                self.time = self.retake(step.t_old, step.t_old)?;
                self.meter.add(Part::Events, searched);
                return Ok(Progress::Again);
            }
            self.runtime.roots.forget_crossings();
            self.departure = None;
            (crossing, arrival, time) = (None, Some(jump), jump);
        }
        let due = same_instant(time, known);
        let departs = self.departure.is_some();
        let eventful = crossing.is_some() || due || arrival.is_some() || departs;
        if !eventful {
            self.check_conditions(step.t_old, time)?;
        }
        self.meter.add(Part::Events, searched);
        let written = self.meter.now();
        self.advance_sensitivities(time)?;
        if let Some(missed) = self.write_outputs_until(step.t_old, time, eventful, rows)? {
            self.time = self.retake(step.t_old, missed)?;
            self.take_back_sensitivities(self.time);
            self.meter.add(Part::Output, written);
            return Ok(Progress::Again);
        }
        self.meter.add(Part::Output, written);
        let passed = self.meter.now();
        self.time = time;
        if eventful {
            self.look_at_undetermined(step.t_old)?;
            let before = crossing.map(|event| event.t_before);
            let trigger = Trigger { crossed: crossing.is_some() || departs, relation: due && relation, before };
            if let Some(message) = self.event(time, trigger, rows)? {
                return Ok(Progress::Terminated(message));
            }
        } else {
            self.accept(time)?;
        }
        self.meter.add(Part::Events, passed);
        self.meter.finish_step(begun, time);
        self.speed_up();
        Ok(match eventful {
            true => Progress::Event,
            false => Progress::Smooth,
        })
    }

    /// Where an input changes its slope next: steps end there, so that what a file says is not stepped over.
    fn next_kink(&self, time: f64) -> f64 {
        self.runtime.machine.memory.driven.next_kink(clockwork::end_of_instant(time))
    }

    /// Whether a function of time alone makes the event that was found. Its argument has no error of integration.
    fn crosses_by_time(&self) -> bool {
        let relation =
            |crossing: &Crossing| &self.program.layout.relations[self.program.roots[crossing.function].relation];
        self.runtime.roots.crossings().iter().any(|crossing| relation(crossing).class == Class::Signal)
    }

    /// Searches the last step for the first event, up to `end`. Of functions with bounds it is known where they have crossed.
    fn search_step(&mut self, begin: f64, end: f64) -> Result<Option<Event>, Stop> {
        /// Rounding makes bounds and values differ; behind so many times at which they did, values decide alone.
        const MOST_ROUNDS: u32 = 32;
        let mut from = begin;
        let mut rounds = 0;
        loop {
            let ModeRuntime { machine, integrator, roots, signals, .. } = &mut *self.runtime;
            rounds += 1;
            let crossed = match signals.is_empty() || rounds > MOST_ROUNDS {
                true => None,
                false => signals.first(machine, roots, &**integrator, from, end),
            };
            let to = crossed.filter(|&time| time > from).unwrap_or(end);
            let found = roots.search(machine, &**integrator, from, to).map_err(|_| self.last_trouble())?;
            if found.is_some() || to >= end {
                return Ok(found);
            }
            from = to;
        }
    }

    /// A step without event: assertions are checked, delays remember, states are exchanged where others have become
    /// better.
    fn accept(&mut self, time: f64) -> Result<(), Stop> {
        self.advance_sensitivities(time)?;
        self.end_short_flight();
        self.watch_progress(time)?;
        if !self.sizes.is_empty() {
            let extent = self.extent();
            let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
            let followed = self.sizes.follow(machine, &mut **integrator, extent);
            followed.map_err(|state| state.trouble(time, self.program.model()))?;
        }
        self.drift(time)?;
        self.look_at_undetermined(time)?;
        let fixed = self.program.schedule.state_sets.is_empty();
        let quiet = self.program.sections.assertions.is_empty() && self.runtime.machine.memory.delays.is_empty();
        if quiet && fixed {
            return Ok(());
        }
        self.runtime.integrator.interpolate(time, &mut self.x);
        self.runtime.machine.evaluate(time, &self.x)?;
        events::check_assertions(&mut self.runtime.machine, &mut self.log)?;
        if !self.runtime.machine.memory.delays.is_empty() {
            self.runtime.machine.evaluate_outputs()?;
            self.program.settle_histories(&mut self.runtime.machine.memory);
        }
        if fixed { Ok(()) } else { self.exchange_states(time) }
    }

    /// Refuses to integrate what equations without a unique solution determine.
    fn look_at_undetermined(&mut self, time: f64) -> Result<(), Stop> {
        let Systems { shared, looked_at, .. } = &self.runtime.machine.systems;
        let new = *looked_at..shared.len();
        if new.is_empty() {
            return Ok(());
        }
        self.runtime.integrator.interpolate(time, &mut self.x);
        self.runtime.machine.evaluate(time, &self.x)?;
        self.runtime.machine.evaluate_outputs()?;
        self.runtime.machine.systems.looked_at = new.end;
        for place in new {
            let system = self.runtime.machine.systems.shared[place];
            undetermined::check(&mut self.runtime.machine, system)?;
        }
        Ok(())
    }

    /// Moves the states back to the constraints if they have gone too far from them.
    fn drift(&mut self, time: f64) -> Result<(), Stop> {
        /// In units of the tolerance.
        const TOO_FAR: f64 = 0.1;
        let Some(projector) = &mut self.projector else { return Ok(()) };
        self.runtime.integrator.interpolate(time, &mut self.x);
        if projector.project(&mut self.runtime.machine, time, &mut self.x)? <= TOO_FAR {
            return Ok(());
        }
        let outcome = self.runtime.integrator.correct(&mut self.runtime.machine, &self.x);
        outcome.map_err(|error| self.step_trouble(error).into())
    }

    /// States that were set anew at an event take the others with them.
    fn follow_changed_states(&mut self, time: f64) -> Result<(), Stop> {
        let Some(projector) = &mut self.projector else { return Ok(()) };
        let before = self.x.clone();
        self.program.read_states(&self.runtime.machine.memory, &mut self.x);
        let changed: Vec<bool> = before.iter().zip(&self.x).map(|(before, after)| before != after).collect();
        if changed.contains(&true) {
            projector.project_others(&mut self.runtime.machine, time, &mut self.x, changed)?;
        }
        Ok(())
    }

    /// Evaluates the model on the last step; constraints hold.
    fn evaluate_at(&mut self, time: f64) -> Result<(), Stop> {
        self.runtime.integrator.interpolate(time, &mut self.x);
        match &mut self.projector {
            Some(projector) => {
                projector.project(&mut self.runtime.machine, time, &mut self.x)?;
            }
            None => {
                self.runtime.integrator.approach(&mut self.runtime.machine, time);
                self.runtime.machine.evaluate_inside(time, &self.x)?;
                self.runtime.machine.evaluate_outputs()?;
            }
        }
        Ok(())
    }

    /// Evaluates the left limits of an event. A branch that ends there may be undefined behind it, or have another solution far
    /// away, and the event is located within an accuracy: then the values are those of the last time before it.
    fn evaluate_left_of(&mut self, time: f64, before: Option<f64>) -> Result<(), Stop> {
        let outcome = self.evaluate_at(time);
        let Some(before) = before else { return outcome };
        match outcome {
            Ok(()) if !self.lies_far_behind() => return Ok(()),
            Ok(()) | Err(Stop::Trouble(Trouble::Evaluation(_) | Trouble::System(_))) => {}
            Err(_) => return outcome,
        }
        self.evaluate_at(before)?;
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        integrator.interpolate(time, &mut self.x);
        machine.memory.set_time(time);
        self.program.write_states(&mut machine.memory, &self.x);
        machine.unsettle();
        Ok(())
    }

    /// Whether a relation that made the event is not next to zero at the point in memory.
    fn lies_far_behind(&mut self) -> bool {
        /// Relative to the largest residue.
        const FAR: f64 = 1e-6;
        let ModeRuntime { machine, roots, .. } = &mut *self.runtime;
        let mut residues = vec![0.0; self.program.roots.len()];
        self.program.crossings(&mut machine.memory, &mut residues);
        self.crossings.iter().any(|crossing| {
            let largest = roots.sizes(crossing.function).0;
            residues[crossing.function].abs() > FAR * largest
        })
    }

    /// Goes on with other states where those in use become bad.
    fn exchange_states(&mut self, time: f64) -> Result<(), Stop> {
        self.runtime.machine.evaluate_outputs()?;
        self.check_demanded_states()?;
        if !self.exchange_if_better()? {
            return Ok(());
        }
        self.settle_after_event()?;
        self.restart(time)
    }

    /// Integration begins anew at the states in memory.
    fn restart(&mut self, time: f64) -> Result<(), Stop> {
        self.forget_fitness();
        self.forget_progress();
        self.runtime.machine.systems.forget_factors(&self.program);
        self.program.read_states(&self.runtime.machine.memory, &mut self.x);
        let started = std::mem::replace(&mut self.runtime.started, true);
        if !self.options.solver.is_fixed_step() {
            let extent = self.extent();
            let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
            self.sizes.arrive(machine, time, &self.x, extent);
            self.sizes.apply(machine, &mut **integrator, extent);
        }
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        // A mode that is entered again goes on with the method and the step that it had.
        let outcome = match started {
            true => integrator.restart(machine, time, &self.x),
            false => integrator.start(machine, time, &self.x, None),
        };
        outcome.map_err(|error| self.step_trouble(error).into())
    }

    /// Machine code pays off in runs that take longer than making it.
    fn speed_up(&mut self) {
        /// So that modes that take turns have theirs.
        const ROUNDS: u32 = 31;
        self.effort.rounds = self.effort.rounds.wrapping_add(1);
        if self.effort.rounds.is_multiple_of(ROUNDS) && !self.effort.complete && self.effort.is_worth_machine_code() {
            self.program.compile_hot_in_background();
            self.runtime.machine.sensitivities.iter().for_each(|known| known.speed_up());
        }
    }

    /// The run is over: what it took counts for the next one of its program.
    pub(crate) fn note_effort(&self) {
        self.whole.add_time_spent(self.effort.since.elapsed());
    }

    /// Goes through the event at `time`: left limits, iteration, restart.
    fn event(&mut self, time: f64, trigger: Trigger, rows: &mut Rows) -> Result<Option<String>, Stop> {
        self.count_at_instant(time)?;
        self.crossings.clear();
        self.crossings.extend_from_slice(self.runtime.roots.crossings());
        let (roots, is_in_modes) = (&self.runtime.roots, self.modes.is_some());
        let excursion = |function: usize| {
            let (largest, excursion) = roots.sizes(function);
            // What never left the band of what counts as zero was not seen to go anywhere.
            let is_seen = !is_in_modes || roots.shifts()[function] == 0.0;
            if is_seen { excursion / largest.max(f64::MIN_POSITIVE) } else { 0.0 }
        };
        self.recent.note_excursions(excursion);
        self.excursions.clear();
        self.excursions.extend(self.crossings.iter().map(|crossing| excursion(crossing.function)));
        self.approach_event(time)?;
        self.take_left_limits(time, trigger)?;
        self.write_row(rows)?;
        self.log_triggers(time, trigger.crossed);
        self.sensitivities_left(trigger)?;
        self.pass(time, trigger, rows)
    }

    /// Evaluates the left limits of an event.
    fn take_left_limits(&mut self, time: f64, trigger: Trigger) -> Result<(), Stop> {
        self.evaluate_left_of(time, trigger.before)?;
        self.sizes.note_left(&self.runtime.machine, &self.x);
        self.program.record_delays(&mut self.runtime.machine.memory);
        self.clockwork.remember_delayed(&mut self.runtime.machine);
        self.program.save_pre(&mut self.runtime.machine.memory);
        let ModeRuntime { machine, bands, idle, .. } = &mut *self.runtime;
        idle.begin(machine, bands, &self.crossings, &self.excursions);
        Ok(())
    }

    /// Goes on from the left limits of an event to its end; the message of a model that terminates itself.
    fn pass(&mut self, time: f64, trigger: Trigger, rows: &mut Rows) -> Result<Option<String>, Stop> {
        let crossed = trigger.crossed;
        for (input, value) in self.inputs.drain(..) {
            self.program.set_value(&mut self.runtime.machine.memory, input, value);
        }
        self.runtime.machine.memory.pass_jumps(clockwork::end_of_instant(time));
        self.take_parameters()?;
        if crossed {
            self.statistics.state_events += 1;
        } else {
            self.statistics.time_events += 1;
        }
        self.runtime.machine.systems.forget_factors(&self.program);
        let passed = match self.modes.take() {
            Some(modes) => self.instant(modes, time, trigger),
            None => self.pass_in_one(time, trigger),
        };
        self.check_violation()?;
        let aftermath = passed?;
        self.runtime.machine.memory.set_time(time);
        self.program.take_arguments(&mut self.runtime.machine.memory);
        self.clockwork.note_jumps(&self.runtime.machine);
        self.remember_event(time)?;
        self.log.write(&Entry::Restart { time, iterations: aftermath.iterations });
        self.follow_changed_states(time)?;
        self.settle_after_event()?;
        self.sensitivities_right()?;
        self.write_row(rows)?;
        self.forget_impulses();
        if crossed {
            self.watch_rhythm(time)?;
        }
        if aftermath.terminated.is_none() {
            self.exchange_if_better()?;
            self.restart(time)?;
            self.follow_short_flight(time, 0.0)?;
        }
        Ok(aftermath.terminated)
    }

    /// Evaluates what the iteration left open and freezes the signs of the crossing functions.
    fn settle_after_event(&mut self) -> Result<(), Stop> {
        self.runtime.machine.systems.forget_factors(&self.program);
        self.runtime.machine.refresh()?;
        self.runtime.machine.evaluate_outputs()?;
        self.clockwork.forget();
        let horizon = Horizon {
            interval: self.options.interval,
            tolerance: self.options.tolerance,
            time: self.runtime.machine.memory.time(),
            span: (self.options.stop_time - self.options.start_time).abs(),
        };
        let ModeRuntime { machine, roots, bands, signals, idle, names, .. } = &mut *self.runtime;
        machine.branches.begin(&machine.memory, &machine.systems);
        idle.end(machine, names, bands, roots, &self.crossings, horizon);
        bands.restart(machine, roots, signals);
        Ok(())
    }

    /// Output points up to `time`, of a step that began at `begin`. An event writes its own rows. A point at which the model contradicts the step is given
    /// back, and neither it nor what follows is written.
    fn write_outputs_until(
        &mut self,
        begin: f64,
        time: f64,
        eventful: bool,
        rows: &mut Rows,
    ) -> Result<Option<f64>, Stop> {
        loop {
            let point = self.output_point(self.next_output);
            let last = same_instant(point, self.options.stop_time) || point > self.options.stop_time;
            let here = same_instant(point, time);
            if last || point > time && !here {
                return Ok(None);
            }
            let evaluated = if here && eventful { None } else { Some(self.evaluate_at(point)) };
            // A branch may be undefined between the place at which it ends and the event that is located there.
            let ends_here = eventful && time - point <= 4.0 * LOCATED * time.abs().max(self.last_step);
            if let Some(evaluated) = evaluated.filter(|evaluated| evaluated.is_ok() || !ends_here) {
                evaluated?;
                if self.contradicts_step(begin, point) {
                    return Ok(Some(point));
                }
                self.write_point(rows)?;
                // A long step can have many rows.
                self.speed_up();
            }
            self.next_output += 1;
        }
    }

    fn output_point(&self, number: u64) -> f64 {
        if let Some(points) = &self.options.points {
            let place = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
            return points.get(place).copied().unwrap_or(f64::INFINITY);
        }
        self.options.start_time + number as f64 * self.options.interval
    }

    /// Writes the output point that was evaluated.
    fn write_point(&mut self, rows: &mut Rows) -> Result<(), Stop> {
        if let Some(modes) = &mut self.modes {
            modes.note_sizes(&mut self.runtime);
        }
        self.write_row(rows)
    }

    fn write_row(&mut self, rows: &mut Rows) -> Result<(), Stop> {
        let time = self.runtime.machine.memory.time();
        self.statistics.rows += 1;
        self.limits.check(&self.runtime.machine);
        if self.spare.is_some() && self.modes.is_none() {
            self.fallback.note_sizes(&self.runtime.machine.memory.values);
        }
        let begun = self.meter.now();
        let row = rows.row(&self.program, &self.runtime.machine.memory, &self.impulses);
        if let Some(variable) = row.undefined() {
            return Err(not_finite(&self.program, variable, "the value").into());
        }
        rows.write(time)?;
        self.write_sensitivities()?;
        self.meter.add_writing(begun);
        Ok(())
    }

    /// The instant is over.
    fn forget_impulses(&mut self) {
        self.impulses.iter_mut().for_each(|(_, impulse)| *impulse = 0.0);
    }

    /// The last row, and what `terminal()` asks for.
    pub(crate) fn finish(&mut self, stop: f64, rows: &mut Rows) -> Result<(), Stop> {
        self.evaluate_at(stop)?;
        self.write_row(rows)?;
        self.pass_terminal(rows)
    }

    /// The event at the end of the analysis.
    pub(crate) fn pass_terminal(&mut self, rows: &mut Rows) -> Result<(), Stop> {
        let exprs = &self.program.model().exprs;
        if !exprs.ids().any(|id| matches!(exprs.node(id), dae::Node::Builtin(dae::Builtin::Terminal, _))) {
            return Ok(());
        }
        self.program.save_pre(&mut self.runtime.machine.memory);
        let before = self.runtime.machine.memory.values.clone();
        self.runtime.machine.memory.set_terminal(true);
        let outcome = self.evaluate_terminal();
        self.runtime.machine.memory.set_terminal(false);
        // A when clause over `terminal()` may have acted without a change of any variable.
        if outcome? > 1 || self.runtime.machine.memory.values != before {
            self.write_row(rows)?;
        }
        Ok(())
    }

    /// All variables while `terminal()` holds; the number of iterations.
    fn evaluate_terminal(&mut self) -> Result<u32, Stop> {
        let passed = events::iterate(&mut self.runtime.machine, &self.runtime.names, &mut self.log)?;
        self.runtime.machine.run(|sections| &sections.dynamics, Phase::Frozen)?;
        self.runtime.machine.evaluate_outputs()?;
        Ok(passed.iterations)
    }

    /// Events without end at one instant are reported instead of being written.
    fn count_at_instant(&mut self, time: f64) -> Result<(), Stop> {
        const MOST_AT_AN_INSTANT: u32 = 1000;
        let same = same_instant(time, self.instant.0);
        self.instant = (time, if same { self.instant.1 + 1 } else { 0 });
        if self.instant.1 < MOST_AT_AN_INSTANT {
            return Ok(());
        }
        let message = format!("{MOST_AT_AN_INSTANT} events follow each other at time {} without end", Decimal(time));
        let hint = "look at them with --event-log; a condition may switch itself on and off";
        Err(Trouble::Model(Box::new(Diagnostic::error("endless-events", message).names_time().hint(hint))).into())
    }

    fn watch_rhythm(&mut self, time: f64) -> Result<(), Stop> {
        let span = self.options.stop_time - self.options.start_time;
        // Where somebody else takes the steps, excursions are not followed.
        for (crossing, _) in self.crossings.iter().zip(&self.excursions) {
            if let Some(restless) = self.recent.note(crossing, time, span, self.modes.is_some()) {
                let relation = &self.program.layout.relations[self.program.roots[crossing.function].relation];
                return Err(restless.trouble(time, self.program.model(), relation.expression).into());
            }
        }
        Ok(())
    }

    fn log_triggers(&mut self, time: f64, crossed: bool) {
        if !self.log.is_active() || !crossed {
            return;
        }
        let model = self.program.model();
        let mut residues = vec![0.0; self.program.roots.len()];
        self.program.crossings(&mut self.runtime.machine.memory, &mut residues);
        for crossing in &self.crossings {
            let relation = &self.program.layout.relations[self.program.roots[crossing.function].relation];
            let expression = model.expression_text(relation.expression);
            let residue = residues[crossing.function];
            self.log.write(&Entry::Crossing { time, expression: &expression, sign: crossing.to, residue });
        }
    }

    fn log_first_signs(&mut self) {
        if !self.log.is_active() {
            return;
        }
        let (model, time) = (self.program.model(), self.options.start_time);
        for (function, root) in self.program.roots.iter().enumerate() {
            let relation = &self.program.layout.relations[root.relation];
            if let compile::RelationKind::Compare { .. } = relation.kind {
                let expression = model.expression_text(relation.expression);
                let (residue, sign) = self.runtime.bands.frozen(function);
                self.log.write(&Entry::Initially { time, expression: &expression, sign, residue });
            }
        }
        for (variable, role) in self.program.schedule.roles.iter() {
            let remembers = model.exprs.find(dae::Node::Pre(variable)).is_some();
            if matches!(role, transform::Role::Discrete) && remembers && !model.variables[variable].hidden {
                let name = model.variable_name(variable);
                let machine = &self.runtime.machine;
                let value = events::shown(machine, variable, machine.value(variable));
                self.log.write(&Entry::Begins { time, variable: &name, value: &value });
            }
        }
    }
}

/// Simulations of one program run on many threads.
const _: () = {
    const fn can_move_to_another_thread<T: Send>() {}
    can_move_to_another_thread::<Simulation>();
};
