//! Conversion scripts applied to texts: the expected text beside the one before.
#![allow(clippy::unwrap_used)]

use packages::conversion::{Remark, Rules, Step, Text, convert, used_version};

fn converted(script: &str, texts: &[&str]) -> (Vec<String>, Vec<Remark>) {
    let step = Step { rules: Rules::parse("test.mos", script).unwrap(), to: "2.0.0".to_owned() };
    let mut texts: Vec<Text> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| Text { path: format!("{at}.mo").into(), content: (*text).to_owned() })
        .collect();
    let mut remarks = Vec::new();
    convert(&mut texts, "Lib", &step, &|class| class == "Lib.Units.Length", &mut remarks).unwrap();
    (texts.into_iter().map(|text| text.content).collect(), remarks)
}

fn check_once(script: &str, before: &str, after: &str) {
    let (texts, remarks) = converted(script, &[before]);
    assert_eq!(texts[0], after);
    assert_eq!(remarks, []);
}

fn check(script: &str, before: &str, after: &str) {
    check_once(script, before, after);
    // What is converted has nothing left to convert.
    assert_eq!(converted(script, &[after]).0[0], after);
}

#[test]
fn classes_keep_the_style_of_the_text() {
    check(
        "convertClass(\"Lib.SIunits\", \"Lib.Units.SI\"); convertClass(\"Lib.SIunits.Conversions\", \"Lib.Units.Conversions\");\n\
         convertClass(\"Lib.Old\", \"Lib.New\");",
        "model M // a comment\n  import SI = Lib.SIunits;\n  import Lib.Old;\n  Lib.SIunits.Length   a;\n  SI.Mass b(start = 1);\n  \
         Old c, d;\n  .Lib.Old e;\n  Real f = SI.Conversions.from_deg( 1 );\n  Lib2.Old g;\n  annotation(Documentation(info = \"see \
         <a href=\\\"modelica://Lib.Old\\\">it</a>\"), uses(Lib(version = \"1.0\"), Other(version = \"1.0\")));\nend M;\n",
        "model M // a comment\n  import SI = Lib.Units.SI;\n  import Lib.New;\n  Lib.Units.SI.Length   a;\n  SI.Mass b(start = 1);\n  \
         New c, d;\n  .Lib.New e;\n  Real f = Lib.Units.Conversions.from_deg( 1 );\n  Lib2.Old g;\n  annotation(Documentation(info = \"see \
         <a href=\\\"modelica://Lib.New\\\">it</a>\"), uses(Lib(version = \"2.0.0\"), Other(version = \"1.0\")));\nend M;\n",
    );
}

#[test]
fn imports_of_whole_packages_and_of_lists() {
    check(
        "convertClass(\"Lib.P.A\", \"Lib.Q.A2\"); convertClass(\"Lib.P.B\", \"Lib.R.B\");",
        "model M\n  import Lib.P.*;\n  A a;\n  Real x = Lib.P.c;\nend M;\nmodel N\n  import Lib.P.{A, B};\n  A a;\n  B b;\nend N;\n",
        "model M\n  import Lib.P.*;\n  Lib.Q.A2 a;\n  Real x = Lib.P.c;\nend M;\nmodel N\n  import Lib.Q.A2; import Lib.R.B;\n  A2 a;\n  B b;\nend N;\n",
    );
}

#[test]
fn names_of_the_user_hide_those_of_the_library() {
    check(
        "convertClass(\"Lib.Old\", \"Lib.New\"); convertElement(\"Lib.Old\", \"p\", \"q\");",
        "package P\n  package Lib\n    model Old\n      Real p;\n    end Old;\n  end Lib;\n  Lib.Old a(p = 1);\n  .Lib.Old b(p = 1);\nend P;\n",
        "package P\n  package Lib\n    model Old\n      Real p;\n    end Old;\n  end Lib;\n  Lib.Old a(p = 1);\n  .Lib.New b(q = 1);\nend P;\n",
    );
}

