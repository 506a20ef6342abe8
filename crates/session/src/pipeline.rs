//! The whole way on one screen: text → classes → flat model → schedule → program → trajectory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use base::{Diagnostic, SourceMap};
use compile::Program;
use dae::Model;
use lang::{Files, FrontEnd, Libraries, OpenEnds};
use results::{ResultError, ResultSink};
use simulate::{Ending, EventLog, Outcome, Watcher};
use transform::Schedule;

use crate::front_ends;
use crate::shipped::WithLibrary;
use crate::stage::{Seconds, Stage};
use crate::target::{Choice, Target, TargetError};

/// What a call asks to be worked on.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// A file, a package folder, or the name of a class.
    pub target: String,
    /// Which class of the file.
    pub model: Option<String>,
    /// Further files and folders with classes.
    pub more: Vec<PathBuf>,
    /// Folders with libraries, in the order in which they are searched.
    pub libraries: Vec<PathBuf>,
    /// Parameters and the texts of their new values.
    pub set: Vec<(String, String)>,
    /// Which of them come from a file, and its name.
    pub files: Vec<(String, String)>,
    /// Top-level inputs that are given from outside, also where they have a value of their own.
    pub inputs: Vec<String>,
    /// What the transformations are to do.
    pub transform: transform::Options,
    /// Leave the units of equations unchecked.
    pub no_unit_check: bool,
    /// Which code of others may be called.
    pub allow_external: compile::ExternalCode,
    /// What the functions of the model may read and write.
    pub allow: dae::Allowed,
}

/// Why the way ended. What is wrong with the model stands in `Session::diagnostics`.
#[derive(Debug)]
pub enum Failed {
    /// The call asks for something that is not there.
    Call(String),
    /// What is wrong with the model is in the diagnostics.
    Model,
    /// The result file could not be written.
    Result(ResultError),
}

/// The way, to be walked as often as one likes: each call reads what has changed since the last one. Every stage is timed; what
/// it has to say is collected.
pub struct Session {
    pub(crate) libraries: Libraries,
    /// The class that is worked on, once it is known.
    pub class: String,
    /// All classes at the top of the file that the call names; empty where it names a class.
    pub(crate) in_file: Vec<String>,
    /// The stage that is worked on, or in which it ended.
    pub stage: Stage,
    /// How long each stage took.
    pub seconds: Seconds,
    /// What was found so far.
    pub diagnostics: Vec<Diagnostic>,
    /// How the equations are transformed.
    pub transform: transform::Options,
    /// What the functions of the model may touch, and what they did.
    access: Arc<dae::Access>,
    /// What only the use of the class connects.
    pub(crate) open_ends: OpenEnds,
}

impl Session {
    /// A session that reads these files.
    pub fn new(files: Box<dyn Files>) -> Self {
        let mut libraries = Libraries::new(Box::new(WithLibrary(files)));
        for front_end in front_ends::all() {
            libraries.add_front_end(front_end);
        }
        Self {
            libraries,
            class: String::new(),
            in_file: Vec::new(),
            stage: Stage::Parse,
            seconds: Seconds::default(),
            diagnostics: Vec::new(),
            transform: transform::Options::default(),
            access: Arc::default(),
            open_ends: OpenEnds::None,
        }
    }

    /// Files of another language are read from now on.
    pub fn add_front_end(&mut self, front_end: Box<dyn FrontEnd>) {
        self.libraries.add_front_end(front_end);
    }

    /// All texts that were read.
    pub fn sources(&self) -> &SourceMap {
        &self.libraries.sources
    }

    /// From now on this text counts as that of a file, as an editor has it; `None`: that on disk again.
    pub fn replace_text(&mut self, path: impl AsRef<Path>, text: Option<Arc<str>>) {
        self.libraries.replace_text(path, text);
    }

    /// A file in another language as Modelica text.
    pub fn translate(&mut self, target: &str) -> Result<String, Failed> {
        self.translate_among(target, &[])
    }

    /// The same where classes of further files are used.
    pub fn translate_among(&mut self, target: &str, more: &[PathBuf]) -> Result<String, Failed> {
        self.diagnostics.clear();
        self.libraries.forget();
        let path = Path::new(target);
        if let Some(missing) =
            [path].into_iter().chain(more.iter().map(PathBuf::as_path)).find(|path| !self.libraries.exists(path))
        {
            return Err(Failed::Call(format!("there is no file `{}`", missing.display())));
        }
        self.libraries.read_together([path.to_owned()].into_iter().chain(more.iter().cloned()));
        let text = self.libraries.translation(path);
        self.diagnostics.append(&mut self.libraries.diagnostics);
        match text {
            _ if self.diagnostics.iter().any(Diagnostic::is_error) => Err(Failed::Model),
            Some(text) => Ok(text),
            None => {
                let endings: Vec<String> =
                    self.libraries.endings().skip(1).map(|ending| format!("`.{ending}`")).collect();
                let endings = endings.join(", ");
                Err(Failed::Call(format!("`{target}` is in no other language; files to translate end in {endings}")))
            }
        }
    }

