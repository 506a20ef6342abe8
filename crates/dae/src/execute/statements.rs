//! Statements: assignments, branches and what may leave them.

use base::Span;

use super::access::local_mut;
use super::failure::placed;
use super::{Domain, EvalError, Executor, FailureKind, FrameOf, RED_ZONE, Result, STACK_CHUNK, ValueOf};
use crate::arrays;
use crate::function::{Body, Expr, Function, FunctionId, Statement, StatementKind, Target, Type};
use crate::known;
use crate::value::{Kind, Value};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Break,
    Return,
}

/// What is executed in a branch.
type Branch<'b, 'a, D> = &'b mut dyn FnMut(&mut Executor<'a, D>, &mut FrameOf<D>) -> Result<Flow>;

impl<'a, D: Domain> Executor<'a, D> {
    pub(super) fn execute(
        &mut self,
        function: &Function,
        frame: &mut FrameOf<D>,
        statements: &[Statement],
    ) -> Result<Flow> {
        for (position, statement) in statements.iter().enumerate() {
            self.step()?;
            let flow = self.statement(function, frame, statement).map_err(|error| placed(error, statement.span))?;
            if flow != Flow::Next {
                return Ok(flow);
            }
            let rest = &statements[position + 1..];
            if let (Some(left), false) = (self.left(frame)?, rest.is_empty()) {
                return self.unless(frame, left, &mut |executor, frame| executor.execute(function, frame, rest));
            }
        }
        Ok(Flow::Next)
    }

