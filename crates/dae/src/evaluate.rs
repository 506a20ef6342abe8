//! The interpreter of functions (specification chapter 12): runs the form of `function.rs` on values.
//!
//! It is the reference for compiled functions and evaluates constants at translation time. Errors of the model (failed
//! assertions, indices outside of arrays, division by zero) come back with the place and the chain of calls. Nested calls
//! are limited and the stack grows on the heap, so no model can overflow it.

use std::borrow::Cow;
use std::fmt;

use base::{Id, IdVec, Name, Span};
use smallvec::SmallVec;

use crate::arrays::{self, Selection, kind};
use crate::expr::Builtin;
use crate::function::{
    ArrayFunction, Body, Expr, External, Function, FunctionId, Functions, Local, LocalId, Statement, StatementKind,
    Step, Subscript, Target, Type,
};
use crate::value::Value;

/// Where functions in other languages are called.
pub trait Externals {
    /// Calls `external.symbol`. Arguments that are outputs of the Modelica function hold a value of the right sizes on
    /// entry and are changed in place. The result is what the outside function returns, if it returns anything.
    fn call(&mut self, external: &External, arguments: &mut [Value]) -> Result<Option<Value>, String>;
}

/// Functions of shared libraries that the user allowed to be called.
pub trait OutsideFunctions: Send + Sync {
    fn has(&self, symbol: &str) -> bool;

    /// As `Externals::call`.
    fn call(&self, external: &External, arguments: &mut [Value]) -> Result<Option<Value>, String>;
}

/// No outside functions at all.
pub struct NoExternals;

impl Externals for NoExternals {
    fn call(&mut self, external: &External, _: &mut [Value]) -> Result<Option<Value>, String> {
        Err(format!("the external function `{}` cannot be called here", external.symbol))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// The model is wrong, or its numbers are.
    Failure,
    /// An `assert` of the model.
    Assertion,
    /// Too many steps or nested calls.
    Limit,
}

/// Why a function has no value.
#[derive(Clone, PartialEq, Debug)]
pub struct EvalError {
    pub kind: FailureKind,
    pub message: String,
    /// The statement.
    pub span: Option<Span>,
    /// The functions that were being evaluated, the innermost first; long chains are cut.
    pub calls: Vec<Name>,
}

impl EvalError {
    fn new(kind: FailureKind, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind, message: message.into(), span: None, calls: Vec::new() })
    }

    pub fn diagnostic(&self) -> base::Diagnostic {
        let code = match self.kind {
            FailureKind::Failure => "evaluation",
            FailureKind::Assertion => "assertion",
            FailureKind::Limit => "evaluation-limit",
        };
        let mut diagnostic = base::Diagnostic::error(code, self.message.clone());
        if let Some(span) = self.span {
            diagnostic = diagnostic.at(span, "");
        }
        for name in &self.calls {
            diagnostic = diagnostic.note(format!("in function `{name}`"));
        }
        diagnostic
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for (k, name) in self.calls.iter().enumerate() {
            write!(f, "{} {name}", if k == 0 { " (in" } else { " <-" })?;
        }
        if self.calls.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

impl std::error::Error for EvalError {}

impl From<String> for Box<EvalError> {
    fn from(message: String) -> Self {
        EvalError::new(FailureKind::Failure, message)
    }
}

impl From<&str> for Box<EvalError> {
    fn from(message: &str) -> Self {
        EvalError::new(FailureKind::Failure, message)
    }
}

pub type Result<T = Value, E = Box<EvalError>> = std::result::Result<T, E>;

/// Runs functions. Cheap to make.
pub struct Evaluator<'a> {
    functions: &'a Functions,
    externals: &'a mut dyn Externals,
    /// Statements and calls that may still be executed; set it to bound the work.
    pub steps_left: u64,
    /// How deeply calls may nest.
    pub max_depth: usize,
    depth: usize,
    /// Assertions at level warning that failed.
    pub warnings: Vec<(String, Option<Span>)>,
}

struct Frame {
    locals: IdVec<LocalId, Value>,
}

enum Flow {
    Next,
    Break,
    Return,
}

/// A step into a value, subscripts evaluated.
enum Resolved {
    Field(u32),
    Index(SmallVec<[Selection; 2]>),
}

const CALLS_SHOWN: usize = 10;
/// When this much stack is left, more is allocated.
const RED_ZONE: usize = 128 * 1024;
const STACK_CHUNK: usize = 2 * 1024 * 1024;

impl<'a> Evaluator<'a> {
    pub fn new(functions: &'a Functions, externals: &'a mut dyn Externals) -> Self {
        Self { functions, externals, steps_left: u64::MAX, max_depth: 2_000, depth: 0, warnings: Vec::new() }
    }

