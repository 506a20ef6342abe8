//! Obvious simplifications of a converted value, which `convertModifiers` may ask for (specification 18.8.2.1): branches whose
//! conditions are literals, comparisons and products of literals, factors of one and summands of zero. The rest of the text
//! stays as it was written.

use base::{FileId, Id as _};
use syntax::ast::{BinaryOp, Expr, ExprKind, FunctionArgument, UnaryOp};

use super::rewrite::range;

/// The simplified text of an expression.
pub fn simplified(value: &str) -> String {
    const BEFORE: &str = "model M Real x = ";
    let text = format!("{BEFORE}{value}; end M;");
    let parse = syntax::parse(FileId::from_index(0), &text);
    if parse.has_errors() {
        return value.to_owned();
    }
    let stored = parse.ast();
    let Some(expr) = stored.classes.first().and_then(value_in) else { return value.to_owned() };
    let made = Simplifier { text: &text }.fold(expr);
    if made.changed { made.text } else { value.to_owned() }
}

fn value_in(class: &std::sync::Arc<syntax::ast::ClassDef>) -> Option<&Expr> {
    let syntax::ast::ClassBody::Long(composition) = &class.body else { return None };
    let component = composition.elements.iter().find_map(|element| match element {
        syntax::ast::Element::Component(component) => Some(component),
        _ => None,
    })?;
    match component.modification.as_ref()?.value.as_ref()? {
        syntax::ast::ModificationValue::Expr(value) => Some(value),
        syntax::ast::ModificationValue::Break(_) => None,
    }
}

/// What became of an expression: its text without parentheses around it, and its value if it is a literal.
struct Folded {
    text: String,
    value: Option<Literal>,
    /// Needs no parentheses as an operand.
    is_simple: bool,
    changed: bool,
}

#[derive(Clone, PartialEq)]
enum Literal {
    Integer(i64),
    Real(f64),
    Boolean(bool),
    Text(String),
}

impl Literal {
    fn is_number(&self, number: i64) -> bool {
        match self {
            Literal::Integer(value) => *value == number,
            Literal::Real(value) => *value == number as f64,
            _ => false,
        }
    }

    fn of_integer(value: Option<i64>) -> Option<Self> {
        value.map(Literal::Integer)
    }
}

struct Simplifier<'t> {
    text: &'t str,
}

impl Simplifier<'_> {
    fn fold(&self, expr: &Expr) -> Folded {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match &expr.kind {
            ExprKind::Integer(value) => self.literal(expr, Literal::Integer(*value)),
            ExprKind::Real(value) => self.literal(expr, Literal::Real(*value)),
            ExprKind::Boolean(value) => self.literal(expr, Literal::Boolean(*value)),
            ExprKind::String(text) => self.literal(expr, Literal::Text(text.to_string())),
            ExprKind::Unary(UnaryOp::Not, a) => {
                let a = self.fold(a);
                match a.value {
                    Some(Literal::Boolean(value)) => made(Literal::Boolean(!value)),
                    _ => self.rebuilt(expr, vec![a]),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.fold(a), self.fold(b));
                if let (Some(x), Some(y)) = (&a.value, &b.value)
                    && let Some(value) = of_literals(*op, x, y)
                {
                    return made(value);
                }
                match kept(*op, &a, &b) {
                    Some(Side::Left) => Folded { changed: true, ..a },
                    Some(Side::Right) => Folded { changed: true, ..b },
                    None => self.rebuilt(expr, vec![a, b]),
                }
            }
            ExprKind::If { branches, otherwise } => self.choice(branches, otherwise),
            _ => {
                let operands = operands(expr).into_iter().map(|operand| self.fold(operand)).collect();
                self.rebuilt(expr, operands)
            }
        })
    }

    fn literal(&self, expr: &Expr, value: Literal) -> Folded {
        Folded { text: self.text[range(expr.span)].to_owned(), value: Some(value), is_simple: true, changed: false }
    }

    fn choice(&self, branches: &[(Expr, Expr)], otherwise: &Expr) -> Folded {
        let mut left: Vec<(Folded, Folded)> = Vec::new();
        let mut last = None;
        let mut changed = false;
        for (condition, value) in branches {
            let condition = self.fold(condition);
            match condition.value {
                Some(Literal::Boolean(false)) => changed = true,
                Some(Literal::Boolean(true)) => {
                    (last, changed) = (Some(self.fold(value)), true);
                    break;
                }
                _ => left.push((condition, self.fold(value))),
            }
        }
        let last = last.unwrap_or_else(|| self.fold(otherwise));
        if left.is_empty() {
            return Folded { changed: true, ..last };
        }
        changed |= last.changed || left.iter().any(|(condition, value)| condition.changed || value.changed);
        let mut text = String::new();
        for (position, (condition, value)) in left.iter().enumerate() {
            let word = if position == 0 { "if" } else { " elseif" };
            text += &format!("{word} {} then {}", condition.text, value.text);
        }
        text += &format!(" else {}", last.text);
        Folded { text, value: None, is_simple: false, changed }
    }

    /// The text of an expression with the texts of its operands, in their order.
    fn rebuilt(&self, expr: &Expr, folded: Vec<Folded>) -> Folded {
        let whole = range(expr.span);
        let mut text = String::new();
        let (mut end, mut changed) = (whole.start, false);
        for (operand, folded) in operands(expr).into_iter().zip(folded) {
            let place = range(operand.span);
            text.push_str(&self.text[end..place.start]);
            let before = self.text[..place.start].trim_end().ends_with('(');
            let is_enclosed = before && self.text[place.end..].trim_start().starts_with(')');
            match folded.changed {
                false => text.push_str(&self.text[place.clone()]),
                true if folded.is_simple || is_enclosed => text.push_str(&folded.text),
                true => text += &format!("({})", folded.text),
            }
            (end, changed) = (place.end, changed || folded.changed);
        }
        text.push_str(&self.text[end..whole.end]);
        let is_simple = !matches!(expr.kind, ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Range { .. });
        Folded { text, value: None, is_simple, changed }
    }
}

