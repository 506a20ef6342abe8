//! The run itself: steps of the integrator, events between them, rows of the result.

use std::sync::Arc;

use base::{Decimal, Diagnostic};
use compile::Program;
use results::{ResultError, ResultSink};
use solve::roots::Crossing;
use solve::{Method, OdeProblem, RootFinder, StepError};
use transform::modes::Modes;

use crate::bands::Bands;
use crate::clockwork::{Clockwork, same_instant};
use crate::columns::Columns;
use crate::event_log::{Entry, EventLog};
use crate::events::{self, Aftermath, Names};
use crate::exchange::exchange;
use crate::first_point::FirstPoint;
use crate::initial;
use crate::limits::Limits;
use crate::machine::{Machine, Phase, Trouble};
use crate::modes::{Station, Switching};
use crate::places::not_finite;
use crate::profile::{Meter, Part, Profile};
use crate::projection::Projector;
use crate::real_time::{Pace, Punctuality};
use crate::rhythm::{RecentEvents, RestlessEvents};
use crate::systems::Systems;
use crate::undetermined;
use remember::Remembering;

mod follow;
mod guard;
mod jumps;
mod leaving;
mod remember;
mod retake;
mod takeover;
mod undefined;

use jumps::Fallback;

/// How to run.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    pub start_time: f64,
    pub stop_time: f64,
    /// Distance of output points.
    pub interval: f64,
    pub tolerance: f64,
    pub solver: Method,
    /// The step of fixed-step methods; `None`: the output interval.
    pub step: Option<f64>,
    /// The longest step of methods with error control; `None`: the length of the run.
    pub max_step: Option<f64>,
    /// Measure where the time goes.
    pub measure: bool,
    /// Let time pass as on the wall.
    pub real_time: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            start_time: 0.0,
            stop_time: 1.0,
            interval: 0.002,
            tolerance: 1e-6,
            solver: Method::Auto,
            step: None,
            max_step: None,
            measure: false,
            real_time: false,
        }
    }
}

impl Options {
    /// The step that the transformations have to know of: that of methods whose formula is sorted with the equations.
    pub fn inline_step(&self) -> Option<f64> {
        self.solver.is_inline().then(|| self.step.unwrap_or(self.interval))
    }
}

/// Effort of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunStatistics {
    pub steps: u64,
    pub rejected: u64,
    /// Steps taken again because an output point in them contradicted them.
    pub retaken: u64,
    pub rhs: u64,
    pub jacobians: u64,
    pub factorisations: u64,
    /// Corrections by the integrator, and what the simultaneous systems of the model took.
    pub newton_iterations: u64,
    pub block_iterations: u64,
    pub block_factorisations: u64,
    pub state_events: u64,
    pub time_events: u64,
    pub rows: u64,
    /// Modes that the run was in; those that were made for it, and the seconds that took.
    pub modes: u64,
    pub modes_made: u64,
    /// How often a mode was tried after an event.
    pub mode_trials: u64,
    pub mode_seconds: f64,
    /// How often assertions of level warning began to fail.
    pub assertion_warnings: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Ending {
    /// The stop time was reached.
    Complete,
    /// The model called `terminate`.
    Terminated { time: f64, message: String },
    /// Somebody asked to stop.
    Interrupted { time: f64 },
    /// Initialisation did not succeed; nothing was computed.
    NotInitialised(Box<Diagnostic>),
    /// It stopped early; what was computed is in the result.
    Failed { time: f64, diagnostic: Box<Diagnostic> },
    /// It came to this time, but something was decided on the way that must not be (`--strict`).
    Refused { time: f64, diagnostic: Box<Diagnostic> },
}

