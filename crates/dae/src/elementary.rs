//! The table of elementary functions (specification 3.7.1 to 3.7.3): how each is called, what it computes, where it is defined.
//!
//! Derivatives stand with the forms that they are derivatives of: expressions (`differentiate`), functions (`tangent`) and code.

use crate::expr::Builtin;
use crate::scalar::sign;

/// An elementary function.
pub struct Elementary {
    /// The form without event.
    pub builtin: Builtin,
    /// The name in Modelica, and of `external "builtin"` functions.
    pub name: &'static str,
    /// Takes Real arguments and gives a Real, whatever the types of the arguments.
    pub is_mathematical: bool,
    evaluate: Evaluate,
    /// Where it is defined, if that is not everywhere.
    pub domain: Option<fn(f64) -> bool>,
}

#[derive(Clone, Copy)]
enum Evaluate {
    Unary(fn(f64) -> f64),
    Binary(fn(f64, f64) -> f64),
}

/// In the order of `Builtin`.
const TABLE: [Elementary; 23] = [
    mathematical(Builtin::Sin, "sin", f64::sin),
    mathematical(Builtin::Cos, "cos", f64::cos),
    mathematical(Builtin::Tan, "tan", f64::tan),
    partial(Builtin::Asin, "asin", f64::asin, |x| (-1.0..=1.0).contains(&x)),
    partial(Builtin::Acos, "acos", f64::acos, |x| (-1.0..=1.0).contains(&x)),
    mathematical(Builtin::Atan, "atan", f64::atan),
    mathematical(Builtin::Sinh, "sinh", f64::sinh),
    mathematical(Builtin::Cosh, "cosh", f64::cosh),
    mathematical(Builtin::Tanh, "tanh", f64::tanh),
    mathematical(Builtin::Exp, "exp", f64::exp),
    partial(Builtin::Log, "log", f64::ln, |x| x > 0.0),
    partial(Builtin::Log10, "log10", f64::log10, |x| x > 0.0),
    partial(Builtin::Sqrt, "sqrt", f64::sqrt, |x| x >= 0.0),
    numeric(Builtin::Sign, "sign", Evaluate::Unary(|x| sign(x) as f64)),
    numeric(Builtin::Abs, "abs", Evaluate::Unary(f64::abs)),
    numeric(Builtin::Floor, "floor", Evaluate::Unary(f64::floor)),
    numeric(Builtin::Ceil, "ceil", Evaluate::Unary(f64::ceil)),
    Elementary { is_mathematical: true, ..numeric(Builtin::Atan2, "atan2", Evaluate::Binary(f64::atan2)) },
    numeric(Builtin::Min, "min", Evaluate::Binary(f64::min)),
    numeric(Builtin::Max, "max", Evaluate::Binary(f64::max)),
    numeric(Builtin::Div, "div", Evaluate::Binary(|x, y| (x / y).trunc())),
    numeric(Builtin::Mod, "mod", Evaluate::Binary(|x, y| x - (x / y).floor() * y)),
    numeric(Builtin::Rem, "rem", Evaluate::Binary(|x, y| x - (x / y).trunc() * y)),
];

const fn numeric(builtin: Builtin, name: &'static str, evaluate: Evaluate) -> Elementary {
    Elementary { builtin, name, is_mathematical: false, evaluate, domain: None }
}

const fn mathematical(builtin: Builtin, name: &'static str, evaluate: fn(f64) -> f64) -> Elementary {
    Elementary { is_mathematical: true, ..numeric(builtin, name, Evaluate::Unary(evaluate)) }
}

const fn partial(
    builtin: Builtin,
    name: &'static str,
    evaluate: fn(f64) -> f64,
    domain: fn(f64) -> bool,
) -> Elementary {
    Elementary { domain: Some(domain), ..mathematical(builtin, name, evaluate) }
}

impl Elementary {
    /// The function of a name.
    pub fn named(name: &str) -> Option<&'static Elementary> {
        TABLE.iter().find(|known| known.name == name)
    }

    /// The value of a function of one argument; for others `None`.
    pub fn unary(&self, x: f64) -> Option<f64> {
        match self.evaluate {
            Evaluate::Unary(evaluate) => Some(evaluate(x)),
            Evaluate::Binary(_) => None,
        }
    }

    /// The value of a function of two arguments; for others `None`.
    pub fn binary(&self, x: f64, y: f64) -> Option<f64> {
        match self.evaluate {
            Evaluate::Binary(evaluate) => Some(evaluate(x, y)),
            Evaluate::Unary(_) => None,
        }
    }
}

impl Builtin {
    /// The function in the table; forms with and without event are one function.
    pub fn elementary(self) -> Option<&'static Elementary> {
        let plain = match self {
            Builtin::FloorEvent => Builtin::Floor,
            Builtin::CeilEvent => Builtin::Ceil,
            Builtin::DivEvent => Builtin::Div,
            Builtin::ModEvent => Builtin::Mod,
            Builtin::RemEvent => Builtin::Rem,
            other => other,
        };
        TABLE.get(plain as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_builtins() {
        for (place, known) in TABLE.iter().enumerate() {
            assert_eq!(known.builtin as usize, place, "{}", known.name);
            assert_eq!(Elementary::named(known.name).map(|found| found.builtin), Some(known.builtin));
        }
        assert!(Builtin::Sample.elementary().is_none());
        assert_eq!(Builtin::ModEvent.elementary().map(|found| found.name), Some("mod"));
    }
}
