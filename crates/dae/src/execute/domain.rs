//! What the executor of functions asks of the scalars it works on.
//!
//! Scalars that are known are computed in one way everywhere (`known`); a domain says what becomes of those that are known at run
//! time only. Constants have none, inlining makes expressions of them, compilation addresses. So a function means the same
//! whether it is evaluated at translation, written out, interpreted or compiled.

use std::fmt::Debug;

use crate::expr::{Builtin, CompareOp};
use crate::function::{ArithmeticOp, ArrayFunction, External, FunctionId, Functions};
use crate::known::Outcome;
use crate::value::{Array, Value};

/// A value of a domain.
pub type ValueOf<D> = Value<<D as Domain>::Open>;

/// One subscript after evaluation; positions from 0.
#[derive(Clone, PartialEq, Debug)]
pub enum Selection<U = crate::value::Never> {
    /// The whole dimension.
    All,
    /// One element.
    One(usize),
    /// These elements, in order.
    Many(Vec<usize>),
    /// The position, from 1, is known at run time only.
    Open(Value<U>),
}

fn unknown<T>() -> Outcome<T> {
    Err("a value is needed that is known at run time only".into())
}

/// Operations get at least one scalar that is open, and none that is unset. A domain that cannot do one says why.
pub trait Domain {
    /// A scalar that is not known.
    type Open: Clone + PartialEq + Debug;

    /// An operation with an operand that is open.
    fn arithmetic(&mut self, _: ArithmeticOp, _: &ValueOf<Self>, _: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        unknown()
    }

    /// The negative of something open.
    fn negate(&mut self, _: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        unknown()
    }

    /// The negation of something open.
    fn not(&mut self, _: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        unknown()
    }

    /// A conjunction with an operand that is open.
    fn and(&mut self, _: &ValueOf<Self>, _: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        unknown()
    }

    /// A disjunction with an operand that is open.
    fn or(&mut self, _: &ValueOf<Self>, _: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        unknown()
    }

    /// A comparison with an operand that is open.
    fn compare(&mut self, _: CompareOp, _: &ValueOf<Self>, _: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        unknown()
    }

    /// A function of something open.
    fn builtin(&mut self, _: Builtin, _: &[ValueOf<Self>]) -> Outcome<ValueOf<Self>> {
        unknown()
    }

    /// `Integer(…)`, `E(…)`, `String(…)` and `+` of Strings.
    fn convert(&mut self, _: ArrayFunction, _: &[ValueOf<Self>]) -> Outcome<ValueOf<Self>> {
        unknown()
    }

    /// Begins what happens where the condition holds. `begin_otherwise`, calls of `join` and `end_branch` follow.
    fn begin_branch(&mut self, _: &ValueOf<Self>) -> Outcome<()> {
        unknown()
    }

    /// The second branch begins.
    fn begin_otherwise(&mut self) -> Outcome<()> {
        unknown()
    }

    /// A scalar that has one value behind the first branch and another behind the second; either may be unset.
    fn join(&mut self, _: &ValueOf<Self>, _: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        unknown()
    }

    /// The branches are joined.
    fn end_branch(&mut self) -> Outcome<()> {
        unknown()
    }

    /// Whether a loop stays a loop: of so many turns, if that is known, and a body of that weight.
    fn keeps_loop(&self, _turns: Option<usize>, _weight: usize) -> bool {
        false
    }

    /// Before a loop: a place that keeps a value from one turn to the next.
    fn carry(&mut self, _: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        unknown()
    }

    /// Before a loop: the value of an array that is read in it with subscripts known at run time only.
    fn settle(&mut self, value: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        Ok(value.clone())
    }

    /// A loop begins that is open.
    fn begin_loop(&mut self) -> Outcome<()> {
        unknown()
    }

    /// Inside of the loop: it ends where the condition does not hold.
    fn leave_unless(&mut self, _: &ValueOf<Self>) -> Outcome<()> {
        unknown()
    }

    /// At the end of a turn: what the place holds in the next one.
    fn update(&mut self, _place: &ValueOf<Self>, _value: &ValueOf<Self>) -> Outcome<()> {
        unknown()
    }

    /// It ends.
    fn end_loop(&mut self) -> Outcome<()> {
        unknown()
    }

    /// A value that does not change when variables are assigned in place.
    fn detach(&mut self, value: ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        Ok(value)
    }

    /// Assigns a scalar of a variable.
    fn set(&mut self, place: &mut ValueOf<Self>, value: ValueOf<Self>) -> Outcome<()> {
        *place = value;
        Ok(())
    }

    /// What subscripts select, of which some are open.
    fn load(&mut self, _: &Array<Self::Open>, _: &[Selection<Self::Open>]) -> Outcome<ValueOf<Self>> {
        unknown()
    }

    /// Assigns what subscripts select, of which some are open.
    fn store(&mut self, _: &mut Array<Self::Open>, _: &[Selection<Self::Open>], _: ValueOf<Self>) -> Outcome<()> {
        unknown()
    }

    /// A condition that is open, or does not hold, and without which there is no result.
    fn require(&mut self, _: &ValueOf<Self>) -> Outcome<()> {
        unknown()
    }

    /// Whether failures are known when they are met; otherwise `require` leaves them to the run.
    fn fails_at_once(&self) -> bool {
        false
    }

    /// An assertion of level warning that fails, or may fail.
    fn warn(&mut self, _message: Option<String>, _span: base::Span) -> Outcome<()> {
        Ok(())
    }

    /// The outputs of a call, where the domain has a way of its own; `None` executes the body.
    fn call(&mut self, _: &Functions, _: FunctionId, _: &[ValueOf<Self>]) -> Outcome<Option<Vec<ValueOf<Self>>>> {
        Ok(None)
    }

    /// The outputs of a call whose body could not be executed, as a call; `None` where that is no way out.
    fn keep_call(&mut self, _: &Functions, _: FunctionId, _: &[ValueOf<Self>]) -> Outcome<Option<Vec<ValueOf<Self>>>> {
        Ok(None)
    }

    /// How many branches are open.
    fn open_branches(&self) -> usize {
        0
    }

    /// Forgets branches that were opened by what failed.
    fn forget_branches(&mut self, _beyond: usize) {}

    /// Whether `keep_call` may give something.
    fn keeps_calls(&self) -> bool {
        false
    }

    /// Calls a function in another language. Arguments that are outputs are changed in place.
    fn external(&mut self, external: &External, _: &mut [ValueOf<Self>]) -> Outcome<Option<ValueOf<Self>>> {
        Err(format!("the external function `{}` cannot be called here", external.symbol))
    }
}
