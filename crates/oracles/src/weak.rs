//! Diagonally dominant systems whose couplings are anything between one and 1e-15 of the diagonal: each equation determines its
//! own unknown, whatever order, factor and unit equations and unknowns have. The right sides are made from a known solution.
//!
//! The solution is known in the units of the model only up to the rounding of the right sides that the model computes, which
//! dominance does not amplify.

use std::fmt::Write as _;

use fastrand::Rng;
use session::Settings;

use crate::case::Case;
use crate::run::Run;

/// One unknown `unit·(a + b·sin(time))`.
struct Unknown {
    a: f64,
    b: f64,
    unit: f64,
}

impl Unknown {
    fn at(&self, time: f64) -> f64 {
        self.unit * (self.a + self.b * time.sin())
    }

    /// The value without its unit, as text.
    fn text(&self) -> String {
        format!("({:?} + {:?}*sin(time))", self.a, self.b)
    }
}

pub fn case(random: &mut Rng) -> Case {
    let count = random.usize(2..9);
    let weakest = *random.choice(&[3.0, 8.0, 15.0]).unwrap_or(&15.0);
    let units = *random.choice(&[0.0, 0.0, 6.0, 12.0]).unwrap_or(&0.0);
    let density = 0.3 + 0.7 * random.f64();
    let nonlinear = random.bool();
    let with_parameters = random.bool();
    let unknowns: Vec<Unknown> = (0..count)
        .map(|_| Unknown { a: signed(random, 0.5, 3.0), b: 0.3 * random.f64(), unit: power(random, units) })
        .collect();
    let mut parameters = String::new();
    let mut equations: Vec<String> = (0..count)
        .map(|row| equation(random, row, &unknowns, (weakest, density, nonlinear), with_parameters, &mut parameters))
        .collect();
    random.shuffle(&mut equations);
    let mut text = String::from("model M\n");
    let _ = writeln!(text, "  Real x[{count}];");
    text.push_str(&parameters);
    // A state beside them makes the system one of the right-hand side.
    text.push_str("  Real s(start = 0, fixed = true);\nequation\n  der(s) = x[1];\n");
    equations.iter().for_each(|equation| text.push_str(equation));
    text.push_str("end M;\n");
    let settings = Settings { stop_time: Some(2.0), intervals: Some(10), ..Settings::default() };
    Case::complete(text, settings, move |run| judge(run, &unknowns))
}

fn equation(
    random: &mut Rng,
    row: usize,
    unknowns: &[Unknown],
    (weakest, density, nonlinear): (f64, f64, bool),
    with_parameters: bool,
    parameters: &mut String,
) -> String {
    let factor = power(random, 6.0);
    let diagonal = signed(random, 2.0, 10.0);
    let mut terms = Vec::new();
    for (column, unknown) in unknowns.iter().enumerate() {
        let own = column == row;
        if !own && random.f64() > density && column != (row + 1) % unknowns.len() {
            continue;
        }
        let size = 10f64.powf(-weakest * random.f64()) * 0.5 / unknowns.len() as f64;
        let coefficient = factor * if own { diagonal } else { diagonal.abs() * signed(random, 0.2, 1.0) * size };
        let mut coefficient_text = format!("({coefficient:?})");
        if with_parameters && random.f64() < 0.3 {
            let name = format!("p{}_{}", row + 1, column + 1);
            let _ = writeln!(parameters, "  parameter Real {name} = {coefficient:?};");
            coefficient_text = name;
        }
        let (x, exact) = (format!("(x[{}]/{:?})", column + 1, unknown.unit), unknown.text());
        // Slopes between −1 and 1 do not change what dominates.
        let bent = nonlinear && random.bool();
        let function = |value: &str| match bent && own {
            true => format!("({value} + 0.3*sin({value}))"),
            false if bent => format!("sin({value})"),
            false => value.to_owned(),
        };
        terms
            .push((format!("{coefficient_text}*{}", function(&x)), format!("{coefficient_text}*{}", function(&exact))));
    }
    random.shuffle(&mut terms);
    let side = |pick: fn(&(String, String)) -> &str| terms.iter().map(pick).collect::<Vec<_>>().join(" + ");
    format!("  {} = {};\n", side(|term| &term.0), side(|term| &term.1))
}

fn judge(run: &Run, unknowns: &[Unknown]) -> Result<(), String> {
    for (index, unknown) in unknowns.iter().enumerate() {
        let tolerance = 1e-8 * unknown.unit * (unknown.a.abs() + unknown.b.abs());
        run.follows(&format!("x[{}]", index + 1), |time| unknown.at(time), tolerance)?;
    }
    Ok(())
}

/// A number between two bounds with a random sign.
fn signed(random: &mut Rng, low: f64, high: f64) -> f64 {
    let size = low + (high - low) * random.f64();
    if random.bool() { size } else { -size }
}

/// A power of ten between −most and most.
fn power(random: &mut Rng, most: f64) -> f64 {
    10f64.powf((most * (2.0 * random.f64() - 1.0)).round())
}
