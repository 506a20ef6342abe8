//! Runs models given as text.
#![allow(clippy::unwrap_used, dead_code)]

pub mod hybrid;

use lang::{Libraries, MemoryFiles, Overrides};
use results::{MemorySink, NullSink, Trajectories};
use session::{Ending, EventLog, EventLogFormat, Request, Session, Settings};

/// A session over one text, `case.mo`.
pub fn session(text: &str) -> Session {
    Session::new(Box::new(MemoryFiles::one("case.mo", text)))
}

pub fn simulate(text: &str, stop_time: f64) -> Trajectories {
    simulate_from(text, 0.0, stop_time)
}

pub fn simulate_from(text: &str, start_time: f64, stop_time: f64) -> Trajectories {
    simulate_with(
        text,
        &Settings { start_time: Some(start_time), stop_time: Some(stop_time), ..Settings::default() },
        &|_| true,
    )
}

pub fn simulate_with(text: &str, settings: &Settings, keep: &dyn Fn(&str) -> bool) -> Trajectories {
    let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", text)));
    let request = Request { target: "case.mo".to_owned(), ..Request::default() };
    let result = session.flatten(&request).and_then(|model| {
        let options = settings.resolve(&model.experiment).unwrap();
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        let mut sink = MemorySink::default();
        let outcome =
            session.simulate(&program, &options, keep, &mut sink, &mut EventLog::none(), &mut |_: f64| true)?;
        assert_eq!(outcome.ending, Ending::Complete);
        Ok(sink.trajectories)
    });
    let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    result.unwrap_or_else(|failed| panic!("{failed:?}\n{said}"))
}

/// A run, how it ended and what it cost.
pub struct Run {
    pub result: Trajectories,
    pub statistics: simulate::RunStatistics,
    pub warnings: Vec<String>,
    pub log: String,
    pub ending: Ending,
    /// What was said, rendered.
    pub said: String,
}

impl Run {
    /// The value at a time, the right limit at an event.
    pub fn at(&self, name: &str, time: f64) -> f64 {
        self.result.at(name, time).unwrap_or_else(|| panic!("no `{name}` at {time}"))
    }

    /// The row nearest to a time: its own time and the value. Between rows there is no more than a straight line.
    pub fn near(&self, name: &str, time: f64) -> (f64, f64) {
        let after = self.result.time.partition_point(|&t| t < time).clamp(1, self.result.time.len() - 1);
        let is_before = time - self.result.time[after - 1] < self.result.time[after] - time;
        let row = if is_before { after - 1 } else { after };
        (self.result.time[row], self.column(name)[row])
    }

    /// Compares rows near some times with a function of time.
    #[track_caller]
    pub fn assert_follows(&self, name: &str, times: &[f64], function: impl Fn(f64) -> f64, tolerance: f64) {
        for &time in times {
            let (time, value) = self.near(name, time);
            let expected = function(time);
            assert!((value - expected).abs() <= tolerance, "{name} is {value} instead of {expected} at {time}");
        }
    }

    pub fn end(&self, name: &str) -> f64 {
        self.result.last(name).unwrap_or_else(|| panic!("no `{name}`"))
    }

    pub fn column(&self, name: &str) -> &[f64] {
        &self.result.get(name).unwrap_or_else(|| panic!("no `{name}`")).values
    }

    /// The times at which a variable jumped.
    pub fn jumps(&self, name: &str) -> Vec<f64> {
        let pairs = self.result.time.windows(2).zip(self.column(name).windows(2));
        pairs.filter(|(time, values)| time[0] == time[1] && values[0] != values[1]).map(|(time, _)| time[0]).collect()
    }

    /// Message and notes of a run that failed, with their places.
    pub fn failure(&self) -> String {
        match &self.ending {
            Ending::Failed { .. } | Ending::NotInitialised(_) => self.said.clone(),
            ending => panic!("it should fail, not be {ending:?}"),
        }
    }
}

/// Runs the last model of a text from 0 on.
pub fn run(text: &str, stop_time: f64) -> Run {
    run_logged(text, stop_time, EventLogFormat::Text)
}

pub fn run_logged(text: &str, stop_time: f64, format: EventLogFormat) -> Run {
    run_as_told(text, Settings { stop_time: Some(stop_time), ..Settings::default() }, format)
}

/// Runs the last model of a text from 0 on, with a tolerance; it must be complete.
pub fn complete(text: &str, stop_time: f64, tolerance: f64) -> Run {
    let settings = Settings { stop_time: Some(stop_time), tolerance: Some(tolerance), ..Settings::default() };
    let run = run_with(text, settings);
    assert_eq!(run.ending, Ending::Complete, "{}\n{}", run.said, run.log);
    run
}

