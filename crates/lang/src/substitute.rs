//! Replaces iterators of loops and `end` by their values in the text of an expression.

use base::Name;
use std::sync::Arc;
use syntax::ast;

/// The value of an iterator.
#[derive(Clone, Debug)]
pub struct Iteration {
    pub name: Name,
    /// As a subscript, from 1.
    pub position: i64,
    /// As it would be written: Integer, Boolean or a literal of an enumeration.
    pub text: ast::ExprKind,
}

/// The expression with the iterators (innermost last) replaced by their values, and `end` by `size` where it is given;
/// `end` inside the subscripts of an array that the expression names is left alone.
pub fn substitute(expr: &ast::Expr, iterators: &[Iteration], size: Option<usize>) -> ast::Expr {
    if iterators.is_empty() && size.is_none() {
        return expr.clone();
    }
    Substitution { iterators, size }.expr(expr)
}

#[derive(Clone, Copy)]
struct Substitution<'a> {
    iterators: &'a [Iteration],
    size: Option<usize>,
}

impl Substitution<'_> {
    fn expr(self, expr: &ast::Expr) -> ast::Expr {
        // The depth of nesting of the text is the bound of this recursion.
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || ast::Expr { kind: self.kind(expr), span: expr.span })
    }

    fn boxed(self, expr: &ast::Expr) -> Box<ast::Expr> {
        Box::new(self.expr(expr))
    }

    fn kind(self, expr: &ast::Expr) -> ast::ExprKind {
        use ast::ExprKind::*;
        match &expr.kind {
            End => self.size.map_or(End, |size| Integer(size as i64)),
            Ref(reference) => match self.value(reference) {
                Some(value) => value.text.clone(),
                None => Ref(self.reference(reference)),
            },
            Call { function, arguments } => {
                Call { function: self.reference(function), arguments: self.arguments(arguments) }
            }
            Unary(op, a) => Unary(*op, self.boxed(a)),
            Binary(op, a, b) => Binary(*op, self.boxed(a), self.boxed(b)),
            If { branches, otherwise } => If {
                branches: branches.iter().map(|(condition, value)| (self.expr(condition), self.expr(value))).collect(),
                otherwise: self.boxed(otherwise),
            },
            Range { start, step, stop } => Range {
                start: self.boxed(start),
                step: step.as_ref().map(|step| self.boxed(step)),
                stop: self.boxed(stop),
            },
            Array(items) => Array(items.iter().map(|item| self.expr(item)).collect()),
            ArrayFor { element, iterators } => {
                ArrayFor { element: self.boxed(element), iterators: self.ranges(iterators) }
            }
            Matrix(rows) => Matrix(rows.iter().map(|row| row.iter().map(|item| self.expr(item)).collect()).collect()),
            Tuple(items) => Tuple(items.iter().map(|item| item.as_ref().map(|item| self.expr(item))).collect()),
            Subscripted(value, subscripts) => Subscripted(self.boxed(value), self.subscripts(subscripts)),
            Field(value, name) => Field(self.boxed(value), *name),
            Real(_) | Integer(_) | String(_) | Boolean(_) | Error => expr.kind.clone(),
        }
    }

    fn value(&self, reference: &ast::ComponentRef) -> Option<&Iteration> {
        match reference.parts.as_slice() {
            [part] if part.subscripts.is_empty() && !reference.global => {
                self.iterators.iter().rev().find(|iteration| iteration.name == part.ident.name)
            }
            _ => None,
        }
    }

    fn reference(self, reference: &ast::ComponentRef) -> ast::ComponentRef {
        let parts = reference
            .parts
            .iter()
            .map(|part| ast::RefPart { ident: part.ident, subscripts: self.subscripts(&part.subscripts) })
            .collect();
        ast::ComponentRef { global: reference.global, parts, span: reference.span }
    }

    fn subscripts(self, subscripts: &[ast::Subscript]) -> Vec<ast::Subscript> {
        let inner = Self { size: None, ..self };
        subscripts
            .iter()
            .map(|subscript| match subscript {
                ast::Subscript::Expr(expr) => ast::Subscript::Expr(Arc::new(inner.expr(expr))),
                all => all.clone(),
            })
            .collect()
    }

    fn ranges(self, iterators: &[ast::Iterator]) -> Vec<ast::Iterator> {
        iterators
            .iter()
            .map(|iterator| ast::Iterator {
                name: iterator.name,
                range: iterator.range.as_ref().map(|range| self.expr(range)),
            })
            .collect()
    }

    fn arguments(self, arguments: &ast::Arguments) -> ast::Arguments {
        let argument = |argument: &ast::FunctionArgument| match argument {
            ast::FunctionArgument::Expr(expr) => ast::FunctionArgument::Expr(self.expr(expr)),
            other => other.clone(),
        };
        ast::Arguments {
            positional: arguments.positional.iter().map(argument).collect(),
            named: arguments.named.iter().map(|(name, value)| (*name, argument(value))).collect(),
            iterators: self.ranges(&arguments.iterators),
        }
    }
}
