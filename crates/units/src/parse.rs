//! The syntax of unit expressions (specification 19.1).
//!
//! ```text
//! unit-expression  = unit-numerator [ "/" unit-denominator ]
//! unit-numerator   = "1" | unit-factors | "(" unit-expression ")"
//! unit-denominator = unit-factor | "(" unit-expression ")"
//! unit-factors     = unit-factor { "." unit-factor }
//! unit-factor      = unit-operand [ [ "+" | "-" ] digits ]
//! unit-operand     = [ prefix ] symbol
//! ```

use std::fmt;
use std::str::FromStr;

use crate::symbols::{PREFIXES, is_level, symbol};
use crate::unit::Unit;

/// Parentheses deeper than this are no unit that anybody wrote.
const DEEPEST: usize = 32;

/// Why a text is no unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UnitError {
    /// The symbol is not known.
    Symbol(String),
    /// A level such as `dB`: known, but not a multiple of SI units.
    Level(String),
    /// More than one `/` without parentheses.
    SecondDivision,
    /// White space or something else that does not belong to the syntax.
    Character(char),
    /// It ends too early, or a parenthesis is missing.
    Incomplete,
    /// An exponent or a factor is out of range.
    TooLarge,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnitError::Symbol(symbol) => write!(f, "`{symbol}` is no known unit"),
            UnitError::Level(symbol) => write!(f, "`{symbol}` is a level, not a unit with a dimension"),
            UnitError::SecondDivision => f.write_str("only one `/` is allowed; put parentheses around the divisor"),
            UnitError::Character(' ') => f.write_str("units are written without spaces"),
            UnitError::Character('*' | '·') => f.write_str("units are multiplied with `.`"),
            UnitError::Character('^') => f.write_str("exponents stand directly behind the unit, as in `m2`"),
            UnitError::Character(other) => write!(f, "`{other}` does not belong there"),
            UnitError::Incomplete => f.write_str("it ends too early"),
            UnitError::TooLarge => f.write_str("an exponent is too large"),
        }
    }
}

impl std::error::Error for UnitError {}

impl FromStr for Unit {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let mut parser = Parser { rest: text, depth: 0 };
        let unit = parser.expression()?;
        match parser.rest.chars().next() {
            None => Ok(unit),
            Some('/') => Err(UnitError::SecondDivision),
            Some(other) => Err(UnitError::Character(other)),
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn expression(&mut self) -> Result<Unit, UnitError> {
        let numerator = self.numerator()?;
        if !self.eat('/') {
            return Ok(numerator);
        }
        let denominator = if self.rest.starts_with('(') { self.parenthesis()? } else { self.factor()? };
        Ok(numerator.over(denominator))
    }

    fn numerator(&mut self) -> Result<Unit, UnitError> {
        if self.rest.starts_with('(') {
            return self.parenthesis();
        }
        if self.eat('1') {
            return Ok(Unit::ONE);
        }
        let mut unit = self.factor()?;
        while self.eat('.') {
            unit = unit.times(self.factor()?);
        }
        Ok(unit)
    }

    fn parenthesis(&mut self) -> Result<Unit, UnitError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(UnitError::Incomplete);
        }
        self.eat('(');
        let unit = self.expression()?;
        self.depth -= 1;
        match self.rest.chars().next() {
            Some(')') => self.eat(')'),
            Some('/') => return Err(UnitError::SecondDivision),
            Some(other) => return Err(UnitError::Character(other)),
            None => return Err(UnitError::Incomplete),
        };
        Ok(unit)
    }

    fn factor(&mut self) -> Result<Unit, UnitError> {
        let is_symbol = |c: char| c.is_alphabetic() || c == '_' || c == '%';
        let name = self.take(is_symbol);
        if name.is_empty() {
            return Err(self.rest.chars().next().map_or(UnitError::Incomplete, UnitError::Character));
        }
        let unit = operand(name)?;
        let negative = self.rest.starts_with('-');
        let signed = negative || self.rest.starts_with('+');
        if signed {
            self.rest = &self.rest[1..];
        }
        let digits = self.take(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return if signed { Err(UnitError::Incomplete) } else { Ok(unit) };
        }
        let exponent: i32 = digits.parse().ok().filter(|&number| number <= 100).ok_or(UnitError::TooLarge)?;
        Ok(unit.power(if negative { -exponent } else { exponent }))
    }

    fn eat(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

impl<'a> Parser<'a> {
    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }
}

