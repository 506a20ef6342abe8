//! Texts to models, again and again.

use std::path::{Path, PathBuf};

use base::Diagnostic;
use session::{Checked, Disk, Failed, Inspected, Request, Settings};

use crate::{Error, Experiment, Model};

/// Reads classes from libraries, files and texts, and translates them. It may live for hours: each call sees the texts of its
/// time, and syntax trees of texts that have not changed are kept.
pub struct Session {
    inner: session::Session,
    libraries: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct Report {
    /// All diagnostics, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// The diagnostics as text, each with its line of the source.
    pub text: String,
    /// What each class of a package or each component came to; empty for a model.
    pub classes: Vec<Inspected>,
}

impl Report {
    /// Whether there is no error.
    pub fn is_sound(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
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
        Self { inner: session::Session::new(Box::new(Disk)), libraries: Vec::new(), files: Vec::new() }
    }

    /// A folder with libraries, such as the one that holds `Modelica 4.1.0`. It is read when a name in it is needed.
    pub fn add_library(&mut self, folder: impl Into<PathBuf>) {
        self.libraries.push(folder.into());
    }

    /// A file or the folder of a package whose classes can be used and named.
    pub fn add_file(&mut self, path: impl Into<PathBuf>) {
        self.files.push(path.into());
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
        let request = self.request(target, &[]);
        let checked = match self.inner.check(&request) {
            Ok(Checked::Classes(classes)) => classes,
            Ok(Checked::Model(..)) | Err(Failed::Model) => Vec::new(),
            Err(Failed::Call(message)) => return Err(Error::of_call(message)),
            Err(Failed::Result(error)) => return Err(Error::of_call(error.to_string())),
        };
        let diagnostics = self.inner.diagnostics.clone();
        let text = diagnostics.iter().map(|said| said.render(self.inner.sources())).collect();
        Ok(Report { diagnostics, text, classes: checked })
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
        let request = self.request(target, set);
        let made = self.inner.flatten(&request).and_then(|model| {
            let experiment = model.experiment;
            let schedule = self.inner.structure(model)?;
            Ok((self.inner.compile(schedule)?, experiment))
        });
        let (program, experiment) = made.map_err(|failed| self.failed(failed))?;
        let options = Settings::default().resolve(&experiment).map_err(Error::of_call)?;
        let diagnostics = std::mem::take(&mut self.inner.diagnostics);
        Ok(Model::new(program, Experiment::new(options), diagnostics, self.inner.sources().clone()))
    }

    fn request(&self, target: &str, set: &[(&str, &str)]) -> Request {
        Request {
            target: target.to_owned(),
            libraries: self.libraries.clone(),
            more: self.files.clone(),
            set: set.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
            ..Request::default()
        }
    }

    fn failed(&mut self, failed: Failed) -> Error {
        match failed {
            Failed::Call(message) => Error::of_call(message),
            Failed::Model => Error::of_model(std::mem::take(&mut self.inner.diagnostics), self.inner.sources()),
            Failed::Result(error) => Error::of_call(error.to_string()),
        }
    }
}
