//! Calls written out: the body of a function executed with expressions as values (specification 18.3, `LateInline` and
//! `InlineAfterIndexReduction`).
//!
//! What a tool may inline only after index reduction has a derivative annotation that has to be used before. Structure and
//! linearity can be seen in the written-out form only. Functions that loop without a bound known here, assert, call outside
//! code or grow too large stay calls.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::effects::effects;
use crate::execute::{Domain, Executor, ValueOf};
use crate::expr::{ArgsId, Builtin, CallSite, CallSiteId, CompareOp, ExprId, Exprs, Node};
use crate::function::{
    ArithmeticOp, ArrayFunction, Body, Expr, Function, FunctionId, Functions, Inline, Local, LocalId, Statement,
    StatementKind, Type,
};
use crate::known::Outcome;
use crate::rewrite::Memo;
use crate::value::{Kind, Value};

/// How large a call may become.
#[derive(Clone, Copy)]
struct Limits {
    /// Statements and calls it may take to be written out.
    steps: u64,
    /// Nodes it may add to the arena, where the function does not ask for it.
    growth: usize,
    /// Operations it may take in any case.
    operations: usize,
    /// Whether a function with a known inverse stays a call, which can be solved for its input.
    keeps_invertible: bool,
}

const USUAL: Limits = Limits { steps: 300, growth: 400, operations: 800, keeps_invertible: true };
const LARGE: Limits = Limits { steps: 20_000, growth: usize::MAX, operations: 100_000, keeps_invertible: false };
const DEPTH: usize = 20;

/// Writes calls out; remembers which could be.
#[derive(Clone)]
pub struct Inliner {
    limits: Limits,
    calls: FxHashMap<(CallSiteId, ArgsId), Option<Vec<ExprId>>>,
    memo: Memo,
}

impl Default for Inliner {
    fn default() -> Self {
        Self::new()
    }
}

impl Inliner {
    /// No functions are known yet.
    pub fn new() -> Self {
        Self { limits: USUAL, calls: FxHashMap::default(), memo: Memo::default() }
    }

    /// For questions about a function that are worth large expressions.
    pub fn at_any_size() -> Self {
        Self { limits: LARGE, ..Self::new() }
    }

    /// The expression with all calls written out that can be.
    pub fn expand(&mut self, exprs: &mut Exprs, functions: &Functions, root: ExprId) -> ExprId {
        let Self { limits, calls, memo } = self;
        if let Some(known) = memo.get(root) {
            return known;
        }
        exprs.rewrite(&[root], memo, |exprs, _, node| match node {
            Node::Call { site, args, output } => {
                let outputs =
                    calls.entry((site, args)).or_insert_with(|| written_out(exprs, functions, site, args, *limits));
                match outputs.as_ref().and_then(|outputs| outputs.get(output as usize)) {
                    Some(&value) => value,
                    None => exprs.make(node),
                }
            }
            node => exprs.make(node),
        })[0]
    }
}

/// Whether external objects begin and end with a call of the function.
fn makes_objects(function: &Function) -> bool {
    let is_object = |local: &Local| matches!(local.ty, Type::Object(_));
    let is_own = |id: LocalId| !function.inputs.contains(&id) && !function.outputs.contains(&id);
    function.locals.iter().any(|(id, local)| is_own(id) && is_object(local))
}

/// All scalars of the results of a call.
fn written_out(
    exprs: &mut Exprs,
    functions: &Functions,
    site: CallSiteId,
    args: ArgsId,
    limits: Limits,
) -> Option<Vec<ExprId>> {
    let CallSite { function, inputs, .. } = exprs.call_site(site).clone();
    let declared = functions.get(function)?.clone();
    if limits.keeps_invertible && !declared.inverses.is_empty() && declared.inline != Inline::Early {
        return None;
    }
    if makes_objects(&declared) {
        return None;
    }
    let mut scalars = exprs.arguments(args).to_vec().into_iter();
    let mut arguments = Vec::with_capacity(inputs.len());
    for (shape, &input) in inputs.iter().zip(&declared.inputs) {
        let ty = &declared.locals[input].ty;
        let mut leaf = |kind| scalars.next().map(|id| scalar(exprs, id, kind));
        arguments.push(Value::of_shape(functions, shape, ty, &mut leaf)?);
    }
    let before = exprs.len();
    let mut executor = Executor::over(functions, Expressions::new(exprs, Stage::Sorting, limits.operations));
    executor.steps_left = limits.steps;
    executor.max_depth = DEPTH;
    let outputs = executor.call(function, arguments).ok()?;
    if executor.domain.loses_assertion(functions, &outputs) {
        return None;
    }
    if declared.inline == Inline::Unstated && exprs.len() - before > limits.growth {
        return None;
    }
    let mut flat = Vec::new();
    for output in outputs {
        let mut scalars = Vec::new();
        output.flatten_into(&mut scalars);
        for scalar in &scalars {
            flat.push(expression(exprs, scalar)?);
        }
    }
    Some(flat)
}

