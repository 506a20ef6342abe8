//! Texts wherever they stand, against formatting from exact decimal digits: `String` of all types with all options and formats of
//! C, concatenation, comparison.

mod printf;

use fastrand::Rng;
use session::Settings;

use self::printf::{Conversion, Digits};
use crate::case::Case;

/// Texts in one model.
const COUNT: usize = 12;
const LITERALS: [&str; 3] = ["one", "two_2", "Three"];
const BLANKS: &str = "    ";

/// The variables of a model; `@` stands before their names in a text.
struct Values {
    reals: [f64; 3],
    integers: [i64; 3],
    booleans: [bool; 2],
    enumeration: usize,
}

impl Values {
    fn random(rng: &mut Rng) -> Self {
        let mut real = || match rng.u8(0..4) {
            0 => f64::from(rng.i32(-40..=40)) / 8.0,
            1 => f64::from(rng.i32(-9999..=9999)) * 10f64.powi(rng.i32(-12..=12)),
            2 => (rng.f64() - 0.5) * 10f64.powi(rng.i32(-6..=9)),
            _ => f64::from(rng.i32(-1_000_000..=1_000_000)),
        };
        let reals = [real(), real(), real()];
        // No negative zero: its text is no one's business.
        let reals = reals.map(|value| if value == 0.0 { 0.0 } else { value });
        let mut integer = || if rng.bool() { rng.i64(-20..=20) } else { rng.i64(-2_000_000..=2_000_000) };
        let integers = [integer(), integer(), integer()];
        Self { reals, integers, booleans: [rng.bool(), rng.bool()], enumeration: rng.usize(0..3) }
    }

    fn literal(&self, name: &str) -> String {
        let at = |name: &str| name[1..].parse::<usize>().unwrap_or(0);
        match &name[..1] {
            "r" => format!("{:e}", self.reals[at(name)]),
            "k" => self.integers[at(name)].to_string(),
            "b" => self.booleans[at(name)].to_string(),
            _ => format!("E.{}", LITERALS[self.enumeration]),
        }
    }
}

const VARIABLES: [(&str, &str); 9] = [
    ("Real", "r0"),
    ("Real", "r1"),
    ("Real", "r2"),
    ("Integer", "k0"),
    ("Integer", "k1"),
    ("Integer", "k2"),
    ("Boolean", "b0"),
    ("Boolean", "b1"),
    ("E", "e"),
];

struct ExpressionGenerator<'a> {
    rng: &'a mut Rng,
    values: &'a Values,
}

/// The text of an expression and its value.
type Made = (String, String);

