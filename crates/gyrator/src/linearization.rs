//! Linear models at points of a run.

use session::Settings;

use crate::{Error, Session};

/// What is to be linearised, and where.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinearRequest {
    /// `None`: the inputs of the top level.
    pub inputs: Option<Vec<String>>,
    /// `None`: the outputs of the top level.
    pub outputs: Option<Vec<String>>,
    /// `None`: the start.
    pub time: Option<f64>,
    /// Begin at the stationary state that is found from the initial state.
    pub steady_state: bool,
    /// Where the run starts, in place of what the model says.
    pub start_time: Option<f64>,
    /// The tolerance of the run that leads to the point.
    pub tolerance: Option<f64>,
    /// The method of that run.
    pub solver: Option<String>,
}

/// The model near a point: ẋ = A x + B u, y = C x + D u for small changes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinearPoint {
    /// The instant.
    pub time: f64,
    /// The names of the states.
    pub states: Vec<String>,
    /// The names of the inputs.
    pub inputs: Vec<String>,
    /// The names of the outputs.
    pub outputs: Vec<String>,
    /// A, B, C and D, row after row.
    pub matrices: [Vec<Vec<f64>>; 4],
    /// The values of the states at the point.
    pub state_values: Vec<f64>,
    /// The values of the inputs at the point.
    pub input_values: Vec<f64>,
    /// The structural conditions that hold, in a model whose structure changes.
    pub mode: Option<String>,
    /// What the matrices do not show of the model, such as a kink at the point, and functions whose derivatives are differences.
    pub notes: Vec<String>,
}

/// Warnings without which the matrices would mislead.
const ABOUT_THE_POINT: [&str; 2] = ["kink", "steady-state-elsewhere"];

impl Session {
    /// Linearises a model at a point of its run, by exact derivatives of its code. Inputs may also be variables that equations
    /// determine: the model is opened there.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text(
    ///     "m.mo",
    ///     "model M input Real u; output Real y = 3*x; Real x(start = 2, fixed = true); equation der(x) = -x^2 + u; end M;",
    /// );
    /// let point = session.linearize("m.mo", &[], &gyrator::LinearRequest::default())?;
    /// let [a, b, c, d] = &point.matrices;
    /// assert_eq!((a[0][0], b[0][0], c[0][0], d[0][0]), (-4.0, 1.0, 3.0, 0.0));
    /// assert_eq!(point.states, ["x"]);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn linearize(
        &mut self,
        target: &str,
        set: &[(&str, &str)],
        wanted: &LinearRequest,
    ) -> Result<LinearPoint, Error> {
        let request = self.request(target, set, &[]);
        let signals = session::LinearRequest {
            inputs: wanted.inputs.clone(),
            outputs: wanted.outputs.clone(),
            times: wanted.time.into_iter().collect(),
        };
        let settings = Settings {
            start_time: wanted.start_time,
            tolerance: wanted.tolerance,
            solver: wanted.solver.clone(),
            ..Settings::default()
        };
        let steady_state = wanted.steady_state;
        let found = self.inner.linearize(&request, &signals, |experiment| {
            Ok(simulate::Options { steady_state, ..settings.resolve(experiment)? })
        });
        let points = found.map_err(|failed| self.failed(failed))?;
        let point = points.into_iter().next().ok_or_else(|| Error::of_call("there is no point to linearise at"))?;
        if point.rates.is_some() {
            let message = "derivatives of the inputs act on the outputs: the model has no form with A, B, C and D alone; \
                           choose inputs that no equation differentiates";
            return Err(Error::of_call(message));
        }
        let system = point.system;
        let rows = |matrix: &linear::Matrix| (0..matrix.rows()).map(|row| matrix.row(row).to_vec()).collect();
        let differenced = point.differenced.iter().map(|name| format!("the derivative of `{name}` is a difference"));
        let said = std::mem::take(&mut self.inner.diagnostics).into_iter();
        let of_the_point = said.filter(|said| ABOUT_THE_POINT.contains(&said.code)).map(|said| said.message);
        Ok(LinearPoint {
            time: point.time,
            matrices: [rows(&system.a), rows(&system.b), rows(&system.c), rows(&system.d)],
            states: system.states.into_iter().map(|state| state.name).collect(),
            inputs: system.inputs.into_iter().map(|input| input.name).collect(),
            outputs: system.outputs.into_iter().map(|output| output.name).collect(),
            state_values: point.state_values,
            input_values: point.input_values,
            mode: point.mode,
            notes: point.notes.iter().cloned().chain(differenced).chain(of_the_point).collect(),
        })
    }
}
