//! Text → tokens (Modelica specification 3.6, sections 2.1 to 2.4 and A.1). Every byte belongs to exactly one token.
//!
//! A string may hold line breaks, so a missing quote turns the rest of the file inside out. When the last string of a file
//! has no end, the lexer looks for the string that most likely lacks its quote (one of several lines, directly followed by
//! a letter), ends that one early and reads the file anew: one mistake, one message.

use base::{Diagnostic, FileId, Span};

use crate::kind::SyntaxKind::{self, *};

/// The tokens of a text: token `i` covers `starts[i]..starts[i + 1]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens {
    pub kinds: Vec<SyntaxKind>,
    pub starts: Vec<u32>,
    /// The tokens that are no trivia.
    pub significant: Vec<u32>,
}

/// Strings without an end beyond this number end at their line, which keeps the reading linear.
const UNTERMINATED_LIMIT: usize = 4;

pub(crate) fn lex(file: FileId, text: &str) -> (Tokens, Vec<Diagnostic>) {
    let mut lexer = Lexer::new(file, text, None);
    lexer.run();
    if let Some(culprit) = lexer.culprit() {
        lexer = Lexer::new(file, text, Some(culprit));
        lexer.run();
    }
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'t> {
    file: FileId,
    text: &'t str,
    bytes: &'t [u8],
    position: usize,
    tokens: Tokens,
    diagnostics: Vec<Diagnostic>,
    /// Where the string starts that is ended early.
    cut: Option<usize>,
    unterminated: usize,
}

