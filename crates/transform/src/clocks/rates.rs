//! The clock of each partition: given by a constructor, or following from the partitions that conversions join it to
//! (16.7.5). Where a base partition has none, the fastest of its partitions ticks every second (16.3).

use base::{Diagnostic, Id};
use dae::{Builtin, ExprId, Model, Node, VarId, Variability};
use rustc_hash::{FxHashMap, FxHashSet};

use super::agreement::{self, agree};
use super::partitions::Partitions;
use super::ratio::Ratio;

/// A clock: every `factor`-th tick of its base, from tick number `shift` on; both may be fractions if the base is periodic.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Clock {
    pub(super) base: Base,
    pub(super) factor: Ratio,
    pub(super) shift: Ratio,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Base {
    /// A number of seconds.
    Exact(Ratio),
    /// Seconds that depend on parameters.
    Periodic(ExprId),
    /// Seconds that are computed at each tick of the partition.
    Varying {
        partition: usize,
        interval: ExprId,
        /// Where the interval is a count over a resolution, as in `Clock(count, resolution)`; a Real interval is that of the
        /// tick before (16.3).
        count: Option<(ExprId, ExprId)>,
    },
    /// The rises of a condition.
    Event { condition: ExprId, first_interval: ExprId },
}

#[derive(Default)]
pub(super) struct Clocks {
    pub(super) clocked: FxHashSet<usize>,
    pub(super) of: FxHashMap<usize, Clock>,
    pub(super) solvers: FxHashMap<usize, String>,
    pub(super) problems: Vec<Diagnostic>,
    pub(super) notices: Vec<Diagnostic>,
}

/// A conversion as seen from one of its sides.
#[derive(Clone)]
struct Edge {
    to: usize,
    operator: Builtin,
    arguments: Vec<ExprId>,
    /// It leads from the operand to the result.
    forward: bool,
}

type Edges = FxHashMap<usize, Vec<Edge>>;

impl Partitions {
    /// The clock of every clocked partition, by its representative, and the solver methods asked for.
    pub(super) fn clocks(&mut self, model: &mut Model) -> Clocks {
        let mut clocks = Clocks::default();
        let mut edges = Edges::default();
        for group in 0..self.groups.len() {
            let partition = self.of_group(group);
            if self.groups[group].is_clocked {
                clocks.clocked.insert(partition);
            }
            for constructor in self.groups[group].constructors.clone() {
                if let Some(clock) = constructed(model, constructor, partition) {
                    self.give(model, &mut clocks, partition, clock);
                }
            }
            for (operator, inner, arguments) in self.groups[group].conversions.clone() {
                let other = self.of_group(inner);
                if operator == Builtin::ClockSolver {
                    let method = arguments.first().and_then(|&name| model.exprs.as_string(name));
                    let method = method.filter(|method| !method.is_empty());
                    clocks.solvers.extend(method.map(|method| (partition, method.to_owned())));
                }
                let edge = Edge { to: partition, operator, arguments, forward: true };
                edges.entry(partition).or_default().push(Edge { to: other, forward: false, ..edge.clone() });
                edges.entry(other).or_default().push(edge);
            }
        }
        self.check_sampled(model, &mut clocks);
        self.check_held(model, &mut clocks);
        let mut given: Vec<usize> = clocks.of.keys().copied().collect();
        given.sort_unstable();
        self.spread(model, &mut clocks, &edges, given);
        self.give_inferred(model, &mut clocks, &edges);
        self.give_defaults(model, &mut clocks, &edges);
        self.check_starts(model, &mut clocks);
        clocks.of.values_mut().for_each(|clock| *clock = clock.in_seconds());
        infer_solvers(&mut clocks, &edges);
        clocks
    }

