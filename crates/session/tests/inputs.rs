//! Inputs that follow rows over time: lines, jumps, held values, and what they do to relations, delays, clocks and modes.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::{assert_near, session};
use compile::Signals;
use results::{MemorySink, Trajectories};
use session::{Ending, EventLog, Request, Settings};

type Rows<'a> = (&'a str, &'a [(f64, f64)]);

fn driven_by(text: &str, inputs: &[Rows], settings: Settings, transform: transform::Options) -> Trajectories {
    let mut session = session(text);
    let transform = transform::Options { inline_step: settings.step.filter(|_| is_inline(&settings)), ..transform };
    let request = Request { target: "case.mo".to_owned(), transform, ..Request::default() };
    let mut sink = MemorySink::default();
    let outcome = session.flatten(&request).and_then(|model| {
        let mut options = settings.resolve(&model.experiment).unwrap();
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        let known = session::inputs_of(&program);
        let signal = |(name, rows): &Rows| {
            let (_, variable) = known.iter().find(|(known, _)| known == name).unwrap();
            let (time, values): (Vec<f64>, Vec<f64>) = rows.iter().copied().unzip();
            session::signal(&program, *variable, &time, &values).unwrap()
        };
        options.inputs = Arc::new(Signals::new(inputs.iter().map(signal).collect()));
        session.simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut |_: f64| true)
    });
    let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    let outcome = outcome.unwrap_or_else(|failed| panic!("{failed:?}\n{said}"));
    assert_eq!(outcome.ending, Ending::Complete, "{said}");
    sink.trajectories
}

fn is_inline(settings: &Settings) -> bool {
    settings.solver.as_ref().is_some_and(|solver| solver.starts_with("inline"))
}

fn driven(text: &str, inputs: &[Rows], stop_time: f64) -> Trajectories {
    let settings = Settings { stop_time: Some(stop_time), ..Settings::default() };
    driven_by(text, inputs, settings, transform::Options::default())
}

const ROWS: &[(f64, f64)] =
    &[(0.0, 0.0), (1.0, 2.0), (1.0, -1.0), (2.0, -1.0), (3.0, 0.0), (3.2, 5.0), (3.4, 0.0), (4.0, 0.0)];

/// The integral of `ROWS` from 0.
fn area(time: f64) -> f64 {
    let mut sum = 0.0;
    for pair in ROWS.windows(2) {
        let ((t0, y0), (t1, y1)) = (pair[0], pair[1]);
        let end = time.min(t1);
        if end > t0 {
            let last = y0 + (y1 - y0) * (end - t0) / (t1 - t0);
            sum += 0.5 * (y0 + last) * (end - t0);
        }
    }
    sum
}

/// Every formula is exact for an input that is linear in each step, so that steps must end at the knots and nowhere see what
/// is behind a jump.
#[test]
fn every_method_follows_lines_and_jumps() {
    let text =
        "model M input Real u; Real x(start = 0, fixed = true); Real y; equation der(x) = u; y + y^3/10 = x; end M;";
    for (solver, step) in [
        ("auto", None),
        ("tsit5", None),
        ("dop853", None),
        ("bdf", None),
        ("esdirk", None),
        ("rosenbrock", None),
        ("dae", None),
        ("rk4", Some(0.3)),
        ("inline-trapezoid", Some(0.125)),
    ] {
        let solver_name = Some(solver.to_owned());
        let settings = Settings {
            stop_time: Some(4.0),
            interval: Some(0.25),
            tolerance: Some(1e-8),
            solver: solver_name,
            step,
            ..Settings::default()
        };
        let run = driven_by(text, &[("u", ROWS)], settings, transform::Options::default());
        for (&time, &x) in run.time.iter().zip(&run.get("x").unwrap().values) {
            assert!((x - area(time)).abs() < 1e-6, "{solver}: {x} instead of {} at {time}", area(time));
        }
        let rows = run.time.iter().zip(&run.get("u").unwrap().values).filter(|(time, _)| **time == 1.0);
        assert_eq!(rows.map(|(_, &u)| u).collect::<Vec<_>>(), [2.0, -1.0], "{solver}");
    }
}

