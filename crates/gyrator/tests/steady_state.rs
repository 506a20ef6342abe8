//! Stationary states are those that a run from the initial state comes to.
#![allow(clippy::unwrap_used)]

use gyrator::{Run, Session};
use proptest::prelude::*;

fn at_rest(text: &str) -> Result<Run, gyrator::Error> {
    let mut session = Session::new();
    session.replace_text("m.mo", text);
    let model = session.model("m.mo")?;
    model.simulate(&model.experiment().stop(1.0).steady_state())
}

fn near(text: &str, expected: &[(&str, f64)]) -> Vec<&'static str> {
    let run = at_rest(text).unwrap();
    for (name, expected) in expected {
        let column = run.get(name).unwrap();
        let (first, last) = (column.values[0], run.last(name).unwrap());
        for found in [first, last] {
            assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{name}: {found}, not {expected}");
        }
    }
    run.warnings.iter().map(|said| said.code).collect()
}

#[test]
fn what_cannot_move_stays() {
    let said = near(
        "model M
           Real I(start = 1, fixed = true), y(start = 0, fixed = true);
         equation
           der(I) = 0;
           der(y) = 10*I - y;
         end M;",
        &[("I", 1.0), ("y", 10.0)],
    );
    assert_eq!(said, ["free-states"]);
    near(
        "model M
           Real s(start = 5, fixed = true), T(start = 300, fixed = true), z(start = 0, fixed = true);
         equation
           der(s) = 0;
           der(T) = 0;
           der(z) = s + T - z;
         end M;",
        &[("s", 5.0), ("T", 300.0), ("z", 305.0)],
    );
}

#[test]
fn what_is_conserved_stays() {
    near(
        "model Tanks
           Real m1(start = 10, fixed = true), m2(start = 2, fixed = true);
         equation
           der(m1) = -(m1 - m2);
           der(m2) = m1 - m2;
         end Tanks;",
        &[("m1", 6.0), ("m2", 6.0)],
    );
    near(
        "model Reaction
           Real a(start = 1, fixed = true), b(start = 0, fixed = true);
         equation
           der(a) = -2*a + b;
           der(b) = 2*a - b;
         end Reaction;",
        &[("a", 1.0 / 3.0), ("b", 2.0 / 3.0)],
    );
    near(
        "model Bodies
           Real T1(start = 300, fixed = true), T2(start = 400, fixed = true);
         equation
           5*der(T1) = T2 - T1;
           10*der(T2) = T1 - T2;
         end Bodies;",
        &[("T1", 5500.0 / 15.0), ("T2", 5500.0 / 15.0)],
    );
}

/// The volume of a conical tank is no linear combination of the states.
#[test]
fn what_is_conserved_by_nonlinear_equations_stays() {
    let level = ((1000.0f64 + 8.0) / 2.0).cbrt();
    let said = near(
        "model Cones
           Real h1(start = 10, fixed = true), h2(start = 2, fixed = true);
         equation
           3*h1^2*der(h1) = -(h1 - h2);
           3*h2^2*der(h2) = h1 - h2;
         end Cones;",
        &[("h1", level), ("h2", level)],
    );
    assert_eq!(said, ["steady-state-run", "free-states"]);
}

#[test]
fn the_stable_state_is_found() {
    let logistic = "model Logistic Real x(start = 0.1, fixed = true); equation der(x) = x*(1 - x); end Logistic;";
    assert_eq!(near(logistic, &[("x", 1.0)]), ["steady-state-run"]);
    // Newton's method leaps over several stable states from here.
    let pendulum = "model P Real x(start = 1.5, fixed = true); equation der(x) = -sin(x); end P;";
    assert_eq!(near(pendulum, &[("x", 0.0)]), ["steady-state-run"]);
    let bistable = "model B Real x(start = -0.1, fixed = true); equation der(x) = x - x^3; end B;";
    near(bistable, &[("x", -1.0)]);
}

#[test]
fn a_run_through_an_event_comes_to_rest() {
    near("model S Real x(start = 0, fixed = true); equation der(x) = if x > 1 then 0 else 1; end S;", &[("x", 1.0)]);
}

/// No run comes to rest in an undamped pendulum; one that begins at an unstable state stays.
#[test]
fn what_a_run_does_not_reach_is_marked() {
    let said = near(
        "model Pendulum
           Real phi(start = 2, fixed = true), w(start = 0, fixed = true);
         equation
           der(phi) = w;
           der(w) = -sin(phi) + 0.3*(1 - phi^2)*w;
         end Pendulum;",
        &[],
    );
    assert_eq!(said, ["steady-state-elsewhere"]);
    let upright = "model U Real x(start = 0, fixed = true); equation der(x) = x*(1 - x); end U;";
    assert_eq!(near(upright, &[("x", 0.0)]), ["steady-state-run", "unstable-steady-state"]);
}

/// Capacities that exchange heat, in groups that are apart, and what they drive: all of a group come to their mean.
fn bodies() -> impl Strategy<Value = (String, Vec<f64>)> {
    let body = (0.1f64..10.0, -300.0f64..400.0, 0usize..3);
    proptest::collection::vec((body, 0.01f64..5.0), 2..7).prop_map(|bodies| {
        let mut declared = String::new();
        let mut equations = String::new();
        let mut means = vec![0.0; bodies.len()];
        for group in 0..3 {
            let members: Vec<usize> = (0..bodies.len()).filter(|&k| bodies[k].0.2 == group).collect();
            let capacity: f64 = members.iter().map(|&k| bodies[k].0.0).sum();
            let energy: f64 = members.iter().map(|&k| bodies[k].0.0 * bodies[k].0.1).sum();
            for (place, &k) in members.iter().enumerate() {
                means[k] = energy / capacity;
                let ((c, start, _), _) = bodies[k];
                declared += &format!("Real T{k}(start = {start:?}, fixed = true);\n");
                let mut flow = "0".to_owned();
                for neighbour in [place.wrapping_sub(1), place + 1] {
                    let Some(&other) = members.get(neighbour) else { continue };
                    // The conductance belongs to the pair.
                    let conductance = bodies[k.min(other)].1;
                    flow += &format!(" + {conductance:?}*(T{other} - T{k})");
                }
                equations += &format!("{c:?}*der(T{k}) = {flow};\n");
            }
        }
        let sum = (0..bodies.len()).map(|k| format!("T{k}")).collect::<Vec<_>>().join(" + ");
        let text = format!(
            "model M\n{declared}Real z(start = 0, fixed = true);\nequation\n{equations}der(z) = {sum} - 2*z;\nend M;"
        );
        (text, means)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn groups_come_to_their_means((text, means) in bodies()) {
        let run = at_rest(&text).unwrap();
        let size = means.iter().fold(1.0f64, |size, mean| size.max(mean.abs()));
        for (k, mean) in means.iter().enumerate() {
            let found = run.get(&format!("T{k}")).unwrap().values[0];
            prop_assert!((found - mean).abs() < 1e-7 * size, "T{k} = {found}, not {mean}\n{text}");
        }
        let z = run.get("z").unwrap().values[0];
        prop_assert!((z - means.iter().sum::<f64>() / 2.0).abs() < 1e-6 * size, "z = {z}\n{text}");
    }
}
