//! A text that was made from another one and knows where each of its pieces comes from.
//!
//! Languages other than Modelica become Modelica text. What is found wrong with that text, at any later stage, is reported at
//! the place in the file that the user wrote.

use crate::Span;

/// Modelica text with its origins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Translated {
    text: String,
    /// In the order of the text; each reaches to the next one.
    pieces: Vec<Piece>,
    /// Classes that several files may make alike: their names and texts.
    common: Vec<(String, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Piece {
    start: u32,
    origin: Span,
    /// Equal to its origin byte for byte, so that places inside of it are known.
    copied: bool,
}

impl Translated {
    /// An empty text; what is written first comes from `origin`.
    pub fn new(origin: Span) -> Self {
        Self { text: String::new(), pieces: vec![Piece { start: 0, origin, copied: false }], common: Vec::new() }
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What was written from `start` on is a class that nobody wrote and that other files may make too.
    pub fn is_common(&mut self, name: &str, start: usize) {
        let text = self.text.get(start..).unwrap_or_default().to_owned();
        self.common.push((name.to_owned(), text));
    }

    /// Classes that nobody wrote: their names and texts.
    pub fn common(&self) -> &[(String, String)] {
        &self.common
    }

    /// Continues the piece that was begun last.
    pub fn write(&mut self, text: &str) {
        if let Some(Piece { copied: true, origin, .. }) = self.pieces.last() {
            let origin = *origin;
            self.begin(origin, false);
        }
        self.text.push_str(text);
    }

    /// Writes a text that stands for what is at a place of the other one.
    pub fn write_for(&mut self, origin: Span, text: &str) {
        self.begin(origin, false);
        self.text.push_str(text);
    }

    /// Writes the text of a place as it is.
    pub fn copy(&mut self, origin: Span, text: &str) {
        debug_assert_eq!((origin.end - origin.start) as usize, text.len());
        self.begin(origin, true);
        self.text.push_str(text);
    }

    fn begin(&mut self, origin: Span, copied: bool) {
        let start = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        self.pieces.push(Piece { start, origin, copied });
    }

    /// Where a range of the text comes from.
    pub fn origin(&self, start: u32, end: u32) -> Span {
        let first = self.piece_at(start);
        let last = self.piece_at(end.max(start + 1) - 1);
        let from = Self::part(first, start, start);
        let to = Self::part(last, end, end);
        match from.file == to.file && from.start <= to.end {
            true => from.to(to),
            false => first.origin,
        }
    }

    /// The piece that holds a byte. The first piece begins with the text, so there is one.
    fn piece_at(&self, offset: u32) -> Piece {
        let after = self.pieces.partition_point(|piece| piece.start <= offset);
        self.pieces[after.saturating_sub(1)]
    }

    fn part(piece: Piece, start: u32, end: u32) -> Span {
        let Piece { start: begin, origin, copied } = piece;
        if !copied {
            return origin;
        }
        let place = |offset: u32| (origin.start + (offset - begin)).min(origin.end);
        Span::new(origin.file, place(start), place(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileId, Id as _};

    fn span(start: u32, end: u32) -> Span {
        Span::new(FileId::from_index(0), start, end)
    }

    /// `R r 5` becomes `Resistor r(R = 5);`.
    #[test]
    fn places_are_those_of_the_other_text() {
        let mut made = Translated::new(span(0, 5));
        made.write_for(span(0, 1), "Resistor ");
        made.copy(span(2, 3), "r");
        made.write("(R = ");
        made.copy(span(4, 5), "5");
        made.write(");");
        assert_eq!(made.text(), "Resistor r(R = 5);");
        assert_eq!(made.origin(0, 8), span(0, 1), "a word that stands for another one");
        assert_eq!(made.origin(9, 10), span(2, 3), "a copied word");
        assert_eq!(made.origin(15, 16), span(4, 5));
        assert_eq!(made.origin(0, 18), span(0, 5), "all of it");
        assert_eq!(made.origin(12, 13), span(2, 3), "what has no origin of its own belongs to what is before it");
    }

    #[test]
    fn places_inside_of_copied_text() {
        let mut made = Translated::new(span(0, 20));
        made.write("y = ");
        made.copy(span(7, 12), "a + b");
        assert_eq!(made.origin(4, 5), span(7, 8));
        assert_eq!(made.origin(8, 9), span(11, 12));
        assert_eq!(made.origin(4, 9), span(7, 12));
    }
}
