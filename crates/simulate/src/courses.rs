//! The courses of variables over a step as polynomials, for bounds over parts of it.
//!
//! A state is a polynomial over a step by itself, the dense output of its integrator. Of an unknown of an equation system only
//! values are known; the polynomial through them stands for it, with as much doubt as its highest coefficients are large.

use compile::Address;
use solve::{CrossingFunctions, DenseOutput, LARGEST_DEGREE, OdeProblem};

use crate::intervals::{Bounds, Interval};
use crate::machine::Machine;

const POINTS: usize = LARGEST_DEGREE + 1;

/// What a course is that of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// The number of a state.
    State(usize),
    /// The address of an unknown.
    Unknown(Address),
}

/// A polynomial over the step in terms of −1 … 1, and how far the variable may be from it.
#[derive(Clone, Copy, Default)]
struct Course {
    coefficients: [f64; POINTS],
    doubt: f64,
    slope_doubt: f64,
}

#[derive(Clone, Default)]
pub struct Courses {
    states: Vec<usize>,
    unknowns: Vec<Address>,
    courses: [Vec<Course>; 2],
    /// The matrices that make coefficients of values at the points, for each degree; made when first needed.
    fits: [Option<Box<Fit>>; POINTS],
    degree: usize,
    begin: f64,
    end: f64,
    /// Values at the points, for one point after the other.
    values: Vec<f64>,
    /// The state and the crossing functions at a point.
    x: Vec<f64>,
    residues: Vec<f64>,
    guessed: Vec<Interval>,
    recent: Recent,
}

/// The unknowns at the ends of the last step that was looked at.
#[derive(Clone, Default)]
struct Recent {
    begin: f64,
    end: f64,
    at_begin: Vec<f64>,
    at_end: Vec<f64>,
}

/// A place among the courses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    State(u32),
    Unknown(u32),
}

impl Courses {
    /// The place of a course; it is followed from now on.
    pub fn place(&mut self, source: Source) -> Place {
        match source {
            Source::State(state) => Place::State(position(&mut self.states, state)),
            Source::Unknown(address) => Place::Unknown(position(&mut self.unknowns, address)),
        }
    }

    /// What a course is that of.
    pub fn source(&self, place: Place) -> Source {
        match place {
            Place::State(state) => Source::State(self.states[state as usize]),
            Place::Unknown(unknown) => Source::Unknown(self.unknowns[unknown as usize]),
        }
    }

    /// Takes the courses of the states over the last step, or the part of it that is searched.
    pub fn follow_states(&mut self, solution: &dyn DenseOutput, begin: f64, end: f64) {
        (self.begin, self.end, self.degree) = (begin, end, solution.degree().clamp(1, LARGEST_DEGREE));
        let (degree, count) = (self.degree, self.states.len());
        if count == 0 {
            return;
        }
        self.values.resize((degree + 1) * count, 0.0);
        for (point, values) in self.values.chunks_mut(count).enumerate() {
            solution.interpolate_some(time_of(point, degree, begin, end), &self.states, values);
        }
        let fit = self.fits[degree].get_or_insert_with(|| Box::new(Fit::new(degree)));
        let steepness = time_rounding(begin, end);
        self.courses[0].clear();
        self.courses[0].extend((0..count).map(|place| fit.course(&self.values[place..], count, steepness)));
    }

    /// Guesses where unknowns are over the step from their values at its ends and in the step before, if these are known.
    pub fn guess_unknowns(&mut self, machine: &mut Machine, solution: &dyn DenseOutput) -> bool {
        let (begin, end) = (self.begin, self.end);
        let is_known = self.recent.end == begin && self.recent.at_end.len() == self.unknowns.len();
        if !is_known || self.evaluate(machine, solution, end).is_none() {
            return false;
        }
        let Recent { begin: before, at_begin, at_end, .. } = &mut self.recent;
        let ratio = ((end - begin) / (begin - *before)).min(10.0);
        self.guessed.clear();
        for ((&address, first), last) in self.unknowns.iter().zip(at_begin).zip(at_end) {
            let value = machine.memory.values[address as usize];
            let moved = (value - *last).abs() + ratio * (*last - *first).abs();
            self.guessed.push(Interval { low: value.min(*last) - moved, high: value.max(*last) + moved });
            (*first, *last) = (*last, value);
        }
        (self.recent.begin, self.recent.end) = (begin, end);
        true
    }

    /// The guess of the last step.
    pub fn guessed(&self, place: Place) -> Bounds {
        match place {
            Place::State(_) => self.bounds(place, self.begin, self.end),
            Place::Unknown(unknown) => Bounds { value: self.guessed[unknown as usize], slope: Interval::ALL },
        }
    }

