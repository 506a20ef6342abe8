//! Pendulums in Cartesian coordinates whose coordinates and velocities are set by `reinit` at any angle, against their equation
//! of motion in the angle. A velocity that is set determines the other one; a coordinate that is set determines the other one
//! on the same side, and of the velocity the tangential part is left. What never happens changes nothing.

use std::fmt::Write as _;

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, Verdict};
use crate::linear::pick;
use crate::run::Run;

const STOP: f64 = 6.0;
/// The step of the reference solution.
const STEP: f64 = 5e-4;
/// How far coordinates are from places at which they do not determine the angle, in parts of the length.
const CLEAR: f64 = 0.2;

const SOLVERS: &[&str] = &["auto", "auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"];
const TEXTS: &[&str] = &["x^2 + y^2 = L^2", "sqrt(x^2 + y^2) = L", "(x*x + y*y)/L = L"];
/// A switch between two capacitors, so that the run goes through modes.
const MODES: (&str, &str) = (
    "  Real u1(start = 1, fixed = true), u2(start = 0, fixed = true), j;\n",
    "  der(u1) = -j;\n  der(u2) = j;\n  if time >= 0.0625 then u1 = u2; else j = 0; end if;\n",
);

/// Angle from below and speed.
#[derive(Clone, Copy)]
struct Motion {
    angle: f64,
    speed: f64,
}

#[derive(Clone, Copy)]
struct Pendulum {
    length: f64,
    gravity: f64,
}

impl Pendulum {
    /// One step of the classical Runge–Kutta method.
    fn step(self, from: Motion, h: f64) -> Motion {
        let slope = |m: Motion| (m.speed, -self.gravity / self.length * m.angle.sin());
        let moved = |(a, s): (f64, f64), h: f64| Motion { angle: from.angle + h * a, speed: from.speed + h * s };
        let k1 = slope(from);
        let k2 = slope(moved(k1, 0.5 * h));
        let k3 = slope(moved(k2, 0.5 * h));
        let k4 = slope(moved(k3, h));
        let mean = |a: f64, b: f64, c: f64, d: f64| (a + 2.0 * b + 2.0 * c + d) / 6.0;
        moved((mean(k1.0, k2.0, k3.0, k4.0), mean(k1.1, k2.1, k3.1, k4.1)), h)
    }

    fn advance(self, mut motion: Motion, from: f64, to: f64) -> Motion {
        let count = ((to - from) / STEP).ceil().max(1.0);
        for _ in 0..count as usize {
            motion = self.step(motion, (to - from) / count);
        }
        motion
    }

    fn x(self, motion: Motion) -> [f64; 4] {
        let (sin, cos) = motion.angle.sin_cos();
        let speed = self.length * motion.speed;
        [self.length * sin, -self.length * cos, speed * cos, speed * sin]
    }

    fn fastest(self, motion: Motion) -> f64 {
        (motion.speed.powi(2) + 4.0 * self.gravity / self.length).sqrt()
    }
}

fn between(random: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * random.f64()
}

/// What is set at an instant: its text, and the motion after it.
fn setting(random: &mut Rng, pendulum: Pendulum, motion: Motion) -> Option<(String, Motion)> {
    let (sin, cos) = motion.angle.sin_cos();
    let factor = *pick(random, &[-1.0, 0.5, -0.7, 0.0, 1.6]);
    let faster = Motion { speed: factor * motion.speed, ..motion };
    let [_, _, vx, vy] = pendulum.x(faster);
    let by_hand = |name: &str, value: f64, random: &mut Rng| match random.bool() {
        true => format!("reinit({name}, {value:?});"),
        false => format!("reinit({name}, {factor:?}*pre({name}));"),
    };
    // An angle at which the coordinate determines the other one on the same side.
    let turned = motion.angle + between(random, -0.6, 0.6);
    let side = |from: f64, to: f64| from * to > 0.0 && to.abs() > CLEAR && from.abs() > CLEAR;
    let moved = Motion { angle: turned, speed: motion.speed * (turned - motion.angle).cos() };
    let [x, y, _, _] = pendulum.x(moved);
    match random.u8(0..7) {
        0 if cos.abs() > CLEAR => Some((by_hand("vx", vx, random), faster)),
        1 if sin.abs() > CLEAR => Some((by_hand("vy", vy, random), faster)),
        2 if side(cos, turned.cos()) => Some((format!("reinit(x, {x:?});"), moved)),
        3 if side(sin, turned.sin()) => Some((format!("reinit(y, {y:?});"), moved)),
        4 if side(cos, turned.cos()) => {
            let after = Motion { angle: turned, speed: between(random, -4.0, 4.0) };
            let [x, _, vx, _] = pendulum.x(after);
            Some((format!("reinit(x, {x:?}); reinit(vx, {vx:?});"), after))
        }
        5 => {
            // Everything, at any place.
            let after = Motion { angle: between(random, -3.1, 3.1), speed: between(random, -4.0, 4.0) };
            let [x, y, vx, vy] = pendulum.x(after);
            Some((format!("reinit(x, {x:?}); reinit(y, {y:?}); reinit(vx, {vx:?}); reinit(vy, {vy:?});"), after))
        }
        6 => {
            let after = Motion { angle: turned, speed: moved.speed };
            Some((format!("reinit(x, {x:?}); reinit(y, {y:?});"), after))
        }
        _ => None,
    }
}

