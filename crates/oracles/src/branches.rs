//! Equations with several solutions that move: linkages that are driven, and polynomials with roots that stay apart. The branch
//! that continues the start has a closed form, whatever the output grid, the solver and the tolerance are.

use fastrand::Rng;
use session::Settings;

use crate::case::Case;
use crate::linear::pick;

const SOLVERS: [&str; 7] = ["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"];

pub fn case(random: &mut Rng) -> Case {
    match random.u32(0..4) {
        0 => slider_crank(random),
        1 => two_link_arm(random),
        _ => moving_roots(random),
    }
}

/// Any solver, any grid.
fn settings(random: &mut Rng, stop_time: f64) -> Settings {
    let intervals = match random.bool() {
        true => *pick(random, &[1, 3, 5, 13, 50, 500]),
        false => random.usize(1..=500),
    };
    Settings {
        stop_time: Some(stop_time),
        intervals: Some(intervals),
        solver: Some((*pick(random, &SOLVERS)).to_owned()),
        tolerance: Some(*pick(random, &[1e-4, 1e-6, 1e-6, 1e-9])),
        ..Settings::default()
    }
}

/// The settings as a comment, to repeat a case by hand.
fn described(settings: &Settings, text: &str) -> String {
    let (solver, intervals) = (settings.solver.as_deref().unwrap_or("auto"), settings.intervals.unwrap_or(500));
    let (stop, tolerance) = (settings.stop_time.unwrap_or(1.0), settings.tolerance.unwrap_or(1e-6));
    format!("// --stop-time {stop:?} --intervals {intervals} --solver {solver} --tolerance {tolerance:?}\n{text}")
}

/// Some models have a state that feels the unknown: its declaration and its equation.
fn feeling(random: &mut Rng, unknown: &str) -> (&'static str, String) {
    match random.bool() {
        true => ("  Real s(start = 0, fixed = true);\n", format!("  der(s) = 0.01*{unknown};\n")),
        false => ("", String::new()),
    }
}

/// The crank turns with time, with an angle that is a state, or swings.
fn slider_crank(random: &mut Rng) -> Case {
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
    let (felt, feeling) = feeling(random, "x");
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
    let stop_time = 1.0 + 4.0 * random.f64();
    let settings = settings(random, stop_time);
    let place = move |t: f64| {
        let (sine, cosine) = angle(t).sin_cos();
        cosine + side * (rod * rod - sine * sine).sqrt()
    };
    Case::complete(described(&settings, &text), settings, move |run| run.follows("x", place, 1e-3))
}

/// The tip is led along a path that is made from known angles; the elbow never comes nearer to straight, or to folded, than 0.1.
fn two_link_arm(random: &mut Rng) -> Case {
    let lengths = [0.5 + random.f64(), 0.5 + random.f64()];
    let least = *pick(random, &[0.1, 0.2, 0.5]);
    let swing = 0.5 * (3.0 - least) * random.f64();
    let (elbow_speed, shoulder_speed) = (0.3 + 5.7 * random.f64(), 12.0 * random.f64() - 6.0);
    let first = 2.0 * random.f64() - 1.0;
    let side = if random.bool() { 1.0 } else { -1.0 };
    let shoulder = move |t: f64| first + shoulder_speed * t;
    let elbow = move |t: f64| side * (least + swing * (1.0 - (elbow_speed * t).cos()));
    let (a, b) = (
        format!("({first:?} + ({shoulder_speed:?})*time)"),
        format!("({side:?}*({least:?} + {swing:?}*(1 - cos({elbow_speed:?}*time))))"),
    );
    let [l, m] = lengths;
    let is_cartesian = random.bool();
    let (declared, equations, unknown) = match is_cartesian {
        true => (
            format!("Real x(start = {:?}), y(start = {:?})", l * first.cos(), l * first.sin()),
            format!("x^2 + y^2 = {l:?}^2;\n  (px - x)^2 + (py - y)^2 = {m:?}^2"),
            "x",
        ),
        false => (
            format!("Real a(start = {first:?}), b(start = {:?})", side * least),
            format!("{l:?}*cos(a) + {m:?}*cos(a + b) = px;\n  {l:?}*sin(a) + {m:?}*sin(a + b) = py"),
            "b",
        ),
    };
    let (felt, feeling) = feeling(random, unknown);
    let text = format!(
        "model M
  Real px, py;
  {declared};
{felt}equation
  px = {l:?}*cos({a}) + {m:?}*cos({a} + {b});
  py = {l:?}*sin({a}) + {m:?}*sin({a} + {b});
  {equations};
{feeling}end M;
"
    );
    let stop_time = *pick(random, &[2.0, 5.0, 10.0]);
    let settings = settings(random, stop_time);
    Case::complete(described(&settings, &text), settings, move |run| match is_cartesian {
        true => run.follows("x", |t| l * shoulder(t).cos(), 0.02),
        false => run.follows("b", elbow, 0.02),
    })
}

