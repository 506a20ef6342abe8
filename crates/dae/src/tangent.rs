//! The derivative of a function from its body, by forward differentiation of the statements (Griewank and Walther,
//! *Evaluating Derivatives*, chapter 3; specification 12.7.1 for the interface).
//!
//! The tangent function has the inputs of the original followed by one derivative for each input that holds Reals; its
//! outputs are the derivatives of the outputs that hold Reals. A record's derivative has the same type; its fields that
//! are not Reals repeat the original's.

use std::sync::Arc;

use base::{Id, Name};

use crate::differentiate::{Differentiator, NotDifferentiable, annotated, is_record_constructor, real_inputs};
use crate::expr::{Builtin, CompareOp};
use crate::function::{
    ArithmeticOp, ArrayFunction, Body, Expr, Function, FunctionId, Functions, Local, LocalId, ReductionOp, Statement,
    StatementKind, Step, Target, Type,
};

/// Whether values of this type have a derivative.
pub fn contains_reals(ty: &Type) -> bool {
    match ty {
        Type::Real => true,
        Type::Record(record) => record.fields.iter().any(|field| contains_reals(&field.ty)),
        _ => false,
    }
}

impl Differentiator {
    /// The tangent of a function, made once.
    pub fn tangent(&mut self, functions: &mut Functions, id: FunctionId) -> Result<FunctionId, NotDifferentiable> {
        if let Some(&known) = self.tangents.get(&id) {
            return Ok(known);
        }
        let Some(original) = functions.get(id).cloned() else {
            return Err(NotDifferentiable { function: None, reason: "it does not exist".into() });
        };
        // The id is known before the body, for functions that call themselves.
        let tangent = functions.push(original.clone());
        self.tangents.insert(id, tangent);
        let made =
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || Maker::new(self, functions, &original).function());
        match made {
            Ok(function) => {
                functions[tangent] = Arc::new(function);
                Ok(tangent)
            }
            Err(error) => {
                self.tangents.remove(&id);
                Err(error)
            }
        }
    }
}

struct Maker<'a> {
    differentiator: &'a mut Differentiator,
    functions: &'a mut Functions,
    original: &'a Function,
    /// The derivative of each local; `None` for those without.
    derivative: Vec<Option<LocalId>>,
    locals: base::IdVec<LocalId, Local>,
}

type Made<T> = Result<T, NotDifferentiable>;

/// The function to call for a derivative, its arguments, and the inputs whose derivatives are among them.
type DerivedCall = (FunctionId, Vec<Expr>, Vec<usize>);

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

/// Zeros of the size of a value.
fn zero_like(expr: &Expr) -> Expr {
    match expr {
        Expr::Real(_) | Expr::Integer(_) => Expr::Real(0.0),
        other => elementwise(ArithmeticOp::Mul, Expr::Real(0.0), other.clone()),
    }
}

impl<'a> Maker<'a> {
    fn new(differentiator: &'a mut Differentiator, functions: &'a mut Functions, original: &'a Function) -> Self {
        // Originals keep their ids; derivatives come behind them.
        let mut locals = original.locals.clone();
        let mut derivative = Vec::with_capacity(locals.len());
        for (_, local) in original.locals.iter() {
            derivative.push(contains_reals(&local.ty).then(|| {
                locals.push(Local {
                    name: Name::new(&format!("der_{}", local.name)),
                    ty: local.ty.clone(),
                    sizes: local.sizes.clone(),
                    default: None,
                    span: local.span,
                })
            }));
        }
        Self { differentiator, functions, original, derivative, locals }
    }

    fn fail<T>(&self, reason: impl Into<String>) -> Made<T> {
        Err(NotDifferentiable { function: Some(self.original.name), reason: reason.into() })
    }

    fn function(mut self) -> Made<Function> {
        let Body::Algorithm(statements) = &self.original.body else {
            return self.fail("it is external and has no annotation `derivative`");
        };
        let takes_function = |input: &LocalId| matches!(self.original.locals[*input].ty, Type::Function(_));
        if self.original.inputs.iter().any(takes_function) {
            return self.fail("an input is a function");
        }
        for (id, local) in self.original.locals.iter() {
            let Some(derivative) = self.derivative[id.index()] else { continue };
            if self.original.inputs.contains(&id) {
                continue;
            }
            if let Some(default) = &local.default {
                self.locals[derivative].default = Some(self.full_derivative(default)?);
            }
        }
        let body = self.statements(statements)?;
        let of = |id: &LocalId| self.derivative.get(id.index()).copied().flatten();
        let inputs = self.original.inputs.iter().copied().chain(self.original.inputs.iter().filter_map(of)).collect();
        let outputs = self.original.outputs.iter().filter_map(of).collect();
        Ok(Function {
            name: Name::new(&format!("{}_der", self.original.name)),
            inputs,
            outputs,
            locals: self.locals,
            body: Body::Algorithm(body),
            pure: self.original.pure,
            inline: self.original.inline,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            span: self.original.span,
        })
    }

