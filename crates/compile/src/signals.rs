//! Inputs that are given as functions of time: pieces that are linear between knots, with jumps between the pieces.
//!
//! Memory shows one piece at a time, so that no evaluation sees what lies behind a jump before the event there is passed,
//! and none sees the piece before it afterwards. At the instant of a jump both limits can be had in this way.

use std::sync::Arc;

use dae::{Model, VarId, VariableType};

use crate::code::Address;
use crate::layout::{Layout, TIME};
use crate::math::truth;

/// One input over time. Before its first and behind its last knot it keeps the values there.
#[derive(Clone, PartialEq, Debug)]
pub struct Signal {
    /// The input.
    pub variable: VarId,
    times: Vec<f64>,
    values: Vec<f64>,
    /// The place of the first knot of each piece.
    first: Vec<usize>,
    /// The times at which the second piece and those after it begin.
    jumps: Vec<f64>,
}

impl Signal {
    /// Straight lines between rows in order of time; two rows of equal time are the limits at a jump.
    pub fn linear(variable: VarId, rows: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut signal = Self::empty(variable);
        for (time, value) in rows {
            let count = signal.times.len();
            match signal.times.last() {
                Some(&last) if last == time => {
                    let is_jump = signal.jumps.last() == Some(&time);
                    match (is_jump, signal.values[count - 1] == value) {
                        (_, true) => {}
                        // Of several rows at a jump the last one is the right limit.
                        (true, false) => signal.values[count - 1] = value,
                        (false, false) => signal.begin_piece(time, value),
                    }
                }
                _ => signal.push(time, value),
            }
        }
        signal
    }

    /// Values that are held until the next row; of rows at one time the last one counts, and before the first time the first.
    pub fn held(variable: VarId, rows: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut signal = Self::empty(variable);
        for (time, value) in rows {
            let (count, last) = (signal.times.len(), signal.times.last().copied());
            if count == 0 {
                signal.push(time, value);
            } else if last == Some(time) && signal.jumps.last() == Some(&time) {
                signal.values[count - 1] = value;
            } else if signal.values[count - 1] != value {
                signal.begin_piece(time, value);
            }
        }
        signal
    }

    fn empty(variable: VarId) -> Self {
        Self { variable, times: Vec::new(), values: Vec::new(), first: vec![0], jumps: Vec::new() }
    }

    fn push(&mut self, time: f64, value: f64) {
        self.times.push(time);
        self.values.push(value);
    }

    fn begin_piece(&mut self, time: f64, value: f64) {
        self.first.push(self.times.len());
        self.jumps.push(time);
        self.push(time, value);
    }

    /// The piece after all jumps up to a time.
    fn piece(&self, passed: f64) -> usize {
        self.jumps.partition_point(|&jump| jump <= passed)
    }

    /// The value in a piece; beyond its ends it keeps the values there.
    fn at(&self, piece: usize, time: f64) -> f64 {
        let begin = self.first[piece];
        let end = self.first.get(piece + 1).copied().unwrap_or(self.times.len());
        let (times, values) = (&self.times[begin..end], &self.values[begin..end]);
        let after = times.partition_point(|&knot| knot <= time);
        match after {
            0 => values.first().copied().unwrap_or(0.0),
            _ if after == times.len() => values[after - 1],
            _ => {
                let (t0, t1) = (times[after - 1], times[after]);
                let (y0, y1) = (values[after - 1], values[after]);
                y0 + (y1 - y0) * ((time - t0) / (t1 - t0))
            }
        }
    }

    /// The slope in a piece just behind a time, or just before it; zero beyond its ends.
    fn slope(&self, piece: usize, time: f64, behind: bool) -> f64 {
        let begin = self.first[piece];
        let end = self.first.get(piece + 1).copied().unwrap_or(self.times.len());
        let (times, values) = (&self.times[begin..end], &self.values[begin..end]);
        let after = times.partition_point(|&knot| if behind { knot <= time } else { knot < time });
        match after {
            0 => 0.0,
            _ if after == times.len() => 0.0,
            _ => (values[after] - values[after - 1]) / (times[after] - times[after - 1]),
        }
    }

