//! Messages about systems that no assignment of equations to unknowns can solve, before anything else is tried: the
//! smallest set of equations that says too much, the unknowns that nothing determines, and the likely cause.

use base::Diagnostic;
use dae::{EqId, ExprId, Node, OriginKind, VarId};
use rustc_hash::FxHashSet;

use crate::structure::dulmage::{Decomposition, decompose, smallest_over_determined};
use crate::structure::{IncidenceBuilder, Matching, NONE};
use crate::system::System;
use crate::work::Work;

/// Whether `report` reports all that is wrong.
pub fn are_structural(problems: &[Diagnostic]) -> bool {
    problems.iter().all(|problem| ["over-determined", "under-determined"].contains(&problem.code))
}

/// How many equations or unknowns a message lists.
const LISTED: usize = 20;

/// `matching` is a maximum matching of `system.matchable` that is not perfect.
pub fn report(work: &Work, system: &System, matching: &Matching) -> Vec<Diagnostic> {
    let (rows, columns) = (system.rows.len(), system.columns.len());
    let mut problems = Vec::new();
    if let Some(set) = smallest_over_determined(&system.matchable, matching) {
        let (over, determined) = narrowed(system, &set.0).unwrap_or(set);
        let equations: Vec<EqId> = over.iter().map(|&row| system.rows[row as usize]).collect();
        let unknowns: Vec<VarId> = determined.iter().map(|&column| system.columns[column as usize]).collect();
        problems.push(over_determined(work, system, &over, &equations, &unknowns, balance(work, rows, columns)));
    }
    let parts = decompose(&system.matchable, matching);
    if !parts.under_columns.is_empty() {
        problems.push(under_determined(work, system, &parts, balance(work, rows, columns)));
    }
    problems
}

/// A smaller set among the given rows that says too much if states count as known, as those think who write `der`.
fn narrowed(system: &System, rows: &[u32]) -> Option<(Vec<u32>, Vec<u32>)> {
    let mut builder = IncidenceBuilder::default();
    for &row in rows {
        let is_highest =
            |&entry: &usize| system.orders[entry] == system.highest[system.matchable.column_of(entry) as usize];
        let entries = system.matchable.range(row as usize).filter(is_highest);
        builder.push_row(entries.map(|entry| system.matchable.column_of(entry)));
    }
    let incidence = builder.finish(system.columns.len());
    let (set, columns) = smallest_over_determined(&incidence, &Matching::maximum(&incidence))?;
    let set: Vec<u32> = set.into_iter().map(|place| rows[place as usize]).collect();
    (!columns.is_empty() && set.len() < rows.len()).then_some((set, columns))
}

/// Equations of which each follows from the others, or contradicts them, and what is left without equation then.
pub fn report_dependent(work: &Work, system: &System, sets: &[Vec<u32>]) -> Vec<Diagnostic> {
    let (rows, columns) = (system.rows.len(), system.columns.len());
    let mut problems = Vec::new();
    for set in sets.iter().take(3) {
        let message = format!(
            "each of these equations follows from the others or contradicts them{}",
            balance(work, rows, columns)
        );
        let mut diagnostic = Diagnostic::error("over-determined", message);
        for &row in set.iter().take(LISTED) {
            let eq = system.rows[row as usize];
            diagnostic = work.at_equation(diagnostic, eq, "");
            diagnostic = diagnostic.note(line(work, eq, &work.sides_text(system.sides[row as usize])));
        }
        let equations = set.iter().map(|&row| system.rows[row as usize]);
        problems.push(diagnostic.hint(surplus_hint(work, equations, false)));
    }
    let superfluous: Vec<u32> = sets.iter().filter_map(|set| set.last().copied()).collect();
    let kept: Vec<u32> = (0..rows as u32).filter(|row| !superfluous.contains(row)).collect();
    let rest = system.with_rows(&kept);
    let parts = decompose(&rest.matchable, &Matching::maximum(&rest.matchable));
    if !parts.under_columns.is_empty() {
        problems.push(under_determined(work, &rest, &parts, balance(work, rows, columns)));
    }
    problems
}

