//! Pendulums, double pendulums and slider-cranks in Cartesian coordinates, with full rotations, against their equations of
//! motion in angles. No choice of Cartesian states is good all the way round.

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, Verdict};
use crate::linear::pick;
use crate::run::Run;

/// The step of the reference solution.
const STEP: f64 = 1e-3;

const SOLVERS: &[&str] = &["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"];

pub fn case(random: &mut Rng) -> Case {
    match random.u32(0..4) {
        0 => double_pendulum(random),
        1 => slider_crank(random),
        _ => pendulum(random),
    }
}

fn between(random: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * random.f64()
}

/// Angles and their speeds at a time, by the classical Runge–Kutta method.
struct Reference {
    slopes: Box<dyn Fn(&[f64]) -> Vec<f64>>,
    time: f64,
    x: Vec<f64>,
}

impl Reference {
    fn new(x: Vec<f64>, slopes: impl Fn(&[f64]) -> Vec<f64> + 'static) -> Self {
        Self { slopes: Box::new(slopes), time: 0.0, x }
    }

    fn advance(&mut self, time: f64) -> &[f64] {
        let count = ((time - self.time) / STEP).ceil().max(0.0);
        for _ in 0..count as usize {
            let h = (time - self.time) / count;
            let moved = |k: &[f64], factor: f64| -> Vec<f64> {
                self.x.iter().zip(k).map(|(x, k)| x + factor * h * k).collect()
            };
            let a = (self.slopes)(&self.x);
            let b = (self.slopes)(&moved(&a, 0.5));
            let c = (self.slopes)(&moved(&b, 0.5));
            let d = (self.slopes)(&moved(&c, 1.0));
            for (k, x) in self.x.iter_mut().enumerate() {
                *x += h / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]);
            }
        }
        self.time = time;
        &self.x
    }
}

fn settings(random: &mut Rng, stop: f64, tolerance: f64) -> (Settings, &'static str) {
    let solver = *pick(random, SOLVERS);
    let settings = Settings {
        stop_time: Some(stop),
        intervals: Some(random.usize(20..200)),
        tolerance: Some(tolerance),
        solver: Some(solver.to_owned()),
        ..Settings::default()
    };
    (settings, solver)
}

/// Start attributes of two coordinates on a circle: the one that determines the other well is fixed.
fn on_circle(x: f64, y: f64) -> (&'static str, &'static str) {
    if x.abs() < y.abs() { (", fixed = true", "") } else { ("", ", fixed = true") }
}

fn pendulum(random: &mut Rng) -> Case {
    const STOP: f64 = 20.0;
    let length = between(random, 0.5, 2.0);
    let gravity = *pick(random, &[0.0, 1.0, 9.81]);
    let (px, py) = if random.bool() { (0.0, 0.0) } else { (between(random, -9.0, 9.0), between(random, -9.0, 9.0)) };
    let angle = between(random, -3.1, 3.1);
    // Half of them rotate.
    let speed = if random.bool() {
        (between(random, 0.3, 3.0) + 2.0 * (gravity / length).sqrt()) * if random.bool() { 1.0 } else { -1.0 }
    } else {
        between(random, -1.0, 1.0)
    };
    let tolerance = 10f64.powi(-random.i32(3..9));
    let (settings, solver) = settings(random, STOP, tolerance);
    let (sin, cos) = angle.sin_cos();
    let (fx, fy) = on_circle(sin, cos);
    let root = random.bool();
    // What is preferred is no state where it does not determine the rest.
    let wish = ", stateSelect = StateSelect.prefer";
    let (wx, wy) = *pick(random, &[("", ""), ("", ""), (wish, ""), ("", wish), (wish, wish)]);
    let constraint = if root { "sqrt((x - px)^2 + (y - py)^2) = L" } else { "(x - px)^2 + (y - py)^2 = L^2" };
    let text = format!(
        "// solver {solver}, tolerance {tolerance}
model M
  parameter Real L = {length:?}, g = {gravity:?}, px = {px:?}, py = {py:?}, m = 1.7;
  Real x(start = {:?}{fx}{wx}), y(start = {:?}{fy}{wy}), vx(start = {:?}{fx}{wx}), vy(start = {:?}{fy}{wy}), F;
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F*(x - px)/L;
  m*der(vy) = -F*(y - py)/L - m*g;
  {constraint};
end M;
",
        px + length * sin,
        py - length * cos,
        length * speed * cos,
        length * speed * sin,
    );
    let reference =
        move || Reference::new(vec![angle, speed], move |x: &[f64]| vec![x[1], -gravity / length * x[0].sin()]);
    let top = speed * speed / 2.0 - gravity / length * (1.0 + cos);
    let rotates = top > 0.02;
    let judge = move |run: &Run| -> Verdict {
        let [x, y, vx, vy] = [run.column("x")?, run.column("y")?, run.column("vx")?, run.column("vy")?];
        let mut reference = reference();
        let energy = |x: &[f64]| x[1] * x[1] / 2.0 - gravity / length * x[0].cos();
        let first = energy(&reference.x);
        let fastest = (2.0 * (first + gravity / length)).sqrt();
        for (row, &time) in run.result.time.iter().enumerate() {
            let (dx, dy) = ((x[row] - px) / length, (y[row] - py) / length);
            let turning = (dx * vy[row] - dy * vx[row]) / length;
            let found = [dx.atan2(-dy), turning];
            if rotates && turning * speed < 0.0 {
                return Err(format!("it turns round before {time}"));
            }
            let drift = (energy(&found) - first).abs() / fastest.powi(2);
            let is_kept = drift <= 300.0 * tolerance * (1.0 + fastest * time);
            if !is_kept {
                return Err(format!("energy is off by {drift} of it at {time}"));
            }
            // What an error in energy makes of the angle grows with time.
            let expected = reference.advance(time);
            let off = (found[0] - expected[0]).sin().atan2((found[0] - expected[0]).cos()).abs();
            let bound = 300.0 * tolerance * (1.0 + fastest * time).powi(2);
            let is_near = off <= bound;
            if bound < 1.0 && top.abs() > 0.3 && !is_near {
                return Err(format!("the angle is off by {off} at {time}, {bound} allowed"));
            }
        }
        Ok(())
    };
    Case::complete(text, settings, judge)
}