    /// The times inside of pieces at which the slope changes, the ends included.
    fn kinks(&self) -> Vec<f64> {
        let mut kinks = Vec::new();
        for (piece, &begin) in self.first.iter().enumerate() {
            let end = self.first.get(piece + 1).copied().unwrap_or(self.times.len());
            let slope = |from: usize| match from.checked_add(1) {
                Some(to) if to < end => (self.values[to] - self.values[from]) / (self.times[to] - self.times[from]),
                _ => 0.0,
            };
            for knot in begin..end {
                let before = if knot == begin { 0.0 } else { slope(knot - 1) };
                let after = slope(knot);
                let is_jump = knot == begin && piece > 0 || knot + 1 == end && end < self.times.len();
                let is_straight = (before - after).abs() <= 1e-12 * (before.abs() + after.abs());
                if !is_jump && !is_straight {
                    kinks.push(self.times[knot]);
                }
            }
        }
        kinks
    }
}

/// The inputs of a run that are given as functions of time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Signals {
    signals: Vec<Signal>,
    /// Where one of them jumps, and where one changes its slope, in order.
    jumps: Vec<f64>,
    kinks: Vec<f64>,
}

impl Signals {
    /// Signals of several inputs.
    pub fn new(signals: Vec<Signal>) -> Self {
        let in_order = |mut times: Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times.dedup();
            times
        };
        let jumps = in_order(signals.iter().flat_map(|signal| signal.jumps.iter().copied()).collect());
        let kinks = in_order(signals.iter().flat_map(Signal::kinks).collect());
        Self { signals, jumps, kinks }
    }

    /// Whether there is a signal for a variable.
    pub fn has(&self, variable: VarId) -> bool {
        self.signals.iter().any(|signal| signal.variable == variable)
    }

    /// Whether there are no signals.
    pub fn is_empty(&self) -> bool {
        self.signals.is_empty()
    }
}

/// The inputs of a memory that are given as functions of time.
#[derive(Clone, Debug)]
pub struct Driven {
    signals: Arc<Signals>,
    lines: Vec<Line>,
    /// Jumps up to this time are passed.
    passed: f64,
    /// Kinks are events, too.
    stops_at_kinks: bool,
}

impl Default for Driven {
    fn default() -> Self {
        Self { signals: Arc::default(), lines: Vec::new(), passed: f64::NEG_INFINITY, stops_at_kinks: false }
    }
}

/// Where a signal goes.
#[derive(Clone, Debug)]
struct Line {
    address: Address,
    sign: Sign,
    /// The piece that shows.
    piece: usize,
}

#[derive(Clone, Copy, Debug)]
enum Sign {
    Plain,
    Negative,
    Negation,
}

impl Driven {
    /// Signals determine inputs of a model with this layout; jumps up to `start` are passed.
    pub(crate) fn new(model: &Model, layout: &Layout, signals: &Arc<Signals>, start: f64) -> Self {
        let line = |signal: &Signal| {
            let place = layout.place(signal.variable);
            let sign = match (place.negated, model.variables[signal.variable].ty) {
                (false, _) => Sign::Plain,
                (true, VariableType::Boolean) => Sign::Negation,
                (true, _) => Sign::Negative,
            };
            Line { address: place.slot, sign, piece: 0 }
        };
        let mut driven = Self {
            lines: signals.signals.iter().map(line).collect(),
            signals: signals.clone(),
            passed: start,
            // What delays remember is smooth between events.
            stops_at_kinks: !layout.delays.is_empty() || !layout.transports.is_empty(),
        };
        driven.pass(start);
        driven
    }

    /// Jumps up to this time are passed.
    pub fn passed(&self) -> f64 {
        self.passed
    }

    /// Shows what holds behind all jumps up to a time, and no other jump.
    pub fn pass(&mut self, time: f64) {
        self.passed = time;
        for (line, signal) in self.lines.iter_mut().zip(&self.signals.signals) {
            line.piece = signal.piece(time);
        }
    }

    /// The first jump that is not passed, infinity without one.
    pub fn next_event(&self) -> f64 {
        let jump = after(&self.signals.jumps, self.passed);
        if self.stops_at_kinks { jump.min(after(&self.signals.kinks, self.passed)) } else { jump }
    }

