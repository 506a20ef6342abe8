//! Random linear circuits of resistors, capacitors, inductors, sources and ideal transformers, with loops of capacitors and
//! cut sets of inductors, against their descriptor system.

use fastrand::Rng;

use crate::case::Case;
use crate::linear::{self, pick, positive, text};
use crate::pencil::{COSINE, Descriptor, SINE, Solution};

const CLASSES: &str = "connector Pin
  Real v;
  flow Real i;
end Pin;
partial model TwoPin
  Pin p;
  Pin n;
  Real v;
  Real i;
equation
  v = p.v - n.v;
  i = p.i;
  p.i + n.i = 0;
end TwoPin;
model Ground
  Pin p;
equation
  p.v = 0;
end Ground;
model Resistor
  extends TwoPin;
  parameter Real R;
equation
  v = R*i;
end Resistor;
model Capacitor
  extends TwoPin;
  parameter Real C;
equation
  C*der(v) = i;
end Capacitor;
model Inductor
  extends TwoPin;
  parameter Real L;
equation
  L*der(i) = v;
end Inductor;
model VoltageSource
  extends TwoPin;
  parameter Real a;
  parameter Real b;
  parameter Real w;
equation
  v = a*sin(w*time) + b*cos(w*time);
end VoltageSource;
model CurrentSource
  extends TwoPin;
  parameter Real a;
  parameter Real b;
  parameter Real w;
equation
  i = a*sin(w*time) + b*cos(w*time);
end CurrentSource;
model Transformer
  Pin p1;
  Pin n1;
  Pin p2;
  Pin n2;
  Real v1;
  Real i1;
  Real v2;
  Real i2;
  parameter Real n;
equation
  v1 = p1.v - n1.v;
  v2 = p2.v - n2.v;
  p1.i + n1.i = 0;
  p2.i + n2.i = 0;
  i1 = p1.i;
  i2 = p2.i;
  v1 = n*v2;
  i2 = -n*i1;
end Transformer;
";

#[derive(Clone, Copy)]
enum Kind {
    Resistor(f64),
    Capacitor(f64),
    Inductor(f64),
    Voltage(f64, f64),
    Current(f64, f64),
    Transformer(f64),
}

/// An element between nodes; only a transformer has four.
struct Element {
    kind: Kind,
    nodes: [usize; 4],
}

pub fn case(random: &mut Rng) -> Case {
    loop {
        let omega = positive(random);
        let nodes = random.usize(2..7);
        let elements = network(random, nodes);
        let (descriptor, states) = describe(&elements, nodes, omega);
        let Some(solution) = descriptor.solution(random) else { continue };
        let Some(fixed) = solution.determining(&states) else { continue };
        let text = model(&elements, nodes, &descriptor, &solution, &fixed, random);
        return linear::case(text, descriptor, solution, random);
    }
}

fn network(random: &mut Rng, nodes: usize) -> Vec<Element> {
    // Some networks have much of one kind.
    let favourite = random.u32(0..6);
    let count = nodes + random.usize(0..6);
    (0..count)
        .map(|_| {
            let kind = match if random.u32(0..3) == 0 { favourite } else { random.u32(0..12) } {
                0 | 6 | 7 => Kind::Capacitor(positive(random)),
                1 | 8 => Kind::Inductor(positive(random)),
                2 => Kind::Voltage(positive(random), positive(random)),
                3 => Kind::Current(positive(random), -positive(random)),
                4 => Kind::Transformer(*pick(random, &[2.0, 0.5, -1.0, 1.7, 1.0 / 3.0])),
                _ => Kind::Resistor(positive(random)),
            };
            let mut node = || random.usize(0..nodes);
            let nodes = [node(), node(), node(), node()];
            Element { kind, nodes }
        })
        .filter(|element| {
            let [a, b, c, d] = element.nodes;
            a != b && (c != d || !matches!(element.kind, Kind::Transformer(_)))
        })
        .collect()
}

