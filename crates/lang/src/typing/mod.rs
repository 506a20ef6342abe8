//! From the text of an expression to a typed one: names found, operators chosen, conversions written out
//! (specification chapters 3, 10 and 12).
//!
//! A mistake is reported once and leaves an expression of unknown type, which fits everywhere.

mod builtins;
mod calls;
mod defaults;
mod names;
mod operators;
mod overload;
mod statements;

pub use builtins::name_here;
pub use calls::{rewrite, walk};
use std::sync::Arc;

use base::{Diagnostic, Name, Span};
use dae::Variability;
use dae::function::LocalId;
use rustc_hash::FxHashMap;
use syntax::ast;

use crate::elaborate::Elaborator;
use crate::instance::{ClassId, CompId};
use crate::record_defaults::Element;
use crate::typed::{Base, Expr, FunctionType, Iterator, Kind, Local, Locals, Reference, Subscript, Type};

/// The longest `a + b + c …`: each operator is one level of a tree, and later stages walk down all of them.
const LONGEST_CHAIN: usize = 200_000;

/// What the text stands in: decides which operators are allowed and what a relation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Context {
    /// Equations, algorithms, declarations of models and blocks.
    Model,
    /// The body of a function.
    Function,
}

/// Types the expressions of one class.
pub struct Typer<'e> {
    pub elaborator: &'e mut Elaborator,
    /// The class instance in whose text the expressions stand.
    pub scope: ClassId,
    pub context: Context,
    /// In initial sections parameters without a value may be computed.
    pub initial: bool,
    /// Inputs of the function, which cannot be assigned.
    pub inputs: Vec<LocalId>,
    /// How many loops and if statements, and whether a when clause, the statement stands in.
    pub(crate) loops: usize,
    pub(crate) branches: usize,
    pub(crate) in_when: bool,
    /// Whether the text holds at all times: an equation or algorithm section that is not initial.
    pub(crate) always: bool,
    /// Inside of `pure(…)`.
    declared_pure: bool,
    /// A call of an impure function in what was typed.
    impure_call: Option<(Name, Span)>,
    /// Operators on connections may name components that are conditional.
    pub(crate) connections: bool,
    /// Variables of the function and iterators.
    pub locals: Locals,
    /// The components of a function class that are variables of the function.
    pub components: FxHashMap<CompId, LocalId>,
    /// The arrays of records of whose elements the first value is put together, outermost first.
    pub(crate) elements: Vec<Element>,
    /// The names of `locals` that are visible, innermost last.
    visible: Vec<(Name, LocalId)>,
    /// Iterators over constants.
    constant_iterators: Vec<LocalId>,
    ends: Vec<End>,
}

/// What `end` means in the subscript that is being typed.
/// Which of several iterators is the outermost: the first in loops, the last in array constructors and reductions (10.4.1).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outermost {
    First,
    Last,
}

enum End {
    Value(Expr, u32),
    Part(Reference, u32),
}

impl<'e> Typer<'e> {
    pub fn new(elaborator: &'e mut Elaborator, scope: ClassId, context: Context) -> Self {
        Self {
            elaborator,
            scope,
            context,
            initial: false,
            inputs: Vec::new(),
            loops: 0,
            branches: 0,
            in_when: false,
            always: false,
            declared_pure: false,
            impure_call: None,
            connections: false,
            locals: Locals::new(),
            components: FxHashMap::default(),
            elements: Vec::new(),
            visible: Vec::new(),
            constant_iterators: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Adds a variable of a function.
    pub fn declare(&mut self, local: Local) -> LocalId {
        let name = local.name;
        let id = self.locals.push(local);
        self.visible.push((name, id));
        id
    }

    /// Types something that stands in the text of another class; iterators are not seen there.
    pub fn in_scope<R>(&mut self, scope: ClassId, inside: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.scope, scope);
        let visible = std::mem::take(&mut self.visible);
        let ends = std::mem::take(&mut self.ends);
        let result = inside(self);
        self.scope = outer;
        self.visible = visible;
        self.ends = ends;
        result
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.elaborator.report(diagnostic);
    }

    pub fn error(&mut self, span: Span, code: &'static str, message: impl Into<String>) -> Expr {
        self.report(Diagnostic::error(code, message).at(span, ""));
        wrong(span)
    }

    pub fn expr(&mut self, text: &ast::Expr) -> Expr {
        // The depth of nesting of the text is the bound of this recursion.
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.expr_inner(text))
    }

