//! Comparison of trajectories inside a tube around the reference, after the Modelica Association's csv-compare.
//!
//! Unlike there, the height of the tube follows from how far the reference moves, not from its distance from zero: a temperature
//! around 300 K that swings by 1 K is compared within that 1 K.
//!
//! The tube is what a rectangle of half width `time_tolerance · duration` and half height `value_tolerance · range`
//! covers when it moves along the reference, so that an event which comes a little early or late is no deviation.
//! Checked are the points of the result, and the result between them at the points of the reference and where the tube gets narrow
//! beside them: few output points cannot hide a deviation.

use std::collections::VecDeque;

use crate::Trajectories;
use crate::trajectories::interpolate;

/// How far a trajectory may be from its reference.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// Half width of the tube, relative to the duration.
    pub time: f64,
    /// Half height of the tube, relative to the range of the reference.
    pub value: f64,
    /// Ranges below this one count as this one.
    pub nominal: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { time: 2e-3, value: 2e-3, nominal: 1e-3 }
    }
}

/// A variable that leaves the tube.
#[derive(Clone, PartialEq, Debug)]
pub struct Deviation {
    /// The name of the variable.
    pub name: String,
    /// Largest distance outside of the tube, relative to the range of the reference; infinite when the result does
    /// not cover the time of the reference or has no such variable, and where one of the two is not finite.
    pub distance: f64,
    /// Where it is largest.
    pub time: f64,
}

/// The variables of the reference whose result leaves the tube, the worst one first.
pub fn compare(reference: &Trajectories, result: &Trajectories, tolerance: Tolerance) -> Vec<Deviation> {
    let deviation = |variable: &crate::Trajectory| {
        let name = &variable.column.name;
        let (distance, time) = match result.get(name) {
            Some(found) => {
                compare_signal((&reference.time, &variable.values), (&result.time, &found.values), tolerance)
            }
            None => (f64::INFINITY, f64::NAN),
        };
        (distance > 0.0).then(|| Deviation { name: name.clone(), distance, time })
    };
    let mut deviations: Vec<_> = reference.variables.iter().filter_map(deviation).collect();
    deviations.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    deviations
}

/// Largest relative distance outside of the tube around the reference, and its time. Both signals are (times, values).
pub fn compare_signal(reference: (&[f64], &[f64]), result: (&[f64], &[f64]), tolerance: Tolerance) -> (f64, f64) {
    let ((&[start, ..], &[.., end]), (&[first, ..], &[.., last])) = ((reference.0, reference.0), (result.0, result.0))
    else {
        return (f64::INFINITY, f64::NAN);
    };
    let half_width = half_width(start, end, tolerance);
    for (times, values) in [result, reference] {
        let is_finite = |(t, y): &(&f64, &f64)| t.is_finite() && y.is_finite();
        if let Some((&time, _)) = times.iter().zip(values).find(|point| !is_finite(point)) {
            return (f64::INFINITY, time);
        }
    }
    if last < end - half_width || first > start + half_width {
        return (f64::INFINITY, if first > start + half_width { start } else { last });
    }
    let range = range(reference.1, tolerance);
    let inside = |&(t, _): &(f64, f64)| t >= start && t <= end;
    let own = result.0.iter().copied().zip(result.1.iter().copied()).filter(inside);
    let between = corners(reference.0, half_width).into_iter().filter_map(|t| {
        let (left, right) = interpolate(result.0, result.1, t.clamp(first, last))?;
        Some([(t, left), (t, right)])
    });
    let mut worst = (0.0, f64::NAN);
    for points in [own.collect::<Vec<_>>(), between.flatten().collect()] {
        let mut tube = Tube::new(reference, half_width);
        for (t, y) in points {
            let (lower, upper) = tube.at(t);
            let outside = (y - upper).max(lower - y) - tolerance.value * range;
            if outside / range > worst.0 {
                worst = (outside / range, t);
            }
        }
    }
    worst
}

