//! What was found out about a system, as text: zeros, transfer functions, and modes out of reach.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::short_number;
use crate::{
    Complex, Error, RANK_TOLERANCE, Rates, Reach, StateSpace, TransferFunction, controllability, observability,
    transfer_function,
};

/// Transfer functions are written for systems up to this order; of larger ones poles and zeros say more.
const LARGEST_ORDER: usize = 8;

/// More pairs of inputs and outputs are not written.
const MOST_PAIRS: usize = 9;

/// One line of transmission zeros.
pub fn zeros_text(zeros: &[Complex]) -> String {
    let list: Vec<String> = zeros.iter().filter(|zero| zero.im >= 0.0).map(|&zero| root(zero)).collect();
    format!("\nzeros: {}\n", if list.is_empty() { "none".to_owned() } else { list.join(", ") })
}

fn root(root: Complex) -> String {
    match root.im == 0.0 {
        true => short_number(root.re),
        false => format!("{} ± {}i", short_number(root.re), short_number(root.im.abs())),
    }
}

/// The transfer functions of small systems, with the row of the output and the column of the input.
fn transfer_functions(
    system: &StateSpace,
    rates: Option<&Rates>,
) -> Vec<(usize, usize, Result<TransferFunction, Error>)> {
    let (inputs, outputs) = (system.inputs.len(), system.outputs.len());
    if system.order() > LARGEST_ORDER || inputs * outputs > MOST_PAIRS {
        return Vec::new();
    }
    let pairs = (0..outputs).flat_map(|output| (0..inputs).map(move |input| (output, input)));
    let function = |output: usize, input: usize| match rates {
        Some(rates) => rates.transfer_function(system, output, input, RANK_TOLERANCE),
        None => transfer_function(system, output, input, RANK_TOLERANCE),
    };
    pairs.map(|(output, input)| (output, input, function(output, input))).collect()
}

/// The transfer function of each pair as a quotient of polynomials.
pub fn transfer_text(system: &StateSpace, rates: Option<&Rates>) -> String {
    let functions = transfer_functions(system, rates);
    let mut text = if functions.is_empty() { String::new() } else { "\ntransfer functions\n".to_owned() };
    for (output, input, found) in functions {
        let (input, output) = (&system.inputs[input].name, &system.outputs[output].name);
        let quotient = match found {
            Ok(found) => {
                let (above, below) = (polynomial(&found.numerator()), polynomial(&found.denominator()));
                match above.contains(' ') {
                    _ if below == "1" => above,
                    true => format!("({above}) / ({below})"),
                    false => format!("{above} / ({below})"),
                }
            }
            Err(error) => format!("none ({error})"),
        };
        let _ = writeln!(text, "{input} → {output}: {quotient}");
    }
    text
}

/// The transfer functions of small systems: coefficients from the highest power down.
pub fn transfer_json(system: &StateSpace, rates: Option<&Rates>) -> Value {
    let object = |(output, input, found): (usize, usize, Result<TransferFunction, Error>)| {
        let (input, output) = (&system.inputs[input].name, &system.outputs[output].name);
        match found {
            Ok(found) => json!({
                "input": input,
                "output": output,
                "numerator": found.numerator(),
                "denominator": found.denominator(),
                "zeros": pairs(&found.zeros),
                "poles": pairs(&found.poles),
                "gain": found.gain,
            }),
            Err(error) => json!({ "input": input, "output": output, "error": error.to_string() }),
        }
    };
    transfer_functions(system, rates).into_iter().map(object).collect()
}

fn pairs(roots: &[Complex]) -> Vec<[f64; 2]> {
    roots.iter().map(|root| [root.re, root.im]).collect()
}

/// `controllability` and `observability`: the rank, and the poles of the modes out of reach with their states.
pub fn reach_json(system: &StateSpace) -> Result<Map<String, Value>, Error> {
    let object = |reach: &Reach| {
        let hidden = reach.hidden.iter().map(|mode| {
            let named = mode.participations.iter().filter(|part| part.share >= 0.05);
            let states = named.filter_map(|part| system.states.get(part.state)).map(|state| state.name.as_str());
            json!({ "pole": [mode.pole.re, mode.pole.im], "states": states.collect::<Vec<_>>() })
        });
        json!({ "rank": reach.rank, "hidden": hidden.collect::<Vec<_>>() })
    };
    let mut found = Map::new();
    if system.order() > 0 && !system.inputs.is_empty() {
        found.insert("controllability".to_owned(), object(&controllability(system, RANK_TOLERANCE)?));
    }
    if system.order() > 0 && !system.outputs.is_empty() {
        found.insert("observability".to_owned(), object(&observability(system, RANK_TOLERANCE)?));
    }
    Ok(found)
}

