//! External functions that the user allowed (specification 12.9), called with the C interface of the machine: those of shared
//! libraries, and those whose C code comes with a library and is compiled here.

#![allow(unsafe_code)]

mod arguments;
mod compiler;
mod crash;
mod library;
mod record;
mod trampoline;
mod unit;
mod utilities;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base::Name;
use dae::Value;
use dae::evaluate::OutsideFunctions;
use dae::function::{External, ExternalSource, Type};
use libloading::Library;
use rustc_hash::FxHashMap;

use arguments::{CArgument, Language, result_value, returned};
use compiler::Compiler;
use record::Structs;
use trampoline::{Signature, Trampoline};
use unit::Unit;
use utilities::Utilities;

/// What code of others a model may call.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ExternalCode {
    /// Shared libraries, in the order in which they are searched.
    pub libraries: Vec<PathBuf>,
    /// Whether the C code of Modelica libraries is compiled and called.
    pub build: bool,
}

/// The outside functions of one call of the program.
pub struct Outside {
    libraries: Vec<(PathBuf, Library)>,
    trampolines: Mutex<FxHashMap<Signature, Trampoline>>,
    compiler: Option<Compiler>,
    utilities: Option<&'static Utilities>,
    built: Mutex<Built>,
}

/// A clause in the text: what is called, and where its code is.
type Clause = (Name, usize);

/// What was compiled.
#[derive(Default)]
struct Built {
    /// What the run calls: all functions of one library are compiled together and share what they keep.
    prepared: FxHashMap<Clause, Caller>,
    /// What was called while the model was translated, each compiled alone.
    early: FxHashMap<Clause, Caller>,
    units: usize,
    /// Which unit made an object.
    objects: FxHashMap<u64, usize>,
}

#[derive(Clone)]
struct Caller {
    code: Trampoline,
    unit: usize,
    /// Its address stands for the clause, so it must not be used again.
    _source: Arc<ExternalSource>,
}

impl Outside {
    /// Opens libraries and finds the compiler.
    pub fn open(allowed: &ExternalCode) -> Result<Self, String> {
        let mut outside = Self {
            libraries: Vec::with_capacity(allowed.libraries.len()),
            trampolines: Mutex::default(),
            compiler: None,
            utilities: None,
            built: Mutex::default(),
        };
        if allowed.build || !allowed.libraries.is_empty() {
            crash::watch();
        }
        if allowed.build {
            let compiler = Compiler::find()?;
            outside.utilities = Some(Utilities::get(&compiler)?);
            outside.compiler = Some(compiler);
        }
        for path in &allowed.libraries {
            let library = library::open(path, library::Visibility::Local).or_else(|reason| {
                // Perhaps it calls the functions of `ModelicaUtilities.h`, which are made by the C compiler.
                if outside.utilities.is_some() || !path.exists() {
                    return Err(reason);
                }
                let utilities = Compiler::find().and_then(|compiler| Utilities::get(&compiler));
                outside.utilities = Some(utilities.map_err(|missing| format!("{reason} ({missing})"))?);
                library::open(path, library::Visibility::Local)
            })?;
            outside.libraries.push((path.clone(), library));
        }
        Ok(outside)
    }

    /// A function of an allowed library, with the file of the library.
    fn find(&self, symbol: &str) -> Option<(&Path, *const ())> {
        self.libraries.iter().find_map(|(path, library)| Some((path.as_path(), library::find(path, library, symbol)?)))
    }

