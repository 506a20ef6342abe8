//! From expressions to register code.
//!
//! Every shared expression is evaluated once in a chunk. An `If` whose branches are dear becomes a real branch; an
//! expression then belongs into the innermost region (branch) that holds all its uses, the lowest common ancestor as
//! in Click's global code motion (PLDI 1995). An expression with uses in two unrelated branches is therefore evaluated
//! before both, even if neither is taken: its value may be NaN then, which nobody reads, and so code size never
//! grows by duplication. Cheap branches are evaluated both and one is selected.
//!
//! A condition over operands that may be undefined is NaN where they are, and so is what it decides: `defined.rs`.
//!
//! Frozen code takes the truth of relations from their states and does not look at their operands at all; live code
//! updates the states first where `Memory` is live, those in branches that are not active included.

use base::Diagnostic;
use dae::{Builtin, CallSiteId, ExprId, Exprs, Node, VariableType};
use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::code::{Address, CONSTANT, Code, NativeCall, Op, REGION_MASK, StatementOrigin, TEMPORARY};
use crate::layout::{AHEAD, INITIAL, LAMBDA, Layout, RelationKind, TERMINAL, TIME, VariableSlot};
use crate::lookup::LookupCall;
use crate::math::{Binary, Unary, comparison};
use crate::profile::End;
use crate::strings::Strings;

/// Branches that together cost more than this become real branches.
const BRANCH_COST: u32 = 24;
const CALL_COST: u32 = 1000;

/// Numbers in the code, each once.
#[derive(Clone, Default, Debug)]
pub struct Constants {
    pub values: Vec<f64>,
    index: FxHashMap<u64, u32>,
}

impl Constants {
    pub fn address(&mut self, value: f64) -> Address {
        let next = self.values.len() as u32;
        let index = *self.index.entry(value.to_bits()).or_insert(next);
        if index == next {
            self.values.push(value);
        }
        CONSTANT | index
    }

    /// The number at an address of the pool.
    pub fn value(&self, address: Address) -> Option<f64> {
        (address & REGION_MASK == CONSTANT).then(|| self.values.get((address & !REGION_MASK) as usize).copied())?
    }
}

/// Integers are exact up to here. The next one, 2^53, is also what 2^53 + 1 is rounded to.
pub const LARGEST_INTEGER: f64 = dae::known::LARGEST_INTEGER as f64;

pub fn is_exact(integer: i64) -> bool {
    integer.unsigned_abs() <= LARGEST_INTEGER as u64
}

pub fn inexact(integer: i64) -> Diagnostic {
    Diagnostic::error(
        "integer-range",
        format!("the Integer {integer} is beyond 2^53 - 1, up to which Integers are exact"),
    )
    .hint("a Real holds larger numbers, with 16 digits")
}

/// One way to call a function.
#[derive(Clone, Debug)]
pub struct CallEntry {
    pub site: CallSiteId,
    pub arguments: u32,
    pub results: u32,
    /// Arguments and results are followed by their tangents; only the tangents of the results are computed.
    pub tangent: bool,
    /// The function that gives the tangents, where there is one or one could be derived, and the inputs whose
    /// tangents it takes behind the inputs.
    pub tangent_function: Option<(dae::FunctionId, Arc<[usize]>)>,
    /// Arguments that are constants and no Reals: sizes, choices, texts.
    pub fixed: Arc<[(u32, f64)]>,
    /// Code of its own; without it the evaluator is called.
    pub native: Option<Arc<NativeCall>>,
    /// Code of the function itself where its tangents are differences.
    pub differenced: Option<Arc<NativeCall>>,
    /// A function on numbers in another language.
    pub lookup: Option<Arc<LookupCall>>,
}

/// What all code of a program shares.
#[derive(Clone, Default, Debug)]
pub struct Pool {
    pub constants: Constants,
    pub strings: Strings,
    pub calls: Vec<CallEntry>,
    call_index: FxHashMap<CallKey, u32>,
    /// How many addresses specialised functions have taken.
    pub frames: u32,
}

/// A site, what is computed, and constant arguments by their bits.
type CallKey = (CallSiteId, CallForm, Vec<(u32, u64)>);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum CallForm {
    Value,
    Tangent,
    Interpreted,
}

impl Pool {
    /// With numbers and texts that other programs know by their places, too.
    pub fn with(constants: Constants, strings: Strings) -> Self {
        Self { constants, strings, ..Self::default() }
    }

    pub fn call(&mut self, exprs: &Exprs, site: CallSiteId, tangent: bool, fixed: &[(u32, f64)]) -> u32 {
        self.entry(exprs, site, if tangent { CallForm::Tangent } else { CallForm::Value }, fixed)
    }

