//! Redeclaration (specification 7.3): what takes the place of a declared component or class, and what may be replaced at
//! all. Whether it fits is the matter of `interfaces`.

use std::sync::Arc;

use base::{Diagnostic, Name, Span};
use syntax::ast;

use super::components::dimensions;
use crate::instance::{ClassId, ClassMember, ClassMemberId, ComponentNode, Instances, Member, MemberNode, Outcome};
use crate::interfaces::{ToCheck, check_still_replaceable};
use crate::modifier::{self, Declaration, Modifier, Redeclare, Spread, is_extension, merge};

impl Instances {
    /// Redeclared elements must replace something that is inherited; one that does not is taken as an own element.
    pub(super) fn check_redeclared(&mut self, id: ClassId, composition: &ast::Composition) {
        for element in &composition.elements {
            let name = match element {
                ast::Element::Component(component) if component.prefixes.redeclare => component.name,
                ast::Element::Class(class) if class.prefixes.redeclare => class.name,
                _ => continue,
            };
            if let Some(other) = redeclared_in_clause(composition, name.name) {
                let diagnostic =
                    Diagnostic::error("duplicate-modifier", format!("`{}` is redeclared twice", name.name))
                        .at(name.span, "as an element here")
                        .at(other, "and in the extends clause here")
                        .specification("7.2.4");
                self.report(Box::new(diagnostic));
            }
            if self.classes[id].members.contains_key(&name.name) {
                continue;
            }
            let mut diagnostic = Diagnostic::breach(
                "redeclare-nothing",
                format!("`{}` is redeclared but no base class has it", name.name),
            )
            .at(name.span, "nothing to redeclare")
            .hint("remove `redeclare`, or extend from a class that declares it replaceable")
            .specification("7.3");
            if let Some(near) = self.nearest_member(id, name.name) {
                // What was to be replaced would stay as it is.
                diagnostic = diagnostic.hint(format!("did you mean `{near}`?")).refused();
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

    pub(super) fn redeclare_component(
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
                Diagnostic::breach("redeclare-constant", format!("the constant `{}` is redeclared", node.name))
                    .at(redeclare.span, "redeclared here")
                    .at(node.declaration.name.span, "declared here")
                    .specification("7.3.3");
            self.report(Box::new(diagnostic));
        }
        // Sizes left open may be given by a redeclaration of anything.
        let open = node.dimensions.iter().any(|dimension| matches!(dimension.subscript, ast::Subscript::All(_)));
        if !node.prefixes.replaceable && !open {
            let diagnostic = Diagnostic::breach("not-replaceable", format!("`{}` is not replaceable", node.name))
                .at(redeclare.span, "redeclared here")
                .at(node.declaration.name.span, "declared without `replaceable`")
                .hint("declare it `replaceable`, or remove the redeclaration")
                .specification("7.3.1");
            self.report(Box::new(diagnostic));
        }
        let diagnostics = &mut self.diagnostics;
        let mut text = match &component.modification {
            // What is said once holds for every element.
            Some(modification) => {
                modifier::from_modification(modification, redeclare.scope, redeclare.spread, true, diagnostics)
            }
            None => Modifier::default(),
        };
        text.is_final = component.prefixes.is_final;
        text.span = Some(component.name.span);
        if let Some(constraint) = component.constraint.as_ref().and_then(|constraint| constraint.modification.as_ref())
        {
            let below = modifier::from_class_modification(constraint, redeclare.scope, Spread::COMPONENT, diagnostics);
            let below = Arc::new(below);
            text = (*merge(&Arc::new(text), &below, diagnostics)).clone();
        }
        // With a constraining clause only its modifiers go on to redeclarations (7.3.2).
        let below = match &node.declaration.constraint {
            None => Arc::new(Modifier { redeclare: None, ..(**own).clone() }),
            Some(constraint) => match &constraint.modification {
                Some(modification) => {
                    let (scope, spread) = (node.declared_in, Spread::COMPONENT);
                    Arc::new(modifier::from_class_modification(modification, scope, spread, diagnostics))
                }
                None => Arc::default(),
            },
        };
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
            let message = format!("the redeclaration of `{}` has a condition", node.name);
            let diagnostic = Diagnostic::breach("redeclare-condition", message)
                .at(redeclare.span, "redeclared here")
                .hint("give the condition where the component is declared first")
                .specification("7.3");
            self.report(Box::new(diagnostic));
            node.condition = Some(condition.clone());
        }
    }

    /// `model extends M` without `redeclare`: the class has an own `M`, which extends the inherited one.
    pub(super) fn extends_inherited(&mut self, id: ClassId, own: Member, inherited: Member) -> bool {
        let (Member::Class(own), Member::Class(inherited)) = (own, inherited) else { return false };
        let is_own = self.members[own].declared_in == id;
        if !is_own || !self.members[own].declaration.as_ref().is_some_and(|class| is_extension(class)) {
            return false;
        }
        let is_replaceable = self.members[inherited].declaration.as_ref().is_some_and(|c| c.prefixes.replaceable);
        if !is_replaceable && let Some(class) = self.members[own].declaration.clone() {
            let diagnostic =
                Diagnostic::breach("not-replaceable", format!("the class `{}` is not replaceable", class.name.name))
                    .at(class.name.span, "extended here")
                    .specification("7.3.1");
            self.report(Box::new(diagnostic));
        }
        self.members[own].under = Some(inherited);
        true
    }

    /// The base of `redeclare model extends M(…)`: the class that it replaces.
    pub(super) fn inherit_extended(
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

    /// `outer` over the modifiers of the redeclaration over `below`.
    pub(super) fn redeclared_class(
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
        if is_extension(class) {
            return self.class_extension(member, class, redeclare, outer);
        }
        // The modifiers of its own constraining clause hold for the redeclaration itself, too (7.3.2).
        let below = merge(&redeclare.for_redeclarations(&mut self.diagnostics), &below, &mut self.diagnostics);
        // The text of a short class comes before what is below it: `redeclare package M = Air(x = 1)`.
        let (body_modifier, class_scope) = match &class.body {
            ast::ClassBody::Short { modification: Some(modification), .. } => {
                let (scope, diagnostics) = (redeclare.scope, &mut self.diagnostics);
                let own = modifier::from_class_modification(modification, scope, Spread::CLASS, diagnostics);
                (Arc::new(own), scope)
            }
            _ => (Arc::default(), redeclare.scope),
        };
        let modifier = merge(&body_modifier, &below, &mut self.diagnostics);
        let modifier = merge(&outer, &modifier, &mut self.diagnostics);
        let made = self.instantiate_class(class, class_scope, modifier)?;
        self.redeclarations.push(ToCheck { class: made, member, redeclare: Some(redeclare.clone()) });
        Ok(made)
    }

    /// `redeclare model extends M(…)`: a class whose base is the one that it replaces. What is said about that one, by
    /// constraining clauses and further inside, belongs to the base, so that the modifiers of the extension win over it.
    fn class_extension(
        &mut self,
        member: ClassMemberId,
        class: &Arc<ast::ClassDef>,
        redeclare: &Redeclare,
        outer: Arc<Modifier>,
    ) -> Outcome<ClassId> {
        let name = self.members[member].name;
        check_still_replaceable(self, redeclare, name.as_str());
        let parent = self.classes[redeclare.scope].def;
        let def = self.libraries.definition_of(class, parent);
        let id = self.new_class(def, Some(redeclare.scope), None, modifier::of_final_class(outer));
        let constraint = redeclare.constraint_modifier(&mut self.diagnostics);
        let base = merge(&constraint, &redeclare.extended, &mut self.diagnostics);
        self.classes[id].extended = Some(self.member_below(member, base));
        Ok(id)
    }

    /// A redeclaration as an element is as visible as what it replaces.
    pub(super) fn check_visibility(&mut self, redeclare: &Redeclare, was_protected: bool, declared: base::Span) {
        let is_protected = match &redeclare.declaration {
            Declaration::Class(class) => class.prefixes.protected,
            Declaration::Component(component) => component.prefixes.protected,
        };
        if !redeclare.element || is_protected == was_protected {
            return;
        }
        let diagnostic =
            Diagnostic::breach("redeclare-visibility", "a redeclaration changes public to protected, or back")
                .at(redeclare.span, "redeclared here")
                .at(declared, "declared here")
                .specification("7.3");
        self.report(Box::new(diagnostic));
    }

    /// The class as it was declared, without any redeclaration.
    pub(crate) fn original_class(&mut self, member: ClassMemberId) -> Outcome<ClassId> {
        let original = self.member_below(member, Arc::default());
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

    /// The class under a redeclaration: the declaration with modifiers from further inside, the redeclaration before it included.
    fn member_below(&mut self, member: ClassMemberId, modifier: Arc<Modifier>) -> ClassMemberId {
        let declared = &self.members[member];
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
}

/// Where an extends clause of a class redeclares the element of that name.
fn redeclared_in_clause(composition: &ast::Composition, name: Name) -> Option<Span> {
    let clauses = composition.elements.iter().filter_map(|element| match element {
        ast::Element::Extends(extends) => extends.modification.as_ref(),
        _ => None,
    });
    clauses.flat_map(|clause| &clause.arguments).find_map(|argument| match argument {
        ast::Argument::RedeclareClass { class, .. } if class.name.name == name => Some(class.name.span),
        ast::Argument::RedeclareComponent { component, .. } if component.name.name == name => Some(component.name.span),
        _ => None,
    })
}
