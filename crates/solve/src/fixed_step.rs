//! Fixed-step methods for real time and for comparison: explicit Euler, classical Runge–Kutta, implicit Euler, and
//! linearly implicit Euler (one Newton step with a Jacobian of the current point; Deuflhard 1985). The inline methods leave
//! the implicit equation of a step to the problem (`OdeProblem::inline_stage`): implicit Euler, the trapezoidal rule, and
//! BDF2 with variable coefficients, which begins with an Euler step.
//!
//! Grid points are `start + n·h` without accumulation of rounding. A limit inside a step shortens it. Dense output is the
//! cubic Hermite polynomial for the explicit methods, the chord for the implicit ones.

use crate::error::StepError;
use crate::iteration_matrix::IterationMatrix;
use crate::ode::{DenseOutput, Integrator, OdeProblem, Options, Statistics, Step};
use crate::weights::{Failure, evaluate, norm, set_weights, smallest_step, worst_component};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    ExplicitEuler,
    RungeKutta4,
    ImplicitEuler,
    LinearlyImplicitEuler,
    InlineEuler,
    InlineTrapezoid,
    InlineBdf2,
}

const MAX_ITERATIONS: usize = 10;
/// Times that differ by less, relative to themselves, may be one instant to the run, which would not take a step between them.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// BDF2 extrapolates; a step that is longer than the last by more than this begins anew.
const LARGEST_RATIO: f64 = 2.0;

#[derive(Clone)]
pub struct FixedStep {
    scheme: Scheme,
    options: Options,
    origin: f64,
    count: u64,
    t: f64,
    t_old: f64,
    x: Vec<f64>,
    x_old: Vec<f64>,
    slope: Vec<f64>,
    slope_old: Vec<f64>,
    stage: Vec<f64>,
    f: Vec<f64>,
    sum: Vec<f64>,
    weights: Vec<f64>,
    matrix: Option<IterationMatrix>,
    factored_step: f64,
    /// The length of the last step, zero when there is none to go on from.
    last_step: f64,
    statistics: Statistics,
}

impl FixedStep {
    pub fn new(scheme: Scheme, size: usize, options: Options) -> Self {
        let zeros = || vec![0.0; size];
        FixedStep {
            scheme,
            options,
            origin: 0.0,
            count: 0,
            t: 0.0,
            t_old: 0.0,
            x: zeros(),
            x_old: zeros(),
            slope: zeros(),
            slope_old: zeros(),
            stage: zeros(),
            f: zeros(),
            sum: zeros(),
            weights: zeros(),
            matrix: None,
            factored_step: 0.0,
            last_step: 0.0,
            statistics: Statistics::default(),
        }
    }

