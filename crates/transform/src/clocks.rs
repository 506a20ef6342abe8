//! Clocked partitions (specification chapter 16) as when clauses.
//!
//! Variables that equations join without a conversion operator between them belong to one sub-clock partition (16.7.3); its
//! clock is given by a constructor or follows from the partitions that conversions join it to. Then every equation of the
//! partition is solved for one variable and becomes `v = if edge(tick) then … else pre(v)`: a clocked variable keeps its
//! value between ticks, so `previous(v)` is `pre(v)`, `hold(v)` is `v`, and a sample is the left limit of what it samples.
//! The n-th tick of a periodic clock is at start + n·interval, both expressions of parameters; nothing accumulates.

use std::sync::Arc;

use base::{Diagnostic, Id, Name};
use dae::{
    Attributes, Builtin, Causality, CompareOp, EqId, Equation, EquationRole, ExprId, Memo, Model, Node, Origin,
    OriginKind, VarId, Variability, Variable, VariableType, WhenClause,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::structure::{Incidence, Matching};

/// Rewrites a model with clocks into one without.
pub fn translate(model: &mut Model) -> Result<(), Vec<Diagnostic>> {
    if !has_clocks(model) {
        return Ok(());
    }
    let mut partitions = Partitions::of(model);
    let clocks = partitions.clocks(model);
    let mut translation = Translation::new(model, partitions, clocks);
    translation.run()
}

fn has_clocks(model: &Model) -> bool {
    let exprs = &model.exprs;
    exprs.ids().any(|id| match exprs.node(id) {
        Node::Previous(_) => true,
        Node::Builtin(op, _) => {
            is_conversion(op) || is_constructor(op) || op == Builtin::Hold || op == Builtin::SampleClocked
        }
        _ => false,
    }) || model.variables.values().any(|variable| variable.ty == VariableType::Clock)
}

fn is_conversion(op: Builtin) -> bool {
    use Builtin::*;
    matches!(op, SubSample | SuperSample | ShiftSample | BackSample | NoClock)
}

fn is_constructor(op: Builtin) -> bool {
    use Builtin::*;
    matches!(op, ClockInferred | ClockRational | ClockReal | ClockEvent | ClockSolver)
}

/// A place whose expressions tick together: an equation, an action, or the operand of a conversion.
#[derive(Clone, Debug, Default)]
struct Group {
    variables: Vec<VarId>,
    /// Something in it only makes sense on a clock.
    is_clocked: bool,
    constructors: Vec<ExprId>,
    /// Conversions from another group to this one: operator, group, and the arguments behind the operand.
    conversions: Vec<(Builtin, usize, Vec<ExprId>)>,
}

struct Partitions {
    groups: Vec<Group>,
    /// Union-find over variables, then groups.
    parent: Vec<usize>,
    variables: usize,
    group_of_equation: FxHashMap<EqId, usize>,
    group_of_action: Vec<usize>,
    /// What `sample` takes from continuous time.
    sampled: Vec<ExprId>,
    /// The first group of each clocked when clause.
    clauses: FxHashMap<ExprId, usize>,
}

/// A clock; the expressions depend on parameters only.
#[derive(Clone, Debug)]
enum Clock {
    Periodic {
        start: ExprId,
        interval: ExprId,
    },
    /// Ticks with an interval computed at the tick before.
    Varying {
        interval: ExprId,
    },
    /// Every `factor`-th rise of the condition, from rise number `shift` on.
    Event {
        condition: ExprId,
        first_interval: ExprId,
        factor: ExprId,
        shift: ExprId,
    },
}

impl Partitions {
    fn of(model: &Model) -> Self {
        let mut this = Partitions {
            groups: Vec::new(),
            parent: (0..model.variables.len()).collect(),
            variables: model.variables.len(),
            group_of_equation: FxHashMap::default(),
            group_of_action: Vec::new(),
            sampled: Vec::new(),
            clauses: FxHashMap::default(),
        };
        for (id, equation) in model.equations.iter() {
            let group = this.group(model, &[equation.left, equation.right], false);
            this.group_of_equation.insert(id, group);
        }
        for action in &model.actions {
            let roots: Vec<ExprId> = action.condition.into_iter().chain(action_values(action)).collect();
            let group = this.group(model, &roots, false);
            this.group_of_action.push(group);
        }
        for group in 0..this.groups.len() {
            let node = this.variables + group;
            for variable in this.groups[group].variables.clone() {
                this.union(node, variable.index());
            }
        }
        this
    }

    /// Adds the group of some expressions, and those of the operands of conversions inside.
    fn group(&mut self, model: &Model, roots: &[ExprId], is_clocked: bool) -> usize {
        let first = self.groups.len();
        let mut pending: Vec<(usize, Vec<ExprId>)> = vec![(first, roots.to_vec())];
        self.add_group(is_clocked);
        while let Some((group, mut stack)) = pending.pop() {
            let mut seen = FxHashSet::default();
            while let Some(id) = stack.pop() {
                if !seen.insert(id) {
                    continue;
                }
                match model.exprs.node(id) {
                    Node::Var(v) | Node::Der(v) | Node::Pre(v) => self.join(model, group, v),
                    Node::Previous(v) => {
                        self.join(model, group, v);
                        self.groups[group].is_clocked = true;
                    }
                    Node::Builtin(op, args) => {
                        let args = model.exprs.arguments(args);
                        if let Some(inner) = self.operator(group, id, op, args, &mut stack) {
                            pending.push(inner);
                        }
                    }
                    _ => model.exprs.for_each_child(id, |child| stack.push(child)),
                }
            }
        }
        first
    }

    /// Looks at an operator; returns the group behind it that is still to be walked through.
    fn operator(
        &mut self,
        group: usize,
        id: ExprId,
        op: Builtin,
        args: &[ExprId],
        stack: &mut Vec<ExprId>,
    ) -> Option<(usize, Vec<ExprId>)> {
        use Builtin::*;
        match (op, args) {
            (SampleClocked, &[value, ..]) => {
                self.groups[group].is_clocked = true;
                stack.extend(args.get(1));
                // With a third argument it is an equation of a clocked when clause: the value is on the clock itself.
                if let Some(&clause) = args.get(2) {
                    let first = *self.clauses.entry(clause).or_insert(group);
                    self.union(self.variables + first, self.variables + group);
                    stack.push(value);
                    return None;
                }
                self.sampled.push(value);
                Some((self.add_group(false), vec![value]))
            }
            (Hold, &[value, ..]) => Some((self.add_group(true), vec![value])),
            (SubSample | SuperSample | ShiftSample | BackSample | NoClock | ClockSolver, &[value, ref rest @ ..]) => {
                self.groups[group].is_clocked = true;
                let inner = self.add_group(true);
                self.groups[group].conversions.push((op, inner, rest.to_vec()));
                Some((inner, vec![value]))
            }
            (Interval | FirstTick, _) => {
                self.groups[group].is_clocked = true;
                stack.extend_from_slice(args);
                None
            }
            (ClockEvent, &[condition, ..]) => {
                self.groups[group].is_clocked = true;
                self.groups[group].constructors.push(id);
                Some((self.add_group(false), vec![condition]))
            }
            (ClockInferred, _) => {
                self.groups[group].is_clocked = true;
                None
            }
            (ClockRational | ClockReal, _) => {
                self.groups[group].is_clocked = true;
                self.groups[group].constructors.push(id);
                stack.extend_from_slice(args);
                None
            }
            _ => {
                stack.extend_from_slice(args);
                None
            }
        }
    }

    fn add_group(&mut self, is_clocked: bool) -> usize {
        self.groups.push(Group { is_clocked, ..Group::default() });
        self.parent.push(self.parent.len());
        self.groups.len() - 1
    }

    fn join(&mut self, model: &Model, group: usize, variable: VarId) {
        let declared = &model.variables[variable];
        if declared.variability > Variability::Parameter {
            self.groups[group].is_clocked |= declared.ty == VariableType::Clock;
            self.groups[group].variables.push(variable);
        }
    }

    fn find(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }

    fn union(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a] = b;
    }

    fn of_group(&mut self, group: usize) -> usize {
        self.find(self.variables + group)
    }

    /// The clock of every clocked partition, by its representative, and the solver methods asked for.
    fn clocks(&mut self, model: &mut Model) -> Clocks {
        let mut clocks = Clocks::default();
        let mut edges: FxHashMap<usize, Vec<(usize, Builtin, Vec<ExprId>, bool)>> = FxHashMap::default();
        for group in 0..self.groups.len() {
            let partition = self.of_group(group);
            if self.groups[group].is_clocked {
                clocks.clocked.insert(partition);
            }
            for constructor in self.groups[group].constructors.clone() {
                let clock = constructed(model, constructor);
                clocks.of.entry(partition).or_insert(clock);
            }
            for (op, inner, rest) in self.groups[group].conversions.clone() {
                let other = self.of_group(inner);
                if op == Builtin::ClockSolver {
                    let method = rest.first().and_then(|&name| model.exprs.as_string(name));
                    clocks.solvers.extend(method.map(|method| (partition, method.to_owned())));
                }
                edges.entry(other).or_default().push((partition, op, rest.clone(), true));
                edges.entry(partition).or_default().push((other, op, rest, false));
            }
        }
        let mut queue: Vec<usize> = clocks.of.keys().copied().collect();
        queue.sort_unstable();
        while let Some(partition) = queue.pop() {
            let Some(clock) = clocks.of.get(&partition).cloned() else { continue };
            for (other, op, rest, forward) in edges.get(&partition).into_iter().flatten() {
                if clocks.of.contains_key(other) {
                    continue;
                }
                if let Some(converted) = convert(model, &clock, *op, rest, *forward) {
                    clocks.of.insert(*other, converted);
                    queue.push(*other);
                }
            }
        }
        for &partition in &clocks.clocked {
            let (start, interval) = (model.exprs.real(0.0), model.exprs.real(1.0));
            clocks.of.entry(partition).or_insert(Clock::Periodic { start, interval });
        }
        clocks
    }
}

