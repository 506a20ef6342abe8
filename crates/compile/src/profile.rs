//! What `spatialDistribution` transports (specification 3.7.4.3): a quantity z(y) on 0 ≤ y ≤ 1 that moves with the
//! position x. Along y − x nothing changes, so the profile is kept over that coordinate: what flows in at one end is added
//! there, what has left at the other is cut off, and nothing is ever moved or smeared.

use std::collections::VecDeque;

use crate::smooth::{Gap, POINTS, Point, Size, gap_error, smooth};

/// One of the two ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    First,
    Second,
}

/// Points (y − x, z) in order; two with equal places at a jump. What has left at the far end stays until the step is settled.
#[derive(Clone, Default, Debug)]
pub struct Profile {
    points: VecDeque<Point>,
    size: Size,
    /// Points that entered since the mark.
    entered: usize,
    /// Whether the flow was positive at the last point.
    positive: Option<bool>,
    /// The position at the last event: there the right limit of what leaves is asked for, else the left one.
    event: Option<f64>,
}

impl Profile {
    /// The value that leaves at `end` at position `x`, where `inflow` enters at the other.
    pub fn outflow(&self, end: End, x: f64, inflow: f64) -> f64 {
        let (Some(&first), Some(&last)) = (self.points.front(), self.points.back()) else { return inflow };
        match end {
            End::First if -x > last.0 => between(last, (1.0 - x, inflow), -x),
            End::Second if 1.0 - x < first.0 => between((-x, inflow), first, 1.0 - x),
            // Time goes on towards larger places at the first end, towards smaller ones at the second.
            End::First => self.at_side(-x, self.ahead(x)),
            End::Second => self.at_side(1.0 - x, -self.ahead(x)),
        }
    }

    /// How far ahead of a place to look for the smooth piece that it belongs to.
    fn ahead(&self, x: f64) -> f64 {
        let is_event = self.event.is_some_and(|event| (x - event).abs() <= rounding(x));
        if is_event { rounding(x) } else { -rounding(x) }
    }

    /// From now on, what is asked for at the position `x` is a right limit.
    pub fn pass_event(&mut self, x: f64) {
        self.event = Some(x);
    }

    /// The first position after `from`, up to `to`, at which a jump leaves.
    pub fn jump_between(&self, from: f64, to: f64, positive: bool) -> Option<f64> {
        let jumps = |k: usize| {
            let (point, next) = (self.points[k], self.points.get(k + 1)?);
            (point.0 == next.0 && point.1 != next.1).then_some(point.0)
        };
        let until = |place: f64| self.points.partition_point(|point| point.0 <= place);
        let before = |place: f64| self.points.partition_point(|point| point.0 < place);
        match positive {
            true => (before(1.0 - to)..before(1.0 - from)).rev().find_map(jumps).map(|place| 1.0 - place),
            false => (until(-from)..until(-to)).find_map(jumps).map(|place| -place),
        }
    }

    /// The arguments of the operator at a point; the first call begins with the initial points.
    pub fn record(&mut self, arguments: &[f64]) {
        let &[in0, in1, x, positive, ref initial @ ..] = arguments else { return };
        if self.points.is_empty() {
            let (places, values) = initial.split_at(initial.len() / 2);
            // The given profile is linear between its points: each ends a smooth piece.
            self.points.extend(places.iter().zip(values).flat_map(|(y, z)| [(y - x, *z); 2]));
        }
        let (value, place, side) = if positive != 0.0 { (in0, -x, &FRONT) } else { (in1, 1.0 - x, &BACK) };
        self.size.note(value);
        let turned = self.positive.replace(positive != 0.0) != Some(positive != 0.0);
        if turned {
            self.cut(place, side);
        }
        self.enter((place, value), side);
    }

    /// How well the profile is known between its last point and what enters with these arguments.
    pub fn gap(&self, arguments: &[f64]) -> Option<Gap> {
        let &[in0, in1, x, positive, ..] = arguments else { return None };
        let (next, side) = if positive != 0.0 { ((-x, in0), &FRONT) } else { ((1.0 - x, in1), &BACK) };
        let last = (side.point)(&self.points, 0)?;
        // Nothing enters.
        if !(side.beyond)(next.0, last.0) {
            return Some(Gap { error: 0.0, size: 0.0 });
        }
        let error = gap_error(|k| (side.point)(&self.points, k), next)?;
        Some(Gap { error, size: self.size.with(next.1) })
    }

