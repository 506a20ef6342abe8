//! Derivatives that the annotation `derivative` of a function names (specification 12.7.1).
//!
//! An annotation counts only if the inputs and outputs of its function are those that 12.7.1 asks for: `misfit` says what is
//! wrong otherwise. The derivative of a record there holds its Reals alone, that of a tangent has all fields. A function around
//! the call of the derivative function makes the one from the other, so that callers know one interface only.

use std::sync::Arc;

use base::{Name, Span};

use super::helpers::{Draft, apply, boxed, known};
use super::{contains_reals, has_derivative};
use crate::differentiate::Differentiator;
use crate::function::{
    Accessor, DerivativeAnnotation, Expr, Field, Function, FunctionId, Functions, Local, LocalId, RecordType,
    StatementKind, Target, Type,
};

/// The inputs that have a derivative.
pub fn real_inputs(function: &Function) -> Vec<usize> {
    let type_of = |k: usize| function.locals.get(function.inputs[k]).map(|local| &local.ty);
    (0..function.inputs.len()).filter(|&k| type_of(k).is_some_and(has_derivative)).collect()
}

impl Differentiator {
    /// The function that gives the derivative according to an annotation, and the inputs whose derivatives it takes.
    /// `is_constant` returns whether the derivative of an input is known to be zero.
    pub fn annotated(
        &mut self,
        functions: &mut Functions,
        id: FunctionId,
        is_constant: impl Fn(u32) -> bool,
    ) -> Option<(FunctionId, Vec<usize>)> {
        self.annotated_up_to(functions, id, is_constant, u32::MAX)
    }

    /// The same for a direction in which inputs change independently of each other. An annotation of higher order says nothing
    /// about it: its function takes what the lower order appended for the derivatives of the other inputs.
    pub fn annotated_along_direction(
        &mut self,
        functions: &mut Functions,
        id: FunctionId,
    ) -> Option<(FunctionId, Vec<usize>)> {
        self.annotated_up_to(functions, id, |_| false, 1)
    }

    fn annotated_up_to(
        &mut self,
        functions: &mut Functions,
        id: FunctionId,
        is_constant: impl Fn(u32) -> bool,
        highest: u32,
    ) -> Option<(FunctionId, Vec<usize>)> {
        let function = functions.get(id)?.clone();
        // An annotation takes no derivative of a function that is an input.
        let needs = |k: usize| is_function(&function, k) && !is_constant(k as u32);
        let reals = real_inputs(&function);
        for annotation in function.derivatives.iter().filter(|annotation| annotation.order <= highest) {
            let Some(taken) = taken_inputs(functions, id, annotation) else { continue };
            if annotation.zero_derivative.iter().all(|&input| is_constant(input))
                && !reals.iter().any(|&k| needs(k) && !excludes(annotation, k))
                && misfit(functions, id, annotation).is_none()
            {
                let target = self.with_whole_records(functions, id, annotation.function, &taken)?;
                return Some((target, taken));
            }
        }
        None
    }

