//! Selective model extension (specification 7.4): `extends B(break x, break connect(a, b))` takes over `B` without the
//! component `x`, the connections with it and the connections written as `connect(a, b)`.
//!
//! Deselection is a matter of the text alone: no modifier, condition or value has a say in it.

use std::sync::Arc;

use base::{Diagnostic, Name, Span};
use syntax::ast::{self, ClassKind};

use crate::instance::{ClassId, Instances, Member};
use crate::modifier::Modifier;

/// What an extends clause deselects.
#[derive(Clone, Default, Debug)]
pub struct Deselection {
    components: Vec<ast::Ident>,
    connections: Vec<(ast::ComponentRef, ast::ComponentRef, Span)>,
}

impl Deselection {
    pub(super) fn new(modification: &ast::ClassModification) -> Self {
        let mut result = Self::default();
        for argument in &modification.arguments {
            match argument {
                ast::Argument::BreakElement(name) => result.components.push(*name),
                ast::Argument::BreakConnect(left, right, span) => {
                    result.connections.push((left.clone(), right.clone(), *span));
                }
                _ => {}
            }
        }
        result
    }

    pub(super) fn is_empty(&self) -> bool {
        self.components.is_empty() && self.connections.is_empty()
    }

    pub(super) fn has_component(&self, name: Name) -> bool {
        self.components.iter().any(|component| component.name == name)
    }

    /// Whether one of the ends is a deselected component or lies in one.
    fn ends_in_component(&self, left: &ast::ComponentRef, right: &ast::ComponentRef) -> bool {
        let is_in = |end: &ast::ComponentRef| end.parts.first().is_some_and(|part| self.has_component(part.ident.name));
        is_in(left) || is_in(right)
    }

    fn has_connection(&self, left: &ast::ComponentRef, right: &ast::ComponentRef) -> bool {
        self.ends_in_component(left, right)
            || self.connections.iter().any(|(a, b, _)| is_same_connection((a, b), (left, right)))
    }
}

impl Instances {
    /// The modifiers of an extends clause and from outside without those of deselected components: the latter are of a
    /// component that the derived class declares anew, the former of nothing.
    pub(super) fn without_deselected(
        &mut self,
        deselection: &Deselection,
        outer: &Modifier,
        clause: &mut Modifier,
    ) -> Arc<Modifier> {
        let mut kept = Modifier { binding: None, redeclare: None, ..outer.clone() };
        if deselection.components.is_empty() {
            return Arc::new(kept);
        }
        kept.children.retain(|(name, _)| !deselection.has_component(*name));
        let (removed, children): (Vec<_>, Vec<_>) =
            std::mem::take(&mut clause.children).into_iter().partition(|(name, _)| deselection.has_component(*name));
        clause.children = children;
        for (name, modifier) in removed {
            let mut diagnostic =
                Diagnostic::error("deselected-modified", format!("`{name}` is deselected and modified at once"))
                    .hint("modify the component that is declared in its place")
                    .specification("7.4");
            if let Some(span) = modifier.span {
                diagnostic = diagnostic.at(span, "modified here");
            }
            if let Some(broken) = deselection.components.iter().find(|component| component.name == name) {
                diagnostic = diagnostic.at(broken.span, "deselected here");
            }
            self.report(Box::new(diagnostic));
        }
        Arc::new(kept)
    }

    /// Each deselection must match an element of the base class.
    pub(super) fn check_deselection(&mut self, base: ClassId) {
        let deselection = self.classes[base].deselection.clone();
        for name in &deselection.components {
            match self.classes[base].members.get(&name.name) {
                Some(&Member::Component(component)) => self.deselected.push((component, name.span)),
                Some(Member::Class(_)) => {
                    let message = format!("`{}` is a class and cannot be deselected", name.name);
                    let diagnostic = Diagnostic::error("deselect-class", message).at(name.span, "deselected here");
                    self.report(Box::new(diagnostic.specification("7.4")));
                }
                None => {
                    let class = self.class_name(base);
                    let message = format!("`{class}` has no component `{}` to deselect", name.name);
                    let mut diagnostic = Diagnostic::error("deselect-nothing", message)
                        .at(name.span, "not an element of the base class")
                        .specification("7.4");
                    if let Some(near) = self.nearest_member(base, name.name) {
                        diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
                    }
                    self.report(Box::new(diagnostic));
                }
            }
        }
        for (left, right, span) in &deselection.connections {
            if self.has_connection_left(base, (left, right)) {
                continue;
            }
            let class = self.class_name(base);
            let message = format!("`{class}` has no connection `connect({left}, {right})` to deselect");
            let hint = match deselection.ends_in_component(left, right) {
                true => "leave it out: it goes with the component that is deselected",
                false => "write both ends as the connection has them, with the same subscripts",
            };
            let diagnostic = Diagnostic::error("deselect-nothing", message).at(*span, "matches no connection");
            self.report(Box::new(diagnostic.hint(hint).specification("7.4")));
        }
    }

    /// Whether a base class has such a connection when the components of its extends clause are deselected.
    fn has_connection_left(&mut self, base: ClassId, wanted: (&ast::ComponentRef, &ast::ComponentRef)) -> bool {
        for class in self.with_bases(base) {
            let definition = self.definition(class).clone();
            let ast::ClassBody::Long(composition) = &definition.body else { continue };
            let sections = composition.equations.iter().filter(|section| !section.initial);
            let mut found = Vec::new();
            sections.for_each(|section| connections(&section.equations, &mut found));
            let is_left = |&(left, right): &(&ast::ComponentRef, &ast::ComponentRef)| {
                is_same_connection(wanted, (left, right))
                    && !self.classes[base].deselection.ends_in_component(left, right)
                    && !self.is_deselected_below(class, Some(base), left, right)
            };
            if found.iter().any(is_left) {
                return true;
            }
        }
        false
    }

