//! What the user may choose about the transformations.

/// What becomes of constraints between states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IndexReduction {
    /// Dummy derivatives (Mattsson and Söderlind 1993): constraints hold exactly, states are chosen.
    #[default]
    DummyDerivatives,
    /// Everything that is differentiated is integrated, and moved back to the constraints after each step.
    Projection,
}

/// What becomes of variables that are equal to others, or constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Aliases {
    /// Aliases are replaced by what they stand for.
    #[default]
    Eliminate,
    /// The equations stay as they were written, as textbooks sort them.
    Keep,
}

/// How a structure that changes during the run is dealt with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Switching {
    /// Each mode has a structure of its own.
    #[default]
    Modes,
    /// Derivatives are replaced by difference formulas, so that one structure serves all modes.
    Difference,
}

/// What the transformations are to do.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Options {
    /// What becomes of constraints between states.
    pub index_reduction: IndexReduction,
    /// What becomes of aliases.
    pub aliases: Aliases,
    /// Refuse what would otherwise be decided for the user with a warning: how redundant ideal switches share a current.
    pub strict: bool,
    /// What becomes of derivatives at events.
    pub switching: Switching,
    /// The longest step of a method whose formula is sorted together with the equations.
    pub inline_step: Option<f64>,
}
