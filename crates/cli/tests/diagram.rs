//! Object diagrams on the command line: layers, formats, values of a result.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};

const CIRCUIT: &str = r#"
connector Pin
  Real v(unit = "V");
  flow Real i(unit = "mA");
  annotation(Icon(graphics = {Rectangle(extent = {{-100, -100}, {100, 100}}, lineColor = {0, 0, 255})}));
end Pin;
model Resistor
  Pin p annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Pin n annotation(Placement(transformation(extent = {{90, -10}, {110, 10}})));
  parameter Real R = 2;
equation
  p.v - n.v = R*p.i;
  p.i + n.i = 0;
  annotation(Icon(graphics = {Text(extent = {{-100, 40}, {100, 80}}, textString = "%name=%R")}));
end Resistor;
model Circuit
  Resistor R1(R = 5) annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
  Pin left annotation(Placement(transformation(extent = {{-60, -10}, {-40, 10}})));
equation
  left.v = 10;
  R1.n.v = 0;
  connect(left, R1.p) annotation(Line(points = {{-50, 0}, {-10, 0}}));
end Circuit;
"#;

#[test]
fn layers_as_svg_and_png() {
    let folder = Folder::new("diagram-layers");
    folder.write("circuit.mo", CIRCUIT);
    let run = gyrator(&folder, &["diagram", "circuit.mo"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.starts_with("<svg") && run.stdout.contains(">R1=5</text>"), "{}", run.stdout);
    assert!(run.stdout.contains("<path d=\"M-50 0L-10 0\""), "{}", run.stdout);
    let changed = gyrator(&folder, &["diagram", "circuit.mo", "--set", "R1.R=7"]);
    assert!(changed.stdout.contains(">R1=7</text>"), "{}", changed.stdout);
    let icon = gyrator(&folder, &["diagram", "circuit.mo", "--model", "Resistor", "--layer", "icon"]);
    assert!(icon.status == 0 && icon.stdout.contains(">Resistor=2</text>"), "{}", icon.stdout);
    let run = gyrator(&folder, &["diagram", "circuit.mo", "--output", "circuit.png", "--scale", "0.5"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert!(std::fs::read(folder.path("circuit.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn values_of_a_result_stand_beside_the_pins() {
    let folder = Folder::new("diagram-values");
    folder.write("circuit.mo", CIRCUIT);
    folder.write("circuit.csv", "time,R1.p.v,R1.p.i,left.v\n0,0,0,0\n1,10,2000,10\n");
    let run = gyrator(&folder, &["diagram", "circuit.mo", "--values", "circuit.csv@0.5"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    for label in [">v = 5\u{a0}V</text>", ">i = 1000\u{a0}mA</text>"] {
        assert!(run.stdout.contains(label), "{label}: {}", run.stdout);
    }
    let run = gyrator(&folder, &["diagram", "circuit.mo", "--values", "circuit.csv@5"]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    folder.write("other.csv", "time,x\n0,0\n1,10\n");
    let run = gyrator(&folder, &["diagram", "circuit.mo", "--values", "other.csv"]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(run.stderr.contains("no variable of a connector"), "{}", run.stderr);
}

#[test]
fn wrong_calls_and_wrong_annotations() {
    let folder = Folder::new("diagram-wrong");
    folder.write("m.mo", "model M\n  annotation(Icon(graphics = {Line(points = 3)}));\nend M;\n");
    let run = gyrator(&folder, &["diagram", "m.mo", "--output", "m.pdf"]);
    assert_eq!((run.status, run.stderr.as_str()), (2, "error: `m.pdf` has to end in .svg or .png\n"));
    let run = gyrator(&folder, &["diagram", "m.mo", "--simplify"]);
    assert_eq!(run.status, 2);
    let run = gyrator(&folder, &["diagram", "m.mo"]);
    assert_eq!(run.status, 0);
    assert!(run.stderr.contains("warning[wrong-annotation]") && run.stderr.contains("m.mo:2"), "{}", run.stderr);
    let run = gyrator(&folder, &["diagram", "Nothing"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
}
