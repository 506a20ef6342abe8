//! Whether two clocks that one partition would have are one (16.3.1, 16.7.5).
//!
//! Numbers are compared. Intervals that depend on parameters are equal if their expressions are, once parameters that are bound
//! to others are followed there; a value that the user may change decides nothing. All other clocks are equal to themselves only.

use dae::{ExprId, Memo, Model, Node};

use super::rates::{Base, Clock, seconds};
use super::ratio::Ratio;

/// Parameters are bound to parameters this often, at most.
const MOST_BINDINGS: usize = 100;

/// Decimal intervals that differ by less are meant to be equal.
const ROUNDING: f64 = 1e-12;

pub(super) fn agree(model: &mut Model, a: Clock, b: Clock) -> bool {
    if let (Some(a), Some(b)) = (seconds(a), seconds(b)) {
        return a == b;
    }
    if let (Some(a), Some(b)) = (decimals(model, a), decimals(model, b)) {
        let near = |a: f64, b: f64| (a - b).abs() <= ROUNDING * a.abs().max(b.abs());
        return near(a.0, b.0) && near(a.1, b.1);
    }
    let is_base = match (a.base, b.base) {
        (Base::Periodic(a), Base::Periodic(b)) => followed(model, a) == followed(model, b),
        (a, b) => a == b,
    };
    is_base && (a.factor, a.shift) == (b.factor, b.shift)
}

/// Interval and first tick, where they are numbers.
fn decimals(model: &Model, clock: Clock) -> Option<(f64, f64)> {
    let interval = match clock.base {
        Base::Exact(interval) => interval.value(),
        Base::Periodic(interval) => model.exprs.as_real(interval)?,
        _ => return None,
    };
    Some((interval * clock.factor.value(), interval * clock.shift.value()))
}

/// An expression of parameters with those replaced that are bound to expressions of others.
fn followed(model: &mut Model, mut expression: ExprId) -> ExprId {
    for _ in 0..MOST_BINDINGS {
        let variables = &model.variables;
        let next = model.exprs.rewrite(&[expression], &mut Memo::default(), |exprs, id, node| match node {
            Node::Var(v) => variables[v].binding.filter(|&value| !exprs.is_literal(value)).unwrap_or(id),
            node => exprs.make(node),
        })[0];
        if next == expression {
            break;
        }
        // Where such a parameter is set, what it was bound to says nothing about it.
        for variable in model.exprs.dependencies(&[expression]).variables {
            let declared = &model.variables[variable];
            if declared.binding.is_some_and(|binding| !model.exprs.is_literal(binding)) {
                model.decided.push(dae::Decided { variable, span: declared.span });
            }
        }
        expression = next;
    }
    expression
}

/// A clock in words.
pub(super) fn text(model: &Model, clock: Clock) -> String {
    let times = |ratio: Ratio, text: &str| match (ratio.numerator, ratio.denominator) {
        (1, 1) => text.to_owned(),
        (numerator, 1) => format!("{numerator}*{text}"),
        (1, denominator) => format!("{text}/{denominator}"),
        (numerator, denominator) => format!("{numerator}*{text}/{denominator}"),
    };
    let (interval, start) = match (seconds(clock), clock.base) {
        (Some((interval, start)), _) => (interval.value().to_string(), start.value().to_string()),
        (None, Base::Exact(interval)) => (interval.value().to_string(), "0".to_owned()),
        (None, Base::Periodic(interval) | Base::Varying { interval, .. }) => {
            let interval = model.expression_text(interval);
            (times(clock.factor, &interval), times(clock.shift, &interval))
        }
        (None, Base::Event { condition, .. }) => {
            let condition = model.expression_text(condition);
            return match (clock.factor, clock.shift) {
                (Ratio::ONE, Ratio::ZERO) => format!("when `{condition}` becomes true"),
                _ => format!("at some of the instants at which `{condition}` becomes true"),
            };
        }
    };
    match clock.shift.numerator {
        0 => format!("every {interval} s"),
        _ => format!("every {interval} s from {start} s on"),
    }
}