    fn expr_inner(&mut self, text: &ast::Expr) -> Expr {
        let span = text.span;
        match &text.kind {
            ast::ExprKind::Real(value) => literal(Kind::Real(*value), Type::REAL, span),
            ast::ExprKind::Integer(value) => literal(Kind::Integer(*value), Type::INTEGER, span),
            ast::ExprKind::Boolean(value) => literal(Kind::Boolean(*value), Type::BOOLEAN, span),
            ast::ExprKind::String(value) => literal(Kind::String(value.clone()), Type::STRING, span),
            ast::ExprKind::Ref(reference) => self.reference(reference),
            ast::ExprKind::End => self.end(span),
            ast::ExprKind::Call { function, arguments } => self.call(function, arguments, span),
            ast::ExprKind::Unary(op, operand) => {
                let operand = self.expr(operand);
                self.unary(*op, operand, span)
            }
            ast::ExprKind::Binary(op, left, right) => self.binary_chain(*op, left, right, span),
            ast::ExprKind::If { branches, otherwise } => self.if_expression(branches, otherwise, span),
            ast::ExprKind::Range { start, step, stop } => self.range(start, step.as_deref(), stop, span),
            ast::ExprKind::Array(elements) => {
                let elements = elements.iter().map(|element| self.expr(element)).collect();
                self.array(elements, span)
            }
            ast::ExprKind::ArrayFor { element, iterators } => self.array_for(element, iterators, span),
            ast::ExprKind::Matrix(rows) => self.matrix(rows, span),
            ast::ExprKind::Tuple(items) => self.tuple(items, span),
            ast::ExprKind::Subscripted(value, subscripts) => {
                let value = self.expr(value);
                self.index(value, subscripts, span)
            }
            ast::ExprKind::Field(value, name) => self.part_of_value(value, *name),
            ast::ExprKind::Error => wrong(span),
        }
    }

    /// Long sums are left-leaning trees; they are taken from the left without recursion.
    fn binary_chain(&mut self, op: ast::BinaryOp, left: &ast::Expr, right: &ast::Expr, span: Span) -> Expr {
        let mut rest = vec![(op, right, span)];
        let mut first = left;
        while let ast::ExprKind::Binary(op, left, right) = &first.kind {
            rest.push((*op, right, first.span));
            first = left;
        }
        if rest.len() > LONGEST_CHAIN {
            let message = format!("an expression of more than {LONGEST_CHAIN} operators in a row is not supported");
            let hint = "write `sum` or `product` of an array, or parts of it as variables of their own";
            self.report(Diagnostic::error("too-large", message).at(span, "").hint(hint));
            return wrong(span);
        }
        let mut value = self.expr(first);
        while let Some((op, right, span)) = rest.pop() {
            let right = self.expr(right);
            value = self.binary(op, value, right, span);
        }
        value
    }

    fn end(&mut self, span: Span) -> Expr {
        let (kind, array) = match self.ends.last() {
            Some(End::Value(value, dimension)) => {
                (Kind::SizeOf(Box::new(value.clone()), *dimension), value.variability)
            }
            Some(End::Part(reference, dimension)) => {
                let component = reference.steps.last().map(|step| step.component);
                let own = component.map(|component| self.elaborator.instances.variability(component));
                let is_constant = own == Some(ast::Variability::Constant);
                let own = if is_constant { Variability::Constant } else { Variability::Parameter };
                (Kind::SizeOfPart(Box::new(reference.clone()), *dimension), own)
            }
            None => return self.error(span, "misplaced-end", "`end` has a meaning only inside subscripts"),
        };
        // The size of a constant is one, and no size ever changes.
        Expr { kind, ty: Type::INTEGER, variability: array.min(Variability::Parameter), span }
    }

