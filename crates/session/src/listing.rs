//! What the transformations made of a model, for people and for programs: states, sorted and solved equations, torn
//! systems, differentiated equations, aliases. Every line can name where it comes from.

use std::fmt::Write as _;

use base::{IdVec, SourceMap};
use dae::{EqId, ExprId, Model, OriginKind, VarId, Variability};
use serde::Serialize;
use transform::{Assignment, Block, EquationSystem, Family, Matrix, Role, Schedule, Timing};

use crate::summary::StateSet;

/// How formulas are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notation {
    /// As in Modelica.
    Modelica,
    /// As formulas.
    Latex,
}

/// The listing in a form that can be written as JSON.
#[derive(Clone, Serialize, Debug)]
pub struct Listing {
    /// The name of the model.
    pub model: String,
    /// The states with their derivatives.
    pub states: Vec<StateLine>,
    /// States that are chosen during the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub state_sets: Vec<StateSet>,
    /// States that became algebraic by index reduction.
    pub dummy_states: Vec<String>,
    /// Equations that were differentiated.
    pub differentiated: Vec<DifferentiatedLine>,
    /// What is computed before the run.
    pub parameters: Vec<AssignmentLine>,
    /// The initial problem, sorted.
    pub initial: Vec<BlockLine>,
    /// What holds at run time, sorted.
    pub blocks: Vec<BlockLine>,
    /// What an inline method evaluates in a step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub step: Vec<BlockLine>,
    /// Variables that always are equal to others.
    pub aliases: Vec<AliasLine>,
    /// Variables whose value turned out never to change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<AssignmentLine>,
}

#[derive(Clone, Serialize, Debug)]
pub struct StateLine {
    pub name: String,
    pub derivative: String,
}

#[derive(Clone, Serialize, Debug)]
pub struct DifferentiatedLine {
    pub equation: String,
    pub order: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub origin: String,
}

#[derive(Clone, Serialize, Debug)]
pub struct AssignmentLine {
    pub variable: String,
    pub value: String,
    /// The component whose equation it was solved from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub component: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub origin: String,
}

#[derive(Clone, Serialize, Debug)]
pub struct AliasLine {
    pub name: String,
    pub of: String,
    pub negated: bool,
}

#[derive(Clone, Serialize, Debug)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum BlockLine {
    Explicit {
        timing: &'static str,
        #[serde(flatten)]
        assignment: AssignmentLine,
    },
    System {
        timing: &'static str,
        system: &'static str,
        /// When the matrix changes, if the system is linear for given discrete values.
        #[serde(skip_serializing_if = "Option::is_none")]
        matrix: Option<&'static str>,
        unknowns: Vec<String>,
        /// Guessed, and corrected until the residuals vanish.
        iteration: Vec<String>,
        inner: Vec<AssignmentLine>,
        residuals: Vec<ResidualLine>,
        discrete: Vec<AssignmentLine>,
    },
    /// Blocks of one shape that do not wait for each other.
    Family { members: usize, unknowns: Vec<String>, first: Box<BlockLine> },
}

#[derive(Clone, Serialize, Debug)]
pub struct ResidualLine {
    pub expression: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub origin: String,
}

impl Listing {
    /// Lists a schedule.
    pub fn new(schedule: &Schedule, sources: &SourceMap, notation: Notation) -> Self {
        let builder = ListingBuilder { model: &schedule.model, sources, notation };
        let state = |state: &transform::State| StateLine {
            name: builder.name(state.variable),
            derivative: builder.name(state.derivative),
        };
        let differentiated = |&(equation, order): &(EqId, u32)| DifferentiatedLine {
            equation: builder.equation(equation),
            order,
            origin: builder.origin(Some(equation)),
        };
        Self {
            model: schedule.model.name.clone(),
            states: schedule.states.iter().map(state).collect(),
            state_sets: schedule.state_sets.iter().map(|set| StateSet::of(&schedule.model, set)).collect(),
            dummy_states: schedule.summary.dummy_states.iter().map(|&variable| builder.name(variable)).collect(),
            differentiated: schedule.summary.differentiated.iter().map(differentiated).collect(),
            parameters: builder.assignments(&schedule.parameters),
            initial: builder.blocks(&schedule.initial, &schedule.initial_families),
            blocks: builder.blocks(&schedule.blocks, &schedule.families),
            step: schedule.inline.iter().flat_map(|inline| builder.blocks(&inline.blocks, &inline.families)).collect(),
            aliases: builder.aliases(&schedule.roles),
            constants: builder.constants(&schedule.roles),
        }
    }

