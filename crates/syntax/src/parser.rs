//! What the grammar functions stand on: looking ahead, taking tokens, finishing nodes, reporting and recovering.
//!
//! Nodes are stored when they are finished, children before parents; wrapping what is already parsed (`a` into `a + b`) is
//! then only a matter of remembering where it began. After a mistake nothing more is reported until the parser stands
//! behind the next `;` or at a keyword that begins something new, so that one mistake gives one message.

use base::{Diagnostic, FileId, Span};

use crate::deep::deep;
use crate::kind::KEYWORDS;
use crate::kind::SyntaxKind::{self, *};
use crate::lexer::Tokens;
use crate::tree::RawNode;

/// Deeper nesting than this is refused; every nesting costs some stack, which is memory.
pub(crate) const NESTING_LIMIT: u32 = 10_000;

/// A text with more mistakes than this is no model; the rest stays unsaid.
const DIAGNOSTIC_LIMIT: usize = 200;

pub(crate) struct Parser<'t> {
    file: FileId,
    text: &'t str,
    tokens: &'t Tokens,
    /// The kinds of the significant tokens, with `EndOfFile` at the end.
    kinds: Vec<SyntaxKind>,
    position: usize,
    nodes: Vec<RawNode>,
    diagnostics: Vec<Diagnostic>,
    /// A mistake was reported and the parser has not found its way back yet.
    recovering: bool,
    /// The text ended too early, or nests too deeply; that was said, and all that follows from it stays unsaid.
    silenced: bool,
    nesting: u32,
    /// Brackets in which `end` is an expression.
    pub(crate) subscript_nesting: u32,
    /// The positions of the names of the classes that are open.
    pub(crate) open_classes: Vec<usize>,
}

/// Where a node begins.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    position: usize,
    node: usize,
}

impl<'t> Parser<'t> {
    pub fn new(file: FileId, text: &'t str, tokens: &'t Tokens) -> Self {
        let mut kinds: Vec<SyntaxKind> = Vec::with_capacity(tokens.significant.len() + 1);
        kinds.extend(tokens.significant.iter().map(|&token| tokens.kinds[token as usize]));
        let nodes = Vec::with_capacity(kinds.len());
        kinds.push(EndOfFile);
        Self {
            file,
            text,
            tokens,
            kinds,
            position: 0,
            nodes,
            diagnostics: Vec::new(),
            recovering: false,
            silenced: false,
            nesting: 0,
            subscript_nesting: 0,
            open_classes: Vec::new(),
        }
    }

    /// Puts the root over everything and hands out the nodes and the messages.
    pub fn finish(mut self) -> (Vec<RawNode>, Vec<Diagnostic>) {
        let first_node = 0;
        let end_token = self.tokens.kinds.len() as u32;
        self.nodes.push(RawNode { kind: Root, first_token: 0, end_token, first_node });
        (self.nodes, self.diagnostics)
    }

    // Looking.

    #[inline]
    pub fn current(&self) -> SyntaxKind {
        self.kinds[self.position]
    }

    #[inline]
    pub fn nth(&self, ahead: usize) -> SyntaxKind {
        self.kinds.get(self.position + ahead).copied().unwrap_or(EndOfFile)
    }

    #[inline]
    pub fn at(&self, kind: SyntaxKind) -> bool {
        self.current() == kind
    }

    #[inline]
    pub fn at_name(&self) -> bool {
        matches!(self.current(), Ident | QuotedIdent)
    }

    pub fn nth_is_name(&self, ahead: usize) -> bool {
        matches!(self.nth(ahead), Ident | QuotedIdent)
    }

    pub fn at_end(&self) -> bool {
        self.at(EndOfFile)
    }

    pub fn position(&self) -> usize {
        self.position
    }

    /// The span of a significant token; the end of the text behind the last one.
    pub fn span_at(&self, position: usize) -> Span {
        match self.tokens.significant.get(position) {
            Some(&token) => {
                let token = token as usize;
                Span::new(self.file, self.tokens.starts[token], self.tokens.starts[token + 1])
            }
            None => Span::new(self.file, self.text.len() as u32, self.text.len() as u32),
        }
    }

