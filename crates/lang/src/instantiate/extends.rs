//! Base classes (specification 7.1): how a class takes over the elements of another, and what it may extend.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use base::Diagnostic;
use rustc_hash::FxHashMap;
use syntax::ast;

use super::deselection::Deselection;
use crate::instance::{ClassId, Instances, Member};
use crate::library::DefId;
use crate::modifier::{self, Declaration, Modifier, Spread, merge};
use crate::restrictions::may_extend;

/// More levels of inheritance than this are not followed.
const DEEPEST: usize = 10_000;
/// More classes than this are not inherited by one, however they come together.
const MOST_BASES: usize = 50_000;

impl Instances {
    /// A base class must not be found through what another base class brings (7.1.4).
    pub(super) fn check_base_name(&mut self, id: ClassId, extends: &ast::Extends) {
        let Some(first) = extends.base.parts.first() else { return };
        if extends.base.global {
            return;
        }
        if let Some(&Member::Class(member)) = self.classes[id].members.get(&first.name)
            && self.members[member].declaration.as_ref().is_some_and(|class| class.prefixes.replaceable)
        {
            self.report_replaceable_base(extends);
        }
        let inherited = match self.classes[id].members.get(&first.name) {
            Some(&Member::Class(member)) => self.members[member].declared_in != id,
            _ => false,
        };
        if inherited {
            let diagnostic =
                Diagnostic::breach("inherited-base", format!("the base class `{}` is itself inherited", first.name))
                    .at(extends.base.span, "found in another base class")
                    .specification("7.1.4");
            self.report(Box::new(diagnostic));
        }
    }

    /// A base class inside of another class must not be replaceable there (7.1.4).
    pub(super) fn check_base_is_fixed(&mut self, base: ClassId, extends: &ast::Extends) {
        if extends.base.parts.len() > 1 && self.definition(base).prefixes.replaceable {
            self.report_replaceable_base(extends);
        }
    }

    fn report_replaceable_base(&mut self, extends: &ast::Extends) {
        let name = extends.base.parts.last().map(|last| last.name.as_str()).unwrap_or_default();
        let diagnostic = Diagnostic::breach("replaceable-base", format!("the base class `{name}` is replaceable"))
            .at(extends.base.span, "used as a base class")
            .hint("extend from a class that cannot be exchanged")
            .specification("7.1.4");
        self.report(Box::new(diagnostic));
    }

    /// A class that holds an operator record cannot be extended: the record would be another type in it (4.7).
    pub(super) fn check_operator_records(&mut self, base: ClassId, extends: &ast::Extends) {
        let definition = self.definition(base).clone();
        let Some(record) = operator_record_in(&definition) else { return };
        let (name, record_name) = (self.class_name(base), record.name.name);
        let text = format!("`{name}` holds the operator record `{record_name}` and cannot be extended");
        let diagnostic = Diagnostic::error("extends-operator-record", text)
            .at(extends.base.span, "extended here")
            .at(record.name.span, "this operator record would become another type")
            .hint("move the operator record out of the class that is extended")
            .specification("4.7");
        self.report(Box::new(diagnostic));
    }

    pub(super) fn check_base_kind(&mut self, id: ClassId, base: ClassId, extends: &ast::Extends) {
        let (kind, base_kind) = (self.kind(id), self.kind(base));
        if may_extend(kind, base_kind) {
            return;
        }
        let (name, base_name) = (self.class_name(id), self.class_name(base));
        let text = format!("the {} `{name}` extends the {} `{base_name}`", kind, base_kind);
        let diagnostic =
            Diagnostic::breach("extends-kind", text).at(extends.base.span, "not allowed here").specification("7.1.3");
        // An icon gives a picture and nothing else, whatever it is.
        let is_plain =
            matches!((kind, base_kind), (ast::ClassKind::Block, ast::ClassKind::Model)) || self.is_icon(base);
        self.report(Box::new(if is_plain { diagnostic } else { diagnostic.refused() }));
    }

