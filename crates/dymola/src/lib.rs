//! The Dymola language of 1993: its models become Modelica text that knows where it comes from.
//!
//! The language is defined by the listings of Elmqvist, Cellier and Otter, “Object-oriented modeling of hybrid systems” (1993). What
//! each construct means, and where the paper is silent, is in `docs/dymola-1993.md`.
//!
//! ```text
//! text ─ lexer ─ parser ─▶ ast ─ forms ─ classes ─ connections ─ kinds ─ connectors ─ write ─▶ Modelica text with origins
//! ```

use base::{Diagnostic, FileId, Translated};

mod ast;
mod beginnings;
mod classes;
mod conflicts;
mod connections;
mod connectors;
mod forms;
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
    pub fn translate(&self, file: FileId, text: &str) -> (Translated, Vec<Diagnostic>) {
        self.translate_among(file, &[(file, text)])
    }

    /// The same for one of several files that are read together: its classes mean what they would mean if all of them stood in
    /// one file. The order of the files is that in which they were given.
    pub fn translate_among(&self, file: FileId, files: &[(FileId, &str)]) -> (Translated, Vec<Diagnostic>) {
        let (mut models, mut diagnostics) = (Vec::new(), Vec::new());
        let (mut text, mut comments, mut own_models) = ("", Vec::new(), Vec::new());
        for (index, &(other, other_text)) in files.iter().enumerate() {
            // A copy of a file says nothing new.
            let is_copy = |&(copy, copied): &(FileId, &str)| copied == other_text && copy != other;
            let is_known = files[..index].iter().any(is_copy) || files.iter().any(|one| one.0 == file && is_copy(one));
            if other != file && is_known {
                continue;
            }
            let parsed = parser::parse(other, other_text);
            if other == file {
                text = other_text;
                comments = parsed.comments;
                own_models = parsed.models.clone();
                diagnostics = parsed.diagnostics;
            }
            models.extend(parsed.models);
        }
        let source = write::Source {
            text,
            whole: language::span(file, 0, text.len()),
            models: &own_models,
            comments: &comments,
        };
        let separate = forms::separate(&models, &Classes::new(&models, &mut Vec::new()), &mut diagnostics);
        let made = self.write(&source, separate.as_deref().unwrap_or(&models), files, &mut diagnostics);
        diagnostics.retain(|diagnostic| diagnostic.labels.first().is_none_or(|label| label.span.file == file));
        diagnostics.sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| label.span.start));
        let mut known: Vec<Diagnostic> = Vec::new();
        // Several forms of a class have the same mistakes.
        diagnostics.retain(|diagnostic| {
            let start = diagnostic.labels.first().map(|label| label.span.start);
            known.retain(|other| other.labels.first().map(|label| label.span.start) == start);
            let is_new = !known.contains(diagnostic);
            known.extend(is_new.then(|| diagnostic.clone()));
            is_new
        });
        // What is not connected may be so because of a mistake.
        if diagnostics.iter().any(Diagnostic::is_error) {
            diagnostics.retain(Diagnostic::is_error);
        }
        (made, diagnostics)
    }

    fn write(
        &self,
        source: &write::Source,
        models: &[ast::Model],
        files: &[(FileId, &str)],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Translated {
        let classes = Classes::new(models, diagnostics);
        let joined: Vec<connections::Joined> =
            (0..classes.classes.len()).map(|class| connections::join(&classes, class, diagnostics)).collect();
        let kinds = kinds::infer(&classes, &joined, diagnostics);
        let instants: Vec<Vec<instants::Solved>> =
            (0..classes.classes.len()).map(|class| instants::solve(&classes, class, &kinds)).collect();
        conflicts::report(&classes, &instants, diagnostics);
        beginnings::report(&classes, &instants, files, diagnostics);
        let connectors = Connectors::new(&classes, &joined, &kinds);
        let meaning = write::Meaning {
            classes: &classes,
            joined: &joined,
            kinds: &kinds,
            connectors: &connectors,
            instants: &instants,
        };
        write::write(source, &meaning, diagnostics)
    }
}
