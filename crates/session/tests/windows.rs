//! Relations over kinks, narrow peaks and fast functions of states (specification 8.5: no change of a relation is lost): each
//! passage of a window is an event, whatever the method and the output grid.
#![allow(clippy::unwrap_used)]

mod common;

use common::run_with;
use session::{Ending, Settings};

const SOLVERS: [&str; 7] = ["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"];

/// Runs a model with each method and on coarse and fine grids; gives the last value of a variable.
fn ends(text: &str, stop: f64, name: &str) -> Vec<(String, f64)> {
    ends_with(&SOLVERS, text, stop, name)
}

fn ends_with(solvers: &[&str], text: &str, stop: f64, name: &str) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for &solver in solvers {
        for intervals in [1, 10, 500] {
            let settings = Settings {
                stop_time: Some(stop),
                intervals: Some(intervals),
                solver: Some(solver.to_owned()),
                ..Settings::default()
            };
            let run = run_with(text, settings);
            assert_eq!(run.ending, Ending::Complete, "{solver}, {intervals}: {}", run.said);
            found.push((format!("{solver}, {intervals} intervals"), run.end(name)));
        }
    }
    found
}

/// Counts how often a condition on `x` = sin(t) becomes true until 8; `more` are further variables and their equations.
fn passages(condition: &str, more: (&str, &str), expected: f64) {
    let (declared, equations) = more;
    let text = format!(
        "model M
           Real x(start = 0, fixed = true), v(start = 1, fixed = true);
           Integer n(start = 0, fixed = true);
           {declared}
         equation
           der(x) = v;
           der(v) = -x;
           {equations}
           when {condition} then
             n = pre(n) + 1;
           end when;
         end M;"
    );
    for (how, found) in ends(&text, 8.0, "n") {
        assert_eq!(found, expected, "{condition}, {how}");
    }
}

#[test]
fn kinks_and_peaks_of_a_state() {
    // At π/6, 5π/6 and 13π/6.
    for condition in [
        "abs(x - 0.5) < 1e-5",
        "max(x - 0.5, 0.5 - x) < 1e-4",
        "min(x - 0.5, 0.5 - x) > -1e-4",
        "sqrt(abs(x - 0.5)) < 1e-2",
        "exp(-((x - 0.5)/1e-3)^2) > 0.5",
        "1/(1 + ((x - 0.5)/1e-4)^2) > 0.5",
        "(if noEvent(x > 0.5) then x - 0.5 else 0.5 - x) < 1e-4",
        "abs(atan2(x - 0.5, 1)) < 1e-4",
    ] {
        passages(condition, ("", ""), 3.0);
    }
}

#[test]
fn fast_functions_of_a_state() {
    // 200·sin t is a multiple of 2π: 63 times in each half turn, and up to the end.
    passages("cos(200*x) > 0.9999", ("", ""), 157.0);
}

#[test]
fn kinks_behind_variables() {
    passages("y < 1e-4", ("Real y = abs(x - 0.5);", ""), 3.0);
    // What a linear and what a nonlinear system determine.
    passages("abs(y - 0.5) < 1e-4", ("Real y, z;", "y + 2*z = 3*x; y - z = 0;"), 3.0);
    passages("abs(y - 0.5) < 1e-4", ("Real y;", "y + 0.1*y^3 = x + 0.1*x^3;"), 3.0);
}

/// No bounds are known of these; where the function has a corner, the lines on both sides of it lead there.
#[test]
fn kinks_of_delayed_values_and_of_functions_with_loops() {
    passages("semiLinear(x - 0.5, 1, -2) < 1e-5", ("", ""), 3.0);
    passages("abs(delay(x, 0.3) - 0.5) < 1e-4", ("", ""), 3.0);
    passages("abs(delay(time, 0.3) - 0.5) < 1e-4", ("", ""), 1.0);
    let fold = "function fold
             input Real u;
             output Real y;
           algorithm
             y := u;
             while y < 0 loop
               y := -y;
             end while;
           end fold;";
    passages("fold(x - 0.5) < 1e-5", (fold, ""), 3.0);
}

#[test]
fn narrow_pulses_are_integrated() {
    // Each of three passages takes 2e-4/cos(π/6) seconds.
    let text = "model M
        Real x(start = 0, fixed = true), v(start = 1, fixed = true), area(start = 0, fixed = true);
      equation
        der(x) = v;
        der(v) = -x;
        der(area) = if abs(x - 0.5) < 1e-4 then 1e4 else 0;
      end M;";
    for (how, found) in ends(text, 8.0, "area") {
        assert!((found - 12.0 / 3f64.sqrt()).abs() < 5e-3, "{found} with {how}");
    }
}

#[test]
fn one_window_in_each_turn_of_a_shaft() {
    let text = "model M
        Real angle(start = 0, fixed = true);
        Integer n(start = 0, fixed = true);
      equation
        der(angle) = 10;
        when abs(sin(angle/2)) < 1e-3 then
          n = pre(n) + 1;
        end when;
      end M;";
    for (how, found) in ends(text, 10.0, "n") {
        assert_eq!(found, 15.0, "{how}");
    }
}

/// Windows in loops that run as often as values say. The loop is followed as a whole, and several of its relations pass their
/// windows within a step.
#[test]
fn windows_in_loops_at_run_time() {
    // sin(t) passes 0.5 and 0.25 three times until 8, and -0.3 twice.
    let swing = "der(x) = s; der(s) = -x;";
    let unknown = "der(y) = s; der(s) = -y; x + 0.3*x^3 = y + 0.3*y^3;";
    let model = |motion: &str, statements: &str| {
        let states =
            if motion == unknown { "Real x, y(start = 0, fixed = true)" } else { "Real x(start = 0, fixed = true)" };
        format!(
            "model M
               function near
                 input Real x, place;
                 output Boolean y;
               algorithm
                 y := abs(x - place) < 1e-5;
               end near;
               {states};
               Real s(start = 1, fixed = true);
               parameter Real v[3] = {{0.5, 0.25, -0.3}};
               Integer turns = 2 + integer(time/8.5 + 1), n(start = 0, fixed = true), k;
               Boolean b;
             equation
               {motion}
               when b then
                 n = pre(n) + 1;
               end when;
             algorithm
               b := false;
               k := 1;
               {statements}
             end M;"
        )
    };
    let cases = [
        (swing, "for i in 1:turns loop if abs(x - v[i]) < 1e-5 then b := true; end if; end for;"),
        (swing, "for i in 1:turns loop if x > v[i] and not x > v[i] + 1e-5 then b := true; end if; end for;"),
        (swing, "while k <= turns loop if abs(x - v[k]) < 1e-5 then b := true; end if; k := k + 1; end while;"),
        (swing, "for i in 1:turns loop if near(x, v[i]) then b := true; break; end if; end for;"),
        (swing, "b := sum(if abs(x - v[i]) < 1e-5 then 1 else 0 for i in 1:turns) > 0;"),
        (
            swing,
            "for i in 1:turns loop for j in i:turns loop
               if (x - v[i])^2 + (v[i] - v[j])^2 < 1e-10 then b := true; end if; end for; end for;",
        ),
        (unknown, "for i in 1:turns loop if abs(x - v[i]) < 1e-5 then b := true; end if; end for;"),
    ];
    for (number, (motion, statements)) in cases.into_iter().enumerate() {
        let solvers = if number == 0 { &SOLVERS[..] } else { &["auto", "bdf"] };
        for (how, found) in ends_with(solvers, &model(motion, statements), 8.0, "n") {
            assert_eq!(found, 8.0, "{statements} {motion} {how}");
        }
    }
}
