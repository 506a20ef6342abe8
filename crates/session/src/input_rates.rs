//! Models that need derivatives of their inputs: their inputs are states while they are linearised, and inputs again in the result.

use dae::{Model, VarId};
use linear::{Matrix, Rates, StateSpace};
use transform::{Role, Schedule};

use crate::pipeline::{Failed, Session};

/// The names of an input and of its derivative.
#[derive(Clone, Debug)]
pub(crate) struct IntegratedInput {
    pub input: String,
    pub rate: String,
}

/// A model whose equations are sorted, and the inputs that had to become states for that; mostly none.
#[derive(Clone)]
pub(crate) struct Sorted {
    pub schedule: Schedule,
    pub integrated: Vec<IntegratedInput>,
}

impl Session {
    /// Sorts the equations of a model. Where they need derivatives of inputs, all inputs become states.
    pub(crate) fn sorted(&mut self, model: Model) -> Result<Sorted, Failed> {
        let said = self.diagnostics.len();
        let mut other = model.clone();
        let failed = match self.structure(model) {
            Ok(schedule) => return Ok(Sorted { schedule, integrated: Vec::new() }),
            Err(failed) => failed,
        };
        let is_needed = self.diagnostics.iter().skip(said).any(|said| said.code == "not-differentiable");
        let pairs = transform::integrate_inputs(&mut other);
        if !is_needed || pairs.is_empty() {
            return Err(failed);
        }
        let integrated = pairs.into_iter().map(|(input, rate)| IntegratedInput {
            input: other.variable_name(input),
            rate: other.variable_name(rate),
        });
        let integrated = integrated.collect();
        let first = self.diagnostics.split_off(said);
        self.structure(other).map(|schedule| Sorted { schedule, integrated }).map_err(|_| {
            // Not for the derivatives of inputs alone.
            self.diagnostics.truncate(said);
            self.diagnostics.extend(first);
            failed
        })
    }
}

/// Where an integrated input is among the states, and whether the state is its opposite.
#[derive(Clone, Copy)]
struct Place {
    state: usize,
    is_negated: bool,
}

/// Which states are inputs.
pub(crate) struct Places {
    /// Of the inputs asked for, in their order.
    asked: Vec<Place>,
    /// All others stay as they are.
    kept: Vec<usize>,
}

impl Places {
    /// `None` where an input is no state.
    pub fn new(
        schedule: &Schedule,
        states: &[VarId],
        integrated: &[IntegratedInput],
        asked: &[String],
    ) -> Option<Self> {
        let model = &schedule.model;
        let place = |name: &str| {
            let mut variable = model.variables.ids().find(|&id| model.variable_name(id) == name)?;
            let mut is_negated = false;
            for _ in 0..model.variables.len() {
                let Some(Role::Alias { of, negated }) = schedule.roles.get(variable) else { break };
                variable = *of;
                is_negated ^= negated;
            }
            let state = states.iter().position(|&it| it == variable)?;
            Some(Place { state, is_negated })
        };
        let all: Vec<Place> = integrated.iter().map(|it| place(&it.input)).collect::<Option<_>>()?;
        let asked = asked.iter().map(|name| place(name)).collect::<Option<_>>()?;
        let kept = (0..states.len()).filter(|state| all.iter().all(|place| place.state != *state)).collect();
        Some(Self { asked, kept })
    }

    /// What belongs to the states that are none of the inputs.
    pub fn kept<T: Clone>(&self, values: &[T]) -> Vec<T> {
        self.kept.iter().filter_map(|&state| values.get(state).cloned()).collect()
    }

    /// Inputs instead of states that are inputs, and the coefficients of their derivatives, which were the inputs.
    pub fn separated<T: Clone>(&self, system: StateSpace<T>, negative: impl Fn(&T) -> T) -> (StateSpace<T>, Rates<T>) {
        let (rows, outputs) = (self.kept.len(), system.outputs.len());
        let by_state = |matrix: &Matrix<T>, i: usize, j: usize| matrix[(i, self.kept[j])].clone();
        let by_input = |matrix: &Matrix<T>, i: usize, j: usize| match self.asked[j] {
            Place { state, is_negated: false } => matrix[(i, state)].clone(),
            Place { state, is_negated: true } => negative(&matrix[(i, state)]),
        };
        let row = |i: usize| self.kept[i];
        let rates = Rates {
            b: Matrix::from_fn(rows, self.asked.len(), |i, j| system.b[(row(i), j)].clone()),
            d: system.d.clone(),
        };
        let separated = StateSpace {
            a: Matrix::from_fn(rows, rows, |i, j| by_state(&system.a, row(i), j)),
            b: Matrix::from_fn(rows, self.asked.len(), |i, j| by_input(&system.a, row(i), j)),
            c: Matrix::from_fn(outputs, rows, |i, j| by_state(&system.c, i, j)),
            d: Matrix::from_fn(outputs, self.asked.len(), |i, j| by_input(&system.c, i, j)),
            states: self.kept(&system.states),
            ..system
        };
        (separated, rates)
    }
}