pub fn run_with(text: &str, settings: Settings) -> Run {
    run_as_told(text, settings, EventLogFormat::Text)
}

/// Runs the last model of a text from 0 on with everything integrated and moved to the constraints.
pub fn run_by_projection(text: &str, stop_time: f64) -> Run {
    run_by_projection_with(text, Settings { stop_time: Some(stop_time), ..Settings::default() })
}

pub fn run_by_projection_with(text: &str, settings: Settings) -> Run {
    let index_reduction = transform::IndexReduction::Projection;
    let options = transform::Options { index_reduction, ..transform::Options::default() };
    run_in(text, options, settings, EventLogFormat::Text)
}

/// Runs the last model of a text from 0 on with difference formulas in place of derivatives.
pub fn run_in_differences(text: &str, stop_time: f64, step: f64) -> Run {
    let solver = Some("implicit-euler".to_owned());
    let settings = Settings { stop_time: Some(stop_time), solver, step: Some(step), ..Settings::default() };
    run_in(text, differences(), settings, EventLogFormat::Text)
}

/// What is said about a model whose derivatives are to become difference formulas.
pub fn messages_in_differences(text: &str) -> String {
    messages_by(text, differences())
}

fn differences() -> transform::Options {
    transform::Options { switching: transform::Switching::Difference, ..transform::Options::default() }
}

fn run_as_told(text: &str, settings: Settings, format: EventLogFormat) -> Run {
    run_in(text, transform::Options::default(), settings, format)
}

fn run_in(text: &str, transform: transform::Options, settings: Settings, format: EventLogFormat) -> Run {
    let mut session = session(text);
    let request = Request { target: "case.mo".to_owned(), transform, ..Request::default() };
    let mut sink = MemorySink::default();
    let mut bytes = Vec::new();
    let mut log = EventLog::new(&mut bytes, format);
    let result = session.flatten(&request).and_then(|model| {
        let options = settings.resolve(&model.experiment).unwrap();
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        session.simulate(&program, &options, &|_| true, &mut sink, &mut log, &mut |_: f64| true)
    });
    drop(log);
    let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    let outcome = result.unwrap_or_else(|failed| panic!("{failed:?}\n{said}"));
    Run {
        result: sink.trajectories,
        statistics: outcome.statistics,
        warnings: outcome.warnings.iter().map(|warning| warning.message.clone()).collect(),
        log: String::from_utf8(bytes).unwrap(),
        ending: outcome.ending,
        said,
    }
}

#[track_caller]
pub fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} instead of {expected}");
}

/// The zero of a function that changes its sign once between two points.
pub fn zero_between(mut a: f64, mut b: f64, function: impl Fn(f64) -> f64) -> f64 {
    let sign = function(a).signum();
    for _ in 0..200 {
        let middle = 0.5 * (a + b);
        if function(middle).signum() == sign { a = middle } else { b = middle }
    }
    0.5 * (a + b)
}

/// How a run of the model `M` ends, from 0 to 1 s.
pub fn ending(text: &str) -> Ending {
    let mut libraries = Libraries::default();
    libraries.add_text("case.mo", text);
    let model = lang::flatten(&mut libraries, "M", &Overrides::default()).model.unwrap();
    let schedule = transform::transform(model, &Default::default()).unwrap();
    let program = std::sync::Arc::new(compile::Program::new(schedule).unwrap());
    let (mut sink, mut log) = (NullSink, EventLog::none());
    let options = simulate::Options::default();
    simulate::simulate(&program, &options, &|_| true, &mut sink, &mut log, &mut |_: f64| true).unwrap().ending
}

/// What is said about a model and its run.
pub fn run_messages(text: &str) -> String {
    run_with(text, Settings::default()).said
}

/// What is said about the structure of a model.
pub fn messages(text: &str) -> String {
    messages_by(text, transform::Options::default())
}

fn messages_by(text: &str, transform: transform::Options) -> String {
    let mut session = session(text);
    let request = Request { target: "case.mo".to_owned(), transform, ..Request::default() };
    let _ = session.flatten(&request).and_then(|model| session.structure(model));
    session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect()
}

/// The sorted equations as text.
pub fn equations(text: &str) -> String {
    let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", text)));
    let request = Request { target: "case.mo".to_owned(), ..Request::default() };
    let schedule = session.flatten(&request).and_then(|model| session.structure(model));
    let schedule = schedule.unwrap_or_else(|failed| panic!("{failed:?}"));
    session::Listing::new(&schedule, session.sources(), session::Notation::Modelica).text()
}
