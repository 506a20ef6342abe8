//! Expansion of class instances (specification 5.6): a class with its modifiers becomes its elements, own ones and those of
//! its bases.
//!
//! Everything is done on demand: `expand` finds the elements of a class and its bases but not the types of its
//! components, `component_type` finds one type, `class_of` makes one declared class an instance.

mod added;
mod components;
pub(crate) mod deselection;
mod duplicates;
mod extends;
pub(crate) mod recursion;
mod redeclaration;
mod types;
mod unknown_modifiers;

use std::sync::Arc;

use base::{Diagnostic, IdVec, Name};
use rustc_hash::FxHashMap;
use syntax::ast;

use self::deselection::Deselection;
use crate::instance::{
    Builtin, ClassId, ClassMember, ClassMemberId, ClassNode, CompId, Expansion, Instances, Member, MemberNode, Outcome,
};
use crate::interfaces::ToCheck;
use crate::library::{DefId, Libraries};
use crate::modifier::{self, Modifier, Spread, is_extension, merge};
use crate::restrictions::check_name;

impl Instances {
    /// No instances yet.
    pub fn new(libraries: Libraries) -> Self {
        let mut instances = Self {
            libraries,
            classes: IdVec::new(),
            components: IdVec::new(),
            members: IdVec::new(),
            diagnostics: Vec::new(),
            predefined: FxHashMap::default(),
            implicit_inner: FxHashMap::default(),
            redeclarations: Vec::new(),
            deselected: Vec::new(),
            duplicates: Vec::new(),
            final_elements: Vec::new(),
            endless: FxHashMap::default(),
            nested: FxHashMap::default(),
            ignore_protection: false,
        };
        instances.new_class(Libraries::ROOT, None, None, Arc::default());
        for (name, builtin) in [
            ("Real", Builtin::Real),
            ("Integer", Builtin::Integer),
            ("Boolean", Builtin::Boolean),
            ("String", Builtin::String),
            ("Clock", Builtin::Clock),
            ("ExternalObject", Builtin::ExternalObject),
        ] {
            let name = Name::new(name);
            let root = instances.root();
            let def = instances.libraries.predefined(name);
            let id = instances.new_class(def, Some(root), None, Arc::default());
            instances.classes[id].builtin = Some(builtin);
            instances.classes[id].expansion = Expansion::Done;
            instances.predefined.insert(name, id);
        }
        instances
    }

    pub(crate) fn new_class(
        &mut self,
        def: DefId,
        scope: Option<ClassId>,
        owner: Option<CompId>,
        modifier: Arc<Modifier>,
    ) -> ClassId {
        let instance = self.classes.next_id();
        self.classes.push(ClassNode {
            def,
            scope,
            owner,
            instance,
            modifier,
            builtin: None,
            extended: None,
            expansion: Expansion::Unexpanded,
            members: FxHashMap::default(),
            order: Vec::new(),
            base_count: 0,
            bases: Vec::new(),
            simple: None,
            derived: None,
            deselection: Deselection::default(),
            without: Vec::new(),
        })
    }

    /// A class instance like `class`, with more modifiers, as the type of `owner` or as a base of `instance`.
    fn copy_class(&mut self, class: ClassId, owner: Option<CompId>, modifier: Arc<Modifier>) -> ClassId {
        let node = &self.classes[class];
        let (def, scope, builtin, extended) = (node.def, node.scope, node.builtin, node.extended);
        let below = node.modifier.clone();
        let modifier = merge(&modifier, &below, &mut self.diagnostics);
        let id = self.new_class(def, scope, owner, modifier);
        self.classes[id].builtin = builtin;
        self.classes[id].extended = extended;
        if builtin.is_some() {
            self.classes[id].expansion = Expansion::Done;
        }
        id
    }

    /// The class as the top of an instance tree of its own.
    pub(crate) fn top_instance(&mut self, class: ClassId, modifier: Arc<Modifier>) -> ClassId {
        self.copy_class(class, None, modifier)
    }

