//! Which conditions are structural: those whose truth decides which unknowns an equation holds.
//!
//! `0 = if open then i else u` holds one unknown or the other; `v = s*(if off then 1 else Ron)` loses `s` where the
//! parameter `Ron` is zero. Conditions that make no events, and those that follow from parameters, never are.

use dae::{EqId, EquationRole, ExprId, Exprs, Memo, Model, Node, VarId, VariableType};
use rustc_hash::FxHashSet;

use super::determined::Determined;
use crate::decisions::Subject;
use crate::occurrences::{Leaf, Occurrence, Scanner};
use crate::system::is_discrete_equation;
use crate::work::Work;

/// Equations with more conditions than this are not compared combination by combination.
const MOST_COMPARED: usize = 6;

/// Conditions of an equation that parameters decide, with their truth.
pub type Settled = (EqId, Vec<(ExprId, bool)>);

/// The structural conditions of the equations, in the order of first occurrence, none of them a negation; and the equations in
/// which parameters decide which unknowns they hold. Parameters must have been ordered.
pub fn structural(work: &mut Work) -> (Vec<ExprId>, Vec<Settled>) {
    let alternatives = with_alternatives(work);
    let mut scanner = Scanner::for_model(&work.model);
    let mut determined = Determined::new(work);
    let (mut found, mut settled) = (Vec::new(), Vec::new());
    let mut known: FxHashSet<ExprId> = FxHashSet::default();
    for eq in work.active.clone() {
        let equation = &work.model.equations[eq];
        let (left, right) = (equation.left, equation.right);
        if !matches!(equation.role, EquationRole::Plain)
            || !(alternatives[base::Id::index(left)] || alternatives[base::Id::index(right)])
            || is_discrete_equation(work, left, right)
        {
            continue;
        }
        let residual = work.model.exprs.sub(left, right);
        let (open, decided) = conditions_of(work, &mut scanner, &mut determined, residual);
        if is_changed(work, &mut scanner, residual, &decided) {
            settled.push((eq, decided));
        }
        for condition in of_residual(work, &mut scanner, residual, open) {
            if known.insert(condition) {
                found.push(condition);
            }
        }
    }
    (found, settled)
}

/// Puts the truth in place of conditions that parameters decide.
pub fn choose_branches(model: &mut Model, settled: &[Settled]) {
    for (eq, decided) in settled {
        let mut memo = Memo::default();
        for &(condition, truth) in decided {
            memo.insert(condition, model.exprs.boolean(truth));
        }
        let sides = [model.equations[*eq].left, model.equations[*eq].right];
        let sides = model.exprs.rewrite(&sides, &mut memo, |exprs, _, node| exprs.make(node));
        (model.equations[*eq].left, model.equations[*eq].right) = (sides[0], sides[1]);
    }
}

/// Whether a residual holds other unknowns in the branches that parameters choose than in all.
fn is_changed(work: &mut Work, scanner: &mut Scanner, residual: ExprId, decided: &[(ExprId, bool)]) -> bool {
    if decided.is_empty() {
        return false;
    }
    let (conditions, truth): (Vec<ExprId>, Vec<bool>) = decided.iter().copied().unzip();
    holds(work, scanner, residual, &[], &[]) != holds(work, scanner, residual, &conditions, &truth)
}

/// Whether each expression holds an `if`.
fn with_alternatives(work: &Work) -> Vec<bool> {
    let exprs = &work.model.exprs;
    let mut holds = Vec::with_capacity(exprs.len());
    for id in exprs.ids() {
        let mut any = matches!(exprs.node(id), Node::If { .. });
        exprs.for_each_child(id, |child| any |= holds.get(base::Id::index(child)).copied().unwrap_or(false));
        holds.push(any);
    }
    holds
}

/// The conditions in a residual that events change, and those that parameters decide.
fn conditions_of(
    work: &mut Work,
    scanner: &mut Scanner,
    determined: &mut Determined,
    residual: ExprId,
) -> (Vec<ExprId>, Vec<(ExprId, bool)>) {
    let (mut open, mut decided) = (Vec::new(), Vec::new());
    for condition in alternatives(work, &[residual]) {
        match settled(work, determined, condition) {
            Some(truth) => decided.push((condition, truth)),
            None if makes_events(work, scanner, condition) => open.push(condition),
            None => {}
        }
    }
    (open, decided)
}

/// Those of the conditions that decide which unknowns the residual holds.
fn of_residual(work: &mut Work, scanner: &mut Scanner, residual: ExprId, conditions: Vec<ExprId>) -> Vec<ExprId> {
    if conditions.is_empty() {
        return conditions;
    }
    if conditions.len() > MOST_COMPARED {
        let (all, none) = (vec![true; conditions.len()], vec![false; conditions.len()]);
        let differ =
            holds(work, scanner, residual, &conditions, &all) != holds(work, scanner, residual, &conditions, &none);
        return if differ { conditions } else { Vec::new() };
    }
    let combinations = 1usize << conditions.len();
    let truth = |combination: usize| (0..conditions.len()).map(|k| combination >> k & 1 == 1).collect::<Vec<bool>>();
    let unknowns: Vec<Vec<(VarId, bool)>> =
        (0..combinations).map(|combination| holds(work, scanner, residual, &conditions, &truth(combination))).collect();
    let matters = |k: usize| (0..combinations).any(|c| unknowns[c] != unknowns[c ^ (1 << k)]);
    (0..conditions.len()).filter(|&k| matters(k)).map(|k| conditions[k]).collect()
}

