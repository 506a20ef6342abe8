//! Nonlinear storage of charge, flux or momentum with constraints that come and go and sources that step. What is stored in an
//! element is a monotone function of what is across it, and constraints only pass on what balances: at every time
//! `Σ D·q(Dᵀ·v) = start + I·t + Aᵀ·Λ` and `A·v = b`, the minimum of a convex function. Balances are written as derivatives of
//! what is stored, with capacities that depend on what is across, or with a name.

use std::fmt::Write as _;

use fastrand::Rng;
use session::Settings;

use crate::case::Case;
use crate::descriptor::{Descriptor, Matrix, dot};
use crate::schedules::{Switch, Times, free_columns};

/// How what is stored grows with what is across.
#[derive(Clone, Copy)]
enum Law {
    Linear,
    Cubic,
    Exponential,
    Saturating,
    Relativistic,
    Hyperbolic,
    Bent(f64),
}

impl Law {
    fn random(random: &mut Rng) -> Self {
        match random.u8(0..8) {
            0 => Self::Linear,
            1 | 2 => Self::Cubic,
            3 => Self::Exponential,
            4 => Self::Saturating,
            5 => Self::Relativistic,
            6 => Self::Hyperbolic,
            _ => Self::Bent(f64::from(random.u8(0..9)) / 4.0 - 1.03),
        }
    }

    fn stored(self, u: f64) -> f64 {
        match self {
            Self::Linear => u,
            Self::Cubic => u + u.powi(3),
            Self::Exponential => (0.5 * u).exp(),
            Self::Saturating => u.atan() + 0.2 * u,
            Self::Relativistic => u / (30.0 + u * u).sqrt() + 0.1 * u,
            Self::Hyperbolic => (0.7 * u).sinh(),
            Self::Bent(edge) => u + 2.0 * (u - edge).max(0.0),
        }
    }

    fn slope(self, u: f64) -> f64 {
        match self {
            Self::Linear => 1.0,
            Self::Cubic => 1.0 + 3.0 * u * u,
            Self::Exponential => 0.5 * (0.5 * u).exp(),
            Self::Saturating => 1.0 / (1.0 + u * u) + 0.2,
            Self::Relativistic => 30.0 / (30.0 + u * u).powf(1.5) + 0.1,
            Self::Hyperbolic => 0.7 * (0.7 * u).cosh(),
            Self::Bent(edge) => {
                if u > edge {
                    3.0
                } else {
                    1.0
                }
            }
        }
    }

    fn stored_text(self, u: &str) -> String {
        match self {
            Self::Linear => u.to_string(),
            Self::Cubic => format!("{u} + {u}^3"),
            Self::Exponential => format!("exp(0.5*{u})"),
            Self::Saturating => format!("atan({u}) + 0.2*{u}"),
            Self::Relativistic => format!("{u}/sqrt(30 + {u}^2) + 0.1*{u}"),
            Self::Hyperbolic => format!("sinh(0.7*{u})"),
            Self::Bent(edge) => format!("(if {u} > {edge} then 3*{u} - 2*({edge}) else {u})"),
        }
    }

    fn slope_text(self, u: &str) -> String {
        match self {
            Self::Linear => "1".into(),
            Self::Cubic => format!("(1 + 3*{u}^2)"),
            Self::Exponential => format!("0.5*exp(0.5*{u})"),
            Self::Saturating => format!("(1/(1 + {u}^2) + 0.2)"),
            Self::Relativistic => format!("(30/(30 + {u}^2)^1.5 + 0.1)"),
            Self::Hyperbolic => format!("0.7*cosh(0.7*{u})"),
            Self::Bent(edge) => format!("(if {u} > {edge} then 3 else 1)"),
        }
    }
}

/// How the flow into an element is written.
#[derive(Clone, Copy)]
enum Form {
    Derivative,
    Capacity,
    NamedCapacity,
    Named,
    Function,
}

struct Element {
    /// Node 0 is ground.
    a: usize,
    b: usize,
    law: Law,
    form: Form,
    /// A factor of what is stored that steps with a switch.
    factors: Option<([f64; 2], Switch)>,
    factor_form: u8,
}

