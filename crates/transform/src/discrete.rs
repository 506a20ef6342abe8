//! Rules for when clauses (specification 8.3.5): a variable is assigned in one of them only, and no loop goes through
//! clauses with different conditions.

use base::Diagnostic;
use dae::{ActionKind, EqId, EquationRole, ExprId, Exprs, Node, VarId, WhenClause};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::work::Work;

/// Two when clauses that assign one variable.
pub fn conflicts(work: &Work) -> Vec<Diagnostic> {
    let mut first: FxHashMap<VarId, EqId> = FxHashMap::default();
    let mut problems = Vec::new();
    for &eq in &work.active {
        let equation = &work.model.equations[eq];
        let (EquationRole::When(_), Node::Var(target)) = (&equation.role, work.model.exprs.node(equation.left)) else {
            continue;
        };
        let Some(&other) = first.get(&target) else {
            first.insert(target, eq);
            continue;
        };
        let name = work.model.variable_name(target);
        let mut diagnostic =
            Diagnostic::error("conflicting-whens", format!("`{name}` is assigned in two when clauses"))
                .hint("join them with elsewhen, or write them in one algorithm section, where the later one wins")
                .specification("8.3.5.2");
        diagnostic = work.at_equation(diagnostic, other, "first here");
        problems.push(work.at_equation(diagnostic, eq, "and again here"));
    }
    problems
}

/// What is set anew at events has to be a state then (specification 8.3.6).
pub fn wish_reinitialised_states(work: &mut Work) {
    let set = work.model.actions.iter().filter_map(|action| match action.kind {
        ActionKind::Reinit { state, .. } => Some(state),
        _ => None,
    });
    work.choice.reinitialised = set.collect();
}

/// A variable that is set anew in two when clauses, or that is no state (specification 8.3.6).
pub fn wrong_reinits(work: &Work, is_state: impl Fn(VarId) -> bool) -> Vec<Diagnostic> {
    let mut first: FxHashMap<VarId, usize> = FxHashMap::default();
    let mut problems = Vec::new();
    for (index, action) in work.model.actions.iter().enumerate() {
        let ActionKind::Reinit { state, .. } = action.kind else { continue };
        // In a branch that turned out to be never active.
        if action.condition.is_some_and(|condition| work.model.exprs.as_boolean(condition) == Some(false)) {
            continue;
        }
        let name = work.model.variable_name(state);
        let earlier = *first.entry(state).or_insert(index);
        let spans = [earlier, index].map(|index| work.model.actions[index].origin.span);
        if !is_state(state) {
            let message = format!("`{name}` is set by reinit, but it is not a state");
            let hint = "reinit sets variables whose derivative is in the model; other variables follow from them";
            let problem = Diagnostic::error("reinit-of-no-state", message).hint(hint).specification("8.3.6");
            problems.push(spans[1].into_iter().fold(problem, |problem, span| problem.at(span, "set here")));
        } else if earlier != index && !same_when(work, earlier, index) {
            let message = format!("`{name}` is set by reinit in two when clauses");
            let hint = "join them with elsewhen, so that it is clear which one is meant when both become true";
            let mut problem = Diagnostic::error("conflicting-whens", message).hint(hint).specification("8.3.6");
            for (span, text) in spans.into_iter().zip(["first here", "and again here"]) {
                problem = span.into_iter().fold(problem, |problem, span| problem.at(span, text));
            }
            problems.push(problem);
        }
    }
    problems
}

/// Whether two actions are branches of one when clause: the later branch asks for the conditions of the earlier one too,
/// and both are never active at once.
fn same_when(work: &Work, first: usize, second: usize) -> bool {
    let conditions = [first, second].map(|index| work.model.actions[index].condition);
    let variables = |condition: Option<ExprId>| {
        let leaves = work.model.exprs.dependencies(condition.as_slice());
        leaves.variables.iter().chain(&leaves.pre).copied().collect::<FxHashSet<VarId>>()
    };
    let [Some(one), Some(other)] = conditions else { return false };
    !variables(Some(one)).is_disjoint(&variables(Some(other))) && never_together(&work.model.exprs, one, other)
}

/// Whether no values of the Boolean variables and their left limits make both conditions true. Conditions of other kinds, and
/// of many variables, count as different.
fn never_together(exprs: &Exprs, one: ExprId, other: ExprId) -> bool {
    const MOST: usize = 12;
    let mut atoms = Vec::new();
    let order = exprs.postorder(&[one, other]);
    for &id in &order {
        match exprs.node(id) {
            Node::Var(_) | Node::Pre(_) => atoms.push(id),
            Node::Not(_) | Node::And(..) | Node::Or(..) | Node::Boolean(_) => {}
            _ => return true,
        }
    }
    if atoms.len() > MOST {
        return true;
    }
    (0u32..1 << atoms.len()).all(|values| {
        let mut truth: FxHashMap<ExprId, bool> = FxHashMap::default();
        for &id in &order {
            let of = |part: ExprId| truth.get(&part).copied().unwrap_or_default();
            let value = match exprs.node(id) {
                Node::Not(a) => !of(a),
                Node::And(a, b) => of(a) && of(b),
                Node::Or(a, b) => of(a) || of(b),
                Node::Boolean(value) => value,
                _ => atoms.iter().position(|&atom| atom == id).is_some_and(|bit| values >> bit & 1 == 1),
            };
            truth.insert(id, value);
        }
        !(truth.get(&one) == Some(&true) && truth.get(&other) == Some(&true))
    })
}

/// The equations of a component must not belong to when clauses with different conditions.
pub fn loop_across_whens(work: &Work, equations: impl Iterator<Item = EqId> + Clone) -> Option<Diagnostic> {
    let clause = |eq: EqId| match &work.model.equations[eq].role {
        EquationRole::When(clause) => Some(clause),
        _ => None,
    };
    let differ = |a: &WhenClause, b: &WhenClause| a.clause != b.clause && a.conditions != b.conditions;
    let mut whens = equations.clone().filter_map(|eq| clause(eq).map(|clause| (eq, clause)));
    let (_, first) = whens.next()?;
    whens.find(|(_, other)| differ(first, other))?;
    let mut names = Vec::new();
    let mut diagnostic = Diagnostic::error("loop-across-whens", "").specification("8.3.5.2");
    for eq in equations {
        if let Node::Var(variable) = work.model.exprs.node(work.model.equations[eq].left) {
            names.push(format!("`{}`", work.model.variable_name(variable)));
        }
        diagnostic = work.at_equation(diagnostic, eq, "in the loop");
    }
    diagnostic.message = format!(
        "{} need each other at the same instant, across when clauses with different conditions",
        names.join(", ")
    );
    Some(diagnostic.hint("use pre(…) of one of them to break the loop"))
}
