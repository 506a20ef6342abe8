//! Bounces: many, small, and those that end.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, run_with};
use session::{Ending, Settings};

fn run(model: &str, solver: &str, stop: f64) -> Run {
    run_with(model, Settings { stop_time: Some(stop), solver: Some(solver.to_owned()), ..Settings::default() })
}

/// A ball that a condition puts to rest runs to the end, however long that is; one without it is refused.
#[test]
fn a_ball_that_is_put_to_rest_has_no_accumulation() {
    for solver in ["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"] {
        for (restitution, stop) in [(0.5, 3.0), (0.5, 250.0), (0.9, 12.0)] {
            let model = format!(
                "model Ball
                  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
                  Boolean flies(start = true, fixed = true);
                equation
                  der(h) = v;
                  der(v) = if flies then -9.81 else 0;
                  when h < 0 then
                    reinit(v, if -{restitution}*pre(v) < 1e-4 then 0 else -{restitution}*pre(v));
                    flies = not -{restitution}*pre(v) < 1e-4;
                  end when;
                end Ball;"
            );
            let run = run(&model, solver, stop);
            assert_eq!(run.ending, Ending::Complete, "{solver}: {restitution}\n{}", run.said);
            assert_eq!((run.end("v"), run.end("flies")), (0.0, 0.0), "{solver}");
            assert!(run.end("h").abs() < 1e-12, "{solver}: {}", run.end("h"));
        }
        let endless = "model Ball Real h(start = 1, fixed = true), v(start = 0, fixed = true);
            equation der(h) = v; der(v) = -9.81; when h < 0 then reinit(v, -0.5*pre(v)); end when; end Ball;";
        assert!(run(endless, solver, 3.0).said.contains("event-accumulation"), "{solver}");
    }
}

/// Sizes of quantities decide nothing: what is compared may be as small as it likes.
#[test]
fn small_quantities_cross_as_large_ones_do() {
    for size in ["1", "1e-9", "1e-12", "1e-15", "1e-18", "1e-30"] {
        for solver in ["auto", "tsit5", "dop853", "esdirk", "bdf", "rosenbrock"] {
            let saw = format!(
                "model Saw Real x(start = {size}, fixed = true, nominal = {size}); Integer n(start = 0, fixed = true);
                equation der(x) = -{size};
                when x < 0.5*{size} then n = pre(n) + 1; reinit(x, pre(x) + {size}); end when; end Saw;"
            );
            assert_eq!(run(&saw, solver, 3.0).end("n"), 3.0, "{solver}: {size}");
            let swing = format!(
                "model Swing Real x(start = 0, fixed = true), v(start = 1, fixed = true), a;
                  Integer n(start = 0, fixed = true);
                equation der(x) = v; der(v) = -x; a = {size}*x;
                when a > 0.5*{size} then n = pre(n) + 1; end when; end Swing;"
            );
            assert_eq!(run(&swing, solver, 10.0).end("n"), 2.0, "{solver}: {size}");
        }
    }
    // Far below the tolerance, too.
    for size in ["1e-10", "1e-12", "1e-14"] {
        let ball = format!(
            "model Ball Real h(start = {size}, fixed = true), v(start = 0, fixed = true);
              Integer n(start = 0, fixed = true);
            equation der(h) = v; der(v) = -{size};
            when h < 0 then n = pre(n) + 1; reinit(v, -0.9*pre(v)); end when; end Ball;"
        );
        assert_eq!(run(&ball, "auto", 10.0).end("n"), 4.0, "{size}");
    }
}

/// Rounding errors that are integrated are no motion: a brake that holds does not start to slip to and fro.
#[test]
fn integrated_rounding_errors_cross_nothing() {
    let model = "model Brake
          parameter Real a = 0.1, b = 0.2, c = 0.3;
          Real w(start = 0, fixed = true);
          Integer n(start = 0, fixed = true);
        equation
          der(w) = (a + b - c)*1e-3*cos(40*time);
          when {w > 0, w < 0} then
            n = pre(n) + 1;
          end when;
        end Brake;";
    for solver in ["auto", "tsit5", "bdf"] {
        assert_eq!(run(model, solver, 1.0).end("n"), 0.0, "{solver}");
    }
}

/// Flights that are smaller than the tolerance are followed by multistep methods, too: a ball of 1e-12 m makes the bounces of one
/// of a metre, and flights get shorter by the factor of restitution.
#[test]
fn flights_below_the_tolerance_are_flights() {
    let small = "model M Real h(start=1e-12,fixed=true),v(start=0,fixed=true); Integer n(start=0,fixed=true); equation \
                 der(h)=v; der(v)=-1e-12; when h<0 then n=pre(n)+1; reinit(v,-0.9*pre(v)); end when; end M;";
    let falling = "model M Real h(start=1,fixed=true),v(start=0,fixed=true); Integer n(start=0,fixed=true); equation \
                   der(h)=v; der(v)=-9.81; when h<0 and v<0 then reinit(v,-0.5*pre(v)); reinit(h,0); n=pre(n)+1; end when; \
                   end M;";
    for solver in ["bdf", "dae"] {
        let run_small = run(small, solver, 10.0);
        assert_eq!(run_small.end("n"), 4.0, "{solver}");
        // h = v·s − s²/2 in the fifth flight.
        assert!((run_small.end("h") - 0.1420e-12).abs() < 0.001e-12, "{solver}: {}", run_small.end("h"));
        // The fourteenth bounce is at 1.354446 s, the next flight takes 1.1e-4 s.
        assert_eq!(run(falling, solver, 1.354_483_869_853_438).end("n"), 14.0, "{solver}");
    }
}

/// In modes, too, bounces that accumulate end the run: a ball that is lost in what counts as zero would fall through the ground.
#[test]
fn bounces_accumulate_in_modes() {
    for restitution in ["0.1", "0.3", "0.6", "0.8"] {
        let text = format!(
            "model M
  Real h(start = 1, fixed = true), v(start = 0, fixed = true), f;
  Boolean below = h < 0, impact = edge(below);
equation
  der(h) = v;
  der(v) = f - 9.81;
  if impact then v = -{restitution}*pre(v); else f = 0; end if;
end M;"
        );
        let run = run(&text, "auto", 10.0);
        assert!(run.failure().contains("events accumulate"), "{restitution}: {}", run.failure());
        assert!(run.column("h").iter().all(|&h| h > -1e-6), "{restitution}");
    }
}