/// Implicit Euler adds the step times the input at its end.
#[test]
fn difference_formulas_take_inputs_at_the_ends_of_steps() {
    let text = "model M input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end M;";
    let rows: &[(f64, f64)] = &[(0.0, 0.0), (1.0, 4.0), (1.0, -2.0)];
    let settings = Settings {
        stop_time: Some(2.0),
        solver: Some("implicit-euler".to_owned()),
        step: Some(0.25),
        interval: Some(0.25),
        ..Settings::default()
    };
    let switching = transform::Switching::Difference;
    let transform = transform::Options { switching, ..transform::Options::default() };
    let run = driven_by(text, &[("u", rows)], settings, transform);
    assert_near(run.at("x", 0.75).unwrap(), 0.25 * (1.0 + 2.0 + 3.0), 1e-12);
    assert_near(run.last("x").unwrap(), 1.5 - 5.0 * 0.5, 1e-12);
}

/// Between the rows of discrete inputs nothing changes; each change is an event with both limits.
#[test]
fn discrete_inputs_are_held() {
    let text = "
        model M
          type Gear = enumeration(reverse, neutral, forward);
          input Boolean b;
          input Integer n(start = 7);
          input Gear g;
          discrete input Real d;
          discrete Integer rises(start = 0, fixed = true);
          discrete Integer changes(start = 0, fixed = true);
          Real x(start = 0, fixed = true);
        equation
          der(x) = (if b then n else 0) + d + (if g == Gear.forward then 10 else 0);
          when b then
            rises = pre(rises) + 1;
          end when;
          when change(n) then
            changes = pre(changes) + 1;
          end when;
        end M;";
    let b: Rows = ("b", &[(0.0, 0.0), (0.5, 1.0), (1.5, 0.0), (1.75, 1.0)]);
    let n: Rows = ("n", &[(0.0, 1.0), (1.0, 2.0), (1.25, 2.0), (1.5, -3.0)]);
    let g: Rows = ("g", &[(0.0, 2.0), (1.9, 3.0)]);
    let d: Rows = ("d", &[(0.0, 0.0), (1.0, 0.0), (1.2, 4.0), (1.7, 0.0)]);
    let run = driven(text, &[b, n, g, d], 2.0);
    assert_eq!((run.last("rises"), run.last("changes")), (Some(2.0), Some(2.0)));
    let expected = 0.5 * 1.0 + 0.5 * 2.0 - 0.25 * 3.0 + 0.5 * 4.0 + 0.1 * 10.0;
    assert_near(run.last("x").unwrap(), expected, 1e-9);
}

/// Pulses that are shorter than any step a method would choose: each of them makes two events.
#[test]
fn relations_on_inputs_are_watched() {
    let text = "
        model M
          input Real u;
          Real x(start = 0, fixed = true);
          discrete Integer pulses(start = 0, fixed = true);
          discrete Integer rounds(start = 0, fixed = true);
          discrete Real last(start = 0, fixed = true);
        equation
          der(x) = -1e-3*x;
          when u > 0.5 then
            pulses = pre(pulses) + 1;
            last = time;
          end when;
          when (u - 0.5)^2 < 0.01 then
            rounds = pre(rounds) + 1;
          end when;
        end M;";
    let mut rows = vec![(0.0, 0.0)];
    for k in 1..=9 {
        let at = f64::from(k);
        rows.extend([(at, 0.0), (at + 1e-4, 1.0), (at + 2e-4, 0.0)]);
    }
    let run = driven(text, &[("u", &rows)], 10.0);
    assert_eq!((run.last("pulses"), run.last("rounds")), (Some(9.0), Some(18.0)));
    assert_near(run.last("last").unwrap(), 9.0 + 0.5e-4, 1e-9);
}

/// The delayed input jumps and bends when the delay is over, and both limits are there.
#[test]
fn delays_remember_inputs() {
    let text = "
        model M
          input Real u;
          Real x(start = 0, fixed = true);
          Real y = delay(u, 0.5);
        equation
          der(x) = y;
        end M;";
    let run = driven(text, &[("u", ROWS)], 4.0);
    for (&time, &x) in run.time.iter().zip(&run.get("x").unwrap().values) {
        assert_near(x, area(time - 0.5), 1e-6);
    }
    let rows = run.time.iter().zip(&run.get("y").unwrap().values).filter(|(time, _)| **time == 1.5);
    assert_eq!(rows.map(|(_, &y)| y).collect::<Vec<_>>(), [2.0, -1.0]);
}

/// A clock samples the left limit (16.5.1), also where the input jumps at its tick.
#[test]
fn clocks_sample_inputs() {
    let text = "
        model M
          input Real u;
          Real c = sample(u, Clock(1, 2));
          Real s(start = 0) = previous(s) + c;
          Real y = hold(s);
        end M;";
    let run = driven(text, &[("u", &[(0.0, 1.0), (1.0, 2.0), (1.0, 10.0), (2.0, 20.0)])], 1.7);
    assert_near(run.last("y").unwrap(), 1.0 + 1.5 + 2.0 + 15.0, 1e-12);
}