#[test]
fn elements_in_modifiers_references_calls_and_heirs() {
    check(
        "convertElement({\"Lib.World\", \"Lib.World.gravity\"}, \"mue\", \"mu\"); convertElement(\"Lib.Src\", {\"out.sig\", \"r\"}, {\"y\", \"s\"});\n\
         convertElement(\"Lib.Types.Init\", \"NoInit\", \"None\");",
        "package P\n  model A\n    extends Lib.World(mue = 2);\n    Real a = mue;\n  end A;\n  model B\n    extends A(mue = 3);\n    Real b = mue + z;\n    \
         A inner_a(mue = 5);\n    Lib.Src s[2](each r = mue);\n    Real z = inner_a.mue + s[1].out.sig + s[2].other;\n    Real g = Lib.World.gravity(mue = 4);\n    \
         Lib.Types.Init i = Lib.Types.Init.NoInit;\n  equation\n    connect(s[1].r, x.r);\n  end B;\nend P;\n",
        "package P\n  model A\n    extends Lib.World(mu = 2);\n    Real a = mu;\n  end A;\n  model B\n    extends A(mu = 3);\n    Real b = mu + z;\n    \
         A inner_a(mu = 5);\n    Lib.Src s[2](each s = mu);\n    Real z = inner_a.mu + s[1].y + s[2].other;\n    Real g = Lib.World.gravity(mu = 4);\n    \
         Lib.Types.Init i = Lib.Types.Init.None;\n  equation\n    connect(s[1].s, x.r);\n  end B;\nend P;\n",
    );
}

/// The example of the specification, section 18.8.2.1, with its own names.
#[test]
fn modifiers_are_computed_from_old_ones() {
    // `k1` has its old name, so that the rules would find it again.
    check_once(
        "convertClass(\"Lib.IsolatedPipe\", \"Lib.Pipe\");\nconvertModifiers({\"Lib.IsolatedPipe\"}, fill(\"\", 0), {\"useHeatPort=false\"});\n\
         convertClass(\"Lib.Temporary.NumericValue\", \"Lib.Show.RealValue\");\n\
         convertModifiers(\"Lib.Temporary.NumericValue\", {\"Value\"}, {\"number=%Value%\"});\n\
         convertModifiers(\"Lib.Temporary.NumericValue\", {\"hideConnector\"}, {\"use_numberPort=not %hideConnector%\"});\n\
         convertModifiers(\"Lib.LinearDependency\", {\"y0=0\", \"k1=0\", \"k2=0\"}, {\"y0=%y0%\", \"k1=%y0%*%k1%\", \"k2=%y0%*%k2%\"}, true);\n\
         convertModifiers(\"Lib.Gone\", {\"n\"}, fill(\"\", 0));",
        "model M\n  Lib.IsolatedPipe pipe1;\n  Lib.IsolatedPipe pipe2[n](L = 1);\n  Lib.Temporary.NumericValue v(\n    Value = 10,\n    hideConnector = a or b);\n  \
         Lib.LinearDependency d(y0 = 2, k2 = x + 1) \"text\";\n  Lib.Gone g(n = 3);\n  Lib.Gone h(a = 1, n = 3, redeclare model X = Y);\n  \
         Lib.Gone i(n = 3, final b = 2);\nend M;\n",
        "model M\n  Lib.Pipe pipe1(useHeatPort = false);\n  Lib.Pipe pipe2[n](L = 1, each useHeatPort = false);\n  Lib.Show.RealValue v(\n    number = 10,\n    use_numberPort = not (a or b));\n  \
         Lib.LinearDependency d(y0 = 2, k1 = 0, k2 = 2*(x + 1)) \"text\";\n  Lib.Gone g;\n  Lib.Gone h(a = 1, redeclare model X = Y);\n  \
         Lib.Gone i(final b = 2);\nend M;\n",
    );
}

#[test]
fn a_modifier_decides_about_the_class() {
    check(
        "convertClassIf(\"Lib.Lim\", \"strict\", \"true\", \"Lib.StrictLim\"); convertClass(\"Lib.Lim\", \"Lib.SoftLim\");\n\
         convertClassIf(\"Lib.Col\", \"c\", \"Lib.Colors.red\", \"Lib.Red\");",
        "model M\n  Lib.Lim a(strict = true, u = 1);\n  Lib.Lim b(strict = false);\n  Lib.Col c(c = Lib.Colors.red);\nend M;\n",
        "model M\n  Lib.StrictLim a(u = 1);\n  Lib.SoftLim b(strict = false);\n  Lib.Red c;\nend M;\n",
    );
}

