//! Boolean variables that rise at the ticks of a clock, and what can be asked of clocks: `interval()` and `firstTick()`.
//!
//! The n-th tick of a periodic clock is at start + n·interval, both rounded once from exact fractions of the base interval;
//! nothing accumulates.

use std::sync::Arc;

use base::{Diagnostic, Name};
use dae::{
    Attributes, Builtin, CompareOp, EqId, Equation, EquationRole, ExprId, Memo, Node, Origin, OriginKind, VarId,
    Variability, Variable, VariableType, WhenClause,
};

use super::rates::{Base, Clock};
use super::ratio::Ratio;
use super::translation::Translation;

/// What stands for a clock in the new model.
#[derive(Clone, Copy)]
pub(super) struct Ticker {
    pub(super) tick: VarId,
    pub(super) clause: u32,
    /// Ticks so far, made when it is asked for.
    pub(super) count: Option<VarId>,
    /// Time of the last tick, likewise.
    pub(super) last: Option<VarId>,
    /// Time of the next tick, where the interval varies.
    pub(super) next: Option<VarId>,
}

impl Translation<'_> {
    /// What stands for the clock of a partition; equal clocks share it.
    pub(super) fn ticker(&mut self, partition: usize) -> Ticker {
        if let Some(&ticker) = self.tickers.get(&partition) {
            return ticker;
        }
        let clock = self.clocks.of.get(&partition).copied();
        // The partition that computes the intervals comes first: the others that tick with it share what it has.
        if let Some(Clock { base: Base::Varying { partition: owner, .. }, .. }) = clock
            && owner != partition
        {
            self.ticker(owner);
        }
        let known =
            self.tickers.iter().find(|(other, _)| clock.is_some() && clock == self.clocks.of.get(other).copied());
        if let Some((_, &ticker)) = known {
            self.tickers.insert(partition, ticker);
            return ticker;
        }
        let tick = self.variable("tick", VariableType::Boolean, None);
        let ticker = Ticker { tick, clause: self.next_clause, count: None, last: None, next: None };
        self.next_clause += 1;
        self.tickers.insert(partition, ticker);
        let left = self.model.exprs.var(tick);
        let value = match clock {
            Some(clock) => self.ticks(partition, clock),
            None => self.model.exprs.boolean(false),
        };
        self.auxiliary(left, value, EquationRole::Plain);
        self.tickers.get(&partition).copied().unwrap_or(ticker)
    }

    /// What rises when a clock ticks.
    fn ticks(&mut self, partition: usize, clock: Clock) -> ExprId {
        if let (Some(start), Some(interval)) = (self.seconds(clock, clock.shift), self.seconds(clock, clock.factor)) {
            // Clocks begin with the simulation; start values of samples are computed at that time.
            let exprs = &mut self.model.exprs;
            let begin = exprs.time();
            let start = exprs.add(begin, start);
            return exprs.builtin(Builtin::Sample, &[start, interval]);
        }
        let is_base = clock.factor == Ratio::ONE && clock.shift == Ratio::ZERO;
        match clock.base {
            Base::Varying { partition: owner, .. } if is_base && owner == partition => {
                self.varying(partition, clock.base)
            }
            Base::Varying { partition: owner, .. } => {
                let base = self.ticker(owner).tick;
                if is_base {
                    return self.model.exprs.var(base);
                }
                match self.split_clock(clock) {
                    Some((parts, clock)) if parts > 1 => {
                        let base = self.parts(owner, base, parts);
                        self.every(partition, base, clock)
                    }
                    _ => self.every(partition, base, clock),
                }
            }
            Base::Event { condition, .. } => {
                let rises = self.rises(condition);
                if is_base {
                    return rises;
                }
                let base = self.variable("rise", VariableType::Boolean, None);
                let left = self.model.exprs.var(base);
                self.auxiliary(left, rises, EquationRole::Plain);
                self.every(partition, base, clock)
            }
            _ => self.model.exprs.boolean(false),
        }
    }

    /// A multiple of the interval of a periodic clock.
    fn seconds(&mut self, clock: Clock, times: Ratio) -> Option<ExprId> {
        let exprs = &mut self.model.exprs;
        match clock.base {
            Base::Exact(interval) => interval.times(times).map(|seconds| exprs.real(seconds.value())),
            Base::Periodic(interval) => {
                let (numerator, denominator) =
                    (exprs.real(times.numerator as f64), exprs.real(times.denominator as f64));
                let product = exprs.mul(interval, numerator);
                Some(exprs.div(product, denominator))
            }
            _ => None,
        }
    }

    /// The next tick is computed at each.
    fn varying(&mut self, partition: usize, base: Base) -> ExprId {
        let next = self.variable("next", VariableType::Real, None);
        if let Some(ticker) = self.tickers.get_mut(&partition) {
            ticker.next = Some(next);
        }
        let value = self.next_tick(partition, base);
        self.at_ticks(partition, next, value);
        let exprs = &mut self.model.exprs;
        let (time, due) = (exprs.time(), exprs.pre(next));
        let due = exprs.compare(CompareOp::GreaterEqual, true, time, due);
        let initial = exprs.builtin(Builtin::Initial, &[]);
        let running = exprs.not(initial);
        exprs.and(due, running)
    }

    /// The time of the tick after this one. Counts are added up and divided once, so that clocks of different resolution that
    /// tick at one instant do so in numbers.
    fn next_tick(&mut self, partition: usize, base: Base) -> ExprId {
        let time = self.model.exprs.time();
        let Base::Varying { interval, count: Some((count, resolution)), .. } = base else {
            let interval = match base {
                Base::Varying { interval, .. } => self.before(interval),
                _ => self.model.exprs.real(0.0),
            };
            return self.model.exprs.add(time, interval);
        };
        if !self.model.exprs.is_literal(resolution) {
            let interval = self.clocked(partition, interval, &mut Memo::default());
            return self.model.exprs.add(time, interval);
        }
        let count = self.clocked(partition, count, &mut Memo::default());
        let total = self.variable("total", VariableType::Integer, None);
        let begin = self.variable("begin", VariableType::Real, None);
        let first = self.first_tick(partition);
        let exprs = &mut self.model.exprs;
        let (sum_before, begin_before) = (exprs.pre(total), exprs.pre(begin));
        let sum = exprs.add(sum_before, count);
        let begin_value = exprs.if_(first, time, begin_before);
        self.at_ticks(partition, total, sum);
        self.at_ticks(partition, begin, begin_value);
        let exprs = &mut self.model.exprs;
        let (sum, begin) = (exprs.var(total), exprs.var(begin));
        let since = exprs.div(sum, resolution);
        exprs.add(begin, since)
    }

    /// How many equal parts of an interval a clock needs, and the clock in terms of these parts.
    fn split_clock(&self, clock: Clock) -> Option<(i64, Clock)> {
        let per_factor = Ratio::new(clock.factor.denominator, clock.shift.denominator)?;
        let parts = Ratio::new(clock.factor.denominator.checked_mul(per_factor.denominator)?, 1)?;
        let (factor, shift) = (clock.factor.times(parts)?, clock.shift.times(parts)?);
        Some((parts.as_integer()?, Clock { factor, shift, ..clock }))
    }

    /// What rises at the ticks of a clock with varying interval and at the instants that divide each interval into equal
    /// parts (16.5.2: `superSample`, and `shiftSample` with a resolution).
    fn parts(&mut self, owner: usize, base: VarId, parts: i64) -> VarId {
        // Later than every run.
        let never = self.model.exprs.real(1e300);
        let Some(end) = self.ticker(owner).next else { return base };
        let last = self.variable("last", VariableType::Real, None);
        let due_at = self.variable("due", VariableType::Real, Some(never));
        let part = self.variable("part", VariableType::Integer, None);
        let [inside, any] = ["inside", "parts"].map(|name| self.variable(name, VariableType::Boolean, None));
        let time = self.model.exprs.time();
        self.at_ticks(owner, last, time);
        let exprs = &mut self.model.exprs;
        let (at_base, at_inside) = (exprs.rising(base), exprs.rising(inside));
        let (zero, one, count) = (exprs.int(0), exprs.int(1), exprs.int(parts));
        let [part_now, last_now, end_now, due_now, inside_now, any_now, base_now] =
            [part, last, end, due_at, inside, any, base].map(|variable| exprs.var(variable));
        let (part_before, due_before) = (exprs.pre(part), exprs.pre(due_at));
        let further = exprs.add(part_before, one);
        let kept = exprs.if_(at_inside, further, part_before);
        let part_value = exprs.if_(at_base, zero, kept);
        let following = exprs.add(part_now, one);
        let length = exprs.sub(end_now, last_now);
        let way = exprs.mul(following, length);
        let way = exprs.div(way, count);
        let instant = exprs.add(last_now, way);
        // The last part ends with the next tick of the clock itself.
        let is_inside = exprs.compare(CompareOp::Less, false, following, count);
        let instant = exprs.if_(is_inside, instant, never);
        let moved = exprs.or(at_base, at_inside);
        let due_value = exprs.if_(moved, instant, due_before);
        let inside_value = exprs.compare(CompareOp::GreaterEqual, true, time, due_before);
        let any_value = exprs.or(base_now, inside_now);
        let clause = self.next_clause;
        self.next_clause += 1;
        let when = || EquationRole::When(WhenClause { clause, conditions: [base, inside].into_iter().collect() });
        self.auxiliary(part_now, part_value, when());
        self.auxiliary(due_now, due_value, when());
        self.auxiliary(inside_now, inside_value, EquationRole::Plain);
        self.auxiliary(any_now, any_value, EquationRole::Plain);
        any
    }

    /// An expression with the values that variables had at the tick before.
    fn before(&mut self, id: ExprId) -> ExprId {
        let variables = &self.model.variables;
        self.model.exprs.rewrite(&[id], &mut Memo::default(), |exprs, _, node| match node {
            Node::Var(v) if variables[v].variability > Variability::Parameter => exprs.pre(v),
            node => exprs.make(node),
        })[0]
    }

    /// What is true one iteration after a condition: the clock ticks behind the one in which its condition rises, since
    /// that may depend on what the partition computes (16.5.1).
    fn rises(&mut self, condition: ExprId) -> ExprId {
        let holds = self.variable("condition", VariableType::Boolean, None);
        let (left, condition) = (self.model.exprs.var(holds), self.continuous(condition));
        self.auxiliary(left, condition, EquationRole::Plain);
        self.model.exprs.pre(holds)
    }

    /// Every `factor`-th rise of a variable, from rise number `shift` on.
    fn every(&mut self, partition: usize, base: VarId, clock: Clock) -> ExprId {
        let (Some(factor), Some(shift)) = (clock.factor.as_integer(), clock.shift.as_integer()) else {
            let message = "a clock whose ticks are not known in advance cannot be split into shorter intervals";
            let problem = Diagnostic::error("clock-rate", message)
                .hint("`superSample` undoes at most what `subSample` did, and `shiftSample` shifts by whole ticks")
                .specification("16.5.2");
            let problem = self.partitions.at_partition(self.model, partition, problem);
            self.problems.push(problem);
            return self.model.exprs.boolean(false);
        };
        let count = self.variable("rises", VariableType::Integer, None);
        let edge = self.model.exprs.rising(base);
        let exprs = &mut self.model.exprs;
        let (before, one) = (exprs.pre(count), exprs.int(1));
        let more = exprs.add(before, one);
        let counted = exprs.if_(edge, more, before);
        let left = exprs.var(count);
        let role =
            EquationRole::When(WhenClause { clause: self.next_clause, conditions: [base].into_iter().collect() });
        self.next_clause += 1;
        self.auxiliary(left, counted, role);
        let exprs = &mut self.model.exprs;
        let (factor, shift) = (exprs.int(factor), exprs.int(shift));
        let begun = exprs.compare(CompareOp::GreaterEqual, false, before, shift);
        let since = exprs.sub(before, shift);
        let (phase, zero) = (exprs.builtin(Builtin::Mod, &[since, factor]), exprs.int(0));
        let in_phase = exprs.compare(CompareOp::Equal, false, phase, zero);
        let due = exprs.and(begun, in_phase);
        exprs.and(edge, due)
    }

    /// `interval()` of a partition's clock.
    pub(super) fn interval(&mut self, partition: usize) -> ExprId {
        let ticker = self.ticker(partition);
        let clock = self.clocks.of.get(&partition).copied();
        if let Some(interval) = clock.and_then(|clock| self.seconds(clock, clock.factor)) {
            return interval;
        }
        let first_interval = match clock.map(|clock| clock.base) {
            Some(Base::Event { first_interval, .. }) => first_interval,
            Some(Base::Varying { interval, .. }) => self.before(interval),
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

    pub(super) fn first_tick(&mut self, partition: usize) -> ExprId {
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
    pub(super) fn at_ticks(&mut self, partition: usize, variable: VarId, value: ExprId) {
        let ticker = self.ticker(partition);
        let exprs = &mut self.model.exprs;
        let (edge, pre, left) = (exprs.rising(ticker.tick), exprs.pre(variable), exprs.var(variable));
        let right = exprs.if_(edge, value, pre);
        let conditions = [ticker.tick].into_iter().collect();
        self.auxiliary(left, right, EquationRole::When(WhenClause { clause: ticker.clause, conditions }));
    }

    /// A discrete variable that is not in the text, zero at the start.
    pub(super) fn variable(&mut self, name: &str, ty: VariableType, start: Option<ExprId>) -> VarId {
        self.added += 1;
        let root = self.model.paths.root();
        let clock = self.model.paths.child(root, Name::new("clocks"), &[self.added]);
        let path = self.model.paths.child(clock, Name::new(name), &[]);
        let fixed = Some(self.model.exprs.boolean(true));
        self.model.variables.push(Variable {
            attributes: Arc::new(Attributes { start, fixed: start.and(fixed), ..Attributes::default() }),
            ..Variable::hidden(path, ty, Variability::Discrete)
        })
    }

    pub(super) fn auxiliary(&mut self, left: ExprId, right: ExprId, role: EquationRole) -> EqId {
        let component = self.model.paths.root();
        let origin = Origin { component, span: None, kind: OriginKind::Auxiliary };
        self.model.equations.push(Equation { left, right, role, origin })
    }
}
