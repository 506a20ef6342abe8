//! The first point of a run, for a run of another form of the same model.

use std::sync::Arc;

use base::{Diagnostic, Id};
use compile::Program;
use dae::{VarId, VariableType};
use results::{NullSink, ResultError};

use crate::clockwork::Clockwork;
use crate::columns::{Columns, Rows};
use crate::event_log::EventLog;
use crate::machine::Machine;
use crate::options::Options;
use crate::simulation::{Simulation, Stop};

pub struct FirstPoint {
    /// Variables that are numbers, and their values.
    pub values: Vec<(VarId, f64)>,
    /// The instants of the start are over.
    pub clockwork: Clockwork,
    /// The message of a model that ends the run at once.
    pub terminated: Option<String>,
    pub warnings: Vec<Diagnostic>,
}

/// Initialises a program and goes no further: its first `count` variables, or why there is no first point.
pub fn find(
    program: &Arc<Program>,
    options: &Options,
    count: usize,
    log: &mut EventLog,
) -> Result<Result<FirstPoint, Box<Diagnostic>>, ResultError> {
    let mut simulation = Simulation::new(program, options, log.journal());
    let mut sink = NullSink;
    let first = simulation.begin(&mut Rows::new(Columns::new(program, &|_| true), &mut sink));
    log.append(&mut simulation.log);
    match first {
        Ok(terminated) => {
            let values = values(program, &simulation.runtime.machine, count);
            let warnings = simulation.warnings();
            Ok(Ok(FirstPoint { values, clockwork: simulation.clockwork, terminated, warnings }))
        }
        Err(Stop::Trouble(trouble)) => Ok(Err(Box::new(trouble.diagnostic(program.model())))),
        Err(Stop::Result(error)) => Err(error),
    }
}

/// The values of the first `count` variables, as far as they are numbers.
fn values(program: &Program, machine: &Machine, count: usize) -> Vec<(VarId, f64)> {
    let variables = &program.model().variables;
    let is_number = |&variable: &VarId| {
        !matches!(variables[variable].ty, VariableType::String | VariableType::Object | VariableType::Clock)
    };
    (0..count).map(VarId::from_index).filter(is_number).map(|variable| (variable, machine.value(variable))).collect()
}
