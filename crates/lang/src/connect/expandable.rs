//! Expandable connectors (specification 9.1.3): elements that connect equations name are added to them.

use base::{Diagnostic, Name};
use rustc_hash::FxHashMap;
use syntax::ast;

use super::collect::{Collected, Pending, connect, integers, resolve};
use crate::elaborate::Elaborator;
use crate::flat::{Indices, for_each_index};
use crate::instance::{ClassId, CompId, ComponentType, Member, Outcome, SizeState};
use crate::lookup::Resolved;
use crate::parts::Part;
use crate::substitute::substitute;

/// Whether the reference names an element that an expandable connector does not have yet.
pub fn needs_element(elaborator: &mut Elaborator, class: ClassId, reference: &ast::ComponentRef) -> Outcome<bool> {
    Ok(missing_element(elaborator, class, reference)?.is_some())
}

/// The expandable connector and the position of the part that it lacks.
fn missing_element(
    elaborator: &mut Elaborator,
    class: ClassId,
    reference: &ast::ComponentRef,
) -> Outcome<Option<(CompId, usize)>> {
    if reference.parts.len() < 2 {
        return Ok(None);
    }
    for length in 1..reference.parts.len() {
        let prefix = ast::ComponentRef {
            global: reference.global,
            parts: reference.parts[..length].to_vec(),
            span: reference.span,
        };
        // What cannot be found at all is reported when the connection is made.
        let steps = match elaborator.instances.lookup_reference(class, &prefix) {
            Ok(Resolved::Component { steps }) => steps,
            Ok(Resolved::Class(_)) => continue,
            _ => return Ok(None),
        };
        let Some(&last) = steps.last() else { return Ok(None) };
        if let ComponentType::Class(connector) = elaborator.instances.component_type(last)?
            && is_expandable(elaborator, connector)
            && lacks_element(elaborator, connector, reference.parts[length].ident.name)
        {
            return Ok(Some((last, length)));
        }
    }
    Ok(None)
}

/// An element that is not there, or of which a size is not known before something is connected.
fn lacks_element(elaborator: &mut Elaborator, connector: ClassId, name: Name) -> bool {
    match elaborator.instances.member(connector, name) {
        None => true,
        Some(Member::Component(element)) => is_sizeless(elaborator, element),
        Some(Member::Class(_)) => false,
    }
}

/// Whether an element of an expandable connector is declared with `:` and no connection gave it a size yet.
pub fn is_sizeless(elaborator: &mut Elaborator, element: CompId) -> bool {
    let node = elaborator.instances.component(element);
    let open = node.dimensions.iter().any(|dimension| matches!(dimension.subscript, ast::Subscript::All(_)));
    let (parent, known) = (node.parent, matches!(node.sizes, SizeState::Known(_)));
    open && !known && elaborator.instances.binding(element).is_none() && is_expandable(elaborator, parent)
}

/// Whether a class, or what it is short for or inherits, is an expandable connector.
pub fn is_expandable(elaborator: &mut Elaborator, class: ClassId) -> bool {
    let classes = elaborator.instances.with_bases(class);
    classes.into_iter().any(|class| elaborator.instances.kind(class) == ast::ClassKind::ExpandableConnector)
}

/// What a connection may bring cannot be given a value beforehand: modifiers of expandable connectors reach parameters
/// and constants only (9.1.3).
pub fn check_modifiers(elaborator: &mut Elaborator, parts: &[Part]) {
    for part in parts {
        let ComponentType::Class(class) = part.ty else { continue };
        let modifier = elaborator.instances.component(part.component).modifier.clone();
        if modifier.children.is_empty() || !is_expandable(elaborator, class) {
            continue;
        }
        for (name, child) in &modifier.children {
            let (Some(binding), Some(Member::Component(element))) =
                (&child.binding, elaborator.instances.member(class, *name))
            else {
                continue;
            };
            let instances = &elaborator.instances;
            if matches!(instances.variability(element), ast::Variability::Parameter | ast::Variability::Constant) {
                continue;
            }
            let message = format!("`{}` of an expandable connector is given a value", instances.path(element));
            let diagnostic = Diagnostic::error("modified-potential", message)
                .at(binding.span, "given here")
                .at(instances.span(element), "it exists only where a connection leads to it")
                .hint("connect a source to it")
                .specification("9.1.3");
            elaborator.instances.report(Box::new(diagnostic));
        }
    }
}

