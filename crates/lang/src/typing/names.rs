//! References: iterators and variables of functions, components with subscripts along their path, enumeration literals.

use base::{Diagnostic, Name, Span};
use dae::Variability;
use dae::function::LocalId;
use syntax::ast;

use super::{End, Typer, dropped, literal, subscript_variability, wrong};
use crate::instance::{ClassId, CompId};
use crate::lookup::Resolved;
use crate::typed::{Base, Expr, Kind, Operator, Reference, ReferencePart, Subscript, Type};

impl Typer<'_> {
    pub fn visible(&self, name: Name) -> Option<LocalId> {
        self.visible.iter().rev().find(|(known, _)| *known == name).map(|(_, local)| *local)
    }

    pub fn reference(&mut self, reference: &ast::ComponentRef) -> Expr {
        match self.value_or_class(reference) {
            ValueOrClass::Value(value) => value,
            ValueOrClass::Class(class) => self.class_as_value(class, reference.span),
        }
    }

    fn has_time(&self) -> bool {
        use ast::ClassKind;
        matches!(self.elaborator.instances.kind(self.scope), ClassKind::Model | ClassKind::Block | ClassKind::Class)
    }

    pub(super) fn class_as_value(&mut self, class: ClassId, span: Span) -> Expr {
        let message = format!("`{}` is a class, not a value", self.elaborator.instances.class_name(class));
        self.error(span, "class-as-value", message)
    }

    pub(super) fn value_or_class(&mut self, reference: &ast::ComponentRef) -> ValueOrClass {
        let span = reference.span;
        let Some(first) = reference.parts.first() else { return ValueOrClass::Value(wrong(span)) };
        if !reference.global
            && let Some(local) = self.visible(first.ident.name)
        {
            return ValueOrClass::Value(self.local_reference(local, reference));
        }
        let value = match self.elaborator.instances.lookup_reference(self.scope, reference) {
            Ok(Resolved::Component { steps }) => match self.local_of(&steps) {
                Some((local, fields)) => self.field_of_local(local, &fields, &steps, reference),
                None => self.component(&steps, reference),
            },
            Ok(Resolved::EnumerationLiteral { .. } | Resolved::Time)
                if reference.parts.iter().any(|part| !part.subscripts.is_empty()) =>
            {
                self.error(span, "too-many-subscripts", "subscripts on a name that stands for one value")
            }
            Ok(Resolved::Class(class)) => return ValueOrClass::Class(class),
            Ok(Resolved::EnumerationLiteral { definition, index }) => {
                let enumeration = self.elaborator.enumeration_type(definition);
                literal(Kind::Enumeration(index as i64), Type::new(Base::Enumeration(enumeration), 0), span)
            }
            Ok(Resolved::Time) if !self.has_time() => {
                self.error(span, "misplaced-time", "`time` is known in models and blocks only")
            }
            Ok(Resolved::Time) => Expr { kind: Kind::Time, ty: Type::REAL, variability: Variability::Continuous, span },
            Ok(Resolved::Unknown(diagnostic)) | Err(diagnostic) => {
                self.report(*diagnostic);
                wrong(span)
            }
        };
        ValueOrClass::Value(value)
    }

    fn local_reference(&mut self, local: LocalId, reference: &ast::ComponentRef) -> Expr {
        let ty = self.locals[local].ty.clone();
        let variability = self.local_variability(local);
        let mut value = Expr { kind: Kind::Local(local), ty, variability, span: reference.span };
        for (position, part) in reference.parts.iter().enumerate() {
            value = self.part(value, position > 0, part, reference.span);
        }
        value
    }

    /// A part of a reference: perhaps a field of what stands before it, and its subscripts.
    fn part(&mut self, value: Expr, is_field: bool, part: &ast::RefPart, span: Span) -> Expr {
        if !is_field {
            return self.index(value, &part.subscripts, span);
        }
        let outer = value.ty.rank;
        let field = self.field(value, part.ident);
        self.index_field(field, outer, &part.subscripts, span)
    }

    /// The variable of a function that a component is, or of which it is a field; the fields between the two.
    fn local_of(&self, steps: &[CompId]) -> Option<(LocalId, Vec<Name>)> {
        if self.components.is_empty() {
            return None;
        }
        let mut fields = Vec::new();
        let mut current = *steps.first()?;
        loop {
            if let Some(local) = self.element_of(current).or_else(|| self.components.get(&current).copied()) {
                fields.reverse();
                return Some((local, fields));
            }
            let node = self.elaborator.instances.component(current);
            fields.push(node.name);
            current = self.elaborator.instances.class(node.parent).owner?;
        }
    }

    /// What stands for the element of an array of records in the text of its class: the fields of an element read those
    /// of the same element.
    fn element_of(&self, component: CompId) -> Option<LocalId> {
        let own = self.elements.iter().rev().find(|element| element.component == component)?.own;
        let instances = &self.elaborator.instances;
        let mut around = instances.class(self.scope).owner;
        while let Some(owner) = around {
            if owner == component {
                return Some(own);
            }
            around = instances.class(instances.component(owner).parent).owner;
        }
        None
    }

    fn field_of_local(
        &mut self,
        local: LocalId,
        fields: &[Name],
        steps: &[CompId],
        reference: &ast::ComponentRef,
    ) -> Expr {
        let element = self.elements.iter().find(|element| element.own == local);
        let ty = element.map_or_else(|| self.locals[local].ty.clone(), |element| element.ty.clone());
        let span = reference.span;
        let mut value = Expr { kind: Kind::Local(local), ty, variability: Variability::Continuous, span };
        for &name in fields {
            value = self.field(value, ast::Ident { name, span });
        }
        let skipped = reference.parts.len().saturating_sub(steps.len());
        for (position, part) in reference.parts[skipped..].iter().enumerate() {
            value = self.part(value, position > 0, part, span);
            if let (Kind::Index(_, subscripts), Some(&component), false) =
                (&value.kind, steps.get(position), part.subscripts.is_empty())
            {
                let subscripts = subscripts.clone();
                self.check_index_types(component, &subscripts);
            }
        }
        value
    }

    /// Variables of functions are not known at translation; iterators are, unless their range is not.
    fn local_variability(&self, local: LocalId) -> Variability {
        match self.context {
            super::Context::Function => Variability::Continuous,
            super::Context::Model if self.constant_iterators.contains(&local) => Variability::Constant,
            super::Context::Model => {
                self.locals[local].default.as_ref().map_or(Variability::Parameter, |d| d.variability)
            }
        }
    }

    pub fn field(&mut self, value: Expr, ident: ast::Ident) -> Expr {
        if value.ty.is_unknown() {
            return value;
        }
        let Base::Record(record) = &value.ty.base else {
            let message = format!("a value of type `{}` has no element `{}`", value.ty.text(), ident.name);
            return self.error(ident.span, "unknown-name", message);
        };
        let Some(position) = record.field(ident.name) else {
            let message = format!("the record `{}` has no field `{}`", record.name, ident.name);
            return self.error(ident.span, "unknown-name", message);
        };
        let field = record.fields[position].ty.clone();
        let ty = Type::new(field.base, value.ty.rank + field.rank);
        let (variability, span) = (value.variability, value.span);
        Expr { kind: Kind::Field(Box::new(value), position as u32), ty, variability, span }
    }

    /// `(e).x`: a result of a call with several by its name, else a field of a record.
    pub(super) fn part_of_value(&mut self, text: &ast::Expr, ident: ast::Ident) -> Expr {
        let value = self.expr_with_all_results(text);
        let Base::Tuple(items) = &value.ty.base else { return self.field(value, ident) };
        let names: Vec<Name> = match &value.kind {
            Kind::Call(key, _) => {
                let signature = &self.elaborator.function(*key).signature;
                signature.outputs.iter().map(|(name, _)| *name).collect()
            }
            Kind::Operator(Operator::Spatial, _) => vec![Name::new("out0"), Name::new("out1")],
            _ => Vec::new(),
        };
        let Some(position) = names.iter().position(|name| *name == ident.name).filter(|&at| at < items.len()) else {
            return self.field(super::first_output(value), ident);
        };
        let ty = items[position].clone();
        let (variability, span) = (value.variability, value.span);
        Expr { kind: Kind::Output(Box::new(value), position as u32), ty, variability, span }
    }

    /// A component: the last `steps.len()` parts of the name.
    fn component(&mut self, steps: &[CompId], reference: &ast::ComponentRef) -> Expr {
        let span = reference.span;
        let conditional = steps.iter().find(|&&step| self.elaborator.instances.component(step).condition.is_some());
        if let Some(&conditional) = conditional
            && self.context == super::Context::Model
            && !self.elaborator.instances.ignore_protection
        {
            let name = self.elaborator.instances.component(conditional).name;
            let diagnostic =
                base::Diagnostic::breach("conditional-use", format!("the conditional component `{name}` is used"))
                    .at(span, "used here")
                    .at(self.elaborator.instances.span(conditional), "declared with a condition")
                    .hint("a conditional component may only be connected; connections to it vanish with it")
                    .specification("4.4.5");
            self.report(diagnostic);
        }
        let skipped = reference.parts.len().saturating_sub(steps.len());
        let mut path = Reference { steps: Vec::with_capacity(steps.len()) };
        let mut rank = 0;
        let mut variability = Variability::Continuous;
        let mut ty = Type::UNKNOWN;
        for (&component, part) in steps.iter().zip(&reference.parts[skipped..]) {
            ty = match self.elaborator.component_type(component) {
                Ok(ty) => ty,
                Err(diagnostic) => {
                    self.report(*diagnostic);
                    return wrong(span);
                }
            };
            variability = variability.min(self.elaborator.component_variability(component, &ty));
            if self.elaborator.instances.component(component).condition.is_some()
                && self.context == super::Context::Function
            {
                return self.conditional_use(component, span);
            }
            if part.subscripts.len() > ty.rank {
                let message = format!(
                    "{} subscripts on `{}`, which has {} dimensions",
                    part.subscripts.len(),
                    part.ident.name,
                    ty.rank
                );
                return self.error(span, "too-many-subscripts", message);
            }
            path.steps.push(ReferencePart { component, subscripts: Vec::new() });
            let subscripts = self.part_subscripts(&path, &part.subscripts);
            self.check_index_types(component, &subscripts);
            rank += ty.rank - dropped(&subscripts);
            variability = subscripts.iter().fold(variability, |v, s| v.max(subscript_variability(s)));
            if let Some(last) = path.steps.last_mut() {
                last.subscripts = subscripts;
            }
        }
        Expr { kind: Kind::Component(Box::new(path)), ty: Type::new(ty.base, rank), variability, span }
    }

    fn conditional_use(&mut self, component: CompId, span: Span) -> Expr {
        let name = self.elaborator.instances.path(component);
        let diagnostic =
            Diagnostic::error("conditional-use", format!("`{name}` is conditional and may only be connected"))
                .at(span, "used here")
                .at(self.elaborator.instances.span(component), "declared with a condition")
                .specification("4.4.5");
        self.report(diagnostic);
        wrong(span)
    }

    /// A dimension declared with an enumeration or Boolean has subscripts of that type, any other Integers (10.5.1).
    fn check_index_types(&mut self, component: CompId, subscripts: &[Subscript]) {
        if subscripts.is_empty() {
            return;
        }
        let types = self.elaborator.index_types(component);
        for (subscript, wanted) in subscripts.iter().zip(types.iter()) {
            if let (Subscript::Expr(expr), Some(wanted)) = (subscript, wanted)
                && expr.ty.base != *wanted
                && !expr.ty.is_unknown()
            {
                // The number of an element stands for it.
                let is_number = matches!(expr.ty.base, Base::Integer);
                let wanted = Type::new(wanted.clone(), 0).text();
                let message = format!("this dimension has subscripts of type `{wanted}`, not `{}`", expr.ty.text());
                let diagnostic = Diagnostic::breach("type-mismatch", message).at(expr.span, "").specification("10.5.1");
                self.report(if is_number { diagnostic } else { diagnostic.refused() });
            }
        }
    }

    fn part_subscripts(&mut self, path: &Reference, subscripts: &[ast::Subscript]) -> Vec<Subscript> {
        let mut typed = Vec::with_capacity(subscripts.len());
        for (dimension, subscript) in subscripts.iter().enumerate() {
            self.ends.push(End::Part(path.clone(), dimension as u32));
            typed.push(self.subscript(subscript));
            self.ends.pop();
        }
        typed
    }

    /// All values of an enumeration, or of Boolean, where its name stands for them (10.5, 11.2.2.2).
    pub(super) fn values_of_class(&mut self, class: ClassId, span: Span) -> Option<Expr> {
        match self.elaborator.simple_base(class)? {
            Base::Boolean => {
                let values = [false, true].map(|value| literal(Kind::Boolean(value), Type::BOOLEAN, span)).to_vec();
                Some(self.array(values, span))
            }
            Base::Enumeration(enumeration) => {
                let ty = Type::new(Base::Enumeration(enumeration.clone()), 0);
                let values = (1..=enumeration.literals.len() as i64)
                    .map(|ordinal| literal(Kind::Enumeration(ordinal), ty.clone(), span))
                    .collect();
                Some(self.array(values, span))
            }
            _ => None,
        }
    }

    /// A vector, or the name of a type that stands for all its values.
    pub(crate) fn values(&mut self, text: &ast::Expr) -> Expr {
        let ast::ExprKind::Ref(reference) = &text.kind else { return self.expr(text) };
        match self.value_or_class(reference) {
            ValueOrClass::Value(value) => value,
            ValueOrClass::Class(class) => match self.values_of_class(class, text.span) {
                Some(values) => values,
                None => self.class_as_value(class, text.span),
            },
        }
    }

    /// The range of an iterator without one: the size of the dimension that it indexes (10.4.1.2, 11.2.2.3).
    pub(super) fn deduced_range(&mut self, iterator: &ast::Iterator, used_in: &[&ast::Expr]) -> Expr {
        let span = iterator.name.span;
        let mut uses = Vec::new();
        for text in used_in {
            find_uses(text, iterator.name.name, &mut uses);
        }
        let Some(&first) = uses.first() else {
            let message = format!("the range of `{}` cannot be deduced: it is no subscript", iterator.name.name);
            return self.error(span, "no-range", message);
        };
        let array = self.reference(&prefix_of(first));
        if array.ty.is_unknown() {
            return wrong(span);
        }
        let dimension = first.2;
        if !self.check_equal_ranges(iterator, &array, &uses) {
            return wrong(span);
        }
        if let Some(values) = self.index_values(&array, dimension, span) {
            return values;
        }
        let ty = Type::INTEGER;
        let variability = Variability::Parameter;
        let size = Expr { kind: Kind::SizeOf(Box::new(array), dimension as u32), ty: ty.clone(), variability, span };
        let one = literal(Kind::Integer(1), ty.clone(), span);
        Expr { kind: Kind::Range(Box::new(one), None, Box::new(size)), ty: ty.with_rank(1), variability, span }
    }

    /// All dimensions that an iterator without a range indexes must have one size, as far as sizes are known here.
    fn check_equal_ranges(&mut self, iterator: &ast::Iterator, first: &Expr, uses: &[Use]) -> bool {
        let Some(&one) = uses.first() else { return true };
        let Some(size) = self.known_size(first, one.2) else { return true };
        for &other in &uses[1..] {
            let array = self.reference(&prefix_of(other));
            let Some(other_size) = self.known_size(&array, other.2) else { continue };
            if other_size != size {
                let message = format!("the dimensions that `{}` indexes have different sizes", iterator.name.name);
                let diagnostic = Diagnostic::error("no-range", message)
                    .at(iterator.name.span, "an iterator without a range")
                    .at(one.0.span, format!("this dimension has size {size}"))
                    .at(other.0.span, format!("this dimension has size {other_size}"))
                    .hint(format!("give the range: `{} in 1:{}`", iterator.name.name, size.min(other_size)))
                    .specification("11.2.2.3");
                self.report(diagnostic);
                return false;
            }
        }
        true
    }

    fn known_size(&mut self, array: &Expr, dimension: usize) -> Option<usize> {
        let Kind::Component(reference) = &array.kind else { return None };
        let component = reference.steps.last()?.component;
        let sizes = self.elaborator.sizes(component).ok()?;
        sizes.get(dimension).copied().filter(|_| !self.elaborator.is_ragged(component))
    }

    /// The values that index a dimension declared with an enumeration or Boolean.
    fn index_values(&mut self, array: &Expr, dimension: usize, span: Span) -> Option<Expr> {
        let Kind::Component(reference) = &array.kind else { return None };
        let component = reference.steps.last()?.component;
        let dimensions = self.elaborator.instances.dimensions(component).ok()?;
        let declared = dimensions.get(dimension)?;
        let ast::Subscript::Expr(text) = &declared.subscript else { return None };
        let ast::ExprKind::Ref(name) = &text.kind else { return None };
        match self.elaborator.instances.lookup_reference(declared.scope, name) {
            Ok(Resolved::Class(class)) => self.values_of_class(class, span),
            _ => None,
        }
    }
}

