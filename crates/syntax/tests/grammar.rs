//! What the abstract syntax says of a text.

use base::{FileId, Id};
use expect_test::{Expect, expect};
use syntax::ast::{
    ClassBody, ClassDef, Component, Composition, Element, Equation, EquationKind, ImportKind, Statement, StatementKind,
};

/// The abstract syntax as an indented outline.
fn outline(text: &str) -> String {
    let parse = syntax::parse(FileId::from_index(0), text);
    assert!(parse.diagnostics.is_empty(), "{:#?}", parse.diagnostics);
    assert_eq!(parse.tree.print(), text);
    assert_eq!(parse.tree.verify(), Ok(()));
    let file = parse.ast();
    let mut out = String::new();
    if let Some(within) = &file.within {
        out += &format!("within [{within}]\n");
    }
    file.classes.iter().for_each(|class| class_outline(&mut out, class, 0));
    out
}

fn line(out: &mut String, depth: usize, text: String) {
    *out += &format!("{}{}\n", "  ".repeat(depth), text.trim_end());
}

fn tail(
    description: &Option<std::sync::Arc<str>>,
    annotation: &Option<std::sync::Arc<syntax::ast::ClassModification>>,
) -> String {
    let description = description.as_ref().map_or(String::new(), |text| format!(" {text:?}"));
    description + &annotation.as_ref().map_or(String::new(), |annotation| format!(" @{annotation}"))
}

fn class_outline(out: &mut String, class: &ClassDef, depth: usize) {
    let protected = if class.prefixes.protected { "protected " } else { "" };
    let purity = match class.purity {
        syntax::ast::Purity::Unstated => String::new(),
        purity => format!("{purity:?} "),
    };
    let extension = match &class.body {
        ClassBody::Long(Composition { extension: Some(modification), .. }) => {
            format!(" extends{}", modification.as_ref().map_or(String::new(), |modification| modification.to_string()))
        }
        _ => String::new(),
    };
    let tail = tail(&class.description, &class.annotation);
    line(out, depth, format!("{protected}{purity}{class}{extension}{tail}"));
    if let ClassBody::Long(composition) = &class.body {
        composition.elements.iter().for_each(|element| element_outline(out, element, depth + 1));
        for section in &composition.equations {
            line(out, depth + 1, format!("{}equation", if section.initial { "initial " } else { "" }));
            section.equations.iter().for_each(|equation| equation_outline(out, equation, depth + 2));
        }
        for section in &composition.algorithms {
            line(out, depth + 1, format!("{}algorithm", if section.initial { "initial " } else { "" }));
            section.statements.iter().for_each(|statement| statement_outline(out, statement, depth + 2));
        }
        if let Some(external) = &composition.external {
            let output = external.output.as_ref().map_or(String::new(), |output| format!("{output} = "));
            let function = external.function.map_or(String::new(), |name| name.to_string());
            let arguments: Vec<String> = external.arguments.iter().map(|argument| argument.to_string()).collect();
            line(
                out,
                depth + 1,
                format!(
                    "external {:?} {output}{function}({}){}",
                    external.language,
                    arguments.join(", "),
                    self::tail(&None, &external.annotation)
                ),
            );
        }
    }
}

fn element_outline(out: &mut String, element: &Element, depth: usize) {
    match element {
        Element::Import(import) => {
            let kind = match &import.kind {
                ImportKind::Qualified => String::new(),
                ImportKind::Renamed(name) => format!(" as {name}"),
                ImportKind::All => " all".to_owned(),
                ImportKind::Several(names) => {
                    let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
                    format!(" {{{}}}", names.join(", "))
                }
            };
            line(out, depth, format!("import {}{kind}", import.path));
        }
        Element::Extends(extends) => {
            let modification =
                extends.modification.as_ref().map_or(String::new(), |modification| modification.to_string());
            line(out, depth, format!("extends {}{modification}{}", extends.base, tail(&None, &extends.annotation)));
        }
        Element::Class(class) => class_outline(out, class, depth),
        Element::Component(component) => component_outline(out, component, depth),
    }
}

fn component_outline(out: &mut String, component: &Component, depth: usize) {
    let protected = if component.prefixes.protected { "protected " } else { "" };
    line(out, depth, format!("{protected}{component}{}", tail(&component.description, &component.annotation)));
}

