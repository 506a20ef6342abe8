//! Values of the Modelica language as constant evaluation and called functions see them.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::expr::Shape;
use crate::function::{FunctionId, Functions, Type};

/// What is known when a function is executed: everything.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Never {}

/// The type of a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are those of Modelica")]
pub enum Kind {
    Real,
    Integer,
    Boolean,
    String,
    Enumeration,
    Object,
}

impl Kind {
    /// The kind of the scalars of a type that is no record and no function.
    pub fn of(ty: &Type) -> Option<Self> {
        Some(match ty {
            Type::Real => Kind::Real,
            Type::Integer => Kind::Integer,
            Type::Boolean => Kind::Boolean,
            Type::String => Kind::String,
            Type::Enumeration(_) => Kind::Enumeration,
            Type::Object(_) => Kind::Object,
            Type::Record(_) | Type::Function(_) => return None,
        })
    }
}

/// A value whose scalars are known, or stand for what is known at run time only: an expression, an address (`Open`).
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, reason = "the names are those of Modelica")]
pub enum Value<U = Never> {
    Real(f64),
    Integer(i64),
    Boolean(bool),
    String(Arc<str>),
    /// The ordinal, from 1.
    Enumeration(i64),
    Array(Array<U>),
    /// The fields in the order of the declaration.
    Record(Vec<Value<U>>),
    /// An external object, a number that the outside library gave.
    Object(u64),
    /// A function as an argument, with inputs that are already given, by position.
    Function {
        function: FunctionId,
        given: Vec<(u32, Value<U>)>,
    },
    /// A scalar of a variable to which nothing has been assigned.
    Unset(Kind),
    /// A scalar that is known at run time only.
    Open(U, Kind),
}

/// Elements in row-major order. An empty array keeps its sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Array<U = Never> {
    /// The size of each dimension.
    pub sizes: Vec<usize>,
    /// By rows.
    pub elements: Vec<Value<U>>,
}

