//! The warnings: both units, where each comes from, and what to do.

use base::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::measure::{Measure, Term};
use super::solver::{Constraint, ConstraintId, Side};
use super::{Checker, Declared};
use crate::instance::CompId;
use crate::typed::{Expr, Kind, Operator};

/// More names than this do not explain better.
const NAMES: usize = 4;

impl Checker<'_, '_> {
    pub(super) fn report(&mut self) {
        for (text, problem, span) in std::mem::take(&mut self.unreadable) {
            let hint = match ::units::suggestion(text.as_str()) {
                Some(meant) => format!("did you mean `{meant}`? Equations with it are not checked"),
                None => "equations with it are not checked".to_owned(),
            };
            let mut diagnostic =
                Diagnostic::warning("unknown-unit", format!("the unit `{text}` cannot be read: {problem}"))
                    .hint(hint)
                    .specification("19.1");
            if let Some(span) = span {
                diagnostic = diagnostic.at(span, "declared with it");
            }
            self.elaborator.instances.diagnostics.push(diagnostic);
        }
        // One mistake in a class is one message, however many components are of it.
        let mut at: FxHashMap<Option<Span>, usize> = FxHashMap::default();
        let mut groups: Vec<Vec<ConstraintId>> = Vec::new();
        for id in std::mem::take(&mut self.solver.wrong) {
            let constraint = &self.solver.constraints[id];
            let group = *at.entry(constraint.span).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            // One message of an equation is enough.
            let same = |known: &ConstraintId| self.solver.constraints[*known].class == constraint.class;
            if !groups[group].last().is_some_and(same) {
                groups[group].push(id);
            }
        }
        for group in groups {
            if let Some(diagnostic) = self.diagnostic(&group) {
                self.elaborator.instances.diagnostics.push(diagnostic);
            }
        }
    }

    fn diagnostic(&mut self, group: &[ConstraintId]) -> Option<Diagnostic> {
        let &first = group.first()?;
        let Constraint { a, b, class, span, ref left, ref right } = self.solver.constraints[first];
        let (left, right) = (left.clone(), right.clone());
        let (left, right) = (self.side_text(&a, &left), self.side_text(&b, &right));
        let message = match b {
            Side::Wanted(why) => format!("this has the unit {left}, but {why} is needed"),
            _ => format!("units do not agree: {left} and {right}"),
        };
        let mut diagnostic = Diagnostic::warning("unit-mismatch", message);
        // The text comes before the declaration.
        let sides = match (a, b) {
            (Side::Component(_), Side::Expr(_)) => [(b, right), (a, left)],
            _ => [(a, left), (b, right)],
        };
        if let (Side::Component(_), Side::Component(_), Some(span)) = (a, b, span) {
            diagnostic = diagnostic.at(span, "connected here");
        }
        for (side, text) in &sides {
            match side {
                Side::Expr(expr) => diagnostic = diagnostic.at(expr.span, format!("this is {text}")),
                Side::Component(component) => {
                    let (name, place) = (self.name(*component), self.elaborator.instances.span(*component));
                    diagnostic = diagnostic.at(place, format!("`{name}` is {text}"));
                }
                Side::Wanted(_) => {}
            }
        }
        let mut explained = Vec::new();
        for (side, _) in &sides {
            self.explain(side, first, &mut explained);
        }
        for note in explained {
            diagnostic = diagnostic.note(note);
        }
        if let Some(path) = self.elaborator.instances.owner_path(class) {
            diagnostic = diagnostic.in_component(path);
        }
        if group.len() > 1 {
            diagnostic = diagnostic.note(self.others(group));
        }
        Some(
            diagnostic
                .hint("correct the equation or a declared unit; `--no-unit-check` switches this check off")
                .specification("19"),
        )
    }

    fn others(&self, group: &[ConstraintId]) -> String {
        let mut paths: Vec<String> = Vec::new();
        for &id in &group[1..] {
            let path = self.elaborator.instances.owner_path(self.solver.constraints[id].class);
            if let Some(path) = path.filter(|path| !paths.contains(path)) {
                paths.push(path);
                if paths.len() == NAMES {
                    break;
                }
            }
        }
        let others = group.len() - 1;
        let times = if others == 1 { "once more".to_owned() } else { format!("{others} times more") };
        match paths.as_slice() {
            [] => format!("the same {times}"),
            paths => {
                let names: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
                let more = if others > paths.len() { ", …" } else { "" };
                format!("the same {times}, in {}{more}", names.join(", "))
            }
        }
    }

