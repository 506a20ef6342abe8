//! A program: the code of a model and all that is needed to run it. Built by `build`, read by `simulate`.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use base::{Diagnostic, Id, IdVec};
use dae::{EqId, ExprId, Model, VarId};
use native::Native;
use transform::{Schedule, SystemKind};

use crate::code::{Address, Code, Regions, Rounding};
use crate::commons::Commons;
use crate::failure::Failure;
use crate::implicit::Implicit;
use crate::jit::Machine;
use crate::layout::{CHECK, Class, Layout, Relation, RelationId, RelationKind};
use crate::linear_form::LinearForm;
use crate::lower::Pool;
use crate::memory::Memory;
use crate::mode_programs::ModePrograms;
use crate::probe::Probe;
use crate::runtime::Runtime;
use crate::signals::Driven;
use crate::{build, interpret, jit};

base::id_type!(
    /// A piece of code.
    pub ChunkId, "chunk"
);
base::id_type!(
    /// A simultaneous system.
    pub SystemId, "system"
);

/// One step of a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SectionStep {
    /// Run a piece of code.
    Code(ChunkId),
    /// Solve a simultaneous system.
    Solve(SystemId),
}

/// Steps in order.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Section {
    /// In order.
    pub steps: Vec<SectionStep>,
    /// The same with systems solved in place where that is possible, else nothing. Its results are not finite where one of
    /// these systems is singular.
    pub in_place: Vec<SectionStep>,
}

impl Section {
    /// What is run as long as no system that is solved in place is singular.
    pub fn usual(&self) -> &[SectionStep] {
        if self.in_place.is_empty() { &self.steps } else { &self.in_place }
    }
}

impl From<Vec<SectionStep>> for Section {
    fn from(steps: Vec<SectionStep>) -> Self {
        Self { steps, in_place: Vec::new() }
    }
}

impl<'a> IntoIterator for &'a Section {
    type Item = &'a SectionStep;
    type IntoIter = std::slice::Iter<'a, SectionStep>;

    fn into_iter(self) -> Self::IntoIter {
        self.steps.iter()
    }
}

impl std::ops::Deref for Section {
    type Target = [SectionStep];

    fn deref(&self) -> &[SectionStep] {
        &self.steps
    }
}

/// What is run when. Sections hold what the header of the crate says.
#[derive(Clone, Default, Debug)]
pub struct Sections {
    /// Parameters and what depends on them alone.
    pub parameters: Section,
    /// Start values that are not literals.
    pub starts: Section,
    /// When samples begin, and how often they are.
    pub samples: Section,
    /// The initial problem.
    pub initial: Section,
    /// The right-hand side.
    pub dynamics: Section,
    /// All that holds at an event.
    pub events: Section,
    /// What only results show.
    pub outputs: Section,
    /// The arguments of delays and transports, which are the end of `outputs` too.
    pub histories: Section,
    /// A whole step of inline integration.
    pub inline: Section,
    /// Conditions and values of actions.
    pub actions: Section,
    /// Conditions of assertions, between events.
    pub assertions: Section,
    /// The actions of initial sections.
    pub initial_actions: Section,
}

/// A simultaneous system: `residuals` and `jacobian` of the program evaluate it at the values of the iteration
/// variables in memory.
#[derive(Clone, Debug)]
pub struct System {
    /// How it can be solved.
    pub kind: SystemKind,
    /// All unknowns.
    pub unknowns: Vec<VarId>,
    /// The unknowns that are iterated; the others follow from them.
    pub iteration: Vec<VarId>,
    /// The addresses of the iteration variables.
    pub slots: Vec<Address>,
    /// The equation of each residual.
    pub equations: Vec<EqId>,
    /// Inner assignments and residuals.
    pub residuals: ChunkId,
    /// Discrete unknowns of a mixed system and the code that computes them once the continuous part is solved.
    pub discrete: Vec<VarId>,
    /// The equations of the discrete unknowns.
    pub discrete_equations: Vec<EqId>,
    /// The code that computes them.
    pub discrete_code: Option<ChunkId>,
    /// The rising edge of a discrete unknown decides about discrete unknowns: a when clause whose condition depends on what it
    /// assigns.
    pub has_own_edge: bool,
    /// The relations its code updates when memory is live, and the code of their residues.
    pub relations: Vec<RelationId>,
    pub(crate) residues: Option<ChunkId>,
    /// Where the Jacobian of the residuals has entries.
    pub pattern: Pattern,
    pub(crate) jacobian: JacobianCode,
    pub(crate) tangent: Option<ChunkId>,
}

