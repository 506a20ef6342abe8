//! Why a function has no value.

use std::fmt;

use base::{Name, Span};

use crate::function::RELATIONS;

/// What kind of failure it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// The model is wrong, or its numbers are.
    Failure,
    /// An `assert` of the model.
    Assertion,
    /// Too many steps or nested calls.
    Limit,
    /// A function calls itself where the domain executes bodies at once.
    Recursion,
}

/// Why a function has no value.
#[derive(Clone, PartialEq, Debug)]
pub struct EvalError {
    /// The kind.
    pub kind: FailureKind,
    /// What happened.
    pub message: String,
    /// The statement.
    pub span: Option<Span>,
    /// The functions that were being evaluated, the innermost first; long chains are cut.
    pub calls: Vec<Name>,
}

const CALLS_SHOWN: usize = 10;

impl EvalError {
    pub(super) fn new(kind: FailureKind, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind, message: message.into(), span: None, calls: Vec::new() })
    }

    /// The same error, seen from the function in which it happened.
    pub(super) fn inside(mut self: Box<Self>, function: Name) -> Box<Self> {
        if self.calls.len() < CALLS_SHOWN {
            self.calls.push(function);
        }
        self
    }

    /// The failure as it is reported.
    pub fn diagnostic(&self) -> base::Diagnostic {
        let code = match self.kind {
            FailureKind::Failure => "evaluation",
            FailureKind::Assertion => "assertion",
            FailureKind::Limit | FailureKind::Recursion => "evaluation-limit",
        };
        let mut diagnostic = base::Diagnostic::error(code, self.message.clone());
        if let Some(span) = self.span {
            diagnostic = diagnostic.at(span, "");
        }
        for name in &self.calls {
            diagnostic = diagnostic.note(format!("in function `{name}`"));
        }
        diagnostic
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for (k, name) in self.calls.iter().enumerate() {
            // Nobody wrote the function that follows the relations of another one.
            let name = name.as_str().strip_suffix(RELATIONS).unwrap_or(name.as_str());
            write!(f, "{} {name}", if k == 0 { " (in" } else { " <-" })?;
        }
        if self.calls.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

impl std::error::Error for EvalError {}

impl From<String> for Box<EvalError> {
    fn from(message: String) -> Self {
        EvalError::new(FailureKind::Failure, message)
    }
}

impl From<&str> for Box<EvalError> {
    fn from(message: &str) -> Self {
        EvalError::new(FailureKind::Failure, message)
    }
}

/// The outcome of an evaluation.
pub type Result<T = crate::value::Value, E = Box<EvalError>> = std::result::Result<T, E>;

/// An error from a called function keeps the innermost place.
pub(super) fn placed(mut error: Box<EvalError>, span: Span) -> Box<EvalError> {
    error.span.get_or_insert(span);
    error
}
