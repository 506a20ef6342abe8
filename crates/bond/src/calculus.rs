//! Sums and products that are simplified as they are made, derivatives, and linear systems of expressions.

use crate::expr::{Expr, Function, Operator, deep, negated};
use crate::graph::{Expression, Leaf};

pub fn zero() -> Expression {
    Expr::Number(0.0, "0".to_owned())
}

pub fn one() -> Expression {
    Expr::Number(1.0, "1".to_owned())
}

fn is_zero(expression: &Expression) -> bool {
    expression.is_number(0.0)
}

/// The sum, without terms and factors that change nothing.
pub fn sum(left: Expression, right: Expression) -> Expression {
    match (left, right) {
        (left, right) if is_zero(&right) => left,
        (left, right) if is_zero(&left) => right,
        (left, Expr::Negate(right)) => difference(left, *right),
        (Expr::Negate(left), right) => difference(right, *left),
        (left, right) => Expr::binary(Operator::Add, left, right),
    }
}

/// The difference, without terms and factors that change nothing.
pub fn difference(left: Expression, right: Expression) -> Expression {
    match (left, right) {
        (left, right) if is_zero(&right) => left,
        (left, right) if is_zero(&left) => negated(right),
        (left, right) if left == right => zero(),
        (left, Expr::Negate(right)) => sum(left, *right),
        (left, right) => Expr::binary(Operator::Subtract, left, right),
    }
}

/// The product, without terms and factors that change nothing.
pub fn product(left: Expression, right: Expression) -> Expression {
    match (left, right) {
        (left, right) if is_zero(&left) || is_zero(&right) => zero(),
        (left, right) if left.is_number(1.0) => right,
        (left, right) if right.is_number(1.0) => left,
        (Expr::Negate(left), right) => negated(product(*left, right)),
        (left, Expr::Negate(right)) => negated(product(left, *right)),
        (Expr::Number(left, _), Expr::Number(right, _)) => Expr::number(left * right),
        // `(1/C)*q` is `q/C`.
        (Expr::Binary(Operator::Divide, top, bottom), right) if top.is_number(1.0) => quotient(right, *bottom),
        (left, Expr::Binary(Operator::Divide, top, bottom)) if top.is_number(1.0) => quotient(left, *bottom),
        (left, right) => Expr::binary(Operator::Multiply, left, right),
    }
}

/// The quotient, without terms and factors that change nothing.
pub fn quotient(left: Expression, right: Expression) -> Expression {
    match (left, right) {
        (left, _) if is_zero(&left) => zero(),
        (left, right) if right.is_number(1.0) => left,
        (left, right) if left == right => one(),
        (Expr::Negate(left), right) => negated(quotient(*left, right)),
        (left, Expr::Negate(right)) => negated(quotient(left, *right)),
        (left, right) => Expr::binary(Operator::Divide, left, right),
    }
}

fn call(function: Function, argument: Expression) -> Expression {
    Expr::Call(function, vec![argument])
}

/// The same with other leaves, simplified on the way.
pub fn substitute(expression: &Expression, leaf: &mut impl FnMut(&Leaf) -> Expression) -> Expression {
    deep(|| match expression {
        Expr::Leaf(name) => leaf(name),
        Expr::Negate(inner) => negated(substitute(inner, leaf)),
        Expr::Binary(operator, left, right) => {
            let (left, right) = (substitute(left, leaf), substitute(right, leaf));
            match operator {
                Operator::Add => sum(left, right),
                Operator::Subtract => difference(left, right),
                Operator::Multiply => product(left, right),
                Operator::Divide => quotient(left, right),
                _ => Expr::binary(*operator, left, right),
            }
        }
        Expr::Call(function, arguments) => {
            Expr::Call(*function, arguments.iter().map(|argument| substitute(argument, leaf)).collect())
        }
        Expr::If(condition, yes, no) => Expr::If(
            Box::new(substitute(condition, leaf)),
            Box::new(substitute(yes, leaf)),
            Box::new(substitute(no, leaf)),
        ),
        Expr::Not(inner) => Expr::Not(Box::new(substitute(inner, leaf))),
        Expr::Number(..) | Expr::Boolean(_) => expression.clone(),
    })
}

/// How many operations, names and numbers it has.
pub fn size(expression: &Expression) -> usize {
    let mut leaves = 0;
    expression.leaves(&mut |_| leaves += 1);
    leaves
}

/// The partial derivative by a leaf; conditions are taken as they are.
pub fn derivative(expression: &Expression, by: Leaf) -> Expression {
    if !expression.any_leaf(|leaf| *leaf == by) {
        return zero();
    }
    deep(|| match expression {
        Expr::Number(..) | Expr::Boolean(_) | Expr::Not(_) => zero(),
        Expr::Leaf(_) => one(),
        Expr::Negate(inner) => negated(derivative(inner, by)),
        Expr::If(condition, yes, no) => {
            Expr::If(condition.clone(), Box::new(derivative(yes, by)), Box::new(derivative(no, by)))
        }
        Expr::Binary(operator, left, right) => {
            let (of_left, of_right) = (derivative(left, by), derivative(right, by));
            let (left, right) = (|| (**left).clone(), || (**right).clone());
            match operator {
                Operator::Add => sum(of_left, of_right),
                Operator::Subtract => difference(of_left, of_right),
                Operator::Multiply => sum(product(of_left, right()), product(left(), of_right)),
                Operator::Divide => {
                    let first = quotient(of_left, right());
                    let square = Expr::binary(Operator::Power, right(), Expr::number(2.0));
                    difference(first, quotient(product(left(), of_right), square))
                }
                Operator::Power => power(left(), right(), of_left, of_right),
                _ => zero(),
            }
        }
        Expr::Call(function, arguments) => chain(*function, arguments, by),
    })
}

