//! Networks of monotone elements with a known root: nodes joined by two-terminal elements whose flow grows with the difference
//! of the potentials (linear, cubic, `sinh`, exponential), sources at the nodes made from a known solution. With one element to
//! ground, and each node joined to it, the solution is unique.
//!
//! Potentials and flows have units from 1e-12 to 1e6, and start values are zero, where nothing else is said.

use std::fmt::Write as _;

use fastrand::Rng;
use session::Settings;

use crate::case::Case;

/// `flow = f(difference)`, f monotone with f(0) = 0.
#[derive(Clone, Copy)]
enum Law {
    Linear,
    Cubic,
    Sinh,
    Diode,
}

struct Element {
    law: Law,
    from: usize,
    /// `None` is ground.
    to: Option<usize>,
    flow: f64,
    /// How steep it is.
    width: f64,
}

pub fn case(random: &mut Rng) -> Case {
    let nodes = random.usize(1..6);
    let potential = 10f64.powi(random.i32(-12..7));
    let level: Vec<(f64, f64)> = (0..nodes).map(|_| (3.0 * (2.0 * random.f64() - 1.0), 0.5 * random.f64())).collect();
    let elements = elements(random, &level);
    let style = random.u32(0..3);
    let far = random.f64() < 0.3;
    let mut text = String::from("model M\n");
    let start =
        if far { format!("(each start = {:?})", potential * 20.0 * (random.f64() - 0.5)) } else { String::new() };
    let _ = writeln!(text, "  Real v[{nodes}]{start};");
    let _ = writeln!(text, "  Real f[{}];", elements.len());
    if style == 1 {
        let _ = writeln!(text, "  Real d[{}];", elements.len());
    }
    text.push_str("  Real s(start = 0, fixed = true);\nequation\n");
    let _ = writeln!(text, "  der(s) = v[1]/{potential:?};");
    let exact = |node: usize| format!("({:?} + {:?}*sin(3*time))", level[node].0, level[node].1);
    let mut lines = Vec::new();
    let mut balances: Vec<(String, String)> = vec![(String::new(), String::new()); nodes];
    for (index, element) in (1..).zip(&elements) {
        let other = element.to.map_or(String::new(), |to| format!(" - v[{}]", to + 1));
        let difference = match style {
            1 => {
                lines.push(format!("  d[{index}] = v[{}]{other};\n", element.from + 1));
                format!("d[{index}]")
            }
            _ => format!("(v[{}]{other})", element.from + 1),
        };
        lines.push(format!("  f[{index}] = {};\n", element.text(&difference, potential)));
        let exact_difference =
            format!("({}{})", exact(element.from), element.to.map_or(String::new(), |to| format!(" - {}", exact(to))));
        let exact_flow = element.text(&exact_difference, 1.0);
        for (node, sign) in [(Some(element.from), '+'), (element.to, '-')] {
            let Some(node) = node else { continue };
            let _ = write!(balances[node].0, " {sign} f[{index}]");
            let _ = write!(balances[node].1, " {sign} {exact_flow}");
        }
    }
    lines.extend(balances.iter().map(|(left, right)| format!("  0{left} = 0{right};\n")));
    random.shuffle(&mut lines);
    lines.iter().for_each(|line| text.push_str(line));
    text.push_str("end M;\n");
    let settings = Settings { stop_time: Some(1.0), intervals: Some(20), ..Settings::default() };
    Case::complete(text, settings, move |run| {
        for (node, &(a, b)) in level.iter().enumerate() {
            let course = |time: f64| potential * (a + b * (3.0 * time).sin());
            run.follows(&format!("v[{}]", node + 1), course, 1e-6 * potential)?;
        }
        Ok(())
    })
}

/// A linear element from each node to ground makes the potentials well determined; others join any two nodes.
fn elements(random: &mut Rng, level: &[(f64, f64)]) -> Vec<Element> {
    let nodes = level.len();
    let size = 10f64.powi(random.i32(-12..7));
    let mut elements: Vec<Element> = (0..nodes)
        .map(|from| Element { law: Law::Linear, from, to: None, flow: size * (0.1 + random.f64()), width: 1.0 })
        .collect();
    for _ in 0..random.usize(1..2 * nodes + 2) {
        let law = *random.choice(&[Law::Linear, Law::Cubic, Law::Sinh, Law::Diode]).unwrap_or(&Law::Linear);
        let from = random.usize(0..nodes);
        let to = Some(random.usize(0..nodes)).filter(|&to| to != from && random.bool());
        let width = match law {
            Law::Diode => 0.05 + 0.3 * random.f64(),
            Law::Sinh => 0.2 + random.f64(),
            _ => 1.0,
        };
        // Steep elements have small factors, as diodes have, so that rounding in the balances stays small: a flow that is
        // larger than all others by orders of magnitude would leave nothing of them.
        let steepest = match law {
            Law::Diode | Law::Sinh => (-8.0 / width).exp().max(1e-14),
            _ => 1.0,
        };
        let to_ends = [-1.0, 1.0].map(|sine| {
            let at = |node: usize| level[node].0 + sine * level[node].1;
            law.value((at(from) - to.map_or(0.0, at)) / width).abs()
        });
        let damping = steepest.min(100.0 / to_ends[0].max(to_ends[1]));
        elements.push(Element { law, from, to, flow: size * damping * (0.1 + random.f64()), width });
    }
    elements
}

impl Law {
    fn value(self, x: f64) -> f64 {
        match self {
            Law::Linear => x,
            Law::Cubic => x.powi(3),
            Law::Sinh => x.sinh(),
            Law::Diode => x.exp_m1(),
        }
    }
}

impl Element {
    fn text(&self, difference: &str, unit: f64) -> String {
        let (flow, width) = (self.flow, self.width * unit);
        match self.law {
            Law::Linear => format!("{flow:?}*({difference}/{width:?})"),
            Law::Cubic => format!("{flow:?}*({difference}/{width:?})^3"),
            Law::Sinh => format!("{flow:?}*sinh({difference}/{width:?})"),
            Law::Diode => format!("{flow:?}*(exp({difference}/{width:?}) - 1)"),
        }
    }
}
