//! The equations of a machine: which transition fires, which state is active, what is reset (17.3.1 to 17.3.4, the model
//! `StateMachineSemantics`).
//!
//! A machine at the top is always active and is reset at the first tick; one inside a state is active and reset with it.
//! A condition of an immediate transition is asked before it is known whether its state stays active. There
//! `ticksInState`, `timeInState` and, for `synchronize`, the states of the machines inside are what they are if it stays.
//! The specification's `nextReset` never becomes true and is left out.

use std::sync::Arc;

use base::{Diagnostic, Name, Span};
use dae::{
    Attributes, Builtin, CompareOp, Equation, EquationRole, ExprId, Exprs, Node, Origin, OriginKind, PathId, VarId,
    Variability, Variable, VariableType,
};

use rustc_hash::{FxHashMap, FxHashSet};

use super::machines::{Machine, StateId, Transition};
use super::states::{self, Scope, Translation};
use crate::elaborate::Elaborator;
use crate::instance::Outcome;
use crate::parts::Part;
use crate::symbolic::{Expander, Mode};
use crate::typing::{Context, Typer};

/// The variables of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Variables {
    /// The component of which they are elements.
    pub path: PathId,
    /// The position of the active state, from 1; of a suspended machine that of the state it would be in.
    pub active_state: VarId,
    /// Where it goes on at the next tick; the same as `active_state` for a machine that is never suspended.
    pub next_state: VarId,
    /// The number of the transition that fires, from 1; 0 if none does.
    pub fired: VarId,
    /// The number of the delayed transition that fires at the next tick, where there are such.
    pub delayed: Option<VarId>,
}

impl Variables {
    /// The variables of the machine that begins in the state at `initial`, inside of the state `parent`.
    pub fn new(
        elaborator: &mut Elaborator,
        initial: PathId,
        parent: Option<StateId>,
        transitions: &[Transition],
    ) -> Self {
        let paths = &mut elaborator.flat.model.paths;
        let above = paths.parent(initial).unwrap_or(initial);
        let name = Name::new(&format!("$machineOf_{}", paths.name(initial)));
        let subscripts = paths.subscripts(initial).to_vec();
        let path = paths.child(above, name, &subscripts);
        let one = elaborator.flat.model.exprs.int(1);
        let mut make = |name: &str, start| element(elaborator, path, name, VariableType::Integer, start);
        let active_state = make("activeState", Some(one));
        let next_state = if parent.is_some() { make("nextState", Some(one)) } else { active_state };
        let fired = make("fired", None);
        let some_wait = transitions.iter().any(|transition| !transition.options.immediate);
        Variables { path, active_state, next_state, fired, delayed: some_wait.then(|| make("delayed", None)) }
    }
}

/// A variable that is not in the text, as an element of a component.
pub(super) fn element(
    elaborator: &mut Elaborator,
    parent: PathId,
    name: &str,
    ty: VariableType,
    start: Option<ExprId>,
) -> VarId {
    let path = elaborator.flat.model.paths.child(parent, Name::new(name), &[]);
    variable(elaborator, path, ty, start)
}

fn variable(elaborator: &mut Elaborator, path: PathId, ty: VariableType, start: Option<ExprId>) -> VarId {
    let attributes = Arc::new(Attributes { start, ..Attributes::default() });
    let variable = Variable { attributes, ..Variable::hidden(path, ty, Variability::Discrete) };
    elaborator.flat.model.variables.push(variable)
}

/// Makes clocked equations of the state machines, when all equations of the model are expanded.
pub(crate) fn translate(elaborator: &mut Elaborator, parts: &[Part], paths: &[Vec<PathId>]) {
    let counts = |node| matches!(node, Node::Builtin(Builtin::TicksInState | Builtin::TimeInState, _));
    let exprs = &elaborator.flat.model.exprs;
    if elaborator.machines.is_empty() && !exprs.ids().any(|id| counts(exprs.node(id))) {
        return;
    }
    let machines = std::mem::take(&mut elaborator.machines);
    let mut translation = Translation::new(elaborator, machines, parts, paths);
    translation.find_aliases();
    for machine in 0..translation.machines.machines.len() {
        translation.conditions(machine);
    }
    states::translate(&mut translation);
    // What a machine inside a state asks of that state is made before the machine of the state.
    for machine in (0..translation.machines.machines.len()).rev() {
        translation.machine(machine);
    }
    translation.warn_of_loops();
}

