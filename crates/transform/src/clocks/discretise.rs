//! Derivatives in a clocked partition, replaced by the rule of its solver method (16.8.2).
//!
//! The explicit methods with several stages need the right-hand side between ticks: there the equations of the partition
//! stand once more for each stage, over variables of their own. Continuous inputs are interpolated between the ticks;
//! discrete ones have the value of the tick before.

use base::Diagnostic;
use dae::{EquationRole, ExprId, Exprs, Memo, Node, VarId, Variability, VariableType};
use rustc_hash::{FxHashMap, FxHashSet};

use super::translation::{Row, Translation};

use crate::parts::State;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Method {
    ExplicitEuler,
    ExplicitMidPoint2,
    ExplicitRungeKutta4,
    ImplicitEuler,
    ImplicitTrapezoid,
}

const METHODS: [(&str, Method); 6] = [
    ("ExplicitEuler", Method::ExplicitEuler),
    ("ExplicitMidPoint2", Method::ExplicitMidPoint2),
    ("ExplicitRungeKutta4", Method::ExplicitRungeKutta4),
    ("ImplicitEuler", Method::ImplicitEuler),
    ("ImplicitTrapezoid", Method::ImplicitTrapezoid),
    // The choice of the simulation: stable for any interval.
    ("External", Method::ImplicitTrapezoid),
];

/// A point between the last tick and this one.
struct Stage {
    /// The states there.
    states: FxHashMap<VarId, ExprId>,
    /// Variables of the partition there.
    copies: FxHashMap<VarId, VarId>,
    /// In the middle of the interval, not at its end.
    is_middle: bool,
}

