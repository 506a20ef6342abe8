//! State machines (specification 17) from text to numbers. The expected sequences are worked out by hand from 17.3, one
//! number for each tick.
#![allow(clippy::unwrap_used)]

mod common;

use common::simulate;

/// The values of variables behind each tick of a clock, one line a variable.
#[track_caller]
fn expect_ticks(text: &str, interval: f64, expected: &[(&str, &[f64])]) {
    let count = expected.iter().map(|(_, values)| values.len()).max().unwrap();
    let result = simulate(text, interval * count as f64 - 0.25 * interval);
    for (name, values) in expected {
        let found: Vec<f64> = (0..values.len())
            .map(|tick| result.at(name, interval * (tick as f64 + 0.5)).unwrap_or_else(|| panic!("no `{name}`")))
            .collect();
        assert_eq!(&found, values, "{name}");
    }
}

const COUNT: &str = "block Count
  Integer i(start = 0);
equation
  i = previous(i) + 1;
end Count;
block Empty
end Empty;
";

fn model(body: &str) -> String {
    format!("{COUNT}model M\n{body}\nend M;")
}

/// A counter that ticks at every instant of the machine.
const CLOCK: &str = "Integer n(start = 0) = previous(n) + 1;";

#[test]
fn delayed_transitions_and_reset() {
    let text = model(
        "Count a; Count b;
        equation
          initialState(a);
          transition(a, b, a.i >= 3, immediate = false);
          transition(b, a, b.i >= 2, immediate = false);",
    );
    let a = [1., 2., 3., 3., 3., 1., 2., 3., 3., 3., 1.];
    let b = [0., 0., 0., 1., 2., 2., 2., 2., 1., 2., 2.];
    expect_ticks(&text, 1.0, &[("a.i", &a), ("b.i", &b)]);
}

#[test]
fn without_reset_a_state_goes_on_where_it_was() {
    let text = model(
        "Count a; Count b;
        equation
          initialState(a);
          transition(a, b, a.i >= 3, immediate = false);
          transition(b, a, b.i >= 2, immediate = false, reset = false);",
    );
    let a = [1., 2., 3., 3., 3., 4., 4., 4., 5., 5., 5.];
    let b = [0., 0., 0., 1., 2., 2., 1., 2., 2., 1., 2.];
    expect_ticks(&text, 1.0, &[("a.i", &a), ("b.i", &b)]);
}

#[test]
fn immediate_transitions_fire_at_once_but_for_the_first_tick() {
    let text = model(&format!(
        "{CLOCK}
        Empty a; Empty b; Empty c; Empty d;
        equation
          initialState(a);
          transition(a, b, n >= 4);
          initialState(c);
          transition(c, d, n >= 1);
          transition(d, c, n >= 1);"
    ));
    let a = [1., 1., 1., 0., 0.];
    let c = [1., 0., 1., 0., 1.];
    expect_ticks(&text, 1.0, &[("a.active", &a), ("c.active", &c)]);
}

#[test]
fn the_smallest_priority_fires_also_a_delayed_one() {
    let text = model(&format!(
        "{CLOCK}
        Empty a; Empty b; Empty c;
        Empty p; Empty q; Empty r;
        equation
          initialState(a);
          transition(a, b, n >= 3, priority = 2);
          transition(a, c, n >= 3, priority = 1);
          initialState(p);
          transition(p, q, n >= 3, priority = 2);
          transition(p, r, n >= 2, immediate = false, priority = 1);"
    ));
    expect_ticks(&text, 1.0, &[("c.active", &[0., 0., 1., 1.]), ("r.active", &[0., 0., 1., 1.])]);
}

#[test]
fn ticks_in_a_state() {
    // Five ticks with a delayed transition; with an immediate one the fifth is not reached. A transition to the state
    // itself begins anew.
    let text = model(
        "block Ticks
          Integer n(start = 0) = ticksInState();
        end Ticks;
        Ticks a; Empty b; Ticks c; Empty d; Ticks e;
        equation
          initialState(a);
          transition(a, b, ticksInState() >= 5, immediate = false);
          initialState(c);
          transition(c, d, ticksInState() >= 5);
          initialState(e);
          transition(e, e, ticksInState() >= 3, immediate = false);",
    );
    let a = [1., 2., 3., 4., 5., 5., 5.];
    let b = [0., 0., 0., 0., 0., 1., 1.];
    let c = [1., 2., 3., 4., 4., 4., 4.];
    let d = [0., 0., 0., 0., 1., 1., 1.];
    let e = [1., 2., 3., 1., 2., 3., 1.];
    expect_ticks(&text, 1.0, &[("a.n", &a), ("b.active", &b), ("c.n", &c), ("d.active", &d), ("e.n", &e)]);
}