fn equation_outline(out: &mut String, equation: &Equation, depth: usize) {
    line(out, depth, format!("{equation}{}", tail(&equation.description, &equation.annotation)));
    let mut body = |equations: &[Equation]| equations.iter().for_each(|inner| equation_outline(out, inner, depth + 1));
    match &equation.kind {
        EquationKind::If { branches, otherwise } => {
            branches.iter().for_each(|(_, equations)| body(equations));
            if !otherwise.is_empty() {
                body(otherwise);
            }
        }
        EquationKind::When { branches } => branches.iter().for_each(|(_, equations)| body(equations)),
        EquationKind::For { body: equations, .. } => body(equations),
        _ => {}
    }
}

fn statement_outline(out: &mut String, statement: &Statement, depth: usize) {
    line(out, depth, statement.to_string());
    let mut body =
        |statements: &[Statement]| statements.iter().for_each(|inner| statement_outline(out, inner, depth + 1));
    match &statement.kind {
        StatementKind::If { branches, otherwise } => {
            branches.iter().for_each(|(_, statements)| body(statements));
            body(otherwise);
        }
        StatementKind::When { branches } => branches.iter().for_each(|(_, statements)| body(statements)),
        StatementKind::For { body: statements, .. } | StatementKind::While { body: statements, .. } => body(statements),
        _ => {}
    }
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&outline(text));
}

