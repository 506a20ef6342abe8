//! Networks of monotone elements with branches, under sources that jump or swing: `G·x + φ(x) = b(t)`, where G joins nodes to
//! each other and each of them to ground, and φ grows with each potential: smoothly, with a bend, or as one of several
//! branches that do not hold where others do.
//!
//! Such a system has one solution, and Newton's correction at a row tells how far it is from it.

use std::fmt::Write as _;

use fastrand::Rng;
use session::Settings;

use crate::case::Case;
use crate::linear::pick;

#[derive(Clone, Copy)]
enum Law {
    Sinh,
    Cubic,
    Diode,
    Saturation,
    Quadratic,
    /// `if x > 0.5`: ten times as steep.
    Bend,
    /// `if x > 0.5`: a parabola, which turns back where it does not hold.
    Parabola,
    /// `if x > 1`, `elseif x < -1`: logarithms, which end where they do not hold.
    Logarithm,
}

struct Node {
    law: Law,
    size: f64,
    /// A constant, an amplitude and how it changes.
    constant: f64,
    amplitude: f64,
    course: Course,
}

#[derive(Clone, Copy)]
enum Course {
    Sine(f64),
    /// Changes sign twice in each period.
    Square(f64),
}

pub fn case(random: &mut Rng) -> Case {
    let count = random.usize(1..6);
    let mut matrix = vec![vec![0.0; count]; count];
    for i in 0..count {
        for j in 0..i {
            if random.f64() < 0.7 {
                let g = 10f64.powi(random.i32(-3..3));
                matrix[i][i] += g;
                matrix[j][j] += g;
                matrix[i][j] -= g;
                matrix[j][i] -= g;
            }
        }
        matrix[i][i] += *pick(random, &[1e-3, 1e-2, 0.1, 1.0]);
    }
    let nodes: Vec<Node> = (0..count).map(|_| node(random)).collect();
    let mut text = format!("model M\n  Real x[{count}];\nequation\n");
    for (i, (node, row)) in nodes.iter().zip(&matrix).enumerate() {
        let x = format!("x[{}]", i + 1);
        let _ = write!(text, "  {:?}*({})", node.size, node.law.text(&x));
        for (j, g) in row.iter().enumerate().filter(|(_, g)| **g != 0.0) {
            let _ = write!(text, " + ({g:?})*x[{}]", j + 1);
        }
        let _ = writeln!(text, " = {:?} + ({:?})*{};", node.constant, node.amplitude, node.course.text());
    }
    text.push_str("end M;\n");
    let solver = pick(random, &["auto", "bdf", "dae"]);
    let settings = Settings {
        stop_time: Some(1.0),
        intervals: Some(50),
        solver: Some((*solver).to_owned()),
        ..Settings::default()
    };
    let text = format!("// solver {solver}\n{text}");
    Case::complete(text, settings, move |run| {
        let names: Vec<String> = (1..=nodes.len()).map(|i| format!("x[{i}]")).collect();
        let columns = names.iter().map(|name| run.column(name)).collect::<Result<Vec<_>, _>>()?;
        for (place, &time) in run.result.time.iter().enumerate() {
            if nodes.iter().any(|node| node.course.is_jumping(time)) {
                continue;
            }
            let x: Vec<f64> = columns.iter().map(|column| column[place]).collect();
            let size = x.iter().fold(1.0f64, |size, x| size.max(x.abs()));
            let mut jacobian = matrix.clone();
            let mut off = vec![0.0; x.len()];
            for (i, node) in nodes.iter().enumerate() {
                let linear: f64 = matrix[i].iter().zip(&x).map(|(g, x)| g * x).sum();
                let source = node.constant + node.amplitude * node.course.at(time);
                off[i] = linear + node.size * node.law.value(x[i]) - source;
                let probe = 1e-6 * (1.0 + x[i].abs());
                let rise = node.law.value(x[i] + probe) - node.law.value(x[i] - probe);
                jacobian[i][i] += node.size * rise / (2.0 * probe);
            }
            solve(&mut jacobian, &mut off);
            // NaN is not near to anything.
            let is_near = off.iter().all(|off| off.abs() <= 1e-6 * size);
            if !is_near {
                return Err(format!("the potentials {x:?} are off by {off:?} at {time}"));
            }
        }
        Ok(())
    })
}

