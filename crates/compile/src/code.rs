//! The lowered form: register code over one flat address space of `f64`.
//!
//! An operand is an address. The two top bits tell the region: fixed addresses of the `Layout` (variables, relation
//! states …), the pool of constants, temporaries of the chunk, and the output area that `roots`, `residuals` and the
//! like are read from. While code is made regions grow independently; `Code::relocate` then turns every operand into
//! an index into `Memory::values`. The interpreter uses temporaries in memory, compiled code keeps them in registers.
//!
//! Control flow is structured: `If … Else … EndIf`, `Loop … EndLoop` with `Exit`, with targets as indices of operations. An `If` always has its `Else`.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use dae::{EqId, ExprId, VarId};

use crate::math::{Binary, Unary};

base::id_type!(
    /// A piece of code.
    pub ChunkId, "chunk"
);

/// An address, see above.
pub type Address = u32;

pub const REGION_MASK: u32 = 3 << 30;
pub const CONSTANT: u32 = 1 << 30;
pub const TEMPORARY: u32 = 2 << 30;
pub const OUTPUT: u32 = 3 << 30;

/// How a number becomes an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounding {
    /// Down.
    Floor,
    /// Up.
    Ceil,
    /// To zero.
    Truncate,
}

impl Rounding {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Floor, Self::Ceil, Self::Truncate];

    /// The rounded number.
    pub fn apply(self, value: f64) -> f64 {
        match self {
            Rounding::Floor => value.floor(),
            Rounding::Ceil => value.ceil(),
            Rounding::Truncate => value.trunc(),
        }
    }
}

/// After so many operations in loops one call has no end; they take about a second. A turn of a loop counts as many as stand
/// between its begin and its end, so that long bodies have fewer turns and not more time.
pub const MOST_WORK: i64 = 5_000_000_000;
/// What is taken from them once that was so: whoever tries again is to fail soon.
pub const IMPATIENT: f64 = 4_999_000_000.0;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Move {
        to: Address,
        a: Address,
    },
    Unary {
        function: Unary,
        to: Address,
        a: Address,
    },
    Binary {
        function: Binary,
        to: Address,
        a: Address,
        b: Address,
    },
    /// `to := if condition then a else b`, everything evaluated.
    Select {
        to: Address,
        condition: Address,
        a: Address,
        b: Address,
    },
    /// Falls through when true, goes to `otherwise` (the operation behind `Else`, or `EndIf`) when false.
    If {
        condition: Address,
        otherwise: u32,
    },
    /// Ends the first branch: goes to `end`, the `EndIf`.
    Else {
        end: u32,
    },
    EndIf,
    /// Where `Memory` is live, the state of a relation becomes the sign of a − b and its shift, unless that is in its band.
    Relate {
        state: Address,
        a: Address,
        b: Address,
    },
    /// Where `Memory` is live, the frozen integer becomes the rounded sum of a and the shift.
    Round {
        rounding: Rounding,
        state: Address,
        a: Address,
    },
    /// Evaluates the entry of the call table: arguments and results are consecutive temporaries.
    Call {
        call: u32,
        arguments: Address,
        results: Address,
    },
    /// Begins a loop, or a block that can be left.
    Loop,
    /// Goes back to behind the operation `start`. After `MOST_WORK` in all loops of the code it goes on, and leaves NaN at the
    /// address `failed`.
    EndLoop {
        start: u32,
        failed: Address,
    },
    /// Leaves so many loops: goes to `target`, the operation behind the outermost of them.
    Exit {
        levels: u32,
        target: u32,
    },
    /// `to` := the number `index` places behind `base`; NaN where that is not below `length`.
    LoadAt {
        to: Address,
        base: Address,
        index: Address,
        length: u32,
    },
    /// The number `index` places behind `base` := a; outside of `length` the first becomes NaN.
    StoreAt {
        base: Address,
        index: Address,
        length: u32,
        a: Address,
    },
    /// Runs the code of a function; its arguments and results have fixed addresses.
    Invoke {
        chunk: u32,
    },
    /// `to := delay(a, b)`; the buffer belongs to the memory.
    Delay {
        delay: u32,
        to: Address,
        a: Address,
        b: Address,
    },
}

