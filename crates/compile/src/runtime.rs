//! What running code asks of its surroundings: function calls and delays.

use base::Id;
use dae::evaluate::{Compiled, Externals};

use crate::call::{self, Surroundings};
use crate::code::{ChunkId, NativeCall, Source};
use crate::interpret::{self, Host};
use crate::layout::IMPATIENCE;
use crate::lower::CallEntry;
use crate::memory::{History, Memory, SharedNative};
use crate::program::Program;
use crate::quick::SharedQuick;
use crate::strings::Strings;

pub struct Runtime<'a> {
    pub program: &'a Program,
    pub calls: &'a [CallEntry],
    pub strings: &'a mut Strings,
    pub delays: &'a [History],
    pub native: &'a SharedNative,
    pub failure: &'a mut Option<String>,
    pub quick: &'a mut SharedQuick,
    /// Of the numbers, for machine code.
    pub length: usize,
    /// Calls go to the evaluator, which knows why a function fails.
    pub diagnose: bool,
}

impl<'a> Runtime<'a> {
    /// Splits memory into the numbers, which code works on, and the rest.
    pub fn new(program: &'a Program, calls: &'a [CallEntry], memory: &'a mut Memory) -> (&'a mut Vec<f64>, Self) {
        let Memory { values, strings, delays, native, call_failure, quick, .. } = memory;
        let (failure, length, diagnose) = (call_failure, 0, false);
        (values, Runtime { program, calls, strings, delays, native, failure, quick, length, diagnose })
    }
}

impl Runtime<'_> {
    /// Tangents by differences of the function's own code.
    fn difference(
        &mut self,
        entry: &CallEntry,
        native: &NativeCall,
        values: &mut [f64],
        arguments: usize,
        results: usize,
    ) {
        let (given, wanted) = (entry.arguments as usize, entry.results as usize);
        let point = values[arguments..arguments + given].to_vec();
        let direction = values[arguments + given..arguments + 2 * given].to_vec();
        let mut tangents = vec![f64::NAN; wanted];
        let mut value = |moved: &[f64], side: &mut [f64]| {
            for &(argument, to) in &native.inputs {
                values[to as usize] = moved[argument as usize];
            }
            self.invoke(native.chunk.index() as u32, values);
            for (result, source) in side.iter_mut().zip(&native.outputs) {
                *result = match *source {
                    Source::At(address) => values[address as usize],
                    Source::Known(value) => value,
                };
            }
            Ok(())
        };
        // The code of a function gives NaN where it fails, no error.
        let _ = call::difference(&mut value, &point, &direction, &mut tangents);
        values[results + wanted..results + 2 * wanted].copy_from_slice(&tangents);
    }

    /// Interprets a chunk; loops that take long become machine code first, and begin anew there.
    pub fn interpret(&mut self, chunk: ChunkId, values: &mut [f64]) {
        let program = self.program;
        let ops = &program.chunks[chunk].ops;
        if interpret::run_unless_long(ops, values, self) {
            return;
        }
        program.compile_chunk(chunk);
        if !program.machine.run(chunk, values, self) {
            interpret::run(ops, values, self);
        }
    }
}

impl Host for Runtime<'_> {
    fn call(&mut self, call: u32, values: &mut [f64], arguments: u32, results: u32) {
        let entry = &self.calls[call as usize];
        if let (Some(native), false) = (&entry.native, self.diagnose) {
            for &(argument, to) in &native.inputs {
                values[to as usize] = values[(arguments + argument) as usize];
            }
            self.invoke(native.chunk.index() as u32, values);
            let start = if entry.tangent { results + entry.results } else { results };
            for (to, source) in (start..).zip(&native.outputs) {
                values[to as usize] = match *source {
                    Source::At(address) => values[address as usize],
                    Source::Known(value) => value,
                };
            }
            return;
        }
        if let (Some(native), false) = (&entry.differenced, self.diagnose) {
            self.difference(entry, native, values, arguments as usize, results as usize);
            return;
        }
        let model = self.program.model();
        let site = model.exprs.call_site(entry.site);
        let (arguments, results) = (arguments as usize, results as usize);
        let (given, wanted) = (entry.arguments as usize, entry.results as usize);
        let mut externals = self.native.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let start = if entry.tangent { results + wanted } else { results };
        if let Some(lookup) = &entry.lookup {
            values[start] = match lookup.call(&externals, &values[arguments..]) {
                Ok(value) => value,
                Err(message) => {
                    // What fails later mostly does so because of the first.
                    self.failure.get_or_insert(message);
                    f64::NAN
                }
            };
            return;
        }
        let mut out = vec![f64::NAN; wanted];
        let mut impatience = values[IMPATIENCE as usize];
        let externals: &mut dyn Externals = &mut *externals;
        let quick = (!self.diagnose).then_some(&mut *self.quick as &mut dyn Compiled);
        let surroundings = Surroundings { externals, quick, impatience: &mut impatience };
        let outcome = if entry.tangent {
            let given = &values[arguments..arguments + 2 * given];
            call::evaluate_tangent(
                &model.functions,
                site,
                entry.tangent_function.as_ref().map(|(function, taken)| (*function, &taken[..])),
                self.strings,
                surroundings,
                given,
                &mut out,
            )
        } else {
            let given = &values[arguments..arguments + given];
            call::evaluate(&model.functions, site, self.strings, surroundings, given, &mut out)
        };
        values[IMPATIENCE as usize] = impatience;
        if let Err(message) = outcome {
            out.fill(f64::NAN);
            self.failure.get_or_insert(message);
        }
        values[start..start + wanted].copy_from_slice(&out);
    }

    fn invoke(&mut self, chunk: u32, values: &mut [f64]) {
        let (program, chunk) = (self.program, ChunkId::from_index(chunk as usize));
        if !program.machine.run(chunk, values, self) {
            self.interpret(chunk, values);
        }
    }

    fn delay(&mut self, delay: u32, time: f64, value: f64, delay_time: f64) -> f64 {
        let (index, end) = self.program.layout.history(delay);
        match &self.delays[index] {
            History::Past(buffer) => buffer.at(time, value, delay_time),
            History::Profile(profile) => profile.outflow(end, delay_time, value),
        }
    }
}