fn action_values(action: &dae::Action) -> Vec<ExprId> {
    match action.kind {
        dae::ActionKind::Reinit { value, .. } => vec![value],
        dae::ActionKind::Assert { holds, message, .. } => vec![holds, message],
        dae::ActionKind::Terminate { message } => vec![message],
        dae::ActionKind::Call(call) => vec![call],
    }
}

#[derive(Default)]
struct Clocks {
    clocked: FxHashSet<usize>,
    of: FxHashMap<usize, Clock>,
    solvers: FxHashMap<usize, String>,
}

fn constructed(model: &mut Model, constructor: ExprId) -> Clock {
    let Node::Builtin(op, args) = model.exprs.node(constructor) else {
        let (start, interval) = (model.exprs.real(0.0), model.exprs.real(1.0));
        return Clock::Periodic { start, interval };
    };
    let args = model.exprs.arguments(args).to_vec();
    let (one, zero) = (model.exprs.int(1), model.exprs.int(0));
    let start = model.exprs.real(0.0);
    let interval = match (op, args.as_slice()) {
        (Builtin::ClockEvent, &[condition, ref rest @ ..]) => {
            let first_interval = rest.first().copied().unwrap_or(start);
            return Clock::Event { condition, first_interval, factor: one, shift: zero };
        }
        (Builtin::ClockRational, &[count, resolution]) => {
            let factor = model.exprs.real(1.0);
            let count = model.exprs.mul(factor, count);
            model.exprs.div(count, resolution)
        }
        (_, &[interval, ..]) => interval,
        _ => model.exprs.real(1.0),
    };
    let variables = model.exprs.dependencies(&[interval]).variables;
    let varies = variables.iter().any(|&v| model.variables[v].variability > Variability::Parameter);
    if varies { Clock::Varying { interval } } else { Clock::Periodic { start, interval } }
}

