//! Languages other than Modelica. Each becomes Modelica text that knows where it comes from, so that every stage after the
//! parser serves all of them, their classes use each other, and messages name the file that the user wrote.

use std::path::Path;

use base::{Diagnostic, FileId, Translated};

/// A language whose texts become Modelica text.
pub trait FrontEnd: Send + Sync {
    /// How the names of its files end, without the dot.
    fn ending(&self) -> &'static str;

    /// The classes of a file, as far as they can be made, and what is wrong with it.
    fn translate(&self, file: FileId, path: &Path, text: &str) -> (Translated, Vec<Diagnostic>);

    /// The same for one of several files that the user gave together, all of this language and in his order. Languages whose files
    /// are understood one by one need not look at the others.
    fn translate_among(&self, file: FileId, path: &Path, files: &[(FileId, &str)]) -> (Translated, Vec<Diagnostic>) {
        let text = files.iter().find(|(other, _)| *other == file).map_or("", |(_, text)| *text);
        self.translate(file, path, text)
    }
}
