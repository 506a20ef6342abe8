//! The operator `String(…)`: numbers as text by significant digits or by a C format (specification 3.7.1.1).

/// The number as `%.{digits}g` of C prints it.
pub fn general(value: f64, digits: usize, keep_zeros: bool) -> String {
    if !value.is_finite() {
        return not_finite(value);
    }
    // Beyond this no digit of a double says anything.
    let digits = digits.clamp(1, 400);
    let scientific = format!("{:.*e}", digits - 1, value);
    let exponent: i32 = scientific.rsplit('e').next().and_then(|text| text.parse().ok()).unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let (mantissa, _) = scientific.split_once('e').unwrap_or((&scientific, ""));
        let mantissa = if keep_zeros { mantissa } else { without_zeros(mantissa) };
        let point = if keep_zeros && !mantissa.contains('.') { "." } else { "" };
        format!("{mantissa}{point}e{}{:02}", sign_of(exponent), exponent.abs())
    } else {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        let fixed = format!("{value:.decimals$}");
        match keep_zeros {
            true if fixed.contains('.') => fixed,
            true => fixed + ".",
            false => without_zeros(&fixed).to_owned(),
        }
    }
}

fn sign_of(exponent: i32) -> char {
    if exponent < 0 { '-' } else { '+' }
}

fn not_finite(value: f64) -> String {
    let text = if value.is_nan() { "nan" } else { "inf" };
    if value < 0.0 { format!("-{text}") } else { text.to_owned() }
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// The number as `%.{digits}e` of C prints it.
pub fn exponential(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return not_finite(value);
    }
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}e{}{:02}", sign_of(exponent), exponent.abs())
}

/// Fills up with blanks to a minimum length.
pub fn padded(text: String, minimum_length: i64, left_justified: bool) -> String {
    let length = text.chars().count();
    // A text longer than this is a mistake, and would only fill the memory.
    let missing = usize::try_from(minimum_length).unwrap_or(0).min(100_000).saturating_sub(length);
    let blanks = " ".repeat(missing);
    if left_justified { text + &blanks } else { blanks + &text }
}

/// A format such as `6.2f`, `-08.3e` or `g`, with or without the leading `%`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Format {
    left: bool,
    plus: bool,
    blank: bool,
    alternative: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    conversion: char,
}

impl Format {
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text.strip_prefix('%').unwrap_or(text);
        let mut format = Format {
            left: false,
            plus: false,
            blank: false,
            alternative: false,
            zeros: false,
            width: 0,
            precision: None,
            conversion: 'g',
        };
        while let Some(flag) = rest.chars().next() {
            match flag {
                '-' => format.left = true,
                '+' => format.plus = true,
                ' ' => format.blank = true,
                '#' => format.alternative = true,
                '0' => format.zeros = true,
                _ => break,
            }
            rest = &rest[1..];
        }
        let digits = |rest: &mut &str| -> Option<Option<usize>> {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (number, tail) = rest.split_at(end);
            *rest = tail;
            if number.is_empty() { Some(None) } else { number.parse().ok().filter(|&n: &usize| n < 10_000).map(Some) }
        };
        format.width = digits(&mut rest)?.unwrap_or(0);
        if let Some(tail) = rest.strip_prefix('.') {
            rest = tail;
            format.precision = Some(digits(&mut rest)?.unwrap_or(0));
        }
        let mut tail = rest.chars();
        format.conversion = tail.next()?;
        let known =
            matches!(format.conversion, 'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'd' | 'i' | 'o' | 'x' | 'X' | 'u' | 'c');
        (known && tail.next().is_none()).then_some(format)
    }

    /// A character by its number, which a Real has not.
    pub fn is_character(&self) -> bool {
        self.conversion == 'c'
    }

    pub fn real(&self, value: f64) -> String {
        let digits = self.precision.unwrap_or(6);
        let text = match self.conversion {
            'f' | 'F' if value.is_finite() => self.with_point(format!("{value:.digits$}")),
            'e' | 'E' if value.is_finite() => {
                let text = exponential(value, digits);
                let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
                self.with_point(mantissa.to_owned()) + "e" + exponent
            }
            'g' | 'G' => general(value, digits, self.alternative),
            'f' | 'F' | 'e' | 'E' => not_finite(value),
            _ => return self.integer(value as i64),
        };
        let text = if self.conversion.is_ascii_uppercase() { text.to_uppercase() } else { text };
        self.fill(self.signed(text), self.zeros && value.is_finite())
    }

    pub fn integer(&self, value: i64) -> String {
        let text = match self.conversion {
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' => return self.real(value as f64),
            'o' | 'x' | 'X' | 'u' => self.unsigned(value),
            'c' => u32::try_from(value).ok().and_then(char::from_u32).map(String::from).unwrap_or_default(),
            _ => {
                let digits = match (value, self.precision) {
                    (0, Some(0)) => String::new(),
                    _ => format!("{:0>1$}", value.unsigned_abs(), self.precision.unwrap_or(0)),
                };
                self.signed(if value < 0 { format!("-{digits}") } else { digits })
            }
        };
        self.fill(text, self.zeros && self.precision.is_none())
    }