    fn if_expression(&mut self, branches: &[(ast::Expr, ast::Expr)], otherwise: &ast::Expr, span: Span) -> Expr {
        let mut typed = Vec::with_capacity(branches.len());
        for (condition, value) in branches {
            let condition = self.condition(condition);
            typed.push((condition, self.expr(value)));
        }
        let mut result = self.expr(otherwise);
        for (condition, value) in typed.into_iter().rev() {
            result = self.choose(condition, value, result, span);
        }
        result
    }

    fn choose(&mut self, condition: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr {
        let Some(ty) = unify(&then.ty, &otherwise.ty) else {
            // Branches of different sizes or ranks are allowed where the condition is known at translation.
            if condition.variability <= Variability::Parameter && then.ty.rank != otherwise.ty.rank {
                let ty = then.ty.clone();
                let variability = then.variability.max(otherwise.variability);
                let kind = Kind::If(Box::new(condition), Box::new(then), Box::new(otherwise));
                return Expr { kind, ty, variability, span };
            }
            let diagnostic = Diagnostic::error(
                "type-mismatch",
                format!("the branches have the types `{}` and `{}`", then.ty.text(), otherwise.ty.text()),
            )
            .at(then.span, format!("this is `{}`", then.ty.text()))
            .at(otherwise.span, format!("this is `{}`", otherwise.ty.text()))
            .specification("3.6.5");
            self.report(diagnostic);
            return wrong(span);
        };
        let (then, otherwise) = (convert(then, &ty), convert(otherwise, &ty));
        let variability = condition.variability.max(then.variability).max(otherwise.variability);
        let kind = Kind::If(Box::new(condition), Box::new(then), Box::new(otherwise));
        Expr { kind, ty, variability, span }
    }

    /// A scalar Boolean.
    pub fn condition(&mut self, text: &ast::Expr) -> Expr {
        let condition = self.expr(text);
        self.expect(condition, &Type::BOOLEAN, "a condition")
    }

    /// The value converted to a type, or a message that names both.
    pub fn expect(&mut self, value: Expr, ty: &Type, what: &str) -> Expr {
        if fits(&value.ty, ty) {
            return convert(value, ty);
        }
        let message = format!("{what} must be of type `{}`, not `{}`", ty.text(), value.ty.text());
        self.error(value.span, "type-mismatch", message)
    }

    fn range(&mut self, start: &ast::Expr, step: Option<&ast::Expr>, stop: &ast::Expr, span: Span) -> Expr {
        let start = self.expr(start);
        let step = step.map(|step| self.expr(step));
        let stop = self.expr(stop);
        let mut ty = unify(&start.ty, &stop.ty);
        if let Some(step) = &step {
            ty = ty.and_then(|ty| unify(&ty, &step.ty));
        }
        let scalar = [Some(&start), step.as_ref(), Some(&stop)].into_iter().flatten().all(|e| e.ty.is_scalar());
        let Some(ty) = ty.filter(|ty| {
            scalar
                && match ty.base {
                    Base::Real | Base::Integer | Base::Unknown => true,
                    Base::Boolean | Base::Enumeration(_) => step.is_none(),
                    _ => false,
                }
        }) else {
            let message =
                format!("a range needs scalars of one type, not `{}` and `{}`", start.ty.text(), stop.ty.text());
            return self.error(span, "type-mismatch", message);
        };
        let variability = start.variability.max(stop.variability);
        let (start, stop) = (convert(start, &ty), convert(stop, &ty));
        let step = step.map(|step| Box::new(convert(step, &ty)));
        Expr { kind: Kind::Range(Box::new(start), step, Box::new(stop)), ty: ty.with_rank(1), variability, span }
    }

    pub fn array(&mut self, elements: Vec<Expr>, span: Span) -> Expr {
        let Some(first) = elements.first() else {
            return self.error(span, "empty-array", "an array constructor needs at least one element");
        };
        let mut ty = first.ty.clone();
        let first_span = first.span;
        for element in &elements {
            match unify(&ty, &element.ty) {
                Some(both) => ty = both,
                None => {
                    let diagnostic = Diagnostic::error(
                        "type-mismatch",
                        format!("the elements have the types `{}` and `{}`", ty.text(), element.ty.text()),
                    )
                    .at(element.span, format!("this is `{}`", element.ty.text()))
                    .at(first_span, format!("this is `{}`", ty.text()))
                    .specification("10.4");
                    self.report(diagnostic);
                    return wrong(span);
                }
            }
        }
        let variability = highest(&elements);
        let elements = elements.into_iter().map(|element| convert(element, &ty)).collect();
        Expr { kind: Kind::Array(elements), ty: ty.with_rank(ty.rank + 1), variability, span }
    }

    fn array_for(&mut self, element: &ast::Expr, iterators: &[ast::Iterator], span: Span) -> Expr {
        let (element, iterators) =
            self.with_iterators(iterators, Outermost::Last, &[element], |typer| typer.expr(element));
        let ty = element.ty.with_rank(element.ty.rank + iterators.len());
        let variability = highest_of(iterators.iter().map(|iterator| &iterator.range)).max(element.variability);
        Expr { kind: Kind::ArrayFor { element: Box::new(element), iterators }, ty, variability, span }
    }

    /// Types the ranges, makes the iterators visible while `inside` runs, and hides them again.
    pub fn with_iterators<R>(
        &mut self,
        iterators: &[ast::Iterator],
        outermost: Outermost,
        used_in: &[&ast::Expr],
        inside: impl FnOnce(&mut Self) -> R,
    ) -> (R, Vec<Iterator>) {
        let depth = self.visible.len();
        let mut typed = Vec::with_capacity(iterators.len());
        // The ranges of inner iterators see the outer ones.
        let mut order: Vec<&ast::Iterator> = iterators.iter().collect();
        if outermost == Outermost::Last {
            order.reverse();
        }
        for iterator in order {
            let range = match &iterator.range {
                Some(range) => self.iterator_range(range),
                None => self.deduced_range(iterator, used_in),
            };
            let ty = range.ty.with_rank(range.ty.rank.saturating_sub(1));
            let local = self.declare(Local {
                name: iterator.name.name,
                ty,
                sizes: Vec::new(),
                default: None,
                span: iterator.name.span,
            });
            if range.variability == Variability::Constant {
                self.constant_iterators.push(local);
            }
            typed.push(Iterator { local, range });
        }
        if outermost == Outermost::Last {
            typed.reverse();
        }
        let result = inside(self);
        self.visible.truncate(depth);
        (result, typed)
    }

    /// A vector; the name of an enumeration or `Boolean` stands for all its values (11.2.2.2).
    fn iterator_range(&mut self, text: &ast::Expr) -> Expr {
        let range = self.values(text);
        if range.ty.rank != 1 && !range.ty.is_unknown() {
            let message = format!("an iterator runs over a vector, not over `{}`", range.ty.text());
            return self.error(text.span, "type-mismatch", message);
        }
        range
    }

    fn matrix(&mut self, rows: &[Vec<ast::Expr>], span: Span) -> Expr {
        let rows: Vec<Vec<Expr>> =
            rows.iter().map(|row| row.iter().map(|element| self.expr(element)).collect()).collect();
        let mut ty: Option<Type> = None;
        let mut rank = 2;
        for element in rows.iter().flatten() {
            rank = rank.max(element.ty.rank);
            let base = element.ty.with_rank(0);
            ty = match ty {
                None => Some(base),
                Some(known) => match unify(&known, &base) {
                    Some(both) => Some(both),
                    None => {
                        let message = format!("the elements have the types `{}` and `{}`", known.text(), base.text());
                        return self.error(element.span, "type-mismatch", message);
                    }
                },
            };
        }
        let Some(ty) = ty else {
            return self.error(span, "empty-array", "a matrix constructor needs at least one element");
        };
        let variability = highest_of(rows.iter().flatten());
        let rows = rows
            .into_iter()
            .map(|row| {
                row.into_iter()
                    .map(|element| {
                        let ty = ty.with_rank(element.ty.rank);
                        convert(element, &ty)
                    })
                    .collect()
            })
            .collect();
        Expr { kind: Kind::Matrix(rows), ty: ty.with_rank(rank), variability, span }
    }

    fn tuple(&mut self, items: &[Option<ast::Expr>], span: Span) -> Expr {
        if let [Some(only)] = items {
            return self.expr(only);
        }
        self.error(span, "misplaced-tuple", "a list in parentheses may only stand left of a function call")
    }

    /// The subscripts of a value.
    pub fn index(&mut self, value: Expr, subscripts: &[ast::Subscript], span: Span) -> Expr {
        self.index_field(value, 0, subscripts, span)
    }

    /// The subscripts at a field of an array of records with `outer` dimensions: they belong to the field.
    pub fn index_field(&mut self, value: Expr, outer: usize, subscripts: &[ast::Subscript], span: Span) -> Expr {
        if subscripts.is_empty() || value.ty.is_unknown() {
            return value;
        }
        if outer + subscripts.len() > value.ty.rank {
            let own = value.ty.with_rank(value.ty.rank - outer);
            let message = format!("{} subscripts on a value of type `{}`", subscripts.len(), own.text());
            return self.error(span, "too-many-subscripts", message);
        }
        let mut typed = vec![Subscript::All; outer];
        for (dimension, subscript) in subscripts.iter().enumerate() {
            self.ends.push(End::Value(value.clone(), (outer + dimension) as u32));
            typed.push(self.subscript(subscript));
            self.ends.pop();
        }
        let ty = value.ty.with_rank(value.ty.rank - dropped(&typed));
        let variability = typed.iter().fold(value.variability, |v, s| v.max(subscript_variability(s)));
        Expr { kind: Kind::Index(Box::new(value), typed), ty, variability, span }
    }

    fn subscript(&mut self, subscript: &ast::Subscript) -> Subscript {
        let text = match subscript {
            ast::Subscript::All(_) => return Subscript::All,
            ast::Subscript::Expr(text) => text,
        };
        let typed = self.values(text);
        let right = matches!(typed.ty.base, Base::Integer | Base::Boolean | Base::Enumeration(_) | Base::Unknown);
        if !right || typed.ty.rank > 1 {
            let message = format!(
                "a subscript must be an Integer, a Boolean, an enumeration value or a vector of them, not `{}`",
                typed.ty.text()
            );
            return Subscript::Expr(self.error(text.span, "type-mismatch", message));
        }
        Subscript::Expr(typed)
    }
}

/// How many dimensions scalar subscripts take away.
pub fn dropped(subscripts: &[Subscript]) -> usize {
    subscripts.iter().filter(|s| matches!(s, Subscript::Expr(e) if e.ty.is_scalar())).count()
}

pub fn subscript_variability(subscript: &Subscript) -> Variability {
    match subscript {
        Subscript::All => Variability::Constant,
        Subscript::Expr(expr) => expr.variability,
    }
}

pub fn literal(kind: Kind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, variability: Variability::Constant, span }
}

