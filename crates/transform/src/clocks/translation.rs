//! The equations of partitions as when clauses: each is solved for one variable.

use base::{Diagnostic, Id};
use dae::{
    Builtin, Causality, EqId, Equation, EquationRole, ExprId, Memo, Model, Node, Pivot, VarId, Variability,
    VariableType, WhenClause,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::operands;
use super::partitions::Partitions;
use super::rates::Clocks;
use super::tickers::Ticker;
use crate::structure::{Incidence, Matching};

/// An equation of a partition as it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) id: EqId,
    pub(super) left: ExprId,
    pub(super) right: ExprId,
}

pub(super) struct Translation<'a> {
    pub(super) model: &'a mut Model,
    pub(super) partitions: Partitions,
    pub(super) clocks: Clocks,
    pub(super) tickers: FxHashMap<usize, Ticker>,
    pub(super) next_clause: u32,
    /// Variables that stand for sampled expressions.
    pub(super) samples: FxHashMap<ExprId, VarId>,
    pub(super) continuous_memo: Memo,
    pub(super) added: u32,
    pub(super) problems: Vec<Diagnostic>,
    /// Equations that mean nothing any more.
    pub(super) removed: FxHashSet<EqId>,
    /// Under which conditions states of discretised partitions get other values.
    pub(super) reinits: FxHashMap<VarId, Vec<(ExprId, ExprId)>>,
    /// The variables that derivatives of clocked variables became.
    pub(super) slopes: FxHashMap<VarId, VarId>,
}

impl<'a> Translation<'a> {
    pub(super) fn new(model: &'a mut Model, partitions: Partitions, clocks: Clocks) -> Self {
        let clause = |equation: &Equation| match &equation.role {
            EquationRole::When(clause) => clause.clause + 1,
            _ => 0,
        };
        let next_clause = model.equations.values().map(clause).max().unwrap_or(0);
        Self {
            model,
            partitions,
            clocks,
            tickers: FxHashMap::default(),
            next_clause,
            samples: FxHashMap::default(),
            continuous_memo: Memo::default(),
            added: 0,
            problems: Vec::new(),
            removed: FxHashSet::default(),
            reinits: FxHashMap::default(),
            slopes: FxHashMap::default(),
        }
    }

    pub(super) fn run(mut self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let mut members: FxHashMap<usize, Vec<EqId>> = FxHashMap::default();
        let mut kept = Vec::new();
        for id in self.model.equations.ids().collect::<Vec<_>>() {
            let Some(&group) = self.partitions.group_of_equation.get(&id) else { continue };
            let partition = self.partitions.of_group(group);
            if self.clocks.clocked.contains(&partition) {
                members.entry(partition).or_default().push(id);
            } else {
                kept.push(id);
            }
        }
        for (sampled, _) in std::mem::take(&mut self.partitions.sampled) {
            self.sampled(sampled);
        }
        for &id in &kept {
            let Equation { left, right, .. } = self.model.equations[id];
            let (left, right) = (self.continuous(left), self.continuous(right));
            let equation = &mut self.model.equations[id];
            (equation.left, equation.right) = (left, right);
        }
        self.actions();
        for index in 0..self.model.initial_equations.len() {
            let Equation { left, right, .. } = self.model.initial_equations[index];
            let (left, right) = (self.continuous(left), self.continuous(right));
            let equation = &mut self.model.initial_equations[index];
            (equation.left, equation.right) = (left, right);
        }
        let mut partitions: Vec<usize> = members.keys().copied().collect();
        partitions.sort_unstable();
        for partition in partitions {
            let equations = members.remove(&partition).unwrap_or_default();
            self.partition(partition, &equations);
        }
        self.remove();
        if self.problems.is_empty() { Ok(self.clocks.notices) } else { Err(self.problems) }
    }

    /// Whether the equations of a partition determine a variable; those that were added since belong to the one at work.
    pub(super) fn belongs(&mut self, partition: usize, variable: VarId) -> bool {
        let is_declared = variable.index() < self.partitions.variables;
        is_declared && self.partitions.find(variable.index()) == partition
    }

