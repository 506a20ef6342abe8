//! What holds for all units.

use proptest::prelude::*;
use units::{Conversion, Dimension, Unit};

const SYMBOLS: &[&str] = &["m", "kg", "s", "A", "K", "mol", "cd", "N", "V", "Ohm", "mm", "kW", "uF", "h", "bar", "deg"];

/// A unit text with the unit that it must have.
fn unit() -> impl Strategy<Value = (String, Unit)> {
    let leaf = (prop::sample::select(SYMBOLS), -4i32..5).prop_map(|(symbol, exponent)| {
        let unit = symbol.parse::<Unit>().expect("a symbol").power(exponent);
        (if exponent == 1 { symbol.to_owned() } else { format!("{symbol}{exponent}") }, unit)
    });
    let factors = prop::collection::vec(leaf, 1..4).prop_map(|parts| {
        let text: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
        (text.join("."), parts.iter().skip(1).fold(parts[0].1, |all, (_, unit)| all.times(*unit)))
    });
    factors.prop_recursive(3, 8, 2, |inner| {
        (inner.clone(), inner).prop_map(|((a, x), (b, y))| (format!("({a})/({b})"), x.over(y)))
    })
}

proptest! {
    #[test]
    fn the_syntax_means_what_it_says((text, unit) in unit()) {
        let parsed: Unit = text.parse().expect("a unit");
        prop_assert_eq!(parsed.dimension, unit.dimension);
        prop_assert!((parsed.factor / unit.factor - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_dimension_is_read_as_it_is_printed((_, unit) in unit()) {
        let text = unit.dimension.to_string();
        let read: Unit = text.parse().expect("a printed dimension is a unit");
        prop_assert_eq!(read, Unit { dimension: unit.dimension, ..Unit::ONE });
    }

    #[test]
    fn conversions_go_back((text, unit) in unit(), value in -1e3..1e3f64) {
        let si = unit.dimension.to_string();
        let there = Conversion::between(&text, &si).expect("the same dimension");
        let back = Conversion::between(&si, &text).expect("the same dimension");
        prop_assert!((back.apply(there.apply(value)) - value).abs() < 1e-9 * value.abs().max(1.0));
        prop_assert!(unit.dimension == Dimension::ONE || Conversion::between(&text, "1").is_none());
    }

    #[test]
    fn no_text_breaks_the_parser(text in "[a-zA-Z0-9./()+%^ -]{0,20}") {
        let _ = text.parse::<Unit>();
    }
}
