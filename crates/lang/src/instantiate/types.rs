//! Classes that stand for predefined types or add dimensions and prefixes (specification 4.6.1): `type Voltage = Real`,
//! `connector C = input Real[3]`.

use std::sync::Arc;

use base::Span;
use syntax::ast;

use super::components::{add_prefixes, dimensions};
use crate::annotation;
use crate::instance::{Builtin, ClassId, CompId, Dimension, Instances, Member, SimpleType};
use crate::library::DefId;

impl Instances {
    /// The dimensions and prefixes that short class definitions add: `connector C = input Real[3]`.
    pub(super) fn type_dimensions(&mut self, class: ClassId) -> (Vec<Dimension>, ast::TypePrefixes) {
        let mut all = Vec::new();
        let mut gathered = ast::TypePrefixes::default();
        let mut current = class;
        loop {
            self.expand(current);
            let definition = self.definition(current).clone();
            let ast::ClassBody::Short { prefixes, subscripts, .. } = &definition.body else { break };
            let scope = self.classes[current].scope.unwrap_or(current);
            all.extend(dimensions(subscripts, scope));
            add_prefixes(&mut gathered, *prefixes);
            match self.classes[current].bases.first() {
                Some(&base) => current = base,
                None => break,
            }
        }
        (all, gathered)
    }

    /// The number of dimensions that a class has by itself: `type Vector = Real[3]` has one.
    pub(crate) fn class_rank(&mut self, class: ClassId) -> usize {
        match self.simple_type(class) {
            Some(simple) => simple.dimensions.len(),
            None => self.type_dimensions(class).0.len(),
        }
    }

    /// How many dimensions of a component come from the short class definition in whose modifiers `text` stands, and from
    /// those below it.
    pub(crate) fn rank_of_definition(&mut self, component: CompId, text: Span) -> usize {
        let node = &self.components[component];
        let mut rank = node.dimensions.len().saturating_sub(node.own_dimensions);
        if rank == 0 {
            return 0;
        }
        let (scope, type_name) = (node.type_scope, node.declaration.type_name.clone());
        let Ok(mut class) = self.lookup_type(scope, &type_name) else { return 0 };
        loop {
            self.expand(class);
            let definition = self.definition(class).clone();
            let ast::ClassBody::Short { subscripts, modification, .. } = &definition.body else { return 0 };
            if modification.as_ref().is_some_and(|modification| modification.span.contains(text)) {
                return rank;
            }
            rank = rank.saturating_sub(subscripts.len());
            match self.classes[class].bases.first() {
                Some(&base) => class = base,
                None => return 0,
            }
        }
    }

    /// Whether the definition is `enumeration(:)`, which any enumeration may replace.
    pub(crate) fn has_no_literals(&self, enumeration: DefId) -> bool {
        matches!(self.libraries.get(enumeration).class.body, ast::ClassBody::Enumeration(None))
    }

    /// Whether a short class definition on the way adds dimensions or prefixes.
    pub(crate) fn has_dimensions_or_prefixes(&mut self, class: ClassId) -> bool {
        let (dimensions, prefixes) = self.type_dimensions(class);
        !dimensions.is_empty() || prefixes != ast::TypePrefixes::default()
    }

    /// What a class says about a predefined type, if it stands for one.
    pub fn simple_type(&mut self, class: ClassId) -> Option<Arc<SimpleType>> {
        if let Some(known) = &self.classes[class].simple {
            return known.clone();
        }
        self.expand(class);
        let node = &self.classes[class];
        let found = match node.builtin {
            Some(Builtin::ExternalObject) => None,
            Some(builtin) => Some(Arc::new(SimpleType {
                builtin: Some(builtin),
                attributes: node.modifier.clone(),
                ..SimpleType::default()
            })),
            None => match *node.bases.as_slice() {
                // Functions such as `equalityConstraint` may stand beside it.
                [base] if node.members.values().all(|member| matches!(member, Member::Class(_))) => {
                    self.simple_through(class, base)
                }
                _ => None,
            },
        };
        self.classes[class].simple = Some(found.clone());
        found
    }

    /// Whether the values of a component are differences, such as those of two temperatures: `annotation(absoluteValue =
    /// false)` of the component or of its type (specification 18.4).
    pub fn is_difference(&mut self, component: CompId) -> bool {
        let node = &self.components[component];
        let (scope, type_name) = (node.type_scope, node.declaration.type_name.clone());
        if let Some(absolute) = annotation::boolean(node.declaration.annotation.as_deref(), "absoluteValue") {
            return !absolute;
        }
        let Ok(mut class) = self.lookup_type(scope, &type_name) else { return false };
        loop {
            if let Some(absolute) = annotation::boolean(self.definition(class).annotation.as_deref(), "absoluteValue") {
                return !absolute;
            }
            self.expand(class);
            match *self.classes[class].bases.as_slice() {
                [base] => class = base,
                _ => return false,
            }
        }
    }

    fn simple_through(&mut self, class: ClassId, base: ClassId) -> Option<Arc<SimpleType>> {
        let below = self.simple_type(base)?;
        let mut result = SimpleType {
            builtin: below.builtin,
            attributes: below.attributes.clone(),
            dimensions: Vec::new(),
            prefixes: below.prefixes,
        };
        if let ast::ClassBody::Short { prefixes, subscripts, .. } = &self.definition(class).body {
            result.dimensions = dimensions(subscripts, self.classes[class].scope.unwrap_or(class));
            let inner = std::mem::replace(&mut result.prefixes, *prefixes);
            add_prefixes(&mut result.prefixes, inner);
        }
        result.dimensions.extend(below.dimensions.iter().cloned());
        Some(Arc::new(result))
    }
}
