//! Simultaneous equations: solutions of any size are exact, weak couplings are no pivots, and what has no solution is refused.
#![allow(clippy::unwrap_used)]

mod common;

use common::simulate;

fn is_near(value: f64, expected: f64, relative: f64) -> bool {
    (value - expected).abs() <= relative * expected.abs()
}

/// `y³ + y = 2 + sin(time)` for y = x·factor, whose solution is 1 at the start.
#[test]
fn unknowns_of_any_size_are_solved_for() {
    for factor in ["1e-20", "1e-6", "1", "1e12", "1e30"] {
        let text = format!(
            "model M
  Real x; Real y = x*{factor};
equation
  (x*{factor})^3 + x*{factor} = 2 + sin(time);
end M;"
        );
        let result = simulate(&text, 1.0);
        for (time, y) in result.time.iter().zip(&result.get("y").unwrap().values) {
            let off = y.powi(3) + y - (2.0 + time.sin());
            assert!(off.abs() < 1e-8, "off by {off} at {time} with {factor}");
        }
    }
}

#[test]
fn a_solution_that_is_zero_is_found() {
    let text = "
model M
  Real x(start = 1), y(start = 2);
equation
  x + x^3 + y = sin(time) - sin(time);
  y + sinh(y) - 0.3*x = 0;
end M;";
    let result = simulate(text, 1.0);
    assert!(result.get("x").unwrap().values.iter().all(|x| x.abs() < 1e-12));
    assert!(result.get("y").unwrap().values.iter().all(|y| y.abs() < 1e-12));
}

/// What follows from an iteration variable by a large factor is as exact as the variable.
#[test]
fn what_amplifies_a_guess_is_exact_too() {
    let text = "
model M
  Real x, y;
equation
  y = 1e6*(x - 1);
  x^3 + 1e-3*y = 1 + 1e-3*(1 + sin(time)) + 3e-6*(1 + sin(time)) + 3e-12*(1 + sin(time))^2 + 1e-18*(1 + sin(time))^3;
end M;";
    let result = simulate(text, 1.0);
    for (time, y) in result.time.iter().zip(&result.get("y").unwrap().values) {
        assert!(is_near(*y, 1.0 + time.sin(), 1e-7), "{y} at {time}");
    }
}

/// Each equation determines its own unknown; the other coefficient is no pivot, whoever wrote it.
#[test]
fn weak_couplings_are_not_divided_by() {
    let linear = "
  4*x + 1e-13*y = 4 + 2e-13;
  1e-13*x + 5*y = 1e-13 + 10;";
    let nonlinear = "
  4*x + 1e-14*y + 0.5*sin(x) = 4 + 2e-14 + 0.5*sin(1);
  1e-14*x + 5*y + 0.5*sin(y) = 1e-14 + 10 + 0.5*sin(2);";
    let parameters = "
  4*x + g*y + 0.5*sin(x) = 4 + 2*g + 0.5*sin(1);
  g*x + 5*y + 0.5*sin(y) = g + 10 + 0.5*sin(2);";
    let scaled = "
  4e6*x + 1e-9*y = 4e6 + 2e-9;
  1e-20*x + 5e-6*y = 1e-20 + 10e-6;";
    for equations in [linear, nonlinear, parameters, scaled] {
        let text = format!("model M\n  parameter Real g = 1e-14;\n  Real x, y;\nequation{equations}\nend M;");
        let result = simulate(&text, 1.0);
        let (x, y) = (result.last("x").unwrap(), result.last("y").unwrap());
        assert!(is_near(x, 1.0, 1e-10) && is_near(y, 2.0, 1e-10), "{x} and {y} of {equations}");
    }
}

