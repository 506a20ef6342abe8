//! Functions in other languages that take and give numbers only, such as table lookups: called without the evaluator.

use dae::expr::Shape;
use dae::function::{Body, Expr, Function};
use dae::{CallSite, Functions};
use native::{Lookup, Native};

use crate::lower::CallEntry;

#[derive(Clone, Debug)]
pub struct LookupCall {
    function: Lookup,
    /// Which scalar of the call is which argument.
    arguments: Vec<u32>,
}

impl LookupCall {
    /// `None` where the call needs more than numbers.
    pub fn new(functions: &Functions, site: &CallSite, entry: &CallEntry) -> Option<Self> {
        let scalar = |shapes: &[Shape]| shapes.iter().all(|shape| *shape == Shape::Scalar);
        if !scalar(&site.inputs) || !scalar(&site.outputs) || site.outputs.len() != 1 {
            return None;
        }
        let count = site.inputs.len();
        let (function, taken): (&Function, &[usize]) = match (&entry.tangent_function, entry.tangent) {
            (Some((tangent, taken)), true) => (functions.get(*tangent)?, taken),
            (None, true) => return None,
            (_, false) => (functions.get(site.function)?, &[]),
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
