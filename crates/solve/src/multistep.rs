//! The history of a variable-step backward differentiation method: modified divided differences, coefficients, error
//! estimates for neighbouring orders, and the interpolating polynomial.
//!
//! Fixed-leading-coefficient formulas as described by Brenan, Campbell and Petzold, *Numerical Solution of
//! Initial-Value Problems in Differential-Algebraic Equations* (1996), chapter 5, after Jackson and Sacks-Davis (1980):
//! the predictor is the polynomial through the last k + 1 points, the corrector makes `x' = p' + c (x − p)` hold with
//! `c = (1 + 1/2 + … + 1/k)/h`. Both ordinary and implicit differential equations build on it.

/// Highest order for which the formulas are stable enough.
pub const MAX_ORDER: usize = 5;
const SIZE: usize = MAX_ORDER + 3;

/// Norms of the local error, scaled so that 1 is just acceptable, for the order used and its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorEstimates {
    /// What the error test is made on.
    pub test: f64,
    pub same: f64,
    pub lower: f64,
    pub second_lower: f64,
}

#[derive(Clone, Debug, Default)]
pub struct History {
    size: usize,
    /// Difference i of component j is `differences[i * size + j]`.
    differences: Vec<f64>,
    /// `spans[i]` is the time from the newest point to the (i + 1)-th before it.
    spans: [f64; SIZE],
    /// How many differences (beyond the value itself) hold information.
    pub known: usize,
    next_spans: [f64; SIZE],
    alpha: [f64; SIZE],
    beta: [f64; SIZE],
    gamma: [f64; SIZE],
    sigma: [f64; SIZE],
    leading: f64,
    error_factor: f64,
    order: usize,
    /// Order of the last accepted step, which dense output uses.
    pub order_used: usize,
}

impl History {
    pub fn new(size: usize) -> Self {
        History { size, differences: vec![0.0; size * SIZE], ..History::default() }
    }

    /// Moves all points of the past by the same distance, the newest to `x`.
    pub fn move_to(&mut self, x: &[f64]) {
        self.differences[..self.size].copy_from_slice(x);
    }

    fn difference(&self, i: usize) -> &[f64] {
        &self.differences[i * self.size..(i + 1) * self.size]
    }

    /// The newest point.
    pub fn value(&self) -> &[f64] {
        self.difference(0)
    }

    /// Length of the last accepted step.
    pub fn last_step(&self) -> f64 {
        self.spans[0]
    }

    /// Starts with a value, a slope and the step intended, at order one.
    pub fn start(&mut self, x: &[f64], slope: &[f64], h: f64) {
        let n = self.size;
        self.differences.fill(0.0);
        self.differences[..n].copy_from_slice(x);
        for (d, s) in self.differences[n..2 * n].iter_mut().zip(slope) {
            *d = h * s;
        }
        self.spans = [0.0; SIZE];
        for (i, span) in self.spans.iter_mut().enumerate() {
            *span = h * (i + 1) as f64;
        }
        self.known = 1;
        self.order_used = 1;
    }

    /// Before the first step: the fictitious point behind the start moves with the step.
    pub fn rescale_start(&mut self, h: f64) {
        let ratio = h / self.spans[0];
        let n = self.size;
        self.differences[n..2 * n].iter_mut().for_each(|d| *d *= ratio);
        for (i, span) in self.spans.iter_mut().enumerate() {
            *span = h * (i + 1) as f64;
        }
    }

    /// Coefficients of the step `h` with this order. Returns the leading coefficient c.
    pub fn prepare(&mut self, h: f64, order: usize) -> f64 {
        self.order = order;
        self.next_spans[0] = h;
        self.alpha[0] = 1.0;
        self.beta[0] = 1.0;
        self.gamma[0] = 0.0;
        self.sigma[0] = 1.0;
        for i in 1..=order + 1 {
            self.beta[i] = self.beta[i - 1] * self.next_spans[i - 1] / self.spans[i - 1];
            self.next_spans[i] = self.spans[i - 1] + h;
            self.alpha[i] = h / self.next_spans[i];
            self.sigma[i] = i as f64 * self.sigma[i - 1] * self.alpha[i];
            self.gamma[i] = self.gamma[i - 1] + self.alpha[i - 1] / h;
        }
        let alpha_fixed: f64 = (1..=order).map(|i| 1.0 / i as f64).sum();
        let alpha_variable: f64 = self.alpha[..order].iter().sum();
        self.leading = alpha_fixed / h;
        self.error_factor = (self.alpha[order] - alpha_fixed + alpha_variable).abs().max(self.alpha[order]);
        self.leading
    }

