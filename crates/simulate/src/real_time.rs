//! Runs that keep pace with the clock on the wall: a step that is done before its time waits; one that is late is counted,
//! and the next ones make up for it without waiting.

use std::time::{Duration, Instant};

use crate::watcher::Watcher;

/// Somebody who wants to end the run is heard this often.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// How well a run kept pace.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Punctuality {
    /// Steps that were done after their time.
    pub overruns: u64,
    /// The longest delay in seconds, and the time of the model at the end of that step.
    pub latest: f64,
    /// The time of the model at which a step was latest.
    pub latest_at: f64,
}

pub struct Pace {
    begun: Instant,
    start: f64,
    pub punctuality: Punctuality,
}

impl Pace {
    /// The clock starts now, at this time of the model.
    pub fn new(start: f64) -> Self {
        Self { begun: Instant::now(), start, punctuality: Punctuality::default() }
    }

    /// Waits until the wall clock has reached the time of the model; `false` when somebody ends the run meanwhile.
    pub fn keep(&mut self, time: f64, watcher: &mut dyn Watcher) -> bool {
        let due = Duration::try_from_secs_f64(time - self.start).unwrap_or(Duration::ZERO);
        let now = self.begun.elapsed();
        if now > due {
            let late = (now - due).as_secs_f64();
            self.punctuality.overruns += 1;
            if late > self.punctuality.latest {
                (self.punctuality.latest, self.punctuality.latest_at) = (late, time);
            }
            return true;
        }
        loop {
            let left = due.saturating_sub(self.begun.elapsed());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(LONGEST_SLEEP));
            if !watcher.progress(time) {
                return false;
            }
        }
    }
}
