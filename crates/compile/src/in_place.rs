//! Linear systems with one iteration variable are solved where they stand.
//!
//! That is what tearing makes of most linear systems. Their solution is straight code: the residual where the unknown is zero,
//! its coefficient, a step, a second one that removes the rounding errors of the first, and the inner variables. What does not
//! depend on the unknown is computed once. Nothing depends on what the unknown was before.
//!
//! Where the coefficient vanishes a result is not finite: the section in which the system is a step of its own has to decide what
//! that means.

use dae::ExprId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{Address, Code, OUTPUT, Op, REGION_MASK, TEMPORARY};
use crate::math::Binary;

/// A system to be solved in place.
pub struct OneUnknown<'a> {
    /// Inner variables and the residual, with frozen relations.
    pub residual: &'a Code,
    /// The coefficient of the unknown, given what `residual` left in memory.
    pub coefficient: &'a Code,
    pub unknown: Address,
    /// Where a zero is.
    pub zero: Address,
}

impl OneUnknown<'_> {
    /// Whether its code is a list of operations on numbers.
    pub fn is_straight(&self) -> bool {
        let plain = |op: &Op| matches!(op, Op::Move { .. } | Op::Unary { .. } | Op::Binary { .. } | Op::Select { .. });
        self.residual.ops.iter().chain(&self.coefficient.ops).all(plain)
    }

    /// The code that solves it.
    pub fn code(&self) -> Code {
        let mut solution = Solution::default();
        solution.solve(self);
        solution.code
    }
}

#[derive(Default)]
struct Solution {
    code: Code,
}

impl Solution {
    fn solve(&mut self, system: &OneUnknown) {
        let Some(&origin) = system.residual.origins.last() else { return };
        self.code.temporaries = system.residual.temporaries;
        let dependent = dependents(system);
        // What is the same whatever the unknown is.
        self.copy(system.residual, |op| !depends(op, &dependent));
        let mut unknown = system.zero;
        let mut coefficient = None;
        for _ in 0..2 {
            let (residual, places) = self.residual_at(system, &dependent, unknown);
            let coefficient = *coefficient.get_or_insert_with(|| self.coefficient(system, &places));
            let step = self.binary(Binary::Div, residual, coefficient, origin);
            unknown = self.binary(Binary::Sub, unknown, step, origin);
        }
        self.push(Op::Move { to: system.unknown, a: unknown }, origin);
        self.copy(system.residual, |op| depends(op, &dependent) && !op.target().is_some_and(is_output));
        self.code.outputs.push(system.unknown);
        self.code.outputs.extend(system.residual.outputs.iter().copied().filter(|&output| !is_output(output)));
    }

    fn copy(&mut self, code: &Code, wanted: impl Fn(&Op) -> bool) {
        for (op, &origin) in code.ops.iter().zip(&code.origins).filter(|(op, _)| wanted(op)) {
            self.push(*op, origin);
        }
    }

    /// The residual where the unknown is at an address, and where everything that depends on it lies.
    fn residual_at(
        &mut self,
        system: &OneUnknown,
        dependent: &FxHashSet<Address>,
        unknown: Address,
    ) -> (Address, FxHashMap<Address, Address>) {
        let mut places = FxHashMap::default();
        places.insert(system.unknown, unknown);
        let code = system.residual;
        for (op, &origin) in code.ops.iter().zip(&code.origins).filter(|(op, _)| depends(op, dependent)) {
            if let Some(target) = op.target() {
                places.insert(target, self.take_temporary());
            }
            self.push(op.map(|address| *places.get(&address).unwrap_or(&address)), origin);
        }
        (places.get(&OUTPUT).copied().unwrap_or(OUTPUT), places)
    }

    fn coefficient(&mut self, system: &OneUnknown, places: &FxHashMap<Address, Address>) -> Address {
        let code = system.coefficient;
        let first = self.code.temporaries;
        self.code.temporaries += code.temporaries;
        let result = self.take_temporary();
        let place = |address: Address| match address & REGION_MASK {
            OUTPUT => result,
            TEMPORARY => address + first,
            _ => *places.get(&address).unwrap_or(&address),
        };
        for (op, &origin) in code.ops.iter().zip(&code.origins) {
            self.push(op.map(place), origin);
        }
        result
    }

    fn binary(&mut self, function: Binary, a: Address, b: Address, origin: ExprId) -> Address {
        let to = self.take_temporary();
        self.push(Op::Binary { function, to, a, b }, origin);
        to
    }

    fn push(&mut self, op: Op, origin: ExprId) {
        self.code.ops.push(op);
        self.code.origins.push(origin);
    }

    fn take_temporary(&mut self) -> Address {
        self.code.temporaries += 1;
        TEMPORARY | (self.code.temporaries - 1)
    }
}

fn is_output(address: Address) -> bool {
    address & REGION_MASK == OUTPUT
}

/// The addresses that depend on the unknown; the residual counts as one of them.
fn dependents(system: &OneUnknown) -> FxHashSet<Address> {
    let mut found = FxHashSet::default();
    found.extend([system.unknown, OUTPUT]);
    for op in &system.residual.ops {
        if depends(op, &found) {
            found.extend(op.target());
        }
    }
    found
}

fn depends(op: &Op, dependent: &FxHashSet<Address>) -> bool {
    let mut any = op.target().is_some_and(is_output);
    op.for_each_source(|source| any |= dependent.contains(&source));
    any
}