    /// The listing as text.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.model);
        if !self.states.is_empty() {
            let names: Vec<&str> = self.states.iter().map(|state| state.name.as_str()).collect();
            let _ = writeln!(out, "\nstates: {}", names.join(", "));
        }
        for set in &self.state_sets {
            let _ = writeln!(out, "chosen during the run: {set}");
        }
        if !self.dummy_states.is_empty() {
            let _ = writeln!(out, "no longer states: {}", self.dummy_states.join(", "));
        }
        if !self.differentiated.is_empty() {
            out.push_str("\ndifferentiated\n");
        }
        for line in &self.differentiated {
            let times = if line.order == 1 { String::new() } else { format!(" ({} times)", line.order) };
            push_line(&mut out, 2, &format!("{}{times}", line.equation), &line.origin);
        }
        push_assignments(&mut out, "constant although not declared so", &self.constants);
        push_assignments(&mut out, "parameters", &self.parameters);
        push_blocks(&mut out, "at the start", &self.initial);
        push_blocks(&mut out, "sorted equations", &self.blocks);
        push_blocks(&mut out, "one step of inline integration", &self.step);
        if !self.aliases.is_empty() {
            out.push_str("\naliases\n");
        }
        for alias in &self.aliases {
            let sign = if alias.negated { "-" } else { "" };
            let _ = writeln!(out, "  {} = {sign}{}", alias.name, alias.of);
        }
        out
    }
}

fn push_line(out: &mut String, indent: usize, text: &str, origin: &str) {
    let line = format!("{:indent$}{text}", "");
    // Short lines share a column for the origin; long ones push it on.
    let line = if origin.is_empty() { line } else { format!("{line:<58}  // {origin}") };
    let _ = writeln!(out, "{line}");
}

fn push_assignments(out: &mut String, head: &str, assignments: &[AssignmentLine]) {
    if assignments.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{head}");
    for line in assignments {
        push_line(out, 2, &format!("{} := {}", line.variable, line.value), &line.origin);
    }
}

fn push_blocks(out: &mut String, head: &str, blocks: &[BlockLine]) {
    if blocks.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{head}");
    for block in blocks {
        push_block(out, 2, block);
    }
}

fn push_block(out: &mut String, indent: usize, block: &BlockLine) {
    match block {
        BlockLine::Explicit { timing, assignment } => {
            let text = format!("{} := {}{}", assignment.variable, assignment.value, mark(timing));
            push_line(out, indent, &text, &assignment.origin);
        }
        BlockLine::System { timing, system, matrix, unknowns, iteration, inner, residuals, discrete } => {
            let size = unknowns.len();
            let matrix = matrix.map(|matrix| format!(", matrix {matrix}")).unwrap_or_default();
            let head = format!("{system} system of {size}, iterating {}{matrix}{}", iteration.join(", "), mark(timing));
            push_line(out, indent, &head, "");
            for line in inner {
                push_line(out, indent + 2, &format!("{} := {}", line.variable, line.value), &line.origin);
            }
            for line in residuals {
                push_line(out, indent + 2, &format!("0 = {}", line.expression), &line.origin);
            }
            for line in discrete {
                push_line(out, indent + 2, &format!("{} := {}", line.variable, line.value), &line.origin);
            }
        }
        BlockLine::Family { members, unknowns, first } => {
            let last = unknowns.last().map_or("", String::as_str);
            push_line(out, indent, &format!("{members} of one shape, the last for {last}:"), "");
            push_block(out, indent + 2, first);
        }
    }
}

fn mark(timing: &str) -> &'static str {
    match timing {
        "event" => "  [at events]",
        "output" => "  [for output]",
        _ => "",
    }
}

struct ListingBuilder<'s> {
    model: &'s Model,
    sources: &'s SourceMap,
    notation: Notation,
}

