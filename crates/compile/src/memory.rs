//! What a program works on: one flat array of numbers, texts, and the past of delayed expressions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use native::Native;

use crate::layout::{AHEAD, INITIAL, LAMBDA, LIVE, Layout, TERMINAL, TIME};
use crate::math::truth;
use crate::profile::Profile;
use crate::quick::SharedQuick;
use crate::signals::Driven;
use crate::smooth::{Gap, POINTS, Point, Size, gap_error, smooth, smooth_before};
use crate::strings::Strings;

/// Functions in other languages, shared by copies of a memory.
pub type SharedNative = Arc<Mutex<Native>>;

/// All that changes during a run. Real, Integer, Boolean (0 and 1), enumeration (ordinals), String (numbers of
/// `strings`) and external objects (handles) are all `f64`.
#[derive(Clone)]
pub struct Memory {
    /// Everything that code reads and writes.
    pub values: Vec<f64>,
    /// Texts, which values name by number.
    pub strings: Strings,
    /// What delays and transports remember.
    pub delays: Vec<History>,
    /// The inputs that follow from time.
    pub driven: Driven,
    /// Where functions in other languages are called.
    pub native: SharedNative,
    /// The largest magnitude that a continuous variable has had at an event, up to one: what is small altogether has smaller
    /// rounding errors.
    pub size: f64,
    /// The message of the last function call that failed; its results are NaN.
    pub(crate) call_failure: Option<String>,
    /// Functions that the interpreter calls as code.
    pub(crate) quick: SharedQuick,
    /// Space for one system, kept so that derivatives take none.
    pub(crate) scratch: Vec<f64>,
}

impl Memory {
    /// The present time.
    pub fn time(&self) -> f64 {
        self.values[TIME as usize]
    }

    /// Sets the time, and inputs that are functions of it.
    pub fn set_time(&mut self, time: f64) {
        self.values[TIME as usize] = time;
        self.write_inputs();
    }

    /// Lets relations on time in when clauses see it later than everything else does, as those that make events
    /// (`Program::look_ahead`). They may be written otherwise, so that rounding errors differ.
    pub fn set_ahead(&mut self, delay: f64) {
        const ROUNDING_ERRORS: f64 = 8.0;
        self.values[AHEAD as usize] = ROUNDING_ERRORS * delay;
    }

    /// Goes on behind all jumps of inputs up to a time.
    pub fn pass_jumps(&mut self, time: f64) {
        self.driven.pass(time);
        self.write_inputs();
    }

    /// Inputs that follow from time are what they are at the present time.
    pub fn write_inputs(&mut self) {
        self.driven.write(&mut self.values);
    }

    /// Whether code that can update relations does so.
    pub fn set_live(&mut self, live: bool) {
        self.values[LIVE as usize] = truth(live);
    }

    /// Sets what `initial()` is.
    pub fn set_initial(&mut self, initial: bool) {
        self.values[INITIAL as usize] = truth(initial);
    }

    /// What `initial()` is.
    pub fn is_initial(&self) -> bool {
        self.values[INITIAL as usize] != 0.0
    }

    /// Sets what `terminal()` is.
    pub fn set_terminal(&mut self, terminal: bool) {
        self.values[TERMINAL as usize] = truth(terminal);
    }

    /// The parameter of homotopy: 0 the simplified, 1 the actual problem.
    pub fn set_lambda(&mut self, lambda: f64) {
        self.values[LAMBDA as usize] = lambda;
    }
}

/// What an operator remembers of the accepted points.
#[derive(Clone, Debug)]
pub enum History {
    /// Of a delay.
    Past(DelayBuffer),
    /// Of a transport.
    Profile(Profile),
}

impl History {
    /// What delays and transports remember, at the start.
    pub fn of(layout: &Layout) -> Vec<Self> {
        let past = layout.delays.iter().map(|delay| Self::Past(DelayBuffer::new(delay.rests)));
        past.chain(layout.transports.iter().map(|_| Self::Profile(Profile::default()))).collect()
    }
}

/// The past of one delayed expression: accepted points in order of time, two of equal time at a jump.
#[derive(Clone, Debug)]
pub struct DelayBuffer {
    points: VecDeque<Point>,
    /// The last event: at its time the right limit of the past is asked for, else the left one.
    event: f64,
    size: Size,
    /// Before the first point the value is zero; it jumps there.
    rests: bool,
}

impl DelayBuffer {
    /// Without points yet. Before the first one there is its value, or zero.
    pub fn new(rests: bool) -> Self {
        Self { points: VecDeque::new(), event: f64::NEG_INFINITY, size: Size::default(), rests }
    }

    /// Adds a point.
    pub fn record(&mut self, time: f64, value: f64) {
        self.forget_after(time);
        if self.rests && self.points.is_empty() {
            self.points.push_back((time, 0.0));
        }
        self.size.note(value);
        // At an event the signal may have a kink: a second point ends the smooth piece.
        let ends_here = |buffer: &Self| buffer.points.len() < 2 || buffer.points[buffer.points.len() - 2].0 != time;
        if self.points.back() != Some(&(time, value)) || (time == self.event && ends_here(self)) {
            self.points.push_back((time, value));
        }
    }

