//! Elements that a class gets more than once (specification 5.6.4, 7.1.1): inherited on several ways they are one, if they are
//! declared in the same words.

use std::sync::Arc;

use base::{Diagnostic, Name};
use syntax::ast;

use crate::instance::{ClassId, ClassMemberId, CompId, Instances, Member};
use crate::library::DefId;

impl Instances {
    /// The element of that name which an inheriting class already has, when `id` is a base class: an element that is
    /// inherited twice is one.
    pub(super) fn inherited_twice(&self, id: ClassId, name: Name) -> Option<Member> {
        let mut current = self.classes[id].derived;
        while let Some(class) = current {
            if let Some(&member) = self.classes[class].members.get(&name) {
                return Some(member);
            }
            current = self.classes[class].derived;
        }
        None
    }

    pub(super) fn check_duplicate(&mut self, id: ClassId, name: ast::Ident) -> bool {
        if !self.classes[id].members.contains_key(&name.name) {
            return false;
        }
        let diagnostic =
            Diagnostic::error("duplicate-element", format!("`{}` is declared twice in one class", name.name))
                .at(name.span, "the second time here")
                .hint("rename one of them")
                .specification("5.6.4");
        self.report(Box::new(diagnostic));
        true
    }

    pub(super) fn check_same_class(&mut self, own: ClassMemberId, class: &Arc<ast::ClassDef>) {
        let (one, first) = self.declaration_text(Member::Class(own));
        let words = self.class_words(class);
        if one.is_some_and(|one| one != words) {
            self.report_different(first, Some(class.name.span));
        }
    }

    pub(super) fn check_same_component(&mut self, id: ClassId, own: CompId, declared: &Arc<ast::Component>) {
        let node = &self.components[own];
        let (known, scope) = (node.declaration.clone(), node.type_scope);
        if node.original.is_none() && !self.is_same_component((&known, scope), (declared, id)) {
            self.report_different(Some(known.name.span), Some(declared.name.span));
        }
    }

    /// Two elements of one name that a class gets from several sides must be the same (7.1.1).
    pub(super) fn check_same(&mut self, one: Member, other: Member) {
        if let (Member::Component(one), Member::Component(other)) = (one, other) {
            let node = |id: CompId| (self.components[id].declaration.clone(), self.components[id].type_scope);
            let ((first, first_scope), (second, second_scope)) = (node(one), node(other));
            if !self.is_same_component((&first, first_scope), (&second, second_scope)) {
                self.report_different(Some(first.name.span), Some(second.name.span));
            }
            return;
        }
        let ((Some(one), first), (Some(other), second)) = (self.declaration_text(one), self.declaration_text(other))
        else {
            return;
        };
        if one != other {
            self.report_different(first, second);
        }
    }

    fn report_different(&mut self, first: Option<base::Span>, second: Option<base::Span>) {
        let mut diagnostic = Diagnostic::error("different-duplicates", "two elements of one name are not the same");
        for span in [first, second].into_iter().flatten() {
            diagnostic = diagnostic.at(span, "declared here");
        }
        self.report(Box::new(diagnostic.hint("rename one of them, or use `redeclare`").specification("7.1.1")));
    }

    fn words(&self, span: base::Span) -> String {
        self.libraries.sources.text(span).split_whitespace().collect()
    }

    /// The words of a class; of a short one only what it stands for.
    fn class_words(&self, class: &ast::ClassDef) -> String {
        match &class.body {
            ast::ClassBody::Short { base, modification, .. } => {
                let mut text = self.words(base.span);
                if let Some(modification) = modification {
                    text.push_str(&self.words(modification.span));
                }
                text
            }
            _ => self.words(class.span),
        }
    }

    /// Whether two declarations have the same type and value; other attributes are not compared. A type may have several
    /// names.
    fn is_same_component(
        &mut self,
        (one, scope): (&ast::Component, ClassId),
        (other, other_scope): (&ast::Component, ClassId),
    ) -> bool {
        if self.value_words(one) != self.value_words(other) {
            return false;
        }
        if self.words(one.type_name.span) == self.words(other.type_name.span) {
            return true;
        }
        let types = (self.lookup_type(scope, &one.type_name), self.lookup_type(other_scope, &other.type_name));
        match types {
            (Ok(one), Ok(other)) => self.plain_definition(one) == self.plain_definition(other),
            _ => false,
        }
    }

    /// The definition that a class is only another name for, or its own.
    fn plain_definition(&mut self, class: ClassId) -> DefId {
        let mut current = class;
        loop {
            self.expand(current);
            let plain = match &self.definition(current).body {
                ast::ClassBody::Short { modification, subscripts, prefixes, .. } => {
                    modification.as_ref().is_none_or(|modification| modification.arguments.is_empty())
                        && subscripts.is_empty()
                        && *prefixes == ast::TypePrefixes::default()
                }
                _ => false,
            };
            match self.classes[current].bases.first() {
                Some(&base) if plain => current = base,
                _ => return self.classes[current].def,
            }
        }
    }

    fn value_words(&self, declaration: &ast::Component) -> String {
        let value = declaration.modification.as_ref().and_then(|modification| modification.value.as_ref());
        match value {
            Some(ast::ModificationValue::Expr(value)) => self.words(value.span),
            _ => String::new(),
        }
    }

    /// The words of a declaration, and where it is.
    fn declaration_text(&self, member: Member) -> (Option<String>, Option<base::Span>) {
        match member {
            Member::Component(component) => (None, Some(self.components[component].declaration.name.span)),
            Member::Class(class) => match &self.members[class].declaration {
                Some(class) => (Some(self.class_words(class)), Some(class.name.span)),
                None => (None, None),
            },
        }
    }
}
