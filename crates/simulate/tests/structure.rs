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
