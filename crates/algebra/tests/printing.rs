//! What is printed means what was meant: random functions are printed, read back by a little reader of their own, and compared by
//! exact algebra.

use algebra::collected::Notation;
use algebra::{Field, Rational, Variable};

const NAMES: [&str; 4] = ["a", "b", "c", "s"];
const S: Variable = 3;

/// Reads sums, products, quotients and powers, with the usual precedence.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn next_is(&mut self, mark: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Rational {
        let mut value = if self.next_is('-') { self.term().negate() } else { self.term() };
        loop {
            if self.next_is('+') {
                value = value.add(&self.term());
            } else if self.next_is('-') {
                value = value.add(&self.term().negate());
            } else {
                return value;
            }
        }
    }

    fn term(&mut self) -> Rational {
        let mut value = self.power();
        loop {
            if self.next_is('*') {
                value = value.multiply(&self.power());
            } else if self.next_is('/') {
                value = value.multiply(&self.power().inverse().expect("no quotient by zero"));
            } else {
                return value;
            }
        }
    }

    fn power(&mut self) -> Rational {
        let base = self.primary();
        if !self.next_is('^') {
            return base;
        }
        let exponent = self.word(|c| c.is_ascii_digit()).parse().expect("a whole exponent");
        base.power(exponent).expect("a power")
    }

    fn primary(&mut self) -> Rational {
        if self.next_is('(') {
            let value = self.sum();
            assert!(self.next_is(')'), "a bracket is open before `{}`", self.rest);
            return value;
        }
        let word = self.word(|c| c.is_ascii_alphanumeric() || c == '.');
        match NAMES.iter().position(|name| *name == word) {
            Some(variable) => Rational::variable(variable as Variable),
            None => Rational::decimal(&word).unwrap_or_else(|| panic!("`{word}` is no number")),
        }
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let length = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        word.to_owned()
    }
}

fn read(text: &str) -> Rational {
    let mut reader = Reader { rest: text };
    let value = reader.sum();
    assert_eq!(reader.rest.trim(), "", "`{text}` is not read to its end");
    value
}

/// A sum of products, some of them with brackets.
fn random_polynomial(random: &mut fastrand::Rng, depth: usize) -> Rational {
    let mut sum = Rational::integer(0);
    for _ in 0..1 + random.usize(..3) {
        let mut term = Rational::integer(random.i64(-4..5));
        for _ in 0..random.usize(..3) {
            let factor = match random.usize(..3) {
                0 if depth > 0 => random_polynomial(random, depth - 1),
                _ => Rational::variable(random.usize(..NAMES.len()) as Variable),
            };
            term = term.multiply(&factor);
        }
        sum = sum.add(&term);
    }
    sum
}

fn random_function(random: &mut fastrand::Rng) -> Rational {
    let above = random_polynomial(random, 2);
    let below = random_polynomial(random, 1);
    let scale = Rational::decimal(["1", "0.25", "1e-3", "7"][random.usize(..4)]).unwrap_or_else(Rational::zero);
    let value = above.multiply(&scale);
    match below.inverse() {
        Some(inverse) => value.multiply(&inverse),
        None => value,
    }
}

#[test]
fn printed_functions_are_read_back_as_they_were() {
    let mut random = fastrand::Rng::with_seed(16);
    let name = |variable: Variable| NAMES[variable as usize].to_owned();
    for _ in 0..3000 {
        let value = random_function(&mut random);
        let plain = value.print(&name);
        assert_eq!(read(&plain), value, "{plain}");
        let collected = value.print_collected(S, "s", &name, Notation::Plain);
        assert_eq!(read(&collected), value, "{collected}");
    }
}

#[test]
fn sums_above_the_line_have_brackets() {
    let name = |variable: Variable| NAMES[variable as usize].to_owned();
    let [a, b, s] = [0, 1, 3].map(Rational::variable);
    let sum = a.add(&b);
    let below = s.add(&a).inverse().unwrap_or_else(Rational::zero);
    let printed = |value: &Rational| value.print_collected(S, "s", &name, Notation::Plain);
    assert_eq!(printed(&sum.multiply(&below)), "(a + b)/(s + a)");
    assert_eq!(printed(&sum.multiply(&s).multiply(&below)), "(a + b)*s/(s + a)");
    assert_eq!(printed(&sum.negate().multiply(&below)), "-(a + b)/(s + a)");
    assert_eq!(printed(&sum), "a + b");
}
