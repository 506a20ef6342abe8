//! Where everything lies in memory, and the tables of what needs the simulator: relations, samples, delays.
//!
//! The fixed part of the address space, in order: time, lambda, flags; one address for each variable that is no alias;
//! left limits (`pre`); previous values; states of relations; samples; delays; actions; tangents of the first part.

use base::{Id, IdVec};
use dae::{
    Action, ActionKind, ArgsId, Builtin, CompareOp, ExprId, Exprs, Model, Node, VarId, Variability, VariableType,
};
use rustc_hash::{FxHashMap, FxHashSet};
use transform::{Block, Role, Schedule};

use crate::addresses::{Addresses, SlotOwner};
use crate::code::{Address, Rounding};
use crate::profile::End;

base::id_type!(
    /// A relation or rounding that makes events.
    pub RelationId, "relation"
);

/// Addresses that every program has.
pub const TIME: Address = 0;
/// The parameter of homotopy, 1 for the actual problem.
pub const LAMBDA: Address = 1;
/// `initial()` and `terminal()`.
pub const INITIAL: Address = 2;
/// `terminal()`.
pub const TERMINAL: Address = 3;
/// Whether evaluation updates the states of relations.
pub const LIVE: Address = 4;
/// Zero after machine code all of whose results are finite, unless their sum is not.
pub const CHECK: Address = 5;
/// How far behind the instant relations in when clauses see time, at an event of a relation on time.
pub const AHEAD: Address = 6;
/// How many of the turns that loops of a call may take are taken from it: after one that has no end there is little patience.
pub const IMPATIENCE: Address = 7;
const FIRST_VARIABLE: Address = 8;

/// Where a variable lies; an alias may be the negative (for Booleans the negation) of what is there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VariableSlot {
    /// The address.
    pub slot: Address,
    /// The value is the negative, or the negation, of what is there.
    pub negated: bool,
}

/// What is frozen between events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the variants say what their fields are")]
pub enum RelationKind {
    /// The state is the sign of left − right.
    Compare { left: ExprId, right: ExprId },
    /// The state is the rounded argument.
    Round { rounding: Rounding, argument: ExprId },
}

/// What the residue of a relation depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// Changes at events only.
    Discrete,
    /// Linear in time with coefficients that change at events only: the next crossing is known exactly.
    Time,
    /// Any other function of time alone: no integrator chooses its steps by it.
    Signal,
    /// Any other function of variables.
    Continuous,
}

/// A relation or a rounding that makes events.
#[derive(Clone, Debug)]
pub struct Relation {
    /// What is frozen.
    pub kind: RelationKind,
    /// The first expression of the model that it stands for.
    pub expression: ExprId,
    /// left − right, or the argument.
    pub residue: ExprId,
    /// The address of its frozen state.
    pub state: Address,
    /// What its residue depends on.
    pub class: Class,
    /// Whether a comparison with it changes just behind the instant at which its residue is zero: where the residue rises, and
    /// where it falls.
    pub changes_behind: [bool; 2],
}

impl Relation {
    /// The address of its band: a residue that is not larger, but not zero, leaves the state as it is. A negative band has no
    /// effect.
    pub fn band(&self) -> Address {
        self.state + BAND
    }

    /// The address of what is added to its residue: how far a relation on time goes within the instant of an event.
    pub fn shift(&self) -> Address {
        self.state + SHIFT
    }
}

/// The distances from the state of a relation to its band and to its shift.
pub const BAND: Address = 1;
pub const SHIFT: Address = 2;

/// `sample(start, interval)`.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The expression of the model.
    pub expression: ExprId,
    /// The first instant.
    pub start: ExprId,
    /// The distance of instants.
    pub interval: ExprId,
    /// Set by the simulator at its instants.
    pub flag: Address,
    /// Hold the values of the two expressions after the section `samples` ran.
    pub start_value: Address,
    /// Holds the interval.
    pub interval_value: Address,
}