/// `s^2 + 0.5 s - 3`.
fn polynomial(coefficients: &[f64]) -> String {
    let mut text = String::new();
    let degree = coefficients.len().saturating_sub(1);
    for (position, &coefficient) in coefficients.iter().enumerate() {
        if coefficient == 0.0 {
            continue;
        }
        text += match (text.is_empty(), coefficient < 0.0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        let power = match degree - position {
            0 => String::new(),
            1 => "s".to_owned(),
            power => format!("s^{power}"),
        };
        let size = short_number(coefficient.abs());
        text += &match (size.as_str(), power.is_empty()) {
            (_, true) => size,
            ("1", false) => power,
            (_, false) => format!("{size} {power}"),
        };
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// Whether inputs move all modes and outputs show them; those that they do not.
pub fn reach_text(system: &StateSpace) -> Result<String, Error> {
    let mut text = String::new();
    if system.order() > 0 && !system.inputs.is_empty() {
        let reach = controllability(system, RANK_TOLERANCE)?;
        text += &reach_line(system, &reach, "controllable", "the inputs do not move");
    }
    if system.order() > 0 && !system.outputs.is_empty() {
        let reach = observability(system, RANK_TOLERANCE)?;
        text += &reach_line(system, &reach, "observable", "the outputs do not show");
    }
    Ok(if text.is_empty() { text } else { format!("\n{text}") })
}

fn reach_line(system: &StateSpace, reach: &Reach, property: &str, what: &str) -> String {
    let order = system.order();
    if reach.is_complete() {
        return format!("{property}: all {order} states\n");
    }
    let hidden = reach.hidden.iter().filter(|mode| mode.pole.im >= 0.0).map(|mode| {
        let named = mode.participations.iter().filter(|part| part.share >= 0.05).take(4);
        let names: Vec<&str> =
            named.filter_map(|part| system.states.get(part.state)).map(|state| state.name.as_str()).collect();
        format!("{} ({})", root(mode.pole), names.join(", "))
    });
    let hidden: Vec<String> = hidden.collect();
    format!("{property}: {} of {order} states; {what} the modes {}\n", reach.rank, hidden.join("; "))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::{Matrix, StateSpace};

    /// `s + 3` over `s^2 + 2 s + 5`, and a state that nothing moves.
    fn system() -> StateSpace {
        let a = Matrix::from([[0.0, 1.0, 0.0], [-5.0, -2.0, 0.0], [0.0, 0.0, -7.0]]);
        let b = Matrix::from([[0.0], [1.0], [0.0]]);
        let c = Matrix::from([[3.0, 1.0, 1.0]]);
        StateSpace::unnamed([a, b, c, Matrix::zeros(1, 1)]).unwrap()
    }

    #[test]
    fn a_transfer_function_as_a_person_writes_it() {
        expect![[r#"

            transfer functions
            u1 → y1: (s + 3) / (s^2 + 2 s + 5)
        "#]]
        .assert_eq(&transfer_text(&system(), None));
    }

    #[test]
    fn modes_out_of_reach_are_named() {
        expect![[r#"

            controllable: 2 of 3 states; the inputs do not move the modes -7 (x3)
            observable: all 3 states
        "#]]
        .assert_eq(&reach_text(&system()).unwrap());
    }

    #[test]
    fn the_same_for_programs() {
        expect![[r#"{"controllability":{"rank":2,"hidden":[{"pole":[-7.0,0.0],"states":["x3"]}]},"observability":{"rank":3,"hidden":[]}}"#]]
            .assert_eq(&Value::Object(reach_json(&system()).unwrap()).to_string());
        let functions = transfer_json(&system(), None);
        assert_eq!(functions[0]["input"], "u1");
        let numbers =
            |key: &str| functions[0][key].as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect::<Vec<_>>();
        let close = |found: Vec<f64>, expected: &[f64]| {
            found.len() == expected.len() && found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12)
        };
        assert!(close(numbers("numerator"), &[1.0, 3.0]) && close(numbers("denominator"), &[1.0, 2.0, 5.0]));
    }

    #[test]
    fn pairs_of_zeros() {
        let zeros = [Complex::new(-1.0, -2.0), Complex::new(-1.0, 2.0), Complex::new(4.0, 0.0)];
        assert_eq!(zeros_text(&zeros), "\nzeros: -1 ± 2i, 4\n");
        assert_eq!(zeros_text(&[]), "\nzeros: none\n");
    }
}
