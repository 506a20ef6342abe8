//! Control of the defect: nothing that the output shows was stepped over.
//!
//! An integrator sees the model at the points of its own choice. What lies between them, such as a pulse behind a long rest,
//! leaves no trace in its estimate of the error. At an output point the model is evaluated on the dense output anyway: where
//! the derivative found there leads away from the dense output, the step is taken again from the last point that was right,
//! and shorter until all agree (Enright, *A new error-control for initial value solvers*, 1989; Shampine,
//! *Solving ODEs and DDEs with residual control*, 2005).

use crate::modes::ModeRuntime;

use super::{Simulation, Stop};

/// In units of the tolerance. Dense output is rougher in its slopes than the solution is at the ends of steps.
pub(super) const LARGEST_DEFECT: f64 = 30.0;

/// The next step against what is left of the one that is taken again.
const SHORTER: f64 = 0.2;

/// Nearer than this fraction of the distance between output points to one that was right, a step is not taken again:
/// what is left is a jump without event, which the control of the error passes.
pub(super) const SHORTEST: f64 = 1e-6;

/// Relative to the time: within it the rounding of the time itself decides what a slope is.
pub(super) const RESOLUTION: f64 = 64.0 * f64::EPSILON;

impl Simulation {
    /// Whether the model evaluated at an output point does not agree with the last step, which began at `begin`.
    pub(super) fn contradicts_step(&mut self, begin: f64, point: f64) -> bool {
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        machine.program.read_derivatives(&machine.memory, &mut self.slopes);
        let agrees = integrator.defect(point, &self.slopes) <= LARGEST_DEFECT;
        let shortest = (SHORTEST * self.options.interval).max(RESOLUTION * point.abs());
        !agrees && point - self.last_right(begin, point) > shortest
    }

    /// Whether the model has relations that are not frozen. Behind a crossing of theirs it is another one already, so a step
    /// over any crossing may be wrong also before it: theirs may come a little later.
    pub(super) fn has_unfrozen_relations(&self) -> bool {
        !self.program.model().outcomes.is_empty()
    }

    /// The last output point before `missed` in the step that began at `begin`, or its beginning.
    fn last_right(&self, begin: f64, missed: f64) -> f64 {
        begin.max(self.output_point(self.next_output - 1).min(missed))
    }

    /// Goes back to the last output point before `missed` in the step that began at `begin`, or to its beginning, for
    /// a shorter step. Gives the time at which the run goes on.
    pub(super) fn retake(&mut self, begin: f64, missed: f64) -> Result<f64, Stop> {
        let from = self.last_right(begin, missed);
        let ModeRuntime { machine, integrator, roots, .. } = &mut *self.runtime;
        let rewound = roots.go_back(machine, &**integrator, from);
        rewound.map_err(|_| self.last_trouble())?;
        self.retake_from(from)
    }

    /// Goes back to a time of the last step at which it is right.
    pub(super) fn retake_from(&mut self, from: f64) -> Result<f64, Stop> {
        let end = self.runtime.integrator.time();
        self.evaluate_at(from)?;
        let machine = &mut self.runtime.machine;
        machine.branches.go_back(&machine.memory, &machine.systems);
        self.forget_rest_of_step();
        self.forget_fitness();
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        let shorter = SHORTER * (end - from);
        let outcome = integrator.retake(machine, from, shorter);
        outcome.map_err(|error| self.step_trouble(error))?;
        self.statistics.retaken += 1;
        Ok(from)
    }
}
