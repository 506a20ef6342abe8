//! Newton's method on small systems with known solutions, and what it takes.

use super::*;
use proptest::prelude::*;

struct System<R: FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>>(usize, R);

impl<R: FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>> NonlinearSystem for System<R> {
    fn size(&self) -> usize {
        self.0
    }
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        (self.1)(x, r)
    }
}

fn solve(
    x: &mut [f64],
    options: NewtonOptions,
    residual: impl FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>,
) -> (Result<(), NewtonError>, NewtonStatistics) {
    let mut system = System(x.len(), residual);
    let mut solver = NewtonSolver::new(&system, options).unwrap();
    let outcome = solver.solve(&mut system, x);
    (outcome, solver.statistics())
}

#[test]
fn rosenbrock_powell_and_a_diode() {
    let mut x = [-1.2, 1.0];
    let (outcome, effort) = solve(&mut x, NewtonOptions::default(), |x, r| {
        r[0] = 10.0 * (x[1] - x[0] * x[0]);
        r[1] = 1.0 - x[0];
        Ok(())
    });
    outcome.unwrap();
    assert!((x[0] - 1.0).abs() < 1e-10 && (x[1] - 1.0).abs() < 1e-10);
    assert!(effort.iterations <= 40, "{effort:?}");
    // Powell's badly scaled function.
    let mut x = [0.0, 1.0];
    let (outcome, _) = solve(&mut x, NewtonOptions::default(), |x, r| {
        r[0] = 1e4 * x[0] * x[1] - 1.0;
        r[1] = (-x[0]).exp() + (-x[1]).exp() - 1.0001;
        Ok(())
    });
    outcome.unwrap();
    assert!((x[0] - 1.098159e-5).abs() < 1e-11 && (x[1] - 9.106146).abs() < 1e-5, "{x:?}");
    // 5 V, 1 kΩ and a diode, from zero: exp overflows on a full step.
    let mut x = [0.0];
    let nominals = NewtonOptions { nominals: vec![0.1], ..NewtonOptions::default() };
    let (outcome, effort) = solve(&mut x, nominals, |x, r| {
        r[0] = 1e-14 * ((x[0] / 0.02585).exp() - 1.0) - (5.0 - x[0]) / 1000.0;
        Ok(())
    });
    outcome.unwrap();
    assert!((1e-14 * ((x[0] / 0.02585_f64).exp() - 1.0) - (5.0 - x[0]) / 1000.0).abs() < 1e-12);
    assert!(effort.iterations <= 60, "{effort:?}");
}

#[test]
fn shortens_steps_where_the_residual_cannot_be_evaluated() {
    let mut x = [10.0];
    let (outcome, _) = solve(&mut x, NewtonOptions::default(), |x, r| {
        if x[0] <= 0.0 {
            return Err(EvalError::recoverable(7));
        }
        r[0] = x[0].ln() + 1.0;
        Ok(())
    });
    outcome.unwrap();
    assert!((x[0] - (-1.0_f64).exp()).abs() < 1e-10);
    let mut x = [1.0];
    let (outcome, _) = solve(&mut x, NewtonOptions::default(), |_, _| Err(EvalError::fatal(3)));
    assert_eq!(outcome, Err(NewtonError::Evaluation(EvalError::fatal(3))));
    let (outcome, _) = solve(&mut x, NewtonOptions::default(), |_, r| {
        r[0] = f64::NAN;
        Ok(())
    });
    assert_eq!(outcome, Err(NewtonError::NotFinite { residual: 0 }));
}

