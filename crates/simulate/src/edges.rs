//! The edges of conditions: points at which a trajectory has no derivative, because with a parameter a little larger something
//! else happens than with one a little smaller.
//!
//! Within an event, and at the first point, a condition may be exactly at the value at which it changes: `x > 0` in the body of
//! a when clause with x = 0, a second condition at the instant of a first one, `floor(a)` of a whole number, `max(a, b)` of
//! equals. As long as its sides move alike with all parameters, along the instant of the event, nothing is lost: the condition
//! that makes the event is of this kind. Otherwise what holds here is an edge, unless it changes nothing: with the condition
//! decided either way the states have the same slopes and discrete variables the same values.

use base::{Decimal, Diagnostic};
use compile::{Address, ExpressionTangents, Memory, Probe, Program, RelationId, RelationKind};
use dae::{ActionKind, Builtin, EquationRole, ExprId, Model, Node, VarId};
use rustc_hash::FxHashSet;
use transform::{Block, Role};

use crate::machine::{Machine, Phase, Trouble};
use crate::places::with_place;
use crate::sensitivities::refusal;

/// Relative to the sides of a condition, what differs by less is equal.
const ROUNDING: f64 = 1e-13;
/// Relative to time, instants that differ by less are one.
const SAME_INSTANT: f64 = 1e-10;
/// Relative to its terms, and to all tangents of a column, a tangent that is smaller vanishes.
const VANISHES: f64 = 1e-6;
const NOISE: f64 = 1e-10;
/// Relative to their sizes, outcomes that differ by less are the same.
const SAME: f64 = 1e-9;

/// What may stand on its edge in one program.
#[derive(Clone)]
pub(crate) struct Edges {
    conditions: Vec<Condition>,
    /// The sides of the conditions, two for each.
    sides: Vec<ExprId>,
    values: Probe,
    /// Made when something stands on its edge.
    tangents: Option<(ExpressionTangents, Memory)>,
    /// The relations that nothing but the initial problem reads.
    initial: FxHashSet<RelationId>,
    /// The first point was looked at.
    has_begun: bool,
    scratch: Vec<f64>,
}

#[derive(Clone)]
struct Condition {
    expression: ExprId,
    counts: Counts,
    edge: At,
}

/// When a condition counts.
#[derive(Clone)]
enum Counts {
    /// It makes events.
    Always(RelationId),
    /// It stands in the body of a when clause with these conditions, where nothing makes events.
    In(Vec<VarId>),
    /// It stands in the action of this number.
    InAction(usize),
    /// It depends on parameters alone.
    AtStart,
}

/// Where a condition with two sides has its edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum At {
    /// Where they are equal.
    Equal,
    /// Where the first one is zero.
    Zero,
    /// Where the first one is whole.
    Whole,
    /// Where their quotient is whole.
    Quotient,
    /// Where the first one is 1 or -1.
    One,
}

impl At {
    /// How far the edge is, and the size of what that is computed from.
    pub fn distance(self, one: f64, other: f64) -> (f64, f64) {
        match self {
            Self::Equal => ((one - other).abs(), one.abs().max(other.abs())),
            Self::Zero => (one.abs(), 0.0),
            Self::Whole => ((one - one.round()).abs(), one.abs()),
            Self::Quotient => ((one - other * (one / other).round()).abs(), one.abs()),
            Self::One => ((one.abs() - 1.0).abs(), one.abs()),
        }
    }

    /// How far a condition on its edge moves from it.
    pub fn tangent(self, [one, other]: [f64; 2], [slope, other_slope]: [f64; 2]) -> f64 {
        match self {
            Self::Equal => slope - other_slope,
            Self::Zero | Self::Whole | Self::One => slope,
            Self::Quotient => slope - (one / other).round() * other_slope,
        }
    }
}

/// A condition on its edge, and how far its sides move from each other, by column.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub expression: ExprId,
    pub relation: Option<RelationId>,
    /// What is smaller is rounding, by column.
    pub noise: Vec<f64>,
    pub tangents: Vec<f64>,
}

impl Edge {
    /// Whether the condition leaves its edge with a parameter, at the instant that moves with it by `shift`.
    pub fn is_left(&self, column: usize, shift: f64) -> bool {
        let own = self.tangents[column];
        let with_instant = self.tangents.last().filter(|_| shift != 0.0).map_or(0.0, |along| along * shift);
        let moved = (own + with_instant).abs();
        moved > VANISHES * own.abs().max(with_instant.abs()) && moved > self.noise[column]
    }

