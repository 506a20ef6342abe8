//! Models that another solver drives.

use simulate::{Accepted, Jacobian, Options, Update};

use crate::{Diagnostic, Error, Model, Variable};

/// A model at a point that another program's solver chooses. It moves between threads, and a copy is a state to return to.
///
/// Time, states and inputs go in; derivatives, variables and event indicators come out. The solver tells which steps it accepts,
/// and where an indicator changes its sign, or a time event is due, it enters the event and lets the model update itself.
///
/// ```
/// use gyrator::{Error, Session};
///
/// let mut session = Session::new();
/// session.replace_text(
///     "ball.mo",
///     "model Ball
///        Real h(start = 1, fixed = true), v(start = 0, fixed = true);
///      equation
///        der(h) = v;
///        der(v) = -9.81;
///        when h <= 0 then
///          reinit(v, -0.8*pre(v));
///        end when;
///      end Ball;",
/// );
/// let model = session.model("ball.mo")?;
/// let mut ball = model.system(&model.experiment())?;
/// ball.initialise()?;
/// // Euler's method in small steps, until the ball touches the ground.
/// let (step, mut time) = (1e-4, 0.0);
/// let mut indicators = vec![0.0; ball.event_indicator_count()];
/// loop {
///     let slopes = ball.derivatives()?;
///     let states: Vec<f64> = ball.states().iter().zip(&slopes).map(|(x, slope)| x + step * slope).collect();
///     ball.event_indicators(&mut indicators)?;
///     let before = indicators.clone();
///     time += step;
///     ball.set_time(time);
///     ball.set_states(&states)?;
///     ball.event_indicators(&mut indicators)?;
///     ball.accepted_step()?;
///     if before.iter().zip(&indicators).any(|(before, after)| before * after <= 0.0) {
///         break;
///     }
/// }
/// assert!((time - (2.0f64 / 9.81).sqrt()).abs() < 1e-3);
/// ball.enter_event()?;
/// let update = ball.update_discrete()?;
/// assert!(update.states_changed);
/// assert!(ball.get(model.variable("v").unwrap()) > 3.5);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct System {
    model: Model,
    inner: simulate::System,
}

impl System {
    pub(crate) fn new(model: &Model, options: &Options) -> Self {
        Self { model: model.clone(), inner: simulate::System::of(&model.inner().program, options) }
    }

    /// What it is a point of.
    pub fn model(&self) -> &Model {
        &self.model
    }

    fn checked<T>(&self, outcome: Result<T, Box<Diagnostic>>) -> Result<T, Error> {
        outcome.map_err(|said| Error::of_model(vec![*said], &self.model.inner().sources))
    }

    /// Finds the first point, at the start time of the experiment, with the inputs that were set before.
    pub fn initialise(&mut self) -> Result<Update, Error> {
        let outcome = self.inner.initialise();
        self.checked(outcome)
    }

    /// The time of the point.
    pub fn time(&self) -> f64 {
        self.inner.time()
    }

    /// Sets the time of the point.
    pub fn set_time(&mut self, time: f64) {
        self.inner.set_time(time);
    }

    /// The states of the point. Their number changes at events of models with modes that have different numbers of them.
    pub fn states(&self) -> &[f64] {
        self.inner.states()
    }

    /// Sets the states of the point, between events.
    pub fn set_states(&mut self, states: &[f64]) -> Result<(), Error> {
        let outcome = self.inner.set_states(states);
        self.checked(outcome)
    }

    /// The variables that are integrated now, in order. A state that stands for different variables in turn has its variable
    /// after the initialisation, and another one after each step or event that exchanges it; before it is `None`.
    pub fn state_variables(&self) -> Vec<Option<&Variable>> {
        let names = self.inner.state_variables().map(|(state, _)| self.inner.program().model().variable_name(state));
        names.map(|name| self.model.variable(&name)).collect()
    }

    /// The variables of their derivatives.
    pub fn derivative_variables(&self) -> Vec<Option<&Variable>> {
        let model = self.inner.program().model();
        let names = self.inner.state_variables().map(|(_, derivative)| model.variable_name(derivative));
        names.map(|name| self.model.variable(&name)).collect()
    }

    /// Sizes of the states, by which solvers weigh errors.
    pub fn nominals(&self) -> Vec<f64> {
        self.inner.nominals()
    }

    /// Sets an input. A continuous one may change with every point, as long as it is smooth between events; others change before
    /// the initialisation and in events only.
    pub fn set(&mut self, input: &Variable, value: f64) -> Result<(), Error> {
        let outcome = self.inner.set_input(self.model.input_id(input, value)?, value);
        self.checked(outcome)
    }

