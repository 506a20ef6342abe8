//! How long and how finely to run.

use std::sync::Arc;

use base::Diagnostic;
use compile::{Program, Signals};
use results::Trajectories;
use simulate::Options;
use solve::Method;

use crate::{Error, model};

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
    /// The distance of output points was asked for, and not how many there are.
    has_interval: bool,
    inputs: Vec<Rows>,
    start_from: Option<(Arc<Trajectories>, Option<f64>)>,
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
        Self { options, has_interval: false, inputs: Vec::new(), start_from: None }
    }

    /// Where time begins.
    #[must_use]
    pub fn start(self, time: f64) -> Self {
        Self { options: Options { start_time: time, ..self.options }, ..self }
    }

    /// Where time ends. The number of output points stays what it is, unless their distance is asked for.
    #[must_use]
    pub fn stop(self, time: f64) -> Self {
        let span = self.options.stop_time - self.options.start_time;
        let points = if span > 0.0 { span / self.options.interval } else { 500.0 };
        let interval = (time - self.options.start_time) / points;
        let interval = if interval > 0.0 && !self.has_interval { interval } else { self.options.interval };
        Self { options: Options { stop_time: time, interval, ..self.options }, ..self }
    }

    /// The distance of output points.
    #[must_use]
    pub fn interval(self, interval: f64) -> Self {
        Self { options: Options { interval, ..self.options }, has_interval: true, ..self }
    }

    /// Rows at these times, and not in equal distances. The start, the end and events have rows as ever.
    ///
    /// ```
    /// # let mut session = gyrator::Session::new();
    /// # session.replace_text("m.mo", "model M Real x(start = 0, fixed = true); equation der(x) = 2*time; end M;");
    /// let model = session.model("m.mo")?;
    /// let run = model.simulate(&model.experiment().output_times(&[0.25, 0.3]))?;
    /// assert_eq!(run.time, [0.0, 0.25, 0.3, 1.0]);
    /// assert!((run.at("x", 0.3).unwrap() - 0.09).abs() < 1e-6);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    #[must_use]
    pub fn output_times(self, times: &[f64]) -> Self {
        Self { options: Options { points: Some(times.into()), ..self.options }, ..self }
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

    /// Begins where another run was, at its end or at a time in it: states and discrete variables have its values, start
    /// values and initial equations do not count. The start time becomes that time, and the length of the run stays.
    ///
    /// ```
    /// # let mut session = gyrator::Session::new();
    /// # session.replace_text("m.mo", "model M Real x(start = 0, fixed = true); equation der(x) = 2; end M;");
    /// let model = session.model("m.mo")?;
    /// let first = model.simulate(&model.experiment())?;
    /// let second = model.simulate(&model.experiment().start_from(&first, Some(0.5)).stop(3.0))?;
    /// assert_eq!(second.time[0], 0.5);
    /// assert!((second.last("x").unwrap() - 6.0).abs() < 1e-6);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    #[must_use]
    pub fn start_from(mut self, result: &Trajectories, time: Option<f64>) -> Self {
        let begin = time.or(result.time.last().copied()).unwrap_or(self.options.start_time);
        let span = self.options.stop_time - self.options.start_time;
        (self.options.start_time, self.options.stop_time) = (begin, begin + span);
        self.start_from = Some((Arc::new(result.clone()), time));
        self
    }

    /// Begins at the stationary state that is found from the initial state, where all derivatives of states vanish.
    ///
    /// ```
    /// # let mut session = gyrator::Session::new();
    /// # session.replace_text("m.mo", "model M Real x(start = 0, fixed = true); equation der(x) = 2 - x^3; end M;");
    /// let model = session.model("m.mo")?;
    /// let rest = model.simulate(&model.experiment().steady_state())?;
    /// assert!((rest.last("x").unwrap() - 2f64.cbrt()).abs() < 1e-9);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    #[must_use]
    pub fn steady_state(mut self) -> Self {
        self.options.steady_state = true;
        self
    }

    /// The options of a run of a program, and what there is to say about its beginning.
    pub(crate) fn resolve(&self, program: &Program) -> Result<(Options, Vec<Diagnostic>), Error> {
        self.check().map_err(Error::of_call)?;
        let known = session::inputs_of(program);
        let mut signals = Vec::new();
        for rows in &self.inputs {
            let Some((_, variable)) = known.iter().find(|(name, _)| *name == rows.name) else {
                return Err(Error::of_call(model::why_no_input(program, &rows.name)));
            };
            signals.push(session::signal(program, *variable, &rows.time, &rows.values).map_err(Error::of_call)?);
        }
        let mut options = Options { inputs: Arc::new(Signals::new(signals)), ..self.options.clone() };
        // The start has its row already.
        let start = options.start_time;
        options.points = options.points.map(|points| points.iter().copied().filter(|&time| time > start).collect());
        let mut warnings = Vec::new();
        if let Some((table, at)) = &self.start_from {
            let time = session::start_from_time(table, "the result", *at).map_err(Error::of_call)?;
            let point = session::start_point(program, table, "the result", time, options.start_time);
            let (point, said) = point.map_err(Error::of_call)?;
            options.start_point = Some(Arc::new(point));
            warnings = said;
        }
        Ok((options, warnings))
    }

    /// When the simulation starts.
    pub fn start_time(&self) -> f64 {
        self.options.start_time
    }

    /// When the simulation ends.
    pub fn stop_time(&self) -> f64 {
        self.options.stop_time
    }

    /// The distance of output points.
    pub fn output_interval(&self) -> f64 {
        self.options.interval
    }

    /// The error allowed in a step, relative to the size of the variables.
    pub fn relative_tolerance(&self) -> f64 {
        self.options.tolerance
    }

    /// The name of the method of integration.
    pub fn method_name(&self) -> &'static str {
        self.options.solver.name()
    }

    /// What is wrong with it.
    fn check(&self) -> Result<(), String> {
        if let Some(points) = &self.options.points {
            let ascends = points.windows(2).all(|pair| pair[0] < pair[1]);
            if !ascends || points.iter().any(|time| !time.is_finite()) {
                return Err("the times of rows must be numbers that increase".to_owned());
            }
        }
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
