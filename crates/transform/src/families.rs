//! Families: what has one shape and does not depend on each other is one entry of a schedule and one kernel of the code.
//!
//! Whether a model wrote a `for` loop, an array of components or the same class a thousand times, its equations are equal
//! but for the variables in them. The shape of an expression is its operations with leaves numbered in the order in which
//! they occur, found by hashing; the level of a block is the length of the longest chain of blocks that it waits for. Blocks
//! of one shape on one level are a family. Without families the order of a schedule stays as it was.

use base::{Id, IdVec};
use dae::{Builtin, CallSiteId, ExprId, Exprs, Model, Node, VarId};
use rustc_hash::FxHashMap;

use crate::output;
use crate::parts::{Assignment, Block, Family, SystemKind};

/// Fewer members make no family.
pub const SMALLEST: usize = 16;

/// What may stand in a shape, and which leaves are the same.
pub trait Alphabet {
    /// A number for the leaf, and how it is read (its sign, left limits); `None` where there is no family.
    fn leaf(&self, node: Node) -> Option<(u32, u64)>;
    /// Whether a built-in function may be part of a kernel.
    fn builtin(&self, op: Builtin) -> bool;
    /// Equal numbers for calls that differ in arguments only.
    fn call(&self, site: CallSiteId) -> Option<u64>;
    /// Whether a relation may be part of a kernel.
    fn relation(&self, event: bool) -> bool;
}

/// Tells shapes apart. Keeps its tables from one to the next.
#[derive(Default)]
pub struct Shapes {
    numbers: FxHashMap<Box<[u64]>, u32>,
    key: Vec<u64>,
    reads: Vec<u32>,
    /// The numbers of the leaves, where there are too many to look through.
    holes: FxHashMap<u32, u64>,
    eligible: bool,
    stack: Vec<(ExprId, bool)>,
    order: Vec<ExprId>,
    /// Where each expression stands in the order.
    positions: FxHashMap<ExprId, u64>,
}

impl Shapes {
    /// A new shape; those with different marks are never equal.
    pub fn begin(&mut self, mark: u64) {
        self.key.clear();
        self.key.push(mark);
        self.reads.clear();
        self.holes = FxHashMap::default();
        self.eligible = true;
        // A table that one long expression made large takes long to clear for all others.
        if self.positions.capacity() > 1000 {
            self.positions = FxHashMap::default();
        }
    }

    /// A leaf that is not read, such as what is computed.
    pub fn name(&mut self, leaf: u32) {
        let hole = self.hole(leaf);
        self.key.extend([0, hole]);
    }

    /// All leaves so far, in the order in which they occurred.
    pub fn reads(&self) -> &[u32] {
        &self.reads
    }

    /// The expression has no shape.
    pub fn reject(&mut self) {
        self.eligible = false;
    }

