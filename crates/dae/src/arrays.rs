//! Operators and functions on whole values: arithmetic of scalars, vectors and matrices (specification 10.6), array
//! functions (10.3), selection by subscripts (10.5), `String(…)`.
//!
//! Errors are plain texts; `evaluate` adds where they happened.

use std::borrow::Cow;

use crate::expr::{Builtin, CompareOp};
use crate::function::{ArithmeticOp, ArrayFunction, ReductionOp};
use crate::scalar;
use crate::string_format::{Format, general, padded};
use crate::value::{Array, Value};

pub type Outcome<T = Value> = Result<T, String>;

/// More elements than any table or loop needs: a size computed wrongly shall end in a message, not fill the memory.
pub const MAX_ELEMENTS: usize = 50_000_000;

/// The number of elements of sizes, if it is reasonable.
pub fn element_count(sizes: &[usize]) -> Outcome<usize> {
    sizes
        .iter()
        .try_fold(1usize, |product, &size| product.checked_mul(size))
        .filter(|&count| count <= MAX_ELEMENTS)
        .ok_or_else(|| format!("an array of size {sizes:?} is too large"))
}

pub fn kind(value: &Value) -> String {
    match value {
        Value::Real(_) => "Real".into(),
        Value::Integer(_) => "Integer".into(),
        Value::Boolean(_) => "Boolean".into(),
        Value::String(_) => "String".into(),
        Value::Enumeration(_) => "enumeration".into(),
        Value::Array(array) => format!("array of size {:?}", array.sizes),
        Value::Record(_) => "record".into(),
        Value::Object(_) => "external object".into(),
        Value::Function { .. } => "function".into(),
    }
}

pub fn real_of(value: &Value) -> Outcome<f64> {
    value.as_real().ok_or_else(|| format!("a number is expected here, not {}", kind(value)))
}

pub fn integer_of(value: &Value) -> Outcome<i64> {
    value.as_integer().ok_or_else(|| format!("an Integer is expected here, not {} {value}", kind(value)))
}

pub fn boolean_of(value: &Value) -> Outcome<bool> {
    value.as_boolean().ok_or_else(|| format!("a Boolean is expected here, not {}", kind(value)))
}

fn size_of(value: &Value) -> Outcome<usize> {
    let size = integer_of(value)?;
    usize::try_from(size).map_err(|_| format!("the size {size} is negative"))
}

fn array_of(value: &Value) -> Outcome<&Array> {
    value.as_array().ok_or_else(|| format!("an array is expected here, not {}", kind(value)))
}

pub fn negate(value: Value) -> Outcome {
    match value {
        Value::Real(x) => Ok(Value::Real(-x)),
        Value::Integer(x) => x.checked_neg().map(Value::Integer).ok_or_else(|| "Integer overflow".into()),
        Value::Array(array) => {
            let elements = array.elements.into_iter().map(negate).collect::<Result<_, _>>()?;
            Ok(Value::array(array.sizes, elements))
        }
        other => Err(format!("`-` is not defined for {}", kind(&other))),
    }
}

pub fn not(value: Value) -> Outcome {
    match value {
        Value::Array(array) => {
            let elements = array.elements.into_iter().map(not).collect::<Result<_, _>>()?;
            Ok(Value::array(array.sizes, elements))
        }
        scalar => boolean_of(&scalar).map(|value| Value::Boolean(!value)),
    }
}

fn symbol(op: ArithmeticOp) -> char {
    match op {
        ArithmeticOp::Add => '+',
        ArithmeticOp::Sub => '-',
        ArithmeticOp::Mul => '*',
        ArithmeticOp::Div => '/',
        ArithmeticOp::Pow => '^',
    }
}

/// An operator on two scalars.
pub fn scalar_arithmetic(op: ArithmeticOp, a: &Value, b: &Value) -> Outcome {
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
            result.map(Value::Integer).ok_or_else(|| format!("Integer overflow in {x} {} {y}", symbol(op)))
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
        ArithmeticOp::Div if y == 0.0 => Err(format!("division by zero: {x}/{y}")),
        ArithmeticOp::Div => Ok(x / y),
        ArithmeticOp::Pow => scalar::power(x, y).ok_or_else(|| format!("{x}^{y} is not defined")),
    }
}