    /// Why there is no derivative with respect to a parameter.
    pub fn refusal(&self, program: &Program, parameter: VarId, time: f64) -> Trouble {
        let model = program.model();
        let (text, parameter) = (model.expression_text(self.expression), model.variable_name(parameter));
        let message = format!(
            "at time {} `{text}` stands exactly on its edge, and `{parameter}` moves it: what happens differs between a \
             larger and a smaller value, and the trajectory has no derivative",
            Decimal(time)
        );
        let hint = format!("ask at another value of `{parameter}`, or of what else moves the condition");
        let diagnostic: Diagnostic = refusal(message).names_time().hint(hint);
        Trouble::Model(Box::new(with_place(model, self.expression, "here", diagnostic)))
    }
}

impl Edges {
    pub fn new(machine: &mut Machine) -> Result<Self, Trouble> {
        let program = &machine.program.clone();
        let mut found = Found { program, conditions: Vec::new(), sides: Vec::new() };
        let read = |roots: &[ExprId]| program.model().exprs.postorder(roots).into_iter().collect::<FxHashSet<ExprId>>();
        let (initial, running) = (read(&roots(&program.schedule.initial)), read(&roots(&program.schedule.blocks)));
        let is_initial = |id: ExprId| initial.contains(&id) && !running.contains(&id);
        let relations = program.layout.relations.iter();
        let initial = relations.filter(|(_, it)| is_initial(it.expression)).map(|(id, _)| id).collect();
        found.relations();
        found.when_bodies();
        found.parameters();
        let Found { conditions, sides, .. } = found;
        let values = Probe::new(program, &sides, &mut machine.memory).map_err(|it| Trouble::Model(Box::new(it)))?;
        Ok(Self { conditions, sides, values, tangents: None, initial, has_begun: false, scratch: Vec::new() })
    }

    /// The conditions on their edges at the point in memory. `slopes` are those of the residues of relations along time
    /// before the event, where they are known; `direction` gives the tangents of everything, by column and address.
    pub fn find(
        &mut self,
        machine: &mut Machine,
        slopes: &[f64],
        direction: impl FnOnce(&mut Machine) -> Result<Vec<Vec<f64>>, Trouble>,
    ) -> Result<Vec<Edge>, Trouble> {
        let program = &machine.program.clone();
        // At the instant itself, not just behind it.
        let mut still = machine.memory.clone();
        still.set_ahead(0.0);
        self.values.run(program, &mut still, &mut self.scratch);
        let time = machine.memory.time().abs();
        let on_edge = |place: &usize| {
            let condition = &self.conditions[*place];
            let (one, other) = (self.scratch[2 * place], self.scratch[2 * place + 1]);
            let (distance, size) = condition.edge.distance(one, other);
            let instant = condition.relation().and_then(|relation| slopes.get(base::Id::index(relation)));
            let moves = instant.map_or(0.0, |slope| slope.abs() * SAME_INSTANT * time);
            let counts = match &condition.counts {
                Counts::Always(_) => true,
                Counts::In(clause) => clause.iter().any(|&condition| has_risen(machine, condition)),
                Counts::InAction(action) => {
                    let slots = program.layout.actions.get(*action);
                    slots.is_some_and(|slots| machine.memory.values[slots.active as usize] != 0.0)
                }
                Counts::AtStart => !self.has_begun,
            };
            counts && distance <= (ROUNDING * size).max(moves)
        };
        let places: Vec<usize> = (0..self.conditions.len()).filter(on_edge).collect();
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let all = direction(machine)?;
        let mut edges: Vec<Edge> = places.iter().map(|&place| self.conditions[place].edge()).collect();
        if self.tangents.is_none() {
            let made = ExpressionTangents::new(program, &self.sides).map_err(|it| Trouble::Model(Box::new(it)))?;
            self.tangents = Some((made.clone(), made.memory()));
        }
        let Some((tangents, memory)) = &mut self.tangents else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        for all in &all {
            let largest = all.iter().filter(|tangent| tangent.is_finite()).fold(0.0f64, |most, it| most.max(it.abs()));
            let seeds: Vec<(Address, f64)> = (0..).zip(all.iter().copied()).filter(|(_, it)| *it != 0.0).collect();
            tangents.along(&mut machine.memory, memory, &seeds, &mut out);
            for (edge, &place) in edges.iter_mut().zip(&places) {
                let values = [self.scratch[2 * place], self.scratch[2 * place + 1]];
                let slopes = [out[2 * place], out[2 * place + 1]];
                edge.tangents.push(self.conditions[place].edge.tangent(values, slopes));
                edge.noise.push(NOISE * slopes.iter().fold(largest, |most, slope| most.max(slope.abs())));
            }
        }
        edges.retain(|edge| {
            let moves = edge.tangents.iter().zip(&edge.noise).any(|(tangent, noise)| tangent.abs() > *noise);
            let is_initial = |relation| !has_begun && self.initial.contains(&relation);
            moves && edge.relation.is_none_or(|relation| is_initial(relation) || decides(machine, relation))
        });
        Ok(edges)
    }
}