/// `delay(expression, delay, maximum)`.
#[derive(Clone, Debug)]
pub struct Delay {
    /// The expression of the model.
    pub expression: ExprId,
    /// Holds the value of the delayed expression at the last evaluation.
    pub value: Address,
    /// Holds the longest delay asked for.
    pub maximum: Address,
    /// Holds the delay at the last evaluation.
    pub time: Address,
    /// Before the start the expression was zero, whatever it is at the start.
    pub rests: bool,
}

/// `spatialDistribution(in0, in1, x, positive, points, values)`: its arguments at the last evaluation, in order.
#[derive(Clone, Debug)]
pub struct Transport {
    pub arguments: Address,
    pub count: u32,
}

/// An action of the model: after its section ran, `active` and `value` hold what was found.
#[derive(Clone, Debug)]
pub struct ActionSlots {
    /// 1 where the condition holds (or there is none).
    pub active: Address,
    /// The value of a reinit, whether an assertion holds, the result of a call.
    pub value: Address,
}

/// All addresses.
#[derive(Clone, Debug)]
pub struct Layout {
    places: IdVec<VarId, VariableSlot>,
    pre: FxHashMap<Address, Address>,
    previous: FxHashMap<Address, Address>,
    /// Everything that makes events at crossings.
    pub relations: IdVec<RelationId, Relation>,
    /// Everything that makes events periodically.
    pub samples: Vec<Sample>,
    /// What `delay` remembers.
    pub delays: Vec<Delay>,
    /// What `spatialDistribution` remembers.
    pub transports: Vec<Transport>,
    /// The actions of the model, in their order.
    pub actions: Vec<ActionSlots>,
    /// The actions of initial sections, in their order.
    pub initial_actions: Vec<ActionSlots>,
    /// Expressions that read the state of a relation, a sample or a delay.
    /// Whether a relation in a when clause may be evaluated just behind the instant.
    pub(crate) looks_behind: bool,
    pub(crate) relation_of: FxHashMap<ExprId, RelationId>,
    pub(crate) sample_of: FxHashMap<ExprId, u32>,
    pub(crate) delay_of: FxHashMap<ExprId, u32>,
    pub(crate) transport_of: FxHashMap<ArgsId, u32>,
    /// How many addresses have a tangent: time, flags and variables.
    pub tangible: u32,
    /// The address of the tangent of address 0.
    pub tangents: Address,
    /// The length of the fixed part.
    pub fixed: u32,
}

impl Layout {
    /// The number by which code asks for what leaves at one end of a transport.
    pub(crate) fn transport_end(&self, transport: u32, end: End) -> u32 {
        self.delays.len() as u32 + 2 * transport + u32::from(end == End::Second)
    }

    /// The history and the end that such a number, or that of a delay, stands for.
    pub(crate) fn history(&self, number: u32) -> (usize, End) {
        let (number, delays) = (number as usize, self.delays.len());
        match number.checked_sub(delays) {
            Some(rest) => (delays + rest / 2, if rest % 2 == 0 { End::First } else { End::Second }),
            None => (number, End::First),
        }
    }

