//! What decides about something discrete is watched wherever it stands: behind `and` and `or`, in branches that are not active,
//! in functions, without events of its own, in one structure and in modes. What contradicts itself is an error.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, complete, messages, run};

/// A Boolean that selects the structure and whose time is counted.
fn window(condition: &str) -> String {
    format!(
        "model M
           Real x(start = 0, fixed = true), z(start = 0, fixed = true);
           Boolean d;
           Real v1(start = 1, fixed = true), v2(start = 1, fixed = true), i;
         equation
           der(x) = 1;
           d = {condition};
           der(z) = if d then 1 else 0;
           der(v1) = -i - v1 + 1;
           der(v2) = i - v2;
           if d then v1 = v2; else i = 0; end if;
         end M;"
    )
}

#[test]
fn relations_behind_and_or_that_select_a_mode() {
    for (condition, expected) in [
        ("mod(time, 0.5) > 0.2 and mod(time, 0.5) < 0.4", 0.4),
        ("mod(time, 0.5) < 0.4 and mod(time, 0.5) > 0.2", 0.4),
        ("mod(time, 0.5) > 0.2 or mod(time, 0.5) < 0.1", 0.8),
        ("not (mod(time, 0.5) > 0.2 or mod(time, 0.5) < 0.1)", 0.2),
        ("x > 0.2 and x < 0.4 or x > 0.7", 0.5),
        ("(x > 0.3) <> (time > 0.5)", 0.2),
        ("if x > 0.3 then mod(x, 0.2) < 0.1 else x < 0.05", 0.35),
    ] {
        assert_near(complete(&window(condition), 1.0, 1e-8).end("z"), expected, 1e-6);
    }
}

#[test]
fn values_that_change_in_steps_make_events() {
    let functions = "function above input Real u; output Boolean y; algorithm y := u > 0.5; end above;
        function level input Real u; output Integer k; algorithm
          k := 0;
          while u > 0.25*(k + 1) loop k := k + 1; end while;
        end level;";
    for (condition, expected) in [
        ("sign(x - 0.5) > 0", 0.5),
        ("sign(x - 0.5) == -1", 0.5),
        ("(if noEvent(x > 0.5) then 1 else 0) > 0", 0.5),
        ("(if noEvent(x > 0.5) then 1.0 else 0.0) > 0.5", 0.5),
        ("abs(x - 0.5) < 0.1", 0.2),
        ("above(x)", 0.5),
        ("above(x) and x < 0.75", 0.25),
        ("not above(time)", 0.5),
        ("level(x) == 2", 0.25),
        ("level(x) >= 1 and level(x) <> 2", 0.5),
    ] {
        let text = format!("{functions} {}", window(condition));
        assert_near(complete(&text, 1.0, 1e-8).end("z"), expected, 1e-6);
        // The same in one structure.
        let plain = text.replace("if d then v1 = v2; else i = 0; end if;", "i = 0;");
        assert_near(complete(&plain, 1.0, 1e-8).end("z"), expected, 1e-6);
        // And where the condition stands in the equations, without a variable.
        let direct = text.replace("if d then v1", &format!("if {condition} then v1"));
        if !condition.contains("above") {
            assert_near(complete(&direct, 1.0, 1e-8).end("z"), expected, 1e-6);
        }
    }
}

#[test]
fn an_integer_follows_the_sign() {
    let text = "model M
        Real x(start = -0.4, fixed = true), w(start = 0, fixed = true);
        Integer k;
      equation
        der(x) = 1;
        k = sign(x);
        der(w) = k;
      end M;";
    let run = complete(text, 1.0, 1e-8);
    assert_near(run.end("w"), 0.6 - 0.4, 1e-8);
    assert_eq!(run.jumps("k").len(), 1);
}

#[test]
fn what_is_without_events_cannot_decide_about_a_boolean() {
    for equations in [
        "b = noEvent(x > 0.5);",
        "b = noEvent(x > 0.5) and time > 0.1;",
        "if noEvent(x > 0.5) then b = true; else b = false; end if;",
    ] {
        let text = format!(
            "model M
               Real x(start = 0, fixed = true);
               Boolean b;
             equation
               der(x) = 1;
               {equations}
             end M;"
        );
        let told = messages(&text);
        assert!(told.contains("error[variability]: `b` changes at events only, but x > 0.5 makes none"), "{told}");
        assert!(told.contains("leave out noEvent"), "{told}");
        assert!(told.contains("case.mo:6:"), "{told}");
    }
    // In a when clause it is looked at in an instant.
    let text = "model M
        Real x(start = 0, fixed = true);
        Boolean b(start = false, fixed = true);
      equation
        der(x) = 1;
        when time > 0.7 then
          b = noEvent(x > 0.5);
        end when;
      end M;";
    assert_eq!(complete(text, 1.0, 1e-6).end("b"), 1.0);
}

#[test]
fn a_relation_in_a_branch_that_is_entered_without_an_event() {
    // The branch has never been evaluated when it is entered.
    let text = "model M
        Real x(start = 0, fixed = true), w(start = 0, fixed = true);
      equation
        der(x) = 1;
        der(w) = if noEvent(x > 0.5) then (if sin(x)*exp(0.1*x)*cos(0.2*x) > -1 then 1 else 0) else 0;
      end M;";
    assert_near(complete(text, 1.0, 1e-8).end("w"), 0.5, 1e-5);
}

#[test]
fn a_relation_on_time_that_turns_where_it_is_zero() {
    let text = "model M
        Real z(start = 0, fixed = true);
        Boolean d;
      equation
        d = (if time > 0.6 then time else 1.2 - time) > 0.6;
        der(z) = if d then 1 else 0;
      end M;";
    assert_near(complete(text, 1.0, 1e-8).end("z"), 1.0, 1e-8);
}

