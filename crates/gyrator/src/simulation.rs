//! Runs that another program steps.

use simulate::{Jacobian, Options, Reached};

use crate::{Diagnostic, Error, Model, Variable};

/// A run at an instant. It moves between threads, and a copy goes on in the same way, bit for bit.
///
/// ```
/// use gyrator::{Reached, Session};
///
/// let mut session = Session::new();
/// session.replace_text("m.mo", "model M input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end M;");
/// let model = session.model("m.mo")?;
/// let (u, x) = (model.variable("u").unwrap(), model.variable("x").unwrap());
///
/// let mut simulation = model.start(&model.experiment())?;
/// simulation.set(u, 2.0)?;
/// simulation.step_to(0.5)?;
/// let snapshot = simulation.snapshot();
/// simulation.set(u, -2.0)?;
/// simulation.step_to(1.0)?;
/// assert!(simulation.get(x).abs() < 1e-9);
///
/// simulation.restore(&snapshot)?;
/// simulation.step_to(1.0)?;
/// assert!((simulation.get(x) - 2.0).abs() < 1e-9);
/// # Ok::<(), gyrator::Error>(())
/// ```
#[derive(Clone)]
pub struct Simulation {
    model: Model,
    inner: simulate::Simulation,
    ended: Option<Ended>,
    /// The last time that was asked for and reached; the simulation itself may be a rounding error before it.
    asked: f64,
    /// What there was to say about its beginning.
    warnings: Vec<Diagnostic>,
}

/// Why a simulation does not go on.
#[derive(Clone)]
enum Ended {
    Terminated(String),
    Failed(Error),
}

/// A state of a simulation to return to.
#[derive(Clone)]
pub struct Snapshot {
    model: Model,
    inner: simulate::Snapshot,
    ended: Option<Ended>,
    asked: f64,
}

impl Simulation {
    pub(crate) fn new(model: &Model, options: &Options, warnings: Vec<Diagnostic>) -> Result<Self, Error> {
        let mut inner = simulate::Simulation::of(&model.inner().program, options);
        let terminated = inner.initialise().map_err(|said| Error::of_model(vec![*said], &model.inner().sources))?;
        let ended = terminated.map(Ended::Terminated);
        Ok(Self { model: model.clone(), asked: inner.time(), inner, ended, warnings })
    }

    /// The model that is simulated.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How far it has come.
    pub fn time(&self) -> f64 {
        self.inner.time().max(self.asked)
    }

    /// Goes on to a time, through all events on the way. A simulation that has failed stays where it failed: every further call
    /// returns the same error, until [`restore`](Self::restore) leads back to a point before.
    pub fn step_to(&mut self, time: f64) -> Result<Reached, Error> {
        self.step_to_while(time, false, &mut |_| true)
    }

    /// Goes on to a time, or to the next event before it, which is passed.
    pub fn step_to_event(&mut self, time: f64) -> Result<Reached, Error> {
        self.step_to_while(time, true, &mut |_| true)
    }

