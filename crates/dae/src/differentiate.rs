//! Derivatives of expressions: total ones with respect to time, and partial ones (specification 3.7.4, 12.7).
//!
//! What the derivative of a leaf is, the caller says. Calls of functions are differentiated by their annotation
//! `derivative` where it applies (12.7.1), else by a function that `tangent` makes from their body. Relations are
//! piecewise constant, so their derivative is zero and an `if` is differentiated branch by branch.

use std::fmt;

use base::{IdVec, Name, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::{Builtin, CallSite, CompareOp, ExprId, Exprs, Node, Shape};
use crate::function::{Body, Function, FunctionId, Functions, Type};
use crate::model::{VarId, Variability, Variable, VariableType};
use crate::rewrite::Memo;
use crate::tangent::{Helpers, contains_reals, real_inputs};

/// Why there is no derivative.
#[derive(Clone, PartialEq, Debug)]
pub struct NotDifferentiable {
    /// The function without a derivative.
    pub function: Option<Name>,
    /// Why there is none.
    pub reason: String,
    /// The loop that is the reason.
    pub iteration: Option<Span>,
}

impl NotDifferentiable {
    /// Nothing but a reason.
    pub fn because(reason: impl Into<String>) -> Self {
        Self { function: None, reason: reason.into(), iteration: None }
    }
}

impl fmt::Display for NotDifferentiable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.function {
            Some(name) => write!(f, "function `{name}` cannot be differentiated: {}", self.reason),
            None => write!(f, "the expression cannot be differentiated: {}", self.reason),
        }
    }
}

impl std::error::Error for NotDifferentiable {}

/// The derivative of a leaf (`Var`, `Der`); `None` where it is zero.
pub type LeafDerivative<'a> = dyn FnMut(&mut Exprs, Node) -> Result<Option<ExprId>, NotDifferentiable> + 'a;

/// Differentiates; remembers the functions made on the way.
#[derive(Clone, Default)]
pub struct Differentiator {
    /// By the function and the inputs that are taken as constant.
    pub(crate) tangents: FxHashMap<(FunctionId, Vec<usize>), Result<FunctionId, NotDifferentiable>>,
    /// Those whose body called them while it was made.
    pub(crate) recursive: FxHashSet<FunctionId>,
    /// Those whose bodies are being made.
    pub(crate) unfinished: Vec<FunctionId>,
    pub(crate) helpers: Helpers,
    /// For Jacobians: the derivative of the last turn of a loop that iterates will do.
    pub(crate) is_approximate: bool,
}

/// What has no derivative, and why.
type Failures = FxHashMap<ExprId, NotDifferentiable>;

/// The derivatives of operands.
#[derive(Clone, Copy)]
struct Known<'m> {
    memo: &'m Memo,
    failed: &'m Failures,
}

impl<'m> Known<'m> {
    fn derivative(&self, id: ExprId) -> Result<ExprId, Option<&'m NotDifferentiable>> {
        self.memo.get(id).ok_or_else(|| self.failed.get(&id))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Total,
    Partial,
}

impl Differentiator {
    /// No functions are known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// For Newton's method, which reaches its solution with derivatives that are off as well.
    pub fn approximate() -> Self {
        Self { is_approximate: true, ..Self::default() }
    }

    /// Whether a derivative of this function was made from its statements.
    pub fn has_tangent(&self, function: FunctionId) -> bool {
        self.tangents.iter().any(|((id, _), made)| *id == function && made.is_ok())
    }

    /// d/dt of expressions. `memo` may be kept as long as `leaf` gives the same answers.
    pub fn total(
        &mut self,
        exprs: &mut Exprs,
        functions: &mut Functions,
        root: ExprId,
        memo: &mut Memo,
        leaf: &mut LeafDerivative<'_>,
    ) -> Result<ExprId, NotDifferentiable> {
        self.run(exprs, functions, root, memo, leaf, Kind::Total)
    }