    pub fn text_at(&self, position: usize) -> &'t str {
        let span = self.span_at(position);
        &self.text[span.start as usize..span.end as usize]
    }

    pub fn current_span(&self) -> Span {
        self.span_at(self.position)
    }

    pub fn current_text(&self) -> &'t str {
        self.text_at(self.position)
    }

    /// The empty place behind the last token that was taken.
    pub fn previous_end(&self) -> Span {
        let end = match self.position.checked_sub(1) {
            Some(previous) => self.span_at(previous).end,
            None => 0,
        };
        Span::new(self.file, end, end)
    }

    /// Whether a keyword stands in the same statement before here. The semicolons of a matrix end none.
    pub fn is_behind(&self, kind: SyntaxKind) -> bool {
        let mut brackets = 0usize;
        for &before in self.kinds[..self.position].iter().rev() {
            match before {
                RightBracket => brackets += 1,
                LeftBracket => brackets = brackets.saturating_sub(1),
                Semicolon if brackets == 0 => return false,
                _ if before == kind => return true,
                _ => {}
            }
        }
        false
    }

    /// Whether token `position` is the first one of its line.
    pub fn line_break_before(&self, position: usize) -> bool {
        let Some(previous) = position.checked_sub(1) else { return true };
        let between = self.span_at(previous).end as usize..self.span_at(position).start as usize;
        self.text.as_bytes()[between].contains(&b'\n') || position >= self.tokens.significant.len()
    }

    /// The current token as messages name it.
    pub fn found(&self) -> std::string::String {
        match self.current() {
            EndOfFile => "the end of the text".to_owned(),
            String => "a string".to_owned(),
            kind if kind.is_keyword() => format!("the keyword `{}`", self.current_text()),
            _ => format!("`{}`", self.current_text()),
        }
    }

    // Taking.

    #[inline]
    pub fn bump(&mut self) {
        if self.position + 1 < self.kinds.len() {
            self.position += 1;
        }
    }

    #[inline]
    pub fn eat(&mut self, kind: SyntaxKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    // Nodes.

    #[inline]
    pub fn open(&self) -> Mark {
        Mark { position: self.position, node: self.nodes.len() }
    }

    /// Finishes a node that began at `mark`.
    #[inline]
    pub fn close(&mut self, mark: Mark, kind: SyntaxKind) {
        let token_at = |position: usize| match self.tokens.significant.get(position) {
            Some(&token) => token,
            None => self.tokens.kinds.len() as u32,
        };
        let first_token = token_at(mark.position);
        let mut end_token = first_token;
        if self.position > mark.position {
            end_token = self.tokens.significant[self.position - 1] + 1;
        }
        // An empty child stands before the next token, behind the blanks.
        if self.nodes.len() > mark.node
            && let Some(child) = self.nodes.last()
        {
            end_token = end_token.max(child.end_token);
        }
        self.nodes.push(RawNode { kind, first_token, end_token, first_node: mark.node as u32 });
    }

    /// The kind of the node finished last.
    pub fn last_kind(&self) -> Option<SyntaxKind> {
        self.nodes.last().map(|node| node.kind)
    }

    /// The span of the operator of the node finished last, when it is a comparison by `==`.
    pub fn last_equality(&self) -> Option<Span> {
        let (_, rest) = self.nodes.split_last().filter(|(last, _)| last.kind == Binary)?;
        let right = rest.last()?.first_token;
        let position = self.tokens.significant.partition_point(|&token| token < right).checked_sub(1)?;
        (self.kinds.get(position) == Some(&EqualEqual)).then(|| self.span_at(position))
    }

    /// The span of the node finished last.
    pub fn last_span(&self) -> Span {
        match self.nodes.last() {
            Some(node) => Span::new(
                self.file,
                self.tokens.starts[node.first_token as usize],
                self.tokens.starts[node.end_token as usize],
            ),
            None => self.current_span(),
        }
    }

    /// One step deeper into the text: guards the stack, and gives up on absurd nesting.
    #[inline]
    pub fn nested<R>(&mut self, step: impl FnOnce(&mut Self) -> R) -> R {
        self.nesting += 1;
        if self.nesting == NESTING_LIMIT {
            let diagnostic =
                Diagnostic::error("nesting-too-deep", format!("the text nests more than {NESTING_LIMIT} levels deep"));
            self.error(diagnostic.at(self.current_span(), "gave up here"));
            self.silenced = true;
            // Taking everything that is left lets all open constructs end, silently.
            let mark = self.open();
            self.position = self.kinds.len() - 1;
            self.close(mark, Skipped);
        }
        let result = deep(|| step(self));
        self.nesting -= 1;
        result
    }

    // Reporting.

    /// A mistake after which the parser must find its way back: nothing more is reported until then.
    pub fn error(&mut self, diagnostic: Diagnostic) {
        if !self.recovering {
            self.report(diagnostic);
        }
        self.recovering = true;
    }

    /// A mistake that does not confuse the parser.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        // A character that is no part of the language and a name without end were reported by the lexer.
        let text = self.current_text();
        let is_open = self.at(QuotedIdent) && (text.len() < 2 || !text.ends_with('\''));
        let said = self.recovering || self.silenced || self.at(Unknown) || is_open;
        if self.diagnostics.len() < DIAGNOSTIC_LIMIT && !said {
            self.diagnostics.push(diagnostic);
            self.silenced = self.at_end();
        }
    }

    pub fn is_recovering(&self) -> bool {
        self.recovering
    }

    pub fn recovered(&mut self) {
        self.recovering = false;
    }

    /// “expected …, found …” at the current token.
    pub fn unexpected(&mut self, expected: &str) {
        let diagnostic = Diagnostic::error("unexpected-token", format!("expected {expected}, found {}", self.found()))
            .at(self.current_span(), "");
        self.error(diagnostic);
    }

    pub fn expect(&mut self, kind: SyntaxKind, expected: &str) -> bool {
        if self.eat(kind) {
            return true;
        }
        self.unexpected(expected);
        false
    }

    /// Takes a name; `what` says whose.
    pub fn expect_name(&mut self, what: &str) -> bool {
        if self.at_name() {
            self.bump();
            return true;
        }
        if self.line_break_before(self.position) && self.position > 0 && !self.at_end() {
            let diagnostic = Diagnostic::error("unexpected-token", format!("expected {what}"))
                .at(self.previous_end(), "expected here");
            self.error(diagnostic);
            return false;
        }
        if self.current().is_keyword() && !self.is_recovering() {
            let text = self.current_text();
            let diagnostic =
                Diagnostic::error("keyword-as-name", format!("expected {what}, found the keyword `{text}`"))
                    .at(self.current_span(), "")
                    .hint(format!("a keyword cannot be a name; `'{text}'` with quotes can"))
                    .specification("2.3.3");
            self.error(diagnostic);
            // A keyword in the middle of a line was meant as the name.
            self.bump();
            self.recovered();
            return false;
        }
        self.unexpected(what);
        false
    }

    /// Takes the closing bracket that belongs to the one at `open`.
    pub fn expect_closing(&mut self, kind: SyntaxKind, open: usize, separator: &str) {
        if self.eat(kind) {
            return;
        }
        let closing = kind.fixed_text().unwrap_or_default();
        let opening = self.text_at(open);
        let stops = matches!(self.current(), Semicolon | EndOfFile | RightParen | RightBracket | RightBrace)
            || self.at(Equals)
            || self.at_new_start()
            || self.line_break_before(self.position);
        let diagnostic = if self.at(Equals) && kind != RightBracket {
            Diagnostic::error("unexpected-token", "unexpected `=` in an expression")
                .at(self.current_span(), "")
                .hint("a comparison is written `==`")
        } else if stops {
            Diagnostic::error("unclosed-delimiter", format!("missing `{closing}`"))
                .at(self.previous_end(), format!("expected `{closing}` here"))
                .at(self.span_at(open), format!("this `{opening}` is not closed"))
        } else {
            let message = format!("expected {separator}`{closing}`, found {}", self.found());
            Diagnostic::error("unexpected-token", message)
                .at(self.current_span(), "")
                .at(self.span_at(open), format!("inside of this `{opening}`"))
        };
        self.error(diagnostic);
    }

    // Recovering.

    /// A keyword at which something new begins, whatever came before.
    pub fn at_new_start(&self) -> bool {
        match self.current() {
            EndOfFile | EquationKw | AlgorithmKw | PublicKw | ProtectedKw | ImportKw | WithinKw => true,
            InitialKw => matches!(self.nth(1), EquationKw | AlgorithmKw),
            EndKw => self.at_closing_end(),
            ExternalKw | ExtendsKw | ParameterKw | ConstantKw | IfKw | ForKw | WhenKw | WhileKw | ConnectKw
            | RedeclareKw | ReplaceableKw | ElseKw | ElseifKw | ElsewhenKw => self.line_break_before(self.position),
            kind => kind.starts_class() && self.line_break_before(self.position),
        }
    }

    /// `end` that closes a class or a block, not the last index of an array.
    pub fn at_closing_end(&self) -> bool {
        self.at(EndKw)
            && (matches!(self.nth(1), Ident | QuotedIdent | IfKw | ForKw | WhenKw | WhileKw | EndOfFile)
                || self.line_break_before(self.position) && self.nth(1) == Semicolon)
    }

    /// Takes all up to and with the next `;` that is not inside of brackets, and stops before anything new.
    pub fn skip_to_semicolon(&mut self) {
        let mark = self.open();
        let mut brackets = 0usize;
        while !self.at_new_start() {
            match self.current() {
                LeftBracket => brackets += 1,
                RightBracket => brackets = brackets.saturating_sub(1),
                Semicolon if brackets == 0 || self.line_break_before(self.position + 1) => break,
                _ => {}
            }
            self.bump();
        }
        if self.position > mark.position {
            self.close(mark, Skipped);
        }
        self.eat(Semicolon);
        self.recovered();
    }

    /// Takes the `;` behind `what`, or finds the way to the next item.
    pub fn finish_item(&mut self, what: &str) {
        if self.eat(Semicolon) {
            self.recovered();
            return;
        }
        if self.is_recovering() {
            // A mistake at the end of a line whose `;` is missing as well: the next line is probably sound.
            let next_line = self.line_break_before(self.position) && self.at_name() && self.nth_is_name(1);
            match next_line {
                true => self.recovered(),
                false => self.skip_to_semicolon(),
            }
            return;
        }
        match self.current() {
            RightParen | RightBracket | RightBrace => {
                let text = self.current_text();
                let diagnostic = Diagnostic::error("unmatched-delimiter", format!("`{text}` closes nothing"))
                    .at(self.current_span(), "there is no bracket open here");
                self.error(diagnostic);
                self.skip_to_semicolon();
            }
            _ if self.line_break_before(self.position) || self.at_new_start() => {
                let diagnostic = Diagnostic::error("missing-semicolon", format!("missing `;` after {what}"))
                    .at(self.previous_end(), "expected `;` here");
                self.report(diagnostic);
            }
            _ => {
                let message = format!("unexpected {} after {what}", self.found());
                let mut diagnostic = Diagnostic::error("unexpected-token", message).at(self.current_span(), "");
                if matches!(self.current(), Ident | QuotedIdent | Integer | Real | LeftParen | String) {
                    diagnostic = diagnostic.hint("is there an operator or a `;` missing before it?");
                }
                self.error(diagnostic);
                self.skip_to_semicolon();
            }
        }
    }

    /// Takes one token that fits nowhere, after reporting it, and what follows up to the next item.
    pub fn skip_unexpected(&mut self, expected: &str) {
        self.unexpected(expected);
        let start = self.position;
        self.skip_to_semicolon();
        if self.position == start {
            let mark = self.open();
            self.bump();
            self.close(mark, Skipped);
        }
    }

    /// The keyword among `candidates` that the name at `position` is a misspelling of.
    pub fn misspelled(&self, position: usize, candidates: &[SyntaxKind]) -> Option<SyntaxKind> {
        if self.kinds.get(position) != Some(&Ident) {
            return None;
        }
        let text = self.text_at(position).to_ascii_lowercase();
        let close = |kind: &SyntaxKind| {
            kind.fixed_text().is_some_and(|word| {
                let distance = edit_distance(&text, word);
                distance <= 1 || (distance == 2 && word.len() >= 6)
            })
        };
        candidates.iter().copied().find(close)
    }

    /// Says that the name at `position` should have been the keyword `kind`.
    pub fn report_misspelled(&mut self, position: usize, kind: SyntaxKind) {
        let (text, word) = (self.text_at(position), kind.fixed_text().unwrap_or_default());
        let diagnostic = Diagnostic::error("misspelled-keyword", format!("unknown keyword `{text}`"))
            .at(self.span_at(position), "")
            .hint(format!("did you mean `{word}`?"));
        self.report(diagnostic);
    }
}

/// The number of letters to insert, delete, replace or swap with the neighbour to get from one word to the other. Words
/// much longer than a keyword are far away.
fn edit_distance(from: &str, to: &str) -> usize {
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let longest = KEYWORDS.iter().map(|(word, _)| word.len()).max().unwrap_or(0) + 2;
    if from.len() > longest {
        return from.len();
    }
    let width = to.len() + 1;
    let mut table = vec![0usize; (from.len() + 1) * width];
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            table[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = usize::from(from[i - 1] != to[j - 1]);
                let mut best = (table[(i - 1) * width + j] + 1)
                    .min(table[i * width + j - 1] + 1)
                    .min(table[(i - 1) * width + j - 1] + change);
                if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                    best = best.min(table[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    table[from.len() * width + to.len()]
}
