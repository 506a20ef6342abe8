//! Balanced classes (specification 4.8): when a model has too many or too few equations, the classes that do not have as
//! many of their own as their unknowns need.
//!
//! A flow variable of a connector and an input are determined from outside. Only classes are judged that have no
//! models inside: in others, connections decide. Nothing is reported about a model that is balanced as a whole.

use base::{Diagnostic, IdVec};
use dae::{Causality, OriginKind, PathId, VarId, Variability};
use rustc_hash::FxHashMap;
use syntax::ast;

use crate::connect;
use crate::elaborate::Elaborator;
use crate::instance::{ClassId, CompId, ComponentType};
use crate::interfaces::count;
use crate::parts::Part;

/// What the elements of one part have together.
#[derive(Clone, Default)]
struct Balance {
    unknowns: usize,
    equations: usize,
    /// Flow variables of connectors and inputs without a value.
    from_outside: usize,
    /// It has models inside, or connectors whose equations are not counted one by one.
    composed: bool,
}

/// Reports classes with too many or too few equations.
pub fn check(elaborator: &mut Elaborator, parts: &[Part], paths: &[Vec<PathId>]) {
    let model = &elaborator.flat.model;
    let is_unknown = |variable: &dae::Variable| {
        variable.variability > Variability::Parameter && variable.causality != Causality::Input
    };
    if model.variables.values().filter(|&variable| is_unknown(variable)).count() == model.equations.len() {
        return;
    }
    let classes: Vec<Option<ClassId>> = parts.iter().map(|part| judged_class(elaborator, part)).collect();
    let owners = owners(parts, &classes);
    let mut balances = vec![Balance::default(); parts.len()];
    let mut from_outside: IdVec<VarId, bool> = IdVec::filled(false, elaborator.flat.model.variables.len());
    for (position, part) in parts.iter().enumerate() {
        let Some(owner) = owners[position] else { continue };
        if owner == position {
            if let Some(above) = part.parent.and_then(|parent| owners[parent]) {
                balances[above].composed = true;
            }
        } else if let ComponentType::Class(class) = part.ty {
            balances[owner].composed |= connect::balance::is_overdetermined(elaborator, class)
                || connect::expandable::is_expandable(elaborator, class);
        } else {
            balances[owner].composed |= connect::balance::is_overdetermined_type(elaborator, part.component);
            let is_outside = is_determined_outside(elaborator, part.component);
            if is_outside && is_protected(elaborator, parts, position, owner) {
                // Nothing outside sees it: connections of the class itself decide.
                balances[owner].composed = true;
            } else if is_outside {
                let scalars = elaborator.flat.scalars.get(&part.component);
                for &variable in scalars.iter().flat_map(|scalars| scalars.variables.iter().flatten()) {
                    from_outside[variable] = true;
                }
            }
        }
    }
    let by_path: FxHashMap<PathId, usize> = paths
        .iter()
        .enumerate()
        .filter_map(|(position, paths)| Some((owners[position]?, paths)))
        .flat_map(|(owner, paths)| paths.iter().map(move |&path| (path, owner)))
        .collect();
    let model = &elaborator.flat.model;
    let owner_of = |mut path: PathId| loop {
        if let Some(&owner) = by_path.get(&path) {
            return Some(owner);
        }
        path = model.paths.parent(path)?;
    };
    for (id, variable) in model.variables.iter().filter(|(_, variable)| is_unknown(variable)) {
        if let Some(owner) = owner_of(variable.path) {
            balances[owner].unknowns += 1;
            balances[owner].from_outside += usize::from(from_outside[id]);
        }
    }
    for (_, equation) in model.equations.iter() {
        let own = !matches!(equation.origin.kind, OriginKind::Potential | OriginKind::FlowSum | OriginKind::Stream);
        if let Some(owner) = owner_of(equation.origin.component).filter(|_| own) {
            balances[owner].equations += 1;
        }
    }
    report(elaborator, parts, &classes, &balances);
}

/// The class of a part that is a model or block.
fn judged_class(elaborator: &mut Elaborator, part: &Part) -> Option<ClassId> {
    let ComponentType::Class(class) = part.ty else { return None };
    let kind = elaborator.instances.kind(class);
    matches!(kind, ast::ClassKind::Model | ast::ClassKind::Block | ast::ClassKind::Class).then_some(class)
}

/// For each part the nearest model or block, itself or above it.
fn owners(parts: &[Part], classes: &[Option<ClassId>]) -> Vec<Option<usize>> {
    let mut owners: Vec<Option<usize>> = Vec::with_capacity(parts.len());
    for (position, part) in parts.iter().enumerate() {
        let above = part.parent.and_then(|parent| owners.get(parent).copied().flatten());
        owners.push(classes[position].map(|_| position).or(above));
    }
    owners
}

/// Whether a part, or one that it is in, is a protected element of the owner.
fn is_protected(elaborator: &Elaborator, parts: &[Part], position: usize, owner: usize) -> bool {
    let mut inside = std::iter::successors(Some(position), |&at| parts[at].parent).take_while(|&at| at != owner);
    inside.any(|at| elaborator.instances.component(parts[at].component).prefixes.protected)
}

/// Flow variables in connectors, and inputs without a value.
fn is_determined_outside(elaborator: &mut Elaborator, component: CompId) -> bool {
    let instances = &elaborator.instances;
    if instances.flow(component) == ast::Flow::Flow {
        let owner = instances.class(instances.component(component).parent).owner;
        return owner.is_some_and(|owner| connect::collect::is_connector(elaborator, owner).unwrap_or(false));
    }
    instances.direction(component) == ast::Direction::Input && instances.binding(component).is_none()
}

fn report(elaborator: &mut Elaborator, parts: &[Part], classes: &[Option<ClassId>], balances: &[Balance]) {
    let mut told = rustc_hash::FxHashSet::default();
    for ((part, class), balance) in parts.iter().zip(classes).zip(balances) {
        let Some(class) = *class else { continue };
        let needed = balance.unknowns.saturating_sub(balance.from_outside);
        let elements = part.elements().max(1);
        if balance.composed || needed == balance.equations || !told.insert(elaborator.instances.class(class).def) {
            continue;
        }
        let off = needed.abs_diff(balance.equations).div_ceil(elements);
        let side = if balance.equations < needed { "few" } else { "many" };
        let (name, path) = (elaborator.instances.class_name(class), elaborator.instances.path(part.component));
        let mut diagnostic = Diagnostic::warning(
            "unbalanced-class",
            format!("the class `{name}` has {} too {side}", count(off, "equation")),
        )
        .at(elaborator.instances.definition(class).name.span, "declared here")
        .in_component(path)
        .note(format!(
            "{} and {}",
            count(balance.unknowns / elements, "unknown"),
            count(balance.equations / elements, "equation")
        ))
        .specification("4.8");
        if balance.from_outside > 0 {
            let outside = balance.from_outside / elements;
            diagnostic = diagnostic
                .note(format!("of the unknowns, {outside} come from outside: flow variables of connectors and inputs"));
        }
        elaborator.report(diagnostic);
    }
}
