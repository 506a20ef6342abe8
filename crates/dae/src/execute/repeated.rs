//! Results of calls that a recursion makes again and again, as that of Fibonacci's numbers does: without them the number of
//! calls grows exponentially where that of different calls does not.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Domain, Executor, ValueOf};
use crate::function::{Function, FunctionId};
use crate::value::Value;

/// The function and its arguments by type and bits.
pub(super) type Key = (FunctionId, SmallVec<[(u8, u64); 4]>);

/// What was remembered is forgotten when there is more than this.
const MOST: usize = 100_000;

/// Scalars that a call may take and give.
const MOST_SCALARS: usize = 4;

pub(super) struct Repeated<U> {
    results: FxHashMap<Key, Vec<Value<U>>>,
}

impl<U> Default for Repeated<U> {
    fn default() -> Self {
        Self { results: FxHashMap::default() }
    }
}

impl<D: Domain> Executor<'_, D> {
    /// What says that a call is the same as another one: for pure functions of a few known scalars that call themselves.
    pub(super) fn repeated_key(&self, id: FunctionId, function: &Function, arguments: &[ValueOf<D>]) -> Option<Key> {
        if !function.pure || arguments.len() > MOST_SCALARS || !self.active.contains(&id) {
            return None;
        }
        let scalar = |value: &ValueOf<D>| match *value {
            Value::Real(number) => Some((0, number.to_bits())),
            Value::Integer(number) => Some((1, number as u64)),
            Value::Boolean(value) => Some((2, u64::from(value))),
            Value::Enumeration(number) => Some((3, number as u64)),
            _ => None,
        };
        arguments.iter().map(scalar).collect::<Option<_>>().map(|scalars| (id, scalars))
    }

    pub(super) fn repeated_result(&self, key: &Key) -> Option<Vec<ValueOf<D>>> {
        self.repeated.results.get(key).cloned()
    }

    pub(super) fn remember_result(&mut self, key: Key, outputs: &[ValueOf<D>]) {
        let is_small = |value: &ValueOf<D>| matches!(value, Value::Real(_) | Value::Integer(_) | Value::Boolean(_));
        if outputs.len() > MOST_SCALARS || !outputs.iter().all(is_small) {
            return;
        }
        if self.repeated.results.len() >= MOST {
            self.repeated.results.clear();
        }
        self.repeated.results.insert(key, outputs.to_vec());
    }
}
