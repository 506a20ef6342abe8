//! Steps that somebody else takes. Between the ends of the last one the solution is the cubic polynomial with the slopes that
//! the model has there (Hermite).

use crate::error::StepError;
use crate::ode::{DenseOutput, Integrator, OdeProblem, Statistics, Step};

/// Holds the last step that it was given.
#[derive(Clone, Debug, Default)]
pub struct GivenSteps {
    begin: Point,
    end: Point,
    statistics: Statistics,
}

#[derive(Clone, Debug, Default)]
struct Point {
    t: f64,
    x: Vec<f64>,
    slope: Vec<f64>,
}

impl Point {
    fn set(&mut self, t: f64, x: &[f64], slope: &[f64]) {
        self.t = t;
        self.x.clear();
        self.x.extend_from_slice(x);
        self.slope.clear();
        self.slope.extend_from_slice(slope);
    }
}

impl GivenSteps {
    /// For a problem with so many states.
    pub fn new(size: usize) -> Self {
        let mut given = Self::default();
        given.reset(size);
        given
    }

    /// One component at a time of the last step.
    fn component(&self, t: f64, k: usize) -> f64 {
        let (begin, end) = (&self.begin, &self.end);
        let length = end.t - begin.t;
        if t >= end.t || length <= 0.0 {
            return end.x[k];
        }
        let s = (t - begin.t) / length;
        let (x0, x1) = (begin.x[k], end.x[k]);
        let (d0, d1) = (length * begin.slope[k], length * end.slope[k]);
        let bend = (1.0 - 2.0 * s) * (x1 - x0) + (s - 1.0) * d0 + s * d1;
        (1.0 - s) * x0 + s * x1 + s * (s - 1.0) * bend
    }
}

impl DenseOutput for GivenSteps {
    fn time(&self) -> f64 {
        self.end.t
    }

    fn interpolate(&self, t: f64, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(k, value)| *value = self.component(t, k));
    }

    fn interpolate_some(&self, t: f64, components: &[usize], out: &mut [f64]) {
        out.iter_mut().zip(components).for_each(|(value, &k)| *value = self.component(t, k));
    }

    fn degree(&self) -> usize {
        3
    }
}

impl Integrator for GivenSteps {
    fn start(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], _h0: Option<f64>) -> Result<(), StepError> {
        let mut slope = vec![0.0; x.len()];
        problem.rhs(t, x, &mut slope).map_err(|error| StepError::Evaluation { t, error })?;
        self.begin.set(t, x, &slope);
        self.end.clone_from(&self.begin);
        Ok(())
    }

    fn step(&mut self, _problem: &mut dyn OdeProblem, _t_limit: f64) -> Result<Step, StepError> {
        // It has no formula of its own.
        Err(StepError::StepTooSmall { t: self.end.t, h: 0.0, component: 0 })
    }

    fn take(&mut self, t: f64, x: &[f64], slope: &[f64]) {
        std::mem::swap(&mut self.begin, &mut self.end);
        self.end.set(t, x, slope);
        self.statistics.steps += 1;
    }

    fn restart(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Result<(), StepError> {
        self.statistics.restarts += 1;
        self.start(problem, t, x, None)
    }

    fn reset(&mut self, size: usize) {
        let zeros = vec![0.0; size];
        self.begin.set(self.end.t, &zeros, &zeros);
        self.end.clone_from(&self.begin);
    }

    fn state(&self) -> &[f64] {
        &self.end.x
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn name(&self) -> &'static str {
        "given"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubics_are_interpolated_exactly() {
        let mut given = GivenSteps::new(1);
        let cubic = |t: f64| (t * t * t - 2.0 * t, 3.0 * t * t - 2.0);
        for t in [0.5, 2.0] {
            given.take(t, &[cubic(t).0], &[cubic(t).1]);
        }
        for t in [0.5, 0.75, 1.25, 1.9, 2.0] {
            let mut x = [0.0];
            given.interpolate(t, &mut x);
            assert!((x[0] - cubic(t).0).abs() < 1e-14, "{} at {t}", x[0]);
        }
    }
}
