//! Continuation of a step after an event that changed nothing.
//!
//! Many events (a relation nobody uses just now, an output sampled, a limit left again) change neither state nor
//! slopes. The part of the accepted step behind such an event is still the solution, so it is handed out as the next
//! step instead of being computed again.

use crate::iteration_matrix::IterationMatrix;
use crate::ode::{OdeProblem, Statistics};
use crate::weights::{evaluate, norm};

/// How far, in units of the tolerance, a difference of slopes (overwritten) moves the solution within a step of length `h`.
/// What is stiff follows its slope only a little: the iteration matrix says how far. It is asked only beyond `enough`.
pub(crate) fn slip(
    matrix: Option<&mut IterationMatrix>,
    difference: &mut [f64],
    weights: &[f64],
    h: f64,
    enough: f64,
) -> f64 {
    let plain = h * norm(difference, weights);
    match matrix {
        Some(matrix) if !(plain <= enough) => {
            matrix.solve(difference);
            h * matrix.coefficient() * norm(difference, weights)
        }
        _ => plain,
    }
}

/// Whether states are those of the dense output, which are overwritten with the difference.
pub(crate) fn is_same_state(dense: &mut [f64], x: &[f64], weights: &[f64]) -> bool {
    let mut same = true;
    for (dense, x) in dense.iter_mut().zip(x) {
        let size = dense.abs().max(x.abs());
        *dense -= x;
        same &= dense.abs() <= SAME_DIGITS * size;
    }
    same && norm(dense, weights) <= SAME_STATE
}

/// Whether the Jacobian in the iteration matrix is one from before an event: a diode that conducts now is stiff no more, and an
/// iteration with the old matrix would hardly move, as if it had converged. One direction in all states tells, of the size of
/// the tolerance. `trial` and `slope` are overwritten.
pub(crate) fn is_outdated(
    problem: &mut dyn OdeProblem,
    matrix: &mut IterationMatrix,
    at: &Point<'_>,
    weights: &[f64],
    (trial, slope): (&mut [f64], &mut [f64]),
    statistics: &mut Statistics,
) -> bool {
    /// What an iteration may leave of an error.
    const LEFT: f64 = 0.2;
    let direction = |place: usize| {
        let size = 0.5 + (0.618 * place as f64).fract();
        if place.is_multiple_of(2) { size / weights[place] } else { -size / weights[place] }
    };
    trial.iter_mut().zip(at.x).enumerate().for_each(|(place, (y, x))| *y = x + direction(place));
    if evaluate(problem, at.t, trial, slope, statistics).is_err() {
        return true;
    }
    // As far as the numbers could represent it.
    let moved: Vec<f64> = trial.iter().zip(at.x).map(|(y, x)| y - x).collect();
    matrix.multiply(&moved, trial);
    slope.iter_mut().zip(at.f).zip(&*trial).for_each(|((s, f), expected)| *s -= f + expected);
    matrix.solve(slope);
    !(norm(slope, weights) <= LEFT * norm(&moved, weights))
}

/// The rest of the last accepted step, if it is still good.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resume {
    from: Option<f64>,
    x: Vec<f64>,
    trial: Vec<f64>,
    slope: Vec<f64>,
    outdated: bool,
}

/// A point, and the slope there after an event.
pub(crate) struct Point<'a> {
    pub t: f64,
    pub x: &'a [f64],
    pub f: &'a [f64],
}

/// Differences in state below this fraction of the tolerance that are rounding errors are no jump. Any other one is meant, however
/// small: what `reinit` takes back by less than the tolerance would otherwise come again, and again the event.
const SAME_STATE: f64 = 1e-4;
const SAME_DIGITS: f64 = 16.0 * f64::EPSILON;
/// How far, in units of the tolerance, the slope of the dense output may lead away within a step. Dense output is
/// rough in its slopes, above all at the ends of a step; the end of the step is the finer test.
pub(crate) const SAME_SLOPE: f64 = 20.0;
/// As above for the end of the step, where the method has fulfilled its equation.
pub(crate) const SAME_END: f64 = 0.1;

impl Resume {
    pub(crate) fn new(size: usize) -> Self {
        let zeros = || vec![0.0; size];
        Resume { from: None, x: zeros(), trial: zeros(), slope: zeros(), outdated: false }
    }

    pub(crate) fn set(&mut self, t: f64, x: &[f64]) {
        self.from = Some(t);
        self.x.copy_from_slice(x);
    }

    pub(crate) fn clear(&mut self) {
        self.from = None;
    }

    pub(crate) fn take(&mut self) -> Option<f64> {
        self.from.take()
    }

    pub(crate) fn time(&self) -> Option<f64> {
        self.from
    }

    pub(crate) fn state(&self) -> &[f64] {
        &self.x
    }

    /// How far, in units of the tolerance, a difference of slopes (overwritten) moves the solution within a step. What is
    /// stiff follows its slope only a little: the iteration matrix says how far. But that has the Jacobian from before the
    /// event, and a diode that conducts now is stiff no more. So the right-hand side has to agree with what it says.
    pub(crate) fn displacement(
        &mut self,
        problem: &mut dyn OdeProblem,
        matrix: &mut IterationMatrix,
        at: &Point<'_>,
        difference: &mut [f64],
        weights: &[f64],
        statistics: &mut Statistics,
    ) -> f64 {
        let step = 1.0 / matrix.coefficient();
        let plain = step * norm(difference, weights);
        if plain <= SAME_END {
            return plain;
        }
        matrix.solve(difference);
        let size = norm(difference, weights);
        if !(size <= SAME_SLOPE) {
            return f64::INFINITY;
        }
        for ((y, x), d) in self.trial.iter_mut().zip(at.x).zip(&*difference) {
            *y = x + d;
        }
        if evaluate(problem, at.t, &self.trial, &mut self.slope, statistics).is_err() {
            return f64::INFINITY;
        }
        matrix.multiply(difference, &mut self.trial);
        for ((s, f), expected) in self.slope.iter_mut().zip(at.f).zip(&self.trial) {
            *s -= f + expected;
        }
        let unexpected = step * norm(&self.slope, weights);
        self.outdated |= !(unexpected <= SAME_SLOPE);
        size.max(unexpected)
    }

    /// Whether the Jacobian was found to be one from before the last event.
    pub(crate) fn take_outdated(&mut self) -> bool {
        std::mem::take(&mut self.outdated)
    }
}
