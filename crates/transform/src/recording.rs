//! Passes record what the values of parameters decided ([`Decisions`]).

use base::{Id, Span};
use dae::{ExprId, Exprs, Node};

use crate::decisions::{Decision, Decisions, Question, Row, Subject};
use crate::work::Work;

impl Work {
    /// The decisions in terms of an arena of which that of this work is a copy with more expressions. One about an expression that
    /// is new becomes one about the values of the parameters in it.
    pub fn decisions_in(&mut self, exprs: &mut Exprs) -> Decisions {
        let count = exprs.len();
        let is_new = |decision: &&Decision| decision.expressions().iter().any(|id| id.index() >= count);
        for decision in self.decisions.list.iter().filter(is_new).cloned().collect::<Vec<_>>() {
            self.note_values(&decision.expressions(), decision.subject, decision.span);
        }
        let mut moved = Decisions::default();
        for decision in &self.decisions.list {
            let question = match decision.question {
                Question::Is(id, literal) => match self.model.exprs.node(id) {
                    Node::Var(variable) => {
                        let literal = exprs.make(self.model.exprs.node(literal));
                        Question::Is(exprs.var(variable), literal)
                    }
                    _ => continue,
                },
                _ if is_new(&decision) => continue,
                ref question => question.clone(),
            };
            moved.list.push(Decision { question, ..decision.clone() });
        }
        moved
    }

    /// Whether an expression is known once the parameters are: no unknown, no time, nothing that the initial problem determines.
    fn is_of_parameters(&self, expr: ExprId) -> bool {
        !self.model.exprs.any(expr, |node| match node {
            Node::Var(variable) => !self.is_parameter(variable) || self.parameters.free[variable],
            Node::Time | Node::Der(_) | Node::Pre(_) | Node::Previous(_) => true,
            _ => false,
        })
    }

    /// Whether a node stands for something that equations determine, and that neither parameters nor time give.
    pub fn is_open(&self, node: Node) -> bool {
        match node {
            Node::Var(variable) => !self.is_parameter(variable) || self.parameters.free[variable],
            Node::Der(_) | Node::Pre(_) | Node::Previous(_) => true,
            _ => false,
        }
    }

    fn has_parameters(&self, expr: ExprId) -> bool {
        self.model.exprs.any(expr, |node| matches!(node, Node::Var(variable) if self.is_parameter(variable)))
    }

    /// Records a predicate of one expression. Where more than parameters is in it, each of these keeps its value.
    fn note(&mut self, expr: ExprId, question: Question, subject: Subject, span: Option<Span>) {
        if self.decisions.known.contains(&(expr, subject)) || !self.has_parameters(expr) {
            return;
        }
        if self.is_of_parameters(expr) {
            self.decisions.add(expr, Decision { question, subject, span });
        } else {
            self.decisions.known.insert((expr, subject));
            self.note_values(&[expr], subject, span);
        }
    }

    pub fn note_zero(&mut self, expr: ExprId, is_zero: bool, subject: Subject, span: Option<Span>) {
        self.note(expr, Question::IsZero(expr, is_zero), subject, span);
    }

    pub fn note_truth(&mut self, condition: ExprId, truth: bool, subject: Subject, span: Option<Span>) {
        self.note(condition, Question::IsTrue(condition, truth), subject, span);
    }

    /// Records that the values of all parameters in some expressions decided.
    pub fn note_values(&mut self, exprs: &[ExprId], subject: Subject, span: Option<Span>) {
        for variable in self.model.exprs.dependencies(exprs).variables {
            if let Some(value) = self.values[variable].filter(|_| self.is_parameter(variable)) {
                let expression = self.model.exprs.var(variable);
                let question = Question::Is(expression, value);
                self.decisions.add(expression, Decision { question, subject, span });
            }
        }
    }

    /// Records that the rows of a matrix are independent.
    pub fn note_independent(&mut self, rows: Vec<Row>, subject: Subject) {
        let entries: Vec<ExprId> = rows.iter().flatten().map(|&(_, entry)| entry).collect();
        if !entries.iter().any(|&entry| self.has_parameters(entry)) {
            return;
        }
        if entries.iter().all(|&entry| self.is_of_parameters(entry)) {
            let question = Question::AreIndependent(rows.into());
            self.decisions.list.push(Decision { question, subject, span: None });
        } else {
            self.note_values(&entries, subject, None);
        }
    }

    /// Records what the language decided. Parameters must have been ordered.
    pub fn note_translation(&mut self) {
        for decided in self.model.decided.clone() {
            let expression = self.model.exprs.var(decided.variable);
            self.note_values(&[expression], Subject::Translation, decided.span);
        }
    }
}
