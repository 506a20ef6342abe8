//! A run from start to stop: drives a simulation, writes its rows and its log, keeps pace with the clock.

use std::sync::Arc;

use base::Diagnostic;
use compile::{Program, Signals};
use dae::VarId;
use results::{NullSink, ResultError, ResultSink};
use solve::Method;

use crate::columns::{Columns, Rows};
use crate::event_log::EventLog;
use crate::first_point::FirstPoint;
use crate::profile::Profile;
use crate::real_time::{Pace, Punctuality};
use crate::simulation::{Progress, Simulation, Stop};
use crate::start_point::StartPoint;

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
    /// Inputs that are given as functions of time.
    pub inputs: Arc<Signals>,
    /// Where another run was: begin there, not at start values.
    pub start_point: Option<Arc<StartPoint>>,
    /// Begin at the stationary state that is found from the initial state.
    pub steady_state: bool,
    /// Values in place of those that the program has for its parameters; [`Program::check_parameters`] tells whether it holds
    /// for them.
    pub parameters: Arc<[(VarId, f64)]>,
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
            inputs: Arc::default(),
            start_point: None,
            steady_state: false,
            parameters: Arc::default(),
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
    let simulation = Simulation::new(program, options, log.journal());
    let rows = Rows::new(Columns::new(program, keep), sink);
    let mut run = Run { simulation, options, rows, log, pace: None };
    let first = run.simulation.begin(&mut run.rows);
    run.log.append(&mut run.simulation.log);
    let initialise_seconds = started.elapsed().as_secs_f64();
    let ending = match first {
        Ok(None) => {
            let outcome = run.advance(watcher);
            run.ending(outcome)
        }
        Ok(Some(message)) => {
            let outcome = run.terminated(message);
            run.ending(outcome)
        }
        Err(Stop::Trouble(trouble)) => {
            let diagnostic = Box::new(trouble.diagnostic(program.model()));
            Ok(Ending::NotInitialised(diagnostic))
        }
        Err(Stop::Result(error)) => Err(error),
    };
    run.log.append(&mut run.simulation.log);
    let integrate_seconds = started.elapsed().as_secs_f64() - initialise_seconds;
    let Run { mut simulation, mut rows, pace, .. } = run;
    simulation.count();
    rows.finish()?;
    Ok(Outcome {
        ending: ending?,
        statistics: simulation.statistics,
        warnings: simulation.warnings(),
        initialise_seconds,
        integrate_seconds,
        profile: simulation.profile(),
        punctuality: pace.map(|pace| pace.punctuality),
    })
}

/// Initialises a program and goes no further: its first `count` variables, or why there is no first point.
pub(crate) fn first_point(
    program: &Arc<Program>,
    options: &Options,
    count: usize,
    log: &mut EventLog,
) -> Result<Result<FirstPoint, Box<Diagnostic>>, ResultError> {
    let mut simulation = Simulation::new(program, options, log.journal());
    let mut sink = NullSink;
    let first = simulation.begin(&mut Rows::new(Columns::new(program, &|_| true), &mut sink));
    log.append(&mut simulation.log);
    match first {
        Ok(terminated) => {
            let values = crate::first_point::values(program, &simulation.runtime.machine, count);
            let warnings = simulation.warnings();
            Ok(Ok(FirstPoint { values, clockwork: simulation.clockwork, terminated, warnings }))
        }
        Err(Stop::Trouble(trouble)) => Ok(Err(Box::new(trouble.diagnostic(program.model())))),
        Err(Stop::Result(error)) => Err(error),
    }
}

/// A simulation on its way, and who takes what comes of it.
struct Run<'a, 'w> {
    simulation: Simulation,
    options: &'a Options,
    rows: Rows<'a>,
    log: &'a mut EventLog<'w>,
    pace: Option<Pace>,
}

impl Run<'_, '_> {
    fn advance(&mut self, watcher: &mut dyn Watcher) -> Result<Ending, Stop> {
        let stop = self.options.stop_time;
        self.simulation.start()?;
        if self.options.real_time {
            self.simulation.program.compile();
            self.pace = Some(Pace::new(self.options.start_time));
        }
        while !self.simulation.has_reached(stop) {
            let time = self.simulation.time();
            if !watcher.progress(time) {
                return Ok(Ending::Interrupted { time });
            }
            let progress = self.simulation.step(stop, &mut self.rows);
            self.log.append(&mut self.simulation.log);
            match progress? {
                Progress::Terminated(message) => return self.terminated(message),
                Progress::Again => {}
                Progress::Smooth | Progress::Event => {
                    let time = self.simulation.time();
                    if self.pace.as_mut().is_some_and(|pace| !pace.keep(time, watcher)) {
                        return Ok(Ending::Interrupted { time });
                    }
                }
            }
        }
        self.simulation.finish(stop, &mut self.rows)?;
        Ok(Ending::Complete)
    }

    /// The model terminated itself: that is the end of the analysis, at which `terminal()` holds.
    fn terminated(&mut self, message: String) -> Result<Ending, Stop> {
        self.simulation.pass_terminal(&mut self.rows)?;
        Ok(Ending::Terminated { time: self.simulation.time(), message })
    }

    fn ending(&self, outcome: Result<Ending, Stop>) -> Result<Ending, ResultError> {
        let Simulation { program, runtime, .. } = &self.simulation;
        let time = runtime.machine.memory.time();
        match outcome {
            Ok(ending) => Ok(ending),
            Err(Stop::Trouble(trouble)) => {
                let diagnostic = trouble.diagnostic(program.model()).with_time(time);
                Ok(Ending::Failed { time, diagnostic: Box::new(diagnostic) })
            }
            Err(Stop::Result(error)) => Err(error),
        }
    }
}
