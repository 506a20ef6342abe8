//! Delays shorter and longer than the steps, against a closed form.

mod common;

use common::{run, until};
use simulate::Options;

/// x' = −x(t − τ) with x = 1 before the start: the method of steps gives Σ (−1)ⁿ (t − (n − 1)τ)ⁿ / n! over the terms
/// with t ≥ (n − 1)τ.
fn exact(time: f64, delay: f64) -> f64 {
    let mut sum = 1.0;
    for n in 1..200 {
        let base = time - f64::from(n - 1) * delay;
        if base < 0.0 {
            break;
        }
        let term: f64 = (1..=n).map(|k| -base / f64::from(k)).product();
        sum += term;
    }
    sum
}

#[test]
fn a_delayed_state() {
    for delay in [1e-3, 0.05, 0.3] {
        let text = format!("Real x(start = 1, fixed = true)\nder(x) = -delay(x, {delay})");
        for solver in ["tsit5", "dop853", "bdf", "esdirk", "rosenbrock"] {
            let end = run(&text, &Options { solver: solver.parse().unwrap(), ..until(5.0, 1e-6) }).end("x");
            let error = (end - exact(5.0, delay)).abs();
            assert!(error < 2e-5, "{solver}, delay {delay}: {error:e}");
        }
    }
}

/// Kinks come back through the loop, each time in a higher derivative, and values between recorded points are as accurate
/// as the steps are.
#[test]
fn a_loop_with_a_delay_follows_the_tolerance() {
    for delay in [0.05, 0.3, 1.0] {
        let text = format!("Real x(start = 1, fixed = true)\nder(x) = -delay(x, {delay})");
        for tolerance in [1e-6, 1e-8, 1e-10] {
            let error = (run(&text, &until(5.0, tolerance)).end("x") - exact(5.0, delay)).abs();
            assert!(error < 30.0 * tolerance, "tolerance {tolerance:e}, delay {delay}: {error:e}");
        }
    }
}

/// What is remembered is as dense as the signal needs, whatever the steps are: here nothing but time moves it.
#[test]
fn a_fast_signal_is_delayed_as_it_is() {
    for (states, equations) in [("", ""), ("Real z(start = 0, fixed = true)\n", "der(z) = 1\n")] {
        for tolerance in [1e-4, 1e-8] {
            let text =
                format!("Real y\nReal w\n{states}y = delay(sin(314*time), 0.013)\nw = delay(y, 0.3)\n{equations}");
            let result = run(&text, &Options { interval: 0.1, ..until(1.0, tolerance) });
            for (name, delay) in [("y", 0.013_f64), ("w", 0.313)] {
                let error = (result.end(name) - (314.0 * (1.0 - delay)).sin()).abs();
                assert!(error < 10.0 * tolerance, "{name} at {tolerance:e}: {error:e}");
            }
        }
    }
}

/// The delay 0.2 + 0.1·t asks for the jump at 0.5 at t = 7/9: from there on the integral grows.
#[test]
fn a_jump_arrives_through_a_variable_delay() {
    let text = "Real x(start = 0, fixed = true)\nReal u\nu = if time < 0.5 then 0 else 1\n\
                der(x) = delay(u, 0.2 + 0.1*time, 0.4)";
    for solver in ["auto", "bdf", "esdirk"] {
        let end = run(text, &Options { solver: solver.parse().unwrap(), ..until(1.0, 1e-8) }).end("x");
        assert!((end - 2.0 / 9.0).abs() < 1e-7, "{solver}: {end}");
    }
}
