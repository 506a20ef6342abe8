//! Event-free expressions where something discrete is decided by them.
//!
//! Between events a Boolean or Integer variable keeps its value, and so does the structure of a model. What decides about them
//! must therefore make an event when it changes, also where nobody wrote a relation: `sign(x)` and functions make none
//! (specification 3.7.2, 8.5). Such an expression is followed: relations and roundings in it make events, and the truth of
//! what cannot be looked into is a crossing function by itself. A relation between values that change in steps, such as
//! `sign(x) > 0`, makes none: its residue would rest at zero. Its operands do.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::{Builtin, CompareOp, ExprId, Exprs, Node};
use crate::model::{EquationRole, Model, VarId, Variability, Variable, VariableType};
use crate::scalar_type::ScalarType;

/// Which variables change at events only.
pub struct Follower {
    discrete: FxHashSet<VarId>,
}

impl Follower {
    /// For the expressions of a model.
    pub fn new(model: &Model) -> Self {
        let is_discrete =
            |variable: &Variable| variable.ty != VariableType::Real || variable.variability <= Variability::Discrete;
        let declared = model.variables.iter().filter(|(_, variable)| is_discrete(variable)).map(|(id, _)| id);
        let assigned =
            model.equations.values().filter_map(|equation| match (&equation.role, model.exprs.node(equation.left)) {
                (EquationRole::When(_), Node::Var(variable)) => Some(variable),
                _ => None,
            });
        Self { discrete: declared.chain(assigned).collect() }
    }

    /// Counts Real variables that are computed from what changes at events only.
    pub fn with_steps(mut self, model: &Model) -> Self {
        loop {
            let before = self.discrete.len();
            for equation in model.equations.values().filter(|equation| !matches!(equation.role, EquationRole::When(_)))
            {
                for (side, other) in [(equation.left, equation.right), (equation.right, equation.left)] {
                    if let Node::Var(variable) = model.exprs.node(side)
                        && !self.discrete.contains(&variable)
                        && !self.varies(&model.exprs, other)
                    {
                        self.discrete.insert(variable);
                    }
                }
            }
            if self.discrete.len() == before {
                return self;
            }
        }
    }

    /// The variable changes at events only.
    pub fn changes_at_events(&self, variable: VarId) -> bool {
        self.discrete.contains(&variable)
    }

    /// The expression with an event wherever it changes. `Err`: one of those below it that must not be followed.
    pub fn followed(
        &self,
        model: &mut Model,
        root: ExprId,
        is_refused: impl Fn(ExprId) -> bool,
    ) -> Result<ExprId, ExprId> {
        if !self.varies_without_event(model, root) {
            return Ok(root);
        }
        if let Some(refused) = self.find_exposed(model, root, is_refused) {
            return Err(refused);
        }
        let mut made: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let mut stack = vec![(root, false)];
        while let Some((id, operands_done)) = stack.pop() {
            if made.contains_key(&id) {
                continue;
            }
            if !operands_done {
                stack.push((id, true));
                stack.extend(self.exposed(model, id).into_iter().map(|operand| (operand, false)));
                continue;
            }
            let new = self.follow(model, id, &made);
            made.insert(id, new);
        }
        Ok(made.get(&root).copied().unwrap_or(root))
    }

    /// The relations that make events although their operands change in steps without any, and what they are followed by.
    pub fn relations_between_steps(&self, model: &mut Model) -> FxHashMap<ExprId, ExprId> {
        let ids: Vec<ExprId> = model.exprs.ids().collect();
        let mut found = FxHashMap::default();
        for id in ids {
            let Node::Compare { event: true, left, right, .. } = model.exprs.node(id) else { continue };
            if (self.varies(&model.exprs, left) || self.varies(&model.exprs, right))
                && !self.exposed(model, id).is_empty()
                && let Ok(followed) = self.followed(model, id, |_| false)
            {
                found.insert(id, followed);
            }
        }
        found
    }