#[test]
fn files() {
    check(
        "within;\nmodel A end A;\nfinal model B end B;",
        expect![[r#"
        within []
        model A
        final model B
    "#]],
    );
    check(
        "\u{feff}within A.B;\nmodel A end A;",
        expect![[r#"
        within [A.B]
        model A
    "#]],
    );
    check("", expect![""]);
}

#[test]
fn kinds_of_classes() {
    check(
        r#"encapsulated package P "text"
  class A end A; model B end B; record C end C; operator record D end D; block E end E;
  connector F end F; expandable connector G end G; type H = Real; partial package I end I;
  function J end J; pure function K end K; impure function L end L; operator function M end M; operator N end N;
  encapsulated operator O = P.N; pure operator function Q end Q; partial function R end R;
  model extends S(a = 1) "more" Real x; end S; redeclare replaceable model extends T end T;
end P;"#,
        expect![[r#"
            encapsulated package P "text"
              class A
              model B
              record C
              operator record D
              block E
              connector F
              expandable connector G
              type H = Real
              partial package I
              function J
              Pure function K
              Impure function L
              operator function M
              operator N
              encapsulated operator O = P.N
              Pure operator function Q
              partial function R
              model S extends(a=1) "more"
                Real x
              redeclare replaceable model T extends
        "#]],
    );
}

#[test]
fn short_classes() {
    check(
        r#"package P
  type A = Real[3, :](each unit = "m") "text" annotation(x = 1);
  connector B = input Real;
  type C = enumeration(a "first", b annotation(x = 1), 'c d') "text";
  type D = enumeration(:);
  function f_x = der(f, x, y) "text";
  replaceable package M = A.B constrainedby C.D(x = 1) "text";
  replaceable model N end N constrainedby O;
end P;"#,
        expect![[r#"
            package P
              type A = Real[3, :](each unit="m") "text" @(x=1)
              connector B = input Real
              type C = enumeration(a, b, 'c d') "text"
              type D = enumeration(:)
              function f_x = der(f, x, y) "text"
              replaceable package M = A.B constrainedby C.D(x=1) "text"
              replaceable model N
        "#]],
    );
}

#[test]
fn components() {
    check(
        r#"model M
  Real x, y[2](start = {1, 2}) = {1, 2} "text", z;
  Real[2] u[3];
  flow Real i; stream Real h; parameter Integer n = 3; constant Real c = 1; discrete Real d; input Real a; output Real b;
  flow input Real fi; constant input Real ci;
  inner outer A k if n > 3 "text" annotation(Placement());
  final Real e := 1;
  replaceable Real r = 1 constrainedby Real(min = 0) "text" annotation(x = 1);
  redeclare final Real s;
  .Modelica.Units.SI.Angle 'phi 1';
protected
  Real p;
public
  Real q;
end M;"#,
        expect![[r#"
            model M
              Real x
              Real y[2](start={1, 2})={1, 2} "text"
              Real z
              Real u[3, 2]
              flow Real i
              stream Real h
              parameter Integer n=3
              constant Real c=1
              discrete Real d
              input Real a
              output Real b
              flow input Real fi
              constant input Real ci
              inner outer A k if n > 3 "text" @(Placement())
              final Real e=1
              replaceable Real r=1 constrainedby Real(min=0) "text" @(x=1)
              redeclare final Real s
              .Modelica.Units.SI.Angle 'phi 1'
              protected Real p
              Real q
        "#]],
    );
}

#[test]
fn imports_and_extends() {
    check(
        r#"model M
  import A.B; import C = A.B "text"; import A.B.*; import A.{B, C, D}; import .A . *;
  extends A; extends .B.C(x = 1, redeclare model N = O) annotation(x = 1);
protected
  extends D(break x, break connect(a.b, c[1]), y = 1);
end M;"#,
        expect![[r#"
            model M
              import A.B
              import A.B as C
              import A.B all
              import A {B, C, D}
              import .A all
              extends A
              extends .B.C(x=1, redeclare model N = O) @(x=1)
              extends D(break x, break connect(a.b, c[1]), y=1)
        "#]],
    );
}

#[test]
fn modifications() {
    check(
        r#"model M
  A a(b.c(start = 1) = 2, each d = 3, final e(f(g = 1)), each final h = break, i "text");
  A b(redeclare replaceable Real x = 1 constrainedby B, redeclare package P = Q(x = 1), replaceable model N = O "text");
  A c(redeclare each parameter Real y) = d;
end M;"#,
        expect![[r#"
            model M
              A a(b.c(start=1)=2, each d=3, final e(f(g=1)), each final h=break, i)
              A b(redeclare replaceable Real x=1 constrainedby B, redeclare package P = Q(x=1), replaceable model N = O)
              A c(each redeclare parameter Real y)=d
        "#]],
    );
}

#[test]
fn equations() {
    check(
        r#"model M
initial equation
  x = 0;
equation
  der(x) = -x "text" annotation(a = 1);
  (a, , b) = f(x);
  connect(a.p[1], b.n) "text";
  assert(x > 0, "text" + String(x));
  Connections.branch(a.frame, b.frame);
  if a then x = 1; elseif b then y = 2; else z = 3; end if "text";
  if c then end if;
  for i in 1:3, j in {1, 2}, k loop x[i, j, k] = 1; end for;
  when a then reinit(x, 1); elsewhen {b, c} then y = 2; end when;
  initialState(s); transition(s, t, x > 1, immediate = true, priority = 2);
end M;"#,
        expect![[r#"
            model M
              initial equation
                x = 0
              equation
                der(x) = -x "text" @(a=1)
                (a, , b) = f(x)
                connect(a.p[1], b.n) "text"
                assert(x > 0, "text" + String(x))
                Connections.branch(a.frame, b.frame)
                if a then … "text"
                  x = 1
                  y = 2
                  z = 3
                if c then …
                for i in 1:3, j in {1, 2}, k loop …
                  x[i, j, k] = 1
                when a then …
                  reinit(x, 1)
                  y = 2
                initialState(s)
                transition(s, t, x > 1, immediate=true, priority=2)
        "#]],
    );
}

#[test]
fn statements() {
    check(
        r#"function f
  input Real x; output Real y;
initial algorithm
  y := 0;
algorithm
  y := x^2 "text";
  (a, , b[1]) := g(x);
  (c) := g(x);
  g(x);
  if a then y := 1; elseif b then y := 2; else y := 3; end if;
  for i in 1:3 loop y := i; break; end for;
  while y > 1 loop y := y - 1; return; end while;
  when a then y := 1; elsewhen b then y := 2; end when;
  .A.g(function h(a = 1), b = 2);
end f;"#,
        expect![[r#"
            function f
              input Real x
              output Real y
              initial algorithm
                y := 0
              algorithm
                y := x^2
                (a, , b[1]) := g(x)
                (c) := g(x)
                g(x)
                if a then …
                  y := 1
                  y := 2
                  y := 3
                for i in 1:3 loop …
                  y := i
                  break
                while y > 1 loop …
                  y := y - 1
                  return
                when a then …
                  y := 1
                  y := 2
                .A.g(function h(a=1), b=2)
        "#]],
    );
}

#[test]
fn external_functions() {
    check(
        r#"package P
  function a external; end a;
  function b external "C"; annotation(x = 1); end b;
  function c external "FORTRAN 77" y.z[1] = f(x, size(x, 1), "s") annotation(Library = {"l"}); annotation(y = 1); end c;
  function d external "C" f(); end d;
end P;"#,
        expect![[r#"
            package P
              function a
                external None ()
              function b @(x=1)
                external Some("C") ()
              function c @(y=1)
                external Some("FORTRAN 77") y.z[1] = f(x, size(x, 1), "s") @(Library={"l"})
              function d
                external Some("C") f()
        "#]],
    );
}

#[test]
fn descriptions_and_strings() {
    check(
        "model M \"a\" + \"b\" + \"c\"\n  Real x = f(\"tab\\t quote\\\" line\nbreak\") \"d\" + \"e\";\nend M;",
        expect![[r#"
            model M "abc"
              Real x=f("tab\t quote\" line\nbreak") "de"
        "#]],
    );
}
