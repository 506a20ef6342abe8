//! What is undefined must not decide in functions either: as in `defined.rs`, a condition with a side that is no finite number
//! is NaN. Where such a condition chooses a branch or ends a loop, the results of the function are NaN, and the evaluator
//! then tells why. Variables of functions are not checked when they are assigned, so every comparison of numbers counts.

use dae::Value;

use super::values::{is_known, leaves, map_leaves};
use super::{Made, Maker};
use crate::code::{Address, Op};
use crate::math::Binary;

impl Maker<'_, '_> {
    /// A condition decides something.
    pub(super) fn decide(&mut self, condition: Address) -> Made<()> {
        let doubt = match self.doubt {
            Some(doubt) => doubt,
            None => self.temporaries(1),
        };
        self.doubt = Some(doubt);
        let zero = self.special.pool.constants.address(0.0);
        let nothing = self.binary(Binary::Mul, zero, condition)?;
        self.push(Op::Binary { function: Binary::Add, to: doubt, a: doubt, b: nothing })
    }

    /// The results, with the doubt added.
    pub(super) fn doubtful(&mut self, outputs: Vec<Value>) -> Made<Vec<Value>> {
        let Some(doubt) = self.doubt else { return Ok(outputs) };
        // At the beginning there is none.
        let a = self.special.pool.constants.address(0.0);
        self.code.ops.insert(0, Op::Move { to: doubt, a });
        self.code.origins.insert(0, self.special.origin);
        let mut results = Vec::with_capacity(outputs.len());
        for output in outputs {
            let mut places = Vec::new();
            leaves(&output, &mut places);
            let mut sums = Vec::with_capacity(places.len());
            for place in places {
                let place = self.address(&Value::Object(place))?;
                sums.push(u64::from(self.binary(Binary::Add, place, doubt)?));
            }
            let mut sums = sums.into_iter();
            results.push(map_leaves(output, &mut |leaf| sums.next().unwrap_or(leaf)));
        }
        Ok(results)
    }

    /// The smaller or larger of two.
    pub(super) fn extreme(&mut self, function: Binary, a: &Value, b: &Value) -> Made {
        let value = self.combine(function, a, b)?;
        self.defined(value, &[a, b])
    }

    /// A value, NaN where what decides it is not finite.
    pub(super) fn defined(&mut self, holds: Value, sides: &[&Value]) -> Made {
        let mut holds = self.address(&holds)?;
        let zero = self.special.pool.constants.address(0.0);
        for side in sides.iter().filter(|side| !is_known(side)) {
            let side = self.address(side)?;
            let nothing = self.binary(Binary::Mul, zero, side)?;
            holds = self.binary(Binary::Add, holds, nothing)?;
        }
        Ok(Value::Object(u64::from(holds)))
    }

    pub(super) fn defined_not(&mut self, a: &Value) -> Made {
        self.combine(Binary::Sub, &Value::Real(1.0), a)
    }

    pub(super) fn defined_and(&mut self, a: &Value, b: &Value) -> Made {
        let open = self.combine(Binary::And, a, b)?;
        let product = self.combine(Binary::Mul, a, b)?;
        let (condition, a) = (self.address(&open)?, self.address(&product)?);
        let (to, b) = (self.temporaries(1), self.special.pool.constants.address(0.0));
        self.push(Op::Select { to, condition, a, b })?;
        Ok(Value::Object(u64::from(to)))
    }

    pub(super) fn defined_or(&mut self, a: &Value, b: &Value) -> Made {
        let (a, b) = (self.defined_not(a)?, self.defined_not(b)?);
        let neither = self.defined_and(&a, &b)?;
        self.defined_not(&neither)
    }
}
