//! The damped iteration: how far to go along a correction.

use super::{NewtonError, NewtonSolver, NonlinearSystem, ROUNDING, SLOWEST, SOON, Target, VERIFIED};
use crate::error::EvalError;
use crate::weights::all_finite;

/// Corrections below this part of the tolerance that do not get smaller are rounding errors after so many of them.
const RESTING: f64 = 0.01;
const MOST_RESTS: u32 = 5;

impl NewtonSolver {
    /// Once more from the start, with steps measured in units of the unknowns and of the steps themselves: nominal values
    /// that are far too large hide the unknowns that overshoot.
    pub(super) fn damped_in_own_units(
        &mut self,
        system: &mut dyn NonlinearSystem,
        x: &mut [f64],
        begin: &[f64],
    ) -> bool {
        x.copy_from_slice(begin);
        self.in_own_units = true;
        let outcome = self.evaluate_start(system, x).and_then(|()| self.damped(system, x));
        self.in_own_units = false;
        outcome.is_ok()
    }

    /// Newton's method with steps that are shortened where the residuals do not shrink as the slopes tell.
    pub(super) fn damped(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<(), NewtonError> {
        self.iterate_damped(system, x)?;
        self.check_slopes(system, x)
    }

    fn iterate_damped(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64]) -> Result<(), NewtonError> {
        let mut damping: f64 = 1.0;
        let mut previous_size = 0.0;
        // A short correction says nothing where the residual is steep and bent, as an exponential function is: that the next
        // one is much shorter shows that the solution is near.
        let mut verified = false;
        let mut shrinks = false;
        let mut previous_residual = f64::INFINITY;
        let mut resting = 0;
        // From the steep side of an exponential function each step takes its argument back by one or so: that is slow, but no
        // failure, and what remains at its foot is not either.
        let mut end = self.options.max_iterations;
        for iteration in 0..SLOWEST * self.options.max_iterations {
            if iteration >= end {
                break;
            }
            self.statistics.iterations += 1;
            self.set_scale(x);
            if self.evaluated != *x {
                self.evaluate_start(system, x)?;
            }
            self.evaluate_jacobian(system, x)?;
            self.correction()?;
            if !all_finite(&self.step) {
                return Err(self.no_convergence(iteration));
            }
            let settled = match verified {
                true => self.is_settled_at_start(x),
                false => self.corrections_are_within(x, &self.step, &self.r, ROUNDING),
            };
            if settled && self.is_consistent() {
                return Ok(());
            }
            if iteration == 0 {
                self.note_reach(x);
            }
            self.set_weight(x);
            let size = self.weighted_norm(&self.step);
            // From a guess that is exact nothing shows how corrections shrink: what remains is rounding.
            let rests = size >= 0.5 * previous_size
                && self.corrections_are_within(x, &self.step, &self.r, RESTING * self.options.tolerance);
            resting = if rests { resting + 1 } else { 0 };
            if resting > MOST_RESTS && self.is_consistent() {
                return Ok(());
            }
            if iteration > 0 {
                // Prediction of the damping from the last change of the corrections.
                let change = self.weighted_distance(&self.next_step, &self.step);
                let mu = previous_size * self.weighted_norm(&self.next_step) / (change * size).max(f64::MIN_POSITIVE);
                damping = if mu.is_finite() { (mu * damping).min(1.0) } else { damping };
            }
            let residual_before = self.scaled_residual(&self.r);
            match self.search(system, x, size, &mut damping) {
                Search::Converged => return Ok(()),
                Search::Moved => {}
                Search::Stuck(_) if self.is_solved_up_to_rounding(system, x) => return Ok(()),
                Search::Stuck(error) => {
                    return Err(error.map_or_else(|| self.no_convergence(iteration + 1), NewtonError::Evaluation));
                }
            }
            if damping < 1e-2 && self.is_below_nominal_rounding(x) {
                return Ok(());
            }
            // Rounding errors do not get smaller; residuals of a steep function do with every step.
            let residual_size = self.scaled_residual(&self.r);
            if residual_size >= 0.5 * previous_residual
                && self.scaled_norm(&self.step) <= self.options.tolerance.sqrt()
                && self.is_rounding_of_terms(x)
            {
                return Ok(());
            }
            // In the same units: those of the next Jacobian are smaller as the function is flatter.
            if residual_size <= 0.8 * residual_before {
                end = end.max(iteration + SOON);
            }
            previous_residual = residual_size;
            shrinks = size <= 0.7 * previous_size;
            verified = damping == 1.0 && self.weighted_norm(&self.next_step) <= VERIFIED * size;
            previous_size = size;
        }
        if self.is_multiple_root(x, shrinks) || self.rests_in_noise(system, x) {
            return Ok(());
        }
        Err(self.no_convergence(self.options.max_iterations))
    }

