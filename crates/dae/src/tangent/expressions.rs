//! Derivatives of expressions.

use super::helpers::{apply, size, up_to};
use super::substitute::substitute;
use super::{Made, TangentBuilder, contains_reals, element};
use crate::expr::{Builtin, CompareOp};
use crate::function::{ArithmeticOp, ArrayFunction, Expr, LocalId, ReductionOp, Type};

fn elementwise(op: ArithmeticOp, a: Expr, b: Expr) -> Expr {
    match (op, &a, &b) {
        (ArithmeticOp::Mul, Expr::Real(1.0) | Expr::Integer(1), _) => b,
        (ArithmeticOp::Mul, _, Expr::Real(1.0) | Expr::Integer(1)) => a,
        _ => Expr::Elementwise(op, Box::new(a), Box::new(b)),
    }
}

fn arithmetic(op: ArithmeticOp, a: Expr, b: Expr) -> Expr {
    Expr::Arithmetic(op, Box::new(a), Box::new(b))
}

fn call(op: Builtin, argument: &Expr) -> Expr {
    Expr::Builtin(op, vec![argument.clone()])
}

/// Zeros of the size of a number or an array of numbers.
fn zero_like(expr: &Expr) -> Expr {
    match expr {
        Expr::Real(_) | Expr::Integer(_) => Expr::Real(0.0),
        other => elementwise(ArithmeticOp::Mul, Expr::Real(0.0), other.clone()),
    }
}