pub fn case(random: &mut Rng) -> Case {
    let pendulum = Pendulum { length: between(random, 0.5, 2.0), gravity: *pick(random, &[0.0, 1.0, 9.81]) };
    let Pendulum { length, gravity } = pendulum;
    let first = Motion { angle: between(random, -3.1, 3.1), speed: between(random, -9.0, 9.0) };
    let mut motion = first;
    let mut fastest = pendulum.fastest(first);
    let mut time = 0.0;
    let mut phases = vec![(0.0, first)];
    let mut whens = String::new();
    loop {
        let next = time + between(random, 0.2, 3.0);
        if next > STOP - 0.1 {
            break;
        }
        motion = pendulum.advance(motion, time, next);
        time = next;
        if let Some((text, after)) = setting(random, pendulum, motion) {
            let word = if whens.is_empty() { "when" } else { "elsewhen" };
            let _ = write!(whens, "  {word} time >= {time:?} then\n    {text}\n");
            motion = after;
            fastest = fastest.max(pendulum.fastest(after));
            phases.push((time, after));
        }
    }
    let never = *pick(random, &["x", "y", "vx", "vy"]);
    let word = if whens.is_empty() { "when" } else { "elsewhen" };
    let _ = write!(whens, "  {word} time >= 1e6 then\n    reinit({never}, 0);\n  end when;\n");
    let tolerance = 10f64.powi(-random.i32(3..9));
    let solver = *pick(random, SOLVERS);
    let (declarations, equations) = if random.u8(0..4) == 0 { MODES } else { ("", "") };
    let (sin, cos) = first.angle.sin_cos();
    let (fx, fy) = if sin.abs() < cos.abs() { (", fixed = true", "") } else { ("", ", fixed = true") };
    let [x, y, vx, vy] = pendulum.x(first);
    let text = format!(
        "// solver {solver}, tolerance {tolerance}
model M
  parameter Real L = {length:?}, g = {gravity:?}, m = 1.7;
  Real x(start = {x:?}{fx}), y(start = {y:?}{fy}), vx(start = {vx:?}{fx}), vy(start = {vy:?}{fy}), F;
{declarations}equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F*x/L;
  m*der(vy) = -F*y/L - m*g;
  {};
{equations}{whens}end M;
",
        *pick(random, TEXTS),
    );
    let settings = Settings {
        stop_time: Some(STOP),
        intervals: Some(random.usize(3..100)),
        tolerance: Some(tolerance),
        solver: Some(solver.to_owned()),
        ..Settings::default()
    };
    let judge = move |run: &Run| judge(run, pendulum, &phases, fastest, tolerance);
    Case::complete(text, settings, judge)
}

fn judge(run: &Run, pendulum: Pendulum, phases: &[(f64, Motion)], fastest: f64, tolerance: f64) -> Verdict {
    let columns = [run.column("x")?, run.column("y")?, run.column("vx")?, run.column("vy")?];
    let mut phase = 0;
    let (mut time, mut motion) = phases[0];
    for (row, &now) in run.result.time.iter().enumerate() {
        while phases.get(phase + 1).is_some_and(|(begin, _)| *begin < now - 1e-9) {
            phase += 1;
            (time, motion) = phases[phase];
        }
        if phases[1..].iter().any(|(begin, _)| (begin - now).abs() <= 1e-9) {
            continue;
        }
        motion = pendulum.advance(motion, time, now);
        time = now;
        let bound = 1000.0 * tolerance * (1.0 + fastest * now).powi(2);
        if bound > 0.3 {
            break;
        }
        let expected = pendulum.x(motion);
        for (place, (column, expected)) in columns.iter().zip(expected).enumerate() {
            let size = if place < 2 { pendulum.length } else { pendulum.length * fastest };
            let off = (column[row] - expected).abs() / size;
            let is_near = off <= bound;
            if !is_near {
                return Err(format!("number {place} is off by {off} at {now}, {bound} allowed"));
            }
        }
    }
    Ok(())
}