/// Whether the model has an expandable connector.
pub fn any(elaborator: &mut Elaborator, parts: &[Part]) -> bool {
    parts.iter().any(|part| match part.ty {
        ComponentType::Class(class) => is_expandable(elaborator, class),
        _ => false,
    })
}

/// Adds the elements that pending connections name, and those that connected expandable connectors have, until nothing
/// changes; then makes the pending connections.
pub fn complete(elaborator: &mut Elaborator, collected: &mut Collected) {
    let mut pending = std::mem::take(&mut collected.to_expandable);
    // A connection to what does not exist brings no element.
    pending.retain(|connection| !is_disabled(elaborator, connection));
    loop {
        let mut changed = false;
        for connection in &pending {
            changed |= enlarge_elements(elaborator, connection);
        }
        let largest = largest_subscripts(elaborator, &pending);
        let mut new_levels = false;
        for connection in &pending {
            changed |= add_elements(elaborator, connection, &largest, &mut new_levels);
        }
        for position in 0..collected.connections.len() {
            let (left, right) =
                (collected.connections[position].left.component, collected.connections[position].right.component);
            changed |= share_elements(elaborator, left, right);
        }
        pending.retain(|connection| {
            let made = is_complete(elaborator, connection);
            if made {
                let outcome = connect(
                    elaborator,
                    &connection.frame,
                    &connection.iterators,
                    (&connection.left, &connection.right),
                    connection.path,
                    connection.span,
                    &mut collected.connections,
                );
                if let Err(diagnostic) = outcome {
                    elaborator.instances.report(diagnostic);
                }
                changed = true;
            }
            !made
        });
        if !changed {
            break;
        }
    }
    for connection in pending {
        let diagnostic = Diagnostic::error("undeclared-connection", "neither side of this connection is declared")
            .at(connection.span, "an element of an expandable connector gets its type from the other side")
            .specification("9.1.3");
        elaborator.instances.report(Box::new(diagnostic));
    }
}

/// Whether a side that is known is disabled by a condition. A side that is not known yet may be so through its connector.
fn is_disabled(elaborator: &mut Elaborator, connection: &Pending) -> bool {
    [&connection.left, &connection.right].into_iter().any(|reference| {
        let known = match missing_element(elaborator, connection.frame.class, reference) {
            Ok(Some((_, position))) => reference.parts[..position].to_vec(),
            Ok(None) => reference.parts.clone(),
            Err(_) => return false,
        };
        let known = ast::ComponentRef { parts: known, ..reference.clone() };
        let found = resolve(elaborator, &connection.frame, &connection.iterators, &known);
        found.is_ok_and(|found| found.is_disabled)
    })
}

fn is_complete(elaborator: &mut Elaborator, connection: &Pending) -> bool {
    let class = connection.frame.class;
    !needs_element(elaborator, class, &connection.left).unwrap_or(false)
        && !needs_element(elaborator, class, &connection.right).unwrap_or(false)
}

/// Adds to the connector on one side what the other side is, if that is known.
fn add_elements(elaborator: &mut Elaborator, connection: &Pending, largest: &Largest, new_levels: &mut bool) -> bool {
    let mut changed = false;
    for (to, from) in [(&connection.left, &connection.right), (&connection.right, &connection.left)] {
        let class = connection.frame.class;
        let Ok(Some((connector, position))) = missing_element(elaborator, class, to) else { continue };
        if !matches!(missing_element(elaborator, class, from), Ok(None)) {
            continue;
        }
        let Ok(found) = resolve(elaborator, &connection.frame, &connection.iterators, from) else { continue };
        if found.is_disabled {
            continue;
        }
        let Some(&source) = found.steps.last() else { continue };
        let part = &to.parts[position];
        let is_last = position + 1 == to.parts.len();
        if !is_last {
            // A further level that does not exist: an expandable connector of its own is made by what it holds.
            let added = add_nested(elaborator, connector, part.ident);
            *new_levels |= added;
            changed |= added;
            continue;
        }
        // The largest subscripts of elements of a new level are found in the next round, whatever the order of the connections.
        let is_known = part.subscripts.is_empty() || largest.contains_key(&(connector, part.ident.name));
        if *new_levels && !is_known {
            continue;
        }
        let dimensions = match largest.get(&(connector, part.ident.name)) {
            Some(sizes) if !part.subscripts.is_empty() => sizes.clone(),
            _ => {
                let own = sizes_within(elaborator, connection, (to, position), &found.sizes);
                new_dimensions(elaborator, connection, part, &own)
            }
        };
        changed |= add_like(elaborator, connector, part.ident.name, source, dimensions);
    }
    changed
}

