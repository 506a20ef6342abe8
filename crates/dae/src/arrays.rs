//! Operators and functions on whole values: arithmetic of scalars, vectors and matrices (specification 10.6), array
//! functions (10.3), selection by subscripts (10.5). Scalars are those of any domain.
//!
//! Errors are plain texts; the executor adds where they happened.

use std::borrow::Cow;

use crate::execute::{Domain, Selection, ValueOf};
use crate::expr::{Builtin, CompareOp};
use crate::function::{ArithmeticOp, ArrayFunction, ReductionOp};
use crate::known::{self, Outcome, Range, array_of, integer_of, kind, size_of, symbol};
use crate::value::{Array, Value};

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

/// Applies what is done with known scalars or, where one is open, what the domain does.
fn scalars<D: Domain + ?Sized, const N: usize>(
    domain: &mut D,
    operands: [&ValueOf<D>; N],
    known: impl FnOnce() -> Outcome<ValueOf<D>>,
    open: impl FnOnce(&mut D) -> Outcome<ValueOf<D>>,
) -> Outcome<ValueOf<D>> {
    let mut is_open = false;
    for operand in operands {
        match operand {
            Value::Unset(_) => return Err("a variable is used before it has a value".into()),
            Value::Open(..) => is_open = true,
            _ => {}
        }
    }
    if is_open { open(domain) } else { known() }
}

/// An operation on two scalars.
pub fn scalar_arithmetic<D: Domain + ?Sized>(
    domain: &mut D,
    op: ArithmeticOp,
    a: &ValueOf<D>,
    b: &ValueOf<D>,
) -> Outcome<ValueOf<D>> {
    scalars(domain, [a, b], || known::arithmetic(op, a, b), |domain| domain.arithmetic(op, a, b))
}

fn scalar_builtin<D: Domain + ?Sized>(domain: &mut D, op: Builtin, arguments: &[ValueOf<D>]) -> Outcome<ValueOf<D>> {
    if arguments.iter().any(|argument| matches!(argument, Value::Unset(_))) {
        return Err("a variable is used before it has a value".into());
    }
    if arguments.iter().all(Value::is_known) { known::builtin(op, arguments) } else { domain.builtin(op, arguments) }
}

/// A comparison of two scalars.
pub fn compare<D: Domain + ?Sized>(
    domain: &mut D,
    op: CompareOp,
    a: &ValueOf<D>,
    b: &ValueOf<D>,
) -> Outcome<ValueOf<D>> {
    scalars(domain, [a, b], || known::compare(op, a, b), |domain| domain.compare(op, a, b))
}

/// Applies `f` to each element.
fn map<D: Domain + ?Sized>(
    domain: &mut D,
    value: ValueOf<D>,
    f: &mut dyn FnMut(&mut D, &ValueOf<D>) -> Outcome<ValueOf<D>>,
) -> Outcome<ValueOf<D>> {
    match value {
        Value::Array(array) => {
            let elements = array.elements.iter().map(|element| f(domain, element)).collect::<Result<_, _>>()?;
            Ok(Value::array(array.sizes, elements))
        }
        scalar => f(domain, &scalar),
    }
}

/// The negative of a scalar.
pub fn negate<D: Domain + ?Sized>(domain: &mut D, value: ValueOf<D>) -> Outcome<ValueOf<D>> {
    map(domain, value, &mut |domain, x| scalars(domain, [x], || known::negate(x), |domain| domain.negate(x)))
}

/// The negation of a scalar.
pub fn not<D: Domain + ?Sized>(domain: &mut D, value: ValueOf<D>) -> Outcome<ValueOf<D>> {
    map(domain, value, &mut |domain, x| scalars(domain, [x], || known::not(x), |domain| domain.not(x)))
}

