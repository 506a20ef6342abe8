//! What begins small: it grows as much as it does, whoever gave a nominal value, and what decays is not followed to nothing.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, run_with};
use session::{Ending, Settings};

const ADAPTIVE: [&str; 7] = ["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"];

fn settings(solver: &str, stop: f64, tolerance: f64) -> Settings {
    Settings {
        solver: Some(solver.to_owned()),
        stop_time: Some(stop),
        tolerance: Some(tolerance),
        ..Settings::default()
    }
}

#[test]
fn growth_from_a_small_start_value() {
    let text = "model M Real x(start = 1e-9, fixed = true); equation der(x) = 30*x; end M;";
    let expected = 1e-9 * 30f64.exp();
    for solver in ADAPTIVE {
        for tolerance in [1e-4, 1e-6, 1e-8] {
            let end = run_with(text, settings(solver, 1.0, tolerance)).result.last("x").unwrap();
            assert_near(end / expected, 1.0, 1e3 * tolerance);
        }
    }
}

#[test]
fn a_logistic_curve_ignites_in_time() {
    let text = "model M Real x(start = 1e-9, fixed = true); Real t(start = 0, fixed = true);
        equation der(x) = 3*x*(1 - x); when x > 0.5 then t = time; end when; end M;";
    for solver in ADAPTIVE {
        let run = run_with(text, settings(solver, 8.9, 1e-6));
        assert_near(run.result.last("t").unwrap(), (1e9f64 - 1.0).ln() / 3.0, 1e-4);
    }
}

#[test]
fn an_intermediate_that_begins_at_zero() {
    // b and c make each other, at the same rate: b + c grows like e^(10 t), b - c decays.
    let text = "model M Real a(start = 1, fixed = true), b(start = 1e-8, fixed = true), c(start = 0, fixed = true);
        equation der(a) = 0; der(b) = 10*a*c; der(c) = 10*a*b; end M;";
    let expected = 0.5e-8 * (20f64.exp() + (-20f64).exp());
    for solver in ADAPTIVE {
        let end = run_with(text, settings(solver, 2.0, 1e-6)).result.last("b").unwrap();
        assert_near(end / expected, 1.0, 1e-3);
    }
}

/// Small or not at the start, behind an event that sets it, or in the mode after one.
#[test]
fn growth_behind_an_event() {
    let text = "model M Real x(start = 1, fixed = true); Boolean late = time >= 1;
        equation der(x) = if late then 20*x else -x;
        when late then reinit(x, 1e-7); end when; end M;";
    for solver in ADAPTIVE {
        let end = run_with(text, settings(solver, 2.0, 1e-6)).result.last("x").unwrap();
        assert_near(end / (1e-7 * 20f64.exp()), 1.0, 1e-3);
    }
}

/// A small value that only decays, or that rounding makes, costs a few steps more, no longer run.
#[test]
fn decay_and_rounding_are_not_followed() {
    let steps = |text: &str, solver: &str| {
        let run = run_with(text, settings(solver, 10.0, 1e-6));
        assert_eq!(run.ending, Ending::Complete, "{}", run.said);
        run.statistics.steps
    };
    let decay = |start: f64| format!("model M Real x(start = {start:e}, fixed = true); equation der(x) = -5*x; end M;");
    let balance = |start: f64| {
        format!(
            "model M Real x(start = 1, fixed = true), v(start = {start:e}, fixed = true);
             equation der(x) = v; der(v) = (x/3 + x/3 + x/3) - 1 - 3*v - (x - 1); end M;"
        )
    };
    for solver in ["auto", "bdf", "esdirk", "dae"] {
        let (small, large) = (steps(&decay(1e-9), solver), steps(&decay(1.0), solver));
        assert!(small <= 2 * large + 30, "{solver}: {small} {large}");
        let (noise, rest) = (steps(&balance(1e-17), solver), steps(&balance(0.0), solver));
        assert!(noise <= rest + 100, "{solver}: {noise} {rest}");
    }
}

/// States at zero that a small source, another small state, a force or a pulse sets going.
#[test]
fn growth_from_zero() {
    let driven = "model M Real x(start = 0, fixed = true); equation der(x) = 30*x + 3e-8; end M;";
    let pushed = "model M Real x(start = 0, fixed = true), v(start = 0, fixed = true);
        equation der(x) = v; der(v) = 900*x + 9e-7; end M;";
    let pulse = "model M Real x(start = 0, fixed = true);
        equation der(x) = 40*x + (if time > 0.25 and time < 0.5 then 4e-8 else 0); end M;";
    let cases = [
        (driven, 1e-9 * 30f64.exp_m1()),
        (pushed, 1e-9 * (30f64.cosh() - 1.0)),
        (pulse, 1e-9 * (30f64.exp() - 20f64.exp())),
    ];
    for (text, expected) in cases {
        for solver in ADAPTIVE {
            let end = run_with(text, settings(solver, 1.0, 1e-6)).result.last("x").unwrap();
            assert_near(end / expected, 1.0, 1e-3);
        }
    }
}

/// What has fallen by thirteen orders of magnitude comes back from what was left of it.
#[test]
fn troughs() {
    let text = "model M Real x(start = 1, fixed = true);
        equation der(x) = (if time < 1 then -30 else 30)*x; end M;";
    for solver in ADAPTIVE {
        let end = run_with(text, settings(solver, 2.0, 1e-6)).result.last("x").unwrap();
        assert_near(end, 1.0, 1e-3);
    }
}

