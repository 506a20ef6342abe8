//! Calls of functions from functions: of code made for the same arguments, or of the interpreter.

use dae::evaluate::Evaluator;
use dae::execute::Executor;
use dae::function::{Body, Function, Type};
use dae::known::Outcome;
use dae::value::Never;
use dae::{CallSite, FunctionId, Functions, Value};
use native::Stateless;

use super::domain::Addresses;
use super::{Instance, Scalars, generalize, is_open, replace_scalars};
use crate::code::Op;

impl Addresses<'_, '_> {
    /// The outputs of a call; `None` where the executor itself runs the body.
    pub(super) fn called(
        &mut self,
        functions: &Functions,
        id: FunctionId,
        arguments: &[Scalars],
    ) -> Outcome<Option<Vec<Scalars>>> {
        let function = functions.get(id).ok_or("no such function")?.clone();
        if function.pure
            && let Some(known) = arguments.iter().map(known).collect::<Option<Vec<_>>>()
            && let Some(outputs) = self.evaluated(functions, id, known)
        {
            return Ok(Some(outputs));
        }
        match &function.body {
            Body::RecordConstructor => return Ok(None),
            Body::External(external) if external.language == "builtin" => return Ok(None),
            _ => {}
        }
        let mut given = Vec::with_capacity(arguments.len());
        for (argument, &input) in arguments.iter().zip(&function.inputs) {
            given.push(argument.clone().coerce(&function.locals[input].ty));
        }
        let general: Vec<Scalars> = given.iter().map(|value| generalize(value, false)).collect();
        match self.special.instance(id, general) {
            Some(instance) => self.invoke(&instance, &given).map(Some),
            // The interpreter gives no result by which a failure could be seen.
            None if function.outputs.is_empty() => Err("it calls a function for its effect".into()),
            None => self.outside(functions, id, &function, given).map(Some),
        }
    }

    fn evaluated(&self, functions: &Functions, id: FunctionId, known: Vec<Value>) -> Option<Vec<Scalars>> {
        let mut externals = Stateless;
        let mut evaluator = Evaluator::new(functions, &mut externals);
        evaluator.steps_left = 100_000;
        let outputs = evaluator.call(id, known).ok()?;
        // A warning belongs to the run.
        if !evaluator.domain.warnings.is_empty() {
            return None;
        }
        outputs.iter().map(widened).collect()
    }

    fn invoke(&mut self, instance: &Instance, arguments: &[Scalars]) -> Outcome<Vec<Scalars>> {
        let mut scalars = Vec::new();
        arguments.iter().for_each(|argument| argument.clone().flatten_into(&mut scalars));
        // What is part of the specialisation has no place; the others come in the same order.
        scalars.retain(|scalar| is_open(scalar, instance.general));
        if scalars.len() != instance.inputs.len() {
            return Err("arguments do not fit the function".into());
        }
        let mut sources = Vec::with_capacity(scalars.len());
        for scalar in &scalars {
            sources.push(self.address(scalar)?);
        }
        for (&to, a) in instance.inputs.iter().zip(sources) {
            self.push(Op::Move { to, a })?;
        }
        self.push(Op::Invoke { chunk: base::Id::index(instance.chunk) as u32 })?;
        if let Some(doubt) = instance.doubt {
            self.add_doubt(doubt)?;
        }
        instance.outputs.iter().map(|output| self.copied(output)).collect()
    }

    /// A value that the next call of the same function does not change.
    fn copied(&mut self, value: &Scalars) -> Outcome<Scalars> {
        value.try_map(&mut |scalar| match scalar {
            Scalars::Open(a, kind) => {
                let to = self.temporaries(1);
                self.push(Op::Move { to, a: *a })?;
                Ok(Scalars::Open(to, *kind))
            }
            other => Ok(other.clone()),
        })
    }

    /// A call that the interpreter makes; the sizes of the outputs have to be known.
    fn outside(
        &mut self,
        functions: &Functions,
        id: FunctionId,
        function: &Function,
        arguments: Vec<Scalars>,
    ) -> Outcome<Vec<Scalars>> {
        if arguments.len() != function.inputs.len() {
            return Err("a default of an input".into());
        }
        // The interpreter frees it when the function returns.
        if function.outputs.iter().any(|&output| matches!(function.locals[output].ty, Type::Object(_))) {
            return Err("it makes an external object".into());
        }
        // The code that sizes would take is thrown away.
        let sizes = Addresses::new(self.special);
        let outputs = Executor::over(functions, sizes).declared_outputs(function, arguments.clone());
        let outputs = outputs.map_err(|error| error.to_string())?;
        let inputs = arguments.iter().map(Value::shape).collect();
        let shapes = outputs.iter().map(Value::shape).collect();
        let site = self.special.exprs.site(CallSite { function: id, inputs, outputs: shapes });
        let call = self.special.pool.interpreted_call(self.special.exprs, site);
        let mut scalars = Vec::new();
        arguments.into_iter().for_each(|argument| argument.flatten_into(&mut scalars));
        let count: u32 = self.special.pool.calls[call as usize].results;
        let given = self.temporaries(scalars.len() as u32);
        for (to, scalar) in (given..).zip(&scalars) {
            self.write(to, scalar)?;
        }
        let results = self.temporaries(count);
        self.push(Op::Call { call, arguments: given, results })?;
        let mut next = results;
        let mut leaf = |kind| {
            next += 1;
            Scalars::Open(next - 1, kind)
        };
        outputs.iter().map(|output| replace_scalars(output, &mut leaf)).collect()
    }
}

/// The value without addresses, if it has none.
fn known(value: &Scalars) -> Option<Value> {
    value
        .try_map::<Never, ()>(&mut |scalar| {
            Ok(match scalar {
                Scalars::Real(value) => Value::Real(*value),
                Scalars::Integer(value) => Value::Integer(*value),
                Scalars::Boolean(value) => Value::Boolean(*value),
                Scalars::String(text) => Value::String(text.clone()),
                Scalars::Enumeration(value) => Value::Enumeration(*value),
                _ => return Err(()),
            })
        })
        .ok()
}

fn widened(value: &Value) -> Option<Scalars> {
    value
        .try_map::<crate::code::Address, ()>(&mut |scalar| {
            Ok(match scalar {
                Value::Real(value) => Scalars::Real(*value),
                Value::Integer(value) => Scalars::Integer(*value),
                Value::Boolean(value) => Scalars::Boolean(*value),
                Value::String(text) => Scalars::String(text.clone()),
                Value::Enumeration(value) => Scalars::Enumeration(*value),
                _ => return Err(()),
            })
        })
        .ok()
}
