//! Runs with the derivatives of their trajectories.

use std::sync::Arc;

use simulate::SensitivityRequest;

use crate::{Error, Experiment, Model, Run, Variable};

/// A run, and how its trajectories change with parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Sensitivities {
    /// The run. An event has a row before and a row behind it, and derivatives of both.
    pub run: Run,
    /// The names of the variables that are differentiated.
    pub variables: Vec<String>,
    /// The names of the parameters.
    pub parameters: Vec<String>,
    /// For each row and variable the derivatives with respect to the parameters.
    pub values: Vec<f64>,
    /// Functions without a derivative that the model calls: what depends on them is a difference.
    pub differenced: Vec<String>,
}

impl Sensitivities {
    /// The derivative of a variable with respect to a parameter, by rows.
    pub fn get(&self, variable: &str, parameter: &str) -> Option<Vec<f64>> {
        let variable = self.variables.iter().position(|name| name == variable)?;
        let parameter = self.parameters.iter().position(|name| name == parameter)?;
        let (width, place) = (self.parameters.len(), variable * self.parameters.len() + parameter);
        Some(self.values.chunks(self.variables.len() * width).map(|row| row[place]).collect())
    }
}

impl Model {
    /// A run with the derivatives of Real variables with respect to Real parameters that can be set, by forward differentiation
    /// of the model's code: exact tangents of the equations, integrated with the error control of the run. At events instants
    /// move with parameters, so that derivatives jump there; what when clauses assign and `reinit` sets has derivatives too.
    /// Where there is no derivative, or none can be computed, the error says why: at a condition that touches its limit without
    /// crossing it, where derivatives of states jump without an event (`sign`, `noEvent`, branches in functions), where several
    /// conditions change at one instant and part with the parameter, where a condition stands exactly on its edge, where a change
    /// of structure has none, and in models with delays or clocks.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text(
    ///     "decay.mo",
    ///     "model Decay parameter Real k = 2; Real x(start = 3, fixed = true); equation der(x) = -k*x; end Decay;",
    /// );
    /// let model = session.model("decay.mo")?;
    /// let variable = |name| model.variable(name).unwrap();
    /// let found = model.sensitivities(&model.experiment(), &[variable("x")], &[variable("k")])?;
    /// // x = 3 exp(-k t)
    /// let last = *found.get("x", "k").unwrap().last().unwrap();
    /// assert!((last + 3.0 * (-2.0f64).exp()).abs() < 1e-5);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn sensitivities(
        &self,
        experiment: &Experiment,
        of: &[&Variable],
        parameters: &[&Variable],
    ) -> Result<Sensitivities, Error> {
        self.sensitivities_while(experiment, of, parameters, &mut |_| true)
    }

    /// Like [`sensitivities`](Self::sensitivities), as long as `go_on` says so: it hears the time before each step. The rows of a
    /// run that was interrupted end there.
    pub fn sensitivities_while(
        &self,
        experiment: &Experiment,
        of: &[&Variable],
        parameters: &[&Variable],
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Sensitivities, Error> {
        let request = SensitivityRequest { of: self.ids(of)?, parameters: self.ids(parameters)? };
        let (options, warnings) = self.options(experiment)?;
        let options = simulate::Options { sensitivities: Some(Arc::new(request)), ..options };
        let (run, rows) = self.run(&options, warnings, &|_| true, go_on)?;
        let rows = rows.ok_or_else(|| Error::of_call("this run has no sensitivities"))?;
        let names = |variables: &[&Variable]| variables.iter().map(|variable| variable.name.clone()).collect();
        let (variables, parameters) = (names(of), names(parameters));
        Ok(Sensitivities { run, variables, parameters, values: rows.values, differenced: rows.differenced })
    }
}