    /// The factor between the correction and the local error of the prepared step.
    pub fn error_factor(&self) -> f64 {
        self.error_factor
    }

    /// The predicted value and slope at the end of the prepared step.
    pub fn predict(&self, x: &mut [f64], slope: &mut [f64]) {
        x.copy_from_slice(self.value());
        slope.fill(0.0);
        for i in 1..=self.order {
            let (b, g) = (self.beta[i], self.beta[i] * self.gamma[i]);
            for ((x, s), d) in x.iter_mut().zip(slope.iter_mut()).zip(self.difference(i)) {
                *x += b * d;
                *s += g * d;
            }
        }
    }

    /// Error estimates after the corrector has found `x = prediction + correction`.
    pub fn estimates(&self, correction: &[f64], weights: &[f64]) -> ErrorEstimates {
        let k = self.order;
        let (mut same, mut lower, mut second) = (0.0, 0.0, 0.0);
        let (b1, b2) = (self.beta[k], if k > 1 { self.beta[k - 1] } else { 0.0 });
        let d1 = self.difference(k);
        let d2 = self.difference(k.saturating_sub(1));
        for i in 0..self.size {
            let w = weights[i];
            let e = correction[i] * w;
            let one = e + b1 * d1[i] * w;
            let two = one + b2 * d2[i] * w;
            same += e * e;
            lower += one * one;
            second += two * two;
        }
        let count = self.size.max(1) as f64;
        let root = |sum: f64| (sum / count).sqrt();
        ErrorEstimates {
            test: self.error_factor * root(same),
            same: self.sigma[k] * root(same),
            lower: self.sigma[k - 1] * root(lower),
            second_lower: if k > 2 { self.sigma[k - 2] * root(second) } else { f64::INFINITY },
        }
    }

    /// The error that the next higher order would have made, if enough points are known.
    pub fn higher_estimate(&self, correction: &[f64], weights: &[f64]) -> Option<f64> {
        let k = self.order;
        if k >= MAX_ORDER || self.known <= k {
            return None;
        }
        let b = self.beta[k + 1];
        let d = self.difference(k + 1);
        let mut sum = 0.0;
        for i in 0..self.size {
            let v = (correction[i] - b * d[i]) * weights[i];
            sum += v * v;
        }
        Some((sum / self.size.max(1) as f64).sqrt() / (k + 2) as f64)
    }

    /// Takes the prepared step into the history.
    pub fn accept(&mut self, correction: &[f64]) {
        let (n, k) = (self.size, self.order);
        let (head, tail) = self.differences.split_at_mut((k + 1) * n);
        tail[..n].copy_from_slice(correction);
        let b = self.beta[k];
        for (d, e) in head[k * n..].iter_mut().zip(correction) {
            *d = b * *d + e;
        }
        for i in (0..k).rev() {
            let (left, right) = head.split_at_mut((i + 1) * n);
            let b = self.beta[i];
            for (d, above) in left[i * n..].iter_mut().zip(&right[..n]) {
                *d = b * *d + above;
            }
        }
        self.known = (self.known + 1).min(k + 1);
        self.spans[..=k].copy_from_slice(&self.next_spans[..=k]);
        for i in k + 1..SIZE {
            // Spans beyond the known points must only be positive and increasing.
            self.spans[i] = if i == k + 1 { self.next_spans[k + 1] } else { self.spans[i - 1] + self.spans[0] };
        }
        self.order_used = k;
    }

    /// Value of the interpolating polynomial at `offset` from the newest point (negative inside the last step).
    pub fn interpolate(&self, offset: f64, out: &mut [f64]) {
        out.copy_from_slice(&self.value()[..out.len()]);
        let mut c = 1.0;
        for i in 1..=self.order_used {
            c *= if i == 1 { offset / self.spans[0] } else { (offset + self.spans[i - 2]) / self.spans[i - 1] };
            for (o, d) in out.iter_mut().zip(self.difference(i)) {
                *o += c * d;
            }
        }
    }

    /// As [`interpolate`](Self::interpolate), of some components only.
    pub fn interpolate_some(&self, offset: f64, components: &[usize], out: &mut [f64]) {
        for (o, &k) in out.iter_mut().zip(components) {
            *o = self.value()[k];
        }
        let mut c = 1.0;
        for i in 1..=self.order_used {
            c *= if i == 1 { offset / self.spans[0] } else { (offset + self.spans[i - 2]) / self.spans[i - 1] };
            for (o, &k) in out.iter_mut().zip(components) {
                *o += c * self.difference(i)[k];
            }
        }
    }

