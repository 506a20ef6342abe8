//! Strings that are not constant: the arena has no operators on strings, so each is the call of a small function.

use std::sync::Arc;

use base::{Id, IdVec, Name};
use dae::expr::{CallSite, Shape};
use dae::function::{self as ir, ArrayFunction, Body, Function, Inline, LocalId, Statement, StatementKind, Target};
use dae::model::Enumeration;
use dae::{CompareOp, Evaluator, ExprId, Node, Value};

use super::calls::{from_value, to_value};
use super::{Expander, Mode, Symbolic};
use crate::instance::Outcome;
use crate::typed::{Base, Expr, Kind};

/// Which function of strings, and for which types of arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TextFunction {
    operation: String,
    inputs: Vec<&'static str>,
}

impl Expander<'_> {
    /// `a + b + c …` of strings. Literals that follow each other are joined at once: joined one by one, all the texts on the
    /// way would stay.
    pub(super) fn concatenation(&mut self, whole: &Expr) -> Outcome<Symbolic> {
        let mut operands = Vec::new();
        let mut first = whole;
        while let Kind::Whole(ArrayFunction::Concat, arguments) = &first.kind
            && let [left, right] = arguments.as_slice()
        {
            operands.push(right);
            first = left;
        }
        operands.push(first);
        let mut joined: Vec<(Symbolic, &Expr)> = Vec::new();
        for operand in operands.into_iter().rev() {
            joined.push((self.expand(operand)?, operand));
        }
        let texts: Option<Vec<Arc<str>>> = joined
            .iter()
            .map(|(value, _)| value.scalar().and_then(|id| self.exprs().as_string(id).map(Arc::from)))
            .collect();
        if let Some(texts) = texts {
            let length = texts.iter().map(|text| text.len()).sum();
            let mut all = String::with_capacity(length);
            texts.iter().for_each(|text| all.push_str(text));
            return Ok(Symbolic::Scalar(self.exprs().string(&all)));
        }
        let mut rest = joined.into_iter();
        let Some((mut value, mut operand)) = rest.next() else {
            return Err(self.wrong_sizes(whole.span, "no operand"));
        };
        for (next, right) in rest {
            let arguments = [operand.clone(), right.clone()];
            value = self.text(ArrayFunction::Concat, &arguments, &[value, next], whole)?;
            operand = right;
        }
        Ok(value)
    }

    pub(super) fn text(
        &mut self,
        op: ArrayFunction,
        arguments: &[Expr],
        values: &[Symbolic],
        whole: &Expr,
    ) -> Outcome<Symbolic> {
        if let Some(first) = values.iter().find(|value| !value.sizes().is_empty()) {
            // `+` of arrays of strings acts on each element.
            let count = first.elements().len();
            let mut elements = Vec::with_capacity(count);
            for at in 0..count {
                let row: Vec<Symbolic> = values
                    .iter()
                    .map(|value| if value.sizes().is_empty() { value.clone() } else { value.elements()[at].clone() })
                    .collect();
                elements.push(self.text(op, arguments, &row, whole)?);
            }
            return Ok(Symbolic::array(super::Sizes::from_slice(first.sizes()), elements));
        }
        let scalars: Vec<_> = values.iter().filter_map(Symbolic::scalar).collect();
        if scalars.iter().all(|&id| self.exprs().is_literal(id)) {
            return self.constant_text(op, arguments, values, whole);
        }
        if self.mode == Mode::Evaluate {
            return Err(self.not_constant(whole.span, "this text"));
        }
        let function = self.elaborator.text_function(op, arguments);
        let exprs = self.exprs();
        let inputs = vec![Shape::Scalar; scalars.len()];
        let site = exprs.site(CallSite { function, inputs, outputs: vec![Shape::Scalar] });
        let args = exprs.args(&scalars);
        Ok(Symbolic::Scalar(exprs.intern(Node::Call { site, args, output: 0 })))
    }

    /// Which of two strings comes first. Those that are known are compared at once.
    pub(super) fn order(&mut self, op: CompareOp, operands: [&Expr; 2], scalars: [ExprId; 2]) -> ExprId {
        let arguments = operands.map(Expr::clone);
        let function = self.elaborator.order_function(op, &arguments);
        let exprs = self.exprs();
        let site = exprs.site(CallSite { function, inputs: vec![Shape::Scalar; 2], outputs: vec![Shape::Scalar] });
        let args = exprs.args(&scalars);
        exprs.intern(Node::Call { site, args, output: 0 })
    }

    fn constant_text(
        &mut self,
        op: ArrayFunction,
        arguments: &[Expr],
        values: &[Symbolic],
        whole: &Expr,
    ) -> Outcome<Symbolic> {
        let mut literals = Vec::with_capacity(values.len());
        for (value, argument) in values.iter().zip(arguments) {
            match to_value(self.elaborator, value, &argument.ty)? {
                Some(value) => literals.push(literal(&value, None)),
                None => return Err(self.not_constant(whole.span, "this text")),
            }
        }
        let elaborator = &mut *self.elaborator;
        let mut evaluator = Evaluator::new(&elaborator.flat.model.functions, &mut *elaborator.externals);
        match evaluator.constant(&ir::Expr::Whole(op, literals)) {
            Ok(value) => match from_value(&mut elaborator.flat.model.exprs, &value) {
                Some(value) => Ok(value),
                None => Err(self.not_constant(whole.span, "this text")),
            },
            Err(error) => Err(self.located(error.diagnostic().at(whole.span, ""))),
        }
    }
}