/// `a and b`, or `a or b` where `decides` is true. What is known decides already.
pub fn logic<D: Domain + ?Sized>(domain: &mut D, decides: bool, a: ValueOf<D>, b: ValueOf<D>) -> Outcome<ValueOf<D>> {
    elementwise(domain, a, b, &mut |domain, x, y| match (x, y) {
        (Value::Boolean(known), other) | (other, Value::Boolean(known)) => {
            Ok(if *known == decides { Value::Boolean(decides) } else { other.clone() })
        }
        _ => scalars(
            domain,
            [x, y],
            || Err(format!("a Boolean is expected here, not {}", kind(x))),
            |domain| if decides { domain.or(x, y) } else { domain.and(x, y) },
        ),
    })
}

/// Applies `f` to the elements of two values; a scalar goes with every element.
pub fn elementwise<D: Domain + ?Sized>(
    domain: &mut D,
    a: ValueOf<D>,
    b: ValueOf<D>,
    f: &mut dyn FnMut(&mut D, &ValueOf<D>, &ValueOf<D>) -> Outcome<ValueOf<D>>,
) -> Outcome<ValueOf<D>> {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            if a.sizes != b.sizes {
                return Err(format!("sizes do not agree: {:?} and {:?}", a.sizes, b.sizes));
            }
            let pairs = a.elements.iter().zip(&b.elements);
            let elements = pairs.map(|(x, y)| f(domain, x, y)).collect::<Result<_, _>>()?;
            Ok(Value::array(a.sizes, elements))
        }
        (Value::Array(a), b) => {
            let elements = a.elements.iter().map(|x| f(domain, x, &b)).collect::<Result<_, _>>()?;
            Ok(Value::array(a.sizes, elements))
        }
        (a, Value::Array(b)) => {
            let elements = b.elements.iter().map(|y| f(domain, &a, y)).collect::<Result<_, _>>()?;
            Ok(Value::array(b.sizes, elements))
        }
        (a, b) => f(domain, &a, &b),
    }
}

/// `.+ .- .* ./ .^`.
pub fn elementwise_arithmetic<D: Domain + ?Sized>(
    domain: &mut D,
    op: ArithmeticOp,
    a: ValueOf<D>,
    b: ValueOf<D>,
) -> Outcome<ValueOf<D>> {
    elementwise(domain, a, b, &mut |domain, x, y| scalar_arithmetic(domain, op, x, y))
}

/// `+ - * / ^` by the rules for scalars, vectors and matrices.
pub fn arithmetic<D: Domain + ?Sized>(
    domain: &mut D,
    op: ArithmeticOp,
    a: ValueOf<D>,
    b: ValueOf<D>,
) -> Outcome<ValueOf<D>> {
    match (op, &a, &b) {
        (ArithmeticOp::Mul, Value::Array(x), Value::Array(y)) => product(domain, x, y),
        (ArithmeticOp::Pow, Value::Array(x), _) => matrix_power(domain, x, integer_of(&b)?),
        (ArithmeticOp::Div | ArithmeticOp::Pow, _, Value::Array(_)) => {
            Err(format!("`{}` needs a scalar on its right, not an {}", symbol(op), kind(&b)))
        }
        (ArithmeticOp::Add | ArithmeticOp::Sub, Value::Array(_), Value::Array(_))
        | (ArithmeticOp::Mul | ArithmeticOp::Div, _, _) => elementwise_arithmetic(domain, op, a, b),
        (_, Value::Array(_), _) | (_, _, Value::Array(_)) => Err(format!(
            "`{}` is not defined for {} and {}; `.{}` works element by element",
            symbol(op),
            kind(&a),
            kind(&b),
            symbol(op)
        )),
        _ => scalar_arithmetic(domain, op, &a, &b),
    }
}

fn dot<'v, D: Domain + ?Sized>(
    domain: &mut D,
    pairs: impl Iterator<Item = (&'v ValueOf<D>, &'v ValueOf<D>)>,
) -> Outcome<ValueOf<D>>
where
    D::Open: 'v,
{
    let mut sum = None;
    for (x, y) in pairs {
        let term = scalar_arithmetic(domain, ArithmeticOp::Mul, x, y)?;
        sum = Some(match sum {
            None => term,
            Some(sum) => scalar_arithmetic(domain, ArithmeticOp::Add, &sum, &term)?,
        });
    }
    Ok(sum.unwrap_or(Value::Real(0.0)))
}

