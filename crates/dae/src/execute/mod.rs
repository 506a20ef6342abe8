//! The executor of functions (specification chapters 11 and 12): runs the form of `function.rs` on the values of a domain.
//!
//! It is the only place that says what statements mean. With constants it is the interpreter, with expressions it writes calls
//! out, with addresses it makes code. Where a condition is not known, both branches are executed and what they leave is
//! joined; `break` and `return` behind such a condition become conditions themselves, under which the rest is not reached.
//!
//! Errors of the model (failed assertions, indices outside of arrays, division by zero) come back with the place and the chain of
//! calls. Nested calls are limited and the stack grows on the heap, so no model can overflow it.

mod access;
mod domain;
mod expressions;
mod failure;
mod loops;
mod repeated;
mod statements;

use base::IdVec;
use smallvec::SmallVec;

pub use domain::{Domain, Selection, ValueOf};
pub use failure::{EvalError, FailureKind, Result};

use crate::arrays;
use crate::function::{Body, Expr, External, Function, FunctionId, Functions, Local, LocalId, Type};
use crate::known::{self, kind};
use crate::value::{Kind, Value};
use failure::placed;
use repeated::Repeated;

/// When this much stack is left, more is allocated.
const RED_ZONE: usize = 128 * 1024;
const STACK_CHUNK: usize = 2 * 1024 * 1024;

/// Runs functions. Cheap to make.
pub struct Executor<'a, D: Domain> {
    pub(crate) functions: &'a Functions,
    /// What becomes of scalars that are not known.
    pub domain: D,
    /// Statements and calls that may still be executed; set it to bound the work.
    pub steps_left: u64,
    /// How deeply calls may nest.
    pub max_depth: usize,
    depth: usize,
    /// The functions that are being executed.
    active: Vec<FunctionId>,
    repeated: Repeated<D::Open>,
}

/// The variables of a call, and the conditions under which it has been left already.
struct Frame<U> {
    locals: IdVec<LocalId, Value<U>>,
    broken: Option<Value<U>>,
    returned: Option<Value<U>>,
}

type FrameOf<D> = Frame<<D as Domain>::Open>;

impl<'a, D: Domain> Executor<'a, D> {
    /// Executes functions over a domain.
    pub fn over(functions: &'a Functions, domain: D) -> Self {
        let (active, repeated) = (Vec::new(), Repeated::default());
        Self { functions, domain, steps_left: u64::MAX, max_depth: 2_000, depth: 0, active, repeated }
    }

