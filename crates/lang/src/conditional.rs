//! Conditional components (specification 4.4.5): which elements of a component are part of the model.
//!
//! A condition is evaluated for every element of the arrays of components above it. What lies beyond the sizes that a
//! component has in one of those elements is absent in the same way.

use std::sync::Arc;

use base::{Diagnostic, Span};

use crate::elaborate::Elaborator;
use crate::flat::{Indices, for_each_index, position};
use crate::instance::CompId;
use crate::parts::frame_of;

/// Conditions of more elements than this are taken to be the same for all elements of an array of components.
const MOST_CONDITIONS: usize = 100_000;

/// Where a component exists.
pub enum Presence {
    Everywhere,
    Nowhere,
    Some(Vec<bool>),
}

/// The elements of the components above a conditional component in which it exists.
#[derive(Clone, Debug)]
pub(crate) enum Existence {
    Nowhere,
    /// For each element over the sizes of the components above.
    Some(Arc<[usize]>, Arc<[bool]>),
}

impl Elaborator {
    /// Whether the condition of a component is false in all these elements of the components above it.
    pub(crate) fn is_disabled(&self, component: CompId, above: &[Indices]) -> bool {
        match self.conditional.get(&component) {
            None => false,
            Some(Existence::Nowhere) => true,
            Some(Existence::Some(sizes, present)) => above.iter().all(|indices| {
                let at = position(sizes, indices).and_then(|at| present.get(at));
                !at.copied().unwrap_or(false)
            }),
        }
    }

    /// Whether the condition of a component, or of one above it, is false for this element.
    pub(crate) fn is_absent(&self, component: CompId, indices: &[u32]) -> bool {
        self.instances.chain(component).into_iter().any(|id| match self.conditional.get(&id) {
            None => false,
            Some(Existence::Nowhere) => true,
            Some(Existence::Some(sizes, present)) => {
                let at = indices.get(..sizes.len()).and_then(|above| position(sizes, above));
                !at.and_then(|at| present.get(at)).copied().unwrap_or(false)
            }
        })
    }
}

/// Evaluates the condition of a component for every element of the components above it.
pub fn presence(elaborator: &mut Elaborator, component: CompId, above: &[usize], parent: Option<&[bool]>) -> Presence {
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
    if let Some(mut diagnostic) = failed {
        if diagnostic.code == "not-constant" {
            *diagnostic = unknown_condition(elaborator, component, condition.span, diagnostic.message);
        }
        let diagnostic = elaborator.instances.in_component(diagnostic, component);
        elaborator.instances.report(diagnostic);
        return Presence::Nowhere;
    }
    if all.iter().all(|&here| !here) {
        return Presence::Nowhere;
    }
    if parent.is_none() && all.iter().all(|&here| here) { Presence::Everywhere } else { Presence::Some(all) }
}

fn unknown_condition(elaborator: &Elaborator, component: CompId, condition: Span, why: String) -> Diagnostic {
    let name = elaborator.instances.component(component).name;
    Diagnostic::error("component-condition", format!("the condition of `{name}` must be known at translation"))
        .at(condition, "this may change during the run")
        .note(why)
        .hint("make the condition depend on parameters and constants only")
        .specification("4.4.5")
}

/// Where the elements of an array of components have a component with different sizes, what lies beyond a size is absent.
pub fn present_within(
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
