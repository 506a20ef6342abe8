//! Functions of the model as code, specialised to the shapes they are called with.
//!
//! A function is evaluated once at translation time on values whose scalars are either known or addresses: arithmetic
//! on what is known is done, everything else becomes operations (partial evaluation; Jones, Gomard, Sestoft 1993). So
//! sizes, branches on sizes and short loops disappear; long loops, branches and subscripts on what is computed at run
//! time remain. Array functions that only move elements are those of `dae::arrays`, applied to addresses.
//!
//! Each specialised function has its variables at fixed addresses of its own, so a call costs moves and a jump and
//! never allocates. A function that calls itself, works on texts or has sizes known only at run time stays with the
//! evaluator, as do functions in other languages.

use std::rc::Rc;
use std::sync::Arc;

use base::IdVec;
use dae::arrays::{self, Selection};
use dae::evaluate::{Evaluator, NoExternals};
use dae::expr::Shape;
use dae::function::{
    ArithmeticOp, ArrayFunction, Body, Expr, Function, LocalId, ReductionOp, Statement, StatementKind, Step, Subscript,
    Target, Type,
};
use dae::tangent::contains_reals;
use dae::value::Array;
use dae::{Builtin, CallSite, CompareOp, ExprId, Exprs, FunctionId, Functions, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{Address, Code, Op, REGION_MASK, TEMPORARY};
use crate::lower::{Pool, unary};
use crate::math::{Binary, Unary, comparison};
use crate::program::ChunkId;

/// Operations of one specialised function.
const MAX_OPERATIONS: usize = 30_000;
/// Statements a loop may become when it is written out.
const UNROLLED: usize = 64;
/// Versions of one function that differ in constants.
const MAX_VERSIONS: u32 = 16;
/// Marks an address that is computed at run time: the rest is the number of an `Indexed`.
const INDEXED: u64 = 1 << 40;

/// How the code of a call is entered.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeCall {
    pub chunk: ChunkId,
    /// Which scalar argument goes where.
    pub inputs: Vec<(u32, Address)>,
    /// Where each scalar result is.
    pub outputs: Vec<Source>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Source {
    At(Address),
    Known(f64),
}

/// Why a function stays with the evaluator.
type Unsupported = String;
type Made<T = Value> = Result<T, Unsupported>;

struct Instance {
    chunk: ChunkId,
    /// Where the arguments go that are not part of the specialisation.
    inputs: Vec<Address>,
    outputs: Vec<Value>,
}

/// Makes and keeps specialised functions.
pub struct Specializer<'a> {
    pub functions: &'a Functions,
    pub exprs: &'a mut Exprs,
    pub pool: &'a mut Pool,
    pub chunks: &'a mut IdVec<ChunkId, Code>,
    /// The first address behind the layout, where frames begin.
    pub frames: Address,
    pub origin: ExprId,
    instances: FxHashMap<(FunctionId, Vec<u64>), Option<Rc<Instance>>>,
    versions: FxHashMap<FunctionId, u32>,
    active: Vec<FunctionId>,
}

impl<'a> Specializer<'a> {
    pub fn new(
        functions: &'a Functions,
        exprs: &'a mut Exprs,
        pool: &'a mut Pool,
        chunks: &'a mut IdVec<ChunkId, Code>,
        frames: Address,
        origin: ExprId,
    ) -> Self {
        Self {
            functions,
            exprs,
            pool,
            chunks,
            frames,
            origin,
            instances: FxHashMap::default(),
            versions: FxHashMap::default(),
            active: Vec::new(),
        }
    }

    /// Code for an entry of the call table; `None` leaves it to the evaluator.
    pub fn entry(&mut self, index: usize) -> Option<NativeCall> {
        let entry = self.pool.calls[index].clone();
        let site = self.exprs.call_site(entry.site).clone();
        let function = self.functions.get(site.function)?.clone();
        let known: FxHashMap<u32, f64> = entry.fixed.iter().copied().collect();
        let mut next = 0;
        let mut arguments = Vec::new();
        for (&local, shape) in function.inputs.iter().zip(&site.inputs) {
            let mut leaf = |ty: &Type| {
                let argument = next;
                next += 1;
                match (known.get(&argument), ty) {
                    (Some(&value), Type::Integer) => Value::Integer(value as i64),
                    (Some(&value), Type::Boolean) => Value::Boolean(value != 0.0),
                    (Some(&value), Type::Enumeration(_)) => Value::Enumeration(value as i64),
                    (Some(&value), Type::String) => match self.pool.strings.get(value) {
                        Some(text) => Value::String(text.clone()),
                        None => Value::Object(u64::from(argument)),
                    },
                    _ => Value::Object(u64::from(argument)),
                }
            };
            arguments.push(symbolic(self.functions, shape, &function.locals[local].ty, &mut leaf)?);
        }
        let called = if entry.tangent {
            let (tangent, taken) = entry.tangent_function?;
            for &input in taken.iter() {
                let ty = &function.locals[*function.inputs.get(input)?].ty;
                arguments.push(derivative(arguments.get(input)?, ty, u64::from(entry.arguments)));
            }
            tangent
        } else {
            site.function
        };
        let mut sources = Vec::new();
        arguments.iter().for_each(|argument| leaves(argument, &mut sources));
        let instance = self.instance(called, arguments)?;
        if sources.len() != instance.inputs.len() {
            return None;
        }
        let inputs = sources.into_iter().map(|source| source as u32).zip(instance.inputs.iter().copied()).collect();
        let outputs = self.sources(&instance.outputs, &function, &site, entry.tangent)?;
        Some(NativeCall { chunk: instance.chunk, inputs, outputs })
    }

    /// The scalars of the results; a tangent function gives those of outputs with Reals only.
    fn sources(
        &mut self,
        outputs: &[Value],
        function: &Function,
        site: &CallSite,
        tangent: bool,
    ) -> Option<Vec<Source>> {
        let mut sources = Vec::new();
        let mut given = outputs.iter();
        for (&local, shape) in function.outputs.iter().zip(&site.outputs) {
            let start = sources.len();
            if tangent && !contains_reals(&function.locals[local].ty) {
                sources.resize(start + shape.scalars(), Source::Known(0.0));
                continue;
            }
            let mut scalars = Vec::new();
            given.next()?.clone().flatten_into(&mut scalars);
            for scalar in scalars {
                sources.push(match scalar {
                    Value::Object(address) => Source::At(address as Address),
                    Value::String(text) => Source::Known(self.pool.strings.intern(&text)),
                    other => Source::Known(other.as_real()?),
                });
            }
            if sources.len() - start != shape.scalars() {
                return None;
            }
        }
        Some(sources)
    }

