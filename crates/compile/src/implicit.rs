//! The model as one implicit system, for integrators that take algebraic unknowns: its unknowns are the states and the
//! iteration variables of the simultaneous systems, its equations the derivatives and the residuals of these systems.
//!
//! Nothing is iterated inside of an evaluation; the integrator's own iteration does it all, with one sparse matrix. The code is
//! that of the right-hand side, in which a system is a piece of code like any other.

use crate::failure::Failure;
use crate::memory::Memory;
use crate::program::{Implicit, Program, SectionStep};

impl Program {
    /// Derivatives of the states and residuals of the systems, at the states and unknowns in memory.
    pub fn implicit_values(&self, memory: &mut Memory, out: &mut [f64]) -> Result<(), Failure> {
        let (derivatives, mut residuals) = out.split_at_mut(self.states.len());
        for step in &self.sections.dynamics {
            match *step {
                SectionStep::Code(chunk) => self.run_chunk(chunk, memory)?,
                SectionStep::Solve(system) => {
                    let (own, rest) = residuals.split_at_mut(self.systems[system].slots.len());
                    self.residuals(system, memory, own)?;
                    residuals = rest;
                }
            }
        }
        self.read_derivatives(memory, derivatives);
        Ok(())
    }

    /// The entries of the pattern, at the point at which `implicit_values` was evaluated last.
    pub fn implicit_jacobian(&self, implicit: &Implicit, memory: &mut Memory, out: &mut [f64]) {
        let states = self.states.len();
        let slot = |column: u32| match (column as usize).checked_sub(states) {
            Some(unknown) => implicit.unknowns[unknown],
            None => self.states[column as usize].value,
        };
        let columns = 0..(states + implicit.unknowns.len()) as u32;
        columns.for_each(|column| self.set_tangent(memory, slot(column), 0.0));
        let mut residuals = std::mem::take(&mut memory.scratch);
        residuals.resize(implicit.unknowns.len(), 0.0);
        for group in &implicit.colours {
            group.iter().for_each(|&column| self.set_tangent(memory, slot(column), 1.0));
            self.implicit_tangents(memory, &mut residuals);
            for &column in group {
                self.set_tangent(memory, slot(column), 0.0);
                let start = implicit.pattern.column_starts[column as usize] as usize;
                for (k, &row) in implicit.pattern.column(column as usize).iter().enumerate() {
                    out[start + k] = match (row as usize).checked_sub(states) {
                        Some(residual) => residuals[residual],
                        None => self.tangent_at(memory, self.states[row as usize].derivative),
                    };
                }
            }
        }
        memory.scratch = residuals;
    }

    fn implicit_tangents(&self, memory: &mut Memory, mut residuals: &mut [f64]) {
        for step in &self.tangent_steps {
            match *step {
                SectionStep::Code(chunk) => {
                    self.execute(chunk, memory);
                }
                SectionStep::Solve(system) => {
                    let (own, rest) = residuals.split_at_mut(self.systems[system].slots.len());
                    if let Some(chunk) = self.systems[system].tangent {
                        self.execute(chunk, memory);
                        self.read_outputs(memory, own);
                    }
                    residuals = rest;
                }
            }
        }
    }
}
