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
    pub model: String,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flat: Option<Flat>,
    #[serde(flatten)]
    pub structure: Option<Structure>,
    pub seconds: Seconds,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Statistics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// A diagnostic with its primary place; lines and columns count from 1, and the end is behind the last character.
#[derive(Clone, Serialize, Debug)]
pub struct DiagnosticEntry {
    pub code: &'static str,
    pub severity: &'static str,
    pub message: String,
    #[serde(flatten)]
    pub place: Option<SourceRange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
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
    pub fn of(diagnostic: &Diagnostic, sources: &SourceMap) -> Self {
        Self {
            code: diagnostic.code,
            severity: diagnostic.severity.name(),
            message: diagnostic.message.clone(),
            place: diagnostic.labels.first().map(|label| SourceRange::of(label.span, sources)),
            component: diagnostic.component.clone(),
            hint: diagnostic.hint.clone(),
            specification: diagnostic.specification,
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

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Ok,
    Failed,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug, Default)]
pub struct Flat {
    pub equations: usize,
    pub unknowns: usize,
    pub parameters: usize,
    pub discrete: usize,
}

impl Flat {
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
    pub aliases: usize,
    pub states: Vec<String>,
    /// The candidates of states that are chosen during the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub state_sets: Vec<StateSet>,
    /// The states of the model itself: candidates stand in place of what is chosen from them.
    #[serde(skip)]
    pub physical_states: Vec<String>,
    pub dummy_states: Vec<String>,
    pub differentiated: Vec<Differentiated>,
    pub blocks: Vec<BlockSummary>,
    /// What an inline method evaluates in a step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub step_blocks: Vec<BlockSummary>,
    /// How many entries the schedule has when blocks of one shape count once, and how many blocks each such family has.
    pub entries: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub families: Vec<usize>,
    /// Conditions that change the structure during the run, where no structure serves all; the rest then speaks of the mode
    /// at the start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub structural_conditions: Vec<String>,
    pub events: Events,
}

#[derive(Clone, Serialize, Debug)]
pub struct StateSet {
    /// How many of the candidates are states at a time.
    pub states: usize,
    pub candidates: Vec<String>,
}

#[derive(Clone, Serialize, Debug)]
pub struct Differentiated {
    pub equation: String,
    pub order: u32,
}

#[derive(Clone, Serialize, Debug)]
pub struct BlockSummary {
    pub kind: &'static str,
    pub size: usize,
    /// The number of iteration variables.
    pub torn: usize,
    pub unknowns: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug, Default)]
pub struct Events {
    pub relations: usize,
    pub whens: usize,
    pub samples: usize,
}

impl Structure {
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
