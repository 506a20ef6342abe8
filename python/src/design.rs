//! Designs of many runs, and Sobol' indices.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use study::Factor;

/// A kind and its numbers as a factor.
fn factor((kind, numbers): &(String, Vec<f64>)) -> PyResult<Factor> {
    let made = match (kind.as_str(), numbers.as_slice()) {
        ("linear", &[low, high]) => Factor::Linear { low, high },
        ("log", &[low, high]) => Factor::Logarithmic { low, high },
        ("whole", &[low, high]) => Factor::Whole { low, high },
        ("normal", &[mean, deviation]) => Factor::Normal { mean, deviation },
        ("list", values) => Factor::List(values.to_vec()),
        _ => return Err(PyValueError::new_err(format!("there is no range `{kind}`"))),
    };
    made.problem().map_or(Ok(made), |problem| Err(PyValueError::new_err(problem)))
}

/// Values of a range from one end to the other.
#[pyfunction]
pub fn levels(given: (String, Vec<f64>), count: usize) -> PyResult<Vec<f64>> {
    Ok(factor(&given)?.levels(count))
}

/// Samples, a row each.
#[pyfunction]
pub fn sample(kind: &str, factors: Vec<(String, Vec<f64>)>, samples: usize, seed: u64) -> PyResult<Vec<Vec<f64>>> {
    let factors: Vec<Factor> = factors.iter().map(factor).collect::<PyResult<_>>()?;
    let dimensions = factors.len();
    let coordinates = if kind == "saltelli" { 2 * dimensions } else { dimensions };
    if matches!(kind, "saltelli" | "sobol") && coordinates > study::DIMENSIONS {
        let most = study::DIMENSIONS;
        let message = format!("a Sobol' sequence has at most {most} coordinates here; vary fewer parameters");
        return Err(PyValueError::new_err(message));
    }
    let points = match kind {
        "random" => study::random(samples, dimensions, seed),
        "sobol" => study::sobol(samples, dimensions, seed),
        "saltelli" => study::saltelli(samples, dimensions, seed),
        _ => study::latin_hypercube(samples, dimensions, seed),
    };
    let value = |(factor, share): (&Factor, &f64)| factor.quantile(*share);
    Ok(points.iter().map(|point| factors.iter().zip(point).map(value).collect()).collect())
}

/// First-order and total indices with their errors, by factor; nothing where the results do not vary.
#[pyfunction]
pub fn sobol_indices(results: Vec<f64>, factors: usize) -> Option<Vec<(f64, f64, f64, f64)>> {
    let found = study::sensitivities(&results, factors)?;
    Some(found.iter().map(|it| (it.first, it.total, it.first_error, it.total_error)).collect())
}
