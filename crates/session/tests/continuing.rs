//! Runs that begin where another one was, and runs that begin at a stationary state.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::{assert_near, hybrid, session};
use compile::Program;
use results::{MemorySink, Trajectories};
use session::{Ending, EventLog, Request, RunOptions};

fn program(text: &str) -> Arc<Program> {
    let mut session = session(text);
    let request = Request { target: "case.mo".to_owned(), ..Request::default() };
    let made = session.flatten(&request).and_then(|model| session.structure(model));
    let made = made.and_then(|schedule| session.compile(schedule));
    made.unwrap_or_else(|failed| panic!("{failed:?} {:?}", session.diagnostics))
}

fn ending(program: &Arc<Program>, options: &RunOptions) -> (Trajectories, Ending, Vec<String>) {
    let mut sink = MemorySink::default();
    let outcome =
        simulate::simulate(program, options, &|_| true, &mut sink, &mut EventLog::none(), &mut |_: f64| true).unwrap();
    let warnings = outcome.warnings.iter().map(|warning| warning.message.clone()).collect();
    (sink.trajectories, outcome.ending, warnings)
}

fn run(program: &Arc<Program>, options: &RunOptions) -> Trajectories {
    let (result, ending, _) = ending(program, options);
    assert_eq!(ending, Ending::Complete);
    result
}

fn between(start_time: f64, stop_time: f64) -> RunOptions {
    RunOptions { start_time, stop_time, interval: 0.01, tolerance: 1e-9, ..RunOptions::default() }
}

/// Goes on from a result at a time.
fn continued(program: &Arc<Program>, result: &Trajectories, at: Option<f64>, stop: f64) -> (Trajectories, Vec<String>) {
    let time = session::start_from_time(result, "the result", at).unwrap();
    let (point, warnings) = session::start_point(program, result, "the result", time, time).unwrap();
    let options = RunOptions { start_point: Some(Arc::new(point)), ..between(time, stop) };
    (run(program, &options), warnings.into_iter().map(|warning| warning.message).collect())
}

const HYBRID: [(&str, f64); 8] = [
    (
        "model Ball
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
         end Ball;",
        0.85,
    ),
    (
        "model Thermostat
           parameter Real T0(fixed = false);
           Real T;
           Boolean on(start = false, fixed = true);
           discrete Real since(start = 0, fixed = true);
           discrete Real s(start = 0, fixed = true);
         initial equation
           T0 = 18.5 + sin(time);
           T = T0;
         equation
           der(T) = (if on then 5 else -2) + 0.1*(T0 - T);
           on = T < 18 or pre(on) and T < 20;
           when {on, not on} then
             since = time;
           end when;
           when sample(0.05, 0.13) then
             s = pre(s) + T - since;
           end when;
         end Thermostat;",
        3.0,
    ),
    (
        "model Algorithmic
           Real x(start = 0, fixed = true);
           Integer k(start = 0, fixed = true);
           Real level;
         algorithm
           when sin(7*x) > 0.5 then
             k := pre(k) + 1;
           elsewhen sin(7*x) < -0.5 then
             k := pre(k) - 3;
           end when;
         equation
           level = floor(3*x) + k;
           der(x) = 1 + 0.1*cos(level);
         end Algorithmic;",
        3.0,
    ),
    (hybrid::CLOCKED, 3.0),
    (hybrid::CLUTCH, 3.0),
    (hybrid::PENDULUM, 3.0),
    (
        "model Rectifier
           Real v(start = 0, fixed = true);
           Real i;
           Real s;
           Boolean off = s < 0;
         equation
           sin(5*time) - v = if off then s else 0.1*i;
           i = if off then 0 else s;
           der(v) = i - 0.5*v;
         end Rectifier;",
        3.0,
    ),
    (
        "model Nonlinear
           Real x(start = 2);
           Real y(start = 1);
         initial equation
           der(x) = 0.1;
         equation
           der(x) = -y;
           y^3 + y = x - 1.5 + 0.2*sin(9*time);
         end Nonlinear;",
        3.0,
    ),
];

fn names(program: &Program) -> Vec<String> {
    let model = program.model();
    let is_shown = |id: &dae::VarId| !model.variables[*id].hidden && model.variables[*id].derivative_of.is_none();
    model.variables.ids().filter(is_shown).map(|id| model.variable_name(id)).collect()
}