fn double_pendulum(random: &mut Rng) -> Case {
    const STOP: f64 = 2.0;
    let [l1, l2] = [between(random, 0.5, 1.5), between(random, 0.5, 1.5)];
    let [m1, m2] = [between(random, 0.5, 2.0), between(random, 0.5, 2.0)];
    let gravity = 9.81;
    let start: Vec<f64> = vec![
        between(random, -3.1, 3.1),
        between(random, -3.1, 3.1),
        between(random, -4.0, 4.0),
        between(random, -4.0, 4.0),
    ];
    let tolerance = 1e-9;
    let (settings, solver) = settings(random, STOP, tolerance);
    let [a, b, va, vb] = [start[0], start[1], start[2], start[3]];
    let (f1, g1) = on_circle(a.sin(), a.cos());
    let (f2, g2) = on_circle(b.sin(), b.cos());
    let first = [l1 * a.sin(), -l1 * a.cos(), l1 * va * a.cos(), l1 * va * a.sin()];
    let second =
        [first[0] + l2 * b.sin(), first[1] - l2 * b.cos(), first[2] + l2 * vb * b.cos(), first[3] + l2 * vb * b.sin()];
    let text = format!(
        "// solver {solver}
model M
  parameter Real l1 = {l1:?}, l2 = {l2:?}, m1 = {m1:?}, m2 = {m2:?}, g = {gravity:?};
  Real x1(start = {:?}{f1}), y1(start = {:?}{g1}), u1(start = {:?}{f1}), v1(start = {:?}{g1});
  Real x2(start = {:?}{f2}), y2(start = {:?}{g2}), u2(start = {:?}{f2}), v2(start = {:?}{g2});
  Real F1, F2;
equation
  der(x1) = u1;
  der(y1) = v1;
  der(x2) = u2;
  der(y2) = v2;
  m1*der(u1) = -F1*x1/l1 + F2*(x2 - x1)/l2;
  m1*der(v1) = -F1*y1/l1 + F2*(y2 - y1)/l2 - m1*g;
  m2*der(u2) = -F2*(x2 - x1)/l2;
  m2*der(v2) = -F2*(y2 - y1)/l2 - m2*g;
  x1^2 + y1^2 = l1^2;
  (x2 - x1)^2 + (y2 - y1)^2 = l2^2;
end M;
",
        first[0], first[1], first[2], first[3], second[0], second[1], second[2], second[3],
    );
    let slopes = move |x: &[f64]| {
        // The equations of Lagrange for two angles from the vertical.
        let (sin, cos) = (x[0] - x[1]).sin_cos();
        let m = [[(m1 + m2) * l1 * l1, m2 * l1 * l2 * cos], [m2 * l1 * l2 * cos, m2 * l2 * l2]];
        let r = [
            -m2 * l1 * l2 * sin * x[3] * x[3] - (m1 + m2) * gravity * l1 * x[0].sin(),
            m2 * l1 * l2 * sin * x[2] * x[2] - m2 * gravity * l2 * x[1].sin(),
        ];
        let determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
        let first = (r[0] * m[1][1] - r[1] * m[0][1]) / determinant;
        let second = (r[1] * m[0][0] - r[0] * m[1][0]) / determinant;
        vec![x[2], x[3], first, second]
    };
    let judge = move |run: &Run| -> Verdict {
        let mut reference = Reference::new(start.clone(), slopes);
        let columns = [run.column("x1")?, run.column("y1")?, run.column("x2")?, run.column("y2")?];
        for (row, &time) in run.result.time.iter().enumerate() {
            let x = reference.advance(time);
            let (x1, y1) = (l1 * x[0].sin(), -l1 * x[0].cos());
            let expected = [x1, y1, x1 + l2 * x[1].sin(), y1 - l2 * x[1].cos()];
            for (column, expected) in columns.iter().zip(expected) {
                let off = (column[row] - expected).abs();
                let is_near = off <= 1e-3;
                if !is_near {
                    return Err(format!("a place is off by {off} at {time}"));
                }
            }
        }
        Ok(())
    };
    Case::complete(text, settings, judge)
}