/// How the Jacobian of a system is evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JacobianCode {
    /// One piece of code writes every entry of the pattern to the output area.
    Entries(ChunkId),
    /// Code that maps a direction of the iteration variables to one of the residuals, run for each column.
    Directions(ChunkId),
}

/// The places of the entries of a sparse matrix, by columns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pattern {
    /// How many rows there are.
    pub rows: u32,
    /// Where each column starts in `row_of`; one more than there are columns.
    pub column_starts: Vec<u32>,
    /// The row of each entry.
    pub row_of: Vec<u32>,
}

impl Pattern {
    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.column_starts.len().saturating_sub(1)
    }

    /// How many entries there are.
    pub fn entries(&self) -> usize {
        self.row_of.len()
    }

    /// The rows of a column.
    pub fn column(&self, column: usize) -> &[u32] {
        &self.row_of[self.column_starts[column] as usize..self.column_starts[column + 1] as usize]
    }

    /// The pattern with these rows in each column.
    pub fn from_columns(rows: usize, columns: &[Vec<u32>]) -> Self {
        let mut pattern = Pattern { rows: rows as u32, column_starts: vec![0], row_of: Vec::new() };
        for column in columns {
            pattern.row_of.extend(column);
            pattern.column_starts.push(pattern.row_of.len() as u32);
        }
        pattern
    }

    /// The pattern of a full matrix.
    pub fn dense(rows: usize, columns: usize) -> Self {
        let column: Vec<u32> = (0..rows as u32).collect();
        Self::from_columns(rows, &vec![column; columns])
    }
}

/// One crossing function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Root {
    /// Whose crossing it is.
    pub relation: RelationId,
    /// Which of its bounds is crossed.
    pub side: Side,
}

/// Which bound of a relation is crossed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// left − right of a comparison.
    Residue,
    /// argument − the smallest value that rounds to the state; an event when it falls below zero (for `ceil`: to zero).
    Lower,
    /// argument − the first value above that does not round to the state.
    Upper,
}

/// Where a state lies, and its derivative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateSlots {
    /// The state.
    pub variable: VarId,
    /// Its address.
    pub value: Address,
    /// The address of its derivative.
    pub derivative: Address,
}

/// What a step of inline integration is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InlineSlots {
    /// The length of the step.
    pub step: Address,
    /// One for each state.
    pub base: Vec<Address>,
}

