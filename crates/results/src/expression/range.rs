//! Ranges of subscripts: `T[1:5]` stands for five variables, `T[:]` for all of them.

/// The texts that a text with ranges stands for; without ranges it stands for itself. Ranges in one text go together:
/// `a[1:3] - b[1:3]` are three differences.
pub fn expanded<'a>(text: &str, names: impl Iterator<Item = &'a str> + Clone) -> Result<Vec<String>, String> {
    let mut parts: Vec<(&str, Vec<String>)> = Vec::new();
    let mut rest = text;
    while let Some((before, subscripts, after)) = next_range(rest) {
        let base = &text[..text.len() - rest.len() + before.len()];
        let base = &base[base.rfind(|c: char| "+-*/^(, ".contains(c)).map_or(0, |at| at + 1)..];
        parts.push((before, choices(text, base, subscripts, names.clone())?));
        rest = after;
    }
    if parts.is_empty() {
        return Ok(vec![text.to_owned()]);
    }
    let count = parts.iter().map(|(_, choices)| choices.len()).max().unwrap_or(0);
    if parts.iter().any(|(_, choices)| choices.len() != count) {
        return Err(format!("`{text}`: the ranges have different lengths"));
    }
    let made = |k: usize| {
        let subscripted = parts.iter().map(|(before, choices)| format!("{before}[{}]", choices[k]));
        subscripted.collect::<String>() + rest
    };
    Ok((0..count).map(made).collect())
}

/// The first subscripts with a colon: what is before them, they themselves without brackets, and what is behind them.
fn next_range(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find('[')?;
        let close = open + text[open..].find(']')?;
        let inside = &text[open + 1..close];
        if inside.contains(':') {
            return Some((&text[..open], inside, &text[close + 1..]));
        }
        from = close + 1;
    }
}

/// All combinations of the subscripts, the last one changing first.
fn choices<'a>(
    text: &str,
    base: &str,
    subscripts: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<Vec<String>, String> {
    let wrong = || format!("`{text}`: write a range of subscripts as `[1:5]`, `[1:2:9]` or `[:]`");
    let mut found = vec![Vec::<String>::new()];
    for (dimension, subscript) in subscripts.split(',').enumerate() {
        let bounds: Vec<&str> = subscript.split(':').map(str::trim).collect();
        let whole = |bound: &str| bound.parse::<usize>().map_err(|_| wrong());
        let values: Vec<usize> = match bounds.as_slice() {
            [single] => vec![whole(single)?],
            ["", ""] => (1..=largest(base, dimension, names.clone())).collect(),
            [low, high] => counted(whole(low)?, 1, whole(high)?),
            [low, step, high] if whole(step)? > 0 => counted(whole(low)?, whole(step)?, whole(high)?),
            _ => return Err(wrong()),
        };
        if found.len().saturating_mul(values.len()) > MOST {
            return Err(format!("`{text}` stands for more than {MOST} variables"));
        }
        found = (found.iter())
            .flat_map(|start| values.iter().map(move |value| [start.as_slice(), &[value.to_string()]].concat()))
            .collect();
    }
    if found.is_empty() {
        return Err(format!("`{text}` stands for no variable"));
    }
    Ok(found.into_iter().map(|subscripts| subscripts.join(",")).collect())
}

const MOST: usize = 100_000;

/// No more of them than are allowed, and one.
fn counted(low: usize, step: usize, high: usize) -> Vec<usize> {
    (low..=high).step_by(step).take(MOST + 1).collect()
}

/// The largest subscript that the elements of an array have in one dimension.
fn largest<'a>(base: &str, dimension: usize, names: impl Iterator<Item = &'a str>) -> usize {
    let subscript = |name: &str| {
        let inside = name.strip_prefix(base)?.strip_prefix('[')?.split(']').next()?;
        inside.split(',').nth(dimension)?.trim().parse::<usize>().ok()
    };
    names.filter_map(subscript).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let names = ["T[1]", "T[2]", "T[3]", "x[1,1]", "x[1,2]", "x[2,1]", "x[2,2]", "a.b[1].v", "a.b[2].v"];
        expanded(text, names.into_iter()).map_or_else(|message| message, |texts| texts.join("; "))
    }

    #[test]
    fn ranges_and_what_they_stand_for() {
        assert_eq!(said("T[1]"), "T[1]");
        assert_eq!(said("T[1:3]"), "T[1]; T[2]; T[3]");
        assert_eq!(said("T[:]"), "T[1]; T[2]; T[3]");
        assert_eq!(said("T[1:2:3]"), "T[1]; T[3]");
        assert_eq!(said("x[1:2,1]"), "x[1,1]; x[2,1]");
        assert_eq!(said("x[:,:]"), "x[1,1]; x[1,2]; x[2,1]; x[2,2]");
        assert_eq!(said("a.b[:].v"), "a.b[1].v; a.b[2].v");
        assert_eq!(said("T[1:2] - T[2:3]"), "T[1] - T[2]; T[2] - T[3]");
        assert_eq!(said("2*T[:]"), "2*T[1]; 2*T[2]; 2*T[3]");
    }

    #[test]
    fn wrong_ranges() {
        assert_eq!(said("T[1:2] - T[1:3]"), "`T[1:2] - T[1:3]`: the ranges have different lengths");
        assert_eq!(said("T[a:b]"), "`T[a:b]`: write a range of subscripts as `[1:5]`, `[1:2:9]` or `[:]`");
        assert_eq!(said("T[1:0:3]"), "`T[1:0:3]`: write a range of subscripts as `[1:5]`, `[1:2:9]` or `[:]`");
        assert_eq!(said("T[3:1]"), "`T[3:1]` stands for no variable");
        assert_eq!(said("y[:]"), "`y[:]` stands for no variable");
        assert!(said("T[1:999999999]").contains("more than"));
    }
}
