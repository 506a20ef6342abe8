//! Accuracy, order, effort and restarts of the integrators on problems with known solutions.

// Helpers of the tests may unwrap as the tests do.
#![allow(clippy::unwrap_used)]

mod problems;

use problems::*;
use solve::bdf::Bdf;
use solve::dop853::Dop853;
use solve::esdirk::Esdirk;
use solve::rosenbrock::Rosenbrock;
use solve::runge_kutta::Explicit;
use solve::tsit5::Tsit5;
use solve::{Auto, CrossingFunctions, DenseOutput, EvalError, Integrator, OdeProblem, Options, RootFinder, StepError};

fn integrators(size: usize, options: &Options) -> Vec<Box<dyn Integrator>> {
    vec![
        Box::new(Tsit5::new(size, options.clone())),
        Box::new(Dop853::new(size, options.clone())),
        Box::new(Esdirk::new(size, options.clone())),
        Box::new(Bdf::new(size, options.clone())),
        Box::new(Rosenbrock::new(size, options.clone())),
        Box::new(Auto::new(size, options.clone())),
    ]
}

/// Error, and an upper bound for the evaluations: the effort of a method is part of what it promises.
fn check(problem: &mut Problem, integrator: &mut dyn Integrator, error: f64, rhs: u64) {
    let (reached, effort) = run(problem, integrator);
    let name = problem.name;
    assert!(reached <= error, "{name} {}: error {reached:e}", integrator.name());
    assert!(effort.rhs <= rhs, "{name} {}: {effort:?}", integrator.name());
}

#[test]
fn bdf_on_stiff_problems() {
    // Comparison: CVODE 7.4 at the same tolerance 1e-6 needs 1326, 2030, 702, 3515, 149, 75 and 128 evaluations.
    let expected = [(2e-6, 1330), (1e-5, 2350), (2e-4, 702), (3e-5, 3515), (1e-6, 160), (1e-6, 75), (1e-6, 110)];
    for (mut problem, (error, rhs)) in stiff_problems().into_iter().zip(expected) {
        let mut bdf = Bdf::new(problem.start.len(), problem.options(1e-6));
        check(&mut problem, &mut bdf, error, rhs);
    }
}

#[test]
fn esdirk_on_stiff_problems() {
    let expected = [(2e-6, 6000), (1e-5, 11000), (1e-5, 2000), (3e-5, 12000), (1e-6, 2000), (1e-6, 200), (1e-6, 260)];
    for (mut problem, (error, rhs)) in stiff_problems().into_iter().zip(expected) {
        let mut esdirk = Esdirk::new(problem.start.len(), problem.options(1e-6));
        check(&mut problem, &mut esdirk, error, rhs);
    }
}

#[test]
fn rosenbrock_on_stiff_problems() {
    // One evaluation of ten looks at the dense output.
    let expected = [(1e-7, 3700), (5e-6, 7300), (2e-5, 2800), (5e-6, 13200), (1e-6, 450), (1e-7, 280), (1e-7, 270)];
    for (mut problem, (error, rhs)) in stiff_problems().into_iter().zip(expected) {
        let mut rosenbrock = Rosenbrock::new(problem.start.len(), problem.options(1e-6));
        check(&mut problem, &mut rosenbrock, error, rhs);
    }
}

#[test]
fn auto_is_never_worse_than_twice_the_best() {
    for mut problem in stiff_problems().into_iter().chain(smooth_problems()) {
        let size = problem.start.len();
        let options = problem.options(1e-6);
        let smooth = problem.name == "two bodies" || problem.name == "oscillator";
        let efforts: Vec<(f64, u64)> = integrators(size, &options)
            .iter_mut()
            .filter(|integrator| !matches!(integrator.name(), "tsit5" | "dop853") || smooth)
            .map(|integrator| {
                let (error, effort) = run(&mut problem, &mut **integrator);
                (error, effort.rhs)
            })
            .collect();
        let (auto, others) = efforts.split_last().unwrap();
        // A method that is much less accurate is no comparison.
        let comparable = others.iter().filter(|other| other.0 <= 10.0 * auto.0.max(1e-9));
        let best = comparable.map(|other| other.1).min().unwrap_or(u64::MAX / 4);
        assert!(auto.1 <= 2 * best + 150, "{}: {efforts:?}", problem.name);
    }
}

