//! Conditions over operands that may be undefined: three-valued logic in the operations that there are.
//!
//! A comparison with a side that is no finite number is NaN, neither true nor false. NaN goes through `not`, `and` and `or`
//! except where the other side decides (`false and …`, `true or …`), and what such a condition decides is NaN. So the check
//! of results finds it, and a guard such as `x > 0 and log(x) > 1` still guards. Only expressions that may be undefined
//! (`Exprs::is_partial`, or Integers that may get too large) cost this.

use dae::ExprId;

use crate::code::Address;
use crate::lower::Lowering;
use crate::math::Binary;

impl Lowering<'_> {
    /// The value, or NaN where the expression `of` that it depends on is not finite.
    pub(crate) fn where_defined(&mut self, value: Address, of: ExprId, origin: ExprId) -> Address {
        if !self.is_partial(of) {
            return value;
        }
        // The difference of a number with itself is zero, and of anything else NaN. Derivatives are those of the value.
        let (zero, nan, of) = (self.constant(0.0), self.constant(f64::NAN), self.operand(of));
        let difference = self.binary(Binary::Sub, of, of, origin);
        let is_finite = self.binary(Binary::Equal, difference, zero, origin);
        self.select(is_finite, value, nan, origin)
    }

    pub(crate) fn defined_not(&mut self, a: Address, origin: ExprId) -> Address {
        let one = self.constant(1.0);
        self.binary(Binary::Sub, one, a, origin)
    }

    pub(crate) fn defined_and(&mut self, a: Address, b: Address, origin: ExprId) -> Address {
        let zero = self.constant(0.0);
        // NaN counts as true here: what is left is false on one side, or true or NaN on both.
        let open = self.binary(Binary::And, a, b, origin);
        let product = self.binary(Binary::Mul, a, b, origin);
        self.select(open, product, zero, origin)
    }

    pub(crate) fn defined_or(&mut self, a: Address, b: Address, origin: ExprId) -> Address {
        let (a, b) = (self.defined_not(a, origin), self.defined_not(b, origin));
        let neither = self.defined_and(a, b, origin);
        self.defined_not(neither, origin)
    }
}
