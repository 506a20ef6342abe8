//! Damped linear oscillators: the closed form of `x'' + 2·d·x' + w²·x = 0`.

use fastrand::Rng;
use session::Settings;

use crate::case::Case;

pub fn case(random: &mut Rng) -> Case {
    let w = 1.0 + 9.0 * random.f64();
    let d = 0.9 * w * random.f64();
    let (x0, v0) = (2.0 * random.f64() - 1.0, 2.0 * random.f64() - 1.0);
    let text = format!(
        "model M
  Real x(start = {x0}, fixed = true);
  Real v(start = {v0}, fixed = true);
equation
  der(x) = v;
  der(v) = -{w}*{w}*x - 2*{d}*v;
end M;
"
    );
    let settings = Settings { stop_time: Some(3.0), ..Settings::default() };
    let damped = (w * w - d * d).sqrt();
    let course = move |t: f64| (-d * t).exp() * (x0 * (damped * t).cos() + (v0 + d * x0) / damped * (damped * t).sin());
    Case::complete(text, settings, move |run| run.follows("x", course, 1e-4))
}
