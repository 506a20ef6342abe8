//! Translated models.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use gyrator::{Error, Role, Variable, VariableType};
use numpy::IntoPyArray;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::attention::{ATTENTION, Attention};
use crate::failure::{During, diagnostics, exception};
use crate::run::Run;
use crate::settings::{experiment, kept_experiment};
use crate::simulation::Simulation;

/// A translated model.
#[pyclass(frozen, module = "gyrator._gyrator")]
#[derive(Clone)]
pub struct Model(gyrator::Model);

impl Model {
    pub fn new(model: gyrator::Model) -> Self {
        Self(model)
    }

    pub fn variable(&self, name: &str) -> PyResult<&Variable> {
        self.0.variable(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    fn variables_named(&self, names: &[String]) -> PyResult<Vec<&Variable>> {
        names.iter().map(|name| self.variable(name)).collect()
    }

    fn with_values(&self, values: &[(String, f64)]) -> Result<gyrator::Model, Error> {
        let values: Vec<(&str, f64)> = values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        self.0.with_all(&values)
    }
}

fn type_name(ty: VariableType) -> &'static str {
    match ty {
        VariableType::Real => "Real",
        VariableType::Integer => "Integer",
        VariableType::Boolean => "Boolean",
        VariableType::Enumeration => "enumeration",
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Constant => "constant",
        Role::Parameter => "parameter",
        Role::Input => "input",
        Role::Output => "output",
        Role::Local => "local",
    }
}

/// A run that Python can interrupt, and that tells a callback how far it has come.
fn simulate(
    py: Python<'_>,
    model: &gyrator::Model,
    experiment: &gyrator::Experiment,
    wanted: Option<&[String]>,
    callback: Option<&Py<PyAny>>,
) -> PyResult<gyrator::Run> {
    let mut attention = Attention::new(callback);
    let names: Option<std::collections::HashSet<&str>> = wanted.map(|names| names.iter().map(String::as_str).collect());
    let is_wanted = |name: &str| names.as_ref().is_none_or(|names| names.contains(name));
    let outcome = py.detach(|| model.simulate_while(experiment, &is_wanted, &mut |time| attention.go_on(time)));
    attention.raised()?;
    outcome.map_err(|error| exception(py, &error, During::Simulation))
}

#[pymethods]
impl Model {
    /// The name of the class.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Name, unit, description, type, role, whether it can be set, the literals of an enumeration and its name, of each variable.
    #[getter]
    #[allow(clippy::type_complexity, reason = "a row of a table")]
    fn variables(&self) -> Vec<(&str, &str, &str, &'static str, &'static str, bool, Vec<&str>, &str)> {
        let variables = self.0.variables().iter();
        let rows = variables.map(|known| {
            let (ty, role, tunable) = (type_name(known.ty), role_name(known.role), known.tunable);
            let (enumeration, literals) = self.0.literals(known).unwrap_or_default();
            let texts = (known.name.as_str(), known.unit.as_str(), known.description.as_str());
            (texts.0, texts.1, texts.2, ty, role, tunable, literals, enumeration)
        });
        rows.collect()
    }

    /// Name, value and description of each parameter that is a text.
    #[getter]
    fn texts(&self) -> Vec<(String, Option<String>, String)> {
        self.0.texts()
    }

    /// The values of parameters and constants.
    fn parameter_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = self.0.parameter_values().map_err(|error| exception(py, &error, During::Simulation))?;
        let found = PyDict::new(py);
        for (variable, value) in values {
            found.set_item(&variable.name, value)?;
        }
        Ok(found)
    }

    /// Start, stop, interval, tolerance and solver of the run that the model asks for.
    #[getter]
    fn experiment(&self) -> (f64, f64, f64, f64, &'static str) {
        let asked = self.0.experiment();
        (
            asked.start_time(),
            asked.stop_time(),
            asked.output_interval(),
            asked.relative_tolerance(),
            asked.method_name(),
        )
    }

