//! Networks of resistors, capacitors, inductors, ideal switches and ideal diodes, in which every event may change the
//! structure, against implicit Euler steps with small resistances in place of closed elements and large ones in place of
//! open ones. Such networks are passive: errors of the steps do not grow.

use std::fmt::Write as _;

use fastrand::Rng;
use nalgebra::{DMatrix, DVector};
use session::Settings;

use crate::case::{Case, Verdict};
use crate::run::Run;

const STOP: f64 = 2.0;
const STEPS: usize = 16_000;
/// The results are compared at so many instants.
const COMPARED: usize = 16;
/// Conductances of closed and of open elements.
const CLOSED: f64 = 1e5;
const OPEN: f64 = 1e-8;
const TOLERANCE: f64 = 5e-3;

const PARTS: &str = "  connector Pin Real v; flow Real i; end Pin;
  partial model TwoPin Pin p, n; Real v, i; equation v = p.v - n.v; i = p.i; p.i + n.i = 0; end TwoPin;
  model Ground Pin p; equation p.v = 0; end Ground;
  model Source extends TwoPin; Real u; equation v = u; end Source;
  model Resistor extends TwoPin; parameter Real R = 1; equation v = R*i; end Resistor;
  model Capacitor extends TwoPin; parameter Real C = 1; equation C*der(v) = i; end Capacitor;
  model Inductor extends TwoPin; parameter Real L = 1; equation L*der(i) = v; end Inductor;
  model Switch extends TwoPin; Boolean on; equation if on then v = 0; else i = 0; end if; end Switch;
  model Diode extends TwoPin; Real s; Boolean off;
  equation off = s < 0; v = if off then s else 0; i = if off then 0 else s; end Diode;
  model Valve extends TwoPin; Boolean off(start = true, fixed = true);
  equation off = v <= 0 and not i > 0; 0 = if pre(off) then i else v; end Valve;
";

#[derive(Clone, Copy)]
enum Kind {
    Resistor(f64),
    Capacitor(f64),
    Inductor(f64),
    /// Closed while sin(w*t + phase) > 0.
    Switch {
        w: f64,
        phase: f64,
    },
    Diode,
}

/// An element from one node to another; node 0 is ground.
#[derive(Clone, Copy)]
struct Element {
    kind: Kind,
    from: usize,
    to: usize,
}

/// A source A*sin(w*t) behind a resistor feeds node 1.
struct Network {
    amplitude: f64,
    w: f64,
    resistance: f64,
    elements: Vec<Element>,
    nodes: usize,
    /// The conductance of a closed diode.
    diode: f64,
    /// How diodes are written: by a parameter of their curve (`Diode`) or by their last position (`Valve`).
    diode_class: &'static str,
}

impl Network {
    fn random(random: &mut Rng) -> Self {
        let short = |random: &mut Rng, least: u32, most: u32| f64::from(random.u32(least..most)) / 100.0;
        let mut nodes = 2;
        let elements = (0..random.usize(4..9))
            .map(|_| {
                let from = random.usize(0..nodes);
                let to = if random.u8(0..5) < 2 {
                    nodes += 1;
                    nodes - 1
                } else {
                    (from + random.usize(1..nodes)) % nodes
                };
                let kind = match random.u8(0..10) {
                    0..2 => Kind::Resistor(short(random, 40, 200)),
                    2..4 => Kind::Capacitor(short(random, 50, 200)),
                    4 => Kind::Inductor(short(random, 50, 200)),
                    5..8 => Kind::Switch { w: short(random, 150, 400), phase: short(random, 0, 600) },
                    _ => Kind::Diode,
                };
                if random.bool() { Element { kind, from, to } } else { Element { kind, from: to, to: from } }
            })
            .collect();
        let (amplitude, w) = (short(random, 100, 500), short(random, 200, 400));
        let resistance = short(random, 40, 200);
        let diode_class = if random.bool() { "Diode" } else { "Valve" };
        Self { amplitude, w, resistance, elements, nodes, diode: CLOSED, diode_class }
    }

