//! Modifications and annotations of the tree as abstract syntax.

use std::sync::Arc;

use crate::ast::{Argument, ClassModification, ElementModification, ElementPrefixes, Modification, ModificationValue};
use crate::deep::deep;
use crate::kind::SyntaxKind as K;
use crate::tree::{Child, NodeId};

use super::Lowering;

impl Lowering<'_> {
    pub(super) fn modification(&mut self, node: NodeId) -> Modification {
        let tree = self.tree;
        let mut arguments = None;
        let mut value = None;
        for child in tree.children(node) {
            match child {
                Child::Node(child) if tree.kind(child) == K::ClassModification => {
                    arguments = Some(Arc::new(self.class_modification(child)));
                }
                Child::Node(child) => value = Some(ModificationValue::Expr(Arc::new(self.expr(child)))),
                Child::Token(token) if tree.token_kind(token) == K::BreakKw => {
                    value = Some(ModificationValue::Break(tree.token_span(token)));
                }
                Child::Token(_) => {}
            }
        }
        Modification { arguments, value, span: tree.span(node) }
    }

    pub(super) fn class_modification(&mut self, node: NodeId) -> ClassModification {
        let tree = self.tree;
        let arguments = deep(|| tree.child_nodes(node).filter_map(|child| self.argument(child)).collect());
        ClassModification { arguments, span: tree.span(node) }
    }

    /// `annotation(…)`.
    pub(super) fn annotation(&mut self, node: NodeId) -> Option<Arc<ClassModification>> {
        let modification = self.tree.child(node, K::ClassModification)?;
        Some(Arc::new(self.class_modification(modification)))
    }

    fn argument(&mut self, node: NodeId) -> Option<Argument> {
        match self.kind(node) {
            K::ElementModification => self.element_modification(node).map(Argument::Element),
            K::ClassDef => {
                let each = self.has_token(node, K::EachKw);
                let class = self.class_def(node, false)?;
                Some(Argument::RedeclareClass { each, class })
            }
            K::ComponentClause => {
                let each = self.has_token(node, K::EachKw);
                let component = self.components(node, false).into_iter().next()?;
                Some(Argument::RedeclareComponent { each, component })
            }
            K::BreakModification => self.break_modification(node),
            _ => None,
        }
    }

    pub(super) fn has_token(&self, node: NodeId, kind: K) -> bool {
        self.tree
            .children(node)
            .any(|child| matches!(child, Child::Token(token) if self.tree.token_kind(token) == kind))
    }

    fn element_modification(&mut self, node: NodeId) -> Option<ElementModification> {
        let tree = self.tree;
        let mut element = ElementModification {
            each: false,
            is_final: false,
            path: Vec::new(),
            modification: None,
            description: None,
            span: tree.span(node),
        };
        for child in tree.children(node) {
            match child {
                Child::Token(token) => match tree.token_kind(token) {
                    K::EachKw => element.each = true,
                    K::FinalKw => element.is_final = true,
                    _ => {}
                },
                Child::Node(child) => match tree.kind(child) {
                    K::TypeName => element.path = self.type_name(child).parts,
                    K::Modification => element.modification = Some(Arc::new(self.modification(child))),
                    K::Description => element.description = Some(self.description(child)),
                    _ => {}
                },
            }
        }
        (!element.path.is_empty()).then_some(element)
    }

    fn break_modification(&mut self, node: NodeId) -> Option<Argument> {
        let tree = self.tree;
        let mut ends = Vec::new();
        for child in tree.children(node) {
            match child {
                Child::Token(token) if self.is_name(token) => return Some(Argument::BreakElement(self.ident(token))),
                Child::Node(child) if tree.kind(child) == K::Reference => ends.push(self.component_ref(child)),
                _ => {}
            }
        }
        let second = ends.pop()?;
        Some(Argument::BreakConnect(ends.pop()?, second, tree.span(node)))
    }

    /// The prefixes among the tokens directly in a node.
    pub(super) fn element_prefixes(&self, node: NodeId, protected: bool) -> ElementPrefixes {
        let mut prefixes = ElementPrefixes { protected, ..ElementPrefixes::default() };
        for child in self.tree.children(node) {
            if let Child::Token(token) = child {
                match self.tree.token_kind(token) {
                    K::RedeclareKw => prefixes.redeclare = true,
                    K::FinalKw => prefixes.is_final = true,
                    K::InnerKw => prefixes.inner = true,
                    K::OuterKw => prefixes.outer = true,
                    K::ReplaceableKw => prefixes.replaceable = true,
                    kind if kind.is_type_prefix() => {}
                    _ => break,
                }
            }
        }
        prefixes
    }
}