#[test]
fn time_in_a_state() {
    // Ticks at 0, 0.5, 1 …: b becomes active at 1.5, when a has been active for 1 s at the tick before.
    let text = model(
        "block Time
          Real t(start = -1) = timeInState();
        end Time;
        Time a; Time b; Time c; Empty d;
        Real clock = sample(time, Clock(1, 2));
        equation
          initialState(a);
          transition(a, b, timeInState() >= 1 and clock >= 0, immediate = false);
          initialState(c);
          transition(c, d, timeInState() >= 1 and clock >= 0);",
    );
    let a = [0., 0.5, 1., 1., 1., 1.];
    let b = [-1., -1., -1., 0., 0.5, 1.];
    let c = [0., 0.5, 0.5, 0.5, 0.5, 0.5];
    expect_ticks(&text, 0.5, &[("a.t", &a), ("b.t", &b), ("c.t", &c)]);
}

const NESTED: &str = "inner Integer v(start = 0);
block Work
  inner outer output Integer v;
  block Up
    outer output Integer v;
  equation
    v = previous(v) + 3;
  end Up;
  Up up;
  Empty stop;
  Count wait;
  Empty ready;
equation
  initialState(up);
  transition(up, stop, v >= 8, immediate = false);
  initialState(wait);
  transition(wait, ready, wait.i >= 5, immediate = false);
end Work;
block Rest
  outer output Integer v;
equation
  v = previous(v) - 2;
end Rest;
Work work;
Rest rest;
equation
  initialState(work);
  transition(work, rest, true, immediate = false, synchronize = true);
";

#[test]
fn two_machines_inside_a_state_that_is_left_when_both_have_finished() {
    let text = model(&format!("{NESTED}transition(rest, work, v <= 2, immediate = false);"));
    let v = [3., 6., 9., 9., 9., 9., 7., 5., 3., 1., 4., 7., 10., 10., 10., 10., 8.];
    let i = [1., 2., 3., 4., 5., 5., 5., 5., 5., 5., 1., 2., 3., 4., 5., 5., 5.];
    let rest = [0., 0., 0., 0., 0., 0., 1., 1., 1., 1., 0., 0., 0., 0., 0., 0., 1.];
    expect_ticks(&text, 1.0, &[("v", &v), ("work.v", &v), ("work.wait.i", &i), ("rest.active", &rest)]);
}

#[test]
fn without_reset_the_machines_inside_go_on_in_their_states() {
    let text = model(&format!("{NESTED}transition(rest, work, v <= 2, immediate = false, reset = false);"));
    let v = [3., 6., 9., 9., 9., 9., 7., 5., 3., 1., 1., -1., -1., -3., -3.];
    let stop = [0., 0., 0., 1., 1., 1., 0., 0., 0., 0., 1., 0., 1., 0., 1.];
    expect_ticks(&text, 1.0, &[("v", &v), ("work.stop.active", &stop)]);
}

#[test]
fn a_state_is_reset_when_it_becomes_active_the_next_time() {
    // The second entry of `outer` resets the machine inside and `p` at once, `q` only when it becomes active, though the
    // transition to it does not reset.
    let text = model(
        "block Outer
          Count p; Count q;
        equation
          initialState(p);
          transition(p, q, p.i >= 2, immediate = false, reset = false);
        end Outer;
        Outer outer_; Empty pause;
        equation
          initialState(outer_);
          transition(outer_, pause, ticksInState() >= 4, immediate = false);
          transition(pause, outer_, true, immediate = false);",
    );
    let p = [1., 2., 2., 2., 2., 1., 2., 2., 2., 2., 1.];
    let q = [0., 0., 1., 2., 2., 2., 2., 1., 2., 2., 2.];
    expect_ticks(&text, 1.0, &[("outer_.p.i", &p), ("outer_.q.i", &q)]);
}

#[test]
fn a_counter_of_the_block_around_is_reset_with_that_block() {
    let text = model(
        "block Outer
          inner Integer total(start = 10);
          block Add
            outer output Integer total;
          equation
            total = previous(total) + 1;
          end Add;
          Add add; Empty idle;
        equation
          initialState(add);
          transition(add, idle, true, immediate = false);
          transition(idle, add, true, immediate = false);
        end Outer;
        Outer work; Empty pause;
        equation
          initialState(work);
          transition(work, pause, ticksInState() >= 3, immediate = false);
          transition(pause, work, true, immediate = false);",
    );
    expect_ticks(&text, 1.0, &[("work.total", &[11., 11., 12., 12., 11., 11., 12., 12.])]);
}

#[test]
fn connected_outputs_of_states_follow_the_active_one() {
    let text = model(
        "connector Out = output Real;
        connector In = input Real;
        block Gain
          parameter Real k;
          Out y;
        equation
          y = k*sample(time);
        end Gain;
        block Sink
          In u;
        end Sink;
        Gain a(k = 1); Gain b(k = 2); Empty c; Sink sink;
        equation
          connect(a.y, sink.u);
          connect(b.y, sink.u);
          initialState(a);
          transition(a, b, ticksInState() >= 2, immediate = false);
          transition(b, c, ticksInState() >= 2, immediate = false);",
    );
    expect_ticks(&text, 1.0, &[("sink.u", &[0., 1., 4., 6., 6., 6.])]);
}