impl TangentBuilder<'_> {
    /// The derivative of what is constant: zeros of the right size. What is no Real in a record stays.
    pub(super) fn zero(&mut self, expr: &Expr) -> Made<Expr> {
        Ok(match expr {
            Expr::Record(ty, fields) => {
                let mut zeros = Vec::with_capacity(fields.len());
                for (field, value) in ty.fields.iter().zip(fields) {
                    zeros.push(if contains_reals(&field.ty) { self.zero(value)? } else { value.clone() });
                }
                Expr::Record(ty.clone(), zeros)
            }
            Expr::FunctionValue(id, given) => match self.function_value(*id, given, true)? {
                Some(tangent) => tangent,
                None => return self.fail("a function is missing"),
            },
            Expr::If(condition, then, otherwise) => {
                Expr::If(condition.clone(), Box::new(self.zero(then)?), Box::new(self.zero(otherwise)?))
            }
            Expr::Array(items) => Expr::Array(items.iter().map(|item| self.zero(item)).collect::<Made<Vec<_>>>()?),
            // What has no value has no derivative that may be read either.
            Expr::Unset(_) => expr.clone(),
            Expr::Whole(ArrayFunction::Fill, arguments) => {
                let mut arguments = arguments.clone();
                if let Some(element) = arguments.first_mut() {
                    *element = self.zero(element)?;
                }
                Expr::Whole(ArrayFunction::Fill, arguments)
            }
            Expr::ArrayFor { element, iterators } => {
                Expr::ArrayFor { element: Box::new(self.zero(element)?), iterators: iterators.clone() }
            }
            // An element of a constant table of records.
            Expr::Index(base, subscripts) if matches!(**base, Expr::Array(_)) => {
                Expr::Index(Box::new(self.zero(base)?), subscripts.clone())
            }
            other => match self.scope().type_of(other) {
                Some(Type::Record(record)) => {
                    let zero = self.differentiator.zero_record(self.functions, &record, self.original.span);
                    apply(zero, other.clone(), self.scope().dimensions(other))
                }
                Some(Type::Function(_)) => return self.fail("a function has no derivative"),
                _ => zero_like(other),
            },
        })
    }

    /// The derivative of an expression; `None` where it is zero.
    pub(super) fn derivative_of(&mut self, expr: &Expr) -> Made<Option<Expr>> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.expression(expr))
    }

    fn expression(&mut self, expr: &Expr) -> Made<Option<Expr>> {
        use ArithmeticOp::*;
        Ok(match expr {
            Expr::Local(local) => self.derivative_local(*local).map(Expr::Local),
            Expr::Index(base, subscripts) => {
                self.derivative_of(base)?.map(|base| Expr::Index(Box::new(base), subscripts.clone()))
            }
            Expr::Field(base, index) => {
                if !self.scope().type_of(expr).is_some_and(|ty| contains_reals(&ty)) {
                    return Ok(None);
                }
                self.derivative_of(base)?.map(|base| Expr::Field(Box::new(base), *index))
            }
            Expr::Neg(a) => self.derivative_of(a)?.map(|a| Expr::Neg(Box::new(a))),
            Expr::Arithmetic(op @ (Add | Sub), a, b) => match (self.derivative_of(a)?, self.derivative_of(b)?) {
                (None, None) => None,
                (Some(a), None) => Some(a),
                (None, Some(b)) if *op == Add => Some(b),
                (None, Some(b)) => Some(Expr::Neg(Box::new(b))),
                (Some(a), Some(b)) => Some(arithmetic(*op, a, b)),
            },
            Expr::Elementwise(op @ (Add | Sub), a, b) => match (self.derivative_of(a)?, self.derivative_of(b)?) {
                (None, None) => None,
                // A scalar with an array: the zeros carry the size.
                (da, db) => {
                    Some(elementwise(*op, da.unwrap_or_else(|| zero_like(a)), db.unwrap_or_else(|| zero_like(b))))
                }
            },
            Expr::Arithmetic(Mul, a, b) => self.product(a, b, arithmetic)?,
            Expr::Elementwise(Mul, a, b) => self.product(a, b, elementwise)?,
            Expr::Arithmetic(Div, a, b) => self.quotient(a, b, arithmetic)?,
            Expr::Elementwise(Div, a, b) => self.quotient(a, b, elementwise)?,
            Expr::Arithmetic(Pow, a, b) if self.scope().dimensions(a) == 2 => {
                let Some(derivative) = self.derivative_of(a)? else { return Ok(None) };
                let power = self.differentiator.matrix_power(self.functions, self.original.span);
                let tangent = self.differentiator.tangent(self.functions, power)?;
                Some(Expr::Call(tangent, vec![(**a).clone(), (**b).clone(), derivative]))
            }
            Expr::Arithmetic(Pow, a, b) | Expr::Elementwise(Pow, a, b) => self.power(expr, a, b)?,
            Expr::If(condition, then, otherwise) => {
                let (dthen, dotherwise) = (self.derivative_of(then)?, self.derivative_of(otherwise)?);
                if dthen.is_none() && dotherwise.is_none() {
                    return Ok(None);
                }
                let then = dthen.map_or_else(|| self.zero(then), Ok)?;
                let otherwise = dotherwise.map_or_else(|| self.zero(otherwise), Ok)?;
                Some(Expr::If(condition.clone(), Box::new(then), Box::new(otherwise)))
            }
            Expr::Array(items) => self.items(items)?.map(Expr::Array),
            Expr::Record(ty, fields) => {
                let mut any = false;
                let mut derivatives = Vec::with_capacity(fields.len());
                for (field, value) in ty.fields.iter().zip(fields) {
                    derivatives.push(if contains_reals(&field.ty) {
                        let derivative = self.derivative_of(value)?;
                        any |= derivative.is_some();
                        derivative.map_or_else(|| self.zero(value), Ok)?
                    } else {
                        value.clone()
                    });
                }
                any.then(|| Expr::Record(ty.clone(), derivatives))
            }
            Expr::Range(start, step, _) => self.range(expr, start, step.as_deref())?,
            Expr::ArrayFor { element, iterators } => self
                .over_iterators(element, iterators)?
                .map(|(element, iterators)| Expr::ArrayFor { element: Box::new(element), iterators }),
            Expr::Reduction { op: ReductionOp::Sum, element, iterators } => {
                self.over_iterators(element, iterators)?.map(|(element, iterators)| Expr::Reduction {
                    op: ReductionOp::Sum,
                    element: Box::new(element),
                    iterators,
                })
            }
            Expr::Reduction { op, element, iterators } => {
                let all = Expr::ArrayFor { element: element.clone(), iterators: iterators.clone() };
                self.fold(*op, &all)?
            }
            Expr::Builtin(op, arguments) => self.builtin(expr, *op, arguments)?,
            Expr::Whole(function, arguments) => self.whole(*function, arguments)?,
            Expr::Call(id, arguments) => self.derived_call(*id, arguments, false)?,
            Expr::CallLocal(local, arguments) => self.derived_local_call(*local, arguments)?,
            Expr::Vectorized { function, arguments, over } => {
                let Some((target, mut all, inputs)) = self.derived_arguments(*function, arguments, false)? else {
                    return Ok(None);
                };
                let mut marks = over.clone();
                marks.resize(arguments.len(), false);
                marks.extend(inputs.iter().map(|&k| over.get(k).copied().unwrap_or(false)));
                all.truncate(marks.len());
                Some(Expr::Vectorized { function: target, arguments: all, over: marks })
            }
            Expr::Real(_)
            | Expr::Integer(_)
            | Expr::Boolean(_)
            | Expr::String(_)
            | Expr::Enumeration(..)
            | Expr::Unset(_)
            | Expr::Not(_)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Compare(..) => None,
            Expr::FunctionValue(id, given) => self.function_value(*id, given, false)?,
            Expr::LocalValue(local, given) => self.local_value(*local, given)?,
        })
    }

    /// The values of a range move with its first one and with the step; their number is piecewise constant.
    fn range(&mut self, expr: &Expr, start: &Expr, step: Option<&Expr>) -> Made<Option<Expr>> {
        use ArithmeticOp::*;
        let first = self.derivative_of(start)?;
        let step = step.map(|step| self.derivative_of(step)).transpose()?.flatten();
        if first.is_none() && step.is_none() {
            return Ok(None);
        }
        let position = self.new_local("position", Type::Integer, 0);
        let first = first.unwrap_or(Expr::Real(0.0));
        let element = match step {
            Some(step) => {
                let steps = arithmetic(Sub, Expr::Local(position), Expr::Integer(1));
                arithmetic(Add, first, arithmetic(Mul, steps, step))
            }
            None => first,
        };
        let iterators = vec![(position, up_to(size(expr.clone(), 1)))];
        Ok(Some(Expr::ArrayFor { element: Box::new(element), iterators }))
    }

    /// The derivative of what is made for each value of iterators. Those over Reals with a derivative become positions, at
    /// which the Real and its derivative are taken from arrays.
    fn over_iterators(
        &mut self,
        inner: &Expr,
        iterators: &[(LocalId, Expr)],
    ) -> Made<Option<(Expr, Vec<(LocalId, Expr)>)>> {
        let mut constant = Vec::new();
        let mut moving = Vec::new();
        for (iterator, range) in iterators {
            let derived = self.derivative_local(*iterator);
            match (self.derivative_of(range)?, derived) {
                (Some(derivative), Some(derived)) => moving.push((*iterator, derived, derivative)),
                _ => constant.push(*iterator),
            }
        }
        let Some(derivative) = self.with_constants(&constant, |builder| builder.derivative_of(inner))? else {
            return Ok(None);
        };
        let mut replaced: Vec<(LocalId, Expr)> = Vec::new();
        let mut positions = Vec::with_capacity(iterators.len());
        for (iterator, range) in iterators {
            let Some((_, derived, derivative)) = moving.iter().find(|(moving, ..)| moving == iterator) else {
                positions.push((*iterator, range.clone()));
                continue;
            };
            let position = self.new_local("position", Type::Integer, 0);
            let dimensions = self.locals[*iterator].sizes.len();
            replaced.push((*iterator, element(range.clone(), position, dimensions)));
            replaced.push((*derived, element(derivative.clone(), position, dimensions)));
            positions.push((position, up_to(size(range.clone(), 1))));
        }
        let replacement =
            |local: LocalId| replaced.iter().find(|(known, _)| *known == local).map(|(_, value)| value.clone());
        Ok(Some((substitute(&derivative, &replacement), positions)))
    }

    /// The derivative of `product`, `min` or `max` of all elements.
    fn fold(&mut self, op: ReductionOp, all: &Expr) -> Made<Option<Expr>> {
        let Some(derivative) = self.derivative_of(all)? else { return Ok(None) };
        let dimensions = self.scope().dimensions(all);
        if dimensions == 0 {
            return Ok(Some(derivative));
        }
        let fold = self.differentiator.fold(self.functions, op, dimensions, self.original.span);
        let tangent = self.differentiator.tangent(self.functions, fold)?;
        Ok(Some(Expr::Call(tangent, vec![all.clone(), derivative])))
    }

    /// The derivatives of all, zeros in between; `None` if all are zero.
    fn items(&mut self, items: &[Expr]) -> Made<Option<Vec<Expr>>> {
        let derivatives = items.iter().map(|item| self.derivative_of(item)).collect::<Made<Vec<_>>>()?;
        if derivatives.iter().all(Option::is_none) {
            return Ok(None);
        }
        let full =
            items.iter().zip(derivatives).map(|(item, derivative)| derivative.map_or_else(|| self.zero(item), Ok));
        full.collect::<Made<_>>().map(Some)
    }

    fn product(&mut self, a: &Expr, b: &Expr, operator: fn(ArithmeticOp, Expr, Expr) -> Expr) -> Made<Option<Expr>> {
        let first = self.derivative_of(a)?.map(|da| operator(ArithmeticOp::Mul, da, b.clone()));
        let second = self.derivative_of(b)?.map(|db| operator(ArithmeticOp::Mul, a.clone(), db));
        Ok(match (first, second) {
            (Some(first), Some(second)) => Some(arithmetic(ArithmeticOp::Add, first, second)),
            (first, second) => first.or(second),
        })
    }

    /// (a' − (a/b)·b')/b
    fn quotient(&mut self, a: &Expr, b: &Expr, operator: fn(ArithmeticOp, Expr, Expr) -> Expr) -> Made<Option<Expr>> {
        let (da, db) = (self.derivative_of(a)?, self.derivative_of(b)?);
        let second = db.map(|db| {
            let value = operator(ArithmeticOp::Div, a.clone(), b.clone());
            operator(ArithmeticOp::Mul, value, db)
        });
        let numerator = match (da, second) {
            (None, None) => return Ok(None),
            (Some(da), None) => da,
            (None, Some(second)) => Expr::Neg(Box::new(second)),
            (Some(da), Some(second)) => operator(ArithmeticOp::Sub, da, second),
        };
        Ok(Some(operator(ArithmeticOp::Div, numerator, b.clone())))
    }

    fn power(&mut self, expr: &Expr, a: &Expr, b: &Expr) -> Made<Option<Expr>> {
        use ArithmeticOp::*;
        // What follows is 0·∞ at some points although the derivative is zero there; arrays have no choice by element.
        let is_scalar = self.scope().dimensions(expr) == 0;
        let unless_zero = |of: &Expr, value: Expr| {
            let is_zero = Expr::Compare(CompareOp::Equal, Box::new(of.clone()), Box::new(Expr::Integer(0)));
            Expr::If(Box::new(is_zero), Box::new(Expr::Real(0.0)), Box::new(value))
        };
        let first = self.derivative_of(a)?.map(|da| {
            let lower = match b {
                Expr::Integer(n) => Expr::Integer(n.saturating_sub(1)),
                Expr::Real(x) => Expr::Real(x - 1.0),
                other => elementwise(Sub, other.clone(), Expr::Integer(1)),
            };
            // b/a^(1 − b): the power of zero stands below.
            if let Expr::Real(x) = b
                && *x < 1.0
                && *x > 0.0
            {
                let below = elementwise(Pow, a.clone(), Expr::Real(1.0 - x));
                return self.ratio(elementwise(Mul, b.clone(), da), below);
            }
            let lowered = elementwise(Pow, a.clone(), lower);
            let value = elementwise(Mul, elementwise(Mul, b.clone(), lowered), da);
            match b {
                Expr::Integer(n) if *n != 0 => value,
                Expr::Real(x) if *x != 0.0 => value,
                _ if is_scalar => unless_zero(b, value),
                _ => value,
            }
        });
        let second = self.derivative_of(b)?.map(|db| {
            let value = elementwise(Mul, elementwise(Mul, expr.clone(), call(Builtin::Log, a)), db);
            if is_scalar { unless_zero(a, value) } else { value }
        });
        Ok(match (first, second) {
            (Some(first), Some(second)) => Some(elementwise(Add, first, second)),
            (first, second) => first.or(second),
        })
    }

    /// A quotient of the chain rule whose divisor may vanish where the derivative does.
    fn ratio(&mut self, above: Expr, below: Expr) -> Expr {
        let function = self.differentiator.ratio(self.functions, self.original.span);
        let over: Vec<bool> = [&above, &below].map(|operand| self.scope().dimensions(operand) > 0).into();
        let arguments = vec![above, below];
        match over.contains(&true) {
            true => Expr::Vectorized { function, arguments, over },
            false => Expr::Call(function, arguments),
        }
    }

    fn builtin(&mut self, expr: &Expr, op: Builtin, arguments: &[Expr]) -> Made<Option<Expr>> {
        let derivatives = arguments.iter().map(|argument| self.derivative_of(argument)).collect::<Made<Vec<_>>>()?;
        if derivatives.iter().all(Option::is_none) {
            return Ok(None);
        }
        let full = |k: usize| derivatives[k].clone().unwrap_or_else(|| zero_like(&arguments[k]));
        // These choose, which is done for scalars.
        let chooses = matches!(op, Builtin::Min | Builtin::Max | Builtin::SemiLinear);
        if chooses && self.scope().dimensions(expr) > 0 {
            let count = arguments.len();
            let all: Vec<Expr> = arguments.iter().cloned().chain((0..count).map(full)).collect();
            let scalar = self.differentiator.scalar_builtin(self.functions, op, count, self.original.span);
            let function = self.differentiator.tangent(self.functions, scalar)?;
            let over = all.iter().map(|argument| self.scope().dimensions(argument) > 0).collect();
            return Ok(Some(Expr::Vectorized { function, arguments: all, over }));
        }
        use ArithmeticOp::*;
        Ok(match arguments {
            [x] => match op {
                Builtin::Asin | Builtin::Acos => {
                    let square = elementwise(Mul, x.clone(), x.clone());
                    let root = call(Builtin::Sqrt, &elementwise(Sub, Expr::Integer(1), square));
                    let ratio = self.ratio(full(0), root);
                    Some(if op == Builtin::Asin { ratio } else { Expr::Neg(Box::new(ratio)) })
                }
                Builtin::Sqrt => Some(self.ratio(full(0), elementwise(Mul, Expr::Integer(2), expr.clone()))),
                _ => unary(expr, op, x, full(0)),
            },
            [x, y] => match op {
                Builtin::Atan2 => {
                    let numerator =
                        elementwise(Sub, elementwise(Mul, y.clone(), full(0)), elementwise(Mul, x.clone(), full(1)));
                    let square = |z: &Expr| elementwise(Mul, z.clone(), z.clone());
                    Some(elementwise(Div, numerator, elementwise(Add, square(x), square(y))))
                }
                Builtin::Min | Builtin::Max => {
                    let less = Expr::Compare(CompareOp::Less, Box::new(x.clone()), Box::new(y.clone()));
                    let (then, otherwise) = if op == Builtin::Min { (0, 1) } else { (1, 0) };
                    Some(Expr::If(Box::new(less), Box::new(full(then)), Box::new(full(otherwise))))
                }
                Builtin::Mod | Builtin::ModEvent | Builtin::Rem | Builtin::RemEvent => {
                    let quotient = match op {
                        Builtin::Mod | Builtin::ModEvent => {
                            call(Builtin::Floor, &elementwise(Div, x.clone(), y.clone()))
                        }
                        _ => Expr::Builtin(Builtin::Div, vec![x.clone(), y.clone()]),
                    };
                    Some(elementwise(Sub, full(0), elementwise(Mul, quotient, full(1))))
                }
                Builtin::Homotopy => Some(full(0)),
                _ => None,
            },
            [x, positive, negative] if op == Builtin::SemiLinear => {
                let forward = || {
                    let zero = Box::new(Expr::Real(0.0));
                    Box::new(Expr::Compare(CompareOp::GreaterEqual, Box::new(x.clone()), zero))
                };
                let slope = Expr::If(forward(), Box::new(positive.clone()), Box::new(negative.clone()));
                let derived = Expr::If(forward(), Box::new(full(1)), Box::new(full(2)));
                Some(elementwise(Add, elementwise(Mul, slope, full(0)), elementwise(Mul, x.clone(), derived)))
            }
            _ => return self.fail(format!("it holds `{op:?}`")),
        })
    }

    fn whole(&mut self, function: ArrayFunction, arguments: &[Expr]) -> Made<Option<Expr>> {
        use ArrayFunction::*;
        Ok(match function {
            // Linear in the first argument.
            Scalar | Vector | Matrix | Diagonal | Sum | Transpose | Symmetric | Skew | Promote | Fill => {
                let Some((first, rest)) = arguments.split_first() else { return Ok(None) };
                self.derivative_of(first)?
                    .map(|first| Expr::Whole(function, std::iter::once(first).chain(rest.iter().cloned()).collect()))
            }
            Cat => {
                let Some((dimension, rest)) = arguments.split_first() else { return Ok(None) };
                self.items(rest)?.map(|rest| Expr::Whole(Cat, std::iter::once(dimension.clone()).chain(rest).collect()))
            }
            Linspace => match arguments {
                [first, last, count] => self.items(&[first.clone(), last.clone()])?.map(|mut ends| {
                    ends.push(count.clone());
                    Expr::Whole(Linspace, ends)
                }),
                _ => None,
            },
            // Bilinear.
            OuterProduct | Cross => {
                let [a, b] = arguments else { return Ok(None) };
                let of = |a: Expr, b: Expr| Expr::Whole(function, vec![a, b]);
                let first = self.derivative_of(a)?.map(|da| of(da, b.clone()));
                let second = self.derivative_of(b)?.map(|db| of(a.clone(), db));
                match (first, second) {
                    (Some(first), Some(second)) => Some(arithmetic(ArithmeticOp::Add, first, second)),
                    (first, second) => first.or(second),
                }
            }
            Min | Max if arguments.len() == 2 => {
                let op = if function == Min { Builtin::Min } else { Builtin::Max };
                let expr = Expr::Builtin(op, arguments.to_vec());
                self.builtin(&expr, op, arguments)?
            }
            Min | Max | Product => {
                let [all] = arguments else { return Ok(None) };
                let op = match function {
                    Min => ReductionOp::Min,
                    Max => ReductionOp::Max,
                    _ => ReductionOp::Product,
                };
                self.fold(op, all)?
            }
            Size | Ndims | Identity | Zeros | Ones | Integer | Enumeration | StringReal | StringFormat
            | StringInteger | StringBoolean | StringEnumeration | Concat => None,
        })
    }
}

