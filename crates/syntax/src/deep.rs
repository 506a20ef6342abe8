//! Recursion that follows the nesting of the text must not depend on the size of the thread's stack.
//!
//! The parser, the lowering and the printer call themselves through [`deep`], which moves on to a fresh piece of stack when
//! the present one is nearly used up. The recursive types of the abstract syntax are dropped, copied and shown the same way.

use std::fmt;

use crate::ast::{
    ClassBody, ClassDef, ClassModification, Equation, EquationKind, Expr, ExprKind, Statement, StatementKind,
};

/// What a recursion may use between two calls of [`deep`].
const RED_ZONE: usize = 64 * 1024;
const PIECE: usize = 1024 * 1024;

/// Runs one step of a recursion with enough stack.
#[inline]
pub fn deep<R>(step: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, PIECE, step)
}

impl ExprKind {
    fn is_leaf(&self) -> bool {
        match self {
            Self::Real(_) | Self::Integer(_) | Self::String(_) | Self::Boolean(_) | Self::End | Self::Error => true,
            Self::Ref(reference) => reference.parts.iter().all(|part| part.subscripts.is_empty()),
            _ => false,
        }
    }
}

impl Drop for Expr {
    fn drop(&mut self) {
        if !self.kind.is_leaf() {
            let kind = std::mem::replace(&mut self.kind, ExprKind::End);
            deep(|| drop(kind));
        }
    }
}

impl Clone for Expr {
    fn clone(&self) -> Self {
        deep(|| Self { kind: self.kind.clone(), span: self.span })
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        deep(|| f.debug_struct("Expr").field("kind", &self.kind).field("span", &self.span).finish())
    }
}

impl Drop for Equation {
    fn drop(&mut self) {
        let kind = std::mem::replace(&mut self.kind, EquationKind::When { branches: Vec::new() });
        deep(|| drop(kind));
    }
}

impl Clone for Equation {
    fn clone(&self) -> Self {
        deep(|| Self {
            kind: self.kind.clone(),
            description: self.description.clone(),
            annotation: self.annotation.clone(),
            span: self.span,
        })
    }
}

impl fmt::Debug for Equation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        deep(|| {
            f.debug_struct("Equation")
                .field("kind", &self.kind)
                .field("description", &self.description)
                .field("annotation", &self.annotation)
                .field("span", &self.span)
                .finish()
        })
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        let kind = std::mem::replace(&mut self.kind, StatementKind::Return);
        deep(|| drop(kind));
    }
}

impl Clone for Statement {
    fn clone(&self) -> Self {
        deep(|| Self { kind: self.kind.clone(), span: self.span })
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        deep(|| f.debug_struct("Statement").field("kind", &self.kind).field("span", &self.span).finish())
    }
}

impl Drop for ClassDef {
    fn drop(&mut self) {
        let body = std::mem::replace(&mut self.body, ClassBody::Enumeration(None));
        deep(|| drop(body));
    }
}

impl fmt::Debug for ClassDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        deep(|| {
            f.debug_struct("ClassDef")
                .field("name", &self.name)
                .field("kind", &self.kind)
                .field("purity", &self.purity)
                .field("encapsulated", &self.encapsulated)
                .field("partial", &self.partial)
                .field("prefixes", &self.prefixes)
                .field("body", &self.body)
                .field("constraint", &self.constraint)
                .field("description", &self.description)
                .field("annotation", &self.annotation)
                .field("span", &self.span)
                .finish()
        })
    }
}

impl Drop for ClassModification {
    fn drop(&mut self) {
        let arguments = std::mem::take(&mut self.arguments);
        deep(|| drop(arguments));
    }
}

impl fmt::Debug for ClassModification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        deep(|| {
            f.debug_struct("ClassModification").field("arguments", &self.arguments).field("span", &self.span).finish()
        })
    }
}
