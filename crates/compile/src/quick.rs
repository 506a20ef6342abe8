//! Functions of numbers that the interpreter calls often, as code.
//!
//! A function that calls itself, such as an adaptive quadrature, stays with the interpreter; what it calls in its innermost turns
//! need not. Such a function is specialised once, with memory of its own. Only code without loops is kept, so that the work of a
//! call is bounded; where it fails, the interpreter executes the call and tells why.

use std::sync::{Arc, Mutex, PoisonError};

use base::IdVec;
use dae::evaluate::Compiled;
use dae::value::Kind;
use dae::{Exprs, FunctionId, Functions, Value};
use rustc_hash::FxHashMap;

use crate::code::{Address, CONSTANT, ChunkId, Code, Op, REGION_MASK};
use crate::interpret::{self, Host};
use crate::lower::{self, Pool};
use crate::specialize::Specializer;

/// Calls of one kind before code is worth its making.
const OFTEN: u32 = 30;
/// Versions of one function that differ in what is no Real.
const MAX_VERSIONS: u32 = 16;
/// What code expects at the beginning of memory (`layout`).
const RESERVED: Address = 16;

/// One function for the shapes and the numbers other than Reals of its arguments.
type Key = (FunctionId, Vec<u64>);

/// The code that was made so far; memories of one run share it.
#[derive(Clone, Default)]
pub struct SharedQuick(Arc<Mutex<Quick>>);

#[derive(Default)]
struct Quick {
    made: FxHashMap<Key, Version>,
    versions: FxHashMap<FunctionId, u32>,
}

enum Version {
    /// Called so often.
    Counted(u32),
    Ready(Box<Ready>),
    Interpreted,
}

/// A function that can be run.
struct Ready {
    chunks: IdVec<ChunkId, Code>,
    chunk: ChunkId,
    values: Vec<f64>,
    inputs: Vec<Address>,
    outputs: Vec<Value<Address>>,
    doubt: Option<Address>,
}

impl Compiled for SharedQuick {
    fn call(&mut self, functions: &Functions, id: FunctionId, arguments: &[Value]) -> Option<Vec<Value>> {
        let mut key = Vec::with_capacity(8);
        arguments.iter().all(|argument| describe(argument, &mut key)).then_some(())?;
        let mut quick = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Quick { made, versions } = &mut *quick;
        let version = made.entry((id, key)).or_insert_with(|| {
            let count = versions.entry(id).or_insert(0);
            *count += 1;
            if *count <= MAX_VERSIONS { Version::Counted(0) } else { Version::Interpreted }
        });
        if let Version::Counted(calls) = version {
            *calls += 1;
            if *calls < OFTEN {
                return None;
            }
            *version =
                make(functions, id, arguments).map_or(Version::Interpreted, |ready| Version::Ready(ready.into()));
        }
        match version {
            Version::Ready(ready) => ready.call(arguments),
            _ => None,
        }
    }
}

/// Shapes, and numbers that are no Reals; false where a value is no number or array of them.
fn describe(value: &Value, key: &mut Vec<u64>) -> bool {
    match value {
        Value::Real(_) => key.push(0),
        Value::Integer(number) => key.extend([1, *number as u64]),
        Value::Boolean(value) => key.extend([2, u64::from(*value)]),
        Value::Enumeration(number) => key.extend([3, *number as u64]),
        Value::Array(array) => {
            key.push(4 + array.sizes.len() as u64);
            key.extend(array.sizes.iter().map(|&size| size as u64));
            return array.elements.iter().all(|element| describe(element, key));
        }
        _ => return false,
    }
    true
}

