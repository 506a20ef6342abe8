//! Inputs that a call leaves out, and fields that the constructor of a record does not get: their defaults, over the other
//! inputs and fields, given or not, wherever those stand in the text (12.4.1).

use base::{Diagnostic, Span};
use dae::Variability;
use dae::function::{ArrayFunction, LocalId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::substitute;
use super::{Typer, literal, walk, wrong};
use crate::functions::Signature;
use crate::typed::{Expr, Iterator, Kind, Local, Locals, Subscript, Type};

/// More parts than this in the defaults of one call come from defaults that read each other over and over.
const MOST_PARTS: usize = 300_000;

/// The values of the variables of a function or record that are known to a call.
pub(super) struct Known {
    given: FxHashSet<LocalId>,
    values: FxHashMap<LocalId, Expr>,
    busy: Vec<LocalId>,
    /// The parts of all defaults so far.
    parts: usize,
}

impl Known {
    pub(super) fn new(signature: &Signature, given: Vec<Option<Expr>>) -> Self {
        let inputs = signature.inputs.iter().zip(given);
        let values: FxHashMap<LocalId, Expr> =
            inputs.filter_map(|(input, value)| Some((input.local, value?))).collect();
        Self { given: values.keys().copied().collect(), values, busy: Vec::new(), parts: 0 }
    }

    pub(super) fn is_given(&self, local: LocalId) -> bool {
        self.given.contains(&local)
    }
}

/// Whether a default that is needed reads an argument that is spread over its elements.
pub(super) fn reads_spread_inputs(signature: &Signature, given: &[Option<Expr>], over: &[usize]) -> bool {
    let spread: Vec<LocalId> =
        signature.inputs.iter().zip(over).filter(|(_, extra)| **extra > 0).map(|(input, _)| input.local).collect();
    let mut open: Vec<&Expr> = signature
        .inputs
        .iter()
        .zip(given)
        .filter(|(_, value)| value.is_none())
        .filter_map(|(input, _)| input.default.as_ref())
        .collect();
    let mut seen: FxHashSet<LocalId> = FxHashSet::default();
    while let Some(default) = open.pop() {
        let mut read = Vec::new();
        walk(default, &mut |expr| read.extend(local_of(expr)));
        if read.iter().any(|local| spread.contains(local)) {
            return true;
        }
        let fresh = read.into_iter().filter(|&local| seen.insert(local));
        open.extend(fresh.filter_map(|local| {
            let input = signature.inputs.iter().position(|input| input.local == local);
            let is_given = input.is_some_and(|at| given[at].is_some());
            signature.fields.iter().find(|field| field.local == local && !is_given)?.default.as_ref()
        }));
    }
    false
}

fn local_of(expr: &Expr) -> Option<LocalId> {
    match expr.kind {
        Kind::Local(local) => Some(local),
        _ => None,
    }
}

/// How much an expression varies by what it reads. The variables of a function count as varying where the function is
/// declared, not where a call gives them values.
fn variability_of(expr: &Expr) -> Variability {
    let mut highest = Variability::Constant;
    walk(expr, &mut |part| match &part.kind {
        Kind::Component(_)
        | Kind::Time
        | Kind::Local(_)
        | Kind::SizeOfPart(..)
        | Kind::CallLocal(..)
        | Kind::LocalValue(..)
        | Kind::Operator(..) => highest = highest.max(part.variability),
        _ => {}
    });
    highest.min(expr.variability)
}

impl Typer<'_> {
    /// The value of a variable in a call: the argument, or its default with the values of what it reads.
    pub(super) fn value_of(&mut self, signature: &Signature, local: LocalId, known: &mut Known) -> Option<Expr> {
        if let Some(value) = known.values.get(&local) {
            return Some(value.clone());
        }
        let field = signature.fields.iter().find(|field| field.local == local)?;
        let default = field.default.as_ref()?;
        if known.busy.contains(&local) {
            let message = format!("the default of `{}` of `{}` depends on itself", field.name, signature.name);
            self.report(
                Diagnostic::error("cyclic-parameter", message).at(field.span, "declared here").specification("12.4.1"),
            );
            return None;
        }
        known.busy.push(local);
        let mut read = Vec::new();
        walk(default, &mut |expr| read.extend(local_of(expr)));
        read.sort();
        read.dedup();
        read.retain(|local| !known.values.contains_key(local));
        read.retain(|local| signature.fields.iter().any(|field| field.local == *local));
        let mut complete = true;
        for local in read {
            complete &=
                stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.value_of(signature, local, known)).is_some();
        }
        known.busy.pop();
        if !complete {
            return None;
        }
        let fresh = self.fresh_iterators(default, &signature.locals);
        let value = substitute(default, &|local| fresh.get(&local).or_else(|| known.values.get(&local)).cloned());
        walk(&value, &mut |_| known.parts += 1);
        if known.parts > MOST_PARTS {
            let message =
                format!("the defaults of `{}` read each other too often to be put into a call", signature.name);
            self.error(field.span, "too-large", message);
            return None;
        }
        let value = Expr { variability: variability_of(&value), ..value };
        known.values.insert(local, value.clone());
        Some(value)
    }

    /// Iterators of an expression that comes from another function, as iterators of this one.
    fn fresh_iterators(&mut self, expr: &Expr, from: &Locals) -> FxHashMap<LocalId, Expr> {
        let mut bound = Vec::new();
        walk(expr, &mut |e| {
            if let Kind::ArrayFor { iterators, .. } | Kind::Reduction { iterators, .. } = &e.kind {
                bound.extend(iterators.iter().map(|iterator| iterator.local));
            }
        });
        let mut fresh = FxHashMap::default();
        for local in bound {
            let Some(old) = from.get(local) else { continue };
            let (ty, span) = (old.ty.clone(), old.span);
            let new = self.locals.push(old.clone());
            fresh.insert(local, Expr { kind: Kind::Local(new), ty, variability: Variability::Parameter, span });
        }
        fresh
    }

    /// A call spread over elements of which a default reads an argument that is spread: an array of calls, each with the
    /// defaults of its own element.
    pub(super) fn call_for_each_element(
        &mut self,
        signature: &Signature,
        given: Vec<Option<Expr>>,
        over: &[usize],
        span: Span,
    ) -> Expr {
        let extra = over.iter().max().copied().unwrap_or(0);
        let spread = given.iter().zip(over).find_map(|(value, &extra)| value.as_ref().filter(|_| extra > 0));
        let Some(first) = spread.cloned() else { return wrong(span) };
        let mut iterators = Vec::with_capacity(extra);
        let mut subscripts = Vec::with_capacity(extra);
        for dimension in 0..extra {
            let local = self.locals.push(Local {
                name: base::Name::new("i"),
                ty: Type::INTEGER,
                sizes: Vec::new(),
                default: None,
                span,
            });
            let number = |value: i64| literal(Kind::Integer(value), Type::INTEGER, span);
            let at = number(dimension as i64 + 1);
            let variability = first.variability.min(Variability::Parameter);
            let size = Kind::Whole(ArrayFunction::Size, vec![first.clone(), at]);
            let size = Expr { kind: size, ty: Type::INTEGER, variability, span };
            let range = Kind::Range(Box::new(number(1)), None, Box::new(size));
            iterators.push(Iterator {
                local,
                range: Expr { kind: range, ty: Type::INTEGER.with_rank(1), variability, span },
            });
            subscripts.push(Subscript::Expr(Expr { kind: Kind::Local(local), ty: Type::INTEGER, variability, span }));
        }
        // The last iterator is the outermost dimension.
        iterators.reverse();
        let element = |(value, &extra): (Option<Expr>, &usize)| {
            value.map(|value| match extra {
                0 => value,
                _ => {
                    let ty = value.ty.with_rank(value.ty.rank - extra);
                    let variability = value.variability;
                    Expr { kind: Kind::Index(Box::new(value), subscripts.clone()), ty, variability, span }
                }
            })
        };
        let given: Vec<Option<Expr>> = given.into_iter().zip(over).map(element).collect();
        let call = super::first_output(self.call_with(signature, given, &vec![0; over.len()], span));
        let (ty, variability) = (call.ty.with_rank(call.ty.rank + extra), call.variability);
        Expr { kind: Kind::ArrayFor { element: Box::new(call), iterators }, ty, variability, span }
    }
}
