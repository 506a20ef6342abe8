//! The hybrid cases of the seed documents, against closed forms.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, assert_close, run, until};
use expect_test::expect;
use simulate::{Ending, Options};

/// The times with two rows.
fn events(run: &Run) -> Vec<f64> {
    run.time().windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect()
}

/// The value of a column at the last row whose time is at most `time`.
fn at(run: &Run, name: &str, time: f64) -> f64 {
    let row = run.time().iter().rposition(|&t| t <= time + 1e-12).unwrap();
    run.column(name)[row]
}

#[test]
fn b1_sampled_controller() {
    // A plant ẋ = u held between samples: x[k+1] = x[k] + Ts·u[k], u[k] = −2·x[k] + w[k], w[k] = w[k−1] + x[k]/2.
    let text = "Real xp(start = 1, fixed = true)
        der(xp) = u
        y = xp
        when sample(0, 0.1) then w = pre(w) + y/2; u = -2*y + w
        discrete Real w
        discrete Real u";
    let run = run(text, &until(1.0, 1e-9));
    assert_eq!(run.outcome.ending, Ending::Complete);
    let (mut x, mut w) = (1.0, 0.0);
    for k in 0..10 {
        w += x / 2.0;
        let u = -2.0 * x + w;
        let time = 0.1 * f64::from(k);
        assert_close(at(&run, "u", time + 0.05), u, 1e-9);
        assert_close(at(&run, "w", time + 0.05), w, 1e-9);
        assert_close(at(&run, "xp", time + 0.05), x + 0.05 * u, 1e-9);
        x += 0.1 * u;
    }
    assert_eq!(run.outcome.statistics.time_events, 10);
}

#[test]
fn b4_limiter_touched_exactly() {
    // u touches the limit 1 at t = 1 and leaves downwards; v reaches 1 at t = 1, and rises after.
    let text = "Real u(start = 0, fixed = true)
        der(u) = 2*(1 - time)
        yu = if u > 1 then 10 else 0
        Real v(start = 0, fixed = true)
        der(v) = 3*(1 - time)^2
        yv = if v > 1 then 10 else 0";
    let run = run(text, &until(2.0, 1e-9));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert!(run.outcome.statistics.state_events <= 8, "{}", run.log);
    assert_eq!((at(&run, "yu", 0.5), at(&run, "yu", 1.5)), (0.0, 0.0));
    assert_eq!((at(&run, "yv", 0.5), at(&run, "yv", 1.5)), (0.0, 10.0));
}

#[test]
fn b5_guarded_root() {
    let text = "Real h(start = 1, fixed = true)\nder(h) = -(if noEvent(h > 0) then sqrt(h) else 0)";
    let guarded = run(text, &until(3.0, 1e-8));
    assert_eq!(guarded.outcome.ending, Ending::Complete);
    assert_close(at(&guarded, "h", 1.2), 0.16, 1e-6);
    assert!(guarded.end("h").abs() < 1e-6);
    let open = run("Real h(start = 1, fixed = true)\nder(h) = -sqrt(h) - 0.1", &until(3.0, 1e-8));
    let Ending::Failed { diagnostic, .. } = open.outcome.ending else { panic!("it should fail") };
    assert!(diagnostic.message.contains("sqrt"), "{}", diagnostic.message);
    assert!(!diagnostic.labels.is_empty());
}

#[test]
fn b7_hysteresis_and_difference_equation() {
    let text = "u = sin(time)
        Boolean up
        up = u > 0.5 or (pre(up) and u > -0.5)
        when sample(0, 0.5) then n = pre(n) + 0.5; f = 0.9*pre(f) + 1
        discrete Real n
        discrete Real f";
    let run = run(text, &until(10.0, 1e-8));
    let pi = std::f64::consts::PI;
    let (rise, fall) = (pi / 6.0, 7.0 * pi / 6.0);
    for (time, expected) in [(rise - 0.1, 0.0), (rise + 0.1, 1.0), (fall - 0.1, 1.0), (fall + 0.1, 0.0)] {
        assert_eq!(at(&run, "up", time), expected, "at {time}\n{}", run.log);
    }
    assert_close(run.end("f"), 10.0 * (1.0 - 0.9f64.powi(21)), 1e-12);
}

