//! Every adaptive method keeps what the tolerance promises: at each output point the error is at most a hundred times
//! tolerance · (|x| + nominal), on problems whose solution is known at every time.

// Helpers of the tests may unwrap as the tests do.
#![allow(clippy::unwrap_used)]

use std::f64::consts::PI;

use solve::{EvalError, Method, OdeProblem, Options};

/// How hard a problem is for a method without Jacobian.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Smooth,
    MildlyStiff,
    Stiff,
}

struct Course {
    name: &'static str,
    kind: Kind,
    end: f64,
    solution: fn(f64) -> Vec<f64>,
    rhs: fn(f64, &[f64], &mut [f64]),
}

impl OdeProblem for Course {
    fn size(&self) -> usize {
        (self.solution)(0.0).len()
    }

    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        (self.rhs)(t, x, dx);
        Ok(())
    }
}

/// The place on an orbit of eccentricity e with period 2π, and the velocity.
fn kepler(e: f64, t: f64) -> Vec<f64> {
    let mean = t.rem_euclid(2.0 * PI);
    let mut anomaly = mean;
    for _ in 0..50 {
        anomaly -= (anomaly - e * anomaly.sin() - mean) / (1.0 - e * anomaly.cos());
    }
    let (sin, cos) = anomaly.sin_cos();
    let (minor, rate) = ((1.0 - e * e).sqrt(), 1.0 / (1.0 - e * cos));
    vec![cos - e, minor * sin, -sin * rate, minor * cos * rate]
}

fn orbit(_: f64, x: &[f64], d: &mut [f64]) {
    let cube = (x[0] * x[0] + x[1] * x[1]).powf(1.5);
    d.copy_from_slice(&[x[2], x[3], -x[0] / cube, -x[1] / cube]);
}

fn courses() -> Vec<Course> {
    let course = |name, kind, end, solution, rhs| Course { name, kind, end, solution, rhs };
    vec![
        course("decay", Kind::Smooth, 20.0, |t| vec![(-t).exp()], |_, x, d| d[0] = -x[0]),
        course("cubic", Kind::Smooth, 20.0, |t| vec![1.0 / (1.0 + t).sqrt()], |_, x, d| d[0] = -0.5 * x[0].powi(3)),
        course("forced", Kind::Smooth, 20.0, |t| vec![t.sin().exp()], |t, x, d| d[0] = x[0] * t.cos()),
        course(
            "logistic",
            Kind::Smooth,
            20.0,
            |t| vec![20.0 / (1.0 + 19.0 * (-0.25 * t).exp())],
            |_, x, d| d[0] = 0.25 * x[0] * (1.0 - x[0] / 20.0),
        ),
        course("orbit 0.1", Kind::Smooth, 2.0 * PI, |t| kepler(0.1, t), orbit),
        course("orbit 0.5", Kind::Smooth, 2.0 * PI, |t| kepler(0.5, t), orbit),
        course(
            "oscillator",
            Kind::Smooth,
            20.0 * PI,
            |t| vec![t.cos(), -t.sin()],
            |_, x, d| {
                d.copy_from_slice(&[x[1], -x[0]]);
            },
        ),
        course(
            "long oscillator",
            Kind::Smooth,
            200.0 * PI,
            |t| vec![t.cos(), -t.sin()],
            |_, x, d| {
                d.copy_from_slice(&[x[1], -x[0]]);
            },
        ),
        course(
            "fast oscillator",
            Kind::Smooth,
            2.0,
            |t| vec![(100.0 * t).cos(), -100.0 * (100.0 * t).sin()],
            |_, x, d| {
                d.copy_from_slice(&[x[1], -1e4 * x[0]]);
            },
        ),
        course(
            "two tones",
            Kind::Smooth,
            50.0,
            |t| vec![t.sin(), t.cos(), (5.0 * t).sin(), 5.0 * (5.0 * t).cos()],
            |_, x, d| {
                d.copy_from_slice(&[x[1], -x[0], x[3], -25.0 * x[2]]);
            },
        ),
        course(
            "damped",
            Kind::Smooth,
            10.0,
            |t| {
                let (sin, cos) = (10.0 * t).sin_cos();
                let e = (-0.5 * t).exp();
                vec![e * cos, e * (-0.5 * cos - 10.0 * sin)]
            },
            |_, x, d| d.copy_from_slice(&[x[1], -(100.25) * x[0] - x[1]]),
        ),
        course(
            "following 100",
            Kind::MildlyStiff,
            10.0,
            |t| vec![t.sin()],
            |t, x, d| d[0] = -100.0 * (x[0] - t.sin()) + t.cos(),
        ),
        course(
            "following 1000",
            Kind::MildlyStiff,
            10.0,
            |t| vec![t.sin()],
            |t, x, d| {
                d[0] = -1000.0 * (x[0] - t.sin()) + t.cos();
            },
        ),
        course(
            "two rates",
            Kind::MildlyStiff,
            5.0,
            |t| vec![(-t).exp() + (-200.0 * t).exp(), (-t).exp() - (-200.0 * t).exp()],
            |_, x, d| d.copy_from_slice(&[-100.5 * x[0] + 99.5 * x[1], 99.5 * x[0] - 100.5 * x[1]]),
        ),
        course(
            "overdamped spring",
            Kind::MildlyStiff,
            5.0,
            |t| {
                // x'' + 501 x' + 500 x = 0 with x = 1, x' = 0.
                let (slow, fast) = ((-t).exp(), (-500.0 * t).exp());
                vec![(500.0 * slow - fast) / 499.0, (-500.0 * slow + 500.0 * fast) / 499.0]
            },
            |_, x, d| d.copy_from_slice(&[x[1], -500.0 * x[0] - 501.0 * x[1]]),
        ),
        course(
            "kaps",
            Kind::Stiff,
            2.0,
            |t| vec![(-2.0 * t).exp(), (-t).exp()],
            |_, x, d| {
                d[0] = -(1e4 + 2.0) * x[0] + 1e4 * x[1] * x[1];
                d[1] = x[0] - x[1] - x[1] * x[1];
            },
        ),
        course(
            "following 1e6",
            Kind::Stiff,
            10.0,
            |t| vec![t.sin()],
            |t, x, d| d[0] = -1e6 * (x[0] - t.sin()) + t.cos(),
        ),
        course(
            "slaved",
            Kind::Stiff,
            3.0,
            |t| vec![(-t).exp(), (-2.0 * t).exp()],
            |_, x, d| {
                d[0] = -x[0];
                d[1] = -1e4 * (x[1] - x[0] * x[0]) - 2.0 * x[0] * x[0];
            },
        ),
        course(
            "stiff pair",
            Kind::Stiff,
            10.0,
            |t| vec![t.sin(), t.cos()],
            |t, x, d| {
                d[0] = x[1];
                d[1] = -1e5 * (x[1] - t.cos()) - x[0];
            },
        ),
    ]
}