    /// d/dt by the kinds of the variables: `der(v)` for continuous Real ones, zero for all others. A `der(v)` itself cannot
    /// be differentiated this way.
    pub fn total_by_kind(
        &mut self,
        exprs: &mut Exprs,
        functions: &mut Functions,
        variables: &IdVec<VarId, Variable>,
        root: ExprId,
    ) -> Result<ExprId, NotDifferentiable> {
        let mut leaf = |exprs: &mut Exprs, node: Node| match node {
            Node::Var(v) => Ok(variables.get(v).filter(|variable| is_continuous(variable)).map(|_| exprs.der(v))),
            _ => Err(NotDifferentiable::because("it holds a derivative")),
        };
        self.total(exprs, functions, root, &mut Memo::default(), &mut leaf)
    }

    /// The derivative with respect to `unknown`, a leaf, all other leaves being constant.
    pub fn partial(
        &mut self,
        exprs: &mut Exprs,
        functions: &mut Functions,
        root: ExprId,
        unknown: ExprId,
    ) -> Result<ExprId, NotDifferentiable> {
        let sought = exprs.node(unknown);
        let mut leaf = |exprs: &mut Exprs, node: Node| Ok((node == sought).then(|| exprs.int(1)));
        self.run(exprs, functions, root, &mut Memo::default(), &mut leaf, Kind::Partial)
    }

    fn run(
        &mut self,
        exprs: &mut Exprs,
        functions: &mut Functions,
        root: ExprId,
        memo: &mut Memo,
        leaf: &mut LeafDerivative<'_>,
        kind: Kind,
    ) -> Result<ExprId, NotDifferentiable> {
        // An argument may have no derivative where an annotation asks for none.
        let mut failed = Failures::default();
        let mut stack = vec![(root, false)];
        while let Some((id, operands_done)) = stack.pop() {
            if memo.get(id).is_some() || failed.contains_key(&id) {
                continue;
            }
            if !operands_done {
                stack.push((id, true));
                for_each_operand(exprs, id, |child| stack.push((child, false)));
                continue;
            }
            let mut missing = None;
            if !matches!(exprs.node(id), Node::Call { .. }) && !failed.is_empty() {
                for_each_operand(exprs, id, |child| missing = missing.take().or_else(|| failed.get(&child).cloned()));
            }
            let derivative = match missing {
                Some(missing) => Err(missing),
                None => self.node(exprs, functions, id, Known { memo, failed: &failed }, leaf, kind),
            };
            match derivative {
                Ok(derivative) => memo.insert(id, derivative),
                Err(error) if id == root => return Err(error),
                Err(error) => {
                    failed.insert(id, error);
                }
            }
        }
        memo.get(root).ok_or_else(|| NotDifferentiable::because("it is empty"))
    }

