//! Functions executed on bounds in place of numbers: what a call may give in a whole piece of time.
//!
//! Loops whose number of turns is known at run time only are functions, and so is what follows their relations
//! (`lang::watch`). The executor takes their turns one by one. What bounds decide is known; behind a condition that they leave
//! open both branches are executed, and what they leave is joined. Where not even the number of turns is certain, nothing is
//! known about the results, and the piece has to be shorter.

use std::sync::Arc;

use dae::execute::{Domain, Executor, Selection, ValueOf};
use dae::expr::Shape;
use dae::function::{ArithmeticOp, ArrayFunction, Body, LocalId, Statement, StatementKind};
use dae::inline::{builtin_kind, joined_kind, result_kind};
use dae::known::Outcome;
use dae::value::{Array, Kind};
use dae::{Builtin, CompareOp, Function, FunctionId, Functions, Value};

use crate::intervals::{Bounds, Interval};

/// How deeply calls nest.
const DEEPEST: usize = 200;

/// A call in a crossing function.
#[derive(Clone)]
pub struct RangeCall {
    pub function: FunctionId,
    /// The shapes of its inputs, and the places of their scalars.
    pub inputs: Vec<Shape>,
    pub arguments: Vec<u32>,
    /// Scalars of its results.
    pub results: usize,
}

impl RangeCall {
    /// Writes bounds of all results from bounds of the arguments; these are unknown where they cannot be found with the
    /// statements that `effort` allows.
    pub fn bounds(&self, functions: &Functions, values: &[Bounds], effort: &mut u64, results: &mut Vec<Bounds>) {
        results.clear();
        if self.execute(functions, values, effort, results).is_none() {
            results.clear();
        }
        results.resize(self.results, Bounds::UNKNOWN);
    }

    /// Lets the call compute its first result only, and leaves the others unknown: nothing but themselves may depend on them.
    pub fn take_first_result_only(&mut self, functions: &mut Functions) {
        let Some(declared) = functions.get(self.function) else { return };
        let mut function = Function::clone(declared);
        let others = function.outputs.split_off(function.outputs.len().min(1));
        if let Body::Algorithm(statements) = &mut function.body {
            without_assignments(statements, &others);
        }
        self.function = functions.push(Arc::new(function));
    }

    fn execute(
        &self,
        functions: &Functions,
        values: &[Bounds],
        effort: &mut u64,
        results: &mut Vec<Bounds>,
    ) -> Option<()> {
        let declared = functions.get(self.function)?;
        let mut scalars = self.arguments.iter().map(|&place| values[place as usize]);
        let mut leaf = |kind| scalars.next().map(|bounds| scalar(bounds, kind));
        let mut arguments = Vec::with_capacity(self.inputs.len());
        for (shape, &input) in self.inputs.iter().zip(&declared.inputs) {
            arguments.push(Value::of_shape(functions, shape, &declared.locals[input].ty, &mut leaf)?);
        }
        let mut executor = Executor::over(functions, Ranges);
        executor.steps_left = *effort;
        executor.max_depth = DEEPEST;
        let outputs = executor.call(self.function, arguments);
        *effort = executor.steps_left;
        let mut flat = Vec::with_capacity(self.results);
        outputs.ok()?.into_iter().for_each(|output| output.flatten_into(&mut flat));
        for scalar in &flat {
            results.push(bounds(scalar)?);
        }
        Some(())
    }
}

/// Leaves out all that is assigned to some variables.
fn without_assignments(statements: &mut Vec<Statement>, variables: &[LocalId]) {
    statements.retain_mut(|statement| match &mut statement.kind {
        StatementKind::Assign(target, _) => !variables.contains(&target.local),
        StatementKind::If { branches, otherwise } => {
            branches.iter_mut().for_each(|(_, body)| without_assignments(body, variables));
            without_assignments(otherwise, variables);
            true
        }
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
            without_assignments(body, variables);
            true
        }
        _ => true,
    });
}

/// Scalars are bounds of what they may be.
struct Ranges;

/// A scalar within bounds: known where they leave one value only.
fn scalar(bounds: Bounds, kind: Kind) -> Value<Bounds> {
    let Interval { low, high } = bounds.value;
    match kind {
        Kind::Real if low == high => Value::Real(low),
        Kind::Boolean if low > 0.0 => Value::Boolean(true),
        Kind::Boolean if high <= 0.0 => Value::Boolean(false),
        Kind::Integer | Kind::Enumeration => {
            // Operations round outwards.
            let value = Interval { low: low.round(), high: high.round() };
            match (kind, value.low == value.high) {
                (Kind::Integer, true) => Value::Integer(value.low as i64),
                (Kind::Enumeration, true) => Value::Enumeration(value.low as i64),
                _ => Value::Open(Bounds { value, slope: Interval::ALL }, kind),
            }
        }
        _ => Value::Open(bounds, kind),
    }
}

