//! Who looks on while a program runs.

/// Watches the progress of a run, and may end it.
pub trait Watcher {
    /// `false` ends the run.
    fn progress(&mut self, time: f64) -> bool;
}

impl<F: FnMut(f64) -> bool> Watcher for F {
    fn progress(&mut self, time: f64) -> bool {
        self(time)
    }
}
