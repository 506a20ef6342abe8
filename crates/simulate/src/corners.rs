//! Corners: conditions that rest on their edges while time goes on, and expressions with no finite slope.
//!
//! A trajectory that only passes a kink such as that of `abs` loses nothing. One that stays there does: as long as x is zero,
//! `abs(x)` grows with a parameter that moves x to either side, and the trajectory has two one-sided derivatives. The same
//! holds for relations between events, and for conditions that a discrete variable has brought to their edges. Of a root of
//! zero the slope is none, and its product with a tangent that vanishes may be anything.
//!
//! What a function decides inside is not seen here: of those with branches every argument that stands still is looked at.
//!
//! Here these places are found. Whether they matter is seen on both sides of the trajectory (`sensitivities::sides`).

use compile::{Address, ExpressionTangents, Memory, Probe, Program, RelationId, RelationKind};
use dae::function::{Body, Expr, StatementKind, for_each_statement};
use dae::{Builtin, ExprId, FunctionId, Model, Node, VariableType};
use rustc_hash::FxHashSet;

use crate::edges::{At, bend, is_fixed, roots, step};
use crate::machine::{Machine, Trouble};

/// What is farther from its edge, beside 1 and the sizes of its sides, does not stand on it.
const CLOSE: f64 = 1e-9;
/// Relative to the sides of a condition, what differs by less is equal.
const ROUNDING: f64 = 1e-13;
/// A parameter that is changed by so much, beside what it may be changed by, moves a condition clear of its edge.
const MOVES: f64 = 1e-10;
/// Relative to all tangents of a direction, a tangent that is smaller is rounding.
const NOISE: f64 = 1e-10;

/// What may rest in one program.
#[derive(Clone)]
pub(crate) struct Corners {
    places: Vec<Place>,
    /// The sides of the conditions, two for each.
    sides: Vec<ExprId>,
    values: Probe,
    /// Made when something rests.
    tangents: Option<(ExpressionTangents, Memory)>,
    /// What depends on parameters alone was looked at.
    pub has_begun: bool,
    scratch: Vec<f64>,
    /// What it was before.
    last: Vec<f64>,
}

/// One of them.
#[derive(Clone)]
struct Place {
    expression: ExprId,
    at: At,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is frozen between events.
    Relation(RelationId),
    /// A kink, or a branch that makes no events.
    Branch,
    /// No slope is finite there. The tangent of what it is computed from says nothing.
    Steep,
    /// The same of parameters alone.
    FixedSteep,
    /// The argument of a function with branches. Its edge may lie anywhere.
    Argument,
    /// The same of parameters alone.
    FixedArgument,
}

/// A condition that a direction moves from its edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    pub place: usize,
    pub expression: ExprId,
    pub relation: Option<RelationId>,
    /// How far it moves, and the size of what that is computed from.
    pub slope: f64,
    pub size: f64,
}

/// How everything moves in one direction.
pub(crate) struct Direction {
    /// By address.
    pub tangents: Vec<f64>,
    /// How far one can go in it: what changes is about as large as this makes it.
    pub reach: f64,
}

impl Direction {
    /// What is smaller is rounding.
    pub fn noise(&self) -> f64 {
        NOISE * self.tangents.iter().filter(|tangent| tangent.is_finite()).fold(0.0f64, |most, it| most.max(it.abs()))
    }
}

impl Corners {
    pub fn new(machine: &mut Machine) -> Result<Self, Trouble> {
        let program = &machine.program.clone();
        let (places, sides) = found(program);
        let values = Probe::new(program, &sides, &mut machine.memory).map_err(|it| Trouble::Model(Box::new(it)))?;
        Ok(Self { places, sides, values, tangents: None, has_begun: false, scratch: Vec::new(), last: Vec::new() })
    }

    /// Those of the places that are close to their edges at the point in memory.
    pub fn close(&mut self, machine: &Machine) -> Vec<usize> {
        if self.places.is_empty() {
            return Vec::new();
        }
        // At the instant itself, not just behind it.
        let mut still = machine.memory.clone();
        still.set_ahead(0.0);
        std::mem::swap(&mut self.scratch, &mut self.last);
        self.values.run(&machine.program, &mut still, &mut self.scratch);
        let is_close = |place: &usize| {
            let (distance, size) = self.distance(*place);
            match self.places[*place].kind {
                Kind::Relation(_) | Kind::Branch | Kind::Steep => distance <= CLOSE * (1.0 + size),
                Kind::FixedSteep => !self.has_begun && distance <= CLOSE * (1.0 + size),
                Kind::Argument => self.stands_still(2 * place),
                Kind::FixedArgument => !self.has_begun,
            }
        };
        (0..self.places.len()).filter(is_close).collect()
    }