    fn node(
        &mut self,
        e: &mut Exprs,
        functions: &mut Functions,
        id: ExprId,
        known: Known<'_>,
        leaf: &mut LeafDerivative<'_>,
        kind: Kind,
    ) -> Result<ExprId, NotDifferentiable> {
        let d = |id: ExprId| known.memo.get(id).expect("operands come before what they are in");
        Ok(match e.node(id) {
            Node::Time if kind == Kind::Total => e.int(1),
            Node::Var(_) | Node::Der(_) => {
                let node = e.node(id);
                match leaf(e, node)? {
                    Some(derivative) => derivative,
                    None => e.int(0),
                }
            }
            Node::Neg(a) => e.neg(d(a)),
            Node::Add(a, b) => e.add(d(a), d(b)),
            Node::Sub(a, b) => e.sub(d(a), d(b)),
            Node::Mul(a, b) => {
                let (left, right) = (e.mul(d(a), b), e.mul(a, d(b)));
                e.add(left, right)
            }
            Node::Div(a, b) => {
                // a'/b − (a/b)·b'/b
                if e.is_zero(d(b)) {
                    return Ok(e.div(d(a), b));
                }
                let second = e.mul(id, d(b));
                let numerator = e.sub(d(a), second);
                e.div(numerator, b)
            }
            Node::Pow(a, b) => self.power(e, id, a, b, d(a), d(b)),
            // Where nothing changes, the condition does not matter.
            Node::If { then, otherwise, .. } if e.is_zero(d(then)) && e.is_zero(d(otherwise)) => e.int(0),
            Node::If { condition, then, otherwise } => e.if_(condition, d(then), d(otherwise)),
            Node::Builtin(op, args) => {
                let arguments = e.arguments(args).to_vec();
                let derivatives: Vec<ExprId> = arguments.iter().map(|&argument| d(argument)).collect();
                builtin(e, id, op, &arguments, &derivatives, kind)?
            }
            Node::Call { site, args, output } => {
                let arguments = e.arguments(args).to_vec();
                let derivatives: Vec<_> = arguments.iter().map(|&argument| known.derivative(argument)).collect();
                if derivatives.iter().all(|derivative| derivative.is_ok_and(|derivative| e.is_zero(derivative))) {
                    return Ok(e.int(0));
                }
                let site = e.call_site(site).clone();
                self.call(e, functions, &site, &arguments, &derivatives, output)?
            }
            // Constant, or piecewise so.
            Node::Real(_)
            | Node::Integer(_)
            | Node::Boolean(_)
            | Node::String(_)
            | Node::Time
            | Node::Pre(_)
            | Node::Previous(_)
            | Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::Compare { .. } => e.int(0),
        })
    }

    fn power(&self, e: &mut Exprs, id: ExprId, a: ExprId, b: ExprId, da: ExprId, db: ExprId) -> ExprId {
        // b·a^(b−1)·a'
        let first = if e.is_zero(da) {
            da
        } else {
            let one = e.int(1);
            let lower = e.sub(b, one);
            let lowered = e.pow(a, lower);
            let scaled = e.mul(b, lowered);
            e.mul(scaled, da)
        };
        if e.is_zero(db) {
            return first;
        }
        // a^b·log(a)·b'
        let log = e.builtin(Builtin::Log, &[a]);
        let second = e.mul(id, log);
        let second = e.mul(second, db);
        e.add(first, second)
    }

    /// The derivative of one scalar of a call's results.
    fn call(
        &mut self,
        e: &mut Exprs,
        functions: &mut Functions,
        site: &CallSite,
        arguments: &[ExprId],
        derivatives: &[Result<ExprId, Option<&NotDifferentiable>>],
        output: u32,
    ) -> Result<ExprId, NotDifferentiable> {
        let plain = self.without_functions(functions, site);
        let site = plain.as_ref().unwrap_or(site);
        let function = functions
            .get(site.function)
            .cloned()
            .ok_or_else(|| NotDifferentiable::because("it calls a function that does not exist"))?;
        let Some(new_output) = position_among_reals(&function, site, output) else {
            return Ok(e.int(0));
        };
        let ranges = input_ranges(site);
        let is_constant = |e: &Exprs, input: u32| {
            let is_zero = |d: &Result<ExprId, _>| d.is_ok_and(|d| e.is_zero(d));
            ranges.get(input as usize).is_some_and(|range| derivatives[range.clone()].iter().all(is_zero))
        };
        let (target, differentiated) = match self.annotated(functions, site.function, |input| is_constant(e, input)) {
            Some(found) => found,
            None => {
                let constant: Vec<usize> = (0..site.inputs.len()).filter(|&k| is_constant(e, k as u32)).collect();
                (self.tangent_with(functions, site.function, &constant)?, real_inputs(&function))
            }
        };
        let mut inputs = site.inputs.clone();
        let mut scalars = arguments.to_vec();
        for input in differentiated {
            let (Some(range), Some(shape)) = (ranges.get(input), site.inputs.get(input)) else { continue };
            inputs.push(shape.clone());
            for derivative in &derivatives[range.clone()] {
                scalars.push(derivative.map_err(|reason| match reason {
                    Some(reason) => reason.clone(),
                    None => NotDifferentiable::because("an argument is missing"),
                })?);
            }
        }
        let outputs = function
            .outputs
            .iter()
            .zip(&site.outputs)
            .filter(|(id, _)| function.locals.get(**id).is_some_and(|local| contains_reals(&local.ty)))
            .map(|(_, shape)| shape.clone())
            .collect();
        let site = e.site(CallSite { function: target, inputs, outputs });
        Ok(e.call(site, &scalars, new_output))
    }
}

