//! Rational functions of the parameters: quotients of polynomials without common divisor.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed};

use crate::factor::{Factored, factor};
use crate::gcd::gcd;
use crate::polynomial::{Monomial, Polynomial, Variable};
use crate::sparse::Field;

/// In lowest terms, the denominator with a positive leading coefficient, so that equal functions are equal values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rational {
    /// Above the line.
    pub numerator: Polynomial,
    /// Below the line.
    pub denominator: Polynomial,
}

impl Rational {
    /// The quotient; `None` where the denominator is zero.
    pub fn new(numerator: Polynomial, denominator: Polynomial) -> Option<Self> {
        if denominator.is_zero() {
            return None;
        }
        let divisor = gcd(&numerator, &denominator);
        Some(Self::reduced(quotient(&numerator, &divisor), quotient(&denominator, &divisor)))
    }

    /// Of parts without common divisor.
    fn reduced(numerator: Polynomial, denominator: Polynomial) -> Self {
        if numerator.is_zero() {
            return Self { numerator, denominator: Polynomial::one() };
        }
        if denominator.is_negative() {
            return Self { numerator: -numerator, denominator: -denominator };
        }
        Self { numerator, denominator }
    }

    /// A whole number.
    pub fn integer(value: i64) -> Self {
        Self { numerator: Polynomial::constant(BigInt::from(value)), denominator: Polynomial::one() }
    }

    /// A variable alone.
    pub fn variable(variable: Variable) -> Self {
        Self { numerator: Polynomial::variable(variable), denominator: Polynomial::one() }
    }

