//! What the programs of a model's modes have in common: one place in memory for each variable, relation and number, so that
//! equal code is equal to the last address; code is lowered once then, and machine code made once.
//!
//! Regions of memory have room to spare. Where a program needs more, regions move, and it shares nothing with those before.

use std::sync::{Arc, Mutex, MutexGuard};

use dae::ExprId;
use rustc_hash::FxHashMap;
use transform::Schedule;

use crate::addresses::Addresses;
use crate::code::{Address, Code, Op, Regions};
use crate::jit::{Entry, Modules};
use crate::layout::{Layout, VariableSlot};
use crate::lower::{Constants, Mode, Statement};
use crate::strings::Strings;

/// Shared by programs whose schedules have one numbering of variables and one arena of expressions.
pub struct Commons {
    shared: Mutex<Shared>,
    pub(crate) modules: Arc<Modules>,
}

impl Default for Commons {
    fn default() -> Self {
        Self { shared: Mutex::new(Shared::common()), modules: Arc::default() }
    }
}

impl Commons {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[derive(Default)]
pub(crate) struct Shared {
    pub addresses: Addresses,
    pub constants: Constants,
    pub strings: Strings,
    room: Room,
    lowered: FxHashMap<(Mode, Vec<StatementKey>), Arc<Code>>,
    entries: FxHashMap<Content, Arc<Entry>>,
    /// Where the regions were when the entries were made.
    regions: Option<Regions>,
}

const LONGEST_RUN: usize = 800;
/// Code of more statements would be too long without families.
const MANY: usize = 4000;
/// Runs of several programs are about so long, and not shorter than this.
const COMMON_RUN: u32 = 32;
const SHORTEST_RUN: usize = 16;

/// What is lowered, without what it stands for.
type StatementKey = (VariableSlot, ExprId, bool);

/// All that machine code depends on; numbers lie at the same addresses in all programs.
#[derive(PartialEq, Eq, Hash)]
struct Content {
    ops: Vec<Op>,
    private: std::ops::Range<Address>,
    outputs: Vec<Address>,
}

/// The length of regions whose content is not kept.
#[derive(Clone, Copy, Default)]
struct Room {
    outputs: u32,
    temporaries: u32,
}

impl Shared {
    /// For more than one program.
    pub fn common() -> Self {
        Self { addresses: Addresses::common(), ..Self::default() }
    }

    pub fn layout(&mut self, schedule: &mut Schedule) -> Layout {
        let (layout, as_before) = Layout::new(schedule, &mut self.addresses);
        if !as_before {
            self.lowered.clear();
        }
        layout
    }

    /// Families join what changes with what stays the same, so that programs would share less.
    pub fn does_without_families(&self, statements: &[Statement]) -> bool {
        self.addresses.common && statements.len() <= MANY
    }

    /// Statements that become one chunk each: enough that shared expressions meet, few enough that compilation stays linear.
    /// Where others come and go in another mode, runs shall be the same as before beyond them, so what is assigned decides
    /// where they end.
    pub fn runs<'s>(&self, statements: &'s [Statement]) -> Vec<&'s [Statement]> {
        if !self.addresses.common {
            return statements.chunks(LONGEST_RUN).collect();
        }
        let mut runs = Vec::new();
        let (mut start, mut end) = (0, 0);
        for statement in statements {
            end += 1;
            let ends = statement.target.slot.wrapping_mul(0x9e37_79b1) < u32::MAX / COMMON_RUN;
            if ends && end - start >= SHORTEST_RUN || end - start == LONGEST_RUN {
                runs.push(&statements[start..end]);
                start = end;
            }
        }
        if start < end {
            runs.push(&statements[start..end]);
        }
        runs
    }

    /// Where the regions lie behind `start` that code needs so much of.
    pub fn regions(&mut self, start: Address, outputs: u32, temporaries: u32) -> Regions {
        let enlarged = |room: u32, needed: u32| if needed > room { self.addresses.enlarged(needed) } else { room };
        let Room { outputs: first, temporaries: second } = self.room;
        self.room = Room { outputs: enlarged(first, outputs), temporaries: enlarged(second, temporaries) };
        let temporaries = start + self.room.outputs;
        let regions = Regions { outputs: start, temporaries, constants: temporaries + self.room.temporaries };
        if self.regions.replace(regions) != Some(regions) {
            self.entries.clear();
        }
        regions
    }

    pub fn lowered(&self, mode: Mode, statements: &[Statement]) -> Option<Code> {
        if !self.addresses.common {
            return None;
        }
        let known = self.lowered.get(&key(mode, statements))?;
        let mut code = (**known).clone();
        for ((_, origin), statement) in code.statements.iter_mut().zip(statements) {
            *origin = statement.origin;
        }
        Some(code)
    }

    pub fn keep(&mut self, mode: Mode, statements: &[Statement], code: &Code) {
        // Calls have numbers of one program.
        if self.addresses.common && code.statements.len() == statements.len() && code.ops.iter().all(is_common) {
            self.lowered.insert(key(mode, statements), Arc::new(code.clone()));
        }
    }

    /// The machine code of relocated code.
    pub fn entry(&mut self, code: &Code) -> Arc<Entry> {
        if !self.addresses.common || code.kernel.is_some() || !code.ops.iter().all(is_common) {
            return Arc::default();
        }
        let content = Content { ops: code.ops.clone(), private: code.private.clone(), outputs: code.outputs.clone() };
        self.entries.entry(content).or_default().clone()
    }
}

fn key(mode: Mode, statements: &[Statement]) -> (Mode, Vec<StatementKey>) {
    (mode, statements.iter().map(|statement| (statement.target, statement.value, statement.checked)).collect())
}

/// Whether it means the same in every program.
fn is_common(op: &Op) -> bool {
    !matches!(op, Op::Call { .. } | Op::Invoke { .. } | Op::Delay { .. })
}
