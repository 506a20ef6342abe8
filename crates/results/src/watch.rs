//! Looks at a run from outside: how far it is, and whether somebody wants it to stop.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Column, ResultError, ResultSink};

/// Hands every row on, tells its time, and ends the run in order after a row when `stop` is set.
pub struct WatchSink<'a, S> {
    inner: S,
    stop: &'a AtomicBool,
    progress: Box<dyn FnMut(f64) + 'a>,
}

impl<'a, S: ResultSink> WatchSink<'a, S> {
    pub fn new(inner: S, stop: &'a AtomicBool, progress: impl FnMut(f64) + 'a) -> Self {
        Self { inner, stop, progress: Box::new(progress) }
    }

    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: ResultSink> ResultSink for WatchSink<'_, S> {
    fn begin(&mut self, columns: &[Column]) -> Result<(), ResultError> {
        self.inner.begin(columns)
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        self.inner.row(time, values)?;
        (self.progress)(time);
        if self.stop.load(Ordering::Relaxed) { Err(ResultError::Interrupted) } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        self.inner.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySink;

    #[test]
    fn the_row_in_which_the_run_is_stopped_is_kept() {
        let stop = AtomicBool::new(false);
        let mut times = Vec::new();
        let mut sink = WatchSink::new(MemorySink::default(), &stop, |time| times.push(time));
        sink.begin(&[Column::new("x")]).unwrap();
        sink.row(0.0, &[1.0]).unwrap();
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(sink.row(1.0, &[2.0]), Err(ResultError::Interrupted)));
        assert_eq!(sink.into_inner().trajectories.time, [0.0, 1.0]);
        assert_eq!(times, [0.0, 1.0]);
    }
}