    /// The clocks of all partitions that conversions join to those in the queue.
    fn spread(&mut self, model: &mut Model, clocks: &mut Clocks, edges: &Edges, mut queue: Vec<usize>) {
        while let Some(partition) = queue.pop() {
            let Some(&clock) = clocks.of.get(&partition) else { continue };
            for edge in edges.get(&partition).into_iter().flatten() {
                let Some(converted) = convert(model, clock, edge) else { continue };
                if !clocks.of.contains_key(&edge.to) {
                    queue.push(edge.to);
                } else if !edge.forward {
                    // A contradiction is reported once.
                    continue;
                }
                self.give(model, clocks, edge.to, converted);
            }
        }
    }

    /// Gives a partition its clock; one that contradicts another is an error.
    fn give(&mut self, model: &mut Model, clocks: &mut Clocks, partition: usize, clock: Clock) {
        let known = *clocks.of.entry(partition).or_insert(clock);
        if agree(model, known, clock) {
            return;
        }
        let ticks = [known, clock].map(|clock| agreement::text(model, clock));
        let hint = match seconds(known).and(seconds(clock)) {
            Some(_) => "variables of different clocks are joined by subSample, superSample, shiftSample or backSample",
            None => "declare one `Clock` variable and use it in all places, or give intervals as in `Clock(1, 10)`",
        };
        let message = format!("the equations of {} would tick {}", self.name(model, partition), ticks.join(" and "));
        let diagnostic = Diagnostic::error("clock-conflict", message).hint(hint).specification("16.7.5");
        clocks.problems.push(self.at_partition(model, partition, diagnostic));
    }

    /// Where nothing tells the factor of a conversion, it is one.
    fn give_inferred(&mut self, model: &mut Model, clocks: &mut Clocks, edges: &Edges) {
        let mut queue: Vec<usize> = clocks.of.keys().copied().collect();
        queue.sort_unstable();
        while let Some(partition) = queue.pop() {
            let Some(&clock) = clocks.of.get(&partition) else { continue };
            for edge in edges.get(&partition).into_iter().flatten() {
                if !clocks.of.contains_key(&edge.to) {
                    let before: FxHashSet<usize> = clocks.of.keys().copied().collect();
                    clocks.of.insert(edge.to, clock);
                    self.spread(model, clocks, edges, vec![edge.to]);
                    queue.extend(clocks.of.keys().filter(|partition| !before.contains(partition)));
                }
            }
        }
    }

    /// What is held belongs to continuous time.
    fn check_held(&mut self, model: &Model, clocks: &mut Clocks) {
        let mut said = FxHashSet::default();
        for (value, group) in self.held.clone() {
            let partition = self.of_group(group);
            if !clocks.clocked.contains(&partition) || !said.insert(partition) {
                continue;
            }
            let text = model.expression_text(value);
            let message =
                format!("hold({text}) is a value of continuous time, and stands in an equation that is clocked");
            let diagnostic = Diagnostic::error("hold-in-clocked", message)
                .note(format!("equations join it to clocked variables: {}", self.name(model, partition)))
                .hint("leave out `hold`, or use sample(…) of a variable that is equal to it")
                .specification("16.7.3");
            clocks.problems.push(self.at_partition(model, partition, diagnostic));
        }
    }

    /// What is sampled is not clocked itself.
    fn check_sampled(&mut self, model: &Model, clocks: &mut Clocks) {
        let mut said = FxHashSet::default();
        for (value, group) in self.sampled.clone() {
            let partition = self.of_group(group);
            if !clocks.clocked.contains(&partition) || !said.insert(partition) {
                continue;
            }
            let text = model.expression_text(value);
            let message = format!("`sample` takes values of continuous time, and {text} is clocked");
            let diagnostic = Diagnostic::error("sample-of-clocked", message)
                .note(format!("equations join it to clocked variables: {}", self.name(model, partition)))
                .hint("use hold(…) of a clocked variable in equations that are not clocked")
                .specification("16.5.1");
            clocks.problems.push(self.at_partition(model, partition, diagnostic));
        }
    }

