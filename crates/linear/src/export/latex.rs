//! The equations of a state space in LaTeX (needs `amsmath`).

use std::fmt::Write as _;

use super::{Cell, short_number};
use crate::{Matrix, Rates, StateSpace};

/// The equations in LaTeX.
pub fn latex<T: Cell>(system: &StateSpace<T>) -> String {
    latex_with_rates(system, None)
}

/// The equations in LaTeX, with the coefficients of derivatives of inputs in those of the states and of the outputs.
pub fn latex_with_rates<T: Cell>(system: &StateSpace<T>, rates: Option<&Rates<T>>) -> String {
    let names = |list: Vec<&str>| column(list.into_iter().map(name).collect());
    let states = names(system.states.iter().map(|state| state.name.as_str()).collect());
    let inputs = names(system.inputs.iter().map(|signal| signal.name.as_str()).collect());
    let outputs = names(system.outputs.iter().map(|signal| signal.name.as_str()).collect());
    let derivatives =
        column(system.inputs.iter().map(|signal| format!("\\dot{{{}}}", name(signal.name.as_str()))).collect());
    let mut out = String::from("\\begin{align*}\n");
    let mut rows = Vec::new();
    if !system.states.is_empty() {
        rows.push(format!(
            "\\frac{{\\mathrm{{d}}}}{{\\mathrm{{d}}t}} {states} &= {}",
            sum(&[(Some(&system.a), &states), (Some(&system.b), &inputs), (rates.map(|rates| &rates.b), &derivatives)])
        ));
    }
    if !system.outputs.is_empty() {
        rows.push(format!(
            "{outputs} &= {}",
            sum(&[(Some(&system.c), &states), (Some(&system.d), &inputs), (rates.map(|rates| &rates.d), &derivatives)])
        ));
    }
    let _ = writeln!(out, "{}", rows.join(" \\\\\n"));
    out.push_str("\\end{align*}\n");
    out
}

fn sum<T: Cell>(products: &[(Option<&Matrix<T>>, &String)]) -> String {
    let mut terms = Vec::new();
    for (matrix, vector) in products {
        if let Some(matrix) = matrix.filter(|matrix| matrix.columns() > 0) {
            terms.push(format!("{}\n{vector}", array(matrix)));
        }
    }
    if terms.is_empty() { "0".to_owned() } else { terms.join("\n+ ") }
}

/// `pmatrix` takes ten columns only.
fn array<T: Cell>(matrix: &Matrix<T>) -> String {
    let mut out = format!("\\left(\\begin{{array}}{{{}}}\n", "c".repeat(matrix.columns()));
    for i in 0..matrix.rows() {
        let cells: Vec<String> = matrix.row(i).iter().map(Cell::latex).collect();
        let _ = writeln!(out, "  {} \\\\", cells.join(" & "));
    }
    out.push_str("\\end{array}\\right)");
    out
}

fn column(entries: Vec<String>) -> String {
    format!("\\left(\\begin{{array}}{{c}} {} \\end{{array}}\\right)", entries.join(" \\\\ "))
}

/// A name as LaTeX, for formulas.
pub fn name(name: &str) -> String {
    let mut out = String::from("\\mathrm{");
    for character in name.chars() {
        match character {
            '_' | '#' | '$' | '%' | '&' | '{' | '}' => {
                out.push('\\');
                out.push(character);
            }
            '\\' => out.push_str("\\backslash "),
            '^' => out.push_str("\\hat{}"),
            '~' => out.push_str("\\sim "),
            ' ' => out.push_str("\\ "),
            _ => out.push(character),
        }
    }
    out.push('}');
    out
}

pub(super) fn number(value: f64) -> String {
    let text = short_number(value);
    match text.split_once('e') {
        Some(("1", exponent)) => format!("10^{{{exponent}}}"),
        Some(("-1", exponent)) => format!("-10^{{{exponent}}}"),
        Some((mantissa, exponent)) => format!("{mantissa} \\cdot 10^{{{exponent}}}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::symbolic;
    use super::*;

    #[test]
    fn equations() {
        expect![[r#"
            \begin{align*}
            \frac{\mathrm{d}}{\mathrm{d}t} \left(\begin{array}{c} \mathrm{mass.s} \\ \mathrm{mass.v\_rel} \end{array}\right) &= \left(\begin{array}{cc}
              0 & 1 \\
              -\frac{c}{m} & -2 \cdot 10^{-7} \\
            \end{array}\right)
            \left(\begin{array}{c} \mathrm{mass.s} \\ \mathrm{mass.v\_rel} \end{array}\right)
            + \left(\begin{array}{c}
              0 \\
              2.5 \cdot 10^{6} \\
            \end{array}\right)
            \left(\begin{array}{c} \mathrm{force} \end{array}\right) \\
            \left(\begin{array}{c} \mathrm{sensor.s} \end{array}\right) &= \left(\begin{array}{cc}
              1 & 0 \\
            \end{array}\right)
            \left(\begin{array}{c} \mathrm{mass.s} \\ \mathrm{mass.v\_rel} \end{array}\right)
            + \left(\begin{array}{c}
              0 \\
            \end{array}\right)
            \left(\begin{array}{c} \mathrm{force} \end{array}\right)
            \end{align*}
        "#]]
        .assert_eq(&latex(&symbolic()));
    }
}