    /// A call that always is the interpreter's, such as one of a function from itself.
    pub fn interpreted_call(&mut self, exprs: &Exprs, site: CallSiteId) -> u32 {
        self.entry(exprs, site, CallForm::Interpreted, &[])
    }

    fn entry(&mut self, exprs: &Exprs, site: CallSiteId, way: CallForm, fixed: &[(u32, f64)]) -> u32 {
        let tangent = way == CallForm::Tangent;
        let key = (site, way, fixed.iter().map(|&(k, value)| (k, value.to_bits())).collect());
        *self.call_index.entry(key).or_insert_with(|| {
            let shapes = exprs.call_site(site);
            let count = |shapes: &[dae::expr::Shape]| shapes.iter().map(|shape| shape.scalars() as u32).sum();
            self.calls.push(CallEntry {
                site,
                arguments: count(&shapes.inputs),
                results: count(&shapes.outputs),
                tangent,
                tangent_function: None,
                fixed: fixed.into(),
                native: None,
                differenced: None,
                lookup: None,
            });
            self.calls.len() as u32 - 1
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mode {
    /// Relations are updated where memory is live; otherwise they are frozen.
    pub live: bool,
    /// `homotopy` mixes by lambda; otherwise it is its first argument.
    pub homotopy: bool,
    /// Both branches of every `If` are evaluated and one is selected.
    pub branchless: bool,
}

/// `target := value`, of a variable or an address.
#[derive(Clone, Copy, Debug)]
pub struct Statement {
    pub target: VariableSlot,
    pub value: ExprId,
    pub origin: StatementOrigin,
    /// Checked for being finite.
    pub checked: bool,
}

impl Statement {
    pub fn to_slot(slot: Address, value: ExprId, origin: StatementOrigin) -> Self {
        Self { target: VariableSlot { slot, negated: false }, value, origin, checked: false }
    }
}

/// Makes one chunk from statements in order.
pub fn lower(
    model: &dae::Model,
    layout: &Layout,
    pool: &mut Pool,
    mode: Mode,
    statements: &[Statement],
) -> Result<Code, Diagnostic> {
    let mut lowering = Lowering {
        model,
        exprs: &model.exprs,
        layout,
        pool,
        mode,
        code: Code::default(),
        place: FxHashMap::default(),
        calls: FxHashMap::default(),
        evaluations: FxHashMap::default(),
        positions: FxHashMap::default(),
        order: Vec::new(),
        facts: Vec::new(),
        regions: vec![Region { parent: 0, depth: 0, members: Vec::new() }],
    };
    lowering.run(statements)?;
    Ok(lowering.code)
}

struct Region {
    parent: u32,
    depth: u32,
    /// Expressions to be evaluated in it, children first.
    members: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Fact {
    cost: u32,
    /// `u32::MAX` before the first use was seen.
    region: u32,
    /// The regions of the two branches, where it is an `If` with real branches.
    branches: Option<(u32, u32)>,
    /// An Integer, as far as operands tell.
    counts: bool,
    /// Integers are computed in it, which may be too large.
    may_overflow: bool,
}

enum Work {
    Node(u32),
    Else { node: u32, to: Address },
    End { node: u32, to: Address },
}

pub(crate) struct Lowering<'a> {
    model: &'a dae::Model,
    pub(crate) exprs: &'a Exprs,
    layout: &'a Layout,
    pool: &'a mut Pool,
    mode: Mode,
    code: Code,
    /// Where the value of an expression is.
    place: FxHashMap<ExprId, Address>,
    /// The results of calls that were made, by site and arguments.
    calls: FxHashMap<(CallSiteId, dae::ArgsId), Address>,
    /// The first node of each evaluation of a function. Its region holds the uses of all results.
    evaluations: FxHashMap<(CallSiteId, dae::ArgsId), ExprId>,
    positions: FxHashMap<ExprId, u32>,
    order: Vec<ExprId>,
    facts: Vec<Fact>,
    regions: Vec<Region>,
}

impl Lowering<'_> {
    fn run(&mut self, statements: &[Statement]) -> Result<(), Diagnostic> {
        let ends: Vec<usize> = statements.iter().map(|statement| self.collect(statement.value)).collect();
        self.find_regions(statements);
        let mut next = 0;
        for (statement, end) in statements.iter().zip(ends) {
            self.code.statements.push((self.code.ops.len() as u32, statement.origin));
            for position in next..end {
                if self.facts[position].region == 0 {
                    self.emit(position as u32)?;
                }
            }
            next = end;
            self.store(statement)?;
        }
        Ok(())
    }

    /// Appends what is new below `root` to the order, children first, and says where the order ends now.
    fn collect(&mut self, root: ExprId) -> usize {
        let mut stack = vec![(root, false)];
        let mut children = Vec::new();
        while let Some((id, done)) = stack.pop() {
            if self.positions.contains_key(&id) {
                continue;
            }
            if done {
                let (cost, counts, may_overflow) = (self.cost(id), self.counts(id), self.may_overflow(id));
                self.positions.insert(id, self.order.len() as u32);
                self.order.push(id);
                if let Node::Call { site, args, .. } = self.exprs.node(id) {
                    self.evaluations.entry((site, args)).or_insert(id);
                }
                self.facts.push(Fact { cost, region: u32::MAX, branches: None, counts, may_overflow });
                continue;
            }
            stack.push((id, true));
            children.clear();
            self.children(id, &mut children);
            stack.extend(children.iter().rev().map(|&child| (child, false)));
        }
        self.order.len()
    }

    /// The operands that code for the expression reads: fewer than its children where a state stands for them.
    fn children(&self, id: ExprId, out: &mut Vec<ExprId>) {
        let node = self.exprs.node(id);
        if let Some(&relation) = self.layout.relation_of.get(&id) {
            if self.mode.live {
                match self.layout.relations[relation].kind {
                    RelationKind::Compare { left, right } => out.extend([left, right]),
                    RelationKind::Round { argument, .. } => out.push(argument),
                }
            }
            if let Node::Builtin(Builtin::ModEvent | Builtin::RemEvent, args) = node {
                out.extend(self.exprs.arguments(args));
            }
            return;
        }
        match node {
            Node::Builtin(Builtin::Sample, _) if self.layout.sample_of.contains_key(&id) => {}
            Node::Builtin(Builtin::Homotopy, args) if !self.mode.homotopy => {
                out.extend(self.exprs.arguments(args).first());
            }
            _ => self.exprs.for_each_child(id, |child| out.push(child)),
        }
    }

    fn cost(&self, id: ExprId) -> u32 {
        let own = match self.exprs.node(id) {
            Node::Real(_) | Node::Integer(_) | Node::Boolean(_) | Node::String(_) | Node::Time => 0,
            Node::Var(_) | Node::Der(_) | Node::Pre(_) | Node::Previous(_) => 0,
            Node::Div(..) => 6,
            Node::Pow(..) => 30,
            Node::Call { .. } => CALL_COST,
            Node::Builtin(op, _) => match unary(op) {
                Some(function) => function.cost(),
                None => 10,
            },
            _ => 1,
        };
        let mut children = Vec::new();
        self.children(id, &mut children);
        children.iter().fold(own, |sum, child| sum.saturating_add(self.fact(*child).cost))
    }

    /// Whether an expression is an Integer: what it is made of says so.
    fn counts(&self, id: ExprId) -> bool {
        let both = |a: ExprId, b: ExprId| self.fact(a).counts && self.fact(b).counts;
        match self.exprs.node(id) {
            Node::Integer(_) => true,
            Node::Var(variable) | Node::Pre(variable) | Node::Previous(variable) => {
                self.model.variables.get(variable).is_some_and(|variable| variable.ty == VariableType::Integer)
            }
            Node::Neg(a) => self.fact(a).counts,
            Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) => both(a, b),
            Node::If { then, otherwise, .. } => both(then, otherwise),
            Node::Builtin(Builtin::Floor | Builtin::FloorEvent, _) => true,
            Node::Builtin(op, args) if keeps_integers(op) => {
                self.exprs.arguments(args).iter().all(|&argument| self.fact(argument).counts)
            }
            Node::Call { .. } => self.model.scalar_type(id) == dae::scalar_type::ScalarType::Integer,
            _ => false,
        }
    }

    fn may_overflow(&self, id: ExprId) -> bool {
        let is_sum = matches!(self.exprs.node(id), Node::Add(..) | Node::Sub(..) | Node::Mul(..));
        let mut found = is_sum && self.counts(id);
        self.exprs.for_each_child(id, |child| found |= self.fact(child).may_overflow);
        found
    }

    /// Whether a value may be undefined although all variables have values.
    pub(crate) fn is_partial(&self, id: ExprId) -> bool {
        self.exprs.is_partial(id) || self.fact(id).may_overflow
    }

    fn fact(&self, id: ExprId) -> Fact {
        match self.positions.get(&id) {
            Some(&position) => self.facts[position as usize],
            None => Fact { cost: 0, region: 0, branches: None, counts: false, may_overflow: false },
        }
    }

    fn find_regions(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.use_in(statement.value, 0);
        }
        let mut children = Vec::new();
        // A postorder of several roots still has every parent behind its children.
        for position in (0..self.order.len()).rev() {
            let id = self.order[position];
            // A relation is watched whether or not the branch that it stands in is active, so its state is always set.
            if self.mode.live && self.layout.relation_of.contains_key(&id) {
                self.facts[position].region = 0;
            }
            let region = self.facts[position].region;
            match self.exprs.node(id) {
                Node::If { condition, then, otherwise } if self.is_dear(then, otherwise) => {
                    let first = self.new_region(region);
                    let second = self.new_region(region);
                    self.facts[position].branches = Some((first, second));
                    self.use_in(condition, region);
                    self.use_in(then, first);
                    self.use_in(otherwise, second);
                }
                node => {
                    if let Node::Call { site, args, .. } = node
                        && let Some(&first) = self.evaluations.get(&(site, args))
                    {
                        self.use_in(first, region);
                    }
                    children.clear();
                    self.children(id, &mut children);
                    for &child in &children {
                        self.use_in(child, region);
                    }
                }
            }
        }
        for position in 0..self.order.len() {
            let region = self.facts[position].region;
            if region != 0 {
                self.regions[region as usize].members.push(position as u32);
            }
        }
    }

    fn is_dear(&self, then: ExprId, otherwise: ExprId) -> bool {
        !self.mode.branchless && self.fact(then).cost.saturating_add(self.fact(otherwise).cost) > BRANCH_COST
    }

    fn new_region(&mut self, parent: u32) -> u32 {
        let depth = self.regions[parent as usize].depth + 1;
        self.regions.push(Region { parent, depth, members: Vec::new() });
        self.regions.len() as u32 - 1
    }

    fn use_in(&mut self, id: ExprId, region: u32) {
        let Some(&position) = self.positions.get(&id) else { return };
        let known = self.facts[position as usize].region;
        let common = if known == u32::MAX { region } else { self.common(known, region) };
        self.facts[position as usize].region = common;
    }

    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            let (depth_a, depth_b) = (self.regions[a as usize].depth, self.regions[b as usize].depth);
            if depth_a >= depth_b {
                a = self.regions[a as usize].parent;
            }
            if depth_b >= depth_a {
                b = self.regions[b as usize].parent;
            }
        }
        a
    }

    fn emit(&mut self, position: u32) -> Result<(), Diagnostic> {
        let mut work = vec![Work::Node(position)];
        while let Some(item) = work.pop() {
            match item {
                Work::Node(position) => self.emit_node(position, &mut work)?,
                Work::Else { node, to } => {
                    let id = self.order[node as usize];
                    let Node::If { then, .. } = self.exprs.node(id) else { continue };
                    let a = self.operand(then);
                    self.push(Op::Move { to, a }, id);
                    self.push(Op::Else { end: 0 }, id);
                }
                Work::End { node, to } => {
                    let id = self.order[node as usize];
                    let Node::If { condition, otherwise, .. } = self.exprs.node(id) else { continue };
                    let a = self.operand(otherwise);
                    self.push(Op::Move { to, a }, id);
                    self.push(Op::EndIf, id);
                    let place = self.where_defined(to, condition, id);
                    self.place.insert(id, place);
                }
            }
        }
        Ok(())
    }

    fn emit_node(&mut self, position: u32, work: &mut Vec<Work>) -> Result<(), Diagnostic> {
        let id = self.order[position as usize];
        let branches = self.facts[position as usize].branches;
        let (Some((first, second)), Node::If { condition, .. }) = (branches, self.exprs.node(id)) else {
            let place = self.value(id)?;
            self.place.insert(id, place);
            return Ok(());
        };
        let condition = self.operand(condition);
        let to = self.temporary();
        self.push(Op::If { condition, otherwise: 0 }, id);
        work.push(Work::End { node: position, to });
        let members = |region: u32, regions: &[Region]| {
            regions[region as usize].members.iter().rev().map(|&member| Work::Node(member)).collect::<Vec<_>>()
        };
        work.extend(members(second, &self.regions));
        work.push(Work::Else { node: position, to });
        work.extend(members(first, &self.regions));
        Ok(())
    }

    fn store(&mut self, statement: &Statement) -> Result<(), Diagnostic> {
        let mut a = self.operand(statement.value);
        if self.may_be_inexact(statement) {
            a = self.exact(a, statement.value);
        }
        let to = statement.target.slot;
        let last = self.code.ops.len().checked_sub(1);
        // The operation that just computed the value may write to its target at once.
        let fresh = last.is_some_and(|last| {
            self.code.ops[last].target() == Some(a)
                && a & REGION_MASK == TEMPORARY
                && self.code.origins[last] == statement.value
        });
        if statement.target.negated {
            let function = match statement.origin.variable.and_then(|v| self.model.variables.get(v)).map(|v| v.ty) {
                Some(VariableType::Boolean) => Unary::Not,
                _ => Unary::Neg,
            };
            self.push(Op::Unary { function, to, a }, statement.value);
        } else if let (true, Some(last)) = (fresh, last) {
            let op = self.code.ops[last];
            let mut first = true;
            // The target is the first address that `map` visits.
            self.code.ops[last] = op.map(|address| if std::mem::take(&mut first) { to } else { address });
            self.place.insert(statement.value, to);
        } else {
            self.push(Op::Move { to, a }, statement.value);
        }
        if statement.checked {
            self.code.outputs.push(to);
        }
        Ok(())
    }

    /// Whether an Integer is computed, other than by counting with what is exact already.
    fn may_be_inexact(&self, statement: &Statement) -> bool {
        let variable = statement.origin.variable.and_then(|variable| self.model.variables.get(variable));
        variable.is_some_and(|variable| variable.ty == VariableType::Integer)
            && match self.exprs.node(statement.value) {
                Node::Integer(_) | Node::Var(_) | Node::Pre(_) | Node::Call { .. } => false,
                // Looked at where it is computed.
                Node::Add(..) | Node::Sub(..) | Node::Mul(..) => !self.fact(statement.value).counts,
                _ => true,
            }
    }

    /// The result of Integers must be exact wherever it goes: `mod(a*b, 10)` of a rounded product is any digit.
    fn arithmetic(&mut self, function: Binary, a: ExprId, b: ExprId, id: ExprId) -> Address {
        let value = self.binary(function, self.operand(a), self.operand(b), id);
        if self.fact(id).counts { self.exact(value, id) } else { value }
    }

    /// An Integer, NaN where numbers are not exact any more.
    fn exact(&mut self, a: Address, origin: ExprId) -> Address {
        let [largest, nan] = [LARGEST_INTEGER, f64::NAN].map(|number| self.pool.constants.address(number));
        let [size, beyond, to] = [self.temporary(), self.temporary(), self.temporary()];
        self.push(Op::Unary { function: Unary::Abs, to: size, a }, origin);
        self.push(Op::Binary { function: Binary::Less, to: beyond, a: largest, b: size }, origin);
        self.push(Op::Select { to, condition: beyond, a: nan, b: a }, origin);
        to
    }

    pub(crate) fn operand(&self, id: ExprId) -> Address {
        // Every operand was emitted before; the address of time stands for the impossible.
        self.place.get(&id).copied().unwrap_or(TIME)
    }

    fn temporary(&mut self) -> Address {
        self.temporaries(1)
    }

    fn temporaries(&mut self, count: u32) -> Address {
        let address = TEMPORARY | self.code.temporaries;
        self.code.temporaries += count;
        address
    }

    fn push(&mut self, op: Op, origin: ExprId) {
        self.code.ops.push(op);
        self.code.origins.push(origin);
    }

    fn unary(&mut self, function: Unary, a: Address, origin: ExprId) -> Address {
        let to = self.temporary();
        self.push(Op::Unary { function, to, a }, origin);
        to
    }

    pub(crate) fn binary(&mut self, function: Binary, a: Address, b: Address, origin: ExprId) -> Address {
        let to = self.temporary();
        self.push(Op::Binary { function, to, a, b }, origin);
        to
    }

    pub(crate) fn constant(&mut self, value: f64) -> Address {
        self.pool.constants.address(value)
    }

    fn read(&mut self, place: VariableSlot, variable: dae::VarId, origin: ExprId) -> Address {
        if !place.negated {
            return place.slot;
        }
        let boolean = self.model.variables.get(variable).is_some_and(|v| v.ty == VariableType::Boolean);
        self.unary(if boolean { Unary::Not } else { Unary::Neg }, place.slot, origin)
    }

    /// Emits the operations of one expression, its operands being done, and says where the value is.
    fn value(&mut self, id: ExprId) -> Result<Address, Diagnostic> {
        if let Some(&relation) = self.layout.relation_of.get(&id) {
            return Ok(self.relation(id, relation));
        }
        let address = match self.exprs.node(id) {
            Node::Real(value) => self.constant(value),
            // What is computed with it is looked at; only what is a number of its own has to be as written.
            Node::Integer(value) if value as f64 as i128 != i128::from(value) => return Err(inexact(value)),
            Node::Integer(value) => self.constant(value as f64),
            Node::Boolean(value) => self.constant(if value { 1.0 } else { 0.0 }),
            Node::String(text) => {
                let number = self.pool.strings.intern(text.as_str());
                self.constant(number)
            }
            Node::Time => TIME,
            Node::Var(variable) => self.read(self.layout.place(variable), variable, id),
            Node::Der(variable) => {
                return Err(Diagnostic::error(
                    "derivative-left",
                    format!("der({}) was not replaced by a variable", self.model.variable_name(variable)),
                ));
            }
            Node::Pre(variable) => {
                let place = self.layout.place(variable);
                let slot = self.layout.pre(place.slot).unwrap_or(place.slot);
                self.read(VariableSlot { slot, ..place }, variable, id)
            }
            Node::Previous(variable) => {
                let place = self.layout.place(variable);
                let slot = self.layout.previous(place.slot).unwrap_or(place.slot);
                self.read(VariableSlot { slot, ..place }, variable, id)
            }
            Node::Neg(a) => self.unary(Unary::Neg, self.operand(a), id),
            Node::Not(a) if self.is_partial(a) => self.defined_not(self.operand(a), id),
            Node::Not(a) => self.unary(Unary::Not, self.operand(a), id),
            Node::Add(a, b) => self.arithmetic(Binary::Add, a, b, id),
            Node::Sub(a, b) => self.arithmetic(Binary::Sub, a, b, id),
            Node::Mul(a, b) => self.arithmetic(Binary::Mul, a, b, id),
            Node::Div(a, b) => self.binary(Binary::Div, self.operand(a), self.operand(b), id),
            Node::Pow(a, b) => self.power(a, b, id),
            Node::And(a, b) if self.is_partial(id) => self.defined_and(self.operand(a), self.operand(b), id),
            Node::Or(a, b) if self.is_partial(id) => self.defined_or(self.operand(a), self.operand(b), id),
            Node::And(a, b) => self.binary(Binary::And, self.operand(a), self.operand(b), id),
            Node::Or(a, b) => self.binary(Binary::Or, self.operand(a), self.operand(b), id),
            Node::Compare { op, left, right, .. } => {
                let (function, swapped) = comparison(op);
                let (a, b) = (self.operand(left), self.operand(right));
                let holds = if swapped { self.binary(function, b, a, id) } else { self.binary(function, a, b, id) };
                let holds = self.where_defined(holds, left, id);
                self.where_defined(holds, right, id)
            }
            Node::If { condition, then, otherwise } => {
                let (a, b) = (self.operand(then), self.operand(otherwise));
                let chosen = self.select(self.operand(condition), a, b, id);
                self.where_defined(chosen, condition, id)
            }
            Node::Builtin(op, args) => self.builtin(op, args, id)?,
            Node::Call { site, args, output } => self.call(site, args, output, id),
        };
        Ok(address)
    }

    pub(crate) fn select(&mut self, condition: Address, a: Address, b: Address, origin: ExprId) -> Address {
        let to = self.temporary();
        self.push(Op::Select { to, condition, a, b }, origin);
        to
    }

    fn power(&mut self, base: ExprId, exponent: ExprId, id: ExprId) -> Address {
        let a = self.operand(base);
        let number = match self.exprs.node(exponent) {
            Node::Real(value) => Some(value),
            Node::Integer(value) => Some(value as f64),
            _ => None,
        };
        match number {
            Some(1.0) => a,
            Some(2.0) => self.binary(Binary::Mul, a, a, id),
            Some(3.0) => {
                let square = self.binary(Binary::Mul, a, a, id);
                self.binary(Binary::Mul, square, a, id)
            }
            Some(4.0) => {
                let square = self.binary(Binary::Mul, a, a, id);
                self.binary(Binary::Mul, square, square, id)
            }
            Some(0.5) => self.unary(Unary::Sqrt, a, id),
            Some(-1.0) => {
                let one = self.constant(1.0);
                self.binary(Binary::Div, one, a, id)
            }
            _ => self.binary(Binary::Pow, a, self.operand(exponent), id),
        }
    }

    fn relation(&mut self, id: ExprId, relation: crate::layout::RelationId) -> Address {
        let relation = &self.layout.relations[relation];
        let state = relation.state;
        if self.mode.live {
            let op = match relation.kind {
                RelationKind::Compare { left, right } => {
                    Op::Relate { state, a: self.operand(left), b: self.operand(right) }
                }
                RelationKind::Round { rounding, argument } => Op::Round { rounding, state, a: self.operand(argument) },
            };
            self.push(op, id);
        }
        let value = self.relation_value(id, state);
        if !self.mode.live {
            return value;
        }
        match relation.kind {
            RelationKind::Compare { left, right } => {
                let value = self.where_defined(value, left, id);
                self.where_defined(value, right, id)
            }
            RelationKind::Round { argument, .. } => self.where_defined(value, argument, id),
        }
    }

    /// What the state of a relation says.
    fn relation_value(&mut self, id: ExprId, state: Address) -> Address {
        match self.exprs.node(id) {
            Node::Compare { op, .. } => {
                let zero = self.constant(0.0);
                let (function, swapped) = comparison(op);
                let (a, b) = if swapped { (zero, state) } else { (state, zero) };
                self.binary(function, a, b, id)
            }
            // x − y·round(x/y) with the rounded quotient frozen.
            Node::Builtin(Builtin::ModEvent | Builtin::RemEvent, args) => {
                let [x, y] = *self.exprs.arguments(args) else { return state };
                let product = self.binary(Binary::Mul, state, self.operand(y), id);
                self.binary(Binary::Sub, self.operand(x), product, id)
            }
            _ => state,
        }
    }

    fn call(&mut self, site: CallSiteId, args: dae::ArgsId, output: u32, id: ExprId) -> Address {
        if let Some(&results) = self.calls.get(&(site, args)) {
            return results + output;
        }
        let mut fixed = Vec::new();
        for (k, &item) in (0..).zip(self.exprs.arguments(args)) {
            match self.exprs.node(item) {
                Node::Integer(value) => fixed.push((k, value as f64)),
                Node::Boolean(value) => fixed.push((k, f64::from(u8::from(value)))),
                Node::String(text) => fixed.push((k, self.pool.strings.intern(text.as_str()))),
                _ => {}
            }
        }
        let call = self.pool.call(self.exprs, site, false, &fixed);
        let (given, wanted) = (self.pool.calls[call as usize].arguments, self.pool.calls[call as usize].results);
        let arguments = self.temporaries(given);
        let items: Vec<Address> = self.exprs.arguments(args).iter().map(|&item| self.operand(item)).collect();
        for (to, a) in (arguments..).zip(items) {
            self.push(Op::Move { to, a }, id);
        }
        // A function called for its effect has no result; its call still stands for a value.
        let results = self.temporaries(wanted.max(1));
        self.push(Op::Call { call, arguments, results }, id);
        self.calls.insert((site, args), results);
        results + output
    }

    fn builtin(&mut self, op: Builtin, args: dae::ArgsId, id: ExprId) -> Result<Address, Diagnostic> {
        // What has no state is looked at once, such as a condition of another structure of the model.
        let op = match op {
            Builtin::FloorEvent => Builtin::Floor,
            Builtin::CeilEvent => Builtin::Ceil,
            Builtin::DivEvent => Builtin::Div,
            Builtin::ModEvent => Builtin::Mod,
            Builtin::RemEvent => Builtin::Rem,
            op => op,
        };
        let operands: Vec<Address> = self.exprs.arguments(args).iter().map(|&item| self.operand(item)).collect();
        if let (Some(function), &[a]) = (unary(op), operands.as_slice()) {
            let value = self.unary(function, a, id);
            // The sign of what is undefined is not zero.
            let argument = self.exprs.arguments(args).first().copied().filter(|_| function == Unary::Sign);
            return Ok(argument.map_or(value, |argument| self.where_defined(value, argument, id)));
        }
        let address = match (op, operands.as_slice()) {
            (Builtin::Atan2, &[a, b]) => self.binary(Binary::Atan2, a, b, id),
            (Builtin::Min | Builtin::Max, &[a, b]) => {
                let function = if op == Builtin::Min { Binary::Min } else { Binary::Max };
                let mut value = self.binary(function, a, b, id);
                for item in self.exprs.arguments(args).to_vec() {
                    value = self.where_defined(value, item, id);
                }
                value
            }
            (Builtin::Div, &[a, b]) => {
                let quotient = self.binary(Binary::Div, a, b, id);
                self.unary(Unary::Truncate, quotient, id)
            }
            (Builtin::Mod | Builtin::Rem, &[a, b]) => {
                let rounding = if op == Builtin::Mod { Unary::Floor } else { Unary::Truncate };
                let quotient = self.binary(Binary::Div, a, b, id);
                let rounded = self.unary(rounding, quotient, id);
                let product = self.binary(Binary::Mul, rounded, b, id);
                self.binary(Binary::Sub, a, product, id)
            }
            (Builtin::Sample, _) if let Some(&sample) = self.layout.sample_of.get(&id) => {
                self.layout.samples[sample as usize].flag
            }
            (Builtin::Initial, _) => INITIAL,
            (Builtin::Terminal, _) => TERMINAL,
            (Builtin::JustBehind, &[time]) => self.binary(Binary::Add, time, AHEAD, id),
            (Builtin::Delay, &[value, delay, ..]) if let Some(&number) = self.layout.delay_of.get(&id) => {
                let slots = &self.layout.delays[number as usize];
                let maximum = operands.get(2).copied().unwrap_or(delay);
                self.push(Op::Move { to: slots.value, a: value }, id);
                self.push(Op::Move { to: slots.maximum, a: maximum }, id);
                self.push(Op::Move { to: slots.time, a: delay }, id);
                let to = self.temporary();
                self.push(Op::Delay { delay: number, to, a: value, b: delay }, id);
                to
            }
            (Builtin::SpatialFirst | Builtin::SpatialSecond, &[in0, in1, x, positive, ..])
                if let Some(&number) = self.layout.transport_of.get(&args) =>
            {
                let slots = self.layout.transports[number as usize].arguments;
                for (to, &a) in (slots..).zip(&operands) {
                    self.push(Op::Move { to, a }, id);
                }
                let first = op == Builtin::SpatialFirst;
                let delay = self.layout.transport_end(number, if first { End::First } else { End::Second });
                let to = self.temporary();
                self.push(Op::Delay { delay, to, a: if first { in1 } else { in0 }, b: x }, id);
                if first { self.select(positive, in0, to, id) } else { self.select(positive, to, in1, id) }
            }
            (Builtin::Homotopy, &[actual, ..]) if !self.mode.homotopy => actual,
            (Builtin::Homotopy, &[actual, simplified]) => self.homotopy(actual, simplified, id),
            (Builtin::SemiLinear, &[x, positive, negative]) => {
                let zero = self.constant(0.0);
                let condition = self.binary(Binary::LessEqual, zero, x, id);
                let slope = self.select(condition, positive, negative, id);
                self.binary(Binary::Mul, x, slope, id)
            }
            (Builtin::NoClock | Builtin::SampleClocked | Builtin::Hold, &[a, ..]) => a,
            _ => {
                return Err(Diagnostic::error(
                    "operator-not-supported",
                    format!("the operator {op:?} cannot be made into code here"),
                ));
            }
        };
        Ok(address)
    }

    /// λ·actual + (1 − λ)·simplified, and exactly the one or the other at the ends.
    fn homotopy(&mut self, actual: Address, simplified: Address, id: ExprId) -> Address {
        let (zero, one) = (self.constant(0.0), self.constant(1.0));
        let difference = self.binary(Binary::Sub, actual, simplified, id);
        let part = self.binary(Binary::Mul, LAMBDA, difference, id);
        let mixed = self.binary(Binary::Add, simplified, part, id);
        let at_end = self.binary(Binary::Equal, LAMBDA, one, id);
        let upper = self.select(at_end, actual, mixed, id);
        let at_start = self.binary(Binary::Equal, LAMBDA, zero, id);
        self.select(at_start, simplified, upper, id)
    }
}