    /// As C prints an `int`: negative numbers by their two's complement.
    fn unsigned(&self, value: i64) -> String {
        let value = i32::try_from(value).map_or(value as u64, |value| u64::from(value as u32));
        let digits = match (self.conversion, value, self.precision) {
            (_, 0, Some(0)) => String::new(),
            ('o', ..) => format!("{value:o}"),
            ('x', ..) => format!("{value:x}"),
            ('X', ..) => format!("{value:X}"),
            _ => value.to_string(),
        };
        let width = self.precision.unwrap_or(0);
        let digits = format!("{digits:0>width$}");
        match self.conversion {
            'o' if self.alternative && !digits.starts_with('0') => format!("0{digits}"),
            'x' | 'X' if self.alternative && value != 0 => format!("0{}{digits}", self.conversion),
            _ => digits,
        }
    }

    /// The flag `#` keeps the point behind which nothing comes.
    fn with_point(&self, text: String) -> String {
        if self.alternative && !text.contains('.') { text + "." } else { text }
    }

    fn signed(&self, text: String) -> String {
        match text.starts_with('-') {
            false if self.plus => format!("+{text}"),
            false if self.blank => format!(" {text}"),
            _ => text,
        }
    }

    fn fill(&self, text: String, zeros: bool) -> String {
        if zeros && !self.left {
            let sign = text.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(0);
            let base = if text[sign..].starts_with("0x") || text[sign..].starts_with("0X") { 2 } else { 0 };
            let (sign, digits) = text.split_at(sign + base);
            let missing = self.width.saturating_sub(text.chars().count());
            return format!("{sign}{}{digits}", "0".repeat(missing));
        }
        padded(text, self.width as i64, self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_as_in_c() {
        let cases = [
            (0.0, 6, "0"),
            (1.0, 6, "1"),
            (0.1, 6, "0.1"),
            (100000.0, 6, "100000"),
            (1000000.0, 6, "1e+06"),
            (123456789.0, 6, "1.23457e+08"),
            (0.0001, 6, "0.0001"),
            (0.00001234567, 6, "1.23457e-05"),
            (std::f64::consts::PI, 3, "3.14"),
            (-2.5, 6, "-2.5"),
            (9.999999, 3, "10"),
        ];
        for (value, digits, expected) in cases {
            assert_eq!(general(value, digits, false), expected);
        }
    }

    #[test]
    fn formats_as_in_c() {
        let real = |format: &str, value| Format::parse(format).unwrap().real(value);
        assert_eq!(real("6.2f", std::f64::consts::PI), "  3.14");
        assert_eq!(real("%-8.1e", 12345.0), "1.2e+04 ");
        assert_eq!(real("+08.3f", 2.5), "+002.500");
        assert_eq!(real("g", 0.5), "0.5");
        assert_eq!(Format::parse("5d").unwrap().integer(42), "   42");
        assert_eq!(Format::parse("05d").unwrap().integer(-42), "-0042");
        assert_eq!(Format::parse("x").unwrap().integer(255), "ff");
        assert_eq!(real(" .3f", std::f64::consts::PI), " 3.142");
        assert_eq!(real("% 8.2f", -1.5), "   -1.50");
        assert_eq!(real("#3.0E", 1e5), "1.E+05");
        assert_eq!(real("#.0f", 2.0), "2.");
        assert_eq!(real("#.3g", 2.0), "2.00");
        assert_eq!(real("#.1g", 2.0), "2.");
        assert_eq!(real("#.1g", 2e9), "2.e+09");
        assert_eq!(real("+f", f64::INFINITY), "+inf");
        assert_eq!(real("08E", f64::NAN), "     NAN");
        let integer = |format: &str, value| Format::parse(format).unwrap().integer(value);
        assert_eq!(integer(" d", 1), " 1");
        assert_eq!(integer("+d", 0), "+0");
        assert_eq!(integer(".0d", 0), "");
        assert_eq!(integer("+5.3d", 7), " +007");
        assert_eq!(integer("-+5d", 7), "+7   ");
        assert_eq!(integer("#x", 255), "0xff");
        assert_eq!(integer("#08X", 255), "0X0000FF");
        assert_eq!(integer("#x", 0), "0");
        assert_eq!(integer("#o", 8), "010");
        assert_eq!(integer(".4x", 255), "00ff");
        assert_eq!(integer("x", -1), "ffffffff");
        assert_eq!(integer("u", -1), "4294967295");
        assert_eq!(Format::parse("5.2q"), None);
        assert_eq!(Format::parse("s"), None);
        assert_eq!(Format::parse("lf"), None);
        assert!(Format::parse("c").is_some_and(|format| format.is_character()));
        assert_eq!(Format::parse(""), None);
    }
}
