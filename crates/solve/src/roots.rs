//! Location of the first event among many crossing functions over one accepted step of an integrator.
//!
//! Each function has a frozen status −1, 0 or +1, the sign it had at the restart. A function is *triggered* where its
//! value no longer agrees with that status: a signed function when it reaches or passes zero, a function that was
//! exactly zero when it leaves the interval ±1e-38. This is the rule of two shifted crossing functions (Elmqvist,
//! Cellier and Otter, *Object-oriented modeling of hybrid systems*, 1993): zp = z + ε and zn = z − ε for a residue that
//! starts at zero, zp = zn = z otherwise.
//!
//! A caller that knows how far rounding reaches gives a band ([`RootFinder::restart_in_bands`]): a residue that starts inside
//! it keeps the status it is given until it leaves the band on the other side.
//!
//! A crossing and its return inside one step leave no sign change at the ends. So a step is also looked at in its
//! middle, unless every function stays farther from zero than it has moved in this step and the one before; where the
//! parabola through the three values comes near zero, the extreme is searched. No integrator follows a function of time
//! alone with its steps, nor one that changes much faster than the state it is made from, such as the sine of an angle. So
//! a step is looked at in pieces, which are halved until a parabola, found from three values and the slope at the first,
//! describes each function that may reach zero there; their length is kept from step to step. Brackets are shrunk by `bracket` for the earliest triggered function.

use crate::bracket::Bracket;
use crate::error::EvalError;
use crate::ode::DenseOutput;

/// Functions of time and state whose sign changes are events.
pub trait CrossingFunctions {
    /// How many functions there are.
    fn count(&self) -> usize;

    /// The values of all functions at a point.
    fn evaluate(&mut self, t: f64, x: &[f64], values: &mut [f64]) -> Result<(), EvalError>;
}

/// The half width of the interval in which a residue counts as zero.
pub const ZERO_INTERVAL: f64 = 1e-38;

/// Accuracy of the located time relative to the step, down to the resolution of the time itself.
const TIME_ACCURACY: f64 = 1e-12;
const TIME_RESOLUTION: f64 = 4.0 * f64::EPSILON;

/// Beyond this a piece is halved.
const LARGEST_DOUBT: f64 = 0.5;
/// A function that no length described so many times is searched by its values at the ends and in the middle alone.
const MOST_ROUGH: u8 = 3;

/// Distance from the ends of a step, as a fraction of it, at which slopes are measured.
const SLOPE_PROBE: f64 = 1e-4;
/// A parabola that misses the function by more than this part of what it varies does not describe it: there may be a corner.
const BENT: f64 = 0.05;
/// Evaluations on the way to an extreme.
const MOST_PROBES: u32 = 32;
/// Relative to the time: the slope of a shorter piece is the rounding of its time.
const SHORTEST_PIECE: f64 = TIME_RESOLUTION / SLOPE_PROBE;

/// The sign of a residue under the rule above.
pub fn sign_of(value: f64) -> i8 {
    if value > ZERO_INTERVAL {
        1
    } else if value < -ZERO_INTERVAL {
        -1
    } else {
        0
    }
}

/// Whether a shifted value is out of its band on its own side.
fn is_shifted_out(shift: f64, status: i8, value: f64) -> bool {
    shift != 0.0 && f64::from(status) * value > 2.0 * shift.abs()
}

fn triggered(status: i8, value: f64, zero: f64) -> bool {
    match status {
        1 => value <= 0.0,
        -1 => value >= 0.0,
        _ => value.abs() > zero,
    }
}

/// Functions that triggered at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Last time at which nothing had triggered.
    pub t_before: f64,
    /// The time of the event, at most the accuracy after `t_before`; the functions have their new signs here.
    pub t: f64,
}

/// A triggered function and the sign it has at the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Which function crosses.
    pub function: usize,
    /// The sign before.
    pub from: i8,
    /// The sign behind.
    pub to: i8,
}

/// Watches crossing functions from step to step; owns the scratch space.
#[derive(Clone, Debug, Default)]
pub struct RootFinder {
    status: Vec<i8>,
    /// Added to a function that started in its band with a sign, so that it crosses at the far end of the band.
    shift: Vec<f64>,
    /// As it was before the last search.
    shift_before: Vec<f64>,
    /// Half the width of the interval in which a function of status zero stays zero.
    zero: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
    middle: Vec<f64>,
    probe: Vec<f64>,
    end: Vec<f64>,
    /// Values at the third point of a bracket.
    third: Vec<f64>,
    x: Vec<f64>,
    /// Values at the start of the interval before, and its length; zero when unknown.
    previous: Vec<f64>,
    previous_length: f64,
    /// Values near both ends of the interval, from which slopes follow; evaluated only when asked for.
    near: [Vec<f64>; 2],
    near_is_known: [bool; 2],
    middle_is_known: bool,
    resolution: f64,
    /// The length of pieces in which parabolas describe the functions.
    piece_length: f64,
    /// How often no length did so for a function.
    rough: Vec<u8>,
    /// The largest values seen at all, and since the signs were frozen last.
    largest: Vec<f64>,
    excursion: Vec<f64>,
    crossings: Vec<Crossing>,
    evaluations: u64,
}

impl RootFinder {
    /// For so many functions and states.
    pub fn new(functions: usize, states: usize) -> Self {
        let zeros = || vec![0.0; functions];
        RootFinder {
            status: vec![0; functions],
            shift: zeros(),
            shift_before: zeros(),
            zero: vec![ZERO_INTERVAL; functions],
            left: zeros(),
            right: zeros(),
            middle: zeros(),
            probe: zeros(),
            end: zeros(),
            third: zeros(),
            x: vec![0.0; states],
            previous: zeros(),
            previous_length: 0.0,
            near: [zeros(), zeros()],
            near_is_known: [false; 2],
            middle_is_known: false,
            resolution: f64::INFINITY,
            piece_length: f64::INFINITY,
            rough: vec![0; functions],
            largest: zeros(),
            excursion: zeros(),
            crossings: Vec::with_capacity(functions),
            evaluations: 0,
        }
    }

    /// Longer steps are searched in pieces of at most this length. Functions that depend on time alone have no other
    /// resolution than this, because no integrator adapts its steps to them.
    pub fn set_resolution(&mut self, length: f64) {
        self.resolution = if length > 0.0 { length } else { f64::INFINITY };
    }