impl Translation<'_> {
    /// Expands the conditions of the transitions of a machine.
    fn conditions(&mut self, machine: usize) {
        for number in 0..self.machines.machines[machine].transitions.len() {
            match self.condition(machine, number) {
                Ok(value) => self.machines.machines[machine].transitions[number].value = Some(value),
                Err(diagnostic) => self.elaborator.instances.report(diagnostic),
            }
        }
    }

    fn condition(&mut self, machine: usize, number: usize) -> Outcome<ExprId> {
        let Machine { states, transitions, parent, .. } = &self.machines.machines[machine];
        let (transition, parent) = (transitions[number].clone(), *parent);
        let from = states[transition.from];
        let before = self.elaborator.error_count();
        let typed =
            Typer::new(self.elaborator, transition.frame.class, Context::Model).condition(&transition.condition);
        if self.elaborator.error_count() > before {
            return Ok(self.exprs().boolean(false));
        }
        let mut expander = Expander::new(self.elaborator, transition.frame, Mode::Flat);
        expander.path = transition.path;
        let value = expander.scalar(&typed)?;
        let options = transition.options;
        let scope = Scope { state: parent, counted: Some((from, options.immediate)) };
        let value = self.rewrite(scope, &[value], Some(transition.span))[0];
        if !options.synchronize {
            return Ok(value);
        }
        let finished = self.has_finished(from, options.immediate);
        Ok(self.exprs().and(value, finished))
    }

    /// Whether all machines inside a state are in states that no transition leaves.
    fn has_finished(&mut self, state: StateId, before: bool) -> ExprId {
        let exprs = &mut self.elaborator.flat.model.exprs;
        let mut all = exprs.boolean(true);
        for machine in self.machines.machines.iter().filter(|machine| machine.parent == Some(state)) {
            let now = match before {
                true => exprs.previous(machine.variables.next_state),
                false => exprs.var(machine.variables.active_state),
            };
            let mut any = exprs.boolean(false);
            for position in 0..machine.states.len() {
                if machine.transitions.iter().all(|transition| transition.from != position) {
                    let here = is(exprs, now, position);
                    any = exprs.or(any, here);
                }
            }
            all = exprs.and(all, any);
        }
        all
    }

    fn exprs(&mut self) -> &mut Exprs {
        &mut self.elaborator.flat.model.exprs
    }

    /// The equations of one machine.
    fn machine(&mut self, number: usize) {
        let machine = self.machines.machines[number].clone();
        let Variables { path, active_state, next_state, fired, delayed } = machine.variables;
        let span = self.machines.states[machine.states[0]].span;
        let (active, reset) = self.inputs(&machine);
        let exprs = self.exprs();
        let (first, before) = (exprs.int(1), exprs.previous(next_state));
        let selected = exprs.if_(reset, first, before);
        let now = exprs.var(active_state);
        let next = exprs.var(next_state);
        let immediate = firing(exprs, &machine, true, selected);
        let mut fires = immediate;
        if let Some(delayed) = delayed {
            let (waits, later, earlier) =
                (exprs.var(delayed), firing(exprs, &machine, false, next), exprs.previous(delayed));
            fires = match exprs.is_zero(immediate) {
                true => earlier,
                false => exprs.builtin(Builtin::Max, &[earlier, immediate]),
            };
            self.equation(waits, later, path, span);
        }
        let exprs = self.exprs();
        let firing = exprs.var(fired);
        let mut target = before;
        for (at, transition) in machine.transitions.iter().enumerate() {
            let (this, to) = (is(exprs, firing, at), exprs.int(transition.to as i64 + 1));
            target = exprs.if_(this, to, target);
        }
        let target = exprs.if_(reset, first, target);
        self.equation(firing, fires, path, span);
        self.equation(now, target, path, span);
        if next_state != active_state {
            let exprs = self.exprs();
            let kept = exprs.if_(active, now, before);
            self.equation(next, kept, path, span);
        }
        self.activity(&machine, active, reset);
    }

    /// Conditions of immediate transitions that depend on what their machine decides at the same tick: such a loop need
    /// not have a solution.
    fn warn_of_loops(&mut self) {
        let model = &self.elaborator.flat.model;
        let mut dependents: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
        for equation in model.equations.values() {
            if let Node::Var(determined) = model.exprs.node(equation.left) {
                for used in model.exprs.dependencies(&[equation.right]).variables {
                    dependents.entry(used).or_default().push(determined);
                }
            }
        }
        let mut warnings = Vec::new();
        for machine in &self.machines.machines {
            let mut reached = FxHashSet::from_iter([machine.variables.active_state]);
            let mut queue = vec![machine.variables.active_state];
            while let Some(variable) = queue.pop() {
                let next = dependents.get(&variable).into_iter().flatten();
                queue.extend(next.copied().filter(|&variable| reached.insert(variable)));
            }
            for transition in machine.transitions.iter().filter(|transition| transition.options.immediate) {
                let used = transition.value.map(|value| model.exprs.dependencies(&[value]).variables);
                if let Some(variable) = used.into_iter().flatten().find(|variable| reached.contains(variable)) {
                    warnings.push(loop_warning(&model.variable_name(variable), transition.span));
                }
            }
        }
        warnings.into_iter().for_each(|warning| self.elaborator.report(warning));
    }

    /// Whether a machine is active, and whether it is reset.
    fn inputs(&mut self, machine: &Machine) -> (ExprId, ExprId) {
        match machine.parent {
            Some(parent) => {
                let reset = self.reset(parent);
                let exprs = &mut self.elaborator.flat.model.exprs;
                (exprs.var(self.machines.states[parent].active), exprs.var(reset))
            }
            None => (self.exprs().boolean(true), self.exprs().builtin(Builtin::FirstTick, &[])),
        }
    }

    /// Which states are active, and which are reset (17.3.2): at once by the transition that fires, or when they become
    /// active the next time after a reset of the machine.
    fn activity(&mut self, machine: &Machine, active: ExprId, reset: ExprId) {
        let path = machine.variables.path;
        for (position, &state) in machine.states.iter().enumerate() {
            let known = self.machines.states[state].clone();
            let exprs = &mut self.elaborator.flat.model.exprs;
            let now = exprs.var(machine.variables.active_state);
            let here = is(exprs, now, position);
            let (left, value) = (exprs.var(known.active), exprs.and(active, here));
            self.equation(left, value, known.path, known.span);
            if let Some(flag) = known.reset {
                let name = Name::new("resetPending");
                let at = self.elaborator.flat.model.paths.child(path, name, &[position as u32 + 1]);
                let pending = variable(self.elaborator, at, VariableType::Boolean, None);
                let exprs = &mut self.elaborator.flat.model.exprs;
                let before = exprs.previous(pending);
                let due = exprs.or(reset, before);
                let elsewhere = exprs.not(here);
                let waiting = exprs.and(elsewhere, due);
                let (left, waiting) = (exprs.var(pending), exprs.if_(active, waiting, before));
                let mut by_transition = exprs.boolean(false);
                for (at, transition) in machine.transitions.iter().enumerate() {
                    if transition.options.reset && transition.to == position {
                        let firing = exprs.var(machine.variables.fired);
                        let this = is(exprs, firing, at);
                        by_transition = exprs.or(by_transition, this);
                    }
                }
                let any = exprs.or(due, by_transition);
                let (is_active, flag) = (exprs.var(known.active), exprs.var(flag));
                let value = exprs.and(is_active, any);
                self.equation(left, waiting, path, known.span);
                self.equation(flag, value, known.path, known.span);
            }
            self.counters(machine, state);
        }
    }

    /// How long a state is active.
    fn counters(&mut self, machine: &Machine, state: StateId) {
        let known = self.machines.states[state].clone();
        if known.ticks.is_none() && known.entry.is_none() {
            return;
        }
        let restarted = self.restarted(machine, state);
        let exprs = &mut self.elaborator.flat.model.exprs;
        let active = exprs.var(known.active);
        let stays = exprs.not(restarted);
        let stays = exprs.and(active, stays);
        if let Some(ticks) = known.ticks {
            let exprs = &mut self.elaborator.flat.model.exprs;
            let (left, before, one, zero) = (exprs.var(ticks), exprs.previous(ticks), exprs.int(1), exprs.int(0));
            let more = exprs.add(before, one);
            let other = exprs.if_(active, one, zero);
            let value = exprs.if_(stays, more, other);
            self.equation(left, value, known.path, known.span);
        }
        if let Some(entry) = known.entry {
            let exprs = &mut self.elaborator.flat.model.exprs;
            let (left, before) = (exprs.var(entry), exprs.previous(entry));
            let now = sampled_time(exprs);
            let value = exprs.if_(stays, before, now);
            self.equation(left, value, known.path, known.span);
        }
    }

    /// Whether an active state became so at this tick, or a transition led to it or to a state around it.
    fn restarted(&mut self, machine: &Machine, state: StateId) -> ExprId {
        let exprs = &mut self.elaborator.flat.model.exprs;
        let was = exprs.previous(self.machines.states[state].active);
        let mut any = exprs.not(was);
        let mut inside = Some(machine);
        while let Some(machine) = inside {
            let (firing, zero) = (exprs.var(machine.variables.fired), exprs.int(0));
            let fires = exprs.compare(CompareOp::Greater, false, firing, zero);
            any = exprs.or(any, fires);
            inside = machine.parent.map(|parent| &self.machines.machines[self.machines.states[parent].machine]);
        }
        any
    }

    pub(super) fn equation(&mut self, left: ExprId, right: ExprId, component: PathId, span: impl Into<Option<Span>>) {
        let origin = Origin { component, span: span.into(), kind: OriginKind::Auxiliary };
        self.elaborator.flat.model.equations.push(Equation { left, right, role: EquationRole::Plain, origin });
    }
}

