//! Expressions of the tree as abstract syntax.

use std::sync::Arc;

use crate::ast::{
    Arguments, BinaryOp, ComponentRef, Expr, ExprKind, FunctionArgument, Ident, Iterator as ForIterator, RefPart,
    Subscript, TypeName, UnaryOp,
};
use crate::deep::deep;
use crate::kind::SyntaxKind as K;
use crate::literal::shared_string;
use crate::tree::{Child, NodeId, TokenId};

use super::Lowering;

impl Lowering<'_> {
    pub(super) fn expr(&mut self, node: NodeId) -> Expr {
        let kind = match self.kind(node) {
            K::Literal => self.literal(node),
            K::Reference => ExprKind::Ref(self.component_ref(node)),
            K::EndExpression => ExprKind::End,
            K::Parentheses => return deep(|| self.parentheses(node)),
            K::Unary => deep(|| self.unary(node)),
            K::Binary => deep(|| self.binary(node)),
            K::Call => deep(|| self.call(node)),
            K::IfExpression => deep(|| self.if_expression(node)),
            K::Range => deep(|| self.range(node)),
            K::Array => deep(|| self.array(node)),
            K::Matrix => deep(|| self.matrix(node)),
            K::Subscripted => deep(|| self.subscripted(node)),
            K::FieldOf => deep(|| self.field_of(node)),
            _ => ExprKind::Error,
        };
        Expr { kind, span: self.span(node) }
    }

    /// The expressions among the children of a node, which has no other nodes below it.
    fn exprs(&mut self, node: NodeId) -> Vec<Expr> {
        let tree = self.tree;
        tree.child_nodes(node).map(|child| self.expr(child)).collect()
    }

    fn boxed(&mut self, node: Option<NodeId>, parent: NodeId) -> Box<Expr> {
        Box::new(match node {
            Some(node) => self.expr(node),
            None => Expr { kind: ExprKind::Error, span: self.span(parent) },
        })
    }

    fn first_token(&self, node: NodeId) -> Option<TokenId> {
        self.tree.children(node).find_map(|child| match child {
            Child::Token(token) => Some(token),
            Child::Node(_) => None,
        })
    }

    fn literal(&mut self, node: NodeId) -> ExprKind {
        let Some(token) = self.first_token(node) else { return ExprKind::Error };
        let text = self.tree.token_text(token);
        match self.tree.token_kind(token) {
            K::TrueKw => ExprKind::Boolean(true),
            K::FalseKw => ExprKind::Boolean(false),
            K::String => ExprKind::String(shared_string(text)),
            K::Integer => match text.parse() {
                Ok(value) => ExprKind::Integer(value),
                Err(_) => text.parse().map_or(ExprKind::Error, ExprKind::Real),
            },
            _ => text.parse().map_or(ExprKind::Error, ExprKind::Real),
        }
    }

    pub(super) fn component_ref(&mut self, node: NodeId) -> ComponentRef {
        let tree = self.tree;
        let mut parts: Vec<RefPart> = Vec::with_capacity(1);
        let mut global = false;
        for child in tree.children(node) {
            match child {
                Child::Token(token) => match tree.token_kind(token) {
                    K::Dot => global |= parts.is_empty(),
                    K::Ident | K::QuotedIdent | K::DerKw | K::InitialKw | K::PureKw => {
                        parts.push(RefPart { ident: self.ident(token), subscripts: Vec::new() });
                    }
                    _ => {}
                },
                Child::Node(child) if tree.kind(child) == K::Subscripts => {
                    let subscripts = deep(|| self.subscripts(child));
                    if let Some(part) = parts.last_mut() {
                        part.subscripts = subscripts;
                    }
                }
                Child::Node(_) => {}
            }
        }
        ComponentRef { global, parts, span: self.span(node) }
    }

    pub(super) fn subscripts(&mut self, node: NodeId) -> Vec<Subscript> {
        let tree = self.tree;
        tree.child_nodes(node)
            .map(|child| match tree.kind(child) {
                K::AllSubscript => Subscript::All(tree.span(child)),
                _ => Subscript::Expr(Arc::new(self.expr(child))),
            })
            .collect()
    }

    /// Plain parentheses are what is in them; several parts, or none, are a tuple.
    fn parentheses(&mut self, node: NodeId) -> Expr {
        let mut parts = self.tuple_parts(node);
        if parts.len() == 1
            && let Some(Some(inner)) = parts.pop()
        {
            return inner;
        }
        Expr { kind: ExprKind::Tuple(parts), span: self.span(node) }
    }

    /// `(a, , b)` with its gaps; `()` has no parts.
    fn tuple_parts(&mut self, node: NodeId) -> Vec<Option<Expr>> {
        let tree = self.tree;
        let mut parts = vec![None];
        for child in tree.children(node) {
            match child {
                Child::Node(child) => {
                    if let Some(last) = parts.last_mut() {
                        *last = Some(self.expr(child));
                    }
                }
                Child::Token(token) if tree.token_kind(token) == K::Comma => parts.push(None),
                Child::Token(_) => {}
            }
        }
        if let [None] = parts[..] {
            parts.clear();
        }
        parts
    }

    /// The targets of `(a, , b) := f(x)`; `None` stands for a gap and for what is no variable.
    pub(super) fn targets(&mut self, node: NodeId) -> Vec<Option<ComponentRef>> {
        let tree = self.tree;
        let mut targets = vec![None];
        for child in tree.children(node) {
            match child {
                Child::Node(child) if tree.kind(child) == K::Reference => {
                    if let Some(last) = targets.last_mut() {
                        *last = Some(self.component_ref(child));
                    }
                }
                Child::Token(token) if tree.token_kind(token) == K::Comma => targets.push(None),
                _ => {}
            }
        }
        targets
    }

    fn unary(&mut self, node: NodeId) -> ExprKind {
        let operator = match self.first_token(node).map(|token| self.tree.token_kind(token)) {
            Some(K::Minus) => UnaryOp::Minus,
            Some(K::DotPlus) => UnaryOp::ElementPlus,
            Some(K::DotMinus) => UnaryOp::ElementMinus,
            Some(K::NotKw | K::Bang) => UnaryOp::Not,
            _ => UnaryOp::Plus,
        };
        let operand = self.tree.child_nodes(node).next();
        ExprKind::Unary(operator, self.boxed(operand, node))
    }

    fn binary(&mut self, node: NodeId) -> ExprKind {
        let Some(operator) = self.first_token(node).and_then(|token| binary_operator(self.tree.token_kind(token)))
        else {
            return ExprKind::Error;
        };
        let mut operands = self.tree.child_nodes(node);
        let (left, right) = (operands.next(), operands.next());
        drop(operands);
        ExprKind::Binary(operator, self.boxed(left, node), self.boxed(right, node))
    }

    /// The operands of a node that is a comparison.
    pub(super) fn comparison(&mut self, node: NodeId) -> Option<(NodeId, NodeId)> {
        let mut operands = self.tree.child_nodes(node);
        (self.kind(node) == K::Binary).then(|| Some((operands.next()?, operands.next()?)))?
    }

    fn call(&mut self, node: NodeId) -> ExprKind {
        let tree = self.tree;
        let mut function = None;
        let mut arguments = Arguments::default();
        for child in tree.child_nodes(node) {
            match tree.kind(child) {
                K::Reference => function = Some(self.component_ref(child)),
                K::Arguments => arguments = self.arguments(child),
                _ => {}
            }
        }
        match function {
            Some(function) => ExprKind::Call { function, arguments },
            None => ExprKind::Error,
        }
    }

    fn arguments(&mut self, node: NodeId) -> Arguments {
        let tree = self.tree;
        let mut arguments = Arguments::default();
        for child in tree.child_nodes(node) {
            match tree.kind(child) {
                K::NamedArgument => arguments.named.extend(self.named_argument(child)),
                K::Iterator => arguments.iterators.push(self.iterator(child)),
                _ => arguments.positional.push(self.function_argument(child)),
            }
        }
        arguments
    }

    fn named_argument(&mut self, node: NodeId) -> Option<(Ident, FunctionArgument)> {
        let name = self.first_token(node)?;
        let value = self.tree.child_nodes(node).next()?;
        Some((self.ident(name), self.function_argument(value)))
    }

    fn function_argument(&mut self, node: NodeId) -> FunctionArgument {
        let tree = self.tree;
        if tree.kind(node) != K::PartialApplication {
            return FunctionArgument::Expr(self.expr(node));
        }
        let span = tree.span(node);
        let mut function = TypeName { global: false, parts: Vec::new(), span };
        let mut named = Vec::new();
        for child in tree.child_nodes(node) {
            match tree.kind(child) {
                K::TypeName => function = self.type_name(child),
                K::NamedArgument => named.extend(self.named_argument(child)),
                _ => {}
            }
        }
        FunctionArgument::PartialApplication { function, named, span }
    }

    pub(super) fn iterator(&mut self, node: NodeId) -> ForIterator {
        let tree = self.tree;
        let name = match self.first_token(node).filter(|&token| self.is_name(token)) {
            Some(token) => self.ident(token),
            None => Ident { name: base::Name::new(""), span: tree.span(node) },
        };
        let range = tree.child_nodes(node).next().map(|child| self.expr(child));
        ForIterator { name, range }
    }

    fn if_expression(&mut self, node: NodeId) -> ExprKind {
        let mut parts = self.exprs(node).into_iter();
        let mut branches = Vec::new();
        let mut otherwise = None;
        while let Some(first) = parts.next() {
            match parts.next() {
                Some(value) => branches.push((first, value)),
                None => otherwise = Some(first),
            }
        }
        let otherwise = otherwise.unwrap_or(Expr { kind: ExprKind::Error, span: self.span(node) });
        ExprKind::If { branches, otherwise: Box::new(otherwise) }
    }

    fn range(&mut self, node: NodeId) -> ExprKind {
        let mut parts = self.exprs(node);
        let stop = parts.pop();
        let step = if parts.len() > 1 { parts.pop() } else { None };
        match (parts.pop(), stop) {
            (Some(start), Some(stop)) => {
                ExprKind::Range { start: Box::new(start), step: step.map(Box::new), stop: Box::new(stop) }
            }
            _ => ExprKind::Error,
        }
    }

    fn array(&mut self, node: NodeId) -> ExprKind {
        let tree = self.tree;
        let mut elements = Vec::new();
        let mut iterators = Vec::new();
        for child in tree.child_nodes(node) {
            match tree.kind(child) {
                K::Iterator => iterators.push(self.iterator(child)),
                _ => elements.push(self.expr(child)),
            }
        }
        if iterators.is_empty() {
            return ExprKind::Array(elements);
        }
        match elements.pop() {
            Some(element) => ExprKind::ArrayFor { element: Box::new(element), iterators },
            None => ExprKind::Error,
        }
    }

    fn matrix(&mut self, node: NodeId) -> ExprKind {
        let tree = self.tree;
        let mut rows = vec![Vec::new()];
        for child in tree.children(node) {
            match child {
                Child::Token(token) if tree.token_kind(token) == K::Semicolon => rows.push(Vec::new()),
                Child::Token(_) => {}
                Child::Node(child) => {
                    let expr = self.expr(child);
                    if let Some(row) = rows.last_mut() {
                        row.push(expr);
                    }
                }
            }
        }
        ExprKind::Matrix(rows)
    }

    fn field_of(&mut self, node: NodeId) -> ExprKind {
        let tree = self.tree;
        let name = tree.children(node).find_map(|child| match child {
            Child::Token(token) if matches!(tree.token_kind(token), K::Ident | K::QuotedIdent) => Some(token),
            _ => None,
        });
        let value = tree.child_nodes(node).next();
        let Some(name) = name else { return ExprKind::Error };
        let name = self.ident(name);
        ExprKind::Field(self.boxed(value, node), name)
    }

    fn subscripted(&mut self, node: NodeId) -> ExprKind {
        let mut children = self.tree.child_nodes(node);
        let (value, subscripts) = (children.next(), children.next());
        drop(children);
        let subscripts = subscripts.map_or(Vec::new(), |child| self.subscripts(child));
        ExprKind::Subscripted(self.boxed(value, node), subscripts)
    }
}

fn binary_operator(kind: K) -> Option<BinaryOp> {
    Some(match kind {
        K::Plus => BinaryOp::Add,
        K::Minus => BinaryOp::Sub,
        K::Star => BinaryOp::Mul,
        K::Slash => BinaryOp::Div,
        K::Caret => BinaryOp::Pow,
        K::DotPlus => BinaryOp::ElementAdd,
        K::DotMinus => BinaryOp::ElementSub,
        K::DotStar => BinaryOp::ElementMul,
        K::DotSlash => BinaryOp::ElementDiv,
        K::DotCaret => BinaryOp::ElementPow,
        K::Less => BinaryOp::Less,
        K::LessEqual => BinaryOp::LessEqual,
        K::Greater => BinaryOp::Greater,
        K::GreaterEqual => BinaryOp::GreaterEqual,
        K::EqualEqual => BinaryOp::Equal,
        K::NotEqual | K::BangEqual => BinaryOp::NotEqual,
        K::AndKw | K::AmpAmp => BinaryOp::And,
        K::OrKw | K::PipePipe => BinaryOp::Or,
        _ => return None,
    })
}
