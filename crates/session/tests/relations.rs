//! Relations and roundings that make events (specification 8.5; Elmqvist, Cellier and Otter 1993, "discontinuous
//! equations"): when they change, what is exactly zero, what only touches, and what never comes to rest.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, complete, run, run_with};
use session::Settings;
use std::f64::consts::PI;

/// ∫ of a function that is smooth between the given points.
fn integral(points: &[f64], function: impl Fn(f64) -> f64) -> f64 {
    // Gauss's five points in 16 parts of each piece.
    let nodes = [0.0, 0.538_469_310_105_683_1, 0.906_179_845_938_664];
    let weights = [0.568_888_888_888_888_9, 0.478_628_670_499_366_5, 0.236_926_885_056_189_1];
    let piece = |a: f64, b: f64| -> f64 {
        let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
        let pair = |k: usize| weights[k] * (function(middle - half * nodes[k]) + function(middle + half * nodes[k]));
        half * (weights[0] * function(middle) + pair(1) + pair(2))
    };
    let parts = |a: f64, b: f64| -> f64 {
        let at = |k: i32| a + (b - a) * f64::from(k) / 16.0;
        (0..16).map(|k| piece(at(k), at(k + 1))).sum()
    };
    points.windows(2).map(|pair| parts(pair[0], pair[1])).sum()
}

/// The times in (0, end) at which 0.1 + 3·sin t is a multiple of `unit`, with both ends.
fn grid_points(unit: f64, end: f64) -> Vec<f64> {
    let mut points = vec![0.0, end];
    for k in -20..=20 {
        let sine = (unit * f64::from(k) - 0.1) / 3.0;
        if sine.abs() < 1.0 {
            for turn in 0..3 {
                let turn = 2.0 * PI * f64::from(turn);
                points.extend([sine.asin() + turn, PI - sine.asin() + turn]);
            }
        }
    }
    points.retain(|point| (0.0..=end).contains(point));
    points.sort_by(f64::total_cmp);
    points
}

#[test]
fn roundings_of_a_state_and_of_a_signal() {
    type Function = fn(f64) -> f64;
    let cases: [(&str, f64, Function); 9] = [
        ("floor(x)", 1.0, f64::floor),
        ("ceil(x)", 1.0, f64::ceil),
        ("integer(x)", 1.0, f64::floor),
        ("div(x, 0.7)", 0.7, |x| (x / 0.7).trunc()),
        ("div(x, -0.7)", 0.7, |x| (x / -0.7).trunc()),
        ("mod(x, 0.7)", 0.7, |x| x - 0.7 * (x / 0.7).floor()),
        ("mod(x, -0.7)", 0.7, |x| x + 0.7 * (x / -0.7).floor()),
        ("rem(x, 0.7)", 0.7, |x| x - 0.7 * (x / 0.7).trunc()),
        ("mod(integer(x), 2)", 1.0, |x| x.floor().rem_euclid(2.0)),
    ];
    for (expression, unit, function) in cases {
        let points = grid_points(unit, 10.0);
        let expected = integral(&points, |t| function(0.1 + 3.0 * t.sin()));
        for x in [
            "Real x(start = 0.1, fixed = true); equation der(x) = 3*cos(time);",
            "Real x = 0.1 + 3*sin(time); equation",
        ] {
            let text =
                format!("model M Real y; Real w(start = 0, fixed = true); {x} y = {expression}; der(w) = y; end M;");
            let run = complete(&text, 10.0, 1e-10);
            assert!((run.end("w") - expected).abs() < 1e-7, "{expression}: {} instead of {expected}", run.end("w"));
            // An event at each point but the ends; none besides.
            let events = run.statistics.state_events as usize;
            let possible = points.len() - 2;
            assert!(events <= possible + 2 && 2 * events >= possible, "{expression}: {events} of {possible}");
        }
    }
}

