//! The equations of a model as an HTML page that needs no server: who depends on whom before and after sorting, the
//! differentiated equations, every block with its torn systems, and for each equation the text it was written as.

use std::fmt::Write as _;

use base::{IdVec, SourceMap, Span};
use dae::{EqId, ExprId, VarId};
use transform::{Assignment, Block, EquationSystem, Role, Schedule, SystemKind};

/// Matrices with more rows than this are not drawn: nobody could see their points.
const MOST_ROWS: usize = 600;
const CELL: usize = 6;

const STYLE: &str = "body{font-family:system-ui,sans-serif;max-width:70rem;margin:1rem auto;color:#222;padding:0 1rem}
code{font-family:ui-monospace,monospace}h2{margin-top:2rem;font-size:1.1rem}ol,ul{padding-left:1.5rem}
li{margin:.15rem 0}summary{cursor:pointer}.system{border-left:3px solid #d55e00;padding-left:.8rem;margin:.4rem 0}
.origin{color:#777;font-size:.85rem;margin-left:.8rem}pre{background:#f5f5f5;padding:.5rem;overflow-x:auto}
pre b{color:#d55e00}figure{display:inline-block;margin:0 2rem 1rem 0;vertical-align:top}
figcaption{color:#777;font-size:.85rem}svg{max-width:100%;height:auto}";

pub fn page(schedule: &Schedule, sources: &SourceMap) -> String {
    let page = Page { schedule, sources };
    let summary = &schedule.summary;
    let title = escape(&schedule.model.name);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n\
         <p>{} equations, {} unknowns, {} aliases removed, {} states, {} blocks.</p>\n",
        summary.equations,
        summary.unknowns,
        summary.aliases,
        schedule.states.len(),
        schedule.blocks.len()
    );
    let names = |variables: &[VarId]| {
        let names: Vec<String> = variables.iter().map(|&variable| page.name(variable)).collect();
        names.join(", ")
    };
    let states: Vec<VarId> = schedule.states.iter().map(|state| state.variable).collect();
    let _ = writeln!(out, "<p>States: {}</p>", names(&states));
    if !summary.dummy_states.is_empty() {
        let _ = writeln!(out, "<p>No longer states: {}</p>", names(&summary.dummy_states));
    }
    out.push_str(&page.matrices());
    page.differentiated(&mut out);
    page.blocks(&mut out, "Sorted equations", &schedule.blocks);
    page.blocks(&mut out, "At the start", &schedule.initial);
    page.aliases(&mut out);
    out.push_str("</body></html>\n");
    out
}

struct Page<'s> {
    schedule: &'s Schedule,
    sources: &'s SourceMap,
}

impl Page<'_> {
    fn name(&self, variable: VarId) -> String {
        format!("<code>{}</code>", escape(&self.schedule.model.variable_name(variable)))
    }

    fn text(&self, expression: ExprId) -> String {
        escape(&self.schedule.model.expression_text(expression))
    }

    /// The place of an equation, which opens to the lines around it.
    fn origin(&self, equation: Option<EqId>) -> String {
        let Some(equation) = equation.and_then(|equation| self.schedule.model.equations.get(equation)) else {
            return String::new();
        };
        let component = self.schedule.model.paths.text(equation.origin.component);
        let Some(span) = equation.origin.span else {
            return format!("<span class=\"origin\">{}</span>", escape(&component));
        };
        let place = escape(&format!("{component} {}", self.sources.place(span)));
        format!(
            "<details class=\"origin\"><summary>{}</summary><pre>{}</pre></details>",
            place.trim(),
            self.lines(span)
        )
    }

    /// The lines of a span with two around them, the span's own in bold.
    fn lines(&self, span: Span) -> String {
        let file = self.sources.file(span.file);
        let (first, last) = (file.position(span.start).line, file.position(span.end).line);
        let count = file.text.lines().count() as u32;
        let mut out = String::new();
        for line in first.saturating_sub(2).max(1)..=(last + 2).min(count.max(1)) {
            let text = escape(file.line(line));
            let own = (first..=last).contains(&line);
            let _ = writeln!(out, "{line:5}  {}", if own { format!("<b>{text}</b>") } else { text });
        }
        out
    }

    fn assignment(&self, assignment: &Assignment) -> String {
        let value = self.text(assignment.value);
        format!("{} := <code>{value}</code>{}", self.name(assignment.variable), self.origin(assignment.equation))
    }

    fn differentiated(&self, out: &mut String) {
        let differentiated = &self.schedule.summary.differentiated;
        if differentiated.is_empty() {
            return;
        }
        out.push_str("<h2>Differentiated equations</h2>\n<ul>\n");
        for &(equation, order) in differentiated {
            let text = escape(&self.schedule.model.equation_text(equation));
            let times = if order == 1 { String::new() } else { format!(", {order} times") };
            let _ = writeln!(out, "<li><code>{text}</code>{times}{}</li>", self.origin(Some(equation)));
        }
        out.push_str("</ul>\n");
    }

    fn blocks(&self, out: &mut String, head: &str, blocks: &[Block]) {
        if blocks.is_empty() {
            return;
        }
        let _ = writeln!(out, "<h2>{head}</h2>\n<ol>");
        for block in blocks {
            let text = match block {
                Block::Assign { assignment, .. } => self.assignment(assignment),
                Block::System { system, .. } => self.system(system),
            };
            let _ = writeln!(out, "<li>{text}</li>");
        }
        out.push_str("</ol>\n");
    }

    fn system(&self, system: &EquationSystem) -> String {
        let kind = match system.kind {
            SystemKind::Linear { .. } => "Linear",
            SystemKind::Nonlinear => "Nonlinear",
            SystemKind::Mixed { .. } => "Mixed",
        };
        let guessed: Vec<String> = system.iteration.iter().map(|&variable| self.name(variable)).collect();
        let mut out = format!(
            "<details class=\"system\" open><summary>{kind} system of {}, iterating {}</summary><ol>",
            system.unknowns.len(),
            guessed.join(", ")
        );
        for assignment in &system.inner {
            let _ = write!(out, "<li>{}</li>", self.assignment(assignment));
        }
        for (index, &residual) in system.residuals.iter().enumerate() {
            let origin = self.origin(system.residual_equations.get(index).copied());
            let _ = write!(out, "<li>0 = <code>{}</code>{origin}</li>", self.text(residual));
        }
        for assignment in &system.discrete {
            let _ = write!(out, "<li>{}</li>", self.assignment(assignment));
        }
        out.push_str("</ol></details>");
        out
    }

    fn aliases(&self, out: &mut String) {
        let aliases: Vec<(VarId, VarId, bool)> = self
            .schedule
            .roles
            .iter()
            .filter_map(|(variable, role)| match *role {
                Role::Alias { of, negated } => Some((variable, of, negated)),
                _ => None,
            })
            .collect();
        if aliases.is_empty() {
            return;
        }
        let _ = writeln!(out, "<h2>Aliases</h2>\n<details><summary>{} of them</summary><ul>", aliases.len());
        for (variable, of, negated) in aliases {
            let sign = if negated { "−" } else { "" };
            let _ = writeln!(out, "<li>{} = {sign}{}</li>", self.name(variable), self.name(of));
        }
        out.push_str("</ul></details>\n");
    }

    fn matrices(&self) -> String {
        let (before, after) = (self.before(), self.after());
        let drawn = |matrix: &Matrix, caption: &str| {
            let picture = matrix.svg();
            format!("<figure>{picture}<figcaption>{caption}</figcaption></figure>\n")
        };
        if before.rows.len().max(after.rows.len()) > MOST_ROWS || after.rows.is_empty() {
            return String::new();
        }
        let before = drawn(&before, "As written: equations down, unknowns across");
        before + &drawn(&after, "Sorted: assignments down, what they compute across; systems framed")
    }

    /// The equations of the flat model and their unknowns, in the order of the text.
    fn before(&self) -> Matrix {
        let schedule = self.schedule;
        let mut columns: IdVec<VarId, Option<usize>> = IdVec::filled(None, schedule.model.variables.len());
        let mut labels = Vec::new();
        for (variable, role) in schedule.roles.iter() {
            let known = matches!(role, Role::Constant | Role::Parameter | Role::Input);
            if !known && schedule.model.variables[variable].derivative_of.is_none() {
                columns[variable] = Some(labels.len());
                labels.push(schedule.model.variable_name(variable));
            }
        }
        let written = schedule.model.equations.ids().take(schedule.summary.equations);
        let rows = written.map(|id| {
            let equation = &schedule.model.equations[id];
            (schedule.model.equation_text(id), self.depends(&[equation.left, equation.right], &columns))
        });
        Matrix { rows: rows.collect(), columns: labels, frames: Vec::new() }
    }

    /// The assignments and residuals in their order, and what they compute.
    fn after(&self) -> Matrix {
        let model = &self.schedule.model;
        let mut columns: IdVec<VarId, Option<usize>> = IdVec::filled(None, model.variables.len());
        let mut labels = Vec::new();
        let mut lines: Vec<(String, Vec<ExprId>, Option<VarId>)> = Vec::new();
        let mut frames = Vec::new();
        let mut column = |variable: VarId, labels: &mut Vec<String>| {
            columns[variable] = Some(labels.len());
            labels.push(model.variable_name(variable));
        };
        for block in &self.schedule.blocks {
            let start = lines.len();
            let mut assign = |assignment: &Assignment, labels: &mut Vec<String>| {
                column(assignment.variable, labels);
                let text = format!(
                    "{} := {}",
                    model.variable_name(assignment.variable),
                    model.expression_text(assignment.value)
                );
                lines.push((text, vec![assignment.value], Some(assignment.variable)));
            };
            match block {
                Block::Assign { assignment, .. } => assign(assignment, &mut labels),
                Block::System { system, .. } => {
                    system.inner.iter().chain(&system.discrete).for_each(|assignment| assign(assignment, &mut labels));
                    system.iteration.iter().for_each(|&variable| column(variable, &mut labels));
                    let residuals = system.residuals.iter();
                    lines.extend(residuals.map(|&r| (format!("0 = {}", model.expression_text(r)), vec![r], None)));
                    frames.push((start, lines.len()));
                }
            }
        }
        let rows = lines.into_iter().map(|(text, roots, own)| {
            let mut found = self.depends(&roots, &columns);
            found.extend(own.and_then(|variable| columns[variable]));
            (text, found)
        });
        Matrix { rows: rows.collect(), columns: labels, frames }
    }

    fn depends(&self, roots: &[ExprId], columns: &IdVec<VarId, Option<usize>>) -> Vec<usize> {
        let found = self.schedule.model.exprs.dependencies(roots);
        let variables = found.variables.iter().chain(&found.derivatives);
        variables.filter_map(|&variable| columns.get(variable).copied().flatten()).collect()
    }
}

/// Which row depends on which column.
struct Matrix {
    rows: Vec<(String, Vec<usize>)>,
    columns: Vec<String>,
    /// Rows from and to of systems on the diagonal.
    frames: Vec<(usize, usize)>,
}

impl Matrix {
    fn svg(&self) -> String {
        let (width, height) = (self.columns.len() * CELL, self.rows.len() * CELL);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\
             <rect width=\"100%\" height=\"100%\" fill=\"#f5f5f5\"/>"
        );
        for (row, (text, columns)) in self.rows.iter().enumerate() {
            let _ = write!(out, "<g fill=\"#0072b2\"><title>{}</title>", escape(text));
            for column in columns {
                let (x, y, side) = (column * CELL, row * CELL, CELL - 1);
                let _ = write!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\"/>");
            }
            out.push_str("</g>");
        }
        for &(from, to) in &self.frames {
            let (at, side) = (from * CELL, (to - from) * CELL);
            let _ = write!(
                out,
                "<rect x=\"{at}\" y=\"{at}\" width=\"{side}\" height=\"{side}\" fill=\"none\" stroke=\"#d55e00\"/>"
            );
        }
        out.push_str("</svg>");
        out
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