    /// Freezes the signs at `(t, x)`, at the beginning and after each event.
    pub fn restart(&mut self, functions: &mut dyn CrossingFunctions, t: f64, x: &[f64]) -> Result<(), EvalError> {
        self.evaluations += 1;
        functions.evaluate(t, x, &mut self.left)?;
        self.previous_length = 0.0;
        self.shift.fill(0.0);
        self.zero.fill(ZERO_INTERVAL);
        for (status, value) in self.status.iter_mut().zip(&self.left) {
            *status = sign_of(*value);
        }
        Ok(())
    }

    /// As [`restart`](Self::restart), with values the caller has already computed.
    pub fn restart_with(&mut self, values: &[f64]) {
        self.left.copy_from_slice(values);
        for (largest, excursion) in self.largest.iter_mut().zip(&mut self.excursion) {
            *largest = largest.max(std::mem::take(excursion));
        }
        self.note_sizes();
        self.previous_length = 0.0;
        self.shift.fill(0.0);
        self.zero.fill(ZERO_INTERVAL);
        for (status, value) in self.status.iter_mut().zip(values) {
            *status = sign_of(*value);
        }
    }

    /// As [`restart_with`](Self::restart_with), but a value within its band has the status it is given, and keeps it until
    /// it leaves the band on the other side.
    pub fn restart_in_bands(&mut self, values: &[f64], given: &[i8], bands: &[f64]) {
        self.restart_with(values);
        for (function, (&given, &band)) in given.iter().zip(bands).enumerate() {
            let value = values[function];
            // A status that the value contradicts was found with other rounding errors: it is left when the value goes on.
            let contradicts = f64::from(given) * value < 0.0 || given == 0;
            if value.abs() <= band || contradicts {
                self.status[function] = given;
                self.zero[function] = band.max(2.0 * value.abs()).max(ZERO_INTERVAL);
                self.shift[function] = f64::from(given) * self.zero[function];
                self.left[function] += self.shift[function];
            }
        }
    }

    /// A function that is out of its band on its own side crosses at zero from now on.
    fn drop_shifts(&mut self) {
        self.note_sizes();
        for (function, shift) in self.shift.iter_mut().enumerate() {
            if is_shifted_out(*shift, self.status[function], self.left[function]) {
                self.left[function] -= *shift;
                *shift = 0.0;
            }
        }
    }

    /// Forgets the last search, which found no event: the next one begins at `t`, a time of the step that it went over, with
    /// the signs that were frozen before.
    pub fn go_back(
        &mut self,
        functions: &mut dyn CrossingFunctions,
        solution: &dyn DenseOutput,
        t: f64,
    ) -> Result<(), EvalError> {
        if self.status.is_empty() {
            return Ok(());
        }
        self.shift.copy_from_slice(&self.shift_before);
        self.evaluate_at(functions, solution, t, Values::Probe)?;
        std::mem::swap(&mut self.left, &mut self.probe);
        self.previous_length = 0.0;
        Ok(())
    }

    /// Overrides one status, for relations whose value is kept by other means than the sign (hysteresis).
    pub fn set_status(&mut self, function: usize, status: i8) {
        if let Some(place) = self.status.get_mut(function) {
            *place = status;
        }
    }

    /// Half the width of the interval around zero in which a function keeps the status that it had at the restart.
    pub fn band(&self, function: usize) -> f64 {
        self.zero.get(function).copied().unwrap_or(ZERO_INTERVAL)
    }

    /// The sign of each function.
    pub fn status(&self) -> &[i8] {
        &self.status
    }

    /// What is added to a function before its sign is compared with its status.
    pub fn shifts(&self) -> &[f64] {
        &self.shift
    }

    /// How far a function of status zero is from zero when it leaves.
    pub fn zeros(&self) -> &[f64] {
        &self.zero
    }

    /// Whether a function was zero, or so near to it that rounding decides, when its sign was frozen, and has not left since.
    pub fn began_at_zero(&self, function: usize) -> bool {
        self.status[function] == 0 || self.shift[function] != 0.0
    }

    /// The functions that triggered at the event found last.
    pub fn crossings(&self) -> &[Crossing] {
        &self.crossings
    }

    /// How far a function has been from zero, at all and since the signs were frozen last, as far as that was seen.
    pub fn sizes(&self, function: usize) -> (f64, f64) {
        let excursion = self.excursion[function];
        (self.largest[function].max(excursion), excursion)
    }

    /// Takes note of the values at a time at which nothing has triggered.
    fn note_sizes(&mut self) {
        for (excursion, left) in self.excursion.iter_mut().zip(&self.left) {
            *excursion = excursion.max(left.abs());
        }
    }

    /// The event found last is not the first one.
    pub fn forget_crossings(&mut self) {
        self.crossings.clear();
    }

    /// Evaluations of the whole vector of functions.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// Searches `[t_old, t_new]` of the last step for the first event. Without one, the values at the
    /// end become the start of the next search. With one, the caller handles it and calls `restart`.
    pub fn search(
        &mut self,
        functions: &mut dyn CrossingFunctions,
        solution: &dyn DenseOutput,
        t_old: f64,
        t_new: f64,
    ) -> Result<Option<Event>, EvalError> {
        self.crossings.clear();
        if self.status.is_empty() || t_new <= t_old {
            return Ok(None);
        }
        self.shift_before.copy_from_slice(&self.shift);
        let mut a = t_old;
        while a < t_new {
            let longest = self.resolution.min(self.piece_length);
            let pieces = ((t_new - a) / longest).ceil().clamp(1.0, 1e6);
            let b = if pieces == 1.0 { t_new } else { a + (t_new - a) / pieces };
            let piece = self.shorten(functions, solution, Interval { a, b })?;
            if let Some(event) = self.search_piece(functions, solution, piece)? {
                return Ok(Some(event));
            }
            a = piece.b;
        }
        Ok(None)
    }

