//! What is not a finite number must not decide, nor be written: conditions between events, and rows of the result.

use super::*;

impl Run<'_, '_> {
    /// After a step without event: relations whose operands may be undefined are looked at. One in a branch that is not
    /// active may be; where something depends on it, the run ends at the first instant at which it is undefined.
    pub(super) fn check_conditions(&mut self, from: f64, time: f64) -> Result<(), Stop> {
        const MOST_HALVINGS: u32 = 60;
        if !self.station.has_partial_relations || self.are_conditions_defined(time).is_ok() {
            return Ok(());
        }
        let (mut defined, mut undefined) = (from, time);
        for _ in 0..MOST_HALVINGS {
            let middle = 0.5 * (defined + undefined);
            if same_instant(defined, undefined) {
                break;
            }
            match self.are_conditions_defined(middle) {
                Ok(()) => defined = middle,
                Err(_) => undefined = middle,
            }
        }
        Ok(self.are_conditions_defined(undefined)?)
    }

    /// The left limit at an event. Crossings are located a rounding error behind, where what a relation guards, such as
    /// `if x > 0 then log(x) else 0`, may be undefined as long as the relation is frozen: then it is evaluated just before.
    /// States and time are those of the event.
    pub(super) fn evaluate_left_of(&mut self, time: f64) -> Result<(), Stop> {
        /// Attempts, each farther back than the one before by a factor.
        const ATTEMPTS: i32 = 6;
        const FACTOR: f64 = 16.0;
        let outcome = self.evaluate_at(time);
        let Err(Stop::Trouble(_)) = &outcome else { return outcome };
        let nearest = 4.0 * f64::EPSILON * time.abs() + 1e-13 * self.last_step;
        if !(0..ATTEMPTS).any(|attempt| self.evaluate_at(time - nearest * FACTOR.powi(attempt)).is_ok()) {
            // The message speaks of the event.
            return self.evaluate_at(time);
        }
        self.station.integrator.interpolate(time, &mut self.x);
        let machine = &mut self.station.machine;
        self.program.write_states(&mut machine.memory, &self.x);
        machine.memory.set_time(time);
        machine.unsettle();
        Ok(())
    }

    /// Whether what decides is defined at a point of the last step.
    fn are_conditions_defined(&mut self, time: f64) -> Result<(), Trouble> {
        self.station.integrator.interpolate(time, &mut self.x);
        let machine = &mut self.station.machine;
        machine.evaluate(time, &self.x)?;
        if !self.program.has_undefined_relation(&mut machine.memory) {
            return Ok(());
        }
        machine.evaluate_outputs()?;
        self.program.check_conditions(&mut machine.memory)?;
        events::check_actions(machine)
    }
}