/// What a name in an expression stands for.
pub(super) enum ValueOrClass {
    Value(Expr),
    Class(ClassId),
}

/// A reference with the part and the dimension of it in which an iterator is the subscript.
type Use<'a> = (&'a ast::ComponentRef, usize, usize);

/// The array that a use indexes.
fn prefix_of((reference, part, _): Use) -> ast::ComponentRef {
    let mut parts = reference.parts[..=part].to_vec();
    if let Some(last) = parts.last_mut() {
        last.subscripts = Vec::new();
    }
    ast::ComponentRef { global: reference.global, parts, span: reference.span }
}

/// The first reference in which the name is a subscript by itself.
pub(super) fn first_use<'a>(texts: &[&'a ast::Expr], name: Name) -> Option<&'a ast::ComponentRef> {
    let mut found = Vec::new();
    texts.iter().for_each(|text| find_uses(text, name, &mut found));
    found.first().map(|&(reference, _, _)| reference)
}

/// Finds the references in which the name is a subscript by itself.
fn find_uses<'a>(text: &'a ast::Expr, name: Name, found: &mut Vec<Use<'a>>) {
    let is_name = |subscript: &ast::Subscript| {
        matches!(subscript, ast::Subscript::Expr(e) if matches!(&e.kind, ast::ExprKind::Ref(r)
            if r.parts.len() == 1 && r.parts[0].ident.name == name && r.parts[0].subscripts.is_empty()))
    };
    match &text.kind {
        ast::ExprKind::Ref(reference) => {
            for (part, step) in reference.parts.iter().enumerate() {
                if let Some(dimension) = step.subscripts.iter().position(is_name) {
                    found.push((reference, part, dimension));
                }
                for subscript in &step.subscripts {
                    if let ast::Subscript::Expr(inner) = subscript {
                        find_uses(inner, name, found);
                    }
                }
            }
        }
        ast::ExprKind::Call { arguments, .. } => {
            for argument in arguments.positional.iter().chain(arguments.named.iter().map(|(_, value)| value)) {
                if let ast::FunctionArgument::Expr(inner) = argument {
                    find_uses(inner, name, found);
                }
            }
        }
        ast::ExprKind::Unary(_, a) => find_uses(a, name, found),
        ast::ExprKind::Binary(_, a, b) => {
            find_uses(a, name, found);
            find_uses(b, name, found);
        }
        ast::ExprKind::If { branches, otherwise } => {
            for (condition, value) in branches {
                find_uses(condition, name, found);
                find_uses(value, name, found);
            }
            find_uses(otherwise, name, found);
        }
        ast::ExprKind::Range { start, step, stop } => {
            find_uses(start, name, found);
            if let Some(step) = step {
                find_uses(step, name, found);
            }
            find_uses(stop, name, found);
        }
        ast::ExprKind::Array(items) => items.iter().for_each(|item| find_uses(item, name, found)),
        ast::ExprKind::ArrayFor { element, .. } => find_uses(element, name, found),
        ast::ExprKind::Matrix(rows) => rows.iter().flatten().for_each(|item| find_uses(item, name, found)),
        ast::ExprKind::Tuple(items) => items.iter().flatten().for_each(|item| find_uses(item, name, found)),
        ast::ExprKind::Field(value, _) => find_uses(value, name, found),
        ast::ExprKind::Subscripted(value, subscripts) => {
            find_uses(value, name, found);
            for subscript in subscripts {
                if let ast::Subscript::Expr(inner) = subscript {
                    find_uses(inner, name, found);
                }
            }
        }
        _ => {}
    }
}
