//! Arithmetic of scalars, in one place for constant folding, the evaluation of expressions and of functions
//! (specification 3.7.1 and 3.7.2). `None` is an error at run time: outside of the domain, division by zero, overflow.

use std::cmp::Ordering;

use crate::expr::{Builtin, CompareOp};

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Whether a comparison holds for operands in this order.
pub fn compare(op: CompareOp, order: Ordering) -> bool {
    match op {
        CompareOp::Less => order == Ordering::Less,
        CompareOp::LessEqual => order != Ordering::Greater,
        CompareOp::Greater => order == Ordering::Greater,
        CompareOp::GreaterEqual => order != Ordering::Less,
        CompareOp::Equal => order == Ordering::Equal,
        CompareOp::NotEqual => order != Ordering::Equal,
    }
}

/// The same of numbers; none of them holds for NaN but `<>`.
pub fn compare_reals(op: CompareOp, a: f64, b: f64) -> bool {
    a.partial_cmp(&b).map_or(op == CompareOp::NotEqual, |order| compare(op, order))
}

/// A power; `None` where it is not defined.
pub fn power(base: f64, exponent: f64) -> Option<f64> {
    let value = match exponent as i32 {
        // Small whole exponents by multiplication, as compiled code does it.
        whole if f64::from(whole) == exponent && whole.abs() <= 16 => base.powi(whole),
        _ => base.powf(exponent),
    };
    finite(value)
}

/// −1, 0 or 1.
pub fn sign(value: f64) -> i64 {
    if value > 0.0 {
        1
    } else if value < 0.0 {
        -1
    } else {
        0
    }
}

/// Functions of one number.
pub fn unary(op: Builtin, x: f64) -> Option<f64> {
    finite(op.elementary()?.unary(x)?)
}

/// Functions of two numbers.
pub fn binary(op: Builtin, x: f64, y: f64) -> Option<f64> {
    if is_quotient(op) && y == 0.0 {
        return None;
    }
    finite(op.elementary()?.binary(x, y)?)
}

/// What a function goes on with where a number is too large: infinity, as compiled code does and as products do, since what is
/// made of it may be finite again (`1/exp(x)`). A pole is no such place.
pub fn overflow(op: Builtin, x: f64) -> Option<f64> {
    let grows = matches!(op, Builtin::Exp | Builtin::Sinh | Builtin::Cosh);
    (grows && x.is_finite()).then(|| op.elementary()?.unary(x))?.filter(|value| value.is_infinite())
}

/// The same of a power.
pub fn power_overflow(base: f64, exponent: f64) -> Option<f64> {
    let is_regular = base.is_finite() && base != 0.0 && exponent.is_finite();
    is_regular.then(|| base.powf(exponent)).filter(|value| value.is_infinite())
}

/// Any function of up to three numbers; NaN where it has no value.
pub fn builtin(op: Builtin, [x, y, z]: [f64; 3]) -> f64 {
    let value = match op {
        Builtin::Homotopy => Some(x),
        Builtin::SemiLinear => Some(x * if x >= 0.0 { y } else { z }),
        _ => unary(op, x).or_else(|| binary(op, x, y)),
    };
    value.unwrap_or(f64::NAN)
}

/// How fast such a function changes with one of its arguments, by differences.
pub fn slope(op: Builtin, values: [f64; 3], place: usize) -> f64 {
    let step = 1e-6 * values[place].abs().max(1.0);
    let shifted = |by: f64| {
        let mut moved = values;
        moved[place] += by;
        builtin(op, moved)
    };
    (shifted(step) - shifted(-step)) / (2.0 * step)
}

/// `div`, `mod`, `rem`: the functions that are of type Integer for two Integers.
pub fn is_quotient(op: Builtin) -> bool {
    matches!(op, Builtin::Div | Builtin::DivEvent | Builtin::Mod | Builtin::ModEvent | Builtin::Rem | Builtin::RemEvent)
}

/// `div`, `mod` and `rem` of Integers; `None` where they are not defined.
pub fn integer_quotient(op: Builtin, x: i64, y: i64) -> Option<i64> {
    match op {
        Builtin::Div | Builtin::DivEvent => x.checked_div(y),
        Builtin::Rem | Builtin::RemEvent => x.checked_rem(y),
        Builtin::Mod | Builtin::ModEvent => {
            let remainder = x.checked_rem(y)?;
            Some(if remainder != 0 && (remainder < 0) != (y < 0) { remainder + y } else { remainder })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_infinite_and_a_pole_is_nothing() {
        assert_eq!(overflow(Builtin::Exp, 1000.0), Some(f64::INFINITY));
        assert_eq!(overflow(Builtin::Sinh, -1000.0), Some(f64::NEG_INFINITY));
        assert_eq!((overflow(Builtin::Exp, 1.0), overflow(Builtin::Log, 0.0)), (None, None));
        assert_eq!(power_overflow(1e-310, -1.0), Some(f64::INFINITY));
        assert_eq!((power_overflow(0.0, -1.0), power_overflow(-2.0, 0.5)), (None, None));
    }

    #[test]
    fn quotients_follow_the_tables_of_the_specification() {
        assert_eq!(integer_quotient(Builtin::Div, -7, 3), Some(-2));
        assert_eq!(integer_quotient(Builtin::Rem, -7, 3), Some(-1));
        assert_eq!(integer_quotient(Builtin::Mod, -7, 3), Some(2));
        assert_eq!(integer_quotient(Builtin::Mod, 7, -3), Some(-2));
        assert_eq!(binary(Builtin::Mod, -3.0, 1.4), Some(-3.0 + 3.0 * 1.4));
        assert_eq!(binary(Builtin::Rem, -3.0, 1.4), Some(-3.0 + 2.0 * 1.4));
        assert_eq!(integer_quotient(Builtin::Mod, 7, 0), None);
    }
}