    /// The first part of an interval in which parabolas describe the functions that may reach zero; leaves the values at its
    /// end.
    fn shorten(
        &mut self,
        functions: &mut dyn CrossingFunctions,
        solution: &dyn DenseOutput,
        mut interval: Interval,
    ) -> Result<Interval, EvalError> {
        const MOST_HALVINGS: u32 = 24;
        let whole = interval;
        self.near_is_known = [false; 2];
        self.middle_is_known = false;
        self.evaluate_at(functions, solution, interval.b, Values::End)?;
        for _ in 0..MOST_HALVINGS {
            let length = interval.b - interval.a;
            let is_long = length >= 0.75 * self.piece_length;
            if !(0..self.status.len()).any(|function| self.is_in_question(function, length)) {
                self.piece_length *= if is_long { 1.2 } else { 1.0 };
                return Ok(interval);
            }
            self.evaluate_at(functions, solution, interval.middle(), Values::Middle)?;
            self.middle_is_known = true;
            self.value_near_end(functions, solution, 0, interval.a + SLOPE_PROBE * length, 0)?;
            let doubt = self.largest_doubt(length);
            if doubt < 0.15 && is_long {
                self.piece_length *= 2.0;
            }
            if doubt <= LARGEST_DOUBT {
                return Ok(interval);
            }
            if length <= SHORTEST_PIECE * interval.b.abs() {
                if interval.b == whole.b {
                    return Ok(interval);
                }
                break;
            }
            std::mem::swap(&mut self.end, &mut self.middle);
            (self.near_is_known, self.middle_is_known) = ([false; 2], false);
            interval.b = interval.middle();
            self.piece_length = interval.b - interval.a;
        }
        // What looks the same at every length is rounding or a jump, and no length describes it.
        self.note_rough(interval.b - interval.a);
        self.piece_length = f64::INFINITY;
        (self.near_is_known, self.middle_is_known) = ([false; 2], false);
        self.evaluate_at(functions, solution, whole.b, Values::End)?;
        Ok(whole)
    }

    /// Whether a function is to be described by a parabola in an interval of this length.
    fn is_in_question(&self, function: usize, length: f64) -> bool {
        self.rough[function] < MOST_ROUGH && self.may_touch(function, length)
    }

    fn largest_doubt(&self, length: f64) -> f64 {
        let in_question = (0..self.status.len()).filter(|&function| self.is_in_question(function, length));
        in_question.map(|function| self.doubt(function)).fold(0.0, f64::max)
    }

    /// Remembers which functions no length describes. The values in `middle`, which were at the end of the last interval but
    /// one, and those at the ends of the last one tell.
    fn note_rough(&mut self, length: f64) {
        for function in 0..self.status.len() {
            let (left, end) = (self.left[function], self.end[function]);
            let moved = (end - left).abs() + (self.middle[function] - end).abs();
            if self.may_touch(function, length) && moved > 0.0 {
                self.rough[function] = self.rough[function].saturating_add(1);
            }
        }
    }

    /// How far a function is from what its values at three points and its slope at the first say; towards 1 it does more
    /// than that in between.
    fn doubt(&self, function: usize) -> f64 {
        let (left, middle, end) = (self.left[function], self.middle[function], self.end[function]);
        let near = self.near[0][function];
        // Near zero rounding makes stairs of a function, and no length describes a stair; it hides nothing either.
        if near == left && (middle == left || middle == end) {
            return 0.0;
        }
        let climb = (near - left) / SLOPE_PROBE;
        let spread = left.max(middle).max(end) - left.min(middle).min(end);
        let rounding = 1e-9 * left.abs().max(middle.abs()).max(end.abs());
        let parabola = left + 0.5 * climb + 0.25 * (end - left - climb);
        let off = (climb.abs() / 4.0).max(2.0 * (middle - parabola).abs());
        if off <= rounding { 0.0 } else { off / spread.max(f64::MIN_POSITIVE) }
    }

    /// Searches an interval at whose end the values are known.
    fn search_piece(
        &mut self,
        functions: &mut dyn CrossingFunctions,
        solution: &dyn DenseOutput,
        interval: Interval,
    ) -> Result<Option<Event>, EvalError> {
        let mut found = None;
        if self.any_triggered(&self.end) {
            self.right.copy_from_slice(&self.end);
            found = Some(interval.b);
        }
        let in_doubt = (0..self.status.len()).any(|function| self.may_touch(function, interval.b - interval.a));
        if in_doubt {
            if !self.middle_is_known {
                self.evaluate_at(functions, solution, interval.middle(), Values::Middle)?;
            }
            if self.any_triggered(&self.middle) {
                self.right.copy_from_slice(&self.middle);
                found = Some(interval.middle());
            } else {
                for function in 0..self.status.len() {
                    let limit = found.unwrap_or(interval.b);
                    if self.may_touch(function, interval.b - interval.a)
                        && let Some(t) = self.touch(functions, solution, function, interval, limit)?
                    {
                        found = Some(t);
                    }
                }
            }
        }
        if let Some(t) = found {
            let mut bracket = (interval.a, t, None);
            if in_doubt && t == interval.b {
                // Nothing had triggered in the middle.
                std::mem::swap(&mut self.third, &mut self.left);
                self.left.copy_from_slice(&self.middle);
                bracket = (interval.middle(), t, Some(interval.a));
            } else if t == interval.middle() {
                self.third.copy_from_slice(&self.end);
                bracket.2 = Some(interval.b);
            }
            let accuracy = TIME_ACCURACY * (interval.b - interval.a);
            return self.locate(functions, solution, bracket, accuracy).map(Some);
        }
        std::mem::swap(&mut self.previous, &mut self.left);
        std::mem::swap(&mut self.left, &mut self.end);
        self.drop_shifts();
        self.previous_length = interval.b - interval.a;
        Ok(None)
    }

    /// Whether the values at hand leave it open that the function touches zero inside an interval of this length.
    fn may_touch(&self, function: usize, length: f64) -> bool {
        if self.status[function] == 0 {
            return false;
        }
        if self.previous_length == 0.0 {
            return true;
        }
        let (left, end) = (self.left[function], self.end[function]);
        let ratio = (length / self.previous_length).min(10.0);
        let moved = (end - left).abs() + ratio * (left - self.previous[function]).abs();
        !(left.abs().min(end.abs()) > moved)
    }