    /// Only models, blocks and connectors can be deselected. Checked when the tree stands, for the type must be known.
    pub(crate) fn check_deselected_kinds(&mut self) {
        for (component, span) in std::mem::take(&mut self.deselected) {
            let node = &self.components[component];
            let (name, scope, type_name) = (node.name, node.type_scope, node.declaration.type_name.clone());
            let Ok(class) = self.lookup_type(scope, &type_name) else { continue };
            let is_structured = matches!(
                self.kind(class),
                ClassKind::Model
                    | ClassKind::Block
                    | ClassKind::Class
                    | ClassKind::Connector
                    | ClassKind::ExpandableConnector
            );
            if is_structured && self.classes[class].builtin.is_none() {
                continue;
            }
            let message = format!("`{name}` is no model, block or connector and cannot be deselected");
            let diagnostic = Diagnostic::error("deselect-kind", message)
                .at(span, "deselected here")
                .at(self.span(component), "declared here")
                .specification("7.4");
            self.report(Box::new(diagnostic));
        }
    }

    /// In the text of a base class a deselected name means what the derived class has in its place, and nothing if it has
    /// nothing of that name.
    pub(super) fn replace_deselected(&mut self, id: ClassId) {
        for base in self.classes[id].bases.clone() {
            for name in self.classes[base].deselection.components.clone() {
                let own = self.classes[id].members.get(&name.name).copied();
                let mut open = vec![base];
                while let Some(class) = open.pop() {
                    let node = &mut self.classes[class];
                    open.extend(&node.bases);
                    if node.members.remove(&name.name).is_none() {
                        continue;
                    }
                    match own {
                        Some(own) => drop(node.members.insert(name.name, own)),
                        None => node.without.push(name),
                    }
                }
            }
        }
    }

    /// The message for a name in the text of a class that a class derived from it deselects.
    pub(crate) fn deselected_name(&self, class: ClassId, name: Name) -> Option<Box<Diagnostic>> {
        let deselected = self.classes[class].without.iter().find(|component| component.name == name)?;
        let diagnostic = Diagnostic::error("deselected-used", format!("`{name}` is deselected but still used"))
            .at(deselected.span, "deselected here")
            .hint("declare a component of that name in its place; only connections with it go away by themselves")
            .specification("7.4");
        Some(Box::new(diagnostic))
    }

    /// Whether a connection in the text of `class` is deselected by a class that inherits it. One that `class` is also
    /// inherited without stays.
    pub(crate) fn is_deselected(&self, class: ClassId, left: &ast::ComponentRef, right: &ast::ComponentRef) -> bool {
        if !self.is_deselected_below(class, None, left, right) {
            return false;
        }
        let def = self.classes[class].def;
        let mut open = vec![self.classes[class].instance];
        while let Some(other) = open.pop() {
            open.extend(&self.classes[other].bases);
            if self.classes[other].def == def && !self.is_deselected_below(other, None, left, right) {
                return false;
            }
        }
        true
    }

    /// Whether an extends clause on the way up to the class instance `end` deselects a connection of `class`.
    fn is_deselected_below(
        &self,
        class: ClassId,
        end: Option<ClassId>,
        left: &ast::ComponentRef,
        right: &ast::ComponentRef,
    ) -> bool {
        let mut current = Some(class);
        while let Some(class) = current.filter(|&class| Some(class) != end) {
            let node = &self.classes[class];
            if node.deselection.has_connection(left, right) {
                return true;
            }
            current = node.derived;
        }
        false
    }
}

/// All connect equations, whatever conditions and loops they stand in.
fn connections<'e>(equations: &'e [ast::Equation], found: &mut Vec<(&'e ast::ComponentRef, &'e ast::ComponentRef)>) {
    for equation in equations {
        match &equation.kind {
            ast::EquationKind::Connect(left, right) => found.push((left, right)),
            ast::EquationKind::For { body, .. } => deep(|| connections(body, found)),
            ast::EquationKind::If { branches, otherwise } => deep(|| {
                branches.iter().for_each(|(_, body)| connections(body, found));
                connections(otherwise, found);
            }),
            _ => {}
        }
    }
}

fn deep<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, run)
}

/// Whether two connections are written alike, in whatever order of their ends. Layout and comments do not count.
fn is_same_connection(
    one: (&ast::ComponentRef, &ast::ComponentRef),
    other: (&ast::ComponentRef, &ast::ComponentRef),
) -> bool {
    let (a, b) = one;
    let (c, d) = other;
    (is_same_reference(a, c) && is_same_reference(b, d)) || (is_same_reference(a, d) && is_same_reference(b, c))
}

fn is_same_reference(a: &ast::ComponentRef, b: &ast::ComponentRef) -> bool {
    let is_same_part = |(a, b): (&ast::RefPart, &ast::RefPart)| {
        a.ident.name == b.ident.name && a.subscripts.len() == b.subscripts.len()
    };
    a.global == b.global
        && a.parts.len() == b.parts.len()
        && a.parts.iter().zip(&b.parts).all(is_same_part)
        && a.to_string() == b.to_string()
}
