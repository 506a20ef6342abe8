//! Components that contain themselves (specification 5.6.1.1). Classes may nest in themselves as long as a condition, a size or
//! a redeclaration ends it, so what counts is what repeats: the same class with the same redeclarations, and nothing on the
//! way that could end it.

use base::{Diagnostic, Name, Span};

use crate::instance::{ClassId, CompId, ComponentType, Dimension, Instances, TypeState};
use crate::modifier::Modifier;
use syntax::ast;

/// Components nested deeper than this contain themselves.
const DEEPEST: usize = 200;

/// So many components above of the same class repeat it without an end. A few are allowed, for what is handed down from level
/// to level may run out.
const MOST_REPEATED: usize = 3;

impl Instances {
    /// Refuses the component whose type is the class instance if it repeats what is above it without an end.
    pub(super) fn check_recursion(&mut self, id: CompId, instance: ClassId, span: Span) -> Result<(), Box<Diagnostic>> {
        let def = self.classes[instance].def;
        let chain = self.chain(id);
        let above = &chain[..chain.len() - 1];
        if self.endless.contains(&def) && above.iter().any(|&id| self.is_of(id, def).is_some()) {
            return Err(self.contains_itself(id, instance, span));
        }
        if chain.len() <= DEEPEST && !self.repeats_itself(id, instance) {
            return Ok(());
        }
        // Several components that contain themselves would double their number with each level: the first one decides.
        self.endless.insert(def);
        Err(self.contains_itself(id, instance, span))
    }

    /// Whether enough components above are of the same class with the same redeclarations, and nothing on the way could end the
    /// recursion: no condition, no size, and no element that a connection adds.
    fn repeats_itself(&self, id: CompId, instance: ClassId) -> bool {
        let node = &self.classes[instance];
        let is_endless = |id: CompId| {
            let node = &self.components[id];
            node.condition.is_none() && node.dimensions.iter().all(is_positive) && !node.added
        };
        if !is_endless(id) {
            return false;
        }
        let mut own = None;
        let mut repeated = 0;
        let mut current = id;
        while let Some(owner) = self.classes[self.components[current].parent].owner {
            current = owner;
            if !is_endless(current) {
                break;
            }
            let Some(above) = self.is_of(current, node.def) else { continue };
            let own = own.get_or_insert_with(|| redeclarations(&node.modifier));
            repeated += usize::from(redeclarations(&self.classes[above].modifier) == *own);
        }
        repeated >= MOST_REPEATED
    }

    /// The class instance of a component whose type is known.
    fn class_instance(&self, id: CompId) -> Option<ClassId> {
        match &self.components[id].ty {
            TypeState::Known(ComponentType::Class(class)) => Some(*class),
            _ => None,
        }
    }

    /// The class instance of a component if it is of that class.
    fn is_of(&self, id: CompId, def: crate::library::DefId) -> Option<ClassId> {
        self.class_instance(id).filter(|&class| self.classes[class].def == def)
    }

    /// The message names the first component on the way down that is of the class.
    fn contains_itself(&self, id: CompId, class: ClassId, span: Span) -> Box<Diagnostic> {
        let def = self.classes[class].def;
        let first = self.chain(id).into_iter().find(|&id| self.is_of(id, def).is_some()).unwrap_or(id);
        Box::new(
            Diagnostic::error("recursive-component", format!("`{}` contains itself", self.class_name(class)))
                .at(span, "as a part of itself")
                .in_component(self.path(first))
                .specification("5.6.1.1"),
        )
    }
}

/// The redeclarations of a modifier: their names, each with the place of its text. Values choose no types.
fn redeclarations(modifier: &Modifier) -> Vec<(Vec<Name>, Span)> {
    let mut found = Vec::new();
    let mut waiting = vec![(Vec::new(), modifier)];
    while let Some((path, modifier)) = waiting.pop() {
        if let Some(redeclare) = &modifier.redeclare {
            found.push((path.clone(), redeclare.span));
        }
        for (name, child) in &modifier.children {
            let mut path = path.clone();
            path.push(*name);
            waiting.push((path, child));
        }
    }
    found
}

fn is_positive(dimension: &Dimension) -> bool {
    let ast::Subscript::Expr(size) = &dimension.subscript else { return false };
    matches!(size.kind, ast::ExprKind::Integer(size) if size > 0)
}