/// Whether the result is an Integer where the arguments are.
fn keeps_integers(op: Builtin) -> bool {
    use Builtin::*;
    matches!(op, Abs | Min | Max | Div | Mod | Rem | DivEvent | ModEvent | RemEvent)
}

pub fn unary(op: Builtin) -> Option<Unary> {
    Some(match op {
        Builtin::Sin => Unary::Sin,
        Builtin::Cos => Unary::Cos,
        Builtin::Tan => Unary::Tan,
        Builtin::Asin => Unary::Asin,
        Builtin::Acos => Unary::Acos,
        Builtin::Atan => Unary::Atan,
        Builtin::Sinh => Unary::Sinh,
        Builtin::Cosh => Unary::Cosh,
        Builtin::Tanh => Unary::Tanh,
        Builtin::Exp => Unary::Exp,
        Builtin::Log => Unary::Log,
        Builtin::Log10 => Unary::Log10,
        Builtin::Sqrt => Unary::Sqrt,
        Builtin::Sign => Unary::Sign,
        Builtin::Abs => Unary::Abs,
        Builtin::Floor => Unary::Floor,
        Builtin::Ceil => Unary::Ceil,
        _ => return None,
    })
}

/// Fills in the targets of structured control flow.
pub fn link(code: &mut Code) {
    let mut open: Vec<(usize, Option<usize>)> = Vec::new();
    let mut loops: Vec<(usize, Vec<usize>)> = Vec::new();
    for position in 0..code.ops.len() {
        match code.ops[position] {
            Op::If { .. } => open.push((position, None)),
            Op::Else { .. } => {
                if let Some(last) = open.last_mut() {
                    last.1 = Some(position);
                }
            }
            Op::EndIf => {
                let Some((start, Some(middle))) = open.pop() else { continue };
                if let Op::If { otherwise, .. } = &mut code.ops[start] {
                    *otherwise = middle as u32 + 1;
                }
                if let Op::Else { end } = &mut code.ops[middle] {
                    *end = position as u32;
                }
            }
            Op::Loop => loops.push((position, Vec::new())),
            Op::Exit { levels, .. } => {
                let outermost = loops.len().saturating_sub(levels as usize);
                if let Some((_, exits)) = loops.get_mut(outermost) {
                    exits.push(position);
                }
            }
            Op::EndLoop { failed, .. } => {
                let Some((start, exits)) = loops.pop() else { continue };
                code.ops[position] = Op::EndLoop { start: start as u32, failed };
                for exit in exits {
                    if let Op::Exit { target, .. } = &mut code.ops[exit] {
                        *target = position as u32 + 1;
                    }
                }
            }
            _ => {}
        }
    }
}
