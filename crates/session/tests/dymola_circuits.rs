//! Random circuits of resistors, inductors and capacitors, written by series and parallel operators in the Dymola language and as
//! a list of nodes in Modelica: both give the same trajectories.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use fastrand::Rng;
use results::{MemorySink, Trajectories};
use session::{Disk, Ending, EventLog, Request, Session, Settings};

const DYMOLA: &str = "model class TwoPort
  cut A (Va / i), B (Vb / -i)
  main path P < A - B >
  local u
  u = Va - Vb
end
model class (TwoPort) Resistor
  parameter R
  R * i = u
end
model class (TwoPort) Capacitor
  parameter C
  C * der(u) = i
end
model class (TwoPort) Inductor
  parameter L
  L * der(i) = u
end
model class (TwoPort) Source
  u = -sin(3 * Time)
end
model Common
  main cut A (V / i)
  V = 0
end
";

const MODELICA: &str = "package Circuits
connector Pin Real v; flow Real i; end Pin;
partial model Element
  Pin p, n;
  Real voltage = p.v - n.v, current = p.i;
equation
  p.i + n.i = 0;
end Element;
model Resistor
  extends Element;
  parameter Real R;
equation
  voltage = R*current;
end Resistor;
model Capacitor
  extends Element;
  parameter Real C;
equation
  current = C*der(voltage);
end Capacitor;
model Inductor
  extends Element;
  parameter Real L;
equation
  voltage = L*der(current);
end Inductor;
model Source
  extends Element;
equation
  voltage = -sin(3*time);
end Source;
model Ground
  Pin p;
equation
  p.v = 0;
end Ground;
";

enum Tree {
    Element(usize),
    Series(Vec<Tree>),
    Parallel(Vec<Tree>),
}

struct Circuit {
    tree: Tree,
    /// Class and parameter.
    elements: Vec<(&'static str, &'static str, f64)>,
}

impl Circuit {
    fn random(rng: &mut Rng) -> Self {
        let mut elements = Vec::new();
        let tree = Self::tree(rng, 3, &mut elements);
        Self { tree, elements }
    }

    fn tree(rng: &mut Rng, depth: usize, elements: &mut Vec<(&'static str, &'static str, f64)>) -> Tree {
        if depth == 0 || rng.u8(..4) == 0 {
            let classes = [("Resistor", "R"), ("Capacitor", "C"), ("Inductor", "L")];
            let (class, parameter) = classes[rng.usize(..3)];
            elements.push((class, parameter, (1.0 + 9.0 * rng.f64()).round() / 4.0));
            return Tree::Element(elements.len() - 1);
        }
        let parts = (0..rng.usize(2..4)).map(|_| Self::tree(rng, depth - 1, elements)).collect();
        if rng.bool() { Tree::Series(parts) } else { Tree::Parallel(parts) }
    }

    /// A resistor at the source keeps it apart from what has no resistance.
    fn dymola(&self) -> String {
        let mut text = format!("{DYMOLA}model Circuit\n  submodel (Source) U0\n  submodel (Resistor) Ri(R = 2)\n");
        for (index, (class, parameter, value)) in self.elements.iter().enumerate() {
            let _ = writeln!(text, "  submodel ({class}) E{index}({parameter} = {value})");
        }
        let _ = writeln!(text, "  submodel Common\n  connect Common - ((U0 - Ri) // {})\nend", expression(&self.tree));
        text
    }

    fn modelica(&self) -> String {
        let mut text = format!("{MODELICA}model Circuit\n  Source U0;\n  Ground ground;\n  Resistor Ri(R = 2);\n");
        for (index, (class, parameter, value)) in self.elements.iter().enumerate() {
            let _ = writeln!(text, "  {class} E{index}({parameter} = {value});");
        }
        let mut connections = String::new();
        let mut nodes = 3;
        wire(&self.tree, 1, 3, &mut nodes, &mut connections);
        for (pin, node) in [("U0.p", 1), ("U0.n", 2), ("Ri.p", 2), ("Ri.n", 3), ("ground.p", 1)] {
            let _ = writeln!(connections, "  connect({pin}, node[{node}]);");
        }
        let _ = writeln!(text, "  Pin node[{nodes}];\nequation\n{connections}end Circuit;\nend Circuits;");
        text
    }
}