    /// Whether an input jumped within the instant of the event at hand.
    pub fn has_jumped(&self, time: f64) -> bool {
        is_within(&self.signals.jumps, time, self.passed)
    }

    /// Whether an input jumped there, or changed its slope.
    pub fn has_bent(&self, time: f64) -> bool {
        self.has_jumped(time) || is_within(&self.signals.kinks, time, self.passed)
    }

    /// The first change of a slope after a time, infinity without one.
    pub fn next_kink(&self, time: f64) -> f64 {
        after(&self.signals.kinks, time)
    }

    /// Whether there is a signal for a variable.
    pub fn has(&self, variable: VarId) -> bool {
        self.signals.has(variable)
    }

    /// The slopes of continuous inputs at a time by their addresses, from one side.
    pub fn slopes(&self, time: f64, behind: bool) -> impl Iterator<Item = (Address, f64)> {
        self.lines.iter().zip(&self.signals.signals).map(move |(line, signal)| {
            let slope = signal.slope(line.piece, time, behind);
            (line.address, if matches!(line.sign, Sign::Negative) { -slope } else { slope })
        })
    }

    #[inline]
    pub(crate) fn write(&self, values: &mut [f64]) {
        if self.lines.is_empty() {
            return;
        }
        let time = values[TIME as usize];
        for (line, signal) in self.lines.iter().zip(&self.signals.signals) {
            let value = signal.at(line.piece, time);
            values[line.address as usize] = match line.sign {
                Sign::Plain => value,
                Sign::Negative => -value,
                Sign::Negation => truth(value == 0.0),
            };
        }
    }
}

/// Whether one of the times lies in the instant of `time`, which ends at `end`.
fn is_within(times: &[f64], time: f64, end: f64) -> bool {
    let begin = time - (end - time);
    let count = times.partition_point(|&known| known <= end);
    count > 0 && times[count - 1] >= begin
}

fn after(times: &[f64], time: f64) -> f64 {
    times.get(times.partition_point(|&known| known <= time)).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use base::Id;

    use super::*;

    fn at(signal: &Signal, passed: f64, time: f64) -> f64 {
        signal.at(signal.piece(passed), time)
    }

    #[test]
    fn lines_and_jumps() {
        let rows = [(0.0, 1.0), (1.0, 3.0), (1.0, 3.0), (2.0, 5.0), (2.0, 7.0), (2.0, -1.0), (3.0, -1.0), (4.0, 0.0)];
        let signal = Signal::linear(VarId::from_index(0), rows);
        assert_eq!(signal.jumps, [2.0]);
        assert_eq!(signal.kinks(), [0.0, 3.0, 4.0]);
        for (passed, time, value) in [
            (-1.0, -1.0, 1.0),
            (0.0, 0.25, 1.5),
            (0.0, 2.0, 5.0),
            (0.0, 9.0, 5.0),
            (2.0, 2.0, -1.0),
            (2.0, 1.0, -1.0),
            (2.0, 3.5, -0.5),
            (2.0, 9.0, 0.0),
        ] {
            assert_eq!(at(&signal, passed, time), value, "at {time}, {passed} passed");
        }
    }

    #[test]
    fn held_values_change_at_their_rows() {
        let rows = [(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (2.0, 4.0), (2.0, 5.0), (3.0, 5.0), (4.0, 2.0)];
        let signal = Signal::held(VarId::from_index(0), rows);
        assert_eq!(signal.jumps, [2.0, 4.0]);
        assert!(signal.kinks().is_empty());
        let early = Signal::held(VarId::from_index(0), [(1.0, 3.0), (1.0, 4.0)]);
        assert_eq!([0.0, 1.0].map(|time| at(&early, time, time)), [3.0, 4.0]);
        assert_eq!([0.0, 1.0, 2.0, 3.9, 4.0].map(|time| at(&signal, time, time)), [1.0, 1.0, 5.0, 5.0, 2.0]);
        let both = Signals::new(vec![signal, Signal::linear(VarId::from_index(1), [(0.5, 0.0), (2.0, 1.0)])]);
        let driven = Driven { signals: Arc::new(both), passed: 2.0, ..Driven::default() };
        assert_eq!((driven.next_event(), driven.next_kink(0.0), driven.next_kink(0.5)), (4.0, 0.5, 2.0));
    }
}
