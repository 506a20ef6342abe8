//! Runs of systems whose equations have to be differentiated or whose states are exchanged, against closed forms.

mod common;

use common::{assert_close, run, until};
use simulate::Ending;

#[test]
fn a12_reduced_and_higher_index() {
    let reduced = run("Real x(start = 1, fixed = true)\nder(x) = y\n0 = x + y", &until(1.0, 1e-9));
    assert_close(reduced.end("x"), (-1.0f64).exp(), 1e-8);
    let text = "Real x1(start = 1, fixed = true)\nder(x1) = y\n0 = x1 + x2\nder(x2) = x1";
    let higher = run(text, &until(1.0, 1e-9));
    assert_close(higher.end("x1"), (-1.0f64).exp(), 1e-8);
    assert_close(higher.end("y"), -(-1.0f64).exp(), 1e-8);
}

const DRIVE_TRAIN: &str = "parameter J1 = 1
    parameter J2 = 2
    parameter J3 = 3
    parameter i = 4
    parameter c = 100
    u = 1
    der(phi1) = w1
    J1*der(w1) = u - tau1
    phi1 = i*phi2
    tau2 = i*tau1
    der(phi2) = w2
    J2*der(w2) = tau2 - tau3
    tau3 = c*(phi2 - phi3)
    der(phi3) = w3
    J3*der(w3) = tau3
";

#[test]
fn a13_drive_train_with_gear() {
    let run = run(DRIVE_TRAIN, &until(1.0, 1e-9));
    // Seen from the second shaft: (i²J1 + J2)·ẇ2 = i·u − τ3, J3·ẇ3 = τ3; the sum is i·u·t.
    let momentum = 18.0 * run.end("w2") + 3.0 * run.end("w3");
    assert_close(momentum, 4.0, 1e-8);
    assert_close(run.end("der(w2)"), (4.0 - run.end("tau3")) / 18.0, 1e-8);
    assert_close(run.end("phi1"), 4.0 * run.end("phi2"), 1e-12);
}

#[test]
fn a14_contradicting_start_values() {
    let text = format!("{DRIVE_TRAIN}Real w1(start = 1, fixed = true)\nReal w2(start = 0, fixed = true)");
    let run = run(&text, &until(1.0, 1e-6));
    let Ending::NotInitialised(diagnostic) = run.outcome.ending else { panic!("{:?}", run.outcome.ending) };
    assert_eq!(diagnostic.code, "inconsistent-initial-conditions");
    let notes = diagnostic.notes.join("\n");
    assert!(notes.contains("w1 = 1, a fixed start value"), "{notes}");
    assert!(notes.contains("der(phi1) = i*der(phi2), the derivative of a constraint"), "{notes}");
    let open = self::run(&format!("{DRIVE_TRAIN}Real w1(start = 1, fixed = true)"), &until(0.1, 1e-6));
    assert_close(open.column("w2")[0], 0.25, 1e-12);
    let both = format!("{DRIVE_TRAIN}Real w1(start = 1, fixed = true)\nReal w2(start = 0.25, fixed = true)");
    assert_eq!(self::run(&both, &until(0.1, 1e-6)).outcome.ending, Ending::Complete);
}

#[test]
fn a16_hidden_by_cancellation() {
    let text =
        "Real x1(start = 1, fixed = true)\nder(x1) = y1\nder(x2) = y2\n0 = y1 + y2 + 2*x1\n0 = y1 + y2 + x1 + 2*x2";
    let run = run(text, &until(1.0, 1e-9));
    assert_close(run.end("x1"), (-4.0f64 / 3.0).exp(), 1e-8);
    assert_close(run.end("x2"), 0.5 * run.end("x1"), 1e-12);
}

#[test]
fn a17_through_a_vanishing_factor() {
    let text = "Real x3(start = 1, fixed = true)\nu = cos(time)\n0 = y + x1\n0 = y + x2\n0 = y + x3*u\n0 = der(x1) + der(x2) + der(x3)";
    let run = run(text, &until(2.0, 1e-9));
    assert_eq!(run.outcome.ending, Ending::Complete);
    // x1 + x2 + x3 stays 3 and x1 = x2 = x3·cos(t).
    assert_close(run.end("x3"), 3.0 / (1.0 + 2.0 * 2.0f64.cos()), 1e-7);
}

#[test]
fn a18_pendulum_turns_over() {
    let text = "parameter L = 1
        Real x(start = 1, fixed = true)
        Real y(start = 0)
        Real vy(start = -7, fixed = true)
        der(x) = vx
        der(y) = vy
        der(vx) = -f*x
        der(vy) = -f*y - 9.81
        x^2 + y^2 = L^2";
    let run = run(text, &until(10.0, 1e-8));
    assert_eq!(run.outcome.ending, Ending::Complete);
    let energy = |index: usize| {
        let (vx, vy, y) = (run.column("vx")[index], run.column("vy")[index], run.column("y")[index]);
        0.5 * (vx * vx + vy * vy) + 9.81 * y
    };
    let rows = run.time().len();
    for index in 0..rows {
        assert_close(energy(index), energy(0), 1e-5);
        let (x, y) = (run.column("x")[index], run.column("y")[index]);
        assert_close(x * x + y * y, 1.0, 1e-8);
    }
    // Fast enough to turn over.
    assert!(run.column("y").into_iter().fold(-1.0, f64::max) > 0.95);
}

