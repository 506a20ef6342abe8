//! What delays and transports remember: points that are added, looked at before they are, and forgotten again.

use crate::layout::{Delay, TIME, Transport};
use crate::memory::{History, Memory};
use crate::profile::rounding;
use crate::program::{Program, SectionStep};
use crate::smooth::Gap;

impl Program {
    /// Finds the arguments of delays and transports at the values in memory, where what follows from these alone was evaluated
    /// for an event.
    pub fn take_arguments(&self, memory: &mut Memory) {
        for step in &self.sections.histories {
            if let SectionStep::Code(chunk) = *step {
                self.execute(chunk, memory);
            }
        }
    }

    /// Adds the present values of delayed expressions to their past; to be called at accepted points, at an event both
    /// before and after it.
    pub fn record_delays(&self, memory: &mut Memory) {
        let time = memory.values[TIME as usize];
        let count = self.layout.delays.len();
        for (k, history) in memory.delays.iter_mut().enumerate() {
            match history {
                History::Past(buffer) => {
                    buffer.record(time, memory.values[self.layout.delays[k].value as usize]);
                }
                History::Profile(profile) => {
                    profile.record(arguments(&self.layout.transports[k - count], &memory.values));
                }
            }
        }
    }

    /// Whether one of the histories has too large a gap between its last point and the present values: the largest ratio of
    /// the error in it to `tolerance` times the size of the signal, plus rounding. `None` where the first points of a
    /// smooth piece do not tell yet.
    pub fn largest_gap(&self, memory: &Memory, tolerance: f64) -> Option<f64> {
        /// Of values around one that cancel.
        const ROUNDING: f64 = 1e-15;
        let mut largest = 0.0_f64;
        for k in 0..memory.delays.len() {
            let Gap { error, size } = self.gap(memory, k)?;
            // Not a number is not small.
            largest = if error.is_nan() { f64::INFINITY } else { largest.max(error / (tolerance * size + ROUNDING)) };
        }
        Some(largest)
    }

    fn gap(&self, memory: &Memory, k: usize) -> Option<Gap> {
        match &memory.delays[k] {
            History::Past(buffer) => {
                buffer.gap(memory.values[TIME as usize], memory.values[self.layout.delays[k].value as usize])
            }
            History::Profile(profile) => {
                let transport = &self.layout.transports[k - self.layout.delays.len()];
                profile.gap(arguments(transport, &memory.values))
            }
        }
    }

    /// From now on, what delays and transports ask for at the present time are right limits.
    pub fn pass_event(&self, memory: &mut Memory) {
        let time = memory.values[TIME as usize];
        let count = self.layout.delays.len();
        for (k, history) in memory.delays.iter_mut().enumerate() {
            match history {
                History::Past(buffer) => buffer.pass_event(time),
                History::Profile(profile) => {
                    profile.pass_event(arguments(&self.layout.transports[k - count], &memory.values)[2]);
                }
            }
        }
    }

    /// The first position of a transport after `from`, up to the present one, at which a jump leaves.
    pub fn jump_leaving(&self, memory: &Memory, transport: usize, from: f64) -> Option<f64> {
        let History::Profile(profile) = memory.delays.get(self.layout.delays.len() + transport)? else { return None };
        let place = self.layout.transports[transport].arguments as usize;
        let (x, positive) = (memory.values[place + 2], memory.values[place + 3] != 0.0);
        profile.jump_between(from, behind(x, positive), positive)
    }

    /// The position of a transport from which on jumps have not left yet: those that rounding alone separates from it leave with
    /// it at an event, and have not left elsewhere.
    pub fn position_passed(&self, memory: &Memory, transport: usize, is_event: bool) -> f64 {
        let place = self.layout.transports[transport].arguments as usize;
        let (x, positive) = (memory.values[place + 2], memory.values[place + 3] != 0.0);
        behind(x, positive != is_event)
    }

    /// Ends the smooth pieces of all histories at their last points.
    pub fn end_pieces(&self, memory: &mut Memory) {
        let count = self.layout.delays.len();
        for (k, history) in memory.delays.iter_mut().enumerate() {
            match history {
                History::Past(buffer) => buffer.end_piece(),
                History::Profile(profile) => {
                    let transport = &self.layout.transports[k - count];
                    profile.end_piece(memory.values[transport.arguments as usize + 3] != 0.0);
                }
            }
        }
    }

    /// What was recorded up to the present time is final: what lies after it, or has left, is forgotten.
    pub fn settle_histories(&self, memory: &mut Memory) {
        let time = memory.values[TIME as usize];
        let count = self.layout.delays.len();
        for (k, history) in memory.delays.iter_mut().enumerate() {
            match history {
                History::Past(buffer) => {
                    buffer.forget_after(time);
                    buffer.forget_before(time - memory.values[self.layout.delays[k].maximum as usize]);
                }
                History::Profile(profile) => {
                    profile.settle(arguments(&self.layout.transports[k - count], &memory.values))
                }
            }
        }
    }

    /// From here on what is recorded can be taken back.
    pub fn mark_histories(&self, memory: &mut Memory) {
        memory.delays.iter_mut().for_each(|history| {
            if let History::Profile(profile) = history {
                profile.mark();
            }
        });
    }

    /// Takes back what was recorded since the mark, which was set at `time`.
    pub fn roll_histories_back(&self, memory: &mut Memory, time: f64) {
        let count = self.layout.delays.len();
        for (k, history) in memory.delays.iter_mut().enumerate() {
            match history {
                History::Past(buffer) => buffer.forget_after(time),
                History::Profile(profile) => {
                    profile.roll_back(memory.values[self.layout.transports[k - count].arguments as usize + 3] != 0.0);
                }
            }
        }
    }

    /// The position of each transport.
    pub fn positions<'a>(&'a self, memory: &'a Memory) -> impl Iterator<Item = f64> + 'a {
        self.layout.transports.iter().map(|transport| memory.values[transport.arguments as usize + 2])
    }

    /// The first delay whose time is not between zero and the longest one; `slack`: relative to the longest.
    pub fn delay_out_of_range(&self, memory: &Memory, slack: f64) -> Option<(&Delay, f64, f64)> {
        self.layout.delays.iter().find_map(|delay| {
            let (time, maximum) = (memory.values[delay.time as usize], memory.values[delay.maximum as usize]);
            let slack = slack * maximum.abs();
            let inside = time >= -slack && time <= maximum + slack;
            (!inside).then_some((delay, time, maximum))
        })
    }
}

/// A position that is less by the reach of rounding, or more where the flow is negative.
fn behind(x: f64, positive: bool) -> f64 {
    if positive { x - rounding(x) } else { x + rounding(x) }
}

fn arguments<'a>(transport: &Transport, values: &'a [f64]) -> &'a [f64] {
    let first = transport.arguments as usize;
    &values[first..first + transport.count as usize]
}
