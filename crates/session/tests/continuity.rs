//! Differentiated variables keep their values at events, or balances of charge and momentum explain why they do not: where
//! constraints change or a signal inside of one jumps, whether or not one structure serves both sides.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, complete, run, run_with};
use expect_test::expect;
use session::{Ending, Settings};

/// Two inertias, 1 and 2, behind a gear whose ratio is given by an equation for `r`; `more` is written behind.
fn gear(declarations: &str, equations: &str) -> String {
    format!(
        "model Gear
          Real w1, w2(start = 1, fixed = true), t1, t2;
          {declarations}
        equation
          der(w1) = t1;
          2*der(w2) = t2;
          w1 = r*w2;
          t2 = -r*t1;
          {equations}
        end Gear;"
    )
}

/// From 3 to 1: `w1 - 3 = P`, `2·(w2 - 1) = -P`, `w1 = w2`.
#[test]
fn a_gear_that_shifts_conserves_momentum() {
    let shifts = [
        ("Real r = if time < 1 then 3 else 1;", ""),
        ("discrete Real r(start = 3, fixed = true);", "when time >= 1 then r = 1; end when;"),
        ("Real r = if x < 1 then 3 else 1; Real x(start = 0, fixed = true);", "der(x) = 1;"),
        ("Integer n = if time < 1 then 1 else 2; parameter Real ratio[2] = {3, 1}; Real r = ratio[n];", ""),
        ("discrete Real r(start = 3, fixed = true);", "when sample(1, 5) then r = 1; end when;"),
    ];
    for (declarations, equations) in shifts {
        let run = complete(&gear(declarations, equations), 2.0, 1e-8);
        assert_near(run.at("w1", 0.5), 3.0, 1e-12);
        assert_near(run.end("w1"), 5.0 / 3.0, 1e-12);
        assert_near(run.end("w2"), 5.0 / 3.0, 1e-12);
        assert_eq!(run.jumps("w2").len(), 1);
    }
}

#[test]
fn small_speeds_beside_large_numbers_conserve_momentum() {
    let text = gear("Real r = if time < 1 then 3 else 1; Real p(start = 1e7, fixed = true);", "der(p) = 0;");
    let run = complete(&text.replace("start = 1,", "start = 1e-4,"), 2.0, 1e-6);
    assert_near(run.end("w2"), 5e-4 / 3.0, 1e-12);
}

/// Both constraints change in the same instant, and what comes of the first calls for the second.
#[test]
fn a_jump_that_calls_for_another_one() {
    let run = complete(
        "model Chain
          Real w1, w2(start = 1, fixed = true), w3(start = 0, fixed = true), t, t2, t3;
          Boolean low = time < 1, hit(start = false, fixed = true);
        equation
          der(w1) = t - t3;
          2*der(w2) = t2;
          3*der(w3) = t3;
          if low then w1 = 3*w2; t2 = -3*t; else w1 = w2; t2 = -t; end if;
          if hit then w1 = w3; else t3 = 0; end if;
          when w1 < 2 then hit = true; end when;
        end Chain;",
        2.0,
        1e-8,
    );
    // 5/3 of the two first, then shared with the third.
    for name in ["w1", "w2", "w3"] {
        assert_near(run.end(name), 5.0 / 6.0, 1e-12);
    }
}

/// What `reinit` sets has its value, and takes along what constraints tie to it.
#[test]
fn reinit_of_what_is_tied() {
    let constant = "Real r = 3;";
    let second = complete(&gear(constant, "when time > 1 then reinit(w2, 5); end when;"), 2.0, 1e-8);
    assert_near(second.end("w1"), 15.0, 1e-12);
    let first = complete(&gear(constant, "when time > 1 then reinit(w1, 6); end when;"), 2.0, 1e-8);
    assert_near(first.end("w2"), 2.0, 1e-12);
    // Together with a shift: that comes first.
    let shift = "Real r = if time < 1 then 3 else 1; Real x(start = 7, fixed = true);";
    let other = complete(&gear(shift, "der(x) = 0; when time >= 1 then reinit(x, 1); end when;"), 2.0, 1e-8);
    assert_near(other.end("w1"), 5.0 / 3.0, 1e-12);
    assert_near(other.end("x"), 1.0, 1e-12);
    let same = complete(&gear(shift, "der(x) = 0; when time >= 1 then reinit(w2, 9); end when;"), 2.0, 1e-8);
    assert_near(same.end("w1"), 9.0, 1e-12);
}

