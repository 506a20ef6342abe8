//! Relations on unknowns of systems whose residues are zero after an event.
//!
//! Where rounding alone speaks against the state of a relation, the system keeps that state, since the event may have been
//! located a rounding error too early or too late. A residue that stays at zero in the branch that was found is another
//! matter: an ideal diode that conducts has the voltage zero, not one that is about to become positive. Its relation is zero
//! then, and what decides about the branch must agree with that. Small steps into the future, with all relations as they are,
//! tell which residues stay. The same holds for relations outside of the system, such as those of a diode that remembers its
//! position: what rounding leaves of the voltage zero decides nothing.

use compile::{Memory, Program, RelationId, SectionStep, SystemId};

use crate::bands;
use crate::departure::LEFT;
use crate::future::Future;
use crate::machine::{Machine, Phase, Trouble};
use crate::system_failure::{Reason, SystemFailure};
use crate::systems;

/// The first steps into the future grow by this, and by less where a residue is about to leave.
const FASTEST_GROWTH: f64 = 100.0;
const GROWTH: f64 = 10.0;
/// How often relations of one instant may be found to stay at zero before they contradict each other.
const MOST_ROUNDS: u32 = 12;

/// The comparisons of unknowns in the systems of a program.
#[derive(Clone, Default)]
pub struct Resting {
    /// In the systems of initialisation and of events.
    initial: Vec<Compared>,
    events: Vec<Compared>,
    /// Those outside of systems.
    behind: Vec<Behind>,
    /// The steps into the future: the first and the last.
    horizon: (f64, f64),
    /// The states of relations at zero when the future was looked at last: as long as they are the same, so is the answer.
    known: Vec<(RelationId, f64)>,
    /// The relations that were found to stay at zero in this instant.
    stayed: Vec<RelationId>,
    rounds: u32,
}

/// One system with its comparisons of unknowns, by their places among its relations.
#[derive(Clone)]
struct Compared {
    system: SystemId,
    places: Vec<usize>,
}

/// A comparison that is computed from unknowns of systems.
#[derive(Clone)]
struct Behind {
    relation: RelationId,
    /// Its place among the crossing functions.
    function: usize,
    systems: Vec<SystemId>,
}

/// Where a residue is computed.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// By its place among the relations of the system.
    Inside(usize),
    /// By its place among the crossing functions.
    Behind(usize),
}

/// A residue that is zero.
#[derive(Clone, Copy)]
struct AtZero {
    system: SystemId,
    place: Place,
    relation: RelationId,
    residue: f64,
    noise: f64,
    /// The side to which it leaves zero.
    side: f64,
}

impl Resting {
    pub fn new(program: &Program) -> Self {
        let sections = &program.sections;
        Self {
            initial: compared(program, &sections.initial),
            events: compared(program, &sections.events),
            behind: behind(program),
            ..Self::default()
        }
    }

    /// An instant of a run over `span` begins. Residues are followed into the future as far as `last`.
    pub fn begin(&mut self, time: f64, span: f64, last: f64) {
        let first = (1e-10 * span).max(1e-11 * time.abs());
        self.horizon = (first, last.max(FASTEST_GROWTH * first));
        self.known.clear();
        self.stayed.clear();
        self.rounds = 0;
    }

    fn is_empty(&self, memory: &Memory) -> bool {
        self.compared(memory).is_empty() && self.behind.is_empty()
    }

    fn compared(&self, memory: &Memory) -> &[Compared] {
        if memory.is_initial() { &self.initial } else { &self.events }
    }
}

fn compared(program: &Program, section: &[SectionStep]) -> Vec<Compared> {
    let found = systems::compared(program, section).into_iter();
    found.map(|(system, places)| Compared { system, places }).collect()
}

fn behind(program: &Program) -> Vec<Behind> {
    let found = bands::comparisons_behind_systems(program).into_iter();
    found.map(|(function, systems)| Behind { relation: program.roots[function].relation, function, systems }).collect()
}

/// Sets relations on residues that stay at zero to zero, and those that were zero and leave it to the side that they go to.
/// Whether any changed: then the instant has to be evaluated again.
pub fn decide(machine: &mut Machine) -> Result<bool, Trouble> {
    if machine.resting.is_empty(&machine.memory) || machine.resting.horizon.0 <= 0.0 {
        return Ok(false);
    }
    let mut at_zero = find(machine);
    let state =
        |machine: &Machine, id: RelationId| machine.memory.values[machine.program.layout.relations[id].state as usize];
    if at_zero.iter().all(|one| state(machine, one.relation) == 0.0) {
        return Ok(false);
    }
    let states = |machine: &Machine, at_zero: &[AtZero]| -> Vec<(RelationId, f64)> {
        at_zero.iter().map(|one| (one.relation, state(machine, one.relation))).collect()
    };
    if states(machine, &at_zero) == machine.resting.known {
        return Ok(false);
    }
    follow(machine, &mut at_zero);
    // Where there is no solution with zero, the one that was found counts if it agrees with its relation to the last digit.
    let is_literal = |one: &AtZero| f64::from(solve::roots::sign_of(one.residue)) == state(machine, one.relation);
    let insists = |one: &AtZero| machine.resting.stayed.contains(&one.relation) && is_literal(one);
    let stays = |one: &AtZero| one.side == 0.0 && state(machine, one.relation) != 0.0 && !insists(one);
    let first = at_zero.iter().find(|one| stays(one)).map(|one| one.system);
    if first.is_some() {
        for one in &at_zero {
            let relation = &machine.program.layout.relations[one.relation];
            if one.side == 0.0 && matches!(one.place, Place::Behind(_)) {
                // It keeps its state in this band.
                machine.memory.values[relation.band() as usize] = one.noise;
            }
            let state = &mut machine.memory.values[relation.state as usize];
            // One that goes back to where it came from makes the next event.
            if one.side == 0.0 || *state == 0.0 {
                *state = one.side;
            }
            if one.side == 0.0 && !machine.resting.stayed.contains(&one.relation) {
                machine.resting.stayed.push(one.relation);
            }
        }
    }
    machine.resting.known = states(machine, &at_zero);
    let Some(system) = first else { return Ok(false) };
    machine.resting.rounds += 1;
    if machine.resting.rounds > MOST_ROUNDS { Err(contradiction(machine, system)) } else { Ok(true) }
}

