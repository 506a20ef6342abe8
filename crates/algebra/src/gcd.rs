//! Greatest common divisors of polynomials in many variables.
//!
//! Images modulo a prime at random points bound the degree of the divisor in each variable (Brown 1971): where an image
//! has no common divisor, neither have the polynomials, which proves most pairs coprime at the cost of evaluating them.
//! Variables in which the degree is zero are split off by contents; what is left is done by the subresultant
//! remainder sequence in the variable of the lowest degree.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::ToPrimitive;

use crate::budget::spend;
use crate::polynomial::{Polynomial, Variable};

/// The greatest common divisor, with a positive leading coefficient; of zero and zero it is zero.
pub fn gcd(one: &Polynomial, other: &Polynomial) -> Polynomial {
    if !spend((one.terms.len() + other.terms.len()) / 2) {
        return Polynomial::one();
    }
    if one.is_zero() {
        return positive(other.clone());
    }
    if other.is_zero() {
        return positive(one.clone());
    }
    let integer = one.content().gcd(&other.content());
    let (monomial_one, monomial_other) = (one.common_monomial(), other.common_monomial());
    let monomial = monomial_one.common(&monomial_other);
    let strip = |polynomial: &Polynomial, monomial| {
        let stripped = polynomial.over_monomial(monomial);
        let content = stripped.content();
        stripped.over_integer(&content)
    };
    let primitive = primitive_gcd(&strip(one, &monomial_one), &strip(other, &monomial_other));
    positive(primitive.times_monomial(&monomial).scaled(&integer))
}

/// The greatest common divisor of all of them.
pub fn gcd_all<'a>(polynomials: impl IntoIterator<Item = &'a Polynomial>) -> Polynomial {
    let mut result = Polynomial::default();
    for polynomial in polynomials {
        result = gcd(&result, polynomial);
        if result.is_one() {
            break;
        }
    }
    result
}

/// The divisor of all coefficients, seen as a polynomial in one variable.
pub fn content_in(polynomial: &Polynomial, variable: Variable) -> Polynomial {
    gcd_all(&polynomial.coefficients(variable))
}

fn positive(polynomial: Polynomial) -> Polynomial {
    if polynomial.is_negative() { -polynomial } else { polynomial }
}

/// Of polynomials without integer and monomial divisors.
fn primitive_gcd(one: &Polynomial, other: &Polynomial) -> Polynomial {
    if one.as_constant().is_some() || other.as_constant().is_some() {
        return Polynomial::one();
    }
    if one == other {
        return one.clone();
    }
    let (first, second) = (one.variables(), other.variables());
    // A variable of one polynomial only does not occur in the divisor.
    if let Some(variable) = first.iter().find(|variable| second.binary_search(variable).is_err()) {
        return with_coefficients(one, *variable, other);
    }
    if let Some(variable) = second.iter().find(|variable| first.binary_search(variable).is_err()) {
        return with_coefficients(other, *variable, one);
    }
    let mut best: Option<(u32, Variable)> = None;
    for variable in &first {
        match degree_bound(one, other, *variable) {
            0 => {
                let mut coefficients = one.coefficients(*variable);
                coefficients.extend(other.coefficients(*variable));
                return gcd_all(&coefficients);
            }
            bound if best.is_none_or(|(lowest, _)| bound < lowest) => best = Some((bound, *variable)),
            _ => {}
        }
    }
    let (small, large) = if one.terms.len() <= other.terms.len() { (one, other) } else { (other, one) };
    if large.over(small).is_some() {
        return small.clone();
    }
    let Some((_, variable)) = best else { return Polynomial::one() };
    by_remainders(one, other, variable)
}

fn with_coefficients(polynomial: &Polynomial, variable: Variable, other: &Polynomial) -> Polynomial {
    let mut result = other.clone();
    for coefficient in polynomial.coefficients(variable).iter().filter(|coefficient| !coefficient.is_zero()) {
        result = gcd(&result, coefficient);
        if result.is_one() {
            break;
        }
    }
    result
}