    /// Finds a damped step that brings the solution nearer, and takes it.
    fn search(&mut self, system: &mut dyn NonlinearSystem, x: &mut [f64], mut size: f64, damping: &mut f64) -> Search {
        let residual_size = self.scaled_residual(&self.r);
        let mut refused = None;
        let mut best: Option<(f64, f64)> = None;
        let mut enlarged = false;
        loop {
            if *damping < 1e-10 {
                break;
            }
            for ((trial, x), d) in self.trial.iter_mut().zip(x.iter()).zip(&self.step) {
                *trial = x - *damping * d;
            }
            let mut trial = std::mem::take(&mut self.trial);
            self.clamp(&mut trial);
            self.trial = trial;
            let trial = std::mem::take(&mut self.trial);
            let outcome = self.evaluate(system, &trial, Target::Trial);
            self.trial = trial;
            if let Err(error) = outcome {
                if !error.recoverable {
                    return Search::Stuck(Some(error));
                }
                refused = Some(error);
                *damping *= 0.25;
                continue;
            }
            if !all_finite(&self.trial_r) {
                *damping *= 0.25;
                continue;
            }
            let trial_residual = self.scaled_residual(&self.trial_r);
            if trial_residual < residual_size && best.is_none_or(|(_, value)| trial_residual < value) {
                best = Some((*damping, trial_residual));
            }
            self.next_step.copy_from_slice(&self.trial_r);
            self.correct_next_step();
            let mut contraction = self.weighted_norm(&self.next_step) / size;
            if *damping == 1.0 && !(contraction < 0.5) && self.is_short() {
                let trial_r = self.trial_r.clone();
                if self.is_noise(system, x) {
                    return Search::Converged;
                }
                self.trial_r = trial_r;
                self.evaluated.fill(f64::NAN);
                self.set_weight(x);
                size = self.weighted_norm(&self.step);
                contraction = self.weighted_norm(&self.next_step) / size;
            }
            // Distance of the next correction from what a linear system would give.
            let mut bent = 0.0;
            for ((next, d), w) in self.next_step.iter().zip(&self.step).zip(&self.weight) {
                let v = (next - (1.0 - *damping) * d) * w;
                bent += v * v;
            }
            let bent = (bent / self.size as f64).sqrt();
            let mu = 0.5 * size * *damping * *damping / bent.max(f64::MIN_POSITIVE);
            if contraction >= 1.0 || contraction.is_nan() {
                let shorter = mu.min(0.5 * *damping);
                *damping = if shorter.is_finite() { shorter.max(0.01 * *damping) } else { 0.25 * *damping };
                continue;
            }
            let wanted = mu.min(1.0);
            if *damping == 1.0
                && wanted >= 1.0
                && (contraction <= VERIFIED || self.next_correction_is_within(ROUNDING))
                && self.next_correction_is_within(self.options.tolerance)
            {
                x.copy_from_slice(&self.trial);
                std::mem::swap(&mut self.r, &mut self.trial_r);
                let settled = self.dependents_are_settled(x, &self.step, &self.next_step);
                let is_noise = !settled && contraction > 0.5;
                if is_noise {
                    self.note_noise_of_dependents();
                }
                if !(settled || is_noise) || !self.is_consistent() {
                    return Search::Moved;
                }
                // The next correction is known already: apply it, too.
                x.iter_mut().zip(&self.next_step).for_each(|(x, d)| *x -= d);
                self.clamp(x);
                return Search::Converged;
            }
            if wanted >= 4.0 * *damping && !enlarged {
                *damping = wanted;
                enlarged = true;
                continue;
            }
            x.copy_from_slice(&self.trial);
            std::mem::swap(&mut self.r, &mut self.trial_r);
            return Search::Moved;
        }
        // Far from a solution the correction may have to grow first; a smaller residual is progress, too.
        match best {
            Some((value, reached)) if reached < 0.999 * residual_size => {
                for ((x, d), trial) in x.iter_mut().zip(&self.step).zip(&mut self.trial) {
                    *x -= value * d;
                    *trial = *x;
                }
                self.clamp(x);
                if self.evaluate(system, x, Target::Own).is_err() {
                    return Search::Stuck(refused);
                }
                self.next_step.copy_from_slice(&self.r);
                self.correct_next_step();
                *damping = value;
                Search::Moved
            }
            _ => Search::Stuck(refused),
        }
    }

    /// The same of the correction that follows a trial.
    fn next_correction_is_within(&self, tolerance: f64) -> bool {
        self.corrections_are_within(&self.trial, &self.next_step, &self.trial_r, tolerance)
    }

    /// Steps are measured by the unknowns that are not settled, in units of their scales.
    pub(super) fn set_weight(&mut self, x: &[f64]) {
        let open = self.open(x);
        if open.is_empty() || self.in_own_units {
            return self.set_relative_weight(x);
        }
        self.weight.fill(0.0);
        open.into_iter().for_each(|j| self.weight[j] = 1.0 / self.scale[j]);
    }

    /// Steps are measured by the unknowns that are not settled, in units of themselves; by all, if only dependents are left.
    pub(super) fn set_relative_weight(&mut self, x: &[f64]) {
        let mut any = false;
        let noise = self.noise_at(x, &self.r);
        for all in [false, true] {
            for j in 0..self.size {
                let (size, step) = (x[j].abs(), self.step[j].abs());
                let measured = (all || self.is_open(j, x[j], noise)) && step > 0.0;
                any |= measured;
                self.weight[j] = if measured { 1.0 / size.max(step) } else { 0.0 };
            }
            if any {
                break;
            }
        }
    }

    pub(super) fn weighted_norm(&self, v: &[f64]) -> f64 {
        let sum: f64 = v.iter().zip(&self.weight).map(|(v, w)| (v * w) * (v * w)).sum();
        (sum / self.size as f64).sqrt()
    }

    pub(super) fn weighted_distance(&self, v: &[f64], w: &[f64]) -> f64 {
        let sum: f64 = v.iter().zip(w).zip(&self.weight).map(|((v, w), s)| ((v - w) * s) * ((v - w) * s)).sum();
        (sum / self.size as f64).sqrt()
    }
}

enum Search {
    Converged,
    Moved,
    Stuck(Option<EvalError>),
}