    /// What entered up to these arguments is final. Forgets what has left, but for what interpolation next to the end takes,
    /// and what entered later.
    pub fn settle(&mut self, arguments: &[f64]) {
        let &[_, _, x, positive, ..] = arguments else { return };
        let (near, far, place, end) =
            if positive != 0.0 { (&FRONT, &BACK, -x, 1.0 - x) } else { (&BACK, &FRONT, 1.0 - x, -x) };
        self.cut(place, near);
        while (far.point)(&self.points, POINTS).is_some_and(|point| (far.beyond)(point.0, end)) {
            (far.pop)(&mut self.points);
        }
        self.entered = 0;
    }

    /// From here on what enters can be taken back.
    pub fn mark(&mut self) {
        self.entered = 0;
    }

    /// Takes back what entered since the mark.
    pub fn roll_back(&mut self, positive: bool) {
        let side = if positive { &FRONT } else { &BACK };
        for _ in 0..std::mem::take(&mut self.entered) {
            (side.pop)(&mut self.points);
        }
    }

    /// Ends the smooth piece at the last point of the side that is entered.
    pub fn end_piece(&mut self, positive: bool) {
        let side = if positive { &FRONT } else { &BACK };
        if let Some(last) = (side.point)(&self.points, 0)
            && (side.point)(&self.points, 1).is_none_or(|before| before.0 != last.0)
        {
            (side.push)(&mut self.points, last);
        }
    }

    /// What lies beyond a place is no more: it left there before the flow turned, or it belongs to a step that is not taken to
    /// its end.
    fn cut(&mut self, place: f64, side: &Side) {
        if (side.point)(&self.points, 0).is_some_and(|last| (side.beyond)(last.0, place)) {
            let value = self.at(place);
            while (side.point)(&self.points, 0).is_some_and(|last| (side.beyond)(last.0, place)) {
                (side.pop)(&mut self.points);
            }
            if (side.point)(&self.points, 0).is_none_or(|last| last.0 != place) {
                (side.push)(&mut self.points, (place, value));
            }
        }
    }

    /// Adds what enters at one side. Behind the instant at which the flow turns, which is located when the step has been
    /// remembered, nothing does.
    fn enter(&mut self, next: Point, side: &Side) {
        if (side.point)(&self.points, 0).is_some_and(|last| (side.beyond)(last.0, next.0)) {
            return;
        }
        let last = (side.point)(&self.points, 0);
        if last == Some(next) {
            return;
        }
        // While nothing moves only the last value counts.
        let at_jump = |k: usize| (side.point)(&self.points, k).is_some_and(|point| point.0 == next.0);
        if at_jump(0) && at_jump(1) {
            (side.pop)(&mut self.points);
        } else {
            self.entered += 1;
        }
        (side.push)(&mut self.points, next);
    }

    /// Constant outside of the points.
    fn at(&self, place: f64) -> f64 {
        self.at_side(place, 0.0)
    }

    /// The value at a place, on the smooth piece that is found a short way beside it.
    fn at_side(&self, place: f64, beside: f64) -> f64 {
        let after = self.points.partition_point(|point| point.0 <= place + beside);
        match (self.points.front(), self.points.back()) {
            (Some(first), _) if after == 0 => first.1,
            (_, Some(last)) if after == self.points.len() => last.1,
            _ => smooth(&self.points, after, place),
        }
    }
}

/// One end of the points, as the flow that enters there sees it.
struct Side {
    /// The k-th point from this end.
    point: fn(&VecDeque<Point>, usize) -> Option<Point>,
    push: fn(&mut VecDeque<Point>, Point),
    pop: fn(&mut VecDeque<Point>) -> Option<Point>,
    /// Whether the first place lies farther out than the second.
    beyond: fn(f64, f64) -> bool,
}

const FRONT: Side = Side {
    point: |points, k| points.get(k).copied(),
    push: VecDeque::push_front,
    pop: VecDeque::pop_front,
    beyond: |a, b| a < b,
};