    /// The functions of the model.
    pub fn functions(&self) -> &'a Functions {
        self.functions
    }

    /// Calls a function with its inputs in order (missing ones by their defaults) and gives all its outputs.
    pub fn call(&mut self, id: FunctionId, arguments: Vec<ValueOf<D>>) -> Result<Vec<ValueOf<D>>> {
        let function = self.functions.get(id).ok_or("a function is called that does not exist")?;
        self.step()?;
        if self.depth >= self.max_depth {
            return Err(EvalError::new(
                FailureKind::Limit,
                format!("function calls nest more than {} deep in `{}`", self.max_depth, function.name),
            ));
        }
        if let Some(outputs) = self.domain.call(self.functions, id, &arguments)? {
            return Ok(outputs);
        }
        let is_known = self.domain.fails_at_once();
        let key = if is_known { self.repeated_key(id, function, &arguments) } else { None };
        if let Some(outputs) = key.as_ref().and_then(|key| self.repeated_result(key)) {
            return Ok(outputs);
        }
        // What is written out has no end, and is evaluated where the function would not be called.
        if !is_known && self.active.contains(&id) {
            return Err(EvalError::new(FailureKind::Recursion, format!("`{}` calls itself", function.name)));
        }
        self.active.push(id);
        // The call that was asked for is not kept: its caller knows better what to do.
        let kept = (self.depth > 0 && self.domain.keeps_calls()).then(|| arguments.clone());
        let branches = self.domain.open_branches();
        self.depth += 1;
        let mut result = stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || self.run(function, arguments));
        self.depth -= 1;
        self.active.pop();
        if let (Some(key), Ok(outputs)) = (key, &result) {
            self.remember_result(key, outputs);
        }
        if self.depth == 0 && is_known {
            result = result.and_then(|outputs| all_assigned(function, outputs));
        }
        if let (Err(error), Some(arguments)) = (&result, kept)
            && error.kind != FailureKind::Recursion
        {
            self.domain.forget_branches(branches);
            if let Some(outputs) = self.domain.keep_call(self.functions, id, &arguments)? {
                return Ok(outputs);
            }
        }
        result.map_err(|error| match crate::effects::is_checking(self.functions, function) {
            true => error,
            false => error.inside(function.name),
        })
    }

    /// Executes the body of a function, whatever the domain does with calls.
    pub fn body(&mut self, id: FunctionId, arguments: Vec<ValueOf<D>>) -> Result<Vec<ValueOf<D>>> {
        let function = self.functions.get(id).ok_or("a function is called that does not exist")?;
        self.active.push(id);
        self.depth += 1;
        let result = self.run(function, arguments);
        self.depth -= 1;
        self.active.pop();
        result
    }

    /// Values of the sizes with which the outputs of a call are declared, nothing assigned to them.
    pub fn declared_outputs(&mut self, function: &Function, arguments: Vec<ValueOf<D>>) -> Result<Vec<ValueOf<D>>> {
        let locals = IdVec::filled(Value::Unset(Kind::Real), function.locals.len());
        let mut frame = Frame { locals, broken: None, returned: None };
        for (&input, argument) in function.inputs.iter().zip(arguments) {
            frame.locals[input] = argument;
        }
        let mut outputs = Vec::with_capacity(function.outputs.len());
        for &output in &function.outputs {
            let local = &function.locals[output];
            if local.sizes.iter().any(Option::is_none) || has_open_fields(&local.ty) {
                return Err(format!("the sizes of `{}` are known at run time only", local.name).into());
            }
            outputs.push(self.unassigned(&mut frame, local)?);
        }
        Ok(outputs)
    }

    /// The value of an expression without any local.
    pub fn constant(&mut self, expr: &Expr) -> Result<ValueOf<D>> {
        self.eval(&mut Frame { locals: IdVec::new(), broken: None, returned: None }, expr)
    }

    /// Calls a function that is a value itself, such as an argument that is a function.
    pub fn call_value(&mut self, function: &ValueOf<D>, arguments: Vec<ValueOf<D>>) -> Result<Vec<ValueOf<D>>> {
        let Value::Function { function, given } = function else {
            return Err(format!("{} is called, but is no function", kind(function)).into());
        };
        let callee = self.functions.get(*function).ok_or("a function is called that does not exist")?;
        let mut free = arguments.into_iter();
        let positions = 0..callee.inputs.len();
        let all = positions
            .map(|position| match given.iter().find(|(k, _)| *k as usize == position) {
                Some((_, value)) => Some(value.clone()),
                None => free.next(),
            })
            .collect();
        let all = self.with_defaults(callee, all)?;
        self.call(*function, all)
    }

    /// All inputs of a call; those that are not given have their defaults, which may read inputs before them.
    fn with_defaults(&mut self, function: &Function, given: Vec<Option<ValueOf<D>>>) -> Result<Vec<ValueOf<D>>> {
        let locals = IdVec::filled(Value::Unset(Kind::Real), function.locals.len());
        let mut frame = Frame { locals, broken: None, returned: None };
        let mut all = Vec::with_capacity(given.len());
        for (&input, value) in function.inputs.iter().zip(given) {
            let local = &function.locals[input];
            let value = match (value, &local.default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.eval(&mut frame, default)?.coerce(&local.ty),
                (None, None) => return Err(format!("`{}` of `{}` is not given", local.name, function.name).into()),
            };
            frame.locals[input] = value.clone();
            all.push(value);
        }
        Ok(all)
    }

    fn step(&mut self) -> Result<()> {
        self.steps(1)
    }

    fn steps(&mut self, count: u64) -> Result<()> {
        match self.steps_left.checked_sub(count) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => Err(EvalError::new(
                FailureKind::Limit,
                "the evaluation takes too many steps; does a loop or a recursion end?",
            )),
        }
    }

    fn run(&mut self, function: &Function, arguments: Vec<ValueOf<D>>) -> Result<Vec<ValueOf<D>>> {
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
                let fields = function.inputs.iter().map(|&input| take(&mut frame, input));
                return Ok(vec![Value::Record(fields.collect())]);
            }
        }
        Ok(function.outputs.iter().map(|&output| take(&mut frame, output)).collect())
    }

    /// Gives the inputs their arguments and every other local its first value.
    fn enter(&mut self, function: &Function, arguments: Vec<ValueOf<D>>) -> Result<FrameOf<D>> {
        let locals = IdVec::filled(Value::Unset(Kind::Real), function.locals.len());
        let mut frame = Frame { locals, broken: None, returned: None };
        let mut given = IdVec::<LocalId, bool>::filled(false, function.locals.len());
        for (&input, argument) in function.inputs.iter().zip(arguments) {
            let local = function.locals.get(input).ok_or("an input is no local of its function")?;
            frame.locals[input] = argument.coerce(&local.ty);
            given[input] = true;
        }
        for (id, local) in function.locals.iter() {
            if given[id] {
                continue;
            }
            frame.locals[id] = match &local.default {
                Some(default) => {
                    let value = self.eval(&mut frame, default).map_err(|error| placed(error, local.span))?;
                    let value = self.domain.detach(value.coerce(&local.ty))?;
                    self.fits(&mut frame, local, &value)?;
                    value
                }
                None if matches!(local.ty, Type::Function(_)) => continue,
                None => self.unassigned(&mut frame, local).map_err(|error| placed(error, local.span))?,
            };
        }
        // Sizes of inputs may be given by constants that are declared behind them.
        for (id, local) in function.locals.iter().filter(|(id, _)| given[*id]) {
            let value = frame.locals[id].clone();
            if let Err(error) = self.fits(&mut frame, local, &value)
                // The sizes of what is not read do not matter: media without composition are given none.
                && function.reads(id)
            {
                return Err(error);
            }
        }
        Ok(frame)
    }

    /// What a variable holds before anything is assigned.
    fn unassigned(&mut self, frame: &mut FrameOf<D>, local: &Local) -> Result<ValueOf<D>> {
        let mut sizes = Vec::with_capacity(local.sizes.len());
        for size in &local.sizes {
            sizes.push(match size {
                Some(size) => self.size(frame, size)?,
                None => 0,
            });
        }
        Ok(unset(&local.ty, sizes)?)
    }

    fn size(&mut self, frame: &mut FrameOf<D>, expr: &Expr) -> Result<usize> {
        let size = known::integer_of(&self.eval(frame, expr)?)?;
        // A negative size is an empty array (10.1).
        Ok(usize::try_from(size).unwrap_or(0))
    }

    /// A value must have the sizes that the variable is declared with.
    fn fits(&mut self, frame: &mut FrameOf<D>, local: &Local, value: &ValueOf<D>) -> Result<()> {
        let actual: SmallVec<[usize; 4]> = value.sizes().into();
        if actual.len() < local.sizes.len() {
            let message =
                format!("`{}` has {} dimensions, but its value has {}", local.name, local.sizes.len(), actual.len());
            return Err(message.into());
        }
        for (k, size) in local.sizes.iter().enumerate() {
            let Some(size) = size else { continue };
            let expected = self.eval(frame, size)?;
            if !expected.is_known() {
                let found = Value::Integer(actual[k] as i64);
                let agrees = arrays::compare(&mut self.domain, crate::CompareOp::Equal, &expected, &found)?;
                self.domain.require(&agrees)?;
                continue;
            }
            let expected = usize::try_from(known::integer_of(&expected)?).unwrap_or(0);
            if expected != actual[k] {
                let (name, dimension, found) = (local.name, k + 1, actual[k]);
                let message =
                    format!("`{name}` has size {expected} in dimension {dimension}, but its value has {found}");
                return Err(placed(message.into(), local.span));
            }
        }
        Ok(())
    }

    fn external(&mut self, function: &Function, frame: &mut FrameOf<D>, external: &External) -> Result<()> {
        let mut arguments = self.eval_all(frame, &external.arguments)?;
        let result = if external.language == "builtin" {
            let op = crate::Elementary::named(external.symbol.as_str())
                .map(|known| known.builtin)
                .ok_or_else(|| format!("there is no built-in function `{}`", external.symbol))?;
            Some(arrays::builtin(&mut self.domain, op, arguments.clone())?)
        } else {
            for argument in &mut arguments {
                *argument = blank(argument);
            }
            self.domain.external(external, &mut arguments)?
        };
        for (argument, value) in external.arguments.iter().zip(arguments) {
            if let Expr::Local(local) = argument
                && !function.inputs.contains(local)
            {
                let ty = &function.locals.get(*local).ok_or("an argument is no local of its function")?.ty;
                *access::local_mut(frame, *local)? = value.coerce(ty);
            }
        }
        match (&external.result, result) {
            (Some(target), Some(value)) => self.assign(function, frame, target, value),
            (Some(_), None) => Err(format!("the external function `{}` gave no result", external.symbol).into()),
            _ => Ok(()),
        }
    }
}

