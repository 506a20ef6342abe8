//! Choice of order and step of the backward differentiation methods.
//!
//! At the start the order rises and the step doubles with every step until the error estimates object (Brenan, Campbell
//! and Petzold, section 5.2.5). Afterwards the order with the longest predicted step is chosen, the step is changed only
//! when that pays for the new factorisation, and both are left alone for some steps after a change (Byrne and
//! Hindmarsh, *A polyalgorithm for the numerical solution of ordinary differential equations*, 1975).

use crate::multistep::ErrorEstimates;

/// Safety factors within the error of the same, a lower and a higher order.
const BIAS_SAME: f64 = 6.0;
const BIAS_LOWER: f64 = 6.0;
const BIAS_HIGHER: f64 = 8.0;
/// A longer step must be longer by this factor to be worth a new factorisation.
const WORTHWHILE: f64 = 1.2;
const LARGEST_GROWTH: f64 = 10.0;

#[derive(Clone, Copy, Debug)]
pub struct OrderControl {
    pub order: usize,
    pub h: f64,
    max_order: usize,
    starting: bool,
    wait: usize,
    failures: u32,
}

impl OrderControl {
    pub fn new(max_order: usize) -> Self {
        OrderControl { order: 1, h: 0.0, max_order, starting: true, wait: 0, failures: 0 }
    }

    pub fn start(&mut self, h: f64) {
        *self = OrderControl { h, ..OrderControl::new(self.max_order) };
    }

    /// Continues with the present order and step, after a restart that changed nothing essential.
    pub fn resume(&mut self, order: usize) {
        self.order = order;
        self.starting = false;
        self.wait = self.order + 1;
        self.failures = 0;
    }

    /// After an accepted step of length `h_used`. `higher` is asked for only when it is needed.
    pub fn accepted(&mut self, h_used: f64, estimates: &ErrorEstimates, higher: impl FnOnce() -> Option<f64>) {
        let recovered = self.failures > 0;
        self.failures = 0;
        if self.starting && !recovered {
            let k = self.order;
            let lower_is_better = k > 1 && better_lower(estimates, k);
            if lower_is_better || self.order >= self.max_order {
                self.starting = false;
            } else {
                let growth = growth(estimates.same, k, BIAS_SAME);
                // One order up; the step grows as far as the error of the old order allows, at least doubling.
                self.order += 1;
                self.set_step(h_used, growth.clamp(1.0, if k == 1 { 100.0 } else { 4.0 }));
                return;
            }
        }
        self.starting = false;
        if self.wait > 0 {
            self.wait -= 1;
        }
        let k = self.order;
        let mut best = (k, growth(estimates.same, k, BIAS_SAME));
        if k > 1 {
            let lower = growth(estimates.lower, k - 1, BIAS_LOWER);
            if lower > best.1 {
                best = (k - 1, lower);
            }
        }
        if self.wait > 0 {
            // A lower order at once when it is plainly better: the formula is losing stability.
            if best.0 < k && better_lower(estimates, k) {
                self.change(best.0, h_used, best.1.min(1.0));
            }
            return;
        }
        if k < self.max_order
            && let Some(error) = higher()
        {
            let up = growth(error, k + 1, BIAS_HIGHER);
            if up > best.1 {
                best = (k + 1, up);
            }
        }
        let (order, factor) = best;
        if factor >= WORTHWHILE {
            self.change(order, h_used, factor.min(LARGEST_GROWTH));
        } else if order < k {
            self.change(order, h_used, factor.clamp(0.5, 1.0));
        } else if factor < 0.9 {
            self.change(order, h_used, factor.max(0.5));
        } else {
            self.wait = 1;
        }
    }

    fn change(&mut self, order: usize, h_used: f64, factor: f64) {
        self.order = order;
        self.set_step(h_used, factor);
        self.wait = order + 1;
    }

    /// A step cut short by a limit says nothing against the longer one that was planned.
    fn set_step(&mut self, h_used: f64, factor: f64) {
        let wanted = h_used * factor;
        self.h = if h_used < self.h { self.h.max(wanted) } else { wanted };
    }

    /// After a step of length `h_used` that failed the error test: what to try instead.
    pub fn rejected(&mut self, h_used: f64, estimates: &ErrorEstimates) {
        self.failures += 1;
        self.starting = false;
        let k = self.order;
        match self.failures {
            1 => {
                let mut order = k;
                let mut factor = 0.9 * growth(estimates.test.max(estimates.same), k, 2.0);
                if k > 1 && better_lower(estimates, k) {
                    order = k - 1;
                    factor = 0.9 * growth(estimates.lower, k - 1, 2.0);
                }
                self.order = order;
                self.h = h_used * factor.clamp(0.25, 0.9);
            }
            2 => {
                if k > 1 && better_lower(estimates, k) {
                    self.order = k - 1;
                }
                self.h = h_used * 0.25;
            }
            _ => {
                self.order = 1;
                self.h = h_used * 0.25;
            }
        }
        self.wait = self.order + 1;
    }

    /// After the corrector failed with a fresh Jacobian.
    pub fn not_converged(&mut self, h_used: f64) {
        self.failures += 1;
        self.starting = false;
        self.h = h_used * 0.25;
        self.wait = self.order + 1;
        if self.failures > 4 {
            self.order = 1;
        }
    }
}

/// The scaled derivatives grow with the order: the lower order approximates better.
fn better_lower(estimates: &ErrorEstimates, k: usize) -> bool {
    let same = (k + 1) as f64 * estimates.same;
    let lower = k as f64 * estimates.lower;
    if k > 2 {
        let second = (k - 1) as f64 * estimates.second_lower;
        lower.max(second) <= same
    } else {
        lower <= 0.5 * same
    }
}

fn growth(error: f64, order: usize, bias: f64) -> f64 {
    1.0 / ((bias * error).powf(1.0 / (order + 1) as f64) + 1e-6)
}