    /// A function with the interface of a tangent around a derivative function; that one itself if it has this interface.
    fn with_whole_records(
        &mut self,
        functions: &mut Functions,
        id: FunctionId,
        derivative: FunctionId,
        taken: &[usize],
    ) -> Option<FunctionId> {
        let key = (id, derivative);
        if let Some(made) = known(&self.helpers.whole_records, &key) {
            return Some(made);
        }
        let (original, called) = (functions.get(id)?.clone(), functions.get(derivative)?.clone());
        let count = original.inputs.len();
        let outputs: Vec<LocalId> =
            original.outputs.iter().copied().filter(|&output| contains_reals(&original.locals[output].ty)).collect();
        let given = taken.iter().map(|&k| original.inputs[k]).zip(called.inputs.iter().copied().skip(count));
        let pairs: Vec<(LocalId, LocalId)> = given.chain(outputs.iter().copied().zip(called.outputs.clone())).collect();
        if pairs.iter().all(|&(own, other)| is_same(&original.locals[own].ty, &called.locals[other].ty)) {
            return Some(derivative);
        }
        let mut draft = Draft::with_locals(original.locals.clone(), original.span);
        original.outputs.iter().for_each(|&output| draft.locals[output].default = None);
        draft.inputs.clone_from(&original.inputs);
        let mut arguments: Vec<Expr> = original.inputs.iter().map(|&input| Expr::Local(input)).collect();
        for (&(own, other), _) in pairs.iter().zip(taken) {
            let local = derivative_of(&mut draft, own);
            draft.inputs.push(local);
            let (from, to) = (&original.locals[own], &called.locals[other]);
            arguments.push(self.reduced(functions, from, to, Expr::Local(local)));
        }
        let mut targets = Vec::with_capacity(outputs.len());
        let mut rest = Vec::new();
        for &(own, other) in &pairs[taken.len()..] {
            let output = derivative_of(&mut draft, own);
            draft.outputs.push(output);
            let (whole, part) = (&original.locals[own].ty, &called.locals[other].ty);
            let (Type::Record(whole), Type::Record(part)) = (whole, part) else {
                targets.push(Some(Target { local: output, steps: Vec::new() }));
                continue;
            };
            let dimensions = original.locals[own].sizes.len();
            let name = format!("reals_{}", original.locals[own].name);
            let reals = draft.local(&name, Type::Record(part.clone()), vec![None; dimensions]);
            targets.push(Some(Target { local: reals, steps: Vec::new() }));
            let completed = self.completed(functions, whole, part, original.span);
            let value = apply_to(completed, vec![Expr::Local(own), Expr::Local(reals)], dimensions);
            rest.push(draft.assign(output, value));
        }
        let mut body = vec![draft.statement(StatementKind::AssignSeveral(targets, Expr::Call(derivative, arguments)))];
        if !rest.is_empty() {
            // Fields that are not Reals repeat those of the results themselves.
            let targets = original.outputs.iter().map(|&local| Some(Target { local, steps: Vec::new() })).collect();
            let inputs = original.inputs.iter().map(|&input| Expr::Local(input)).collect();
            body.push(draft.statement(StatementKind::AssignSeveral(targets, Expr::Call(id, inputs))));
        }
        body.extend(rest);
        let made = draft.finish(functions, &format!("whole_{}", called.name), body);
        self.helpers.whole_records.push((key, made));
        Some(made)
    }

    /// The fields of a derivative that the record of a derivative function has.
    fn reduced(&mut self, functions: &mut Functions, from: &Local, to: &Local, value: Expr) -> Expr {
        match (&from.ty, &to.ty) {
            (Type::Record(whole), Type::Record(part)) if !is_same(&from.ty, &to.ty) => {
                let made = self.reduction(functions, whole, part, from.span);
                apply(made, value, from.sizes.len())
            }
            _ => value,
        }
    }

    fn reduction(
        &mut self,
        functions: &mut Functions,
        whole: &Arc<RecordType>,
        part: &Arc<RecordType>,
        at: Span,
    ) -> FunctionId {
        let key = (whole.clone(), part.clone());
        if let Some(id) = known(&self.helpers.reductions, &key) {
            return id;
        }
        let mut draft = Draft::new(at);
        let given = draft.input("r", Type::Record(whole.clone()), Vec::new());
        let result = draft.output("d", Type::Record(part.clone()), Vec::new());
        let places = places(whole, part).unwrap_or_default();
        let mut values = Vec::with_capacity(places.len());
        for (&k, wanted) in places.iter().zip(&part.fields) {
            let value = Expr::Field(boxed(given), k as u32);
            values.push(match (&whole.fields[k].ty, &wanted.ty) {
                (Type::Record(inner), Type::Record(wanted_inner)) => {
                    let made = grown(|| self.reduction(functions, inner, wanted_inner, at));
                    apply(made, value, wanted.sizes.len())
                }
                _ => value,
            });
        }
        let body = draft.assign(result, Expr::Record(part.clone(), values));
        let id = draft.finish(functions, &format!("reals_of_{}", whole.name), vec![body]);
        self.helpers.reductions.push((key, id));
        id
    }