    /// Finds the elements of a class. While it runs, the elements found so far can be seen.
    pub fn expand(&mut self, id: ClassId) {
        if self.classes[id].expansion != Expansion::Unexpanded {
            return;
        }
        self.classes[id].expansion = Expansion::Busy;
        let class = self.definition(id).clone();
        match &class.body {
            ast::ClassBody::Long(composition) => self.expand_long(id, composition),
            ast::ClassBody::Short { base, modification, .. } => {
                // Its text is that of the class around it.
                let scope = self.classes[id].scope.unwrap_or(id);
                let modifier = self.classes[id].modifier.clone();
                self.inherit(id, scope, base, modification.as_ref(), modifier);
            }
            ast::ClassBody::Enumeration(_) => {
                self.classes[id].builtin = Some(Builtin::Enumeration(self.classes[id].def));
            }
            ast::ClassBody::PartialDerivative { .. } => {}
        }
        self.classes[id].expansion = Expansion::Done;
    }

    fn expand_long(&mut self, id: ClassId, composition: &ast::Composition) {
        // Own elements first, so that names of base classes find them; the order is put right below.
        for element in &composition.elements {
            match element {
                ast::Element::Component(component) if !component.prefixes.redeclare => {
                    check_name(self, component.name);
                    self.add_component(id, component);
                }
                ast::Element::Class(class) if !class.prefixes.redeclare => {
                    check_name(self, class.name);
                    self.add_class(id, class);
                }
                _ => {}
            }
        }
        self.add_unread_classes(id, composition);
        let to_bases = self.modifier_for_bases(id, composition);
        let own = std::mem::take(&mut self.classes[id].order);
        let mut own = own.into_iter();
        if let Some(modification) = &composition.extension {
            self.inherit_extended(id, modification.as_ref(), to_bases.clone());
        }
        for element in &composition.elements {
            match element {
                ast::Element::Extends(extends) => {
                    self.check_base_name(id, extends);
                    let base = self.inherit(id, id, &extends.base, extends.modification.as_ref(), to_bases.clone());
                    if let Some(base) = base {
                        self.check_base_kind(id, base, extends);
                        self.check_base_is_fixed(base, extends);
                        self.check_operator_records(base, extends);
                        if extends.protected {
                            self.protect(base);
                        }
                    }
                }
                ast::Element::Component(component) if !component.prefixes.redeclare => {
                    self.classes[id].order.extend(own.next());
                }
                ast::Element::Class(class) if !class.prefixes.redeclare => {
                    self.classes[id].order.extend(own.next());
                }
                _ => {}
            }
        }
        self.classes[id].order.extend(own);
        self.replace_deselected(id);
        self.check_redeclared(id, composition);
    }

    fn insert(&mut self, id: ClassId, name: Name, member: Member) {
        let node = &mut self.classes[id];
        if node.members.insert(name, member).is_none() {
            node.order.push(name);
        }
    }

    /// Classes of a package that stand in files of their own.
    fn add_unread_classes(&mut self, id: ClassId, composition: &ast::Composition) {
        let def = self.classes[id].def;
        if self.libraries.get(def).directory.is_none() && def != Libraries::ROOT {
            return;
        }
        // Redeclared ones stand in the text and are no elements of their own.
        let redeclared: Vec<Name> = composition
            .elements
            .iter()
            .filter_map(|element| match element {
                ast::Element::Class(class) if class.prefixes.redeclare => Some(class.name.name),
                _ => None,
            })
            .collect();
        for name in self.libraries.get(def).class_names.clone() {
            if self.classes[id].members.contains_key(&name) || redeclared.contains(&name) {
                continue;
            }
            self.add_unread_class(id, name);
        }
    }

    /// A class of the folder of a package, or a top-level class. Its text is read when it is first used.
    pub(crate) fn add_unread_class(&mut self, id: ClassId, name: Name) -> Option<ClassMemberId> {
        let modifier = self.classes[id].modifier.child(name).map(modifier::of_class).unwrap_or_default();
        let member = self.members.push(ClassMember {
            name,
            declared_in: id,
            declaration: None,
            modifier,
            protected: false,
            node: MemberNode::Unknown,
            under: None,
        });
        self.insert(id, name, Member::Class(member));
        Some(member)
    }

    fn add_class(&mut self, id: ClassId, class: &Arc<ast::ClassDef>) {
        let name = class.name.name;
        let outer = self.classes[id].modifier.child(name).map(modifier::of_class).unwrap_or_default();
        if let Some(known @ Member::Class(own)) = self.inherited_twice(id, name) {
            let is_extension = self.members[own].declaration.as_ref().is_some_and(|class| is_extension(class));
            if !is_extension {
                self.check_same_class(id, own, class);
                self.insert(id, name, known);
                return;
            }
        }
        if self.check_duplicate(id, class.name) {
            return;
        }
        let member = self.members.push(ClassMember {
            name,
            declared_in: id,
            declaration: Some(class.clone()),
            modifier: outer,
            protected: class.prefixes.protected,
            node: MemberNode::Unknown,
            under: None,
        });
        self.insert(id, name, Member::Class(member));
    }