    /// Whether a side is what it was when it was looked at last.
    fn stands_still(&self, side: usize) -> bool {
        let now = self.scratch[side];
        self.last.get(side).is_some_and(|last| (now - last).abs() <= ROUNDING * now.abs())
    }

    /// How far a place is from its edge, and the size of what that is computed from.
    fn distance(&self, place: usize) -> (f64, f64) {
        self.places[place].at.distance(self.scratch[2 * place], self.scratch[2 * place + 1])
    }

    /// Those of the places that stand on their edges, by how far each direction moves them.
    pub fn moved(
        &mut self,
        machine: &mut Machine,
        close: &[usize],
        directions: &[Direction],
    ) -> Result<Vec<Vec<Moved>>, Trouble> {
        let program = &machine.program.clone();
        if self.tangents.is_none() {
            let made = ExpressionTangents::new(program, &self.sides).map_err(|it| Trouble::Model(Box::new(it)))?;
            self.tangents = Some((made.clone(), made.memory()));
        }
        let Some((tangents, memory)) = &mut self.tangents else { return Ok(Vec::new()) };
        let (mut out, mut moved) = (Vec::new(), Vec::new());
        for direction in directions {
            let seeds = (0..).zip(direction.tangents.iter().copied()).filter(|(_, it)| *it != 0.0 && it.is_finite());
            let seeds: Vec<(Address, f64)> = seeds.collect();
            tangents.along(&mut machine.memory, memory, &seeds, &mut out);
            let noise = direction.noise();
            let is_moved = |&place: &usize| {
                let Place { at, kind, expression } = self.places[place];
                let [one, other] = [2 * place, 2 * place + 1];
                let (distance, size) = at.distance(self.scratch[one], self.scratch[other]);
                let slope = at.tangent([self.scratch[one], self.scratch[other]], [out[one], out[other]]);
                let stands = distance <= (ROUNDING * size).max(MOVES * direction.reach * slope.abs());
                let largest = out[one].abs().max(out[other].abs());
                let moves = slope.abs() > noise.max(NOISE * largest);
                let counts = match kind {
                    Kind::Relation(_) | Kind::Branch => stands && moves,
                    Kind::Steep | Kind::FixedSteep => true,
                    Kind::Argument | Kind::FixedArgument => moves,
                };
                let relation = if let Kind::Relation(relation) = kind { Some(relation) } else { None };
                counts.then_some(Moved { place, expression, relation, slope, size })
            };
            moved.push(close.iter().filter_map(is_moved).collect());
        }
        Ok(moved)
    }

    pub fn relation(&self, place: usize) -> Option<RelationId> {
        match self.places[place].kind {
            Kind::Relation(relation) => Some(relation),
            _ => None,
        }
    }

    /// The relations that are close to their edges, as was seen last.
    pub fn close_relations(&self) -> Vec<RelationId> {
        let is_close = |place: &usize| {
            let (distance, size) = self.distance(*place);
            distance <= CLOSE * (1.0 + size)
        };
        (0..self.places.len()).filter(is_close).filter_map(|place| self.relation(place)).collect()
    }

    /// Whether it depends on parameters alone.
    pub fn is_fixed(&self, place: usize) -> bool {
        matches!(self.places[place].kind, Kind::FixedSteep | Kind::FixedArgument)
    }

    /// Decides the relations that are moved as they are on one side of the point.
    pub fn decide(&self, machine: &mut Machine, moved: &[Moved], side: f64) {
        let program = &machine.program.clone();
        for moved in moved {
            let Some(relation) = moved.relation else { continue };
            let layout = &program.layout.relations[relation];
            let to = (side * moved.slope).signum();
            machine.memory.values[layout.state as usize] = match layout.kind {
                RelationKind::Compare { .. } => to,
                RelationKind::Round { rounding, .. } => {
                    rounding.apply(self.scratch[2 * moved.place].round() + 0.25 * to)
                }
            };
        }
    }
}