/// `value == position + 1`.
fn is(exprs: &mut Exprs, value: ExprId, position: usize) -> ExprId {
    let number = exprs.int(position as i64 + 1);
    exprs.compare(CompareOp::Equal, false, value, number)
}

/// The number of the transition of the highest priority that fires from the state at position `state`, or 0.
fn firing(exprs: &mut Exprs, machine: &Machine, immediate: bool, state: ExprId) -> ExprId {
    let mut result = exprs.int(0);
    for (at, transition) in machine.transitions.iter().enumerate() {
        let (true, Some(condition)) = (transition.options.immediate == immediate, transition.value) else { continue };
        let (from, number) = (is(exprs, state, transition.from), exprs.int(at as i64 + 1));
        let fires = exprs.and(from, condition);
        result = exprs.if_(fires, number, result);
    }
    result
}

/// `sample(time)`: the time of the tick.
pub(super) fn sampled_time(exprs: &mut Exprs) -> ExprId {
    let time = exprs.time();
    exprs.builtin(Builtin::SampleClocked, &[time])
}

fn loop_warning(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        "immediate-loop",
        format!("the transition depends on `{name}`, which depends on whether it fires at the same tick"),
    )
    .at(span, "an immediate transition")
    .hint(format!("give it `immediate = false`, or use `previous({name})`"))
    .specification("17.3.1")
}

/// `ticksInState` or `timeInState` where there is no state.
pub(super) fn outside(span: Option<Span>, name: &str) -> Diagnostic {
    let message = format!("`{name}` can only be used in a state machine");
    let diagnostic = Diagnostic::error("outside-of-states", message)
        .hint("use it in a block that is a state, or in the condition of a transition")
        .specification("17.1");
    match span {
        Some(span) => diagnostic.at(span, "no state is active here"),
        None => diagnostic,
    }
}