    /// Takes the courses of the unknowns over the step; `None` where the model cannot be evaluated.
    pub fn follow_unknowns(&mut self, machine: &mut Machine, solution: &dyn DenseOutput) -> Option<()> {
        let (begin, end, count) = (self.begin, self.end, self.unknowns.len());
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        let mut outcome = Some(());
        // The end comes last, so that what is known there stays.
        for point in 0..POINTS {
            outcome =
                outcome.and_then(|()| self.evaluate(machine, solution, time_of(point, LARGEST_DEGREE, begin, end)));
            values.extend(self.unknowns.iter().map(|&address| machine.memory.values[address as usize]));
        }
        let fit = self.fits[LARGEST_DEGREE].get_or_insert_with(|| Box::new(Fit::new(LARGEST_DEGREE)));
        let steepness = time_rounding(begin, end);
        self.courses[1].clear();
        for place in 0..count {
            let mut course = fit.course(&values[place..], count, steepness);
            course.doubt_highest();
            self.courses[1].push(course);
        }
        self.recent.begin = begin;
        self.recent.end = end;
        self.recent.at_end.clear();
        self.recent.at_begin.clear();
        self.recent.at_begin.extend_from_slice(&values[..count]);
        self.recent.at_end.extend_from_slice(&values[LARGEST_DEGREE * count..]);
        self.values = values;
        outcome
    }

    fn evaluate(&mut self, machine: &mut Machine, solution: &dyn DenseOutput, time: f64) -> Option<()> {
        self.x.resize(machine.size(), 0.0);
        self.residues.resize(machine.count(), 0.0);
        solution.interpolate(time, &mut self.x);
        CrossingFunctions::evaluate(machine, time, &self.x, &mut self.residues).ok()
    }

    /// Bounds over a part of the step.
    pub fn bounds(&self, place: Place, begin: f64, end: f64) -> Bounds {
        let course = match place {
            Place::State(state) => &self.courses[0][state as usize],
            Place::Unknown(unknown) => &self.courses[1][unknown as usize],
        };
        let half = 0.5 * (self.end - self.begin);
        if begin == self.begin && end == self.end {
            return course.bounds(&course.coefficients, 1.0, half);
        }
        let middle = ((begin - self.begin) - (self.end - end)) / (2.0 * half);
        let mut shifted = course.coefficients;
        for first in 0..self.degree_of(place) {
            for k in (first..self.degree_of(place)).rev() {
                shifted[k] += middle * shifted[k + 1];
            }
        }
        course.bounds(&shifted, 0.5 * (end - begin) / half, half)
    }

    /// The time in which an unknown moves by as much as is in doubt about it.
    pub fn resolution(&self) -> f64 {
        let time = |course: &Course| {
            let moved: f64 = course.coefficients.iter().skip(1).map(|coefficient| coefficient.abs()).sum();
            if moved > 0.0 { course.doubt / moved } else { 0.0 }
        };
        0.5 * (self.end - self.begin) * self.courses[1].iter().map(time).fold(0.0, f64::max)
    }

    fn degree_of(&self, place: Place) -> usize {
        match place {
            Place::State(_) => self.degree,
            Place::Unknown(_) => LARGEST_DEGREE,
        }
    }
}

impl Course {
    /// Bounds of a polynomial around a middle, as far as `radius`; `half` is half the length of the step.
    fn bounds(&self, coefficients: &[f64; POINTS], radius: f64, half: f64) -> Bounds {
        let mut value = Interval { low: -self.doubt, high: self.doubt };
        let mut slope = Interval { low: -self.slope_doubt, high: self.slope_doubt };
        let mut power = 1.0;
        for (k, coefficient) in coefficients.iter().enumerate().skip(1) {
            widen(&mut slope, k as f64 * coefficient * power, k % 2 == 1 && k > 1, k == 1);
            power *= radius;
            widen(&mut value, coefficient * power, k % 2 == 0, false);
        }
        value = Interval { low: value.low + coefficients[0], high: value.high + coefficients[0] };
        Bounds { value, slope: Interval { low: slope.low / half, high: slope.high / half } }
    }

    /// What the polynomial lacks is not larger than its highest parts.
    fn doubt_highest(&mut self) {
        let [.., before, last] = self.coefficients;
        // The highest coefficient belongs to a wave 64 times smaller.
        let lacking = (before.abs() / 32.0).max(last.abs() / 64.0);
        self.doubt += 2.0 * lacking;
        self.slope_doubt += 2.0 * lacking * (LARGEST_DEGREE * LARGEST_DEGREE) as f64;
    }
}

/// Adds the range of `size·s^k` with s in −1 … 1, for even and odd k, or of a constant.
fn widen(range: &mut Interval, size: f64, is_even: bool, is_constant: bool) {
    match () {
        () if is_constant => *range = Interval { low: range.low + size, high: range.high + size },
        () if is_even => {
            range.low += size.min(0.0);
            range.high += size.max(0.0);
        }
        () => {
            range.low -= size.abs();
            range.high += size.abs();
        }
    }
}

