//! Windows that a state passes quickly: relations over kinks, narrow peaks and fast functions of states that follow closed
//! forms. Each passage is counted by a when clause, and found here from where the closed form enters the window.

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, SOLVERS};

/// A state by its equations and by its closed form.
struct Motion {
    declared: String,
    equations: String,
    position: Box<dyn Fn(f64) -> f64>,
    /// The largest error of `x` that the tolerance of the run allows, also by the end.
    stop: f64,
}

fn motion(random: &mut Rng) -> Motion {
    match random.u32(0..5) {
        0 => {
            let rate = 0.3 + 4.0 * random.f64();
            Motion {
                declared: "Real x(start = 0, fixed = true);".into(),
                equations: format!("der(x) = {rate};"),
                position: Box::new(move |t| rate * t),
                stop: 4.0 + 6.0 * random.f64(),
            }
        }
        1 => {
            let rate = 0.5 + 2.0 * random.f64();
            Motion {
                declared: "Real x(start = 0, fixed = true), v(start = 1, fixed = true);".into(),
                equations: format!("der(x) = {rate}*v; der(v) = -{rate}*x;"),
                position: Box::new(move |t| (rate * t).sin()),
                stop: 5.0 + 5.0 * random.f64(),
            }
        }
        2 => {
            let rate = 0.2 + random.f64();
            Motion {
                declared: "Real x(start = 3, fixed = true);".into(),
                equations: format!("der(x) = -{rate}*x;"),
                position: Box::new(move |t| 3.0 * (-rate * t).exp()),
                stop: 3.0 + 2.0 * random.f64(),
            }
        }
        3 => {
            let (start, push) = (2.0 + 3.0 * random.f64(), 0.5 + random.f64());
            Motion {
                declared: format!("Real x(start = 0, fixed = true), v(start = {start}, fixed = true);"),
                equations: format!("der(x) = v; der(v) = -{push};"),
                position: Box::new(move |t| start * t - 0.5 * push * t * t),
                stop: 2.0 * start / push * (0.6 + 0.6 * random.f64()),
            }
        }
        _ => {
            let rate = 0.5 + 2.0 * random.f64();
            Motion {
                declared: "Real x(start = 0.5, fixed = true);".into(),
                equations: format!("der(x) = {rate}*x*(1 - x);"),
                position: Box::new(move |t| 1.0 / (1.0 + (-rate * t).exp())),
                stop: 3.0 + 4.0 * random.f64(),
            }
        }
    }
}

/// A relation that holds while the state is less than `width` from one of the places; its residue by the state is positive
/// there.
struct Window {
    condition: String,
    inside: Box<dyn Fn(f64) -> f64>,
    /// The distance between neighbouring places, where there are many.
    period: Option<f64>,
}

fn window(random: &mut Rng, centre: f64, width: f64) -> Window {
    let (c, w) = (centre, width);
    let single = move |x: f64| w - (x - c).abs();
    let window = |condition: String| Window { condition, inside: Box::new(single), period: None };
    let at = Number(centre);
    match random.u32(0..12) {
        0 => window(format!("abs(x - {at}) < {w}")),
        1 => window(format!("max(x - {at}, {at} - x) < {w}")),
        2 => window(format!("min(x - {at}, {at} - x) > -{w}")),
        3 => window(format!("sqrt(abs(x - {at})) < {}", w.sqrt())),
        4 => window(format!("exp(-((x - {at})/{w})^2) > {}", (-1f64).exp())),
        5 => window(format!("1/(1 + ((x - {at})/{w})^2) > 0.5")),
        6 => window(format!("(x - {at})*(x - {at}) < {}", w * w)),
        7 => window(format!("(x - {})*(x - {}) < 0", Number(c - w), Number(c + w))),
        8 => window(format!("abs(tanh((x - {at})/{w})) < {}", 1f64.tanh())),
        9 => window(format!("(if noEvent(x > {at}) then x - {at} else {at} - x) < {w}")),
        10 => {
            // At least a few widths between neighbours.
            let period = (20.0 * w).max(0.05 + random.f64());
            let turn = std::f64::consts::TAU / period;
            let level = (turn * w).cos();
            Window {
                condition: format!("cos({turn}*(x - {at})) > {level}"),
                inside: Box::new(move |x| w - distance(x - c, period)),
                period: Some(period),
            }
        }
        _ => {
            let period = (20.0 * w).max(0.05 + random.f64());
            let turn = std::f64::consts::PI / period;
            let level = (turn * w).sin();
            Window {
                condition: format!("abs(sin({turn}*(x - {at}))) < {level}"),
                inside: Box::new(move |x| w - distance(x - c, period)),
                period: Some(period),
            }
        }
    }
}

