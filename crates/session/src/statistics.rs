//! The effort of a run, for people (`--stats`) and for programs (`statistics` of the summary).

use std::fmt::Write as _;

use base::SourceMap;
use serde::Serialize;

use crate::stage::{Seconds, Stage};

/// How many unknowns of a system are named.
const NAMED: usize = 4;
const LISTED: usize = 50;

/// The effort of a run, as it is written.
#[derive(Clone, PartialEq, Serialize, Debug, Default)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: u64,
    /// Steps repeated because of the error estimate.
    pub rejected: u64,
    /// Evaluations of the right-hand side.
    pub rhs: u64,
    /// Evaluations of its Jacobian.
    pub jacobians: u64,
    /// Factorisations of the iteration matrix.
    pub factorisations: u64,
    /// Corrections by the integrator.
    pub newton_iterations: u64,
    /// Of the simultaneous systems in the model.
    pub block_iterations: u64,
    /// Factorisations of the matrices of simultaneous systems.
    pub block_factorisations: u64,
    /// Events at crossings.
    pub state_events: u64,
    /// Events known in advance.
    pub time_events: u64,
    /// Rows that were written.
    pub rows: u64,
    /// How often assertions of level warning began to fail.
    pub assertion_warnings: u64,
    /// Modes that the run was in.
    pub modes: u64,
    /// Modes that were made for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes_made: Option<u64>,
    /// The seconds that took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode_seconds: Option<f64>,
    /// Of a run in real time: steps that were late, and by how many seconds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overruns: Option<u64>,
    /// The longest delay of a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_seconds: Option<f64>,
    /// Where it was asked for.
    #[serde(flatten)]
    pub measured: Option<Measured>,
}

/// Times, all in seconds.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Measured {
    pub mean_step_seconds: f64,
    pub worst_step_seconds: f64,
    /// The time of the model at the end of the worst step.
    pub worst_step_time: f64,
    pub integrate: Parts,
    pub blocks: Vec<Block>,
}

/// Parts of the integration.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Parts {
    pub right_hand_side: f64,
    pub jacobian: f64,
    pub linear_algebra: f64,
    pub events: f64,
    pub output: f64,
}

/// One of the slowest simultaneous systems.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct Block {
    pub component: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The first of them.
    pub unknowns: Vec<String>,
    pub size: usize,
    pub torn: usize,
    pub calls: u64,
    pub iterations: u64,
    pub factorisations: u64,
    pub seconds: f64,
}

impl Statistics {
    /// The effort of a run.
    pub fn of(outcome: &simulate::Outcome, sources: &SourceMap) -> Self {
        let run = &outcome.statistics;
        let made = run.modes_made > 0;
        Self {
            steps: run.steps,
            rejected: run.rejected,
            rhs: run.rhs,
            jacobians: run.jacobians,
            factorisations: run.factorisations,
            newton_iterations: run.newton_iterations,
            block_iterations: run.block_iterations,
            block_factorisations: run.block_factorisations,
            state_events: run.state_events,
            time_events: run.time_events,
            rows: run.rows,
            assertion_warnings: run.assertion_warnings,
            modes: run.modes,
            modes_made: made.then_some(run.modes_made),
            mode_seconds: made.then_some(run.mode_seconds),
            overruns: outcome.punctuality.map(|punctuality| punctuality.overruns),
            latest_seconds: outcome.punctuality.map(|punctuality| punctuality.latest),
            measured: outcome.profile.as_ref().map(|profile| Measured::of(profile, sources)),
        }
    }

