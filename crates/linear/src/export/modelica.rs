//! A Modelica model of the state space that needs nothing else: one scalar equation for each state and output, with the
//! names that the variables had (quoted where they are no identifiers). Values are deviations from the point of the
//! linearisation.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::Cell;
use crate::StateSpace;

/// The model, under a name.
pub fn modelica<T: Cell>(system: &StateSpace<T>, name: &str) -> String {
    let mut taken: HashSet<String> =
        system.parameters.iter().map(|parameter| parameter.name.trim_matches('\'').to_owned()).collect();
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

/// An output that is a state needs a name of its own.
fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut number = 1;
    while !taken.insert(candidate.clone()) {
        number += 1;
        candidate = format!("{name}_{number}");
    }
    identifier(&candidate)
}

/// A name as an identifier, quoted where it has to be.
pub fn identifier(name: &str) -> String {
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !base::is_reserved(name) {
        return name.to_owned();
    }
    // What may not stand between quotes becomes an underscore.
    let inner: String = name
        .chars()
        .map(|c| if c.is_ascii_graphic() && c != '\'' && c != '\\' || c == ' ' { c } else { '_' })
        .collect();
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
}
