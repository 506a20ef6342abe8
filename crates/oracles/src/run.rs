//! Runs a model given as text, within the process, with a limit of time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use compile::{Program, Signals};
use results::{MemorySink, Trajectories};
use session::{Ending, EventLog, Failed, MemoryFiles, Outcome, Request, Session, Settings};

use crate::case::Input;

/// A run that takes longer counts as one without an end.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// What a run showed and how it ended.
pub struct Run {
    /// The rows.
    pub result: Trajectories,
    /// `None`: the model was refused before the run.
    pub outcome: Option<Outcome>,
    /// All messages, rendered.
    pub messages: String,
}

impl Run {
    /// Whether the stop time was reached.
    pub fn is_complete(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| outcome.ending == Ending::Complete)
    }

    /// How it ended, in words.
    pub fn ending(&self) -> String {
        match &self.outcome {
            Some(Outcome { ending: Ending::Complete, .. }) => "complete".into(),
            Some(Outcome { ending: Ending::Interrupted { time }, .. }) => format!("no end, still at time {time}"),
            _ => self.messages.lines().take(4).collect::<Vec<_>>().join(" / "),
        }
    }

    /// The value at a time, the right limit at an event.
    pub fn at(&self, name: &str, time: f64) -> Result<f64, String> {
        self.result.at(name, time).ok_or_else(|| format!("no `{name}` at {time}"))
    }

    /// The last value of a variable.
    pub fn end(&self, name: &str) -> Result<f64, String> {
        self.result.last(name).ok_or_else(|| format!("no `{name}`"))
    }

    /// All values of a variable.
    pub fn column(&self, name: &str) -> Result<&[f64], String> {
        self.result.get(name).map(|found| found.values.as_slice()).ok_or_else(|| format!("no `{name}`"))
    }

    /// Compares every row with a function of time.
    pub fn follows(&self, name: &str, function: impl Fn(f64) -> f64, tolerance: f64) -> Result<(), String> {
        for (&time, &value) in self.result.time.iter().zip(self.column(name)?) {
            let expected = function(time);
            // NaN is not near to anything.
            let is_near = (value - expected).abs() <= tolerance;
            if !is_near {
                return Err(format!("{name} is {value} instead of {expected} at {time}"));
            }
        }
        Ok(())
    }
}

/// Runs the last model of a text. The error is a panic.
pub fn run(text: &str, settings: &Settings, inputs: &[Input]) -> Result<Run, String> {
    catch_unwind(AssertUnwindSafe(|| unguarded(text, settings, inputs))).map_err(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        format!("panic: {}", said.or_else(|| panic.downcast_ref::<&str>().map(|&said| said.into())).unwrap_or_default())
    })
}

fn unguarded(text: &str, settings: &Settings, inputs: &[Input]) -> Run {
    let started = Instant::now();
    let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", text)));
    let request = Request { target: "case.mo".to_owned(), ..Request::default() };
    let mut sink = MemorySink::default();
    let outcome = session.flatten(&request).and_then(|model| {
        let mut options = settings.resolve(&model.experiment).map_err(Failed::Call)?;
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        options.inputs = signals(&program, inputs).map_err(Failed::Call)?;
        let mut watcher = |_: f64| started.elapsed() < LIMIT;
        session.simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut watcher)
    });
    let messages = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    Run { result: sink.trajectories, outcome: outcome.ok(), messages }
}

fn signals(program: &Program, inputs: &[Input]) -> Result<Arc<Signals>, String> {
    let known = session::inputs_of(program);
    let signal = |(name, rows): &Input| {
        let variable = known.iter().find(|(known, _)| known == name).ok_or_else(|| format!("no input `{name}`"))?.1;
        let (time, values): (Vec<f64>, Vec<f64>) = rows.iter().copied().unzip();
        session::signal(program, variable, &time, &values)
    };
    Ok(Arc::new(Signals::new(inputs.iter().map(signal).collect::<Result<_, _>>()?)))
}
