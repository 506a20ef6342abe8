//! The first value of a record in a function (12.2): the bindings of its fields, also those that read other fields of it.
//!
//! The value of the whole record is one expression. A field that another one reads is therefore replaced by its own
//! binding. Fields without a binding have no value until they are assigned.

use std::sync::Arc;

use base::{Diagnostic, Id, Name};
use dae::Variability;
use dae::expr::CompareOp;
use dae::function::{ArrayFunction, LocalId};
use rustc_hash::FxHashMap;
use syntax::ast;

use crate::instance::{CompId, ComponentType};
use crate::modifier::Binding;
use crate::typed::{Base, Expr, Iterator, Kind, Local, RecordType, Subscript, Type};
use crate::typing::{Typer, convert, fits, highest, literal, rewrite, walk, wrong};

/// More parts than this in the value of one record come from fields that read each other over and over.
const MOST_PARTS: usize = 100_000;

/// The first of the numbers that stand for elements of arrays and their iterators while values are put together; no function
/// has that many variables.
const FIRST_PLACEHOLDER: usize = 1 << 30;

/// What is known about the fields of one record while its value is put together.
struct Fields {
    /// The record: a variable of the function, or a field that is an array of records.
    component: CompId,
    /// What stands for the record in the bindings of its fields: the variable, or one element of the array.
    own: LocalId,
    values: FxHashMap<CompId, Part>,
    parts: usize,
}

