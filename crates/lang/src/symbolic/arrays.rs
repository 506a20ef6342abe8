//! The operators and functions of arrays (10.3, 10.4, 10.6) on symbolic values.
//!
//! Every function returns `Err` with the sentence of a message where sizes do not fit; the caller knows the places.

use dae::function::{ArithmeticOp, ReductionOp};
use dae::{Builtin, ExprId, Exprs, Node};

use super::value::{Sizes, Symbolic, sizes_text, stack};
use crate::flat::{MOST_ELEMENTS, element_count, sizes_product};
use crate::typed::Base;

pub type Shaped = Result<Symbolic, String>;

fn scalar_arithmetic(exprs: &mut Exprs, op: ArithmeticOp, a: ExprId, b: ExprId) -> ExprId {
    match op {
        ArithmeticOp::Add => exprs.add(a, b),
        ArithmeticOp::Sub => exprs.sub(a, b),
        ArithmeticOp::Mul => exprs.mul(a, b),
        ArithmeticOp::Div => exprs.written_div(a, b),
        ArithmeticOp::Pow => exprs.pow(a, b),
    }
}

fn symbol(op: ArithmeticOp) -> &'static str {
    match op {
        ArithmeticOp::Add => "+",
        ArithmeticOp::Sub => "-",
        ArithmeticOp::Mul => "*",
        ArithmeticOp::Div => "/",
        ArithmeticOp::Pow => "^",
    }
}

/// Refuses arrays that no memory could hold.
fn check_count(sizes: &[usize]) -> Result<(), String> {
    match element_count(sizes) {
        Some(_) => Ok(()),
        None => Err(too_large(sizes)),
    }
}

pub fn too_large(sizes: &[usize]) -> String {
    format!("an array of {} elements is too large: at most {MOST_ELEMENTS} are supported", sizes_product(sizes))
}

/// Elementwise, a scalar standing for an array of the other's sizes.
pub fn broadcast(a: &Symbolic, b: &Symbolic, join: &mut impl FnMut(ExprId, ExprId) -> ExprId) -> Shaped {
    match (a, b) {
        (Symbolic::Scalar(x), _) => Ok(b.map(&mut |y| join(*x, y))),
        (_, Symbolic::Scalar(y)) => Ok(a.map(&mut |x| join(x, *y))),
        _ if is_empty(a) && is_empty(b) && a.sizes().len() == b.sizes().len() => Ok(a.clone()),
        _ => a.zip(b, join).ok_or_else(|| format!("sizes {} and {}", sizes_text(a.sizes()), sizes_text(b.sizes()))),
    }
}

pub fn is_empty(value: &Symbolic) -> bool {
    value.sizes().contains(&0)
}

pub fn elementwise(exprs: &mut Exprs, op: ArithmeticOp, a: &Symbolic, b: &Symbolic) -> Shaped {
    broadcast(a, b, &mut |x, y| scalar_arithmetic(exprs, op, x, y))
        .map_err(|sizes| format!("the operands of `{}` have {sizes}", symbol(op)))
}

pub fn arithmetic(exprs: &mut Exprs, op: ArithmeticOp, a: &Symbolic, b: &Symbolic) -> Shaped {
    match op {
        ArithmeticOp::Mul if !a.sizes().is_empty() && !b.sizes().is_empty() => multiply(exprs, a, b),
        ArithmeticOp::Pow if !a.sizes().is_empty() => matrix_power(exprs, a, b),
        _ => elementwise(exprs, op, a, b),
    }
}

/// The products of vectors and matrices (10.6.5).
fn multiply(exprs: &mut Exprs, a: &Symbolic, b: &Symbolic) -> Shaped {
    let wrong = || {
        format!(
            "the product needs equal inner sizes, and the operands have sizes {} and {}",
            sizes_text(a.sizes()),
            sizes_text(b.sizes())
        )
    };
    let (rows, inner, columns) = match (a.sizes(), b.sizes()) {
        (&[n], &[m]) if n == m => (None, n, None),
        (&[n, k], &[m]) if k == m => (Some(n), k, None),
        (&[n], &[m, k]) if n == m => (None, n, Some(k)),
        (&[n, k], &[l, m]) if k == l => (Some(n), k, Some(m)),
        _ => return Err(wrong()),
    };
    let (left, right) = (scalars(a)?, scalars(b)?);
    let (row_count, column_count) = (rows.unwrap_or(1), columns.unwrap_or(1));
    check_count(&[row_count, column_count])?;
    let mut elements = Vec::with_capacity(row_count * column_count);
    for row in 0..row_count {
        for column in 0..column_count {
            let terms = (0..inner).map(|k| (left[row * inner + k], right[k * column_count + column]));
            let terms: Vec<(ExprId, ExprId)> = terms.collect();
            elements.push(Symbolic::Scalar(scalar_product(exprs, &terms)));
        }
    }
    Ok(Symbolic::array(rows.into_iter().chain(columns).collect::<Sizes>(), elements))
}

