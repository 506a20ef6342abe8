//! The next crossing of relations that depend on time alone.
//!
//! Their residues are linear in time with coefficients that change at events only, so two evaluations, at time 0 and at
//! time 1, tell when they cross. A relation is taken as a right limit: at the instant of its crossing it has its new
//! value, which `just_after` brings about.

use crate::layout::{RelationKind, TIME};
use crate::memory::Memory;
use crate::program::{Program, bounds};

/// Two times this close, relative to their size, are one instant.
const SAME_INSTANT: f64 = 4.0 * f64::EPSILON;

/// Whether rounding alone separates two times.
pub fn same_instant(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME_INSTANT * a.abs().max(b.abs()) + f64::MIN_POSITIVE
}

/// The first time after `time` that is still the same instant: where a residue that is zero at `time` has left zero.
pub fn just_after(time: f64) -> f64 {
    time + f64::EPSILON * time.abs() + f64::MIN_POSITIVE
}

impl Program {
    /// The earliest time at which a relation on time alone changes: after the time in memory, or at it for a relation
    /// that is zero there and about to leave. Infinite if there is none.
    pub fn next_time_event(&self, memory: &mut Memory) -> f64 {
        if self.time_relations.is_empty() {
            return f64::INFINITY;
        }
        let now = memory.time();
        let at_zero = self.time_residues(memory, 0.0);
        let at_one = self.time_residues(memory, 1.0);
        memory.values[TIME as usize] = now;
        let mut next = f64::INFINITY;
        for ((&id, constant), one) in self.time_relations.iter().zip(at_zero).zip(at_one) {
            let relation = &self.layout.relations[id];
            let state = memory.values[relation.state as usize];
            let slope = tidy(one - constant);
            if slope == 0.0 || !slope.is_finite() {
                continue;
            }
            let due = match relation.kind {
                RelationKind::Compare { .. } => {
                    let crossing = -constant / slope;
                    let pending = state == 0.0 && same_instant(crossing, now);
                    let ahead = crossing > now && !same_instant(crossing, now);
                    if pending {
                        now
                    } else if ahead {
                        crossing
                    } else {
                        f64::INFINITY
                    }
                }
                RelationKind::Round { rounding, .. } => {
                    let (lower, upper) = bounds(rounding, state);
                    let bound = if slope > 0.0 { upper } else { lower };
                    ((bound - constant) / slope).max(now)
                }
            };
            next = next.min(due);
        }
        next
    }

    fn time_residues(&self, memory: &mut Memory, time: f64) -> Vec<f64> {
        memory.values[TIME as usize] = time;
        self.execute(self.time_code, memory);
        let mut out = vec![0.0; self.time_relations.len()];
        self.read_outputs(memory, &mut out);
        out
    }
}

/// A slope that rounding moved a little away from ±1 is ±1.
fn tidy(slope: f64) -> f64 {
    if (slope.abs() - 1.0).abs() < 1e-12 { slope.signum() } else { slope }
}
