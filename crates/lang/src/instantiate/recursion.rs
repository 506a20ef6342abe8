//! Components that contain themselves (specification 5.6.1.1). Classes may nest in themselves as long as a condition, a size or
//! a redeclaration ends it, so what counts is what repeats: the same class with the same redeclarations, and nothing on the
//! way that could end it.

use base::{Diagnostic, Name, Span};

use crate::instance::{ClassId, CompId, ComponentType, Dimension, Instances, TypeState};
use crate::library::DefId;
use crate::modifier::Modifier;
use syntax::ast;

/// Components nested deeper than this contain themselves.
const DEEPEST: usize = 200;

/// So many components above of the same class repeat it without an end. A few are allowed, for what is handed down from level
/// to level may run out.
const MOST_REPEATED: usize = 3;

/// A class has at most so many components inside of itself: where each has several, the nesting ends too late for them all.
const MOST_NESTED: usize = 20_000;

/// A message shows so many components on the way from a class back to itself.
const STEPS_SHOWN: usize = 8;

/// Why a class may not be inside of itself any further.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Endless {
    Repeats,
    TooDeep,
    TooOften,
}

impl Instances {
    /// Refuses the component whose type is the class instance if it repeats what is above it without an end.
    pub(super) fn check_recursion(&mut self, id: CompId, instance: ClassId, span: Span) -> Result<(), Box<Diagnostic>> {
        let def = self.classes[instance].def;
        let chain = self.chain(id);
        let is_nested = chain[..chain.len() - 1].iter().any(|&id| self.is_of(id, def).is_some());
        if is_nested && let Some(&why) = self.endless.get(&def) {
            return Err(self.contains_itself(id, (instance, why), span));
        }
        let why = if is_nested && self.repeats_itself(id, instance) {
            Endless::Repeats
        } else if chain.len() > DEEPEST {
            Endless::TooDeep
        } else if is_nested && self.is_too_often(def) {
            Endless::TooOften
        } else {
            return Ok(());
        };
        // Several components that contain themselves would double their number with each level: the first one decides.
        self.endless.insert(def, why);
        Err(self.contains_itself(id, (instance, why), span))
    }

    /// The error that a component which is too large is one of many inside of each other, if it is.
    pub(crate) fn too_large_in_itself(&mut self, id: CompId) -> Option<Box<Diagnostic>> {
        let class = self.class_instance(id)?;
        self.is_inside_itself(id).then(|| {
            let why = Endless::TooOften;
            self.endless.insert(self.classes[class].def, why);
            self.contains_itself(id, (class, why), self.components[id].declaration.type_name.span)
        })
    }

    /// Whether a component above, or the class of the model, is of the same class.
    pub(crate) fn is_inside_itself(&self, id: CompId) -> bool {
        let Some(class) = self.class_instance(id) else { return false };
        let def = self.classes[class].def;
        let chain = self.chain(id);
        let top = chain.first().map(|&first| self.classes[self.components[first].parent].instance);
        top.is_some_and(|top| self.classes[top].def == def)
            || chain[..chain.len() - 1].iter().any(|&id| self.is_of(id, def).is_some())
    }

    /// Counts the component of a class inside of itself.
    fn is_too_often(&mut self, def: DefId) -> bool {
        let count = self.nested.entry(def).or_default();
        *count += 1;
        *count > MOST_NESTED
    }

    /// Whether enough components above are of the same class with the same redeclarations, and nothing on the way could end the
    /// recursion: no condition, no size, and no element that a connection adds. A size that is no literal ends nothing where
    /// every level is given the same literal values.
    fn repeats_itself(&self, id: CompId, instance: ClassId) -> bool {
        let node = &self.classes[instance];
        let own = Given::of(&node.modifier);
        let mut open_sizes = false;
        let mut is_endless = |id: CompId, class: Option<ClassId>| {
            let node = &self.components[id];
            if !node.dimensions.iter().all(is_positive) {
                open_sizes = true;
            }
            let may_end = open_sizes && class.is_none_or(|class| Given::of(&self.classes[class].modifier).is_open);
            node.condition.is_none() && !node.added && !may_end
        };
        if !is_endless(id, Some(instance)) {
            return false;
        }
        let mut same_redeclarations = 0;
        let mut same_values = 0;
        let mut current = id;
        while let Some(owner) = self.classes[self.components[current].parent].owner {
            current = owner;
            if !is_endless(current, self.class_instance(current)) {
                break;
            }
            let Some(above) = self.is_of(current, node.def) else { continue };
            let above = Given::of(&self.classes[above].modifier);
            same_redeclarations += usize::from(above.redeclarations == own.redeclarations);
            same_values += usize::from(above == own);
        }
        (if open_sizes { same_values } else { same_redeclarations }) >= MOST_REPEATED
    }

