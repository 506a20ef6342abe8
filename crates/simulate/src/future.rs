//! A small step into the future with all relations as they are, by which residues at zero show where they go.
//!
//! The classical method of Runge and Kutta is exact to the fourth derivative: the charge of a capacitor behind a coil that begins
//! to conduct goes with the third power of time.

use crate::machine::{Machine, Trouble};

#[derive(Clone, Default)]
pub struct Future {
    x: Vec<f64>,
    slope: Vec<f64>,
    later: Vec<f64>,
    sum: Vec<f64>,
    point: Vec<f64>,
}

/// Evaluates the model at a time and a state.
pub type Evaluate = fn(&mut Machine, f64, &[f64]) -> Result<(), Trouble>;

impl Future {
    /// Begins at the states in memory.
    pub fn begin(&mut self, machine: &mut Machine, time: f64, evaluate: Evaluate) -> Result<(), Trouble> {
        let program = machine.program.clone();
        let Self { x, slope, later, sum, point } = self;
        for values in [&mut *x, slope, later, sum, point] {
            values.resize(program.states.len(), 0.0);
        }
        program.read_states(&machine.memory, x);
        evaluate(machine, time, x)?;
        program.read_derivatives(&machine.memory, slope);
        Ok(())
    }

    /// Evaluates the model a step later than it began.
    pub fn evaluate(&mut self, machine: &mut Machine, time: f64, step: f64, evaluate: Evaluate) -> Result<(), Trouble> {
        let program = machine.program.clone();
        let Self { x, slope, later, sum, point } = self;
        sum.copy_from_slice(slope);
        later.copy_from_slice(slope);
        for (part, weight) in [(0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            point
                .iter_mut()
                .zip(x.iter().zip(&*later))
                .for_each(|(point, (x, slope))| *point = x + part * step * slope);
            evaluate(machine, time + part * step, point)?;
            program.read_derivatives(&machine.memory, later);
            sum.iter_mut().zip(&*later).for_each(|(sum, slope)| *sum += weight * slope);
        }
        point.iter_mut().zip(x.iter().zip(&*sum)).for_each(|(point, (x, sum))| *point = x + step / 6.0 * sum);
        evaluate(machine, time + step, point)
    }
}