#[test]
fn components_of_one_declaration_may_become_several_classes() {
    check(
        "convertClassIf(\"Lib.Switch\", \"mode\", \"1\", \"Lib.Big\"); convertClassIf(\"Lib.Switch\", \"mode\", \"2\", \"Lib.Small\");\n\
         convertClass(\"Lib.Other\", \"Lib.Another\");",
        "model M\n  inner Lib.Switch[n] a(mode = 1) \"a, 1\" /* , */, b(mode = 2, k = 3),\n    c;\n  \
         .Lib.Switch d(mode = 2),e(mode = 2);\n  .Lib.Switch f, g(mode = 1);\n  Lib.Other h, i;\nend M;\n",
        "model M\n  inner Lib.Big[n] a \"a, 1\" /* , */; inner Lib.Small[n] b(k = 3);\n    inner Lib.Switch[n] c;\n  \
         .Lib.Small d,e;\n  .Lib.Switch f; .Lib.Big g;\n  Lib.Another h, i;\nend M;\n",
    );
    let script = "convertClassIf(\"Lib.Switch\", \"mode\", \"1\", \"Lib.Big\");";
    let before = "model M\n  replaceable Lib.Switch a(mode = 1), b constrainedby Lib.Switch;\nend M;\n\
        model N\n  extends M(a(mode = 1));\nend N;\n";
    let (texts, remarks) = converted(script, &[before]);
    assert_eq!(texts[0], before);
    let told: Vec<usize> = remarks.iter().map(|remark| remark.line).collect();
    assert_eq!(told, [2, 5]);
}

#[test]
fn converted_modifiers_keep_each_and_final() {
    check(
        "convertModifiers(\"Lib.Pipe\", {\"diam=2\"}, {\"area=3*(%diam%)^2\"}); convertModifiers(\"Lib.Pipe\", {\"gone\"}, {\"use=true\"});",
        "model M\n  Lib.Pipe a[2](each diam = 4, r = {1, 2});\n  Lib.Pipe b(final diam = 4);\n  Lib.Pipe c[2](each final diam = 4);\n  \
         Lib.Pipe d[2](gone = {1, 2});\n  Lib.Pipe e[2](diam = {1, 2});\nend M;\n",
        "model M\n  Lib.Pipe a[2](each area = 3*(4)^2, r = {1, 2});\n  Lib.Pipe b(final area = 3*(4)^2);\n  Lib.Pipe c[2](each final area = 3*(4)^2);\n  \
         Lib.Pipe d[2](each use = true);\n  Lib.Pipe e[2](area = 3*({1, 2})^2);\nend M;\n",
    );
}

#[test]
fn modifiers_of_elements_that_are_declared_elsewhere() {
    let script = "convertModifiers(\"Lib.Pipe\", {\"diam=2\"}, {\"area=3*(%diam%)^2\"}); convertModifiers(\"Lib.Gone\", {\"g\"}, fill(\"\", 0));\n\
        convertModifiers(\"Lib.Line\", {\"y0=0\", \"k=0\"}, {\"y1=%y0%\", \"k1=%y0%*%k%\"});";
    check_once(
        script,
        "model A\n  Lib.Pipe a(diam = 1);\n  Lib.Gone w;\n  Lib.Line l(y0 = 1, k = 2);\nend A;\nmodel B\n  extends A(a(final diam = 5), w(g = 3, h = 4));\n  \
         A u(a(diam = 6), l(y0 = 3, k = 4));\nend B;\n",
        "model A\n  Lib.Pipe a(area = 3*(1)^2);\n  Lib.Gone w;\n  Lib.Line l(y1 = 1, k1 = 1*2);\nend A;\nmodel B\n  extends A(a(final area = 3*(5)^2), w(h = 4));\n  \
         A u(a(area = 3*(6)^2), l(y1 = 3, k1 = 3*4));\nend B;\n",
    );
    // A value that is given elsewhere is not the default.
    let before = "model C = Lib.Line(y0 = 2, k = 3);\nmodel D\n  C q(k = 4);\n  A u(a.diam = 2);\nend D;\nmodel A\n  Lib.Pipe a;\nend A;\n";
    let (texts, remarks) = converted(script, &[before]);
    assert_eq!(texts[0], before.replace("(y0 = 2, k = 3)", "(y1 = 2, k1 = 2*3)"));
    let told: Vec<(usize, &str)> = remarks.iter().map(|remark| (remark.line, remark.message.as_str())).collect();
    assert_eq!(
        told,
        [
            (3, "`y0` has no value from which `k1` could be converted, since it is declared elsewhere"),
            (4, "`diam` is not converted where it is written with points; write it in parentheses"),
        ]
    );
}

