//! The equations of a model as an HTML page that needs no server: who depends on whom before and after sorting, the graph
//! of equations and unknowns coloured step by step, the chains of differentiated equations, every block with its torn
//! systems, and for each equation the text it was written as.

use std::fmt::Write as _;

use base::{FileId, IdVec, SourceMap, Span};
use dae::{EqId, ExprId, OriginKind, VarId};
use rustc_hash::FxHashMap;
use transform::{Assignment, Block, EquationSystem, Family, Role, Schedule};

mod graph;
mod matrix;

use graph::Written;
use matrix::Matrix;

/// Matrices with more rows than this are not drawn: nobody could see their points.
const MOST_ROWS: usize = 600;

const STYLE: &str = "body{font-family:system-ui,sans-serif;max-width:70rem;margin:1rem auto;color:#222;padding:0 1rem}
code{font-family:ui-monospace,monospace}h2{margin-top:2rem;font-size:1.1rem}ol,ul{padding-left:1.5rem}
li{margin:.15rem 0}summary{cursor:pointer}.system{border-left:3px solid #d55e00;padding-left:.8rem;margin:.4rem 0}
.origin{color:#777;font-size:.85rem;margin-left:.8rem}pre{background:#f5f5f5;padding:.5rem;overflow-x:auto}
pre b{color:#d55e00}figure{display:inline-block;margin:0 2rem 1rem 0;vertical-align:top}
figcaption{color:#777;font-size:.85rem}svg{max-width:100%;height:auto}
.graph line{stroke:#bbb}.graph line.red{stroke:#d55e00;stroke-width:2;stroke-dasharray:7 3}
.graph line.blue{stroke:#0072b2;stroke-dasharray:2 3}.graph text{font:12px ui-monospace,monospace}
.graph .number{fill:#d55e00}a{color:inherit}:target{background:#ffe9a8}";

/// A page that shows how the equations are sorted and solved.
pub fn page(schedule: &Schedule, sources: &SourceMap) -> String {
    let page = Page { schedule, sources, files: files(schedule, sources) };
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
    out.push_str(&graph::drawn(schedule));
    page.differentiated(&mut out);
    page.blocks(&mut out, "Sorted equations", &schedule.blocks, &schedule.families);
    if let Some(inline) = &schedule.inline {
        page.blocks(&mut out, "One step of inline integration", &inline.blocks, &inline.families);
    }
    page.blocks(&mut out, "At the start", &schedule.initial, &schedule.initial_families);
    page.aliases(&mut out);
    page.texts(&mut out);
    out.push_str("</body></html>\n");
    out
}

struct Page<'s> {
    schedule: &'s Schedule,
    sources: &'s SourceMap,
    /// The files that equations come from, if they are small enough to be shown.
    files: Vec<FileId>,
}

/// The files that equations come from, in the order in which they are met; none if they are too long to be read.
fn files(schedule: &Schedule, sources: &SourceMap) -> Vec<FileId> {
    const LONGEST: usize = 400_000;
    let mut files: Vec<FileId> = Vec::new();
    for span in schedule.model.equations.values().filter_map(|equation| equation.origin.span) {
        if !files.contains(&span.file) {
            files.push(span.file);
        }
    }
    let length: usize = files.iter().map(|&file| sources.file(file).text.len()).sum();
    if length > LONGEST { Vec::new() } else { files }
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
        let line = self.sources.file(span.file).position(span.start).line;
        let link = match self.files.iter().position(|&file| file == span.file) {
            Some(number) => format!(" <a href=\"#f{number}l{line}\">show in text</a>"),
            None => String::new(),
        };
        format!(
            "<details class=\"origin\"><summary>{}</summary><pre>{}</pre>{link}</details>",
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

    /// Each equation that was differentiated with its derivatives.
    fn differentiated(&self, out: &mut String) {
        let model = &self.schedule.model;
        if self.schedule.summary.differentiated.is_empty() {
            return;
        }
        let derivative: FxHashMap<EqId, EqId> = model
            .equations
            .iter()
            .filter_map(|(id, equation)| match equation.origin.kind {
                OriginKind::Derivative(of) => Some((of, id)),
                _ => None,
            })
            .collect();
        out.push_str("<h2>Differentiated equations</h2>\n<ul>\n");
        for &(equation, order) in &self.schedule.summary.differentiated {
            let text = escape(&model.equation_text(equation));
            let _ = writeln!(out, "<li><code>{text}</code>{}<ol>", self.origin(Some(equation)));
            let mut last = equation;
            for _ in 0..order {
                let Some(&next) = derivative.get(&last) else { break };
                let _ = writeln!(out, "<li><code>{}</code></li>", escape(&model.equation_text(next)));
                last = next;
            }
            out.push_str("</ol></li>\n");
        }
        out.push_str("</ul>\n");
    }

    fn blocks(&self, out: &mut String, head: &str, blocks: &[Block], families: &[Family]) {
        if blocks.is_empty() {
            return;
        }
        let _ = writeln!(out, "<h2>{head}</h2>\n<ol>");
        let mut families = families.iter().peekable();
        let mut next = 0;
        while let Some(block) = blocks.get(next) {
            let text = match block {
                Block::Assign { assignment, .. } => self.assignment(assignment),
                Block::System { system, .. } => self.system(system),
            };
            let family = families.next_if(|family| family.first == next);
            let others = family.map_or_else(String::new, |family| self.others(blocks, family));
            let _ = writeln!(out, "<li>{text}{others}</li>");
            next += family.map_or(1, |family| family.count.max(1));
        }
        out.push_str("</ol>\n");
    }

    /// What the other members of a family compute.
    fn others(&self, blocks: &[Block], family: &Family) -> String {
        let members = blocks.iter().skip(family.first + 1).take(family.count - 1);
        let names: Vec<String> =
            members.flat_map(transform::unknowns).take(1000).map(|variable| self.name(variable)).collect();
        format!(
            "<details class=\"origin\"><summary>and {} more of this shape</summary>{}</details>",
            family.count - 1,
            names.join(", ")
        )
    }

    /// The files that equations come from, line by line.
    fn texts(&self, out: &mut String) {
        if !self.files.is_empty() {
            out.push_str("<h2>Text</h2>\n");
        }
        for (number, &file) in self.files.iter().enumerate() {
            let file = self.sources.file(file);
            let _ = writeln!(out, "<details open><summary>{}</summary><pre>", escape(&file.path.display().to_string()));
            for (index, line) in file.text.lines().enumerate() {
                let line_number = index + 1;
                let _ = writeln!(out, "<span id=\"f{number}l{line_number}\">{line_number:5}  {}</span>", escape(line));
            }
            out.push_str("</pre></details>\n");
        }
    }

    fn system(&self, system: &EquationSystem) -> String {
        let matrix = system.kind.matrix().map(|matrix| format!(", matrix {}", matrix.name())).unwrap_or_default();
        let guessed: Vec<String> = system.iteration.iter().map(|&variable| self.name(variable)).collect();
        let mut out = format!(
            "<details class=\"system\" open><summary>A {} system of {}, iterating {}{matrix}</summary><ol>",
            system.kind.name(),
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
        out.push_str("</ol>");
        let torn = self.torn(system);
        if torn.rows.len() <= MOST_ROWS {
            let caption = "What follows from the guesses down to the residuals; the guesses stand last";
            let _ = write!(out, "<figure>{}<figcaption>{caption}</figcaption></figure>", torn.svg());
        }
        out.push_str("</details>");
        out
    }

    /// Who depends on whom inside a system.
    fn torn(&self, system: &EquationSystem) -> Matrix {
        let model = &self.schedule.model;
        let mut columns: IdVec<VarId, Option<usize>> = IdVec::filled(None, model.variables.len());
        let mut labels = Vec::new();
        let inner = system.inner.iter().chain(&system.discrete);
        for variable in inner.clone().map(|assignment| assignment.variable).chain(system.iteration.iter().copied()) {
            columns[variable] = Some(labels.len());
            labels.push(model.variable_name(variable));
        }
        let mut rows: Vec<(String, Vec<usize>)> = Vec::new();
        for assignment in inner {
            let mut found = self.depends(&[assignment.value], &columns);
            found.extend(columns[assignment.variable]);
            let name = model.variable_name(assignment.variable);
            rows.push((format!("{name} := {}", model.expression_text(assignment.value)), found));
        }
        for &residual in &system.residuals {
            let found = self.depends(&[residual], &columns);
            rows.push((format!("0 = {}", model.expression_text(residual)), found));
        }
        let guesses = (rows.len().saturating_sub(system.residuals.len()), rows.len());
        Matrix { rows, columns: labels, frames: vec![guesses] }
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
        let (written, blocks) = (self.schedule.written.len(), self.schedule.blocks.len());
        if written.max(blocks) > MOST_ROWS || blocks == 0 {
            return String::new();
        }
        let (before, after) = (self.before(), self.after());
        let drawn = |matrix: &Matrix, caption: &str| {
            let picture = matrix.svg();
            format!("<figure>{picture}<figcaption>{caption}</figcaption></figure>\n")
        };
        let before = drawn(&before, "As written: equations down, unknowns across");
        before + &drawn(&after, "Sorted: assignments down, what they compute across; systems framed")
    }

    /// The equations as they were written and their unknowns.
    fn before(&self) -> Matrix {
        let written = Written::of(self.schedule);
        let text = |row: usize| written.equations[row].clone();
        let rows = (0..written.rows.len()).map(|row| {
            let columns = written.rows[row].iter().map(|&column| column as usize);
            (text(row), columns.collect())
        });
        let rows = rows.collect();
        Matrix { rows, columns: written.unknowns, frames: Vec::new() }
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

/// Text for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