    /// Goes on to a time, with `to_events` no further than to the next event, as long as `go_on` says so: it hears the time before
    /// each step. A run that was interrupted can go on.
    pub fn step_to_while(
        &mut self,
        time: f64,
        to_events: bool,
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Reached, Error> {
        match &self.ended {
            Some(Ended::Terminated(message)) => return Ok(Reached::Terminated(message.clone())),
            Some(Ended::Failed(error)) => return Err(error.clone()),
            None => {}
        }
        if time.is_nan() || time < self.time() {
            return Err(Error::of_call(format!("time {time} is before the time {} that was reached", self.time())));
        }
        if time.is_infinite() && !to_events {
            return Err(Error::of_call("a step to an infinite time has no end"));
        }
        let reached = match self.inner.step_to_while(time, to_events, go_on) {
            Ok(reached) => reached,
            Err(said) => {
                let error = Error::of_model(vec![*said], &self.model.inner().sources);
                self.ended = Some(Ended::Failed(error.clone()));
                return Err(error);
            }
        };
        match &reached {
            Reached::Terminated(message) => self.ended = Some(Ended::Terminated(message.clone())),
            Reached::Time => self.asked = time,
            Reached::Event | Reached::Interrupted => {}
        }
        Ok(reached)
    }

    /// The value of a variable at the time that was reached. A variable of another translation stands for the one of the same name;
    /// not a number where there is none.
    pub fn get(&self, variable: &Variable) -> f64 {
        self.model.id(variable).map_or(f64::NAN, |id| self.inner.value(id))
    }

    /// Sets an input, from the time that was reached on. Another value makes an event at the beginning of the next step.
    pub fn set(&mut self, input: &Variable, value: f64) -> Result<(), Error> {
        let id = self.model.input_id(input, value)?;
        if self.inner.is_driven(id) {
            return Err(Error::of_call(format!("`{}` follows the rows that the experiment gives it", input.name)));
        }
        self.inner.set_input(id, value);
        Ok(())
    }

    /// Gives a parameter another value, from the time that was reached on: what depends on it is computed in an event at the
    /// beginning of the next step, and states keep their values. The error says what the parameter decides.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text("m.mo", "model M parameter Real k = 1; Real x(start = 0, fixed = true); equation der(x) = k; end M;");
    /// let model = session.model("m.mo")?;
    /// let mut simulation = model.start(&model.experiment())?;
    /// simulation.step_to(0.5)?;
    /// simulation.set_parameter(model.variable("k").unwrap(), 3.0)?;
    /// simulation.step_to(1.0)?;
    /// assert!((simulation.get(model.variable("x").unwrap()) - 2.0).abs() < 1e-9);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn set_parameter(&mut self, parameter: &Variable, value: f64) -> Result<(), Error> {
        let set = self.inner.set_parameters(&[(self.model.id(parameter)?, value)]);
        set.map_err(|said| Error::of_model(vec![*said], &self.model.inner().sources))
    }

    /// The exact derivatives of Real variables with respect to states, inputs or tunable parameters, at the point that was
    /// reached: the matrices of a linear model, or sensitivities. The derivative of the state `x` is the variable `der(x)`, or what
    /// the model calls it. Relations and discrete variables stay as they are. A parameter that is computed from others follows them,
    /// unless it is listed itself.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text(
    ///     "m.mo",
    ///     "model M
    ///        parameter Real k = 3;
    ///        input Real u(start = 2);
    ///        Real x(start = 1, fixed = true);
    ///        Real y = k*x^2;
    ///      equation
    ///        der(x) = -k*x + u;
    ///      end M;",
    /// );
    /// let model = session.model("m.mo")?;
    /// let variable = |name| model.variable(name).unwrap();
    /// let mut simulation = model.start(&model.experiment())?;
    /// let of = [variable("der(x)"), variable("y")];
    /// let jacobian = simulation.jacobian(&of, &[variable("x"), variable("u"), variable("k")])?;
    /// assert_eq!(jacobian.row(0), [-3.0, 1.0, -1.0]);
    /// assert_eq!(jacobian.row(1), [6.0, 0.0, 1.0]);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn jacobian(&mut self, of: &[&Variable], with_respect_to: &[&Variable]) -> Result<Jacobian, Error> {
        let found = self.inner.jacobian(&self.model.ids(of)?, &self.model.ids(with_respect_to)?);
        found.map_err(|said| Error::of_model(vec![*said], &self.model.inner().sources))
    }

    /// The structural conditions that hold at the point that was reached, in a model whose structure changes.
    pub fn mode(&mut self) -> Option<String> {
        self.inner.mode()
    }

    /// What the run had to say so far.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.iter().cloned().chain(self.inner.warnings()).collect()
    }

    /// A copy to return to.
    pub fn snapshot(&self) -> Snapshot {
        let Self { model, inner, ended, asked, .. } = self;
        Snapshot { model: model.clone(), inner: inner.snapshot(), ended: ended.clone(), asked: *asked }
    }

    /// Returns to a snapshot of a simulation of the same model, with the values of parameters that it had there.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), Error> {
        if !self.model.is_same_translation(&snapshot.model) {
            let (other, own) = (snapshot.model.name(), self.model.name());
            return Err(Error::of_call(format!(
                "the snapshot belongs to another translation (`{other}`) than the simulation (`{own}`)"
            )));
        }
        self.inner.restore(&snapshot.inner);
        self.model = snapshot.model.clone();
        self.ended = snapshot.ended.clone();
        self.asked = snapshot.asked;
        Ok(())
    }
}