    /// Interns what roundings of quotients need, finds everything that makes events, and gives out addresses. Also whether
    /// they are those of the programs before.
    pub(crate) fn new(schedule: &mut Schedule, addresses: &mut Addresses) -> (Self, bool) {
        let places = places(schedule);
        let tangible = places.values().map(|place| place.slot + 1).max().unwrap_or(FIRST_VARIABLE);
        let as_before = addresses.begin(tangible);
        let mut layout = Layout {
            places,
            pre: FxHashMap::default(),
            previous: FxHashMap::default(),
            relations: IdVec::new(),
            samples: Vec::new(),
            delays: Vec::new(),
            actions: Vec::new(),
            initial_actions: Vec::new(),
            looks_behind: false,
            relation_of: FxHashMap::default(),
            sample_of: FxHashMap::default(),
            delay_of: FxHashMap::default(),
            transports: Vec::new(),
            transport_of: FxHashMap::default(),
            tangible,
            tangents: 0,
            fixed: 0,
        };
        let order = schedule.model.exprs.postorder(&roots(schedule));
        let mut keys: FxHashMap<(u8, ExprId, ExprId), RelationId> = FxHashMap::default();
        for id in order {
            match schedule.model.exprs.node(id) {
                Node::Pre(variable) => {
                    let slot = layout.places[variable].slot;
                    layout.pre.entry(slot).or_insert_with(|| addresses.of(SlotOwner::Pre(slot), 1));
                }
                Node::Previous(variable) => {
                    let slot = layout.places[variable].slot;
                    layout.previous.entry(slot).or_insert_with(|| addresses.of(SlotOwner::Previous(slot), 1));
                }
                Node::Builtin(Builtin::Sample, args) => {
                    let args = schedule.model.exprs.arguments(args);
                    let (Some(&start), Some(&interval)) = (args.first(), args.get(1)) else { continue };
                    let flag = addresses.of(SlotOwner::Sample(id), 3);
                    layout.sample_of.insert(id, layout.samples.len() as u32);
                    layout.samples.push(Sample {
                        expression: id,
                        start,
                        interval,
                        flag,
                        start_value: flag + 1,
                        interval_value: flag + 2,
                    });
                }
                Node::Builtin(Builtin::Delay, args) => {
                    let rests = schedule.model.exprs.arguments(args).len() > 3;
                    let value = addresses.of(SlotOwner::Delay(id), 3);
                    layout.delay_of.insert(id, layout.delays.len() as u32);
                    layout.delays.push(Delay { expression: id, value, maximum: value + 1, time: value + 2, rests });
                }
                Node::Builtin(Builtin::JustBehind, _) => layout.looks_behind = true,
                Node::Builtin(Builtin::SpatialFirst | Builtin::SpatialSecond, args) => {
                    let count = schedule.model.exprs.arguments(args).len() as u32;
                    layout.transport_of.entry(args).or_insert_with(|| {
                        let arguments = addresses.of(SlotOwner::Transport(args), count);
                        layout.transports.push(Transport { arguments, count });
                        layout.transports.len() as u32 - 1
                    });
                }
                node => {
                    let Some(kind) = relation_kind(&mut schedule.model, node) else { continue };
                    let key = match kind {
                        RelationKind::Compare { left, right } => (0, left, right),
                        RelationKind::Round { rounding, argument } => (1 + rounding as u8, argument, argument),
                    };
                    let residue = match kind {
                        RelationKind::Compare { left, right } => schedule.model.exprs.intern(Node::Sub(left, right)),
                        RelationKind::Round { argument, .. } => argument,
                    };
                    let relation = *keys.entry(key).or_insert_with(|| {
                        let state = addresses.of(owner(&schedule.model.exprs, key), 1 + SHIFT);
                        let class = Class::Continuous;
                        let changes_behind = [false; 2];
                        layout.relations.push(Relation { kind, expression: id, residue, state, class, changes_behind })
                    });
                    if let Node::Compare { op, .. } = node {
                        let [rising, falling] = &mut layout.relations[relation].changes_behind;
                        *rising |= matches!(op, CompareOp::Greater | CompareOp::LessEqual);
                        *falling |= matches!(op, CompareOp::Less | CompareOp::GreaterEqual);
                    }
                    layout.relation_of.insert(id, relation);
                }
            }
        }
        layout.classify(schedule);
        let mut slots = |count: usize, owner: fn(usize) -> SlotOwner| {
            let slots = |number: usize| {
                let active = addresses.of(owner(number), 2);
                ActionSlots { active, value: active + 1 }
            };
            (0..count).map(slots).collect()
        };
        layout.actions = slots(schedule.model.actions.len(), SlotOwner::Action);
        layout.initial_actions = slots(schedule.model.initial_actions.len(), SlotOwner::InitialAction);
        (layout.tangents, layout.fixed) = addresses.tangents();
        (layout, as_before)
    }

