//! Calls written out: the body of a function executed with expressions as values (specification 18.3, `LateInline` and
//! `InlineAfterIndexReduction`).
//!
//! What a tool may inline only after index reduction has a derivative annotation that has to be used before. Structure and
//! linearity can be seen in the written-out form only. Functions that loop without a bound known here, assert, call outside
//! code or grow too large stay calls.

use rustc_hash::FxHashMap;

use crate::expr::{ArgsId, CallSite, CallSiteId, ExprId, Exprs, Node, Shape};
use crate::function::{
    ArithmeticOp, ArrayFunction, Body, Expr, Function, FunctionId, Functions, Inline, LocalId, ReductionOp, Statement,
    StatementKind, Step, Subscript, Target,
};
use crate::rewrite::Memo;

/// How large a call may become.
#[derive(Clone, Copy)]
struct Limits {
    /// Statements and operations it may take to be written out.
    budget: usize,
    /// Nodes it may add to the arena, where the function does not ask for it.
    growth: usize,
}

const USUAL: Limits = Limits { budget: 3000, growth: 400 };
const LARGE: Limits = Limits { budget: 100_000, growth: usize::MAX };
const DEPTH: usize = 20;
const MAX_ELEMENTS: usize = 10_000;

/// Writes calls out; remembers which could be.
#[derive(Clone)]
pub struct Inliner {
    limits: Limits,
    calls: FxHashMap<(CallSiteId, ArgsId), Option<Vec<ExprId>>>,
    memo: Memo,
}

impl Default for Inliner {
    fn default() -> Self {
        Self::new()
    }
}

impl Inliner {
    pub fn new() -> Self {
        Self { limits: USUAL, calls: FxHashMap::default(), memo: Memo::default() }
    }

    /// For questions about a function that are worth large expressions.
    pub fn at_any_size() -> Self {
        Self { limits: LARGE, ..Self::new() }
    }

    /// The expression with all calls written out that can be.
    pub fn expand(&mut self, exprs: &mut Exprs, functions: &Functions, root: ExprId) -> ExprId {
        let Self { limits, calls, memo } = self;
        if let Some(known) = memo.get(root) {
            return known;
        }
        exprs.rewrite(&[root], memo, |exprs, _, node| match node {
            Node::Call { site, args, output } => {
                let outputs =
                    calls.entry((site, args)).or_insert_with(|| written_out(exprs, functions, site, args, *limits));
                match outputs.as_ref().and_then(|outputs| outputs.get(output as usize)) {
                    Some(&value) => value,
                    None => exprs.make(node),
                }
            }
            node => exprs.make(node),
        })[0]
    }
}

/// All scalars of the results of a call.
fn written_out(
    exprs: &mut Exprs,
    functions: &Functions,
    site: CallSiteId,
    args: ArgsId,
    limits: Limits,
) -> Option<Vec<ExprId>> {
    let CallSite { function, inputs, .. } = exprs.call_site(site).clone();
    let mut scalars = exprs.arguments(args).to_vec().into_iter();
    let values: Vec<Symbolic> =
        inputs.iter().map(|shape| Symbolic::from_scalars(shape, &mut scalars)).collect::<Option<_>>()?;
    let before = exprs.len();
    let asked = functions.get(function)?.inline != Inline::Unstated;
    let mut run = Run { exprs, functions, budget: limits.budget };
    let outputs = run.call(function, values, 0)?;
    if !asked && exprs.len() - before > limits.growth {
        return None;
    }
    let mut flat = Vec::new();
    outputs.into_iter().for_each(|output| output.flatten_into(&mut flat));
    Some(flat)
}

/// A value whose scalars are expressions.
#[derive(Clone, PartialEq, Debug)]
enum Symbolic {
    Scalar(ExprId),
    Array { sizes: Vec<usize>, elements: Vec<Symbolic> },
    Record(Vec<Symbolic>),
}

impl Symbolic {
    fn from_scalars(shape: &Shape, scalars: &mut impl Iterator<Item = ExprId>) -> Option<Self> {
        Some(match shape {
            Shape::Scalar => Symbolic::Scalar(scalars.next()?),
            Shape::Array(sizes, element) => {
                let sizes: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
                let count = sizes.iter().product::<usize>();
                let elements = (0..count).map(|_| Self::from_scalars(element, scalars)).collect::<Option<_>>()?;
                Symbolic::Array { sizes, elements }
            }
            Shape::Record(fields) => {
                Symbolic::Record(fields.iter().map(|field| Self::from_scalars(field, scalars)).collect::<Option<_>>()?)
            }
            Shape::Function { .. } => return None,
        })
    }

