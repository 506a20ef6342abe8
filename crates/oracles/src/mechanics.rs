//! Random linear mechanics along a line: masses, springs, dampers, rigid rods, gears, levers and sources, of any index,
//! against their descriptor system.

use fastrand::Rng;

use crate::case::Case;
use crate::linear::{self, pick, positive, text};
use crate::pencil::{COSINE, Descriptor, ONE, SINE, Solution};

const CLASSES: &str = "connector Flange
  Real s;
  flow Real f;
end Flange;
model Mass
  Flange a;
  Flange b;
  parameter Real m;
  parameter Real L = 0;
  Real s;
  Real v;
equation
  a.s = s - L/2;
  b.s = s + L/2;
  v = der(s);
  m*der(v) = a.f + b.f;
end Mass;
partial model Compliant
  Flange a;
  Flange b;
  Real s;
  Real f;
equation
  s = b.s - a.s;
  b.f = f;
  a.f = -f;
end Compliant;
model Spring
  extends Compliant;
  parameter Real c;
  parameter Real s0 = 0;
equation
  f = c*(s - s0);
end Spring;
model Damper
  extends Compliant;
  parameter Real d;
  Real v;
equation
  v = der(s);
  f = d*v;
end Damper;
model SpringDamper
  extends Compliant;
  parameter Real c;
  parameter Real d;
  parameter Real s0 = 0;
  Real v;
equation
  v = der(s);
  f = c*(s - s0) + d*v;
end SpringDamper;
model Rod
  Flange a;
  Flange b;
  parameter Real L;
equation
  b.s = a.s + L;
  a.f + b.f = 0;
end Rod;
model Gear
  Flange a;
  Flange b;
  parameter Real n;
equation
  a.s = n*b.s;
  0 = n*a.f + b.f;
end Gear;
model Lever
  Flange a;
  Flange b;
  Flange c;
  parameter Real r;
equation
  c.s = r*a.s + (1 - r)*b.s;
  a.f = -r*c.f;
  b.f = -(1 - r)*c.f;
end Lever;
model Fixed
  Flange a;
  parameter Real s0;
equation
  a.s = s0;
end Fixed;
model Position
  Flange a;
  parameter Real x;
  parameter Real y;
  parameter Real w;
equation
  a.s = x*sin(w*time) + y*cos(w*time);
end Position;
model Force
  Flange a;
  parameter Real x;
  parameter Real y;
  parameter Real w;
equation
  a.f = x*sin(w*time) + y*cos(w*time);
end Force;
";

#[derive(Clone, Copy)]
enum Kind {
    /// Mass and length.
    Mass(f64, f64),
    /// Stiffness and length at rest.
    Spring(f64, f64),
    Damper(f64),
    SpringDamper(f64, f64, f64),
    Rod(f64),
    Gear(f64),
    Lever(f64),
    Fixed(f64),
    Position(f64, f64),
    Force(f64, f64),
}

impl Kind {
    fn flanges(self) -> &'static [&'static str] {
        match self {
            Kind::Fixed(_) | Kind::Position(..) | Kind::Force(..) => &["a"],
            Kind::Lever(_) => &["a", "b", "c"],
            _ => &["a", "b"],
        }
    }
}

struct Element {
    kind: Kind,
    nodes: [usize; 3],
    /// Ask for its own position and speed as states.
    preferred: bool,
}

pub fn case(random: &mut Rng) -> Case {
    loop {
        let omega = positive(random);
        let nodes = random.usize(1..7);
        let elements = assembly(random, nodes);
        let (descriptor, states) = describe(&elements, nodes, omega);
        let Some(solution) = descriptor.solution(random) else { continue };
        let Some(fixed) = solution.determining(&states) else { continue };
        let text = model(&elements, nodes, &descriptor, &solution, &fixed, random);
        return linear::case(text, descriptor, solution, random);
    }
}

fn assembly(random: &mut Rng, nodes: usize) -> Vec<Element> {
    let count = nodes + random.usize(0..6);
    let favourite = random.u32(0..16);
    (0..count)
        .map(|_| {
            let length = if random.bool() { 0.0 } else { positive(random) };
            let kind = match if random.u32(0..4) == 0 { favourite } else { random.u32(0..16) } {
                0 | 1 => Kind::Spring(positive(random), length),
                2 => Kind::Damper(positive(random)),
                3 | 4 => Kind::SpringDamper(positive(random), positive(random), length),
                5 | 6 => Kind::Rod(length),
                7 => Kind::Gear(*pick(random, &[2.0, -1.0, 1.7, 1.0 / 3.0, 0.5])),
                8 => Kind::Lever(*pick(random, &[0.5, 0.3, -1.0, 1.5])),
                9 => Kind::Fixed(length),
                10 => Kind::Position(positive(random), positive(random)),
                11 => Kind::Force(positive(random), -positive(random)),
                _ => Kind::Mass(positive(random), length),
            };
            let nodes = [random.usize(0..nodes), random.usize(0..nodes), random.usize(0..nodes)];
            Element { kind, nodes, preferred: random.bool() }
        })
        .filter(|element| element.kind.flanges().len() == 1 || element.nodes[0] != element.nodes[1])
        .collect()
}

