//! Pulses behind long rests: bells and cosine bumps without events, at least two output intervals wide, that drive systems at
//! rest. What an integrator, a chain of two, or a linear equation in between makes of them has a closed form at the end.

use fastrand::Rng;
use session::Settings;

use crate::case::Case;

const SOLVERS: [&str; 7] = ["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"];

pub fn case(random: &mut Rng) -> Case {
    let stop = 10f64.powf(3.0 * random.f64() - 1.0);
    let intervals = 40 + random.usize(0..400);
    let interval = stop / intervals as f64;
    let width = interval * (2.0 + 8.0 * random.f64() * random.f64());
    let centre = stop * (0.2 + 0.6 * random.f64());
    let height = 10f64.powf(2.0 * random.f64() - 0.5) / width;
    let is_bell = random.bool();
    // The area of a bell whose width at half of its height is `width`, and of a bump between two zeros.
    let (pulse, area) = if is_bell {
        let spread = width / (2.0 * 2f64.ln().sqrt());
        let text = format!("{height}*exp(-((time - {centre})/{spread})^2)");
        (text, height * spread * std::f64::consts::PI.sqrt())
    } else {
        let text = format!(
            "noEvent(if abs(time - {centre}) < {width} then {}*(1 + cos({}*(time - {centre}))) else 0)",
            0.5 * height,
            std::f64::consts::PI / width
        );
        (text, height * width)
    };
    let (extra, drive) = match random.u32(0..3) {
        0 => (String::new(), "u"),
        1 => ("  z + 0.5*w = u;\n  w - 0.25*z = 0.25*u;\n".to_owned(), "(z + 0.5*w)"),
        _ => ("  z + 0.1*z^3 = u + 0.1*u^3;\n  w = 0;\n".to_owned(), "z"),
    };
    let unknowns = if extra.is_empty() { "" } else { "  Real z, w;\n" };
    let text = format!(
        "model M
  Real u = {pulse};
  Real x(start = 0, fixed = true);
{unknowns}equation
{extra}  der(x) = {drive};
end M;
"
    );
    let settings = Settings {
        stop_time: Some(stop),
        intervals: Some(intervals),
        solver: Some(SOLVERS[random.usize(0..SOLVERS.len())].to_owned()),
        ..Settings::default()
    };
    Case::complete(text, settings, move |run| {
        let found = run.end("x")?;
        let wrong = (found - area).abs() > 1e-3 * (1.0 + area.abs());
        if wrong { Err(format!("x ends at {found}, the pulse has the area {area}")) } else { Ok(()) }
    })
}
