//! Instantaneous equations: which variable each equation of a `when` determines, solved for it as Modelica wants it.

use base::Diagnostic;

use crate::ast::*;
use crate::classes::{ClassId, Classes, VariableId};
use crate::language;

/// `variable = value` at the event.
pub struct Instant<'e> {
    pub variable: VariableId,
    pub reference: &'e Reference,
    /// The variable stands as `new(x)`.
    pub is_new: bool,
    pub value: Expr,
    pub equation: &'e Equation,
}

/// The equations of a `when`, each with what it determines.
pub fn solve<'e>(
    classes: &Classes,
    class: ClassId,
    when: &'e When,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Instant<'e>> {
    let resolve = |reference: &Reference| classes.resolve(class, reference).ok().flatten();
    let mut determined: Vec<VariableId> = Vec::new();
    let mut solved: Vec<Option<Instant>> = Vec::new();
    for equation in &when.equations {
        let instant = direct(equation, &resolve);
        determined.extend(instant.iter().map(|instant| instant.variable));
        solved.push(instant);
    }
    // What is left is solved for the only new value that no other equation determines.
    for (equation, place) in when.equations.iter().zip(&mut solved) {
        if place.is_some() {
            continue;
        }
        let candidates: Vec<(&Reference, VariableId)> = news(equation)
            .into_iter()
            .filter_map(|reference| Some((reference, resolve(reference)?)))
            .filter(|(_, variable)| !determined.contains(variable))
            .collect();
        let solution = match &candidates[..] {
            [(reference, variable)] => isolate(equation, reference).map(|value| (*reference, *variable, value)),
            _ => None,
        };
        match solution {
            Some((reference, variable, value)) => {
                determined.push(variable);
                *place = Some(Instant { variable, reference, is_new: true, value, equation });
            }
            None if has_unknown_names(classes, class, equation) => {}
            None => diagnostics.push(unsolvable(equation)),
        }
    }
    solved.into_iter().flatten().collect()
}

fn has_unknown_names(classes: &Classes, class: ClassId, equation: &Equation) -> bool {
    let mut unknown = false;
    for side in [&equation.left, &equation.right] {
        side.walk(&mut |part| {
            if let ExprKind::Reference(reference) | ExprKind::New(reference) = &part.kind {
                unknown |= !matches!(classes.resolve(class, reference), Ok(Some(_)));
            }
        });
    }
    unknown
}

fn unsolvable(equation: &Equation) -> Diagnostic {
    language::error(
        "unsolved-instant",
        "this equation cannot be solved for one new value",
        equation.span,
        "",
        "write it as `new(x) = …`, or as `y = …` for a variable that only changes here",
        "Instantaneous equations",
    )
}

/// `new(x) = …`, `… = new(x)`, or `y = …`.
fn direct<'e>(equation: &'e Equation, resolve: &dyn Fn(&Reference) -> Option<VariableId>) -> Option<Instant<'e>> {
    let sides = [(&equation.left, &equation.right), (&equation.right, &equation.left)];
    for (side, value) in sides {
        if let ExprKind::New(reference) = &side.kind
            && !holds(value, reference)
        {
            let variable = resolve(reference)?;
            return Some(Instant { variable, reference, is_new: true, value: value.clone(), equation });
        }
    }
    if news(equation).is_empty()
        && let ExprKind::Reference(reference) = &equation.left.kind
    {
        let variable = resolve(reference)?;
        return Some(Instant { variable, reference, is_new: false, value: equation.right.clone(), equation });
    }
    None
}

fn news(equation: &Equation) -> Vec<&Reference> {
    [news_of(&equation.left), news_of(&equation.right)].concat()
}

fn news_of(expression: &Expr) -> Vec<&Reference> {
    let mut found = Vec::new();
    expression.walk(&mut |part| {
        if let ExprKind::New(reference) = &part.kind {
            found.push(reference);
        }
    });
    found
}

fn holds(expression: &Expr, reference: &Reference) -> bool {
    let same = |other: &&Reference| {
        other.parts.len() == reference.parts.len()
            && other.parts.iter().zip(&reference.parts).all(|(one, other)| one.name == other.name)
    };
    news_of(expression).iter().any(same)
}

