//! What the annotations of a class say about versions (specification 18.8).

use std::sync::Arc;

use base::{Name, Span};
use syntax::ast;

/// The arguments of an annotation or modification with their names.
fn elements(arguments: &ast::ClassModification) -> impl Iterator<Item = (Name, &ast::Modification, Span)> {
    arguments.arguments.iter().filter_map(|argument| {
        let ast::Argument::Element(element) = argument else { return None };
        let [name] = element.path.as_slice() else { return None };
        Some((name.name, element.modification.as_deref()?, name.span))
    })
}

fn string(modification: &ast::Modification) -> Option<Arc<str>> {
    let Some(ast::ModificationValue::Expr(expr)) = &modification.value else { return None };
    match &expr.kind {
        ast::ExprKind::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// `annotation(name = "…")`.
pub fn text(class: &ast::ClassDef, name: &str) -> Option<Arc<str>> {
    let annotation = class.annotation.as_ref()?;
    elements(annotation).find(|(known, ..)| *known == *name).and_then(|(_, modification, _)| string(modification))
}

/// `annotation(name = true)`.
pub fn boolean(annotation: Option<&ast::ClassModification>, name: &str) -> Option<bool> {
    let (_, modification, _) = elements(annotation?).find(|(known, ..)| *known == *name)?;
    match &modification.value {
        Some(ast::ModificationValue::Expr(expr)) => match expr.kind {
            ast::ExprKind::Boolean(value) => Some(value),
            _ => None,
        },
        _ => None,
    }
}

/// All of `annotation(outer(inner = "…", inner = "…"))`.
pub fn texts(class: &ast::ClassDef, outer: &str, inner: &str) -> Vec<Arc<str>> {
    let Some(annotation) = &class.annotation else { return Vec::new() };
    let outer = elements(annotation).filter(|(known, ..)| *known == outer);
    let inside = outer.filter_map(|(_, modification, _)| modification.arguments.as_deref()).flat_map(elements);
    inside.filter(|(known, ..)| *known == inner).filter_map(|(_, modification, _)| string(modification)).collect()
}

/// `annotation(uses(Library(version = "…")))`: libraries with their versions.
pub fn uses(class: &ast::ClassDef) -> Vec<(Name, Arc<str>, Span)> {
    let Some(annotation) = &class.annotation else { return Vec::new() };
    let uses = elements(annotation).filter(|(name, ..)| *name == "uses");
    let libraries = uses.filter_map(|(_, modification, _)| modification.arguments.as_deref()).flat_map(elements);
    libraries
        .filter_map(|(library, modification, span)| {
            let mut inside = elements(modification.arguments.as_ref()?);
            let (_, version, _) = inside.find(|(name, ..)| *name == "version")?;
            Some((library, string(version)?, span))
        })
        .collect()
}

/// `annotation(uses(Library))`: libraries of which any version will do.
pub fn uses_without_version(class: &ast::ClassDef) -> Vec<(Name, Span)> {
    let Some(annotation) = &class.annotation else { return Vec::new() };
    let uses = elements(annotation).filter(|(name, ..)| *name == "uses");
    let libraries = uses.filter_map(|(_, modification, _)| modification.arguments.as_deref());
    let named = libraries.flat_map(|libraries| &libraries.arguments).filter_map(|argument| match argument {
        ast::Argument::Element(element) => element.path.first(),
        _ => None,
    });
    let with_version: Vec<Name> = self::uses(class).into_iter().map(|(name, ..)| name).collect();
    named.filter(|name| !with_version.contains(&name.name)).map(|name| (name.name, name.span)).collect()
}
