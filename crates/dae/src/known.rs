//! Operators and functions on scalars that are known (specification 3.7, 10.6.9). Whoever executes a function, these decide what
//! its operators mean; errors are plain texts.

use base::Decimal;

use crate::expr::{Builtin, CompareOp};
use crate::function::{ArithmeticOp, ArrayFunction};
use crate::scalar;
use crate::string_format::{Format, general, padded};
use crate::value::{Array, Kind, Value};

/// A value, or why there is none.
pub type Outcome<T> = Result<T, String>;

/// The longest String that is made.
const MOST_TEXT: usize = 1 << 24;

/// The type of a value in words.
pub fn kind<U>(value: &Value<U>) -> String {
    match value {
        Value::Real(_) | Value::Open(_, Kind::Real) => "Real".into(),
        Value::Integer(_) | Value::Open(_, Kind::Integer) => "Integer".into(),
        Value::Boolean(_) | Value::Open(_, Kind::Boolean) => "Boolean".into(),
        Value::String(_) | Value::Open(_, Kind::String) => "String".into(),
        Value::Enumeration(_) | Value::Open(_, Kind::Enumeration) => "enumeration".into(),
        Value::Array(array) => format!("array of size {:?}", array.sizes),
        Value::Record(_) => "record".into(),
        Value::Object(_) | Value::Open(_, Kind::Object) => "external object".into(),
        Value::Function { .. } => "function".into(),
        Value::Unset(_) => "a variable that has no value yet".into(),
    }
}

/// The value as a Real.
pub fn real_of<U: Clone>(value: &Value<U>) -> Outcome<f64> {
    value.as_real().ok_or_else(|| format!("a number is expected here, not {}", kind(value)))
}

/// The value as an Integer.
pub fn integer_of<U: Clone>(value: &Value<U>) -> Outcome<i64> {
    value.as_integer().ok_or_else(|| format!("an Integer is expected here, not {} {value}", kind(value)))
}

/// The value as a Boolean.
pub fn boolean_of<U: Clone>(value: &Value<U>) -> Outcome<bool> {
    value.as_boolean().ok_or_else(|| format!("a Boolean is expected here, not {}", kind(value)))
}

/// The value as a size.
pub fn size_of<U: Clone>(value: &Value<U>) -> Outcome<usize> {
    let size = integer_of(value)?;
    usize::try_from(size).map_err(|_| format!("the size {size} is negative"))
}

/// The value as an array.
pub fn array_of<U: Clone>(value: &Value<U>) -> Outcome<&Array<U>> {
    value.as_array().ok_or_else(|| format!("an array is expected here, not {}", kind(value)))
}

/// The largest Integer: variables and compiled code hold them as Reals, which are exact up to here. One bound holds everywhere,
/// so that it does not matter where something is computed.
pub const LARGEST_INTEGER: i64 = 9_007_199_254_740_991;

/// Whether an Integer is one that all parts of the program can hold.
pub fn is_exact(integer: i64) -> bool {
    integer.unsigned_abs() <= LARGEST_INTEGER as u64
}

/// The negative.
pub fn negate<U: Clone>(value: &Value<U>) -> Outcome<Value<U>> {
    match value {
        Value::Real(x) => Ok(Value::Real(-x)),
        Value::Integer(x) => x.checked_neg().map(Value::Integer).ok_or_else(|| "Integer overflow".into()),
        other => Err(format!("`-` is not defined for {}", kind(other))),
    }
}

/// The negation.
pub fn not<U: Clone>(value: &Value<U>) -> Outcome<Value<U>> {
    boolean_of(value).map(|value| Value::Boolean(!value))
}

/// The operator in Modelica.
pub fn symbol(op: ArithmeticOp) -> char {
    match op {
        ArithmeticOp::Add => '+',
        ArithmeticOp::Sub => '-',
        ArithmeticOp::Mul => '*',
        ArithmeticOp::Div => '/',
        ArithmeticOp::Pow => '^',
    }
}

/// An operator on two scalars.
pub fn arithmetic<U: Clone>(op: ArithmeticOp, a: &Value<U>, b: &Value<U>) -> Outcome<Value<U>> {
    if let (Value::Real(x), Value::Real(y)) = (a, b) {
        return real_arithmetic(op, *x, *y).map(Value::Real);
    }
    match (op, a, b) {
        (ArithmeticOp::Add, Value::String(x), Value::String(y)) => Ok(Value::string(format!("{x}{y}"))),
        (ArithmeticOp::Add | ArithmeticOp::Sub | ArithmeticOp::Mul, Value::Integer(x), Value::Integer(y)) => {
            let result = match op {
                ArithmeticOp::Add => x.checked_add(*y),
                ArithmeticOp::Sub => x.checked_sub(*y),
                _ => x.checked_mul(*y),
            };
            let result = result.filter(|&result| is_exact(result));
            result.map(Value::Integer).ok_or_else(|| {
                let symbol = symbol(op);
                format!("{x} {symbol} {y} is beyond 2^53 - 1, up to which Integers are exact")
            })
        }
        (_, Value::Real(_) | Value::Integer(_), Value::Real(_) | Value::Integer(_)) => {
            real_arithmetic(op, real_of(a)?, real_of(b)?).map(Value::Real)
        }
        _ => Err(format!("`{}` is not defined for {} and {}", symbol(op), kind(a), kind(b))),
    }
}

