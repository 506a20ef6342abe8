//! Annotations `derivative` that are not true.
//!
//! What an annotation names (specification 12.7.1) takes the place of the derivative of a function: in equations that index reduction
//! differentiates, and in Jacobians. One that is wrong makes results wrong that nothing else would show. So each annotation is
//! tried with the values that its calls have: along each input that varies there, the function that it names has to give what quotients of
//! differences tell. One that fails is dropped, and the derivative is made from the statements of the function.
//!
//! Only what is plainly untrue counts. Quotients to both sides and over two distances have to agree, so that neither a kink nor the
//! noise of an iteration is taken for a contradiction, and all points that are tried have to contradict: derivatives of libraries may be
//! smoothed in places. A function that has values where its derivative fails has none by the annotation; what else cannot be evaluated
//! proves nothing. Inputs that depend on each other are left alone: those that
//! `noDerivative` names, and fields of records, which may say the same twice.

use std::sync::Arc;

use base::Diagnostic;
use dae::differentiate::Differentiator;
use dae::evaluate::{Compiled, Evaluator, Externals, FailureKind, NoExternals};
use dae::function::{DerivativeAnnotation, External, Type};
use dae::tangent::contains_reals;
use dae::value::Kind;
use dae::{ExprId, FunctionId, Functions, Node, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::inverses;
use crate::work::Work;

/// How far a derivative may be off, relative to itself.
const TRUE: f64 = 1e-2;
/// How far quotients of differences may be apart, relative to them.
const SMOOTH: f64 = 1e-3;
/// What rounding errors and tolerances may change, relative to the value by the argument.
const NOISE: f64 = 1e-6;
/// The distance of a difference, relative to the argument, and how many times shorter the second one is.
const DISTANCE: f64 = 1e-4;
const SHORTER: f64 = 8.0;
/// An input is tried at these multiples of its value.
const TRIALS: [f64; 3] = [1.0, 0.9, 1.1];
/// Calls of one function, and scalars of one input, that are looked at.
const MOST_CALLS: usize = 3;
const MOST_RECORDED: usize = 100;
const MOST_SCALARS: usize = 6;
const MOST_STEPS: u64 = 20_000;

/// An annotation that is not used.
pub struct Untrue {
    function: FunctionId,
    warning: Diagnostic,
}

/// Drops what is not true. The warnings are for those that are needed.
pub fn drop_false(work: &mut Work) -> Vec<Untrue> {
    let has_annotation = |id: &FunctionId| !work.model.functions[*id].derivatives.is_empty();
    let annotated: FxHashSet<FunctionId> = work.model.functions.ids().filter(has_annotation).collect();
    let mut found = Vec::new();
    if annotated.is_empty() {
        return found;
    }
    let mut calls: Vec<(FunctionId, Vec<Call>)> = calls_of(work, &annotated).into_iter().collect();
    calls.sort_unstable_by_key(|(function, _)| *function);
    for (function, calls) in calls {
        let functions = &work.model.functions;
        let declared = functions[function].derivatives.clone();
        let contradictions: Vec<Option<Contradiction>> = declared
            .iter()
            .map(|annotation| calls.iter().find_map(|call| contradiction(functions, function, annotation, call)))
            .collect();
        for (annotation, contradiction) in declared.iter().zip(&contradictions) {
            let Some(contradiction) = contradiction else { continue };
            found.push(Untrue { function, warning: contradiction.warning(functions, function, annotation) });
        }
        if contradictions.iter().any(Option::is_some) {
            let kept = declared.iter().zip(&contradictions).filter(|(_, contradiction)| contradiction.is_none());
            let kept = kept.map(|(annotation, _)| annotation.clone()).collect();
            Arc::make_mut(&mut work.model.functions[function]).derivatives = kept;
        }
    }
    found
}

/// The warnings for functions whose derivatives were made instead.
pub fn report(work: &mut Work, untrue: Vec<Untrue>) {
    for Untrue { function, warning } in untrue {
        if work.derivatives.differentiator.has_tangent(function) {
            work.summary.notices.push(warning);
        }
    }
}

/// What was tried belongs to the reason why there is no derivative.
pub fn explain(mut problems: Vec<Diagnostic>, untrue: Vec<Untrue>) -> Vec<Diagnostic> {
    if problems.iter().any(|problem| problem.code == "not-differentiable") {
        problems.extend(untrue.into_iter().map(|untrue| untrue.warning));
    }
    problems
}

/// The arguments of a call, and what they are where all that varies is moved.
struct Call {
    arguments: Vec<Value>,
    moved: Vec<Value>,
}

/// Notes the calls that are made by a call, that one included.
struct Recorder<'a> {
    annotated: &'a FxHashSet<FunctionId>,
    found: Vec<(FunctionId, Vec<Value>)>,
}