/// The bounds of a scalar; `None` of one that has no value, or is a text.
fn bounds(scalar: &Value<Bounds>) -> Option<Bounds> {
    match scalar {
        Value::Open(bounds, _) => Some(*bounds),
        Value::Real(_) | Value::Integer(_) | Value::Boolean(_) | Value::Enumeration(_) => {
            scalar.as_real().map(Bounds::constant)
        }
        _ => None,
    }
}

fn number(scalar: &Value<Bounds>) -> Outcome<Bounds> {
    bounds(scalar).ok_or_else(|| "a number is expected here".into())
}

impl Domain for Ranges {
    type Open = Bounds;

    fn arithmetic(&mut self, op: ArithmeticOp, a: &ValueOf<Self>, b: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        let kind = result_kind(op, a, b);
        let (x, y) = (number(a)?, number(b)?);
        let result = match op {
            ArithmeticOp::Add => x.plus(y),
            ArithmeticOp::Sub => x.minus(y),
            ArithmeticOp::Mul => x.times(y),
            ArithmeticOp::Div => x.times(y.inverse()),
            ArithmeticOp::Pow if y.value.low == y.value.high => x.power(y.value.low),
            ArithmeticOp::Pow => y.times(x.function(Builtin::Log)).function(Builtin::Exp),
        };
        Ok(scalar(result, kind))
    }

    fn negate(&mut self, a: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        Ok(scalar(number(a)?.negative(), a.scalar_kind().unwrap_or(Kind::Real)))
    }

    fn not(&mut self, a: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        Ok(scalar(Bounds::constant(1.0).minus(number(a)?), Kind::Boolean))
    }

    fn and(&mut self, a: &ValueOf<Self>, b: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        Ok(scalar(number(a)?.smallest(number(b)?), Kind::Boolean))
    }

    fn or(&mut self, a: &ValueOf<Self>, b: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        Ok(scalar(number(a)?.largest(number(b)?), Kind::Boolean))
    }

    fn compare(&mut self, op: CompareOp, a: &ValueOf<Self>, b: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        let (x, y) = (number(a)?.value, number(b)?.value);
        Ok(scalar(compared(op, x, y), Kind::Boolean))
    }

    fn builtin(&mut self, op: Builtin, arguments: &[ValueOf<Self>]) -> Outcome<ValueOf<Self>> {
        let kind = builtin_kind(op, arguments);
        let result = match *arguments {
            [ref x] => number(x)?.function(op),
            [ref x, ref y] => {
                let (x, y) = (number(x)?, number(y)?);
                match op {
                    Builtin::Min => x.smallest(y),
                    Builtin::Max => x.largest(y),
                    Builtin::Atan2 => x.angle(y),
                    Builtin::Mod => x.modulo(y),
                    Builtin::Div => x.quotient(y),
                    Builtin::Rem => x.minus(x.quotient(y).times(y)),
                    Builtin::Homotopy => x,
                    _ => return Err(format!("{op:?} has no bounds")),
                }
            }
            _ => return Err(format!("{op:?} has no bounds")),
        };
        Ok(scalar(result, kind))
    }

    fn convert(&mut self, function: ArrayFunction, arguments: &[ValueOf<Self>]) -> Outcome<ValueOf<Self>> {
        match (function, arguments) {
            (ArrayFunction::Integer, [x]) => Ok(scalar(number(x)?.function(Builtin::Floor), Kind::Integer)),
            (ArrayFunction::Enumeration, [x, ..]) => Ok(scalar(number(x)?, Kind::Enumeration)),
            _ => Err("a text depends on what is not certain".into()),
        }
    }

    fn begin_branch(&mut self, _: &ValueOf<Self>) -> Outcome<()> {
        Ok(())
    }

    fn begin_otherwise(&mut self) -> Outcome<()> {
        Ok(())
    }

    fn join(&mut self, then: &ValueOf<Self>, otherwise: &ValueOf<Self>) -> Outcome<ValueOf<Self>> {
        let kind = joined_kind(then, otherwise);
        Ok(match (bounds(then), bounds(otherwise)) {
            (Some(first), Some(second)) => scalar(first.either(second), kind),
            _ => Value::Unset(kind),
        })
    }

