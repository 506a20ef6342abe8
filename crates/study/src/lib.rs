//! Studies: which values the parameters of many runs have, and what their results say together.
//!
//! A [`Factor`] is what one parameter may be. A design gives each factor a value in every variant: [`grid`] takes all combinations
//! of levels, [`one_at_a_time`] moves one factor after the other, and samples are points of the unit cube ([`random`],
//! [`latin_hypercube`], [`sobol`], [`saltelli`]) that [`Factor::quantile`] turns into values. [`sensitivities`] are Sobol' indices of
//! a Saltelli sample, [`Summary`] follows a trajectory, [`quantile`] describes many numbers. Nothing here knows a model.

mod factor;
mod generator;
mod grid;
mod sampling;
mod sensitivity;
mod sobol;
mod summary;

pub use factor::Factor;
pub use generator::Generator;
pub use grid::{grid, grid_size, one_at_a_time};
pub use sampling::{latin_hypercube, random};
pub use sensitivity::{Sensitivity, saltelli, saltelli_size, sensitivities};
pub use sobol::{DIMENSIONS, sobol};
pub use summary::{Summary, quantile};