    /// The degree of the interpolating polynomial.
    pub fn degree(&self) -> usize {
        self.order_used
    }

    /// Slope of the interpolating polynomial at `offset` from the newest point.
    pub fn interpolate_slope(&self, offset: f64, out: &mut [f64]) {
        out.fill(0.0);
        let (mut c, mut slope) = (1.0, 0.0);
        for i in 1..=self.order_used {
            let (factor, rate) = if i == 1 {
                (offset / self.spans[0], 1.0 / self.spans[0])
            } else {
                ((offset + self.spans[i - 2]) / self.spans[i - 1], 1.0 / self.spans[i - 1])
            };
            slope = slope * factor + c * rate;
            c *= factor;
            for (o, d) in out.iter_mut().zip(self.difference(i)) {
                *o += slope * d;
            }
        }
    }

    /// Makes the point at `offset` (negative, inside the last step) the newest one; the polynomial stays what it is.
    /// `scratch` must hold `(order + 1) · size` numbers.
    pub fn truncate(&mut self, offset: f64, scratch: &mut Vec<f64>) {
        let (n, k) = (self.size, self.order_used);
        if offset == 0.0 {
            return;
        }
        // New nodes, as offsets from the newest point: the cut, then the old points behind it.
        let mut nodes = [0.0; SIZE];
        nodes[0] = offset;
        for i in 1..=k {
            nodes[i] = -self.spans[i - 1];
        }
        scratch.clear();
        scratch.resize((k + 1) * n, 0.0);
        for i in 0..=k {
            self.interpolate(nodes[i], &mut scratch[i * n..(i + 1) * n]);
        }
        for i in 0..SIZE - 1 {
            self.spans[i] = if i < k { offset - nodes[i + 1] } else { self.spans[i.max(1) - 1] + self.spans[0] };
        }
        self.spans[SIZE - 1] = self.spans[SIZE - 2] + self.spans[0];
        // Divided differences in place: after round r, row i ≥ r holds [node i−r … node i] counted from the newest.
        for round in 1..=k {
            for i in (round..=k).rev() {
                let width = nodes[i - round] - nodes[i];
                for j in 0..n {
                    scratch[i * n + j] = (scratch[(i - 1) * n + j] - scratch[i * n + j]) / width;
                }
            }
        }
        let mut product = 1.0;
        for i in 0..=k {
            if i > 0 {
                product *= self.spans[i - 1];
            }
            for j in 0..n {
                self.differences[i * n + j] = scratch[i * n + j] * product;
            }
        }
        self.known = k;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the points of a cubic polynomial and compares prediction, interpolation and truncation with it.
    #[test]
    fn a_cubic_is_reproduced_at_order_three() {
        let p = |t: f64| 1.0 + t - 2.0 * t * t + 0.5 * t * t * t;
        let slope = |t: f64| 1.0 - 4.0 * t + 1.5 * t * t;
        let mut history = History::new(1);
        history.start(&[p(0.0)], &[slope(0.0)], 0.1);
        let mut t = 0.0;
        let (mut x, mut s) = ([0.0], [0.0]);
        for (k, h) in [0.1, 0.15, 0.1, 0.2, 0.3, 0.12].into_iter().enumerate() {
            history.prepare(h, (k + 1).min(3));
            history.predict(&mut x, &mut s);
            t += h;
            if k >= 4 {
                assert!((x[0] - p(t)).abs() < 1e-13 && (s[0] - slope(t)).abs() < 1e-12, "{k}");
            }
            history.accept(&[p(t) - x[0]]);
        }
        for offset in [0.0, -0.05, -0.12] {
            history.interpolate(offset, &mut x);
            history.interpolate_slope(offset, &mut s);
            assert!((x[0] - p(t + offset)).abs() < 1e-13 && (s[0] - slope(t + offset)).abs() < 1e-12);
        }
        history.truncate(-0.07, &mut Vec::new());
        t -= 0.07;
        history.prepare(0.25, 3);
        history.predict(&mut x, &mut s);
        assert!((x[0] - p(t + 0.25)).abs() < 1e-12 && (s[0] - slope(t + 0.25)).abs() < 1e-12);
    }
}