fn make(functions: &Functions, id: FunctionId, arguments: &[Value]) -> Option<Ready> {
    let (mut exprs, mut pool, mut chunks) = (Exprs::default(), Pool::default(), IdVec::new());
    let origin = exprs.real(0.0);
    let mut given = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let opened: Result<Value<Address>, ()> = argument.try_map(&mut |scalar| match scalar {
            Value::Real(_) => Ok(Value::Open(0, Kind::Real)),
            Value::Integer(number) => Ok(Value::Integer(*number)),
            Value::Boolean(value) => Ok(Value::Boolean(*value)),
            Value::Enumeration(number) => Ok(Value::Enumeration(*number)),
            _ => Err(()),
        });
        given.push(opened.ok()?);
    }
    let mut specializer = Specializer::new(functions, &mut exprs, &mut pool, &mut chunks, RESERVED, origin);
    let (chunk, inputs, outputs, doubt) = specializer.alone(id, given)?;
    let constants = RESERVED + pool.frames;
    let place = |address: Address| match address & REGION_MASK {
        CONSTANT => constants + (address & !REGION_MASK),
        _ => address,
    };
    for code in chunks.values_mut() {
        for op in &mut code.ops {
            if matches!(op, Op::Loop | Op::Call { .. } | Op::Delay { .. } | Op::Relate { .. } | Op::Round { .. }) {
                return None;
            }
            *op = op.map(place);
        }
        lower::link(code);
    }
    let mut values = vec![0.0; constants as usize];
    values.extend(&pool.constants.values);
    let outputs = outputs.iter().map(|output| placed(output, place)).collect();
    Some(Ready { chunks, chunk, values, inputs, outputs, doubt: doubt.map(place) })
}

fn placed(value: &Value<Address>, place: impl Fn(Address) -> Address) -> Value<Address> {
    let Ok(placed) = value.try_map::<Address, std::convert::Infallible>(&mut |scalar| {
        Ok(match scalar {
            Value::Open(address, kind) => Value::Open(place(*address), *kind),
            other => other.clone(),
        })
    });
    placed
}

impl Ready {
    fn call(&mut self, arguments: &[Value]) -> Option<Vec<Value>> {
        let mut cells = self.inputs.iter();
        let values = &mut self.values;
        for argument in arguments {
            argument.for_each_scalar(&mut |scalar| {
                if let Value::Real(number) = scalar
                    && let Some(&to) = cells.next()
                {
                    values[to as usize] = *number;
                }
            });
        }
        Chunks(&self.chunks).run(self.chunk, &mut self.values);
        if self.doubt.is_some_and(|doubt| self.values[doubt as usize].is_nan()) {
            return None;
        }
        self.outputs.iter().map(|output| output.try_map(&mut |scalar| self.scalar(scalar)).ok()).collect()
    }

    /// A result; none where it is not a number, so that the interpreter tells why.
    fn scalar(&self, scalar: &Value<Address>) -> Result<Value, ()> {
        let Value::Open(address, kind) = scalar else {
            return match scalar {
                Value::Real(number) => Ok(Value::Real(*number)),
                Value::Integer(number) => Ok(Value::Integer(*number)),
                Value::Boolean(value) => Ok(Value::Boolean(*value)),
                Value::Enumeration(number) => Ok(Value::Enumeration(*number)),
                _ => Err(()),
            };
        };
        let number = self.values[*address as usize];
        match kind {
            _ if number.is_nan() => Err(()),
            Kind::Real => Ok(Value::Real(number)),
            Kind::Integer => Ok(Value::Integer(number as i64)),
            Kind::Boolean => Ok(Value::Boolean(number != 0.0)),
            Kind::Enumeration => Ok(Value::Enumeration(number as i64)),
            _ => Err(()),
        }
    }
}

/// Code that calls other code and nothing else.
struct Chunks<'a>(&'a IdVec<ChunkId, Code>);

impl Chunks<'_> {
    fn run(&mut self, chunk: ChunkId, values: &mut [f64]) {
        let chunks = self.0;
        interpret::run(&chunks[chunk].ops, values, self);
    }
}

impl Host for Chunks<'_> {
    fn call(&mut self, _: u32, values: &mut [f64], _: u32, results: u32) {
        values[results as usize] = f64::NAN;
    }

    fn invoke(&mut self, chunk: u32, values: &mut [f64]) {
        self.run(base::Id::from_index(chunk as usize), values);
    }

    fn delay(&mut self, _: u32, _: f64, _: f64, _: f64) -> f64 {
        f64::NAN
    }
}