    fn text(&self) -> String {
        let Self { amplitude, w, resistance, .. } = self;
        let mut declarations = format!(
            "  Ground ground;\n  Source source(u = {amplitude}*sin({w}*time));\n  Resistor inner_(R = {resistance});\n"
        );
        let mut pins: Vec<Vec<String>> = vec![Vec::new(); self.nodes];
        pins[0].extend(["ground.p".to_owned(), "source.n".to_owned()]);
        pins[1].push("inner_.n".to_owned());
        for (k, element) in self.elements.iter().enumerate() {
            let declaration = match element.kind {
                Kind::Resistor(value) => format!("Resistor e{k}(R = {value})"),
                Kind::Capacitor(value) => format!("Capacitor e{k}(C = {value})"),
                Kind::Inductor(value) => format!("Inductor e{k}(L = {value})"),
                Kind::Switch { w, phase } => format!("Switch e{k}(on = sin({w}*time + {phase}) > 0)"),
                Kind::Diode => format!("{} e{k}", self.diode_class),
            };
            let _ = writeln!(declarations, "  {declaration};");
            pins[element.from].push(format!("e{k}.p"));
            pins[element.to].push(format!("e{k}.n"));
        }
        let mut equations = "  connect(source.p, inner_.p);\n".to_owned();
        for pair in pins.iter().flat_map(|pins| pins.windows(2)) {
            let _ = writeln!(equations, "  connect({}, {});", pair[0], pair[1]);
        }
        format!("package P\n{PARTS}model M\n{declarations}equation\n{equations}end M;\nend P;\n")
    }

    /// Whether the steps of the oracle are short beside the times between the instants at which switches turn, and from these
    /// to the next comparison.
    fn is_resolved(&self) -> bool {
        const LEAST: f64 = 40.0 * STOP / STEPS as f64;
        let mut turns = Vec::new();
        for element in &self.elements {
            if let Kind::Switch { w, phase } = element.kind {
                let turn = |k: u32| (f64::from(k) * std::f64::consts::PI - phase) / w;
                turns.extend((0..20).map(turn).filter(|time| (0.0..=STOP).contains(time)));
            }
        }
        let compared = (1..=COMPARED).map(|place| place as f64 * STOP / COMPARED as f64);
        let mut ends: Vec<f64> = turns.iter().copied().chain(compared).collect();
        ends.sort_unstable_by(f64::total_cmp);
        let is_long = |&turn: &f64| ends.iter().find(|&&end| end > turn).is_none_or(|end| end - turn > LEAST);
        turns.iter().all(is_long)
    }

    /// The solution, if it does not depend on how a diode's resistance compares with a switch's: nothing in the model says
    /// how an impulse divides between them.
    fn determined(&mut self) -> Option<Vec<Vec<f64>>> {
        let rows = self.solve()?;
        self.diode = CLOSED / 20.0;
        let others = self.solve()?;
        let agrees = |(a, b): (&f64, &f64)| (a - b).abs() <= 0.2 * TOLERANCE;
        let agree = rows.iter().zip(&others).all(|(row, other)| row.iter().zip(other).all(agrees));
        agree.then_some(rows)
    }

    /// The voltages of capacitors and currents of inductors by element, zero for others, at each instant compared.
    fn solve(&self) -> Option<Vec<Vec<f64>>> {
        let h = STOP / STEPS as f64;
        let mut states = vec![0.0; self.elements.len()];
        let mut off = vec![false; self.elements.len()];
        let mut rows = Vec::with_capacity(COMPARED);
        for step in 1..=STEPS {
            let time = step as f64 * h;
            let voltages = self.step(time, h, &states, &mut off)?;
            for (element, state) in self.elements.iter().zip(&mut states) {
                let v = voltages[element.from] - voltages[element.to];
                match element.kind {
                    Kind::Capacitor(_) => *state = v,
                    Kind::Inductor(value) => *state += h / value * v,
                    _ => {}
                }
            }
            if step % (STEPS / COMPARED) == 0 {
                rows.push(states.clone());
            }
        }
        Some(rows)
    }