/// The conditions of all `if` in some expressions, without negations.
pub fn alternatives(work: &Work, roots: &[ExprId]) -> Vec<ExprId> {
    of_alternatives(&work.model.exprs, roots)
}

pub fn of_alternatives(exprs: &Exprs, roots: &[ExprId]) -> Vec<ExprId> {
    let mut conditions = Vec::new();
    for id in exprs.postorder(roots) {
        if let Node::If { mut condition, .. } = exprs.node(id) {
            while let Node::Not(inner) = exprs.node(condition) {
                condition = inner;
            }
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
    }
    conditions
}

/// Whether the condition changes at events only.
fn makes_events(work: &Work, scanner: &mut Scanner, condition: ExprId) -> bool {
    let mut eventful = true;
    scanner.scan_all_occurrences(&work.model.exprs, &[condition], |leaf, occurrence| {
        let steady = match leaf {
            Leaf::Variable(v) => {
                work.is_discrete(v) || work.is_parameter(v) || work.model.variables[v].ty != VariableType::Real
            }
            Leaf::Pre(_) | Leaf::Instant => true,
            Leaf::Derivative(_) | Leaf::Time => false,
        };
        eventful &= steady || occurrence <= Occurrence::Frozen;
    });
    eventful
}

/// The truth of a condition that follows from parameters, also by way of variables that these determine.
fn settled(work: &mut Work, determined: &mut Determined, condition: ExprId) -> Option<bool> {
    let condition = determined.in_parameters(work, condition)?;
    let values = &work.values;
    let value = work.model.exprs.substitute(&[condition], &mut work.value_memo, |v| values[v])[0];
    let truth = work.model.exprs.as_boolean(value)?;
    work.note_truth(condition, truth, Subject::Branch, None);
    Some(truth)
}

/// The unknowns, and whether their derivatives are meant, that a residual holds where the conditions are as given.
fn holds(
    work: &mut Work,
    scanner: &mut Scanner,
    residual: ExprId,
    conditions: &[ExprId],
    truth: &[bool],
) -> Vec<(VarId, bool)> {
    let truth: Vec<ExprId> = truth.iter().map(|&truth| work.model.exprs.boolean(truth)).collect();
    let residual = replaced(work, &[residual], conditions.iter().copied().zip(truth))[0];
    let mut unknowns = Vec::new();
    scanner.scan(&work.model.exprs, &[residual], |leaf, occurrence| {
        let (variable, derivative) = match leaf {
            Leaf::Variable(v) => (v, false),
            Leaf::Derivative(v) => (v, true),
            _ => return,
        };
        let real = work.model.variables[variable].ty == VariableType::Real;
        if occurrence == Occurrence::Smooth && real && work.is_unknown(variable) && !work.is_discrete(variable) {
            unknowns.push((variable, derivative));
        }
    });
    unknowns.sort_unstable();
    unknowns.dedup();
    // Only the highest derivative of a variable in an equation counts for its structure: `C(v)*der(v)` is no other equation
    // where `C` is constant.
    let differentiated: FxHashSet<VarId> =
        unknowns.iter().filter(|(_, der)| *der).map(|(variable, _)| *variable).collect();
    unknowns.retain(|(variable, derivative)| *derivative || !differentiated.contains(variable));
    unknowns
}

/// Expressions with conditions replaced by what stands beside them, and parameters in factors of unknowns that are zero by zero:
/// what they multiply is not there.
pub fn replaced(
    work: &mut Work,
    roots: &[ExprId],
    conditions: impl IntoIterator<Item = (ExprId, ExprId)>,
) -> Vec<ExprId> {
    let mut memo = Memo::default();
    conditions.into_iter().for_each(|(condition, new)| memo.insert(condition, new));
    let mut zeros: FxHashSet<VarId> = FxHashSet::default();
    for variable in in_factors_of_unknowns(work, roots) {
        if let Some(is_zero) = work.values[variable].map(|value| work.model.exprs.is_zero(value)) {
            let parameter = work.model.exprs.var(variable);
            work.note_zero(parameter, is_zero, Subject::Unknowns, None);
            if is_zero {
                zeros.insert(variable);
            }
        }
    }
    let values = &work.values;
    let exprs = &mut work.model.exprs;
    exprs.rewrite(roots, &mut memo, |exprs, id, node| match node {
        Node::Var(v) if zeros.contains(&v) => values[v].unwrap_or(id),
        node => exprs.make(node),
    })
}

/// The variables in factors of what holds unknowns. No other value of a parameter makes an unknown vanish.
fn in_factors_of_unknowns(work: &Work, roots: &[ExprId]) -> Vec<VarId> {
    let exprs = &work.model.exprs;
    let mut holding: FxHashSet<ExprId> = FxHashSet::default();
    let mut factors = Vec::new();
    for id in exprs.postorder(roots) {
        let node = exprs.node(id);
        let mut holds = work.is_open(node);
        exprs.for_each_child(id, |child| holds |= holding.contains(&child));
        if holds {
            holding.insert(id);
        }
        if let Node::Mul(a, b) | Node::Div(a, b) = node {
            factors.extend(holding.contains(&a).then_some(b));
            factors.extend(holding.contains(&b).then_some(a));
        }
    }
    exprs.dependencies(&factors).variables
}
