//! One piece of a chunk as instructions of Cranelift, operation by operation.
//!
//! What is known to be in a register is not loaded again; what was found out inside of a branch is forgotten behind it.

use std::ops::Range;

use base::Id;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, FuncRef, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::{FunctionBuilder, Variable};
use cranelift_module::{FuncId, Module};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Compiler, Input};
use crate::code::{Address, ChunkId, Code, IMPATIENT, MOST_WORK, Op, Rounding, Source};
use crate::layout::{CHECK, IMPATIENCE, TIME};
use crate::math::{Binary, Unary};

/// Which temporaries have to be in memory, and which addresses must be read anew each time.
pub(super) struct Plan {
    /// The temporaries of the chunk.
    private: Range<Address>,
    /// Variables of functions: calls change those of others.
    frames: Range<Address>,
    /// The last piece that reads a temporary.
    last_read: FxHashMap<Address, u32>,
    /// Temporaries that are assigned more than once: results of branches.
    several: FxHashSet<Address>,
    /// Those of them that more than one piece uses: a loop may read there what an earlier piece or round left.
    shared: FxHashSet<Address>,
    /// Arguments and results of calls, results of the chunk itself.
    in_memory: FxHashSet<Address>,
    /// Fixed addresses that are written inside a branch.
    unstable: FxHashSet<Address>,
    has_loops: bool,
}

impl Plan {
    /// Whether an address may change without the code around seeing it.
    fn changes(&self, address: Address) -> bool {
        let frame = self.frames.contains(&address) && !self.private.contains(&address);
        frame || self.unstable.contains(&address)
    }

    pub fn new(code: &Code, pieces: &[Range<usize>], input: &Input) -> Self {
        let mut plan = Plan {
            private: code.private.clone(),
            frames: input.frames.clone(),
            last_read: FxHashMap::default(),
            several: FxHashSet::default(),
            shared: FxHashSet::default(),
            in_memory: FxHashSet::default(),
            unstable: FxHashSet::default(),
            has_loops: code.ops.iter().any(|op| matches!(op, Op::EndLoop { .. })),
        };
        // Results of functions are read by others.
        plan.in_memory.extend(code.outputs.iter().copied().filter(|output| code.private.contains(output)));
        let mut written = FxHashSet::default();
        let mut depth = 0usize;
        for (k, range) in pieces.iter().enumerate() {
            for op in &code.ops[range.clone()] {
                match *op {
                    Op::If { .. } | Op::Loop => depth += 1,
                    Op::EndIf => depth = depth.saturating_sub(1),
                    Op::EndLoop { failed, .. } => {
                        depth = depth.saturating_sub(1);
                        // It is written here and at the begin.
                        let places =
                            if plan.private.contains(&failed) { &mut plan.several } else { &mut plan.unstable };
                        places.insert(failed);
                    }
                    Op::Call { call, arguments, results } => {
                        let entry = &input.calls[call as usize];
                        let factor = if entry.tangent { 2 } else { 1 };
                        plan.in_memory.extend(arguments..arguments + factor * entry.arguments);
                        plan.in_memory.extend(results..results + factor * entry.results);
                    }
                    Op::Relate { state, .. } | Op::Round { state, .. } => {
                        plan.unstable.insert(state);
                    }
                    _ => {}
                }
                if let Some(target) = op.target() {
                    if !plan.private.contains(&target) {
                        if depth > 0 {
                            plan.unstable.insert(target);
                        }
                    } else if !written.insert(target) {
                        plan.several.insert(target);
                    }
                }
                op.for_each_source(|source| {
                    if plan.private.contains(&source) {
                        plan.last_read.insert(source, k as u32);
                    }
                });
            }
        }
        plan.shared = shared(code, pieces, &plan.several);
        plan
    }
}

