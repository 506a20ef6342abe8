//! Algorithms on structure alone: rows are equations, columns are unknowns, both plain numbers. Nothing here knows what
//! an equation says, so all of it runs on random graphs in tests and once for each mode of a model.
//!
//! Everything is iterative and works on compressed rows.

pub mod colouring;
pub mod components;
pub mod dulmage;
pub mod elimination;
pub mod incidence;
pub mod matching;
pub mod offsets;
pub mod tearing;

#[cfg(test)]
mod tests;

pub use components::{Components, strong_components};
pub use incidence::{Incidence, IncidenceBuilder};
pub use matching::Matching;

/// No row or column.
pub const NONE: u32 = u32::MAX;
