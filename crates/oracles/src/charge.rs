//! Capacitors that ideal switches, double-throw switches, sources that step and ideal diodes charge in no time: the balances
//! of charge with the constraints of each phase (`descriptor`).

use std::fmt::Write as _;

use fastrand::Rng;
use session::Settings;

use crate::case::Case;
use crate::descriptor::{Descriptor, Matrix, OneSided, Phase};
use crate::schedules::{Switch, Times, free_columns};

/// What stands between nodes; node 0 is ground.
enum Element {
    /// Closed, or open.
    Switch { a: usize, b: usize },
    /// Connects a with b or with c.
    DoubleThrow { a: usize, b: usize, c: usize },
    /// One voltage or the other from a to b.
    Source { a: usize, b: usize, volts: [f64; 2] },
    /// The same behind a switch that opens.
    Switched { a: usize, b: usize, volts: f64 },
}

impl Element {
    fn random(random: &mut Rng, a: usize, b: usize, c: usize) -> Self {
        let volts = |random: &mut Rng| f64::from(random.u8(0..11)) - 5.0;
        match random.u8(0..7) {
            0..2 if c != a && c != b => Self::DoubleThrow { a, b, c },
            2..4 => Self::Source { a, b, volts: [volts(random), volts(random)] },
            4 => Self::Switched { a, b, volts: volts(random) },
            _ => Self::Switch { a, b },
        }
    }

    fn row(&self, first: bool, size: usize) -> Option<(Vec<f64>, f64)> {
        let between = |a: usize, b: usize| difference(a, b, size);
        match *self {
            Self::Switch { a, b } => first.then(|| (between(a, b), 0.0)),
            Self::DoubleThrow { a, b, c } => Some((between(a, if first { b } else { c }), 0.0)),
            Self::Source { a, b, volts } => Some((between(a, b), volts[usize::from(!first)])),
            Self::Switched { a, b, volts } => first.then(|| (between(a, b), volts)),
        }
    }

    /// The equations, and the currents out of nodes.
    fn text(&self, k: usize, random: &mut Rng) -> (String, Vec<(usize, String)>) {
        let s = format!("s{k}");
        let (i, j) = (format!("i{k}"), format!("j{k}"));
        let through = |a: usize, b: usize| vec![(a, format!(" + {i}")), (b, format!(" - {i}"))];
        match *self {
            Self::Switch { a, b } => {
                let v = format!("({} - {})", node(a), node(b));
                let text = match random.bool() {
                    true => format!("  if {s} then {v} = 0; else {i} = 0; end if;\n"),
                    false => format!("  0 = if {s} then {v} else {i};\n"),
                };
                (text + &format!("  {j} = 0;\n"), through(a, b))
            }
            Self::DoubleThrow { a, b, c } => {
                let (va, vb, vc) = (node(a), node(b), node(c));
                let text = format!("  if {s} then {va} = {vb}; {j} = 0; else {va} = {vc}; {i} = 0; end if;\n");
                let currents = vec![(a, format!(" + {i} + {j}")), (b, format!(" - {i}")), (c, format!(" - {j}"))];
                (text, currents)
            }
            Self::Source { a, b, volts: [u, v] } => {
                let text = match random.bool() {
                    true => format!("  {} - {} = if {s} then {u} else {v};\n  {j} = 0;\n", node(a), node(b)),
                    false => format!("  {} - {} = {j};\n  {j} = if {s} then {u} else {v};\n", node(a), node(b)),
                };
                (text, through(a, b))
            }
            Self::Switched { a, b, volts } => {
                let text =
                    format!("  if {s} then {} - {} = {volts}; else {i} = 0; end if;\n  {j} = 0;\n", node(a), node(b));
                (text, through(a, b))
            }
        }
    }
}

fn node(k: usize) -> String {
    if k == 0 { "0".into() } else { format!("v[{k}]") }
}

/// The voltage from one node to another as a row over the nodes but ground.
fn difference(a: usize, b: usize, size: usize) -> Vec<f64> {
    let mut row = vec![0.0; size];
    for (node, sign) in [(a, 1.0), (b, -1.0)] {
        if node > 0 {
            row[node - 1] += sign;
        }
    }
    row
}

/// Capacitors and resistors: between which nodes, and how large.
struct Passive {
    parts: Vec<(usize, usize, f64)>,
}

impl Passive {
    fn matrix(&self, size: usize) -> Matrix {
        let mut matrix = vec![vec![0.0; size]; size];
        for &(a, b, value) in &self.parts {
            let row = difference(a, b, size);
            for i in 0..size {
                (0..size).for_each(|j| matrix[i][j] += value * row[i] * row[j]);
            }
        }
        matrix
    }
}

