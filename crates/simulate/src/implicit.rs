//! The machine as an implicit problem (DAE mode): states and iteration variables of the simultaneous systems are unknowns of the
//! integrator, which solves everything with one iteration.

use solve::{DaeProblem, EvalError, Pattern};

use crate::arrangement::Arrangement;
use crate::machine::{Machine, Trouble};

impl Machine {
    fn write_unknowns(&mut self, t: f64, x: &[f64]) {
        let program = &self.program;
        self.memory.set_time(t);
        program.write_states(&mut self.memory, x);
        let Some(implicit) = &program.implicit else { return };
        for (&slot, &value) in implicit.unknowns.iter().zip(&x[program.states.len()..]) {
            self.memory.values[slot as usize] = value;
        }
    }
}

impl DaeProblem for Machine {
    fn size(&self) -> usize {
        self.program.states.len() + self.program.implicit.as_ref().map_or(0, |implicit| implicit.unknowns.len())
    }

    fn residual(&mut self, t: f64, x: &[f64], dx: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        let begun = self.now();
        self.unsettle();
        self.write_unknowns(t, x);
        self.memory.set_live(false);
        let outcome = self.program.implicit_values(&mut self.memory, r).map_err(Trouble::from);
        self.count_evaluation(begun);
        self.recoverable(outcome)?;
        r.iter_mut().zip(dx).take(self.program.states.len()).for_each(|(r, dx)| *r = dx - *r);
        Ok(())
    }

    fn jacobian_pattern(&self) -> Option<&Pattern> {
        self.arrangement.as_deref().map(|arrangement| &arrangement.pattern)
    }

    /// At the point of the last residual.
    fn jacobian(&mut self, _: f64, _: &[f64], _: &[f64], c: f64, values: &mut [f64]) -> Result<bool, EvalError> {
        let begun = self.now();
        let (program, states) = (&self.program, self.program.states.len());
        let (Some(implicit), Some(arrangement)) = (&program.implicit, &mut self.arrangement) else { return Ok(false) };
        program.implicit_jacobian(implicit, &mut self.memory, &mut arrangement.entries);
        values.fill(0.0);
        let mut entries = arrangement.places.iter().zip(&arrangement.entries);
        for column in 0..implicit.pattern.columns() {
            for (&row, (&place, &entry)) in implicit.pattern.column(column).iter().zip(&mut entries) {
                values[place as usize] = if (row as usize) < states { -entry } else { entry };
            }
        }
        arrangement.diagonal.iter().for_each(|&place| values[place] += c);
        self.count_jacobian(begun);
        Ok(true)
    }

    fn consistent(&mut self, t: f64, states: &[f64], x: &mut [f64], dx: &mut [f64]) -> Result<(), EvalError> {
        let outcome = self.evaluate(t, states);
        self.recoverable(outcome)?;
        if self.arrangement.is_none() {
            let implicit = self.program.implicit.as_ref();
            self.arrangement = implicit.map(|implicit| Box::new(Arrangement::new(implicit, states.len())));
        }
        let (own, algebraic) = x.split_at_mut(states.len());
        own.copy_from_slice(states);
        if let Some(implicit) = &self.program.implicit {
            for (value, &slot) in algebraic.iter_mut().zip(&implicit.unknowns) {
                *value = self.memory.values[slot as usize];
            }
        }
        dx.fill(0.0);
        self.program.read_derivatives(&self.memory, dx);
        Ok(())
    }

    fn guess(&mut self, write: &mut dyn FnMut(&mut [f64])) {
        let mut values = std::mem::take(&mut self.guessed);
        values.resize(DaeProblem::size(self), 0.0);
        write(&mut values);
        let t = self.memory.time();
        self.unsettle();
        self.write_unknowns(t, &values);
        self.guessed = values;
    }

    fn is_differential(&self, component: usize) -> bool {
        component < self.program.states.len()
    }
}
