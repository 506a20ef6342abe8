//! The formatter: a normal layout from the lossless tree. Only blanks and line breaks change.
//!
//! Declarations, equations and statements begin on lines of their own, indented by what they stand in. Line breaks inside of
//! them are the author's; what follows such a break is indented by the brackets that are open. At most one blank line
//! is kept between items. Comments stay where they are: on a line of their own or behind what they speak of. Formatting what
//! is formatted changes nothing.

use base::Id as _;

use crate::Parse;
use crate::kind::SyntaxKind as K;
use crate::tree::{Child, Children, NodeId, TokenId, Tree};

/// Deeper levels are not indented further.
const DEEPEST: u32 = 40;

/// The text in its normal layout; `None` when the text has errors, since its structure is then a guess.
pub(crate) fn format(parse: &Parse) -> Option<String> {
    if parse.has_errors() {
        return None;
    }
    let layout = layout(&parse.tree);
    Some(Writer::new(&parse.tree, &layout).run())
}

/// How one token is set.
#[derive(Clone, Copy)]
struct Layout {
    /// Begins a line, whatever the author did.
    begins_line: bool,
    /// There may be a blank before it, behind it. Two tokens are apart when both agree.
    blank_before: bool,
    blank_behind: bool,
    /// The indentation of the item that it belongs to.
    indent: u32,
}

struct Frame<'t> {
    children: Children<'t>,
    kind: K,
    parent: K,
    indent: u32,
    /// A name was seen, which tells a leading dot from one between names.
    after_name: bool,
    /// The last child was a comma, which tells a gap: `(a, , b)`.
    after_comma: bool,
    /// The `end` of a class was seen.
    after_end: bool,
    /// `class A = …`.
    short: bool,
}

fn layout(tree: &Tree) -> Vec<Layout> {
    let default = Layout { begins_line: false, blank_before: true, blank_behind: true, indent: 0 };
    let mut layout = vec![default; tree.token_count()];
    let mut stack = vec![frame(tree, tree.root(), K::Root, 0)];
    while let Some(top) = stack.last_mut() {
        match top.children.next() {
            None => {
                stack.pop();
            }
            Some(Child::Token(token)) => set_token(tree, top, token, &mut layout),
            Some(Child::Node(node)) => {
                let (begins_line, indent) = place_of_child(top, tree.kind(node));
                if let Some(first) = layout.get_mut(tree.token_range(node).start)
                    && begins_line
                {
                    first.begins_line = true;
                }
                let parent = top.kind;
                top.after_comma = false;
                stack.push(frame(tree, node, parent, indent));
            }
        }
    }
    layout
}

fn frame(tree: &Tree, node: NodeId, parent: K, indent: u32) -> Frame<'_> {
    Frame {
        children: tree.children(node),
        kind: tree.kind(node),
        parent,
        indent,
        after_name: false,
        after_comma: false,
        after_end: false,
        short: false,
    }
}

fn is_block(kind: K) -> bool {
    matches!(kind, K::IfBlock | K::ForBlock | K::WhenBlock | K::WhileBlock)
}

fn is_item(kind: K) -> bool {
    is_block(kind)
        || matches!(
            kind,
            K::Equation
                | K::Assignment
                | K::CallStatement
                | K::BreakStatement
                | K::ReturnStatement
                | K::ConnectEquation
        )
}

/// Whether a child begins a line, and its indentation.
fn place_of_child(parent: &Frame<'_>, child: K) -> (bool, u32) {
    let inner = parent.indent + 1;
    match parent.kind {
        K::Root => (true, 0),
        K::ClassDef if parent.short || parent.after_end => (false, parent.indent),
        K::ClassDef => match child {
            K::EquationSection | K::AlgorithmSection | K::External => (true, parent.indent),
            K::ImportClause | K::ExtendsClause | K::ClassDef | K::ComponentClause | K::Annotation => (true, inner),
            _ => (false, parent.indent),
        },
        K::EquationSection | K::AlgorithmSection => (true, inner),
        kind if is_block(kind) && is_item(child) => (true, inner),
        _ => (false, parent.indent),
    }
}

fn set_token(tree: &Tree, frame: &mut Frame<'_>, token: TokenId, layout: &mut [Layout]) {
    let kind = tree.token_kind(token);
    let Some(set) = layout.get_mut(token.index()) else { return };
    set.indent = frame.indent;
    match kind {
        K::PublicKw | K::ProtectedKw if frame.kind == K::ClassDef => set.begins_line = true,
        K::EndKw if frame.kind == K::ClassDef => {
            set.begins_line = true;
            frame.after_end = true;
        }
        K::EndKw | K::ElseKw | K::ElseifKw | K::ElsewhenKw if is_block(frame.kind) => set.begins_line = true,
        K::Equals if frame.kind == K::ClassDef => frame.short = true,
        _ => {}
    }
    (set.blank_before, set.blank_behind) = blanks(frame, kind);
    frame.after_name |= matches!(kind, K::Ident | K::QuotedIdent);
    frame.after_comma = kind == K::Comma;
}

