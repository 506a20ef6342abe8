//! Calls that check something in products that vanish: with p = 0 the term `p*f(x)` is left out of its equation, and an assertion
//! in `f` counts all the same. Such a call becomes an assertion of the model, under the conditions of the branches around it.

use dae::effects::{add_checking, effects};
use dae::expr::{CallSite, Shape};
use dae::{Action, ActionKind, CallSiteId, EqId, EquationRole, ExprId, FunctionId, Node};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::work::Work;

/// Places that are looked at for the calls of one fold; a call that stands in many branches has as many conditions.
const MOST_PLACES: usize = 100_000;

#[derive(Default)]
pub struct LostChecks {
    /// The functions that call others for their assertions; none for those that have nothing to check.
    functions: FxHashMap<FunctionId, Option<FunctionId>>,
    seen: FxHashSet<(Option<ExprId>, ExprId)>,
    places: FxHashSet<Place>,
}

/// A part of an equation, the condition under which it is computed, and whether it is a part of a product that vanishes.
type Place = (ExprId, Option<ExprId>, bool);

impl LostChecks {
    /// Keeps the checks in the products of an equation that vanish.
    pub fn keep(&mut self, work: &mut Work, eq: EqId, sides: [ExprId; 2], is_vanishing: &dyn Fn(ExprId) -> bool) {
        let inside = work.model.exprs.postorder(&sides);
        if !inside.iter().any(|&id| is_vanishing(id) && self.holds_check(work, id)) {
            return;
        }
        let condition = active(work, eq);
        let mut open: Vec<Place> = sides.into_iter().map(|side| (side, condition, false)).collect();
        while let Some((id, condition, is_lost)) = open.pop() {
            let is_lost = is_lost || is_vanishing(id);
            if self.places.len() >= MOST_PLACES || !self.places.insert((id, condition, is_lost)) {
                continue;
            }
            let exprs = &mut work.model.exprs;
            let node = exprs.node(id);
            match node {
                Node::If { condition: choice, then, otherwise } => {
                    let other = exprs.not(choice);
                    let also =
                        |exprs: &mut dae::Exprs, inner| Some(condition.map_or(inner, |outer| exprs.and(outer, inner)));
                    let (then_too, otherwise_too) = (also(exprs, choice), also(exprs, other));
                    open.extend([
                        (choice, condition, is_lost),
                        (then, then_too, is_lost),
                        (otherwise, otherwise_too, is_lost),
                    ]);
                }
                _ => exprs.for_each_child(id, |child| open.push((child, condition, is_lost))),
            }
            if is_lost && let Node::Call { .. } = node {
                self.assert(work, eq, id, condition);
            }
        }
    }

    fn holds_check(&mut self, work: &mut Work, product: ExprId) -> bool {
        let calls = work.model.exprs.postorder(&[product]);
        calls.into_iter().any(|id| match work.model.exprs.node(id) {
            Node::Call { site, .. } => self.checking(work, site).is_some(),
            _ => false,
        })
    }

    fn assert(&mut self, work: &mut Work, eq: EqId, call: ExprId, condition: Option<ExprId>) {
        // What only the vanishing term differentiates has no derivative.
        let is_moving = |node: Node| matches!(node, Node::Der(_));
        if work.model.exprs.any(call, is_moving) || !self.seen.insert((condition, call)) {
            return;
        }
        let Node::Call { site, args, .. } = work.model.exprs.node(call) else { return };
        let Some(checking) = self.checking(work, site) else { return };
        let exprs = &mut work.model.exprs;
        let inputs = exprs.call_site(site).inputs.clone();
        let site = exprs.site(CallSite { function: checking, inputs, outputs: vec![Shape::Scalar] });
        let holds = exprs.intern(Node::Call { site, args, output: 0 });
        let message = exprs.string("an assertion fails");
        let origin = work.model.equations[eq].origin.clone();
        let kind = ActionKind::Assert { holds, message, warning: false };
        work.model.actions.push(Action { kind, condition, origin });
    }

    /// The function that makes the call of a site for its assertions alone. What is given functions may check what these do.
    fn checking(&mut self, work: &mut Work, site: CallSiteId) -> Option<FunctionId> {
        let CallSite { function, inputs, .. } = work.model.exprs.call_site(site);
        let (function, takes_functions) =
            (*function, inputs.iter().any(|shape| matches!(shape, Shape::Function { .. })));
        if let Some(&known) = self.functions.get(&function) {
            return known;
        }
        let functions = &mut work.model.functions;
        let found = effects(functions, vec![function]);
        let is_due = (found.checks || takes_functions) && !found.impure;
        let made = if is_due { add_checking(functions, function) } else { None };
        self.functions.insert(function, made);
        made
    }
}

/// When an equation counts; `None`: always.
fn active(work: &mut Work, eq: EqId) -> Option<ExprId> {
    let EquationRole::When(clause) = &work.model.equations[eq].role else { return None };
    let conditions = clause.conditions.clone();
    let exprs = &mut work.model.exprs;
    let mut any = exprs.boolean(false);
    for condition in conditions {
        let rising = exprs.rising(condition);
        any = exprs.or(any, rising);
    }
    Some(any)
}
