//! Leaving zero in nonlinear systems.
//!
//! A flow that is zero satisfies `m*(h_out - h_in) = 0` whatever `h_out` is. Where the solutions of both directions contradict
//! their direction, zero flow is the solution, and `h_out` goes from the value that one direction ends with to the one that
//! the other begins with. From there on the other direction holds. Zero flow remains a solution of the equations, so neither
//! Newton's method nor a residue tells that it is over. So behind each step both sides of such a relation are tried, from
//! unknowns on that side and without the solutions at zero (deflation: Brown and Gearhart, 1971). The instant at which one side begins to agree with itself is an event.

use compile::{Address, Memory, Program, RelationId, SystemId};
use solve::dense::{DenseLu, DenseMatrix};

use crate::machine::{Machine, Phase};
use crate::nominal::nominal;
use crate::systems;

/// A residue has left zero when it is so many times as large as rounding.
pub(crate) const LEFT: f64 = 100.0;
/// How far the residue is moved to begin with, relative to the largest one so far: far away the equations may have no meaning.
const MOVES: [f64; 2] = [1e-2, 1e-4];
/// The step of differences, relative to the unknown.
const DIFFERENCE: f64 = 1e-4;
/// Steps of Newton's method, and the relative length of the last one.
const MOST_ITERATIONS: u32 = 12;
const CLOSE: f64 = 1e-6;

/// The comparisons of unknowns in one nonlinear system.
#[derive(Clone)]
struct Watched {
    system: SystemId,
    /// By their places among its relations.
    places: Vec<usize>,
    relations: Vec<RelationId>,
}

/// All comparisons that may rest at zero.
#[derive(Clone, Default)]
pub struct Departures {
    watched: Vec<Watched>,
}

/// A side that agrees with itself.
#[derive(Clone)]
pub struct Departure {
    /// The relation that leaves zero.
    pub relation: RelationId,
    pub residue: f64,
    /// Relations and unknowns of its system.
    states: Vec<(Address, f64)>,
    unknowns: Vec<(Address, f64)>,
}

impl Departures {
    pub fn new(program: &Program) -> Self {
        let found = systems::compared(program, &program.sections.events).into_iter();
        let is_nonlinear = |system: SystemId| program.systems[system].kind.matrix().is_none();
        let watched = found.filter(|(system, _)| is_nonlinear(*system)).map(|(system, places)| {
            let relations = places.iter().map(|&place| program.systems[system].relations[place]).collect();
            Watched { system, places, relations }
        });
        Self { watched: watched.collect() }
    }

    /// Whether a relation is at zero.
    pub fn any_rests(&self, program: &Program, memory: &Memory) -> bool {
        self.watched.iter().any(|watched| watched.rests(program, memory).next().is_some())
    }

    /// A side that holds at the point that is evaluated in memory, which stays as it is. `size` gives how large the residue of a
    /// relation has been.
    pub fn find(&self, machine: &mut Machine, size: impl Fn(RelationId) -> f64) -> Option<Departure> {
        let program = &machine.program.clone();
        let before = machine.memory.values.clone();
        let mut departure = None;
        if machine.run(|sections| &sections.events, Phase::Frozen).is_ok() {
            let mut trial = Trial { machine, start: Vec::new(), residues: Vec::new() };
            departure = self.watched.iter().find_map(|watched| trial.leave(watched, &size));
        }
        machine.memory.values = before;
        machine.unsettle();
        machine.systems.forget_factors(program);
        departure
    }
}

impl Watched {
    /// The places, among those that are watched, of relations at zero.
    fn rests<'a>(&'a self, program: &'a Program, memory: &'a Memory) -> impl Iterator<Item = usize> + 'a {
        let is_zero = |&id: &RelationId| memory.values[program.layout.relations[id].state as usize] == 0.0;
        self.relations.iter().enumerate().filter(move |(_, id)| is_zero(id)).map(|(k, _)| k)
    }
}

