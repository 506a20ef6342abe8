//! Texts to models, again and again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Diagnostic, SourceMap, Span};
use session::{Checked, Disk, Failed, Inspected, Request, Settings};

use crate::place::{self, Place};
use crate::{Error, Experiment, Model};

/// Reads classes from libraries, files and texts, and translates them. It may live for hours: each call sees the texts of its
/// time, and syntax trees of texts that have not changed are kept.
pub struct Session {
    pub(crate) inner: session::Session,
    libraries: Vec<PathBuf>,
    files: Vec<PathBuf>,
    allowed: dae::Allowed,
    external: compile::ExternalCode,
}

/// A session moves between threads.
const _: () = {
    const fn can_move_to_another_thread<T: Send>() {}
    can_move_to_another_thread::<Session>();
};

/// What a check found.
#[derive(Clone, Debug)]
pub struct Report {
    /// All diagnostics, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// The diagnostics as text, each with its line of the source.
    pub text: String,
    /// What each class of a package or each component came to; empty for a model.
    pub classes: Vec<Inspected>,
    sources: SourceMap,
}

impl Report {
    /// Whether there is no error.
    pub fn is_sound(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Where the place of a diagnostic is.
    pub fn place(&self, span: Span) -> Option<Place> {
        place::place(&self.sources, span)
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// A session that reads files of this computer.
    pub fn new() -> Self {
        Self {
            inner: session::Session::new(Box::new(Disk)),
            libraries: Vec::new(),
            files: Vec::new(),
            allowed: dae::Allowed::default(),
            external: compile::ExternalCode::default(),
        }
    }

    /// A folder with libraries, such as the one that holds `Modelica 4.1.0`. It is read when a name in it is needed.
    pub fn add_library(&mut self, folder: impl Into<PathBuf>) {
        self.libraries.push(folder.into());
    }

    /// A file or the folder of a package whose classes can be used and named.
    pub fn add_file(&mut self, path: impl Into<PathBuf>) {
        self.files.push(path.into());
    }

    /// Takes back [`add_library`](Self::add_library), however the path is spelled.
    pub fn remove_library(&mut self, folder: impl AsRef<Path>) {
        self.libraries.retain(|known| !is_same(known, folder.as_ref()));
    }

    /// Takes back [`add_file`](Self::add_file), however the path is spelled. A text of the file stays.
    pub fn remove_file(&mut self, path: impl AsRef<Path>) {
        self.files.retain(|known| !is_same(known, path.as_ref()));
    }

    /// Lets functions of models read files below a folder, besides those of their libraries.
    pub fn allow_read(&mut self, folder: impl Into<PathBuf>) {
        self.allowed.read.push(folder.into());
    }

    /// Lets functions of models write files below a folder.
    pub fn allow_write(&mut self, folder: impl Into<PathBuf>) {
        self.allowed.write.push(folder.into());
    }

    /// Lets models call functions of a shared library.
    pub fn allow_external(&mut self, library: impl Into<PathBuf>) {
        self.external.libraries.push(library.into());
    }

    /// Lets models call the C code of their libraries, which is compiled by the C compiler of the system.
    pub fn allow_build(&mut self) {
        self.external.build = true;
    }

    /// From now on this text counts as that of a file, which need not exist.
    pub fn replace_text(&mut self, path: impl AsRef<Path>, text: &str) {
        self.inner.replace_text(path, Some(text.into()));
    }

    /// The text on disk counts again.
    pub fn forget_text(&mut self, path: impl AsRef<Path>) {
        self.inner.replace_text(path, None);
    }

    /// Looks for mistakes in a file, a folder or a class given by its name, whatever kind of class it is.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text("gain.mo", "block Gain parameter Real k; output Real y = k*u; end Gain;");
    /// let report = session.check("gain.mo")?;
    /// assert!(report.text.contains("gain.mo:1:48") && report.text.contains("`u`"));
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn check(&mut self, target: &str) -> Result<Report, Error> {
        let request = self.request(target, &[], &[]);
        let checked = match self.inner.check(&request) {
            Ok(Checked::Classes(classes)) => classes,
            Ok(Checked::Model(..)) | Err(Failed::Model) => Vec::new(),
            Err(Failed::Call(message)) => return Err(Error::of_call(message)),
            Err(Failed::Result(error)) => return Err(Error::of_call(error.to_string())),
        };
        let diagnostics = self.inner.diagnostics.clone();
        let text = diagnostics.iter().map(|said| said.render(self.inner.sources())).collect();
        Ok(Report { diagnostics, text, classes: checked, sources: self.inner.sources().clone() })
    }

    /// Translates a model: a file, or a class given by its name.
    pub fn model(&mut self, target: &str) -> Result<Model, Error> {
        self.model_with(target, &[])
    }

    /// The same with other values of parameters, each given as an expression.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text("m.mo", "model M parameter Integer n = 2; Real x[n] = fill(time, n); end M;");
    /// let model = session.model_with("m.mo", &[("n", "2 + 1")])?;
    /// assert!(model.variable("x[3]").is_some());
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn model_with(&mut self, target: &str, set: &[(&str, &str)]) -> Result<Model, Error> {
        self.model_with_inputs(target, set, &[])
    }

    /// The same, where inputs at the top of the model that have a value of their own, `input Real u = 3*time`, are given from
    /// outside nevertheless. Until it is set such an input has its start value.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text("m.mo", "model M input Real u = 3*time; Real y = 2*u; end M;");
    /// let model = session.model_with_inputs("m.mo", &[], &["u"])?;
    /// let run = model.simulate(&model.experiment().input("u", &[0.0], &[5.0]))?;
    /// assert_eq!(run.last("y"), Some(10.0));
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn model_with_inputs(&mut self, target: &str, set: &[(&str, &str)], inputs: &[&str]) -> Result<Model, Error> {
        let request = self.request(target, set, inputs);
        let made = self.inner.flatten(&request).and_then(|model| {
            let flat = model.clone();
            let schedule = self.inner.structure(model)?;
            Ok((self.inner.compile(schedule)?, flat))
        });
        let (program, flat) = made.map_err(|failed| self.failed(failed))?;
        let experiment = flat.experiment;
        let options = Settings::default().resolve(&experiment).map_err(Error::of_call)?;
        let diagnostics = std::mem::take(&mut self.inner.diagnostics);
        let sources = self.inner.sources().clone();
        Ok(Model::new(program, Arc::new(flat), Experiment::new(options), diagnostics, sources))
    }

    pub(crate) fn request(&self, target: &str, set: &[(&str, &str)], inputs: &[&str]) -> Request {
        Request {
            target: target.to_owned(),
            libraries: self.libraries.clone(),
            more: self.files.clone(),
            set: set.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
            inputs: inputs.iter().map(|&name| name.to_owned()).collect(),
            allow: self.allowed.clone(),
            allow_external: self.external.clone(),
            ..Request::default()
        }
    }

    pub(crate) fn failed(&mut self, failed: Failed) -> Error {
        match failed {
            Failed::Call(message) => Error::of_call(message),
            Failed::Model => Error::of_model(std::mem::take(&mut self.inner.diagnostics), self.inner.sources()),
            Failed::Result(error) => Error::of_call(error.to_string()),
        }
    }
}

/// Whether two paths name one file.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other
        || matches!((dae::access::resolve(one), dae::access::resolve(other)), (Ok(one), Ok(other)) if one == other)
}
