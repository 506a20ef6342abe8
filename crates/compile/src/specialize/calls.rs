//! Calls of functions from functions: of code made for the same arguments, or of the evaluator.

use std::sync::Arc;

use base::IdVec;
use dae::evaluate::{Evaluator, NoExternals};
use dae::function::{Body, Function};
use dae::{CallSite, FunctionId, Value};

use super::values::{chunk, generalize, is_known, leaves, map_leaves, replace_scalars, zero};
use super::{Instance, Made, Maker};
use crate::code::{Address, Op};

impl Maker<'_, '_> {
    pub(super) fn vectorized(&mut self, id: FunctionId, arguments: &[Value], over: &[bool]) -> Made {
        let function = self.special.functions.get(id).ok_or("no such function")?.clone();
        let mut loops: Option<Vec<usize>> = None;
        for (k, argument) in arguments.iter().enumerate().filter(|(k, _)| over.get(*k) == Some(&true)) {
            let own = function.inputs.get(k).map_or(0, |&input| function.locals[input].sizes.len());
            let sizes = argument.sizes();
            loops = Some(sizes[..sizes.len().saturating_sub(own)].to_vec());
        }
        let loops = loops.ok_or("nothing to vectorise over")?;
        let mut results = Vec::new();
        for k in 0..loops.iter().product() {
            let mut scalars = Vec::with_capacity(arguments.len());
            for (position, argument) in arguments.iter().enumerate() {
                scalars.push(match argument {
                    Value::Array(array) if over.get(position) == Some(&true) => chunk(array, loops.len(), k)?,
                    other => other.clone(),
                });
            }
            results.push(self.call(id, scalars)?.into_iter().next().ok_or("a function without output")?);
        }
        match Value::from_parts(results) {
            Some(Value::Array(array)) => {
                let inner = array.sizes.get(1..).unwrap_or(&[]);
                Ok(Value::array([&loops[..], inner].concat(), array.elements))
            }
            _ => Err("elements of different sizes".into()),
        }
    }

    pub(super) fn call(&mut self, id: FunctionId, arguments: Vec<Value>) -> Made<Vec<Value>> {
        let function = self.special.functions.get(id).ok_or("no such function")?.clone();
        if arguments.iter().all(is_known) && function.pure {
            let mut externals = NoExternals;
            let mut evaluator = Evaluator::new(self.special.functions, &mut externals);
            evaluator.steps_left = 100_000;
            if let Ok(outputs) = evaluator.call(id, arguments.clone()) {
                return Ok(outputs);
            }
        }
        match &function.body {
            Body::RecordConstructor => {
                let types = function.inputs.iter().map(|&input| &function.locals[input].ty);
                let fields = arguments.into_iter().zip(types).map(|(value, ty)| value.coerce(ty)).collect();
                return Ok(vec![Value::Record(fields)]);
            }
            Body::External(external) if external.language == "builtin" => {
                if let Some(op) = dae::evaluate::builtin_of(external.symbol.as_str()) {
                    return Ok(vec![self.builtin(op, arguments)?]);
                }
            }
            _ => {}
        }
        let mut given = Vec::with_capacity(arguments.len());
        for (argument, &input) in arguments.into_iter().zip(&function.inputs) {
            given.push(argument.coerce(&function.locals[input].ty));
        }
        let general: Vec<Value> = given.iter().cloned().map(|value| generalize(value, false)).collect();
        match self.special.instance(id, general) {
            Some(instance) => self.invoke(&instance, &given),
            // The evaluator gives no result by which a failure could be seen.
            None if function.outputs.is_empty() => Err("it calls a function for its effect".into()),
            None => self.outside(id, &function, given),
        }
    }

    fn invoke(&mut self, instance: &Instance, arguments: &[Value]) -> Made<Vec<Value>> {
        let mut scalars = Vec::new();
        arguments.iter().for_each(|argument| argument.clone().flatten_into(&mut scalars));
        // What is part of the specialisation has no place; the others come in the same order.
        let open = scalars.iter().filter(|scalar| matches!(scalar, Value::Object(_) | Value::Real(_)));
        let open: Vec<Value> = open.cloned().collect();
        let all_open = scalars.len() == instance.inputs.len();
        let sources = if all_open { scalars } else { open };
        if sources.len() != instance.inputs.len() {
            return Err("arguments do not fit the function".into());
        }
        let mut addresses = Vec::with_capacity(sources.len());
        for source in &sources {
            addresses.push(self.address(source)?);
        }
        for (&to, a) in instance.inputs.iter().zip(addresses) {
            self.push(Op::Move { to, a })?;
        }
        self.push(Op::Invoke { chunk: base::Id::index(instance.chunk) as u32 })?;
        let mut outputs = Vec::with_capacity(instance.outputs.len());
        for output in &instance.outputs {
            outputs.push(self.copy(output.clone())?);
        }
        Ok(outputs)
    }

    pub(super) fn copy(&mut self, value: Value) -> Made {
        let mut found = Vec::new();
        leaves(&value, &mut found);
        let first = self.temporaries(found.len() as u32);
        for (to, leaf) in (first..).zip(found) {
            self.push(Op::Move { to, a: leaf as Address })?;
        }
        let mut next = u64::from(first);
        Ok(map_leaves(value, &mut |_| {
            next += 1;
            next - 1
        }))
    }

    /// A call that the evaluator makes; the sizes of the outputs have to be known.
    pub(super) fn outside(
        &mut self,
        id: FunctionId,
        function: &Arc<Function>,
        arguments: Vec<Value>,
    ) -> Made<Vec<Value>> {
        let outputs = self.output_values(function, &arguments)?;
        let inputs = arguments.iter().map(Value::shape).collect();
        let shapes = outputs.iter().map(Value::shape).collect();
        let site = self.special.exprs.site(CallSite { function: id, inputs, outputs: shapes });
        let call = self.special.pool.call(self.special.exprs, site, false, &[]);
        let mut scalars = Vec::new();
        arguments.into_iter().for_each(|argument| argument.flatten_into(&mut scalars));
        let count: u32 = self.special.pool.calls[call as usize].results;
        let given = self.temporaries(scalars.len() as u32);
        for (to, scalar) in (given..).zip(&scalars) {
            let a = self.address(scalar)?;
            self.push(Op::Move { to, a })?;
        }
        let results = self.temporaries(count);
        self.push(Op::Call { call, arguments: given, results })?;
        let mut next = u64::from(results);
        let mut leaf = || {
            next += 1;
            Value::Object(next - 1)
        };
        outputs.iter().map(|output| replace_scalars(output, &mut leaf)).collect()
    }

    /// Values of the shapes of a function's outputs.
    fn output_values(&mut self, function: &Arc<Function>, arguments: &[Value]) -> Made<Vec<Value>> {
        let locals = IdVec::filled(None, function.locals.len());
        let outer = std::mem::replace(&mut self.locals, locals);
        let own = std::mem::replace(&mut self.function, function.clone());
        for (&input, argument) in function.inputs.iter().zip(arguments) {
            self.locals[input] = Some(argument.clone());
        }
        let values = function.outputs.iter().map(|&output| {
            let local = &function.locals[output];
            let sizes = self.sizes(&local.sizes)?;
            zero(&local.ty, &sizes)
        });
        let values = values.collect::<Made<Vec<_>>>();
        self.locals = outer;
        self.function = own;
        values
    }
}