/// The charge of a step goes through the source, however the step is written.
#[test]
fn a_source_that_steps_onto_a_capacitor() {
    let steps = [
        ("Real u = if time < 1 then 0 else 5;", ""),
        ("discrete Real u(start = 0, fixed = true);", "when time >= 1 then u = 5; end when;"),
        ("Real s = if time < 0.5 then 0 else 5; Real u = delay(s, 0.5);", ""),
        ("Real u = 5*floor(time);", ""),
    ];
    for (declarations, equations) in steps {
        let run = complete(
            &format!(
                "model Step
                  Real v, i, q(start = 0, fixed = true);
                  {declarations}
                equation
                  2*der(v) = i;
                  der(q) = i;
                  v = u;
                  {equations}
                end Step;"
            ),
            1.8,
            1e-8,
        );
        assert_near(run.at("q", 0.9), 0.0, 1e-12);
        assert_near(run.end("v"), 5.0, 1e-9);
        assert_near(run.end("q"), 10.0, 1e-9);
    }
}

/// What holds at the start is no event: the capacitor is charged already.
#[test]
fn the_start_is_no_jump() {
    let run = complete(
        "model Charged
          Real v, i, q(start = 0, fixed = true);
        equation
          der(v) = i;
          der(q) = i;
          v = if time < 0 then 0 else 5;
        end Charged;",
        1.0,
        1e-8,
    );
    assert_near(run.end("q"), 0.0, 0.0);
}

