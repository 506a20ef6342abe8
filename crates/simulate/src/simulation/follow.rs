//! Follows the branches of nonlinear systems over an accepted step.

use crate::columns::Rows;
use crate::modes::Station;

use super::retake::{LARGEST_DEFECT, SHORTEST};
use super::{Simulation, Stop};

/// The shortest piece, as a fraction of the step.
const SHORTEST_PIECE: f64 = 1e-6;

/// The first piece behind an event, as a fraction of the step, and how much longer the next one may be.
const FIRST_PIECE: f64 = 1e-2;
const GROWTH: f64 = 2.0;
/// The length of a step, relative to the last piece, that is gone at once if its end is near the prediction.
const FAR: f64 = 5.0;
/// Pieces of a step. What needs more has no path to follow.
const MOST_PIECES: u32 = 2000;

impl Simulation {
    /// Goes over the step from `begin` to `end`, in pieces over which the solutions can be predicted. `false`: the
    /// step was made on another branch.
    pub(super) fn follow_branches(&mut self, begin: f64, end: f64, rows: &mut Rows) -> Result<bool, Stop> {
        let Station { machine, .. } = &mut *self.station;
        if !machine.branches.are_followed() {
            return Ok(true);
        }
        machine.branches.begin_step();
        let known = machine.memory.time() == end && !machine.branches.for_results;
        // Far beyond what was seen, a solution may be near the prediction by chance.
        let near = machine.branches.last_length().is_none_or(|length| end - begin <= FAR * length);
        if known && near && machine.branches.continue_past(&machine.memory) {
            machine.branches.pass(&machine.memory);
            return Ok(true);
        }
        // Behind an event a short piece tells how the solutions begin to move.
        let first = machine.branches.last_length().map_or(FIRST_PIECE * (end - begin), |length| GROWTH * length);
        let (mut time, mut piece, mut pieces) = (begin, first.min(end - begin), 0);
        let mut singular = None;
        while time < end {
            pieces += 1;
            let next = if time + 1.000_001 * piece >= end { end } else { time + piece };
            let divisible =
                piece > SHORTEST_PIECE * (end - begin) && time + 0.25 * piece > time && pieces < MOST_PIECES;
            let predicted = self.predict_at(next);
            if divisible && !matches!(predicted, Ok(true)) {
                singular = predicted.err().filter(Stop::is_singular).or(singular);
                piece *= 0.25;
                continue;
            }
            let near = match predicted {
                Ok(near) => near,
                // A branch that an event inside of the step ends is not followed past it.
                Err(_) if self.station.machine.is_defined_beyond(next, &self.x) => return Ok(true),
                // Next to the end of a branch there is no solution; that it ends shows farther away. Rows up to the last good
                // point are written first.
                Err(stop) => {
                    let written = self.write_outputs_until(begin, time, false, rows);
                    self.station.machine.memory.set_time(next);
                    return written.and(Err(singular.unwrap_or(stop)));
                }
            };
            let Station { machine, integrator, .. } = &mut *self.station;
            if !near {
                machine.branches.note_jump();
            }
            machine.program.read_derivatives(&machine.memory, &mut self.slopes);
            let is_long = end - begin > SHORTEST * self.options.interval;
            if is_long && integrator.defect(next, &self.slopes) > LARGEST_DEFECT {
                return Ok(false);
            }
            machine.branches.pass(&machine.memory);
            time = next;
            piece = if pieces < MOST_PIECES { GROWTH * piece } else { end - time };
        }
        Ok(true)
    }

    /// Solves at a time of the last step from the prediction; whether what is found is near it.
    fn predict_at(&mut self, time: f64) -> Result<bool, Stop> {
        let Station { machine, integrator, .. } = &mut *self.station;
        integrator.interpolate(time, &mut self.x);
        machine.unsettle();
        machine.branches.predict(&mut machine.memory, time);
        machine.evaluate(time, &self.x)?;
        if machine.branches.for_results {
            machine.evaluate_outputs()?;
        }
        Ok(machine.branches.continue_past(&machine.memory))
    }
}
