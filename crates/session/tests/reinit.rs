//! `reinit` sets a state: it has its value afterwards, what constraints tie to it follows, relations on it change their
//! branches, and nothing else jumps. What switches share in the same instant is shared before.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, complete, run};

/// A switch between two capacitors, so that the run goes through modes.
const MODES: &str = "Real u1(start = 1, fixed = true), u2(start = 0, fixed = true), j;";
const MODES_EQUATIONS: &str = "der(u1) = -j; der(u2) = j; if time >= 0.0625 then u1 = u2; else j = 0; end if;";

/// The same in one structure and in modes.
fn both(declarations: &str, equations: &str) -> [String; 2] {
    let text = |declarations: &str, equations: &str| format!("model M {declarations} equation {equations} end M;");
    [text(declarations, equations), text(&format!("{declarations} {MODES}"), &format!("{equations} {MODES_EQUATIONS}"))]
}

#[test]
fn a_branch_changes_with_what_is_set() {
    let balances = ["der(x + y) = -1;", "der(x) + der(y) = -1;"];
    for balance in balances {
        // Afterwards 3·y is 3 - (t - 0.5), or y² + 2·y is.
        let laws = [("2*y", 2.5 / 3.0), ("y + y^2", 3.5f64.sqrt() - 1.0)];
        for (law, end) in laws {
            let boolean = format!("high = y > 0; x = if high then {law} else y;");
            let direct = format!("high = y > 0; x = if y > 0 then {law} else y;");
            for relation in [boolean, direct] {
                let set = "when time >= 0.5 then reinit(y, 1); end when;";
                for text in
                    both("Real y(start = -1, fixed = true), x; Boolean high;", &format!("{relation} {balance} {set}"))
                {
                    let run = complete(&text, 1.0, 1e-8);
                    assert_near(run.at("y", 0.5), 1.0, 1e-12);
                    assert_near(run.at("x", 0.5), 2.0, 1e-12);
                    assert_near(run.end("y"), end, 1e-6);
                }
            }
        }
    }
}

/// The law of the branch before has no solution at the value that is set.
#[test]
fn a_branch_that_has_no_solution_at_what_is_set_is_left() {
    for text in both(
        "Real x, y(start = 1, fixed = true);",
        "x = if y > 0 then y + y^2 else y; der(x) + der(y) = -1; when time >= 0.5 then reinit(y, -1); end when;",
    ) {
        let run = complete(&text, 1.0, 1e-8);
        assert_near(run.at("x", 0.5), -1.0, 1e-12);
        assert_near(run.end("y"), -1.25, 1e-9);
    }
}

#[test]
fn the_structure_changes_with_what_is_set() {
    for text in both(
        "Real x, y(start = -1, fixed = true);",
        "x = if y > 0 then y + y^2 else 0; der(x + y) = -1;
         when time >= 0.5 then reinit(y, 1); elsewhen time >= 0.75 then reinit(y, -2); end when;",
    ) {
        let run = complete(&text, 1.0, 1e-8);
        assert_near(run.at("y", 0.5), 1.0, 1e-12);
        assert_near(run.at("x", 0.5), 2.0, 1e-12);
        assert_near(run.end("y"), -2.25, 1e-9);
    }
}

#[test]
fn other_states_stay() {
    for text in both(
        "Real y(start = -1, fixed = true), v(start = 0, fixed = true), x;",
        "x = if y > 0 then 2*y else y; der(y) = v; der(v) = 0.1*der(x); when time >= 0.5 then reinit(y, 1); end when;",
    ) {
        let run = complete(&text, 1.0, 1e-8);
        assert_near(run.end("y"), 1.0, 1e-12);
        assert_near(run.end("v"), 0.0, 1e-12);
    }
}

/// Iterations go on: what is set calls for another value, and a gear that shifts for its sake conserves momentum.
#[test]
fn what_follows_in_the_next_iteration() {
    for text in both(
        "Real y(start = 0, fixed = true), x;",
        "x = if y > 2 then 3*y - 4 else y; der(x) + der(y) = 0;
         when time >= 0.5 then reinit(y, 3); elsewhen y > 2.5 then reinit(y, 2.25); end when;",
    ) {
        let run = complete(&text, 1.0, 1e-8);
        assert_near(run.end("y"), 2.25, 1e-12);
        assert_near(run.end("x"), 2.75, 1e-12);
    }
    for text in both(
        "Real w1(start = 3, fixed = true), w2, p; Integer n(start = 3, fixed = true); Boolean b(start = false, fixed = true);",
        "der(w1) = p; 2*der(w2) = -n*p; w1 = n*w2; when time >= 0.5 then reinit(w1, 6); b = true; end when;
         when pre(b) then n = 1; end when;",
    ) {
        // From 6 and 2: `w1 - 6 = P`, `2·(w2 - 2) = -P`, `w1 = w2`.
        assert_near(complete(&text, 1.0, 1e-8).end("w1"), 10.0 / 3.0, 1e-12);
    }
}

