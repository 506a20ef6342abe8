//! Evaluation behind an event that is not located yet.
//!
//! Between events relations are frozen, and the branch that they choose may be undefined where they no longer hold: the square
//! root of a level that is guarded by `if level > 0`. A trial step that reaches such a point says nothing against the model.
//! There, and only there, relations have the signs that their residues have, so that the step is made, the crossing is
//! found inside of it, and the event ends it before the branch does. Rows are never taken from such a point.

use crate::machine::{Machine, Phase, Trouble};
use compile::RelationKind;
use solve::EvalError;
use solve::roots::sign_of;

/// Conditions that depend on what other conditions choose.
const MOST_ROUNDS: u32 = 4;

impl Machine {
    /// Looks at a point with `take`: after an evaluation that succeeded, or one that came to an end with other relations. Memory
    /// keeps the frozen relations.
    pub(crate) fn take_here_or_beyond(
        &mut self,
        outcome: Result<(), Trouble>,
        take: &mut dyn FnMut(&mut Machine),
    ) -> Result<(), EvalError> {
        let Err(Trouble::Evaluation(_) | Trouble::System(_)) = &outcome else {
            self.recoverable(outcome)?;
            take(self);
            return Ok(());
        };
        let frozen = self.memory.values.clone();
        let is_defined = self.follows_relations();
        if is_defined {
            take(self);
        }
        self.memory.values = frozen;
        self.unsettle();
        if is_defined { Ok(()) } else { self.recoverable(outcome) }
    }

    /// Whether a point at which the model cannot be evaluated lies behind an event.
    pub(crate) fn is_defined_beyond(&mut self, t: f64, x: &[f64]) -> bool {
        let frozen = self.memory.values.clone();
        self.memory.set_time(t);
        self.program.write_states(&mut self.memory, x);
        let is_defined = self.follows_relations();
        self.memory.values = frozen;
        self.unsettle();
        is_defined
    }

    /// Gives relations the signs of their residues and evaluates everything; whether that is defined.
    fn follows_relations(&mut self) -> bool {
        let program = self.program.clone();
        let mut residues = vec![0.0; program.roots.len()];
        for _ in 0..MOST_ROUNDS {
            program.crossings(&mut self.memory, &mut residues);
            let mut has_changed = false;
            for (root, &residue) in program.roots.iter().zip(&residues) {
                let relation = &program.layout.relations[root.relation];
                let state = &mut self.memory.values[relation.state as usize];
                let sign = f64::from(sign_of(residue));
                if matches!(relation.kind, RelationKind::Compare { .. }) && residue.is_finite() && *state != sign {
                    *state = sign;
                    has_changed = true;
                }
            }
            if !has_changed {
                return false;
            }
            if self.run(|sections| &sections.events, Phase::Frozen).is_ok()
                && self.run(|sections| &sections.dynamics, Phase::Frozen).is_ok()
            {
                return true;
            }
        }
        false
    }
}
