//! A unit: its dimension and its size.

use crate::dimension::Dimension;

/// A quantity of value `x` in this unit is `factor * x + offset` in SI units.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unit {
    /// What it measures.
    pub dimension: Dimension,
    /// How many of the SI unit it is.
    pub factor: f64,
    /// Of temperatures; lost in products.
    pub offset: f64,
}

impl Unit {
    /// Of numbers.
    pub const ONE: Unit = Unit { dimension: Dimension::ONE, factor: 1.0, offset: 0.0 };

    /// The product; without an offset.
    pub fn times(self, other: Unit) -> Self {
        Self { dimension: self.dimension.times(other.dimension), factor: self.factor * other.factor, offset: 0.0 }
    }

    /// The quotient; without an offset.
    pub fn over(self, other: Unit) -> Self {
        Self { dimension: self.dimension.over(other.dimension), factor: self.factor / other.factor, offset: 0.0 }
    }

    /// The power; without an offset.
    pub fn power(self, exponent: i32) -> Self {
        if exponent == 1 {
            return self;
        }
        Self { dimension: self.dimension.power(exponent as f64), factor: self.factor.powi(exponent), offset: 0.0 }
    }
}
