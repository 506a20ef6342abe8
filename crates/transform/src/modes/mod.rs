//! Models whose structure changes during the run.
//!
//! A mode is one way to decide the structural conditions. It has equations of its own, so matching, index, states and
//! schedule belong to it; they are made when it is first asked for. Variables keep their ids from mode to mode. Each
//! condition is also an equation for a hidden Boolean, its monitor: that tells which mode comes next.

pub mod chains;
mod conditions;
mod determined;
pub mod difference;
mod factors;
pub mod numbers;
pub(crate) mod redundancy;
mod stem;

use std::sync::{Arc, Mutex, OnceLock};

use base::{Diagnostic, Name};
use dae::event_free::Follower;
use dae::{
    EqId, Equation, EquationRole, ExprId, Memo, Model, Node, Origin, OriginKind, VarId, Variability, Variable,
    VariableType,
};
use rustc_hash::FxHashSet;

use crate::decisions::Decisions;
use crate::schedule::Schedule;
use crate::system::is_discrete_equation;
use crate::work::Work;
use chains::Chains;
pub use redundancy::MISSING_LAW;
use stem::Stem;

/// The truth of each structural condition.
pub type Key = Vec<bool>;

/// A model with structural conditions, from which the schedule of each mode is made.
pub struct Modes {
    model: Model,
    /// The same without the monitors' equations.
    plain: Model,
    conditions: Vec<Condition>,
    /// The unknowns of the equations that the conditions decide about.
    pub switched: Vec<VarId>,
    /// Where the schedules of modes branch off; made when the first is asked for.
    stem: OnceLock<Result<Mutex<Stem>, Vec<Diagnostic>>>,
    /// Refuse what would be decided for the user with a warning.
    pub strict: bool,
}

/// One structural condition.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The Boolean expression.
    pub expression: ExprId,
    /// The Boolean that has its value.
    pub monitor: VarId,
}

/// An equation that conditions decide about, with the numbers of these.
type Decided = (EqId, Vec<usize>);

/// What a schedule knows about the mode it belongs to.
#[derive(Clone)]
pub struct Mode {
    /// All modes of the model.
    pub modes: Arc<Modes>,
    /// The truth of each condition.
    pub key: Key,
    /// What the schedule was made for.
    pub entry: Entry,
    /// Equations and variables with their derivatives.
    pub chains: Chains,
    /// What to tell when the mode is entered.
    pub notices: Vec<Diagnostic>,
}

/// Whether a schedule is made for the start of a run, with an initial problem, or for a mode entered during it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// At the start of a run.
    Start,
    /// During a run.
    Running,
}

/// The structural conditions of a model, and what parameters decided about them; factors that switch are written out in it first.
/// Where parameters decide which unknowns an equation holds, the model has the branch that they choose afterwards.
pub(crate) fn find(model: &mut Model) -> (Vec<ExprId>, Decisions) {
    let has_alternative = |id| matches!(model.exprs.node(id), Node::If { .. });
    if !model.exprs.ids().any(has_alternative) {
        return (Vec::new(), Decisions::default());
    }
    factors::write_out(model);
    let mut work = Work::new(model.clone());
    match crate::parameters::order(&mut work) {
        Ok(()) => {
            let (conditions, settled) = conditions::structural(&mut work);
            let decisions = work.decisions_in(&mut model.exprs);
            conditions::choose_branches(model, &settled);
            (conditions, decisions)
        }
        Err(_) => (Vec::new(), Decisions::default()),
    }
}

