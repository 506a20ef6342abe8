//! Random networks of ideal diodes, thyristors and switches, sources, R, L and C: at every output point Kirchhoff's laws and
//! the conditions of the ideal elements hold, and the balance of energy closes.
//!
//! Every node has a resistive way to ground, capacitors and voltage sources have a resistor in series, and ideal elements make
//! no loops, so that every mode is regular. What such an element does is then unique: a diode, and a thyristor that conducts
//! or is fired, have no voltage forwards and no current backwards, and the solution of a network with such conditions and
//! positive resistors is unique (the conditions are monotone).
#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/network.rs"]
mod network;

use std::fmt::Write as _;

use common::{Run, run};
use network::{Branch, Course, Instants, check_diode, check_energy, check_kirchhoff, ensure, sizes};
use proptest::prelude::*;
use simulate::{Ending, Options};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Inductor,
    Capacitor,
    Voltage,
    SquareVoltage,
    Current,
    Switch,
    Diode,
    Thyristor,
}

#[derive(Clone, Debug)]
struct Element {
    kind: Kind,
    from: usize,
    to: usize,
    value: f64,
    phase: f64,
}

#[derive(Clone, Debug)]
struct Network {
    nodes: usize,
    /// The other end and the value of the resistor that each node but the first has.
    ways: Vec<(usize, f64)>,
    elements: Vec<Element>,
}

fn networks() -> impl Strategy<Value = Network> {
    use Kind::*;
    let kinds = prop_oneof![
        1 => Just(Inductor),
        1 => Just(Capacitor),
        1 => Just(Voltage),
        1 => Just(SquareVoltage),
        1 => Just(Current),
        1 => Just(Switch),
        3 => Just(Diode),
        2 => Just(Thyristor),
    ];
    (2usize..9).prop_flat_map(move |nodes| {
        let ways = proptest::collection::vec((0..nodes, 0.5..20.0), nodes - 1);
        let element = (kinds.clone(), 0..nodes, 0..nodes, 0.2..4.0, 0.0..6.0);
        let elements = proptest::collection::vec(element, 2..20);
        (ways, elements).prop_map(move |(ways, elements)| Network {
            nodes,
            ways: ways.into_iter().enumerate().map(|(node, (other, value))| (other % (node + 1), value)).collect(),
            elements: elements
                .into_iter()
                .map(|(kind, from, to, value, phase)| Element { kind, from, to, value, phase })
                .collect(),
        })
    })
}

/// A signal `sin(rate·t + phase) > level` that closes a switch or fires a thyristor.
#[derive(Clone, Copy, Debug)]
struct Signal {
    rate: f64,
    phase: f64,
    level: f64,
}

impl Signal {
    fn text(&self) -> String {
        format!("sin({}*time + {}) > {}", self.rate, self.phase, self.level)
    }

    fn at(&self, time: f64) -> bool {
        (self.rate * time + self.phase).sin() > self.level
    }
}

/// An ideal element with its signal.
struct Ideal {
    name: String,
    kind: Kind,
    signal: Signal,
}

/// A branch that stores half of `factor` times the square of a variable.
struct Store {
    variable: String,
    factor: f64,
}

struct Circuit {
    text: String,
    branches: Vec<Branch>,
    /// The number of nodes so far.
    nodes: usize,
    ideal: Vec<Ideal>,
    stores: Vec<Store>,
    sources: Vec<String>,
    resistors: Vec<String>,
    /// The sets of nodes that ideal elements join.
    joined: Vec<usize>,
}

impl Circuit {
    fn of(network: &Network) -> Self {
        let mut circuit = Self {
            text: "u0 = 0\n".into(),
            branches: Vec::new(),
            nodes: network.nodes,
            ideal: Vec::new(),
            stores: Vec::new(),
            sources: Vec::new(),
            resistors: Vec::new(),
            joined: (0..network.nodes).collect(),
        };
        for (node, &(other, value)) in network.ways.iter().enumerate() {
            circuit.resistor(node + 1, other, value);
        }
        network.elements.iter().filter(|element| element.from != element.to).for_each(|element| circuit.add(element));
        circuit.finish();
        circuit
    }

