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
                    // The same text in two instances of the record is one function.
                    let def = |signature: &Signature| self.elaborator.instances.class(signature.class).def;
                    if !found.iter().any(|known| def(known) == def(&signature)) {
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
        if operand.ty.rank > 0
            && let Some(signature) = self.fitting(&candidates, &[&operand.ty.with_rank(0)], span)
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

    /// The call of the one function that takes the operands as they are.
    fn exact(&mut self, candidates: &[Arc<Signature>], operands: &[&Expr], span: Span) -> Option<Expr> {
        let types: Vec<&Type> = operands.iter().map(|operand| &operand.ty).collect();
        let signature = self.fitting(candidates, &types, span)?;
        let arguments = operands.iter().map(|&value| Argument { name: None, value: value.clone() }).collect();
        Some(self.call_signature(&signature, arguments, span))
    }

    /// The one function that takes operands of these types. Several are an error (14.4, 14.5).
    fn fitting(&mut self, candidates: &[Arc<Signature>], operands: &[&Type], span: Span) -> Option<Arc<Signature>> {
        let mut found = candidates.iter().filter(|signature| takes(signature, operands));
        let first = found.next()?;
        if let Some(second) = found.next() {
            self.report_ambiguous(first, second, span);
        }
        Some(first.clone())
    }

    fn report_ambiguous(&mut self, first: &Signature, second: &Signature, span: Span) {
        let message = format!("both `{}` and `{}` take these arguments", first.name, second.name);
        let mut diagnostic = Diagnostic::error("ambiguous-call", message).at(span, "called here");
        for signature in [first, second] {
            let place = self.elaborator.instances.definition(signature.class).name.span;
            diagnostic = diagnostic.at(place, "one of them");
        }
        self.report(diagnostic.specification("14.4"));
    }

    /// One operand converted by a constructor of an operator record that a function takes in its place. There must be one way to
    /// do so (14.4).
    fn with_conversion(
        &mut self,
        candidates: &[Arc<Signature>],
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Option<Expr> {
        let mut ways: Vec<(Arc<Signature>, Arc<Signature>, usize)> = Vec::new();
        for signature in candidates.iter().filter(|signature| signature.inputs.len() >= 2) {
            for (at, converted, other) in [(1, right, left), (0, left, right)] {
                let input = &signature.inputs[at].ty;
                let Base::Record(record) = &input.base else { continue };
                let fits_other = fits(&other.ty, &signature.inputs[1 - at].ty)
                    && matches!(other.ty.base, Base::Record(_))
                    && converted.ty.rank == input.rank;
                if !fits_other || !has_defaults(signature, 2) {
                    continue;
                }
                for constructor in self.constructors_from(record.class, &converted.ty) {
                    ways.push((signature.clone(), constructor, at));
                }
            }
        }
        let mut ways = ways.into_iter();
        let (signature, constructor, at) = ways.next()?;
        if let Some((second, other_constructor, _)) = ways.next() {
            match second.key == signature.key {
                true => self.report_ambiguous(&constructor, &other_constructor, span),
                false => self.report_ambiguous(&signature, &second, span),
            }
        }
        let mut operands = [left.clone(), right.clone()];
        let place = operands[at].span;
        let argument = Argument { name: None, value: operands[at].clone() };
        operands[at] = self.call_signature(&constructor, vec![argument], place);
        let arguments = operands.into_iter().map(|value| Argument { name: None, value }).collect();
        Some(self.call_signature(&signature, arguments, span))
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
        let direct = self.fitting(candidates, &[&left.ty.with_rank(0), &right.ty.with_rank(0)], span);
        let (signature, left, right) = match direct {
            Some(signature) => (signature, left.clone(), right.clone()),
            None => {
                let (left, right) = (convert_side(self, left)?, convert_side(self, right)?);
                let types = [&left.ty.with_rank(0), &right.ty.with_rank(0)];
                (self.fitting(candidates, &types, span)?, left, right)
            }
        };
        if product {
            let sum = result_of(&signature)?;
            let plus = self.candidates("'+'", &[&left, &right]);
            let plus = self.fitting(&plus, &[&sum, &sum], span)?.key;
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
        let span = value.span;
        let mut found = self.constructors_from(class, &value.ty).into_iter();
        let signature = found.next()?;
        if let Some(second) = found.next() {
            self.report_ambiguous(&signature, &second, span);
        }
        Some(self.call_signature(&signature, vec![Argument { name: None, value }], span))
    }

    /// The constructors of an operator record that take one value, or each element of one.
    fn constructors_from(&mut self, class: ClassId, value: &Type) -> Vec<Arc<Signature>> {
        let element = value.with_rank(0);
        let constructors = self.elaborator.operator_functions(class, Name::new("'constructor'"));
        constructors.into_iter().filter(|signature| takes(signature, &[&element])).collect()
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
            self.report_ambiguous(first, second, span);
            return wrong(span);
        }
        // A constructor that would call itself means the fields.
        let own = self.elaborator.instances.class(self.scope).def;
        let is_own = |signature: &Signature| self.elaborator.instances.class(signature.class).def == own;
        let first = first.filter(|signature| !is_own(signature)).cloned();
        let signature = match first {
            Some(signature) => signature,
            None => match self.elaborator.signature(class) {
                Ok(signature) => {
                    self.report_record_constructor(class, span);
                    signature
                }
                Err(diagnostic) => {
                    self.report(*diagnostic);
                    return wrong(span);
                }
            },
        };
        self.call_signature(&signature, arguments, span)
    }

    /// A record with constructors of its own has no automatic one (14.3), but there is only one thing that can be meant.
    fn report_record_constructor(&mut self, class: ClassId, span: Span) {
        let name = self.elaborator.instances.class_name(class);
        let message = format!("no constructor of `{name}` takes these arguments: they are taken as its fields");
        let diagnostic = Diagnostic::breach("record-constructor", message)
            .at(span, "called here")
            .hint("add such a constructor, or set the fields with a modifier, as in `output C c(re = 1)`")
            .specification("14.3");
        self.report(diagnostic);
    }

    /// `String(record, …)` by the operator `'String'`.
    pub(super) fn overloaded_string(&mut self, arguments: Vec<Argument>, span: Span) -> Expr {
        let candidates = self.candidates("'String'", &[&arguments[0].value]);
        let types: Vec<&Type> = arguments.iter().take_while(|a| a.name.is_none()).map(|a| &a.value.ty).collect();
        let found = self.fitting(&candidates, &types, span);
        let Some(signature) = found.or_else(|| candidates.first().cloned()) else {
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
            ("sum", [array]) if record.operator.is_some() => Some(self.record_sum(array.clone(), span)),
            ("product", [array]) if record.operator.is_some() => Some(self.record_product(array.clone(), span)),
            _ => None,
        }
    }

    /// The product of the records of an array: a chain of `'*'`. There is no operator for that of none.
    fn record_product(&mut self, array: Expr, span: Span) -> Expr {
        let candidates = self.candidates("'*'", &[&array]);
        let element = array.ty.with_rank(0);
        let Some(times) = self.fitting(&candidates, &[&element, &element], span) else {
            return self.error(span, "operator-type", format!("`product` of `{}`", array.ty.text()));
        };
        let (variability, ty) = (array.variability, element);
        Expr { kind: Kind::RecordSum { plus: times.key, zero: None, array: Box::new(array) }, ty, variability, span }
    }

    /// The sum of the records of an array as a product with ones is not defined, so it is a chain of `'+'`.
    fn record_sum(&mut self, array: Expr, span: Span) -> Expr {
        let candidates = self.candidates("'+'", &[&array]);
        let ty = array.ty.with_rank(0);
        let Some(plus) = self.fitting(&candidates, &[&ty, &ty], span).map(|signature| signature.key) else {
            return self.error(span, "operator-type", format!("`sum` of `{}`", array.ty.text()));
        };
        let zero = self.record_zero(&array, span);
        let variability = array.variability;
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
            Base::Record(record) if record.operator.is_some() && value.ty.rank == wanted.rank => {
                self.implicit_constructor(record.class, value)
            }
            _ => None,
        }
    }
}

/// Whether a function takes operands of these types and needs no more.
fn takes(signature: &Signature, operands: &[&Type]) -> bool {
    signature.inputs.len() >= operands.len()
        && signature.inputs.iter().zip(operands).all(|(input, operand)| fits(operand, &input.ty))
        && has_defaults(signature, operands.len())
}

/// Whether all inputs behind the first ones have defaults.
fn has_defaults(signature: &Signature, first: usize) -> bool {
    signature.inputs.iter().skip(first).all(|input| input.default.is_some())
}

/// The type of the one result.
fn result_of(signature: &Signature) -> Option<Type> {
    match signature.outputs.as_slice() {
        [(_, only)] => Some(only.clone()),
        _ => None,
    }
}
