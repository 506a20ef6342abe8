//! A script for MATLAB and Octave that makes `sys`, an `ss` object with names.

use std::fmt::Write as _;

use super::{Cell, named_lists, named_matrices, with_unit};
use crate::StateSpace;

/// The script.
pub fn matlab<T: Cell>(system: &StateSpace<T>) -> String {
    let mut out = String::new();
    for (key, list) in named_lists(system) {
        let names: Vec<String> = list.iter().map(|item| with_unit(item).replace('\n', " ")).collect();
        let _ = writeln!(out, "{}", format!("% {key}: {}", names.join(", ")).trim_end());
    }
    for parameter in &system.parameters {
        let _ = match parameter.value {
            Some(value) => writeln!(out, "{} = {};", parameter.name, value.exact()),
            None => writeln!(out, "% assign `{}` first: it has no value", parameter.name),
        };
    }
    for (name, matrix) in named_matrices(system) {
        if matrix.rows() == 0 || matrix.columns() == 0 {
            let _ = writeln!(out, "{name} = zeros({}, {});", matrix.rows(), matrix.columns());
            continue;
        }
        let _ = writeln!(out, "{name} = [");
        for i in 0..matrix.rows() {
            let cells: Vec<String> = matrix.row(i).iter().map(Cell::exact).collect();
            let _ = writeln!(out, "  {}", cells.join(", "));
        }
        out.push_str("];\n");
    }
    // Octave calls the properties otherwise, and both complain about empty lists.
    out.push_str("if exist('OCTAVE_VERSION', 'builtin')\n  pkg load control\nend\n");
    // Octave has no systems without inputs or outputs: one that does nothing stands for them.
    let (n, inputs, outputs) = (system.order(), system.inputs.len(), system.outputs.len());
    let b = if inputs == 0 { format!("zeros({n}, 1)") } else { "B".to_owned() };
    let c = if outputs == 0 { format!("zeros(1, {n})") } else { "C".to_owned() };
    let is_whole = inputs > 0 && outputs > 0;
    let d = if is_whole { "D".to_owned() } else { format!("zeros({}, {})", outputs.max(1), inputs.max(1)) };
    if !is_whole {
        out.push_str("% sys has an input or output that does nothing where the model has none\n");
    }
    let _ = writeln!(out, "sys = ss(A, {b}, {c}, {d});");
    let lists = named_lists(system);
    for ((_, list), (matlab, octave)) in
        lists.iter().zip([("StateName", "stname"), ("InputName", "inname"), ("OutputName", "outname")])
    {
        if list.is_empty() {
            continue;
        }
        let names: Vec<String> = list.iter().map(|(name, _)| quoted(name)).collect();
        let _ = writeln!(out, "names = {{{}}};", names.join("; "));
        let _ = writeln!(
            out,
            "if exist('OCTAVE_VERSION', 'builtin')\n  sys = set(sys, '{octave}', names);\nelse\n  sys.{matlab} = names;\nend"
        );
    }
    out
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\'', "''").replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::oscillator;
    use super::*;

    #[test]
    fn a_script() {
        expect![[r#"
            % states: mass.s (m), mass.v_rel (m/s)
            % inputs: force (N)
            % outputs: sensor.s (m)
            A = [
              0, 1
              -0.3333333333333333, -2e-7
            ];
            B = [
              0
              2500000
            ];
            C = [
              1, 0
            ];
            D = [
              0
            ];
            if exist('OCTAVE_VERSION', 'builtin')
              pkg load control
            end
            sys = ss(A, B, C, D);
            names = {'mass.s'; 'mass.v_rel'};
            if exist('OCTAVE_VERSION', 'builtin')
              sys = set(sys, 'stname', names);
            else
              sys.StateName = names;
            end
            names = {'force'};
            if exist('OCTAVE_VERSION', 'builtin')
              sys = set(sys, 'inname', names);
            else
              sys.InputName = names;
            end
            names = {'sensor.s'};
            if exist('OCTAVE_VERSION', 'builtin')
              sys = set(sys, 'outname', names);
            else
              sys.OutputName = names;
            end
        "#]]
        .assert_eq(&matlab(&oscillator()));
    }

    /// Empty matrices have their sizes.
    #[test]
    fn without_inputs() {
        let mut system = oscillator();
        system.inputs = Vec::new();
        (system.b, system.d) = (crate::Matrix::zeros(2, 0), crate::Matrix::zeros(1, 0));
        expect![[r#"
            % states: mass.s (m), mass.v_rel (m/s)
            % inputs:
            % outputs: sensor.s (m)
            A = [
              0, 1
              -0.3333333333333333, -2e-7
            ];
            B = zeros(2, 0);
            C = [
              1, 0
            ];
            D = zeros(1, 0);
            if exist('OCTAVE_VERSION', 'builtin')
              pkg load control
            end
            % sys has an input or output that does nothing where the model has none
            sys = ss(A, zeros(2, 1), C, zeros(1, 1));
            names = {'mass.s'; 'mass.v_rel'};
            if exist('OCTAVE_VERSION', 'builtin')
              sys = set(sys, 'stname', names);
            else
              sys.StateName = names;
            end
            names = {'sensor.s'};
            if exist('OCTAVE_VERSION', 'builtin')
              sys = set(sys, 'outname', names);
            else
              sys.OutputName = names;
            end
        "#]]
        .assert_eq(&matlab(&system));
    }
}