/// Applies `f` to the elements of two values; a scalar goes with every element.
pub fn elementwise(a: Value, b: Value, f: &mut impl FnMut(&Value, &Value) -> Outcome) -> Outcome {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            if a.sizes != b.sizes {
                return Err(format!("sizes do not agree: {:?} and {:?}", a.sizes, b.sizes));
            }
            let elements = a.elements.iter().zip(&b.elements).map(|(x, y)| f(x, y)).collect::<Result<_, _>>()?;
            Ok(Value::array(a.sizes, elements))
        }
        (Value::Array(a), b) => {
            let elements = a.elements.iter().map(|x| f(x, &b)).collect::<Result<_, _>>()?;
            Ok(Value::array(a.sizes, elements))
        }
        (a, Value::Array(b)) => {
            let elements = b.elements.iter().map(|y| f(&a, y)).collect::<Result<_, _>>()?;
            Ok(Value::array(b.sizes, elements))
        }
        (a, b) => f(&a, &b),
    }
}

/// `+ - * / ^` by the rules for scalars, vectors and matrices.
pub fn arithmetic(op: ArithmeticOp, a: Value, b: Value) -> Outcome {
    match (op, &a, &b) {
        (ArithmeticOp::Mul, Value::Array(x), Value::Array(y)) => product(x, y),
        (ArithmeticOp::Pow, Value::Array(x), _) => matrix_power(x, integer_of(&b)?),
        (ArithmeticOp::Div | ArithmeticOp::Pow, _, Value::Array(_)) => {
            Err(format!("`{}` needs a scalar on its right, not an {}", symbol(op), kind(&b)))
        }
        (ArithmeticOp::Add | ArithmeticOp::Sub, Value::Array(_), Value::Array(_))
        | (ArithmeticOp::Mul | ArithmeticOp::Div, _, _) => elementwise(a, b, &mut |x, y| scalar_arithmetic(op, x, y)),
        (_, Value::Array(_), _) | (_, _, Value::Array(_)) => Err(format!(
            "`{}` is not defined for {} and {}; `.{}` works element by element",
            symbol(op),
            kind(&a),
            kind(&b),
            symbol(op)
        )),
        _ => scalar_arithmetic(op, &a, &b),
    }
}

fn dot<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Outcome {
    let mut sum = Value::Integer(0);
    let mut first = true;
    for (x, y) in pairs {
        let term = scalar_arithmetic(ArithmeticOp::Mul, x, y)?;
        sum = if first { term } else { scalar_arithmetic(ArithmeticOp::Add, &sum, &term)? };
        first = false;
    }
    Ok(if first { Value::Real(0.0) } else { sum })
}

fn product(a: &Array, b: &Array) -> Outcome {
    let mismatch = || format!("sizes do not agree in the product of {:?} and {:?}", a.sizes, b.sizes);
    match (a.sizes.as_slice(), b.sizes.as_slice()) {
        (&[n], &[m]) if n == m => dot(a.elements.iter().zip(&b.elements)),
        (&[rows, n], &[m]) if n == m => {
            let elements = (0..rows)
                .map(|row| dot(a.elements[row * n..(row + 1) * n].iter().zip(&b.elements)))
                .collect::<Result<_, _>>()?;
            Ok(Value::array(vec![rows], elements))
        }
        (&[n], &[m, columns]) if n == m => {
            let elements = (0..columns)
                .map(|column| dot(a.elements.iter().zip(b.elements.iter().skip(column).step_by(columns))))
                .collect::<Result<_, _>>()?;
            Ok(Value::array(vec![columns], elements))
        }
        (&[rows, n], &[m, columns]) if n == m => {
            let mut elements = Vec::with_capacity(element_count(&[rows, columns])?);
            for row in 0..rows {
                for column in 0..columns {
                    let left = a.elements[row * n..(row + 1) * n].iter();
                    elements.push(dot(left.zip(b.elements.iter().skip(column).step_by(columns)))?);
                }
            }
            Ok(Value::array(vec![rows, columns], elements))
        }
        _ => Err(mismatch()),
    }
}

fn matrix_power(a: &Array, exponent: i64) -> Outcome {
    let &[n, m] = a.sizes.as_slice() else {
        return Err(format!("`^` needs a square matrix, not an array of size {:?}", a.sizes));
    };
    if n != m || exponent < 0 {
        return Err(format!(
            "`^` needs a square matrix and an exponent that is not negative, not {n}x{m} ^ {exponent}"
        ));
    }
    let mut result = identity(n)?;
    let mut square = a.clone();
    let mut rest = exponent;
    while rest > 0 {
        if rest % 2 == 1 {
            result = array_of(&product(&result, &square)?)?.clone();
        }
        rest /= 2;
        if rest > 0 {
            square = array_of(&product(&square, &square)?)?.clone();
        }
    }
    Ok(Value::Array(result))
}

