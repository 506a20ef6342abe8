//! A state space as text: for people, for other programs, as a model.
//!
//! Entries are numbers or texts of a symbolic state space ([`Entry`]); every format takes both.

mod analysis;
mod latex;
mod matlab;
mod modelica;
mod python;
mod text;

use serde_json::{Map, Value};

use crate::{Complex, Matrix, Rates, StateSpace};

pub use analysis::{reach_json, reach_text, transfer_json, transfer_text, zeros_text};
pub use latex::{latex, latex_with_rates, name as latex_name};
pub use matlab::matlab;
pub use modelica::{modelica, unique as modelica_identifier};
pub use python::python;
pub use text::{modes_text, rates_text, text};

/// An entry of a symbolic state space.
#[derive(Clone, PartialEq, Debug)]
pub enum Entry {
    /// A number.
    Number(f64),
    /// An expression: as plain text and as LaTeX.
    Text {
        /// Plain.
        text: String,
        /// In LaTeX.
        latex: String,
    },
}

/// What can stand in an exported matrix.
pub trait Cell {
    /// The value, unless it is an expression.
    fn number(&self) -> Option<f64>;
    /// An expression that reads back to the same value.
    fn exact(&self) -> String;
    /// In LaTeX.
    fn latex(&self) -> String;

    /// Rounded, for people.
    fn short(&self) -> String {
        self.number().map_or_else(|| self.exact(), short_number)
    }

    /// A number, or the text of an expression.
    fn json(&self) -> Value {
        match self.number().and_then(serde_json::Number::from_f64) {
            Some(number) => Value::Number(number),
            None => Value::String(self.exact()),
        }
    }
}

impl Cell for f64 {
    fn number(&self) -> Option<f64> {
        Some(*self)
    }

    fn exact(&self) -> String {
        exact_number(*self)
    }

    fn latex(&self) -> String {
        latex::number(*self)
    }
}

impl Cell for Entry {
    fn number(&self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Text { .. } => None,
        }
    }

    fn exact(&self) -> String {
        match self {
            Self::Number(value) => exact_number(*value),
            Self::Text { text, .. } => text.clone(),
        }
    }

    fn latex(&self) -> String {
        match self {
            Self::Number(value) => latex::number(*value),
            Self::Text { latex, .. } => latex.clone(),
        }
    }
}

