//! Derivatives at the point that a simulation has come to.

use super::*;
use crate::linear::{self, Jacobian, Linearizer};
use crate::systems::Phase;

impl Simulation {
    /// The exact derivatives of Real variables, at the point that the simulation has come to, with respect to others that are
    /// states, top-level inputs or parameters that can be set. Derivatives of states have variables of their own. Relations and
    /// discrete variables stay as they are; the states are those of the mode. What is listed is independent of each other: a
    /// parameter that is computed from another one follows it, unless it is listed itself.
    pub fn jacobian(&mut self, of: &[VarId], with_respect_to: &[VarId]) -> Result<Jacobian, Box<Diagnostic>> {
        let of: Vec<VarId> = of.iter().map(|&variable| self.differentiable(variable)).collect::<Result<_, _>>()?;
        let direction = |&variable: &VarId| self.direction(variable);
        let directions: Vec<VarId> = with_respect_to.iter().map(direction).collect::<Result<_, _>>()?;
        self.settle()?;
        self.matrix(&of, &directions, Linearizer::slope)
    }

    /// The linear form of the model at the point: how the derivatives of the states, and then the outputs, change with the
    /// states, and then with the inputs. The states are variables of the program in use, [`Simulation::program`].
    pub fn linear_form(
        &mut self,
        inputs: &[VarId],
        outputs: &[VarId],
    ) -> Result<(Vec<VarId>, Jacobian), Box<Diagnostic>> {
        let states = self.program.schedule.states.clone();
        let mut of: Vec<VarId> = states.iter().map(|state| state.derivative).collect();
        let mut by: Vec<VarId> = states.iter().map(|state| state.variable).collect();
        for &output in outputs {
            of.push(self.differentiable(output)?);
        }
        for &input in inputs {
            by.push(self.direction(input)?);
        }
        self.settle()?;
        let jacobian = self.matrix(&of, &by, Linearizer::tangent)?;
        by.truncate(states.len());
        Ok((by, jacobian))
    }

    /// One column of the linear form, beside the point: its state or input is moved by a distance, and relations and discrete
    /// variables stay as they are. `None` where the model cannot be evaluated there.
    pub fn linear_form_beside(
        &mut self,
        inputs: &[VarId],
        outputs: &[VarId],
        column: usize,
        distance: f64,
    ) -> Option<Vec<f64>> {
        let found = self.column_beside(inputs, outputs, (column, distance), Self::evaluate_states);
        let point = self.x.clone();
        self.evaluate_states(&point).then_some(found).flatten()
    }

    /// The same with the branches that hold beside the point. Discrete variables may change, so the simulation is used up.
    pub fn linear_form_on_side(
        mut self,
        inputs: &[VarId],
        outputs: &[VarId],
        column: usize,
        distance: f64,
    ) -> Option<Vec<f64>> {
        self.column_beside(inputs, outputs, (column, distance), Self::decide_at)
    }

    /// A column of the linear form, with its state or input moved by a distance.
    fn column_beside(
        &mut self,
        inputs: &[VarId],
        outputs: &[VarId],
        (column, distance): (usize, f64),
        evaluate: fn(&mut Self, &[f64]) -> bool,
    ) -> Option<Vec<f64>> {
        let states = self.program.schedule.states.clone();
        let mut of: Vec<VarId> = states.iter().map(|state| state.derivative).collect();
        of.extend(outputs.iter().filter_map(|&output| self.differentiable(output).ok()));
        let mut by: Vec<VarId> = states.iter().map(|state| state.variable).collect();
        by.extend(inputs.iter().filter_map(|&input| self.direction(input).ok()));
        let mut x = self.x.clone();
        let moved = *by.get(column)?;
        let before = self.runtime.machine.value(moved);
        match x.get_mut(column) {
            Some(state) => *state += distance,
            None => self.program.set_value(&mut self.runtime.machine.memory, moved, before + distance),
        }
        let found = evaluate(self, &x).then(|| {
            let mut values = vec![0.0; of.len()];
            let found = self.linearized(|linearizer| {
                linearizer.follow_one(&by, column)?;
                for (value, &differentiated) in values.iter_mut().zip(&of) {
                    *value = linearizer.tangent(differentiated)?;
                }
                Ok(())
            });
            found.is_ok().then_some(values)
        });
        if column >= states.len() {
            self.program.set_value(&mut self.runtime.machine.memory, moved, before);
        }
        found.flatten()
    }