impl ListingBuilder<'_> {
    fn name(&self, variable: VarId) -> String {
        match self.notation {
            Notation::Modelica => self.model.variable_name(variable),
            Notation::Latex => self.model.variable_latex(variable),
        }
    }

    fn text(&self, expression: ExprId) -> String {
        match self.notation {
            Notation::Modelica => self.model.expression_text(expression),
            Notation::Latex => self.model.expression_latex(expression),
        }
    }

    fn equation(&self, equation: EqId) -> String {
        match self.notation {
            Notation::Modelica => self.model.equation_text(equation),
            Notation::Latex => self.model.equation_latex(equation),
        }
    }

    fn component(&self, equation: Option<EqId>) -> String {
        let equation = equation.and_then(|equation| self.model.equations.get(equation));
        equation.map(|equation| self.model.paths.text(equation.origin.component)).unwrap_or_default()
    }

    /// `R1, circuit.mo:22:5`; for a derivative, of what.
    fn origin(&self, equation: Option<EqId>) -> String {
        let Some(equation) = equation.and_then(|equation| self.model.equations.get(equation)) else {
            return String::new();
        };
        let origin = &equation.origin;
        let component = self.model.paths.text(origin.component);
        let place = origin.span.map(|span| self.sources.place(span));
        let kind = match &origin.kind {
            OriginKind::Derivative(of) => Some(format!("derivative of {}", self.model.equation_text(*of))),
            OriginKind::Potential | OriginKind::FlowSum | OriginKind::Stream => Some("connection".to_owned()),
            _ => None,
        };
        let parts = [(!component.is_empty()).then_some(component), kind, place];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn assignment(&self, assignment: &Assignment) -> AssignmentLine {
        AssignmentLine {
            variable: self.name(assignment.variable),
            value: self.text(assignment.value),
            component: self.component(assignment.equation),
            origin: self.origin(assignment.equation),
        }
    }

    fn assignments(&self, assignments: &[Assignment]) -> Vec<AssignmentLine> {
        assignments.iter().map(|assignment| self.assignment(assignment)).collect()
    }

    /// A family is listed once.
    fn blocks(&self, blocks: &[Block], families: &[Family]) -> Vec<BlockLine> {
        let mut lines = Vec::new();
        let mut families = families.iter().peekable();
        let mut next = 0;
        while let Some(block) = blocks.get(next) {
            let line = self.block(block);
            match families.next_if(|family| family.first == next) {
                Some(family) => {
                    let members = blocks.iter().skip(next).take(family.count);
                    let unknowns = members.flat_map(transform::unknowns).map(|variable| self.name(variable)).collect();
                    lines.push(BlockLine::Family { members: family.count, unknowns, first: Box::new(line) });
                    next += family.count.max(1);
                }
                None => {
                    lines.push(line);
                    next += 1;
                }
            }
        }
        lines
    }

    fn block(&self, block: &Block) -> BlockLine {
        match block {
            Block::Assign { assignment, timing } => {
                BlockLine::Explicit { timing: timing_name(*timing), assignment: self.assignment(assignment) }
            }
            Block::System { system, timing } => self.system(system, *timing),
        }
    }

    fn system(&self, system: &EquationSystem, timing: Timing) -> BlockLine {
        let names = |variables: &[VarId]| variables.iter().map(|&variable| self.name(variable)).collect();
        let equations = system.residual_equations.iter().map(|&equation| Some(equation)).chain(std::iter::repeat(None));
        let residual =
            |(&residual, equation)| ResidualLine { expression: self.text(residual), origin: self.origin(equation) };
        BlockLine::System {
            timing: timing_name(timing),
            system: system.kind.name(),
            matrix: system.kind.matrix().map(Matrix::name),
            unknowns: names(&system.unknowns),
            iteration: names(&system.iteration),
            inner: self.assignments(&system.inner),
            residuals: system.residuals.iter().zip(equations).map(residual).collect(),
            discrete: self.assignments(&system.discrete),
        }
    }

    fn constants(&self, roles: &IdVec<VarId, Role>) -> Vec<AssignmentLine> {
        let declared_to_vary = |variable: &VarId| self.model.variables[*variable].variability > Variability::Parameter;
        let found = roles.iter().filter(|(_, role)| matches!(role, Role::Constant)).map(|(variable, _)| variable);
        let line = |variable: VarId| {
            let value = self.text(self.model.variables[variable].binding?);
            let (component, origin) = (String::new(), String::new());
            Some(AssignmentLine { variable: self.name(variable), value, component, origin })
        };
        found.filter(declared_to_vary).filter_map(line).collect()
    }

    fn aliases(&self, roles: &IdVec<VarId, Role>) -> Vec<AliasLine> {
        let alias = |(variable, role): (VarId, &Role)| match *role {
            Role::Alias { of, negated } => Some(AliasLine { name: self.name(variable), of: self.name(of), negated }),
            _ => None,
        };
        roles.iter().filter_map(alias).collect()
    }
}

fn timing_name(timing: Timing) -> &'static str {
    match timing {
        Timing::Continuous => "continuous",
        Timing::Event => "event",
        Timing::Output => "output",
    }
}
