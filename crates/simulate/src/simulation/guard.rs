//! No step passes a point at which the states in use do not determine the rest.
//!
//! Of a pendulum in Cartesian coordinates x² + y² = 1 has two solutions for y, and they meet where x can no longer be a
//! state. x itself is smooth there, so an integrator steps over that point and finds y on the side it came from: the
//! pendulum turns round. Therefore the determinant of the constraints is followed over every step, relative to that of the
//! best choice of states. A step over which it does not stay near to its own straight line is looked at inside; where it
//! becomes small there, the step is taken again and ends before, and states are exchanged.

use solve::{Step, StepError};

use super::Simulation;
use crate::exchange::{fitness, lost};
use crate::machine::Trouble;
use crate::modes::ModeRuntime;

/// A choice of states that is worse than the best by this factor has come too near to a singularity.
const LOW: f64 = 0.25;
/// States that the model demands must not come nearer.
const LOWEST: f64 = 1e-4;
/// How far the determinant may be from its straight line, relative to itself.
const ASTRAY: f64 = 0.3;
/// Points inside of a step.
const POINTS: u32 = 8;
/// A step that is taken again is at least so long, relative to the time and to the step.
const SHORTEST: f64 = 1e-9;

/// What is known from the steps before.
#[derive(Clone, Default)]
pub(super) struct Guard {
    /// The states at the beginning of the step.
    from: Vec<f64>,
    /// By set of states: at the beginning of the step, at the beginning of the one before, and at the point at hand.
    begin: Vec<f64>,
    before: Vec<f64>,
    now: Vec<f64>,
    /// The length of the step before; zero if there was none with the same states.
    length: f64,
}

impl Guard {
    /// Whether the fitness at the end of a step is what the steps before let expect.
    fn is_expected(&self, length: f64) -> bool {
        self.length > 0.0
            && self.before.iter().zip(&self.begin).zip(&self.now).all(|((before, begin), now)| {
                let straight = begin + (begin - before) * length / self.length;
                let least = (1.0 - 1.5 * ASTRAY) * begin.abs();
                straight * begin.signum() > least
                    && now * begin.signum() > least
                    && (now - straight).abs() < ASTRAY * begin.abs()
            })
    }

    fn is_low(&self) -> bool {
        // What is not a number is not high.
        let is_high = |(now, begin): (&f64, &f64)| now * begin.signum() >= LOW.min(0.9 * begin.abs());
        !self.now.iter().zip(&self.begin).all(is_high)
    }
}

impl Simulation {
    /// Takes a step of the integrator, never past the limit.
    pub(super) fn integrate(&mut self, limit: f64) -> Result<Step, StepError> {
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        if machine.program.schedule.state_sets.is_empty() {
            return integrator.step(machine, limit);
        }
        self.guard.from.clear();
        self.guard.from.extend_from_slice(integrator.state());
        let begin = integrator.time();
        if machine.memory.time() != begin {
            // A step is taken again: memory holds a point inside of it.
            self.guard.length = 0.0;
            if machine.evaluate(begin, &self.guard.from).is_ok() && machine.evaluate_outputs().is_ok() {
                machine.drop_anchor();
            }
        }
        fitness(machine, &mut self.guard.begin);
        let mut limit = limit;
        loop {
            let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
            let step = integrator.step(machine, limit)?;
            let Some(end) = self.end_before_singularity(&step) else {
                let guard = &mut self.guard;
                std::mem::swap(&mut guard.before, &mut guard.begin);
                guard.length = step.t_new - step.t_old;
                return Ok(step);
            };
            self.go_back(step.t_old, end)?;
            limit = end;
        }
    }

    /// The reason why a step was not possible, if it is that the model demands states that do not do there.
    pub(super) fn lost_states(&self) -> Option<Trouble> {
        lost(&self.runtime.machine, &self.guard.begin, LOW)
    }

    /// States that the model demands have to determine the rest at the point that was evaluated last.
    pub(super) fn check_demanded_states(&mut self) -> Result<(), Trouble> {
        let machine = &self.runtime.machine;
        if !machine.program.schedule.state_sets.iter().any(|set| set.demanded) {
            return Ok(());
        }
        fitness(machine, &mut self.guard.now);
        lost(machine, &self.guard.now, LOWEST).map_or(Ok(()), Err)
    }

    /// States have been exchanged, or an event has passed: nothing is known any more.
    pub(super) fn forget_fitness(&mut self) {
        self.guard.length = 0.0;
    }

    /// Where the step has to end so that it does not come near to a singularity; `None` if it does not.
    fn end_before_singularity(&mut self, step: &Step) -> Option<f64> {
        let length = step.t_new - step.t_old;
        if length <= SHORTEST * step.t_new.abs().max(self.options.interval) {
            return None;
        }
        let is_known = self.look_at(step.t_new);
        if is_known && self.guard.is_expected(length) {
            return None;
        }
        self.runtime.machine.return_to_anchor();
        for point in 1..=POINTS {
            let time =
                if point == POINTS { step.t_new } else { step.t_old + length * f64::from(point) / f64::from(POINTS) };
            if !self.look_at(time) || self.guard.is_low() {
                let last = f64::from(point - 1).max(0.5);
                return Some(step.t_old + length * last / f64::from(POINTS));
            }
        }
        None
    }

    /// Computes the fitness at a time of the last step; false if the model cannot be evaluated there.
    fn look_at(&mut self, time: f64) -> bool {
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        integrator.interpolate(time, &mut self.x);
        let is_known = machine.evaluate(time, &self.x).is_ok() && machine.evaluate_outputs().is_ok();
        fitness(machine, &mut self.guard.now);
        is_known
    }

    fn go_back(&mut self, begin: f64, end: f64) -> Result<(), StepError> {
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        machine.return_to_anchor();
        // Methods with fixed steps keep their grid.
        match self.options.solver.is_fixed_step() {
            true => integrator.restart(machine, begin, &self.guard.from),
            false => integrator.start(machine, begin, &self.guard.from, Some(end - begin)),
        }
    }
}
