//! Where to look next for a root that is known to lie in an interval.
//!
//! The estimate is the root of the parabola through both ends and the point given up last (Muller 1956), of which
//! exactly one lies between ends of different sign. Each probe is pushed a little past the estimate, to the side where the
//! last one did not land, so that the interval closes from both sides; the push shrinks with the
//! third power of the change of the estimate, as its error does. Where two probes in a row fail to halve the interval, its middle is next.

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bracket {
    pub a: f64,
    pub b: f64,
    /// The end given up last, if one was.
    pub third: Option<f64>,
    tolerance: f64,
    whole: f64,
    /// Widths before the last two probes.
    widths: [f64; 2],
    /// The estimate of the last probe, and whether the probe became the right end.
    last: Option<(f64, bool)>,
}

impl Bracket {
    pub fn new(a: f64, b: f64, third: Option<f64>, tolerance: f64) -> Self {
        Bracket { a, b, third, tolerance, whole: b - a, widths: [f64::INFINITY; 2], last: None }
    }

    pub fn width(&self) -> f64 {
        self.b - self.a
    }

    /// The time of the next probe, where the root is expected at this fraction of the bracket; none when it is narrow enough.
    pub fn probe(&mut self, fraction: f64) -> Option<f64> {
        let width = self.width();
        if width <= self.tolerance {
            return None;
        }
        let slow = width > 0.5 * self.widths[0];
        self.widths = [self.widths[1], width];
        let estimate = self.a + fraction * width;
        let margin = (0.5 * self.tolerance).min(0.5 * width);
        // The first one goes to the right, too: a probe that hits zero exactly would say less.
        let mut t = estimate + margin;
        if let Some((before, right)) = self.last {
            let moved = (estimate - before).abs();
            let push = margin.max(moved * (moved / self.whole).powi(2));
            t = if right { estimate - push } else { estimate + push };
        }
        if slow {
            // Counts as a new beginning: the probes so far said little.
            self.widths = [f64::INFINITY; 2];
            t = self.a + 0.5 * width;
        }
        t = t.clamp(self.a + margin, self.b - margin);
        self.last = Some((estimate, false));
        (t > self.a && t < self.b).then_some(t)
    }

    /// Takes a probe as the new left or right end.
    pub fn narrow(&mut self, t: f64, right: bool) {
        self.third = Some(if right { std::mem::replace(&mut self.b, t) } else { std::mem::replace(&mut self.a, t) });
        if let Some(last) = &mut self.last {
            last.1 = right;
        }
    }

    /// The fraction of the bracket at which a function with values of different sign at its ends, and this value at the
    /// third point, is expected to be zero.
    pub fn root(&self, left: f64, right: f64, third: f64) -> f64 {
        let secant = left / (left - right);
        let Some(t) = self.third else { return guarded(secant) };
        let u = (t - self.a) / self.width();
        let bend = (third - left - (right - left) * u) / (u * (u - 1.0));
        let slope = right - left - bend;
        let root = (slope * slope - 4.0 * bend * left).sqrt();
        let sum = -0.5 * (slope + root.copysign(slope));
        let inside = |fraction: f64| fraction > 0.0 && fraction < 1.0;
        match [left / sum, sum / bend].into_iter().find(|fraction| inside(*fraction)) {
            Some(fraction) => fraction,
            None => guarded(secant),
        }
    }
}

fn guarded(fraction: f64) -> f64 {
    if (0.0..=1.0).contains(&fraction) { fraction } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Evaluations until the bracket is narrow, and where it ended.
    fn solve(function: impl Fn(f64) -> f64, tolerance: f64) -> (usize, f64) {
        let mut bracket = Bracket::new(0.0, 1.0, None, tolerance);
        let (mut left, mut right, mut third) = (function(0.0), function(1.0), 0.0);
        let positive = right > 0.0;
        let mut count = 0;
        while let Some(t) = bracket.probe(bracket.root(left, right, third)) {
            let value = function(t);
            let is_right = (value > 0.0) == positive;
            third = std::mem::replace(if is_right { &mut right } else { &mut left }, value);
            bracket.narrow(t, is_right);
            count += 1;
            assert!(count < 200);
        }
        (count, bracket.b)
    }

    #[test]
    fn smooth_functions_need_few_probes() {
        for (function, root, most) in [
            ((|t| t - 0.3) as fn(f64) -> f64, 0.3, 4),
            (|t| t * t - 0.3, 0.3_f64.sqrt(), 6),
            (|t| (t - 0.3).sin(), 0.3, 6),
            (|t| (5.0 * t).exp() - 10.0, 0.2 * 10.0_f64.ln(), 12),
            (|t| 1e-3 - t * (1.0 + 1e3 * t), 6.180339887498948e-4, 8),
        ] {
            let (count, found) = solve(function, 1e-12);
            assert!(count <= most && (found - root).abs() <= 1e-12, "{count} {found} {root}");
        }
    }

    proptest! {
        /// Whatever the function, the number of probes is a small multiple of that of bisection.
        #[test]
        fn never_much_worse_than_bisection(root in 0.001f64..0.999, power in 0.05f64..20.0, low in -18f64..0.0) {
            let function = |t: f64| {
                let distance: f64 = t - root;
                if distance < 0.0 { -distance.abs().powf(power) - 1e-300 } else { 10f64.powf(low) * distance.powf(1.0 / power) + 1e-300 }
            };
            let (count, found) = solve(function, 1e-12);
            prop_assert!(count <= 125 && (found - root).abs() <= 1.1e-12, "{} {} {}", count, found, root);
        }
    }
}
