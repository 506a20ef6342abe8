//! Equations with several solutions: which one is taken at the start, and where a branch ends.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, complete};

/// A Schmitt trigger: an amplifier with limits and positive feedback, y = limit(gain*(y/3 − u)).
fn trigger(limited: &str) -> String {
    format!(
        "model Trigger
           parameter Real gain = 15000, high = 15, low = -15;
           Real u = -12*cos(time), d, y;
         equation
           d = y/3 - u;
           y = {limited};
         end Trigger;"
    )
}

#[test]
fn a_trigger_falls_to_the_branch_that_is_left() {
    let expression = "if gain*d > high then high else if gain*d < low then low else gain*d";
    for limited in [expression.to_owned(), format!("smooth(0, noEvent({expression}))")] {
        let run = complete(&trigger(&limited), 12.0, 1e-8);
        // From high to low where u passes 5 − 15/15000, back where it falls below the negative of that.
        let fall = (-(5.0f64 - 0.001) / 12.0).acos();
        let rise = fall + std::f64::consts::PI;
        let again = fall + 2.0 * std::f64::consts::PI;
        for (time, expected) in [
            (0.2, 15.0),
            (fall - 0.03, 15.0),
            (fall + 0.03, -15.0),
            (rise - 0.03, -15.0),
            (rise + 0.03, 15.0),
            (again - 0.03, 15.0),
            (again + 0.03, -15.0),
        ] {
            let (time, value) = run.near("y", time);
            assert!((value - expected).abs() < 1e-6, "{value} instead of {expected} at {time}, {limited}");
        }
    }
}

#[test]
fn homotopy_leads_to_the_solution_of_the_simplified_problem() {
    // x·(x − 1)·(x − 3) = 0 from the start value 0 gives 0 directly; the simplified problem is near 3.
    let text = "model M
        Real x(start = 0), y(start = 0), w(start = 0, fixed = true);
      equation
        0 = homotopy(x*(x - 1)*(x - 3), x - 3.5);
        0 = y*(y - 1)*(y - 3);
        der(w) = x;
      end M;";
    let run = complete(text, 1.0, 1e-6);
    assert_near(run.end("x"), 3.0, 1e-8);
    assert_near(run.end("y"), 0.0, 1e-8);
}

#[test]
fn relative_states_that_are_asked_for_replace_absolute_ones() {
    // A stiff spring whose deflection is small beside the angles; its own scale is its nominal value.
    let text = "model M
        Real phi(start = 0, fixed = true), w(start = 0, fixed = true);
        Real rel(stateSelect = StateSelect.prefer, nominal = 1e-4), v(stateSelect = StateSelect.prefer), offset = 0.5;
        Real tau;
      equation
        w = der(phi);
        der(w) = 1 - tau;
        rel = phi - offset;
        v = der(rel);
        tau = 1e5*(rel + offset) + 100*v;
      end M;";
    let listing = common::equations(text);
    assert!(listing.contains("states: rel, v\n"), "{listing}");
    assert_near(complete(text, 1.0, 1e-8).end("phi"), 1e-5, 1e-9);
}
