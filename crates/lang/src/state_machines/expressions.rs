//! Expressions of states and transitions: `previous(x)` of a variable of a state that is reset is its start value, and
//! `ticksInState()` and `timeInState()` are variables (17.1, 17.3.3).

use base::Span;
use dae::{Builtin, Equation, ExprId, Exprs, Memo, Node, VarId, Variability, VariableType};
use rustc_hash::FxHashMap;

use super::machines::StateId;
use super::semantics::{element, outside, sampled_time};
use super::states::{Scope, Translation};

impl Translation<'_> {
    /// The variable that says whether a state is reset at a tick.
    pub fn reset(&mut self, state: StateId) -> VarId {
        if let Some(known) = self.machines.states[state].reset {
            return known;
        }
        let path = self.machines.states[state].path;
        let made = element(self.elaborator, path, "$reset", VariableType::Boolean, None);
        self.machines.states[state].reset = Some(made);
        made
    }

    fn ticks(&mut self, state: StateId) -> VarId {
        if let Some(known) = self.machines.states[state].ticks {
            return known;
        }
        let path = self.machines.states[state].path;
        let made = element(self.elaborator, path, "$ticksInState", VariableType::Integer, None);
        self.machines.states[state].ticks = Some(made);
        made
    }

    fn entry(&mut self, state: StateId) -> VarId {
        if let Some(known) = self.machines.states[state].entry {
            return known;
        }
        let path = self.machines.states[state].path;
        let made = element(self.elaborator, path, "$entry", VariableType::Real, None);
        self.machines.states[state].entry = Some(made);
        made
    }

    /// Expressions with what only makes sense in state machines written out.
    pub fn rewrite(&mut self, scope: Scope, roots: &[ExprId], span: Option<Span>) -> Vec<ExprId> {
        let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in self.elaborator.flat.model.exprs.postorder(roots) {
            let node = self.elaborator.flat.model.exprs.node(id);
            let new = match node {
                Node::Var(v) => self.aliases.get(&v).copied().map(|v| self.exprs_mut().var(v)),
                Node::Der(v) => self.aliases.get(&v).copied().map(|v| self.exprs_mut().der(v)),
                Node::Previous(v) => Some(self.previous(scope.state, v)),
                // The value with which a variable enters an algorithm.
                Node::Pre(v) if scope.state.is_some() => Some(self.previous(scope.state, v)),
                Node::Builtin(Builtin::TicksInState, _) => Some(self.ticks_in_state(scope, span)),
                Node::Builtin(Builtin::TimeInState, _) => Some(self.time_in_state(scope, span)),
                _ => None,
            };
            if let Some(new) = new {
                replaced.insert(id, new);
            }
        }
        if replaced.is_empty() {
            return roots.to_vec();
        }
        self.exprs_mut().rewrite(roots, &mut Memo::default(), |exprs, old, node| match replaced.get(&old) {
            Some(&new) => new,
            None => exprs.make(node),
        })
    }

    pub fn exprs_mut(&mut self) -> &mut Exprs {
        &mut self.elaborator.flat.model.exprs
    }

    /// `previous(x)`; the start value where the state that `x` belongs to is reset.
    pub fn previous(&mut self, state: Option<StateId>, variable: VarId) -> ExprId {
        let variable = self.aliases.get(&variable).copied().unwrap_or(variable);
        let before = self.exprs_mut().previous(variable);
        let (Some(state), Some(owner)) = (state, self.owner(variable)) else { return before };
        if !self.machines.is_inside(state, owner) {
            return before;
        }
        let reset = self.reset(owner);
        let start = self.start(variable);
        let exprs = self.exprs_mut();
        let reset = exprs.var(reset);
        exprs.if_(reset, start, before)
    }

    /// The start value of a variable; an initial equation may give it.
    pub fn start(&mut self, variable: VarId) -> ExprId {
        if let Some(value) = self.initial_value(variable) {
            return value;
        }
        let declared = &self.elaborator.flat.model.variables[variable];
        let (start, ty) = (declared.attributes.start, declared.ty);
        let exprs = self.exprs_mut();
        start.unwrap_or_else(|| match ty {
            VariableType::Boolean => exprs.boolean(false),
            VariableType::String => exprs.string(""),
            VariableType::Integer => exprs.int(0),
            VariableType::Enumeration(_) => exprs.int(1),
            _ => exprs.real(0.0),
        })
    }

    fn initial_value(&self, variable: VarId) -> Option<ExprId> {
        let model = &self.elaborator.flat.model;
        let unknown = model.exprs.find(Node::Var(variable))?;
        let value = |equation: &Equation| match equation {
            Equation { left, right, .. } if *left == unknown => Some(*right),
            Equation { left, right, .. } if *right == unknown => Some(*left),
            _ => None,
        };
        let is_known = |value: &ExprId| {
            let found = model.exprs.dependencies(&[*value]).variables;
            found.iter().all(|&v| model.variables[v].variability <= Variability::Parameter)
        };
        model.initial_equations.iter().filter_map(value).find(is_known)
    }

    fn ticks_in_state(&mut self, scope: Scope, span: Option<Span>) -> ExprId {
        let Some((state, before)) = scope.counted else {
            self.elaborator.report(outside(span, "ticksInState"));
            return self.exprs_mut().int(0);
        };
        let ticks = self.ticks(state);
        let exprs = self.exprs_mut();
        if !before {
            return exprs.var(ticks);
        }
        let (so_far, one) = (exprs.previous(ticks), exprs.int(1));
        exprs.add(so_far, one)
    }

    fn time_in_state(&mut self, scope: Scope, span: Option<Span>) -> ExprId {
        let Some((state, before)) = scope.counted else {
            self.elaborator.report(outside(span, "timeInState"));
            return self.exprs_mut().real(0.0);
        };
        let (entry, active) = (self.entry(state), self.machines.states[state].active);
        let exprs = self.exprs_mut();
        let now = sampled_time(exprs);
        if !before {
            let since = exprs.var(entry);
            return exprs.sub(now, since);
        }
        let (since, was, zero) = (exprs.previous(entry), exprs.previous(active), exprs.real(0.0));
        let so_far = exprs.sub(now, since);
        exprs.if_(was, so_far, zero)
    }
}
