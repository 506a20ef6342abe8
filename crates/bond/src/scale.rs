//! Values in units other than those of the SI. The unit behind a value is that of its numbers: `2 "kOhm"`. What a name stands for was
//! converted where the name was declared, so an expression of names is in SI units already; the units of the names tell which of
//! both it is. `2*R0 "kOhm"` is twice what `R0` is.

use base::Diagnostic;
use units::{Dimension, Unit};

use crate::expr::{Expr, Function, Operator};
use crate::graph::*;

/// What takes a number to SI units.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scale {
    factor: f64,
    offset: f64,
    dimension: Dimension,
}

impl Scale {
    pub const NONE: Scale = Scale { factor: 1.0, offset: 0.0, dimension: Dimension::ONE };

    pub fn of(unit: Unit) -> Self {
        Self { factor: unit.factor, offset: unit.offset, dimension: unit.dimension }
    }

    pub fn is_none(&self) -> bool {
        self.factor == 1.0 && self.offset == 0.0
    }

    /// The unit of an absolute temperature.
    pub fn has_offset(&self) -> bool {
        self.offset != 0.0
    }

    /// The value in SI units; refused where the units of its names do not tell what it is in.
    pub fn converted(&self, graph: &Graph, value: &Expression) -> Result<Expression, Diagnostic> {
        let found = |time| Dimensions { graph, time, open: 0 }.of(value);
        // `5*time "kV"` counts seconds; `v*time "km"` is a length.
        let is_same = |found: Option<Found>| found.is_some_and(|it| it.has_units && it.dimension == self.dimension);
        let is_number = |found: Option<Found>| found.is_some_and(|it| it.dimension.is_one());
        if is_same(found(Dimension::SECOND)) {
            return Ok(value.clone());
        }
        if is_number(found(Dimension::ONE)) {
            return Ok(self.applied(value.clone()));
        }
        let si = crate::domains::unit_text(self.dimension);
        let what = format!("it is not clear what `{}` is in: names stand for values in SI units", graph.print(value));
        let hint = format!("write the value in `{si}`, or name the numbers in it as parameters with units");
        Err(Diagnostic::error("ambiguous-unit", what).hint(hint))
    }

    fn applied(&self, value: Expression) -> Expression {
        let number = match &value {
            Expr::Number(number, _) => Some(*number),
            Expr::Negate(inner) => match **inner {
                Expr::Number(number, _) => Some(-number),
                _ => None,
            },
            _ => None,
        };
        if let Some(number) = number {
            let converted = number * self.factor + self.offset;
            return match converted < 0.0 {
                true => Expr::Negate(Box::new(Expr::number(-converted))),
                false => Expr::number(converted),
            };
        }
        let product = match self.factor {
            1.0 => value,
            factor => Expr::binary(Operator::Multiply, Expr::number(factor), value),
        };
        match self.offset {
            0.0 => product,
            offset => Expr::binary(Operator::Add, product, Expr::number(offset)),
        }
    }
}

/// The dimension of an expression, and whether names with units take part.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Found {
    dimension: Dimension,
    has_units: bool,
}

/// Dimensions of expressions, from the units of the names in them.
struct Dimensions<'a> {
    graph: &'a Graph,
    /// What time counts as.
    time: Dimension,
    /// Names on the way.
    open: usize,
}

impl Dimensions<'_> {
    fn of(&mut self, expression: &Expression) -> Option<Found> {
        let number = Found { dimension: Dimension::ONE, has_units: false };
        crate::expr::deep(|| match expression {
            Expr::Number(..) | Expr::Boolean(_) | Expr::Not(_) => Some(number),
            Expr::Leaf(leaf) => self.leaf(*leaf),
            Expr::Negate(inner) => self.of(inner),
            Expr::Binary(operator, left, right) => {
                if operator.is_condition() {
                    return Some(number);
                }
                let (one, other) = (self.of(left)?, self.of(right)?);
                let has_units = one.has_units || other.has_units;
                let dimension = match operator {
                    Operator::Multiply => one.dimension.times(other.dimension),
                    Operator::Divide => one.dimension.over(other.dimension),
                    Operator::Power => return power(one, right),
                    _ if left.is_number(0.0) => other.dimension,
                    _ if right.is_number(0.0) => one.dimension,
                    _ => return same(one, other),
                };
                Some(Found { dimension, has_units })
            }
            Expr::Call(function, arguments) => {
                let arguments: Option<Vec<Found>> = arguments.iter().map(|argument| self.of(argument)).collect();
                match (function, arguments?.as_slice()) {
                    (Function::Abs, [one]) => Some(*one),
                    (Function::Sqrt, [one]) => Some(Found { dimension: one.dimension.power(0.5), ..*one }),
                    (Function::Min | Function::Max, [one, other]) => same(*one, *other),
                    _ => Some(number),
                }
            }
            Expr::If(_, yes, no) => same(self.of(yes)?, self.of(no)?),
        })
    }

    fn leaf(&mut self, leaf: Leaf) -> Option<Found> {
        let graph = self.graph;
        let (unit, value) = match leaf {
            Leaf::Parameter(id) => (&graph.parameters[id].unit, graph.parameters[id].value.as_ref()),
            Leaf::Input(id) => (&graph.inputs[id].unit, graph.inputs[id].value.as_ref()),
            Leaf::Signal(id) => (&graph.signals[id].unit, Some(&graph.signals[id].value)),
            Leaf::Time => return Some(Found { dimension: self.time, has_units: self.time != Dimension::ONE }),
            Leaf::Effort(_) | Leaf::Flow(_) | Leaf::State(..) | Leaf::Rate(..) | Leaf::InputRate(_) => return None,
        };
        if let Some(unit) = unit {
            let dimension = unit.parse::<Unit>().ok()?.dimension;
            return Some(Found { dimension, has_units: true });
        }
        let Some(value) = value else { return Some(Found { dimension: Dimension::ONE, has_units: false }) };
        // Signals may depend on each other around a loop.
        if self.open > graph.parameters.len() + graph.inputs.len() + graph.signals.len() {
            return None;
        }
        self.open += 1;
        let found = self.of(value);
        self.open -= 1;
        found
    }
}

fn power(base: Found, exponent: &Expression) -> Option<Found> {
    if base.dimension.is_one() {
        return Some(base);
    }
    match exponent {
        Expr::Number(exponent, _) => Some(Found { dimension: base.dimension.power(*exponent), ..base }),
        _ => None,
    }
}

fn same(one: Found, other: Found) -> Option<Found> {
    let has_units = one.has_units || other.has_units;
    // A number beside an angle in degrees could be in either.
    let is_mixed = one.has_units != other.has_units;
    (one.dimension == other.dimension && !is_mixed).then_some(Found { has_units, ..one })
}