#[test]
fn sign_and_abs_are_literal() {
    // They make no events (specification 3.7.2): the equation has a solution on both sides of zero.
    let text = "model M
        Real x, y = sin(time), w(start = 0, fixed = true), v(start = 0, fixed = true);
      equation
        abs(x)*x = y;
        der(w) = sign(y);
        der(v) = abs(y);
      end M;";
    let run = complete(text, 10.0, 1e-8);
    run.assert_follows("x", &[0.0, 0.5, 3.0, 3.2, 4.0, 9.0], |t| t.sin().signum() * t.sin().abs().sqrt(), 1e-6);
    assert_near(run.end("w"), 4.0 * PI - 10.0, 1e-5);
    assert_near(run.end("v"), 6.0 + 1.0 + 10.0f64.cos(), 1e-6);
    assert_eq!(run.statistics.state_events, 0);
}

#[test]
fn b4_two_point_controller() {
    let text = "model M
        parameter Real y0 = 2;
        Real u = sin(time + 1), y, w(start = 0, fixed = true);
      equation
        y = if u > 0 then y0 else -y0;
        der(w) = y;
      end M;";
    let run = complete(text, 10.0, 1e-9);
    let expected = [PI - 1.0, 2.0 * PI - 1.0, 3.0 * PI - 1.0];
    let jumps = run.jumps("y");
    assert_eq!(jumps.len(), 3);
    jumps.iter().zip(expected).for_each(|(&jump, expected)| assert_near(jump, expected, 1e-10));
    assert_near(run.end("w"), 2.0 * (2.0 * (PI - 1.0) - 10.0 + 2.0 * PI), 1e-9);
    assert_eq!((run.statistics.state_events, run.statistics.rejected), (3, 0));
}

#[test]
fn b4_limiter_with_one_event_a_crossing_and_no_step_rejected() {
    let text = "model M
        parameter Real high = 1, low = -1;
        Real x = 2*sin(time), y, w(start = 0, fixed = true);
      equation
        y = if x > high then high else if x < low then low else x;
        der(w) = y;
      end M;";
    for solver in ["auto", "tsit5", "dop853", "esdirk", "rosenbrock"] {
        for tolerance in [1e-4, 1e-6, 1e-9] {
            let run = run_with(
                text,
                Settings {
                    stop_time: Some(2.0 * PI),
                    tolerance: Some(tolerance),
                    solver: Some(solver.into()),
                    ..Settings::default()
                },
            );
            let effort = (run.statistics.state_events, run.statistics.rejected);
            assert_eq!(effort, (4, 0), "{solver} {tolerance}\n{}", run.log);
            assert_near(run.at("w", PI), 4.0 * (1.0 - (PI / 6.0).cos()) + 4.0 * PI / 6.0, 10.0 * tolerance);
            assert_near(run.end("w"), 0.0, 20.0 * tolerance);
        }
    }
}

#[test]
fn b4_a_signal_that_reaches_its_limit_exactly() {
    // Rises to the limit 1 at t = 1, stays there until t = 2, and then goes on as told.
    for (slope, above, below) in [("0", 0.0, 1.0), ("1", 1.0, 1.0), ("-1", 0.0, 2.0)] {
        let text = format!(
            "model M
               Real x = if time < 1 then time else if time < 2 then 1 else 1 + ({slope})*(time - 2);
               Real inside(start = 0, fixed = true), w(start = 0, fixed = true), y;
             equation
               der(inside) = if x < 1 then 1 else 0;
               y = if x > 1 then 1 else x;
               der(w) = if x > 1 then 1 else 0;
             end M;"
        );
        let run = complete(&text, 3.0, 1e-9);
        assert_near(run.end("w"), above, 1e-9);
        assert_near(run.end("inside"), below, 1e-9);
        assert!(run.statistics.state_events + run.statistics.time_events <= 4, "{slope}: {}", run.log);
    }
    // A state that comes to rest at the limit with rounding errors in it: no chattering either.
    for slope in ["0", "1", "-1"] {
        let text = format!(
            "model M
               Real x(start = 0, fixed = true), w(start = 0, fixed = true);
             equation
               der(x) = if time < 1 then 1 else if time < 2 then 0 else {slope};
               der(w) = if x > 1 then 0 elseif x < 1 then 0 else 1;
             end M;"
        );
        let run = complete(&text, 3.0, 1e-9);
        assert!(run.statistics.state_events <= 3, "{slope}: {}", run.log);
    }
}