/// Two circuits with diodes that a leak joins: where the second source is zero, its diode is, too.
#[test]
fn a_leak_between_two_circuits() {
    let text = "
model M
  Real v1, v2, i1, i2, leak;
equation
  i1 = (5*sin(2*time) - v1)/100;
  i2 = (3*sin(3*time) - v2)/200;
  i1 - leak = 1e-12*(exp(v1/0.04) - 1) + v1/1e12;
  i2 + leak = 1e-12*(exp(v2/0.04) - 1) + v2/1e12;
  leak = 1e-13*(v1 - v2);
end M;";
    let result = simulate(text, 1.0);
    for (row, time) in result.time.iter().enumerate() {
        let at = |name: &str| result.get(name).unwrap().values[row];
        let (v2, leak) = (at("v2"), 1e-13 * (at("v1") - at("v2")));
        let off = (3.0 * (3.0 * time).sin() - v2) / 200.0 + leak - 1e-12 * ((v2 / 0.04).exp() - 1.0) - v2 / 1e12;
        assert!(off.abs() < 1e-11, "off by {off} at {time}");
    }
}

/// An exponential is not inverted on the way from guesses: its logarithm has no value, or no digits.
#[test]
fn a_blocking_diode_in_a_balance() {
    let text = "
model M
  Real v, f1, f2;
equation
  f1 = 6e-10*(v/1e-8);
  f2 = 1.5e-22*(exp(v/2.9e-9) - 1);
  f1 + f2 = -1.2e-9 + 1e-10*sin(time);
end M;";
    let result = simulate(text, 1.0);
    for (time, v) in result.time.iter().zip(&result.get("v").unwrap().values) {
        assert!(is_near(*v, (-1.2e-9 + 1e-10 * time.sin()) / 0.06, 1e-9), "{v} at {time}");
    }
}

/// Branches that do not hold where others do: the parabola turns back, and frozen configurations lead from one to the other.
#[test]
fn branches_are_taken_together_where_none_leads_to_the_others() {
    let text = "
model M
  Real x1, x2, x3, x4;
equation
  12*x1 - 11*x3 - x4 = -9;
  10*(if x2 > 0.5 then 10*(x2 - 0.5) + 0.1 else 0.2*x2) + 0.11*x2 - 0.1*x3 = 3;
  13*x3 - 11*x1 - 0.1*x2 - x4 = 9;
  0.01*(if x4 > 0.5 then 0.5 + 2*(x4 - 0.5) + (x4 - 0.5)^2 else x4) + 2.1*x4 - x1 - x3 = 2;
end M;";
    let result = simulate(text, 1.0);
    let [x1, x2, x3, x4] = ["x1", "x2", "x3", "x4"].map(|name| result.last(name).unwrap());
    assert!(x2 > 0.5 && x4 > 0.5);
    for off in [
        12.0 * x1 - 11.0 * x3 - x4 + 9.0,
        10.0 * (10.0 * (x2 - 0.5) + 0.1) + 0.11 * x2 - 0.1 * x3 - 3.0,
        13.0 * x3 - 11.0 * x1 - 0.1 * x2 - x4 - 9.0,
        0.01 * (0.5 + 2.0 * (x4 - 0.5) + (x4 - 0.5).powi(2)) + 2.1 * x4 - x1 - x3 - 2.0,
    ] {
        assert!(off.abs() < 1e-9, "{off}");
    }
}

/// A logarithm ends where its branch does not hold, and the source jumps to the other side.
#[test]
fn a_branch_that_ends_is_left() {
    let text = "
model M
  Real x(start = -3), y;
equation
  0.1*(if x > 1 then 1 + log(x) elseif x < -1 then -1 - log(-x) else x) + 1.1*x - y = if time < 0.5 then -5 else 7;
  2*y + y^3 - x = 0;
end M;";
    let result = simulate(text, 1.0);
    for (time, source) in [(0.25, -5.0), (0.75, 7.0)] {
        let (x, y) = (result.at("x", time).unwrap(), result.at("y", time).unwrap());
        let branch = if x > 1.0 { 1.0 + x.ln() } else { -1.0 - (-x).ln() };
        assert!(x.signum() == f64::signum(source) && (2.0 * y + y.powi(3) - x).abs() < 1e-8, "{x} {y}");
        assert!((0.1 * branch + 1.1 * x - y - source).abs() < 1e-8, "{x} {y}");
    }
}

