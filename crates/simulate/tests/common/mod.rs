//! Runs flat models written in the small notation of `dae::testing`.

use compile::Program;
use results::{MemorySink, Trajectories};
use simulate::{EventLog, EventLogFormat, Options, Outcome};

#[allow(dead_code)]
pub struct Run {
    pub outcome: Outcome,
    pub trajectories: Trajectories,
    pub log: String,
}

#[allow(dead_code)]
impl Run {
    /// The value of a variable at the last row.
    pub fn end(&self, name: &str) -> f64 {
        *self.column(name).last().expect("rows")
    }

    pub fn column(&self, name: &str) -> Vec<f64> {
        let found = self.trajectories.get(name).unwrap_or_else(|| panic!("no column {name}"));
        found.values.to_vec()
    }

    pub fn time(&self) -> &[f64] {
        &self.trajectories.time
    }
}

pub fn run(text: &str, options: &Options) -> Run {
    run_with(text, &transform::Options::default(), options)
}

pub fn run_with(text: &str, transformations: &transform::Options, options: &Options) -> Run {
    let model = dae::testing::model(text).expect("a model");
    let schedule = match transform::transform(model, transformations) {
        Ok(schedule) => schedule,
        Err(diagnostics) => panic!("{diagnostics:#?}"),
    };
    let program = std::sync::Arc::new(Program::new(schedule).expect("a program"));
    let mut sink = MemorySink::default();
    let mut bytes = Vec::new();
    let mut log = EventLog::new(&mut bytes, EventLogFormat::Text);
    let outcome =
        simulate::simulate(&program, options, &|_| true, &mut sink, &mut log, &mut |_| true).expect("a result");
    drop(log);
    Run { outcome, trajectories: sink.trajectories, log: String::from_utf8(bytes).expect("text") }
}

#[allow(dead_code)]
pub fn until(stop_time: f64, tolerance: f64) -> Options {
    Options { stop_time, interval: stop_time / 100.0, tolerance, ..Options::default() }
}

#[allow(dead_code)]
#[track_caller]
pub fn assert_close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance * expected.abs().max(1.0), "{value} is not {expected}");
}
