//! Where the time of a run goes: its parts, its worst step, and the simultaneous systems that take longest. Clocks are read
//! only when somebody asked for it.

use std::time::{Duration, Instant};

use base::Span;
use compile::Program;
use dae::{EqId, Model};

use crate::machine::{Evaluations, Machine};
use crate::systems::Systems;

/// How many systems are reported.
const MOST_BLOCKS: usize = 10;

/// Where the time of a run went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// The parts of the integration.
    pub parts: Parts,
    /// The steps.
    pub steps: StepTimes,
    /// The slowest first.
    pub blocks: Vec<BlockProfile>,
}

/// Seconds of the integration; they exclude each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Evaluations that the integrator asks for, those of inline integration included.
    pub right_hand_side: f64,
    /// Evaluations of the Jacobian.
    pub jacobian: f64,
    /// What else a step takes: linear algebra and the method itself.
    pub linear_algebra: f64,
    /// Looking for events and going through them.
    pub events: f64,
    /// Evaluating rows.
    pub output: f64,
    /// Writing rows.
    pub write: f64,
}

/// Seconds of steps, from the decision how far to go until all that belongs to the step is done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTimes {
    /// How many steps there were.
    pub count: u64,
    /// What all of them took.
    pub total: f64,
    /// What the longest took.
    pub worst: f64,
    /// The time of the model at the end of the worst step.
    pub worst_at: f64,
}

impl StepTimes {
    /// The mean of a step.
    pub fn mean(&self) -> f64 {
        self.total / self.count.max(1) as f64
    }
}

/// What a simultaneous system took.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockProfile {
    /// The component that all of its equations belong to.
    pub component: String,
    /// Where its first equation stands.
    pub span: Option<Span>,
    /// The names of the unknowns.
    pub unknowns: Vec<String>,
    /// How many unknowns it has.
    pub size: usize,
    /// The number of iteration variables.
    pub torn: usize,
    /// How often it was solved.
    pub calls: u64,
    /// What that took.
    pub seconds: f64,
    /// Corrections by Newton's method; a linear system needs none.
    pub iterations: u64,
    /// Factorisations of its matrix.
    pub factorisations: u64,
}

/// Adds up what is measured.
#[derive(Clone, Default)]
pub struct Meter {
    measured: Option<Box<Profile>>,
    /// Writing since the part at hand began.
    written: Duration,
}

/// A part of a step that is measured as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Events,
    Output,
}

impl Meter {
    pub fn new(wanted: bool) -> Self {
        Self { measured: wanted.then(Box::default), written: Duration::ZERO }
    }

    /// The beginning of something.
    pub fn now(&self) -> Option<Instant> {
        self.measured.as_ref().map(|_| Instant::now())
    }

    /// Begins a step of the integrator: what was evaluated before belongs elsewhere.
    pub fn begin_step(&mut self, machine: &mut Machine) -> Option<Instant> {
        self.written = Duration::ZERO;
        machine.take_evaluations();
        self.now()
    }

    /// Ends a step of the integrator.
    pub fn end_step(&mut self, begun: Option<Instant>, machine: &mut Machine) {
        let (Some(profile), Some(begun)) = (&mut self.measured, begun) else { return };
        let all = begun.elapsed();
        let Evaluations { right_hand_side, jacobian } = machine.take_evaluations();
        let parts = &mut profile.parts;
        parts.right_hand_side += right_hand_side.as_secs_f64();
        parts.jacobian += jacobian.as_secs_f64();
        parts.linear_algebra += all.saturating_sub(right_hand_side + jacobian).as_secs_f64();
    }

    pub fn add(&mut self, part: Part, begun: Option<Instant>) {
        let (Some(profile), Some(begun)) = (&mut self.measured, begun) else { return };
        let written = std::mem::take(&mut self.written);
        let seconds = begun.elapsed().saturating_sub(written).as_secs_f64();
        profile.parts.write += written.as_secs_f64();
        match part {
            Part::Events => profile.parts.events += seconds,
            Part::Output => profile.parts.output += seconds,
        }
    }

    /// A row was handed to the result, as part of something else.
    pub fn add_writing(&mut self, begun: Option<Instant>) {
        self.written += begun.map_or(Duration::ZERO, |begun| begun.elapsed());
    }

    /// All that belongs to the step up to `time` is done.
    pub fn finish_step(&mut self, begun: Option<Instant>, time: f64) {
        let (Some(profile), Some(begun)) = (&mut self.measured, begun) else { return };
        let seconds = begun.elapsed().as_secs_f64();
        let steps = &mut profile.steps;
        steps.count += 1;
        steps.total += seconds;
        if seconds > steps.worst {
            (steps.worst, steps.worst_at) = (seconds, time);
        }
    }

    /// The profile of a run with these programs and their systems.
    pub fn profile<'a>(&self, used: impl Iterator<Item = (&'a Program, &'a Systems)>) -> Option<Profile> {
        let mut profile = (**self.measured.as_ref()?).clone();
        for (program, systems) in used {
            profile.blocks.extend(blocks(program, systems));
        }
        profile.blocks.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        profile.blocks.truncate(MOST_BLOCKS);
        Some(profile)
    }
}

fn blocks(program: &Program, systems: &Systems) -> Vec<BlockProfile> {
    let model = program.model();
    let mut blocks = Vec::new();
    for (id, effort) in systems.efforts() {
        let found = &program.systems[id];
        blocks.push(BlockProfile {
            component: common_component(model, &found.equations),
            span: found.equations.iter().find_map(|&equation| model.equations.get(equation)?.origin.span),
            unknowns: found.unknowns.iter().map(|&unknown| model.variable_name(unknown)).collect(),
            size: found.unknowns.len(),
            torn: found.iteration.len(),
            calls: effort.calls,
            seconds: effort.time.as_secs_f64(),
            iterations: effort.iterations,
            factorisations: effort.factorisations,
        });
    }
    blocks
}

/// The innermost component that all equations are in; empty for the whole model.
pub fn common_component(model: &Model, equations: &[EqId]) -> String {
    let mut common: Option<Vec<String>> = None;
    for equation in equations.iter().filter_map(|&equation| model.equations.get(equation)) {
        let text = model.paths.text(equation.origin.component);
        let parts: Vec<String> = text.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        common = Some(match common {
            None => parts,
            Some(known) => known.into_iter().zip(parts).take_while(|(a, b)| a == b).map(|(a, _)| a).collect(),
        });
    }
    common.unwrap_or_default().join(".")
}
