//! The equations of states (17.3.4 to 17.3.6): they hold while the state is active; otherwise its variables keep their
//! values. `previous(x)` of a variable of a state that is reset is its start value. What several states say about an
//! `outer output` variable becomes one equation.

use base::{Diagnostic, Id, Name, Span};
use dae::{
    Action, ActionKind, Builtin, EqId, Equation, EquationRole, ExprId, Exprs, Memo, Node, Origin, OriginKind, PathId,
    VarId, Variability, VariableType,
};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::ast;

use super::machines::{Machines, StateId};
use super::matching;
use super::semantics::{element, outside, sampled_time};
use crate::elaborate::Elaborator;
use crate::flat::{Indices, for_each_index};
use crate::instance::{ComponentType, Frame, Outcome};
use crate::parts::Part;
use crate::symbolic::{Expander, Mode};
use crate::typing::{Place, Typer};

pub(super) struct Translation<'t> {
    pub elaborator: &'t mut Elaborator,
    pub machines: Machines,
    parts: &'t [Part],
    paths: &'t [Vec<PathId>],
    /// Variables that are inner and outer, and what they stand for.
    aliases: FxHashMap<VarId, VarId>,
    /// The state in which a variable is declared.
    owner: Vec<Option<StateId>>,
}

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub state: Option<StateId>,
    /// The state whose ticks and time count, and whether it is asked before it is known that it stays active.
    pub counted: Option<(StateId, bool)>,
}

/// Lets all equations and actions of states hold only while these are active.
pub(super) fn translate(translation: &mut Translation) {
    let mut of_state: Vec<Vec<EqId>> = vec![Vec::new(); translation.machines.states.len()];
    for id in translation.elaborator.flat.model.equations.ids().collect::<Vec<_>>() {
        let Equation { left, right, origin, .. } = translation.elaborator.flat.model.equations[id].clone();
        let state = translation.state_of(origin.component);
        let scope = Scope { state, counted: state.map(|state| (state, false)) };
        let sides = translation.rewrite(scope, &[left, right], origin.span);
        let equation = &mut translation.elaborator.flat.model.equations[id];
        (equation.left, equation.right) = (sides[0], sides[1]);
        if let Some(state) = state {
            of_state[state].push(id);
        }
    }
    translation.actions();
    if translation.machines.is_empty() {
        return;
    }
    let unknowns = Unknowns::new(translation);
    let mut merge = Merge::default();
    for (state, equations) in of_state.iter().enumerate() {
        translation.state(state, equations, &unknowns, &mut merge);
    }
    translation.merged(merge);
    for (&alias, &variable) in &translation.aliases.clone() {
        let exprs = &mut translation.elaborator.flat.model.exprs;
        let (left, right) = (exprs.var(alias), exprs.var(variable));
        let path = translation.elaborator.flat.model.variables[alias].path;
        let span = translation.elaborator.flat.model.variables[alias].span;
        translation.equation(left, right, path, span);
    }
}

/// What states say about variables of the blocks around them.
#[derive(Default)]
struct Merge {
    order: Vec<VarId>,
    parts: FxHashMap<VarId, Vec<(StateId, ExprId, Origin)>>,
    /// Equations that are not needed any more.
    removed: FxHashSet<EqId>,
}

/// What equations of states may determine.
struct Unknowns {
    /// By state, the variables of blocks around it that it declares as `outer output`.
    outer: Vec<FxHashSet<VarId>>,
    /// Those of all states.
    merged: FxHashSet<VarId>,
    /// Inputs of states, which are determined outside of these.
    inputs: FxHashSet<VarId>,
}

impl Unknowns {
    fn new(translation: &mut Translation) -> Self {
        let mut outer = vec![FxHashSet::default(); translation.machines.states.len()];
        for number in 0..translation.parts.len() {
            let part = &translation.parts[number];
            let ComponentType::Class(class) = part.ty else { continue };
            let mut elements = Vec::new();
            for_each_index(&part.sizes, |indices| elements.push(Indices::from_slice(indices)));
            for (indices, path) in elements.into_iter().zip(&translation.paths[number]) {
                let Some(state) = translation.state_of(*path) else { continue };
                let frame = Frame { class, indices };
                outer[state].extend(translation.outer_outputs(&frame));
            }
        }
        let merged = outer.iter().flatten().copied().collect();
        Unknowns { outer, merged, inputs: translation.state_inputs() }
    }