/// What a torn form computes from its guesses overflows, though the guesses do not; its Jacobian may be singular there.
#[test]
fn monotone_systems_are_solved_whatever_was_torn() {
    let text = "
model M
  Real x1, x2, x3, x4, x5;
equation
  0.1*sinh(3*x1) + 11*x1 - 0.01*x2 - 0.01*x5 = -1;
  1e-4*x2*abs(x2) + 0.012*x2 - 0.001*x5 = 0.001;
  0.0011*x3 - 1e-4*x4 - 0.001*x5 = -1;
  -10*x1 - 1e-4*x3 + 12*x4 - x5 = 0.001;
  10*atan(100*x5) - 0.001*x2 - x4 + 1.02*x5 = 0;
end M;";
    let result = simulate(text, 1.0);
    let [x1, x2, x3, x4, x5] = ["x1", "x2", "x3", "x4", "x5"].map(|name| result.last(name).unwrap());
    for off in [
        0.1 * (3.0 * x1).sinh() + 11.0 * x1 - 0.01 * x2 - 0.01 * x5 + 1.0,
        1e-4 * x2 * x2.abs() + 0.012 * x2 - 0.001 * x5 - 0.001,
        0.0011 * x3 - 1e-4 * x4 - 0.001 * x5 + 1.0,
        -10.0 * x1 - 1e-4 * x3 + 12.0 * x4 - x5 - 0.001,
        10.0 * (100.0 * x5).atan() - 0.001 * x2 - x4 + 1.02 * x5,
    ] {
        assert!(off.abs() < 1e-9, "{off}");
    }
}

/// Noise beside large unknowns, where a function is flat, is an error beside small ones, where it is steep.
#[test]
fn noise_of_a_flat_place_ends_no_iteration_at_a_steep_one() {
    let text = "
model M
  Real x1, x2;
equation
  atan(100*x1) + 100.000001*x1 - 100*x2 = 0.001 + 5*sin(14.86*time);
  1e-6*(if x2 > 0.5 then 10*(x2 - 0.5) + 0.1 else 0.2*x2) - 100*x1 + 100.000001*x2 = 0.001 + 5*sin(10.33*time);
end M;";
    let result = simulate(text, 1.0);
    for (place, time) in result.time.iter().enumerate() {
        let [x1, x2] = ["x1", "x2"].map(|name| result.get(name).unwrap().values[place]);
        let off = (100.0 * x1).atan() + 100.000001 * x1 - 100.0 * x2 - (0.001 + 5.0 * (14.86 * time).sin());
        assert!(off.abs() < 1e-9 * (1.0 + 100.0 * x1.abs()), "off by {off} at {time}: {x1} {x2}");
    }
}

/// At the double root of r·|r| = u the solution moves infinitely fast with u: that is no reason to stop, since the
/// matrix of an implicit method only has to lead to the solution. x = (cos t + 1e-3 sin t)/(1 + 1e-6) + c exp(−1000 t).
#[test]
fn an_implicit_method_passes_a_vertical_slope() {
    let text = "
model M
  function f
    input Real r;
    output Real u;
  algorithm
    u := if r >= 0 then r^2 else -r^2;
  end f;
  Real x(start = 1, fixed = true);
  Real z(start = 0, fixed = true);
  Real r(start = 0);
equation
  der(z) = -z;
  f(r) = z;
  der(x) = -1000*(x - cos(time)) + r;
end M;";
    for solver in ["auto", "bdf", "esdirk", "rosenbrock"] {
        let settings =
            session::Settings { stop_time: Some(1.0), solver: Some(solver.to_owned()), ..session::Settings::default() };
        let run = common::run_with(text, settings);
        assert_eq!(run.ending, session::Ending::Complete, "{solver}: {}", run.said);
        let expected = |t: f64| (t.cos() + 1e-3 * t.sin()) / (1.0 + 1e-6);
        run.assert_follows("x", &[0.1, 0.5, 1.0], expected, 1e-5);
        assert!(run.end("r").abs() < 1e-6, "{solver}: {}", run.end("r"));
    }
}