/// An expression as a scalar: known if it is a literal.
pub fn scalar(exprs: &Exprs, id: ExprId, kind: Kind) -> Value<ExprId> {
    match (exprs.node(id), kind) {
        (Node::Real(value), Kind::Real) => Value::Real(value),
        (Node::Integer(value), Kind::Real) => Value::Real(value as f64),
        (Node::Integer(value), Kind::Integer) => Value::Integer(value),
        (Node::Integer(value), Kind::Enumeration) => Value::Enumeration(value),
        (Node::Boolean(value), Kind::Boolean) => Value::Boolean(value),
        (Node::String(text), Kind::String) => Value::string(text.as_str()),
        _ => Value::Open(id, kind),
    }
}

/// A scalar as an expression; `None` where it has no value, or no text.
pub fn expression(exprs: &mut Exprs, scalar: &Value<ExprId>) -> Option<ExprId> {
    Some(match scalar {
        Value::Real(value) => exprs.real(*value),
        Value::Integer(value) | Value::Enumeration(value) => exprs.int(*value),
        Value::Boolean(value) => exprs.boolean(*value),
        Value::String(text) => exprs.string(text),
        Value::Open(id, _) => *id,
        _ => return None,
    })
}

/// When calls are written out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// When the flat model is made: what asks for it, or is a few assignments that nobody knows a derivative or an
    /// inverse of. Others stay calls.
    Flattening,
    /// After index reduction: all that can be.
    Sorting,
}

/// Whether calls of a function are written out when the flat model is made.
pub fn is_written_out_at_once(function: &Function) -> bool {
    if makes_objects(function) {
        return false;
    }
    let Body::Algorithm(statements) = &function.body else { return matches!(function.body, Body::RecordConstructor) };
    // Written out, a call with a function as its argument says no more than the call of what it stands in.
    let is_simple = || {
        let is_plain = |statement: &Statement| match &statement.kind {
            StatementKind::Assign(_, value) => !passes_function(value),
            _ => false,
        };
        statements.len() <= 3 && statements.iter().all(is_plain)
    };
    let is_known_better = !function.derivatives.is_empty() || !function.inverses.is_empty();
    let iterates = || crate::tangent::iteration(function, None, &[]).is_some();
    match function.inline {
        Inline::Never => false,
        // As a call it is asked for its derivative, which it has not; what is written out would have one.
        Inline::Early => !iterates(),
        Inline::Late => !is_known_better && !iterates(),
        Inline::Unstated => !is_known_better && is_simple(),
    }
}

/// Whether a function is an argument somewhere in an expression.
fn passes_function(expr: &Expr) -> bool {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        if matches!(expr, Expr::FunctionValue(..) | Expr::LocalValue(..)) {
            return true;
        }
        expr.for_each_operand(&mut |operand| stack.push(operand));
    }
    false
}

/// A call that stayed a call.
#[derive(Clone, Copy, Debug)]
pub struct KeptCall {
    /// The function that is called.
    pub function: FunctionId,
    /// The expression of its first result.
    pub first_result: ExprId,
    /// Under which it is made.
    pub condition: Option<ExprId>,
}

/// Scalars are expressions of the arena.
pub struct Expressions<'e> {
    exprs: &'e mut Exprs,
    stage: Stage,
    /// Operations that may still be done.
    operations: usize,
    /// The open conditions, and whether their branches or the others are executed.
    conditions: Vec<(ExprId, bool)>,
    kept: Vec<KeptCall>,
}

impl<'e> Expressions<'e> {
    /// Makes expressions in an arena, so many at most.
    pub fn new(exprs: &'e mut Exprs, stage: Stage, operations: usize) -> Self {
        Self { exprs, stage, operations, conditions: Vec::new(), kept: Vec::new() }
    }

    /// The calls that could not be written out.
    pub fn kept_calls(&self) -> &[KeptCall] {
        &self.kept
    }