impl Departure {
    /// The event begins: what was found is the start of the search for its solution.
    pub fn enter(&self, memory: &mut Memory) {
        for &(address, value) in self.states.iter().chain(&self.unknowns) {
            memory.values[address as usize] = value;
        }
    }
}

/// Whether the discrete unknowns of a system are what follows from its unknowns and relations.
fn keeps_discrete(program: &Program, system: SystemId, memory: &mut Memory) -> bool {
    let found = &program.systems[system];
    let Some(chunk) = found.discrete_code else { return true };
    let values = |memory: &Memory| -> Vec<u64> {
        found.discrete.iter().map(|&variable| program.value(memory, variable).to_bits()).collect()
    };
    let before = values(memory);
    memory.set_live(false);
    program.run_chunk(chunk, memory).is_ok() && values(memory) == before
}

/// A system at a point, with the residue of a relation.
struct Linearization {
    residuals: Vec<f64>,
    matrix: DenseMatrix,
    residue: f64,
    gradient: Vec<f64>,
}

impl Linearization {
    /// The step of Newton's method.
    fn solve(mut self) -> Option<Vec<f64>> {
        let mut factors = DenseLu::new(self.residuals.len());
        factors.factor(&self.matrix.values).ok()?;
        factors.solve(&mut self.residuals);
        self.residuals.iter().all(|step| step.is_finite()).then_some(self.residuals)
    }
}

/// Tries the sides of one system after the other.
struct Trial<'a> {
    machine: &'a mut Machine,
    start: Vec<f64>,
    residues: Vec<f64>,
}