    pub fn functions(&self) -> &'a Functions {
        self.functions
    }

    /// Calls a function with its inputs in order (missing ones by their defaults) and gives all its outputs.
    pub fn call(&mut self, function: FunctionId, arguments: Vec<Value>) -> Result<Vec<Value>> {
        let function = self.functions.get(function).ok_or("a function is called that does not exist")?;
        self.step()?;
        if self.depth >= self.max_depth {
            return Err(EvalError::new(
                FailureKind::Limit,
                format!("function calls nest more than {} deep in `{}`", self.max_depth, function.name),
            ));
        }
        self.depth += 1;
        let result = stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || self.run(function, arguments));
        self.depth -= 1;
        result.map_err(|mut error| {
            if error.calls.len() < CALLS_SHOWN {
                error.calls.push(function.name);
            }
            error
        })
    }

    /// The value of an expression without any local.
    pub fn constant(&mut self, expr: &Expr) -> Result {
        self.eval(&mut Frame { locals: IdVec::new() }, expr)
    }

    /// Calls a function that is a value itself, such as an argument that is a function.
    pub fn call_value(&mut self, function: &Value, arguments: Vec<Value>) -> Result<Vec<Value>> {
        let Value::Function { function, given } = function else {
            return Err(format!("{} is called, but is no function", kind(function)).into());
        };
        let mut all = Vec::with_capacity(arguments.len() + given.len());
        let mut free = arguments.into_iter();
        let inputs = self.functions.get(*function).map_or(0, |function| function.inputs.len());
        for position in 0..inputs {
            match given.iter().find(|(k, _)| *k as usize == position) {
                Some((_, value)) => all.push(value.clone()),
                None => all.extend(free.next()),
            }
        }
        self.call(*function, all)
    }

    fn step(&mut self) -> Result<()> {
        match self.steps_left.checked_sub(1) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => Err(EvalError::new(FailureKind::Limit, "the evaluation takes too many steps")),
        }
    }

    fn run(&mut self, function: &Function, arguments: Vec<Value>) -> Result<Vec<Value>> {
        if arguments.len() > function.inputs.len() {
            return Err(format!("{} arguments for {} inputs", arguments.len(), function.inputs.len()).into());
        }
        if let Body::RecordConstructor = function.body {
            let locals = function.inputs.iter().filter_map(|&input| function.locals.get(input));
            if arguments.len() == function.inputs.len() {
                return Ok(vec![Value::Record(locals.zip(arguments).map(|(l, v)| v.coerce(&l.ty)).collect())]);
            }
        }
        let mut frame = self.enter(function, arguments)?;
        match &function.body {
            Body::Algorithm(statements) => {
                self.execute(function, &mut frame, statements)?;
            }
            Body::External(external) => self.external(function, &mut frame, external)?,
            Body::RecordConstructor => {
                let fields = function.inputs.iter().map(|&input| std::mem::replace(&mut frame.locals[input], unset()));
                return Ok(vec![Value::Record(fields.collect())]);
            }
        }
        Ok(function.outputs.iter().map(|&output| std::mem::replace(&mut frame.locals[output], unset())).collect())
    }

    /// Gives the inputs their arguments and every other local its first value.
    fn enter(&mut self, function: &Function, arguments: Vec<Value>) -> Result<Frame> {
        let mut frame = Frame { locals: IdVec::filled(unset(), function.locals.len()) };
        let mut given = IdVec::<LocalId, bool>::filled(false, function.locals.len());
        for (&input, argument) in function.inputs.iter().zip(arguments) {
            let local = function.locals.get(input).ok_or("an input is no local of its function")?;
            frame.locals[input] = argument.coerce(&local.ty);
            given[input] = true;
        }
        for (id, local) in function.locals.iter() {
            if given[id] {
                self.check_sizes(&mut frame, id, local)?;
                continue;
            }
            frame.locals[id] = match &local.default {
                Some(default) => {
                    let value = self.eval(&mut frame, default).map_err(|error| placed(error, local.span))?;
                    value.coerce(&local.ty)
                }
                None if matches!(local.ty, Type::Function(_)) => continue,
                None => {
                    let mut sizes = Vec::with_capacity(local.sizes.len());
                    for size in &local.sizes {
                        sizes.push(match size {
                            Some(size) => self.size(&mut frame, size).map_err(|error| placed(error, local.span))?,
                            None => 0,
                        });
                    }
                    first_value(&local.ty, sizes).map_err(|message| placed(message.into(), local.span))?
                }
            };
        }
        Ok(frame)
    }

    fn size(&mut self, frame: &mut Frame, expr: &Expr) -> Result<usize> {
        let size = arrays::integer_of(&self.eval(frame, expr)?)?;
        // A negative size is an empty array (10.1).
        Ok(usize::try_from(size).unwrap_or(0))
    }

    fn check_sizes(&mut self, frame: &mut Frame, id: LocalId, local: &Local) -> Result<()> {
        let actual: SmallVec<[usize; 4]> = frame.locals[id].sizes().into();
        if actual.len() < local.sizes.len() {
            return Err(format!(
                "`{}` has {} dimensions, but its argument has {}",
                local.name,
                local.sizes.len(),
                actual.len()
            )
            .into());
        }
        for (k, size) in local.sizes.iter().enumerate() {
            let Some(size) = size else { continue };
            let expected = self.size(frame, size)?;
            if expected != actual[k] {
                return Err(format!(
                    "`{}` has size {expected} in dimension {}, but its argument has {}",
                    local.name,
                    k + 1,
                    actual[k]
                )
                .into());
            }
        }
        Ok(())
    }

    fn execute(&mut self, function: &Function, frame: &mut Frame, statements: &[Statement]) -> Result<Flow> {
        for statement in statements {
            self.step()?;
            match self.statement(function, frame, statement).map_err(|error| placed(error, statement.span))? {
                Flow::Next => {}
                stop => return Ok(stop),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, function: &Function, frame: &mut Frame, statement: &Statement) -> Result<Flow> {
        match &statement.kind {
            StatementKind::Assign(target, value) => {
                let value = self.eval(frame, value)?;
                self.assign(function, frame, target, value)?;
            }
            StatementKind::AssignSeveral(targets, call) => {
                let values = self.eval_several(frame, call)?;
                for (target, value) in targets.iter().zip(values) {
                    if let Some(target) = target {
                        self.assign(function, frame, target, value)?;
                    }
                }
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    if self.condition(frame, condition)? {
                        return self.nested(function, frame, body);
                    }
                }
                return self.nested(function, frame, otherwise);
            }
            StatementKind::For { iterator, range, body } => {
                return self.for_loop(function, frame, *iterator, range, body);
            }
            StatementKind::While { condition, body } => {
                while self.condition(frame, condition)? {
                    self.step()?;
                    match self.nested(function, frame, body)? {
                        Flow::Next => {}
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                    }
                }
            }
            StatementKind::Break => return Ok(Flow::Break),
            StatementKind::Return => return Ok(Flow::Return),
            StatementKind::Assert { condition, message, warning } => {
                if !self.condition(frame, condition)? {
                    let message = self.eval(frame, message)?;
                    let message = message.as_str().unwrap_or("assertion failed").to_owned();
                    if !warning {
                        return Err(EvalError::new(FailureKind::Assertion, message));
                    }
                    self.warnings.push((message, Some(statement.span)));
                }
            }
            StatementKind::Call(call) => {
                self.eval_several(frame, call)?;
            }
        }
        Ok(Flow::Next)
    }

    fn nested(&mut self, function: &Function, frame: &mut Frame, body: &[Statement]) -> Result<Flow> {
        stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || self.execute(function, frame, body))
    }

    fn for_loop(
        &mut self,
        function: &Function,
        frame: &mut Frame,
        iterator: LocalId,
        range: &Expr,
        body: &[Statement],
    ) -> Result<Flow> {
        let values = self.eval(frame, range)?;
        for value in parts(values) {
            self.step()?;
            *local_mut(frame, iterator)? = value;
            match self.nested(function, frame, body)? {
                Flow::Next => {}
                Flow::Break => break,
                Flow::Return => return Ok(Flow::Return),
            }
        }
        Ok(Flow::Next)
    }

    fn condition(&mut self, frame: &mut Frame, expr: &Expr) -> Result<bool> {
        Ok(arrays::boolean_of(&self.eval(frame, expr)?)?)
    }

    fn assign(&mut self, function: &Function, frame: &mut Frame, target: &Target, value: Value) -> Result<()> {
        let local = function.locals.get(target.local).ok_or("an assignment to a variable that does not exist")?;
        if target.steps.is_empty() {
            let value = value.coerce(&local.ty);
            let place = local_mut(frame, target.local)?;
            let fixed = local.sizes.iter().all(Option::is_some);
            if fixed && !matches!(local.ty, Type::Record(_)) && place.sizes() != value.sizes() {
                return Err(format!(
                    "`{}` has size {:?}, but what is assigned has {:?}",
                    local.name,
                    place.sizes(),
                    value.sizes()
                )
                .into());
            }
            *place = value;
            return Ok(());
        }
        let steps = self.resolve_steps(frame, &target.steps)?;
        Ok(store(local_mut(frame, target.local)?, &steps, value)?)
    }

    fn resolve_steps(&mut self, frame: &mut Frame, steps: &[Step]) -> Result<SmallVec<[Resolved; 2]>> {
        let mut resolved = SmallVec::new();
        for step in steps {
            resolved.push(match step {
                Step::Field(index) => Resolved::Field(*index),
                Step::Index(subscripts) => Resolved::Index(self.selections(frame, subscripts)?),
            });
        }
        Ok(resolved)
    }

    fn selections(&mut self, frame: &mut Frame, subscripts: &[Subscript]) -> Result<SmallVec<[Selection; 2]>> {
        let mut selections = SmallVec::new();
        for subscript in subscripts {
            selections.push(match subscript {
                Subscript::All => Selection::All,
                Subscript::Expr(expr) => match self.eval(frame, expr)? {
                    Value::Array(array) => {
                        Selection::Many(array.elements.iter().map(position).collect::<Result<_, _>>()?)
                    }
                    scalar => Selection::One(position(&scalar)?),
                },
            });
        }
        Ok(selections)
    }

    /// All outputs of a call; one value of another expression.
    fn eval_several(&mut self, frame: &mut Frame, expr: &Expr) -> Result<Vec<Value>> {
        match expr {
            Expr::Call(function, arguments) => {
                let arguments = self.eval_all(frame, arguments)?;
                self.call(*function, arguments)
            }
            Expr::CallLocal(local, arguments) => {
                let arguments = self.eval_all(frame, arguments)?;
                let function = local_ref(frame, *local)?.clone();
                self.call_value(&function, arguments)
            }
            other => Ok(vec![self.eval(frame, other)?]),
        }
    }

    fn eval_all(&mut self, frame: &mut Frame, exprs: &[Expr]) -> Result<Vec<Value>> {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            values.push(self.eval(frame, expr)?);
        }
        Ok(values)
    }

    fn eval(&mut self, frame: &mut Frame, expr: &Expr) -> Result {
        match expr {
            Expr::Real(value) => Ok(Value::Real(*value)),
            Expr::Integer(value) => Ok(Value::Integer(*value)),
            Expr::Boolean(value) => Ok(Value::Boolean(*value)),
            Expr::String(text) => Ok(Value::String(text.clone())),
            Expr::Enumeration(_, ordinal) => Ok(Value::Enumeration(*ordinal)),
            Expr::Local(local) => Ok(local_ref(frame, *local)?.clone()),
            _ => stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || self.eval_operation(frame, expr)),
        }
    }

    fn eval_operation(&mut self, frame: &mut Frame, expr: &Expr) -> Result {
        match expr {
            Expr::Index(..) | Expr::Field(..) => self.access(frame, expr),
            Expr::Neg(a) => Ok(arrays::negate(self.eval(frame, a)?)?),
            Expr::Not(a) => Ok(arrays::not(self.eval(frame, a)?)?),
            Expr::Arithmetic(op, a, b) => {
                let (a, b) = (self.eval(frame, a)?, self.eval(frame, b)?);
                match (&a, &b) {
                    (Value::Array(_), _) | (_, Value::Array(_)) => Ok(arrays::arithmetic(*op, a, b)?),
                    _ => Ok(arrays::scalar_arithmetic(*op, &a, &b)?),
                }
            }
            Expr::Elementwise(op, a, b) => {
                let (a, b) = (self.eval(frame, a)?, self.eval(frame, b)?);
                Ok(arrays::elementwise(a, b, &mut |x, y| arrays::scalar_arithmetic(*op, x, y))?)
            }
            Expr::And(a, b) => self.logic(frame, a, b, false),
            Expr::Or(a, b) => self.logic(frame, a, b, true),
            Expr::Compare(op, a, b) => {
                let (a, b) = (self.eval(frame, a)?, self.eval(frame, b)?);
                Ok(arrays::compare(*op, &a, &b)?)
            }
            Expr::If(condition, then, otherwise) => {
                let chosen = if self.condition(frame, condition)? { then } else { otherwise };
                self.eval(frame, chosen)
            }
            Expr::Array(items) => {
                let items = self.eval_all(frame, items)?;
                Value::from_parts(items).ok_or_else(|| "the elements of an array have different sizes".into())
            }
            Expr::Range(start, step, stop) => {
                let start = self.eval(frame, start)?;
                let step = step.as_ref().map(|step| self.eval(frame, step)).transpose()?;
                let stop = self.eval(frame, stop)?;
                Ok(arrays::range(&start, step.as_ref(), &stop)?)
            }
            Expr::ArrayFor { element, iterators } => self.array_for(frame, element, iterators),
            Expr::Reduction { op, element, iterators } => {
                let mut values = Vec::new();
                // The last iterator is the slowest, as in an array constructor.
                self.iterate(frame, element, iterators, &mut values)?;
                Ok(arrays::reduce(*op, values.into_iter())?)
            }
            Expr::Record(record, fields) => {
                let fields = self.eval_all(frame, fields)?;
                Ok(Value::Record(fields).coerce(&Type::Record(record.clone())))
            }
            Expr::Builtin(op, arguments) => {
                let arguments = self.eval_all(frame, arguments)?;
                Ok(arrays::builtin(*op, arguments)?)
            }
            Expr::Whole(function, arguments) => self.whole(frame, *function, arguments),
            Expr::Call(..) | Expr::CallLocal(..) => {
                let outputs = self.eval_several(frame, expr)?;
                outputs.into_iter().next().ok_or_else(|| "a function without output is used as a value".into())
            }
            Expr::FunctionValue(function, given) => {
                let mut values = Vec::with_capacity(given.len());
                for (position, expr) in given {
                    values.push((*position, self.eval(frame, expr)?));
                }
                Ok(Value::Function { function: *function, given: values })
            }
            Expr::LocalValue(local, given) => {
                let mut more = Vec::with_capacity(given.len());
                for (position, expr) in given {
                    more.push((*position, self.eval(frame, expr)?));
                }
                let Value::Function { function, given } = local_ref(frame, *local)?.clone() else {
                    return Err("inputs are given to what is no function".into());
                };
                let inputs = self.functions.get(function).map_or(0, |function| function.inputs.len());
                Ok(Value::Function { function, given: crate::function::give(inputs, given, more) })
            }
            Expr::Vectorized { function, arguments, over } => {
                let arguments = self.eval_all(frame, arguments)?;
                self.vectorized(*function, arguments, over)
            }
            Expr::Real(_)
            | Expr::Integer(_)
            | Expr::Boolean(_)
            | Expr::String(_)
            | Expr::Enumeration(..)
            | Expr::Local(_) => self.eval(frame, expr),
        }
    }

    /// `size(x, k)` and the like look at a local without copying it.
    fn whole(&mut self, frame: &mut Frame, function: ArrayFunction, arguments: &[Expr]) -> Result {
        if let (ArrayFunction::Size, [Expr::Local(local), dimension]) = (function, arguments) {
            let dimension = arrays::integer_of(&self.eval(frame, dimension)?)?;
            let sizes = local_ref(frame, *local)?.sizes();
            let size = usize::try_from(dimension - 1).ok().and_then(|k| sizes.get(k));
            return size
                .map(|&size| Value::Integer(size as i64))
                .ok_or_else(|| format!("an array of {} dimensions has no dimension {dimension}", sizes.len()).into());
        }
        let arguments = self.eval_all(frame, arguments)?;
        Ok(arrays::whole(function, arguments)?)
    }

    fn logic(&mut self, frame: &mut Frame, a: &Expr, b: &Expr, decides: bool) -> Result {
        let a = self.eval(frame, a)?;
        if let Value::Array(_) = a {
            let b = self.eval(frame, b)?;
            return Ok(arrays::elementwise(a, b, &mut |x, y| {
                let (x, y) = (arrays::boolean_of(x)?, arrays::boolean_of(y)?);
                Ok(Value::Boolean(if decides { x || y } else { x && y }))
            })?);
        }
        if arrays::boolean_of(&a)? == decides { Ok(Value::Boolean(decides)) } else { self.eval(frame, b) }
    }

    /// `a[…]` and `r.f` from a local by reference, so that one element of a large array costs nothing.
    fn access(&mut self, frame: &mut Frame, expr: &Expr) -> Result {
        let mut steps: SmallVec<[Resolved; 4]> = SmallVec::new();
        let mut base = expr;
        loop {
            match base {
                Expr::Index(inner, subscripts) => {
                    steps.push(Resolved::Index(self.selections(frame, subscripts)?));
                    base = inner;
                }
                Expr::Field(inner, index) => {
                    steps.push(Resolved::Field(*index));
                    base = inner;
                }
                _ => break,
            }
        }
        let mut value = match base {
            Expr::Local(local) => Cow::Borrowed(local_ref(frame, *local)?),
            other => Cow::Owned(self.eval(frame, other)?),
        };
        for step in steps.iter().rev() {
            value = match value {
                Cow::Borrowed(value) => walk(value, step)?,
                Cow::Owned(value) => Cow::Owned(walk(&value, step)?.into_owned()),
            };
        }
        Ok(value.into_owned())
    }

    fn array_for(&mut self, frame: &mut Frame, element: &Expr, iterators: &[(LocalId, Expr)]) -> Result {
        let mut values = Vec::new();
        let counts = self.iterate(frame, element, iterators, &mut values)?;
        Value::from_rounds(values, counts).ok_or_else(|| "the elements of an array have different sizes".into())
    }

    /// Evaluates `element` for all combinations of the iterators, the first one the fastest; gives their counts.
    fn iterate(
        &mut self,
        frame: &mut Frame,
        element: &Expr,
        iterators: &[(LocalId, Expr)],
        values: &mut Vec<Value>,
    ) -> Result<Vec<usize>> {
        let Some(((iterator, range), faster)) = iterators.split_last() else {
            self.step()?;
            values.push(self.eval(frame, element)?);
            return Ok(Vec::new());
        };
        let items = parts(self.eval(frame, range)?);
        let count = items.len();
        let mut inner = vec![0; faster.len()];
        for item in items {
            *local_mut(frame, *iterator)? = item;
            inner = self.iterate(frame, element, faster, values)?;
        }
        inner.push(count);
        Ok(inner)
    }

    fn vectorized(&mut self, id: FunctionId, arguments: Vec<Value>, over: &[bool]) -> Result {
        let function = self.functions.get(id).ok_or("a function is called that does not exist")?;
        let mut loops: Option<Vec<usize>> = None;
        for (k, argument) in arguments.iter().enumerate().filter(|(k, _)| over.get(*k) == Some(&true)) {
            let own = function.inputs.get(k).and_then(|&input| function.locals.get(input)).map_or(0, |l| l.sizes.len());
            let sizes = argument.sizes();
            let outer = &sizes[..sizes.len().saturating_sub(own)];
            match &loops {
                Some(known) if known != outer => {
                    return Err(
                        format!("`{}` is applied to arrays of sizes {known:?} and {outer:?}", function.name).into()
                    );
                }
                _ => loops = Some(outer.to_vec()),
            }
        }
        let loops = loops.ok_or("a call is marked as vectorized, but no argument is")?;
        let count = arrays::element_count(&loops)?;
        let mut results = Vec::with_capacity(count);
        for k in 0..count {
            let mut scalars = Vec::with_capacity(arguments.len());
            for (position, argument) in arguments.iter().enumerate() {
                scalars.push(match argument {
                    Value::Array(array) if over.get(position) == Some(&true) => chunk(array, loops.len(), k)?,
                    other => other.clone(),
                });
            }
            let outputs = self.call(id, scalars)?;
            results.push(outputs.into_iter().next().ok_or("a function without output is used as a value")?);
        }
        match Value::from_parts(results) {
            Some(Value::Array(array)) => {
                let inner = array.sizes.get(1..).unwrap_or(&[]);
                Ok(Value::array([&loops[..], inner].concat(), array.elements))
            }
            _ => Err("the elements of an array have different sizes".into()),
        }
    }

    fn external(&mut self, function: &Function, frame: &mut Frame, external: &External) -> Result<()> {
        let mut arguments = self.eval_all(frame, &external.arguments)?;
        let result = if external.language == "builtin" {
            let op = builtin_of(external.symbol.as_str())
                .ok_or_else(|| format!("there is no built-in function `{}`", external.symbol))?;
            Some(arrays::builtin(op, arguments.clone())?)
        } else {
            self.externals.call(external, &mut arguments)?
        };
        for (argument, value) in external.arguments.iter().zip(arguments) {
            if let Expr::Local(local) = argument
                && !function.inputs.contains(local)
            {
                let ty = &function.locals.get(*local).ok_or("an argument is no local of its function")?.ty;
                *local_mut(frame, *local)? = value.coerce(ty);
            }
        }
        match (&external.result, result) {
            (Some(target), Some(value)) => self.assign(function, frame, target, value),
            (Some(_), None) => Err(format!("the external function `{}` gave no result", external.symbol).into()),
            _ => Ok(()),
        }
    }
}

