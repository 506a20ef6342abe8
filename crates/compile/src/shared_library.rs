//! External functions in shared libraries that the user allowed (specification 12.9), called with the C interface of the
//! machine.
//!
//! The types of the arguments are known only when a model is read, so the calls are made by small functions that Cranelift
//! compiles, one for each signature: they load the arguments from an array and call. Integers, Booleans and enumerations
//! are `int`, sizes `size_t`: both travel as 64 bits, of which the callee looks at what it needs.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Type as MachineType, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module};
use dae::Value;
use dae::evaluate::OutsideFunctions;
use dae::function::{External, Type};
use dae::value::Array;
use libloading::Library;
use rustc_hash::FxHashMap;

/// How a value travels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Passing {
    Real,
    /// Numbers without a point and pointers.
    Word,
}

/// What a function takes and gives.
type Signature = (Vec<Passing>, Option<Passing>);

type Trampoline = unsafe extern "C" fn(*const (), *const u64, *mut u64);

/// The shared libraries of one call of the program, in the order in which they are searched.
pub struct SharedLibraries {
    libraries: Vec<(PathBuf, Library)>,
    trampolines: Mutex<FxHashMap<Signature, Trampoline>>,
}

impl SharedLibraries {
    /// Opens the libraries.
    pub fn open(paths: &[PathBuf]) -> Result<Self, String> {
        let mut libraries = Vec::with_capacity(paths.len());
        for path in paths {
            // SAFETY: the user allowed the library, and with it what it does when it is loaded.
            let library = unsafe { Library::new(path) };
            let library = library.map_err(|error| format!("`{}` cannot be loaded: {error}", path.display()))?;
            libraries.push((path.clone(), library));
        }
        Ok(Self { libraries, trampolines: Mutex::default() })
    }

    fn find(&self, symbol: &str) -> Option<*const ()> {
        self.libraries.iter().find_map(|(path, library)| {
            // SAFETY: only the address is taken.
            let found = unsafe { library.get::<*const ()>(symbol.as_bytes()) };
            found.ok().map(|found| *found).filter(|&function| is_of(path, function))
        })
    }

    fn trampoline(&self, signature: &Signature) -> Option<Trampoline> {
        let mut known = self.trampolines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&made) = known.get(signature) {
            return Some(made);
        }
        let made = compile(signature)?;
        known.insert(signature.clone(), made);
        Some(made)
    }
}

/// Whether a function is of the library itself. The linker also finds those of the libraries that it uses, such as
/// `system` of the C library, which the user did not allow.
#[cfg(unix)]
fn is_of(library: &Path, function: *const ()) -> bool {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for; the structure is filled where the answer is not zero.
    let name = unsafe {
        match libc::dladdr(function.cast(), found.as_mut_ptr()) {
            0 => return false,
            _ => found.assume_init().dli_fname,
        }
    };
    if name.is_null() {
        return false;
    }
    // SAFETY: a text of the linker, which lives as long as the library.
    let file = PathBuf::from(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned());
    match library.parent().is_some_and(|folder| !folder.as_os_str().is_empty()) {
        true => {
            library.canonicalize().ok().is_some_and(|library| file.canonicalize().is_ok_and(|file| file == library))
        }
        // Found by the linker under its name alone.
        false => file.file_name() == library.file_name(),
    }
}

#[cfg(not(unix))]
fn is_of(_library: &Path, _function: *const ()) -> bool {
    true
}

impl OutsideFunctions for SharedLibraries {
    fn has(&self, symbol: &str) -> bool {
        self.find(symbol).is_some()
    }

    fn call(&self, external: &External, values: &mut [Value]) -> Result<Option<Value>, String> {
        let symbol = external.symbol.as_str();
        if external.language != "C" {
            return Err(format!("`{symbol}` is a function in {}; only those in C can be called", external.language));
        }
        let function = self.find(symbol).ok_or_else(|| format!("no library that is allowed has `{symbol}`"))?;
        let result = external.result_type.as_ref().map(|ty| returned(ty, symbol)).transpose()?;
        let mut places = Vec::with_capacity(values.len());
        for (position, value) in values.iter().enumerate() {
            let by_reference = external.outputs.get(position).copied().unwrap_or(false);
            places.push(
                CArgument::new(value, by_reference).map_err(|what| format!("`{symbol}` cannot be called: {what}"))?,
            );
        }
        let signature = (places.iter().map(CArgument::passing).collect(), result);
        let trampoline =
            self.trampoline(&signature).ok_or_else(|| format!("no code can be made to call `{symbol}`"))?;
        let words: Vec<u64> = places.iter_mut().map(CArgument::word).collect();
        let mut answer = 0;
        // SAFETY: the trampoline reads as many words as it was made for, which point into `places`; that the function
        // keeps to its declaration is what the user allowed.
        unsafe { trampoline(function, words.as_ptr(), &mut answer) };
        for ((position, value), place) in values.iter_mut().enumerate().zip(places) {
            if external.outputs.get(position).copied().unwrap_or(false) {
                *value = place.read(value)?;
            }
        }
        external.result_type.as_ref().map(|ty| result_value(ty, answer)).transpose()
    }
}

fn returned(ty: &Type, symbol: &str) -> Result<Passing, String> {
    match ty {
        Type::Real => Ok(Passing::Real),
        Type::Integer | Type::Boolean | Type::Enumeration(_) | Type::String | Type::Object(_) => Ok(Passing::Word),
        Type::Record(_) | Type::Function(_) => Err(format!("`{symbol}` returns a record, which is not supported")),
    }
}

