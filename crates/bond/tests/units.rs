//! Values with units are converted to SI units once; names stand for what was converted already.

mod common;

use bond::{Expr, Law, Numbers};
use common::{good, messages};

/// The values of all parameters and sources, in the order of their declaration.
fn values(text: &str) -> Vec<(String, f64)> {
    let (graph, _) = good(text);
    let numbers = Numbers::new(&graph, &[]).expect("all parameters have values");
    let parameters = graph.parameters.iter().map(|(id, parameter)| (parameter.name.clone(), numbers.value(id)));
    let value = |value: &Option<bond::Expression>| value.as_ref().and_then(|value| numbers.of(value));
    let inputs = graph.inputs.values().map(|input| (input.name.clone(), value(&input.value).unwrap_or(f64::NAN)));
    parameters.chain(inputs).map(|(name, value)| (name, (value * 1e9).round() / 1e9)).collect()
}

fn check(text: &str, expected: &[(&str, f64)]) {
    let found = values(text);
    for (name, value) in expected {
        let own = found.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no `{name}` in {found:?}"));
        assert!((own.1 - value).abs() <= 1e-9 * value.abs(), "{name}: {} instead of {value}\n{text}", own.1);
    }
}

#[test]
fn names_in_values_are_in_si_units_already() {
    check(
        "parameter R0 = 2 \"kOhm\"\nparameter n = 3\nSe U = 1 \"mV\"\n1 i\nR a = R0\nR b = R0 \"kOhm\"\nR c = 1 \"kOhm\"\n\
         R d = 2*c \"kOhm\"\nR e = 2*n \"kOhm\"\nR g = a/2 \"kOhm\"\nU -> i -> a, b, c, d, e, g",
        &[("a", 2000.0), ("b", 2000.0), ("c", 1000.0), ("d", 2000.0), ("e", 6000.0), ("g", 1000.0), ("U", 1e-3)],
    );
}

#[test]
fn arguments_of_subgraphs_are_in_the_unit_of_the_parameter() {
    check(
        "subgraph Cell(R \"kOhm\")\n  port a\n  a -> R r = R\nend Cell\n\
         subgraph Box(R = 2 \"kOhm\")\n  port p\n  Cell x(R = R)\n  p -> x.a\nend Box\n\
         Box b\nCell c(R = 5)\nSe U = 1 \"V\"\nSe V = 1 \"V\"\nU -> b.p\nV -> c.a",
        &[("b.x.r", 2000.0), ("c.r", 5000.0)],
    );
}

#[test]
fn absolute_temperatures_have_their_offset() {
    check(
        "parameter T0 = 0 \"degC\"\nSe hot = 20 \"degC\"\nSe cold = 0 \"degC\"\nSe same = T0 \"degC\"\nSe sum = 15 + 5 \"degC\"\n\
         Se far = 32 \"degF\"\n1 w\nR wall = 2 \"K/W\"\nhot, cold, same, sum, far -> w -> wall",
        &[
            ("T0", 273.15),
            ("hot", 293.15),
            ("cold", 273.15),
            ("same", 273.15),
            ("sum", 293.15),
            ("far", 273.15),
            ("wall", 2.0),
        ],
    );
}

#[test]
fn the_unit_of_a_field_is_that_of_its_matrix() {
    let (graph, _) = good(
        "Se U = 1 \"V\"\nSe V = 1 \"V\"\nI T[2] = [2, 0.5; 0.5, 3] \"mH\"\n1 a\n1 b\nR r = 1\nR s = 1\nU -> a -> r, T[1]\nV -> b -> s, T[2]",
    );
    let field = graph.elements.values().find(|element| element.name == "T").expect("the field");
    let Law::Matrix(rows) = &field.law else { panic!("{:?}", field.law) };
    let numbers: Vec<f64> = rows
        .iter()
        .flatten()
        .map(|entry| match entry {
            Expr::Number(value, _) => *value,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(numbers, [2e-3, 5e-4, 5e-4, 3e-3]);
}

#[test]
fn what_could_be_in_either_unit_is_refused() {
    let said = messages("parameter R0 = 2 \"kOhm\"\nSe U = 1\nR r = R0 + 1 \"kOhm\"\nU -> r");
    expect_test::expect![[r#"
        error[ambiguous-unit]: it is not clear what `R0 + 1` is in: names stand for values in SI units
          --> graph.bond:3:7
           |
         3 | R r = R0 + 1 "kOhm"
           |       ^^^^^^ names and numbers are mixed
           = help: write the value in `Ohm`, or name the numbers in it as parameters with units
    "#]]
    .assert_eq(&said);
}

#[test]
fn quotation_marks_in_texts_are_escaped() {
    let (graph, _) =
        good("bondgraph G \"the \\\"left\\\" side, a \\\\ b\"\nSe U = 1\nR r = 2 \"Ohm\" \"\\\"\"\nU -> r");
    assert_eq!(graph.description, "the \"left\" side, a \\ b");
    assert_eq!(graph.elements.values().last().expect("r").description, "\"");
    let text = bond::to_modelica(&graph, "").text;
    assert!(text.starts_with("model G \"the \\\"left\\\" side, a \\\\ b\"\n"), "{text}");
}
