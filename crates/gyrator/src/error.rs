//! Failures.

use std::fmt;

use base::{Diagnostic, SourceMap, Span};

use crate::Run;
use crate::place::{self, Place};

/// Why something could not be done.
#[derive(Clone, Debug)]
pub struct Error {
    /// What is wrong with the model; empty if the call itself is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// Of a run that failed on its way: what it came to before that.
    pub partial: Option<Box<Run>>,
    text: String,
    sources: SourceMap,
}

impl Error {
    /// The call asks for something that there is not.
    pub(crate) fn of_call(message: impl Into<String>) -> Self {
        let sources = SourceMap::default();
        Self { diagnostics: Vec::new(), partial: None, text: message.into(), sources }
    }

    pub(crate) fn of_model(diagnostics: Vec<Diagnostic>, sources: &SourceMap) -> Self {
        let errors = diagnostics.iter().filter(|said| said.is_error());
        let text = errors.map(|said| said.render(sources)).collect::<String>();
        Self { diagnostics, partial: None, text: text.trim_end().to_owned(), sources: sources.clone() }
    }

    /// Adds what a run came to before it failed.
    pub(crate) fn with(self, run: Run) -> Self {
        Self { partial: Some(Box::new(run)), ..self }
    }

    /// Where the place of a diagnostic is.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text("m.mo", "model M\n  Real x = y;\nend M;");
    /// let error = session.model("m.mo").err().unwrap();
    /// let place = error.place(error.diagnostics[0].labels[0].span).unwrap();
    /// assert_eq!((place.path.to_str(), place.line, place.column), (Some("m.mo"), 2, 12));
    /// ```
    pub fn place(&self, span: Span) -> Option<Place> {
        place::place(&self.sources, span)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}