    fn instance(&mut self, id: FunctionId, arguments: Vec<Value>) -> Option<Rc<Instance>> {
        let general = self.versions.get(&id).is_some_and(|&versions| versions >= MAX_VERSIONS);
        let mut key = Vec::new();
        let arguments: Vec<Value> = arguments.into_iter().map(|argument| generalize(argument, general)).collect();
        arguments.iter().for_each(|argument| describe(argument, self.pool, &mut key));
        if let Some(known) = self.instances.get(&(id, key.clone())) {
            return known.clone();
        }
        *self.versions.entry(id).or_insert(0) += 1;
        if self.active.contains(&id) {
            return None;
        }
        self.active.push(id);
        let made = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.make(id, arguments)).ok().map(Rc::new);
        self.active.pop();
        self.instances.insert((id, key), made.clone());
        made
    }

    fn make(&mut self, id: FunctionId, arguments: Vec<Value>) -> Made<Instance> {
        let function = self.functions.get(id).ok_or("no such function")?.clone();
        let Body::Algorithm(statements) = &function.body else { return Err("it has no statements".into()) };
        if !function.pure {
            return Err("it is impure".into());
        }
        let before = (self.pool.frames, self.chunks.len());
        let mut inputs = Vec::new();
        let arguments = arguments.into_iter().map(|argument| self.open(argument, &mut inputs)).collect::<Vec<_>>();
        let usage = Usage::of(&function, statements);
        let mut maker = Maker {
            special: self,
            function: function.clone(),
            locals: IdVec::filled(None, function.locals.len()),
            stored: FxHashSet::default(),
            usage,
            code: Code::default(),
            indexed: Vec::new(),
            loops: 0,
        };
        let made = maker.run(arguments, statements);
        let mut code = maker.code;
        let outputs = match made {
            Ok(outputs) => outputs,
            Err(reason) => {
                // Chunks of functions called inside may stay; they are used elsewhere or cost nothing.
                if self.chunks.len() == before.1 {
                    self.pool.frames = before.0;
                }
                return Err(reason);
            }
        };
        // The temporaries become addresses of this function alone.
        let first = self.cells(code.temporaries);
        let settle = |address: Address| match address & REGION_MASK {
            TEMPORARY => first + (address & !REGION_MASK),
            _ => address,
        };
        code.ops.iter_mut().for_each(|op| *op = op.map(settle));
        code.private = first..first + code.temporaries;
        code.temporaries = 0;
        let outputs = outputs.into_iter().map(|output| map_leaves(output, &mut |a| u64::from(settle(a as Address))));
        let outputs: Vec<Value> = outputs.collect();
        let mut results = Vec::new();
        outputs.iter().for_each(|output| leaves(output, &mut results));
        code.outputs = results.into_iter().map(|result| result as Address).collect();
        Ok(Instance { chunk: self.chunks.push(code), inputs, outputs })
    }

    /// Consecutive addresses that live as long as the program.
    fn cells(&mut self, count: u32) -> Address {
        let first = self.frames + self.pool.frames;
        self.pool.frames += count;
        first
    }

    /// Gives every scalar that is not known an address of its own.
    fn open(&mut self, value: Value, inputs: &mut Vec<Address>) -> Value {
        map_leaves(value, &mut |_| {
            let cell = self.cells(1);
            inputs.push(cell);
            u64::from(cell)
        })
    }
}

/// What the statements do to the variables of a function.
struct Usage {
    /// Variables that are assigned as a whole and outside of branches and loops only: such an assignment just names a
    /// value.
    names: FxHashSet<LocalId>,
    /// Whether the function can end before its last statement.
    leaves_early: bool,
}

impl Usage {
    fn of(function: &Function, statements: &[Statement]) -> Self {
        let mut usage = Usage { names: function.locals.ids().collect(), leaves_early: false };
        usage.visit(statements, 0);
        if usage.leaves_early {
            usage.names.retain(|local| !function.outputs.contains(local));
        }
        usage
    }

    fn visit(&mut self, statements: &[Statement], depth: usize) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign(target, _) => self.assigned(target, depth),
                StatementKind::AssignSeveral(targets, _) => {
                    targets.iter().flatten().for_each(|target| self.assigned(target, depth));
                }
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.visit(body, depth + 1));
                    self.visit(otherwise, depth + 1);
                }
                StatementKind::For { body, .. } | StatementKind::While { body, .. } => self.visit(body, depth + 1),
                StatementKind::Return => self.leaves_early = true,
                StatementKind::Assert { warning, .. } => self.leaves_early |= !warning,
                StatementKind::Break | StatementKind::Call(_) => {}
            }
        }
    }

    fn assigned(&mut self, target: &Target, depth: usize) {
        if depth > 0 || !target.steps.is_empty() {
            self.names.remove(&target.local);
        }
    }
}

/// Whether a loop is left from within.
fn breaks(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StatementKind::Break => true,
        StatementKind::If { branches, otherwise } => branches.iter().any(|(_, body)| breaks(body)) || breaks(otherwise),
        _ => false,
    })
}

fn weight(statements: &[Statement]) -> usize {
    let inner = |statement: &Statement| match &statement.kind {
        StatementKind::If { branches, otherwise } => {
            branches.iter().map(|(_, body)| weight(body)).sum::<usize>() + weight(otherwise)
        }
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => 8 * weight(body),
        _ => 0,
    };
    statements.iter().map(|statement| 1 + inner(statement)).sum()
}

/// An address that depends on a subscript.
#[derive(Clone, Copy)]
struct Indexed {
    base: Address,
    index: Address,
    length: u32,
}

struct Maker<'s, 'a> {
    special: &'s mut Specializer<'a>,
    function: Arc<Function>,
    locals: IdVec<LocalId, Option<Value>>,
    /// Addresses that change when variables are assigned.
    stored: FxHashSet<Address>,
    usage: Usage,
    code: Code,
    indexed: Vec<Indexed>,
    /// Open loops in the code.
    loops: u32,
}

impl Maker<'_, '_> {
    fn run(&mut self, arguments: Vec<Value>, statements: &[Statement]) -> Made<Vec<Value>> {
        let function = self.function.clone();
        self.enter(&function, arguments)?;
        let early = self.usage.leaves_early;
        if early {
            self.push(Op::Loop)?;
            self.loops += 1;
        }
        self.statements(statements)?;
        if early {
            self.loops -= 1;
            self.push(Op::EndLoop { start: 0, repeat: false })?;
        }
        function.outputs.iter().map(|&output| self.local(output)).collect()
    }

    /// Gives inputs their arguments, and variables their places and first values.
    fn enter(&mut self, function: &Function, arguments: Vec<Value>) -> Made<()> {
        let given: FxHashSet<LocalId> = function.inputs.iter().copied().take(arguments.len()).collect();
        for (&input, argument) in function.inputs.iter().zip(arguments) {
            self.locals[input] = Some(argument);
        }
        for (id, local) in function.locals.iter() {
            if given.contains(&id) || matches!(local.ty, Type::Function(_)) {
                continue;
            }
            let first = match &local.default {
                Some(default) => {
                    let value = self.eval(default)?;
                    Some(self.detach(value.coerce(&local.ty))?)
                }
                None => None,
            };
            if self.usage.names.contains(&id) {
                // A variable of unknown size is named later; one of known size starts as zero.
                self.locals[id] = match first {
                    Some(value) => Some(value),
                    None => self.sizes(&local.sizes).ok().and_then(|sizes| zero(&local.ty, &sizes).ok()),
                };
                continue;
            }
            let value = match first {
                Some(value) => value,
                None => {
                    let sizes = self.sizes(&local.sizes)?;
                    zero(&local.ty, &sizes)?
                }
            };
            let place = self.place(&value)?;
            self.store(&place, value)?;
            self.locals[id] = Some(place);
        }
        Ok(())
    }

    fn sizes(&mut self, sizes: &[Option<Expr>]) -> Made<Vec<usize>> {
        let mut found = Vec::with_capacity(sizes.len());
        for size in sizes {
            let size = size.as_ref().ok_or("a size is not known")?;
            let value = self.eval(size)?;
            found.push(usize::try_from(known_integer(&value)?).unwrap_or(0));
        }
        Ok(found)
    }