    /// The number of the shape; `None` if something in it does not go into families.
    pub fn finish(&mut self) -> Option<u32> {
        if !self.eligible {
            return None;
        }
        if let Some(&known) = self.numbers.get(&self.key[..]) {
            return Some(known);
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(self.key.as_slice().into(), number);
        Some(number)
    }

    fn hole(&mut self, leaf: u32) -> u64 {
        const FEW: usize = 24;
        let known = if self.reads.len() <= FEW {
            self.reads.iter().position(|&read| read == leaf).map(|place| place as u64)
        } else {
            self.holes.get(&leaf).copied()
        };
        known.unwrap_or_else(|| {
            self.reads.push(leaf);
            if self.reads.len() == FEW + 1 {
                self.holes = self.reads.iter().copied().zip(0..).collect();
            } else if self.reads.len() > FEW {
                self.holes.insert(leaf, self.reads.len() as u64 - 1);
            }
            self.reads.len() as u64 - 1
        })
    }

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

    /// An expression as part of the shape.
    pub fn expression(&mut self, exprs: &Exprs, root: ExprId, alphabet: &impl Alphabet) {
        self.visit(exprs, root);
        let order = std::mem::take(&mut self.order);
        let positions = std::mem::take(&mut self.positions);
        let at = |child: ExprId| positions.get(&child).copied().unwrap_or(u64::MAX);
        for &id in &order {
            let node = exprs.node(id);
            let key = &mut self.key;
            match node {
                Node::Real(value) => key.extend([1, value.to_bits()]),
                Node::Integer(value) => key.extend([2, value as u64]),
                Node::Boolean(value) => key.extend([3, u64::from(value)]),
                Node::Time | Node::Var(_) | Node::Pre(_) | Node::Previous(_) => match alphabet.leaf(node) {
                    Some((leaf, how)) => {
                        let hole = self.hole(leaf);
                        self.key.extend([4, hole, how]);
                    }
                    None => self.eligible = false,
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
                Node::Compare { op, event, left, right } if alphabet.relation(event) => {
                    key.extend([14, op as u64, u64::from(event), at(left), at(right)]);
                }
                Node::If { condition, then, otherwise } => key.extend([15, at(condition), at(then), at(otherwise)]),
                Node::Builtin(op, args) if alphabet.builtin(op) => {
                    key.extend([16, op as u64]);
                    key.extend(exprs.arguments(args).iter().map(|&argument| at(argument)));
                }
                Node::Call { site, args, output } => match alphabet.call(site) {
                    Some(call) => {
                        key.extend([17, call, u64::from(output)]);
                        key.extend(exprs.arguments(args).iter().map(|&argument| at(argument)));
                    }
                    None => self.eligible = false,
                },
                Node::Compare { .. } | Node::Builtin(..) | Node::String(_) | Node::Der(_) => self.eligible = false,
            }
        }
        (self.order, self.positions) = (order, positions);
    }
}

/// How items are put in order: alone, or as a family.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// Blocks of their own.
    Single(Vec<usize>),
    /// Blocks of one shape.
    Family(Vec<usize>),
}

/// Orders items by levels and finds families among those of a level; one part if there are none. An item's level is higher
/// than those of all items it waits for.
pub fn arrange(levels: &[u32], shapes: &[Option<u32>]) -> Vec<Part> {
    let mut groups: FxHashMap<(u32, u32), Vec<usize>> = FxHashMap::default();
    for (position, (&level, shape)) in levels.iter().zip(shapes).enumerate() {
        if let Some(shape) = shape {
            groups.entry((level, *shape)).or_default().push(position);
        }
    }
    groups.retain(|_, members| members.len() >= SMALLEST);
    if groups.is_empty() {
        return vec![Part::Single((0..levels.len()).collect())];
    }
    let in_family =
        |position: usize| shapes[position].is_some_and(|shape| groups.contains_key(&(levels[position], shape)));
    let mut rest: Vec<usize> = (0..levels.len()).filter(|&position| !in_family(position)).collect();
    rest.sort_by_key(|&position| levels[position]);
    let mut families: Vec<((u32, u32), Vec<usize>)> = groups.into_iter().collect();
    families.sort_unstable_by_key(|(key, members)| (key.0, members[0]));
    let mut parts = Vec::new();
    let mut done = 0;
    for ((level, _), members) in families {
        let end = rest.partition_point(|&position| levels[position] <= level);
        if end > done {
            parts.push(Part::Single(rest[done..end].to_vec()));
            done = end;
        }
        parts.push(Part::Family(members));
    }
    if done < rest.len() {
        parts.push(Part::Single(rest[done..].to_vec()));
    }
    parts
}

/// Puts blocks of one shape next to each other; gives where such families are.
pub fn gather(model: &Model, blocks: &mut Vec<Block>) -> Vec<Family> {
    if blocks.len() < SMALLEST {
        return Vec::new();
    }
    let mut shapes = Shapes::default();
    let mut kinds = Vec::with_capacity(blocks.len());
    let mut levels = Vec::with_capacity(blocks.len());
    let mut level_of: IdVec<VarId, u32> = IdVec::filled(0, model.variables.len());
    for block in blocks.iter() {
        shape(model, &mut shapes, block);
        // Time and left limits have numbers behind those of the variables.
        let variables = shapes.reads().iter().filter(|read| (**read as usize) < level_of.len());
        let level = variables.map(|&read| level_of[VarId::from_index(read as usize)]).max().unwrap_or(0) + 1;
        for variable in output::unknowns(block) {
            level_of[variable] = level;
        }
        levels.push(level);
        kinds.push(shapes.finish());
    }
    let parts = arrange(&levels, &kinds);
    if let [Part::Single(_)] = parts[..] {
        return Vec::new();
    }
    let mut old: Vec<Option<Block>> = std::mem::take(blocks).into_iter().map(Some).collect();
    let mut families = Vec::new();
    for part in parts {
        let members = match part {
            Part::Single(members) => members,
            Part::Family(members) => {
                families.push(Family { first: blocks.len(), count: members.len() });
                members
            }
        };
        blocks.extend(members.into_iter().filter_map(|position| old[position].take()));
    }
    families
}

/// Variables by their ids; everything that is computed goes into families.
struct Variables<'m>(&'m Model);

