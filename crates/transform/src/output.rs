//! What only results need: blocks that neither derivatives, nor events, nor discrete variables depend on.

use base::IdVec;
use dae::{ActionKind, ExprId, VarId};

use crate::occurrences::{Leaf, Occurrence, Scanner};
use crate::parts::{Block, State, Timing};
use crate::work::Work;

/// Marks continuous blocks that are needed for output only.
pub fn mark(work: &Work, states: &[State], blocks: &mut [Block]) {
    let mut needs = Needs { needed: IdVec::filled(false, work.model.variables.len()), scanner: Scanner::default() };
    for state in states {
        needs.needed[state.derivative] = true;
    }
    for action in &work.model.actions {
        needs.all(work, action.condition.as_slice());
        match &action.kind {
            ActionKind::Reinit { state, value } => {
                needs.needed[*state] = true;
                needs.all(work, &[*value]);
            }
            // It is checked after every step, so what it asks for must be of that instant.
            ActionKind::Assert { holds, .. } => needs.all(work, &[*holds]),
            ActionKind::Terminate { .. } => {}
            ActionKind::Call(call) => needs.all(work, &[*call]),
        }
    }
    // Events and delays need what stands in them wherever they stand; a later block may ask for that, so this comes first.
    for block in blocks.iter() {
        needs.relations(work, &roots(block));
    }
    for block in blocks.iter_mut().rev() {
        let is_needed = unknowns(block).any(|variable| needs.needed[variable]);
        match timing(block) {
            Timing::Continuous if !is_needed => set_timing(block, Timing::Output),
            Timing::Output => {}
            Timing::Continuous | Timing::Event => needs.all(work, &roots(block)),
        }
    }
}

struct Needs {
    needed: IdVec<VarId, bool>,
    scanner: Scanner,
}

impl Needs {
    fn all(&mut self, work: &Work, roots: &[ExprId]) {
        let needed = &mut self.needed;
        self.scanner.scan(&work.model.exprs, roots, |leaf, _| {
            if let Leaf::Variable(v) = leaf {
                needed[v] = true;
            }
        });
    }

    /// What stands in relations that make events, and in delays.
    fn relations(&mut self, work: &Work, roots: &[ExprId]) {
        let needed = &mut self.needed;
        self.scanner.scan_all_occurrences(&work.model.exprs, roots, |leaf, occurrence| {
            if let Leaf::Variable(v) = leaf
                && occurrence <= Occurrence::Frozen
            {
                needed[v] = true;
            }
        });
    }
}

/// All expressions of a block.
pub fn roots(block: &Block) -> Vec<ExprId> {
    match block {
        Block::Assign { assignment, .. } => vec![assignment.value],
        Block::System { system, .. } => {
            let assignments = system.inner.iter().chain(&system.discrete);
            assignments.map(|assignment| assignment.value).chain(system.residuals.iter().copied()).collect()
        }
    }
}

/// What a block computes.
pub fn unknowns(block: &Block) -> impl Iterator<Item = VarId> + '_ {
    let (one, more) = match block {
        Block::Assign { assignment, .. } => (Some(assignment.variable), &[][..]),
        Block::System { system, .. } => (None, &system.unknowns[..]),
    };
    one.into_iter().chain(more.iter().copied())
}

pub fn timing(block: &Block) -> Timing {
    match block {
        Block::Assign { timing, .. } | Block::System { timing, .. } => *timing,
    }
}

pub fn set_timing(block: &mut Block, new: Timing) {
    match block {
        Block::Assign { timing, .. } | Block::System { timing, .. } => *timing = new,
    }
}