impl Modes {
    /// `model` must be the one in which the conditions were found.
    pub(crate) fn new(mut model: Model, conditions: Vec<ExprId>, strict: bool) -> Self {
        let root = model.paths.root();
        let never = model.exprs.boolean(false);
        let monitor = |model: &mut Model, number: usize| {
            let path = model.paths.child(root, Name::new("condition"), &[number as u32 + 1]);
            let mut monitor = Variable::hidden(path, VariableType::Boolean, Variability::Constant);
            monitor.binding = Some(never);
            model.variables.push(monitor)
        };
        let conditions: Vec<Condition> = conditions
            .into_iter()
            .enumerate()
            .map(|(number, expression)| Condition { expression, monitor: monitor(&mut model, number) })
            .collect();
        let plain = model.clone();
        let follower = Follower::new(&model);
        for condition in &conditions {
            let variable = &mut model.variables[condition.monitor];
            (variable.variability, variable.binding) = (Variability::Discrete, None);
            let left = model.exprs.var(condition.monitor);
            let origin = Origin { component: root, span: None, kind: OriginKind::Auxiliary };
            // A mode ends with an event, also where its condition makes none.
            let right = follower.followed(&mut model, condition.expression, |_| false);
            let (right, role) = (right.unwrap_or(condition.expression), EquationRole::Plain);
            model.equations.push(Equation { left, right, role, origin });
        }
        let work = Work::new(model.clone());
        let switched = switched(&work, &decided(&work, &conditions));
        Self { model, plain, conditions, switched, stem: OnceLock::new(), strict }
    }

    /// The structural conditions.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The model without monitors, in which variables have the same ids.
    pub fn plain(&self) -> &Model {
        &self.plain
    }

    /// The model in which nothing is decided.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Whether a variable is there in every mode: one of the model, or a derivative of the first order that the model names.
    pub fn has(&self, variable: VarId, derivative_of: Option<VarId>) -> bool {
        let is_known = |variable: VarId| base::Id::index(variable) < self.model.variables.len();
        derivative_of.map_or(is_known(variable), |of| is_known(of) && self.model.exprs.find(Node::Der(of)).is_some())
    }

    /// The first equation that a condition decides about: where it stands, and in which component.
    pub fn place(&self, condition: usize) -> Option<(Option<base::Span>, String)> {
        let expression = self.conditions.get(condition)?.expression;
        let decides = |equation: &&Equation| {
            matches!(equation.role, EquationRole::Plain)
                && !matches!(equation.origin.kind, OriginKind::Auxiliary)
                && conditions::of_alternatives(&self.model.exprs, &[equation.left, equation.right])
                    .contains(&expression)
        };
        let origin = &self.model.equations.values().find(decides)?.origin;
        Some((origin.span, self.model.paths.text(origin.component)))
    }

    /// A condition as it was written.
    pub fn text(&self, condition: usize) -> String {
        self.conditions.get(condition).map_or_else(String::new, |found| self.model.expression_text(found.expression))
    }