/// The relations whose residues are zero to rounding.
fn find(machine: &mut Machine) -> Vec<AtZero> {
    let Machine { program, memory, resting, .. } = machine;
    let mut at_zero = Vec::new();
    let mut residues = Vec::new();
    for compared in resting.compared(memory) {
        let found = &program.systems[compared.system];
        residues.resize(found.relations.len(), 0.0);
        program.system_residues(compared.system, memory, &mut residues);
        let noise = systems::noise(program, found, memory);
        for &place in &compared.places {
            let relation = found.relations[place];
            let residue = residues[place] + memory.values[program.layout.relations[relation].shift() as usize];
            if residue.abs() <= noise {
                let (system, place) = (compared.system, Place::Inside(place));
                at_zero.push(AtZero { system, place, relation, residue, noise, side: 0.0 });
            }
        }
    }
    if !resting.behind.is_empty() {
        residues.resize(program.roots.len(), 0.0);
        program.crossings(memory, &mut residues);
        at_zero.extend(resting.behind.iter().filter_map(|behind| behind.at_zero(program, memory, &residues)));
    }
    at_zero
}

impl Behind {
    fn at_zero(&self, program: &Program, memory: &Memory, residues: &[f64]) -> Option<AtZero> {
        /// Of the largest unknown: a few operations that lose the last digit. What is larger may be a value of the model.
        const LAST_DIGITS: f64 = 1e-14;
        let residue = residues[self.function];
        let size = |&system: &SystemId| systems::largest(program, &program.systems[system], memory);
        let band = memory.values[program.layout.relations[self.relation].band() as usize].abs();
        let rounding = LAST_DIGITS * self.systems.iter().map(size).fold(0.0, f64::max);
        let noise = band.max(rounding).min(bands::widest(program, memory, self.relation));
        let (system, place) = (*self.systems.first()?, Place::Behind(self.function));
        let found = AtZero { system, place, relation: self.relation, residue, noise, side: 0.0 };
        (residue.abs() <= noise).then_some(found)
    }
}

/// Follows residues into the future. A step that cannot be taken says nothing.
fn follow(machine: &mut Machine, at_zero: &mut [AtZero]) {
    let program = &machine.program.clone();
    let before = machine.memory.values.clone();
    let (time, (first, last)) = (machine.memory.time(), machine.resting.horizon);
    let evaluate = |machine: &mut Machine, time: f64, x: &[f64]| -> Result<(), Trouble> {
        machine.unsettle();
        machine.evaluate(time, x)?;
        // Some systems are there for results only.
        machine.run(|sections| &sections.outputs, Phase::Frozen)
    };
    let mut future = Future::default();
    let mut outcome = future.begin(machine, time, evaluate);
    let mut step = first;
    while outcome.is_ok() && step <= last && at_zero.iter().any(|one| one.side == 0.0) {
        outcome = future.evaluate(machine, time, step, evaluate);
        if outcome.is_ok() {
            step *= look(machine, at_zero);
        }
    }
    machine.memory.set_time(time);
    machine.memory.values.clone_from(&before);
    machine.unsettle();
    machine.systems.forget_factors(program);
}

/// Takes note of the residues that have left zero at the point in memory; by how much the next step may be larger.
fn look(machine: &mut Machine, at_zero: &mut [AtZero]) -> f64 {
    let Machine { program, memory, .. } = machine;
    let (mut residues, mut crossings) = (Vec::new(), Vec::new());
    if at_zero.iter().any(|one| matches!(one.place, Place::Behind(_))) {
        crossings.resize(program.roots.len(), 0.0);
        program.crossings(memory, &mut crossings);
    }
    let mut last = None;
    // A residue that has hardly moved is far from leaving, also if it goes with the square of time.
    let mut growth = FASTEST_GROWTH;
    for one in at_zero.iter_mut().filter(|one| one.side == 0.0) {
        let residue = match one.place {
            Place::Behind(function) => crossings[function],
            Place::Inside(place) => {
                if last.replace(one.system) != Some(one.system) {
                    residues.resize(program.systems[one.system].relations.len(), 0.0);
                    program.system_residues(one.system, memory, &mut residues);
                }
                residues[place] + memory.values[program.layout.relations[one.relation].shift() as usize]
            }
        };
        if residue.abs() > LEFT * one.noise {
            one.side = residue.signum();
        } else if residue.abs() * FASTEST_GROWTH > LEFT * one.noise {
            growth = GROWTH;
        }
    }
    growth
}

/// The relations of a system contradict what follows from them, whatever they are.
fn contradiction(machine: &Machine, system: SystemId) -> Trouble {
    let found = &machine.program.systems[system];
    Trouble::System(Box::new(SystemFailure {
        unknowns: found.unknowns.clone(),
        equations: found.equations.clone(),
        iteration: Vec::new(),
        reason: Reason::NoConfiguration {
            tried: machine.resting.rounds as usize,
            discrete: found.discrete.clone(),
            equations: found.discrete_equations.clone(),
        },
        time: machine.memory.time(),
    }))
}