/// Which of these addresses are used in more than one piece.
fn shared(code: &Code, pieces: &[Range<usize>], among: &FxHashSet<Address>) -> FxHashSet<Address> {
    let mut shared = FxHashSet::default();
    if pieces.len() < 2 || among.is_empty() {
        return shared;
    }
    let mut first_use: FxHashMap<Address, usize> = FxHashMap::default();
    for (k, range) in pieces.iter().enumerate() {
        for op in &code.ops[range.clone()] {
            let mut used = |address: Address| {
                if among.contains(&address) && *first_use.entry(address).or_insert(k) != k {
                    shared.insert(address);
                }
            };
            op.target().into_iter().for_each(&mut used);
            op.for_each_source(&mut used);
        }
    }
    shared
}

/// A value in a register: a number, or a truth that has not become one.
#[derive(Clone, Copy)]
enum Known {
    Number(Value),
    Truth(Value),
}

struct Branch {
    otherwise: Block,
    end: Block,
    /// How many values were known when it began.
    mark: usize,
}

pub(super) struct Emitter<'e, 'f, 'c, 'a> {
    compiler: &'c mut Compiler<'a>,
    builder: &'e mut FunctionBuilder<'f>,
    plan: &'e Plan,
    number: u32,
    values: Value,
    runtime: Value,
    known: FxHashMap<Address, Known>,
    variables: FxHashMap<Address, Variable>,
    /// Constants by their bits; only those made outside of branches.
    numbers: FxHashMap<u64, Value>,
    functions: FxHashMap<FuncId, FuncRef>,
    /// The addresses in `known` in the order in which they came.
    added: Vec<Address>,
    open: Vec<Branch>,
    /// Header and exit of the open loops, and how many operations were written before.
    loops: Vec<(Block, Block, i64)>,
    /// How much work is left, where there are loops.
    left: Option<Variable>,
    /// How many operations were written.
    written: i64,
    /// Pointers of the holes of a kernel; fixed addresses are their numbers then.
    holes: Vec<Value>,
}

impl<'e, 'f, 'c, 'a> Emitter<'e, 'f, 'c, 'a> {
    /// For the piece with a number, or for a kernel with `holes`.
    pub fn new(
        compiler: &'c mut Compiler<'a>,
        builder: &'e mut FunctionBuilder<'f>,
        plan: &'e Plan,
        number: u32,
        [values, runtime]: [Value; 2],
        holes: Vec<Value>,
    ) -> Self {
        let work = plan.has_loops.then(|| {
            let work = builder.declare_var(types::I64);
            let most = builder.ins().iconst(types::I64, MOST_WORK);
            let place = offset_of(IMPATIENCE);
            let impatience = builder.ins().load(types::F64, MemFlagsData::trusted(), values, place);
            let impatience = builder.ins().fcvt_to_sint_sat(types::I64, impatience);
            let left = builder.ins().isub(most, impatience);
            builder.def_var(work, left);
            work
        });
        Self {
            left: work,
            written: 0,
            compiler,
            builder,
            plan,
            number,
            values,
            runtime,
            known: FxHashMap::default(),
            variables: FxHashMap::default(),
            numbers: FxHashMap::default(),
            functions: FxHashMap::default(),
            added: Vec::new(),
            open: Vec::new(),
            loops: Vec::new(),
            holes,
        }
    }
}

