//! Newton's method over relations that follow the unknowns.
//!
//! With relations frozen a branch goes on where it does not hold: a parabola turns back, a logarithm ends, and the system may
//! have no solution there, or one that asks for a branch whose solution asks for the first. What is meant is the function that
//! the branches make together, and where it is continuous Newton's method needs no more than a slope at each point
//! (semismooth: Qi and Sun, *A nonsmooth version of Newton's method*, 1993).

use compile::{Memory, Program, RelationId, RelationKind, SystemId};
use solve::{EvalError, NonlinearSystem, Pattern};

use super::configuration::{outside_noise, wanted_state};
use super::{Evaluator, Method, Workspace, write};

impl Workspace {
    /// Solves the system from the values in memory and leaves the solution and the relations that hold there. Discrete unknowns
    /// stay as they are. False leaves memory as it was.
    pub(super) fn solve_unfrozen(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> bool {
        if let Some(whole) = &mut self.whole {
            return whole.solve_unfrozen(system, memory);
        }
        let found = &program.systems[system];
        let Method::Newton(newton) = &mut self.method else { return false };
        if !self.rounded.contains(&true) {
            return false;
        }
        let relation = |(&id, &rounded): (&RelationId, &bool)| {
            let relation = &program.layout.relations[id];
            let noise = if rounded { 0.0 } else { outside_noise(relation.class, memory) };
            let (state, shift) = (relation.state as usize, relation.shift() as usize);
            Relation { kind: relation.kind, state, shift, noise }
        };
        let states: Vec<Relation> = found.relations.iter().zip(&self.rounded).map(relation).collect();
        let before: Vec<f64> = states.iter().map(|relation| memory.values[relation.state]).collect();
        self.x.iter_mut().zip(&found.slots).for_each(|(x, &slot)| *x = memory.values[slot as usize]);
        let start = self.x.clone();
        memory.set_live(false);
        newton.forget();
        let (pattern, inner) = (&self.pattern, self.inner.as_slice());
        let frozen = Evaluator { program, system, memory, pattern, inner, failed_at: None };
        let mut unfrozen = Unfrozen { frozen, relations: &states, residues: &mut self.residues };
        let is_solved = newton.solve(&mut unfrozen, &mut self.x).is_ok();
        if !is_solved {
            states.iter().zip(&before).for_each(|(relation, &state)| memory.values[relation.state] = state);
            write(memory, &found.slots, &start);
        }
        is_solved
    }
}

struct Relation {
    kind: RelationKind,
    state: usize,
    shift: usize,
    noise: f64,
}

/// A system whose relations are those of each point.
struct Unfrozen<'a> {
    frozen: Evaluator<'a>,
    relations: &'a [Relation],
    residues: &'a mut [f64],
}

impl Unfrozen<'_> {
    /// Sets the relations to what the point in memory asks for; whether any of them changed.
    fn follow(&mut self) -> bool {
        let Evaluator { program, system, ref mut memory, .. } = self.frozen;
        program.system_residues(system, memory, self.residues);
        let mut changed = false;
        for (relation, residue) in self.relations.iter().zip(&*self.residues) {
            let state = memory.values[relation.state];
            let wanted = wanted_state(relation.kind, state, residue + memory.values[relation.shift], relation.noise);
            changed |= wanted != state;
            memory.values[relation.state] = wanted;
        }
        changed
    }
}

impl NonlinearSystem for Unfrozen<'_> {
    fn size(&self) -> usize {
        self.frozen.size()
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        // What is computed from the unknowns by one branch decides about the next.
        let most_rounds = self.relations.len() + 1;
        let mut outcome = self.frozen.residual(x, r);
        for _ in 0..most_rounds {
            if !self.follow() {
                break;
            }
            outcome = self.frozen.residual(x, r);
        }
        outcome
    }

    fn dependents(&self) -> usize {
        self.frozen.dependents()
    }

    fn read_dependents(&self, values: &mut [f64]) {
        self.frozen.read_dependents(values);
    }

    fn jacobian_pattern(&self) -> Option<&Pattern> {
        self.frozen.jacobian_pattern()
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        self.frozen.jacobian(x, values)
    }
}
