//! The first value of a record in a function (12.2): the bindings of its fields, also those that read other fields of it.
//!
//! The value of the whole record is one expression. A field that another one reads is therefore replaced by its own
//! binding. Fields without a binding begin as zero, as all parts of variables of functions of which another part has a value.

use std::sync::Arc;

use base::Diagnostic;
use dae::function::{ArrayFunction, LocalId};
use rustc_hash::FxHashMap;
use syntax::ast;

use crate::instance::{CompId, ComponentType};
use crate::typed::{Base, Expr, Kind, RecordType, Type};
use crate::typing::{Typer, highest, literal, rewrite, walk, wrong};

/// More parts than this in the value of one record come from fields that read each other over and over.
const MOST_PARTS: usize = 100_000;

/// What is known about the fields of one record while its value is put together.
struct Fields {
    /// The variable of the function that is the record.
    own: LocalId,
    values: FxHashMap<CompId, Part>,
    parts: usize,
}

#[derive(Clone)]
enum Part {
    Busy,
    /// `None` for a field without a first value.
    Known(Option<Expr>),
}

impl Typer<'_> {
    /// The binding of a variable of a function or of a field of a record. `is_given` for variables that get a value
    /// from the call where all their fields have no other.
    pub(crate) fn local_default(&mut self, component: CompId, ty: &Type, is_given: bool) -> Option<Expr> {
        if let Some(value) = self.own_default(component, ty) {
            return Some(value);
        }
        let (Base::Record(record), Some(&own)) = (&ty.base, self.components.get(&component)) else { return None };
        let mut fields = Fields { own, values: FxHashMap::default(), parts: 0 };
        // The fields of one element of an array read those of the same element.
        let declared = std::mem::replace(&mut self.locals[own].ty, ty.with_rank(0));
        let value = self.record_default(component, record, &mut fields, is_given);
        self.locals[own].ty = declared;
        let value = value?;
        self.for_all_elements(component, value, ty)
    }

    /// The binding that a component has by itself.
    fn own_default(&mut self, component: CompId, ty: &Type) -> Option<Expr> {
        let binding = self.elaborator.instances.component(component).modifier.binding.clone()?;
        let text = binding.expr.as_ref()?;
        let value = self.in_scope(binding.scope, |typer| match (&ty.base, &text.kind) {
            (Base::Function(_), ast::ExprKind::Ref(reference)) => typer.reference_or_function(reference),
            _ => typer.expr(text),
        });
        if value.ty.is_unknown() {
            return Some(value);
        }
        match self.as_record(value.clone(), ty) {
            Some(value) => Some(value),
            None => Some(self.expect(value, ty, "the default value")),
        }
    }

    /// A record without a binding, but with bindings of its fields: `output Complex c(re = a, im = b)`. With `whole` only
    /// where all fields have a value.
    fn record_default(
        &mut self,
        component: CompId,
        record: &Arc<RecordType>,
        fields: &mut Fields,
        whole: bool,
    ) -> Option<Expr> {
        let Ok(ComponentType::Class(class)) = self.elaborator.instances.component_type(component) else { return None };
        let span = self.elaborator.instances.span(component);
        let parts = self.elaborator.instances.components_of(class);
        let mut values = Vec::with_capacity(parts.len());
        for &part in &parts {
            let ty = self.elaborator.component_type(part).ok()?;
            values.push(self.part_default(part, &ty, fields, whole));
        }
        if values.iter().all(Option::is_none) || (whole && values.iter().any(Option::is_none)) {
            return None;
        }
        let mut complete = Vec::with_capacity(parts.len());
        for (&part, value) in parts.iter().zip(values) {
            complete.push(match value {
                Some(value) => value,
                None => self.unset(part, fields)?,
            });
        }
        let variability = highest(&complete);
        let ty = Type::new(Base::Record(record.clone()), 0);
        Some(Expr { kind: Kind::Record(record.clone(), complete), ty, variability, span })
    }

    fn part_default(&mut self, part: CompId, ty: &Type, fields: &mut Fields, whole: bool) -> Option<Expr> {
        match fields.values.get(&part) {
            Some(Part::Known(value)) => return value.clone(),
            Some(Part::Busy) => {
                let path = self.elaborator.instances.path(part);
                let span = self.elaborator.instances.span(part);
                let message = format!("the value of `{path}` depends on itself");
                self.report(
                    Diagnostic::error("cyclic-parameter", message).at(span, "declared here").specification("4.4.4"),
                );
                return Some(wrong(span));
            }
            None => {}
        }
        fields.values.insert(part, Part::Busy);
        let value = stacker::maybe_grow(64 * 1024, 1024 * 1024, || match self.own_default(part, ty) {
            Some(value) => self.with_fields(value, fields),
            None => match &ty.base {
                Base::Record(record) if ty.rank == 0 => self.record_default(part, record, fields, whole),
                _ => None,
            },
        });
        fields.values.insert(part, Part::Known(value.clone()));
        value
    }

    /// The expression with the fields of the record replaced by their values; `None` where one has none.
    fn with_fields(&mut self, value: Expr, fields: &mut Fields) -> Option<Expr> {
        let own = fields.own;
        let mut reads = false;
        walk(&value, &mut |expr| reads |= matches!(expr.kind, Kind::Local(local) if local == own));
        if !reads {
            return Some(value);
        }
        let mut missing = false;
        let value = rewrite(&value, &mut |expr| {
            let path = field_path(expr, own)?;
            let value = self.field_value(&path, fields, expr);
            missing |= value.is_none();
            Some(value.unwrap_or_else(|| wrong(expr.span)))
        });
        if missing {
            return None;
        }
        walk(&value, &mut |_| fields.parts += 1);
        if fields.parts > MOST_PARTS {
            let message = "the fields of this record read each other too often to be put into one value";
            return Some(self.error(value.span, "too-large", message));
        }
        Some(value)
    }

    /// The value of the field that a path of positions leads to.
    fn field_value(&mut self, path: &[u32], fields: &mut Fields, read: &Expr) -> Option<Expr> {
        let component = self.components.iter().find(|(_, local)| **local == fields.own).map(|(&id, _)| id)?;
        let mut current = component;
        for (at, &position) in path.iter().enumerate() {
            let Ok(ComponentType::Class(class)) = self.elaborator.instances.component_type(current) else {
                return None;
            };
            current = *self.elaborator.instances.components_of(class).get(position as usize)?;
            let rest = &path[at + 1..];
            let has_value = self.elaborator.instances.component(current).modifier.binding.is_some();
            if !rest.is_empty() && !has_value {
                continue;
            }
            let ty = self.elaborator.component_type(current).ok()?;
            let mut value = self.part_default(current, &ty, fields, false)?;
            for &position in rest {
                let name = match &value.ty.base {
                    Base::Record(record) => record.fields.get(position as usize)?.name,
                    _ => return Some(value),
                };
                value = self.field(value, ast::Ident { name, span: read.span });
            }
            return Some(value);
        }
        let message = "the value of a record depends on itself";
        Some(self.error(read.span, "cyclic-parameter", message))
    }

    /// What stands in a field without a first value.
    fn unset(&mut self, part: CompId, fields: &mut Fields) -> Option<Expr> {
        let ty = self.elaborator.component_type(part).ok()?;
        let span = self.elaborator.instances.span(part);
        let element = match &ty.base {
            Base::Real | Base::Unknown => literal(Kind::Real(0.0), Type::REAL, span),
            Base::Integer => literal(Kind::Integer(0), Type::INTEGER, span),
            Base::Boolean => literal(Kind::Boolean(false), Type::BOOLEAN, span),
            Base::String => literal(Kind::String(Arc::from("")), Type::STRING, span),
            Base::Enumeration(_) => literal(Kind::Enumeration(1), ty.with_rank(0), span),
            Base::Record(record) => {
                let Ok(ComponentType::Class(class)) = self.elaborator.instances.component_type(part) else {
                    return None;
                };
                let inner = self.elaborator.instances.components_of(class);
                let values = inner.into_iter().map(|field| self.unset(field, fields)).collect::<Option<Vec<_>>>()?;
                Expr {
                    kind: Kind::Record(record.clone(), values),
                    ty: ty.with_rank(0),
                    variability: dae::Variability::Constant,
                    span,
                }
            }
            _ => return None,
        };
        self.filled(part, element, &ty, fields)
    }

    /// An array of equal elements with the declared sizes; `:` and sizes that are not known yet give none.
    fn filled(&mut self, part: CompId, element: Expr, ty: &Type, fields: &mut Fields) -> Option<Expr> {
        if ty.rank == 0 {
            return Some(element);
        }
        let span = element.span;
        let mut arguments = vec![element];
        for size in self.local_sizes(part) {
            let size = size.and_then(|size| self.with_fields(size, fields));
            arguments.push(size.unwrap_or_else(|| literal(Kind::Integer(0), Type::INTEGER, span)));
        }
        let variability = highest(&arguments);
        Some(Expr { kind: Kind::Whole(ArrayFunction::Fill, arguments), ty: ty.clone(), variability, span })
    }

    /// An array of records begins with the same value in all its elements.
    fn for_all_elements(&mut self, component: CompId, value: Expr, ty: &Type) -> Option<Expr> {
        if ty.rank == 0 {
            return Some(value);
        }
        let mut arguments = vec![value];
        for size in self.local_sizes(component) {
            arguments.push(size?);
        }
        let (variability, span) = (highest(&arguments), arguments[0].span);
        Some(Expr { kind: Kind::Whole(ArrayFunction::Fill, arguments), ty: ty.clone(), variability, span })
    }
}

/// The positions of the fields that lead from a variable to this expression; `None` for other expressions.
fn field_path(expr: &Expr, own: LocalId) -> Option<Vec<u32>> {
    match &expr.kind {
        Kind::Local(local) if *local == own => Some(Vec::new()),
        Kind::Field(value, position) => {
            let mut path = field_path(value, own)?;
            path.push(*position);
            Some(path)
        }
        _ => None,
    }
}