    fn begin(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Result<(), StepError> {
        self.origin = t;
        self.count = 0;
        self.t = t;
        self.t_old = t;
        self.last_step = 0.0;
        self.x.copy_from_slice(x);
        self.x_old.copy_from_slice(x);
        evaluate(problem, t, &self.x, &mut self.slope, &mut self.statistics).map_err(|failure| failure.at(t, 0.0))
    }

    fn advance(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<(), Failure> {
        match self.scheme {
            Scheme::ExplicitEuler => {
                for ((y, x), k) in self.stage.iter_mut().zip(&self.x).zip(&self.slope) {
                    *y = x + h * k;
                }
                evaluate(problem, t_new, &self.stage, &mut self.f, &mut self.statistics)
            }
            Scheme::RungeKutta4 => self.runge_kutta(problem, h, t_new),
            Scheme::ImplicitEuler => self.implicit_euler(problem, h, t_new),
            Scheme::LinearlyImplicitEuler => self.linearly_implicit_euler(problem, h, t_new),
            Scheme::InlineEuler | Scheme::InlineTrapezoid | Scheme::InlineBdf2 => self.inline(problem, h, t_new),
        }
    }

    /// `x = base + factor·f(t_new, x)`, where `base` is what the method makes of known values.
    fn inline(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<(), Failure> {
        let ratio = h / self.last_step;
        let factor = match self.scheme {
            Scheme::InlineTrapezoid => {
                for ((base, x), k) in self.sum.iter_mut().zip(&self.x).zip(&self.slope) {
                    *base = x + 0.5 * h * k;
                }
                0.5 * h
            }
            Scheme::InlineBdf2 if ratio <= LARGEST_RATIO => {
                let back = ratio * ratio / (1.0 + 2.0 * ratio);
                for ((base, x), before) in self.sum.iter_mut().zip(&self.x).zip(&self.x_old) {
                    *base = x + back * (x - before);
                }
                h * (1.0 + ratio) / (1.0 + 2.0 * ratio)
            }
            _ => {
                self.sum.copy_from_slice(&self.x);
                h
            }
        };
        self.statistics.rhs += 1;
        let outcome = problem.inline_stage(t_new, factor, &self.sum, &mut self.stage, &mut self.f);
        outcome.map_err(Failure::Evaluation)
    }

    fn runge_kutta(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<(), Failure> {
        self.sum.copy_from_slice(&self.slope);
        self.f.copy_from_slice(&self.slope);
        for (part, weight) in [(0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            for ((y, x), k) in self.stage.iter_mut().zip(&self.x).zip(&self.f) {
                *y = x + part * h * k;
            }
            let time = if part == 1.0 { t_new } else { self.t + part * h };
            evaluate(problem, time, &self.stage, &mut self.f, &mut self.statistics)?;
            for (s, k) in self.sum.iter_mut().zip(&self.f) {
                *s += weight * k;
            }
        }
        for ((y, x), s) in self.stage.iter_mut().zip(&self.x).zip(&self.sum) {
            *y = x + h / 6.0 * s;
        }
        evaluate(problem, t_new, &self.stage, &mut self.f, &mut self.statistics)
    }

    /// Newton iteration for `y = x + h f(t_new, y)`, with the old factorisation as long as it converges.
    fn implicit_euler(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<(), Failure> {
        let mut fresh = false;
        loop {
            if self.factored_step != h || fresh {
                self.set_up(problem, t_new, h)?;
                fresh = true;
            }
            for ((y, x), k) in self.stage.iter_mut().zip(&self.x).zip(&self.slope) {
                *y = x + h * k;
            }
            match self.newton(problem, h, t_new) {
                Err(failure) if failure.recoverable() && !fresh => fresh = true,
                outcome => return outcome,
            }
        }
    }

    fn newton(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<(), Failure> {
        let Some(matrix) = &mut self.matrix else { return Err(Failure::Singular { column: 0 }) };
        let mut previous = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            evaluate(problem, t_new, &self.stage, &mut self.f, &mut self.statistics)?;
            for (((d, f), y), x) in self.sum.iter_mut().zip(&self.f).zip(&self.stage).zip(&self.x) {
                *d = f - (y - x) / h;
            }
            matrix.solve(&mut self.sum);
            self.statistics.newton_iterations += 1;
            self.stage.iter_mut().zip(&self.sum).for_each(|(y, d)| *y += d);
            let size = norm(&self.sum, &self.weights);
            if size <= 1e-3 || size <= 0.1 && size < 0.1 * previous {
                for ((f, y), x) in self.f.iter_mut().zip(&self.stage).zip(&self.x) {
                    *f = (y - x) / h;
                }
                return Ok(());
            }
            if !size.is_finite() || size > 2.0 * previous {
                break;
            }
            previous = size;
        }
        Err(Failure::NoConvergence { component: worst_component(&self.sum, &self.weights) })
    }

    fn linearly_implicit_euler(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<(), Failure> {
        self.set_up(problem, t_new, h)?;
        evaluate(problem, t_new, &self.x, &mut self.f, &mut self.statistics)?;
        self.sum.copy_from_slice(&self.f);
        let Some(matrix) = &mut self.matrix else { return Err(Failure::Singular { column: 0 }) };
        matrix.solve(&mut self.sum);
        for ((y, x), d) in self.stage.iter_mut().zip(&self.x).zip(&self.sum) {
            *y = x + d;
        }
        self.f.iter_mut().zip(&self.sum).for_each(|(f, d)| *f = d / h);
        Ok(())
    }

    fn set_up(&mut self, problem: &mut dyn OdeProblem, t: f64, h: f64) -> Result<(), Failure> {
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => IterationMatrix::new(problem).map_err(|s| Failure::Singular { column: s.column })?,
        };
        self.factored_step = 0.0;
        let outcome = evaluate(problem, t, &self.x, &mut self.f, &mut self.statistics).and_then(|()| {
            matrix.evaluate(problem, t, &self.x, &self.f, h, &self.options, &mut self.statistics)?;
            let factored = matrix.factor(1.0 / h, &mut self.statistics);
            factored.map_err(|s| Failure::Singular { column: s.column })
        });
        if outcome.is_ok() {
            self.factored_step = h;
        }
        self.matrix = Some(matrix);
        outcome
    }

    fn is_explicit(&self) -> bool {
        matches!(self.scheme, Scheme::ExplicitEuler | Scheme::RungeKutta4)
    }
}

impl DenseOutput for FixedStep {
    fn time(&self) -> f64 {
        self.t
    }

    fn interpolate(&self, t: f64, out: &mut [f64]) {
        let h = self.t - self.t_old;
        if h <= 0.0 || t >= self.t {
            out.copy_from_slice(&self.x);
            return;
        }
        for (i, out) in out.iter_mut().enumerate().take(self.x.len()) {
            *out = self.between(i, h, (t - self.t_old) / h);
        }
    }

    fn interpolate_some(&self, t: f64, components: &[usize], out: &mut [f64]) {
        let h = self.t - self.t_old;
        let is_end = h <= 0.0 || t >= self.t;
        for (out, &i) in out.iter_mut().zip(components) {
            *out = if is_end { self.x[i] } else { self.between(i, h, (t - self.t_old) / h) };
        }
    }

    fn degree(&self) -> usize {
        if self.is_explicit() { 3 } else { 1 }
    }
}

impl FixedStep {
    /// A component at a fraction of the last step, whose length is `h`.
    fn between(&self, i: usize, h: f64, s: f64) -> f64 {
        let r = 1.0 - s;
        let (a, b) = (self.x_old[i], self.x[i]);
        let chord = r * a + s * b;
        if !self.is_explicit() {
            return chord;
        }
        let (da, db) = (h * self.slope_old[i], h * self.slope[i]);
        chord + s * r * (r * (da - (b - a)) - s * (db - (b - a)))
    }
}

impl Integrator for FixedStep {
    fn start(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], _: Option<f64>) -> Result<(), StepError> {
        self.matrix = None;
        self.factored_step = 0.0;
        self.begin(problem, t, x)
    }

    fn step(&mut self, problem: &mut dyn OdeProblem, t_limit: f64) -> Result<Step, StepError> {
        set_weights(&self.options, &self.x, &mut self.weights);
        let width = self.options.fixed_step.min(self.options.max_step);
        // A grid point that falls on the limit up to rounding is the limit.
        let near = (1e-9 * width).max(ROUNDING * t_limit.abs());
        let mut grid = self.origin + (self.count + 1) as f64 * width;
        if grid <= self.t {
            self.count = ((self.t - self.origin) / width + 1e-9).floor() as u64;
            grid = self.origin + (self.count + 1) as f64 * width;
        }
        let on_grid = grid < t_limit - near;
        let t_new = if on_grid { grid } else { t_limit };
        // The nominal step, not the difference of two rounded times, keeps the factorisation usable.
        let exact = t_new - self.t;
        let h = if (exact - width).abs() <= 1e-9 * width { width } else { exact };
        if !(h >= smallest_step(self.t)) {
            return Err(StepError::StepTooSmall { t: self.t, h, component: 0 });
        }
        self.advance(problem, h, t_new).map_err(|failure| failure.at(self.t, h))?;
        self.count += u64::from(on_grid || (grid - t_limit).abs() <= near);
        self.last_step = h;
        self.t_old = self.t;
        self.t = t_new;
        std::mem::swap(&mut self.x_old, &mut self.x);
        self.x.copy_from_slice(&self.stage);
        std::mem::swap(&mut self.slope_old, &mut self.slope);
        self.slope.copy_from_slice(&self.f);
        self.statistics.steps += 1;
        Ok(Step { t_old: self.t_old, t_new, at_limit: t_new == t_limit })
    }

    fn restart(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Result<(), StepError> {
        self.statistics.restarts += 1;
        self.factored_step = 0.0;
        let (origin, count) = (self.origin, self.count);
        self.begin(problem, t, x)?;
        // The grid goes on as before the event.
        let width = self.options.fixed_step.min(self.options.max_step);
        let passed = ((t - origin) / width + 1e-9).floor();
        if passed >= 0.0 && passed <= count as f64 + 1.0 {
            self.origin = origin;
            self.count = passed as u64;
        }
        Ok(())
    }

    fn reset(&mut self, size: usize) {
        let statistics = self.statistics;
        *self = FixedStep::new(self.scheme, size, self.options.clone());
        self.statistics = statistics;
    }

    fn state(&self) -> &[f64] {
        &self.x
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn name(&self) -> &'static str {
        match self.scheme {
            Scheme::ExplicitEuler => "euler",
            Scheme::RungeKutta4 => "rk4",
            Scheme::ImplicitEuler => "implicit-euler",
            Scheme::LinearlyImplicitEuler => "linearly-implicit-euler",
            Scheme::InlineEuler => "inline-euler",
            Scheme::InlineTrapezoid => "inline-trapezoid",
            Scheme::InlineBdf2 => "inline-bdf2",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EvalError;

    struct Decay;

    impl OdeProblem for Decay {
        fn size(&self) -> usize {
            1
        }
        fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
            dx[0] = -x[0] + t;
            Ok(())
        }
        fn inline_stage(
            &mut self,
            t: f64,
            step: f64,
            base: &[f64],
            x: &mut [f64],
            dx: &mut [f64],
        ) -> Result<(), EvalError> {
            x[0] = (base[0] + step * t) / (1.0 + step);
            dx[0] = -x[0] + t;
            Ok(())
        }
    }

    /// x' = −x + t from 1: x = 2 exp(−t) + t − 1.
    fn error(scheme: Scheme, h: f64) -> (f64, f64) {
        let exact = |t: f64| 2.0 * (-t).exp() + t - 1.0;
        let options = Options { fixed_step: h, ..Options::with_tolerances(1e-10, 1e-10) };
        let mut method = FixedStep::new(scheme, 1, options);
        method.start(&mut Decay, 0.0, &[1.0], None).unwrap();
        let mut dense = 0.0_f64;
        let mut x = [0.0];
        while method.time() < 1.0 {
            let step = method.step(&mut Decay, 1.0).unwrap();
            let t = 0.4 * step.t_old + 0.6 * step.t_new;
            method.interpolate(t, &mut x);
            dense = dense.max((x[0] - exact(t)).abs());
        }
        ((method.state()[0] - exact(1.0)).abs(), dense)
    }

    #[test]
    fn orders() {
        let cases = [
            (Scheme::ExplicitEuler, 1.0),
            (Scheme::RungeKutta4, 4.0),
            (Scheme::ImplicitEuler, 1.0),
            (Scheme::LinearlyImplicitEuler, 1.0),
            (Scheme::InlineEuler, 1.0),
            (Scheme::InlineTrapezoid, 2.0),
            (Scheme::InlineBdf2, 2.0),
        ];
        for (scheme, order) in cases {
            let (coarse, coarse_dense) = error(scheme, 0.1);
            let (fine, fine_dense) = error(scheme, 0.05);
            assert!(((coarse / fine).log2() - order).abs() < 0.25, "{scheme:?} {coarse:e} {fine:e}");
            assert!((coarse_dense / fine_dense).log2() > order - 0.3, "{scheme:?} {coarse_dense:e} {fine_dense:e}");
        }
    }

    #[test]
    fn grid_does_not_drift_and_resumes_after_events() {
        let options = Options { fixed_step: 0.1, ..Options::default() };
        let mut method = FixedStep::new(Scheme::ExplicitEuler, 1, options);
        method.start(&mut Decay, 0.0, &[1.0], None).unwrap();
        for k in 1..=1_000 {
            let step = method.step(&mut Decay, 1e9).unwrap();
            assert_eq!(step.t_new, 0.1 * f64::from(k));
        }
        let step = method.step(&mut Decay, 100.05).unwrap();
        assert!(step.at_limit);
        let x = [method.state()[0]];
        method.restart(&mut Decay, 100.05, &x).unwrap();
        let step = method.step(&mut Decay, 1e9).unwrap();
        assert!((step.t_new - 100.1).abs() < 1e-12, "{step:?}");
    }

    #[test]
    fn implicit_schemes_survive_stiffness_with_one_factorisation() {
        struct Stiff;
        impl OdeProblem for Stiff {
            fn size(&self) -> usize {
                1
            }
            fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
                dx[0] = -1e6 * (x[0] - t.cos());
                Ok(())
            }
        }
        for scheme in [Scheme::ImplicitEuler, Scheme::LinearlyImplicitEuler] {
            let options = Options { fixed_step: 0.01, ..Options::default() };
            let mut method = FixedStep::new(scheme, 1, options);
            method.start(&mut Stiff, 0.0, &[2.0], None).unwrap();
            while method.time() < 1.0 {
                method.step(&mut Stiff, 1.0).unwrap();
            }
            assert!((method.state()[0] - 1.0_f64.cos()).abs() < 1e-5, "{scheme:?}");
            if scheme == Scheme::ImplicitEuler {
                assert!(method.statistics().factorisations <= 3);
            }
        }
    }
}