/// The clock of the other side of a conversion; `None` where the factor is to be inferred, or it cannot be told.
fn convert(model: &mut Model, clock: &Clock, op: Builtin, rest: &[ExprId], forward: bool) -> Option<Clock> {
    let exprs = &mut model.exprs;
    if op == Builtin::NoClock {
        return None;
    }
    if op == Builtin::ClockSolver {
        return Some(clock.clone());
    }
    let first = *rest.first()?;
    let faster = (op == Builtin::SuperSample) == forward;
    let later = (op == Builtin::ShiftSample) == forward;
    let changes_rate = matches!(op, Builtin::SubSample | Builtin::SuperSample);
    if changes_rate && exprs.as_integer(first) == Some(0) {
        return None;
    }
    Some(match *clock {
        Clock::Periodic { start, interval } if changes_rate => {
            let interval = if faster { exprs.div(interval, first) } else { exprs.mul(interval, first) };
            Clock::Periodic { start, interval }
        }
        Clock::Periodic { start, interval } => {
            let shift = exprs.mul(interval, first);
            let shift = rest.get(1).map_or(shift, |&resolution| exprs.div(shift, resolution));
            let start = if later { exprs.add(start, shift) } else { exprs.sub(start, shift) };
            Clock::Periodic { start, interval }
        }
        Clock::Event { condition, first_interval, factor, shift } if changes_rate => {
            let factor = match (faster, exprs.as_integer(factor), exprs.as_integer(first)) {
                (false, ..) => exprs.mul(factor, first),
                (true, Some(a), Some(b)) if b != 0 && a % b == 0 => exprs.int(a / b),
                _ => return None,
            };
            Clock::Event { condition, first_interval, factor, shift }
        }
        Clock::Event { condition, first_interval, factor, shift } => {
            let ticks = exprs.mul(factor, first);
            let shift = if later { exprs.add(shift, ticks) } else { exprs.sub(shift, ticks) };
            Clock::Event { condition, first_interval, factor, shift }
        }
        Clock::Varying { .. } => return None,
    })
}

