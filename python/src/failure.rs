//! Failures as exceptions. Their classes stand in the Python part of the package.

use gyrator::{Diagnostic, Error, Place};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::run::Run;

/// What was tried when it failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum During {
    /// Reading and translating.
    Translation,
    /// Initialising and running.
    Simulation,
}

/// The exception of an error.
pub fn exception(py: Python<'_>, error: &Error, during: During) -> PyErr {
    let made = || -> PyResult<Bound<'_, PyAny>> {
        let errors = py.import("gyrator._errors")?;
        let class = match (error.diagnostics.is_empty(), during) {
            (true, _) => "CallError",
            (false, During::Translation) => "ModelError",
            (false, During::Simulation) => "SimulationError",
        };
        let said = diagnostics(py, &error.diagnostics, &|diagnostic| place(error, diagnostic))?;
        let partial = match &error.partial {
            Some(run) => Some(Py::new(py, Run::new((**run).clone()))?),
            None => None,
        };
        errors.getattr(class)?.call1((error.to_string(), said, partial))
    };
    match made() {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

fn place(error: &Error, diagnostic: &Diagnostic) -> Option<Place> {
    error.place(diagnostic.labels.first()?.span)
}

/// Diagnostics as dictionaries.
pub fn diagnostics<'py>(
    py: Python<'py>,
    said: &[Diagnostic],
    place: &dyn Fn(&Diagnostic) -> Option<Place>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for diagnostic in said {
        let entry = PyDict::new(py);
        entry.set_item("severity", if diagnostic.is_error() { "error" } else { "warning" })?;
        entry.set_item("code", diagnostic.code)?;
        entry.set_item("message", &diagnostic.message)?;
        entry.set_item("component", &diagnostic.component)?;
        entry.set_item("hint", &diagnostic.hint)?;
        entry.set_item("notes", &diagnostic.notes)?;
        if let Some(place) = place(diagnostic) {
            entry.set_item("path", place.path.to_string_lossy())?;
            entry.set_item("line", place.line)?;
            entry.set_item("column", place.column)?;
        }
        list.append(entry)?;
    }
    Ok(list)
}
