//! Source files and places in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Id, IdVec};

crate::id_type!(
    /// A file that was read.
    pub FileId, "file"
);

/// A range of bytes in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// The byte behind the last one.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` up to `end`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// The smallest span that holds both; both must be of one file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether another span lies inside.
    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }
}

/// Line and column, both from 1; the column counts characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
}

/// A text with its path.
#[derive(Debug)]
pub struct SourceFile {
    /// Where the text comes from.
    pub path: PathBuf,
    /// The text.
    pub text: Arc<str>,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// The text of a line (from 1) without its line break.
    pub fn line(&self, line: u32) -> &str {
        let index = line as usize - 1;
        let start = self.line_starts[index] as usize;
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |&next| next as usize);
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// The line and column of a byte.
    pub fn position(&self, offset: u32) -> Position {
        let index = self.line_starts.partition_point(|&start| start <= offset) - 1;
        let start = self.line_starts[index] as usize;
        let end = (offset as usize).clamp(start, self.text.len());
        let column = self.text.get(start..end).map_or(0, |before| before.chars().count()) as u32 + 1;
        Position { line: index as u32 + 1, column }
    }
}

fn line_starts(text: &str) -> Vec<u32> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(offset, _)| offset as u32 + 1)).collect()
}

/// All files read so far. A copy shares their texts.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: IdVec<FileId, Arc<SourceFile>>,
}

impl SourceMap {
    /// Adds a text.
    pub fn add(&mut self, path: impl AsRef<Path>, text: impl Into<Arc<str>>) -> FileId {
        let text = text.into();
        let line_starts = line_starts(&text);
        self.files.push(Arc::new(SourceFile { path: path.as_ref().to_owned(), text, line_starts }))
    }

    /// Gives a file another text. Spans in the text before mean nothing any more.
    pub fn replace(&mut self, file: FileId, text: Arc<str>) -> FileId {
        let line_starts = line_starts(&text);
        let path = self.files[file].path.clone();
        self.files[file] = Arc::new(SourceFile { path, text, line_starts });
        file
    }

    /// The file of an id.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id]
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.files[span.file].text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// `path:line:column` of the start of a span.
    pub fn place(&self, span: Span) -> String {
        let file = &self.files[span.file];
        let position = file.position(span.start);
        format!("{}:{}:{}", file.path.display(), position.line, position.column)
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The ids of all files.
    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len()).map(FileId::from_index)
    }
}
