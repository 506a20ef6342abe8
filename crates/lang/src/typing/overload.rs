//! Overloaded operators of operator records (chapter 14): the function is chosen by the types of the operands, first as
//! they are, then with one of them converted by a constructor.

use base::{Diagnostic, Name, Span};
use dae::function::ReductionOp;
use syntax::ast::{BinaryOp, UnaryOp};

use super::calls::{Argument, plain_call};
use super::operators::symbol;
use super::{Typer, convert, fits, highest, wrong};
use crate::functions::Signature;
use crate::instance::ClassId;
use crate::typed::{Base, Expr, Iterator, Kind, Type};
use std::sync::Arc;

impl Typer<'_> {
    /// The functions of an operator of the record classes among the operands, each once.
    fn candidates(&mut self, operator: &str, operands: &[&Expr]) -> Vec<Arc<Signature>> {
        let mut found: Vec<Arc<Signature>> = Vec::new();
        for operand in operands {
            if let Base::Record(record) = &operand.ty.base {
                for signature in self.elaborator.operator_functions(record.class, Name::new(operator)) {
                    if !found.iter().any(|known| known.key == signature.key) {
                        found.push(signature);
                    }
                }
            }
        }
        found
    }

    pub(super) fn overloaded_unary(&mut self, op: UnaryOp, operand: Expr, span: Span) -> Expr {
        let name = match op {
            UnaryOp::Not => "'not'",
            UnaryOp::Minus | UnaryOp::ElementMinus => "'-'",
            UnaryOp::Plus | UnaryOp::ElementPlus => return operand,
        };
        let candidates = self.candidates(name, &[&operand]);
        if let Some(call) = self.exact(&candidates, &[&operand], span) {
            return call;
        }
        // Arrays of operator records: element by element.
        let element = Expr { ty: operand.ty.with_rank(0), ..operand.clone() };
        if operand.ty.rank > 0
            && let Some(signature) = self.fitting(&candidates, &[&element])
        {
            return self.call_signature(&signature, vec![Argument { name: None, value: operand }], span);
        }
        let message = format!("`{}` does not apply to `{}`", name.trim_matches('\''), operand.ty.text());
        self.error(span, "operator-type", message)
    }

    pub(super) fn overloaded_binary(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let text = symbol(op);
        let elementwise = text.starts_with('.');
        let name = format!("'{}'", text.trim_start_matches('.'));
        let candidates = self.candidates(&name, &[&left, &right]);
        if !elementwise || (left.ty.is_scalar() && right.ty.is_scalar()) {
            if let Some(call) = self.exact(&candidates, &[&left, &right], span) {
                return call;
            }
            if let Some(call) = self.with_conversion(&candidates, &left, &right, span) {
                return call;
            }
        }
        if left.ty.rank + right.ty.rank > 0
            && let Some(call) = self.over_elements(op, &candidates, &left, &right, span)
        {
            return call;
        }
        let mut diagnostic = Diagnostic::error(
            "operator-type",
            format!("`{text}` does not apply to `{}` and `{}`", left.ty.text(), right.ty.text()),
        )
        .at(span, "")
        .at(left.span, format!("this is `{}`", left.ty.text()))
        .at(right.span, format!("this is `{}`", right.ty.text()))
        .specification("14.4");
        for candidate in candidates.iter().filter(|candidate| candidate.inputs.len() < 2) {
            let inputs = crate::interfaces::count(candidate.inputs.len(), "input");
            diagnostic = diagnostic.note(format!("`{}` has {inputs}, and a binary operator needs two", candidate.name));
        }
        self.report(diagnostic);
        wrong(span)
    }

    /// The one function that takes the operands as they are.
    fn exact(&mut self, candidates: &[Arc<Signature>], operands: &[&Expr], span: Span) -> Option<Expr> {
        let signature = self.fitting(candidates, operands)?;
        let arguments = operands.iter().map(|&value| Argument { name: None, value: value.clone() }).collect();
        Some(self.call_signature(&signature, arguments, span))
    }

    fn fitting(&self, candidates: &[Arc<Signature>], operands: &[&Expr]) -> Option<Arc<Signature>> {
        let found = candidates.iter().find(|signature| {
            signature.inputs.len() >= operands.len()
                && signature.inputs.iter().zip(operands).all(|(input, operand)| fits(&operand.ty, &input.ty))
                && signature.inputs[operands.len()..].iter().all(|input| input.default.is_some())
        });
        found.cloned()
    }

    /// One operand converted by a constructor of the other's record, so that a function fits.
    fn with_conversion(
        &mut self,
        candidates: &[Arc<Signature>],
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Option<Expr> {
        let record = |e: &Expr| match &e.ty.base {
            Base::Record(record) => Some(record.class),
            _ => None,
        };
        if let Some(class) = record(left)
            && record(right).is_none()
        {
            let right = self.implicit_constructor(class, right.clone())?;
            return self.exact(candidates, &[left, &right], span);
        }
        if let Some(class) = record(right)
            && record(left).is_none()
        {
            let left = self.implicit_constructor(class, left.clone())?;
            return self.exact(candidates, &[&left, right], span);
        }
        None
    }

    /// Arrays of operator records: element by element, or by the product of matrices.
    fn over_elements(
        &mut self,
        op: BinaryOp,
        candidates: &[Arc<Signature>],
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Option<Expr> {
        let (l, r) = (left.ty.rank, right.ty.rank);
        let product = op == BinaryOp::Mul && l > 0 && r > 0;
        let allowed = match op {
            BinaryOp::Add | BinaryOp::Sub => l == r,
            BinaryOp::Mul => l == 0 || r == 0 || (l <= 2 && r <= 2),
            BinaryOp::Div => r == 0,
            _ => l == r || l == 0 || r == 0,
        };
        if !allowed {
            return None;
        }
        // Numbers become records first, as arrays.
        let record_type = [left, right].into_iter().find_map(|e| match &e.ty.base {
            Base::Record(record) => Some(record.clone()),
            _ => None,
        })?;
        let convert_side = |typer: &mut Self, side: &Expr| match side.ty.base {
            Base::Record(_) => Some(side.clone()),
            _ => typer.implicit_constructor(record_type.class, side.clone()),
        };
        let direct = candidates.iter().find(|s| {
            s.inputs.len() >= 2
                && fits(&left.ty.with_rank(0), &s.inputs[0].ty)
                && fits(&right.ty.with_rank(0), &s.inputs[1].ty)
        });
        let (signature, left, right) = match direct {
            Some(signature) => (signature.clone(), left.clone(), right.clone()),
            None => {
                let (left, right) = (convert_side(self, left)?, convert_side(self, right)?);
                let signature = candidates.iter().find(|s| {
                    s.inputs.len() >= 2
                        && fits(&left.ty.with_rank(0), &s.inputs[0].ty)
                        && fits(&right.ty.with_rank(0), &s.inputs[1].ty)
                })?;
                (signature.clone(), left, right)
            }
        };
        if product {
            let plus = self.candidates("'+'", &[&left, &right]).first()?.key;
            let rank = l + r - 2;
            let variability = left.variability.max(right.variability);
            let ty = Type::new(Base::Record(record_type), rank);
            let kind = Kind::Product { times: signature.key, plus, left: Box::new(left), right: Box::new(right) };
            return Some(Expr { kind, ty, variability, span });
        }
        let arguments = vec![Argument { name: None, value: left }, Argument { name: None, value: right }];
        Some(self.call_signature(&signature, arguments, span))
    }

    /// A value made a record by the one constructor that takes it (14.3).
    pub(super) fn implicit_constructor(&mut self, class: ClassId, value: Expr) -> Option<Expr> {
        let constructors = self.elaborator.operator_functions(class, Name::new("'constructor'"));
        let element = value.ty.with_rank(0);
        let signature = constructors.iter().find(|signature| {
            signature.inputs.first().is_some_and(|input| fits(&element, &input.ty))
                && signature.inputs.iter().skip(1).all(|input| input.default.is_some())
        })?;
        let signature = signature.clone();
        let span = value.span;
        Some(self.call_signature(&signature, vec![Argument { name: None, value }], span))
    }

    /// `Complex(1, 2)`: the constructors first, then the record itself.
    pub(super) fn overloaded_constructor(&mut self, class: ClassId, arguments: Vec<Argument>, span: Span) -> Expr {
        let constructors = self.elaborator.operator_functions(class, Name::new("'constructor'"));
        // Whether a constructor takes the arguments, and whether it does so without being applied to their elements.
        let taken = |signature: &Signature| -> Option<bool> {
            let mut as_they_are = true;
            let mut given = vec![false; signature.inputs.len()];
            for (position, argument) in arguments.iter().enumerate() {
                let at = match argument.name {
                    Some(ident) => signature.input(ident.name),
                    None => Some(position).filter(|&at| at < given.len()),
                };
                let at = at?;
                let input = &signature.inputs[at].ty;
                let rank = argument.value.ty.rank.min(input.rank);
                if !fits(&argument.value.ty.with_rank(rank), input) {
                    return None;
                }
                as_they_are &= argument.value.ty.rank == input.rank;
                given[at] = true;
            }
            let complete = signature.inputs.iter().zip(&given).all(|(input, given)| *given || input.default.is_some());
            complete.then_some(as_they_are)
        };
        let matching: Vec<(&Arc<Signature>, bool)> =
            constructors.iter().filter_map(|signature| Some((signature, taken(signature)?))).collect();
        let whole = matching.iter().any(|(_, as_they_are)| *as_they_are);
        let mut matching = matching.into_iter().filter(|(_, as_they_are)| *as_they_are || !whole).map(|(s, _)| s);
        let first = matching.next();
        if let (Some(first), Some(second)) = (first, matching.next()) {
            let message = format!("both `{}` and `{}` take these arguments", first.name, second.name);
            return self.error(span, "ambiguous-call", message);
        }
        let signature = match first {
            Some(signature) => signature.clone(),
            None => match self.elaborator.signature(class) {
                Ok(signature) => signature,
                Err(diagnostic) => {
                    self.report(*diagnostic);
                    return wrong(span);
                }
            },
        };
        self.call_signature(&signature, arguments, span)
    }

    /// `String(record, …)` by the operator `'String'`.
    pub(super) fn overloaded_string(&mut self, arguments: Vec<Argument>, span: Span) -> Expr {
        let candidates = self.candidates("'String'", &[&arguments[0].value]);
        let Some(signature) = candidates.first().cloned() else {
            let message = format!("`String` of `{}`", arguments[0].value.ty.text());
            return self.error(span, "type-mismatch", message);
        };
        if !matches!(signature.outputs.as_slice(), [(_, only)] if *only == Type::STRING) {
            let given = super::calls::result_type(&signature.outputs).text();
            let diagnostic =
                Diagnostic::error("operator-results", format!("`{}` must give one String", signature.name))
                    .at(self.elaborator.instances.definition(signature.class).name.span, format!("it gives `{given}`"))
                    .at(span, "called here")
                    .specification("14.4");
            self.report(diagnostic);
            return wrong(span);
        }
        self.call_signature(&signature, arguments, span)
    }

    /// Functions of the language on operator records: those that only move elements need no operator.
    pub(super) fn builtin_on_records(&mut self, name: Name, args: &[Expr], span: Span) -> Option<Expr> {
        let Some(Base::Record(record)) = args.first().map(|first| first.ty.base.clone()) else { return None };
        match (name.as_str(), args) {
            ("sum", [array]) if record.is_operator => Some(self.record_sum(array.clone(), span)),
            ("product", [array]) if record.is_operator => Some(self.record_product(array.clone(), span)),
            _ => None,
        }
    }

    /// The product of the records of an array: a chain of `'*'`. There is no operator for that of none.
    fn record_product(&mut self, array: Expr, span: Span) -> Expr {
        let candidates = self.candidates("'*'", &[&array]);
        let element = Expr { ty: array.ty.with_rank(0), ..array.clone() };
        let Some(times) = self.fitting(&candidates, &[&element, &element]) else {
            return self.error(span, "operator-type", format!("`product` of `{}`", array.ty.text()));
        };
        let (variability, ty) = (array.variability, element.ty.clone());
        Expr { kind: Kind::RecordSum { plus: times.key, zero: None, array: Box::new(array) }, ty, variability, span }
    }

    /// The sum of the records of an array as a product with ones is not defined, so it is a chain of `'+'`.
    fn record_sum(&mut self, array: Expr, span: Span) -> Expr {
        let plus = self.candidates("'+'", &[&array]).first().map(|signature| signature.key);
        let Some(plus) = plus else {
            return self.error(span, "operator-type", format!("`sum` of `{}`", array.ty.text()));
        };
        let zero = self.record_zero(&array, span);
        let variability = array.variability;
        let ty = array.ty.with_rank(0);
        Expr { kind: Kind::RecordSum { plus, zero: zero.map(Box::new), array: Box::new(array) }, ty, variability, span }
    }

    fn record_zero(&mut self, like: &Expr, span: Span) -> Option<Expr> {
        let zero = self.candidates("'0'", &[like]).first()?.clone();
        Some(plain_call(zero.key, like.ty.with_rank(0), Vec::new(), span))
    }

    pub(super) fn record_reduction(
        &mut self,
        op: ReductionOp,
        element: Expr,
        iterators: Vec<Iterator>,
        span: Span,
    ) -> Expr {
        if !matches!(op, ReductionOp::Sum | ReductionOp::Product) {
            let message = format!("only `sum` and `product` apply to `{}`", element.ty.text());
            return self.error(span, "operator-type", message);
        }
        let variability = highest(std::slice::from_ref(&element));
        let ty = element.ty.with_rank(element.ty.rank + iterators.len());
        let array = Expr { kind: Kind::ArrayFor { element: Box::new(element), iterators }, ty, variability, span };
        match op {
            ReductionOp::Product => self.record_product(array, span),
            _ => self.record_sum(array, span),
        }
    }

    /// A value as the record that is wanted, by conversion or by a constructor.
    pub fn as_record(&mut self, value: Expr, wanted: &Type) -> Option<Expr> {
        if fits(&value.ty, wanted) {
            return Some(convert(value, wanted));
        }
        match &wanted.base {
            Base::Record(record) if record.is_operator && value.ty.rank == wanted.rank => {
                self.implicit_constructor(record.class, value)
            }
            _ => None,
        }
    }
}
