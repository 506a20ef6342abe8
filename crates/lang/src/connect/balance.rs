//! Balanced connectors (specification 9.3.1): as many flow variables as potentials. An overdetermined record counts as many
//! as its `equalityConstraint` has results; inputs, outputs, stream variables, parameters and constants do not count.

use base::{Diagnostic, Name};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::ast;

use super::collect::is_connector;
use super::expandable::is_expandable;
use crate::elaborate::Elaborator;
use crate::instance::{ClassId, CompId, ComponentType, Member};
use crate::library::DefId;
use crate::parts::Part;

#[derive(Default)]
struct Count {
    flows: usize,
    potentials: usize,
}

/// Reports connectors that are not balanced, each class once.
pub fn check(elaborator: &mut Elaborator, parts: &[Part]) {
    let mut counts: FxHashMap<CompId, Count> = FxHashMap::default();
    let mut order = Vec::new();
    for part in parts {
        let Some(connector) = outermost_connector(elaborator, part.component) else { continue };
        let amount = match part.ty {
            ComponentType::Class(class) => match residue(elaborator, class) {
                Some(size) => size * part.elements(),
                None => continue,
            },
            _ if in_overdetermined(elaborator, part.component) => continue,
            // An array of an overdetermined type is one such record.
            _ => match residue_of_type(elaborator, part.component) {
                Some(size) => size * part.sizes[..part.sizes.len() - part.rank].iter().product::<usize>(),
                None => part.elements(),
            },
        };
        let instances = &elaborator.instances;
        let fixed =
            matches!(instances.variability(part.component), ast::Variability::Parameter | ast::Variability::Constant);
        let flow = instances.flow(part.component);
        let directed = flow == ast::Flow::None && instances.direction(part.component) != ast::Direction::None;
        if fixed || directed {
            continue;
        }
        let count = counts.entry(connector).or_insert_with(|| {
            order.push(connector);
            Count::default()
        });
        match flow {
            ast::Flow::Flow => count.flows += amount,
            ast::Flow::None => count.potentials += amount,
            ast::Flow::Stream => {}
        }
    }
    let mut told = FxHashSet::default();
    for connector in order {
        let count = &counts[&connector];
        if count.flows != count.potentials {
            report(elaborator, connector, count, &mut told);
        }
    }
}

/// The connector that is an element of a model; `None` in expandable connectors and outside of connectors.
fn outermost_connector(elaborator: &mut Elaborator, component: CompId) -> Option<CompId> {
    let chain = elaborator.instances.chain(component);
    let first = chain.into_iter().find(|&id| is_connector(elaborator, id).unwrap_or(false))?;
    match elaborator.instances.component_type(first) {
        Ok(ComponentType::Class(class)) if is_expandable(elaborator, class) => None,
        Ok(_) => Some(first),
        Err(_) => None,
    }
}

/// Whether a class is an overdetermined record.
pub fn is_overdetermined(elaborator: &mut Elaborator, class: ClassId) -> bool {
    residue(elaborator, class).is_some()
}

/// Whether a component of a predefined type is overdetermined.
pub fn is_overdetermined_type(elaborator: &mut Elaborator, component: CompId) -> bool {
    residue_of_type(elaborator, component).is_some()
}

/// The number of results of the `equalityConstraint` of an overdetermined class.
fn residue(elaborator: &mut Elaborator, class: ClassId) -> Option<usize> {
    let Some(Member::Class(member)) = elaborator.instances.member(class, Name::new("equalityConstraint")) else {
        return None;
    };
    let function = elaborator.instances.class_of(member).ok()?;
    let components = elaborator.instances.components_of(function);
    let output = components
        .into_iter()
        .find(|&id| elaborator.instances.component(id).type_prefixes.direction == ast::Direction::Output)?;
    elaborator.sizes(output).ok().map(|sizes| sizes.iter().product())
}

/// Whether a component is an element of an overdetermined record.
fn in_overdetermined(elaborator: &mut Elaborator, component: CompId) -> bool {
    let chain = elaborator.instances.chain(component);
    chain.into_iter().any(|id| match elaborator.instances.component_type(id) {
        Ok(ComponentType::Class(class)) => residue(elaborator, class).is_some(),
        _ => false,
    })
}

/// The same for a component of a predefined type whose type has an `equalityConstraint`.
fn residue_of_type(elaborator: &mut Elaborator, component: CompId) -> Option<usize> {
    let node = elaborator.instances.component(component);
    let (scope, name) = (node.type_scope, node.declaration.type_name.clone());
    let class = elaborator.instances.lookup_type(scope, &name).ok()?;
    residue(elaborator, class)
}

/// The equations of its connections say all the same what is meant.
fn report(elaborator: &mut Elaborator, connector: CompId, count: &Count, told: &mut FxHashSet<DefId>) {
    let class = match elaborator.instances.component_type(connector) {
        Ok(ComponentType::Class(class)) => class,
        _ => {
            let node = elaborator.instances.component(connector);
            let (scope, type_name) = (node.type_scope, node.declaration.type_name.clone());
            let Ok(class) = elaborator.instances.lookup_type(scope, &type_name) else { return };
            class
        }
    };
    if !told.insert(elaborator.instances.class(class).def) {
        return;
    }
    let (name, path) = (elaborator.instances.class_name(class), elaborator.instances.path(connector));
    let flows = crate::interfaces::count(count.flows, "flow variable");
    let potentials = crate::interfaces::count(count.potentials, "potential");
    let diagnostic = Diagnostic::breach(
        "unbalanced-connector",
        format!("the connector `{path}` of class `{name}` has {flows} and {potentials}"),
    )
    .at(elaborator.instances.definition(class).name.span, "declared here")
    .hint("give every potential a flow variable, or use input and output")
    .specification("9.3.1");
    elaborator.instances.report(Box::new(diagnostic));
}