    /// Finds relations and discrete variables with these states; whether everything could be evaluated.
    fn decide_at(&mut self, states: &[f64]) -> bool {
        let machine = &mut self.runtime.machine;
        machine.unsettle();
        machine.memory.set_time(self.time);
        self.program.write_states(&mut machine.memory, states);
        let is_decided = machine.run(|sections| &sections.events, Phase::Live).is_ok();
        is_decided && self.evaluate_states(states)
    }

    /// Whether everything could be evaluated with these states.
    fn evaluate_states(&mut self, states: &[f64]) -> bool {
        let machine = &mut self.runtime.machine;
        machine.unsettle();
        let outcome = machine.evaluate(self.time, states).and_then(|()| machine.evaluate_outputs());
        if outcome.is_err() {
            machine.trouble = None;
        }
        outcome.is_ok()
    }

    /// The variable that a state stands for now: of states that are exchanged during the run, the candidate that was chosen.
    pub fn state_now(&self, state: VarId) -> VarId {
        crate::exchange::state_now(&self.runtime.machine, state)
    }

    /// The value of a variable of the program in use.
    pub fn value_in_use(&self, variable: VarId) -> f64 {
        self.runtime.machine.value(variable)
    }

    /// The derivatives at the point in memory, as `read` gives them.
    pub(super) fn matrix(
        &mut self,
        of: &[VarId],
        directions: &[VarId],
        read: fn(&Linearizer, VarId) -> Result<f64, Trouble>,
    ) -> Result<Jacobian, Box<Diagnostic>> {
        let (rows, columns) = (of.len(), directions.len());
        let mut values = vec![0.0; rows * columns];
        self.linearized(|linearizer| {
            linearizer.check_determined(of)?;
            for column in 0..columns {
                linearizer.follow_one(directions, column)?;
                for (row, &differentiated) in of.iter().enumerate() {
                    values[row * columns + column] = read(linearizer, differentiated)?;
                }
            }
            Ok(())
        })?;
        let differenced = self.program.linear_form()?.differenced.clone();
        Ok(Jacobian { rows, columns, values, mode: self.mode(), differenced })
    }

    /// The variable of the program in use that is differentiated.
    pub(super) fn differentiable(&self, variable: VarId) -> Result<VarId, Box<Diagnostic>> {
        let variable = self.known(variable)?;
        linear::check_real(&self.program, variable)?;
        Ok(variable)
    }

    /// The variable of the program in use that a direction goes along.
    pub(super) fn direction(&self, variable: VarId) -> Result<VarId, Box<Diagnostic>> {
        linear::direction(&self.runtime.machine, self.known(variable)?)
    }

    /// A variable of the program at the beginning in the program in use.
    fn known(&self, variable: VarId) -> Result<VarId, Box<Diagnostic>> {
        self.in_mode(variable).ok_or_else(|| {
            let name = self.whole.model().variable_name(variable);
            let message = format!("the mode at time {} has no `{name}`", Decimal(self.time));
            Box::new(Diagnostic::error("no-derivative", message))
        })
    }

    /// The structural conditions that hold, in a model whose structure changes.
    pub fn mode(&mut self) -> Option<String> {
        let schedule = &self.program.schedule;
        let text = match (&schedule.mode, &schedule.modes) {
            (Some(mode), _) => mode.modes.describe(&mode.key),
            (None, Some(modes)) => {
                let conditions: Vec<_> = modes.conditions().iter().map(|condition| condition.expression).collect();
                let truth = self.program.evaluate(&conditions, &mut self.runtime.machine.memory).ok()?;
                modes.describe(&truth.iter().map(|&truth| truth != 0.0).collect::<Vec<_>>())
            }
            (None, None) => return None,
        };
        Some(text).filter(|text| !text.is_empty())
    }

    /// Evaluates everything at the point that was reached: integrators leave memory where they looked last.
    pub(super) fn settle(&mut self) -> Result<(), Box<Diagnostic>> {
        let outcome = self.evaluate_at(self.time);
        outcome.map_err(|stop| self.failed(stop))
    }

    /// Differentiates at the point in memory.
    pub(super) fn linearized<T>(
        &mut self,
        work: impl FnOnce(&mut Linearizer) -> Result<T, Trouble>,
    ) -> Result<T, Box<Diagnostic>> {
        let known = self.linearizer.take().filter(|linearizer| linearizer.is_of(&self.program));
        let mut linearizer = match known {
            Some(linearizer) => linearizer,
            None => Box::new(Linearizer::new(&self.program)?),
        };
        let outcome = linearizer.at_point(&mut self.runtime.machine, work);
        self.linearizer = Some(linearizer);
        outcome.map_err(|trouble| self.failed(trouble.into()))
    }
}
