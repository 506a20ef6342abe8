//! What is not a finite number must not decide, nor be written: an error names the place and the time. Guards keep their effect.

mod common;

use common::{run, run_with};
use session::{Ending, Settings};

/// The whole text of the failure of a model with these declarations and equations.
#[track_caller]
fn failure(body: &str) -> String {
    run(&format!("model M\n{body}\nend M;"), 1.0).failure()
}

#[track_caller]
fn assert_fails(body: &str, parts: &[&str]) {
    let said = failure(body);
    assert!(parts.iter().all(|part| said.contains(part)), "{body}\n{said}");
}

#[track_caller]
fn assert_completes(body: &str) {
    let run = run(&format!("model M\n{body}\nend M;"), 1.0);
    assert_eq!(run.ending, Ending::Complete, "{body}\n{}", run.said);
}

#[test]
fn parameters_have_to_be_finite_whether_they_are_used_or_not() {
    assert_fails("parameter Real p = -1;\nparameter Real q = log(p); Real x = time;", &["log(-1)", "q", "case.mo:3"]);
    assert_fails("parameter Real p = 0;\nparameter Real q = 1/p; Real x = time;", &["1 / 0", "case.mo:3"]);
    assert_fails("parameter Real p = -1;\nparameter Integer k = integer(log(p)); Real x = time;", &["log(-1)", "k"]);
    assert_fails("parameter Real p = -1;\nparameter Boolean b = log(p) > 0; Real x = time;", &["log(-1)", "b"]);
    assert_fails("parameter Real p = -1;\nparameter Real q = if sqrt(p) > 1 then 1 else 2; Real x = q;", &["sqrt(-1)"]);
    assert_completes("parameter Real p = -1; parameter Real q = if p > 0 then log(p) else 0; Real x = q + time;");
}

#[test]
fn zero_by_zero_is_no_number() {
    assert_fails("parameter Real p = 0;\nReal y = 0/p;", &["0 / 0", "case.mo:3"]);
    assert_fails("parameter Real p = 0, a = 2;\nReal y = p*a/p;", &["0 / 0", "case.mo:3"]);
    assert_fails("Real z = time*0;\nReal y = 0/z;", &["0 / 0", "case.mo:3"]);
    assert_fails("parameter Real p = 0;\nReal y = mod(time, p);", &["case.mo:3"]);
    assert_fails("parameter Integer p = 0;\nInteger y = div(3, p);", &["case.mo:3"]);
    assert_completes("parameter Real p = 2; Real y = 0/p; Real z = p*time/p;");
}

#[test]
fn a_condition_over_something_undefined_is_neither_true_nor_false() {
    let at_half = ["0.5", "case.mo:4"];
    let state = "Real x(start = 0.5, fixed = true); Real y; Boolean b(start = true); equation der(x) = -1;";
    let with = |equation: &str| format!("{state}\n\n{equation}");
    assert_fails(&with("b = x > 0; y = if log(x) > 0 then 1 else 2;"), &["log(", "at time 0.5", "case.mo:4"]);
    assert_fails(&with("b = log(x) > 0; y = 1;"), &["log(", "at time 0.5", "case.mo:4"]);
    assert_fails(&with("b = not sqrt(x) > 0.1; y = 1;"), &at_half);
    assert_fails(&with("b = x > 0; y = noEvent(if sqrt(x) > 1 then 1 else 2);"), &["case.mo:4"]);
    assert_fails(&with("b = x > 0; y = 1; assert(not log(x) > 10, \"never\");"), &at_half);
    assert_fails(&with("y = 1; when log(x) > 0 then b = not pre(b); end when;"), &at_half);
}

#[test]
fn guards_keep_their_effect() {
    let state = "Real x(start = 0.5, fixed = true); Real y; Boolean b; equation der(x) = -1;";
    let with = |equation: &str| format!("{state} {equation}");
    assert_completes(&with("b = x > 0 and log(x) > -3; y = noEvent(if x > 0 then sqrt(x) else 0);"));
    assert_completes(&with("b = x <= 0 or log(x) > -3; y = noEvent(if x > 0 then log(x) else 0);"));
    assert_completes(&with("b = x > 0; y = noEvent(if x > 0 then (if log(x) > -2 then 1 else 2) else 3);"));
    assert_completes(&with("b = x > 0; y = sqrt(max(x, 0)); assert(x <= 0 or log(x) < 10, \"never\");"));
}