impl Emitter<'_, '_, '_, '_> {
    pub fn operation(&mut self, op: &Op) {
        self.written += 1;
        match *op {
            Op::Move { to, a } => {
                let value = self.read(a);
                self.write(to, Known::Number(value));
            }
            Op::Unary { function, to, a } => {
                let value = self.unary(function, a);
                self.write(to, value);
            }
            Op::Binary { function, to, a, b } => {
                let value = self.binary(function, a, b);
                self.write(to, value);
            }
            Op::Select { to, condition, a, b } => {
                let condition = self.truth(condition);
                let (a, b) = (self.read(a), self.read(b));
                let value = self.builder.ins().select(condition, a, b);
                self.write(to, Known::Number(value));
            }
            Op::If { condition, .. } => self.begin(condition),
            Op::Else { .. } => self.otherwise(),
            Op::EndIf => self.end(),
            Op::Relate { state, a, b } => self.relate(state, a, b),
            Op::Round { rounding, state, a } => self.round(rounding, state, a),
            Op::Call { call, arguments, results } => self.call(call, arguments, results),
            Op::Loop => self.begin_loop(),
            Op::EndLoop { failed, .. } => self.end_loop(failed),
            Op::Exit { levels, .. } => self.exit(levels),
            Op::LoadAt { to, base, index, length } => self.load_at(to, base, index, length),
            Op::StoreAt { base, index, length, a } => self.store_at(base, index, length, a),
            Op::Invoke { chunk } => self.invoke(ChunkId::from_index(chunk as usize)),
            Op::Delay { delay, to, a, b } => {
                let (time, value, delay_time) = (self.read(TIME), self.read(a), self.read(b));
                let number = self.builder.ins().iconst(types::I32, i64::from(delay));
                let function = self.function(self.compiler.imports.delay);
                let call = self.builder.ins().call(function, &[self.runtime, number, time, value, delay_time]);
                let result = self.builder.inst_results(call)[0];
                self.write(to, Known::Number(result));
            }
        }
    }

    /// Adds up the results: what is not finite makes a sum that is not, and its difference with itself is NaN. Several sums do
    /// not wait for each other.
    pub fn check(&mut self, results: &[Address]) {
        const SUMS: usize = 4;
        if results.is_empty() {
            return;
        }
        let mut sums = [None; SUMS];
        for (k, &result) in results.iter().enumerate() {
            let value = self.read(result);
            let sum = &mut sums[k % SUMS];
            *sum = Some(sum.map_or(value, |sum| self.builder.ins().fadd(sum, value)));
        }
        if let Some(all) = sums.into_iter().flatten().reduce(|a, b| self.builder.ins().fadd(a, b)) {
            let zero = self.builder.ins().fsub(all, all);
            self.store(CHECK, zero);
        }
    }

    fn begin(&mut self, condition: Address) {
        let condition = self.truth(condition);
        let then = self.builder.create_block();
        let otherwise = self.builder.create_block();
        let end = self.builder.create_block();
        self.builder.ins().brif(condition, then, &[], otherwise, &[]);
        self.builder.switch_to_block(then);
        self.open.push(Branch { otherwise, end, mark: self.added.len() });
    }

    fn otherwise(&mut self) {
        let Some(branch) = self.open.last() else { return };
        let (otherwise, end, mark) = (branch.otherwise, branch.end, branch.mark);
        self.builder.ins().jump(end, &[]);
        self.builder.switch_to_block(otherwise);
        self.forget(mark);
    }

    fn end(&mut self) {
        let Some(branch) = self.open.pop() else { return };
        self.builder.ins().jump(branch.end, &[]);
        self.builder.switch_to_block(branch.end);
        self.forget(branch.mark);
    }

    /// What was computed in a branch is unknown outside of it.
    fn forget(&mut self, mark: usize) {
        for address in self.added.drain(mark..) {
            self.known.remove(&address);
        }
    }

    fn remember(&mut self, address: Address, value: Known) {
        if self.known.insert(address, value).is_none() {
            self.added.push(address);
        }
    }

    fn number(&mut self, value: f64) -> Value {
        if let Some(&known) = self.numbers.get(&value.to_bits()) {
            return known;
        }
        let constant = self.builder.ins().f64const(value);
        if self.open.is_empty() {
            self.numbers.insert(value.to_bits(), constant);
        }
        constant
    }

    fn constant(&self, address: Address) -> Option<f64> {
        let input = self.compiler.input;
        let index = address.checked_sub(input.first_constant)? as usize;
        input.constants.get(index).copied()
    }

    fn load(&mut self, address: Address) -> Value {
        let (pointer, offset) = self.place(address);
        self.builder.ins().load(types::F64, MemFlagsData::trusted(), pointer, offset)
    }

    fn place(&self, address: Address) -> (Value, i32) {
        match self.holes.get(address as usize) {
            Some(&pointer) => (pointer, 0),
            None => (self.values, offset_of(address)),
        }
    }

