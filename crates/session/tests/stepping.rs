//! Simulations that other programs step: where they come to, inputs, snapshots, threads.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::{hybrid, session};
use compile::Program;
use dae::VarId;
use session::{Request, RunOptions};
use simulate::{Reached, Simulation};

fn program(text: &str) -> Arc<Program> {
    let mut session = session(text);
    let request = Request { target: "case.mo".to_owned(), ..Request::default() };
    let made = session.flatten(&request).and_then(|model| session.structure(model));
    let made = made.and_then(|schedule| session.compile(schedule));
    made.unwrap_or_else(|failed| panic!("{failed:?} {:?}", session.diagnostics))
}

fn started(program: &Arc<Program>, stop_time: f64) -> Simulation {
    let mut simulation = Simulation::of(program, &RunOptions { stop_time, ..RunOptions::default() });
    assert_eq!(simulation.initialise().unwrap(), None);
    simulation
}

fn variable(program: &Program, name: &str) -> VarId {
    let model = program.model();
    model.variables.ids().find(|&id| model.variable_name(id) == name).unwrap()
}

fn value(simulation: &Simulation, name: &str) -> f64 {
    simulation.value(variable(simulation.program(), name))
}

const BALL: &str = "
    model Ball
      Real h(start = 1, fixed = true);
      Real v(start = 0, fixed = true);
      discrete Integer n(start = 0, fixed = true);
    equation
      der(h) = v;
      der(v) = -10;
      when h < 0 then
        reinit(v, -0.5*pre(v));
        n = pre(n) + 1;
      end when;
    end Ball;";

/// Bounces at sqrt(1/5), then twice half as late, and so on: t = sqrt(1/5)·(1, 2, 2.5, …).
#[test]
fn a_step_ends_at_its_time_or_at_the_event_before_it() {
    let program = program(BALL);
    let first = 0.2f64.sqrt();
    let mut simulation = started(&program, 1.0);
    assert_eq!(simulation.step_to(0.1, true), Ok(Reached::Time));
    assert_eq!(simulation.time(), 0.1);
    assert!((value(&simulation, "h") - 0.95).abs() < 1e-6);
    assert_eq!(simulation.step_to(1.0, true), Ok(Reached::Event));
    assert!((simulation.time() - first).abs() < 1e-6);
    assert!((value(&simulation, "v") - 5.0 * first).abs() < 1e-4, "the event is passed");
    assert_eq!(simulation.step_to(1.0, false), Ok(Reached::Time));
    assert_eq!((simulation.time(), value(&simulation, "n")), (1.0, 2.0));
}

/// der(x) = u − x: x is 1 − exp(−1) at 1, from there it decays; `n` counts the rising edges of u.
#[test]
fn inputs_change_by_events() {
    let program = program(
        "model Driven
           input Real u(start = 0);
           Real x(start = 0, fixed = true);
           discrete Integer n(start = 0, fixed = true);
         equation
           der(x) = u - x;
           when u > 0.5 then
             n = pre(n) + 1;
           end when;
         end Driven;",
    );
    let u = variable(&program, "u");
    let mut simulation = started(&program, 2.0);
    assert_eq!(simulation.step_to(0.0, true), Ok(Reached::Time));
    simulation.set_input(u, 1.0);
    assert_eq!(simulation.step_to(1.0, true), Ok(Reached::Event), "the input jumps");
    assert_eq!((simulation.time(), value(&simulation, "n"), value(&simulation, "u")), (0.0, 1.0, 1.0));
    simulation.step_to(1.0, false).unwrap();
    let reached = 1.0 - (-1.0f64).exp();
    assert!((value(&simulation, "x") - reached).abs() < 1e-5);
    simulation.set_input(u, 0.0);
    simulation.set_input(variable(&program, "x"), 7.0);
    simulation.step_to(2.0, false).unwrap();
    assert!((value(&simulation, "x") - reached * (-1.0f64).exp()).abs() < 1e-5);
    assert_eq!(value(&simulation, "n"), 1.0);
}

#[test]
fn a_model_may_end_its_run() {
    let program = program(
        "model Ends
           Real x(start = 0, fixed = true);
         equation
           der(x) = 1;
           when x > 0.5 then
             terminate(\"enough\");
           end when;
         end Ends;",
    );
    let mut simulation = started(&program, 1.0);
    assert_eq!(simulation.step_to(1.0, false), Ok(Reached::Terminated("enough".into())));
    assert!((simulation.time() - 0.5).abs() < 1e-9);
}

#[test]
fn a_failure_is_a_diagnostic() {
    let program = program("model Fails Real x = sqrt(0.5 - time); end Fails;");
    let mut simulation = started(&program, 1.0);
    assert_eq!(simulation.step_to(0.25, false), Ok(Reached::Time));
    let failure = simulation.step_to(1.0, false).unwrap_err();
    assert!(failure.message.contains("sqrt"), "{}", failure.message);
}

/// Events, delays, clocks, sampling, changes of structure and states of random numbers.
const HYBRID: [(&str, f64); 5] = [
    (BALL, 0.85),
    (
        "model Delayed
           Real x(start = 1, fixed = true);
           Real y = delay(x, 0.3);
           discrete Real s(start = 0, fixed = true);
         equation
           der(x) = -2*y + (if x > 0 then 0.5 else -0.5);
           when sample(0, 0.07) then
             s = pre(s) + x;
           end when;
         end Delayed;",
        3.0,
    ),
    (hybrid::CLOCKED, 3.0),
    (hybrid::CLUTCH, 3.0),
    (hybrid::PENDULUM, 3.0),
];

fn values(simulation: &Simulation) -> Vec<u64> {
    let model = simulation.program().model();
    model.variables.ids().map(|id| simulation.value(id).to_bits()).collect()
}

/// The values of all variables at these times.
fn steps(simulation: &mut Simulation, times: &[f64]) -> Vec<Vec<u64>> {
    let step = |&time: &f64| {
        simulation.step_to(time, false).unwrap();
        values(simulation)
    };
    times.iter().map(step).collect()
}

#[test]
fn a_restored_simulation_goes_on_bit_for_bit() {
    let seed = std::env::var("GYRATOR_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20240229);
    let mut random = fastrand::Rng::with_seed(seed);
    for (text, stop) in HYBRID {
        let program = program(text);
        for _ in 0..6 {
            let mut simulation = started(&program, stop);
            simulation.step_to(stop * random.f64(), random.bool()).unwrap();
            let snapshot = simulation.snapshot();
            let from = simulation.time();
            let mut rest: Vec<f64> = (0..4).map(|_| from + (stop - from) * random.f64()).collect();
            rest.sort_by(f64::total_cmp);
            let first = steps(&mut simulation, &rest);
            simulation.restore(&snapshot);
            let again = steps(&mut simulation, &rest);
            assert!(first == again, "{text}");
        }
    }
}

#[test]
fn one_program_serves_simulations_on_many_threads() {
    let program = program(HYBRID[1].0);
    let run = || {
        let mut simulation = started(&program, 2.0);
        simulation.step_to(2.0, false).unwrap();
        values(&simulation)
    };
    let alone = run();
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        for other in others {
            assert_eq!(other.join().unwrap(), alone);
        }
    });
}
