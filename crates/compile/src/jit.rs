//! Machine code from the lowered form, by Cranelift.
//!
//! A chunk becomes one function, or several where it is long, since the time of register allocation grows faster than
//! the code. Temporaries live in registers; those that another piece or a call reads go through their addresses in
//! memory. Mathematical functions are calls of the ones the interpreter uses, so that results agree bit for bit; so are
//! updates of relations, since each machine instruction costs some ten thousand to make.
//!
//! Compilation runs in a thread of its own, the hottest code first; the interpreter works meanwhile. It counts how often it
//! runs a chunk: what is not in use, such as the tangents where no method asks for them, is not compiled.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use base::{Id, IdVec};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{AbiParam, Block, FuncRef, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{Address, CONSTANT, Code, Op, REGION_MASK, Rounding, TEMPORARY};
use crate::family::Kernel;
use crate::interpret::{self, Host};
use crate::layout::{CHECK, TIME};
use crate::lower::CallEntry;
use crate::math::{Binary, Unary};
use crate::program::ChunkId;
use crate::runtime::Runtime;
use crate::specialize::Source;

/// Operations of one function.
const PIECE: usize = 6000;
/// Pieces that become executable together.
const BATCH: usize = 16;
/// A chunk that was run so often is worth compiling in a thread of its own while nothing else is to be done there.
pub const OFTEN: u32 = 16;
/// So many runs save a part of the time that compiling takes.
pub const OFTEN_IN_MODES: u32 = 100;

type Compiled = unsafe extern "C" fn(*mut f64, *mut c_void);

/// Machine code of chunks, as far as it is ready.
pub struct Machine {
    entries: IdVec<ChunkId, Arc<Entry>>,
    cancelled: AtomicBool,
    modules: Arc<Modules>,
}

/// The machine code of a chunk; chunks of several programs that are equal share it.
#[derive(Default)]
pub struct Entry {
    /// Null while there is no code.
    pointer: AtomicPtr<()>,
    /// How often it was asked for meanwhile.
    asked: AtomicU32,
}

/// Keeps code alive, and the chunks whose tables it reads.
#[derive(Default)]
pub struct Modules(Mutex<Vec<(Finished, Arc<IdVec<ChunkId, Code>>)>>);

struct Finished(Option<JITModule>);

// The module is touched by the compiling thread and by the destructor only, both under the lock.
unsafe impl Send for Finished {}

impl Drop for Finished {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // Nobody runs the code any more: `Modules` is dropped with its last user.
            unsafe { module.free_memory() };
        }
    }
}

/// What compilation needs besides the code.
#[derive(Clone)]
pub struct Input {
    pub chunks: Arc<IdVec<ChunkId, Code>>,
    pub order: Vec<ChunkId>,
    pub calls: Arc<[CallEntry]>,
    pub constants: Arc<[f64]>,
    pub first_constant: u32,
    /// The variables of functions.
    pub frames: std::ops::Range<Address>,
    /// Of memory.
    pub length: usize,
}

impl Machine {
    pub fn new(entries: IdVec<ChunkId, Arc<Entry>>, modules: Arc<Modules>) -> Self {
        Self { entries, cancelled: AtomicBool::new(false), modules }
    }

    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether a chunk has code; what is empty needs none.
    pub fn has(&self, chunk: ChunkId, code: &Code) -> bool {
        (code.ops.is_empty() && code.kernel.is_none()) || self.is_ready(chunk)
    }

    pub fn is_ready(&self, chunk: ChunkId) -> bool {
        !self.entries[chunk].pointer.load(Ordering::Acquire).is_null()
    }

    pub fn is_any_hot(&self, least: u32) -> bool {
        self.entries.values().any(|entry| entry.asked.load(Ordering::Relaxed) >= least)
    }

    /// Whether a chunk was asked for so often that code for it is worth its while; counting begins anew then.
    pub fn take_hot(&self, chunk: ChunkId, least: u32) -> bool {
        let asked = &self.entries[chunk].asked;
        let hot = asked.load(Ordering::Relaxed) >= least;
        if hot {
            asked.store(0, Ordering::Relaxed);
        }
        hot
    }