/// The code of a model in one structure.
pub struct Program {
    /// What the program was made from.
    pub schedule: Schedule,
    /// Where everything lies.
    pub layout: Layout,
    /// What is run when.
    pub sections: Sections,
    /// The simultaneous systems.
    pub systems: IdVec<SystemId, System>,
    /// In the order of the integrator's vector.
    pub states: Vec<StateSlots>,
    /// Where the section `inline` finds what it needs.
    pub inline: Option<InlineSlots>,
    /// The right-hand side with its simultaneous systems taken apart; `None` where it has none.
    pub implicit: Option<Implicit>,
    /// Crossing functions of relations that depend on continuous variables, in the order of `roots`.
    pub roots: Vec<Root>,
    /// Relations whose next crossing `time_events` computes.
    pub time_relations: Vec<RelationId>,
    /// Where ∂ẋ/∂x has entries, and groups of columns that are evaluated together.
    pub ode_pattern: Pattern,
    /// Groups of columns that are evaluated together.
    pub ode_colours: Vec<Vec<u32>>,
    /// Which columns change during a run.
    pub ode_varying: Vec<bool>,
    /// The tangents of `dynamics`, step for step.
    pub(crate) tangent_steps: Vec<SectionStep>,
    /// Which addresses depend on states, inputs or time.
    pub(crate) active: Vec<bool>,
    pub(crate) chunks: Arc<IdVec<ChunkId, Code>>,
    /// The chunks from here on are the code of functions.
    pub(crate) first_function: usize,
    pub(crate) machine: Arc<Machine>,
    pub(crate) pool: Pool,
    pub(crate) regions: Regions,
    pub(crate) length: usize,
    pub(crate) roots_code: ChunkId,
    pub(crate) time_code: ChunkId,
    pub(crate) slope_code: ChunkId,
    pub(crate) update_code: ChunkId,
    pub(crate) exact_code: ChunkId,
    pub(crate) pre_pairs: Vec<(Address, Address)>,
    pub(crate) defaults: crate::tuning::Defaults,
    /// The programs of its modes.
    pub modes: ModePrograms,
    /// Tangents of everything, once somebody asked for them.
    pub(crate) linear_form: std::sync::OnceLock<Result<Box<LinearForm>, Box<Diagnostic>>>,
}

impl Program {
    /// The program of a schedule.
    pub fn new(schedule: Schedule) -> Result<Self, Diagnostic> {
        build::build(schedule, None)
    }

    /// The program of a mode; `commons` are those of all modes of the model.
    pub fn of_mode(schedule: Schedule, commons: &Commons) -> Result<Self, Diagnostic> {
        build::build(schedule, Some(commons))
    }

    /// Makes machine code of everything that runs often, before it returns.
    pub fn compile(&self) {
        self.machine.compile(&self.machine_input());
    }

    /// The same in a thread of its own; the interpreter works until it is ready.
    pub fn compile_in_background(&self) {
        self.compile_later(self.machine_input());
    }

    /// The same of what solving a system takes, and nothing else.
    pub fn compile_system_in_background(&self, system: SystemId) {
        let order = self.chunks_of_system(system);
        self.compile_later(jit::Input { order, ..self.machine_input() });
    }

    /// Makes machine code of what has run often so far, in a thread of its own.
    pub fn compile_hot_in_background(&self) {
        // Modes are many, and most of them are left soon.
        let least = if self.schedule.mode.is_some() { jit::OFTEN_IN_MODES } else { jit::OFTEN };
        if !self.machine.is_any_hot(least) {
            return;
        }
        let mut input = self.machine_input();
        let has = |chunk: ChunkId| self.machine.has(chunk, &self.chunks[chunk]);
        input.order.retain(|&chunk| self.machine.take_hot(chunk, least) && !has(chunk));
        if !input.order.is_empty() {
            self.compile_later(input);
        }
    }

    fn compile_later(&self, input: jit::Input) {
        let machine = self.machine.clone();
        // Without a thread the interpreter does all the work.
        let _ = std::thread::Builder::new().name("compile".into()).spawn(move || machine.compile(&input));
    }

    /// Whether everything that runs often is machine code now.
    pub fn is_compiled(&self) -> bool {
        self.machine_input().order.iter().all(|&chunk| self.machine.has(chunk, &self.chunks[chunk]))
    }

