//! Functions that stand for operations whose derivative is that of a loop, and functions around calls.

use std::sync::Arc;

use base::{IdVec, Name, Span};

use super::contains_reals;
use crate::differentiate::Differentiator;
use crate::expr::{Builtin, CallSite, CompareOp, Shape};
use crate::function::{
    Accessor, ArithmeticOp, ArrayFunction, Body, Expr, Function, FunctionId, Functions, Inline, Local, LocalId,
    RecordType, ReductionOp, Statement, StatementKind, Subscript, Target, Type,
};

/// A record and that of its derivative.
type RecordPair = (Arc<RecordType>, Arc<RecordType>);

/// What has been made, each once.
#[derive(Clone, Default)]
pub struct Helpers {
    folds: Vec<((ReductionOp, usize), FunctionId)>,
    builtins: Vec<((Builtin, usize), FunctionId)>,
    zeros: Vec<(Arc<RecordType>, FunctionId)>,
    matrix_power: Option<FunctionId>,
    ratio: Option<FunctionId>,
    /// A function with some of its inputs left to their defaults.
    narrowed: Vec<((FunctionId, Vec<u32>), FunctionId)>,
    sites: Vec<(CallSite, FunctionId)>,
    /// Functions around the derivative functions of annotations, by the function and its derivative.
    pub(super) whole_records: Vec<((FunctionId, FunctionId), FunctionId)>,
    pub(super) reductions: Vec<(RecordPair, FunctionId)>,
    pub(super) completions: Vec<(RecordPair, FunctionId)>,
}

pub(super) fn known<K: PartialEq>(made: &[(K, FunctionId)], key: &K) -> Option<FunctionId> {
    made.iter().find(|(other, _)| other == key).map(|(_, id)| *id)
}

/// A function in the making.
pub(super) struct Draft {
    pub(super) locals: IdVec<LocalId, Local>,
    pub(super) inputs: Vec<LocalId>,
    pub(super) outputs: Vec<LocalId>,
    span: Span,
}

impl Draft {
    pub(super) fn new(span: Span) -> Self {
        Self::with_locals(IdVec::new(), span)
    }

    pub(super) fn with_locals(locals: IdVec<LocalId, Local>, span: Span) -> Self {
        Self { locals, inputs: Vec::new(), outputs: Vec::new(), span }
    }

    pub(super) fn local(&mut self, name: &str, ty: Type, sizes: Vec<Option<Expr>>) -> LocalId {
        self.locals.push(Local { name: Name::new(name), ty, sizes, default: None, span: self.span })
    }

    pub(super) fn input(&mut self, name: &str, ty: Type, sizes: Vec<Option<Expr>>) -> LocalId {
        let local = self.local(name, ty, sizes);
        self.inputs.push(local);
        local
    }

    pub(super) fn output(&mut self, name: &str, ty: Type, sizes: Vec<Option<Expr>>) -> LocalId {
        let local = self.local(name, ty, sizes);
        self.outputs.push(local);
        local
    }

    pub(super) fn statement(&self, kind: StatementKind) -> Statement {
        Statement { kind, span: self.span }
    }

    pub(super) fn assign(&self, local: LocalId, value: Expr) -> Statement {
        self.statement(StatementKind::Assign(Target { local, steps: Vec::new() }, value))
    }

    pub(super) fn finish(self, functions: &mut Functions, name: &str, body: Vec<Statement>) -> FunctionId {
        functions.push(Arc::new(Function {
            name: Name::new(name),
            inputs: self.inputs,
            outputs: self.outputs,
            locals: self.locals,
            body: Body::Algorithm(body),
            pure: true,
            inline: Inline::Unstated,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            span: self.span,
        }))
    }
}

pub(super) fn boxed(local: LocalId) -> Box<Expr> {
    Box::new(Expr::Local(local))
}

/// `1:n`
pub(super) fn up_to(last: Expr) -> Expr {
    Expr::Range(Box::new(Expr::Integer(1)), None, Box::new(last))
}

pub(super) fn size(array: Expr, dimension: usize) -> Expr {
    Expr::Whole(ArrayFunction::Size, vec![array, Expr::Integer(dimension as i64)])
}