fn identity(n: usize) -> Outcome<Array> {
    let count = element_count(&[n, n])?;
    let elements = (0..count).map(|k| Value::Integer(i64::from(k / n == k % n))).collect();
    Ok(Array { sizes: vec![n, n], elements })
}

pub fn compare(op: CompareOp, a: &Value, b: &Value) -> Outcome {
    match a.order(b) {
        Some(order) => Ok(Value::Boolean(scalar::compare(op, order))),
        // Not a number: equal to nothing, neither less nor greater.
        None if a.as_real().is_some() && b.as_real().is_some() => Ok(Value::Boolean(op == CompareOp::NotEqual)),
        None => Err(format!("{} and {} cannot be compared", kind(a), kind(b))),
    }
}

/// A mathematical function on scalars, or on the elements of arrays.
pub fn builtin(op: Builtin, mut arguments: Vec<Value>) -> Outcome {
    match op {
        // Outside of the simulator these mean what they are when everything is solved.
        Builtin::Homotopy if arguments.len() == 2 => Ok(arguments.swap_remove(0)),
        Builtin::SemiLinear if arguments.len() == 3 => {
            let x = real_of(&arguments[0])?;
            let slope = real_of(&arguments[if x >= 0.0 { 1 } else { 2 }])?;
            Ok(Value::Real(x * slope))
        }
        _ => match (arguments.pop(), arguments.pop(), arguments.pop()) {
            (Some(Value::Array(array)), None, None) => {
                let elements = array.elements.iter().map(|x| unary(op, x)).collect::<Result<_, _>>()?;
                Ok(Value::array(array.sizes, elements))
            }
            (Some(x), None, None) => unary(op, &x),
            (Some(y), Some(x), None) => elementwise(x, y, &mut |x, y| binary(op, x, y)),
            _ => Err(format!("{op:?} is not available in a function")),
        },
    }
}

fn function_name(op: Builtin) -> String {
    format!("{op:?}").to_lowercase()
}

fn unary(op: Builtin, x: &Value) -> Outcome {
    match (op, x) {
        (Builtin::Abs, Value::Integer(value)) => {
            value.checked_abs().map(Value::Integer).ok_or_else(|| "Integer overflow".into())
        }
        (Builtin::Sign, _) => Ok(Value::Integer(scalar::sign(real_of(x)?))),
        _ => {
            let argument = real_of(x)?;
            scalar::unary(op, argument)
                .map(Value::Real)
                .ok_or_else(|| format!("{}({argument}) is not defined", function_name(op)))
        }
    }
}

fn binary(op: Builtin, x: &Value, y: &Value) -> Outcome {
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
                .ok_or_else(|| format!("{}({a}, {b}) is not defined", function_name(op)))
        }
    }
}

/// `start : step : stop` (10.4.3).
pub fn range(start: &Value, step: Option<&Value>, stop: &Value) -> Outcome {
    if matches!(start, Value::Real(_)) || matches!(stop, Value::Real(_)) || matches!(step, Some(Value::Real(_))) {
        let (first, last) = (real_of(start)?, real_of(stop)?);
        let step = step.map_or(Ok(1.0), real_of)?;
        if step == 0.0 {
            return Err("the step of a range is zero".into());
        }
        // A last element that only rounding would lose belongs to it.
        let steps = ((last - first) / step * (1.0 + 4.0 * f64::EPSILON)).floor();
        let count = if steps < 0.0 { 0.0 } else { steps + 1.0 };
        element_count(&[count.min(1e18) as usize])?;
        return Ok(Value::reals((0..count as usize).map(|k| first + k as f64 * step)));
    }
    let (first, last) = (integer_of(start)?, integer_of(stop)?);
    let step = step.map_or(Ok(1), integer_of)?;
    let count = match step {
        0 => return Err("the step of a range is zero".into()),
        _ => (i128::from(last) - i128::from(first)).div_euclid(i128::from(step)),
    };
    let inside = if step > 0 { first <= last } else { first >= last };
    // div_euclid rounds away from zero for a negative step that does not divide.
    let count = match step {
        _ if !inside => 0,
        step if step < 0 => (i128::from(first) - i128::from(last)) / -i128::from(step) + 1,
        _ => count + 1,
    };
    element_count(&[usize::try_from(count).unwrap_or(usize::MAX)])?;
    let wrap = |value: i64| match start {
        Value::Enumeration(_) => Value::Enumeration(value),
        Value::Boolean(_) => Value::Boolean(value != 0),
        _ => Value::Integer(value),
    };
    let elements: Vec<Value> = (0..count as i64).map(|k| wrap(first + k * step)).collect();
    Ok(Value::array(vec![elements.len()], elements))
}

