//! Factors of a polynomial, as far as greatest common divisors find them: contents in each variable and squares. The
//! determinants of networks have degree one in each parameter; those are factored completely.

use num_bigint::BigInt;

use crate::gcd::{content_in, gcd};
use crate::polynomial::{Monomial, Polynomial};

/// `integer · monomial · Π factor^power`, no factor constant, in the order of their leading terms.
#[derive(Clone, Debug)]
pub struct Factored {
    /// The number before the product.
    pub integer: BigInt,
    /// Powers of variables.
    pub monomial: Monomial,
    /// The other factors with their powers.
    pub factors: Vec<(Polynomial, u32)>,
}

/// The factors of a polynomial, as far as they are found.
pub fn factor(polynomial: &Polynomial) -> Factored {
    if polynomial.is_zero() {
        return Factored { integer: BigInt::default(), monomial: Monomial::default(), factors: Vec::new() };
    }
    let monomial = polynomial.common_monomial();
    let rest = polynomial.over_monomial(&monomial);
    let mut integer = rest.content();
    if rest.is_negative() {
        integer = -integer;
    }
    let rest = rest.over_integer(&integer);
    let mut factors: Vec<(Polynomial, u32)> = Vec::new();
    let mut open = if rest.is_one() { Vec::new() } else { vec![rest] };
    while let Some(next) = open.pop() {
        match split(&next) {
            Some((one, other)) => open.extend([one, other].into_iter().filter(|part| !part.is_one())),
            None => match factors.iter_mut().find(|(known, _)| *known == next) {
                Some((_, power)) => *power += 1,
                None => factors.push((next, 1)),
            },
        }
    }
    factors.sort_by(|(one, _), (other, _)| leading(other).cmp(&leading(one)));
    Factored { integer, monomial, factors }
}

fn leading(polynomial: &Polynomial) -> Option<&Monomial> {
    polynomial.terms.first().map(|(monomial, _)| monomial)
}

/// Two proper factors.
fn split(polynomial: &Polynomial) -> Option<(Polynomial, Polynomial)> {
    let variables = polynomial.variables();
    let proper = |divisor: Polynomial| {
        if divisor.as_constant().is_some() || divisor.terms.len() == polynomial.terms.len() && divisor == *polynomial {
            return None;
        }
        let quotient = polynomial.over(&divisor)?;
        quotient.as_constant().is_none().then_some((divisor, quotient))
    };
    for variable in &variables {
        if let Some(found) = proper(content_in(polynomial, *variable)) {
            return Some(found);
        }
    }
    for variable in &variables {
        if polynomial.degree(*variable) > 1
            && let Some(found) = proper(gcd(polynomial, &polynomial.derivative(*variable)))
        {
            return Some(found);
        }
    }
    None
}

impl Factored {
    /// Whether there is no variable in it.
    pub fn is_integer(&self) -> bool {
        self.monomial.0.is_empty() && self.factors.is_empty()
    }
}
