//! Expressions of variables, row by row: `a.v - b.v`, `abs(R.i)*2`, `T[1:5]`.
//!
//! Names are those of result files: `R1.p.v`, `x[1,2]`, `der(x)`, `'a name'.y`. `time` is the time. Units follow where they are
//! plain: a sum of equal units keeps the unit, products and quotients join their units, functions of angles and logarithms have none.

mod parse;
mod range;

use crate::{Trajectories, Trajectory};

pub use range::expanded;

/// An expression that was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    text: String,
    root: Node,
}

#[derive(Clone, PartialEq, Debug)]
enum Node {
    Number(f64),
    Name(String),
    Negated(Box<Node>),
    Binary(char, Box<[Node; 2]>),
    Call(Function, Vec<Node>),
}

/// A function of one or two numbers.
#[derive(Clone, Copy, Debug)]
struct Function {
    name: &'static str,
    unit: UnitRule,
    value: Value,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

#[derive(Clone, Copy, Debug)]
enum Value {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
}

/// What becomes of units.
#[derive(Clone, Copy, Debug)]
enum UnitRule {
    /// The result has the unit of the operands.
    Kept,
    /// The result has none.
    None,
}

const FUNCTIONS: [Function; 20] = {
    const fn one(name: &'static str, value: fn(f64) -> f64, unit: UnitRule) -> Function {
        Function { name, unit, value: Value::One(value) }
    }
    const fn two(name: &'static str, value: fn(f64, f64) -> f64, unit: UnitRule) -> Function {
        Function { name, unit, value: Value::Two(value) }
    }
    use UnitRule::{Kept, None};
    [
        one("abs", f64::abs, Kept),
        one("floor", f64::floor, Kept),
        one("ceil", f64::ceil, Kept),
        two("min", f64::min, Kept),
        two("max", f64::max, Kept),
        one("sqrt", f64::sqrt, None),
        one("exp", f64::exp, None),
        one("log", f64::ln, None),
        one("log10", f64::log10, None),
        one("sin", f64::sin, None),
        one("cos", f64::cos, None),
        one("tan", f64::tan, None),
        one("asin", f64::asin, None),
        one("acos", f64::acos, None),
        one("atan", f64::atan, None),
        one("sinh", f64::sinh, None),
        one("cosh", f64::cosh, None),
        one("tanh", f64::tanh, None),
        one("sign", |x| if x == 0.0 { 0.0 } else { x.signum() }, None),
        two("atan2", f64::atan2, None),
    ]
};

impl Expression {
    /// Reads an expression; the error says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        Ok(Self { text: text.to_owned(), root: parse::parse(text)? })
    }

    /// The variables that it uses.
    pub fn names(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.root.collect(&mut found);
        found
    }

    /// Its values in the rows of a result. The error is the name of a variable that is not there.
    pub fn evaluate(&self, result: &Trajectories) -> Result<Trajectory, String> {
        let series = self.root.evaluate(result)?;
        let mut trajectory = Trajectory::default();
        trajectory.column.name = self.text.clone();
        trajectory.column.unit = series.unit;
        trajectory.column.display_unit = series.display_unit;
        trajectory.values = series.values.unwrap_or_else(|number| vec![number; result.time.len()]);
        Ok(trajectory)
    }
}

/// Numbers with their unit.
struct Series {
    /// A number alone is the same in all rows.
    values: Result<Vec<f64>, f64>,
    unit: String,
    display_unit: String,
}

