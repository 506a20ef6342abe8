//! A schedule as short text, for the expectations of the tests.

#![allow(dead_code)]

use std::fmt::Write as _;

use transform::{Assignment, Block, Matrix, Options, Schedule, SystemKind, Timing};

pub fn schedule(text: &str) -> Schedule {
    schedule_with(text, &Options::default())
}

pub fn schedule_with(text: &str, options: &Options) -> Schedule {
    let model = dae::testing::model(text).unwrap_or_else(|message| panic!("{message}"));
    match transform::transform(model, options) {
        Ok(schedule) => schedule,
        Err(problems) => panic!("{}", render(text, &problems)),
    }
}

pub fn problems(text: &str) -> String {
    let model = dae::testing::model(text).unwrap_or_else(|message| panic!("{message}"));
    match transform::transform(model, &Options::default()) {
        Ok(schedule) => blocks(&schedule, &schedule.blocks),
        Err(problems) => render(text, &problems),
    }
}

pub fn render(text: &str, problems: &[base::Diagnostic]) -> String {
    let mut sources = base::SourceMap::default();
    sources.add("test.mo", text);
    problems.iter().map(|problem| problem.render(&sources)).collect()
}

/// What the user is told about choices.
pub fn notices(text: &str) -> String {
    render(text, &schedule(text).summary.notices)
}

pub fn states(schedule: &Schedule) -> String {
    let names: Vec<String> = schedule.states.iter().map(|state| schedule.model.variable_name(state.variable)).collect();
    names.join(" ")
}

fn assignment(schedule: &Schedule, assignment: &Assignment) -> String {
    let value = schedule.model.expression_text(assignment.value);
    format!("{} := {value}", schedule.model.variable_name(assignment.variable))
}

pub fn blocks(schedule: &Schedule, blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Assign { assignment: one, timing } => {
                let _ = writeln!(out, "{}{}", mark(*timing), assignment(schedule, one));
            }
            Block::System { system, timing } => {
                let kind = match system.kind {
                    SystemKind::Linear(Matrix::Constant) => "linear constant".into(),
                    SystemKind::Linear(Matrix::Frozen) => "linear frozen".into(),
                    SystemKind::Linear(Matrix::Varying) => "linear".into(),
                    SystemKind::Nonlinear => "nonlinear".into(),
                    SystemKind::Mixed { linear } => {
                        format!("mixed {}", if linear.is_some() { "linear" } else { "nonlinear" })
                    }
                };
                let guesses: Vec<String> = system.iteration.iter().map(|&v| schedule.model.variable_name(v)).collect();
                let _ =
                    writeln!(out, "{}{kind} {} torn to {}", mark(*timing), system.unknowns.len(), guesses.join(" "));
                for one in &system.inner {
                    let _ = writeln!(out, "    {}", assignment(schedule, one));
                }
                for &residual in &system.residuals {
                    let _ = writeln!(out, "    0 = {}", schedule.model.expression_text(residual));
                }
                for one in &system.discrete {
                    let _ = writeln!(out, "    then {}", assignment(schedule, one));
                }
            }
        }
    }
    out
}

fn mark(timing: Timing) -> &'static str {
    match timing {
        Timing::Continuous => "",
        Timing::Event => "event: ",
        Timing::Output => "output: ",
    }
}

/// States, run-time blocks and the initial problem.
pub fn all(schedule: &Schedule) -> String {
    format!(
        "states: {}\n{}initially\n{}",
        states(schedule),
        blocks(schedule, &schedule.blocks),
        blocks(schedule, &schedule.initial)
    )
}
