//! The functions ModelicaStrings_*, after the documentation of Modelica.Utilities.Strings, and `ModelicaError`. Positions count bytes from 1.

use std::cmp::Ordering;

use dae::Value;

use crate::arguments::Arguments;

type Answer = Result<Option<Value>, String>;

/// `None` if the symbol is none of them.
pub fn call(arguments: &mut Arguments<'_>) -> Option<Answer> {
    // `Modelica.Utilities.Streams.error` until version 3.2.3.
    if arguments.symbol == "ModelicaError" {
        return Some(arguments.text(0).and_then(|text| Err(text.to_owned())));
    }
    let name = arguments.symbol.strip_prefix("ModelicaStrings_")?;
    Some(match name {
        "length" => arguments.text(0).map(|text| Some(Value::Integer(text.len() as i64))),
        "substring" => substring(arguments),
        "compare" => compare(arguments),
        "hashString" => arguments.text(0).map(|text| Some(Value::Integer(hash(text)))),
        "skipWhiteSpace" => skip_white_space(arguments),
        "scanReal" => scan(arguments, true, |text, unsigned| {
            let length = real_length(text, unsigned)?;
            Some((length, Value::Real(text[..length].parse().ok()?)))
        }),
        "scanInteger" => scan(arguments, true, |text, unsigned| {
            let length = integer_length(text, unsigned)?;
            Some((length, Value::Integer(text[..length].parse().ok()?)))
        }),
        "scanString" => scan(arguments, false, |text, _| {
            let (length, value) = quoted(text)?;
            Some((length, Value::string(value)))
        }),
        "scanIdentifier" => scan(arguments, false, |text, _| {
            let length = identifier_length(text)?;
            Some((length, Value::string(&text[..length])))
        }),
        _ => return None,
    })
}

fn substring(arguments: &Arguments<'_>) -> Answer {
    let text = arguments.text(0)?;
    let (first, last) = (arguments.integer(1)?, arguments.integer(2)?);
    let start = usize::try_from(first - 1).ok().filter(|&start| start <= text.len());
    let end = usize::try_from(last).ok().filter(|&end| end <= text.len());
    match (start, end) {
        (Some(start), Some(end)) if start <= end => {
            Ok(Some(Value::string(String::from_utf8_lossy(&text.as_bytes()[start..end]).as_ref())))
        }
        _ => Err(format!("substring({first}, {last}) of a text of length {}", text.len())),
    }
}

fn compare(arguments: &Arguments<'_>) -> Answer {
    let (a, b) = (arguments.text(0)?, arguments.text(1)?);
    let order = match arguments.boolean(2)? {
        true => a.cmp(b),
        false => a.to_lowercase().cmp(&b.to_lowercase()),
    };
    // The ordinals of Modelica.Utilities.Types.Compare.
    Ok(Some(Value::Integer(match order {
        Ordering::Less => 1,
        Ordering::Equal => 2,
        Ordering::Greater => 3,
    })))
}

/// The hash function of A. Partow, which reproduces the documented examples.
fn hash(text: &str) -> i64 {
    let mut hash: u32 = 0xAAAA_AAAA;
    for (position, byte) in text.bytes().enumerate() {
        let byte = u32::from(byte);
        hash ^= match position % 2 {
            0 => (hash << 7) ^ byte.wrapping_mul(hash >> 3),
            _ => !((hash << 11).wrapping_add(byte ^ (hash >> 5))),
        };
    }
    i64::from(hash as i32)
}

fn white_space(text: &str) -> usize {
    text.len() - text.trim_start_matches(|c: char| c.is_ascii_whitespace()).len()
}

/// The text from a position that counts from 1; empty if it is outside.
fn tail(text: &str, start: i64) -> &str {
    usize::try_from(start - 1).ok().and_then(|start| text.get(start..)).unwrap_or("")
}

fn skip_white_space(arguments: &Arguments<'_>) -> Answer {
    let start = arguments.integer(1)?;
    let skipped = white_space(tail(arguments.text(0)?, start));
    Ok(Some(Value::Integer(start + skipped as i64)))
}