fn is_variable(work: &Work, expr: ExprId) -> bool {
    matches!(work.model.exprs.node(expr), Node::Var(_))
}

/// The likely cause of too many equations.
fn surplus_hint(work: &Work, equations: impl Iterator<Item = EqId>, one_unknown: bool) -> &'static str {
    let (mut binding, mut connection, mut open) = (false, false, false);
    for eq in equations {
        let equation = &work.model.equations[eq];
        match equation.origin.kind {
            OriginKind::Binding => binding = true,
            // The flow of a connector without connection is zero.
            OriginKind::FlowSum if work.model.exprs.is_zero(equation.right) => open |= is_variable(work, equation.left),
            OriginKind::Potential | OriginKind::FlowSum => connection = true,
            _ => {}
        }
    }
    if binding && one_unknown {
        "a variable with a declaration equation (a modifier `= …`) is also determined by another equation: remove one"
    } else if open {
        "a connector may not be connected: then its flow is zero"
    } else if connection {
        "a connection may be doubled, or two sources be connected that both prescribe the same quantity"
    } else if binding {
        "a declaration equation (a modifier `= …`) may say again what the others say already: remove one"
    } else {
        "remove one of these equations, or make something in them an unknown"
    }
}

/// The columns that remain if differentiated unknowns get an equation first.
fn left_over(system: &System, parts: &Decomposition) -> Vec<VarId> {
    let mut matching = Matching::empty(system.rows.len(), system.columns.len());
    let mut derivatives = IncidenceBuilder::default();
    let mut all = IncidenceBuilder::default();
    let mut under = vec![false; system.rows.len()];
    for &row in &parts.under_rows {
        under[row as usize] = true;
    }
    let under_columns = FxHashSet::from_iter(parts.under_columns.iter().copied());
    for (row, is_under) in under.into_iter().enumerate() {
        let entries = if is_under { system.matchable.range(row) } else { 0..0 };
        let entries = entries.filter(|&entry| under_columns.contains(&system.matchable.column_of(entry)));
        all.push_row(entries.clone().map(|entry| system.matchable.column_of(entry)));
        derivatives
            .push_row(entries.filter(|&entry| system.orders[entry] > 0).map(|entry| system.matchable.column_of(entry)));
    }
    matching.extend(&derivatives.finish(system.columns.len()));
    matching.extend(&all.finish(system.columns.len()));
    let unmatched = parts.under_columns.iter().filter(|&&column| matching.row_of_column[column as usize] == NONE);
    unmatched.map(|&column| system.columns[column as usize]).collect()
}

/// The initial problem has rows that cannot be used or unknowns that nothing determines.
pub fn report_initial(work: &Work, system: &System, matching: &Matching, open: &[VarId]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    if let Some((over, determined)) = smallest_over_determined(&system.matchable, matching) {
        let unknowns: Vec<VarId> = determined.iter().map(|&column| system.columns[column as usize]).collect();
        let mut diagnostic = Diagnostic::error(
            "initial-over-determined",
            format!("the initial problem has {} equations for {}", over.len(), names(work, &unknowns)),
        );
        for &row in over.iter().take(LISTED) {
            let eq = system.rows[row as usize];
            diagnostic = work.at_equation(diagnostic, eq, "");
            diagnostic = diagnostic.note(line(work, eq, &work.sides_text(system.sides[row as usize])));
        }
        problems.push(diagnostic.hint("remove an initial equation or a `fixed = true`"));
    }
    if !open.is_empty() {
        problems.push(
            Diagnostic::error(
                "initial-under-determined",
                format!("the initial problem does not determine {}", names(work, open)),
            )
            .hint("an initial equation or a fixed start value is missing"),
        );
    }
    problems
}