    /// The class instance of a declared class, after redeclaration.
    pub fn class_of(&mut self, member: ClassMemberId) -> Outcome<ClassId> {
        match self.members[member].node {
            MemberNode::Known(id) => return Ok(id),
            MemberNode::Busy => {
                let declared = &self.members[member];
                let diagnostic =
                    Diagnostic::error("cyclic-class", format!("the class `{}` is defined by itself", declared.name));
                return Err(Box::new(match &declared.declaration {
                    Some(class) => diagnostic.at(class.name.span, "defined here"),
                    None => diagnostic,
                }));
            }
            MemberNode::Unknown => {}
        }
        self.members[member].node = MemberNode::Busy;
        let made = self.make_class(member);
        self.members[member].node = match &made {
            Ok(id) => MemberNode::Known(*id),
            Err(_) => MemberNode::Unknown,
        };
        made
    }

    fn make_class(&mut self, member: ClassMemberId) -> Outcome<ClassId> {
        let ClassMember { declared_in, modifier, name, .. } = &self.members[member];
        let (declared_in, outer, name) = (*declared_in, modifier.clone(), *name);
        let declaration = self.read_declaration(member)?;
        let constraint = declaration.constraint.as_ref().and_then(|constraint| constraint.modification.as_ref());
        let below = match constraint {
            Some(modification) => Arc::new(modifier::from_class_modification(
                modification,
                declared_in,
                Spread::CLASS,
                &mut self.diagnostics,
            )),
            None => Arc::default(),
        };
        if declaration.prefixes.outer
            && !declaration.prefixes.inner
            && let Some(inner) = crate::inner_outer::inner_class(self, declared_in, name)
        {
            if !outer.is_empty() {
                let place = outer.span.unwrap_or(declaration.name.span);
                self.report(Box::new(crate::restrictions::outer_modified(name.as_str(), place)));
            }
            return self.class_of(inner);
        }
        let Some(redeclare) = outer.redeclare.clone() else {
            // The modifiers of the declaration itself come before those of its constraining clause (7.3.2).
            let below = match &declaration.body {
                ast::ClassBody::Short { modification: Some(own), .. } if !below.is_empty() => {
                    let own = modifier::from_class_modification(own, declared_in, Spread::CLASS, &mut self.diagnostics);
                    merge(&Arc::new(own), &below, &mut self.diagnostics)
                }
                _ => below,
            };
            if declaration.prefixes.is_final && !outer.is_empty() {
                self.report_final_class(&outer, &declaration);
            }
            let modifier = merge(&outer, &below, &mut self.diagnostics);
            let made = self.instantiate_class(&declaration, declared_in, modifier)?;
            if let Some(under) = self.members[member].under {
                self.classes[made].extended = Some(under);
            }
            if declaration.constraint.is_some() {
                self.redeclarations.push(ToCheck { class: made, member, redeclare: None });
            }
            return Ok(made);
        };
        if declaration.prefixes.is_final {
            let diagnostic = Diagnostic::error("final-modified", format!("the final class `{name}` is redeclared"))
                .at(redeclare.span, "redeclared here")
                .at(declaration.name.span, "final here")
                .specification("7.2.6");
            self.report(Box::new(diagnostic));
        }
        self.check_visibility(&redeclare, declaration.prefixes.protected, declaration.name.span);
        if !declaration.prefixes.replaceable && !declaration.prefixes.redeclare {
            let diagnostic = Diagnostic::breach("not-replaceable", format!("the class `{name}` is not replaceable"))
                .at(redeclare.span, "redeclared here")
                .at(declaration.name.span, "declared without `replaceable`")
                .hint("declare it `replaceable`, or remove the redeclaration")
                .specification("7.3.1");
            self.report(Box::new(diagnostic));
        }
        // Without a constraining clause the modifiers of a short class definition hold for redeclarations too.
        let below = match &declaration.body {
            ast::ClassBody::Short { modification: Some(modification), .. } if declaration.constraint.is_none() => {
                let own =
                    modifier::from_class_modification(modification, declared_in, Spread::CLASS, &mut self.diagnostics);
                merge(&Arc::new(own), &below, &mut self.diagnostics)
            }
            _ => below,
        };
        let outer = Arc::new(Modifier { redeclare: None, binding: None, ..(*outer).clone() });
        self.redeclared_class(member, &redeclare, outer, below)
    }