/// One subscript after evaluation; positions from 0.
#[derive(Clone, PartialEq, Debug)]
pub enum Selection {
    All,
    One(usize),
    Many(Vec<usize>),
}

/// The positions that subscripts select, and the sizes of what they select.
pub fn positions(sizes: &[usize], selections: &[Selection]) -> Outcome<(Vec<usize>, Vec<usize>)> {
    if selections.len() > sizes.len() {
        return Err(format!("{} subscripts for an array of {} dimensions", selections.len(), sizes.len()));
    }
    let mut found = vec![0];
    let mut selected_sizes = Vec::new();
    for (dimension, &size) in sizes.iter().enumerate() {
        let selection = selections.get(dimension).unwrap_or(&Selection::All);
        let check = |index: usize| match index < size {
            true => Ok(index),
            false => Err(format!("index {} is outside of 1:{size} (dimension {})", index + 1, dimension + 1)),
        };
        match selection {
            Selection::One(index) => {
                let index = check(*index)?;
                found.iter_mut().for_each(|position| *position = *position * size + index);
            }
            Selection::All => {
                selected_sizes.push(size);
                element_count(&[found.len(), size])?;
                found = found.iter().flat_map(|position| (0..size).map(move |k| position * size + k)).collect();
            }
            Selection::Many(indices) => {
                selected_sizes.push(indices.len());
                element_count(&[found.len(), indices.len()])?;
                let mut next = Vec::with_capacity(found.len() * indices.len());
                for position in &found {
                    for &index in indices {
                        next.push(position * size + check(index)?);
                    }
                }
                found = next;
            }
        }
    }
    Ok((found, selected_sizes))
}

/// `value[selections]`.
pub fn select<'a>(value: &'a Value, selections: &[Selection]) -> Outcome<Cow<'a, Value>> {
    let array = array_of(value)?;
    // The common case, without any allocation.
    if selections.len() == array.sizes.len() {
        let mut position = Some(0);
        for (dimension, (selection, &size)) in selections.iter().zip(&array.sizes).enumerate() {
            match selection {
                Selection::One(index) if *index >= size => {
                    return Err(format!("index {} is outside of 1:{size} (dimension {})", index + 1, dimension + 1));
                }
                Selection::One(index) => position = position.map(|position| position * size + index),
                _ => position = None,
            }
        }
        if let Some(element) = position.and_then(|position| array.elements.get(position)) {
            return Ok(Cow::Borrowed(element));
        }
    }
    let (found, sizes) = positions(&array.sizes, selections)?;
    let elements: Option<Vec<Value>> = found.iter().map(|&position| array.elements.get(position).cloned()).collect();
    let mut elements = elements.ok_or("an array holds fewer elements than its sizes say")?;
    match sizes.is_empty() {
        true => elements.pop().map(Cow::Owned).ok_or_else(|| "nothing is selected".into()),
        false => Ok(Cow::Owned(Value::array(sizes, elements))),
    }
}

/// The field of a record, or of every element of an array of records.
pub fn field(value: &Value, index: u32) -> Outcome<Cow<'_, Value>> {
    match value {
        Value::Record(fields) => {
            fields.get(index as usize).map(Cow::Borrowed).ok_or_else(|| "there is no such field in the record".into())
        }
        Value::Array(array) => {
            let parts: Vec<Value> = array
                .elements
                .iter()
                .map(|element| field(element, index).map(Cow::into_owned))
                .collect::<Result<_, _>>()?;
            let joined = Value::from_parts(parts).ok_or("the field has different sizes in the elements of an array")?;
            let inner = joined.sizes().get(1..).unwrap_or(&[]).to_vec();
            let Value::Array(joined) = joined else { return Err("a field of an array of records is missing".into()) };
            let sizes = array.sizes.iter().copied().chain(inner).collect();
            Ok(Cow::Owned(Value::array(sizes, joined.elements)))
        }
        other => Err(format!("{} has no fields", kind(other))),
    }
}

