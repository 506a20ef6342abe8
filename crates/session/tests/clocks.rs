//! Clocks (specification 16) from text to numbers, against closed forms.
#![allow(clippy::unwrap_used)]

mod common;

use common::{messages, simulate, simulate_from};
use expect_test::expect;
use results::Trajectories;

fn at(result: &Trajectories, name: &str, time: f64) -> f64 {
    result.at(name, time).unwrap_or_else(|| panic!("no `{name}` at {time}"))
}

#[track_caller]
fn assert_close(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{value} is not {expected}");
}

/// The times at which a counter changes, and its values there.
fn ticks(result: &Trajectories, name: &str) -> Vec<(f64, f64)> {
    let values = &result.get(name).unwrap().values;
    let mut last = 0.0;
    let rows = result.time.iter().zip(values.iter());
    rows.filter(|&(_, &value)| std::mem::replace(&mut last, value) != value).map(|(&t, &v)| (t, v)).collect()
}

#[track_caller]
fn expect_ticks(result: &Trajectories, name: &str, times: &[f64]) {
    let found = ticks(result, name);
    assert_eq!(found.len(), times.len(), "{found:?}");
    for (number, (&(time, value), &expected)) in found.iter().zip(times).enumerate() {
        assert_eq!(value, number as f64 + 1.0, "{found:?}");
        assert!((time - expected).abs() < 1e-8, "{time} is not {expected}");
    }
}