/// Of the sizes of a reference those that an element of one connector has: where the connectors that get the element are an
/// array, the first sizes tell them apart.
fn sizes_within(
    elaborator: &mut Elaborator,
    connection: &Pending,
    (to, position): (&ast::ComponentRef, usize),
    sizes: &[usize],
) -> Vec<usize> {
    let connectors = ast::ComponentRef { parts: to.parts[..position].to_vec(), ..to.clone() };
    match resolve(elaborator, &connection.frame, &connection.iterators, &connectors) {
        Ok(found) if sizes.starts_with(&found.sizes) => sizes[found.sizes.len()..].to_vec(),
        _ => sizes.to_vec(),
    }
}

/// The largest subscripts with which pending connections name an element that is to be added.
type Largest = FxHashMap<(CompId, Name), Vec<usize>>;

fn largest_subscripts(elaborator: &mut Elaborator, pending: &[Pending]) -> Largest {
    let mut largest = Largest::default();
    for connection in pending {
        for reference in [&connection.left, &connection.right] {
            let Ok(Some((connector, position))) = missing_element(elaborator, connection.frame.class, reference) else {
                continue;
            };
            let part = &reference.parts[position];
            if part.subscripts.is_empty() {
                continue;
            }
            let sizes = new_dimensions(elaborator, connection, part, &[]);
            let known = largest.entry((connector, part.ident.name)).or_insert_with(|| sizes.clone());
            known.iter_mut().zip(&sizes).for_each(|(known, &size)| *known = (*known).max(size));
        }
    }
    largest.retain(|_, sizes| !sizes.is_empty());
    largest
}

/// The sizes of a new element: those of the other side, and for subscripts the largest number seen.
fn new_dimensions(
    elaborator: &mut Elaborator,
    connection: &Pending,
    part: &ast::RefPart,
    sizes: &[usize],
) -> Vec<usize> {
    if part.subscripts.is_empty() {
        return sizes.to_vec();
    }
    let mut dimensions = Vec::new();
    for subscript in &part.subscripts {
        let ast::Subscript::Expr(expr) = subscript else {
            dimensions.extend(sizes.first());
            continue;
        };
        let expr = substitute(expr, &connection.iterators, None);
        if let Ok((numbers, _)) = integers(elaborator, &connection.frame, &expr) {
            dimensions.push(numbers.into_iter().max().unwrap_or(0).max(0) as usize);
        }
    }
    dimensions
}

fn connector_class(elaborator: &mut Elaborator, connector: CompId) -> Option<ClassId> {
    match elaborator.instances.component_type(connector) {
        Ok(ComponentType::Class(class)) => Some(class),
        _ => None,
    }
}

fn add_like(
    elaborator: &mut Elaborator,
    connector: CompId,
    name: Name,
    source: CompId,
    dimensions: Vec<usize>,
) -> bool {
    let Some(class) = connector_class(elaborator, connector) else { return false };
    if let Some(Member::Component(declared)) = elaborator.instances.member(class, name) {
        // Declared with `:`: the connection tells the size.
        elaborator.instances.components[declared].sizes = SizeState::Known(dimensions.into());
        return true;
    }
    elaborator.instances.add_expandable_element(class, name, source, &dimensions);
    true
}

