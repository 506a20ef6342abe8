//! A variable gets its new value in one `when` only: two of them may become true at one instant and contradict each other.

use base::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use crate::classes::Classes;
use crate::instants::Solved;
use crate::language;

/// Reports variables that two `when`s of a class and those above it determine.
pub fn report(classes: &Classes, solved: &[Vec<Solved>], diagnostics: &mut Vec<Diagnostic>) {
    for class in 0..classes.classes.len() {
        let mut first: FxHashMap<String, (usize, Span)> = FxHashMap::default();
        let mut lineage = classes.lineage(class);
        // What a class inherits stands first.
        lineage.reverse();
        let mut count = 0;
        for above in lineage {
            for when in &solved[above] {
                count += 1;
                for instant in &when.instants {
                    let parts: Vec<&str> = instant.reference.parts.iter().map(|part| part.name.as_str()).collect();
                    let (name, span) = (parts.join("."), instant.equation.span);
                    let (other, place) = *first.entry(name.clone()).or_insert((count, span));
                    if place != span && above == class {
                        diagnostics.push(conflict(&name, place, span, other == count));
                    }
                }
            }
        }
    }
}

fn conflict(name: &str, first: Span, again: Span, in_one: bool) -> Diagnostic {
    let (message, hint) = match in_one {
        true => (format!("`{name}` gets two values in one `when`"), "remove one of the equations"),
        false => (
            format!("`{name}` gets a value in two `when`s"),
            "both may become true at one instant: use two variables, or one `when` that becomes true at all those instants",
        ),
    };
    language::error("conflicting-whens", message, again, "and again here", hint, "Instantaneous equations")
        .at(first, "first here")
}
