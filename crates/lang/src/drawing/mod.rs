//! Pictures of classes from their standard annotations (specification 18.6): text → `diagram::Picture`.
//!
//! Only what is seen is instantiated: the components of the class, the connectors of their icons, and the parameters that
//! texts, conditions and variable graphics name. Equations are not flattened. A class with mistakes is drawn as far as it is
//! understood, and the mistakes are warnings.
//!
//! `fields` reads annotations, `shapes` makes primitives of them, `layers` collects those of a class and its base classes,
//! `components` places components, `connections` finds connections, `macros` writes parameter values into texts.

mod components;
mod connections;
mod fields;
mod layers;
mod macros;
mod shapes;
mod signals;

use std::path::PathBuf;
use std::sync::Arc;

use base::{Diagnostic, Severity, Span};
use diagram::{Image, Layer, Picture};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::elaborate::Elaborator;
use crate::flat::Indices;
use crate::instance::{ClassId, CompId, Frame, Instances};
use crate::library::Libraries;
use crate::overrides::Overrides;

pub use signals::Signal;

/// What became of a class.
pub struct Drawing {
    /// Absent when there is no such class.
    pub picture: Option<Picture>,
    /// What connectors carry, where that was asked for, by the positions of component and connector in the picture.
    pub signals: Vec<Signal>,
    /// What was found on the way.
    pub diagnostics: Vec<Diagnostic>,
}

/// Draws a layer of a class. Without a layer it is the diagram of a class that has components and the icon of any other.
/// `with_signals`: also finds the variables of all connectors that are drawn.
pub fn draw(
    libraries: &mut Libraries,
    class: &str,
    overrides: &Overrides,
    layer: Option<Layer>,
    with_signals: bool,
) -> Drawing {
    const STACK: usize = 1 << 28;
    stacker::maybe_grow(STACK / 4, STACK, || {
        let before = std::mem::take(&mut libraries.diagnostics);
        let instances = Instances::new(std::mem::replace(libraries, Libraries::empty()));
        let mut painter = Painter {
            elaborator: Elaborator::new(instances, overrides),
            warnings: before,
            images: FxHashMap::default(),
            absent: FxHashSet::default(),
        };
        let (picture, signals) = match painter.class(class, overrides, layer, with_signals) {
            Ok((picture, signals)) => (Some(picture), signals),
            Err(diagnostic) => {
                painter.warnings.push(*diagnostic);
                (None, Vec::new())
            }
        };
        let Painter { elaborator, warnings: mut diagnostics, .. } = painter;
        let mut instances = elaborator.instances;
        diagnostics.append(&mut instances.libraries.diagnostics);
        diagnostics.append(&mut instances.diagnostics);
        if picture.is_some() {
            // What is wrong was drawn as far as it is understood.
            for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.is_error()) {
                diagnostic.severity = Severity::Warning;
            }
        }
        *libraries = instances.libraries;
        Drawing { picture, signals, diagnostics }
    })
}

/// Makes typed graphics from the instance tree.
struct Painter {
    elaborator: Elaborator,
    warnings: Vec<Diagnostic>,
    /// Files that were read; `None` for those that are no pictures.
    images: FxHashMap<PathBuf, Option<Arc<Image>>>,
    /// Connectors of components that do not exist because their condition is false.
    absent: FxHashSet<(String, String)>,
}

impl Painter {
    fn instances(&mut self) -> &mut Instances {
        &mut self.elaborator.instances
    }

    /// Where the texts of a class are evaluated: in the first element of the arrays of components above it.
    fn frame(&mut self, class: ClassId) -> Frame {
        let rank = self.instances().rank_above(class);
        Frame { class, indices: Indices::from_elem(1, rank) }
    }

    /// The element numbers of the arrays above a component.
    fn above(&mut self, component: CompId) -> Indices {
        let parent = self.instances().component(component).parent;
        self.frame(parent).indices
    }

    /// Does something that may fail without leaving a message.
    fn quietly<T>(&mut self, attempt: impl FnOnce(&mut Elaborator) -> Option<T>) -> Option<T> {
        let before = self.elaborator.instances.diagnostics.len();
        let result = attempt(&mut self.elaborator);
        self.elaborator.instances.diagnostics.truncate(before);
        result
    }

    /// What is wrong with an annotation; the rest is drawn.
    fn warn(&mut self, class: ClassId, span: Span, message: impl Into<String>) {
        let mut warning =
            Diagnostic::warning("wrong-annotation", message).at(span, "this is left out").specification("18.6");
        if let Some(path) = self.instances().owner_path(class) {
            warning = warning.in_component(path);
        }
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}
