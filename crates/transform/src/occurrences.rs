//! Where the leaves of an expression stand, which decides what an equation can be solved for and what its value waits
//! for.

use base::Id;
use dae::{Builtin, CallSiteId, ExprId, Exprs, Model, Node, VarId};
use rustc_hash::FxHashMap;

/// How the value depends on a leaf. In ascending order of strength.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Occurrence {
    /// Its past only: inside `delay`.
    History,
    /// Inside a relation or function that makes events, frozen between them.
    Frozen,
    /// A step function of it without event: `noEvent(x > 0)`, a Boolean.
    Step,
    /// Its slope is not zero everywhere.
    Smooth,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Leaf {
    Variable(VarId),
    Derivative(VarId),
    Pre(VarId),
    Time,
    /// What may change at events only, besides variables: `sample`, `terminal`, calls with an effect …
    Instant,
}

/// Collects leaves; keeps its tables from call to call.
#[derive(Clone, Default)]
pub struct Scanner {
    stamp: u32,
    seen: Vec<u32>,
    stacks: [Vec<ExprId>; 4],
    /// Arguments of calls that count as constant when the call is differentiated (`noDerivative`): nothing is solved for
    /// them.
    silent: FxHashMap<CallSiteId, Vec<bool>>,
    /// How many sites of calls were looked at for these.
    sites: usize,
    known: Option<Box<Known>>,
}

/// The leaves of equations that were scanned before.
#[derive(Clone, Default)]
struct Known {
    /// Where those of two sides stand.
    ranges: FxHashMap<(ExprId, ExprId), (u32, u32)>,
    leaves: Vec<(Leaf, Occurrence)>,
}

impl Scanner {
    /// A scanner that knows the arguments of calls that nothing is solved for.
    pub fn for_model(model: &Model) -> Self {
        let mut scanner = Self::default();
        scanner.learn(model);
        scanner
    }

    /// A scanner that remembers the leaves of equations.
    pub fn with_memory() -> Self {
        Self { known: Some(Box::default()), ..Self::default() }
    }

    /// Looks at the calls that are new.
    pub fn learn(&mut self, model: &Model) {
        let sites = model.exprs.call_sites();
        for (id, site) in sites.iter().skip(self.sites) {
            let Some(function) = model.functions.get(site.function) else { continue };
            let Some(annotation) = function.derivatives.iter().find(|a| !a.no_derivative.is_empty()) else { continue };
            let mut mask = Vec::new();
            for (position, shape) in site.inputs.iter().enumerate() {
                let is_silent = annotation.no_derivative.contains(&(position as u32));
                mask.extend(std::iter::repeat_n(is_silent, shape.scalars()));
            }
            self.silent.insert(id, mask);
        }
        self.sites = sites.len();
    }

    /// Like `scan`, for the two sides of an equation.
    pub fn scan_sides(&mut self, exprs: &Exprs, sides: (ExprId, ExprId), mut visit: impl FnMut(Leaf, Occurrence)) {
        let Some(mut known) = self.known.take() else { return self.scan(exprs, &[sides.0, sides.1], visit) };
        let Known { ranges, leaves } = &mut *known;
        let (start, end) = *ranges.entry(sides).or_insert_with(|| {
            let start = leaves.len() as u32;
            self.scan(exprs, &[sides.0, sides.1], |leaf, occurrence| leaves.push((leaf, occurrence)));
            (start, leaves.len() as u32)
        });
        leaves[start as usize..end as usize].iter().for_each(|&(leaf, occurrence)| visit(leaf, occurrence));
        self.known = Some(known);
    }

    /// Calls `visit` once for each leaf of `roots`, with the strongest occurrence it has.
    pub fn scan(&mut self, exprs: &Exprs, roots: &[ExprId], mut visit: impl FnMut(Leaf, Occurrence)) {
        self.stamp += 1;
        self.seen.resize(exprs.len(), 0);
        self.stacks[3].extend_from_slice(roots);
        for occurrence in [Occurrence::Smooth, Occurrence::Step, Occurrence::Frozen, Occurrence::History] {
            while let Some(id) = self.stacks[occurrence as usize].pop() {
                if std::mem::replace(&mut self.seen[id.index()], self.stamp) != self.stamp {
                    self.open(exprs, id, occurrence, &mut visit);
                }
            }
        }
    }