/// Two flywheels that a Boolean input couples: momentum is conserved, and the torque counts in every mode.
#[test]
fn modes_see_inputs() {
    let text = "
        model M
          input Boolean closed;
          input Real torque;
          Real v(start = 3, fixed = true);
          Real w(start = 0, fixed = true);
          Real f;
        equation
          der(v) = torque - f;
          2*der(w) = f;
          if closed then
            v = w;
          else
            f = 0;
          end if;
        end M;";
    let closed: Rows = ("closed", &[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]);
    let torque: Rows =
        ("torque", &[(0.0, 0.0), (0.5, 0.0), (1.5, 6.0), (1.5, 0.0), (2.5, 0.0), (2.5, 1.0), (3.0, 1.0)]);
    let run = driven(text, &[closed, torque], 3.0);
    // Until 1: 3 + 6·0.5²/2; then both together take 3·6/2·… of the torque.
    assert_near(run.at("v", 0.99999999).unwrap(), 3.75, 1e-5);
    assert_near(run.at("v", 1.0).unwrap(), 1.25, 1e-6);
    let together = 1.25 + (6.0 * 0.5 - 0.75) / 3.0;
    assert_near(run.at("w", 1.75).unwrap(), together, 1e-6);
    assert_near(run.last("w").unwrap(), together, 1e-6);
    assert_near(run.last("v").unwrap(), together + 0.5, 1e-6);
}

/// What the file says before the start counts, and a jump at the start is passed.
#[test]
fn a_run_begins_within_the_rows() {
    let text = "
        model M
          input Real u;
          input Real v(start = 5);
          Real x(start = 0, fixed = true);
        equation
          der(x) = u + v;
        end M;";
    let settings = Settings { start_time: Some(1.0), stop_time: Some(2.0), ..Settings::default() };
    let run = driven_by(text, &[("u", ROWS)], settings, transform::Options::default());
    assert_eq!(run.get("u").unwrap().values[0], -1.0);
    assert_near(run.last("x").unwrap(), 4.0, 1e-9);
    let late = Settings { start_time: Some(7.0), stop_time: Some(8.0), ..Settings::default() };
    let run = driven_by(text, &[("u", &[(0.0, 1.0), (2.0, 3.0)])], late, transform::Options::default());
    assert_near(run.last("x").unwrap(), 8.0, 1e-9);
}

/// Start values of inputs that are expressions do not win over rows.
#[test]
fn initial_equations_see_inputs() {
    let text = "
        model M
          parameter Real p = 2;
          input Real u(start = p);
          Real x;
        initial equation
          x = u;
        equation
          der(x) = 0;
        end M;";
    assert_near(driven(text, &[("u", &[(0.0, 9.0)])], 1.0).last("x").unwrap(), 9.0, 1e-12);
    assert_near(driven(text, &[], 1.0).last("x").unwrap(), 2.0, 1e-12);
}

#[test]
fn members_of_connectors_are_inputs() {
    let text = "
        package P
          connector In = input Real;
          expandable connector Bus end Bus;
          connector Pair input Real a; input Real b; end Pair;
          model M
            In u[2];
            Pair pair;
            Real x(start = 0, fixed = true);
          equation
            der(x) = u[1] + 10*u[2] + 100*pair.a + 1000*pair.b;
          end M;
        end P;";
    let one: &[(f64, f64)] = &[(0.0, 1.0)];
    let run = driven(text, &[("u[1]", one), ("u[2]", one), ("pair.a", one), ("pair.b", one)], 1.0);
    assert_near(run.last("x").unwrap(), 1111.0, 1e-6);
}

/// The fields of a record that is an input are inputs.
#[test]
fn a_record_is_an_input() {
    let text = "model M
      record Signal
        Real value;
        Real offset;
      end Signal;
      input Signal u;
      output Real y = u.value + u.offset;
    end M;";
    let rows: &[(f64, f64)] = &[(0.0, 1.0), (2.0, 5.0)];
    let settings = Settings { stop_time: Some(2.0), interval: Some(0.5), ..Settings::default() };
    let inputs: [Rows; 2] = [("u.value", rows), ("u.offset", &[(0.0, 10.0), (2.0, 10.0)])];
    let run = driven_by(text, &inputs, settings, transform::Options::default());
    assert_near(run.at("y", 1.0).unwrap(), 13.0, 1e-12);
}
