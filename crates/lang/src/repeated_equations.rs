//! Equations that a class inherits and has once more, or inherits from two sides (specification 7.1): those that are written
//! alike count once.

use std::sync::Arc;

use base::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::ast;

use crate::elaborate::Elaborator;
use crate::instance::ClassId;
use crate::library::DefId;

/// The equations to leave out, for the classes that make up an instance.
pub(crate) type RepeatedEquations = FxHashMap<Vec<DefId>, Arc<FxHashSet<Span>>>;

/// The equations of a class and its bases that are written in another one of them already. The feature is deprecated, so
/// that each gives a warning.
pub fn find(elaborator: &mut Elaborator, classes: &[ClassId]) -> Arc<FxHashSet<Span>> {
    let with_equations = classes.iter().copied().filter(|&class| sections(elaborator, class).next().is_some());
    let with_equations: Vec<ClassId> = with_equations.collect();
    if with_equations.len() < 2 {
        return Arc::default();
    }
    let key: Vec<DefId> = with_equations.iter().map(|&class| elaborator.instances.class(class).def).collect();
    if let Some(known) = elaborator.typed.repeated.get(&key) {
        return known.clone();
    }
    let mut first: FxHashMap<(bool, String), Span> = FxHashMap::default();
    let mut repeated = FxHashSet::default();
    let mut warnings = Vec::new();
    for &class in &with_equations {
        let mut own = Vec::new();
        for section in sections(elaborator, class) {
            for equation in section.equations.iter().filter(|equation| determines(equation)) {
                let text = elaborator.instances.libraries.sources.text(equation.span);
                let words = (section.initial, text.split_whitespace().collect::<Vec<_>>().join(" "));
                match first.get(&words) {
                    Some(&known) => {
                        repeated.insert(equation.span);
                        warnings.push((known, equation.span));
                    }
                    None => own.push((words, equation.span)),
                }
            }
        }
        first.extend(own);
    }
    for (known, again) in warnings {
        let message = "an equation is inherited and written once more; it counts once";
        let diagnostic = Diagnostic::warning("repeated-equation", message)
            .at(again, "left out")
            .at(known, "the same equation")
            .hint("remove one of them: this is deprecated")
            .specification("7.1");
        elaborator.report(diagnostic);
    }
    let repeated = Arc::new(repeated);
    elaborator.typed.repeated.insert(key, repeated.clone());
    repeated
}

fn sections(elaborator: &Elaborator, class: ClassId) -> impl Iterator<Item = &ast::EquationSection> {
    let composition = match &elaborator.instances.definition(class).body {
        ast::ClassBody::Long(composition) => Some(composition),
        _ => None,
    };
    composition.into_iter().flat_map(|composition| &composition.equations)
}

/// Connections and calls may be there twice.
fn determines(equation: &ast::Equation) -> bool {
    !matches!(equation.kind, ast::EquationKind::Connect(..) | ast::EquationKind::Call(_))
}