pub fn case(random: &mut Rng) -> Case {
    loop {
        let found = if random.u8(0..4) == 0 { pump(random) } else { network(random) };
        if let Some(case) = found {
            return case;
        }
    }
}

/// Two different nodes.
fn pair(random: &mut Rng, size: usize) -> (usize, usize) {
    let a = random.usize(0..size + 1);
    (a, (a + random.usize(1..size + 1)) % (size + 1))
}

fn capacitors(random: &mut Rng, size: usize) -> Passive {
    let value = |random: &mut Rng| f64::from(random.u8(1..16)) / 4.0;
    let mut parts: Vec<(usize, usize, f64)> = (1..=size).map(|k| (k, 0, value(random))).collect();
    for _ in 0..random.usize(0..3) {
        let (a, b) = pair(random, size);
        parts.push((a, b, value(random)));
    }
    Passive { parts }
}

/// The model with everything but what switches.
struct Text {
    declarations: String,
    equations: String,
    /// What flows out of each node.
    currents: Vec<String>,
}

impl Text {
    fn new(capacitors: &Passive, resistors: &Passive, start: &[f64], free: &[usize]) -> Self {
        let size = start.len();
        let mut declarations = String::new();
        let fixed: Vec<String> = (0..size).map(|k| free.contains(&k).to_string()).collect();
        let values: Vec<String> = start.iter().map(f64::to_string).collect();
        let _ = writeln!(
            declarations,
            "  Real v[{size}](start = {{{}}}, fixed = {{{}}});",
            values.join(", "),
            fixed.join(", ")
        );
        let mut currents = vec![String::new(); size + 1];
        let der = |node: usize| if node == 0 { "0".to_string() } else { format!("der(v[{node}])") };
        for &(a, b, value) in &capacitors.parts {
            currents[a] += &format!(" + {value}*({} - {})", der(a), der(b));
            currents[b] += &format!(" - {value}*({} - {})", der(a), der(b));
        }
        for &(a, b, value) in &resistors.parts {
            currents[a] += &format!(" + {value}*({} - {})", node(a), node(b));
            currents[b] += &format!(" - {value}*({} - {})", node(a), node(b));
        }
        Self { declarations, equations: String::new(), currents }
    }

    fn add(&mut self, lines: &str, currents: Vec<(usize, String)>) {
        self.equations += lines;
        currents.into_iter().for_each(|(node, term)| self.currents[node] += &term);
    }

    fn finish(mut self) -> String {
        for current in &self.currents[1..] {
            let _ = writeln!(self.equations, "  0 ={current};");
        }
        format!("model M\n{}equation\n{}end M;\n", self.declarations, self.equations)
    }
}

fn network(random: &mut Rng) -> Option<Case> {
    let size = random.usize(2..5);
    let capacitors = capacitors(random, size);
    let resistors = Passive {
        parts: (0..random.usize(0..3))
            .map(|_| {
                let (a, b) = pair(random, size);
                (a, b, 0.2 + random.f64())
            })
            .collect(),
    };
    let times = Times::random(random);
    let elements: Vec<(Element, Switch)> = (0..random.usize(1..size + 1))
        .map(|_| {
            let ((a, b), c) = (pair(random, size), random.usize(0..size + 1));
            (Element::random(random, a, b, c), times.switch(random))
        })
        .collect();
    let system = Descriptor { mass: capacitors.matrix(size), damping: resistors.matrix(size) };
    let phases: Vec<Phase> = (0..times.count())
        .map(|phase| {
            let (rows, right) = elements.iter().filter_map(|(e, s)| e.row(s.is_on(phase), size)).unzip();
            Phase { until: times.end(phase), rows, right, force: vec![0.0; size] }
        })
        .collect();
    let guess: Vec<f64> = (0..size).map(|_| f64::from(random.u8(0..9)) - 4.0).collect();
    let (start, _) = system.jump(&guess, &phases[0].rows, &phases[0].right)?;
    let (points, passed) = system.run(&start, &phases)?;
    // What goes through the first element, if it is a source.
    let metered = matches!(elements[0].0, Element::Source { .. });
    let charge: f64 = if metered { passed.iter().map(|sums| -sums[0]).sum() } else { 0.0 };

    let mut text = Text::new(&capacitors, &resistors, &start, &free_columns(&phases[0].rows, size));
    for (k, (element, switch)) in elements.iter().enumerate() {
        let _ = writeln!(text.declarations, "  Real i{k}, j{k};");
        switch.write(k, &mut text.declarations, &mut text.equations);
        let (lines, currents) = element.text(k, random);
        text.add(&lines, currents);
    }
    if metered {
        text.declarations += "  Real q(start = 0, fixed = true);\n";
        text.equations += "  der(q) = i0;\n";
    }
    times.write(&mut text.declarations, &mut text.equations);
    let settings = Settings {
        stop_time: Some(times.stop()),
        interval: Some(0.0125),
        tolerance: Some(1e-9),
        ..Settings::default()
    };
    Some(Case::complete(text.finish(), settings, move |run| {
        for point in points.iter().step_by(2).chain(points.last()) {
            for (k, expected) in point.x.iter().enumerate() {
                let value = run.at(&format!("v[{}]", k + 1), point.time)?;
                if (value - expected).abs() > 1e-5 * (1.0 + expected.abs()) {
                    return Err(format!("v[{}] is {value} instead of {expected} at {}", k + 1, point.time));
                }
            }
        }
        let found = if metered { run.end("q")? } else { charge };
        match (found - charge).abs() <= 1e-5 * (1.0 + charge.abs()) {
            true => Ok(()),
            false => Err(format!("q is {found} instead of {charge}")),
        }
    }))
}

