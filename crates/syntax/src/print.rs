//! Abstract syntax → Modelica text on one line, for messages and listings.
//!
//! Expressions come out with the parentheses that they need and no others, so that reading them again gives the same
//! expression. Equations and statements with a body are shortened to their heads.

use std::fmt::{self, Display, Formatter};

use crate::ast::{
    Argument, Arguments, BinaryOp, ClassBody, ClassDef, ClassKind, ClassModification, Component, ComponentRef,
    Constraint, Direction, ElementModification, ElementPrefixes, Equation, EquationKind, Expr, ExprKind, Flow,
    FunctionArgument, Ident, Iterator as ForIterator, Modification, ModificationValue, Statement, StatementKind,
    Subscript, TypeName, TypePrefixes, UnaryOp, Variability,
};
use crate::deep::deep;
use crate::literal::quote;

// The levels of precedence of specification section 3.2, weakest first.
const EXPRESSION: u8 = 0;
const RANGE: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const NOT: u8 = 4;
const RELATION: u8 = 5;
const SUM: u8 = 6;
const PRODUCT: u8 = 7;
const POWER: u8 = 8;
const PRIMARY: u8 = 9;

/// Writes items with `, ` between them.
fn list<T: Display>(f: &mut Formatter<'_>, items: impl IntoIterator<Item = T>) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

impl Display for Ident {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

impl Display for TypeName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 || self.global {
                f.write_str(".")?;
            }
            part.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for ComponentRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 || self.global {
                f.write_str(".")?;
            }
            part.ident.fmt(f)?;
            subscripts(f, &part.subscripts)?;
        }
        Ok(())
    }
}

fn subscripts(f: &mut Formatter<'_>, subscripts: &[Subscript]) -> fmt::Result {
    if subscripts.is_empty() {
        return Ok(());
    }
    f.write_str("[")?;
    list(f, subscripts)?;
    f.write_str("]")
}

impl Display for Subscript {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(_) => f.write_str(":"),
            Self::Expr(expr) => expr.fmt(f),
        }
    }
}

impl Display for UnaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::ElementPlus => ".+",
            Self::ElementMinus => ".-",
            Self::Not => "not ",
        })
    }
}

impl BinaryOp {
    /// The text of the operator and its level of precedence.
    fn text_and_level(self) -> (&'static str, u8) {
        match self {
            Self::Add => (" + ", SUM),
            Self::Sub => (" - ", SUM),
            Self::ElementAdd => (" .+ ", SUM),
            Self::ElementSub => (" .- ", SUM),
            Self::Mul => ("*", PRODUCT),
            Self::Div => ("/", PRODUCT),
            Self::ElementMul => (" .* ", PRODUCT),
            Self::ElementDiv => (" ./ ", PRODUCT),
            Self::Pow => ("^", POWER),
            Self::ElementPow => (" .^ ", POWER),
            Self::Less => (" < ", RELATION),
            Self::LessEqual => (" <= ", RELATION),
            Self::Greater => (" > ", RELATION),
            Self::GreaterEqual => (" >= ", RELATION),
            Self::Equal => (" == ", RELATION),
            Self::NotEqual => (" <> ", RELATION),
            Self::And => (" and ", AND),
            Self::Or => (" or ", OR),
        }
    }
}

impl Display for BinaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.text_and_level().0.trim())
    }
}

fn level(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::If { .. } => EXPRESSION,
        ExprKind::Range { .. } => RANGE,
        ExprKind::Binary(operator, ..) => operator.text_and_level().1,
        ExprKind::Unary(UnaryOp::Not, _) => NOT,
        ExprKind::Unary(..) => SUM,
        ExprKind::Real(value) if value.is_sign_negative() => SUM,
        ExprKind::Integer(value) if *value < 0 => SUM,
        _ => PRIMARY,
    }
}

/// An operand, in parentheses when it binds more weakly than `minimum`.
fn operand(f: &mut Formatter<'_>, expr: &Expr, minimum: u8) -> fmt::Result {
    if level(expr) >= minimum {
        return expr.fmt(f);
    }
    f.write_str("(")?;
    expr.fmt(f)?;
    f.write_str(")")
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        deep(|| expr_kind(f, &self.kind))
    }
}

