//! When the iteration may stop: corrections that are small beside the unknowns and what follows from them, or nothing but
//! rounding errors.

use super::{NewtonSolver, NonlinearSystem, ROUNDING, SMALLEST, Target};
use crate::weights::all_finite;

impl NewtonSolver {
    /// Noise of long ago says nothing about today.
    pub(super) fn age_floors(&mut self) {
        if self.noise.grow_old() {
            self.dependents_floor.fill(0.0);
            self.dependents_span.iter_mut().for_each(|span| *span *= 0.5);
        }
    }

    /// How much of the noise that was found lately there is at a point, by its residuals: the floors of corrections count as
    /// this fraction.
    pub(super) fn noise_at(&self, x: &[f64], r: &[f64]) -> f64 {
        self.noise.share(x, r)
    }

    /// Whether corrections, which follow from the residuals, are small beside each unknown, or nothing but noise.
    pub(super) fn corrections_are_within(&self, x: &[f64], corrections: &[f64], r: &[f64], tolerance: f64) -> bool {
        let noise = self.noise_at(x, r);
        // NaN is not within anything.
        let is_small = |(j, (x, d)): (usize, (&f64, &f64))| {
            d.abs() <= tolerance * x.abs() || d.abs() <= (noise * self.noise.floor[j]).max(SMALLEST * self.nominal(j))
        };
        x.iter().zip(corrections).enumerate().all(is_small)
    }

    /// Whether no step is needed. Where nothing is known of how dependents amplify corrections, these have to be tiny.
    pub(super) fn is_settled_at_start(&self, x: &[f64]) -> bool {
        let tolerance = if self.dependents.is_empty() { 0.1 * self.options.tolerance } else { 1e-13 };
        self.corrections_are_within(x, &self.step, &self.r, tolerance)
    }

    /// Whether dependents, which changed with the correction `taken`, do not change much with the next one. Those that vanish
    /// but for rounding, compared with what they have been, do not count.
    pub(super) fn dependents_are_settled(&self, x: &[f64], taken: &[f64], next: &[f64]) -> bool {
        const TOLERANCE: f64 = 1e-10;
        const VANISHING: f64 = 1e-5;
        if self.dependents.is_empty() {
            return true;
        }
        // How much shorter the next correction is; those within the rounding of an unknown are none.
        let mut contraction = 0.0f64;
        for ((x, taken), next) in x.iter().zip(taken).zip(next) {
            if next.abs() > 4.0 * f64::EPSILON * x.abs() {
                contraction = contraction.max(next.abs() / taken.abs().max(next.abs()));
            }
        }
        (0..self.dependents.len()).all(|k| {
            let size = self.dependents[k].abs().max(VANISHING * self.dependents_span[k]);
            let change = (self.dependents[k] - self.dependents_before[k]).abs();
            contraction * change <= TOLERANCE * size || change <= self.dependents_floor[k]
        })
    }

    /// Dependents that still change while corrections no longer shrink are differences that vanish but for rounding.
    pub(super) fn note_noise_of_dependents(&mut self) {
        let changes = self.dependents.iter().zip(&self.dependents_before);
        for (floor, (value, before)) in self.dependents_floor.iter_mut().zip(changes) {
            *floor = floor.max(4.0 * (value - before).abs());
        }
    }

    /// Where the Jacobian is singular, corrections may be short though the equations are not fulfilled.
    pub(super) fn is_consistent(&self) -> bool {
        self.deficient.is_none() || self.residual_is_within(1e-9)
    }

    /// Whether residuals are small beside those at the start, or beside their terms.
    pub(super) fn residual_is_within(&self, tolerance: f64) -> bool {
        const ROUNDING: f64 = 64.0 * f64::EPSILON;
        let mut residuals = self.r.iter().zip(&self.first_r).zip(&self.row_scale);
        residuals.all(|((r, first), scale)| r.abs() <= (tolerance * first.abs()).max(ROUNDING * scale))
    }