    /// Text to flat model.
    pub fn flatten(&mut self, request: &Request) -> Result<Model, Failed> {
        let overrides = self.open(request, Choice::Model)?;
        self.flatten_class(&overrides)
    }

    /// Finds the class that a call means, and how it is to be flattened.
    pub(crate) fn open(&mut self, request: &Request, choice: Choice) -> Result<lang::Overrides, Failed> {
        self.transform = request.transform.clone();
        self.diagnostics.clear();
        self.seconds = Seconds::default();
        let begin = Instant::now();
        self.libraries.forget();
        let found = self.load(request, choice);
        self.seconds.add(Stage::Parse, begin.elapsed().as_secs_f64());
        (self.class, self.in_file) = match found {
            Ok(target) => (target.class, target.in_file),
            Err(TargetError::Call(message)) => return Err(Failed::Call(message)),
            Err(TargetError::Model(diagnostic)) => return self.fail(vec![*diagnostic]),
        };
        let outside = match request.allow_external == compile::ExternalCode::default() {
            true => None,
            false => Some(Arc::new(compile::Outside::open(&request.allow_external).map_err(Failed::Call)?) as _),
        };
        // A folder that is not there would be believed to be allowed.
        if let Some(missing) = request.allow.read.iter().chain(&request.allow.write).find(|folder| !folder.is_dir()) {
            return Err(Failed::Call(format!(
                "there is no folder `{}` that the model could be allowed",
                missing.display()
            )));
        }
        self.access = Arc::new(dae::Access::new(
            dae::Allowed { strict: request.transform.strict, ..request.allow.clone() },
            own_folders(request),
        ));
        Ok(lang::Overrides {
            set: self.settings_of_graph(request),
            files: request.files.clone(),
            inputs: request.inputs.clone(),
            no_unit_check: request.no_unit_check,
            name_differentiated: request.transform.switching == transform::Switching::Difference,
            outside,
            access: self.access.clone(),
            purpose: lang::Purpose::Simulation,
        })
    }

    /// Class to flat model.
    pub(crate) fn flatten_class(&mut self, overrides: &lang::Overrides) -> Result<Model, Failed> {
        let flattening = lang::flatten(&mut self.libraries, &self.class, overrides);
        self.open_ends = flattening.open_ends;
        self.seconds.add(Stage::Instantiate, flattening.instantiate_time.as_secs_f64());
        self.seconds.add(Stage::Flatten, flattening.flatten_time.as_secs_f64());
        self.stage = match flattening.stage {
            lang::Stage::Parse => Stage::Parse,
            lang::Stage::Instantiate => Stage::Instantiate,
            lang::Stage::Flatten => Stage::Flatten,
            lang::Stage::Done => Stage::Structure,
        };
        let refused = self.keep(flattening.diagnostics);
        flattening.model.filter(|_| !refused).ok_or(Failed::Model)
    }

    /// Flat model to sorted and solved equations.
    pub fn structure(&mut self, model: Model) -> Result<Schedule, Failed> {
        self.stage = Stage::Structure;
        let schedule = self.seconds.time(Stage::Structure, || transform::transform(model, &self.transform));
        match schedule {
            Ok(schedule) => {
                if self.keep(schedule.summary.notices.iter().cloned()) {
                    return Err(Failed::Model);
                }
                self.stage = Stage::Codegen;
                Ok(schedule)
            }
            Err(diagnostics) => {
                let diagnostics = diagnostics.into_iter().map(|diagnostic| self.advised(diagnostic)).collect();
                self.fail(diagnostics)
            }
        }
    }

    /// Who sets a variable that equations determine mostly means the value that it begins with.
    fn advised(&self, diagnostic: Diagnostic) -> Diagnostic {
        let set = diagnostic.labels.iter().find_map(|label| {
            let path = self.sources().file(label.span.file).path.to_string_lossy().into_owned();
            path.strip_prefix(lang::SET).map(str::to_owned)
        });
        match set {
            Some(name) if diagnostic.code == "over-determined" => {
                let hint =
                    format!("to begin with another value, set `{name}.start`; `--set {name}=…` fixes it for all times");
                diagnostic.hint(hint)
            }
            _ => diagnostic,
        }
    }

    /// Schedule to code.
    pub fn compile(&mut self, schedule: Schedule) -> Result<Arc<Program>, Failed> {
        self.stage = Stage::Codegen;
        match self.seconds.time(Stage::Codegen, || Program::new(schedule)) {
            Ok(program) => {
                self.stage = Stage::Initialise;
                Ok(Arc::new(program))
            }
            Err(diagnostic) => self.fail(vec![diagnostic]),
        }
    }