/// What stands for an expression that was reported.
pub fn wrong(span: Span) -> Expr {
    Expr { kind: Kind::Error, ty: Type::UNKNOWN, variability: Variability::Constant, span }
}

pub fn highest(exprs: &[Expr]) -> Variability {
    highest_of(exprs.iter())
}

pub fn highest_of<'a>(exprs: impl std::iter::Iterator<Item = &'a Expr>) -> Variability {
    exprs.map(|expr| expr.variability).max().unwrap_or(Variability::Constant)
}

/// The type that both convert to, if there is one (6.7).
pub fn unify(a: &Type, b: &Type) -> Option<Type> {
    if a.is_unknown() {
        return Some(b.clone());
    }
    if b.is_unknown() {
        return Some(a.clone());
    }
    if a.rank != b.rank {
        return None;
    }
    match (&a.base, &b.base) {
        (Base::Integer, Base::Real) | (Base::Real, Base::Integer) => Some(Type::new(Base::Real, a.rank)),
        (x, y) if x == y => Some(a.clone()),
        (Base::Record(x), Base::Record(y)) => {
            let same = x.operator == y.operator
                && x.fields.len() == y.fields.len()
                && x.fields.iter().all(|f| y.field(f.name).is_some_and(|at| unify(&f.ty, &y.fields[at].ty).is_some()));
            same.then(|| a.clone())
        }
        _ => None,
    }
}

