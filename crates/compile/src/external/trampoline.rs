//! Code that calls a function of a signature that is known only when a model is read: made by Cranelift, one piece for each
//! signature. It loads the arguments from an array and calls. Integers, Booleans and enumerations are `int`, sizes `size_t`: both travel
//! as 64 bits, of which the callee looks at what it needs.

#![allow(unsafe_code)]

use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Type as MachineType, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module};

/// How a value travels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Passing {
    Real,
    /// Numbers without a point and pointers.
    Word,
}

/// What a function takes and gives.
pub type Signature = (Vec<Passing>, Option<Passing>);

/// Takes the function, the words of its arguments, and the place for its result.
pub type Trampoline = unsafe extern "C" fn(*const (), *const u64, *mut u64);

/// Code that calls a function of the signature. It lives as long as the process.
pub fn compile((arguments, result): &Signature) -> Option<Trampoline> {
    let machine = |passing: &Passing| -> MachineType {
        match passing {
            Passing::Real => types::F64,
            Passing::Word => types::I64,
        }
    };
    let builder = JITBuilder::new(cranelift_module::default_libcall_names()).ok()?;
    let mut module = JITModule::new(builder);
    let mut called = module.make_signature();
    called.params.extend(arguments.iter().map(|passing| AbiParam::new(machine(passing))));
    called.returns.extend(result.iter().map(|passing| AbiParam::new(machine(passing))));
    let mut own = module.make_signature();
    own.params.extend([AbiParam::new(types::I64); 3]);
    let id = module.declare_function("call", Linkage::Local, &own).ok()?;
    let mut context = module.make_context();
    context.func.signature = own;
    let mut builder_context = FunctionBuilderContext::new();
    {
        let mut builder = FunctionBuilder::new(&mut context.func, &mut builder_context);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        let &[function, words, answer] = builder.block_params(block) else { return None };
        let mut values = Vec::with_capacity(arguments.len());
        for (position, passing) in arguments.iter().enumerate() {
            let offset = i32::try_from(8 * position).ok()?;
            values.push(builder.ins().load(machine(passing), MemFlagsData::trusted(), words, offset));
        }
        let called = builder.import_signature(called);
        let call = builder.ins().call_indirect(called, function, &values);
        if let Some(&value) = builder.inst_results(call).first() {
            builder.ins().store(MemFlagsData::trusted(), value, answer, 0);
        }
        builder.ins().return_(&[]);
        builder.seal_all_blocks();
        builder.finalize(module.target_config());
    }
    module.define_function(id, &mut context).ok()?;
    module.finalize_definitions().ok()?;
    let pointer = module.get_finalized_function(id);
    // SAFETY: the function was made with this signature; the memory of a module stays when the module goes.
    Some(unsafe { std::mem::transmute::<*const u8, Trampoline>(pointer.cast()) })
}
