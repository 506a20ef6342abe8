//! A simultaneous system that is not torn: every unknown is an iteration variable, and what an inner assignment says is a
//! residual like the others.
//!
//! It is made when a torn form turns out to lose digits during the run. Its program is another one of the same model, in which
//! everything fixed lies at the same addresses, so that values go from one memory to the other as they are.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use base::Id;
use dae::{Builtin, ExprId, Exprs, Node, VarId};
use transform::{Block, EquationSystem, Schedule};

use crate::code::{Address, ChunkId, Op};
use crate::layout::LIVE;
use crate::memory::Memory;
use crate::program::{JacobianCode, Program, SystemId};

impl Program {
    /// A system as it stands in the schedule.
    pub fn equation_system(&self, system: SystemId) -> Option<&EquationSystem> {
        let schedule = &self.schedule;
        let inline = schedule.inline.iter().flat_map(|inline| &inline.blocks);
        let blocks = schedule.initial.iter().chain(&schedule.blocks).chain(inline);
        let mut systems = blocks.filter_map(|block| match block {
            Block::System { system, .. } => Some(&**system),
            Block::Assign { .. } => None,
        });
        systems.nth(Id::index(system)).filter(|found| found.unknowns == self.systems[system].unknowns)
    }

    /// A program in which this system is solved whole and has the same number. `None` where it cannot share addresses. It is made
    /// once, for all runs.
    pub fn with_whole_system(&self, system: SystemId) -> Option<Arc<Program>> {
        let known = || self.whole_systems.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&system) {
            return found.clone();
        }
        // Runs on other threads do not wait; the first one that is ready serves all.
        let made = self.make_whole_system(system).map(Arc::new);
        known().entry(system).or_insert(made).clone()
    }

    fn make_whole_system(&self, system: SystemId) -> Option<Program> {
        self.equation_system(system)?;
        let mut schedule = self.schedule.clone();
        schedule.modes = None;
        make_whole(&mut schedule, Id::index(system));
        let whole = Program::new(schedule).ok()?;
        let state = |program: &Program| -> Vec<_> {
            program.layout.relations.values().map(|relation| (relation.expression, relation.state)).collect()
        };
        let is_alike = whole.layout.fixed == self.layout.fixed
            && whole.layout.delays.len() == self.layout.delays.len()
            && whole.systems.len() == self.systems.len()
            && state(&whole) == state(self);
        is_alike.then_some(whole)
    }

    /// What a relation, or a rounding that makes events, is by its frozen state. `None` for anything else.
    pub fn frozen_value(&self, memory: &Memory, expression: ExprId) -> Option<f64> {
        let relation = &self.layout.relations[*self.layout.relation_of.get(&expression)?];
        let state = memory.values[relation.state as usize];
        match self.model().exprs.node(expression) {
            Node::Compare { op, .. } => Some(f64::from(u8::from(dae::scalar::compare_reals(op, state, 0.0)))),
            Node::Builtin(Builtin::FloorEvent | Builtin::CeilEvent, _) => Some(state),
            _ => Some(f64::NAN),
        }
    }

    /// The addresses that the code of a system reads or writes and that other programs have too, in order.
    pub fn addresses_of_system(&self, system: SystemId) -> Vec<Address> {
        let fixed = self.layout.fixed;
        let mut found: BTreeSet<Address> = (0..=LIVE).collect();
        for chunk in self.chunks_of_system(system) {
            let code = &self.chunks[chunk];
            if code.kernel.is_some() {
                return (0..fixed).collect();
            }
            for op in &code.ops {
                if let Op::LoadAt { base, length, .. } | Op::StoreAt { base, length, .. } = *op {
                    found.extend(base..base.saturating_add(length).min(fixed));
                }
                op.map(|address| {
                    found.extend((address < fixed).then_some(address));
                    address
                });
            }
        }
        found.into_iter().collect()
    }

    /// The code that solving a system takes, functions first.
    pub(crate) fn chunks_of_system(&self, system: SystemId) -> Vec<ChunkId> {
        let data = &self.systems[system];
        let (JacobianCode::Entries(jacobian) | JacobianCode::Directions(jacobian)) = data.jacobian;
        let own = [data.residuals, jacobian];
        let mut functions = BTreeSet::new();
        let mut open = own.to_vec();
        while let Some(chunk) = open.pop() {
            let code = &self.chunks[chunk];
            let ops = code.kernel.as_ref().map_or(&code.ops, |kernel| &kernel.ops);
            let called = ops.iter().flat_map(|op| self.functions_called(op));
            open.extend(called.filter(|&function| functions.insert(function)));
        }
        functions.into_iter().chain(own).collect()
    }

    /// The code of the functions that an operation calls.
    fn functions_called(&self, op: &Op) -> impl Iterator<Item = ChunkId> + use<> {
        let (invoked, calls) = match *op {
            Op::Invoke { chunk } => (Some(Id::from_index(chunk as usize)), [None, None]),
            Op::Call { call, .. } => {
                let entry = &self.pool.calls[call as usize];
                (None, [&entry.native, &entry.differenced].map(|call| call.as_ref().map(|call| call.chunk)))
            }
            _ => (None, [None, None]),
        };
        invoked.into_iter().chain(calls.into_iter().flatten())
    }

    /// Gives a program made by `with_whole_system` the values of the other one.
    pub fn copy_values(&self, from: &Memory, to: &mut Memory) {
        let fixed = self.layout.fixed as usize;
        to.values[..fixed].copy_from_slice(&from.values[..fixed]);
    }
}

fn make_whole(schedule: &mut Schedule, index: usize) {
    let Schedule { model, initial, blocks, inline, .. } = schedule;
    let inline = inline.iter_mut().flat_map(|inline| &mut inline.blocks);
    let mut systems = initial.iter_mut().chain(blocks).chain(inline).filter_map(|block| match block {
        Block::System { system, .. } => Some(&mut **system),
        Block::Assign { .. } => None,
    });
    if let Some(system) = systems.nth(index) {
        untear(system, &mut model.exprs, |_| true);
    }
}

/// Makes iteration variables of those that are computed from others; what assigns them is a residual then.
pub(crate) fn untear(system: &mut EquationSystem, exprs: &mut Exprs, wanted: impl Fn(VarId) -> bool) {
    let Some(spare) = system.equations.first().copied() else { return };
    let (untorn, inner) =
        std::mem::take(&mut system.inner).into_iter().partition(|assignment| wanted(assignment.variable));
    system.inner = inner;
    for (place, assignment) in Vec::into_iter(untorn).enumerate() {
        let variable = exprs.var(assignment.variable);
        system.iteration.insert(place, assignment.variable);
        system.residuals.insert(place, exprs.sub(variable, assignment.value));
        system.residual_equations.insert(place, assignment.equation.unwrap_or(spare));
    }
}
