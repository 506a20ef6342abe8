//! What somebody may have meant by a text that is no unit: `Nm` is `N.m`, `m^2` is `m2`, `hz` is `Hz`.

use crate::symbols::{PREFIXES, symbol};
use crate::unit::Unit;

/// A unit that is written almost like the text.
pub fn suggestion(text: &str) -> Option<String> {
    let plain = text
        .trim()
        .replace("**", "")
        .replace('^', "")
        .replace(['*', '·', ' '], ".")
        .replace('Ω', "Ohm")
        .replace('°', "deg")
        .replace('µ', "u");
    let mut result = String::new();
    let mut rest = plain.as_str();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        result += &if word.is_empty() { String::new() } else { suggested_word(word)? };
        let end = tail.find(char::is_alphabetic).unwrap_or(tail.len());
        result += &tail[..end];
        rest = &tail[end..];
    }
    (result != text && result.parse::<Unit>().is_ok()).then_some(result)
}

fn suggested_word(word: &str) -> Option<String> {
    if is_known(word) {
        return Some(word.to_owned());
    }
    other_case(word).or_else(|| product(word)).or_else(|| spelled_out(word).map(str::to_owned))
}

fn is_known(word: &str) -> bool {
    word.parse::<Unit>().is_ok()
}

/// `Nm` as `N.m`: the first part as short as possible, so that prefixes belong to the second.
fn product(word: &str) -> Option<String> {
    let splits = word.char_indices().skip(1).map(|(at, _)| word.split_at(at));
    // One letter and another: more of them is a word.
    let mut known = splits.filter(|(a, b)| is_known(a) && is_known(b) && a.len() <= 3 && b.len() <= 3);
    known.next().filter(|_| word.len() <= 4).map(|(a, b)| format!("{a}.{b}"))
}

/// `hz` as `Hz`, `KG` as `kg`.
fn other_case(word: &str) -> Option<String> {
    let lower = word.to_lowercase();
    let symbols = [
        "Hz", "Pa", "Ohm", "kg", "N", "V", "A", "W", "J", "K", "mol", "rad", "deg", "degC", "Wb", "T", "H", "F", "S",
        "m", "s",
    ];
    let same = |symbol: &str| symbol.to_lowercase() == lower;
    if let Some(found) = symbols.into_iter().find(|found| same(found)) {
        return Some(found.to_owned());
    }
    let prefixed = symbols
        .into_iter()
        .filter(|found| symbol(found).is_some() && *found != "kg")
        .flat_map(|found| PREFIXES.iter().map(move |(prefix, _)| format!("{prefix}{found}")));
    // `Nm` is no nanometre: the letter of a prefix counts, but for the kilo that many write with a capital letter.
    let begins = |found: &str| found.get(..1) == word.get(..1) || (found.starts_with('k') && word.starts_with('K'));
    let mut matching = prefixed.filter(|found| found.to_lowercase() == lower && begins(found));
    matching.next()
}

fn spelled_out(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "sec" | "second" | "seconds" => "s",
        "meter" | "metre" | "meters" | "metres" => "m",
        "newton" => "N",
        "volt" | "volts" => "V",
        "ampere" | "amp" | "amps" => "A",
        "watt" | "watts" => "W",
        "joule" => "J",
        "kelvin" => "K",
        "celsius" | "c°" => "degC",
        "degree" | "degrees" => "deg",
        "radian" | "radians" => "rad",
        "hour" | "hours" | "hr" => "h",
        "minute" | "minutes" => "min",
        "percent" => "%",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant() {
        let cases = [
            ("Nm", "N.m"),
            ("Ws", "W.s"),
            ("Nm/rad", "N.m/rad"),
            ("N*m", "N.m"),
            ("m^2", "m2"),
            ("m/s^2", "m/s2"),
            ("m/s**2", "m/s2"),
            ("kg m2", "kg.m2"),
            ("hz", "Hz"),
            ("KHz", "kHz"),
            ("ohm", "Ohm"),
            ("kOHM", "kOhm"),
            ("sec", "s"),
            ("1/sec", "1/s"),
            ("°C", "degC"),
            ("meter", "m"),
        ];
        for (text, expected) in cases {
            assert_eq!(suggestion(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["furlong", "", "xyz", "N.m", "dB"] {
            assert_eq!(suggestion(text), None, "{text}");
        }
    }
}