/// The names of `external "builtin"` functions.
pub fn builtin_of(symbol: &str) -> Option<Builtin> {
    Some(match symbol {
        "sin" => Builtin::Sin,
        "cos" => Builtin::Cos,
        "tan" => Builtin::Tan,
        "asin" => Builtin::Asin,
        "acos" => Builtin::Acos,
        "atan" => Builtin::Atan,
        "atan2" => Builtin::Atan2,
        "sinh" => Builtin::Sinh,
        "cosh" => Builtin::Cosh,
        "tanh" => Builtin::Tanh,
        "exp" => Builtin::Exp,
        "log" => Builtin::Log,
        "log10" => Builtin::Log10,
        "sqrt" => Builtin::Sqrt,
        "abs" => Builtin::Abs,
        "sign" => Builtin::Sign,
        "floor" => Builtin::Floor,
        "ceil" => Builtin::Ceil,
        "div" => Builtin::Div,
        "mod" => Builtin::Mod,
        "rem" => Builtin::Rem,
        "min" => Builtin::Min,
        "max" => Builtin::Max,
        _ => return None,
    })
}

/// What a local holds before it is assigned.
fn unset() -> Value {
    Value::Integer(0)
}

fn placed(mut error: Box<EvalError>, span: Span) -> Box<EvalError> {
    // An error from a called function keeps the innermost place.
    error.span.get_or_insert(span);
    error
}