#[test]
fn names_the_worst_residual() {
    let mut x = [0.3, 1.0];
    let (outcome, _) = solve(&mut x, NewtonOptions::default(), |x, r| {
        r[0] = x[1] - 1.0;
        r[1] = x[0] * x[0] + 1.0;
        Ok(())
    });
    let Err(NewtonError::NoConvergence { worst_residual, .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(worst_residual, 1);
}

#[test]
fn singular_but_consistent_and_inconsistent() {
    let mut x = [0.0, 0.0];
    let (outcome, _) = solve(&mut x, NewtonOptions::default(), |x, r| {
        r[0] = x[0] + x[1] - 2.0;
        r[1] = 2.0 * x[0] + 2.0 * x[1] - 4.0;
        Ok(())
    });
    outcome.unwrap();
    assert!((x[0] - 1.0).abs() < 1e-7 && (x[1] - 1.0).abs() < 1e-7, "{x:?}");
    let (outcome, _) = solve(&mut x, NewtonOptions::default(), |x, r| {
        r[0] = x[0] + x[1] - 2.0;
        r[1] = 2.0 * x[0] + 2.0 * x[1] - 5.0;
        Ok(())
    });
    assert!(matches!(outcome, Err(NewtonError::Singular { .. })), "{outcome:?}");
}

/// A row and a column of zeros that do not meet on the diagonal.
#[test]
fn an_unknown_that_does_not_matter() {
    let pattern = Pattern::from_entries(3, 3, [(0, 0), (1, 0), (2, 1), (1, 1), (0, 2), (2, 2)]);
    let mut system = Sparse {
        pattern,
        residual: |x: &[f64], r: &mut [f64]| {
            r[0] = x[0] * x[0] - 2.0;
            r[1] = 0.0 * x[0];
            r[2] = x[1] - x[0] + 0.0 * x[2];
        },
    };
    let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
    let mut x = [1.0, 0.0, 5.0];
    solver.solve(&mut system, &mut x).unwrap();
    assert!((x[0] - 2.0_f64.sqrt()).abs() < 1e-12 && (x[1] - x[0]).abs() < 1e-12 && x[2] == 5.0, "{x:?}");
}

struct Sparse<F> {
    pattern: Pattern,
    residual: F,
}

impl<F: Fn(&[f64], &mut [f64])> NonlinearSystem for Sparse<F> {
    fn size(&self) -> usize {
        self.pattern.columns
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        (self.residual)(x, r);
        Ok(())
    }

    fn jacobian_pattern(&self) -> Option<&Pattern> {
        Some(&self.pattern)
    }
}

#[test]
fn bounds_keep_the_iteration_inside() {
    let mut x = [10.0];
    let options = NewtonOptions { bounds: vec![(1e-3, 100.0)], ..NewtonOptions::default() };
    let (outcome, _) = solve(&mut x, options, |x, r| {
        assert!(x[0] > 9e-4);
        r[0] = x[0].ln() + 1.0;
        Ok(())
    });
    outcome.unwrap();
    assert!((x[0] - (-1.0_f64).exp()).abs() < 1e-10);
}

#[test]
fn a_step_that_lands_by_chance_is_not_the_last() {
    // With the slope at 1.5, a step from 2 leads to the root 1 exactly, though the slope there is another one.
    let target = std::cell::Cell::new(2.25);
    let mut system = System(1, |x: &[f64], r: &mut [f64]| {
        r[0] = x[0] * x[0] - target.get();
        Ok(())
    });
    let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
    let mut x = [1.5 + 1e-9];
    solver.solve(&mut system, &mut x).unwrap();
    target.set(1.0);
    x[0] = 2.0 - 3e-8;
    solver.solve(&mut system, &mut x).unwrap();
    assert!((x[0] - 1.0).abs() < 1e-10, "{}", x[0]);
}

#[test]
fn warm_start_needs_no_jacobian() {
    let target = std::cell::Cell::new(2.0);
    let mut system = System(1, |x: &[f64], r: &mut [f64]| {
        r[0] = x[0] * x[0] * x[0] - target.get();
        Ok(())
    });
    let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
    let mut x = [1.0];
    solver.solve(&mut system, &mut x).unwrap();
    let first = solver.statistics();
    for k in 1..=10 {
        target.set(2.0 + 0.001 * k as f64);
        solver.solve(&mut system, &mut x).unwrap();
        assert!((x[0].powi(3) - target.get()).abs() < 1e-9);
    }
    assert_eq!(solver.statistics().jacobians, first.jacobians);
    assert!(solver.statistics().residuals - first.residuals <= 60, "{:?}", solver.statistics());
}

proptest! {
    #[test]
    fn linear_systems_take_one_step(seed in proptest::collection::vec(-1.0f64..1.0, 20)) {
        let mut x = [0.0; 4];
        let exact = &seed[16..20];
        let (outcome, effort) = solve(&mut x, NewtonOptions::default(), |x, r| {
            for i in 0..4 {
                r[i] = 8.0 * (x[i] - exact[i]);
                for j in 0..4 {
                    r[i] += seed[4 * i + j] * (x[j] - exact[j]);
                }
            }
            Ok(())
        });
        outcome.unwrap();
        for (x, e) in x.iter().zip(exact) {
            prop_assert!((x - e).abs() < 1e-10);
        }
        prop_assert!(effort.jacobians <= 2);
    }
}

#[test]
fn factors_of_a_steeper_place_do_not_settle_anything() {
    // 1 + log(x) + x = c: near zero the slope is 1/x, so that a correction with it is short everywhere else.
    let right = std::cell::Cell::new(-40.0);
    let mut system = System(1, |x, r| {
        r[0] = 1.0 + x[0].ln() + x[0] - right.get();
        if r[0].is_nan() { Err(EvalError::recoverable(0)) } else { Ok(()) }
    });
    let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
    let mut x = [1e-17];
    solver.solve(&mut system, &mut x).unwrap();
    assert!((x[0].ln() + 41.0).abs() < 1e-9, "{x:?}");
    right.set(2.0);
    x[0] = 300.0;
    solver.solve(&mut system, &mut x).unwrap();
    assert!((x[0] - 1.0).abs() < 1e-9, "{x:?}");
}

#[test]
fn an_unknown_that_the_factors_hold_is_not_settled_because_others_are() {
    // The second unknown follows the first at once; with the slope of a place next to zero the first never moves.
    let right = std::cell::Cell::new(-40.0);
    let mut system = System(2, |x, r| {
        r[0] = 1.0 + x[0].ln() + x[0] - right.get();
        r[1] = x[1] - 3.0 - x[0] - 0.001 * right.get();
        if r[0].is_nan() { Err(EvalError::recoverable(0)) } else { Ok(()) }
    });
    let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
    let mut x = [1e-17, 3.0];
    solver.solve(&mut system, &mut x).unwrap();
    for (c, guess) in [(2.1, 1.0), (1.9, 1.0), (3.0, 1.5)] {
        right.set(-40.0);
        let mut x = [1e-17, 3.0];
        solver.solve(&mut system, &mut x).unwrap();
        right.set(c);
        let mut x = [guess, 4.0];
        solver.solve(&mut system, &mut x).unwrap();
        assert!((1.0 + x[0].ln() + x[0] - c).abs() < 1e-9, "{x:?}");
    }
}

/// `x₀^0.8 = 1` and `xᵢ^0.8 = 1 + 0.1 xᵢ₋₁`, as heat transfer follows flow; at zero the slopes are vertical.
struct SteepChain(Pattern);

impl NonlinearSystem for SteepChain {
    fn size(&self) -> usize {
        self.0.columns
    }
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        for i in 0..x.len() {
            let before = if i > 0 { x[i - 1] } else { 0.0 };
            r[i] = x[i].abs().powf(0.8).copysign(x[i]) - 1.0 - 0.1 * before;
        }
        Ok(())
    }
    fn jacobian_pattern(&self) -> Option<&Pattern> {
        Some(&self.0)
    }
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        for j in 0..x.len() {
            for p in self.0.starts[j]..self.0.starts[j + 1] {
                values[p] = if self.0.indices[p] as usize == j { 0.8 * x[j].abs().powf(-0.2) } else { -0.1 };
            }
        }
        Ok(true)
    }
}