    /// The exact value of a decimal number such as `9.81` or `1e-3`; none for exponents beyond reason.
    pub fn decimal(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(place) => (&text[..place], text[place + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: BigInt = format!("{whole}{fraction}").parse().ok()?;
        let exponent = exponent - fraction.len() as i32;
        if exponent.unsigned_abs() > 400 {
            return None;
        }
        let power = BigInt::from(10).pow(exponent.unsigned_abs());
        let (top, bottom) = if exponent < 0 { (digits, power) } else { (digits * power, BigInt::one()) };
        Self::new(Polynomial::constant(top), Polynomial::constant(bottom))
    }

    /// Whether it is the number one.
    pub fn is_one(&self) -> bool {
        self.numerator.is_one() && self.denominator.is_one()
    }

    /// The number, where it is one.
    pub fn as_number(&self) -> Option<f64> {
        let is_number = self.numerator.as_constant().is_some() && self.denominator.as_constant().is_some();
        is_number.then(|| self.evaluate(&[]))
    }

    /// The variables that occur, in no order.
    pub fn variables(&self) -> impl Iterator<Item = Variable> {
        self.numerator.variables().into_iter().chain(self.denominator.variables())
    }

    /// The reciprocal, where there is one.
    pub fn inverse(&self) -> Option<Self> {
        (!self.numerator.is_zero()).then(|| Self::reduced(self.denominator.clone(), self.numerator.clone()))
    }

    /// A power, where there is one.
    pub fn power(&self, exponent: i32) -> Option<Self> {
        let base = if exponent < 0 { self.inverse()? } else { self.clone() };
        let exponent = exponent.unsigned_abs();
        Some(Self { numerator: base.numerator.power(exponent), denominator: base.denominator.power(exponent) })
    }

    /// The value where the variables have values.
    pub fn evaluate(&self, values: &[f64]) -> f64 {
        self.numerator.evaluate(values) / self.denominator.evaluate(values)
    }

    /// As a person writes it: factored, one fraction.
    pub fn print(&self, name: &impl Fn(Variable) -> String) -> String {
        if self.numerator.is_zero() {
            return "0".to_owned();
        }
        let (top, bottom) = (factor(&self.numerator), factor(&self.denominator));
        let negative = top.integer.is_negative();
        let (number, divisor) = coefficient(&top.integer.abs(), &bottom.integer);
        let mut text = product(number, &top, name);
        let below = product(divisor, &bottom, name);
        if below != "1" {
            let is_product = factor_count(&bottom)
                + usize::from(below.starts_with(|c: char| c.is_ascii_digit()) && !bottom.is_integer())
                > 1;
            let bracketed = if is_product { format!("({below})") } else { below.clone() };
            text = format!("{text}/{bracketed}");
        }
        match negative {
            true => format!("-{text}"),
            false if below == "1" => without_brackets(text, &top),
            false => text,
        }
    }

    /// Whether the printed text adds terms outside of brackets, so that it needs brackets as a factor.
    pub fn prints_as_sum(&self) -> bool {
        let factored = factor(&self.numerator);
        self.denominator.is_one() && factored.integer.is_one() && is_one_sum(&factored)
    }

    /// LaTeX, with a name for each variable in LaTeX.
    pub fn latex(&self, name: &impl Fn(Variable) -> String) -> String {
        if self.numerator.is_zero() {
            return "0".to_owned();
        }
        let (top, bottom) = (factor(&self.numerator), factor(&self.denominator));
        let sign = if top.integer.is_negative() { "-" } else { "" };
        let (number, divisor) = coefficient(&top.integer.abs(), &bottom.integer);
        let spaced = |text: String| text.replace('*', " ");
        let above = spaced(product(number, &top, name));
        let below = spaced(product(divisor, &bottom, name));
        if below == "1" {
            return if sign.is_empty() { without_brackets(above, &top) } else { format!("{sign}{above}") };
        }
        format!("{sign}\\frac{{{}}}{{{}}}", without_brackets(above, &top), without_brackets(below, &bottom))
    }
}

fn quotient(polynomial: &Polynomial, divisor: &Polynomial) -> Polynomial {
    if divisor.is_one() {
        return polynomial.clone();
    }
    polynomial.over(divisor).unwrap_or_else(|| polynomial.clone())
}

/// The number before the fraction and the one below it: decimals where the divisor is a power of ten or the like, a
/// fraction where it is small.
fn coefficient(above: &BigInt, below: &BigInt) -> (String, String) {
    let mut rest = below.clone();
    let (two, five) = (BigInt::from(2), BigInt::from(5));
    let (mut twos, mut fives) = (0u32, 0u32);
    while rest.is_multiple_of(&two) {
        rest /= &two;
        twos += 1;
    }
    while rest.is_multiple_of(&five) {
        rest /= &five;
        fives += 1;
    }
    let places = twos.max(fives);
    if !rest.is_one() || *below < BigInt::from(10) || places > 12 {
        return (above.to_string(), below.to_string());
    }
    let scaled = above * BigInt::from(10).pow(places) / below;
    let digits = format!("{scaled:0>width$}", width = places as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places as usize);
    let fraction = fraction.trim_end_matches('0');
    (if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }, "1".to_owned())
}

/// A quotient of whole numbers, exact: `9.81`, `1E30`, `1/3`. The divisor is not zero.
pub fn decimal_text(above: &BigInt, below: &BigInt) -> String {
    let divisor = above.gcd(below).max(BigInt::one());
    let (mut above, mut below) = (above / &divisor, below / &divisor);
    if below.is_negative() {
        (above, below) = (-above, -below);
    }
    let mut rest = below.clone();
    let mut places = 0i64;
    for prime in [2, 5].map(BigInt::from) {
        let mut count = 0;
        while rest.is_multiple_of(&prime) && !rest.is_one() && rest.is_positive() {
            rest /= &prime;
            count += 1;
        }
        places = places.max(count);
    }
    if !rest.is_one() {
        return format!("{above}/{below}");
    }
    let scaled: BigInt = &above * BigInt::from(10).pow(places as u32) / &below;
    let sign = if scaled.is_negative() { "-" } else { "" };
    let digits = scaled.abs().to_string();
    let short = digits.trim_end_matches('0');
    if short.is_empty() {
        return "0".to_owned();
    }
    // The value is `short` times ten to this power.
    let exponent = (digits.len() - short.len()) as i64 - places;
    let point = short.len() as i64 + exponent;
    match point {
        _ if exponent >= 0 && point <= 15 => format!("{sign}{short}{}", "0".repeat(exponent as usize)),
        1..=15 => format!("{sign}{}.{}", &short[..point as usize], &short[point as usize..]),
        -3..=0 => format!("{sign}0.{}{short}", "0".repeat(-point as usize)),
        _ if short.len() == 1 => format!("{sign}{short}E{}", point - 1),
        _ => format!("{sign}{}.{}E{}", &short[..1], &short[1..], point - 1),
    }
}

/// Whether nothing but a sum is multiplied.
fn is_one_sum(factored: &Factored) -> bool {
    factored.monomial.0.is_empty() && matches!(factored.factors.as_slice(), [(_, 1)])
}

/// A sum alone needs no brackets.
fn without_brackets(text: String, factored: &Factored) -> String {
    match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(inner) if is_one_sum(factored) => inner.to_owned(),
        _ => text,
    }
}

