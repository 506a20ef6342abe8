//! What making a mode takes: bridges of ideal diodes side by side, one of which goes from one mode to the next.
//!
//! `cargo run --release --example modes -p gyrator-compile` prints for several numbers of bridges how long schedule and program
//! of a mode take from nothing, and with what is known from other modes.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use compile::{Commons, Program};
use transform::modes::{Entry, Modes};

/// Name, own equation, and the nodes at both ends.
const ELEMENTS: [(&str, &str, char, char); 8] = [
    ("source", "v = 100*sin(314*time)", 'S', 'G'),
    ("line", "1e-4*der(i) = v", 'S', 'A'),
    ("d1", "", 'A', 'P'),
    ("d2", "", 'N', 'A'),
    ("d3", "", 'G', 'P'),
    ("d4", "", 'N', 'G'),
    ("resistor", "v = 5*i", 'P', 'M'),
    ("choke", "0.01*der(i) = v", 'M', 'N'),
];

fn main() {
    println!("| equations | ms from nothing | ms after others |");
    println!("| --- | --- | --- |");
    for bridges in [1, 8, 20] {
        let text: String = (1..=bridges).map(bridge).collect();
        let runs: Vec<(usize, f64, f64)> = (0..9).filter_map(|_| measure(&text, bridges)).collect();
        let least = |time: fn(&(usize, f64, f64)) -> f64| runs.iter().map(time).fold(f64::INFINITY, f64::min);
        if let Some((equations, ..)) = runs.first() {
            println!("| {equations} | {:.2} | {:.2} |", 1e3 * least(|run| run.1), 1e3 * least(|run| run.2));
        }
    }
}

/// As a tool writes it that makes every connection an equation.
fn bridge(number: usize) -> String {
    let mut text = String::new();
    let name = |element: &str, what: &str| format!("b{number}_{element}_{what}");
    for (element, own, _, _) in ELEMENTS {
        let [pv, nv, pi, ni, v, i, s, off] =
            ["pv", "nv", "pi", "ni", "v", "i", "s", "off"].map(|what| name(element, what));
        let _ = writeln!(text, "{v} = {pv} - {nv}\n{i} = {pi}\n0 = {pi} + {ni}");
        // Four ideal diodes would share currents where all of them conduct.
        let resistance = if element == "d4" { 1e-3 } else { 0.0 };
        let _ = match own {
            "" => writeln!(
                text,
                "Boolean {off}\n{off} = {s} < 0\n{v} = if {off} then {s} else {resistance}*{s}\n{i} = if {off} then 0 else {s}"
            ),
            own => {
                let own = own.replace("der(i)", &format!("der({i})"));
                let own = own.replace(" = v", &format!(" = {v}")).replace("v = ", &format!("{v} = "));
                writeln!(text, "{}", own.replace("5*i", &format!("5*{i}")))
            }
        };
    }
    for node in ['S', 'G', 'A', 'P', 'N', 'M'] {
        let ends: Vec<(String, String)> = ELEMENTS
            .iter()
            .flat_map(|&(element, _, from, to)| [(element, "p", from), (element, "n", to)])
            .filter(|&(.., at)| at == node)
            .map(|(element, end, _)| (name(element, &format!("{end}v")), name(element, &format!("{end}i"))))
            .collect();
        ends.windows(2).for_each(|pair| text += &format!("{} = {}\n", pair[0].0, pair[1].0));
        let mut flows: Vec<String> = ends.iter().map(|(_, flow)| flow.clone()).collect();
        if node == 'G' {
            text += &format!("{} = 0\n", ends[0].0);
            flows.push(name("ground", "i"));
        }
        text += &format!("0 = {}\n", flows.join(" + "));
    }
    text
}

/// The number of equations, and the seconds that the first mode takes and one after it at best.
fn measure(text: &str, bridges: usize) -> Option<(usize, f64, f64)> {
    /// Modes that one bridge goes through: which diodes block.
    const WAY: [[bool; 4]; 4] =
        [[false, true, true, false], [true, false, false, true], [false, false, true, false], [true; 4]];
    let key = |moving: usize, step: usize| -> Vec<bool> {
        (0..bridges).flat_map(|bridge| if bridge == moving { WAY[step] } else { WAY[0] }).collect()
    };
    let modes = modes(text)?;
    let commons = Commons::default();
    let make = |moving: usize, step: usize| {
        let begin = Instant::now();
        let schedule = modes.schedule(&key(moving, step), Entry::Running).ok()?;
        let equations = schedule.summary.equations;
        Program::of_mode(schedule, &commons).ok()?;
        Some((equations, begin.elapsed().as_secs_f64()))
    };
    let (equations, from_nothing) = make(0, 0)?;
    let mut after_others = f64::INFINITY;
    for step in 1..WAY.len() {
        after_others = make(bridges - 1, step)?.1.min(after_others);
    }
    Some((equations, from_nothing, after_others))
}

fn modes(text: &str) -> Option<Arc<Modes>> {
    let model = dae::testing::model(text).ok()?;
    let schedule = transform::transform(model, &transform::Options::default()).ok()?;
    schedule.modes.clone().or(schedule.mode.map(|mode| mode.modes.clone()))
}
