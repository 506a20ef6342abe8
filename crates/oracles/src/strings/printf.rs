//! What C prints, from the exact decimal digits of a number.

/// A conversion such as `-+08.3e`.
#[derive(Clone)]
pub struct Conversion {
    pub flags: String,
    pub width: usize,
    pub precision: Option<usize>,
    pub kind: char,
}

impl Conversion {
    pub fn text(&self) -> String {
        let width = if self.width > 0 { self.width.to_string() } else { String::new() };
        let precision = self.precision.map(|precision| format!(".{precision}")).unwrap_or_default();
        format!("{}{width}{precision}{}", self.flags, self.kind)
    }

    fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    pub fn real(&self, value: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        let digits = Digits::of(value.abs());
        let body = match self.kind.to_ascii_lowercase() {
            'f' => digits.fixed(precision, self.has('#')),
            'e' => digits.scientific(precision, self.has('#')),
            _ => digits.general(precision, self.has('#')),
        };
        let body = if self.kind.is_uppercase() { body.to_uppercase() } else { body };
        self.padded(self.sign(value < 0.0), "", body, self.has('0'))
    }

    pub fn integer(&self, value: i64) -> String {
        let bits = u64::from(value as i32 as u32);
        let (mut body, sign) = match self.kind {
            'x' => (radix(bits, 16), ""),
            'X' => (radix(bits, 16).to_uppercase(), ""),
            'o' => (radix(bits, 8), ""),
            'u' => (radix(bits, 10), ""),
            _ => (radix(value.unsigned_abs(), 10), self.sign(value < 0)),
        };
        if value == 0 && self.precision == Some(0) {
            body.clear();
        }
        while body.len() < self.precision.unwrap_or(0) {
            body.insert(0, '0');
        }
        let prefix = match self.kind {
            'x' if self.has('#') && value != 0 => "0x",
            'X' if self.has('#') && value != 0 => "0X",
            'o' if self.has('#') && !body.starts_with('0') => "0",
            _ => "",
        };
        self.padded(sign, prefix, body, self.has('0') && self.precision.is_none())
    }

    fn sign(&self, is_negative: bool) -> &'static str {
        match is_negative {
            true => "-",
            false if self.has('+') => "+",
            false if self.has(' ') => " ",
            false => "",
        }
    }

    fn padded(&self, sign: &str, prefix: &str, body: String, zeros: bool) -> String {
        let missing = self.width.saturating_sub(sign.len() + prefix.len() + body.len());
        if self.has('-') {
            format!("{sign}{prefix}{body}{}", " ".repeat(missing))
        } else if zeros {
            format!("{sign}{prefix}{}{body}", "0".repeat(missing))
        } else {
            format!("{}{sign}{prefix}{body}", " ".repeat(missing))
        }
    }
}

fn radix(mut value: u64, base: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((value % base) as u32, base as u32).unwrap_or('?'));
        value /= base;
        if value == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// A number without sign as 0.d₁d₂d₃… · 10^exponent, exactly.
#[derive(Clone)]
pub struct Digits {
    digits: Vec<u8>,
    exponent: i32,
}

impl Digits {
    pub fn of(value: f64) -> Self {
        // A binary fraction ends after as many decimals as it has binary ones.
        let text = format!("{value:.1080}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|digit| digit - b'0').collect();
        let first = digits.iter().position(|&digit| digit != 0).unwrap_or(whole.len());
        let last = digits.iter().rposition(|&digit| digit != 0).map_or(first, |last| last + 1);
        Self { digits: digits[first..last].to_vec(), exponent: whole.len() as i32 - first as i32 }
    }

    /// Rounded to so many digits, ties to the even one.
    fn rounded(&self, count: i32) -> Self {
        let Ok(count) = usize::try_from(count) else { return Self { digits: Vec::new(), exponent: self.exponent } };
        let mut digits: Vec<u8> = self.digits.iter().copied().take(count).collect();
        let rest = &self.digits[count.min(self.digits.len())..];
        let is_odd = digits.len() == count && digits.last().is_some_and(|digit| digit % 2 == 1);
        let up = match rest.first() {
            Some(5) => rest.len() > 1 || is_odd,
            Some(&digit) => digit > 5,
            None => false,
        };
        if !up {
            return Self { digits, exponent: self.exponent };
        }
        while digits.last() == Some(&9) {
            digits.pop();
        }
        match digits.last_mut() {
            Some(last) => *last += 1,
            None => return Self { digits: vec![1], exponent: self.exponent + 1 },
        }
        Self { digits, exponent: self.exponent }
    }

    /// The digit that stands for 10^place.
    fn at(&self, place: i32) -> char {
        let index = self.exponent - 1 - place;
        let digit = usize::try_from(index).ok().and_then(|index| self.digits.get(index)).copied().unwrap_or(0);
        char::from(b'0' + digit)
    }

    fn fixed(&self, precision: usize, keeps_point: bool) -> String {
        let rounded = self.rounded(self.exponent + precision as i32);
        let mut text: String = (0..rounded.exponent.max(1)).rev().map(|place| rounded.at(place)).collect();
        if precision > 0 || keeps_point {
            text.push('.');
        }
        text.extend((1..=precision as i32).map(|place| rounded.at(-place)));
        text
    }

    fn scientific(&self, precision: usize, keeps_point: bool) -> String {
        let rounded = self.rounded(precision as i32 + 1);
        let exponent = if rounded.digits.is_empty() { 0 } else { rounded.exponent - 1 };
        let first = if rounded.digits.is_empty() { '0' } else { rounded.at(exponent) };
        let mut text = String::from(first);
        if precision > 0 || keeps_point {
            text.push('.');
        }
        text.extend(
            (1..=precision as i32).map(|k| if rounded.digits.is_empty() { '0' } else { rounded.at(exponent - k) }),
        );
        format!("{text}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    }

    pub fn general(&self, precision: usize, keeps_zeros: bool) -> String {
        let precision = precision.max(1);
        let rounded = self.rounded(precision as i32);
        let exponent = if rounded.digits.is_empty() { 0 } else { rounded.exponent - 1 };
        let is_fixed = exponent >= -4 && exponent < precision as i32;
        let text = match is_fixed {
            true => self.fixed((precision as i32 - 1 - exponent) as usize, keeps_zeros),
            false => self.scientific(precision - 1, keeps_zeros),
        };
        if keeps_zeros || !text.contains('.') {
            return text;
        }
        let (mantissa, tail) = match text.find('e') {
            Some(at) => text.split_at(at),
            None => (text.as_str(), ""),
        };
        format!("{}{tail}", mantissa.trim_end_matches('0').trim_end_matches('.'))
    }
}