impl<U: Clone> Value<U> {
    /// A text.
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Value::String(text.into())
    }

    /// An array of these sizes.
    pub fn array(sizes: Vec<usize>, elements: Vec<Value<U>>) -> Self {
        debug_assert_eq!(sizes.iter().product::<usize>(), elements.len());
        Value::Array(Array { sizes, elements })
    }

    /// A vector of Reals.
    pub fn reals(values: impl IntoIterator<Item = f64>) -> Self {
        let elements: Vec<Value<U>> = values.into_iter().map(Value::Real).collect();
        Value::array(vec![elements.len()], elements)
    }

    /// A vector of Integers.
    pub fn integers(values: impl IntoIterator<Item = i64>) -> Self {
        let elements: Vec<Value<U>> = values.into_iter().map(Value::Integer).collect();
        Value::array(vec![elements.len()], elements)
    }

    /// A matrix from its elements in row-major order.
    pub fn matrix(rows: usize, columns: usize, values: impl IntoIterator<Item = f64>) -> Self {
        Value::array(vec![rows, columns], values.into_iter().map(Value::Real).collect())
    }

    /// An array of values that become its first dimension: `{a, b, …}`. Numbers of both types become Reals. `None` if
    /// the sizes differ.
    pub fn from_parts(parts: Vec<Value<U>>) -> Option<Self> {
        let mut sizes = vec![parts.len()];
        let mut elements = parts;
        if let Some(Value::Array(first)) = elements.first() {
            let inner = first.sizes.clone();
            let mut flat = Vec::with_capacity(elements.len() * first.elements.len());
            for part in elements {
                match part {
                    Value::Array(array) if array.sizes == inner => flat.extend(array.elements),
                    _ => return None,
                }
            }
            sizes.extend(inner);
            elements = flat;
        } else if elements.iter().any(|part| matches!(part, Value::Array(_))) {
            return None;
        }
        let mut array = Array { sizes, elements };
        array.unify();
        Some(Value::Array(array))
    }

    /// An array of values that iterators made, the first one the fastest, each so many times. `None` if the sizes differ.
    pub fn from_rounds(values: Vec<Value<U>>, counts: Vec<usize>) -> Option<Self> {
        let Some(Value::Array(array)) = Value::from_parts(values) else { return None };
        let outer: Vec<usize> = counts.into_iter().rev().collect();
        let inner = array.sizes.get(1..).unwrap_or(&[]);
        Some(Value::array([&outer[..], inner].concat(), array.elements))
    }

    /// A number as a Real; Booleans and enumerations by their ordinals (`false` is 0).
    pub fn as_real(&self) -> Option<f64> {
        match *self {
            Value::Real(value) => Some(value),
            Value::Integer(value) | Value::Enumeration(value) => Some(value as f64),
            Value::Boolean(value) => Some(f64::from(u8::from(value))),
            Value::Object(handle) => Some(handle as f64),
            _ => None,
        }
    }

    /// An Integer, the ordinal of an enumeration or Boolean, or a Real that is whole.
    pub fn as_integer(&self) -> Option<i64> {
        match *self {
            Value::Integer(value) | Value::Enumeration(value) => Some(value),
            Value::Boolean(value) => Some(i64::from(value)),
            Value::Real(value) if value.fract() == 0.0 && value.abs() < 9.0e18 => Some(value as i64),
            _ => None,
        }
    }

    /// The value of a Boolean.
    pub fn as_boolean(&self) -> Option<bool> {
        match *self {
            Value::Boolean(value) => Some(value),
            Value::Integer(value) => Some(value != 0),
            Value::Real(value) => Some(value != 0.0),
            _ => None,
        }
    }

    /// The value of a text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value of an array.
    pub fn as_array(&self) -> Option<&Array<U>> {
        match self {
            Value::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The sizes; none for a scalar or record.
    pub fn sizes(&self) -> &[usize] {
        match self {
            Value::Array(array) => &array.sizes,
            _ => &[],
        }
    }

    /// All numbers of an array, or the one of a scalar.
    pub fn to_reals(&self) -> Option<Vec<f64>> {
        match self {
            Value::Array(array) => array.elements.iter().map(Value::as_real).collect(),
            scalar => scalar.as_real().map(|value| vec![value]),
        }
    }

    /// The order of two scalars of one kind; `None` if they cannot be compared or one is not a number.
    pub fn order(&self, other: &Value<U>) -> Option<Ordering> {
        match (self, other) {
            (Value::String(a), Value::String(b)) => Some(a.as_ref().cmp(b.as_ref())),
            (Value::Real(_), _) | (_, Value::Real(_)) => self.as_real()?.partial_cmp(&other.as_real()?),
            (a, b) => Some(a.as_integer()?.cmp(&b.as_integer()?)),
        }
    }

    /// Converts what an assignment converts: Integer to Real, ordinals to enumerations and Booleans.
    pub fn coerce(self, ty: &Type) -> Self {
        match (ty, self) {
            (Type::Real, Value::Integer(value)) => Value::Real(value as f64),
            (Type::Integer, Value::Enumeration(value)) => Value::Integer(value),
            (Type::Integer, Value::Real(value)) if value.fract() == 0.0 => Value::Integer(value as i64),
            (Type::Enumeration(_), Value::Integer(value)) => Value::Enumeration(value),
            (Type::Enumeration(_), Value::Real(value)) => Value::Enumeration(value as i64),
            (Type::Boolean, Value::Integer(value)) => Value::Boolean(value != 0),
            (Type::Boolean, Value::Real(value)) => Value::Boolean(value != 0.0),
            (Type::Object(_), Value::Integer(value)) => Value::Object(value as u64),
            (Type::Object(_), Value::Real(value)) => Value::Object(value as u64),
            (ty, Value::Open(open, kind)) => Value::Open(open, Kind::of(ty).unwrap_or(kind)),
            (ty, Value::Unset(kind)) => Value::Unset(Kind::of(ty).unwrap_or(kind)),
            (Type::Record(record), Value::Record(fields)) => Value::Record(
                fields
                    .into_iter()
                    .enumerate()
                    .map(|(k, value)| match record.fields.get(k) {
                        Some(field) => value.coerce(&field.ty),
                        None => value,
                    })
                    .collect(),
            ),
            (Type::Real, Value::Array(mut array)) => {
                array.coerce_to_real();
                Value::Array(array)
            }
            (ty, Value::Array(array)) => Value::Array(Array {
                sizes: array.sizes,
                elements: array.elements.into_iter().map(|element| element.coerce(ty)).collect(),
            }),
            (_, value) => value,
        }
    }

    /// Appends the scalars in the order of call sites: arrays row-major, records field by field.
    pub fn flatten_into(self, scalars: &mut Vec<Value<U>>) {
        match self {
            Value::Array(array) => array.elements.into_iter().for_each(|element| element.flatten_into(scalars)),
            Value::Record(fields) => fields.into_iter().for_each(|field| field.flatten_into(scalars)),
            Value::Function { given, .. } => given.into_iter().for_each(|(_, value)| value.flatten_into(scalars)),
            scalar => scalars.push(scalar),
        }
    }

    /// The value of a shape from its scalars; `None` if there are too few.
    pub fn from_scalars(shape: &Shape, scalars: &mut impl Iterator<Item = Value<U>>) -> Option<Self> {
        match shape {
            Shape::Scalar => scalars.next(),
            Shape::Array(sizes, element) => {
                let sizes: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
                let count = sizes.iter().product();
                let elements = (0..count).map(|_| Value::from_scalars(element, scalars)).collect::<Option<Vec<_>>>()?;
                Some(Value::array(sizes, elements))
            }
            Shape::Record(fields) => {
                fields.iter().map(|field| Value::from_scalars(field, scalars)).collect::<Option<_>>().map(Value::Record)
            }
            Shape::Function { function, given } => {
                let given = given
                    .iter()
                    .map(|(position, shape)| Some((*position, Value::from_scalars(shape, scalars)?)))
                    .collect::<Option<_>>()?;
                Some(Value::Function { function: *function, given })
            }
        }
    }

    /// Whether all scalars are known.
    pub fn is_known(&self) -> bool {
        match self {
            Value::Open(..) | Value::Unset(_) => false,
            Value::Array(array) => array.elements.iter().all(Value::is_known),
            Value::Record(fields) => fields.iter().all(Value::is_known),
            Value::Function { given, .. } => given.iter().all(|(_, value)| value.is_known()),
            _ => true,
        }
    }

    /// The kind of a scalar.
    pub fn scalar_kind(&self) -> Option<Kind> {
        Some(match self {
            Value::Real(_) => Kind::Real,
            Value::Integer(_) => Kind::Integer,
            Value::Boolean(_) => Kind::Boolean,
            Value::String(_) => Kind::String,
            Value::Enumeration(_) => Kind::Enumeration,
            Value::Object(_) => Kind::Object,
            Value::Unset(kind) | Value::Open(_, kind) => *kind,
            Value::Array(_) | Value::Record(_) | Value::Function { .. } => return None,
        })
    }

    /// The same structure with every scalar replaced, in the order of call sites; the first failure ends it.
    pub fn try_map<V, E>(&self, change: &mut dyn FnMut(&Value<U>) -> Result<Value<V>, E>) -> Result<Value<V>, E> {
        Ok(match self {
            Value::Array(array) => Value::Array(Array {
                sizes: array.sizes.clone(),
                elements: array.elements.iter().map(|element| element.try_map(change)).collect::<Result<_, E>>()?,
            }),
            Value::Record(fields) => {
                Value::Record(fields.iter().map(|field| field.try_map(change)).collect::<Result<_, E>>()?)
            }
            Value::Function { function, given } => Value::Function {
                function: *function,
                given: given
                    .iter()
                    .map(|(position, value)| Ok((*position, value.try_map(change)?)))
                    .collect::<Result<_, E>>()?,
            },
            scalar => change(scalar)?,
        })
    }

    /// Calls `visit` for every scalar, in the order of call sites.
    pub fn for_each_scalar(&self, visit: &mut dyn FnMut(&Value<U>)) {
        match self {
            Value::Array(array) => array.elements.iter().for_each(|element| element.for_each_scalar(visit)),
            Value::Record(fields) => fields.iter().for_each(|field| field.for_each_scalar(visit)),
            Value::Function { given, .. } => given.iter().for_each(|(_, value)| value.for_each_scalar(visit)),
            scalar => visit(scalar),
        }
    }

    /// The value of a shape and type whose scalars come from `leaf`; `None` if shape and type do not fit.
    pub fn of_shape(
        functions: &Functions,
        shape: &Shape,
        ty: &Type,
        leaf: &mut dyn FnMut(Kind) -> Option<Value<U>>,
    ) -> Option<Self> {
        Some(match shape {
            Shape::Scalar => leaf(Kind::of(ty)?)?,
            Shape::Array(sizes, element) => {
                let sizes: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
                let count = sizes.iter().product();
                let elements =
                    (0..count).map(|_| Self::of_shape(functions, element, ty, leaf)).collect::<Option<_>>()?;
                Value::array(sizes, elements)
            }
            Shape::Record(fields) => {
                let Type::Record(record) = ty else { return None };
                let fields = fields.iter().zip(&record.fields);
                Value::Record(
                    fields
                        .map(|(shape, field)| Self::of_shape(functions, shape, &field.ty, leaf))
                        .collect::<Option<_>>()?,
                )
            }
            Shape::Function { function, given } => {
                let declared = functions.get(*function)?;
                let mut values = Vec::with_capacity(given.len());
                for (position, shape) in given {
                    let local = declared.inputs.get(*position as usize)?;
                    values.push((*position, Self::of_shape(functions, shape, &declared.locals[*local].ty, leaf)?));
                }
                Value::Function { function: *function, given: values }
            }
        })
    }

    /// The parts along the first dimension; a scalar is the only part of itself.
    pub fn into_parts(self) -> Vec<Value<U>> {
        match self {
            Value::Array(array) if array.sizes.len() <= 1 => array.elements,
            Value::Array(array) => (0..array.sizes[0]).filter_map(|k| array.part(1, k)).collect(),
            scalar => vec![scalar],
        }
    }

    /// The shape of this value.
    pub fn shape(&self) -> Shape {
        match self {
            Value::Array(array) => {
                let element = array.elements.first().map_or(Shape::Scalar, Value::shape);
                Shape::Array(array.sizes.iter().map(|&size| size as u32).collect(), Box::new(element))
            }
            Value::Record(fields) => Shape::Record(fields.iter().map(Value::shape).collect()),
            Value::Function { function, given } => Shape::Function {
                function: *function,
                given: given.iter().map(|(position, value)| (*position, value.shape())).collect(),
            },
            _ => Shape::Scalar,
        }
    }
}

impl<U: Clone> Array<U> {
    /// The k-th part when the first `dimensions` are counted through.
    pub fn part(&self, dimensions: usize, k: usize) -> Option<Value<U>> {
        let inner = self.sizes.get(dimensions..).unwrap_or(&[]);
        let length: usize = inner.iter().product();
        let elements = self.elements.get(k * length..(k + 1) * length)?;
        match (inner.is_empty(), elements) {
            (true, [element]) => Some(element.clone()),
            _ => Some(Value::array(inner.to_vec(), elements.to_vec())),
        }
    }
}

impl<U> Array<U> {
    /// Makes all numbers Reals if any is one.
    pub fn unify(&mut self) {
        let mut real = false;
        let mut integer = false;
        for element in &self.elements {
            real |= matches!(element, Value::Real(_) | Value::Open(_, Kind::Real));
            integer |= matches!(element, Value::Integer(_) | Value::Open(_, Kind::Integer));
        }
        if real && integer {
            self.coerce_to_real();
        }
    }

    fn coerce_to_real(&mut self) {
        for element in &mut self.elements {
            match element {
                Value::Integer(value) => *element = Value::Real(*value as f64),
                Value::Open(_, kind @ Kind::Integer) | Value::Unset(kind @ Kind::Integer) => *kind = Kind::Real,
                _ => {}
            }
        }
    }
}

/// As in Modelica text: `{1.5, 2}`, `"abc"`; records as lists in parentheses.
impl<U> fmt::Display for Value<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Real(value) => write!(f, "{value:?}"),
            Value::Integer(value) | Value::Enumeration(value) => write!(f, "{value}"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::String(text) => write!(f, "{text:?}"),
            Value::Array(array) => write_array(f, &array.sizes, &array.elements),
            Value::Record(fields) => write_list(f, '(', fields.iter(), ')'),
            Value::Object(handle) => write!(f, "object {handle}"),
            Value::Function { function, .. } => write!(f, "function {function:?}"),
            Value::Unset(_) => f.write_str("nothing"),
            Value::Open(..) => f.write_str("a value known at run time only"),
        }
    }
}

fn write_array<U>(f: &mut fmt::Formatter<'_>, sizes: &[usize], elements: &[Value<U>]) -> fmt::Result {
    match sizes {
        [] | [_] => write_list(f, '{', elements.iter(), '}'),
        [first, rest @ ..] => {
            let chunk = rest.iter().product::<usize>();
            f.write_str("{")?;
            for k in 0..*first {
                if k > 0 {
                    f.write_str(", ")?;
                }
                write_array(f, rest, elements.get(k * chunk..(k + 1) * chunk).unwrap_or(&[]))?;
            }
            f.write_str("}")
        }
    }
}

fn write_list<'a, U: 'a>(
    f: &mut fmt::Formatter<'_>,
    open: char,
    items: impl Iterator<Item = &'a Value<U>>,
    close: char,
) -> fmt::Result {
    write!(f, "{open}")?;
    for (k, item) in items.enumerate() {
        if k > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    write!(f, "{close}")
}