    /// A function that puts the fields of the record of a derivative function in the place of those of a whole record.
    fn completed(
        &mut self,
        functions: &mut Functions,
        whole: &Arc<RecordType>,
        part: &Arc<RecordType>,
        at: Span,
    ) -> FunctionId {
        let key = (whole.clone(), part.clone());
        if let Some(id) = known(&self.helpers.completions, &key) {
            return id;
        }
        let mut draft = Draft::new(at);
        let given = draft.input("r", Type::Record(whole.clone()), Vec::new());
        let reals = draft.input("d", Type::Record(part.clone()), Vec::new());
        let result = draft.output("c", Type::Record(whole.clone()), Vec::new());
        let mut body = vec![draft.assign(result, Expr::Local(given))];
        for (position, k) in places(whole, part).unwrap_or_default().into_iter().enumerate() {
            let mut value = Expr::Field(boxed(reals), position as u32);
            if let (Type::Record(inner), Type::Record(wanted)) = (&whole.fields[k].ty, &part.fields[position].ty) {
                let made = grown(|| self.completed(functions, inner, wanted, at));
                let own = Expr::Field(boxed(given), k as u32);
                value = apply_to(made, vec![own, value], whole.fields[k].sizes.len());
            }
            let target = Target { local: result, steps: vec![Accessor::Field(k as u32)] };
            body.push(draft.statement(StatementKind::Assign(target, value)));
        }
        let id = draft.finish(functions, &format!("derivative_of_{}", whole.name), body);
        self.helpers.completions.push((key, id));
        id
    }
}

fn grown<T>(make: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, make)
}

/// The local for the derivative of another one.
fn derivative_of(draft: &mut Draft, local: LocalId) -> LocalId {
    let Local { name, ty, sizes, .. } = draft.locals[local].clone();
    draft.local(&format!("der_{name}"), ty, sizes)
}

/// A function of scalars, applied to the elements of values that all have that many dimensions.
fn apply_to(function: FunctionId, arguments: Vec<Expr>, dimensions: usize) -> Expr {
    match dimensions {
        0 => Expr::Call(function, arguments),
        _ => Expr::Vectorized { function, over: vec![true; arguments.len()], arguments },
    }
}

fn is_function(function: &Function, input: usize) -> bool {
    let local = function.inputs.get(input).and_then(|&input| function.locals.get(input));
    local.is_some_and(|local| matches!(local.ty, Type::Function(_)))
}

fn excludes(annotation: &DerivativeAnnotation, input: usize) -> bool {
    let input = input as u32;
    annotation.zero_derivative.contains(&input) || annotation.no_derivative.contains(&input)
}

/// The inputs whose derivatives the function of an annotation takes. `None` for an annotation of higher order that does not
/// stand with the derivative of the order below.
fn taken_inputs(functions: &Functions, id: FunctionId, annotation: &DerivativeAnnotation) -> Option<Vec<usize>> {
    let function = functions.get(id)?;
    // A derivative of higher order stands with the one below it, and appends the derivatives of what that appended.
    let first = match annotation.order {
        0 | 1 => 0,
        order => base_inputs(functions, id, order - 1)?,
    };
    let is_taken = |&k: &usize| k >= first && !excludes(annotation, k) && !is_function(function, k);
    Some(real_inputs(function).into_iter().filter(is_taken).collect())
}

/// How many inputs the function has of which `id` is the derivative of this order.
fn base_inputs(functions: &Functions, id: FunctionId, order: u32) -> Option<usize> {
    functions
        .values()
        .find(|function| function.derivatives.iter().any(|a| a.function == id && a.order.max(1) == order))
        .map(|function| function.inputs.len())
}