/// Elimination without exchanges, which a dominant diagonal does not need.
fn solve(matrix: &mut [Vec<f64>], right: &mut [f64]) {
    let count = right.len();
    for k in 0..count {
        let pivot = matrix[k].clone();
        for i in (0..count).filter(|&i| i != k) {
            let factor = matrix[i][k] / pivot[k];
            matrix[i].iter_mut().zip(&pivot).for_each(|(a, p)| *a -= factor * p);
            right[i] -= factor * right[k];
        }
    }
    right.iter_mut().enumerate().for_each(|(k, x)| *x /= matrix[k][k]);
}

fn node(random: &mut Rng) -> Node {
    let branches = [Law::Bend, Law::Parabola, Law::Logarithm];
    let smooth = [Law::Sinh, Law::Cubic, Law::Diode, Law::Saturation, Law::Quadratic];
    let law = if random.bool() { *pick(random, &branches) } else { *pick(random, &smooth) };
    let course = match random.bool() {
        true => Course::Sine(1.0 + 19.0 * random.f64()),
        false => Course::Square(*pick(random, &[0.5, 0.25, 0.375, 0.125])),
    };
    Node {
        law,
        size: 10f64.powi(random.i32(-4..3)),
        constant: *pick(random, &[0.0, 1.0, -1.0, 10.0, 1e-3]),
        amplitude: *pick(random, &[0.0, 5.0, -20.0, 1e-2, 100.0]),
        course,
    }
}

impl Law {
    fn text(self, x: &str) -> String {
        match self {
            Law::Sinh => format!("sinh(3*{x})"),
            Law::Cubic => format!("{x}^3"),
            Law::Diode => format!("1e-12*(exp({x}/0.025) - 1)"),
            Law::Saturation => format!("atan(100*{x})"),
            Law::Quadratic => format!("{x}*abs({x})"),
            Law::Bend => format!("if {x} > 0.5 then 10*({x} - 0.5) + 0.1 else 0.2*{x}"),
            Law::Parabola => format!("if {x} > 0.5 then 0.5 + 2*({x} - 0.5) + ({x} - 0.5)^2 else {x}"),
            Law::Logarithm => format!("if {x} > 1 then 1 + log({x}) elseif {x} < -1 then -1 - log(-{x}) else {x}"),
        }
    }

    fn value(self, x: f64) -> f64 {
        match self {
            Law::Sinh => (3.0 * x).sinh(),
            Law::Cubic => x.powi(3),
            Law::Diode => 1e-12 * (x / 0.025).exp_m1(),
            Law::Saturation => (100.0 * x).atan(),
            Law::Quadratic => x * x.abs(),
            Law::Bend if x > 0.5 => 10.0 * (x - 0.5) + 0.1,
            Law::Bend => 0.2 * x,
            Law::Parabola if x > 0.5 => 0.5 + 2.0 * (x - 0.5) + (x - 0.5).powi(2),
            Law::Logarithm if x > 1.0 => 1.0 + x.ln(),
            Law::Logarithm if x < -1.0 => -1.0 - (-x).ln(),
            Law::Parabola | Law::Logarithm => x,
        }
    }
}

impl Course {
    fn text(self) -> String {
        match self {
            Course::Sine(omega) => format!("sin({omega:?}*time)"),
            Course::Square(period) => format!("(if mod(time, {period:?}) < {:?} then 1 else -1)", period / 2.0),
        }
    }

    fn at(self, time: f64) -> f64 {
        match self {
            Course::Sine(omega) => (omega * time).sin(),
            Course::Square(period) if time.rem_euclid(period) < period / 2.0 => 1.0,
            Course::Square(_) => -1.0,
        }
    }

    /// Rows at a jump belong to one of its sides.
    fn is_jumping(self, time: f64) -> bool {
        match self {
            Course::Sine(_) => false,
            Course::Square(period) => {
                let jumps = time / (period / 2.0);
                (jumps - jumps.round()).abs() < 1e-6
            }
        }
    }
}