    /// Equations between clocks are gone, and clocks themselves mean nothing any more. Derivatives of clocked variables
    /// are variables, also where others ask for them.
    fn remove(&mut self) {
        let equations = std::mem::take(&mut self.model.equations);
        let (slopes, mut memo) = (&self.slopes, Memo::default());
        for (id, mut equation) in equations.iter().map(|(id, equation)| (id, equation.clone())) {
            if self.removed.contains(&id) {
                continue;
            }
            if !slopes.is_empty() {
                let rule = |exprs: &mut dae::Exprs, _: ExprId, node: Node| match node {
                    Node::Der(v) if let Some(&slope) = slopes.get(&v) => exprs.var(slope),
                    node => exprs.make(node),
                };
                let sides = self.model.exprs.rewrite(&[equation.left, equation.right], &mut memo, rule);
                (equation.left, equation.right) = (sides[0], sides[1]);
            }
            self.model.equations.push(equation);
        }
        let nothing = self.model.exprs.int(0);
        for variable in self.model.variables.values_mut().filter(|variable| variable.ty == VariableType::Clock) {
            variable.variability = Variability::Constant;
            variable.causality = Causality::Local;
            variable.binding = Some(nothing);
        }
    }

    fn actions(&mut self) {
        for (index, mut action) in std::mem::take(&mut self.model.actions).into_iter().enumerate() {
            let group = self.partitions.group_of_action.get(index).copied();
            let partition = group.map(|group| self.partitions.of_group(group));
            let clocked = partition.filter(|partition| self.clocks.clocked.contains(partition));
            let mut memo = Memo::default();
            let mut map = |this: &mut Self, id: ExprId| match clocked {
                Some(partition) => this.clocked(partition, id, &mut memo),
                None => this.continuous(id),
            };
            action.condition = action.condition.map(|condition| map(self, condition));
            match &mut action.kind {
                dae::ActionKind::Reinit { value, .. } => *value = map(self, *value),
                dae::ActionKind::Assert { holds, message, .. } => {
                    *holds = map(self, *holds);
                    *message = map(self, *message);
                }
                dae::ActionKind::Terminate { message } => *message = map(self, *message),
                dae::ActionKind::Call(call) => *call = map(self, *call),
            }
            if let Some(partition) = clocked {
                let always = self.model.exprs.boolean(true);
                let condition = action.condition.unwrap_or(always);
                if let dae::ActionKind::Reinit { state, value } = action.kind {
                    self.reinits.entry(state).or_default().push((condition, value));
                    continue;
                }
                let ticker = self.ticker(partition);
                let edge = self.model.exprs.rising(ticker.tick);
                action.condition = Some(self.model.exprs.and(edge, condition));
            }
            self.model.actions.push(action);
        }
    }

    /// An expression of continuous time: a held value is the value itself.
    pub(super) fn continuous(&mut self, id: ExprId) -> ExprId {
        let rule = |exprs: &mut dae::Exprs, _: ExprId, node: Node| match node {
            Node::Builtin(Builtin::Hold, args) => match exprs.arguments(args).first() {
                Some(&value) => value,
                None => exprs.make(node),
            },
            node => exprs.make(node),
        };
        self.model.exprs.rewrite(&[id], &mut self.continuous_memo, rule)[0]
    }

    /// Makes sure that the left limit of a sampled expression can be asked for.
    pub(super) fn sampled(&mut self, expression: ExprId) {
        let value = self.continuous(expression);
        let changes = {
            let found = self.model.exprs.dependencies(&[value]);
            let varies = |v: &VarId| self.model.variables[*v].variability > Variability::Parameter;
            found.time || found.calls || found.variables.iter().any(varies) || !found.derivatives.is_empty()
        };
        if !changes || matches!(self.model.exprs.node(value), Node::Var(_)) || self.samples.contains_key(&value) {
            return;
        }
        let ty = operands::type_of(self.model, value);
        let variable = self.variable("sampled", ty, None);
        if ty == VariableType::Real {
            self.model.variables[variable].variability = Variability::Continuous;
        }
        let left = self.model.exprs.var(variable);
        self.auxiliary(left, value, EquationRole::Plain);
        self.samples.insert(value, variable);
    }

