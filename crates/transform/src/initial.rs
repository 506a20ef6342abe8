//! The initial problem (specification 8.6): all variables, and parameters with `fixed = false`, from the equations that
//! hold at all times, the initial equations and the fixed start values.
//!
//! At initialisation a when clause is inactive unless `initial()` is its condition: what it assigns keeps its `pre` value,
//! so `pre(v)` and `v` are one unknown there. `pre` of any other discrete variable is its start value if that is fixed, else
//! an unknown of its own. Conditions that are missing are taken from start values, those of states first; conditions that
//! the others imply are kept to be checked.

use base::{Diagnostic, IdVec, Name, Severity};
use dae::{
    Builtin, EqId, Equation, EquationRole, ExprId, Exprs, Memo, Node, Origin, OriginKind, StateSelect, VarId,
    Variability, VariableType,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::blocks;
use crate::decisions::Subject;
use crate::linearity::Level;
use crate::output;
use crate::parameters::{self, start_value};
use crate::parts::{Assignment, Block, InitialCheck, Problem, Role, Sides, StateSet, Timing};
use crate::structure::Matching;
use crate::structure::dulmage::circuit;
use crate::structure::matching::Search;
use crate::system::System;
use crate::work::{Work, map_action};

pub fn problem(work: &mut Work, sets: &[StateSet]) -> Result<(Vec<Block>, Vec<InitialCheck>), Vec<Diagnostic>> {
    let rows = Rows::collect(work, sets);
    let mut equations = rows.equations.clone();
    let mut sides = rows.sides.clone();
    let first_condition = equations.len();
    for (eq, pair) in rows.conditions.iter().chain(&rows.completions) {
        equations.push(*eq);
        sides.push(*pair);
    }
    let system = System::new(work, Problem::Initial, equations, sides, |v| is_unknown(work, v));
    let (matching, redundant, used) = match_rows(&system, first_condition, rows.conditions.len());
    let open: Vec<VarId> = matching.unmatched_columns().map(|column| system.columns[column as usize]).collect();
    if !open.is_empty() || redundant.iter().any(|&row| (row as usize) < first_condition) {
        return Err(crate::singular::report_initial(work, &system, &matching, &open));
    }
    let implied: Vec<(u32, Vec<u32>)> =
        redundant.iter().map(|&row| (row, circuit(&system.matchable, &matching, row))).collect();
    note_completions(work, &system, &used[first_condition + rows.conditions.len()..]);
    let kept: Vec<u32> = (0..used.len() as u32).filter(|&row| used[row as usize]).collect();
    let rows_of: Vec<(EqId, Sides)> = system.rows.iter().copied().zip(system.sides.iter().copied()).collect();
    let system = system.with_rows(&kept);
    let mut selected = Matching::empty(kept.len(), system.columns.len());
    for (new, &old) in kept.iter().enumerate() {
        selected.assign(new as u32, matching.column_of_row[old as usize]);
    }
    let checks: Vec<(Block, InitialCheck)> =
        implied.into_iter().map(|(row, by)| check(work, &rows_of, row, &by)).collect();
    let mut levels: IdVec<VarId, Level> = work.model.variables.ids().map(|v| initial_level(work, v)).collect();
    let mut blocks = blocks::make(work, Problem::Initial, &system, &selected, &mut levels)?;
    for block in &mut blocks {
        output::set_timing(block, Timing::Continuous);
    }
    let (check_blocks, checks): (Vec<Block>, Vec<InitialCheck>) = checks.into_iter().unzip();
    blocks.extend(check_blocks);
    Ok((blocks, checks))
}

/// A condition that others imply, and the block that computes by how much it is violated.
fn check(work: &mut Work, rows: &[(EqId, Sides)], row: u32, implied_by: &[u32]) -> (Block, InitialCheck) {
    let (equation, (left, right)) = rows[row as usize];
    let root = work.model.paths.root();
    let path = work.model.paths.child(root, Name::new("initialCheck"), &[row + 1]);
    let residual = work.add_variable(path, VariableType::Real, Role::Algebraic);
    let value = work.model.exprs.sub(left, right);
    let assignment = Assignment { variable: residual, value, equation: Some(equation) };
    let is_lasting = implied_by.iter().chain([&row]).all(|&row| is_lasting(work, rows[row as usize]));
    let implied_by = implied_by.iter().filter(|&&other| other != row).map(|&other| rows[other as usize].0).collect();
    let check = InitialCheck { equation, residual, implied_by, is_lasting };
    (Block::Assign { assignment, timing: Timing::Continuous }, check)
}

/// Whether a row says the same in every mode, whatever relations are.
fn is_lasting(work: &Work, (equation, (left, right)): (EqId, Sides)) -> bool {
    let exprs = &work.model.exprs;
    let mut origin = equation;
    while let OriginKind::Derivative(of) = work.model.equations[origin].origin.kind {
        origin = of;
    }
    let is_decided = work.modes.touched.as_ref().is_some_and(|touched| touched.contains(&origin));
    let branches = |id: &ExprId| matches!(exprs.node(*id), Node::If { .. });
    let is_discrete = |variable: &VarId| work.is_discrete(*variable);
    !is_decided
        && !exprs.postorder(&[left, right]).iter().any(branches)
        && !exprs.dependencies(&[left, right]).variables.iter().any(is_discrete)
}

fn is_unknown(work: &Work, variable: VarId) -> bool {
    match work.roles[variable] {
        Role::Algebraic | Role::Discrete | Role::State { .. } => true,
        Role::Parameter | Role::Constant => work.parameters.free[variable],
        Role::Input | Role::Alias { .. } => false,
    }
}

fn initial_level(work: &Work, variable: VarId) -> Level {
    if work.is_parameter(variable) && !work.parameters.free[variable] { Level::Parameter } else { Level::Continuous }
}

/// The rows of the initial problem in the order in which they are matched.
struct Rows {
    /// What must be used: the equations that hold at all times, bindings of parameters that depend on unknown ones.
    equations: Vec<EqId>,
    sides: Vec<Sides>,
    /// Initial equations and fixed start values.
    conditions: Vec<(EqId, Sides)>,
    /// Start values that are used if something is missing, best first.
    completions: Vec<(EqId, Sides)>,
}

impl Rows {
    fn collect(work: &mut Work, sets: &[StateSet]) -> Self {
        let mut form = InitialForm::new(work);
        let mut rows =
            Rows { equations: Vec::new(), sides: Vec::new(), conditions: Vec::new(), completions: Vec::new() };
        for eq in [&work.active[..], &work.constraints].concat() {
            if let Some(sides) = form.equation(work, eq) {
                rows.equations.push(eq);
                rows.sides.push(sides);
            }
        }
        rows.bindings(work);
        rows.initial_equations(work, &mut form);
        form.actions(work);
        rows.fixed_starts(work, &form);
        rows.complete(work, &form, sets);
        rows
    }

    fn bindings(&mut self, work: &mut Work) {
        for variable in work.model.variables.ids() {
            if !work.parameters.free[variable] {
                continue;
            }
            if let Some(binding) = work.model.variables[variable].binding {
                let (eq, sides) = condition(work, variable, binding, OriginKind::Binding);
                self.equations.push(eq);
                self.sides.push(sides);
            }
        }
    }

    fn initial_equations(&mut self, work: &mut Work, form: &mut InitialForm) {
        for equation in std::mem::take(&mut work.model.initial_equations) {
            work.model.initial_equations.push(equation.clone());
            let sides = form.rewrite(work, (equation.left, equation.right));
            let eq = work.model.equations.push(equation);
            work.dynamic.push(sides);
            self.conditions.push((eq, sides));
        }
    }

    fn fixed_starts(&mut self, work: &mut Work, form: &InitialForm) {
        for variable in work.model.variables.ids() {
            let Some(left) = has_own_start(work, form, variable) else { continue };
            if is_fixed(work, variable) {
                let start = start_value(work, variable);
                let (eq, (_, right)) = condition(work, variable, start, OriginKind::StartValue(variable));
                self.conditions.push((eq, (left, right)));
            }
        }
    }

    /// What whens hold first; then states, the ones most wanted as such first; then free parameters. A start value that is
    /// written counts more than one that is missing, also where it is that of a variable that was wanted as a state and is
    /// computed from one (specification 8.6.2).
    fn complete(&mut self, work: &mut Work, form: &InitialForm, sets: &[StateSet]) {
        // The user knows the candidates of exchangeable states, not the variables made for them.
        let exchanged: FxHashSet<VarId> = sets.iter().flat_map(|set| set.states.iter().copied()).collect();
        let natural: FxHashSet<VarId> = sets.iter().flat_map(|set| set.candidates.iter().copied()).collect();
        let first = begin_with(work, sets);
        let mut candidates = Vec::new();
        for variable in work.model.variables.ids() {
            // A fixed start value is a condition already; twice, it would seem to determine a parameter that it depends on.
            if is_fixed(work, variable) && has_own_start(work, form, variable).is_some() {
                continue;
            }
            let attributes = &work.model.variables[variable].attributes;
            let kind = match work.roles[variable] {
                Role::Discrete if form.held.contains_key(&variable) => 0,
                Role::State { .. } if exchanged.contains(&variable) => continue,
                Role::State { .. } => 1,
                Role::Algebraic if is_wished(work, variable) => 1,
                _ if natural.contains(&variable) => 1,
                Role::Parameter | Role::Constant
                    if work.parameters.free[variable] && work.model.variables[variable].binding.is_none() =>
                {
                    2
                }
                _ => continue,
            };
            let is_derivative = work.model.variables[variable].derivative_of.is_some();
            let is_open = natural.contains(&variable) && !first.contains(&variable);
            let wish = std::cmp::Reverse((
                work.wanted_as_state(variable).max(StateSelect::Default),
                attributes.start.is_some(),
            ));
            let follows = work.roles[variable] == Role::Algebraic;
            candidates.push((kind, is_open, wish, follows, is_derivative, variable));
            // The user knows what is in a differentiated expression, not the variable made for it.
            for known in known_parts(work, variable) {
                let wish = std::cmp::Reverse((work.wanted_as_state(known).max(StateSelect::Default), true));
                candidates.push((kind, is_open, wish, true, is_derivative, known));
            }
        }
        for &(limit, variable) in &form.unknown_limits {
            let start = start_value(work, variable);
            self.completions.push(condition(work, limit, start, OriginKind::StartValue(variable)));
        }
        candidates.sort_unstable();
        for (.., variable) in candidates {
            let start = start_value(work, variable);
            self.completions.push(condition(work, variable, start, OriginKind::StartValue(variable)));
        }
    }
}

/// Whether a variable was wanted as a state and has a start value.
fn is_wished(work: &Work, variable: VarId) -> bool {
    let declared = &work.model.variables[variable];
    declared.ty == VariableType::Real
        && declared.attributes.start.is_some()
        && work.wanted_as_state(variable) >= StateSelect::Prefer
}

/// The variables with start values in the expression that a hidden state stands for.
fn known_parts(work: &Work, state: VarId) -> Vec<VarId> {
    let declared = &work.model.variables[state];
    if !declared.hidden || declared.derivative_of.is_some() || declared.attributes.start.is_some() {
        return Vec::new();
    }
    let defines = |equation: &&Equation| {
        matches!(equation.origin.kind, OriginKind::Auxiliary)
            && matches!(work.model.exprs.node(equation.left), Node::Var(own) if own == state)
    };
    let Some(equation) = work.model.equations.values().find(defines) else { return Vec::new() };
    let is_known = |variable: &VarId| {
        matches!(work.roles[*variable], Role::Algebraic) && work.model.variables[*variable].attributes.start.is_some()
    };
    work.model.exprs.dependencies(&[equation.right]).variables.into_iter().filter(is_known).collect()
}

/// What a continuous variable, or one that is equal to its left limit, is called in the equations, unless another one has
/// taken over its start value. One that turned out to be constant is among them: its fixed start value has to be that
/// constant.
fn has_own_start(work: &mut Work, form: &InitialForm, variable: VarId) -> Option<ExprId> {
    let turned_out_constant = work.model.variables[variable].variability == Variability::Continuous
        && work.model.variables[variable].ty == VariableType::Real;
    match work.roles[variable] {
        Role::Algebraic | Role::State { .. } => {}
        Role::Discrete if form.held.contains_key(&variable) => {}
        Role::Constant | Role::Parameter if turned_out_constant => {}
        Role::Alias { of, negated }
            if turned_out_constant && work.model.variables[of].variability <= Variability::Parameter =>
        {
            let value = work.model.exprs.var(of);
            return Some(crate::aliases::signed(&mut work.model.exprs, value, negated, false));
        }
        _ => return None,
    }
    Some(work.model.exprs.var(variable))
}

/// The candidates that are states at the beginning.
fn begin_with(work: &Work, sets: &[StateSet]) -> FxHashSet<VarId> {
    let is_one = |variable: VarId| {
        let start = work.model.variables[variable].attributes.start;
        start.is_some_and(|start| work.model.exprs.as_integer(start) == Some(1))
    };
    let mut first = FxHashSet::default();
    for set in sets {
        for row in &set.selection {
            first.extend(row.iter().zip(&set.candidates).filter(|(factor, _)| is_one(**factor)).map(|(_, &c)| c));
        }
    }
    first
}

fn is_fixed(work: &mut Work, variable: VarId) -> bool {
    let Some(fixed) = work.model.variables[variable].attributes.fixed else { return false };
    if let Some(value) = work.model.exprs.as_boolean(fixed) {
        return value;
    }
    let values = &work.values;
    let value = work.model.exprs.substitute(&[fixed], &mut work.value_memo, |v| values[v])[0];
    let truth = work.model.exprs.as_boolean(value);
    if let Some(truth) = truth {
        let span = work.model.variables[variable].span;
        work.note_truth(fixed, truth, Subject::Start, span);
    }
    truth.unwrap_or(false)
}

/// Adds `variable = value` to the model.
fn condition(work: &mut Work, variable: VarId, value: ExprId, kind: OriginKind) -> (EqId, Sides) {
    let left = work.model.exprs.var(variable);
    let declared = &work.model.variables[variable];
    let component = work.model.paths.parent(declared.path).unwrap_or(work.model.paths.root());
    let origin = Origin { component, span: declared.span, kind };
    let eq = work.model.equations.push(Equation { left, right: value, role: EquationRole::Plain, origin });
    work.dynamic.push((left, value));
    (eq, (left, value))
}

/// How equations read at initialisation.
struct InitialForm {
    /// Their `pre(v)` is `v`.
    held: FxHashMap<VarId, EqId>,
    /// What stands for the `pre` values of other discrete variables.
    left_limits: FxHashMap<VarId, ExprId>,
    /// Those of them that are unknown: the variable made for it, and whose start value it takes if nothing else says.
    unknown_limits: Vec<(VarId, VarId)>,
    memo: Memo,
}

impl InitialForm {
    fn new(work: &mut Work) -> Self {
        let held = held(work);
        Self { held, left_limits: FxHashMap::default(), unknown_limits: Vec::new(), memo: Memo::default() }
    }

    /// The value of `pre(v)`.
    fn left_limit(&mut self, work: &mut Work, variable: VarId) -> ExprId {
        if self.held.contains_key(&variable) || !work.is_discrete(variable) {
            return work.model.exprs.var(variable);
        }
        if let Some(&known) = self.left_limits.get(&variable) {
            return known;
        }
        let value = if is_fixed(work, variable) {
            start_value(work, variable)
        } else {
            let number = self.unknown_limits.len() as u32 + 1;
            let path = work.model.paths.child(work.model.paths.root(), Name::new("initialPre"), &[number]);
            let limit = work.add_variable(path, work.model.variables[variable].ty, Role::Discrete);
            work.model.variables[limit].variability = Variability::Discrete;
            self.unknown_limits.push((limit, variable));
            work.model.exprs.var(limit)
        };
        self.left_limits.insert(variable, value);
        value
    }

    /// `None` for an equation that says nothing at initialisation.
    fn equation(&mut self, work: &mut Work, eq: EqId) -> Option<Sides> {
        let Equation { left, right, .. } = work.model.equations[eq];
        match work.model.exprs.node(left) {
            Node::Var(variable) if self.held.get(&variable) == Some(&eq) => None,
            _ => Some(self.rewrite(work, (left, right))),
        }
    }

    /// What happens at initialisation sees the left limits of the initial problem.
    fn actions(&mut self, work: &mut Work) {
        let mut actions = std::mem::take(&mut work.model.initial_actions);
        for action in &mut actions {
            map_action(work, action, |work, expr| self.rewrite(work, (expr, expr)).0);
        }
        work.model.initial_actions = actions;
    }

    fn rewrite(&mut self, work: &mut Work, (left, right): Sides) -> Sides {
        let left_limits: FxHashMap<VarId, ExprId> = work
            .model
            .exprs
            .dependencies(&[left, right])
            .pre
            .into_iter()
            .map(|variable| (variable, self.left_limit(work, variable)))
            .collect();
        let new = work.model.exprs.rewrite(&[left, right], &mut self.memo, |exprs, id, node| match node {
            Node::Builtin(Builtin::Initial, _) => exprs.boolean(true),
            Node::Pre(v) => left_limits.get(&v).copied().unwrap_or(id),
            node => exprs.make(node),
        });
        (new[0], new[1])
    }
}

/// Variables that an inactive when clause assigns, with the equation of which is left `v = pre(v)` at initialisation.
pub fn held(work: &mut Work) -> FxHashMap<VarId, EqId> {
    let mut held = FxHashMap::default();
    let mut memo = Memo::default();
    for index in 0..work.active.len() {
        let eq = work.active[index];
        let Equation { left, right, .. } = work.model.equations[eq];
        if let Node::Var(variable) = work.model.exprs.node(left)
            && work.is_discrete(variable)
            && let pre = work.model.exprs.pre(variable)
            && at_start(&mut work.model.exprs, right, &mut memo) == pre
        {
            held.insert(variable, eq);
        }
    }
    held
}

/// How an expression reads at initialisation, but for left limits.
pub fn at_start(exprs: &mut Exprs, expr: ExprId, memo: &mut Memo) -> ExprId {
    exprs.rewrite(&[expr], memo, |exprs, _, node| match node {
        Node::Builtin(Builtin::Initial, _) => exprs.boolean(true),
        node => exprs.make(node),
    })[0]
}

/// Matches the equations, then the conditions one by one, then as many completions as are needed. Gives the rows that
/// remain unmatched without being completions, and which rows are used.
fn match_rows(system: &System, first_condition: usize, conditions: usize) -> (Matching, Vec<u32>, Vec<bool>) {
    let count = system.rows.len();
    let mut matching = Matching::empty(count, system.columns.len());
    let mut search = Search::new(&system.matchable);
    let mut redundant = matching.extend_rows(&mut search, (0..first_condition as u32).collect());
    let mut open = system.columns.len() - (first_condition - redundant.len());
    search.next_phase();
    for row in first_condition..count {
        let is_condition = row < first_condition + conditions;
        if open == 0 && !is_condition {
            break;
        }
        // A failed search leaves marks that stay true until something is matched.
        if matching.column_of_row[row] == crate::structure::NONE && search.augment(&mut matching, row as u32) {
            search.next_phase();
            open -= 1;
        } else if is_condition {
            redundant.push(row as u32);
        }
    }
    let used = matching.column_of_row.iter().map(|&column| column != crate::structure::NONE).collect();
    (matching, redundant, used)
}

/// Says which start values stand in for conditions that are missing: of states it is usual, of parameters that initial equations
/// were to determine it is not.
fn note_completions(work: &mut Work, system: &System, used: &[bool]) {
    let first = system.rows.len() - used.len();
    let taken = used.iter().enumerate().filter(|&(_, &is_used)| is_used);
    let variable = |(index, _): (usize, &bool)| match work.model.equations[system.rows[first + index]].origin.kind {
        OriginKind::StartValue(v) if work.model.variables[v].ty == VariableType::Real && !work.is_discrete(v) => {
            Some(v)
        }
        _ => None,
    };
    let (open, states): (Vec<VarId>, Vec<VarId>) = taken.filter_map(variable).partition(|&v| work.parameters.free[v]);
    let warnings = parameters::without_condition(work, &open);
    work.summary.notices.extend(warnings);
    let names: Vec<String> = states.iter().map(|&v| format!("`{}`", work.model.variable_name(v))).collect();
    if names.is_empty() {
        return;
    }
    let shown = 20.min(names.len());
    let more = if names.len() > shown { format!(" and {} more", names.len() - shown) } else { String::new() };
    let message =
        format!("initial conditions are missing; the start values of {}{more} are used", names[..shown].join(", "));
    work.summary.notices.push(
        Diagnostic::new(Severity::Note, "start-value-used", message)
            .hint("set `fixed = true` or write initial equations")
            .specification("8.6"),
    );
}