#[test]
fn b4_tangential_touches() {
    // Down to `least` and up again; the slope is zero there.
    let text = |least: f64| {
        format!(
            "model M
               Real x(start = {}, fixed = true), w(start = 0, fixed = true);
               Integer n(start = 0, fixed = true);
             equation
               der(x) = 2*(time - 1);
               der(w) = if x < 0 then 1 else 0;
               when x < 0 then n = pre(n) + 1; end when;
             end M;",
            1.0 + least
        )
    };
    for least in [-1e-3f64, -1e-6, -1e-9] {
        let run = complete(&text(least), 2.0, 1e-12);
        assert_eq!(run.end("n"), 1.0, "{least}");
        assert_near(run.end("w"), 2.0 * (-least).sqrt(), 1e-6);
        assert_eq!(run.statistics.state_events, 2);
    }
    for least in [1e-9, 1e-3] {
        let run = complete(&text(least), 2.0, 1e-12);
        assert_eq!((run.end("n"), run.end("w")), (0.0, 0.0), "{least}");
    }
    // An exact touch is below for no time, whatever rounding makes of it.
    let run = complete(&text(0.0), 2.0, 1e-12);
    assert_near(run.end("w"), 0.0, 1e-5);
    assert!(run.statistics.state_events <= 2);
}

#[test]
fn b5_a_root_with_and_without_guard() {
    let text = |condition: &str| {
        format!(
            "model Tank\n  Real u(start = 1, fixed = true), y;\nequation\n  der(u) = -1;\n  y = if {condition} then sqrt(u) else 0;\nend Tank;"
        )
    };
    let guarded = complete(&text("noEvent(u >= 0)"), 2.0, 1e-8);
    guarded.assert_follows("y", &[0.0, 0.5, 0.75, 0.99], |t| (1.0 - t).sqrt(), 1e-7);
    assert_eq!((guarded.end("y"), guarded.statistics.state_events), (0.0, 0));
    // The branch that ends at the event is not evaluated behind it.
    let eventful = complete(&text("u >= 0"), 2.0, 1e-8);
    eventful.assert_follows("y", &[0.0, 0.5, 0.75, 0.99], |t| (1.0 - t).sqrt(), 1e-7);
    assert_eq!((eventful.end("y"), eventful.statistics.state_events), (0.0, 1));
    let failure = run(&text("u >= -1"), 2.0).failure();
    assert!(
        failure.contains("sqrt(-") && failure.contains("has no finite value, when y was computed at time 1"),
        "{failure}"
    );
    assert!(failure.contains("case.mo:5:3"), "{failure}");
}

fn ball(height: f64, restitution: f64) -> String {
    format!(
        "model Ball
           Real h(start = {height}, fixed = true), v(start = 0, fixed = true);
         equation
           der(h) = v;
           der(v) = -9.81;
           when h < 0 then
             reinit(v, -{restitution}*pre(v));
           end when;
         end Ball;"
    )
}

#[test]
fn b6_bouncing_ball() {
    for (height, restitution) in [(1.0, 0.7), (10.0, 0.9), (0.01, 0.5), (1e4, 0.99)] {
        let fall = (2.0f64 * height / 9.81).sqrt();
        // Twelve bounces.
        let flights = (1..12).map(|n| 2.0 * fall * f64::powi(restitution, n));
        let times: Vec<f64> = std::iter::once(fall)
            .chain(flights)
            .scan(0.0, |sum, flight| {
                *sum += flight;
                Some(*sum)
            })
            .collect();
        let run = complete(&ball(height, restitution), times[11] + 0.01 * fall * f64::powi(restitution, 12), 1e-9);
        let bounces = run.jumps("v");
        assert_eq!(bounces.len(), times.len(), "{height} {restitution}");
        for (bounce, time) in bounces.iter().zip(&times) {
            assert!((bounce / time - 1.0).abs() < 1e-8, "{bounce} instead of {time}");
        }
    }
}

#[test]
fn b6_the_end_of_all_bounces_is_told() {
    let failure = run(&ball(1.0, 0.7), 5.0).failure();
    let rest = (2.0f64 / 9.81).sqrt() * (1.0 + 2.0 * 0.7 / 0.3);
    assert!(failure.contains("error[event-accumulation]: events accumulate at time 2.5586"), "{failure}");
    assert_near(rest, 2.5587, 1e-4);
    assert!(failure.contains("h < 0 changes ever faster, now every"), "{failure}");
    assert!(failure.contains("case.mo:6:17"), "{failure}");
}