/// The operands in the order of the text, as far as they are looked into.
fn operands(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Unary(_, a) => vec![a],
        ExprKind::Binary(_, a, b) => vec![a, b],
        ExprKind::Array(items) => items.iter().collect(),
        ExprKind::Call { arguments, .. } if arguments.iterators.is_empty() => {
            let named = arguments.named.iter().map(|(_, argument)| argument);
            let all = arguments.positional.iter().chain(named);
            all.filter_map(|argument| match argument {
                FunctionArgument::Expr(value) => Some(value),
                FunctionArgument::PartialApplication { .. } => None,
            })
            .collect()
        }
        _ => Vec::new(),
    }
}

fn made(value: Literal) -> Folded {
    let text = match &value {
        Literal::Integer(number) => number.to_string(),
        Literal::Real(number) => number.to_string(),
        Literal::Boolean(truth) => truth.to_string(),
        Literal::Text(text) => format!("{text:?}"),
    };
    let is_simple = !text.starts_with('-');
    Folded { text, value: Some(value), is_simple, changed: true }
}

/// An operation on two literals; Reals are compared only, so that none is written in other digits.
fn of_literals(op: BinaryOp, a: &Literal, b: &Literal) -> Option<Literal> {
    use Literal::{Boolean, Integer, Real, Text};
    let compared = |order: Option<std::cmp::Ordering>| {
        let order = order?;
        Some(Boolean(match op {
            BinaryOp::Less => order.is_lt(),
            BinaryOp::LessEqual => order.is_le(),
            BinaryOp::Greater => order.is_gt(),
            BinaryOp::GreaterEqual => order.is_ge(),
            BinaryOp::Equal => order.is_eq(),
            BinaryOp::NotEqual => order.is_ne(),
            _ => return None,
        }))
    };
    match (a, b) {
        (Integer(x), Integer(y)) => match op {
            BinaryOp::Add => Literal::of_integer(x.checked_add(*y)),
            BinaryOp::Sub => Literal::of_integer(x.checked_sub(*y)),
            BinaryOp::Mul => Literal::of_integer(x.checked_mul(*y)),
            _ => compared(Some(x.cmp(y))),
        },
        (Integer(x), Real(y)) => compared((*x as f64).partial_cmp(y)),
        (Real(x), Integer(y)) => compared(x.partial_cmp(&(*y as f64))),
        (Real(x), Real(y)) => compared(x.partial_cmp(y)),
        (Text(x), Text(y)) => compared(Some(x.cmp(y))),
        (Boolean(x), Boolean(y)) => match op {
            BinaryOp::And => Some(Boolean(*x && *y)),
            BinaryOp::Or => Some(Boolean(*x || *y)),
            _ => compared(Some(x.cmp(y))),
        },
        _ => None,
    }
}

enum Side {
    Left,
    Right,
}

/// The operand that the whole is equal to, whatever the other one is.
fn kept(op: BinaryOp, a: &Folded, b: &Folded) -> Option<Side> {
    let is = |side: &Folded, number: i64| side.value.as_ref().is_some_and(|value| value.is_number(number));
    let truth = |side: &Folded, truth: bool| side.value == Some(Literal::Boolean(truth));
    let is_number = |side: &Folded| matches!(side.value, Some(Literal::Integer(_) | Literal::Real(_)));
    match op {
        // Zero times an array is an array.
        BinaryOp::Mul if is(a, 1) || (is(b, 0) && is_number(a)) => Some(Side::Right),
        BinaryOp::Mul if is(b, 1) || (is(a, 0) && is_number(b)) => Some(Side::Left),
        BinaryOp::Add if is(a, 0) => Some(Side::Right),
        BinaryOp::Add | BinaryOp::Sub if is(b, 0) => Some(Side::Left),
        BinaryOp::Div | BinaryOp::Pow if is(b, 1) => Some(Side::Left),
        BinaryOp::And if truth(a, true) || truth(b, false) => Some(Side::Right),
        BinaryOp::And if truth(b, true) || truth(a, false) => Some(Side::Left),
        BinaryOp::Or if truth(a, false) || truth(b, true) => Some(Side::Right),
        BinaryOp::Or if truth(b, false) || truth(a, true) => Some(Side::Left),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::simplified;

    #[test]
    fn what_is_obvious() {
        for (text, expected) in [
            ("1*x", "x"),
            ("x + 0", "x"),
            ("2*1", "2"),
            ("2*0", "0"),
            ("2*3 - 7", "-1"),
            ("0*x", "0*x"),
            ("c - 1*(a + b)", "c - (a + b)"),
            ("(a + b)*1", "a + b"),
            ("2*((a + b)*1)", "2*(a + b)"),
            ("2*(if 1 == 2 then a else b + c)", "2*(b + c)"),
            ("if 2 == 1 then A.x elseif 2 == 2 then A.y else A.z", "A.y"),
            ("if 2 == 1 then A.x elseif p then A.y else 1*q", "if p then A.y else q"),
            ("not true", "false"),
            ("true and b", "b"),
            ("f(1*x, n = y + 0)", "f(x, n = y)"),
            ("a - b", "a - b"),
            ("x^1/1.0", "x"),
            ("0.1 + 0.2", "0.1 + 0.2"),
            ("1 +", "1 +"),
        ] {
            assert_eq!(simplified(text), expected, "{text}");
        }
    }
}