    fn end_branch(&mut self) -> Outcome<()> {
        Ok(())
    }

    /// Any of the elements that the subscripts may select.
    fn load(&mut self, array: &Array<Bounds>, selections: &[Selection<Bounds>]) -> Outcome<ValueOf<Self>> {
        if selections.len() != array.sizes.len() {
            return Err("a part of an array is not certain".into());
        }
        let mut places = vec![0];
        for (selection, &size) in selections.iter().zip(&array.sizes) {
            let candidates = match selection {
                Selection::One(position) => *position..*position + 1,
                Selection::Open(position) => {
                    let Interval { low, high } = number(position)?.value;
                    // Outside of the array the run ends by itself.
                    (low.max(1.0) as usize - 1)..(high.max(0.0).min(size as f64) as usize)
                }
                _ => return Err("a part of an array is not certain".into()),
            };
            places = places.iter().flat_map(|place| candidates.clone().map(move |at| place * size + at)).collect();
        }
        let mut found: Option<Value<Bounds>> = None;
        for element in places.iter().filter_map(|&place| array.elements.get(place)) {
            found = Some(match found {
                Some(found) => self.join(&found, element)?,
                None => element.clone(),
            });
        }
        found.ok_or_else(|| "a subscript is outside of its array".into())
    }

    fn require(&mut self, _: &ValueOf<Self>) -> Outcome<()> {
        Ok(())
    }

    fn fails_at_once(&self) -> bool {
        true
    }
}

/// What a comparison gives of numbers in two intervals, as bounds of false (0) and true (1).
fn compared(op: CompareOp, x: Interval, y: Interval) -> Bounds {
    let is_less = x.high < y.low;
    let is_greater = x.low > y.high;
    let is_equal = x.low == x.high && y.low == y.high && x.low == y.low;
    let (is_true, is_false) = match op {
        CompareOp::Less => (is_less, x.low >= y.high),
        CompareOp::LessEqual => (x.high <= y.low, is_greater),
        CompareOp::Greater => (is_greater, x.high <= y.low),
        CompareOp::GreaterEqual => (x.low >= y.high, is_less),
        CompareOp::Equal => (is_equal, is_less || is_greater),
        CompareOp::NotEqual => (is_less || is_greater, is_equal),
    };
    match (is_true, is_false) {
        (true, _) => Bounds::constant(1.0),
        (_, true) => Bounds::constant(0.0),
        _ => Bounds { value: Interval { low: 0.0, high: 1.0 }, slope: Interval::ALL },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(low: f64, high: f64) -> Value<Bounds> {
        scalar(Bounds { value: Interval { low, high }, slope: Interval::point(1.0) }, Kind::Real)
    }

    #[test]
    fn comparisons_are_decided_where_intervals_are_apart() {
        use CompareOp::*;
        let (low, high) = (between(0.0, 1.0), between(1.5, 2.0));
        for (op, expected) in
            [(Less, true), (LessEqual, true), (Greater, false), (GreaterEqual, false), (Equal, false), (NotEqual, true)]
        {
            assert_eq!(Ranges.compare(op, &low, &high), Ok(Value::Boolean(expected)), "{op:?}");
            let open = Ranges.compare(op, &low, &between(0.5, 2.0));
            assert!(matches!(open, Ok(Value::Open(_, Kind::Boolean))), "{op:?}");
        }
    }

    #[test]
    fn open_subscripts_select_any_of_the_elements() {
        let array = Array { sizes: vec![4], elements: [1.0, 7.0, 3.0, 9.0].map(Value::Real).to_vec() };
        let at = Selection::Open(scalar(between_bounds(1.6, 3.4), Kind::Integer));
        let Ok(Value::Open(found, Kind::Real)) = Ranges.load(&array, &[at]) else { panic!("not open") };
        assert_eq!(found.value, Interval { low: 3.0, high: 7.0 });
    }

    fn between_bounds(low: f64, high: f64) -> Bounds {
        Bounds { value: Interval { low, high }, slope: Interval::ALL }
    }

    #[test]
    fn what_is_joined_is_anything_between() {
        let joined = Ranges.join(&Value::Integer(2), &Value::Integer(5));
        let Ok(Value::Open(found, Kind::Integer)) = joined else { panic!("{joined:?}") };
        assert_eq!(found.value, Interval { low: 2.0, high: 5.0 });
        assert_eq!(Ranges.join(&Value::Boolean(true), &Value::Boolean(true)), Ok(Value::Boolean(true)));
    }
}