impl Trial<'_> {
    /// A side of any relation at zero that agrees with itself.
    fn leave(&mut self, watched: &Watched, size: impl Fn(RelationId) -> f64) -> Option<Departure> {
        let program = &self.machine.program.clone();
        self.start.clone_from(&self.machine.memory.values);
        let leaving: Vec<usize> = watched.rests(program, &self.machine.memory).collect();
        if leaving.is_empty() {
            return None;
        }
        let resting = self.at_zero(program, watched)?;
        for &towards in &leaving {
            let size = size(watched.relations[towards]);
            for distance in MOVES.map(|part| if size > 0.0 { part * size } else { part }) {
                for side in [-1.0, 1.0] {
                    self.machine.memory.values.clone_from(&self.start);
                    if self.holds(program, watched, &resting, towards, side * distance) {
                        return Some(self.departure(program, watched, towards));
                    }
                }
            }
        }
        None
    }

    /// The places, among those that are watched, of relations whose residues are zero. One of them that says the same as another
    /// one may have kept its state.
    fn at_zero(&mut self, program: &Program, watched: &Watched) -> Option<Vec<usize>> {
        let found = &program.systems[watched.system];
        self.residues.resize(found.relations.len(), 0.0);
        self.residue(program, watched.system, *watched.places.first()?)?;
        let memory = &self.machine.memory;
        let noise = systems::noise(program, found, memory);
        let is_at_zero = |&k: &usize| {
            let relation = &program.layout.relations[watched.relations[k]];
            let residue = self.residues[watched.places[k]] + memory.values[relation.shift() as usize];
            residue.abs() <= noise || memory.values[relation.state as usize] == 0.0
        };
        Some((0..watched.places.len()).filter(is_at_zero).collect())
    }

    /// Solves the system from a point with the residue of one relation moved to a side; whether the solution is on that side.
    fn holds(&mut self, program: &Program, watched: &Watched, resting: &[usize], towards: usize, to: f64) -> bool {
        let (system, place) = (watched.system, watched.places[towards]);
        if !self.move_residue(program, system, place, to) {
            return false;
        }
        for &k in resting {
            let relation = &program.layout.relations[watched.relations[k]];
            let side = f64::from(solve::roots::sign_of(self.residues[watched.places[k]]));
            self.machine.memory.values[relation.state as usize] = side;
        }
        if !self.solve_deflated(program, system, place) {
            return false;
        }
        let Self { machine: Machine { systems, memory, .. }, residues, .. } = self;
        if !systems.try_frozen(program, system, memory) {
            return false;
        }
        let noise = systems::noise(program, &program.systems[system], memory);
        program.system_residues(system, memory, residues);
        let agrees = |(&place, &id): (&usize, &RelationId)| {
            let relation = &program.layout.relations[id];
            let residue = residues[place] + memory.values[relation.shift() as usize];
            let state = memory.values[relation.state as usize];
            if state == 0.0 { residue.abs() <= noise } else { residue * state > -noise }
        };
        residues[place] * to.signum() > LEFT * noise
            && watched.places.iter().zip(&watched.relations).all(agrees)
            && keeps_discrete(program, system, memory)
    }

    /// Looks for a solution apart from those with a residue of zero. That the system has solutions with zero over a time means
    /// that there one equation follows from the others: a combination of them, `w·F`, is zero with the residue `r`. It is
    /// `r·q(x)`, and `q = 0` takes the place of an equation. `w` solves `Jᵀw = ∇r` at the point that rests.
    fn solve_deflated(&mut self, program: &Program, system: SystemId, place: usize) -> bool {
        let slots = &program.systems[system].slots;
        let moved = self.read(slots);
        // The weights belong to the side, at the point that rests.
        let rest: Vec<f64> = slots.iter().map(|&slot| self.start[slot as usize]).collect();
        self.write(slots, &rest);
        let Some(weights) = self.weights(program, system, place) else { return false };
        self.write(slots, &moved);
        let replaced = (0..weights.len()).max_by(|&a, &b| weights[a].abs().total_cmp(&weights[b].abs())).unwrap_or(0);
        let mut x = moved;
        for _ in 0..MOST_ITERATIONS {
            let Some(mut point) = self.linearize(program, system, place) else { return false };
            let combined: f64 = weights.iter().zip(&point.residuals).map(|(weight, residual)| weight * residual).sum();
            let quotient = combined / point.residue;
            for column in 0..x.len() {
                let entries = point.matrix.column_mut(column);
                let slope: f64 = weights.iter().zip(&*entries).map(|(weight, entry)| weight * entry).sum();
                entries[replaced] = (slope - quotient * point.gradient[column]) / point.residue;
            }
            point.residuals[replaced] = quotient;
            let Some(step) = point.solve() else { return false };
            x.iter_mut().zip(&step).for_each(|(x, step)| *x -= step);
            self.write(slots, &x);
            let is_small = |(x, step): (&f64, &f64)| step.abs() <= CLOSE * x.abs().max(f64::MIN_POSITIVE);
            if x.iter().zip(&step).all(is_small) {
                return true;
            }
        }
        // What is near enough for Newton's method is found by it.
        true
    }

    /// The combination of the equations that vanishes with the residue.
    fn weights(&mut self, program: &Program, system: SystemId, place: usize) -> Option<Vec<f64>> {
        let Linearization { matrix, gradient: mut weights, .. } = self.linearize(program, system, place)?;
        let mut factors = DenseLu::new(weights.len());
        factors.factor(&matrix.values).ok()?;
        factors.solve_transposed(&mut weights);
        let most = weights.iter().fold(0.0f64, |most, weight| most.max(weight.abs()));
        weights.iter_mut().for_each(|weight| *weight /= most);
        weights.iter().all(|weight| weight.is_finite()).then_some(weights)
    }

    fn linearize(&mut self, program: &Program, system: SystemId, place: usize) -> Option<Linearization> {
        let found = &program.systems[system];
        let size = found.slots.len();
        let mut gradient = vec![0.0; size];
        for (column, extent) in self.extents(program, system).into_iter().enumerate() {
            let (here, there) = self.residues_beside(program, system, place, column, DIFFERENCE * extent)?;
            gradient[column] = (there - here) / (DIFFERENCE * extent);
        }
        let mut residuals = vec![0.0; size];
        let memory = &mut self.machine.memory;
        memory.set_live(false);
        if !program.try_residuals(system, memory, &mut residuals) {
            return None;
        }
        let pattern = systems::pattern(&found.pattern);
        let mut values = vec![0.0; pattern.entries()];
        program.jacobian(system, memory, &mut values).ok()?;
        let mut matrix = DenseMatrix::zeros(size, size);
        for column in 0..size {
            let entries = pattern.starts[column]..pattern.starts[column + 1];
            for (&row, &value) in pattern.indices[entries.clone()].iter().zip(&values[entries]) {
                matrix.set(row as usize, column, value);
            }
        }
        program.try_residuals(system, memory, &mut residuals);
        program.system_residues(system, memory, &mut self.residues);
        Some(Linearization { residuals, matrix, residue: self.residues[place], gradient })
    }

    /// A residue at the point in memory and beside it, where one unknown is another.
    fn residues_beside(
        &mut self,
        program: &Program,
        system: SystemId,
        place: usize,
        column: usize,
        step: f64,
    ) -> Option<(f64, f64)> {
        let slot = program.systems[system].slots[column] as usize;
        let here = self.residue(program, system, place)?;
        let value = self.machine.memory.values[slot];
        self.machine.memory.values[slot] = value + step;
        let there = self.residue(program, system, place);
        self.machine.memory.values[slot] = value;
        Some((here, there?))
    }

    /// The residue of a relation at the unknowns in memory.
    fn residue(&mut self, program: &Program, system: SystemId, place: usize) -> Option<f64> {
        let Self { machine: Machine { memory, .. }, residues, .. } = self;
        let mut ignored = vec![0.0; program.systems[system].slots.len()];
        memory.set_live(false);
        let is_defined = program.try_residuals(system, memory, &mut ignored);
        program.system_residues(system, memory, residues);
        is_defined.then_some(residues[place])
    }

    /// How large the unknowns are.
    fn extents(&self, program: &Program, system: SystemId) -> Vec<f64> {
        let found = &program.systems[system];
        let memory = &self.machine.memory;
        let extent = |(&slot, &variable)| memory.values[slot as usize].abs().max(nominal(program, memory, variable));
        found.slots.iter().zip(&found.iteration).map(extent).collect()
    }

    fn read(&self, slots: &[Address]) -> Vec<f64> {
        slots.iter().map(|&slot| self.machine.memory.values[slot as usize]).collect()
    }

    fn write(&mut self, slots: &[Address], x: &[f64]) {
        slots.iter().zip(x).for_each(|(&slot, &value)| self.machine.memory.values[slot as usize] = value);
    }

    /// Moves the unknown on which a residue depends most so far that the residue is about `to`, unless what moves the system has
    /// moved the residue that far.
    fn move_residue(&mut self, program: &Program, system: SystemId, place: usize, to: f64) -> bool {
        if self.residue(program, system, place).is_some_and(|residue| residue / to >= 1.0) {
            return true;
        }
        let mut strongest: Option<(f64, usize, f64)> = None;
        for (column, extent) in self.extents(program, system).into_iter().enumerate() {
            let step = DIFFERENCE * extent;
            let Some((here, there)) = self.residues_beside(program, system, place, column, step) else { continue };
            let reach = (there - here) / DIFFERENCE;
            if reach.abs() > strongest.map_or(0.0, |(most, ..)| most) {
                strongest = Some((reach.abs(), column, (to - here) * extent / reach));
            }
        }
        let Some((_, column, step)) = strongest else { return false };
        let slot = program.systems[system].slots[column] as usize;
        self.machine.memory.values[slot] += step;
        self.residue(program, system, place).is_some_and(|residue| residue * to > 0.0)
    }

    fn departure(&mut self, program: &Program, watched: &Watched, towards: usize) -> Departure {
        let values = &self.machine.memory.values;
        let relations = &program.layout.relations;
        let state = |&id: &RelationId| (relations[id].state, values[relations[id].state as usize]);
        let unknowns = program.systems[watched.system].unknowns.iter().map(|&variable| program.layout.slot(variable));
        Departure {
            relation: watched.relations[towards],
            residue: self.residues[watched.places[towards]],
            states: watched.relations.iter().map(state).collect(),
            unknowns: unknowns.map(|slot| (slot, values[slot as usize])).collect(),
        }
    }
}
