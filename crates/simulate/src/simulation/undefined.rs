//! What is not a finite number must not decide, nor be written: conditions between events, and rows of the result.

use super::*;

impl Simulation {
    /// After a step without event: relations whose operands may be undefined are looked at. One in a branch that is not
    /// active may be; where something depends on it, the run ends at the first instant at which it is undefined.
    pub(super) fn check_conditions(&mut self, from: f64, time: f64) -> Result<(), Stop> {
        const MOST_HALVINGS: u32 = 60;
        if !self.runtime.has_partial_relations || self.are_conditions_defined(time).is_ok() {
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

    /// Whether what decides is defined at a point of the last step.
    fn are_conditions_defined(&mut self, time: f64) -> Result<(), Trouble> {
        self.runtime.integrator.interpolate(time, &mut self.x);
        let machine = &mut self.runtime.machine;
        machine.evaluate(time, &self.x)?;
        if !self.program.has_undefined_relation(&mut machine.memory) {
            return Ok(());
        }
        machine.evaluate_outputs()?;
        self.program.check_conditions(&mut machine.memory)?;
        events::check_actions(machine)
    }
}
