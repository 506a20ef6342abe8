//! Time of a thread without what it waits for a processor, which other programs have (Linux, `schedstat`; elsewhere all time counts).
#![allow(dead_code)] // Not every benchmark takes all of it.

use std::time::Instant;

/// Seconds.
#[derive(Clone, Copy, Default)]
pub struct Took {
    pub elapsed: f64,
    /// Without waiting for a processor.
    pub running: f64,
    pub computing: f64,
}

impl Took {
    pub fn and(self, other: Self) -> Self {
        Self {
            elapsed: self.elapsed + other.elapsed,
            running: self.running + other.running,
            computing: self.computing + other.computing,
        }
    }

    pub fn longest(self, other: Self) -> Self {
        Self {
            elapsed: self.elapsed.max(other.elapsed),
            running: self.running.max(other.running),
            computing: self.computing.max(other.computing),
        }
    }
}

/// Of one thread.
pub struct Clock {
    begin: Instant,
    computing: f64,
    waiting: f64,
}

impl Clock {
    pub fn start() -> Self {
        // Waiting between the two clocks counts as running: no time is too short.
        let begin = Instant::now();
        let (computing, waiting) = scheduled();
        Self { begin, computing, waiting }
    }

    pub fn took(self) -> Took {
        let (computing, waiting) = scheduled();
        let elapsed = self.begin.elapsed().as_secs_f64();
        Took { elapsed, running: elapsed - (waiting - self.waiting), computing: computing - self.computing }
    }
}

/// Seconds that this thread has computed and waited for a processor; zero where the system does not tell.
fn scheduled() -> (f64, f64) {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let mut numbers = text.split_whitespace().map(|number| number.parse().unwrap_or(0.0) * 1e-9);
    (numbers.next().unwrap_or(0.0), numbers.next().unwrap_or(0.0))
}