    /// Searches the extreme of one function that heads for zero and returns, before `limit`.
    fn touch(
        &mut self,
        functions: &mut dyn CrossingFunctions,
        solution: &dyn DenseOutput,
        function: usize,
        interval: Interval,
        limit: f64,
    ) -> Result<Option<f64>, EvalError> {
        let status = self.status[function];
        let sign = f64::from(status);
        let length = interval.b - interval.a;
        let (mut a, mut b, mut c) = (interval.a, interval.middle(), interval.b);
        let (mut fa, mut fb, mut fc) =
            (sign * self.left[function], sign * self.middle[function], sign * self.end[function]);
        let spread = fa.max(fb).max(fc) - fa.min(fb).min(fc);
        if fa.min(fb).min(fc) > spread {
            return Ok(None);
        }
        // The lines along which the function comes to the three points from outside, once it is known to have a corner.
        let mut outside: Option<[Line; 2]> = None;
        let (first, second) = (Line::through((a, fa), (b, fb)), Line::through((b, fb), (c, fc)));
        let reaches = first.slope < 0.0 && first.zero() < c;
        // Behind an event the function is near zero, and what looks like a turn is the error of the first values.
        let is_away = self.previous_length > 0.0 || fa > 1e-3 * spread;
        let comes_from = second.slope > 0.0 && second.zero() > a && is_away;
        match parabola_vertex(a, fa, b, fb, c, fc) {
            // The extreme may still lie just inside: the slope at that end decides.
            Some((vertex, _)) if vertex >= c && (vertex < c + 0.5 * length || reaches) => {
                let near = c - SLOPE_PROBE * length;
                let value = sign * self.value_near_end(functions, solution, 1, near, function)?;
                if value >= fc {
                    return Ok(None);
                }
                outside = reaches.then(|| [first, Line::through((near, value), (c, fc))]);
                (a, fa, b, fb) = (b, fb, near, value);
            }
            Some((vertex, _)) if vertex <= a && (vertex > a - 0.5 * length || comes_from) => {
                let near = a + SLOPE_PROBE * length;
                let value = sign * self.value_near_end(functions, solution, 0, near, function)?;
                if value >= fa {
                    return Ok(None);
                }
                outside = comes_from.then(|| [Line::through((near, value), (a, fa)), second]);
                (c, fc, b, fb) = (b, fb, near, value);
            }
            _ => {}
        }
        for _ in 0..MOST_PROBES {
            let corner = outside.and_then(|[left, right]| left.meets(right));
            let corner = corner.filter(|&(t, value)| t > a && t < c && value < 0.5 * fb && t != b);
            let candidate = match corner {
                Some(found) => Some(found),
                None => parabola_minimum(a, fa, b, fb, c, fc).filter(|&(_, lowest)| {
                    // The parabola misjudges the dip by a part of what the function varies over the three points.
                    let spread = fa.max(fb).max(fc) - fa.min(fb).min(fc);
                    (lowest <= 0.5 * spread || reaches || comes_from) && spread != 0.0
                }),
            };
            let Some((vertex, lowest)) = candidate else { return Ok(None) };
            if vertex <= interval.a || vertex >= limit {
                return Ok(None);
            }
            if (vertex - b).abs() <= 1e-12 * length || c - a <= 1e-9 * length {
                return Ok(None);
            }
            self.evaluate_at(functions, solution, vertex, Values::Probe)?;
            let value = sign * self.probe[function];
            if triggered(status, self.probe[function], self.zero[function]) {
                self.right.copy_from_slice(&self.probe);
                return Ok(Some(vertex));
            }
            let spread = fa.max(fb).max(fc) - fa.min(fb).min(fc);
            let is_bent = corner.is_none() && outside.is_none() && (value - lowest).abs() > BENT * spread;
            if !is_bent && corner.is_none() && (value - fb).abs() <= 1e-3 * value.min(fb) {
                // The extreme is known to a fraction of its distance from zero: no touch.
                return Ok(None);
            }
            if is_bent {
                let near = SLOPE_PROBE * length;
                let left = sign * self.value_near_end(functions, solution, 0, interval.a + near, function)?;
                let right = sign * self.value_near_end(functions, solution, 1, interval.b - near, function)?;
                let (first, last) = (sign * self.left[function], sign * self.end[function]);
                outside = Some([
                    Line { t: interval.a, value: first, slope: (left - first) / near },
                    Line { t: interval.b, value: last, slope: (last - right) / near },
                ]);
            }
            // Keeps three points around the lowest value.
            let before = [(a, fa), (b, fb), (c, fc)];
            if vertex < b {
                if value <= fb { (c, fc, b, fb) = (b, fb, vertex, value) } else { (a, fa) = (vertex, value) }
            } else if value <= fb {
                (a, fa, b, fb) = (b, fb, vertex, value);
            } else {
                (c, fc) = (vertex, value);
            }
            if let Some([left, right]) = &mut outside {
                if a != before[0].0 {
                    *left = Line::through(before[0], (a, fa));
                }
                if c != before[2].0 {
                    *right = Line::through((c, fc), before[2]).at((c, fc));
                }
            }
        }
        Ok(None)
    }

    /// The value of a function near the left (0) or right (1) end of the interval, all functions evaluated at once.
    fn value_near_end(
        &mut self,
        functions: &mut dyn CrossingFunctions,
        solution: &dyn DenseOutput,
        side: usize,
        t: f64,
        function: usize,
    ) -> Result<f64, EvalError> {
        if !self.near_is_known[side] {
            self.evaluate_at(functions, solution, t, Values::Probe)?;
            std::mem::swap(&mut self.near[side], &mut self.probe);
            self.near_is_known[side] = true;
        }
        Ok(self.near[side][function])
    }

    /// Shrinks the bracket between a time at which nothing has triggered (values in `left`) and one at which something has
    /// (values in `right`), perhaps with a third time (values in `third`).
    fn locate(
        &mut self,
        functions: &mut dyn CrossingFunctions,
        solution: &dyn DenseOutput,
        (begin, b, third): (f64, f64, Option<f64>),
        accuracy: f64,
    ) -> Result<Event, EvalError> {
        let tolerance = (TIME_RESOLUTION * b.abs()).max(accuracy).max(f64::MIN_POSITIVE);
        let mut bracket = Bracket::new(begin, b, third, tolerance);
        self.narrow(functions, solution, &mut bracket)?;
        let far = bracket.b;
        if let Some(middle) = self.leave_bands(functions, solution, begin, bracket.a)? {
            bracket = Bracket::new(middle, bracket.b, None, tolerance);
            self.narrow(functions, solution, &mut bracket)?;
        }
        let (a, mut b) = (bracket.a, bracket.b);
        self.note_flight(functions, solution, third.map_or(begin, |third| third.min(begin)), a)?;
        b = self.pass_exact_zeros(functions, solution, b, tolerance, far)?;
        for (function, (status, value)) in self.status.iter().zip(&self.right).enumerate() {
            if triggered(*status, *value, self.zero[function]) {
                let to = sign_of(*value - self.shift[function]);
                self.crossings.push(Crossing { function, from: *status, to });
            }
        }
        Ok(Event { t_before: a, t: b })
    }