    /// Places for the scalars of a variable: temporaries for a scalar, consecutive addresses for an array.
    fn place(&mut self, like: &Value) -> Made {
        let mut scalars = Vec::new();
        like.clone().flatten_into(&mut scalars);
        let single = !matches!(like, Value::Array(_) | Value::Record(_));
        let mut next = if single { self.temporaries(1) } else { self.special.cells(scalars.len() as u32) };
        self.stored.extend(next..next + scalars.len() as u32);
        replace_scalars(like, &mut || {
            next += 1;
            Value::Object(u64::from(next - 1))
        })
    }

    fn statements(&mut self, statements: &[Statement]) -> Made<()> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Made<()> {
        match &statement.kind {
            StatementKind::Assign(target, value) => {
                let value = self.eval(value)?;
                self.assign(target, value)
            }
            StatementKind::AssignSeveral(targets, call) => {
                let values = self.eval_several(call)?;
                for (target, value) in targets.iter().zip(values) {
                    if let Some(target) = target {
                        self.assign(target, value)?;
                    }
                }
                Ok(())
            }
            StatementKind::If { branches, otherwise } => self.branches(branches, otherwise),
            StatementKind::For { iterator, range, body } => self.for_loop(*iterator, range, body),
            StatementKind::While { condition, body } => {
                self.push(Op::Loop)?;
                self.loops += 1;
                let condition = self.eval(condition)?;
                self.leave_unless(&condition)?;
                self.statements(body)?;
                self.loops -= 1;
                self.push(Op::EndLoop { start: 0, repeat: true })
            }
            StatementKind::Break => self.push(Op::Exit { levels: 1, target: 0 }),
            StatementKind::Return => self.push(Op::Exit { levels: self.loops, target: 0 }),
            StatementKind::Assert { warning: true, .. } => Ok(()),
            StatementKind::Assert { condition, .. } => {
                let condition = self.eval(condition)?;
                match condition {
                    Value::Boolean(true) => Ok(()),
                    Value::Boolean(false) => self.fail(),
                    condition => {
                        let condition = self.address(&condition)?;
                        self.push(Op::If { condition, otherwise: 0 })?;
                        self.push(Op::Else { end: 0 })?;
                        self.fail()?;
                        self.push(Op::EndIf)
                    }
                }
            }
            StatementKind::Call(_) => Err("it calls a function for its effect".into()),
        }
    }

    /// No value: the caller finds NaN, and the evaluator tells why.
    fn fail(&mut self) -> Made<()> {
        let nan = self.special.pool.constants.address(f64::NAN);
        for output in self.function.outputs.clone() {
            let mut places = Vec::new();
            leaves(&self.local(output)?, &mut places);
            for place in places {
                self.push(Op::Move { to: place as Address, a: nan })?;
            }
        }
        self.push(Op::Exit { levels: self.loops, target: 0 })
    }

    fn leave_unless(&mut self, condition: &Value) -> Made<()> {
        let condition = self.address(condition)?;
        self.push(Op::If { condition, otherwise: 0 })?;
        self.push(Op::Else { end: 0 })?;
        self.push(Op::Exit { levels: 1, target: 0 })?;
        self.push(Op::EndIf)
    }

    fn branches(&mut self, branches: &[(Expr, Vec<Statement>)], otherwise: &[Statement]) -> Made<()> {
        let mut open = 0;
        let mut decided = false;
        for (condition, body) in branches {
            match self.eval(condition)? {
                Value::Boolean(false) => continue,
                Value::Boolean(true) => {
                    self.statements(body)?;
                    decided = true;
                    break;
                }
                condition => {
                    let condition = self.address(&condition)?;
                    self.push(Op::If { condition, otherwise: 0 })?;
                    self.statements(body)?;
                    self.push(Op::Else { end: 0 })?;
                    open += 1;
                }
            }
        }
        if !decided {
            self.statements(otherwise)?;
        }
        (0..open).try_for_each(|_| self.push(Op::EndIf))
    }

    fn for_loop(&mut self, iterator: LocalId, range: &Expr, body: &[Statement]) -> Made<()> {
        if let Expr::Range(start, step, stop) = range {
            let start = self.eval(start)?;
            let step = step.as_ref().map(|step| self.eval(step)).transpose()?.unwrap_or(Value::Integer(1));
            let stop = self.eval(stop)?;
            if is_known(&start) && is_known(&step) && is_known(&stop) {
                let values = arrays::range(&start, Some(&step), &stop)?;
                return match (&start, &step) {
                    (Value::Integer(_), Value::Integer(_)) if !self.unrolls(&values, body) => {
                        self.counting(iterator, &start, known_integer(&step)?, &stop, body)
                    }
                    _ => self.unrolled(iterator, values, body),
                };
            }
            return self.counting(iterator, &start, known_integer(&step)?, &stop, body);
        }
        let values = self.eval(range)?;
        let values = self.detach(values)?;
        self.unrolled(iterator, values, body)
    }

    fn unrolls(&self, values: &Value, body: &[Statement]) -> bool {
        let count = values.sizes().first().copied().unwrap_or(1);
        !breaks(body) && (count <= 2 || count * weight(body) <= UNROLLED)
    }

    fn unrolled(&mut self, iterator: LocalId, values: Value, body: &[Statement]) -> Made<()> {
        if breaks(body) {
            return Err("it leaves a loop over values".into());
        }
        for value in parts(values) {
            self.locals[iterator] = Some(value);
            self.statements(body)?;
        }
        Ok(())
    }

    fn counting(&mut self, iterator: LocalId, start: &Value, step: i64, stop: &Value, body: &[Statement]) -> Made<()> {
        let stop = self.detach(stop.clone())?;
        let (start, stop) = (self.address(start)?, self.address(&stop)?);
        let counter = self.temporaries(1);
        let step_address = self.special.pool.constants.address(step as f64);
        self.push(Op::Move { to: counter, a: start })?;
        self.push(Op::Loop)?;
        self.loops += 1;
        let (a, b) = if step > 0 { (counter, stop) } else { (stop, counter) };
        let inside = self.binary(Binary::LessEqual, a, b)?;
        self.leave_unless(&Value::Object(u64::from(inside)))?;
        self.locals[iterator] = Some(Value::Object(u64::from(counter)));
        self.statements(body)?;
        self.push(Op::Binary { function: Binary::Add, to: counter, a: counter, b: step_address })?;
        self.loops -= 1;
        self.push(Op::EndLoop { start: 0, repeat: true })
    }

    fn assign(&mut self, target: &Target, value: Value) -> Made<()> {
        let function = self.function.clone();
        let local = function.locals.get(target.local).ok_or("no such variable")?;
        if target.steps.is_empty() {
            let value = value.coerce(&local.ty);
            if self.usage.names.contains(&target.local) {
                self.locals[target.local] = Some(self.detach(value)?);
                return Ok(());
            }
            let place = self.local(target.local)?;
            return self.store(&place, value);
        }
        let mut place = self.local(target.local)?;
        for step in &target.steps {
            place = match step {
                Step::Field(index) => arrays::field(&place, *index)?.into_owned(),
                Step::Index(subscripts) => self.select(&place, subscripts, true)?,
            };
        }
        self.store(&place, value)
    }

