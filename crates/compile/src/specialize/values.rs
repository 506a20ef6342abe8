//! Values whose scalars are known or addresses.

use dae::arrays::{self};
use dae::expr::Shape;
use dae::function::Type;
use dae::value::Array;
use dae::{Functions, Value};

use super::{MAX_OPERATIONS, Made};
use crate::lower::Pool;

pub(super) fn is_known(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(array) => array.elements.iter().all(is_known),
        Value::Record(fields) => fields.iter().all(is_known),
        Value::Function { given, .. } => given.iter().all(|(_, value)| is_known(value)),
        _ => true,
    }
}

pub(super) fn known_integer(value: &Value) -> Made<i64> {
    match is_known(value) {
        true => value.as_integer().ok_or_else(|| "an Integer is expected".into()),
        false => Err("a size or bound known only at run time".into()),
    }
}

pub(super) fn position(index: &Value) -> Made<usize> {
    let index = match index {
        Value::Boolean(value) => i64::from(*value) + 1,
        other => known_integer(other)?,
    };
    usize::try_from(index - 1).map_err(|_| "an index below 1".into())
}

pub(super) fn leaves(value: &Value, out: &mut Vec<u64>) {
    match value {
        Value::Object(leaf) => out.push(*leaf),
        Value::Array(array) => array.elements.iter().for_each(|element| leaves(element, out)),
        Value::Record(fields) => fields.iter().for_each(|field| leaves(field, out)),
        Value::Function { given, .. } => given.iter().for_each(|(_, value)| leaves(value, out)),
        _ => {}
    }
}

pub(super) fn map_leaves(value: Value, f: &mut dyn FnMut(u64) -> u64) -> Value {
    match value {
        Value::Object(leaf) => Value::Object(f(leaf)),
        Value::Array(array) => Value::Array(Array {
            sizes: array.sizes,
            elements: array.elements.into_iter().map(|element| map_leaves(element, f)).collect(),
        }),
        Value::Record(fields) => Value::Record(fields.into_iter().map(|field| map_leaves(field, f)).collect()),
        Value::Function { function, given } => Value::Function {
            function,
            given: given.into_iter().map(|(position, value)| (position, map_leaves(value, f))).collect(),
        },
        other => other,
    }
}

/// The value with every scalar, known or not, replaced.
pub(super) fn replace_scalars(value: &Value, next: &mut dyn FnMut() -> Value) -> Made {
    Ok(match value {
        Value::Array(array) => Value::Array(Array {
            sizes: array.sizes.clone(),
            elements: array.elements.iter().map(|element| replace_scalars(element, next)).collect::<Made<_>>()?,
        }),
        Value::Record(fields) => {
            Value::Record(fields.iter().map(|field| replace_scalars(field, next)).collect::<Made<_>>()?)
        }
        Value::Function { .. } => return Err("a function as a variable".into()),
        _ => next(),
    })
}

/// Real arguments are not part of a specialisation; with `all` no constants are.
pub(super) fn generalize(value: Value, all: bool) -> Value {
    match value {
        Value::Real(_) => Value::Object(0),
        Value::Integer(_) | Value::Boolean(_) | Value::Enumeration(_) if all => Value::Object(0),
        Value::Array(array) => Value::Array(Array {
            sizes: array.sizes,
            elements: array.elements.into_iter().map(|element| generalize(element, all)).collect(),
        }),
        Value::Record(fields) => Value::Record(fields.into_iter().map(|field| generalize(field, all)).collect()),
        Value::Function { function, given } => Value::Function {
            function,
            given: given.into_iter().map(|(position, value)| (position, generalize(value, all))).collect(),
        },
        other => other,
    }
}

/// What distinguishes specialisations.
pub(super) fn describe(value: &Value, pool: &mut Pool, key: &mut Vec<u64>) {
    match value {
        Value::Object(_) => key.push(1),
        Value::Integer(number) => key.extend([2, *number as u64]),
        Value::Boolean(truth) => key.extend([3, u64::from(*truth)]),
        Value::Enumeration(number) => key.extend([4, *number as u64]),
        Value::String(text) => key.extend([5, pool.strings.intern(text) as u64]),
        Value::Real(number) => key.extend([6, number.to_bits()]),
        Value::Array(array) => {
            key.extend([7, array.sizes.len() as u64]);
            key.extend(array.sizes.iter().map(|&size| size as u64));
            array.elements.iter().for_each(|element| describe(element, pool, key));
        }
        Value::Record(fields) => {
            key.extend([8, fields.len() as u64]);
            fields.iter().for_each(|field| describe(field, pool, key));
        }
        Value::Function { function, given } => {
            key.extend([9, base::Id::index(*function) as u64, given.len() as u64]);
            for (position, value) in given {
                key.push(u64::from(*position));
                describe(value, pool, key);
            }
        }
    }
}

