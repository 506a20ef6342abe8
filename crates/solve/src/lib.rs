//! Numerical methods over small interfaces: integrators, root location, Newton's method, dense and sparse linear
//! algebra. Nothing here knows what a model is; positions in vectors are what is reported.
// Negated comparisons are how a value that is not a number is caught together with one that is too small, coefficients
// are written with the digits their papers give, and loops over several matrices at once read best with indices.
#![allow(clippy::neg_cmp_op_on_partial_ord, clippy::excessive_precision, clippy::needless_range_loop)]

mod auto;
pub mod bdf;
mod block_triangular;
mod bracket;
mod chain_lu;
mod colouring;
mod dae_bdf;
mod dae_mode;
pub mod dense;
mod dissipation;
pub mod dop853;
pub mod equilibrate;
mod error;
pub mod esdirk;
mod finite_differences;
mod fixed_step;
mod given_steps;
mod iteration_matrix;
mod levenberg_marquardt;
mod linear;
pub mod linear_ode;
mod method;
mod minimum_degree;
mod multistep;
pub mod newton;
mod ode;
mod order_control;
mod resume;
pub mod roots;
pub mod rosenbrock;
pub mod runge_kutta;
mod sparse;
pub mod sparse_lu;
mod step_control;
pub mod tsit5;
mod vector;
mod weights;

pub use auto::Auto;
pub use bdf::Bdf;
pub use dae_bdf::{DaeBdf, DaeProblem};
pub use error::{EvalError, Singular, StepError};
pub use esdirk::Esdirk;
pub use linear::LinearSolver;
pub use method::Method;
pub use newton::{NewtonError, NewtonSolver, NonlinearSystem};
pub use ode::{DenseOutput, Integrator, LARGEST_DEGREE, OdeProblem, Options, Statistics, Step};
pub use roots::{CrossingFunctions, RootFinder};
pub use sparse::{Pattern, SparseMatrix};
pub use tsit5::Tsit5;