/// The value of a reduction over values that come one by one.
pub fn reduce(op: ReductionOp, values: impl Iterator<Item = Value>) -> Outcome {
    let mut result: Option<Value> = None;
    for value in values {
        result = Some(match (result, op) {
            (None, _) => value,
            (Some(left), ReductionOp::Sum) => {
                elementwise(left, value, &mut |x, y| scalar_arithmetic(ArithmeticOp::Add, x, y))?
            }
            (Some(left), ReductionOp::Product) => arithmetic(ArithmeticOp::Mul, left, value)?,
            (Some(left), ReductionOp::Min) => elementwise(left, value, &mut |x, y| binary(Builtin::Min, x, y))?,
            (Some(left), ReductionOp::Max) => elementwise(left, value, &mut |x, y| binary(Builtin::Max, x, y))?,
        });
    }
    Ok(result.unwrap_or(match op {
        ReductionOp::Sum => Value::Integer(0),
        ReductionOp::Product => Value::Integer(1),
        ReductionOp::Min => Value::Real(1.0e60),
        ReductionOp::Max => Value::Real(-1.0e60),
    }))
}

/// A function on whole values.
pub fn whole(function: ArrayFunction, arguments: Vec<Value>) -> Outcome {
    let count = arguments.len();
    let argument = |k: usize| arguments.get(k).ok_or_else(|| format!("{function:?} lacks argument {}", k + 1));
    match function {
        ArrayFunction::Size => {
            let sizes = argument(0)?.sizes();
            match arguments.get(1) {
                None => Ok(Value::integers(sizes.iter().map(|&size| size as i64))),
                Some(dimension) => {
                    let dimension = integer_of(dimension)?;
                    usize::try_from(dimension - 1)
                        .ok()
                        .and_then(|k| sizes.get(k))
                        .map(|&size| Value::Integer(size as i64))
                        .ok_or_else(|| format!("an array of {} dimensions has no dimension {dimension}", sizes.len()))
                }
            }
        }
        ArrayFunction::Ndims => Ok(Value::Integer(argument(0)?.sizes().len() as i64)),
        ArrayFunction::Scalar => match argument(0)? {
            Value::Array(array) => match array.elements.as_slice() {
                [element] => Ok(element.clone()),
                _ => Err(format!("scalar() needs exactly one element, not an array of size {:?}", array.sizes)),
            },
            scalar => Ok(scalar.clone()),
        },
        ArrayFunction::Vector => vector(argument(0)?),
        ArrayFunction::Matrix => matrix(argument(0)?),
        ArrayFunction::Identity => identity(size_of(argument(0)?)?).map(Value::Array),
        ArrayFunction::Diagonal => diagonal(array_of(argument(0)?)?),
        ArrayFunction::Zeros => filled(Value::Integer(0), &arguments),
        ArrayFunction::Ones => filled(Value::Integer(1), &arguments),
        ArrayFunction::Fill => filled(argument(0)?.clone(), &arguments[1..]),
        ArrayFunction::Linspace => {
            let (first, last) = (real_of(argument(0)?)?, real_of(argument(1)?)?);
            let count = size_of(argument(2)?)?;
            if count < 2 {
                return Err(format!("linspace needs at least 2 points, not {count}"));
            }
            element_count(&[count])?;
            let width = (count - 1) as f64;
            Ok(Value::reals((0..count).map(|k| match k {
                k if k + 1 == count => last,
                k => first + (last - first) * k as f64 / width,
            })))
        }
        ArrayFunction::Min | ArrayFunction::Max if count == 2 => {
            let op = if function == ArrayFunction::Min { Builtin::Min } else { Builtin::Max };
            binary(op, argument(0)?, argument(1)?)
        }
        ArrayFunction::Min => reduce_value(ReductionOp::Min, argument(0)?),
        ArrayFunction::Max => reduce_value(ReductionOp::Max, argument(0)?),
        ArrayFunction::Sum => reduce_value(ReductionOp::Sum, argument(0)?),
        ArrayFunction::Product => reduce_value(ReductionOp::Product, argument(0)?),
        ArrayFunction::Transpose => transpose(array_of(argument(0)?)?),
        ArrayFunction::OuterProduct => {
            let (a, b) = (array_of(argument(0)?)?, array_of(argument(1)?)?);
            let mut elements = Vec::with_capacity(element_count(&[a.elements.len(), b.elements.len()])?);
            for x in &a.elements {
                for y in &b.elements {
                    elements.push(scalar_arithmetic(ArithmeticOp::Mul, x, y)?);
                }
            }
            Ok(Value::array(vec![a.elements.len(), b.elements.len()], elements))
        }
        ArrayFunction::Symmetric => {
            let a = array_of(argument(0)?)?;
            let n = square(a)?;
            let elements = (0..n * n).map(|k| (k / n, k % n)).map(|(i, j)| a.elements[i.min(j) * n + i.max(j)].clone());
            Ok(Value::array(vec![n, n], elements.collect()))
        }
        ArrayFunction::Cross => {
            let (x, y) = (three(argument(0)?)?, three(argument(1)?)?);
            let minor = |i: usize, j: usize| {
                let left = scalar_arithmetic(ArithmeticOp::Mul, &x[i], &y[j])?;
                let right = scalar_arithmetic(ArithmeticOp::Mul, &x[j], &y[i])?;
                scalar_arithmetic(ArithmeticOp::Sub, &left, &right)
            };
            Ok(Value::array(vec![3], vec![minor(1, 2)?, minor(2, 0)?, minor(0, 1)?]))
        }
        ArrayFunction::Skew => {
            let x = three(argument(0)?)?;
            let zero = Value::Integer(0);
            let minus = |k: usize| negate(x[k].clone());
            let mut array = Array {
                sizes: vec![3, 3],
                elements: vec![
                    zero.clone(),
                    minus(2)?,
                    x[1].clone(),
                    x[2].clone(),
                    zero.clone(),
                    minus(0)?,
                    minus(1)?,
                    x[0].clone(),
                    zero,
                ],
            };
            array.unify();
            Ok(Value::Array(array))
        }
        ArrayFunction::Cat => cat(size_of(argument(0)?)?, &arguments[1..]),
        ArrayFunction::Promote => promote(argument(0)?.clone(), size_of(argument(1)?)?),
        ArrayFunction::Integer => to_integer(argument(0)?),
        ArrayFunction::Enumeration => integer_of(argument(0)?).map(Value::Enumeration),
        ArrayFunction::StringReal => {
            let digits = optional_integer(&arguments, 1, 6)?.max(1) as usize;
            let text = general(real_of(argument(0)?)?, digits, false);
            padded_text(text, &arguments, 2)
        }
        ArrayFunction::StringInteger => padded_text(integer_of(argument(0)?)?.to_string(), &arguments, 1),
        ArrayFunction::StringBoolean => padded_text(boolean_of(argument(0)?)?.to_string(), &arguments, 1),
        ArrayFunction::StringEnumeration => {
            let ordinal = integer_of(argument(0)?)?;
            let name = usize::try_from(ordinal + 2).ok().and_then(|k| arguments.get(k)).and_then(Value::as_str);
            let name = name.ok_or_else(|| format!("there is no literal {ordinal} of the enumeration"))?;
            padded_text(name.to_owned(), &arguments, 1)
        }
        ArrayFunction::StringFormat => {
            let text = argument(1)?.as_str().ok_or("a format is a String")?;
            let format = Format::parse(text).ok_or_else(|| format!("`{text}` is no format"))?;
            Ok(Value::string(match argument(0)? {
                Value::Real(value) => format.real(*value),
                Value::String(text) => format.text(text),
                other => format.integer(integer_of(other)?),
            }))
        }
        ArrayFunction::Concat => {
            let mut text = String::new();
            for part in &arguments {
                text.push_str(part.as_str().ok_or_else(|| format!("a String is expected here, not {}", kind(part)))?);
            }
            Ok(Value::string(text))
        }
    }
}