fn product<D: Domain + ?Sized>(domain: &mut D, a: &Array<D::Open>, b: &Array<D::Open>) -> Outcome<ValueOf<D>> {
    let mismatch = || format!("sizes do not agree in the product of {:?} and {:?}", a.sizes, b.sizes);
    let (rows, inner) = match *a.sizes.as_slice() {
        [n] => (None, n),
        [rows, n] => (Some(rows), n),
        _ => return Err(mismatch()),
    };
    let (other, columns) = match *b.sizes.as_slice() {
        [m] => (m, None),
        [m, columns] => (m, Some(columns)),
        _ => return Err(mismatch()),
    };
    if inner != other {
        return Err(mismatch());
    }
    let (height, width) = (rows.unwrap_or(1), columns.unwrap_or(1));
    let mut elements = Vec::with_capacity(element_count(&[height, width])?);
    for row in 0..height {
        for column in 0..width {
            let left = a.elements[row * inner..(row + 1) * inner].iter();
            elements.push(dot(domain, left.zip(b.elements.iter().skip(column).step_by(width.max(1))))?);
        }
    }
    let sizes: Vec<usize> = rows.into_iter().chain(columns).collect();
    match sizes.is_empty() {
        true => elements.pop().ok_or_else(mismatch),
        false => Ok(Value::array(sizes, elements)),
    }
}

fn matrix_power<D: Domain + ?Sized>(domain: &mut D, a: &Array<D::Open>, exponent: i64) -> Outcome<ValueOf<D>> {
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
            result = array_of(&product(domain, &result, &square)?)?.clone();
        }
        rest /= 2;
        if rest > 0 {
            square = array_of(&product(domain, &square, &square)?)?.clone();
        }
    }
    Ok(Value::Array(result))
}

fn identity<U>(n: usize) -> Outcome<Array<U>> {
    let count = element_count(&[n, n])?;
    let elements = (0..count).map(|k| Value::Integer(i64::from(k / n == k % n))).collect();
    Ok(Array { sizes: vec![n, n], elements })
}

/// A mathematical function on scalars, or on the elements of arrays.
pub fn builtin<D: Domain + ?Sized>(domain: &mut D, op: Builtin, mut arguments: Vec<ValueOf<D>>) -> Outcome<ValueOf<D>> {
    match arguments.as_slice() {
        [Value::Array(_)] => match arguments.pop() {
            Some(array) => map(domain, array, &mut |domain, x| scalar_builtin(domain, op, std::slice::from_ref(x))),
            None => Err("an argument is missing".into()),
        },
        [Value::Array(_), _] | [_, Value::Array(_)] => match (arguments.pop(), arguments.pop()) {
            (Some(y), Some(x)) => {
                elementwise(domain, x, y, &mut |domain, x, y| scalar_builtin(domain, op, &[x.clone(), y.clone()]))
            }
            _ => Err("an argument is missing".into()),
        },
        scalars => scalar_builtin(domain, op, scalars),
    }
}

/// `start : step : stop` (10.4.3).
pub fn range<U: Clone>(start: &Value<U>, step: Option<&Value<U>>, stop: &Value<U>) -> Outcome<Value<U>> {
    let range = Range::of(start, step, stop)?;
    let count = element_count(&[range.count()])?;
    Ok(Value::array(vec![count], (0..count).map(|k| range.element(k, start)).collect()))
}

