//! Polynomials in many variables with integer coefficients, sparse: a sorted list of terms.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::budget::spend;

/// Variables are numbers; lower ones are written first.
pub type Variable = u32;

/// A product of powers: variables in increasing order, exponents above zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Monomial(pub SmallVec<[(Variable, u32); 4]>);

impl Monomial {
    /// The power of a variable, the highest one in a polynomial.
    pub fn degree(&self, variable: Variable) -> u32 {
        self.0.iter().find(|(other, _)| *other == variable).map_or(0, |(_, exponent)| *exponent)
    }

    /// The product.
    pub fn times(&self, other: &Monomial) -> Monomial {
        self.merge(other, |left, right| Some(left + right)).unwrap_or_default()
    }

    /// None where it does not divide.
    pub fn over(&self, other: &Monomial) -> Option<Monomial> {
        self.merge(other, |left, right| left.checked_sub(right))
    }

    /// The greatest common divisor.
    pub fn common(&self, other: &Monomial) -> Monomial {
        self.merge(other, |left, right| Some(left.min(right))).unwrap_or_default()
    }

    fn merge(&self, other: &Monomial, exponent: impl Fn(u32, u32) -> Option<u32>) -> Option<Monomial> {
        let mut result = SmallVec::new();
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let variable = match (left.peek(), right.peek()) {
                (None, None) => return Some(Monomial(result)),
                (Some((one, _)), None) => *one,
                (None, Some((other, _))) => *other,
                (Some((one, _)), Some((other, _))) => *one.min(other),
            };
            let one = left.next_if(|(it, _)| *it == variable).map_or(0, |(_, exponent)| *exponent);
            let other = right.next_if(|(it, _)| *it == variable).map_or(0, |(_, exponent)| *exponent);
            let merged = exponent(one, other)?;
            if merged > 0 {
                result.push((variable, merged));
            }
        }
    }

    fn without(&self, variable: Variable) -> Monomial {
        Monomial(self.0.iter().copied().filter(|(other, _)| *other != variable).collect())
    }
}

/// Lexicographic: higher powers of lower variables come first.
impl Ord for Monomial {
    fn cmp(&self, other: &Self) -> Ordering {
        for (one, two) in self.0.iter().zip(&other.0) {
            if one.0 != two.0 {
                return two.0.cmp(&one.0);
            }
            if one.1 != two.1 {
                return one.1.cmp(&two.1);
            }
        }
        self.0.len().cmp(&other.0.len())
    }
}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Terms in decreasing order, no coefficient zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Polynomial {
    /// Monomials with their coefficients, no coefficient zero, in descending order.
    pub terms: Vec<(Monomial, BigInt)>,
}

impl Polynomial {
    /// A number.
    pub fn constant(value: BigInt) -> Self {
        if value.is_zero() { Self::default() } else { Self { terms: vec![(Monomial::default(), value)] } }
    }

    /// The number one.
    pub fn one() -> Self {
        Self::constant(BigInt::one())
    }

    /// A variable alone.
    pub fn variable(variable: Variable) -> Self {
        Self::term(Monomial(SmallVec::from_slice(&[(variable, 1)])), BigInt::one())
    }

    /// One term.
    pub fn term(monomial: Monomial, coefficient: BigInt) -> Self {
        if coefficient.is_zero() { Self::default() } else { Self { terms: vec![(monomial, coefficient)] } }
    }

    fn collect(terms: FxHashMap<Monomial, BigInt>) -> Self {
        let mut terms: Vec<_> = terms.into_iter().filter(|(_, coefficient)| !coefficient.is_zero()).collect();
        terms.sort_unstable_by(|one, other| other.0.cmp(&one.0));
        Self { terms }
    }

    /// Whether it has no terms.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether it is the number one.
    pub fn is_one(&self) -> bool {
        self.as_constant().is_some_and(One::is_one)
    }

    /// The value of a polynomial without variables; zero is none here.
    pub fn as_constant(&self) -> Option<&BigInt> {
        match self.terms.as_slice() {
            [(monomial, coefficient)] if monomial.0.is_empty() => Some(coefficient),
            _ => None,
        }
    }