/// `der(x) = t - x` with x(0) = 1 in a partition of ten ticks a second.
fn integrated(method: &str) -> Vec<f64> {
    let text = format!(
        "model M
          Real x(start = 1);
          Real u = sample(time, Clock(Clock(1, 10), solverMethod = \"{method}\"));
        equation
          der(x) = u - x;
        end M;"
    );
    let result = simulate(&text, 1.05);
    (0..=10).map(|tick| at(&result, "x", 0.1 * f64::from(tick) + 0.02)).collect()
}

#[test]
fn solver_methods() {
    let h = 0.1;
    let f = |x: f64, t: f64| t - x;
    type Step = fn(f64, f64, f64, fn(f64, f64) -> f64) -> f64;
    let steps: [(&str, Step); 6] = [
        ("ExplicitEuler", |x, t, h, f| x + h * f(x, t)),
        ("ExplicitMidPoint2", |x, t, h, f| x + h * f(x + 0.5 * h * f(x, t), t + 0.5 * h)),
        ("ExplicitRungeKutta4", |x, t, h, f| {
            let k1 = h * f(x, t);
            let k2 = h * f(x + 0.5 * k1, t + 0.5 * h);
            let k3 = h * f(x + 0.5 * k2, t + 0.5 * h);
            let k4 = h * f(x + k3, t + h);
            x + (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
        }),
        ("ImplicitEuler", |x, t, h, _| (x + h * (t + h)) / (1.0 + h)),
        ("ImplicitTrapezoid", |x, t, h, f| (x + 0.5 * h * (f(x, t) + t + h)) / (1.0 + 0.5 * h)),
        ("External", |x, t, h, f| (x + 0.5 * h * (f(x, t) + t + h)) / (1.0 + 0.5 * h)),
    ];
    for (method, step) in steps {
        let mut x = 1.0;
        for (tick, found) in integrated(method).into_iter().enumerate() {
            assert!((found - x).abs() < 1e-12, "{method} at tick {tick}: {found} is not {x}");
            x = step(x, h * tick as f64, h, f);
        }
    }
}

#[test]
fn stages_of_a_system_with_algebraic_and_discrete_variables() {
    // An oscillator with y = 2x as its force and a factor that changes at the third tick; the mid point rule by hand.
    let text = "model M
          Real x(start = 1); Real v(start = 0); Real y;
          Integer n(start = 0) = previous(n) + 1;
          Real factor = if n > 2 then 3 else 1;
          Real u = sample(sin(time), Clock(Clock(1, 10), solverMethod = \"ExplicitMidPoint2\"));
        equation
          y = 2*x;
          der(x) = v;
          der(v) = u - factor*y;
        end M;";
    let result = simulate(text, 1.05);
    let (mut x, mut v, h) = (1.0f64, 0.0f64, 0.1f64);
    let factor = |tick: u32| if tick + 1 > 2 { 3.0 } else { 1.0 };
    for tick in 0..10 {
        assert_close(at(&result, "x", 0.1 * f64::from(tick) + 0.02), x);
        let (t, next) = (0.1 * f64::from(tick), 0.1 * f64::from(tick + 1));
        let slope = t.sin() - factor(tick) * 2.0 * x;
        let (xm, vm) = (x + 0.5 * h * v, v + 0.5 * h * slope);
        // The factor follows from a Boolean condition on n; as a Real variable it is computed at the stage, from the n
        // of the tick before.
        let slope = 0.5 * (t.sin() + next.sin()) - factor(tick) * 2.0 * xm;
        (x, v) = (x + h * vm, v + h * slope);
    }
}

#[test]
fn solver_methods_that_are_unknown_or_missing() {
    let text = |clock: &str| {
        format!(
            "model M
  Real x(start = 1);
  Real u = sample(time, {clock});
equation
  der(x) = u - x;
end M;
"
        )
    };
    expect![[r#"
        warning[solver-method]: there is no solver method `Euler`
          --> case.mo:2:8
           |
         2 |   Real x(start = 1);
           |        ^ one of these variables
           = `External` is used instead
           = help: the methods are ExplicitEuler, ExplicitMidPoint2, ExplicitRungeKutta4, ImplicitEuler, ImplicitTrapezoid, External
           = see: Modelica specification, section 16.8.2
    "#]]
    .assert_eq(&messages(&text("Clock(Clock(1, 10), solverMethod = \"Euler\")")));
    expect![[r#"
        error[no-solver-method]: there are derivatives on a clock without solver method
          --> case.mo:2:8
           |
         2 |   Real x(start = 1);
           |        ^ one of these variables
           = help: give the clock one, as in `Clock(Clock(1, 10), solverMethod = "ExplicitEuler")`
           = see: Modelica specification, section 16.8.4
    "#]]
    .assert_eq(&messages(&text("Clock(1, 10)")));
}

#[test]
fn an_inverse_model_is_reduced_before_it_is_discretised() {
    // p follows the filter state f exactly, so the input of the plant is der(f) = (u - f)/T; p has the fixed start value.
    let text = "model M
          Real f(start = 7); Real p(start = 0, fixed = true); Real input_;
          Real u = sample(1 + time, Clock(Clock(1, 10), solverMethod = \"ExplicitEuler\"));
        equation
          0.5*der(f) = u - f;
          der(p) = input_;
          p = f;
        end M;";
    let result = simulate(text, 1.05);
    let mut p = 0.0;
    for tick in 0..=10 {
        let (time, u) = (0.1 * f64::from(tick) + 0.02, 1.0 + 0.1 * f64::from(tick));
        assert_close(at(&result, "p", time), p);
        assert_close(at(&result, "f", time), p);
        assert_close(at(&result, "input_", time), (u - p) / 0.5);
        p += 0.1 * (u - p) / 0.5;
    }
}

#[test]
fn initial_equations_hold_at_the_first_tick() {
    // The first state begins where an initial equation says; the second at rest, y = u at the first tick.
    let text = "model M
          parameter Real x0 = 3;
          Real x; Real y(start = 9);
          Real u = sample(2 + time, Clock(Clock(1, 10), solverMethod = \"ExplicitEuler\"));
        initial equation
          x = x0;
          der(y) = 0;
        equation
          der(x) = u - x;
          der(y) = u - y;
        end M;";
    let result = simulate(text, 0.55);
    let (mut x, mut y) = (3.0, 2.0);
    for tick in 0..=5 {
        let (time, u) = (0.1 * f64::from(tick), 2.0 + 0.1 * f64::from(tick));
        assert_close(at(&result, "x", time + 0.02), x);
        assert_close(at(&result, "y", time + 0.02), y);
        (x, y) = (x + 0.1 * (u - x), y + 0.1 * (u - y));
    }
}

#[test]
fn a_sampled_signal_has_no_derivative() {
    let text = "model M
  Real p(start = 0); Real v;
  Real u = sample(time, Clock(Clock(1, 10), solverMethod = \"ExplicitEuler\"));
equation
  der(p) = v;
  p = u;
end M;
";
    expect![[r#"
        error[not-differentiable]: `u = sample(time, Clock(Clock(1, 10), "ExplicitEuler"))` has to be differentiated (it constrains states), but cannot be
          --> case.mo:3:12
           |
         3 |   Real u = sample(time, Clock(Clock(1, 10), solverMethod = "ExplicitEuler"));
           |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
           = the expression cannot be differentiated: what comes from another clock, or from the tick before, changes in steps
           = this is about the equations of one clock, which are discretised
           = help: functions in it need a `derivative` annotation; what changes in steps has no derivative
    "#]].assert_eq(&messages(text));
}

#[test]
fn rational_clocks_do_not_drift() {
    // A third of a second over a thousand seconds: sub-clocks tick exactly with the base where the text says so.
    let text = "model M
          Real t = sample(time, Clock(1, 3));
          Integer n(start = 0) = previous(n) + 1;
          Real error(start = 0) = max(previous(error), abs(t - (n - 1)/3));
          Integer slow = subSample(n, 7);
          Integer m(start = 0) = previous(m) + (if slow > 0 then 1 else 2);
          Integer wrong(start = 0) = previous(wrong) + (if slow == 7*(m - 1) + 1 then 0 else 1);
          Integer fast = superSample(n, 5);
          Integer k(start = 0) = previous(k) + (if fast > 0 then 1 else 2);
          Integer late = shiftSample(n, 2, 3);
          Integer back = backSample(late, 1, 3);
          Integer j(start = 0) = previous(j) + (if back > -1 then 1 else 2);
          Integer again = backSample(back, 1, 3);
          Integer same(start = 0) = previous(same) + (if again > -1 and n > 0 then 1 else 2);
        end M;";
    let result = simulate(text, 1000.1);
    let end = |name: &str| at(&result, name, 1000.09);
    assert_eq!((end("n"), end("m"), end("wrong")), (3001.0, 429.0, 0.0));
    // Five times as often; the last two before the end are at 1000 and 1000.066….
    assert_eq!((end("k"), end("same")), (15002.0, 3001.0));
    assert_eq!(end("j"), 3000.0);
    assert!(end("error") <= 1000.0 * 4.0 * f64::EPSILON, "{}", end("error"));
}

#[test]
fn event_clocks_and_what_is_made_of_them() {
    // The condition rises at 0.25, 1.25, 2.25 …; the first interval is the one given.
    let text = "model M
          Clock c = Clock(sin(2*3.141592653589793*(time - 0.25)) > 0, startInterval = 0.125);
          Real t(start = -1) = sample(time, c);
          Real d(start = -1) = interval(t);
          Boolean first(start = false) = firstTick(t);
          Integer n(start = 0) = previous(n) + (if t > 0 then 1 else 2);
          Real half(start = -1) = subSample(t, 2);
          Integer h(start = 0) = previous(h) + (if half > 0 then 1 else 2);
          Real whole(start = -1) = superSample(half, 2);
          Integer w(start = 0) = previous(w) + (if whole > 0 then 1 else 2);
          Real late(start = -1) = shiftSample(t, 2);
          Integer l(start = 0) = previous(l) + (if late > 0 then 1 else 2);
        end M;";
    let result = simulate(text, 5.0);
    expect_ticks(&result, "n", &[0.25, 1.25, 2.25, 3.25, 4.25]);
    expect_ticks(&result, "h", &[0.25, 2.25, 4.25]);
    expect_ticks(&result, "w", &[0.25, 1.25, 2.25, 3.25, 4.25]);
    expect_ticks(&result, "l", &[2.25, 3.25, 4.25]);
    assert_close(at(&result, "d", 0.5), 0.125);
    assert!((at(&result, "d", 1.5) - 1.0).abs() < 1e-7);
    assert_eq!((at(&result, "first", 0.5), at(&result, "first", 1.5)), (1.0, 0.0));
}

#[test]
fn clocks_with_intervals_that_vary() {
    // Integer counters are used as they are computed at a tick, Real intervals as they were at the tick before.
    let text = "model M
          Integer count(start = 2);
          Integer n(start = 0);
          Real d;
          Real step(start = 0.1);
          Integer m(start = 0);
          Real e;
          Integer k(start = 0) = previous(k) + (if subSample(m, 2) > 0 then 1 else 2);
        equation
          when Clock(count, 10) then
            count = previous(count) + 1;
            n = previous(n) + 1;
            d = interval();
          end when;
          when Clock(step) then
            step = previous(step) + 0.1;
            m = previous(m) + 1;
            e = interval();
          end when;
        end M;";
    let result = simulate(text, 1.45);
    expect_ticks(&result, "n", &[0.0, 0.3, 0.7, 1.2]);
    expect_ticks(&result, "m", &[0.0, 0.1, 0.3, 0.6, 1.0]);
    expect_ticks(&result, "k", &[0.0, 0.3, 1.0]);
    for (time, d) in [(0.1, 0.2), (0.5, 0.3), (1.0, 0.4), (1.3, 0.5)] {
        assert_close(at(&result, "d", time), d);
    }
    for (time, e) in [(0.05, 0.1), (0.2, 0.1), (0.5, 0.2), (0.8, 0.3), (1.2, 0.4)] {
        assert_close(at(&result, "e", time), e);
    }
}

#[test]
fn real_intervals_from_parameters() {
    let text = "model M
          parameter Real period = 0.3;
          Real t = sample(time, Clock(period));
          Real d = interval(t);
          Integer n(start = 0) = previous(n) + (if t >= 0 then 1 else 2);
          Integer m(start = 0) = previous(m) + (if shiftSample(n, 1, 2) > 0 then 1 else 2);
        end M;";
    let result = simulate(text, 1.0);
    expect_ticks(&result, "n", &[0.0, 0.3, 0.6, 0.9]);
    expect_ticks(&result, "m", &[0.15, 0.45, 0.75]);
    assert_close(at(&result, "d", 0.1), 0.3);
}

#[test]
fn clocks_begin_with_the_simulation() {
    let text = "model M
          Real t = sample(time, Clock(1, 10));
          Integer n(start = 0) = previous(n) + (if t >= 0 then 1 else 2);
          Integer m(start = 0) = previous(m) + (if shiftSample(n, 1, 2) > 0 then 1 else 2);
        end M;";
    let result = simulate_from(text, 2.03, 2.3);
    expect_ticks(&result, "n", &[2.03, 2.13, 2.23]);
    expect_ticks(&result, "m", &[2.08, 2.18, 2.28]);
}

#[test]
fn clocks_are_inferred_through_connections_and_when_clauses() {
    let text = "connector In = input Real;
        connector Out = output Real;
        block Sum
          In u;
          Out y(start = 0);
        equation
          when Clock() then
            y = previous(y) + u;
          end when;
        end Sum;
        block Source
          Out y;
        equation
          y = sample(1, Clock(1, 4));
        end Source;
        model M
          Source source; Sum sum; Sum twice;
          Real held = hold(twice.y);
        equation
          connect(source.y, sum.u);
          connect(sum.y, twice.u);
        end M;";
    let result = simulate(text, 1.1);
    for (time, value) in [(0.1, 1.0), (0.3, 3.0), (0.6, 6.0), (0.8, 10.0), (1.05, 15.0)] {
        assert_close(at(&result, "held", time), value);
    }
}

#[test]
fn without_any_clock_the_fastest_ticks_every_second() {
    let text = "model M
          Integer n(start = 0) = previous(n) + 1;
          Integer fast = superSample(n, 4);
          Integer m(start = 0) = previous(m) + (if fast > 0 then 1 else 2);
        end M;";
    let result = simulate(text, 9.5);
    expect_ticks(&result, "m", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    expect_ticks(&result, "n", &[0.0, 4.0, 8.0]);
    expect![[r#"
        warning[default-clock]: no clock is given for `n`
          --> case.mo:2:19
           |
         2 |           Integer n(start = 0) = previous(n) + 1;
           |                   ^ one of these variables
           = the fastest of the equations that are clocked with it tick every second
           = help: name a clock, as in `sample(u, Clock(0.1))` or `when Clock(1, 10) then`
           = see: Modelica specification, section 16.3
    "#]]
    .assert_eq(&messages(text));
}

#[test]
fn clocks_that_contradict_each_other() {
    expect![[r#"
        error[clock-conflict]: the equations of `x`, `y` would tick every 0.1 s and every 0.3333333333333333 s
          --> case.mo:2:8
           |
         2 |   Real x = sample(time, Clock(1, 10));
           |        ^ one of these variables
           = help: variables of different clocks are joined by subSample, superSample, shiftSample or backSample
           = see: Modelica specification, section 16.7.5
    "#]]
    .assert_eq(&messages(
        "model M
  Real x = sample(time, Clock(1, 10));
  Real y = x + sample(time, Clock(1, 3));
end M;
",
    ));
    expect![[r#"
        error[clock-conflict]: the equations of `y` would tick every 0.3 s and every 0.2 s
          --> case.mo:3:8
           |
         3 |   Real y = subSample(x, 2) + sample(time, Clock(3, 10));
           |        ^ one of these variables
           = help: variables of different clocks are joined by subSample, superSample, shiftSample or backSample
           = see: Modelica specification, section 16.7.5
    "#]]
    .assert_eq(&messages(
        "model M
  Real x = sample(time, Clock(1, 10));
  Real y = subSample(x, 2) + sample(time, Clock(3, 10));
end M;
",
    ));
    expect![[r#"
        error[clock-before-start]: the clock of `z` would tick before the start
          --> case.mo:4:8
           |
         4 |   Real z(start = 0) = backSample(y, 2);
           |        ^ one of these variables
           = help: `backSample` takes back at most what `shiftSample` shifted
           = see: Modelica specification, section 16.5.2
    "#]]
    .assert_eq(&messages(
        "model M
  Real x = sample(time, Clock(1, 10));
  Real y = shiftSample(x, 1);
  Real z(start = 0) = backSample(y, 2);
end M;
",
    ));
    expect![[r#"
        error[clock-rate]: a clock whose ticks are not known in advance cannot be split into shorter intervals
          --> case.mo:3:8
           |
         3 |   Real y = superSample(x, 2);
           |        ^ one of these variables
           = help: `superSample` undoes at most what `subSample` did, and `shiftSample` shifts by whole ticks
           = see: Modelica specification, section 16.5.2
    "#]]
    .assert_eq(&messages(
        "model M
  Real x = sample(time, Clock(time > 1));
  Real y = superSample(x, 2);
end M;
",
    ));
}

/// The example of 16.5.2: the ticks are at 0, 2, 3, 4, …, and half an interval is added to the third.
#[test]
fn shift_and_super_sample_of_a_varying_clock() {
    let text = "model M
      Integer width(start = 2), count(start = 0), twice(start = 0);
      Clock u = Clock(width, 1);
      Clock s = shiftSample(u, 3, 2);
      Real shifted(start = -1), y = hold(shifted), z = hold(twice);
    equation
      when u then
        count = previous(count) + 1;
        width = if count >= 2 then 1 else previous(width);
      end when;
      when s then
        shifted = sample(time);
      end when;
      twice = previous(twice) + 1 + (if superSample(count, 2) > 100 then 1 else 0);
    end M;";
    let result = simulate(text, 6.0);
    for (time, expected) in [(2.4, -1.0), (2.6, 2.5), (3.4, 2.5), (3.6, 3.5), (5.9, 5.5)] {
        assert_close(at(&result, "y", time), expected);
    }
    for (time, expected) in [(0.5, 1.0), (1.5, 2.0), (2.25, 3.0), (2.75, 4.0), (3.25, 5.0), (5.75, 10.0)] {
        assert_close(at(&result, "z", time), expected);
    }
}

/// `n` and `q` tick every 1/10 and 1/15 s; the text goes on with declarations and equations.
fn with_two_clocks(declarations: &str, equations: &str) -> String {
    format!(
        "model M
          Integer n(start = 0), q;
          {declarations}
        equation
          when Clock(1, 10) then
            n = previous(n) + 1;
          end when;
          q = subSample(superSample(n, 3), 2);
          {equations}
        end M;"
    )
}

/// An equation ticks with all variables that stand in it, also with those that its value does not depend on.
#[test]
fn variables_without_influence_are_clocked_with_their_equation() {
    let function = "function first
          input Integer a;
          input Integer b;
          output Integer c;
        algorithm
          c := a;
        end first;";
    let cases = [
        ("", "m = previous(m) + 1 + 0*q;"),
        ("", "m = previous(m) + 1 - q*0;"),
        ("", "m = previous(m) + 1 + (q - q);"),
        ("", "m + q = q + previous(m) + 1;"),
        ("", "m = (previous(m) + 1 - q) + q;"),
        ("", "m = previous(m) + (if q > 3 then 1 else 1);"),
        ("Boolean b = m > 3;", "m = previous(m) + (if previous(b) then 1 else if previous(b) then q else 1);"),
        ("", "m = previous(m) + (if q == q then 1 else 0);"),
        ("Boolean b = q > 3;", "m = previous(m) + (if b and not b then 2 else 1);"),
        ("Boolean b = q > 3;", "m = previous(m) + (if b or not b then 1 else 2);"),
        ("", "m = previous(m) + 1 + {1, 0}*{0, q};"),
        ("", "m = previous(m) + integer(q^0);"),
        (function, "m = first(previous(m) + 1, q);"),
        ("Integer other = q;", "m = 0*other + previous(m) + 1;"),
        ("Real r;", "m = previous(m) + 1; 0*m = r + 0*q;"),
    ];
    let times: Vec<f64> = (0..=15).map(|tick| f64::from(tick) / 15.0).collect();
    for (declarations, equations) in cases {
        let result = simulate(&with_two_clocks(&format!("Integer m(start = 0); {declarations}"), equations), 1.0);
        expect_ticks(&result, "m", &times);
    }
}

/// The operand of a conversion gives its clock even where it does not matter for the value.
#[test]
fn conversions_without_influence_give_their_clock() {
    let result = simulate(&with_two_clocks("Integer m(start = 0);", "m = previous(m) + 1 + 0*subSample(q, 3);"), 1.0);
    expect_ticks(&result, "m", &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
}

/// A function that asks to be written out is so before clocks are inferred.
#[test]
fn arguments_that_an_inlined_function_ignores_have_their_own_clock() {
    let declarations = "
        Integer m(start = 0);
        function first
          input Integer a;
          input Integer b;
          output Integer c;
        algorithm
          c := a;
          annotation(Inline = true);
        end first;";
    let equations = "when Clock(1, 4) then m = first(previous(m) + 1, q); end when;";
    let result = simulate(&with_two_clocks(declarations, equations), 1.0);
    expect_ticks(&result, "m", &[0.0, 0.25, 0.5, 0.75, 1.0]);
}

#[test]
fn variables_without_influence_do_not_mix_clocks() {
    let mixed = |declarations: &str, equations: &str| messages(&with_two_clocks(declarations, equations));
    expect![[r#"
        error[no-solver-method]: there are derivatives on a clock without solver method
          --> case.mo:2:33
           |
         2 |           Integer n(start = 0), q;
           |                                 ^ one of these variables
           = help: give the clock one, as in `Clock(Clock(1, 10), solverMethod = "ExplicitEuler")`
           = see: Modelica specification, section 16.8.4
    "#]]
    .assert_eq(&mixed("Real x(start = 0, fixed = true);", "der(x) = 1 + 0*q;"));
    expect![[r#"
        error[clock-conflict]: the equations of a clocked expression would tick every 0.05 s and every 0.03333333333333333 s
          --> case.mo:8:11
           |
         8 |           q = subSample(superSample(n, 3), 2);
           |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ in these equations
           = help: variables of different clocks are joined by subSample, superSample, shiftSample or backSample
           = see: Modelica specification, section 16.7.5
    "#]].assert_eq(&mixed("Integer m = n + (q - q);", ""));
    expect![[r#"
        error[clock-conflict]: the equations of a clocked expression would tick every 0.05 s and every 0.03333333333333333 s
          --> case.mo:8:11
           |
         8 |           q = subSample(superSample(n, 3), 2);
           |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ in these equations
           = help: variables of different clocks are joined by subSample, superSample, shiftSample or backSample
           = see: Modelica specification, section 16.7.5
    "#]].assert_eq(&mixed("Integer a; Integer b;", "algorithm a := n; b := q;"));
}

/// The k-th instant and the literal k·interval are the same number, inside a when clause as outside.
#[test]
fn relations_on_time_at_ticks() {
    let count = 12;
    for (interval, numerator, denominator) in [("0.1", 1, 10), ("0.3", 3, 10), ("1/3", 1, 3), ("0.007", 7, 1000)] {
        let literal = |tick: i32| f64::from(tick * numerator) / f64::from(denominator);
        let (mut declarations, mut inside, mut outside) = (String::new(), String::new(), String::new());
        for tick in 1..=count {
            let limit = literal(tick);
            for (name, operator) in [("ge", ">="), ("gt", ">"), ("le", "<="), ("lt", "<")] {
                declarations += &format!("Integer {name}{tick}(start = 0, fixed = true), ");
                declarations += &format!("{name}_clocked{tick}(start = 0);\n");
                inside +=
                    &format!("{name}{tick} = pre({name}{tick}) + (if time {operator} {limit:?} then 1 else 0);\n");
                outside += &format!("{name}_clocked{tick} = previous({name}_clocked{tick})");
                outside += &format!(" + (if t {operator} {limit:?} then 1 else 0);\n");
            }
            declarations += &format!("Integer at{tick}(start = 0, fixed = true);\n");
            outside += &format!("when time >= {limit:?} then at{tick} = n; end when;\n");
        }
        let text = format!(
            "model M
              Integer n(start = 0, fixed = true);
              Real t = sample(time, Clock({numerator}, {denominator}));
              {declarations}
            equation
              when sample(0, {interval}) then
                n = pre(n) + 1;
                {inside}
              end when;
              {outside}
            end M;"
        );
        let end = literal(count) + 0.5 * literal(1);
        let result = simulate(&text, end);
        for tick in 1..=count {
            assert_eq!(at(&result, &format!("at{tick}"), end), f64::from(tick) + 1.0, "{interval}, {tick}");
            let (since, until) = (f64::from(count + 1 - tick), f64::from(tick));
            for (name, expected) in [("ge", since), ("gt", since - 1.0), ("le", until + 1.0), ("lt", until)] {
                for name in [format!("{name}{tick}"), format!("{name}_clocked{tick}")] {
                    assert_eq!(at(&result, &name, end), expected, "{interval}, {name}");
                }
            }
        }
    }
}

#[test]
fn nested_conversions_mean_named_ones() {
    // Each form of `c` beside the same with a variable for each operand.
    let forms = [
        ("superSample(subSample(a, 3), 3)", "superSample(v, 3)", "v = subSample(a, 3);"),
        ("superSample(2*subSample(a, 3) + 1, 2)", "superSample(v, 2)", "v = 2*w + 1; w = subSample(a, 3);"),
        ("shiftSample(subSample(a, 3), 1, 3)", "shiftSample(v, 1, 3)", "v = subSample(a, 3);"),
        ("backSample(shiftSample(a, 3), 2)", "backSample(v, 2)", "v = shiftSample(a, 3);"),
        ("superSample(subSample(previous(a), 3), 2)", "superSample(v, 2)", "v = subSample(w, 3); w = previous(a);"),
        ("superSample(interval(a), 2)", "superSample(v, 2)", "v = interval(a);"),
        ("superSample(if firstTick(a) then 1 else a, 2)", "superSample(v, 2)", "v = if firstTick(a) then 1 else a;"),
        ("superSample(sample(time, Clock(1, 5)), 2)", "superSample(v, 2)", "v = sample(time, Clock(1, 5));"),
        ("superSample(f(subSample(a, 3)), 3)", "superSample(v, 3)", "v = f(w); w = subSample(a, 3);"),
        ("sample(hold(subSample(a, 3)), Clock(1, 7))", "sample(h, Clock(1, 7))", "h = hold(v); v = subSample(a, 3);"),
        (
            "if superSample(subSample(a, 3) > 1.5, 3) then 1 else 0",
            "if b then 1 else 0",
            "b = superSample(q, 3); q = v > 1.5; v = subSample(a, 3);",
        ),
        (
            "subSample(superSample(subSample(a, 2), 3), 3) + subSample(a, 2)",
            "z + v",
            "z = subSample(w, 3); w = superSample(v, 3); v = subSample(a, 2);",
        ),
    ];
    let run = |c: &str, equations: &str| {
        let mut declared = String::new();
        for (name, ty) in
            [("v", "Real"), ("w", "Real"), ("z", "Real"), ("h", "Real"), ("b", "Boolean"), ("q", "Boolean")]
        {
            if equations.contains(&format!("{name} = ")) {
                declared += &format!("{ty} {name};");
            }
        }
        let text = format!(
            "function f input Real u; output Real y; algorithm y := u*u; end f;
             model M
               Real a = sample(1 + time, Clock(1, 10));
               Real c = {c};
               {declared}
               Real y = hold(c);
             equation
               {equations}
             end M;"
        );
        simulate(&text, 2.0)
    };
    for (nested, outer, equations) in forms {
        let (found, expected) = (run(nested, ""), run(outer, equations));
        let mut seen = std::collections::BTreeSet::new();
        for sample in 0..400 {
            let time = 0.0025 + 0.005 * f64::from(sample);
            for name in ["c", "y"] {
                let (value, right) = (at(&found, name, time), at(&expected, name, time));
                assert_eq!(value, right, "{nested}: {name} at {time}");
                seen.insert(value.to_bits());
            }
        }
        // Constant would be equal too.
        assert!(seen.len() > 1 || nested.contains("interval"), "{nested}");
    }
    // One in closed form: the value of every third tick, for three ticks.
    let result = run("superSample(subSample(a, 3), 3)", "");
    for tick in 0..20 {
        assert_close(at(&result, "c", 0.1 * f64::from(tick) + 0.05), 1.0 + 0.3 * f64::from(tick / 3));
    }
}

#[test]
fn expressions_are_held() {
    let text = "model M
          Real a(start = 5) = sample(1 + time, Clock(1, 10));
          Real c(start = 7) = 2*a;
          Real p = hold(previous(c));
          Real s = hold(subSample(a, 3));
          Real t = hold(sample(time, Clock(1, 10)));
          Real d = hold(interval(a));
          Boolean b = hold(a > 1.45);
          Real x(start = 0, fixed = true);
        equation
          der(x) = hold(2*a + subSample(superSample(a, 2), 2));
        end M;";
    let result = simulate(text, 1.0);
    let mut x = 0.0;
    for tick in 0..10 {
        let (begin, middle) = (0.1 * f64::from(tick), 0.1 * f64::from(tick) + 0.05);
        assert_close(at(&result, "p", middle), if tick == 0 { 7.0 } else { 2.0 * (1.0 + begin - 0.1) });
        assert_close(at(&result, "s", middle), 1.0 + 0.3 * f64::from(tick / 3));
        assert_close(at(&result, "t", middle), begin);
        assert_close(at(&result, "d", middle), 0.1);
        assert_eq!(at(&result, "b", middle), f64::from(u8::from(tick >= 5)));
        let slope = 3.0 * (1.0 + begin);
        assert!((at(&result, "x", middle) - x - 0.05 * slope).abs() < 1e-9);
        x += 0.1 * slope;
    }
}

#[test]
fn expressions_before_their_first_tick() {
    let text = "model M
  Real a = sample(time, Clock(1, 10));
  Real late(start = 4) = shiftSample(a, 3);
  Real y = hold(2*late + 1);
end M;
";
    let result = simulate(text, 1.0);
    assert_close(at(&result, "y", 0.2), 9.0);
    assert_close(at(&result, "y", 0.35), 1.6);
    expect![[r#"
        warning[operand-without-start]: the operand of `hold` is an expression, which has no start value
          --> case.mo:4:12
           |
         4 |   Real y = hold(2*late + 1);
           |            ^^^^^^^^^^^^^^^^ here
           = before the first tick of its clock, the expression of the start values of its variables is used
           = help: give the expression a variable with a start value
           = see: Modelica specification, section 16.5
    "#]]
    .assert_eq(&messages(text));
}

#[test]
fn clocks_that_are_not_fractions_contradict_each_other() {
    let conflict = |declarations: &str, a: &str, b: &str| {
        let text = format!("model M {declarations}\n  Real a = sample(time, {a});\n  Real c = a + {b};\nend M;\n");
        messages(&text).lines().next().unwrap_or_default().to_owned()
    };
    expect!["error[clock-conflict]: the equations of `a`, `c` would tick every 0.1 s and every 0.3/2 s"]
        .assert_eq(&conflict("", "Clock(0.1)", "superSample(sample(time, Clock(0.3)), 2)"));
    expect!["error[clock-conflict]: the equations of `a`, `c` would tick every T s and every 0.1 s"]
        .assert_eq(&conflict("parameter Real T = 0.1;", "Clock(T)", "sample(time, Clock(1, 10))"));
    expect!["error[clock-conflict]: the equations of `a`, `c` would tick when `sin(10*time) > 0` becomes true and every 0.1 s"]
        .assert_eq(&conflict("", "Clock(sin(10*time) > 0)", "sample(time, Clock(1, 10))"));
    // Equal numbers, and parameters that are bound to one another, are one clock.
    assert_eq!(conflict("", "Clock(0.1)", "superSample(sample(time, Clock(0.2)), 2)"), "");
    assert_eq!(conflict("parameter Real T = 0.1; parameter Real S = T;", "Clock(T)", "sample(time, Clock(S))"), "");
}

/// What is held belongs to continuous time: an equation that joins it to clocked variables lacks a `sample`.
#[test]
fn held_values_are_not_clocked() {
    let refused = |equations: &str| {
        let text = format!("model M\n  Real u, x, y, z;\nequation\n  u = time;\n{equations}\nend M;\n");
        messages(&text).lines().next().unwrap_or_default().to_owned()
    };
    expect!["error[hold-in-clocked]: hold(u) is a value of continuous time, and stands in an equation that is clocked"]
        .assert_eq(&refused("  when Clock(0.25) then x = hold(u); end when;\n  y = 1;\n  z = 1;"));
    expect!["error[hold-in-clocked]: hold(x) is a value of continuous time, and stands in an equation that is clocked"]
        .assert_eq(&refused("  x = sample(u, Clock(0.25));\n  y = hold(x) + z;\n  z = sample(u, Clock(0.5));"));
    assert_eq!(refused("  x = sample(u, Clock(0.25));\n  y = sample(hold(x), Clock(0.5));\n  z = hold(y) + u;"), "");
    assert_eq!(refused("  x = sample(u, Clock(0.25));\n  y = previous(x) + x;\n  z = hold(y) + hold(x);"), "");
}

/// What is sampled belongs to continuous time: an equation that joins it to clocked variables lacks a `hold`.
#[test]
fn clocked_variables_are_not_sampled() {
    let refused = |equations: &str| {
        let text = format!("model M\n  Real u, x, y;\nequation\n  u = time;\n{equations}\nend M;\n");
        messages(&text).lines().next().unwrap_or_default().to_owned()
    };
    expect!["error[sample-of-clocked]: `sample` takes values of continuous time, and u is clocked"]
        .assert_eq(&refused("  when Clock(0.25) then x = sample(u); end when;\n  y = x + u;"));
    expect!["error[sample-of-clocked]: `sample` takes values of continuous time, and u is clocked"]
        .assert_eq(&refused("  when Clock(0.25) then x = sample(u) + u; end when;\n  y = 1;"));
    expect!["error[sample-of-clocked]: `sample` takes values of continuous time, and x is clocked"]
        .assert_eq(&refused("  when Clock(0.25) then x = 1; end when;\n  y = sample(x);"));
    assert_eq!(refused("  when Clock(0.25) then x = sample(u); end when;\n  y = hold(x) + u;"), "");
}

/// A function `cubic` with the inverse that it would have without its linear term, and with its true inverse.
fn with_inverse(declared: &str, body: &str) -> String {
    format!(
        "model M
          function cubic input Real x; output Real y; algorithm y := x^3 + x; annotation(inverse(x = {declared}(y))); end cubic;
          function untrue input Real y; output Real x; algorithm x := y^(1/3); end untrue;
          function cardano input Real y; output Real x; protected Real d; algorithm
            d := sqrt(y^2/4 + 1/27); x := (y/2 + d)^(1/3) - (d - y/2)^(1/3); end cardano;
          {body}
        end M;"
    )
}

/// The solution of x^3 + x = y.
fn cardano(y: f64) -> f64 {
    let d = (y * y / 4.0 + 1.0 / 27.0).sqrt();
    (y / 2.0 + d).cbrt() - (d - y / 2.0).cbrt()
}

#[test]
fn an_inverse_that_is_not_true_is_not_used_at_ticks() {
    for declared in ["untrue", "cardano"] {
        for body in [
            "Real u = sample(time, Clock(0.1)); Real x(start = 1); equation cubic(x) = 10 + u;",
            "Real u; Real x(start = 1); equation when Clock(0.1) then u = sample(time); cubic(x) = 10 + u; end when;",
            "parameter Real k = 10; Real u = sample(time, Clock(0.1)); Real x(start = 1), y; equation cubic(x) = k + y; y = u;",
        ] {
            let text = with_inverse(declared, body);
            let result = simulate(&text, 1.05);
            assert_close(at(&result, "x", 0.52), cardano(10.5));
            assert_close(at(&result, "x", 1.02), cardano(11.0));
        }
    }
}