#[test]
fn algorithms_and_assertions_of_states() {
    let text = model(
        "inner Integer v(start = 0);
        block Steps
          outer output Integer v;
          Integer n(start = 0);
          Real half;
        algorithm
          n := n + 1;
          if n > 2 then
            v := 10*n;
          end if;
          half := n/2;
          assert(n < 5, \"never reached\");
        end Steps;
        Steps steps; Empty done;
        equation
          initialState(steps);
          transition(steps, done, steps.n == 4, immediate = false);",
    );
    expect_ticks(&text, 1.0, &[("v", &[0., 0., 30., 40., 40., 40.]), ("steps.half", &[0.5, 1., 1.5, 2., 2., 2.])]);
}

#[test]
fn states_of_an_array() {
    let text = model(
        "Count s[4];
        equation
          initialState(s[1]);
          for k in 1:3 loop
            transition(s[k], s[k + 1], s[k].i >= k, immediate = false);
          end for;
          transition(s[4], s[1], true, immediate = false);",
    );
    let fourth = [0., 0., 0., 0., 0., 0., 1., 0., 0., 0., 0., 0., 0., 1.];
    expect_ticks(&text, 1.0, &[("s[4].active", &fourth), ("s[3].i", &[0., 0., 0., 1., 2., 3., 3., 3., 3., 3., 1.])]);
}

#[test]
fn integrated_variables_of_states_are_suspended_and_reset() {
    // der(x) = 2 by the explicit Euler method at ticks 0.5 s apart: one more at each tick but the first of a stay. The state
    // is active at three ticks, pauses at two, and begins anew.
    let text = model(
        "block Integrator
          Real x(start = 5);
        equation
          der(x) = 2;
        end Integrator;
        Integrator a; Empty b;
        Real clock = sample(time, Clock(Clock(1, 2), solverMethod = \"ExplicitEuler\"));
        equation
          initialState(a);
          transition(a, b, ticksInState() >= 3 and clock >= 0, immediate = false);
          transition(b, a, ticksInState() >= 2, immediate = false);",
    );
    expect_ticks(&text, 0.5, &[("a.x", &[5., 6., 7., 7., 7., 5., 6., 7., 7.])]);
    let text =
        text.replace("transition(b, a, ticksInState() >= 2,", "transition(b, a, ticksInState() >= 2, reset = false,");
    expect_ticks(&text, 0.5, &[("a.x", &[5., 6., 7., 7., 7., 7., 8., 9., 9., 9., 9., 10.])]);
}

#[test]
fn inputs_of_states_and_implicit_equations() {
    // 2x + y = 6n, x - y = 0 has x = y = 2n; n is 1, 2, 3 … and the state is left after n = 3.
    let text = model(&format!(
        "{CLOCK}
        block Two
          input Real u;
          Real x; Real y;
        equation
          2*x + y = 6*u;
          x - y = 0;
        end Two;
        Two two; Empty other;
        equation
          two.u = n;
          initialState(two);
          transition(two, other, n >= 3, immediate = false);"
    ));
    let x = [2., 4., 6., 6., 6.];
    expect_ticks(&text, 1.0, &[("two.x", &x), ("two.y", &x), ("two.u", &[1., 2., 3., 4., 5.])]);
}

/// What a state says about a variable around it may be an equation that is solved by Newton's method, also where an annotation
/// names an inverse that is none.
#[test]
fn equations_of_states_are_solved_numerically() {
    let text = "model M
        function cubic input Real x; output Real y; algorithm y := x^3 + x; annotation(inverse(x = root(y))); end cubic;
        function root input Real y; output Real x; algorithm x := y^(1/3); end root;
        inner Real w(start = 1);
        block A outer output Real w; Real v(start = 1); equation cubic(w) = 10 + 0.1*previous(w); cubic(v) = 30; end A;
        block B outer output Real w; equation w^3 + exp(w) = 20; end B;
        block C outer output Real w; equation w = previous(w) + 1; end C;
        A a; B b; C c;
        Real t = sample(time, Clock(0.1));
      equation
        initialState(a); transition(a, b, t > 0.35); transition(b, c, t > 0.55);
      end M;";
    let result = simulate(text, 1.0);
    let w = |time: f64| result.at("w", time).unwrap_or(f64::NAN);
    let mut before = 1.0;
    for tick in 0..9 {
        let (time, after) = (0.1 * f64::from(tick), w(0.1 * f64::from(tick) + 0.05));
        let residual = match tick {
            ..=3 => after * after * after + after - 10.0 - 0.1 * before,
            4..=5 => after * after * after + after.exp() - 20.0,
            _ => after - before - 1.0,
        };
        assert!(residual.abs() < 1e-6, "{residual} at {time}");
        before = after;
    }
    let v = result.at("a.v", 0.25).unwrap_or(f64::NAN);
    assert!((v * v * v + v - 30.0).abs() < 1e-6, "{v}");
}