    /// Whether a class has no elements and no equations.
    fn is_icon(&mut self, class: ClassId) -> bool {
        self.classes[class].builtin.is_none()
            && self.members(class).is_empty()
            && crate::restrictions::is_like_a_package(self, class)
    }

    /// The modifiers that go on to base classes: those from outside over the redeclared elements of this class.
    pub(super) fn modifier_for_bases(&mut self, id: ClassId, composition: &ast::Composition) -> Arc<Modifier> {
        let mut result = (*self.classes[id].modifier).clone();
        result.binding = None;
        let Instances { classes, diagnostics, .. } = self;
        result.children.retain(|(name, _)| !classes[id].members.contains_key(name));
        for element in &composition.elements {
            let (name, declaration) = match element {
                ast::Element::Component(component) if component.prefixes.redeclare => {
                    (component.name, Declaration::Component(component.clone()))
                }
                ast::Element::Class(class) if class.prefixes.redeclare => {
                    (class.name, Declaration::Class(class.clone()))
                }
                _ => continue,
            };
            let redeclared = modifier::from_redeclared_element(declaration, id, name.span);
            result.add_below(name.name, &Arc::new(redeclared), diagnostics);
        }
        Arc::new(result)
    }

    /// Adds the base class of that name; outer modifiers win over those of the extends clause.
    pub(super) fn inherit(
        &mut self,
        id: ClassId,
        scope: ClassId,
        base: &ast::TypeName,
        modification: Option<&Arc<ast::ClassModification>>,
        outer: Arc<Modifier>,
    ) -> Option<ClassId> {
        let found = match self.lookup_base(scope, base) {
            Ok(found) => found,
            Err(diagnostic) => {
                self.report(diagnostic);
                return None;
            }
        };
        let mut current = Some(id);
        let mut depth = 0;
        while let Some(class) = current {
            depth += 1;
            if self.classes[class].def == self.classes[found].def && self.classes[class].builtin.is_none() {
                let name = self.class_name(found);
                let diagnostic = Diagnostic::error("extends-itself", format!("`{name}` extends itself"))
                    .at(base.span, "here")
                    .specification("7.1");
                self.report(Box::new(diagnostic));
                return None;
            }
            current = self.derived(class);
        }
        let instance = self.classes[id].instance;
        if depth > DEEPEST || self.classes[instance].base_count > MOST_BASES {
            let name = self.class_name(instance);
            let text = match depth > DEEPEST {
                true => format!("`{name}` inherits through more than {DEEPEST} levels"),
                false => format!("`{name}` inherits more than {MOST_BASES} classes"),
            };
            // One message is enough for all that follow from it.
            if !self.diagnostics.iter().any(|known| known.code == "inheritance-too-large") {
                let diagnostic = Diagnostic::error("inheritance-too-large", text);
                self.report(Box::new(diagnostic.at(base.span, "the one that is too much").specification("7.1")));
            }
            return None;
        }
        self.classes[instance].base_count += 1;
        if let Some(known) = self.inherited_in_the_same_words(id, found, modification, &outer) {
            return Some(known);
        }
        Some(self.inherit_class(id, scope, found, modification, outer))
    }

    /// The base class that the same extends clause without modifiers gave already: what is inherited twice counts once (7.1),
    /// and looking at it each time would take twice as long with each level of inheritance.
    fn inherited_in_the_same_words(
        &self,
        id: ClassId,
        found: ClassId,
        modification: Option<&Arc<ast::ClassModification>>,
        outer: &Modifier,
    ) -> Option<ClassId> {
        let is_plain = modification.is_none() && outer.children.is_empty() && self.classes[found].modifier.is_empty();
        if !is_plain {
            return None;
        }
        let (def, scope) = (self.classes[found].def, self.classes[found].scope);
        self.classes[id].bases.iter().copied().find(|&base| {
            let node = &self.classes[base];
            node.def == def && node.scope == scope && node.modifier.is_empty() && node.deselection.is_empty()
        })
    }

    /// The class that inherits this base class directly.
    fn derived(&self, base: ClassId) -> Option<ClassId> {
        let instance = self.classes[base].instance;
        (instance != base).then(|| self.classes[base].derived.unwrap_or(instance))
    }