    /// Runs a chunk if its code is ready.
    pub fn run(&self, chunk: ChunkId, values: &mut [f64], runtime: &mut Runtime<'_>) -> bool {
        let Some(entry) = self.entries.get(chunk) else { return false };
        let pointer = entry.pointer.load(Ordering::Acquire);
        if pointer.is_null() {
            // One thread runs a program; should it ever be two, some calls are not counted.
            let asked = entry.asked.load(Ordering::Relaxed);
            entry.asked.store(asked.saturating_add(1), Ordering::Relaxed);
            return false;
        }
        runtime.length = values.len();
        // The pointer is that of a finished function of this type, and every address in it lies within memory, which
        // has the length the program gave it.
        let function: Compiled = unsafe { std::mem::transmute::<*mut (), Compiled>(pointer) };
        unsafe { function(values.as_mut_ptr(), (runtime as *mut Runtime<'_>).cast()) };
        true
    }

    /// Compiles the chunks in the given order and makes them available one batch after the other. Without machine
    /// code, for instance on a processor Cranelift does not know, the interpreter goes on.
    pub fn compile(&self, input: &Input) {
        if i32::try_from(input.length * 8).is_err() {
            return;
        }
        let Some(mut compiler) = Compiler::new(input) else { return };
        let mut pending: Vec<(ChunkId, FuncId)> = Vec::new();
        let mut pieces = 0;
        for &chunk in &input.order {
            if self.cancelled.load(Ordering::Relaxed) {
                break;
            }
            let code = &input.chunks[chunk];
            if let Some((function, count)) = compiler.chunk(code, chunk.index()) {
                compiler.done.insert(chunk, function);
                pending.push((chunk, function));
                pieces += count;
            }
            if pieces >= BATCH {
                self.publish(&mut compiler, &mut pending);
                pieces = 0;
            }
        }
        self.publish(&mut compiler, &mut pending);
        let mut modules = self.modules.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        modules.push((Finished(Some(compiler.module)), input.chunks.clone()));
    }

    fn publish(&self, compiler: &mut Compiler<'_>, pending: &mut Vec<(ChunkId, FuncId)>) {
        if pending.is_empty() || compiler.module.finalize_definitions().is_err() {
            return;
        }
        for (chunk, function) in pending.drain(..) {
            let pointer = compiler.module.get_finalized_function(function);
            self.entries[chunk].pointer.store(pointer.cast_mut().cast(), Ordering::Release);
        }
    }
}

unsafe extern "C" fn host_call(runtime: *mut c_void, values: *mut f64, call: u32, arguments: u32, results: u32) {
    // Both pointers come from `Machine::run` and live as long as the call.
    let runtime = unsafe { &mut *runtime.cast::<Runtime<'_>>() };
    let values = unsafe { std::slice::from_raw_parts_mut(values, runtime.length) };
    runtime.call(call, values, arguments, results);
}

unsafe extern "C" fn host_invoke(runtime: *mut c_void, values: *mut f64, chunk: u32) {
    let runtime = unsafe { &mut *runtime.cast::<Runtime<'_>>() };
    let values = unsafe { std::slice::from_raw_parts_mut(values, runtime.length) };
    runtime.invoke(chunk, values);
}

unsafe extern "C" fn host_delay(runtime: *mut c_void, delay: u32, time: f64, value: f64, delay_time: f64) -> f64 {
    let runtime = unsafe { &mut *runtime.cast::<Runtime<'_>>() };
    runtime.delay(delay, time, value, delay_time)
}

unsafe extern "C" fn host_relate(runtime: *mut c_void, values: *mut f64, state: u32, a: f64, b: f64) {
    let runtime = unsafe { &*runtime.cast::<Runtime<'_>>() };
    let values = unsafe { std::slice::from_raw_parts_mut(values, runtime.length) };
    interpret::relate(values, state, a, b);
}

unsafe extern "C" fn host_round(runtime: *mut c_void, values: *mut f64, rounding: u32, state: u32, a: f64) {
    let runtime = unsafe { &*runtime.cast::<Runtime<'_>>() };
    let values = unsafe { std::slice::from_raw_parts_mut(values, runtime.length) };
    let found = Rounding::ALL.into_iter().find(|&known| known as u32 == rounding);
    if let Some(rounding) = found {
        interpret::update_rounding(rounding, values, state, a);
    }
}

macro_rules! unary_symbols {
    ($($function:ident $name:ident),*) => {
        $(extern "C" fn $name(x: f64) -> f64 { Unary::$function.apply(x) })*
        const UNARY: &[(Unary, &str, extern "C" fn(f64) -> f64)] = &[$((Unary::$function, stringify!($name), $name)),*];
    };
}

unary_symbols!(
    Sin gyrator_sin, Cos gyrator_cos, Tan gyrator_tan, Asin gyrator_asin, Acos gyrator_acos, Atan gyrator_atan,
    Sinh gyrator_sinh, Cosh gyrator_cosh, Tanh gyrator_tanh, Exp gyrator_exp, Log gyrator_log, Log10 gyrator_log10
);

extern "C" fn gyrator_pow(x: f64, y: f64) -> f64 {
    Binary::Pow.apply(x, y)
}

extern "C" fn gyrator_atan2(x: f64, y: f64) -> f64 {
    Binary::Atan2.apply(x, y)
}

struct Imports {
    unary: FxHashMap<Unary, FuncId>,
    pow: FuncId,
    atan2: FuncId,
    call: FuncId,
    invoke: FuncId,
    delay: FuncId,
    relate: FuncId,
    round: FuncId,
}

struct Compiler<'a> {
    input: &'a Input,
    module: JITModule,
    imports: Imports,
    /// Chunks that can be called directly.
    done: FxHashMap<ChunkId, FuncId>,
    context: FunctionBuilderContext,
}

impl<'a> Compiler<'a> {
    fn new(input: &'a Input) -> Option<Self> {
        let flags = [("opt_level", "none"), ("enable_verifier", "false"), ("enable_alias_analysis", "false")];
        let mut builder = JITBuilder::with_flags(&flags, cranelift_module::default_libcall_names()).ok()?;
        for &(_, name, function) in UNARY {
            builder.symbol(name, function as *const u8);
        }
        builder.symbol("gyrator_pow", gyrator_pow as *const u8);
        builder.symbol("gyrator_atan2", gyrator_atan2 as *const u8);
        builder.symbol("gyrator_call", host_call as *const u8);
        builder.symbol("gyrator_invoke", host_invoke as *const u8);
        builder.symbol("gyrator_delay", host_delay as *const u8);
        builder.symbol("gyrator_relate", host_relate as *const u8);
        builder.symbol("gyrator_round", host_round as *const u8);
        let mut module = JITModule::new(builder);
        let pointer = module.target_config().pointer_type();
        let mut declare = |name: &str, parameters: &[Type], result: Option<Type>| {
            let mut signature = module.make_signature();
            signature.params.extend(parameters.iter().map(|&ty| AbiParam::new(ty)));
            signature.returns.extend(result.map(AbiParam::new));
            module.declare_function(name, Linkage::Import, &signature).ok()
        };
        let (real, int) = (types::F64, types::I32);
        let mut unary = FxHashMap::default();
        for &(function, name, _) in UNARY {
            unary.insert(function, declare(name, &[real], Some(real))?);
        }
        let imports = Imports {
            unary,
            pow: declare("gyrator_pow", &[real, real], Some(real))?,
            atan2: declare("gyrator_atan2", &[real, real], Some(real))?,
            call: declare("gyrator_call", &[pointer, pointer, int, int, int], None)?,
            invoke: declare("gyrator_invoke", &[pointer, pointer, int], None)?,
            delay: declare("gyrator_delay", &[pointer, int, real, real, real], Some(real))?,
            relate: declare("gyrator_relate", &[pointer, pointer, int, real, real], None)?,
            round: declare("gyrator_round", &[pointer, pointer, int, int, real], None)?,
        };
        Some(Self { input, module, imports, done: FxHashMap::default(), context: FunctionBuilderContext::new() })
    }

    /// Compiles one chunk; gives its function and how many pieces it has.
    fn chunk(&mut self, code: &Code, number: usize) -> Option<(FuncId, usize)> {
        if let Some(kernel) = &code.kernel {
            return Some((self.kernel(kernel, &format!("kernel{number}"))?, 1));
        }
        let pieces = pieces(&code.ops);
        let plan = Plan::new(code, &pieces, self.input);
        let mut functions = Vec::new();
        // What functions give is checked where it is used.
        let results: Vec<Address> =
            code.outputs.iter().copied().filter(|output| !code.private.contains(output)).collect();
        for (k, range) in pieces.iter().enumerate() {
            let checked = if k + 1 == pieces.len() { results.as_slice() } else { &[] };
            functions.push(self.piece(&code.ops[range.clone()], &plan, k, checked, &format!("chunk{number}_{k}"))?);
        }
        match functions.as_slice() {
            [] => None,
            [only] => Some((*only, 1)),
            _ => {
                let all = self.sequence(&functions, &format!("chunk{number}"))?;
                Some((all, functions.len() + 1))
            }
        }
    }

    fn signature(&self) -> cranelift_codegen::ir::Signature {
        let pointer = self.module.target_config().pointer_type();
        let mut signature = self.module.make_signature();
        signature.params.extend([AbiParam::new(pointer), AbiParam::new(pointer)]);
        signature
    }

    fn define(&mut self, name: &str, fill: impl FnOnce(&mut Self, &mut FunctionBuilder<'_>, Block)) -> Option<FuncId> {
        let signature = self.signature();
        let id = self.module.declare_function(name, Linkage::Local, &signature).ok()?;
        let mut context = self.module.make_context();
        context.func.signature = signature;
        let mut builder_context = std::mem::take(&mut self.context);
        {
            let mut builder = FunctionBuilder::new(&mut context.func, &mut builder_context);
            let block = builder.create_block();
            builder.append_block_params_for_function_params(block);
            builder.switch_to_block(block);
            fill(self, &mut builder, block);
            builder.ins().return_(&[]);
            builder.seal_all_blocks();
            builder.finalize(self.module.target_config());
        }
        self.context = builder_context;
        self.module.define_function(id, &mut context).ok()?;
        Some(id)
    }

    /// Calls pieces one after the other.
    fn sequence(&mut self, functions: &[FuncId], name: &str) -> Option<FuncId> {
        self.define(name, |this, builder, block| {
            let parameters = builder.block_params(block).to_vec();
            for &function in functions {
                let reference = this.module.declare_func_in_func(function, builder.func);
                builder.ins().call(reference, &parameters);
            }
        })
    }

    /// One loop over the members of a family.
    fn kernel(&mut self, kernel: &Kernel, name: &str) -> Option<FuncId> {
        let first_constant = self.input.first_constant;
        let constant = |address: Address| match address & REGION_MASK {
            CONSTANT => first_constant + (address & !REGION_MASK),
            _ => address,
        };
        let ops: Vec<Op> = kernel.ops.iter().map(|op| op.map(constant)).collect();
        let code = Code { private: TEMPORARY..TEMPORARY + kernel.temporaries, ..Code::default() };
        let plan = Plan::new(&Code { ops: ops.clone(), ..code }, std::slice::from_ref(&(0..ops.len())), self.input);
        // A hole is read and written through its pointer; nothing else in the loop has the same address.
        self.define(name, |this, builder, block| {
            let (values, runtime) = (builder.block_params(block)[0], builder.block_params(block)[1]);
            let counter = builder.declare_var(types::I64);
            let zero = builder.ins().iconst(types::I64, 0);
            builder.def_var(counter, zero);
            let (header, exit) = (builder.create_block(), builder.create_block());
            builder.ins().jump(header, &[]);
            builder.switch_to_block(header);
            let member = builder.use_var(counter);
            let pointers = (0..kernel.holes).map(|hole| pointer(builder, kernel, hole, member, values)).collect();
            let mut emitter = Emitter {
                compiler: this,
                builder: &mut *builder,
                plan: &plan,
                number: 0,
                values,
                runtime,
                known: FxHashMap::default(),
                variables: FxHashMap::default(),
                numbers: FxHashMap::default(),
                functions: FxHashMap::default(),
                added: Vec::new(),
                open: Vec::new(),
                loops: Vec::new(),
                holes: pointers,
            };
            ops.iter().for_each(|op| emitter.operation(op));
            let one = builder.ins().iconst(types::I64, 1);
            let next = builder.ins().iadd(member, one);
            builder.def_var(counter, next);
            let end = builder.ins().iconst(types::I64, i64::from(kernel.members));
            let more = builder.ins().icmp(IntCC::UnsignedLessThan, next, end);
            builder.ins().brif(more, header, &[], exit, &[]);
            builder.switch_to_block(exit);
        })
    }

    fn piece(&mut self, ops: &[Op], plan: &Plan, number: usize, checked: &[Address], name: &str) -> Option<FuncId> {
        self.define(name, |this, builder, block| {
            let (values, runtime) = (builder.block_params(block)[0], builder.block_params(block)[1]);
            let mut emitter = Emitter {
                compiler: this,
                builder,
                plan,
                number: number as u32,
                values,
                runtime,
                known: FxHashMap::default(),
                variables: FxHashMap::default(),
                numbers: FxHashMap::default(),
                functions: FxHashMap::default(),
                added: Vec::new(),
                open: Vec::new(),
                loops: Vec::new(),
                holes: Vec::new(),
            };
            ops.iter().for_each(|op| emitter.operation(op));
            emitter.check(checked);
        })
    }
}

/// Where a hole lies for the member of this round: by its stride where addresses are evenly spaced, else by the table.
fn pointer(builder: &mut FunctionBuilder<'_>, kernel: &Kernel, hole: u32, member: Value, values: Value) -> Value {
    let row = kernel.row(hole);
    let first = i64::from(row[0]);
    let stride = row.get(1).map_or(0, |&second| i64::from(second) - first);
    let even = row.iter().zip(0i64..).all(|(&address, k)| i64::from(address) == first + k * stride);
    if even {
        let start = builder.ins().iconst(types::I64, first * 8);
        let start = builder.ins().iadd(values, start);
        let step = builder.ins().iconst(types::I64, stride * 8);
        let offset = builder.ins().imul(member, step);
        return builder.ins().iadd(start, offset);
    }
    // The table belongs to the code of the program, which `Modules` keeps.
    let table = builder.ins().iconst(types::I64, row.as_ptr() as i64);
    let four = builder.ins().iconst(types::I64, 4);
    let place = builder.ins().imul(member, four);
    let place = builder.ins().iadd(table, place);
    let address = builder.ins().load(types::I32, MemFlagsData::trusted(), place, 0);
    let address = builder.ins().uextend(types::I64, address);
    let eight = builder.ins().iconst(types::I64, 8);
    let bytes = builder.ins().imul(address, eight);
    builder.ins().iadd(values, bytes)
}

/// Ranges of operations that no branch crosses.
fn pieces(ops: &[Op]) -> Vec<std::ops::Range<usize>> {
    let mut result = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (position, op) in ops.iter().enumerate() {
        match op {
            Op::If { .. } | Op::Loop => depth += 1,
            Op::EndIf | Op::EndLoop { .. } => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && position + 1 - start >= PIECE {
            result.push(start..position + 1);
            start = position + 1;
        }
    }
    if start < ops.len() {
        result.push(start..ops.len());
    }
    result
}

/// Which temporaries have to be in memory, and which addresses must be read anew each time.
struct Plan {
    /// The temporaries of the chunk.
    private: std::ops::Range<Address>,
    /// Variables of functions: calls change those of others.
    frames: std::ops::Range<Address>,
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
}

impl Plan {
    /// Whether an address may change without the code around seeing it.
    fn changes(&self, address: Address) -> bool {
        let frame = self.frames.contains(&address) && !self.private.contains(&address);
        frame || self.unstable.contains(&address)
    }

    fn new(code: &Code, pieces: &[std::ops::Range<usize>], input: &Input) -> Self {
        let mut plan = Plan {
            private: code.private.clone(),
            frames: input.frames.clone(),
            last_read: FxHashMap::default(),
            several: FxHashSet::default(),
            shared: FxHashSet::default(),
            in_memory: FxHashSet::default(),
            unstable: FxHashSet::default(),
        };
        // Results of functions are read by others.
        plan.in_memory.extend(code.outputs.iter().copied().filter(|output| code.private.contains(output)));
        let mut written = FxHashSet::default();
        let mut depth = 0usize;
        for (k, range) in pieces.iter().enumerate() {
            for op in &code.ops[range.clone()] {
                match *op {
                    Op::If { .. } | Op::Loop => depth += 1,
                    Op::EndIf | Op::EndLoop { .. } => depth = depth.saturating_sub(1),
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
fn shared(code: &Code, pieces: &[std::ops::Range<usize>], among: &FxHashSet<Address>) -> FxHashSet<Address> {
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

struct Emitter<'e, 'f, 'c, 'a> {
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
    /// Header and exit of the open loops.
    loops: Vec<(Block, Block)>,
    /// Pointers of the holes of a kernel; fixed addresses are their numbers then.
    holes: Vec<Value>,
}

impl Emitter<'_, '_, '_, '_> {
    fn operation(&mut self, op: &Op) {
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
            Op::EndLoop { repeat, .. } => self.end_loop(repeat),
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
    fn check(&mut self, results: &[Address]) {
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
        self.loops.push((header, exit));
    }

    fn end_loop(&mut self, repeat: bool) {
        let (Some((header, exit)), Some(branch)) = (self.loops.pop(), self.open.pop()) else { return };
        self.builder.ins().jump(if repeat { header } else { exit }, &[]);
        self.builder.switch_to_block(exit);
        self.forget(branch.mark);
    }

    fn exit(&mut self, levels: u32) {
        let Some(index) = self.loops.len().checked_sub(levels as usize) else { return };
        let Some(&(_, exit)) = self.loops.get(index) else { return };
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
