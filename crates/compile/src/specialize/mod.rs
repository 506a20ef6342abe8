//! Functions of the model as code, specialised to the shapes they are called with.
//!
//! A function is executed once at translation time on values whose scalars are either known or addresses (`domain`): arithmetic
//! on what is known is done, everything else becomes operations (partial evaluation; Jones, Gomard, Sestoft 1993). So
//! sizes, branches on sizes and short loops disappear; long loops, branches and subscripts on what is computed at run
//! time remain.
//!
//! Each specialised function has its variables at fixed addresses of its own, so a call costs moves and a jump and
//! never allocates. A function that calls itself, works on texts or has sizes known only at run time stays with the
//! evaluator, as do functions in other languages.

mod calls;
mod domain;

use std::rc::Rc;

use base::IdVec;
use dae::execute::Executor;
use dae::function::{Body, Function, Type};
use dae::known::Outcome;
use dae::tangent::contains_reals;
use dae::value::Kind;
use dae::{CallSite, ExprId, Exprs, FunctionId, Functions, Value};
use rustc_hash::FxHashMap;

use self::domain::Addresses;
use crate::code::{Address, ChunkId, Code, NativeCall, REGION_MASK, Source, TEMPORARY};
use crate::lower::Pool;

/// Operations of one specialised function.
const MAX_OPERATIONS: usize = 30_000;
/// Statements a loop may become when it is written out.
const UNROLLED: usize = 64;
/// Versions of one function that differ in constants.
const MAX_VERSIONS: u32 = 16;

/// A value whose scalars are known or addresses.
type Scalars = Value<Address>;

struct Instance {
    chunk: ChunkId,
    /// Where the arguments go that are not part of the specialisation.
    inputs: Vec<Address>,
    outputs: Vec<Scalars>,
    /// Where NaN is left if the function fails.
    doubt: Option<Address>,
    /// No numbers are part of the specialisation.
    general: bool,
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
            let mut leaf = |kind: Kind| {
                let argument = next;
                next += 1;
                Some(match (known.get(&argument), kind) {
                    (Some(&value), Kind::Integer) => Value::Integer(value as i64),
                    (Some(&value), Kind::Boolean) => Value::Boolean(value != 0.0),
                    (Some(&value), Kind::Enumeration) => Value::Enumeration(value as i64),
                    (Some(&value), Kind::String) => match self.pool.strings.get(value) {
                        Some(text) => Value::String(text.clone()),
                        None => Value::Open(argument, kind),
                    },
                    _ => Value::Open(argument, kind),
                })
            };
            arguments.push(Value::of_shape(self.functions, shape, &function.locals[local].ty, &mut leaf)?);
        }
        let called = if with_tangent {
            let (tangent, taken) = entry.tangent_function?;
            for &input in taken.iter() {
                let ty = &function.locals[*function.inputs.get(input)?].ty;
                arguments.push(derivative(arguments.get(input)?, ty, entry.arguments));
            }
            tangent
        } else {
            site.function
        };
        let mut sources = Vec::new();
        arguments.iter().for_each(|argument| addresses(argument, &mut sources));
        let instance = self.instance(called, arguments)?;
        if sources.len() != instance.inputs.len() {
            return None;
        }
        let inputs = sources.into_iter().zip(instance.inputs.iter().copied()).collect();
        let outputs = self.sources(&instance.outputs, &function, &site, with_tangent)?;
        Some(NativeCall { chunk: instance.chunk, inputs, outputs })
    }

    /// The scalars of the results; a tangent function gives those of outputs with Reals only.
    fn sources(
        &mut self,
        outputs: &[Scalars],
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
                    Value::Open(address, _) => Source::At(address),
                    Value::Unset(_) => Source::Known(f64::NAN),
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

    /// Code for a function that is called with its arguments alone: where those go that are open, the results, and where NaN is
    /// left if it fails.
    pub fn alone(
        &mut self,
        id: FunctionId,
        arguments: Vec<Scalars>,
    ) -> Option<(ChunkId, Vec<Address>, Vec<Scalars>, Option<Address>)> {
        let made = self.instance(id, arguments)?;
        Some((made.chunk, made.inputs.clone(), made.outputs.clone(), made.doubt))
    }

    fn instance(&mut self, id: FunctionId, arguments: Vec<Scalars>) -> Option<Rc<Instance>> {
        let general = self.versions.get(&id).is_some_and(|&versions| versions >= MAX_VERSIONS);
        let mut key = Vec::new();
        let arguments: Vec<Scalars> = arguments.iter().map(|argument| generalize(argument, general)).collect();
        let make = |this: &mut Self| this.make(id, arguments.clone()).map(|made| Instance { general, ..made });
        arguments.iter().for_each(|argument| describe(argument, self.pool, &mut key));
        if let Some(known) = self.instances.get(&(id, key.clone())) {
            return known.clone();
        }
        *self.versions.entry(id).or_insert(0) += 1;
        if self.active.contains(&id) {
            return None;
        }
        self.active.push(id);
        let made = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || make(self)).ok().map(Rc::new);
        self.active.pop();
        self.instances.insert((id, key), made.clone());
        made
    }

    fn make(&mut self, id: FunctionId, arguments: Vec<Scalars>) -> Outcome<Instance> {
        let functions = self.functions;
        let function = functions.get(id).ok_or("no such function")?;
        if !matches!(function.body, Body::Algorithm(_)) {
            return Err("it has no statements".into());
        }
        if !function.pure {
            return Err("it is impure".into());
        }
        let before = (self.pool.frames, self.chunks.len());
        let mut inputs = Vec::new();
        let arguments: Vec<Scalars> = arguments.iter().map(|argument| self.open(argument, &mut inputs)).collect();
        let origin = self.origin;
        let mut executor = Executor::over(functions, Addresses::new(self));
        let outputs = executor.body(id, arguments).map_err(|error| error.to_string());
        let outputs = outputs.and_then(|outputs| executor.domain.doubtful(outputs));
        let Addresses { mut code, doubt, .. } = executor.domain;
        let outputs = match outputs {
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
        code.origins = vec![origin; code.ops.len()];
        code.private = first..first + code.temporaries;
        code.temporaries = 0;
        let outputs: Vec<Scalars> = outputs.iter().map(|output| moved(output, &mut |a| settle(a))).collect();
        let doubt = doubt.map(settle);
        outputs.iter().for_each(|output| addresses(output, &mut code.outputs));
        code.outputs.extend(doubt);
        Ok(Instance { chunk: self.chunks.push(code), inputs, outputs, doubt, general: false })
    }

    /// Consecutive addresses that live as long as the program.
    fn cells(&mut self, count: u32) -> Address {
        let first = self.frames + self.pool.frames;
        self.pool.frames += count;
        first
    }

    /// Gives every scalar that is not known an address of its own.
    fn open(&mut self, value: &Scalars, inputs: &mut Vec<Address>) -> Scalars {
        moved(value, &mut |_| {
            let cell = self.cells(1);
            inputs.push(cell);
            cell
        })
    }
}

