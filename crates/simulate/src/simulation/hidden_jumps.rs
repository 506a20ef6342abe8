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
        let (first, last) = (self.point_at(begin)?, self.point_at(end)?);
        let now = self.sizes_over(known, &first, &last)?;
        let sizes = known.note_largest(&now);
        let Some(leap) = self.leap(known, &first, &last, &sizes)? else { return Ok(()) };
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

    /// How large derivatives are at the ends of a step, or would become over it: one that leaves zero by a kink near an end has no
    /// size there that tells a kink from a jump.
    fn sizes_over(&mut self, known: &mut Sensitivities, a: &Point, b: &Point) -> Result<Vec<f64>, Stop> {
        let step: Vec<f64> = a.states.iter().zip(&b.states).map(|(a, b)| b - a).collect();
        let mut sizes: Vec<f64> = a.slopes.iter().zip(&b.slopes).map(|(a, b)| a.abs().max(b.abs())).collect();
        for point in [a, b] {
            self.evaluate_at(point.time)?;
            let change = known.change_along(&mut self.runtime.machine, &step, b.time - a.time)?;
            sizes.iter_mut().zip(&change).for_each(|(size, change)| *size = size.max(change.abs()));
        }
        Ok(sizes)
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
        let leap = |k: usize| ((b.slopes[k] - a.slopes[k] - expected[k]) / sizes[k], k);
        let leaps = (0..step.len()).map(leap).map(|(leap, k)| (leap.abs(), k));
        Ok(leaps.filter(|(leap, _)| *leap > LEAP).max_by(|a, b| a.0.total_cmp(&b.0)))
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
