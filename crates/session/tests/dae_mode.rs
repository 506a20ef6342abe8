//! Large simultaneous systems: solved whole where tearing is too much work or where errors of guesses grow, and given to the
//! integrator with `--solver dae`.

mod common;

use common::{Run, run_with};
use session::{Ending, Settings};

/// A ladder of resistors and diodes; every fiftieth node has a capacitor, the others are simultaneous.
const DIODES: &str = "model Diodes
  parameter Integer n = 100;
  Real v[n](each start = 0);
  Real i[n + 1];
  Real u = 2*sin(20*time);
equation
  for k in 1:n loop
    if mod(k, 50) == 0 then
      1e-3*der(v[k]) = i[k] - i[k + 1];
    else
      0 = i[k] - i[k + 1] - 1e-6*(exp(v[k]/0.1) - 1) - 1e-4*v[k];
    end if;
  end for;
  u - v[1] = 0.1*i[1];
  for k in 2:n loop
    v[k - 1] - v[k] = 0.1*i[k];
  end for;
  i[n + 1] = 0;
end Diodes;";

/// A run with a tolerance; it must be complete.
fn solved(text: &str, stop_time: f64, tolerance: f64, solver: &str) -> Run {
    let settings = Settings {
        stop_time: Some(stop_time),
        tolerance: Some(tolerance),
        solver: Some(solver.to_owned()),
        ..Settings::default()
    };
    let run = run_with(text, settings);
    assert_eq!(run.ending, Ending::Complete, "{}", run.said);
    run
}

/// Two capacitors and a resistor with a cubic part: what one loses the other gets.
#[test]
fn algebraic_unknowns_of_the_integrator_fulfil_their_equations() {
    let text = "model Exchange
      Real a(start = 3, fixed = true), b(start = 1, fixed = true), i(start = 1);
    equation
      der(a) = -i;
      2*der(b) = i;
      a - b = i + i^3;
    end Exchange;";
    let run = solved(text, 2.0, 1e-9, "dae");
    for time in [0.0, 0.5, 1.0, 2.0] {
        let at = |name: &str| run.at(name, time);
        let (a, b, i) = (at("a"), at("b"), at("i"));
        assert!((a + 2.0 * b - 5.0).abs() < 1e-8, "{time}: {a} {b}");
        assert!((a - b - i - i.powi(3)).abs() < 1e-9, "{time}: {i}");
    }
    // d = a − b = i + i³ obeys d' = −1.5 i, so t = ∫ (1 + 3 i²)/(1.5 i) di from i(t) to 1: ln(1/i) + 1.5 (1 − i²) = 1.5 t.
    let i = run.at("i", 2.0);
    assert!(((1.0 / i).ln() + 1.5 * (1.0 - i * i) - 3.0).abs() < 1e-6, "{i}");
}

#[test]
fn a_chain_of_diodes_does_not_overflow() {
    let reference = solved(DIODES, 0.2, 1e-7, "esdirk");
    for solver in ["bdf", "dae", "auto"] {
        let run = solved(DIODES, 0.2, 1e-7, solver);
        for name in ["v[1]", "v[50]", "i[1]", "i[60]"] {
            for time in [0.05, 0.1, 0.15, 0.2] {
                let (found, expected) = (run.at(name, time), reference.at(name, time));
                assert!((found - expected).abs() < 2e-5, "{solver}: {name} at {time}: {found} and {expected}");
            }
        }
    }
}

/// The equation of the algebraic unknown changes at an event.
#[test]
fn events_find_consistent_algebraic_unknowns() {
    let text = "model Switched
      Real x(start = 1, fixed = true), y(start = 0.5), s(start = 0, fixed = true);
      Boolean low = x < 0.5;
    equation
      der(x) = -y;
      y + y^3 = (if low then 0.5 else 2)*x;
      der(s) = if low then 1 else 0;
    end Switched;";
    let (dae, ode) = (solved(text, 3.0, 1e-8, "dae"), solved(text, 3.0, 1e-8, "auto"));
    for name in ["x", "y", "s"] {
        let (dae, ode) = (dae.end(name), ode.end(name));
        assert!((dae - ode).abs() < 1e-6, "{name}: {dae} and {ode}");
    }
}

/// Moving states back to their constraints is no event: the order stays, and the error follows the tolerance.
#[test]
fn projection_keeps_the_order() {
    let text = "model M
        Real x(start = -0.932, fixed = true), y, vx(start = -2.435, fixed = true), vy, f;
      equation
        der(x) = vx;
        der(y) = vy;
        der(vx) = -f*1.48*x;
        der(vy) = f - 9.81;
        y = 0.74*x^2;
      end M;";
    let end = |solver: &str, tolerance: f64| {
        let settings = Settings {
            solver: Some(solver.to_owned()),
            tolerance: Some(tolerance),
            stop_time: Some(6.0),
            ..Settings::default()
        };
        common::run_by_projection_with(text, settings).at("x", 6.0)
    };
    let exact = end("dop853", 1e-12);
    for tolerance in [1e-6, 1e-8] {
        let error = (end("dae", tolerance) - exact).abs();
        assert!(error < 100.0 * tolerance, "{tolerance}: {error}");
    }
}
