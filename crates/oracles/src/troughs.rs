//! What falls by many orders of magnitude and comes back from what was left: amplitudes with a changing rate of growth,
//! by time, by switches, by other states and by chains of stages, and predators with their prey. Ends have closed forms; the
//! one of the predators comes from the classical method of order four in logarithms.

use std::f64::consts::PI;

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, SOLVERS, near, state};

/// Errors of single steps add up, in units of the tolerance and of the powers of e by which something falls and grows.
const ERRORS: f64 = 100.0;

struct Problem {
    text: String,
    stop: f64,
    /// The value of `x` at the end.
    end: f64,
    /// How much it changes there for a relative change in the trough.
    sensitivity: f64,
    /// Powers of e down and up.
    path: f64,
}

pub fn case(random: &mut Rng) -> Case {
    let depth = 5.0 + 35.0 * random.f64();
    let stop = 10f64.powf(2.0 * random.f64() - 1.0);
    let problem = match random.u32(0..5) {
        0 => along_time(random, depth, stop),
        1 => switched(random, depth, stop),
        2 => along_states(random, depth, stop),
        3 => stages(random, depth, stop),
        _ => predators(random),
    };
    let tolerance = 10f64.powf(-4.0 - 5.0 * random.f64());
    let Problem { text, stop, end, sensitivity, path } = problem;
    let settings = Settings {
        stop_time: Some(stop),
        tolerance: Some(tolerance),
        intervals: Some([1, 10, 500][random.usize(0..3)]),
        solver: Some(SOLVERS[random.usize(0..SOLVERS.len())].to_owned()),
        ..Settings::default()
    };
    let allowed = ERRORS * tolerance * (1.0 + path) * sensitivity;
    Case::complete(text, settings, move |run| near(run.end("x")?, end, allowed))
}

fn begin(random: &mut Rng) -> f64 {
    10f64.powf(2.0 * random.f64() - 1.0)
}

/// `x' = -a sin(w t) x`: the logarithm goes down by `depth` and up again in a period, of which most is run through.
fn along_time(random: &mut Rng, depth: f64, stop: f64) -> Problem {
    let start = begin(random);
    let frequency = 2.0 * PI * (0.8 + 0.2 * random.f64()) / stop;
    let rate = 0.5 * depth * frequency;
    let fall = 0.5 * depth * (1.0 - (frequency * stop).cos());
    let text = format!("model M\n{}equation\n  der(x) = -{rate}*sin({frequency}*time)*x;\nend M;\n", state("x", start));
    let end = start * (-fall).exp();
    Problem { text, stop, end, sensitivity: end, path: 2.0 * depth }
}

/// Decay until a switch, growth behind it; the switch is a relation of time or of another state.
fn switched(random: &mut Rng, depth: f64, stop: f64) -> Problem {
    let start = begin(random);
    let at = (0.4 + 0.2 * random.f64()) * stop;
    let (down, up) = (depth / at, 0.95 * depth / (stop - at));
    let (clock, condition) = match random.bool() {
        true => (String::new(), format!("time < {at}")),
        false => (state("c", 0.0), format!("c < {at}")),
    };
    let counts = if clock.is_empty() { "" } else { "  der(c) = 1;\n" };
    let text = format!(
        "model M\n{}{clock}equation\n{counts}  der(x) = (if {condition} then -{down} else {up})*x;\nend M;\n",
        state("x", start)
    );
    let end = start * (-0.05 * depth).exp();
    Problem { text, stop, end, sensitivity: end, path: 2.0 * depth }
}

/// As along time, with the rate from an oscillator.
fn along_states(random: &mut Rng, depth: f64, stop: f64) -> Problem {
    let start = begin(random);
    let frequency = 2.0 * PI * (0.8 + 0.2 * random.f64()) / stop;
    let rate = 0.5 * depth * frequency;
    let fall = 0.5 * depth * (1.0 - (frequency * stop).cos());
    let text = format!(
        "model M\n{}{}{}equation\n  der(p) = {frequency}*q;\n  der(q) = -{frequency}*p;\n  der(x) = -{rate}*p*x;\nend M;\n",
        state("x", start),
        state("p", 0.0),
        state("q", 1.0)
    );
    let end = start * (-fall).exp();
    // An error of the oscillator counts as often as the logarithm falls.
    Problem { text, stop, end, sensitivity: end * (1.0 + depth), path: 2.0 * depth }
}

/// Two stages that make each other: `z' = g(t) M z` with the eigenvalues 1 and k of M.
fn stages(random: &mut Rng, depth: f64, stop: f64) -> Problem {
    let start = begin(random);
    let depth = 0.5 * depth;
    let frequency = 2.0 * PI * (0.8 + 0.2 * random.f64()) / stop;
    let rate = 0.5 * depth * frequency;
    let fall = 0.5 * depth * (1.0 - (frequency * stop).cos());
    // x + y grows with g, x - y with k g: the sum is the smaller one in the trough, and errors of both count there.
    let k = 0.2 + 0.6 * random.f64();
    let (plus, minus) = (0.5 * (1.0 + k), 0.5 * (1.0 - k));
    let text = format!(
        "model M\n{}{}  Real g;\nequation\n  g = -{rate}*sin({frequency}*time);\n  der(x) = g*({plus}*x + {minus}*y);\n  der(y) = g*({minus}*x + {plus}*y);\nend M;\n",
        state("x", start),
        state("y", 0.5 * start)
    );
    let end = 0.5 * (1.5 * start * (-fall).exp() + 0.5 * start * (-k * fall).exp());
    let sensitivity = end * (1.0 + ((1.0 - k) * depth).exp());
    Problem { text, stop, end, sensitivity, path: 2.0 * depth }
}

/// Predators and prey with deep troughs.
fn predators(random: &mut Rng) -> Problem {
    let start = 5.0 + 8.0 * random.f64();
    let stop = 10.0 + 10.0 * random.f64();
    let text = format!(
        "model M\n{}{}equation\n  der(x) = x*(1 - y);\n  der(y) = y*(x - 1);\nend M;\n",
        state("x", start),
        state("y", 1.0)
    );
    let run = |start: f64| {
        const STEPS: u32 = 100_000;
        let h = stop / f64::from(STEPS);
        let slope = |(p, q): (f64, f64)| (1.0 - q.exp(), p.exp() - 1.0);
        let along = |(p, q): (f64, f64), h: f64, (dp, dq): (f64, f64)| (p + h * dp, q + h * dq);
        let mut at = (start.ln(), 0.0);
        let mut deepest = 0.0f64;
        for _ in 0..STEPS {
            let a = slope(at);
            let b = slope(along(at, 0.5 * h, a));
            let c = slope(along(at, 0.5 * h, b));
            let d = slope(along(at, h, c));
            let mean = |a: f64, b: f64, c: f64, d: f64| (a + 2.0 * b + 2.0 * c + d) / 6.0;
            at = along(at, h, (mean(a.0, b.0, c.0, d.0), mean(a.1, b.1, c.1, d.1)));
            deepest = deepest.min(at.0).min(at.1);
        }
        (at.0.exp(), -deepest)
    };
    let (end, depth) = run(start);
    // By the start, and by the invariant that errors change.
    let sensitivity = (run(1.0001 * start).0 - end).abs() * 1e4;
    Problem { text, stop, end, sensitivity: sensitivity.max(end), path: 2.0 * depth }
}