    /// An expression on the clock of a partition.
    pub(super) fn clocked(&mut self, partition: usize, id: ExprId, memo: &mut Memo) -> ExprId {
        let needs = |op: Builtin| move |node: Node| matches!(node, Node::Builtin(found, _) if found == op);
        let interval = self.model.exprs.any(id, needs(Builtin::Interval)).then(|| self.interval(partition));
        let first = self.model.exprs.any(id, needs(Builtin::FirstTick)).then(|| self.first_tick(partition));
        let mut held = std::mem::take(&mut self.continuous_memo);
        let samples = &self.samples;
        let rule = |exprs: &mut dae::Exprs, old: ExprId, node: Node| match node {
            Node::Previous(v) => exprs.pre(v),
            Node::Compare { op, left, right, .. } => exprs.compare(op, false, left, right),
            Node::Builtin(op, args) => {
                let new = exprs.arguments(args).to_vec();
                match (op, new.as_slice()) {
                    (Builtin::SampleClocked, &[value, _, _]) => value,
                    (Builtin::SampleClocked, _) => left_limit(exprs, old, samples, &mut held),
                    (Builtin::Hold, &[value, ..]) => value,
                    (op, &[value, ..]) if op.is_clock_conversion() => value,
                    (Builtin::Interval, _) => interval.unwrap_or(old),
                    (Builtin::FirstTick, _) => first.unwrap_or(old),
                    (Builtin::FloorEvent, new) => exprs.builtin(Builtin::Floor, new),
                    (Builtin::CeilEvent, new) => exprs.builtin(Builtin::Ceil, new),
                    (Builtin::DivEvent, new) => exprs.builtin(Builtin::Div, new),
                    (Builtin::ModEvent, new) => exprs.builtin(Builtin::Mod, new),
                    (Builtin::RemEvent, new) => exprs.builtin(Builtin::Rem, new),
                    _ => exprs.make(node),
                }
            }
            node => exprs.make(node),
        };
        let result = self.model.exprs.rewrite(&[id], memo, rule)[0];
        self.continuous_memo = held;
        result
    }

    /// The equations of one partition.
    fn partition(&mut self, partition: usize, equations: &[EqId]) {
        let ticker = self.ticker(partition);
        let mut memo = Memo::default();
        let mut rows = Vec::new();
        for &id in equations {
            let Equation { left, right, .. } = self.model.equations[id];
            if self.is_clock(left) || self.is_clock(right) {
                self.removed.insert(id);
                continue;
            }
            rows.push(Row { id, left, right });
        }
        let states = self.reduce(partition, &mut rows);
        for row in &mut rows {
            row.left = self.clocked(partition, row.left, &mut memo);
            row.right = self.clocked(partition, row.right, &mut memo);
        }
        self.discretise(partition, &states, &mut rows);
        let (variables, matching) = self.match_rows(partition, &rows);
        for variable in variables.values() {
            let declared = &mut self.model.variables[*variable];
            declared.variability = declared.variability.min(Variability::Discrete);
        }
        for (at, row) in rows.into_iter().enumerate() {
            let target = matching.get(at).copied().flatten();
            self.equation(ticker, row, target);
        }
    }

    pub(super) fn is_clock(&self, id: ExprId) -> bool {
        match self.model.exprs.node(id) {
            Node::Var(v) => self.model.variables[v].ty == VariableType::Clock,
            Node::Builtin(op, _) => op.is_clock_constructor(),
            _ => false,
        }
    }