/// How many equations are too many or too few. One mode of several has as many as the others, and nothing is to be said.
fn balance(work: &Work, equations: usize, unknowns: usize) -> String {
    if equations == unknowns && work.modes.touched.is_some() {
        return String::new();
    }
    let count = equations.abs_diff(unknowns);
    let number = match count {
        1 => "one equation".to_string(),
        _ => format!("{count} equations"),
    };
    let counts = format!("({}, {})", counted(equations, "equation"), counted(unknowns, "unknown"));
    match equations.cmp(&unknowns) {
        std::cmp::Ordering::Equal => format!("; the counts agree {counts}"),
        std::cmp::Ordering::Greater => format!("; {number} too many {counts}"),
        std::cmp::Ordering::Less => format!("; {number} too few {counts}"),
    }
}

fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn over_determined(
    work: &Work,
    system: &System,
    rows: &[u32],
    equations: &[EqId],
    unknowns: &[VarId],
    balance: String,
) -> Diagnostic {
    let is_combined = |&eq: &EqId| matches!(work.model.equations[eq].origin.kind, OriginKind::Combined(_));
    let message = match unknowns {
        [] if equations.iter().all(is_combined) => "equations repeat or contradict each other".to_string(),
        [] => "an equation contains no unknown that it could determine".to_string(),
        [one] => format!("{} equations for the one unknown `{}`", equations.len(), work.model.variable_name(*one)),
        more => format!("{} equations for {} unknowns: {}", equations.len(), more.len(), names(work, more)),
    };
    let mut diagnostic = Diagnostic::error("over-determined", format!("{message}{balance}"));
    for (&eq, &row) in equations.iter().zip(rows).take(LISTED) {
        diagnostic = work.at_equation(diagnostic, eq, "");
        // What is left of an equation without unknowns (`0 = 0`) says nothing; the text it was written as does.
        if !unknowns.is_empty() || is_combined(&eq) || work.model.equations[eq].origin.span.is_none() {
            diagnostic = diagnostic.note(line(work, eq, &work.sides_text(system.sides[row as usize])));
        }
    }
    diagnostic.hint(surplus_hint(work, equations.iter().copied(), unknowns.len() <= 1))
}

fn under_determined(work: &Work, system: &System, parts: &Decomposition, balance: String) -> Diagnostic {
    let open = left_over(system, parts);
    let others: Vec<VarId> = parts
        .under_columns
        .iter()
        .map(|&column| system.columns[column as usize])
        .filter(|variable| !open.contains(variable))
        .collect();
    let mut diagnostic =
        Diagnostic::error("under-determined", format!("no equation determines {}{balance}", names(work, &open)));
    for &variable in open.iter().take(LISTED) {
        if let Some(span) = work.model.variables[variable].span {
            diagnostic = diagnostic.at(span, "");
        }
    }
    if !others.is_empty() {
        diagnostic = diagnostic.note(format!("it shares its equations with {}", names(work, &others)));
    }
    for &row in parts.under_rows.iter().take(LISTED) {
        let eq = system.rows[row as usize];
        diagnostic = diagnostic.note(line(work, eq, &work.sides_text(system.sides[row as usize])));
    }
    let is_open_flow = open.iter().chain(&others).any(|&v| work.model.variables[v].flow);
    diagnostic.hint(if is_open_flow {
        "a connector may not be connected, or no component defines a reference (such as a ground)"
    } else {
        "an equation or a connection is missing; an input needs a connection or a value"
    })
}

fn names(work: &Work, variables: &[VarId]) -> String {
    let mut list: Vec<String> =
        variables.iter().take(LISTED).map(|&v| format!("`{}`", work.model.variable_name(v))).collect();
    if variables.len() > LISTED {
        list.push(format!("and {} more", variables.len() - LISTED));
    }
    list.join(", ")
}

fn line(work: &Work, eq: EqId, text: &str) -> String {
    let origin = &work.model.equations[eq].origin;
    let component = work.model.paths.text(origin.component);
    let text = if component.is_empty() { text.to_string() } else { format!("{component}: {text}") };
    match &origin.kind {
        OriginKind::Combined(sources) => {
            let sources: Vec<String> = sources.iter().map(|&eq| work.model.equation_text(eq)).collect();
            format!("{text}, which follows from {}", sources.join(" and "))
        }
        _ => text,
    }
}
