//! Rules for when clauses (specification 8.3.5): a variable is assigned in one of them only, and no loop goes through
//! clauses with different conditions.

use base::Diagnostic;
use dae::{EqId, EquationRole, Node, VarId, WhenClause};
use rustc_hash::FxHashMap;

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