    /// Gives a parameter another value, from the next update on.
    pub fn set_parameter(&mut self, parameter: &Variable, value: f64) -> Result<(), Error> {
        let outcome = self.inner.set_parameters(&[(self.model.id(parameter)?, value)]);
        self.checked(outcome)
    }

    /// The derivatives of the states at the point.
    pub fn derivatives(&mut self) -> Result<Vec<f64>, Error> {
        let mut slopes = vec![0.0; self.states().len()];
        self.derivatives_into(&mut slopes)?;
        Ok(slopes)
    }

    /// The same without taking memory.
    pub fn derivatives_into(&mut self, slopes: &mut [f64]) -> Result<(), Error> {
        let outcome = self.inner.derivatives(slopes);
        self.checked(outcome)
    }

    /// Evaluates all variables at the point, for [`get`](Self::get).
    pub fn outputs(&mut self) -> Result<(), Error> {
        let outcome = self.inner.outputs();
        self.checked(outcome)
    }

    /// The value of a variable as [`outputs`](Self::outputs), an update or the initialisation left it. A variable of another
    /// translation stands for the one of the same name; not a number where there is none.
    pub fn get(&self, variable: &Variable) -> f64 {
        self.model.id(variable).map_or(f64::NAN, |id| self.inner.value(id))
    }

    /// How many event indicators there are now.
    pub fn event_indicator_count(&self) -> usize {
        self.inner.event_indicator_count()
    }

    /// The event indicators at the point. An event is where one becomes zero or changes its sign; that is a little behind the
    /// place at which the condition changes, so that none is zero after an update.
    pub fn event_indicators(&mut self, indicators: &mut [f64]) -> Result<(), Error> {
        let outcome = self.inner.event_indicators(indicators);
        self.checked(outcome)
    }

    /// The longest step from the last accepted point; bounded in models with delays.
    pub fn longest_step(&mut self) -> f64 {
        self.inner.longest_step()
    }

    /// The solver has accepted the step to the point.
    pub fn accepted_step(&mut self) -> Result<Accepted, Error> {
        let outcome = self.inner.accepted_step();
        self.checked(outcome)
    }

    /// An event begins at the point: its values are the left limits. Inputs may jump from here on.
    pub fn enter_event(&mut self) -> Result<(), Error> {
        let outcome = self.inner.enter_event();
        self.checked(outcome)
    }

    /// Goes through the event that was entered, until nothing changes any more.
    pub fn update_discrete(&mut self) -> Result<Update, Error> {
        let outcome = self.inner.update_discrete();
        self.checked(outcome)
    }

    /// The product of the Jacobian of variables with a direction of states, inputs and tunable parameters: exact, as
    /// [`Simulation::jacobian`](crate::Simulation::jacobian) is.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text("m.mo", "model M input Real u; Real x(start = 3, fixed = true); equation der(x) = x^2*u; end M;");
    /// let model = session.model("m.mo")?;
    /// let variable = |name| model.variable(name).unwrap();
    /// let mut system = model.system(&model.experiment())?;
    /// system.set(variable("u"), 2.0)?;
    /// system.initialise()?;
    /// let (of, by) = ([variable("der(x)")], [variable("x"), variable("u")]);
    /// assert_eq!(system.directional(&of, &by, &[1.0, 10.0])?, [12.0 + 90.0]);
    /// assert_eq!(system.adjoint(&of, &by, &[0.5])?, [6.0, 4.5]);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn directional(&mut self, of: &[&Variable], by: &[&Variable], seed: &[f64]) -> Result<Vec<f64>, Error> {
        check_length(seed, by)?;
        let outcome = self.inner.directional(&self.model.ids(of)?, &self.model.ids(by)?, seed);
        self.checked(outcome)
    }

    /// The product of the transposed Jacobian with weights of the variables.
    pub fn adjoint(&mut self, of: &[&Variable], by: &[&Variable], seed: &[f64]) -> Result<Vec<f64>, Error> {
        check_length(seed, of)?;
        let outcome = self.inner.adjoint(&self.model.ids(of)?, &self.model.ids(by)?, seed);
        self.checked(outcome)
    }

    /// The whole matrix.
    pub fn jacobian(&mut self, of: &[&Variable], by: &[&Variable]) -> Result<Jacobian, Error> {
        let outcome = self.inner.jacobian(&self.model.ids(of)?, &self.model.ids(by)?);
        self.checked(outcome)
    }

    /// The structural conditions that hold, in a model whose structure changes.
    pub fn mode(&mut self) -> Option<String> {
        self.inner.mode()
    }

    /// What events and steps had to say so far.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.inner.warnings()
    }
}

fn check_length(seed: &[f64], variables: &[&Variable]) -> Result<(), Error> {
    if seed.len() == variables.len() {
        return Ok(());
    }
    Err(Error::of_call(format!("a seed of {} components for {} variables", seed.len(), variables.len())))
}
