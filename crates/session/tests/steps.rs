//! What lies between the points that an integrator chooses: pulses behind a rest, and the longest step.
#![allow(clippy::unwrap_used)]

mod common;

use common::{run_with, simulate_with};
use results::Trajectories;
use session::{Ending, Settings};

const ADAPTIVE: [&str; 7] = ["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"];

fn end(result: &Trajectories, name: &str) -> f64 {
    let variable = result.variables.iter().find(|variable| variable.column.name == name).unwrap();
    *variable.values.last().unwrap()
}

/// The area of the bell is 0.3·√π; before it everything is at rest, behind an event or from the start.
fn bell(condition: &str) -> String {
    format!(
        "model Bell
           Real x(start = 0, fixed = true), z;
         equation
           z + 0.1*z^3 = if {condition} then exp(-((time - 50)/0.3)^2) else 0;
           der(x) = z + 0.1*z^3;
         end Bell;"
    )
}

#[test]
fn a_pulse_behind_a_rest_is_not_stepped_over() {
    let area = 0.3 * std::f64::consts::PI.sqrt();
    for solver in ADAPTIVE {
        for condition in ["true", "time > 40"] {
            let settings = Settings {
                stop_time: Some(100.0),
                intervals: Some(400),
                solver: Some(solver.to_owned()),
                ..Settings::default()
            };
            // What is written does not matter for what is looked at.
            let result = simulate_with(&bell(condition), &settings, &|name| name == "x");
            assert!((end(&result, "x") - area).abs() < 1e-4, "{solver} {condition}: {}", end(&result, "x"));
        }
    }
}

#[test]
fn a_longest_step_finds_what_is_narrower_than_the_output_intervals() {
    let text = "model Narrow
                  Real x(start = 0, fixed = true);
                equation
                  der(x) = exp(-((time - 0.61803)/1e-3)^2);
                end Narrow;";
    for solver in ADAPTIVE {
        let settings = Settings {
            intervals: Some(5),
            max_step: Some(5e-4),
            solver: Some(solver.to_owned()),
            ..Settings::default()
        };
        let result = simulate_with(text, &settings, &|_| true);
        assert!((end(&result, "x") - 1e-3 * std::f64::consts::PI.sqrt()).abs() < 1e-5, "{solver}");
    }
}

/// Neighbouring numbers are 1.2e-4 s apart at this time. Each bounce keeps 0.8² of the energy; a bounce that is noticed at
/// the next number is 1.2e-4*v deep, with v = 4.4, 3.5 and 2.8.
#[test]
fn events_are_found_where_time_is_coarse() {
    let model = "model Ball
        Real h(start = 1, fixed = true), v(start = 0, fixed = true);
        Integer n(start = 0, fixed = true);
      equation
        der(h) = v;
        der(v) = -9.81;
        when h < 0 then
          reinit(v, -0.8*pre(v));
          n = pre(n) + 1;
        end when;
      end Ball;";
    for intervals in [50, 200, 250, 500, 2000] {
        let settings = Settings {
            start_time: Some(1e12),
            stop_time: Some(1e12 + 2.0),
            intervals: Some(intervals),
            ..Settings::default()
        };
        let result = simulate_with(model, &settings, &|_| true);
        let energy = 9.81 * end(&result, "h") + 0.5 * end(&result, "v").powi(2);
        assert_eq!(end(&result, "n"), 3.0, "{intervals}");
        assert!((energy - 9.81 * 0.64f64.powi(3)).abs() < 9.81 * 1.2e-4 * (4.4 + 3.5 + 2.8), "{intervals}: {energy}");
    }
}

/// A ball comes to rest at √(2h/g)·(1 + e)/(1 − e) through infinitely many bounces: the run ends there with the reason, and
/// the ball does not fall through the floor.
#[test]
fn bounces_without_end_are_noticed() {
    for (e, g, h) in [(0.2f64, 1.0f64, 1.0f64), (0.3, 100.0, 0.01), (0.5, 9.81, 1.0), (0.8, 9.81, 10.0)] {
        for (condition, action) in [("h < 0", ""), ("h <= 0", "reinit(h, 0);"), ("h < 0 and v < 0", "reinit(h, 0);")] {
            let model = format!(
                "model Ball
                   Real h(start = {h}, fixed = true), v(start = 0, fixed = true);
                 equation
                   der(h) = v;
                   der(v) = -{g};
                   when {condition} then
                     reinit(v, -{e}*pre(v));
                     {action}
                   end when;
                 end Ball;"
            );
            let rest = (2.0 * h / g).sqrt() * (1.0 + e) / (1.0 - e);
            for solver in ADAPTIVE {
                let settings =
                    Settings { stop_time: Some(1.5 * rest), solver: Some(solver.to_owned()), ..Settings::default() };
                let run = run_with(&model, settings);
                let Ending::Failed { time, diagnostic } = &run.ending else { panic!("{solver}: {model}") };
                assert!(["event-accumulation", "chattering"].contains(&diagnostic.code), "{solver}: {diagnostic:?}");
                assert!((time / rest - 1.0).abs() < 3e-3, "{solver}: at {time} instead of {rest}\n{model}");
            }
        }
    }
}

