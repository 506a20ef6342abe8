//! The machine-readable summary of a run (`--json`): what scripts outside of the project rely on.

use base::{Diagnostic, SourceMap, Span};
use dae::{Causality, EquationRole, Model, Node, VarId, Variability};
use rustc_hash::FxHashSet;
use serde::Serialize;
use transform::{Block, Schedule};

use crate::inspection::Inspected;
use crate::stage::{Seconds, Stage};
use crate::statistics::Statistics;

/// Keys that do not apply are absent; all counts are of scalars.
#[derive(Clone, Serialize, Debug)]
pub struct Summary {
    /// The name of the model.
    pub model: String,
    /// How it ended.
    pub status: Status,
    /// Where it stopped; `done` when it went through.
    pub stage: Stage,
    /// The first error in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Each warning in one line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Everything that was said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticEntry>,
    /// The classes of a package that was checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Inspected>,
    /// Counts of the flat model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flat: Option<Flat>,
    /// What the transformations made of it.
    #[serde(flatten)]
    pub structure: Option<Structure>,
    /// How long each stage took.
    pub seconds: Seconds,
    /// The effort of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Statistics>,
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// A diagnostic with its primary place; lines and columns count from 1, and the end is behind the last character.
#[derive(Clone, Serialize, Debug)]
pub struct DiagnosticEntry {
    /// The short name of the diagnostic.
    pub code: &'static str,
    /// How serious it is.
    pub severity: &'static str,
    /// The headline.
    pub message: String,
    /// The primary place.
    #[serde(flatten)]
    pub place: Option<SourceRange>,
    /// The component in which it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The section of the Modelica specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specification: Option<&'static str>,
}

#[derive(Clone, Serialize, Debug)]
pub struct SourceRange {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

impl DiagnosticEntry {
    /// A diagnostic as it is written.
    pub fn of(diagnostic: &Diagnostic, sources: &SourceMap) -> Self {
        Self {
            code: diagnostic.code,
            severity: diagnostic.severity.name(),
            message: diagnostic.message.clone(),
            place: diagnostic.labels.first().map(|label| SourceRange::of(label.span, sources)),
            component: diagnostic.component.clone(),
            hint: diagnostic.hint.clone(),
            specification: diagnostic.specification.filter(|_| diagnostic.concerns_modelica(sources)),
        }
    }
}

impl SourceRange {
    fn of(span: Span, sources: &SourceMap) -> Self {
        let file = sources.file(span.file);
        let (start, end) = (file.position(span.start), file.position(span.end));
        Self {
            file: file.path.to_string_lossy().into_owned(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Everything was done.
    Ok,
    /// There was an error.
    Failed,
}

/// Counts of a flat model.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug, Default)]
pub struct Flat {
    /// How many equations there are.
    pub equations: usize,
    /// How many unknowns there are.
    pub unknowns: usize,
    /// How many parameters and constants there are.
    pub parameters: usize,
    /// How many of the unknowns are discrete.
    pub discrete: usize,
}

impl Flat {
    /// Counts a flat model.
    pub fn of(model: &Model) -> Self {
        let mut flat = Self { equations: model.equations.len(), ..Self::default() };
        for variable in model.variables.values() {
            match variable.variability {
                Variability::Constant => {}
                Variability::Parameter => flat.parameters += 1,
                _ if variable.causality == Causality::Input => {}
                Variability::Discrete => {
                    flat.discrete += 1;
                    flat.unknowns += 1;
                }
                Variability::Continuous => flat.unknowns += 1,
            }
        }
        flat
    }
}

/// What the transformations made of the model.
#[derive(Clone, Serialize, Debug)]
pub struct Structure {
    /// How many variables always are equal to others.
    pub aliases: usize,
    /// The states.
    pub states: Vec<String>,
    /// The candidates of states that are chosen during the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub state_sets: Vec<StateSet>,
    /// The states of the model itself: candidates stand in place of what is chosen from them.
    #[serde(skip)]
    pub physical_states: Vec<String>,
    /// States that became algebraic by index reduction.
    pub dummy_states: Vec<String>,
    /// Equations that were differentiated.
    pub differentiated: Vec<Differentiated>,
    /// Simultaneous systems.
    pub blocks: Vec<BlockSummary>,
    /// What an inline method evaluates in a step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub step_blocks: Vec<BlockSummary>,
    /// How many entries the schedule has when blocks of one shape count once, and how many blocks each such family has.
    pub entries: usize,
    /// The sizes of families of equations of one shape.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub families: Vec<usize>,
    /// Conditions that change the structure during the run, where no structure serves all; the rest then speaks of the mode
    /// at the start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub structural_conditions: Vec<String>,
    /// What makes events.
    pub events: Events,
}

/// States that are chosen during the run.
#[derive(Clone, Serialize, Debug)]
pub struct StateSet {
    /// How many of the candidates are states at a time.
    pub states: usize,
    /// What they are chosen from.
    pub candidates: Vec<String>,
}

/// An equation that was differentiated.
#[derive(Clone, Serialize, Debug)]
pub struct Differentiated {
    /// Its text.
    pub equation: String,
    /// How often.
    pub order: u32,
}

/// A simultaneous system.
#[derive(Clone, Serialize, Debug)]
pub struct BlockSummary {
    /// Linear, nonlinear or mixed.
    pub kind: &'static str,
    /// How many unknowns it has.
    pub size: usize,
    /// The number of iteration variables.
    pub torn: usize,
    /// The names of the unknowns.
    pub unknowns: Vec<String>,
}

/// What makes events.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug, Default)]
pub struct Events {
    /// Relations and roundings.
    pub relations: usize,
    /// When clauses.
    pub whens: usize,
    /// Periodic samples.
    pub samples: usize,
}

impl Structure {
    /// What the transformations made.
    pub fn of(schedule: &Schedule) -> Self {
        let model = &schedule.model;
        let summary = &schedule.summary;
        let differentiated = |&(equation, order)| Differentiated { equation: model.equation_text(equation), order };
        Self {
            aliases: summary.aliases,
            states: schedule.states.iter().map(|state| model.variable_name(state.variable)).collect(),
            state_sets: schedule.state_sets.iter().map(|set| StateSet::of(model, set)).collect(),
            physical_states: physical_states(schedule),
            dummy_states: summary.dummy_states.iter().map(|&variable| model.variable_name(variable)).collect(),
            differentiated: summary.differentiated.iter().map(differentiated).collect(),
            blocks: schedule.blocks.iter().map(|block| BlockSummary::of(model, block)).collect(),
            step_blocks: schedule
                .inline
                .iter()
                .flat_map(|inline| inline.blocks.iter().map(|block| BlockSummary::of(model, block)))
                .collect(),
            entries: schedule.entries(),
            families: schedule.families.iter().map(|family| family.count).collect(),
            structural_conditions: structural_conditions(schedule),
            events: Events::of(model),
        }
    }
}

fn structural_conditions(schedule: &Schedule) -> Vec<String> {
    let Some(mode) = &schedule.mode else { return Vec::new() };
    (0..mode.key.len()).map(|condition| mode.modes.text(condition)).collect()
}

fn physical_states(schedule: &Schedule) -> Vec<String> {
    let chosen: FxHashSet<VarId> = schedule.state_sets.iter().flat_map(|set| set.states.iter().copied()).collect();
    let plain = schedule.states.iter().map(|state| state.variable).filter(|state| !chosen.contains(state));
    let candidates = schedule.state_sets.iter().flat_map(|set| set.candidates.iter().copied());
    plain.chain(candidates).map(|variable| schedule.model.variable_name(variable)).collect()
}

impl StateSet {
    /// A set of states of a schedule.
    pub fn of(model: &Model, set: &transform::StateSet) -> Self {
        let candidates = set.candidates.iter().map(|&candidate| model.variable_name(candidate)).collect();
        Self { states: set.states.len(), candidates }
    }
}

impl std::fmt::Display for StateSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.states, self.candidates.join(", "))
    }
}

impl BlockSummary {
    fn of(model: &Model, block: &Block) -> Self {
        match block {
            Block::Assign { assignment, .. } => {
                let unknowns = vec![model.variable_name(assignment.variable)];
                Self { kind: "explicit", size: 1, torn: 0, unknowns }
            }
            Block::System { system, .. } => Self {
                kind: system.kind.name(),
                size: system.unknowns.len(),
                torn: system.iteration.len(),
                unknowns: system.unknowns.iter().map(|&variable| model.variable_name(variable)).collect(),
            },
        }
    }
}

impl Events {
    /// Counts the relations that make events, when clauses and samples that occur in the model, each once.
    pub fn of(model: &Model) -> Self {
        let mut roots: Vec<_> = model.equations.values().flat_map(|equation| [equation.left, equation.right]).collect();
        roots.extend(model.actions.iter().filter_map(|action| action.condition));
        let mut events = Self::default();
        for expression in model.exprs.postorder(&roots) {
            match model.exprs.node(expression) {
                Node::Compare { event: true, .. } => events.relations += 1,
                Node::Builtin(dae::Builtin::Sample, _) => events.samples += 1,
                _ => {}
            }
        }
        events.whens = when_clauses(model);
        events
    }
}

/// A clause shows in the equations it makes; one that only acts (`reinit` and the like) shows in its condition.
fn when_clauses(model: &Model) -> usize {
    let mut clauses = FxHashSet::default();
    let mut conditions = FxHashSet::default();
    for equation in model.equations.values() {
        if let EquationRole::When(clause) = &equation.role {
            clauses.insert(clause.clause);
            conditions.extend(clause.conditions.iter().copied());
        }
    }
    let acting = model.actions.iter().filter_map(|action| action.condition);
    let acting = acting.filter_map(|condition| model.exprs.dependencies(&[condition]).pre.first().copied());
    let only_acting: FxHashSet<_> = acting.filter(|condition| !conditions.contains(condition)).collect();
    clauses.len() + only_acting.len()
}
