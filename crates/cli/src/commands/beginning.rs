//! How runs begin and go, for `simulate` and `sweep`: settings, files of inputs, results to begin from, files of parameters.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Decimal, Diagnostic};
use compile::{Program, Signals};
use results::Trajectories;
use session::{Failed, RunOptions, Settings};

use crate::arguments::{RunArguments, Subject, Switching};
use crate::exit::Failure;
use crate::parameters;

/// The files that a run begins with.
pub struct Beginning {
    input: Option<(PathBuf, Trajectories)>,
    start: Option<StartFrom>,
}

impl Beginning {
    /// Reads the files that the call names.
    pub fn read(arguments: &RunArguments) -> Result<Self, Failed> {
        let read = |path: &PathBuf| match results::read(path) {
            Ok(table) => Ok((path.clone(), table)),
            Err(error) => Err(Failed::Call(error.to_string())),
        };
        Ok(Self {
            input: arguments.input.as_ref().map(read).transpose()?,
            start: arguments.start_from.as_deref().map(StartFrom::read).transpose()?,
        })
    }

    /// The names of what a file gives.
    pub fn inputs(&self) -> Vec<String> {
        self.input.iter().flat_map(|(_, table)| table.names().map(str::to_owned)).collect()
    }

    /// What a run of a program has of them, and what there is to say about it.
    pub fn apply(&self, program: &Arc<Program>, options: &mut RunOptions) -> Result<Vec<Diagnostic>, String> {
        let mut warnings = Vec::new();
        if let Some((path, table)) = &self.input {
            let (signals, said) = session::signals_of_file(program, path, table)?;
            warnings.extend(said);
            options.inputs = Arc::new(Signals::new(signals));
        }
        if let Some(start) = &self.start {
            let point = session::start_point(program, &start.table, &start.file, start.time, options.start_time);
            let (point, said) = point?;
            warnings.extend(said);
            options.start_point = Some(Arc::new(point));
        }
        Ok(warnings)
    }
}

/// The result of another run to begin from.
struct StartFrom {
    /// The name of the file for messages.
    file: String,
    table: Trajectories,
    time: f64,
}

impl StartFrom {
    fn read(text: &str) -> Result<Self, Failed> {
        let (path, at) = session::split_start_from(text, Path::exists).map_err(Failed::Call)?;
        let table = results::read(&path).map_err(|error| Failed::Call(error.to_string()))?;
        let file = format!("`{}`", path.display());
        let time = session::start_from_time(&table, &file, at).map_err(Failed::Call)?;
        Ok(Self { file, table, time })
    }
}

impl RunArguments {
    /// What the call says about the run.
    pub fn settings(&self) -> Settings {
        Settings {
            start_time: self.start_time,
            stop_time: self.stop_time,
            interval: self.interval,
            intervals: self.intervals,
            tolerance: self.tolerance,
            solver: self.solver.clone(),
            step: self.step,
            max_step: self.max_step,
            ..Settings::default()
        }
    }

    /// The options of the run of a model.
    pub fn options(
        &self,
        mut settings: Settings,
        experiment: &dae::Experiment,
        beginning: &Beginning,
    ) -> Result<RunOptions, Failed> {
        if let Some(start) = &beginning.start {
            settings.start_time = settings.start_time.or(Some(start.time));
            let stop_time =
                settings.stop_time.or(experiment.stop_time).filter(|&stop| Some(stop) > settings.start_time);
            if stop_time.is_none()
                && settings.start_time.is_some_and(|start| start >= 1.0 || experiment.stop_time.is_some())
            {
                let message = format!("the run begins at {}; say with --stop-time where it ends", Decimal(start.time));
                return Err(Failed::Call(message));
            }
        }
        let options = settings.resolve(experiment).map_err(Failed::Call)?;
        if self.switching == Switching::Difference && options.solver != session::Method::ImplicitEuler {
            let message = "`--switching difference` goes with `--solver implicit-euler`, whose formula it uses";
            return Err(Failed::Call(message.to_owned()));
        }
        Ok(RunOptions { steady_state: self.steady_state, ..options })
    }

    /// Adds what a file of parameters says to what is set.
    pub fn add_parameters(&self, subject: &mut Subject) -> Result<(), Failure> {
        if let Some(path) = &self.param_file {
            let mut set = parameters::of_file(path, &subject.set).map_err(Failure::call)?;
            let file = path.display().to_string();
            subject.set_in_files = set.iter().map(|(name, _)| (name.clone(), file.clone())).collect();
            set.append(&mut subject.set);
            subject.set = set;
        }
        Ok(())
    }
}