    /// Like `scan`, but a leaf is visited again for each weaker occurrence it also has.
    pub fn scan_all_occurrences(&mut self, exprs: &Exprs, roots: &[ExprId], mut visit: impl FnMut(Leaf, Occurrence)) {
        self.seen.resize(exprs.len(), 0);
        self.stacks[3].extend_from_slice(roots);
        for occurrence in [Occurrence::Smooth, Occurrence::Step, Occurrence::Frozen, Occurrence::History] {
            self.stamp += 1;
            while let Some(id) = self.stacks[occurrence as usize].pop() {
                if std::mem::replace(&mut self.seen[id.index()], self.stamp) != self.stamp {
                    self.open(exprs, id, occurrence, &mut visit);
                }
            }
        }
    }

    fn push(&mut self, occurrence: Occurrence, id: ExprId) {
        self.stacks[occurrence as usize].push(id);
    }

    fn open(&mut self, exprs: &Exprs, id: ExprId, occurrence: Occurrence, visit: &mut impl FnMut(Leaf, Occurrence)) {
        match exprs.node(id) {
            Node::Var(variable) => visit(Leaf::Variable(variable), occurrence),
            Node::Der(variable) => visit(Leaf::Derivative(variable), occurrence),
            Node::Pre(variable) | Node::Previous(variable) => visit(Leaf::Pre(variable), occurrence),
            Node::Time => visit(Leaf::Time, occurrence),
            Node::Compare { event, left, right, .. } => {
                let inner = occurrence.min(if event { Occurrence::Frozen } else { Occurrence::Step });
                self.push(inner, left);
                self.push(inner, right);
            }
            Node::If { condition, then, otherwise } => {
                self.push(occurrence.min(Occurrence::Step), condition);
                self.push(occurrence, then);
                self.push(occurrence, otherwise);
            }
            Node::And(..) | Node::Or(..) | Node::Not(_) => {
                exprs.for_each_child(id, |child| self.push(occurrence.min(Occurrence::Step), child));
            }
            Node::Builtin(op, args) => self.open_builtin(exprs.arguments(args), op, occurrence, visit),
            Node::Call { site, args, .. } => {
                for (index, &arg) in exprs.arguments(args).iter().enumerate() {
                    let silent = self.silent.get(&site).is_some_and(|mask| mask.get(index) == Some(&true));
                    self.push(if silent { occurrence.min(Occurrence::Step) } else { occurrence }, arg);
                }
            }
            _ => exprs.for_each_child(id, |child| self.push(occurrence, child)),
        }
    }

    fn open_builtin(
        &mut self,
        args: &[ExprId],
        op: Builtin,
        occurrence: Occurrence,
        visit: &mut impl FnMut(Leaf, Occurrence),
    ) {
        use Builtin::*;
        let (first, rest) = match op {
            Delay => {
                visit(Leaf::Time, occurrence);
                (Occurrence::History, Occurrence::Step)
            }
            SpatialFirst | SpatialSecond => {
                visit(Leaf::Time, occurrence);
                (Occurrence::Step, Occurrence::Step)
            }
            Floor | Ceil | Sign | Div => (Occurrence::Step, Occurrence::Step),
            FloorEvent | CeilEvent | DivEvent => (Occurrence::Frozen, Occurrence::Frozen),
            Sample | Initial | Terminal | ClockInferred | ClockRational | ClockReal | ClockEvent | ClockSolver
            | SampleClocked | Hold | SubSample | SuperSample | ShiftSample | BackSample | NoClock | Interval
            | FirstTick | ActiveState | TicksInState | TimeInState => {
                visit(Leaf::Instant, occurrence);
                (Occurrence::Frozen, Occurrence::Frozen)
            }
            _ => (Occurrence::Smooth, Occurrence::Smooth),
        };
        for (index, &arg) in args.iter().enumerate() {
            self.push(occurrence.min(if index == 0 { first } else { rest }), arg);
        }
    }
}
