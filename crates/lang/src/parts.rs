//! The parts of a model: every component below the top with its sizes and, where it is conditional, its presence.
//!
//! An array of components is one part. Sizes and conditions are evaluated here; nothing is made scalar yet.

use std::sync::Arc;

use crate::elaborate::Elaborator;
use crate::flat::{Indices, for_each_index, position};
use base::Diagnostic;

use crate::instance::{ClassId, CompId, ComponentType, Frame, Outcome};
use crate::interfaces;
use crate::symbolic::sizes_text;

/// Conditions of more elements than this are taken to be the same for all elements of an array of components.
const MOST_CONDITIONS: usize = 100_000;

/// A component of the model.
#[derive(Clone, Debug)]
pub struct Part {
    pub component: CompId,
    /// The part it is an element of, as its position in the list; `None` at the top.
    pub parent: Option<usize>,
    pub ty: ComponentType,
    /// The sizes of the components above it and its own, outermost first.
    pub sizes: Arc<[usize]>,
    /// How many of `sizes` are its own.
    pub rank: usize,
    /// For each element over `sizes`, whether it exists; `None` when all do.
    pub present: Option<Arc<[bool]>>,
}

impl Part {
    /// Whether the element with these numbers is there.
    pub fn exists(&self, indices: &[u32]) -> bool {
        let Some(present) = &self.present else { return true };
        position(&self.sizes, indices).and_then(|position| present.get(position).copied()).unwrap_or(false)
    }

    /// How many elements it has.
    pub fn elements(&self) -> usize {
        match &self.present {
            Some(present) => present.iter().filter(|&&here| here).count(),
            None => self.sizes.iter().product(),
        }
    }
}

/// All parts of the model `top`, parents before their elements.
pub fn find_parts(elaborator: &mut Elaborator, top: ClassId) -> Vec<Part> {
    let mut parts = Vec::new();
    add_class(elaborator, &mut parts, top, None);
    // Inner components that outer ones ask for may themselves ask for others.
    let mut done = 0;
    loop {
        let mut implicit: Vec<CompId> = elaborator.instances.implicit_inner.values().copied().collect();
        implicit.sort();
        if done >= implicit.len() {
            break;
        }
        for component in implicit.drain(..).skip(done) {
            add_component(elaborator, &mut parts, component, None);
            done += 1;
        }
    }
    parts
}

/// The components of a class as elements of `parent`.
pub fn add_class(elaborator: &mut Elaborator, parts: &mut Vec<Part>, class: ClassId, parent: Option<usize>) {
    for component in elaborator.instances.components_of(class) {
        // The depth of nesting of components is the bound of this recursion.
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || add_component(elaborator, parts, component, parent));
    }
}

fn add_component(elaborator: &mut Elaborator, parts: &mut Vec<Part>, component: CompId, parent: Option<usize>) {
    if elaborator.instances.component(component).removed {
        return;
    }
    let prefixes = elaborator.instances.component(component).prefixes;
    if prefixes.outer && !prefixes.inner {
        if let Err(diagnostic) = check_outer(elaborator, component) {
            elaborator.instances.report(diagnostic);
        }
        return;
    }
    let (above, mut present) = match parent.and_then(|parent| parts.get(parent)) {
        Some(parent) => (parent.sizes.clone(), parent.present.clone()),
        None => (Arc::from([]), None),
    };
    if elaborator.instances.component(component).condition.is_some() {
        present = match presence(elaborator, component, &above, present.as_deref()) {
            Presence::Nowhere => return,
            Presence::Some(present) => Some(present.into()),
            Presence::Everywhere => present,
        };
    }
    let ty = match elaborator.instances.component_type(component) {
        Ok(ty) => ty,
        Err(diagnostic) => return elaborator.instances.report(diagnostic),
    };
    if crate::connect::expandable::is_sizeless(elaborator, component) {
        return;
    }
    crate::restrictions::check_type(&mut elaborator.instances, component);
    crate::restrictions::check_prefixes(&mut elaborator.instances, component);
    crate::restrictions::check_protected(&mut elaborator.instances, component);
    let own = match elaborator.sizes(component) {
        Ok(own) => own,
        Err(diagnostic) => {
            let diagnostic = elaborator.instances.in_component(diagnostic, component);
            return elaborator.instances.report(diagnostic);
        }
    };
    let present = if elaborator.is_ragged(component) {
        Some(present_within(elaborator, component, &above, &own, present.as_deref()))
    } else {
        present.map(|present| {
            let count: usize = own.iter().product();
            present.iter().flat_map(|&here| std::iter::repeat_n(here, count)).collect()
        })
    };
    let position = parts.len();
    let all: Arc<[usize]> = above.iter().chain(own.iter()).copied().collect();
    let class = match ty {
        ComponentType::Class(class) => Some(class),
        _ => None,
    };
    parts.push(Part { component, parent, ty, sizes: all, rank: own.len(), present });
    if let Some(class) = class {
        add_class(elaborator, parts, class, Some(position));
    }
}

