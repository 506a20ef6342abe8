//! Statements of one family (`transform::families`) become one kernel that runs over a table of addresses.
//!
//! Here the leaves of a shape are addresses, so that statements that the schedule does not know, such as those of torn
//! systems and of derivatives, come together as well. The interpreter runs an operation for a block of members at once, and
//! machine code is one loop.

use dae::{Builtin, CallSiteId, Node, VariableType};
use rustc_hash::FxHashMap;
use transform::families::{self, Alphabet, Shapes};

use crate::code::{Address, CONSTANT, Code, Kernel, Op, REGION_MASK, TEMPORARY};
use crate::layout::{Layout, VariableSlot};
use crate::lower::{Mode, Statement};
use crate::math::{Binary, Unary};

/// Members that the interpreter treats together.
pub const LANES: usize = 64;

/// How a run of statements is made into code.
pub enum Part {
    Plain(Vec<Statement>),
    Family(Family),
}

/// Statements of one shape and the addresses each of them has in the holes, the target last.
pub struct Family {
    pub members: Vec<Statement>,
    addresses: Vec<Address>,
}

/// Orders statements by levels and finds families among those of a level. Without families the order stays.
pub fn split(model: &dae::Model, layout: &Layout, mode: Mode, statements: &[Statement]) -> Vec<Part> {
    if statements.len() < families::SMALLEST {
        return vec![Part::Plain(statements.to_vec())];
    }
    let mut shapes = Shapes::default();
    let mut kinds = Vec::with_capacity(statements.len());
    let mut levels: Vec<u32> = Vec::with_capacity(statements.len());
    let mut level_of: FxHashMap<Address, u32> = FxHashMap::default();
    // The addresses of all statements, one after the other, and where those of each begin.
    let (mut addresses, mut starts) = (Vec::new(), Vec::with_capacity(statements.len() + 1));
    let alphabet = Addresses { model, layout, mode };
    for statement in statements {
        let target = statement.target;
        shapes.begin(u64::from(target.negated) | u64::from(statement.checked) << 1);
        shapes.expression(&model.exprs, statement.value, &alphabet);
        let reads = shapes.reads();
        let level = reads.iter().filter_map(|read| level_of.get(read)).max().map_or(0, |level| level + 1);
        starts.push(addresses.len());
        addresses.extend_from_slice(reads);
        addresses.push(target.slot);
        if reads.contains(&target.slot) {
            shapes.reject();
        }
        level_of.insert(target.slot, level);
        levels.push(level);
        kinds.push(shapes.finish());
    }
    starts.push(addresses.len());
    let pick = |positions: &[usize]| positions.iter().map(|&position| statements[position]).collect::<Vec<_>>();
    let part = |part| match part {
        families::Part::Single(members) => Part::Plain(pick(&members)),
        families::Part::Family(members) => {
            let own = members.iter().flat_map(|&member| &addresses[starts[member]..starts[member + 1]]);
            Part::Family(Family { addresses: own.copied().collect(), members: pick(&members) })
        }
    };
    families::arrange(&levels, &kinds).into_iter().map(part).collect()
}

/// Leaves are addresses; only what a kernel can compute goes into families.
struct Addresses<'m> {
    model: &'m dae::Model,
    layout: &'m Layout,
    mode: Mode,
}

impl Alphabet for Addresses<'_> {
    fn leaf(&self, node: Node) -> Option<(u32, u64)> {
        let variable = match node {
            Node::Var(variable) | Node::Pre(variable) => Some(variable),
            _ => None,
        };
        let place = match (node, variable) {
            (Node::Time, _) => VariableSlot { slot: crate::layout::TIME, negated: false },
            (Node::Var(_), Some(variable)) => self.layout.place(variable),
            (Node::Pre(_), Some(variable)) => {
                let place = self.layout.place(variable);
                VariableSlot { slot: self.layout.pre(place.slot)?, ..place }
            }
            _ => return None,
        };
        let of_boolean = |variable| self.model.variables.get(variable).is_some_and(|v| v.ty == VariableType::Boolean);
        let boolean = variable.is_some_and(of_boolean);
        Some((place.slot, u64::from(place.negated) | u64::from(boolean && place.negated) << 1))
    }

    fn builtin(&self, op: Builtin) -> bool {
        // Homotopy is its first argument; what is missing here has effects or states of its own.
        crate::lower::unary(op).is_some() || is_pair(op) || op == Builtin::Homotopy && !self.mode.homotopy
    }

    fn call(&self, _site: CallSiteId) -> Option<u64> {
        None
    }

    fn relation(&self, event: bool) -> bool {
        !event
    }
}

fn is_pair(op: Builtin) -> bool {
    matches!(
        op,
        Builtin::Atan2 | Builtin::Min | Builtin::Max | Builtin::Div | Builtin::Mod | Builtin::Rem | Builtin::SemiLinear
    )
}

/// The kernel of a family from the code of its first member.
pub fn kernel(family: &Family, first: &Code) -> Option<Kernel> {
    let members = family.members.len();
    let holes = family.addresses.len() / members;
    let rows = family.addresses.get(..holes)?;
    let number: FxHashMap<Address, u32> = rows.iter().zip(0u32..).map(|(&address, hole)| (address, hole)).collect();
    let mut fits = true;
    let ops = first.ops.iter().map(|op| {
        op.map(|address| match address & REGION_MASK {
            0 => number.get(&address).copied().unwrap_or_else(|| {
                fits = false;
                0
            }),
            _ => address,
        })
    });
    let ops: Vec<Op> = ops.collect();
    if !fits || ops.iter().any(|op| matches!(op, Op::If { .. } | Op::Call { .. } | Op::Delay { .. })) {
        return None;
    }
    let mut table = vec![0; holes * members];
    for (member, own) in family.addresses.chunks_exact(holes).enumerate() {
        for (hole, &address) in own.iter().enumerate() {
            table[hole * members + member] = address;
        }
    }
    Some(Kernel { ops, temporaries: first.temporaries, holes: holes as u32, members: members as u32, table })
}