fn is_ident_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_ident_continue(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'t> Lexer<'t> {
    fn new(file: FileId, text: &'t str, cut: Option<usize>) -> Self {
        let mut tokens = Tokens::default();
        let guess = text.len() / 4 + 2;
        tokens.kinds.reserve(guess);
        tokens.starts.reserve(guess);
        tokens.significant.reserve(guess / 2 + 1);
        Self { file, text, bytes: text.as_bytes(), position: 0, tokens, diagnostics: Vec::new(), cut, unterminated: 0 }
    }

    fn run(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.push(ByteOrderMark, 0);
            self.position = 3;
        }
        while let Some(&byte) = self.bytes.get(self.position) {
            let start = self.position;
            let kind = self.token(byte);
            self.push(kind, start);
        }
        self.tokens.starts.push(self.bytes.len() as u32);
    }

    fn push(&mut self, kind: SyntaxKind, start: usize) {
        if !kind.is_trivia() {
            self.tokens.significant.push(self.tokens.kinds.len() as u32);
        }
        self.tokens.kinds.push(kind);
        self.tokens.starts.push(start as u32);
    }

    #[inline]
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.position + ahead).copied().unwrap_or(0)
    }

    fn skip_while(&mut self, test: impl Fn(u8) -> bool) {
        while self.bytes.get(self.position).is_some_and(|&byte| test(byte)) {
            self.position += 1;
        }
    }

    fn report(&mut self, start: usize, end: usize, diagnostic: Diagnostic, label: &str) {
        self.diagnostics.push(diagnostic.at(Span::new(self.file, start as u32, end as u32), label));
    }

    /// Reads one token from `position`, which is on `byte`, and leaves `position` behind it.
    fn token(&mut self, byte: u8) -> SyntaxKind {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => {
                self.skip_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c));
                Whitespace
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.ident(),
            b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            b'\'' => self.quoted_ident(),
            b'/' if self.peek(1) == b'/' => {
                self.skip_while(|b| b != b'\n');
                LineComment
            }
            b'/' if self.peek(1) == b'*' => self.block_comment(),
            b'.' if self.peek(1).is_ascii_digit() => self.number(),
            _ => self.punctuation(byte),
        }
    }

    fn ident(&mut self) -> SyntaxKind {
        let start = self.position;
        self.skip_while(is_ident_continue);
        if self.peek(0) >= 0x80 {
            return self.foreign_ident(start);
        }
        SyntaxKind::keyword(&self.bytes[start..self.position]).unwrap_or(Ident)
    }

    /// A name with letters outside ASCII: one token, one message.
    fn foreign_ident(&mut self, start: usize) -> SyntaxKind {
        let rest = &self.text[self.position..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if length == 0 {
            return SyntaxKind::keyword(&self.bytes[start..self.position]).unwrap_or(Ident);
        }
        self.position += length;
        let name = &self.text[start..self.position];
        let diagnostic =
            Diagnostic::error("non-ascii-identifier", format!("`{name}` has letters other than a to z in a name"))
                .hint("Modelica names are made of the letters a to z, A to Z, digits and `_`")
                .specification("2.3.1");
        self.report(start, self.position, diagnostic, "");
        Ident
    }

    fn number(&mut self) -> SyntaxKind {
        let start = self.position;
        let mut kind = Integer;
        self.skip_while(|b| b.is_ascii_digit());
        if self.peek(0) == b'.' {
            kind = Real;
            self.position += 1;
            self.skip_while(|b| b.is_ascii_digit());
        }
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if self.peek(1 + sign).is_ascii_digit() {
                kind = Real;
                self.position += 1 + sign;
                self.skip_while(|b| b.is_ascii_digit());
            }
        }
        if is_ident_start(self.peek(0)) {
            return self.number_with_letters(start, kind);
        }
        if kind == Integer && self.text[start..self.position].parse::<i64>().is_err() {
            let diagnostic = Diagnostic::warning("integer-too-large", "this integer does not fit in 64 bits")
                .hint("it is read as a Real number");
            self.report(start, self.position, diagnostic, "");
        }
        if kind == Real && self.text[start..self.position].parse::<f64>().is_ok_and(f64::is_infinite) {
            let diagnostic =
                Diagnostic::error("number-too-large", "this number is larger than any that can be computed with").hint(
                    "the largest is 1.797e308; `Modelica.Constants.inf` is a number that is large enough for most uses",
                );
            self.report(start, self.position, diagnostic, "");
        }
        kind
    }

    fn number_with_letters(&mut self, start: usize, kind: SyntaxKind) -> SyntaxKind {
        let digits = self.position;
        self.skip_while(is_ident_continue);
        let name = &self.text[start..self.position];
        let hint = if name[digits - start..].trim_start_matches(['e', 'E']).is_empty() {
            "the exponent needs digits, as in `1e3`"
        } else {
            "a name begins with a letter or `_`; a product needs `*`"
        };
        let diagnostic =
            Diagnostic::error("malformed-number", format!("`{name}` is neither a number nor a name")).hint(hint);
        self.report(start, self.position, diagnostic, "");
        kind
    }

    fn string(&mut self) -> SyntaxKind {
        let start = self.position;
        if self.cut == Some(start) || self.unterminated >= UNTERMINATED_LIMIT {
            self.cut_string(start);
            return String;
        }
        self.position += 1;
        let mut unknown_escape = None;
        loop {
            match self.bytes.get(self.position) {
                Some(b'"') => {
                    self.position += 1;
                    break;
                }
                Some(b'\\') => {
                    if !matches!(
                        self.peek(1),
                        b'\'' | b'"' | b'?' | b'\\' | b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v'
                    ) && unknown_escape.is_none()
                    {
                        unknown_escape = Some(self.position);
                    }
                    self.position += 2;
                }
                Some(_) => self.position += 1,
                None => {
                    self.unterminated += 1;
                    self.position = start;
                    self.cut_string(start);
                    return String;
                }
            }
        }
        if let Some(escape) = unknown_escape {
            let character = self.text[escape + 1..].chars().next().unwrap_or('\\');
            let diagnostic = Diagnostic::warning(
                "unknown-escape",
                format!("`\\{}` is no escape sequence", character.escape_debug()),
            )
            .hint("a backslash is written `\\\\`")
            .specification("2.4.4");
            self.report(escape, escape + 1 + character.len_utf8(), diagnostic, "");
        }
        String
    }

    /// Ends the string at `start`, which lacks its quote, at the most plausible place and says so.
    fn cut_string(&mut self, start: usize) {
        let rest = &self.text[start + 1..];
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        let length = match rest.find("</html>") {
            Some(end) if self.cut == Some(start) && !line.contains(';') => end + "</html>".len(),
            _ => line.trim_end_matches([';', ')', '}', ',', ' ', '\t', '\r']).len(),
        };
        self.position = start + 1 + length;
        let diagnostic = Diagnostic::error("unterminated-string", "this string has no closing `\"`")
            .hint("a `\"` inside of a string is written `\\\"`");
        self.report(start, start + 1, diagnostic, "it begins here");
    }

    fn quoted_ident(&mut self) -> SyntaxKind {
        let start = self.position;
        self.position += 1;
        loop {
            match self.bytes.get(self.position) {
                Some(b'\'') => {
                    self.position += 1;
                    break;
                }
                Some(b'\\') if self.peek(1) != b'\n' && self.peek(1) < 0x80 && self.position + 1 < self.bytes.len() => {
                    self.position += 2;
                }
                Some(b'\n') | None => {
                    let mut diagnostic = Diagnostic::error("unterminated-name", "this quoted name has no closing `'`");
                    if let Some(name) = name_before(&self.text[..start]) {
                        diagnostic = diagnostic.hint(format!("a derivative is written `der({name})`"));
                    }
                    self.report(start, start + 1, diagnostic, "it begins here");
                    break;
                }
                Some(_) => self.position += 1,
            }
        }
        QuotedIdent
    }

    fn block_comment(&mut self) -> SyntaxKind {
        let start = self.position;
        match self.text[start + 2..].find("*/") {
            Some(length) => self.position = start + 2 + length + 2,
            None => {
                self.position = self.bytes.len();
                let diagnostic = Diagnostic::error("unterminated-comment", "this comment has no closing `*/`");
                self.report(start, start + 2, diagnostic, "it begins here");
            }
        }
        BlockComment
    }

    fn punctuation(&mut self, byte: u8) -> SyntaxKind {
        let (kind, length) = match (byte, self.peek(1)) {
            (b'(', _) => (LeftParen, 1),
            (b')', _) => (RightParen, 1),
            (b'[', _) => (LeftBracket, 1),
            (b']', _) => (RightBracket, 1),
            (b'{', _) => (LeftBrace, 1),
            (b'}', _) => (RightBrace, 1),
            (b',', _) => (Comma, 1),
            (b';', _) => (Semicolon, 1),
            (b':', b'=') => (Assign, 2),
            (b':', _) => (Colon, 1),
            (b'=', b'=') => (EqualEqual, 2),
            (b'=', _) => (Equals, 1),
            (b'+', _) => (Plus, 1),
            (b'-', _) => (Minus, 1),
            (b'*', _) => (Star, 1),
            (b'/', _) => (Slash, 1),
            (b'^', _) => (Caret, 1),
            (b'.', b'+') => (DotPlus, 2),
            (b'.', b'-') => (DotMinus, 2),
            (b'.', b'*') => (DotStar, 2),
            (b'.', b'/') => (DotSlash, 2),
            (b'.', b'^') => (DotCaret, 2),
            (b'.', _) => (Dot, 1),
            (b'<', b'=') => (LessEqual, 2),
            (b'<', b'>') => (NotEqual, 2),
            (b'<', _) => (Less, 1),
            (b'>', b'=') => (GreaterEqual, 2),
            (b'>', _) => (Greater, 1),
            (b'!', b'=') => (BangEqual, 2),
            (b'!', _) => (Bang, 1),
            (b'&', b'&') => (AmpAmp, 2),
            (b'|', b'|') => (PipePipe, 2),
            _ => return self.unknown(),
        };
        self.position += length;
        kind
    }

    fn unknown(&mut self) -> SyntaxKind {
        let start = self.position;
        let Some(character) = self.text[start..].chars().next() else {
            self.position = self.bytes.len();
            return Unknown;
        };
        if character.is_alphabetic() {
            return self.foreign_ident(start);
        }
        self.position += character.len_utf8();
        // A run of the same strange character, such as the bytes of a binary file, is one token and one message.
        while self.text[self.position..].starts_with(character) {
            self.position += character.len_utf8();
        }
        let mut diagnostic = Diagnostic::error(
            "invalid-character",
            format!("the character `{}` has no place in Modelica", character.escape_debug()),
        );
        diagnostic.hint = match character {
            '\u{a0}' | '\u{2000}'..='\u{200b}' => Some("this is a special blank; write a plain space".to_owned()),
            '“' | '”' | '„' | '«' | '»' => Some("a string is written between two plain `\"`".to_owned()),
            '‘' | '’' | '`' => Some("a quoted name is written between two plain `'`".to_owned()),
            '−' | '–' | '—' => Some("write a plain `-`".to_owned()),
            '&' => Some("the logical operator is `and`".to_owned()),
            '|' => Some("the logical operator is `or`".to_owned()),
            '%' => Some("write `mod(a, b)` for the remainder, `//` for a comment".to_owned()),
            '#' => Some("a comment is written `// …`".to_owned()),
            _ => None,
        };
        self.report(start, self.position, diagnostic, "");
        Unknown
    }

    /// The string that most likely lacks its closing quote, when the file ended inside of a string.
    fn culprit(&self) -> Option<usize> {
        if self.unterminated == 0 {
            return None;
        }
        for (token, &kind) in self.tokens.kinds.iter().enumerate() {
            let (start, end) = (self.tokens.starts[token] as usize, self.tokens.starts[token + 1] as usize);
            let followed = self.bytes.get(end).is_some_and(|&byte| is_ident_continue(byte) || byte == b'<');
            if kind == String && followed && self.bytes[start..end].contains(&b'\n') {
                return Some(start);
            }
        }
        None
    }
}

