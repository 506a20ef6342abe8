//! Why a point could not be evaluated, in the terms of the model.

use compile::Failure;
use dae::Model;

use crate::system_failure::SystemFailure;

/// Why a point could not be evaluated.
#[derive(Clone, Debug)]
pub enum Trouble {
    Evaluation(Failure),
    System(Box<SystemFailure>),
    /// An assertion of the model, a function of the model, or a message of its own.
    Model(Box<base::Diagnostic>),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Evaluation(failure)
    }
}

impl Trouble {
    /// Whether simultaneous equations do not determine their unknowns, or contradict each other.
    pub fn is_singular(&self) -> bool {
        matches!(self, Trouble::System(failure) if failure.is_singular())
    }

    pub fn diagnostic(&self, model: &Model) -> base::Diagnostic {
        match self {
            Trouble::Evaluation(failure) => failure.diagnostic(model),
            Trouble::System(failure) => failure.diagnostic(model),
            Trouble::Model(diagnostic) => (**diagnostic).clone(),
        }
    }
}