fn add_nested(elaborator: &mut Elaborator, connector: CompId, name: ast::Ident) -> bool {
    let Some(class) = connector_class(elaborator, connector) else { return false };
    elaborator.instances.add_nested_expandable(class, connector, name);
    true
}

/// Connected expandable connectors have the same elements.
fn share_elements(elaborator: &mut Elaborator, left: CompId, right: CompId) -> bool {
    let (Some(a), Some(b)) = (connector_class(elaborator, left), connector_class(elaborator, right)) else {
        return false;
    };
    let mut changed = false;
    for (from, to) in [(a, b), (b, a)] {
        if !is_expandable(elaborator, to) {
            continue;
        }
        for (name, member) in elaborator.instances.members(from) {
            let Member::Component(component) = member else { continue };
            if is_sizeless(elaborator, component) {
                continue;
            }
            if let Some(Member::Component(other)) = elaborator.instances.member(to, name) {
                changed |= share_sizes(elaborator, component, other);
            } else if elaborator.instances.member(to, name).is_none() {
                let sizes = elaborator.sizes(component).map(|sizes| sizes.to_vec()).unwrap_or_default();
                elaborator.instances.add_expandable_element(to, name, component, &sizes);
                changed = true;
            }
        }
    }
    // Elements of the same name may be expandable connectors themselves.
    for (name, member) in elaborator.instances.members(a) {
        if let (Member::Component(one), Some(Member::Component(other))) = (member, elaborator.instances.member(b, name))
            && let (Some(class), true) =
                (connector_class(elaborator, one), connector_class(elaborator, other).is_some())
            && is_expandable(elaborator, class)
        {
            changed |= share_elements(elaborator, one, other);
        }
    }
    changed
}

/// An element without a size takes that of its counterpart. One that connections added has at least its elements.
fn share_sizes(elaborator: &mut Elaborator, from: CompId, to: CompId) -> bool {
    let Ok(sizes) = elaborator.sizes(from) else { return false };
    if !is_sizeless(elaborator, to) {
        return enlarge(elaborator, to, &sizes);
    }
    elaborator.instances.components[to].sizes = SizeState::Known(sizes);
    true
}

/// Gives an array that connections added to an expandable connector at least these sizes.
fn enlarge(elaborator: &mut Elaborator, element: CompId, sizes: &[usize]) -> bool {
    if !elaborator.instances.component(element).added {
        return false;
    }
    let Ok(known) = elaborator.sizes(element) else { return false };
    if known.len() != sizes.len() || known.iter().zip(sizes).all(|(known, size)| known >= size) {
        return false;
    }
    let larger = known.iter().zip(sizes).map(|(&known, &size)| known.max(size)).collect();
    elaborator.instances.components[element].sizes = SizeState::Known(larger);
    true
}

/// An array that came from another connector or an earlier connection may have fewer elements than a connection names.
fn enlarge_elements(elaborator: &mut Elaborator, connection: &Pending) -> bool {
    let mut changed = false;
    for reference in [&connection.left, &connection.right] {
        for length in 1..reference.parts.len() {
            let part = &reference.parts[length];
            if part.subscripts.is_empty() {
                continue;
            }
            let prefix = ast::ComponentRef { parts: reference.parts[..length].to_vec(), ..reference.clone() };
            let Ok(Resolved::Component { steps }) =
                elaborator.instances.lookup_reference(connection.frame.class, &prefix)
            else {
                break;
            };
            let class = steps.last().and_then(|&connector| connector_class(elaborator, connector));
            if let Some(class) = class
                && is_expandable(elaborator, class)
                && let Some(Member::Component(element)) = elaborator.instances.member(class, part.ident.name)
            {
                let sizes = new_dimensions(elaborator, connection, part, &[]);
                changed |= enlarge(elaborator, element, &sizes);
            }
        }
    }
    changed
}