fn scalar_product(exprs: &mut Exprs, terms: &[(ExprId, ExprId)]) -> ExprId {
    let products: Vec<ExprId> = terms.iter().map(|&(x, y)| exprs.mul(x, y)).collect();
    sum(exprs, &products)
}

fn sum(exprs: &mut Exprs, terms: &[ExprId]) -> ExprId {
    let mut terms = terms.iter();
    let Some(&first) = terms.next() else { return exprs.intern(Node::Integer(0)) };
    terms.fold(first, |total, &term| exprs.add(total, term))
}

fn matrix_power(exprs: &mut Exprs, a: &Symbolic, b: &Symbolic) -> Shaped {
    let &[rows, columns] = a.sizes() else {
        return Err(format!("`^` needs a square matrix, and its operand has sizes {}", sizes_text(a.sizes())));
    };
    let exponent = b.scalar().and_then(|id| integer(exprs, id));
    match exponent {
        _ if rows != columns => {
            Err(format!("`^` needs a square matrix, and its operand has sizes {}", sizes_text(a.sizes())))
        }
        Some(exponent) if (0..=1000).contains(&exponent) => {
            let mut result = identity(exprs, rows)?;
            for _ in 0..exponent {
                result = multiply(exprs, &result, a)?;
            }
            Ok(result)
        }
        _ => Err("the exponent of a matrix must be a constant whole number from 0".to_owned()),
    }
}

