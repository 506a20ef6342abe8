//! A Modelica model of the state space that needs nothing else: one scalar equation for each state and output, with the
//! names that the variables had (quoted where they are no identifiers). Values are deviations from the point of the
//! linearisation.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::Cell;
use crate::StateSpace;

/// The model, under a name.
pub fn modelica<T: Cell>(system: &StateSpace<T>, name: &str) -> String {
    let mut taken: HashSet<String> = system.parameters.iter().map(|parameter| parameter.name.clone()).collect();
    let states: Vec<String> = system.states.iter().map(|state| unique(&state.name, &mut taken)).collect();
    let inputs: Vec<String> = system.inputs.iter().map(|signal| unique(&signal.name, &mut taken)).collect();
    let outputs: Vec<String> = system.outputs.iter().map(|signal| unique(&signal.name, &mut taken)).collect();
    let name = identifier(name);
    let mut out = format!("model {name} \"Linear model: deviations from the point of linearisation\"\n");
    for parameter in &system.parameters {
        let value = parameter.value.map_or(String::new(), |value| format!(" = {}", value.exact()));
        let _ = writeln!(out, "  parameter Real {}{value};", parameter.name);
    }
    for (name, signal) in inputs.iter().zip(&system.inputs) {
        let _ = writeln!(out, "  input Real {name}{};", unit(&signal.unit));
    }
    for (name, signal) in outputs.iter().zip(&system.outputs) {
        let _ = writeln!(out, "  output Real {name}{};", unit(&signal.unit));
    }
    for (name, state) in states.iter().zip(&system.states) {
        let unit = if state.unit.is_empty() { String::new() } else { format!("unit = {}, ", quoted(&state.unit)) };
        let _ = writeln!(out, "  Real {name}({unit}start = 0, fixed = true, stateSelect = StateSelect.always);");
    }
    out.push_str("equation\n");
    for (i, state) in states.iter().enumerate() {
        let right = sum(&[(system.a.row(i), &states), (system.b.row(i), &inputs)]);
        let _ = writeln!(out, "  der({state}) = {right};");
    }
    for (i, output) in outputs.iter().enumerate() {
        let right = sum(&[(system.c.row(i), &states), (system.d.row(i), &inputs)]);
        let _ = writeln!(out, "  {output} = {right};");
    }
    let _ = writeln!(out, "end {name};");
    out
}

fn sum<T: Cell>(parts: &[(&[T], &Vec<String>)]) -> String {
    let mut out = String::new();
    for (coefficients, names) in parts {
        for (coefficient, name) in coefficients.iter().zip(names.iter()) {
            match coefficient.number() {
                Some(0.0) => continue,
                Some(value) => {
                    let sign = match (value < 0.0, out.is_empty()) {
                        (true, true) => "-",
                        (true, false) => " - ",
                        (false, true) => "",
                        (false, false) => " + ",
                    };
                    let size = value.abs();
                    let factor = if size == 1.0 { String::new() } else { format!("{}*", size.exact()) };
                    let _ = write!(out, "{sign}{factor}{name}");
                }
                None => {
                    let sign = if out.is_empty() { "" } else { " + " };
                    let _ = write!(out, "{sign}({})*{name}", coefficient.exact());
                }
            }
        }
    }
    if out.is_empty() { "0".to_owned() } else { out }
}

fn unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!("(unit = {})", quoted(unit)) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A name as an identifier that is not taken yet: an output that is a state needs a name of its own.
pub fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut candidate = identifier(name);
    let mut number = 1;
    while !taken.insert(candidate.clone()) {
        number += 1;
        candidate = numbered(name, number);
    }
    candidate
}

/// A name with a number behind it.
fn numbered(name: &str, number: usize) -> String {
    match quoted_identifier(name) {
        Some(inner) => format!("'{inner}_{number}'"),
        None => identifier(&format!("{name}_{number}")),
    }
}

/// What stands between the quotes of a single quoted identifier.
fn quoted_identifier(name: &str) -> Option<&str> {
    let inner = name.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut is_escaped = false;
    for c in inner.chars() {
        if !is_written(c) || c == '\'' && !is_escaped {
            return None;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    (!inner.is_empty() && !is_escaped).then_some(inner)
}

/// Whether a character may stand between quotes.
fn is_written(c: char) -> bool {
    c.is_ascii_graphic() || c == ' '
}

/// A name as an identifier, quoted where it has to be.
fn identifier(name: &str) -> String {
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !base::is_reserved(name) {
        return name.to_owned();
    }
    if quoted_identifier(name).is_some() {
        return name.to_owned();
    }
    let mut inner = String::new();
    for c in name.chars() {
        match c {
            '\'' | '\\' => inner.extend(['\\', c]),
            // What may not stand between quotes becomes an underscore.
            c => inner.push(if is_written(c) { c } else { '_' }),
        }
    }
    format!("'{inner}'")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::symbolic;
    use super::*;

    #[test]
    fn a_model() {
        let mut system = symbolic();
        system.outputs[0].name = "mass.s".to_owned();
        expect![[r#"
            model Linear "Linear model: deviations from the point of linearisation"
              input Real force(unit = "N");
              output Real 'mass.s_2'(unit = "m");
              Real 'mass.s'(unit = "m", start = 0, fixed = true, stateSelect = StateSelect.always);
              Real 'mass.v_rel'(unit = "m/s", start = 0, fixed = true, stateSelect = StateSelect.always);
            equation
              der('mass.s') = 'mass.v_rel';
              der('mass.v_rel') = (-c/m)*'mass.s' - 2e-7*'mass.v_rel' + 2500000*force;
              'mass.s_2' = 'mass.s';
            end Linear;
        "#]]
        .assert_eq(&modelica(&system, "Linear"));
    }

    /// Each of these is an identifier that no other one of them has.
    #[test]
    fn names_with_quotes_stay_apart() {
        let names =
            ["'x\\'y'", "'x__y'", "a.b", "'a.b'", "'a.b'", "a.'x y'", "a.'x_y'", "x", "x", "'it''s'", "é", "ü", "'"];
        let mut taken = HashSet::new();
        let found: Vec<String> = names.iter().map(|name| unique(name, &mut taken)).collect();
        expect![[r#"
            'x\'y'
            'x__y'
            'a.b'
            'a.b_2'
            'a.b_3'
            'a.\'x y\''
            'a.\'x_y\''
            x
            x_2
            '\'it\'\'s\''
            '_'
            '__2'
            '\''"#]]
        .assert_eq(&found.join("\n"));
    }
}
