//! A run from start to stop: drives a simulation, writes its rows and its log, keeps pace with the clock.

use std::sync::Arc;

use compile::Program;
use results::{ResultError, ResultSink};

use crate::columns::{Columns, Rows};
use crate::event_log::EventLog;
use crate::options::Options;
use crate::outcome::{Ending, Outcome};
use crate::real_time::Pace;
use crate::simulation::{Progress, Simulation, Stop};
use crate::watcher::Watcher;

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
    simulation.note_effort();
    rows.finish()?;
    Ok(Outcome {
        ending: ending?,
        statistics: simulation.statistics,
        warnings: simulation.warnings(),
        initialise_seconds,
        integrate_seconds,
        profile: simulation.profile(),
        punctuality: pace.map(|pace| pace.punctuality),
        sensitivities: simulation.take_sensitivities(),
    })
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
