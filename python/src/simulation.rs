//! Runs that Python steps.

use std::sync::{Mutex, MutexGuard};

use gyrator::Reached;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::attention::Attention;
use crate::failure::{During, diagnostics, exception};

/// A run at an instant. One call at a time works on it.
#[pyclass(frozen, module = "gyrator._gyrator")]
pub struct Simulation(Mutex<gyrator::Simulation>);

/// A state of a simulation to return to.
#[pyclass(frozen, module = "gyrator._gyrator")]
pub struct Snapshot(gyrator::Snapshot);

impl Simulation {
    pub fn new(simulation: gyrator::Simulation) -> Self {
        Self(Mutex::new(simulation))
    }

    fn lock(&self) -> MutexGuard<'_, gyrator::Simulation> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Works on the simulation without Python's lock.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut gyrator::Simulation) -> Result<T, gyrator::Error> + Send,
    ) -> PyResult<T> {
        let outcome = py.detach(|| work(&mut self.lock()));
        outcome.map_err(|error| exception(py, &error, During::Simulation))
    }
}

/// A variable that does not borrow from the simulation.
fn variable(simulation: &gyrator::Simulation, name: &str) -> PyResult<gyrator::Variable> {
    simulation.model().variable(name).cloned().ok_or_else(|| PyKeyError::new_err(name.to_owned()))
}

#[pymethods]
impl Simulation {
    /// How far it has come.
    #[getter]
    fn time(&self) -> f64 {
        self.lock().time()
    }

    /// What the run had to say so far.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let said = self.lock().warnings();
        diagnostics(py, &said, &|_| None)
    }

    /// Goes on to a time, or no further than to the next event: `time`, `event` or the message of a model that ended itself.
    fn step_to(&self, py: Python<'_>, time: f64, to_events: bool) -> PyResult<(&'static str, Option<String>)> {
        let mut attention = Attention::new(None);
        let reached =
            self.work(py, |simulation| simulation.step_to_while(time, to_events, &mut |now| attention.go_on(now)));
        attention.raised()?;
        Ok(match reached? {
            Reached::Interrupted => ("interrupted", None),
            Reached::Time => ("time", None),
            Reached::Event => ("event", None),
            Reached::Terminated(message) => ("terminated", Some(message)),
        })
    }

    /// The values of variables.
    fn get(&self, names: Vec<String>) -> PyResult<Vec<f64>> {
        let simulation = self.lock();
        names.iter().map(|name| Ok(simulation.get(&variable(&simulation, name)?))).collect()
    }

    /// Sets inputs and parameters.
    fn set(&self, py: Python<'_>, values: Vec<(String, f64)>) -> PyResult<()> {
        let known: Vec<(gyrator::Variable, f64)> = {
            let simulation = self.lock();
            let found = values.iter().map(|(name, value)| Ok((variable(&simulation, name)?, *value)));
            found.collect::<PyResult<_>>()?
        };
        self.work(py, |simulation| {
            for (variable, value) in &known {
                match variable.role {
                    gyrator::Role::Parameter => simulation.set_parameter(variable, *value)?,
                    _ => simulation.set(variable, *value)?,
                }
            }
            Ok(())
        })
    }

    /// Another run from the same point.
    fn copy(&self, py: Python<'_>) -> Self {
        Self::new(py.detach(|| self.lock().clone()))
    }

    /// A copy to return to.
    fn snapshot(&self, py: Python<'_>) -> Snapshot {
        Snapshot(py.detach(|| self.lock().snapshot()))
    }

    /// Returns to a snapshot.
    fn restore(&self, py: Python<'_>, snapshot: &Snapshot) -> PyResult<()> {
        self.work(py, |simulation| simulation.restore(&snapshot.0))
    }

    /// Exact derivatives at the point: rows by variable.
    fn jacobian(&self, py: Python<'_>, of: Vec<String>, by: Vec<String>) -> PyResult<Vec<Vec<f64>>> {
        let find = |names: &[String]| -> PyResult<Vec<gyrator::Variable>> {
            let simulation = self.lock();
            names.iter().map(|name| variable(&simulation, name)).collect()
        };
        let (of, by) = (find(&of)?, find(&by)?);
        let found = self.work(py, |simulation| {
            let [of, by] = [&of, &by].map(|list| list.iter().collect::<Vec<_>>());
            simulation.jacobian(&of, &by)
        })?;
        Ok((0..found.rows).map(|row| found.row(row).to_vec()).collect())
    }

    /// The structural conditions that hold, in a model whose structure changes.
    fn mode(&self) -> Option<String> {
        self.lock().mode()
    }
}
