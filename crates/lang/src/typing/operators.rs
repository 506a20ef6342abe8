//! Operators of expressions: arithmetic with the rules of arrays (10.6), relations, logic (3.4, 3.5), strings.

use base::{Diagnostic, Span};
use dae::Variability;
use dae::expr::CompareOp;
use dae::function::{ArithmeticOp, ArrayFunction};
use syntax::ast::{BinaryOp, UnaryOp};

use super::{Context, Typer, convert, first_output, to_real, unify, wrong};
use crate::typed::{Base, Expr, Kind, Type};

pub fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Pow => "^",
        BinaryOp::ElementAdd => ".+",
        BinaryOp::ElementSub => ".-",
        BinaryOp::ElementMul => ".*",
        BinaryOp::ElementDiv => "./",
        BinaryOp::ElementPow => ".^",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "<>",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
    }
}

impl Typer<'_> {
    pub fn unary(&mut self, op: UnaryOp, operand: Expr, span: Span) -> Expr {
        let operand = first_output(operand);
        if operand.ty.is_unknown() {
            return wrong(span);
        }
        if let Base::Record(_) = operand.ty.base {
            return self.overloaded_unary(op, operand, span);
        }
        let (ty, variability) = (operand.ty.clone(), operand.variability);
        let kind = match op {
            UnaryOp::Not if matches!(ty.base, Base::Boolean) => Kind::Not(Box::new(operand)),
            UnaryOp::Plus | UnaryOp::ElementPlus if ty.is_numeric() => return Expr { span, ..operand },
            UnaryOp::Minus | UnaryOp::ElementMinus if ty.is_numeric() => match operand.kind {
                Kind::Real(value) => Kind::Real(-value),
                Kind::Integer(value) => Kind::Integer(value.wrapping_neg()),
                _ => Kind::Neg(Box::new(operand)),
            },
            _ => {
                let sign = match op {
                    UnaryOp::Not => "not",
                    UnaryOp::Plus | UnaryOp::ElementPlus => "+",
                    UnaryOp::Minus | UnaryOp::ElementMinus => "-",
                };
                let message = format!("`{sign}` does not apply to `{}`", ty.text());
                return self.error(span, "operator-type", message);
            }
        };
        Expr { kind, ty, variability, span }
    }

    pub fn binary(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let (left, right) = (first_output(left), first_output(right));
        if left.ty.is_unknown() || right.ty.is_unknown() {
            return wrong(span);
        }
        let is_record = |e: &Expr| matches!(e.ty.base, Base::Record(_));
        if is_record(&left) || is_record(&right) {
            return self.overloaded_binary(op, left, right, span);
        }
        let variability = left.variability.max(right.variability);
        let result = match op {
            BinaryOp::Add if matches!((&left.ty.base, &right.ty.base), (Base::String, Base::String)) => {
                self.concatenation(left, right)
            }
            BinaryOp::ElementAdd if matches!((&left.ty.base, &right.ty.base), (Base::String, Base::String)) => {
                self.concatenation(left, right)
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Pow => {
                self.arithmetic(op, left, right, span)
            }
            BinaryOp::ElementAdd
            | BinaryOp::ElementSub
            | BinaryOp::ElementMul
            | BinaryOp::ElementDiv
            | BinaryOp::ElementPow => self.elementwise(op, left, right, span),
            BinaryOp::And | BinaryOp::Or => self.logic(op, left, right, span),
            _ => return self.relation(op, left, right, span),
        };
        match result {
            Some((kind, ty)) => Expr { kind, ty, variability, span },
            None => wrong(span),
        }
    }

    fn operands_wrong(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span, section: &'static str) {
        let diagnostic = Diagnostic::error(
            "operator-type",
            format!("`{}` does not apply to `{}` and `{}`", symbol(op), left.ty.text(), right.ty.text()),
        )
        .at(span, "")
        .at(left.span, format!("this is `{}`", left.ty.text()))
        .at(right.span, format!("this is `{}`", right.ty.text()))
        .specification(section);
        self.report(diagnostic);
    }

    fn concatenation(&mut self, left: Expr, right: Expr) -> Option<(Kind, Type)> {
        let ty = left.ty.with_rank(left.ty.rank.max(right.ty.rank));
        Some((Kind::Whole(ArrayFunction::Concat, vec![left, right]), ty))
    }

    fn arithmetic(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Option<(Kind, Type)> {
        let (l, r) = (left.ty.rank, right.ty.rank);
        let numeric = left.ty.is_numeric() && right.ty.is_numeric();
        let rank = match op {
            BinaryOp::Add | BinaryOp::Sub if l == r => Some(l),
            BinaryOp::Mul => match (l, r) {
                (0, any) | (any, 0) => Some(any),
                (1, 1) => Some(0),
                (1, 2) | (2, 1) => Some(1),
                (2, 2) => Some(2),
                _ => None,
            },
            BinaryOp::Div if r == 0 => Some(l),
            BinaryOp::Pow if r == 0 && (l == 0 || (l == 2 && matches!(right.ty.base, Base::Integer))) => Some(l),
            _ => None,
        };
        let Some(rank) = rank.filter(|_| numeric) else {
            let section = match op {
                BinaryOp::Mul => "10.6.5",
                BinaryOp::Div => "10.6.6",
                BinaryOp::Pow => "10.6.8",
                _ => "10.6.2",
            };
            self.operands_wrong(op, &left, &right, span, section);
            return None;
        };
        let op = arithmetic_op(op);
        if op == ArithmeticOp::Pow && rank == 2 {
            // The base of a matrix power keeps its type; the exponent stays an Integer.
            let base = left.ty.base.clone();
            return Some((Kind::Arithmetic(op, Box::new(left), Box::new(right)), Type::new(base, 2)));
        }
        let (left, right, base) = numbers(op, left, right);
        Some((Kind::Arithmetic(op, Box::new(left), Box::new(right)), Type::new(base, rank)))
    }

    fn elementwise(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Option<(Kind, Type)> {
        let (l, r) = (left.ty.rank, right.ty.rank);
        if !left.ty.is_numeric() || !right.ty.is_numeric() || (l != r && l != 0 && r != 0) {
            self.operands_wrong(op, &left, &right, span, "10.6.4");
            return None;
        }
        let op = arithmetic_op(op);
        let (left, right, base) = numbers(op, left, right);
        Some((Kind::Elementwise(op, Box::new(left), Box::new(right)), Type::new(base, l.max(r))))
    }

    fn logic(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Option<(Kind, Type)> {
        let fits = matches!((&left.ty.base, &right.ty.base), (Base::Boolean, Base::Boolean));
        if !fits || left.ty.rank != right.ty.rank {
            self.operands_wrong(op, &left, &right, span, "3.5");
            return None;
        }
        let ty = left.ty.clone();
        let (left, right) = (Box::new(left), Box::new(right));
        Some((if op == BinaryOp::And { Kind::And(left, right) } else { Kind::Or(left, right) }, ty))
    }

    fn relation(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let ty = unify(&left.ty, &right.ty).filter(|ty| {
            ty.is_scalar()
                && matches!(ty.base, Base::Real | Base::Integer | Base::Boolean | Base::String | Base::Enumeration(_))
        });
        let Some(ty) = ty else {
            self.operands_wrong(op, &left, &right, span, "3.5");
            return wrong(span);
        };
        let op = match op {
            BinaryOp::Less => CompareOp::Less,
            BinaryOp::LessEqual => CompareOp::LessEqual,
            BinaryOp::Greater => CompareOp::Greater,
            BinaryOp::GreaterEqual => CompareOp::GreaterEqual,
            BinaryOp::Equal => CompareOp::Equal,
            _ => CompareOp::NotEqual,
        };
        let mut variability = left.variability.max(right.variability);
        if self.context == Context::Model
            && variability == Variability::Continuous
            && ty.base == Base::Real
            && matches!(op, CompareOp::Equal | CompareOp::NotEqual)
        {
            let sign = if op == CompareOp::Equal { "==" } else { "<>" };
            let message = format!("`{sign}` compares Real numbers that change continuously: rounding errors decide");
            let hint = "compare with a tolerance, such as `abs(a - b) < 1e-6`, or with `<` or `>` for what happens from then on";
            self.report(Diagnostic::breach("real-equality", message).at(span, "").hint(hint).specification("3.5"));
        }
        if self.context == Context::Model {
            // A relation changes at events only (3.8.3).
            variability = variability.min(Variability::Discrete);
        }
        let (left, right) = (convert(left, &ty), convert(right, &ty));
        Expr { kind: Kind::Compare(op, Box::new(left), Box::new(right)), ty: Type::BOOLEAN, variability, span }
    }
}

pub fn arithmetic_op(op: BinaryOp) -> ArithmeticOp {
    match op {
        BinaryOp::Sub | BinaryOp::ElementSub => ArithmeticOp::Sub,
        BinaryOp::Mul | BinaryOp::ElementMul => ArithmeticOp::Mul,
        BinaryOp::Div | BinaryOp::ElementDiv => ArithmeticOp::Div,
        BinaryOp::Pow | BinaryOp::ElementPow => ArithmeticOp::Pow,
        _ => ArithmeticOp::Add,
    }
}

/// Both operands of one type: Integer stays only where both are and the operator keeps it.
fn numbers(op: ArithmeticOp, left: Expr, right: Expr) -> (Expr, Expr, Base) {
    let integer = matches!((&left.ty.base, &right.ty.base), (Base::Integer, Base::Integer));
    if integer && !matches!(op, ArithmeticOp::Div | ArithmeticOp::Pow) {
        return (left, right, Base::Integer);
    }
    // `x ^ 2` keeps its whole exponent, which is worth knowing later.
    if op == ArithmeticOp::Pow && matches!(right.ty.base, Base::Integer) {
        return (to_real(left), right, Base::Real);
    }
    (to_real(left), to_real(right), Base::Real)
}