impl Node {
    fn collect<'a>(&'a self, found: &mut Vec<&'a str>) {
        match self {
            Self::Number(_) => {}
            Self::Name(name) => found.push(name),
            Self::Negated(inner) => inner.collect(found),
            Self::Binary(_, both) => both.iter().for_each(|node| node.collect(found)),
            Self::Call(_, operands) => operands.iter().for_each(|node| node.collect(found)),
        }
    }

    fn evaluate(&self, result: &Trajectories) -> Result<Series, String> {
        Ok(match self {
            Self::Number(number) => Series::number(*number),
            Self::Name(name) => match result.get(name) {
                Some(found) => Series {
                    values: Ok(found.values.clone()),
                    unit: found.column.unit.clone(),
                    display_unit: found.column.display_unit.clone(),
                },
                None if *name == result.time_name || name == "time" => {
                    Series { values: Ok(result.time.clone()), unit: "s".to_owned(), display_unit: String::new() }
                }
                None => return Err(name.clone()),
            },
            Self::Negated(inner) => {
                let inner = inner.evaluate(result)?;
                Series { display_unit: scaled_display(&inner), ..inner.map(|value| -value) }
            }
            Self::Binary(operator, both) => {
                let (left, right) = (both[0].evaluate(result)?, both[1].evaluate(result)?);
                left.combined(*operator, &right)
            }
            Self::Call(function, operands) => {
                let operands = operands.iter().map(|node| node.evaluate(result)).collect::<Result<Vec<_>, _>>()?;
                call(*function, operands)
            }
        })
    }
}

fn call(function: Function, operands: Vec<Series>) -> Series {
    let (unit, display_unit) = match (function.unit, operands.first()) {
        (UnitRule::Kept, Some(first)) if operands.iter().all(|operand| operand.is_alike(first)) => {
            (first.unit.clone(), scaled_display(first))
        }
        _ => (String::new(), String::new()),
    };
    let mut operands = operands.into_iter();
    let series = match (function.value, operands.next(), operands.next()) {
        (Value::One(value), Some(first), _) => first.map(value),
        (Value::Two(value), Some(first), Some(second)) => first.zip(&second, value),
        _ => Series::number(f64::NAN),
    };
    Series { unit, display_unit, ..series }
}

impl Series {
    fn number(number: f64) -> Self {
        Self { values: Err(number), unit: String::new(), display_unit: String::new() }
    }

    fn is_number(&self) -> bool {
        self.values.is_err()
    }

    /// Whether its values are of the same unit; a number is of any.
    fn is_alike(&self, other: &Series) -> bool {
        self.is_number() || other.is_number() || self.unit == other.unit
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let values = self.values.map(|values| values.into_iter().map(&f).collect()).map_err(f);
        Self { values, ..self }
    }

    fn zip(&self, other: &Series, f: impl Fn(f64, f64) -> f64) -> Self {
        let values = match (&self.values, &other.values) {
            (Err(left), Err(right)) => Err(f(*left, *right)),
            (Ok(left), Err(right)) => Ok(left.iter().map(|&left| f(left, *right)).collect()),
            (Err(left), Ok(right)) => Ok(right.iter().map(|&right| f(*left, right)).collect()),
            (Ok(left), Ok(right)) => Ok(left.iter().zip(right).map(|(&left, &right)| f(left, right)).collect()),
        };
        Self { values, unit: String::new(), display_unit: String::new() }
    }

    fn combined(&self, operator: char, right: &Series) -> Self {
        let series = self.zip(right, |a, b| match operator {
            '+' => a + b,
            '-' => a - b,
            '*' => a * b,
            '/' => a / b,
            _ => a.powf(b),
        });
        let (unit, display_unit) = self.unit_with(operator, right);
        Self { unit, display_unit, ..series }
    }

    fn unit_with(&self, operator: char, right: &Series) -> (String, String) {
        let kept = |of: &Series| (of.unit.clone(), scaled_display(of));
        let (left_unit, right_unit) = (self.unit.as_str(), right.unit.as_str());
        match operator {
            '+' | '-' if self.is_alike(right) => kept(if self.is_number() { right } else { self }),
            '*' if right_unit.is_empty() => kept(self),
            '*' if left_unit.is_empty() => kept(right),
            '*' if left_unit == right_unit && is_symbol(left_unit) => (format!("{left_unit}2"), String::new()),
            '*' => (format!("{}.{}", bracketed(left_unit), bracketed(right_unit)), String::new()),
            '/' if right_unit.is_empty() => kept(self),
            '/' if left_unit == right_unit => Default::default(),
            '/' => {
                let above = if left_unit.is_empty() { "1" } else { left_unit };
                let below = if is_symbol(right_unit) { right_unit.to_owned() } else { format!("({right_unit})") };
                (format!("{}/{below}", bracketed(above)), String::new())
            }
            '^' if is_symbol(left_unit) => match right.values {
                Err(exponent) if exponent.fract() == 0.0 && (2.0..10.0).contains(&exponent) => {
                    (format!("{left_unit}{exponent}"), String::new())
                }
                _ => Default::default(),
            },
            _ => Default::default(),
        }
    }
}

