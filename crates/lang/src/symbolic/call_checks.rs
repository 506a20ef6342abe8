//! Calls that check something count although their values may not: an assertion in a function holds in `0*f(x)` and in
//! `y := f(x); y := 2` as well (12.4.3).
//!
//! Each such call asks for an action that makes it for the sake of its assertions. When all equations are there, those whose
//! calls stand in an expression of the model, which evaluates them anyway, are dropped.

use base::{Id, Span};
use dae::effects::{add_checking, effects};
use dae::expr::{CallSite, Shape};
use dae::{Action, ActionKind, ArgsId, CallSiteId, ExprId, FunctionId, Model, Node, VarId, Variability};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Expander, Mode};
use crate::elaborate::Elaborator;

#[derive(Default)]
pub struct CallChecks {
    /// The functions that call others for their assertions; none for those that have nothing to check.
    functions: FxHashMap<FunctionId, Option<FunctionId>>,
    /// The conditions of the actions, with the calls that they stand for.
    calls: FxHashMap<ExprId, (CallSiteId, ArgsId)>,
}

impl Expander<'_> {
    /// Asks for the checks of a call, given by one of its results; whether it has any.
    pub(crate) fn check_call(&mut self, call: ExprId, condition: Option<ExprId>, span: Span) -> bool {
        if self.mode != Mode::Flat {
            return false;
        }
        let Node::Call { site, args, .. } = self.exprs().node(call) else { return false };
        let Some(holds) = self.checking_call(site, args) else { return false };
        self.elaborator.expansion.call_checks.calls.insert(holds, (site, args));
        let message = self.exprs().string("an assertion fails");
        let condition = match (self.path_condition, condition) {
            (Some(outer), Some(inner)) => Some(self.exprs().and(outer, inner)),
            (outer, inner) => outer.or(inner),
        };
        self.actions.push((condition, ActionKind::Assert { holds, message, warning: false }, span));
        true
    }

    /// Whether the checks of a call are all that it does beside giving its results.
    pub(crate) fn is_checked_call(&mut self, call: ExprId) -> bool {
        let Node::Call { site, args, .. } = self.exprs().node(call) else { return false };
        self.mode == Mode::Flat && self.checking_call(site, args).is_some()
    }

    fn checking_call(&mut self, site: CallSiteId, args: ArgsId) -> Option<ExprId> {
        let CallSite { function, inputs, .. } = self.exprs().call_site(site).clone();
        let checking = match self.elaborator.expansion.call_checks.functions.get(&function) {
            Some(&known) if !inputs.iter().any(is_function) => known?,
            _ => {
                let functions = &mut self.elaborator.flat.model.functions;
                let mut roots = vec![function];
                inputs.iter().for_each(|shape| passed_functions(shape, &mut roots));
                let found = effects(functions, roots);
                // What changes something is called where it is due, and no more often.
                let made = if found.checks && !found.impure { add_checking(functions, function) } else { None };
                self.elaborator.expansion.call_checks.functions.insert(function, made);
                made?
            }
        };
        let exprs = self.exprs();
        let site = exprs.site(CallSite { function: checking, inputs, outputs: vec![Shape::Scalar] });
        Some(exprs.intern(Node::Call { site, args, output: 0 }))
    }
}

fn is_function(shape: &Shape) -> bool {
    matches!(shape, Shape::Function { .. })
}

fn passed_functions(shape: &Shape, found: &mut Vec<FunctionId>) {
    if let Shape::Function { function, given } = shape {
        found.push(*function);
        given.iter().for_each(|(_, shape)| passed_functions(shape, found));
    }
}

/// Drops the checks of calls that the model makes anyway. Those of parameters alone are made once.
pub fn keep_lost(elaborator: &mut Elaborator) {
    let CallChecks { calls, .. } = std::mem::take(&mut elaborator.expansion.call_checks);
    if calls.is_empty() {
        return;
    }
    let model = &mut elaborator.flat.model;
    let is_check =
        |action: &Action| matches!(action.kind, ActionKind::Assert { holds, .. } if calls.contains_key(&holds));
    let (always, others) = std::mem::take(&mut model.actions).into_iter().partition::<Vec<_>, _>(is_check);
    let (initially, initial_others) =
        std::mem::take(&mut model.initial_actions).into_iter().partition::<Vec<_>, _>(is_check);
    (model.actions, model.initial_actions) = (others, initial_others);
    let made = made_calls(model);
    let mut seen = FxHashSet::default();
    let asked = always.into_iter().map(|action| (action, false));
    for (action, initial) in asked.chain(initially.into_iter().map(|action| (action, true))) {
        let ActionKind::Assert { holds, .. } = action.kind else { continue };
        let is_made = calls.get(&holds).is_some_and(|call| made.contains(call));
        if is_made || !seen.insert((holds, action.condition, initial)) {
            continue;
        }
        let roots: Vec<ExprId> = action.condition.into_iter().chain([holds]).collect();
        if initial || is_parametric(model, &roots) {
            model.initial_actions.push(action);
        } else {
            model.actions.push(action);
        }
    }
}