fn local_ref(frame: &Frame, id: LocalId) -> Result<&Value, String> {
    frame.locals.get(id).ok_or_else(|| format!("variable {} does not exist", id.index()))
}

fn local_mut(frame: &mut Frame, id: LocalId) -> Result<&mut Value, String> {
    if id.index() < frame.locals.len() {
        Ok(&mut frame.locals[id])
    } else {
        Err(format!("variable {} does not exist", id.index()))
    }
}

fn position(index: &Value) -> Result<usize, String> {
    let index = match index {
        Value::Boolean(value) => i64::from(*value) + 1,
        other => arrays::integer_of(other)?,
    };
    usize::try_from(index - 1).map_err(|_| format!("index {index} is below 1"))
}

/// The parts along the first dimension; a scalar is the only part of itself.
fn parts(value: Value) -> Vec<Value> {
    match value {
        Value::Array(array) if array.sizes.len() <= 1 => array.elements,
        Value::Array(array) => {
            let count = array.sizes[0];
            (0..count).filter_map(|k| chunk(&array, 1, k).ok()).collect()
        }
        scalar => vec![scalar],
    }
}

/// The k-th part of an array when its first `dimensions` are counted through.
fn chunk(array: &crate::value::Array, dimensions: usize, k: usize) -> Result<Value, String> {
    let inner = array.sizes.get(dimensions..).unwrap_or(&[]);
    let length: usize = inner.iter().product();
    let elements = array.elements.get(k * length..(k + 1) * length).ok_or("an array is smaller than its sizes say")?;
    match (inner.is_empty(), elements) {
        (true, [element]) => Ok(element.clone()),
        _ => Ok(Value::array(inner.to_vec(), elements.to_vec())),
    }
}