    /// No clock ticks before the one it is made from (`backSample`).
    fn check_starts(&mut self, model: &Model, clocks: &mut Clocks) {
        let early = |(_, clock): &(&usize, &Clock)| clock.shift.is_below(Ratio::ZERO);
        let mut partitions: Vec<usize> = clocks.of.iter().filter(early).map(|(&partition, _)| partition).collect();
        partitions.sort_unstable();
        for partition in partitions {
            let message = format!("the clock of {} would tick before the start", self.name(model, partition));
            let diagnostic = Diagnostic::error("clock-before-start", message)
                .hint("`backSample` takes back at most what `shiftSample` shifted")
                .specification("16.5.2");
            let diagnostic = self.at_partition(model, partition, diagnostic);
            clocks.problems.push(diagnostic);
        }
    }

    /// A default clock for base partitions without any.
    fn give_defaults(&mut self, model: &mut Model, clocks: &mut Clocks, edges: &Edges) {
        let mut open: Vec<usize> = clocks.clocked.iter().copied().collect();
        open.sort_unstable();
        for root in open {
            if clocks.of.contains_key(&root) {
                continue;
            }
            let before: FxHashSet<usize> = clocks.of.keys().copied().collect();
            let base = Base::Exact(Ratio::ONE);
            clocks.of.insert(root, Clock { base, factor: Ratio::ONE, shift: Ratio::ZERO });
            self.spread(model, clocks, edges, vec![root]);
            let new: Vec<usize> = clocks.of.keys().copied().filter(|partition| !before.contains(partition)).collect();
            let factors = new.iter().filter_map(|partition| clocks.of.get(partition)).map(|clock| clock.factor);
            let fastest = factors.fold(Ratio::ONE, |a, b| if b.is_below(a) { b } else { a });
            for partition in new {
                if let (Some(clock), Some(interval)) = (clocks.of.get_mut(&partition), Ratio::ONE.over(fastest)) {
                    clock.base = Base::Exact(interval);
                }
            }
            let name = self.name(model, root);
            let notice = Diagnostic::warning("default-clock", format!("no clock is given for {name}"))
                .note("the fastest of the equations that are clocked with it tick every second")
                .hint("name a clock, as in `sample(u, Clock(0.1))` or `when Clock(1, 10) then`")
                .specification("16.3")
                .decides();
            clocks.notices.push(self.at_partition(model, root, notice));
        }
    }

    /// The variables of a partition, or some of them, for messages.
    fn name(&mut self, model: &Model, partition: usize) -> String {
        let mut members = self.members(model, partition);
        members.retain(|v| v.index() < self.declared);
        let named: Vec<String> = members.into_iter().map(|v| format!("`{}`", model.variable_name(v))).collect();
        match named.len() {
            0 => "a clocked expression".to_owned(),
            1..=3 => named.join(", "),
            _ => format!("{}, …", named[..3].join(", ")),
        }
    }

    /// Up to four variables of a partition, what the text names first.
    fn members(&mut self, model: &Model, partition: usize) -> Vec<VarId> {
        let ids: Vec<VarId> = model.variables.ids().filter(|v| v.index() < self.variables).collect();
        let mut members: Vec<VarId> = ids.into_iter().filter(|v| self.find(v.index()) == partition).collect();
        members.sort_by_key(|&v| (v.index() >= self.declared, model.variables[v].hidden));
        members.truncate(4);
        members
    }

    pub(super) fn at_partition(&mut self, model: &Model, partition: usize, diagnostic: Diagnostic) -> Diagnostic {
        let Some(&first) = self.members(model, partition).first() else { return diagnostic };
        let about = if first.index() < self.declared { "one of these variables" } else { "in these equations" };
        match model.variables[first].span {
            Some(span) => diagnostic.at(span, about),
            None => diagnostic,
        }
    }
}