    pub(super) fn inherit_class(
        &mut self,
        id: ClassId,
        scope: ClassId,
        found: ClassId,
        modification: Option<&Arc<ast::ClassModification>>,
        outer: Arc<Modifier>,
    ) -> ClassId {
        let (mut clause, mut deselection) = (Modifier::default(), Deselection::default());
        if let Some(modification) = modification {
            clause = modifier::from_class_modification(modification, scope, Spread::CLASS, &mut self.diagnostics);
            deselection = Deselection::new(modification);
        }
        let outer = self.without_deselected(&deselection, &outer, &mut clause);
        let modifier = merge(&outer, &Arc::new(clause), &mut self.diagnostics);
        let owner = self.classes[id].owner;
        let base = self.copy_class(found, owner, modifier);
        self.classes[base].instance = self.classes[id].instance;
        self.classes[base].derived = Some(id);
        self.classes[base].deselection = deselection;
        self.classes[id].bases.push(base);
        self.expand(base);
        self.check_deselection(base);
        if let Some(modification) = modification {
            self.check_clause(base, modification);
        }
        self.take_members(id, base);
        base
    }

    fn take_members(&mut self, id: ClassId, base: ClassId) {
        for name in self.classes[base].order.clone() {
            if self.classes[base].deselection.has_component(name) {
                continue;
            }
            let Some(&member) = self.classes[base].members.get(&name) else { continue };
            if !self.classes[id].members.contains_key(&name) {
                self.insert(id, name, member);
            } else if let Some(&own) = self.classes[id].members.get(&name)
                && own != member
            {
                if self.extends_inherited(id, own, member) {
                    continue;
                }
                // Inherited a second time, or declared again: the one that was first stands for both.
                self.check_same(own, member);
                self.classes[base].members.insert(name, own);
            }
        }
    }

    pub(super) fn protect(&mut self, base: ClassId) {
        for name in self.classes[base].order.clone() {
            match self.classes[base].members.get(&name) {
                Some(&Member::Component(component)) => self.components[component].prefixes.protected = true,
                Some(&Member::Class(class)) => self.members[class].protected = true,
                None => {}
            }
        }
    }

    /// The class and its base classes, bases first, each in the order of its extends clauses: where equations stand. A
    /// class that is inherited twice counts once (7.1: equal equations are discarded).
    pub fn with_bases(&mut self, class: ClassId) -> Vec<ClassId> {
        self.expand(class);
        let mut order: Vec<ClassId> = Vec::new();
        let mut known: FxHashMap<DefId, usize> = FxHashMap::default();
        let mut stack = vec![(class, false)];
        while let Some((id, done)) = stack.pop() {
            if done {
                match known.entry(self.classes[id].def) {
                    Entry::Vacant(entry) => {
                        entry.insert(order.len());
                        order.push(id);
                    }
                    // Where nothing is deselected, all names of the text mean something.
                    Entry::Occupied(entry) => {
                        let first = &mut order[*entry.get()];
                        if !self.classes[*first].without.is_empty() && self.classes[id].without.is_empty() {
                            *first = id;
                        }
                    }
                }
                continue;
            }
            stack.push((id, true));
            self.expand(id);
            stack.extend(self.classes[id].bases.iter().rev().map(|&base| (base, false)));
        }
        order
    }
}

/// An operator record in the text of a class, at any depth.
fn operator_record_in(class: &ast::ClassDef) -> Option<&ast::ClassDef> {
    let ast::ClassBody::Long(composition) = &class.body else { return None };
    composition.elements.iter().find_map(|element| match element {
        ast::Element::Class(inner) if inner.kind == ast::ClassKind::OperatorRecord => {
            matches!(inner.body, ast::ClassBody::Long(_)).then_some(&**inner)
        }
        ast::Element::Class(inner) => stacker::maybe_grow(64 * 1024, 1024 * 1024, || operator_record_in(inner)),
        _ => None,
    })
}
