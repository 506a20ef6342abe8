//! Inner and outer (specification 5.4): an outer component stands for the inner one of that name that is nearest above it.

use base::{Diagnostic, Name};
use syntax::ast;

use crate::instance::{ClassId, ClassMemberId, CompId, Instances, Member, Outcome};

/// The inner component for an outer one. Where the model has none, one is made at its top (5.4: implicit inner).
pub fn inner_of(instances: &mut Instances, component: CompId) -> Outcome<CompId> {
    let name = instances.component(component).name;
    // A component that is inner and outer refers to the one above; start above its own class.
    let mut class = instances.component(component).parent;
    let mut first = true;
    let top = loop {
        if !first && let Some(found) = inner_member(instances, class, name) {
            if instances.implicit_inner.get(&(class, name)) == Some(&found) {
                return implicit_inner(instances, component, class);
            }
            // One that is outer as well is an instance of its own for what is below it.
            return Ok(found);
        }
        if first
            && !instances.component(component).prefixes.inner
            && let Some(found) = inner_member(instances, class, name)
            && found != component
        {
            return Ok(found);
        }
        first = false;
        match above(instances, class) {
            Some(next) => class = next,
            None => break class,
        }
    };
    implicit_inner(instances, component, top)
}

/// The class instance around one: that of which the component is an element whose type it is; for a class that is no
/// component's type, that in which it is declared.
fn above(instances: &Instances, class: ClassId) -> Option<ClassId> {
    let node = instances.class(class);
    match node.owner {
        Some(owner) => Some(instances.component(owner).parent),
        None => {
            let scope = instances.class(node.scope?).instance;
            // Packages hold no inner elements; the top of the model is a class in one.
            (instances.class(scope).owner.is_some()).then_some(scope)
        }
    }
}

/// The inner class that an outer class declared in `class` stands for.
pub fn inner_class(instances: &mut Instances, class: ClassId, name: Name) -> Option<ClassMemberId> {
    let mut current = above(instances, instances.class(class).instance);
    while let Some(class) = current {
        if let Some(Member::Class(member)) = instances.member(class, name)
            && instances.class_member(member).declaration.as_ref().is_some_and(|class| class.prefixes.inner)
        {
            return Some(member);
        }
        current = above(instances, class);
    }
    None
}

fn inner_member(instances: &mut Instances, class: ClassId, name: Name) -> Option<CompId> {
    match instances.member(class, name)? {
        Member::Component(found) if instances.component(found).prefixes.inner => Some(found),
        _ => None,
    }
}

/// An inner component that nobody declared, at the top of the model, of the type that the outer one has.
fn implicit_inner(instances: &mut Instances, component: CompId, top: ClassId) -> Outcome<CompId> {
    let node = instances.component(component);
    let (name, path, span) = (node.name, instances.path(component), instances.span(component));
    let (scope, type_name) = (node.type_scope, node.declaration.type_name.clone());
    let class = instances.lookup_type(scope, &type_name)?;
    if let Some(&known) = instances.implicit_inner.get(&(top, name)) {
        let other = instances.component(known);
        let (scope, type_name) = (other.type_scope, other.declaration.type_name.clone());
        let other = instances.lookup_type(scope, &type_name)?;
        if instances.class(other).def != instances.class(class).def {
            return Err(Box::new(
                Diagnostic::error(
                    "missing-inner",
                    format!("there is no inner `{name}`, and the outer ones differ in type"),
                )
                .at(span, format!("this one is of class `{}`", instances.class_name(class)))
                .at(instances.span(known), format!("this one is of class `{}`", instances.class_name(other)))
                .specification("5.4"),
            ));
        }
        return Ok(known);
    }
    // Beside an element of that name there is no room for one.
    if let Some(Member::Component(other)) = instances.member(top, name)
        && !instances.component(other).prefixes.outer
    {
        let message =
            format!("the outer component `{path}` needs an inner `{name}`, and that of the model is not inner");
        return Err(Box::new(
            Diagnostic::error("missing-inner", message)
                .at(span, "an inner component is needed")
                .at(instances.span(other), "this is the one of that name")
                .hint("declare it `inner`, or give it another name")
                .specification("5.4"),
        ));
    }
    if instances.definition(class).partial {
        let mut diagnostic =
            Diagnostic::error("missing-inner", format!("there is no inner `{name}` for the outer component `{path}`"))
                .at(span, "an inner component is needed")
                .hint(format!("declare `inner {} {name};` in a class above", instances.class_name(class)))
                .specification("5.4");
        if let Some(message) = missing_inner_message(instances, class) {
            diagnostic = diagnostic.note(message);
        }
        return Err(Box::new(diagnostic));
    }
    let mut declaration: ast::Component = (*instances.component(component).declaration).clone();
    declaration.prefixes.outer = false;
    declaration.prefixes.inner = true;
    declaration.modification = None;
    let message = missing_inner_message(instances, class);
    let inner = instances.add_implicit_component(top, component, declaration);
    instances.implicit_inner.insert((top, name), inner);
    let mut diagnostic = Diagnostic::warning(
        "implicit-inner",
        format!("there is no inner `{name}`: one with default values was added at the top of the model"),
    )
    .at(span, "for this outer component")
    .specification("5.4")
    .decides();
    if let Some(message) = message {
        diagnostic = diagnostic.note(message);
    }
    instances.report(Box::new(diagnostic));
    Ok(inner)
}

/// `annotation(missingInnerMessage = "…")` of the class.
fn missing_inner_message(instances: &Instances, class: ClassId) -> Option<String> {
    let annotation = instances.definition(class).annotation.clone()?;
    annotation.arguments.iter().find_map(|argument| match argument {
        ast::Argument::Element(element) if element.path.len() == 1 && element.path[0].name == "missingInnerMessage" => {
            match &element.modification.as_ref()?.value {
                Some(ast::ModificationValue::Expr(expr)) => match &expr.kind {
                    ast::ExprKind::String(text) => Some(text.to_string()),
                    _ => None,
                },
                _ => None,
            }
        }
        _ => None,
    })
}