impl Ending {
    /// The time that a run came to that did not fail.
    pub fn time_reached(&self, options: &Options) -> Option<f64> {
        match *self {
            Ending::Complete => Some(options.stop_time),
            Ending::Terminated { time, .. } | Ending::Interrupted { time } => Some(time),
            _ => None,
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    pub ending: Ending,
    pub statistics: RunStatistics,
    pub warnings: Vec<Diagnostic>,
    pub initialise_seconds: f64,
    pub integrate_seconds: f64,
    /// Where it was asked for.
    pub profile: Option<Profile>,
    pub punctuality: Option<Punctuality>,
}

impl Outcome {
    pub(crate) fn not_initialised(diagnostic: Box<Diagnostic>) -> Self {
        Self {
            ending: Ending::NotInitialised(diagnostic),
            statistics: RunStatistics::default(),
            warnings: Vec::new(),
            initialise_seconds: 0.0,
            integrate_seconds: 0.0,
            profile: None,
            punctuality: None,
        }
    }
}

/// Watches a run: told about its progress, may end it.
pub trait Watcher {
    /// `false` ends the run.
    fn progress(&mut self, time: f64) -> bool;
}

impl<F: FnMut(f64) -> bool> Watcher for F {
    fn progress(&mut self, time: f64) -> bool {
        self(time)
    }
}

/// Runs a program from start to stop and writes rows to the sink.
pub fn simulate(
    program: &Arc<Program>,
    options: &Options,
    keep: &dyn Fn(&str) -> bool,
    sink: &mut dyn ResultSink,
    log: &mut EventLog,
    watcher: &mut dyn Watcher,
) -> Result<Outcome, ResultError> {
    if let Some(difference) = &program.schedule.difference {
        return crate::difference::run(program, difference, options, keep, sink, log, watcher);
    }
    let started = std::time::Instant::now();
    let machine = Machine::new(program.clone());
    let station = Box::new(Station::new(machine, options));
    let mut run = Run::new(station, options, keep, sink, log);
    let first = run.begin();
    let initialise_seconds = started.elapsed().as_secs_f64();
    let ending = match first {
        Ok(None) => run.integrate(watcher),
        Ok(Some(message)) => run.terminated(options.start_time, message),
        Err(Stop::Trouble(trouble)) => {
            let diagnostic = Box::new(trouble.diagnostic(program.model()));
            Ok(Ending::NotInitialised(diagnostic))
        }
        Err(Stop::Result(error)) => Err(error),
    };
    let integrate_seconds = started.elapsed().as_secs_f64() - initialise_seconds;
    run.count();
    let (statistics, warnings, profile) = (run.statistics, run.warnings(), run.profile());
    let punctuality = run.pace.as_ref().map(|pace| pace.punctuality);
    run.sink.finish()?;
    Ok(Outcome { ending: ending?, statistics, warnings, initialise_seconds, integrate_seconds, profile, punctuality })
}

/// Initialises a program and goes no further: its first `count` variables, or why there is no first point.
pub(crate) fn first_point(
    program: &Arc<Program>,
    options: &Options,
    count: usize,
    log: &mut EventLog,
) -> Result<Result<FirstPoint, Box<Diagnostic>>, ResultError> {
    let station = Box::new(Station::new(Machine::new(program.clone()), options));
    let mut sink = results::NullSink;
    let mut run = Run::new(station, options, &|_| true, &mut sink, log);
    match run.begin() {
        Ok(terminated) => {
            let values = crate::first_point::values(program, &run.station.machine, count);
            let warnings = run.warnings();
            Ok(Ok(FirstPoint { values, clockwork: std::mem::take(&mut run.clockwork), terminated, warnings }))
        }
        Err(Stop::Trouble(trouble)) => Ok(Err(Box::new(trouble.diagnostic(program.model())))),
        Err(Stop::Result(error)) => Err(error),
    }
}

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

impl Station {
    /// A station with the solver that the options name.
    pub fn new(mut machine: Machine, options: &Options) -> Self {
        let method = applicable(options.solver, &machine);
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
            names: Names::new(&machine),
            has_partial_relations: program.has_partial_relations(),
            machine,
            switch: None,
            carried: None,
            started: false,
        }
    }
}

/// What the integrator is told: tolerances by nominal values, and the longest step.
fn settings(machine: &Machine, options: &Options) -> solve::Options {
    let states = &machine.program.states;
    let algebraic = machine.program.implicit.iter().flat_map(|implicit| &implicit.systems);
    let algebraic = algebraic.flat_map(|&system| &machine.program.systems[system].iteration).copied();
    let unknowns = states.iter().map(|state| state.variable).chain(algebraic);
    let nominals: Vec<f64> = unknowns.map(|variable| machine.nominal(variable)).collect();
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

/// The time after which a run gets machine code.
const WORTH_MACHINE_CODE: std::time::Duration = std::time::Duration::from_millis(5);

/// What a run has taken so far.
struct Effort {
    since: std::time::Instant,
    /// The steps and rows made.
    rounds: u32,
    /// Machine code of everything is being made.
    complete: bool,
}

impl Effort {
    fn new() -> Self {
        Self { since: std::time::Instant::now(), rounds: 0, complete: false }
    }
}

/// What made an event.
#[derive(Clone, Copy)]
struct Trigger {
    /// A crossing function.
    crossed: bool,
    /// A relation on time alone.
    relation: bool,
}

/// Why a part of a run did not go on.
enum Stop {
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

struct Run<'a, 'w> {
    program: Arc<Program>,
    options: &'a Options,
    station: Box<Station>,
    modes: Option<Box<Switching>>,
    /// The modes of a model that is sorted as one structure, for the case that this becomes singular.
    spare: Option<Arc<Modes>>,
    /// What is remembered for the case that the structure for all modes does not do for the event at hand.
    fallback: Fallback,
    last_step: f64,
    columns: Columns,
    sink: &'a mut dyn ResultSink,
    log: &'a mut EventLog<'w>,
    clockwork: Clockwork,
    statistics: RunStatistics,
    x: Vec<f64>,
    /// The slopes of the states at an output point.
    slopes: Vec<f64>,
    /// The number of the next output point.
    next_output: u64,
    /// What triggered the event at hand.
    crossings: Vec<Crossing>,
    recent: RecentEvents,
    effort: Effort,
    /// What delays and transports remember.
    remembering: Remembering,
    /// The instant of the last event, and how many came before it at the same instant.
    instant: (f64, u32),
    projector: Option<Projector>,
    limits: Limits,
    meter: Meter,
    pace: Option<Pace>,
    guard: guard::Guard,
}

impl<'a, 'w> Run<'a, 'w> {
    fn new(
        station: Box<Station>,
        options: &'a Options,
        keep: &dyn Fn(&str) -> bool,
        sink: &'a mut dyn ResultSink,
        log: &'a mut EventLog<'w>,
    ) -> Self {
        let program = station.machine.program.clone();
        Self {
            options,
            columns: Columns::new(&program, keep),
            program,
            sink,
            log,
            clockwork: Clockwork::default(),
            statistics: RunStatistics { modes: 1, ..RunStatistics::default() },
            x: vec![0.0; station.machine.size()],
            slopes: vec![0.0; station.machine.size()],
            next_output: 1,
            crossings: Vec::new(),
            recent: RecentEvents::default(),
            remembering: Remembering::new(options.start_time),
            effort: Effort::new(),
            instant: (f64::NEG_INFINITY, 0),
            projector: Projector::new(&station.machine, options.tolerance),
            modes: None,
            spare: None,
            fallback: Fallback::new(&station.machine, options.tolerance),
            last_step: options.interval,
            limits: Limits::default(),
            meter: Meter::new(options.measure),
            pace: None,
            guard: guard::Guard::default(),
            station,
        }
    }

    /// Initialises and writes the first row; `Some` when the model terminated itself at once.
    fn begin(&mut self) -> Result<Option<String>, Stop> {
        let start = self.options.start_time;
        let aftermath = match &self.program.schedule.mode {
            Some(mode) => {
                let mut modes = Box::new(Switching::new(mode.modes.clone(), self.options));
                modes.adopt(&mut self.station)?;
                self.begin_in_modes(modes, false)?
            }
            None => {
                self.spare = self.program.schedule.modes.clone();
                self.begin_in_one(start)?
            }
        };
        self.sink.begin(&self.columns.columns)?;
        self.settle_after_event()?;
        if exchange(&mut self.station.machine) {
            self.settle_after_event()?;
        }
        self.begin_remembering()?;
        self.limits = Limits::new(&self.station.machine, self.options.tolerance);
        self.log_first_signs();
        self.write_row()?;
        self.columns.forget_impulses();
        Ok(aftermath.terminated)
    }

    fn integrate(&mut self, watcher: &mut dyn Watcher) -> Result<Ending, ResultError> {
        let outcome = self.advance(watcher);
        self.ending(outcome)
    }

    /// The model terminated itself: that is the end of the analysis, at which `terminal()` holds.
    fn terminated(&mut self, time: f64, message: String) -> Result<Ending, ResultError> {
        let outcome = self.pass_terminal().map(|()| Ending::Terminated { time, message });
        self.ending(outcome)
    }

    fn ending(&mut self, outcome: Result<Ending, Stop>) -> Result<Ending, ResultError> {
        let time = self.station.machine.memory.time();
        match outcome {
            Ok(ending) => Ok(ending),
            Err(Stop::Trouble(trouble)) => {
                let mut diagnostic = trouble.diagnostic(self.program.model());
                if !diagnostic.message.contains("time") {
                    diagnostic.message = format!("{} at time {}", diagnostic.message, Decimal(time));
                }
                Ok(Ending::Failed { time, diagnostic: Box::new(diagnostic) })
            }
            Err(Stop::Result(error)) => Err(error),
        }
    }

    fn advance(&mut self, watcher: &mut dyn Watcher) -> Result<Ending, Stop> {
        let stop = self.options.stop_time;
        self.program.read_states(&self.station.machine.memory, &mut self.x);
        let start = self.options.start_time;
        self.station.started = true;
        if let Err(error) = self.station.integrator.start(&mut self.station.machine, start, &self.x, None) {
            return Err(self.step_trouble(error).into());
        }
        let mut time = start;
        self.effort = Effort::new();
        if self.options.solver.is_fixed_step() {
            // Steps are to cost the same from the beginning.
            self.effort.complete = true;
            self.program.compile_in_background();
        }
        if self.options.real_time {
            self.program.compile();
            self.pace = Some(Pace::new(start));
        }
        while time < stop && !same_instant(time, stop) {
            if !watcher.progress(time) {
                return Ok(Ending::Interrupted { time });
            }
            let begun = self.meter.begin_step(&mut self.station.machine);
            let (known, relation) = self.clockwork.next(&self.program, &mut self.station.machine.memory, time, stop);
            if let Some((relation, gap)) = self.clockwork.crowded() {
                let expression = self.program.layout.relations[relation].expression;
                let crowd = RestlessEvents::Crowd { gap };
                return Err(crowd.trouble(time, self.program.model(), expression).into());
            }
            if known <= time || same_instant(known, time) {
                // A relation that is zero now and about to leave: the event is due before any step. One that crosses a
                // rounding error later needs that later time, or it would never cross.
                time = known.max(time);
                if let Some(message) = self.event(time, Trigger { crossed: false, relation })? {
                    self.pass_terminal()?;
                    return Ok(Ending::Terminated { time, message });
                }
                self.meter.add(Part::Events, begun);
                continue;
            }
            let limit = known.min(stop).min(self.reach(time)).min(self.remembering.limit(time));
            self.station.machine.drop_anchor();
            let step = match self.step(limit) {
                Ok(step) => step,
                Err(error) => return Err(self.step_trouble(error).into()),
            };
            self.last_step = step.t_new - step.t_old;
            self.meter.end_step(begun, &mut self.station.machine);
            let followed = self.meter.now();
            if !self.follow_branches(step.t_old, step.t_new)? {
                time = self.retake_from(step.t_old)?;
                self.meter.add(Part::Events, followed);
                continue;
            }
            let arrival = self.remember_step(step.t_old, step.t_new)?;
            if let Some(jump) = arrival
                && self.takes_in(&step, jump)
            {
                time = self.retake_from(step.t_old)?;
                self.meter.add(Part::Events, followed);
                continue;
            }
            let end = arrival.unwrap_or(step.t_new);
            let searched = self.meter.now();
            let Station { machine, integrator, roots, .. } = &mut *self.station;
            let found = roots.search(machine, &**integrator, step.t_old, end);
            // What only rounding separates from the end may as well cross behind it.
            let crossing = found.map_err(|_| self.last_trouble())?.filter(|event| !same_instant(event.t, stop));
            if let Some(event) = &crossing
                && self.leaves_wrongly(&step, event)?
            {
                time = self.retake(step.t_old, step.t_old)?;
                self.meter.add(Part::Events, searched);
                continue;
            }
            if crossing.is_none() && self.turns_unseen(&step)? {
                time = self.retake(step.t_old, step.t_old)?;
                self.meter.add(Part::Events, searched);
                continue;
            }
            time = crossing.map_or(end, |event| event.t);
            if same_instant(step.t_new, known) && known - time <= LOCATED * known.abs().max(self.last_step) {
                time = known;
            }
            if time < end {
                self.remember_part(step.t_old, time)?;
            }
            let due = same_instant(time, known);
            let eventful = crossing.is_some() || due || arrival.is_some();
            if !eventful {
                self.check_conditions(step.t_old, time)?;
            }
            self.meter.add(Part::Events, searched);
            let written = self.meter.now();
            if let Some(missed) = self.write_outputs_until(step.t_old, time, eventful)? {
                time = self.retake(step.t_old, missed)?;
                self.meter.add(Part::Output, written);
                continue;
            }
            self.meter.add(Part::Output, written);
            let passed = self.meter.now();
            if eventful {
                let trigger = Trigger { crossed: crossing.is_some(), relation: due && relation };
                if let Some(message) = self.event(time, trigger)? {
                    self.pass_terminal()?;
                    return Ok(Ending::Terminated { time, message });
                }
            } else {
                self.accept(time)?;
            }
            self.meter.add(Part::Events, passed);
            self.meter.finish_step(begun, time);
            self.speed_up();
            if self.pace.as_mut().is_some_and(|pace| !pace.keep(time, watcher)) {
                return Ok(Ending::Interrupted { time });
            }
        }
        self.finish(stop)?;
        Ok(Ending::Complete)
    }

    /// A step without event: assertions are checked, delays remember, states are exchanged where others have become
    /// better.
    fn accept(&mut self, time: f64) -> Result<(), Stop> {
        self.drift(time)?;
        self.look_at_undetermined(time)?;
        let fixed = self.program.schedule.state_sets.is_empty();
        let quiet = self.program.sections.assertions.is_empty() && self.station.machine.memory.delays.is_empty();
        if quiet && fixed {
            return Ok(());
        }
        self.station.integrator.interpolate(time, &mut self.x);
        self.station.machine.evaluate(time, &self.x)?;
        events::check_assertions(&mut self.station.machine, self.log)?;
        if !self.station.machine.memory.delays.is_empty() {
            self.station.machine.evaluate_outputs()?;
            self.program.settle_histories(&mut self.station.machine.memory);
        }
        if fixed { Ok(()) } else { self.exchange_states(time) }
    }

    /// Refuses to integrate what equations without a unique solution determine.
    fn look_at_undetermined(&mut self, time: f64) -> Result<(), Stop> {
        let Systems { shared, looked_at, .. } = &self.station.machine.systems;
        let new = *looked_at..shared.len();
        if new.is_empty() {
            return Ok(());
        }
        self.station.integrator.interpolate(time, &mut self.x);
        self.station.machine.evaluate(time, &self.x)?;
        self.station.machine.evaluate_outputs()?;
        self.station.machine.systems.looked_at = new.end;
        for place in new {
            let system = self.station.machine.systems.shared[place];
            undetermined::check(&mut self.station.machine, system)?;
        }
        Ok(())
    }

    /// Moves the states back to the constraints if they have gone too far from them.
    fn drift(&mut self, time: f64) -> Result<(), Stop> {
        /// In units of the tolerance.
        const TOO_FAR: f64 = 0.1;
        let Some(projector) = &mut self.projector else { return Ok(()) };
        self.station.integrator.interpolate(time, &mut self.x);
        if projector.project(&mut self.station.machine, time, &mut self.x)? <= TOO_FAR {
            return Ok(());
        }
        let outcome = self.station.integrator.correct(&mut self.station.machine, &self.x);
        outcome.map_err(|error| self.step_trouble(error).into())
    }

    /// States that were set anew at an event take the others with them.
    fn follow_changed_states(&mut self, time: f64) -> Result<(), Stop> {
        let Some(projector) = &mut self.projector else { return Ok(()) };
        let before = self.x.clone();
        self.program.read_states(&self.station.machine.memory, &mut self.x);
        let changed: Vec<bool> = before.iter().zip(&self.x).map(|(before, after)| before != after).collect();
        if changed.contains(&true) {
            projector.project_others(&mut self.station.machine, time, &mut self.x, changed)?;
        }
        Ok(())
    }

    /// Evaluates the model on the last step; constraints hold.
    fn evaluate_at(&mut self, time: f64) -> Result<(), Stop> {
        self.station.integrator.interpolate(time, &mut self.x);
        match &mut self.projector {
            Some(projector) => {
                projector.project(&mut self.station.machine, time, &mut self.x)?;
            }
            None => {
                self.station.integrator.approach(&mut self.station.machine, time);
                self.station.machine.evaluate_inside(time, &self.x)?;
                self.station.machine.evaluate_outputs()?;
            }
        }
        Ok(())
    }

    /// Goes on with other states where those in use become bad.
    fn exchange_states(&mut self, time: f64) -> Result<(), Stop> {
        self.station.machine.evaluate_outputs()?;
        if !exchange(&mut self.station.machine) {
            return Ok(());
        }
        self.settle_after_event()?;
        self.restart(time)
    }

    /// Integration begins anew at the states in memory.
    fn restart(&mut self, time: f64) -> Result<(), Stop> {
        self.forget_fitness();
        self.station.machine.systems.forget_factors(&self.program);
        self.program.read_states(&self.station.machine.memory, &mut self.x);
        let started = std::mem::replace(&mut self.station.started, true);
        let Station { machine, integrator, .. } = &mut *self.station;
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
        if self.effort.rounds.is_multiple_of(ROUNDS)
            && !self.effort.complete
            && self.effort.since.elapsed() > WORTH_MACHINE_CODE
        {
            self.program.compile_hot_in_background();
        }
    }

    /// Goes through the event at `time`: left limits, iteration, restart.
    fn event(&mut self, time: f64, trigger: Trigger) -> Result<Option<String>, Stop> {
        let crossed = trigger.crossed;
        self.count_at_instant(time)?;
        self.crossings.clear();
        self.crossings.extend_from_slice(self.station.roots.crossings());
        self.evaluate_at(time)?;
        self.program.record_delays(&mut self.station.machine.memory);
        self.clockwork.remember_delayed(&mut self.station.machine);
        self.write_row()?;
        self.log_triggers(time, crossed);
        self.program.save_pre(&mut self.station.machine.memory);
        if crossed {
            self.statistics.state_events += 1;
        } else {
            self.statistics.time_events += 1;
        }
        self.station.machine.systems.forget_factors(&self.program);
        let aftermath = match self.modes.take() {
            Some(modes) => self.instant(modes, time, trigger)?,
            None => self.pass_in_one(time, trigger)?,
        };
        self.station.machine.memory.set_time(time);
        self.program.take_arguments(&mut self.station.machine.memory);
        self.clockwork.note_jumps(&self.station.machine);
        self.remember_event(time)?;
        self.log.write(&Entry::Restart { time, iterations: aftermath.iterations });
        self.follow_changed_states(time)?;
        self.settle_after_event()?;
        self.write_row()?;
        self.columns.forget_impulses();
        if crossed {
            self.watch_rhythm(time)?;
        }
        if aftermath.terminated.is_none() {
            exchange(&mut self.station.machine);
            self.restart(time)?;
        }
        Ok(aftermath.terminated)
    }

    /// Evaluates what the iteration left open and freezes the signs of the crossing functions.
    fn settle_after_event(&mut self) -> Result<(), Stop> {
        self.station.machine.systems.forget_factors(&self.program);
        self.station.machine.refresh()?;
        self.station.machine.evaluate_outputs()?;
        self.clockwork.forget();
        let Station { machine, roots, bands, .. } = &mut *self.station;
        machine.branches.begin(&machine.memory);
        bands.restart(machine, roots);
        Ok(())
    }

    /// Output points up to `time`, of a step that began at `begin`. An event writes its own rows. A point at which the model contradicts the step is given
    /// back, and neither it nor what follows is written.
    fn write_outputs_until(&mut self, begin: f64, time: f64, eventful: bool) -> Result<Option<f64>, Stop> {
        loop {
            let point = self.output_point(self.next_output);
            let last = same_instant(point, self.options.stop_time) || point > self.options.stop_time;
            let here = same_instant(point, time);
            if last || point > time && !here {
                return Ok(None);
            }
            if !(here && eventful) {
                self.evaluate_at(point)?;
                if self.contradicts_step(begin, point) {
                    return Ok(Some(point));
                }
                self.write_point()?;
                // A long step can have many rows.
                self.speed_up();
            }
            self.next_output += 1;
        }
    }

    fn output_point(&self, number: u64) -> f64 {
        self.options.start_time + number as f64 * self.options.interval
    }

    /// Writes the output point that was evaluated.
    fn write_point(&mut self) -> Result<(), Stop> {
        if let Some(modes) = &mut self.modes {
            modes.note_sizes(&mut self.station);
        }
        self.write_row()
    }

    fn write_row(&mut self) -> Result<(), Stop> {
        let time = self.station.machine.memory.time();
        self.statistics.rows += 1;
        self.limits.check(&self.station.machine);
        if self.spare.is_some() && self.modes.is_none() {
            self.fallback.note_sizes(&self.station.machine.memory.values);
        }
        let begun = self.meter.now();
        let row = self.columns.row(&self.program, &self.station.machine.memory);
        if let Some(variable) = row.undefined() {
            return Err(not_finite(&self.program, variable, "the value").into());
        }
        self.sink.row(time, row.values)?;
        self.meter.add_writing(begun);
        Ok(())
    }

    /// The last row, and what `terminal()` asks for.
    fn finish(&mut self, stop: f64) -> Result<(), Stop> {
        self.evaluate_at(stop)?;
        self.write_row()?;
        self.pass_terminal()
    }

    /// The event at the end of the analysis.
    fn pass_terminal(&mut self) -> Result<(), Stop> {
        let exprs = &self.program.model().exprs;
        if !exprs.ids().any(|id| matches!(exprs.node(id), dae::Node::Builtin(dae::Builtin::Terminal, _))) {
            return Ok(());
        }
        self.station.machine.memory.set_terminal(true);
        self.program.save_pre(&mut self.station.machine.memory);
        let outcome = events::iterate(&mut self.station.machine, &self.station.names, self.log);
        self.station.machine.memory.set_terminal(false);
        if outcome?.iterations > 1 {
            self.station.machine.run(|sections| &sections.dynamics, Phase::Frozen)?;
            self.station.machine.evaluate_outputs()?;
            self.write_row()?;
        }
        Ok(())
    }

    /// Events without end at one instant are told instead of being written.
    fn count_at_instant(&mut self, time: f64) -> Result<(), Stop> {
        const MOST_AT_AN_INSTANT: u32 = 1000;
        let same = same_instant(time, self.instant.0);
        self.instant = (time, if same { self.instant.1 + 1 } else { 0 });
        if self.instant.1 < MOST_AT_AN_INSTANT {
            return Ok(());
        }
        let message = format!("{MOST_AT_AN_INSTANT} events follow each other at time {} without end", Decimal(time));
        let hint = "look at them with --event-log; a condition may switch itself on and off";
        Err(Trouble::Model(Box::new(Diagnostic::error("endless-events", message).hint(hint))).into())
    }

    fn watch_rhythm(&mut self, time: f64) -> Result<(), Stop> {
        let span = self.options.stop_time - self.options.start_time;
        for crossing in self.crossings.iter() {
            if let Some(restless) = self.recent.note(crossing, time, span) {
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
        self.program.crossings(&mut self.station.machine.memory, &mut residues);
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
                let (residue, sign) = self.station.bands.frozen(function);
                self.log.write(&Entry::Initially { time, expression: &expression, sign, residue });
            }
        }
    }

    fn last_trouble(&mut self) -> Trouble {
        self.station.machine.trouble.take().unwrap_or_else(|| {
            Trouble::Model(Box::new(Diagnostic::error("evaluation-failed", "the model could not be evaluated")))
        })
    }

    /// The integrator's failure in the names of the model.
    fn step_trouble(&mut self, error: StepError) -> Trouble {
        let name = |component: usize| {
            let state = self.program.states.get(component);
            state.map_or_else(String::new, |state| self.program.model().variable_name(state.variable))
        };
        let at = |component: usize, diagnostic: Diagnostic| {
            let state = self.program.states.get(component);
            match state.and_then(|state| self.program.model().variables[state.variable].span) {
                Some(span) => diagnostic.at(span, "declared here"),
                None => diagnostic,
            }
        };
        /// The distance of neighbouring times, relative to that of output points, that makes short steps impossible.
        const COARSE: f64 = 1e-6;
        let diagnostic = match error {
            StepError::Evaluation { .. } => return self.last_trouble(),
            StepError::StepTooSmall { t, component, .. } => {
                let (t_text, name) = (Decimal(t), name(component));
                let message =
                    format!("the step size became too small at time {t_text}; the error of {name} is largest");
                let next = t.abs().next_up() - t.abs();
                // A run that no step resolves is not to blame on its solution.
                let hint = match next > COARSE * self.options.interval {
                    true => format!(
                        "neighbouring numbers at this time are {} s apart; start the run nearer to time 0",
                        Decimal(next)
                    ),
                    false => "the solution may go to infinity or change abruptly here".to_owned(),
                };
                at(component, Diagnostic::error("step-too-small", message).hint(hint))
            }
            StepError::NoConvergence { t, component, .. } => at(
                component,
                Diagnostic::error(
                    "no-convergence",
                    format!(
                        "the integrator's equations have no solution at time {}; {} is furthest off",
                        Decimal(t),
                        name(component)
                    ),
                ),
            ),
            StepError::Singular { t, column } => at(
                column,
                Diagnostic::error(
                    "singular-jacobian",
                    format!(
                        "the iteration matrix is singular at time {}: {} is not determined",
                        Decimal(t),
                        name(column)
                    ),
                ),
            ),
            StepError::NotFinite { t, component } => at(
                component,
                Diagnostic::error(
                    "not-finite",
                    format!("the derivative of {} is not finite at time {}", name(component), Decimal(t)),
                ),
            ),
        };
        Trouble::Model(Box::new(diagnostic))
    }

    fn count(&mut self) {
        let mut effort = self.station.integrator.statistics();
        if let Some(modes) = &self.modes {
            modes.parked().for_each(|station| effort.add(&station.integrator.statistics()));
            self.statistics.modes = modes.visited();
            (self.statistics.modes_made, self.statistics.mode_seconds) = (modes.made, modes.seconds);
            self.statistics.mode_trials = modes.trials;
        }
        self.statistics.assertion_warnings = self.log.assertions.count();
        self.statistics.steps = effort.steps;
        self.statistics.rejected = effort.rejected + effort.failed + self.statistics.retaken;
        self.statistics.rhs = effort.rhs;
        self.statistics.jacobians = effort.jacobians;
        self.statistics.factorisations = effort.factorisations;
        self.statistics.newton_iterations = effort.newton_iterations;
        let (mut iterations, mut factorisations) = (0, 0);
        for (_, systems) in self.used() {
            for (_, effort) in systems.efforts() {
                iterations += effort.iterations;
                factorisations += effort.factorisations;
            }
        }
        (self.statistics.block_iterations, self.statistics.block_factorisations) = (iterations, factorisations);
    }

    /// The programs that were run, with their systems.
    fn used(&self) -> impl Iterator<Item = (&Program, &Systems)> {
        let parked = self.modes.iter().flat_map(|modes| modes.parked());
        parked.chain([&*self.station]).map(|station| (&*station.machine.program, &station.machine.systems))
    }

    fn profile(&self) -> Option<Profile> {
        self.meter.profile(self.used())
    }

    /// An explicit method that was chosen for a stiff problem takes many more steps than another one would.
    fn stiffness_warning(&self) -> Option<Diagnostic> {
        /// Steps that are worth a word, and their share of all.
        const MANY: u64 = 100;
        const SHARE: f64 = 0.25;
        let integrator = &self.station.integrator;
        let (stiff, all) = (integrator.stiff_steps(), integrator.statistics().steps);
        if stiff < MANY || (stiff as f64) < SHARE * all as f64 {
            return None;
        }
        let message = format!(
            "the problem is stiff: the stability of `{}` limited {stiff} of its {all} steps, not the tolerance",
            integrator.name()
        );
        Some(
            Diagnostic::warning("stiff-problem", message).hint("`--solver auto`, `bdf` or `esdirk` takes longer steps"),
        )
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        let model = self.program.model();
        let warning = |&system: &compile::SystemId| {
            let unknowns = &self.program.systems[system].unknowns;
            let names: Vec<String> = unknowns.iter().take(8).map(|&id| model.variable_name(id)).collect();
            Diagnostic::warning(
                "redundant-equations",
                format!(
                    "the equations for {} do not determine all of them; the solution of least norm was taken",
                    names.join(", ")
                ),
            )
            .decides()
        };
        let shared = self.station.machine.systems.shared.iter().map(warning);
        let ambiguous = self.used().flat_map(|(program, systems)| {
            systems.ambiguities().map(|ambiguity| ambiguity.warning(program)).collect::<Vec<_>>()
        });
        let modes = self.modes.iter().flat_map(|modes| modes.warnings().iter().cloned());
        let all = shared
            .chain(ambiguous)
            .chain(modes)
            .chain(self.stiffness_warning())
            .chain(self.limits.warnings(&self.program));
        all.chain(self.log.assertions.diagnostics()).collect()
    }
}
