//! Assertions see the values of their own instant, also where nothing but results needs those values.

mod common;

use common::ending;
use simulate::Ending;

const NEAR: &str = "function near
    input Real a;
    input Real b;
    output Boolean y;
  protected
    Real difference;
  algorithm
    difference := abs(a - b);
    y := difference < 1e-10 or difference <= max(abs(a), abs(b))*1e-5;
  end near;";

#[test]
fn an_assertion_sees_what_is_computed_for_results_only() {
    let model = "model M
        Real x;
        Real z(start = 0, fixed = true);
      equation
        x = 2*time;
        der(z) = cos(50*time);
        assert(near(x, 2*time), \"x lags behind\");
      end M;";
    assert_eq!(ending(&format!("{NEAR}\n{model}")), Ending::Complete);
}

#[test]
fn an_assertion_of_a_function_fails_when_it_should() {
    let model = "model M
        Real x;
        Real z(start = 0, fixed = true);
      equation
        x = 2*time;
        der(z) = cos(50*time);
        assert(near(min(x, 1), x), \"x passes 1\");
      end M;";
    let Ending::Failed { time, diagnostic } = ending(&format!("{NEAR}\n{model}")) else { panic!("it should fail") };
    assert_eq!(diagnostic.code, "assertion");
    assert!((0.5..=1.0).contains(&time), "{time}");
}

/// What makes no event is looked at after each step, inside of an `if` as outside; in a when clause at its event only.
#[test]
fn an_assertion_in_a_branch_counts_between_events() {
    let failing = [
        "equation if y > -1 then assert(noEvent(y < 0.5), \"late\"); end if;",
        "algorithm if b then assert(noEvent(y < 0.5), \"late\"); end if;",
    ];
    let model = |section: &str| {
        format!(
            "model M parameter Boolean b = true; Real y(start = 0, fixed = true); equation der(y) = 1; {section} end M;"
        )
    };
    for section in failing {
        let Ending::Failed { time, diagnostic } = common::ending(&model(section)) else { panic!("{section}") };
        assert!((0.5..=1.0).contains(&time) && diagnostic.message.contains("late"), "{time}: {diagnostic:?}");
    }
    let passing = [
        "equation if y > 2 then assert(noEvent(y < 0.5), \"late\"); end if;",
        "algorithm when time > 0.3 then assert(noEvent(y < 0.5), \"late\"); end when;",
        "algorithm when sample(0, 0.4) then assert(noEvent(y < 0.9), \"late\"); end when;",
    ];
    for section in passing {
        assert_eq!(common::ending(&model(section)), Ending::Complete, "{section}");
    }
}

/// A function that asserts something is called where it stands, whatever becomes of its results (12.4.3).
#[test]
fn assertions_of_calls_count_whatever_becomes_of_the_results() {
    const FUNCTIONS: &str =
        "function f input Real x; output Real y; algorithm assert(x < 0.5, \"late\"); y := 1; end f;
        function check input Real x; algorithm assert(x < 0.5, \"late\"); end check;
        function g input Real x; output Real y; algorithm y := 0*f(x) + x; annotation(Inline = true); end g;
        function part input Real x; output Real y; algorithm y := if x > 2 then f(x) else 0; annotation(Inline = true);
          end part;";
    let model = |section: &str| {
        format!(
            "{FUNCTIONS} model M parameter Real p = 3; final parameter Real q = 0; final parameter Real r = 2*q;
               Real y(start = 0, fixed = true); Real z; Integer n(start = 1, fixed = true);
               equation der(y) = 1; when time > 2 then n = 2; end when; {section} end M;"
        )
    };
    let failing = [
        "check(y); z = 1;",
        "if p > 2 then check(y); end if; z = 1;",
        "for i in 1:2 loop check(i*y); end for; z = 1;",
        "z = 0*f(y);",
        "z = f(y) - f(y);",
        "z + f(y) = f(y) + 1;",
        "z = f(y)^0;",
        "z = {f(y), 1}*{0, 1};",
        "z = if f(y) > 10 then 1 else 1;",
        "z = if y < 0.6 then 1 else 2 + 0*f(y);",
        "z = 0*g(y);",
        "z = q*f(y);",
        "z = f(y)^(q - r);",
        "z = 1 + (q*r)/f(y);",
        "algorithm z := y; check(z);",
        "algorithm z := 0; for i in 1:n loop z := z + y; check(z); end for;",
        "algorithm z := 0; for i in 1:n loop check(y); end for;",
        "algorithm z := f(y); z := 2;",
        "algorithm z := 0; for i in 1:n loop z := z + y; assert(noEvent(z < 0.5), \"late\"); end for;",
    ];
    for section in failing {
        let Ending::Failed { time, diagnostic } = ending(&model(section)) else { panic!("{section}") };
        assert!(
            (0.25..=1.0).contains(&time) && diagnostic.message.contains("late"),
            "{section} {time}: {diagnostic:?}"
        );
    }
    let passing = [
        "if p > 4 then check(y); end if; z = 1;",
        "z = if y < 2 then 1 else 2 + 0*f(y);",
        "z = 0*part(y);",
        "z = 1; when time > 0.3 then check(y); end when;",
        "z = 1; assert(y < 2, \"y is \" + String(f(y)));",
    ];
    for section in passing {
        assert_eq!(ending(&model(section)), Ending::Complete, "{section}");
    }
    let parameter = format!("{FUNCTIONS} model M parameter Real p = 3; parameter Real q = 0*f(p); Real x = q; end M;");
    assert!(matches!(ending(&parameter), Ending::NotInitialised(_)));
}

/// A message speaks of the functions of the model only.
#[test]
fn functions_that_were_made_are_not_named() {
    let said = common::run_messages(
        "model M function f input Real x; output Real y; algorithm assert(x < 0.5, \"late\"); y := 1; end f;
         Real x(start = 0, fixed = true); Real z = 0*f(x); equation der(x) = 1; end M;",
    );
    assert!(said.contains("late") && !said.contains("holds"), "{said}");
}

/// Two systems have the same solution. What counts as rounding beside unknowns of a hundred thousand is more than the number that
/// their difference is compared with, but who writes that number means it.
#[test]
fn a_small_bound_beside_large_unknowns_holds() {
    let pair = |x: &str, h: &str, more: &str| format!("{h}*{x} + {x}^3 = 1e5*(1 + time){more}; {h} + 1e3*{x} = 1e5;");
    let model = |more: &str| {
        format!(
            "model M Real x(start = 1), h(start = 1e5), y(start = 1), g(start = 1e5); Boolean late = time > 0.5;
             equation {} {} assert(x - y < 1e-10, \"they differ\"); end M;",
            pair("x", "h", more),
            pair("y", "g", "")
        )
    };
    assert_eq!(ending(&model("")), Ending::Complete);
    assert_ne!(ending(&model(" + 1e-3*time")), Ending::Complete);
}

/// A condition between parameters that only an assertion holds is as true in a mode that is entered during the run as at the start.
#[test]
fn assertions_about_parameters_hold_in_every_mode() {
    let text = "model M
      parameter Real k = 1;
      Real u = k;
      Integer n(start = 0, fixed = true);
      Real v(start = 1, fixed = true), i;
      Boolean closed = time > 0.5;
    equation
      der(v) = -i - v;
      if closed then v = 0; else i = 0; end if;
      when time > 0.5 then n = pre(n) + 2; end when;
      assert(u > 0.5, \"no gain\");
      assert(n == 0 or n > 1, \"a wrong number\");
    end M;";
    let run = common::complete(text, 1.0, 1e-6);
    assert_eq!([run.end("v"), run.end("n")], [0.0, 2.0]);
}

/// A network that knows its angle from two sources. The connection that is broken says nothing but that both are equal.
fn two_sources(angles: [&str; 2], equation: &str) -> String {
    let [first, second] = angles;
    format!(
        "type Angle extends Real;
           function equalityConstraint input Angle a; input Angle b; output Real r[0];
           algorithm assert(abs(a - b) < 1e-6, \"the angles differ\"); end equalityConstraint;
         end Angle;
         connector Pin Real v; flow Real i; Angle g; end Pin;
         model Source Pin p; Real w; equation Connections.root(p.g); p.g = w; p.v = 1; end Source;
         model Resistor Pin p, n; equation Connections.branch(p.g, n.g); p.g = n.g; p.i + n.i = 0; p.v - n.v = p.i; end Resistor;
         model M Source s(w = {first}), l(w = {second}); Resistor r; Real x;
         equation connect(s.p, r.p); connect(r.n, l.p); {equation} end M;"
    )
}

#[test]
fn a_broken_connection_without_residue_is_checked() {
    assert_eq!(ending(&two_sources(["3*time", "2*time + time"], "x = 1;")), Ending::Complete);
    for angles in [["3", "3 + time"], ["time", "2*time"], ["3", "4"]] {
        let found = ending(&two_sources(angles, "x = 1;"));
        assert!(format!("{found:?}").contains("the angles differ"), "{angles:?}: {found:?}");
    }
}

/// The assertions of a function that gives an array without elements.
#[test]
fn the_value_of_an_array_without_elements_is_checked() {
    let model = |value: &str| {
        format!(
            "function check input Real x; output Real r[0]; algorithm assert(x < 0.5, \"too big\"); end check;
             model Part parameter Integer n = 1; Real z[n - 1] = {value}; end Part;
             model M Part p, q(n = 1), r[2], none[0]; Real x = time; end M;"
        )
    };
    for (value, holds) in [("check(0.5*time)", false), ("2*check(time)", false), ("check(0.4*time)", true)] {
        match ending(&model(value)) {
            Ending::Complete => assert!(holds, "{value}"),
            Ending::Failed { diagnostic, .. } => {
                assert!(!holds && diagnostic.message.contains("too big"), "{diagnostic:?}")
            }
            other => panic!("{other:?}"),
        }
    }
    let absent = model("check(time)").replace("M Part p, q(n = 1), r[2], none[0];", "M Part p if false; Part none[0];");
    assert_eq!(ending(&absent), Ending::Complete);
}

/// Each broken connection gives an equation of its own.
#[test]
fn two_networks_with_a_broken_connection_each() {
    let text = "type Angle extends Real;
           function equalityConstraint input Angle a; input Angle b; output Real r[1];
           algorithm r[1] := a - b; end equalityConstraint;
         end Angle;
         connector Pin Real v; flow Real i; Angle g; end Pin;
         model End Pin p; Real w; equation Connections.root(p.g); p.g = w; p.v = 1; end End;
         model Resistor Pin p, n; equation Connections.branch(p.g, n.g); p.g = n.g; p.i + n.i = 0; p.v - n.v = p.i; end Resistor;
         model Network parameter Real w; End s(w = w), l; Resistor r;
         equation connect(s.p, r.p); connect(r.n, l.p); end Network;
         model M Network a(w = 1), b(w = 2); End s(w = 3), l; Resistor r;
         equation connect(s.p, r.p); connect(r.n, l.p); end M;";
    let run = common::complete(text, 1.0, 1e-6);
    assert_eq!(["a.l.w", "b.l.w", "l.w"].map(|name| run.end(name)), [1.0, 2.0, 3.0]);
}

/// Arrays of what is overdetermined: each element is in the constraint of a broken connection, and what a root or a branch is
/// said to be holds for each record of an array.
#[test]
fn elements_of_overdetermined_arrays_are_constrained() {
    let angle = "type Angle extends Real;
        function equalityConstraint input Angle a; input Angle b; output Real r[1]; algorithm r[1] := a - b;
        end equalityConstraint; end Angle;";
    let phases = "type Angle extends Real;
        function equalityConstraint input Real a[2]; input Real b[2]; output Real r[2]; algorithm r := a - b;
        end equalityConstraint; end Angle;";
    let record = "record Angle Real v;
        function equalityConstraint input Angle a; input Angle b; output Real r[1]; algorithm r[1] := a.v - b.v;
        end equalityConstraint; end Angle;";
    let network = |declared: &str, value: &str| {
        format!(
            "{declared}
             connector Pin Real v; flow Real i; Angle g[2]; end Pin;
             model End Pin p; Real w[2]; equation Connections.root(p.g); {value} = w; p.v = 1; end End;
             model Resistor Pin p, n; equation Connections.branch(p.g, n.g); p.g = n.g; p.i + n.i = 0; p.v - n.v = p.i;
             end Resistor;
             model M End s(w = {{1, 2}}), l; Resistor r; equation connect(s.p, r.p); connect(r.n, l.p); end M;"
        )
    };
    let connectors = "connector Angle extends Real;
          function equalityConstraint input Real a; input Real b; output Real r[1]; algorithm r[1] := a - b;
          end equalityConstraint; end Angle;
        model End Angle g[2]; Real w[2]; equation Connections.root(g[1]); Connections.root(g[2]); g = w; end End;
        model Wire Angle p[2], n[2]; equation
          for k in 1:2 loop Connections.branch(p[k], n[k]); end for; p = n; end Wire;
        model M End s(w = {1, 2}), l; Wire r; equation connect(s.g, r.p); connect(r.n, l.g); end M;";
    for text in [
        network(angle, "p.g"),
        network(phases, "p.g"),
        network(record, "p.g.v").replace("p.g = n.g", "p.g.v = n.g.v"),
        connectors.to_owned(),
    ] {
        let run = common::complete(&text, 1.0, 1e-6);
        assert_eq!(["l.w[1]", "l.w[2]"].map(|name| run.end(name)), [1.0, 2.0], "{text}");
    }
}