/// How all roots move together.
#[derive(Clone, Copy)]
enum Motion {
    Swing {
        amplitude: f64,
        speed: f64,
    },
    /// The same as a state.
    Oscillator {
        amplitude: f64,
        speed: f64,
    },
    Ramp {
        speed: f64,
    },
    Parabola {
        speed: f64,
    },
    Growth {
        rate: f64,
    },
}

impl Motion {
    fn new(random: &mut Rng) -> Self {
        let (amplitude, speed) = (*pick(random, &[0.5, 2.0, 10.0]), 0.3 + 5.7 * random.f64());
        match random.u32(0..5) {
            0 => Motion::Swing { amplitude, speed },
            1 => Motion::Oscillator { amplitude, speed },
            2 => Motion::Ramp { speed: 3.0 * (speed - 3.0) },
            3 => Motion::Parabola { speed: speed - 3.0 },
            _ => Motion::Growth { rate: 0.05 * speed },
        }
    }

    fn at(self, time: f64) -> f64 {
        match self {
            Motion::Swing { amplitude, speed } | Motion::Oscillator { amplitude, speed } => {
                amplitude * (speed * time).sin()
            }
            Motion::Ramp { speed } => speed * time,
            Motion::Parabola { speed } => speed * time * time,
            Motion::Growth { rate } => (rate * time).exp(),
        }
    }

    fn text(self) -> String {
        match self {
            Motion::Swing { amplitude, speed } => format!("{amplitude:?}*sin({speed:?}*time)"),
            Motion::Oscillator { amplitude, .. } => format!("{amplitude:?}*sine"),
            Motion::Ramp { speed } => format!("({speed:?})*time"),
            Motion::Parabola { speed } => format!("({speed:?})*time^2"),
            Motion::Growth { rate } => format!("exp({rate:?}*time)"),
        }
    }

    /// The states that it needs, and their equations.
    fn states(self) -> (&'static str, String) {
        match self {
            Motion::Oscillator { speed, .. } => (
                "  Real sine(start = 0, fixed = true);\n  Real cosine(start = 1, fixed = true);\n",
                format!("  der(sine) = {speed:?}*cosine;\n  der(cosine) = -{speed:?}*sine;\n"),
            ),
            _ => ("", String::new()),
        }
    }
}

/// A polynomial whose roots move together, and a little by themselves: they stay 0.4 apart.
fn moving_roots(random: &mut Rng) -> Case {
    let motion = Motion::new(random);
    let mut level = -2.0;
    let roots: Vec<(f64, f64, f64)> = (0..random.usize(2..5))
        .map(|_| {
            level += 0.8 + 0.7 * random.f64();
            (level, 0.2 * random.f64(), 0.5 + 7.5 * random.f64())
        })
        .collect();
    let (level, swing, speed) = *pick(random, &roots);
    let course = move |t: f64| level + swing * (speed * t).sin() + motion.at(t);
    let factor = |&(level, swing, speed): &(f64, f64, f64)| {
        format!("(y - (({level:?}) + {swing:?}*sin({speed:?}*time) + {}))", motion.text())
    };
    let product = roots.iter().map(factor).collect::<Vec<_>>().join("*");
    let (declared, motion_equations) = motion.states();
    let (other, equations) = match random.u32(0..3) {
        0 => {
            // A second unknown that follows the first.
            let part = 0.1 + 2.0 * random.f64();
            let start = part * course(0.0);
            let follows = format!("z^3 + z = {part:?}*y*({:?}*y^2 + 1)", part * part);
            (format!("  Real z(start = {start:?});\n"), format!("  {product} + (z - {part:?}*y) = 0;\n  {follows};\n"))
        }
        _ => (String::new(), format!("  {product} = 0;\n")),
    };
    let (felt, feeling) = feeling(random, "y");
    let text = format!(
        "model M
  Real y(start = {:?});
{other}{declared}{felt}equation
{motion_equations}{equations}{feeling}end M;
",
        course(0.0)
    );
    let stop_time = *pick(random, &[1.0, 5.0, 20.0]);
    let settings = settings(random, stop_time);
    Case::complete(described(&settings, &text), settings, move |run| run.follows("y", course, 0.1))
}