/// The subresultant polynomial remainder sequence (Knuth, vol. 2, 4.6.1, algorithm C).
fn by_remainders(one: &Polynomial, other: &Polynomial, variable: Variable) -> Polynomial {
    let (content_one, content_other) = (content_in(one, variable), content_in(other, variable));
    let content = gcd(&content_one, &content_other);
    let divide = |polynomial: &Polynomial, divisor: &Polynomial| {
        polynomial.over(divisor).map(|quotient| quotient.coefficients(variable)).unwrap_or_default()
    };
    let (mut u, mut v) = (divide(one, &content_one), divide(other, &content_other));
    if u.len() < v.len() {
        std::mem::swap(&mut u, &mut v);
    }
    let (mut g, mut h) = (Polynomial::one(), Polynomial::one());
    loop {
        let delta = (u.len() - v.len()) as u32;
        let rest = pseudo_remainder(u, &v);
        if rest.is_empty() {
            let divisor = Polynomial::from_coefficients(&v, variable);
            let own = content_in(&divisor, variable);
            let primitive = divisor.over(&own).unwrap_or(divisor);
            return &primitive * &content;
        }
        if rest.len() == 1 {
            return content;
        }
        let scale = &g * &h.power(delta);
        u = v;
        v = rest.iter().map(|coefficient| coefficient.over(&scale).unwrap_or_else(|| coefficient.clone())).collect();
        g = u.last().cloned().unwrap_or_else(Polynomial::one);
        h = if delta == 0 {
            h
        } else {
            let power = g.power(delta);
            power.over(&h.power(delta - 1)).unwrap_or(power)
        };
    }
}

/// The rest of `leading(v)^(deg u - deg v + 1) · u` divided by `v`; empty for zero.
fn pseudo_remainder(mut u: Vec<Polynomial>, v: &[Polynomial]) -> Vec<Polynomial> {
    let Some(leading) = v.last() else { return Vec::new() };
    while u.len() >= v.len() {
        let Some(top) = u.pop() else { break };
        let shift = u.len() + 1 - v.len();
        for (index, coefficient) in u.iter_mut().enumerate() {
            *coefficient = &*coefficient * leading;
            if index >= shift {
                *coefficient = &*coefficient - &(&top * &v[index - shift]);
            }
        }
    }
    while u.last().is_some_and(Polynomial::is_zero) {
        u.pop();
    }
    u
}

const PRIME: u64 = 2_147_483_629;

/// An upper bound of the degree of the common divisor in a variable.
fn degree_bound(one: &Polynomial, other: &Polynomial, variable: Variable) -> u32 {
    let (first, second) = (one.degree(variable), other.degree(variable));
    let mut bound = first.min(second);
    if !spend(2 * (one.terms.len() + other.terms.len())) {
        return 0;
    }
    for attempt in 0..3 {
        let (u, v) = (image(one, variable, first, attempt), image(other, variable, second, attempt));
        // Where a leading coefficient vanishes, the image says nothing.
        if u.last() == Some(&0) || v.last() == Some(&0) {
            continue;
        }
        bound = bound.min(univariate_gcd_degree(u, v));
        break;
    }
    bound
}

/// The polynomial in one variable modulo the prime, all others at a point.
fn image(polynomial: &Polynomial, variable: Variable, degree: u32, attempt: u64) -> Vec<u64> {
    let mut result = vec![0u64; degree as usize + 1];
    let prime = BigInt::from(PRIME);
    for (monomial, value) in &polynomial.terms {
        let mut product = value.mod_floor(&prime).to_u64().unwrap_or(0);
        let mut power = 0;
        for (other, exponent) in &monomial.0 {
            if *other == variable {
                power = *exponent as usize;
            } else {
                product = product * power_modulo(point(*other, attempt), *exponent) % PRIME;
            }
        }
        result[power] = (result[power] + product) % PRIME;
    }
    result
}

/// Scattered points, the same in every run.
fn point(variable: Variable, attempt: u64) -> u64 {
    let mut state =
        (u64::from(variable) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ attempt.wrapping_mul(0xD1B5_4A32_D192_ED03);
    state ^= state >> 31;
    state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state ^= state >> 29;
    state % (PRIME - 2) + 1
}

fn power_modulo(base: u64, exponent: u32) -> u64 {
    (0..exponent).fold(1, |product, _| product * base % PRIME)
}

fn inverse_modulo(value: u64) -> u64 {
    let (mut result, mut base, mut exponent) = (1u64, value, PRIME - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % PRIME;
        }
        base = base * base % PRIME;
        exponent >>= 1;
    }
    result
}

fn univariate_gcd_degree(mut u: Vec<u64>, mut v: Vec<u64>) -> u32 {
    loop {
        while v.last() == Some(&0) {
            v.pop();
        }
        let Some(leading) = v.last() else { return u.len() as u32 - 1 };
        if v.len() == 1 {
            return 0;
        }
        let inverse = inverse_modulo(*leading);
        while u.len() >= v.len() {
            let Some(top) = u.pop() else { break };
            let factor = top * inverse % PRIME;
            let shift = u.len() + 1 - v.len();
            for (index, coefficient) in v[..v.len() - 1].iter().enumerate() {
                u[index + shift] = (u[index + shift] + PRIME - factor * coefficient % PRIME) % PRIME;
            }
        }
        std::mem::swap(&mut u, &mut v);
    }
}
