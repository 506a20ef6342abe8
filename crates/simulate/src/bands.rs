//! What the location of events is told when integration begins anew: the frozen state of every relation, and the band
//! around zero in which rounding alone decides the sign of its residue.
//!
//! A relation inside its band keeps its state until the residue leaves the band on the other side; this is the rule of two
//! shifted crossing functions (Elmqvist, Cellier and Otter 1993) with the width of the rounding errors.

use compile::{Memory, Program, RelationKind, Side};
use solve::RootFinder;
use solve::roots::Crossing;

use crate::machine::Machine;
use crate::systems;

/// The band of residues that no simultaneous system is involved in.
const PLAIN_BAND: f64 = 1e-15;
/// Bands are wider than what the systems take for rounding, so that a relation that stayed as it was lies inside.
const MARGIN: f64 = 2.0;

pub struct Bands {
    residues: Vec<f64>,
    given: Vec<i8>,
    bands: Vec<f64>,
    /// The least bands of crossing functions, as they were asked for.
    least: Vec<f64>,
    /// The crossing functions of the relations of each system.
    of_system: Vec<(compile::SystemId, Vec<usize>)>,
}

impl Bands {
    pub fn new(program: &Program) -> Self {
        let count = program.roots.len();
        let mut of_system = Vec::new();
        for &step in &program.sections.events {
            let compile::Step::Solve(system) = step else { continue };
            let relations = &program.systems[system].relations;
            let inside = |k: &usize| relations.binary_search(&program.roots[*k].relation).is_ok();
            if !relations.is_empty() {
                of_system.push((system, (0..count).filter(inside).collect()));
            }
        }
        Self {
            residues: vec![0.0; count],
            given: vec![0; count],
            bands: vec![0.0; count],
            least: vec![PLAIN_BAND; count],
            of_system,
        }
    }

    /// The relations that triggered an event take the signs they have there.
    pub fn enter(&self, memory: &mut Memory, program: &Program, crossings: &[Crossing]) {
        for crossing in crossings {
            let relation = &program.layout.relations[program.roots[crossing.function].relation];
            if let RelationKind::Compare { .. } = relation.kind {
                memory.values[relation.state as usize] = f64::from(crossing.to);
            }
        }
    }

    /// Bands as narrow as rounding.
    pub fn narrow(&mut self) {
        self.least.fill(PLAIN_BAND);
    }

    /// Lets a relation keep its state while its residue is not larger than `width`.
    pub fn widen(&mut self, program: &Program, relation: compile::RelationId, width: f64) {
        for (least, root) in self.least.iter_mut().zip(&program.roots) {
            if root.relation == relation {
                *least = least.max(width);
            }
        }
    }

    /// Freezes the states of all relations at the point in memory.
    pub fn restart(&mut self, machine: &mut Machine, roots: &mut RootFinder) {
        if self.residues.is_empty() {
            return;
        }
        let program = machine.program;
        program.crossings(&mut machine.memory, &mut self.residues);
        self.bands.copy_from_slice(&self.least);
        for (system, functions) in &self.of_system {
            let noise = MARGIN * systems::noise(program, &program.systems[*system], &machine.memory);
            functions.iter().for_each(|&k| self.bands[k] = self.bands[k].max(noise));
        }
        for (given, root) in self.given.iter_mut().zip(&program.roots) {
            let relation = &program.layout.relations[root.relation];
            *given = match root.side {
                Side::Residue => machine.memory.values[relation.state as usize] as i8,
                // Inside, the argument is above the lower bound and below the upper one.
                Side::Lower => 1,
                Side::Upper => -1,
            };
        }
        roots.restart_in_bands(&self.residues, &self.given, &self.bands);
    }
}