/// Whether a record has fields of unknown sizes.
fn has_open_fields(ty: &Type) -> bool {
    match ty {
        Type::Record(record) => {
            record.fields.iter().any(|field| field.sizes.iter().any(Option::is_none) || has_open_fields(&field.ty))
        }
        _ => false,
    }
}

/// The outputs, unless one has no value.
fn all_assigned<U: Clone>(function: &Function, outputs: Vec<Value<U>>) -> Result<Vec<Value<U>>> {
    for (value, &output) in outputs.iter().zip(&function.outputs) {
        let mut missing = false;
        value.for_each_scalar(&mut |scalar| missing |= matches!(scalar, Value::Unset(_)));
        if missing {
            let local = &function.locals[output];
            let message = format!("the output `{}` of `{}` has no value at the end", local.name, function.name);
            return Err(placed(message.into(), local.span));
        }
    }
    Ok(outputs)
}

fn take<U>(frame: &mut Frame<U>, local: LocalId) -> Value<U> {
    std::mem::replace(&mut frame.locals[local], Value::Unset(Kind::Real))
}

/// A value of a type to which nothing has been assigned.
fn unset<U: Clone>(ty: &Type, sizes: Vec<usize>) -> Result<Value<U>, String> {
    let scalar = match ty {
        Type::Record(record) => {
            let mut fields = Vec::with_capacity(record.fields.len());
            for field in &record.fields {
                let sizes = field.sizes.iter().map(|size| size.unwrap_or(0)).collect();
                fields.push(stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || unset(&field.ty, sizes))?);
            }
            Value::Record(fields)
        }
        scalar => Value::Unset(Kind::of(scalar).ok_or("a function has no value of its own")?),
    };
    if sizes.is_empty() {
        return Ok(scalar);
    }
    let count = arrays::element_count(&sizes)?;
    Ok(Value::array(sizes, vec![scalar; count]))
}

/// The value with zeros where nothing has been assigned, as functions in other languages get what they write.
fn blank<U: Clone>(value: &Value<U>) -> Value<U> {
    let filled: Result<_, std::convert::Infallible> = value.try_map(&mut |scalar| {
        Ok(match scalar {
            Value::Unset(Kind::Real) => Value::Real(0.0),
            Value::Unset(Kind::Integer) => Value::Integer(0),
            Value::Unset(Kind::Boolean) => Value::Boolean(false),
            Value::Unset(Kind::String) => Value::string(""),
            Value::Unset(Kind::Enumeration) => Value::Enumeration(1),
            Value::Unset(Kind::Object) => Value::Object(0),
            other => other.clone(),
        })
    });
    let Ok(filled) = filled;
    filled
}
