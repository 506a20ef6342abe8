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
/// A leap that moves its state by less than this part of its allowed error, until that decays or the run ends, may be rounding.
const STILL: f64 = 1e-4;
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
/// A jump stands out by this much from what rounding does to the derivative beside it, over so much of the step.
const STANDING_OUT: f64 = 4.0;
const BESIDE: f64 = 1e-3;

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
    /// Relative to the size of the derivative.
    size: f64,
    state: usize,
}

impl Piece {
    /// What is smooth, and what has a kink or a root, does not keep it. A step that is too short for a half, such as an
    /// integrator takes at a jump, has none of these.
    fn has_kept_its_height(&self) -> bool {
        let [late, early] = self.earlier;
        let before = if early.is_finite() { early } else { late };
        before.is_infinite() || self.leap.size >= KEPT * before
    }
}

impl Simulation {
    /// Refuses sensitivities where a derivative jumps without event between two instants of the last step.
    pub(super) fn refuse_hidden_jump(&mut self, known: &mut Sensitivities, begin: f64, end: f64) -> Result<(), Stop> {
        let rates = self.projector.is_none().then(|| self.rates(begin, end, end - begin));
        let change = known.change(&mut self.runtime.machine, rates)?;
        let mut sizes = self.sizes_of_slopes(known, &change);
        let leaps: Vec<f64> =
            change.found.iter().zip(&change.expected).map(|(found, expected)| found - expected).collect();
        let Some(leap) = self.largest(&leaps, &sizes) else { return Ok(()) };
        let (a, b) = (self.point_at(begin)?, self.point_at(end)?);
        let mut pieces = vec![Piece { a, b, leap, halvings: 0, earlier: [f64::INFINITY; 2] }];
        for _ in 0..MOST_PIECES {
            let Some(piece) = pieces.pop() else { break };
            let Piece { a, b, leap, halvings, .. } = &piece;
            let middle = 0.5 * (a.time + b.time);
            let shortest = (SHORTEST * (end - begin)).max(4.0 * f64::EPSILON * b.time.abs());
            if b.time - a.time <= shortest || middle <= a.time || middle >= b.time {
                if !piece.has_kept_its_height() {
                    continue;
                }
                let (state, noise) = (leap.state, self.noise_beside(&piece, begin, end)?);
                if (b.slopes[state] - a.slopes[state]).abs() > STANDING_OUT * noise {
                    return Err(self.jumps_unseen(b.time, state));
                }
                // Rounding moves it everywhere.
                known.note_noise(state, noise);
                let size = sizes[state].max(STANDING_OUT / LEAP * noise);
                pieces.retain(|other| other.leap.state != state || other.leap.size * sizes[state] > LEAP * size);
                sizes[state] = size;
                continue;
            }
            let middle = self.point_at(middle)?;
            let earlier = if halvings % GENERATION == 0 { [leap.size, piece.earlier[0]] } else { piece.earlier };
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
        let rates = known.own_rates().into_iter().map(|rate| rate.max(1.0 / span));
        let nominals = machine.program.states.iter().map(|state| machine.nominal(state.variable));
        let values = largest.iter().zip(nominals).map(|(largest, nominal)| largest.value.min(nominal));
        let still = values.zip(rates).map(|(value, rate)| tolerance * value * rate);
        let sizes = change.slopes.iter().zip(&largest).zip(blurred).zip(still);
        sizes
            .map(|(((now, largest), blurred), still)| {
                let rounding = STILL * still + STANDING_OUT * largest.noise;
                now.max(LEAST * largest.slope).max(BLUR / LEAP * blurred).max(rounding / LEAP)
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

    /// What rounding moves the derivative that leaps by, on both sides of the leap: the median of third differences, in which nothing
    /// is left of what is smooth, nor of another jump.
    fn noise_beside(&mut self, piece: &Piece, begin: f64, end: f64) -> Result<f64, Stop> {
        const POINTS: usize = 9;
        let Piece { a, b, leap: Leap { state, .. }, .. } = piece;
        let width = BESIDE * (end - begin);
        let mut noise = Vec::with_capacity(2 * POINTS);
        for (from, to) in [(a.time, (a.time - width).max(begin)), (b.time, (b.time + width).min(end))] {
            let mut slopes = [0.0; POINTS];
            for (k, slope) in slopes.iter_mut().enumerate() {
                let time = from + (to - from) * (k as f64 / (POINTS - 1) as f64);
                *slope = self.point_at(time)?.slopes[*state];
            }
            if from != to {
                noise.extend(slopes.windows(4).map(|f| (f[3] - 3.0 * (f[2] - f[1]) - f[0]).abs()));
            }
        }
        noise.sort_by(f64::total_cmp);
        Ok(noise.get(noise.len().saturating_sub(1) / 2).copied().unwrap_or(0.0))
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