/// The name that a text ends with.
pub(crate) fn name_before(text: &str) -> Option<&str> {
    let before = text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    Some(&text[before.len()..]).filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

#[cfg(test)]
mod tests {
    use base::Id;
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let (tokens, diagnostics) = lex(FileId::from_index(0), text);
        let mut out = std::string::String::new();
        for (index, kind) in tokens.kinds.iter().enumerate().filter(|(_, kind)| **kind != Whitespace) {
            let range = tokens.starts[index] as usize..tokens.starts[index + 1] as usize;
            out += &format!("{kind:?} {}\n", text[range].replace('\u{feff}', "BOM").replace('\u{a0}', "NBSP"));
        }
        for diagnostic in diagnostics {
            let span = diagnostic.labels[0].span;
            out += &format!("{}..{}: {}\n", span.start, span.end, diagnostic.message);
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn numbers_take_as_much_as_they_can() {
        check(
            "1 1. .5 1.5e-3 2E5 2.*x 1e 3x 99999999999999999999",
            expect![[r#"
                Integer 1
                Real 1.
                Real .5
                Real 1.5e-3
                Real 2E5
                Real 2.
                Star *
                Ident x
                Integer 1e
                Integer 3x
                Integer 99999999999999999999
                24..26: `1e` is neither a number nor a name
                27..29: `3x` is neither a number nor a name
                30..50: this integer does not fit in 64 bits
            "#]],
        );
    }

    #[test]
    fn operators_of_elements_and_relations() {
        check(
            "a.*b ./ .^ .+ .- <= <> >= == := : != && ||",
            expect![[r#"
                Ident a
                DotStar .*
                Ident b
                DotSlash ./
                DotCaret .^
                DotPlus .+
                DotMinus .-
                LessEqual <=
                NotEqual <>
                GreaterEqual >=
                EqualEqual ==
                Assign :=
                Colon :
                BangEqual !=
                AmpAmp &&
                PipePipe ||
            "#]],
        );
    }

    #[test]
    fn quoted_names_and_strings() {
        check(
            r#"'a b' 'it\'s' "s\"t" "a\d" 'open"#,
            expect![[r#"
                QuotedIdent 'a b'
                QuotedIdent 'it\'s'
                String "s\"t"
                String "a\d"
                QuotedIdent 'open
                23..25: `\d` is no escape sequence
                27..28: this quoted name has no closing `'`
            "#]],
        );
    }

    #[test]
    fn strange_characters() {
        check(
            "\u{feff}größe § a\u{a0}b /* open",
            expect![[r#"
                ByteOrderMark BOM
                Ident größe
                Unknown §
                Ident a
                Unknown NBSP
                Ident b
                BlockComment /* open
                3..10: `größe` has letters other than a to z in a name
                11..13: the character `§` has no place in Modelica
                15..17: the character `\u{a0}` has no place in Modelica
                19..21: this comment has no closing `*/`
            "#]],
        );
    }

    #[test]
    fn a_missing_quote_is_found_where_it_is_missing() {
        check(
            "a = \"one;\nb = \"two\";\nc = \"three\";\n",
            expect![[r#"
                Ident a
                Equals =
                String "one
                Semicolon ;
                Ident b
                Equals =
                String "two"
                Semicolon ;
                Ident c
                Equals =
                String "three"
                Semicolon ;
                4..5: this string has no closing `"`
            "#]],
        );
    }
}
