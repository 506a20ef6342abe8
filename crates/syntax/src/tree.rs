//! The lossless tree: all tokens of a text, and over them the nodes in the order of the text (preorder).
//!
//! Everything lies in flat vectors. A node knows the range of tokens that it covers and where its subtree ends, so children
//! are found without pointers and no walk needs recursion. Trivia belong to the innermost node around them; a node itself
//! begins and ends with a significant token.

use std::sync::Arc;

use base::{FileId, Span, Translated};

use crate::kind::SyntaxKind;
use crate::lexer::Tokens;

base::id_type!(
    /// A node of a tree.
    pub NodeId, "n"
);
base::id_type!(
    /// A token of a tree.
    pub TokenId, "t"
);

use base::Id as _;

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: SyntaxKind,
    first_token: u32,
    end_token: u32,
    /// The node behind the last one of the subtree.
    end_node: u32,
}

/// A node as the parser leaves it: children before parents, `first_node` is the first one of the subtree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawNode {
    pub kind: SyntaxKind,
    pub first_token: u32,
    pub end_token: u32,
    pub first_node: u32,
}

/// The lossless tree of a file.
#[derive(Clone, Debug)]
pub struct Tree {
    file: FileId,
    text: Arc<str>,
    token_kinds: Vec<SyntaxKind>,
    /// One more than there are tokens: the last is the length of the text.
    token_starts: Vec<u32>,
    nodes: Vec<Node>,
    /// Of a text that was made from another one: spans are places of that one.
    translated: Option<Arc<Translated>>,
}

/// A child of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Child {
    /// A node.
    Node(NodeId),
    /// A token.
    Token(TokenId),
}

impl Tree {
    /// Brings the nodes from the order in which they were finished into the order of the text. A node stands behind all
    /// nodes that were finished before its subtree began, and behind its ancestors.
    pub(crate) fn new(file: FileId, text: Arc<str>, tokens: Tokens, raw: &[RawNode]) -> Self {
        let blank = Node { kind: SyntaxKind::Root, first_token: 0, end_token: 0, end_node: 0 };
        let mut nodes = vec![blank; raw.len()];
        let mut ancestors: Vec<u32> = Vec::new();
        for (index, node) in raw.iter().enumerate().rev() {
            while ancestors.last().is_some_and(|&first| first > index as u32) {
                ancestors.pop();
            }
            let place = node.first_node + ancestors.len() as u32;
            let size = index as u32 + 1 - node.first_node;
            nodes[place as usize] = Node {
                kind: node.kind,
                first_token: node.first_token,
                end_token: node.end_token,
                end_node: place + size,
            };
            ancestors.push(node.first_node);
        }
        Self { file, text, token_kinds: tokens.kinds, token_starts: tokens.starts, nodes, translated: None }
    }

    /// The file.
    pub fn file(&self) -> FileId {
        self.file
    }

    /// The text that was parsed.
    pub fn source(&self) -> &Arc<str> {
        &self.text
    }

    /// The node of the whole file.
    pub fn root(&self) -> NodeId {
        NodeId::from_index(0)
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// How many tokens there are.
    pub fn token_count(&self) -> usize {
        self.token_kinds.len()
    }

    /// All nodes, parents before children, in the order of the text.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.nodes.len()).map(NodeId::from_index)
    }

    /// All tokens, trivia included.
    pub fn tokens(&self) -> impl DoubleEndedIterator<Item = TokenId> + ExactSizeIterator + use<> {
        (0..self.token_kinds.len()).map(TokenId::from_index)
    }

    /// What a node is.
    #[inline]
    pub fn kind(&self, node: NodeId) -> SyntaxKind {
        self.nodes[node.index()].kind
    }

    /// What a token is.
    #[inline]
    pub fn token_kind(&self, token: TokenId) -> SyntaxKind {
        self.token_kinds[token.index()]
    }

    /// The text of a token.
    #[inline]
    pub fn token_text(&self, token: TokenId) -> &str {
        let start = self.token_starts[token.index()] as usize;
        let end = self.token_starts[token.index() + 1] as usize;
        &self.text[start..end]
    }

    /// Where a token stands.
    pub fn token_span(&self, token: TokenId) -> Span {
        self.place(self.token_starts[token.index()], self.token_starts[token.index() + 1])
    }

    pub(crate) fn translated_by(self, translated: Arc<Translated>) -> Self {
        Self { translated: Some(translated), ..self }
    }

    /// The place in the file that the user wrote.
    #[inline]
    fn place(&self, start: u32, end: u32) -> Span {
        match &self.translated {
            None => Span::new(self.file, start, end),
            Some(translated) => translated.origin(start, end),
        }
    }

    /// The tokens that a node covers, as a half-open range of indices.
    pub fn token_range(&self, node: NodeId) -> std::ops::Range<usize> {
        let node = &self.nodes[node.index()];
        node.first_token as usize..node.end_token as usize
    }

    /// The nodes of a subtree, the node itself first, as a half-open range of indices.
    pub fn subtree_range(&self, node: NodeId) -> std::ops::Range<usize> {
        node.index()..self.nodes[node.index()].end_node as usize
    }

