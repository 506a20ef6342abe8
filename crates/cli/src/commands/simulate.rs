//! `gyrator simulate`: runs a model.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::{Decimal, Diagnostic};
use compile::Program;
use results::plot::{Figure, terminal};
use results::{Column, CsvSink, Fanout, MemorySink, ResultError, ResultSink, SelectSink, Trajectories};
use session::{Ending, EventLog, EventLogFormat, Failed, Outcome, RunOptions, Settings, Stage, Statistics, Status};

use super::beginning::Beginning;
use super::plot::{pattern, screen};
use crate::arguments::{Simulate, Subject, Switching};
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::standard_output::standard_output;
use crate::style::{Style, print, tell};
use crate::subject::{Call, print_json};
use crate::{interrupt, names};

pub fn run(arguments: &Simulate, style: Style) -> Result<(), Failure> {
    let arguments = &arguments.with_target().with_parameters()?;
    arguments.check_standard_output()?;
    let mut call = Call::new(&arguments.subject, style);
    let keep = arguments.variables.as_deref().map(pattern).transpose()?;
    let mut run = Run { arguments, output: PathBuf::new(), states: Vec::new(), drawn: None };
    let keep = |name: &str| keep.as_ref().is_none_or(|keep| keep.is_match(name));
    match run.walk(&mut call, &keep) {
        Ok(outcome) => run.end(&mut call, &outcome),
        // Whoever closes standard output early has seen enough.
        Err(Failed::Result(ResultError::Io { source, .. }))
            if arguments.writes_to_standard_output() && source.kind() == ErrorKind::BrokenPipe =>
        {
            Ok(())
        }
        Err(failed) => Err(call.failed(failed)),
    }
}

struct Run<'a> {
    arguments: &'a Simulate,
    output: PathBuf,
    states: Vec<String>,
    /// What is drawn after the run.
    drawn: Option<Trajectories>,
}