/// Skips white space and takes a token; both results are outputs at the end of the arguments.
fn scan(arguments: &mut Arguments<'_>, has_sign: bool, token: fn(&str, bool) -> Option<(usize, Value)>) -> Answer {
    let start = arguments.integer(1)?;
    let unsigned = has_sign && arguments.boolean(2)?;
    let output = if has_sign { 3 } else { 2 };
    let text = tail(arguments.text(0)?, start);
    let skipped = white_space(text);
    let (next, value) = match token(&text[skipped..], unsigned) {
        Some((length, value)) => (start + (skipped + length) as i64, value),
        None => (start, arguments.empty_like(output + 1)),
    };
    arguments.set(output, Value::Integer(next))?;
    arguments.set(output + 1, value)?;
    Ok(None)
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn sign_length(text: &str, unsigned: bool) -> usize {
    usize::from(!unsigned && text.starts_with(['+', '-']))
}

fn real_length(text: &str, unsigned: bool) -> Option<usize> {
    let mut length = sign_length(text, unsigned);
    let whole = digits(&text[length..]);
    if whole == 0 {
        return None;
    }
    length += whole;
    if text[length..].starts_with('.') {
        length += 1 + digits(&text[length + 1..]);
    }
    if text[length..].starts_with(['e', 'E']) {
        let sign = sign_length(&text[length + 1..], false);
        let exponent = digits(&text[length + 1 + sign..]);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    Some(length)
}

/// A whole number that is not the beginning of a Real.
fn integer_length(text: &str, unsigned: bool) -> Option<usize> {
    let sign = sign_length(text, unsigned);
    let count = digits(&text[sign..]);
    let length = sign + count;
    (count > 0 && !text[length..].starts_with(['.', 'e', 'E'])).then_some(length)
}

fn quoted(text: &str) -> Option<(usize, String)> {
    let inner = text.strip_prefix('"')?;
    let mut value = String::new();
    let mut letters = inner.char_indices();
    while let Some((position, letter)) = letters.next() {
        match letter {
            '"' => return Some((position + 2, value)),
            '\\' => value.push(letters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

fn identifier_length(text: &str) -> Option<usize> {
    let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    text.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, values: Vec<Value>) -> (Option<Value>, Vec<Value>) {
        let mut values = values;
        let symbol = format!("ModelicaStrings_{name}");
        let result = call(&mut Arguments { symbol: &symbol, values: &mut values }).unwrap().unwrap();
        (result, values)
    }

    fn scanned(name: &str, text: &str, start: i64) -> (Value, Value) {
        let values = vec![
            Value::string(text),
            Value::Integer(start),
            Value::Boolean(false),
            Value::Integer(0),
            Value::Integer(0),
        ];
        let (_, values) = run(name, values);
        (values[3].clone(), values[4].clone())
    }

    #[test]
    fn documented_hashes() {
        assert_eq!(hash("this is a test"), 1_827_717_433);
        assert_eq!(hash("Controller.noise1"), -1_025_762_750);
    }

    #[test]
    fn tokens() {
        assert_eq!(scanned("scanReal", "  -1.5e3x", 1), (Value::Integer(9), Value::Real(-1500.0)));
        assert_eq!(scanned("scanReal", "abc", 1), (Value::Integer(1), Value::Integer(0)));
        assert_eq!(scanned("scanReal", "1ex", 1), (Value::Integer(2), Value::Real(1.0)));
        assert_eq!(scanned("scanInteger", "x 42 ", 2), (Value::Integer(5), Value::Integer(42)));
        assert_eq!(scanned("scanInteger", "4.2", 1).0, Value::Integer(1));
        assert_eq!(quoted("\"a\\\"b\" c"), Some((6, "a\"b".into())));
        assert_eq!(identifier_length("x_1+2"), Some(3));
        assert_eq!(identifier_length("1x"), None);
    }

    #[test]
    fn parts_and_order() {
        let part = run("substring", vec![Value::string("abcdef"), Value::Integer(2), Value::Integer(4)]).0;
        assert_eq!(part, Some(Value::string("bcd")));
        let order = run("compare", vec![Value::string("Abc"), Value::string("abC"), Value::Boolean(false)]).0;
        assert_eq!(order, Some(Value::Integer(2)));
    }
}
