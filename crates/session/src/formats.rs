//! The listing as a document in LaTeX.

use std::fmt::Write as _;

use crate::listing::{BlockLine, Listing};

impl Listing {
    /// A document of its own; the listing has to be made in the notation of LaTeX.
    pub fn latex(&self) -> String {
        let mut out =
            "\\documentclass{article}\n\\usepackage{amsmath}\n\\allowdisplaybreaks\n\\begin{document}\n".to_owned();
        let names = |names: &[&str]| format!("${}$", names.join("$, $"));
        if !self.states.is_empty() {
            let states: Vec<&str> = self.states.iter().map(|state| state.name.as_str()).collect();
            let _ = writeln!(out, "States: {}.", names(&states));
        }
        if !self.dummy_states.is_empty() {
            let dummies: Vec<&str> = self.dummy_states.iter().map(String::as_str).collect();
            let _ = writeln!(out, "No longer states: {}.", names(&dummies));
        }
        if !self.differentiated.is_empty() {
            out.push_str("\\section*{Differentiated equations}\n");
        }
        for line in &self.differentiated {
            let _ = writeln!(out, "\\[ {} \\qquad ({}\\times) \\]", line.equation, line.order);
        }
        for (head, blocks) in [("Sorted equations", &self.blocks), ("At the start", &self.initial)] {
            if !blocks.is_empty() {
                let _ = writeln!(out, "\\section*{{{head}}}");
            }
            blocks.iter().for_each(|block| push_latex(&mut out, block));
        }
        if !self.aliases.is_empty() {
            out.push_str("\\section*{Aliases}\n");
        }
        for alias in &self.aliases {
            let _ = writeln!(out, "\\[ {} = {}{} \\]", alias.name, if alias.negated { "-" } else { "" }, alias.of);
        }
        out.push_str("\\end{document}\n");
        out
    }
}

fn push_latex(out: &mut String, block: &BlockLine) {
    match block {
        BlockLine::Family { members, first, .. } => {
            let _ = writeln!(out, "{members} times, with other variables:");
            push_latex(out, first);
        }
        BlockLine::Explicit { assignment, .. } => {
            let _ = writeln!(out, "\\[ {} := {} \\]", assignment.variable, assignment.value);
        }
        BlockLine::System { system, unknowns, iteration, inner, residuals, discrete, .. } => {
            let names = iteration.join("$, $");
            let _ = writeln!(out, "A {system} system of {} equations, iterating ${names}$:", unknowns.len());
            out.push_str("\\begin{align*}\n");
            for line in inner.iter().chain(discrete) {
                let _ = writeln!(out, "{} &:= {} \\\\", line.variable, line.value);
            }
            let residuals: Vec<String> = residuals.iter().map(|line| format!("0 &= {}", line.expression)).collect();
            let _ = writeln!(out, "{}\n\\end{{align*}}", residuals.join(" \\\\\n"));
        }
    }
}
