//! Newton's method on the systems of Moré, Garbow and Hillstrom, *Testing unconstrained optimization software*, ACM
//! TOMS 7 (1981), and on systems that models of circuits and fluids lead to, from near and far starting points.

// Helpers of the tests may unwrap as the tests do.
#![allow(clippy::unwrap_used, clippy::type_complexity, clippy::needless_range_loop)]

use solve::newton::NewtonOptions;
use solve::{EvalError, NewtonSolver, NonlinearSystem};

struct System {
    name: &'static str,
    start: Vec<f64>,
    residual: Box<dyn Fn(&[f64], &mut [f64]) -> Result<(), EvalError>>,
}

impl NonlinearSystem for System {
    fn size(&self) -> usize {
        self.start.len()
    }
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        (self.residual)(x, r)
    }
}

fn system(name: &'static str, start: &[f64], residual: impl Fn(&[f64], &mut [f64]) + 'static) -> System {
    let residual = Box::new(move |x: &[f64], r: &mut [f64]| {
        residual(x, r);
        Ok(())
    });
    System { name, start: start.to_vec(), residual }
}

fn systems() -> Vec<System> {
    let n = 10;
    let h = 1.0 / (n + 1) as f64;
    vec![
        system("rosenbrock", &[-1.2, 1.0], |x, r| {
            r[0] = 1.0 - x[0];
            r[1] = 10.0 * (x[1] - x[0] * x[0]);
        }),
        system("powell badly scaled", &[0.0, 1.0], |x, r| {
            r[0] = 1e4 * x[0] * x[1] - 1.0;
            r[1] = (-x[0]).exp() + (-x[1]).exp() - 1.0001;
        }),
        system("helical valley", &[-1.0, 0.0, 0.0], |x, r| {
            let turn = 2.0 * std::f64::consts::PI;
            let angle = if x[0] > 0.0 {
                (x[1] / x[0]).atan() / turn
            } else if x[0] < 0.0 {
                (x[1] / x[0]).atan() / turn + 0.5
            } else {
                0.25_f64.copysign(x[1])
            };
            r[0] = 10.0 * (x[2] - 10.0 * angle);
            r[1] = 10.0 * (x[0].hypot(x[1]) - 1.0);
            r[2] = x[2];
        }),
        system("powell singular", &[3.0, -1.0, 0.0, 1.0], |x, r| {
            r[0] = x[0] + 10.0 * x[1];
            r[1] = 5.0_f64.sqrt() * (x[2] - x[3]);
            r[2] = (x[1] - 2.0 * x[2]).powi(2);
            r[3] = 10.0_f64.sqrt() * (x[0] - x[3]).powi(2);
        }),
        system("wood", &[-3.0, -1.0, -3.0, -1.0], |x, r| {
            let (a, b) = (x[1] - x[0] * x[0], x[3] - x[2] * x[2]);
            r[0] = -200.0 * x[0] * a - (1.0 - x[0]);
            r[1] = 200.0 * a + 20.2 * (x[1] - 1.0) + 19.8 * (x[3] - 1.0);
            r[2] = -180.0 * x[2] * b - (1.0 - x[2]);
            r[3] = 180.0 * b + 20.2 * (x[3] - 1.0) + 19.8 * (x[1] - 1.0);
        }),
        system("brown almost linear", &[0.5; 10], |x, r| {
            let sum: f64 = x.iter().sum();
            for i in 0..9 {
                r[i] = x[i] + sum - 11.0;
            }
            r[9] = x.iter().product::<f64>() - 1.0;
        }),
        system(
            "discrete boundary value",
            &(0..n).map(|i| (i + 1) as f64 * h * ((i + 1) as f64 * h - 1.0)).collect::<Vec<_>>(),
            move |x, r| {
                for i in 0..n {
                    let t = (i + 1) as f64 * h;
                    let left = if i > 0 { x[i - 1] } else { 0.0 };
                    let right = if i + 1 < n { x[i + 1] } else { 0.0 };
                    r[i] = 2.0 * x[i] - left - right + h * h * (x[i] + t + 1.0).powi(3) / 2.0;
                }
            },
        ),
        system("trigonometric", &[0.1; 10], |x, r| {
            let sum: f64 = x.iter().map(|x| x.cos()).sum();
            for i in 0..10 {
                r[i] = 10.0 - sum + (i + 1) as f64 * (1.0 - x[i].cos()) - x[i].sin();
            }
        }),
        system("variably dimensioned", &(0..10).map(|i| 1.0 - (i + 1) as f64 / 10.0).collect::<Vec<_>>(), |x, r| {
            let sum: f64 = x.iter().enumerate().map(|(i, x)| (i + 1) as f64 * (x - 1.0)).sum();
            for i in 0..10 {
                r[i] = x[i] - 1.0 + (i + 1) as f64 * sum * (1.0 + 2.0 * sum * sum);
            }
        }),
        system("broyden tridiagonal", &[-1.0; 10], |x, r| {
            for i in 0..10 {
                let left = if i > 0 { x[i - 1] } else { 0.0 };
                let right = if i < 9 { x[i + 1] } else { 0.0 };
                r[i] = (3.0 - 2.0 * x[i]) * x[i] - left - 2.0 * right + 1.0;
            }
        }),
        // 12 V, a resistor and three diodes in series, seen from the node voltages.
        system("diode chain", &[0.0; 3], |x, r| {
            let diode = |u: f64| 1e-12 * ((u / 0.02585).exp() - 1.0);
            r[0] = (12.0 - x[0]) / 100.0 - diode(x[0] - x[1]);
            r[1] = diode(x[0] - x[1]) - diode(x[1] - x[2]);
            r[2] = diode(x[1] - x[2]) - diode(x[2]);
        }),
        // Turbulent flow through two pipes in series: square roots of pressure differences.
        system("pipes", &[1.5e5, 1.0], |x, r| {
            let flow = |dp: f64| dp.abs().sqrt().copysign(dp) * 1e-2;
            r[0] = x[1] - flow(2e5 - x[0]);
            r[1] = x[1] - 2.0 * flow(x[0] - 1e5);
        }),
    ]
}