#[test]
fn b8_propagation_through_booleans() {
    let text = "Boolean a
        Boolean b
        Boolean c
        Boolean d
        c = time > 1
        d = time > 2
        b = not d
        a = b and c or d and pre(e)
        Boolean e
        e = a or pre(e)
        Integer n
        when a then n = pre(n) + 1";
    let run = run(text, &until(3.0, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert_eq!((at(&run, "a", 0.5), at(&run, "a", 1.5), at(&run, "a", 2.5)), (0.0, 1.0, 1.0));
    assert_eq!(run.end("n"), 1.0, "{}", run.log);
}

#[test]
fn b9_residue_exactly_zero() {
    for (slope, branch) in [(0.0, 0.0), (1.0, 1.0), (-1.0, -1.0)] {
        let text = format!(
            "Real x(start = 0, fixed = true)
             der(x) = if time > 1 then {slope} else 0
             y = if x > 0 then 1 else if x < 0 then -1 else 0
             Real w(start = 0, fixed = true)
             der(w) = y"
        );
        let run = run(&text, &until(2.0, 1e-9));
        assert_eq!(run.outcome.ending, Ending::Complete);
        assert_eq!(at(&run, "y", 1.0 - 1e-3), 0.0);
        assert_eq!(run.end("y"), branch, "{}", run.log);
        assert_close(run.end("w"), branch, 1e-9);
        assert_eq!(run.outcome.statistics.state_events, u64::from(slope != 0.0), "{}", run.log);
    }
}

#[test]
fn an_event_that_never_rests_shows_its_cycle() {
    let text =
        "Boolean a(start = true, fixed = true)\na = not pre(b)\nBoolean b\nb = pre(a)\nx = if time > 1 then 1 else 0";
    let Ending::NotInitialised(diagnostic) = run(text, &until(2.0, 1e-6)).outcome.ending else {
        panic!("it should not come to rest")
    };
    expect![[r#"
        the event at time 0 never comes to rest: after 200 iterations a, b still change
        then a becomes false
        then b becomes false
        then a becomes true
        then b becomes true"#]]
    .assert_eq(&format!("{}\n{}", diagnostic.message, diagnostic.notes.join("\n")));
}

#[test]
fn samples_do_not_drift() {
    let text = "discrete Real n\nwhen sample(0, 1e-3) then n = pre(n) + 1\ndiscrete Real late\nwhen sample(0, 1e-3) then late = time - 1e-3*pre(n)";
    let options = Options { stop_time: 20.0, interval: 1.0, ..Options::default() };
    let run = run(text, &options);
    assert_eq!(run.end("n"), 20_001.0);
    assert_eq!(run.outcome.statistics.time_events, 20_000);
    let worst = run.column("late").into_iter().fold(0.0f64, |most, x| most.max(x.abs()));
    assert!(worst < 1e-14, "{worst}");
}

#[test]
fn coinciding_events_are_one() {
    let text = "discrete Real n
        when sample(0.1, 0.1) then n = pre(n) + 1
        discrete Real m
        when sample(0.2, 0.2) then m = pre(m) + 1
        y = if time > 0.6 then 1 else 0";
    let run = run(text, &until(1.05, 1e-10));
    assert_eq!((run.end("n"), run.end("m"), run.end("y")), (10.0, 5.0, 1.0));
    let times = events(&run);
    assert_eq!(times.len(), 10, "{times:?}\n{}", run.log);
}

#[test]
fn chattering_is_told() {
    let text = "Real x(start = 0.5, fixed = true)\nder(x) = if x > 0 then -1 else 1";
    let run = run(text, &until(1.0, 1e-6));
    let Ending::Failed { time, diagnostic } = run.outcome.ending else { panic!("it should chatter") };
    assert_close(time, 0.5, 1e-3);
    assert_eq!(diagnostic.code, "chattering");
    assert!(diagnostic.message.contains("x > 0"), "{}", diagnostic.message);
}

#[test]
fn roundings_make_events() {
    let text = "Real x(start = 0, fixed = true)\nder(x) = 1\nn = floor(2*x)\nm = mod(x, 0.7)\nReal w(start = 0, fixed = true)\nder(w) = n";
    let run = run(text, &until(1.75, 1e-9));
    // ∫ floor(2x) = ½·(0 + 1 + 2) + ¼·3
    assert_close(run.end("w"), 2.25, 1e-9);
    assert_close(run.end("m"), 0.35, 1e-9);
    assert_eq!(run.outcome.statistics.state_events, 5, "{}", run.log);
}

#[test]
fn delays_keep_jumps() {
    let text = "u = if time > 0.25 then time else 0
        y = delay(u, 0.5)
        Real x(start = 0, fixed = true)
        der(x) = y";
    let run = run(text, &until(2.0, 1e-8));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert_close(at(&run, "y", 0.7), 0.0, 1e-12);
    assert_close(at(&run, "y", 1.0), 0.5, 1e-9);
    // ∫ from 0.75 to 2 of t − ½
    assert_close(run.end("x"), 0.5 * (1.5f64.powi(2) - 0.25f64.powi(2)), 1e-7);
    assert!(events(&run).iter().any(|&t| (t - 0.75).abs() < 1e-12), "{:?}", events(&run));
}

#[test]
fn delay_of_a_smooth_signal() {
    let text = "Real x(start = 1, fixed = true)\nder(x) = -delay(x, 1)";
    // x = 1 − t until 1, then x' = −(2 − t)... on [1, 2]: x = −(t − 1) + (t − 1)²/2.
    let run = run(text, &until(2.0, 1e-8));
    assert_close(at(&run, "x", 1.0), 0.0, 1e-6);
    assert_close(run.end("x"), -0.5, 1e-5);
}

#[test]
fn a_relation_of_the_initial_problem_alone_makes_no_event() {
    let run = common::run("der(x) = -x\ninitial x = if time >= 0 then 1 else 2", &common::until(1.0, 1e-8));
    common::assert_close(run.end("x"), (-1.0f64).exp(), 1e-6);
    assert_eq!(run.outcome.statistics.time_events, 0);
}

#[test]
fn a_pulse_that_starts_at_the_instant_it_compares_with() {
    let text = "discrete Real t0
        when sample(0, 2) then t0 = time
        Boolean y
        y = time >= t0 and time < t0 + 1
        s = if time >= 4 then 1 else 0
        when not y then n = pre(n) + 1";
    let run = run(text, &until(10.0, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert_eq!(run.end("n"), 5.0);
    assert!(run.outcome.statistics.time_events < 30, "{}", run.log);
    assert_eq!((at(&run, "y", 4.5), at(&run, "y", 5.5)), (1.0, 0.0));
}
