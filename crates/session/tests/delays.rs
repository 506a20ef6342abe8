//! Delays and transport (specification 3.7.4): where the operators stand, when jumps arrive, and flows that turn by themselves.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, assert_near, run_with};
use session::{Ending, Settings};

const SOLVERS: [&str; 5] = ["auto", "tsit5", "dop853", "bdf", "esdirk"];

fn complete(text: &str, solver: &str, stop: f64) -> Run {
    let settings = Settings { solver: Some(solver.to_owned()), stop_time: Some(stop), ..Settings::default() };
    let run = run_with(text, settings);
    assert_eq!(run.ending, Ending::Complete, "{solver}: {text}\n{}", run.said);
    run
}

#[test]
fn a_delay_remembers_wherever_it_stands() {
    // (equations, what must be at the end, at 1 s)
    let cases = [
        ("Boolean c = delay(time, 0.2) > 0.4; equation der(x) = if c then 1 else 0;", 0.4),
        ("equation der(x) = if delay(s, 0.3) > 0.4 then 1 else 0;", 0.3),
        ("equation der(x) = if abs(delay(s, 0.3) - 1) < 0.6 then 1 else 0;", 0.3),
        ("Real f = floor(10*delay(s, 0.3)); equation der(x) = f;", 2.1),
        ("equation der(x) = if mod(delay(s, 0.3), 0.4) > 0.2 then 1 else 0;", 0.3),
        (
            "Real at(start = 0, fixed = true); equation when delay(s, 0.3) > 0.4 then at = time; end when; der(x) = at;",
            0.21,
        ),
        (
            "discrete Real d(start = 0, fixed = true); equation when sample(0, 0.25) then d = delay(s, 0.2); end when; der(x) = d;",
            0.225,
        ),
        ("equation der(x) = if s > 0.5 then delay(s, 0.3) else 0;", 0.225),
    ];
    for (equations, expected) in cases {
        for solver in SOLVERS {
            let text = format!(
                "model M Real s(start = 0, fixed = true); Real x(start = 0, fixed = true); {equations} der(s) = 1; end M;"
            );
            let finished = complete(&text, solver, 1.0);
            assert_near(finished.result.last("x").unwrap(), expected, 1e-5);
        }
    }
}

#[test]
fn a_delayed_condition_joins_flywheels() {
    let result = complete(
        "model M Real w1(start = 6, fixed = true), w2(start = 0, fixed = true), t, x(start = 0, fixed = true);
          Boolean c = delay(time, 0.2) > 0.4;
        equation der(w1) = -t; 2*der(w2) = t; der(x) = w2; if c then w1 = w2; else t = 0; end if; end M;",
        "auto",
        1.0,
    )
    .result;
    assert_near(result.last("w1").unwrap(), 2.0, 1e-9);
    assert_near(result.last("x").unwrap(), 0.8, 1e-6);
}

#[test]
fn jumps_that_arrive_beside_kinks_are_not_stepped_over() {
    // A saw tooth that is set back: through the delay it falls at 0.4, 0.7, …, and bends a rounding error beside that.
    for solver in SOLVERS {
        let finished = complete(
            "model M Real x(start = 0, fixed = true), w(start = 0, fixed = true);
            equation der(x) = 1; when x > 0.3 then reinit(x, 0); end when; der(w) = delay(x, 0.1); end M;",
            solver,
            10.0,
        );
        assert_near(finished.result.last("w").unwrap(), 33.0 * 0.045, 5e-5);
    }
}

#[test]
fn what_entered_leaves_again_when_the_flow_turns() {
    // From π on, what entered at the second end from π/2 to π comes back: what leaves at t entered at 2π − t.
    for solver in SOLVERS {
        for (inflow, function) in
            [("10 + time", (|t| 10.0 + t) as fn(f64) -> f64), ("sin(5*time)", |t| (5.0 * t).sin())]
        {
            let text = format!(
                "model M Real a, b, x(start = 0, fixed = true), v;
                equation v = sin(2*time); der(x) = v;
                  (a, b) = spatialDistribution(time, {inflow}, x, v >= 0, {{0, 0.3, 1}}, {{0, 3, 10}}); end M;"
            );
            let result = complete(&text, solver, 4.0).result;
            for time in [3.3, 3.5, 3.7, 3.9] {
                let expected = function(2.0 * std::f64::consts::PI - time);
                assert_near(result.at("b", time).unwrap(), expected, 1e-3);
            }
        }
    }
}

/// A delay that varies passes jumps at times that nobody knows in advance. The integral of what arrives is the time during
/// which the pulse is up at the instant that the delay looks at.
#[test]
fn a_step_ends_before_a_jump_that_arrives_through_a_delay() {
    let model = "model Pulses
        Real u = if mod(time, 0.3) < 0.1 then 1 else 0;
        Real y = delay(u, 0.32*(1 + 0.5*sin(5*time)), 0.49);
        Real z(start = 0, fixed = true);
      equation
        der(z) = y;
      end Pulses;";
    const POINTS: u32 = 4_000_000;
    let is_up = |k: &u32| {
        let time = 2.0 * (f64::from(*k) + 0.5) / f64::from(POINTS);
        (time - 0.32 * (1.0 + 0.5 * (5.0 * time).sin())).max(0.0).rem_euclid(0.3) < 0.1
    };
    let expected = 2.0 * (0..POINTS).filter(is_up).count() as f64 / f64::from(POINTS);
    for solver in ["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"] {
        let settings = Settings {
            stop_time: Some(2.0),
            intervals: Some(200),
            tolerance: Some(1e-6),
            solver: Some(solver.to_owned()),
            ..Settings::default()
        };
        let z = run_with(model, settings).end("z");
        assert!((z - expected).abs() < 1e-5, "{solver}: {z} instead of {expected}");
    }
}