    /// Where a variable lies, and with which sign.
    pub fn place(&self, variable: VarId) -> VariableSlot {
        self.places[variable]
    }

    /// The relation that an expression stands for.
    pub fn relation(&self, expression: ExprId) -> Option<&Relation> {
        self.relations.get(*self.relation_of.get(&expression)?)
    }

    /// The address of a variable, whatever its sign.
    pub fn slot(&self, variable: VarId) -> Address {
        self.places[variable].slot
    }

    /// Where the left limit of what lies at `slot` is kept; only what is asked for by `pre` has one.
    pub fn pre(&self, slot: Address) -> Option<Address> {
        self.pre.get(&slot).copied()
    }

    /// Where the previous value of what lies at `slot` is kept, for clocked variables.
    pub fn previous(&self, slot: Address) -> Option<Address> {
        self.previous.get(&slot).copied()
    }

    /// All pairs of an address and that of its left limit, in ascending order.
    pub fn pre_pairs(&self) -> Vec<(Address, Address)> {
        sorted(&self.pre)
    }

    /// All pairs of an address and that of its previous value, in ascending order.
    pub fn previous_pairs(&self) -> Vec<(Address, Address)> {
        sorted(&self.previous)
    }

    /// The same addresses, each of which has a tangent, and one more for the residue of each relation.
    pub(crate) fn with_all_tangents(&self) -> Self {
        self.with_tangents_and(self.relations.len())
    }

    /// The same addresses and so many more, each of which has a tangent.
    pub(crate) fn with_tangents_and(&self, count: usize) -> Self {
        let tangible = self.fixed + count as u32;
        Self { tangible, tangents: tangible, fixed: 2 * tangible, ..self.clone() }
    }

    /// Where the residue of a relation lies, in a layout with all tangents.
    pub(crate) fn residue(&self, relation: RelationId) -> Address {
        self.tangible - self.relations.len() as u32 + relation.index() as u32
    }

    /// The address of the tangent of an address, where it has one.
    pub fn tangent(&self, slot: Address) -> Option<Address> {
        (slot < self.tangible).then(|| self.tangents + slot)
    }

    fn classify(&mut self, schedule: &Schedule) {
        let classes = classes(schedule);
        let class = |id: ExprId| classes.get(id).copied().unwrap_or(Class::Continuous);
        // A relation of the initial problem alone is never looked at again, so it must not wait for its crossing.
        let run_time = roots_of(&schedule.blocks, &schedule.model.actions);
        let used: FxHashSet<RelationId> = (schedule.model.exprs.postorder(&run_time).iter())
            .filter_map(|id| self.relation_of.get(id).copied())
            .collect();
        for (id, relation) in self.relations.iter_mut() {
            relation.class = if used.contains(&id) { class(relation.residue) } else { Class::Discrete };
        }
    }
}

fn sorted(pairs: &FxHashMap<Address, Address>) -> Vec<(Address, Address)> {
    let mut pairs: Vec<_> = pairs.iter().map(|(&a, &b)| (a, b)).collect();
    pairs.sort_unstable();
    pairs
}