/// The error at the end falls with the tolerance, and stays within a moderate multiple of it.
fn check_accuracy(
    problems: Vec<Problem>,
    make: fn(usize, Options) -> Box<dyn Integrator>,
    tolerances: [f64; 3],
    most: f64,
) {
    for mut problem in problems {
        for tolerance in tolerances {
            let mut integrator = make(problem.start.len(), problem.options(tolerance));
            let (error, effort) = run(&mut problem, &mut *integrator);
            let name = integrator.name();
            assert!(error <= most * tolerance, "{} {name} {tolerance:e}: error {error:e}", problem.name);
            assert!(effort.rhs < 40_000, "{} {name} {tolerance:e}: {effort:?}", problem.name);
        }
    }
}

#[test]
fn detest_with_every_method() {
    let tolerances = [1e-4, 1e-7, 1e-10];
    check_accuracy(detest(), |n, o| Box::new(Tsit5::new(n, o)), tolerances, 500.0);
    check_accuracy(detest(), |n, o| Box::new(Dop853::new(n, o)), tolerances, 500.0);
    check_accuracy(detest(), |n, o| Box::new(Rosenbrock::new(n, o)), tolerances, 500.0);
    check_accuracy(detest(), |n, o| Box::new(Auto::new(n, o)), tolerances, 500.0);
    let loose = [1e-4, 1e-6, 1e-8];
    check_accuracy(detest(), |n, o| Box::new(Esdirk::new(n, o)), loose, 3000.0);
    check_accuracy(detest(), |n, o| Box::new(Bdf::new(n, o)), loose, 20_000.0);
}

#[test]
fn stiff_detest_with_every_implicit_method() {
    let tolerances = [1e-4, 1e-6, 1e-8];
    check_accuracy(stiff_detest(), |n, o| Box::new(Bdf::new(n, o)), tolerances, 100.0);
    check_accuracy(stiff_detest(), |n, o| Box::new(Esdirk::new(n, o)), tolerances, 100.0);
    check_accuracy(stiff_detest(), |n, o| Box::new(Rosenbrock::new(n, o)), tolerances, 100.0);
    check_accuracy(stiff_detest(), |n, o| Box::new(Auto::new(n, o)), tolerances, 100.0);
}

/// Explicit methods creep where a right-hand side carries noise, as one does that solves equations inside. Nothing about that
/// is stiffness, and only the trial of another method gets away from it.
#[test]
fn auto_leaves_a_method_that_does_not_get_on() {
    struct Noisy;
    impl OdeProblem for Noisy {
        fn size(&self) -> usize {
            1
        }
        fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
            // The residual of an inner iteration: relative noise of 1e-10 in the argument of a steep function.
            let seen = x[0] + 1e-10 * ((x[0] * 1e13).sin() + (t * 1e15).cos());
            dx[0] = -1e3 * (seen - t.cos());
            Ok(())
        }
    }
    let mut auto = Auto::new(1, Options::with_tolerances(1e-9, 1e-9));
    auto.start(&mut Noisy, 0.0, &[1.0], None).unwrap();
    while auto.time() < 3.0 {
        auto.step(&mut Noisy, 3.0).unwrap();
    }
    let exact = (1e6 * 3.0_f64.cos() + 1e3 * 3.0_f64.sin()) / (1e6 + 1.0);
    assert!((auto.state()[0] - exact).abs() < 1e-6);
    assert!(auto.statistics().rhs < 60_000, "{:?}", auto.statistics());
}

