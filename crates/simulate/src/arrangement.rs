//! The matrix of the model as an implicit problem.

use compile::Implicit;
use solve::Pattern;

use crate::systems;

/// The pattern of the iteration matrix, and where the entries of the Jacobian of the program lie in it.
#[derive(Clone)]
pub struct Arrangement {
    pub pattern: Pattern,
    pub places: Vec<u32>,
    /// The entries of the states' own derivatives.
    pub diagonal: Vec<usize>,
    pub entries: Vec<f64>,
}

impl Arrangement {
    pub fn new(implicit: &Implicit, states: usize) -> Self {
        let found = systems::pattern(&implicit.pattern);
        let size = implicit.pattern.columns();
        let pattern = found.union(&Pattern::from_entries(size, size, (0..states).map(|state| (state, state))));
        Arrangement {
            places: found.positions_in(&pattern),
            diagonal: (0..states).filter_map(|state| pattern.position(state, state)).collect(),
            entries: vec![0.0; found.entries()],
            pattern,
        }
    }
}
