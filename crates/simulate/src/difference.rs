//! Runs of models whose derivatives were replaced by difference formulas (`transform::modes::difference`): one algebraic
//! system a step, in which the relations are found with the unknowns; nothing is integrated and no event is located.

use std::sync::Arc;

use base::{Decimal, Diagnostic};
use compile::Program;
use results::{ResultError, ResultSink};
use transform::modes::difference::Difference;

use crate::clockwork::{Clockwork, check_samples, end_of_instant, same_instant};
use crate::columns::Columns;
use crate::event_log::{EventLog, Journal};
use crate::events::{self, Names};
use crate::first_point::FirstPoint;
use crate::machine::{Machine, Phase, Trouble};
use crate::options::Options;
use crate::outcome::{Ending, Outcome, RunStatistics};
use crate::places::{not_finite, with_place};
use crate::watcher::Watcher;

pub fn run(
    program: &Arc<Program>,
    difference: &Difference,
    options: &Options,
    keep: &dyn Fn(&str) -> bool,
    sink: &mut dyn ResultSink,
    log: &mut EventLog,
    watcher: &mut dyn Watcher,
) -> Result<Outcome, ResultError> {
    let begin = std::time::Instant::now();
    let first = match Program::new((*difference.written).clone()) {
        Ok(written) => crate::first_point::find(&Arc::new(written), options, difference.common, log)?,
        Err(diagnostic) => Err(Box::new(diagnostic)),
    };
    let first = match first {
        Ok(first) => first,
        Err(diagnostic) => return Ok(Outcome::not_initialised(diagnostic)),
    };
    let mut machine = Machine::new(program.clone());
    program.drive(&mut machine.memory, &options.inputs, options.start_time);
    machine.set_parameters(&options.parameters);
    let names = Names::new(&machine);
    let statistics = RunStatistics { modes: 1, ..RunStatistics::default() };
    let clockwork = Clockwork::default();
    let columns = Columns::new(program, keep);
    let mut run = Steps { program, difference, options, columns, machine, names, clockwork, statistics };
    let step = options.step.unwrap_or(options.interval);
    if let Err(trouble) = run.begin_at(&first, step) {
        return Ok(Outcome::not_initialised(Box::new(trouble.diagnostic(program.model()))));
    }
    let initialise_seconds = begin.elapsed().as_secs_f64();
    sink.begin(&run.columns.columns)?;
    run.write(sink)?;
    let ending = match first.terminated {
        Some(message) => Ending::Terminated { time: options.start_time, message },
        None => run.go(step, sink, log, watcher)?,
    };
    sink.finish()?;
    let integrate_seconds = begin.elapsed().as_secs_f64() - initialise_seconds;
    let statistics = run.statistics;
    Ok(Outcome {
        ending,
        statistics,
        warnings: first.warnings,
        initialise_seconds,
        integrate_seconds,
        profile: None,
        punctuality: None,
        sensitivities: None,
    })
}

struct Steps<'a> {
    program: &'a Program,
    difference: &'a Difference,
    options: &'a Options,
    machine: Machine,
    names: Names,
    clockwork: Clockwork,
    columns: Columns,
    statistics: RunStatistics,
}

impl Steps<'_> {
    /// Puts the first point of the model as it was written into memory.
    fn begin_at(&mut self, first: &FirstPoint, step: f64) -> Result<(), Trouble> {
        let (program, machine) = (self.program, &mut self.machine);
        machine.memory.set_time(self.options.start_time);
        machine.run_parameters()?;
        machine.run(|sections| &sections.starts, Phase::Live)?;
        machine.systems.reset();
        for &(variable, value) in &first.values {
            program.set_value(&mut machine.memory, variable, value);
        }
        machine.run(|sections| &sections.samples, Phase::Live)?;
        check_samples(program, &machine.memory)?;
        self.clockwork = first.clockwork.in_program(program, &machine.memory);
        program.save_pre(&mut machine.memory);
        self.set_step(step);
        self.check_intervals(step)
    }

    /// A step can tick once.
    fn check_intervals(&self, step: f64) -> Result<(), Trouble> {
        let (model, memory) = (self.program.model(), &self.machine.memory);
        for sample in &self.program.layout.samples {
            let interval = memory.values[sample.interval_value as usize];
            if interval >= step || same_instant(interval, step) {
                continue;
            }
            let text = model.expression_text(sample.expression);
            let message = format!("`{text}` ticks every {}, within steps of {}", Decimal(interval), Decimal(step));
            let diagnostic = Diagnostic::error("sample-interval", message).hint("choose a shorter `--step`");
            let diagnostic = with_place(model, sample.expression, "sampled here", diagnostic);
            return Err(Trouble::Model(Box::new(diagnostic)));
        }
        Ok(())
    }

    fn go(
        &mut self,
        step: f64,
        sink: &mut dyn ResultSink,
        log: &mut EventLog,
        watcher: &mut dyn Watcher,
    ) -> Result<Ending, ResultError> {
        let (start, stop) = (self.options.start_time, self.options.stop_time);
        let mut next_output = 1u64;
        let mut journal = log.journal();
        for number in 1u64.. {
            let mut time = start + number as f64 * step;
            if time > stop || same_instant(time, stop) {
                self.set_step(stop - (start + (number - 1) as f64 * step));
                time = stop;
            }
            if !watcher.progress(time) {
                return Ok(Ending::Interrupted { time });
            }
            let outcome = self.step(time, &mut journal);
            log.append(&mut journal);
            match outcome {
                Ok(None) => {}
                Ok(Some(message)) => return Ok(Ending::Terminated { time, message }),
                Err(trouble) => {
                    let diagnostic = Box::new(trouble.diagnostic(self.program.model()));
                    return Ok(Ending::Failed { time, diagnostic });
                }
            }
            if let Some(variable) = self.columns.row(self.program, &self.machine.memory, &[]).undefined() {
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
    fn step(&mut self, time: f64, log: &mut Journal) -> Result<Option<String>, Trouble> {
        for &(variable, last) in &self.difference.last {
            let value = self.machine.value(variable);
            self.program.set_value(&mut self.machine.memory, last, value);
        }
        self.program.save_pre(&mut self.machine.memory);
        self.machine.memory.set_time(time);
        self.machine.memory.pass_jumps(end_of_instant(time));
        self.machine.systems.forget_factors(self.program);
        let aftermath =
            events::pass(&mut self.machine, &self.names, log, &mut self.clockwork, time, &mut events::Unwatched)?;
        self.machine.evaluate_outputs()?;
        self.statistics.steps += 1;
        Ok(aftermath.terminated)
    }

    fn set_step(&mut self, step: f64) {
        self.program.set_value(&mut self.machine.memory, self.difference.step, step);
    }

    fn write(&mut self, sink: &mut dyn ResultSink) -> Result<(), ResultError> {
        self.statistics.rows += 1;
        sink.row(self.machine.memory.time(), self.columns.row(self.program, &self.machine.memory, &[]).values)
    }
}
