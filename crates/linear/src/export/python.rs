//! A script for Python that makes `sys`, a `control.StateSpace` with names, in which dots became underscores.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::{Cell, named_lists, named_matrices, with_unit};
use crate::StateSpace;

/// The script.
pub fn python<T: Cell>(system: &StateSpace<T>) -> String {
    let mut out = String::from("import control\nimport numpy as np\n\n");
    for (key, list) in named_lists(system) {
        let names: Vec<String> = list.iter().map(|item| with_unit(item).replace('\n', " ")).collect();
        let _ = writeln!(out, "{}", format!("# {key}: {}", names.join(", ")).trim_end());
    }
    for parameter in &system.parameters {
        let _ = match parameter.value {
            Some(value) => writeln!(out, "{} = {}", parameter.name, value.exact()),
            None => writeln!(out, "# assign `{}` first: it has no value", parameter.name),
        };
    }
    for (name, matrix) in named_matrices(system) {
        if matrix.rows() == 0 || matrix.columns() == 0 {
            let _ = writeln!(out, "{name} = np.zeros(({}, {}))", matrix.rows(), matrix.columns());
            continue;
        }
        let _ = writeln!(out, "{name} = np.array([");
        for i in 0..matrix.rows() {
            let cells: Vec<String> = matrix.row(i).iter().map(Cell::exact).collect();
            let _ = writeln!(out, "    [{}],", cells.join(", "));
        }
        let _ = writeln!(out, "], dtype=float)");
    }
    // `control` has no systems without inputs or outputs: one that does nothing stands for them.
    let (n, inputs, outputs) = (system.order(), system.inputs.len(), system.outputs.len());
    let b = if inputs == 0 { format!("np.zeros(({n}, 1))") } else { "B".to_owned() };
    let c = if outputs == 0 { format!("np.zeros((1, {n}))") } else { "C".to_owned() };
    let is_whole = inputs > 0 && outputs > 0;
    let d = if is_whole { "D".to_owned() } else { format!("np.zeros(({}, {}))", outputs.max(1), inputs.max(1)) };
    if !is_whole {
        out.push_str("# sys has an input or output that does nothing where the model has none\n");
    }
    let _ = writeln!(out, "sys = control.StateSpace(\n    A, {b}, {c}, {d},");
    for (key, list) in named_lists(system).into_iter().filter(|(_, list)| !list.is_empty()) {
        let mut taken = HashSet::new();
        let names: Vec<String> = list.iter().map(|(name, _)| quoted(&label(name, &mut taken))).collect();
        let _ = writeln!(out, "    {key}=[{}],", names.join(", "));
    }
    out.push_str(")\n");
    out
}

/// `control` refuses names with dots.
fn label(name: &str, taken: &mut HashSet<String>) -> String {
    let plain = name.replace('.', "_");
    let mut label = plain.clone();
    let mut number = 1;
    while !taken.insert(label.clone()) {
        number += 1;
        label = format!("{plain}_{number}");
    }
    label
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::oscillator;
    use super::*;

    #[test]
    fn a_script() {
        expect![[r#"
            import control
            import numpy as np

            # states: mass.s (m), mass.v_rel (m/s)
            # inputs: force (N)
            # outputs: sensor.s (m)
            A = np.array([
                [0, 1],
                [-0.3333333333333333, -2e-7],
            ], dtype=float)
            B = np.array([
                [0],
                [2500000],
            ], dtype=float)
            C = np.array([
                [1, 0],
            ], dtype=float)
            D = np.array([
                [0],
            ], dtype=float)
            sys = control.StateSpace(
                A, B, C, D,
                states=["mass_s", "mass_v_rel"],
                inputs=["force"],
                outputs=["sensor_s"],
            )
        "#]]
        .assert_eq(&python(&oscillator()));
    }

    /// `control` takes no matrix without columns in brackets.
    #[test]
    fn without_inputs_and_outputs() {
        let mut system = oscillator();
        (system.inputs, system.outputs) = (Vec::new(), Vec::new());
        (system.b, system.c, system.d) =
            (crate::Matrix::zeros(2, 0), crate::Matrix::zeros(0, 2), crate::Matrix::zeros(0, 0));
        expect![[r#"
            import control
            import numpy as np

            # states: mass.s (m), mass.v_rel (m/s)
            # inputs:
            # outputs:
            A = np.array([
                [0, 1],
                [-0.3333333333333333, -2e-7],
            ], dtype=float)
            B = np.zeros((2, 0))
            C = np.zeros((0, 2))
            D = np.zeros((0, 0))
            # sys has an input or output that does nothing where the model has none
            sys = control.StateSpace(
                A, np.zeros((2, 1)), np.zeros((1, 2)), np.zeros((1, 1)),
                states=["mass_s", "mass_v_rel"],
            )
        "#]]
        .assert_eq(&python(&system));
    }
}
