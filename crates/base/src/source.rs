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
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// The smallest span that holds both; both must be of one file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }
}

/// Line and column, both from 1; the column counts characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

#[derive(Debug)]
pub struct SourceFile {
    pub path: PathBuf,
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

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id]
    }

    pub fn text(&self, span: Span) -> &str {
        self.files[span.file].text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// `path:line:column` of the start of a span.
    pub fn place(&self, span: Span) -> String {
        let file = &self.files[span.file];
        let position = file.position(span.start);
        format!("{}:{}:{}", file.path.display(), position.line, position.column)
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len()).map(FileId::from_index)
    }
}
