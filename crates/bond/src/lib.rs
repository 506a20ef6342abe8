//! Bond graphs: the notation `.bond`, causality, simplification, state space, drawing, and Modelica.
//!
//! ```text
//! text ── parse ──▶ Tree ── Graph::new ──▶ Graph ── Causality::assign ──▶ Causality
//!                                           │ ├── Simplification::new ──▶ Graph after each step
//!                                           │ ├── StateSpace::symbolic, ::numeric ──▶ A, B, C, D
//!                                           │ ├── to_modelica ──▶ a model for the front end, with the origin of each line
//!                                           │ └── svg ──▶ a drawing
//! ```

mod calculus;
mod causality;
mod coefficients;
mod domains;
mod equations;
mod expr;
mod flatten;
mod graph;
mod kind;
mod layout;
mod loops;
mod modelica;
mod near;
mod nonlinear;
mod patterns;
mod report;
mod scale;
mod settings;
mod simplify;
mod state_space;
mod svg;
mod syntax;

pub use algebra::Rational;
pub use calculus::{difference, product, quotient, sum};
pub use causality::{AlgebraicLoop, Causality, Mode};
pub use coefficients::Numbers;
pub use expr::Expr;
pub use graph::*;
pub use kind::Kind;
pub use modelica::{Modelica, to_modelica};
pub use nonlinear::{Equations, Linearisation};
pub use simplify::{Simplification, Step};
pub use state_space::{Dependent, Matrix, StateSpace};
pub use svg::svg;
pub use syntax::parser::parse;
pub use syntax::tree::Tree;
