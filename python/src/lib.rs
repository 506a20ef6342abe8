//! The extension module behind the Python package `gyrator`.
//!
//! It is thin: models, runs, simulations and failures of the library become Python objects, arrays are handed over without a
//! copy, and Python's lock is released while something is computed. What reads well in Python is written in Python
//! (`source/gyrator`).

mod attention;
mod design;
mod failure;
mod model;
mod run;
mod settings;
mod simulation;
mod sources;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
fn _gyrator(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<sources::Sources>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<simulation::Snapshot>()?;
    module.add_function(wrap_pyfunction!(design::levels, module)?)?;
    module.add_function(wrap_pyfunction!(design::sample, module)?)?;
    module.add_function(wrap_pyfunction!(design::sobol_indices, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