impl Run<'_> {
    fn walk(&mut self, call: &mut Call, keep: &dyn Fn(&str) -> bool) -> Result<Outcome, Failed> {
        let is_differenced = self.arguments.run.switching == Switching::Difference;
        if is_differenced {
            call.switching = transform::Switching::Difference;
        }
        let beginning = Beginning::read(&self.arguments.run)?;
        call.inputs = beginning.inputs();
        let model = call.flatten()?;
        let mut options = self.arguments.run.options(self.settings(), &model.experiment, &beginning)?;
        call.session.transform.inline_step = options.inline_step();
        let schedule = call.structure(model)?;
        self.states = call.structure.iter().flat_map(|structure| structure.physical_states.iter().cloned()).collect();
        let drawn = self.names_to_draw(&schedule.model)?;
        self.warn_of_empty_selection(call, &schedule.model, keep);
        let program = call.session.compile(schedule)?;
        let warnings = beginning.apply(&program, &mut options).map_err(Failed::Call)?;
        call.session.diagnostics.extend(warnings);
        call.tell();
        self.output = match &self.arguments.output {
            Some(output) => output.clone(),
            None => default_output(&call.session.class, "csv"),
        };
        let mut memory = MemorySink::default();
        let mut log = self.event_log()?;
        let outcome = {
            let file: Box<dyn ResultSink> = match self.arguments.writes_to_standard_output() {
                true => Box::new(CsvSink::stream(standard_output(), "standard output")),
                false => results::sink_for(&self.output).map_err(|error| Failed::Call(error.to_string()))?,
            };
            let file = SelectSink::new(file, |column: &Column| keep(&column.name));
            let mut sinks = Fanout { sinks: vec![Box::new(file)] };
            if let Some(names) = &drawn {
                sinks
                    .sinks
                    .push(Box::new(SelectSink::new(&mut memory, |column: &Column| names.contains(&column.name))));
            }
            let wanted =
                |name: &str| keep(name) || drawn.as_ref().is_some_and(|names| names.iter().any(|drawn| drawn == name));
            self.watched(call, &program, &options, &wanted, &mut sinks, &mut log)?
        };
        match log.finish() {
            // Whoever closes standard output early has seen enough.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                return Err(Failed::Call(format!("cannot write the event log: {error}")));
            }
            _ => {}
        }
        if let Some(names) = drawn {
            let position = |name: &String| names.iter().position(|known| known == name);
            memory.trajectories.variables.sort_by_key(|variable| position(&variable.column.name));
            self.drawn = Some(memory.trajectories);
        }
        Ok(outcome)
    }

    fn watched(
        &self,
        call: &mut Call,
        program: &Arc<Program>,
        options: &RunOptions,
        keep: &dyn Fn(&str) -> bool,
        sink: &mut dyn ResultSink,
        log: &mut EventLog,
    ) -> Result<Outcome, Failed> {
        let stop = interrupt::flag();
        let mut progress = Progress::new(options.start_time, options.stop_time, self.arguments.subject.quiet);
        let mut watcher = |time: f64| {
            progress.at(time);
            !stop.load(Ordering::Relaxed)
        };
        let outcome = call.session.simulate(program, options, keep, sink, log, &mut watcher);
        progress.end();
        outcome
    }

    fn settings(&self) -> Settings {
        let Simulate { run, stats, realtime, .. } = self.arguments;
        Settings { measure: *stats, real_time: *realtime, ..run.settings() }
    }

    fn event_log(&self) -> Result<EventLog<'static>, Failed> {
        match self.arguments.event_log.as_deref() {
            None => Ok(EventLog::none()),
            // The summary has standard output for itself.
            Some("" | "-") if self.arguments.subject.json => Ok(EventLog::new(std::io::stderr(), EventLogFormat::Text)),
            Some("" | "-") => Ok(EventLog::new(standard_output(), EventLogFormat::Text)),
            Some(path) => {
                let lines = Path::new(path).extension().is_some_and(|ending| ending == "jsonl" || ending == "json");
                let format = if lines { EventLogFormat::JsonLines } else { EventLogFormat::Text };
                may_be_overwritten(Path::new(path))?;
                let file =
                    File::create(path).map_err(|error| Failed::Call(format!("cannot create `{path}`: {error}")))?;
                Ok(EventLog::new(BufWriter::new(file), format))
            }
        }
    }

    /// `--variables` that matches nothing.
    fn warn_of_empty_selection(&self, call: &mut Call, model: &dae::Model, keep: &dyn Fn(&str) -> bool) {
        let Some(pattern) = &self.arguments.variables else { return };
        if model.variables.ids().any(|variable| keep(&model.variable_name(variable))) {
            return;
        }
        let message = format!("no variable matches `{pattern}`; the result holds the time alone");
        let hint =
            "the regular expression has to match a whole name, as in `motor\\..*`; `gyrator flatten` lists the names";
        call.session.diagnostics.push(Diagnostic::warning("no-variables", message).hint(hint));
    }

    /// `None` when nothing is to be drawn.
    fn names_to_draw(&self, model: &dae::Model) -> Result<Option<Vec<String>>, Failed> {
        let Some(list) = &self.arguments.plot else { return Ok(None) };
        let wanted = names::split(list);
        if wanted.is_empty() {
            return Ok(Some(self.states.iter().take(6).cloned().collect()));
        }
        let known: Vec<String> = model.variables.ids().map(|variable| model.variable_name(variable)).collect();
        for name in &wanted {
            if !known.contains(name) {
                let failure = names::unknown(name, "the model", known.iter().map(String::as_str));
                return Err(Failed::Call(failure.message));
            }
        }
        Ok(Some(wanted))
    }

    /// Says how it ended.
    fn end(&self, call: &mut Call, outcome: &Outcome) -> Result<(), Failure> {
        call.tell();
        let subject = &self.arguments.subject;
        if subject.json {
            self.print_summary(call, outcome)?;
        } else {
            self.draw(call)?;
            if self.arguments.stats {
                let statistics = Statistics::of(outcome, call.session.sources());
                print(&statistics.text(&call.session.seconds))?;
            }
        }
        call.tell_times();
        let output = match self.arguments.writes_to_standard_output() {
            true => "standard output".to_owned(),
            false => self.output.display().to_string(),
        };
        let rows = outcome.statistics.rows;
        if let Some(late) = outcome.punctuality.filter(|punctuality| punctuality.overruns > 0 && !subject.quiet) {
            let (steps, latest) = (late.overruns, late.latest * 1e3);
            let time = Decimal(late.latest_at);
            tell(&format!("late steps: {steps}, by {latest:.3} ms at most (at time {time})\n"));
        }
        match &outcome.ending {
            Ending::Complete => {
                if !subject.quiet && !subject.json {
                    tell(&format!("{output}: {rows} rows\n"));
                }
                Ok(())
            }
            Ending::Terminated { time, message } => {
                if !subject.quiet {
                    let time = Decimal(*time);
                    tell(&format!("the model ended the run at time {time}: {message}\n{output}: {rows} rows\n"));
                }
                Ok(())
            }
            Ending::NotInitialised(_) => Err(Failure { exit: Exit::Model, message: String::new() }),
            Ending::Interrupted { time } => Err(Failure {
                exit: Exit::Stopped,
                message: format!(
                    "interrupted at time {}; `{output}` holds what was computed until then",
                    Decimal(*time)
                ),
            }),
            Ending::Refused { .. } => Err(Failure {
                exit: Exit::Model,
                message: format!(
                    "the model leaves something open (--strict); `{output}` holds what came out nevertheless"
                ),
            }),
            Ending::Failed { time, .. } => Err(Failure {
                exit: Exit::Stopped,
                message: format!(
                    "the run stopped at time {}; `{output}` holds what was computed until then",
                    Decimal(*time)
                ),
            }),
        }
    }

    fn draw(&self, call: &Call) -> Result<(), Failure> {
        let Some(trajectories) = &self.drawn else { return Ok(()) };
        let variables: Vec<_> = trajectories.variables.iter().collect();
        if variables.is_empty() {
            tell("the model has no states; name the variables to draw: --plot NAMES\n");
            return Ok(());
        }
        let figure = Figure::new(call.session.class.clone(), trajectories, &variables);
        print(&terminal(&figure, screen(call.style)))
    }

    fn print_summary(&self, call: &Call, outcome: &Outcome) -> Result<(), Failure> {
        let mut summary = call.summary();
        summary.statistics = Some(Statistics::of(outcome, call.session.sources()));
        if !matches!(outcome.ending, Ending::NotInitialised(_)) {
            summary.result = Some(self.output.display().to_string());
        }
        if let Ending::Interrupted { time } = outcome.ending {
            summary.message = Some(format!("interrupted at time {}", Decimal(time)));
        }
        debug_assert_eq!(summary.status == Status::Ok, summary.stage == Stage::Done);
        print_json(&summary)
    }
}

