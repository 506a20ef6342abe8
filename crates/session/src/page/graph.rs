//! Equations on the left, unknowns on the right, edges that are coloured step by step (`transform::structure::colouring`).

use std::fmt::Write as _;

use dae::{Causality, Model, VarId, Variability};
use rustc_hash::{FxHashMap, FxHashSet};
use transform::Schedule;
use transform::structure::Incidence;
use transform::structure::colouring::colour;

use super::escape;

/// Larger graphs are a tangle.
const MOST_EQUATIONS: usize = 60;
const LINE: usize = 22;
const LEFT: usize = 420;
const RIGHT: usize = 640;

/// The equations as they were written; of what is differentiated the derivative is the unknown.
pub struct Written {
    pub equations: Vec<String>,
    pub unknowns: Vec<String>,
    pub rows: Vec<Vec<u32>>,
}

impl Written {
    pub fn of(schedule: &Schedule) -> Self {
        let model = &schedule.model;
        let roots: Vec<_> = schedule.written.iter().flat_map(|&(left, right)| [left, right]).collect();
        let differentiated: FxHashSet<VarId> = model.exprs.dependencies(&roots).derivatives.into_iter().collect();
        let mut columns: FxHashMap<VarId, u32> = FxHashMap::default();
        let mut written = Self { equations: Vec::new(), unknowns: Vec::new(), rows: Vec::new() };
        for &(left, right) in &schedule.written {
            let found = model.exprs.dependencies(&[left, right]);
            let plain = found.variables.iter().filter(|variable| !differentiated.contains(variable));
            let mut row: Vec<u32> = Vec::new();
            for &variable in found.derivatives.iter().chain(plain).filter(|&&variable| is_unknown(model, variable)) {
                let next = columns.len() as u32;
                row.push(*columns.entry(variable).or_insert_with(|| {
                    let name = model.variable_name(variable);
                    written.unknowns.push(if differentiated.contains(&variable) {
                        format!("der({name})")
                    } else {
                        name
                    });
                    next
                }));
            }
            row.sort_unstable();
            written.rows.push(row);
            let (left, right) = (model.expression_text(left), model.expression_text(right));
            written.equations.push(format!("{left} = {right}"));
        }
        written
    }
}

fn is_unknown(model: &Model, variable: VarId) -> bool {
    let variable = &model.variables[variable];
    variable.variability >= Variability::Discrete && variable.causality != Causality::Input
}

/// An edge and when it gets which colour; step 0 stands for never.
struct Edge {
    row: u32,
    column: u32,
    colour: &'static str,
    step: usize,
}

/// Empty if there is too much to be seen.
pub fn drawn(schedule: &Schedule) -> String {
    if schedule.written.len() > MOST_EQUATIONS || schedule.written.is_empty() {
        return String::new();
    }
    let written = Written::of(schedule);
    let incidence = Incidence::from_rows(&written.rows, written.unknowns.len());
    let steps = colour(&incidence);
    let mut edges: Vec<Edge> = Vec::new();
    for (row, columns) in (0u32..).zip(&written.rows) {
        edges.extend(columns.iter().map(|&column| Edge { row, column, colour: "open", step: 0 }));
    }
    for (number, step) in (1..).zip(&steps) {
        for edge in edges.iter_mut().filter(|edge| edge.step == 0) {
            let is_red = (edge.row, edge.column) == (step.row, step.column);
            let is_blue = if step.from_row { edge.column == step.column } else { edge.row == step.row };
            if is_red || is_blue {
                (edge.colour, edge.step) = (if is_red { "red" } else { "blue" }, number);
            }
        }
    }
    let mut out = format!(
        "<h2>Equations and unknowns</h2>\n<p>An equation or unknown with one edge left without colour is matched over it \
         (red, dashed); what that excludes becomes blue. {}</p>\n\
         <p><input type=\"range\" id=\"steps\" min=\"0\" max=\"{}\" value=\"{}\" style=\"width:30rem\"> \
         step <output id=\"step\"></output></p>\n",
        verdict(&written, &steps),
        steps.len(),
        steps.len()
    );
    let height = LINE * written.equations.len().max(written.unknowns.len()) + LINE;
    let _ = writeln!(out, "<svg class=\"graph\" width=\"860\" height=\"{height}\" viewBox=\"0 0 860 {height}\">");
    let at = |index: u32| LINE * (index as usize + 1);
    for edge in &edges {
        let (from, to) = (at(edge.row), at(edge.column));
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" y1=\"{from}\" x2=\"{RIGHT}\" y2=\"{to}\" data-colour=\"{}\" data-step=\"{}\"/>",
            edge.colour, edge.step
        );
    }
    for (index, text) in (0u32..).zip(&written.equations) {
        let (x, y) = (LEFT - 34, at(index) + 4);
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{}</text>", escape(text));
    }
    for (number, step) in (1usize..).zip(&steps) {
        let (x, y) = (LEFT - 28, at(step.row) + 4);
        let _ =
            writeln!(out, "<text class=\"number\" x=\"{x}\" y=\"{y}\" data-step=\"{number}\">{}</text>", step.number);
    }
    for (index, text) in (0u32..).zip(&written.unknowns) {
        let (x, y) = (RIGHT + 8, at(index) + 4);
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>", escape(text));
    }
    out.push_str("</svg>\n");
    out.push_str(SCRIPT);
    out
}

const SCRIPT: &str = "<script>
const steps = document.getElementById('steps');
function colour() {
  document.getElementById('step').textContent = steps.value;
  for (const edge of document.querySelectorAll('.graph line')) {
    const done = +edge.dataset.step > 0 && +edge.dataset.step <= +steps.value;
    edge.setAttribute('class', done ? edge.dataset.colour : '');
  }
  for (const number of document.querySelectorAll('.graph .number')) {
    number.style.visibility = +number.dataset.step <= +steps.value ? 'visible' : 'hidden';
  }
}
steps.addEventListener('input', colour);
colour();
</script>
";

/// What remains without a red edge.
fn verdict(written: &Written, steps: &[transform::structure::colouring::RedEdge]) -> String {
    let red_rows: FxHashSet<u32> = steps.iter().map(|step| step.row).collect();
    let red_columns: FxHashSet<u32> = steps.iter().map(|step| step.column).collect();
    let (mut open, mut constraints) = (0, Vec::new());
    for (row, columns) in (0u32..).zip(&written.rows).filter(|(row, _)| !red_rows.contains(row)) {
        if columns.iter().all(|column| red_columns.contains(column)) {
            constraints.push(format!("<code>{}</code>", escape(&written.equations[row as usize])));
        } else {
            open += 1;
        }
    }
    let mut text = match open {
        0 => "Every equation is sorted.".to_owned(),
        open => format!("{open} equations remain: they have to be solved simultaneously."),
    };
    if !constraints.is_empty() {
        text = format!(
            "{} determines nothing: it is a constraint between states, the system is structurally singular, and equations \
             have to be differentiated.",
            constraints.join(", ")
        );
    }
    text
}
