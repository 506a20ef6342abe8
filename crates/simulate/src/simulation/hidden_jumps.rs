//! Jumps of derivatives that make no event: `sign`, branches under `noEvent` and in functions.
//!
//! The instant of such a jump moves with the parameters like that of an event, but no relation tells how, and the tangents
//! behind it would be wrong. Over a smooth piece of a step derivatives change as their own linearisation says,
//!
//!   f(b) − f(a) ≈ ½ (f′(a) + f′(b)) (b − a),  f′ along states and time together,
//!
//! and halves of the piece agree eight times better. A kink agrees twice as well; a jump stays, however short the piece is.

use super::*;
use crate::sensitivities::{Sensitivities, refusal, slopes};
use crate::variation::Change;

/// What a derivative may leap by, relative to its size on the way.
const LEAP: f64 = 1e-4;
/// The shortest piece, relative to the step.
const SHORTEST: f64 = 1e-10;
/// The most pieces of a step that are looked at. A smooth function that needs more is followed by error control alone.
const MOST_PIECES: usize = 400;

/// A point of a step.
#[derive(Clone)]
struct Point {
    time: f64,
    states: Vec<f64>,
    slopes: Vec<f64>,
}

impl Simulation {
    /// Refuses sensitivities where a derivative jumps without event between two instants of the last step.
    pub(super) fn refuse_hidden_jump(&mut self, known: &mut Sensitivities, begin: f64, end: f64) -> Result<(), Stop> {
        let change = known.change(&mut self.runtime.machine)?;
        let sizes = self.leaps_allowed(known, &change);
        let expected = change.expected[0].iter().zip(&change.expected[1]).map(|(a, b)| 0.5 * (a + b));
        let leaps: Vec<f64> = change.found.iter().zip(expected).map(|(found, expected)| found - expected).collect();
        let Some(leap) = largest(&leaps, &sizes) else { return Ok(()) };
        let (first, last) = (self.point_at(begin)?, self.point_at(end)?);
        let mut pieces = vec![(leap, first, last)];
        for _ in 0..MOST_PIECES {
            let Some(((_, state), a, b)) = pieces.pop() else { break };
            let middle = 0.5 * (a.time + b.time);
            let shortest = (SHORTEST * (end - begin)).max(4.0 * f64::EPSILON * b.time.abs());
            if b.time - a.time <= shortest || middle <= a.time || middle >= b.time {
                return Err(self.jumps_unseen(b.time, state));
            }
            let middle = self.point_at(middle)?;
            let left = self.leap(known, &a, &middle, &sizes)?.map(|leap| (leap, a, middle.clone()));
            let right = self.leap(known, &middle, &b, &sizes)?.map(|leap| (leap, middle, b));
            let mut halves: Vec<_> = left.into_iter().chain(right).collect();
            // The larger leap is looked at first.
            halves.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
            pieces.append(&mut halves);
        }
        Ok(())
    }

    fn point_at(&mut self, time: f64) -> Result<Point, Stop> {
        self.evaluate_at(time)?;
        let machine = &self.runtime.machine;
        let states = machine.program.states.iter().map(|state| machine.memory.values[state.value as usize]).collect();
        Ok(Point { time, states, slopes: slopes(machine) })
    }

    /// The sizes that leaps of derivatives are compared with: how large derivatives are at the ends of the step at hand and were
    /// before, or would become over it, since one that leaves zero by a kink near an end has no size there that tells a kink from a
    /// jump. Nor does the integration know a derivative better than the states that it is computed from.
    fn leaps_allowed(&self, known: &mut Sensitivities, change: &Change) -> Vec<f64> {
        let slopes: Vec<f64> = (change.slopes.iter().zip(&change.expected[0]).zip(&change.expected[1]))
            .map(|((slope, first), last)| slope.max(first.abs()).max(last.abs()))
            .collect();
        let largest = known.note_largest(&change.states, &slopes).to_vec();
        let errors: Vec<f64> = largest.iter().map(|largest| self.options.tolerance * largest.value).collect();
        let blurred = known.reach(&errors);
        largest.iter().zip(blurred).map(|(largest, blurred)| largest.slope.max(blurred)).collect()
    }

    /// The largest leap between two points beside the sizes of derivatives, with its state, where it is too large.
    fn leap(
        &mut self,
        known: &mut Sensitivities,
        a: &Point,
        b: &Point,
        sizes: &[f64],
    ) -> Result<Option<(f64, usize)>, Stop> {
        let step: Vec<f64> = a.states.iter().zip(&b.states).map(|(a, b)| b - a).collect();
        let mut expected = vec![0.0; step.len()];
        for point in [a, b] {
            self.evaluate_at(point.time)?;
            let change = known.change_along(&mut self.runtime.machine, &step, b.time - a.time)?;
            expected.iter_mut().zip(&change).for_each(|(sum, change)| *sum += 0.5 * change);
        }
        let leaps: Vec<f64> = (0..step.len()).map(|k| b.slopes[k] - a.slopes[k] - expected[k]).collect();
        Ok(largest(&leaps, sizes))
    }

    fn jumps_unseen(&self, time: f64, state: usize) -> Stop {
        let derivative = self.program.schedule.states[state].derivative;
        let name = self.program.model().variable_name(derivative);
        let message = format!(
            "at time {} `{name}` jumps without an event: how the instant moves with the parameters is not known",
            Decimal(time)
        );
        let hint =
            "conditions under `noEvent`, in functions and in `sign` make no events; a relation in an equation does";
        Trouble::Model(Box::new(refusal(message).names_time().hint(hint))).into()
    }
}

/// The largest leap beside the sizes, with its place, where it is too large.
fn largest(leaps: &[f64], sizes: &[f64]) -> Option<(f64, usize)> {
    let relative = leaps.iter().zip(sizes).enumerate().map(|(k, (leap, size))| (leap.abs() / size, k));
    relative.filter(|(leap, _)| *leap > LEAP).max_by(|a, b| a.0.total_cmp(&b.0))
}