    /// A branch with the equations `law`, in which `#` is the name of the branch.
    fn branch(&mut self, from: usize, to: usize, law: &str) -> String {
        let name = (self.branches.len() + 1).to_string();
        let _ = writeln!(self.text, "v{name} = u{from} - u{to}");
        let _ = writeln!(self.text, "{}", law.replace('#', &name));
        self.branches.push(Branch { name: name.clone(), from, to });
        name
    }

    fn resistor(&mut self, from: usize, to: usize, value: f64) {
        let name = self.branch(from, to, &format!("v# = {value}*i#"));
        self.resistors.push(name);
    }

    /// A new node behind a resistor.
    fn behind(&mut self, from: usize, value: f64) -> usize {
        let middle = self.nodes;
        self.nodes += 1;
        self.resistor(from, middle, value);
        middle
    }

    fn root(&self, mut node: usize) -> usize {
        while self.joined[node] != node {
            node = self.joined[node];
        }
        node
    }

    fn add(&mut self, element: &Element) {
        let &Element { kind, from, to, value, phase } = element;
        match kind {
            Kind::Inductor => {
                let law = format!("Real i#(start = {}, fixed = true)\n{value}*der(i#) = v#", phase - 3.0);
                let name = self.branch(from, to, &law);
                self.stores.push(Store { variable: format!("i{name}"), factor: value });
            }
            Kind::Capacitor => {
                let middle = self.behind(from, 0.5);
                let law = format!("Real v#(start = {}, fixed = true)\n{value}*0.1*der(v#) = i#", phase - 3.0);
                let name = self.branch(middle, to, &law);
                self.stores.push(Store { variable: format!("v{name}"), factor: value * 0.1 });
            }
            Kind::Voltage | Kind::SquareVoltage => {
                let wave = format!("sin(7*{value}*time + {phase})");
                let wave = if kind == Kind::Voltage { wave } else { format!("(if {wave} > 0 then 1 else -1)") };
                let middle = self.behind(from, 0.3);
                let name = self.branch(middle, to, &format!("v# = 10*{value}*{wave}"));
                self.sources.push(name);
            }
            Kind::Current => {
                let name = self.branch(from, to, &format!("i# = {value}*cos(5*{value}*time + {phase})"));
                self.sources.push(name);
            }
            Kind::Switch | Kind::Diode | Kind::Thyristor => self.add_ideal(element),
        }
    }

    fn add_ideal(&mut self, element: &Element) {
        let &Element { kind, from, to, value, phase } = element;
        let (a, b) = (self.root(from), self.root(to));
        if a == b {
            return;
        }
        self.joined[a] = b;
        let level = if kind == Kind::Thyristor { 0.7 } else { 0.2 };
        let signal = Signal { rate: 9.0 * value, phase, level };
        let law = match kind {
            Kind::Switch => format!("Boolean off#\noff# = not ({})\n", signal.text()),
            Kind::Diode => "Boolean off#\noff# = s# < 0\n".into(),
            _ => format!(
                "Boolean fire#\nfire# = {}\nBoolean off#(start = true, fixed = true)\noff# = s# < 0 or (pre(off#) and not fire#)\n",
                signal.text()
            ),
        };
        let curve = "v# = if off# then s# else 0\ni# = if off# then 0 else s#";
        let name = self.branch(from, to, &(law + curve));
        self.ideal.push(Ideal { name, kind, signal });
    }

    fn finish(&mut self) {
        for node in 1..self.nodes {
            let signs = self.branches.iter().filter_map(|branch| match node {
                _ if node == branch.from => Some(format!("+ i{}", branch.name)),
                _ if node == branch.to => Some(format!("- i{}", branch.name)),
                _ => None,
            });
            let sum: Vec<String> = signs.collect();
            let _ = writeln!(self.text, "0 = 0 {}", sum.join(" "));
        }
        let power = |names: &[String]| names.iter().map(|name| format!("+ v{name}*i{name}")).collect::<String>();
        let _ = writeln!(self.text, "Real given(start = 0, fixed = true)\nder(given) = -(0 {})", power(&self.sources));
        let _ = writeln!(self.text, "Real taken(start = 0, fixed = true)\nder(taken) = 0 {}", power(&self.resistors));
    }
}

