//! The values of literals and the spelling of names (specification, sections 2.3.1 and 2.4).

use std::borrow::Cow;
use std::sync::Arc;

/// The value of a string token: without its quotes, with its escapes resolved.
pub(crate) fn string_value(token: &str) -> Cow<'_, str> {
    let inner = token.strip_prefix('"').unwrap_or(token);
    // A string that lacks its closing quote ends as it is; an escaped quote at its end is no closing one.
    let inner = match inner.strip_suffix('"') {
        Some(shorter) if !ends_in_open_escape(shorter) => shorter,
        _ => inner,
    };
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut value = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            value.push(character);
            continue;
        }
        match characters.next() {
            Some('a') => value.push('\u{7}'),
            Some('b') => value.push('\u{8}'),
            Some('f') => value.push('\u{c}'),
            Some('n') => value.push('\n'),
            Some('r') => value.push('\r'),
            Some('t') => value.push('\t'),
            Some('v') => value.push('\u{b}'),
            Some(escaped @ ('\'' | '"' | '?' | '\\')) => value.push(escaped),
            Some(other) => {
                value.push('\\');
                value.push(other);
            }
            None => value.push('\\'),
        }
    }
    Cow::Owned(value)
}

fn ends_in_open_escape(text: &str) -> bool {
    text.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1
}

pub(crate) fn shared_string(token: &str) -> Arc<str> {
    Arc::from(string_value(token).as_ref())
}

/// A string literal with this value.
pub(crate) fn quote(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for character in value.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// A quoted name with the escapes that change nothing removed, so that `'a\?b'` and `'a?b'` are the same. The quotes belong
/// to the name.
pub(crate) fn quoted_name(token: &str) -> Cow<'_, str> {
    match token.contains('\\') {
        true => Cow::Owned(remove_redundant_escapes(token)),
        false => Cow::Borrowed(token),
    }
}

fn remove_redundant_escapes(token: &str) -> String {
    let mut name = String::with_capacity(token.len());
    let mut characters = token.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            name.push(character);
            continue;
        }
        match characters.next() {
            Some(plain @ ('"' | '?')) => name.push(plain),
            Some(other) => {
                name.push('\\');
                name.push(other);
            }
            None => name.push('\\'),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(string_value(r#""a\n\t\"\\\?\'\a\b\f\r\v""#), "a\n\t\"\\?'\u{7}\u{8}\u{c}\r\u{b}");
        assert_eq!(string_value(r#""plain""#), "plain");
        assert_eq!(string_value(r#""\d""#), "\\d");
        assert_eq!(string_value("\"open"), "open");
        assert_eq!(string_value("\"open\\\""), "open\"");
        assert_eq!(string_value("\""), "");
    }

    #[test]
    fn quoting_is_the_inverse_of_reading() {
        for value in ["", "a\"b", "back\\slash", "tab\tnew\nline", "größe"] {
            assert_eq!(string_value(&quote(value)), value);
        }
    }

    #[test]
    fn redundant_escapes_do_not_make_another_name() {
        assert_eq!(quoted_name(r"'a\?\'b\'"), r"'a?\'b\'");
    }
}