impl Condition {
    fn relation(&self) -> Option<RelationId> {
        match self.counts {
            Counts::Always(relation) => Some(relation),
            Counts::In(_) | Counts::InAction(_) | Counts::AtStart => None,
        }
    }

    fn edge(&self) -> Edge {
        let (noise, tangents) = (Vec::new(), Vec::new());
        Edge { expression: self.expression, relation: self.relation(), noise, tangents }
    }
}

/// Whether the condition of a when clause has become true in this iteration.
fn has_risen(machine: &Machine, condition: VarId) -> bool {
    let layout = &machine.program.layout;
    let before = layout.pre(layout.slot(condition)).map_or(0.0, |before| machine.memory.values[before as usize]);
    machine.value(condition) != 0.0 && before == 0.0
}

/// Whether it matters which way a relation is decided at the point in memory.
fn decides(machine: &Machine, relation: RelationId) -> bool {
    let layout = &machine.program.layout.relations[relation];
    let (state, own) = (layout.state as usize, machine.memory.values[layout.state as usize]);
    let ways = match layout.kind {
        RelationKind::Compare { .. } => [-1.0, 1.0],
        RelationKind::Round { .. } => [own, own - 1.0],
    };
    // The run goes on as if nobody had asked.
    let outcomes = ways.map(|way| {
        let mut trial = machine.clone();
        trial.own_external_objects();
        trial.memory.values[state] = way;
        trial.unsettle();
        outcome(&mut trial)
    });
    let [Some(one), Some(other)] = outcomes else { return true };
    let is_same = |(one, other): (&f64, &f64)| {
        (one - other).abs() <= SAME * one.abs().max(other.abs()) || one.to_bits() == other.to_bits()
    };
    !one.iter().zip(&other).all(is_same)
}

/// What the run goes on with: slopes of states, discrete variables, conditions of modes, and what actions are to do.
fn outcome(machine: &mut Machine) -> Option<Vec<f64>> {
    let program = &machine.program.clone();
    machine.run(|sections| &sections.events, Phase::Decided).ok()?;
    machine.run(|sections| &sections.actions, Phase::Frozen).ok()?;
    let values = &machine.memory.values;
    let slopes = program.states.iter().map(|state| state.derivative);
    let is_discrete = |slot: &Address| {
        let variables = program.model().variables.ids();
        let mut own = variables.filter(|&id| program.layout.slot(id) == *slot);
        own.any(|id| matches!(program.schedule.roles.get(id), Some(Role::Discrete)))
    };
    let kept = program.pre_pairs.iter().map(|&(slot, _)| slot).filter(is_discrete);
    let modes = program.schedule.mode.iter().flat_map(|mode| mode.modes.conditions());
    let modes = modes.map(|condition| program.layout.slot(condition.monitor));
    let mut found: Vec<f64> = slopes.chain(kept).chain(modes).map(|slot| values[slot as usize]).collect();
    for action in &program.layout.actions {
        let active = values[action.active as usize];
        found.extend([active, if active != 0.0 { values[action.value as usize] } else { 0.0 }]);
    }
    Some(found)
}

/// Collects conditions.
struct Found<'a> {
    program: &'a Program,
    conditions: Vec<Condition>,
    sides: Vec<ExprId>,
}