/// The descriptor system and what is differentiated in it.
fn describe(elements: &[Element], nodes: usize, omega: f64) -> (Descriptor, Vec<usize>) {
    let mut system = Descriptor::new(omega);
    let mut states = Vec::new();
    let positions: Vec<usize> = (0..nodes).map(|_| system.unknown("")).collect();
    let mut sums: Vec<Vec<(usize, f64)>> = vec![Vec::new(); nodes];
    for (number, element) in elements.iter().enumerate() {
        let name = |member: &str| format!("e{number}.{member}");
        let mut forces = Vec::new();
        for (flange, &node) in element.kind.flanges().iter().zip(&element.nodes) {
            let force = system.unknown(name(&format!("{flange}.f")));
            sums[node].push((force, 1.0));
            forces.push(force);
        }
        let place = |flange: usize| positions[element.nodes[flange]];
        match element.kind {
            Kind::Mass(m, length) => {
                let (s, v) = (system.unknown(name("s")), system.unknown(name("v")));
                system.equation(&[(place(0), 1.0), (s, -1.0), (ONE, length / 2.0)], &[]);
                system.equation(&[(place(1), 1.0), (s, -1.0), (ONE, -length / 2.0)], &[]);
                system.equation(&[(v, -1.0)], &[(s, 1.0)]);
                system.equation(&[(forces[0], -1.0), (forces[1], -1.0)], &[(v, m)]);
                states.extend([s, v]);
            }
            Kind::Spring(..) | Kind::Damper(_) | Kind::SpringDamper(..) => {
                let (c, d, rest) = match element.kind {
                    Kind::Spring(c, rest) => (c, 0.0, rest),
                    Kind::SpringDamper(c, d, rest) => (c, d, rest),
                    Kind::Damper(d) => (0.0, d, 0.0),
                    _ => (0.0, 0.0, 0.0),
                };
                let s = system.unknown(name("s"));
                system.equation(&[(s, 1.0), (place(1), -1.0), (place(0), 1.0)], &[]);
                system.equation(&[(forces[0], 1.0), (forces[1], 1.0)], &[]);
                system.equation(&[(forces[1], -1.0), (s, c), (ONE, -c * rest)], &[(s, d)]);
                if d > 0.0 {
                    let v = system.unknown(name("v"));
                    system.equation(&[(v, -1.0)], &[(s, 1.0)]);
                    states.push(s);
                }
            }
            Kind::Rod(length) => {
                system.equation(&[(place(1), 1.0), (place(0), -1.0), (ONE, -length)], &[]);
                system.equation(&[(forces[0], 1.0), (forces[1], 1.0)], &[]);
            }
            Kind::Gear(n) => {
                system.equation(&[(place(0), 1.0), (place(1), -n)], &[]);
                system.equation(&[(forces[0], n), (forces[1], 1.0)], &[]);
            }
            Kind::Lever(r) => {
                system.equation(&[(place(2), 1.0), (place(0), -r), (place(1), r - 1.0)], &[]);
                system.equation(&[(forces[0], 1.0), (forces[2], r)], &[]);
                system.equation(&[(forces[1], 1.0), (forces[2], 1.0 - r)], &[]);
            }
            Kind::Fixed(at) => system.equation(&[(place(0), 1.0), (ONE, -at)], &[]),
            Kind::Position(x, y) => system.equation(&[(place(0), 1.0), (SINE, -x), (COSINE, -y)], &[]),
            Kind::Force(x, y) => system.equation(&[(forces[0], 1.0), (SINE, -x), (COSINE, -y)], &[]),
        }
    }
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
    let mut declarations = String::new();
    let mut flanges: Vec<Vec<String>> = vec![Vec::new(); nodes];
    for (number, element) in elements.iter().enumerate() {
        let member = |member: &str| {
            let name = format!("e{number}.{member}");
            let mut attributes = Vec::new();
            if let Some(&unknown) = fixed.iter().find(|&&unknown| descriptor.names[unknown] == name) {
                attributes.push(format!("start = {}, fixed = true", text(begin[unknown])));
            }
            attributes.extend(element.preferred.then(|| "stateSelect = StateSelect.prefer".to_owned()));
            if attributes.is_empty() { String::new() } else { format!(", {member}({})", attributes.join(", ")) }
        };
        let source = |class: &str, x: f64, y: f64| {
            format!("{class} e{number}(x = {}, y = {}, w = {})", text(x), text(y), text(descriptor.omega))
        };
        let line = match element.kind {
            Kind::Mass(m, length) => {
                format!("Mass e{number}(m = {}, L = {}{}{})", text(m), text(length), member("s"), member("v"))
            }
            Kind::Spring(c, rest) => format!("Spring e{number}(c = {}, s0 = {}{})", text(c), text(rest), member("s")),
            Kind::Damper(d) => format!("Damper e{number}(d = {}{}{})", text(d), member("s"), member("v")),
            Kind::SpringDamper(c, d, rest) => format!(
                "SpringDamper e{number}(c = {}, d = {}, s0 = {}{}{})",
                text(c),
                text(d),
                text(rest),
                member("s"),
                member("v")
            ),
            Kind::Rod(length) => format!("Rod e{number}(L = {})", text(length)),
            Kind::Gear(n) => format!("Gear e{number}(n = {})", text(n)),
            Kind::Lever(r) => format!("Lever e{number}(r = {})", text(r)),
            Kind::Fixed(at) => format!("Fixed e{number}(s0 = {})", text(at)),
            Kind::Position(x, y) => source("Position", x, y),
            Kind::Force(x, y) => source("Force", x, y),
        };
        declarations += &format!("  {line};\n");
        for (flange, &node) in element.kind.flanges().iter().zip(&element.nodes) {
            flanges[node].push(format!("e{number}.{flange}"));
        }
    }
    let mut connections = String::new();
    for mut node in flanges {
        random.shuffle(&mut node);
        for place in 1..node.len() {
            connections += &format!("  connect({}, {});\n", node[random.usize(0..place)], node[place]);
        }
    }
    format!("{CLASSES}model M\n{declarations}equation\n{connections}end M;\n")
}
