//! Discrete variables at the start and at the end of a run (specification 8.6, 3.7.5): when clauses with `initial()`, left
//! limits of the initial problem, fixed start values of equal variables, `terminal()`.
#![allow(clippy::unwrap_used)]

mod common;

use common::{messages, run_messages, simulate};
use results::Trajectories;

#[track_caller]
fn expect_at(result: &Trajectories, time: f64, expected: &[(&str, f64)]) {
    for &(name, value) in expected {
        assert_eq!(result.at(name, time), Some(value), "{name} at {time}");
    }
}

#[test]
fn reinit_under_initial_is_an_initial_equation() {
    let text = "model M
      parameter Boolean steady = false;
      Real x(start = 1), y(start = 1);
    equation
      der(x) = 0;
      der(y) = 0;
      when {initial(), time > 2} then
        reinit(x, 5);
        if not (initial() and steady) then
          reinit(y, 6);
        end if;
      end when;
    end M;";
    expect_at(&simulate(text, 1.0), 0.0, &[("x", 5.0), ("y", 6.0)]);
    let fixed = text.replace("x(start = 1)", "x(start = 1, fixed = true)");
    assert!(run_messages(&fixed).contains("contradicts"), "{}", run_messages(&fixed));
    let unknown = text.replace("initial() and steady", "x > 3");
    assert!(messages(&unknown).contains("conditional-initial-equation"), "{}", messages(&unknown));
}

