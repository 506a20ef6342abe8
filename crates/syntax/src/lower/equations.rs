//! Equations and statements of the tree as abstract syntax.

use crate::ast::{
    AlgorithmSection, Equation, EquationKind, EquationSection, Expr, Iterator as ForIterator, Statement, StatementKind,
};
use crate::deep::deep;
use crate::kind::SyntaxKind as K;
use crate::tree::{Child, NodeId};

use super::Lowering;

/// The parts of an `if` or `when` block: a condition with what stands under it; no condition for `else`.
struct Branch<T> {
    condition: Option<Expr>,
    body: Vec<T>,
}

fn is_item(kind: K) -> bool {
    matches!(
        kind,
        K::Equation
            | K::Assignment
            | K::CallStatement
            | K::BreakStatement
            | K::ReturnStatement
            | K::ConnectEquation
            | K::IfBlock
            | K::ForBlock
            | K::WhenBlock
            | K::WhileBlock
    )
}

impl Lowering<'_> {
    pub(super) fn equation_section(&mut self, node: NodeId) -> EquationSection {
        let tree = self.tree;
        let equations = tree.child_nodes(node).filter_map(|child| self.equation(child)).collect();
        EquationSection { initial: self.has_token(node, K::InitialKw), equations }
    }

    pub(super) fn algorithm_section(&mut self, node: NodeId) -> AlgorithmSection {
        let tree = self.tree;
        let statements = tree.child_nodes(node).filter_map(|child| self.statement(child)).collect();
        AlgorithmSection { initial: self.has_token(node, K::InitialKw), statements, span: tree.span(node) }
    }

    fn equation(&mut self, node: NodeId) -> Option<Equation> {
        if !is_item(self.kind(node)) {
            return None;
        }
        let kind = deep(|| self.equation_kind(node))?;
        let tree = self.tree;
        let mut equation = Equation { kind, description: None, annotation: None, span: tree.span(node) };
        for child in tree.child_nodes(node) {
            match tree.kind(child) {
                K::Description => equation.description = Some(self.description(child)),
                K::Annotation => equation.annotation = self.annotation(child),
                _ => {}
            }
        }
        Some(equation)
    }

    fn equation_kind(&mut self, node: NodeId) -> Option<EquationKind> {
        match self.kind(node) {
            K::Equation => {
                let (left, right) = self.sides(node)?;
                Some(EquationKind::Equal(self.expr(left), self.expr(right)))
            }
            K::CallStatement => {
                let call = self.tree.child(node, K::Call)?;
                Some(EquationKind::Call(self.expr(call)))
            }
            K::ConnectEquation => {
                let mut ends = self.tree.child_nodes(node).filter(|&child| self.kind(child) == K::Reference);
                let (first, second) = (ends.next()?, ends.next()?);
                drop(ends);
                Some(EquationKind::Connect(self.component_ref(first), self.component_ref(second)))
            }
            K::IfBlock => {
                let (branches, otherwise) = split_else(self.branches(node, Self::equation));
                Some(EquationKind::If { branches, otherwise })
            }
            K::WhenBlock => {
                let (branches, _) = split_else(self.branches(node, Self::equation));
                Some(EquationKind::When { branches })
            }
            K::ForBlock => {
                let (iterators, _, body) = self.loop_parts(node, Self::equation);
                Some(EquationKind::For { iterators, body })
            }
            _ => None,
        }
    }

    fn statement(&mut self, node: NodeId) -> Option<Statement> {
        if !is_item(self.kind(node)) {
            return None;
        }
        let kind = deep(|| self.statement_kind(node))?;
        Some(Statement { kind, span: self.span(node) })
    }

    fn statement_kind(&mut self, node: NodeId) -> Option<StatementKind> {
        match self.kind(node) {
            K::Assignment => {
                let (target, value) = self.sides(node)?;
                match self.kind(target) {
                    K::Reference => Some(StatementKind::Assign(self.component_ref(target), self.expr(value))),
                    K::Parentheses => Some(StatementKind::AssignSeveral(self.targets(target), self.expr(value))),
                    _ => None,
                }
            }
            K::CallStatement => {
                let call = self.tree.child(node, K::Call)?;
                Some(StatementKind::Call(self.expr(call)))
            }
            K::IfBlock => {
                let (branches, otherwise) = split_else(self.branches(node, Self::statement));
                Some(StatementKind::If { branches, otherwise })
            }
            K::WhenBlock => {
                let (branches, _) = split_else(self.branches(node, Self::statement));
                Some(StatementKind::When { branches })
            }
            K::ForBlock => {
                let (iterators, _, body) = self.loop_parts(node, Self::statement);
                Some(StatementKind::For { iterators, body })
            }
            K::WhileBlock => {
                let (_, condition, body) = self.loop_parts(node, Self::statement);
                Some(StatementKind::While { condition: condition?, body })
            }
            K::BreakStatement => Some(StatementKind::Break),
            K::ReturnStatement => Some(StatementKind::Return),
            _ => None,
        }
    }

    /// The two sides of an equation or assignment; a comparison written by mistake has them below it.
    fn sides(&mut self, node: NodeId) -> Option<(NodeId, NodeId)> {
        let tree = self.tree;
        let mut parts =
            tree.child_nodes(node).filter(|&child| !matches!(tree.kind(child), K::Description | K::Annotation));
        let first = parts.next()?;
        match parts.next() {
            Some(second) => Some((first, second)),
            None => self.comparison(first),
        }
    }

    fn branches<T>(&mut self, node: NodeId, item: impl Fn(&mut Self, NodeId) -> Option<T>) -> Vec<Branch<T>> {
        let tree = self.tree;
        let mut branches: Vec<Branch<T>> = Vec::new();
        for child in tree.children(node) {
            match child {
                Child::Token(token) => match tree.token_kind(token) {
                    K::EndKw => break,
                    K::IfKw | K::WhenKw | K::ElseifKw | K::ElsewhenKw | K::ElseKw => {
                        branches.push(Branch { condition: None, body: Vec::new() });
                    }
                    _ => {}
                },
                Child::Node(child) if is_item(tree.kind(child)) => {
                    let lowered = item(self, child);
                    if let Some(branch) = branches.last_mut() {
                        branch.body.extend(lowered);
                    }
                }
                Child::Node(child) if is_expression(tree.kind(child)) => {
                    let condition = self.expr(child);
                    if let Some(branch) = branches.last_mut() {
                        branch.condition = Some(condition);
                    }
                }
                Child::Node(_) => {}
            }
        }
        branches
    }

    fn loop_parts<T>(
        &mut self,
        node: NodeId,
        item: impl Fn(&mut Self, NodeId) -> Option<T>,
    ) -> (Vec<ForIterator>, Option<Expr>, Vec<T>) {
        let tree = self.tree;
        let mut iterators = Vec::new();
        let mut condition = None;
        let mut body = Vec::new();
        for child in tree.child_nodes(node) {
            match tree.kind(child) {
                K::Iterator => iterators.push(self.iterator(child)),
                kind if is_item(kind) => body.extend(item(self, child)),
                kind if is_expression(kind) && condition.is_none() => condition = Some(self.expr(child)),
                _ => {}
            }
        }
        (iterators, condition, body)
    }
}

fn is_expression(kind: K) -> bool {
    matches!(
        kind,
        K::Literal
            | K::Reference
            | K::Call
            | K::Unary
            | K::Binary
            | K::IfExpression
            | K::Range
            | K::Array
            | K::Matrix
            | K::Parentheses
            | K::Subscripted
            | K::EndExpression
            | K::MissingExpression
    )
}

type Branches<T> = Vec<(Expr, Vec<T>)>;

/// The branches with a condition, and what stands under `else`.
fn split_else<T>(parts: Vec<Branch<T>>) -> (Branches<T>, Vec<T>) {
    let mut branches = Vec::with_capacity(parts.len());
    let mut otherwise = Vec::new();
    for part in parts {
        match part.condition {
            Some(condition) => branches.push((condition, part.body)),
            None => otherwise.extend(part.body),
        }
    }
    (branches, otherwise)
}
