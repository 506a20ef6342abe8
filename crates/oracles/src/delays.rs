//! Delays: signals with a closed form through fixed, variable, nested and vanishing delays; delay differential equations
//! against power series by the method of steps; what relations and roundings of delayed signals decide.

use fastrand::Rng;

use crate::case::Case;
use crate::signal::{Signal, between, company, follows, magnitude, settings};

mod relations;

pub fn case(random: &mut Rng) -> Case {
    match random.u32(0..9) {
        0 | 1 => fixed(random),
        2 => variable(random),
        3 => nested(random),
        4 => integrated(random),
        5 | 6 => differential(random),
        _ => relations::case(random),
    }
}

fn fixed(random: &mut Rng) -> Case {
    let signal = Signal::random(random, 500.0, true);
    let delay = if random.u32(0..6) == 0 { 0.0 } else { magnitude(random, 1e-4, 1.2) };
    let (declared, equations) = company(random);
    let text = format!(
        "model M\n{declared}  Real u = {};\n  Real y = delay(u, {delay:e});\nequation\n{equations}end M;\n",
        signal.text
    );
    let (settings, tolerance) = settings(random, 1.0);
    let allowed = 20.0 * tolerance * signal.size() + 1e-12;
    Case::complete(text, settings, move |run| follows(run, "y", |t| signal.at(t - delay), allowed))
}

fn variable(random: &mut Rng) -> Case {
    let signal = Signal::random(random, 200.0, true);
    let (mean, rate) = (between(random, 0.05, 0.4), between(random, 0.5, 20.0));
    // Some of them end at zero now and then.
    let swing = if random.bool() { mean } else { mean * random.f64() };
    let (declared, equations) = company(random);
    let text = format!(
        "model M\n{declared}  Real u = {};\n  Real y = delay(u, {mean:e} + {swing:e}*sin({rate:e}*time), {:e});\nequation\n{equations}end M;\n",
        signal.text,
        mean + swing + 1e-9
    );
    let (settings, tolerance) = settings(random, 1.0);
    let allowed = 20.0 * tolerance * signal.size() + 1e-12;
    let past = move |t: f64| t - (mean + swing * (rate * t).sin()).max(0.0);
    Case::complete(text, settings, move |run| follows(run, "y", |t| signal.at(past(t)), allowed))
}

/// A delay of a delay, and one of an expression of it.
fn nested(random: &mut Rng) -> Case {
    let jumps = random.bool();
    let signal = Signal::random(random, 100.0, jumps);
    let (first, second) = (magnitude(random, 1e-3, 0.5), magnitude(random, 1e-3, 0.5));
    let (declared, equations) = company(random);
    let text = format!(
        "model M\n{declared}  Real u = {};\n  Real v = delay(u, {first:e});\n  Real y = delay(2*v - 1, {second:e});\nequation\n{equations}end M;\n",
        signal.text
    );
    let (settings, tolerance) = settings(random, 1.0);
    let allowed = 60.0 * tolerance * (signal.size() + 1.0) + 1e-12;
    Case::complete(text, settings, move |run| {
        follows(run, "y", |t| 2.0 * signal.at((t - second).max(0.0) - first) - 1.0, allowed)
    })
}

/// What arrives is integrated.
fn integrated(random: &mut Rng) -> Case {
    let signal = loop {
        let signal = Signal::random(random, 150.0, true);
        if signal.integral(1.0).is_some() {
            break signal;
        }
    };
    let delay = magnitude(random, 1e-3, 0.8);
    let (declared, equations) = company(random);
    let text = format!(
        "model M\n{declared}  Real x(start = 0, fixed = true);\nequation\n{equations}  der(x) = delay({}, {delay:e});\nend M;\n",
        signal.text
    );
    let (settings, tolerance) = settings(random, 1.0);
    let allowed = 100.0 * tolerance * (1.0 + signal.size());
    Case::complete(text, settings, move |run| {
        let before = |t: f64| signal.at(0.0) * t.min(delay);
        follows(run, "x", |t| before(t) + signal.integral(t - delay).unwrap_or(f64::NAN), allowed)
    })
}

/// Pieces of a solution as power series, a fixed number of them in a delay.
struct Pieces {
    length: f64,
    coefficients: Vec<Vec<f64>>,
}

impl Pieces {
    const TERMS: usize = 32;

    /// `next(own, past, k)` is the k-th coefficient of the derivative, from those of the solution up to k and all of the past.
    fn new(delay: f64, stop: f64, start: f64, next: impl Fn(&[f64], &[f64], usize) -> f64) -> Self {
        let parts = 1 + (4.0 * delay) as usize;
        let length = delay / parts as f64;
        let mut coefficients: Vec<Vec<f64>> = Vec::new();
        let mut value = start;
        let mut constant = vec![0.0; Self::TERMS + 1];
        constant[0] = start;
        while coefficients.len() as f64 * length <= stop {
            let past = match coefficients.len().checked_sub(parts) {
                Some(k) => coefficients[k].clone(),
                None => constant.clone(),
            };
            let mut own = vec![value];
            for k in 0..Self::TERMS {
                let derivative = next(&own, &past, k);
                own.push(derivative / (k + 1) as f64);
            }
            value = own.iter().rev().fold(0.0, |sum, c| sum * length + c);
            coefficients.push(own);
        }
        Self { length, coefficients }
    }

    fn at(&self, t: f64) -> f64 {
        let piece = ((t / self.length) as usize).min(self.coefficients.len() - 1);
        let offset = t - piece as f64 * self.length;
        self.coefficients[piece].iter().rev().fold(0.0, |sum, c| sum * offset + c)
    }
}

fn differential(random: &mut Rng) -> Case {
    let delay = magnitude(random, 0.02, 1.5);
    let (a, b) = (between(random, -0.5, 2.0), between(random, -2.0, 1.0));
    let start = between(random, 0.3, 1.5);
    let stop = between(random, 2.0, 6.0);
    let (right, pieces) = if random.bool() {
        let pieces = Pieces::new(delay, stop, start, |own, past, k| -a * own[k] + b * past[k]);
        (format!("-({a:e})*x + ({b:e})*delay(x, {delay:e})"), pieces)
    } else {
        let growth = between(random, 0.3, 1.2);
        let pieces = Pieces::new(delay, stop, start, |own, past, k| {
            growth * (own[k] - (0..=k).map(|i| own[i] * past[k - i]).sum::<f64>())
        });
        (format!("{growth:e}*x*(1 - delay(x, {delay:e}))"), pieces)
    };
    let (declared, equations) = company(random);
    let text = format!(
        "model M\n{declared}  Real x(start = {start:e}, fixed = true);\nequation\n{equations}  der(x) = {right};\nend M;\n"
    );
    let (settings, tolerance) = settings(random, stop);
    let largest = (0..=1000).map(|k| pieces.at(stop * f64::from(k) / 1000.0).abs()).fold(1.0, f64::max);
    let allowed = 100.0 * tolerance * largest;
    Case::complete(text, settings, move |run| run.follows("x", |t| pieces.at(t), allowed))
}