    fn store(&mut self, address: Address, value: Value) {
        let (pointer, offset) = self.place(address);
        self.builder.ins().store(MemFlagsData::trusted(), value, pointer, offset);
    }

    fn read_known(&mut self, address: Address) -> Known {
        if let Some(&known) = self.known.get(&address) {
            return known;
        }
        if let Some(value) = self.constant(address) {
            return Known::Number(self.number(value));
        }
        if let Some(&variable) = self.variables.get(&address) {
            return Known::Number(self.builder.use_var(variable));
        }
        let value = Known::Number(self.load(address));
        if !self.plan.changes(address) && !self.plan.several.contains(&address) {
            self.remember(address, value);
        }
        value
    }

    fn read(&mut self, address: Address) -> Value {
        match self.read_known(address) {
            Known::Number(value) => value,
            Known::Truth(value) => {
                let number = self.number_of(value);
                if self.open.is_empty() {
                    self.known.insert(address, Known::Number(number));
                }
                number
            }
        }
    }

    fn number_of(&mut self, truth: Value) -> Value {
        let (one, zero) = (self.number(1.0), self.number(0.0));
        self.builder.ins().select(truth, one, zero)
    }

    fn truth(&mut self, address: Address) -> Value {
        match self.read_known(address) {
            Known::Truth(value) => value,
            Known::Number(value) => {
                let zero = self.number(0.0);
                self.builder.ins().fcmp(FloatCC::NotEqual, value, zero)
            }
        }
    }

    fn write(&mut self, address: Address, value: Known) {
        let plan = self.plan;
        if !plan.private.contains(&address) {
            let number = self.as_number(value);
            self.store(address, number);
            if !plan.changes(address) {
                self.remember(address, Known::Number(number));
            }
            return;
        }
        if plan.shared.contains(&address) {
            let number = self.as_number(value);
            self.store(address, number);
            return;
        }
        let read_later = plan.last_read.get(&address).is_some_and(|&last| last > self.number);
        if read_later || plan.in_memory.contains(&address) {
            let number = self.as_number(value);
            self.store(address, number);
        }
        if plan.several.contains(&address) {
            let number = self.as_number(value);
            let builder = &mut *self.builder;
            let variable = *self.variables.entry(address).or_insert_with(|| builder.declare_var(types::F64));
            builder.def_var(variable, number);
        } else {
            self.remember(address, value);
        }
    }

    fn as_number(&mut self, value: Known) -> Value {
        match value {
            Known::Number(value) => value,
            Known::Truth(value) => self.number_of(value),
        }
    }

    fn function(&mut self, id: FuncId) -> FuncRef {
        if let Some(&known) = self.functions.get(&id) {
            return known;
        }
        let reference = self.compiler.module.declare_func_in_func(id, self.builder.func);
        self.functions.insert(id, reference);
        reference
    }

    fn call_math(&mut self, id: FuncId, arguments: &[Value]) -> Value {
        let function = self.function(id);
        let call = self.builder.ins().call(function, arguments);
        self.builder.inst_results(call)[0]
    }

    fn unary(&mut self, function: Unary, a: Address) -> Known {
        if function == Unary::Not {
            let value = match self.read_known(a) {
                Known::Truth(value) => {
                    let one = self.builder.ins().iconst(types::I8, 1);
                    self.builder.ins().bxor(value, one)
                }
                Known::Number(value) => {
                    let zero = self.number(0.0);
                    self.builder.ins().fcmp(FloatCC::Equal, value, zero)
                }
            };
            return Known::Truth(value);
        }
        let x = self.read(a);
        Known::Number(match function {
            Unary::Neg => self.builder.ins().fneg(x),
            Unary::Abs => self.builder.ins().fabs(x),
            Unary::Sqrt => self.builder.ins().sqrt(x),
            Unary::Floor => self.builder.ins().floor(x),
            Unary::Ceil => self.builder.ins().ceil(x),
            Unary::Truncate => self.builder.ins().trunc(x),
            Unary::Sign => {
                let zero = self.number(0.0);
                let above = self.builder.ins().fcmp(FloatCC::GreaterThan, x, zero);
                let below = self.builder.ins().fcmp(FloatCC::LessThan, x, zero);
                let (above, below) = (self.number_of(above), self.number_of(below));
                self.builder.ins().fsub(above, below)
            }
            _ => match self.compiler.imports.unary.get(&function) {
                Some(&id) => self.call_math(id, &[x]),
                None => x,
            },
        })
    }

