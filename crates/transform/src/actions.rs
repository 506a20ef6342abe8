//! Actions at initialisation and after it: a condition with `initial()` is decided for each of the two, so that what happens
//! under `when initial()` happens once the initial problem is solved, and only then. `reinit` is an initial equation there
//! (specification 8.6).

use base::Diagnostic;
use dae::{Action, ActionKind, Builtin, Equation, EquationRole, ExprId, Memo, Node};

use crate::decisions::Subject;
use crate::work::{Work, map_action};

pub fn split(work: &mut Work) -> Result<(), Vec<Diagnostic>> {
    let mut phases = [Phase::new(true), Phase::new(false)];
    let mut problems = Vec::new();
    for action in std::mem::take(&mut work.model.actions) {
        let Some(condition) = action.condition else {
            work.model.actions.push(action);
            continue;
        };
        // Such as in a branch `elsewhen` whose condition is that of an earlier one.
        if work.model.exprs.as_boolean(condition) == Some(false) {
            continue;
        }
        if !work.model.exprs.any(condition, is_initial) {
            work.model.actions.push(action);
            continue;
        }
        let [at_start, later] = &mut phases;
        if let Some(action) = at_start.action(work, &action) {
            match initial_action(work, action) {
                Ok(()) => {}
                Err(problem) => problems.push(problem),
            }
        }
        let action = later.action(work, &action);
        work.model.actions.extend(action);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn is_initial(node: Node) -> bool {
    matches!(node, Node::Builtin(Builtin::Initial, _))
}

/// Initialisation, or what follows it.
struct Phase {
    is_initial: bool,
    memo: Memo,
}

impl Phase {
    fn new(is_initial: bool) -> Self {
        Self { is_initial, memo: Memo::default() }
    }

    fn expression(&mut self, work: &mut Work, expr: ExprId) -> ExprId {
        let truth = self.is_initial;
        work.model.exprs.rewrite(&[expr], &mut self.memo, |exprs, _, node| match node {
            Node::Builtin(Builtin::Initial, _) => exprs.boolean(truth),
            node => exprs.make(node),
        })[0]
    }

    /// The action as it is in this phase; `None` if it never happens there.
    fn action(&mut self, work: &mut Work, action: &Action) -> Option<Action> {
        let condition = action.condition.map(|condition| self.expression(work, condition));
        let truth = condition.and_then(|condition| work.model.exprs.as_boolean(condition));
        if truth == Some(false) {
            return None;
        }
        let mut action = Action { condition: condition.filter(|_| truth.is_none()), ..action.clone() };
        map_action(work, &mut action, |work, expr| self.expression(work, expr));
        Some(action)
    }
}

fn initial_action(work: &mut Work, action: Action) -> Result<(), Diagnostic> {
    let ActionKind::Reinit { state, value } = action.kind else {
        work.model.initial_actions.push(action);
        return Ok(());
    };
    // Where difference formulas begin, the model as it was written determines.
    if work.begins_formula(state) {
        return Ok(());
    }
    if let Some(condition) = action.condition {
        let values = &work.values;
        let known = work.model.exprs.substitute(&[condition], &mut work.value_memo, |v| values[v])[0];
        let truth = work.model.exprs.as_boolean(known);
        if let Some(truth) = truth {
            work.note_truth(condition, truth, Subject::Start, action.origin.span);
        }
        match truth {
            Some(true) => {}
            Some(false) => return Ok(()),
            None => return Err(undecided(work, &action, condition)),
        }
    }
    let left = work.model.exprs.var(state);
    let equation = Equation { left, right: value, role: EquationRole::Plain, origin: action.origin };
    work.model.initial_equations.push(equation);
    Ok(())
}

fn undecided(work: &Work, action: &Action, condition: ExprId) -> Diagnostic {
    let condition = work.model.expression_text(condition);
    let message =
        format!("whether `reinit` gives an initial value depends on `{condition}`, which is not known before");
    let problem = Diagnostic::error("conditional-initial-equation", message)
        .hint("under `when initial()` a condition around reinit may depend on parameters only")
        .specification("8.6");
    match action.origin.span {
        Some(span) => problem.at(span, "an initial equation here"),
        None => problem,
    }
}
