//! Signals with a closed form, and what models with them have in common.

use fastrand::Rng;
use session::Settings;

use crate::run::Run;

/// A number of a range.
pub fn between(random: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * random.f64()
}

/// One of a range whose logarithm is evenly distributed.
pub fn magnitude(random: &mut Rng, low: f64, high: f64) -> f64 {
    between(random, low.ln(), high.ln()).exp()
}

/// A function of time, as text and as a closure, with its breaks.
#[derive(Clone)]
pub struct Signal {
    pub text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Copy)]
pub enum Part {
    /// amplitude · sin(rate·t + phase)
    Sine(f64, f64, f64),
    /// amplitude · sin(rate·t²)
    Chirp(f64, f64),
    /// height from a time on
    Step(f64, f64),
    /// slope · (t − begin) from a time on
    Ramp(f64, f64),
}

impl Signal {
    pub fn random(random: &mut Rng, fastest: f64, jumps: bool) -> Self {
        let mut parts = Vec::new();
        for _ in 0..random.usize(1..4) {
            let rate = magnitude(random, 0.3, fastest);
            parts.push(match random.u32(0..if jumps { 5 } else { 3 }) {
                0 | 1 => Part::Sine(between(random, -2.0, 2.0), rate, between(random, 0.0, 6.0)),
                2 => Part::Chirp(between(random, 0.2, 2.0), 0.5 * rate),
                3 => Part::Step(between(random, -2.0, 2.0), between(random, 0.05, 0.9)),
                _ => Part::Ramp(between(random, -2.0, 2.0), between(random, 0.05, 0.9)),
            });
        }
        let scale = if random.u32(0..5) == 0 { magnitude(random, 1e-6, 1e6) } else { 1.0 };
        for part in &mut parts {
            match part {
                Part::Sine(a, ..) | Part::Chirp(a, _) | Part::Step(a, _) | Part::Ramp(a, _) => *a *= scale,
            }
        }
        let text = parts.iter().map(|part| match part {
            Part::Sine(a, w, p) => format!("({a:e})*sin({w:e}*time + {p:e})"),
            Part::Chirp(a, w) => format!("({a:e})*sin({w:e}*time*time)"),
            Part::Step(a, t) => format!("(if time < {t:e} then 0 else {a:e})"),
            Part::Ramp(a, t) => format!("(if time < {t:e} then 0 else ({a:e})*(time - {t:e}))"),
        });
        Self { text: text.collect::<Vec<_>>().join(" + "), parts }
    }

    /// Before the start it is what it is there.
    pub fn at(&self, t: f64) -> f64 {
        let t = t.max(0.0);
        let value = |part: &Part| match *part {
            Part::Sine(a, w, p) => a * (w * t + p).sin(),
            Part::Chirp(a, w) => a * (w * t * t).sin(),
            Part::Step(a, begin) => a * f64::from(u8::from(t >= begin)),
            Part::Ramp(a, begin) => a * (t - begin).max(0.0),
        };
        self.parts.iter().map(value).sum()
    }

    /// From the start to `t`.
    pub fn integral(&self, t: f64) -> Option<f64> {
        let t = t.max(0.0);
        let value = |part: &Part| match *part {
            Part::Sine(a, w, p) => Some(a / w * (p.cos() - (w * t + p).cos())),
            Part::Chirp(..) => None,
            Part::Step(a, begin) => Some(a * (t - begin).max(0.0)),
            Part::Ramp(a, begin) => Some(0.5 * a * (t - begin).max(0.0).powi(2)),
        };
        self.parts.iter().map(value).sum()
    }

    pub fn size(&self) -> f64 {
        (0..=1000).map(|k| self.at(f64::from(k) * 1.1e-3).abs()).fold(0.0, f64::max)
    }
}

/// Tolerance, output points and solver.
pub fn settings(random: &mut Rng, stop: f64) -> (Settings, f64) {
    let tolerance = magnitude(random, 1e-9, 1e-3);
    let solvers = ["auto", "auto", "auto", "tsit5", "dop853", "esdirk", "bdf", "rosenbrock", "dae"];
    let settings = Settings {
        stop_time: Some(stop),
        tolerance: Some(tolerance),
        intervals: Some(random.usize(5..800)),
        solver: Some(solvers[random.usize(0..solvers.len())].to_owned()),
        ..Settings::default()
    };
    (settings, tolerance)
}

/// States beside the signals, or none at all.
pub fn company(random: &mut Rng) -> (&'static str, &'static str) {
    let all = [
        ("", ""),
        ("  Real slow(start = 300, fixed = true);\n", "  der(slow) = (350 - slow)/10;\n"),
        ("  Real grown(start = 0, fixed = true);\n", "  der(grown) = 1;\n"),
        (
            "  Real swing(start = 1, fixed = true), speed(start = 0, fixed = true);\n",
            "  der(swing) = speed;\n  der(speed) = -9*swing;\n",
        ),
    ];
    all[random.usize(0..all.len())]
}

/// Compares every row; next to a jump either side of it will do.
pub fn follows(run: &Run, name: &str, expected: impl Fn(f64) -> f64, tolerance: f64) -> Result<(), String> {
    for (&time, &value) in run.result.time.iter().zip(run.column(name)?) {
        let near = [0.0, -1e-9, -1e-12, 1e-12, 1e-9].map(|shift| expected(time + shift));
        if !near.iter().any(|expected| (value - expected).abs() <= tolerance) {
            return Err(format!("{name} is {value} instead of {} at {time}, tolerance {tolerance:e}", near[0]));
        }
    }
    Ok(())
}
