//! The derivative of a random function by time, and by a state, against differences of its interpreter.

use fastrand::Rng;
use session::Settings;

use super::program::{Environment, Exits, Program};
use crate::case::Case;

/// The instant of the comparison: no value of the programs' relations is met there by chance.
const END: f64 = 0.9137;

/// Arguments that move with time, as text (`@` is the time) and as a function of time.
fn arguments(rng: &mut Rng) -> (String, impl Fn(f64) -> Environment + use<>) {
    let mut number = || rng.i32(-8..=8) as f64 / 4.0;
    let (x, a, w) = (number(), number(), number());
    let v = [number(), number(), number()];
    let (n, k) = (rng.i64(0..=4), rng.i64(1..=3));
    let text = format!(
        "{x} + @, {n}, @*{{{}, {}, {}}}, R(a = {a} + 0.5*@, k = {k}, w = {{0.5*@, {w} - @^2}})",
        v[0], v[1], v[2]
    );
    let environment = move |t: f64| {
        let mut environment = Environment::default();
        let record = (a + 0.5 * t, k, vec![0.5 * t, w - t * t]);
        environment.set_inputs(x + t, n, v.iter().map(|v| v * t).collect(), record);
        environment
    };
    (text, environment)
}

/// Value and derivative at the end; `None` where the function is not smooth around it.
fn derivative(value: impl Fn(f64) -> Option<f64>) -> Option<(f64, f64)> {
    let step = 1e-4;
    let (low, middle, high) = (value(END - step)?, value(END)?, value(END + step)?);
    let (inner_low, inner_high) = (value(END - 0.5 * step)?, value(END + 0.5 * step)?);
    let (wide, narrow) = ((high - low) / (2.0 * step), (inner_high - inner_low) / step);
    let size = 1.0 + narrow.abs();
    let bend = (high - 2.0 * middle + low).abs() / step;
    let is_smooth = (wide - narrow).abs() < 1e-5 * size && bend < 1e-2 * size;
    is_smooth.then_some((middle, (4.0 * narrow - wide) / 3.0))
}

pub fn case(rng: &mut Rng) -> Case {
    loop {
        let program = Program::random(rng, Exits::Given);
        let (text, environment) = arguments(rng);
        let Some((value, slope)) = derivative(|time| program.call(environment(time))) else { continue };
        let (by_time, by_state) = (text.replace('@', "time"), text.replace('@', "c"));
        let text = format!(
            "model Case
{}  Real y = f({by_time});
  Real dy = der(y);
  Real c(start = 0, fixed = true);
  Real z;
  Real dz = der(z);
equation
  der(c) = 1;
  z = f({by_state});
end Case;
",
            program.text
        );
        let settings = Settings { stop_time: Some(END), ..Settings::default() };
        return Case::judged(text, settings, move |run| {
            // It looks like a bisection.
            if run.messages.contains("by comparisons alone") {
                return Ok(());
            }
            if !run.is_complete() {
                return Err(format!("it stopped: {}", run.ending()));
            }
            for (name, expected) in [("y", value), ("dy", slope), ("z", value), ("dz", slope)] {
                let found = run.end(name)?;
                let is_near = (found - expected).abs() <= 1e-6 * expected.abs().max(1.0);
                if !is_near {
                    return Err(format!("{name} is {found} instead of {expected}"));
                }
            }
            Ok(())
        });
    }
}