impl Differentiator {
    /// `product`, `min` or `max` of all elements of an array, as a loop.
    pub(super) fn fold(
        &mut self,
        functions: &mut Functions,
        op: ReductionOp,
        dimensions: usize,
        at: Span,
    ) -> FunctionId {
        if let Some(id) = known(&self.helpers.folds, &(op, dimensions)) {
            return id;
        }
        let mut draft = Draft::new(at);
        let all = draft.input("v", Type::Real, vec![None; dimensions]);
        let result = draft.output("y", Type::Real, Vec::new());
        let positions: Vec<LocalId> =
            (0..dimensions).map(|k| draft.local(&format!("k{}", k + 1), Type::Integer, Vec::new())).collect();
        let subscripts = positions.iter().map(|&k| Subscript::Expr(Expr::Local(k))).collect();
        let element = Expr::Index(boxed(all), subscripts);
        let (name, first, step) = match op {
            ReductionOp::Sum => {
                let sum = Expr::Arithmetic(ArithmeticOp::Add, boxed(result), Box::new(element));
                ("sum", 0.0, draft.assign(result, sum))
            }
            ReductionOp::Product => {
                let product = Expr::Arithmetic(ArithmeticOp::Mul, boxed(result), Box::new(element));
                ("product", 1.0, draft.assign(result, product))
            }
            ReductionOp::Min | ReductionOp::Max => {
                let (name, comparison, first) = match op {
                    ReductionOp::Min => ("min", CompareOp::Less, f64::MAX),
                    _ => ("max", CompareOp::Greater, -f64::MAX),
                };
                let better = Expr::Compare(comparison, Box::new(element.clone()), boxed(result));
                let taken = vec![draft.assign(result, element)];
                let choice = StatementKind::If { branches: vec![(better, taken)], otherwise: Vec::new() };
                (name, first, draft.statement(choice))
            }
        };
        let mut body = step;
        for (k, &iterator) in positions.iter().enumerate().rev() {
            let range = up_to(size(Expr::Local(all), k + 1));
            body = draft.statement(StatementKind::For { iterator, range, body: vec![body] });
        }
        let start = draft.assign(result, Expr::Real(first));
        let id = draft.finish(functions, &format!("{name}_of_elements_{dimensions}"), vec![start, body]);
        self.helpers.folds.push(((op, dimensions), id));
        id
    }

    /// A matrix to the power of a natural number, as a loop.
    pub(super) fn matrix_power(&mut self, functions: &mut Functions, at: Span) -> FunctionId {
        if let Some(id) = self.helpers.matrix_power {
            return id;
        }
        let mut draft = Draft::new(at);
        let matrix = draft.input("A", Type::Real, vec![None; 2]);
        let exponent = draft.input("n", Type::Integer, Vec::new());
        let rows = size(Expr::Local(matrix), 1);
        let result = draft.output("B", Type::Real, vec![Some(rows.clone()), Some(rows.clone())]);
        let iterator = draft.local("k", Type::Integer, Vec::new());
        let start = draft.assign(result, Expr::Whole(ArrayFunction::Identity, vec![rows]));
        let step = draft.assign(result, Expr::Arithmetic(ArithmeticOp::Mul, boxed(result), boxed(matrix)));
        let range = up_to(Expr::Local(exponent));
        let turns = draft.statement(StatementKind::For { iterator, range, body: vec![step] });
        let id = draft.finish(functions, "matrix_power", vec![start, turns]);
        self.helpers.matrix_power = Some(id);
        id
    }

    /// A ratio in a chain rule. Where what is differentiated rests at the end of its domain (`sqrt(0)`), the derivative is zero.
    pub(super) fn ratio(&mut self, functions: &mut Functions, at: Span) -> FunctionId {
        if let Some(id) = self.helpers.ratio {
            return id;
        }
        let mut draft = Draft::new(at);
        let above = draft.input("a", Type::Real, Vec::new());
        let below = draft.input("b", Type::Real, Vec::new());
        let result = draft.output("y", Type::Real, Vec::new());
        let is_zero = |local| Box::new(Expr::Compare(CompareOp::Equal, boxed(local), Box::new(Expr::Real(0.0))));
        let rests = Expr::And(is_zero(above), is_zero(below));
        let ratio = Expr::Arithmetic(ArithmeticOp::Div, boxed(above), boxed(below));
        let body = draft.assign(result, Expr::If(Box::new(rests), Box::new(Expr::Real(0.0)), Box::new(ratio)));
        let id = draft.finish(functions, "ratio_or_zero", vec![body]);
        self.helpers.ratio = Some(id);
        id
    }

    /// A built-in function of scalars as a function that can be applied to the elements of arrays.
    pub(super) fn scalar_builtin(
        &mut self,
        functions: &mut Functions,
        op: Builtin,
        count: usize,
        at: Span,
    ) -> FunctionId {
        if let Some(id) = known(&self.helpers.builtins, &(op, count)) {
            return id;
        }
        let mut draft = Draft::new(at);
        let inputs: Vec<Expr> =
            (0..count).map(|k| Expr::Local(draft.input(&format!("u{}", k + 1), Type::Real, Vec::new()))).collect();
        let result = draft.output("y", Type::Real, Vec::new());
        let body = draft.assign(result, Expr::Builtin(op, inputs));
        let id = draft.finish(functions, &format!("{op:?}_of_scalars"), vec![body]);
        self.helpers.builtins.push(((op, count), id));
        id
    }