impl Kernel {
    pub fn address(&self, hole: u32, member: usize) -> Address {
        self.table[hole as usize * self.members as usize + member]
    }

    pub fn row(&self, hole: u32) -> &[Address] {
        let members = self.members as usize;
        &self.table[hole as usize * members..(hole as usize + 1) * members]
    }

    /// How much scratch memory the interpreter needs.
    pub fn scratch(&self) -> u32 {
        (self.temporaries + self.holes) * LANES as u32
    }

    /// Code of one member, with addresses instead of holes.
    pub fn member(&self, member: usize) -> Code {
        let ops = self.ops.iter().map(|op| {
            op.map(|address| if address & REGION_MASK == 0 { self.address(address, member) } else { address })
        });
        Code { ops: ops.collect(), temporaries: self.temporaries, ..Code::default() }
    }

    /// The kernel over holes and behind them the tangents of holes.
    pub fn with_tangents(&self, code: Code, tangents: Address) -> Kernel {
        let mut table = self.table.clone();
        table.extend(self.table.iter().map(|address| tangents + address));
        Kernel { ops: code.ops, temporaries: code.temporaries, holes: 2 * self.holes, members: self.members, table }
    }

    /// Runs all members, a block at a time, an operation at a time. `scratch` is the address of scratch memory.
    pub fn run(&self, values: &mut [f64], constants: u32, scratch: u32) {
        let members = self.members as usize;
        let (scratch, first_hole) = (scratch as usize, scratch as usize + self.temporaries as usize * LANES);
        let (read, written) = self.usage();
        for start in (0..members).step_by(LANES) {
            let lanes = LANES.min(members - start);
            for &hole in &read {
                for (lane, &address) in self.row(hole)[start..start + lanes].iter().enumerate() {
                    values[first_hole + hole as usize * LANES + lane] = values[address as usize];
                }
            }
            for op in &self.ops {
                block(op, values, constants, scratch, first_hole);
            }
            for &hole in &written {
                for (lane, &address) in self.row(hole)[start..start + lanes].iter().enumerate() {
                    values[address as usize] = values[first_hole + hole as usize * LANES + lane];
                }
            }
        }
    }

    /// The holes that are read before they are written, and those that are written.
    pub fn usage(&self) -> (SmallHoles, SmallHoles) {
        let (mut read, mut written) = (SmallHoles::new(), SmallHoles::new());
        for op in &self.ops {
            op.for_each_source(|source| {
                if source & REGION_MASK == 0 && !written.contains(&source) && !read.contains(&source) {
                    read.push(source);
                }
            });
            if let Some(target) = op.target().filter(|target| target & REGION_MASK == 0)
                && !written.contains(&target)
            {
                written.push(target);
            }
        }
        (read, written)
    }
}

pub type SmallHoles = smallvec::SmallVec<[u32; 16]>;

type Lanes = [f64; LANES];

fn block(op: &Op, values: &mut [f64], constants: u32, scratch: usize, first_hole: usize) {
    let place = |address: Address| {
        let index = (address & !REGION_MASK) as usize;
        match address & REGION_MASK {
            TEMPORARY => scratch + index * LANES,
            _ => first_hole + index * LANES,
        }
    };
    let read = |address: Address, values: &[f64]| -> Lanes {
        if address & REGION_MASK == CONSTANT {
            return [values[constants as usize + (address & !REGION_MASK) as usize]; LANES];
        }
        let start = place(address);
        let mut lanes = [0.0; LANES];
        lanes.copy_from_slice(&values[start..start + LANES]);
        lanes
    };
    let (to, result) = match *op {
        Op::Move { to, a } => (to, read(a, values)),
        Op::Unary { function, to, a } => (to, unary(function, read(a, values))),
        Op::Binary { function, to, a, b } => (to, binary(function, read(a, values), read(b, values))),
        Op::Select { to, condition, a, b } => {
            let (condition, mut a, b) = (read(condition, values), read(a, values), read(b, values));
            for lane in 0..LANES {
                if condition[lane] == 0.0 {
                    a[lane] = b[lane];
                }
            }
            (to, a)
        }
        _ => return,
    };
    let start = place(to);
    values[start..start + LANES].copy_from_slice(&result);
}

fn unary(function: Unary, mut a: Lanes) -> Lanes {
    a.iter_mut().for_each(|x| *x = function.apply(*x));
    a
}

fn binary(function: Binary, mut a: Lanes, b: Lanes) -> Lanes {
    // The usual ones as loops of their own, which the compiler turns into vector instructions.
    match function {
        Binary::Add => (0..LANES).for_each(|k| a[k] += b[k]),
        Binary::Sub => (0..LANES).for_each(|k| a[k] -= b[k]),
        Binary::Mul => (0..LANES).for_each(|k| a[k] *= b[k]),
        Binary::Div => (0..LANES).for_each(|k| a[k] /= b[k]),
        _ => (0..LANES).for_each(|k| a[k] = function.apply(a[k], b[k])),
    }
    a
}
