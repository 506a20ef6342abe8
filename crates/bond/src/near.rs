//! The nearest name to a misspelled one.

/// A name that differs by a letter or two, or by upper and lower case only.
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match word.chars().count() {
        0 | 1 => return None,
        2 | 3 => 1,
        _ => 2,
    };
    let distance = |name: &str| {
        if name.eq_ignore_ascii_case(word) { 0 } else { strsim::damerau_levenshtein(word, name) }
    };
    names
        .into_iter()
        .map(|name| (distance(name), name))
        .filter(|(distance, name)| *distance <= allowed && name.chars().count() > 1)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
