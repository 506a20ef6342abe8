//! Derivatives of calls, and of functions as values.
//!
//! The derivative of a function as a value is its tangent: it takes the inputs that are still open, then the derivatives of those
//! of them that have one.

use super::{Made, TangentBuilder, contains_reals, has_derivative, real_inputs};
use crate::differentiate::is_record_constructor;
use crate::function::{Body, Expr, FunctionId, FunctionType, LocalId, Type};

/// The function to call for a derivative, its arguments, and the inputs whose derivatives are among them.
pub(super) type DerivedCall = (FunctionId, Vec<Expr>, Vec<usize>);

impl TangentBuilder<'_> {
    /// The call of the derivative of a function; `None` if it is zero (unless `always`).
    pub(super) fn derived_call(&mut self, id: FunctionId, arguments: &[Expr], always: bool) -> Made<Option<Expr>> {
        if !self.scope().type_of(&Expr::Call(id, Vec::new())).is_some_and(|ty| contains_reals(&ty)) && !always {
            return Ok(None);
        }
        let Some(function) = self.functions.get(id).cloned() else { return self.fail("a function is missing") };
        if is_record_constructor(&function) {
            let mut any = always;
            let mut derived = Vec::with_capacity(arguments.len());
            for (input, argument) in function.inputs.iter().zip(arguments) {
                let real = function.locals.get(*input).is_some_and(|local| contains_reals(&local.ty));
                derived.push(if real {
                    let derivative = self.derivative_of(argument)?;
                    any |= derivative.is_some();
                    derivative.map_or_else(|| self.zero(argument), Ok)?
                } else {
                    argument.clone()
                });
            }
            return Ok(any.then_some(Expr::Call(id, derived)));
        }
        Ok(self.derived_arguments(id, arguments, always)?.map(|(target, arguments, _)| Expr::Call(target, arguments)))
    }

    /// Nothing if the derivative is zero (unless `always`).
    pub(super) fn derived_arguments(
        &mut self,
        id: FunctionId,
        arguments: &[Expr],
        always: bool,
    ) -> Made<Option<DerivedCall>> {
        let Some(function) = self.functions.get(id).cloned() else { return self.fail("a function is missing") };
        let mut narrowed = Vec::with_capacity(arguments.len());
        for (k, argument) in arguments.iter().enumerate() {
            let input = function.inputs.get(k).and_then(|&input| function.locals.get(input));
            narrowed.push(match input.map(|local| &local.ty) {
                Some(Type::Function(wanted)) => self.fitting(argument, wanted)?,
                _ => argument.clone(),
            });
        }
        let arguments = narrowed;
        // An argument may have no derivative where an annotation asks for none.
        let mut derivatives: Vec<Made<Option<Expr>>> =
            arguments.iter().map(|argument| self.derivative_of(argument)).collect();
        let is_zero = |derivative: &Made<Option<Expr>>| matches!(derivative, Ok(None));
        if derivatives.iter().all(is_zero) && !always {
            return Ok(None);
        }
        let is_constant = |input: u32| derivatives.get(input as usize).is_none_or(is_zero);
        let (target, inputs) = match self.differentiator.annotated(self.functions, id, is_constant) {
            Some(found) => found,
            None => {
                let constant: Vec<usize> = (0..derivatives.len()).filter(|&k| is_zero(&derivatives[k])).collect();
                (self.differentiator.tangent_with(self.functions, id, &constant)?, real_inputs(&function))
            }
        };
        let mut all = arguments.clone();
        // Derivatives stand behind all inputs, so those with defaults are given too.
        for &input in function.inputs.iter().skip(arguments.len()) {
            match function.locals.get(input).and_then(|local| local.default.clone()) {
                Some(default) if is_literal(&default) => all.push(default),
                _ => return self.fail(format!("an input of `{}` is left to its default", function.name)),
            }
        }
        for &k in &inputs {
            let Some(argument) = all.get(k).cloned() else { continue };
            let derivative = derivatives.get_mut(k).map_or(Ok(None), |given| std::mem::replace(given, Ok(None)))?;
            all.push(derivative.map_or_else(|| self.zero(&argument), Ok)?);
        }
        Ok(Some((target, all, inputs)))
    }

    /// A call of an input that is a function; `None` if no derivative comes out.
    pub(super) fn derived_local_call(&mut self, local: LocalId, arguments: &[Expr]) -> Made<Option<Expr>> {
        let Some(derivative) = self.derivative_local(local) else { return Ok(None) };
        let Some(ty) = self.function_type(local) else { return self.fail("what is called is no function") };
        let mut all = arguments.to_vec();
        for (argument, _) in arguments.iter().zip(&ty.inputs).filter(|(_, input)| has_derivative(&input.ty)) {
            all.push(self.full_derivative(argument)?);
        }
        Ok(Some(Expr::CallLocal(derivative, all)))
    }

    fn function_type(&self, local: LocalId) -> Option<std::sync::Arc<FunctionType>> {
        match &self.locals.get(local)?.ty {
            Type::Function(ty) => Some(ty.clone()),
            _ => None,
        }
    }

    /// The tangent of a function as a value; `None` where what it is given is constant (unless `always`).
    pub(super) fn function_value(&mut self, id: FunctionId, given: &[(u32, Expr)], always: bool) -> Made<Option<Expr>> {
        let Some(function) = self.functions.get(id).cloned() else { return self.fail("a function is missing") };
        let inputs = real_inputs(&function);
        let count = function.inputs.len();
        let Some(given) = self.derived_given(given, count, &inputs, always)? else { return Ok(None) };
        // What an annotation takes is another list of inputs; a function around the call has all of them.
        let is_plain = matches!(function.body, Body::Algorithm(_)) && function.derivatives.is_empty();
        let called = match is_plain {
            true => Some(id),
            false => self.differentiator.narrowed(self.functions, id, (0..count as u32).collect()),
        };
        let Some(called) = called else { return self.fail("a function is missing") };
        let tangent = self.differentiator.tangent(self.functions, called)?;
        Ok(Some(Expr::FunctionValue(tangent, given)))
    }

    /// The same for an input that is a function and gets more of its inputs.
    pub(super) fn local_value(&mut self, local: LocalId, given: &[(u32, Expr)]) -> Made<Option<Expr>> {
        let Some(derivative) = self.derivative_local(local) else { return Ok(None) };
        let Some(ty) = self.function_type(local) else { return self.fail("what gets inputs is no function") };
        let inputs: Vec<usize> = (0..ty.inputs.len()).filter(|&k| has_derivative(&ty.inputs[k].ty)).collect();
        let given = self.derived_given(given, ty.inputs.len(), &inputs, true)?;
        Ok(given.map(|given| Expr::LocalValue(derivative, given)))
    }

    /// The inputs that are given and their derivatives, which stand behind all inputs in the order of those that have one.
    fn derived_given(
        &mut self,
        given: &[(u32, Expr)],
        count: usize,
        inputs: &[usize],
        always: bool,
    ) -> Made<Option<Vec<(u32, Expr)>>> {
        let mut any = always;
        let mut all = given.to_vec();
        for (at, value) in given {
            let Some(rank) = inputs.iter().position(|&input| input == *at as usize) else { continue };
            let derivative = self.derivative_of(value)?;
            any |= derivative.is_some();
            all.push(((count + rank) as u32, derivative.map_or_else(|| self.zero(value), Ok)?));
        }
        Ok(any.then_some(all))
    }

    /// A function as an argument with exactly the open inputs that are wanted: the others keep their defaults.
    fn fitting(&mut self, argument: &Expr, wanted: &FunctionType) -> Made<Expr> {
        let Expr::FunctionValue(id, given) = argument else { return Ok(argument.clone()) };
        let count = self.functions.get(*id).map_or(0, |function| function.inputs.len()) as u32;
        let is_given = |at: &u32| given.iter().any(|(known, _)| known == at);
        let open = (0..count).filter(|at| !is_given(at)).take(wanted.inputs.len());
        let mut kept: Vec<u32> = open.chain(given.iter().map(|(at, _)| *at)).collect();
        if kept.len() == count as usize {
            return Ok(argument.clone());
        }
        kept.sort_unstable();
        let Some(made) = self.differentiator.narrowed(self.functions, *id, kept.clone()) else {
            return self.fail("a function is missing");
        };
        let place = |at: u32| kept.iter().position(|&known| known == at).unwrap_or(0) as u32;
        Ok(Expr::FunctionValue(made, given.iter().map(|(at, value)| (place(*at), value.clone())).collect()))
    }
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr, Expr::Real(_) | Expr::Integer(_) | Expr::Boolean(_) | Expr::String(_) | Expr::Enumeration(..))
}
