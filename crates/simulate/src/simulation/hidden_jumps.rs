//! Jumps of derivatives that make no event: `sign`, branches under `noEvent` and in functions.
//!
//! The instant of such a jump moves with the parameters like that of an event, but no relation tells how, and the tangents
//! behind it would be wrong. Over a smooth piece of a step derivatives change as their own linearisation says along the states
//! and time of the run,
//!
//!   f(b) − f(a) = ∫ ḟ dt,  ḟ = (∂f/∂x) ẋ + ∂f/∂t,
//!
//! and the quadrature of the stages tells the integral to order 5. What does not agree is looked at in halves: what is smooth
//! agrees much better there, a kink twice as well, a root somewhat better; a jump stays, however short the piece is.

use solve::linear_ode;

use super::*;
use crate::sensitivities::{Largest, Sensitivities, refusal, slopes};
use crate::variation::Change;

/// What a derivative may leap by, relative to its size on the way; where states are moved to constraints, of whose motion less is
/// known, it is the second one.
const LEAP: f64 = 1e-6;
const LEAP_ON_CONSTRAINTS: f64 = 1e-4;
/// The least size of a derivative, relative to the largest one that it had in the run.
const LEAST: f64 = 1e-3;
/// What counts of the errors of states, which make a leap invisible, in derivatives.
const BLUR: f64 = 1e-3;
/// A derivative that would move its state by less than this part of the nominal value over the whole run may be rounding alone.
const STILL: f64 = 1e-8;
/// Below this tolerance rounding and the solution of simultaneous equations decide how exact derivatives are.
const FINEST: f64 = 1e-9;
/// The shortest piece, relative to the step.
const SHORTEST: f64 = 1e-10;
/// Pieces that are shorter than this are straight.
const STRAIGHT: f64 = 1e-4;
/// How far apart states are looked at for their rates, relative to the piece.
const STENCIL: f64 = 0.01;
/// The most pieces of a step that are looked at. A smooth function that needs more is followed by error control alone.
const MOST_PIECES: usize = 400;
/// Halvings over which a jump keeps its height, and how much of it.
const GENERATION: u32 = 8;
const KEPT: f64 = 0.5;
/// A jump stands out by this much from what derivatives do beside it.
const STANDING_OUT: f64 = 4.0;

/// A point of a step.
#[derive(Clone)]
struct Point {
    time: f64,
    slopes: Vec<f64>,
}

/// A piece of a step over which a derivative leaps.
struct Piece {
    a: Point,
    b: Point,
    leap: Leap,
    halvings: u32,
    /// How large the leap was a generation of halvings ago and in the one before.
    earlier: [f64; 2],
}

/// The largest leap beside the sizes of derivatives, with its state.
#[derive(Clone, Copy)]
struct Leap {
    size: f64,
    state: usize,
}

impl Simulation {
    /// Refuses sensitivities where a derivative jumps without event between two instants of the last step.
    pub(super) fn refuse_hidden_jump(&mut self, known: &mut Sensitivities, begin: f64, end: f64) -> Result<(), Stop> {
        let rates = self.projector.is_none().then(|| self.rates(begin, end, end - begin));
        let change = known.change(&mut self.runtime.machine, rates)?;
        let sizes = self.sizes_of_slopes(known, &change);
        let leaps: Vec<f64> =
            change.found.iter().zip(&change.expected).map(|(found, expected)| found - expected).collect();
        let Some(leap) = self.largest(&leaps, &sizes) else { return Ok(()) };
        let (a, b) = (self.point_at(begin)?, self.point_at(end)?);
        let mut pieces = vec![Piece { a, b, leap, halvings: 0, earlier: [f64::INFINITY; 2] }];
        for _ in 0..MOST_PIECES {
            let Some(piece) = pieces.pop() else { break };
            let Piece { a, b, leap, halvings, earlier } = &piece;
            let middle = 0.5 * (a.time + b.time);
            let shortest = (SHORTEST * (end - begin)).max(4.0 * f64::EPSILON * b.time.abs());
            if b.time - a.time <= shortest || middle <= a.time || middle >= b.time {
                let before = if earlier[1].is_finite() { earlier[1] } else { earlier[0] };
                if leap.size >= KEPT * before && self.stands_out(&piece, begin, end)? {
                    return Err(self.jumps_unseen(b.time, leap.state));
                }
                continue;
            }
            let middle = self.point_at(middle)?;
            let earlier = if halvings % GENERATION == 0 { [leap.size, earlier[0]] } else { *earlier };
            let mut halves = Vec::new();
            for (a, b) in [(a, &middle), (&middle, b)] {
                let leaps = self.leaps(known, a, b, end - begin)?;
                if let Some(leap) = self.largest(&leaps, &sizes) {
                    halves.push(Piece { a: a.clone(), b: b.clone(), leap, halvings: halvings + 1, earlier });
                }
            }
            // The larger leap is looked at first.
            halves.sort_by(|a, b| a.leap.size.total_cmp(&b.leap.size));
            pieces.append(&mut halves);
        }
        Ok(())
    }