    fn name(&self, component: CompId) -> String {
        self.elaborator.instances.path(component)
    }

    /// The unit as it is declared where it is, else in SI units.
    fn side_text(&mut self, side: &Side, term: &Term) -> String {
        let component = match side {
            Side::Component(component) => Some(*component),
            Side::Expr(Expr { kind: Kind::Component(reference), .. }) => {
                reference.steps.last().map(|step| step.component)
            }
            _ => None,
        };
        if let Some(component) = component
            && let Declared::Unit(unit) = self.declared_unit(component)
        {
            return format!("`{unit}`");
        }
        let term = self.solver.resolved(term);
        unit_text(&term)
    }

    /// Says for each variable of a side which unit it has and why.
    fn explain(&mut self, side: &Side, constraint: ConstraintId, out: &mut Vec<String>) {
        let mut components = Vec::new();
        match side {
            Side::Expr(expr) => variables(expr, &mut components),
            Side::Component(component) => components.push(*component),
            Side::Wanted(_) => {}
        }
        for component in components.into_iter().take(NAMES) {
            let name = self.name(component);
            let note = match self.declared_unit(component) {
                // The label at the declaration said it.
                Declared::Unit(_) if matches!(side, Side::Component(_)) => continue,
                Declared::Unit(unit) => format!("`{name}` is declared with the unit `{unit}`"),
                _ => match self.inferred(component, constraint) {
                    Some(note) => format!("`{name}` {note}"),
                    None => continue,
                },
            };
            if !out.contains(&note) {
                out.push(note);
            }
        }
    }

    fn inferred(&mut self, component: CompId, constraint: ConstraintId) -> Option<String> {
        let Some(Measure::Term(term)) = self.components.get(&component).cloned() else { return None };
        let &(unknown, _) = term.unknowns.first()?;
        let found = self.solver.found(unknown)?.clone();
        if found.by == constraint {
            return None;
        }
        let by = &self.solver.constraints[found.by];
        let (a, b, span) = (by.a, by.b, by.span);
        let mut told = Vec::new();
        for side in [a, b] {
            match side {
                Side::Component(other) if other != component => told.push(other),
                Side::Expr(expr) => variables(expr, &mut told),
                _ => {}
            }
        }
        let told = told.into_iter().find(|&other| matches!(self.declared_unit(other), Declared::Unit(_)));
        let file = span.map(|span| (self.elaborator.instances.libraries.sources.file(span.file), span.start));
        let place = file.map(|(file, at)| format!(", {}:{}", file.path.display(), file.position(at).line));
        let from = told.map(|other| format!(" from `{}`", self.name(other))).unwrap_or_default();
        Some(format!("gets the unit {}{from}{}", unit_text(&found.term), place.unwrap_or_default()))
    }
}

fn unit_text(term: &Term) -> String {
    match term.factor {
        Some(factor) if (factor - 1.0).abs() > 1e-9 => format!("`{} {}`", rounded(factor), term.dimension),
        _ => format!("`{}`", term.dimension),
    }
}

/// Six digits are what a reader wants.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// The variables that an expression names, each once.
fn variables(expr: &Expr, found: &mut Vec<CompId>) {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        match &expr.kind {
            Kind::Component(reference) => {
                if let Some(step) = reference.steps.last()
                    && !found.contains(&step.component)
                {
                    found.push(step.component);
                }
            }
            Kind::Index(operand, _) | Kind::ToReal(operand) | Kind::Neg(operand) => stack.push(operand),
            Kind::Arithmetic(_, left, right) | Kind::Elementwise(_, left, right) => stack.extend([&**right, &**left]),
            Kind::If(_, then, otherwise) => stack.extend([&**otherwise, &**then]),
            Kind::Builtin(_, arguments) | Kind::Operator(Operator::Der, arguments) => {
                stack.extend(arguments.iter().rev());
            }
            Kind::Operator(_, arguments) => stack.extend(arguments.iter().rev()),
            _ => {}
        }
    }
}