fn walk<'v>(value: &'v Value, step: &Resolved) -> Result<Cow<'v, Value>, String> {
    match step {
        Resolved::Field(index) => arrays::field(value, *index),
        Resolved::Index(selections) => arrays::select(value, selections),
    }
}

/// Stores into a part of a value.
fn store(place: &mut Value, steps: &[Resolved], new: Value) -> Result<(), String> {
    let Some((step, rest)) = steps.split_first() else {
        *place = match (&*place, new) {
            (Value::Real(_), Value::Integer(value)) => Value::Real(value as f64),
            (Value::Array(old), Value::Array(mut new)) => {
                if let Some(Value::Real(_)) = old.elements.first() {
                    new = match Value::Array(new).coerce(&Type::Real) {
                        Value::Array(array) => array,
                        _ => return Err("an array is expected here".into()),
                    };
                }
                Value::Array(new)
            }
            (_, new) => new,
        };
        return Ok(());
    };
    match (step, place) {
        (Resolved::Field(index), Value::Record(fields)) => {
            let field = fields.get_mut(*index as usize).ok_or("there is no such field in the record")?;
            store(field, rest, new)
        }
        (Resolved::Field(_), Value::Array(array)) => {
            let count = array.elements.len();
            let places: Vec<usize> = (0..count).collect();
            let sizes = array.sizes.clone();
            distribute(&mut array.elements, &places, &sizes, steps, new)
        }
        (Resolved::Index(selections), Value::Array(array)) => {
            let (places, sizes) = arrays::positions(&array.sizes, selections)?;
            distribute(&mut array.elements, &places, &sizes, rest, new)
        }
        (Resolved::Field(_), other) => Err(format!("{} has no fields", kind(other))),
        (Resolved::Index(_), other) => Err(format!("{} has no elements", kind(other))),
    }
}