#[test]
fn auto_settles_on_the_method_that_suits() {
    let settled = |mut problem: Problem, tolerance: f64| {
        let mut auto = Auto::new(problem.start.len(), problem.options(tolerance));
        run(&mut problem, &mut auto);
        auto.active()
    };
    assert_eq!(settled(oscillator(), 1e-6), "tsit5");
    assert_eq!(settled(two_bodies(), 1e-11), "dop853");
    assert_eq!(settled(heat(100), 1e-6), "bdf");
    assert_eq!(settled(van_der_pol(), 1e-8), "bdf");
}

#[test]
fn tsit5_on_smooth_problems() {
    for (mut problem, (error, rhs)) in smooth_problems().into_iter().zip([(1e-4, 310), (2e-5, 3200)]) {
        let mut tsit5 = Tsit5::new(problem.start.len(), problem.options(1e-6));
        check(&mut problem, &mut tsit5, error, rhs);
    }
}

#[test]
fn dop853_at_tight_tolerances() {
    for (mut problem, (error, rhs)) in smooth_problems().into_iter().zip([(1e-10, 1300), (1e-9, 9500)]) {
        let mut dop853 = Dop853::new(problem.start.len(), problem.options(1e-11));
        check(&mut problem, &mut dop853, error, rhs);
    }
}

#[test]
fn tsit5_notices_stiffness() {
    let mut problem = van_der_pol();
    let start = problem.start.clone();
    let mut tsit5 = Tsit5::new(2, problem.options(1e-4));
    tsit5.start(&mut problem, 0.0, &start, None).unwrap();
    let mut steps = 0;
    while !tsit5.is_stiff() && steps < 200 {
        tsit5.step(&mut problem, 2.0).unwrap();
        steps += 1;
    }
    assert!(steps < 200);
    let mut problem = oscillator();
    let mut tsit5 = Tsit5::new(2, problem.options(1e-4));
    run(&mut problem, &mut tsit5);
    assert!(!tsit5.is_stiff());
}

/// Linear, so that the Newton iteration is exact: solutions exp(−t) and sin t.
struct Smooth;

impl OdeProblem for Smooth {
    fn size(&self) -> usize {
        2
    }
    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        dx[0] = -x[0];
        dx[1] = t.cos() - 2.0 * (x[1] - t.sin());
        Ok(())
    }
}

/// The error with many fixed steps, forced by tolerances that never object and a largest step.
fn error_with_steps(steps: usize, make: fn(usize, Options) -> Box<dyn Integrator>) -> (f64, f64) {
    let h = 2.0 / steps as f64;
    // A loose tolerance accepts every step.
    let options = Options { max_step: h, ..Options::with_tolerances(1.0, 1e-2) };
    let mut integrator = make(2, options);
    integrator.start(&mut Smooth, 0.0, &[1.0, 0.0], Some(h)).unwrap();
    let mut dense = 0.0_f64;
    let mut x = [0.0; 2];
    while integrator.time() < 2.0 {
        let step = integrator.step(&mut Smooth, 2.0).unwrap();
        for k in 1..8 {
            let t = step.t_old + (step.t_new - step.t_old) * f64::from(k) / 8.0;
            integrator.interpolate(t, &mut x);
            dense = dense.max((x[0] - (-t).exp()).abs()).max((x[1] - t.sin()).abs());
        }
    }
    let end = integrator.state();
    ((end[0] - (-2.0_f64).exp()).abs().max((end[1] - 2.0_f64.sin()).abs()), dense)
}

#[test]
fn orders_are_what_the_papers_promise() {
    type Case = (fn(usize, Options) -> Box<dyn Integrator>, f64, f64);
    let cases: [Case; 4] = [
        (|n, o| Box::new(Tsit5::new(n, o)), 4.7, 3.7),
        (|n, o| Box::new(Dop853::new(n, o)), 7.5, 6.5),
        (|n, o| Box::new(Esdirk::new(n, o)), 3.7, 3.4),
        (|n, o| Box::new(Rosenbrock::new(n, o)), 4.7, 3.7),
    ];
    for (make, order, dense_order) in cases {
        let name = make(1, Options::default()).name();
        // The higher the order, the sooner rounding is reached.
        let steps = if name == "dop853" { 3 } else { 16 };
        let (coarse, coarse_dense) = error_with_steps(steps, make);
        let (fine, fine_dense) = error_with_steps(2 * steps, make);
        assert!((coarse / fine).log2() > order, "{name}: {coarse:e} {fine:e}");
        assert!((coarse_dense / fine_dense).log2() > dense_order, "{name}: {coarse_dense:e} {fine_dense:e}");
    }
}

