//! The programs of a model's modes, made when a mode is first tried, for all runs of the model.

use std::sync::Arc;

use transform::modes::{Entry, Key, Modes};

use crate::program::{ModeProgram, ModePrograms, Program};

impl ModePrograms {
    /// The program of a mode. Modes are made one after the other: they share what is known about equations.
    pub fn get(&self, modes: &Arc<Modes>, key: &Key, entry: Entry) -> ModeProgram {
        let mut made = self.made.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(known) = made.get(&(key.clone(), entry)) {
            return known.clone();
        }
        let program = modes
            .schedule(key, entry)
            .and_then(|schedule| Program::of_mode(schedule, &self.commons).map_err(|problem| vec![problem]))
            .map(Arc::new)
            .map_err(Arc::from);
        made.insert((key.clone(), entry), program.clone());
        program
    }
}