/// The descriptor system and what is differentiated in it.
fn describe(elements: &[Element], nodes: usize, omega: f64) -> (Descriptor, Vec<usize>) {
    let mut system = Descriptor::new(omega);
    let mut states = Vec::new();
    let potentials: Vec<usize> = (0..nodes).map(|_| system.unknown("")).collect();
    let ground = system.unknown("");
    let mut sums: Vec<Vec<(usize, f64)>> = vec![Vec::new(); nodes];
    sums[0].push((ground, 1.0));
    let mut branch = |system: &mut Descriptor, names: [String; 2], from: usize, to: usize| {
        let [v, i] = names.map(|name| system.unknown(name));
        system.equation(&[(v, 1.0), (potentials[from], -1.0), (potentials[to], 1.0)], &[]);
        sums[from].push((i, 1.0));
        sums[to].push((i, -1.0));
        (v, i)
    };
    for (number, element) in elements.iter().enumerate() {
        let [a, b, c, d] = element.nodes;
        let name = |member: &str| format!("e{number}.{member}");
        if let Kind::Transformer(n) = element.kind {
            let (v1, i1) = branch(&mut system, [name("v1"), name("i1")], a, b);
            let (v2, i2) = branch(&mut system, [name("v2"), name("i2")], c, d);
            system.equation(&[(v1, 1.0), (v2, -n)], &[]);
            system.equation(&[(i2, 1.0), (i1, n)], &[]);
            continue;
        }
        let (v, i) = branch(&mut system, [name("v"), name("i")], a, b);
        match element.kind {
            Kind::Resistor(r) => system.equation(&[(v, 1.0), (i, -r)], &[]),
            Kind::Capacitor(c) => {
                system.equation(&[(i, -1.0)], &[(v, c)]);
                states.push(v);
            }
            Kind::Inductor(l) => {
                system.equation(&[(v, -1.0)], &[(i, l)]);
                states.push(i);
            }
            Kind::Voltage(s, c) => system.equation(&[(v, 1.0), (SINE, -s), (COSINE, -c)], &[]),
            Kind::Current(s, c) => system.equation(&[(i, 1.0), (SINE, -s), (COSINE, -c)], &[]),
            Kind::Transformer(_) => {}
        }
    }
    system.equation(&[(potentials[0], 1.0)], &[]);
    sums.iter().for_each(|sum| system.equation(sum, &[]));
    (system, states)
}

fn model(
    elements: &[Element],
    nodes: usize,
    descriptor: &Descriptor,
    solution: &Solution,
    fixed: &[usize],
    random: &mut Rng,
) -> String {
    let begin = solution.at(0.0);
    let start = |name: String, member: &str| {
        let of = |&&unknown: &&usize| descriptor.names[unknown] == name;
        fixed
            .iter()
            .find(of)
            .map_or(String::new(), |&unknown| format!(", {member}(start = {}, fixed = true)", text(begin[unknown])))
    };
    let mut declarations = String::new();
    let mut pins: Vec<Vec<String>> = vec![Vec::new(); nodes];
    pins[0].push("g.p".into());
    for (number, element) in elements.iter().enumerate() {
        let source = |class: &str, s: f64, c: f64| {
            format!("{class} e{number}(a = {}, b = {}, w = {})", text(s), text(c), text(descriptor.omega))
        };
        let line = match element.kind {
            Kind::Resistor(r) => format!("Resistor e{number}(R = {})", text(r)),
            Kind::Capacitor(c) => {
                format!("Capacitor e{number}(C = {}{})", text(c), start(format!("e{number}.v"), "v"))
            }
            Kind::Inductor(l) => format!("Inductor e{number}(L = {}{})", text(l), start(format!("e{number}.i"), "i")),
            Kind::Voltage(s, c) => source("VoltageSource", s, c),
            Kind::Current(s, c) => source("CurrentSource", s, c),
            Kind::Transformer(n) => format!("Transformer e{number}(n = {})", text(n)),
        };
        declarations += &format!("  {line};\n");
        let names: &[&str] =
            if matches!(element.kind, Kind::Transformer(_)) { &["p1", "n1", "p2", "n2"] } else { &["p", "n"] };
        for (pin, &node) in names.iter().zip(&element.nodes) {
            pins[node].push(format!("e{number}.{pin}"));
        }
    }
    let mut connections = String::new();
    for mut node in pins {
        random.shuffle(&mut node);
        for place in 1..node.len() {
            connections += &format!("  connect({}, {});\n", node[random.usize(0..place)], node[place]);
        }
    }
    format!("{CLASSES}model M\n  Ground g;\n{declarations}equation\n{connections}end M;\n")
}
