//! Annotations `inverse` that are not true.
//!
//! `y = f(x)` may be solved for `x` by the function that an annotation of `f` names (specification 12.8). Some libraries name one
//! that is the inverse only in a part of the range, as that of a flow function whose laminar region has a polynomial of its own in
//! each direction; what is solved by it does not satisfy the equation. So each annotation is tried with the values that its calls
//! have: `f(g(y)) = y` has to hold for `y = f(x)` at some `x`. One that fails is dropped, and the equation is solved by Newton's
//! method. What cannot be evaluated proves nothing.

use std::sync::Arc;

use dae::evaluate::{Evaluator, NoExternals};
use dae::expr::{CallSiteId, Shape};
use dae::function::Type;
use dae::value::Kind;
use dae::{ExprId, FunctionId, Functions, Memo, Node, Value};

use crate::work::Work;

/// How far a value may be off, relative to itself.
const EXACT: f64 = 1e-5;
/// Arguments are tried at these multiples of a typical value, in both directions where that is zero.
const NEAR: [f64; 3] = [1.0, 0.9, 1.1];
const FAR: [f64; 7] = [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0];
/// Calls of one function that are looked at.
const MOST_CALLS: usize = 20;
const MOST_STEPS: u64 = 20_000;

pub fn drop_false(work: &mut Work) {
    let functions: Vec<FunctionId> =
        work.model.functions.iter().filter(|(_, function)| !function.inverses.is_empty()).map(|(id, _)| id).collect();
    for function in functions {
        let calls = calls_of(work, function);
        let declared = work.model.functions[function].inverses.clone();
        let is_true =
            |inverse: &Inverse| !calls.iter().any(|call| is_violated(&work.model.functions, function, inverse, call));
        let kept: Vec<Inverse> = declared.iter().filter(|inverse| is_true(inverse)).cloned().collect();
        if kept.len() < declared.len() {
            Arc::make_mut(&mut work.model.functions[function]).inverses = kept;
        }
    }
}

/// The input, the function, and its inputs as positions among those of the function that is inverted.
type Inverse = (u32, FunctionId, Vec<Option<u32>>);

/// An argument of a call: a typical value, and how large a variable is for which none is given.
#[derive(Clone)]
struct Typical {
    value: Value,
    size: f64,
}

/// Typical arguments of the calls of a function.
fn calls_of(work: &mut Work, function: FunctionId) -> Vec<Vec<Typical>> {
    let exprs = &work.model.exprs;
    let mut arguments: Vec<(CallSiteId, Vec<ExprId>)> = Vec::new();
    for id in exprs.ids() {
        if let Node::Call { site, args, .. } = exprs.node(id)
            && exprs.call_site(site).function == function
        {
            let given = (site, exprs.arguments(args).to_vec());
            if !arguments.contains(&given) && arguments.len() < MOST_CALLS {
                arguments.push(given);
            }
        }
    }
    let declared = work.model.functions[function].clone();
    let types: Vec<Type> = declared.inputs.iter().map(|&input| declared.locals[input].ty.clone()).collect();
    let mut calls = Vec::new();
    for (site, given) in arguments {
        let shapes = work.model.exprs.call_site(site).inputs.clone();
        let mut scalars = given.into_iter();
        let inputs = shapes.iter().zip(&types);
        let typical: Option<Vec<Typical>> =
            inputs.map(|(shape, ty)| typical_input(work, &mut scalars, shape, ty)).collect();
        calls.extend(typical);
    }
    calls
}

/// What an input is at the start of a run, from the scalars of a call.
fn typical_input(
    work: &mut Work,
    scalars: &mut impl Iterator<Item = ExprId>,
    shape: &Shape,
    ty: &Type,
) -> Option<Typical> {
    if let Shape::Scalar = shape {
        return typical(work, scalars.next()?, ty);
    }
    let functions = work.model.functions.clone();
    let value = Value::of_shape(&functions, shape, ty, &mut |kind| {
        let ty = match kind {
            Kind::Real => Type::Real,
            Kind::Integer => Type::Integer,
            Kind::Boolean => Type::Boolean,
            _ => return None,
        };
        typical(work, scalars.next()?, &ty).map(|typical| typical.value)
    })?;
    Some(Typical { value, size: 1.0 })
}

