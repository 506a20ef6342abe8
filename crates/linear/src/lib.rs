//! Linear analysis of a state space ẋ = A x + B u, y = C x + D u with named states, inputs and outputs.
//!
//! The crate knows no model: whoever linearises one hands over the matrices and the names. Matrices are dense, up to some
//! thousand states.

mod balance;
mod eigen;
mod error;
pub mod export;
pub mod frequency;
mod graded;
mod gramians;
mod householder;
mod locus;
mod margins;
mod matrix;
mod modes;
pub mod plot;
mod rates;
mod response;
mod staircase;
mod state_space;
mod transfer;
mod zeros;

pub use error::Error;
pub use export::Entry;
pub use faer::c64 as Complex;
pub use frequency::{Evaluator, FrequencyResponse, dc_gain, frequency_response, frequency_response_at, range_with};
pub use gramians::{controllability_gramian, hankel_singular_values, observability_gramian};
pub use locus::{LocusPoint, RootLocus, root_locus};
pub use margins::{GainMargin, Margins, PhaseMargin, margins};
pub use matrix::Matrix;
pub use modes::{Mode, Participation, modes, poles};
pub use rates::Rates;
pub use response::{Excitation, TimeResponse, time_response};
pub use staircase::{HiddenMode, RANK_TOLERANCE, Reach, controllability, dual, minimal, observability, pbh};
pub use state_space::{Parameter, Signal, State, StateSpace};
pub use transfer::{TransferFunction, polynomial, transfer_function};
pub use zeros::zeros;