    /// Writes a value to places of the same shape.
    fn store(&mut self, place: &Value, value: Value) -> Made<()> {
        let mut places = Vec::new();
        leaves(place, &mut places);
        let mut scalars = Vec::new();
        value.flatten_into(&mut scalars);
        if places.len() == 1 && scalars.len() == 1 || places.len() == scalars.len() {
            let mut sources = Vec::with_capacity(scalars.len());
            for scalar in &scalars {
                sources.push(self.address(scalar)?);
            }
            // Values that are read from what is written are taken aside first.
            let overlap = sources.len() > 1 && sources.iter().any(|source| places.contains(&u64::from(*source)));
            if overlap {
                for source in &mut sources {
                    let to = self.temporaries(1);
                    self.push(Op::Move { to, a: *source })?;
                    *source = to;
                }
            }
            for (place, a) in places.into_iter().zip(sources) {
                if place & INDEXED != 0 {
                    let Indexed { base, index, length } = self.indexed[(place & !INDEXED) as usize];
                    self.push(Op::StoreAt { base, index, length, a })?;
                } else {
                    self.push(Op::Move { to: place as Address, a })?;
                }
            }
            return Ok(());
        }
        Err("a value of another size is assigned".into())
    }

    /// The value independent of later assignments.
    fn detach(&mut self, value: Value) -> Made {
        let mut found = Vec::new();
        leaves(&value, &mut found);
        if !found.iter().any(|&leaf| self.stored.contains(&(leaf as Address))) {
            return Ok(value);
        }
        let mut copies = Vec::with_capacity(found.len());
        for leaf in found {
            let to = self.temporaries(1);
            self.push(Op::Move { to, a: leaf as Address })?;
            copies.push(u64::from(to));
        }
        let mut copies = copies.into_iter();
        Ok(map_leaves(value, &mut |leaf| copies.next().unwrap_or(leaf)))
    }

    fn local(&self, id: LocalId) -> Made {
        self.locals.get(id).cloned().flatten().ok_or_else(|| "a variable has no value".into())
    }

    fn push(&mut self, op: Op) -> Made<()> {
        if self.code.ops.len() >= MAX_OPERATIONS {
            return Err("it is too long".into());
        }
        self.code.ops.push(op);
        self.code.origins.push(self.special.origin);
        Ok(())
    }

    fn temporaries(&mut self, count: u32) -> Address {
        let first = TEMPORARY | self.code.temporaries;
        self.code.temporaries += count;
        first
    }

    /// Where a scalar is; known ones are constants.
    fn address(&mut self, value: &Value) -> Made<Address> {
        match value {
            Value::Object(leaf) if leaf & INDEXED != 0 => {
                let Indexed { base, index, length } = self.indexed[(leaf & !INDEXED) as usize];
                let to = self.temporaries(1);
                self.push(Op::LoadAt { to, base, index, length })?;
                Ok(to)
            }
            Value::Object(address) => Ok(*address as Address),
            Value::String(text) => {
                let number = self.special.pool.strings.intern(text);
                Ok(self.special.pool.constants.address(number))
            }
            other => {
                let number = other.as_real().ok_or("a scalar is expected")?;
                Ok(self.special.pool.constants.address(number))
            }
        }
    }

    fn unary(&mut self, function: Unary, value: &Value) -> Made {
        let a = self.address(value)?;
        let to = self.temporaries(1);
        self.push(Op::Unary { function, to, a })?;
        Ok(Value::Object(u64::from(to)))
    }

    fn binary(&mut self, function: Binary, a: Address, b: Address) -> Made<Address> {
        let to = self.temporaries(1);
        self.push(Op::Binary { function, to, a, b })?;
        Ok(to)
    }

    fn combine(&mut self, function: Binary, a: &Value, b: &Value) -> Made {
        let (a, b) = (self.address(a)?, self.address(b)?);
        Ok(Value::Object(u64::from(self.binary(function, a, b)?)))
    }

    fn eval_all(&mut self, exprs: &[Expr]) -> Made<Vec<Value>> {
        exprs.iter().map(|expr| self.eval(expr)).collect()
    }