/// The signal of an ideal element at a row: at an event the left and the right limit. `None` where the signal changes so close
/// to the row that rounding decides, or so close to another event that it may have been the one before or after.
fn signal_at(signal: &Signal, time: &[f64], row: usize) -> Option<bool> {
    const CLOSE: f64 = 1e-8;
    let now = time[row];
    let (before, after) = (signal.at(now - CLOSE), signal.at(now + CLOSE));
    let near = |other: Option<usize>| other.and_then(|row| time.get(row)).filter(|&&t| (t - now).abs() <= CLOSE);
    match (near(row.checked_sub(1)), near(Some(row + 1))) {
        _ if before == after => Some(before),
        (None, Some(&next)) if next == now && near(Some(row + 2)).is_none() => Some(before),
        (Some(&last), None) if last == now && near(row.checked_sub(2)).is_none() => Some(after),
        _ => None,
    }
}

/// Of simultaneous equations, relative to the largest unknown.
const ROUNDING: f64 = 1e-9;

/// What each ideal element must do, computed from its signal and its own past.
fn check_ideal(ideal: &Ideal, run: &Run, sizes: &Course) -> Result<(), String> {
    /// An output point just before an event is at most its accuracy past it.
    const TOLERANCE: f64 = 1e-7;
    let Course { v, i } = Course::of(run, &ideal.name);
    let off: Vec<bool> = run.column(&format!("off{}", ideal.name)).iter().map(|&off| off != 0.0).collect();
    for (row, time) in run.time().iter().enumerate() {
        let (v, i) = (v[row], i[row]);
        let told = |what: &str| format!("{:?} {} {what} at {time}: v = {v}, i = {i}", ideal.kind, ideal.name);
        let signal = signal_at(&ideal.signal, run.time(), row);
        let (zero, size) = if off[row] { (i, sizes.i[row]) } else { (v, sizes.v[row]) };
        ensure(zero.abs() <= ROUNDING * size, || {
            told(if off[row] { "conducts though it is off" } else { "has a voltage though it is on" })
        })?;
        match ideal.kind {
            Kind::Switch => {
                let wrong = signal.is_some_and(|closed| closed == off[row]);
                ensure(!wrong, || told("does not do what its signal says"))?;
            }
            Kind::Diode => check_diode(&ideal.name, v, i, TOLERANCE).map_err(|_| told("breaks its conditions"))?,
            _ => {
                let conducted = row > 0 && !off[row - 1];
                let is_diode = conducted || signal == Some(true);
                if is_diode || !off[row] {
                    check_diode(&ideal.name, v, i, TOLERANCE).map_err(|_| told("breaks its conditions"))?;
                }
                ensure(off[row] || is_diode || signal.is_none(), || told("conducts without having been fired"))?;
            }
        }
    }
    Ok(())
}

fn check(network: &Network) -> Result<(), String> {
    let circuit = Circuit::of(network);
    let options = Options { stop_time: 2.0, interval: 0.02, tolerance: 1e-7, ..Options::default() };
    let run = run(&circuit.text, &options);
    let checked = || -> Result<(), String> {
        ensure(run.outcome.ending == Ending::Complete, || format!("{:?}", run.outcome.ending))?;
        ensure(run.outcome.warnings.is_empty(), || format!("{:?}", run.outcome.warnings))?;
        check_kirchhoff(&run, &circuit.branches, ROUNDING)?;
        let sizes = sizes(&run, &circuit.branches);
        circuit.ideal.iter().try_for_each(|ideal| check_ideal(ideal, &run, &sizes))?;
        let stores: Vec<(f64, Vec<f64>)> =
            circuit.stores.iter().map(|store| (store.factor / 2.0, run.column(&store.variable))).collect();
        let stored = |row: usize| stores.iter().map(|(factor, values)| factor * values[row] * values[row]).sum();
        check_energy(&run, stored, Instants::Keep, 1e-5)
    };
    checked().map_err(|what| format!("{what}\n{}\n{network:?}", circuit.text))
}

/// As many as `PROPTEST_CASES` says.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn laws_hold_at_every_point(network in networks()) {
        check(&network).map_err(TestCaseError::fail)?;
    }
}