    /// A table for people.
    pub fn text(&self, seconds: &Seconds) -> String {
        let mut table = Table::default();
        table.count("steps", self.steps);
        table.count("  rejected", self.rejected);
        table.count("evaluations of the right-hand side", self.rhs);
        table.count("Jacobians", self.jacobians);
        table.count("factorisations", self.factorisations);
        table.count("Newton iterations", self.newton_iterations);
        table.count("  in systems of the model", self.block_iterations);
        table.count("  factorisations there", self.block_factorisations);
        table.count("state events", self.state_events);
        table.count("time events", self.time_events);
        table.count("rows", self.rows);
        table.count("warnings of assertions", self.assertion_warnings);
        table.count("modes", self.modes);
        if let (Some(made), Some(seconds)) = (self.modes_made, self.mode_seconds) {
            table.time("  making one", seconds / made as f64);
        }
        if let (Some(overruns), Some(latest)) = (self.overruns, self.latest_seconds) {
            table.count("late steps", overruns);
            table.time("  the latest by", latest);
        }
        table.gap();
        for (stage, seconds) in seconds.iter() {
            table.time(stage.name(), seconds);
            if let (Stage::Integrate, Some(measured)) = (stage, &self.measured) {
                let parts = &measured.integrate;
                table.time("  right-hand side", parts.right_hand_side);
                table.time("  Jacobian", parts.jacobian);
                table.time("  linear algebra", parts.linear_algebra);
                table.time("  events", parts.events);
                table.time("  output", parts.output);
            }
        }
        let Some(measured) = &self.measured else { return table.text() };
        table.gap();
        table.time("a step, on average", measured.mean_step_seconds);
        table.time("a step, at worst", measured.worst_step_seconds);
        let mut text = table.text();
        if self.steps > 0 {
            let _ = writeln!(text, "  up to time {}", base::Decimal(measured.worst_step_time));
        }
        if !measured.blocks.is_empty() {
            text.push_str("\nslowest systems         time     calls  iterations  factorisations\n");
        }
        for block in &measured.blocks {
            text.push_str(&block.text());
        }
        text
    }
}

impl Measured {
    fn of(profile: &simulate::Profile, sources: &SourceMap) -> Self {
        let parts = &profile.parts;
        Self {
            mean_step_seconds: profile.steps.mean(),
            worst_step_seconds: profile.steps.worst,
            worst_step_time: profile.steps.worst_at,
            integrate: Parts {
                right_hand_side: parts.right_hand_side,
                jacobian: parts.jacobian,
                linear_algebra: parts.linear_algebra,
                events: parts.events,
                output: parts.output,
            },
            blocks: profile.blocks.iter().map(|block| Block::of(block, sources)).collect(),
        }
    }
}

impl Block {
    fn of(block: &simulate::BlockProfile, sources: &SourceMap) -> Self {
        let (file, line) = match block.span {
            Some(span) => {
                let file = sources.file(span.file);
                (file.path.display().to_string(), Some(file.position(span.start).line))
            }
            None => (String::new(), None),
        };
        Self {
            component: block.component.clone(),
            file,
            line,
            unknowns: block.unknowns.iter().take(LISTED).cloned().collect(),
            size: block.size,
            torn: block.torn,
            calls: block.calls,
            iterations: block.iterations,
            factorisations: block.factorisations,
            seconds: block.seconds,
        }
    }

    fn text(&self) -> String {
        let Self { size, torn, calls, iterations, factorisations, .. } = self;
        let time = duration(self.seconds);
        let mut text = format!("  {time:>26}{calls:>10}{iterations:>12}{factorisations:>16}\n");
        let named: Vec<&str> = self.unknowns.iter().take(NAMED).map(String::as_str).collect();
        let more = if *size > named.len() { ", …" } else { "" };
        let component =
            if self.component.is_empty() { "in the model".to_owned() } else { format!("in `{}`", self.component) };
        let place = self.line.map(|line| format!(", {}:{line}", self.file)).unwrap_or_default();
        let _ = writeln!(text, "    {component}{place}: {size} unknowns by {torn}: {}{more}", named.join(", "));
        text
    }
}

/// Lines of a name and a value, the values in one column.
#[derive(Default)]
struct Table(Vec<(String, String)>);

impl Table {
    fn count(&mut self, name: &str, count: u64) {
        self.0.push((name.to_owned(), count.to_string()));
    }

    fn time(&mut self, name: &str, seconds: f64) {
        self.0.push((name.to_owned(), duration(seconds)));
    }

    fn gap(&mut self) {
        self.0.push(Default::default());
    }

    fn text(&self) -> String {
        let line = |(name, value): &(String, String)| match name.is_empty() {
            true => "\n".to_owned(),
            false => format!("{name:36}{value:>12}\n"),
        };
        self.0.iter().map(line).collect()
    }
}

/// In the unit that leaves few digits before the point.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 10.0 => format!("{s:.1} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.2} µs", s * 1e6),
    }
}