/// The calls in the expressions of the model, except those that an equation may lose: when it is solved because both of its
/// sides have them, or when parameters that stay as they are have their values because one of them is zero.
fn made_calls(model: &mut Model) -> FxHashSet<(CallSiteId, ArgsId)> {
    let vanishing = vanishing_operands(model);
    let model = &*model;
    let key = |id: ExprId| match model.exprs.node(id) {
        Node::Call { site, args, .. } => Some((site, args)),
        _ => None,
    };
    let mut made: FxHashSet<_> = dae::calls(model).into_iter().filter_map(key).collect();
    for call in model.exprs.postorder(&vanishing).into_iter().filter_map(key) {
        made.remove(&call);
    }
    let mut holds_call: Option<Vec<bool>> = None;
    for equation in model.equations.values() {
        let sides = [equation.left, equation.right];
        if sides.iter().any(|&side| model.exprs.is_literal(side) || matches!(model.exprs.node(side), Node::Var(_))) {
            continue;
        }
        let flags = holds_call.get_or_insert_with(|| containing_calls(model));
        if !sides.iter().all(|side| flags[side.index()]) {
            continue;
        }
        let [left, right] = sides.map(|side| model.exprs.postorder(&[side]).into_iter().filter_map(key));
        let left: FxHashSet<_> = left.collect();
        right.filter(|call| left.contains(call)).for_each(|call| {
            made.remove(&call);
        });
    }
    made
}

/// Operands with calls in them that are multiplied by zero, or whose exponent is zero, as soon as parameters have their values.
fn vanishing_operands(model: &mut Model) -> Vec<ExprId> {
    let flags = containing_calls(model);
    let mut factors: Vec<(ExprId, ExprId)> = Vec::new();
    for id in model.exprs.ids() {
        let pairs = match model.exprs.node(id) {
            Node::Mul(a, b) => [Some((a, b)), Some((b, a))],
            Node::Div(a, b) | Node::Pow(b, a) => [Some((a, b)), None],
            _ => continue,
        };
        let is_candidate = |&(factor, operand): &(ExprId, ExprId)| flags[operand.index()] && !flags[factor.index()];
        factors.extend(pairs.into_iter().flatten().filter(is_candidate));
    }
    let mut values = FxHashMap::default();
    factors.retain(|&(factor, _)| {
        let value = settled(model, factor, &mut values, 0);
        value.is_some_and(|value| model.exprs.is_zero(value))
    });
    factors.into_iter().map(|(_, operand)| operand).collect()
}

/// The literal that an expression of constants and parameters becomes that keep their values.
fn settled(
    model: &mut Model,
    expr: ExprId,
    values: &mut FxHashMap<VarId, Option<ExprId>>,
    depth: usize,
) -> Option<ExprId> {
    if model.exprs.is_literal(expr) {
        return Some(expr);
    }
    if depth > 100 || !is_parametric(model, &[expr]) {
        return None;
    }
    for variable in model.exprs.dependencies(&[expr]).variables {
        if !values.contains_key(&variable) {
            values.insert(variable, None);
            let declared = &model.variables[variable];
            let is_kept = declared.variability == Variability::Constant || declared.structural;
            let binding = declared.binding.filter(|_| is_kept);
            let value = binding.and_then(|binding| settled(model, binding, values, depth + 1));
            values.insert(variable, value);
        }
        values[&variable]?;
    }
    let value =
        model.exprs.substitute(&[expr], &mut dae::Memo::default(), |variable| values.get(&variable).copied()?);
    value.first().copied().filter(|&value| model.exprs.is_literal(value))
}

/// For each expression whether there is a call in it.
fn containing_calls(model: &Model) -> Vec<bool> {
    let mut flags = vec![false; model.exprs.len()];
    // Operands are older than what they are in.
    for id in model.exprs.ids() {
        let mut found = matches!(model.exprs.node(id), Node::Call { .. });
        model.exprs.for_each_child(id, |child| found |= flags[child.index()]);
        flags[id.index()] = found;
    }
    flags
}

fn is_parametric(model: &Model, roots: &[ExprId]) -> bool {
    let found = model.exprs.dependencies(roots);
    let changes = |variable: &VarId| model.variables[*variable].variability > Variability::Parameter;
    !found.time
        && found.derivatives.is_empty()
        && found.pre.is_empty()
        && found.previous.is_empty()
        && !found.variables.iter().any(changes)
}
