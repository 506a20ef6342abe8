//! Inline integration: the method's formula is sorted together with the equations.

mod common;

use common::{Run, assert_close, run_with};
use simulate::Options;

fn run(text: &str, solver: &str, step: f64, stop_time: f64) -> Run {
    let options = Options {
        stop_time,
        interval: stop_time / 10.0,
        tolerance: 1e-10,
        solver: solver.parse().expect("a known solver"),
        step: Some(step),
        ..Options::default()
    };
    let transformations = transform::Options { inline_step: options.inline_step(), ..transform::Options::default() };
    run_with(text, &transformations, &options)
}

/// x = cos(t).
const OSCILLATOR: &str = "Real x(start = 1, fixed = true)
    Real v(start = 0, fixed = true)
    der(x) = v
    der(v) = -x";

#[test]
fn the_orders_are_those_of_the_methods() {
    for (solver, order) in [("inline-euler", 1.0), ("inline-trapezoid", 2.0), ("inline-bdf2", 2.0)] {
        let error = |step: f64| (run(OSCILLATOR, solver, step, 2.0).end("x") - 2.0_f64.cos()).abs();
        let observed = (error(0.01) / error(0.005)).log2();
        assert!((observed - order).abs() < 0.1, "{solver}: {observed}");
    }
}

#[test]
fn implicit_euler_inside_and_outside_of_the_model_agree() {
    let van_der_pol = "parameter mu = 5
        Real x(start = 2, fixed = true)
        Real v(start = 0, fixed = true)
        der(x) = v
        der(v) = mu*(1 - x*x)*v - x - f
        f + 0.1*f*f*f = 0.2*v";
    let (inside, outside) =
        (run(van_der_pol, "inline-euler", 0.01, 3.0), run(van_der_pol, "implicit-euler", 0.01, 3.0));
    for name in ["x", "v", "f"] {
        for (a, b) in inside.column(name).iter().zip(outside.column(name)) {
            assert_close(*a, b, 1e-8);
        }
    }
}

/// Time events at samples, a state event of a two-point controller, and a state that is set anew.
#[test]
fn events_are_those_of_the_other_fixed_step_methods() {
    let heater = "Real T(start = 20, fixed = true)
        Real w(start = 0, fixed = true)
        Boolean on
        discrete Real r(start = 0.3)
        on = T < 20 + r or pre(on) and T < 21
        der(T) = if on then 3 else -1
        der(w) = T - w*w
        when sample(0.25, 0.25) then r = 0.3 + 0.1*sin(time)
        when w > 4 then reinit(w, 1)";
    let (inside, outside) = (run(heater, "inline-euler", 0.01, 3.0), run(heater, "implicit-euler", 0.01, 3.0));
    let counts = |run: &Run| (run.outcome.statistics.state_events, run.outcome.statistics.time_events);
    assert_eq!(counts(&inside), counts(&outside));
    assert!(counts(&inside).0 > 10, "{:?}", counts(&inside));
    assert_eq!(inside.time().len(), outside.time().len());
    for name in ["T", "w", "r", "on"] {
        for (a, b) in inside.column(name).iter().zip(outside.column(name)) {
            assert_close(*a, b, 1e-7);
        }
    }
}

#[test]
fn a_run_with_a_structure_that_changes_says_so() {
    let options = Options { solver: "inline-euler".parse().unwrap(), ..Options::default() };
    let run = common::run("Real x(start = 1)\nder(x) = -x", &options);
    let simulate::Ending::Failed { diagnostic, .. } = run.outcome.ending else { panic!("{:?}", run.outcome.ending) };
    assert_eq!(diagnostic.code, "no-inline-integration");
}

/// A stiff line of diodes whose steps are long beside its time constants: three methods, one answer.
#[test]
fn a_stiff_nonlinear_line() {
    let mut text = String::from("i1 = 10*(sin(5*time) - v1)\n");
    let sections = 12;
    for k in 1..=sections {
        text += &format!("Real v{k}(start = 0, fixed = true)\n");
        if k > 1 {
            text += &format!("i{k} = 1e-3*(exp((v{} - v{k})/0.1) - 1)\n", k - 1);
        }
        let next = if k < sections { format!("i{}", k + 1) } else { format!("v{k}/100") };
        text += &format!("1e-3*der(v{k}) = i{k} - {next}\n");
    }
    let exact = common::run(&text, &Options { tolerance: 1e-9, ..Options::default() }).end("v6");
    for (solver, error) in [("inline-euler", 2e-2), ("inline-trapezoid", 1e-3), ("inline-bdf2", 1e-3)] {
        assert_close(run(&text, solver, 0.01, 1.0).end("v6"), exact, error);
    }
}

/// A stiff linear model: its matrix is the same in all steps, and only the last step is shorter.
#[test]
fn a_constant_matrix_is_factorised_once() {
    let shaft = "parameter c = 1e6
        parameter d = 200
        Real phi1(start = 0, fixed = true)
        Real phi2(start = 0, fixed = true)
        Real w1(start = 1, fixed = true)
        Real w2(start = 0, fixed = true)
        der(phi1) = w1
        der(phi2) = w2
        der(w1) = -tau
        der(w2) = tau
        tau = c*(phi1 - phi2) + d*(w1 - w2)";
    for solver in ["inline-euler", "inline-bdf2"] {
        let run = run(shaft, solver, 0.01, 1.0);
        // The inertias turn together once the shaft has come to rest.
        assert_close(run.end("w1"), 0.5, 1e-9);
        assert_close(run.end("phi1") + run.end("phi2"), 1.0, 1e-12);
        // BDF2 begins with a step of Euler's formula, whose factor is another.
        let expected = if solver == "inline-euler" { 1 } else { 2 };
        assert_eq!(run.outcome.statistics.block_factorisations, expected, "{solver}");
    }
    assert_eq!(run(shaft, "inline-euler", 0.01, 1.0025).outcome.statistics.block_factorisations, 2);
}

/// A pendulum: guesses on the line through the last two solutions leave little to correct.
#[test]
fn guesses_save_iterations() {
    let pendulum = "Real phi(start = 1, fixed = true)
        Real w(start = 0, fixed = true)
        der(phi) = w
        der(w) = -10*sin(phi)";
    let run = run(pendulum, "inline-trapezoid", 1e-3, 2.0);
    let statistics = run.outcome.statistics;
    let each = statistics.block_iterations as f64 / statistics.steps as f64;
    assert!(each < 2.1, "{each} iterations a step");
}
