//! Function calls through the interpreter of functions in `dae`: scalars in memory become values and come back.

use std::sync::Arc;

use dae::evaluate::{Compiled, Evaluator, Externals, FailureKind};
use dae::expr::Shape;
use dae::function::{Function, Type};
use dae::tangent::contains_reals;
use dae::value::Array;
use dae::{CallSite, FunctionId, Functions, Value};

use crate::code::{IMPATIENT, MOST_WORK};
use crate::lower::{self, is_exact};
use crate::strings::Strings;

/// A statement takes as long here as so many operations of code in loops.
const WORK_PER_STEP: u64 = 200;

/// What a call may use and how long it may take.
pub struct Surroundings<'a> {
    pub externals: &'a mut dyn Externals,
    /// Functions as code.
    pub quick: Option<&'a mut dyn Compiled>,
    /// The work that was done (`code::MOST_WORK`).
    pub impatience: &'a mut f64,
}

impl Surroundings<'_> {
    fn again(&mut self) -> Surroundings<'_> {
        let quick = self.quick.as_mut().map(|quick| &mut **quick as &mut dyn Compiled);
        Surroundings { externals: &mut *self.externals, quick, impatience: &mut *self.impatience }
    }
}

/// Evaluates one call site: `arguments` and `results` are its scalars.
pub fn evaluate(
    functions: &Functions,
    site: &CallSite,
    strings: &mut Strings,
    surroundings: Surroundings<'_>,
    arguments: &[f64],
    results: &mut [f64],
) -> Result<(), String> {
    let function = functions.get(site.function).ok_or("a function is called that does not exist")?;
    let values = inputs(functions, function, &site.inputs, arguments, strings)?;
    let outputs = call(functions, site.function, values, surroundings)?;
    outputs.iter().try_for_each(check_integers)?;
    let mut out = results.iter_mut();
    outputs.iter().for_each(|value| scalars(value, strings, &mut out));
    Ok(())
}

/// The derivative along a direction: `arguments` are the scalars and then their tangents. `tangent` is the function
/// that `dae` derived from the statements; where there is none, differences stand in.
pub fn evaluate_tangent(
    functions: &Functions,
    site: &CallSite,
    tangent: Option<(FunctionId, &[usize])>,
    strings: &mut Strings,
    mut surroundings: Surroundings<'_>,
    arguments: &[f64],
    results: &mut [f64],
) -> Result<(), String> {
    let function = functions.get(site.function).ok_or("a function is called that does not exist")?;
    let (point, direction) = arguments.split_at(arguments.len() / 2);
    let Some((tangent, taken)) = tangent else {
        let mut value =
            |moved: &[f64], side: &mut [f64]| evaluate(functions, site, strings, surroundings.again(), moved, side);
        return difference(&mut value, point, direction, results);
    };
    let mut values = inputs(functions, function, &site.inputs, point, strings)?;
    let derivatives = inputs(functions, function, &site.inputs, direction, strings)?;
    for &input in taken {
        if let (Some(value), Some(derivative)) = (values.get(input), derivatives.get(input)) {
            // What is no Real in a record repeats the original.
            let derivative = keep_reals(derivative.clone(), value);
            values.push(derivative);
        }
    }
    let mut outputs = call(functions, tangent, values, surroundings)?.into_iter();
    let mut out = results.iter_mut();
    for (&local, shape) in function.outputs.iter().zip(&site.outputs) {
        if contains_reals(&function.locals[local].ty) {
            outputs.next().iter().for_each(|value| scalars(value, strings, &mut out));
        } else {
            (&mut out).take(shape.scalars()).for_each(|result| *result = 0.0);
        }
    }
    Ok(())
}

/// Central differences, for functions in other languages.
pub fn difference(
    value: &mut dyn FnMut(&[f64], &mut [f64]) -> Result<(), String>,
    point: &[f64],
    direction: &[f64],
    results: &mut [f64],
) -> Result<(), String> {
    let size = |values: &[f64]| values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let length = size(direction);
    if length == 0.0 {
        results.fill(0.0);
        return Ok(());
    }
    let step = f64::EPSILON.cbrt() * size(point).max(1e-3) / length;
    let mut sides = [vec![0.0; results.len()], vec![0.0; results.len()]];
    for (side, sign) in sides.iter_mut().zip([-step, step]) {
        let moved: Vec<f64> = point.iter().zip(direction).map(|(x, d)| x + sign * d).collect();
        value(&moved, side)?;
    }
    for ((result, low), high) in results.iter_mut().zip(&sides[0]).zip(&sides[1]) {
        *result = (high - low) / (2.0 * step);
    }
    Ok(())
}

