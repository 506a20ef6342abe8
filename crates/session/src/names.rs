//! Names of variables in messages.

/// The nearest of the known names, when it is near enough to be meant.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate));
    let (distance, candidate) = distances.min_by_key(|(distance, _)| *distance)?;
    let length = name.chars().count();
    (distance <= 1 + length / 4 && distance < length).then_some(candidate)
}

/// The first names, and how many there are besides.
pub fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 6;
    let mut names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let rest = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    match rest {
        0 => names.join(", "),
        _ => format!("{} and {rest} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name() {
        assert_eq!(nearest("C.vv", ["L.i", "C.v"].into_iter()), Some("C.v"));
        assert_eq!(nearest("z", ["x", "C.v"].into_iter()), None);
        assert_eq!(nearest("motor", ["L.i", "C.v"].into_iter()), None);
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(list(["a", "b"].into_iter()), "`a`, `b`");
        assert_eq!(
            list("abcdefgh".split("").filter(|name| !name.is_empty())),
            "`a`, `b`, `c`, `d`, `e`, `f` and 2 more"
        );
    }
}