/// What a statement of a chunk stands for.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StatementOrigin {
    /// What it computes.
    pub variable: Option<VarId>,
    /// The equation it comes from.
    pub equation: Option<EqId>,
}

/// A piece of code that runs as one.
#[derive(Clone, Default, Debug)]
pub struct Code {
    pub ops: Vec<Op>,
    /// The expression each operation computes, parallel to `ops`.
    pub origins: Vec<ExprId>,
    /// The first operation of each statement, and what it is.
    pub statements: Vec<(u32, StatementOrigin)>,
    pub temporaries: u32,
    /// Addresses that hold the results: what is checked for being finite.
    pub outputs: Vec<Address>,
    /// Once relocated: the addresses of its temporaries, which nobody else looks at.
    pub private: Range<Address>,
    /// Instead of `ops`, where it is the code of a family.
    pub kernel: Option<Arc<Kernel>>,
}

impl Op {
    /// The address it writes, if it writes one outside of control flow, relations and calls.
    pub fn target(&self) -> Option<Address> {
        match *self {
            Op::Move { to, .. }
            | Op::Unary { to, .. }
            | Op::Binary { to, .. }
            | Op::Select { to, .. }
            | Op::LoadAt { to, .. }
            | Op::Delay { to, .. } => Some(to),
            _ => None,
        }
    }

    pub fn for_each_source(&self, mut visit: impl FnMut(Address)) {
        match *self {
            Op::Move { a, .. } | Op::Unary { a, .. } | Op::Round { a, .. } => visit(a),
            Op::Binary { a, b, .. } | Op::Relate { a, b, .. } | Op::Delay { a, b, .. } => {
                visit(a);
                visit(b);
            }
            Op::Select { condition, a, b, .. } => {
                visit(condition);
                visit(a);
                visit(b);
            }
            Op::If { condition, .. } => visit(condition),
            Op::LoadAt { index, .. } => visit(index),
            Op::StoreAt { index, a, .. } => {
                visit(index);
                visit(a);
            }
            Op::Else { .. } | Op::EndIf | Op::Call { .. } => {}
            Op::Loop | Op::EndLoop { .. } | Op::Exit { .. } | Op::Invoke { .. } => {}
        }
    }

    /// The same operation with every address mapped.
    pub fn map(self, mut f: impl FnMut(Address) -> Address) -> Op {
        match self {
            Op::Move { to, a } => Op::Move { to: f(to), a: f(a) },
            Op::Unary { function, to, a } => Op::Unary { function, to: f(to), a: f(a) },
            Op::Binary { function, to, a, b } => Op::Binary { function, to: f(to), a: f(a), b: f(b) },
            Op::Select { to, condition, a, b } => Op::Select { to: f(to), condition: f(condition), a: f(a), b: f(b) },
            Op::If { condition, otherwise } => Op::If { condition: f(condition), otherwise },
            Op::Else { .. } | Op::EndIf | Op::Loop | Op::Exit { .. } | Op::Invoke { .. } => self,
            Op::EndLoop { start, failed } => Op::EndLoop { start, failed: f(failed) },
            Op::LoadAt { to, base, index, length } => Op::LoadAt { to: f(to), base: f(base), index: f(index), length },
            Op::StoreAt { base, index, length, a } => Op::StoreAt { base: f(base), index: f(index), length, a: f(a) },
            Op::Relate { state, a, b } => Op::Relate { state: f(state), a: f(a), b: f(b) },
            Op::Round { rounding, state, a } => Op::Round { rounding, state: f(state), a: f(a) },
            Op::Call { call, arguments, results } => Op::Call { call, arguments: f(arguments), results: f(results) },
            Op::Delay { delay, to, a, b } => Op::Delay { delay, to: f(to), a: f(a), b: f(b) },
        }
    }
}

/// Where the regions lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Regions {
    pub constants: u32,
    pub outputs: u32,
    pub temporaries: u32,
}

impl Regions {
    #[inline]
    pub fn resolve(&self, address: Address) -> u32 {
        let index = address & !REGION_MASK;
        match address & REGION_MASK {
            CONSTANT => self.constants + index,
            OUTPUT => self.outputs + index,
            TEMPORARY => self.temporaries + index,
            _ => index,
        }
    }
}

