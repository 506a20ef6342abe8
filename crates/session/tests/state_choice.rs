//! Which variables are integrated: what the model prefers, as long as that determines the rest; what it demands, or an error.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, complete, run};

/// A pendulum that goes round, with `stateSelect` of x and vx.
fn pendulum(select: &str, speed: f64) -> String {
    format!(
        "model M
          Real x(start = 0.1, stateSelect = StateSelect.{select}), y(start = -1), vy, F;
          Real vx(start = {speed}, stateSelect = StateSelect.{select});
        initial equation
          x = 0.1; vx = {speed};
        equation
          der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y - 9.81; x^2 + y^2 = 1;
        end M;"
    )
}

#[test]
fn preferred_states_are_left_where_they_are_singular() {
    let expected = complete(&pendulum("default", 8.0), 10.0, 1e-10);
    for select in ["prefer", "avoid"] {
        let found = complete(&pendulum(select, 8.0), 10.0, 1e-9);
        for name in ["x", "y", "vx", "vy"] {
            assert_near(found.end(name), expected.end(name), 1e-4);
        }
    }
}

#[test]
fn demanded_states_stay_or_the_run_stops() {
    // It swings, and comes nowhere near to the horizontal.
    let expected = complete(&pendulum("default", 2.0), 10.0, 1e-10);
    let found = complete(&pendulum("always", 2.0), 10.0, 1e-9);
    assert_near(found.end("x"), expected.end("x"), 1e-5);
    let said = run(&pendulum("always", 8.0), 10.0).said;
    let message = "error[singular-states]: the states that StateSelect.always demands (`vx`) do not determine the other \
                   variables near time 0.195";
    assert!(said.contains(message), "{said}");
}
