//! One run of a study: what is computed, what is kept of it, and how it ended.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use dae::{VarId, Variability};
use results::{Column, Fanout, ParquetSink, ResultError, ResultSink, SelectSink};
use session::{Ending, EventLog, Session};
use study::Summary;

use super::design::{How, Varied};
use super::programs::{Programs, Reason, first_line};

/// What came of a variant.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// From 1.
    pub variant: usize,
    pub status: Status,
    pub message: String,
    /// The time that the run came to.
    pub end_time: f64,
    /// What it took.
    pub seconds: f64,
    /// Values under the names of their columns.
    pub values: Vec<(String, f64)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Ok,
    /// The model ended the run.
    Terminated,
    Failed,
}

impl Status {
    pub const ALL: [Self; 3] = [Self::Ok, Self::Terminated, Self::Failed];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Terminated => "terminated",
            Self::Failed => "failed",
        }
    }
}

/// What all variants have in common.
pub struct Plan {
    /// The name of the class.
    pub model: String,
    pub programs: Programs,
    pub varied: Vec<Varied>,
    pub variants: Vec<Vec<f64>>,
    /// Variables whose trajectories are kept; all final values where it is empty.
    pub kept: Vec<String>,
    /// Where trajectories go.
    pub trajectories: PathBuf,
}

impl Plan {
    /// Runs a variant; `None` where it was interrupted. An error is one of files, which ends the study.
    pub fn run(
        &self,
        session: &mut Session,
        variant: usize,
        stop: &AtomicBool,
    ) -> Result<Option<Outcome>, ResultError> {
        let begin = Instant::now();
        let values = &self.variants[variant - 1];
        let given = self.varied.iter().zip(values).filter(|(it, _)| it.texts.is_none());
        let mut outcome = Outcome {
            variant,
            status: Status::Failed,
            message: String::new(),
            end_time: f64::NAN,
            seconds: 0.0,
            values: given.map(|(it, &value)| (it.name.clone(), value)).collect(),
        };
        match self.simulate(session, variant, &mut outcome.values, stop)? {
            Ok(None) => return Ok(None),
            Ok(Some((ending, sink))) => {
                outcome.end_time = sink.time;
                sink.report(&mut outcome.values);
                (outcome.status, outcome.message) = said(ending);
            }
            Err(reason) => outcome.message = reason,
        }
        if outcome.status == Status::Failed {
            // What a run that failed came to is no result.
            let names: Vec<&str> = self.varied.iter().map(|it| it.name.as_str()).collect();
            outcome.values.retain(|(name, _)| names.contains(&name.as_str()));
        }
        outcome.seconds = begin.elapsed().as_secs_f64();
        Ok(Some(outcome))
    }

    fn simulate(
        &self,
        session: &mut Session,
        variant: usize,
        shown: &mut [(String, f64)],
        stop: &AtomicBool,
    ) -> Result<Result<Option<(Ending, SummarySink)>, Reason>, ResultError> {
        let (mut tuned, mut texts) = (Vec::new(), Vec::new());
        // What is not a number stays as the model has it.
        let values = &self.variants[variant - 1];
        for (it, &value) in self.varied.iter().zip(values).filter(|(_, value)| !value.is_nan()) {
            match it.how {
                How::Tuned(id) => tuned.push((id, it.name.clone(), value)),
                How::Translated => texts.push((it.name.clone(), it.text(value))),
            }
        }
        let run = match self.programs.ready(&tuned, &texts) {
            Ok(run) => run,
            Err(reason) => {
                let numbers: Vec<_> = tuned.iter().map(|&(id, _, value)| (id, value)).collect();
                fill_own(shown, &self.programs.first(), &numbers);
                return Ok(Err(reason));
            }
        };
        fill_own(shown, run.program(), run.parameters());
        session.transform = self.programs.request.transform.clone();
        session.diagnostics.clear();
        let is_varied = |name: &str| self.varied.iter().any(|it| it.name == name);
        let is_kept = |name: &str| self.kept.is_empty() || self.kept.iter().any(|kept| kept == name);
        let wanted = |name: &str| is_kept(name) || is_varied(name);
        let mut summary = SummarySink::new(&self.kept, declared_parameters(run.program().model()));
        let mut sinks = Fanout { sinks: vec![Box::new(&mut summary)] };
        if !self.kept.is_empty() {
            let file = ParquetSink::create(&self.trajectory(variant))?;
            let numbered = NumberedSink { inner: file, variant, row: Vec::new() };
            sinks.sinks.push(Box::new(SelectSink::new(numbered, |column: &Column| is_kept(&column.name))));
        }
        let mut watcher = |_: f64| !stop.load(Ordering::Relaxed);
        let (program, options) = (run.program(), run.options());
        let done = session.simulate(program, &options, &wanted, &mut sinks, &mut EventLog::none(), &mut watcher);
        drop(sinks);
        match done {
            Ok(outcome) if matches!(outcome.ending, Ending::Interrupted { .. }) => {
                let _ = std::fs::remove_file(self.trajectory(variant));
                Ok(Ok(None))
            }
            Ok(outcome) => Ok(Ok(Some((outcome.ending, summary)))),
            Err(session::Failed::Result(error)) => Err(error),
            Err(session::Failed::Call(message)) => Ok(Err(message)),
            Err(session::Failed::Model) => Ok(Err(super::programs::reason(&session.diagnostics))),
        }
    }

    /// The file of the trajectories of a variant.
    pub fn trajectory(&self, variant: usize) -> PathBuf {
        trajectory(&self.trajectories, variant)
    }
}