fn optional_integer(arguments: &[Value], position: usize, default: i64) -> Outcome<i64> {
    arguments.get(position).map_or(Ok(default), integer_of)
}

fn padded_text(text: String, arguments: &[Value], length_position: usize) -> Outcome {
    let length = optional_integer(arguments, length_position, 0)?;
    let left = arguments.get(length_position + 1).map_or(Ok(true), boolean_of)?;
    Ok(Value::string(padded(text, length, left)))
}

fn to_integer(value: &Value) -> Outcome {
    match value {
        Value::Real(x) if x.abs() < 9.2e18 => Ok(Value::Integer(x.floor() as i64)),
        Value::Array(array) => {
            let elements = array.elements.iter().map(to_integer).collect::<Result<_, _>>()?;
            Ok(Value::array(array.sizes.clone(), elements))
        }
        other => integer_of(other).map(Value::Integer),
    }
}

fn reduce_value(op: ReductionOp, value: &Value) -> Outcome {
    match value {
        Value::Array(array) => reduce(op, array.elements.iter().cloned()),
        scalar => Ok(scalar.clone()),
    }
}

fn vector(value: &Value) -> Outcome {
    match value {
        Value::Array(array) if array.sizes.iter().filter(|&&size| size > 1).count() > 1 => {
            Err(format!("vector() needs at most one size above 1, not {:?}", array.sizes))
        }
        Value::Array(array) => Ok(Value::array(vec![array.elements.len()], array.elements.clone())),
        scalar => Ok(Value::array(vec![1], vec![scalar.clone()])),
    }
}