fn places(schedule: &Schedule) -> IdVec<VarId, VariableSlot> {
    let mut next = FIRST_VARIABLE;
    let mut take = || {
        let start = next;
        next += 1;
        start
    };
    let variables = &schedule.model.variables;
    let mut places = IdVec::filled(VariableSlot { slot: u32::MAX, negated: false }, variables.len());
    let role = |id: VarId| schedule.roles.get(id).copied().unwrap_or(Role::Algebraic);
    for id in variables.ids() {
        if !matches!(role(id), Role::Alias { .. }) {
            places[id] = VariableSlot { slot: take(), negated: false };
        }
    }
    for id in variables.ids() {
        let (mut target, mut sign) = (id, false);
        // A chain of aliases cannot be longer than the list of variables.
        for _ in 0..variables.len() {
            let Role::Alias { of, negated } = role(target) else { break };
            target = of;
            sign ^= negated;
        }
        places[id] = match places[target].slot {
            u32::MAX => VariableSlot { slot: take(), negated: false },
            slot => VariableSlot { slot, negated: sign },
        };
    }
    places
}

/// Every expression that code is made from.
pub(crate) fn roots(schedule: &Schedule) -> Vec<ExprId> {
    let mut roots: Vec<ExprId> = schedule.parameters.iter().map(|assignment| assignment.value).collect();
    roots.extend(roots_of(&schedule.initial, &schedule.model.initial_actions));
    roots.extend(roots_of(&schedule.blocks, &schedule.model.actions));
    roots.extend(schedule.inline.iter().flat_map(|inline| roots_of(&inline.blocks, &[])));
    roots
}

pub(crate) fn roots_of(blocks: &[Block], actions: &[Action]) -> Vec<ExprId> {
    let mut roots = Vec::new();
    for block in blocks {
        match block {
            Block::Assign { assignment, .. } => roots.push(assignment.value),
            Block::System { system, .. } => {
                roots.extend(system.inner.iter().chain(&system.discrete).map(|assignment| assignment.value));
                roots.extend(&system.residuals);
            }
        }
    }
    for action in actions {
        roots.extend(action.condition);
        match action.kind {
            ActionKind::Reinit { value, .. } => roots.push(value),
            ActionKind::Assert { holds, .. } => roots.push(holds),
            ActionKind::Call(call) => roots.push(call),
            ActionKind::Terminate { .. } => {}
        }
    }
    roots
}

/// A relation in terms of expressions that were there before: quotients have been added.
fn owner(exprs: &Exprs, (kind, left, right): (u8, ExprId, ExprId)) -> SlotOwner {
    match exprs.node(left) {
        Node::Div(dividend, divisor) if kind > 0 => SlotOwner::Relation(kind | 0x80, dividend, divisor),
        _ => SlotOwner::Relation(kind, left, right),
    }
}

fn relation_kind(model: &mut Model, node: Node) -> Option<RelationKind> {
    let (op, args) = match node {
        Node::Compare { event: true, left, right, op: _ } => return Some(RelationKind::Compare { left, right }),
        Node::Builtin(op, args) => (op, model.exprs.arguments(args)),
        _ => return None,
    };
    let rounding = match op {
        Builtin::FloorEvent | Builtin::ModEvent => Rounding::Floor,
        Builtin::CeilEvent => Rounding::Ceil,
        Builtin::DivEvent | Builtin::RemEvent => Rounding::Truncate,
        _ => return None,
    };
    let argument = match *args {
        [x] => x,
        [x, y, ..] => model.exprs.intern(Node::Div(x, y)),
        [] => return None,
    };
    Some(RelationKind::Round { rounding, argument })
}

/// What each expression depends on; children stand before their parents, so one pass will do.
/// The classes of all expressions. Variables that are assigned functions of time alone are such functions; a chain of many
/// assignments is followed as far as anybody writes one.
fn classes(schedule: &Schedule) -> IdVec<ExprId, Class> {
    const LONGEST_CHAIN: usize = 8;
    let mut signals = FxHashSet::default();
    let mut classes = classes_with(schedule, &signals);
    for _ in 0..LONGEST_CHAIN {
        let before = signals.len();
        for assignment in schedule.blocks.iter().filter_map(|block| match block {
            transform::Block::Assign { assignment, .. } => Some(assignment),
            transform::Block::System { .. } => None,
        }) {
            if classes.get(assignment.value).is_some_and(|&class| matches!(class, Class::Time | Class::Signal)) {
                signals.insert(assignment.variable);
            }
        }
        if signals.len() == before {
            break;
        }
        classes = classes_with(schedule, &signals);
    }
    classes
}

