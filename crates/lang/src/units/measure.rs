//! What is known about the unit of an expression: nothing, that it is a mere number, or a product of base units and of
//! units that are still to be found.

use smallvec::SmallVec;
use units::{Dimension, Unit};

use super::solver::{UnknownId, differs};

#[derive(Clone, Debug)]
pub enum Measure {
    /// A simple number such as 2 or 0.5, or an Integer: takes any unit in sums and relations, none in products.
    Number,
    /// Another literal, such as 9.81 or 1e5: it may well be a quantity, whose unit nobody wrote.
    Quantity,
    /// `time` as it stands: seconds, but also what test signals are made of, as in `sin(time)`.
    Time,
    /// Nothing can be said.
    Opaque,
    Term(Term),
}

/// A product of known and unknown units.
#[derive(Clone, Debug)]
pub struct Term {
    pub dimension: Dimension,
    /// The size of the unit, and where its zero is; `None` behind numbers that may be conversions.
    pub factor: Option<f64>,
    pub offset: Option<f64>,
    /// Somebody declared a unit that is in it; otherwise it follows from the operators alone, as in a model that does
    /// without units.
    pub declared: bool,
    /// Unknown units with their exponents.
    pub unknowns: SmallVec<[(UnknownId, f64); 2]>,
}

impl Term {
    pub fn known(unit: Unit) -> Self {
        Self {
            dimension: unit.dimension,
            factor: Some(unit.factor),
            offset: Some(unit.offset),
            declared: false,
            unknowns: SmallVec::new(),
        }
    }

    pub fn declared(unit: Unit) -> Self {
        Self { declared: true, ..Self::known(unit) }
    }

    /// Of a dimension, in whatever size.
    pub fn of(dimension: Dimension) -> Self {
        Self { dimension, factor: None, offset: None, declared: false, unknowns: SmallVec::new() }
    }

    pub fn second() -> Self {
        Self::known(Unit { dimension: Dimension::SECOND, ..Unit::ONE })
    }

    pub fn unknown(unknown: UnknownId) -> Self {
        Self { unknowns: SmallVec::from_slice(&[(unknown, 1.0)]), ..Self::known(Unit::ONE) }
    }

    pub fn times(&self, other: &Term) -> Self {
        let mut unknowns = self.unknowns.clone();
        for &(unknown, exponent) in &other.unknowns {
            match unknowns.iter_mut().find(|(known, _)| *known == unknown) {
                Some((_, mine)) => *mine += exponent,
                None => unknowns.push((unknown, exponent)),
            }
        }
        unknowns.retain(|(_, exponent)| exponent.abs() > 1e-9);
        Self {
            dimension: self.dimension.times(other.dimension),
            factor: self.factor.zip(other.factor).map(|(mine, other)| mine * other),
            offset: None,
            declared: self.declared || other.declared,
            unknowns,
        }
    }

    pub fn power(&self, exponent: f64) -> Self {
        Self {
            dimension: self.dimension.power(exponent),
            factor: self.factor.map(|factor| factor.powf(exponent)),
            offset: None,
            declared: self.declared,
            unknowns: self.unknowns.iter().map(|&(unknown, own)| (unknown, own * exponent)).collect(),
        }
    }

    pub fn over(&self, other: &Term) -> Self {
        self.times(&other.power(-1.0))
    }

    /// Whether two known units are equal as far as can be said.
    pub fn fits(&self, other: &Term) -> bool {
        let quotient = self.over(other);
        let size = quotient.factor.is_none_or(|factor| !differs(factor, 1.0));
        let zero = self.offset.zip(other.offset).is_none_or(|(mine, other)| !differs(mine, other));
        quotient.dimension.is_one() && size && zero
    }

    /// Multiplied with a number that may convert it into another unit of its dimension.
    pub fn scaled(self) -> Self {
        Self { factor: None, offset: None, ..self }
    }

    /// A sum with a number, or a difference: its zero may be elsewhere.
    pub fn shifted(self) -> Self {
        Self { offset: None, ..self }
    }
}

impl Measure {
    pub fn literal(value: f64) -> Measure {
        let simple = value.abs() <= 8.0 && (value * 8.0).fract() == 0.0;
        if simple { Measure::Number } else { Measure::Quantity }
    }

    pub fn times(&self, other: &Measure) -> Measure {
        match (self, other) {
            (Measure::Term(left), Measure::Term(right)) => Measure::Term(left.times(right)),
            (Measure::Time, Measure::Term(term)) | (Measure::Term(term), Measure::Time) => {
                Measure::Term(term.times(&Term::second()))
            }
            (Measure::Number, Measure::Term(term)) | (Measure::Term(term), Measure::Number) => {
                Measure::Term(term.clone().scaled())
            }
            (Measure::Number, Measure::Number) => Measure::Number,
            (Measure::Number | Measure::Quantity, Measure::Number | Measure::Quantity) => Measure::Quantity,
            _ => Measure::Opaque,
        }
    }

    pub fn over(&self, other: &Measure) -> Measure {
        self.times(&other.power(-1.0))
    }

    pub fn power(&self, exponent: f64) -> Measure {
        match self {
            Measure::Term(term) => Measure::Term(term.power(exponent)),
            Measure::Time => Measure::Term(Term::second().power(exponent)),
            other => other.clone(),
        }
    }

    /// Seconds where `time` stands beside something with a unit.
    pub fn in_seconds(self) -> Measure {
        match self {
            Measure::Time => Measure::Term(Term::second()),
            other => other,
        }
    }

    pub fn shifted(self) -> Measure {
        match self {
            Measure::Term(term) => Measure::Term(term.shifted()),
            other => other,
        }
    }

    /// Of two that must be equal, the one that tells more.
    pub fn better(self, other: Measure) -> Measure {
        match (&self, &other) {
            (Measure::Term(mine), Measure::Term(theirs)) => {
                if theirs.unknowns.len() < mine.unknowns.len() {
                    other
                } else {
                    self
                }
            }
            (Measure::Term(_), _) => self,
            (_, Measure::Term(_)) => other,
            (Measure::Number, Measure::Number) => self,
            (Measure::Number | Measure::Quantity, Measure::Number | Measure::Quantity) => Measure::Quantity,
            _ => Measure::Opaque,
        }
    }
}
