//! What `spatialDistribution` transports (specification 3.7.4.3): a quantity z(y) on 0 ≤ y ≤ 1 that moves with the
//! position x. Along y − x nothing changes, so the profile is kept over that coordinate: what flows in at one end is added
//! there, what has left at the other is cut off, and nothing is ever moved or smeared.

use std::collections::VecDeque;

use crate::smooth::smooth;

/// One of the two ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    First,
    Second,
}

/// Points (y − x, z) in order; two with equal places at a jump.
#[derive(Clone, Default, Debug)]
pub struct Profile {
    points: VecDeque<(f64, f64)>,
}

impl Profile {
    /// The value that leaves at `end` at position `x`, where `inflow` enters at the other.
    pub fn outflow(&self, end: End, x: f64, inflow: f64) -> f64 {
        let (Some(&first), Some(&last)) = (self.points.front(), self.points.back()) else { return inflow };
        match end {
            End::First if -x > last.0 => between(last, (1.0 - x, inflow), -x),
            End::Second if 1.0 - x < first.0 => between((-x, inflow), first, 1.0 - x),
            End::First => self.at(-x),
            End::Second => self.at(1.0 - x),
        }
    }

    /// The arguments of the operator at an accepted point; the first call begins with the initial points.
    pub fn record(&mut self, arguments: &[f64]) {
        let &[in0, in1, x, positive, ref initial @ ..] = arguments else { return };
        if self.points.is_empty() {
            let (places, values) = initial.split_at(initial.len() / 2);
            // The given profile is linear between its points: each ends a smooth piece.
            self.points.extend(places.iter().zip(values).flat_map(|(y, z)| [(y - x, *z); 2]));
        }
        let (low, high) = (-x, 1.0 - x);
        let (at_low, at_high) = (self.at(low), self.at(high));
        // What a long step carried through from one end to the other is gone.
        self.points.retain(|point| (low..=high).contains(&point.0));
        if positive != 0.0 {
            self.close(high, at_high, VecDeque::back, VecDeque::push_back);
            self.enter((low, in0), VecDeque::front, VecDeque::push_front);
        } else {
            self.close(low, at_low, VecDeque::front, VecDeque::push_front);
            self.enter((high, in1), VecDeque::back, VecDeque::push_back);
        }
    }

    /// Ends the profile where it is cut off.
    fn close(&mut self, place: f64, value: f64, last: LastOf, push: Push) {
        if last(&self.points).is_none_or(|point| point.0 != place) {
            push(&mut self.points, (place, value));
        }
    }

    fn enter(&mut self, point: (f64, f64), last: LastOf, push: Push) {
        if last(&self.points) != Some(&point) {
            push(&mut self.points, point);
        }
    }

    /// Constant outside of the points.
    fn at(&self, place: f64) -> f64 {
        let after = self.points.partition_point(|point| point.0 <= place);
        match (self.points.front(), self.points.back()) {
            (Some(first), _) if after == 0 => first.1,
            (_, Some(last)) if after == self.points.len() => last.1,
            _ => smooth(&self.points, after, place),
        }
    }
}

type LastOf = fn(&VecDeque<(f64, f64)>) -> Option<&(f64, f64)>;
type Push = fn(&mut VecDeque<(f64, f64)>, (f64, f64));

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
    fn a_step_longer_than_the_whole_sees_the_inflow() {
        let mut profile = Profile::default();
        step(&mut profile, 0.0, 0.0, 0.0, true);
        step(&mut profile, 0.0, 0.0, 1.0, true);
        assert!((profile.outflow(End::Second, 3.0, 4.0) - 2.0).abs() < 1e-12);
    }
}