#[test]
fn connections_decide_about_modifiers() {
    check(
        "convertModifiers(\"Lib.R\", {\"cardinality(heat)=1\"}, {\"useHeatPort=true\"});",
        "model M\n  Lib.R a;\n  Lib.R b;\nequation\n  connect(a.heat, x);\nend M;\n",
        "model M\n  Lib.R a(useHeatPort = true);\n  Lib.R b;\nequation\n  connect(a.heat, x);\nend M;\n",
    );
}

#[test]
fn what_cannot_be_converted_is_told_with_its_line() {
    let script = "convertMessage(\"Lib.Bad\", \"there is no such model any more\"); convertMessage(\"Lib.Half\", \"`p` is gone\", \"p\");\n\
        convertModifiers(\"Lib.Two\", {\"a\", \"b\"}, {\"c=%a%+%b%\"});";
    let (texts, remarks) = converted(
        script,
        &["model M\n  Lib.Bad a;\n  Lib.Half b(q = 1);\n  Lib.Half c(p = 1);\n  Lib.Two d(a = 1);\nend M;\n"],
    );
    assert!(texts[0].contains("Lib.Bad a;") && texts[0].contains("d(a = 1)"), "{}", texts[0]);
    let told: Vec<(usize, &str)> = remarks.iter().map(|remark| (remark.line, remark.message.as_str())).collect();
    assert_eq!(
        told,
        [
            (2, "there is no such model any more"),
            (4, "`p` is gone"),
            (5, "`b` has no value from which `c` could be converted"),
        ]
    );
}

#[test]
fn names_with_several_parts_in_parentheses() {
    check(
        "convertElement(\"Lib.Machine\", \"stator.strayReluctance\", \"stator.stray\");",
        "model M\n  Lib.Machine a(stator(strayReluctance(x = 1), y = 2));\n  Lib.Machine b(stator.strayReluctance.x = 1);\nend M;\n",
        "model M\n  Lib.Machine a(stator(stray(x = 1), y = 2));\n  Lib.Machine b(stator.stray.x = 1);\nend M;\n",
    );
    let script = "convertElement(\"Lib.A\", \"a.b\", \"c\"); convertModifiers(\"Lib.A\", {\"d.e\"}, {\"f=%d.e%\"});";
    let (texts, remarks) =
        converted(script, &["model M\n  Lib.A x(a(b = 1), d(e = 2));\n  Lib.A y(a.b = 1, d.e = 2);\nend M;\n"]);
    assert_eq!(texts[0], "model M\n  Lib.A x(a(b = 1), d(e = 2));\n  Lib.A y(c = 1, f = 2);\nend M;\n");
    let told: Vec<&str> = remarks.iter().map(|remark| remark.message.split('`').nth(1).unwrap_or_default()).collect();
    assert_eq!(told, ["a.b", "d.e"]);
}

#[test]
fn another_library_is_told() {
    let (texts, remarks) =
        converted("convertClass(\"Lib.A\", \"ObsoleteLib.A\");", &["model M\n  Lib.A a;\n  Lib.A b;\nend M;\n"]);
    assert_eq!(texts[0], "model M\n  ObsoleteLib.A a;\n  ObsoleteLib.A b;\nend M;\n");
    assert_eq!(remarks.len(), 1);
    assert!(remarks[0].line == 2 && remarks[0].message.contains("`ObsoleteLib` is used"), "{remarks:?}");
}

#[test]
fn classes_of_several_files_belong_together() {
    let script = "convertElement(\"Lib.World\", \"mue\", \"mu\");";
    let (texts, _) = converted(
        script,
        &[
            "package P\n  annotation(uses(Lib(version = \"1.0\")));\nend P;\n",
            "within P;\nmodel A\n  extends Lib.World;\nend A;\n",
            "within P;\nmodel B\n  A a(mue = 1);\nend B;\n",
        ],
    );
    assert!(texts[0].contains("version = \"2.0.0\""));
    assert_eq!(texts[2], "within P;\nmodel B\n  A a(mu = 1);\nend B;\n");
}

#[test]
fn texts_with_errors_stay_as_they_are() {
    let mut texts = [Text { path: "a.mo".into(), content: "model M Lib.Old end M;".to_owned() }];
    let step = Step { rules: Rules::parse("s", "convertClass(\"Lib.Old\", \"Lib.New\")").unwrap(), to: "2".to_owned() };
    let reason = convert(&mut texts, "Lib", &step, &|_| false, &mut Vec::new()).unwrap_err();
    assert!(reason.contains("a.mo") && texts[0].content == "model M Lib.Old end M;", "{reason}");
    let text =
        Text { path: "b.mo".into(), content: "model M annotation(uses(Lib(version=\"1.5\"))); end M;".to_owned() };
    assert_eq!(used_version(&[text], "Lib").unwrap().as_deref(), Some("1.5"));
}