/// Steps and largest error of backward differentiation up to some order.
fn multistep_effort(max_order: usize, tolerance: f64) -> (f64, f64) {
    let options = Options { max_order, ..Options::with_tolerances(tolerance, tolerance) };
    let mut integrator = Bdf::new(2, options);
    integrator.start(&mut Smooth, 0.0, &[1.0, 0.0], None).unwrap();
    let mut error = 0.0_f64;
    while integrator.time() < 20.0 {
        let t = integrator.step(&mut Smooth, 20.0).unwrap().t_new;
        let x = integrator.state();
        error = error.max((x[0] - (-t).exp()).abs()).max((x[1] - t.sin()).abs());
    }
    (integrator.statistics().steps as f64, error)
}

/// With variable steps the error falls with the power of the number of steps that the order is.
#[test]
fn backward_differentiation_converges_with_its_order() {
    for (order, coarse, fine) in [(1, 1e-3, 1e-6), (2, 1e-4, 1e-7), (3, 1e-4, 1e-8), (4, 1e-4, 1e-8), (5, 1e-4, 1e-9)] {
        let ((steps, error), (more_steps, less_error)) =
            (multistep_effort(order, coarse), multistep_effort(order, fine));
        let found = (error / less_error).ln() / (more_steps / steps).ln();
        assert!(
            (found - order as f64).abs() < 0.6,
            "order {order}: {found} ({steps} {error:e} {more_steps} {less_error:e})"
        );
    }
}

#[test]
fn dense_output_is_as_accurate_as_the_solution() {
    let mut problem = two_bodies();
    let options = problem.options(1e-8);
    for mut integrator in integrators(4, &options) {
        let start = problem.start.clone();
        integrator.start(&mut problem, 0.0, &start, None).unwrap();
        let (mut x, mut before) = ([0.0; 4], start.clone());
        let mut worst = 0.0_f64;
        let end = problem.end;
        while integrator.time() < end {
            let step = integrator.step(&mut problem, end).unwrap();
            integrator.interpolate(step.t_old, &mut x);
            x.iter().zip(&before).for_each(|(x, b)| assert!((x - b).abs() < 1e-12, "{}", integrator.name()));
            before.copy_from_slice(integrator.state());
            integrator.interpolate(0.5 * (step.t_old + step.t_new), &mut x);
            // Energy is −1/2 everywhere on the ellipse.
            let energy = 0.5 * (x[2] * x[2] + x[3] * x[3]) - 1.0 / (x[0] * x[0] + x[1] * x[1]).sqrt();
            worst = worst.max((energy + 0.5).abs());
        }
        assert!(worst < 2e-5, "{}: {worst:e}", integrator.name());
    }
}

#[test]
fn never_past_the_limit_and_exactly_there() {
    struct Watch(f64);
    impl OdeProblem for Watch {
        fn size(&self) -> usize {
            1
        }
        fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
            assert!(t <= self.0, "evaluated at {t} beyond {}", self.0);
            dx[0] = -x[0];
            Ok(())
        }
    }
    for mut integrator in integrators(1, &Options::with_tolerances(1e-4, 1e-4)) {
        integrator.start(&mut Watch(f64::INFINITY), 0.0, &[1.0], None).unwrap();
        for k in 1..20 {
            let limit = 0.1 * f64::from(k);
            loop {
                let step = integrator.step(&mut Watch(limit), limit).unwrap();
                if step.at_limit {
                    assert_eq!(step.t_new, limit);
                    break;
                }
            }
        }
        assert!((integrator.state()[0] - (-1.9_f64).exp()).abs() < 1e-3);
    }
}