/// A position that turns a corner makes a momentum; one that steps makes none, but a warning.
#[test]
fn positions_that_a_signal_moves() {
    let moved = |signal: &str| {
        run(
            &format!(
                "model Moved
                  Real x, v, f, p(start = 0, fixed = true);
                equation
                  der(x) = v;
                  2*der(v) = f;
                  der(p) = f;
                  x = if time < 1 then 0 else {signal};
                end Moved;"
            ),
            2.0,
        )
    };
    let corner = moved("3*(time - 1)");
    assert_near(corner.end("p"), 6.0, 1e-9);
    assert!(corner.warnings.is_empty(), "{:?}", corner.warnings);
    let step = moved("1");
    assert_near(step.end("p"), 0.0, 1e-9);
    expect![[r#"
        [
            "values jump that are derived more than once at time 1",
        ]
    "#]]
    .assert_debug_eq(&step.warnings);
}

/// A rope that begins to be pulled in takes the radial velocity and leaves the other one as it is.
#[test]
fn a_pendulum_whose_rope_is_pulled_in() {
    let run = complete(
        "model Pulled
          Real x(start = 1, fixed = true), y, vx, vy(start = 0, fixed = true), lambda, l(start = 1, fixed = true);
          Real rate = if time < 0.3 then 0 else -0.5;
        equation
          der(l) = rate;
          der(x) = vx;
          der(y) = vy;
          der(vx) = -lambda*x;
          der(vy) = -lambda*y - 9.81;
          x^2 + y^2 = l^2;
        end Pulled;",
        0.5,
        1e-9,
    );
    let column = |name: &str| run.column(name).to_vec();
    let (x, y, vx, vy) = (column("x"), column("y"), column("vx"), column("vy"));
    let row = run.result.time.windows(2).position(|pair| pair[0] == pair[1] && (pair[0] - 0.3).abs() < 1e-9).unwrap();
    let radial = |k: usize| x[k] * vx[k] + y[k] * vy[k];
    let moment = |k: usize| x[k] * vy[k] - y[k] * vx[k];
    assert_near(radial(row), 0.0, 1e-6);
    assert_near(radial(row + 1), -0.5, 1e-6);
    assert_near(moment(row + 1), moment(row), 1e-9);
    assert!(moment(row).abs() > 1.0);
}

/// A towed mass overtakes the anchor that stops: a rope does not push.
#[test]
fn a_rope_whose_anchor_stops() {
    let run = complete(
        "model Towed
          Real xa(start = 0, fixed = true), x(start = -1, fixed = true), v(start = 1, fixed = true), F, s;
          Real va = if time < 1 then 1 else 0;
          Boolean taut = s > 0;
        equation
          der(xa) = va;
          der(x) = v;
          der(v) = F - 0.5;
          if taut then xa - x = 1; F = s; else F = 0; xa - x - 1 = s; end if;
        end Towed;",
        2.0,
        1e-8,
    );
    assert_near(run.at("v", 1.0), 1.0, 1e-9);
    assert_near(run.end("v"), 0.5, 1e-6);
    assert_near(run.end("F"), 0.0, 1e-12);
}

/// With all variables integrated and moved to the constraints it is the same.
#[test]
fn projection_conserves_momentum() {
    let other = "der(x) = 0; when time >= 1 then reinit(x, 1); end when;";
    let shift = "Real r = if time < 1 then 3 else 1; Real x(start = 7, fixed = true);";
    for (declarations, equations) in [("Real r = if time < 1 then 3 else 1;", ""), (shift, other)] {
        let run = common::run_by_projection(&gear(declarations, equations), 2.0);
        assert_near(run.end("w1"), 5.0 / 3.0, 1e-9);
    }
}

/// An assertion that holds for what physics gives, though not for what the constraint alone would: w1 = 1 with w2 kept.
#[test]
fn what_nothing_explains_fails_no_assertion() {
    let text = gear("Real r = if time < 1 then 3 else 1;", "assert(w1 > 1.5, \"too slow\");");
    assert_near(complete(&text, 2.0, 1e-8).end("w1"), 5.0 / 3.0, 1e-12);
}

/// `2·v1 + v2 = 3` is conserved, and then `v1·v2 = 4` has no solution.
#[test]
fn a_jump_without_an_explanation_is_refused() {
    let text = "model Unexplained
  model Pair
    Real v1(start = 1, fixed = true), v2(start = 1), lambda, r;
  equation
    der(v1) = lambda;
    der(v2) = -2*lambda;
    v1*v2 = r;
  end Pair;
  Pair pair(r = if time < 1 then 1 else 4);
end Unexplained;";
    let run = run_with(text, Settings { stop_time: Some(2.0), ..Settings::default() });
    assert!(matches!(run.ending, Ending::Failed { .. }), "{:?}", run.ending);
    expect![[r#"
        error[unexplained-jump]: `pair.v2` is differentiated but would jump from 1 to 4 at time 1, and no impulse explains that
          --> case.mo:3:39 (in component `pair`)
           |
         3 |     Real v1(start = 1, fixed = true), v2(start = 1), lambda, r;
           |                                       ^^ declared here
           = the equations of the transition have no solution near the values before, at time 1
           = help: a signal or a constraint steps here; make the step a ramp, put a resistance or a compliance between, or set the variable with reinit
    "#]].assert_eq(&run.said);
}

/// Where the motion itself is left open, nothing is invented, also where the first step reaches the next event: in the first mode
/// `f` may be anything.
#[test]
fn a_motion_that_is_left_open_is_refused_before_the_next_event() {
    for (more, condition) in
        [("", "time >= 0.5"), ("+ 1", "time >= 0.5"), ("+ sin(time)", "time >= 0.5"), ("", "x >= 0.5")]
    {
        let model = format!(
            "model Open
              Real v(start = 1, fixed = true), w(start = 2, fixed = true), x(start = 0, fixed = true), f, g;
              Boolean c = {condition};
            equation
              der(x) = 1;
              der(v) = f {more};
              der(w) = g;
              f + g = 0;
              if c then v = w; else f = -g; end if;
            end Open;"
        );
        let run = run(&model, 1.0);
        assert_ne!(run.ending, Ending::Complete, "{model}");
        assert!(run.said.contains("singular-system"), "{}", run.said);
        assert!(!run.said.contains("stateSet"), "{}", run.said);
    }
}