fn real_arithmetic(op: ArithmeticOp, x: f64, y: f64) -> Outcome<f64> {
    match op {
        ArithmeticOp::Add => Ok(x + y),
        ArithmeticOp::Sub => Ok(x - y),
        ArithmeticOp::Mul => Ok(x * y),
        ArithmeticOp::Div if y == 0.0 => Err(format!("division by zero: {}/{y}", Decimal(x))),
        ArithmeticOp::Div => Ok(x / y),
        ArithmeticOp::Pow => scalar::power(x, y)
            .or_else(|| scalar::power_overflow(x, y))
            .ok_or_else(|| format!("{}^{} is not defined", Decimal(x), Decimal(y))),
    }
}

/// The result of a comparison.
pub fn compare<U: Clone>(op: CompareOp, a: &Value<U>, b: &Value<U>) -> Outcome<Value<U>> {
    match a.order(b) {
        Some(order) => Ok(Value::Boolean(scalar::compare(op, order))),
        // Not a number: equal to nothing, neither less nor greater.
        None if a.as_real().is_some() && b.as_real().is_some() => Ok(Value::Boolean(op == CompareOp::NotEqual)),
        None => Err(format!("{} and {} cannot be compared", kind(a), kind(b))),
    }
}

/// A mathematical function of scalars.
pub fn builtin<U: Clone>(op: Builtin, arguments: &[Value<U>]) -> Outcome<Value<U>> {
    match (op, arguments) {
        // Outside of the simulator these mean what they are when everything is solved.
        (Builtin::Homotopy, [actual, _]) => Ok(actual.clone()),
        (Builtin::SemiLinear, [x, positive, negative]) => {
            let x = real_of(x)?;
            let slope = real_of(if x >= 0.0 { positive } else { negative })?;
            Ok(Value::Real(x * slope))
        }
        (_, [x]) => unary(op, x),
        (_, [x, y]) => binary(op, x, y),
        _ => Err(format!("{op:?} is not available in a function")),
    }
}

fn function_name(op: Builtin) -> String {
    format!("{op:?}").to_lowercase()
}

fn unary<U: Clone>(op: Builtin, x: &Value<U>) -> Outcome<Value<U>> {
    match (op, x) {
        (Builtin::Abs, Value::Integer(value)) => {
            value.checked_abs().map(Value::Integer).ok_or_else(|| "Integer overflow".into())
        }
        (Builtin::Sign, _) => Ok(Value::Integer(scalar::sign(real_of(x)?))),
        _ => {
            let argument = real_of(x)?;
            scalar::unary(op, argument)
                .or_else(|| scalar::overflow(op, argument))
                .map(Value::Real)
                .ok_or_else(|| format!("{}({}) is not defined", function_name(op), Decimal(argument)))
        }
    }
}

fn binary<U: Clone>(op: Builtin, x: &Value<U>, y: &Value<U>) -> Outcome<Value<U>> {
    match (op, x, y) {
        (Builtin::Min | Builtin::Max, _, _) => {
            let less = x.order(y).is_none_or(|order| order.is_lt());
            let chosen = if less == (op == Builtin::Min) { x } else { y };
            Ok(match (chosen, x, y) {
                (Value::Integer(value), Value::Real(_), _) | (Value::Integer(value), _, Value::Real(_)) => {
                    Value::Real(*value as f64)
                }
                _ => chosen.clone(),
            })
        }
        (_, Value::Integer(a), Value::Integer(b)) if scalar::is_quotient(op) => scalar::integer_quotient(op, *a, *b)
            .map(Value::Integer)
            .ok_or_else(|| format!("{}({a}, {b}) is not defined", function_name(op))),
        _ => {
            let (a, b) = (real_of(x)?, real_of(y)?);
            scalar::binary(op, a, b)
                .map(Value::Real)
                .ok_or_else(|| format!("{}({}, {}) is not defined", function_name(op), Decimal(a), Decimal(b)))
        }
    }
}

/// `start : step : stop` (10.4.3): the first element, the step and how many there are.
#[allow(missing_docs, reason = "the variants say what their fields are")]
pub enum Range {
    Integers { first: i64, step: i64, count: usize },
    Reals { first: f64, step: f64, count: usize },
}