/// An oscillator that begins with what rounding left of a zero, and that rounding goes on to shake, is not followed.
#[test]
fn what_rounding_leaves_at_the_start_is_no_seed() {
    let text = |start: f64| {
        format!(
            "model M Real x(start = 1, fixed = true), v(start = 0, fixed = true);
             Real y(start = {start:e}, fixed = true), w(start = 0, fixed = true);
             equation der(x) = v; der(v) = -x; der(y) = w; der(w) = -y + (sin(x)^2 + cos(x)^2 - 1); end M;"
        )
    };
    for solver in ["auto", "bdf", "esdirk"] {
        let steps = |start: f64| run_with(&text(start), settings(solver, 3.0, 1e-6)).statistics.steps;
        let (noise, rest) = (steps(6e-18), steps(0.0));
        assert!(noise <= 2 * rest + 20, "{solver}: {noise} {rest}");
    }
}

/// Robertson's kinetics: the first substance falls by seven orders, and the smallest error below zero would run away. The values
/// are published ones (Hindmarsh and Serban, examples of CVODE), to four digits.
#[test]
fn robertson_over_ten_decades_without_nominal_values() {
    let rates = "der(y1) = -0.04*y1 + 1e4*y2*y3; der(y2) = 0.04*y1 - 1e4*y2*y3 - 3e7*y2^2;";
    let start = "Real y1(start = 1, fixed = true), y2(start = 0, fixed = true)";
    let models = [
        format!("model M {start}, y3(start = 0, fixed = true); equation {rates} der(y3) = 3e7*y2^2; end M;"),
        format!("model M {start}, y3; equation {rates} y1 + y2 + y3 = 1; end M;"),
    ];
    for model in &models {
        for solver in ["auto", "esdirk", "bdf", "dae"] {
            for (stop, expected) in [(4e5, 4.9383e-3), (4e9, 5.2083e-7), (4e10, 5.2083e-8)] {
                let end = run_with(model, settings(solver, stop, 1e-6)).result.last("y1").unwrap();
                assert_near(end / expected, 1.0, 1e-2);
            }
        }
    }
}

/// With rough tolerances the same is refused, or it does not run away.
#[test]
fn what_is_lost_in_its_error_does_not_grow_again() {
    let text = "model M Real y1(start = 1, fixed = true), y2(start = 0, fixed = true), y3(start = 0, fixed = true);
        equation der(y1) = -0.04*y1 + 1e4*y2*y3; der(y2) = 0.04*y1 - 1e4*y2*y3 - 3e7*y2^2; der(y3) = 3e7*y2^2; end M;";
    let mut lost = 0;
    for solver in ["auto", "esdirk", "bdf", "dae"] {
        for tolerance in [1e-3, 1e-4] {
            let run = run_with(text, settings(solver, 4e9, tolerance));
            match run.ending {
                Ending::Failed { diagnostic, .. } => lost += u32::from(diagnostic.code == "lost-in-error"),
                _ => assert_near(run.result.last("y1").unwrap(), 5.2083e-7, tolerance),
            }
        }
    }
    assert!(lost > 0);
}

/// Nominal values may follow from parameters: an oscillation of 1e-9 with a hard spring, as if it were one of 1.
#[test]
fn nominal_values_follow_from_parameters() {
    let model = |size: &str, nominal: &str| {
        format!(
            "model M
  parameter Real p = {size};
  parameter Real q = p;
  Real x(start = 0, fixed = true, nominal = {nominal}), v(start = p, fixed = true, nominal = {nominal});
equation
  der(x) = v;
  der(v) = -x*(1 + 3*(x/p)^2);
end M;"
        )
    };
    let large = common::complete(&model("1", "1"), 10.0, 1e-9).end("x");
    for nominal in ["p", "q", "2*p - 1e-9", "abs(q)", "sqrt(q^2)"] {
        let small = common::complete(&model("1e-9", nominal), 10.0, 1e-9).end("x");
        assert!((small / 1e-9 - large).abs() < 1e-5, "{nominal}: {small}");
    }
}

/// A grid whose voltages add up to zero, but for rounding, drives the zero sequence of a machine that is at rest, beside a mode that
/// grows from a small start. The current that should be zero is no seed: to follow its noise takes steps without end.
#[test]
fn noise_of_sources_is_not_followed() {
    let text = "model M
          constant Real third = 2*Modelica_pi/3;
          constant Real Modelica_pi = 3.141592653589793;
          Real zero(start = 0, fixed = true), x(start = 1e-6, fixed = true);
          Real v[3] = {325*sin(314*time + 0.1 - third*k) for k in 0:2};
        equation
          3e-4*der(zero) + 0.05*zero = sum(v)/3 + 1e-14*x;
          der(x) = 5*x + 1e-14*zero;
        end M;";
    for solver in ["auto", "bdf"] {
        let run = run_with(text, settings(solver, 1.0, 1e-6));
        assert_eq!(run.ending, Ending::Complete, "{solver}");
        assert_near(run.result.last("x").unwrap(), 1e-6 * 5f64.exp(), 1e-9);
        assert!(run.statistics.steps < 5000, "{solver}: {} steps", run.statistics.steps);
    }
}