/// A left limit is another value than the variable, but known before everything is computed.
const LEFT_LIMIT: u32 = 1 << 31;

impl Alphabet for Variables<'_> {
    fn leaf(&self, node: Node) -> Option<(u32, u64)> {
        match node {
            Node::Var(v) => Some((v.index() as u32, 0)),
            Node::Pre(v) => Some((v.index() as u32 | LEFT_LIMIT, 1)),
            Node::Previous(v) => Some((v.index() as u32 | LEFT_LIMIT, 2)),
            _ => Some((u32::MAX, 3)),
        }
    }

    fn builtin(&self, op: Builtin) -> bool {
        // What remembers or acts stands for itself.
        !matches!(op, Builtin::Delay | Builtin::SpatialFirst | Builtin::SpatialSecond)
    }

    fn call(&self, site: CallSiteId) -> Option<u64> {
        self.0.exprs.call_sites().get(site).map(|site| site.function.index() as u64)
    }

    fn relation(&self, _event: bool) -> bool {
        true
    }
}

/// The shape of one assignment.
pub fn assignment_shape(model: &Model, shapes: &mut Shapes, assignment: &Assignment) -> Option<u32> {
    shapes.begin(0);
    shapes.expression(&model.exprs, assignment.value, &Variables(model));
    shapes.finish()
}

fn shape(model: &Model, shapes: &mut Shapes, block: &Block) {
    let alphabet = Variables(model);
    let timing = output::timing(block) as u64;
    let assign = |shapes: &mut Shapes, assignment: &Assignment| {
        shapes.name(assignment.variable.index() as u32);
        shapes.expression(&model.exprs, assignment.value, &alphabet);
    };
    match block {
        Block::Assign { assignment, .. } => {
            shapes.begin(timing);
            shapes.expression(&model.exprs, assignment.value, &alphabet);
        }
        Block::System { system, .. } => {
            let kind = match system.kind {
                SystemKind::Nonlinear => 0,
                SystemKind::Linear(matrix) => 1 + matrix as u64,
                SystemKind::Mixed { linear: None } => 4,
                SystemKind::Mixed { linear: Some(matrix) } => 5 + matrix as u64,
            };
            shapes.begin(timing | kind << 8 | (system.iteration.len() as u64) << 16);
            system.iteration.iter().for_each(|unknown| shapes.name(unknown.index() as u32));
            system.inner.iter().chain(&system.discrete).for_each(|assignment| assign(shapes, assignment));
            for &residual in &system.residuals {
                shapes.expression(&model.exprs, residual, &alphabet);
            }
        }
    }
}