    /// A mode in the terms of its conditions.
    pub fn describe(&self, key: &[bool]) -> String {
        let one = |(k, &truth): (usize, &bool)| format!("{} = {truth}", self.text(k));
        key.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The conditions as far as start values decide them; others count as false. Some parameters may have other values.
    pub fn first(&self, parameters: &[(VarId, f64)]) -> Key {
        let mut work = Work::new(self.model.clone());
        for &(parameter, value) in parameters {
            let literal = literal(&mut work.model, parameter, value);
            work.model.variables[parameter].binding = Some(literal);
        }
        if crate::parameters::order(&mut work).is_err() {
            return vec![false; self.conditions.len()];
        }
        let mut memo = Memo::default();
        // Booleans that are computed have no start value worth looking at; their equations do.
        let expressions: Vec<ExprId> = self.conditions.iter().map(|c| written_out(&mut work, c.expression)).collect();
        expressions.into_iter().map(|expression| work.truth_at_start(expression, &mut memo).unwrap_or(false)).collect()
    }

    /// The schedule of the mode that start values ask for, or of one near it that can be sorted.
    pub fn any_schedule(self: &Arc<Self>) -> Option<Schedule> {
        let first = self.first(&[]);
        let flipped = |k: usize| first.iter().enumerate().map(|(other, &truth)| truth ^ (other == k)).collect();
        let uniform = [true, false].map(|truth| vec![truth; first.len()]);
        let keys = std::iter::once(first.clone()).chain((0..first.len()).map(flipped)).chain(uniform);
        keys.flat_map(|key: Key| [Entry::Start, Entry::Running].map(|entry| (key.clone(), entry)))
            .find_map(|(key, entry)| self.schedule(&key, entry).ok())
    }

    /// What parameters decided about the modes that were made so far, and the model in whose terms.
    pub fn with_decisions<T>(&self, look: impl FnOnce(&Decisions, &Model) -> T) -> Option<T> {
        let stem = self.stem.get()?.as_ref().ok()?;
        let stem = stem.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        Some(stem.with_decisions(look))
    }

    /// The schedule of a mode.
    pub fn schedule(self: &Arc<Self>, key: &[bool], entry: Entry) -> Result<Schedule, Vec<Diagnostic>> {
        let stem = self.stem.get_or_init(|| Stem::new(self).map(Mutex::new)).as_ref().map_err(Clone::clone)?;
        let mut stem = stem.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (mut schedule, chains) = stem.sort(key, entry)?;
        drop(stem);
        let (count, summary) = (self.conditions.len(), &mut schedule.summary);
        for counted in [&mut summary.equations, &mut summary.unknowns, &mut summary.discrete] {
            *counted = counted.saturating_sub(count);
        }
        let notices = std::mem::take(&mut schedule.summary.notices);
        let (of_mode, of_model) = notices.into_iter().partition(|notice| notice.code == redundancy::CODE);
        schedule.summary.notices = of_model;
        let (modes, key) = (self.clone(), key.to_vec());
        schedule.mode = Some(Box::new(Mode { modes, key, entry, chains, notices: of_mode }));
        Ok(schedule)
    }
}

/// A number as a literal of the type of a variable.
fn literal(model: &mut Model, variable: VarId, value: f64) -> ExprId {
    match model.variables[variable].ty {
        VariableType::Boolean => model.exprs.boolean(value != 0.0),
        VariableType::Integer | VariableType::Enumeration(_) => model.exprs.int(value as i64),
        _ => model.exprs.real(value),
    }
}

/// The equations between Reals that conditions decide about.
fn decided(work: &Work, conditions: &[Condition]) -> Vec<Decided> {
    let mut found = Vec::new();
    for &eq in &work.active {
        let Equation { left, right, role, .. } = &work.model.equations[eq];
        if !matches!(role, EquationRole::Plain) || is_discrete_equation(work, *left, *right) {
            continue;
        }
        let alternatives = conditions::alternatives(work, &[*left, *right]);
        let numbered = conditions.iter().enumerate();
        let numbers: Vec<usize> = numbered
            .filter(|(_, condition)| alternatives.contains(&condition.expression))
            .map(|(number, _)| number)
            .collect();
        if !numbers.is_empty() {
            found.push((eq, numbers));
        }
    }
    found
}

/// The unknowns of such equations.
fn switched(work: &Work, decided: &[Decided]) -> Vec<VarId> {
    let mut switched: Vec<VarId> = Vec::new();
    for (eq, _) in decided {
        let Equation { left, right, .. } = work.model.equations[*eq];
        switched.extend(work.model.exprs.dependencies(&[left, right]).variables);
    }
    switched.sort_unstable();
    switched.dedup();
    switched
        .retain(|&v| work.is_unknown(v) && !work.is_discrete(v) && work.model.variables[v].ty == VariableType::Real);
    switched
}

/// A condition with Boolean variables replaced by what their equations say, a few levels deep.
fn written_out(work: &mut Work, mut condition: ExprId) -> ExprId {
    const LEVELS: usize = 8;
    for _ in 0..LEVELS {
        let needed: FxHashSet<VarId> = work.model.exprs.dependencies(&[condition]).variables.into_iter().collect();
        let definition = |v: VarId| {
            let equation = work.model.equations.values().find(|equation| {
                matches!(equation.role, EquationRole::Plain)
                    && matches!(work.model.exprs.node(equation.left), Node::Var(left) if left == v)
            })?;
            (work.model.variables[v].ty == VariableType::Boolean).then_some((v, equation.right))
        };
        let definitions: rustc_hash::FxHashMap<VarId, ExprId> = needed.into_iter().filter_map(definition).collect();
        if definitions.is_empty() {
            break;
        }
        condition =
            work.model.exprs.substitute(&[condition], &mut Memo::default(), |v| definitions.get(&v).copied())[0];
    }
    condition
}
