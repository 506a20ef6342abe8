//! Delays and transport: signals with a closed form through fixed, variable, nested and vanishing delays; delay differential
//! equations against power series by the method of steps; `spatialDistribution` against its characteristics.

use fastrand::Rng;
use session::Settings;

use crate::case::Case;
use crate::run::Run;

/// A number of a range.
fn between(random: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * random.f64()
}

/// One of a range whose logarithm is evenly distributed.
fn magnitude(random: &mut Rng, low: f64, high: f64) -> f64 {
    between(random, low.ln(), high.ln()).exp()
}

pub fn case(random: &mut Rng) -> Case {
    match random.u32(0..8) {
        0 | 1 => fixed(random),
        2 => variable(random),
        3 => nested(random),
        4 => integrated(random),
        5 | 6 => differential(random),
        _ => transport(random),
    }
}

/// A function of time, as text and as a closure, with its breaks.
#[derive(Clone)]
struct Signal {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Copy)]
enum Part {
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
    fn random(random: &mut Rng, fastest: f64, jumps: bool) -> Self {
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
    fn at(&self, t: f64) -> f64 {
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
    fn integral(&self, t: f64) -> Option<f64> {
        let t = t.max(0.0);
        let value = |part: &Part| match *part {
            Part::Sine(a, w, p) => Some(a / w * (p.cos() - (w * t + p).cos())),
            Part::Chirp(..) => None,
            Part::Step(a, begin) => Some(a * (t - begin).max(0.0)),
            Part::Ramp(a, begin) => Some(0.5 * a * (t - begin).max(0.0).powi(2)),
        };
        self.parts.iter().map(value).sum()
    }

    fn size(&self) -> f64 {
        (0..=1000).map(|k| self.at(f64::from(k) * 1.1e-3).abs()).fold(0.0, f64::max)
    }
}

/// Tolerance, output points and solver.
fn settings(random: &mut Rng, stop: f64) -> (Settings, f64) {
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
fn company(random: &mut Rng) -> (&'static str, &'static str) {
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
fn follows(run: &Run, name: &str, expected: impl Fn(f64) -> f64, tolerance: f64) -> Result<(), String> {
    for (&time, &value) in run.result.time.iter().zip(run.column(name)?) {
        let near = [0.0, -1e-9, -1e-12, 1e-12, 1e-9].map(|shift| expected(time + shift));
        if !near.iter().any(|expected| (value - expected).abs() <= tolerance) {
            return Err(format!("{name} is {value} instead of {} at {time}, tolerance {tolerance:e}", near[0]));
        }
    }
    Ok(())
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

/// Two ends with signals of their own, a velocity that changes at two times, and the profile at the start.
struct Pipe {
    inflows: [Signal; 2],
    /// Times from which on there is a velocity.
    velocities: [(f64, f64); 3],
    profile: [f64; 2],
}

impl Pipe {
    fn velocity(&self, t: f64) -> f64 {
        self.velocities.iter().rev().find(|(from, _)| t >= *from).map_or(self.velocities[0].1, |found| found.1)
    }

    fn position(&self, t: f64) -> f64 {
        let end = |k: usize| self.velocities.get(k + 1).map_or(f64::INFINITY, |next| next.0);
        (0..3).map(|k| self.velocities[k].1 * (t.min(end(k)) - self.velocities[k].0).max(0.0)).sum()
    }

    /// What leaves at the end `y` (0 or 1): where it came in last.
    fn outflow(&self, y: f64, t: f64) -> f64 {
        let inward = |end: f64| if end == 0.0 { 1.0 } else { -1.0 };
        if self.velocity(t) * inward(y) > 0.0 {
            return self.inflows[y as usize].at(t);
        }
        let material = y - self.position(t);
        for k in (0..3).rev() {
            let (from, velocity) = self.velocities[k];
            let to = self.velocities.get(k + 1).map_or(t, |next| next.0.min(t));
            if from >= to || velocity == 0.0 {
                continue;
            }
            let end: f64 = if velocity > 0.0 { 0.0 } else { 1.0 };
            // The time at which this piece of the content was at that end.
            let entered = from + (end - material - self.position(from)) / velocity;
            if entered >= from && entered < to {
                return self.inflows[end as usize].at(entered);
            }
        }
        self.profile[0] + (self.profile[1] - self.profile[0]) * material
    }
}

fn transport(random: &mut Rng) -> Case {
    let jumps = random.bool();
    let inflows = [(); 2].map(|()| Signal::random(random, 60.0, jumps));
    let (second, third) = (between(random, 0.1, 0.5), between(random, 0.5, 0.95));
    let velocities =
        [(0.0, between(random, 0.5, 6.0)), (second, between(random, -5.0, 5.0)), (third, between(random, -5.0, 5.0))];
    let pipe = Pipe { inflows, velocities, profile: [between(random, -1.0, 1.0), between(random, -1.0, 1.0)] };
    let (declared, equations) = company(random);
    let text = format!(
        "model M
{declared}  Real x(start = 0, fixed = true), v, a, b;
equation
{equations}  v = if time < {second:e} then {:e} else if time < {third:e} then {:e} else {:e};
  der(x) = v;
  (a, b) = spatialDistribution({}, {}, x, v >= 0, {{0.0, 1.0}}, {{{:e}, {:e}}});
end M;
",
        velocities[0].1,
        velocities[1].1,
        velocities[2].1,
        pipe.inflows[0].text,
        pipe.inflows[1].text,
        pipe.profile[0],
        pipe.profile[1]
    );
    let (settings, tolerance) = settings(random, 1.0);
    let size = pipe.inflows.iter().map(Signal::size).fold(1.0, f64::max);
    let allowed = 20.0 * tolerance * size + 1e-9 * size;
    Case::complete(text, settings, move |run| {
        follows(run, "a", |t| pipe.outflow(0.0, t), allowed)?;
        follows(run, "b", |t| pipe.outflow(1.0, t), allowed)
    })
}