impl Clock {
    /// Equal clocks of known numbers look equal: the interval itself is the base.
    fn in_seconds(self) -> Clock {
        match (seconds(self), self.shift.over(self.factor)) {
            (Some((interval, _)), Some(shift)) => Clock { base: Base::Exact(interval), factor: Ratio::ONE, shift },
            _ => self,
        }
    }
}

/// Interval and first tick in seconds, where they are known numbers.
pub(super) fn seconds(clock: Clock) -> Option<(Ratio, Ratio)> {
    let Base::Exact(interval) = clock.base else { return None };
    Some((interval.times(clock.factor)?, interval.times(clock.shift)?))
}

/// The clock that a constructor makes; `None` for one that is inferred.
fn constructed(model: &mut Model, constructor: ExprId, partition: usize) -> Option<Clock> {
    let Node::Builtin(op, args) = model.exprs.node(constructor) else { return None };
    let args = model.exprs.arguments(args).to_vec();
    let base = match (op, args.as_slice()) {
        (Builtin::ClockEvent, &[condition, ref rest @ ..]) => {
            let zero = model.exprs.real(0.0);
            Base::Event { condition, first_interval: rest.first().copied().unwrap_or(zero) }
        }
        (Builtin::ClockRational, &[count, resolution]) => {
            match (model.exprs.as_integer(count), model.exprs.as_integer(resolution)) {
                (Some(0), _) => return None,
                (Some(count), Some(resolution)) => Base::Exact(Ratio::new(count, resolution)?),
                _ => {
                    let one = model.exprs.real(1.0);
                    let number = model.exprs.mul(one, count);
                    let interval = model.exprs.div(number, resolution);
                    computed(model, interval, partition, Some((count, resolution)))
                }
            }
        }
        (_, &[interval, ..]) => computed(model, interval, partition, None),
        _ => return None,
    };
    Some(Clock { base, factor: Ratio::ONE, shift: Ratio::ZERO })
}

fn computed(model: &Model, interval: ExprId, partition: usize, count: Option<(ExprId, ExprId)>) -> Base {
    let variables = model.exprs.dependencies(&[interval]).variables;
    match variables.iter().any(|&v| model.variables[v].variability > Variability::Parameter) {
        true => Base::Varying { partition, interval, count },
        false => Base::Periodic(interval),
    }
}

/// The clock of the other side of a conversion; `None` where the factor is to be inferred, or is not known.
fn convert(model: &Model, clock: Clock, edge: &Edge) -> Option<Clock> {
    let number = |at: usize| edge.arguments.get(at).and_then(|&argument| model.exprs.as_integer(argument));
    let Clock { base, factor, shift } = clock;
    match edge.operator {
        Builtin::ClockSolver => Some(clock),
        Builtin::SubSample | Builtin::SuperSample => {
            let by = Ratio::new(number(0).filter(|&by| by > 0)?, 1)?;
            let faster = (edge.operator == Builtin::SuperSample) == edge.forward;
            let factor = if faster { factor.over(by)? } else { factor.times(by)? };
            Some(Clock { base, factor, shift })
        }
        Builtin::ShiftSample | Builtin::BackSample => {
            let by = factor.times(Ratio::new(number(0)?, number(1).unwrap_or(1))?)?;
            let later = (edge.operator == Builtin::ShiftSample) == edge.forward;
            let shift = if later { shift.plus(by)? } else { shift.minus(by)? };
            Some(Clock { base, factor, shift })
        }
        _ => None,
    }
}

/// A partition without a solver method takes that of the partitions it is joined to (16.8.4).
fn infer_solvers(clocks: &mut Clocks, edges: &Edges) {
    let mut queue: Vec<usize> = clocks.solvers.keys().copied().collect();
    queue.sort_unstable();
    while let Some(partition) = queue.pop() {
        let Some(method) = clocks.solvers.get(&partition).cloned() else { continue };
        for edge in edges.get(&partition).into_iter().flatten() {
            clocks.solvers.entry(edge.to).or_insert_with(|| {
                queue.push(edge.to);
                method.clone()
            });
        }
    }
}
