//! A program: the code of a model and all that is needed to run it. Built by `build`, read by `simulate`.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock};

use base::{Diagnostic, Id, IdVec};
use dae::{EqId, Model, VarId};
use rustc_hash::FxHashMap;
use transform::modes::{Entry, Key};
use transform::{Schedule, SystemKind};

use crate::code::{Address, ChunkId, Code, Regions, Rounding};
use crate::commons::Commons;
use crate::jit;
use crate::jit::Machine;
use crate::layout::{Layout, RelationId};
use crate::lower::Pool;
use crate::memory::Memory;
use crate::places::Places;
use crate::sparsity::Pattern;

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
    /// The code of those that follow from others without a relation, where some have one.
    pub following_code: Option<ChunkId>,
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

/// The simultaneous systems of the right-hand side, taken apart.
#[derive(Clone, Debug)]
pub struct Implicit {
    /// In the order in which the right-hand side comes to them.
    pub systems: Vec<SystemId>,
    /// The iteration variables of the systems.
    pub unknowns: Vec<Address>,
    /// Where the derivatives and then the residuals depend on the states and then the unknowns.
    pub pattern: Pattern,
    /// Groups of columns that are evaluated together.
    pub(crate) colours: Vec<Vec<u32>>,
}

/// A program, or why the mode has none.
pub type ModeProgram = Result<Arc<Program>, Arc<[Diagnostic]>>;

/// Shared by all runs of a model. The lock is taken only where a mode is new to a run.
#[derive(Default)]
pub struct ModePrograms {
    pub(crate) commons: Commons,
    pub(crate) made: Mutex<FxHashMap<(Key, Entry), ModeProgram>>,
}

/// Tangents of everything. Made by [`Program::linear_form`].
pub struct LinearForm {
    /// Its section `dynamics` is the whole model.
    pub program: Arc<Program>,
    /// The tangents of the section `parameters`. Code that computes a parameter that can be set comes with its address.
    pub(crate) parameters: Vec<(ChunkId, Option<Address>)>,
    /// The tangents of start values, in the form of the initial problem.
    pub(crate) starts: Vec<ChunkId>,
    /// The values of what no memory of a run has: their tangents may be computed from them.
    pub(crate) own_values: Vec<ChunkId>,
    /// The parameters that the initial problem determines: their tangents are known from there.
    pub carried: Vec<VarId>,
    /// Functions without a derivative: tangents through them are differences.
    pub differenced: Vec<String>,
}

/// A linear form, once somebody asked for it.
pub(crate) type LinearFormCell = OnceLock<Result<Arc<LinearForm>, Box<Diagnostic>>>;

/// By system; `None` where it cannot be solved whole.
pub(crate) type WholeSystems = Mutex<FxHashMap<SystemId, Option<Arc<Program>>>>;

/// The values of parameters as the program was made with them.
type Defaults = OnceLock<Option<Box<Memory>>>;

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
    /// Where they lie, and their derivatives.
    pub(crate) state_places: Places,
    pub(crate) derivative_places: Places,
    /// What kernels compute, which do not look at it themselves.
    pub(crate) kernel_results: IdVec<ChunkId, Option<Places>>,
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
    /// The same for those that change at events only.
    pub(crate) discrete_code: ChunkId,
    /// Variables that have a left limit, and where that lies.
    pub pre_pairs: Vec<(Address, Address)>,
    pub(crate) defaults: Defaults,
    /// The programs of its modes.
    pub modes: ModePrograms,
    /// Tangents of everything, once somebody asked for them.
    pub(crate) linear_form: LinearFormCell,
    /// The same with tangents of left limits, for events.
    pub(crate) event_form: LinearFormCell,
    /// The tangents of the initial problem.
    pub(crate) initial_form: LinearFormCell,
    /// Programs in which a system is solved whole, where some run asked for it.
    pub(crate) whole_systems: WholeSystems,
}

impl Program {
    /// Makes machine code of everything that runs often, before it returns.
    pub fn compile(&self) {
        self.machine.compile(&self.machine_input());
    }

    /// The same in a thread of its own; the interpreter works until it is ready.
    pub fn compile_in_background(&self) {
        self.compile_later(self.machine_input());
    }

    /// Makes machine code of one chunk, before it returns.
    pub(crate) fn compile_chunk(&self, chunk: ChunkId) {
        self.machine.compile(&jit::Input { order: vec![chunk], ..self.machine_input() });
    }

    /// The same of what solving a system takes, and nothing else.
    pub fn compile_system_in_background(&self, system: SystemId) {
        let mut order = self.chunks_of_system(system);
        order.retain(|&chunk| self.machine.order(chunk));
        if order.is_empty() {
            return;
        }
        self.compile_later(jit::Input { order, ..self.machine_input() });
    }

    /// Makes machine code of what has run often so far, in a thread of its own.
    pub fn compile_hot_in_background(&self) {
        // Modes are many, and most of them are left soon.
        let least = if self.schedule.mode.is_some() { jit::OFTEN_IN_MODES } else { jit::OFTEN };
        let hot = self.machine.take_hot(least);
        if hot.is_empty() {
            return;
        }
        let mut input = self.machine_input();
        let has = |chunk: ChunkId| self.machine.has(chunk, &self.chunks[chunk]);
        input.order.retain(|&chunk| hot.contains(&chunk) && !has(chunk));
        if !input.order.is_empty() {
            self.compile_later(input);
        }
    }

    /// What finished runs of the program took so far: many short ones are worth machine code, too.
    pub fn time_spent(&self) -> std::time::Duration {
        self.machine.spent()
    }

    /// A run took so long.
    pub fn add_time_spent(&self, time: std::time::Duration) {
        self.machine.add_spent(time);
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
        order.extend([self.roots_code, self.time_code, self.slope_code, self.exact_code, self.discrete_code]);
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