    /// The voltages of the nodes after a step, with the diodes as they must be.
    fn step(&self, time: f64, h: f64, states: &[f64], off: &mut [bool]) -> Option<Vec<f64>> {
        let diodes: Vec<usize> =
            (0..self.elements.len()).filter(|&k| matches!(self.elements[k].kind, Kind::Diode)).collect();
        let before = off.to_vec();
        for changed in 0..1usize << diodes.len() {
            for (place, &k) in diodes.iter().enumerate() {
                off[k] = before[k] ^ (changed >> place & 1 == 1);
            }
            let voltages = self.nodal(time, h, states, off)?;
            let agrees = |&k: &usize| {
                let v = voltages[self.elements[k].from] - voltages[self.elements[k].to];
                if off[k] { v <= 1e-9 } else { v >= -1e-9 / CLOSED }
            };
            if diodes.iter().all(agrees) {
                return Some(voltages);
            }
        }
        None
    }

    fn nodal(&self, time: f64, h: f64, states: &[f64], off: &[bool]) -> Option<Vec<f64>> {
        let size = self.nodes - 1;
        // A node that nothing holds has some potential.
        let mut matrix = DMatrix::from_diagonal_element(size, size, OPEN * 1e-3);
        let mut right = DVector::zeros(size);
        matrix[(0, 0)] += 1.0 / self.resistance;
        right[0] += self.amplitude * (self.w * time).sin() / self.resistance;
        for (k, element) in self.elements.iter().enumerate() {
            // The current is conductance times voltage and a part that is known.
            let (conductance, known) = match element.kind {
                Kind::Resistor(value) => (1.0 / value, 0.0),
                Kind::Capacitor(value) => (value / h, -value / h * states[k]),
                Kind::Inductor(value) => (h / value, states[k]),
                Kind::Switch { w, phase } => (if (w * time + phase).sin() > 0.0 { CLOSED } else { OPEN }, 0.0),
                Kind::Diode => (if off[k] { OPEN } else { self.diode }, 0.0),
            };
            for (node, other) in [(element.from, element.to), (element.to, element.from)] {
                if node == 0 {
                    continue;
                }
                matrix[(node - 1, node - 1)] += conductance;
                if other > 0 {
                    matrix[(node - 1, other - 1)] -= conductance;
                }
                right[node - 1] -= if node == element.from { known } else { -known };
            }
        }
        let solution = matrix.lu().solve(&right)?;
        Some(std::iter::once(0.0).chain(solution.iter().copied()).collect())
    }

    fn follows(&self, run: &Run, rows: &[Vec<f64>]) -> Verdict {
        for (k, element) in self.elements.iter().enumerate() {
            let name = match element.kind {
                Kind::Capacitor(_) => format!("e{k}.v"),
                Kind::Inductor(_) => format!("e{k}.i"),
                _ => continue,
            };
            let size = rows.iter().fold(1.0f64, |size, row| size.max(row[k].abs()));
            for (place, row) in rows.iter().enumerate() {
                let time = (place + 1) as f64 * STOP / COMPARED as f64;
                let value = run.at(&name, time)?;
                // NaN is not near to anything.
                let is_near = (value - row[k]).abs() <= TOLERANCE * size;
                if !is_near {
                    return Err(format!("{name} is {value} instead of {} at {time}", row[k]));
                }
            }
        }
        Ok(())
    }
}

pub fn case(random: &mut Rng) -> Case {
    loop {
        let mut network = Network::random(random);
        let has_state = |element: &Element| matches!(element.kind, Kind::Capacitor(_) | Kind::Inductor(_));
        let switches = |element: &Element| matches!(element.kind, Kind::Switch { .. } | Kind::Diode);
        if !network.elements.iter().any(has_state) || !network.elements.iter().any(switches) {
            continue;
        }
        if !network.is_resolved() {
            continue;
        }
        if let Some(rows) = network.determined() {
            let settings = Settings {
                stop_time: Some(STOP),
                intervals: Some(8 * COMPARED),
                tolerance: Some(1e-7),
                ..Settings::default()
            };
            let text = network.text();
            // The iteration that a model asks for by `pre` may go round in circles, which is refused.
            if network.diode_class == "Valve" {
                let judge = move |run: &Run| if run.is_complete() { network.follows(run, &rows) } else { Ok(()) };
                return Case::judged(text, settings, judge);
            }
            return Case::complete(text, settings, move |run| network.follows(run, &rows));
        }
    }
}
