//! What running code asks of its surroundings: function calls and delays.

use std::sync::{Arc, Mutex};

use dae::evaluate::Externals;

use crate::call;
use crate::interpret::Host;
use crate::lower::{CallEntry, Strings};
use crate::memory::{DelayBuffer, Memory};
use crate::program::Program;

/// Functions in other languages, shared by copies of a memory.
pub type SharedExternals = Arc<Mutex<dyn Externals + Send>>;

pub struct Runtime<'a> {
    pub program: &'a Program,
    pub calls: &'a [CallEntry],
    pub strings: &'a mut Strings,
    pub delays: &'a [DelayBuffer],
    pub externals: &'a SharedExternals,
    pub failure: &'a mut Option<String>,
    /// Of the numbers, for machine code.
    pub length: usize,
}

impl<'a> Runtime<'a> {
    /// Splits memory into the numbers, which code works on, and the rest.
    pub fn new(program: &'a Program, calls: &'a [CallEntry], memory: &'a mut Memory) -> (&'a mut Vec<f64>, Self) {
        let Memory { values, strings, delays, externals, call_failure } = memory;
        (values, Runtime { program, calls, strings, delays, externals, failure: call_failure, length: 0 })
    }
}

impl Host for Runtime<'_> {
    fn call(&mut self, call: u32, values: &mut [f64], arguments: u32, results: u32) {
        let entry = self.calls[call as usize];
        let model = self.program.model();
        let site = model.exprs.call_site(entry.site);
        let (arguments, results) = (arguments as usize, results as usize);
        let (given, wanted) = (entry.arguments as usize, entry.results as usize);
        let mut externals = self.externals.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let externals: &mut dyn Externals = &mut *externals;
        let mut out = vec![f64::NAN; wanted];
        let outcome = if entry.tangent {
            let given = &values[arguments..arguments + 2 * given];
            call::evaluate_tangent(
                &model.functions,
                site,
                entry.tangent_function,
                self.strings,
                externals,
                given,
                &mut out,
            )
        } else {
            let given = &values[arguments..arguments + given];
            call::evaluate(&model.functions, site, self.strings, externals, given, &mut out)
        };
        if let Err(message) = outcome {
            out.fill(f64::NAN);
            *self.failure = Some(message);
        }
        let start = if entry.tangent { results + wanted } else { results };
        values[start..start + wanted].copy_from_slice(&out);
    }

    fn delay(&mut self, delay: u32, time: f64, value: f64, delay_time: f64) -> f64 {
        self.delays[delay as usize].at(time, value, delay_time)
    }
}