fn power(base: Expression, exponent: Expression, of_base: Expression, of_exponent: Expression) -> Expression {
    let lower = match &exponent {
        Expr::Number(2.0, _) => base.clone(),
        Expr::Number(value, _) => Expr::binary(Operator::Power, base.clone(), Expr::number(value - 1.0)),
        other => Expr::binary(Operator::Power, base.clone(), difference(other.clone(), one())),
    };
    let first = product(product(exponent.clone(), lower), of_base);
    let whole = Expr::binary(Operator::Power, base.clone(), exponent);
    sum(first, product(product(whole, call(Function::Log, base)), of_exponent))
}

fn chain(function: Function, arguments: &[Expression], by: Leaf) -> Expression {
    let Some(x) = arguments.first().cloned() else { return zero() };
    let of_x = derivative(&x, by);
    let square = |x: Expression| Expr::binary(Operator::Power, x, Expr::number(2.0));
    let inner = match function {
        Function::Sin => call(Function::Cos, x),
        Function::Cos => negated(call(Function::Sin, x)),
        Function::Tan => sum(one(), square(call(Function::Tan, x))),
        Function::Asin => quotient(one(), call(Function::Sqrt, difference(one(), square(x)))),
        Function::Acos => negated(quotient(one(), call(Function::Sqrt, difference(one(), square(x))))),
        Function::Atan => quotient(one(), sum(one(), square(x))),
        Function::Sinh => call(Function::Cosh, x),
        Function::Cosh => call(Function::Sinh, x),
        Function::Tanh => difference(one(), square(call(Function::Tanh, x))),
        Function::Exp => call(Function::Exp, x),
        Function::Log => quotient(one(), x),
        Function::Log10 => quotient(one(), product(Expr::number(std::f64::consts::LN_10), x)),
        Function::Sqrt => quotient(one(), product(Expr::number(2.0), call(Function::Sqrt, x))),
        Function::Abs => call(Function::Sign, x),
        Function::Sign => zero(),
        Function::Atan2 | Function::Min | Function::Max => {
            let Some(y) = arguments.get(1).cloned() else { return zero() };
            let of_y = derivative(&y, by);
            if function == Function::Atan2 {
                let top = difference(product(of_x, y.clone()), product(x.clone(), of_y));
                return quotient(top, sum(square(x), square(y)));
            }
            let relation = if function == Function::Min { Operator::Less } else { Operator::Greater };
            return Expr::If(Box::new(Expr::binary(relation, x, y)), Box::new(of_x), Box::new(of_y));
        }
    };
    product(inner, of_x)
}

/// Values of unknowns that make all residuals zero, where these are linear in them; none otherwise, or where they leave
/// something open.
pub fn solve_linear(residuals: &[Expression], unknowns: &[Leaf]) -> Option<Vec<Expression>> {
    let count = unknowns.len();
    if residuals.len() != count {
        return None;
    }
    let is_unknown = |leaf: &Leaf| unknowns.contains(leaf);
    let mut rows: Vec<(Vec<Expression>, Expression)> = Vec::with_capacity(count);
    for residual in residuals {
        let coefficients: Vec<Expression> = unknowns.iter().map(|unknown| derivative(residual, *unknown)).collect();
        if coefficients.iter().any(|coefficient| coefficient.any_leaf(is_unknown)) {
            return None;
        }
        let rest = substitute(residual, &mut |leaf| if is_unknown(leaf) { zero() } else { Expr::Leaf(*leaf) });
        rows.push((coefficients, negated(rest)));
    }
    for column in 0..count {
        let cost = |row: &(Vec<Expression>, Expression)| match &row.0[column] {
            Expr::Number(..) => 0,
            other => 1 + size(other),
        };
        let pivot =
            (column..count).filter(|row| !is_zero(&rows[*row].0[column])).min_by_key(|row| cost(&rows[*row]))?;
        rows.swap(column, pivot);
        let (coefficients, right) = rows[column].clone();
        for (index, row) in rows.iter_mut().enumerate() {
            if index == column || is_zero(&row.0[column]) {
                continue;
            }
            let factor = quotient(row.0[column].clone(), coefficients[column].clone());
            for (entry, other) in row.0.iter_mut().zip(&coefficients) {
                *entry = difference(std::mem::replace(entry, zero()), product(factor.clone(), other.clone()));
            }
            row.0[column] = zero();
            row.1 = difference(std::mem::replace(&mut row.1, zero()), product(factor, right.clone()));
            if row.0.iter().map(size).sum::<usize>() > 20_000 {
                return None;
            }
        }
    }
    Some(
        rows.into_iter()
            .enumerate()
            .map(|(index, (coefficients, right))| quotient(right, coefficients[index].clone()))
            .collect(),
    )
}
