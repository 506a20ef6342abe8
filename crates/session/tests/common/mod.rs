//! Runs models given as text.
#![allow(clippy::unwrap_used, dead_code)]

use std::path::Path;

use lang::{Files, Libraries, Overrides};
use results::{MemorySink, NullSink, Trajectories};
use session::{Ending, EventLog, Request, Session, Settings};

/// One file in memory.
struct Text(String);

impl Files for Text {
    fn read(&self, _: &Path) -> std::io::Result<String> {
        Ok(self.0.clone())
    }

    fn list(&self, _: &Path) -> Vec<(String, bool)> {
        Vec::new()
    }

    fn exists(&self, path: &Path) -> bool {
        path == Path::new("case.mo")
    }
}

pub fn simulate(text: &str, stop_time: f64) -> Trajectories {
    simulate_from(text, 0.0, stop_time)
}

pub fn simulate_from(text: &str, start_time: f64, stop_time: f64) -> Trajectories {
    let mut session = Session::new(Box::new(Text(text.to_owned())));
    let request = Request { target: "case.mo".to_owned(), ..Request::default() };
    let settings = Settings { start_time: Some(start_time), stop_time: Some(stop_time), ..Settings::default() };
    let result = session.flatten(&request).and_then(|model| {
        let options = settings.resolve(&model.experiment).unwrap();
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        let mut sink = MemorySink::default();
        let outcome =
            session.simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut |_: f64| true)?;
        assert_eq!(outcome.ending, Ending::Complete);
        Ok(sink.trajectories)
    });
    let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    result.unwrap_or_else(|failed| panic!("{failed:?}\n{said}"))
}

/// All that a run says.
pub struct Run {
    pub result: Trajectories,
    pub ending: Ending,
    pub statistics: simulate::RunStatistics,
    pub warnings: Vec<String>,
    pub log: String,
}

/// Runs the last model of a text from 0 on.
pub fn run(text: &str, stop_time: f64) -> Run {
    run_logged(text, stop_time, session::EventLogFormat::Text)
}

pub fn run_logged(text: &str, stop_time: f64, format: session::EventLogFormat) -> Run {
    let mut session = Session::new(Box::new(Text(text.to_owned())));
    let request = Request { target: "case.mo".to_owned(), ..Request::default() };
    let settings = Settings { stop_time: Some(stop_time), ..Settings::default() };
    let (mut sink, mut bytes) = (MemorySink::default(), Vec::new());
    let result = session.flatten(&request).and_then(|model| {
        let options = settings.resolve(&model.experiment).unwrap();
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        let mut log = EventLog::new(&mut bytes, format);
        session.simulate(&program, &options, &|_| true, &mut sink, &mut log, &mut |_: f64| true)
    });
    let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    let outcome = result.unwrap_or_else(|failed| panic!("{failed:?}\n{said}"));
    Run {
        result: sink.trajectories,
        ending: outcome.ending,
        statistics: outcome.statistics,
        warnings: outcome.warnings.iter().map(|warning| warning.message.clone()).collect(),
        log: String::from_utf8(bytes).unwrap(),
    }
}

/// How a run of the model `M` ends, from 0 to 1 s.
pub fn ending(text: &str) -> Ending {
    let mut libraries = Libraries::default();
    libraries.add_text("case.mo", text);
    let model = lang::flatten(&mut libraries, "M", &Overrides::default()).model.unwrap();
    let schedule = transform::transform(model, &Default::default()).unwrap();
    let program = compile::Program::new(schedule).unwrap();
    let (mut sink, mut log) = (NullSink, EventLog::none());
    let options = simulate::Options::default();
    simulate::simulate(&program, &options, &|_| true, &mut sink, &mut log, &mut |_: f64| true).unwrap().ending
}

/// What is said about the structure of a model.
pub fn messages(text: &str) -> String {
    let mut session = Session::new(Box::new(Text(text.to_owned())));
    let request = Request { target: "case.mo".to_owned(), ..Request::default() };
    let _ = session.flatten(&request).and_then(|model| session.structure(model));
    session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect()
}
