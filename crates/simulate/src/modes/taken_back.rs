//! A jump that is taken back: the impulse that it needs changes the discrete variables that select its mode.
//!
//! Where a switch opens in series with an inductor, the diode beside it still blocks in the first iteration if its position is
//! read through `pre`. The current would have to jump to zero, and the voltage of that impulse is what closes the diode. An
//! iteration takes no time, so the flux is still there: the next one starts from the values before the event. An impact that
//! closes another contact by the velocity it leaves behind is different: there the mode holds its own impulse.

use super::instant::Instant;
use super::limits::Reason;
use crate::machine::{Phase, Trouble};

impl Instant<'_> {
    /// Whether the mode in use is left because of the impulse of its own jump: with the opposite sign of the impulse in one
    /// relation, fewer conditions of the mode would change. Nothing is changed here.
    pub(super) fn forbids_its_jump(&mut self) -> Result<bool, Trouble> {
        if self.switching.jump().depth == 0 || !self.has_changes() {
            return Ok(false);
        }
        let by_impulse = self.decided_by_impulse();
        if by_impulse.is_empty() {
            return Ok(false);
        }
        let found = self.runtime.machine.memory.values.clone();
        let outcome = self.changes_next().map(|changes| {
            changes > 0
                && by_impulse.into_iter().any(|state| {
                    self.runtime.machine.memory.values.clone_from(&found);
                    self.runtime.machine.memory.values[state as usize] *= -1.0;
                    let opposite = self.runtime.run_events(Phase::Decided).and_then(|()| self.changes_next());
                    opposite.is_ok_and(|opposite| opposite < changes)
                })
        });
        self.runtime.machine.memory.values = found;
        outcome
    }

    /// The addresses of the relations that the impulse of the last jump decides.
    fn decided_by_impulse(&self) -> Vec<u32> {
        let Some(switch) = &self.runtime.switch else { return Vec::new() };
        let states = switch.states.iter().zip(&switch.scratch.reasons);
        states.filter(|(_, reason)| **reason == Reason::Impulse).map(|(&state, _)| state).collect()
    }

    /// How many conditions of the mode the next iteration finds changed, with the discrete variables as they are now.
    fn changes_next(&mut self) -> Result<usize, Trouble> {
        self.runtime.machine.save_pre();
        self.runtime.run_events(Phase::Decided)?;
        let (found, key) = (self.runtime.found_key(), self.runtime.key());
        Ok(found.iter().zip(key.iter()).filter(|(found, asked)| found != asked).count())
    }
}