/// The places of a program, with the sides of their conditions.
fn found(program: &Program) -> (Vec<Place>, Vec<ExprId>) {
    let model = program.model();
    let mut places = Vec::new();
    let mut sides = Vec::new();
    let mut add = |expression, at, kind, of: [ExprId; 2]| {
        if moves(model, &of) {
            places.push(Place { expression, at, kind });
            sides.extend(of);
        }
    };
    let mut relations = FxHashSet::default();
    let mut arguments = FxHashSet::default();
    for (id, relation) in program.layout.relations.iter() {
        relations.insert(relation.expression);
        let (at, of) = match relation.kind {
            RelationKind::Compare { left, right } => (At::Equal, [left, right]),
            RelationKind::Round { argument, .. } => (At::Whole, [argument, argument]),
        };
        if !is_fixed(program, relation.expression) {
            add(relation.expression, at, Kind::Relation(id), of);
        }
    }
    let mut all = roots(&program.schedule.blocks);
    all.extend(program.schedule.parameters.iter().map(|assignment| assignment.value));
    for id in model.exprs.postorder(&all) {
        if let Some((at, of)) = steep(model, id) {
            add(id, at, if is_fixed(program, id) { Kind::FixedSteep } else { Kind::Steep }, of);
        } else if let Some((at, of)) = bend(model, id).or_else(|| branch(model, id))
            && !relations.contains(&id)
            && !is_fixed(program, id)
        {
            add(id, at, Kind::Branch, of);
        } else if let Node::Call { site, args, .. } = model.exprs.node(id)
            && has_branches(program, model.exprs.call_site(site).function)
        {
            for &argument in model.exprs.arguments(args).iter().filter(|&&argument| arguments.insert(argument)) {
                let kind = if is_fixed(program, argument) { Kind::FixedArgument } else { Kind::Argument };
                add(id, At::Zero, kind, [argument, argument]);
            }
        }
    }
    (places, sides)
}

/// Whether a function has branches, as far as its text tells. One in another language has differences in place of derivatives,
/// which tell nothing about sides.
fn has_branches(program: &Program, id: FunctionId) -> bool {
    let function = &program.model().functions[id];
    let Body::Algorithm(statements) = &function.body else { return false };
    let mut found = false;
    for_each_statement(statements, &mut |statement| {
        found |= matches!(statement.kind, StatementKind::If { .. } | StatementKind::While { .. });
        statement.for_each_expression(&mut |expression| found |= decides(expression));
    });
    found
}

/// Whether an expression of a function has a kink or a branch, or calls what may have one.
fn decides(expression: &Expr) -> bool {
    let mut open = vec![expression];
    while let Some(expression) = open.pop() {
        let own = match expression {
            Expr::If(..) | Expr::Compare(..) | Expr::Call(..) => true,
            Expr::Builtin(builtin, _) => {
                use Builtin::{Abs, Atan2, Max, Min, SemiLinear, Sign, Sqrt};
                matches!(builtin, Abs | Atan2 | Max | Min | SemiLinear | Sign | Sqrt)
            }
            _ => false,
        };
        if own {
            return true;
        }
        expression.for_each_operand(&mut |operand| open.push(operand));
    }
    false
}

/// Whether the sides of a condition can move: they are computed from Real variables.
fn moves(model: &Model, sides: &[ExprId]) -> bool {
    let found = model.exprs.dependencies(sides);
    let mut variables = found.variables.iter().chain(&found.derivatives).chain(&found.pre);
    variables.any(|&variable| model.variables[variable].ty == VariableType::Real)
}

/// A branch that makes no events: of discrete variables, or under `noEvent`.
fn branch(model: &Model, id: ExprId) -> Option<(At, [ExprId; 2])> {
    match model.exprs.node(id) {
        Node::Compare { event: true, .. } => None,
        _ => step(model, id),
    }
}

/// Where an expression has no finite slope, or jumps to the other side of its range.
fn steep(model: &Model, id: ExprId) -> Option<(At, [ExprId; 2])> {
    let exprs = &model.exprs;
    match exprs.node(id) {
        Node::Pow(base, exponent) => {
            let is_whole = match exprs.node(exponent) {
                Node::Integer(_) => true,
                Node::Real(value) => value.fract() == 0.0,
                _ => false,
            };
            (!is_whole).then_some((At::Zero, [base, base]))
        }
        Node::Builtin(builtin, arguments) => match (builtin, exprs.arguments(arguments)) {
            (Builtin::Sqrt, &[argument]) => Some((At::Zero, [argument, argument])),
            (Builtin::Asin | Builtin::Acos, &[argument]) => Some((At::One, [argument, argument])),
            (Builtin::Atan2, &[one, _]) => Some((At::Zero, [one, one])),
            _ => None,
        },
        _ => None,
    }
}