fn result_value(ty: &Type, answer: u64) -> Result<Value, String> {
    Ok(match ty {
        Type::Real => Value::Real(f64::from_bits(answer)),
        Type::Boolean => Value::Boolean(answer as c_int != 0),
        Type::Enumeration(_) => Value::Enumeration(i64::from(answer as c_int)),
        Type::String => Value::string(text(answer as *const c_char)?),
        Type::Object(_) => Value::Object(answer),
        _ => Value::Integer(i64::from(answer as c_int)),
    })
}

fn text(pointer: *const c_char) -> Result<String, String> {
    if pointer.is_null() {
        return Err("a text is missing that an external function should give".to_owned());
    }
    // SAFETY: the declaration promises a text that ends with a zero.
    let text = unsafe { CStr::from_ptr(pointer) };
    Ok(text.to_string_lossy().into_owned())
}

/// An argument in the form that C sees. Arrays are stored by rows (12.9.1.1).
enum CArgument {
    Real(f64),
    Word(u64),
    Text(CString),
    Reals(Vec<f64>),
    Integers(Vec<c_int>),
    /// The texts, and the pointers to them.
    Texts(Vec<CString>, Vec<*const c_char>),
    /// Objects as outputs.
    Words(Vec<u64>),
}

impl CArgument {
    fn new(value: &Value, by_reference: bool) -> Result<Self, String> {
        if let Value::Array(array) = value {
            return Self::array(&array.elements);
        }
        if by_reference {
            return Self::array(std::slice::from_ref(value));
        }
        Ok(match value {
            Value::Real(value) => CArgument::Real(*value),
            Value::Integer(value) | Value::Enumeration(value) => CArgument::Word(*value as u64),
            Value::Boolean(value) => CArgument::Word(u64::from(*value)),
            Value::Object(handle) => CArgument::Word(*handle),
            Value::String(value) => CArgument::Text(c_string(value)?),
            _ => return Err("records and functions as arguments are not supported".to_owned()),
        })
    }

    fn array(elements: &[Value]) -> Result<Self, String> {
        let integer = |value: &Value| match value {
            Value::Integer(value) | Value::Enumeration(value) => c_int::try_from(*value).ok(),
            Value::Boolean(value) => Some(c_int::from(*value)),
            _ => None,
        };
        match elements.first() {
            Some(Value::String(_)) => {
                let texts: Vec<CString> =
                    elements.iter().map(|value| c_string(value.as_str().unwrap_or(""))).collect::<Result<_, _>>()?;
                let pointers = texts.iter().map(|text| text.as_ptr()).collect();
                Ok(CArgument::Texts(texts, pointers))
            }
            Some(Value::Object(_)) => Ok(CArgument::Words(
                elements.iter().map(|value| if let Value::Object(handle) = value { *handle } else { 0 }).collect(),
            )),
            Some(Value::Integer(_) | Value::Boolean(_) | Value::Enumeration(_)) => elements
                .iter()
                .map(integer)
                .collect::<Option<_>>()
                .map(CArgument::Integers)
                .ok_or_else(|| "a number is too large for the type `int` of C".to_owned()),
            Some(Value::Record(_) | Value::Function { .. }) => Err("records as arguments are not supported".to_owned()),
            _ => {
                let reals: Option<Vec<f64>> = elements.iter().map(Value::as_real).collect();
                reals.map(CArgument::Reals).ok_or_else(|| "an array has elements of several types".to_owned())
            }
        }
    }

    fn passing(&self) -> Passing {
        if matches!(self, CArgument::Real(_)) { Passing::Real } else { Passing::Word }
    }

    /// The 64 bits that are passed.
    fn word(&mut self) -> u64 {
        match self {
            CArgument::Real(value) => value.to_bits(),
            CArgument::Word(value) => *value,
            CArgument::Text(text) => text.as_ptr() as u64,
            CArgument::Reals(values) => values.as_mut_ptr() as u64,
            CArgument::Integers(values) => values.as_mut_ptr() as u64,
            CArgument::Texts(_, pointers) => pointers.as_mut_ptr() as u64,
            CArgument::Words(values) => values.as_mut_ptr() as u64,
        }
    }

    /// The value behind a reference after the call, of the kind that `before` has.
    fn read(self, before: &Value) -> Result<Value, String> {
        let kind = match before {
            Value::Array(array) => array.elements.first(),
            scalar => Some(scalar),
        };
        let elements: Vec<Value> = match self {
            CArgument::Reals(values) => values.into_iter().map(Value::Real).collect(),
            CArgument::Integers(values) => {
                let value = |number: c_int| match kind {
                    Some(Value::Boolean(_)) => Value::Boolean(number != 0),
                    Some(Value::Enumeration(_)) => Value::Enumeration(i64::from(number)),
                    _ => Value::Integer(i64::from(number)),
                };
                values.into_iter().map(value).collect()
            }
            CArgument::Texts(_texts, pointers) => {
                pointers.into_iter().map(|pointer| text(pointer).map(Value::string)).collect::<Result<_, _>>()?
            }
            CArgument::Words(values) => values.into_iter().map(Value::Object).collect(),
            CArgument::Real(_) | CArgument::Word(_) | CArgument::Text(_) => return Ok(before.clone()),
        };
        Ok(match before {
            Value::Array(array) => Value::Array(Array { sizes: array.sizes.clone(), elements }),
            _ => elements.into_iter().next().unwrap_or_else(|| before.clone()),
        })
    }
}

fn c_string(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| "a text has a zero in it".to_owned())
}

/// Code that calls a function of the signature. It lives as long as the process.
fn compile((arguments, result): &Signature) -> Option<Trampoline> {
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
