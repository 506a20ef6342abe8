//! What came of a run. Columns become arrays without a copy: an array keeps the run that it looks into.

use gyrator::{Column, Figure, Kind, Trajectories, Trajectory};
use numpy::ndarray::ArrayView1;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::failure;

/// Trajectories and what there is to say about them.
#[pyclass(frozen, module = "gyrator._gyrator")]
pub struct Run(gyrator::Run);

impl Run {
    pub fn new(run: gyrator::Run) -> Self {
        Self(run)
    }

    pub fn inner(&self) -> &gyrator::Run {
        &self.0
    }
}

/// An array that looks into a run, which does not change.
fn view<'py>(owner: &Bound<'py, Run>, values: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    let view = ArrayView1::from(values);
    #[allow(unsafe_code)]
    // SAFETY: the values belong to `owner`, which the array keeps alive; a run is frozen, so they neither move nor change.
    let array = unsafe { PyArray1::borrow_from_array(&view, owner.clone().into_any()) };
    let array = array.into_any();
    array.call_method1("setflags", (false,))?;
    Ok(array)
}

/// Name, unit, unit for display, description, type and values of a variable.
type Described<'py> = (String, String, String, String, String, PyReadonlyArray1<'py, f64>);

#[pymethods]
impl Run {
    /// A result from its columns.
    #[staticmethod]
    fn of(time: PyReadonlyArray1<'_, f64>, columns: Vec<Described<'_>>) -> PyResult<Self> {
        let mut trajectories = Trajectories { time: time.as_slice()?.to_vec(), ..Trajectories::default() };
        trajectories.time_name = "time".to_owned();
        for (name, unit, display_unit, description, kind, values) in columns {
            let kind = match kind.as_str() {
                "Integer" => Kind::Integer,
                "Boolean" => Kind::Boolean,
                "Enumeration" => Kind::Enumeration,
                _ => Kind::Real,
            };
            let column = Column { name, unit, display_unit, description, kind, ..Column::default() };
            trajectories.variables.push(Trajectory { column, values: values.as_slice()?.to_vec() });
        }
        let statistics = gyrator::RunStatistics::default();
        Ok(Self(gyrator::Run { trajectories, warnings: Vec::new(), terminated: None, interrupted: None, statistics }))
    }

    /// The time of each row.
    #[getter]
    fn time<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let run = this.get();
        view(this, &run.0.trajectories.time)
    }

    /// The names of all variables.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.0.trajectories.names().collect()
    }

    /// The values of a variable by its place.
    fn column<'py>(this: &Bound<'py, Self>, place: usize) -> PyResult<Bound<'py, PyAny>> {
        let run = this.get();
        let variable = run.0.trajectories.variables.get(place);
        let variable = variable.ok_or_else(|| PyIndexError::new_err("there is no such column"))?;
        view(this, &variable.values)
    }

    /// Unit, unit for display, description and type of each variable.
    #[getter]
    fn columns(&self) -> Vec<(&str, &str, &str, String)> {
        let columns = self.0.trajectories.variables.iter().map(|variable| &variable.column);
        let parts = columns.map(|column| {
            let kind = format!("{:?}", column.kind);
            (column.unit.as_str(), column.display_unit.as_str(), column.description.as_str(), kind)
        });
        parts.collect()
    }

    /// The message of a model that ended the run.
    #[getter]
    fn terminated(&self) -> Option<&str> {
        self.0.terminated.as_deref()
    }

    /// When the run was interrupted.
    #[getter]
    fn interrupted(&self) -> Option<f64> {
        self.0.interrupted
    }

    /// What the run had to say.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        failure::diagnostics(py, &self.0.warnings, &|_| None)
    }

    /// What the run took.
    #[getter]
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let statistics = PyDict::new(py);
        let known = &self.0.statistics;
        for (name, count) in [
            ("steps", known.steps),
            ("rejected", known.rejected),
            ("evaluations", known.rhs),
            ("jacobians", known.jacobians),
            ("state_events", known.state_events),
            ("time_events", known.time_events),
            ("rows", known.rows),
        ] {
            statistics.set_item(name, count)?;
        }
        Ok(statistics)
    }

    /// A drawing of some variables: `svg` or `html`.
    fn draw(&self, title: &str, names: Vec<String>, format: &str) -> PyResult<String> {
        let run = &self.0.trajectories;
        let variables: Vec<_> = names.iter().filter_map(|name| run.get(name)).collect();
        let figure = Figure::new(title, run, &variables);
        Ok(if format == "html" { gyrator::html(&figure) } else { gyrator::svg(&figure) })
    }
}