    fn contains(&self, translation: &Translation, state: StateId, variable: VarId) -> bool {
        if self.outer[state].contains(&variable) {
            return true;
        }
        let declared = &translation.elaborator.flat.model.variables[variable];
        if declared.variability <= Variability::Parameter || self.merged.contains(&variable) {
            return false;
        }
        let Some(owner) = translation.owner(variable) else { return false };
        match self.inputs.contains(&variable) {
            true => translation.machines.around(owner) == Some(state),
            false => owner == state,
        }
    }
}

impl<'t> Translation<'t> {
    pub fn new(
        elaborator: &'t mut Elaborator,
        machines: Machines,
        parts: &'t [Part],
        paths: &'t [Vec<PathId>],
    ) -> Self {
        let model = &elaborator.flat.model;
        let owner = model.variables.values().map(|v| machines.state_of(&model.paths, v.path)).collect();
        Self { elaborator, machines, parts, paths, aliases: FxHashMap::default(), owner }
    }

    fn owner(&self, variable: VarId) -> Option<StateId> {
        self.owner.get(variable.index()).copied().flatten()
    }

    fn state_of(&self, path: PathId) -> Option<StateId> {
        self.machines.state_of(&self.elaborator.flat.model.paths, path)
    }

    /// An element of a state that is inner and outer is the outer one, also for what is below (17.3.7).
    pub fn find_aliases(&mut self) {
        for part in self.parts {
            let prefixes = self.elaborator.instances.component(part.component).prefixes;
            let is_variable = matches!(part.ty, ComponentType::Builtin { .. });
            if !(prefixes.inner && prefixes.outer && is_variable)
                || self.elaborator.instances.binding(part.component).is_some()
            {
                continue;
            }
            let Ok(target) = self.elaborator.instances.resolve_outer(part.component) else { continue };
            let parent = self.elaborator.instances.component(target).parent;
            let above = self.elaborator.instances.rank_above(parent);
            let flat = &self.elaborator.flat;
            for_each_index(&part.sizes, |indices| {
                let own = indices.len() - part.rank;
                let outer: Indices = indices[..above.min(own)].iter().chain(&indices[own..]).copied().collect();
                if let (Some(alias), Some(variable)) =
                    (flat.variable(part.component, indices), flat.variable(target, &outer))
                    && self.owner.get(alias.index()).copied().flatten().is_some()
                    && alias != variable
                {
                    self.aliases.insert(alias, variable);
                }
            });
        }
        // What is inner and outer at several levels is the outermost.
        for alias in self.aliases.keys().copied().collect::<Vec<_>>() {
            let mut target = alias;
            while let Some(&next) = self.aliases.get(&target) {
                target = next;
            }
            self.aliases.insert(alias, target);
        }
    }

    /// The variables that the class of a frame declares as `outer output`.
    fn outer_outputs(&mut self, frame: &Frame) -> Vec<VarId> {
        let mut found = Vec::new();
        for component in self.elaborator.instances.components_of(frame.class) {
            let node = self.elaborator.instances.component(component);
            let (name, span) = (node.name, node.declaration.name.span);
            if !node.prefixes.outer || self.elaborator.instances.direction(component) != ast::Direction::Output {
                continue;
            }
            if let Ok(scalars) = self.scalars(frame, name, span) {
                found.extend(scalars);
            }
        }
        found.iter().map(|variable| self.aliases.get(variable).copied().unwrap_or(*variable)).collect()
    }

    /// The scalar variables that a name stands for.
    fn scalars(&mut self, frame: &Frame, name: Name, span: Span) -> Outcome<Vec<VarId>> {
        let part = ast::RefPart { ident: ast::Ident { name, span }, subscripts: Vec::new() };
        let reference = ast::ComponentRef { global: false, parts: vec![part], span };
        let text = ast::Expr { kind: ast::ExprKind::Ref(reference), span };
        let typed = Typer::new(self.elaborator, frame.class, Place::Model).expr(&text);
        let value = Expander::new(self.elaborator, frame.clone(), Mode::Flat).expand(&typed)?;
        let exprs = &self.elaborator.flat.model.exprs;
        let variable = |id: ExprId| match exprs.node(id) {
            Node::Var(variable) => Some(variable),
            _ => None,
        };
        Ok(value.scalars().into_iter().filter_map(variable).collect())
    }

