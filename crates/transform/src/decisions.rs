//! What the values of parameters decided when the model was translated.
//!
//! Most parameters decide nothing: they are numbers that code reads from memory. Some decide by their value, such as the size of an
//! array; some by a predicate that holds for many values, such as a resistance that is not zero. Each such predicate is recorded
//! here with its outcome. As long as all come out as they did, the schedule holds for other values of the parameters too.
//!
//! Numbers that only choose a form (which pivot is larger, how a system is torn) are not recorded: every form has the same
//! solution, and the run watches whether it is a good one.

use std::sync::Arc;

use base::{Diagnostic, Id, Span};
use dae::evaluate::{Evaluator, NoExternals};
use dae::evaluate_expr::ExprValues;
use dae::{ExprId, Exprs, Model, Node, Value, VarId};
use rustc_hash::FxHashSet;

use crate::structure::elimination::{Terms, dependencies};

/// A predicate of parameters, and how it came out.
#[derive(Clone, PartialEq, Debug)]
pub enum Question {
    /// Whether an expression is zero.
    IsZero(ExprId, bool),
    /// Whether a condition is true.
    IsTrue(ExprId, bool),
    /// Whether an expression has this value, a literal.
    Is(ExprId, ExprId),
    /// Whether the rows of a matrix are independent, which they were; column and expression of each entry.
    AreIndependent(Arc<[Row]>),
}

/// The entries of a row of a matrix: column and expression.
pub type Row = Vec<(u32, ExprId)>;

/// What a predicate decides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Subject {
    /// A size, a condition of components or equations, or another choice that the language makes at translation.
    Translation,
    /// Which unknowns an equation has.
    Unknowns,
    /// An equation is divided by it.
    Divisor,
    /// Which equations constrain each other, or which variables can be states.
    Constraints,
    /// Which branch is taken, or whether a condition can change during the run.
    Branch,
    /// What is an initial condition.
    Start,
    /// What ideal elements share that say the same thing twice.
    Sharing,
}

impl Subject {
    fn text(self) -> &'static str {
        match self {
            Subject::Translation => "it decides a size, a condition or another choice that is made at translation",
            Subject::Unknowns => "whether it is zero decides which unknowns equations have",
            Subject::Divisor => "equations are divided by it",
            Subject::Constraints => "it decides which equations are constraints and which variables are states",
            Subject::Branch => "it decides which branch is taken",
            Subject::Start => "it decides what is an initial condition",
            Subject::Sharing => "it decides how ideal elements share what they say twice",
        }
    }
}

/// One decision.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The predicate and how it came out.
    pub question: Question,
    /// What it decides about.
    pub subject: Subject,
    /// Where the text stands that asked.
    pub span: Option<Span>,
}

/// All decisions of a schedule.
#[derive(Clone, Default)]
pub struct Decisions {
    pub(crate) list: Vec<Decision>,
    /// What is recorded already, by subject.
    pub(crate) known: FxHashSet<(ExprId, Subject)>,
}

impl Decisions {
    /// Whether nothing was decided.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All decisions.
    pub fn iter(&self) -> impl Iterator<Item = &Decision> {
        self.list.iter()
    }

    /// Those about some subjects.
    pub fn about(&self, wanted: impl Fn(Subject) -> bool) -> Decisions {
        let list = self.list.iter().filter(|decision| wanted(decision.subject)).cloned().collect();
        Decisions { list, known: FxHashSet::default() }
    }

    /// Adds other decisions.
    pub fn extend(&mut self, others: &Decisions) {
        for decision in &others.list {
            match decision.question {
                Question::IsZero(expression, _) | Question::IsTrue(expression, _) | Question::Is(expression, _) => {
                    self.add(expression, decision.clone());
                }
                Question::AreIndependent(_) => self.list.push(decision.clone()),
            }
        }
    }

    /// The parameters that decided something.
    pub(crate) fn parameters(&self, exprs: &Exprs) -> Vec<VarId> {
        let expressions: Vec<ExprId> = self.list.iter().flat_map(Decision::expressions).collect();
        exprs.dependencies(&expressions).variables
    }

    pub(crate) fn add(&mut self, expression: ExprId, decision: Decision) {
        if self.known.insert((expression, decision.subject)) {
            self.list.push(decision);
        }
    }