/// The value with other addresses.
fn moved(value: &Scalars, change: &mut dyn FnMut(Address) -> Address) -> Scalars {
    mapped(value, &mut |scalar| match scalar {
        Value::Open(address, kind) => Value::Open(change(*address), *kind),
        other => other.clone(),
    })
}

fn mapped(value: &Scalars, change: &mut dyn FnMut(&Scalars) -> Scalars) -> Scalars {
    let Ok(value) = value.try_map::<Address, std::convert::Infallible>(&mut |scalar| Ok(change(scalar)));
    value
}

/// The value with every scalar, known or not, replaced by one of its kind.
fn replace_scalars(value: &Scalars, next: &mut dyn FnMut(Kind) -> Scalars) -> Outcome<Scalars> {
    value.try_map(&mut |scalar| match scalar.scalar_kind() {
        Some(kind) => Ok(next(kind)),
        None => Err("a function as a variable".into()),
    })
}

fn addresses(value: &Scalars, out: &mut Vec<Address>) {
    value.for_each_scalar(&mut |scalar| {
        if let Value::Open(address, _) = scalar {
            out.push(*address);
        }
    });
}

/// Real arguments are not part of a specialisation; with `all` no numbers are.
fn generalize(value: &Scalars, all: bool) -> Scalars {
    mapped(value, &mut |scalar| match is_open(scalar, all) {
        true => Value::Open(0, scalar.scalar_kind().unwrap_or(Kind::Real)),
        false => scalar.clone(),
    })
}

/// Whether a scalar is given at each call; the others are part of the specialisation.
fn is_open(scalar: &Scalars, all: bool) -> bool {
    match scalar {
        Value::Real(_) | Value::Open(..) | Value::Unset(_) => true,
        Value::Integer(_) | Value::Boolean(_) | Value::Enumeration(_) => all,
        _ => false,
    }
}

/// What distinguishes specialisations.
fn describe(value: &Scalars, pool: &mut Pool, key: &mut Vec<u64>) {
    match value {
        Value::Open(_, kind) | Value::Unset(kind) => key.extend([1, *kind as u64]),
        Value::Integer(number) => key.extend([2, *number as u64]),
        Value::Boolean(truth) => key.extend([3, u64::from(*truth)]),
        Value::Enumeration(number) => key.extend([4, *number as u64]),
        Value::String(text) => key.extend([5, pool.strings.intern(text) as u64]),
        Value::Real(number) => key.extend([6, number.to_bits()]),
        Value::Object(handle) => key.extend([10, *handle]),
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

/// The derivative of an argument: the scalars `count` further on; what is no Real repeats the original.
fn derivative(value: &Scalars, ty: &Type, count: u32) -> Scalars {
    match (value, ty) {
        (Value::Open(argument, Kind::Real), _) => Value::Open(argument + count, Kind::Real),
        (Value::Array(array), _) => Value::array(
            array.sizes.clone(),
            array.elements.iter().map(|element| derivative(element, ty, count)).collect(),
        ),
        (Value::Record(fields), Type::Record(record)) => Value::Record(
            fields.iter().zip(&record.fields).map(|(value, field)| derivative(value, &field.ty, count)).collect(),
        ),
        (other, _) => other.clone(),
    }
}