    /// The inputs of states: variables of theirs, or of connectors of theirs, that are determined outside.
    fn state_inputs(&mut self) -> FxHashSet<VarId> {
        let mut inputs = FxHashSet::default();
        for part in self.parts {
            let is_input = self.elaborator.instances.direction(part.component) == ast::Direction::Input;
            let (true, ComponentType::Builtin { .. }) = (is_input, &part.ty) else { continue };
            let mut levels = 1;
            let mut above = part.parent.and_then(|parent| self.parts.get(parent));
            while let Some(part) = above
                && crate::connect::collect::is_connector(self.elaborator, part.component).unwrap_or(false)
            {
                levels += 1;
                above = part.parent.and_then(|parent| self.parts.get(parent));
            }
            let Some(scalars) = self.elaborator.flat.scalars.get(&part.component) else { continue };
            let model = &self.elaborator.flat.model;
            for &variable in scalars.variables.iter().flatten() {
                let mut path = Some(model.variables[variable].path);
                for _ in 0..levels {
                    path = path.and_then(|path| model.paths.parent(path));
                }
                if path.is_some_and(|path| self.machines.by_path.contains_key(&path)) {
                    inputs.insert(variable);
                }
            }
        }
        inputs
    }

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

    fn exprs_mut(&mut self) -> &mut Exprs {
        &mut self.elaborator.flat.model.exprs
    }

