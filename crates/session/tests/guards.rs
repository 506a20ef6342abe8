//! Branches that are undefined behind the event that ends them.
#![allow(clippy::unwrap_used)]

mod common;

use common::run_with;
use session::{Ending, Settings};

const SOLVERS: [&str; 7] = ["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"];

/// Runs a model with each solver and compares the last value of a variable.
fn assert_end(model: &str, variable: &str, expected: f64, tolerance: f64, stop: f64) {
    for solver in SOLVERS {
        let settings = Settings { stop_time: Some(stop), solver: Some(solver.to_owned()), ..Settings::default() };
        let run = run_with(model, settings);
        assert_eq!(run.ending, Ending::Complete, "{solver}: {model}\n{}", run.said);
        let value = run.end(variable);
        assert!((value - expected).abs() <= tolerance, "{solver}: {value} instead of {expected}, {model}");
    }
}

#[test]
fn a_guarded_result_ends_with_its_guard() {
    assert_end(
        "model M Real x(start = 0, fixed = true), y;
        equation der(x) = 1; y = if x < 1 then sqrt(1 - x) else 7; end M;",
        "y",
        7.0,
        0.0,
        2.0,
    );
    assert_end(
        "model M Real x(start = 1, fixed = true), y;
        equation der(x) = -1; y = if x > 0 then 1/x else 7; end M;",
        "y",
        7.0,
        0.0,
        2.0,
    );
}

/// A vessel runs empty: h = (1 − t/2)² until 2, then nothing is left.
#[test]
fn a_guarded_outflow_runs_dry() {
    for model in [
        "model M Real h(start = 1, fixed = true); equation der(h) = if h > 0 then -sqrt(h) else 0; end M;",
        "model M Real h(start = 1, fixed = true); Boolean wet = h > 0;
        equation der(h) = if wet then -sqrt(h) else 0; end M;",
    ] {
        assert_end(model, "h", 0.0, 1e-4, 4.0);
    }
    // The outflow solves an equation. (With the equation among the integrator's own, rounding of h still decides.)
    let model = "model M Real h(start = 1, fixed = true), q(start = 1);
        equation q + 1e-3*q^3 = if h > 0 then sqrt(h) else 0; der(h) = -q; end M;";
    for solver in SOLVERS.into_iter().filter(|&solver| solver != "dae") {
        let settings = Settings { stop_time: Some(4.0), solver: Some(solver.to_owned()), ..Settings::default() };
        let h = run_with(model, settings).end("h");
        assert!(h.abs() <= 1e-4, "{solver}: {h}");
    }
}

#[test]
fn a_guarded_integrand_is_integrated_to_its_end() {
    assert_end(
        "model M Real x(start = 0, fixed = true), z(start = 0, fixed = true);
        equation der(x) = 1; der(z) = if x < 1 then sqrt(1 - x) else 0; end M;",
        "z",
        2.0 / 3.0,
        1e-4,
        2.0,
    );
    // Logarithms grow without bound towards their guard, behind one that uses them.
    let expected = 0.999 * 2f64.ln() - 0.999 - 0.001 * 0.001f64.ln() + 5.0 * 1.001;
    assert_end(
        "model M Real x(start = 0, fixed = true), z(start = 0, fixed = true), w;
        equation der(x) = 1; w = if x < 1 then log(2 - 2*x) else 0; der(z) = if x < 0.999 then w else 5; end M;",
        "z",
        expected,
        1e-4,
        2.0,
    );
}

/// What is not guarded where it becomes undefined stays an error.
#[test]
fn a_guard_that_comes_too_late_is_no_guard() {
    for solver in SOLVERS {
        let settings = Settings { stop_time: Some(2.0), solver: Some(solver.to_owned()), ..Settings::default() };
        let run = run_with(
            "model M Real x(start = 0, fixed = true), z(start = 0, fixed = true);
            equation der(x) = 1; der(z) = if x < 1 then sqrt(0.9 - x) else 0; end M;",
            settings,
        );
        assert!(run.said.contains("sqrt(-"), "{solver}: {}", run.said);
    }
}