fn attempt(mut system: System, factor: f64) -> Result<u64, String> {
    let name = system.name;
    let mut x: Vec<f64> = system.start.iter().map(|x| x * factor).collect();
    let nominals = if name == "pipes" { vec![1e5, 1.0] } else { Vec::new() };
    let mut solver = NewtonSolver::new(&system, NewtonOptions { nominals, ..NewtonOptions::default() }).unwrap();
    let outcome = solver.solve(&mut system, &mut x);
    let mut r = vec![0.0; x.len()];
    (system.residual)(&x, &mut r).unwrap();
    let size = r.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    match outcome {
        Ok(()) if size < 1e-6 => Ok(solver.statistics().iterations),
        Ok(()) => Err(format!("{name} ×{factor}: residual {size:e} at {x:?}")),
        Err(error) => Err(format!("{name} ×{factor}: {error}")),
    }
}

#[test]
fn standard_starts_converge() {
    let mut total = 0;
    // The trigonometric system has a local minimum of the residual in the way.
    for system in systems().into_iter().filter(|system| system.name != "trigonometric") {
        total += attempt(system, 1.0).unwrap();
    }
    assert!(total <= 400, "{total}");
}

#[test]
fn most_starts_far_away_converge() {
    let mut failures = Vec::new();
    for factor in [10.0, 100.0] {
        failures.extend(systems().into_iter().filter_map(|system| attempt(system, factor).err()));
    }
    assert!(failures.len() <= 4, "{failures:#?}");
}

#[test]
fn a_point_at_which_a_residual_does_not_feel_its_unknown() {
    /// x·|x| = right and y = −x.
    struct Flat {
        right: f64,
    }
    impl NonlinearSystem for Flat {
        fn size(&self) -> usize {
            2
        }
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            r[0] = x[0] * x[0].abs() - self.right;
            r[1] = x[1] + x[0];
            Ok(())
        }
        fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
            values.copy_from_slice(&[2.0 * x[0].abs(), 1.0, 0.0, 1.0]);
            Ok(true)
        }
    }
    for right in [0.02f64, -0.02, 1e4] {
        let mut flat = Flat { right };
        let mut solver = NewtonSolver::new(&flat, NewtonOptions::default()).unwrap();
        let mut x = [0.0; 2];
        solver.solve(&mut flat, &mut x).unwrap();
        let expected = right.signum() * right.abs().sqrt();
        assert!(
            (x[0] - expected).abs() < 1e-8 * expected.abs() && (x[0] + x[1]).abs() < 1e-12 * expected.abs(),
            "{x:?}"
        );
    }
}

#[test]
fn one_unknown_beyond_an_extreme_or_a_pole() {
    struct One<F: Fn(f64) -> f64>(F);
    impl<F: Fn(f64) -> f64> NonlinearSystem for One<F> {
        fn size(&self) -> usize {
            1
        }
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            r[0] = (self.0)(x[0]);
            if r[0].is_finite() { Ok(()) } else { Err(EvalError::recoverable(0)) }
        }
    }
    type Case = (fn(f64) -> f64, f64, f64);
    let cases: [Case; 4] = [
        // The branch at −15 has ended; the only solution is on the other side of the amplifier's slope.
        (|x| x - (15000.0 * (x / 3.0 + 5.1)).clamp(-15.0, 15.0), -15.0, 15.0),
        (|x| x * x * x - 3.0 * x - 10.0, -1.0, 2.612_887_864_717_64),
        (|x| 1e7 - 1.0 / x, 0.0, 1e-7),
        (|x| 4e-5 - 1.0 / x, 0.0, 25_000.0),
    ];
    for (function, start, expected) in cases {
        let mut system = One(function);
        let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
        let mut x = [start];
        solver.solve(&mut system, &mut x).unwrap();
        assert!((x[0] - expected).abs() < 1e-9 * expected.abs().max(1.0), "{} instead of {expected}", x[0]);
    }
}
