//! Text to tokens. Every byte belongs to a token, to white space or to a comment; comments are kept for the translation.

use base::{Diagnostic, FileId, Span};

use crate::language;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    Name,
    /// A reserved word of the language.
    Word,
    Number,
    /// An operator or a bracket.
    Mark,
    Unknown,
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    pub span: Span,
    /// The first one of its line.
    pub begins_line: bool,
}

/// `{ … }` or `-- …` up to the end of the line.
#[derive(Clone, Copy, Debug)]
pub struct Comment<'a> {
    /// Without its brackets.
    pub text: &'a str,
    pub span: Span,
}

pub struct Lexed<'a> {
    /// The last one is the end of the text.
    pub tokens: Vec<Token<'a>>,
    pub comments: Vec<Comment<'a>>,
}

const WORDS: [&str; 31] = [
    "model",
    "submodel",
    "parameter",
    "constant",
    "local",
    "terminal",
    "input",
    "output",
    "cut",
    "main",
    "path",
    "node",
    "connect",
    "from",
    "to",
    "at",
    "when",
    "then",
    "endwhen",
    "if",
    "else",
    "and",
    "or",
    "not",
    "end",
    "new",
    "der",
    "True",
    "False",
    "true",
    "false",
];

/// Longer ones first.
const MARKS: [&str; 24] = [
    "//", "<=", ">=", "<>", "==", "**", "(", ")", "[", "]", "<", ">", "=", "+", "-", "*", "/", "^", ",", ".", "'", ";",
    ":", "\"",
];

pub fn lex<'a>(file: FileId, text: &'a str, diagnostics: &mut Vec<Diagnostic>) -> Lexed<'a> {
    let mut lexer =
        Lexer { file, text, at: 0, begins_line: true, tokens: Vec::new(), comments: Vec::new(), diagnostics };
    while lexer.at < text.len() {
        lexer.next();
    }
    lexer.push(TokenKind::End, text.len());
    Lexed { tokens: lexer.tokens, comments: lexer.comments }
}

struct Lexer<'a, 'd> {
    file: FileId,
    text: &'a str,
    at: usize,
    begins_line: bool,
    tokens: Vec<Token<'a>>,
    comments: Vec<Comment<'a>>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'a> Lexer<'a, '_> {
    fn next(&mut self) {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return };
        if first.is_whitespace() || first == '\u{feff}' {
            self.begins_line |= first == '\n';
            self.at += first.len_utf8();
        } else if first == '{' {
            self.bracketed_comment(rest);
        } else if rest.starts_with("--") {
            let length = rest.find('\n').unwrap_or(rest.len());
            self.comment(length, &rest[2..length]);
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let kind = if WORDS.contains(&&rest[..length]) { TokenKind::Word } else { TokenKind::Name };
            self.push(kind, self.at + length);
        } else if let Some(length) = number(rest) {
            self.push(TokenKind::Number, self.at + length);
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            self.push(TokenKind::Mark, self.at + mark.len());
        } else {
            self.unknown(first);
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        language::span(self.file, start, end)
    }

    fn push(&mut self, kind: TokenKind, end: usize) {
        let span = self.span(self.at, end);
        self.tokens.push(Token { kind, text: &self.text[self.at..end], span, begins_line: self.begins_line });
        self.begins_line = false;
        self.at = end;
    }

    fn comment(&mut self, length: usize, inner: &'a str) {
        let span = self.span(self.at, self.at + length);
        self.comments.push(Comment { text: inner.trim(), span });
        // What follows a comment of several lines begins a line.
        self.begins_line |= inner.contains('\n');
        self.at += length;
    }

    fn bracketed_comment(&mut self, rest: &'a str) {
        match rest.find('}') {
            Some(close) => self.comment(close + 1, &rest[1..close]),
            None => {
                self.diagnostics.push(language::error(
                    "unclosed-comment",
                    "this comment has no end",
                    self.span(self.at, self.at + 1),
                    "begins here",
                    "a comment is closed by `}`",
                    "Words and comments",
                ));
                self.comment(rest.len(), &rest[1..]);
            }
        }
    }

    /// One message for a run of such characters.
    fn unknown(&mut self, first: char) {
        let goes_on =
            self.tokens.last().is_some_and(|last| last.kind == TokenKind::Unknown && last.span.end as usize == self.at);
        let end = self.at + first.len_utf8();
        if !goes_on {
            let hint = match first {
                '!' | '#' | '%' => "a comment is written `{ … }` or `-- …`",
                '≤' => "write `<=`",
                '≥' => "write `>=`",
                '–' | '−' => "write `-`",
                '·' | '×' => "write `*`",
                '&' => "write `and`",
                '|' => "write `or`",
                '}' => "a comment begins with `{`",
                _ => "remove it",
            };
            self.diagnostics.push(language::error(
                "unknown-character",
                format!("the character `{first}` has no meaning in the Dymola language"),
                self.span(self.at, end),
                "",
                hint,
                "Words and comments",
            ));
        }
        self.push(TokenKind::Unknown, end);
    }
}

/// The length of a number: `50`, `0.1E-6`, `1.`, `.5`.
fn number(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(0);
    let mut length = whole;
    if bytes.get(length) == Some(&b'.') {
        let fraction = digits(length + 1);
        if whole + fraction == 0 {
            return None;
        }
        length += 1 + fraction;
    }
    if length == 0 {
        return None;
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    Some(length)
}