const BACK: Side = Side {
    point: |points, k| points.len().checked_sub(k + 1).map(|k| points[k]),
    push: VecDeque::push_back,
    pop: VecDeque::pop_back,
    beyond: |a, b| a > b,
};

/// How far rounding reaches in a position.
pub fn rounding(x: f64) -> f64 {
    16.0 * f64::EPSILON * (1.0 + x.abs())
}

fn between(a: (f64, f64), b: (f64, f64), place: f64) -> f64 {
    if b.0 > a.0 { a.1 + (b.1 - a.1) * ((place - a.0) / (b.0 - a.0)).clamp(0.0, 1.0) } else { b.1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(profile: &mut Profile, in0: f64, in1: f64, x: f64, positive: bool) {
        profile.record(&[in0, in1, x, f64::from(u8::from(positive)), 0.0, 1.0, 10.0, 20.0]);
    }

    #[test]
    fn what_enters_leaves_after_the_whole_length() {
        let mut profile = Profile::default();
        step(&mut profile, 0.0, 0.0, 0.0, true);
        for k in 1..=40 {
            let x = f64::from(k) * 0.05;
            let inflow = 3.0 * (x - 0.05 * f64::from(k % 2));
            let expected = if x <= 1.0 { 20.0 - 10.0 * x } else { f64::NAN };
            let outflow = profile.outflow(End::Second, x, inflow);
            assert!(x > 1.0 || (outflow - expected).abs() < 1e-12, "{x}: {outflow}");
            step(&mut profile, 3.0 * x, 0.0, x, true);
        }
        // At x = 2 leaves what entered at x = 1.
        assert!((profile.outflow(End::Second, 2.0, 0.0) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn it_comes_back_when_the_flow_turns() {
        let mut profile = Profile::default();
        step(&mut profile, 5.0, 0.0, 0.0, true);
        step(&mut profile, 5.0, 0.0, 0.5, true);
        // In 0…0.5 there is 5 now, then the first half of the old profile, with the steep edge that entered at the start.
        assert!((profile.outflow(End::First, 0.25, 7.0) - 5.0).abs() < 1e-12);
        step(&mut profile, 0.0, 7.0, 0.5, false);
        step(&mut profile, 0.0, 7.0, 0.25, false);
        step(&mut profile, 0.0, 7.0, -0.25, false);
        assert!((profile.outflow(End::First, -0.25, 7.0) - 12.5).abs() < 1e-12);
        // Behind it, what entered at the second end.
        assert!((profile.outflow(End::First, -0.75, 7.0) - 7.0).abs() < 1e-12);
    }

    #[test]
    fn a_jump_has_two_sides_and_is_found_where_it_leaves() {
        let mut profile = Profile::default();
        step(&mut profile, 10.0, 0.0, 0.0, true);
        step(&mut profile, 5.0, 0.0, 0.25, true);
        step(&mut profile, 6.0, 0.0, 0.25, true);
        step(&mut profile, 6.0, 0.0, 0.75, true);
        assert_eq!(profile.jump_between(0.75, 1.2, true), None);
        assert_eq!(profile.jump_between(0.75, 1.25, true), Some(1.25));
        assert_eq!(profile.jump_between(1.25, 1.75, true), None);
        assert_eq!(profile.jump_between(0.75, 0.1, false), Some(0.25));
        assert_eq!(profile.jump_between(0.25, 0.1, false), None);
        assert_eq!((profile.outflow(End::Second, 1.25, 0.0), profile.outflow(End::First, 0.25, 0.0)), (5.0, 6.0));
        profile.pass_event(1.25);
        assert_eq!(profile.outflow(End::Second, 1.25, 0.0), 6.0);
        profile.pass_event(0.25);
        assert_eq!(profile.outflow(End::First, 0.25, 0.0), 5.0);
    }

    #[test]
    fn a_step_longer_than_the_whole_sees_the_inflow() {
        let mut profile = Profile::default();
        step(&mut profile, 0.0, 0.0, 0.0, true);
        step(&mut profile, 0.0, 0.0, 1.0, true);
        assert!((profile.outflow(End::Second, 3.0, 4.0) - 2.0).abs() < 1e-12);
    }
}
