//! The equations of states (17.3.4 to 17.3.6): they hold while the state is active; otherwise its variables keep their
//! values. What several states say about an `outer output` variable becomes one equation.

use base::{Diagnostic, Id};
use dae::{
    Action, ActionKind, Builtin, EqId, Equation, EquationRole, ExprId, Exprs, Functions, Node, Origin, OriginKind,
    PathId, Pivot, VarId, Variability, VariableType,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::machines::{Machines, StateId};
use super::matching;
use super::unknowns::Unknowns;
use crate::elaborate::Elaborator;
use crate::parts::Part;

pub(super) struct Translation<'t> {
    pub elaborator: &'t mut Elaborator,
    pub machines: Machines,
    pub parts: &'t [Part],
    pub paths: &'t [Vec<PathId>],
    /// Variables that are inner and outer, and what they stand for.
    pub aliases: FxHashMap<VarId, VarId>,
    /// The state in which a variable is declared.
    pub owner: Vec<Option<StateId>>,
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
    parts: FxHashMap<VarId, Vec<Assigned>>,
    /// Equations that are not needed any more.
    removed: FxHashSet<EqId>,
}

/// What an equation of a state says about a variable of a block around it.
struct Assigned {
    state: StateId,
    says: Says,
    origin: Origin,
}

#[derive(Clone, Copy)]
enum Says {
    Value(ExprId),
    /// What has to be zero, where the equation cannot be solved for the variable.
    Residual(ExprId),
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

    pub fn owner(&self, variable: VarId) -> Option<StateId> {
        self.owner.get(variable.index()).copied().flatten()
    }

    pub fn state_of(&self, path: PathId) -> Option<StateId> {
        self.machines.state_of(&self.elaborator.flat.model.paths, path)
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
            let says = match solved {
                Some(value) => Says::Value(value),
                None => Says::Residual(self.residual(v, left, right).ok_or_else(|| self.unsolved(v, &origin))?),
            };
            if !merge.parts.contains_key(&v) {
                merge.order.push(v);
            }
            merge.parts.entry(v).or_default().push(Assigned { state, says, origin });
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
            Some(value) => (unknown, chosen(exprs, active, value, kept)),
            None => {
                let (residual, change) = (exprs.sub(left, right), exprs.sub(unknown, kept));
                (exprs.if_(active, residual, change), exprs.real(0.0))
            }
        };
        let equation = &mut self.elaborator.flat.model.equations[id];
        (equation.left, equation.right, equation.role) = (left, right, EquationRole::Plain);
        Ok(())
    }

    /// What has to be zero where a Real variable is the unknown of an equation that cannot be solved for it.
    fn residual(&mut self, variable: VarId, left: ExprId, right: ExprId) -> Option<ExprId> {
        let model = &mut self.elaborator.flat.model;
        let is_tied = |node: Node| matches!(node, Node::Builtin(Builtin::SampleClocked, _));
        let is_tied = [left, right].into_iter().any(|side| model.exprs.any(side, is_tied));
        (model.variables[variable].ty == VariableType::Real && !is_tied).then(|| model.exprs.sub(left, right))
    }

    /// An annotation `inverse` is not used here: nothing is known yet that it could be tried with.
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
        let solution = number.then(|| model.exprs.solve_for(left, right, unknown, &Functions::default(), parameter))?;
        solution.filter(|solution| !matches!(solution.pivot, Pivot::MayVanish(_))).map(|solution| solution.value)
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
            let is_solved = parts.iter().all(|part| matches!(part.says, Says::Value(_)));
            let unknown = self.exprs_mut().var(variable);
            let kept = self.previous(self.owner(variable), variable);
            let of_solution = |exprs: &mut Exprs, value| if is_solved { value } else { exprs.sub(unknown, value) };
            let mut right = of_solution(self.exprs_mut(), kept);
            for part in parts.iter().rev() {
                let active = self.machines.states[part.state].active;
                let exprs = self.exprs_mut();
                let active = exprs.var(active);
                let says = match part.says {
                    Says::Value(value) => of_solution(exprs, value),
                    Says::Residual(residual) => residual,
                };
                right = chosen(exprs, active, says, right);
            }
            let left = if is_solved { unknown } else { self.exprs_mut().real(0.0) };
            let Some(Assigned { origin, .. }) = parts.into_iter().next() else { continue };
            let equation = Equation { left, right, role: EquationRole::Plain, origin };
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
    fn check_exclusive(&self, variable: VarId, parts: &[Assigned]) -> Result<(), Diagnostic> {
        for (number, Assigned { state: a, origin: first, .. }) in parts.iter().enumerate() {
            for Assigned { state: b, origin: second, .. } in &parts[..number] {
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

/// `if active then value else kept`; what ties a value to a clocked when clause ties the whole.
fn chosen(exprs: &mut Exprs, active: ExprId, value: ExprId, kept: ExprId) -> ExprId {
    if let Node::Builtin(Builtin::SampleClocked, args) = exprs.node(value)
        && let [value, clock, clause] = *exprs.arguments(args)
    {
        let choice = exprs.if_(active, value, kept);
        return exprs.builtin(Builtin::SampleClocked, &[choice, clock, clause]);
    }
    exprs.if_(active, value, kept)
}