/// A run in two parts, cut anywhere, is the run as a whole; so is one that goes on from within a result.
#[test]
fn a_continued_run_is_the_whole_run() {
    let seed = std::env::var("GYRATOR_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    let mut random = fastrand::Rng::with_seed(seed);
    for (text, stop) in HYBRID {
        let program = program(text);
        let whole = run(&program, &between(0.0, stop));
        for case in 0..12 {
            let cut = stop * random.f64();
            let first = run(&program, &between(0.0, cut));
            let (rest, warnings) = match case % 2 {
                0 => continued(&program, &first, None, stop),
                _ => continued(&program, &whole, Some(cut), stop),
            };
            assert_eq!(warnings, Vec::<String>::new());
            assert_eq!(rest.time[0], cut);
            for name in names(&program) {
                let Some(expected) = whole.last(&name) else { continue };
                let found = rest.last(&name).unwrap();
                let near = (found - expected).abs() <= 2e-5 * (1.0 + expected.abs());
                assert!(near, "{name} is {found} instead of {expected}, cut at {cut}\n{text}");
            }
        }
    }
}

/// At events, after which the rows of a result go on.
#[test]
fn a_run_goes_on_from_an_event() {
    for (text, stop) in HYBRID {
        let program = program(text);
        let whole = run(&program, &between(0.0, stop));
        let pairs = whole.time.windows(2).filter(|pair| pair[0] == pair[1] && pair[0] > 0.0 && pair[0] < stop);
        let events: Vec<f64> = pairs.map(|pair| pair[0]).collect();
        for &event in events.iter().take(6) {
            let (rest, _) = continued(&program, &whole, Some(event), stop);
            for name in names(&program) {
                let (Some(expected), Some(found)) = (whole.last(&name), rest.last(&name)) else { continue };
                let near = (found - expected).abs() <= 2e-5 * (1.0 + expected.abs());
                assert!(near, "{name} is {found} instead of {expected}, from the event at {event}\n{text}");
            }
        }
    }
}

/// What delays remember comes from the rows of the result; jumps that are on their way arrive.
#[test]
fn the_past_of_delays_is_in_the_result() {
    let text = "
        model M
          parameter Real k = 2;
          Real x(start = 1, fixed = true), u = if time < 0.9 then 0 else 1, s;
          Real y = delay(k*x, 0.5), z = delay(u, 0.3), w = delay(y, 0.7);
        equation
          der(x) = -y + z;
          s = sin(w);
        end M;";
    let program = program(text);
    let whole = run(&program, &between(0.0, 2.0));
    for at in [0.4, 1.0, 1.15, 1.2] {
        let first = run(&program, &between(0.0, at));
        let (rest, warnings) = continued(&program, &first, None, 2.0);
        assert!(warnings.is_empty(), "{warnings:?}");
        for name in ["x", "y", "z", "w"] {
            for time in [1.25, 1.5, 2.0] {
                let (found, expected) = (rest.at(name, time).unwrap(), whole.at(name, time).unwrap());
                assert!(
                    (found - expected).abs() < 1e-5,
                    "{name} is {found} instead of {expected} at {time}, from {at}"
                );
            }
        }
    }
    let mut less = whole.clone();
    less.variables.retain(|variable| variable.column.name != "u");
    let (_, warnings) = continued(&program, &less, None, 2.5);
    assert_eq!(
        warnings,
        ["the past of `delay(u, 0.3, 0.3)` is not in the result: before the start it is taken for constant"]
    );
}

#[test]
fn what_a_result_lacks_is_named() {
    let text = "
        model M
          Real x(start = 1, fixed = true);
          discrete Integer n(start = 0, fixed = true);
          Real y = delay(x, 0.5);
        equation
          der(x) = -y;
          when sample(0, 0.1) then
            n = pre(n) + 1;
          end when;
        end M;";
    let program = program(text);
    let whole = run(&program, &between(0.0, 1.0));
    let (_, warnings) = continued(&program, &whole, None, 1.5);
    assert!(warnings.is_empty(), "{warnings:?}");
    let mut less = whole.clone();
    less.variables.retain(|variable| !["x", "n"].contains(&variable.column.name.as_str()));
    assert_eq!(
        session::start_point(&program, &less, "`r.csv`", 1.0, 1.0).unwrap_err(),
        "`r.csv` lacks `x`, `n`, without which the model cannot begin there; write a result with all variables"
    );
    assert_eq!(
        session::start_from_time(&whole, "`r.csv`", Some(2.0)).unwrap_err(),
        "`r.csv` goes from 0 to 1, and there is nothing in it at 2"
    );
}

fn at_rest() -> RunOptions {
    RunOptions { steady_state: true, ..RunOptions::default() }
}

/// The stationary state of a text, and what is said.
fn steady(text: &str) -> (Trajectories, Vec<String>) {
    let program = program(text);
    let (result, ending, warnings) = ending(&program, &at_rest());
    assert_eq!(ending, Ending::Complete);
    (result, warnings)
}

/// What is said about a model without stationary state.
fn unsteady(text: &str) -> String {
    match ending(&program(text), &at_rest()).1 {
        Ending::NotInitialised(diagnostic) => diagnostic.message,
        ending => panic!("it should fail, not be {ending:?}"),
    }
}

#[test]
fn derivatives_vanish_at_the_start() {
    let (rest, said) = steady(
        "model M
           input Real u(start = 3);
           Real x(start = 0, fixed = true);
           Real v(start = 7, fixed = true);
           Real z;
         equation
           der(x) = v;
           2*der(v) = u - 5*x - v + z;
           z + z^3 = v;
         end M;",
    );
    // What damps the motion vanishes at rest (z is v there), so a run comes nearer as slowly as 1/√t.
    assert_eq!(said, ["a run from the initial state did not come to rest; Newton's method found a stationary state"]);
    for row in [0, rest.time.len() - 1] {
        assert_near(rest.get("x").unwrap().values[row], 0.6, 1e-9);
        assert_near(rest.get("v").unwrap().values[row], 0.0, 1e-9);
    }
}

/// Newton's method overshoots from here: atan(x) is flat.
#[test]
fn a_run_leads_where_newton_does_not() {
    let (rest, _) = steady("model M Real x(start = 30, fixed = true); equation der(x) = -atan(x - 1); end M;");
    assert_near(rest.get("x").unwrap().values[0], 1.0, 1e-8);
    // Newton's method goes away from the minimum of the slope; the run comes down the slope.
    let (rest, _) =
        steady("model M Real x(start = 3, fixed = true); equation der(x) = 1 - exp(x/2) + 0.3*x^2*exp(-x); end M;");
    let x = rest.get("x").unwrap().values[0];
    assert_near(1.0 - (x / 2.0).exp() + 0.3 * x * x * (-x).exp(), 0.0, 1e-8);
}

/// The diode is blocking at the start and conducts at rest; the relay turns off on the way.
#[test]
fn relations_follow() {
    let (rest, said) = steady(
        "model M
           Real v(start = 20, fixed = true);
           Real i = if v > 10 then 0 else 10 - v;
           Boolean hot(start = true, fixed = true);
         equation
           der(v) = i - v + (if hot then -1 else 0);
           hot = v > 8 or pre(hot) and v > 6;
         end M;",
    );
    assert_near(rest.get("v").unwrap().values[0], 5.0, 1e-9);
    assert_eq!(rest.get("hot").unwrap().values[0], 0.0);
    assert_eq!(said, ["the stationary state was found by a run while time stands still"]);
}

#[test]
fn what_does_not_come_to_rest_is_named() {
    let turning = "
        model M
          Real phi(start = 0, fixed = true);
          Real w(start = 0, fixed = true);
        equation
          der(phi) = w;
          der(w) = 2 - 0.5*w;
        end M;";
    assert_eq!(unsteady(turning), "there is no stationary state: der(phi) = 4 does not vanish");
    let integrator = "
        model M
          Real x(start = 1, fixed = true);
          Real y(start = 0, fixed = true);
        equation
          der(x) = -x + 1;
          der(y) = 3;
        end M;";
    assert_eq!(unsteady(integrator), "there is no stationary state: der(y) = 3 does not vanish");
}

#[test]
fn free_states_are_where_a_run_leads() {
    let (rest, said) = steady(
        "model M
           Real s(start = 4, fixed = true);
           Real v(start = 1, fixed = true);
         equation
           der(s) = v;
           der(v) = -2*v;
         end M;",
    );
    assert_near(rest.last("v").unwrap(), 0.0, 1e-12);
    // Where it rolls to.
    assert_near(rest.last("s").unwrap(), 4.5, 1e-9);
    assert_eq!(said, ["there are stationary states with another value of `s`"]);
}

/// A delay gives what goes into it, as it always has.
#[test]
fn delays_are_at_rest() {
    let (rest, _) = steady(
        "model M
           Real x(start = 0, fixed = true);
           Real y = delay(x, 0.2);
         equation
           der(x) = 3 - 2*y - x;
         end M;",
    );
    for row in [0, rest.time.len() - 1] {
        assert_near(rest.get("x").unwrap().values[row], 1.0, 1e-9);
        assert_near(rest.get("y").unwrap().values[row], 1.0, 1e-9);
    }
}

/// A structure that changes: the clutch is open at the start and closes where the wheels have come to.
#[test]
fn modes_come_to_rest() {
    let (rest, _) = steady(
        "model M
           Real v(start = 3, fixed = true);
           Real w(start = 1, fixed = true);
           Real f;
         equation
           der(v) = 1 - f - v;
           2*der(w) = f - w;
           if v < 2 then
             v = w;
           else
             f = 0;
           end if;
         end M;",
    );
    // Together: 3·der(v) = 1 - 2·v.
    assert_near(rest.get("v").unwrap().values[0], 0.5, 1e-8);
    assert_near(rest.get("w").unwrap().values[0], 0.5, 1e-8);
}