    /// Where a node stands.
    #[inline]
    pub fn span(&self, node: NodeId) -> Span {
        let (start, end) = self.bytes(node);
        self.place(start, end)
    }

    /// The text of a node.
    pub fn text(&self, node: NodeId) -> &str {
        let (start, end) = self.bytes(node);
        &self.text[start as usize..end as usize]
    }

    #[inline]
    fn bytes(&self, node: NodeId) -> (u32, u32) {
        let node = &self.nodes[node.index()];
        (self.token_starts[node.first_token as usize], self.token_starts[node.end_token as usize])
    }

    /// The children of a node without trivia: nodes, and the tokens between them.
    #[inline]
    pub fn children(&self, node: NodeId) -> Children<'_> {
        let data = &self.nodes[node.index()];
        Children {
            tree: self,
            token: data.first_token,
            end_token: data.end_token,
            node: node.index() as u32 + 1,
            end_node: data.end_node,
        }
    }

    /// The child nodes alone.
    pub fn child_nodes(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.children(node).filter_map(|child| match child {
            Child::Node(node) => Some(node),
            Child::Token(_) => None,
        })
    }

    /// The first child node of a kind.
    pub fn child(&self, node: NodeId, kind: SyntaxKind) -> Option<NodeId> {
        self.child_nodes(node).find(|&child| self.kind(child) == kind)
    }

    /// The text put together from a walk over the tree: byte for byte what was parsed.
    pub fn print(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut next_token = 0;
        // Parents come before children, so the tokens up to the start of a node belong to nodes that are already open.
        for node in &self.nodes {
            for token in next_token..node.first_token as usize {
                out.push_str(self.token_text(TokenId::from_index(token)));
            }
            next_token = next_token.max(node.first_token as usize);
        }
        for token in next_token..self.token_kinds.len() {
            out.push_str(self.token_text(TokenId::from_index(token)));
        }
        out
    }

    /// The nodes with their indentation and tokens, for tests and for curious readers.
    pub fn dump(&self) -> String {
        let mut out = String::new();
        let mut open: Vec<Children<'_>> = Vec::new();
        out.push_str(&format!("{:?}\n", self.kind(self.root())));
        open.push(self.children(self.root()));
        while let Some(children) = open.last_mut() {
            match children.next() {
                None => {
                    open.pop();
                }
                Some(Child::Token(token)) => {
                    let text = self.token_text(token);
                    out.push_str(&format!("{}{text:?}\n", "  ".repeat(open.len())));
                }
                Some(Child::Node(node)) => {
                    out.push_str(&format!("{}{:?}\n", "  ".repeat(open.len()), self.kind(node)));
                    open.push(self.children(node));
                }
            }
        }
        out
    }

    /// Whether the tree is well formed: tokens cover the text without gaps, and children lie one after the other inside of
    /// their parents. For tests and fuzzing.
    pub fn verify(&self) -> Result<(), String> {
        let mut last = 0;
        for (index, &start) in self.token_starts.iter().enumerate() {
            if start < last || (index == 0 && start != 0) {
                return Err(format!("token {index} starts at {start} after {last}"));
            }
            last = start;
        }
        if last as usize != self.text.len() {
            return Err("the tokens do not cover the text".to_owned());
        }
        let mut ends: Vec<(u32, u32)> = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            while ends.last().is_some_and(|&(end_node, _)| end_node <= index as u32) {
                ends.pop();
            }
            let previous_end = match index {
                0 => 0,
                _ => self.nodes[index - 1].first_token,
            };
            let limit = ends.last().map_or(self.token_kinds.len() as u32, |&(_, end_token)| end_token);
            if node.first_token < previous_end || node.end_token > limit || node.first_token > node.end_token {
                return Err(format!("node {index} ({:?}) does not lie inside of its parent", node.kind));
            }
            ends.push((node.end_node, node.end_token));
        }
        Ok(())
    }
}

/// Walks over the children of a node.
#[derive(Clone)]
pub struct Children<'t> {
    tree: &'t Tree,
    token: u32,
    end_token: u32,
    node: u32,
    end_node: u32,
}

impl Children<'_> {
    /// The kind of the next child, when that is a token.
    pub fn next_token_kind(mut self) -> Option<SyntaxKind> {
        match self.next()? {
            Child::Token(token) => Some(self.tree.token_kind(token)),
            Child::Node(_) => None,
        }
    }
}

impl Iterator for Children<'_> {
    type Item = Child;

    #[inline]
    fn next(&mut self) -> Option<Child> {
        let next_node =
            if self.node < self.end_node { self.tree.nodes[self.node as usize].first_token } else { self.end_token };
        while self.token < next_node {
            let token = self.token;
            self.token += 1;
            if !self.tree.token_kinds[token as usize].is_trivia() {
                return Some(Child::Token(TokenId::from_index(token as usize)));
            }
        }
        if self.node < self.end_node {
            let node = self.node;
            let data = &self.tree.nodes[node as usize];
            self.token = data.end_token;
            self.node = data.end_node;
            return Some(Child::Node(NodeId::from_index(node as usize)));
        }
        None
    }
}
