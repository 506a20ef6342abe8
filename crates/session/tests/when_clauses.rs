//! When clauses as equations (specification 8.3.5 and 8.5): synchronous evaluation, conflicts, loops, propagation, `reinit`.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, complete, messages};
use expect_test::expect;

/// The sampled system of Otter, part 7: a plant of order two and a controller in matrices.
const SAMPLED: &str = "model SampledSystem
  parameter Real Ts = 0.1;
  parameter Real A[2, 2] = [0.5, 0.1; 0, 0.8], B[2, 1] = [1; 0.5], C[1, 2] = [0.3, -0.2], D[1, 1] = [0.7];
  parameter Real yr[1] = {1};
  Real y[1];
  discrete Real u[1](each start = 0, each fixed = true), xc[2](each start = 0, each fixed = true);
  Real xp[2](each start = 0, each fixed = true);
equation
  der(xp) = {xp[2], u[1] - xp[1] - 0.5*xp[2]};
  y = {xp[1]};
  when sample(0, Ts) then
    xc = A*pre(xc) + B*(yr - y);
    u = C*pre(xc) + D*(yr - y);
  end when;
end SampledSystem;";

#[test]
fn b1_sampled_system() {
    let run = complete(SAMPLED, 3.0, 1e-10);
    // The plant between samples by its own fine integration, the controller as the difference equations say.
    let slope = |x: [f64; 2], u: f64| [x[1], u - x[0] - 0.5 * x[1]];
    let (mut x, mut c) = ([0.0; 2], [0.0; 2]);
    for k in 0..30 {
        let e = 1.0 - x[0];
        let u = 0.3 * c[0] - 0.2 * c[1] + 0.7 * e;
        c = [0.5 * c[0] + 0.1 * c[1] + e, 0.8 * c[1] + 0.5 * e];
        let time = 0.1 * f64::from(k);
        for inside in [time + 0.03, time + 0.07] {
            assert_near(run.at("u[1]", inside), u, 1e-8);
            assert_near(run.at("xc[1]", inside), c[0], 1e-8);
            assert_near(run.at("xc[2]", inside), c[1], 1e-8);
        }
        let h = 0.1 / 64.0;
        for _ in 0..64 {
            let k1 = slope(x, u);
            let k2 = slope([x[0] + h / 2.0 * k1[0], x[1] + h / 2.0 * k1[1]], u);
            let k3 = slope([x[0] + h / 2.0 * k2[0], x[1] + h / 2.0 * k2[1]], u);
            let k4 = slope([x[0] + h * k3[0], x[1] + h * k3[1]], u);
            (0..2).for_each(|i| x[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        }
        assert_near(run.at("xp[1]", f64::from(k + 1) / 10.0), x[0], 1e-8);
    }
    assert_eq!((run.statistics.time_events, run.statistics.state_events), (30, 0));
}

#[test]
fn b1_the_controller_comes_between_output_and_plant() {
    let listing = common::equations(&SAMPLED.replace("y = {xp[1]}", "y = {2*xp[1]}"));
    let place = |text: &str| listing.rfind(text).unwrap_or_else(|| panic!("no `{text}` in\n{listing}"));
    let output = place("  y[1] :=");
    assert!(output < place("  xc[1] :=") && output < place("  u[1] :="), "{listing}");
    assert!(place("  u[1] :=") < place("  der(xp[2]) :="), "{listing}");
}

#[test]
fn b2_conflicting_whens_are_named() {
    let text = "model Valve
  Boolean close(start = false);
  Real h1 = 4 - time, h2 = time;
equation
  when h1 < 3 then
    close = true;
  end when;
  when h2 > 1 then
    close = false;
  end when;
end Valve;";
    expect![[r#"
        error[conflicting-whens]: `close` is assigned in two when clauses
          --> case.mo:6:5
           |
         6 |     close = true;
           |     ^^^^^^^^^^^^ first here
          ::: case.mo:9:5
           |
         9 |     close = false;
           |     ------------- and again here
           = help: join them with elsewhen, or write them in one algorithm section, where the later one wins
           = see: Modelica specification, section 8.3.5.2
    "#]]
    .assert_eq(&messages(text));
}

#[test]
fn b2_in_an_algorithm_the_later_when_wins() {
    // Both conditions become true at 1; at 2 the first alone.
    let text = "model Valve
        Boolean close(start = false, fixed = true);
        Integer n(start = 0, fixed = true);
        Real h1 = if time < 1.5 then 4 - time else 5.5 - 2*(time - 1.5) - 2, h2 = time;
      algorithm
        when h1 < 3 then
          close := true;
          n := pre(n) + 1;
        end when;
        when h2 > 1 then
          close := false;
        end when;
      end Valve;";
    let run = complete(text, 3.0, 1e-6);
    assert_eq!(run.at("close", 0.5), 0.0);
    assert_eq!((run.at("close", 1.2), run.at("n", 1.2)), (0.0, 1.0));
    assert_eq!((run.end("close"), run.end("n")), (1.0, 2.0));
}

#[test]
fn b3_a_loop_between_different_whens_is_shown() {
    let text = "model Loop
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  when time > 0.5 then
    x = y + 1;
  end when;
  when time > 0.7 then
    y = 2*x;
  end when;
end Loop;";
    expect![[r#"
        error[loop-across-whens]: `y`, `x` need each other at the same instant, across when clauses with different conditions
          --> case.mo:8:5
           |
         8 |     y = 2*x;
           |     ^^^^^^^ in the loop
          ::: case.mo:5:5
           |
         5 |     x = y + 1;
           |     --------- in the loop
           = help: use pre(…) of one of them to break the loop
           = see: Modelica specification, section 8.3.5.2
    "#]]
    .assert_eq(&messages(text));
    // Three of them, through an equation that always holds.
    let three = "model Loop
        Real x(start = 0, fixed = true), y(start = 0, fixed = true), z;
      equation
        when time > 0.5 then x = z; end when;
        z = y + 1;
        when time > 0.7 then y = 2*x; end when;
      end Loop;";
    assert!(messages(three).contains("loop-across-whens"), "{}", messages(three));
}

#[test]
fn b3_a_loop_between_equal_conditions_is_solved() {
    let text = "model Loop
        Real x(start = 0, fixed = true), y(start = 0, fixed = true);
      equation
        when time > 0.5 then x = y/2 + 1; end when;
        when time > 0.5 then y = x/2 + time; end when;
      end Loop;";
    let run = complete(text, 1.0, 1e-6);
    // x = y/2 + 1, y = x/2 + 1/2.
    assert_near(run.end("x"), 5.0 / 3.0, 1e-9);
    assert_near(run.end("y"), 4.0 / 3.0, 1e-9);
    assert_eq!((run.at("x", 0.4), run.at("y", 0.4)), (0.0, 0.0));
}

#[test]
fn b7_hysteresis_as_written() {
    let text = "model Hysteresis
        parameter Real H = 0.5;
        Real u = sin(time);
        discrete Real y(start = -1, fixed = true);
      equation
        when u > H or u < -H then
          y = if u > H then 1 else -1;
        end when;
      end Hysteresis;";
    let run = complete(text, 10.0, 1e-9);
    let pi = std::f64::consts::PI;
    let expected = [1.0, 7.0, 13.0, 19.0].map(|sixths| sixths * pi / 6.0);
    let jumps = run.jumps("y");
    assert_eq!(jumps.len(), expected.len(), "{}", run.log);
    jumps.iter().zip(expected).for_each(|(&jump, expected)| assert_near(jump, expected, 1e-9));
}

#[test]
fn b7_difference_equation_with_its_own_clock() {
    // The next value new(x) is x, the present one pre(x).
    let text = "model Difference
        parameter Real rate = 0.1, a = -0.5, b = 2;
        discrete Real next(start = 0.05, fixed = true), x(start = 0, fixed = true);
        Real u = time;
      equation
        when time >= pre(next) then
          next = pre(next) + rate;
          x = b*u - a*pre(x);
        end when;
      end Difference;";
    let run = complete(text, 1.0, 1e-6);
    let (mut time, mut x) = (0.05, 0.0);
    while time < 1.0 {
        x = 0.5 * x + 2.0 * time;
        assert_near(run.at("x", time + 0.05), x, 1e-12);
        time += 0.1;
    }
    assert_eq!(run.statistics.time_events, 10);
}

#[test]
fn b8_events_propagate_across_submodels() {
    let text = "package P
      connector BooleanOutput = output Boolean;
      connector BooleanInput = input Boolean;
      block Above
        parameter Real limit;
        Real u;
        BooleanOutput y;
      equation
        y = u > limit;
      end Above;
      block Join \"a = b and c or d\"
        BooleanInput b, c, d;
        BooleanOutput a;
      equation
        a = b and c or d;
      end Join;
      block Count
        BooleanInput u;
        Integer n(start = 0, fixed = true);
        BooleanOutput odd;
      equation
        when u then
          n = pre(n) + 1;
        end when;
        odd = mod(n, 2) == 1;
      end Count;
      model Whole
        Above b(limit = 0), c(limit = 0.5), d(limit = 3);
        Join join;
        Count count, second;
      equation
        b.u = sin(time);
        c.u = sin(2*time);
        d.u = time;
        connect(b.y, join.b);
        connect(c.y, join.c);
        connect(d.y, join.d);
        connect(join.a, count.u);
        connect(count.odd, second.u);
      end Whole;
    end P;";
    let run = complete(text, 4.0, 1e-8);
    let pi = std::f64::consts::PI;
    // sin(2t) > ½ between π/12 and 5π/12, then d from 3 on.
    let jumps = run.jumps("join.a");
    let expected = [pi / 12.0, 5.0 * pi / 12.0, 3.0];
    assert_eq!(jumps.len(), 3, "{}", run.log);
    jumps.iter().zip(expected).for_each(|(&jump, expected)| assert_near(jump, expected, 1e-9));
    assert_eq!((run.end("count.n"), run.end("second.n")), (2.0, 1.0));
    // What depends on an event at an instant changes at that instant.
    assert_eq!(run.jumps("count.odd"), [jumps[0], jumps[2]]);
    assert_eq!(run.jumps("second.n"), [jumps[0]]);
}

#[test]
fn reinit_takes_place_once_and_for_states() {
    let saw = "model Saw
        Real x(start = 1, fixed = true);
        Integer n(start = 0, fixed = true);
      equation
        der(x) = -1;
        when x < 0.5 then
          reinit(x, pre(x) + 0.5);
          n = pre(n) + 1;
        end when;
      end Saw;";
    let run = complete(saw, 3.25, 1e-9);
    assert_near(run.end("x"), 0.75, 1e-9);
    assert_eq!(run.end("n"), 6.0);

    let twice = "model Twice
        Real x(start = 1, fixed = true);
      equation
        der(x) = -1;
        when x < 0.5 then reinit(x, 1); end when;
        when x < 0.7 then reinit(x, 2); end when;
      end Twice;";
    assert!(messages(twice).contains("`x` is set by reinit in two when clauses"), "{}", messages(twice));

    // A common condition does not make one clause of two.
    let common = "model Common
        Boolean d = time > 0.5, e = time > 0.7;
        Real x(start = 1, fixed = true);
      equation
        der(x) = -1;
        when d then reinit(x, 1); end when;
        when {d, e} then reinit(x, 2); end when;
      end Common;";
    assert!(messages(common).contains("`x` is set by reinit in two when clauses"), "{}", messages(common));
    let branches = "model Branches
        Boolean d = time > 0.5, e = time > 0.7;
        Real x(start = 1, fixed = true);
      equation
        der(x) = -1;
        when d then
          if e then reinit(x, 1); else reinit(x, 2); end if;
        elsewhen {d, e} then
          reinit(x, 3);
        end when;
      end Branches;";
    assert_near(complete(branches, 1.0, 1e-9).end("x"), 2.7, 1e-8);

    let elsewhen = "model Elsewhen
        Real x(start = 1, fixed = true);
      equation
        der(x) = -1;
        when x < 0.5 then reinit(x, 1); elsewhen x < 0.7 then reinit(x, pre(x)); end when;
      end Elsewhen;";
    assert_near(complete(elsewhen, 0.75, 1e-9).end("x"), 0.75, 1e-9);

    // What the model does not differentiate becomes the state instead of what it does.
    let other = "model Other
        Real x(start = 1, fixed = true), y;
      equation
        der(x) = -1;
        y = 2*x;
        when x < 0.5 then reinit(y, 1.5); end when;
      end Other;";
    assert_near(complete(other, 0.6, 1e-9).end("x"), 0.65, 1e-9);

    let none = "model None
        Real x(start = 1, fixed = true), y;
      equation
        der(x) = -1;
        y = time;
        when x < 0.5 then reinit(y, 1.5); end when;
      end None;";
    assert!(messages(none).contains("`y` is set by reinit, but it is not a state"), "{}", messages(none));
}

#[test]
fn the_first_and_the_last_instant() {
    let text = "model Ends
        Real x(start = 2, fixed = true);
        discrete Real first(start = 0), last(start = 0, fixed = true);
        Boolean isFirst = initial();
      equation
        der(x) = 1;
        when {initial(), x > 2.5} then
          first = x;
        end when;
        when terminal() then
          last = x;
        end when;
      end Ends;";
    let run = complete(text, 1.0, 1e-9);
    assert_near(run.at("first", 0.2), 2.0, 1e-12);
    assert_near(run.at("first", 0.7), 2.5, 1e-9);
    assert_eq!(run.at("last", 0.7), 0.0);
    assert_near(run.end("last"), 3.0, 1e-9);
    assert_eq!(run.at("isFirst", 0.5), 0.0);
}

#[test]
fn events_at_the_start_and_at_the_stop() {
    let text = "model Ends
        Real w(start = 0, fixed = true);
        Integer early(start = 0, fixed = true), late(start = 0, fixed = true), ticks(start = 0, fixed = true);
      equation
        der(w) = if w <= 0 then 5 else 1;
        when time >= 0 then early = pre(early) + 1; end when;
        when time >= 1 then late = pre(late) + 1; end when;
        when sample(0, 0.25) then ticks = pre(ticks) + 1; end when;
      end Ends;";
    let run = complete(text, 1.0, 1e-9);
    // A condition that is true from the beginning never becomes true.
    assert_eq!((run.end("early"), run.end("late"), run.end("ticks")), (0.0, 1.0, 5.0));
    // The branch for w <= 0 holds for no time.
    assert_near(run.end("w"), 1.0, 1e-9);
}

#[test]
fn an_iteration_without_end_shows_its_cycle_and_where() {
    let text = "model Restless
  Boolean a(start = false, fixed = true), b(start = false, fixed = true);
equation
  a = not pre(b);
  b = if time > 0.5 then pre(a) else false;
end Restless;";
    let failure = common::run(text, 1.0).failure();
    for part in [
        "error[event-iteration]: the event at time 0.5",
        "never comes to rest: after 200 iterations b, a still change",
        "case.mo:2:43",
        "then b becomes true\n",
        "then a becomes false\n",
        "then b becomes false\n",
        "then a becomes true\n",
    ] {
        assert!(failure.contains(part), "no `{part}` in\n{failure}");
    }
}

#[test]
fn equal_signals_may_begin_with_different_left_limits() {
    // Two blocks that look at one signal and at its negation, each with its own first left limit.
    let text = "package P
      block Rising
        input Boolean u;
        output Boolean y;
        parameter Boolean before = false;
      initial equation
        pre(u) = before;
      equation
        y = u and not pre(u);
      end Rising;
      model M
        Boolean u = time > 0.5, v = not u;
        Rising first(u = u), second(u = v), third(u = u, before = true);
        Integer n(start = 0, fixed = true);
      equation
        when {first.y, second.y, third.y} then
          n = pre(n) + 1;
        end when;
      end M;
    end P;";
    let run = complete(text, 1.0, 1e-6);
    // At 0.5 the first and the third at once.
    assert_eq!(run.end("n"), 1.0, "{}", run.log);
}

/// A signal that is held from the start has the value of its initial equation as its left limit; a block that is connected to it
/// says its own.
#[test]
fn a_left_limit_beside_a_value_that_is_held() {
    for before in [false, true] {
        for declared in
            ["input Boolean u(start = before, fixed = true);", "input Boolean u; initial equation pre(u) = before;"]
        {
            let text = format!(
                "package P
                  block Rising
                    parameter Boolean before = false;
                    output Boolean y = edge(u);
                    {declared}
                  end Rising;
                  block Pulse
                    output Boolean y;
                  initial algorithm
                    y := true;
                  equation
                    when sample(0.5, 1) then
                      y = false;
                    elsewhen sample(1, 1) then
                      y = true;
                    end when;
                  end Pulse;
                  model M
                    Pulse pulse;
                    Rising rising(before = {before});
                    Boolean rose(start = false, fixed = true);
                    Integer n(start = 0, fixed = true);
                  equation
                    rising.u = pulse.y;
                    when initial() then
                      rose = rising.y;
                    end when;
                    when rising.y then
                      n = pre(n) + 1;
                    end when;
                  end M;
                end P;"
            );
            // At the start it rises where the block says that it was false.
            let run = complete(&text, 2.2, 1e-6);
            assert_eq!(run.end("rose"), f64::from(!before), "{}", run.log);
            assert_eq!(run.end("n"), 2.0, "{}", run.log);
        }
    }
}

/// At the instant at which a relation on time becomes true it is so inside of when clauses too: `time` counts as just behind.
#[test]
fn relations_on_time_hold_in_the_clauses_that_they_activate() {
    let declarations = "parameter Real T = 0.37; discrete Real next(start = 0.37, fixed = true);
      Integer y(start = 0, fixed = true); Boolean b = time > 0.37; Boolean later(start = false, fixed = true);
      function f input Boolean b; output Integer n; algorithm n := if b then 2 else 1; end f;";
    let sections = [
        "equation when time > 0.37 then y = if time > 0.37 then 2 else 1; end when;",
        "equation when not time <= 0.37 then y = if time <= 0.37 then 1 else 2; end when;",
        "equation when b then y = if time > 0.37 then 2 else 1; end when;",
        "equation when time > 0.37 then y = f(time > 0.37); end when;",
        "equation when 3*time > 1.11 then y = if 3*time > 1.11 then 2 else 1; end when;",
        "equation when time - 0.37 > 0 then y = if time - 0.37 > 0 then 2 else 1; end when;",
        "equation when time > 0.37 then y = if not 0.37 >= time then 2 else 1; end when;",
        "equation when time > T then y = if T < time then 2 else 1; end when;",
        "equation when time > 0.37 then assert(time > 0.37, \"too early\"); y = 2; end when;",
        "equation when time > 0.37 then later = true; end when; when later then y = if time > 0.37 then 2 else 1; end when;",
        "equation when time >= 0.37 then y = if time >= 0.37 then 2 else 1; end when;",
        "equation when time >= 0.37 then y = if time < 0.37 then 1 else 2; end when;",
        "equation when time > pre(next) then y = if time > pre(next) then 2 else 1; next = pre(next) + 1; end when;",
        "algorithm when time > T then if time > T then y := 2; else y := 1; end if; end when;",
    ];
    for section in sections {
        let mut declarations = declarations.to_owned();
        if !section.contains("next =") {
            declarations = declarations.replace("discrete Real next(start = 0.37, fixed = true);", "");
        }
        if !section.contains("later =") {
            declarations = declarations.replace("Boolean later(start = false, fixed = true);", "");
        }
        let run = complete(&format!("model M {declarations} {section} end M;"), 1.0, 1e-6);
        assert_eq!(run.end("y"), 2.0, "{section}\n{}", run.log);
    }
}

/// An event of `time > c` lies just behind the instant for every relation on time of the clause, however it is written; `time`
/// itself is the instant, and so are relations that make no events by definition.
#[test]
fn relations_on_time_are_those_behind_the_instant() {
    let declared = "parameter Real a = 0.37, b = 0.37, T[2] = {0.37, 0.37}; Real t2 = 2*time, t4 = 2*t2;
        Integer n = 2 + integer(time/5), k(start = 1, fixed = true);
        function f input Real t; output Integer y; algorithm y := if t > 0.37 then 1 else 2; end f;";
    let relations = [
        ("time > a", 1.0),
        ("time > b", 1.0),
        ("time >= a", 1.0),
        ("not time <= b", 1.0),
        ("2*time > 0.74", 1.0),
        ("time - a > 0", 1.0),
        ("0 < time - 0.37", 1.0),
        ("a - 3*time < -2*b", 1.0),
        ("t2 > 0.74", 1.0),
        ("t4 > 4*a", 1.0),
        ("max(time, 0) > b", 1.0),
        ("time^2 > a^2", 1.0),
        ("time > T[pre(k)]", 1.0),
        ("time > 0.371", 2.0),
        ("time < 0.369", 2.0),
        ("noEvent(time > a)", 2.0),
        ("noEvent(2*time > 2*a)", 2.0),
    ];
    for (relation, expected) in relations {
        let equation = format!(
            "model M {declared} discrete Real y(start = 0, fixed = true), t(start = 0, fixed = true);
             equation when time > a then y = if {relation} then 1 else 2; t = time; k = pre(k) + 1; end when; end M;"
        );
        let run = complete(&equation, 1.0, 1e-6);
        assert_eq!((run.end("y"), run.end("t")), (expected, 0.37), "{relation}");
        // The same in a loop at run time.
        let statement = format!(
            "model M {declared} Integer y(start = 0, fixed = true);
             algorithm when time > a then y := 0; k := k + 1; for i in 1:n loop y := y + (if {relation} then 1 else 2); end for;
             end when; end M;"
        );
        assert_eq!(complete(&statement, 1.0, 1e-6).end("y"), 2.0 * expected, "{relation} in a loop");
    }
    // What a function computes of time, it computes of the instant.
    let run = complete(
        &format!(
            "model M {declared} Integer y(start = 0, fixed = true); equation when time > a then y = f(time); k = 2; end when; end M;"
        ),
        1.0,
        1e-6,
    );
    assert_eq!(run.end("y"), 2.0);
    // At an instant that no relation on time makes, relations are as they are written.
    let run = complete(
        "model M Integer y(start = 0, fixed = true); equation
           when sample(0.25, 0.25) then y = pre(y) + (if time > 0.5 then 10 else 1); end when; end M;",
        0.9,
        1e-6,
    );
    assert_eq!(run.end("y"), 12.0);
}

/// Loops and reductions over ranges at run time.
#[test]
fn loops_at_run_time_see_the_relations_of_their_when_clause() {
    let cases = [
        ("for i in 1:n loop if time > 0.37 then y := y + 1; end if; end for;", 2.0),
        ("while time > 0.37 and y < n - 1 loop y := y + 1; end while;", 1.0),
        ("y := sum(if time > 0.37 then 1 else 0 for i in 1:n);", 2.0),
        ("for i in 1:n loop if time > 0.37*i then y := y + 1; end if; end for;", 1.0),
        ("for i in 1:n loop if t2 > 0.74 then y := y + 1; end if; end for;", 2.0),
        ("for i in 1:n loop if x > 0.37 then y := y + 1; end if; end for;", 0.0),
    ];
    for (statements, expected) in cases {
        let model = format!(
            "model M Integer n = 2 + integer(time/5); Integer y(start = 0, fixed = true); Real t2 = 2*time;
               Real x(start = -1, fixed = true); equation der(x) = 1;
             algorithm when time > 0.37 then y := 0; {statements} end when; end M;"
        );
        assert_eq!(complete(&model, 1.0, 1e-6).end("y"), expected, "{statements}");
    }
}

/// A block that is written for the proper and the strictly proper case computes its direct gain by equations. Where that is zero, the
/// block closes no loop, also not across when clauses.
#[test]
fn a_gain_that_equations_make_zero_closes_no_loop() {
    let text = "model M
      parameter Real numerator[:] = {1};
      parameter Real b = 2;
      Real a[2], direct, u, v(start = 0), y, z;
      Real w(start = 0, fixed = true);
    equation
      a[1:1] = zeros(1);
      a[2:2] = numerator[1:1];
      direct = a[1]/b;
      der(w) = u - w;
      y = direct*u + w;
      z = direct*v + w;
      when sample(0, 0.1) then
        v = 1 - y;
      end when;
      when sample(0, 0.3) then
        u = 1 - z;
      end when;
    end M;";
    // Up to the second sample of u it is 1 - w(0) = 1.
    let run = common::complete(text, 0.25, 1e-8);
    common::assert_near(run.end("y"), 1.0 - (-0.25f64).exp(), 1e-7);
    common::assert_near(run.end("v"), (-0.2f64).exp(), 1e-7);
}