    pub(super) fn nested(&mut self, function: &Function, frame: &mut FrameOf<D>, body: &[Statement]) -> Result<Flow> {
        stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || self.execute(function, frame, body))
    }

    /// The condition under which a `break` or `return` was reached before, where it is not known.
    pub(super) fn left(&mut self, frame: &FrameOf<D>) -> Result<Option<ValueOf<D>>> {
        Ok(match (&frame.broken, &frame.returned) {
            (Some(broken), Some(returned)) => {
                Some(arrays::logic(&mut self.domain, true, broken.clone(), returned.clone())?)
            }
            (broken, returned) => broken.clone().or_else(|| returned.clone()),
        })
    }

    /// Executes what follows only where neither `break` nor `return` was reached before.
    pub(super) fn unless(&mut self, frame: &mut FrameOf<D>, left: ValueOf<D>, rest: Branch<'_, 'a, D>) -> Result<Flow> {
        self.branch(frame, &left, &mut |_, _| Ok(Flow::Next), &mut |executor, frame| {
            (frame.broken, frame.returned) = (None, None);
            rest(executor, frame)
        })
    }

    fn statement(&mut self, function: &Function, frame: &mut FrameOf<D>, statement: &Statement) -> Result<Flow> {
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
            StatementKind::If { branches, otherwise } => return self.branches(function, frame, branches, otherwise),
            StatementKind::For { iterator, range, body } => {
                return self.for_loop(function, frame, *iterator, range, body);
            }
            StatementKind::While { condition, body } => return self.while_loop(function, frame, condition, body),
            StatementKind::Break => return Ok(Flow::Break),
            StatementKind::Return => return Ok(Flow::Return),
            StatementKind::Assert { condition, message, warning } => {
                self.assertion(frame, condition, message, *warning, statement.span)?;
            }
            // The text of the error is put together where it is reported.
            StatementKind::Call(Expr::Call(id, _)) if !self.domain.fails_at_once() && self.gives_up(*id) => {
                self.domain.require(&Value::Boolean(false))?;
                return Ok(Flow::Return);
            }
            StatementKind::Call(call) => {
                self.eval_several(frame, call)?;
            }
        }
        Ok(Flow::Next)
    }

    /// Whether all that the function does is to fail, as one that reports an error.
    fn gives_up(&self, function: FunctionId) -> bool {
        let Some(Body::Algorithm(statements)) = self.functions.get(function).map(|function| &function.body) else {
            return false;
        };
        let first = statements.first().map(|statement| &statement.kind);
        matches!(first, Some(StatementKind::Assert { condition: Expr::Boolean(false), warning: false, .. }))
    }

    fn assertion(
        &mut self,
        frame: &mut FrameOf<D>,
        condition: &Expr,
        message: &Expr,
        warning: bool,
        span: Span,
    ) -> Result<()> {
        let holds = self.eval(frame, condition)?;
        if holds == Value::Boolean(true) {
            return Ok(());
        }
        if !self.domain.fails_at_once() {
            match warning {
                true => self.domain.warn(None, span)?,
                false => self.domain.require(&holds)?,
            }
            return Ok(());
        }
        known::boolean_of(&holds)?;
        let message = self.eval(frame, message)?;
        let message = message.as_str().unwrap_or("assertion failed").to_owned();
        if !warning {
            return Err(EvalError::new(FailureKind::Assertion, message));
        }
        self.domain.warn(Some(message), span)?;
        Ok(())
    }

    fn branches(
        &mut self,
        function: &Function,
        frame: &mut FrameOf<D>,
        branches: &[(Expr, Vec<Statement>)],
        otherwise: &[Statement],
    ) -> Result<Flow> {
        for (position, (condition, body)) in branches.iter().enumerate() {
            match self.eval(frame, condition)? {
                open @ Value::Open(..) => {
                    let rest = &branches[position + 1..];
                    return self.branch(
                        frame,
                        &open,
                        &mut |executor, frame| executor.nested(function, frame, body),
                        &mut |executor, frame| {
                            stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || {
                                executor.branches(function, frame, rest, otherwise)
                            })
                        },
                    );
                }
                condition => {
                    if known::boolean_of(&condition)? {
                        return self.nested(function, frame, body);
                    }
                }
            }
        }
        self.nested(function, frame, otherwise)
    }

    /// Both branches, joined by a condition that is open.
    pub(super) fn branch(
        &mut self,
        frame: &mut FrameOf<D>,
        condition: &ValueOf<D>,
        then: Branch<'_, 'a, D>,
        otherwise: Branch<'_, 'a, D>,
    ) -> Result<Flow> {
        let before = frame.locals.clone();
        let stops = (frame.broken.take(), frame.returned.take());
        (frame.broken, frame.returned) = stops.clone();
        self.domain.begin_branch(condition)?;
        let first = then(self, frame)?;
        let first_stops = stops_of(frame, first);
        (frame.broken, frame.returned) = stops.clone();
        let after_first = std::mem::replace(&mut frame.locals, before);
        self.domain.begin_otherwise()?;
        let second = otherwise(self, frame)?;
        let second_stops = stops_of(frame, second);
        for (id, value) in after_first.iter() {
            if *value != frame.locals[id] {
                // What has different sizes in the two branches has no value behind them.
                let joined = self.joined(value, &frame.locals[id])?;
                frame.locals[id] = joined.unwrap_or(Value::Unset(Kind::Real));
            }
        }
        if first == second && first != Flow::Next {
            self.domain.end_branch()?;
            (frame.broken, frame.returned) = stops;
            return Ok(first);
        }
        frame.broken = self.joined_stops(first_stops.0, second_stops.0)?;
        frame.returned = self.joined_stops(first_stops.1, second_stops.1)?;
        self.domain.end_branch()?;
        Ok(Flow::Next)
    }

    /// The value behind two branches; `None` where their structures differ.
    pub(super) fn joined(&mut self, a: &ValueOf<D>, b: &ValueOf<D>) -> Result<Option<ValueOf<D>>> {
        if a == b {
            return Ok(Some(a.clone()));
        }
        Ok(match (a, b) {
            (Value::Array(a), Value::Array(b)) => {
                if a.sizes != b.sizes {
                    return Ok(None);
                }
                let mut elements = Vec::with_capacity(a.elements.len());
                for (x, y) in a.elements.iter().zip(&b.elements) {
                    let Some(element) = self.joined(x, y)? else { return Ok(None) };
                    elements.push(element);
                }
                Some(Value::array(a.sizes.clone(), elements))
            }
            (Value::Record(a), Value::Record(b)) => {
                let mut fields = Vec::with_capacity(a.len());
                for (x, y) in a.iter().zip(b) {
                    let Some(field) = self.joined(x, y)? else { return Ok(None) };
                    fields.push(field);
                }
                Some(Value::Record(fields))
            }
            (Value::Array(_) | Value::Record(_) | Value::Function { .. }, _)
            | (_, Value::Array(_) | Value::Record(_) | Value::Function { .. }) => None,
            (a, b) => Some(self.domain.join(a, b)?),
        })
    }

    fn joined_stops(&mut self, a: Option<ValueOf<D>>, b: Option<ValueOf<D>>) -> Result<Option<ValueOf<D>>> {
        if a.is_none() && b.is_none() {
            return Ok(None);
        }
        let never = || Value::Boolean(false);
        let joined = self.joined(&a.unwrap_or_else(never), &b.unwrap_or_else(never))?;
        Ok(joined.filter(|joined| *joined != Value::Boolean(false)))
    }

    pub(super) fn assign(
        &mut self,
        function: &Function,
        frame: &mut FrameOf<D>,
        target: &Target,
        value: ValueOf<D>,
    ) -> Result<()> {
        let local = function.locals.get(target.local).ok_or("an assignment to a variable that does not exist")?;
        let value = value.coerce(super::access::part_type(&local.ty, &target.steps));
        if !target.steps.is_empty() {
            let steps = self.resolve_steps(frame, &target.steps)?;
            let mut place = std::mem::replace(local_mut(frame, target.local)?, Value::Unset(Kind::Real));
            let stored = self.store(&mut place, &steps, value);
            *local_mut(frame, target.local)? = place;
            return stored;
        }
        let place = local_mut(frame, target.local)?;
        let fixed = local.sizes.iter().all(Option::is_some);
        let known = !matches!(place, Value::Unset(_)) || local.sizes.is_empty();
        // By elements: most are scalars, and `memcmp` of nothing at an address that is not mapped takes long.
        if fixed && known && !matches!(local.ty, Type::Record(_)) && !place.sizes().iter().eq(value.sizes()) {
            let (name, has, given) = (local.name, place.sizes(), value.sizes());
            return Err(format!("`{name}` has size {has:?}, but what is assigned has {given:?}").into());
        }
        let value = self.domain.detach(value)?;
        *local_mut(frame, target.local)? = value;
        Ok(())
    }
}

/// When the branch that just ended was left by `break` or `return`.
fn stops_of<U: Clone>(frame: &super::Frame<U>, flow: Flow) -> (Option<Value<U>>, Option<Value<U>>) {
    let always = Some(Value::Boolean(true));
    match flow {
        Flow::Next => (frame.broken.clone(), frame.returned.clone()),
        Flow::Break => (always, frame.returned.clone()),
        Flow::Return => (frame.broken.clone(), always),
    }
}