#[test]
fn recoverable_failures_shorten_the_step_and_fatal_ones_end_it() {
    // √x cannot be evaluated below zero; x' = −2√x reaches zero at t = 1 and the failure is reported there.
    struct Torricelli {
        fatal: bool,
    }
    impl OdeProblem for Torricelli {
        fn size(&self) -> usize {
            1
        }
        fn rhs(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
            if x[0] < 0.0 {
                return Err(if self.fatal { EvalError::fatal(5) } else { EvalError::recoverable(5) });
            }
            dx[0] = -2.0 * x[0].sqrt() + if x[0] < 1e-3 { 0.06 } else { 0.0 };
            Ok(())
        }
    }
    for mut integrator in integrators(1, &Options::with_tolerances(1e-3, 1e-3)) {
        let mut problem = Torricelli { fatal: false };
        integrator.start(&mut problem, 0.0, &[1.0], Some(0.9)).unwrap();
        while integrator.time() < 0.95 {
            integrator.step(&mut problem, 0.95).unwrap();
        }
        assert!((integrator.state()[0] - 0.0025).abs() < 2e-3, "{}", integrator.name());
    }
    let mut problem = Torricelli { fatal: true };
    let mut tsit5 = Tsit5::new(1, Options::default());
    tsit5.start(&mut problem, 0.0, &[1.0], Some(10.0)).unwrap();
    let failure = tsit5.step(&mut problem, 100.0);
    assert!(matches!(failure, Err(StepError::Evaluation { error: EvalError { site: 5, .. }, .. })), "{failure:?}");
}

#[test]
fn blow_up_is_reported_not_endless() {
    struct Explosion;
    impl OdeProblem for Explosion {
        fn size(&self) -> usize {
            1
        }
        fn rhs(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
            dx[0] = x[0] * x[0];
            Ok(())
        }
    }
    for mut integrator in integrators(1, &Options::default()) {
        integrator.start(&mut Explosion, 0.0, &[1.0], None).unwrap();
        let mut steps = 0;
        let error = loop {
            match integrator.step(&mut Explosion, 2.0) {
                Ok(_) => steps += 1,
                Err(error) => break error,
            }
            assert!(steps < 10_000, "{} {}", integrator.name(), integrator.time());
        };
        let t = match error {
            StepError::StepTooSmall { t, .. } | StepError::NotFinite { t, .. } | StepError::NoConvergence { t, .. } => {
                t
            }
            other => panic!("{other:?}"),
        };
        assert!((t - 1.0).abs() < 1e-3, "{t}");
    }
}

/// x' = ±(1 − …): a saturation that switches the slope without a jump, and a kick that does.
struct Switched {
    slope: f64,
    stiffness: f64,
}

impl OdeProblem for Switched {
    fn size(&self) -> usize {
        2
    }
    fn rhs(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        dx[0] = self.slope;
        dx[1] = -self.stiffness * (x[1] - x[0]) + self.slope;
        Ok(())
    }
}

struct Edges;

impl CrossingFunctions for Edges {
    fn count(&self) -> usize {
        2
    }
    fn evaluate(&mut self, _: f64, x: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        values[0] = x[0] - 1.0;
        values[1] = x[0] + 1.0;
        Ok(())
    }
}

