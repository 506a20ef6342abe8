//! Functions in other languages that take and give numbers only, such as table lookups: called without the evaluator.

use std::sync::Arc;

use dae::expr::Shape;
use dae::function::{Body, Expr, Function};
use dae::{CallSite, FunctionId, Functions};
use native::{Lookup, Native};

#[derive(Clone, Debug)]
pub struct LookupCall {
    function: Lookup,
    /// Which scalar of the call is which argument.
    arguments: Vec<u32>,
}

impl LookupCall {
    /// `tangent` is the function that gives tangents, where they are wanted, and the inputs whose tangents it takes. `None` where the
    /// call needs more than numbers.
    pub fn new(functions: &Functions, site: &CallSite, tangent: Option<&(FunctionId, Arc<[usize]>)>) -> Option<Self> {
        let scalar = |shapes: &[Shape]| shapes.iter().all(|shape| *shape == Shape::Scalar);
        if !scalar(&site.inputs) || !scalar(&site.outputs) || site.outputs.len() != 1 {
            return None;
        }
        let count = site.inputs.len();
        let (function, taken): (&Function, &[usize]) = match tangent {
            Some((tangent, taken)) => (functions.get(*tangent)?, taken),
            None => (functions.get(site.function)?, &[]),
        };
        let Body::External(external) = &function.body else { return None };
        let result = external.result.as_ref()?;
        if function.outputs != [result.local] || !result.steps.is_empty() {
            return None;
        }
        let mut arguments = Vec::with_capacity(external.arguments.len());
        for argument in &external.arguments {
            let Expr::Local(local) = argument else { return None };
            let position = function.inputs.iter().position(|input| input == local)?;
            arguments.push(match position.checked_sub(count) {
                None => position as u32,
                Some(behind) => (count + taken.get(behind)?) as u32,
            });
        }
        Some(Self { function: native::resolve(external.symbol.as_str())?, arguments })
    }

    pub fn call(&self, native: &Native, given: &[f64]) -> Result<f64, String> {
        let mut numbers = [0.0; 16];
        let numbers = numbers.get_mut(..self.arguments.len()).ok_or("too many arguments")?;
        for (number, &argument) in numbers.iter_mut().zip(&self.arguments) {
            *number = given[argument as usize];
        }
        (self.function)(native, numbers)
    }
}
