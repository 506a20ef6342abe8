//! Capacitors whose voltages all have fixed start values, with constraints between them that always hold and others that
//! switches make. Values that contradict what always holds are refused; values that contradict only what is switched on at the
//! start are those just before it, and charge is conserved (`descriptor`).

use std::fmt::Write as _;

use fastrand::Rng;
use session::Settings;

use crate::case::Case;
use crate::descriptor::{Descriptor, Matrix, dot};

/// A contradiction that is smaller is too small to count on its being noticed, a larger one must be.
const CLEAR: f64 = 0.05;

/// What is between voltages: a row over them that is zero.
struct Law {
    row: Vec<f64>,
    /// Switched: on at the start, or later.
    from_start: Option<bool>,
}

impl Law {
    fn random(random: &mut Rng, size: usize) -> Self {
        let mut row = vec![0.0; size];
        let a = random.usize(0..size);
        let b = (a + random.usize(1..size)) % size;
        row[a] = 1.0;
        row[b] = *random.choice(&[-1.0, -1.0, 1.0, -2.0]).unwrap_or(&-1.0);
        if size > 2 && random.u8(0..3) == 0 {
            let c = (0..size).find(|&c| c != a && c != b).unwrap_or(a);
            row[c] = -1.0;
        }
        let from_start = (random.u8(0..5) > 1).then(|| random.bool());
        Self { row, from_start }
    }

    fn is_on(&self, started: bool) -> bool {
        self.from_start.is_none_or(|first| first || started)
    }

    fn text(&self, k: usize) -> String {
        let terms: Vec<String> = (self.row.iter().enumerate())
            .filter(|(_, factor)| **factor != 0.0)
            .map(|(j, factor)| format!("({factor})*v{j}"))
            .collect();
        let sum = terms.join(" + ");
        match self.from_start {
            // In a form that makes equal and opposite voltages one variable.
            None => format!("  0 = {sum};\n"),
            Some(true) => format!("  if time < 2 then {sum} = 0; else i{k} = 0; end if;\n"),
            Some(false) => format!("  0 = if time >= 0.5 then {sum} else i{k};\n"),
        }
    }
}

/// A diode to ground that never conducts, and a large resistance beside it.
fn diode(v: &str, sign: f64) -> (String, String) {
    let equations = format!("  {sign}*{v} = if off then s else 0;\n  d = if off then 0 else s;\n");
    ("  Real s, d;\n  Boolean off = s < 0;\n".into(), equations)
}

fn rows(laws: &[Law], is_meant: impl Fn(&Law) -> bool) -> Matrix {
    laws.iter().filter(|law| is_meant(law)).map(|law| law.row.clone()).collect()
}

fn is_violated(rows: &Matrix, v: &[f64]) -> Option<bool> {
    let worst = rows.iter().map(|row| dot(row, v).abs()).fold(0.0, f64::max);
    match worst {
        _ if worst < 1e-9 => Some(false),
        _ if worst > CLEAR => Some(true),
        _ => None,
    }
}

pub fn case(random: &mut Rng) -> Case {
    loop {
        if let Some(case) = attempt(random) {
            return case;
        }
    }
}

fn attempt(random: &mut Rng) -> Option<Case> {
    let size = random.usize(2..6);
    let capacities: Vec<f64> = (0..size).map(|_| f64::from(random.u8(1..16)) / 4.0).collect();
    let diagonal = |i: usize, j: usize| if i == j { capacities[i] } else { 0.0 };
    let mass: Matrix = (0..size).map(|i| (0..size).map(|j| diagonal(i, j)).collect()).collect();
    let system = Descriptor { mass, damping: vec![vec![0.0; size]; size] };
    let laws: Vec<Law> = (0..random.usize(1..size + 1)).map(|_| Law::random(random, size)).collect();
    let jump = |v: &[f64], rows: &Matrix| -> Option<Vec<f64>> {
        if rows.is_empty() { Some(v.to_vec()) } else { Some(system.jump(v, rows, &vec![0.0; rows.len()])?.0) }
    };
    let lasting = rows(&laws, |law| law.from_start.is_none());
    // Laws that together hold a voltage at zero leave open which of its neighbours a start value is for.
    let other: Vec<f64> = (0..size).map(|_| 1.0 + random.f64()).collect();
    if jump(&other, &lasting)?.iter().any(|v| v.abs() < 1e-6) {
        return None;
    }
    let mut start: Vec<f64> = (0..size).map(|_| f64::from(random.u8(0..17)) / 2.0 - 4.0).collect();
    if random.u8(0..3) > 0 {
        start = jump(&start, &lasting)?;
    }
    let is_refused = is_violated(&lasting, &start)?;
    let first = jump(&start, &rows(&laws, |law| law.is_on(false)))?;
    let second = jump(&first, &rows(&laws, |law| law.is_on(true)))?;
    let mut declarations = String::new();
    let mut equations = String::new();
    let mut currents: Vec<String> = (0..size).map(|j| format!("{}*der(v{j})", capacities[j])).collect();
    for (k, law) in laws.iter().enumerate() {
        let _ = writeln!(declarations, "  Real i{k};");
        equations += &law.text(k);
        let parts = law.row.iter().zip(&mut currents).filter(|(factor, _)| **factor != 0.0);
        parts.for_each(|(factor, current)| *current += &format!(" + ({factor})*i{k}"));
    }
    let blocked = (0..size).find(|&j| {
        let values = [start[j], first[j], second[j]];
        values.iter().all(|v| *v > CLEAR) || values.iter().all(|v| *v < -CLEAR)
    });
    if let Some(j) = blocked.filter(|_| random.bool()) {
        let sign = -start[j].signum();
        let (more, lines) = diode(&format!("v{j}"), sign);
        declarations += &more;
        equations += &lines;
        currents[j] += &format!(" + ({sign})*d");
    }
    for (j, value) in start.iter().enumerate() {
        let _ = writeln!(declarations, "  Real v{j}(start = {value}, fixed = true);");
    }
    currents.iter().for_each(|current| {
        let _ = writeln!(equations, "  0 = {current};");
    });
    let text = format!("model M\n{declarations}equation\n{equations}end M;\n");
    let settings = Settings { stop_time: Some(1.0), interval: Some(0.25), ..Settings::default() };
    if is_refused {
        let judge = |run: &crate::run::Run| match run.messages.contains("error[inconsistent-initial-conditions]") {
            true => Ok(()),
            false => Err(format!("it was not refused: {}", run.ending())),
        };
        return Some(Case::judged(text, settings, judge));
    }
    Some(Case::complete(text, settings, move |run| {
        for (time, values) in [(0.25, &first), (0.75, &second)] {
            for (j, expected) in values.iter().enumerate() {
                let value = run.at(&format!("v{j}"), time)?;
                if (value - expected).abs() > 1e-6 * (1.0 + expected.abs()) {
                    return Err(format!("v{j} is {value} instead of {expected} at {time}"));
                }
            }
        }
        Ok(())
    }))
}
