//! Runs without events, against closed forms.

mod common;

use common::{assert_close, run, until};
use simulate::Ending;

#[test]
fn decay() {
    let run = run("Real x(start = 1, fixed = true)\nder(x) = -x", &until(2.0, 1e-8));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert_close(run.end("x"), (-2.0f64).exp(), 1e-7);
    assert_eq!(run.time().len(), 101);
}

#[test]
fn algebraic_loop() {
    let run = run("Real x(start = 1, fixed = true)\nder(x) = -y\ny + z = 3*x\ny - z = x", &until(1.0, 1e-8));
    assert_close(run.end("x"), (-2.0f64).exp(), 1e-7);
    assert_close(run.end("z"), run.end("x"), 1e-12);
}

#[test]
fn nonlinear_loop_through_a_vanishing_factor() {
    let text = "z1 = sin(2*time)\nReal z2(start = 1)\nReal z3(start = 1)\nz1*z2 = sin(z3)\n0 = z2^2 - z3";
    let run = run(text, &until(1.0, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    for ((z1, z2), z3) in run.column("z1").iter().zip(run.column("z2")).zip(run.column("z3")) {
        assert_close(z1 * z2, z3.sin(), 1e-8);
        assert_close(z2 * z2, z3, 1e-8);
    }
}

#[test]
fn relations_among_parameters() {
    let text = "parameter p = 3
        q = if p > 2 then 5 else 7
        parameter r = if p > 1 then 2*p else 0
        Real x(start = if r > 5 then 1 else 2, fixed = true)
        der(x) = -q*x";
    let run = run(text, &until(1.0, 1e-8));
    assert_eq!((run.end("q"), run.column("x")[0]), (5.0, 1.0));
    assert_close(run.end("x"), (-5.0f64).exp(), 1e-7);
}