/// The positions that subscripts select, and the sizes of what they select. None of them is open.
pub fn positions<U>(sizes: &[usize], selections: &[Selection<U>]) -> Outcome<(Vec<usize>, Vec<usize>)> {
    if selections.len() > sizes.len() {
        return Err(format!("{} subscripts for an array of {} dimensions", selections.len(), sizes.len()));
    }
    let mut found = vec![0];
    let mut selected_sizes = Vec::new();
    for (dimension, &size) in sizes.iter().enumerate() {
        match selections.get(dimension) {
            Some(Selection::One(index)) => {
                let index = inside(*index, size, dimension)?;
                found.iter_mut().for_each(|position| *position = *position * size + index);
            }
            None | Some(Selection::All) => {
                selected_sizes.push(size);
                element_count(&[found.len(), size])?;
                found = found.iter().flat_map(|position| (0..size).map(move |k| position * size + k)).collect();
            }
            Some(Selection::Many(indices)) => {
                selected_sizes.push(indices.len());
                element_count(&[found.len(), indices.len()])?;
                let mut next = Vec::with_capacity(found.len() * indices.len());
                for position in &found {
                    for &index in indices {
                        next.push(position * size + inside(index, size, dimension)?);
                    }
                }
                found = next;
            }
            Some(Selection::Open(_)) => return Err("a subscript is known at run time only".into()),
        }
    }
    Ok((found, selected_sizes))
}

fn inside(index: usize, size: usize, dimension: usize) -> Outcome<usize> {
    match index < size {
        true => Ok(index),
        false => Err(format!("index {} is outside of 1:{size} (dimension {})", index + 1, dimension + 1)),
    }
}

/// `value[selections]`.
pub fn select<'a, D: Domain + ?Sized>(
    domain: &mut D,
    value: &'a ValueOf<D>,
    selections: &[Selection<D::Open>],
) -> Outcome<Cow<'a, ValueOf<D>>> {
    let array = array_of(value)?;
    if selections.iter().any(|selection| matches!(selection, Selection::Open(_))) {
        if selections.len() > array.sizes.len() {
            return Err(format!("{} subscripts for an array of {} dimensions", selections.len(), array.sizes.len()));
        }
        return domain.load(array, selections).map(Cow::Owned);
    }
    // The common case, without any allocation.
    if selections.len() == array.sizes.len() {
        let mut position = Some(0);
        for (dimension, (selection, &size)) in selections.iter().zip(&array.sizes).enumerate() {
            match selection {
                Selection::One(index) => {
                    let index = inside(*index, size, dimension)?;
                    position = position.map(|position| position * size + index);
                }
                _ => position = None,
            }
        }
        if let Some(element) = position.and_then(|position| array.elements.get(position)) {
            return Ok(Cow::Borrowed(element));
        }
    }
    let (found, sizes) = positions(&array.sizes, selections)?;
    let elements: Option<Vec<ValueOf<D>>> =
        found.iter().map(|&position| array.elements.get(position).cloned()).collect();
    let mut elements = elements.ok_or("an array holds fewer elements than its sizes say")?;
    match sizes.is_empty() {
        true => elements.pop().map(Cow::Owned).ok_or_else(|| "nothing is selected".into()),
        false => Ok(Cow::Owned(Value::array(sizes, elements))),
    }
}

