//! Statements of functions as code: branches, loops, assignments to parts of arrays and records.

use dae::arrays::{self};
use dae::function::{Body, Expr, LocalId, Statement, StatementKind, Step, Target};
use dae::{FunctionId, Value};

use super::usage::{breaks, weight};
use super::values::{is_known, known_integer, leaves, map_leaves, parts};
use super::{INDEXED, Indexed, Made, Maker, UNROLLED};
use crate::code::{Address, Op};
use crate::math::Binary;

impl Maker<'_, '_> {
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Made<()> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    pub(super) fn statement(&mut self, statement: &Statement) -> Made<()> {
        match &statement.kind {
            StatementKind::Assign(target, value) => {
                let value = self.eval(value)?;
                self.assign(target, value)
            }
            StatementKind::AssignSeveral(targets, call) => {
                let values = self.eval_several(call)?;
                for (target, value) in targets.iter().zip(values) {
                    if let Some(target) = target {
                        self.assign(target, value)?;
                    }
                }
                Ok(())
            }
            StatementKind::If { branches, otherwise } => self.branches(branches, otherwise),
            StatementKind::For { iterator, range, body } => self.for_loop(*iterator, range, body),
            StatementKind::While { condition, body } => {
                self.push(Op::Loop)?;
                self.loops += 1;
                let condition = self.eval(condition)?;
                self.leave_unless(&condition)?;
                self.statements(body)?;
                self.loops -= 1;
                self.push(Op::EndLoop { start: 0, repeat: true })
            }
            StatementKind::Break => self.push(Op::Exit { levels: 1, target: 0 }),
            StatementKind::Return => self.push(Op::Exit { levels: self.loops, target: 0 }),
            StatementKind::Assert { warning: true, .. } => Ok(()),
            StatementKind::Assert { condition, .. } => {
                let condition = self.eval(condition)?;
                match condition {
                    Value::Boolean(true) => Ok(()),
                    Value::Boolean(false) => self.fail(),
                    condition => {
                        let condition = self.address(&condition)?;
                        self.decide(condition)?;
                        self.push(Op::If { condition, otherwise: 0 })?;
                        self.push(Op::Else { end: 0 })?;
                        self.fail()?;
                        self.push(Op::EndIf)
                    }
                }
            }
            // Texts that are put together at run time are for the evaluator.
            StatementKind::Call(Expr::Call(function, _)) if self.gives_up(*function) => self.fail(),
            StatementKind::Call(Expr::Call(function, arguments)) => self.check(*function, arguments),
            StatementKind::Call(_) => Err("it calls a function for its effect".into()),
        }
    }

    /// Whether all that the function does is to fail, as one that reports an error.
    fn gives_up(&self, function: FunctionId) -> bool {
        let Some(Body::Algorithm(statements)) = self.special.functions.get(function).map(|function| &function.body)
        else {
            return false;
        };
        let first = statements.first().map(|statement| &statement.kind);
        matches!(first, Some(StatementKind::Assert { condition: Expr::Boolean(false), warning: false, .. }))
    }

    /// A pure function without outputs, as one that guards a range, can only fail.
    fn check(&mut self, id: FunctionId, arguments: &[Expr]) -> Made<()> {
        let function = self.special.functions.get(id).ok_or("no such function")?.clone();
        if !function.outputs.is_empty() || !function.pure {
            return Err("it calls a function for its effect".into());
        }
        let arguments = self.eval_all(arguments)?;
        let verdict = self.call(id, arguments)?;
        let Some(verdict) = verdict.first() else { return Ok(()) };
        let (verdict, zero) = (self.address(verdict)?, self.special.pool.constants.address(0.0));
        let condition = self.binary(Binary::Equal, verdict, zero)?;
        self.push(Op::If { condition, otherwise: 0 })?;
        self.push(Op::Else { end: 0 })?;
        self.fail()?;
        self.push(Op::EndIf)
    }

    /// No value: the caller finds NaN, and the evaluator tells why.
    fn fail(&mut self) -> Made<()> {
        let nan = self.special.pool.constants.address(f64::NAN);
        for output in self.function.outputs.clone() {
            let mut places = Vec::new();
            leaves(&self.local(output)?, &mut places);
            for place in places {
                self.push(Op::Move { to: place as Address, a: nan })?;
            }
        }
        if let Some(to) = self.verdict {
            self.push(Op::Move { to, a: nan })?;
        }
        self.push(Op::Exit { levels: self.loops, target: 0 })
    }

    fn leave_unless(&mut self, condition: &Value) -> Made<()> {
        let (condition, one) = (self.address(condition)?, self.special.pool.constants.address(1.0));
        self.decide(condition)?;
        // A condition that is undefined ends the loop.
        let condition = self.binary(Binary::Equal, condition, one)?;
        self.push(Op::If { condition, otherwise: 0 })?;
        self.push(Op::Else { end: 0 })?;
        self.push(Op::Exit { levels: 1, target: 0 })?;
        self.push(Op::EndIf)
    }

    pub(super) fn branches(&mut self, branches: &[(Expr, Vec<Statement>)], otherwise: &[Statement]) -> Made<()> {
        let mut open = 0;
        let mut decided = false;
        for (condition, body) in branches {
            match self.eval(condition)? {
                Value::Boolean(false) => continue,
                Value::Boolean(true) => {
                    self.statements(body)?;
                    decided = true;
                    break;
                }
                condition => {
                    let condition = self.address(&condition)?;
                    self.decide(condition)?;
                    self.push(Op::If { condition, otherwise: 0 })?;
                    self.statements(body)?;
                    self.push(Op::Else { end: 0 })?;
                    open += 1;
                }
            }
        }
        if !decided {
            self.statements(otherwise)?;
        }
        (0..open).try_for_each(|_| self.push(Op::EndIf))
    }