    fn statements(&mut self, statements: &[Statement]) -> Made<Vec<Statement>> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut made = Vec::with_capacity(statements.len() * 2);
            for statement in statements {
                self.statement(statement, &mut made)?;
            }
            Ok(made)
        })
    }

    /// The derivative of an assignment stands before it: it needs the old values.
    fn statement(&mut self, statement: &Statement, made: &mut Vec<Statement>) -> Made<()> {
        let mut push = |kind: StatementKind| made.push(Statement { kind, span: statement.span });
        match &statement.kind {
            StatementKind::Assign(target, value) => {
                if let Some(derivative) = self.derived_target(target) {
                    push(StatementKind::Assign(derivative, self.full_derivative(value)?));
                }
                push(statement.kind.clone());
            }
            StatementKind::AssignSeveral(targets, value) => {
                if let Some(derivative) = self.several(targets, value)? {
                    push(derivative);
                }
                push(statement.kind.clone());
            }
            StatementKind::If { branches, otherwise } => {
                let branches = branches
                    .iter()
                    .map(|(condition, body)| Ok((condition.clone(), self.statements(body)?)))
                    .collect::<Made<_>>()?;
                push(StatementKind::If { branches, otherwise: self.statements(otherwise)? });
            }
            StatementKind::For { iterator, range, body } => {
                if self.derivative_of(range)?.is_some() {
                    return self.fail("a loop runs over Reals");
                }
                let body = self.statements(body)?;
                push(StatementKind::For { iterator: *iterator, range: range.clone(), body });
            }
            StatementKind::While { condition, body } => {
                let body = self.statements(body)?;
                push(StatementKind::While { condition: condition.clone(), body });
            }
            StatementKind::Break | StatementKind::Return | StatementKind::Assert { .. } | StatementKind::Call(_) => {
                push(statement.kind.clone());
            }
        }
        Ok(())
    }

    /// The derivative of what is assigned; `None` if that is no Real.
    fn derived_target(&self, target: &Target) -> Option<Target> {
        let local = self.derivative.get(target.local.index()).copied().flatten()?;
        let mut ty = &self.original.locals.get(target.local)?.ty;
        for step in &target.steps {
            if let (Step::Field(index), Type::Record(record)) = (step, ty) {
                ty = &record.fields.get(*index as usize)?.ty;
            }
        }
        contains_reals(ty).then(|| Target { local, steps: target.steps.clone() })
    }

    fn several(&mut self, targets: &[Option<Target>], value: &Expr) -> Made<Option<StatementKind>> {
        let Expr::Call(id, arguments) = value else {
            return self.fail("a function that is an argument is called");
        };
        let Some(function) = self.functions.get(*id).cloned() else { return self.fail("a function is missing") };
        let mut derived = Vec::new();
        for (k, output) in function.outputs.iter().enumerate() {
            if function.locals.get(*output).is_some_and(|local| contains_reals(&local.ty)) {
                derived.push(targets.get(k).and_then(Option::as_ref).and_then(|target| self.derived_target(target)));
            }
        }
        if derived.iter().all(Option::is_none) {
            return Ok(None);
        }
        // Constant arguments need the call too: their zeros must reach the targets.
        let call = self.derived_call(*id, arguments, true)?;
        Ok(call.map(|call| StatementKind::AssignSeveral(derived, call)))
    }

    /// The derivative, zeros of the right size where it vanishes.
    fn full_derivative(&mut self, expr: &Expr) -> Made<Expr> {
        match self.derivative_of(expr)? {
            Some(derivative) => Ok(derivative),
            None => self.zero(expr),
        }
    }

    fn zero(&mut self, expr: &Expr) -> Made<Expr> {
        Ok(match expr {
            Expr::Record(ty, fields) => {
                let mut zeros = Vec::with_capacity(fields.len());
                for (field, value) in ty.fields.iter().zip(fields) {
                    zeros.push(if contains_reals(&field.ty) { self.zero(value)? } else { value.clone() });
                }
                Expr::Record(ty.clone(), zeros)
            }
            Expr::If(condition, then, otherwise) => {
                Expr::If(condition.clone(), Box::new(self.zero(then)?), Box::new(self.zero(otherwise)?))
            }
            Expr::Array(items) => Expr::Array(items.iter().map(|item| self.zero(item)).collect::<Made<Vec<_>>>()?),
            // An element of a constant table of records.
            Expr::Index(base, subscripts) if matches!(**base, Expr::Array(_)) => {
                Expr::Index(Box::new(self.zero(base)?), subscripts.clone())
            }
            _ if matches!(self.type_of(expr), Some(Type::Record(_))) => {
                return self.fail("it holds a record that is constant");
            }
            other => zero_like(other),
        })
    }

    /// The type of a place or call; `None` for operations, which are numbers.
    fn type_of(&self, expr: &Expr) -> Option<Type> {
        match expr {
            Expr::Local(local) => self.locals.get(*local).map(|local| local.ty.clone()),
            Expr::Index(base, _) => self.type_of(base),
            Expr::Field(base, index) => match self.type_of(base)? {
                Type::Record(record) => record.fields.get(*index as usize).map(|field| field.ty.clone()),
                _ => None,
            },
            Expr::Call(id, _) | Expr::Vectorized { function: id, .. } => {
                let function = self.functions.get(*id)?;
                function.locals.get(*function.outputs.first()?).map(|local| local.ty.clone())
            }
            Expr::Record(record, _) => Some(Type::Record(record.clone())),
            _ => None,
        }
    }

    /// The derivative of an expression; `None` where it is zero.
    fn derivative_of(&mut self, expr: &Expr) -> Made<Option<Expr>> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.expression(expr))
    }

    fn expression(&mut self, expr: &Expr) -> Made<Option<Expr>> {
        use ArithmeticOp::*;
        Ok(match expr {
            Expr::Local(local) => self.derivative.get(local.index()).copied().flatten().map(Expr::Local),
            Expr::Index(base, subscripts) => {
                self.derivative_of(base)?.map(|base| Expr::Index(Box::new(base), subscripts.clone()))
            }
            Expr::Field(base, index) => {
                if !self.type_of(expr).is_some_and(|ty| contains_reals(&ty)) {
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
            Expr::Range(start, step, stop) => {
                let step = step.as_ref().map(|step| self.derivative_of(step)).transpose()?.flatten();
                if step.is_some() || self.derivative_of(start)?.is_some() || self.derivative_of(stop)?.is_some() {
                    return self.fail("a range depends on Reals");
                }
                None
            }
            Expr::ArrayFor { element, iterators } => {
                self.constant_iterators(iterators)?;
                self.derivative_of(element)?
                    .map(|element| Expr::ArrayFor { element: Box::new(element), iterators: iterators.clone() })
            }
            Expr::Reduction { op, element, iterators } => {
                self.constant_iterators(iterators)?;
                match (self.derivative_of(element)?, op) {
                    (None, _) => None,
                    (Some(element), ReductionOp::Sum) => {
                        Some(Expr::Reduction { op: *op, element: Box::new(element), iterators: iterators.clone() })
                    }
                    (Some(_), op) => return self.fail(format!("it holds a reduction `{op:?}` over Reals")),
                }
            }
            Expr::Builtin(op, arguments) => self.builtin(expr, *op, arguments)?,
            Expr::Whole(function, arguments) => self.whole(*function, arguments)?,
            Expr::Call(id, arguments) => self.derived_call(*id, arguments, false)?,
            Expr::CallLocal(..) => return self.fail("a function that is an argument is called"),
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
            | Expr::Not(_)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Compare(..) => None,
            Expr::FunctionValue(_, given) | Expr::LocalValue(_, given) => {
                for (_, value) in given {
                    if self.derivative_of(value)?.is_some() {
                        return self.fail("a function gets some of its inputs and is an argument");
                    }
                }
                None
            }
        })
    }

    fn constant_iterators(&mut self, iterators: &[(LocalId, Expr)]) -> Made<()> {
        for (_, range) in iterators {
            if self.derivative_of(range)?.is_some() {
                return self.fail("an iterator runs over Reals");
            }
        }
        Ok(())
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
        let first = self.derivative_of(a)?.map(|da| {
            let lower = match b {
                Expr::Integer(n) => Expr::Integer(n.saturating_sub(1)),
                Expr::Real(x) => Expr::Real(x - 1.0),
                other => elementwise(Sub, other.clone(), Expr::Integer(1)),
            };
            let lowered = elementwise(Pow, a.clone(), lower);
            elementwise(Mul, elementwise(Mul, b.clone(), lowered), da)
        });
        let second = self
            .derivative_of(b)?
            .map(|db| elementwise(Mul, elementwise(Mul, expr.clone(), call(Builtin::Log, a)), db));
        Ok(match (first, second) {
            (Some(first), Some(second)) => Some(elementwise(Add, first, second)),
            (first, second) => first.or(second),
        })
    }

    fn builtin(&mut self, expr: &Expr, op: Builtin, arguments: &[Expr]) -> Made<Option<Expr>> {
        let derivatives = arguments.iter().map(|argument| self.derivative_of(argument)).collect::<Made<Vec<_>>>()?;
        if derivatives.iter().all(Option::is_none) {
            return Ok(None);
        }
        let full = |k: usize| derivatives[k].clone().unwrap_or_else(|| zero_like(&arguments[k]));
        use ArithmeticOp::*;
        Ok(match arguments {
            [x] => unary(expr, op, x, full(0)),
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
                for argument in arguments {
                    if self.derivative_of(argument)?.is_some() {
                        return self.fail(format!("it holds `{function:?}` of an array of Reals"));
                    }
                }
                None
            }
            Size | Ndims | Identity | Zeros | Ones | Integer | Enumeration | StringReal | StringFormat
            | StringInteger | StringBoolean | StringEnumeration | Concat => None,
        })
    }

    /// The call of the derivative of a function; `None` if it is zero (unless `always`).
    fn derived_call(&mut self, id: FunctionId, arguments: &[Expr], always: bool) -> Made<Option<Expr>> {
        if !self.type_of(&Expr::Call(id, Vec::new())).is_some_and(|ty| contains_reals(&ty)) && !always {
            return Ok(None);
        }
        let Some(function) = self.functions.get(id).cloned() else { return self.fail("a function is missing") };
        if is_record_constructor(&function) {
            let mut any = always;
            let mut derived = Vec::with_capacity(arguments.len());
            for (input, argument) in function.inputs.iter().zip(arguments) {
                let real = function.locals.get(*input).is_some_and(|local| contains_reals(&local.ty));
                derived.push(if real {
                    let derivative = self.derivative_of(argument)?;
                    any |= derivative.is_some();
                    derivative.map_or_else(|| self.zero(argument), Ok)?
                } else {
                    argument.clone()
                });
            }
            return Ok(any.then_some(Expr::Call(id, derived)));
        }
        Ok(self.derived_arguments(id, arguments, always)?.map(|(target, arguments, _)| Expr::Call(target, arguments)))
    }

    /// Nothing if the derivative is zero (unless `always`).
    fn derived_arguments(&mut self, id: FunctionId, arguments: &[Expr], always: bool) -> Made<Option<DerivedCall>> {
        let derivatives = arguments.iter().map(|argument| self.derivative_of(argument)).collect::<Made<Vec<_>>>()?;
        if derivatives.iter().all(Option::is_none) && !always {
            return Ok(None);
        }
        let is_constant = |input: u32| derivatives.get(input as usize).is_none_or(Option::is_none);
        let (target, inputs) = match annotated(self.functions, id, is_constant) {
            Some(found) => found,
            None => {
                let inputs = self.functions.get(id).map(|function| real_inputs(function)).unwrap_or_default();
                (self.differentiator.tangent(self.functions, id)?, inputs)
            }
        };
        let mut all = arguments.to_vec();
        for &k in &inputs {
            let (Some(argument), Some(derivative)) = (arguments.get(k), derivatives.get(k)) else { continue };
            all.push(match derivative {
                Some(derivative) => derivative.clone(),
                None => self.zero(argument)?,
            });
        }
        Ok(Some((target, all, inputs)))
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
        Builtin::Asin => return Some(elementwise(Div, dx, call(Builtin::Sqrt, &elementwise(Sub, one(), square(x))))),
        Builtin::Acos => {
            let root = call(Builtin::Sqrt, &elementwise(Sub, one(), square(x)));
            return Some(Expr::Neg(Box::new(elementwise(Div, dx, root))));
        }
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
        Builtin::Sqrt => return Some(elementwise(Div, dx, elementwise(Mul, Expr::Integer(2), expr.clone()))),
        Builtin::Abs => call(Builtin::Sign, x),
        _ => return None,
    };
    Some(elementwise(Mul, factor, dx))
}