fn factor_count(factored: &Factored) -> usize {
    factored.monomial.0.len() + factored.factors.len()
}

fn product(number: String, factored: &Factored, name: &impl Fn(Variable) -> String) -> String {
    let mut parts = Vec::new();
    if number != "1" || factored.is_integer() {
        parts.push(number);
    }
    let powered = |text: String, exponent: u32| if exponent == 1 { text } else { format!("{text}^{exponent}") };
    parts.extend(factored.monomial.0.iter().map(|(variable, exponent)| powered(name(*variable), *exponent)));
    for (factor, exponent) in &factored.factors {
        let text = sum(factor, name);
        parts.push(powered(format!("({text})"), *exponent));
    }
    parts.join("*")
}

fn sum(polynomial: &Polynomial, name: &impl Fn(Variable) -> String) -> String {
    // Positive terms first, so that no sum begins with a sign where it need not.
    let mut text = String::new();
    let (positive, negative): (Vec<_>, Vec<_>) = polynomial.terms.iter().partition(|(_, value)| value.is_positive());
    for (monomial, value) in positive.into_iter().chain(negative) {
        let sign = match (text.is_empty(), value.is_negative()) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        text += sign;
        text += &term(monomial, &value.abs(), name);
    }
    text
}

fn term(monomial: &Monomial, value: &BigInt, name: &impl Fn(Variable) -> String) -> String {
    let mut parts = Vec::new();
    if !value.is_one() || monomial.0.is_empty() {
        parts.push(value.to_string());
    }
    for (variable, exponent) in &monomial.0 {
        parts.push(if *exponent == 1 { name(*variable) } else { format!("{}^{exponent}", name(*variable)) });
    }
    parts.join("*")
}

impl Field for Rational {
    const EXACT: bool = true;

    fn zero() -> Self {
        Self::integer(0)
    }

    fn one() -> Self {
        Self::integer(1)
    }

    fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// Henrici's way: divisors of the denominators first, so that the polynomials stay small.
    fn add(&self, other: &Self) -> Self {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        if self.denominator == other.denominator {
            let sum = &self.numerator + &other.numerator;
            if self.denominator.is_one() {
                return Self { numerator: sum, denominator: Polynomial::one() };
            }
            return Self::new(sum, self.denominator.clone()).unwrap_or_else(Self::zero);
        }
        let common = gcd(&self.denominator, &other.denominator);
        let (left, right) = (quotient(&self.denominator, &common), quotient(&other.denominator, &common));
        let top = &(&self.numerator * &right) + &(&other.numerator * &left);
        let rest = gcd(&top, &common);
        let bottom = &left * &quotient(&other.denominator, &rest);
        Self::reduced(quotient(&top, &rest), bottom)
    }

    fn multiply(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::zero();
        }
        if self.is_one() {
            return other.clone();
        }
        if other.is_one() {
            return self.clone();
        }
        let one = gcd(&self.numerator, &other.denominator);
        let two = gcd(&other.numerator, &self.denominator);
        let top = &quotient(&self.numerator, &one) * &quotient(&other.numerator, &two);
        let bottom = &quotient(&self.denominator, &two) * &quotient(&other.denominator, &one);
        Self::reduced(top, bottom)
    }

    fn negate(&self) -> Self {
        Self { numerator: -self.numerator.clone(), denominator: self.denominator.clone() }
    }

    fn invert(&self) -> Option<Self> {
        self.inverse()
    }

    fn size(&self) -> f64 {
        1.0
    }

    /// Numbers are the best pivots, then products, then sums.
    fn cost(&self) -> u32 {
        let terms = |polynomial: &Polynomial| {
            polynomial.terms.iter().map(|(monomial, _)| 1 + monomial.0.len() as u32).sum::<u32>()
        };
        terms(&self.numerator) + terms(&self.denominator) - 2
    }
}
