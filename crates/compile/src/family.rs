//! Families: statements of one shape become one kernel that runs over a table of addresses.
//!
//! Whether a model wrote a `for` loop, an array of components or the same class a thousand times, its equations differ
//! in addresses only. Statements that do not depend on each other (one level of the dependency order) and are equal
//! but for addresses are found here by their keys; the code of one of them serves all. The interpreter then runs an
//! operation for a block of members at once, and machine code is one loop.

use dae::{Builtin, ExprId, Exprs, Node, VariableType};
use rustc_hash::FxHashMap;

use crate::code::{Address, CONSTANT, Code, Op, REGION_MASK, TEMPORARY};
use crate::layout::{Layout, Place};
use crate::lower::{Mode, Statement};
use crate::math::{Binary, Unary};

/// Fewer members are cheaper as plain code.
const SMALLEST: usize = 16;
/// Members that the interpreter treats together.
pub const LANES: usize = 64;

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
    let plain = || vec![Part::Plain(statements.to_vec())];
    if statements.len() < SMALLEST {
        return plain();
    }
    let mut keys: FxHashMap<Vec<u64>, u32> = FxHashMap::default();
    let mut kinds = Vec::with_capacity(statements.len());
    let mut levels: Vec<u32> = Vec::with_capacity(statements.len());
    let mut level_of: FxHashMap<Address, u32> = FxHashMap::default();
    let mut walk = Walk::default();
    // The addresses of all statements, one after the other, and where those of each begin.
    let (mut addresses, mut starts) = (Vec::new(), Vec::with_capacity(statements.len() + 1));
    for statement in statements {
        let shape = shape(model, layout, mode, statement, &mut walk);
        starts.push(addresses.len());
        addresses.extend_from_slice(&shape.reads);
        addresses.push(statement.target.slot);
        let level = shape.reads.iter().filter_map(|read| level_of.get(read)).max().map_or(0, |level| level + 1);
        level_of.insert(statement.target.slot, level);
        levels.push(level);
        let next = keys.len() as u32;
        kinds.push(shape.key.map(|key| *keys.entry(key).or_insert(next)));
    }
    starts.push(addresses.len());
    let mut groups: FxHashMap<(u32, u32), Vec<usize>> = FxHashMap::default();
    for (position, (&level, kind)) in levels.iter().zip(&kinds).enumerate() {
        if let Some(kind) = kind {
            groups.entry((level, *kind)).or_default().push(position);
        }
    }
    groups.retain(|_, members| members.len() >= SMALLEST);
    if groups.is_empty() {
        return plain();
    }
    let in_family =
        |position: usize| kinds[position].is_some_and(|kind| groups.contains_key(&(levels[position], kind)));
    let mut rest: Vec<usize> = (0..statements.len()).filter(|&position| !in_family(position)).collect();
    rest.sort_by_key(|&position| levels[position]);
    let mut families: Vec<((u32, u32), Vec<usize>)> = groups.into_iter().collect();
    families.sort_unstable_by_key(|(key, members)| (key.0, members[0]));
    let pick = |positions: &[usize]| positions.iter().map(|&position| statements[position]).collect::<Vec<_>>();
    let mut parts = Vec::new();
    let mut done = 0;
    for ((level, _), members) in families {
        let end = rest.partition_point(|&position| levels[position] <= level);
        if end > done {
            parts.push(Part::Plain(pick(&rest[done..end])));
            done = end;
        }
        let own = members.iter().flat_map(|&member| &addresses[starts[member]..starts[member + 1]]);
        parts.push(Part::Family(Family { addresses: own.copied().collect(), members: pick(&members) }));
    }
    if done < rest.len() {
        parts.push(Part::Plain(pick(&rest[done..])));
    }
    parts
}

struct Shape {
    /// Equal for statements that differ in addresses only; `None` where there is no family.
    key: Option<Vec<u64>>,
    reads: Vec<Address>,
}

/// Scratch space for looking at one expression after the other.
#[derive(Default)]
struct Walk {
    stack: Vec<(ExprId, bool)>,
    order: Vec<ExprId>,
    /// Where each expression stands in the order.
    positions: FxHashMap<ExprId, u64>,
}