/// The times of a reference, and those just outside of the rectangles around them, in order.
fn corners(times: &[f64], half_width: f64) -> Vec<f64> {
    const OUTSIDE: f64 = 1.0 + 1e-6;
    let (&[start, ..], &[.., end]) = (times, times) else { return Vec::new() };
    let around = |&t: &f64| [t - OUTSIDE * half_width, t, t + OUTSIDE * half_width].map(|t| t.clamp(start, end));
    let mut all: Vec<f64> = times.iter().flat_map(around).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// The lower and the upper edge of the tube around a signal (times, values), at its points.
pub fn tube(reference: (&[f64], &[f64]), tolerance: Tolerance) -> (Vec<f64>, Vec<f64>) {
    let (&[start, ..], &[.., end]) = (reference.0, reference.0) else { return Default::default() };
    let (half_width, half_height) =
        (half_width(start, end, tolerance), tolerance.value * range(reference.1, tolerance));
    let mut window = Tube::new(reference, half_width);
    let edges = reference.0.iter().map(|&t| window.at(t));
    edges.map(|(lower, upper)| (lower - half_height, upper + half_height)).unzip()
}

fn half_width(start: f64, end: f64, tolerance: Tolerance) -> f64 {
    tolerance.time * (end - start).max(start.abs()).max(1e-12)
}

/// What distances are relative to: how far a signal moves, and the magnitude of one that does not move. Beside a large
/// magnitude small movements are known less well.
fn range(values: &[f64], tolerance: Tolerance) -> f64 {
    /// A signal that moves less than this, relative to its magnitude, is constant.
    const CONSTANT: f64 = 1e-9;
    /// The smallest range of one that moves, relative to its magnitude: times the tolerance it is what integration resolves.
    const RESOLVED: f64 = 1e-3;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (moves, magnitude) = (high - low, low.abs().max(high.abs()));
    let least = if moves <= CONSTANT * magnitude { magnitude } else { RESOLVED * magnitude };
    moves.max(least).max(tolerance.nominal)
}

/// Smallest and largest value of the reference in a window that moves with non-decreasing time.
struct Tube<'a> {
    time: &'a [f64],
    values: &'a [f64],
    half_width: f64,
    /// The next point that is not yet in the window.
    next: usize,
    /// Indices of points in the window whose values fall (`high`) or rise (`low`): the front is the extreme.
    high: VecDeque<usize>,
    low: VecDeque<usize>,
}

impl<'a> Tube<'a> {
    fn new((time, values): (&'a [f64], &'a [f64]), half_width: f64) -> Self {
        Self { time, values, half_width, next: 0, high: VecDeque::new(), low: VecDeque::new() }
    }

