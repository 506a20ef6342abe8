//! A run kept in memory, for tests and for drawing right after the run.

use crate::column::Expansion;
use crate::{Column, ResultError, ResultSink, Trajectories, Trajectory};

/// Keeps the rows in memory.
#[derive(Clone, Debug, Default)]
pub struct MemorySink {
    /// What was written so far.
    pub trajectories: Trajectories,
    expansion: Expansion,
}

impl ResultSink for MemorySink {
    fn begin(&mut self, columns: &[Column]) -> Result<(), ResultError> {
        self.expansion = Expansion::new(columns)?;
        let variable =
            |column: &Column| Trajectory { column: Column { alias: None, ..column.clone() }, values: Vec::new() };
        self.trajectories = Trajectories {
            time: Vec::new(),
            time_name: "time".to_owned(),
            variables: columns.iter().map(variable).collect(),
        };
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        self.expansion.check(values)?;
        self.trajectories.time.push(time);
        for (variable, source) in self.trajectories.variables.iter_mut().zip(&self.expansion.sources) {
            variable.values.push(source.of(values));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        Ok(())
    }
}