impl Element {
    fn random(random: &mut Rng, a: usize, b: usize, times: &Times) -> Self {
        let law = Law::random(random);
        let mut form =
            [Form::Derivative, Form::Capacity, Form::NamedCapacity, Form::Named, Form::Function][random.usize(0..5)];
        let size = |random: &mut Rng| f64::from(random.u8(2..12)) / 4.0;
        let steps = random.u8(0..5) == 0;
        let factors = steps.then(|| ([size(random), size(random)], times.switch(random)));
        // A capacity that steps keeps what is across, not what is stored.
        if steps && matches!(form, Form::Capacity | Form::NamedCapacity) {
            form = Form::Derivative;
        }
        Self { a, b, law, form, factors, factor_form: random.u8(0..2) }
    }

    fn factor(&self, phase: usize) -> f64 {
        self.factors.as_ref().map_or(1.0, |(factors, switch)| factors[usize::from(!switch.is_on(phase))])
    }

    fn row(&self, size: usize) -> Vec<f64> {
        let mut row = vec![0.0; size];
        if self.a > 0 {
            row[self.a - 1] += 1.0;
        }
        if self.b > 0 {
            row[self.b - 1] -= 1.0;
        }
        row
    }

    /// Writes the declarations and equations, with what is stored at the start; the flow from a to b.
    fn write(&self, k: usize, switch: usize, start: f64, text: &mut Text) -> String {
        let across = match (self.a, self.b) {
            (a, 0) => format!("v[{a}]"),
            (0, b) => format!("(-v[{b}])"),
            (a, b) => format!("(v[{a}] - v[{b}])"),
        };
        let mut factor = String::new();
        if let Some(([one, other], steps)) = &self.factors {
            steps.write(switch, &mut text.declarations, &mut text.equations);
            let value = format!("if s{switch} then {one} else {other}");
            factor = match self.factor_form {
                0 => format!("({value})*"),
                _ => {
                    let _ = writeln!(text.declarations, "  Real m{k} = {value};");
                    format!("m{k}*")
                }
            };
        }
        let stored = format!("{factor}({})", self.law.stored_text(&across));
        let rate = match (self.a, self.b) {
            (a, 0) => format!("der(v[{a}])"),
            (0, b) => format!("(-der(v[{b}]))"),
            (a, b) => format!("(der(v[{a}]) - der(v[{b}]))"),
        };
        match self.form {
            Form::Derivative => format!("der({stored})"),
            Form::Capacity => format!("{}*{rate}", self.law.slope_text(&across)),
            Form::NamedCapacity => {
                let _ = writeln!(text.declarations, "  Real c{k};");
                let _ = writeln!(text.equations, "  c{k} = {};", self.law.slope_text(&across));
                format!("c{k}*{rate}")
            }
            Form::Named => {
                let _ = writeln!(text.declarations, "  Real q{k}(start = {start});");
                let _ = writeln!(text.equations, "  q{k} = {stored};");
                format!("der(q{k})")
            }
            Form::Function => {
                let _ = write!(
                    text.functions,
                    "  function f{k}\n    input Real u;\n    output Real y;\n  algorithm\n    y := {};\n    \
                     annotation(derivative = g{k}, Inline = false);\n  end f{k};\n  function g{k}\n    input Real u;\n    \
                     input Real du;\n    output Real y;\n  algorithm\n    y := {}*du;\n  end g{k};\n",
                    self.law.stored_text("u"),
                    self.law.slope_text("u")
                );
                format!("der({factor}f{k}({across}))")
            }
        }
    }
}

#[derive(Default)]
struct Text {
    functions: String,
    declarations: String,
    equations: String,
}

/// A constraint that holds while a switch is on, or whose right side steps.
struct Constraint {
    row: Vec<f64>,
    /// Right sides with the switch on and off; none: it does not hold.
    right: [Option<f64>; 2],
    switch: Switch,
}

impl Constraint {
    fn random(random: &mut Rng, size: usize, times: &Times) -> Self {
        let mut row = vec![0.0; size];
        let a = random.usize(0..size);
        row[a] = 1.0;
        let b = (a + random.usize(1..size)) % size;
        if random.u8(0..4) > 0 {
            row[b] = [-1.0, -1.0, 1.0, -2.0, 0.5][random.usize(0..5)];
        }
        let value = |random: &mut Rng| f64::from(random.u8(0..9)) / 2.0 - 2.0;
        let right = match random.u8(0..3) {
            0 => [Some(value(random)), Some(value(random))],
            1 => [Some(value(random)), None],
            _ => [Some(0.0), None],
        };
        Self { row, right, switch: times.switch(random) }
    }

