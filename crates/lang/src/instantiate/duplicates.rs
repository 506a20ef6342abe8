//! Elements that a class gets more than once (specification 5.6.4, 7.1): inherited on several ways they are one, if they are
//! declared in the same words.

use std::sync::Arc;

use base::{Diagnostic, Name};
use syntax::ast;

use crate::instance::{ClassId, ClassMember, ClassMemberId, CompId, ComponentNode, Instances, Member, MemberNode};
use crate::library::DefId;
use crate::modifier::{Declaration, Modifier, Redeclare, merge};

impl Instances {
    /// The element of that name which an inheriting class already has, when `id` is a base class: an element that is
    /// inherited twice is one.
    pub(super) fn inherited_twice(&self, id: ClassId, name: Name) -> Option<Member> {
        let mut below = id;
        while let Some(class) = self.classes[below].derived {
            if self.classes[below].deselection.has_component(name) {
                return None;
            }
            if let Some(&member) = self.classes[class].members.get(&name) {
                return Some(member);
            }
            below = class;
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

    /// A base class declares a class that the class already has: with the modifiers of both ways of inheritance the two must
    /// be the same. Where one way only says more than the other, the class has what both say; where both ways redeclare the
    /// class alike, what is replaced does not matter.
    pub(super) fn check_same_class(&mut self, id: ClassId, own: ClassMemberId, class: &Arc<ast::ClassDef>) {
        let modifier = self.modifier_of_duplicate(id, class.name.name);
        let (one, first) = self.declaration_text(Member::Class(own));
        let known = &self.members[own];
        let is_same_text = one.is_none_or(|one| one == self.class_words(class));
        let is_same_prefix = known.protected == class.prefixes.protected;
        let is_same = is_same_modifier(&known.modifier, &modifier);
        if is_same_text && is_same_prefix && is_same {
            return;
        }
        let is_replaced = self.are_redeclared_alike(own, class, &modifier)
            || (is_same_prefix && self.are_types_of_one_kind(own, class));
        let is_open = known.node == MemberNode::Unknown && agree(&known.modifier, &modifier);
        if !(is_same_text || is_replaced) || !(is_same || is_open) {
            return self.report_different(first, Some(class.name.span));
        }
        if is_open && !is_same {
            self.members[own].modifier = merge(&known.modifier.clone(), &modifier, &mut Vec::new());
        }
        self.report(Box::new(different(first, Some(class.name.span))));
    }

    /// Notes that a base class declares a component that the class already has. With the modifiers of both ways of
    /// inheritance the two must be the same; compared when the tree stands, for their types must be known.
    pub(super) fn note_duplicate(&mut self, id: ClassId, own: CompId, declared: &Arc<ast::Component>) {
        let name = declared.name.name;
        let said = std::mem::take(&mut self.diagnostics);
        // As if it were the only one: its modifiers may be wrong.
        let outer = self.classes[id].modifier.child(name).cloned().unwrap_or_default();
        self.component_node(id, declared, &outer);
        let found = std::mem::replace(&mut self.diagnostics, said);
        found.into_iter().for_each(|diagnostic| self.report(Box::new(diagnostic)));
        let outer = self.modifier_of_duplicate(id, name);
        let said = std::mem::take(&mut self.diagnostics);
        let node = self.component_node(id, declared, &outer);
        self.diagnostics = said;
        let duplicate = self.components.push(node);
        self.duplicates.push((own, duplicate));
    }

    /// What is said about an element of the base class `id` that the class has already: also what was said to derived classes,
    /// where it went to the element that stands for both.
    fn modifier_of_duplicate(&self, id: ClassId, name: Name) -> Arc<Modifier> {
        let mut said = Vec::new();
        let mut result: Arc<Modifier> = Arc::default();
        let mut current = Some(id);
        while let Some(class) = current {
            let node = &self.classes[class];
            if let Some(outer) = node.modifier.child(name) {
                result = merge(outer, &result, &mut said);
            }
            current = node.derived.filter(|_| !node.deselection.has_component(name));
        }
        result
    }

    /// Two elements of one name that a class gets from several sides must be the same (7.1).
    pub(super) fn check_same(&mut self, one: Member, other: Member) {
        match (one, other) {
            (Member::Component(one), Member::Component(other)) => self.duplicates.push((one, other)),
            (Member::Class(own), Member::Class(inherited)) => {
                let ClassMember { declaration, modifier, .. } = &self.members[inherited];
                let is_replaced =
                    declaration.as_ref().is_some_and(|class| self.are_redeclared_alike(own, class, modifier));
                let ((one, first), (other, second)) = (self.declaration_text(one), self.declaration_text(other));
                match (one, other) {
                    (Some(one), Some(other)) if one == other => {}
                    (Some(_), Some(_)) if is_replaced => self.report(Box::new(different(first, second))),
                    (Some(_), Some(_)) => self.report_different(first, second),
                    _ => {}
                }
            }
            _ => {
                let (first, second) = (self.declaration_text(one).1, self.declaration_text(other).1);
                self.report_different(first, second);
            }
        }
    }

    /// Compares the components that were found more than once.
    pub(crate) fn check_duplicates(&mut self) {
        for (one, other) in std::mem::take(&mut self.duplicates) {
            if !self.is_same_component(one, other) {
                // Of one declaration that is inherited twice the modifiers are different.
                let place = |id: CompId| match self.span(one) == self.span(other) {
                    true => self.components[id].modifier.span,
                    false => Some(self.span(id)),
                };
                let (first, second) = (place(one), place(other));
                match self.differ_in_attributes(one, other) {
                    // The one of the class itself is meant to replace the other, as if `redeclare` stood before it.
                    true => self.report(Box::new(different(first, second))),
                    false => self.report_different(first, second),
                }
            }
        }
    }

    /// Whether only what is said about the attributes of two components is different, not about their values.
    fn differ_in_attributes(&mut self, one: CompId, other: CompId) -> bool {
        let plain = |modifier: &Modifier| Arc::new(without_attributes(modifier));
        let kept = (self.components[one].modifier.clone(), self.components[other].modifier.clone());
        self.components[one].modifier = plain(&kept.0);
        self.components[other].modifier = plain(&kept.1);
        let is_same = self.is_same_component(one, other);
        (self.components[one].modifier, self.components[other].modifier) = kept;
        is_same
    }

    fn report_different(&mut self, first: Option<base::Span>, second: Option<base::Span>) {
        self.report(Box::new(different(first, second).refused()));
    }

    fn words(&self, span: base::Span) -> String {
        self.libraries.sources.text(span).split_whitespace().collect()
    }

    /// Whether a class that is inherited twice is the same where redeclarations have replaced it on one way or on both.
    fn are_redeclared_alike(&self, own: ClassMemberId, class: &ast::ClassDef, modifier: &Modifier) -> bool {
        let known = &self.members[own];
        let is_like = |redeclare: &Redeclare, declared: &ast::ClassDef| match &redeclare.declaration {
            Declaration::Class(class) => self.class_words(class) == self.class_words(declared),
            Declaration::Component(_) => false,
        };
        match (&known.modifier.redeclare, &modifier.redeclare) {
            (Some(one), Some(other)) => one.is_written_as(other),
            (Some(one), None) => is_like(one, class),
            (None, Some(other)) => known.declaration.as_ref().is_some_and(|declared| is_like(other, declared)),
            (None, None) => false,
        }
    }

    /// Whether a type is declared again in the class itself: that is meant to replace the inherited one, as if `redeclare` stood
    /// before it.
    fn are_types_of_one_kind(&self, own: ClassMemberId, class: &ast::ClassDef) -> bool {
        let is_short_type = |class: &ast::ClassDef| {
            class.kind == ast::ClassKind::Type && matches!(class.body, ast::ClassBody::Short { .. })
        };
        let declared = self.members[own].declaration.as_ref();
        is_short_type(class) && declared.is_some_and(|declared| is_short_type(declared))
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

    /// Whether two declarations with their modifiers mean the same. A type may have several names; `final` and `replaceable`
    /// say nothing about what the component is.
    fn is_same_component(&mut self, one: CompId, other: CompId) -> bool {
        let (a, b) = (&self.components[one], &self.components[other]);
        let prefixes = |node: &ComponentNode| (node.prefixes.protected, node.prefixes.inner, node.prefixes.outer);
        let is_same = prefixes(a) == prefixes(b)
            && a.declaration.type_prefixes == b.declaration.type_prefixes
            && is_same_list(&a.declaration.subscripts, &b.declaration.subscripts)
            && is_same_text(a.condition.as_ref(), b.condition.as_ref())
            && is_same_modifier(&a.modifier, &b.modifier);
        if !is_same {
            return false;
        }
        let (one, other) =
            ((a.type_scope, a.declaration.type_name.clone()), (b.type_scope, b.declaration.type_name.clone()));
        match (self.lookup_type(one.0, &one.1), self.lookup_type(other.0, &other.1)) {
            (Ok(one), Ok(other)) => self.plain_definition(one) == self.plain_definition(other),
            _ => one.1.to_string() == other.1.to_string(),
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

/// Says that two elements of one name are not the same.
fn different(first: Option<base::Span>, second: Option<base::Span>) -> Diagnostic {
    let mut diagnostic = Diagnostic::breach("different-duplicates", "two elements of one name are not the same");
    for span in [first, second].into_iter().flatten() {
        diagnostic = diagnostic.at(span, "declared here");
    }
    diagnostic.hint("rename one of them, or use `redeclare`").specification("7.1")
}

/// What a modifier says about other things than attributes that guide a computation but do not change what is computed.
fn without_attributes(modifier: &Modifier) -> Modifier {
    let mut plain = modifier.clone();
    // The start of what is fixed is its value.
    if modifier.children.iter().any(|(name, _)| *name == "fixed") {
        return plain;
    }
    plain.children.retain(|(name, child)| {
        let is_attribute = matches!(name.as_str(), "start" | "nominal" | "min" | "max" | "displayUnit" | "stateSelect");
        !is_attribute || child.redeclare.is_some()
    });
    for (_, child) in &mut plain.children {
        *child = Arc::new(stacker::maybe_grow(64 * 1024, 1024 * 1024, || without_attributes(child)));
    }
    plain
}

/// Whether two modifiers do not contradict each other: what both say is the same.
fn agree(a: &Modifier, b: &Modifier) -> bool {
    let binding = match (&a.binding, &b.binding) {
        (Some(a), Some(b)) => a.span == b.span || is_same_text(a.expr.as_ref(), b.expr.as_ref()),
        _ => true,
    };
    let redeclaration = match (&a.redeclare, &b.redeclare) {
        (Some(a), Some(b)) => a.is_written_as(b),
        _ => true,
    };
    let elements = a.children.iter().all(|(name, child)| {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || b.child(*name).is_none_or(|other| agree(child, other)))
    });
    binding && redeclaration && elements
}

/// Whether two modifiers say the same, in the same words. In which order they say it, and whether others may change it, does
/// not count.
fn is_same_modifier(a: &Modifier, b: &Modifier) -> bool {
    let is_same_binding = match (&a.binding, &b.binding) {
        (Some(a), Some(b)) => a.span == b.span || is_same_text(a.expr.as_ref(), b.expr.as_ref()),
        (None, None) => true,
        (Some(one), None) | (None, Some(one)) => one.expr.is_none(),
    };
    let is_same_redeclaration = match (&a.redeclare, &b.redeclare) {
        (Some(a), Some(b)) => a.is_written_as(b),
        (None, None) => true,
        // `redeclare package Medium = Medium` hands over what the class has on the other way, too.
        (Some(one), None) | (None, Some(one)) => one.hands_over(),
    };
    is_same_binding && is_same_redeclaration && is_said_by(a, b) && is_said_by(b, a)
}

/// Whether what `a` says about its elements is what `b` says about them.
fn is_said_by(a: &Modifier, b: &Modifier) -> bool {
    let nothing = Modifier::default();
    a.children.iter().all(|(name, child)| {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || is_same_modifier(child, b.child(*name).map_or(&nothing, |b| b)))
    })
}

fn is_same_text<T: ToString>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.to_string() == b.to_string(),
        (None, None) => true,
        _ => false,
    }
}

fn is_same_list(a: &[ast::Subscript], b: &[ast::Subscript]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_string() == b.to_string())
}
