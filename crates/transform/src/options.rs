//! What the user may choose about the transformations.

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IndexReduction {
    /// Dummy derivatives (Mattsson and Söderlind 1993).
    #[default]
    DummyDerivatives,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    pub index_reduction: IndexReduction,
}
