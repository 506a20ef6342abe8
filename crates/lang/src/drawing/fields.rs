//! The values in annotations. Most are literals; others depend on parameters and are evaluated for the instance that is drawn.

use std::sync::Arc;

use base::{Name, Span};
use diagram::{Colour, Extent, Point};
use syntax::ast::{self, BinaryOp, ExprKind, UnaryOp};

use super::Painter;
use crate::instance::Frame;
use crate::symbolic::Symbolic;
use crate::typed::Base;

/// A value in an annotation.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Number(f64),
    Boolean(bool),
    Text(Arc<str>),
    /// The literal of an enumeration, which annotations name without declaring it.
    Literal(Name),
    Array(Vec<Value>),
}

/// A named part of an annotation: `extent = …`, or `transformation(…)`.
#[derive(Clone, Copy)]
enum Field<'a> {
    Value(&'a ast::Expr),
    Parts(&'a ast::ClassModification),
}

/// An annotation with named parts.
#[derive(Clone)]
pub(super) struct Fields<'a> {
    fields: Vec<(Name, Field<'a>)>,
    pub frame: &'a Frame,
    pub span: Span,
}

/// The enumerations of specification 18.6.1.
const ENUMERATIONS: [&str; 8] =
    ["LinePattern", "FillPattern", "BorderPattern", "Smooth", "EllipseClosure", "Arrow", "TextStyle", "TextAlignment"];

impl<'a> Fields<'a> {
    /// `Line(points = …)` in an array of graphics.
    pub fn of_call(arguments: &'a ast::Arguments, frame: &'a Frame, span: Span) -> Self {
        let fields = arguments.named.iter().filter_map(|(name, argument)| match argument {
            ast::FunctionArgument::Expr(value) => Some((name.name, Field::Value(value))),
            ast::FunctionArgument::PartialApplication { .. } => None,
        });
        Self { fields: fields.collect(), frame, span }
    }

    /// `annotation(Placement(…))`.
    pub fn of_modification(parts: &'a ast::ClassModification, frame: &'a Frame) -> Self {
        let fields = parts.arguments.iter().filter_map(|argument| {
            let ast::Argument::Element(element) = argument else { return None };
            let ([name], Some(modification)) = (element.path.as_slice(), element.modification.as_deref()) else {
                return None;
            };
            let value = match (&modification.arguments, &modification.value) {
                (_, Some(ast::ModificationValue::Expr(value))) => Field::Value(value),
                (Some(parts), _) => Field::Parts(parts),
                _ => return None,
            };
            Some((name.name, value))
        });
        Self { fields: fields.collect(), frame, span: parts.span }
    }

    fn get(&self, name: &str) -> Option<Field<'a>> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, field)| *field)
    }

    /// The value of a part as it is written.
    pub fn expression(&self, name: &str) -> Option<&'a ast::Expr> {
        match self.get(name)? {
            Field::Value(value) => Some(value),
            Field::Parts(_) => None,
        }
    }

    /// A part that has parts, also where it is written as a call.
    pub fn parts(&self, name: &str) -> Option<Fields<'a>> {
        match self.get(name)? {
            Field::Parts(parts) => Some(Fields::of_modification(parts, self.frame)),
            Field::Value(value) => match &value.kind {
                ExprKind::Call { arguments, .. } => Some(Fields::of_call(arguments, self.frame, value.span)),
                _ => None,
            },
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

impl Painter {
    /// The value of a part. What cannot be evaluated, such as a parameter without value, says nothing.
    pub(super) fn value(&mut self, fields: &Fields<'_>, name: &str) -> Option<Value> {
        let text = fields.expression(name)?;
        self.evaluated(fields.frame, text)
    }

    /// A part that has to have a certain form; anything else is a warning.
    fn read<T>(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        form: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(fields, name)?;
        let found = read(&value);
        if found.is_none() {
            let span = fields.expression(name).map_or(fields.span, |text| text.span);
            self.warn(fields.frame.class, span, format!("the annotation `{name}` needs {form}"));
        }
        found
    }

    pub(super) fn number(&mut self, fields: &Fields<'_>, name: &str) -> Option<f64> {
        self.read(fields, name, "a number", number)
    }

    pub(super) fn boolean(&mut self, fields: &Fields<'_>, name: &str) -> Option<bool> {
        self.read(fields, name, "`true` or `false`", |value| match value {
            Value::Boolean(value) => Some(*value),
            _ => None,
        })
    }

    pub(super) fn string(&mut self, fields: &Fields<'_>, name: &str) -> Option<Arc<str>> {
        self.read(fields, name, "a text", |value| match value {
            Value::Text(text) => Some(text.clone()),
            Value::Number(value) => Some(units::number(*value, 6).into()),
            Value::Boolean(value) => Some(value.to_string().into()),
            _ => None,
        })
    }

    pub(super) fn literal(&mut self, fields: &Fields<'_>, name: &str) -> Option<Name> {
        self.read(fields, name, "the literal of an enumeration", literal)
    }

    pub(super) fn literals(&mut self, fields: &Fields<'_>, name: &str) -> Option<Vec<Name>> {
        self.read(fields, name, "literals of an enumeration", |value| match value {
            Value::Array(all) => all.iter().map(literal).collect(),
            one => Some(vec![literal(one)?]),
        })
    }

    pub(super) fn point(&mut self, fields: &Fields<'_>, name: &str) -> Option<Point> {
        self.read(fields, name, "a point {x, y}", point)
    }

    pub(super) fn points(&mut self, fields: &Fields<'_>, name: &str) -> Option<Vec<Point>> {
        self.read(fields, name, "points {{x, y}, …}", |value| match value {
            Value::Array(all) => all.iter().map(point).collect(),
            _ => None,
        })
    }

    pub(super) fn extent(&mut self, fields: &Fields<'_>, name: &str) -> Option<Extent> {
        self.read(fields, name, "an area {{x1, y1}, {x2, y2}}", |value| match value {
            Value::Array(all) => match all.as_slice() {
                [first, second] => Some(Extent { first: point(first)?, second: point(second)? }),
                _ => None,
            },
            _ => None,
        })
    }

    pub(super) fn colour(&mut self, fields: &Fields<'_>, name: &str) -> Option<Colour> {
        self.read(fields, name, "a colour {red, green, blue}", |value| match value {
            Value::Array(all) => match all.as_slice() {
                [red, green, blue] => {
                    let part = |value: &Value| Some(number(value)?.round().clamp(0.0, 255.0) as u8);
                    Some(Colour(part(red)?, part(green)?, part(blue)?))
                }
                _ => None,
            },
            _ => None,
        })
    }

    /// The value of an expression in an annotation; of `DynamicSelect` the static one.
    fn evaluated(&mut self, frame: &Frame, text: &ast::Expr) -> Option<Value> {
        match &text.kind {
            ExprKind::Real(value) => Some(Value::Number(*value)),
            ExprKind::Integer(value) => Some(Value::Number(*value as f64)),
            ExprKind::Boolean(value) => Some(Value::Boolean(*value)),
            ExprKind::String(text) => Some(Value::Text(text.clone())),
            ExprKind::Array(elements) => self.array(frame, elements),
            ExprKind::Matrix(rows) => {
                let rows: Option<Vec<Value>> = rows.iter().map(|row| self.array(frame, row)).collect();
                rows.map(Value::Array)
            }
            ExprKind::Unary(UnaryOp::Minus | UnaryOp::ElementMinus, operand) => match self.evaluated(frame, operand)? {
                Value::Number(value) => Some(Value::Number(-value)),
                _ => self.of_instance(frame, text),
            },
            ExprKind::Unary(UnaryOp::Plus, operand) => self.evaluated(frame, operand),
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div), left, right) => {
                match (self.evaluated(frame, left)?, self.evaluated(frame, right)?) {
                    (Value::Number(left), Value::Number(right)) => Some(Value::Number(match op {
                        BinaryOp::Add => left + right,
                        BinaryOp::Sub => left - right,
                        BinaryOp::Mul => left * right,
                        _ => left / right,
                    })),
                    (Value::Text(left), Value::Text(right)) if *op == BinaryOp::Add => {
                        Some(Value::Text(format!("{left}{right}").into()))
                    }
                    _ => self.of_instance(frame, text),
                }
            }
            ExprKind::If { branches, otherwise } => {
                for (condition, value) in branches {
                    match self.evaluated(frame, condition)? {
                        Value::Boolean(true) => return self.evaluated(frame, value),
                        Value::Boolean(false) => {}
                        _ => return None,
                    }
                }
                self.evaluated(frame, otherwise)
            }
            ExprKind::Ref(reference) => match reference.parts.as_slice() {
                [enumeration, literal] if ENUMERATIONS.contains(&enumeration.ident.name.as_str()) => {
                    Some(Value::Literal(literal.ident.name))
                }
                _ => self.of_instance(frame, text),
            },
            ExprKind::Call { function, arguments } => {
                if function.parts.len() == 1 && function.parts[0].ident.name == "DynamicSelect" {
                    return match arguments.positional.first()? {
                        ast::FunctionArgument::Expr(fixed) => self.evaluated(frame, fixed),
                        ast::FunctionArgument::PartialApplication { .. } => None,
                    };
                }
                self.of_instance(frame, text)
            }
            _ => self.of_instance(frame, text),
        }
    }

    fn array(&mut self, frame: &Frame, elements: &[ast::Expr]) -> Option<Value> {
        let values: Option<Vec<Value>> = elements.iter().map(|element| self.evaluated(frame, element)).collect();
        values.map(Value::Array)
    }

    /// The value of an expression of the language, with the parameters of the instance.
    fn of_instance(&mut self, frame: &Frame, text: &ast::Expr) -> Option<Value> {
        self.quietly(|elaborator| {
            let (base, value) = elaborator.evaluate(frame, text).ok()?;
            let exprs = &elaborator.flat.model.exprs;
            from_symbolic(exprs, &base, &value)
        })
    }
}