    fn right(&self, phase: usize) -> Option<f64> {
        self.right[usize::from(!self.switch.is_on(phase))]
    }

    fn write(&self, k: usize, random: &mut Rng, text: &mut Text) {
        let _ = writeln!(text.declarations, "  Real i{k};");
        self.switch.write(k, &mut text.declarations, &mut text.equations);
        let terms: Vec<String> = (self.row.iter().enumerate())
            .filter(|(_, factor)| **factor != 0.0)
            .map(|(node, factor)| format!("({factor})*v[{}]", node + 1))
            .collect();
        let sum = terms.join(" + ");
        text.equations += &match self.right {
            [Some(one), Some(other)] => format!("  {sum} = if s{k} then {one} else {other};\n"),
            [Some(one), None] if random.bool() => format!("  if s{k} then {sum} = {one}; else i{k} = 0; end if;\n"),
            [Some(one), None] => format!("  0 = if s{k} then {sum} - ({one}) else i{k};\n"),
            _ => String::new(),
        };
    }
}

/// All elements, with what flows into nodes.
struct Network {
    elements: Vec<Element>,
    constraints: Vec<Constraint>,
    currents: Vec<f64>,
}

impl Network {
    /// What is stored at each node.
    fn stored(&self, v: &[f64], phase: usize) -> Vec<f64> {
        let mut sums = vec![0.0; v.len()];
        for element in &self.elements {
            let row = element.row(v.len());
            let stored = element.factor(phase) * element.law.stored(dot(&row, v));
            sums.iter_mut().zip(&row).for_each(|(sum, factor)| *sum += factor * stored);
        }
        sums
    }

    fn capacities(&self, v: &[f64], phase: usize) -> Matrix {
        let mut matrix = vec![vec![0.0; v.len()]; v.len()];
        for element in &self.elements {
            let row = element.row(v.len());
            let slope = element.factor(phase) * element.law.slope(dot(&row, v));
            for i in 0..v.len() {
                (0..v.len()).for_each(|j| matrix[i][j] += slope * row[i] * row[j]);
            }
        }
        matrix
    }

    fn rows(&self, phase: usize) -> (Matrix, Vec<f64>) {
        let hold = self.constraints.iter().filter_map(|c| Some((c.row.clone(), c.right(phase)?)));
        hold.unzip()
    }

    /// The values at which constraints hold and the rest of what is stored is this much: Newton's method with an exact line
    /// search for the minimum of a convex function.
    fn settle(&self, guess: &[f64], phase: usize, stored: &[f64]) -> Option<Vec<f64>> {
        let (rows, right) = self.rows(phase);
        let unit = (0..guess.len()).map(|k| (0..guess.len()).map(|j| f64::from(u8::from(j == k))).collect()).collect();
        let plain = Descriptor { mass: unit, damping: Vec::new() };
        let (mut v, _) = plain.jump(guess, &rows, &right)?;
        let force = |v: &[f64]| -> Vec<f64> {
            stored.iter().zip(self.stored(v, phase)).map(|(wanted, has)| wanted - has).collect()
        };
        let still = vec![0.0; rows.len()];
        for _ in 0..200 {
            let tangent = Descriptor { mass: self.capacities(&v, phase), damping: Vec::new() };
            let (step, _) = tangent.saddle(&force(&v), &rows, &still)?;
            let at = |length: f64| -> Vec<f64> { v.iter().zip(&step).map(|(v, step)| v + length * step).collect() };
            let uphill = |length: f64| dot(&force(&at(length)), &step) < 0.0;
            let mut length = 1.0;
            if uphill(1.0) {
                let (mut low, mut high) = (0.0, 1.0);
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if uphill(middle) { high = middle } else { low = middle }
                }
                length = low.max(1e-12);
            }
            v = at(length);
            if step.iter().zip(&v).all(|(step, v)| step.abs() <= 1e-13 * (1.0 + v.abs())) {
                return Some(v);
            }
        }
        None
    }
}