impl Translation<'_> {
    /// Determines the states of a partition by the rule of its solver method.
    pub(super) fn discretise(&mut self, partition: usize, states: &[State], rows: &mut Vec<Row>) {
        if states.is_empty() {
            return;
        }
        let Some(method) = self.method(partition) else { return };
        let (interval, first) = (self.interval(partition), self.first_tick(partition));
        let rates = match method {
            Method::ExplicitMidPoint2 | Method::ExplicitRungeKutta4 => {
                self.stages(partition, states, rows, method, (interval, first))
            }
            _ => states.iter().map(|state| self.rate(state, method)).collect(),
        };
        let mut conditions = self.initial_conditions(partition, states);
        for (state, rate) in states.iter().zip(rates) {
            let exprs = &mut self.model.exprs;
            let (step, last) = (exprs.mul(interval, rate), exprs.pre(state.variable));
            let mut next = exprs.add(last, step);
            for (condition, value) in self.reinits.get(&state.variable).cloned().unwrap_or_default() {
                next = self.model.exprs.if_(condition, value, next);
            }
            let exprs = &mut self.model.exprs;
            let (unknown, zero) = (exprs.var(state.variable), exprs.real(0.0));
            let start = self.model.variables[state.variable].attributes.start.unwrap_or(zero);
            let (left, right) = match conditions.remove(&state.variable) {
                None => (unknown, exprs.if_(first, start, next)),
                Some((left, value)) if left == unknown => (unknown, exprs.if_(first, value, next)),
                Some((left, right)) => {
                    let (residual, rule) = (exprs.sub(left, right), exprs.sub(unknown, next));
                    (exprs.if_(first, residual, rule), zero)
                }
            };
            let id = self.auxiliary(left, right, EquationRole::Plain);
            rows.push(Row { id, left, right });
        }
    }

    /// Initial equations about a partition hold at its first tick (16.9), each in place of the start value of a state.
    /// Where one gives a state, this stands on the left.
    fn initial_conditions(&mut self, partition: usize, states: &[State]) -> FxHashMap<VarId, (ExprId, ExprId)> {
        let mut conditions = FxHashMap::default();
        let all = std::mem::take(&mut self.model.initial_equations);
        for equation in all {
            let sides = [equation.left, equation.right];
            let found = self.model.exprs.dependencies(&sides);
            let mut varying = found
                .variables
                .iter()
                .chain(&found.derivatives)
                .copied()
                .filter(|&v| self.model.variables[v].variability > Variability::Parameter)
                .collect::<Vec<_>>();
            let inside = !varying.is_empty() && varying.iter().all(|&v| self.belongs(partition, v));
            varying.extend(states.iter().map(|state| state.variable));
            let is_open = |v: &VarId| {
                let is_state = states.iter().any(|state| state.variable == *v);
                let fixed = self.model.variables[*v].attributes.fixed;
                let is_fixed = fixed.is_some_and(|fixed| self.model.exprs.as_boolean(fixed) != Some(false));
                is_state && !is_fixed && !conditions.contains_key(v)
            };
            // What the equation names comes first.
            match varying.iter().copied().find(is_open).filter(|_| inside) {
                Some(state) => {
                    let condition = self.condition_for(state, equation.left, equation.right);
                    conditions.insert(state, condition);
                }
                None => self.model.initial_equations.push(equation),
            }
        }
        conditions
    }

    fn condition_for(&mut self, state: VarId, left: ExprId, right: ExprId) -> (ExprId, ExprId) {
        let slopes = &self.slopes;
        let rule = |exprs: &mut Exprs, _: ExprId, node: Node| match node {
            Node::Der(v) if let Some(&slope) = slopes.get(&v) => exprs.var(slope),
            node => exprs.make(node),
        };
        let sides = self.model.exprs.rewrite(&[left, right], &mut Memo::default(), rule);
        let unknown = self.model.exprs.var(state);
        let is_solved = |side: ExprId, other: ExprId| side == unknown && !self.model.exprs.contains(other, unknown);
        match is_solved(sides[1], sides[0]) {
            true => (sides[1], sides[0]),
            false if is_solved(sides[0], sides[1]) => (sides[0], sides[1]),
            false => {
                let zero = self.model.exprs.real(0.0);
                (self.model.exprs.sub(sides[0], sides[1]), zero)
            }
        }
    }

    fn method(&mut self, partition: usize) -> Option<Method> {
        let Some(name) = self.clocks.solvers.get(&partition).cloned() else {
            let problem =
                Diagnostic::error("no-solver-method", "there are derivatives on a clock without solver method")
                    .hint("give the clock one, as in `Clock(Clock(1, 10), solverMethod = \"ExplicitEuler\")`")
                    .specification("16.8.4");
            let problem = self.partitions.at_partition(self.model, partition, problem);
            self.problems.push(problem);
            return None;
        };
        let known = METHODS.iter().find(|(known, _)| *known == name);
        if known.is_none() {
            let names: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
            let notice = Diagnostic::warning("solver-method", format!("there is no solver method `{name}`"))
                .decides()
                .note("`External` is used instead")
                .hint(format!("the methods are {}", names.join(", ")))
                .specification("16.8.2");
            self.clocks.notices.push(self.partitions.at_partition(self.model, partition, notice));
        }
        Some(known.map_or(Method::ImplicitTrapezoid, |(_, method)| *method))
    }

    /// The slope of methods with one stage.
    fn rate(&mut self, state: &State, method: Method) -> ExprId {
        let exprs = &mut self.model.exprs;
        let (now, before) = (exprs.var(state.derivative), exprs.pre(state.derivative));
        match method {
            Method::ImplicitEuler => now,
            Method::ImplicitTrapezoid => {
                let (sum, half) = (exprs.add(now, before), exprs.real(0.5));
                exprs.mul(half, sum)
            }
            _ => before,
        }
    }

    /// The slopes of methods with several stages.
    fn stages(
        &mut self,
        partition: usize,
        states: &[State],
        rows: &mut Vec<Row>,
        method: Method,
        (interval, first): (ExprId, ExprId),
    ) -> Vec<ExprId> {
        let copied = self.rows_to_copy(partition, states, rows);
        let mut inputs = FxHashMap::default();
        let begin: Vec<ExprId> = states.iter().map(|state| self.model.exprs.pre(state.derivative)).collect();
        let mut slopes = vec![begin];
        let middles: &[bool] = if method == Method::ExplicitMidPoint2 { &[true] } else { &[true, true, false] };
        for (number, &is_middle) in middles.iter().enumerate() {
            let exprs = &mut self.model.exprs;
            let mut at = FxHashMap::default();
            for (state, &slope) in states.iter().zip(&slopes[number]) {
                let length = exprs.real(if is_middle { 0.5 } else { 1.0 });
                let length = exprs.mul(length, interval);
                let (last, step) = (exprs.pre(state.variable), exprs.mul(length, slope));
                at.insert(state.variable, exprs.add(last, step));
            }
            let mut stage = Stage { states: at, copies: FxHashMap::default(), is_middle };
            for &(_, target) in &copied {
                let copy = self.variable("stage", VariableType::Real, self.model.variables[target].attributes.start);
                stage.copies.insert(target, copy);
            }
            for &(row, _) in &copied {
                let Row { left, right, .. } = rows[row];
                let (left, right) = (
                    self.at_stage(partition, left, &stage, &mut inputs, first),
                    self.at_stage(partition, right, &stage, &mut inputs, first),
                );
                let id = self.auxiliary(left, right, EquationRole::Plain);
                rows.push(Row { id, left, right });
            }
            let exprs = &mut self.model.exprs;
            let slope = |state: &State| stage.copies.get(&state.derivative).map(|&copy| exprs.var(copy));
            let there: Option<Vec<ExprId>> = states.iter().map(slope).collect();
            slopes.push(there.unwrap_or_else(|| slopes[0].clone()));
        }
        let exprs = &mut self.model.exprs;
        (0..states.len())
            .map(|at| match slopes.as_slice() {
                [a, b, c, d] => {
                    let (two, sixth) = (exprs.real(2.0), exprs.real(6.0));
                    let inner = exprs.add(b[at], c[at]);
                    let inner = exprs.mul(two, inner);
                    let sum = exprs.sum(&[a[at], inner, d[at]]);
                    exprs.div(sum, sixth)
                }
                others => others[others.len() - 1][at],
            })
            .collect()
    }

    /// The rows that determine continuous variables, with these.
    fn rows_to_copy(&mut self, partition: usize, states: &[State], rows: &[Row]) -> Vec<(usize, VarId)> {
        let mut all = rows.to_vec();
        let some = rows[0].id;
        for state in states {
            // Stands for the rule that is not made yet.
            let exprs = &mut self.model.exprs;
            all.push(Row { id: some, left: exprs.var(state.variable), right: exprs.pre(state.variable) });
        }
        let (_, targets) = self.match_rows(partition, &all);
        let sides: Vec<ExprId> = rows.iter().flat_map(|row| [row.left, row.right]).collect();
        let stepped: FxHashSet<VarId> = self.model.exprs.dependencies(&sides).pre.into_iter().collect();
        let is_continuous = |&(_, target): &(usize, VarId)| {
            self.model.variables[target].ty == VariableType::Real && !stepped.contains(&target)
        };
        let rows = targets.into_iter().take(rows.len()).enumerate();
        rows.filter_map(|(row, target)| Some((row, target?))).filter(is_continuous).collect()
    }

    /// An expression of the partition at a stage.
    fn at_stage(
        &mut self,
        partition: usize,
        expression: ExprId,
        stage: &Stage,
        inputs: &mut FxHashMap<ExprId, VarId>,
        first: ExprId,
    ) -> ExprId {
        let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in self.model.exprs.postorder(&[expression]) {
            let new = match self.model.exprs.node(id) {
                Node::Var(v) => match (stage.states.get(&v), stage.copies.get(&v)) {
                    (Some(&there), _) => there,
                    (None, Some(&copy)) => self.model.exprs.var(copy),
                    _ if self.model.variables[v].variability <= Variability::Parameter => continue,
                    _ if self.belongs(partition, v) => self.model.exprs.pre(v),
                    _ => self.input_at(partition, id, v, stage, inputs, first),
                },
                Node::Pre(v) if !self.belongs(partition, v) => self.input_at(partition, id, v, stage, inputs, first),
                _ => continue,
            };
            replaced.insert(id, new);
        }
        self.model.exprs.rewrite(&[expression], &mut Memo::default(), |exprs: &mut Exprs, old, node| {
            replaced.get(&old).copied().unwrap_or_else(|| exprs.make(node))
        })[0]
    }

    /// What comes from outside of the partition, at a stage.
    fn input_at(
        &mut self,
        partition: usize,
        now: ExprId,
        variable: VarId,
        stage: &Stage,
        inputs: &mut FxHashMap<ExprId, VarId>,
        first: ExprId,
    ) -> ExprId {
        let ty = self.model.variables[variable].ty;
        let is_real = ty == VariableType::Real;
        if is_real && !stage.is_middle {
            return now;
        }
        let memory = match inputs.get(&now) {
            Some(&memory) => memory,
            None => {
                let memory = self.variable("input", ty, None);
                self.at_ticks(partition, memory, now);
                inputs.insert(now, memory);
                memory
            }
        };
        let exprs = &mut self.model.exprs;
        let before = exprs.pre(memory);
        let before = exprs.if_(first, now, before);
        if !is_real {
            return before;
        }
        let (sum, half) = (exprs.add(before, now), exprs.real(0.5));
        exprs.mul(half, sum)
    }
}