#[test]
fn what_happens_at_events_is_checked() {
    assert_fails(
        "Real x(start = 0, fixed = true); equation der(x) = 1;\nwhen time > 0.5 then reinit(x, log(-time)); end when;",
        &["log(-0.5)", "reinit", "at time 0.5", "case.mo:3"],
    );
    assert_fails(
        "Integer n(start = 0, fixed = true); equation\nwhen time > 0.5 then n = integer(log(-time)); end when;",
        &["log(-0.5)", "at time 0.5", "case.mo:3"],
    );
    assert_fails(
        "Boolean b(start = false, fixed = true); equation\nwhen time > 0.5 then b = sqrt(-time) > 1; end when;",
        &["sqrt(-0.5)", "at time 0.5", "case.mo:3"],
    );
}

#[test]
fn functions_do_not_decide_by_what_is_undefined() {
    let function =
        "function f input Real u; output Real y; algorithm if log(u) > 0 then y := 1; else y := 2; end if; end f;";
    assert_fails(&format!("{function}\nReal y = f(0.5 - time);"), &["case.mo:3"]);
    assert_fails(&format!("{function}\nparameter Real p = -1; parameter Real y = f(p);"), &["case.mo:3"]);
    let largest = "function f input Real u; output Real y; algorithm y := max(sqrt(u), 0); end f;";
    assert_fails(&format!("{largest}\nReal y = f(0.5 - time);"), &["case.mo:3"]);
    let guarded =
        "function f input Real u; output Real y; algorithm y := 2; if u > 0 and log(u) < 9 then y := 1; end if; end f;";
    assert_completes(&format!("{guarded}\nReal y = f(0.5 - time);"));
}

#[test]
fn extremes_and_signs_do_not_hide_it() {
    for expression in
        ["max(log(x), 0)", "max(0, log(x))", "min(log(x), 0)", "sign(sqrt(x))", "floor(sqrt(x))", "abs(log(x))"]
    {
        let body = format!("Real x(start = 0.5, fixed = true); Real y; equation der(x) = -1;\ny = {expression};");
        assert_fails(&body, &["case.mo:3"]);
    }
}

#[test]
fn samples_need_a_positive_interval() {
    for interval in ["0", "-1", "log(p)"] {
        let body = format!(
            "parameter Real p = -1; parameter Real T = 0; Integer k(start = 0, fixed = true); equation\nwhen sample(0, {interval}) then k = pre(k) + 1; end when;"
        );
        assert_fails(&body, &["sample", "case.mo:3"]);
    }
}

#[test]
fn attributes_and_start_values_have_to_be_numbers() {
    assert_fails(
        "parameter Real p = -1;\nReal x(start = log(p), fixed = true); equation der(x) = 1;",
        &["log(-1)", "case.mo:3"],
    );
    assert_fails("parameter Real p = -1;\nReal x(min = log(p)); equation x = time;", &["min", "case.mo:3"]);
    assert_fails("parameter Real p = -1;\nReal x(nominal = sqrt(p)); equation x = time;", &["nominal", "case.mo:3"]);
}

#[test]
fn fixed_step_methods_stop_too() {
    let text = "model M\nReal x(start = 0.5, fixed = true); Real y; equation der(x) = -1;\ny = if log(x) > 0 then 1 else 2;\nend M;";
    for solver in ["euler", "implicit-euler"] {
        let settings = Settings { solver: Some(solver.into()), stop_time: Some(1.0), ..Settings::default() };
        let said = run_with(text, settings).failure();
        assert!(said.contains("log(") && said.contains("case.mo:3"), "{said}");
    }
}

/// Zero is positive, however the equation is written that determines it: `atan2` tells the two zeros from each other.
#[test]
fn zero_is_positive() {
    let text =
        "model M Real y = 0, v, l, m; Real a = atan2(y, -1), b = atan2(v, -1), c = atan2(l, -1), d = atan2(m, -1);
        equation v + 0 = 0; {l, m} = {0, 0}; end M;";
    let run = run(text, 1.0);
    for name in ["a", "b", "c", "d"] {
        assert_eq!(run.end(name), std::f64::consts::PI, "{name}");
    }
}
