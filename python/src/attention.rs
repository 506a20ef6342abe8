//! A run pays attention to Python now and then: signals such as that of Ctrl-C, and a callback that hears how far it has come.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How often a run looks for signals.
pub const ATTENTION: Duration = Duration::from_millis(100);

/// What a run without Python's lock asks before each step.
pub struct Attention<'a> {
    callback: Option<&'a Py<PyAny>>,
    last: Instant,
    raised: Option<PyErr>,
}

impl<'a> Attention<'a> {
    pub fn new(callback: Option<&'a Py<PyAny>>) -> Self {
        Self { callback, last: Instant::now(), raised: None }
    }

    /// Whether the run goes on: no signal came, and the callback wants it to.
    pub fn go_on(&mut self, time: f64) -> bool {
        if self.callback.is_none() && self.last.elapsed() < ATTENTION {
            return true;
        }
        self.last = Instant::now();
        let answer = Python::attach(|py| {
            py.check_signals()?;
            let Some(callback) = self.callback else { return Ok(true) };
            let answer = callback.call1(py, (time,))?;
            Ok(answer.is_none(py) || answer.is_truthy(py)?)
        });
        answer.unwrap_or_else(|error| {
            self.raised = Some(error);
            false
        })
    }

    /// What was raised meanwhile.
    pub fn raised(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }
}
