//! Runs with events, against closed forms.

mod common;

use common::{assert_close, run, until};
use simulate::Ending;

#[test]
fn two_point_controller_and_limiter() {
    let text = "u = 2*sin(time)
        y = if u > 0 then 1 else -1
        l = if u > 1 then 1 else if u < -1 then -1 else u
        Real x(start = 0, fixed = true)
        der(x) = l
        Real w(start = 0, fixed = true)
        der(w) = y";
    let pi = std::f64::consts::PI;
    let run = run(text, &until(2.0 * pi, 1e-9));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert_close(run.end("w"), 0.0, 1e-8);
    assert_close(run.end("x"), 0.0, 1e-7);
    // u passes the limits at π/6, 5π/6, 7π/6, 11π/6 and zero at π; it is zero at the start and leaves upwards.
    assert!((5..=7).contains(&run.outcome.statistics.state_events), "{}", run.log);
    assert_close(run.column("w").into_iter().fold(0.0, f64::max), pi, 1e-8);
}

#[test]
fn bouncing_ball() {
    let text = "Real h(start = 1, fixed = true)
        Real v(start = 0, fixed = true)
        der(h) = v
        der(v) = -9.81
        when h <= 0 then reinit(v, -0.7*pre(v))";
    let run = run(text, &until(2.0, 1e-9));
    assert_eq!(run.outcome.ending, Ending::Complete);
    let first = (2.0f64 / 9.81).sqrt();
    let mut bounce = first;
    let mut fall = first;
    let times: Vec<f64> = run.time().windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    let mut found = 0;
    while bounce < 2.0 {
        let nearest = times.iter().map(|t| (t - bounce).abs()).fold(f64::INFINITY, f64::min);
        assert!(nearest < 1e-8 * bounce, "no bounce at {bounce}: {nearest}");
        fall *= 0.7;
        bounce += 2.0 * fall;
        found += 1;
    }
    assert_eq!(found, 4);
}

#[test]
fn accumulation_is_told() {
    let text = "Real h(start = 1, fixed = true)
        Real v(start = 0, fixed = true)
        der(h) = v
        der(v) = -9.81
        when h <= 0 then reinit(v, -0.5*pre(v))";
    let run = run(text, &until(3.0, 1e-8));
    let Ending::Failed { time, diagnostic } = run.outcome.ending else { panic!("it should stop") };
    // √(2/g)·(1 + 2·(½ + ¼ + …)) = 3·√(2/g)
    assert_close(time, 3.0 * (2.0f64 / 9.81).sqrt(), 1e-5);
    assert_eq!(diagnostic.code, "event-accumulation");
}

#[test]
fn sampled_counter() {
    let text = "discrete Real n\nwhen sample(0.1, 0.1) then n = pre(n) + 1";
    let run = run(text, &until(1.05, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert_eq!(run.end("n"), 10.0);
    assert_eq!(run.outcome.statistics.time_events, 10);
}

#[test]
fn relations_on_time_are_right_limits() {
    let run = run("y = if time > 0.5 then 1 else 0\nz = if time >= 0.5 then 1 else 0", &until(1.0, 1e-6));
    assert_eq!(run.outcome.statistics.time_events, 1, "{}", run.log);
    let at = run.time().iter().position(|&t| t == 0.5).unwrap();
    assert_eq!(run.column("y")[at..at + 2], [0.0, 1.0]);
    assert_eq!(run.column("z")[at..at + 2], [0.0, 1.0]);
}

#[test]
fn ideal_diode_rectifier() {
    let text = "u = sin(2*3.141592653589793*50*time)
        Boolean off
        off = s < 0
        ud = if off then s else 0
        i = if off then 0 else s
        u - 10*i - ud = uc
        Real uc(start = 0, fixed = true)
        0.001*der(uc) = i - uc/50";
    let run = run(text, &until(0.1, 1e-10));
    assert_eq!(run.outcome.ending, Ending::Complete);
    let times: Vec<f64> = run.time().windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    for expected in [8.7081397e-3, 2.0999157e-2, 2.8265191e-2, 4.1307834e-2] {
        let nearest = times.iter().map(|t| (t - expected).abs()).fold(f64::INFINITY, f64::min);
        assert!(nearest < 1e-7, "no commutation at {expected}: {times:?}");
    }
    assert_close(run.end("uc"), 0.456011, 1e-6);
}

#[test]
fn a_relation_on_time_in_a_branch_that_is_not_evaluated_makes_no_endless_events() {
    let text = "discrete Real n
        Boolean never
        never = n > 100
        y = if never then (if time > 0 then sqrt(n) else 2) else 1
        when sample(0.1, 0.1) then n = pre(n) + 1";
    let run = run(text, &until(1.05, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert_eq!(run.end("n"), 10.0);
    assert!(run.outcome.statistics.time_events < 25, "{}", run.log);
}

#[test]
fn a_time_taken_at_an_event_makes_no_endless_events() {
    let text = "discrete Real entry
        Boolean b
        b = time >= entry + 0.5
        when time >= 0.25 then entry = time
        Boolean c
        c = time >= entry
        y = if c then 1 else 0";
    let run = run(text, &until(1.0, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert!(run.outcome.statistics.time_events < 12, "{}", run.log);
    assert_eq!(run.end("b"), 1.0);
    assert_eq!(run.end("y"), 1.0);
}

#[test]
fn a_pulse_of_picoseconds_keeps_its_edges() {
    // All times are far below the first step that an integrator would try.
    let text = "parameter rise = 1e-13
        v = if time < 0 then 0 else if time < rise then 5*time/rise else if time < 1e-12 then 5 else 1";
    let run = run(text, &until(1e-11, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    for (time, expected) in [(0.0, 0.0), (1e-13, 5.0), (5e-13, 5.0), (5e-12, 1.0)] {
        let row = run.time().iter().position(|&t| t >= time).expect("a row");
        assert_close(run.column("v")[row], expected, 1e-9);
    }
    let mut jumps: Vec<f64> = run.time().windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    jumps.dedup();
    assert_eq!(jumps, [0.0, 1e-13, 1e-12]);
}

#[test]
fn many_samples_do_not_drift() {
    let text = "discrete Real n(start = 0, fixed = true)
        discrete Real off(start = 0, fixed = true)
        when sample(0.1, 0.1) then n = pre(n) + 1
        when sample(0.1, 0.1) then off = max(pre(off), abs(time - 0.1*n))";
    let run = run(text, &until(2000.0, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert_eq!(run.outcome.statistics.time_events, 20_000);
    assert_eq!(run.end("n"), 20_000.0);
    // The instants are start + n·interval, rounded once.
    assert!(run.end("off") <= 2.0 * f64::EPSILON * 2000.0, "{}", run.end("off"));
}