    /// The class instance of a component whose type is known.
    fn class_instance(&self, id: CompId) -> Option<ClassId> {
        match &self.components[id].ty {
            TypeState::Known(ComponentType::Class(class)) => Some(*class),
            _ => None,
        }
    }

    /// The class instance of a component if it is of that class.
    fn is_of(&self, id: CompId, def: DefId) -> Option<ClassId> {
        self.class_instance(id).filter(|&class| self.classes[class].def == def)
    }

    /// The message names the first component on the way down that is of the class, and the way from there to the next one.
    fn contains_itself(&self, id: CompId, (class, why): (ClassId, Endless), span: Span) -> Box<Diagnostic> {
        let def = self.classes[class].def;
        let chain = self.chain(id);
        let is_same = |&id: &CompId| self.is_of(id, def).is_some();
        let first = chain.iter().position(is_same).unwrap_or(chain.len() - 1);
        let next = chain.iter().skip(first + 1).position(is_same).map_or(chain.len() - 1, |at| first + 1 + at);
        let name = self.class_name(class);
        let message = match why {
            Endless::Repeats => format!("`{name}` contains itself"),
            Endless::TooDeep => format!("components nest more than {DEEPEST} deep in `{name}`"),
            Endless::TooOften => format!("`{name}` contains itself more often than is supported"),
        };
        let mut diagnostic = Diagnostic::error("recursive-component", message)
            .at(span, "as a part of itself")
            .in_component(self.path(chain[first]))
            .specification("5.6.1.1");
        if next > first + 1 {
            diagnostic = diagnostic.note(format!("the way: {}", self.way(&chain[first + 1..=next], class)));
        }
        Box::new(diagnostic)
    }

    /// Components with their classes, one inside of the other; the last one is of the class given.
    fn way(&self, chain: &[CompId], last: ClassId) -> String {
        let mut steps: Vec<String> = Vec::new();
        for &id in chain.iter().take(STEPS_SHOWN) {
            let class = self.class_name(self.class_instance(id).unwrap_or(last));
            steps.push(format!("`{}` of `{class}`", self.components[id].declaration.name.name));
        }
        if chain.len() > STEPS_SHOWN {
            steps.push("…".to_owned());
        }
        steps.join(", in it ")
    }
}

/// What a modifier says, so that two can be compared: redeclarations and values, each with its name and the place of its text.
#[derive(PartialEq)]
struct Given {
    redeclarations: Vec<(Vec<Name>, Span)>,
    values: Vec<(Vec<Name>, Span)>,
    /// Whether a value is no literal, and thus may be another one at each level.
    is_open: bool,
}

impl Given {
    fn of(modifier: &Modifier) -> Self {
        let mut given = Given { redeclarations: Vec::new(), values: Vec::new(), is_open: false };
        let mut waiting = vec![(Vec::new(), modifier)];
        while let Some((path, modifier)) = waiting.pop() {
            if let Some(redeclare) = &modifier.redeclare {
                given.redeclarations.push((path.clone(), redeclare.span));
            }
            if let Some(binding) = &modifier.binding {
                given.values.push((path.clone(), binding.span));
                given.is_open |= binding.expr.as_deref().is_some_and(|value| !is_literal(value));
            }
            for (name, child) in &modifier.children {
                let mut path = path.clone();
                path.push(*name);
                waiting.push((path, child));
            }
        }
        given
    }
}

fn is_literal(value: &ast::Expr) -> bool {
    use ast::ExprKind::{Boolean, Integer, Real, String};
    matches!(value.kind, Boolean(_) | Integer(_) | Real(_) | String(_))
}

fn is_positive(dimension: &Dimension) -> bool {
    let ast::Subscript::Expr(size) = &dimension.subscript else { return false };
    matches!(size.kind, ast::ExprKind::Integer(size) if size > 0)
}