#[test]
fn assertions_under_initial_are_checked() {
    for section in ["equation", "algorithm"] {
        let text = format!(
            "model M
              Real x = time;
            {section}
              when initial() then
                assert(false, \"wrong from the start\");
              end when;
            end M;"
        );
        assert!(run_messages(&text).contains("wrong from the start"), "{}", run_messages(&text));
    }
}

#[test]
fn left_limits_in_a_clause_with_its_own_condition() {
    let text = "model M
      Boolean b(start = false, fixed = true);
      Integer m(start = 7, fixed = true), c(start = 7, fixed = true);
    equation
      when time > 2 then
        b = not pre(b);
      end when;
      when {b, initial()} then
        m = if pre(b) then 1 else 2;
        c = if change(b) then 1 else 2;
      end when;
    end M;";
    expect_at(&simulate(text, 1.0), 0.0, &[("m", 2.0), ("c", 2.0)]);
}

#[test]
fn what_only_comes_to_initial_is_a_condition_like_others() {
    let text = "model M
      Integer n(start = 3, fixed = true), m(start = 3, fixed = true);
    equation
      when not (not initial()) then
        n = 1;
      end when;
      when {time > 5, initial()} then
        m = 1;
      end when;
    end M;";
    expect_at(&simulate(text, 1.0), 0.5, &[("n", 3.0), ("m", 1.0)]);
}

#[test]
fn a_branch_hides_later_ones_also_for_what_it_does_not_assign() {
    let text = "model M
      Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
      Boolean b = time > 0.5;
    equation
      when b then
        n = 1;
      elsewhen time > 0.5 then
        m = 2;
        n = 2;
      end when;
    end M;";
    expect_at(&simulate(text, 1.0), 1.0, &[("n", 1.0), ("m", 0.0)]);
}

#[test]
fn a_clause_in_an_algorithm_does_not_start_as_if_earlier_ones_had_fired() {
    let text = "model M
      Boolean b(start = false, fixed = true);
      Integer n(start = 0, fixed = true);
    algorithm
      when time < 0.5 then
        b := true;
      end when;
      when not b then
        n := n + 1;
      end when;
    end M;";
    expect_at(&simulate(text, 1.0), 1.0, &[("b", 0.0), ("n", 0.0)]);
}

#[test]
fn left_limits_of_what_never_changes() {
    let text = "model M
      parameter Boolean p = true;
      Boolean e = p, b(start = false, fixed = true);
      Integer i(start = 0, fixed = true);
      Integer k(start = 7, fixed = true), q(start = 7, fixed = true), n(start = 0, fixed = true);
    initial equation
      pre(e) = false;
    equation
      i = 1;
      b = true;
      when initial() then
        k = if change(i) and edge(b) and edge(e) then 10 else 20;
        q = pre(i);
      end when;
      when pre(b) then
        n = pre(n) + 1;
      end when;
    end M;";
    expect_at(&simulate(text, 1.0), 1.0, &[("k", 10.0), ("q", 0.0), ("n", 1.0)]);
}

#[test]
fn equal_variables_with_different_fixed_starts() {
    let text = "model M
      Boolean y(start = false, fixed = true), b(start = false, fixed = true);
    equation
      y = not b;
      when time > 0.5 then
        b = not pre(b);
      end when;
    end M;";
    let result = simulate(text, 1.0);
    expect_at(&result, 0.2, &[("b", 0.0), ("y", 1.0)]);
    expect_at(&result, 1.0, &[("b", 1.0), ("y", 0.0)]);
    assert!(run_messages(text).contains("`y` and `b` are opposite"), "{}", run_messages(text));
}

#[test]
fn terminal_holds_after_terminate() {
    let text = "model M
      Real x(start = 0, fixed = true);
      Integer t(start = 0, fixed = true);
    equation
      der(x) = 1;
      when x > 0.5 then
        terminate(\"done\");
      end when;
      when terminal() then
        t = pre(t) + 1;
      end when;
    end M;";
    let run = common::run(text, 1.0);
    assert_eq!(run.result.last("t"), Some(1.0));
    assert!((run.result.time.last().unwrap() - 0.5).abs() < 1e-9);
}

#[test]
fn samples_whose_start_the_initial_equations_give() {
    let text = "model M
      parameter Real t0(fixed = false), period(fixed = false);
      Integer n(start = 0, fixed = true);
    initial equation
      t0 = 0.3;
      period = 2*t0 - 0.1;
    equation
      when sample(t0, period) then
        n = pre(n) + 1;
      end when;
    end M;";
    let result = simulate(text, 1.0);
    expect_at(&result, 0.2, &[("n", 0.0)]);
    expect_at(&result, 0.5, &[("n", 1.0)]);
    expect_at(&result, 1.0, &[("n", 2.0)]);
}

#[test]
fn what_a_branch_that_is_never_taken_assigns_keeps_its_value() {
    let text = "model M
      Boolean b(start = true, fixed = true);
      Integer i(start = 0, fixed = true);
    algorithm
      when time > 0.5 then
        i := 5;
        if i == 3 then
          b := false;
        end if;
      end when;
    end M;";
    expect_at(&simulate(text, 1.0), 1.0, &[("b", 1.0), ("i", 5.0)]);
}

#[test]
fn elsewhen_with_the_same_condition_is_never_active() {
    let text = "model M
      parameter Boolean p = true;
      Real x(start = 0, fixed = true);
      Boolean b = time > 0.5;
    equation
      der(x) = 1;
      when b then
        reinit(x, 1);
      elsewhen b then
        reinit(x, 2);
      elsewhen p then
        reinit(x, 3);
      end when;
    end M;";
    let last = simulate(text, 1.0).at("x", 1.0).unwrap();
    assert!((last - 1.5).abs() < 1e-6, "{last}");
}

#[test]
fn what_terminal_selects_is_in_the_last_row() {
    let text = "model M
      Real stage(start = 0);
      Real y = if terminal() then 2 else 1;
      Real x(start = 0, fixed = true);
      Real z = if terminal() then x else 0;
    equation
      der(x) = 1;
    algorithm
      if terminal() then
        stage := 3;
      end if;
    end M;";
    let result = simulate(text, 1.0);
    expect_at(&result, 0.5, &[("stage", 0.0), ("y", 1.0), ("z", 0.0)]);
    assert_eq!((result.last("stage"), result.last("y")), (Some(3.0), Some(2.0)));
    assert!((result.last("z").unwrap() - 1.0).abs() < 1e-9);
    let alone = "model M
      Real y = if terminal() then 2 else 1;
    end M;";
    assert_eq!(simulate(alone, 1.0).last("y"), Some(2.0));
}

#[test]
fn a_start_value_over_parameters_that_the_initial_equations_give() {
    let text = "model M
      parameter Real a(fixed = false), b(fixed = false);
      Real c(start = a/b, fixed = true);
    initial equation
      a = 4;
      b = 5;
    equation
      der(c) = 0;
    end M;";
    expect_at(&simulate(text, 1.0), 1.0, &[("c", 0.8)]);
}

#[test]
fn reinit_in_a_when_statement_takes_what_the_section_computed() {
    let text = "model M
      Real x(start = 0, fixed = true);
      Real low;
    equation
      der(x) = 1;
    algorithm
      low := 0.25;
      when x > 0.75 then
        low := 2*low;
        reinit(x, low - 0.25);
      end when;
    end M;";
    let result = simulate(text, 1.0);
    // From 0 to 0.75, then from 0.25 on.
    assert!((result.last("x").unwrap() - 0.5).abs() < 1e-6, "{:?}", result.last("x"));
}
