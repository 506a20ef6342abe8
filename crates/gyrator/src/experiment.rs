//! How long and how finely to run.

use simulate::Options;
use solve::Method;

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
pub struct Experiment(pub(crate) Options);

impl Experiment {
    /// Where time begins.
    #[must_use]
    pub fn start(self, time: f64) -> Self {
        Self(Options { start_time: time, ..self.0 })
    }

    /// Where time ends. The number of output points stays what it is.
    #[must_use]
    pub fn stop(self, time: f64) -> Self {
        let span = self.0.stop_time - self.0.start_time;
        let points = if span > 0.0 { span / self.0.interval } else { 500.0 };
        let interval = (time - self.0.start_time) / points;
        let interval = if interval > 0.0 { interval } else { self.0.interval };
        Self(Options { stop_time: time, interval, ..self.0 })
    }

    /// The distance of output points.
    #[must_use]
    pub fn interval(self, interval: f64) -> Self {
        Self(Options { interval, ..self.0 })
    }

    /// The error allowed in a step, relative to the size of the variables.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self(Options { tolerance, ..self.0 })
    }

    /// The method of integration.
    #[must_use]
    pub fn method(self, solver: Method) -> Self {
        Self(Options { solver, ..self.0 })
    }

    /// The step of methods with fixed steps.
    #[must_use]
    pub fn step(self, step: f64) -> Self {
        Self(Options { step: Some(step), ..self.0 })
    }

    /// The longest step of methods that choose their steps.
    #[must_use]
    pub fn max_step(self, longest: f64) -> Self {
        Self(Options { max_step: Some(longest), ..self.0 })
    }

    pub fn start_time(&self) -> f64 {
        self.0.start_time
    }

    pub fn stop_time(&self) -> f64 {
        self.0.stop_time
    }

    /// What is wrong with it.
    pub(crate) fn check(&self) -> Result<(), String> {
        let settings = session::Settings {
            start_time: Some(self.0.start_time),
            stop_time: Some(self.0.stop_time),
            interval: Some(self.0.interval),
            tolerance: Some(self.0.tolerance),
            solver: Some(self.0.solver.name().to_owned()),
            step: self.0.step,
            max_step: self.0.max_step,
            ..session::Settings::default()
        };
        settings.resolve(&dae::Experiment::default()).map(|_| ())
    }
}
