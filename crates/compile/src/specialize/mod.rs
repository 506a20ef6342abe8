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

mod calls;
mod doubt;
mod expressions;
mod statements;
mod usage;
mod values;

use std::rc::Rc;
use std::sync::Arc;

use base::IdVec;
use dae::function::{Body, Expr, Function, LocalId, Statement, Type};
use dae::tangent::contains_reals;
use dae::{CallSite, ExprId, Exprs, FunctionId, Functions, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use self::usage::Usage;
use self::values::{
    derivative, describe, generalize, known_integer, leaves, map_leaves, replace_scalars, symbolic, zero,
};
use crate::code::{Address, Code, Op, REGION_MASK, TEMPORARY};
use crate::lower::Pool;
use crate::math::{Binary, Unary};
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
        let tangent = self.pool.calls[index].tangent;
        self.native_call(index, tangent)
    }

    /// Code for the value of the function of an entry that asks for tangents.
    pub fn value_entry(&mut self, index: usize) -> Option<NativeCall> {
        self.native_call(index, false)
    }

    fn native_call(&mut self, index: usize, with_tangent: bool) -> Option<NativeCall> {
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
        let called = if with_tangent {
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
        let outputs = self.sources(&instance.outputs, &function, &site, with_tangent)?;
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
            verdict: None,
            doubt: None,
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
    /// Where a function without outputs leaves NaN if it fails, and zero otherwise.
    verdict: Option<Address>,
    /// NaN once something undefined decided, zero before; added to the results. Made when something is decided.
    doubt: Option<Address>,
}

impl Maker<'_, '_> {
    fn run(&mut self, arguments: Vec<Value>, statements: &[Statement]) -> Made<Vec<Value>> {
        let function = self.function.clone();
        self.enter(&function, arguments)?;
        if function.outputs.is_empty() {
            let (to, a) = (self.temporaries(1), self.special.pool.constants.address(0.0));
            self.push(Op::Move { to, a })?;
            self.verdict = Some(to);
        }
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
        let verdict = self.verdict.map(|verdict| Ok(Value::Object(u64::from(verdict))));
        let outputs = function.outputs.iter().map(|&output| self.local(output)).chain(verdict);
        let outputs = outputs.collect::<Made<Vec<Value>>>()?;
        self.doubtful(outputs)
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
}