fn expr_kind(f: &mut Formatter<'_>, kind: &ExprKind) -> fmt::Result {
    match kind {
        ExprKind::Real(value) => real(f, *value),
        ExprKind::Integer(value) => value.fmt(f),
        ExprKind::String(value) => f.write_str(&quote(value)),
        ExprKind::Boolean(value) => value.fmt(f),
        ExprKind::Ref(reference) => reference.fmt(f),
        ExprKind::End => f.write_str("end"),
        ExprKind::Call { function, arguments } => write!(f, "{function}({arguments})"),
        ExprKind::Unary(operator, inner) => {
            operator.fmt(f)?;
            operand(f, inner, if *operator == UnaryOp::Not { RELATION } else { PRODUCT })
        }
        ExprKind::Binary(operator, left, right) => binary(f, *operator, left, right),
        ExprKind::If { branches, otherwise } => {
            for (index, (condition, value)) in branches.iter().enumerate() {
                let keyword = if index == 0 { "if" } else { " elseif" };
                write!(f, "{keyword} {condition} then {value}")?;
            }
            write!(f, " else {otherwise}")
        }
        ExprKind::Range { start, step, stop } => {
            operand(f, start, OR)?;
            f.write_str(":")?;
            if let Some(step) = step {
                operand(f, step, OR)?;
                f.write_str(":")?;
            }
            operand(f, stop, OR)
        }
        ExprKind::Array(elements) => {
            f.write_str("{")?;
            list(f, elements)?;
            f.write_str("}")
        }
        ExprKind::ArrayFor { element, iterators } => {
            write!(f, "{{{element} for ")?;
            list(f, iterators)?;
            f.write_str("}")
        }
        ExprKind::Matrix(rows) => matrix(f, rows),
        ExprKind::Tuple(parts) => {
            f.write_str("(")?;
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    f.write_str(", ")?;
                }
                if let Some(part) = part {
                    part.fmt(f)?;
                }
            }
            f.write_str(")")
        }
        ExprKind::Subscripted(inner, indices) => {
            write!(f, "({inner})")?;
            subscripts(f, indices)
        }
        ExprKind::Field(inner, name) => write!(f, "({inner}).{}", name.name),
        ExprKind::Error => f.write_str("?"),
    }
}

/// A number that reads back as the same one and as a Real.
fn real(f: &mut Formatter<'_>, value: f64) -> fmt::Result {
    match value.is_infinite() {
        true => f.write_str(if value > 0.0 { "1e999" } else { "-1e999" }),
        false => write!(f, "{value:?}"),
    }
}

fn binary(f: &mut Formatter<'_>, operator: BinaryOp, left: &Expr, right: &Expr) -> fmt::Result {
    let (text, level) = operator.text_and_level();
    // Relations and powers do not take their own kind on the left.
    let left_level = if matches!(level, RELATION | POWER) { level + 1 } else { level };
    operand(f, left, left_level)?;
    f.write_str(text)?;
    operand(f, right, level + 1)
}

fn matrix(f: &mut Formatter<'_>, rows: &[Vec<Expr>]) -> fmt::Result {
    f.write_str("[")?;
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            f.write_str("; ")?;
        }
        list(f, row)?;
    }
    f.write_str("]")
}

impl Display for Arguments {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        list(f, &self.positional)?;
        if !self.positional.is_empty() && !self.named.is_empty() {
            f.write_str(", ")?;
        }
        named(f, &self.named)?;
        if !self.iterators.is_empty() {
            f.write_str(" for ")?;
            list(f, &self.iterators)?;
        }
        Ok(())
    }
}

fn named(f: &mut Formatter<'_>, arguments: &[(Ident, FunctionArgument)]) -> fmt::Result {
    for (index, (name, value)) in arguments.iter().enumerate() {
        let separator = if index > 0 { ", " } else { "" };
        write!(f, "{separator}{name}={value}")?;
    }
    Ok(())
}

impl Display for FunctionArgument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expr(expr) => expr.fmt(f),
            Self::PartialApplication { function, named: arguments, .. } => {
                write!(f, "function {function}(")?;
                named(f, arguments)?;
                f.write_str(")")
            }
        }
    }
}

impl Display for ForIterator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.range {
            Some(range) => write!(f, "{} in {range}", self.name),
            None => self.name.fmt(f),
        }
    }
}

impl Display for ClassModification {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        deep(|| {
            f.write_str("(")?;
            list(f, &self.arguments)?;
            f.write_str(")")
        })
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(element) => element.fmt(f),
            Self::RedeclareClass { each, class } => write!(f, "{}{class}", if *each { "each " } else { "" }),
            Self::RedeclareComponent { each, component } => {
                write!(f, "{}{component}", if *each { "each " } else { "" })
            }
            Self::BreakElement(name) => write!(f, "break {name}"),
            Self::BreakConnect(first, second, _) => write!(f, "break connect({first}, {second})"),
        }
    }
}

impl Display for ElementModification {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.each {
            f.write_str("each ")?;
        }
        if self.is_final {
            f.write_str("final ")?;
        }
        for (index, part) in self.path.iter().enumerate() {
            write!(f, "{}{part}", if index > 0 { "." } else { "" })?;
        }
        if let Some(modification) = &self.modification {
            modification.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Modification {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(arguments) = &self.arguments {
            arguments.fmt(f)?;
        }
        match &self.value {
            Some(ModificationValue::Expr(value)) => write!(f, "={value}"),
            Some(ModificationValue::Break(_)) => f.write_str("=break"),
            None => Ok(()),
        }
    }
}

impl Display for Constraint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "constrainedby {}", self.base)?;
        match &self.modification {
            Some(modification) => modification.fmt(f),
            None => Ok(()),
        }
    }
}

