//! Discrete variables, when clauses and mixed systems.

mod show;

use expect_test::expect;
use show::{all, problems, schedule};

#[test]
fn b1_sampled_controller_is_sorted_with_the_plant() {
    let schedule = schedule(
        "parameter Ts = 0.1
         Real xp(start = 1, fixed = true)
         Real xc(start = 0, fixed = true)
         der(xp) = -xp + u
         y = 2*xp
         when sample(0, Ts) then xc = 0.5*pre(xc) + y; u = -xc + y",
    );
    expect![[r#"
        states: xp
        y := 2*xp
        event: when0 := sample(0, Ts)
        event: xc := if when0 and not pre(when0) then 0.5*pre(xc) + y else pre(xc)
        event: u := if when0 and not pre(when0) then y - xc else pre(u)
        der(xp) := u - xp
        initially
        xp := 1
        u := 0
        der(xp) := u - xp
        y := 2*xp
        when0 := sample(0, Ts)
        xc := 0
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn b2_conflicting_whens() {
    expect![[r#"
        error[conflicting-whens]: `close` is assigned in two when clauses
          --> test.mo:2:10
           |
         2 |          when time > 1 then close = true
           |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ first here
          ::: test.mo:3:10
           |
         3 |          when time > 2 then close = false
           |          -------------------------------- and again here
           = help: join them with elsewhen, or write them in one algorithm section, where the later one wins
           = see: Modelica specification, section 8.3.5.2
    "#]]
    .assert_eq(&problems(
        "Boolean close(start = false)
         when time > 1 then close = true
         when time > 2 then close = false
         der(x) = if close then 1 else 0",
    ));
}

#[test]
fn b3_loop_between_different_whens() {
    expect![[r#"
        error[loop-across-whens]: `b`, `a` need each other at the same instant, across when clauses with different conditions
          --> test.mo:2:10
           |
         2 |          when time > 2 then b = 0.5*a
           |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ in the loop
          ::: test.mo:1:1
           |
         1 | when time > 1 then a = b + 1
           | ---------------------------- in the loop
           = help: use pre(…) of one of them to break the loop
           = see: Modelica specification, section 8.3.5.2
    "#]].assert_eq(&problems(
        "when time > 1 then a = b + 1
         when time > 2 then b = 0.5*a",
    ));
    expect![[r#"
        event: when0 := time > 1
        event: linear frozen 2 torn to b
            a := if when0 and not pre(when0) then b + 1 else pre(a)
            0 = b - (if when0 and not pre(when0) then 0.5*a else pre(b))
    "#]]
    .assert_eq(&problems("when time > 1 then a = b + 1; b = 0.5*a"));
}

#[test]
fn b8_booleans_are_sorted_with_the_rest() {
    let schedule = schedule(
        "Boolean a
         Boolean b
         Boolean c
         Boolean d
         a = b and c or d
         b = x > 0.5
         c = not b or time > 2
         d = y > 3
         y = 2*x
         der(x) = if a then 1 else -1",
    );
    expect![[r#"
        states: x
        y := 2*x
        event: d := y > 3
        event: b := x > 0.5
        event: c := not b or time > 2
        event: a := b and c or d
        event: der(x) := if a then 1 else -1
        initially
        x := 0
        y := 2*x
        d := y > 3
        b := x > 0.5
        c := not b or time > 2
        a := b and c or d
        der(x) := if a then 1 else -1
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn b11_switch_inside_a_linear_system() {
    let schedule = schedule(
        "parameter R1 = 100
         parameter R2 = 20
         parameter C = 1e-7
         Boolean open
         open = time > 1e-6 and time < 2.5e-6
         C*der(u) = i0 - i1 - i2
         i0 = 1
         u = R1*i1
         u = us + R2*i2
         0 = if open then i2 else us",
    );
    expect![[r#"
        states: u
        event: open := time > 1e-6 and time < 2.5e-6
        linear frozen 2 torn to us
            i2 := (u - us)/R2
            0 = -(if open then i2 else us)
        i1 := u/R1
        der(u) := (1 - i1 - i2)/C
        initially
        open := time > 1e-6 and time < 2.5e-6
        u := 0
        linear frozen 2 torn to us
            i2 := (u - us)/R2
            0 = -(if open then i2 else us)
        i1 := u/R1
        der(u) := (1 - i1 - i2)/C
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn b13_ideal_diode_is_a_mixed_system() {
    let schedule = schedule(
        "parameter R = 10
         Boolean off(start = true)
         Real s
         v = sin(time)
         v = ud + R*i
         off = s < 0
         ud = if off then s else 0
         i = if off then 0 else s",
    );
    expect![[r#"
        states: 
        v := sin(time)
        mixed linear 4 torn to s
            ud := if off then s else 0
            i := (v - ud)/R
            0 = i - (if off then 0 else s)
            then off := s < 0
        initially
        v := sin(time)
        mixed linear 4 torn to s
            ud := if off then s else 0
            i := (v - ud)/R
            0 = i - (if off then 0 else s)
            then off := s < 0
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn boolean_aliases_are_negated() {
    let schedule = schedule(
        "Boolean a
         Boolean b
         b = not a
         a = x > 1
         when b then n = pre(n) + 1
         der(x) = if b then 1 else pre(n)",
    );
    expect![[r#"
        states: x
        event: when0 := not x > 1
        event: n := if when0 and not pre(when0) then pre(n) + 1 else pre(n)
        event: der(x) := if when0 then 1 else pre(n)
        initially
        x := 0
        when0 := not x > 1
        n := 0
        der(x) := if when0 then 1 else n
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn whens_at_initialisation() {
    let schedule = schedule(
        "discrete Real k(start = 2)
         discrete Real m(start = 3)
         Integer n(start = 5, fixed = true)
         when initial() then m = 7 + k
         when time > 1 then k = pre(k) + 1; n = pre(n) + 1
         der(x) = -k*x + m
         initial der(x) = 0",
    );
    expect![[r#"
        states: x
        event: when0 := false
        event: m := pre(m)
        event: when1 := time > 1
        event: k := if when1 and not pre(when1) then pre(k) + 1 else pre(k)
        event: n := if when1 and not pre(when1) then pre(n) + 1 else pre(n)
        der(x) := m - k*x
        initially
        when0 := true
        k := 2
        m := 7 + k
        when1 := time > 1
        der(x) := 0
        linear frozen 1 torn to x
            0 = der(x) - (m - k*x)
        n := 5
        initialPre[1] := 3
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn free_parameters_are_found_at_initialisation() {
    let schedule = schedule(
        "parameter Real p(fixed = false, start = 1)
         parameter q = 2*p
         Real x(start = 1, fixed = true)
         der(x) = -p*x + q
         initial der(x) = 3",
    );
    expect![[r#"
        states: x
        der(x) := q - p*x
        initially
        x := 1
        der(x) := 3
        linear 2 torn to p
            q := der(x) + p*x
            0 = q - 2*p
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn homotopy_stands_in_the_initial_problem_only() {
    let schedule = schedule(
        "y = homotopy(x^2, x)
         der(x) = 2 - y
         initial der(x) = 0",
    );
    expect![[r#"
        states: x
        y := x^2
        der(x) := 2 - y
        initially
        der(x) := 0
        y := 2 - der(x)
        nonlinear 1 torn to x
            0 = y - homotopy(x^2, x)
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn left_limits_are_unknown_at_initialisation() {
    let schedule = schedule(
        "Boolean active
         Boolean next
         active = pre(next)
         next = time > 1 or active and time < 2
         initial active = true",
    );
    assert!(schedule.initial_checks.is_empty());
    expect![[r#"
        states: 
        event: active := pre(next)
        event: next := time > 1 or active and time < 2
        initially
        active := true
        initialPre[1] := active
        next := time > 1 or active and time < 2
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn whether_a_parameter_is_fixed_may_depend_on_parameters() {
    let schedule = schedule(
        "parameter Integer kind = 2
         parameter Av(start = 1, fixed = kind == 1)
         parameter Kv(start = 3, fixed = kind == 2)
         der(x) = Av*x
         initial Av = 2*Kv",
    );
    assert!(schedule.initial_checks.is_empty());
    expect![[r#"
        states: x
        der(x) := Av*x
        initially
        x := 0
        Av := 2*Kv
        der(x) := Av*x
    "#]]
    .assert_eq(&all(&schedule));
}