    /// Forgets what lies before `oldest`, which nobody asks for any more.
    pub fn forget_before(&mut self, oldest: f64) {
        // Interpolation next to the oldest place takes points beyond it.
        while self.points.get(POINTS - 1).is_some_and(|point| point.0 < oldest) {
            self.points.pop_front();
        }
    }

    /// Forgets the points after `time`: the step that they lie in is not taken to its end.
    pub fn forget_after(&mut self, time: f64) {
        while self.points.back().is_some_and(|last| last.0 > time) {
            self.points.pop_back();
        }
    }

    /// Ends the smooth piece at the last point, unless it ends there already.
    pub fn end_piece(&mut self) {
        let count = self.points.len();
        if let Some(&last) = self.points.back()
            && (count < 2 || self.points[count - 2].0 != last.0)
        {
            self.points.push_back(last);
        }
    }

    /// From now on, what is asked for at `time` is a right limit.
    pub fn pass_event(&mut self, time: f64) {
        self.event = time;
    }

    /// How well values are known between the last point and `(time, value)`; `None` at the beginning of a smooth piece.
    pub fn gap(&self, time: f64, value: f64) -> Option<Gap> {
        let error = gap_error(|k| self.points.len().checked_sub(k + 1).map(|k| self.points[k]), (time, value))?;
        Some(Gap { error, size: self.size.with(value) })
    }

    /// The first jump after the time `from` up to the time `to`.
    pub fn jump_between(&self, from: f64, to: f64) -> Option<f64> {
        let first = self.points.partition_point(|point| point.0 <= from);
        let mut later = self.points.iter().skip(first).take_while(|point| point.0 <= to).peekable();
        while let Some(point) = later.next() {
            if later.peek().is_some_and(|next| next.0 == point.0 && next.1 != point.1) {
                return Some(point.0);
            }
        }
        None
    }

    /// The value at time − delay; `value` is the expression now. Before the first point it
    /// is the first value (3.7.4.1), or zero. A delay below zero, which an integrator may try, counts as none.
    pub fn at(&self, time: f64, value: f64, delay: f64) -> f64 {
        let rounding = 4.0 * f64::EPSILON * (time.abs() + delay.abs());
        let side = if (time - self.event).abs() <= rounding { rounding } else { -rounding };
        let wanted = time - delay;
        let (Some(&first), Some(&last)) = (self.points.front(), self.points.back()) else {
            return if self.rests && delay > 0.0 { 0.0 } else { value };
        };
        if delay <= 0.0 {
            return value;
        }
        let is_before = if self.rests { wanted + side < first.0 } else { wanted <= first.0 };
        if is_before {
            return first.1;
        }
        if wanted + side >= last.0 {
            return if time > last.0 { smooth_before(&self.points, (time, value), wanted) } else { value };
        }
        let after = self.points.partition_point(|point| point.0 <= wanted + side);
        if after == 0 { first.1 } else { smooth(&self.points, after, wanted) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_interpolates_and_keeps_jumps() {
        let mut buffer = DelayBuffer::new(false);
        buffer.record(0.0, 0.0);
        buffer.record(1.0, 1.0);
        buffer.record(1.0, 5.0);
        buffer.record(2.0, 6.0);
        assert_eq!(buffer.at(2.5, 7.0, 2.0), 0.5);
        assert_eq!(buffer.at(2.5, 7.0, 1.5), 1.0);
        buffer.pass_event(2.5);
        assert_eq!(buffer.at(2.5, 7.0, 1.5), 5.0);
        assert_eq!(buffer.at(2.5, 7.0, 1.0), 5.5);
        // Behind the last point the value now is the next one: the parabola through (1, 5), (2, 6) and (2.5, 7).
        assert!((buffer.at(2.5, 7.0, 0.25) - (6.5 - 1.0 / 24.0)).abs() < 1e-14);
        assert_eq!(buffer.at(2.5, 7.0, 9.0), 0.0);
    }

    #[test]
    fn what_rested_before_the_start_jumps_there() {
        let mut buffer = DelayBuffer::new(true);
        assert_eq!((buffer.at(0.0, 3.0, 1.0), buffer.at(0.0, 3.0, 0.0)), (0.0, 3.0));
        buffer.record(0.0, 3.0);
        buffer.record(2.0, 5.0);
        assert_eq!((buffer.at(0.5, 3.5, 1.0), buffer.at(1.0, 4.0, 1.0)), (0.0, 0.0));
        assert_eq!(buffer.jump_between(-1.0, 0.0), Some(0.0));
        buffer.pass_event(1.0);
        assert_eq!(buffer.at(1.0, 4.0, 1.0), 3.0);
        assert_eq!(buffer.at(2.5, 5.5, 1.5), 4.0);
    }
}
