//! Bond graphs: the notation `.bond`, causality, simplification, state space, drawing, and Modelica.
//!
//! ```text
//! text ── parse ──▶ Tree ── Graph::new ──▶ Graph ── Causality::assign ──▶ Causality
//!                                           │ ├── Simplification::new ──▶ Graph after each step
//!                                           │ ├── StateSpace::symbolic, ::numeric ──▶ A, B, C, D
//!                                           │ ├── to_modelica ──▶ a model for the front end, with the origin of each line
//!                                           │ └── svg ──▶ a drawing
//! ```

pub mod algebra;
mod causality;
mod coefficients;
mod domains;
mod equations;
pub mod expr;
mod flatten;
mod graph;
mod kind;
mod loops;
mod near;
mod state_space;
pub mod syntax;

pub use algebra::rational::Rational;
pub use causality::{AlgebraicLoop, Causality, Mode};
pub use coefficients::{Numbers, Symbols};
pub use graph::*;
pub use kind::Kind;
pub use state_space::{Dependent, Matrix, StateSpace};
pub use syntax::parser::parse;
pub use syntax::tree::Tree;
