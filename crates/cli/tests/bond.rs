//! Bond graphs on the command line: the report, the drawings, state spaces with numbers and with symbols.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};
use expect_test::expect;

const TWO_INERTIAS: &str = "bondgraph Two
Se F = 10
Sf wall = 0
1 v
1 rest
0 n
I m1 = 2
I m2 = 3
R d = 0.5
F -> v -> m1, m2
v -> n -> d
n -> rest
wall -> rest
output m2.f
";

#[test]
fn the_report_has_causality_simplification_and_state_space() {
    let folder = Folder::new("bond-report");
    folder.write("two.bond", TWO_INERTIAS);
    let run = gyrator(&folder, &["bond", "two.bond"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    expect![[r#"
        Two: 8 elements, 7 bonds

        bonds
          F ->| v         effort from F, flow from v
          v ->| m1        effort from v, flow from m1
          v |-> m2        effort from m2, flow from v
          v |-> n         effort from n, flow from v
          n |-> d         effort from d, flow from n
          n ->| rest      effort from n, flow from rest
          wall |-> rest   effort from rest, flow from wall
        states (integral causality): m1.p
        dependent (derivative causality): m2.p
        algebraic loops: none

        note[derivative-causality]: `m2` has derivative causality: its flow follows from `m1`
          --> two.bond:8:1
           |
         8 | I m2 = 3
           | ^^^^^^^^ dependent storage
          ::: two.bond:7:1
           |
         7 | I m1 = 2
           | -------- integral causality
           = path: I m1 → 1 v → I m2
           = `m2.p` is no state: it follows from that of `m1`

        simplification
          1. the source `wall` keeps the flow of `rest` at zero: removed (7 elements, 6 bonds)
          2. no flow at `rest`, so no power: removed with its bonds (6 elements, 5 bonds)
          3. the 0-junction `n` has two bonds: one bond `v -> d` instead (5 elements, 4 bonds)

        state space

        states:  m1.p
        inputs:  F
        outputs: m2.f

        A                  m1.p
        der(m1.p)  -d/(m1 + m2)

        B                     F
        der(m1.p)  m1/(m1 + m2)

        C     m1.p
        m2.f  1/m1

        D     F
        m2.f  0

        parameters: m1 = 2, m2 = 3, d = 0.5

        transfer functions
        F → m2.f: 1/((m1 + m2)*s + d)
    "#]]
    .assert_eq(&run.stdout);
}

#[test]
fn the_report_as_json() {
    let folder = Folder::new("bond-json");
    folder.write("two.bond", TWO_INERTIAS);
    let run = gyrator(&folder, &["bond", "two.bond", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["states"], serde_json::json!(["m1.p"]));
    assert_eq!(report["dependent"], serde_json::json!(["m2.p"]));
    assert_eq!(report["bonds"][0], serde_json::json!({ "from": "F", "to": "v", "effort_from": "F", "flow_from": "v" }));
    assert_eq!(report["simplification"].as_array().unwrap().len(), 3, "{report:#}");
}

#[test]
fn contradictions_are_errors_with_the_path() {
    let folder = Folder::new("bond-conflict");
    folder.write("two.bond", "Se a = 1\nSe b = 2\n0 n\nR r = 1\na, b -> n -> r\n");
    for arguments in [&["bond", "two.bond"][..], &["diagram", "two.bond"], &["linearize", "two.bond"]] {
        let run = gyrator(&folder, arguments);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{arguments:?}");
        assert!(run.stderr.contains("error[causal-conflict]") && run.stderr.contains("two.bond:1"), "{}", run.stderr);
    }
}

#[test]
fn drawings_of_the_graph_and_of_each_step() {
    let folder = Folder::new("bond-drawings");
    folder.write("two.bond", TWO_INERTIAS);
    let run = gyrator(&folder, &["diagram", "two.bond", "--output", "two.svg"]);
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    let picture = folder.read("two.svg");
    assert!(picture.starts_with("<svg") && picture.contains("I : m1") && picture.contains("R : d"), "{picture}");
    let same = gyrator(&folder, &["diagram", "two.bond", "--layer", "bondgraph"]);
    assert_eq!((same.status, same.stdout), (0, picture));
    let simple = gyrator(&folder, &["diagram", "two.bond", "--simplify"]).stdout;
    assert!(!simple.contains("Sf : wall") && simple.contains("R : d"), "{simple}");
    assert_eq!(gyrator(&folder, &["bond", "two.bond", "--drawings", "steps", "-q"]).status, 0);
    assert_eq!(folder.read("steps/3.svg"), simple);
    let run = gyrator(&folder, &["diagram", "two.bond", "--output", "two.png"]);
    assert_eq!((run.status, run.stderr.as_str()), (2, "error: `two.png` has to end in .svg\n"));
}

#[test]
fn symbols_in_every_format() {
    let folder = Folder::new("bond-symbols");
    folder.write("rc.bond", "Se U = 12\n1 i\nR R = 2\nC C = 0.5\nU -> i -> R, C\noutput C.e\n");
    let run = |format: &str| {
        let run = gyrator(&folder, &["linearize", "rc.bond", "--symbolic", "--format", format]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{format}");
        run.stdout
    };
    expect![[r#"
        rc

        states:  C.q
        inputs:  U
        outputs: C.e

        A              C.q
        der(C.q)  -1/(R*C)

        B           U
        der(C.q)  1/R

        C    C.q
        C.e  1/C

        D    U
        C.e  0

        parameters: R = 2, C = 0.5

        transfer functions
        U → C.e: 1/(R*C*s + 1)
    "#]]
    .assert_eq(&run("text"));
    expect![[r#"
        % rc
        \begin{align*}
        \frac{\mathrm{d}}{\mathrm{d}t} \left(\begin{array}{c} \mathrm{C.q} \end{array}\right) &= \left(\begin{array}{c}
          -\frac{1}{\mathrm{R} \mathrm{C}} \\
        \end{array}\right)
        \left(\begin{array}{c} \mathrm{C.q} \end{array}\right)
        + \left(\begin{array}{c}
          \frac{1}{\mathrm{R}} \\
        \end{array}\right)
        \left(\begin{array}{c} \mathrm{U} \end{array}\right) \\
        \left(\begin{array}{c} \mathrm{C.e} \end{array}\right) &= \left(\begin{array}{c}
          \frac{1}{\mathrm{C}} \\
        \end{array}\right)
        \left(\begin{array}{c} \mathrm{C.q} \end{array}\right)
        + \left(\begin{array}{c}
          0 \\
        \end{array}\right)
        \left(\begin{array}{c} \mathrm{U} \end{array}\right)
        \end{align*}
        \begin{align*}
        G_{\mathrm{C.e}, \mathrm{U}}(s) &= \frac{1}{\mathrm{R} \mathrm{C} s + 1}
        \end{align*}
    "#]]
    .assert_eq(&run("latex"));
    expect![[r#"
        % rc
        % states: C.q
        % inputs: U
        % outputs: C.e
        R = 2;
        C_p = 0.5;
        A = [
          -1/(R*C_p)
        ];
        B = [
          1/R
        ];
        C = [
          1/C_p
        ];
        D = [
          0
        ];
        if exist('OCTAVE_VERSION', 'builtin')
          pkg load control
        end
        sys = ss(A, B, C, D);
        names = {'C.q'};
        if exist('OCTAVE_VERSION', 'builtin')
          sys = set(sys, 'stname', names);
        else
          sys.StateName = names;
        end
        names = {'U'};
        if exist('OCTAVE_VERSION', 'builtin')
          sys = set(sys, 'inname', names);
        else
          sys.InputName = names;
        end
        names = {'C.e'};
        if exist('OCTAVE_VERSION', 'builtin')
          sys = set(sys, 'outname', names);
        else
          sys.OutputName = names;
        end
    "#]]
    .assert_eq(&run("matlab"));
    expect![[r##"
        # rc
        import control
        import numpy as np

        # states: C.q
        # inputs: U
        # outputs: C.e
        R = 2
        C_p = 0.5
        A = np.array([
            [-1/(R*C_p)],
        ], dtype=float)
        B = np.array([
            [1/R],
        ], dtype=float)
        C = np.array([
            [1/C_p],
        ], dtype=float)
        D = np.array([
            [0],
        ], dtype=float)
        sys = control.StateSpace(
            A, B, C, D,
            states=["C_q"],
            inputs=["U"],
            outputs=["C_e"],
        )
    "##]]
    .assert_eq(&run("python"));
    expect![[r#"
        // rc
        model rc_linear "Linear model: deviations from the point of linearisation"
          parameter Real R = 2;
          parameter Real C = 0.5;
          input Real U;
          output Real 'C.e';
          Real 'C.q'(start = 0, fixed = true, stateSelect = StateSelect.always);
        equation
          der('C.q') = (-1/(R*C))*'C.q' + (1/R)*U;
          'C.e' = (1/C)*'C.q' + (0)*U;
        end rc_linear;
    "#]]
    .assert_eq(&run("modelica"));
    let json: serde_json::Value = serde_json::from_str(&run("json")).unwrap();
    assert_eq!(json["A"], serde_json::json!([["-1/(R*C)"]]));
    assert_eq!(json["poles"], serde_json::json!([[-1.0, 0.0]]));
    assert_eq!(json["parameters"], serde_json::json!({ "R": 2.0, "C": 0.5 }));
    assert_eq!(json["transfer_functions"][0]["function"], "1/(R*C*s + 1)");
}

#[test]
fn symbols_need_a_linear_model() {
    let folder = Folder::new("bond-nonlinear");
    folder.write("case.mo", "model Case\n  input Real u;\n  output Real y = x;\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = u - x^2;\nend Case;\n");
    let run = gyrator(&folder, &["linearize", "case.mo", "--symbolic"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("case.mo:6:3") && run.stderr.contains("`x^2`"), "{}", run.stderr);
    let run = gyrator(&folder, &["linearize", "case.mo", "--symbolic", "--plot", "bode"]);
    assert_eq!((run.status, run.stderr.as_str()), (2, "error: `--plot` needs numbers; leave out `--symbolic`\n"));
}