impl Compiled for Recorder<'_> {
    fn call(&mut self, _: &Functions, id: FunctionId, arguments: &[Value]) -> Option<Vec<Value>> {
        if self.annotated.contains(&id) && self.found.len() < MOST_RECORDED {
            self.found.push((id, arguments.to_vec()));
        }
        None
    }
}

/// Typical arguments of the calls of these functions, also of those inside of other functions.
fn calls_of(work: &mut Work, annotated: &FxHashSet<FunctionId>) -> FxHashMap<FunctionId, Vec<Call>> {
    let mut found: FxHashMap<FunctionId, Vec<Call>> = FxHashMap::default();
    let mut seen: FxHashMap<FunctionId, usize> = FxHashMap::default();
    let ids: Vec<ExprId> = work.model.exprs.ids().collect();
    for id in ids {
        let Node::Call { site, args, .. } = work.model.exprs.node(id) else { continue };
        let function = work.model.exprs.call_site(site).function;
        let count = seen.entry(function).or_default();
        // Several results of one call are several expressions.
        if *count > MOST_CALLS * work.model.functions[function].outputs.len() {
            continue;
        }
        *count += 1;
        let Some(first) = arguments(work, site, args, 1.0) else { continue };
        let Some(second) = arguments(work, site, args, 1.0 + DISTANCE) else { continue };
        let (first, second) = (recorded(work, annotated, function, first), recorded(work, annotated, function, second));
        for ((id, arguments), (other, moved)) in first.into_iter().zip(second) {
            // Another branch: what varies is not known.
            if id != other {
                break;
            }
            let known = found.entry(id).or_default();
            if known.len() < MOST_CALLS && !known.iter().any(|known| known.arguments == arguments) {
                known.push(Call { arguments, moved });
            }
        }
    }
    found
}

/// The calls that one call makes. What was called before a failure was called with values all the same.
fn recorded(
    work: &Work,
    annotated: &FxHashSet<FunctionId>,
    function: FunctionId,
    arguments: Vec<Value>,
) -> Vec<(FunctionId, Vec<Value>)> {
    let mut recorder = Recorder { annotated, found: Vec::new() };
    let mut externals = NoExternals;
    let mut evaluator = Evaluator::with_code(&work.model.functions, &mut externals, Some(&mut recorder));
    evaluator.steps_left = MOST_STEPS;
    let _ = evaluator.call(function, arguments);
    recorder.found
}

/// The arguments of a call as they are at the start of a run, as far as that is known; what varies, times a factor. What has no value
/// is as large as its nominal value says.
fn arguments(work: &mut Work, site: dae::CallSiteId, args: dae::ArgsId, factor: f64) -> Option<Vec<Value>> {
    let site = work.model.exprs.call_site(site).clone();
    let functions = work.model.functions.clone();
    let function = &functions[site.function];
    let mut scalars = work.model.exprs.arguments(args).to_vec().into_iter();
    let types = function.inputs.iter().map(|&input| &function.locals[input].ty);
    let mut leaf = |kind: Kind| {
        let argument = scalars.next()?;
        let (start, size) = inverses::start_and_size(work, argument)?;
        Some(match kind {
            Kind::Real => {
                let value = match work.model.exprs.as_real(start)? {
                    0.0 => size,
                    value => value,
                };
                Value::Real(if varies(work, argument) { factor * value } else { value })
            }
            Kind::Integer => Value::Integer(work.model.exprs.as_real(start)? as i64),
            Kind::Enumeration => Value::Enumeration(work.model.exprs.as_real(start)? as i64),
            Kind::Boolean => Value::Boolean(work.model.exprs.as_boolean(start)?),
            Kind::String | Kind::Object => return None,
        })
    };
    site.inputs.iter().zip(types).map(|(shape, ty)| Value::of_shape(&functions, shape, ty, &mut leaf)).collect()
}

