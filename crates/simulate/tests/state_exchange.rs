//! States that change places during the run, over long times.

mod common;

use common::{assert_close, run, run_with, until};
use simulate::{Ending, Options};
use solve::Method;

const PENDULUM: &str = "der(x) = vx
    der(y) = vy
    der(vx) = -f*x
    der(vy) = -f*y - 9.81
    x^2 + y^2 = 1
    e = (vx^2 + vy^2)/2 + 9.81*y";

#[test]
fn pendulum_swings_for_a_hundred_periods() {
    let text = format!("Real x(start = 1)\nReal y(start = 0, fixed = true)\n{PENDULUM}");
    // From the horizontal the period is 4·K(1/√2)/√g.
    let period = 4.0 * 1.8540746773013719 / 9.81f64.sqrt();
    let options = Options { stop_time: 100.0 * period, interval: period / 4.0, tolerance: 1e-8, ..Options::default() };
    let run = run(&text, &options);
    assert_eq!(run.outcome.ending, Ending::Complete);
    for (x, y) in run.column("x").iter().zip(run.column("y")) {
        assert_close(x * x + y * y, 1.0, 1e-9);
    }
    // Relative to the energy that goes to and fro.
    for e in run.column("e") {
        assert!(e.abs() < 1e-4 * 9.81, "energy {e}");
    }
    assert_close(run.end("x"), 1.0, 1e-3);
}

#[test]
fn pendulum_turns_over() {
    let text =
        format!("Real x(start = 0, fixed = true)\nReal y(start = -1)\nReal vx(start = 7, fixed = true)\n{PENDULUM}");
    let run = run(&text, &Options { stop_time: 20.0, interval: 0.05, tolerance: 1e-8, ..Options::default() });
    assert_eq!(run.outcome.ending, Ending::Complete);
    let energy = 7.0 * 7.0 / 2.0 - 9.81;
    for e in run.column("e") {
        assert_close(e, energy, 1e-5);
    }
    let turns = run.column("y").windows(3).filter(|y| y[1] > y[0] && y[1] > y[2] && y[1] > 0.9).count();
    assert!(turns > 10, "{turns}");
}

#[test]
fn a_factor_vanishes() {
    let text = "Real x1(start = 1, fixed = true)
        0 = y + x1
        0 = y + x2
        0 = y + x3*cos(time)
        0 = der(x1) + der(x2) + der(x3)";
    // x1 = x2 = −y, x3·cos t = x1, 2·x1 + x3 = c.
    let run = run(text, &until(1.9, 1e-8));
    assert_eq!(run.outcome.ending, Ending::Complete);
    for (t, x1) in run.time().iter().zip(run.column("x1")) {
        assert_close(x1, 3.0 * t.cos() / (2.0 * t.cos() + 1.0), 1e-5);
    }
}

/// A weightless pendulum rotates evenly. Every method can step over the point at which its states become singular, and none
/// may come back from it.
#[test]
fn pendulum_never_turns_round() {
    let text = "Real x(start = 1, fixed = true)
        Real vy(start = 0.5, fixed = true)
        der(x) = vx
        der(y) = vy
        der(vx) = -l*x
        der(vy) = -l*y
        x^2 + y^2 = 1";
    for method in Method::ALL {
        for (exponent, intervals) in [(3, 37.0), (4, 7.0), (6, 500.0), (8, 60.0)] {
            let tolerance = 10f64.powi(-exponent);
            let step = method.is_fixed_step().then_some(0.02);
            let options = Options {
                stop_time: 60.0,
                interval: 60.0 / intervals,
                tolerance,
                solver: method,
                step,
                ..Options::default()
            };
            let inline_step = options.inline_step();
            let run = run_with(text, &transform::Options { inline_step, ..Default::default() }, &options);
            let what = format!("{} with {tolerance}", method.name());
            assert_eq!(run.outcome.ending, Ending::Complete, "{what}");
            let [x, y, vx, vy] = ["x", "y", "vx", "vy"].map(|name| run.column(name));
            for (row, time) in run.time().iter().enumerate() {
                let turning = x[row] * vy[row] - y[row] * vx[row];
                assert!(turning > 0.0, "{what} turns round before {time}");
                // An error of speed makes one of angle that grows with time, and there are more of them.
                let off = (x[row] - (time / 2.0).cos()).hypot(y[row] - (time / 2.0).sin());
                let bound = 30.0 * tolerance * (1.0 + time / 2.0).powi(2);
                assert!(method.is_fixed_step() || off < bound, "{what} is off by {off} at {time}");
            }
        }
    }
}