    /// The derivative of a record that is constant: zeros for its Reals, the rest as it is.
    pub(super) fn zero_record(&mut self, functions: &mut Functions, record: &Arc<RecordType>, at: Span) -> FunctionId {
        if let Some(id) = known(&self.helpers.zeros, record) {
            return id;
        }
        let mut draft = Draft::new(at);
        let given = draft.input("r", Type::Record(record.clone()), Vec::new());
        let result = draft.output("d", Type::Record(record.clone()), Vec::new());
        let mut body = vec![draft.assign(result, Expr::Local(given))];
        for (k, field) in record.fields.iter().enumerate().filter(|(_, field)| contains_reals(&field.ty)) {
            let value = Expr::Field(boxed(given), k as u32);
            let zero = match &field.ty {
                Type::Record(inner) => {
                    let zero =
                        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.zero_record(functions, inner, at));
                    apply(zero, value, field.sizes.len())
                }
                _ => Expr::Elementwise(ArithmeticOp::Mul, Box::new(Expr::Real(0.0)), Box::new(value)),
            };
            let target = Target { local: result, steps: vec![Accessor::Field(k as u32)] };
            body.push(draft.statement(StatementKind::Assign(target, zero)));
        }
        let id = draft.finish(functions, &format!("zero_{}", record.name), body);
        self.helpers.zeros.push((record.clone(), id));
        id
    }

    /// A function that calls another one with the inputs at these positions; the others have their defaults.
    pub(super) fn narrowed(&mut self, functions: &mut Functions, id: FunctionId, kept: Vec<u32>) -> Option<FunctionId> {
        let key = (id, kept);
        if let Some(made) = known(&self.helpers.narrowed, &key) {
            return Some(made);
        }
        let original = functions.get(id)?.clone();
        let arguments = original.inputs.iter().map(|&input| Expr::Local(input)).collect();
        let targets = original.outputs.iter().map(|&local| Some(Target { local, steps: Vec::new() })).collect();
        let call = StatementKind::AssignSeveral(targets, Expr::Call(id, arguments));
        let mut locals = original.locals.clone();
        original.outputs.iter().for_each(|&output| locals[output].default = None);
        let made = functions.push(Arc::new(Function {
            name: Name::new(&format!("call_of_{}", original.name)),
            inputs: key.1.iter().filter_map(|&at| original.inputs.get(at as usize).copied()).collect(),
            locals,
            body: Body::Algorithm(vec![Statement { kind: call, span: original.span }]),
            derivatives: Vec::new(),
            inverses: Vec::new(),
            ..(*original).clone()
        }));
        self.helpers.narrowed.push((key, made));
        Some(made)
    }

    /// A call whose arguments are functions, as a call without: the inputs that those are given stand in their place.
    /// `None` if there is no such argument.
    pub fn without_functions(&mut self, functions: &mut Functions, site: &CallSite) -> Option<CallSite> {
        if !site.inputs.iter().any(|shape| matches!(shape, Shape::Function { .. })) {
            return None;
        }
        let called = functions.get(site.function)?.clone();
        let mut draft = Draft::new(called.span);
        let mut inputs = Vec::new();
        let mut arguments = Vec::with_capacity(site.inputs.len());
        for (&input, shape) in called.inputs.iter().zip(&site.inputs) {
            let ty = called.locals.get(input)?.ty.clone();
            arguments.push(draft.argument(functions, shape, ty, &mut inputs)?);
        }
        let new_site = |function| CallSite { function, inputs: inputs.clone(), outputs: site.outputs.clone() };
        if let Some(id) = known(&self.helpers.sites, site) {
            return Some(new_site(id));
        }
        let mut targets = Vec::with_capacity(site.outputs.len());
        for (&output, shape) in called.outputs.iter().zip(&site.outputs) {
            let local = called.locals.get(output)?;
            let output = draft.output(local.name.as_str(), local.ty.clone(), sizes_of(shape));
            targets.push(Some(Target { local: output, steps: Vec::new() }));
        }
        let call = draft.statement(StatementKind::AssignSeveral(targets, Expr::Call(site.function, arguments)));
        let id = draft.finish(functions, &format!("call_of_{}", called.name), vec![call]);
        self.helpers.sites.push((site.clone(), id));
        Some(new_site(id))
    }
}

impl Draft {
    /// Inputs for what an argument consists of, and the argument made of them.
    fn argument(&mut self, functions: &Functions, shape: &Shape, ty: Type, inputs: &mut Vec<Shape>) -> Option<Expr> {
        let Shape::Function { function, given } = shape else {
            inputs.push(shape.clone());
            let name = format!("u{}", inputs.len());
            return Some(Expr::Local(self.input(&name, ty, sizes_of(shape))));
        };
        let passed = functions.get(*function)?;
        let mut values = Vec::with_capacity(given.len());
        for (at, shape) in given {
            let ty = passed.locals.get(*passed.inputs.get(*at as usize)?)?.ty.clone();
            values.push((*at, self.argument(functions, shape, ty, inputs)?));
        }
        Some(Expr::FunctionValue(*function, values))
    }
}

fn sizes_of(shape: &Shape) -> Vec<Option<Expr>> {
    match shape {
        Shape::Array(sizes, _) => sizes.iter().map(|&size| Some(Expr::Integer(size.into()))).collect(),
        _ => Vec::new(),
    }
}

/// A function of a scalar, applied to the elements of a value with that many dimensions.
pub(super) fn apply(function: FunctionId, value: Expr, dimensions: usize) -> Expr {
    match dimensions {
        0 => Expr::Call(function, vec![value]),
        _ => Expr::Vectorized { function, arguments: vec![value], over: vec![true] },
    }
}