/// Whether an expression changes during a run.
fn varies(work: &Work, expr: ExprId) -> bool {
    let exprs = &work.model.exprs;
    exprs.any(expr, |node| match node {
        Node::Var(variable) => !work.is_parameter(variable),
        Node::Time | Node::Der(_) => true,
        _ => false,
    })
}

/// Where a derivative is not what an annotation says.
struct Contradiction {
    /// The input along which that is so, and its value.
    input: usize,
    value: f64,
    what: What,
}

enum What {
    Differs { stated: f64, found: f64 },
    Fails(String),
}

/// What a point tells about an annotation.
enum Verdict {
    Unknown,
    True,
    Untrue(What),
}

impl Contradiction {
    fn warning(&self, functions: &Functions, id: FunctionId, annotation: &DerivativeAnnotation) -> Diagnostic {
        let (function, derivative) = (&functions[id], &functions[annotation.function]);
        let input = function.locals[function.inputs[self.input]].name;
        let names = format!("`{}` is not the derivative of `{}`", derivative.name, function.name);
        let message = match &self.what {
            What::Differs { stated, found } => format!(
                "{names}: along `{input}` it is {} at {}, where the function changes by {}",
                rounded(*stated),
                rounded(self.value),
                rounded(*found)
            ),
            What::Fails(reason) => format!("{names}: it fails where the function has a value ({reason})"),
        };
        Diagnostic::warning("false-derivative", message)
            .at(derivative.span, "")
            .at(function.span, "its annotation is not used")
            .hint("correct the annotation `derivative`, or leave it out")
            .decides()
    }
}

/// A number as one writes it in a sentence.
fn rounded(value: f64) -> String {
    format!("{:.4e}", value).parse::<f64>().map_or_else(|_| value.to_string(), |value| value.to_string())
}

/// Tries an annotation at one call.
fn contradiction(
    functions: &Functions,
    id: FunctionId,
    annotation: &DerivativeAnnotation,
    call: &Call,
) -> Option<Contradiction> {
    let function = &functions[id];
    let type_of = |k: usize| &function.locals[function.inputs[k]].ty;
    let depends = |k: usize| match type_of(k) {
        Type::Record(_) => contains_reals(type_of(k)),
        Type::Function(_) => true,
        _ => annotation.no_derivative.contains(&(k as u32)) && contains_reals(type_of(k)),
    };
    if annotation.order > 1 || call.arguments.len() != function.inputs.len() || (0..function.inputs.len()).any(depends)
    {
        return None;
    }
    let mut functions = functions.clone();
    Arc::make_mut(&mut functions[id]).derivatives = vec![annotation.clone()];
    let is_constant = |k: u32| annotation.zero_derivative.contains(&k);
    let (derivative, taken) = Differentiator::new().annotated(&mut functions, id, is_constant)?;
    let trial = Trial { functions: &functions, function: id, derivative, taken: &taken, call };
    taken.iter().find_map(|&input| trial.along(input))
}

struct Trial<'a> {
    functions: &'a Functions,
    function: FunctionId,
    derivative: FunctionId,
    taken: &'a [usize],
    call: &'a Call,
}

