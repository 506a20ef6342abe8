//! Loops: taken turn by turn where their ends are known, or left to the domain.
//!
//! A loop that stays a loop keeps the variables that its body assigns at places (`Domain::carry`) which are updated at the end of
//! each turn.

use base::Id;

use super::access::local_mut;
use super::statements::Flow;
use super::{Domain, Executor, FrameOf, Result, ValueOf};
use crate::arrays;
use crate::expr::CompareOp;
use crate::function::{ArithmeticOp, Expr, Function, LocalId, Statement, StatementKind, Subscript, for_each_statement};
use crate::known::{self, Range};
use crate::value::{Kind, Value};

/// Tests the condition of a loop, and at its end prepares the next turn.
enum Turn<'e, U> {
    While(&'e Expr),
    /// Up, or down, to the last value.
    Count {
        iterator: LocalId,
        step: i64,
        last: Value<U>,
    },
}

impl<'a, D: Domain> Executor<'a, D> {
    pub(super) fn while_loop(
        &mut self,
        function: &Function,
        frame: &mut FrameOf<D>,
        condition: &Expr,
        body: &[Statement],
    ) -> Result<Flow> {
        if self.domain.keeps_loop(None, weight(body)) {
            return self.kept_loop(function, frame, Turn::While(condition), body);
        }
        self.turns(function, frame, body, &mut |executor, frame| {
            Ok(known::boolean_of(&executor.eval(frame, condition)?)?)
        })
    }

    pub(super) fn for_loop(
        &mut self,
        function: &Function,
        frame: &mut FrameOf<D>,
        iterator: LocalId,
        range: &Expr,
        body: &[Statement],
    ) -> Result<Flow> {
        if let Expr::Range(start, step, stop) = range {
            let start = self.eval(frame, start)?;
            let step = step.as_ref().map(|step| self.eval(frame, step)).transpose()?;
            let stop = self.eval(frame, stop)?;
            return self.count(function, frame, iterator, (start, step, stop), body);
        }
        let values = self.eval(frame, range)?;
        let mut values = self.domain.detach(values)?.into_parts().into_iter();
        self.turns(function, frame, body, &mut |_, frame| match values.next() {
            Some(value) => {
                *local_mut(frame, iterator)? = value;
                Ok(true)
            }
            None => Ok(false),
        })
    }

    fn count(
        &mut self,
        function: &Function,
        frame: &mut FrameOf<D>,
        iterator: LocalId,
        (start, step, stop): (ValueOf<D>, Option<ValueOf<D>>, ValueOf<D>),
        body: &[Statement],
    ) -> Result<Flow> {
        let known = [Some(&start), step.as_ref(), Some(&stop)].into_iter().flatten().all(Value::is_known);
        let integral = matches!(start.scalar_kind(), Some(Kind::Integer))
            && matches!(stop.scalar_kind(), Some(Kind::Integer))
            && matches!(step, None | Some(Value::Integer(_)));
        let range = if known { Some(Range::of(&start, step.as_ref(), &stop)?) } else { None };
        let turns = range.as_ref().map(Range::count);
        if turns != Some(0) && integral && self.domain.keeps_loop(turns, weight(body)) {
            let step = step.as_ref().map_or(Ok(1), known::integer_of)?;
            if step == 0 {
                return Err("the step of a range is zero".into());
            }
            let last = self.domain.detach(stop)?;
            *local_mut(frame, iterator)? = start;
            return self.kept_loop(function, frame, Turn::Count { iterator, step, last }, body);
        }
        let Some(range) = range else { return Err("the range of a loop is known at run time only".into()) };
        let mut next = 0;
        self.turns(function, frame, body, &mut |_, frame| {
            if next == range.count() {
                return Ok(false);
            }
            *local_mut(frame, iterator)? = range.element(next, &start);
            next += 1;
            Ok(true)
        })
    }

    /// Executes the body as often as there is another turn.
    fn turns(
        &mut self,
        function: &Function,
        frame: &mut FrameOf<D>,
        body: &[Statement],
        another: &mut dyn FnMut(&mut Self, &mut FrameOf<D>) -> Result<bool>,
    ) -> Result<Flow> {
        let outer = frame.broken.take();
        let mut flow = Flow::Next;
        while flow == Flow::Next && another(self, frame)? {
            self.step()?;
            flow = match self.left(frame)? {
                Some(left) => {
                    self.unless(frame, left, &mut |executor, frame| executor.nested(function, frame, body))?
                }
                None => self.nested(function, frame, body)?,
            };
        }
        frame.broken = outer;
        Ok(if flow == Flow::Return { Flow::Return } else { Flow::Next })
    }

