//! The common mistakes of people who write models: the message names the place and the remedy, word for word.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};
use expect_test::{Expect, expect};

/// Runs a command on a model in `model.mo` and compares exit status and standard error.
fn told(name: &str, command: &[&str], model: &str, status: i32, expected: Expect) {
    let folder = Folder::new(name);
    folder.write("model.mo", model);
    let run = gyrator(&folder, &[command, &["model.mo"]].concat());
    expected.assert_eq(&run.stderr);
    assert_eq!(run.status, status, "{}", run.stderr);
}

#[test]
fn a_misspelled_name() {
    told(
        "misspelled",
        &["check"],
        "model Tank
  parameter Real inflow = 2;
  Real level(start = 0, fixed = true);
equation
  der(level) = inflw - level;
end Tank;
",
        1,
        expect![[r#"
            error[unknown-name]: there is no name `inflw` in scope
              --> model.mo:5:16
               |
             5 |   der(level) = inflw - level;
               |                ^^^^^ not found
               = help: did you mean `inflow`?
               = see: Modelica specification, section 5.3
        "#]],
    );
}

#[test]
fn a_misspelled_class() {
    told(
        "class",
        &["check"],
        "package P
  model Resistor
    Real u, i;
  equation
    u = 10*i;
  end Resistor;
  model Circuit
    Resistr R1;
  equation
    R1.u = 1;
  end Circuit;
end P;
",
        1,
        expect![[r#"
            error[unknown-name]: there is no class `Resistr` in scope
              --> model.mo:8:5
               |
             8 |     Resistr R1;
               |     ^^^^^^^ not found
               = help: did you mean `Resistor`?
               = see: Modelica specification, section 5.3
        "#]],
    );
}

#[test]
fn a_missing_semicolon() {
    told(
        "semicolon",
        &["check"],
        "model Tank
  Real level(start = 0, fixed = true)
equation
  der(level) = 1 - level;
end Tank;
",
        1,
        expect![[r#"
            error[missing-semicolon]: missing `;` after the declaration
              --> model.mo:2:38
               |
             2 |   Real level(start = 0, fixed = true)
               |                                      ^ expected `;` here
        "#]],
    );
}

#[test]
fn a_wrong_type_in_a_binding() {
    told(
        "type",
        &["check"],
        "model Tank
  parameter Real area = \"large\";
  Real level(start = 0, fixed = true);
equation
  area*der(level) = 1 - level;
end Tank;
",
        1,
        expect![[r#"
            error[type-mismatch]: `area` is of type `Real`, and its value of type `String`
              --> model.mo:2:25
               |
             2 |   parameter Real area = "large";
               |                         ^^^^^^^ this is `String`
               |                  ---- declared here
               = see: Modelica specification, section 6.7
        "#]],
    );
}

#[test]
fn an_unconnected_component() {
    told(
        "unconnected",
        &["check"],
        "package P
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model Resistor
    Pin p, n;
    parameter Real R = 1;
  equation
    p.v - n.v = R*p.i;
    p.i + n.i = 0;
  end Resistor;
  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;
  model Circuit
    Resistor R1, R2;
    Ground ground;
  equation
    connect(R1.n, ground.p);
    connect(R1.p, ground.p);
  end Circuit;
end P;
",
        1,
        expect![[r#"
            error[over-determined]: 3 equations for 2 unknowns: `R2.p.i`, `R2.n.i`; the counts agree (10 equations, 10 unknowns)
              --> model.mo:4:15 (in component `R2.p`)
               |
             4 |     flow Real i;
               |               ^
               ::: model.mo:11:5
                |
             11 |     p.i + n.i = 0;
                |     -------------
               = R2.p: R2.p.i = 0
               = R2.n: R2.n.i = 0
               = R2: R2.p.i + R2.n.i = 0
               = help: a connector may not be connected: then its flow is zero
            error[under-determined]: no equation determines `R2.p.v`; the counts agree (10 equations, 10 unknowns)
              --> model.mo:3:10
               |
             3 |     Real v;
               |          ^
               = it shares its equations with `R2.n.v`
               = R2: R2.p.v - R2.n.v = R2.R*R2.p.i
               = help: an equation or a connection is missing; an input needs a connection or a value
        "#]],
    );
}

#[test]
fn one_equation_too_few() {
    told(
        "few",
        &["check"],
        "model Tank
  Real level(start = 0, fixed = true);
  Real outflow;
  Real inflow;
equation
  der(level) = inflow - outflow;
  outflow = 0.5*level;
end Tank;
",
        1,
        expect![[r#"
            error[under-determined]: no equation determines `inflow`; one equation too few (2 equations, 3 unknowns)
              --> model.mo:4:8
               |
             4 |   Real inflow;
               |        ^^^^^^
               = it shares its equations with `level`, `outflow`
               = der(level) = inflow - outflow
               = outflow = 0.5*level
               = help: an equation or a connection is missing; an input needs a connection or a value
        "#]],
    );
}

#[test]
fn one_equation_too_many() {
    told(
        "many",
        &["check"],
        "model Tank
  Real level(start = 0, fixed = true);
  Real outflow;
equation
  der(level) = 1 - outflow;
  outflow = 0.5*level;
  outflow = 2;
end Tank;
",
        1,
        expect![[r#"
            error[over-determined]: 2 equations for the one unknown `outflow`; one equation too many (3 equations, 2 unknowns)
              --> model.mo:6:3
               |
             6 |   outflow = 0.5*level;
               |   ^^^^^^^^^^^^^^^^^^^
              ::: model.mo:7:3
               |
             7 |   outflow = 2;
               |   -----------
               = outflow = 0.5*level
               = outflow = 2
               = help: remove one of these equations, or make something in them an unknown
        "#]],
    );
}

#[test]
fn a_division_by_zero_at_run_time() {
    told(
        "division",
        &["simulate", "-q"],
        "model Tank
  Real level(start = 1, fixed = true);
  Real rate;
equation
  der(level) = -1;
  rate = 1/(if time < 0.5 then 1 else 0);
end Tank;
",
        3,
        expect![[r#"
            error[evaluation-failed]: 1 / 0 has no finite value, when rate was computed at time 0.5
              --> model.mo:6:3
               |
             6 |   rate = 1/(if time < 0.5 then 1 else 0);
               |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ in this equation
               = help: look at what becomes zero; guard it, such as `noEvent(if abs(x) > 0 then 1/x else …)`
            error: the run stopped at time 0.5; `Tank.csv` holds what was computed until then
        "#]],
    );
}

#[test]
fn a_division_by_a_parameter_that_is_zero() {
    told(
        "parameter",
        &["simulate", "-q"],
        "model Tank
  parameter Real area = 0;
  Real speed;
equation
  speed = 2/area;
end Tank;
",
        1,
        expect![[r#"
            error[evaluation-failed]: 2 / 0 has no finite value, when speed was computed
              --> model.mo:5:3
               |
             5 |   speed = 2/area;
               |   ^^^^^^^^^^^^^^ in this equation
               = help: look at what becomes zero; guard it, such as `noEvent(if abs(x) > 0 then 1/x else …)`
        "#]],
    );
}

#[test]
fn an_unknown_library() {
    told(
        "library",
        &["check"],
        "model Circuit
  Modelica.Electrical.Analog.Basic.Resistor R1;
end Circuit;
",
        1,
        expect![[r#"
            error[unknown-name]: there is no class `Modelica` in scope
              --> model.mo:2:3
               |
             2 |   Modelica.Electrical.Analog.Basic.Resistor R1;
               |   ^^^^^^^^ not found
               = help: load the Modelica Standard Library with --library or MODELICAPATH
               = see: Modelica specification, section 5.3
        "#]],
    );
}

#[test]
fn an_unknown_parameter_on_the_command_line() {
    told(
        "set",
        &["check", "--set", "aera=2"],
        "model Tank
  parameter Real area = 1;
  Real level(start = 0, fixed = true);
equation
  area*der(level) = 1 - level;
end Tank;
",
        1,
        expect![[r#"
            error[unknown-modifier]: the class `Tank` has no element `aera`
              --> --set aera:1:1
               |
             1 | 2
               | ^ modified here
               = help: did you mean `area`?
               = see: Modelica specification, section 7.2
        "#]],
    );
}

#[test]
fn a_file_that_is_not_there() {
    let folder = Folder::new("missing");
    let run = gyrator(&folder, &["check", "circuit.mo"]);
    expect![[r#"
        error: there is no file `circuit.mo`
    "#]]
    .assert_eq(&run.stderr);
    assert_eq!(run.status, 2);
}

#[test]
fn what_is_no_model() {
    let folder = Folder::new("no-model");
    folder.write("circuit.txt", "");
    let run = gyrator(&folder, &["check", "circuit.txt"]);
    expect![[r#"
        error: `circuit.txt` is neither a file that ends in `.mo` or `.bond` or `.dym` nor a folder with `package.mo`
    "#]]
    .assert_eq(&run.stderr);
    assert_eq!(run.status, 2);
}

#[test]
fn units_that_do_not_agree() {
    let model = "model Heater
  parameter Real R(unit = \"Ohm\") = 10;
  Real v(unit = \"V\") = 230;
  Real power(unit = \"W\");
equation
  power = v/R;
end Heater;
";
    told(
        "units",
        &["check"],
        model,
        0,
        expect![[r#"
            warning[unit-mismatch]: units do not agree: `W` and `A`
              --> model.mo:6:3
               |
             6 |   power = v/R;
               |   ^^^^^ this is `W`
               |           --- this is `A`
               = `power` is declared with the unit `W`
               = `v` is declared with the unit `V`
               = `R` is declared with the unit `Ohm`
               = help: correct the equation or a declared unit; `--no-unit-check` switches this check off
               = see: Modelica specification, section 19
        "#]],
    );
    for silent in ["--no-unit-check", "--quiet"] {
        told("units-off", &["check", silent], model, 0, expect![""]);
    }
}

#[test]
fn nonlinear_equations_without_a_solution() {
    told(
        "no-solution",
        &["simulate", "-q"],
        "model Pipes
  model Pipe
    parameter Real k = 2;
    Real dp, q;
  equation
    dp = k*q^2 + q;
  end Pipe;
  Pipe supply(k = 3), drain;
equation
  supply.q = drain.q;
  supply.dp + drain.dp = -5;
end Pipes;
",
        1,
        expect![[r#"
            error[no-convergence]: no solution was found for the 3 equations for supply.q, supply.dp, drain.dp at time 0
              --> model.mo:6:5
               |
             6 |     dp = k*q^2 + q;
               |     ^^^^^^^^^^^^^^ off by -4.8 in component `drain`: drain.dp = drain.k*supply.q^2 + supply.q
               = the iteration ended at supply.q = -0.2 (no start value)
               = help: if there is a solution, start values near it help: give `start = …` to supply.q; if there is none, look for a wrong parameter or sign in the equations
        "#]],
    );
}

/// The root exists for no value that the other equation allows.
#[test]
fn nonlinear_equations_that_cannot_be_evaluated() {
    told(
        "no-value",
        &["simulate", "-q"],
        "model Orifice
  Real level(start = 1), q;
equation
  q = sqrt(level - 5);
  level = 1 + 0.1*sin(level*q);
end Orifice;
",
        1,
        expect![[r#"
            error[evaluation-failed]: sqrt(-5) has no finite value, when q was computed
              --> model.mo:4:3
               |
             4 |   q = sqrt(level - 5);
               |   ^^^^^^^^^^^^^^^^^^^ in this equation
               = the iteration ended at level = 1 (start = 1)
               = help: if there is a solution, start values near it help: give `start = …` to level; if there is none, look for a wrong parameter or sign in the equations
        "#]],
    );
}

/// The parabola is left at its top, where x has two values and then none.
#[test]
fn nonlinear_equations_whose_solution_ends() {
    told(
        "solution-ends",
        &["simulate", "-q", "--solver", "rk4", "--step", "0.03125"],
        "model Melting
  Real x(start = 1), y, heat(start = 0, fixed = true);
equation
  der(heat) = 1;
  x^2 + y = 1 - heat;
  y = 0.5*x;
  annotation(experiment(StopTime = 2));
end Melting;
",
        3,
        expect![[r#"
            error[singular-system]: the 2 nonlinear equations for x, y do not determine x near time 1.0625000574372216
              --> model.mo:6:3
               |
             6 |   y = 0.5*x;
               |   ^^^^^^^^^ one of these equations
               = the iteration ended at x = -0.25 (start = 1)
               = help: the solution may end or branch here, such as at the top of a characteristic; other start values may lead to another branch
            error: the run stopped at time 1.0625000143593053; `Melting.csv` holds what was computed until then
        "#]],
    );
}

#[test]
fn a_derivative_with_a_prime() {
    let model = "model Decay
  Real x(start = 1, fixed = true);
equation
  x' = -x;
end Decay;
";
    told(
        "prime",
        &["check"],
        model,
        1,
        expect![[r#"
            error[unterminated-name]: this quoted name has no closing `'`
              --> model.mo:4:4
               |
             4 |   x' = -x;
               |    ^ it begins here
               = help: a derivative is written `der(x)`
        "#]],
    );
    let model = "model Circle
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  x' = -y; y' = x;
end Circle;
";
    told(
        "primes",
        &["check"],
        model,
        1,
        expect![[r#"
            error[unexpected-token]: this is no equation: unexpected `' = -y; y'` behind it
              --> model.mo:4:4
               |
             4 |   x' = -y; y' = x;
               |    ^^^^^^^^^^
               = help: a derivative is written `der(x)`
        "#]],
    );
}

#[test]
fn a_power_with_two_stars() {
    told(
        "stars",
        &["check"],
        "model Square\n  Real x = time**2;\nend Square;\n",
        1,
        expect![[r#"
        error[expected-expression]: expected an expression, found `*`
          --> model.mo:2:17
           |
         2 |   Real x = time**2;
           |                 ^
           = help: a power is written `^`, as in `x^2`
    "#]],
    );
}

#[test]
fn a_unit_without_its_point() {
    let model = "model Torque\n  parameter Real tau(unit = \"Nm\") = 1;\nend Torque;\n";
    told(
        "torque",
        &["check"],
        model,
        0,
        expect![[r#"
        warning[unknown-unit]: the unit `Nm` cannot be read: `Nm` is no known unit
          --> model.mo:2:18
           |
         2 |   parameter Real tau(unit = "Nm") = 1;
           |                  ^^^ declared with it
           = help: did you mean `N.m`? Equations with it are not checked
           = see: Modelica specification, section 19.1
    "#]],
    );
}

#[test]
fn a_function_under_another_name() {
    told(
        "sinus",
        &["check"],
        "model Wave\n  Real x = sinus(time);\nend Wave;\n",
        1,
        expect![[r#"
        error[unknown-name]: there is no name `sinus` in scope
          --> model.mo:2:12
           |
         2 |   Real x = sinus(time);
           |            ^^^^^ not found
           = help: it is called `sin` in Modelica
           = see: Modelica specification, section 5.3
    "#]],
    );
}

const COOLING: &str = "model Cooling
  Real T(start = 300, fixed = true);
equation
  der(T) = 280 - T;
end Cooling;
";

#[test]
fn a_state_that_is_set() {
    told(
        "set-state",
        &["check", "--set", "T=310"],
        COOLING,
        1,
        expect![[r#"
        error[over-determined]: 2 equations for the one unknown `T`; one equation too many (2 equations, 1 unknown)
          --> --set T:1:1
           |
         1 | 310
           | ^^^
          ::: model.mo:4:3
           |
         4 |   der(T) = 280 - T;
           |   ----------------
           = T = 310
           = der(T) = 280 - T
           = help: to begin with another value, set `T.start`; `--set T=…` fixes it for all times
    "#]],
    );
}

const ELEMENTS: &str = "model M
  type E = enumeration(one, two, three);
  record R Real a = 1; Integer b[2] = {1, 2}; end R;
  model A parameter Real k = 1; parameter Real l(unit = \"m\") = 1; Real x = k*l; end A;
  parameter E e = E.one; parameter R r[2]; parameter Real m[2,2] = {{1, 2}, {3, 4}}; A a[2]; parameter Integer n[2] = {1, 2};
  parameter E f[2] = {E.one, E.two}; Real w[n[2]] = fill(time, n[2]); constant Real c[2] = {1, 2}; parameter Integer i[2] = {1, 2};
  Real z[2](start = {1, 2}, each fixed = true);
  Real y = 1000*Integer(e) + 100*m[1,2] + 10*r[2].a + r[2].b[1]; Real v = sum(m) + 10*Integer(f[1]);
equation der(z) = {0, 0}; end M;";

/// Single elements of arrays, and literals of enumerations by any of their names.
#[test]
fn elements_and_literals_are_set() {
    let folder = Folder::new("set-elements");
    folder.write("model.mo", ELEMENTS);
    let last = |set: &[&str]| -> String {
        let set: Vec<&str> = set.iter().flat_map(|set| ["--set", *set]).collect();
        let call = ["simulate", "-q", "model.mo", "--variables", "y|v|a.*x|z.*", "--intervals", "1"];
        let run = gyrator(&folder, &[&call[..], &set[..]].concat());
        assert_eq!(run.status, 0, "{set:?}: {}", run.stderr);
        folder.read("M.csv").lines().last().unwrap().to_owned()
    };
    assert_eq!(last(&[]), "1,1,1,1,2,1211,20");
    assert_eq!(last(&["e=two", "f[1]=three"]), "1,1,1,1,2,2211,40");
    assert_eq!(last(&["e=E.two", "m[1,2]=5"]), "1,1,1,1,2,2511,23");
    assert_eq!(last(&["e=M.E.three", "m[1, 2] = 5", "r[2].a=4", "r[2].b[1]=7"]), "1,1,1,1,2,3547,23");
    assert_eq!(last(&["a[2].k=3", "a[2].l=20 cm", "z[1].start=7"]), "1,1,0.6000000000000001,7,2,1211,20");
    let refused = |set: &str| gyrator(&folder, &["check", "-q", "model.mo", "--set", set]).stderr;
    for (set, reason) in [
        ("n[2]=3", "part of the structure"),
        ("c[1]=3", "is a constant"),
        ("z[1]=3", "set `z[1].start`"),
        ("m[1,3]=3", "no scalar variable `m[1,3]`"),
        ("r[2].b={1,2}", "no scalar variable"),
        ("i[1]=1.5", "an Integer is needed"),
        ("f[2]=four", "`one` or `two` or `three` is needed"),
        ("e=four", "no name `four`"),
    ] {
        assert!(refused(set).contains(reason), "{set}: {}", refused(set));
    }
}

#[test]
fn a_name_that_is_set_twice() {
    let call = ["check", "-q", "--set", "T.start=310", "--set", "T.start=320"];
    told("set-twice", &call[..1], COOLING, 0, expect![[""]]);
    told(
        "set-twice",
        &[&call[..1], &call[2..]].concat(),
        COOLING,
        0,
        expect![[r#"
        warning[set-twice]: `T.start` is set more than once; the last value counts
    "#]],
    );
    let folder = Folder::new("set-last");
    folder.write("model.mo", COOLING);
    let run = gyrator(&folder, &["simulate", "-q", "model.mo", "--set", "T.start=310", "--set", "T.start=320"]);
    assert_eq!(run.status, 0);
    assert!(folder.read("Cooling.csv").lines().nth(1).unwrap().starts_with("0,320,"));
}

#[test]
fn numbers_that_must_be_positive() {
    told(
        "interval",
        &["simulate", "--interval", "-1"],
        COOLING,
        2,
        expect![[r#"
        error: the interval -1 must be greater than zero
    "#]],
    );
    told(
        "tolerance",
        &["simulate", "--tolerance", "-1"],
        COOLING,
        2,
        expect![[r#"
        error: the tolerance -1 must be between 0 and 1
    "#]],
    );
    told(
        "step",
        &["simulate", "--solver", "rk4", "--step", "-0.1"],
        COOLING,
        2,
        expect![[r#"
        error: the step -0.1 must be greater than zero
    "#]],
    );
    told(
        "intervals",
        &["simulate", "--intervals", "-1"],
        COOLING,
        2,
        expect![[r#"
        error: invalid value '-1' for '--intervals <NUMBER>': write a whole number greater than zero

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn variables_that_nobody_has() {
    told(
        "variables",
        &["simulate", "--variables", "temp.*"],
        COOLING,
        0,
        expect![[r#"
        warning[no-variables]: no variable matches `temp.*`; the result holds the time alone
           = help: the regular expression has to match a whole name, as in `motor\..*`; `gyrator flatten` lists the names
        Cooling.csv: 501 rows
    "#]],
    );
}

#[test]
fn real_numbers_compared_for_equality() {
    let model = "model Bang
  parameter Real limit = 0.5;
  Real x(start = 0, fixed = true);
  discrete Real last(start = 0, fixed = true);
  Boolean fresh = last == 0, limited = limit <> 0;
equation
  der(x) = if x == limit then 0 else 1;
  when time > 0.5 then
    last = time;
  end when;
end Bang;
";
    told(
        "equality",
        &["check", "--no-unit-check"],
        model,
        0,
        expect![[r#"
        warning[real-equality]: `==` compares Real numbers that change continuously: rounding errors decide
          --> model.mo:7:15
           |
         7 |   der(x) = if x == limit then 0 else 1;
           |               ^^^^^^^^^^
           = help: compare with a tolerance, such as `abs(a - b) < 1e-6`, or with `<` or `>` for what happens from then on
           = see: Modelica specification, section 3.5
    "#]],
    );
}

#[test]
fn an_experiment_that_cannot_be() {
    let model = "model Ramp
  Real x = time;
  annotation(experiment(StartTime = 2, StopTime = 1, Intervall = 0.1, Interval = 0, Tolerance = 2, __Tool_Plot = 1));
end Ramp;
";
    told(
        "experiment",
        &["simulate"],
        model,
        0,
        expect![[r#"
        warning[experiment-setting]: `Intervall` is no setting of an experiment and is left out
          --> model.mo:3:54
           |
         3 |   annotation(experiment(StartTime = 2, StopTime = 1, Intervall = 0.1, Interval = 0, Tolerance = 2, __Tool_Plot = 1));
           |                                                      ^^^^^^^^^
           = help: the settings are StartTime, StopTime, Interval and Tolerance
           = see: Modelica specification, section 18.4
        warning[experiment-setting]: `Interval` of the experiment is 0 and must be greater than zero; the default is used
          --> model.mo:3:71
           |
         3 |   annotation(experiment(StartTime = 2, StopTime = 1, Intervall = 0.1, Interval = 0, Tolerance = 2, __Tool_Plot = 1));
           |                                                                       ^^^^^^^^
        warning[experiment-setting]: `Tolerance` of the experiment is 2 and must be between 0 and 1; the default is used
          --> model.mo:3:85
           |
         3 |   annotation(experiment(StartTime = 2, StopTime = 1, Intervall = 0.1, Interval = 0, Tolerance = 2, __Tool_Plot = 1));
           |                                                                                     ^^^^^^^^^
        warning[experiment-setting]: `StopTime` of the experiment is 1 and must be after StartTime; the default is used
          --> model.mo:3:40
           |
         3 |   annotation(experiment(StartTime = 2, StopTime = 1, Intervall = 0.1, Interval = 0, Tolerance = 2, __Tool_Plot = 1));
           |                                        ^^^^^^^^
        Ramp.csv: 501 rows
    "#]],
    );
    told(
        "experiment-strict",
        &["simulate", "--strict", "-q"],
        model,
        1,
        expect![[r#"
        error[experiment-setting]: `Interval` of the experiment is 0 and must be greater than zero; the default is used
          --> model.mo:3:71
           |
         3 |   annotation(experiment(StartTime = 2, StopTime = 1, Intervall = 0.1, Interval = 0, Tolerance = 2, __Tool_Plot = 1));
           |                                                                       ^^^^^^^^
        error[experiment-setting]: `Tolerance` of the experiment is 2 and must be between 0 and 1; the default is used
          --> model.mo:3:85
           |
         3 |   annotation(experiment(StartTime = 2, StopTime = 1, Intervall = 0.1, Interval = 0, Tolerance = 2, __Tool_Plot = 1));
           |                                                                                     ^^^^^^^^^
        error[experiment-setting]: `StopTime` of the experiment is 1 and must be after StartTime; the default is used
          --> model.mo:3:40
           |
         3 |   annotation(experiment(StartTime = 2, StopTime = 1, Intervall = 0.1, Interval = 0, Tolerance = 2, __Tool_Plot = 1));
           |                                        ^^^^^^^^
    "#]],
    );
}

/// Temperatures have a scale with a zero of its own, differences of them have none.
#[test]
fn a_difference_of_temperatures() {
    let folder = Folder::new("difference");
    folder.write(
        "model.mo",
        "model Wall
  type Temperature = Real(final quantity = \"ThermodynamicTemperature\", final unit = \"K\", displayUnit = \"degC\")
    annotation(absoluteValue = true);
  type Difference = Real(final quantity = \"ThermodynamicTemperature\", final unit = \"K\", displayUnit = \"degC\")
    annotation(absoluteValue = false);
  type Drop = Difference(min = 0);
  parameter Temperature T = 300;
  parameter Drop dT = 5;
  parameter Real step(unit = \"K\") = 1 annotation(absoluteValue = false);
  Real x = T + dT + step;
end Wall;
",
    );
    let set = ["--set", "T=20 degC", "--set", "dT=18 degF", "--set", "step=2 degC"];
    let run = gyrator(&folder, &[&["simulate", "-q", "model.mo"], &set[..]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let text = folder.read("Wall.csv");
    let values: Vec<f64> = text.lines().nth(1).unwrap().split(',').map(|value| value.parse().unwrap()).collect();
    let expected = [0.0, 293.15, 10.0, 2.0, 305.15];
    assert!(values.iter().zip(expected).all(|(value, expected)| (value - expected).abs() < 1e-9), "{text}");
    let flat = gyrator(&folder, &["flatten", "model.mo", "--format", "json"]);
    assert_eq!(flat.stdout.matches("\"displayUnit\": \"degC\"").count(), 1, "{}", flat.stdout);
}

/// A file of a package is a class of that package, wherever the program is called.
#[test]
fn a_file_in_a_package() {
    let folder = Folder::new("package");
    std::fs::create_dir_all(folder.path("Lib/Parts")).unwrap();
    folder.write("Lib/package.mo", "package Lib\n  constant Real k = 3;\nend Lib;\n");
    folder.write("Lib/Parts/package.mo", "within Lib;\npackage Parts\n  constant Real two = 2;\nend Parts;\n");
    folder.write("Lib/Parts/M.mo", "within Lib.Parts;\nmodel M\n  Real x = k*two*time;\nend M;\n");
    for (place, file) in
        [("", "Lib/Parts/M.mo"), ("Lib", "Parts/M.mo"), ("Lib/Parts", "M.mo"), ("Lib/Parts", "../Parts/M.mo")]
    {
        let run = gyrator(&Folder::within(&folder, place), &["check", file]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{place} {file}");
        assert!(run.stdout.starts_with("Lib.Parts.M: "), "{}", run.stdout);
    }
    // The class that is asked for, and a file that does not belong to the package.
    let run = gyrator(&folder, &["check", "Lib/package.mo", "-m", "Parts.M"]);
    assert!(run.stdout.starts_with("Lib.Parts.M: "), "{} {}", run.stdout, run.stderr);
    folder.write("Lib/other.mo", "model Other\n  Real x = time;\nend Other;\n");
    let run = gyrator(&folder, &["check", "Lib/other.mo"]);
    assert!(run.stdout.starts_with("Other: "), "{} {}", run.stdout, run.stderr);
}

#[test]
fn a_flat_text_without_bounds() {
    told(
        "shared",
        &["flatten"],
        "model M
  Real a;
algorithm
  a := time;
  for i in 1:60 loop
    a := if a > i then sin(a) else cos(a);
  end for;
end M;
",
        1,
        expect![[r#"
            error: the text would have 1e29 terms, since algorithms share expressions and equations repeat them; `gyrator simulate` and `gyrator equations` work without the text
        "#]],
    );
}

#[test]
fn a_class_in_a_file_and_in_a_folder() {
    let folder = Folder::new("twice");
    std::fs::create_dir_all(folder.path("P/M")).unwrap();
    folder.write("P/package.mo", "package P\nend P;\n");
    folder.write("P/M.mo", "within P;\nmodel M\n  Real x = 1;\nend M;\n");
    folder.write("P/M/package.mo", "within P;\nmodel M\n  Real x = 2;\nend M;\n");
    let run = gyrator(&folder, &["check", "P", "-m", "P.M"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    expect![[r#"
        error[duplicate-class]: the class `M` stands in two places of one folder
           = one is `P/M`
           = the other is `P/M.mo`
           = help: remove one of them
           = see: Modelica specification, section 13.4.1
    "#]]
    .assert_eq(&run.stderr);
}