/// A ball that sticks falls through the floor by rounding errors again and again.
#[test]
fn a_ball_that_is_set_on_the_floor_chatters() {
    let model = "model Ball
        Real h(start = 1, fixed = true), v(start = 0, fixed = true);
      equation
        der(h) = v;
        der(v) = -9.81;
        when h < 0 then
          reinit(v, 0);
          reinit(h, 0);
        end when;
      end Ball;";
    for solver in ADAPTIVE {
        let settings = Settings { stop_time: Some(2.0), solver: Some(solver.to_owned()), ..Settings::default() };
        let run = run_with(model, settings);
        let Ending::Failed { time, diagnostic } = &run.ending else { panic!("{solver}: {:?}", run.ending) };
        assert!(
            ["event-accumulation", "chattering", "endless-events"].contains(&diagnostic.code),
            "{solver}: {diagnostic:?}"
        );
        assert!((time - (2.0f64 / 9.81).sqrt()).abs() < 1e-2, "{solver}: {time}");
    }
}

/// At 1e12 s time is as coarse as the steps are: events do not swallow the step before them.
#[test]
fn fixed_steps_far_from_zero() {
    let text = "model M
        Real x(start = 0, fixed = true);
        Integer k(start = 0, fixed = true);
      equation
        der(x) = 1;
        when sample(1e12, 0.25) then
          k = pre(k) + 1;
        end when;
      end M;";
    for solver in ["euler", "rk4", "implicit-euler", "linearly-implicit-euler"] {
        let settings = Settings {
            start_time: Some(1e12),
            stop_time: Some(1e12 + 1.0),
            solver: Some(solver.to_owned()),
            ..Settings::default()
        };
        let result = simulate_with(text, &settings, &|_| true);
        assert_eq!((end(&result, "x"), end(&result, "k")), (1.0, 5.0), "{solver}");
    }
}

/// `sign` makes no events where it stands in a slope: a solution that stays where it switches is followed by steps that are
/// short, but not without end, or refused.
#[test]
fn a_sliding_mode_without_events_is_followed_or_refused() {
    let text = "model M
        Real x(start = 1, fixed = true), y(start = 0, fixed = true);
      equation
        der(x) = 0.3 - sign(x);
        der(y) = sign(x);
      end M;";
    for solver in ADAPTIVE {
        let settings = Settings { stop_time: Some(3.0), solver: Some(solver.to_owned()), ..Settings::default() };
        let run = run_with(text, settings);
        match run.ending {
            Ending::Complete => assert!((run.at("y", 3.0) - 1.9).abs() < 1e-3, "{solver}"),
            _ => assert!(run.said.contains("sliding-mode") && run.said.contains("`der("), "{solver}: {}", run.said),
        }
    }
    // A fast oscillation is no such thing.
    let text = "model M
        Real x(start = 1, fixed = true), v(start = 0, fixed = true);
      equation
        der(x) = 1e5*v;
        der(v) = -1e5*x;
      end M;";
    let settings = Settings {
        stop_time: Some(0.05),
        intervals: Some(1),
        solver: Some("auto".to_owned()),
        tolerance: Some(1e-3),
        ..Settings::default()
    };
    assert_eq!(run_with(text, settings).ending, Ending::Complete);
}

/// The value of 1/(1 + exp(u)) is finite where its tangent is Inf/Inf. v falls with slope −1 − tanh(v/2e-3)/10.
#[test]
fn a_tangent_that_overflows_stops_no_stiff_method() {
    let text = "model M
          Real v(start = 1, fixed = true), w(start = 1, fixed = true), f;
        equation
          der(v) = -1 - f;
          f = 0.1*(2/(1 + exp(-v/1e-3)) - 1);
          der(w) = -1e4*(w + w^3 - 10*sin(20*time));
        end M;";
    for solver in ["bdf", "esdirk", "rosenbrock"] {
        let settings = Settings { solver: Some(solver.to_owned()), stop_time: Some(3.0), ..Settings::default() };
        let run = run_with(text, settings);
        assert_eq!(run.ending, Ending::Complete, "{solver}");
        // To zero with 1.1 per second, on with 0.9.
        let expected = -0.9 * (3.0 - 1.0 / 1.1);
        assert!((end(&run.result, "v") - expected).abs() < 1e-3, "{solver}: {}", end(&run.result, "v"));
    }
}