/// The value of `new(reference)` where it stands once and below operators that can be undone.
fn isolate(equation: &Equation, reference: &Reference) -> Option<Expr> {
    let (mut side, mut value) = match (holds(&equation.left, reference), holds(&equation.right, reference)) {
        (true, false) => (&equation.left, equation.right.clone()),
        (false, true) => (&equation.right, equation.left.clone()),
        _ => return None,
    };
    loop {
        match &side.kind {
            ExprKind::New(_) => return Some(value),
            ExprKind::Parentheses(inner) => side = inner,
            ExprKind::Negative(inner) => {
                value = negative(value);
                side = inner;
            }
            ExprKind::Operators(first, rest) => {
                let operands = std::iter::once(&**first).chain(rest.iter().map(|(_, _, operand)| operand));
                let mut holding = operands.enumerate().filter(|(_, operand)| holds(operand, reference));
                let (index, inner) = holding.next()?;
                if holding.next().is_some() {
                    return None;
                }
                value = undo(value, first, rest, index)?;
                side = inner;
            }
            _ => return None,
        }
    }
}

/// The operand with this index, where the whole chain has the value.
fn undo(value: Expr, first: &Expr, rest: &[(Operator, base::Span, Expr)], index: usize) -> Option<Expr> {
    let operator = rest.first()?.0;
    let operators = std::iter::once(None).chain(rest.iter().map(|(operator, ..)| Some(*operator)));
    let operands = std::iter::once(first).chain(rest.iter().map(|(_, _, operand)| operand));
    let own = index.checked_sub(1).map(|index| rest[index].0);
    let span = value.span;
    let others = operators.zip(operands).enumerate().filter(|(other, _)| *other != index).map(|(_, pair)| pair);
    match operator {
        Operator::Plus | Operator::Minus => {
            let moved = others.map(|(operator, operand)| {
                let operator = if operator == Some(Operator::Minus) { Operator::Plus } else { Operator::Minus };
                (operator, span, below(operand.clone(), IN_SUM))
            });
            let difference = chain(below(value, FIRST_IN_SUM), moved.collect());
            Some(if own == Some(Operator::Minus) { negative(difference) } else { difference })
        }
        Operator::Times | Operator::Over if own != Some(Operator::Over) => {
            let moved = others.map(|(operator, operand)| {
                let operator = if operator == Some(Operator::Over) { Operator::Times } else { Operator::Over };
                (operator, span, below(operand.clone(), IN_PRODUCT))
            });
            Some(chain(below(value, FIRST_IN_PRODUCT), moved.collect()))
        }
        _ => None,
    }
}

fn chain(first: Expr, rest: Vec<(Operator, base::Span, Expr)>) -> Expr {
    Expr { span: first.span, kind: ExprKind::Operators(Box::new(first), rest) }
}

fn negative(value: Expr) -> Expr {
    let value = below(value, FIRST_IN_PRODUCT);
    Expr { span: value.span, kind: ExprKind::Negative(Box::new(value)) }
}

/// How tightly an operand has to hold together, by its place.
const FIRST_IN_SUM: u32 = 1;
const IN_SUM: u32 = 2;
const FIRST_IN_PRODUCT: u32 = 3;
const IN_PRODUCT: u32 = 4;

/// In brackets where it needs them.
fn below(value: Expr, place: u32) -> Expr {
    let strength = match &value.kind {
        ExprKind::Operators(_, rest) => match rest.first().map(|(operator, ..)| *operator) {
            Some(Operator::Power) => IN_PRODUCT,
            Some(Operator::Times | Operator::Over) => FIRST_IN_PRODUCT,
            Some(Operator::Plus | Operator::Minus) => FIRST_IN_SUM,
            _ => 0,
        },
        ExprKind::If(..) | ExprKind::Not(_) => 0,
        ExprKind::Negative(_) => FIRST_IN_SUM,
        _ => IN_PRODUCT,
    };
    match strength >= place {
        true => value,
        false => Expr { span: value.span, kind: ExprKind::Parentheses(Box::new(value)) },
    }
}