fn from_symbolic(exprs: &dae::Exprs, base: &Base, value: &Symbolic) -> Option<Value> {
    match value {
        Symbolic::Scalar(id) => {
            if let Base::Enumeration(enumeration) = base {
                let index = exprs.as_integer(*id)?;
                let at = usize::try_from(index).ok()?.checked_sub(1)?;
                return enumeration.literals.get(at).map(|literal| Value::Literal(*literal));
            }
            let text = exprs.as_string(*id).map(|text| Value::Text(text.into()));
            text.or_else(|| exprs.as_boolean(*id).map(Value::Boolean)).or_else(|| exprs.as_real(*id).map(Value::Number))
        }
        Symbolic::Array(array) => {
            let [size, inner @ ..] = array.sizes.as_slice() else { return None };
            let step = inner.iter().product::<usize>();
            let elements: Option<Vec<Value>> = (0..*size)
                .map(|at| {
                    let part = array.elements.get(at * step..(at + 1) * step)?;
                    from_symbolic(exprs, base, &Symbolic::array(inner, part.to_vec()))
                })
                .collect();
            elements.map(Value::Array)
        }
        Symbolic::Record(_) | Symbolic::Function(_) => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(value) if value.is_finite() => Some(*value),
        _ => None,
    }
}

fn literal(value: &Value) -> Option<Name> {
    match value {
        Value::Literal(name) => Some(*name),
        _ => None,
    }
}

fn point(value: &Value) -> Option<Point> {
    match value {
        Value::Array(parts) => match parts.as_slice() {
            [x, y] => Some(Point::new(number(x)?, number(y)?)),
            _ => None,
        },
        _ => None,
    }
}