    /// Whether a call with an assertion inside is lost when only these results remain: then the whole has to stay a call,
    /// which is executed statement by statement.
    pub fn loses_assertion(&self, functions: &Functions, outputs: &[Value<ExprId>]) -> bool {
        if self.kept.is_empty() {
            return false;
        }
        let mut roots = Vec::new();
        for output in outputs {
            output.for_each_scalar(&mut |scalar| {
                if let Value::Open(id, _) = scalar {
                    roots.push(*id);
                }
            });
        }
        let mut calls = FxHashSet::default();
        for id in self.exprs.postorder(&roots) {
            if let Node::Call { site, args, .. } = self.exprs.node(id) {
                calls.insert((site, args));
            }
        }
        self.kept.iter().any(|kept| {
            let is_there = match self.exprs.node(kept.first_result) {
                Node::Call { site, args, .. } => calls.contains(&(site, args)),
                _ => false,
            };
            !is_there && effects(functions, vec![kept.function]).checks
        })
    }

    /// A call as one node for each scalar of its results.
    fn call_node(
        &mut self,
        functions: &Functions,
        id: FunctionId,
        arguments: &[ValueOf<Self>],
    ) -> Outcome<Vec<ValueOf<Self>>> {
        let function = functions.get(id).ok_or("a function is called that does not exist")?;
        if arguments.len() != function.inputs.len() || function.outputs.is_empty() {
            return Err("the call cannot stay a call".into());
        }
        let inner = Expressions {
            exprs: &mut *self.exprs,
            stage: self.stage,
            operations: self.operations,
            conditions: Vec::new(),
            kept: Vec::new(),
        };
        let declared = Executor::over(functions, inner).declared_outputs(function, arguments.to_vec());
        let declared = declared.map_err(|error| error.to_string())?;
        let inputs = arguments.iter().map(Value::shape).collect();
        let outputs = declared.iter().map(Value::shape).collect();
        let mut scalars = Vec::new();
        for argument in arguments {
            let mut flat = Vec::new();
            argument.clone().flatten_into(&mut flat);
            for scalar in &flat {
                scalars.push(self.id(scalar)?);
            }
        }
        let site = self.exprs.site(CallSite { function: id, inputs, outputs });
        let first_result = self.exprs.call(site, &scalars, 0);
        let condition = self.reached();
        self.kept.push(KeptCall { function: id, first_result, condition });
        let mut next = 0;
        declared
            .iter()
            .map(|output| {
                output.try_map(&mut |scalar| {
                    next += 1;
                    let kind = scalar.scalar_kind().unwrap_or(Kind::Real);
                    Ok(Value::Open(self.exprs.call(site, &scalars, next - 1), kind))
                })
            })
            .collect()
    }

    /// Under which condition the statement that is executed is reached.
    fn reached(&mut self) -> Option<ExprId> {
        let exprs = &mut *self.exprs;
        let mut all = None;
        for &(condition, holds) in &self.conditions {
            let condition = if holds { condition } else { exprs.not(condition) };
            all = Some(match all {
                Some(outer) => exprs.and(outer, condition),
                None => condition,
            });
        }
        all
    }

    fn id(&mut self, scalar: &Value<ExprId>) -> Outcome<ExprId> {
        expression(self.exprs, scalar).ok_or_else(|| "a scalar is expected here".into())
    }

    fn made(&mut self, id: ExprId, kind: Kind) -> Outcome<Value<ExprId>> {
        self.operations = self.operations.checked_sub(1).ok_or("the call grows too large")?;
        Ok(scalar(self.exprs, id, kind))
    }
}