/// A number as an operand.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 < 0.0 { write!(f, "({})", self.0) } else { write!(f, "{}", self.0) }
    }
}

/// From the nearest multiple of a period.
fn distance(x: f64, period: f64) -> f64 {
    (x - period * (x / period).round()).abs()
}

/// The entries of a window; `None` where a passage is too near to its edge, to the start or to the end for the errors of a run.
fn entries(motion: &Motion, window: &Window, centre: f64, width: f64, error: f64) -> Option<u64> {
    const POINTS: u32 = 20_000;
    let place = |t: f64| match window.period {
        Some(period) => ((motion.position)(t) - centre) / period,
        None => (motion.position)(t) - centre,
    };
    let time = |k: u32| motion.stop * f64::from(k) / f64::from(POINTS);
    let is_near = |t: f64| {
        let inside = (window.inside)((motion.position)(t));
        inside > -10.0 * error
    };
    if is_near(0.0) || is_near(motion.stop) {
        return None;
    }
    let mut count = 0;
    for k in 0..POINTS {
        let (a, m, b) = (time(k), place(time(k)), place(time(k + 1)));
        let (low, high) = (m.min(b), m.max(b));
        count += match window.period {
            Some(_) => (high.floor() - low.floor()) as u64,
            None => u64::from(low < 0.0 && high >= 0.0),
        };
        // A turn inside of the window or near to it.
        let next = place(time(k + 2));
        let turns = (b - m) * (next - b) <= 0.0;
        let margin = 3.0 * width + 20.0 * error + 2.0 * (b - m).abs() * window.period.unwrap_or(1.0);
        if turns && (window.inside)((motion.position)(a)) > -margin {
            return None;
        }
    }
    Some(count)
}

pub fn case(random: &mut Rng) -> Case {
    loop {
        let motion = motion(random);
        let width = 10f64.powf(-7.0 + 6.0 * random.f64());
        let passed = (motion.position)(motion.stop * random.f64());
        let centre = if random.u32(0..4) == 0 { -passed } else { passed };
        let window = window(random, centre, width);
        let tolerance = 10f64.powi(-(random.i32(5..10)));
        if let Some(expected) = entries(&motion, &window, centre, width, 1e3 * tolerance) {
            return written(random, &motion, &window, tolerance, expected);
        }
    }
}

/// The same condition on another variable.
fn of_y(condition: &str) -> String {
    condition.replace("x >", "y >").replace("x -", "y -").replace("- x", "- y")
}

fn written(random: &mut Rng, motion: &Motion, window: &Window, tolerance: f64, expected: u64) -> Case {
    let Motion { declared, equations, stop, .. } = motion;
    let condition = &window.condition;
    // The relation decides directly, by a variable, or behind the solution of an equation system.
    let (more, equations, condition) = match random.u32(0..4) {
        0 => ("  Boolean b = ".to_owned() + condition + ";\n", equations.clone(), "b".to_owned()),
        1 => ("  Real y, z;\n".into(), format!("{equations} y + 2*z = 3*x; y - z = 0;"), of_y(condition)),
        2 => ("  Real y;\n".into(), format!("{equations} y + 0.1*y^3 = x + 0.1*x^3;"), of_y(condition)),
        _ => (String::new(), equations.clone(), condition.clone()),
    };
    let text = format!(
        "model M
  {declared}
{more}  Integer n(start = 0, fixed = true);
equation
  {equations}
  when {condition} then
    n = pre(n) + 1;
  end when;
end M;
"
    );
    let settings = Settings {
        stop_time: Some(*stop),
        intervals: Some([1, 3, 10, 50, 500][random.usize(0..5)]),
        tolerance: Some(tolerance),
        solver: Some(SOLVERS[random.usize(0..SOLVERS.len())].to_owned()),
        ..Settings::default()
    };
    Case::complete(text, settings, move |run| {
        let found = run.end("n")?;
        if found == expected as f64 { Ok(()) } else { Err(format!("{found} passages were seen, there are {expected}")) }
    })
}