/// Charge pumps: sources that step again and again, capacitors and ideal diodes, no resistance anywhere.
fn pump(random: &mut Rng) -> Option<Case> {
    let size = random.usize(2..5);
    let capacitors = capacitors(random, size);
    let steps = random.usize(2..7);
    let driven = random.usize(1..size + 1);
    let volts: Vec<f64> = (0..=steps).map(|_| f64::from(random.u8(0..11)) - 5.0).collect();
    let diodes: Vec<(usize, usize)> = (0..random.usize(1..4)).map(|_| pair(random, size)).collect();
    let bounds = OneSided {
        rows: diodes.iter().map(|&(a, b)| difference(a, b, size)).collect(),
        right: vec![0.0; diodes.len()],
    };
    let system = Descriptor { mass: capacitors.matrix(size), damping: vec![vec![0.0; size]; size] };
    let phase = |volts: f64| Phase {
        until: 0.0,
        rows: vec![difference(driven, 0, size)],
        right: vec![volts],
        force: vec![0.0; size],
    };
    // A start at which all diodes block, none of them at the edge.
    let mut start: Vec<f64> = (0..size).map(|_| f64::from(random.u8(0..21)) - 10.0 + 0.37 * random.f64()).collect();
    start[driven - 1] = volts[0];
    let blocks = bounds.rows.iter().all(|row| crate::descriptor::dot(row, &start) < -0.1);
    if !blocks {
        return None;
    }
    let mut points = vec![start.clone()];
    for &volts in &volts[1..] {
        points.push(system.jump_one_sided(&points[points.len() - 1], &phase(volts), &bounds)?);
    }
    let free: Vec<usize> = (0..size).filter(|&k| k + 1 != driven).collect();
    let mut text = Text::new(&capacitors, &Passive { parts: Vec::new() }, &start, &free);
    let signal = (0..steps).rev().fold(volts[steps].to_string(), |otherwise, k| {
        format!("if time < {} then {} else {otherwise}", k + 1, volts[k])
    });
    let _ = writeln!(text.declarations, "  Real u = {signal};\n  Real i;");
    text.add(&format!("  v[{driven}] = u;\n"), vec![(driven, " + i".into())]);
    for (k, &(a, b)) in diodes.iter().enumerate() {
        let _ = writeln!(text.declarations, "  Real d{k}, s{k};\n  Boolean off{k} = s{k} < 0;");
        let lines = format!(
            "  {} - ({}) = if off{k} then s{k} else 0;\n  d{k} = if off{k} then 0 else s{k};\n",
            node(a),
            node(b)
        );
        text.add(&lines, vec![(a, format!(" + d{k}")), (b, format!(" - d{k}"))]);
    }
    let settings = Settings { stop_time: Some(steps as f64 + 1.0), ..Settings::default() };
    Some(Case::complete(text.finish(), settings, move |run| {
        for (step, point) in points.iter().enumerate() {
            for (k, expected) in point.iter().enumerate() {
                let value = run.at(&format!("v[{}]", k + 1), step as f64 + 0.5)?;
                if (value - expected).abs() > 1e-6 * (1.0 + expected.abs()) {
                    return Err(format!("v[{}] is {value} instead of {expected} after step {step}", k + 1));
                }
            }
        }
        Ok(())
    }))
}
