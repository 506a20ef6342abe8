//! Random expressions whose terms have one dimension give no warning; with one factor too many they give one.
#![allow(clippy::unwrap_used)]

use lang::{Libraries, Overrides, flatten};
use proptest::prelude::*;

/// The variables of the model and the exponents of one product of them.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];
type Exponents = [i32; 4];

const DECLARATIONS: &str = r#"
  Real a(unit = "m"), b(unit = "kg.m/s2"), c(unit = "A"), d(unit = "V/(m.A)");
"#;

/// A product of powers as text, its factors in a given order.
fn product(exponents: Exponents, order: &[usize]) -> String {
    let power = |&at: &usize| match exponents[at] {
        1 => NAMES[at].to_owned(),
        exponent if exponent < 0 => format!("(1/{}^{})", NAMES[at], -exponent),
        exponent => format!("{}^{exponent}", NAMES[at]),
    };
    order.iter().map(power).collect::<Vec<_>>().join("*")
}

/// Another way to write a term of the same dimension.
fn dressed(term: String, how: u8) -> String {
    match how {
        0 => format!("2*{term}"),
        1 => format!("abs({term})"),
        2 => format!("sqrt(({term})^2)"),
        3 => format!("(if time > 1 then {term} else 0)"),
        4 => format!("max({term}, -({term}))"),
        5 => format!("smooth(0, noEvent({term}))"),
        6 => format!("({term})*sin(a/a)"),
        7 => format!("(({term}) - 1)"),
        _ => term,
    }
}

fn term() -> impl Strategy<Value = (Vec<usize>, u8)> {
    (Just(vec![0, 1, 2, 3]).prop_shuffle(), 0u8..9)
}

fn warnings(condition: &str) -> Vec<String> {
    let text = format!("model M{DECLARATIONS}equation\n  assert({condition}, \"\");\nend M;\n");
    let mut libraries = Libraries::default();
    libraries.add_text("m.mo", text.as_str());
    let result = flatten(&mut libraries, "M", &Overrides::default());
    assert!(result.model.is_some(), "{condition}: {:?}", result.diagnostics);
    result.diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn right_and_wrong(
        exponents in prop::array::uniform4(-2i32..3),
        terms in prop::collection::vec(term(), 3),
        extra in 0usize..4,
    ) {
        let texts: Vec<String> =
            terms.iter().map(|(order, how)| dressed(product(exponents, order), *how)).collect();
        let right = format!("{} < {} - {}", texts[0], texts[1], texts[2]);
        prop_assert_eq!(warnings(&right), Vec::<String>::new(), "{}", right);
        let wrong = format!("{} < {} - {}*{}", texts[0], texts[1], texts[2], NAMES[extra]);
        prop_assert_eq!(warnings(&wrong).len(), 1, "{}", wrong);
    }
}

/// Components without units, in a chain, and one unit at its end: the effort grows with the length only.
#[test]
fn long_chains() {
    let chain = |length: usize| {
        let mut text = String::from("model M\n  Real first(unit = \"m\") = time;\n  Real last(unit = \"s\");\n");
        (0..length).for_each(|k| text += &format!("  Real x{k};\n"));
        text += "equation\n  last = x0;\n";
        (1..length).for_each(|k| text += &format!("  x{} = 2*x{k};\n", k - 1));
        text + &format!("  x{} = first;\nend M;\n", length - 1)
    };
    let mut libraries = Libraries::default();
    libraries.add_text("m.mo", chain(5000).as_str());
    let result = flatten(&mut libraries, "M", &Overrides::default());
    let told: Vec<&str> = result.diagnostics.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(told, ["units do not agree: `s` and `m`"]);
    let off = Overrides { no_unit_check: true, ..Overrides::default() };
    libraries.add_text("m.mo", chain(3).as_str());
    assert!(flatten(&mut libraries, "M", &off).diagnostics.is_empty());
}