/// Where the elements of an array of components have a component with different sizes, what lies beyond a size is absent.
fn present_within(
    elaborator: &mut Elaborator,
    component: CompId,
    above: &[usize],
    largest: &[usize],
    parent: Option<&[bool]>,
) -> Arc<[bool]> {
    let mut present = Vec::new();
    let mut element = 0;
    for_each_index(above, |indices| {
        let here = parent.is_none_or(|parent| parent.get(element).copied().unwrap_or(false));
        element += 1;
        let sizes = elaborator.sizes_at(component, indices).unwrap_or_else(|_| largest.into());
        for_each_index(largest, |own| {
            present.push(here && own.iter().zip(sizes.iter()).all(|(&at, &size)| at as usize <= size));
        });
    });
    present.into()
}

/// An outer component is not modified, and of the type and sizes of its inner one (5.4).
fn check_outer(elaborator: &mut Elaborator, outer: CompId) -> Outcome<()> {
    let inner = elaborator.instances.resolve_outer(outer)?;
    let node = elaborator.instances.component(outer);
    let (path, span) = (elaborator.instances.path(outer), elaborator.instances.span(outer));
    if !node.modifier.is_empty() {
        return Err(Box::new(
            Diagnostic::error("outer-modified", format!("the outer element `{path}` is modified"))
                .at(node.modifier.children.first().and_then(|(_, child)| child.span).unwrap_or(span), "modified here")
                .hint("modify the inner element instead")
                .specification("5.4"),
        ));
    }
    if let Some(why) = interfaces::inner_lacks(&mut elaborator.instances, inner, outer)? {
        return Err(inner_mismatch(elaborator, inner, outer, &why));
    }
    let ranks = (elaborator.instances.dimensions(inner)?.len(), elaborator.instances.dimensions(outer)?.len());
    if ranks.0 != ranks.1 {
        let why = format!("the inner one has {}, the outer one {}", interfaces::count(ranks.0, "dimension"), ranks.1);
        return Err(inner_mismatch(elaborator, inner, outer, &why));
    }
    if ranks.0 > 0 {
        let sizes = (elaborator.sizes(inner)?, elaborator.sizes(outer)?);
        if sizes.0 != sizes.1 {
            let (a, b) = (sizes_text(&sizes.0), sizes_text(&sizes.1));
            let why = format!("the inner one has the sizes {a}, the outer one {b}");
            return Err(inner_mismatch(elaborator, inner, outer, &why));
        }
    }
    Ok(())
}

fn inner_mismatch(elaborator: &Elaborator, inner: CompId, outer: CompId, why: &str) -> Box<Diagnostic> {
    let instances = &elaborator.instances;
    let path = instances.path(outer);
    Box::new(
        Diagnostic::error("inner-type", format!("the outer element `{path}` does not fit its inner one: {why}"))
            .at(instances.span(outer), "outer here")
            .at(instances.span(inner), "inner here")
            .hint("declare both with the same class and sizes")
            .specification("5.4"),
    )
}

enum Presence {
    Everywhere,
    Nowhere,
    Some(Vec<bool>),
}

/// Evaluates the condition of a component for every element of the components above it.
fn presence(elaborator: &mut Elaborator, component: CompId, above: &[usize], parent: Option<&[bool]>) -> Presence {
    let node = elaborator.instances.component(component);
    let (scope, Some(condition)) = (node.declared_in, node.condition.clone()) else { return Presence::Everywhere };
    let count: usize = above.iter().product();
    let mut all = Vec::with_capacity(count);
    let mut failed = None;
    let mut position = 0;
    for_each_index(above, |indices| {
        let exists = parent.is_none_or(|parent| parent.get(position).copied().unwrap_or(false));
        position += 1;
        if !exists || failed.is_some() {
            all.push(false);
            return;
        }
        if !all.is_empty() && count > MOST_CONDITIONS {
            all.push(all[0]);
            return;
        }
        let frame = frame_of(elaborator, scope, indices);
        match elaborator.evaluate_condition(&frame, &condition) {
            Ok(value) => all.push(value),
            Err(diagnostic) => failed = Some(diagnostic),
        }
    });
    if let Some(diagnostic) = failed {
        let diagnostic = elaborator.instances.in_component(diagnostic, component);
        elaborator.instances.report(diagnostic);
        return Presence::Nowhere;
    }
    if all.iter().all(|&here| !here) {
        return Presence::Nowhere;
    }
    if parent.is_none() && all.iter().all(|&here| here) { Presence::Everywhere } else { Presence::Some(all) }
}

/// The frame for text that stands in `scope`, seen from an element with these numbers below it.
pub fn frame_of(elaborator: &mut Elaborator, scope: ClassId, indices: &[u32]) -> Frame {
    let rank = elaborator.instances.rank_above(scope).min(indices.len());
    Frame { class: scope, indices: Indices::from_slice(&indices[..rank]) }
}