/// Elements of expandable connectors that lead to no other connector do not exist (9.1.3), whether they are components or
/// elements of their arrays.
pub fn remove_unused(elaborator: &mut Elaborator, parts: &[Part], collected: &Collected) {
    let mut elements = Elements::default();
    let mut numbers = Vec::new();
    for part in parts {
        if !is_element(elaborator, part.component) {
            continue;
        }
        let all = all_indices(&part.sizes).into_iter();
        let all = all.map(|indices| part.exists(&indices).then(|| elements.number(part.component, &indices)));
        numbers.push((part.component, all.collect::<Vec<_>>()));
    }
    for connection in &collected.connections {
        let (left, right) = (&connection.left, &connection.right);
        elements.join(elaborator, (left.component, &left.indices), (right.component, &right.indices));
    }
    for (component, numbers) in numbers {
        let used: Vec<bool> =
            numbers.iter().map(|number| number.is_some_and(|number| elements.is_used(number))).collect();
        if !used.contains(&true) {
            elaborator.instances.components[component].removed = true;
        } else if used.contains(&false) {
            elaborator.unconnected.insert(component, used.into());
        }
    }
}

/// Whether a component is an element of an expandable connector and none itself.
fn is_element(elaborator: &mut Elaborator, component: CompId) -> bool {
    let parent = elaborator.instances.component(component).parent;
    if !is_expandable(elaborator, parent) {
        return false;
    }
    match connector_class(elaborator, component) {
        Some(class) => !is_expandable(elaborator, class),
        None => true,
    }
}

fn all_indices(sizes: &[usize]) -> Vec<Indices> {
    let mut all = Vec::new();
    for_each_index(sizes, |indices| all.push(Indices::from_slice(indices)));
    all
}

/// Elements of expandable connectors, by component and numbers, that are connected with each other, and whether anything
/// else is.
#[derive(Default)]
struct Elements {
    numbers: FxHashMap<(CompId, Indices), usize>,
    parents: Vec<usize>,
    used: Vec<bool>,
}

impl Elements {
    fn number(&mut self, component: CompId, indices: &[u32]) -> usize {
        let next = self.parents.len();
        let number = *self.numbers.entry((component, Indices::from_slice(indices))).or_insert(next);
        if number == next {
            self.parents.push(next);
            self.used.push(false);
        }
        number
    }

    fn set(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }
        node
    }

    fn is_used(&mut self, number: usize) -> bool {
        let set = self.set(number);
        self.used[set]
    }

    fn join(&mut self, elaborator: &mut Elaborator, left: (CompId, &[u32]), right: (CompId, &[u32])) {
        match (self.element_of(elaborator, left), self.element_of(elaborator, right)) {
            (Some(a), Some(b)) => {
                let (a, b) = (self.set(a), self.set(b));
                self.parents[b] = a;
                self.used[a] |= self.used[b];
            }
            (Some(one), None) | (None, Some(one)) => {
                let set = self.set(one);
                self.used[set] = true;
            }
            (None, None) => self.join_members(elaborator, left, right),
        }
    }

    /// The elements of the same names of two connected expandable connectors.
    fn join_members(&mut self, elaborator: &mut Elaborator, left: (CompId, &[u32]), right: (CompId, &[u32])) {
        let (Some(a), Some(b)) = (connector_class(elaborator, left.0), connector_class(elaborator, right.0)) else {
            return;
        };
        if !is_expandable(elaborator, a) || !is_expandable(elaborator, b) {
            return;
        }
        for (name, member) in elaborator.instances.members(a) {
            let (Member::Component(one), Some(Member::Component(other))) =
                (member, elaborator.instances.member(b, name))
            else {
                continue;
            };
            let sizes = elaborator.sizes(one).unwrap_or_else(|_| Vec::new().into());
            for own in all_indices(&sizes) {
                let below = |above: &[u32]| above.iter().chain(&own).copied().collect::<Indices>();
                self.join(elaborator, (one, &below(left.1)), (other, &below(right.1)));
            }
        }
    }

    /// The element of an expandable connector that a component is or is a part of.
    fn element_of(&mut self, elaborator: &mut Elaborator, (component, indices): (CompId, &[u32])) -> Option<usize> {
        let mut rank = indices.len();
        for component in elaborator.instances.chain(component).into_iter().rev() {
            if is_element(elaborator, component) {
                return Some(self.number(component, indices.get(..rank)?));
            }
            rank = rank.saturating_sub(elaborator.instances.component(component).dimensions.len());
        }
        None
    }
}
