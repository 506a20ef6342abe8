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
    fn a_quarter_of_the_way() {
        let line = bar(0.0, 2.0, 0.5, Duration::from_secs(10));
        assert_eq!(line, format!("{}{}  25 %  t = 0.500000, 30 s left", "█".repeat(10), "░".repeat(30)));
        assert!(bar(0.0, 0.0, 0.0, Duration::ZERO).contains("0 %"));
    }
}