    fn point_at(&mut self, time: f64) -> Result<Point, Stop> {
        self.evaluate_at(time)?;
        Ok(Point { time, slopes: slopes(&self.runtime.machine) })
    }

    /// The sizes that leaps of derivatives are compared with: how large derivatives are over the step at hand and were before, or
    /// would become over it, since one that leaves zero by a kink near an end has no size there that tells a kink from a jump. Nor
    /// does the integration know a derivative better than the states that it is computed from.
    fn sizes_of_slopes(&self, known: &mut Sensitivities, change: &Change) -> Vec<f64> {
        let largest: Vec<Largest> = known.note_largest(&change.states, &change.slopes).to_vec();
        let tolerance = self.options.tolerance.max(FINEST);
        let errors: Vec<f64> = largest.iter().map(|largest| tolerance * largest.value).collect();
        let blurred = known.reach(&errors);
        let span = self.options.stop_time - self.options.start_time;
        let machine = &self.runtime.machine;
        let still = machine.program.states.iter().map(|state| STILL * machine.nominal(state.variable) / span);
        let sizes = change.slopes.iter().zip(&largest).zip(blurred).zip(still);
        sizes
            .map(|(((now, largest), blurred), still)| {
                now.max(LEAST * largest.slope).max(BLUR / LEAP * blurred).max(still)
            })
            .collect()
    }

    /// The rates of the states at the stages of a piece, as the dense output of the step says.
    fn rates(&mut self, begin: f64, end: f64, step: f64) -> [Vec<f64>; 3] {
        /// Of the derivative from values before it.
        const WEIGHTS: [f64; 5] = [25.0 / 12.0, -4.0, 3.0, -4.0 / 3.0, 0.25];
        let length = end - begin;
        let is_straight = length < STRAIGHT * step || self.projector.is_some();
        linear_ode::nodes().map(|node| {
            let mut rates = vec![0.0; self.x.len()];
            let apart = STENCIL * length;
            let stencil =
                (0..).zip(WEIGHTS).map(|(k, weight)| (begin + node * length - f64::from(k) * apart, weight / apart));
            let secant = [(end, 1.0 / length), (begin, -1.0 / length)].into_iter();
            let places: Vec<(f64, f64)> = if is_straight { secant.collect() } else { stencil.collect() };
            for (time, weight) in places {
                self.runtime.integrator.interpolate(time, &mut self.x);
                rates.iter_mut().zip(&self.x).for_each(|(rate, x)| *rate += weight * x);
            }
            rates
        })
    }

    /// What derivatives leap by between two points.
    fn leaps(&mut self, known: &mut Sensitivities, a: &Point, b: &Point, step: f64) -> Result<Vec<f64>, Stop> {
        let length = b.time - a.time;
        let mut leaps: Vec<f64> = a.slopes.iter().zip(&b.slopes).map(|(a, b)| b - a).collect();
        let rates = self.rates(a.time, b.time, step);
        for ((node, weight), rates) in linear_ode::nodes().into_iter().zip(linear_ode::quadrature()).zip(rates) {
            self.evaluate_at((a.time + node * length).min(b.time))?;
            let along: Vec<f64> = rates.iter().map(|rate| rate * length).collect();
            let change = known.change_along(&mut self.runtime.machine, &along, length)?;
            leaps.iter_mut().zip(&change).for_each(|(leap, change)| *leap -= weight * change);
        }
        Ok(leaps)
    }

    /// The largest leap beside the sizes, where it is too large.
    fn largest(&self, leaps: &[f64], sizes: &[f64]) -> Option<Leap> {
        let allowed = if self.projector.is_some() { LEAP_ON_CONSTRAINTS } else { LEAP };
        let relative = leaps.iter().zip(sizes).map(|(leap, size)| leap.abs() / size);
        let leaps = relative.enumerate().map(|(state, size)| Leap { size, state });
        leaps.filter(|leap| leap.size > allowed).max_by(|a, b| a.size.total_cmp(&b.size))
    }

    /// Whether a leap stands out from what the derivative does beside it: one that rounding moves leaps everywhere.
    fn stands_out(&mut self, piece: &Piece, begin: f64, end: f64) -> Result<bool, Stop> {
        let Piece { a, b, leap: Leap { state, .. }, .. } = piece;
        let away = 8.0 * (b.time - a.time);
        let before = self.point_at((a.time - away).max(begin))?.slopes[*state];
        let behind = self.point_at((b.time + away).min(end))?.slopes[*state];
        let beside = (a.slopes[*state] - before).abs() + (behind - b.slopes[*state]).abs();
        Ok((b.slopes[*state] - a.slopes[*state]).abs() > STANDING_OUT * beside)
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
