//! How messages speak about the language.

use base::{Diagnostic, FileId, Span};

/// An error with one place, a remedy, and the section of the manual chapter that says what holds.
pub fn error(
    code: &'static str,
    message: impl Into<String>,
    span: Span,
    label: impl Into<String>,
    hint: impl Into<String>,
    section: &str,
) -> Diagnostic {
    Diagnostic::error(code, message).at(span, label).hint(hint).note(see(section))
}

/// The note that names the definition of the language.
pub fn see(section: &str) -> String {
    format!("see: the Dymola language of 1993, docs/dymola-1993.md, “{section}”")
}

/// The known name that is spelled most like this one, if any is near.
pub fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = (length / 3).clamp(1, 3);
    // Every letter is like every other one.
    let known = known.filter(|other| length > 2 || name.eq_ignore_ascii_case(other));
    let distance = |other: &str| {
        let exact = strsim::damerau_levenshtein(name, other);
        exact.min(strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase()) + 1)
    };
    // Of names that are equally far, the one that begins alike.
    let differs = |other: &str| {
        let alike = name.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
        length - alike
    };
    let ranked = known.map(|other| (distance(other), differs(other), other));
    ranked.filter(|&(far, ..)| far <= limit).min().map(|(.., other)| other)
}

pub fn span(file: FileId, start: usize, end: usize) -> Span {
    let place = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    Span::new(file, place(start), place(end))
}