#[test]
fn b6_a_ball_that_is_told_to_rest() {
    let text = "model Ball
        Real h(start = 1, fixed = true), v(start = 0, fixed = true);
        Boolean flying(start = true, fixed = true);
      equation
        der(h) = if flying then v else 0;
        der(v) = if flying then -9.81 else 0;
        when h < 0 then
          flying = -pre(v) > 1e-3;
          reinit(v, if -pre(v) > 1e-3 then -0.7*pre(v) else 0);
        end when;
      end Ball;";
    let run = complete(text, 5.0, 1e-8);
    assert_eq!((run.end("flying"), run.end("v")), (0.0, 0.0));
    assert_near(run.end("h"), 0.0, 1e-7);
}

#[test]
fn b9_a_residue_that_is_exactly_zero() {
    for (slope, events) in [(0, 0), (1, 1), (-1, 1)] {
        let text = format!(
            "model M
               Real x(start = 0, fixed = true), y, w(start = 0, fixed = true);
               Boolean above = x > 0, below = x < 0, notBelow = x >= 0, notAbove = x <= 0;
             equation
               der(x) = if time > 1 then {slope} else 0;
               y = if x > 0 then 1 else if x < 0 then -1 else 0;
               der(w) = y;
             end M;"
        );
        let run = complete(&text, 2.0, 1e-9);
        assert_eq!(run.at("y", 0.9), 0.0);
        let at_zero = ["above", "below", "notBelow", "notAbove"].map(|name| run.at(name, 0.9));
        assert_eq!(at_zero, [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(run.end("y"), f64::from(slope));
        assert_near(run.end("w"), f64::from(slope), 1e-9);
        assert_eq!(run.statistics.state_events, events, "{}", run.log);
    }
    // At the start, leaving at once: the branch for zero holds for no time.
    for slope in [1.0, -1.0] {
        let text = format!(
            "model M Real x(start = 0, fixed = true), w(start = 0, fixed = true);
             equation der(x) = {slope}; der(w) = if x > 0 then 1 elseif x < 0 then 2 else 100; end M;"
        );
        let run = complete(&text, 1.0, 1e-9);
        assert_near(run.end("w"), if slope > 0.0 { 1.0 } else { 2.0 }, 1e-9);
        assert_eq!(run.statistics.state_events, 1, "{}", run.log);
    }
}

#[test]
fn b9_a_residue_that_is_exactly_zero_at_a_restart() {
    // An event sets the residue to zero, from either side; a second later it stays, or leaves upward or downward.
    for before in [-1, 0, 1] {
        for slope in [-1, 0, 1] {
            let text = format!(
                "model M
                   Real x(start = {before}, fixed = true), y, w(start = 0, fixed = true);
                 equation
                   der(x) = if time > 1 then {slope} else 0;
                   when time >= 0.5 then
                     reinit(x, 0);
                   end when;
                   y = if x > 0 then 1 else if x < 0 then -1 else 0;
                   der(w) = y;
                 end M;"
            );
            let run = complete(&text, 2.0, 1e-9);
            assert_eq!((run.at("y", 0.4), run.at("y", 0.75)), (f64::from(before), 0.0), "{}", run.log);
            assert_eq!(run.end("y"), f64::from(slope));
            assert_near(run.end("w"), 0.5 * f64::from(before) + f64::from(slope), 1e-9);
            // One event at leaving, and none while it stays.
            assert_eq!(run.statistics.state_events, u64::from(slope != 0), "{before} {slope}\n{}", run.log);
            let expected: Vec<f64> =
                [(before, 0.5), (slope, 1.0)].iter().filter(|(jump, _)| *jump != 0).map(|&(_, t)| t).collect();
            let jumps = run.jumps("y");
            assert_eq!(jumps.len(), expected.len(), "{}", run.log);
            jumps.iter().zip(expected).for_each(|(&jump, expected)| assert_near(jump, expected, 1e-9));
        }
    }
}

#[test]
fn several_crossings_within_a_step_come_in_order() {
    let text = "model M
        Real x(start = 0, fixed = true);
        Integer n(start = 0, fixed = true), order(start = 0, fixed = true);
      equation
        der(x) = 1;
        when {x > 0.3, x > 0.3000001, x > 0.31} then n = pre(n) + 1; end when;
        when {x > 0.31} then order = 100*pre(n) + pre(order); end when;
      end M;";
    let run = complete(text, 1.0, 1e-6);
    assert_eq!((run.end("n"), run.end("order")), (3.0, 200.0));
    let jumps = run.jumps("n");
    jumps.iter().zip([0.3, 0.300_000_1, 0.31]).for_each(|(&jump, expected)| assert_near(jump, expected, 1e-12));
}

#[test]
fn a_fast_oscillation_between_outputs_is_counted() {
    let cases = [
        ("Real u = sin(1000*time); equation", 1592),
        ("Real a = 1000*time, u = sin(a) + 0.2*sin(3*a); equation", 1592),
        (
            "Real u(start = 0, fixed = true), v(start = 1, fixed = true); equation der(u) = 1000*v; der(v) = -1000*u;",
            1592,
        ),
    ];
    for (oscillation, count) in cases {
        let text = format!(
            "model M Integer n(start = 0, fixed = true); Real w(start = 0, fixed = true); {oscillation}
             der(w) = if u > 0 then 1 else 0; when u > 0 then n = pre(n) + 1; end when; end M;"
        );
        let settings =
            Settings { stop_time: Some(10.0), interval: Some(1.0), tolerance: Some(1e-9), ..Settings::default() };
        let run = run_with(&text, settings);
        assert_eq!(run.end("n"), f64::from(count), "{oscillation}");
        // 1591 whole periods, and the rest of 10000 radians.
        let rest = (10000.0 - 1591.0 * 2.0 * PI).min(PI) / 1000.0;
        assert_near(run.end("w"), 1591.0 * PI / 1000.0 + rest, 1e-4);
    }
}

#[test]
fn chattering_names_expression_rate_component_and_line() {
    let text = "model Part
  Real x(start = 0.5, fixed = true);
  Boolean up;
equation
  up = x > 0;
  der(x) = if up then -1 else 1;
end Part;
model Whole
  Part part;
end Whole;";
    let failure = run(text, 1.0).failure();
    for part in [
        "error[chattering]: part.x > 0 chatters at time 0.5",
        "it changes every",
        "times a second",
        "case.mo:5:3 (in component `part`)",
    ] {
        assert!(failure.contains(part), "no `{part}` in\n{failure}");
    }
}

#[test]
fn delays_and_transport() {
    let text = "model M
        Real x(start = 0, fixed = true), late, y0, y1;
        Real v = if time < 2 then 1 else -1, z(start = 0, fixed = true);
      equation
        der(x) = cos(time);
        late = delay(x, 0.1 + 0.1*time, 1);
        der(z) = v;
        (y0, y1) = spatialDistribution(time, 10, z, v >= 0, {0, 1}, {0, 0});
      end M;";
    let run = complete(text, 3.5, 1e-9);
    run.assert_follows("late", &[0.05, 1.0, 1.7, 2.0, 3.0], |t| (t - 0.1 - 0.1 * t).max(0.0).sin(), 1e-6);
    // What entered at t leaves a second later; after the reversal the last comes out first, then what came from there.
    run.assert_follows("y1", &[1.25, 1.75], |t| t - 1.0, 1e-6);
    run.assert_follows("y0", &[2.25, 2.75], |t| 4.0 - t, 1e-6);
    assert_near(run.end("y0"), 10.0, 1e-6);
}

#[test]
fn semi_linear_and_homotopy() {
    let text = "model M
        Real x(start = -1, fixed = true), y, w(start = 0, fixed = true), z;
      equation
        der(x) = 1;
        y = semiLinear(x, 2, 3);
        der(w) = y;
        z = homotopy(x^2, x);
      end M;";
    let run = complete(text, 2.0, 1e-9);
    assert_near(run.end("w"), 1.0 - 1.5, 1e-7);
    assert_near(run.end("y"), 2.0, 1e-9);
    assert_near(run.at("z", 0.5), 0.25, 1e-9);
}

#[test]
fn a_restart_keeps_order_and_step() {
    // Each event changes a signal that the states feel a little, by a jump of the second derivative.
    let text = |events: &str| {
        format!(
            "model M
               Real x[4](start = {{1, 0, 0, 1}}, each fixed = true);
               Real u = if sin({events}*time) > 0 then 1e-3 else 0;
             equation
               der(x[1]) = x[2]; der(x[2]) = -x[1] + x[3];
               der(x[3]) = x[4]; der(x[4]) = -4*x[3] + u;
             end M;"
        )
    };
    let quiet = complete(&text("0"), 20.0, 1e-6).statistics;
    let eventful = complete(&text("10"), 20.0, 1e-6).statistics;
    assert_eq!(eventful.state_events, 64);
    let extra = (eventful.rhs - quiet.rhs) as f64 / eventful.state_events as f64;
    // A new first stage, and the step that an event divides is two.
    assert!(extra < 13.0, "{extra} evaluations an event");
}

#[test]
fn a_crossing_just_before_a_known_event_belongs_to_it() {
    // The signal rises less than a picosecond before the sample: both are one event.
    let text = "model M
        Real w(start = 0, fixed = true), u = if noEvent(time < 21*(1 - 2e-14)) then 0 else 1;
        Integer n(start = 0, fixed = true), events(start = 0, fixed = true);
        Boolean up = u > 0.5, tick = sample(21, 100);
      equation
        der(w) = sin(time);
        when {up, tick} then
          n = pre(n) + (if up then 10 else 0) + (if tick then 1 else 0);
        end when;
        when change(up) or tick then
          events = pre(events) + 1;
        end when;
      end M;";
    let run = complete(text, 30.0, 1e-8);
    assert_eq!((run.end("n"), run.end("events")), (11.0, 1.0), "{}", run.log);
}

#[test]
fn at_a_time_event_relations_are_right_limits_and_time_is_the_instant() {
    // A pulse width of zero: at the instant at which both sides are zero nothing is switched on.
    let text = "model M
        discrete Real start(start = 0, fixed = true), next(start = 0.1, fixed = true), late(start = 0, fixed = true);
        discrete Real width(start = 0, fixed = true);
        Real on(start = 0, fixed = true);
        Boolean fire = width > time - start, after = time > start;
        Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
      equation
        when time >= pre(next) then
          start = time;
          next = pre(next) + 0.1;
          late = time - pre(next);
          width = max(0, time - 2);
        end when;
        when fire then n = pre(n) + 1; end when;
        when after then m = pre(m) + 1; end when;
        der(on) = if fire then 1 else 0;
      end M;";
    let run = complete(text, 1.95, 1e-9);
    assert!(run.column("late").iter().all(|&late| late == 0.0), "{:?}", run.column("late"));
    assert_eq!((run.end("n"), run.end("on")), (0.0, 0.0), "{}", run.log);
    assert_eq!(run.end("after"), 1.0);
}

/// Each follower falls behind a falling signal, and the limit is the value that it had at the last sample. A quick follower moves
/// by less than the tolerance in a step, but it never rises.
#[test]
fn what_is_zero_after_an_event_leaves_as_its_derivative_says() {
    let model = "
        model M
          parameter Integer n = 13;
          parameter Real rate[n] = {10^(1 + i/2) for i in 0:n-1};
          Real x[n](start = {0.01/rate[i] for i in 1:n}, each fixed = true);
          discrete Real limit[n](each start = 10, each fixed = true);
          discrete Real gain(start = 1, fixed = true);
          Integer exceeded(start = 0, fixed = true);
        equation
          when sample(0.1, 0.1) then
            gain = if pre(gain) < 3 then 5 else 1;
            limit = x;
          end when;
          for i in 1:n loop
            der(x[i]) = -gain*rate[i]*(x[i] + 0.01*time);
          end for;
          when {x[i] > limit[i] for i in 1:n} then
            exceeded = pre(exceeded) + 1;
          end when;
        end M;";
    for solver in ["auto", "esdirk", "rosenbrock", "bdf", "dae"] {
        let settings = Settings { stop_time: Some(2.0), solver: Some(solver.to_owned()), ..Settings::default() };
        let result = run_with(model, settings).result;
        assert_eq!(result.at("exceeded", 2.0), Some(0.0), "{solver}");
    }
}

/// What jumps at the start time itself has its right limit from there on, also where the argument is coarser than time, and at
/// zero, next to which all times are fine. ∫ of the right limits from start to start + 3.
#[test]
fn roundings_of_time_that_are_about_to_change_at_the_start() {
    let cases = [
        ("ceil(time)", 0.0, 6.0),
        ("ceil(time/1000)", 0.0, 3.0),
        ("-floor(-time)", 0.0, 6.0),
        ("-integer(-time)", 0.0, 6.0),
        ("floor(1 - time)", 0.0, -3.0),
        ("mod(1 - time, 1)", 0.0, 1.5),
        ("mod(time, -1)", 0.0, -1.5),
        ("floor(1e6 - time) - 1e6", 0.0, -6.0),
        ("floor(1e6 - time) - 1e6", 1.0, -9.0),
        ("floor(1e6 + 0.3 - time) - 1e6", 0.3, -6.0),
        ("floor(floor(2.5 - time) - 2*time - 2)", 0.0, -15.0),
        ("ceil(time)", 1.0, 9.0),
        ("ceil(time)", -1.0, 3.0),
        ("if ceil(time) >= 1 then 1 else 0", 0.0, 3.0),
    ];
    for (expression, start, expected) in cases {
        let model = format!("model M Real x(start = 0, fixed = true); equation der(x) = {expression}; end M;");
        for solver in ["auto", "bdf", "esdirk"] {
            let settings = Settings {
                start_time: Some(start),
                stop_time: Some(start + 3.0),
                solver: Some(solver.to_owned()),
                ..Settings::default()
            };
            let x = run_with(&model, settings).end("x");
            assert!((x - expected).abs() < 1e-6, "{expression} from {start} by {solver}: {x} instead of {expected}");
        }
    }
}

#[test]
fn when_clauses_on_roundings_that_are_about_to_change_at_the_start() {
    let model = "
        model M
          Integer n(start = 0, fixed = true);
        equation
          when ceil(time) > 0 then
            n = pre(n) + 1;
          end when;
        end M;";
    assert_eq!(run(model, 1.5).end("n"), 1.0);
}

/// 8 + 1.75 − t is 9 at 0.75, where the inner rounding becomes 8, and less behind it.
#[test]
fn roundings_inside_of_roundings_change_together() {
    let model = "model M Real y = floor(floor(12*time - 1) + 1.75 - time); end M;";
    let settings = Settings { start_time: Some(0.1), stop_time: Some(2.0), ..Settings::default() };
    let run = run_with(model, settings);
    for (time, expected) in [(0.7, 8.0), (0.76, 8.0), (0.8, 8.0), (0.84, 9.0)] {
        assert_eq!(run.near("y", time).1, expected, "at {time}");
    }
}

/// The rounding changes a rounding error behind the stop time, which the run does not reach.
#[test]
fn time_does_not_pass_the_stop_time() {
    let settings = Settings { start_time: Some(1.0), stop_time: Some(2.0), ..Settings::default() };
    let run = run_with("model M Real y = ceil(time); end M;", settings);
    assert!(run.result.time.is_sorted(), "{:?}", run.result.time);
    assert_eq!((run.result.time.last(), run.end("y")), (Some(&2.0), 2.0));
}

#[test]
fn what_comes_after_the_end_does_not_happen() {
    let text = "model M
        Boolean after = time > 1;
        Boolean from = time >= 1;
        Boolean until = time <= 1;
        Boolean before = time < 1;
        Integer n(start = 0, fixed = true);
        Integer m(start = 0, fixed = true);
        Integer k = integer(time);
      equation
        when time > 1 then n = pre(n) + 1; end when;
        when time >= 1 then m = pre(m) + 1; end when;
      end M;";
    for stop_time in [1.0, 2.0] {
        let run = run(text, stop_time);
        let late = f64::from(u8::from(stop_time > 1.0));
        assert_eq!((run.end("after"), run.end("until"), run.end("n")), (late, 1.0 - late, late));
        assert_eq!((run.end("from"), run.end("before"), run.end("m")), (1.0, 0.0, 1.0));
        assert_eq!(run.end("k"), stop_time);
    }
}

#[test]
fn roundings_that_change_at_every_time_are_refused() {
    let said = run("model M Real y = floor(1e20*time); end M;", 1.0).failure();
    assert!(said.contains("floor(1e20*time) changes every"), "{said}");
    let said = run("model M Integer y = integer(1e30*time); end M;", 1.0).failure();
    assert!(said.contains("an Integer is beyond 2^53 - 1"), "{said}");
}

/// Functions of time alone cross a threshold and return inside of one step, which no error of the integrator shows: the
/// number of crossings and the time above the threshold are those of the closed form, for every solver and output grid.
#[test]
fn no_return_of_a_function_of_time_is_lost() {
    use std::f64::consts::TAU;
    for (frequency, threshold) in [(1.0, 0.99), (20.0, 0.9999), (7.0, 0.999_999), (50.0, 0.5), (3.0, 1.000_1)] {
        let stop = 10.0;
        // The sine is above the threshold between the angle and its supplement.
        let angle = if threshold < 1.0 { f64::asin(threshold) } else { PI / 2.0 };
        let turns = |k: u32| (f64::from(k) * TAU + angle) / frequency;
        let crossings = (0..).take_while(|&k| threshold < 1.0 && turns(k) < stop).count();
        let width = (PI - 2.0 * angle) / frequency;
        let above: f64 = (0..crossings as u32).map(|k| width.min(stop - turns(k))).sum();
        let direct = format!("sin({frequency}*time)");
        let composed = format!("if time < -1 then 0 else 2*sin({frequency}/2*time)*cos({frequency}/2*time)");
        for value in [direct, composed] {
            let model = format!(
                "model Pulses Real y, above(start = 0, fixed = true); Integer n(start = 0, fixed = true); Boolean b;
                equation y = {value}; b = y > {threshold};
                when b then n = pre(n) + 1; end when; der(above) = if b then 1 else 0; end Pulses;"
            );
            for solver in ["auto", "bdf", "dae", "esdirk", "tsit5"] {
                for intervals in [1, 2, 10] {
                    let settings = Settings {
                        stop_time: Some(stop),
                        solver: Some(solver.to_owned()),
                        intervals: Some(intervals),
                        ..Settings::default()
                    };
                    let run = run_with(&model, settings);
                    let case = format!("{value} > {threshold}, {solver}, {intervals} intervals");
                    assert_eq!(run.end("n"), crossings as f64, "{case}\n{}", run.said);
                    assert!((run.end("above") - above).abs() < 1e-6 * (1.0 + above), "{case}");
                }
            }
        }
    }
}

/// The outlet of a tank has closed, and what is left of the flow are rounding errors: the level would need longer than the run to get
/// anywhere. Whether the outlet opens and closes again a thousand times decides nothing that can be seen.
#[test]
fn a_drift_of_rounding_errors_makes_no_events() {
    let outlet = |drift: f64| {
        format!(
            "model Outlet Real level(start = 0.002, fixed = true); Boolean open = level >= 0.001;
             equation der(level) = if open then -0.001 else {drift:e}; end Outlet;"
        )
    };
    let settles = complete(&outlet(1e-15), 10.0, 1e-6);
    assert_near(settles.end("level"), 0.001, 1e-9);
    assert_near(settles.jumps("open")[0], 1.0, 1e-9);
    assert!(settles.statistics.state_events <= 6, "{}", settles.statistics.state_events);
    // A level that comes back in the time of the run does open the outlet.
    let moves = complete(
        "model Moves Real level(start = 0.002, fixed = true); Boolean open(start = true, fixed = true);
         equation der(level) = if open then -0.001 else 1e-6;
         open = level >= 0.001 and (pre(open) or level >= 0.001 + 2e-6); end Moves;",
        10.0,
        1e-6,
    );
    assert_eq!(moves.jumps("open").len(), 9, "{:?}", moves.jumps("open"));
}

/// A function of time alone reaches its threshold at the stop time itself: no error of integration lies between, so the last row has
/// the new values.
#[test]
fn what_time_alone_changes_at_the_stop_time_is_in_the_last_row() {
    let text = "model M
      Integer n = integer(10*time^2);
      Boolean late = exp(time) >= exp(1);
      discrete Real held(start = 0, fixed = true);
      Real x(start = 0, fixed = true);
    equation
      der(x) = 1;
      when sqrt(time) >= 1 then
        held = time;
      end when;
    end M;";
    let run = complete(text, 1.0, 1e-6);
    assert_eq!([run.end("n"), run.end("late"), run.end("held")], [10.0, 1.0, 1.0]);
}