/// What is set makes a diode conduct: charge is shared from there.
#[test]
fn what_is_set_is_the_left_limit_of_what_it_causes() {
    let run = complete(
        "model M
          Real v1(start = 1, fixed = true), v2(start = 2, fixed = true), i, s;
          Boolean off = s < 0;
        equation
          der(v1) = -i; 3*der(v2) = i;
          v1 - v2 = if off then s else 0; i = if off then 0 else s;
          when time >= 0.5 then reinit(v1, 6); end when;
        end M;",
        1.0,
        1e-8,
    );
    assert_near(run.end("v1"), 3.0, 1e-12);
    assert_near(run.end("v2"), 3.0, 1e-12);
}

/// Which of two variables that a switch ties together is a state in that mode does not matter.
#[test]
fn variables_that_are_states_in_other_modes() {
    let text = |equation: &str| {
        format!(
            "model M
              Real v1(start = 1, fixed = true), v2(start = 2, fixed = true), v3(start = 0, fixed = true), i;
            equation
              der(v1) = -i; der(v2) = -i; der(v3) = i;
              0 = if time >= 0.25 then {equation} else i;
              when time >= 0.5 then reinit(v1, 5); end when;
              when time >= 0.625 then reinit(v2, 7); end when;
              when time >= 0.75 then reinit(v3, 8); end when;
            end M;"
        )
    };
    let tied = complete(&text("v3 - 2*v1"), 1.0, 1e-8);
    assert_near(tied.at("v3", 0.5), 10.0, 1e-12);
    assert_near(tied.at("v1", 0.7), 5.0, 1e-12);
    assert_near(tied.at("v2", 0.7), 7.0, 1e-12);
    assert_near(tied.end("v1"), 4.0, 1e-12);
    assert_near(tied.end("v3"), 8.0, 1e-12);
    // One value for a sum leaves open which of its parts changes.
    let open = run(&text("v3 - v1 - v2"), 1.0);
    assert!(open.said.contains("error[reinit-of-no-state]: reinit sets `v3` at time 0.75"), "{}", open.said);
}

/// In modes relations are decided first, and a Boolean that is found together with continuous unknowns follows them.
#[test]
fn booleans_inside_of_systems_follow_relations_in_modes() {
    for text in both(
        "Real v, q(start = 0.1, fixed = true); Boolean high = v > 0.43;",
        "q = if high then (v - 0.43) + 0.75*(v - 0.43)^2 else 2.75*(v - 0.43); der(q) = -1.5;",
    ) {
        let run = complete(&text, 0.3, 1e-6);
        assert_near(run.end("high"), 0.0, 0.0);
        assert_near(run.end("v"), 0.43 - 0.35 / 2.75, 1e-6);
    }
}

const PENDULUM: &str = "Real x(start = 0, fixed = true), y(start = -1), vx(start = 8, fixed = true), vy, F;";
const PENDULUM_EQUATIONS: &str = "der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y - 9.81; x^2 + y^2 = 1;";

/// A pendulum that goes round: with `reinit` in the model each coordinate is a state where it can be one.
#[test]
fn what_is_never_set_changes_nothing() {
    for variable in ["x", "y", "vx", "vy"] {
        let never = format!("{PENDULUM_EQUATIONS} when time >= 1e6 then reinit({variable}, 0); end when;");
        for text in both(PENDULUM, &never) {
            let run = complete(&text, 10.0, 1e-9);
            // From the equation in the angle.
            assert_near(run.end("x"), 0.980241, 1e-5);
            let energy = (run.end("vx").powi(2) + run.end("vy").powi(2)) / 2.0 + 9.81 * run.end("y");
            assert_near(energy, 32.0 - 9.81, 1e-5);
        }
    }
}

/// What is set need not be a state before, and what follows is no matter of the states before.
#[test]
fn coordinates_are_set_at_any_angle() {
    // Without gravity the angle is 2·t.
    let declarations = "Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 2, fixed = true), F;";
    let equations = "der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y; x^2 + y^2 = 1;";
    let cases = [(0.25, 0.5f64), (0.6, 1.2), (1.0, 2.0), (1.4, 2.8)];
    for (time, angle) in cases {
        let (sin, cos) = angle.sin_cos();
        // Velocities: half of the speed. Coordinates: 0.1 rad further, with the tangential part of the velocity.
        let further = angle + 0.1;
        let settings = [
            (format!("reinit(vx, {:?});", -sin), angle, 1.0),
            (format!("reinit(vy, {cos:?});"), angle, 1.0),
            (format!("reinit(vx, {:?}); reinit(vy, {cos:?});", -sin), angle, 1.0),
            (format!("reinit(x, {:?});", further.cos()), further, 2.0 * 0.1f64.cos()),
            (format!("reinit(y, {:?});", further.sin()), further, 2.0 * 0.1f64.cos()),
        ];
        for (setting, angle, speed) in settings {
            let set = format!("{equations} when time >= {time} then {setting} end when;");
            for text in both(declarations, &set) {
                let run = complete(&text, 2.0, 1e-8);
                let end = angle + speed * (2.0 - time);
                assert_near(run.end("x"), end.cos(), 1e-5);
                assert_near(run.end("y"), end.sin(), 1e-5);
            }
        }
    }
}

