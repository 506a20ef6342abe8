//! How a command ends: the exit status that scripts rely on, and what is said last.

use std::process::ExitCode;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// The text, types, structure or initialisation of the model is wrong.
    Model = 1,
    /// The call is wrong.
    Call = 2,
    /// The simulation stopped early; what was computed is in the result file.
    Stopped = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[derive(Clone, Debug)]
pub struct Failure {
    pub exit: Exit,
    /// Empty when everything has been said.
    pub message: String,
}

impl Failure {
    pub fn call(message: impl Into<String>) -> Self {
        Self { exit: Exit::Call, message: message.into() }
    }
}
