//! Rational functions form a field, and common divisors are common and greatest: on random polynomials.

use algebra::Rational;
use algebra::gcd::gcd;
use algebra::polynomial::{Monomial, Polynomial};
use algebra::sparse::Field;
use num_bigint::BigInt;
use proptest::prelude::*;

fn polynomial() -> impl Strategy<Value = Polynomial> {
    let term = (prop::collection::vec(0u32..3, 4), -9i64..10);
    prop::collection::vec(term, 0..5).prop_map(|terms| {
        terms.into_iter().fold(Polynomial::default(), |sum, (exponents, value)| {
            let powers = exponents.into_iter().enumerate().filter(|(_, exponent)| *exponent > 0);
            let monomial = Monomial(powers.map(|(variable, exponent)| (variable as u32, exponent)).collect());
            &sum + &Polynomial::term(monomial, BigInt::from(value))
        })
    })
}

fn rational() -> impl Strategy<Value = Rational> {
    (polynomial(), polynomial())
        .prop_filter_map("denominator", |(numerator, denominator)| Rational::new(numerator, denominator))
}

const POINT: [f64; 4] = [1.37, -0.83, 2.11, 0.59];

fn close(one: f64, other: f64) -> bool {
    !one.is_finite() || !other.is_finite() || (one - other).abs() <= 1e-6 * one.abs().max(other.abs()).max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn field(a in rational(), b in rational(), c in rational()) {
        prop_assert_eq!(a.add(&b), b.add(&a));
        prop_assert_eq!(a.add(&b).add(&c), a.add(&b.add(&c)));
        prop_assert_eq!(a.multiply(&b), b.multiply(&a));
        prop_assert_eq!(a.multiply(&b.add(&c)), a.multiply(&b).add(&a.multiply(&c)));
        prop_assert!(a.add(&a.negate()).is_zero());
        if let Some(inverse) = a.invert() {
            prop_assert!(a.multiply(&inverse).is_one());
        }
        // The same at a point.
        let (x, y) = (a.evaluate(&POINT), b.evaluate(&POINT));
        prop_assert!(close(a.add(&b).evaluate(&POINT), x + y));
        prop_assert!(close(a.multiply(&b).evaluate(&POINT), x * y));
    }

    #[test]
    fn divisors(a in polynomial(), b in polynomial(), c in polynomial()) {
        let (left, right) = (&a * &c, &b * &c);
        let divisor = gcd(&left, &right);
        prop_assert_eq!(&divisor, &gcd(&right, &left));
        if left.is_zero() && right.is_zero() {
            prop_assert!(divisor.is_zero());
            return Ok(());
        }
        let (one, other) = (left.over(&divisor), right.over(&divisor));
        prop_assert!(one.is_some() && other.is_some());
        // Greatest: what is left has no common divisor, and c is in it.
        let rest = gcd(&one.unwrap(), &other.unwrap());
        prop_assert!(rest.is_one());
        if !c.is_zero() {
            prop_assert!(divisor.over(&c).is_some());
        }
    }

    #[test]
    fn factors(a in polynomial(), b in polynomial()) {
        let whole = &a * &b;
        let factored = algebra::factor::factor(&whole);
        let mut product = Polynomial::constant(factored.integer.clone()).times_monomial(&factored.monomial);
        for (factor, power) in &factored.factors {
            product = &product * &factor.power(*power);
        }
        prop_assert_eq!(product, whole);
    }

    #[test]
    fn division(a in polynomial(), b in polynomial()) {
        if !b.is_zero() {
            prop_assert_eq!((&a * &b).over(&b), Some(a));
        }
    }
}

#[test]
fn decimals_are_exact() {
    let third = Rational::decimal("0.1").unwrap().add(&Rational::decimal("0.2").unwrap());
    assert_eq!(third, Rational::decimal("0.3").unwrap());
    assert_eq!(Rational::decimal("1e-3").unwrap().multiply(&Rational::decimal("1E3").unwrap()), Rational::integer(1));
    assert!(Rational::decimal("1e99999").is_none());
}

#[test]
fn functions_as_a_person_writes_them() {
    let [r, s, c] = [0, 1, 2].map(Rational::variable);
    let name = |variable: u32| ["R", "S", "C"][variable as usize].to_owned();
    let print = |value: &Rational| value.print(&name);
    let sum = r.add(&s);
    assert_eq!(print(&sum), "R + S");
    assert_eq!(print(&sum.negate()), "-(R + S)");
    assert_eq!(print(&sum.multiply(&c).inverse().unwrap().negate()), "-1/(C*(R + S))");
    assert_eq!(print(&r.multiply(&s).multiply(&sum.inverse().unwrap())), "R*S/(R + S)");
    assert_eq!(print(&r.add(&s.negate()).multiply(&c.inverse().unwrap())), "(R - S)/C");
    assert_eq!(print(&Rational::decimal("9.81").unwrap().multiply(&c)), "9.81*C");
    assert_eq!(print(&Rational::decimal("0.5").unwrap().multiply(&c)), "C/2");
    assert_eq!(print(&sum.power(-2).unwrap()), "1/(R + S)^2");
    assert_eq!(sum.multiply(&c).inverse().unwrap().latex(&name), "\\frac{1}{C (R + S)}");
}

#[test]
fn quotients_of_whole_numbers_are_exact() {
    let text = |above: i64, below: i64| algebra::rational::decimal_text(&above.into(), &below.into());
    let cases = [
        (981, 100, "9.81"),
        (-1, 2, "-0.5"),
        (6, 3, "2"),
        (1, 3, "1/3"),
        (-4, 6, "-2/3"),
        (0, 7, "0"),
        (1, 10_000_000, "1E-7"),
        (123, 100_000_000, "1.23E-6"),
        (7, 8, "0.875"),
        (3, -4, "-0.75"),
        (1_000_000, 1, "1000000"),
        (1_000_000_000_000_000_000, 1, "1E18"),
    ];
    for (above, below, expected) in cases {
        assert_eq!(text(above, below), expected);
    }
}