/// Why the function of an annotation cannot be the derivative of a function that the annotation says it is.
pub fn misfit(functions: &Functions, id: FunctionId, annotation: &DerivativeAnnotation) -> Option<String> {
    let taken = taken_inputs(functions, id, annotation)?;
    let (function, derivative) = (functions.get(id)?, functions.get(annotation.function)?);
    let inputs = locals(function, &function.inputs);
    let given = locals(derivative, &derivative.inputs);
    let wanted = inputs.len() + taken.len();
    if given.len() != wanted {
        return Some(format!(
            "it has {} where {wanted} are needed: those of `{}`, then the derivatives of {}",
            counted(given.len(), "input"),
            function.name,
            listed(&taken.iter().map(|&k| inputs[k].name).collect::<Vec<_>>())
        ));
    }
    for (k, (own, other)) in inputs.iter().zip(&given).enumerate() {
        if own.name != other.name && given.iter().any(|other| other.name == own.name) {
            return Some(format!("its inputs `{}` and `{}` stand in another order", own.name, other.name));
        }
        if !passes(&own.ty, &other.ty) || own.sizes.len() != other.sizes.len() {
            return Some(format!("its input {}, `{}`, has another type than `{}`", k + 1, other.name, own.name));
        }
    }
    for (&k, other) in taken.iter().zip(&given[inputs.len()..]) {
        if !is_derivative(inputs[k], other) {
            return Some(format!("its input `{}` cannot be the derivative of `{}`", other.name, inputs[k].name));
        }
    }
    let mut outputs = locals(function, &function.outputs);
    outputs.retain(|output| contains_reals(&output.ty));
    let results = locals(derivative, &derivative.outputs);
    if results.len() != outputs.len() {
        return Some(format!(
            "it has {} where {} {} needed: the derivatives of {}",
            counted(results.len(), "output"),
            outputs.len(),
            if outputs.len() == 1 { "is" } else { "are" },
            listed(&outputs.iter().map(|output| output.name).collect::<Vec<_>>())
        ));
    }
    let wrong = outputs.iter().zip(&results).find(|(own, other)| !is_derivative(own, other))?;
    Some(format!("its output `{}` cannot be the derivative of `{}`", wrong.1.name, wrong.0.name))
}

fn locals<'f>(function: &'f Function, ids: &[LocalId]) -> Vec<&'f Local> {
    ids.iter().filter_map(|&id| function.locals.get(id)).collect()
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn listed(names: &[Name]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}

/// Whether a value of one type may be given to an input of another.
fn passes(from: &Type, to: &Type) -> bool {
    matches!((from, to), (Type::Integer, Type::Real)) || is_same(from, to)
}

/// Whether two types have the same values. The names of records do not matter.
fn is_same(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Record(a), Type::Record(b)) => {
            let same = |(a, b): (&Field, &Field)| a.name == b.name && is_same(&a.ty, &b.ty) && agree(a, b);
            a.fields.len() == b.fields.len() && a.fields.iter().zip(&b.fields).all(same)
        }
        (Type::Enumeration(a), Type::Enumeration(b)) => a.literals == b.literals,
        (Type::Object(_), Type::Object(_)) | (Type::Function(_), Type::Function(_)) => true,
        (a, b) => a == b,
    }
}

/// Whether the sizes of two fields can be the same.
fn agree(a: &Field, b: &Field) -> bool {
    let agree = |(a, b): (&Option<usize>, &Option<usize>)| a.is_none() || b.is_none() || a == b;
    a.sizes.len() == b.sizes.len() && a.sizes.iter().zip(&b.sizes).all(agree)
}

fn is_derivative(own: &Local, other: &Local) -> bool {
    own.sizes.len() == other.sizes.len() && is_derivative_type(&own.ty, &other.ty)
}

fn is_derivative_type(own: &Type, other: &Type) -> bool {
    match (own, other) {
        (Type::Record(whole), Type::Record(part)) => places(whole, part).is_some(),
        (own, other) => *own == Type::Real && *other == Type::Real,
    }
}

/// For each field of the record of a derivative the field that it is the derivative of, by name: all that hold Reals have one.
/// Others may be repeated.
fn places(whole: &RecordType, part: &RecordType) -> Option<Vec<usize>> {
    let mut found = Vec::with_capacity(part.fields.len());
    for field in &part.fields {
        let k = whole.fields.iter().position(|own| own.name == field.name)?;
        let own = &whole.fields[k];
        let fits = match contains_reals(&own.ty) {
            true => grown(|| is_derivative_type(&own.ty, &field.ty)),
            false => is_same(&own.ty, &field.ty),
        };
        if !fits || !agree(own, field) {
            return None;
        }
        found.push(k);
    }
    let is_missing = |(k, own): (usize, &Field)| contains_reals(&own.ty) && !found.contains(&k);
    (!whole.fields.iter().enumerate().any(is_missing)).then_some(found)
}