    /// A loop that is left to the domain.
    fn kept_loop(
        &mut self,
        function: &Function,
        frame: &mut FrameOf<D>,
        turn: Turn<'_, D::Open>,
        body: &[Statement],
    ) -> Result<Flow> {
        let outer = frame.broken.take();
        let mut carried = assigned(body);
        if let Turn::Count { iterator, .. } = &turn {
            carried.push(*iterator);
        }
        let mut places = Vec::with_capacity(carried.len());
        for &local in &carried {
            let place = self.domain.carry(&frame.locals[local])?;
            frame.locals[local] = place.clone();
            places.push((local, place));
        }
        for local in indexed(body) {
            if !carried.contains(&local) && matches!(frame.locals[local], Value::Array(_)) {
                frame.locals[local] = self.domain.settle(&frame.locals[local])?;
            }
        }
        let returned = match returns(body) {
            true => Some(self.domain.carry(&Value::Boolean(false))?),
            false => None,
        };
        self.domain.begin_loop()?;
        let another = match &turn {
            Turn::While(condition) => self.eval(frame, condition)?,
            Turn::Count { iterator, step, last } => {
                let op = if *step > 0 { CompareOp::LessEqual } else { CompareOp::GreaterEqual };
                arrays::compare(&mut self.domain, op, &frame.locals[*iterator], last)?
            }
        };
        self.domain.leave_unless(&another)?;
        let flow = self.nested(function, frame, body)?;
        let left = match flow {
            Flow::Next => self.left(frame)?,
            _ => Some(Value::Boolean(true)),
        };
        if let Some(place) = &returned {
            let now = match flow {
                Flow::Return => Value::Boolean(true),
                _ => frame.returned.clone().unwrap_or(Value::Boolean(false)),
            };
            self.domain.update(place, &now)?;
        }
        if let Turn::Count { iterator, step, .. } = &turn {
            // Behind the last turn nobody asks for it.
            let next = arrays::scalar_arithmetic(
                &mut self.domain,
                ArithmeticOp::Add,
                &frame.locals[*iterator],
                &Value::Integer(*step),
            )?;
            frame.locals[*iterator] = next;
        }
        for (local, place) in places {
            self.domain.update(&place, &frame.locals[local])?;
            frame.locals[local] = place;
        }
        if let Some(left) = left {
            let stays = arrays::not(&mut self.domain, left)?;
            self.domain.leave_unless(&stays)?;
        }
        self.domain.end_loop()?;
        (frame.broken, frame.returned) = (outer, returned);
        Ok(Flow::Next)
    }
}

/// The variables that statements assign, in the order of the function.
fn assigned(statements: &[Statement]) -> Vec<LocalId> {
    let mut found = Vec::new();
    for_each_statement(statements, &mut |statement| match &statement.kind {
        StatementKind::Assign(target, _) => found.push(target.local),
        StatementKind::AssignSeveral(targets, _) => found.extend(targets.iter().flatten().map(|target| target.local)),
        _ => {}
    });
    found.sort_by_key(|local| local.index());
    found.dedup();
    found
}

/// The variables that statements read with subscripts.
fn indexed(statements: &[Statement]) -> Vec<LocalId> {
    let mut found = Vec::new();
    for_each_statement(statements, &mut |statement| {
        statement.for_each_expression(&mut |expr| {
            let mut stack = vec![expr];
            while let Some(expr) = stack.pop() {
                if let Expr::Index(base, subscripts) = expr
                    && let Expr::Local(local) = **base
                    && subscripts.iter().any(|subscript| matches!(subscript, Subscript::Expr(e) if !is_literal(e)))
                    && !found.contains(&local)
                {
                    found.push(local);
                }
                expr.for_each_operand(&mut |operand| stack.push(operand));
            }
        });
    });
    found
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr, Expr::Integer(_) | Expr::Boolean(_) | Expr::Enumeration(..))
}

fn returns(statements: &[Statement]) -> bool {
    let mut found = false;
    for_each_statement(statements, &mut |statement| found |= matches!(statement.kind, StatementKind::Return));
    found
}

/// How much a body is: its statements, those of inner loops several times.
fn weight(statements: &[Statement]) -> usize {
    let inner = |statement: &Statement| match &statement.kind {
        StatementKind::If { branches, otherwise } => {
            branches.iter().map(|(_, body)| weight(body)).sum::<usize>() + weight(otherwise)
        }
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => 8 * weight(body),
        _ => 0,
    };
    statements.iter().map(|statement| 1 + inner(statement)).sum()
}
