//! Random networks of ideal diodes, ideal switches, sources, R, L and C: at every output point Kirchhoff's laws and the
//! conditions of the diodes hold.
//!
//! Every node has a resistive way to ground, and ideal elements make no loops, so that every mode is regular.
#![allow(clippy::unwrap_used)]

mod common;

use std::fmt::Write as _;

use common::{Run, run};
use proptest::prelude::*;
use simulate::{Ending, Options};

#[derive(Clone, Debug)]
struct Element {
    kind: u8,
    from: usize,
    to: usize,
    value: f64,
}

#[derive(Clone, Debug)]
struct Network {
    nodes: usize,
    /// The other end and the value of the resistor that each node but the first has.
    ways: Vec<(usize, f64)>,
    elements: Vec<Element>,
}

fn networks() -> impl Strategy<Value = Network> {
    (2usize..6).prop_flat_map(|nodes| {
        let ways = proptest::collection::vec((0..nodes, 0.5..20.0), nodes - 1);
        let element = (0u8..7, 0..nodes, 0..nodes, 0.2..4.0);
        let elements = proptest::collection::vec(element, 2..9);
        (ways, elements).prop_map(move |(ways, elements)| Network {
            nodes,
            ways: ways.into_iter().enumerate().map(|(node, (other, value))| (other % (node + 1), value)).collect(),
            elements: elements.into_iter().map(|(kind, from, to, value)| Element { kind, from, to, value }).collect(),
        })
    })
}

/// Ideal elements: kinds, ends and their number in the text.
struct Ideal {
    number: usize,
    is_diode: bool,
}

struct Text {
    text: String,
    currents: Vec<Vec<String>>,
    ideal: Vec<Ideal>,
    /// The sets of nodes that ideal elements join.
    joined: Vec<usize>,
}

impl Text {
    /// A branch with the equations `law`, in which `v`, `i` and so on get the number of the branch.
    fn branch(&mut self, number: usize, from: usize, to: usize, law: &str) {
        let _ = writeln!(self.text, "v{number} = u{from} - u{to}");
        let _ = writeln!(self.text, "{}", law.replace('#', &number.to_string()));
        self.currents[from].push(format!("+ i{number}"));
        self.currents[to].push(format!("- i{number}"));
    }

    fn new_node(&mut self) -> usize {
        self.currents.push(Vec::new());
        self.currents.len() - 1
    }

    fn root(&self, mut node: usize) -> usize {
        while self.joined[node] != node {
            node = self.joined[node];
        }
        node
    }
}

fn text(network: &Network) -> Text {
    let mut out = Text {
        text: "u0 = 0\n".into(),
        currents: vec![Vec::new(); network.nodes],
        ideal: Vec::new(),
        joined: (0..network.nodes).collect(),
    };
    let mut number = 0;
    for (node, &(other, value)) in network.ways.iter().enumerate() {
        number += 1;
        out.branch(number, node + 1, other, &format!("v# = {value}*i#"));
    }
    for Element { kind, from, to, value } in network.elements.iter().cloned() {
        number += 1;
        if from == to {
            continue;
        }
        match kind {
            0 => out.branch(number, from, to, &format!("Real i#(start = 0, fixed = true)\n{value}*der(i#) = v#")),
            1 => {
                let middle = out.new_node();
                out.branch(number, from, middle, "v# = 0.5*i#");
                let law = format!("Real v#(start = 0, fixed = true)\n{value}*0.1*der(v#) = i#");
                out.branch(100 + number, middle, to, &law);
            }
            2 => {
                let middle = out.new_node();
                out.branch(number, from, middle, "v# = 0.3*i#");
                out.branch(100 + number, middle, to, &format!("v# = 10*{value}*sin(7*{value}*time)"));
            }
            3 => out.branch(number, from, to, &format!("i# = {value}*cos(5*{value}*time)")),
            _ => {
                let (a, b) = (out.root(from), out.root(to));
                if a == b {
                    continue;
                }
                out.joined[a] = b;
                let is_diode = kind > 4;
                let law = if is_diode {
                    "Boolean off#\noff# = s# < 0\nv# = if off# then s# else 0\ni# = if off# then 0 else s#".into()
                } else {
                    format!(
                        "Boolean on#\non# = sin(9*{value}*time) > 0.2\nv# = if on# then 0 else s#\ni# = if on# then s# else 0"
                    )
                };
                out.branch(number, from, to, &law);
                out.ideal.push(Ideal { number, is_diode });
            }
        }
    }
    for node in 1..out.currents.len() {
        let sum = out.currents[node].join(" ");
        let _ = writeln!(out.text, "0 = 0 {sum}");
    }
    out
}

fn check(network: &Network, text: &Text, run: &Run) -> Result<(), TestCaseError> {
    prop_assert_eq!(&run.outcome.ending, &Ending::Complete, "{}\n{:?}\n{}", text.text, network, run.log);
    prop_assert!(run.outcome.warnings.is_empty());
    let value = |name: &str| run.trajectories.get(name).map(|column| column.values.to_vec());
    let rows = run.time().len();
    for node in 1..text.currents.len() {
        let mut sum = vec![0.0; rows];
        for term in &text.currents[node] {
            let sign = if term.starts_with('+') { 1.0 } else { -1.0 };
            let current = value(&term[2..]).ok_or_else(|| TestCaseError::fail(format!("no {term}")))?;
            sum.iter_mut().zip(current).for_each(|(sum, i)| *sum += sign * i);
        }
        let worst = sum.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        prop_assert!(worst < 1e-8, "node {node}: {worst}\n{}", text.text);
    }
    for ideal in text.ideal.iter().filter(|ideal| ideal.is_diode) {
        let (v, i) = (value(&format!("v{}", ideal.number)).unwrap(), value(&format!("i{}", ideal.number)).unwrap());
        for ((v, i), t) in v.iter().zip(&i).zip(run.time()) {
            // An output point just before an event is at most its accuracy past it.
            prop_assert!(*v < 1e-7 && *i > -1e-7, "diode {}: v = {v}, i = {i} at {t}\n{}", ideal.number, text.text);
            prop_assert!((v * i).abs() < 1e-7, "diode {}: v = {v}, i = {i} at {t}\n{}", ideal.number, text.text);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn laws_hold_at_every_point(network in networks()) {
        let text = text(&network);
        let options = Options { stop_time: 2.0, interval: 0.02, tolerance: 1e-7, ..Options::default() };
        let run = run(&text.text, &options);
        check(&network, &text, &run)?;
    }
}
