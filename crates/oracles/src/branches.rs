//! Linkages that are driven: a slider-crank by time, by an angle that is a state, or by a swinging angle. The branch that
//! continues the start has a closed form, whatever the output grid is.

use fastrand::Rng;
use session::Settings;

use crate::case::Case;

const SOLVERS: [&str; 7] = ["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"];

pub fn case(random: &mut Rng) -> Case {
    let rod = 1.05 + random.f64();
    let speed = 0.5 + 7.0 * random.f64();
    let side = if random.bool() { 1.0 } else { -1.0 };
    let kind = random.u32(0..3);
    let angle = move |t: f64| if kind == 2 { 3.0 * (speed * t).sin() } else { speed * t };
    let (declared, motion) = match kind {
        0 => ("Real phi", format!("phi = {speed}*time")),
        1 => ("Real phi(start = 0, fixed = true)", format!("der(phi) = {speed}")),
        _ => ("Real phi", format!("phi = 3*sin({speed}*time)")),
    };
    let felt = if random.bool() { "  Real s(start = 0, fixed = true);\n" } else { "" };
    let feeling = if felt.is_empty() { "" } else { "  der(s) = 0.01*x;\n" };
    let text = format!(
        "model M
  {declared};
  Real x(start = {});
{felt}equation
  {motion};
  (x - cos(phi))^2 + sin(phi)^2 = {rod}^2;
{feeling}end M;
",
        1.0 + side * rod
    );
    let settings = Settings {
        stop_time: Some(1.0 + 4.0 * random.f64()),
        intervals: Some([1, 3, 5, 13, 50, 500][random.usize(0..6)]),
        solver: Some(SOLVERS[random.usize(0..SOLVERS.len())].to_owned()),
        ..Settings::default()
    };
    let place = move |t: f64| {
        let (sine, cosine) = angle(t).sin_cos();
        cosine + side * (rod * rod - sine * sine).sqrt()
    };
    Case::complete(text, settings, move |run| run.follows("x", place, 1e-3))
}
