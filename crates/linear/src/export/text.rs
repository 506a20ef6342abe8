//! Aligned matrices with names, and tables of modes.

use std::fmt::Write as _;

use super::{Cell, named_lists, short_number, with_unit};
use crate::{Matrix, Mode, Rates, StateSpace};

/// Wider matrices are printed in parts.
const WIDTH: usize = 118;

/// Names and matrices, for people.
pub fn text<T: Cell>(system: &StateSpace<T>) -> String {
    let mut out = String::new();
    for (key, list) in named_lists(system) {
        let title = format!("{key}:");
        let names: Vec<String> = list.iter().map(with_unit).collect();
        push_list(&mut out, &title, &names);
    }
    let [(_, states), (_, inputs), (_, outputs)] = named_lists(system)
        .map(|(key, list)| (key, list.into_iter().map(|(name, _)| name.to_owned()).collect::<Vec<String>>()));
    let rates: Vec<String> = states.iter().map(|name| format!("der({name})")).collect();
    push_matrix(&mut out, "A", &system.a, &rates, &states);
    push_matrix(&mut out, "B", &system.b, &rates, &inputs);
    push_matrix(&mut out, "C", &system.c, &outputs, &states);
    push_matrix(&mut out, "D", &system.d, &outputs, &inputs);
    out
}

/// The coefficients of the derivatives of inputs.
pub fn rates_text<T: Cell>(system: &StateSpace<T>, rates: &Rates<T>) -> String {
    let names = |list: Vec<&str>| list.into_iter().map(|name| format!("der({name})")).collect::<Vec<String>>();
    let states = names(system.states.iter().map(|state| state.name.as_str()).collect());
    let inputs = names(system.inputs.iter().map(|signal| signal.name.as_str()).collect());
    let outputs: Vec<String> = system.outputs.iter().map(|signal| signal.name.clone()).collect();
    let mut out = "\nand with the derivatives of the inputs\n".to_owned();
    push_matrix(&mut out, "B'", &rates.b, &states, &inputs);
    push_matrix(&mut out, "D'", &rates.d, &outputs, &inputs);
    out
}

fn push_list(out: &mut String, title: &str, names: &[String]) {
    let mut line = format!("{title:<9}");
    for (number, name) in names.iter().enumerate() {
        let separator = if number + 1 < names.len() { ", " } else { "" };
        if line.chars().count() + name.chars().count() > WIDTH && line.len() > 9 {
            let _ = writeln!(out, "{}", line.trim_end());
            line = " ".repeat(9);
        }
        let _ = write!(line, "{name}{separator}");
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

fn push_matrix<T: Cell>(out: &mut String, title: &str, matrix: &Matrix<T>, rows: &[String], columns: &[String]) {
    if matrix.rows() == 0 || matrix.columns() == 0 {
        let _ = writeln!(out, "\n{title} is empty ({} by {})", matrix.rows(), matrix.columns());
        return;
    }
    let cells = matrix.map(Cell::short);
    let length = |text: &str| text.chars().count();
    let margin = rows.iter().map(|name| length(name)).max().unwrap_or(0).max(length(title));
    let width =
        |j: usize| (0..matrix.rows()).map(|i| length(&cells[(i, j)])).max().unwrap_or(0).max(length(&columns[j]));
    let widths: Vec<usize> = (0..matrix.columns()).map(width).collect();
    let mut start = 0;
    while start < widths.len() {
        let mut end = start;
        let mut total = margin + 2;
        while end < widths.len() && (end == start || total + 2 + widths[end] <= WIDTH) {
            total += 2 + widths[end];
            end += 1;
        }
        let line = |head: &str, cell: &dyn Fn(usize) -> String| {
            let mut line = format!("{head:<margin$}");
            for (j, &width) in widths.iter().enumerate().take(end).skip(start) {
                let _ = write!(line, "  {:>width$}", cell(j));
            }
            line
        };
        let _ = writeln!(out, "\n{}", line(title, &|j| columns[j].clone()));
        for (i, row) in rows.iter().enumerate() {
            let _ = writeln!(out, "{}", line(row, &|j| cells[(i, j)].clone()));
        }
        start = end;
    }
}

/// One line for each mode, with the states that take part by more than a twentieth, at most four.
pub fn modes_text(system: &StateSpace, modes: &[Mode]) -> String {
    let mut table =
        vec![["pole", "frequency (rad/s)", "damping", "time constant (s)", "participation"].map(str::to_owned)];
    for mode in modes {
        let number = |value: Option<f64>| value.map_or("-".to_owned(), short_number);
        let mut pole = short_number(mode.pole.re);
        if mode.oscillates() {
            let _ = write!(pole, " ± {}i", short_number(mode.pole.im));
        }
        if mode.multiplicity > 1 {
            let _ = write!(pole, " ({}×)", mode.multiplicity);
        }
        let important = mode.participations.iter().filter(|participation| participation.share >= 0.05).take(4);
        let named = important.filter_map(|participation| {
            let state = system.states.get(participation.state)?;
            Some(format!("{} {:.0} %", state.name, 100.0 * participation.share))
        });
        table.push([
            pole,
            short_number(mode.natural_frequency()),
            number(mode.damping()),
            number(mode.time_constant()),
            named.collect::<Vec<_>>().join(", "),
        ]);
    }
    let mut widths = [0; 5];
    for row in &table {
        row.iter().zip(&mut widths).for_each(|(cell, width)| *width = (*width).max(cell.chars().count()));
    }
    let mut out = String::new();
    for row in &table {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::{oscillator, symbolic};
    use super::*;

    #[test]
    fn matrices_with_names() {
        expect![[r#"
            states:  mass.s (m), mass.v_rel (m/s)
            inputs:  force (N)
            outputs: sensor.s (m)

            A                mass.s  mass.v_rel
            der(mass.s)           0           1
            der(mass.v_rel)    -c/m       -2e-7

            B                force
            der(mass.s)          0
            der(mass.v_rel)  2.5e6

            C         mass.s  mass.v_rel
            sensor.s       1           0

            D         force
            sensor.s      0
        "#]]
        .assert_eq(&text(&symbolic()));
    }

    #[test]
    fn wide_matrices_are_printed_in_parts() {
        let n = 30;
        let matrices = [Matrix::zeros(n, n), Matrix::zeros(n, 0), Matrix::zeros(0, n), Matrix::zeros(0, 0)];
        let text = text(&StateSpace::unnamed(matrices).unwrap());
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
        assert_eq!(text.matches("\nA ").count(), 2);
        assert!(text.contains("D is empty (0 by 0)"));
    }

    #[test]
    fn modes_with_participations() {
        let mut system = oscillator();
        system.a[(1, 1)] = -0.2;
        let modes = crate::modes(&system).unwrap();
        expect![[r#"
            pole              frequency (rad/s)  damping   time constant (s)  participation
            -0.1 ± 0.568624i  0.57735            0.173205  10                 mass.s 50 %, mass.v_rel 50 %
        "#]]
        .assert_eq(&modes_text(&system, &modes));
    }
}