    /// At a multiple root, and where terms of very different sizes meet, corrections stay long while the residual is
    /// already rounding.
    pub(super) fn is_solved_up_to_rounding(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> bool {
        if self.scaled_norm(&self.step) > self.options.tolerance.sqrt() {
            return false;
        }
        self.is_rounding_of_terms(x) || self.is_noise(system, x)
    }

    /// Whether corrections and residuals are rounding errors of nominal values: what part of a sum is quantised, as that of
    /// `exp(x) - 1` near zero, another part need not be. Unknowns that are smaller than that are not judged by nominal values.
    pub(super) fn is_below_nominal_rounding(&self, x: &[f64]) -> bool {
        const SHORT: f64 = 1e-6;
        const TINY: f64 = 1e-15;
        const ZERO: f64 = 1e-20;
        let is_rounding =
            |((d, x), scale): ((&f64, &f64), &f64)| d.abs() <= (TINY * scale).min((SHORT * x.abs()).max(ZERO * scale));
        self.step.iter().zip(x).zip(&self.scale).all(is_rounding) && self.residual_is_within(0.0)
    }

    /// At a multiple root corrections shrink by a factor only, to the end: they are short beside the unknowns, or these have
    /// become zero beside what they were.
    pub(super) fn is_multiple_root(&self, x: &[f64], shrinks: bool) -> bool {
        let is_short = |((d, x), reach): ((&f64, &f64), &f64)| d.abs() <= (1e-7 * x.abs()).max(1e-12 * reach);
        shrinks && self.step.iter().zip(x).zip(&self.reach).all(is_short) && self.residual_is_within(1e-13)
    }

    /// How far the iteration reaches out from its start, unknown by unknown.
    pub(super) fn note_reach(&mut self, x: &[f64]) {
        for ((reach, x), step) in self.reach.iter_mut().zip(x).zip(&self.step) {
            *reach = x.abs().max(step.abs());
        }
    }

    /// Whether each residual is small beside the terms that the unknowns make, which are smaller than with nominal values.
    pub(super) fn is_rounding_of_terms(&self, x: &[f64]) -> bool {
        const ROUNDING: f64 = 64.0 * f64::EPSILON;
        self.r.iter().zip(self.terms(x)).all(|(r, terms)| r.abs() <= ROUNDING * terms)
    }

    /// The sizes of the terms that the unknowns make in the residuals.
    fn terms(&self, x: &[f64]) -> Vec<f64> {
        let mut terms = vec![0.0; self.size];
        self.for_each_entry(|row, column, value| terms[row] += (value * x[column]).abs());
        terms
    }

    /// Whether the next correction would be short and noise, after a step was taken.
    pub(super) fn rests_in_noise(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> bool {
        if self.evaluated != *x && self.evaluate_start(system, x).is_err() {
            return false;
        }
        // With the slopes of the point before, smooth functions do not change as they tell.
        let is_known = self.evaluate_jacobian(system, x).and_then(|()| self.correction()).is_ok();
        is_known && self.is_short() && self.is_noise(system, x)
    }

    /// Whether the corrections of the unknowns that are not settled are made of rounding errors: a small step along them does
    /// not change the residual as the Jacobian tells, nor does a much smaller one. Where the residual is smooth, it does so the
    /// better the smaller the step is; at a place without solution, such as a plateau, too.
    pub(super) fn is_noise(&mut self, system: &mut dyn NonlinearSystem, x: &[f64]) -> bool {
        const STEP: f64 = 1.0 / 1024.0;
        const SMALL_STEP: f64 = STEP / 64.0;
        if self.deficient.is_some() {
            return false;
        }
        let mut open = self.open(x);
        // What is within the tolerance anyway need not be told from curvature.
        let is_settled = open.is_empty();
        if is_settled && !self.corrections_are_within(x, &self.step, &self.r, ROUNDING) {
            open = (0..self.size).filter(|&j| self.step[j].abs() > ROUNDING * x[j].abs()).collect();
        }
        let count = open.len();
        for sign in [1.0, -1.0] {
            let Some(next) = self.correction_beside(system, x, sign * STEP) else { return false };
            let Some(small) = self.correction_beside(system, x, sign * SMALL_STEP) else { return false };
            open.retain(|&j| {
                let d = self.step[j];
                // How far they are from what the Jacobian tells.
                let off = (next[j] - (1.0 - sign * STEP) * d).abs();
                let small_off = (small[j] - (1.0 - sign * SMALL_STEP) * d).abs();
                let is_unexpected = off >= 0.5 * STEP * d.abs() && off <= 20.0 * d.abs();
                // Curvature shrinks with the square of the step; what stays on a stair of rounding, with the step.
                is_unexpected && (is_settled || small_off >= 0.25 * (SMALL_STEP / STEP) * off)
            });
        }
        // Where all is within the tolerance and residuals are rounding errors of their terms, one of them is why corrections do
        // not get shorter.
        let is_enough = open.len() == count || is_settled && !open.is_empty() && self.is_rounding_of_terms(x);
        // Those that are noise do not speak against the steps of the others any more.
        let terms = self.terms(x);
        self.noise.note(x, &self.r, &terms, open.into_iter().map(|j| (j, self.step[j])));
        is_enough
    }

    /// The next correction after this part of the one at hand, with the same Jacobian.
    fn correction_beside(&mut self, system: &mut dyn NonlinearSystem, x: &[f64], part: f64) -> Option<Vec<f64>> {
        let point: Vec<f64> = x.iter().zip(&self.step).map(|(x, d)| x - part * d).collect();
        if self.evaluate(system, &point, Target::Trial).is_err() || !all_finite(&self.trial_r) {
            return None;
        }
        let mut next = self.trial_r.clone();
        self.solver.solve(&mut next);
        Some(next)
    }

    /// The unknowns that are not settled.
    pub(super) fn open(&self, x: &[f64]) -> Vec<usize> {
        let noise = self.noise_at(x, &self.r);
        (0..self.size).filter(|&j| self.is_open(j, x[j], noise)).collect()
    }

    pub(super) fn is_open(&self, j: usize, x: f64, noise: f64) -> bool {
        let d = self.step[j].abs();
        let floor = (noise * self.noise.floor[j]).max(SMALLEST * self.nominal(j));
        !(d <= self.options.tolerance * x.abs() || d <= floor)
    }

    /// Whether all corrections are so short that they may be rounding errors of something larger.
    pub(super) fn is_short(&self) -> bool {
        self.step.iter().zip(&self.scale).all(|(d, scale)| d.abs() <= 1e-9 * scale)
    }
}