impl Code {
    pub fn relocate(&mut self, regions: &Regions) {
        for op in &mut self.ops {
            *op = op.map(|address| regions.resolve(address));
        }
        if self.temporaries > 0 {
            self.private = regions.temporaries..regions.temporaries + self.temporaries;
        }
        for output in &mut self.outputs {
            *output = regions.resolve(*output);
        }
    }

    /// The statement an operation belongs to.
    pub fn statement_of(&self, op: usize) -> StatementOrigin {
        let after = self.statements.partition_point(|&(start, _)| start as usize <= op);
        after.checked_sub(1).map(|k| self.statements[k].1).unwrap_or_default()
    }

    /// One operation a line, for tests and for looking at what was made.
    pub fn print(&self) -> String {
        let mut out = String::new();
        let mut depth = 0usize;
        let name = |address: Address| match address & REGION_MASK {
            CONSTANT => format!("c{}", address & !REGION_MASK),
            TEMPORARY => format!("t{}", address & !REGION_MASK),
            OUTPUT => format!("out{}", address & !REGION_MASK),
            _ => format!("m{address}"),
        };
        let ops = match &self.kernel {
            Some(kernel) => {
                let _ = writeln!(out, "kernel of {}", kernel.members);
                &kernel.ops
            }
            None => &self.ops,
        };
        for op in ops {
            if matches!(op, Op::Else { .. } | Op::EndIf | Op::EndLoop { .. }) {
                depth = depth.saturating_sub(1);
            }
            let _ = write!(out, "{:1$}", "", 2 * depth);
            let _ = match *op {
                Op::Move { to, a } => writeln!(out, "{} = {}", name(to), name(a)),
                Op::Unary { function, to, a } => writeln!(out, "{} = {} {}", name(to), function.name(), name(a)),
                Op::Binary { function, to, a, b } => {
                    writeln!(out, "{} = {} {} {}", name(to), function.name(), name(a), name(b))
                }
                Op::Select { to, condition, a, b } => {
                    writeln!(out, "{} = select {} {} {}", name(to), name(condition), name(a), name(b))
                }
                Op::If { condition, .. } => writeln!(out, "if {}", name(condition)),
                Op::Else { .. } => writeln!(out, "else"),
                Op::EndIf => writeln!(out, "end"),
                Op::Relate { state, a, b } => writeln!(out, "relate {} {} {}", name(state), name(a), name(b)),
                Op::Round { rounding, state, a } => {
                    writeln!(out, "round {rounding:?} {} {}", name(state), name(a))
                }
                Op::Call { call, arguments, results } => {
                    writeln!(out, "call {call} {} -> {}", name(arguments), name(results))
                }
                Op::Loop => writeln!(out, "loop"),
                Op::EndLoop { .. } => writeln!(out, "repeat"),
                Op::Exit { levels, .. } => writeln!(out, "exit {levels}"),
                Op::LoadAt { to, base, index, length } => {
                    writeln!(out, "{} = {}[{}] of {length}", name(to), name(base), name(index))
                }
                Op::StoreAt { base, index, length, a } => {
                    writeln!(out, "{}[{}] of {length} = {}", name(base), name(index), name(a))
                }
                Op::Invoke { chunk } => writeln!(out, "invoke {chunk}"),
                Op::Delay { delay, to, a, b } => {
                    writeln!(out, "{} = delay {delay} {} {}", name(to), name(a), name(b))
                }
            };
            if matches!(op, Op::If { .. } | Op::Else { .. } | Op::Loop) {
                depth += 1;
            }
        }
        out
    }
}

/// Code over holes: operations whose fixed addresses are the numbers of table rows.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub ops: Vec<Op>,
    pub temporaries: u32,
    pub holes: u32,
    pub members: u32,
    /// The addresses of hole h for all members: `table[h·members ..]`.
    pub table: Vec<u32>,
}

/// How the code of a call is entered.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeCall {
    pub chunk: ChunkId,
    /// Which scalar argument goes where.
    pub inputs: Vec<(u32, Address)>,
    /// Where each scalar result is.
    pub outputs: Vec<Source>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Source {
    At(Address),
    Known(f64),
}
