//! Failures.

use std::fmt;

use base::{Diagnostic, SourceMap};

/// Why something could not be done.
#[derive(Clone, Debug)]
pub struct Error {
    /// What is wrong with the model; empty if the call itself is wrong.
    pub diagnostics: Vec<Diagnostic>,
    text: String,
}

impl Error {
    /// The call asks for something that there is not.
    pub(crate) fn of_call(message: impl Into<String>) -> Self {
        Self { diagnostics: Vec::new(), text: message.into() }
    }

    pub(crate) fn of_model(diagnostics: Vec<Diagnostic>, sources: &SourceMap) -> Self {
        let errors = diagnostics.iter().filter(|said| said.is_error());
        let text = errors.map(|said| said.render(sources)).collect::<Vec<_>>().join("\n");
        Self { diagnostics, text: text.trim_end().to_owned() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}