#[test]
fn a_large_system_leaves_a_start_without_slopes() {
    const SIZE: usize = 600;
    let entries = (0..SIZE).flat_map(|j| (j..(j + 2).min(SIZE)).map(move |i| (i, j)));
    let mut system = SteepChain(Pattern::from_entries(SIZE, SIZE, entries));
    let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
    let mut x = vec![0.0; SIZE];
    solver.solve(&mut system, &mut x).unwrap();
    let mut expected = 0.0;
    for x in x {
        expected = f64::powf(1.0 + 0.1 * expected, 1.25);
        assert!((x - expected).abs() < 1e-9, "{x} {expected}");
    }
}

/// `√|x - at| = value`, with the slope of the generated code, which is finite where √ is vertical.
struct Orifice {
    at: f64,
    value: f64,
}

impl NonlinearSystem for Orifice {
    fn size(&self) -> usize {
        1
    }
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        r[0] = (x[0] - self.at).abs().sqrt() - self.value;
        Ok(())
    }
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        let distance = x[0] - self.at;
        values[0] = 0.5 / distance.abs().sqrt().max(1e-100) * if distance < 0.0 { -1.0 } else { 1.0 };
        Ok(true)
    }
}

#[test]
fn a_vertical_slope_is_no_solution() {
    for at in [0.0, 1.0, -1e-6] {
        for value in [1e-3, 1.0, 3e4] {
            let mut system = Orifice { at, value };
            let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
            let mut x = vec![at];
            solver.solve(&mut system, &mut x).unwrap();
            let found = (x[0] - at).abs().sqrt();
            assert!((found - value).abs() < 1e-6 * value, "{x:?} for {at} and {value}");
        }
    }
}

/// `log(x - at) = value` has no solution in numbers where the value is far below that of the smallest distance.
struct Logarithm {
    at: f64,
    value: f64,
}

impl NonlinearSystem for Logarithm {
    fn size(&self) -> usize {
        1
    }
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        let distance = x[0] - self.at;
        if distance <= 0.0 {
            return Err(EvalError { recoverable: true, site: 0 });
        }
        r[0] = distance.ln() - self.value;
        Ok(())
    }
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        values[0] = 1.0 / (x[0] - self.at);
        Ok(true)
    }
}

#[test]
fn the_end_of_a_logarithm_is_no_solution() {
    for at in [1.0, 4.8, -3e3] {
        for value in [-50.0, -4e3, -20.0, 1.0] {
            let mut system = Logarithm { at, value };
            let mut solver = NewtonSolver::new(&system, NewtonOptions::default()).unwrap();
            let mut x = vec![at + 1.0];
            if solver.solve(&mut system, &mut x).is_ok() {
                assert!(value > -40.0, "{x:?} for {at} and {value}");
                assert!((x[0] - at - value.exp()).abs() < 1e-9 * at.abs(), "{x:?} for {at} and {value}");
            }
        }
    }
}