impl Trial<'_> {
    fn along(&self, input: usize) -> Option<Contradiction> {
        let (own, moved) = (scalars(&self.call.arguments[input]), scalars(&self.call.moved[input]));
        let varying = (0..own.len().min(moved.len())).filter(|&scalar| own[scalar] != moved[scalar]);
        varying.take(MOST_SCALARS).find_map(|scalar| self.along_scalar(input, scalar))
    }

    /// The first contradiction along one scalar, where all points that can be judged contradict.
    fn along_scalar(&self, input: usize, scalar: usize) -> Option<Contradiction> {
        let own = *scalars(&self.call.arguments[input]).get(scalar)?;
        let mut found = None;
        let mut count = 0;
        for part in TRIALS {
            let value = part * own;
            match self.judge(input, scalar, value) {
                Verdict::Unknown => {}
                Verdict::True => return None,
                Verdict::Untrue(what) => {
                    count += 1;
                    found = found.or(Some(Contradiction { input, value, what }));
                }
            }
        }
        found.filter(|_| count > 1)
    }

    fn judge(&self, input: usize, scalar: usize, value: f64) -> Verdict {
        let step = DISTANCE * value.abs();
        if step == 0.0 {
            return Verdict::Unknown;
        }
        let at = |x: f64| self.result(input, scalar, x);
        let Some(middle) = at(value) else { return Verdict::Unknown };
        let steps = [step, -step, step / SHORTER, -step / SHORTER];
        let around: Option<Vec<Vec<f64>>> = steps.iter().map(|step| at(value + step)).collect();
        let Some(around) = around else { return Verdict::Unknown };
        let quotient = |which: usize, k: usize| (around[which][k] - middle[k]) / steps[which];
        let stated = match self.stated(input, scalar, value) {
            Ok(stated) if stated.len() == middle.len() => stated,
            Ok(_) | Err(None) => return Verdict::Unknown,
            Err(Some(reason)) => return Verdict::Untrue(What::Fails(reason)),
        };
        let mut is_known = false;
        for (k, &stated) in stated.iter().enumerate() {
            let noise = NOISE * middle[k].abs() / value.abs();
            let found = 0.5 * (quotient(2, k) + quotient(3, k));
            let apart = (0..steps.len()).map(|which| (quotient(which, k) - found).abs()).fold(0.0, f64::max);
            let is_smooth = apart <= SMOOTH * found.abs() + noise;
            if !stated.is_finite() || !is_smooth {
                continue;
            }
            is_known = true;
            if (stated - found).abs() > TRUE * stated.abs().max(found.abs()) + 2.0 * noise {
                return Verdict::Untrue(What::Differs { stated, found });
            }
        }
        if is_known { Verdict::True } else { Verdict::Unknown }
    }

    /// The Reals that the function gives where one scalar has another value.
    fn result(&self, input: usize, scalar: usize, value: f64) -> Option<Vec<f64>> {
        let mut arguments = self.call.arguments.clone();
        arguments[input] = with_scalar(&arguments[input], scalar, |_| value);
        let function = &self.functions[self.function];
        let outputs = self.evaluated(self.function, arguments).ok()?;
        let types = function.outputs.iter().map(|&output| &function.locals[output].ty);
        Some(
            outputs
                .iter()
                .zip(types)
                .filter(|(_, ty)| contains_reals(ty))
                .flat_map(|(value, _)| scalars(value))
                .collect(),
        )
    }

    /// What the annotation says; the reason where its function fails, nothing where it cannot be called.
    fn stated(&self, input: usize, scalar: usize, value: f64) -> Result<Vec<f64>, Option<String>> {
        let mut arguments = self.call.arguments.clone();
        arguments[input] = with_scalar(&arguments[input], scalar, |_| value);
        for &k in self.taken {
            let direction =
                self.call.arguments[k].try_map::<_, ()>(&mut |_| Ok(Value::Real(0.0))).map_err(|()| None)?;
            arguments.push(if k == input { with_scalar(&direction, scalar, |_| 1.0) } else { direction });
        }
        Ok(self.evaluated(self.derivative, arguments)?.iter().flat_map(scalars).collect())
    }

    fn evaluated(&self, function: FunctionId, arguments: Vec<Value>) -> Result<Vec<Value>, Option<String>> {
        let mut outside = Outside::default();
        let mut evaluator = Evaluator::new(self.functions, &mut outside);
        evaluator.steps_left = MOST_STEPS;
        let outcome = evaluator.call(function, arguments);
        let is_called = outside.is_called;
        outcome.map_err(|error| (error.kind == FailureKind::Failure && !is_called).then_some(error.message))
    }
}

/// Functions in other languages are not called, and noticed.
#[derive(Default)]
struct Outside {
    is_called: bool,
}

impl Externals for Outside {
    fn call(&mut self, external: &External, arguments: &mut [Value]) -> Result<Option<Value>, String> {
        self.is_called = true;
        NoExternals.call(external, arguments)
    }
}

/// The Reals of a value.
fn scalars(value: &Value) -> Vec<f64> {
    let mut found = Vec::new();
    value.for_each_scalar(&mut |scalar| {
        if let Value::Real(value) = scalar {
            found.push(*value);
        }
    });
    found
}

/// The value with another number in the place of one of its Reals.
fn with_scalar(value: &Value, place: usize, new: impl Fn(f64) -> f64) -> Value {
    let mut position = 0;
    let changed = value.try_map::<_, ()>(&mut |scalar| {
        let Value::Real(old) = scalar else { return Ok(scalar.clone()) };
        position += 1;
        Ok(Value::Real(if position - 1 == place { new(*old) } else { *old }))
    });
    changed.unwrap_or_else(|()| value.clone())
}