    fn report_final_class(&mut self, modifier: &Modifier, declaration: &ast::ClassDef) {
        let message = format!("the final class `{}` is modified", declaration.name.name);
        let mut diagnostic = Diagnostic::error("final-modified", message);
        if let Some(span) = modifier.span {
            diagnostic = diagnostic.at(span, "modified here");
        }
        diagnostic = diagnostic.at(declaration.name.span, "final here").specification("7.2.6");
        self.report(Box::new(diagnostic));
    }

    /// The declaration of a class, read from its file if it was not yet.
    fn read_declaration(&mut self, member: ClassMemberId) -> Outcome<Arc<ast::ClassDef>> {
        let ClassMember { name, declared_in, declaration, .. } = &self.members[member];
        if let Some(declaration) = declaration {
            return Ok(declaration.clone());
        }
        let (name, parent) = (*name, self.classes[*declared_in].def);
        let before = self.libraries.diagnostics.len();
        let Some(def) = self.libraries.class(parent, name) else {
            let diagnostic = match self.libraries.diagnostics.get(before) {
                Some(diagnostic) => diagnostic.clone(),
                None => Diagnostic::error("unreadable-class", format!("the class `{name}` cannot be read")),
            };
            return Err(Box::new(diagnostic));
        };
        let declaration = self.libraries.get(def).class.clone();
        self.members[member].declaration = Some(declaration.clone());
        Ok(declaration)
    }

    fn instantiate_class(
        &mut self,
        class: &Arc<ast::ClassDef>,
        scope: ClassId,
        modifier: Arc<Modifier>,
    ) -> Outcome<ClassId> {
        let modifier = modifier::of_final_class(modifier);
        // A plain other name for a class is that class, so that functions of media are made once.
        if let ast::ClassBody::Short { base, prefixes, subscripts, modification } = &class.body
            && modification.as_ref().is_none_or(|modification| modification.arguments.is_empty())
            && modifier.is_empty()
            && subscripts.is_empty()
            && *prefixes == ast::TypePrefixes::default()
        {
            let found = self.lookup_base(scope, base)?;
            // `connector C = E` is a connector, whatever `E` is.
            let same_kind = class.kind == ast::ClassKind::Class || class.kind == self.kind(found);
            if self.classes[found].builtin.is_none() && same_kind {
                return Ok(found);
            }
        }
        let parent = self.classes[scope].def;
        let def = self.libraries.definition_of(class, parent);
        Ok(self.new_class(def, Some(scope), None, modifier))
    }

    /// All class instances whose elements were found.
    pub(crate) fn expanded_classes(&self) -> Vec<ClassId> {
        self.classes.iter().filter(|(_, node)| node.expansion == Expansion::Done).map(|(id, _)| id).collect()
    }

    /// The elements of a class in order, inherited ones included.
    pub fn members(&mut self, class: ClassId) -> Vec<(Name, Member)> {
        self.expand(class);
        let node = &self.classes[class];
        node.order.iter().filter_map(|name| Some((*name, *node.members.get(name)?))).collect()
    }

    /// The components of a class in order, inherited ones included.
    pub fn components_of(&mut self, class: ClassId) -> Vec<CompId> {
        let members = self.members(class);
        members
            .into_iter()
            .filter_map(|(_, member)| match member {
                Member::Component(component) => Some(component),
                Member::Class(_) => None,
            })
            .collect()
    }

    /// The full name of the class of external objects that this class is, or is another name for.
    pub(crate) fn external_object_name(&mut self, class: ClassId) -> Name {
        let bases = self.with_bases(class);
        let is_predefined = |&part: &ClassId| self.classes[part].builtin == Some(Builtin::ExternalObject);
        let own = bases.iter().position(is_predefined).and_then(|at| bases.get(at + 1)).unwrap_or(&class);
        self.class_name(*own)
    }

    /// Whether a class is one of external objects (12.9.7).
    pub fn is_external_object(&mut self, class: ClassId) -> bool {
        self.expand(class);
        let node = &self.classes[class];
        node.builtin == Some(Builtin::ExternalObject)
            || node.bases.iter().any(|&base| self.classes[base].builtin == Some(Builtin::ExternalObject))
    }
}