    fn binary(&mut self, function: Binary, a: Address, b: Address) -> Known {
        match function {
            Binary::And | Binary::Or => {
                let (a, b) = (self.truth(a), self.truth(b));
                return Known::Truth(match function {
                    Binary::And => self.builder.ins().band(a, b),
                    _ => self.builder.ins().bor(a, b),
                });
            }
            _ => {}
        }
        let (x, y) = (self.read(a), self.read(b));
        let mut compare = |condition: FloatCC| Known::Truth(self.builder.ins().fcmp(condition, x, y));
        match function {
            Binary::Less => return compare(FloatCC::LessThan),
            Binary::LessEqual => return compare(FloatCC::LessThanOrEqual),
            Binary::Equal => return compare(FloatCC::Equal),
            Binary::NotEqual => return compare(FloatCC::NotEqual),
            _ => {}
        }
        Known::Number(match function {
            Binary::Add => self.builder.ins().fadd(x, y),
            Binary::Sub => self.builder.ins().fsub(x, y),
            Binary::Mul => self.builder.ins().fmul(x, y),
            Binary::Div => self.builder.ins().fdiv(x, y),
            Binary::Min | Binary::Max => {
                let condition = if function == Binary::Min { FloatCC::LessThan } else { FloatCC::GreaterThan };
                let first = self.builder.ins().fcmp(condition, x, y);
                self.builder.ins().select(first, x, y)
            }
            Binary::Atan2 => self.call_math(self.compiler.imports.atan2, &[x, y]),
            _ => self.call_math(self.compiler.imports.pow, &[x, y]),
        })
    }

    fn relate(&mut self, state: Address, a: Address, b: Address) {
        let (x, y) = (self.read(a), self.read(b));
        let state = self.builder.ins().iconst(types::I32, i64::from(state));
        let function = self.function(self.compiler.imports.relate);
        self.builder.ins().call(function, &[self.runtime, self.values, state, x, y]);
    }

    fn round(&mut self, rounding: Rounding, state: Address, a: Address) {
        let x = self.read(a);
        let rounding = self.builder.ins().iconst(types::I32, rounding as i64);
        let state = self.builder.ins().iconst(types::I32, i64::from(state));
        let function = self.function(self.compiler.imports.round);
        self.builder.ins().call(function, &[self.runtime, self.values, rounding, state, x]);
    }

    fn begin_loop(&mut self) {
        let (header, exit) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().jump(header, &[]);
        self.builder.switch_to_block(header);
        // Constants made inside may not be used outside: `open` tells.
        self.open.push(Branch { otherwise: header, end: exit, mark: self.added.len() });
        self.loops.push((header, exit, self.written));
    }

    fn end_loop(&mut self, failed: Address) {
        let (Some((header, exit, begin)), Some(branch)) = (self.loops.pop(), self.open.pop()) else { return };
        self.count_turn((header, exit), self.written - begin, failed);
        self.builder.switch_to_block(exit);
        self.forget(branch.mark);
    }