    /// Something that is refused and decides about the value by itself: not as an operand of a relation.
    fn find_exposed(&self, model: &Model, root: ExprId, is_refused: impl Fn(ExprId) -> bool) -> Option<ExprId> {
        let mut open = vec![root];
        let mut seen = FxHashSet::default();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            if is_refused(id) && self.varies(&model.exprs, id) {
                return Some(id);
            }
            if !matches!(model.exprs.node(id), Node::Compare { .. }) {
                open.extend(self.exposed(model, id));
            }
        }
        None
    }

    /// Whether something that decides about the value changes between events.
    fn varies_without_event(&self, model: &Model, root: ExprId) -> bool {
        let exprs = &model.exprs;
        let mut open = vec![root];
        let mut seen = FxHashSet::default();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let below = self.exposed(model, id);
            if below.is_empty() && !matches!(exprs.node(id), Node::Var(_)) && self.varies(exprs, id) {
                return true;
            }
            open.extend(below);
        }
        false
    }

    /// One expression over operands that are followed.
    fn follow(&self, model: &mut Model, id: ExprId, made: &FxHashMap<ExprId, ExprId>) -> ExprId {
        let is_number = !matches!(model.scalar_type(id), ScalarType::Other);
        let is_exposing = !self.exposed(model, id).is_empty();
        let exprs = &mut model.exprs;
        let node = exprs.node(id);
        if is_exposing {
            let node = exprs.with_children(node, |child| made.get(&child).copied().unwrap_or(child));
            return match node {
                Node::Compare { op, left, right, .. } => exprs.compare(op, false, left, right),
                node => exprs.make(node),
            };
        }
        if matches!(node, Node::Var(_)) || !self.varies(exprs, id) {
            return id;
        }
        match node {
            Node::Compare { op, left, right, .. } => exprs.compare(op, true, left, right),
            Node::Builtin(op, args) => {
                let args = exprs.arguments(args).to_vec();
                match (op, args.as_slice()) {
                    (Builtin::Sign, &[x]) => sign(exprs, x),
                    (Builtin::Floor, _) => exprs.builtin(Builtin::FloorEvent, &args),
                    (Builtin::Ceil, _) => exprs.builtin(Builtin::CeilEvent, &args),
                    (Builtin::Div, _) => exprs.builtin(Builtin::DivEvent, &args),
                    _ => id,
                }
            }
            Node::Call { .. } if is_number => {
                // Its values lie in the middle of what rounds to them.
                let half = exprs.real(0.5);
                let above = exprs.add(id, half);
                exprs.builtin(Builtin::FloorEvent, &[above])
            }
            Node::Call { .. } => truth(exprs, id),
            _ => id,
        }
    }

    /// Whether the value changes between events.
    pub fn varies(&self, exprs: &Exprs, root: ExprId) -> bool {
        let mut open = vec![root];
        let mut seen = FxHashSet::default();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match exprs.node(id) {
                Node::Time | Node::Der(_) => return true,
                Node::Var(variable) if !self.discrete.contains(&variable) => return true,
                Node::Compare { event: true, .. } => {}
                Node::Builtin(op, args) => match op {
                    Builtin::FloorEvent | Builtin::CeilEvent | Builtin::DivEvent | Builtin::Sample => {}
                    Builtin::Delay | Builtin::SpatialFirst | Builtin::SpatialSecond => return true,
                    _ => open.extend(exprs.arguments(args)),
                },
                _ => exprs.for_each_child(id, |child| open.push(child)),
            }
        }
        false
    }

    /// The operands that decide about a value that changes in steps, where they do so themselves.
    fn exposed(&self, model: &Model, id: ExprId) -> Vec<ExprId> {
        let exprs = &model.exprs;
        match exprs.node(id) {
            Node::And(a, b) | Node::Or(a, b) | Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) => vec![a, b],
            Node::Not(a) | Node::Neg(a) => vec![a],
            // What is looked at in one instant only need not be followed.
            Node::If { condition, otherwise, .. } if is_momentary(exprs, condition) => vec![otherwise],
            Node::If { condition, then, otherwise } => vec![condition, then, otherwise],
            Node::Builtin(Builtin::Min | Builtin::Max | Builtin::Abs, args) => exprs.arguments(args).to_vec(),
            Node::Compare { left, right, .. } if self.is_stepped(model, left) && self.is_stepped(model, right) => {
                vec![left, right]
            }
            _ => Vec::new(),
        }
    }

    /// Whether a value changes in steps.
    fn is_stepped(&self, model: &Model, root: ExprId) -> bool {
        let mut open = vec![root];
        let mut seen = FxHashSet::default();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match model.exprs.node(id) {
                Node::And(..) | Node::Or(..) | Node::Not(_) | Node::Compare { .. } => {}
                Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) => open.extend([a, b]),
                Node::Neg(a) => open.push(a),
                Node::If { then, otherwise, .. } => open.extend([then, otherwise]),
                Node::Builtin(Builtin::Sign | Builtin::Floor | Builtin::Ceil | Builtin::Div, _) => {}
                Node::Builtin(Builtin::Min | Builtin::Max | Builtin::Abs, args) => {
                    open.extend(model.exprs.arguments(args));
                }
                Node::Call { .. } if !matches!(model.scalar_type(id), ScalarType::Real) => {}
                _ if self.varies(&model.exprs, id) => return false,
                _ => {}
            }
        }
        true
    }
}

/// Whether a condition is true at instants only, as that of a when clause.
fn is_momentary(exprs: &Exprs, condition: ExprId) -> bool {
    const DEEPEST: usize = 32;
    fn below(exprs: &Exprs, condition: ExprId, depth: usize) -> bool {
        let is_edge = |now: ExprId, not_before: ExprId| match (exprs.node(now), exprs.node(not_before)) {
            (Node::Var(now), Node::Not(before)) => matches!(exprs.node(before), Node::Pre(of) if of == now),
            _ => false,
        };
        match exprs.node(condition) {
            _ if depth == DEEPEST => false,
            Node::And(a, b) if is_edge(a, b) || is_edge(b, a) => true,
            Node::And(a, b) => below(exprs, a, depth + 1) || below(exprs, b, depth + 1),
            Node::Or(a, b) => below(exprs, a, depth + 1) && below(exprs, b, depth + 1),
            Node::Builtin(Builtin::Sample | Builtin::Initial | Builtin::Terminal, _) => true,
            _ => false,
        }
    }
    below(exprs, condition, 0)
}

/// `if x > 0 then 1 elseif x < 0 then -1 else 0`.
fn sign(exprs: &mut Exprs, x: ExprId) -> ExprId {
    let zero = exprs.real(0.0);
    let [minus, none, plus] = [-1, 0, 1].map(|value| exprs.int(value));
    let above = exprs.compare(CompareOp::Greater, true, x, zero);
    let below = exprs.compare(CompareOp::Less, true, x, zero);
    let otherwise = exprs.if_(below, minus, none);
    exprs.if_(above, plus, otherwise)
}

/// A relation that has the truth of an expression: a crossing function that jumps.
fn truth(exprs: &mut Exprs, id: ExprId) -> ExprId {
    let [minus, zero, plus] = [-1.0, 0.0, 1.0].map(|value| exprs.real(value));
    let value = exprs.if_(id, plus, minus);
    exprs.compare(CompareOp::Greater, true, value, zero)
}