    fn eval(&mut self, expr: &Expr) -> Made {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.eval_inner(expr))
    }

    fn eval_inner(&mut self, expr: &Expr) -> Made {
        match expr {
            Expr::Real(value) => Ok(Value::Real(*value)),
            Expr::Integer(value) => Ok(Value::Integer(*value)),
            Expr::Boolean(value) => Ok(Value::Boolean(*value)),
            Expr::String(text) => Ok(Value::String(text.clone())),
            Expr::Enumeration(_, ordinal) => Ok(Value::Enumeration(*ordinal)),
            Expr::Local(local) => self.local(*local),
            Expr::Index(array, subscripts) => {
                let array = self.eval(array)?;
                let selected = self.select(&array, subscripts, false)?;
                self.load(selected)
            }
            Expr::Field(record, index) => {
                let record = self.eval(record)?;
                Ok(arrays::field(&record, *index)?.into_owned())
            }
            Expr::Neg(a) => {
                let a = self.eval(a)?;
                self.map(a, &mut |this, x| match is_known(x) {
                    true => Ok(arrays::negate(x.clone())?),
                    false => this.unary(Unary::Neg, x),
                })
            }
            Expr::Not(a) => {
                let a = self.eval(a)?;
                self.map(a, &mut |this, x| match is_known(x) {
                    true => Ok(arrays::not(x.clone())?),
                    false => this.unary(Unary::Not, x),
                })
            }
            Expr::Arithmetic(op, a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                self.arithmetic(*op, a, b)
            }
            Expr::Elementwise(op, a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                self.elementwise(a, b, &mut |this, x, y| this.scalar(*op, x, y))
            }
            Expr::And(a, b) => self.logic(Binary::And, a, b),
            Expr::Or(a, b) => self.logic(Binary::Or, a, b),
            Expr::Compare(op, a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                self.compare(*op, a, b)
            }
            Expr::If(condition, then, otherwise) => self.choice(condition, then, otherwise),
            Expr::Array(items) => {
                let items = self.eval_all(items)?;
                Value::from_parts(items).ok_or_else(|| "elements of different sizes".into())
            }
            Expr::Range(start, step, stop) => {
                let start = self.eval(start)?;
                let step = step.as_ref().map(|step| self.eval(step)).transpose()?;
                let stop = self.eval(stop)?;
                if !is_known(&start) || !is_known(&stop) || step.as_ref().is_some_and(|step| !is_known(step)) {
                    return Err("a range has bounds known only at run time".into());
                }
                Ok(arrays::range(&start, step.as_ref(), &stop)?)
            }
            Expr::ArrayFor { element, iterators } => {
                let mut values = Vec::new();
                let counts = self.iterate(element, iterators, &mut values)?;
                let outer: Vec<usize> = counts.into_iter().rev().collect();
                match Value::from_parts(values) {
                    Some(Value::Array(array)) => {
                        let inner = array.sizes.get(1..).unwrap_or(&[]);
                        Ok(Value::array([&outer[..], inner].concat(), array.elements))
                    }
                    _ => Err("elements of different sizes".into()),
                }
            }
            Expr::Reduction { op, element, iterators } => {
                let mut values = Vec::new();
                self.iterate(element, iterators, &mut values)?;
                self.reduce(*op, values)
            }
            Expr::Record(record, fields) => {
                Ok(Value::Record(self.eval_all(fields)?).coerce(&Type::Record(record.clone())))
            }
            Expr::Builtin(op, arguments) => {
                let arguments = self.eval_all(arguments)?;
                self.builtin(*op, arguments)
            }
            Expr::Whole(function, arguments) => {
                let arguments = self.eval_all(arguments)?;
                self.whole(*function, arguments)
            }
            Expr::Call(..) | Expr::CallLocal(..) => {
                let outputs = self.eval_several(expr)?;
                outputs.into_iter().next().ok_or_else(|| "a function without output is a value".into())
            }
            Expr::FunctionValue(function, given) => {
                let mut values = Vec::with_capacity(given.len());
                for (position, expr) in given {
                    values.push((*position, self.eval(expr)?));
                }
                Ok(Value::Function { function: *function, given: values })
            }
            Expr::LocalValue(local, given) => {
                let mut more = Vec::with_capacity(given.len());
                for (position, expr) in given {
                    more.push((*position, self.eval(expr)?));
                }
                let Value::Function { function, given } = self.local(*local)? else {
                    return Err("inputs are given to what is no function".into());
                };
                let inputs = self.special.functions.get(function).map_or(0, |function| function.inputs.len());
                Ok(Value::Function { function, given: dae::function::give(inputs, given, more) })
            }
            Expr::Vectorized { function, arguments, over } => {
                let arguments = self.eval_all(arguments)?;
                self.vectorized(*function, &arguments, over)
            }
        }
    }

    fn eval_several(&mut self, expr: &Expr) -> Made<Vec<Value>> {
        match expr {
            Expr::Call(function, arguments) => {
                let arguments = self.eval_all(arguments)?;
                self.call(*function, arguments)
            }
            Expr::CallLocal(local, arguments) => {
                let free = self.eval_all(arguments)?;
                let Value::Function { function, given } = self.local(*local)? else {
                    return Err("what is called is no function".into());
                };
                let inputs = self.special.functions.get(function).map_or(0, |function| function.inputs.len());
                let mut free = free.into_iter();
                let mut all = Vec::new();
                for position in 0..inputs {
                    match given.iter().find(|(k, _)| *k as usize == position) {
                        Some((_, value)) => all.push(value.clone()),
                        None => all.extend(free.next()),
                    }
                }
                self.call(function, all)
            }
            other => Ok(vec![self.eval(other)?]),
        }
    }

    /// Selected elements; with `place` those of a variable, to be written.
    fn select(&mut self, value: &Value, subscripts: &[Subscript], place: bool) -> Made {
        let Value::Array(array) = value else { return Err("a subscript of what is no array".into()) };
        let mut selections = Vec::with_capacity(subscripts.len());
        let mut computed: Vec<(usize, Address)> = Vec::new();
        for (dimension, subscript) in subscripts.iter().enumerate() {
            selections.push(match subscript {
                Subscript::All => Selection::All,
                Subscript::Expr(expr) => match self.eval(expr)? {
                    Value::Array(indices) => {
                        Selection::Many(indices.elements.iter().map(position).collect::<Made<_>>()?)
                    }
                    index if is_known(&index) => Selection::One(position(&index)?),
                    index => {
                        computed.push((dimension, self.address(&index)?));
                        Selection::One(0)
                    }
                },
            });
        }
        if computed.is_empty() {
            return Ok(arrays::select(value, &selections)?.into_owned());
        }
        if array.elements.is_empty() || array.sizes.contains(&0) {
            return Err("an element of an empty array".into());
        }
        let (array, first, count) = self.consecutive(array, place)?;
        let mut sum: Option<Address> = None;
        for (dimension, index) in computed {
            let behind: usize = array.sizes.get(dimension + 1..).unwrap_or(&[]).iter().product();
            let stride = (behind * count / array.elements.len()) as f64;
            let one = self.special.pool.constants.address(1.0);
            let mut term = self.binary(Binary::Sub, index, one)?;
            if stride != 1.0 {
                let stride = self.special.pool.constants.address(stride);
                term = self.binary(Binary::Mul, term, stride)?;
            }
            sum = Some(match sum {
                Some(sum) => self.binary(Binary::Add, sum, term)?,
                None => term,
            });
        }
        let Some(index) = sum else { return Err("no subscript".into()) };
        let selected = arrays::select(&Value::Array(array), &selections)?.into_owned();
        let end = first + count as u32;
        Ok(map_leaves(selected, &mut |leaf| {
            let base = leaf as Address;
            self.indexed.push(Indexed { base, index, length: end - base });
            INDEXED | (self.indexed.len() as u64 - 1)
        }))
    }

    /// The array with its scalars at consecutive addresses, their start and number.
    fn consecutive(&mut self, array: &Array, place: bool) -> Made<(Array, Address, usize)> {
        let mut scalars = Vec::new();
        Value::Array(array.clone()).flatten_into(&mut scalars);
        let count = scalars.len();
        if let Some(Value::Object(first)) = scalars.first() {
            let first = *first;
            let is_row = first & INDEXED == 0
                && (first as Address) & REGION_MASK == 0
                && scalars.iter().enumerate().all(|(k, scalar)| *scalar == Value::Object(first + k as u64));
            if is_row {
                return Ok((array.clone(), first as Address, count));
            }
        }
        if place {
            return Err("a computed subscript into a part of a variable".into());
        }
        let first = self.special.cells(count as u32);
        for (to, scalar) in (first..).zip(&scalars) {
            let a = self.address(scalar)?;
            self.push(Op::Move { to, a })?;
        }
        let mut next = u64::from(first);
        let copy = replace_scalars(&Value::Array(array.clone()), &mut || {
            next += 1;
            Value::Object(next - 1)
        })?;
        match copy {
            Value::Array(array) => Ok((array, first, count)),
            _ => Err("an array is expected".into()),
        }
    }

    /// Reads what computed subscripts select.
    fn load(&mut self, value: Value) -> Made {
        let mut found = Vec::new();
        leaves(&value, &mut found);
        let mut loaded = Vec::with_capacity(found.len());
        for leaf in found {
            loaded.push(match leaf & INDEXED {
                0 => leaf,
                _ => u64::from(self.address(&Value::Object(leaf))?),
            });
        }
        let mut loaded = loaded.into_iter();
        Ok(map_leaves(value, &mut |leaf| loaded.next().unwrap_or(leaf)))
    }

    fn map(&mut self, value: Value, f: &mut dyn FnMut(&mut Self, &Value) -> Made) -> Made {
        match value {
            Value::Array(array) => {
                let elements = array.elements.iter().map(|element| f(self, element)).collect::<Made<Vec<_>>>()?;
                Ok(Value::array(array.sizes, elements))
            }
            scalar => f(self, &scalar),
        }
    }

    fn elementwise(&mut self, a: Value, b: Value, f: &mut dyn FnMut(&mut Self, &Value, &Value) -> Made) -> Made {
        match (a, b) {
            (Value::Array(a), Value::Array(b)) => {
                if a.sizes != b.sizes {
                    return Err("sizes do not agree".into());
                }
                let pairs = a.elements.iter().zip(&b.elements);
                let elements = pairs.map(|(x, y)| f(self, x, y)).collect::<Made<Vec<_>>>()?;
                Ok(Value::array(a.sizes, elements))
            }
            (Value::Array(a), b) => {
                let elements = a.elements.iter().map(|x| f(self, x, &b)).collect::<Made<Vec<_>>>()?;
                Ok(Value::array(a.sizes, elements))
            }
            (a, Value::Array(b)) => {
                let elements = b.elements.iter().map(|y| f(self, &a, y)).collect::<Made<Vec<_>>>()?;
                Ok(Value::array(b.sizes, elements))
            }
            (a, b) => f(self, &a, &b),
        }
    }

    fn scalar(&mut self, op: ArithmeticOp, a: &Value, b: &Value) -> Made {
        if is_known(a) && is_known(b) {
            return Ok(arrays::scalar_arithmetic(op, a, b).unwrap_or(Value::Real(f64::NAN)));
        }
        let function = match op {
            ArithmeticOp::Add => Binary::Add,
            ArithmeticOp::Sub => Binary::Sub,
            ArithmeticOp::Mul => Binary::Mul,
            ArithmeticOp::Div => Binary::Div,
            ArithmeticOp::Pow => match b.as_integer().filter(|_| is_known(b)) {
                Some(1) => return Ok(a.clone()),
                Some(2) => return self.combine(Binary::Mul, a, a),
                Some(3) => {
                    let square = self.combine(Binary::Mul, a, a)?;
                    return self.combine(Binary::Mul, &square, a);
                }
                Some(4) => {
                    let square = self.combine(Binary::Mul, a, a)?;
                    return self.combine(Binary::Mul, &square, &square);
                }
                _ => Binary::Pow,
            },
        };
        self.combine(function, a, b)
    }

    fn arithmetic(&mut self, op: ArithmeticOp, a: Value, b: Value) -> Made {
        match (op, &a, &b) {
            (ArithmeticOp::Mul, Value::Array(x), Value::Array(y)) => self.product(x, y),
            (ArithmeticOp::Pow, Value::Array(_), _) => Err("a power of a matrix".into()),
            _ => self.elementwise(a, b, &mut |this, x, y| this.scalar(op, x, y)),
        }
    }

    fn dot<'v>(&mut self, pairs: impl Iterator<Item = (&'v Value, &'v Value)>) -> Made {
        let mut sum: Option<Value> = None;
        for (x, y) in pairs {
            let term = self.scalar(ArithmeticOp::Mul, x, y)?;
            sum = Some(match sum {
                Some(sum) => self.scalar(ArithmeticOp::Add, &sum, &term)?,
                None => term,
            });
        }
        Ok(sum.unwrap_or(Value::Real(0.0)))
    }

    fn product(&mut self, a: &Array, b: &Array) -> Made {
        let (rows, inner) = match *a.sizes.as_slice() {
            [n] => (1, n),
            [rows, n] => (rows, n),
            _ => return Err("a product of arrays with more than two dimensions".into()),
        };
        let (other, columns) = match *b.sizes.as_slice() {
            [m] => (m, 1),
            [m, columns] => (m, columns),
            _ => return Err("a product of arrays with more than two dimensions".into()),
        };
        if inner != other {
            return Err("sizes do not agree".into());
        }
        let mut elements = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                let left = a.elements[row * inner..(row + 1) * inner].iter();
                elements.push(self.dot(left.zip(b.elements.iter().skip(column).step_by(columns.max(1))))?);
            }
        }
        let sizes = match (a.sizes.len(), b.sizes.len()) {
            (1, 1) => return elements.pop().ok_or_else(|| "nothing".into()),
            (1, _) => vec![columns],
            (_, 1) => vec![rows],
            _ => vec![rows, columns],
        };
        Ok(Value::array(sizes, elements))
    }

    fn logic(&mut self, function: Binary, a: &Expr, b: &Expr) -> Made {
        let a = self.eval(a)?;
        let decides = function == Binary::Or;
        match a {
            Value::Boolean(value) if value == decides => return Ok(Value::Boolean(decides)),
            Value::Boolean(_) => return self.eval(b),
            _ => {}
        }
        let b = self.eval(b)?;
        self.elementwise(a, b, &mut |this, x, y| this.combine(function, x, y))
    }

    fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Made {
        if is_known(&a) && is_known(&b) {
            return arrays::compare(op, &a, &b);
        }
        let is_text = |value: &Value| matches!(value, Value::String(_));
        if (is_text(&a) || is_text(&b)) && !matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            return Err("an order of texts".into());
        }
        let (function, swapped) = comparison(op);
        if swapped { self.combine(function, &b, &a) } else { self.combine(function, &a, &b) }
    }

    fn choice(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Made {
        let condition = match self.eval(condition)? {
            Value::Boolean(true) => return self.eval(then),
            Value::Boolean(false) => return self.eval(otherwise),
            condition => self.address(&condition)?,
        };
        self.push(Op::If { condition, otherwise: 0 })?;
        let first = self.eval(then)?;
        let mut scalars = Vec::new();
        first.clone().flatten_into(&mut scalars);
        let results = self.temporaries(scalars.len() as u32);
        for (to, scalar) in (results..).zip(&scalars) {
            let a = self.address(scalar)?;
            self.push(Op::Move { to, a })?;
        }
        self.push(Op::Else { end: 0 })?;
        let second = self.eval(otherwise)?;
        if first.shape() != second.shape() {
            return Err("branches of different sizes".into());
        }
        let mut scalars = Vec::new();
        second.flatten_into(&mut scalars);
        for (to, scalar) in (results..).zip(&scalars) {
            let a = self.address(scalar)?;
            self.push(Op::Move { to, a })?;
        }
        self.push(Op::EndIf)?;
        let mut next = u64::from(results);
        replace_scalars(&first, &mut || {
            next += 1;
            Value::Object(next - 1)
        })
    }

    fn iterate(&mut self, element: &Expr, iterators: &[(LocalId, Expr)], values: &mut Vec<Value>) -> Made<Vec<usize>> {
        let Some(((iterator, range), faster)) = iterators.split_last() else {
            values.push(self.eval(element)?);
            return Ok(Vec::new());
        };
        let items = parts(self.eval(range)?);
        let count = items.len();
        let mut inner = vec![0; faster.len()];
        for item in items {
            self.locals[*iterator] = Some(item);
            inner = self.iterate(element, faster, values)?;
        }
        inner.push(count);
        Ok(inner)
    }

    fn reduce(&mut self, op: ReductionOp, values: Vec<Value>) -> Made {
        if values.iter().all(is_known) {
            return arrays::reduce(op, values.into_iter());
        }
        let mut result: Option<Value> = None;
        for value in values {
            result = Some(match (result, op) {
                (None, _) => value,
                (Some(left), ReductionOp::Product) => self.arithmetic(ArithmeticOp::Mul, left, value)?,
                (Some(left), ReductionOp::Sum) => {
                    self.elementwise(left, value, &mut |this, x, y| this.scalar(ArithmeticOp::Add, x, y))?
                }
                (Some(left), ReductionOp::Min) => {
                    self.elementwise(left, value, &mut |this, x, y| this.combine(Binary::Min, x, y))?
                }
                (Some(left), ReductionOp::Max) => {
                    self.elementwise(left, value, &mut |this, x, y| this.combine(Binary::Max, x, y))?
                }
            });
        }
        result.ok_or_else(|| "nothing to reduce".into())
    }

    fn builtin(&mut self, op: Builtin, arguments: Vec<Value>) -> Made {
        if arguments.iter().all(is_known) {
            return arrays::builtin(op, arguments);
        }
        // Functions do not make events.
        let op = match op {
            Builtin::FloorEvent => Builtin::Floor,
            Builtin::CeilEvent => Builtin::Ceil,
            Builtin::DivEvent => Builtin::Div,
            Builtin::ModEvent => Builtin::Mod,
            Builtin::RemEvent => Builtin::Rem,
            other => other,
        };
        let mut arguments = arguments.into_iter();
        match (unary(op), arguments.next(), arguments.next(), arguments.next()) {
            (Some(function), Some(a), None, None) => self.map(a, &mut |this, x| match is_known(x) {
                true => Ok(arrays::builtin(op, vec![x.clone()])?),
                false => this.unary(function, x),
            }),
            (None, Some(a), Some(b), None) => self.elementwise(a, b, &mut |this, x, y| this.pair(op, x, y)),
            (None, Some(actual), ..) if op == Builtin::Homotopy => Ok(actual),
            _ => Err(format!("{op:?} in a function")),
        }
    }

    fn pair(&mut self, op: Builtin, x: &Value, y: &Value) -> Made {
        if is_known(x) && is_known(y) {
            return arrays::builtin(op, vec![x.clone(), y.clone()]);
        }
        let rounding = match op {
            Builtin::Atan2 => return self.combine(Binary::Atan2, x, y),
            Builtin::Min => return self.combine(Binary::Min, x, y),
            Builtin::Max => return self.combine(Binary::Max, x, y),
            Builtin::Homotopy => return Ok(x.clone()),
            Builtin::Div | Builtin::Rem => Unary::Truncate,
            Builtin::Mod => Unary::Floor,
            _ => return Err(format!("{op:?} in a function")),
        };
        let quotient = self.combine(Binary::Div, x, y)?;
        let rounded = self.unary(rounding, &quotient)?;
        if op == Builtin::Div {
            return Ok(rounded);
        }
        let product = self.combine(Binary::Mul, &rounded, y)?;
        self.combine(Binary::Sub, x, &product)
    }

    fn whole(&mut self, function: ArrayFunction, arguments: Vec<Value>) -> Made {
        use ArrayFunction as F;
        let moves_only = matches!(
            function,
            F::Size
                | F::Ndims
                | F::Scalar
                | F::Vector
                | F::Matrix
                | F::Diagonal
                | F::Fill
                | F::Transpose
                | F::Symmetric
                | F::Cat
                | F::Promote
        );
        if arguments.iter().all(is_known) {
            return arrays::whole(function, arguments);
        }
        if moves_only {
            // Sizes and dimensions must be known; only elements may be addresses.
            let structural: &[Value] = match function {
                F::Fill => arguments.get(1..).unwrap_or(&[]),
                F::Cat => arguments.get(..1).unwrap_or(&[]),
                F::Promote | F::Size => arguments.get(1..).unwrap_or(&[]),
                _ => &[],
            };
            return match structural.iter().all(is_known) {
                true => Ok(arrays::whole(function, arguments)?),
                false => Err("a size known only at run time".into()),
            };
        }
        match (function, arguments.as_slice()) {
            (F::Min | F::Max, [a, b]) => {
                let op = if function == F::Min { Binary::Min } else { Binary::Max };
                self.combine(op, a, b)
            }
            (F::Min | F::Max | F::Sum | F::Product, [Value::Array(array)]) => {
                let op = match function {
                    F::Min => ReductionOp::Min,
                    F::Max => ReductionOp::Max,
                    F::Sum => ReductionOp::Sum,
                    _ => ReductionOp::Product,
                };
                self.reduce(op, array.elements.clone())
            }
            (F::OuterProduct, [Value::Array(a), Value::Array(b)]) => {
                let mut elements = Vec::with_capacity(a.elements.len() * b.elements.len());
                for x in &a.elements {
                    for y in &b.elements {
                        elements.push(self.scalar(ArithmeticOp::Mul, x, y)?);
                    }
                }
                Ok(Value::array(vec![a.elements.len(), b.elements.len()], elements))
            }
            (F::Cross, [Value::Array(a), Value::Array(b)]) if a.sizes == [3] && b.sizes == [3] => {
                let (x, y) = (&a.elements, &b.elements);
                let mut elements = Vec::with_capacity(3);
                for (i, j) in [(1, 2), (2, 0), (0, 1)] {
                    let left = self.scalar(ArithmeticOp::Mul, &x[i], &y[j])?;
                    let right = self.scalar(ArithmeticOp::Mul, &x[j], &y[i])?;
                    elements.push(self.scalar(ArithmeticOp::Sub, &left, &right)?);
                }
                Ok(Value::array(vec![3], elements))
            }
            (F::Skew, [Value::Array(a)]) if a.sizes == [3] => {
                let minus = a.elements.iter().map(|x| match is_known(x) {
                    true => Ok(arrays::negate(x.clone())?),
                    false => self.unary(Unary::Neg, x),
                });
                let minus = minus.collect::<Made<Vec<_>>>()?;
                let (x, zero) = (&a.elements, Value::Real(0.0));
                let rows = [[&zero, &minus[2], &x[1]], [&x[2], &zero, &minus[0]], [&minus[1], &x[0], &zero]];
                Ok(Value::array(vec![3, 3], rows.into_iter().flatten().cloned().collect()))
            }
            (F::Linspace, [first, last, count]) if is_known(count) => {
                let count = known_integer(count)?.max(2) as usize;
                let width = self.scalar(ArithmeticOp::Sub, last, first)?;
                let mut elements = Vec::with_capacity(count);
                for k in 0..count {
                    let part = self.scalar(ArithmeticOp::Mul, &width, &Value::Real(k as f64))?;
                    let part = self.scalar(ArithmeticOp::Div, &part, &Value::Real((count - 1) as f64))?;
                    elements.push(self.scalar(ArithmeticOp::Add, first, &part)?);
                }
                elements[count - 1] = last.clone();
                Ok(Value::array(vec![count], elements))
            }
            (F::Integer, [a]) => self.map(a.clone(), &mut |this, x| match is_known(x) {
                true => Ok(arrays::whole(F::Integer, vec![x.clone()])?),
                false => this.unary(Unary::Floor, x),
            }),
            (F::Enumeration, [a]) => Ok(a.clone()),
            _ => Err(format!("{function:?} on what is known only at run time")),
        }
    }

    fn vectorized(&mut self, id: FunctionId, arguments: &[Value], over: &[bool]) -> Made {
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

    fn call(&mut self, id: FunctionId, arguments: Vec<Value>) -> Made<Vec<Value>> {
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

    fn copy(&mut self, value: Value) -> Made {
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
    fn outside(&mut self, id: FunctionId, function: &Arc<Function>, arguments: Vec<Value>) -> Made<Vec<Value>> {
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

fn is_known(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(array) => array.elements.iter().all(is_known),
        Value::Record(fields) => fields.iter().all(is_known),
        Value::Function { given, .. } => given.iter().all(|(_, value)| is_known(value)),
        _ => true,
    }
}

fn known_integer(value: &Value) -> Made<i64> {
    match is_known(value) {
        true => value.as_integer().ok_or_else(|| "an Integer is expected".into()),
        false => Err("a size or bound known only at run time".into()),
    }
}

fn position(index: &Value) -> Made<usize> {
    let index = match index {
        Value::Boolean(value) => i64::from(*value) + 1,
        other => known_integer(other)?,
    };
    usize::try_from(index - 1).map_err(|_| "an index below 1".into())
}

fn leaves(value: &Value, out: &mut Vec<u64>) {
    match value {
        Value::Object(leaf) => out.push(*leaf),
        Value::Array(array) => array.elements.iter().for_each(|element| leaves(element, out)),
        Value::Record(fields) => fields.iter().for_each(|field| leaves(field, out)),
        Value::Function { given, .. } => given.iter().for_each(|(_, value)| leaves(value, out)),
        _ => {}
    }
}

fn map_leaves(value: Value, f: &mut dyn FnMut(u64) -> u64) -> Value {
    match value {
        Value::Object(leaf) => Value::Object(f(leaf)),
        Value::Array(array) => Value::Array(Array {
            sizes: array.sizes,
            elements: array.elements.into_iter().map(|element| map_leaves(element, f)).collect(),
        }),
        Value::Record(fields) => Value::Record(fields.into_iter().map(|field| map_leaves(field, f)).collect()),
        Value::Function { function, given } => Value::Function {
            function,
            given: given.into_iter().map(|(position, value)| (position, map_leaves(value, f))).collect(),
        },
        other => other,
    }
}

/// The value with every scalar, known or not, replaced.
fn replace_scalars(value: &Value, next: &mut dyn FnMut() -> Value) -> Made {
    Ok(match value {
        Value::Array(array) => Value::Array(Array {
            sizes: array.sizes.clone(),
            elements: array.elements.iter().map(|element| replace_scalars(element, next)).collect::<Made<_>>()?,
        }),
        Value::Record(fields) => {
            Value::Record(fields.iter().map(|field| replace_scalars(field, next)).collect::<Made<_>>()?)
        }
        Value::Function { .. } => return Err("a function as a variable".into()),
        _ => next(),
    })
}

/// Real arguments are not part of a specialisation; with `all` no constants are.
fn generalize(value: Value, all: bool) -> Value {
    match value {
        Value::Real(_) => Value::Object(0),
        Value::Integer(_) | Value::Boolean(_) | Value::Enumeration(_) if all => Value::Object(0),
        Value::Array(array) => Value::Array(Array {
            sizes: array.sizes,
            elements: array.elements.into_iter().map(|element| generalize(element, all)).collect(),
        }),
        Value::Record(fields) => Value::Record(fields.into_iter().map(|field| generalize(field, all)).collect()),
        Value::Function { function, given } => Value::Function {
            function,
            given: given.into_iter().map(|(position, value)| (position, generalize(value, all))).collect(),
        },
        other => other,
    }
}

/// What distinguishes specialisations.
fn describe(value: &Value, pool: &mut Pool, key: &mut Vec<u64>) {
    match value {
        Value::Object(_) => key.push(1),
        Value::Integer(number) => key.extend([2, *number as u64]),
        Value::Boolean(truth) => key.extend([3, u64::from(*truth)]),
        Value::Enumeration(number) => key.extend([4, *number as u64]),
        Value::String(text) => key.extend([5, pool.strings.intern(text) as u64]),
        Value::Real(number) => key.extend([6, number.to_bits()]),
        Value::Array(array) => {
            key.extend([7, array.sizes.len() as u64]);
            key.extend(array.sizes.iter().map(|&size| size as u64));
            array.elements.iter().for_each(|element| describe(element, pool, key));
        }
        Value::Record(fields) => {
            key.extend([8, fields.len() as u64]);
            fields.iter().for_each(|field| describe(field, pool, key));
        }
        Value::Function { function, given } => {
            key.extend([9, base::Id::index(*function) as u64, given.len() as u64]);
            for (position, value) in given {
                key.push(u64::from(*position));
                describe(value, pool, key);
            }
        }
    }
}

/// The value of a shape whose scalars come from `leaf`.
fn symbolic(functions: &Functions, shape: &Shape, ty: &Type, leaf: &mut dyn FnMut(&Type) -> Value) -> Option<Value> {
    Some(match shape {
        Shape::Scalar => leaf(ty),
        Shape::Array(sizes, element) => {
            let sizes: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
            let count = sizes.iter().product();
            let elements = (0..count).map(|_| symbolic(functions, element, ty, leaf)).collect::<Option<Vec<_>>>()?;
            Value::array(sizes, elements)
        }
        Shape::Record(fields) => {
            let Type::Record(record) = ty else { return None };
            let fields = fields.iter().zip(&record.fields);
            Value::Record(
                fields.map(|(shape, field)| symbolic(functions, shape, &field.ty, leaf)).collect::<Option<_>>()?,
            )
        }
        Shape::Function { function, given } => {
            let declared = functions.get(*function)?;
            let mut values = Vec::with_capacity(given.len());
            for (position, shape) in given {
                let local = declared.inputs.get(*position as usize)?;
                values.push((*position, symbolic(functions, shape, &declared.locals[*local].ty, leaf)?));
            }
            Value::Function { function: *function, given: values }
        }
    })
}

/// The derivative of an argument: the scalars `count` further on; what is no Real repeats the original.
fn derivative(value: &Value, ty: &Type, count: u64) -> Value {
    match (value, ty) {
        (Value::Object(argument), Type::Real) => Value::Object(argument + count),
        (Value::Array(array), _) => Value::Array(Array {
            sizes: array.sizes.clone(),
            elements: array.elements.iter().map(|element| derivative(element, ty, count)).collect(),
        }),
        (Value::Record(fields), Type::Record(record)) => Value::Record(
            fields.iter().zip(&record.fields).map(|(value, field)| derivative(value, &field.ty, count)).collect(),
        ),
        (other, _) => other.clone(),
    }
}

/// What a variable holds before it is assigned.
fn zero(ty: &Type, sizes: &[usize]) -> Made {
    let scalar = match ty {
        Type::Real => Value::Real(0.0),
        Type::Integer => Value::Integer(0),
        Type::Boolean => Value::Boolean(false),
        Type::Enumeration(_) => Value::Enumeration(1),
        Type::String => Value::string(""),
        Type::Object(_) | Type::Function(_) => return Err("a variable of such a type".into()),
        Type::Record(record) => {
            let mut fields = Vec::with_capacity(record.fields.len());
            for field in &record.fields {
                let sizes = field.sizes.iter().copied().collect::<Option<Vec<_>>>().ok_or("a field of unknown size")?;
                fields.push(zero(&field.ty, &sizes)?);
            }
            Value::Record(fields)
        }
    };
    if sizes.is_empty() {
        return Ok(scalar);
    }
    let count = arrays::element_count(sizes)?;
    if count > MAX_OPERATIONS {
        return Err("a large array".into());
    }
    Ok(Value::array(sizes.to_vec(), vec![scalar; count]))
}

/// The parts along the first dimension; a scalar is the only part of itself.
fn parts(value: Value) -> Vec<Value> {
    match value {
        Value::Array(array) if array.sizes.len() <= 1 => array.elements,
        Value::Array(array) => (0..array.sizes[0]).filter_map(|k| chunk(&array, 1, k).ok()).collect(),
        scalar => vec![scalar],
    }
}

fn chunk(array: &Array, dimensions: usize, k: usize) -> Made {
    let inner = array.sizes.get(dimensions..).unwrap_or(&[]);
    let length: usize = inner.iter().product();
    let elements = array.elements.get(k * length..(k + 1) * length).ok_or("an array is too small")?;
    match (inner.is_empty(), elements) {
        (true, [element]) => Ok(element.clone()),
        _ => Ok(Value::array(inner.to_vec(), elements.to_vec())),
    }
}
