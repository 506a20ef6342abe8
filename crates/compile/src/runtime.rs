//! What running code asks of its surroundings: function calls and delays.

use crate::interpret::Host;
use crate::lower::{CallEntry, Strings};
use crate::memory::{DelayBuffer, Memory};
use crate::program::Program;

pub struct Runtime<'a> {
    pub program: &'a Program,
    pub calls: &'a [CallEntry],
    pub strings: &'a mut Strings,
    pub delays: &'a [DelayBuffer],
    pub failure: &'a mut Option<String>,
}

impl<'a> Runtime<'a> {
    /// Splits memory into the numbers, which code works on, and the rest.
    pub fn new(program: &'a Program, calls: &'a [CallEntry], memory: &'a mut Memory) -> (&'a mut Vec<f64>, Self) {
        let Memory { values, strings, delays, call_failure } = memory;
        (values, Runtime { program, calls, strings, delays, failure: call_failure })
    }
}

impl Host for Runtime<'_> {
    fn call(&mut self, call: u32, values: &mut [f64], arguments: u32, results: u32) {
        let entry = self.calls[call as usize];
        let name = self.program.model().functions[self.program.model().exprs.call_site(entry.site).function].name;
        let _ = arguments;
        *self.failure = Some(format!("the function {name} cannot be called yet"));
        values[results as usize..(results + entry.results) as usize].fill(f64::NAN);
    }

    fn delay(&mut self, delay: u32, time: f64, value: f64, delay_time: f64) -> f64 {
        self.delays[delay as usize].at(time, value, delay_time)
    }
}