    /// What the translation had to say.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let place = |said: &gyrator::Diagnostic| said.labels.first().and_then(|label| self.0.place(label.span));
        diagnostics(py, self.0.warnings(), &place)
    }

    /// The texts that it was translated from.
    fn sources(&self) -> Vec<(String, &str)> {
        self.0.sources().map(|(path, text)| (path.to_string_lossy().into_owned(), text)).collect()
    }

    /// The same model with other values of parameters.
    fn with_parameters(&self, py: Python<'_>, values: Vec<(String, f64)>) -> PyResult<Self> {
        let made = py.detach(|| self.with_values(&values));
        made.map(Self).map_err(|error| exception(py, &error, During::Translation))
    }

    /// Whether both share their code.
    fn is_same_translation(&self, other: &Self) -> bool {
        self.0.is_same_translation(&other.0)
    }

    /// A run from start to stop.
    #[pyo3(signature = (settings, wanted=None, callback=None))]
    fn simulate(
        &self,
        py: Python<'_>,
        settings: &Bound<'_, PyDict>,
        wanted: Option<Vec<String>>,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<Run> {
        let experiment = kept_experiment(&self.0, settings)?;
        simulate(py, &self.0, &experiment, wanted.as_deref(), callback.as_ref()).map(Run::new)
    }

    /// A run to be stepped, initialised.
    fn start(&self, py: Python<'_>, settings: &Bound<'_, PyDict>) -> PyResult<Simulation> {
        let experiment = experiment(&self.0, settings)?;
        let made = py.detach(|| self.0.start(&experiment));
        made.map(Simulation::new).map_err(|error| exception(py, &error, During::Simulation))
    }

    /// A run with its derivatives: the run, the array of rows, variables and parameters, and functions that were differenced.
    fn sensitivities<'py>(
        &self,
        py: Python<'py>,
        settings: &Bound<'py, PyDict>,
        of: Vec<String>,
        parameters: Vec<String>,
    ) -> PyResult<(Run, Bound<'py, PyAny>, Vec<String>)> {
        let experiment = kept_experiment(&self.0, settings)?;
        let (of, by) = (self.variables_named(&of)?, self.variables_named(&parameters)?);
        let mut attention = Attention::new(None);
        let found = py.detach(|| self.0.sensitivities_while(&experiment, &of, &by, &mut |time| attention.go_on(time)));
        attention.raised()?;
        let found = found.map_err(|error| exception(py, &error, During::Simulation))?;
        let rows = found.run.trajectories.time.len();
        let shape = (rows, of.len(), by.len());
        let values = found.values.into_pyarray(py).into_any().call_method1("reshape", (shape,))?;
        Ok((Run::new(found.run), values, found.differenced))
    }

    /// Runs with other values of parameters, on several threads: for each row of values a run or an exception. The callback
    /// hears of each that is finished.
    #[pyo3(signature = (settings, names, rows, wanted, threads, callback=None))]
    #[allow(clippy::too_many_arguments, reason = "called with names from Python")]
    fn sweep<'py>(
        &self,
        py: Python<'py>,
        settings: &Bound<'py, PyDict>,
        names: Vec<String>,
        rows: Vec<Vec<f64>>,
        wanted: Option<Vec<String>>,
        threads: usize,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let experiment = kept_experiment(&self.0, settings)?;
        let wanted: Option<std::collections::HashSet<String>> = wanted.map(|names| names.into_iter().collect());
        let is_wanted = |name: &str| wanted.as_ref().is_none_or(|names| names.contains(name));
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = |answers: mpsc::Sender<(usize, Result<gyrator::Run, Error>)>| {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(row) = rows.get(place).filter(|_| !stopped.load(Ordering::Relaxed)) else { return };
                let values: Vec<(&str, f64)> = names.iter().map(String::as_str).zip(row.iter().copied()).collect();
                let mut go_on = |_| !stopped.load(Ordering::Relaxed);
                let run = self.0.with_all(&values);
                let run = run.and_then(|model| model.simulate_while(&experiment, &is_wanted, &mut go_on));
                if answers.send((place, run)).is_err() {
                    return;
                }
            }
        };
        let mut found: Vec<Option<Result<gyrator::Run, Error>>> = rows.iter().map(|_| None).collect();
        let raised = py.detach(|| {
            std::thread::scope(|scope| {
                let (sender, receiver) = mpsc::channel();
                for _ in 0..threads.clamp(1, rows.len().max(1)) {
                    let (sender, work) = (sender.clone(), &work);
                    scope.spawn(move || work(sender));
                }
                drop(sender);
                let mut raised = None;
                let mut count = 0;
                loop {
                    match receiver.recv_timeout(ATTENTION) {
                        Ok((place, run)) => {
                            found[place] = Some(run);
                            count += 1;
                            if callback.is_none() {
                                continue;
                            }
                        }
                        Err(mpsc::RecvTimeoutError::Timeout) => {}
                        Err(mpsc::RecvTimeoutError::Disconnected) => return raised,
                    }
                    let answer = Python::attach(|py| {
                        py.check_signals()?;
                        callback.as_ref().map(|callback| callback.call1(py, (count, rows.len()))).transpose()
                    });
                    if let Err(error) = answer {
                        stopped.store(true, Ordering::Relaxed);
                        raised.get_or_insert(error);
                    }
                }
            })
        });
        if let Some(error) = raised {
            return Err(error);
        }
        let list = PyList::empty(py);
        for outcome in found.into_iter().flatten() {
            match outcome {
                Ok(run) => list.append(Py::new(py, Run::new(run))?)?,
                Err(error) => list.append(exception(py, &error, During::Simulation).into_value(py))?,
            }
        }
        Ok(list)
    }
}
