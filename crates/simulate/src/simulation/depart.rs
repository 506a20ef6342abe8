//! Finds the instant at which a relation at zero leaves it, in a step that was taken with the relation at zero.

use crate::departure::Departure;
use crate::event_log::Entry;
use crate::modes::ModeRuntime;

use super::retake::RESOLUTION;
use super::{Simulation, Stop, same_instant};

/// How near the instant is located, relative to the step.
const LOCATED: f64 = 1e-12;

impl Simulation {
    /// The first time at which a side of a relation at zero holds, if there is one in the step up to `end`.
    pub(super) fn find_departure(&mut self, begin: f64, end: f64) -> Result<Option<f64>, Stop> {
        let ModeRuntime { machine, .. } = &*self.runtime;
        if self.modes.is_some() || !machine.departures.any_rests(&self.program, &machine.memory) {
            return Ok(None);
        }
        let Some(mut first) = self.departure_at(end)? else { return Ok(None) };
        let (mut before, mut behind) = (begin, end);
        while behind - before > (LOCATED * (end - begin)).max(RESOLUTION * end.abs()) {
            let middle = 0.5 * (before + behind);
            match self.departure_at(middle)? {
                Some(found) => (behind, first) = (middle, found),
                None => before = middle,
            }
        }
        // An event at the end comes first.
        if !self.runtime.roots.crossings().is_empty() && same_instant(behind, end) {
            return Ok(None);
        }
        self.runtime.roots.forget_crossings();
        self.departure = Some(first);
        Ok(Some(behind))
    }

    fn departure_at(&mut self, time: f64) -> Result<Option<Departure>, Stop> {
        self.evaluate_at(time)?;
        Ok(self.departure_here())
    }

    /// Whether a relation at zero has left it at the point in memory, which was come to with the relation at zero.
    pub(super) fn has_departed(&mut self) -> bool {
        let machine = &self.runtime.machine;
        self.modes.is_none()
            && machine.departures.any_rests(&self.program, &machine.memory)
            && self.departure_here().is_some()
    }

    fn departure_here(&mut self) -> Option<Departure> {
        let ModeRuntime { machine, roots, .. } = &mut *self.runtime;
        let program = &self.program;
        let departures = machine.departures.clone();
        departures.find(machine, |relation| {
            let function = program.roots.iter().position(|root| root.relation == relation);
            function.map_or(0.0, |function| roots.sizes(function).0)
        })
    }

    /// The relations that leave zero at this event are on the side that they leave to.
    pub(super) fn enter_departure(&mut self, time: f64) {
        let Some(departure) = self.departure.take() else { return };
        self.end_sensitivities_at_departure(time);
        departure.enter(&mut self.runtime.machine.memory);
        if self.log.is_active() {
            let expression = self.program.layout.relations[departure.relation].expression;
            let expression = self.program.model().expression_text(expression);
            let (residue, sign) = (departure.residue, departure.residue.signum() as i8);
            self.log.write(&Entry::Crossing { time, expression: &expression, sign, residue });
        }
    }
}