/// The operands whose derivatives go into that of an expression: conditions and relations are piecewise constant.
fn for_each_operand(exprs: &Exprs, id: ExprId, mut visit: impl FnMut(ExprId)) {
    match exprs.node(id) {
        Node::If { then, otherwise, .. } => {
            visit(then);
            visit(otherwise);
        }
        Node::Not(_) | Node::And(..) | Node::Or(..) | Node::Compare { .. } => {}
        _ => exprs.for_each_child(id, visit),
    }
}

fn is_continuous(variable: &Variable) -> bool {
    variable.variability == Variability::Continuous && variable.ty == VariableType::Real
}

/// The scalars of each input among the arguments.
fn input_ranges(site: &CallSite) -> Vec<std::ops::Range<usize>> {
    let mut start = 0;
    site.inputs
        .iter()
        .map(|shape| {
            let range = start..start + shape.scalars();
            start = range.end;
            range
        })
        .collect()
}

/// The number of an output's scalar when the outputs without Reals are left out; `None` if it is such a one.
fn position_among_reals(function: &Function, site: &CallSite, output: u32) -> Option<u32> {
    let mut old = 0;
    let mut new = 0;
    for (id, shape) in function.outputs.iter().zip(&site.outputs) {
        let count = shape.scalars() as u32;
        let ty = &function.locals.get(*id)?.ty;
        let real = contains_reals(ty);
        if output < old + count {
            let is_real = real && scalar_is_real(ty, shape, (output - old) as usize);
            return is_real.then_some(new + output - old);
        }
        old += count;
        new += if real { count } else { 0 };
    }
    None
}

/// Whether a certain scalar of a value is a Real; records may hold others too.
fn scalar_is_real(ty: &Type, shape: &Shape, position: usize) -> bool {
    match (ty, shape) {
        (_, Shape::Array(_, element)) => scalar_is_real(ty, element, position % element.scalars().max(1)),
        (Type::Record(record), Shape::Record(fields)) => {
            let mut start = 0;
            for (field, shape) in record.fields.iter().zip(fields) {
                let count = shape.scalars();
                if position < start + count {
                    return scalar_is_real(&field.ty, shape, position - start);
                }
                start += count;
            }
            false
        }
        (ty, _) => *ty == Type::Real,
    }
}

pub(crate) fn is_record_constructor(function: &Function) -> bool {
    matches!(function.body, Body::RecordConstructor)
}

fn builtin(
    e: &mut Exprs,
    id: ExprId,
    op: Builtin,
    arguments: &[ExprId],
    derivatives: &[ExprId],
    kind: Kind,
) -> Result<ExprId, NotDifferentiable> {
    if derivatives.iter().all(|&derivative| e.is_zero(derivative)) {
        return Ok(e.int(0));
    }
    Ok(match (arguments, derivatives) {
        (&[x], &[dx]) => unary(e, id, op, x, dx),
        (&[x, y], &[dx, dy]) if op != Builtin::Delay => binary(e, op, x, y, dx, dy),
        _ => match op {
            Builtin::SemiLinear if arguments.len() == 3 => {
                let zero = e.int(0);
                let forward = e.compare(CompareOp::GreaterEqual, false, arguments[0], zero);
                let slope = e.if_(forward, arguments[1], arguments[2]);
                let slope_derivative = e.if_(forward, derivatives[1], derivatives[2]);
                let (first, second) = (e.mul(slope, derivatives[0]), e.mul(arguments[0], slope_derivative));
                e.add(first, second)
            }
            // x(t − T) has the derivative x'(t − T)·(1 − T'). Before the start x is constant.
            Builtin::Delay if kind == Kind::Total && arguments.len() >= 2 => {
                let longest = arguments.get(2).copied().unwrap_or(arguments[1]);
                let delayed = [derivatives[0], arguments[1], longest, e.int(0)];
                let past = e.builtin(Builtin::Delay, &delayed);
                let one = e.int(1);
                let factor = e.sub(one, derivatives[1]);
                e.mul(factor, past)
            }
            Builtin::SpatialFirst | Builtin::SpatialSecond if kind == Kind::Total => {
                return Err(NotDifferentiable::because("it holds a spatialDistribution"));
            }
            _ => e.int(0),
        },
    })
}

