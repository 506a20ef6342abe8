//! What begins small and grows: exponentials, logistic curves, autocatalysis, unstable spirals, chains and balances, from 1e-13
//! to 1e-3, or at zero with a source as small, without nominal values. How much it has grown at the end has a closed form; that of an inverted pendulum comes from
//! the classical method of order four with steps of its own.

use std::f64::consts::PI;

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, SOLVERS, near, state};

/// Errors of single steps add up, in units of the tolerance and of the powers of e by which they grow.
const ERRORS: f64 = 100.0;

struct Problem {
    declarations: String,
    equations: String,
    /// The value of `x` at the end.
    end: f64,
    /// How much it changes there for a relative change of the start.
    sensitivity: f64,
}

pub fn case(random: &mut Rng) -> Case {
    let start = 10f64.powf(-3.0 - 10.0 * random.f64());
    let stop = 10f64.powf(2.0 * random.f64() - 1.0);
    // So many powers of e up to about one.
    let growth = -start.ln() * (0.8 + 0.2 * random.f64());
    let rate = growth / stop;
    let problem = match random.u32(0..12) {
        0 => exponential(random, start, rate, stop),
        1 => logistic(start, rate, stop),
        2 => autocatalysis(start, rate, stop),
        3 => saddle(random, start, rate, stop),
        4 => spiral(random, start, rate, stop),
        5 => chain(start, rate, stop),
        6 => set_at_an_event(start, rate, stop),
        7 => source(random, start, rate, stop),
        8 => passed_on(random, start, rate, stop),
        9 => push(start, rate, stop),
        10 => pulse(random, start, rate, stop),
        _ => pendulum(start, rate, stop),
    };
    let tolerance = 10f64.powf(-4.0 - 5.0 * random.f64());
    let settings = Settings {
        stop_time: Some(stop),
        tolerance: Some(tolerance),
        intervals: Some([1, 10, 500][random.usize(0..3)]),
        solver: Some(SOLVERS[random.usize(0..SOLVERS.len())].to_owned()),
        ..Settings::default()
    };
    let Problem { declarations, equations, end, sensitivity } = problem;
    let text = format!("model M\n{declarations}equation\n{equations}end M;\n");
    let allowed = ERRORS * tolerance * (1.0 + growth) * sensitivity;
    Case::complete(text, settings, move |run| near(run.end("x")?, end, allowed))
}

/// `x' = r x`, perhaps by way of an equation for its own.
fn exponential(random: &mut Rng, start: f64, rate: f64, stop: f64) -> Problem {
    let end = start * (rate * stop).exp();
    let (extra, equations) = match random.u32(0..3) {
        0 => ("", format!("  der(x) = {rate}*x;\n")),
        1 => ("  Real z;\n", format!("  z + 0.1*z^3 = x + 0.1*x^3;\n  der(x) = {rate}*z;\n")),
        _ => ("  Real z, w;\n", format!("  z + 0.5*w = x;\n  w - 0.25*z = 0.25*x;\n  der(x) = {rate}*(z + 0.5*w);\n")),
    };
    Problem { declarations: state("x", start) + extra, equations, end, sensitivity: end }
}

fn logistic(start: f64, rate: f64, stop: f64) -> Problem {
    let odds = start / (1.0 - start) * (rate * stop).exp();
    let end = odds / (1.0 + odds);
    let equations = format!("  der(x) = {rate}*x*(1 - x);\n");
    Problem { declarations: state("x", start), equations, end, sensitivity: end * (1.0 - end) }
}

/// A catalyst that makes itself, by way of what it is made of.
fn autocatalysis(start: f64, rate: f64, stop: f64) -> Problem {
    let sum = 1.0 + start;
    let odds = start * (rate * sum * stop).exp();
    let end = sum * odds / (1.0 + odds);
    let equations = format!("  der(a) = -{rate}*a*x;\n  der(x) = {rate}*a*x;\n");
    let declarations = state("a", 1.0) + &state("x", start);
    Problem { declarations, equations, end, sensitivity: end * (1.0 - end / sum).abs() }
}

/// A balance that tips over: position and velocity, with damping.
fn saddle(random: &mut Rng, start: f64, rate: f64, stop: f64) -> Problem {
    let damping = rate * random.f64();
    // r² + d r = k has the root `rate`; the other one is negative.
    let stiffness = rate * rate + damping * rate;
    let other = -rate - damping;
    let end = start * (rate * (other * stop).exp() - other * (rate * stop).exp()) / (rate - other);
    let equations = format!("  der(x) = v;\n  der(v) = {stiffness}*x - {damping}*v;\n");
    Problem { declarations: state("x", start) + &state("v", 0.0), equations, end, sensitivity: end.abs() }
}

fn spiral(random: &mut Rng, start: f64, rate: f64, stop: f64) -> Problem {
    let turns = rate * (0.2 + 3.0 * random.f64());
    let radius = start * (rate * stop).exp();
    let equations = format!("  der(x) = {rate}*x - {turns}*y;\n  der(y) = {turns}*x + {rate}*y;\n");
    let declarations = state("x", start) + &state("y", 0.0);
    let sensitivity = radius * (1.0 + turns / rate);
    Problem { declarations, equations, end: radius * (turns * stop).cos(), sensitivity }
}