    fn at(&mut self, t: f64) -> (f64, f64) {
        let (start, end) = (self.time[0], self.time[self.time.len() - 1]);
        let (from, to) = ((t - self.half_width).clamp(start, end), (t + self.half_width).clamp(start, end));
        while self.next < self.time.len() && self.time[self.next] <= to {
            let value = self.values[self.next];
            while self.high.back().is_some_and(|&last| self.values[last] <= value) {
                self.high.pop_back();
            }
            while self.low.back().is_some_and(|&last| self.values[last] >= value) {
                self.low.pop_back();
            }
            self.high.push_back(self.next);
            self.low.push_back(self.next);
            self.next += 1;
        }
        for window in [&mut self.high, &mut self.low] {
            while window.front().is_some_and(|&first| self.time[first] < from) {
                window.pop_front();
            }
        }
        let mut upper = self.high.front().map_or(f64::NEG_INFINITY, |&first| self.values[first]);
        let mut lower = self.low.front().map_or(f64::INFINITY, |&first| self.values[first]);
        for edge in [from, to] {
            if let Some((left, right)) = interpolate(self.time, self.values, edge) {
                upper = upper.max(left).max(right);
                lower = lower.min(left).min(right);
            }
        }
        (lower, upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(f: impl Fn(f64) -> f64, points: usize) -> (Vec<f64>, Vec<f64>) {
        (0..=points).map(|i| i as f64 / points as f64).map(|t| (t, f(t))).unzip()
    }

    fn distance(reference: &(Vec<f64>, Vec<f64>), result: &(Vec<f64>, Vec<f64>)) -> (f64, f64) {
        compare_signal((&reference.0, &reference.1), (&result.0, &result.1), Tolerance::default())
    }

    #[test]
    fn inside_the_tube() {
        let reference = sampled(|t| (6.0 * t).sin(), 500);
        assert_eq!(distance(&reference, &sampled(|t| (6.0 * t).sin() + 1e-3, 80)).0, 0.0);
        assert_eq!(distance(&reference, &reference).0, 0.0);
    }

    #[test]
    fn a_movement_is_measured_by_itself_and_not_by_its_distance_from_zero() {
        let around = |middle: f64, by: f64| sampled(move |t| middle + by * (6.0 * t).sin(), 500);
        let (outside, _) = distance(&around(300.0, 1.0), &around(300.0, 1.5));
        // 0.5 K outside of a range of 2 K, less the tube.
        assert!(outside > 0.23 && outside < 0.25, "{outside}");
        assert!(distance(&around(1e5, 1.0), &around(1e5, -1.0)).0 > 0.0);
        assert_eq!(distance(&around(300.0, 1.0), &around(300.0, 1.002)).0, 0.0);
        // What does not move is measured by its magnitude.
        assert_eq!(distance(&around(300.0, 0.0), &around(300.1, 0.0)).0, 0.0);
        assert!(distance(&around(300.0, 0.0), &around(303.0, 0.0)).0 > 0.0);
    }

    #[test]
    fn a_constant_offset_is_measured_outside_of_the_tube() {
        let reference = sampled(|t| t, 100);
        let (distance, _) = distance(&reference, &sampled(|t| t + 0.1, 100));
        // At the end of the run, where the window reaches no further up: 0.1 minus the half height of the tube.
        assert!((distance - (0.1 - 2e-3)).abs() < 1e-12, "{distance}");
    }

    #[test]
    fn an_event_may_come_a_little_late() {
        let step = |at: f64| (vec![0.0, at, at, 1.0], vec![0.0, 0.0, 1.0, 1.0]);
        assert_eq!(distance(&step(0.5), &step(0.501)).0, 0.0);
        let (far, time) = distance(&step(0.5), &step(0.51));
        assert!(far > 0.9 && (0.5..=0.51).contains(&time));
    }

    #[test]
    fn the_tube_of_a_step() {
        let tolerance = Tolerance { time: 0.1, value: 0.01, nominal: 1e-3 };
        let (lower, upper) = tube((&[0.0, 0.45, 0.5, 0.5, 1.0], &[0.0, 0.0, 0.0, 2.0, 2.0]), tolerance);
        assert_eq!(lower, [-0.02, -0.02, -0.02, -0.02, 1.98]);
        assert_eq!(upper, [0.02, 2.02, 2.02, 2.02, 2.02]);
        assert_eq!(tube((&[], &[]), tolerance), (vec![], vec![]));
    }

    #[test]
    fn few_output_points_hide_nothing() {
        let reference = sampled(|t| (std::f64::consts::PI * t).sin(), 100);
        assert!(distance(&reference, &(vec![0.0, 1.0], vec![0.0, 0.0])).0 > 0.9);
    }

    #[test]
    fn a_ramp_is_no_step() {
        let step = (vec![0.0, 0.5, 0.5, 1.0], vec![0.0, 0.0, 1.0, 1.0]);
        // 0.5 off beside the step, less the tube.
        let (far, time) = distance(&step, &(vec![0.0, 1.0], vec![0.0, 1.0]));
        assert!((far - 0.494).abs() < 0.01 && (time - 0.5).abs() < 0.01, "{far} at {time}");
    }

    #[test]
    fn a_reference_that_is_not_finite_agrees_with_nothing() {
        let result = sampled(|t| t, 100);
        assert_eq!(distance(&(vec![0.0, 0.5, 1.0], vec![0.0, 0.5, f64::NAN]), &result), (f64::INFINITY, 1.0));
    }

    #[test]
    fn what_ends_early_or_is_not_finite_is_infinitely_far() {
        let reference = sampled(|t| t, 100);
        assert_eq!(distance(&reference, &(vec![0.0, 0.5], vec![0.0, 0.5])), (f64::INFINITY, 0.5));
        assert_eq!(distance(&reference, &(vec![0.0, 1.0], vec![0.0, f64::NAN])).0, f64::INFINITY);
        assert_eq!(distance(&reference, &(vec![], vec![])).0, f64::INFINITY);
    }
}
