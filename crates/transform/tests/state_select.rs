//! What the attributes of variables ask for: states by `stateSelect`, start values of equal variables.

mod show;

use expect_test::expect;
use show::{all, notices, schedule, states};

#[test]
fn a_preferred_variable_replaces_a_differentiated_one() {
    let schedule = schedule(
        "Real y(stateSelect = prefer)
         der(x) = -x
         y = 2*x + 1",
    );
    expect![[r#"
        states: y
        x := (y - 1)/2
        der(x) := -x
        der(y) := 2*der(x)
        initially
        y := 0
        x := (y - 1)/2
        der(x) := -x
        der(y) := 2*der(x)
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn a_written_start_value_counts_more_than_a_missing_one() {
    // `c` is wanted as a state like `n`, which stays one, and alone has a start value.
    let schedule = schedule(
        "Real V(start = 2)
         Real c(start = 0.25, stateSelect = prefer)
         Real n(stateSelect = prefer)
         V = 2
         c = n/V
         der(n) = -n",
    );
    expect![[r#"
        states: n
        output: c := n/2
        der(n) := -n
        output: der(c) := der(n)/2
        initially
        c := 0.25
        n := c/0.5
        der(n) := -n
        der(c) := der(n)/2
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn a_preference_gives_way_where_it_is_not_safe() {
    let schedule = schedule(
        "Real y(stateSelect = prefer)
         Real z(stateSelect = prefer)
         der(x) = -x
         y = sin(x)
         z = cos(x)",
    );
    assert_eq!(states(&schedule), "x");
}

#[test]
fn a_preference_that_needs_the_derivative_of_an_input_is_dropped() {
    let schedule = schedule(
        "input u
         Real y(stateSelect = prefer)
         Real z(stateSelect = prefer)
         der(x) = -x
         z = 2*x
         w = x + u
         y = w + z",
    );
    assert_eq!(states(&schedule), "x");
}

#[test]
fn medium_states_are_chosen_together() {
    let schedule = schedule(
        "parameter V = 2
         Real p(stateSelect = prefer)
         Real T(stateSelect = prefer)
         der(m) = 1 - p
         der(U) = 3 - T
         m = V*d
         U = m*u
         d = p/(287*T)
         u = 720*T",
    );
    assert_eq!((states(&schedule).as_str(), schedule.state_sets.len()), ("p T", 0));
}

#[test]
fn always_is_always() {
    let schedule = schedule(
        "Real y(stateSelect = always)
         der(x) = -x
         y = sin(x)",
    );
    assert_eq!(states(&schedule), "y");
}

#[test]
fn what_cannot_be_differentiated_is_no_state() {
    let schedule = schedule(
        "Real y(stateSelect = prefer)
         discrete Real k(start = 1)
         der(x) = -x
         when x < 0.5 then k = 2
         y = k*floor(x)",
    );
    assert_eq!(states(&schedule), "x");
}

#[test]
fn never_and_avoid() {
    let gear = |attributes: &str| {
        format!(
            "Real phi1({attributes})
             der(phi1) = w1
             der(w1) = -t1
             der(phi2) = w2
             2*der(w2) = t2
             phi1 = 3*phi2
             t2 = 3*t1"
        )
    };
    assert_eq!(states(&schedule(&gear("start = 1"))), "phi1 w1");
    assert_eq!(states(&schedule(&gear("stateSelect = avoid"))), "w1 phi2");
    assert_eq!(states(&schedule(&gear("stateSelect = never"))), "w1 phi2");
    expect![[r#"
        warning[state-select]: `x` must not be a state (StateSelect.never), but nothing else can be one
          --> test.mo:1:1
           |
         1 | Real x(stateSelect = never)
           | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
           = see: Modelica specification, section 4.9.7.1
        warning[state-select]: `y` must be a state (StateSelect.always), but the equations leave no choice
          --> test.mo:3:10
           |
         3 |          Real y(stateSelect = always)
           |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
           = see: Modelica specification, section 4.9.7.1
        note[start-value-used]: initial conditions are missing; the start values of `x` are used
           = help: set `fixed = true` or write initial equations
           = see: Modelica specification, section 8.6
    "#]]
    .assert_eq(&notices(
        "Real x(stateSelect = never)
         der(x) = -x
         Real y(stateSelect = always)
         y = time",
    ));
}

#[test]
fn start_values_of_equal_variables() {
    expect![[r#"
        warning[fixed-starts-differ]: `a` and `b` are equal, but their fixed start values are not: 1 and 2
          --> test.mo:1:1
           |
         1 | Real a(start = 1, fixed = true)
           | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          ::: test.mo:2:10
           |
         2 |          Real b(start = 2, fixed = true)
           |          -------------------------------
           = help: remove `fixed = true` from one of them
           = see: Modelica specification, section 8.6
        note[starts-differ]: start values of equal variables differ; used are those of `c` instead of `d`
           = see: Modelica specification, section 8.6.2
        note[start-value-used]: initial conditions are missing; the start values of `c` are used
           = help: set `fixed = true` or write initial equations
           = see: Modelica specification, section 8.6
    "#]]
    .assert_eq(&notices(
        "Real a(start = 1, fixed = true)
         Real b(start = 2, fixed = true)
         Real c(start = 3)
         Real d(start = 4)
         a = b
         c = -d
         der(a) = -a
         der(c) = -c",
    ));
    // The fixed one counts, whichever stands for both; the sign is that of the alias.
    let schedule = schedule(
        "Real a(start = 1)
         Real b(start = 2, fixed = true, min = -5, nominal = 10)
         a = -b
         der(a) = -a",
    );
    expect![[r#"
        states: a
        der(a) := -a
        initially
        a := -2
        der(a) := -a
    "#]]
    .assert_eq(&all(&schedule));
    let a = schedule.states[0].variable;
    let attributes = schedule.model.variables[a].attributes.clone();
    let text = |expr: Option<dae::ExprId>| expr.map(|expr| schedule.model.expression_text(expr)).unwrap_or_default();
    expect!["start -2 min  max 5 nominal 10"].assert_eq(&format!(
        "start {} min {} max {} nominal {}",
        text(attributes.start),
        text(attributes.min),
        text(attributes.max),
        text(attributes.nominal)
    ));
}
