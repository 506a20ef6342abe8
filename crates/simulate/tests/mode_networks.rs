//! Two ideal diodes, an inductor, a capacitor, a resistor and a source, wired in any way: no form of state space serves
//! all their modes (Krebs 1997). Each network runs, with Kirchhoff's laws, the conditions of the diodes and the balance of
//! energy, unless diodes alone can short-circuit the source: then it is refused when they do.
#![allow(clippy::unwrap_used)]

mod common;

use std::fmt::Write as _;

use common::{Run, run};
use proptest::prelude::*;
use simulate::{Ending, Options};

const NAMES: [&str; 6] = ["V", "R", "L", "C", "D", "E"];

/// The ends of the elements, in the order of the names.
type Wiring = [(usize, usize); 6];

fn wirings() -> impl Strategy<Value = Wiring> {
    let ends = (0usize..4, 0usize..4).prop_filter("an element has two ends", |(from, to)| from != to);
    proptest::collection::vec(ends, 5)
        .prop_map(|ends| [(1, 0), ends[0], ends[1], ends[2], ends[3], ends[4]])
        .prop_filter("all is connected, and no end hangs free", is_connected)
}

fn is_connected(wiring: &Wiring) -> bool {
    let mut reached = [true, false, false, false];
    for _ in 0..4 {
        for &(from, to) in wiring {
            let either = reached[from] || reached[to];
            (reached[from], reached[to]) = (either, either);
        }
    }
    let degree = |node: usize| wiring.iter().filter(|&&(from, to)| from == node || to == node).count();
    (0..4).all(|node| degree(node) == 0 || reached[node] && degree(node) > 1)
}

/// Whether diodes alone make a way from one pole of the source to the other.
fn is_short_circuited(wiring: &Wiring) -> bool {
    let (d, e) = (wiring[4], wiring[5]);
    [(1, 0), (0, 1)].into_iter().any(|(from, to)| {
        let chain = |a: (usize, usize), b: (usize, usize)| a.0 == from && a.1 == b.0 && b.1 == to;
        d == (from, to) || e == (from, to) || chain(d, e) || chain(e, d)
    })
}

fn text(wiring: &Wiring) -> String {
    let mut text = String::from("Real iL(start = 0.3)\nReal vC(start = 0.5)\nBoolean offD\nBoolean offE\n");
    text += "vV = 10*sin(6*time + 0.3)\nvR = 2*iR\nvL = 0.5*der(iL)\niC = 0.2*der(vC)\n";
    for diode in ["D", "E"] {
        let _ = writeln!(text, "off{diode} = s{diode} < 0");
        let _ = writeln!(text, "v{diode} = if off{diode} then s{diode} else 0");
        let _ = writeln!(text, "i{diode} = if off{diode} then 0 else s{diode}");
    }
    let potential = |node: usize| if node == 0 { "0".to_string() } else { format!("u{node}") };
    for (name, &(from, to)) in NAMES.iter().zip(wiring) {
        let _ = writeln!(text, "v{name} = {} - {}", potential(from), potential(to));
    }
    for node in 1..4 {
        let signs = NAMES.iter().zip(wiring).filter_map(|(name, &(from, to))| match node {
            _ if node == from => Some(format!("+ i{name}")),
            _ if node == to => Some(format!("- i{name}")),
            _ => None,
        });
        let sum: Vec<String> = signs.collect();
        if !sum.is_empty() {
            let _ = writeln!(text, "0 = 0 {}", sum.join(" "));
        }
    }
    // What the source has given and the resistor has taken.
    text += "Real given(start = 0, fixed = true)\nReal taken(start = 0, fixed = true)\n";
    text += "der(given) = -vV*iV\nder(taken) = vR*iR\n";
    text
}

fn check_laws(run: &Run, wiring: &Wiring) -> Result<(), TestCaseError> {
    let column = |name: String| run.column(&name);
    let currents: Vec<Vec<f64>> = NAMES.iter().map(|name| column(format!("i{name}"))).collect();
    let voltages: Vec<Vec<f64>> = NAMES.iter().map(|name| column(format!("v{name}"))).collect();
    for row in 0..run.time().len() {
        let size = 1.0 + currents.iter().map(|values| values[row].abs()).fold(0.0, f64::max);
        for node in 0..4 {
            let ends = wiring.iter().zip(&currents);
            let sum: f64 = ends
                .map(|(&(from, to), i)| i[row] * (f64::from(u8::from(from == node)) - f64::from(u8::from(to == node))))
                .sum();
            prop_assert!(sum.abs() <= 1e-7 * size, "currents at node {node}: {sum}");
        }
        for diode in [4, 5] {
            let (v, i) = (voltages[diode][row], currents[diode][row]);
            let time = run.time()[row];
            prop_assert!(v <= 1e-5 && i >= -1e-5 && (v * i).abs() <= 1e-6, "diode at {time}: v = {v}, i = {i}");
        }
    }
    Ok(())
}

/// What is stored changes by what is given and taken; an instant can only lose.
fn check_energy(run: &Run) -> Result<(), TestCaseError> {
    let (i, v) = (run.column("iL"), run.column("vC"));
    let (given, taken) = (run.column("given"), run.column("taken"));
    let stored = |row: usize| 0.25 * i[row] * i[row] + 0.1 * v[row] * v[row];
    let mut expected = stored(0);
    let mut size: f64 = 1.0;
    for row in 1..run.time().len() {
        let flow = (given[row] - given[row - 1]) - (taken[row] - taken[row - 1]);
        size = size.max(stored(row)).max(given[row].abs());
        expected += flow;
        if run.time()[row] == run.time()[row - 1] {
            prop_assert!(stored(row) <= expected + 1e-5 * size, "energy from nothing at {}", run.time()[row]);
            expected = stored(row);
        }
        let off = (stored(row) - expected).abs();
        prop_assert!(off <= 2e-4 * size, "the balance is off by {off} at {}", run.time()[row]);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_wiring_runs_or_is_refused_with_reason(wiring in wirings()) {
        let options = Options { stop_time: 2.0, interval: 0.02, tolerance: 1e-7, ..Options::default() };
        let run = run(&text(&wiring), &options);
        match &run.outcome.ending {
            Ending::Complete => {
                check_laws(&run, &wiring)?;
                check_energy(&run)?;
            }
            ending => prop_assert!(is_short_circuited(&wiring), "{wiring:?}: {ending:?}"),
        }
    }
}
