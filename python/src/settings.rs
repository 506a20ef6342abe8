//! How a run is to be made.

use gyrator::{Experiment, Method, Model, Run};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// More rows than these fill the memory before they are of use.
const MOST_ROWS: f64 = 1e8;

/// The experiment of a run whose rows are kept in memory.
pub fn kept_experiment(model: &Model, settings: &Bound<'_, PyDict>) -> PyResult<Experiment> {
    let made = experiment(model, settings)?;
    let rows = (made.stop_time() - made.start_time()) / made.output_interval();
    let has_times = settings.get_item("times")?.is_some_and(|value| !value.is_none());
    if !has_times && rows.is_finite() && rows > MOST_ROWS {
        return Err(PyValueError::new_err(format!(
            "the result would have {rows:.3e} rows, which are kept in memory, where {MOST_ROWS:e} are the most; give a longer \
             `interval` or fewer `intervals`, or the `times` that are wanted, or use the command line, which writes to a file"
        )));
    }
    Ok(made)
}

/// The experiment of a model, changed by what a dictionary says.
pub fn experiment(model: &Model, settings: &Bound<'_, PyDict>) -> PyResult<Experiment> {
    let mut made = model.experiment();
    let number = |name: &str| -> PyResult<Option<f64>> {
        match settings.get_item(name)? {
            Some(value) if !value.is_none() => Ok(Some(value.extract()?)),
            _ => Ok(None),
        }
    };
    // It moves the whole run, so times that are given come behind it.
    if let Some(from) = settings.get_item("start_from")?.filter(|value| !value.is_none()) {
        let (run, time): (Bound<'_, crate::run::Run>, Option<f64>) = from.extract()?;
        let run = run.borrow();
        let known: &Run = run.inner();
        made = made.start_from(known, time);
    }
    if let Some(start) = number("start")? {
        made = made.start(start);
    }
    if let Some(stop) = number("stop")? {
        made = made.stop(stop);
    }
    if let Some(count) = number("intervals")? {
        if !(count >= 1.0 && count.fract() == 0.0) {
            return Err(PyValueError::new_err("intervals must be a whole number, 1 or more"));
        }
        let span = made.stop_time() - made.start_time();
        if span > 0.0 {
            made = made.interval(span / count);
        }
    }
    if let Some(interval) = number("interval")? {
        made = made.interval(interval);
    }
    if let Some(times) = settings.get_item("times")?.filter(|value| !value.is_none()) {
        let times: PyReadonlyArray1<'_, f64> = times.extract()?;
        made = made.output_times(times.as_slice()?);
    }
    if let Some(tolerance) = number("tolerance")? {
        made = made.tolerance(tolerance);
    }
    if let Some(step) = number("step")? {
        made = made.step(step);
    }
    if let Some(longest) = number("max_step")? {
        made = made.max_step(longest);
    }
    if let Some(solver) = settings.get_item("solver")?.filter(|value| !value.is_none()) {
        let name: String = solver.extract()?;
        made = made.method(name.parse::<Method>().map_err(PyValueError::new_err)?);
    }
    if let Some(inputs) = settings.get_item("inputs")?.filter(|value| !value.is_none()) {
        let inputs = inputs.cast_into::<PyDict>().map_err(|_| PyTypeError::new_err("inputs must be a dictionary"))?;
        for (name, rows) in inputs {
            let (time, values): (PyReadonlyArray1<'_, f64>, PyReadonlyArray1<'_, f64>) = rows.extract()?;
            made = made.input(name.extract::<String>()?, time.as_slice()?, values.as_slice()?);
        }
    }
    if let Some(steady) = settings.get_item("steady_state")?
        && steady.is_truthy()?
    {
        made = made.steady_state();
    }
    Ok(made)
}
