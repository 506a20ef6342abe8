//! Linear systems that tearing leaves with one unknown are solved inside of the code around them; here random ones against
//! their closed form, interpreted and compiled, and a singular one.
#![allow(clippy::unwrap_used)]

mod common;

use std::fmt::Write as _;

use common::{run, until};
use compile::{Program, SectionStep};
use proptest::prelude::*;
use results::MemorySink;
use simulate::{Ending, EventLog};

/// A ring in which each unknown follows from the one before it: `y₁ = b₁·x + a₁·yₙ`, `yₖ = bₖ·x + aₖ·yₖ₋₁`.
fn ring(factors: &[(f64, f64)]) -> String {
    let mut text = String::from("Real x(start = 1, fixed = true)\nder(x) = -x + 0*y1\n");
    for (k, (a, b)) in factors.iter().enumerate() {
        let before = if k == 0 { factors.len() } else { k };
        let _ = writeln!(text, "y{} = {b:?}*x + {a:?}*y{before}", k + 1);
    }
    text
}

/// The unknowns of a ring for a value of `x`.
fn solution(factors: &[(f64, f64)], x: f64) -> Vec<f64> {
    // One way around the ring takes the last unknown to `gain` times itself plus `rest`.
    let round = |last: f64| factors.iter().fold(last, |y, (a, b)| b * x + a * y);
    let rest = round(0.0);
    let gain = factors.iter().map(|(a, _)| a).product::<f64>();
    let mut y = rest / (1.0 - gain);
    let next = |(a, b): &(f64, f64)| {
        y = b * x + a * y;
        y
    };
    factors.iter().map(next).collect()
}

/// Neither way around the ring lets rounding errors grow much.
fn factor() -> impl Strategy<Value = f64> {
    (0.5..2.0f64, proptest::bool::ANY).prop_map(|(size, negative)| if negative { -size } else { size })
}

fn program(text: &str) -> std::sync::Arc<Program> {
    let model = dae::testing::model(text).unwrap();
    std::sync::Arc::new(Program::new(transform::transform(model, &transform::Options::default()).unwrap()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_ring_is_solved_in_place(factors in proptest::collection::vec((factor(), -5.0..5.0f64), 2..7)) {
        let gain: f64 = factors.iter().map(|(a, _)| a).product();
        prop_assume!((gain - 1.0).abs() > 1e-3);
        let program = program(&ring(&factors));
        let is_code = |step: &SectionStep| matches!(step, SectionStep::Code(_));
        prop_assert!(program.sections.dynamics.usual().iter().all(is_code));
        prop_assert!(program.sections.outputs.usual().iter().all(is_code));
        for compiled in [false, true] {
            if compiled {
                program.compile();
            }
            let mut sink = MemorySink::default();
            let (options, log) = (until(1.0, 1e-6), &mut EventLog::none());
            simulate::simulate(&program, &options, &|_| true, &mut sink, log, &mut |_| true).unwrap();
            let column = |name: &str| sink.trajectories.get(name).unwrap().values.to_vec();
            for (row, x) in column("x").into_iter().enumerate() {
                for (k, wanted) in solution(&factors, x).into_iter().enumerate() {
                    let found = column(&format!("y{}", k + 1))[row];
                    let bound = 1e-12 / (gain - 1.0).abs().min(1.0) * (1.0 + wanted.abs());
                    prop_assert!((found - wanted).abs() <= bound, "y{}: {found} is not {wanted}", k + 1);
                }
            }
        }
    }
}

/// The coefficient of the unknown is zero at the start: that is told, not divided by.
#[test]
fn a_coefficient_that_vanishes_is_told() {
    let text = "Real x(start = 1, fixed = true)\nder(x) = -1\ny = 1 + x*z\nz = 2 + x*y";
    let Ending::NotInitialised(told) = run(text, &until(0.5, 1e-6)).outcome.ending else { panic!("it is singular") };
    assert_eq!(told.message, "the 2 simultaneous equations for y, z do not determine y at time 0");
    // Away from there it is an ordinary system.
    let run = run(&text.replace("start = 1", "start = 0.5"), &until(0.25, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    common::assert_close(run.end("y"), (1.0 + 2.0 * 0.25) / (1.0 - 0.0625), 1e-9);
}

/// Where the coefficient of an unknown vanishes and the equation holds all the same, the unknown stays what it was: the
/// temperature of a stream that comes to rest.
#[test]
fn what_an_equation_leaves_open_stays() {
    let found =
        run("Real x(start = 0, fixed = true)\nder(x) = 1\nq = max(0, 1 - time)\nq*(T - 3) = 0", &until(2.0, 1e-6));
    assert_eq!(found.outcome.ending, Ending::Complete);
    common::assert_close(found.end("T"), 3.0, 1e-12);
    // Before it begins to flow, it has its start value.
    let text = "Real x(start = 0, fixed = true)\nReal T(start = 5)\nder(x) = 1\nq = max(0, time - 1)\nq*(T - 3) = 0";
    let found = run(text, &until(0.5, 1e-6));
    assert_eq!(found.outcome.ending, Ending::Complete);
    common::assert_close(found.end("T"), 5.0, 1e-12);
}

/// The Jacobian of an implicit method goes through a system that is solved in place.
#[test]
fn stiff_equations_behind_a_system_take_few_steps() {
    let text = "Real x(start = 1, fixed = true)\nder(x) = -1000*(y1 - cos(time))\ny1 = x + 0.5*y2\ny2 = x - y1";
    let options = simulate::Options { solver: "bdf".parse().unwrap(), ..until(1.0, 1e-6) };
    let found = run(text, &options);
    assert_eq!(found.outcome.ending, Ending::Complete);
    let statistics = found.outcome.statistics;
    assert!(statistics.steps < 150 && statistics.newton_iterations < 400, "{statistics:?}");
    // y1 = x, so that x follows the cosine, a thousandth of a second behind it.
    common::assert_close(found.end("x"), (1.0f64 - 1e-3).cos(), 1e-5);
}
