//! How long and how finely to run.

use std::sync::Arc;

use compile::{Program, Signals};
use simulate::Options;
use solve::Method;

use crate::Error;

/// From when to when, how exactly, and by which method.
///
/// ```
/// # let mut session = gyrator::Session::new();
/// # session.replace_text("m.mo", "model M Real x = time; annotation(experiment(StopTime = 3)); end M;");
/// let model = session.model("m.mo")?;
/// let experiment = model.experiment().tolerance(1e-8).method(gyrator::Method::Bdf);
/// assert_eq!(experiment.stop_time(), 3.0);
/// # Ok::<(), gyrator::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    pub(crate) options: Options,
    inputs: Vec<Rows>,
}

/// An input over time.
#[derive(Clone, PartialEq, Debug)]
struct Rows {
    name: String,
    time: Vec<f64>,
    values: Vec<f64>,
}

impl Experiment {
    pub(crate) fn new(options: Options) -> Self {
        Self { options, inputs: Vec::new() }
    }

    /// Where time begins.
    #[must_use]
    pub fn start(self, time: f64) -> Self {
        Self { options: Options { start_time: time, ..self.options }, ..self }
    }

    /// Where time ends. The number of output points stays what it is.
    #[must_use]
    pub fn stop(self, time: f64) -> Self {
        let span = self.options.stop_time - self.options.start_time;
        let points = if span > 0.0 { span / self.options.interval } else { 500.0 };
        let interval = (time - self.options.start_time) / points;
        let interval = if interval > 0.0 { interval } else { self.options.interval };
        Self { options: Options { stop_time: time, interval, ..self.options }, ..self }
    }

    /// The distance of output points.
    #[must_use]
    pub fn interval(self, interval: f64) -> Self {
        Self { options: Options { interval, ..self.options }, ..self }
    }

    /// The error allowed in a step, relative to the size of the variables.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { options: Options { tolerance, ..self.options }, ..self }
    }

    /// The method of integration.
    #[must_use]
    pub fn method(self, solver: Method) -> Self {
        Self { options: Options { solver, ..self.options }, ..self }
    }

    /// The step of methods with fixed steps.
    #[must_use]
    pub fn step(self, step: f64) -> Self {
        Self { options: Options { step: Some(step), ..self.options }, ..self }
    }

    /// The longest step of methods that choose their steps.
    #[must_use]
    pub fn max_step(self, longest: f64) -> Self {
        Self { options: Options { max_step: Some(longest), ..self.options }, ..self }
    }

    /// Lets an input of the model follow rows: a continuous one is linear between them, all others are held until the next row.
    /// Two rows of equal time are a jump, which is an event. Before the first and after the last row the values there hold.
    ///
    /// ```
    /// # let mut session = gyrator::Session::new();
    /// # session.replace_text("m.mo", "model M input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end M;");
    /// let model = session.model("m.mo")?;
    /// let ramp = model.experiment().input("u", &[0.0, 1.0], &[0.0, 2.0]);
    /// assert!((model.simulate(&ramp)?.last("x").unwrap() - 1.0).abs() < 1e-6);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    #[must_use]
    pub fn input(mut self, name: impl Into<String>, time: &[f64], values: &[f64]) -> Self {
        let name = name.into();
        self.inputs.retain(|known| known.name != name);
        self.inputs.push(Rows { name, time: time.to_vec(), values: values.to_vec() });
        self
    }

    /// The options of a run of a program.
    pub(crate) fn resolve(&self, program: &Program) -> Result<Options, Error> {
        self.check().map_err(Error::of_call)?;
        let known = session::inputs_of(program);
        let mut signals = Vec::new();
        for rows in &self.inputs {
            let Some((_, variable)) = known.iter().find(|(name, _)| *name == rows.name) else {
                return Err(Error::of_call(format!("`{}` is no input", rows.name)));
            };
            signals.push(session::signal(program, *variable, &rows.time, &rows.values).map_err(Error::of_call)?);
        }
        Ok(Options { inputs: Arc::new(Signals::new(signals)), ..self.options.clone() })
    }

    pub fn start_time(&self) -> f64 {
        self.options.start_time
    }

    pub fn stop_time(&self) -> f64 {
        self.options.stop_time
    }

    /// What is wrong with it.
    fn check(&self) -> Result<(), String> {
        let settings = session::Settings {
            start_time: Some(self.options.start_time),
            stop_time: Some(self.options.stop_time),
            interval: Some(self.options.interval),
            tolerance: Some(self.options.tolerance),
            solver: Some(self.options.solver.name().to_owned()),
            step: self.options.step,
            max_step: self.options.max_step,
            ..session::Settings::default()
        };
        settings.resolve(&dae::Experiment::default()).map(|_| ())
    }
}