    /// Whether the leading coefficient is negative.
    pub fn is_negative(&self) -> bool {
        self.terms.first().is_some_and(|(_, coefficient)| coefficient.is_negative())
    }

    /// The power of a variable, the highest one in a polynomial.
    pub fn degree(&self, variable: Variable) -> u32 {
        self.terms.iter().map(|(monomial, _)| monomial.degree(variable)).max().unwrap_or(0)
    }

    /// The variables that occur, in ascending order.
    pub fn variables(&self) -> Vec<Variable> {
        let mut all: Vec<Variable> =
            self.terms.iter().flat_map(|(monomial, _)| monomial.0.iter().map(|(variable, _)| *variable)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The greatest integer that divides all coefficients.
    pub fn content(&self) -> BigInt {
        let mut content = BigInt::zero();
        for (_, coefficient) in &self.terms {
            content = content.gcd(coefficient);
            if content.is_one() {
                break;
            }
        }
        content
    }

    /// The greatest monomial that divides all terms.
    pub fn common_monomial(&self) -> Monomial {
        let mut terms = self.terms.iter().map(|(monomial, _)| monomial);
        let Some(first) = terms.next() else { return Monomial::default() };
        terms.fold(first.clone(), |common, monomial| common.common(monomial))
    }

    /// The product with a number.
    pub fn scaled(&self, factor: &BigInt) -> Self {
        if factor.is_zero() {
            return Self::default();
        }
        Self { terms: self.terms.iter().map(|(monomial, value)| (monomial.clone(), value * factor)).collect() }
    }

    /// All coefficients have to be multiples.
    pub fn over_integer(&self, divisor: &BigInt) -> Self {
        if divisor.is_one() {
            return self.clone();
        }
        Self { terms: self.terms.iter().map(|(monomial, value)| (monomial.clone(), value / divisor)).collect() }
    }

    /// The product with a monomial.
    pub fn times_monomial(&self, factor: &Monomial) -> Self {
        if factor.0.is_empty() {
            return self.clone();
        }
        Self { terms: self.terms.iter().map(|(monomial, value)| (monomial.times(factor), value.clone())).collect() }
    }

    /// The monomial has to divide all terms.
    pub fn over_monomial(&self, divisor: &Monomial) -> Self {
        if divisor.0.is_empty() {
            return self.clone();
        }
        let over = |monomial: &Monomial| monomial.over(divisor).unwrap_or_default();
        Self { terms: self.terms.iter().map(|(monomial, value)| (over(monomial), value.clone())).collect() }
    }

    /// The quotient where the divisor divides without rest.
    pub fn over(&self, divisor: &Polynomial) -> Option<Polynomial> {
        let (first, leading) = divisor.terms.first()?;
        if let [(monomial, coefficient)] = divisor.terms.as_slice() {
            let mut terms = Vec::with_capacity(self.terms.len());
            for (other, value) in &self.terms {
                let (quotient, rest) = value.div_rem(coefficient);
                if !rest.is_zero() {
                    return None;
                }
                terms.push((other.over(monomial)?, quotient));
            }
            return Some(Self { terms });
        }
        let mut rest: std::collections::BTreeMap<Monomial, BigInt> = self.terms.iter().cloned().collect();
        let mut quotient = Vec::new();
        while let Some((monomial, value)) = rest.pop_last() {
            if !spend(divisor.terms.len()) {
                return None;
            }
            let monomial = monomial.over(first)?;
            let (factor, left_over) = value.div_rem(leading);
            if !left_over.is_zero() {
                return None;
            }
            for (other, coefficient) in &divisor.terms[1..] {
                let entry = rest.entry(other.times(&monomial)).or_default();
                *entry -= coefficient * &factor;
                if entry.is_zero() {
                    rest.remove(&other.times(&monomial));
                }
            }
            quotient.push((monomial, factor));
        }
        Some(Self { terms: quotient })
    }

    /// As a polynomial in one variable: the coefficient of each power, from 0.
    pub fn coefficients(&self, variable: Variable) -> Vec<Polynomial> {
        let mut result = vec![Polynomial::default(); self.degree(variable) as usize + 1];
        for (monomial, value) in &self.terms {
            let power = monomial.degree(variable) as usize;
            result[power].terms.push((monomial.without(variable), value.clone()));
        }
        // Without the variable the order is still the same.
        result
    }

    /// The polynomial with these coefficients of the powers of a variable.
    pub fn from_coefficients(coefficients: &[Polynomial], variable: Variable) -> Self {
        let mut sum = Polynomial::default();
        for (power, coefficient) in coefficients.iter().enumerate() {
            let monomial = if power == 0 {
                Monomial::default()
            } else {
                Monomial(SmallVec::from_slice(&[(variable, power as u32)]))
            };
            sum = &sum + &coefficient.times_monomial(&monomial);
        }
        sum
    }

    /// The derivative with respect to a variable.
    pub fn derivative(&self, variable: Variable) -> Self {
        let mut terms = Vec::new();
        let power = Monomial(SmallVec::from_slice(&[(variable, 1)]));
        for (monomial, value) in &self.terms {
            let degree = monomial.degree(variable);
            if degree > 0
                && let Some(lower) = monomial.over(&power)
            {
                terms.push((lower, value * degree));
            }
        }
        Self { terms }
    }

    /// The value where the variables have values.
    pub fn evaluate(&self, values: &[f64]) -> f64 {
        let power = |(variable, exponent): &(Variable, u32)| {
            values.get(*variable as usize).copied().unwrap_or(f64::NAN).powi(*exponent as i32)
        };
        let term = |(monomial, value): &(Monomial, BigInt)| {
            value.to_f64().unwrap_or(f64::NAN) * monomial.0.iter().map(power).product::<f64>()
        };
        self.terms.iter().map(term).sum()
    }

    /// A power.
    pub fn power(&self, exponent: u32) -> Self {
        let mut result = Polynomial::one();
        for _ in 0..exponent {
            result = &result * self;
        }
        result
    }
}

impl Add for &Polynomial {
    type Output = Polynomial;

    fn add(self, other: &Polynomial) -> Polynomial {
        merged(self, other, |value| value.clone())
    }
}

impl Sub for &Polynomial {
    type Output = Polynomial;

    fn sub(self, other: &Polynomial) -> Polynomial {
        merged(self, other, |value| -value)
    }
}

fn merged(one: &Polynomial, other: &Polynomial, signed: impl Fn(&BigInt) -> BigInt) -> Polynomial {
    if !spend((one.terms.len() + other.terms.len()) / 4) {
        return Polynomial::default();
    }
    let mut terms = Vec::with_capacity(one.terms.len() + other.terms.len());
    let (mut left, mut right) = (one.terms.iter().peekable(), other.terms.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return Polynomial { terms },
            (Some(_), None) => Ordering::Greater,
            (None, Some(_)) => Ordering::Less,
            (Some((one, _)), Some((other, _))) => one.cmp(other),
        };
        match order {
            Ordering::Greater => terms.extend(left.next().cloned()),
            Ordering::Less => terms.extend(right.next().map(|(monomial, value)| (monomial.clone(), signed(value)))),
            Ordering::Equal => {
                if let (Some((monomial, one)), Some((_, other))) = (left.next(), right.next()) {
                    let sum = one + signed(other);
                    if !sum.is_zero() {
                        terms.push((monomial.clone(), sum));
                    }
                }
            }
        }
    }
}

impl Mul for &Polynomial {
    type Output = Polynomial;

    fn mul(self, other: &Polynomial) -> Polynomial {
        let (few, many) = if self.terms.len() < other.terms.len() { (self, other) } else { (other, self) };
        match few.terms.as_slice() {
            [] => return Polynomial::default(),
            _ if !spend(few.terms.len() * many.terms.len()) => return Polynomial::default(),
            [(monomial, value)] => return many.times_monomial(monomial).scaled(value),
            _ => {}
        }
        let mut terms: FxHashMap<Monomial, BigInt> = FxHashMap::default();
        for (one, first) in &few.terms {
            for (two, second) in &many.terms {
                *terms.entry(one.times(two)).or_default() += first * second;
            }
        }
        Polynomial::collect(terms)
    }
}

impl Neg for Polynomial {
    type Output = Polynomial;

    fn neg(mut self) -> Polynomial {
        for (_, value) in &mut self.terms {
            *value = -std::mem::take(value);
        }
        self
    }
}