#[test]
fn what_follows_from_parameters_keeps_its_value() {
    let text = "parameter p = 2\nReal a(start = p + 40)\na = 3*p\nReal x(start = 0, fixed = true)\nder(x) = a";
    let run = run(text, &until(1.0, 1e-6));
    assert_close(run.end("x"), 6.0, 1e-9);
}

/// The temperatures of a plate in balance, heated along its diagonal, by relaxation.
fn relaxed(size: usize) -> Vec<Vec<f64>> {
    let mut v = vec![vec![0.0f64; size + 2]; size + 2];
    for _ in 0..2000 {
        for i in 1..=size {
            for j in 1..=size {
                let heat = if i == j { 1.0 } else { 0.0 };
                let next = (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1] + heat) / 4.0;
                v[i][j] += 1.8 * (next - v[i][j]);
            }
        }
    }
    v
}

#[test]
fn a_large_system_keeps_its_digits() {
    let size = 24;
    let mut text = String::from("Real s(start = 1, fixed = true)\nder(s) = 0*v[1,1]\n");
    for i in 1..=size {
        for j in 1..=size {
            let at = |i: usize, j: usize| {
                if i == 0 || j == 0 || i > size || j > size { "0".to_owned() } else { format!("v[{i},{j}]") }
            };
            let (up, down, left, right) = (at(i - 1, j), at(i + 1, j), at(i, j - 1), at(i, j + 1));
            let heat = if i == j { "s" } else { "0" };
            text.push_str(&format!("4*v[{i},{j}] = {up} + {down} + {left} + {right} + {heat}\n"));
        }
    }
    let run = run(&text, &until(0.1, 1e-6));
    let expected = relaxed(size);
    for (i, row) in expected.iter().enumerate().take(size + 1).skip(1) {
        for (j, value) in row.iter().enumerate().take(size + 1).skip(1) {
            assert_close(run.end(&format!("v[{i},{j}]")), *value, 1e-12);
        }
    }
}

/// The currents of capacitors in parallel are in two sums that say together what the resistors carry.
#[test]
fn capacitors_in_parallel_between_resistors() {
    let text = "Real v1(start = 2, fixed = true)
        u = 3
        i1 = 2*der(v1)
        i2 = 1.3*der(v2)
        i3 = 0.7*der(v3)
        v1 = a - b
        v2 = a - b
        v3 = a - b
        j1 = (u - a)/1
        j2 = b/2
        j1 = i1 + i2 + i3
        j2 = i1 + i2 + i3";
    let run = run(text, &until(3.0, 1e-9));
    assert_eq!(run.outcome.ending, Ending::Complete);
    // One capacitor of 4 and one resistor of 3.
    for (t, v) in run.time().iter().zip(run.column("v3")) {
        assert_close(v, 3.0 - (-t / 12.0).exp(), 1e-7);
    }
}

/// Ratios without a common denominator: only rounding errors are left of what cancels.
#[test]
fn levers_without_a_common_denominator() {
    let text = "parameter n = 1.4142135623730951
        parameter k = 0.7320508075688772
        Real x(start = 1, fixed = true)
        der(x) = v
        p = n*x
        q = k*p
        q = n*k*y
        der(y) = w
        der(v) = f
        der(w) = g
        f + g = -2*x
        Real v(start = 0, fixed = true)";
    let run = run(text, &until(3.0, 1e-9));
    assert_eq!(run.outcome.ending, Ending::Complete);
    for (t, x) in run.time().iter().zip(run.column("x")) {
        assert_close(x, t.cos(), 1e-6);
    }
}

/// A state that the model asks for, but that the equations keep constant, is none.
#[test]
fn a_spring_beside_a_rod_is_no_state() {
    let text = "Real x(start = 1, fixed = true)
        Real v(start = 1, fixed = true)
        Real r(stateSelect = prefer)
        Real w(stateSelect = prefer)
        der(x) = v
        3*der(v) = 0
        x = c - 1.5
        y = c + 1.5
        r = x - y
        w = der(r)
        f = 50*r + 3*w";
    let run = run(text, &until(4.0, 1e-9));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert_close(run.end("x"), 5.0, 1e-9);
    assert_close(run.end("r"), -3.0, 1e-12);
}

/// Where a rank is lost between factors that change with time, nothing sees it before the run.
#[test]
fn motion_is_not_shared_evenly() {
    let shared = |motion: &str| {
        format!(
            "Real x(start = 0, fixed = true)
            der(x) = {motion}
            (1 + time)*a + (1 + time)*b = 1 + time
            (2 + time)*a + (2 + time)*b = 2 + time"
        )
    };
    // Both supports carry 1 together, whatever each of them carries.
    let whole = run(&shared("a + b"), &until(1.0, 1e-6));
    assert_eq!(whole.outcome.ending, Ending::Complete);
    assert_close(whole.end("x"), 1.0, 1e-6);
    let part = run(&shared("a"), &until(1.0, 1e-6));
    let Ending::Failed { diagnostic, .. } = part.outcome.ending else { panic!("{:?}", part.outcome.ending) };
    assert_eq!(diagnostic.code, "singular-system");
    assert!(diagnostic.message.contains("do not determine der(x)"), "{}", diagnostic.message);
}
