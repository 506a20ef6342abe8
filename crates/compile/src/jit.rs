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

mod emit;

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::{Id, IdVec};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module};
use rustc_hash::{FxHashMap, FxHashSet};

use self::emit::{Emitter, Plan};
use crate::code::{Address, CONSTANT, ChunkId, Code, Kernel, Op, REGION_MASK, Rounding, TEMPORARY};
use crate::interpret::{self, Host};
use crate::lower::CallEntry;
use crate::math::{Binary, Unary};
use crate::runtime::Runtime;

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
    /// Microseconds that finished runs took.
    spent: AtomicU64,
}

/// The machine code of a chunk; chunks of several programs that are equal share it.
#[derive(Default)]
pub struct Entry {
    /// Null while there is no code.
    pointer: AtomicPtr<()>,
    /// How often it was asked for meanwhile.
    asked: AtomicU32,
    /// A thread makes it, or has tried to.
    is_ordered: AtomicBool,
}

/// Keeps code alive, and the chunks whose tables it reads.
#[derive(Default)]
pub struct Modules(Mutex<Vec<(Finished, Arc<IdVec<ChunkId, Code>>)>>);

struct Finished(Option<JITModule>);

// SAFETY: the module is touched by the compiling thread and by the destructor only, both under the lock.
unsafe impl Send for Finished {}

impl Drop for Finished {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: nobody runs the code any more: `Modules` is dropped with its last user.
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
        Self { entries, cancelled: AtomicBool::new(false), modules, spent: AtomicU64::new(0) }
    }

    /// Adds what a run took.
    pub fn add_spent(&self, time: Duration) {
        self.spent.fetch_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub fn spent(&self) -> Duration {
        Duration::from_micros(self.spent.load(Ordering::Relaxed))
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

    /// How often a chunk was asked for without having code.
    pub fn times_asked(&self, chunk: ChunkId) -> u32 {
        self.entries[chunk].asked.load(Ordering::Relaxed)
    }

    /// The chunks that were asked for so often that code for them is worth its while, and that nobody makes. They count as
    /// ordered from now on.
    pub fn take_hot(&self, least: u32) -> FxHashSet<ChunkId> {
        let hot = self.entries.iter().filter(|(_, entry)| entry.asked.load(Ordering::Relaxed) >= least);
        hot.filter(|(_, entry)| !entry.is_ordered.swap(true, Ordering::Relaxed)).map(|(chunk, _)| chunk).collect()
    }

    /// A chunk counts as ordered from now on; false where it was before.
    pub fn order(&self, chunk: ChunkId) -> bool {
        !self.entries[chunk].is_ordered.swap(true, Ordering::Relaxed)
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
        // SAFETY: the pointer is that of a finished function of this type.
        let function: Compiled = unsafe { std::mem::transmute::<*mut (), Compiled>(pointer) };
        // SAFETY: every address in the function lies within memory, which has the length the program gave it.
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
        for (done, &chunk) in input.order.iter().enumerate() {
            if self.cancelled.load(Ordering::Relaxed) {
                // Other programs may share the rest, and order it again.
                let rest = input.order[done..].iter();
                rest.for_each(|&chunk| self.entries[chunk].is_ordered.store(false, Ordering::Relaxed));
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

// Machine code calls the functions below. Its contract: `runtime` points to the `Runtime` and `values` to the memory of
// `runtime.length` numbers that the program was entered with; both live as long as the call, and nothing else uses them
// meanwhile.

/// # Safety
/// The contract above; the lifetime is that of the call.
unsafe fn runtime_of<'r>(runtime: *mut c_void) -> &'r mut Runtime<'r> {
    // SAFETY: the caller keeps the contract.
    unsafe { &mut *runtime.cast::<Runtime<'r>>() }
}

/// # Safety
/// The contract above; the lifetime is that of the call.
unsafe fn values_of<'r>(runtime: *mut c_void, values: *mut f64) -> &'r mut [f64] {
    // SAFETY: the caller keeps the contract.
    unsafe { std::slice::from_raw_parts_mut(values, (*runtime.cast::<Runtime<'r>>()).length) }
}

unsafe extern "C" fn host_call(runtime: *mut c_void, values: *mut f64, call: u32, arguments: u32, results: u32) {
    // SAFETY: the pointers are those of the contract above.
    let (runtime, values) = unsafe { (runtime_of(runtime), values_of(runtime, values)) };
    runtime.call(call, values, arguments, results);
}

unsafe extern "C" fn host_invoke(runtime: *mut c_void, values: *mut f64, chunk: u32) {
    // SAFETY: the pointers are those of the contract above.
    let (runtime, values) = unsafe { (runtime_of(runtime), values_of(runtime, values)) };
    runtime.invoke(chunk, values);
}

unsafe extern "C" fn host_delay(runtime: *mut c_void, delay: u32, time: f64, value: f64, delay_time: f64) -> f64 {
    // SAFETY: the pointer is that of the contract above.
    let runtime = unsafe { runtime_of(runtime) };
    runtime.delay(delay, time, value, delay_time)
}

unsafe extern "C" fn host_relate(runtime: *mut c_void, values: *mut f64, state: u32, a: f64, b: f64) {
    // SAFETY: the pointers are those of the contract above.
    let values = unsafe { values_of(runtime, values) };
    interpret::relate(values, state, a, b);
}

unsafe extern "C" fn host_round(runtime: *mut c_void, values: *mut f64, rounding: u32, state: u32, a: f64) {
    // SAFETY: the pointers are those of the contract above.
    let values = unsafe { values_of(runtime, values) };
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
            let mut emitter = Emitter::new(this, &mut *builder, &plan, 0, [values, runtime], pointers);
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
            let mut emitter = Emitter::new(this, builder, plan, number as u32, [values, runtime], Vec::new());
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