    fn narrow(
        &mut self,
        functions: &mut dyn CrossingFunctions,
        solution: &dyn DenseOutput,
        bracket: &mut Bracket,
    ) -> Result<(), EvalError> {
        while let Some(t) = bracket.probe(self.earliest(bracket)) {
            self.evaluate_at(functions, solution, t, Values::Probe)?;
            let triggered = self.any_triggered(&self.probe);
            let end = if triggered { &mut self.right } else { &mut self.left };
            std::mem::swap(&mut self.third, end);
            std::mem::swap(end, &mut self.probe);
            bracket.narrow(t, triggered);
            if !triggered {
                self.note_sizes();
            }
        }
        Ok(())
    }

    /// A function that left its band and came back within one step crosses at zero, not at the far edge of the band: the middle
    /// between `begin` and the event tells. Returns the middle, whose values are in `left`, where there is such a function.
    fn leave_bands(
        &mut self,
        functions: &mut dyn CrossingFunctions,
        solution: &dyn DenseOutput,
        begin: f64,
        end: f64,
    ) -> Result<Option<f64>, EvalError> {
        let is_shifted = |function: usize| {
            self.shift[function] != 0.0 && triggered(self.status[function], self.right[function], self.zero[function])
        };
        if !(0..self.status.len()).any(is_shifted) {
            return Ok(None);
        }
        let middle = 0.5 * (begin + end);
        self.evaluate_at(functions, solution, middle, Values::Probe)?;
        let mut is_left = false;
        for function in 0..self.status.len() {
            let shift = self.shift[function];
            if is_shifted_out(shift, self.status[function], self.probe[function]) {
                self.shift[function] = 0.0;
                for values in [&mut self.probe, &mut self.right] {
                    values[function] -= shift;
                }
                is_left = true;
            }
        }
        if !is_left {
            return Ok(None);
        }
        std::mem::swap(&mut self.left, &mut self.probe);
        self.note_sizes();
        Ok(Some(middle))
    }

    /// A function that was seen near zero only may have gone far in between, from `begin` to the event: the middle tells.
    fn note_flight(
        &mut self,
        functions: &mut dyn CrossingFunctions,
        solution: &dyn DenseOutput,
        begin: f64,
        end: f64,
    ) -> Result<(), EvalError> {
        const NEAR: f64 = 1e-6;
        let is_near = |function: usize| {
            let crosses = triggered(self.status[function], self.right[function], self.zero[function]);
            crosses && self.excursion[function] < NEAR * self.largest[function]
        };
        if !(0..self.status.len()).any(is_near) {
            return Ok(());
        }
        self.evaluate_at(functions, solution, 0.5 * (begin + end), Values::Probe)?;
        for (excursion, value) in self.excursion.iter_mut().zip(&self.probe) {
            *excursion = excursion.max(value.abs());
        }
        Ok(())
    }

    /// A secant step often hits zero exactly. Within the accuracy the far side is as good a time, and it spares the
    /// second event at which the function would leave zero. At `far` it has left the band that it had.
    fn pass_exact_zeros(
        &mut self,
        functions: &mut dyn CrossingFunctions,
        solution: &dyn DenseOutput,
        t: f64,
        tolerance: f64,
        far: f64,
    ) -> Result<f64, EvalError> {
        let hits = |status: &i8, value: &f64| *status != 0 && sign_of(*value) == 0;
        if !self.status.iter().zip(&self.right).any(|(status, value)| hits(status, value)) {
            return Ok(t);
        }
        // Rounding can keep a flat function at zero for a while.
        let mut distance = tolerance;
        while distance <= (16.0 * tolerance).max(far - t) {
            let later = t + distance;
            if later > solution.time() {
                break;
            }
            self.evaluate_at(functions, solution, later, Values::Probe)?;
            let mut pairs = self.status.iter().zip(self.right.iter().zip(&self.probe));
            if pairs.all(|(status, (now, later))| !hits(status, now) || sign_of(*later) == -*status) {
                std::mem::swap(&mut self.right, &mut self.probe);
                return Ok(later);
            }
            distance *= 2.0;
        }
        Ok(t)
    }

    /// The fraction of the bracket at which the first of the triggered functions is expected to be zero.
    fn earliest(&self, bracket: &Bracket) -> f64 {
        let mut earliest = 1.0_f64;
        for (function, status) in self.status.iter().enumerate() {
            let (left, right) = (self.left[function], self.right[function]);
            if triggered(*status, right, self.zero[function]) {
                // A function that was zero leaves at once: only halving helps.
                let root = if *status == 0 { 0.5 } else { bracket.root(left, right, self.third[function]) };
                earliest = earliest.min(root);
            }
        }
        earliest
    }

    fn any_triggered(&self, values: &[f64]) -> bool {
        let mut functions = self.status.iter().zip(values).zip(&self.zero);
        functions.any(|((status, value), zero)| triggered(*status, *value, *zero))
    }