fn matrix(value: &Value) -> Outcome {
    match value {
        Value::Array(array) if array.sizes.len() >= 2 => {
            if array.sizes[2..].iter().any(|&size| size != 1) {
                return Err(format!("matrix() needs size 1 behind the second dimension, not {:?}", array.sizes));
            }
            Ok(Value::array(array.sizes[..2].to_vec(), array.elements.clone()))
        }
        other => promote(other.clone(), 2),
    }
}

fn promote(value: Value, dimensions: usize) -> Outcome {
    let (mut sizes, elements) = match value {
        Value::Array(array) => (array.sizes, array.elements),
        scalar => (Vec::new(), vec![scalar]),
    };
    if dimensions > 64 || sizes.len() > dimensions {
        return Err(format!("an array of size {sizes:?} cannot be promoted to {dimensions} dimensions"));
    }
    sizes.resize(dimensions, 1);
    Ok(Value::array(sizes, elements))
}

fn diagonal(v: &Array) -> Outcome {
    let n = v.elements.len();
    let count = element_count(&[n, n])?;
    let mut array = Array { sizes: vec![n, n], elements: vec![Value::Integer(0); count] };
    for (k, element) in v.elements.iter().enumerate() {
        array.elements[k * n + k] = element.clone();
    }
    array.unify();
    Ok(Value::Array(array))
}

fn filled(value: Value, sizes: &[Value]) -> Outcome {
    let mut sizes = sizes.iter().map(size_of).collect::<Result<Vec<_>, _>>()?;
    let count = element_count(&sizes)?;
    if let Value::Array(inner) = value {
        element_count(&[count, inner.elements.len()])?;
        sizes.extend(&inner.sizes);
        let elements = (0..count).flat_map(|_| inner.elements.iter().cloned()).collect();
        return Ok(Value::array(sizes, elements));
    }
    if sizes.is_empty() { Ok(value) } else { Ok(Value::array(sizes, vec![value; count])) }
}

fn transpose(a: &Array) -> Outcome {
    let [rows, columns, rest @ ..] = a.sizes.as_slice() else {
        return Err(format!("transpose() needs a matrix, not an array of size {:?}", a.sizes));
    };
    let chunk: usize = rest.iter().product();
    let mut elements = Vec::with_capacity(a.elements.len());
    for column in 0..*columns {
        for row in 0..*rows {
            let start = (row * columns + column) * chunk;
            elements.extend_from_slice(&a.elements[start..start + chunk]);
        }
    }
    Ok(Value::array([&[*columns, *rows], rest].concat(), elements))
}

fn square(a: &Array) -> Outcome<usize> {
    match a.sizes.as_slice() {
        &[n, m] if n == m => Ok(n),
        sizes => Err(format!("a square matrix is expected, not an array of size {sizes:?}")),
    }
}

fn three(value: &Value) -> Outcome<&[Value]> {
    match value {
        Value::Array(array) if array.sizes == [3] => Ok(&array.elements),
        other => Err(format!("a vector of 3 elements is expected, not {}", kind(other))),
    }
}

