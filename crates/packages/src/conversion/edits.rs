//! Changes of a text: places with what stands there afterwards. The rest of the text stays as it is, byte for byte.

use std::ops::Range;

/// Changes that do not overlap; one inside of another is part of it.
#[derive(Default, Debug)]
pub struct Edits {
    list: Vec<(Range<usize>, String)>,
}

impl Edits {
    /// Replaces a part of the text. What was to be changed inside of it is forgotten: who replaces it has used it.
    pub fn replace(&mut self, at: Range<usize>, new: impl Into<String>) {
        let (new, is_empty) = (new.into(), at.is_empty());
        self.list.retain(|(known, _)| is_empty || known.end <= at.start || known.start >= at.end);
        // The same name may be met on two ways, as the type of several components.
        if !self.list.iter().any(|(known, text)| *known == at && *text == new) {
            self.list.push((at, new));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A part of the text with the changes in it.
    pub fn applied(&self, text: &str, part: Range<usize>) -> String {
        let mut inside: Vec<&(Range<usize>, String)> =
            self.list.iter().filter(|(at, _)| at.start >= part.start && at.end <= part.end).collect();
        inside.sort_by_key(|(at, _)| (at.start, at.end));
        let (mut made, mut done) = (String::with_capacity(part.len()), part.start);
        for (at, new) in inside {
            if at.start < done {
                continue;
            }
            made.push_str(text.get(done..at.start).unwrap_or(""));
            made.push_str(new);
            done = at.end;
        }
        made.push_str(text.get(done..part.end).unwrap_or(""));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_with_their_changes() {
        let mut edits = Edits::default();
        edits.replace(0..1, "xy");
        edits.replace(4..5, "z");
        assert_eq!(edits.applied("a b c d", 0..7), "xy b z d");
        assert_eq!(edits.applied("a b c d", 2..7), "b z d");
        edits.replace(2..5, "!");
        assert_eq!(edits.applied("a b c d", 0..7), "xy ! d");
    }
}