    fn evaluate_at(
        &mut self,
        functions: &mut dyn CrossingFunctions,
        solution: &dyn DenseOutput,
        t: f64,
        target: Values,
    ) -> Result<(), EvalError> {
        self.evaluations += 1;
        solution.interpolate(t, &mut self.x);
        let values = match target {
            Values::End => &mut self.end,
            Values::Middle => &mut self.middle,
            Values::Probe => &mut self.probe,
        };
        functions.evaluate(t, &self.x, values)?;
        values.iter_mut().zip(&self.shift).for_each(|(value, shift)| *value += shift);
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Interval {
    a: f64,
    b: f64,
}

impl Interval {
    fn middle(self) -> f64 {
        0.5 * (self.a + self.b)
    }
}

#[derive(Clone, Copy)]
enum Values {
    End,
    Middle,
    Probe,
}

/// A straight line through a point.
#[derive(Clone, Copy)]
struct Line {
    t: f64,
    value: f64,
    slope: f64,
}

impl Line {
    /// Through two points, the second of which it is taken at.
    fn through(first: (f64, f64), second: (f64, f64)) -> Self {
        Self { t: second.0, value: second.1, slope: (second.1 - first.1) / (second.0 - first.0) }
    }

    /// The time at which it is zero.
    fn zero(self) -> f64 {
        self.t - self.value / self.slope
    }

    fn at(self, (t, value): (f64, f64)) -> Self {
        Self { t, value, ..self }
    }

    /// Where it comes down to another one that goes up.
    fn meets(self, other: Self) -> Option<(f64, f64)> {
        if !(self.slope < 0.0 && other.slope > 0.0) {
            return None;
        }
        let (down, up) = (self.slope, other.slope);
        // Relative to the point of the first, so that late times cost no digits.
        let way = (other.value - self.value - up * (other.t - self.t)) / (down - up);
        Some((self.t + way, self.value + down * way))
    }
}

/// The lowest point of the parabola through three points, if it opens upwards and has it strictly inside.
fn parabola_minimum(a: f64, fa: f64, b: f64, fb: f64, c: f64, fc: f64) -> Option<(f64, f64)> {
    parabola_vertex(a, fa, b, fb, c, fc).filter(|(vertex, _)| *vertex > a && *vertex < c)
}

/// The lowest point of the parabola through three points, if it opens upwards.
fn parabola_vertex(a: f64, fa: f64, b: f64, fb: f64, c: f64, fc: f64) -> Option<(f64, f64)> {
    let left = (fb - fa) / (b - a);
    let right = (fc - fb) / (c - b);
    let curvature = (right - left) / (c - a);
    if !(curvature > 0.0) {
        return None;
    }
    let vertex = 0.5 * (a + b) - 0.5 * left / curvature;
    Some((vertex, fa + (vertex - a) * (left + curvature * (vertex - b))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ode::{Integrator, OdeProblem, Options, Statistics, Step};
    use crate::{StepError, tsit5::Tsit5};

    /// An "integrator" whose dense output is time itself, so that functions of time are seen exactly.
    #[derive(Clone)]
    struct Clock {
        t: f64,
    }

    impl DenseOutput for Clock {
        fn time(&self) -> f64 {
            self.t
        }

        fn interpolate(&self, t: f64, out: &mut [f64]) {
            out.fill(t);
        }

        fn interpolate_some(&self, t: f64, _: &[usize], out: &mut [f64]) {
            out.fill(t);
        }

        fn degree(&self) -> usize {
            1
        }
    }

    impl Integrator for Clock {
        fn start(&mut self, _: &mut dyn OdeProblem, t: f64, _: &[f64], _: Option<f64>) -> Result<(), StepError> {
            self.t = t;
            Ok(())
        }
        fn step(&mut self, _: &mut dyn OdeProblem, t_limit: f64) -> Result<Step, StepError> {
            let t_old = std::mem::replace(&mut self.t, t_limit);
            Ok(Step { t_old, t_new: t_limit, at_limit: true })
        }
        fn restart(&mut self, _: &mut dyn OdeProblem, t: f64, _: &[f64]) -> Result<(), StepError> {
            self.t = t;
            Ok(())
        }
        fn reset(&mut self, _: usize) {}
        fn state(&self) -> &[f64] {
            &[]
        }
        fn statistics(&self) -> Statistics {
            Statistics::default()
        }
        fn name(&self) -> &'static str {
            "clock"
        }
    }

    struct Functions<F: Fn(f64, &mut [f64])>(usize, F);

    impl<F: Fn(f64, &mut [f64])> CrossingFunctions for Functions<F> {
        fn count(&self) -> usize {
            self.0
        }
        fn evaluate(&mut self, t: f64, _: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
            (self.1)(t, values);
            Ok(())
        }
    }

    #[test]
    fn a_band_keeps_the_status_it_is_given() {
        // Starts at −1e-14 as positive: rounding. It then leaves upwards without an event and comes back at t = 2.
        let mut functions = Functions(1, |t, values| values[0] = if t == 0.0 { -1e-14 } else { t * (2.0 - t) });
        let mut finder = RootFinder::new(1, 1);
        finder.restart_in_bands(&[-1e-14], &[1], &[1e-12]);
        assert_eq!(finder.search(&mut functions, &Clock { t: 1.0 }, 0.0, 1.0).unwrap(), None);
        let event = finder.search(&mut functions, &Clock { t: 3.0 }, 1.0, 3.0).unwrap().unwrap();
        assert!((event.t - 2.0).abs() < 1e-11);
        // Within one step as well.
        finder.restart_in_bands(&[-1e-14], &[1], &[1e-3]);
        let event = finder.search(&mut functions, &Clock { t: 3.0 }, 0.0, 3.0).unwrap().unwrap();
        assert!((event.t - 2.0).abs() < 1e-11, "{event:?}");
        // Leaving on the other side is an event at once.
        let mut functions = Functions(1, |t, values| values[0] = -1e-14 - t);
        finder.restart_in_bands(&[-1e-14], &[1], &[1e-12]);
        let event = finder.search(&mut functions, &Clock { t: 1.0 }, 0.0, 1.0).unwrap().unwrap();
        assert!(event.t < 1e-11);
        assert_eq!(finder.crossings(), [Crossing { function: 0, from: 1, to: -1 }]);
    }

    #[test]
    fn a_status_that_its_value_contradicts_is_left_soon() {
        // Frozen as positive at −1e-9, and falling: outside of the band, so that only the contradiction tells.
        let mut functions = Functions(1, |t, values| values[0] = -1e-9 - t);
        let mut finder = RootFinder::new(1, 1);
        finder.restart_in_bands(&[-1e-9], &[1], &[1e-15]);
        let event = finder.search(&mut functions, &Clock { t: 1.0 }, 0.0, 1.0).unwrap().unwrap();
        assert!(event.t < 2e-9, "{event:?}");
        assert_eq!(finder.crossings(), [Crossing { function: 0, from: 1, to: -1 }]);
        // So is one that is frozen as zero.
        finder.restart_in_bands(&[-1e-9], &[0], &[1e-15]);
        let event = finder.search(&mut functions, &Clock { t: 1.0 }, 0.0, 1.0).unwrap().unwrap();
        assert!(event.t < 2e-9, "{event:?}");
        assert_eq!(finder.crossings(), [Crossing { function: 0, from: 0, to: -1 }]);
    }

    /// Rounding makes stairs of a function that goes to zero: none of them is looked at closer and closer.
    #[test]
    fn stairs_of_rounding_take_no_more_than_a_slope() {
        let stair = 8.135e-14;
        let value = |t: f64| stair * (60.0 * (-t).exp()).ceil();
        let mut functions = Functions(1, |t, values: &mut [f64]| values[0] = value(t));
        let mut finder = RootFinder::new(1, 1);
        finder.restart(&mut functions, 0.0, &[0.0]).unwrap();
        let mut t = 0.0;
        while t < 8.0 {
            let t_new = t + 0.1;
            assert_eq!(finder.search(&mut functions, &Clock { t: t_new }, t, t_new).unwrap(), None);
            t = t_new;
        }
        assert!(finder.evaluations() < 1000, "{}", finder.evaluations());
    }

    type Found = (f64, Vec<(usize, i8, i8)>);

    /// All events in [0, end] with one step of the given length each, restarted at each event.
    fn events(count: usize, end: f64, h: f64, function: impl Fn(f64, &mut [f64])) -> Vec<Found> {
        let mut functions = Functions(count, function);
        let mut finder = RootFinder::new(count, 1);
        let mut t = 0.0;
        finder.restart(&mut functions, t, &[0.0]).unwrap();
        let mut found = Vec::new();
        while t < end {
            let t_new = (t + h).min(end);
            let clock = Clock { t: t_new };
            match finder.search(&mut functions, &clock, t, t_new).unwrap() {
                None => t = t_new,
                Some(event) => {
                    assert!(event.t - event.t_before <= 1e-12 * event.t.max(h) * 1.6, "{event:?}");
                    found.push((event.t, finder.crossings().iter().map(|c| (c.function, c.from, c.to)).collect()));
                    t = event.t;
                    finder.restart(&mut functions, t, &[t]).unwrap();
                }
            }
            assert!(found.len() < 100, "{found:?}");
        }
        found
    }

    #[test]
    fn several_roots_in_one_step_come_in_order() {
        let found = events(3, 1.0, 1.0, |t, z| {
            z[0] = t - 0.7;
            z[1] = 0.2 - t;
            z[2] = (t - 0.7) * 1e-6;
        });
        assert_eq!(found.len(), 2);
        assert!((found[0].0 - 0.2).abs() < 1e-12);
        assert_eq!(found[0].1, [(1, 1, -1)]);
        assert!((found[1].0 - 0.7).abs() < 1e-12);
        assert_eq!(found[1].1.iter().map(|c| c.0).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn crossing_and_return_inside_one_step() {
        // Negative only between 0.30 and 0.31.
        let found = events(1, 1.0, 1.0, |t, z| z[0] = (t - 0.30) * (t - 0.31));
        let times: Vec<f64> = found.iter().map(|f| f.0).collect();
        assert_eq!(times.len(), 2);
        assert!((times[0] - 0.30).abs() < 1e-12 && (times[1] - 0.31).abs() < 1e-12);
        // Almost touching is none.
        assert!(events(1, 1.0, 1.0, |t, z| z[0] = (t - 0.3) * (t - 0.3) + 1e-6).is_empty());
        // A cosine that dips below zero in the middle of a step.
        let found = events(1, 7.0, 1.6, |t, z| z[0] = t.cos() + 0.999);
        assert_eq!(found.len(), 2);
        assert!((found[0].0 - (-0.999_f64).acos()).abs() < 1e-11);
    }

    /// A narrow window around a corner, however the steps lie, with straight and with bent sides.
    #[test]
    fn corners() {
        let functions: [fn(f64, f64) -> f64; 3] = [
            |t, c| (t - c).abs(),
            |t, c| (t.sin() - c.sin()).abs(),
            |t, c| if t > c { 3.0 * (t - c) } else { 0.5 * (c - t) },
        ];
        for (kind, function) in functions.into_iter().enumerate() {
            let mut missed = Vec::new();
            for place in 0..40 {
                let corner = 0.2 + 0.03 * f64::from(place);
                for (step, width) in [(1.5, 1e-3), (1.5, 1e-6), (0.37, 1e-4), (0.1, 1e-7)] {
                    let found = events(1, 1.5, step, |t, z| z[0] = function(t, corner) - width);
                    if found.len() != 2 {
                        missed.push((corner, step, width, found.len()));
                    }
                }
            }
            assert!(missed.is_empty(), "{kind}: {} missed, such as {:?}", missed.len(), &missed[..missed.len().min(8)]);
        }
    }

    #[test]
    fn residue_that_starts_at_zero() {
        // Stays zero until 0.5, then leaves in either direction.
        for direction in [1.0, -1.0] {
            let found = events(1, 1.0, 0.25, |t, z| z[0] = direction * (t - 0.5).max(0.0));
            assert_eq!(found.len(), 1);
            assert!((found[0].0 - 0.5).abs() < 1e-11);
            assert_eq!(found[0].1, [(0, 0, direction as i8)]);
        }
        // Leaves at once: one event at the start, then silence.
        let found = events(1, 1.0, 0.25, |t, z| z[0] = t);
        assert_eq!(found.len(), 1);
        assert!(found[0].0 < 1e-11);
    }

    #[test]
    fn exact_zero_at_the_end_of_a_step_is_an_event() {
        let found = events(1, 1.0, 0.5, |t, z| z[0] = t - 0.5);
        assert_eq!(found[0].1, [(0, -1, 0)]);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].1, [(0, 0, 1)]);
    }

    #[test]
    fn steep_flat_and_discontinuous_functions() {
        let cases: [(&dyn Fn(f64) -> f64, f64); 4] = [
            (&|t| (t - 0.123).powi(9), 0.123),
            (&|t| ((t - 0.9) * 1e3).tanh(), 0.9),
            (&|t| if t < 1.0 / 3.0 { -1.0 } else { 1e-300 }, 1.0 / 3.0),
            (&|t| t.exp() - 1.5, 1.5_f64.ln()),
        ];
        for (function, root) in cases {
            let found = events(1, 1.0, 1.0, |t, z| z[0] = function(t));
            // Near the ninth-order root the function underflows to the zero interval on a finite piece.
            assert!(!found.is_empty() && (found[0].0 - root).abs() < 2e-4, "{found:?} {root}");
        }
        let found = events(1, 1.0, 1.0, |t, z| z[0] = t.exp() - 1.5);
        assert!((found[0].0 - 1.5_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn one_long_step_hides_nothing() {
        let mut functions = Functions(1, |t: f64, z: &mut [f64]| z[0] = (t + 0.1).sin());
        for resolution in [0.0, 1.0] {
            let mut finder = RootFinder::new(1, 1);
            finder.set_resolution(resolution);
            finder.restart(&mut functions, 0.0, &[0.0]).unwrap();
            let (mut t, mut found) = (0.0, 0);
            while let Some(event) = finder.search(&mut functions, &Clock { t: 100.0 }, t, 100.0).unwrap() {
                t = event.t;
                found += 1;
                finder.restart(&mut functions, t, &[t]).unwrap();
            }
            assert_eq!(found, 31);
        }
    }

    #[test]
    fn functions_that_no_integrator_follows_set_their_own_resolution() {
        // 3183 crossings in one step, and a function with two frequencies.
        let fast = |t: f64, z: &mut [f64]| z[0] = (1000.0 * t + 0.1).sin();
        let two = |t: f64, z: &mut [f64]| z[0] = (t + 0.3).sin() + 0.1 * (300.0 * t).sin();
        let crossings = |function: &dyn Fn(f64, &mut [f64])| {
            let mut functions = Functions(1, function);
            let mut finder = RootFinder::new(1, 1);
            finder.restart(&mut functions, 0.0, &[0.0]).unwrap();
            let (mut t, mut found) = (0.0, 0);
            while let Some(event) = finder.search(&mut functions, &Clock { t: 10.0 }, t, 10.0).unwrap() {
                t = event.t;
                found += 1;
                finder.restart(&mut functions, t, &[t]).unwrap();
            }
            (found, finder.evaluations() / found)
        };
        let (found, effort) = crossings(&fast);
        assert_eq!(found, 3183);
        assert!(effort < 30, "{effort}");
        // By sampling far more closely than its fastest part.
        let mut z = [0.0];
        let mut signs = (0..=1_000_000).map(|k| {
            two(1e-5 * f64::from(k), &mut z);
            z[0] > 0.0
        });
        let first = signs.next().unwrap();
        let changes =
            signs.scan(first, |last, sign| Some(std::mem::replace(last, sign) != sign)).filter(|&c| c).count();
        assert_eq!(crossings(&two).0, changes as u64);
    }

    #[test]
    fn rounding_is_no_oscillation() {
        let noise = |t: f64| if (t * 1e9).fract() > 0.5 { 1e-16 } else { -1e-16 };
        let mut functions = Functions(1, |t: f64, z: &mut [f64]| z[0] = 1e-12 + noise(t));
        let mut finder = RootFinder::new(1, 1);
        finder.restart(&mut functions, 0.0, &[0.0]).unwrap();
        for k in 0..10 {
            let t = 0.1 * f64::from(k);
            assert_eq!(finder.search(&mut functions, &Clock { t: t + 0.1 }, t, t + 0.1).unwrap(), None);
        }
        assert!(finder.evaluations() < 200, "{}", finder.evaluations());
    }

    #[test]
    fn quiet_functions_cost_one_evaluation_a_step() {
        let mut functions = Functions(2, |t: f64, z: &mut [f64]| {
            z[0] = 5.0 + 0.1 * t.sin();
            z[1] = -3.0;
        });
        let mut finder = RootFinder::new(2, 1);
        finder.restart(&mut functions, 0.0, &[0.0]).unwrap();
        for k in 0..100 {
            let t = 0.1 * f64::from(k);
            assert_eq!(finder.search(&mut functions, &Clock { t: t + 0.1 }, t, t + 0.1).unwrap(), None);
        }
        assert_eq!(finder.evaluations(), 103);
    }

    #[test]
    fn effort_for_a_smooth_root_is_small() {
        let mut functions = Functions(1, |t: f64, z: &mut [f64]| z[0] = (t - 0.3).sin());
        let mut finder = RootFinder::new(1, 1);
        finder.restart(&mut functions, 0.0, &[0.0]).unwrap();
        finder.search(&mut functions, &Clock { t: 1.0 }, 0.0, 1.0).unwrap().unwrap();
        // Two of them find out that a parabola describes it.
        assert!(finder.evaluations() <= 11, "{}", finder.evaluations());
    }

    #[test]
    fn bouncing_ball_by_dense_output() {
        struct Ball;
        impl OdeProblem for Ball {
            fn size(&self) -> usize {
                2
            }
            fn rhs(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
                dx[0] = x[1];
                dx[1] = -9.81;
                Ok(())
            }
        }
        struct Height;
        impl CrossingFunctions for Height {
            fn count(&self) -> usize {
                1
            }
            fn evaluate(&mut self, _: f64, x: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
                values[0] = x[0];
                Ok(())
            }
        }
        let mut ball = Tsit5::new(2, Options::with_tolerances(1e-8, 1e-8));
        let mut finder = RootFinder::new(1, 2);
        ball.start(&mut Ball, 0.0, &[1.0, 0.0], None).unwrap();
        finder.restart(&mut Height, 0.0, &[1.0, 0.0]).unwrap();
        let fall = (2.0_f64 / 9.81).sqrt();
        let (mut expected, mut flight) = (fall, 2.0 * fall);
        for _ in 0..10 {
            let event = loop {
                let step = ball.step(&mut Ball, 10.0).unwrap();
                if let Some(event) = finder.search(&mut Height, &ball, step.t_old, step.t_new).unwrap() {
                    break event;
                }
            };
            assert!((event.t - expected).abs() < 1e-7, "{} {expected}", event.t);
            let mut x = [0.0; 2];
            ball.interpolate(event.t, &mut x);
            x = [0.0, -0.5 * x[1]];
            ball.restart(&mut Ball, event.t, &x).unwrap();
            // The impact happened: the ball is above the ground from here on.
            finder.restart_with(&[1e-20]);
            flight *= 0.5;
            expected += flight;
        }
    }
}
