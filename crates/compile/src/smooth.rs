//! Values between recorded points: the polynomial of degree five through the nearest points of one smooth piece (Neville's
//! scheme). Two points at one place end a piece.

use std::collections::VecDeque;

/// Points of a polynomial: as many as integrators of high order deserve.
pub const POINTS: usize = 6;

/// A place and the value there.
pub type Point = (f64, f64);

/// The error of values between the last point and one that might be recorded next, and the size of the signal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gap {
    pub error: f64,
    pub size: f64,
}

/// The size of a signal of late.
#[derive(Clone, Copy, Default, Debug)]
pub struct Size(f64);

impl Size {
    /// With each point some of what was large before is forgotten.
    const KEPT: f64 = 0.99;

    pub fn note(&mut self, value: f64) {
        self.0 = (Self::KEPT * self.0).max(value.abs());
    }

    pub fn with(self, value: f64) -> f64 {
        self.0.max(value.abs())
    }
}

/// The value at `place`, which lies between the points `after − 1` and `after`.
pub fn smooth(points: &VecDeque<Point>, after: usize, place: f64) -> f64 {
    smooth_among(|k| points.get(k).copied(), after, place)
}

/// The value at `place`, which lies between the last of the points and a further one.
pub fn smooth_before(points: &VecDeque<Point>, next: Point, place: f64) -> f64 {
    let point = |k: usize| if k == points.len() { Some(next) } else { points.get(k).copied() };
    smooth_among(point, points.len(), place)
}

/// The error of values between the latest point and a `next` one, estimated by the polynomial of one degree less.
/// `latest(k)` is the k-th point, counted from the end; `None` where the smooth piece has no second point yet.
pub fn gap_error(latest: impl Fn(usize) -> Option<Point>, next: Point) -> Option<f64> {
    let last = latest(0)?;
    let gap = (next.0 - last.0).abs();
    if gap == 0.0 {
        return Some((next.1 - last.1).abs());
    }
    let mut stencil = [next; POINTS];
    stencil[1] = last;
    let mut count = 2;
    while count < POINTS
        && let Some(point) = latest(count - 1).filter(|point| is_similar((stencil[count - 1].0 - point.0).abs(), gap))
    {
        stencil[count] = point;
        count += 1;
    }
    if count < 3 {
        return None;
    }
    let middle = 0.5 * (next.0 + last.0);
    let mut other = stencil;
    Some((neville(&mut stencil[..count], middle) - neville(&mut other[..count - 1], middle)).abs())
}

/// Whether a point at a distance from the next one tells about the shape in a gap: points that lie close together say more
/// about rounding, those far away about other parts of the signal.
fn is_similar(distance: f64, gap: f64) -> bool {
    distance > 0.1 * gap && distance < 1e3 * gap
}

fn smooth_among(point: impl Fn(usize) -> Option<Point>, after: usize, place: f64) -> f64 {
    let (first, last) = match after.checked_sub(1) {
        Some(before) => (before, after),
        None => (after, after),
    };
    let (Some(a), Some(b)) = (point(first), point(last)) else { return f64::NAN };
    if b.0 <= a.0 {
        return b.1;
    }
    let similar = |distance: f64| is_similar(distance, b.0 - a.0);
    let (mut low, mut high) = ((first, a), (last, b));
    let count = |low: (usize, Point), high: (usize, Point)| high.0 - low.0;
    // As many on each side, or more on one side at the end of a piece.
    for _ in 0..POINTS - 2 {
        let earlier = low.0.checked_sub(1).and_then(|k| Some((k, point(k)?)));
        let earlier = earlier.filter(|(_, earlier)| similar(low.1.0 - earlier.0));
        let later = point(high.0 + 1).filter(|later| similar(later.0 - high.1.0)).map(|later| (high.0 + 1, later));
        low = earlier.filter(|_| count(low, high) + 1 < POINTS).unwrap_or(low);
        high = later.filter(|_| count(low, high) + 1 < POINTS).unwrap_or(high);
    }
    let mut stencil = [a; POINTS];
    for (slot, k) in stencil.iter_mut().zip(low.0..=high.0) {
        *slot = point(k).unwrap_or(a);
    }
    neville(&mut stencil[..=count(low, high)], place.clamp(a.0, b.0))
}

fn neville(points: &mut [Point], place: f64) -> f64 {
    for level in 1..points.len() {
        for k in 0..points.len() - level {
            // Each entry keeps its own place; the other end of what it stands for lies `level` entries further.
            let (low, high) = (points[k].0, points[k + level].0);
            let part = (place - low) / (high - low);
            points[k].1 += (points[k + 1].1 - points[k].1) * part;
        }
    }
    points.first().map_or(f64::NAN, |point| point.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quintic_is_met() {
        let quintic = |t: f64| (((t - 3.0) * t + 1.0) * t * t - 2.0) * t + 0.5;
        let points: VecDeque<Point> =
            [0.0, 0.4, 1.0, 1.5, 2.2, 2.5, 3.0].into_iter().map(|t| (t, quintic(t))).collect();
        for (after, place) in [(1, 0.3), (3, 1.2), (6, 2.9)] {
            assert!((smooth(&points, after, place) - quintic(place)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_cubic_is_met_and_jumps_are_kept() {
        let cubic = |t: f64| ((t - 1.0) * t + 2.0) * t - 3.0;
        let mut points: VecDeque<Point> = [0.0, 0.5, 1.5, 2.0].into_iter().map(|t| (t, cubic(t))).collect();
        points.extend([(2.0, 9.0), (3.0, 10.0)]);
        assert!((smooth(&points, 2, 1.1) - cubic(1.1)).abs() < 1e-14);
        // Next to the jump only points of its own side count.
        assert!((smooth(&points, 3, 1.75) - cubic(1.75)).abs() < 1e-14);
        assert_eq!(smooth(&points, 5, 2.5), 9.5);
    }
}