impl Found<'_> {
    fn add(&mut self, expression: ExprId, counts: Counts, edge: At, sides: [ExprId; 2]) {
        self.conditions.push(Condition { expression, counts, edge });
        self.sides.extend(sides);
    }

    fn relations(&mut self) {
        for (id, relation) in self.program.layout.relations.iter() {
            // What it decides it has decided for the run.
            if is_fixed(self.program, relation.expression) {
                continue;
            }
            match relation.kind {
                RelationKind::Compare { left, right } => {
                    self.add(relation.expression, Counts::Always(id), At::Equal, [left, right]);
                }
                RelationKind::Round { argument, .. } => {
                    self.add(relation.expression, Counts::Always(id), At::Whole, [argument, argument]);
                }
            }
        }
    }

    /// Kinks and steps of what when clauses assign and set. Between events a trajectory only passes kinks.
    fn when_bodies(&mut self) {
        let model = self.program.model();
        let relations: FxHashSet<ExprId> =
            self.program.layout.relations.values().map(|relation| relation.expression).collect();
        let mut bodies: Vec<(Vec<ExprId>, Counts)> = Vec::new();
        for equation in model.equations.values() {
            if let EquationRole::When(clause) = &equation.role {
                bodies.push((vec![equation.left, equation.right], Counts::In(clause.conditions.to_vec())));
            }
        }
        for (place, action) in model.actions.iter().enumerate() {
            if let ActionKind::Reinit { value, .. } = action.kind {
                bodies.push((vec![value], Counts::InAction(place)));
            }
        }
        for (roots, counts) in bodies {
            for id in model.exprs.postorder(&roots) {
                let found = bend(model, id).or_else(|| step(model, id)).filter(|_| !relations.contains(&id));
                if let Some((edge, sides)) = found {
                    self.add(id, counts.clone(), edge, sides);
                }
            }
        }
    }

    /// Kinks and roundings of parameters: what they decide stays for the run.
    fn parameters(&mut self) {
        let schedule = &self.program.schedule;
        let model = self.program.model();
        let mut roots = [roots(&schedule.blocks), roots(&schedule.initial)].concat();
        roots.extend(schedule.parameters.iter().map(|assignment| assignment.value));
        for id in model.exprs.postorder(&roots) {
            let found = bend(model, id).or_else(|| step(model, id));
            if let Some((edge, sides)) = found
                && is_fixed(self.program, id)
            {
                self.add(id, Counts::AtStart, edge, sides);
            }
        }
    }
}

/// The expressions of blocks.
pub(crate) fn roots(blocks: &[Block]) -> Vec<ExprId> {
    let mut roots = Vec::new();
    for block in blocks {
        match block {
            Block::Assign { assignment, .. } => roots.push(assignment.value),
            Block::System { system, .. } => {
                roots.extend(system.inner.iter().map(|inner| inner.value));
                roots.extend(&system.residuals);
            }
        }
    }
    roots
}

/// Whether an expression depends on parameters alone.
pub(crate) fn is_fixed(program: &Program, id: ExprId) -> bool {
    let found = program.model().exprs.dependencies(&[id]);
    let moves = found.time || !found.derivatives.is_empty() || !found.pre.is_empty();
    let is_parameter =
        |&variable: &VarId| matches!(program.schedule.roles.get(variable), Some(Role::Parameter | Role::Constant));
    !moves && !found.variables.is_empty() && found.variables.iter().all(is_parameter)
}

/// Where a function has a kink.
pub(crate) fn bend(model: &Model, id: ExprId) -> Option<(At, [ExprId; 2])> {
    let Node::Builtin(builtin, arguments) = model.exprs.node(id) else { return None };
    match (builtin, model.exprs.arguments(arguments)) {
        (Builtin::Min | Builtin::Max, &[one, other]) => Some((At::Equal, [one, other])),
        (Builtin::SemiLinear, &[argument, ..]) => Some((At::Zero, [argument, argument])),
        (Builtin::Abs | Builtin::Sign, &[argument]) => Some(match model.exprs.node(argument) {
            Node::Sub(one, other) => (At::Equal, [one, other]),
            _ => (At::Zero, [argument, argument]),
        }),
        _ => None,
    }
}

/// Where a comparison or a rounding changes.
pub(crate) fn step(model: &Model, id: ExprId) -> Option<(At, [ExprId; 2])> {
    use Builtin::{Ceil, CeilEvent, Div, DivEvent, Floor, FloorEvent, Mod, ModEvent, Rem, RemEvent};
    match model.exprs.node(id) {
        Node::Compare { left, right, .. } => Some((At::Equal, [left, right])),
        Node::Builtin(builtin, arguments) => match (builtin, model.exprs.arguments(arguments)) {
            (Floor | Ceil | FloorEvent | CeilEvent, &[argument]) => Some((At::Whole, [argument, argument])),
            (Div | Mod | Rem | DivEvent | ModEvent | RemEvent, &[one, other]) => Some((At::Quotient, [one, other])),
            _ => None,
        },
        _ => None,
    }
}
