//! Two ideal diodes, an inductor, a capacitor, a resistor and a source, wired in any way: no form of state space serves
//! all their modes (Krebs 1997). Each network runs, with Kirchhoff's laws, the conditions of the diodes and the balance of
//! energy, unless diodes alone can short-circuit the source: then it is refused when they do.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/network.rs"]
mod network;

use std::fmt::Write as _;

use common::{Run, run};
use network::{Branch, Course, Instants, check_diode, check_energy, check_kirchhoff, ensure};
use simulate::{Ending, Options};

const NAMES: [&str; 6] = ["V", "R", "L", "C", "D", "E"];

/// The ends of the elements, in the order of the names.
type Wiring = [(usize, usize); 6];

/// All wirings with so many nodes in which everything is connected and no end hangs free, one of each kind: the nodes that the
/// source does not touch have no names, elements without a direction none either, and the diodes are equal.
fn wirings(nodes: usize) -> Vec<Wiring> {
    let ends: Vec<(usize, usize)> =
        (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))).filter(|(from, to)| from != to).collect();
    let pairs: Vec<(usize, usize)> = ends.iter().copied().filter(|(from, to)| from < to).collect();
    let orders = orders(nodes);
    let mut found = Vec::new();
    for (&r, &l, &c) in triples(&pairs) {
        // The two diodes have four ends to give.
        let passive = [(1, 0), r, l, c];
        let missing: usize = (0..nodes).map(|node| 2usize.saturating_sub(degree(&passive, node))).sum();
        if missing > 4 {
            continue;
        }
        for (place, &d) in ends.iter().enumerate() {
            for &e in &ends[place..] {
                let wiring = [(1, 0), r, l, c, d, e];
                if is_connected(&wiring, nodes) && orders.iter().all(|order| renamed(&wiring, order) >= wiring) {
                    found.push(wiring);
                }
            }
        }
    }
    found
}

fn triples<T>(items: &[T]) -> impl Iterator<Item = (&T, &T, &T)> {
    items.iter().flat_map(move |a| items.iter().flat_map(move |b| items.iter().map(move |c| (a, b, c))))
}

/// New names for the nodes that the source does not touch.
fn orders(nodes: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![vec![0, 1]];
    for _ in 2..nodes {
        orders = orders
            .into_iter()
            .flat_map(|order| {
                let free = (2..nodes).filter(|node| !order.contains(node)).collect::<Vec<_>>();
                free.into_iter().map(move |node| order.iter().copied().chain([node]).collect())
            })
            .collect();
    }
    orders
}

fn renamed(wiring: &Wiring, order: &[usize]) -> Wiring {
    let mut new = wiring.map(|(from, to)| (order[from], order[to]));
    for passive in &mut new[1..4] {
        *passive = (passive.0.min(passive.1), passive.0.max(passive.1));
    }
    new[4..].sort_unstable();
    new
}

fn degree(wiring: &[(usize, usize)], node: usize) -> usize {
    wiring.iter().filter(|&&(from, to)| from == node || to == node).count()
}

fn is_connected(wiring: &Wiring, nodes: usize) -> bool {
    let mut reached = [false; 6];
    reached[0] = true;
    for _ in 0..nodes {
        for &(from, to) in wiring {
            let either = reached[from] || reached[to];
            (reached[from], reached[to]) = (either, either);
        }
    }
    (0..nodes).all(|node| reached[node] && degree(wiring, node) > 1)
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
    for node in 1..6 {
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

fn check_laws(run: &Run, wiring: &Wiring) -> Result<(), String> {
    let branch = |(name, &(from, to)): (&&str, &(usize, usize))| Branch { name: name.to_string(), from, to };
    let branches: Vec<Branch> = NAMES.iter().zip(wiring).map(branch).collect();
    check_kirchhoff(run, &branches, 1e-7)?;
    for diode in ["D", "E"] {
        let Course { v, i } = Course::of(run, diode);
        for (row, time) in run.time().iter().enumerate() {
            let (v, i) = (v[row], i[row]);
            check_diode(diode, v, i, 1e-5).map_err(|what| format!("{what} at {time}"))?;
            ensure((v * i).abs() <= 1e-6, || format!("diode {diode} at {time}: v = {v}, i = {i}"))?;
        }
    }
    let (i, v) = (run.column("iL"), run.column("vC"));
    check_energy(run, |row| 0.25 * i[row] * i[row] + 0.1 * v[row] * v[row], Instants::Lose, 2e-4)
}

/// What is wrong with a run of the wiring; whether it was refused.
fn check(wiring: &Wiring) -> Result<bool, String> {
    let options = Options { stop_time: 2.0, interval: 0.02, tolerance: 1e-7, ..Options::default() };
    let run = run(&text(wiring), &options);
    match &run.outcome.ending {
        Ending::Complete => check_laws(&run, wiring).map(|()| false),
        // The reason must be one.
        ending => ensure(is_short_circuited(wiring), || format!("{ending:?}")).map(|()| true),
    }
}

fn check_all(wirings: impl Iterator<Item = Wiring>) -> (usize, usize) {
    let (mut count, mut refused) = (0, 0);
    let mut wrong = Vec::new();
    for wiring in wirings {
        count += 1;
        match check(&wiring) {
            Ok(was_refused) => refused += usize::from(was_refused),
            Err(what) => wrong.push(format!("{wiring:?}: {what}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    (count, refused)
}

#[test]
fn a_part_of_all_wirings_runs_or_is_refused_with_reason() {
    let wirings = [3, 4].into_iter().flat_map(wirings);
    let (count, refused) = check_all(wirings.step_by(61));
    assert_eq!((count, refused), (88, 22));
}

/// All 10 251 of them, in a minute with optimisation:
/// `cargo test --release -p gyrator-simulate --test mode_networks -- --ignored`.
#[test]
#[ignore = "takes minutes without optimisation"]
fn all_wirings_run_or_are_refused_with_reason() {
    let (count, refused) = check_all((2..=6).flat_map(wirings));
    assert_eq!((count, refused), (10251, 2067));
}
