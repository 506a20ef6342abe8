//! Equations with several solutions: which one is taken at the start, and where a branch ends.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, complete, run_with};
use session::{Ending, Settings};

const SOLVERS: [&str; 7] = ["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"];

fn on_grid(solver: &str, stop_time: f64, intervals: usize) -> Settings {
    let (solver, stop_time) = (Some(solver.to_owned()), Some(stop_time));
    Settings { stop_time, intervals: Some(intervals), solver, ..Settings::default() }
}

#[test]
fn roots_that_are_near_beside_their_size_are_told_apart() {
    // The roots 5t and 5t - 1, as a product and written out.
    for equation in ["(y - u)*(y - u + 1) = 0", "y^2 + (1 - 2*u)*y + u^2 - u = 0"] {
        let text = format!(
            "model M
               Real y(start = 0), u = 5*time, s(start = 0, fixed = true);
             equation
               {equation};
               der(s) = y;
             end M;"
        );
        for solver in SOLVERS {
            for intervals in [2, 13, 500] {
                let run = run_with(&text, on_grid(solver, 20.0, intervals));
                assert_eq!(run.ending, Ending::Complete, "{solver}: {}", run.said);
                run.assert_follows("y", &[1.0, 7.0, 15.0, 20.0], |t| 5.0 * t, 1e-6);
                assert_near(run.end("s"), 1000.0, 1e-2);
            }
        }
    }
}

#[test]
fn the_branch_does_not_depend_on_the_output_grid() {
    // Three roots that swing together, 20 times as far as they are apart, without any state.
    let text = "model M
        Real y(start = 0), u = 10*sin(4*time);
      equation
        (y - u - 1)*(y - u)*(y - u + 1) = 0;
      end M;";
    for intervals in [1, 3, 7, 20, 50, 111, 500] {
        let run = run_with(text, on_grid("auto", 5.0, intervals));
        run.assert_follows("y", &run.result.time.clone(), |t| 10.0 * (4.0 * t).sin(), 1e-6);
    }
}

#[test]
fn an_elbow_does_not_flip() {
    // The tip of an arm of two links is led so that the elbow is at 0.1 + 1 - cos(6t).
    let text = "model M
        Real angle = 0.7 - 3*time, elbow = 0.1 + 1 - cos(6*time);
        Real px = cos(angle) + 0.9*cos(angle + elbow), py = sin(angle) + 0.9*sin(angle + elbow);
        Real a(start = 0.7), b(start = 0.1);
      equation
        cos(a) + 0.9*cos(a + b) = px;
        sin(a) + 0.9*sin(a + b) = py;
      end M;";
    for intervals in [1, 13, 50, 500] {
        let run = run_with(text, on_grid("auto", 10.0, intervals));
        run.assert_follows("b", &run.result.time.clone(), |t| 1.1 - (6.0 * t).cos(), 1e-6);
    }
}

#[test]
fn a_solution_that_ends_in_a_fold_is_not_left_silently() {
    // y^3 - y = c has three solutions for |c| < 2/(3*sqrt(3)); the lowest one ends at y = -1/sqrt(3).
    let text = "model M
        Real y(start = -1.3), s(start = 0, fixed = true);
      equation
        y^3 - y = -0.6 + 0.4*time;
        der(s) = y;
      end M;";
    let end = (0.6 + 2.0 / (3.0 * 3f64.sqrt())) / 0.4;
    for solver in SOLVERS {
        let run = run_with(text, on_grid(solver, 4.0, 500));
        let Ending::Failed { time, .. } = run.ending else { panic!("{solver}: {:?}", run.ending) };
        assert_near(time, end, 1e-6);
        assert!(run.failure().contains('y'), "{}", run.failure());
        assert!(run.end("y") < -0.57, "{solver}: {}", run.end("y"));
    }
}

#[test]
fn branches_may_cross() {
    // y^2 = (t - 1)^2 has the solutions t - 1 and 1 - t: the straight way goes through the point where they meet.
    let text = "model M
        Real y(start = -1), s(start = 0, fixed = true);
      equation
        y^2 = (time - 1.0007)^2;
        der(s) = 1 + 0*y;
      end M;";
    let run = complete(text, 2.0, 1e-6);
    run.assert_follows("y", &[0.5, 1.5, 2.0], |t| t - 1.0007, 1e-6);
}

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

/// A flow `m` with a signal of its own direction: what flows in has the heat content `a` on one side and `b` on the other, and
/// `h` is that of what flows out. Zero flow satisfies the balance whatever `h` is. The flow is driven by `u + 0.1*h`, so that
/// between the two directions there is a time at which both contradict themselves: then the flow rests at zero and `h` moves.
fn resting_flow(drive: &str, more: &str) -> String {
    format!(
        "model M
           parameter Real a = 1, b = 2;
           Real m(start = 1), h(start = 1), u = {drive};
           Real inflow = if m > 0 then a else h, outflow = if m > 0 then h else b;
           {more}
         equation
           m*inflow - m*outflow = 0;
           m = u + 0.1*h;
         end M;"
    )
}

#[test]
fn a_flow_that_rests_between_two_directions_begins_again() {
    // With a discrete unknown in the system, too, and beside a state that moves with the flow.
    let discrete = "Integer phase = if h < 10 then 1 else 2; Real twice = phase*h;";
    let state = "Real x(start = 0, fixed = true); equation der(x) = m;";
    for more in ["", discrete, state] {
        for solver in SOLVERS {
            let falls = run_with(&resting_flow("1 - time", more), on_grid(solver, 2.0, 50));
            assert_eq!(falls.ending, Ending::Complete, "{solver}: {}", falls.said);
            falls.assert_follows("m", &[0.5, 1.0], |t| 1.1 - t, 1e-6);
            falls.assert_follows("m", &[1.12, 1.16], |_| 0.0, 1e-6);
            falls.assert_follows("h", &[1.12, 1.16], |t| 10.0 * (t - 1.0), 1e-6);
            falls.assert_follows("m", &[1.24, 1.6, 2.0], |t| 1.2 - t, 1e-6);
            falls.assert_follows("h", &[1.24, 1.6, 2.0], |_| 2.0, 1e-6);
            let rises = run_with(&resting_flow("time - 1", more), on_grid(solver, 2.0, 50));
            assert_eq!(rises.ending, Ending::Complete, "{solver}: {}", rises.said);
            rises.assert_follows("m", &[0.4, 0.76], |t| t - 0.8, 1e-6);
            rises.assert_follows("h", &[0.84, 0.88], |t| 10.0 * (1.0 - t), 1e-6);
            rises.assert_follows("m", &[0.96, 1.4, 2.0], |t| t - 0.9, 1e-6);
        }
    }
}

/// Both signs of a flow agree with themselves here, and the start lies between them: the condition that holds at the start is
/// kept.
#[test]
fn a_start_between_two_solutions_leads_to_the_branch_that_holds_there() {
    for (condition, expected) in [("m > 0", -1.0), ("m >= 0", 2.0)] {
        let text = format!("model M Real m(start = 0); equation m^2*(if {condition} then 1 else 4) = 4; end M;");
        assert_near(complete(&text, 1.0, 1e-6).end("m"), expected, 1e-9);
    }
}