    fn flatten_into(self, out: &mut Vec<ExprId>) {
        match self {
            Symbolic::Scalar(id) => out.push(id),
            Symbolic::Array { elements, .. } => elements.into_iter().for_each(|element| element.flatten_into(out)),
            Symbolic::Record(fields) => fields.into_iter().for_each(|field| field.flatten_into(out)),
        }
    }

    fn vector(elements: Vec<Symbolic>) -> Self {
        Symbolic::Array { sizes: vec![elements.len()], elements }
    }

    fn scalar(&self) -> Option<ExprId> {
        match self {
            Symbolic::Scalar(id) => Some(*id),
            Symbolic::Array { sizes, elements } if sizes.iter().all(|&size| size == 1) => elements.first()?.scalar(),
            _ => None,
        }
    }

    fn sizes(&self) -> &[usize] {
        match self {
            Symbolic::Array { sizes, .. } => sizes,
            _ => &[],
        }
    }

    /// An array of arrays of equal sizes as one array.
    fn stack(parts: Vec<Symbolic>) -> Option<Self> {
        let inner = parts.first().map_or(Vec::new(), |part| part.sizes().to_vec());
        if parts.iter().any(|part| part.sizes() != inner) {
            return None;
        }
        let mut sizes = vec![parts.len()];
        sizes.extend_from_slice(&inner);
        let mut elements = Vec::new();
        for part in parts {
            match part {
                Symbolic::Array { elements: inside, .. } => elements.extend(inside),
                other => elements.push(other),
            }
        }
        Some(Symbolic::Array { sizes, elements })
    }

    /// The parts along the first dimension.
    fn parts(self) -> Option<Vec<Symbolic>> {
        let Symbolic::Array { sizes, elements } = self else { return None };
        let (&count, inner) = sizes.split_first()?;
        if inner.is_empty() {
            return Some(elements);
        }
        let width: usize = inner.iter().product();
        let part = |k: usize| Symbolic::Array {
            sizes: inner.to_vec(),
            elements: elements[k * width..(k + 1) * width].to_vec(),
        };
        Some((0..count).map(part).collect())
    }
}

enum Flow {
    On,
    Returned,
}

struct Run<'a> {
    exprs: &'a mut Exprs,
    functions: &'a Functions,
    budget: usize,
}

type Frame = Vec<Option<Symbolic>>;

