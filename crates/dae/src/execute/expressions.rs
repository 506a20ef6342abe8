//! Expressions of functions.

use super::access::{empty, local_mut, local_ref};
use super::{Domain, EvalError, Executor, FrameOf, RED_ZONE, Result, STACK_CHUNK, ValueOf, unset};
use crate::arrays;
use crate::function::{ArrayFunction, Expr, FunctionId, LocalId, Type, give};
use crate::known::{self, kind};
use crate::value::Value;

impl<D: Domain> Executor<'_, D> {
    /// All outputs of a call; one value of another expression.
    pub(super) fn eval_several(&mut self, frame: &mut FrameOf<D>, expr: &Expr) -> Result<Vec<ValueOf<D>>> {
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

    pub(super) fn eval_all(&mut self, frame: &mut FrameOf<D>, exprs: &[Expr]) -> Result<Vec<ValueOf<D>>> {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            values.push(self.eval(frame, expr)?);
        }
        Ok(values)
    }

    pub(super) fn eval(&mut self, frame: &mut FrameOf<D>, expr: &Expr) -> Result<ValueOf<D>> {
        match expr {
            Expr::Real(value) => Ok(Value::Real(*value)),
            Expr::Integer(value) => Ok(Value::Integer(*value)),
            Expr::Boolean(value) => Ok(Value::Boolean(*value)),
            Expr::String(text) => Ok(Value::String(text.clone())),
            Expr::Enumeration(_, ordinal) => Ok(Value::Enumeration(*ordinal)),
            Expr::Unset(ty) => Ok(unset(ty, Vec::new())?),
            Expr::Local(local) => Ok(local_ref(frame, *local)?.clone()),
            _ => stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || self.eval_operation(frame, expr)),
        }
    }

    fn eval_operation(&mut self, frame: &mut FrameOf<D>, expr: &Expr) -> Result<ValueOf<D>> {
        match expr {
            Expr::Index(..) | Expr::Field(..) => self.access(frame, expr),
            Expr::Neg(a) => {
                let a = self.eval(frame, a)?;
                Ok(arrays::negate(&mut self.domain, a)?)
            }
            Expr::Not(a) => {
                let a = self.eval(frame, a)?;
                Ok(arrays::not(&mut self.domain, a)?)
            }
            Expr::Arithmetic(op, a, b) => {
                let (a, b) = (self.eval(frame, a)?, self.eval(frame, b)?);
                match (&a, &b) {
                    (Value::Array(_), _) | (_, Value::Array(_)) => Ok(arrays::arithmetic(&mut self.domain, *op, a, b)?),
                    _ => Ok(arrays::scalar_arithmetic(&mut self.domain, *op, &a, &b)?),
                }
            }
            Expr::Elementwise(op, a, b) => {
                let (a, b) = (self.eval(frame, a)?, self.eval(frame, b)?);
                Ok(arrays::elementwise_arithmetic(&mut self.domain, *op, a, b)?)
            }
            Expr::And(a, b) => self.logic(frame, a, b, false),
            Expr::Or(a, b) => self.logic(frame, a, b, true),
            Expr::Compare(op, a, b) => {
                let (a, b) = (self.eval(frame, a)?, self.eval(frame, b)?);
                Ok(arrays::compare(&mut self.domain, *op, &a, &b)?)
            }
            Expr::If(condition, then, otherwise) => self.choice(frame, condition, then, otherwise),
            Expr::Array(items) => {
                let items = self.eval_all(frame, items)?;
                Value::from_parts(items).ok_or_else(different_sizes)
            }
            Expr::Range(start, step, stop) => {
                let start = self.eval(frame, start)?;
                let step = step.as_ref().map(|step| self.eval(frame, step)).transpose()?;
                let stop = self.eval(frame, stop)?;
                Ok(arrays::range(&start, step.as_ref(), &stop)?)
            }
            Expr::ArrayFor { element, iterators } => {
                let mut values = Vec::new();
                let counts = self.iterate(frame, element, iterators, &mut values)?;
                if values.is_empty() {
                    return self.no_elements(frame, element, iterators, counts);
                }
                Value::from_rounds(values, counts).ok_or_else(different_sizes)
            }
            Expr::Reduction { op, element, iterators } => {
                let mut values = Vec::new();
                // The last iterator is the slowest, as in an array constructor.
                self.iterate(frame, element, iterators, &mut values)?;
                Ok(arrays::reduce(&mut self.domain, *op, values.into_iter())?)
            }
            Expr::Record(record, fields) => {
                let fields = self.eval_all(frame, fields)?;
                Ok(Value::Record(fields).coerce(&Type::Record(record.clone())))
            }
            Expr::Builtin(op, arguments) => {
                let arguments = self.eval_all(frame, arguments)?;
                Ok(arrays::builtin(&mut self.domain, *op, arguments)?)
            }
            Expr::Whole(function, arguments) => self.whole(frame, *function, arguments),
            Expr::Call(..) | Expr::CallLocal(..) => {
                let outputs = self.eval_several(frame, expr)?;
                outputs.into_iter().next().ok_or_else(|| "a function without output is used as a value".into())
            }
            Expr::FunctionValue(function, given) => {
                let given = self.eval_given(frame, given)?;
                Ok(Value::Function { function: *function, given })
            }
            Expr::LocalValue(local, given) => {
                let more = self.eval_given(frame, given)?;
                let Value::Function { function, given } = local_ref(frame, *local)?.clone() else {
                    return Err("inputs are given to what is no function".into());
                };
                let inputs = self.functions.get(function).map_or(0, |function| function.inputs.len());
                Ok(Value::Function { function, given: give(inputs, given, more) })
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
            | Expr::Unset(_)
            | Expr::Local(_) => self.eval(frame, expr),
        }
    }

    fn eval_given(&mut self, frame: &mut FrameOf<D>, given: &[(u32, Expr)]) -> Result<Vec<(u32, ValueOf<D>)>> {
        let mut values = Vec::with_capacity(given.len());
        for (position, expr) in given {
            values.push((*position, self.eval(frame, expr)?));
        }
        Ok(values)
    }

    fn choice(
        &mut self,
        frame: &mut FrameOf<D>,
        condition: &Expr,
        then: &Expr,
        otherwise: &Expr,
    ) -> Result<ValueOf<D>> {
        let condition = self.eval(frame, condition)?;
        if !matches!(condition, Value::Open(..)) {
            let chosen = if known::boolean_of(&condition)? { then } else { otherwise };
            return self.eval(frame, chosen);
        }
        self.domain.begin_branch(&condition)?;
        let first = self.eval(frame, then)?;
        self.domain.begin_otherwise()?;
        let second = self.eval(frame, otherwise)?;
        let joined = self.joined(&first, &second)?;
        self.domain.end_branch()?;
        joined.ok_or_else(|| "the branches of an expression have different sizes".into())
    }

    /// `size(x, k)` and the like look at a local without copying it.
    fn whole(&mut self, frame: &mut FrameOf<D>, function: ArrayFunction, arguments: &[Expr]) -> Result<ValueOf<D>> {
        if let (ArrayFunction::Size, [Expr::Local(local), dimension]) = (function, arguments) {
            let dimension = known::integer_of(&self.eval(frame, dimension)?)?;
            let sizes = local_ref(frame, *local)?.sizes();
            let size = usize::try_from(dimension - 1).ok().and_then(|k| sizes.get(k));
            return size
                .map(|&size| Value::Integer(size as i64))
                .ok_or_else(|| format!("an array of {} dimensions has no dimension {dimension}", sizes.len()).into());
        }
        if let (ArrayFunction::Enumeration, [ordinal, Expr::Enumeration(enumeration, _)]) = (function, arguments) {
            let literals = Value::Integer(enumeration.literals.len() as i64);
            let ordinal = self.eval(frame, ordinal)?;
            return Ok(arrays::whole(&mut self.domain, function, vec![ordinal, literals])?);
        }
        let arguments = self.eval_all(frame, arguments)?;
        let value = arrays::whole(&mut self.domain, function, arguments)?;
        if let Value::String(text) = &value {
            /// Texts take time and memory too, which steps bound.
            const BYTES_OF_A_STEP: u64 = 32;
            self.steps(text.len() as u64 / BYTES_OF_A_STEP)?;
        }
        Ok(value)
    }

    /// The second operand is left out where the first one decides, so that `n > 0 and x[n] > 1` is safe.
    fn logic(&mut self, frame: &mut FrameOf<D>, a: &Expr, b: &Expr, decides: bool) -> Result<ValueOf<D>> {
        let a = self.eval(frame, a)?;
        match a {
            Value::Array(_) => {
                let b = self.eval(frame, b)?;
                Ok(arrays::logic(&mut self.domain, decides, a, b)?)
            }
            Value::Open(..) => {
                // The second operand is evaluated where it is needed, and nowhere else.
                self.domain.begin_branch(&a)?;
                let decided = Value::Boolean(true);
                let first = if decides { decided } else { self.eval(frame, b)? };
                self.domain.begin_otherwise()?;
                let second = if decides { self.eval(frame, b)? } else { Value::Boolean(false) };
                let joined = self.joined(&first, &second)?;
                self.domain.end_branch()?;
                joined.ok_or_else(|| format!("a Boolean is expected here, not {}", kind(&first)).into())
            }
            a if known::boolean_of(&a)? == decides => Ok(Value::Boolean(decides)),
            _ => self.eval(frame, b),
        }
    }

    /// Evaluates `element` for all combinations of the iterators, the first one the fastest; gives their counts.
    fn iterate(
        &mut self,
        frame: &mut FrameOf<D>,
        element: &Expr,
        iterators: &[(LocalId, Expr)],
        values: &mut Vec<ValueOf<D>>,
    ) -> Result<Vec<usize>> {
        let Some(((iterator, range), faster)) = iterators.split_last() else {
            self.step()?;
            values.push(self.eval(frame, element)?);
            return Ok(Vec::new());
        };
        let items = self.eval(frame, range)?.into_parts();
        let count = items.len();
        let mut inner = vec![0; faster.len()];
        for item in items {
            *local_mut(frame, *iterator)? = item;
            inner = self.iterate(frame, element, faster, values)?;
        }
        inner.push(count);
        Ok(inner)
    }

    /// `{v for i in 1:0}` has the sizes of `v` behind its own: they are those for the first value of the range.
    fn no_elements(
        &mut self,
        frame: &mut FrameOf<D>,
        element: &Expr,
        iterators: &[(LocalId, Expr)],
        mut counts: Vec<usize>,
    ) -> Result<ValueOf<D>> {
        for (k, (iterator, range)) in iterators.iter().enumerate() {
            let first = match range {
                Expr::Range(start, ..) => self.eval(frame, start)?,
                other => self.eval(frame, other)?.into_parts().into_iter().next().unwrap_or(Value::Integer(1)),
            };
            *local_mut(frame, *iterator)? = first;
            if counts[k] == 0 && counts.iter().skip(k + 1).any(|&count| count == 0) {
                counts[k] = self.eval(frame, range).map_or(0, |range| range.sizes().first().copied().unwrap_or(0));
            }
        }
        let inner = self.eval(frame, element).map_or(Vec::new(), |element| element.sizes().to_vec());
        counts.reverse();
        Ok(empty(counts, &inner))
    }

    fn vectorized(&mut self, id: FunctionId, arguments: Vec<ValueOf<D>>, over: &[bool]) -> Result<ValueOf<D>> {
        let function = self.functions.get(id).ok_or("a function is called that does not exist")?;
        let mut loops: Option<Vec<usize>> = None;
        for (k, argument) in arguments.iter().enumerate().filter(|(k, _)| over.get(*k) == Some(&true)) {
            let own = function.inputs.get(k).and_then(|&input| function.locals.get(input)).map_or(0, |l| l.sizes.len());
            let sizes = argument.sizes();
            let outer = &sizes[..sizes.len().saturating_sub(own)];
            match &loops {
                Some(known) if known != outer => {
                    let name = function.name;
                    return Err(format!("`{name}` is applied to arrays of sizes {known:?} and {outer:?}").into());
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
                    Value::Array(array) if over.get(position) == Some(&true) => {
                        array.part(loops.len(), k).ok_or("an array is smaller than its sizes say")?
                    }
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
            _ => Err(different_sizes()),
        }
    }
}

fn different_sizes() -> Box<EvalError> {
    "the elements of an array have different sizes".into()
}