/// Stores the parts of `new` in the elements at `places`, which together have `sizes`.
fn distribute(
    elements: &mut [Value],
    places: &[usize],
    sizes: &[usize],
    rest: &[Resolved],
    new: Value,
) -> Result<(), String> {
    let outside = || "an array is smaller than its sizes say".to_owned();
    if sizes.is_empty() {
        let &[place] = places else { return Err(outside()) };
        return store(elements.get_mut(place).ok_or_else(outside)?, rest, new);
    }
    let Value::Array(array) = new else {
        return Err(format!("{} is assigned to an array of size {sizes:?}", kind(&new)));
    };
    if array.sizes.get(..sizes.len()) != Some(sizes) {
        return Err(format!("an array of size {:?} is assigned to one of size {sizes:?}", array.sizes));
    }
    for (k, &place) in places.iter().enumerate() {
        let part = chunk(&array, sizes.len(), k)?;
        store(elements.get_mut(place).ok_or_else(outside)?, rest, part)?;
    }
    Ok(())
}

/// The value of a variable that is not assigned yet.
fn first_value(ty: &Type, sizes: Vec<usize>) -> Result<Value, String> {
    let scalar = match ty {
        Type::Real => Value::Real(0.0),
        Type::Integer => Value::Integer(0),
        Type::Boolean => Value::Boolean(false),
        Type::String => Value::string(""),
        Type::Enumeration(_) => Value::Enumeration(1),
        Type::Object(_) => Value::Object(0),
        Type::Function(_) => return Err("a function has no value of its own".into()),
        Type::Record(record) => {
            let mut fields = Vec::with_capacity(record.fields.len());
            for field in &record.fields {
                let sizes = field.sizes.iter().map(|size| size.unwrap_or(0)).collect();
                fields.push(stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || first_value(&field.ty, sizes))?);
            }
            Value::Record(fields)
        }
    };
    if sizes.is_empty() {
        return Ok(scalar);
    }
    let count = arrays::element_count(&sizes)?;
    Ok(Value::array(sizes, vec![scalar; count]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::FileId;

    use super::*;
    use crate::expr::CompareOp;
    use crate::function::{ArithmeticOp, Field, Inline, RecordType};

    fn span() -> Span {
        Span::new(FileId::from_index(0), 0, 1)
    }

    fn local(name: &str, ty: Type) -> Local {
        Local { name: Name::new(name), ty, sizes: Vec::new(), default: None, span: span() }
    }

    fn id(index: usize) -> LocalId {
        LocalId::from_index(index)
    }

    fn get(index: usize) -> Expr {
        Expr::Local(id(index))
    }

    fn arithmetic(op: ArithmeticOp, a: Expr, b: Expr) -> Expr {
        Expr::Arithmetic(op, Box::new(a), Box::new(b))
    }

    fn assign(index: usize, value: Expr) -> Statement {
        statement(StatementKind::Assign(Target { local: id(index), steps: Vec::new() }, value))
    }

    fn statement(kind: StatementKind) -> Statement {
        Statement { kind, span: span() }
    }

    /// Inputs first, then outputs, then the rest.
    fn function(name: &str, inputs: usize, outputs: usize, locals: Vec<Local>, body: Vec<Statement>) -> Arc<Function> {
        Arc::new(Function {
            name: Name::new(name),
            inputs: (0..inputs).map(id).collect(),
            outputs: (inputs..inputs + outputs).map(id).collect(),
            locals: IdVec::from(locals),
            body: Body::Algorithm(body),
            pure: true,
            inline: Inline::Unstated,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            span: span(),
        })
    }

    fn run(functions: Vec<Arc<Function>>, arguments: Vec<Value>) -> Result<Vec<Value>> {
        let functions = Functions::from(functions);
        let mut externals = NoExternals;
        Evaluator::new(&functions, &mut externals).call(FunctionId::from_index(0), arguments)
    }

    fn factorial() -> Arc<Function> {
        let smaller = arithmetic(ArithmeticOp::Sub, get(0), Expr::Integer(1));
        let next = arithmetic(ArithmeticOp::Mul, get(0), Expr::Call(FunctionId::from_index(0), vec![smaller]));
        let small = Expr::Compare(CompareOp::LessEqual, Box::new(get(0)), Box::new(Expr::Integer(1)));
        let body = vec![assign(1, Expr::If(Box::new(small), Box::new(Expr::Integer(1)), Box::new(next)))];
        function("factorial", 1, 1, vec![local("n", Type::Integer), local("y", Type::Integer)], body)
    }

    #[test]
    fn recursion_has_a_bottom_and_a_limit() {
        assert_eq!(run(vec![factorial()], vec![Value::Integer(10)]), Ok(vec![Value::Integer(3_628_800)]));
        let error = run(vec![factorial()], vec![Value::Integer(1_000_000)]).unwrap_err();
        assert_eq!(error.kind, FailureKind::Limit);
        assert_eq!(error.calls.len(), CALLS_SHOWN);
        let error = run(vec![factorial()], vec![Value::Integer(50)]).unwrap_err();
        assert!(error.message.contains("Integer overflow"), "{error}");
        assert!(error.span.is_some());
    }

    #[test]
    fn loops_fill_arrays() {
        // y := zeros(n); for i in 1:n loop if i > 3 then break; end if; y[i] := i; end for;
        let size = Some(get(0));
        let y = Local { sizes: vec![size], ..local("y", Type::Real) };
        let exit = statement(StatementKind::If {
            branches: vec![(
                Expr::Compare(CompareOp::Greater, Box::new(get(2)), Box::new(Expr::Integer(3))),
                vec![statement(StatementKind::Break)],
            )],
            otherwise: Vec::new(),
        });
        let element = Target { local: id(1), steps: vec![Step::Index(vec![Subscript::Expr(get(2))])] };
        let body = vec![statement(StatementKind::For {
            iterator: id(2),
            range: Expr::Range(Box::new(Expr::Integer(1)), None, Box::new(get(0))),
            body: vec![exit, statement(StatementKind::Assign(element, get(2)))],
        })];
        let locals = vec![local("n", Type::Integer), y, local("i", Type::Integer)];
        let f = function("f", 1, 1, locals, body);
        assert_eq!(run(vec![f], vec![Value::Integer(5)]), Ok(vec![Value::reals([1.0, 2.0, 3.0, 0.0, 0.0])]));
    }

    #[test]
    fn records_and_slices() {
        let point = Arc::new(RecordType {
            name: Name::new("Point"),
            fields: vec![
                Field { name: Name::new("x"), ty: Type::Real, sizes: vec![Some(2)] },
                Field { name: Name::new("n"), ty: Type::Integer, sizes: vec![] },
            ],
        });
        // points[2].x[:] := {1, 2}; points[:].n := {7, 8};
        let index = |k| Step::Index(vec![Subscript::Expr(Expr::Integer(k))]);
        let all = || Step::Index(vec![Subscript::All]);
        let first = Target { local: id(0), steps: vec![index(2), Step::Field(0), all()] };
        let second = Target { local: id(0), steps: vec![all(), Step::Field(1)] };
        let pair = |a, b| Expr::Array(vec![Expr::Integer(a), Expr::Integer(b)]);
        let body = vec![
            statement(StatementKind::Assign(first, pair(1, 2))),
            statement(StatementKind::Assign(second, pair(7, 8))),
        ];
        let points = Local { sizes: vec![Some(Expr::Integer(2))], ..local("points", Type::Record(point)) };
        let f = function("f", 0, 1, vec![points], body);
        let result = run(vec![f], vec![]).unwrap();
        assert_eq!(result[0].to_string(), "{({0.0, 0.0}, 7), ({1.0, 2.0}, 8)}");
    }

    #[test]
    fn comprehensions_nest_as_written() {
        // {10*i + j for i in 1:2, j in 1:3} has three rows.
        let value = arithmetic(ArithmeticOp::Add, arithmetic(ArithmeticOp::Mul, Expr::Integer(10), get(1)), get(2));
        let range = |n| Expr::Range(Box::new(Expr::Integer(1)), None, Box::new(Expr::Integer(n)));
        let array = Expr::ArrayFor { element: Box::new(value), iterators: vec![(id(1), range(2)), (id(2), range(3))] };
        let y = Local { sizes: vec![None, None], ..local("y", Type::Integer) };
        let f =
            function("f", 0, 1, vec![y, local("i", Type::Integer), local("j", Type::Integer)], vec![assign(0, array)]);
        assert_eq!(run(vec![f], vec![]).unwrap()[0].to_string(), "{{11, 21}, {12, 22}, {13, 23}}");
    }

    #[test]
    fn functions_are_arguments() {
        // apply(f, x) = f(x) with f = power(n = 3).
        let power = function(
            "power",
            2,
            1,
            vec![local("x", Type::Real), local("n", Type::Integer), local("y", Type::Real)],
            vec![assign(2, arithmetic(ArithmeticOp::Pow, get(0), get(1)))],
        );
        let apply = function(
            "apply",
            2,
            1,
            vec![
                local("f", Type::Function(Arc::new(crate::function::FunctionType { inputs: vec![], outputs: vec![] }))),
                local("x", Type::Real),
                local("y", Type::Real),
            ],
            vec![assign(2, Expr::CallLocal(id(0), vec![get(1)]))],
        );
        let argument = Value::Function { function: FunctionId::from_index(1), given: vec![(1, Value::Integer(3))] };
        assert_eq!(run(vec![apply, power], vec![argument, Value::Real(2.0)]), Ok(vec![Value::Real(8.0)]));
    }

    #[test]
    fn functions_that_are_arguments_get_more_inputs() {
        // late(f, n) = twice(f with its first open input n), twice(g) = g(2); f = power(x, n) with nothing given.
        let power = function(
            "power",
            2,
            1,
            vec![local("x", Type::Real), local("n", Type::Real), local("y", Type::Real)],
            vec![assign(2, arithmetic(ArithmeticOp::Pow, get(0), get(1)))],
        );
        let any = Type::Function(Arc::new(crate::function::FunctionType { inputs: vec![], outputs: vec![] }));
        let late = |given: u32| {
            let call = Expr::Call(FunctionId::from_index(1), vec![Expr::LocalValue(id(0), vec![(given, get(1))])]);
            let locals = vec![local("f", any.clone()), local("n", Type::Real), local("y", Type::Real)];
            function("late", 2, 1, locals, vec![assign(2, call)])
        };
        let twice = function(
            "twice",
            1,
            1,
            vec![local("g", any.clone()), local("y", Type::Real)],
            vec![assign(1, Expr::CallLocal(id(0), vec![Expr::Real(2.0)]))],
        );
        let argument = || Value::Function { function: FunctionId::from_index(2), given: vec![] };
        let result = |given| run(vec![late(given), twice.clone(), power.clone()], vec![argument(), Value::Real(3.0)]);
        assert_eq!(result(1), Ok(vec![Value::Real(8.0)]));
        assert_eq!(result(0), Ok(vec![Value::Real(9.0)]));
    }

    #[test]
    fn endless_loops_end_at_the_limit() {
        let body = vec![statement(StatementKind::While { condition: Expr::Boolean(true), body: vec![] })];
        let functions = Functions::from(vec![function("f", 0, 0, vec![], body)]);
        let mut externals = NoExternals;
        let mut evaluator = Evaluator::new(&functions, &mut externals);
        evaluator.steps_left = 1000;
        assert_eq!(evaluator.call(FunctionId::from_index(0), vec![]).unwrap_err().kind, FailureKind::Limit);
    }

    #[test]
    fn assertions_are_errors_or_warnings() {
        let assertion = |warning| {
            let message = Expr::String("x must be positive".into());
            let positive = Expr::Compare(CompareOp::Greater, Box::new(get(0)), Box::new(Expr::Integer(0)));
            let body = vec![statement(StatementKind::Assert { condition: positive, message, warning })];
            function("f", 1, 0, vec![local("x", Type::Real)], body)
        };
        let error = run(vec![assertion(false)], vec![Value::Real(-1.0)]).unwrap_err();
        assert_eq!((error.kind, error.to_string()), (FailureKind::Assertion, "x must be positive (in f)".into()));
        assert_eq!(run(vec![assertion(true)], vec![Value::Real(-1.0)]), Ok(vec![]));
    }
}
