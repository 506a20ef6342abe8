//! The exponents of the base units. Angles have no dimension, as in the SI: `rad` is `1`.

use std::fmt;

const BASES: [&str; 7] = ["kg", "m", "s", "A", "K", "mol", "cd"];

/// Exponents this close are equal: powers such as `x^0.4` are not exact.
const CLOSE: f64 = 1e-6;

/// The dimension of a quantity. Exponents may be broken (`sqrt(x)`).
#[derive(Clone, Copy, Debug)]
pub struct Dimension {
    /// Of kg, m, s, A, K, mol, cd.
    exponents: [f64; 7],
}

/// Named units with a dimension of their own, best known first.
const NAMED: &[(&str, [i8; 7])] = &[
    ("N", [1, 1, -2, 0, 0, 0, 0]),
    ("Pa", [1, -1, -2, 0, 0, 0, 0]),
    ("J", [1, 2, -2, 0, 0, 0, 0]),
    ("W", [1, 2, -3, 0, 0, 0, 0]),
    ("C", [0, 0, 1, 1, 0, 0, 0]),
    ("V", [1, 2, -3, -1, 0, 0, 0]),
    ("F", [-1, -2, 4, 2, 0, 0, 0]),
    ("Ohm", [1, 2, -3, -2, 0, 0, 0]),
    ("S", [-1, -2, 3, 2, 0, 0, 0]),
    ("Wb", [1, 2, -2, -1, 0, 0, 0]),
    ("T", [1, 0, -2, -1, 0, 0, 0]),
    ("H", [1, 2, -2, -2, 0, 0, 0]),
];

impl Dimension {
    /// Of numbers.
    pub const ONE: Dimension = Dimension { exponents: [0.0; 7] };
    /// Of time.
    pub const SECOND: Dimension = Dimension::of([0, 0, 1, 0, 0, 0, 0]);

    pub(crate) const fn of(exponents: [i8; 7]) -> Self {
        let mut result = [0.0; 7];
        let mut position = 0;
        while position < 7 {
            result[position] = exponents[position] as f64;
            position += 1;
        }
        Self { exponents: result }
    }

    /// The product.
    pub fn times(mut self, other: Dimension) -> Self {
        for (mine, other) in self.exponents.iter_mut().zip(other.exponents) {
            *mine += other;
        }
        self
    }

    /// The quotient.
    pub fn over(self, other: Dimension) -> Self {
        self.times(other.power(-1.0))
    }

    /// The power.
    pub fn power(mut self, exponent: f64) -> Self {
        self.exponents.iter_mut().for_each(|mine| *mine *= exponent);
        self
    }

    /// Whether it is that of a number.
    pub fn is_one(&self) -> bool {
        self.exponents.iter().all(|exponent| exponent.abs() < CLOSE)
    }
}

impl PartialEq for Dimension {
    fn eq(&self, other: &Self) -> bool {
        self.over(*other).is_one()
    }
}

/// A named unit where there is one, else base units: `V`, `kg.m2.s-3`, `1`. Units of that text have this dimension.
impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = NAMED.iter().find(|(_, exponents)| Dimension::of(*exponents) == *self) {
            return f.write_str(name);
        }
        let mut separator = "";
        for (base, exponent) in BASES.iter().zip(self.exponents) {
            if exponent.abs() < CLOSE {
                continue;
            }
            write!(f, "{separator}{base}")?;
            separator = ".";
            let whole = exponent.round();
            if (exponent - whole).abs() > CLOSE {
                write!(f, "^({})", (exponent * 1e4).round() / 1e4)?;
            } else if whole != 1.0 {
                write!(f, "{whole}")?;
            }
        }
        if separator.is_empty() { f.write_str("1") } else { Ok(()) }
    }
}