impl From<f64> for Entry {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

/// The shortest text that reads back to the same number, without a useless `.0`.
fn exact_number(value: f64) -> String {
    let text = format!("{value:?}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// Six digits, an exponent only for the very large and the very small.
pub fn short_number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return exact_number(value);
    }
    let exponential = format!("{value:.5e}");
    let Some((mantissa, exponent)) = exponential.split_once('e') else { return exponential };
    let power: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&power) {
        let text = format!("{value:.*}", (5 - power).max(0) as usize);
        return trimmed(&text).to_owned();
    }
    format!("{}e{power}", trimmed(mantissa))
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

fn named_matrices<T>(system: &StateSpace<T>) -> [(&'static str, &Matrix<T>); 4] {
    [("A", &system.a), ("B", &system.b), ("C", &system.c), ("D", &system.d)]
}

/// The names of states, inputs and outputs with their units.
fn named_lists<T>(system: &StateSpace<T>) -> [(&'static str, Vec<(&str, &str)>); 3] {
    [
        ("states", system.states.iter().map(|state| (state.name.as_str(), state.unit.as_str())).collect()),
        ("inputs", system.inputs.iter().map(|signal| (signal.name.as_str(), signal.unit.as_str())).collect()),
        ("outputs", system.outputs.iter().map(|signal| (signal.name.as_str(), signal.unit.as_str())).collect()),
    ]
}

fn with_unit((name, unit): &(&str, &str)) -> String {
    if unit.is_empty() { (*name).to_owned() } else { format!("{name} ({unit})") }
}

/// `states`, `inputs`, `outputs` (names), `units` (of the same), `A`, `B`, `C`, `D`, `poles`, `zeros` as `[re, im]`.
pub fn json<T: Cell>(system: &StateSpace<T>, poles: &[Complex], zeros: &[Complex]) -> Map<String, Value> {
    let mut object = Map::new();
    let mut units = Map::new();
    for (key, list) in named_lists(system) {
        object.insert(key.to_owned(), list.iter().map(|(name, _)| Value::from(*name)).collect());
        units.insert(key.to_owned(), list.iter().map(|(_, unit)| Value::from(*unit)).collect());
    }
    object.insert("units".to_owned(), Value::Object(units));
    for (name, matrix) in named_matrices(system) {
        let rows = (0..matrix.rows()).map(|i| matrix.row(i).iter().map(Cell::json).collect::<Value>());
        object.insert(name.to_owned(), rows.collect());
    }
    for (key, values) in [("poles", poles), ("zeros", zeros)] {
        object.insert(key.to_owned(), roots_json(values));
    }
    object
}

/// Each as `[re, im]`.
pub fn roots_json(roots: &[Complex]) -> Value {
    roots.iter().map(|root| Value::from(vec![root.re, root.im])).collect()
}

/// `B_rate` and `D_rate`: the coefficients of derivatives of inputs.
pub fn rates_json<T: Cell>(rates: &Rates<T>) -> Map<String, Value> {
    let rows = |matrix: &Matrix<T>| -> Value {
        (0..matrix.rows()).map(|i| matrix.row(i).iter().map(Cell::json).collect::<Value>()).collect()
    };
    [("B_rate".to_owned(), rows(&rates.b)), ("D_rate".to_owned(), rows(&rates.d))].into_iter().collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use expect_test::expect;

    use super::*;
    use crate::{Signal, State};

    pub fn oscillator() -> StateSpace {
        let a = Matrix::from([[0.0, 1.0], [-1.0 / 3.0, -2e-7]]);
        let b = Matrix::from([[0.0], [2.5e6]]);
        let states = vec![State::new("mass.s", "m", "mass"), State::new("mass.v_rel", "m/s", "mass")];
        let (inputs, outputs) = (vec![Signal::new("force", "N")], vec![Signal::new("sensor.s", "m")]);
        StateSpace::new([a, b, Matrix::from([[1.0, 0.0]]), Matrix::from([[0.0]])], states, inputs, outputs).unwrap()
    }

    pub fn symbolic() -> StateSpace<Entry> {
        let mut system = oscillator().map(|&value| Entry::Number(value));
        system.a[(1, 0)] = Entry::Text { text: "-c/m".to_owned(), latex: r"-\frac{c}{m}".to_owned() };
        system
    }

    #[test]
    fn numbers_for_people_and_for_programs() {
        let short =
            [0.0, -0.0, 1.0, -2.5, 1.0 / 3.0, 123456.7, 1234567.0, 1e-4, 1.5e-5, 1e300, 99999.96].map(short_number);
        expect![[r#""0 0 1 -2.5 0.333333 123457 1.23457e6 0.0001 1.5e-5 1e300 100000""#]]
            .assert_eq(&format!("{:?}", short.join(" ")));
        for value in [0.1, 1.0 / 3.0, 1e300, -5e-324, 7.0] {
            assert_eq!(exact_number(value).parse::<f64>(), Ok(value));
        }
    }

    #[test]
    fn json_has_the_documented_keys() {
        let object = json(&symbolic(), &[Complex::new(-1.0, 2.0)], &[]);
        expect![[r#"{"states":["mass.s","mass.v_rel"],"inputs":["force"],"outputs":["sensor.s"],"units":{"states":["m","m/s"],"inputs":["N"],"outputs":["m"]},"A":[[0.0,1.0],["-c/m",-2e-7]],"B":[[0.0],[2500000.0]],"C":[[1.0,0.0]],"D":[[0.0]],"poles":[[-1.0,2.0]],"zeros":[]}"#]]
            .assert_eq(&Value::Object(object).to_string());
    }
}