/// The field of a record, or of every element of an array of records.
pub fn field<U: Clone>(value: &Value<U>, index: u32) -> Outcome<Cow<'_, Value<U>>> {
    match value {
        Value::Record(fields) => {
            fields.get(index as usize).map(Cow::Borrowed).ok_or_else(|| "there is no such field in the record".into())
        }
        Value::Array(array) => {
            let parts: Vec<Value<U>> = array
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
pub fn reduce<D: Domain + ?Sized>(
    domain: &mut D,
    op: ReductionOp,
    values: impl Iterator<Item = ValueOf<D>>,
) -> Outcome<ValueOf<D>> {
    let mut result: Option<ValueOf<D>> = None;
    for value in values {
        result = Some(match (result, op) {
            (None, _) => value,
            (Some(left), ReductionOp::Sum) => elementwise_arithmetic(domain, ArithmeticOp::Add, left, value)?,
            (Some(left), ReductionOp::Product) => arithmetic(domain, ArithmeticOp::Mul, left, value)?,
            (Some(left), ReductionOp::Min) => builtin(domain, Builtin::Min, vec![left, value])?,
            (Some(left), ReductionOp::Max) => builtin(domain, Builtin::Max, vec![left, value])?,
        });
    }
    Ok(result.unwrap_or(match op {
        ReductionOp::Sum => Value::Integer(0),
        ReductionOp::Product => Value::Integer(1),
        ReductionOp::Min => Value::Real(f64::MAX),
        ReductionOp::Max => Value::Real(-f64::MAX),
    }))
}

/// A function on whole values.
pub fn whole<D: Domain + ?Sized>(
    domain: &mut D,
    function: ArrayFunction,
    arguments: Vec<ValueOf<D>>,
) -> Outcome<ValueOf<D>> {
    let argument = |k: usize| arguments.get(k).ok_or_else(|| "an argument is missing".to_owned());
    let count = arguments.len();
    match function {
        ArrayFunction::Size if count == 1 => Ok(Value::integers(argument(0)?.sizes().iter().map(|&size| size as i64))),
        ArrayFunction::Size => {
            let (sizes, dimension) = (argument(0)?.sizes(), integer_of(argument(1)?)?);
            let size = usize::try_from(dimension - 1).ok().and_then(|k| sizes.get(k));
            size.map(|&size| Value::Integer(size as i64))
                .ok_or_else(|| format!("an array of {} dimensions has no dimension {dimension}", sizes.len()))
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
        ArrayFunction::Linspace => linspace(domain, argument(0)?, argument(1)?, size_of(argument(2)?)?),
        ArrayFunction::Min if count == 2 => builtin(domain, Builtin::Min, arguments),
        ArrayFunction::Max if count == 2 => builtin(domain, Builtin::Max, arguments),
        ArrayFunction::Min => reduce_value(domain, ReductionOp::Min, argument(0)?),
        ArrayFunction::Max => reduce_value(domain, ReductionOp::Max, argument(0)?),
        ArrayFunction::Sum => reduce_value(domain, ReductionOp::Sum, argument(0)?),
        ArrayFunction::Product => reduce_value(domain, ReductionOp::Product, argument(0)?),
        ArrayFunction::Transpose => transpose(array_of(argument(0)?)?),
        ArrayFunction::OuterProduct => {
            let (a, b) = (array_of(argument(0)?)?, array_of(argument(1)?)?);
            let mut elements = Vec::with_capacity(element_count(&[a.elements.len(), b.elements.len()])?);
            for x in &a.elements {
                for y in &b.elements {
                    elements.push(scalar_arithmetic(domain, ArithmeticOp::Mul, x, y)?);
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
        ArrayFunction::Cross => cross(domain, three(argument(0)?)?, three(argument(1)?)?),
        ArrayFunction::Skew => skew(domain, three(argument(0)?)?),
        ArrayFunction::Cat => cat(size_of(argument(0)?)?, &arguments[1..]),
        ArrayFunction::Promote => promote(argument(0)?.clone(), size_of(argument(1)?)?),
        ArrayFunction::Integer => {
            map(domain, argument(0)?.clone(), &mut |domain, x| convert(domain, function, std::slice::from_ref(x)))
        }
        ArrayFunction::Enumeration
        | ArrayFunction::StringReal
        | ArrayFunction::StringInteger
        | ArrayFunction::StringBoolean
        | ArrayFunction::StringEnumeration
        | ArrayFunction::StringFormat
        | ArrayFunction::Concat => convert(domain, function, &arguments),
    }
}

fn convert<D: Domain + ?Sized>(
    domain: &mut D,
    function: ArrayFunction,
    arguments: &[ValueOf<D>],
) -> Outcome<ValueOf<D>> {
    if arguments.iter().any(|argument| matches!(argument, Value::Unset(_))) {
        return Err("a variable is used before it has a value".into());
    }
    match arguments.iter().all(Value::is_known) {
        true => known::convert(function, arguments),
        false => domain.convert(function, arguments),
    }
}

fn reduce_value<D: Domain + ?Sized>(domain: &mut D, op: ReductionOp, value: &ValueOf<D>) -> Outcome<ValueOf<D>> {
    match value {
        Value::Array(array) => reduce(domain, op, array.elements.iter().cloned()),
        scalar => Ok(scalar.clone()),
    }
}

fn linspace<D: Domain + ?Sized>(
    domain: &mut D,
    first: &ValueOf<D>,
    last: &ValueOf<D>,
    count: usize,
) -> Outcome<ValueOf<D>> {
    if count < 2 {
        return Err(format!("linspace needs at least 2 points, not {count}"));
    }
    element_count(&[count])?;
    let width = scalar_arithmetic(domain, ArithmeticOp::Sub, last, first)?;
    let mut elements = Vec::with_capacity(count);
    for k in 0..count - 1 {
        let part = scalar_arithmetic(domain, ArithmeticOp::Mul, &width, &Value::Real(k as f64))?;
        let part = scalar_arithmetic(domain, ArithmeticOp::Div, &part, &Value::Real((count - 1) as f64))?;
        elements.push(scalar_arithmetic(domain, ArithmeticOp::Add, first, &part)?);
    }
    elements.push(last.clone());
    let mut array = Array { sizes: vec![count], elements };
    array.unify();
    Ok(Value::Array(array))
}

fn cross<D: Domain + ?Sized>(domain: &mut D, x: &[ValueOf<D>], y: &[ValueOf<D>]) -> Outcome<ValueOf<D>> {
    let mut elements = Vec::with_capacity(3);
    for (i, j) in [(1, 2), (2, 0), (0, 1)] {
        let left = scalar_arithmetic(domain, ArithmeticOp::Mul, &x[i], &y[j])?;
        let right = scalar_arithmetic(domain, ArithmeticOp::Mul, &x[j], &y[i])?;
        elements.push(scalar_arithmetic(domain, ArithmeticOp::Sub, &left, &right)?);
    }
    Ok(Value::array(vec![3], elements))
}

fn skew<D: Domain + ?Sized>(domain: &mut D, x: &[ValueOf<D>]) -> Outcome<ValueOf<D>> {
    let zero = Value::Integer(0);
    let minus = x.iter().map(|element| negate(domain, element.clone())).collect::<Result<Vec<_>, _>>()?;
    let rows = [[&zero, &minus[2], &x[1]], [&x[2], &zero, &minus[0]], [&minus[1], &x[0], &zero]];
    let mut array = Array { sizes: vec![3, 3], elements: rows.into_iter().flatten().cloned().collect() };
    array.unify();
    Ok(Value::Array(array))
}

fn vector<U: Clone>(value: &Value<U>) -> Outcome<Value<U>> {
    match value {
        Value::Array(array) if array.sizes.iter().filter(|&&size| size > 1).count() > 1 => {
            Err(format!("vector() needs at most one size above 1, not {:?}", array.sizes))
        }
        Value::Array(array) => Ok(Value::array(vec![array.elements.len()], array.elements.clone())),
        scalar => Ok(Value::array(vec![1], vec![scalar.clone()])),
    }
}

fn matrix<U: Clone>(value: &Value<U>) -> Outcome<Value<U>> {
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

fn promote<U: Clone>(value: Value<U>, dimensions: usize) -> Outcome<Value<U>> {
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

fn diagonal<U: Clone>(v: &Array<U>) -> Outcome<Value<U>> {
    let n = v.elements.len();
    let count = element_count(&[n, n])?;
    let mut array = Array { sizes: vec![n, n], elements: vec![Value::Integer(0); count] };
    for (k, element) in v.elements.iter().enumerate() {
        array.elements[k * n + k] = element.clone();
    }
    array.unify();
    Ok(Value::Array(array))
}

fn filled<U: Clone>(value: Value<U>, sizes: &[Value<U>]) -> Outcome<Value<U>> {
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

fn transpose<U: Clone>(a: &Array<U>) -> Outcome<Value<U>> {
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

fn square<U>(a: &Array<U>) -> Outcome<usize> {
    match a.sizes.as_slice() {
        &[n, m] if n == m => Ok(n),
        sizes => Err(format!("a square matrix is expected, not an array of size {sizes:?}")),
    }
}

fn three<U: Clone>(value: &Value<U>) -> Outcome<&[Value<U>]> {
    match value {
        Value::Array(array) if array.sizes == [3] => Ok(&array.elements),
        other => Err(format!("a vector of 3 elements is expected, not {}", kind(other))),
    }
}

fn cat<U: Clone>(dimension: usize, parts: &[Value<U>]) -> Outcome<Value<U>> {
    let arrays = parts.iter().map(array_of).collect::<Result<Vec<_>, _>>()?;
    let first = arrays.first().ok_or("cat() needs an array")?;
    let k = dimension.checked_sub(1).filter(|&k| k < first.sizes.len());
    let k = k.ok_or_else(|| format!("cat() along dimension {dimension} of arrays of size {:?}", first.sizes))?;
    let agrees = |array: &&Array<U>| {
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
    use crate::evaluate::{Constants, NoExternals};

    /// Calls `f` with the domain of constants.
    fn constants<T>(f: impl FnOnce(&mut Constants<'_>) -> T) -> T {
        let mut externals = NoExternals;
        f(&mut Constants::new(&mut externals))
    }

    fn matrix(rows: &[&[f64]]) -> Value {
        Value::matrix(rows.len(), rows[0].len(), rows.iter().flat_map(|row| row.iter().copied()))
    }

    #[test]
    fn products_of_matrices() {
        let a = matrix(&[&[1.0, 2.0], &[3.0, 4.0]]);
        let v = Value::reals([1.0, 10.0]);
        let mul = |a: &Value, b: &Value| constants(|d| arithmetic(d, ArithmeticOp::Mul, a.clone(), b.clone())).unwrap();
        assert_eq!(mul(&a, &v), Value::reals([21.0, 43.0]));
        assert_eq!(mul(&v, &a), Value::reals([31.0, 42.0]));
        assert_eq!(mul(&v, &v), Value::Real(101.0));
        assert_eq!(mul(&a, &a), constants(|d| arithmetic(d, ArithmeticOp::Pow, a.clone(), Value::Integer(2))).unwrap());
        assert!(constants(|d| arithmetic(d, ArithmeticOp::Add, a, v)).is_err());
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
        let get = |selections: &[Selection]| constants(|d| select(d, &a, selections).map(Cow::into_owned));
        assert_eq!(get(&[Selection::One(1), Selection::One(2)]), Ok(Value::Real(6.0)));
        assert_eq!(get(&[Selection::All, Selection::One(0)]), Ok(Value::reals([1.0, 4.0])));
        assert_eq!(get(&[Selection::One(0)]), Ok(Value::reals([1.0, 2.0, 3.0])));
        assert_eq!(get(&[Selection::Many(vec![1, 0]), Selection::Many(vec![2])]), Ok(matrix(&[&[6.0], &[3.0]])));
        assert!(get(&[Selection::One(2)]).is_err());
        let joined =
            constants(|d| whole(d, ArrayFunction::Cat, vec![Value::Integer(2), a.clone(), matrix(&[&[7.0], &[8.0]])]))
                .unwrap();
        assert_eq!(joined, matrix(&[&[1.0, 2.0, 3.0, 7.0], &[4.0, 5.0, 6.0, 8.0]]));
        let transposed = constants(|d| whole(d, ArrayFunction::Transpose, vec![a])).unwrap();
        assert_eq!(transposed, matrix(&[&[1.0, 4.0], &[2.0, 5.0], &[3.0, 6.0]]));
    }

    #[test]
    fn text_of_numbers() {
        let text =
            |function, arguments| constants(|d| whole(d, function, arguments)).unwrap().as_str().unwrap().to_owned();
        assert_eq!(text(ArrayFunction::StringReal, vec![Value::Real(1.0 / 3.0)]), "0.333333");
        let wide = vec![Value::Integer(7), Value::Integer(4), Value::Boolean(false)];
        assert_eq!(text(ArrayFunction::StringInteger, wide), "   7");
        let names = vec![Value::Enumeration(2), Value::Integer(0), Value::Boolean(true)];
        let names = names.into_iter().chain([Value::string("red"), Value::string("green")]).collect();
        assert_eq!(text(ArrayFunction::StringEnumeration, names), "green");
        assert_eq!(text(ArrayFunction::StringFormat, vec![Value::Real(2.0), Value::string("5.1f")]), "  2.0");
    }
}