/// Whether blanks may stand before and behind a token.
fn blanks(frame: &Frame<'_>, token: K) -> (bool, bool) {
    match token {
        K::LeftParen => (
            !matches!(
                frame.kind,
                K::Arguments
                    | K::ClassModification
                    | K::ConnectEquation
                    | K::BreakModification
                    | K::ClassDef
                    | K::External
                    | K::PartialApplication
            ),
            false,
        ),
        K::LeftBracket => (frame.kind != K::Subscripts, false),
        K::LeftBrace => (frame.kind != K::ImportClause, false),
        K::Comma if frame.after_comma => (true, true),
        K::RightParen | K::RightBracket | K::RightBrace | K::Comma | K::Semicolon => (false, true),
        // `import A. *` keeps its blank: without it the two tokens would become one.
        K::Dot if frame.kind == K::ImportClause => (false, frame.children.clone().next_token_kind() == Some(K::Star)),
        K::Dot => (!frame.after_name, false),
        K::DotStar if frame.kind == K::ImportClause => (false, true),
        K::Star | K::Slash | K::Caret if frame.kind == K::Binary => (false, false),
        K::Plus | K::Minus | K::DotPlus | K::DotMinus if frame.kind == K::Unary => (true, false),
        K::Colon if frame.kind == K::Range => (false, false),
        K::Equals if frame.kind == K::NamedArgument => (false, false),
        K::Equals if frame.kind == K::Modification && frame.parent == K::ElementModification => (false, false),
        _ => (true, true),
    }
}

struct Writer<'t> {
    tree: &'t Tree,
    layout: &'t [Layout],
    /// For each token the next one that is no trivia.
    next_significant: Vec<u32>,
    out: String,
    /// The indentation of the line that is being written.
    line_indent: u32,
    /// The indentations of the lines on which the open brackets stand.
    brackets: Vec<u32>,
    /// Line breaks of the author since the last token.
    line_breaks: usize,
    /// What was written last.
    last: Last,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Token { blank_behind: bool },
    BlockComment,
    LineComment,
}

impl<'t> Writer<'t> {
    fn new(tree: &'t Tree, layout: &'t [Layout]) -> Self {
        let mut next_significant = vec![u32::MAX; tree.token_count()];
        let mut next = u32::MAX;
        for token in tree.tokens().rev() {
            if !tree.token_kind(token).is_trivia() {
                next = token.index() as u32;
            }
            next_significant[token.index()] = next;
        }
        Self {
            tree,
            layout,
            next_significant,
            out: String::with_capacity(tree.source().len()),
            line_indent: 0,
            brackets: Vec::new(),
            line_breaks: 0,
            last: Last::Nothing,
        }
    }

    fn run(mut self) -> String {
        for token in self.tree.tokens() {
            let text = self.tree.token_text(token);
            match self.tree.token_kind(token) {
                K::ByteOrderMark => self.out.push_str(text),
                K::Whitespace => self.line_breaks += text.matches('\n').count(),
                K::LineComment => self.comment(token, text.trim_end(), Last::LineComment),
                K::BlockComment => self.comment(token, text, Last::BlockComment),
                _ => self.token(token, text),
            }
        }
        if self.last != Last::Nothing {
            self.out.push('\n');
        }
        self.out
    }

    fn comment(&mut self, token: TokenId, text: &str, last: Last) {
        if self.line_breaks > 0 || matches!(self.last, Last::LineComment | Last::Nothing) {
            let indent = self.comment_indent(token);
            self.new_line(indent, true);
        } else {
            self.out.push(' ');
        }
        self.out.push_str(text);
        self.line_breaks = 0;
        self.last = last;
    }

    /// A comment on its own line is set like what follows it; before the end of a block, like what is in the block.
    fn comment_indent(&self, token: TokenId) -> u32 {
        let next = self.next_significant.get(token.index()).map(|&next| next as usize);
        let Some(layout) = next.and_then(|next| self.layout.get(next)) else { return 0 };
        if !layout.begins_line {
            return self.continuation(layout.indent);
        }
        let closes = matches!(
            next.map(|next| self.tree.token_kind(TokenId::from_index(next))),
            Some(K::EndKw | K::ElseKw | K::ElseifKw | K::ElsewhenKw)
        );
        layout.indent + u32::from(closes)
    }

    fn continuation(&self, item: u32) -> u32 {
        self.brackets.last().map_or(item + 1, |line| line + 1)
    }

    fn token(&mut self, token: TokenId, text: &str) {
        let kind = self.tree.token_kind(token);
        let layout = self.layout[token.index()];
        let closing = matches!(kind, K::RightParen | K::RightBracket | K::RightBrace);
        let opened_on = if closing { self.brackets.pop() } else { None };
        let broken = self.line_breaks > 0 && !matches!(kind, K::Comma | K::Semicolon);
        if layout.begins_line {
            self.new_line(layout.indent, true);
        } else if broken || self.last == Last::LineComment {
            let indent = opened_on.unwrap_or_else(|| self.continuation(layout.indent));
            self.new_line(indent, false);
        } else if self.blank_before(layout) {
            self.out.push(' ');
        }
        if matches!(kind, K::LeftParen | K::LeftBracket | K::LeftBrace) {
            self.brackets.push(self.line_indent);
        }
        self.out.push_str(text);
        self.line_breaks = 0;
        self.last = Last::Token { blank_behind: layout.blank_behind };
    }

    fn blank_before(&self, layout: Layout) -> bool {
        match self.last {
            Last::Token { blank_behind } => blank_behind && layout.blank_before,
            Last::BlockComment => true,
            Last::Nothing | Last::LineComment => false,
        }
    }

    fn new_line(&mut self, indent: u32, keep_blank_line: bool) {
        if self.last != Last::Nothing {
            self.out.push('\n');
            if keep_blank_line && self.line_breaks > 1 {
                self.out.push('\n');
            }
        }
        self.line_indent = indent.min(DEEPEST);
        for _ in 0..self.line_indent {
            self.out.push_str("  ");
        }
    }
}