/// Parameters that stand still have the value of the model.
fn fill_own(shown: &mut [(String, f64)], program: &compile::Program, set: &[(VarId, f64)]) {
    let mut open = shown.iter_mut().filter(|(_, value)| value.is_nan()).peekable();
    let mut memory = program.memory();
    if open.peek().is_none() || program.run_parameters(set, &mut memory).is_err() {
        return;
    }
    let model = program.model();
    let find = |name: &str| model.variables.ids().find(|&id| model.variable_name(id) == name);
    for (name, value) in open {
        if let Some(id) = find(name) {
            *value = program.value(&memory, id);
            continue;
        }
        let attribute = name.rsplit_once('.').and_then(|(parent, attribute)| {
            let attributes = &model.variables[find(parent)?].attributes;
            match attribute {
                "start" => attributes.start,
                "nominal" => attributes.nominal,
                "min" => attributes.min,
                "max" => attributes.max,
                _ => None,
            }
        });
        let found = attribute.and_then(|attribute| program.evaluate(&[attribute], &mut memory).ok());
        *value = found.and_then(|found| found.first().copied()).unwrap_or(f64::NAN);
    }
}

/// The file of the trajectories of a variant in a folder.
pub fn trajectory(folder: &Path, variant: usize) -> PathBuf {
    folder.join(format!("{variant:06}.parquet"))
}

fn said(ending: Ending) -> (Status, String) {
    match ending {
        Ending::Complete => (Status::Ok, String::new()),
        Ending::Terminated { message, .. } => (Status::Terminated, message),
        Ending::NotInitialised(said) => (Status::Failed, first_line(&said.message)),
        Ending::Failed { diagnostic, .. } | Ending::Refused { diagnostic, .. } => {
            (Status::Failed, first_line(&diagnostic.message))
        }
        // Whoever asks has been answered before.
        Ending::Interrupted { .. } => (Status::Failed, "interrupted".to_owned()),
    }
}

fn declared_parameters(model: &dae::Model) -> HashSet<String> {
    let is_parameter = |id: &VarId| model.variables[*id].variability <= Variability::Parameter;
    model.variables.ids().filter(is_parameter).map(|id| model.variable_name(id)).collect()
}

/// Follows a run: last values of all variables, or smallest, largest, mean and last values of those that are kept.
pub struct SummarySink {
    kept: Vec<String>,
    /// Parameters and constants by their declarations. A variable that follows from them alone is none.
    parameters: HashSet<String>,
    columns: Vec<Column>,
    /// The position of the value of a column in a row, and whether it has the other sign.
    sources: Vec<(usize, bool)>,
    summaries: Vec<Summary>,
    time: f64,
}

impl SummarySink {
    fn new(kept: &[String], parameters: HashSet<String>) -> Self {
        let (columns, sources, summaries) = Default::default();
        Self { kept: kept.to_vec(), parameters, columns, sources, summaries, time: f64::NAN }
    }

    /// Values under their names; a parameter that varies has the value that it had in the run.
    fn report(&self, values: &mut Vec<(String, f64)>) {
        for (column, summary) in self.columns.iter().zip(&self.summaries) {
            if let Some((_, value)) = values.iter_mut().find(|(name, _)| *name == column.name) {
                *value = summary.last;
            }
        }
        let of = |name: &String| self.columns.iter().position(|column| column.name == *name);
        if self.kept.is_empty() {
            for column in self.columns.iter().filter(|column| !self.parameters.contains(&column.name)) {
                if let Some(k) = of(&column.name) {
                    values.push((format!("final({})", column.name), self.summaries[k].last));
                }
            }
        }
        for name in &self.kept {
            if let Some(summary) = of(name).map(|k| &self.summaries[k]) {
                for (quantity, value) in
                    [("final", summary.last), ("min", summary.min), ("max", summary.max), ("mean", summary.mean())]
                {
                    values.push((format!("{quantity}({name})"), value));
                }
            }
        }
    }
}

impl ResultSink for SummarySink {
    fn begin(&mut self, columns: &[Column]) -> Result<(), ResultError> {
        self.columns = columns.to_vec();
        self.summaries = vec![Summary::default(); columns.len()];
        let mut own = 0;
        let mut places = Vec::new();
        for column in columns {
            places.push(own);
            own += usize::from(column.alias.is_none());
        }
        let source = |(k, column): (usize, &Column)| match column.alias {
            Some(alias) => (places[alias.of], alias.negated),
            None => (places[k], false),
        };
        self.sources = columns.iter().enumerate().map(source).collect();
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        self.time = time;
        for (summary, &(place, negated)) in self.summaries.iter_mut().zip(&self.sources) {
            let value = values.get(place).copied().unwrap_or(f64::NAN);
            summary.add(time, if negated { -value } else { value });
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        Ok(())
    }
}

/// Adds the number of the variant to each row, so that the files of a study can be read as one table.
struct NumberedSink<S> {
    inner: S,
    variant: usize,
    row: Vec<f64>,
}

impl<S: ResultSink> ResultSink for NumberedSink<S> {
    fn begin(&mut self, columns: &[Column]) -> Result<(), ResultError> {
        // At the end, where it moves no alias.
        let number = Column::new("variant").kind(results::Kind::Integer).parameter();
        self.inner.begin(&[columns, &[number]].concat())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        self.row.clear();
        self.row.extend_from_slice(values);
        self.row.push(self.variant as f64);
        self.inner.row(time, &self.row)
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        self.inner.finish()
    }
}
