//! The clock of each partition: given by a constructor, or following from the partitions that conversions join it to
//! (16.7.4).

use dae::{Builtin, ExprId, Model, Node, Variability};
use rustc_hash::{FxHashMap, FxHashSet};

use super::partitions::Partitions;

/// A clock; the expressions depend on parameters only.
#[derive(Clone, Debug)]
pub(super) enum Clock {
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
    /// The clock of every clocked partition, by its representative, and the solver methods asked for.
    pub(super) fn clocks(&mut self, model: &mut Model) -> Clocks {
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

#[derive(Default)]
pub(super) struct Clocks {
    pub(super) clocked: FxHashSet<usize>,
    pub(super) of: FxHashMap<usize, Clock>,
    pub(super) solvers: FxHashMap<usize, String>,
}

pub(super) fn constructed(model: &mut Model, constructor: ExprId) -> Clock {
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
pub(super) fn convert(model: &mut Model, clock: &Clock, op: Builtin, rest: &[ExprId], forward: bool) -> Option<Clock> {
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
