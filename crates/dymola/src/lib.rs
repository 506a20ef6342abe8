//! The Dymola language of 1993: its models become Modelica text that knows where it comes from.
//!
//! The language is defined by the listings of Elmqvist, Cellier and Otter, “Object-oriented modeling of hybrid systems” (1993). What
//! each construct means, and where the paper is silent, is in `docs/dymola-1993.md`.
//!
//! ```text
//! text ─ lexer ─ parser ─▶ ast ─ classes ─ connections ─ kinds ─ connectors ─ write ─▶ Modelica text with origins
//! ```

use std::path::Path;

use base::{Diagnostic, FileId, Translated};

mod ast;
mod classes;
mod conflicts;
mod connections;
mod connectors;
mod functions;
mod instants;
mod kinds;
mod language;
mod lexer;
mod parser;
mod write;

use classes::Classes;
use connectors::Connectors;

/// The language, for whoever reads files by their ending.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dymola;

impl Dymola {
    /// How the names of its files end, without the dot.
    pub const ENDING: &'static str = "dym";

    /// The Modelica classes of a file, as far as they can be made, and what is wrong with it.
    pub fn translate(&self, file: FileId, _path: &Path, text: &str) -> (Translated, Vec<Diagnostic>) {
        let parsed = parser::parse(file, text);
        let mut diagnostics = parsed.diagnostics;
        let classes = Classes::new(&parsed.models, &mut diagnostics);
        let joined: Vec<connections::Joined> =
            (0..classes.classes.len()).map(|class| connections::join(&classes, class, &mut diagnostics)).collect();
        let kinds = kinds::infer(&classes, &joined, &mut diagnostics);
        let instants: Vec<Vec<instants::Solved>> =
            (0..classes.classes.len()).map(|class| instants::solve(&classes, class)).collect();
        conflicts::report(&classes, &instants, &mut diagnostics);
        let connectors = Connectors::new(&classes, &joined, &kinds);
        let whole = language::span(file, 0, text.len());
        let source = write::Source { text, whole, models: &parsed.models, comments: &parsed.comments };
        let meaning = write::Meaning {
            classes: &classes,
            joined: &joined,
            kinds: &kinds,
            connectors: &connectors,
            instants: &instants,
        };
        let made = write::write(&source, &meaning, &mut diagnostics);
        diagnostics.sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| label.span.start));
        diagnostics.dedup();
        // What is not connected may be so because of a mistake.
        if diagnostics.iter().any(Diagnostic::is_error) {
            diagnostics.retain(Diagnostic::is_error);
        }
        (made, diagnostics)
    }
}
