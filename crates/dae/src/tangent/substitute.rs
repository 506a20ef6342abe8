//! Expressions with other expressions in place of locals.

use crate::function::{Expr, LocalId, Subscript};

/// Each local that `replacement` knows is replaced by what it stands for.
pub fn substitute(expr: &Expr, replacement: &dyn Fn(LocalId) -> Option<Expr>) -> Expr {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || operands(expr, replacement))
}

fn operands(expr: &Expr, replacement: &dyn Fn(LocalId) -> Option<Expr>) -> Expr {
    let one = |operand: &Expr| Box::new(substitute(operand, replacement));
    let list = |items: &[Expr]| items.iter().map(|item| substitute(item, replacement)).collect::<Vec<_>>();
    let given = |items: &[(u32, Expr)]| items.iter().map(|(at, item)| (*at, substitute(item, replacement))).collect();
    let ranges = |iterators: &[(LocalId, Expr)]| -> Vec<(LocalId, Expr)> {
        iterators.iter().map(|(iterator, range)| (*iterator, substitute(range, replacement))).collect()
    };
    match expr {
        Expr::Local(local) => replacement(*local).unwrap_or_else(|| expr.clone()),
        Expr::Real(_)
        | Expr::Integer(_)
        | Expr::Boolean(_)
        | Expr::String(_)
        | Expr::Enumeration(..)
        | Expr::Unset(_) => expr.clone(),
        Expr::Index(base, subscripts) => {
            let subscript = |subscript: &Subscript| match subscript {
                Subscript::All => Subscript::All,
                Subscript::Expr(at) => Subscript::Expr(substitute(at, replacement)),
            };
            Expr::Index(one(base), subscripts.iter().map(subscript).collect())
        }
        Expr::Field(a, index) => Expr::Field(one(a), *index),
        Expr::Neg(a) => Expr::Neg(one(a)),
        Expr::Not(a) => Expr::Not(one(a)),
        Expr::Arithmetic(op, a, b) => Expr::Arithmetic(*op, one(a), one(b)),
        Expr::Elementwise(op, a, b) => Expr::Elementwise(*op, one(a), one(b)),
        Expr::And(a, b) => Expr::And(one(a), one(b)),
        Expr::Or(a, b) => Expr::Or(one(a), one(b)),
        Expr::Compare(op, a, b) => Expr::Compare(*op, one(a), one(b)),
        Expr::If(a, b, c) => Expr::If(one(a), one(b), one(c)),
        Expr::Array(items) => Expr::Array(list(items)),
        Expr::Range(a, b, c) => Expr::Range(one(a), b.as_deref().map(one), one(c)),
        Expr::ArrayFor { element, iterators } => Expr::ArrayFor { element: one(element), iterators: ranges(iterators) },
        Expr::Reduction { op, element, iterators } => {
            Expr::Reduction { op: *op, element: one(element), iterators: ranges(iterators) }
        }
        Expr::Record(ty, fields) => Expr::Record(ty.clone(), list(fields)),
        Expr::Builtin(op, arguments) => Expr::Builtin(*op, list(arguments)),
        Expr::Whole(function, arguments) => Expr::Whole(*function, list(arguments)),
        Expr::Call(id, arguments) => Expr::Call(*id, list(arguments)),
        Expr::CallLocal(local, arguments) => Expr::CallLocal(*local, list(arguments)),
        Expr::FunctionValue(id, values) => Expr::FunctionValue(*id, given(values)),
        Expr::LocalValue(local, values) => Expr::LocalValue(*local, given(values)),
        Expr::Vectorized { function, arguments, over } => {
            Expr::Vectorized { function: *function, arguments: list(arguments), over: over.clone() }
        }
    }
}