    /// Code to trajectory. A run that stops early is no failure of this call: the outcome tells how it ended.
    pub fn simulate(
        &mut self,
        program: &Arc<Program>,
        options: &simulate::Options,
        keep: &dyn Fn(&str) -> bool,
        sink: &mut dyn ResultSink,
        log: &mut EventLog,
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, Failed> {
        self.stage = Stage::Initialise;
        let mut sink = TimedSink { inner: sink, first: None, rows: 0.0, count: 0, last: 0.0 };
        let mut outcome = simulate::simulate(program, options, keep, &mut sink, log, watcher).map_err(|error| {
            self.stage = Stage::Integrate;
            Failed::Result(error)
        })?;
        // The first row is part of the initialisation, and the run is over when the file is completed.
        let first = sink.first.unwrap_or(0.0);
        self.seconds.add(Stage::Initialise, (outcome.initialise_seconds - first).max(0.0));
        self.seconds.add(Stage::Integrate, (outcome.integrate_seconds - sink.rows).max(0.0));
        self.seconds.add(Stage::Write, first + sink.rows + sink.last);
        if self.keep(outcome.warnings.iter().cloned())
            && let Some(refused) = self.diagnostics.iter().rev().find(|said| said.is_error() && said.decides)
            && let Some(time) = outcome.ending.time_reached(options)
        {
            outcome.ending = Ending::Refused { time, diagnostic: Box::new(refused.clone()) };
        }
        self.stage = match &outcome.ending {
            Ending::Complete | Ending::Terminated { .. } => Stage::Done,
            Ending::NotInitialised(diagnostic) => {
                self.diagnostics.push((**diagnostic).clone());
                Stage::Initialise
            }
            Ending::Interrupted { .. } | Ending::Refused { .. } => Stage::Integrate,
            Ending::Failed { diagnostic, .. } => {
                self.diagnostics.push((**diagnostic).clone());
                Stage::Integrate
            }
        };
        Ok(outcome)
    }

    /// Reads what the call names and finds the class.
    fn load(&mut self, request: &Request, choice: Choice) -> Result<Target, TargetError> {
        for folder in &request.libraries {
            if !self.libraries.exists(folder) {
                return Err(TargetError::Call(format!("there is no library folder `{}`", folder.display())));
            }
            self.libraries.add_search_path(folder);
        }
        // The last one: a library of the user may have the same name.
        self.libraries.add_search_path(library::FOLDER);
        self.libraries.read_together([PathBuf::from(&request.target)].into_iter().chain(request.more.iter().cloned()));
        for path in &request.more {
            if !self.libraries.exists(path) {
                return Err(TargetError::Call(format!("there is no file or folder `{}`", path.display())));
            }
            self.libraries.add_file(path);
        }
        Target::find(&mut self.libraries, &request.target, request.model.as_deref(), choice)
    }

    /// Keeps what a stage has to say; whether something of it was decided that must not be.
    pub(crate) fn keep(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) -> bool {
        let strict = self.transform.strict;
        let before = self.diagnostics.len();
        let decided = |said: Diagnostic| if strict && said.decides { said.refused() } else { said };
        self.diagnostics.extend(self.access.take_warnings());
        self.diagnostics.extend(diagnostics.into_iter().map(decided));
        self.diagnostics[before..].iter().any(|said| said.decides && said.is_error())
    }

    fn fail<T>(&mut self, diagnostics: Vec<Diagnostic>) -> Result<T, Failed> {
        self.diagnostics.append(&mut self.libraries.diagnostics);
        self.diagnostics.extend(self.access.take_warnings());
        self.diagnostics.extend(diagnostics);
        Err(Failed::Model)
    }
}

/// The working directory and the folders of the files that the call names.
fn own_folders(request: &Request) -> Vec<PathBuf> {
    let target = Path::new(&request.target);
    let named = request.more.iter().map(PathBuf::as_path).chain([target].into_iter().filter(|target| target.exists()));
    let mut folders: Vec<PathBuf> = std::env::current_dir().into_iter().collect();
    for path in named {
        match path.is_dir() {
            true => folders.push(path.to_owned()),
            false => folders.extend(path.parent().map(Path::to_owned)),
        }
    }
    folders
}

/// Counts the time that writing takes.
struct TimedSink<'a> {
    inner: &'a mut dyn ResultSink,
    /// Seconds until the first row was written.
    first: Option<f64>,
    rows: f64,
    count: u32,
    /// Seconds that the end took.
    last: f64,
}

impl TimedSink<'_> {
    fn time<T>(&mut self, work: impl FnOnce(&mut dyn ResultSink) -> T) -> (T, f64) {
        let begin = Instant::now();
        let done = work(self.inner);
        (done, begin.elapsed().as_secs_f64())
    }
}

impl ResultSink for TimedSink<'_> {
    fn begin(&mut self, columns: &[results::Column]) -> Result<(), ResultError> {
        let (done, seconds) = self.time(|sink| sink.begin(columns));
        self.rows = seconds;
        done
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        // Looking at the clock takes as long as a short row: after the first ones a part of them stands for all.
        const EACH: u32 = 16;
        self.count = self.count.wrapping_add(1);
        if self.count > EACH && !self.count.is_multiple_of(EACH) {
            return self.inner.row(time, values);
        }
        let (done, seconds) = self.time(|sink| sink.row(time, values));
        self.rows += if self.count > EACH { f64::from(EACH) * seconds } else { seconds };
        if self.first.is_none() {
            self.first = Some(std::mem::take(&mut self.rows));
        }
        done
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        let (done, seconds) = self.time(|sink| sink.finish());
        self.last += seconds;
        done
    }
}