fn cat(dimension: usize, parts: &[Value]) -> Outcome {
    let arrays = parts.iter().map(array_of).collect::<Result<Vec<_>, _>>()?;
    let first = arrays.first().ok_or("cat() needs an array")?;
    let k = dimension.checked_sub(1).filter(|&k| k < first.sizes.len());
    let k = k.ok_or_else(|| format!("cat() along dimension {dimension} of arrays of size {:?}", first.sizes))?;
    let agrees = |array: &&Array| {
        array.sizes.len() == first.sizes.len()
            && array.sizes.iter().zip(&first.sizes).enumerate().all(|(d, (a, b))| d == k || a == b)
    };
    if let Some(other) = arrays.iter().find(|array| !agrees(array)) {
        return Err(format!(
            "cat() along dimension {dimension} of arrays of size {:?} and {:?}",
            first.sizes, other.sizes
        ));
    }
    let mut sizes = first.sizes.clone();
    sizes[k] = arrays.iter().map(|array| array.sizes[k]).sum();
    let outer: usize = sizes[..k].iter().product();
    let inner: usize = sizes[k + 1..].iter().product();
    let mut elements = Vec::with_capacity(element_count(&sizes)?);
    for block in 0..outer {
        for array in &arrays {
            let length = array.sizes[k] * inner;
            elements.extend_from_slice(&array.elements[block * length..(block + 1) * length]);
        }
    }
    let mut joined = Array { sizes, elements };
    joined.unify();
    Ok(Value::Array(joined))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[&[f64]]) -> Value {
        Value::matrix(rows.len(), rows[0].len(), rows.iter().flat_map(|row| row.iter().copied()))
    }

    #[test]
    fn products_of_matrices() {
        let a = matrix(&[&[1.0, 2.0], &[3.0, 4.0]]);
        let v = Value::reals([1.0, 10.0]);
        let mul = |a: &Value, b: &Value| arithmetic(ArithmeticOp::Mul, a.clone(), b.clone()).unwrap();
        assert_eq!(mul(&a, &v), Value::reals([21.0, 43.0]));
        assert_eq!(mul(&v, &a), Value::reals([31.0, 42.0]));
        assert_eq!(mul(&v, &v), Value::Real(101.0));
        assert_eq!(mul(&a, &a), arithmetic(ArithmeticOp::Pow, a.clone(), Value::Integer(2)).unwrap());
        assert!(arithmetic(ArithmeticOp::Add, a, v).is_err());
    }

    #[test]
    fn ranges() {
        let text = |start: Value, step: Option<Value>, stop: Value| {
            range(&start, step.as_ref(), &stop).map_or_else(|error| error, |value| value.to_string())
        };
        let integer = Value::Integer;
        assert_eq!(text(integer(1), None, integer(3)), "{1, 2, 3}");
        assert_eq!(text(integer(1), Some(integer(2)), integer(6)), "{1, 3, 5}");
        assert_eq!(text(integer(5), Some(integer(-2)), integer(0)), "{5, 3, 1}");
        assert_eq!(text(integer(3), None, integer(1)), "{}");
        assert_eq!(text(Value::Real(0.0), Some(Value::Real(0.1)), Value::Real(0.3)).matches(',').count(), 3);
        assert_eq!(text(integer(1), Some(integer(0)), integer(3)), "the step of a range is zero");
        assert!(text(integer(1), None, integer(i64::MAX)).contains("too large"));
    }

    #[test]
    fn selection_and_concatenation() {
        let a = matrix(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]]);
        let get = |selections: &[Selection]| select(&a, selections).map(Cow::into_owned);
        assert_eq!(get(&[Selection::One(1), Selection::One(2)]), Ok(Value::Real(6.0)));
        assert_eq!(get(&[Selection::All, Selection::One(0)]), Ok(Value::reals([1.0, 4.0])));
        assert_eq!(get(&[Selection::One(0)]), Ok(Value::reals([1.0, 2.0, 3.0])));
        assert_eq!(get(&[Selection::Many(vec![1, 0]), Selection::Many(vec![2])]), Ok(matrix(&[&[6.0], &[3.0]])));
        assert!(get(&[Selection::One(2)]).is_err());
        let joined = whole(ArrayFunction::Cat, vec![Value::Integer(2), a.clone(), matrix(&[&[7.0], &[8.0]])]).unwrap();
        assert_eq!(joined, matrix(&[&[1.0, 2.0, 3.0, 7.0], &[4.0, 5.0, 6.0, 8.0]]));
        let transposed = whole(ArrayFunction::Transpose, vec![a]).unwrap();
        assert_eq!(transposed, matrix(&[&[1.0, 4.0], &[2.0, 5.0], &[3.0, 6.0]]));
    }

    #[test]
    fn text_of_numbers() {
        let text = |function, arguments| whole(function, arguments).unwrap().as_str().unwrap().to_owned();
        assert_eq!(text(ArrayFunction::StringReal, vec![Value::Real(1.0 / 3.0)]), "0.333333");
        let wide = vec![Value::Integer(7), Value::Integer(4), Value::Boolean(false)];
        assert_eq!(text(ArrayFunction::StringInteger, wide), "   7");
        let names = vec![Value::Enumeration(2), Value::Integer(0), Value::Boolean(true)];
        let names = names.into_iter().chain([Value::string("red"), Value::string("green")]).collect();
        assert_eq!(text(ArrayFunction::StringEnumeration, names), "green");
        assert_eq!(text(ArrayFunction::StringFormat, vec![Value::Real(2.0), Value::string("5.1f")]), "  2.0");
    }
}
