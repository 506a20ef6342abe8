//! The parts of a model: every component below the top with its sizes and, where it is conditional, its presence.
//!
//! An array of components is one part. Sizes and conditions are evaluated here; nothing is made scalar yet.

use std::sync::Arc;

use crate::conditional::{Existence, Presence, presence, present_within};
use crate::elaborate::Elaborator;
use crate::flat::{Indices, MOST_ELEMENTS, element_count, position};
use base::Diagnostic;

use crate::instance::{ClassId, CompId, ComponentType, Frame, Outcome};
use crate::interfaces;
use crate::restrictions;
use crate::symbolic::sizes_text;

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
    let mut parts = Found::default();
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
    parts.all
}

/// The parts found so far.
#[derive(Default)]
struct Found {
    all: Vec<Part>,
    /// How many scalars they have.
    scalars: usize,
}

/// The components of a class as elements of `parent`.
fn add_class(elaborator: &mut Elaborator, parts: &mut Found, class: ClassId, parent: Option<usize>) {
    for component in elaborator.instances.components_of(class) {
        // The depth of nesting of components is the bound of this recursion.
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || add_component(elaborator, parts, component, parent));
    }
}

fn add_component(elaborator: &mut Elaborator, parts: &mut Found, component: CompId, parent: Option<usize>) {
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
    let (above, mut present) = match parent.and_then(|parent| parts.all.get(parent)) {
        Some(parent) => (parent.sizes.clone(), parent.present.clone()),
        None => (Arc::from([]), None),
    };
    if elaborator.instances.component(component).condition.is_some() {
        present = match presence(elaborator, component, &above, present.as_deref()) {
            Presence::Nowhere => {
                elaborator.conditional.insert(component, Existence::Nowhere);
                return;
            }
            Presence::Some(present) => {
                let present: Arc<[bool]> = present.into();
                elaborator.conditional.insert(component, Existence::Some(above.clone(), present.clone()));
                Some(present)
            }
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
    elaborator.instances.check_record_element(component);
    crate::restrictions::check_protected(&mut elaborator.instances, component);
    let own = match elaborator.sizes(component) {
        Ok(own) => own,
        Err(diagnostic) => {
            let diagnostic = elaborator.instances.in_component(diagnostic, component);
            return elaborator.instances.report(diagnostic);
        }
    };
    let all: Arc<[usize]> = above.iter().chain(own.iter()).copied().collect();
    let Some(count) = element_count(&all) else {
        let nested = elaborator.instances.too_large_in_itself(component);
        let diagnostic = nested.unwrap_or_else(|| elaborator.too_large(component, &all));
        return elaborator.instances.report(diagnostic);
    };
    if !matches!(ty, ComponentType::Class(_)) {
        parts.scalars += count;
        if parts.scalars > MOST_ELEMENTS {
            let diagnostic = too_many(elaborator, component);
            return elaborator.instances.report(diagnostic);
        }
    }
    let present = if elaborator.is_ragged(component) {
        Some(present_within(elaborator, component, &above, &own, present.as_deref()))
    } else {
        present.map(|present| {
            let count: usize = own.iter().product();
            present.iter().flat_map(|&here| std::iter::repeat_n(here, count)).collect()
        })
    };
    let present = match (present, elaborator.unconnected.get(&component)) {
        (Some(present), Some(connected)) => {
            Some(present.iter().zip(connected.iter()).map(|(&here, &connected)| here && connected).collect())
        }
        (present, connected) => present.or_else(|| connected.cloned()),
    };
    let position = parts.all.len();
    let class = match ty {
        ComponentType::Class(class) => Some(class),
        _ => None,
    };
    parts.all.push(Part { component, parent, ty, sizes: all, rank: own.len(), present });
    // Where there is no element, a class that contains itself comes to its end.
    if let Some(class) = class
        && (count > 0 || !elaborator.instances.is_inside_itself(component))
    {
        add_class(elaborator, parts, class, Some(position));
    }
}

fn too_many(elaborator: &Elaborator, component: CompId) -> Box<Diagnostic> {
    let message = format!("the model has more than {MOST_ELEMENTS} scalar variables, which is more than is supported");
    Box::new(
        Diagnostic::error("too-large", message)
            .at(elaborator.instances.span(component), "the first one beyond")
            .in_component(elaborator.instances.path(component)),
    )
}

/// An outer component is not modified, and of the type and sizes of its inner one (5.4).
fn check_outer(elaborator: &mut Elaborator, outer: CompId) -> Outcome<()> {
    let inner = elaborator.instances.resolve_outer(outer)?;
    let node = elaborator.instances.component(outer);
    let (path, span) = (elaborator.instances.path(outer), elaborator.instances.span(outer));
    if !node.modifier.is_empty() {
        let place = node.modifier.children.first().and_then(|(_, child)| child.span).unwrap_or(span);
        elaborator.instances.report(Box::new(restrictions::outer_modified(&path, place)));
    }
    if let Some(lack) = interfaces::inner_lacks(&mut elaborator.instances, inner, outer)? {
        let diagnostic = inner_mismatch(elaborator, inner, outer, &lack.why);
        // What is absent matters only where it is used, and is then not found.
        match lack.is_plain {
            true => elaborator.instances.report(diagnostic),
            false => return Err(Box::new(diagnostic.refused())),
        }
    }
    let ranks = (elaborator.instances.dimensions(inner)?.len(), elaborator.instances.dimensions(outer)?.len());
    if ranks.0 != ranks.1 {
        let why = format!("the inner one has {}, the outer one {}", interfaces::count(ranks.0, "dimension"), ranks.1);
        return Err(Box::new(inner_mismatch(elaborator, inner, outer, &why).refused()));
    }
    if ranks.0 > 0 {
        let sizes = (elaborator.sizes(inner)?, elaborator.sizes(outer)?);
        if sizes.0 != sizes.1 {
            let (a, b) = (sizes_text(&sizes.0), sizes_text(&sizes.1));
            let why = format!("the inner one has the sizes {a}, the outer one {b}");
            return Err(Box::new(inner_mismatch(elaborator, inner, outer, &why).refused()));
        }
    }
    Ok(())
}

fn inner_mismatch(elaborator: &Elaborator, inner: CompId, outer: CompId, why: &str) -> Box<Diagnostic> {
    let instances = &elaborator.instances;
    let path = instances.path(outer);
    Box::new(
        Diagnostic::breach("inner-type", format!("the outer element `{path}` does not fit its inner one: {why}"))
            .at(instances.span(outer), "outer here")
            .at(instances.span(inner), "inner here")
            .hint("declare both with the same class and sizes")
            .specification("5.4"),
    )
}

/// The frame for text that stands in `scope`, seen from an element with these numbers below it.
pub fn frame_of(elaborator: &mut Elaborator, scope: ClassId, indices: &[u32]) -> Frame {
    let rank = elaborator.instances.rank_above(scope).min(indices.len());
    Frame { class: scope, indices: Indices::from_slice(&indices[..rank]) }
}