pub fn case(random: &mut Rng) -> Case {
    loop {
        if let Some(case) = network(random) {
            return case;
        }
    }
}

fn network(random: &mut Rng) -> Option<Case> {
    let size = random.usize(2..5);
    let times = Times::random(random);
    let mut elements: Vec<Element> = (1..=size).map(|k| Element::random(random, k, 0, &times)).collect();
    for _ in 0..random.usize(0..2) {
        let a = random.usize(1..size + 1);
        let b = (a + random.usize(1..size + 1)) % (size + 1);
        elements.push(Element::random(random, a, b, &times));
    }
    let constraints = (0..random.usize(1..size + 1)).map(|_| Constraint::random(random, size, &times)).collect();
    let flows = random.bool();
    let currents = (0..size).map(|_| if flows { f64::from(random.u8(0..5)) / 4.0 - 0.5 } else { 0.0 }).collect();
    let network = Network { elements, constraints, currents };

    let guess: Vec<f64> = (0..size).map(|_| f64::from(random.u8(0..17)) / 4.0 - 2.0).collect();
    let start = network.settle(&guess, 0, &network.stored(&guess, 0))?;
    let mut stored = network.stored(&start, 0);
    let (mut v, mut time) = (start.clone(), 0.0);
    let mut points = Vec::new();
    for phase in 0..times.count() {
        for part in [0.0, 0.5, 1.0] {
            let now = time + part * (times.end(phase) - time);
            let wanted: Vec<f64> =
                stored.iter().zip(&network.currents).map(|(stored, current)| stored + current * (now - time)).collect();
            v = network.settle(&v, phase, &wanted)?;
            if part > 0.0 && (part < 1.0 || phase + 1 == times.count()) {
                points.push((now, v.clone()));
            }
        }
        stored = network.stored(&v, phase);
        time = times.end(phase);
    }
    if points.iter().flat_map(|(_, v)| v).any(|v| v.abs() > 8.0) {
        return None;
    }

    let mut text = Text::default();
    let fixed = free_columns(&network.rows(0).0, size);
    let fixed: Vec<String> = (0..size).map(|k| fixed.contains(&k).to_string()).collect();
    let values: Vec<String> = start.iter().map(f64::to_string).collect();
    let _ = writeln!(
        text.declarations,
        "  Real v[{size}](start = {{{}}}, fixed = {{{}}});",
        values.join(", "),
        fixed.join(", ")
    );
    times.write(&mut text.declarations, &mut text.equations);
    let mut sums = vec![String::new(); size + 1];
    for (k, element) in network.elements.iter().enumerate() {
        let stored = element.factor(0) * element.law.stored(dot(&element.row(size), &start));
        let flow = element.write(k, network.constraints.len() + k, stored, &mut text);
        sums[element.a] += &format!(" + {flow}");
        sums[element.b] += &format!(" - {flow}");
    }
    for (k, constraint) in network.constraints.iter().enumerate() {
        constraint.write(k, random, &mut text);
        for (node, factor) in constraint.row.iter().enumerate().filter(|(_, factor)| **factor != 0.0) {
            sums[node + 1] += &format!(" - ({factor})*i{k}");
        }
    }
    for (sum, current) in sums[1..].iter().zip(&network.currents) {
        let _ = writeln!(text.equations, "  {current} ={sum};");
    }
    let Text { functions, declarations, equations } = text;
    let text = format!("model M\n{functions}{declarations}equation\n{equations}end M;\n");
    let settings = Settings {
        stop_time: Some(times.stop()),
        interval: Some(0.0125),
        tolerance: Some(1e-8),
        ..Settings::default()
    };
    Some(Case::complete(text, settings, move |run| {
        for (time, point) in &points {
            for (k, expected) in point.iter().enumerate() {
                let value = run.at(&format!("v[{}]", k + 1), *time)?;
                let is_near = (value - expected).abs() <= 1e-5 * (1.0 + expected.abs());
                if !is_near {
                    return Err(format!("v[{}] is {value} instead of {expected} at {time}", k + 1));
                }
            }
        }
        Ok(())
    }))
}