    /// The first decision that other values of parameters change; `value` gives them all, `changed` are those that differ. A
    /// decision that cannot be computed for them counts as changed.
    pub fn violated(
        &self,
        model: &Model,
        changed: &dyn Fn(VarId) -> bool,
        value: &mut dyn FnMut(VarId) -> Option<Value>,
    ) -> Option<&Decision> {
        if self.list.is_empty() {
            return None;
        }
        let affected = affected(&model.exprs, changed);
        let is_affected = |id: ExprId| affected.get(id.index()).copied().unwrap_or(true);
        let mut externals = NoExternals;
        let mut evaluator = Evaluator::new(&model.functions, &mut externals);
        let mut known = ExprValues::default();
        let mut lookup = |node: Node| match node {
            Node::Var(variable) => value(variable),
            _ => None,
        };
        let mut of = |id: ExprId| evaluator.expression_with(&model.exprs, id, &mut known, &mut lookup).ok();
        self.list.iter().find(|decision| match &decision.question {
            Question::IsZero(id, outcome) => {
                is_affected(*id) && of(*id).and_then(|value| number(&value)).map(|value| value == 0.0) != Some(*outcome)
            }
            Question::IsTrue(id, outcome) => is_affected(*id) && of(*id) != Some(Value::Boolean(*outcome)),
            Question::Is(id, literal) => {
                is_affected(*id) && !of(*id).is_some_and(|value| is_literal(&model.exprs, *literal, &value))
            }
            Question::AreIndependent(rows) => {
                rows.iter().flatten().any(|&(_, id)| is_affected(id)) && !are_independent(rows, &mut of)
            }
        })
    }
}

impl Decision {
    pub(crate) fn expressions(&self) -> Vec<ExprId> {
        match &self.question {
            Question::IsZero(id, _) | Question::IsTrue(id, _) | Question::Is(id, _) => vec![*id],
            Question::AreIndependent(rows) => rows.iter().flatten().map(|&(_, entry)| entry).collect(),
        }
    }

    /// What to say where a parameter cannot be set because of this decision.
    pub fn diagnostic(&self, model: &Model, parameter: VarId) -> Diagnostic {
        let name = model.variable_name(parameter);
        let message = format!("`{name}` cannot have another value without a new translation: {}", self.subject.text());
        let mut said = Diagnostic::error("structural-parameter", message);
        let text = match &self.question {
            Question::IsZero(id, true) => format!("`{}` was zero", model.expression_text(*id)),
            Question::IsZero(id, false) => format!("`{}` was not zero", model.expression_text(*id)),
            Question::IsTrue(id, truth) => format!("`{}` was {truth}", model.expression_text(*id)),
            Question::Is(id, value) => {
                format!("`{}` was {}", model.expression_text(*id), model.expression_text(*value))
            }
            Question::AreIndependent(_) => "the equations were independent for the values at translation".to_owned(),
        };
        said = said.note(text);
        if let Some(span) = self.span {
            said = said.at(span, "decided here");
        }
        said.hint("translate the model again with this value")
    }
}

fn are_independent(rows: &[Row], of: &mut dyn FnMut(ExprId) -> Option<Value>) -> bool {
    let mut numbers: Vec<Terms> = Vec::with_capacity(rows.len());
    for row in rows {
        let mut terms = Terms::new();
        for &(column, id) in row {
            match of(id).and_then(|value| number(&value)).filter(|value| value.is_finite()) {
                Some(value) => terms.extend((value != 0.0).then_some((column, value))),
                None => return false,
            }
        }
        // A row of zeros alone depends on nothing, and says nothing.
        if terms.is_empty() {
            return false;
        }
        numbers.push(terms);
    }
    dependencies(&numbers).is_empty()
}

/// Which expressions hold a parameter that changed.
fn affected(exprs: &Exprs, changed: &dyn Fn(VarId) -> bool) -> Vec<bool> {
    let mut affected: Vec<bool> = Vec::with_capacity(exprs.len());
    // Operands come before what they are in.
    for id in exprs.ids() {
        let mut any = matches!(exprs.node(id), Node::Var(variable) if changed(variable));
        exprs.for_each_child(id, |child| any |= affected.get(child.index()).copied().unwrap_or(false));
        affected.push(any);
    }
    affected
}

fn number(value: &Value) -> Option<f64> {
    match *value {
        Value::Real(value) => Some(value),
        Value::Integer(value) | Value::Enumeration(value) => Some(value as f64),
        Value::Boolean(value) => Some(f64::from(u8::from(value))),
        _ => None,
    }
}

fn is_literal(exprs: &Exprs, literal: ExprId, value: &Value) -> bool {
    match exprs.node(literal) {
        Node::String(text) => matches!(value, Value::String(other) if **other == *text.as_str()),
        Node::Boolean(truth) => *value == Value::Boolean(truth),
        _ => exprs.as_real(literal).is_some_and(|known| number(value) == Some(known)),
    }
}