fn unary(e: &mut Exprs, id: ExprId, op: Builtin, x: ExprId, dx: ExprId) -> ExprId {
    let one = e.int(1);
    let two = e.int(2);
    let factor = match op {
        Builtin::Sin => e.builtin(Builtin::Cos, &[x]),
        Builtin::Cos => {
            let sine = e.builtin(Builtin::Sin, &[x]);
            e.neg(sine)
        }
        // 1 + tan²
        Builtin::Tan => {
            let square = e.mul(id, id);
            e.add(one, square)
        }
        Builtin::Asin | Builtin::Acos => {
            let square = e.mul(x, x);
            let rest = e.sub(one, square);
            let root = e.builtin(Builtin::Sqrt, &[rest]);
            let quotient = e.div(dx, root);
            return if op == Builtin::Asin { quotient } else { e.neg(quotient) };
        }
        Builtin::Atan => {
            let square = e.mul(x, x);
            let denominator = e.add(one, square);
            return e.div(dx, denominator);
        }
        Builtin::Sinh => e.builtin(Builtin::Cosh, &[x]),
        Builtin::Cosh => e.builtin(Builtin::Sinh, &[x]),
        Builtin::Tanh => {
            let square = e.mul(id, id);
            e.sub(one, square)
        }
        Builtin::Exp => id,
        Builtin::Log => return e.div(dx, x),
        Builtin::Log10 => {
            let ten = e.real(std::f64::consts::LN_10);
            let denominator = e.mul(ten, x);
            return e.div(dx, denominator);
        }
        Builtin::Sqrt => {
            let denominator = e.mul(two, id);
            return e.div(dx, denominator);
        }
        Builtin::Abs => e.builtin(Builtin::Sign, &[x]),
        // Piecewise constant, or discrete.
        _ => return e.int(0),
    };
    e.mul(factor, dx)
}

fn binary(e: &mut Exprs, op: Builtin, x: ExprId, y: ExprId, dx: ExprId, dy: ExprId) -> ExprId {
    match op {
        Builtin::Atan2 => {
            let (first, second) = (e.mul(y, dx), e.mul(x, dy));
            let numerator = e.sub(first, second);
            let (xx, yy) = (e.mul(x, x), e.mul(y, y));
            let denominator = e.add(xx, yy);
            e.div(numerator, denominator)
        }
        Builtin::Min | Builtin::Max => {
            let less = e.compare(CompareOp::Less, false, x, y);
            if op == Builtin::Min { e.if_(less, dx, dy) } else { e.if_(less, dy, dx) }
        }
        Builtin::Mod | Builtin::ModEvent | Builtin::Rem | Builtin::RemEvent => {
            let quotient = match op {
                Builtin::Mod => {
                    let quotient = e.div(x, y);
                    e.builtin(Builtin::Floor, &[quotient])
                }
                Builtin::ModEvent => {
                    let quotient = e.div(x, y);
                    e.builtin(Builtin::FloorEvent, &[quotient])
                }
                Builtin::Rem => e.builtin(Builtin::Div, &[x, y]),
                _ => e.builtin(Builtin::DivEvent, &[x, y]),
            };
            let second = e.mul(quotient, dy);
            e.sub(dx, second)
        }
        Builtin::Homotopy => e.builtin(Builtin::Homotopy, &[dx, dy]),
        _ => e.int(0),
    }
}
