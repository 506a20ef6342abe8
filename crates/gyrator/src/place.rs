//! Where a diagnostic points to.

use std::path::PathBuf;

use base::{SourceMap, Span};

/// A piece of a text, for people: lines and columns count from 1, columns in characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The file, as it was named when it was read; `--set NAME` for the text of a value that was set.
    pub path: PathBuf,
    /// The line of the first character.
    pub line: u32,
    /// Its column.
    pub column: u32,
    /// The line of the end.
    pub end_line: u32,
    /// The column behind the last character.
    pub end_column: u32,
}

pub(crate) fn place(sources: &SourceMap, span: Span) -> Option<Place> {
    let file = sources.ids().find(|&file| file == span.file).map(|file| sources.file(file))?;
    let (begin, end) = (file.position(span.start), file.position(span.end));
    Some(Place {
        path: file.path.clone(),
        line: begin.line,
        column: begin.column,
        end_line: end.line,
        end_column: end.column,
    })
}