const POINTS: u32 = 100;

/// The largest error at the output points in units of tolerance · (|x| + nominal), and the evaluations.
fn worst(course: &mut Course, method: Method, tolerance: f64) -> (f64, u64) {
    let size = course.size();
    let mut integrator = method.integrator(size, Options::with_nominals(tolerance, &vec![1.0; size]));
    let start = (course.solution)(0.0);
    integrator.start(course, 0.0, &start, None).unwrap();
    let (end, mut worst, mut point) = (course.end, 0.0_f64, 1);
    let mut x = vec![0.0; size];
    while integrator.time() < end {
        let step = integrator.step(course, end).unwrap();
        loop {
            let t = end * f64::from(point) / f64::from(POINTS);
            if t > step.t_new || point > POINTS {
                break;
            }
            integrator.interpolate(t, &mut x);
            for (x, exact) in x.iter().zip((course.solution)(t)) {
                worst = worst.max((x - exact).abs() / (tolerance * (exact.abs() + 1.0)));
            }
            point += 1;
        }
    }
    (worst, integrator.statistics().rhs)
}

const ADAPTIVE: [Method; 6] =
    [Method::Auto, Method::Tsit5, Method::Dop853, Method::Esdirk, Method::Bdf, Method::Rosenbrock];

/// Where a method cannot get to the end in reasonable time: explicit ones on stiff problems.
fn is_suited(method: Method, kind: Kind) -> bool {
    kind != Kind::Stiff || !matches!(method, Method::Tsit5 | Method::Dop853)
}

#[test]
fn errors_are_within_a_hundred_tolerances() {
    let mut wrong = String::new();
    for mut course in courses() {
        let kind = course.kind;
        for exponent in 3..=10 {
            let tolerance = 10.0_f64.powi(-exponent);
            for method in ADAPTIVE.into_iter().filter(|&method| is_suited(method, kind)) {
                let (error, evaluations) = worst(&mut course, method, tolerance);
                if error > 100.0 || error.is_nan() {
                    wrong += &format!(
                        "{} {} {tolerance:e}: {error:.0} tolerances, {evaluations} evaluations\n",
                        course.name,
                        method.name()
                    );
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