/// An iterator is nearer than what a class inherits or declares.
#[test]
fn iterators_hide_other_names() {
    let script = "convertElement(\"Lib.A\", {\"old\", \"p\"}, {\"new\", \"q\"});";
    check(
        script,
        "model M\n  extends Lib.A(old = 5);\n  Real w[3] = {old for old in 1:old};\n  Real v = sum(old + p for old in 1:3);\n  \
         Real u[2, 3] = {{old*j for j in 1:old} for old in 1:2};\n  Real s;\nequation\n  for old in 1:3 loop\n    x[old] = p[old];\n  end for;\n  \
         y = old;\nalgorithm\n  for old in 1:3, p in old:old loop s := s + old + p; end for;\n  s := s + old;\nend M;\n",
        "model M\n  extends Lib.A(new = 5);\n  Real w[3] = {old for old in 1:new};\n  Real v = sum(old + q for old in 1:3);\n  \
         Real u[2, 3] = {{old*j for j in 1:old} for old in 1:2};\n  Real s;\nequation\n  for old in 1:3 loop\n    x[old] = q[old];\n  end for;\n  \
         y = new;\nalgorithm\n  for old in 1:3, p in old:old loop s := s + old + p; end for;\n  s := s + new;\nend M;\n",
    );
}

/// Elements of an iterator are those of the class that it runs over.
#[test]
fn iterators_have_the_class_of_what_they_run_over() {
    let script = "convertElement(\"Lib.A\", \"p\", \"q\");";
    check(
        script,
        "package P\n  record R\n    Real p = 1;\n    Lib.A inside;\n  end R;\n  function f\n    input Real u;\n    output Lib.A y[2];\n  end f;\n  \
         constant Lib.A fixed;\n  model M\n    Lib.A a(p = 5), arr[2], b;\n    R recs[2];\n    Real s = sum(a.p for a in recs) + a.p;\n    \
         Real t = sum(e.p for e in arr) + sum(e.p for e in arr[1:2]) + sum(e.p for e in {a, b});\n    \
         Real u = sum(e.inside.p for e in recs) + sum(sum(g.p for g in e) for e in {arr, arr});\n    \
         Real v = sum(e.p for e in f(1)) + sum(e.p for e in recs.inside) + sum(e.p for e in {d for d in arr});\n    \
         Real w = fixed.p + P.fixed.p + .P.fixed.p;\n  algorithm\n    for e in arr loop s := e.p; end for;\n    for e in recs loop s := e.p; end for;\n  end M;\nend P;\n",
        "package P\n  record R\n    Real p = 1;\n    Lib.A inside;\n  end R;\n  function f\n    input Real u;\n    output Lib.A y[2];\n  end f;\n  \
         constant Lib.A fixed;\n  model M\n    Lib.A a(q = 5), arr[2], b;\n    R recs[2];\n    Real s = sum(a.p for a in recs) + a.q;\n    \
         Real t = sum(e.q for e in arr) + sum(e.q for e in arr[1:2]) + sum(e.q for e in {a, b});\n    \
         Real u = sum(e.inside.q for e in recs) + sum(sum(g.q for g in e) for e in {arr, arr});\n    \
         Real v = sum(e.q for e in f(1)) + sum(e.q for e in recs.inside) + sum(e.q for e in {d for d in arr});\n    \
         Real w = fixed.q + P.fixed.q + .P.fixed.q;\n  algorithm\n    for e in arr loop s := e.q; end for;\n    for e in recs loop s := e.p; end for;\n  end M;\nend P;\n",
    );
}

/// What a class inherits from the library is nearer than what stands around it; names of functions are nearer still.
#[test]
fn the_nearest_name_counts() {
    check(
        "convertElement(\"Lib.A\", \"p\", \"q\");",
        "package P\n  constant Real p = 2;\n  model M\n    extends Lib.A;\n    Real x = p;\n    function f\n      input Real p;\n      output Real y = p;\n    \
         end f;\n    function g\n      input Real u;\n      output Real y = u + p;\n    end g;\n    encapsulated model N\n      Real x = p;\n    end N;\n    \
         Real z = f(p = p);\n  end M;\n  model O\n    Real x = p;\n  end O;\nend P;\n",
        "package P\n  constant Real p = 2;\n  model M\n    extends Lib.A;\n    Real x = q;\n    function f\n      input Real p;\n      output Real y = p;\n    \
         end f;\n    function g\n      input Real u;\n      output Real y = u + q;\n    end g;\n    encapsulated model N\n      Real x = p;\n    end N;\n    \
         Real z = f(p = q);\n  end M;\n  model O\n    Real x = p;\n  end O;\nend P;\n",
    );
}