    fn machine_input(&self) -> jit::Input {
        // Functions first, so that others can call them directly.
        let mut order: Vec<ChunkId> = (self.first_function..self.chunks.len()).map(Id::from_index).collect();
        let sections = &self.sections;
        let [dynamics, events, outputs] = [&sections.dynamics, &sections.events, &sections.outputs].map(Section::usual);
        let hot = [&sections.inline, dynamics, &self.tangent_steps, events, outputs, &sections.actions];
        for step in hot.into_iter().flatten() {
            match *step {
                SectionStep::Code(chunk) => order.push(chunk),
                SectionStep::Solve(system) => {
                    let system = &self.systems[system];
                    let (JacobianCode::Entries(jacobian) | JacobianCode::Directions(jacobian)) = system.jacobian;
                    order.extend([system.residuals, jacobian]);
                    order.extend(system.tangent.into_iter().chain(system.discrete_code));
                }
            }
        }
        order.extend([self.roots_code, self.time_code, self.slope_code, self.exact_code]);
        let mut seen = rustc_hash::FxHashSet::default();
        order.retain(|&chunk| seen.insert(chunk));
        jit::Input {
            chunks: self.chunks.clone(),
            order,
            calls: self.pool.calls.as_slice().into(),
            constants: self.pool.constants.values.as_slice().into(),
            first_constant: self.regions.constants,
            frames: self.layout.fixed..self.regions.outputs,
            length: self.length,
        }
    }

