//! Lossless tree → abstract syntax.
//!
//! The tree may hold mistakes, all reported by the parser already; what cannot be understood is left out, or becomes
//! `ExprKind::Error`. Names are interned once for each distinct text.

mod classes;
mod equations;
mod expressions;
mod modifications;

use std::sync::Arc;

use base::{Name, Span};
use rustc_hash::FxHashMap;

use crate::ast::{ComponentRef, Expr, Ident, StoredDefinition, TypeName};
use crate::kind::SyntaxKind as K;
use crate::literal::{quoted_name, string_value};
use crate::tree::{Child, NodeId, TokenId, Tree};

pub(crate) fn stored_definition(tree: &Tree) -> StoredDefinition {
    Lowering::new(tree).stored_definition()
}

pub(crate) fn expression(tree: &Tree) -> Option<Expr> {
    let node = tree.child_nodes(tree.root()).next()?;
    Some(Lowering::new(tree).expr(node))
}

pub(crate) fn type_name(tree: &Tree) -> Option<TypeName> {
    let node = tree.child(tree.root(), K::TypeName)?;
    Some(Lowering::new(tree).type_name(node))
}

pub(crate) fn component_reference(tree: &Tree) -> Option<ComponentRef> {
    let node = tree.child(tree.root(), K::Reference)?;
    Some(Lowering::new(tree).component_ref(node))
}

struct Lowering<'t> {
    tree: &'t Tree,
    names: FxHashMap<&'t str, Name>,
}

impl<'t> Lowering<'t> {
    fn new(tree: &'t Tree) -> Self {
        Self { tree, names: FxHashMap::default() }
    }

    fn kind(&self, node: NodeId) -> K {
        self.tree.kind(node)
    }

    fn span(&self, node: NodeId) -> Span {
        self.tree.span(node)
    }

    fn ident(&mut self, token: TokenId) -> Ident {
        let tree = self.tree;
        let text = tree.token_text(token);
        let name = *self.names.entry(text).or_insert_with(|| match tree.token_kind(token) {
            K::QuotedIdent => Name::new(&quoted_name(text)),
            _ => Name::new(text),
        });
        Ident { name, span: tree.token_span(token) }
    }

    fn is_name(&self, token: TokenId) -> bool {
        matches!(self.tree.token_kind(token), K::Ident | K::QuotedIdent)
    }

    fn type_name(&mut self, node: NodeId) -> TypeName {
        let mut parts = Vec::new();
        let mut global = false;
        for child in self.tree.children(node) {
            if let Child::Token(token) = child {
                if self.is_name(token) {
                    parts.push(self.ident(token));
                } else if parts.is_empty() && self.tree.token_kind(token) == K::Dot {
                    global = true;
                }
            }
        }
        TypeName { global, parts, span: self.span(node) }
    }

    /// The text of a description, its pieces put together.
    fn description(&mut self, node: NodeId) -> Arc<str> {
        let tree = self.tree;
        let mut pieces = tree.children(node).filter_map(|child| match child {
            Child::Token(token) if tree.token_kind(token) == K::String => Some(string_value(tree.token_text(token))),
            _ => None,
        });
        let first = pieces.next().unwrap_or_default();
        match pieces.next() {
            None => Arc::from(first.as_ref()),
            Some(second) => {
                let mut text = first.into_owned() + &second;
                pieces.for_each(|piece| text.push_str(&piece));
                Arc::from(text)
            }
        }
    }
}