    /// `previous(x)`; the start value where the state that `x` belongs to is reset.
    fn previous(&mut self, state: Option<StateId>, variable: VarId) -> ExprId {
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

    fn start(&mut self, variable: VarId) -> ExprId {
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

    /// Actions of states happen while these are active.
    fn actions(&mut self) {
        let mut actions = std::mem::take(&mut self.elaborator.flat.model.actions);
        for action in &mut actions {
            let state = self.state_of(action.origin.component);
            let scope = Scope { state, counted: state.map(|state| (state, false)) };
            let span = action.origin.span;
            let map = |this: &mut Self, id: &mut ExprId| *id = this.rewrite(scope, &[*id], span)[0];
            if let Some(condition) = &mut action.condition {
                map(self, condition);
            }
            match &mut action.kind {
                ActionKind::Reinit { value, .. } => map(self, value),
                ActionKind::Assert { holds, message, .. } => {
                    map(self, holds);
                    map(self, message);
                }
                ActionKind::Terminate { message } => map(self, message),
                ActionKind::Call(call) => map(self, call),
            }
            if let Some(state) = state {
                let active = self.machines.states[state].active;
                let exprs = self.exprs_mut();
                let active = exprs.var(active);
                action.condition = Some(action.condition.map_or(active, |condition| exprs.and(active, condition)));
            }
        }
        self.elaborator.flat.model.actions = actions;
    }

    /// The equations of one state.
    fn state(&mut self, state: StateId, equations: &[EqId], unknowns: &Unknowns, merge: &mut Merge) {
        let equations: Vec<EqId> = equations.iter().copied().filter(|&id| self.is_guarded(id)).collect();
        let integrated: FxHashSet<VarId> = {
            let model = &self.elaborator.flat.model;
            let sides: Vec<ExprId> =
                equations.iter().flat_map(|&id| [model.equations[id].left, model.equations[id].right]).collect();
            model.exprs.dependencies(&sides).derivatives.into_iter().collect()
        };
        let targets = self.targets(state, &equations, unknowns, &integrated);
        for (&id, target) in equations.iter().zip(targets) {
            let outcome = match target {
                Some(unknown) => self.guard(state, id, unknown, unknowns, merge),
                None => Err(self.no_unknown(state, id)),
            };
            if let Err(diagnostic) = outcome {
                self.elaborator.report(diagnostic);
            }
        }
        for variable in integrated {
            if self.owner(variable) == Some(state) {
                self.suspend(state, variable);
            }
        }
    }

    /// Equations between clocks hold whatever is active; those of when clauses on events have no place in a state.
    fn is_guarded(&mut self, id: EqId) -> bool {
        let model = &self.elaborator.flat.model;
        let equation = &model.equations[id];
        if let EquationRole::When(_) = equation.role {
            let mut diagnostic = Diagnostic::error("event-in-state", "a state cannot react to events")
                .hint("use `when Clock() then`, or ask for the condition at each tick")
                .specification("17.1");
            if let Some(span) = equation.origin.span {
                diagnostic = diagnostic.at(span, "a when clause of continuous time");
            }
            self.elaborator.report(diagnostic);
            return false;
        }
        let is_clock = |side| match model.exprs.node(side) {
            Node::Var(v) => model.variables[v].ty == VariableType::Clock,
            _ => false,
        };
        !is_clock(equation.left) && !is_clock(equation.right)
    }

    /// The unknown that each equation determines: a variable, or the derivative of one that is integrated.
    fn targets(
        &self,
        state: StateId,
        equations: &[EqId],
        unknowns: &Unknowns,
        integrated: &FxHashSet<VarId>,
    ) -> Vec<Option<ExprId>> {
        let model = &self.elaborator.flat.model;
        let mut columns: FxHashMap<ExprId, usize> = FxHashMap::default();
        let mut all = Vec::new();
        let mut rows = Vec::with_capacity(equations.len());
        let mut first = vec![None; equations.len()];
        let mut taken = FxHashSet::default();
        for (row, &id) in equations.iter().enumerate() {
            let Equation { left, right, origin, .. } = &model.equations[id];
            // A declaration equation determines its variable, also an input.
            let declared = match (model.exprs.node(*left), &origin.kind) {
                (Node::Var(v), OriginKind::Binding) if self.owner(v) == Some(state) => Some(*left),
                _ => None,
            };
            let found = model.exprs.dependencies(&[*left, *right]);
            let plain = found.variables.iter().filter(|v| !integrated.contains(v)).map(|&v| Node::Var(v));
            let derivatives = found.derivatives.iter().map(|&v| Node::Der(v));
            let mut list = Vec::new();
            for node in plain.chain(derivatives) {
                let (Node::Var(v) | Node::Der(v)) = node else { continue };
                let Some(unknown) = model.exprs.find(node) else { continue };
                if Some(unknown) != declared && (declared.is_some() || !unknowns.contains(self, state, v)) {
                    continue;
                }
                let column = *columns.entry(unknown).or_insert_with(|| {
                    all.push(unknown);
                    all.len() - 1
                });
                list.push(column);
            }
            let is_alias = matches!(model.exprs.node(*right), Node::Var(_)) && declared.is_none();
            if let (false, Some(&column)) = (is_alias, columns.get(left))
                && list.contains(&column)
                && taken.insert(column)
            {
                first[row] = Some(column);
            }
            rows.push(list);
        }
        let assigned = matching::assign(&rows, first, all.len());
        assigned.into_iter().map(|column| column.map(|column| all[column])).collect()
    }

    fn no_unknown(&self, state: StateId, id: EqId) -> Diagnostic {
        let model = &self.elaborator.flat.model;
        let name = model.paths.text(self.machines.states[state].path);
        let message = format!("an equation of the state `{name}` determines none of its variables");
        let diagnostic = Diagnostic::error("state-equation", message)
            .hint("a variable of a block around the state is assigned where it is declared `outer output`")
            .specification("17.3.5");
        match model.equations[id].origin.span {
            Some(span) => diagnostic.at(span, "this equation is not needed, or has no unknown"),
            None => diagnostic,
        }
    }

    /// Lets an equation hold only while its state is active, or leaves it to be merged.
    fn guard(
        &mut self,
        state: StateId,
        id: EqId,
        unknown: ExprId,
        unknowns: &Unknowns,
        merge: &mut Merge,
    ) -> Result<(), Diagnostic> {
        let Equation { left, right, origin, .. } = self.elaborator.flat.model.equations[id].clone();
        let solved = self.solved(left, right, unknown);
        let node = self.elaborator.flat.model.exprs.node(unknown);
        if let Node::Var(v) = node
            && unknowns.outer[state].contains(&v)
        {
            let Some(value) = solved else { return Err(self.unsolved(v, &origin)) };
            if !merge.parts.contains_key(&v) {
                merge.order.push(v);
            }
            merge.parts.entry(v).or_default().push((state, value, origin));
            merge.removed.insert(id);
            return Ok(());
        }
        let kept = match node {
            Node::Var(v) => self.exprs_mut().previous(v),
            _ => self.exprs_mut().real(0.0),
        };
        if let (Node::Var(v), None) = (node, solved)
            && self.elaborator.flat.model.variables[v].ty != VariableType::Real
        {
            return Err(self.unsolved(v, &origin));
        }
        let active = self.machines.states[state].active;
        let exprs = self.exprs_mut();
        let active = exprs.var(active);
        let (left, right) = match solved {
            Some(value) => (unknown, exprs.if_(active, value, kept)),
            None => {
                let (residual, change) = (exprs.sub(left, right), exprs.sub(unknown, kept));
                (exprs.if_(active, residual, change), exprs.real(0.0))
            }
        };
        let equation = &mut self.elaborator.flat.model.equations[id];
        (equation.left, equation.right, equation.role) = (left, right, EquationRole::Plain);
        Ok(())
    }

    fn solved(&mut self, left: ExprId, right: ExprId, unknown: ExprId) -> Option<ExprId> {
        let model = &mut self.elaborator.flat.model;
        if left == unknown && !model.exprs.contains(right, unknown) {
            return Some(right);
        }
        if right == unknown && !model.exprs.contains(left, unknown) {
            return Some(left);
        }
        let variables = &model.variables;
        let number = match model.exprs.node(unknown) {
            Node::Var(v) | Node::Der(v) => variables[v].ty == VariableType::Real,
            _ => false,
        };
        let parameter = |v: VarId| variables[v].variability <= Variability::Parameter;
        let solution = number.then(|| model.exprs.solve_for(left, right, unknown, &model.functions, parameter))?;
        solution.map(|solution| solution.value)
    }

    fn unsolved(&self, variable: VarId, origin: &Origin) -> Diagnostic {
        let name = self.elaborator.flat.model.variable_name(variable);
        let diagnostic = Diagnostic::error(
            "state-equation",
            format!("the equation for `{name}` cannot be solved for it, which a state needs"),
        )
        .hint(format!("write it as `{name} = …`"))
        .specification("17.3.5");
        match origin.span {
            Some(span) => diagnostic.at(span, ""),
            None => diagnostic,
        }
    }

    /// A variable that is integrated keeps its value while its state is not active, and begins anew when it is reset.
    fn suspend(&mut self, state: StateId, variable: VarId) {
        let (reset, start) = (self.reset(state), self.start(variable));
        let known = &self.machines.states[state];
        let (active, component, span) = (known.active, known.path, known.span);
        let exprs = self.exprs_mut();
        let (active, reset, before) = (exprs.var(active), exprs.var(reset), exprs.previous(variable));
        let suspended = exprs.not(active);
        let origin = Origin { component, span: Some(span), kind: OriginKind::Auxiliary };
        for (condition, value) in [(suspended, before), (reset, start)] {
            let kind = ActionKind::Reinit { state: variable, value };
            let action = Action { kind, condition: Some(condition), origin: origin.clone() };
            self.elaborator.flat.model.actions.push(action);
        }
    }

    /// One equation for each variable that states assign (17.3.5).
    fn merged(&mut self, mut merge: Merge) {
        for variable in merge.order {
            let parts = merge.parts.remove(&variable).unwrap_or_default();
            if let Err(diagnostic) = self.check_exclusive(variable, &parts) {
                self.elaborator.report(diagnostic);
            }
            let mut value = self.previous(self.owner(variable), variable);
            for &(state, part, _) in parts.iter().rev() {
                let active = self.machines.states[state].active;
                let exprs = self.exprs_mut();
                let active = exprs.var(active);
                value = exprs.if_(active, part, value);
            }
            let left = self.exprs_mut().var(variable);
            let Some((_, _, origin)) = parts.into_iter().next() else { continue };
            let equation = Equation { left, right: value, role: EquationRole::Plain, origin };
            self.elaborator.flat.model.equations.push(equation);
        }
        let equations = std::mem::take(&mut self.elaborator.flat.model.equations);
        for (id, equation) in equations.iter() {
            if !merge.removed.contains(&id) {
                self.elaborator.flat.model.equations.push(equation.clone());
            }
        }
    }

    /// At one tick only one state assigns a variable.
    fn check_exclusive(&self, variable: VarId, parts: &[(StateId, ExprId, Origin)]) -> Result<(), Diagnostic> {
        for (number, (a, _, first)) in parts.iter().enumerate() {
            for (b, _, second) in &parts[..number] {
                if self.machines.are_exclusive(*a, *b) {
                    continue;
                }
                let model = &self.elaborator.flat.model;
                let name = |state: StateId| model.paths.text(self.machines.states[state].path);
                let mut diagnostic = Diagnostic::error(
                    "parallel-assignment",
                    format!(
                        "`{}` is assigned in `{}` and in `{}`, which can be active at the same tick",
                        model.variable_name(variable),
                        name(*b),
                        name(*a)
                    ),
                )
                .hint("only states of one machine exclude each other")
                .specification("17.3.5");
                for span in [second.span, first.span].into_iter().flatten() {
                    diagnostic = diagnostic.at(span, "assigned here");
                }
                return Err(diagnostic);
            }
        }
        Ok(())
    }
}
