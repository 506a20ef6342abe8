//! Where a model comes from: a target, libraries, texts, and what it may touch. It can be sent elsewhere.

use std::path::PathBuf;

use gyrator::{LinearRequest, Session};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::{During, exception};
use crate::model::Model;

/// Everything that a translation needs.
#[pyclass(frozen, module = "gyrator._gyrator")]
#[derive(Clone)]
pub struct Sources {
    target: String,
    libraries: Vec<PathBuf>,
    files: Vec<PathBuf>,
    texts: Vec<(PathBuf, String)>,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    external: Vec<PathBuf>,
}

impl Sources {
    fn session(&self) -> Session {
        let mut session = Session::new();
        self.libraries.iter().for_each(|folder| session.add_library(folder));
        self.files.iter().for_each(|file| session.add_file(file));
        self.texts.iter().for_each(|(path, text)| session.replace_text(path, text));
        self.read.iter().for_each(|folder| session.allow_read(folder));
        self.write.iter().for_each(|folder| session.allow_write(folder));
        for library in &self.external {
            match library.as_os_str() == "build" {
                true => session.allow_build(),
                false => session.allow_external(library),
            }
        }
        session
    }
}

fn borrowed(set: &[(String, String)]) -> Vec<(&str, &str)> {
    set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[pymethods]
impl Sources {
    #[new]
    #[pyo3(signature = (target, libraries, files, texts, read, write, external))]
    fn new(
        target: String,
        libraries: Vec<PathBuf>,
        files: Vec<PathBuf>,
        texts: Vec<(PathBuf, String)>,
        read: Vec<PathBuf>,
        write: Vec<PathBuf>,
        external: Vec<PathBuf>,
    ) -> Self {
        Self { target, libraries, files, texts, read, write, external }
    }

    /// The translated model, with values of parameters as expressions.
    fn translate(&self, py: Python<'_>, set: Vec<(String, String)>, inputs: Vec<String>) -> PyResult<Model> {
        let made = py.detach(|| {
            let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
            self.session().model_with_inputs(&self.target, &borrowed(&set), &inputs)
        });
        made.map(Model::new).map_err(|error| exception(py, &error, During::Translation))
    }

    /// What a check finds, as text, and whether there is no error.
    fn check(&self, py: Python<'_>) -> PyResult<(String, bool)> {
        let report = py.detach(|| self.session().check(&self.target));
        let report = report.map_err(|error| exception(py, &error, During::Translation))?;
        let sound = report.is_sound();
        Ok((report.text, sound))
    }

    /// The linear model at a point, as a dictionary.
    #[pyo3(signature = (set, inputs, outputs, time, steady_state, tolerance, solver))]
    #[allow(clippy::too_many_arguments, reason = "called with names from Python")]
    fn linearize<'py>(
        &self,
        py: Python<'py>,
        set: Vec<(String, String)>,
        inputs: Option<Vec<String>>,
        outputs: Option<Vec<String>>,
        time: Option<f64>,
        steady_state: bool,
        tolerance: Option<f64>,
        solver: Option<String>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let wanted = LinearRequest { inputs, outputs, time, steady_state, start_time: None, tolerance, solver };
        let found = py.detach(|| self.session().linearize(&self.target, &borrowed(&set), &wanted));
        let found = found.map_err(|error| exception(py, &error, During::Simulation))?;
        let point = PyDict::new(py);
        for (name, matrix) in ["A", "B", "C", "D"].into_iter().zip(found.matrices) {
            point.set_item(name, matrix)?;
        }
        point.set_item("time", found.time)?;
        point.set_item("states", found.states)?;
        point.set_item("inputs", found.inputs)?;
        point.set_item("outputs", found.outputs)?;
        point.set_item("state_values", found.state_values)?;
        point.set_item("input_values", found.input_values)?;
        point.set_item("mode", found.mode)?;
        point.set_item("notes", found.notes)?;
        Ok(point)
    }
}
