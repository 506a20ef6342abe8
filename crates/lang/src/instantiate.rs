//! Expansion of class instances (specification 5.6): own elements, base classes, redeclared elements, types of components.
//!
//! Everything is done on demand: `expand` finds the elements of a class and its bases but not the types of its
//! components, `component_type` finds one type, `class_of` makes one declared class an instance.

use std::sync::Arc;

use base::{Diagnostic, IdVec, Name};
use rustc_hash::FxHashMap;
use syntax::ast;

use crate::instance::{
    BindingSource, Builtin, ClassId, ClassMember, ClassMemberId, ClassNode, CompId, ComponentNode, ComponentType,
    Dimension, Expansion, Instances, Member, MemberNode, Outcome, SimpleType, SizeState, TypeState,
};
use crate::interfaces::ToCheck;
use crate::library::{DefId, Libraries};
use crate::modifier::{self, Declaration, Modifier, Redeclare, is_extension, merge};
use crate::restrictions::{check_name, kind_text, may_extend};

/// Components nested deeper than this contain themselves.
const DEEPEST: usize = 200;

impl Instances {
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
            bases: Vec::new(),
            simple: None,
            derived: None,
            broken: Vec::new(),
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
        self.add_unread_classes(id);
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
        self.check_redeclared(id, composition);
    }

    /// A base class must not be found through what another base class brings (7.1.4).
    fn check_base_name(&mut self, id: ClassId, extends: &ast::Extends) {
        let Some(first) = extends.base.parts.first() else { return };
        if extends.base.global {
            return;
        }
        if let Some(&Member::Class(member)) = self.classes[id].members.get(&first.name)
            && self.members[member].declaration.as_ref().is_some_and(|class| class.prefixes.replaceable)
        {
            let diagnostic =
                Diagnostic::error("replaceable-base", format!("the base class `{}` is replaceable", first.name))
                    .at(extends.base.span, "used as a base class")
                    .hint("extend from a class that cannot be exchanged")
                    .specification("7.1.4");
            self.report(Box::new(diagnostic));
        }
        let inherited = match self.classes[id].members.get(&first.name) {
            Some(&Member::Class(member)) => self.members[member].declared_in != id,
            _ => false,
        };
        if inherited {
            let diagnostic =
                Diagnostic::error("inherited-base", format!("the base class `{}` is itself inherited", first.name))
                    .at(extends.base.span, "found in another base class")
                    .specification("7.1.4");
            self.report(Box::new(diagnostic));
        }
    }

    /// A class that holds an operator record cannot be extended: the record would be another type in it (4.7).
    fn check_operator_records(&mut self, base: ClassId, extends: &ast::Extends) {
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

    fn check_base_kind(&mut self, id: ClassId, base: ClassId, extends: &ast::Extends) {
        let (kind, base_kind) = (self.kind(id), self.kind(base));
        if may_extend(kind, base_kind) {
            return;
        }
        let (name, base_name) = (self.class_name(id), self.class_name(base));
        let text = format!("the {} `{name}` extends the {} `{base_name}`", kind_text(kind), kind_text(base_kind));
        let diagnostic =
            Diagnostic::error("extends-kind", text).at(extends.base.span, "not allowed here").specification("7.1.3");
        self.report(Box::new(diagnostic));
    }

    /// Redeclared elements must replace something that is inherited; one that does not is taken as an own element.
    fn check_redeclared(&mut self, id: ClassId, composition: &ast::Composition) {
        for element in &composition.elements {
            let name = match element {
                ast::Element::Component(component) if component.prefixes.redeclare => component.name,
                ast::Element::Class(class) if class.prefixes.redeclare => class.name,
                _ => continue,
            };
            if self.classes[id].members.contains_key(&name.name) {
                continue;
            }
            let mut diagnostic = Diagnostic::error(
                "redeclare-nothing",
                format!("`{}` is redeclared but no base class has it", name.name),
            )
            .at(name.span, "nothing to redeclare")
            .hint("remove `redeclare`, or extend from a class that declares it replaceable")
            .specification("7.3");
            if let Some(near) = self.nearest_member(id, name.name) {
                diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
            }
            self.report(Box::new(diagnostic));
            match element {
                ast::Element::Component(component) => {
                    self.add_component(id, component);
                }
                ast::Element::Class(class) => self.add_class(id, class),
                _ => {}
            }
        }
    }

    /// The modifiers that go on to base classes: those from outside over the redeclared elements of this class.
    fn modifier_for_bases(&mut self, id: ClassId, composition: &ast::Composition) -> Arc<Modifier> {
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

    /// Classes of a package that stand in files of their own.
    fn add_unread_classes(&mut self, id: ClassId) {
        let def = self.classes[id].def;
        if self.libraries.get(def).directory.is_none() && def != Libraries::ROOT {
            return;
        }
        for name in self.libraries.get(def).class_names.clone() {
            if self.classes[id].members.contains_key(&name) {
                continue;
            }
            self.add_unread_class(id, name);
        }
    }

    /// A class of the folder of a package, or a top-level class. Its text is read when it is first used.
    pub(crate) fn add_unread_class(&mut self, id: ClassId, name: Name) -> Option<ClassMemberId> {
        let modifier = self.classes[id].modifier.child(name).cloned().unwrap_or_default();
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

    fn insert(&mut self, id: ClassId, name: Name, member: Member) {
        let node = &mut self.classes[id];
        if node.members.insert(name, member).is_none() {
            node.order.push(name);
        }
    }

    fn add_class(&mut self, id: ClassId, class: &Arc<ast::ClassDef>) {
        let name = class.name.name;
        let outer = self.classes[id].modifier.child(name).cloned().unwrap_or_default();
        if let Some(known @ Member::Class(own)) = self.inherited_twice(id, name) {
            let is_extension = self.members[own].declaration.as_ref().is_some_and(|class| is_extension(class));
            if !is_extension {
                self.check_same_class(own, class);
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

    /// The element of that name which an inheriting class already has, when `id` is a base class: an element that is
    /// inherited twice is one.
    fn inherited_twice(&self, id: ClassId, name: Name) -> Option<Member> {
        let mut current = self.classes[id].derived;
        while let Some(class) = current {
            if let Some(&member) = self.classes[class].members.get(&name) {
                return Some(member);
            }
            current = self.classes[class].derived;
        }
        None
    }

    fn check_duplicate(&mut self, id: ClassId, name: ast::Ident) -> bool {
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

    fn add_component(&mut self, id: ClassId, declared: &Arc<ast::Component>) {
        let name = declared.name.name;
        if let Some(known @ Member::Component(own)) = self.inherited_twice(id, name) {
            self.check_same_component(own, declared);
            self.insert(id, name, known);
            return;
        }
        if self.check_duplicate(id, declared.name) {
            return;
        }
        let outer = self.classes[id].modifier.child(name).cloned().unwrap_or_default();
        let node = self.component_node(id, declared, &outer);
        let component = self.components.push(node);
        self.insert(id, name, Member::Component(component));
    }

    fn component_node(&mut self, id: ClassId, declared: &Arc<ast::Component>, outer: &Arc<Modifier>) -> ComponentNode {
        let diagnostics = &mut self.diagnostics;
        let mut own = match &declared.modification {
            Some(modification) => {
                let mut own = modifier::from_modification(modification, id, false, true, diagnostics);
                own.span = Some(declared.name.span);
                own
            }
            None => Modifier { span: Some(declared.name.span), ..Modifier::default() },
        };
        own.is_final = declared.prefixes.is_final;
        let mut own = Arc::new(own);
        if let Some(constraint) = declared.constraint.as_ref().and_then(|constraint| constraint.modification.as_ref()) {
            let below = modifier::from_class_modification(constraint, id, diagnostics);
            own = merge(&own, &Arc::new(below), diagnostics);
        }
        let mut node = ComponentNode {
            name: declared.name.name,
            parent: self.classes[id].instance,
            declared_in: id,
            declaration: declared.clone(),
            type_scope: id,
            modifier: own.clone(),
            type_prefixes: declared.type_prefixes,
            prefixes: declared.prefixes,
            condition: declared.condition.clone(),
            dimensions: dimensions(&declared.subscripts, id),
            own_dimensions: declared.subscripts.len(),
            original: None,
            removed: false,
            ty: TypeState::Unknown,
            sizes: SizeState::Unknown,
        };
        match &outer.redeclare {
            Some(redeclare) => self.redeclare_component(&mut node, redeclare, outer, &own),
            None => node.modifier = merge(outer, &own, &mut self.diagnostics),
        }
        node
    }

    fn redeclare_component(
        &mut self,
        node: &mut ComponentNode,
        redeclare: &Arc<Redeclare>,
        outer: &Arc<Modifier>,
        own: &Arc<Modifier>,
    ) {
        let Declaration::Component(component) = &redeclare.declaration else {
            let diagnostic =
                Diagnostic::error("redeclare-kind", format!("`{}` is a component, not a class", node.name))
                    .at(redeclare.span, "redeclared as a class here")
                    .at(node.declaration.name.span, "declared here")
                    .specification("7.3");
            self.report(Box::new(diagnostic));
            return;
        };
        self.check_visibility(redeclare, node.prefixes.protected, node.declaration.name.span);
        if node.prefixes.is_final {
            let diagnostic =
                Diagnostic::error("final-modified", format!("the final component `{}` is redeclared", node.name))
                    .at(redeclare.span, "redeclared here")
                    .at(node.declaration.name.span, "final here")
                    .hint("remove the redeclaration, or the prefix `final` of the declaration")
                    .specification("7.2.6");
            self.report(Box::new(diagnostic));
            return;
        }
        if node.type_prefixes.variability == ast::Variability::Constant {
            let diagnostic =
                Diagnostic::error("redeclare-constant", format!("the constant `{}` is redeclared", node.name))
                    .at(redeclare.span, "redeclared here")
                    .at(node.declaration.name.span, "declared here")
                    .specification("7.3.3");
            self.report(Box::new(diagnostic));
        }
        // Sizes left open may be given by a redeclaration of anything.
        let open = node.dimensions.iter().any(|dimension| matches!(dimension.subscript, ast::Subscript::All(_)));
        if !node.prefixes.replaceable && !open {
            let diagnostic = Diagnostic::error("not-replaceable", format!("`{}` is not replaceable", node.name))
                .at(redeclare.span, "redeclared here")
                .at(node.declaration.name.span, "declared without `replaceable`")
                .hint("declare it `replaceable`, or remove the redeclaration")
                .specification("7.3.1");
            self.report(Box::new(diagnostic));
        }
        let diagnostics = &mut self.diagnostics;
        let mut text = match &component.modification {
            Some(modification) => {
                modifier::from_modification(modification, redeclare.scope, outer.each, true, diagnostics)
            }
            None => Modifier::default(),
        };
        text.is_final = component.prefixes.is_final;
        text.span = Some(component.name.span);
        if let Some(constraint) = component.constraint.as_ref().and_then(|constraint| constraint.modification.as_ref())
        {
            let below = Arc::new(modifier::from_class_modification(constraint, redeclare.scope, diagnostics));
            text = (*merge(&Arc::new(text), &below, diagnostics)).clone();
        }
        let below = Arc::new(Modifier { redeclare: None, ..(**own).clone() });
        let below = merge(&redeclare.below, &below, diagnostics);
        let text = merge(&Arc::new(text), &below, diagnostics);
        let outer = Arc::new(Modifier { redeclare: None, ..(**outer).clone() });
        node.modifier = merge(&outer, &text, diagnostics);
        node.type_scope = redeclare.scope;
        node.original = Some((node.declaration.clone(), redeclare.clone()));
        node.declaration = component.clone();
        let (old, new) = (node.type_prefixes, component.type_prefixes);
        node.type_prefixes = ast::TypePrefixes {
            flow: if new.flow == ast::Flow::None { old.flow } else { new.flow },
            variability: if new.variability == ast::Variability::Unstated { old.variability } else { new.variability },
            direction: if new.direction == ast::Direction::None { old.direction } else { new.direction },
        };
        let prefixes = &component.prefixes;
        node.prefixes.inner |= prefixes.inner;
        node.prefixes.outer |= prefixes.outer;
        node.prefixes.is_final |= prefixes.is_final;
        node.prefixes.replaceable = prefixes.replaceable || (!redeclare.element && node.prefixes.replaceable);
        if !component.subscripts.is_empty() {
            node.dimensions = dimensions(&component.subscripts, redeclare.scope);
            node.own_dimensions = component.subscripts.len();
        }
        if let Some(condition) = &component.condition {
            node.condition = Some(condition.clone());
        }
    }

    /// Adds the base class of that name; outer modifiers win over those of the extends clause.
    fn inherit(
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
        while let Some(class) = current {
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
        Some(self.inherit_class(id, scope, found, modification, outer))
    }

    /// The class that inherits this base class directly.
    fn derived(&self, base: ClassId) -> Option<ClassId> {
        let instance = self.classes[base].instance;
        (instance != base).then(|| self.classes[base].derived.unwrap_or(instance))
    }

    fn inherit_class(
        &mut self,
        id: ClassId,
        scope: ClassId,
        found: ClassId,
        modification: Option<&Arc<ast::ClassModification>>,
        outer: Arc<Modifier>,
    ) -> ClassId {
        let mut modifier = Arc::new(Modifier { binding: None, redeclare: None, ..(*outer).clone() });
        let mut broken = Vec::new();
        if let Some(modification) = modification {
            let below = modifier::from_class_modification(modification, scope, &mut self.diagnostics);
            modifier = merge(&modifier, &Arc::new(below), &mut self.diagnostics);
            broken = modification
                .arguments
                .iter()
                .filter(|argument| matches!(argument, ast::Argument::BreakElement(_) | ast::Argument::BreakConnect(..)))
                .cloned()
                .collect();
        }
        let owner = self.classes[id].owner;
        let base = self.copy_class(found, owner, modifier);
        self.classes[base].instance = self.classes[id].instance;
        self.classes[base].derived = Some(id);
        self.classes[base].broken = broken;
        self.classes[id].bases.push(base);
        self.expand(base);
        self.take_members(id, base);
        base
    }

    fn take_members(&mut self, id: ClassId, base: ClassId) {
        let removed: Vec<Name> = self.classes[base]
            .broken
            .iter()
            .filter_map(|argument| match argument {
                ast::Argument::BreakElement(name) => Some(name.name),
                _ => None,
            })
            .collect();
        for name in self.classes[base].order.clone() {
            if removed.contains(&name) {
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

    /// `model extends M` without `redeclare`: the class has an own `M`, which extends the inherited one.
    fn extends_inherited(&mut self, id: ClassId, own: Member, inherited: Member) -> bool {
        let (Member::Class(own), Member::Class(inherited)) = (own, inherited) else { return false };
        let is_own = self.members[own].declared_in == id;
        if !is_own || !self.members[own].declaration.as_ref().is_some_and(|class| is_extension(class)) {
            return false;
        }
        let is_replaceable = self.members[inherited].declaration.as_ref().is_some_and(|c| c.prefixes.replaceable);
        if !is_replaceable && let Some(class) = self.members[own].declaration.clone() {
            let diagnostic =
                Diagnostic::error("not-replaceable", format!("the class `{}` is not replaceable", class.name.name))
                    .at(class.name.span, "extended here")
                    .specification("7.3.1");
            self.report(Box::new(diagnostic));
        }
        self.members[own].under = Some(inherited);
        true
    }

    fn check_same_class(&mut self, own: ClassMemberId, class: &Arc<ast::ClassDef>) {
        let (one, first) = self.declaration_text(Member::Class(own));
        let words = self.class_words(class);
        if one.is_some_and(|one| one != words) {
            self.report_different(first, Some(class.name.span));
        }
    }

    fn check_same_component(&mut self, own: CompId, declared: &Arc<ast::Component>) {
        let redeclared = self.components[own].original.is_some();
        if !redeclared && self.component_words(&self.components[own].declaration) != self.component_words(declared) {
            self.report_different(Some(self.components[own].declaration.name.span), Some(declared.name.span));
        }
    }

    /// Two elements of one name that a class gets from several sides must be the same (7.1.1).
    fn check_same(&mut self, one: Member, other: Member) {
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

    /// The type and the value of a component; other attributes are not compared.
    fn component_words(&self, declaration: &ast::Component) -> String {
        let mut text = self.words(declaration.type_name.span);
        let value = declaration.modification.as_ref().and_then(|modification| modification.value.as_ref());
        if let Some(ast::ModificationValue::Expr(value)) = value {
            text.push_str(&self.words(value.span));
        }
        text
    }

    /// The words of a declaration, and where it is.
    fn declaration_text(&self, member: Member) -> (Option<String>, Option<base::Span>) {
        match member {
            Member::Component(component) => {
                let declaration = &self.components[component].declaration;
                (Some(self.component_words(declaration)), Some(declaration.name.span))
            }
            Member::Class(class) => match &self.members[class].declaration {
                Some(class) => (Some(self.class_words(class)), Some(class.name.span)),
                None => (None, None),
            },
        }
    }

    /// The base of `redeclare model extends M(…)`: the class that it replaces.
    fn inherit_extended(
        &mut self,
        id: ClassId,
        modification: Option<&Arc<ast::ClassModification>>,
        outer: Arc<Modifier>,
    ) {
        let Some(extended) = self.classes[id].extended else {
            let name = self.definition(id).name;
            let diagnostic =
                Diagnostic::error("extends-nothing", format!("there is no inherited class `{}` to extend", name.name))
                    .at(name.span, "a class extension needs one")
                    .specification("7.3.1");
            self.report(Box::new(diagnostic));
            return;
        };
        match self.class_of(extended) {
            Ok(found) => {
                self.inherit_class(id, id, found, modification, outer);
            }
            Err(diagnostic) => self.report(diagnostic),
        }
    }

    fn protect(&mut self, base: ClassId) {
        for name in self.classes[base].order.clone() {
            match self.classes[base].members.get(&name) {
                Some(&Member::Component(component)) => self.components[component].prefixes.protected = true,
                Some(&Member::Class(class)) => self.members[class].protected = true,
                None => {}
            }
        }
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
            Some(modification) => {
                Arc::new(modifier::from_class_modification(modification, declared_in, &mut self.diagnostics))
            }
            None => Arc::default(),
        };
        if declaration.prefixes.outer
            && !declaration.prefixes.inner
            && let Some(inner) = crate::inner_outer::inner_class(self, declared_in, name)
        {
            return self.class_of(inner);
        }
        let Some(redeclare) = outer.redeclare.clone() else {
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
        if !declaration.prefixes.replaceable && !redeclare.is_extension() && !declaration.prefixes.redeclare {
            let diagnostic = Diagnostic::error("not-replaceable", format!("the class `{name}` is not replaceable"))
                .at(redeclare.span, "redeclared here")
                .at(declaration.name.span, "declared without `replaceable`")
                .hint("declare it `replaceable`, or remove the redeclaration")
                .specification("7.3.1");
            self.report(Box::new(diagnostic));
        }
        // Without a constraining clause the modifiers of a short class definition hold for redeclarations too.
        let below = match &declaration.body {
            ast::ClassBody::Short { modification: Some(modification), .. } if declaration.constraint.is_none() => {
                let own = modifier::from_class_modification(modification, declared_in, &mut self.diagnostics);
                merge(&Arc::new(own), &below, &mut self.diagnostics)
            }
            _ => below,
        };
        let outer = Arc::new(Modifier { redeclare: None, binding: None, ..(*outer).clone() });
        self.redeclared_class(member, &redeclare, outer, below)
    }

    /// A redeclaration as an element is as visible as what it replaces.
    fn check_visibility(&mut self, redeclare: &Redeclare, was_protected: bool, declared: base::Span) {
        let is_protected = match &redeclare.declaration {
            Declaration::Class(class) => class.prefixes.protected,
            Declaration::Component(component) => component.prefixes.protected,
        };
        if !redeclare.element || is_protected == was_protected {
            return;
        }
        let diagnostic =
            Diagnostic::error("redeclare-visibility", "a redeclaration changes public to protected, or back")
                .at(redeclare.span, "redeclared here")
                .at(declared, "declared here")
                .specification("7.3");
        self.report(Box::new(diagnostic));
    }

    /// `outer` over the modifiers of the redeclaration over `below`.
    fn redeclared_class(
        &mut self,
        member: ClassMemberId,
        redeclare: &Arc<Redeclare>,
        outer: Arc<Modifier>,
        below: Arc<Modifier>,
    ) -> Outcome<ClassId> {
        let Declaration::Class(class) = &redeclare.declaration else {
            let name = self.members[member].name;
            return Err(Box::new(
                Diagnostic::error("redeclare-kind", format!("`{name}` is a class, not a component"))
                    .at(redeclare.span, "redeclared as a component here")
                    .specification("7.3"),
            ));
        };
        let below = merge(&redeclare.below, &below, &mut self.diagnostics);
        // The text of a short class comes before what is below it: `redeclare package M = Air(x = 1)`.
        let (body_modifier, class_scope) = match &class.body {
            ast::ClassBody::Short { modification: Some(modification), .. } => (
                Arc::new(modifier::from_class_modification(modification, redeclare.scope, &mut self.diagnostics)),
                redeclare.scope,
            ),
            _ => (Arc::default(), redeclare.scope),
        };
        let modifier = merge(&body_modifier, &below, &mut self.diagnostics);
        let modifier = merge(&outer, &modifier, &mut self.diagnostics);
        if !is_extension(class) {
            let made = self.instantiate_class(class, class_scope, modifier)?;
            self.redeclarations.push(ToCheck { class: made, member, redeclare: Some(redeclare.clone()) });
            return Ok(made);
        }
        let parent = self.classes[class_scope].def;
        let def = self.libraries.definition_of(class, parent);
        let id = self.new_class(def, Some(class_scope), None, modifier);
        self.classes[id].extended = Some(self.member_below(member, redeclare.inner.as_ref()));
        Ok(id)
    }

    /// The class as it was declared, without any redeclaration.
    pub(crate) fn original_class(&mut self, member: ClassMemberId) -> Outcome<ClassId> {
        let original = self.member_below(member, None);
        self.class_of(original)
    }

    /// Makes the classes that were redeclared, so that they are checked even where nothing uses them.
    pub(crate) fn make_redeclared(&mut self, class: ClassId) {
        for (_, member) in self.members(class) {
            if let Member::Class(member) = member
                && self.members[member].modifier.redeclare.is_some()
                && let Err(diagnostic) = self.class_of(member)
            {
                self.report(diagnostic);
            }
        }
    }

    /// The class under a redeclaration: the declaration with the redeclaration before it, or with none.
    fn member_below(&mut self, member: ClassMemberId, before: Option<&Arc<Redeclare>>) -> ClassMemberId {
        let declared = &self.members[member];
        let modifier = match before {
            Some(inner) => Arc::new(Modifier { redeclare: Some(inner.clone()), ..Modifier::default() }),
            None => Arc::default(),
        };
        let under = ClassMember {
            name: declared.name,
            declared_in: declared.declared_in,
            declaration: declared.declaration.clone(),
            modifier,
            protected: declared.protected,
            node: MemberNode::Unknown,
            under: None,
        };
        self.members.push(under)
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

    /// A component of the model's top class that no text declares, with the type of `like`.
    pub(crate) fn add_implicit_component(&mut self, top: ClassId, like: CompId, declaration: ast::Component) -> CompId {
        let type_scope = self.components[like].type_scope;
        let node = ComponentNode {
            name: declaration.name.name,
            parent: top,
            declared_in: top,
            type_scope,
            modifier: Arc::default(),
            type_prefixes: declaration.type_prefixes,
            prefixes: declaration.prefixes,
            condition: None,
            dimensions: Vec::new(),
            own_dimensions: 0,
            original: None,
            removed: false,
            ty: TypeState::Unknown,
            sizes: SizeState::Unknown,
            declaration: Arc::new(declaration),
        };
        let name = node.name;
        let component = self.components.push(node);
        self.classes[top].members.entry(name).or_insert(Member::Component(component));
        component
    }

    /// The type of a component. For a class it is an instance of its own with the component's modifiers.
    pub fn component_type(&mut self, id: CompId) -> Outcome<ComponentType> {
        match &self.components[id].ty {
            TypeState::Known(ty) => return Ok(ty.clone()),
            TypeState::Failed(diagnostic) => return Err(diagnostic.clone()),
            TypeState::Busy => {
                let diagnostic =
                    Diagnostic::error("cyclic-type", format!("the type of `{}` depends on itself", self.path(id)));
                return Err(Box::new(diagnostic.at(self.span(id), "declared here")));
            }
            TypeState::Unknown => {}
        }
        self.components[id].ty = TypeState::Busy;
        let found = self.find_component_type(id);
        self.components[id].ty = match &found {
            Ok(ty) => TypeState::Known(ty.clone()),
            Err(diagnostic) => TypeState::Failed(diagnostic.clone()),
        };
        found
    }

    fn find_component_type(&mut self, id: CompId) -> Outcome<ComponentType> {
        let node = &self.components[id];
        let (scope, type_name) = (node.type_scope, node.declaration.type_name.clone());
        let class = match self.lookup_type(scope, &type_name) {
            Ok(class) => class,
            Err(diagnostic) => return Err(self.in_component(diagnostic, id)),
        };
        let modifier = self.components[id].modifier.clone();
        if let Some(simple) = self.simple_type(class)
            && let Some(builtin) = simple.builtin
        {
            let component = &mut self.components[id];
            component.dimensions.extend(simple.dimensions.iter().cloned());
            add_prefixes(&mut component.type_prefixes, simple.prefixes);
            let own = Arc::new(modifier.without_binding());
            let attributes = merge(&own, &simple.attributes, &mut self.diagnostics);
            return Ok(ComponentType::Builtin { builtin, attributes });
        }
        if self.chain(id).len() > DEEPEST {
            return Err(self.contains_itself(id, class, type_name.span));
        }
        let own = Arc::new(modifier.without_binding());
        let instance = self.copy_class(class, Some(id), own);
        let (dimensions, prefixes) = self.type_dimensions(instance);
        let component = &mut self.components[id];
        component.dimensions.extend(dimensions);
        add_prefixes(&mut component.type_prefixes, prefixes);
        if self.is_external_object(instance) {
            Ok(ComponentType::Object(instance))
        } else {
            Ok(ComponentType::Class(instance))
        }
    }

    /// The message names the first component on the way down that is of the class.
    fn contains_itself(&mut self, id: CompId, class: ClassId, span: base::Span) -> Box<Diagnostic> {
        let def = self.classes[class].def;
        let is_same = |this: &Self, id: CompId| match &this.components[id].ty {
            TypeState::Known(ComponentType::Class(class)) => this.classes[*class].def == def,
            _ => false,
        };
        let first = self.chain(id).into_iter().find(|&id| is_same(self, id)).unwrap_or(id);
        Box::new(
            Diagnostic::error("recursive-component", format!("`{}` contains itself", self.class_name(class)))
                .at(span, "as a part of itself")
                .in_component(self.path(first))
                .specification("5.6.1.1"),
        )
    }

    pub(crate) fn in_component(&self, mut diagnostic: Box<Diagnostic>, id: CompId) -> Box<Diagnostic> {
        if diagnostic.component.is_none() {
            diagnostic.component = self.owner_path(self.components[id].parent);
        }
        diagnostic
    }

    /// The dimensions and prefixes that short class definitions add: `connector C = input Real[3]`.
    fn type_dimensions(&mut self, class: ClassId) -> (Vec<Dimension>, ast::TypePrefixes) {
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

    /// Whether a short class definition on the way adds dimensions or prefixes.
    pub(crate) fn has_dimensions_or_prefixes(&mut self, class: ClassId) -> bool {
        let (dimensions, prefixes) = self.type_dimensions(class);
        !dimensions.is_empty() || prefixes != ast::TypePrefixes::default()
    }

    /// All class instances whose elements were found.
    pub(crate) fn expanded_classes(&self) -> Vec<ClassId> {
        self.classes.iter().filter(|(_, node)| node.expansion == Expansion::Done).map(|(id, _)| id).collect()
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

    pub fn is_external_object(&mut self, class: ClassId) -> bool {
        self.expand(class);
        let node = &self.classes[class];
        node.builtin == Some(Builtin::ExternalObject)
            || node.bases.iter().any(|&base| self.classes[base].builtin == Some(Builtin::ExternalObject))
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

    /// The class and its base classes, bases first, each in the order of its extends clauses: where equations stand. A
    /// class that is inherited twice counts once (7.1: equal equations are discarded).
    pub fn with_bases(&mut self, class: ClassId) -> Vec<ClassId> {
        self.expand(class);
        let mut order: Vec<ClassId> = Vec::new();
        let mut stack = vec![(class, false)];
        while let Some((id, done)) = stack.pop() {
            if done {
                if !order.iter().any(|&known| self.classes[known].def == self.classes[id].def) {
                    order.push(id);
                }
                continue;
            }
            stack.push((id, true));
            self.expand(id);
            stack.extend(self.classes[id].bases.iter().rev().map(|&base| (base, false)));
        }
        order
    }

    /// The dimensions of a component, those of its type included.
    pub fn dimensions(&mut self, id: CompId) -> Outcome<Vec<Dimension>> {
        self.component_type(id)?;
        Ok(self.components[id].dimensions.clone())
    }

    /// How many element numbers lead to the elements of a class instance: the ranks of the components above it.
    pub fn rank_above(&mut self, class: ClassId) -> usize {
        match self.classes[class].owner {
            None => 0,
            Some(owner) => {
                let chain = self.chain(owner);
                chain.iter().map(|&id| self.components[id].dimensions.len()).sum()
            }
        }
    }

    /// Where the value of a component comes from; `None` if it has no binding.
    pub fn binding(&self, id: CompId) -> Option<BindingSource> {
        let node = &self.components[id];
        if let Some(binding) = &node.modifier.binding {
            let from_inside = binding.declared && self.record_above(id).is_some();
            if !from_inside {
                return binding.expr.is_some().then(|| BindingSource::Expression(binding.clone()));
            }
        }
        if let Some(record) = self.record_above(id) {
            return Some(BindingSource::Field(record));
        }
        node.modifier.binding.as_ref().filter(|binding| binding.expr.is_some()).cloned().map(BindingSource::Expression)
    }

    /// The component of which this one is an element, if it has a value as a whole.
    fn record_above(&self, id: CompId) -> Option<CompId> {
        let owner = self.classes[self.components[id].parent].owner?;
        self.binding(owner).map(|_| owner)
    }

    /// The variability with that of the components above it.
    pub fn variability(&self, id: CompId) -> ast::Variability {
        let mut result = ast::Variability::Unstated;
        for id in self.chain(id) {
            result = stronger(result, self.components[id].type_prefixes.variability);
        }
        result
    }

    /// `flow` or `stream`, also of a component above it.
    pub fn flow(&self, id: CompId) -> ast::Flow {
        let chain = self.chain(id);
        chain
            .iter()
            .map(|&id| self.components[id].type_prefixes.flow)
            .find(|&flow| flow != ast::Flow::None)
            .unwrap_or_default()
    }

    /// `input` or `output`, also of a component above it.
    pub fn direction(&self, id: CompId) -> ast::Direction {
        let chain = self.chain(id);
        chain
            .iter()
            .map(|&id| self.components[id].type_prefixes.direction)
            .find(|&direction| direction != ast::Direction::None)
            .unwrap_or_default()
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

fn stronger(a: ast::Variability, b: ast::Variability) -> ast::Variability {
    let rank = |variability| match variability {
        ast::Variability::Unstated => 0,
        ast::Variability::Discrete => 1,
        ast::Variability::Parameter => 2,
        ast::Variability::Constant => 3,
    };
    if rank(b) > rank(a) { b } else { a }
}

fn add_prefixes(own: &mut ast::TypePrefixes, of_type: ast::TypePrefixes) {
    if own.flow == ast::Flow::None {
        own.flow = of_type.flow;
    }
    if own.direction == ast::Direction::None {
        own.direction = of_type.direction;
    }
    own.variability = stronger(own.variability, of_type.variability);
}

fn dimensions(subscripts: &[ast::Subscript], scope: ClassId) -> Vec<Dimension> {
    subscripts.iter().map(|subscript| Dimension { subscript: subscript.clone(), scope }).collect()
}

/// Elements that connections add to expandable connectors (9.1.3).
impl Instances {
    /// Adds the element `name`, of the type that `like` has, to an expandable connector.
    pub(crate) fn add_expandable_element(&mut self, class: ClassId, name: Name, like: CompId, sizes: &[usize]) {
        let source = &self.components[like];
        let mut declaration = (*source.declaration).clone();
        declaration.name.name = name;
        declaration.condition = None;
        declaration.modification = None;
        let span = declaration.name.span;
        let number = |&size: &usize| {
            let expr = ast::Expr { kind: ast::ExprKind::Integer(size as i64), span };
            ast::Subscript::Expr(Arc::new(expr))
        };
        // What the type itself has as dimensions comes with it again.
        let of_type = source.dimensions.len() - source.own_dimensions;
        let own = sizes.len().saturating_sub(of_type);
        declaration.subscripts = sizes[..own].iter().map(number).collect();
        let (type_scope, modifier) = (source.type_scope, source.modifier.without_binding());
        let mut type_prefixes = source.declaration.type_prefixes;
        type_prefixes.direction = ast::Direction::None;
        let node = ComponentNode {
            name,
            parent: self.classes[class].instance,
            declared_in: class,
            dimensions: dimensions(&declaration.subscripts, class),
            own_dimensions: own,
            declaration: Arc::new(declaration),
            type_scope,
            modifier: Arc::new(modifier),
            type_prefixes,
            prefixes: ast::ElementPrefixes::default(),
            condition: None,
            ty: TypeState::Unknown,
            sizes: SizeState::Unknown,
            original: None,
            removed: false,
        };
        let component = self.components.push(node);
        // Who writes it is decided by the connections, not by the type it is taken from.
        if self.component_type(component).is_ok() {
            self.components[component].type_prefixes.direction = ast::Direction::None;
        }
        self.insert(class, name, Member::Component(component));
    }

    /// Adds an element that is an expandable connector like the one it is in, without elements.
    pub(crate) fn add_nested_expandable(&mut self, class: ClassId, connector: CompId, name: ast::Ident) {
        let def = self.libraries.empty_expandable(name);
        let top = self.root();
        let mut declaration = (*self.components[connector].declaration).clone();
        declaration.name = name;
        declaration.subscripts.clear();
        declaration.modification = None;
        declaration.condition = None;
        let component = self.components.push(ComponentNode {
            name: name.name,
            parent: self.classes[class].instance,
            declared_in: class,
            declaration: Arc::new(declaration),
            type_scope: class,
            modifier: Arc::default(),
            type_prefixes: ast::TypePrefixes::default(),
            prefixes: ast::ElementPrefixes::default(),
            condition: None,
            dimensions: Vec::new(),
            own_dimensions: 0,
            ty: TypeState::Unknown,
            sizes: SizeState::Unknown,
            original: None,
            removed: false,
        });
        let node = self.new_class(def, Some(top), Some(component), Arc::default());
        self.components[component].ty = TypeState::Known(ComponentType::Class(node));
        self.insert(class, name.name, Member::Component(component));
    }
}