/// A constant in the form of functions; the ordinals of an enumeration are its literals where it is given.
pub fn literal(value: &Value, enumeration: Option<&Arc<Enumeration>>) -> ir::Expr {
    match value {
        Value::Real(value) => ir::Expr::Real(*value),
        Value::Integer(value) => ir::Expr::Integer(*value),
        Value::Boolean(value) => ir::Expr::Boolean(*value),
        Value::String(value) => ir::Expr::String(value.clone()),
        Value::Enumeration(value) => match enumeration {
            Some(known) => ir::Expr::Enumeration(known.clone(), *value),
            None => ir::Expr::Integer(*value),
        },
        Value::Array(array) => {
            ir::Expr::Array(array.elements.iter().map(|element| literal(element, enumeration)).collect())
        }
        _ => ir::Expr::Integer(0),
    }
}

impl crate::elaborate::Elaborator {
    fn text_function(&mut self, op: ArrayFunction, arguments: &[Expr]) -> dae::FunctionId {
        let name = match op {
            ArrayFunction::Concat => "concatenate",
            _ => "String",
        };
        let operation = format!("{op:?}");
        self.small_function(name, operation, arguments, ir::Type::String, |inputs| ir::Expr::Whole(op, inputs))
    }

    fn order_function(&mut self, op: CompareOp, arguments: &[Expr; 2]) -> dae::FunctionId {
        let operation = format!("{op:?}");
        let value = |inputs: Vec<ir::Expr>| {
            let [a, b] =
                <[ir::Expr; 2]>::try_from(inputs).unwrap_or([ir::Expr::Boolean(false), ir::Expr::Boolean(false)]);
            ir::Expr::Compare(op, Box::new(a), Box::new(b))
        };
        self.small_function("order", operation, arguments, ir::Type::Boolean, value)
    }

    /// A function of scalars with one expression as its value, made once.
    fn small_function(
        &mut self,
        name: &str,
        operation: String,
        arguments: &[Expr],
        result: ir::Type,
        value: impl FnOnce(Vec<ir::Expr>) -> ir::Expr,
    ) -> dae::FunctionId {
        let inputs: Vec<&'static str> = arguments
            .iter()
            .map(|argument| match argument.ty.base {
                Base::Integer => "Integer",
                Base::Boolean => "Boolean",
                Base::String => "String",
                Base::Enumeration(_) => "enumeration",
                _ => "Real",
            })
            .collect();
        let key = TextFunction { operation, inputs };
        if let Some(&known) = self.functions.texts.get(&key) {
            return known;
        }
        let Some(span) = arguments.first().map(|argument| argument.span) else { return Id::from_index(0) };
        let mut locals: IdVec<LocalId, ir::Local> = IdVec::new();
        let mut inputs = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            let ty = self.flat_type(&argument.ty.base);
            let name = Name::new(&format!("u{}", position + 1));
            inputs.push(locals.push(ir::Local { name, ty, sizes: Vec::new(), default: None, span }));
        }
        let output =
            locals.push(ir::Local { name: Name::new("y"), ty: result, sizes: Vec::new(), default: None, span });
        let value = value(inputs.iter().map(|&input| ir::Expr::Local(input)).collect());
        let body =
            vec![Statement { kind: StatementKind::Assign(Target { local: output, steps: Vec::new() }, value), span }];
        let function = Function {
            name: Name::new(name),
            inputs,
            outputs: vec![output],
            locals,
            body: Body::Algorithm(body),
            pure: true,
            inline: Inline::Unstated,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            span,
        };
        let id = self.flat.model.functions.push(Arc::new(function));
        self.functions.texts.insert(key, id);
        id
    }
}