/// What an argument is at the start of a run, as far as that is known.
fn typical(work: &mut Work, argument: ExprId, ty: &Type) -> Option<Typical> {
    let (start, size) = start_and_size(work, argument)?;
    let value = match ty {
        Type::Real => Value::Real(work.model.exprs.as_real(start)?),
        Type::Integer => Value::Integer(work.model.exprs.as_real(start)? as i64),
        Type::Boolean => Value::Boolean(work.model.exprs.as_boolean(start)?),
        _ => return None,
    };
    Some(Typical { value, size })
}

/// The value of an argument at the start of a run, where that is known, and its size where it has none.
pub fn start_and_size(work: &mut Work, argument: ExprId) -> Option<(ExprId, f64)> {
    let size = match work.model.exprs.node(argument) {
        Node::Var(variable) => {
            work.model.variables[variable].attributes.nominal.and_then(|nominal| number(work, nominal))
        }
        _ => None,
    };
    let size = size.map_or(1.0, f64::abs);
    let (values, variables) = (&work.values, &work.model.variables);
    let start = work.model.exprs.rewrite(&[argument], &mut Memo::default(), |exprs, id, node| match node {
        Node::Var(variable) => {
            values[variable].or(variables[variable].attributes.start).unwrap_or_else(|| exprs.real(0.0))
        }
        Node::Time => exprs.real(0.0),
        Node::Pre(_) | Node::Previous(_) | Node::Der(_) => id,
        node => exprs.make(node),
    })[0];
    Some((known(work, start)?, size))
}

fn number(work: &mut Work, expr: ExprId) -> Option<f64> {
    let value = known(work, expr)?;
    work.model.exprs.as_real(value)
}

/// The value of an expression of parameters.
fn known(work: &mut Work, expr: ExprId) -> Option<ExprId> {
    let values = &work.values;
    let value = work.model.exprs.substitute(&[expr], &mut work.value_memo, |variable| values[variable])[0];
    let is_finite = work.model.exprs.as_real(value).is_some_and(f64::is_finite);
    (is_finite || work.model.exprs.as_boolean(value).is_some()).then_some(value)
}

/// Whether what an inverse gives for the values of a call does not satisfy the equation that it solves.
fn is_violated(functions: &Functions, function: FunctionId, inverse: &Inverse, call: &[Typical]) -> bool {
    let (input, inverse, positions) = inverse;
    let unknown = *input as usize;
    let Some(Typical { value: Value::Real(start), size }) = call.get(unknown) else { return false };
    let mut trials: Vec<f64> = NEAR.iter().map(|part| part * start).filter(|x| *x != 0.0).collect();
    if trials.is_empty() {
        trials = FAR.iter().flat_map(|part| [part * size, -part * size]).collect();
    }
    // A variable without start value is not zero: by zero nothing can be divided.
    let usual = |typical: &Typical| match typical.value {
        Value::Real(0.0) => Value::Real(typical.size),
        ref value => value.clone(),
    };
    let mut arguments: Vec<Value> = call.iter().map(usual).collect();
    trials.into_iter().any(|x| {
        arguments[unknown] = Value::Real(x);
        let Some(y) = result(functions, function, arguments.clone()) else { return false };
        let given = positions.iter().map(|position| match position {
            None => Some(Value::Real(y)),
            Some(position) => arguments.get(*position as usize).cloned(),
        });
        let Some(solved) = given.collect::<Option<Vec<Value>>>().and_then(|given| result(functions, *inverse, given))
        else {
            return false;
        };
        arguments[unknown] = Value::Real(solved);
        let again = result(functions, function, arguments.clone());
        again.is_some_and(|again| (again - y).abs() > EXACT * again.abs().max(y.abs()))
    })
}

/// The first result of a call, if it is a number.
fn result(functions: &Functions, function: FunctionId, arguments: Vec<Value>) -> Option<f64> {
    let mut externals = NoExternals;
    let mut evaluator = Evaluator::new(functions, &mut externals);
    evaluator.steps_left = MOST_STEPS;
    match evaluator.call(function, arguments).ok()?.first()? {
        Value::Real(value) if value.is_finite() => Some(*value),
        _ => None,
    }
}