/// The value of a shape whose scalars come from `leaf`.
pub(super) fn symbolic(
    functions: &Functions,
    shape: &Shape,
    ty: &Type,
    leaf: &mut dyn FnMut(&Type) -> Value,
) -> Option<Value> {
    Some(match shape {
        Shape::Scalar => leaf(ty),
        Shape::Array(sizes, element) => {
            let sizes: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
            let count = sizes.iter().product();
            let elements = (0..count).map(|_| symbolic(functions, element, ty, leaf)).collect::<Option<Vec<_>>>()?;
            Value::array(sizes, elements)
        }
        Shape::Record(fields) => {
            let Type::Record(record) = ty else { return None };
            let fields = fields.iter().zip(&record.fields);
            Value::Record(
                fields.map(|(shape, field)| symbolic(functions, shape, &field.ty, leaf)).collect::<Option<_>>()?,
            )
        }
        Shape::Function { function, given } => {
            let declared = functions.get(*function)?;
            let mut values = Vec::with_capacity(given.len());
            for (position, shape) in given {
                let local = declared.inputs.get(*position as usize)?;
                values.push((*position, symbolic(functions, shape, &declared.locals[*local].ty, leaf)?));
            }
            Value::Function { function: *function, given: values }
        }
    })
}

/// The derivative of an argument: the scalars `count` further on; what is no Real repeats the original.
pub(super) fn derivative(value: &Value, ty: &Type, count: u64) -> Value {
    match (value, ty) {
        (Value::Object(argument), Type::Real) => Value::Object(argument + count),
        (Value::Array(array), _) => Value::Array(Array {
            sizes: array.sizes.clone(),
            elements: array.elements.iter().map(|element| derivative(element, ty, count)).collect(),
        }),
        (Value::Record(fields), Type::Record(record)) => Value::Record(
            fields.iter().zip(&record.fields).map(|(value, field)| derivative(value, &field.ty, count)).collect(),
        ),
        (other, _) => other.clone(),
    }
}

/// What a variable holds before it is assigned.
pub(super) fn zero(ty: &Type, sizes: &[usize]) -> Made {
    let scalar = match ty {
        Type::Real => Value::Real(0.0),
        Type::Integer => Value::Integer(0),
        Type::Boolean => Value::Boolean(false),
        Type::Enumeration(_) => Value::Enumeration(1),
        Type::String => Value::string(""),
        Type::Object(_) | Type::Function(_) => return Err("a variable of such a type".into()),
        Type::Record(record) => {
            let mut fields = Vec::with_capacity(record.fields.len());
            for field in &record.fields {
                let sizes = field.sizes.iter().copied().collect::<Option<Vec<_>>>().ok_or("a field of unknown size")?;
                fields.push(zero(&field.ty, &sizes)?);
            }
            Value::Record(fields)
        }
    };
    if sizes.is_empty() {
        return Ok(scalar);
    }
    let count = arrays::element_count(sizes)?;
    if count > MAX_OPERATIONS {
        return Err("a large array".into());
    }
    Ok(Value::array(sizes.to_vec(), vec![scalar; count]))
}

/// The parts along the first dimension; a scalar is the only part of itself.
pub(super) fn parts(value: Value) -> Vec<Value> {
    match value {
        Value::Array(array) if array.sizes.len() <= 1 => array.elements,
        Value::Array(array) => (0..array.sizes[0]).filter_map(|k| chunk(&array, 1, k).ok()).collect(),
        scalar => vec![scalar],
    }
}

pub(super) fn chunk(array: &Array, dimensions: usize, k: usize) -> Made {
    let inner = array.sizes.get(dimensions..).unwrap_or(&[]);
    let length: usize = inner.iter().product();
    let elements = array.elements.get(k * length..(k + 1) * length).ok_or("an array is too small")?;
    match (inner.is_empty(), elements) {
        (true, [element]) => Ok(element.clone()),
        _ => Ok(Value::array(inner.to_vec(), elements.to_vec())),
    }
}
