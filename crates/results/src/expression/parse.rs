//! Texts of expressions by recursive descent, in the precedence of Modelica.

use super::{FUNCTIONS, Node, Value};

/// Deeper expressions are nobody's.
const DEEPEST: usize = 100;

pub(super) fn parse(text: &str) -> Result<Node, String> {
    let mut parser = Parser { text, rest: text, depth: 0 };
    let node = parser.sum()?;
    match parser.rest.trim_start().chars().next() {
        None => Ok(node),
        Some(letter) => Err(parser.wrong(&format!("`{letter}` does not belong here"))),
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn wrong(&self, what: &str) -> String {
        format!("`{}`: {what}", self.text)
    }

    fn next_is(&mut self, letters: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let letter = self.rest.chars().next().filter(|letter| letters.contains(letter))?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    fn sum(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("it nests too deep"));
        }
        let mut node = self.product()?;
        while let Some(operator) = self.next_is(&['+', '-']) {
            node = Node::Binary(operator, Box::new([node, self.product()?]));
        }
        self.depth -= 1;
        Ok(node)
    }

    fn product(&mut self) -> Result<Node, String> {
        let mut node = self.signed()?;
        while let Some(operator) = self.next_is(&['*', '/']) {
            node = Node::Binary(operator, Box::new([node, self.signed()?]));
        }
        Ok(node)
    }

    fn signed(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("it nests too deep"));
        }
        let node = match self.next_is(&['-', '+']) {
            Some('-') => Node::Negated(Box::new(self.signed()?)),
            Some(_) => self.signed()?,
            None => {
                let base = self.primary()?;
                match self.next_is(&['^']) {
                    Some(_) => Node::Binary('^', Box::new([base, self.signed()?])),
                    None => base,
                }
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn primary(&mut self) -> Result<Node, String> {
        if self.next_is(&['(']).is_some() {
            let inner = self.sum()?;
            return self.closed().map(|()| inner);
        }
        match self.rest.chars().next() {
            None => Err(format!("`{}` ends too early", self.text)),
            Some(letter) if letter.is_ascii_digit() || letter == '.' => self.number(),
            Some(letter) if letter.is_alphabetic() || letter == '_' || letter == '\'' => self.name(),
            Some(letter) => Err(self.wrong(&format!("`{letter}` does not belong here"))),
        }
    }

    fn closed(&mut self) -> Result<(), String> {
        self.next_is(&[')']).map(|_| ()).ok_or_else(|| self.wrong("`)` is missing"))
    }

    fn number(&mut self) -> Result<Node, String> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let mut length = digits(self.rest);
        if self.rest[length..].starts_with('.') {
            length += 1;
            length += digits(&self.rest[length..]);
        }
        if self.rest[length..].starts_with(['e', 'E']) {
            let sign = usize::from(self.rest[length + 1..].starts_with(['+', '-']));
            let exponent = digits(&self.rest[length + 1 + sign..]);
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        let (number, rest) = self.rest.split_at(length);
        self.rest = rest;
        number.parse().map(Node::Number).map_err(|_| self.wrong(&format!("`{number}` is no number")))
    }

    /// A variable, or a function with its arguments.
    fn name(&mut self) -> Result<Node, String> {
        let length = name_length(self.rest);
        let (name, rest) = self.rest.split_at(length);
        if !rest.trim_start().starts_with('(') {
            self.rest = rest;
            return Ok(Node::Name(name.to_owned()));
        }
        // What a result file calls `der(x)` is a name.
        if matches!(name, "der" | "impulse") {
            let end = rest.find(')').ok_or_else(|| self.wrong("`)` is missing"))?;
            self.rest = &rest[end + 1..];
            return Ok(Node::Name(format!("{name}{}", &rest[..=end])));
        }
        self.rest = rest;
        self.next_is(&['(']);
        let mut operands = vec![self.sum()?];
        while self.next_is(&[',']).is_some() {
            operands.push(self.sum()?);
        }
        self.closed()?;
        let Some(function) = FUNCTIONS.iter().find(|function| function.name == name) else {
            return Err(self.wrong(&format!("there is no function `{name}`")));
        };
        let (count, counted) = match function.value {
            Value::One(_) => (1, "one argument"),
            Value::Two(_) => (2, "two arguments"),
        };
        if operands.len() != count {
            return Err(self.wrong(&format!("`{name}` has {counted}")));
        }
        Ok(Node::Call(*function, operands))
    }
}

/// As far as a name reaches: parts with dots, subscripts and quotes.
pub(super) fn name_length(text: &str) -> usize {
    let (mut quoted, mut depth) = (false, 0usize);
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if quoted => {
                letters.next();
            }
            '\'' => quoted = !quoted,
            _ if quoted => {}
            '[' => depth += 1,
            ']' if depth > 0 => depth -= 1,
            _ if depth > 0 || letter.is_alphanumeric() || letter == '_' || letter == '.' => {}
            _ => return at,
        }
    }
    text.len()
}