/// First as a symbol, and only if there is none with a prefix.
fn operand(name: &str) -> Result<Unit, UnitError> {
    if let Some(unit) = symbol(name) {
        return Ok(unit);
    }
    if is_level(name) {
        return Err(UnitError::Level(name.to_owned()));
    }
    let prefixed = PREFIXES.iter().find_map(|(prefix, size)| {
        let unit = symbol(name.strip_prefix(prefix)?)?;
        Some(Unit { factor: unit.factor * size, offset: unit.offset, ..unit })
    });
    prefixed.ok_or_else(|| UnitError::Symbol(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let shown = match text.parse::<Unit>() {
            Ok(Unit { dimension, factor, offset }) if offset != 0.0 => format!("{factor:e} {dimension} + {offset}"),
            Ok(Unit { dimension, factor, .. }) => format!("{factor:e} {dimension}"),
            Err(error) => format!("error: {error}"),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn products_and_quotients() {
        check("N.m", expect!["1e0 J"]);
        check("kg.m.s-2", expect!["1e0 N"]);
        check("kg.m/s2", expect!["1e0 N"]);
        check("kg/(m.s)", expect!["1e0 kg.m-1.s-1"]);
        check("J/(kg.K)", expect!["1e0 m2.s-2.K-1"]);
        check("(J/kg)/(kg/m3)", expect!["1e0 kg-1.m5.s-2"]);
        check("1", expect!["1e0 1"]);
        check("1/rad", expect!["1e0 1"]);
        check("m+2", expect!["1e0 m2"]);
        check("V.A", expect!["1e0 W"]);
    }

    #[test]
    fn prefixes_come_second() {
        check("m", expect!["1e0 m"]);
        check("mm2", expect!["1e-6 m2"]);
        check("T", expect!["1e0 T"]);
        check("min", expect!["6e1 s"]);
        check("mg", expect!["1e-6 kg"]);
        check("dam", expect!["1e1 m"]);
        check("hPa", expect!["1e2 Pa"]);
        check("cd", expect!["1e0 cd"]);
        check("uF", expect!["1e-6 F"]);
        check("km/h", expect!["2.777777777777778e-1 m.s-1"]);
        check("kW.h", expect!["3.6e6 J"]);
    }

    #[test]
    fn temperatures() {
        check("degC", expect!["1e0 K + 273.15"]);
        check("W/degC", expect!["1e0 kg.m2.s-3.K-1"]);
    }

    #[test]
    fn what_is_no_unit() {
        check("", expect!["error: it ends too early"]);
        check("Nm", expect!["error: `Nm` is no known unit"]);
        check("N m", expect!["error: units are written without spaces"]);
        check("N*m", expect!["error: units are multiplied with `.`"]);
        check("m^2", expect!["error: exponents stand directly behind the unit, as in `m2`"]);
        check("J/kg/K", expect!["error: only one `/` is allowed; put parentheses around the divisor"]);
        check("J/(kg.K", expect!["error: it ends too early"]);
        check("m-", expect!["error: it ends too early"]);
        check("2", expect!["error: `2` does not belong there"]);
        check("dB", expect!["error: `dB` is a level, not a unit with a dimension"]);
        check("m999", expect!["error: an exponent is too large"]);
        check(&"(".repeat(10_000), expect!["error: it ends too early"]);
    }
}