impl Domain for Expressions<'_> {
    type Open = ExprId;

    fn arithmetic(&mut self, op: ArithmeticOp, a: &ValueOf<Self>, b: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        let kind = result_kind(op, a, b);
        let (a, b) = (self.id(a)?, self.id(b)?);
        let id = match op {
            ArithmeticOp::Add => self.exprs.add(a, b),
            ArithmeticOp::Sub => self.exprs.sub(a, b),
            ArithmeticOp::Mul => self.exprs.mul(a, b),
            ArithmeticOp::Div => self.exprs.written_div(a, b),
            ArithmeticOp::Pow => self.exprs.pow(a, b),
        };
        self.made(id, kind)
    }

    fn negate(&mut self, a: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        let kind = a.scalar_kind().unwrap_or(Kind::Real);
        let a = self.id(a)?;
        let id = self.exprs.neg(a);
        self.made(id, kind)
    }

    fn not(&mut self, a: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        let a = self.id(a)?;
        let id = self.exprs.not(a);
        self.made(id, Kind::Boolean)
    }

    fn and(&mut self, a: &ValueOf<Self>, b: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        let (a, b) = (self.id(a)?, self.id(b)?);
        let id = self.exprs.and(a, b);
        self.made(id, Kind::Boolean)
    }

    fn or(&mut self, a: &ValueOf<Self>, b: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        let (a, b) = (self.id(a)?, self.id(b)?);
        let id = self.exprs.or(a, b);
        self.made(id, Kind::Boolean)
    }

    fn compare(&mut self, op: CompareOp, a: &ValueOf<Self>, b: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        let is_text = |value: &ValueOf<Self>| value.scalar_kind() == Some(Kind::String);
        if (is_text(a) || is_text(b)) && !matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            return Err("an order of texts".into());
        }
        let (a, b) = (self.id(a)?, self.id(b)?);
        // Functions do not make events.
        let id = self.exprs.compare(op, false, a, b);
        self.made(id, Kind::Boolean)
    }

    fn builtin(&mut self, op: Builtin, arguments: &[ValueOf<Self>]) -> Outcome<ValueOf<Self>> {
        let kind = builtin_kind(op, arguments);
        let ids = arguments.iter().map(|argument| self.id(argument)).collect::<Outcome<Vec<_>>>()?;
        let id = self.exprs.builtin(op, &ids);
        self.made(id, kind)
    }

    fn convert(&mut self, function: ArrayFunction, arguments: &[ValueOf<Self>]) -> Outcome<ValueOf<Self>> {
        match (function, arguments) {
            (ArrayFunction::Integer, [x]) if x.scalar_kind() == Some(Kind::Real) => {
                let x = self.id(x)?;
                // What is rounded already is not rounded again: the outer step would rest on its own edge.
                let id = match self.exprs.node(x) {
                    Node::Builtin(Builtin::Floor | Builtin::Ceil, _) => x,
                    _ => self.exprs.builtin(Builtin::Floor, &[x]),
                };
                self.made(id, Kind::Integer)
            }
            (ArrayFunction::Integer, [x]) if x.scalar_kind() != Some(Kind::Boolean) => {
                let x = self.id(x)?;
                self.made(x, Kind::Integer)
            }
            _ => Err(format!("{function:?} of what is known at run time only")),
        }
    }

    fn begin_branch(&mut self, condition: &ValueOf<Self>) -> Outcome<()> {
        let condition = self.id(condition)?;
        self.conditions.push((condition, true));
        Ok(())
    }

    fn begin_otherwise(&mut self) -> Outcome<()> {
        if let Some((_, holds)) = self.conditions.last_mut() {
            *holds = false;
        }
        Ok(())
    }

    fn join(&mut self, then: &ValueOf<Self>, otherwise: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        if let Value::Unset(kind) = then {
            return Ok(Value::Unset(*kind));
        }
        if let Value::Unset(kind) = otherwise {
            return Ok(Value::Unset(*kind));
        }
        let (condition, _) = *self.conditions.last().ok_or("there is no condition")?;
        let kind = joined_kind(then, otherwise);
        let id = match (then, otherwise) {
            (then, Value::Boolean(false)) => {
                let then = self.id(then)?;
                self.exprs.and(condition, then)
            }
            (Value::Boolean(true), otherwise) => {
                let otherwise = self.id(otherwise)?;
                self.exprs.or(condition, otherwise)
            }
            _ => {
                let (then, otherwise) = (self.id(then)?, self.id(otherwise)?);
                self.exprs.if_(condition, then, otherwise)
            }
        };
        self.made(id, kind)
    }

    fn end_branch(&mut self) -> Outcome<()> {
        self.conditions.pop();
        Ok(())
    }

    fn call(
        &mut self,
        functions: &Functions,
        id: FunctionId,
        arguments: &[ValueOf<Self>],
    ) -> Outcome<Option<Vec<ValueOf<Self>>>> {
        let function = functions.get(id).ok_or("a function is called that does not exist")?;
        match self.stage {
            _ if matches!(&function.body, Body::External(external) if external.language == "builtin") => Ok(None),
            Stage::Sorting if function.pure && function.inline != Inline::Never => Ok(None),
            Stage::Sorting => Err("the function is not written out".into()),
            Stage::Flattening if is_written_out_at_once(function) => Ok(None),
            Stage::Flattening => self.call_node(functions, id, arguments).map(Some),
        }
    }

    fn keep_call(
        &mut self,
        functions: &Functions,
        id: FunctionId,
        arguments: &[ValueOf<Self>],
    ) -> Outcome<Option<Vec<ValueOf<Self>>>> {
        self.call_node(functions, id, arguments).map(Some)
    }

    fn open_branches(&self) -> usize {
        self.conditions.len()
    }

    fn forget_branches(&mut self, beyond: usize) {
        self.conditions.truncate(beyond);
    }

    fn keeps_calls(&self) -> bool {
        self.stage == Stage::Flattening
    }
}