impl Display for TypePrefixes {
    /// Every prefix is followed by a blank.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.flow {
            Flow::None => "",
            Flow::Flow => "flow ",
            Flow::Stream => "stream ",
        })?;
        f.write_str(match self.variability {
            Variability::Unstated => "",
            Variability::Discrete => "discrete ",
            Variability::Parameter => "parameter ",
            Variability::Constant => "constant ",
        })?;
        f.write_str(match self.direction {
            Direction::None => "",
            Direction::Input => "input ",
            Direction::Output => "output ",
        })
    }
}

impl Display for ElementPrefixes {
    /// Every prefix is followed by a blank.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let words = [
            (self.redeclare, "redeclare "),
            (self.is_final, "final "),
            (self.inner, "inner "),
            (self.outer, "outer "),
            (self.replaceable, "replaceable "),
        ];
        words.iter().filter(|(set, _)| *set).try_for_each(|(_, word)| f.write_str(word))
    }
}

impl Display for Component {
    /// The declaration without description and annotation.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{} {}", self.prefixes, self.type_prefixes, self.type_name, self.name)?;
        subscripts(f, &self.subscripts)?;
        if let Some(modification) = &self.modification {
            modification.fmt(f)?;
        }
        if let Some(condition) = &self.condition {
            write!(f, " if {condition}")?;
        }
        match &self.constraint {
            Some(constraint) => write!(f, " {constraint}"),
            None => Ok(()),
        }
    }
}

impl Display for ClassKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Class => "class",
            Self::Model => "model",
            Self::Record => "record",
            Self::OperatorRecord => "operator record",
            Self::Block => "block",
            Self::Connector => "connector",
            Self::ExpandableConnector => "expandable connector",
            Self::Type => "type",
            Self::Package => "package",
            Self::Function => "function",
            Self::OperatorFunction => "operator function",
            Self::Operator => "operator",
        })
    }
}

impl Display for ClassDef {
    /// The head of the class.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let prefixes = &self.prefixes;
        let words = [
            (prefixes.redeclare, "redeclare "),
            (prefixes.is_final, "final "),
            (prefixes.inner, "inner "),
            (prefixes.outer, "outer "),
            (prefixes.replaceable, "replaceable "),
            (self.encapsulated, "encapsulated "),
            (self.partial, "partial "),
        ];
        words.iter().filter(|(set, _)| *set).try_for_each(|(_, word)| f.write_str(word))?;
        write!(f, "{} {}", self.kind, self.name)?;
        match &self.body {
            ClassBody::Long(_) => Ok(()),
            ClassBody::Short { base, prefixes, subscripts: indices, modification } => {
                write!(f, " = {prefixes}{base}")?;
                subscripts(f, indices)?;
                modification.iter().try_for_each(|modification| modification.fmt(f))?;
                self.constraint.iter().try_for_each(|constraint| write!(f, " {constraint}"))
            }
            ClassBody::Enumeration(None) => f.write_str(" = enumeration(:)"),
            ClassBody::Enumeration(Some(literals)) => {
                f.write_str(" = enumeration(")?;
                list(f, literals.iter().map(|literal| literal.name))?;
                f.write_str(")")
            }
            ClassBody::PartialDerivative { function, variables } => {
                write!(f, " = der({function}, ")?;
                list(f, variables)?;
                f.write_str(")")
            }
        }
    }
}

impl Display for Equation {
    /// A simple equation; of `if`, `for` and `when` the head.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            EquationKind::Equal(left, right) => {
                operand(f, left, RANGE)?;
                write!(f, " = {right}")
            }
            EquationKind::Connect(first, second) => write!(f, "connect({first}, {second})"),
            EquationKind::If { branches, .. } => block_head(f, "if", branches),
            EquationKind::When { branches } => block_head(f, "when", branches),
            EquationKind::For { iterators, .. } => for_head(f, iterators),
            EquationKind::Call(call) => call.fmt(f),
        }
    }
}

impl Display for Statement {
    /// A simple statement; of `if`, `for`, `while` and `when` the head.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            StatementKind::Assign(target, value) => write!(f, "{target} := {value}"),
            StatementKind::AssignSeveral(targets, value) => {
                f.write_str("(")?;
                for (index, target) in targets.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    target.iter().try_for_each(|target| target.fmt(f))?;
                }
                write!(f, ") := {value}")
            }
            StatementKind::If { branches, .. } => block_head(f, "if", branches),
            StatementKind::When { branches } => block_head(f, "when", branches),
            StatementKind::For { iterators, .. } => for_head(f, iterators),
            StatementKind::While { condition, .. } => write!(f, "while {condition} loop …"),
            StatementKind::Call(call) => call.fmt(f),
            StatementKind::Break => f.write_str("break"),
            StatementKind::Return => f.write_str("return"),
        }
    }
}

fn block_head<T>(f: &mut Formatter<'_>, keyword: &str, branches: &[(Expr, T)]) -> fmt::Result {
    match branches.first() {
        Some((condition, _)) => write!(f, "{keyword} {condition} then …"),
        None => write!(f, "{keyword} …"),
    }
}

fn for_head(f: &mut Formatter<'_>, iterators: &[ForIterator]) -> fmt::Result {
    f.write_str("for ")?;
    list(f, iterators)?;
    f.write_str(" loop …")
}