fn classes_with(schedule: &Schedule, signals: &FxHashSet<VarId>) -> IdVec<ExprId, Class> {
    let exprs = &schedule.model.exprs;
    let mut classes: IdVec<ExprId, Class> = IdVec::with_capacity(exprs.len());
    for id in exprs.ids() {
        let of = |child: ExprId| classes.get(child).copied().unwrap_or(Class::Continuous);
        let all = |children: &[ExprId]| {
            let discrete = children.iter().all(|&child| of(child) == Class::Discrete);
            let largest = children.iter().map(|&child| of(child)).max().unwrap_or(Class::Discrete);
            if discrete { Class::Discrete } else { largest.max(Class::Signal) }
        };
        let class = match exprs.node(id) {
            Node::Real(_) | Node::Integer(_) | Node::Boolean(_) | Node::String(_) => Class::Discrete,
            Node::Pre(_) | Node::Previous(_) | Node::Compare { event: true, .. } => Class::Discrete,
            Node::Time => Class::Time,
            Node::Var(variable) => variable_class(schedule, variable, signals),
            Node::Der(_) => Class::Continuous,
            Node::Neg(a) => of(a),
            Node::Add(a, b) | Node::Sub(a, b) => of(a).max(of(b)),
            Node::Mul(a, b) => match (of(a), of(b)) {
                (Class::Discrete, other) | (other, Class::Discrete) => other,
                _ => all(&[a, b]),
            },
            Node::Div(a, b) if of(b) == Class::Discrete => of(a),
            Node::Div(a, b) => all(&[a, b]),
            Node::Pow(a, b) | Node::And(a, b) | Node::Or(a, b) => all(&[a, b]),
            Node::Compare { left, right, .. } => all(&[left, right]),
            Node::Not(a) => all(&[a]),
            Node::If { condition, then, otherwise } if of(condition) == Class::Discrete => of(then).max(of(otherwise)),
            Node::If { condition, then, otherwise } => all(&[condition, then, otherwise]),
            Node::Builtin(op, args) => {
                let args = exprs.arguments(args);
                match op {
                    Builtin::FloorEvent | Builtin::CeilEvent | Builtin::DivEvent => Class::Discrete,
                    Builtin::Sample | Builtin::Initial | Builtin::Terminal => Class::Discrete,
                    Builtin::Delay | Builtin::SpatialFirst | Builtin::SpatialSecond => Class::Continuous,
                    Builtin::ModEvent | Builtin::RemEvent => match *args {
                        [x, y] if of(y) == Class::Discrete => of(x),
                        _ => all(args),
                    },
                    _ => all(args),
                }
            }
            Node::Call { args, .. } => all(exprs.arguments(args)),
        };
        classes.push(class);
    }
    classes
}

fn variable_class(schedule: &Schedule, variable: VarId, signals: &FxHashSet<VarId>) -> Class {
    let (Some(declared), Some(&role)) = (schedule.model.variables.get(variable), schedule.roles.get(variable)) else {
        return Class::Continuous;
    };
    if declared.ty != VariableType::Real || declared.variability <= Variability::Discrete {
        return Class::Discrete;
    }
    match role {
        Role::Constant | Role::Parameter | Role::Discrete => Class::Discrete,
        Role::Alias { of, .. } if of != variable => match schedule.roles.get(of) {
            Some(Role::Constant | Role::Parameter | Role::Discrete) => Class::Discrete,
            _ if signals.contains(&of) => Class::Signal,
            _ => Class::Continuous,
        },
        Role::State { .. } => Class::Continuous,
        _ if signals.contains(&variable) => Class::Signal,
        _ => Class::Continuous,
    }
}
