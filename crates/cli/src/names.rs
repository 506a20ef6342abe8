//! Names of variables as they are given on the command line.

use session::nearest;

use crate::exit::Failure;

/// Splits `a,x[1,2],der(y)` at the commas outside of brackets and quotes.
pub fn split(list: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    // Texts stand in double quotes, and names such as 'a,b' in single ones (2.3.1).
    let (mut depth, mut quote, mut is_escaped) = (0, None, false);
    for character in list.chars() {
        match (quote, character) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '[' | '(' | '{') => depth += 1,
            (None, ']' | ')' | '}') => depth -= 1,
            (None, _) => {}
        }
        match names.last_mut() {
            Some(_) if character == ',' && depth == 0 && quote.is_none() => names.push(String::new()),
            Some(name) => name.push(character),
            None => {}
        }
    }
    names.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The message for a variable that is not there.
pub fn unknown<'a>(name: &str, place: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let hint = match nearest(name, known) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    Failure::call(format!("there is no variable `{name}` in {place}{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_brackets_do_not_split() {
        assert_eq!(split("a, x[1,2],der(y)"), ["a", "x[1,2]", "der(y)"]);
        assert_eq!(split("{1,2},\"a,b\""), ["{1,2}", "\"a,b\""]);
        assert_eq!(split("'a,b',a.'c, \\', d',x['e[',1]"), ["'a,b'", "a.'c, \\', d'", "x['e[',1]"]);
        assert_eq!(split(""), Vec::<String>::new());
        assert_eq!(split("a]],b"), ["a]],b"]);
    }
}