/// Three states in a ring, of which one has something to pass on.
fn chain(start: f64, rate: f64, stop: f64) -> Problem {
    let t = rate * stop;
    let end = start / 3.0 * (t.exp() + 2.0 * (-0.5 * t).exp() * (0.75f64.sqrt() * t).cos());
    let equations = format!("  der(x) = {rate}*z;\n  der(y) = {rate}*x;\n  der(z) = {rate}*y;\n");
    let declarations = state("x", start) + &state("y", 0.0) + &state("z", 0.0);
    Problem { declarations, equations, end, sensitivity: end.abs() }
}

/// What was large is made small in the middle of the run.
fn set_at_an_event(start: f64, rate: f64, stop: f64) -> Problem {
    let event = 0.5 * stop;
    let end = start * (2.0 * rate * (stop - event)).exp();
    let equations = format!(
        "  der(x) = {}*(if time < {event} then 0.1 else 1)*x;\n  when time >= {event} then\n    reinit(x, {start:e});\n  end when;\n",
        2.0 * rate
    );
    Problem { declarations: state("x", 1.0), equations, end, sensitivity: end }
}

/// From zero by a small source, constant or a sine.
fn source(random: &mut Rng, start: f64, rate: f64, stop: f64) -> Problem {
    let strength = start * rate;
    let (source, end) = match random.bool() {
        true => (format!("{strength:e}"), start * (rate * stop).exp_m1()),
        false => {
            let w = rate * (0.2 + 2.0 * random.f64());
            let steady = rate * (w * stop).sin() + w * (w * stop).cos();
            let end = strength / (rate * rate + w * w) * (w * (rate * stop).exp() - steady);
            (format!("{strength:e}*sin({w}*time)"), end)
        }
    };
    let equations = format!("  der(x) = {rate}*x + {source};\n");
    Problem { declarations: state("x", 0.0), equations, end, sensitivity: end.abs() }
}

/// From zero by a small state that decays.
fn passed_on(random: &mut Rng, start: f64, rate: f64, stop: f64) -> Problem {
    let decay = rate * random.f64();
    let end = start * rate / (rate + decay) * ((rate * stop).exp() - (-decay * stop).exp());
    let equations = format!("  der(u) = -{decay}*u;\n  der(x) = {rate}*(x + u);\n");
    Problem { declarations: state("u", start) + &state("x", 0.0), equations, end, sensitivity: end }
}

/// A balance that a small force tips over.
fn push(start: f64, rate: f64, stop: f64) -> Problem {
    let end = start * ((rate * stop).cosh() - 1.0);
    let square = rate * rate;
    let equations = format!("  der(x) = v;\n  der(v) = {square}*x + {:e};\n", square * start);
    Problem { declarations: state("x", 0.0) + &state("v", 0.0), equations, end, sensitivity: end }
}

/// From zero by a small pulse that comes later.
fn pulse(random: &mut Rng, start: f64, rate: f64, stop: f64) -> Problem {
    let from = 0.3 * random.f64() * stop;
    let to = from + 0.1 * stop;
    let end = start * ((rate * (stop - from)).exp() - (rate * (stop - to)).exp());
    let equations =
        format!("  der(x) = {rate}*x + (if time > {from} and time < {to} then {:e} else 0);\n", start * rate);
    Problem { declarations: state("x", 0.0), equations, end, sensitivity: end }
}

/// An inverted pendulum, as far as it has fallen.
fn pendulum(start: f64, rate: f64, stop: f64) -> Problem {
    let fall = |start: f64| {
        const STEPS: u32 = 40_000;
        let (h, square) = (stop / f64::from(STEPS), rate * rate);
        let slope = |(x, v): (f64, f64)| (v, square * x.sin());
        let along = |(x, v): (f64, f64), h: f64, (dx, dv): (f64, f64)| (x + h * dx, v + h * dv);
        let mut at = (start, 0.0);
        for _ in 0..STEPS {
            let a = slope(at);
            let b = slope(along(at, 0.5 * h, a));
            let c = slope(along(at, 0.5 * h, b));
            let d = slope(along(at, h, c));
            let mean = |a: f64, b: f64, c: f64, d: f64| (a + 2.0 * b + 2.0 * c + d) / 6.0;
            at = along(at, h, (mean(a.0, b.0, c.0, d.0), mean(a.1, b.1, c.1, d.1)));
        }
        at.0
    };
    let end = fall(start);
    let sensitivity = (fall(1.001 * start) - end).abs() * 1e3;
    let equations = format!("  der(x) = v;\n  der(v) = {}*sin(x);\n", rate * rate);
    let declarations = state("x", start) + &state("v", 0.0);
    Problem { declarations, equations, end, sensitivity: sensitivity.max(end.abs().min(PI)) }
}