    /// The functions without a derivative whose tangents the code asks for.
    pub(crate) fn differenced_functions(&self) -> Vec<String> {
        let model = self.model();
        let differenced = self.pool.calls.iter().filter(|entry| entry.tangent && entry.tangent_function.is_none());
        let name = |entry: &crate::lower::CallEntry| {
            let function = model.exprs.call_site(entry.site).function;
            model.functions.get(function).map(|function| function.name.to_string())
        };
        let mut names: Vec<String> = differenced.filter_map(name).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The model with everything that transformations added.
    pub fn model(&self) -> &Model {
        &self.schedule.model
    }

    /// Memory with literal values of parameters and start values in it.
    pub fn memory(&self) -> Memory {
        let mut memory = Memory {
            values: vec![0.0; self.length],
            strings: self.pool.strings.clone(),
            delays: self.layout.histories(),
            driven: Driven::default(),
            native: Arc::new(Mutex::new(Native::for_model(&self.schedule.model))),
            call_failure: None,
            scratch: Vec::new(),
        };
        let constants = self.regions.constants as usize;
        memory.values[constants..constants + self.pool.constants.values.len()]
            .copy_from_slice(&self.pool.constants.values);
        memory.set_lambda(1.0);
        build::first_values(self, &mut memory);
        memory
    }

    /// Runs one piece of code; fails when a result is not finite.
    pub fn run_chunk(&self, chunk: ChunkId, memory: &mut Memory) -> Result<(), Failure> {
        if self.try_chunk(chunk, memory) {
            return Ok(());
        }
        crate::culprit::run_again(self, &self.chunks[chunk], memory)
    }

    /// Why a section left something that is not finite at an address that is not checked, such as that of an action.
    pub fn explain(&self, section: &[SectionStep], address: Address, memory: &mut Memory) -> Failure {
        let writes = |step: &&SectionStep| match **step {
            SectionStep::Code(chunk) => self.chunks[chunk].ops.iter().any(|op| op.target() == Some(address)),
            SectionStep::Solve(_) => false,
        };
        match section.iter().find(writes) {
            Some(&SectionStep::Code(chunk)) => {
                crate::culprit::find_at(self, &self.chunks[chunk], memory, Some(address))
            }
            _ => Failure::unknown(),
        }
    }

    /// Whether a relation may have operands that are undefined although all variables are finite.
    pub fn has_partial_relations(&self) -> bool {
        self.layout.relations.values().any(|relation| self.is_partial(relation))
    }

    fn is_partial(&self, relation: &Relation) -> bool {
        relation.class != Class::Discrete && self.model().exprs.is_partial(relation.residue)
    }

    /// Whether an operand of a relation is undefined at the values in memory, in whatever branch it stands.
    pub fn has_undefined_relation(&self, memory: &mut Memory) -> bool {
        for (code, on_time) in [(self.roots_code, false), (self.time_code, true)] {
            self.execute(code, memory);
            let of_code =
                |relation: &&Relation| relation.class != Class::Discrete && (relation.class == Class::Time) == on_time;
            let relations = self.layout.relations.values().filter(of_code);
            let mut residues = relations.zip(&memory.values[self.regions.outputs as usize..]);
            if residues.any(|(relation, residue)| !residue.is_finite() && self.is_partial(relation)) {
                return true;
            }
        }
        false
    }

    /// Evaluates all that holds at an event with the relations as they are, at a point that is evaluated: fails where
    /// something that decides is undefined. Between events nobody looks at the operands of relations.
    pub fn check_conditions(&self, memory: &mut Memory) -> Result<(), Failure> {
        memory.set_live(false);
        let kept = memory.values.clone();
        let steps = self.sections.events.iter();
        let outcome = steps.into_iter().try_for_each(|step| match *step {
            SectionStep::Code(chunk) => self.run_chunk(chunk, memory),
            SectionStep::Solve(system) => self.run_chunk(self.systems[system].residuals, memory),
        });
        memory.values = kept;
        outcome
    }

    /// Whether all results are finite.
    fn try_chunk(&self, chunk: ChunkId, memory: &mut Memory) -> bool {
        let compiled = self.execute(chunk, memory);
        let code = &self.chunks[chunk];
        if compiled && code.kernel.is_none() && !code.outputs.is_empty() && memory.values[CHECK as usize] == 0.0 {
            return true;
        }
        // Zero times what is not finite is not zero; without an early end the loop has no branches.
        code.outputs.iter().fold(0.0, |sum, &output| sum + 0.0 * memory.values[output as usize]) == 0.0
    }

    /// Runs a section; `solve` is called for each simultaneous system and has to leave its solution in memory (the
    /// last thing it does is an evaluation of `residuals`, so that inner variables fit).
    pub fn run<E: From<Failure>>(
        &self,
        section: &[SectionStep],
        memory: &mut Memory,
        solve: &mut dyn FnMut(SystemId, &mut Memory) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = section;
        loop {
            rest = &rest[self.run_machine_code(rest, memory)..];
            let Some((step, others)) = rest.split_first() else { return Ok(()) };
            match *step {
                SectionStep::Code(chunk) => self.run_chunk(chunk, memory)?,
                SectionStep::Solve(system) => solve(system, memory)?,
            }
            rest = others;
        }
    }

    /// Runs the first steps as long as they are machine code and give finite results; how many that are.
    fn run_machine_code(&self, steps: &[SectionStep], memory: &mut Memory) -> usize {
        let (values, mut runtime) = Runtime::new(self, &self.pool.calls, memory);
        if values.len() < self.length {
            return 0;
        }
        // Code without results leaves it as it is.
        values[CHECK as usize] = 0.0;
        let mut finite = |step: &SectionStep| match *step {
            // Kernels do not look at their results.
            SectionStep::Code(chunk) if self.chunks[chunk].kernel.is_none() && self.machine.is_ready(chunk) => {
                self.machine.run(chunk, values, &mut runtime) && values[CHECK as usize] == 0.0
            }
            _ => false,
        };
        steps.iter().take_while(|step| finite(step)).count()
    }

    /// Evaluates inner variables and residuals at the iteration variables in memory.
    pub fn residuals(&self, system: SystemId, memory: &mut Memory, out: &mut [f64]) -> Result<(), Failure> {
        self.run_chunk(self.systems[system].residuals, memory)?;
        self.read_outputs(memory, out);
        Ok(())
    }

    /// The same, without the reason where there is none: to find that takes far longer, and iterations try many points.
    pub fn try_residuals(&self, system: SystemId, memory: &mut Memory, out: &mut [f64]) -> bool {
        let evaluated = self.try_chunk(self.systems[system].residuals, memory);
        self.read_outputs(memory, out);
        evaluated
    }

    pub(crate) fn read_outputs(&self, memory: &Memory, out: &mut [f64]) {
        let start = self.regions.outputs as usize;
        out.copy_from_slice(&memory.values[start..start + out.len()]);
    }

    /// The residues of a system's relations, at the solution in memory. One in a branch that is not active may be NaN.
    pub fn system_residues(&self, system: SystemId, memory: &mut Memory, out: &mut [f64]) {
        if let Some(code) = self.systems[system].residues {
            self.execute(code, memory);
            self.read_outputs(memory, out);
        }
    }

    /// Evaluates every crossing function. One that cannot be evaluated now (NaN) stands in a branch that is not active.
    pub fn crossings(&self, memory: &mut Memory, out: &mut [f64]) {
        self.execute(self.roots_code, memory);
        let mut output = self.regions.outputs as usize;
        for (k, root) in self.roots.iter().enumerate() {
            let value = memory.values[output];
            let relation = &self.layout.relations[root.relation];
            let state = memory.values[relation.state as usize];
            out[k] = match relation.kind {
                RelationKind::Compare { .. } => value,
                RelationKind::Round { rounding, .. } => {
                    let (lower, upper) = bounds(rounding, state);
                    value - if root.side == Side::Lower { lower } else { upper }
                }
            };
            if root.side != Side::Lower {
                output += 1;
            }
        }
    }

    /// The residues of the comparisons that are not discrete, in the order of their ids. One that cannot be evaluated now (NaN)
    /// stands in a branch that is not active.
    pub fn comparison_residues(&self, memory: &mut Memory, out: &mut Vec<f64>) {
        let compares = |relation: &Relation| matches!(relation.kind, RelationKind::Compare { .. });
        let counts = |relation: &&Relation| relation.class != Class::Discrete && compares(relation);
        out.clear();
        out.resize(self.layout.relations.values().filter(counts).count(), f64::NAN);
        for (code, on_time) in [(self.roots_code, false), (self.time_code, true)] {
            self.execute(code, memory);
            let (mut place, mut output) = (0, self.regions.outputs as usize);
            for relation in self.layout.relations.values().filter(|relation| relation.class != Class::Discrete) {
                let is_here = (relation.class == Class::Time) == on_time;
                if is_here && compares(relation) {
                    out[place] = memory.values[output];
                }
                place += usize::from(compares(relation));
                output += usize::from(is_here);
            }
        }
    }

    /// Sets the state of every relation from its operands, whether or not the branch it stands in is active.
    pub fn update_relations(&self, memory: &mut Memory) {
        self.update(self.update_code, memory);
    }

    /// The same for relations between discrete values or on time alone, whose residues have no errors.
    pub fn update_exact_relations(&self, memory: &mut Memory) {
        self.update(self.exact_code, memory);
    }

    fn update(&self, code: ChunkId, memory: &mut Memory) {
        let live = memory.values[crate::layout::LIVE as usize];
        memory.set_live(true);
        self.execute(code, memory);
        memory.values[crate::layout::LIVE as usize] = live;
    }

    /// The value of a variable, aliases included.
    pub fn value(&self, memory: &Memory, variable: VarId) -> f64 {
        let place = self.layout.place(variable);
        let value = memory.values[place.slot as usize];
        if place.negated { self.negate(variable, value) } else { value }
    }

    /// Sets a variable, aliases included.
    pub fn set_value(&self, memory: &mut Memory, variable: VarId, value: f64) {
        let place = self.layout.place(variable);
        memory.values[place.slot as usize] = if place.negated { self.negate(variable, value) } else { value };
    }

    fn negate(&self, variable: VarId, value: f64) -> f64 {
        match self.model().variables[variable].ty {
            dae::VariableType::Boolean => crate::math::truth(value == 0.0),
            _ => -value,
        }
    }

    /// Copies the states from memory.
    pub fn read_states(&self, memory: &Memory, out: &mut [f64]) {
        for (state, value) in self.states.iter().zip(out) {
            *value = memory.values[state.value as usize];
        }
    }

    /// Copies the states to memory.
    pub fn write_states(&self, memory: &mut Memory, states: &[f64]) {
        for (state, &value) in self.states.iter().zip(states) {
            memory.values[state.value as usize] = value;
        }
    }

    /// Whether the states in memory are these, to the last bit.
    pub fn has_states(&self, memory: &Memory, states: &[f64]) -> bool {
        let mut pairs = self.states.iter().zip(states);
        pairs.all(|(state, value)| memory.values[state.value as usize].to_bits() == value.to_bits())
    }

    /// Copies the derivatives from memory.
    pub fn read_derivatives(&self, memory: &Memory, out: &mut [f64]) {
        for (state, value) in self.states.iter().zip(out) {
            *value = memory.values[state.derivative as usize];
        }
    }

    /// Left limits become the present values.
    pub fn save_pre(&self, memory: &mut Memory) {
        for &(slot, pre) in &self.pre_pairs {
            memory.values[pre as usize] = memory.values[slot as usize];
        }
    }

    /// Addresses of variables that differ from their left limits: the event iteration goes on while there are any
    /// discrete ones.
    pub fn changed(&self, memory: &Memory) -> impl Iterator<Item = Address> {
        self.pre_pairs
            .iter()
            .filter(|&&(slot, pre)| memory.values[slot as usize].to_bits() != memory.values[pre as usize].to_bits())
            .map(|&(slot, _)| slot)
    }

    /// Evaluates expressions of the model at the values in memory, by interpretation.
    pub fn evaluate(&self, expressions: &[ExprId], memory: &mut Memory) -> Result<Vec<f64>, Diagnostic> {
        let mut results = Vec::new();
        Probe::new(self, expressions, memory)?.run(self, memory, &mut results);
        Ok(results)
    }

    /// Calls a function for its effect, once. What it asserts has to hold.
    pub fn perform(&self, call: ExprId, memory: &mut Memory) -> Result<(), Diagnostic> {
        memory.call_failure = None;
        Probe::new(self, &[call], memory)?.as_written().run(self, memory, &mut Vec::new());
        match memory.call_failure.take() {
            Some(message) => Err(Diagnostic::error("evaluation-failed", message)),
            None => Ok(()),
        }
    }

    /// The text of a String expression, such as the message of an assertion.
    pub fn text(&self, expression: ExprId, memory: &mut Memory) -> Result<String, Diagnostic> {
        let values = self.evaluate(&[expression], memory)?;
        let text = values.first().and_then(|&value| memory.strings.get(value));
        Ok(text.map(|text| text.to_string()).unwrap_or_default())
    }

    /// The code of a section, one operation a line.
    pub fn print(&self, section: &[SectionStep]) -> String {
        let mut out = String::new();
        for step in section {
            match *step {
                SectionStep::Code(chunk) => out.push_str(&self.chunks[chunk].print()),
                SectionStep::Solve(system) => {
                    let _ = writeln!(out, "solve {system:?}");
                    out.push_str(&self.chunks[self.systems[system].residuals].print());
                }
            }
        }
        out
    }

    /// Runs one piece of code; whether that was machine code.
    pub(crate) fn execute(&self, chunk: ChunkId, memory: &mut Memory) -> bool {
        let (values, mut runtime) = Runtime::new(self, &self.pool.calls, memory);
        if values.len() >= self.length && self.machine.run(chunk, values, &mut runtime) {
            return true;
        }
        let code = &self.chunks[chunk];
        match &code.kernel {
            Some(kernel) => kernel.run(values, self.regions.constants, self.regions.temporaries),
            None => interpret::run(&code.ops, values, &mut runtime),
        }
        false
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.machine.cancel();
    }
}

/// The half-open interval of what rounds to `state`: an event is due when the argument leaves it.
pub fn bounds(rounding: Rounding, state: f64) -> (f64, f64) {
    match rounding {
        Rounding::Floor => (state, state + 1.0),
        Rounding::Ceil => (state - 1.0, state),
        Rounding::Truncate => {
            (if state > 0.0 { state } else { state - 1.0 }, if state < 0.0 { state } else { state + 1.0 })
        }
    }
}