/// The kind of the result of an operator on numbers.
pub fn result_kind<U: Clone>(op: ArithmeticOp, a: &Value<U>, b: &Value<U>) -> Kind {
    let integers = [a, b].iter().all(|value| value.scalar_kind() == Some(Kind::Integer));
    match op {
        ArithmeticOp::Add | ArithmeticOp::Sub | ArithmeticOp::Mul if integers => Kind::Integer,
        ArithmeticOp::Add if a.scalar_kind() == Some(Kind::String) => Kind::String,
        _ => Kind::Real,
    }
}

/// The kind of the result of a mathematical function.
pub fn builtin_kind<U: Clone>(op: Builtin, arguments: &[Value<U>]) -> Kind {
    let integers = arguments.iter().all(|value| value.scalar_kind() == Some(Kind::Integer));
    match op {
        Builtin::Sign => Kind::Integer,
        Builtin::Abs | Builtin::Min | Builtin::Max if integers => Kind::Integer,
        _ if integers && crate::scalar::is_quotient(op) => Kind::Integer,
        Builtin::Min | Builtin::Max if arguments.iter().all(|value| value.scalar_kind() == Some(Kind::Boolean)) => {
            Kind::Boolean
        }
        Builtin::Min | Builtin::Max if arguments.iter().all(|v| v.scalar_kind() == Some(Kind::Enumeration)) => {
            Kind::Enumeration
        }
        _ => Kind::Real,
    }
}

/// The kind of what is one of two scalars.
pub fn joined_kind<U: Clone>(a: &Value<U>, b: &Value<U>) -> Kind {
    match (a.scalar_kind(), b.scalar_kind()) {
        (Some(Kind::Integer), Some(Kind::Real)) => Kind::Real,
        (Some(kind), _) => kind,
        (None, other) => other.unwrap_or(Kind::Real),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::{FileId, Id, IdVec, Name, Span};

    use super::*;
    use crate::expr::Shape;
    use crate::function::{Local, LocalId, Target, Type};
    use crate::model::VarId;

    fn span() -> Span {
        Span::new(FileId::from_index(0), 0, 0)
    }

    /// `output v1[2] := transpose(T)*v2` of a 2×2 matrix and a vector, the loop written with `if` on an element.
    fn rotation() -> Function {
        let local = |name: &str, sizes: &[i64]| Local {
            name: Name::new(name),
            ty: Type::Real,
            sizes: sizes.iter().map(|&size| Some(Expr::Integer(size))).collect(),
            default: None,
            span: span(),
        };
        let locals: IdVec<LocalId, Local> =
            [local("T", &[2, 2]), local("v2", &[2]), local("v1", &[2])].into_iter().collect();
        let id = LocalId::from_index;
        let transposed = Expr::Whole(ArrayFunction::Transpose, vec![Expr::Local(id(0))]);
        let product = Expr::Arithmetic(ArithmeticOp::Mul, Box::new(transposed), Box::new(Expr::Local(id(1))));
        let statement = StatementKind::Assign(Target { local: id(2), steps: Vec::new() }, product);
        Function {
            name: Name::new("resolve1"),
            inputs: vec![id(0), id(1)],
            outputs: vec![id(2)],
            locals,
            body: Body::Algorithm(vec![Statement { kind: statement, span: span() }]),
            pure: true,
            inline: Inline::Late,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            span: span(),
        }
    }

    #[test]
    fn calls_become_scalars() {
        let mut exprs = Exprs::new();
        let mut functions = Functions::default();
        let function = functions.push(Arc::new(rotation()));
        let inputs =
            vec![Shape::Array(vec![2, 2], Box::new(Shape::Scalar)), Shape::Array(vec![2], Box::new(Shape::Scalar))];
        let outputs = vec![Shape::Array(vec![2], Box::new(Shape::Scalar))];
        let site = exprs.site(CallSite { function, inputs, outputs });
        let args: Vec<ExprId> = (0..6).map(|index| exprs.var(VarId::from_index(index))).collect();
        let call = exprs.call(site, &args, 1);
        let written = Inliner::new().expand(&mut exprs, &functions, call);
        let (first, second) = (exprs.mul(args[1], args[4]), exprs.mul(args[3], args[5]));
        assert_eq!(written, exprs.add(first, second));
    }
}