/// The polynomial of some degree through values at the points of Chebyshev and Lobatto.
#[derive(Clone)]
struct Fit {
    degree: usize,
    matrix: [[f64; POINTS]; POINTS],
}

impl Fit {
    fn new(degree: usize) -> Self {
        let mut matrix = [[0.0; POINTS]; POINTS];
        for point in 0..=degree {
            // Lagrange's polynomial, 1 at this point and 0 at the others.
            let mut polynomial = [0.0; POINTS];
            polynomial[0] = 1.0;
            for other in (0..=degree).filter(|&other| other != point) {
                let (here, there) = (abscissa(point, degree), abscissa(other, degree));
                for k in (0..POINTS).rev() {
                    let below = if k > 0 { polynomial[k - 1] } else { 0.0 };
                    polynomial[k] = (below - there * polynomial[k]) / (here - there);
                }
            }
            for (row, coefficient) in matrix.iter_mut().zip(polynomial) {
                row[point] = coefficient;
            }
        }
        Self { degree, matrix }
    }

    /// The course through values that stand `stride` apart. `steepness` is the rounding of times in terms of the step.
    fn course(&self, values: &[f64], stride: usize, steepness: f64) -> Course {
        let mut course = Course::default();
        let first = values[0];
        let mut largest = 0.0_f64;
        for point in 1..=self.degree {
            let value = values[point * stride] - first;
            largest = largest.max(value.abs());
            for (coefficient, row) in course.coefficients.iter_mut().zip(&self.matrix).take(self.degree + 1) {
                *coefficient += row[point] * value;
            }
        }
        course.coefficients[0] += first;
        // The sum of the sizes of a Lagrange polynomial's coefficients is below some hundred.
        let rounding = largest * (256.0 * f64::EPSILON + 2.0 * steepness);
        course.doubt = rounding + 2.0 * f64::EPSILON * first.abs();
        course.slope_doubt = course.doubt * (self.degree * self.degree) as f64;
        course
    }
}

/// The points in −1 … 1, both ends among them.
fn abscissa(point: usize, degree: usize) -> f64 {
    match () {
        () if point == 0 => -1.0,
        () if point == degree => 1.0,
        () => -(std::f64::consts::PI * point as f64 / degree as f64).cos(),
    }
}

fn time_of(point: usize, degree: usize, begin: f64, end: f64) -> f64 {
    match () {
        () if point == 0 => begin,
        () if point == degree => end,
        () => begin + (end - begin) * 0.5 * (1.0 + abscissa(point, degree)),
    }
}

/// The rounding of times relative to the length of the step.
fn time_rounding(begin: f64, end: f64) -> f64 {
    f64::EPSILON * begin.abs().max(end.abs()) / (end - begin)
}

fn position<T: PartialEq>(list: &mut Vec<T>, wanted: T) -> u32 {
    let place = list.iter().position(|known| *known == wanted).unwrap_or_else(|| {
        list.push(wanted);
        list.len() - 1
    });
    place as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Polynomials of every degree with known values.
    struct Powers(usize);

    impl Powers {
        fn value(&self, t: f64) -> f64 {
            (0..=self.0).map(|k| (k as f64 + 0.3).sin() * 4.0 * t.powi(k as i32)).sum()
        }

        fn slope(&self, t: f64) -> f64 {
            (1..=self.0).map(|k| (k as f64 + 0.3).sin() * 4.0 * k as f64 * t.powi(k as i32 - 1)).sum()
        }
    }

    impl DenseOutput for Powers {
        fn time(&self) -> f64 {
            3.0
        }

        fn interpolate(&self, t: f64, out: &mut [f64]) {
            out.fill(self.value(t));
        }

        fn interpolate_some(&self, t: f64, _: &[usize], out: &mut [f64]) {
            out.fill(self.value(t));
        }

        fn degree(&self) -> usize {
            self.0
        }
    }

    #[test]
    fn bounds_of_polynomials_hold_and_are_narrow() {
        for degree in 1..=LARGEST_DEGREE {
            let solution = Powers(degree);
            let mut courses = Courses::default();
            let place = courses.place(Source::State(0));
            let (begin, end) = (-0.7, 1.1);
            courses.follow_states(&solution, begin, end);
            for piece in 0..40 {
                let a = begin + (end - begin) * 0.025 * f64::from(piece % 20);
                let b = if piece < 20 { end } else { a + 1e-3 };
                let bounds = courses.bounds(place, a, b);
                for step in 0..=10 {
                    let t = a + (b - a) * f64::from(step) / 10.0;
                    assert!(bounds.value.contains(solution.value(t)), "{degree}: {bounds:?} at {t}");
                    assert!(bounds.slope.contains(solution.slope(t)), "{degree}: slope {bounds:?} at {t}");
                }
                if piece >= 20 {
                    let moved = (solution.value(b) - solution.value(a)).abs();
                    assert!(bounds.value.high - bounds.value.low < moved + 1e-3, "{degree}: {bounds:?}");
                }
            }
        }
    }
}