fn unary(expr: &Expr, op: Builtin, x: &Expr, dx: Expr) -> Option<Expr> {
    use ArithmeticOp::*;
    let one = || Expr::Integer(1);
    let square = |z: &Expr| elementwise(Mul, z.clone(), z.clone());
    let factor = match op {
        Builtin::Sin => call(Builtin::Cos, x),
        Builtin::Cos => Expr::Neg(Box::new(call(Builtin::Sin, x))),
        Builtin::Tan => elementwise(Add, one(), square(expr)),
        Builtin::Atan => return Some(elementwise(Div, dx, elementwise(Add, one(), square(x)))),
        Builtin::Sinh => call(Builtin::Cosh, x),
        Builtin::Cosh => call(Builtin::Sinh, x),
        Builtin::Tanh => elementwise(Sub, one(), square(expr)),
        Builtin::Exp => expr.clone(),
        Builtin::Log => return Some(elementwise(Div, dx, x.clone())),
        Builtin::Log10 => {
            let denominator = elementwise(Mul, Expr::Real(std::f64::consts::LN_10), x.clone());
            return Some(elementwise(Div, dx, denominator));
        }
        Builtin::Abs => call(Builtin::Sign, x),
        _ => return None,
    };
    Some(elementwise(Mul, factor, dx))
}