/// A jump that leaves a transport is an event: a pulse of any width leaves as long as it entered, whatever the output points are.
#[test]
fn a_pulse_leaves_a_transport_whole() {
    let straight = "model Straight
        Real u = if time > 0.5 and time < 0.51 then 1 else 0;
        Real a, b, z(start = 0, fixed = true);
      equation
        (a, b) = spatialDistribution(u, 0, time, true, {0.0, 1.0}, {0, 0});
        der(z) = b;
      end Straight;";
    // The flow is symmetric about π: what enters in the first 0.1 s leaves where it came from in the last ones before 2π.
    let back = "model Back
        Real x = 0.4*(1 - cos(time)), v = 0.4*sin(time);
        Real u = if time < 0.1 then 1 else 0;
        Real a, b, z(start = 0, fixed = true);
      equation
        (a, b) = spatialDistribution(u, 0, x, v >= 0, {0.0, 1.0}, {0, 0});
        der(z) = if v < 0 then a else 0;
      end Back;";
    for (model, stop, expected) in [(straight, 3.0, 0.01), (back, 6.5, 0.1)] {
        for solver in ["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"] {
            for intervals in [10, 37, 500] {
                let settings = Settings {
                    stop_time: Some(stop),
                    intervals: Some(intervals),
                    solver: Some(solver.to_owned()),
                    ..Settings::default()
                };
                let z = run_with(model, settings).end("z");
                assert!((z - expected).abs() < 1e-5, "{solver}, {intervals}: {z} instead of {expected}");
            }
        }
    }
}

/// Conditions on what leaves change where the jump does.
#[test]
fn a_jump_that_leaves_a_transport_switches() {
    let model = "model Switch
        Real u = if time > 0.5 and time < 0.51 then 1 else 0;
        Real a, b, at(start = 0, fixed = true);
        Integer n(start = 0, fixed = true);
      equation
        (a, b) = spatialDistribution(u, 0, time, true, {0.0, 1.0}, {0, 0});
        when b > 0.5 then n = pre(n) + 1; at = time; end when;
      end Switch;";
    for intervals in [1, 10, 500] {
        let settings = Settings { stop_time: Some(3.0), intervals: Some(intervals), ..Settings::default() };
        let run = run_with(model, settings);
        assert_eq!(run.end("n"), 1.0);
        assert_near(run.end("at"), 1.5, 1e-9);
    }
}

/// Before the start the past is constant, so its derivative is zero: what is integrated is the delayed signal itself.
#[test]
fn the_derivative_of_a_delay_begins_at_zero() {
    // The delayed signal, and the constraint through which it is differentiated.
    let cases = [
        ("delay(sin(time), 0.5)", "v = der(x)"),
        ("delay(u, 0.5)", "v = der(x)"),
        ("delay(time, 0.5 + 0.2*sin(time), 1)", "v = der(x)"),
        ("delay(u, 0.3) + delay(sin(2*time), 0.7 - 0.1*time, 1)", "v = der(x)"),
        ("delay(sin(time), 0.5)", "w = x; v = der(w)"),
    ];
    for (signal, equation) in cases {
        for solver in SOLVERS {
            let text = format!(
                "model M
                   Real u(start = 1, fixed = true), x, w, v, z;
                 initial equation
                   z = x;
                 equation
                   der(u) = -u;
                   x = {signal};
                   {}
                   {equation};
                   der(z) = v;
                 end M;",
                if equation.starts_with('w') { "" } else { "w = 0;" }
            );
            let finished = complete(&text, solver, 2.0);
            for time in [0.1, 0.29, 0.45, 0.8, 2.0] {
                assert_near(finished.at("z", time), finished.at("x", time), 3e-5);
            }
            assert_eq!(finished.at("v", 0.0), 0.0, "{solver}: {text}");
        }
    }
}

/// What is delayed has to be differentiated with the equation that holds it, also where nothing else asks for its derivative.
#[test]
fn the_derivative_of_a_delayed_algebraic_variable() {
    let root = |right: f64| (0..50).fold(1.0, |u: f64, _| u - (u + u * u * u - right) / (1.0 + 3.0 * u * u));
    let cases = [
        ("Real u = time^3; Real y = delay(u, 0.5);", 1.5f64.powi(3)),
        ("Real u = time^3; Real w = delay(u, 0.5); Real y = delay(w, 0.25);", 1.25f64.powi(3)),
        ("Real u; Real y = delay(u, 0.5); equation u + u^3 = time;", root(1.5)),
        ("Real u = sin(v); Real v = time^2; Real y = delay(u + v, 0.5);", 1.5f64.powi(2).sin() + 1.5f64.powi(2)),
    ];
    for (text, expected) in cases {
        let text = text.strip_suffix(';').unwrap();
        let text = if text.contains("equation") { text.to_owned() } else { format!("{text}; equation") };
        let text = text.replace("time", "s") + "; der(z) = der(y);";
        let (declared, equations) = text.split_once("equation").unwrap();
        let equations = equations.trim_start_matches(';');
        let model =
            format!("model M Real s = time; Real z(start = 0, fixed = true); {declared} equation {equations} end M;");
        for solver in SOLVERS {
            let run = complete(&model, solver, 2.0);
            assert_near(run.at("z", 2.0), expected, 2e-4);
        }
    }
}