impl Run<'_> {
    fn spend(&mut self) -> Option<()> {
        self.budget = self.budget.checked_sub(1)?;
        Some(())
    }

    fn call(&mut self, id: FunctionId, inputs: Vec<Symbolic>, depth: usize) -> Option<Vec<Symbolic>> {
        let functions = self.functions;
        let function: &Function = functions.get(id)?;
        if depth > DEPTH || function.inline == Inline::Never || !function.pure || inputs.len() != function.inputs.len()
        {
            return None;
        }
        let statements = match &function.body {
            Body::External(_) => return None,
            Body::RecordConstructor => return Some(vec![Symbolic::Record(inputs)]),
            Body::Algorithm(statements) => statements,
        };
        let mut frame: Frame = vec![None; function.locals.len()];
        for (&local, value) in function.inputs.iter().zip(inputs) {
            frame[base::Id::index(local)] = Some(value);
        }
        for (local, declared) in function.locals.iter() {
            let place = base::Id::index(local);
            if frame[place].is_some() {
                continue;
            }
            if let Some(default) = &declared.default {
                frame[place] = Some(self.value(default, &frame, depth)?);
            } else if !declared.sizes.is_empty() {
                let mut sizes = Vec::new();
                for size in &declared.sizes {
                    let Some(size) = size else { break };
                    sizes.push(self.whole_number(size, &frame, depth)?);
                }
                if sizes.len() == declared.sizes.len() && !matches!(declared.ty, crate::function::Type::Record(_)) {
                    let count = sizes.iter().product::<usize>();
                    if count > MAX_ELEMENTS {
                        return None;
                    }
                    let zero = Symbolic::Scalar(self.exprs.real(0.0));
                    frame[place] = Some(Symbolic::Array { sizes, elements: vec![zero; count] });
                }
            } else if let crate::function::Type::Record(record) = &declared.ty {
                frame[place] = self.blank_record(record);
            }
        }
        self.statements(statements, &mut frame, depth)?;
        function.outputs.iter().map(|&local| frame[base::Id::index(local)].clone()).collect()
    }

    /// A record to be filled field by field.
    fn blank_record(&mut self, record: &crate::function::RecordType) -> Option<Symbolic> {
        let mut fields = Vec::new();
        for field in &record.fields {
            let zero = match &field.ty {
                crate::function::Type::Record(inner) => self.blank_record(inner)?,
                _ => Symbolic::Scalar(self.exprs.real(0.0)),
            };
            let sizes: Vec<usize> = field.sizes.iter().copied().collect::<Option<_>>()?;
            fields.push(match sizes.is_empty() {
                true => zero,
                false => {
                    let count = sizes.iter().product::<usize>();
                    if count > MAX_ELEMENTS {
                        return None;
                    }
                    Symbolic::Array { elements: vec![zero; count], sizes }
                }
            });
        }
        Some(Symbolic::Record(fields))
    }

    fn statements(&mut self, statements: &[Statement], frame: &mut Frame, depth: usize) -> Option<Flow> {
        for statement in statements {
            self.spend()?;
            if let Flow::Returned = self.statement(&statement.kind, frame, depth)? {
                return Some(Flow::Returned);
            }
        }
        Some(Flow::On)
    }

    fn statement(&mut self, statement: &StatementKind, frame: &mut Frame, depth: usize) -> Option<Flow> {
        match statement {
            StatementKind::Assign(target, value) => {
                let value = self.value(value, frame, depth)?;
                self.assign(target, value, frame, depth)?;
            }
            StatementKind::AssignSeveral(targets, value) => {
                let Expr::Call(function, arguments) = value else { return None };
                let arguments = self.values(arguments, frame, depth)?;
                let outputs = self.call(*function, arguments, depth + 1)?;
                for (target, output) in targets.iter().zip(outputs) {
                    if let Some(target) = target {
                        self.assign(target, output, frame, depth)?;
                    }
                }
            }
            StatementKind::If { branches, otherwise } => return self.branches(branches, otherwise, frame, depth),
            StatementKind::For { iterator, range, body } => {
                let items = self.value(range, frame, depth)?.parts()?;
                for item in items {
                    frame[base::Id::index(*iterator)] = Some(item);
                    if let Flow::Returned = self.statements(body, frame, depth)? {
                        return Some(Flow::Returned);
                    }
                }
            }
            StatementKind::While { condition, body } => loop {
                self.spend()?;
                let condition = self.value(condition, frame, depth)?.scalar()?;
                if !self.exprs.as_boolean(condition)? {
                    break;
                }
                if let Flow::Returned = self.statements(body, frame, depth)? {
                    return Some(Flow::Returned);
                }
            },
            StatementKind::Return => return Some(Flow::Returned),
            StatementKind::Assert { condition, .. } => {
                let condition = self.value(condition, frame, depth)?.scalar()?;
                (self.exprs.as_boolean(condition) == Some(true)).then_some(())?;
            }
            StatementKind::Break | StatementKind::Call(_) => return None,
        }
        Some(Flow::On)
    }

    /// Where the condition is not known, both ways are gone and their results joined.
    fn branches(
        &mut self,
        branches: &[(Expr, Vec<Statement>)],
        otherwise: &[Statement],
        frame: &mut Frame,
        depth: usize,
    ) -> Option<Flow> {
        let Some(((condition, body), rest)) = branches.split_first() else {
            return self.statements(otherwise, frame, depth);
        };
        let condition = self.value(condition, frame, depth)?.scalar()?;
        match self.exprs.as_boolean(condition) {
            Some(true) => self.statements(body, frame, depth),
            Some(false) => self.branches(rest, otherwise, frame, depth),
            None => {
                let mut other = frame.clone();
                let first = self.statements(body, frame, depth)?;
                let second = self.branches(rest, otherwise, &mut other, depth)?;
                let (Flow::On, Flow::On) = (first, second) else { return None };
                for (value, alternative) in frame.iter_mut().zip(other) {
                    *value = match (value.take(), alternative) {
                        (Some(a), Some(b)) => Some(self.either(condition, a, b)?),
                        _ => None,
                    };
                }
                Some(Flow::On)
            }
        }
    }

    fn either(&mut self, condition: ExprId, a: Symbolic, b: Symbolic) -> Option<Symbolic> {
        if a == b {
            return Some(a);
        }
        self.spend()?;
        Some(match (a, b) {
            (Symbolic::Scalar(a), Symbolic::Scalar(b)) => Symbolic::Scalar(self.exprs.if_(condition, a, b)),
            (Symbolic::Array { sizes, elements }, Symbolic::Array { sizes: other, elements: others })
                if sizes == other =>
            {
                let pairs = elements.into_iter().zip(others);
                let elements = pairs.map(|(a, b)| self.either(condition, a, b)).collect::<Option<_>>()?;
                Symbolic::Array { sizes, elements }
            }
            (Symbolic::Record(a), Symbolic::Record(b)) => {
                let pairs = a.into_iter().zip(b);
                Symbolic::Record(pairs.map(|(a, b)| self.either(condition, a, b)).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    fn assign(&mut self, target: &Target, value: Symbolic, frame: &mut Frame, depth: usize) -> Option<()> {
        let place = base::Id::index(target.local);
        if target.steps.is_empty() {
            frame[place] = Some(value);
            return Some(());
        }
        let mut whole = frame[place].take()?;
        let stored = self.store(&mut whole, &target.steps, value, frame, depth);
        frame[place] = Some(whole);
        stored
    }

    fn store(
        &mut self,
        whole: &mut Symbolic,
        steps: &[Step],
        value: Symbolic,
        frame: &Frame,
        depth: usize,
    ) -> Option<()> {
        let Some((step, rest)) = steps.split_first() else {
            *whole = value;
            return Some(());
        };
        match (step, whole) {
            (Step::Field(field), Symbolic::Record(fields)) => {
                self.store(fields.get_mut(*field as usize)?, rest, value, frame, depth)
            }
            (Step::Index(subscripts), Symbolic::Array { sizes, elements }) => {
                let (places, _) = self.places(sizes, subscripts, frame, depth)?;
                let values = match value {
                    Symbolic::Array { elements, .. } if places.len() != 1 || rest.is_empty() && elements.len() == 1 => {
                        elements
                    }
                    single => vec![single],
                };
                if values.len() != places.len() {
                    return None;
                }
                for (place, value) in places.into_iter().zip(values) {
                    self.store(elements.get_mut(place)?, rest, value, frame, depth)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Positions that subscripts select, and the sizes of what they make.
    fn places(
        &mut self,
        sizes: &[usize],
        subscripts: &[Subscript],
        frame: &Frame,
        depth: usize,
    ) -> Option<(Vec<usize>, Vec<usize>)> {
        if subscripts.len() > sizes.len() {
            return None;
        }
        let mut places = vec![0usize];
        let mut result = Vec::new();
        for (dimension, &size) in sizes.iter().enumerate() {
            let chosen: Vec<usize> = match subscripts.get(dimension) {
                None | Some(Subscript::All) => {
                    result.push(size);
                    (0..size).collect()
                }
                Some(Subscript::Expr(index)) => match self.value(index, frame, depth)? {
                    Symbolic::Array { elements, .. } => {
                        result.push(elements.len());
                        elements.iter().map(|e| self.index(e.scalar()?)).collect::<Option<_>>()?
                    }
                    single => vec![self.index(single.scalar()?)?],
                },
            };
            if chosen.iter().any(|&index| index >= size) {
                return None;
            }
            places = places.iter().flat_map(|&place| chosen.iter().map(move |&index| place * size + index)).collect();
        }
        Some((places, result))
    }

    /// A subscript as a position from 0.
    fn index(&mut self, index: ExprId) -> Option<usize> {
        let number = match self.exprs.as_boolean(index) {
            Some(value) => i64::from(value) + 1,
            None => self.exprs.as_integer(index)?,
        };
        usize::try_from(number - 1).ok()
    }

    fn whole_number(&mut self, expr: &Expr, frame: &Frame, depth: usize) -> Option<usize> {
        let value = self.value(expr, frame, depth)?.scalar()?;
        usize::try_from(self.exprs.as_integer(value)?).ok()
    }

    fn values(&mut self, list: &[Expr], frame: &Frame, depth: usize) -> Option<Vec<Symbolic>> {
        list.iter().map(|item| self.value(item, frame, depth)).collect()
    }

    // Expressions nest as deeply as their text, which bounds this recursion.
    fn value(&mut self, expr: &Expr, frame: &Frame, depth: usize) -> Option<Symbolic> {
        self.spend()?;
        Some(match expr {
            Expr::Real(value) => Symbolic::Scalar(self.exprs.real(*value)),
            Expr::Integer(value) | Expr::Enumeration(_, value) => Symbolic::Scalar(self.exprs.int(*value)),
            Expr::Boolean(value) => Symbolic::Scalar(self.exprs.boolean(*value)),
            Expr::String(text) => Symbolic::Scalar(self.exprs.string(text)),
            Expr::Local(local) => frame.get(base::Id::index(*local))?.clone()?,
            Expr::Index(of, subscripts) => {
                let Symbolic::Array { sizes, elements } = self.value(of, frame, depth)? else { return None };
                let (places, result) = self.places(&sizes, subscripts, frame, depth)?;
                let mut chosen = places.into_iter().map(|place| elements.get(place).cloned());
                if result.is_empty() {
                    chosen.next()??
                } else {
                    Symbolic::Array { sizes: result, elements: chosen.collect::<Option<_>>()? }
                }
            }
            Expr::Field(of, field) => match self.value(of, frame, depth)? {
                Symbolic::Record(mut fields) if (*field as usize) < fields.len() => fields.swap_remove(*field as usize),
                _ => return None,
            },
            Expr::Neg(a) => {
                let a = self.value(a, frame, depth)?;
                self.map(a, &mut |exprs, x| exprs.neg(x))?
            }
            Expr::Not(a) => {
                let a = self.value(a, frame, depth)?;
                self.map(a, &mut |exprs, x| exprs.not(x))?
            }
            Expr::Arithmetic(op, a, b) => {
                let (a, b) = (self.value(a, frame, depth)?, self.value(b, frame, depth)?);
                self.arithmetic(*op, a, b)?
            }
            Expr::Elementwise(op, a, b) => {
                let (a, b) = (self.value(a, frame, depth)?, self.value(b, frame, depth)?);
                self.elementwise(a, b, &mut |exprs, x, y| scalar(exprs, *op, x, y))?
            }
            Expr::And(a, b) => {
                let (a, b) = (self.value(a, frame, depth)?, self.value(b, frame, depth)?);
                self.elementwise(a, b, &mut Exprs::and)?
            }
            Expr::Or(a, b) => {
                let (a, b) = (self.value(a, frame, depth)?, self.value(b, frame, depth)?);
                self.elementwise(a, b, &mut Exprs::or)?
            }
            Expr::Compare(op, a, b) => {
                let (a, b) = (self.value(a, frame, depth)?.scalar()?, self.value(b, frame, depth)?.scalar()?);
                Symbolic::Scalar(self.exprs.compare(*op, false, a, b))
            }
            Expr::If(condition, a, b) => {
                let condition = self.value(condition, frame, depth)?.scalar()?;
                match self.exprs.as_boolean(condition) {
                    Some(true) => self.value(a, frame, depth)?,
                    Some(false) => self.value(b, frame, depth)?,
                    None => {
                        let (a, b) = (self.value(a, frame, depth)?, self.value(b, frame, depth)?);
                        self.either(condition, a, b)?
                    }
                }
            }
            Expr::Array(items) => Symbolic::stack(self.values(items, frame, depth)?)?,
            Expr::Range(start, step, stop) => {
                let start = self.integer(start, frame, depth)?;
                let step = match step {
                    Some(step) => self.integer(step, frame, depth)?,
                    None => 1,
                };
                let stop = self.integer(stop, frame, depth)?;
                if step == 0 {
                    return None;
                }
                let count = ((stop - start) / step + 1).clamp(0, MAX_ELEMENTS as i64);
                let count = if (stop - start).signum() * step.signum() < 0 { 0 } else { count };
                Symbolic::vector((0..count).map(|k| Symbolic::Scalar(self.exprs.int(start + k * step))).collect())
            }
            Expr::ArrayFor { element, iterators } => {
                let [(iterator, range)] = &iterators[..] else { return None };
                let items = self.over(element, *iterator, range, frame, depth)?;
                Symbolic::stack(items)?
            }
            Expr::Reduction { op, element, iterators } => {
                let [(iterator, range)] = &iterators[..] else { return None };
                let items = self.over(element, *iterator, range, frame, depth)?;
                self.reduce(*op, items)?
            }
            Expr::Record(_, fields) => Symbolic::Record(self.values(fields, frame, depth)?),
            Expr::Builtin(op, arguments) => match &self.values(arguments, frame, depth)?[..] {
                [one] => self.map(one.clone(), &mut |exprs, x| exprs.builtin(*op, &[x]))?,
                [a, b] => self.elementwise(a.clone(), b.clone(), &mut |exprs, x, y| exprs.builtin(*op, &[x, y]))?,
                _ => return None,
            },
            Expr::Whole(function, arguments) => {
                let arguments = self.values(arguments, frame, depth)?;
                self.whole(*function, arguments)?
            }
            Expr::Call(function, arguments) => {
                let arguments = self.values(arguments, frame, depth)?;
                self.call(*function, arguments, depth + 1)?.into_iter().next()?
            }
            Expr::CallLocal(..) | Expr::FunctionValue(..) | Expr::LocalValue(..) | Expr::Vectorized { .. } => {
                return None;
            }
        })
    }

    fn integer(&mut self, expr: &Expr, frame: &Frame, depth: usize) -> Option<i64> {
        let value = self.value(expr, frame, depth)?.scalar()?;
        self.exprs.as_integer(value)
    }

    fn over(
        &mut self,
        element: &Expr,
        iterator: LocalId,
        range: &Expr,
        frame: &Frame,
        depth: usize,
    ) -> Option<Vec<Symbolic>> {
        let items = self.value(range, frame, depth)?.parts()?;
        let mut frame = frame.clone();
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            *frame.get_mut(base::Id::index(iterator))? = Some(item);
            values.push(self.value(element, &frame, depth)?);
        }
        Some(values)
    }

    fn map(&mut self, value: Symbolic, f: &mut impl FnMut(&mut Exprs, ExprId) -> ExprId) -> Option<Symbolic> {
        self.spend()?;
        Some(match value {
            Symbolic::Scalar(id) => Symbolic::Scalar(f(self.exprs, id)),
            Symbolic::Array { sizes, elements } => {
                let elements = elements.into_iter().map(|element| self.map(element, f)).collect::<Option<_>>()?;
                Symbolic::Array { sizes, elements }
            }
            Symbolic::Record(_) => return None,
        })
    }

    fn elementwise(
        &mut self,
        a: Symbolic,
        b: Symbolic,
        f: &mut impl FnMut(&mut Exprs, ExprId, ExprId) -> ExprId,
    ) -> Option<Symbolic> {
        self.spend()?;
        match (a, b) {
            (Symbolic::Scalar(a), Symbolic::Scalar(b)) => Some(Symbolic::Scalar(f(self.exprs, a, b))),
            (Symbolic::Array { sizes, elements }, Symbolic::Array { sizes: other, elements: others })
                if sizes == other =>
            {
                let pairs = elements.into_iter().zip(others);
                let elements = pairs.map(|(a, b)| self.elementwise(a, b, f)).collect::<Option<_>>()?;
                Some(Symbolic::Array { sizes, elements })
            }
            (Symbolic::Array { sizes, elements }, b @ Symbolic::Scalar(_)) => {
                let elements =
                    elements.into_iter().map(|a| self.elementwise(a, b.clone(), f)).collect::<Option<_>>()?;
                Some(Symbolic::Array { sizes, elements })
            }
            (a @ Symbolic::Scalar(_), Symbolic::Array { sizes, elements }) => {
                let elements =
                    elements.into_iter().map(|b| self.elementwise(a.clone(), b, f)).collect::<Option<_>>()?;
                Some(Symbolic::Array { sizes, elements })
            }
            _ => None,
        }
    }

    fn arithmetic(&mut self, op: ArithmeticOp, a: Symbolic, b: Symbolic) -> Option<Symbolic> {
        match (op, &a, &b) {
            (ArithmeticOp::Mul, Symbolic::Array { .. }, Symbolic::Array { .. }) => self.product(a, b),
            (ArithmeticOp::Pow, Symbolic::Array { .. }, _) => None,
            _ => self.elementwise(a, b, &mut |exprs, x, y| scalar(exprs, op, x, y)),
        }
    }

    fn dot(&mut self, pairs: impl Iterator<Item = (Symbolic, Symbolic)>) -> Option<Symbolic> {
        let mut terms = Vec::new();
        for (a, b) in pairs {
            self.spend()?;
            terms.push(self.exprs.mul(a.scalar()?, b.scalar()?));
        }
        let mut terms = terms.into_iter();
        let first = terms.next().unwrap_or(self.exprs.real(0.0));
        Some(Symbolic::Scalar(terms.fold(first, |sum, term| self.exprs.add(sum, term))))
    }

    fn product(&mut self, a: Symbolic, b: Symbolic) -> Option<Symbolic> {
        let (Symbolic::Array { sizes: left, elements: x }, Symbolic::Array { sizes: right, elements: y }) = (a, b)
        else {
            return None;
        };
        let (rows, n) = match left[..] {
            [n] => (None, n),
            [rows, n] => (Some(rows), n),
            _ => return None,
        };
        let columns = match right[..] {
            [m] if m == n => None,
            [m, columns] if m == n => Some(columns),
            _ => return None,
        };
        let mut elements = Vec::new();
        for row in 0..rows.unwrap_or(1) {
            for column in 0..columns.unwrap_or(1) {
                let width = columns.unwrap_or(1);
                let pairs: Vec<_> = (0..n).map(|k| (x[row * n + k].clone(), y[k * width + column].clone())).collect();
                elements.push(self.dot(pairs.into_iter())?);
            }
        }
        let sizes: Vec<usize> = rows.into_iter().chain(columns).collect();
        if sizes.is_empty() { elements.pop() } else { Some(Symbolic::Array { sizes, elements }) }
    }

    fn reduce(&mut self, op: ReductionOp, items: Vec<Symbolic>) -> Option<Symbolic> {
        let mut scalars = Vec::new();
        items.into_iter().for_each(|item| item.flatten_into(&mut scalars));
        let mut scalars = scalars.into_iter();
        let first = match (scalars.next(), op) {
            (Some(first), _) => first,
            (None, ReductionOp::Sum) => self.exprs.int(0),
            (None, ReductionOp::Product) => self.exprs.int(1),
            _ => return None,
        };
        let exprs = &mut *self.exprs;
        Some(Symbolic::Scalar(scalars.fold(first, |a, b| match op {
            ReductionOp::Sum => exprs.add(a, b),
            ReductionOp::Product => exprs.mul(a, b),
            ReductionOp::Min => exprs.builtin(crate::Builtin::Min, &[a, b]),
            ReductionOp::Max => exprs.builtin(crate::Builtin::Max, &[a, b]),
        })))
    }

    fn whole(&mut self, function: ArrayFunction, mut arguments: Vec<Symbolic>) -> Option<Symbolic> {
        use ArrayFunction::*;
        let size = |run: &Self, value: &Symbolic| -> Option<usize> {
            usize::try_from(run.exprs.as_integer(value.scalar()?)?).ok().filter(|&n| n <= MAX_ELEMENTS)
        };
        let number = |run: &mut Self, value: usize| Symbolic::Scalar(run.exprs.int(value as i64));
        match function {
            Size => match &arguments[..] {
                [array] => {
                    let sizes = array.sizes().to_vec();
                    Some(Symbolic::vector(sizes.into_iter().map(|n| number(self, n)).collect()))
                }
                [array, dimension] => {
                    let dimension = size(self, dimension)?;
                    let n = *array.sizes().get(dimension.checked_sub(1)?)?;
                    Some(number(self, n))
                }
                _ => None,
            },
            Ndims => {
                let n = arguments.first()?.sizes().len();
                Some(number(self, n))
            }
            Scalar => arguments.first()?.scalar().map(Symbolic::Scalar),
            Vector => {
                let mut scalars = Vec::new();
                arguments.swap_remove(0).flatten_into(&mut scalars);
                Some(Symbolic::vector(scalars.into_iter().map(Symbolic::Scalar).collect()))
            }
            Identity | Diagonal => {
                let (n, diagonal) = match (function, arguments.swap_remove(0)) {
                    (Identity, n) => (size(self, &n)?, None),
                    (_, Symbolic::Array { elements, .. }) => (elements.len(), Some(elements)),
                    _ => return None,
                };
                let (zero, one) = (Symbolic::Scalar(self.exprs.int(0)), Symbolic::Scalar(self.exprs.int(1)));
                let entry = |k: usize| match (k / n == k % n, &diagonal) {
                    (false, _) => zero.clone(),
                    (true, None) => one.clone(),
                    (true, Some(values)) => values[k / n].clone(),
                };
                Some(Symbolic::Array { sizes: vec![n, n], elements: (0..n * n).map(entry).collect() })
            }
            Zeros | Ones | Fill => {
                let value = match function {
                    Zeros => Symbolic::Scalar(self.exprs.int(0)),
                    Ones => Symbolic::Scalar(self.exprs.int(1)),
                    _ => arguments.remove(0),
                };
                let sizes: Vec<usize> = arguments.iter().map(|n| size(self, n)).collect::<Option<_>>()?;
                let count = sizes.iter().product::<usize>();
                if !matches!(value, Symbolic::Scalar(_)) || count > MAX_ELEMENTS {
                    return None;
                }
                Some(Symbolic::Array { elements: vec![value; count], sizes })
            }
            Sum => self.reduce(ReductionOp::Sum, arguments),
            Product => self.reduce(ReductionOp::Product, arguments),
            Min => self.reduce(ReductionOp::Min, arguments),
            Max => self.reduce(ReductionOp::Max, arguments),
            Transpose => {
                let Symbolic::Array { sizes, elements } = arguments.swap_remove(0) else { return None };
                let [rows, columns] = sizes[..] else { return None };
                let entry = |k: usize| elements[(k % rows) * columns + k / rows].clone();
                Some(Symbolic::Array { sizes: vec![columns, rows], elements: (0..rows * columns).map(entry).collect() })
            }
            OuterProduct => {
                let (b, a) = (arguments.pop()?.parts()?, arguments.pop()?.parts()?);
                let sizes = vec![a.len(), b.len()];
                let mut elements = Vec::new();
                for x in &a {
                    for y in &b {
                        elements.push(Symbolic::Scalar(self.exprs.mul(x.scalar()?, y.scalar()?)));
                    }
                }
                Some(Symbolic::Array { sizes, elements })
            }
            Cross => {
                let (b, a) = (arguments.pop()?.parts()?, arguments.pop()?.parts()?);
                if a.len() != 3 || b.len() != 3 {
                    return None;
                }
                let mut component = |i: usize, j: usize| {
                    let first = self.exprs.mul(a[i].scalar()?, b[j].scalar()?);
                    let second = self.exprs.mul(a[j].scalar()?, b[i].scalar()?);
                    Some(Symbolic::Scalar(self.exprs.sub(first, second)))
                };
                Some(Symbolic::vector(vec![component(1, 2)?, component(2, 0)?, component(0, 1)?]))
            }
            Skew => {
                let v = arguments.pop()?.parts()?;
                let [x, y, z] = &v[..] else { return None };
                let (x, y, z) = (x.scalar()?, y.scalar()?, z.scalar()?);
                let zero = self.exprs.int(0);
                let (nx, ny, nz) = (self.exprs.neg(x), self.exprs.neg(y), self.exprs.neg(z));
                let elements = [zero, nz, y, z, zero, nx, ny, x, zero].map(Symbolic::Scalar).to_vec();
                Some(Symbolic::Array { sizes: vec![3, 3], elements })
            }
            Cat => {
                let dimension = size(self, &arguments.remove(0))?;
                match dimension {
                    1 => {
                        let parts: Vec<Vec<Symbolic>> =
                            arguments.into_iter().map(Symbolic::parts).collect::<Option<_>>()?;
                        Symbolic::stack(parts.concat())
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn scalar(exprs: &mut Exprs, op: ArithmeticOp, a: ExprId, b: ExprId) -> ExprId {
    match op {
        ArithmeticOp::Add => exprs.add(a, b),
        ArithmeticOp::Sub => exprs.sub(a, b),
        ArithmeticOp::Mul => exprs.mul(a, b),
        ArithmeticOp::Div => exprs.written_div(a, b),
        ArithmeticOp::Pow => exprs.pow(a, b),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::{FileId, Id, IdVec, Name, Span};

    use super::*;
    use crate::function::{Local, Type};
    use crate::model::VarId;

    fn span() -> Span {
        Span::new(FileId::from_index(0), 0, 0)
    }

    /// `output v1[2] := transpose(T)*v2` of a 2×2 matrix and a vector, the loop written with `if` on an element.
    fn rotation() -> Function {
        let local = |name: &str, sizes: &[i64]| Local {
            name: Name::new(name),
            ty: Type::Real,
            sizes: sizes.iter().map(|&size| Some(Expr::Integer(size))).collect(),
            default: None,
            span: span(),
        };
        let locals: IdVec<LocalId, Local> =
            [local("T", &[2, 2]), local("v2", &[2]), local("v1", &[2])].into_iter().collect();
        let id = LocalId::from_index;
        let transposed = Expr::Whole(ArrayFunction::Transpose, vec![Expr::Local(id(0))]);
        let product = Expr::Arithmetic(ArithmeticOp::Mul, Box::new(transposed), Box::new(Expr::Local(id(1))));
        let statement = StatementKind::Assign(Target { local: id(2), steps: Vec::new() }, product);
        Function {
            name: Name::new("resolve1"),
            inputs: vec![id(0), id(1)],
            outputs: vec![id(2)],
            locals,
            body: Body::Algorithm(vec![Statement { kind: statement, span: span() }]),
            pure: true,
            inline: Inline::Late,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            span: span(),
        }
    }

    #[test]
    fn calls_become_scalars() {
        let mut exprs = Exprs::new();
        let mut functions = Functions::default();
        let function = functions.push(Arc::new(rotation()));
        let inputs =
            vec![Shape::Array(vec![2, 2], Box::new(Shape::Scalar)), Shape::Array(vec![2], Box::new(Shape::Scalar))];
        let outputs = vec![Shape::Array(vec![2], Box::new(Shape::Scalar))];
        let site = exprs.site(CallSite { function, inputs, outputs });
        let args: Vec<ExprId> = (0..6).map(|index| exprs.var(VarId::from_index(index))).collect();
        let call = exprs.call(site, &args, 1);
        let written = Inliner::new().expand(&mut exprs, &functions, call);
        let (first, second) = (exprs.mul(args[1], args[4]), exprs.mul(args[3], args[5]));
        assert_eq!(written, exprs.add(first, second));
    }
}