impl Walk {
    /// The expressions below a root, children first.
    fn visit(&mut self, exprs: &Exprs, root: ExprId) {
        self.order.clear();
        self.positions.clear();
        self.stack.push((root, false));
        while let Some((id, done)) = self.stack.pop() {
            if done {
                if self.positions.insert(id, self.order.len() as u64).is_none() {
                    self.order.push(id);
                }
            } else if !self.positions.contains_key(&id) {
                self.stack.push((id, true));
                let start = self.stack.len();
                exprs.for_each_child(id, |child| self.stack.push((child, false)));
                self.stack[start..].reverse();
            }
        }
    }
}

fn leaf(layout: &Layout, node: Node) -> Option<Place> {
    match node {
        Node::Time => Some(Place { slot: crate::layout::TIME, negated: false }),
        Node::Var(variable) => Some(layout.place(variable)),
        Node::Pre(variable) => {
            let place = layout.place(variable);
            layout.pre(place.slot).map(|slot| Place { slot, ..place })
        }
        _ => None,
    }
}

fn shape(model: &dae::Model, layout: &Layout, mode: Mode, statement: &Statement, walk: &mut Walk) -> Shape {
    let mut shape = Shape { key: None, reads: Vec::new() };
    let mut key: Vec<u64> = vec![u64::from(statement.target.negated) | u64::from(statement.checked) << 1];
    let mut eligible = true;
    walk.visit(&model.exprs, statement.value);
    let at = |child: ExprId| walk.positions.get(&child).copied().unwrap_or(u64::MAX);
    for &id in &walk.order {
        let node = model.exprs.node(id);
        match node {
            Node::Real(value) => key.extend([1, value.to_bits()]),
            Node::Integer(value) => key.extend([2, value as u64]),
            Node::Boolean(value) => key.extend([3, u64::from(value)]),
            Node::Time | Node::Var(_) | Node::Pre(_) => match leaf(layout, node) {
                Some(place) => {
                    let hole = shape.reads.iter().position(|&read| read == place.slot).unwrap_or(shape.reads.len());
                    if hole == shape.reads.len() {
                        shape.reads.push(place.slot);
                    }
                    let boolean = match node {
                        Node::Var(variable) | Node::Pre(variable) => {
                            model.variables.get(variable).is_some_and(|v| v.ty == VariableType::Boolean)
                        }
                        _ => false,
                    };
                    let sign = u64::from(place.negated) | u64::from(boolean && place.negated) << 1;
                    key.extend([4, hole as u64, sign]);
                }
                None => eligible = false,
            },
            Node::Neg(a) => key.extend([5, at(a)]),
            Node::Not(a) => key.extend([6, at(a)]),
            Node::Add(a, b) => key.extend([7, at(a), at(b)]),
            Node::Sub(a, b) => key.extend([8, at(a), at(b)]),
            Node::Mul(a, b) => key.extend([9, at(a), at(b)]),
            Node::Div(a, b) => key.extend([10, at(a), at(b)]),
            Node::Pow(a, b) => key.extend([11, at(a), at(b)]),
            Node::And(a, b) => key.extend([12, at(a), at(b)]),
            Node::Or(a, b) => key.extend([13, at(a), at(b)]),
            Node::Compare { op, event: false, left, right } => key.extend([14 + 100 * op as u64, at(left), at(right)]),
            Node::If { condition, then, otherwise } => key.extend([15, at(condition), at(then), at(otherwise)]),
            Node::Builtin(op, args) if crate::lower::unary(op).is_some() || is_pair(op) => {
                key.extend([16, op as u64]);
                key.extend(model.exprs.arguments(args).iter().map(|&argument| at(argument)));
            }
            // Homotopy is its first argument; the others have effects or states of their own.
            Node::Builtin(Builtin::Homotopy, args) if !mode.homotopy => {
                key.push(17);
                key.extend(model.exprs.arguments(args).iter().map(|&argument| at(argument)));
            }
            _ => eligible = false,
        }
    }
    eligible &= !shape.reads.contains(&statement.target.slot);
    shape.key = eligible.then_some(key);
    shape
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