    /// Which variable each row determines; what stands alone on the left comes first.
    pub(super) fn match_rows(&mut self, partition: usize, rows: &[Row]) -> (FxHashMap<u32, VarId>, Vec<Option<VarId>>) {
        let mut column_of: FxHashMap<VarId, u32> = FxHashMap::default();
        let mut variables = FxHashMap::default();
        let mut lists = Vec::new();
        for &Row { left, right, .. } in rows {
            let found = self.model.exprs.dependencies(&[left, right]).variables;
            let mut list = Vec::new();
            for variable in found {
                let is_new = variable.index() >= self.partitions.variables;
                let belongs = is_new || self.partitions.find(variable.index()) == partition;
                if !belongs || self.model.variables[variable].variability <= Variability::Parameter {
                    continue;
                }
                let next = column_of.len() as u32;
                let column = *column_of.entry(variable).or_insert(next);
                variables.insert(column, variable);
                list.push(column);
            }
            lists.push(list);
        }
        let columns = column_of.len();
        let incidence = Incidence::from_rows(&lists, columns);
        let mut matching = Matching::empty(rows.len(), columns);
        let mut taken = FxHashSet::default();
        for (row, &Row { left, right, .. }) in rows.iter().enumerate() {
            if let Node::Var(v) = self.model.exprs.node(left)
                && !matches!(self.model.exprs.node(right), Node::Var(_))
                && let Some(&column) = column_of.get(&v)
                && taken.insert(column)
            {
                matching.assign(row as u32, column);
            }
        }
        matching.extend(&incidence);
        let target = |row: usize| variables.get(&matching.column_of_row[row]).copied();
        let targets = (0..rows.len()).map(target).collect();
        (variables, targets)
    }

    /// Two variables of one partition that are equal are so at all times.
    fn is_alias(&mut self, left: ExprId, right: ExprId) -> bool {
        let (Node::Var(a), Node::Var(b)) = (self.model.exprs.node(left), self.model.exprs.node(right)) else {
            return false;
        };
        let known = a.index().max(b.index()) < self.partitions.variables;
        let declared = &self.model.variables;
        // Before the first tick each has its own start value.
        let equal = declared[a].ty == declared[b].ty
            && declared[a].attributes.start == declared[b].attributes.start
            && declared[a].variability == Variability::Discrete
            && declared[b].variability == Variability::Discrete;
        known && equal && self.partitions.find(a.index()) == self.partitions.find(b.index())
    }

    /// Makes an equation hold at the ticks only.
    fn equation(&mut self, ticker: Ticker, Row { id, left, right }: Row, target: Option<VarId>) {
        let is_alias = self.is_alias(left, right);
        let model = &mut *self.model;
        let (mut new_left, mut new_right, mut role) = (left, right, EquationRole::Plain);
        if let (Some(variable), false) = (target, is_alias) {
            let unknown = model.exprs.var(variable);
            let value = if left == unknown && !model.exprs.contains(right, unknown) {
                Some(right)
            } else {
                let variables = &model.variables;
                let parameter = |v: VarId| variables[v].variability <= Variability::Parameter;
                let functions = &model.functions;
                let solution = model.exprs.solve_for(left, right, unknown, functions, parameter);
                solution
                    .filter(|solution| !matches!(solution.pivot, Pivot::MayVanish(_)))
                    .map(|solution| solution.value)
            };
            let (edge, pre) = (model.exprs.rising(ticker.tick), model.exprs.pre(variable));
            match value {
                Some(value) => {
                    new_left = unknown;
                    new_right = model.exprs.if_(edge, value, pre);
                    let conditions = [ticker.tick].into_iter().collect();
                    role = EquationRole::When(WhenClause { clause: ticker.clause, conditions });
                }
                None => {
                    let (residual, kept) = (model.exprs.sub(left, right), model.exprs.sub(unknown, pre));
                    new_left = model.exprs.if_(edge, residual, kept);
                    new_right = model.exprs.real(0.0);
                }
            }
        }
        let equation = &mut model.equations[id];
        (equation.left, equation.right, equation.role) = (new_left, new_right, role);
    }
}

/// What a sample is at a tick: the left limit of a variable, or a value that never changes.
fn left_limit(exprs: &mut dae::Exprs, sample: ExprId, samples: &FxHashMap<ExprId, VarId>, memo: &mut Memo) -> ExprId {
    let Node::Builtin(_, args) = exprs.node(sample) else { return sample };
    let Some(&value) = exprs.arguments(args).first() else { return sample };
    let value = memo.get(value).unwrap_or(value);
    match (exprs.node(value), samples.get(&value)) {
        (Node::Var(variable), _) | (_, Some(&variable)) => exprs.pre(variable),
        _ => value,
    }
}