    fn trampoline(&self, signature: &Signature) -> Option<Trampoline> {
        let mut known = self.trampolines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&made) = known.get(signature) {
            return Some(made);
        }
        let made = trampoline::compile(signature)?;
        known.insert(signature.clone(), made);
        Some(made)
    }

    /// Compiles functions of one library together.
    fn build(&self, functions: &[Arc<External>], number: usize) -> Result<Vec<Caller>, String> {
        let compiler = self.compiler.as_ref().ok_or("its code was not allowed to be compiled")?;
        let utilities = Utilities::get(compiler)?;
        let package = functions.first().map_or("", |function| &*function.source.package);
        let file = compiler.make(&Unit::new(package, functions, utilities)?.job())?;
        let library = library::open(&file, library::Visibility::Local)?;
        let mut callers = Vec::with_capacity(functions.len());
        for (position, function) in functions.iter().enumerate() {
            // SAFETY: the text of the unit has a function of this name and type.
            let code = unsafe { library.get::<Trampoline>(unit::caller(position).as_bytes()).map(|code| *code) };
            let code = code.map_err(|error| error.to_string())?;
            callers.push(Caller { code, unit: number, _source: function.source.clone() });
        }
        // Objects may be freed by its code at any time.
        std::mem::forget(library);
        Ok(callers)
    }

    /// The compiled code that calls a function.
    fn caller(&self, external: &External, values: &[Value]) -> Result<Caller, String> {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let clause = clause(external);
        if let Some(known) = built.prepared.get(&clause) {
            return Ok(known.clone());
        }
        // What an object is made of may be known to its unit alone.
        let made_in = values.iter().find_map(|value| match value {
            Value::Object(address) => built.objects.get(address).copied(),
            _ => None,
        });
        if let Some(known) = built.early.get(&clause).filter(|known| made_in.is_none_or(|unit| unit == known.unit)) {
            return Ok(known.clone());
        }
        if made_in.is_some() {
            return Err(
                "an external object can be used only when the model runs, not while it is translated".to_owned()
            );
        }
        built.units += 1;
        let number = built.units;
        let function = Arc::new(external.clone());
        let functions: Vec<Arc<External>> = [function].into_iter().chain(external.destructor.clone()).collect();
        let callers = self.build(&functions, number)?;
        let own = callers.first().cloned().ok_or("nothing was compiled")?;
        built.early.extend(functions.iter().map(|function| self::clause(function)).zip(callers));
        Ok(own)
    }

    fn call_words(
        &self,
        external: &External,
        values: &[Value],
        places: &mut [CArgument],
        say: &mut dyn FnMut(&str),
    ) -> Result<(Option<Value>, Vec<Option<Value>>), String> {
        let language = Language::of(external.language.as_str())?;
        let found = self.find(&language.symbol(external.symbol.as_str()));
        let (code, function) = match found {
            Some((_, function)) => {
                let result = external.result_type.as_ref().map(returned).transpose()?;
                let signature = (places.iter().map(CArgument::passing).collect(), result);
                (self.trampoline(&signature).ok_or("no code can be made that calls it")?, function)
            }
            None => (self.caller(external, values)?.code, std::ptr::null()),
        };
        let words: Vec<u64> = places.iter_mut().map(CArgument::word).collect();
        let mut answer = 0;
        let mut record = match &external.result_type {
            Some(Type::Record(record)) => Some(Structs::room(record, 1)?),
            _ => None,
        };
        let place = record.as_mut().map_or(&raw mut answer, Structs::pointer);
        let read = || {
            let mut outputs = Vec::with_capacity(values.len());
            for (position, (value, argument)) in values.iter().zip(&*places).enumerate() {
                let is_output = external.outputs.get(position).copied().unwrap_or(false);
                outputs.push(if is_output {
                    Some(argument.read(value, external.argument_types.get(position), language)?)
                } else {
                    None
                });
            }
            // SAFETY: the code has written it, or nobody.
            let answer = unsafe { place.read() };
            let result = match (&record, &external.result_type) {
                (Some(record), _) => Some(record.read(0)?),
                (None, Some(ty)) => Some(result_value(ty, answer)?),
                (None, None) => None,
            };
            Ok((result, outputs))
        };
        let library = found.map_or(Cow::Borrowed(&*external.source.package), |(path, _)| path.to_string_lossy());
        let _watched = crash::Watched::begin(external.symbol.as_str(), &library);
        // SAFETY: the code reads as many words as it was made for, which point into `places`; that the function keeps to
        // its declaration is what the user allowed.
        unsafe {
            match self.utilities {
                Some(utilities) => utilities.call(code, function, (&words, place), say, read),
                None => {
                    code(function, words.as_ptr(), place);
                    read()
                }
            }
        }
    }
}

fn clause(external: &External) -> Clause {
    (external.symbol, Arc::as_ptr(&external.source) as usize)
}

impl OutsideFunctions for Outside {
    fn has(&self, external: &External) -> bool {
        let language = Language::of(external.language.as_str());
        let in_library = language.is_ok_and(|language| self.find(&language.symbol(external.symbol.as_str())).is_some());
        in_library || self.compiler.is_some()
    }

    fn prepare(&self, externals: &[Arc<External>]) -> Vec<(usize, String)> {
        let mut packages: Vec<(&str, Vec<usize>)> = Vec::new();
        let mut known = Vec::new();
        for (position, external) in externals.iter().enumerate() {
            let symbol =
                Language::of(external.language.as_str()).map(|language| language.symbol(external.symbol.as_str()));
            if symbol.is_ok_and(|symbol| self.find(&symbol).is_some()) || known.contains(&clause(external)) {
                continue;
            }
            known.push(clause(external));
            let package = &*external.source.package;
            match packages.iter_mut().find(|(name, _)| *name == package) {
                Some((_, positions)) => positions.push(position),
                None => packages.push((package, vec![position])),
            }
        }
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let mut failed = Vec::new();
        for (_, positions) in packages {
            built.units += 1;
            let functions: Vec<Arc<External>> = positions.iter().map(|&position| externals[position].clone()).collect();
            match self.build(&functions, built.units) {
                Ok(callers) => {
                    built.prepared.extend(functions.iter().map(|function| clause(function)).zip(callers));
                }
                Err(reason) => {
                    // The one that is named, where one is.
                    let named = positions.iter().find(|&&at| reason.contains(externals[at].symbol.as_str()));
                    failed.push((*named.unwrap_or(&positions[0]), reason));
                }
            }
        }
        failed
    }

    fn call(
        &self,
        external: &External,
        values: &mut [Value],
        say: &mut dyn FnMut(&str),
    ) -> Result<Option<Value>, String> {
        let fault = |what: String| format!("the external function `{}` failed: {what}", external.symbol);
        let language = Language::of(external.language.as_str()).map_err(fault)?;
        let mut places = Vec::with_capacity(values.len());
        for (position, value) in values.iter().enumerate() {
            let is_output = external.outputs.get(position).copied().unwrap_or(false);
            let ty = external.argument_types.get(position);
            places.push(CArgument::new(value, ty, is_output, language).map_err(fault)?);
        }
        let (result, outputs) = self.call_words(external, values, &mut places, say).map_err(fault)?;
        for (value, output) in values.iter_mut().zip(outputs) {
            if let Some(output) = output {
                *value = output;
            }
        }
        if self.compiler.is_some() {
            self.remember_objects(external, values.iter().chain(&result));
        }
        Ok(result)
    }
}

impl Outside {
    /// Notes which unit made an object while the model is translated.
    fn remember_objects<'v>(&self, external: &External, values: impl Iterator<Item = &'v Value>) {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let clause = clause(external);
        let Some(unit) = built.early.get(&clause).map(|known| known.unit) else { return };
        if built.prepared.contains_key(&clause) {
            return;
        }
        for value in values {
            if let Value::Object(address) = value {
                built.objects.insert(*address, unit);
            }
        }
    }
}