/// One element of an array of records whose fields get their values.
pub(crate) struct Element {
    pub component: CompId,
    /// What stands for the element in the text of its own class.
    pub own: LocalId,
    pub ty: Type,
    sizes: Vec<Expr>,
    /// Its number in each dimension.
    iterators: Vec<LocalId>,
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
        if ty.rank > 0 {
            return self.array_default(component, record, ty, is_given);
        }
        let mut fields = Fields { component, own, values: FxHashMap::default(), parts: 0 };
        self.record_default(component, record, &mut fields, is_given)
    }

    /// An array of records without a binding: the value of each element, from the bindings of its fields.
    fn array_default(&mut self, component: CompId, record: &Arc<RecordType>, ty: &Type, whole: bool) -> Option<Expr> {
        let sizes = self.local_sizes(component).into_iter().collect::<Option<Vec<Expr>>>()?;
        let first =
            self.elements.last().map_or(FIRST_PLACEHOLDER, |outer| outer.own.index() + 1 + outer.iterators.len());
        let own = LocalId::from_index(first);
        let iterators: Vec<LocalId> = (1..=sizes.len()).map(|at| LocalId::from_index(first + at)).collect();
        let element =
            Element { component, own, ty: ty.with_rank(0), sizes: sizes.clone(), iterators: iterators.clone() };
        self.elements.push(element);
        let mut fields = Fields { component, own, values: FxHashMap::default(), parts: 0 };
        let value = self.record_default(component, record, &mut fields, whole);
        self.elements.pop();
        Some(self.all_elements(value?, sizes, &iterators, ty))
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
        let value = match self.of_element(&binding, component, ty, value) {
            Ok(value) => return Some(value),
            Err(value) => value,
        };
        match self.as_record(value.clone(), ty) {
            Some(value) => Some(value),
            None => Some(self.expect(value, ty, "the default value")),
        }
    }

    /// The part of the value of a modifier that belongs to the element of the arrays of records around the component
    /// (7.2.5); the value itself where it is not taken apart.
    fn of_element(&mut self, binding: &Binding, component: CompId, ty: &Type, value: Expr) -> Result<Expr, Expr> {
        if self.elements.is_empty() {
            return Err(value);
        }
        let wanted = self.elaborator.wanted(binding, component, Name::new(""), ty);
        let mut dimensions = Vec::new();
        for (id, rank) in wanted.arrays {
            if let Some(element) = self.elements.iter().find(|element| element.component == id) {
                let own = element.iterators.len().saturating_sub(rank);
                dimensions.extend(element.iterators[own..].iter().copied().zip(element.sizes[own..].iter().cloned()));
            }
        }
        let split = dimensions.len();
        if split == 0 {
            return Err(value);
        }
        if value.ty.rank != ty.rank + split || !fits(&value.ty.with_rank(0), &ty.with_rank(0)) {
            if value.ty.rank == 0 && ty.rank == 0 && fits(&value.ty, ty) {
                self.elaborator.warn_of_missing_each(binding, component, Name::new(""));
                return Err(value);
            }
            let diagnostic =
                self.elaborator.wrong_type(binding, component, Name::new(""), ty, (ty.rank, split), &value);
            self.report(diagnostic);
            return Ok(wrong(value.span));
        }
        let value = convert(value, &ty.with_rank(ty.rank + split));
        let mut subscripts = Vec::with_capacity(split);
        for (dimension, (iterator, size)) in dimensions.into_iter().enumerate() {
            match self.subscript_of_element(&value, dimension, iterator, size) {
                Some(subscript) => subscripts.push(Subscript::Expr(subscript)),
                None => {
                    let path = self.elaborator.instances.path(component);
                    let message =
                        format!("the modifier of `{path}` has not as many elements as the array of records around it");
                    let declared = self.elaborator.instances.span(component);
                    let diagnostic = Diagnostic::error("size-mismatch", message)
                        .at(binding.span, "this is the modifier")
                        .at(declared, "for this component")
                        .hint("give one value for each element, or write `each` before a value that holds for all")
                        .specification("7.2.5");
                    self.report(diagnostic);
                    return Ok(wrong(value.span));
                }
            }
        }
        let (variability, span) = (value.variability, value.span);
        Ok(Expr { kind: Kind::Index(Box::new(value), subscripts), ty: ty.clone(), variability, span })
    }

    /// The number of the element in one dimension of the value; `None` where the value is known to have another size. Where
    /// sizes are found at run time only, another one makes the subscript invalid.
    fn subscript_of_element(&self, value: &Expr, dimension: usize, iterator: LocalId, size: Expr) -> Option<Expr> {
        let (variability, span) = (Variability::Continuous, value.span);
        let own = Expr { kind: Kind::Local(iterator), ty: Type::INTEGER, variability, span };
        if let (Some(found), Kind::Integer(declared)) = (known_size(value, dimension), &size.kind) {
            return (found as i64 == *declared).then_some(own);
        }
        let number = |value: i64| literal(Kind::Integer(value), Type::INTEGER, span);
        let found = Kind::Whole(ArrayFunction::Size, vec![value.clone(), number(dimension as i64 + 1)]);
        let found = Expr { kind: found, ty: Type::INTEGER, variability, span };
        let equal = Kind::Compare(CompareOp::Equal, Box::new(found), Box::new(size));
        let equal = Expr { kind: equal, ty: Type::BOOLEAN, variability, span };
        let kind = Kind::If(Box::new(equal), Box::new(own), Box::new(number(0)));
        Some(Expr { kind, ty: Type::INTEGER, variability, span })
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
                Base::Record(record) => {
                    let value = self.array_default(part, record, ty, whole);
                    value.and_then(|value| self.with_fields(value, fields))
                }
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
        let mut current = fields.component;
        for (at, &position) in path.iter().enumerate() {
            let Ok(ComponentType::Class(class)) = self.elaborator.instances.component_type(current) else {
                return None;
            };
            current = *self.elaborator.instances.components_of(class).get(position as usize)?;
            let rest = &path[at + 1..];
            let has_value = self.elaborator.instances.component(current).modifier.binding.is_some();
            let ty = self.elaborator.component_type(current).ok()?;
            // What is below an array of records is a part of all its elements.
            if !rest.is_empty() && !has_value && ty.rank == 0 {
                continue;
            }
            let mut value = self.part_default(current, &ty, fields, false)?;
            for &position in rest {
                value = match (&value.kind, &value.ty.base) {
                    (Kind::Record(_, parts), _) => parts.get(position as usize)?.clone(),
                    (_, Base::Record(record)) => {
                        let name = record.fields.get(position as usize)?.name;
                        self.field(value, ast::Ident { name, span: read.span })
                    }
                    _ => return Some(value),
                };
            }
            return (!is_unset(&value)).then_some(value);
        }
        let message = "the value of a record depends on itself";
        Some(self.error(read.span, "cyclic-parameter", message))
    }

    /// What stands in a field without a first value.
    fn unset(&mut self, part: CompId, fields: &mut Fields) -> Option<Expr> {
        let ty = self.elaborator.component_type(part).ok()?;
        let span = self.elaborator.instances.span(part);
        let element = match &ty.base {
            Base::Real | Base::Integer | Base::Boolean | Base::String | Base::Enumeration(_) => {
                literal(Kind::Unset, ty.with_rank(0), span)
            }
            Base::Unknown => wrong(span),
            Base::Record(record) => {
                let Ok(ComponentType::Class(class)) = self.elaborator.instances.component_type(part) else {
                    return None;
                };
                let inner = self.elaborator.instances.components_of(class);
                let values = inner.into_iter().map(|field| self.unset(field, fields)).collect::<Option<Vec<_>>>()?;
                Expr {
                    kind: Kind::Record(record.clone(), values),
                    ty: ty.with_rank(0),
                    variability: Variability::Constant,
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

    /// An array of records from the value of one element, over the numbers of the element.
    fn all_elements(&mut self, value: Expr, sizes: Vec<Expr>, placeholders: &[LocalId], ty: &Type) -> Expr {
        let (span, ty) = (value.span, ty.clone());
        let mut varies = false;
        walk(&value, &mut |expr| varies |= matches!(expr.kind, Kind::Local(local) if placeholders.contains(&local)));
        let variability = highest(std::slice::from_ref(&value)).max(highest(&sizes));
        if !varies {
            let arguments = std::iter::once(value).chain(sizes).collect();
            return Expr { kind: Kind::Whole(ArrayFunction::Fill, arguments), ty, variability, span };
        }
        let mut iterators = Vec::with_capacity(sizes.len());
        for size in sizes {
            let (one, variability) = (literal(Kind::Integer(1), Type::INTEGER, span), size.variability);
            let kind = Kind::Range(Box::new(one), None, Box::new(size));
            let range = Expr { kind, ty: Type::INTEGER.with_rank(1), variability, span };
            let name = self.fresh_name();
            let local = Local { name, ty: Type::INTEGER, sizes: Vec::new(), default: None, span };
            iterators.push(Iterator { local: self.locals.push(local), range });
        }
        let value = rewrite(&value, &mut |expr| match expr.kind {
            Kind::Local(local) => {
                let at = placeholders.iter().position(|&placeholder| placeholder == local)?;
                Some(Expr { kind: Kind::Local(iterators[at].local), ..expr.clone() })
            }
            _ => None,
        });
        // The last iterator is the outermost dimension.
        iterators.reverse();
        Expr { kind: Kind::ArrayFor { element: Box::new(value), iterators }, ty, variability, span }
    }

    /// A name for an iterator that no variable of the function has.
    fn fresh_name(&self) -> Name {
        let mut number = 0;
        loop {
            let name = if number == 0 { Name::new("i") } else { Name::new(&format!("i{number}")) };
            if self.locals.iter().all(|(_, local)| local.name != name) {
                return name;
            }
            number += 1;
        }
    }
}

/// Whether it is a field without a first value.
fn is_unset(value: &Expr) -> bool {
    match &value.kind {
        Kind::Unset => true,
        Kind::Whole(ArrayFunction::Fill, arguments) => arguments.first().is_some_and(is_unset),
        _ => false,
    }
}

/// The size of an array that is written element by element.
fn known_size(value: &Expr, dimension: usize) -> Option<usize> {
    match &value.kind {
        Kind::ToReal(value) => known_size(value, dimension),
        Kind::Array(items) if dimension == 0 => Some(items.len()),
        Kind::Array(items) => known_size(items.first()?, dimension - 1),
        _ => None,
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