/// Names with several parts replace no subscripts between them.
#[test]
fn subscripts_inside_of_a_renamed_name() {
    let script = "convertElement(\"Lib.A\", \"out.sig\", \"y\");";
    let (texts, remarks) = converted(script, &["model M\n  Lib.A a;\n  Real x = a.out[2].sig + a.out.sig;\nend M;\n"]);
    assert_eq!(texts[0], "model M\n  Lib.A a;\n  Real x = a.out[2].sig + a.y;\nend M;\n");
    assert!(remarks.len() == 1 && remarks[0].line == 3 && remarks[0].message.contains("subscripts"), "{remarks:?}");
}

#[test]
fn components_that_are_redeclared_have_the_new_name() {
    let script = "convertElement(\"Lib.A\", {\"part\", \"Part\"}, {\"piece\", \"Piece\"}); convertElement(\"Lib.Part\", \"p\", \"q\");";
    let before = "model M\n  extends Lib.A;\n  redeclare Lib.Part part(p = 1);\n  Real x = part.p;\n  Lib.Part other;\n  Real y = other.p;\n\
        end M;\nmodel N\n  extends M(redeclare Lib.Part part(p = 2));\n  redeclare model Part = Lib.Part;\nend N;\n";
    let (texts, remarks) = converted(script, &[before]);
    assert_eq!(
        texts[0],
        "model M\n  extends Lib.A;\n  redeclare Lib.Part piece(q = 1);\n  Real x = piece.q;\n  Lib.Part other;\n  Real y = other.q;\n\
        end M;\nmodel N\n  extends M(redeclare Lib.Part piece(q = 2));\n  redeclare model Part = Lib.Part;\nend N;\n"
    );
    assert!(remarks.len() == 1 && remarks[0].line == 10 && remarks[0].message.contains("`Piece` now"), "{remarks:?}");
}

/// What decides about the class is gone with that; other rules do not find it.
#[test]
fn a_modifier_that_decides_is_used_up() {
    let script = "convertClassIf(\"Lib.Col\", \"color\", \"red\", \"Lib.Red\"); convertClass(\"Lib.Col\", \"Lib.Gen\");\n\
        convertModifiers(\"Lib.Col\", {\"color=1\"}, {\"col=%color%+10\"}); convertModifiers(\"Lib.Two\", {\"kind\", \"p\"}, {\"k=%p%\"});\n\
        convertClassIf(\"Lib.Two\", \"kind\", \"1\", \"Lib.One\");";
    check(
        script,
        "model M\n  Lib.Col a(color=Lib.Colors.red,p=2);\n  Lib.Col b(color=3);\n  Lib.Col c(color = Lib.Colors.red), d(color = 4);\n\
        end M;\n",
        "model M\n  Lib.Red a(p=2);\n  Lib.Gen b(col = 3+10);\n  Lib.Red c; Lib.Gen d(col = 4+10);\nend M;\n",
    );
    let (texts, remarks) = converted(script, &["model M\n  Lib.Two a(kind = 1, p = 2);\nend M;\n"]);
    assert_eq!(texts[0], "model M\n  Lib.One a(p = 2);\nend M;\n");
    assert!(remarks.len() == 1 && remarks[0].message.contains("`p` is not converted"), "{remarks:?}");
}

/// A new name that an iterator or something nearer has already would mean that.
#[test]
fn a_new_name_is_not_captured() {
    let before = "model M\n  extends Lib.A;\n  Real x = sum(p for q in 1:3);\n  function f\n    input Real q;\n    output Real y = q + p;\n  end f;\n\
        end M;\n";
    let (texts, remarks) = converted("convertElement(\"Lib.A\", \"p\", \"q\");", &[before]);
    assert_eq!(texts[0], before);
    let told: Vec<(usize, &str)> = remarks.iter().map(|remark| (remark.line, remark.message.as_str())).collect();
    let message = "`p` is `q` now, but that name means something else here";
    assert_eq!(told, [(3, message), (6, message)]);
}