/// What stands for a clock in the new model.
#[derive(Clone, Copy)]
struct Ticker {
    tick: VarId,
    clause: u32,
    /// Ticks so far, made when it is asked for.
    count: Option<VarId>,
    /// Time of the last tick, likewise.
    last: Option<VarId>,
}

struct Translation<'a> {
    model: &'a mut Model,
    partitions: Partitions,
    clocks: Clocks,
    tickers: FxHashMap<usize, Ticker>,
    next_clause: u32,
    /// Variables that stand for sampled expressions.
    samples: FxHashMap<ExprId, VarId>,
    continuous_memo: Memo,
    added: u32,
    problems: Vec<Diagnostic>,
}

impl<'a> Translation<'a> {
    fn new(model: &'a mut Model, partitions: Partitions, clocks: Clocks) -> Self {
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
        }
    }

    fn run(&mut self) -> Result<(), Vec<Diagnostic>> {
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
        for sampled in std::mem::take(&mut self.partitions.sampled) {
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
        let mut removed = FxHashSet::default();
        for partition in partitions {
            let equations = members.remove(&partition).unwrap_or_default();
            self.partition(partition, &equations, &mut removed);
        }
        self.remove(&removed);
        if self.problems.is_empty() { Ok(()) } else { Err(std::mem::take(&mut self.problems)) }
    }

    /// Equations between clocks are gone, and clocks themselves mean nothing any more.
    fn remove(&mut self, removed: &FxHashSet<EqId>) {
        let equations = std::mem::take(&mut self.model.equations);
        for (id, equation) in equations.iter() {
            if !removed.contains(&id) {
                self.model.equations.push(equation.clone());
            }
        }
        let nothing = self.model.exprs.int(0);
        for variable in self.model.variables.values_mut().filter(|variable| variable.ty == VariableType::Clock) {
            variable.variability = Variability::Constant;
            variable.causality = Causality::Local;
            variable.binding = Some(nothing);
        }
    }

    fn actions(&mut self) {
        let mut actions = std::mem::take(&mut self.model.actions);
        for (index, action) in actions.iter_mut().enumerate() {
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
                let ticker = self.ticker(partition);
                let edge = self.model.exprs.edge(ticker.tick);
                let condition = action.condition.map_or(edge, |condition| self.model.exprs.and(edge, condition));
                action.condition = Some(condition);
            }
        }
        self.model.actions = actions;
    }

    /// An expression of continuous time: a held value is the value itself.
    fn continuous(&mut self, id: ExprId) -> ExprId {
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
    fn sampled(&mut self, expression: ExprId) {
        let value = self.continuous(expression);
        let changes = {
            let found = self.model.exprs.dependencies(&[value]);
            let varies = |v: &VarId| self.model.variables[*v].variability > Variability::Parameter;
            found.time || found.calls || found.variables.iter().any(varies) || !found.derivatives.is_empty()
        };
        if !changes || matches!(self.model.exprs.node(value), Node::Var(_)) || self.samples.contains_key(&value) {
            return;
        }
        let ty = self.type_of(value);
        let variable = self.variable("sampled", ty, None);
        if ty == VariableType::Real {
            self.model.variables[variable].variability = Variability::Continuous;
        }
        let left = self.model.exprs.var(variable);
        self.auxiliary(left, value, EquationRole::Plain);
        self.samples.insert(value, variable);
    }

    fn type_of(&self, expression: ExprId) -> VariableType {
        let exprs = &self.model.exprs;
        let mut id = expression;
        loop {
            id = match exprs.node(id) {
                Node::Boolean(_) | Node::Compare { .. } | Node::And(..) | Node::Or(..) | Node::Not(_) => {
                    return VariableType::Boolean;
                }
                Node::Var(v) | Node::Pre(v) => return self.model.variables[v].ty,
                Node::Integer(_) => return VariableType::Integer,
                Node::If { then, .. } => then,
                Node::Neg(a) => a,
                _ => return VariableType::Real,
            };
        }
    }

    /// An expression on the clock of a partition.
    fn clocked(&mut self, partition: usize, id: ExprId, memo: &mut Memo) -> ExprId {
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
                    (op, &[value, ..]) if is_conversion(op) => value,
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
    fn partition(&mut self, partition: usize, equations: &[EqId], removed: &mut FxHashSet<EqId>) {
        let ticker = self.ticker(partition);
        let mut memo = Memo::default();
        let mut rows = Vec::new();
        for &id in equations {
            let Equation { left, right, .. } = self.model.equations[id];
            if self.is_clock(left) || self.is_clock(right) {
                removed.insert(id);
                continue;
            }
            let (left, right) = (self.clocked(partition, left, &mut memo), self.clocked(partition, right, &mut memo));
            rows.push((id, left, right));
        }
        self.discretise(partition, &mut rows);
        let (variables, matching) = self.match_rows(partition, &rows);
        for variable in variables.values() {
            let declared = &mut self.model.variables[*variable];
            declared.variability = declared.variability.min(Variability::Discrete);
        }
        for (row, (id, left, right)) in rows.into_iter().enumerate() {
            let target = matching.get(row).copied().flatten();
            self.equation(ticker, id, left, right, target);
        }
    }

    fn is_clock(&self, id: ExprId) -> bool {
        match self.model.exprs.node(id) {
            Node::Var(v) => self.model.variables[v].ty == VariableType::Clock,
            Node::Builtin(op, _) => is_constructor(op),
            _ => false,
        }
    }

    /// Replaces derivatives by the rule of the partition's solver method (16.8).
    fn discretise(&mut self, partition: usize, rows: &mut Vec<(EqId, ExprId, ExprId)>) {
        let roots: Vec<ExprId> = rows.iter().flat_map(|&(_, left, right)| [left, right]).collect();
        let states = self.model.exprs.dependencies(&roots).derivatives;
        if states.is_empty() {
            return;
        }
        let method = self.clocks.solvers.get(&partition).cloned().unwrap_or_default();
        let (interval, first) = (self.interval(partition), self.first_tick(partition));
        let mut slopes = FxHashMap::default();
        for &state in &states {
            let slope = self.variable("slope", VariableType::Real, None);
            slopes.insert(state, slope);
            let exprs = &mut self.model.exprs;
            let (now, before) = (exprs.var(slope), exprs.pre(slope));
            let rate = match method.as_str() {
                "ImplicitEuler" => now,
                "ImplicitTrapezoid" => {
                    let (sum, half) = (exprs.add(now, before), exprs.real(0.5));
                    exprs.mul(half, sum)
                }
                _ => before,
            };
            let (step, last) = (exprs.mul(interval, rate), exprs.pre(state));
            let next = exprs.add(last, step);
            let zero = exprs.real(0.0);
            let start = self.model.variables[state].attributes.start.unwrap_or(zero);
            let value = self.model.exprs.if_(first, start, next);
            let left = self.model.exprs.var(state);
            let id = self.auxiliary(left, value, EquationRole::Plain);
            rows.push((id, left, value));
        }
        let mut memo = Memo::default();
        for (_, left, right) in rows {
            let rule = |exprs: &mut dae::Exprs, _: ExprId, node: Node| match node {
                Node::Der(v) => match slopes.get(&v) {
                    Some(&slope) => exprs.var(slope),
                    None => exprs.make(node),
                },
                node => exprs.make(node),
            };
            let new = self.model.exprs.rewrite(&[*left, *right], &mut memo, rule);
            (*left, *right) = (new[0], new[1]);
        }
    }

    /// Which variable each row determines; what stands alone on the left comes first.
    fn match_rows(
        &mut self,
        partition: usize,
        rows: &[(EqId, ExprId, ExprId)],
    ) -> (FxHashMap<u32, VarId>, Vec<Option<VarId>>) {
        let mut column_of: FxHashMap<VarId, u32> = FxHashMap::default();
        let mut variables = FxHashMap::default();
        let mut lists = Vec::new();
        for &(_, left, right) in rows {
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
        for (row, &(_, left, right)) in rows.iter().enumerate() {
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
    fn equation(&mut self, ticker: Ticker, id: EqId, left: ExprId, right: ExprId, target: Option<VarId>) {
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
                model.exprs.solve_for(left, right, unknown, functions, parameter).map(|solution| solution.value)
            };
            let (edge, pre) = (model.exprs.edge(ticker.tick), model.exprs.pre(variable));
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

    /// What stands for the clock of a partition; equal clocks share it.
    fn ticker(&mut self, partition: usize) -> Ticker {
        if let Some(&ticker) = self.tickers.get(&partition) {
            return ticker;
        }
        let clock = self.clocks.of.get(&partition).cloned();
        let same = |a: &Clock, b: &Clock| match (a, b) {
            (Clock::Periodic { start: a, interval: b }, Clock::Periodic { start: c, interval: d }) => a == c && b == d,
            _ => false,
        };
        let known = self.tickers.iter().find(|(other, _)| match (&clock, self.clocks.of.get(other)) {
            (Some(a), Some(b)) => same(a, b),
            _ => false,
        });
        if let Some((_, &ticker)) = known {
            self.tickers.insert(partition, ticker);
            return ticker;
        }
        let tick = self.variable("tick", VariableType::Boolean, None);
        let ticker = Ticker { tick, clause: self.next_clause, count: None, last: None };
        self.next_clause += 1;
        self.tickers.insert(partition, ticker);
        let left = self.model.exprs.var(tick);
        let value = match clock {
            Some(Clock::Periodic { start, interval }) => self.model.exprs.builtin(Builtin::Sample, &[start, interval]),
            Some(Clock::Varying { interval }) => self.varying(partition, interval),
            Some(Clock::Event { condition, factor, shift, .. }) => self.event(condition, factor, shift),
            None => self.model.exprs.boolean(false),
        };
        self.auxiliary(left, value, EquationRole::Plain);
        self.tickers.get(&partition).copied().unwrap_or(ticker)
    }

    /// The next tick is computed at each.
    fn varying(&mut self, partition: usize, interval: ExprId) -> ExprId {
        let next = self.variable("next", VariableType::Real, None);
        let interval = self.clocked(partition, interval, &mut Memo::default());
        let exprs = &mut self.model.exprs;
        let time = exprs.time();
        let value = exprs.add(time, interval);
        self.at_ticks(partition, next, value);
        let exprs = &mut self.model.exprs;
        let due = exprs.pre(next);
        let due = exprs.compare(CompareOp::GreaterEqual, true, time, due);
        let initial = exprs.builtin(Builtin::Initial, &[]);
        let running = exprs.not(initial);
        exprs.and(due, running)
    }

    fn event(&mut self, condition: ExprId, factor: ExprId, shift: ExprId) -> ExprId {
        // The clock ticks in the iteration behind the one in which its condition rises: the condition may depend on what
        // the partition computes (16.5.1).
        let holds = self.variable("condition", VariableType::Boolean, None);
        let (left, condition) = (self.model.exprs.var(holds), self.continuous(condition));
        self.auxiliary(left, condition, EquationRole::Plain);
        let value = self.model.exprs.pre(holds);
        let exprs = &self.model.exprs;
        if exprs.is_one(factor) && exprs.is_zero(shift) {
            return value;
        }
        let rises = self.variable("rise", VariableType::Boolean, None);
        let left = self.model.exprs.var(rises);
        self.auxiliary(left, value, EquationRole::Plain);
        let count = self.variable("rises", VariableType::Integer, None);
        let edge = self.model.exprs.edge(rises);
        let exprs = &mut self.model.exprs;
        let (before, one) = (exprs.pre(count), exprs.int(1));
        let more = exprs.add(before, one);
        let counted = exprs.if_(edge, more, before);
        let left = exprs.var(count);
        let role =
            EquationRole::When(WhenClause { clause: self.next_clause, conditions: [rises].into_iter().collect() });
        self.next_clause += 1;
        self.auxiliary(left, counted, role);
        let exprs = &mut self.model.exprs;
        let begun = exprs.compare(CompareOp::GreaterEqual, false, before, shift);
        let since = exprs.sub(before, shift);
        let (phase, zero) = (exprs.builtin(Builtin::Mod, &[since, factor]), exprs.int(0));
        let in_phase = exprs.compare(CompareOp::Equal, false, phase, zero);
        let due = exprs.and(begun, in_phase);
        exprs.and(edge, due)
    }

    /// `interval()` of a partition's clock.
    fn interval(&mut self, partition: usize) -> ExprId {
        let ticker = self.ticker(partition);
        let clock = self.clocks.of.get(&partition).cloned();
        let first_interval = match clock {
            Some(Clock::Periodic { interval, .. }) => return interval,
            Some(Clock::Event { first_interval, .. }) => first_interval,
            _ => self.model.exprs.real(0.0),
        };
        let first = self.first_tick(partition);
        let last = match ticker.last {
            Some(last) => last,
            None => {
                let last = self.variable("last", VariableType::Real, None);
                let time = self.model.exprs.time();
                self.at_ticks(partition, last, time);
                if let Some(ticker) = self.tickers.get_mut(&partition) {
                    ticker.last = Some(last);
                }
                last
            }
        };
        let exprs = &mut self.model.exprs;
        let (time, before) = (exprs.time(), exprs.pre(last));
        let since = exprs.sub(time, before);
        exprs.if_(first, first_interval, since)
    }

    fn first_tick(&mut self, partition: usize) -> ExprId {
        let ticker = self.ticker(partition);
        let count = match ticker.count {
            Some(count) => count,
            None => {
                let count = self.variable("ticks", VariableType::Integer, None);
                let exprs = &mut self.model.exprs;
                let (before, one) = (exprs.pre(count), exprs.int(1));
                let more = exprs.add(before, one);
                self.at_ticks(partition, count, more);
                if let Some(ticker) = self.tickers.get_mut(&partition) {
                    ticker.count = Some(count);
                }
                count
            }
        };
        let exprs = &mut self.model.exprs;
        let (before, zero) = (exprs.pre(count), exprs.int(0));
        exprs.compare(CompareOp::Equal, false, before, zero)
    }

    /// `variable` takes a value at the ticks of a partition and keeps it.
    fn at_ticks(&mut self, partition: usize, variable: VarId, value: ExprId) {
        let ticker = self.ticker(partition);
        let exprs = &mut self.model.exprs;
        let (edge, pre, left) = (exprs.edge(ticker.tick), exprs.pre(variable), exprs.var(variable));
        let right = exprs.if_(edge, value, pre);
        let conditions = [ticker.tick].into_iter().collect();
        self.auxiliary(left, right, EquationRole::When(WhenClause { clause: ticker.clause, conditions }));
    }

    /// A discrete variable that is not in the text, zero at the start.
    fn variable(&mut self, name: &str, ty: VariableType, start: Option<ExprId>) -> VarId {
        self.added += 1;
        let root = self.model.paths.root();
        let clock = self.model.paths.child(root, Name::new("clocks"), &[self.added]);
        let path = self.model.paths.child(clock, Name::new(name), &[]);
        let fixed = Some(self.model.exprs.boolean(true));
        self.model.variables.push(Variable {
            path,
            ty,
            variability: Variability::Discrete,
            causality: Causality::Local,
            binding: None,
            attributes: Arc::new(Attributes { start, fixed: start.and(fixed), ..Attributes::default() }),
            protected: true,
            hidden: true,
            flow: false,
            structural: false,
            span: None,
            derivative_of: None,
        })
    }

    fn auxiliary(&mut self, left: ExprId, right: ExprId, role: EquationRole) -> EqId {
        let component = self.model.paths.root();
        let origin = Origin { component, span: None, kind: OriginKind::Auxiliary };
        self.model.equations.push(Equation { left, right, role, origin })
    }
}

/// What a sample is at a tick: the left limit of a variable, or a value that never changes.
fn left_limit(exprs: &mut dae::Exprs, sample: ExprId, samples: &FxHashMap<ExprId, VarId>, memo: &mut Memo) -> ExprId {
    let Node::Builtin(_, args) = exprs.node(sample) else { return sample };
    let Some(&value) = exprs.arguments(args).first() else { return sample };
    let value = memo.get(&value).copied().unwrap_or(value);
    match (exprs.node(value), samples.get(&value)) {
        (Node::Var(variable), _) | (_, Some(&variable)) => exprs.pre(variable),
        _ => value,
    }
}
