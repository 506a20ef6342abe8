//! Exact fractions, in which the rates and shifts of sub-clocks are kept (16.7.5): nothing drifts, and what ticks at the same
//! instant by the text does so in numbers.

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Ratio {
    pub(super) numerator: i64,
    pub(super) denominator: i64,
}

impl Ratio {
    pub(super) const ZERO: Ratio = Ratio { numerator: 0, denominator: 1 };
    pub(super) const ONE: Ratio = Ratio { numerator: 1, denominator: 1 };

    /// `None` for a denominator of zero, and where the numbers get too large.
    pub(super) fn new(numerator: i64, denominator: i64) -> Option<Ratio> {
        Self::reduced(i128::from(numerator), i128::from(denominator))
    }

    fn reduced(numerator: i128, denominator: i128) -> Option<Ratio> {
        let (mut a, mut b) = (numerator.unsigned_abs(), denominator.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let divisor = i128::try_from(a).ok().filter(|&divisor| divisor != 0 && denominator != 0)?;
        let divisor = if denominator < 0 { -divisor } else { divisor };
        let part = |number: i128| i64::try_from(number / divisor).ok();
        Some(Ratio { numerator: part(numerator)?, denominator: part(denominator)? })
    }

    pub(super) fn times(self, other: Ratio) -> Option<Ratio> {
        let numerator = i128::from(self.numerator) * i128::from(other.numerator);
        Self::reduced(numerator, i128::from(self.denominator) * i128::from(other.denominator))
    }

    pub(super) fn over(self, other: Ratio) -> Option<Ratio> {
        let numerator = i128::from(self.numerator) * i128::from(other.denominator);
        Self::reduced(numerator, i128::from(self.denominator) * i128::from(other.numerator))
    }

    pub(super) fn plus(self, other: Ratio) -> Option<Ratio> {
        let (a, b) = (i128::from(self.numerator), i128::from(other.numerator));
        let (c, d) = (i128::from(self.denominator), i128::from(other.denominator));
        Self::reduced((a * d).checked_add(b * c)?, c * d)
    }

    pub(super) fn minus(self, other: Ratio) -> Option<Ratio> {
        self.plus(Ratio { numerator: other.numerator.checked_neg()?, ..other })
    }

    pub(super) fn is_below(self, other: Ratio) -> bool {
        let left = i128::from(self.numerator) * i128::from(other.denominator);
        left < i128::from(other.numerator) * i128::from(self.denominator)
    }

    pub(super) fn as_integer(self) -> Option<i64> {
        (self.denominator == 1).then_some(self.numerator)
    }

    pub(super) fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Ratio;

    #[test]
    fn lowest_terms_and_signs() {
        let ratio = |a, b| Ratio::new(a, b).map(|ratio| (ratio.numerator, ratio.denominator));
        assert_eq!(ratio(6, -4), Some((-3, 2)));
        assert_eq!(ratio(0, 7), Some((0, 1)));
        assert_eq!(ratio(1, 0), None);
    }

    proptest::proptest! {
        #[test]
        fn arithmetic_agrees_with_numbers(a in -99i64..99, b in 1i64..99, c in 1i64..99, d in 1i64..99) {
            let (Some(x), Some(y)) = (Ratio::new(a, b), Ratio::new(c, d)) else { unreachable!() };
            let near = |ratio: Option<Ratio>, value: f64| ratio.is_some_and(|r| (r.value() - value).abs() < 1e-9);
            proptest::prop_assert!(near(x.plus(y), x.value() + y.value()));
            proptest::prop_assert!(near(x.minus(y), x.value() - y.value()));
            proptest::prop_assert!(near(x.times(y), x.value() * y.value()));
            proptest::prop_assert!(near(x.over(y), x.value() / y.value()));
            proptest::prop_assert_eq!(x.is_below(y), x.value() < y.value());
            proptest::prop_assert_eq!(x.plus(y).and_then(|sum| sum.minus(y)), Some(x));
        }
    }
}
