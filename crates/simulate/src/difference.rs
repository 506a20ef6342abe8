//! Runs of models whose derivatives were replaced by difference formulas (`transform::modes::difference`): one algebraic
//! system a step, in which the relations are found with the unknowns; nothing is integrated and no event is located.

use compile::Program;
use results::{ResultError, ResultSink};
use transform::modes::difference::Difference;

use crate::clockwork::same_instant;
use crate::columns::Columns;
use crate::event_log::EventLog;
use crate::events::{self, Names};
use crate::initial;
use crate::machine::{Machine, Trouble};
use crate::places::not_finite;
use crate::run::{Ending, Options, Outcome, RunStatistics, Watcher};

/// The first point is found with a small part of a step.
const FIRST_STEP: f64 = 1e-3;

pub fn run(
    program: &Program,
    difference: &Difference,
    options: &Options,
    keep: &dyn Fn(&str) -> bool,
    sink: &mut dyn ResultSink,
    log: &mut EventLog,
    watcher: &mut dyn Watcher,
) -> Result<Outcome, ResultError> {
    let begin = std::time::Instant::now();
    let machine = Machine::new(program);
    let names = Names::new(&machine);
    let statistics = RunStatistics { modes: 1, ..RunStatistics::default() };
    let mut run =
        Steps { program, difference, options, columns: Columns::new(program, keep), machine, names, statistics };
    let step = options.step.unwrap_or(options.interval);
    run.set_step(FIRST_STEP * step);
    let span = (options.start_time, options.stop_time);
    let mut initialise_seconds = 0.0;
    let ending = match initial::initialise(&mut run.machine, &run.names, span, log) {
        Err(trouble) => Ending::NotInitialised(Box::new(trouble.diagnostic(program.model()))),
        Ok((mut clockwork, aftermath)) => {
            initialise_seconds = begin.elapsed().as_secs_f64();
            sink.begin(&run.columns.columns)?;
            run.write(sink)?;
            run.set_step(step);
            match aftermath.terminated {
                Some(message) => Ending::Terminated { time: options.start_time, message },
                None => run.go(step, sink, log, watcher, &mut clockwork)?,
            }
        }
    };
    sink.finish()?;
    let integrate_seconds = begin.elapsed().as_secs_f64() - initialise_seconds;
    let statistics = run.statistics;
    Ok(Outcome {
        ending,
        statistics,
        warnings: Vec::new(),
        initialise_seconds,
        integrate_seconds,
        profile: None,
        punctuality: None,
    })
}

struct Steps<'a> {
    program: &'a Program,
    difference: &'a Difference,
    options: &'a Options,
    machine: Machine<'a>,
    names: Names,
    columns: Columns,
    statistics: RunStatistics,
}

impl Steps<'_> {
    fn go(
        &mut self,
        step: f64,
        sink: &mut dyn ResultSink,
        log: &mut EventLog,
        watcher: &mut dyn Watcher,
        clockwork: &mut crate::clockwork::Clockwork,
    ) -> Result<Ending, ResultError> {
        let (start, stop) = (self.options.start_time, self.options.stop_time);
        let mut next_output = 1u64;
        for number in 1u64.. {
            let mut time = start + number as f64 * step;
            if time > stop || same_instant(time, stop) {
                self.set_step(stop - (start + (number - 1) as f64 * step));
                time = stop;
            }
            if !watcher.progress(time) {
                return Ok(Ending::Interrupted { time });
            }
            match self.step(time, log, clockwork) {
                Ok(None) => {}
                Ok(Some(message)) => return Ok(Ending::Terminated { time, message }),
                Err(trouble) => {
                    let diagnostic = Box::new(trouble.diagnostic(self.program.model()));
                    return Ok(Ending::Failed { time, diagnostic });
                }
            }
            if let Some(variable) = self.columns.row(self.program, &self.machine.memory).undefined() {
                let diagnostic =
                    Box::new(not_finite(self.program, variable, "the value").diagnostic(self.program.model()));
                return Ok(Ending::Failed { time, diagnostic });
            }
            let due = start + next_output as f64 * self.options.interval;
            if time >= due || same_instant(time, due) || time == stop {
                self.write(sink)?;
                while start + next_output as f64 * self.options.interval <= time {
                    next_output += 1;
                }
            }
            if time == stop {
                break;
            }
        }
        Ok(Ending::Complete)
    }

    /// One step; the message of a model that ends the run.
    fn step(
        &mut self,
        time: f64,
        log: &mut EventLog,
        clockwork: &mut crate::clockwork::Clockwork,
    ) -> Result<Option<String>, Trouble> {
        for &(variable, last) in &self.difference.last {
            let value = self.machine.value(variable);
            self.program.set_value(&mut self.machine.memory, last, value);
        }
        self.program.save_pre(&mut self.machine.memory);
        self.machine.memory.set_time(time);
        self.machine.systems.forget_factors(self.program);
        let aftermath = events::pass(&mut self.machine, &self.names, log, clockwork, time, &|_| false)?;
        self.machine.evaluate_outputs()?;
        self.statistics.steps += 1;
        Ok(aftermath.terminated)
    }

    fn set_step(&mut self, step: f64) {
        if let Some(variable) = self.difference.step {
            self.program.set_value(&mut self.machine.memory, variable, step);
        }
    }

    fn write(&mut self, sink: &mut dyn ResultSink) -> Result<(), ResultError> {
        self.statistics.rows += 1;
        sink.row(self.machine.memory.time(), self.columns.row(self.program, &self.machine.memory).values)
    }
}