    /// Another turn, unless there was too much work.
    fn count_turn(&mut self, (header, exit): (Block, Block), length: i64, failed: Address) {
        let endless = self.builder.create_block();
        if let Some(work) = self.left {
            let left = self.builder.use_var(work);
            let left = self.builder.ins().iadd_imm_s(left, -length);
            self.builder.def_var(work, left);
            let goes_on = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThan, left, 0);
            self.builder.ins().brif(goes_on, header, &[], endless, &[]);
        }
        self.builder.set_cold_block(endless);
        self.builder.switch_to_block(endless);
        let [nan, impatient] = [f64::NAN, IMPATIENT].map(|value| self.builder.ins().f64const(value));
        self.store(IMPATIENCE, impatient);
        self.write(failed, Known::Number(nan));
        self.builder.ins().jump(exit, &[]);
    }

    fn exit(&mut self, levels: u32) {
        let Some(index) = self.loops.len().checked_sub(levels as usize) else { return };
        let Some(&(_, exit, _)) = self.loops.get(index) else { return };
        self.builder.ins().jump(exit, &[]);
        // What follows up to the end of the branch is never reached.
        let dead = self.builder.create_block();
        self.builder.switch_to_block(dead);
    }

    /// The condition that an index is inside, and the address of its element (of the first one where it is outside).
    fn element(&mut self, base: Address, index: Address, length: u32) -> (Value, Value) {
        let index = self.read(index);
        let (zero, end) = (self.number(0.0), self.number(f64::from(length)));
        let builder = &mut *self.builder;
        let above = builder.ins().fcmp(FloatCC::GreaterThanOrEqual, index, zero);
        let below = builder.ins().fcmp(FloatCC::LessThan, index, end);
        let inside = builder.ins().band(above, below);
        let offset = builder.ins().fcvt_to_sint_sat(types::I64, index);
        let nothing = builder.ins().iconst(types::I64, 0);
        let offset = builder.ins().select(inside, offset, nothing);
        let bytes = builder.ins().ishl_imm_u(offset, 3);
        let start = builder.ins().iadd(self.values, bytes);
        let place = builder.ins().iadd_imm_s(start, i64::from(offset_of(base)));
        (inside, place)
    }

    fn load_at(&mut self, to: Address, base: Address, index: Address, length: u32) {
        let (inside, place) = self.element(base, index, length);
        let nan = self.number(f64::NAN);
        let value = self.builder.ins().load(types::F64, MemFlagsData::trusted(), place, 0);
        let value = self.builder.ins().select(inside, value, nan);
        self.write(to, Known::Number(value));
    }

    fn store_at(&mut self, base: Address, index: Address, length: u32, a: Address) {
        let (inside, place) = self.element(base, index, length);
        let nan = self.number(f64::NAN);
        let value = self.read(a);
        let value = self.builder.ins().select(inside, value, nan);
        self.builder.ins().store(MemFlagsData::trusted(), value, place, 0);
    }

    fn invoke(&mut self, chunk: ChunkId) {
        if let Some(&id) = self.compiler.done.get(&chunk) {
            let function = self.function(id);
            self.builder.ins().call(function, &[self.values, self.runtime]);
            return;
        }
        let number = self.builder.ins().iconst(types::I32, chunk.index() as i64);
        let function = self.function(self.compiler.imports.invoke);
        self.builder.ins().call(function, &[self.runtime, self.values, number]);
    }

    fn call(&mut self, call: u32, arguments: Address, results: Address) {
        let input = self.compiler.input;
        let entry = &input.calls[call as usize];
        if let Some(native) = &entry.native {
            for &(argument, to) in &native.inputs {
                let value = self.read(arguments + argument);
                self.store(to, value);
            }
            self.invoke(native.chunk);
            let start = if entry.tangent { results + entry.results } else { results };
            for (to, source) in (start..).zip(&native.outputs) {
                let value = match *source {
                    Source::At(address) => self.load(address),
                    Source::Known(value) => self.number(value),
                };
                self.write(to, Known::Number(value));
            }
            return;
        }
        let numbers = [call, arguments, results].map(|n| self.builder.ins().iconst(types::I32, i64::from(n)));
        let function = self.function(self.compiler.imports.call);
        self.builder.ins().call(function, &[self.runtime, self.values, numbers[0], numbers[1], numbers[2]]);
    }
}

fn offset_of(address: Address) -> i32 {
    // `compile` refuses memory of more than 2³¹ bytes.
    (address as i64 * 8).try_into().unwrap_or(0)
}
