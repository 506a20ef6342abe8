//! What the commands that work on a model have in common: where to look, what to say, how to end.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use base::{Diagnostic, Severity};
use serde_json::json;
use session::{
    Checked, DiagnosticEntry, Disk, Failed, Flat, Inspected, Request, Session, Stage, Status, Structure, Summary,
};

use crate::arguments::{IndexReduction, Subject};
use crate::exit::{Exit, Failure};
use crate::style::{Style, print, tell};

/// One call: the way of the model and the voice of the program.
pub struct Call<'a> {
    pub session: Session,
    pub subject: &'a Subject,
    pub style: Style,
    /// Known before the model is flattened: what is differenced is what was written.
    pub switching: transform::Switching,
    /// Inputs that a file gives.
    pub inputs: Vec<String>,
    /// For the summary, as far as it is known.
    pub flat: Option<Flat>,
    pub structure: Option<Structure>,
    /// What was checked of classes that are no models by themselves.
    pub classes: Vec<Inspected>,
    told: usize,
    /// A model from standard input, or what is wrong with it.
    standard_input: Option<Result<Arc<str>, String>>,
}

/// What stands for a model from standard input, and how messages call it.
const STANDARD_INPUT: &str = "-";
const STANDARD_INPUT_FILE: &str = "stdin.mo";

/// The text of a model from standard input.
fn standard_input() -> Result<Arc<str>, String> {
    let mut text = String::new();
    match std::io::stdin().read_to_string(&mut text) {
        Ok(_) => Ok(text.into()),
        Err(error) => Err(format!("cannot read the model from standard input: {error}")),
    }
}

/// A session that knows the model from standard input.
fn session_with(standard_input: &Option<Result<Arc<str>, String>>) -> Session {
    let mut session = Session::new(Box::new(Disk));
    if let Some(Ok(text)) = standard_input {
        session.replace_text(STANDARD_INPUT_FILE, Some(text.clone()));
    }
    session
}

impl<'a> Call<'a> {
    pub fn new(subject: &'a Subject, style: Style) -> Self {
        let is_standard_input = subject.target.as_deref() == Some(STANDARD_INPUT);
        let standard_input = is_standard_input.then(standard_input);
        Self {
            session: session_with(&standard_input),
            subject,
            style,
            switching: transform::Switching::default(),
            inputs: Vec::new(),
            flat: None,
            structure: None,
            classes: Vec::new(),
            told: 0,
            standard_input,
        }
    }

    /// What the call asks for.
    pub fn request(&self) -> Result<Request, Failed> {
        let mut request = request(self.subject, &self.target()?);
        request.transform.switching = self.switching;
        request.inputs = self.inputs.clone();
        Ok(request)
    }