/// The name of the class with an ending, in the working directory whatever the class is called.
pub fn default_output(class: &str, ending: &str) -> PathBuf {
    let name = match class.strip_suffix('\'').and_then(|quoted| quoted.rfind('\'')) {
        Some(quote) => &class[quote..],
        None => class.rsplit('.').next().unwrap_or(class),
    };
    let name: String = name.chars().map(|c| if matches!(c, '/' | '\\' | ':' | '\0') { '_' } else { c }).collect();
    PathBuf::from(format!("{name}.{ending}"))
}

/// An event log replaces no file but one that looks like an event log, by its name or by its content.
fn may_be_overwritten(path: &Path) -> Result<(), Failed> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    if ["log", "txt", "jsonl"].contains(&ending) {
        return Ok(());
    }
    // What is no file, such as a pipe, has nothing to lose.
    if !path.is_file() {
        return Ok(());
    }
    let mut first = String::new();
    let read = File::open(path).and_then(|file| BufReader::new(file.take(LONGEST_LINE)).read_line(&mut first));
    if read.is_ok() && (first.is_empty() || EventLog::is_line(first.trim_end())) {
        return Ok(());
    }
    Err(Failed::Call(format!(
        "`{}` exists and is no event log; `--event-log` overwrites other files only if they end in .log, .txt or .jsonl",
        path.display()
    )))
}

/// As much of a file is looked at to recognise an event log.
const LONGEST_LINE: u64 = 100_000;

impl Simulate {
    /// With the values of a file of parameters.
    fn with_parameters(mut self) -> Result<Self, Failure> {
        self.run.add_parameters(&mut self.subject)?;
        Ok(self)
    }

    fn writes_to_standard_output(&self) -> bool {
        self.output.as_deref() == Some(Path::new("-"))
    }

    /// Standard output holds one thing.
    fn check_standard_output(&self) -> Result<(), Failure> {
        let to_terminal = |log: &String| log.is_empty() || log == "-";
        let others = [
            ("--json", self.subject.json),
            ("--plot", self.plot.is_some()),
            ("--stats", self.stats),
            ("--event-log", self.event_log.as_ref().is_some_and(to_terminal)),
        ];
        match others.iter().find(|(_, wanted)| *wanted) {
            Some((other, _)) if self.writes_to_standard_output() => {
                Err(Failure::call(format!("`--output -` and `{other}` both write to standard output; choose one")))
            }
            _ => Ok(()),
        }
    }

    /// `--plot circuit.mo` and `--event-log circuit.mo` take the target for their optional value; it is given back.
    fn with_target(&self) -> Self {
        let mut this = self.clone();
        if this.subject.target.is_none() {
            let is_target = |value: &String| value.ends_with(".mo") || Path::new(value).exists();
            let taken = [&mut this.plot, &mut this.event_log];
            let taken = taken.into_iter().find(|value| value.as_ref().is_some_and(is_target));
            if let Some(value) = taken {
                let target = value.replace(String::new());
                this.subject = Subject { target, ..this.subject.clone() };
            }
        }
        this
    }
}
