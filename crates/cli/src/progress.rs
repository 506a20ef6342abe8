//! A bar on standard error for runs longer than a second, when a person is watching.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

pub struct Progress {
    start: f64,
    stop: f64,
    begin: Instant,
    next: Instant,
    visible: bool,
    shown: bool,
}

const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(100);
const WIDTH: usize = 40;

impl Progress {
    /// For a run from one time to another.
    pub fn new(start: f64, stop: f64, quiet: bool) -> Self {
        let begin = Instant::now();
        let visible = !quiet && std::io::stderr().is_terminal();
        Self { start, stop, begin, next: begin + PATIENCE, visible, shown: false }
    }

    pub fn at(&mut self, time: f64) {
        if !self.visible {
            return;
        }
        let now = Instant::now();
        if now >= self.next {
            self.next = now + PAUSE;
            self.shown = true;
            let line = bar(self.start, self.stop, time, now - self.begin);
            let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
        }
    }

    /// Removes the bar.
    pub fn end(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// The same for many runs, with how many there are a second.
pub struct CountProgress {
    count: usize,
    /// Those that were there at the beginning.
    before: usize,
    begin: Instant,
    next: Instant,
    visible: bool,
    shown: bool,
}

impl CountProgress {
    pub fn new(count: usize, before: usize, quiet: bool) -> Self {
        let begin = Instant::now();
        let visible = !quiet && std::io::stderr().is_terminal();
        Self { count, before, begin, next: begin + PATIENCE, visible, shown: false }
    }

    pub fn at(&mut self, done: usize) {
        let now = Instant::now();
        if self.visible && now >= self.next {
            self.next = now + PAUSE;
            self.shown = true;
            let line = count_bar(self.count, self.before, done, now - self.begin);
            let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
        }
    }

    /// Removes the bar.
    pub fn end(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn count_bar(count: usize, before: usize, done: usize, elapsed: Duration) -> String {
    let fraction = done as f64 / count.max(1) as f64;
    let full = ((fraction * WIDTH as f64) as usize).min(WIDTH);
    let rate = (done - before.min(done)) as f64 / elapsed.as_secs_f64().max(1e-9);
    let left = if rate > 0.0 { duration((count - done.min(count)) as f64 / rate) } else { "?".to_owned() };
    let rate = if rate >= 10.0 { format!("{rate:.0}") } else { format!("{rate:.1}") };
    format!("{}{} {done} of {count}  {rate} a second, {left} left", "█".repeat(full), "░".repeat(WIDTH - full))
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn bar(start: f64, stop: f64, time: f64, elapsed: Duration) -> String {
    let fraction = ((time - start) / (stop - start)).clamp(0.0, 1.0);
    let fraction = if fraction.is_finite() { fraction } else { 0.0 };
    let full = (fraction * WIDTH as f64) as usize;
    let left = if fraction > 0.0 { elapsed.as_secs_f64() * (1.0 - fraction) / fraction } else { f64::INFINITY };
    let left = if left.is_finite() { format!(", {left:.0} s left") } else { String::new() };
    let percent = fraction * 100.0;
    format!("{}{} {percent:3.0} %  t = {time:.6}{left}", "█".repeat(full), "░".repeat(WIDTH - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_runs() {
        let line = count_bar(200, 50, 100, Duration::from_secs(25));
        assert_eq!(line, format!("{}{} 100 of 200  2.0 a second, 50 s left", "█".repeat(20), "░".repeat(20)));
        assert_eq!(duration(600.0), "10 min");
        assert!(count_bar(0, 0, 0, Duration::ZERO).contains("0 of 0"));
    }

    #[test]
    fn a_quarter_of_the_way() {
        let line = bar(0.0, 2.0, 0.5, Duration::from_secs(10));
        assert_eq!(line, format!("{}{}  25 %  t = 0.500000, 30 s left", "█".repeat(10), "░".repeat(30)));
        assert!(bar(0.0, 0.0, 0.0, Duration::ZERO).contains("0 %"));
    }
}