    /// Makes further sessions that read the same model, also on other threads.
    pub fn sessions(&self) -> impl Fn() -> Session + Send + Sync + 'static {
        let standard_input = self.standard_input.clone();
        move || session_with(&standard_input)
    }

    /// Text to flat model.
    pub fn flatten(&mut self) -> Result<dae::Model, Failed> {
        let request = self.request()?;
        let model = self.session.flatten(&request)?;
        self.flat = Some(Flat::of(&model));
        Ok(model)
    }

    /// Checks a class of any kind.
    pub fn check(&mut self) -> Result<(), Failed> {
        let target = self.target()?;
        match self.session.check(&request(self.subject, &target))? {
            Checked::Model(flat, schedule) => {
                self.flat = Some(flat);
                self.structure = Some(Structure::of(&schedule));
            }
            Checked::Classes(classes) => self.classes = classes,
        }
        Ok(())
    }

    fn target(&self) -> Result<String, Failed> {
        let missing = || Failed::Call("which model? Name a file, such as `circuit.mo`, or a class".to_owned());
        if let Some(Err(message)) = &self.standard_input {
            return Err(Failed::Call(message.clone()));
        }
        match self.subject.target.as_deref().ok_or_else(missing)? {
            STANDARD_INPUT => Ok(STANDARD_INPUT_FILE.to_owned()),
            target => Ok(target.to_owned()),
        }
    }

    /// Flat model to sorted equations.
    pub fn structure(&mut self, model: dae::Model) -> Result<transform::Schedule, Failed> {
        let schedule = self.session.structure(model)?;
        self.structure = Some(Structure::of(&schedule));
        Ok(schedule)
    }

    /// Says what has come up since the last time, on standard error.
    pub fn tell(&mut self) {
        let least = match (self.subject.quiet, self.subject.verbose) {
            (true, _) => Severity::Error,
            (false, false) => Severity::Warning,
            (false, true) => Severity::Note,
        };
        let mut text = String::new();
        for diagnostic in self.session.diagnostics.iter().skip(self.told).filter(|said| said.severity >= least) {
            text.push_str(&self.style.message(&diagnostic.render(self.session.sources())));
        }
        self.told = self.session.diagnostics.len();
        tell(&text);
    }

    pub fn first_error(&self) -> Option<&Diagnostic> {
        self.session.diagnostics.iter().find(|diagnostic| diagnostic.is_error())
    }

    fn warnings(&self) -> Vec<String> {
        let warnings = self.session.diagnostics.iter().filter(|said| said.severity == Severity::Warning);
        warnings.map(|said| said.message.lines().next().unwrap_or("").to_owned()).collect()
    }

    /// The machine-readable summary of how far it came.
    pub fn summary(&self) -> Summary {
        Summary {
            model: if self.session.class.is_empty() {
                self.subject.target.clone().unwrap_or_default()
            } else {
                self.session.class.clone()
            },
            status: if self.session.stage == Stage::Done { Status::Ok } else { Status::Failed },
            stage: self.session.stage,
            message: self.first_error().map(|error| error.message.lines().next().unwrap_or("").to_owned()),
            warnings: self.warnings(),
            diagnostics: self
                .session
                .diagnostics
                .iter()
                .map(|said| DiagnosticEntry::of(said, self.session.sources()))
                .collect(),
            classes: self.classes.clone(),
            flat: self.flat,
            structure: self.structure.clone(),
            seconds: self.session.seconds.clone(),
            statistics: None,
            result: None,
        }
    }

    /// The end of a call that did not come through.
    pub fn failed(&mut self, failed: Failed) -> Failure {
        self.tell();
        match failed {
            Failed::Call(message) => Failure::call(message),
            Failed::Model => {
                if self.subject.json
                    && let Err(failure) = print_json(&self.summary())
                {
                    return failure;
                }
                Failure { exit: Exit::Model, message: String::new() }
            }
            Failed::Result(error) => {
                if self.subject.json {
                    let mut summary = self.summary();
                    summary.message.get_or_insert(error.to_string());
                    if let Err(failure) = print_json(&summary) {
                        return failure;
                    }
                }
                Failure { exit: Exit::Stopped, message: error.to_string() }
            }
        }
    }

    /// The time of each stage, for those who want to know.
    pub fn tell_times(&self) {
        if self.subject.verbose {
            let times =
                self.session.seconds.iter().map(|(stage, seconds)| format!("{} {:.1} ms", stage.name(), seconds * 1e3));
            tell(&format!("{}\n", times.collect::<Vec<_>>().join(", ")));
        }
    }
}

pub fn print_json(summary: &Summary) -> Result<(), Failure> {
    let value = serde_json::to_value(summary).unwrap_or_else(|error| json!({ "message": error.to_string() }));
    print(&format!("{value:#}\n"))
}

fn request(subject: &Subject, target: &str) -> Request {
    let libraries = library_folders(&subject.libraries);
    Request {
        target: target.to_owned(),
        model: subject.model.clone(),
        more: subject.more.clone(),
        libraries,
        set: subject.set.clone(),
        files: subject.set_in_files.clone(),
        inputs: Vec::new(),
        transform: transform::Options {
            index_reduction: match subject.index_reduction {
                IndexReduction::Dummy => transform::IndexReduction::DummyDerivatives,
                IndexReduction::Projection => transform::IndexReduction::Projection,
            },
            aliases: if subject.keep_aliases { transform::Aliases::Keep } else { transform::Aliases::Eliminate },
            strict: subject.strict,
            ..transform::Options::default()
        },
        no_unit_check: subject.no_unit_check,
        allow_external: external_code(&subject.allow_external),
        allow: dae::Allowed {
            read: subject.allow_read.clone(),
            write: subject.allow_write.clone(),
            environment: subject.allow_env,
            strict: subject.strict,
        },
    }
}

/// `build` among the libraries stands for the C code of the model's own libraries; `./build` is a file.
fn external_code(allowed: &[PathBuf]) -> compile::ExternalCode {
    if !allowed.is_empty() {
        crate::standard_output::keep_from_others();
    }
    let (build, libraries): (Vec<&PathBuf>, Vec<&PathBuf>) =
        allowed.iter().partition(|path| path.as_os_str() == "build");
    compile::ExternalCode { libraries: libraries.into_iter().cloned().collect(), build: !build.is_empty() }
}

/// Where libraries are looked for: the folders that the call names, those of MODELICAPATH, and that of installed libraries.
pub fn library_folders(named: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = named.to_vec();
    // Folders of the environment that do not exist are not the fault of the call.
    let path = std::env::var_os("MODELICAPATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path).filter(|folder| folder.is_dir()));
    let installed = packages::LibraryFolder::of_user().map(|folder| folder.path().to_owned());
    folders.extend(installed.filter(|folder| folder.is_dir()));
    folders
}