#[test]
fn triangle_wave_through_thousands_of_events() {
    for (mut integrator, limit) in
        integrators(2, &Options::with_tolerances(1e-6, 1e-6)).into_iter().zip([30, 60, 40, 45, 45, 40])
    {
        let stiffness = if matches!(integrator.name(), "tsit5" | "dop853") { 1.0 } else { 1e4 };
        let mut problem = Switched { slope: 1.0, stiffness };
        let mut finder = RootFinder::new(2, 2);
        integrator.start(&mut problem, 0.0, &[0.0, 0.0], None).unwrap();
        finder.restart(&mut Edges, 0.0, &[0.0, 0.0]).unwrap();
        let mut events = 0;
        let mut x = [0.0; 2];
        while integrator.time() < 2000.0 {
            let step = integrator.step(&mut problem, 2000.0).unwrap();
            if let Some(event) = finder.search(&mut Edges, &*integrator, step.t_old, step.t_new).unwrap() {
                integrator.interpolate(event.t, &mut x);
                problem.slope = -problem.slope;
                assert!((event.t - (1.0 + 2.0 * f64::from(events))).abs() < 1e-6, "{} {}", integrator.name(), event.t);
                events += 1;
                integrator.restart(&mut problem, event.t, &x).unwrap();
                // Past the edge: it is armed again for the next pass.
                finder.restart_with(&[x[0] - 1.0 - 1e-9, x[0] + 1.0 + 1e-9]);
            }
        }
        assert_eq!(events, 1000);
        let per_event = integrator.statistics().rhs / 1000;
        assert!(per_event <= limit, "{}: {per_event} evaluations for each event", integrator.name());
    }
}

/// A counter that changes nothing, and after time 1 a switch that does.
#[test]
fn the_rest_of_a_step_is_used_after_an_event_without_effect() {
    struct Forced {
        gain: f64,
    }
    impl OdeProblem for Forced {
        fn size(&self) -> usize {
            1
        }
        fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
            dx[0] = -100.0 * (x[0] - t.cos()) + self.gain;
            Ok(())
        }
    }
    for mut integrator in integrators(1, &Options::with_tolerances(1e-6, 1e-6)) {
        let name = integrator.name();
        let mut problem = Forced { gain: 0.0 };
        integrator.start(&mut problem, 0.0, &[1.0], None).unwrap();
        let mut x = [0.0];
        let mut events = 0;
        while integrator.time() < 1.0 {
            let step = integrator.step(&mut problem, 1.0).unwrap();
            let t = 0.7 * step.t_old + 0.3 * step.t_new;
            integrator.interpolate(t, &mut x);
            integrator.restart(&mut problem, t, &x).unwrap();
            assert_eq!((integrator.time(), integrator.state()), (t, &x[..]), "{name}");
            let rest = integrator.step(&mut problem, 1.0).unwrap();
            assert_eq!(rest.t_old, t, "{name}");
            events += 1;
        }
        let restarts = integrator.statistics().restarts;
        assert!(restarts <= events / 5, "{name}: {restarts} of {events}");
        // A switch is no such event.
        let step = integrator.step(&mut problem, 2.0).unwrap();
        let t = 0.5 * (step.t_old + step.t_new);
        integrator.interpolate(t, &mut x);
        problem.gain = 10.0;
        integrator.restart(&mut problem, t, &x).unwrap();
        assert_eq!(integrator.statistics().restarts, restarts + 1, "{name}");
        while integrator.time() < 2.0 {
            integrator.step(&mut problem, 2.0).unwrap();
        }
        // Particular solution of x' = −100 (x − cos t) + 10.
        let exact = (1e4 * 2.0_f64.cos() + 100.0 * 2.0_f64.sin()) / 10_001.0 + 0.1;
        assert!((integrator.state()[0] - exact).abs() < 1e-5, "{name} {} {exact}", integrator.state()[0]);
    }
}

/// A diode that begins to conduct: what it blocked stood still, stiffly, and then follows its slope, which does not jump.
#[test]
fn what_is_stiff_no_more_after_an_event_moves() {
    struct Diode {
        blocks: bool,
    }
    impl OdeProblem for Diode {
        fn size(&self) -> usize {
            2
        }
        fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
            dx[0] = 100.0 * t.cos();
            dx[1] = if self.blocks { -1e8 * x[1] } else { t - 1.0 };
            Ok(())
        }
    }
    // Explicit methods cannot follow what is that stiff.
    let explicit = ["tsit5", "dop853", "rk4"];
    for mut integrator in integrators(2, &Options::with_tolerances(1e-4, 1e-4)) {
        let name = integrator.name();
        if explicit.contains(&name) {
            continue;
        }
        let mut problem = Diode { blocks: true };
        integrator.start(&mut problem, 0.0, &[0.0, 0.0], None).unwrap();
        let mut x = [0.0; 2];
        while integrator.time() < 1.0 {
            integrator.step(&mut problem, 2.0).unwrap();
        }
        integrator.interpolate(1.0, &mut x);
        problem.blocks = false;
        integrator.restart(&mut problem, 1.0, &x).unwrap();
        while integrator.time() < 2.0 {
            integrator.step(&mut problem, 2.0).unwrap();
        }
        assert!((integrator.state()[1] - 0.5).abs() < 1e-3, "{name} {}", integrator.state()[1]);
    }
}