impl Range {
    /// The range of three values.
    pub fn of<U: Clone>(start: &Value<U>, step: Option<&Value<U>>, stop: &Value<U>) -> Outcome<Self> {
        let is_real = |value: &Value<U>| matches!(value, Value::Real(_));
        if is_real(start) || is_real(stop) || step.is_some_and(is_real) {
            let (first, last) = (real_of(start)?, real_of(stop)?);
            let step = step.map_or(Ok(1.0), real_of)?;
            if step == 0.0 {
                return Err("the step of a range is zero".into());
            }
            // A last element that only rounding would lose belongs to it.
            let steps = ((last - first) / step * (1.0 + 4.0 * f64::EPSILON)).floor();
            let count = if steps < 0.0 { 0.0 } else { steps + 1.0 };
            return Ok(Range::Reals { first, step, count: count.min(1e18) as usize });
        }
        let (first, last) = (integer_of(start)?, integer_of(stop)?);
        let step = step.map_or(Ok(1), integer_of)?;
        let inside = if step > 0 { first <= last } else { first >= last };
        let span = i128::from(last).abs_diff(i128::from(first));
        let count = match step {
            0 => return Err("the step of a range is zero".into()),
            _ if !inside => 0,
            step => span / u128::from(step.unsigned_abs()) + 1,
        };
        Ok(Range::Integers { first, step, count: usize::try_from(count).unwrap_or(usize::MAX) })
    }

    /// How many values there are.
    pub fn count(&self) -> usize {
        match self {
            Range::Integers { count, .. } | Range::Reals { count, .. } => *count,
        }
    }

    /// The k-th element, of the type of `start`.
    pub fn element<U>(&self, k: usize, start: &Value<U>) -> Value<U> {
        match *self {
            Range::Reals { first, step, .. } => Value::Real(first + k as f64 * step),
            Range::Integers { first, step, .. } => {
                let value = first + k as i64 * step;
                match start {
                    Value::Enumeration(_) => Value::Enumeration(value),
                    Value::Boolean(_) => Value::Boolean(value != 0),
                    _ => Value::Integer(value),
                }
            }
        }
    }
}

/// `Integer(…)`, `E(…)`, `String(…)` and `+` of Strings.
pub fn convert<U: Clone>(function: ArrayFunction, arguments: &[Value<U>]) -> Outcome<Value<U>> {
    let argument = |k: usize| arguments.get(k).ok_or_else(|| "an argument is missing".to_owned());
    match function {
        ArrayFunction::Integer => match argument(0)? {
            Value::Real(x) if x.abs() <= LARGEST_INTEGER as f64 => Ok(Value::Integer(x.floor() as i64)),
            Value::Real(x) => Err(format!("the Integer {x} is beyond 2^53 - 1, up to which Integers are exact")),
            other => integer_of(other).map(Value::Integer),
        },
        ArrayFunction::Enumeration => {
            let ordinal = integer_of(argument(0)?)?;
            match arguments.get(1).map(integer_of).transpose()? {
                Some(literals) if !(1..=literals).contains(&ordinal) => {
                    Err(format!("the enumeration has {literals} literals, and no literal {ordinal}"))
                }
                _ => Ok(Value::Enumeration(ordinal)),
            }
        }
        ArrayFunction::StringReal => {
            let digits = optional_integer(arguments, 1, 6)?.max(1) as usize;
            let text = general(real_of(argument(0)?)?, digits, false);
            padded_text(text, arguments, 2)
        }
        ArrayFunction::StringInteger => padded_text(integer_of(argument(0)?)?.to_string(), arguments, 1),
        ArrayFunction::StringBoolean => padded_text(boolean_of(argument(0)?)?.to_string(), arguments, 1),
        ArrayFunction::StringEnumeration => {
            let ordinal = integer_of(argument(0)?)?;
            let name = usize::try_from(ordinal + 2).ok().and_then(|k| arguments.get(k)).and_then(Value::as_str);
            let name = name.ok_or_else(|| format!("there is no literal {ordinal} of the enumeration"))?;
            padded_text(name.to_owned(), arguments, 1)
        }
        ArrayFunction::StringFormat => {
            let text = argument(1)?.as_str().ok_or("a format is a String")?;
            let format = Format::parse(text).ok_or_else(|| format!("`{text}` is no format"))?;
            Ok(Value::string(match argument(0)? {
                Value::Real(_) if format.is_character() => return Err(format!("`{text}` is no format of a Real")),
                Value::Real(value) => format.real(*value),
                other => format.integer(integer_of(other)?),
            }))
        }
        ArrayFunction::Concat => {
            let mut text = String::new();
            for part in arguments {
                let part = part.as_str().ok_or_else(|| format!("a String is expected here, not {}", kind(part)))?;
                if text.len() + part.len() > MOST_TEXT {
                    return Err(format!("a String of more than {MOST_TEXT} bytes is not supported"));
                }
                text.push_str(part);
            }
            Ok(Value::string(text))
        }
        _ => Err(format!("{function:?} is no function of scalars")),
    }
}

fn optional_integer<U: Clone>(arguments: &[Value<U>], position: usize, default: i64) -> Outcome<i64> {
    arguments.get(position).map_or(Ok(default), integer_of)
}

fn padded_text<U: Clone>(text: String, arguments: &[Value<U>], length_position: usize) -> Outcome<Value<U>> {
    let length = optional_integer(arguments, length_position, 0)?;
    let left = arguments.get(length_position + 1).map_or(Ok(true), boolean_of)?;
    Ok(Value::string(padded(text, length, left)))
}
