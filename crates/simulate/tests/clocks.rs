//! Clocked partitions, against closed forms.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, assert_close, run, until};
use simulate::Ending;

fn at(run: &Run, name: &str, time: f64) -> f64 {
    let row = run.time().iter().rposition(|&t| t <= time + 1e-12).unwrap();
    run.column(name)[row]
}

#[test]
fn sampled_counter_and_hold() {
    let text = "Integer n(start = 0)
        n = previous(n) + 1
        y = sample(u, Clock(1, 10)) + n
        u = 10*time
        z = hold(y)";
    let run = run(text, &until(1.0, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    for k in 0..10 {
        // The k-th tick samples u = k and counts to k + 1.
        let expected = f64::from(2 * k + 1);
        assert_close(at(&run, "z", 0.1 * f64::from(k) + 0.05), expected, 1e-9);
    }
}

#[test]
fn sub_and_super_clocks() {
    let text = "Clock c
        c = Clock(0.1)
        x = sample(time, c)
        slow = subSample(x, 3)
        fast = superSample(x, 2)
        late = shiftSample(x, 1, 2)
        Integer n(start = 0)
        n = previous(n) + (if fast > -1 then 1 else 2)
        Integer m(start = 0)
        m = previous(m) + (if slow > -1 then 1 else 2)
        Integer k(start = 0)
        k = previous(k) + (if late > -1 then 1 else 2)";
    let run = run(text, &until(0.95, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert_eq!((run.end("n"), run.end("m"), run.end("k")), (20.0, 4.0, 10.0));
    assert_close(at(&run, "slow", 0.55), 0.3, 1e-12);
    assert_close(at(&run, "fast", 0.27), 0.2, 1e-12);
    assert_close(at(&run, "late", 0.24), 0.1, 1e-12);
    assert_close(at(&run, "late", 0.26), 0.2, 1e-12);
}

#[test]
fn continuous_plant_with_clocked_controller() {
    let text = "Real x(start = 1, fixed = true)
        der(x) = hold(u)
        xs = sample(x, Clock(0.1))
        Real i(start = 0)
        i = previous(i) + xs*interval(xs)
        u = -2*xs - i
        Real u(start = 0)";
    let run = run(text, &until(1.0, 1e-9));
    assert_eq!(run.outcome.ending, Ending::Complete);
    let (mut x, mut i) = (1.0, 0.0);
    for k in 0..10 {
        i += 0.1 * x;
        let u = -2.0 * x - i;
        assert_close(at(&run, "u", 0.1 * f64::from(k) + 0.05), u, 1e-9);
        x += 0.1 * u;
    }
}

#[test]
fn event_clocks() {
    let text = "Real x(start = 0, fixed = true)
        der(x) = 1
        b = sample(time, Clock(sin(6.283185307179586*x) > 0.5))
        Real b(start = -1)
        d = interval(b)
        half = subSample(b, 2)
        f = if firstTick(b) then 1 else 0
        z = hold(half)";
    let run = run(text, &until(3.0, 1e-9));
    assert_eq!(run.outcome.ending, Ending::Complete);
    let first = 1.0 / 12.0;
    assert_close(at(&run, "b", 0.05), -1.0, 1e-12);
    for k in 0..3 {
        assert_close(at(&run, "b", f64::from(k) + 0.5), first + f64::from(k), 1e-8);
    }
    assert_close(at(&run, "d", 1.5), 1.0, 1e-8);
    assert_eq!((at(&run, "f", 0.5), at(&run, "f", 1.5)), (1.0, 0.0));
    assert_close(at(&run, "z", 1.5), first, 1e-8);
    assert_close(at(&run, "z", 2.5), first + 2.0, 1e-8);
}

#[test]
fn varying_intervals() {
    // Ticks at 0, 0.1, 0.3, 0.6 …
    let text = "Integer n(start = 0)
        n = previous(n) + (if sample(time, Clock(n, 10)) > -1 then 1 else 2)";
    let run = run(text, &until(1.2, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    for (time, expected) in [(0.05, 1.0), (0.2, 2.0), (0.45, 3.0), (0.8, 4.0), (1.1, 5.0)] {
        assert_eq!(at(&run, "n", time), expected);
    }
}

#[test]
fn simultaneous_equations_at_ticks() {
    let text = "a + b = 3*s\na - b = s\ns = sample(time, Clock(0.25))";
    let run = run(text, &until(1.0, 1e-6));
    assert_eq!(run.outcome.ending, Ending::Complete);
    assert_close(at(&run, "a", 0.6), 1.0, 1e-12);
    assert_close(at(&run, "b", 0.6), 0.5, 1e-12);
}

#[test]
fn a_condition_that_depends_on_what_it_triggers() {
    // The limit rises by one each time x passes it.
    let text = "Real x(start = 0.5, fixed = true)
        der(x) = 1
        limit = previous(limit) + (if sample(x, Clock(x > hold(limit))) > 0 then 1 else 0)
        Real limit(start = 1)";
    let run = run(text, &until(3.0, 1e-9));
    assert_eq!(run.outcome.ending, Ending::Complete);
    for (time, expected) in [(0.4, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)] {
        assert_eq!(at(&run, "limit", time), expected, "{}", run.log);
    }
}

#[test]
fn start_values_differ_before_the_first_tick() {
    let text = "a = shiftSample(s, 2)\ns = sample(time + 1, Clock(0.1))\nb = a\nReal b(start = -1)\ny = hold(b)";
    let run = run(text, &until(1.0, 1e-6));
    assert_eq!((at(&run, "a", 0.15), at(&run, "y", 0.15)), (0.0, -1.0));
    assert_close(at(&run, "y", 0.25), 1.2, 1e-12);
}

#[test]
fn a_condition_that_rises_at_the_end_does_not_tick() {
    // The sine rises through zero at 0, 1, 2 s …, the last time where the run ends; rounding must not decide.
    for end in 1..20 {
        let text = "Integer n(start = 0)
            n = previous(n) + (if sample(time, Clock(10*sin(6.283185307179586*time) - x > 0)) > -1 then 1 else 2)
            Real x(start = 0, fixed = true)
            der(x) = 0";
        let options = simulate::Options { interval: 0.01, ..until(f64::from(end), 1e-6) };
        let run = run(text, &options);
        assert_eq!(run.end("n"), f64::from(end), "until {end}: {}", run.log);
    }
}