/// The displayUnit that stays right when values are added or multiplied: one without an offset.
fn scaled_display(of: &Series) -> String {
    match units::display(&of.unit, &of.display_unit) {
        (shown, conversion) if conversion.offset == 0.0 && shown != of.unit => shown.to_owned(),
        _ => String::new(),
    }
}

/// A unit of one symbol, such as `V`.
fn is_symbol(unit: &str) -> bool {
    !unit.is_empty() && unit.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// A quotient as a factor.
fn bracketed(unit: &str) -> String {
    if unit.contains('/') { format!("({unit})") } else { unit.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    fn result() -> Trajectories {
        let variable = |name: &str, unit: &str, display: &str, values: [f64; 2]| Trajectory {
            column: Column::new(name).unit(unit).display_unit(display),
            values: values.to_vec(),
        };
        Trajectories {
            time: vec![0.0, 2.0],
            time_name: "time".to_owned(),
            variables: vec![
                variable("a.v", "V", "", [3.0, 4.0]),
                variable("b.v", "V", "", [1.0, 1.5]),
                variable("R.i", "A", "", [2.0, -2.0]),
                variable("x[1,2]", "", "", [5.0, 6.0]),
                variable("der(x)", "", "", [7.0, 8.0]),
                variable("'a - b'.y", "", "", [9.0, 9.0]),
                variable("phi", "rad", "deg", [1.0, 2.0]),
                variable("T", "K", "degC", [300.0, 310.0]),
            ],
        }
    }

    fn said(text: &str) -> String {
        match Expression::new(text).and_then(|it| it.evaluate(&result()).map_err(|name| format!("no {name}"))) {
            Ok(found) => {
                let Column { unit, display_unit, .. } = &found.column;
                format!("{:?} {unit} {display_unit}", found.values).trim_end().to_owned()
            }
            Err(message) => message,
        }
    }

    #[test]
    fn values_and_units() {
        assert_eq!(said("a.v - b.v"), "[2.0, 2.5] V");
        assert_eq!(said("a.v-b.v*2"), "[1.0, 1.0] V");
        assert_eq!(said("a.v*R.i"), "[6.0, -8.0] V.A");
        assert_eq!(said("a.v*a.v/R.i"), "[4.5, -8.0] V2/A");
        assert_eq!(said("-2^2 + 0*time"), "[-4.0, -4.0] s");
        assert_eq!(said("2*3"), "[6.0, 6.0]");
        assert_eq!(said("max(abs(R.i), 1e0)"), "[2.0, 2.0] A");
        assert_eq!(said("x[1,2] + der(x)"), "[12.0, 14.0]");
        assert_eq!(said("'a - b'.y"), "[9.0, 9.0]");
        assert_eq!(said("2*phi"), "[2.0, 4.0] rad deg");
        // Differences of temperatures are not degrees Celsius.
        assert_eq!(said("T - 300"), "[0.0, 10.0] K");
        assert_eq!(said("(a.v)/(b.v)"), "[3.0, 2.6666666666666665]");
        assert_eq!(said("2^3^2 + 0*x[1,2]"), "[512.0, 512.0]");
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert_eq!(said("a.w + 1"), "no a.w");
        assert_eq!(said("a.v +"), "`a.v +` ends too early");
        assert_eq!(said("a.v ) 2"), "`a.v ) 2`: `)` does not belong here");
        assert_eq!(said("foo(2)"), "`foo(2)`: there is no function `foo`");
        assert_eq!(said("max(2)"), "`max(2)`: `max` has two arguments");
        assert_eq!(said("(a.v"), "`(a.v`: `)` is missing");
        assert!(said(&"(".repeat(100_000)).contains("nests too deep"));
        assert!(said(&"-".repeat(100_000)).contains("nests too deep"));
    }
}