fn call(
    functions: &Functions,
    function: FunctionId,
    values: Vec<Value>,
    Surroundings { externals, quick, impatience }: Surroundings<'_>,
) -> Result<Vec<Value>, String> {
    let objects = externals.mark_objects();
    let mut evaluator = Evaluator::with_code(functions, externals, quick.map(|quick| &mut *quick as &mut dyn Compiled));
    evaluator.steps_left = (MOST_WORK as f64 - *impatience) as u64 / WORK_PER_STEP;
    let outcome = evaluator.call(function, values).map_err(|error| {
        if error.kind == FailureKind::Limit {
            *impatience = IMPATIENT;
        }
        error.to_string()
    });
    if !outcome.as_ref().is_ok_and(|results| results.iter().any(holds_object)) {
        externals.free_objects_since(objects);
    }
    outcome
}

/// Whether an external object goes on to live.
fn holds_object(value: &Value) -> bool {
    let mut found = false;
    value.for_each_scalar(&mut |scalar| found |= matches!(scalar, Value::Object(_)));
    found
}

fn inputs(
    functions: &Functions,
    function: &Function,
    shapes: &[Shape],
    arguments: &[f64],
    strings: &Strings,
) -> Result<Vec<Value>, String> {
    let mut scalars = arguments.iter().copied();
    let mut values = Vec::with_capacity(shapes.len());
    for (&local, shape) in function.inputs.iter().zip(shapes) {
        values.push(value(functions, shape, &function.locals[local].ty, &mut scalars, strings)?);
    }
    Ok(values)
}

fn value(
    functions: &Functions,
    shape: &Shape,
    ty: &Type,
    scalars: &mut impl Iterator<Item = f64>,
    strings: &Strings,
) -> Result<Value, String> {
    match shape {
        Shape::Scalar => {
            let number = scalars.next().ok_or("a function is called with too few arguments")?;
            Ok(match ty {
                Type::Integer => Value::Integer(number as i64),
                Type::Boolean => Value::Boolean(number != 0.0),
                Type::String => Value::String(strings.get(number).cloned().unwrap_or_else(|| Arc::from(""))),
                Type::Enumeration(_) => Value::Enumeration(number as i64),
                Type::Object(_) => Value::Object(number as u64),
                _ => Value::Real(number),
            })
        }
        Shape::Array(sizes, element) => {
            let sizes: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
            let count: usize = sizes.iter().product();
            let mut elements = Vec::with_capacity(count);
            for _ in 0..count {
                elements.push(value(functions, element, ty, scalars, strings)?);
            }
            Ok(Value::Array(Array { sizes, elements }))
        }
        Shape::Record(fields) => {
            let Type::Record(record) = ty else { return Err("a record is given where none belongs".into()) };
            let fields = fields.iter().zip(&record.fields);
            Ok(Value::Record(
                fields
                    .map(|(shape, field)| value(functions, shape, &field.ty, scalars, strings))
                    .collect::<Result<_, _>>()?,
            ))
        }
        Shape::Function { function, given } => {
            let declared = functions.get(*function).ok_or("a function is passed that does not exist")?;
            let mut values = Vec::with_capacity(given.len());
            for (position, shape) in given {
                let local = declared.inputs.get(*position as usize).ok_or("a function has no such input")?;
                let item = value(functions, shape, &declared.locals[*local].ty, scalars, strings)?;
                values.push((*position, item));
            }
            Ok(Value::Function { function: *function, given: values })
        }
    }
}

/// Integers that go back into memory must be exact there.
fn check_integers(value: &Value) -> Result<(), String> {
    let mut inexact = None;
    value.for_each_scalar(&mut |scalar| {
        if let Value::Integer(number) = *scalar
            && !is_exact(number)
        {
            inexact = Some(number);
        }
    });
    match inexact {
        Some(number) => Err(lower::inexact(number).message),
        None => Ok(()),
    }
}

/// The derivative with the parts that are no Reals taken from the original.
fn keep_reals(derivative: Value, original: &Value) -> Value {
    match (derivative, original) {
        (Value::Real(number), _) => Value::Real(number),
        (Value::Array(array), Value::Array(other)) => Value::Array(Array {
            sizes: array.sizes,
            elements: array.elements.into_iter().zip(&other.elements).map(|(a, b)| keep_reals(a, b)).collect(),
        }),
        (Value::Record(fields), Value::Record(others)) => {
            Value::Record(fields.into_iter().zip(others).map(|(a, b)| keep_reals(a, b)).collect())
        }
        (_, original) => original.clone(),
    }
}

fn scalars<'a>(value: &Value, strings: &mut Strings, out: &mut impl Iterator<Item = &'a mut f64>) {
    let number = match value {
        Value::Real(number) => *number,
        Value::Integer(number) | Value::Enumeration(number) => *number as f64,
        Value::Boolean(value) => crate::math::truth(*value),
        Value::String(text) => strings.intern(text),
        Value::Object(handle) => *handle as f64,
        Value::Array(array) => return array.elements.iter().for_each(|element| scalars(element, strings, out)),
        Value::Record(fields) => return fields.iter().for_each(|field| scalars(field, strings, out)),
        Value::Function { .. } => return,
        Value::Unset(_) => f64::NAN,
        Value::Open(never, _) => match *never {},
    };
    if let Some(place) = out.next() {
        *place = number;
    }
}