#[test]
fn a_restart_without_jump_keeps_the_history() {
    let mut problem = oscillator();
    let start = problem.start.clone();
    let mut plain = Bdf::new(2, problem.options(1e-6));
    let (_, without) = run(&mut problem, &mut plain);
    let mut bdf = Bdf::new(2, problem.options(1e-6));
    bdf.start(&mut problem, 0.0, &start, None).unwrap();
    let mut x = [0.0; 2];
    let mut count = 0;
    let end = problem.end;
    while bdf.time() < end {
        let step = bdf.step(&mut problem, end).unwrap();
        count += 1;
        if count % 10 == 0 {
            // An event in the middle of the step that changes nothing.
            let t = 0.5 * (step.t_old + step.t_new);
            bdf.interpolate(t, &mut x);
            bdf.restart(&mut problem, t, &x).unwrap();
        }
    }
    let with = bdf.statistics();
    assert_eq!(with.restarts, 0);
    assert!(with.rhs < without.rhs * 13 / 10, "{with:?} {without:?}");
    assert!(problem.error(bdf.state()) < 2e-3);
}

/// A body that stops in the middle: its velocity acts on a nonlinear rest of the model until then, and has no slope afterwards.
struct Stopping {
    is_stuck: bool,
}

impl OdeProblem for Stopping {
    fn size(&self) -> usize {
        3
    }

    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        let force = 40.0 * (x[2] - x[0]).powi(3) + 300.0 * (x[2] - x[0]);
        dx[0] = x[1];
        dx[1] = if self.is_stuck { 0.0 } else { force - 90.0 * x[1] };
        dx[2] = (3.0 * t).cos() - 0.01 * force * x[2];
        Ok(())
    }
}

#[test]
fn what_has_no_slope_does_not_move() {
    for mut integrator in integrators(3, &Options::with_nominals(1e-6, &[1.0; 3])) {
        let mut problem = Stopping { is_stuck: false };
        integrator.start(&mut problem, 0.0, &[0.0, 0.0, 0.3], None).unwrap();
        while integrator.time() < 1.0 {
            integrator.step(&mut problem, 1.0).unwrap();
        }
        problem.is_stuck = true;
        let stuck = [integrator.state()[0], 0.0, integrator.state()[2]];
        integrator.restart(&mut problem, 1.0, &stuck).unwrap();
        while integrator.time() < 2.0 {
            integrator.step(&mut problem, 2.0).unwrap();
            assert_eq!(integrator.state()[..2], stuck[..2], "{} at {}", integrator.name(), integrator.time());
        }
    }
}

#[test]
fn a_start_far_from_zero() {
    // Between 1e12 and its successor lies a tenth of a millisecond.
    struct Decay;
    impl OdeProblem for Decay {
        fn size(&self) -> usize {
            1
        }
        fn rhs(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
            dx[0] = -x[0];
            Ok(())
        }
    }
    for mut integrator in integrators(1, &Options::with_tolerances(1e-6, 1e-6)) {
        integrator.start(&mut Decay, 1e12, &[1.0], None).unwrap();
        while integrator.step(&mut Decay, 1e12 + 5.0).unwrap().t_new < 1e12 + 5.0 {}
        let error = (integrator.state()[0] - (-5.0_f64).exp()).abs();
        assert!(error < 1e-5, "{} {error:e}", integrator.name());
    }
}