fn slider_crank(random: &mut Rng) -> Case {
    const STOP: f64 = 5.0;
    let radius = between(random, 0.5, 1.5);
    let rod = radius * between(random, 1.3, 3.0);
    let [m1, m2] = [between(random, 0.5, 2.0), between(random, 0.5, 2.0)];
    let gravity = *pick(random, &[0.0, 0.5]);
    let angle = between(random, -3.1, 3.1);
    let speed = between(random, 2.0, 5.0) * if random.bool() { 1.0 } else { -1.0 };
    let tolerance = 10f64.powi(-random.i32(6..9));
    let (settings, solver) = settings(random, STOP, tolerance);
    // The slider's place and its first two derivatives by the angle.
    let slider = move |angle: f64| {
        let (sin, cos) = angle.sin_cos();
        let root = (rod * rod - radius * radius * sin * sin).sqrt();
        let inner = -radius * radius * sin * cos;
        let first = -radius * sin + inner / root;
        let second = -radius * cos - radius * radius * (cos * cos - sin * sin) / root - inner * inner / root.powi(3);
        (radius * cos + root, first, second)
    };
    let (x2, _, _) = slider(angle);
    let (sin, cos) = angle.sin_cos();
    let (fx, fy) = on_circle(radius * cos, radius * sin);
    let text = format!(
        "// solver {solver}, tolerance {tolerance}
model M
  parameter Real r = {radius:?}, l = {rod:?}, m1 = {m1:?}, m2 = {m2:?}, g = {gravity:?};
  Real x(start = {:?}{fx}), y(start = {:?}{fy}), u(start = {:?}{fx}), v(start = {:?}{fy});
  Real s(start = {x2:?}), w, F, N;
equation
  der(x) = u;
  der(y) = v;
  der(s) = w;
  m1*der(u) = -F*x + N*(s - x);
  m1*der(v) = -F*y - N*y - m1*g;
  m2*der(w) = -N*(s - x);
  x^2 + y^2 = r^2;
  (s - x)^2 + y^2 = l^2;
end M;
",
        radius * cos,
        radius * sin,
        -radius * speed * sin,
        radius * speed * cos,
    );
    let slopes = move |x: &[f64]| {
        let (_, first, second) = slider(x[0]);
        let inertia = m1 * radius * radius + m2 * first * first;
        let moment = -m2 * first * second * x[1] * x[1] - m1 * gravity * radius * x[0].cos();
        vec![x[1], moment / inertia]
    };
    let judge = move |run: &Run| -> Verdict {
        let mut reference = Reference::new(vec![angle, speed], slopes);
        let [x, y, s] = [run.column("x")?, run.column("y")?, run.column("s")?];
        for (row, &time) in run.result.time.iter().enumerate() {
            let (angle, speed) = (reference.advance(time)[0], reference.x[1]);
            let expected = [radius * angle.cos(), radius * angle.sin(), slider(angle).0];
            let bound = 300.0 * tolerance * (1.0 + speed.abs() * time).powi(2);
            for (found, expected) in [x[row], y[row], s[row]].into_iter().zip(expected) {
                let off = (found - expected).abs();
                let is_near = off <= bound;
                if !is_near {
                    return Err(format!("a place is off by {off} at {time}, {bound} allowed"));
                }
            }
        }
        Ok(())
    };
    Case::complete(text, settings, judge)
}
