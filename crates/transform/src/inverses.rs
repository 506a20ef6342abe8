//! Annotations `inverse` that are not true.
//!
//! `y = f(x)` may be solved for `x` by the function that an annotation of `f` names (specification 12.8). Some libraries name one
//! that is the inverse only in a part of the range, as that of a flow function whose laminar region has a polynomial of its own in
//! each direction; what is solved by it does not satisfy the equation. So each annotation is tried with the values that its calls
//! have: `f(g(y)) = y` has to hold for `y = f(x)` at some `x`. One that fails is dropped, and the equation is solved by Newton's
//! method. What cannot be evaluated proves nothing.
//!
//! Equations of one unknown are solved before (`constants`), and each of them for one value: there the equation itself is the
//! trial.

use std::sync::Arc;

use dae::evaluate::{Evaluator, NoExternals};
use dae::expr::{CallSiteId, Shape};
use dae::function::Type;
use dae::value::Kind;
use dae::{ExprId, ExprValues, FunctionId, Functions, Memo, Model, Node, Value, VarId, VariableType};
use rustc_hash::FxHashMap;

use crate::parameters;
use crate::parts::Sides;
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

/// The same for a model whose equations are solved before its parameters have their values, as those of clocks are.
pub fn drop_false_of(model: &mut Model) {
    if model.functions.values().all(|function| function.inverses.is_empty()) {
        return;
    }
    let mut work = Work::new(model.clone());
    // What is wrong with parameters is told when the model itself is sorted.
    if parameters::order(&mut work).is_err() {
        return;
    }
    drop_false(&mut work);
    model.functions = work.model.functions;
}

/// Values of variables that follow from the parameters, as these are at translation.
pub struct Known {
    numbers: FxHashMap<VarId, Value>,
    values: ExprValues,
    has_inverses: bool,
}

impl Known {
    pub fn new(work: &Work) -> Self {
        let has_inverses = work.model.functions.values().any(|function| !function.inverses.is_empty());
        Self { numbers: FxHashMap::default(), values: ExprValues::default(), has_inverses }
    }

    /// Takes note of the value that an equation gives for its only unknown; `false` if an inverse gave it that is none here. That
    /// inverse is dropped.
    pub fn accept(&mut self, work: &mut Work, sides: Sides, variable: VarId, value: ExprId) -> bool {
        if !self.has_inverses {
            return true;
        }
        let Self { numbers, values, .. } = &mut *self;
        let Some(number) = evaluated(work, value, values, &mut |v| numbers.get(&v).cloned()) else { return true };
        if let Value::Real(x) = number
            && let Some(inverse) = self.refuted(work, sides, variable, value, x)
        {
            drop_inverse(work, inverse);
            return false;
        }
        self.numbers.insert(variable, number);
        true
    }

    /// The inverse in a value for which no call in the equation gives what it was inverted at.
    fn refuted(
        &mut self,
        work: &Work,
        (left, right): Sides,
        variable: VarId,
        value: ExprId,
        x: f64,
    ) -> Option<FunctionId> {
        let exprs = &work.model.exprs;
        let is_call = |node: Node| matches!(node, Node::Call { .. });
        let unknown = exprs.find(Node::Var(variable)).filter(|_| exprs.any(value, is_call))?;
        let own = exprs.postorder(&[left, right]);
        let made = exprs.postorder(&[value]).into_iter().filter(|call| !own.contains(call));
        for call in made {
            let Node::Call { site, args, .. } = exprs.node(call) else { continue };
            let inverse = exprs.call_site(site).function;
            let mut outcomes = Vec::new();
            for &outer in own.iter().filter(|&&id| exprs.contains(id, unknown)) {
                let Node::Call { site: outer_site, output: 0, .. } = exprs.node(outer) else { continue };
                let function = &work.model.functions[exprs.call_site(outer_site).function];
                let Some((_, _, positions)) = function.inverses.iter().find(|(_, found, _)| *found == inverse) else {
                    continue;
                };
                let given = positions.iter().position(Option::is_none)?;
                let at: usize = exprs.call_site(site).inputs[..given].iter().map(Shape::scalars).sum();
                let wanted = *exprs.arguments(args).get(at)?;
                outcomes.push(self.satisfies(work, outer, wanted, variable, x)?);
            }
            if !outcomes.is_empty() && !outcomes.contains(&true) {
                return Some(inverse);
            }
        }
        None
    }

    /// Whether a call gives a value, as exactly as the unknown is known.
    fn satisfies(&mut self, work: &Work, call: ExprId, wanted: ExprId, variable: VarId, x: f64) -> Option<bool> {
        let Self { numbers, values, .. } = self;
        let real = |value: Value| match value {
            Value::Real(value) if value.is_finite() => Some(value),
            _ => None,
        };
        let wanted = real(evaluated(work, wanted, values, &mut |v| numbers.get(&v).cloned())?)?;
        let mut at = |x: f64| {
            let mut lookup = |v: VarId| if v == variable { Some(Value::Real(x)) } else { numbers.get(&v).cloned() };
            evaluated(work, call, &mut ExprValues::default(), &mut lookup).and_then(real)
        };
        let found = at(x)?;
        let step = EXACT * if x == 0.0 { 1.0 } else { x.abs() };
        let spread = [x + step, x - step].into_iter().filter_map(&mut at).map(|y| (y - found).abs());
        let slack = spread.fold(EXACT * found.abs().max(wanted.abs()), f64::max);
        Some((found - wanted).abs() <= slack)
    }
}

/// The value of an expression, as far as that of the variables in it are known.
fn evaluated(
    work: &Work,
    expr: ExprId,
    known: &mut ExprValues,
    number: &mut dyn FnMut(VarId) -> Option<Value>,
) -> Option<Value> {
    let mut externals = NoExternals;
    let mut evaluator = Evaluator::new(&work.model.functions, &mut externals);
    evaluator.steps_left = MOST_STEPS;
    let mut lookup = |node| match node {
        Node::Var(variable) => number(variable).or_else(|| literal(work, variable)),
        _ => None,
    };
    evaluator.expression_with(&work.model.exprs, expr, known, &mut lookup).ok()
}

/// The value of a parameter.
fn literal(work: &Work, variable: VarId) -> Option<Value> {
    let exprs = &work.model.exprs;
    let value = work.values[variable]?;
    Some(match work.model.variables[variable].ty {
        VariableType::Real => Value::Real(exprs.as_real(value)?),
        VariableType::Integer => Value::Integer(exprs.as_real(value)? as i64),
        VariableType::Boolean => Value::Boolean(exprs.as_boolean(value)?),
        _ => return None,
    })
}

fn drop_inverse(work: &mut Work, inverse: FunctionId) {
    let has_it = |(_, found, _): &Inverse| *found == inverse;
    let functions = work.model.functions.iter().filter(|(_, function)| function.inverses.iter().any(has_it));
    for function in functions.map(|(id, _)| id).collect::<Vec<_>>() {
        Arc::make_mut(&mut work.model.functions[function]).inverses.retain(|found| !has_it(found));
    }
    if let Some(cache) = work.modes.cache.as_mut() {
        cache.solved.clear();
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