fn expression(tree: &Tree) -> String {
    let join = |parts: &[Tree], operator: &str| {
        let parts: Vec<String> = parts.iter().map(expression).collect();
        format!("({})", parts.join(operator))
    };
    match tree {
        Tree::Element(index) => format!("E{index}"),
        Tree::Series(parts) => join(parts, " - "),
        Tree::Parallel(parts) => join(parts, "//"),
    }
}

fn wire(tree: &Tree, from: usize, to: usize, nodes: &mut usize, text: &mut String) {
    match tree {
        Tree::Element(index) => {
            let _ = writeln!(text, "  connect(E{index}.p, node[{from}]);\n  connect(E{index}.n, node[{to}]);");
        }
        Tree::Parallel(parts) => parts.iter().for_each(|part| wire(part, from, to, nodes, text)),
        Tree::Series(parts) => {
            let mut at = from;
            for (index, part) in parts.iter().enumerate() {
                let next = if index + 1 == parts.len() {
                    to
                } else {
                    *nodes += 1;
                    *nodes
                };
                wire(part, at, next, nodes, text);
                at = next;
            }
        }
    }
}

fn run(path: &str, text: &str) -> Trajectories {
    let mut session = Session::new(Box::new(Disk));
    session.replace_text(path, Some(text.into()));
    let request = Request { target: path.to_owned(), ..Request::default() };
    let settings = Settings { stop_time: Some(4.0), tolerance: Some(1e-9), intervals: Some(40), ..Settings::default() };
    let mut sink = MemorySink::default();
    let outcome = session.flatten(&request).and_then(|model| {
        let options = settings.resolve(&model.experiment).unwrap();
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        session.simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut |_: f64| true)
    });
    let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    let outcome = outcome.unwrap_or_else(|failed| panic!("{failed:?}\n{said}\n{text}"));
    assert_eq!(outcome.ending, Ending::Complete, "{said}\n{text}");
    sink.trajectories
}

/// The flat equations of a text.
fn flat(session: &mut Session, path: &str) -> String {
    let request = Request { target: path.to_owned(), ..Request::default() };
    let model = session.flatten(&request);
    let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    dae::modelica_text(&model.unwrap_or_else(|failed| panic!("{failed:?}: {said}")), None)
}

#[test]
fn translated_circuits_have_the_same_flat_equations() {
    for seed in 1000..1040 {
        let circuit = Circuit::random(&mut Rng::with_seed(seed)).dymola();
        let mut session = Session::new(Box::new(Disk));
        session.replace_text("circuit.dym", Some(circuit.as_str().into()));
        let translated = session.translate("circuit.dym").unwrap_or_else(|failed| panic!("{failed:?}\n{circuit}"));
        let one = flat(&mut session, "circuit.dym");
        session.replace_text("translated.mo", Some(translated.into()));
        assert_eq!(one, flat(&mut session, "translated.mo"), "seed {seed}:\n{circuit}");
    }
}

#[test]
fn series_and_parallel_circuits_are_lists_of_nodes() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (first, cases) = (number("GYRATOR_SEED", 0), number("CASES", 12));
    for seed in first..first + cases {
        let circuit = Circuit::random(&mut Rng::with_seed(seed));
        let (dymola, modelica) = (circuit.dymola(), circuit.modelica());
        let (one, other) = (run("circuit.dym", &dymola), run("circuits.mo", &modelica));
        for index in 0..circuit.elements.len() {
            for (name, twin) in [("u", "voltage"), ("i", "current")] {
                for step in 0..=40 {
                    let time = 0.1 * f64::from(step);
                    let value = one.at(&format!("E{index}.{name}"), time).unwrap();
                    let expected = other.at(&format!("E{index}.{twin}"), time).unwrap();
                    let near = (value - expected).abs() < 1e-6;
                    assert!(near, "seed {seed}: E{index}.{name} is {value} instead of {expected} at {time}\n{dymola}");
                }
            }
        }
    }
}
