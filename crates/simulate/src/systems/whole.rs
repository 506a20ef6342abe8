//! A system whose torn form loses digits, solved whole and with pivoting from then on.

use std::sync::Arc;

use compile::{Memory, Program, SystemId};
use transform::SystemKind;

use super::{Solved, Workspace};
use crate::system_failure::Reason;

/// The system in a program and a memory of its own.
#[derive(Clone)]
pub(super) struct Whole {
    program: Arc<Program>,
    memory: Memory,
    workspace: Box<Workspace>,
    /// Where the values lie that it is computed from.
    addresses: Vec<compile::Address>,
    is_compiled: bool,
}

impl Whole {
    pub fn new(program: &Program, system: SystemId, memory: &Memory) -> Option<Self> {
        let whole = program.with_whole_system(system)?;
        let mut own = whole.memory();
        own.native = memory.native.clone();
        whole.copy_values(memory, &mut own);
        let workspace = Box::new(Workspace::new(&whole, system, &own).ok()?);
        let addresses = whole.addresses_of_system(system);
        Some(Self { program: whole, memory: own, workspace, addresses, is_compiled: false })
    }

    /// Solves it from the values in memory, which holds the solution afterwards, if there is one.
    pub fn solve(&mut self, system: SystemId, memory: &mut Memory) -> Result<Solved, Reason> {
        for &address in &self.addresses {
            self.memory.values[address as usize] = memory.values[address as usize];
        }
        std::mem::swap(&mut self.memory.delays, &mut memory.delays);
        let outcome = self.workspace.solve_frozen(&self.program, system, &mut self.memory);
        std::mem::swap(&mut self.memory.delays, &mut memory.delays);
        if outcome.is_ok() {
            // Many are given up at the first attempt.
            if !std::mem::replace(&mut self.is_compiled, true) {
                self.program.compile_system_in_background(system);
            }
            for &slot in &self.program.systems[system].slots {
                memory.values[slot as usize] = self.memory.values[slot as usize];
            }
        }
        outcome
    }

    /// Solves it with relations that follow the unknowns, from the values in memory, which holds solution and relations
    /// afterwards. False where there is none.
    pub fn solve_unfrozen(&mut self, system: SystemId, memory: &mut Memory) -> bool {
        self.program.copy_values(memory, &mut self.memory);
        std::mem::swap(&mut self.memory.delays, &mut memory.delays);
        let is_solved = self.workspace.solve_unfrozen(&self.program, system, &mut self.memory);
        std::mem::swap(&mut self.memory.delays, &mut memory.delays);
        if is_solved {
            let found = &self.program.systems[system];
            let states = found.relations.iter().map(|&id| self.program.layout.relations[id].state);
            for address in found.slots.iter().copied().chain(states) {
                memory.values[address as usize] = self.memory.values[address as usize];
            }
        }
        is_solved
    }

    pub fn share_external_objects(&mut self, memory: &Memory) {
        self.memory.native = memory.native.clone();
    }

    pub fn set_quick(&mut self, is_quick: bool) {
        self.workspace.set_quick(is_quick);
    }

    pub fn forget(&mut self) {
        self.workspace.forget();
    }

    pub fn drop_factors(&mut self, kind: SystemKind) {
        self.workspace.drop_factors(kind);
    }
}