/// Of a mass on a sphere what is not set moves as little as possible.
#[test]
fn the_least_change_on_a_sphere() {
    let text = "model M
      Real x(start = 0.6, fixed = true), y(start = 0), z(start = 0.8), F;
      Real vx(start = 0, fixed = true), vy(start = 2, fixed = true), vz(start = 0);
    initial equation y = 0;
    equation
      der(x) = vx; der(y) = vy; der(z) = vz; der(vx) = -F*x; der(vy) = -F*y; der(vz) = -F*z; x^2 + y^2 + z^2 = 1;
      when time >= 0 then reinit(vx, 0); end when;
      when time >= 0.25 then reinit(z, 0.6); end when;
    end M;";
    let run = complete(text, 0.25, 1e-9);
    // Angle 0.5 on the great circle through (0.6, 0, 0.8) and (0, 1, 0).
    let (sin, cos) = 0.5f64.sin_cos();
    let (x, y) = (0.6 * cos, sin);
    let stretch = 0.8 / (x * x + y * y).sqrt();
    assert_near(run.end("x"), stretch * x, 1e-6);
    assert_near(run.end("y"), stretch * y, 1e-6);
    let (vx, vy, vz) = (-1.2 * sin, 2.0 * cos, -1.6 * sin);
    let (x, y) = (stretch * x, stretch * y);
    let outwards = vx * x + vy * y + vz * 0.6;
    assert_near(run.end("vx"), vx - outwards * x, 1e-6);
    assert_near(run.end("vz"), vz - outwards * 0.6, 1e-6);
}

#[test]
fn what_follows_from_others_that_are_set_has_to_agree() {
    let linked = |setting: &str| {
        both(
            "Real x1(start = 0, fixed = true), v1(start = 1, fixed = true), x2, v2, f;",
            &format!(
                "der(x1) = v1; der(x2) = v2; 2*der(v1) = f; 3*der(v2) = -f*2; x1 = 2*x2;
                 when time >= 0.5 then {setting} end when;"
            ),
        )
    };
    for text in linked("reinit(v1, 3); reinit(v2, 1.5);") {
        assert_near(complete(&text, 1.0, 1e-8).end("x1"), 2.0, 1e-9);
    }
    for text in linked("reinit(v1, 3); reinit(v2, 1);") {
        let said = run(&text, 1.0).said;
        let expected = "error[contradicting-reinit]: reinit sets `v2` to 1, but constraints make it 1.5 at time 0.5";
        assert!(said.contains(expected), "{said}");
    }
    let set =
        |setting: &str| both(PENDULUM, &format!("{PENDULUM_EQUATIONS} when time >= 0.5 then {setting} end when;"));
    for text in set("reinit(x, 1); reinit(y, 0); reinit(vx, 0); reinit(vy, 1);") {
        assert_near(complete(&text, 0.5, 1e-8).end("vy"), 1.0, 1e-9);
    }
    for text in set("reinit(x, 0.6); reinit(y, 0.6);") {
        let said = run(&text, 1.0).said;
        assert!(
            said.contains("error[contradicting-reinit]: reinit sets `y` to 0.6, but constraints make it"),
            "{said}"
        );
    }
    // At the side the velocity is vertical.
    for text in set("reinit(x, 1); reinit(y, 0); reinit(vx, 1);") {
        let said = run(&text, 1.0).said;
        assert!(said.contains("error[contradicting-reinit]: reinit sets `vx` to 1, but constraints make it"), "{said}");
    }
}

/// What is set differs from what was by less than the integration may be wrong: it is set all the same.
#[test]
fn a_small_change_counts() {
    for size in [2e-10, 1e-13] {
        let text = format!(
            "model M Real x(start = 1, fixed = true), z(start = 0, fixed = true); equation
               der(x) = 0; der(z) = 1 - z;
               when z > 0.3 then reinit(x, pre(x) + {size}); end when; end M;"
        );
        assert_eq!(complete(&text, 2.0, 1e-6).end("x"), 1.0 + size, "{size}");
    }
}