    fn for_loop(&mut self, iterator: LocalId, range: &Expr, body: &[Statement]) -> Made<()> {
        if let Expr::Range(start, step, stop) = range {
            let start = self.eval(start)?;
            let step = step.as_ref().map(|step| self.eval(step)).transpose()?.unwrap_or(Value::Integer(1));
            let stop = self.eval(stop)?;
            if is_known(&start) && is_known(&step) && is_known(&stop) {
                let values = arrays::range(&start, Some(&step), &stop)?;
                return match (&start, &step) {
                    (Value::Integer(_), Value::Integer(_)) if !self.unrolls(&values, body) => {
                        self.counting(iterator, &start, known_integer(&step)?, &stop, body)
                    }
                    _ => self.unrolled(iterator, values, body),
                };
            }
            return self.counting(iterator, &start, known_integer(&step)?, &stop, body);
        }
        let values = self.eval(range)?;
        let values = self.detach(values)?;
        self.unrolled(iterator, values, body)
    }

    fn unrolls(&self, values: &Value, body: &[Statement]) -> bool {
        let count = values.sizes().first().copied().unwrap_or(1);
        !breaks(body) && (count <= 2 || count * weight(body) <= UNROLLED)
    }

    fn unrolled(&mut self, iterator: LocalId, values: Value, body: &[Statement]) -> Made<()> {
        if breaks(body) {
            return Err("it leaves a loop over values".into());
        }
        for value in parts(values) {
            self.locals[iterator] = Some(value);
            self.statements(body)?;
        }
        Ok(())
    }

    fn counting(&mut self, iterator: LocalId, start: &Value, step: i64, stop: &Value, body: &[Statement]) -> Made<()> {
        let stop = self.detach(stop.clone())?;
        let (start, stop) = (self.address(start)?, self.address(&stop)?);
        let counter = self.temporaries(1);
        let step_address = self.special.pool.constants.address(step as f64);
        self.push(Op::Move { to: counter, a: start })?;
        self.push(Op::Loop)?;
        self.loops += 1;
        let (a, b) = if step > 0 { (counter, stop) } else { (stop, counter) };
        let inside = self.binary(Binary::LessEqual, a, b)?;
        self.leave_unless(&Value::Object(u64::from(inside)))?;
        self.locals[iterator] = Some(Value::Object(u64::from(counter)));
        self.statements(body)?;
        self.push(Op::Binary { function: Binary::Add, to: counter, a: counter, b: step_address })?;
        self.loops -= 1;
        self.push(Op::EndLoop { start: 0, repeat: true })
    }

    fn assign(&mut self, target: &Target, value: Value) -> Made<()> {
        let function = self.function.clone();
        let local = function.locals.get(target.local).ok_or("no such variable")?;
        if target.steps.is_empty() {
            let value = value.coerce(&local.ty);
            if self.usage.names.contains(&target.local) {
                self.locals[target.local] = Some(self.detach(value)?);
                return Ok(());
            }
            let place = self.local(target.local)?;
            return self.store(&place, value);
        }
        let mut place = self.local(target.local)?;
        for step in &target.steps {
            place = match step {
                Step::Field(index) => arrays::field(&place, *index)?.into_owned(),
                Step::Index(subscripts) => self.select(&place, subscripts, true)?,
            };
        }
        self.store(&place, value)
    }

    /// Writes a value to places of the same shape.
    pub(super) fn store(&mut self, place: &Value, value: Value) -> Made<()> {
        let mut places = Vec::new();
        leaves(place, &mut places);
        let mut scalars = Vec::new();
        value.flatten_into(&mut scalars);
        if places.len() == 1 && scalars.len() == 1 || places.len() == scalars.len() {
            let mut sources = Vec::with_capacity(scalars.len());
            for scalar in &scalars {
                sources.push(self.address(scalar)?);
            }
            // Values that are read from what is written are taken aside first.
            let overlap = sources.len() > 1 && sources.iter().any(|source| places.contains(&u64::from(*source)));
            if overlap {
                for source in &mut sources {
                    let to = self.temporaries(1);
                    self.push(Op::Move { to, a: *source })?;
                    *source = to;
                }
            }
            for (place, a) in places.into_iter().zip(sources) {
                if place & INDEXED != 0 {
                    let Indexed { base, index, length } = self.indexed[(place & !INDEXED) as usize];
                    self.push(Op::StoreAt { base, index, length, a })?;
                } else {
                    self.push(Op::Move { to: place as Address, a })?;
                }
            }
            return Ok(());
        }
        Err("a value of another size is assigned".into())
    }

    /// The value independent of later assignments.
    pub(super) fn detach(&mut self, value: Value) -> Made {
        let mut found = Vec::new();
        leaves(&value, &mut found);
        if !found.iter().any(|&leaf| self.stored.contains(&(leaf as Address))) {
            return Ok(value);
        }
        let mut copies = Vec::with_capacity(found.len());
        for leaf in found {
            let to = self.temporaries(1);
            self.push(Op::Move { to, a: leaf as Address })?;
            copies.push(u64::from(to));
        }
        let mut copies = copies.into_iter();
        Ok(map_leaves(value, &mut |leaf| copies.next().unwrap_or(leaf)))
    }
}
