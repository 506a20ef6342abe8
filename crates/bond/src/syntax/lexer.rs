//! Text of a bond graph → tokens. Nothing is lost: comments and blanks are the gaps between the spans of tokens.
//!
//! The end of a line ends a statement, except inside of brackets, behind a comma or an arrow, and before an arrow; such line
//! ends are no tokens. An operator at the end of a line does not continue it: a forgotten operand would take the next
//! statement along.

use base::{Diagnostic, FileId, Span};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    Identifier,
    Number,
    Text,
    /// An operator, a bracket or another mark.
    Mark(&'static str),
    LineEnd,
    /// A character that belongs to no token; it is reported already.
    Unknown,
    FileEnd,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// Longer marks come first.
const MARKS: [&str; 28] = [
    "->|", "|->", "->", "=>", "<=", ">=", "==", "<>", "(", ")", "[", "]", ",", ";", ":", "=", "+", "-", "*", "/", "^",
    "<", ">", ".", "{", "}", "!=", "|",
];

pub fn tokens(text: &str, file: FileId) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, file, position: 0, depth: 0, tokens: Vec::new(), diagnostics: Vec::new() };
    lexer.run();
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'a> {
    text: &'a str,
    file: FileId,
    position: usize,
    depth: usize,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(next) = self.rest().chars().next() {
            let start = self.position;
            match next {
                '\n' => self.line_end(),
                _ if next.is_whitespace() => self.position += next.len_utf8(),
                _ if self.rest().starts_with("//") => self.skip_to("\n"),
                _ if self.rest().starts_with("/*") => self.comment(),
                '"' => self.quoted(),
                _ if next.is_alphabetic() || next == '_' => {
                    self.take_while(|c| c.is_alphanumeric() || c == '_');
                    self.push(TokenKind::Identifier, start);
                }
                _ if next.is_ascii_digit() => self.number(),
                _ => self.mark(next),
            }
        }
        self.push(TokenKind::LineEnd, self.position);
        self.push(TokenKind::FileEnd, self.position);
    }

    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start as u32, self.position as u32)
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let span = self.span(start);
        self.tokens.push(Token { kind, span });
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) {
        let length = self.rest().find(|c| !belongs(c)).unwrap_or(self.rest().len());
        self.position += length;
    }

    /// Goes to the text, not past it; to the end where there is none.
    fn skip_to(&mut self, end: &str) {
        self.position += self.rest().find(end).unwrap_or(self.rest().len());
    }

    fn comment(&mut self) {
        let start = self.position;
        self.position += 2;
        self.skip_to("*/");
        if self.rest().is_empty() {
            let span = Span::new(self.file, start as u32, start as u32 + 2);
            let diagnostic = Diagnostic::error("unclosed-comment", "a comment has no end").at(span, "begins here");
            self.diagnostics.push(diagnostic.hint("close it with `*/`"));
        } else {
            self.position += 2;
        }
    }

    fn line_end(&mut self) {
        let start = self.position;
        self.position += 1;
        let calls_for_more = match self.tokens.last().map(|token| token.kind) {
            None | Some(TokenKind::LineEnd) => true,
            Some(TokenKind::Mark(mark)) => matches!(mark, "," | "->" | "->|" | "|->" | "=>"),
            Some(_) => false,
        };
        if self.depth > 0 || calls_for_more || self.arrow_follows() {
            return;
        }
        self.push(TokenKind::LineEnd, start);
    }

    fn arrow_follows(&self) -> bool {
        let rest = self.rest().trim_start();
        ["->", "|->", "=>"].iter().any(|arrow| rest.starts_with(arrow))
    }

    /// A text ends on its line: what follows a forgotten quotation mark is then still understood.
    fn quoted(&mut self) {
        let start = self.position;
        self.position += 1;
        loop {
            self.take_while(|c| c != '"' && c != '\n' && c != '\\');
            if !self.rest().starts_with('\\') {
                break;
            }
            // A quotation mark behind a backslash belongs to the text.
            self.position += 1;
            if self.rest().starts_with(['"', '\\']) {
                self.position += 1;
            }
        }
        if self.rest().starts_with('"') {
            self.position += 1;
        } else {
            let diagnostic = Diagnostic::error("unclosed-text", "a text has no closing quotation mark");
            self.diagnostics.push(diagnostic.at(self.span(start), "begins here"));
        }
        self.push(TokenKind::Text, start);
    }

    fn number(&mut self) {
        let start = self.position;
        self.take_while(|c| c.is_ascii_digit());
        if self.rest().starts_with('.') && self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) {
            self.position += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        if self.rest().starts_with(['e', 'E']) {
            let sign = usize::from(self.rest()[1..].starts_with(['+', '-']));
            if self.rest()[1 + sign..].starts_with(|c: char| c.is_ascii_digit()) {
                self.position += 1 + sign;
                self.take_while(|c| c.is_ascii_digit());
            }
        }
        self.push(TokenKind::Number, start);
    }

    fn mark(&mut self, next: char) {
        let start = self.position;
        let Some(mark) = MARKS.into_iter().find(|mark| self.rest().starts_with(mark)) else {
            self.position += next.len_utf8();
            let diagnostic = Diagnostic::error("unknown-character", format!("`{next}` has no meaning here"));
            self.diagnostics.push(diagnostic.at(self.span(start), ""));
            self.push(TokenKind::Unknown, start);
            return;
        };
        self.position += mark.len();
        match mark {
            "(" | "[" => self.depth += 1,
            ")" | "]" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.push(TokenKind::Mark(mark), start);
    }
}