#[test]
fn a_condition_that_is_true_from_the_start_has_no_edge() {
    // Also where the start values have to jump first.
    let text = "model M
        Real v1(start = 1, fixed = true), v2(start = 0, fixed = true), i;
        Boolean d = time < 0.5;
        Integer n(start = 0, fixed = true);
      equation
        der(v1) = -i;
        der(v2) = i;
        if d then v1 = v2; else i = 0; end if;
        when d then
          n = pre(n) + 1;
        end when;
      end M;";
    let run = run(text, 1.0);
    assert_eq!(run.end("n"), 0.0);
    assert_near(run.end("v1"), 0.5, 1e-9);
}

#[test]
fn a_discrete_loop_without_a_solution_names_the_loop() {
    let text = "model M
        Boolean b(start = false, fixed = true);
        Boolean c;
      equation
        c = time > 0.5 and not b;
        when c then
          b = true;
        end when;
      end M;";
    let failure = run(text, 1.0).failure();
    let expected =
        "error[no-consistent-configuration]: b, c depend on each other at time 0.5, and no value of them agrees";
    assert!(failure.contains(expected), "{failure}");
    assert!(failure.contains("in the loop: c = time > 0.5 and not b") && failure.contains("case.mo:7:"), "{failure}");
    assert!(failure.contains("write pre(b)"), "{failure}");
    // As advised.
    let run = complete(&text.replace("not b", "not pre(b)"), 1.0, 1e-6);
    assert_eq!((run.end("b"), run.end("c")), (1.0, 0.0));
}

#[test]
fn a_discrete_loop_across_a_change_of_structure_names_the_loop() {
    let clutch = |slipping: &str| {
        format!(
            "model Clutch
               Real w1(start = 1, fixed = true), w2(start = 1, fixed = true), tau;
               Boolean slip(start = false, fixed = true);
             equation
               der(w1) = -tau;
               2*der(w2) = tau - (if time < 0.5 then 1 else 10);
               if slip then tau = 2; else der(w1) = der(w2); end if;
               when {slipping} and abs(tau) > 2 then
                 slip = true;
               end when;
             end Clutch;"
        )
    };
    let failure = run(&clutch("not slip"), 1.0).failure();
    assert!(failure.contains("slip depends on itself at time 0.5"), "{failure}");
    assert!(failure.contains("write pre(slip)"), "{failure}");
    let run = complete(&clutch("not pre(slip)"), 1.0, 1e-8);
    assert_eq!(run.end("slip"), 1.0);
    // Together until 0.5 with the torque 1/3, then each by itself.
    assert_near(run.end("w1"), 1.0 - 0.5 / 3.0 - 1.0, 1e-6);
    assert_near(run.end("w2"), 1.0 - 0.5 / 3.0 - 2.0, 1e-6);
}

#[test]
fn collisions_that_are_many_but_not_infinite() {
    // Two bodies and a wall (Galperin): their numbers are the digits of pi.
    for (ratio, collisions) in [(100.0, 31.0), (10000.0, 314.0)] {
        let text = format!(
            "model M
               parameter Real M = {ratio};
               Real x(start = 1, fixed = true), X(start = 2, fixed = true);
               Real v(start = 0, fixed = true), V(start = -1, fixed = true);
               Integer n(start = 0, fixed = true);
             equation
               der(x) = v; der(X) = V; der(v) = 0; der(V) = 0;
               when X <= x then
                 reinit(v, ((1 - M)*pre(v) + 2*M*pre(V))/(1 + M));
                 reinit(V, ((M - 1)*pre(V) + 2*pre(v))/(1 + M));
                 n = pre(n) + 1;
               elsewhen x <= 0 then
                 reinit(v, -pre(v));
                 n = pre(n) + 1;
               end when;
             end M;"
        );
        assert_eq!(complete(&text, 20.0, 1e-8).end("n"), collisions);
    }
}

#[test]
fn a_relay_that_chatters_is_told() {
    // No sliding mode is followed: which of its branches is meant there, the model does not say.
    let text = "model M
        Real x(start = 0.5, fixed = true);
      equation
        der(x) = if x > 0 then -1 else 1;
      end M;";
    let failure = run(text, 1.0).failure();
    assert!(failure.contains("error[chattering]: x > 0 chatters at time 0.5"), "{failure}");
    assert!(failure.contains("add hysteresis"), "{failure}");
}

/// Parameters decide which unknowns equations hold, also by way of a variable: in each branch another variable is differentiated, and
/// one structure for both would be singular.
#[test]
fn a_branch_that_parameters_choose_is_the_structure() {
    let model = |value: f64, declaration: &str, condition: &str, equation: &str| {
        format!(
            "model M parameter Real T = {value}; {declaration} Real i, u, x(start = 1); equation {equation}
               0 = if {condition} then i - 1 else u - 2;
               i = if {condition} then 3*i - 2 + der(x) else 5*time;
               u + i = 2 + x; end M;"
        )
    };
    let forms = [("", "abs(T) <= 1e-15", ""), ("Real c, d;", "abs(c) <= 1e-15", "c = d; d = T;")];
    for (declaration, condition, equation) in forms {
        let run = complete(&model(0.0, declaration, condition, equation), 1.0, 1e-8);
        // i = 1, so der(x) = 0; u = 1 + x.
        assert_near(run.end("x"), 1.0, 1e-12);
        assert_near(run.end("u"), 2.0, 1e-12);
        let run = complete(&model(1.0, declaration, condition, equation), 1.0, 1e-8);
        // i = 5·t, u = 2, x = i.
        assert_near(run.end("x"), 5.0, 1e-12);
        assert_near(run.end("u"), 2.0, 1e-12);
    }
}
