//! The memory of `delay(expression, time, maximum)` (specification 3.7.4.1): the past of one signal.
//!
//! Samples are taken at every accepted step and on both sides of every event, so that a jump comes out of the delay as a
//! jump. Between samples the signal is a straight line. What is older than the longest delay is forgotten.

use std::collections::VecDeque;

/// The past of one signal. Times never decrease; two samples of one time are the left and the right limit.
#[derive(Clone, Debug, Default)]
pub struct DelayBuffer {
    samples: VecDeque<(f64, f64)>,
}

impl DelayBuffer {
    /// Takes a sample and forgets what no delay up to `longest` can reach.
    pub fn record(&mut self, time: f64, value: f64, longest: f64) {
        if self.samples.back() == Some(&(time, value)) {
            return;
        }
        self.samples.push_back((time, value));
        let horizon = time - longest;
        while self.samples.len() > 2 && self.samples[1].0 < horizon {
            self.samples.pop_front();
        }
    }

    /// The signal at `time`. Before the first sample it has its first value (the delay starts out full of it); after the
    /// last one it goes on from the last value to `present`, the value at time `now`.
    pub fn value(&self, time: f64, now: f64, present: f64) -> f64 {
        let after = self.samples.partition_point(|&(sampled, _)| sampled <= time);
        let Some(&left) = after.checked_sub(1).and_then(|index| self.samples.get(index)) else {
            return self.samples.front().map_or(present, |&(_, value)| value);
        };
        let right = self.samples.get(after).copied().unwrap_or((now, present));
        if right.0 <= left.0 {
            return left.1;
        }
        left.1 + (right.1 - left.1) * ((time - left.0) / (right.0 - left.0)).min(1.0)
    }

    /// The first time after `time` at which the signal jumps.
    pub fn next_jump(&self, time: f64) -> Option<f64> {
        let start = self.samples.partition_point(|&(sampled, _)| sampled <= time);
        let pairs = self.samples.range(start..).zip(self.samples.range(start + 1..));
        pairs.into_iter().find(|(left, right)| left.0 == right.0 && left.1 != right.1).map(|(left, _)| left.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp_with_jump() -> DelayBuffer {
        let mut buffer = DelayBuffer::default();
        for (time, value) in [(0.0, 0.0), (1.0, 1.0), (1.0, 5.0), (2.0, 6.0)] {
            buffer.record(time, value, 10.0);
        }
        buffer
    }

    #[test]
    fn interpolates_and_keeps_jumps() {
        let buffer = ramp_with_jump();
        assert_eq!(buffer.value(-1.0, 2.0, 6.0), 0.0);
        assert_eq!(buffer.value(0.5, 2.0, 6.0), 0.5);
        assert_eq!(buffer.value(1.0, 2.0, 6.0), 5.0);
        assert_eq!(buffer.value(1.5, 2.0, 6.0), 5.5);
        assert_eq!(buffer.value(2.5, 3.0, 8.0), 7.0);
    }

    #[test]
    fn finds_the_next_jump() {
        let buffer = ramp_with_jump();
        assert_eq!(buffer.next_jump(0.2), Some(1.0));
        assert_eq!(buffer.next_jump(1.0), None);
    }

    #[test]
    fn forgets_what_is_out_of_reach() {
        let mut buffer = DelayBuffer::default();
        (0..10_000).for_each(|k| buffer.record(k as f64, 0.5 * k as f64, 3.0));
        assert!(buffer.samples.len() < 8);
        assert_eq!(buffer.value(9996.5, 9999.0, 4999.5), 4998.25);
    }
}