/// Whether a value of one type may stand where another is wanted.
pub fn fits(value: &Type, wanted: &Type) -> bool {
    if value.is_unknown() || wanted.is_unknown() {
        return true;
    }
    if value.rank != wanted.rank {
        return false;
    }
    match (&value.base, &wanted.base) {
        (Base::Integer, Base::Real) => true,
        (x, y) if x == y => true,
        (Base::Record(x), Base::Record(y)) => {
            x.operator == y.operator
                && y.fields.iter().all(|f| x.field(f.name).is_some_and(|at| fits(&x.fields[at].ty, &f.ty)))
        }
        (Base::Function(given), Base::Function(wanted)) => takes_the_place(given, wanted),
        (Base::Tuple(items), _) => items.first().is_some_and(|first| fits(first, wanted)),
        _ => false,
    }
}

/// Whether a function may be called in place of another (6.6): it has the same inputs and outputs, in order, and perhaps more.
fn takes_the_place(given: &FunctionType, wanted: &FunctionType) -> bool {
    let are_same = |given: &[(Name, Type)], wanted: &[(Name, Type)]| {
        given.len() >= wanted.len()
            && given.iter().zip(wanted).all(|((_, given), (_, wanted))| fits(given, wanted) && fits(wanted, given))
    };
    are_same(&given.inputs, &wanted.inputs) && are_same(&given.outputs, &wanted.outputs)
}