impl ExpressionGenerator<'_> {
    fn text(&mut self, depth: usize) -> Made {
        match self.rng.u8(0..if depth == 0 { 6 } else { 9 }) {
            0 | 1 => self.real(),
            2 | 3 => self.integer(),
            4 => self.named(),
            5 => self.literal(),
            6 | 7 => {
                let (a, b) = (self.text(depth - 1), self.text(depth - 1));
                (format!("{} + {}", a.0, b.0), a.1 + &b.1)
            }
            _ => {
                let (c, a, b) = (self.condition(depth - 1), self.text(depth - 1), self.text(depth - 1));
                (format!("(if {} then {} else {})", c.0, a.0, b.0), if c.1 { a.1 } else { b.1 })
            }
        }
    }

    fn condition(&mut self, depth: usize) -> (String, bool) {
        let a = self.text(depth);
        let b = if self.rng.u8(0..4) == 0 { a.clone() } else { self.text(depth) };
        let (operator, value) = match self.rng.u8(0..6) {
            0 => ("==", a.1 == b.1),
            1 => ("<>", a.1 != b.1),
            2 => ("<", a.1.as_bytes() < b.1.as_bytes()),
            3 => ("<=", a.1.as_bytes() <= b.1.as_bytes()),
            4 => (">", a.1.as_bytes() > b.1.as_bytes()),
            _ => (">=", a.1.as_bytes() >= b.1.as_bytes()),
        };
        (format!("{} {operator} {}", a.0, b.0), value)
    }

    fn literal(&mut self) -> Made {
        const PIECES: [&str; 12] = ["a", "B", "10", "9", " ", "\"", "\\", "\n", "\t", "é", "'", "//"];
        let value: String = (0..self.rng.usize(0..5)).map(|_| PIECES[self.rng.usize(0..PIECES.len())]).collect();
        (quoted(&value), value)
    }

    /// `minimumLength` and `leftJustified` in any order, or none.
    fn options(&mut self, value: String) -> Made {
        let length = self.rng.usize(0..=14);
        let missing = BLANKS.repeat(4)[..length.saturating_sub(value.len()).min(16)].to_owned();
        match self.rng.u8(0..5) {
            0 => (format!(", minimumLength = {length}"), value + &missing),
            1 => (format!(", minimumLength = {length}, leftJustified = true"), value + &missing),
            2 => (format!(", leftJustified = false, minimumLength = {length}"), missing + &value),
            3 => (", leftJustified = false".into(), value),
            _ => (String::new(), value),
        }
    }

    fn conversion(&mut self, kinds: &str) -> Conversion {
        let flags = "-+ #0".chars().filter(|_| self.rng.u8(0..4) == 0).collect();
        let precision = self.rng.bool().then(|| self.rng.usize(0..=9));
        let kind = kinds.chars().nth(self.rng.usize(0..kinds.len())).unwrap_or('g');
        Conversion { flags, width: self.rng.usize(0..=14), precision, kind }
    }

    fn real(&mut self) -> Made {
        let k = self.rng.usize(0..3);
        let value = self.values.reals[k];
        if self.rng.bool() {
            let conversion = self.conversion("fegEG");
            return (format!("String(@r{k}, format = \"{}\")", conversion.text()), conversion.real(value));
        }
        let digits = self.rng.usize(1..=12);
        let (given, digits) = match self.rng.bool() {
            true => (format!(", significantDigits = {digits}"), digits),
            false => (String::new(), 6),
        };
        let sign = if value < 0.0 { "-" } else { "" };
        let (options, value) = self.options(format!("{sign}{}", Digits::of(value.abs()).general(digits, false)));
        (format!("String(@r{k}{given}{options})"), value)
    }

    fn integer(&mut self) -> Made {
        let k = self.rng.usize(0..3);
        let value = self.values.integers[k];
        if self.rng.bool() {
            let conversion = self.conversion("dixXou");
            return (format!("String(@k{k}, format = \"{}\")", conversion.text()), conversion.integer(value));
        }
        let (options, value) = self.options(value.to_string());
        (format!("String(@k{k}{options})"), value)
    }

    fn named(&mut self) -> Made {
        if self.rng.bool() {
            let k = self.rng.usize(0..2);
            let (options, value) = self.options(self.values.booleans[k].to_string());
            return (format!("String(@b{k}{options})"), value);
        }
        let (options, value) = self.options(LITERALS[self.values.enumeration].to_owned());
        (format!("String(@e{options})"), value)
    }
}

fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

pub fn case(rng: &mut Rng) -> Case {
    let values = Values::random(rng);
    let (mut declarations, mut sections, mut functions) = (String::new(), String::new(), String::new());
    for (ty, name) in VARIABLES {
        let value = values.literal(name);
        declarations += &format!("  parameter {ty} p{name} = {value};\n");
        // Known at run time only, and the same all the time.
        declarations += &format!("  discrete {ty} x{name}(start = {value}, fixed = true);\n");
        sections += &format!("  when time > 5 then\n    x{name} = {value};\n  end when;\n");
    }
    let inputs: String = VARIABLES.iter().map(|(ty, name)| format!(" input {ty} {name};")).collect();
    let arguments = VARIABLES.map(|(_, name)| format!("x{name}")).join(", ");
    for k in 0..COUNT {
        let depth = rng.usize(0..=2);
        let (text, expected) = ExpressionGenerator { rng, values: &values }.text(depth);
        let (constant, moving, local) = (text.replace('@', "p"), text.replace('@', "x"), text.replace('@', ""));
        let expected = quoted(&expected);
        let mut check = |name: &str, value: &str| {
            sections += &format!("  assert({value} == {expected}, \"{name}{k}: <\" + ({value}) + \">\");\n");
        };
        declarations += &format!("  parameter String p{k} = {constant};\n");
        check("p", &format!("p{k}"));
        check("e", &format!("({moving})"));
        functions += &format!("  function f{k}{inputs} output String y; algorithm y := {local}; end f{k};\n");
        check("f", &format!("f{k}({arguments})"));
        sections += &format!(
            "  when time >= 0.5 then assert(({moving}) == {expected}, \"w{k}: <\" + {moving} + \">\"); end when;\n"
        );
    }
    let types = format!("  type E = enumeration({});\n", LITERALS.join(", "));
    let text = format!("model Case\n{types}{functions}{declarations}equation\n{sections}end Case;\n");
    let settings = Settings { stop_time: Some(1.0), ..Settings::default() };
    Case::complete(text, settings, |_| Ok(()))
}
