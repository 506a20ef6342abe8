//! Loops of Boolean variables alone, such as `a = not b; b = not a`: several solutions mean that the model does not say which.

use compile::{Memory, Program, SystemId};
use dae::VariableType;

use super::Workspace;
use crate::ambiguity::{Ambiguity, Difference};

/// Loops with more Boolean unknowns are not searched.
const MOST_UNKNOWNS: usize = 8;

/// A loop that has one solution each time is not searched forever.
const MOST_SEARCHES: usize = 200;

impl Workspace {
    /// Takes note of a second combination of values that agrees with the equations, after one was found. Memory is left as it
    /// is. Loops with continuous unknowns are compared where a configuration is found that was not asked for.
    pub(super) fn look_for_other_solutions(&mut self, program: &Program, system: SystemId, memory: &mut Memory) {
        let found = &program.systems[system];
        let is_loop = found.slots.is_empty() && found.relations.is_empty() && !found.has_own_edge;
        let is_open = self.ambiguity.is_none() && self.comparisons < MOST_SEARCHES && !memory.is_initial();
        let Some(code) = found.discrete_code.filter(|_| is_loop && is_open) else { return };
        let model = program.model();
        let is_boolean = |k: &usize| model.variables[found.discrete[*k]].ty == VariableType::Boolean;
        let booleans: Vec<usize> = (0..found.discrete.len()).filter(is_boolean).collect();
        if booleans.is_empty() || booleans.len() > MOST_UNKNOWNS {
            return;
        }
        self.comparisons += 1;
        let address = |k: usize| self.places[k].address;
        let read =
            |memory: &Memory| -> Vec<f64> { (0..self.places.len()).map(|k| memory.values[address(k)]).collect() };
        let taken = read(memory);
        let mut other = None;
        for combination in 0..1u32 << booleans.len() {
            for (bit, &k) in booleans.iter().enumerate() {
                memory.values[address(k)] = f64::from(u8::from(combination >> bit & 1 == 1));
            }
            let wanted = |memory: &Memory| booleans.iter().map(|&k| memory.values[address(k)]).collect::<Vec<_>>();
            let candidate = wanted(memory);
            // Others that are no Booleans follow from the first evaluation.
            let agrees = program.run_chunk(code, memory).is_ok() && wanted(memory) == candidate && {
                let first = read(memory);
                program.run_chunk(code, memory).is_ok() && read(memory) == first
            };
            if agrees && read(memory) != taken {
                other = Some(read(memory));
                break;
            }
        }
        for (k, &value) in taken.iter().enumerate() {
            memory.values[address(k)] = value;
        }
        if let Some(other) = other {
            let differs = found.discrete.iter().zip(&taken).zip(&other).filter(|((_, a), b)| a != b);
            let variables = differs.map(|((&variable, &a), &b)| (variable, a, b)).collect();
            let difference = Difference::Variables(variables);
            self.ambiguity = Some(Ambiguity { system, time: memory.time(), difference });
        }
    }
}