/// The value as one of the wanted type, which it fits. Only numbers, records and the first of several results change.
pub fn convert(value: Expr, wanted: &Type) -> Expr {
    match (&value.ty.base, &wanted.base) {
        (Base::Integer, Base::Real) => to_real(value),
        (Base::Record(from), Base::Record(to)) if !Arc::ptr_eq(from, to) => {
            let order: Vec<u32> =
                to.fields.iter().filter_map(|field| from.field(field.name).map(|at| at as u32)).collect();
            let plain =
                from.fields.len() == to.fields.len() && order.iter().enumerate().all(|(k, &at)| k == at as usize);
            if plain {
                return value;
            }
            let (variability, span) = (value.variability, value.span);
            let ty = Type::new(wanted.base.clone(), value.ty.rank);
            Expr { kind: Kind::Reorder(Box::new(value), order), ty, variability, span }
        }
        (Base::Tuple(_), _) if !matches!(wanted.base, Base::Tuple(_)) => convert(first_output(value), wanted),
        _ => value,
    }
}

/// The first result of a call with several, as the value of an expression.
pub fn first_output(value: Expr) -> Expr {
    let Base::Tuple(items) = &value.ty.base else { return value };
    let Some(ty) = items.first().cloned() else { return value };
    let (variability, span) = (value.variability, value.span);
    Expr { kind: Kind::Output(Box::new(value), 0), ty, variability, span }
}

pub fn to_real(value: Expr) -> Expr {
    match (&value.ty.base, &value.kind) {
        (Base::Integer, Kind::Integer(number)) => Expr { kind: Kind::Real(*number as f64), ty: Type::REAL, ..value },
        (Base::Integer, _) => {
            let (ty, variability, span) = (Type::new(Base::Real, value.ty.rank), value.variability, value.span);
            Expr { kind: Kind::ToReal(Box::new(value)), ty, variability, span }
        }
        _ => value,
    }
}
