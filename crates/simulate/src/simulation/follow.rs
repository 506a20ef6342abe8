//! Follows the branches of nonlinear systems over an accepted step.

use compile::SystemId;

use crate::columns::Rows;
use crate::machine::{Machine, Trouble};
use crate::modes::ModeRuntime;
use crate::system_failure::{Reason, SystemFailure};

use super::retake::{LARGEST_DEFECT, SHORTEST};
use super::{Simulation, Stop};

/// The shortest piece, as a fraction of the step.
const SHORTEST_PIECE: f64 = 1e-6;

/// The first piece behind an event, as a fraction of the step.
const FIRST_PIECE: f64 = 1e-4;
/// How much longer the next piece may be, and where the end of the last one was very near to what was predicted.
const GROWTH: f64 = 2.0;
const FAST_GROWTH: f64 = 5.0;
const VERY_NEAR: f64 = 0.05;
/// How much shorter a piece is that is tried again.
const SHORTER: f64 = 0.25;
/// Pieces of a step. What needs more has no path to follow.
const MOST_PIECES: u32 = 2000;

impl Simulation {
    /// Goes over the step from `begin` to `end`, in pieces over which the solutions can be predicted. `false`: the
    /// step was made on another branch.
    pub(super) fn follow_branches(&mut self, begin: f64, end: f64, rows: &mut Rows) -> Result<bool, Stop> {
        let ModeRuntime { machine, .. } = &mut *self.runtime;
        if !machine.branches.are_followed() {
            return Ok(true);
        }
        machine.branches.begin_step();
        // Unknowns of the integrator are as exact as its tolerance.
        let is_exact = machine.arrangement.is_none();
        let is_known = is_exact && machine.memory.time() == end && !machine.branches.for_results;
        if is_known && end - begin <= machine.branches.longest() {
            let agreement = machine.branches.agreement(&machine.memory, &machine.systems);
            if agreement.is_near() {
                machine.branches.pass(&machine.memory, &machine.systems);
                return Ok(true);
            }
            if !agreement.is_oriented {
                machine.branches.take_care(end - begin);
            }
        }
        // Behind an event a short piece tells how the solutions begin to move.
        let is_new = machine.branches.last_length().is_none();
        let first = machine.branches.last_length().map_or(FIRST_PIECE * (end - begin), |length| FAST_GROWTH * length);
        let longest = if is_known { 0.5 * (end - begin) } else { end - begin };
        let (mut time, mut piece, mut pieces) = (begin, first.min(longest), 0);
        let mut singular = None;
        while time < end {
            pieces += 1;
            piece = piece.min(self.runtime.machine.branches.longest());
            let next = if time + 1.000_001 * piece >= end { end } else { time + piece };
            let divisible =
                piece > SHORTEST_PIECE * (end - begin) && time + SHORTER * piece > time && pieces < MOST_PIECES;
            let found = self.predict_at(next);
            let agreement = match found {
                Ok(()) => {
                    let machine = &self.runtime.machine;
                    machine.branches.agreement(&machine.memory, &machine.systems)
                }
                Err(stop) if divisible => {
                    singular = Some(stop).filter(Stop::is_singular).or(singular);
                    piece *= SHORTER;
                    continue;
                }
                // A branch that an event inside of the step ends is not followed past it.
                Err(_) if self.runtime.machine.is_defined_beyond(next, &self.x) => return Ok(true),
                // Next to the end of a branch there is no solution; that it ends shows farther away.
                Err(stop) => return self.end_inside(begin, time, next, singular.unwrap_or(stop), rows),
            };
            // Nothing predicts the first piece behind an event, which may begin at zero.
            let is_first = is_new && pieces == 1 && agreement.is_oriented;
            if divisible && !agreement.is_near() && !is_first {
                if !agreement.is_oriented {
                    self.runtime.machine.branches.take_care(piece);
                }
                piece *= SHORTER;
                continue;
            }
            if !agreement.is_oriented {
                self.runtime.machine.branches.note_crossing();
            }
            if agreement.distance > 1.0 && !is_first {
                if let Some(stop) = self.end_of_branch(agreement.farthest, begin, time) {
                    return self.end_inside(begin, time, next, stop, rows);
                }
                self.predict_at(next)?;
                self.runtime.machine.branches.note_jump();
            }
            let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
            machine.program.read_derivatives(&machine.memory, &mut self.slopes);
            let is_long = end - begin > SHORTEST * self.options.interval;
            if is_long && integrator.defect(next, &self.slopes) > LARGEST_DEFECT {
                return Ok(false);
            }
            machine.branches.pass(&machine.memory, &machine.systems);
            time = next;
            // Where another branch has begun, this one may end before the step does.
            if self.has_departed() {
                self.followed_until = Some(time);
                return Ok(true);
            }
            let growth = if agreement.distance < VERY_NEAR { FAST_GROWTH } else { GROWTH };
            piece = if pieces < MOST_PIECES { growth * piece } else { end - time };
        }
        Ok(true)
    }

    /// The model cannot be evaluated from `bad` on: rows up to the last good point are written first.
    fn end_inside(&mut self, begin: f64, good: f64, bad: f64, stop: Stop, rows: &mut Rows) -> Result<bool, Stop> {
        let written =
            self.advance_sensitivities(good).and_then(|()| self.write_outputs_until(begin, good, false, rows));
        self.runtime.machine.memory.set_time(bad);
        written.and(Err(stop))
    }

    /// Why there is nothing to follow behind `good`, if the branch of this unknown ends there: it becomes steep, and the
    /// Jacobian becomes singular on the way from `begin`.
    fn end_of_branch(&mut self, unknown: usize, begin: f64, good: f64) -> Option<Stop> {
        /// The determinant next to the end of a branch, relative to that at the beginning of the step.
        const SMALL: f64 = 0.05;
        let machine = &self.runtime.machine;
        if !machine.branches.ends(unknown, &machine.memory) {
            return None;
        }
        let (system, variable) = machine.branches.owner(unknown)?;
        let (before, at_end) = (self.determinant_at(begin, system)?, self.determinant_at(good, system)?);
        if at_end > before + SMALL.ln() {
            return None;
        }
        let machine = &self.runtime.machine;
        let found = &machine.program.systems[system];
        Some(Stop::Trouble(Trouble::System(Box::new(SystemFailure {
            unknowns: found.unknowns.clone(),
            equations: found.equations.clone(),
            iteration: machine.branches.newest_of(system),
            reason: Reason::Singular(variable),
            time: good,
        }))))
    }

    /// The determinant of a system at a point that was passed in this step, as a logarithm.
    fn determinant_at(&mut self, time: f64, system: SystemId) -> Option<f64> {
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        integrator.interpolate(time, &mut self.x);
        machine.unsettle();
        machine.evaluate_inside(time, &self.x).ok()?;
        if machine.branches.for_results {
            machine.evaluate_outputs().ok()?;
        }
        let Machine { program, systems, memory, .. } = machine;
        systems.determinant(program, system, memory)
    }

    /// Solves at a time of the last step from the prediction.
    fn predict_at(&mut self, time: f64) -> Result<(), Stop> {
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        integrator.interpolate(time, &mut self.x);
        machine.evaluate_predicted(time, &self.x)?;
        if machine.branches.for_results {
            machine.evaluate_outputs()?;
        }
        Ok(())
    }
}