/// The value of a constant Integer, Boolean or enumeration; Reals that are whole count as well.
pub fn integer(exprs: &Exprs, id: ExprId) -> Option<i64> {
    match exprs.node(id) {
        Node::Integer(value) => Some(value),
        Node::Real(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(value as i64),
        _ => None,
    }
}

pub fn scalars(value: &Symbolic) -> Result<Vec<ExprId>, String> {
    value.elements().iter().map(|element| element.scalar().ok_or("numbers are needed here".to_owned())).collect()
}

pub fn identity(exprs: &mut Exprs, n: usize) -> Shaped {
    check_count(&[n, n])?;
    let (zero, one) = (exprs.intern(Node::Integer(0)), exprs.intern(Node::Integer(1)));
    let elements = (0..n * n).map(|at| Symbolic::Scalar(if at / n == at % n { one } else { zero })).collect();
    Ok(Symbolic::array(Sizes::from_slice(&[n, n]), elements))
}

pub fn diagonal(exprs: &mut Exprs, vector: &Symbolic) -> Shaped {
    let &[n] = vector.sizes() else { return Err("`diagonal` needs a vector".to_owned()) };
    check_count(&[n, n])?;
    let zero = Symbolic::Scalar(exprs.intern(Node::Integer(0)));
    let diagonal = vector.elements();
    let elements = (0..n * n).map(|at| if at / n == at % n { diagonal[at / n].clone() } else { zero.clone() });
    Ok(Symbolic::array(Sizes::from_slice(&[n, n]), elements.collect()))
}

/// `fill(value, sizes…)`, where the text gives the sizes.
pub fn filled(value: &Symbolic, sizes: &[usize]) -> Shaped {
    let all: Vec<usize> = sizes.iter().chain(value.sizes()).copied().collect();
    check_count(&all)?;
    Ok(fill(value, sizes))
}

/// An array of equal elements with sizes that are known not to be too large.
pub fn fill(value: &Symbolic, sizes: &[usize]) -> Symbolic {
    let count = sizes.iter().product();
    match value {
        Symbolic::Array(array) => {
            let mut all = Sizes::from_slice(sizes);
            all.extend_from_slice(&array.sizes);
            let elements = (0..count).flat_map(|_| array.elements.iter().cloned()).collect();
            Symbolic::array(all, elements)
        }
        other => Symbolic::array(Sizes::from_slice(sizes), vec![other.clone(); count]),
    }
}

pub fn linspace(exprs: &mut Exprs, from: ExprId, to: ExprId, n: usize) -> Shaped {
    if n < 2 {
        return Err(format!("`linspace` needs at least two points, not {n}"));
    }
    let width = exprs.sub(to, from);
    let mut elements = Vec::with_capacity(n);
    for at in 0..n {
        let part = exprs.intern(Node::Real(at as f64));
        let count = exprs.intern(Node::Real((n - 1) as f64));
        let scaled = exprs.mul(width, part);
        let step = exprs.div(scaled, count);
        elements.push(Symbolic::Scalar(exprs.add(from, step)));
    }
    Ok(Symbolic::vector(elements))
}

pub fn transpose(a: &Symbolic) -> Shaped {
    let [n, m, rest @ ..] = a.sizes() else { return Err("`transpose` needs at least a matrix".to_owned()) };
    let block: usize = rest.iter().product();
    let elements = a.elements();
    let mut out = Vec::with_capacity(elements.len());
    for column in 0..*m {
        for row in 0..*n {
            let start = (row * m + column) * block;
            out.extend_from_slice(&elements[start..start + block]);
        }
    }
    let mut sizes = Sizes::from_slice(&[*m, *n]);
    sizes.extend_from_slice(rest);
    Ok(Symbolic::array(sizes, out))
}

/// `matrix(A)`: the first two dimensions; the others must be 1.
pub fn matrix(a: &Symbolic) -> Shaped {
    let sizes = a.sizes();
    if sizes.iter().skip(2).any(|&n| n != 1) {
        return Err(format!("`matrix` needs size 1 from the third dimension on, not {}", sizes_text(sizes)));
    }
    let two = Sizes::from_slice(&[sizes.first().copied().unwrap_or(1), sizes.get(1).copied().unwrap_or(1)]);
    Ok(Symbolic::array(two, a.elements().to_vec()))
}

/// `vector(A)`: at most one dimension may be larger than 1.
pub fn vector(a: &Symbolic) -> Shaped {
    if a.sizes().iter().filter(|&&n| n > 1).count() > 1 {
        return Err(format!("`vector` needs at most one size above 1, not {}", sizes_text(a.sizes())));
    }
    Ok(Symbolic::vector(a.elements().to_vec()))
}

pub fn scalar(a: &Symbolic) -> Shaped {
    match a.elements() {
        [only] => Ok(only.clone()),
        _ => Err(format!("`scalar` needs a single element, not sizes {}", sizes_text(a.sizes()))),
    }
}

/// Dimensions of size 1 behind until there are `rank`.
pub fn promote(a: &Symbolic, rank: usize) -> Symbolic {
    let mut sizes = Sizes::from_slice(a.sizes());
    while sizes.len() < rank {
        sizes.push(1);
    }
    Symbolic::array(sizes, a.elements().to_vec())
}

/// `cat(dimension, …)`, the dimension from 0, all operands of one rank (10.4.2).
pub fn cat(dimension: usize, operands: &[Symbolic]) -> Shaped {
    let Some(first) = operands.first() else { return Err("`cat` needs an operand".to_owned()) };
    let rank = first.sizes().len();
    if dimension >= rank {
        return Err(format!("`cat` along dimension {} of arrays with {rank}", dimension + 1));
    }
    for other in operands {
        let fits =
            other.sizes().len() == rank && (0..rank).all(|k| k == dimension || other.sizes()[k] == first.sizes()[k]);
        if !fits {
            return Err(format!(
                "sizes {} and {} cannot be joined along dimension {}",
                sizes_text(first.sizes()),
                sizes_text(other.sizes()),
                dimension + 1
            ));
        }
    }
    let outer: usize = first.sizes()[..dimension].iter().product();
    let mut elements = Vec::new();
    for at in 0..outer {
        for operand in operands {
            let block: usize = operand.sizes()[dimension..].iter().product();
            elements.extend_from_slice(&operand.elements()[at * block..(at + 1) * block]);
        }
    }
    let mut sizes = Sizes::from_slice(first.sizes());
    sizes[dimension] = operands.iter().map(|operand| operand.sizes()[dimension]).sum();
    Ok(Symbolic::array(sizes, elements))
}

/// `{a, b, …}`.
pub fn construct(values: Vec<Symbolic>, rank: usize) -> Shaped {
    if let Some(first) = values.first() {
        let odd = values.iter().find(|value| value.sizes() != first.sizes() && !(is_empty(value) && is_empty(first)));
        if let Some(odd) = odd {
            return Err(format!(
                "the elements of an array must have equal sizes, and these have {} and {}",
                sizes_text(first.sizes()),
                sizes_text(odd.sizes())
            ));
        }
    }
    Ok(with_rank(stack(&[values.len()], values), rank))
}

/// An empty array whose inner sizes no element could tell gets zeros for them.
pub fn with_rank(value: Symbolic, rank: usize) -> Symbolic {
    match &value {
        Symbolic::Array(array) if array.sizes.len() < rank && array.elements.is_empty() => {
            let mut sizes = array.sizes.clone();
            sizes.resize(rank, 0);
            Symbolic::array(sizes, Vec::new())
        }
        _ => value,
    }
}

pub fn cross(exprs: &mut Exprs, a: &Symbolic, b: &Symbolic) -> Shaped {
    let (x, y) = (scalars(a)?, scalars(b)?);
    let (&[x0, x1, x2], &[y0, y1, y2]) = (x.as_slice(), y.as_slice()) else {
        return Err(format!(
            "`cross` needs vectors of size 3, not {} and {}",
            sizes_text(a.sizes()),
            sizes_text(b.sizes())
        ));
    };
    let mut component = |a, b, c, d| {
        let (left, right) = (exprs.mul(a, b), exprs.mul(c, d));
        Symbolic::Scalar(exprs.sub(left, right))
    };
    Ok(Symbolic::vector(vec![component(x1, y2, y1, x2), component(x2, y0, y2, x0), component(x0, y1, y0, x1)]))
}

pub fn skew(exprs: &mut Exprs, a: &Symbolic) -> Shaped {
    let &[x, y, z] = scalars(a)?.as_slice() else {
        return Err(format!("`skew` needs a vector of size 3, not {}", sizes_text(a.sizes())));
    };
    let zero = exprs.intern(Node::Integer(0));
    let (minus_x, minus_y, minus_z) = (exprs.neg(x), exprs.neg(y), exprs.neg(z));
    let elements = [zero, minus_z, y, z, zero, minus_x, minus_y, x, zero];
    Ok(Symbolic::array(Sizes::from_slice(&[3, 3]), elements.into_iter().map(Symbolic::Scalar).collect()))
}

pub fn outer_product(exprs: &mut Exprs, a: &Symbolic, b: &Symbolic) -> Shaped {
    let (x, y) = (scalars(a)?, scalars(b)?);
    let sizes = Sizes::from_slice(&[x.len(), y.len()]);
    check_count(&sizes)?;
    let pairs = x.iter().flat_map(|&x| y.iter().map(move |&y| (x, y)));
    Ok(Symbolic::array(sizes, pairs.map(|(x, y)| Symbolic::Scalar(exprs.mul(x, y))).collect()))
}

/// The upper half mirrored to the lower.
pub fn symmetric(a: &Symbolic) -> Shaped {
    let &[n, m] = a.sizes() else { return Err("`symmetric` needs a matrix".to_owned()) };
    if n != m {
        return Err(format!("`symmetric` needs a square matrix, not {}", sizes_text(a.sizes())));
    }
    let elements = a.elements();
    let pick = |row: usize, column: usize| elements[row.min(column) * n + row.max(column)].clone();
    Ok(Symbolic::array(Sizes::from_slice(&[n, n]), (0..n * n).map(|at| pick(at / n, at % n)).collect()))
}

/// `sum`, `product`, `min`, `max` over scalars; empty ones give the neutral element (10.3.4).
pub fn reduce(exprs: &mut Exprs, op: ReductionOp, terms: &[ExprId], base: &Base) -> ExprId {
    let mut rest = terms.iter();
    let Some(&first) = rest.next() else { return exprs.intern(neutral(op, base)) };
    rest.fold(first, |total, &term| match op {
        ReductionOp::Sum => exprs.add(total, term),
        ReductionOp::Product => exprs.mul(total, term),
        ReductionOp::Min => exprs.builtin(Builtin::Min, &[total, term]),
        ReductionOp::Max => exprs.builtin(Builtin::Max, &[total, term]),
    })
}

/// What a reduction over nothing gives: of `min` the greatest value of the type, of `max` the least one.
fn neutral(op: ReductionOp, base: &Base) -> Node {
    const GREATEST: i64 = dae::known::LARGEST_INTEGER;
    match (op, base) {
        (ReductionOp::Sum, Base::Real) => Node::Real(0.0),
        (ReductionOp::Sum, _) => Node::Integer(0),
        (ReductionOp::Product, Base::Real) => Node::Real(1.0),
        (ReductionOp::Product, _) => Node::Integer(1),
        (ReductionOp::Min, Base::Real) => Node::Real(f64::MAX),
        (ReductionOp::Max, Base::Real) => Node::Real(-f64::MAX),
        (_, Base::Boolean) => Node::Boolean(op == ReductionOp::Min),
        (ReductionOp::Min, Base::Enumeration(enumeration)) => Node::Integer(enumeration.literals.len() as i64),
        (ReductionOp::Max, Base::Enumeration(_)) => Node::Integer(1),
        (ReductionOp::Min, _) => Node::Integer(GREATEST),
        (ReductionOp::Max, _) => Node::Integer(-GREATEST),
    }
}

/// The subscripts of one dimension as positions from 0, checked against the size.
pub fn positions(list: &[i64], size: usize) -> Result<Vec<usize>, String> {
    list.iter()
        .map(|&at| match usize::try_from(at) {
            Ok(at) if (1..=size).contains(&at) => Ok(at - 1),
            _ => Err(format!("subscript {at} is outside of 1 … {size}")),
        })
        .collect()
}
