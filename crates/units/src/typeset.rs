//! Units as they are printed (SI brochure of the BIPM, 5.2).

/// `N.m/rad2` as `N·m/rad²`, `m.s-2` as `m/s²`, `Ohm` as `Ω`, `degC` as `°C`.
pub fn typeset(unit: &str) -> String {
    with_division(unit).map_or_else(|| with_exponents(unit), |unit| with_exponents(&unit))
}

/// A product with negative exponents as a quotient, which is read more easily; `None` for any other unit.
fn with_division(unit: &str) -> Option<String> {
    if unit.contains(['/', '(']) || !unit.contains('-') {
        return None;
    }
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for factor in unit.split('.') {
        match factor.split_once('-') {
            None => above.push(factor.to_owned()),
            Some((symbol, exponent)) if !exponent.is_empty() && exponent.bytes().all(|it| it.is_ascii_digit()) => {
                below.push(format!("{symbol}{}", if exponent == "1" { "" } else { exponent }));
            }
            Some(_) => return None,
        }
    }
    let above = if above.is_empty() { "1".to_owned() } else { above.join(".") };
    let below = if below.len() > 1 { format!("({})", below.join(".")) } else { below.concat() };
    Some(format!("{above}/{below}"))
}

fn with_exponents(unit: &str) -> String {
    let mut text = String::with_capacity(unit.len() + 4);
    let mut letters = unit.chars().peekable();
    while let Some(&letter) = letters.peek() {
        if letter.is_ascii_alphabetic() {
            let mut symbol = String::new();
            while let Some(next) = letters.next_if(char::is_ascii_alphabetic) {
                symbol.push(next);
            }
            text.push_str(&with_signs(&symbol));
            // A number behind a symbol is its exponent.
            while let Some(next) = letters.next_if(char::is_ascii_digit) {
                text.extend(raised(next));
            }
            continue;
        }
        text.push(if letter == '.' { '·' } else { letter });
        letters.next();
    }
    text
}

/// A unit as it stands behind a number: a space between them, none before the degree of an angle.
pub fn behind_number(unit: &str) -> String {
    match typeset(unit).as_str() {
        "" => String::new(),
        "°" => "°".to_owned(),
        other => format!("\u{a0}{other}"),
    }
}

/// A number with at most this many digits that count: `0.25`, `1e-6`.
pub fn number(value: f64, digits: usize) -> String {
    let (size, behind) = (value.abs(), digits.max(1) - 1);
    if size == 0.0 || !size.is_finite() {
        return if size == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    if !(1e-3..1e6).contains(&size) {
        let text = format!("{value:.behind$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(digits));
    }
    let behind = (behind as i32 - size.log10().floor() as i32).max(0) as usize;
    trimmed(&format!("{value:.behind$}")).to_owned()
}

/// Without zeros at the end of a fraction.
fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

fn raised(digit: char) -> Option<char> {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).and_then(|digit| DIGITS.get(digit as usize)).copied()
}

/// A symbol with the letters and signs that texts in ASCII do without.
fn with_signs(symbol: &str) -> String {
    match symbol {
        "deg" => "°".to_owned(),
        "degC" => "°C".to_owned(),
        "degF" => "°F".to_owned(),
        _ => {
            let (prefix, rest) = symbol.split_at(usize::from(symbol.starts_with('u') && symbol.len() > 1));
            let prefix = if prefix.is_empty() { "" } else { "µ" };
            match rest.strip_suffix("Ohm") {
                Some(before) => format!("{prefix}{before}Ω"),
                None => format!("{prefix}{rest}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{number, typeset};

    #[test]
    fn numbers_are_short() {
        let values = [0.0, 1.0, 0.1, 1e-6, 101_325.0, 2.5e9, 1.0 / 3.0, -12.0, 0.001, 123_456.7, 1e6];
        let expected = ["0", "1", "0.1", "1e-6", "101325", "2.5e9", "0.333333", "-12", "0.001", "123457", "1e6"];
        assert_eq!(values.map(|value| number(value, 6)), expected);
        assert_eq!([2.0 / 3.0, 123_456.0, f64::NAN].map(|value| number(value, 3)), ["0.667", "123456", "NaN"]);
    }

    #[test]
    fn printed_units() {
        let shown = ["N.m/rad2", "kOhm", "degC", "uF", "1/min", "deg/s", "kg/m3", "V", "u", ""].map(typeset);
        assert_eq!(shown, ["N·m/rad²", "kΩ", "°C", "µF", "1/min", "°/s", "kg/m³", "V", "u", ""]);
        let shown = ["m.s-2", "H-1", "kg.m-1.s-2", "s-"].map(typeset);
        assert_eq!(shown, ["m/s²", "1/H", "kg/(m·s²)", "s-"]);
    }
}
