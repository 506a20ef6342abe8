//! Makes a `Program` from a `Schedule`: addresses, code of all sections, systems, crossing functions.

use std::sync::Arc;

use base::{Diagnostic, Id, IdVec};
use dae::differentiate::Differentiator;
use dae::tangent::real_inputs;
use dae::{ActionKind, Builtin, ExprId, Exprs, Model, Node, Variability, VariableType};
use transform::{Assignment, Block, EquationSystem, Role, Schedule, Timing};

use crate::code::{Address, ChunkId, Code, Kernel, OUTPUT, Op, StatementOrigin};
use crate::commons::{Commons, Shared};
use crate::differentiate::{Exact, Gradient, Seeds, differentiate};
use crate::eliminate::eliminate;
use crate::execution::literal;
use crate::family::{Family, Part, kernel, split};
use crate::in_place::OneUnknown;
use crate::jit::{Machine, Modules};
use crate::layout::{Class, Layout, Relation, RelationId, RelationKind, TIME, roots_of};
use crate::lookup::LookupCall;
use crate::lower::{LARGEST_INTEGER, Mode, Pool, Statement, inexact, is_exact, link, lower};
use crate::places::Places;
use crate::program::{
    Implicit, InlineSlots, JacobianCode, Program, Root, Section, SectionStep, Sections, Side, StateSlots, System,
    SystemId,
};
use crate::sparsity::{Dependencies, Pattern, colours, from_rows};
use crate::specialize::Specializer;
use crate::strings::Strings;
use crate::verify::verify;

const FROZEN: Mode = Mode { live: false, homotopy: false, branchless: false };
const LIVE: Mode = Mode { live: true, ..FROZEN };
const INITIAL: Mode = Mode { live: true, homotopy: true, ..FROZEN };

impl Program {
    /// The program of a schedule.
    pub fn new(schedule: Schedule) -> Result<Self, Diagnostic> {
        build(schedule, None)
    }

    /// The program of a mode; `commons` are those of all modes of the model.
    pub fn of_mode(schedule: Schedule, commons: &Commons) -> Result<Self, Diagnostic> {
        build(schedule, Some(commons))
    }
}

/// `commons` are those of all modes, where it is the program of one.
fn build(schedule: Schedule, commons: Option<&Commons>) -> Result<Program, Diagnostic> {
    let program = match commons {
        None => assemble(schedule, &mut Shared::default(), Arc::default()),
        Some(commons) => {
            let mut shared = commons.lock();
            let program = assemble(schedule, &mut shared, commons.modules.clone());
            if program.is_err() {
                // What was begun is not complete.
                *shared = Shared::common();
            }
            program
        }
    }?;
    debug_assert_eq!(verify(&program), Vec::<String>::new(), "the program is malformed");
    Ok(program)
}

fn assemble(mut schedule: Schedule, shared: &mut Shared, modules: Arc<Modules>) -> Result<Program, Diagnostic> {
    let layout = shared.layout(&mut schedule);
    let strings = std::mem::take(&mut shared.strings);
    let mut builder = Builder::new(&schedule, &layout, &mut *shared, strings);
    check_integers(builder.model)?;
    let sections = builder.sections()?;
    let (roots, roots_code) = builder.roots()?;
    let (time_relations, time_code, slope_code) = builder.time_relations()?;
    let update_code = builder.update(|_| true)?;
    let exact_code = builder.update(|class| class <= Class::Time)?;
    let discrete_code = builder.update(|class| class == Class::Discrete)?;
    let (tangent_steps, active) = builder.tangents(&sections.dynamics);
    let (ode_pattern, ode_varying) = builder.ode_pattern(&sections.dynamics);
    let implicit = builder.implicit(&sections.dynamics);
    let parts = builder.finish();
    let mut program = parts.program(schedule, layout, sections, (tangent_steps, active), shared, modules);
    program.implicit = implicit;
    (program.roots, program.roots_code) = (roots, roots_code);
    (program.time_relations, program.time_code, program.slope_code) = (time_relations, time_code, slope_code);
    (program.update_code, program.exact_code, program.discrete_code) = (update_code, exact_code, discrete_code);
    program.ode_colours = colours(&ode_pattern, &ode_varying);
    (program.ode_pattern, program.ode_varying) = (ode_pattern, ode_varying);
    Ok(program)
}

/// Code that is complete, but not at its final addresses.
pub(crate) struct Parts {
    pool: Pool,
    chunks: IdVec<ChunkId, Code>,
    systems: IdVec<SystemId, System>,
    outputs: u32,
}

impl Parts {
    /// A program of this code, without crossing functions and what else depends on relations.
    pub fn program(
        self,
        mut schedule: Schedule,
        layout: Layout,
        sections: Sections,
        (tangent_steps, active): (Vec<SectionStep>, Vec<bool>),
        shared: &mut Shared,
        modules: Arc<Modules>,
    ) -> Program {
        let Parts { mut pool, mut chunks, systems, outputs } = self;
        let nothing = chunks.push(Code::default());
        derive_functions(&mut schedule.model, &mut pool);
        let first_function = chunks.len();
        specialize_functions(&mut schedule.model, &mut pool, &mut chunks, layout.fixed);
        let most = chunks.values().map(|code| code.temporaries).max().unwrap_or(0);
        let regions = shared.regions(layout.fixed + pool.frames, outputs, most);
        shared.constants.clone_from(&pool.constants);
        shared.strings.clone_from(&pool.strings);
        for code in chunks.values_mut() {
            link(code);
            code.relocate(&regions);
        }
        let entries = chunks.values().map(|code| shared.entry(code)).collect();
        let length = regions.constants as usize + pool.constants.values.len();
        let states: Vec<StateSlots> = (schedule.states.iter())
            .map(|state| StateSlots {
                variable: state.variable,
                value: layout.slot(state.variable),
                derivative: layout.slot(state.derivative),
            })
            .collect();
        let results = |code: &Code| code.kernel.is_some().then(|| Places::new(code.outputs.clone()));
        let inline = schedule.inline.as_ref().map(|inline| InlineSlots {
            step: layout.slot(inline.step),
            base: inline.base.iter().map(|&base| layout.slot(base)).collect(),
        });
        Program {
            pre_pairs: layout.pre_pairs(),
            schedule,
            layout,
            sections,
            systems,
            state_places: Places::new(states.iter().map(|state| state.value).collect()),
            derivative_places: Places::new(states.iter().map(|state| state.derivative).collect()),
            kernel_results: chunks.values().map(results).collect(),
            states,
            inline,
            implicit: None,
            roots: Vec::new(),
            time_relations: Vec::new(),
            first_function,
            machine: Arc::new(Machine::new(entries, modules)),
            chunks: Arc::new(chunks),
            pool,
            regions,
            length,
            roots_code: nothing,
            time_code: nothing,
            slope_code: nothing,
            ode_colours: Vec::new(),
            ode_pattern: Pattern::default(),
            ode_varying: Vec::new(),
            tangent_steps,
            active,
            update_code: nothing,
            exact_code: nothing,
            discrete_code: nothing,
            defaults: Default::default(),
            modes: Default::default(),
            linear_form: Default::default(),
            event_form: Default::default(),
            initial_form: Default::default(),
            whole_systems: Default::default(),
        }
    }
}

/// Whether the edge of an assigned variable, `b and not pre(b)`, is part of an assigned value.
fn has_own_edge(exprs: &Exprs, assignments: &[Assignment]) -> bool {
    let values: Vec<ExprId> = assignments.iter().map(|assignment| assignment.value).collect();
    let is_edge = |now: ExprId, not_before: ExprId| match (exprs.node(now), exprs.node(not_before)) {
        (Node::Var(now), Node::Not(before)) => {
            matches!(exprs.node(before), Node::Pre(of) if of == now)
                && assignments.iter().any(|assignment| assignment.variable == now)
        }
        _ => false,
    };
    exprs.postorder(&values).into_iter().any(|id| match exprs.node(id) {
        Node::And(a, b) => is_edge(a, b) || is_edge(b, a),
        _ => false,
    })
}

/// Tangents of the functions whose derivatives the code asks for.
fn derive_functions(model: &mut Model, pool: &mut Pool) {
    let mut differentiator = Differentiator::approximate();
    for entry in pool.calls.iter_mut().filter(|entry| entry.tangent) {
        let functions = &mut model.functions;
        // The scalars are the same, so nothing else has to know of derivatives of functions.
        let site = model.exprs.call_site(entry.site).clone();
        if let Some(plain) = differentiator.without_functions(functions, &site) {
            entry.site = model.exprs.site(plain);
        }
        let function = model.exprs.call_site(entry.site).function;
        entry.tangent_function = match differentiator.annotated_along_direction(functions, function) {
            Some((derivative, taken)) => Some((derivative, taken.into())),
            None => {
                let taken = functions.get(function).map(|function| real_inputs(function)).unwrap_or_default();
                differentiator.tangent(functions, function).ok().map(|tangent| (tangent, taken.into()))
            }
        };
    }
    for entry in &mut pool.calls {
        let site = model.exprs.call_site(entry.site);
        let tangent = entry.tangent_function.as_ref().filter(|_| entry.tangent);
        let is_known = !entry.tangent || tangent.is_some();
        let lookup = is_known.then(|| LookupCall::new(&model.functions, site, tangent)).flatten();
        entry.lookup = lookup.map(Arc::new);
    }
}

/// Code for the functions that can be made into code.
fn specialize_functions(model: &mut Model, pool: &mut Pool, chunks: &mut IdVec<ChunkId, Code>, frames: Address) {
    let (count, origin) = (pool.calls.len(), ExprId::from_index(0));
    let mut specializer = Specializer::new(&model.functions, &mut model.exprs, pool, chunks, frames, origin);
    for index in 0..count {
        let native = specializer.entry(index);
        specializer.pool.calls[index].native = native.map(Arc::new);
        if specializer.pool.calls[index].tangent && specializer.pool.calls[index].tangent_function.is_none() {
            let differenced = specializer.value_entry(index);
            specializer.pool.calls[index].differenced = differenced.map(Arc::new);
        }
    }
}

pub(crate) struct Builder<'a> {
    pub schedule: &'a Schedule,
    model: &'a Model,
    pub layout: &'a Layout,
    shared: &'a mut Shared,
    pool: Pool,
    chunks: IdVec<ChunkId, Code>,
    systems: IdVec<SystemId, System>,
    /// The code of each system with frozen relations, from which derivatives are made.
    frozen: IdVec<SystemId, Code>,
    /// The code of systems that are solved in place.
    in_place: rustc_hash::FxHashMap<SystemId, ChunkId>,
    /// The relation whose state lies at an address.
    relation_at: rustc_hash::FxHashMap<Address, RelationId>,
    /// The length of the output area.
    outputs: u32,
    /// Tangents are exact, or not a number.
    pub is_exact: bool,
}

impl<'a> Builder<'a> {
    /// Nothing is made yet. Texts keep the numbers that they have in `strings`.
    pub fn new(schedule: &'a Schedule, layout: &'a Layout, shared: &'a mut Shared, strings: Strings) -> Self {
        let constants = std::mem::take(&mut shared.constants);
        Self {
            schedule,
            model: &schedule.model,
            layout,
            shared,
            pool: Pool::with(constants, strings),
            chunks: IdVec::new(),
            systems: IdVec::new(),
            frozen: IdVec::new(),
            in_place: rustc_hash::FxHashMap::default(),
            relation_at: layout.relations.iter().map(|(id, relation)| (relation.state, id)).collect(),
            outputs: 0,
            is_exact: false,
        }
    }

    fn exact(&self) -> Option<Exact<'a>> {
        let delays = self.layout.delays.len() as u32;
        self.is_exact.then_some(Exact { delays, functions: &self.model.functions })
    }

    pub fn finish(self) -> Parts {
        Parts { pool: self.pool, chunks: self.chunks, systems: self.systems, outputs: self.outputs }
    }

    /// All blocks in order, with relations as they are.
    pub fn frozen_blocks(&mut self) -> Result<Vec<SectionStep>, Diagnostic> {
        self.sorted(&self.schedule.blocks, FROZEN)
    }

    /// The initial problem, with relations as they are.
    pub fn frozen_initial(&mut self) -> Result<Vec<SectionStep>, Diagnostic> {
        self.sorted(&self.schedule.initial, FROZEN)
    }

    /// The start values that are computed, with relations as they are.
    pub fn frozen_starts(&mut self) -> Result<Vec<SectionStep>, Diagnostic> {
        self.starts(FROZEN)
    }

    /// What happens at events besides the blocks, with relations as they are: values of reinit, instants of samples, and the
    /// residues of all relations at the addresses that `residue` gives.
    pub fn frozen_happenings(&mut self) -> Result<Vec<SectionStep>, Diagnostic> {
        let is_reinit = |kind: &ActionKind| matches!(kind, ActionKind::Reinit { .. });
        let statements = self.actions(&self.model.actions, &self.layout.actions, is_reinit);
        let mut steps = self.straight(&statements, FROZEN)?;
        steps.extend(self.samples(FROZEN)?);
        Ok(steps)
    }

    /// The residues of relations that do not change at events only.
    pub fn frozen_residues(&mut self, residue: impl Fn(RelationId) -> Address) -> Result<Vec<SectionStep>, Diagnostic> {
        let relations = self.layout.relations.iter().filter(|(_, relation)| relation.class >= Class::Time);
        let place = |(id, relation): (RelationId, &Relation)| {
            Statement::to_slot(residue(id), relation.residue, StatementOrigin::default())
        };
        let statements: Vec<Statement> = relations.map(place).collect();
        self.straight(&statements, FROZEN)
    }

    /// Expressions at addresses from `first` on, with relations as they are.
    pub fn frozen_expressions(
        &mut self,
        first: Address,
        expressions: &[ExprId],
    ) -> Result<Vec<SectionStep>, Diagnostic> {
        let place = |(k, &value): (Address, &ExprId)| Statement::to_slot(first + k, value, StatementOrigin::default());
        let statements: Vec<Statement> = (0..).zip(expressions).map(place).collect();
        self.straight(&statements, FROZEN)
    }

    pub fn frozen_assignments(&mut self, assignments: &[Assignment]) -> Result<Vec<SectionStep>, Diagnostic> {
        let statements: Vec<Statement> = assignments.iter().map(|assignment| self.statement(assignment)).collect();
        self.straight(&statements, FROZEN)
    }

    /// Follows what a step depends on; false where that takes too long.
    fn follow(&self, dependencies: &mut Dependencies, step: SectionStep) -> bool {
        match step {
            SectionStep::Code(chunk) => dependencies.follow(&self.chunks[chunk], &self.pool.calls),
            SectionStep::Solve(system) => {
                let System { slots, pattern, kind, .. } = &self.systems[system];
                let frozen = &self.frozen[system];
                dependencies.follow_system(frozen, &self.pool.calls, slots, pattern.rows, kind.matrix())
            }
        }
    }

    fn sections(&mut self) -> Result<Sections, Diagnostic> {
        let mut sections = Sections::default();
        let parameters = self.schedule.parameters.iter();
        let parameters: Vec<Statement> = parameters.map(|assignment| self.statement(assignment)).collect();
        // Relations among parameters are decided when these are computed.
        sections.parameters = self.straight(&parameters, LIVE)?.into();
        sections.starts = self.starts(LIVE)?.into();
        sections.samples = self.samples(LIVE)?.into();
        sections.initial = self.sorted(&self.schedule.initial, INITIAL)?.into();
        sections.histories = self.histories()?.into();
        self.blocks(&mut sections)?;
        if let Some(inline) = &self.schedule.inline {
            sections.inline = self.sorted(&inline.blocks, FROZEN)?.into();
        }
        let actions = &self.model.actions;
        let all = self.actions(actions, &self.layout.actions, |_| true);
        sections.actions = self.straight(&all, LIVE)?.into();
        let assertions = self.actions(actions, &self.layout.actions, |kind| matches!(kind, ActionKind::Assert { .. }));
        sections.assertions = self.straight(&assertions, FROZEN)?.into();
        let initial = self.actions(&self.model.initial_actions, &self.layout.initial_actions, |_| true);
        sections.initial_actions = self.straight(&initial, LIVE)?.into();
        Ok(sections)
    }

    /// Also what is no Real may come from an undefined number, such as `integer(log(x))`.
    fn statement(&self, assignment: &Assignment) -> Statement {
        Statement {
            target: self.layout.place(assignment.variable),
            value: assignment.value,
            origin: StatementOrigin { variable: Some(assignment.variable), equation: assignment.equation },
            checked: true,
        }
    }

    fn chunk(&mut self, statements: &[Statement], mode: Mode) -> Result<ChunkId, Diagnostic> {
        let code = self.lowered(statements, mode)?;
        Ok(self.chunks.push(code))
    }

    /// Expressions are the same in all modes, so that what was lowered for one is right for others.
    fn lowered(&mut self, statements: &[Statement], mode: Mode) -> Result<Code, Diagnostic> {
        if let Some(known) = self.shared.lowered(mode, statements) {
            return Ok(known);
        }
        let code = lower(self.model, self.layout, &mut self.pool, mode, statements)?;
        self.shared.keep(mode, statements, &code);
        Ok(code)
    }

    fn straight(&mut self, statements: &[Statement], mode: Mode) -> Result<Vec<SectionStep>, Diagnostic> {
        let mut section = Vec::new();
        if self.shared.does_without_families(statements) {
            self.plain(statements, mode, &mut section)?;
            return Ok(section);
        }
        for part in split(self.model, self.layout, mode, statements) {
            match part {
                Part::Family(family) => match self.family(&family, mode)? {
                    Some(chunk) => section.push(SectionStep::Code(chunk)),
                    None => self.plain(&family.members, mode, &mut section)?,
                },
                Part::Plain(statements) => self.plain(&statements, mode, &mut section)?,
            }
        }
        Ok(section)
    }

    fn plain(
        &mut self,
        statements: &[Statement],
        mode: Mode,
        section: &mut Vec<SectionStep>,
    ) -> Result<(), Diagnostic> {
        for part in self.shared.runs(statements) {
            section.push(SectionStep::Code(self.chunk(part, mode)?));
        }
        Ok(())
    }

    /// One kernel for statements of one shape.
    fn family(&mut self, family: &Family, mode: Mode) -> Result<Option<ChunkId>, Diagnostic> {
        let members = &family.members;
        let mode = Mode { branchless: true, ..mode };
        let first = lower(self.model, self.layout, &mut self.pool, mode, &members[..1])?;
        let Some(kernel) = kernel(family, &first) else { return Ok(None) };
        let checked = members.iter().filter(|member| member.checked);
        let code = Code {
            temporaries: kernel.scratch(),
            outputs: checked.map(|member| member.target.slot).collect(),
            statements: (0..).zip(members).map(|(k, member)| (k, member.origin)).collect(),
            kernel: Some(Arc::new(kernel)),
            ..Code::default()
        };
        Ok(Some(self.chunks.push(code)))
    }

    /// Start values that are not literals.
    fn starts(&mut self, mode: Mode) -> Result<Vec<SectionStep>, Diagnostic> {
        let mut statements = Vec::new();
        for (id, variable) in self.model.variables.iter() {
            let known = match self.schedule.roles.get(id) {
                Some(Role::Alias { .. }) => true,
                Some(Role::Constant | Role::Parameter) => variable.binding.is_some(),
                _ => false,
            };
            if let (false, Some(start)) = (known, variable.attributes.start)
                && literal(&self.model.exprs, start).is_none()
            {
                let origin = StatementOrigin { variable: Some(id), equation: None };
                // Before the initial problem is solved, parameters that it determines say nothing yet.
                let checked = !self.reads_open_parameters(start);
                statements.push(Statement { target: self.layout.place(id), value: start, origin, checked });
            }
        }
        self.straight(&statements, mode)
    }

    /// Whether an expression depends on parameters that have no value but are determined by the initial problem.
    fn reads_open_parameters(&self, expr: ExprId) -> bool {
        let is_open = |id: ExprId| match self.model.exprs.node(id) {
            Node::Var(variable) => {
                let declared = &self.model.variables[variable];
                declared.variability == Variability::Parameter && declared.binding.is_none()
            }
            _ => false,
        };
        self.model.exprs.postorder(&[expr]).into_iter().any(is_open)
    }

    fn samples(&mut self, mode: Mode) -> Result<Vec<SectionStep>, Diagnostic> {
        let mut statements = Vec::new();
        for sample in &self.layout.samples {
            statements.push(Statement::to_slot(sample.start_value, sample.start, StatementOrigin::default()));
            statements.push(Statement::to_slot(sample.interval_value, sample.interval, StatementOrigin::default()));
        }
        self.straight(&statements, mode)
    }

    /// What delays and transports remember, wherever they stand: one in a relation, a when clause or a branch that is not active
    /// remembers as well as one that is evaluated all the time.
    fn histories(&mut self) -> Result<Vec<SectionStep>, Diagnostic> {
        let exprs = &self.model.exprs;
        let run_time = roots_of(&self.schedule.blocks, &self.model.actions);
        let mut statements = Vec::new();
        let mut add = |slot: Address, value: ExprId| {
            statements.push(Statement::to_slot(slot, value, StatementOrigin::default()));
        };
        let mut transported = rustc_hash::FxHashSet::default();
        for id in exprs.postorder(&run_time) {
            let Node::Builtin(op, args) = exprs.node(id) else { continue };
            let arguments = exprs.arguments(args);
            if let (Builtin::Delay, Some(&number)) = (op, self.layout.delay_of.get(&id))
                && let [value, time, ref rest @ ..] = *arguments
            {
                let delay = &self.layout.delays[number as usize];
                add(delay.value, value);
                add(delay.time, time);
                add(delay.maximum, rest.first().copied().unwrap_or(time));
            }
            if let (Builtin::SpatialFirst | Builtin::SpatialSecond, Some(&number)) =
                (op, self.layout.transport_of.get(&args))
                && transported.insert(number)
            {
                let first = self.layout.transports[number as usize].arguments;
                (first..).zip(arguments).for_each(|(slot, &argument)| add(slot, argument));
            }
        }
        self.straight(&statements, FROZEN)
    }

    fn sorted(&mut self, blocks: &[Block], mode: Mode) -> Result<Vec<SectionStep>, Diagnostic> {
        let mut section = Vec::new();
        let mut pending = Vec::new();
        for block in blocks {
            match block {
                Block::Assign { assignment, .. } => pending.push(self.statement(assignment)),
                Block::System { system, .. } => {
                    section.extend(self.straight(&std::mem::take(&mut pending), mode)?);
                    section.push(SectionStep::Solve(self.system(system, mode)?));
                }
            }
        }
        section.extend(self.straight(&pending, mode)?);
        Ok(section)
    }

    /// Dynamics and outputs with frozen relations, events with live ones.
    fn blocks(&mut self, sections: &mut Sections) -> Result<(), Diagnostic> {
        // Without relations and discrete variables an event evaluates what is evaluated anyway.
        let smooth = self.layout.relations.is_empty()
            && self.schedule.blocks.iter().all(|block| match block {
                Block::Assign { timing, .. } | Block::System { timing, .. } => *timing != Timing::Event,
            });
        let mut runs: [(Vec<Statement>, Vec<SectionStep>); 3] = Default::default();
        let modes = [FROZEN, FROZEN, LIVE];
        for block in &self.schedule.blocks {
            let (assignment, system, timing) = match block {
                Block::Assign { assignment, timing } => (Some(assignment), None, *timing),
                Block::System { system, timing } => (None, Some(self.system(system, LIVE)?), *timing),
            };
            let takes_part = [timing == Timing::Continuous, timing == Timing::Output, !smooth];
            for k in (0..3).filter(|&k| takes_part[k]) {
                if let Some(assignment) = assignment {
                    let statement = self.statement(assignment);
                    runs[k].0.push(statement);
                }
                if let Some(system) = system {
                    let pending = std::mem::take(&mut runs[k].0);
                    let steps = self.straight(&pending, modes[k])?;
                    runs[k].1.extend(steps);
                    runs[k].1.push(SectionStep::Solve(system));
                }
            }
        }
        for (k, (pending, section)) in runs.iter_mut().enumerate() {
            section.extend(self.straight(pending, modes[k])?);
        }
        let [(_, dynamics), (_, mut outputs), (_, events)] = runs;
        let events = if smooth { [&dynamics[..], &outputs].concat() } else { events };
        outputs.extend_from_slice(&sections.histories);
        sections.dynamics = Section { in_place: self.in_place(&dynamics, false), steps: dynamics };
        sections.outputs = Section { in_place: self.in_place(&outputs, false), steps: outputs };
        sections.events = Section { in_place: self.in_place(&events, true), steps: events };
        Ok(())
    }

    /// The steps with systems of one unknown solved in place; nothing where there are none. Live relations have to be found
    /// together with the unknowns, so that systems with relations stay as they are there.
    fn in_place(&mut self, steps: &[SectionStep], live: bool) -> Vec<SectionStep> {
        let mut any = false;
        let zero = self.pool.constants.address(0.0);
        let mut solved = |step: &SectionStep| {
            let SectionStep::Solve(system) = *step else { return *step };
            let decides = !self.systems[system].relations.is_empty() || !self.systems[system].discrete.is_empty();
            let made = self.one_unknown(system, zero).filter(|_| !(live && decides)).map(|found| found.code());
            let Some(code) = made else { return *step };
            any = true;
            let code = eliminate(code, &self.pool.calls);
            SectionStep::Code(*self.in_place.entry(system).or_insert_with(|| self.chunks.push(code)))
        };
        let steps: Vec<SectionStep> = steps.iter().map(&mut solved).collect();
        if any { steps } else { Vec::new() }
    }

    /// A system that can be solved in place.
    fn one_unknown(&self, id: SystemId, zero: Address) -> Option<OneUnknown<'_>> {
        let system = &self.systems[id];
        let JacobianCode::Entries(coefficient) = system.jacobian else { return None };
        let [unknown] = *system.slots.as_slice() else { return None };
        let linear = system.kind.matrix().is_some() && system.pattern.entries() == 1;
        let found = OneUnknown { residual: &self.frozen[id], coefficient: &self.chunks[coefficient], unknown, zero };
        (linear && found.is_straight()).then_some(found)
    }

    fn system(&mut self, system: &EquationSystem, mode: Mode) -> Result<SystemId, Diagnostic> {
        let mut statements: Vec<Statement> = system.inner.iter().map(|assignment| self.statement(assignment)).collect();
        for (k, &value) in system.residuals.iter().enumerate() {
            let origin = StatementOrigin { variable: None, equation: system.residual_equations.get(k).copied() };
            statements.push(Statement { checked: true, ..Statement::to_slot(OUTPUT | k as u32, value, origin) });
        }
        let residuals = self.chunk(&statements, mode)?;
        let discrete: Vec<Statement> = system
            .discrete
            .iter()
            .map(|assignment| Statement { checked: false, ..self.statement(assignment) })
            .collect();
        let discrete_code = if discrete.is_empty() { None } else { Some(self.chunk(&discrete, mode)?) };
        let following_code = self.following(&discrete, mode)?;
        let has_relations =
            self.chunks[residuals].ops.iter().any(|op| matches!(op, Op::Relate { .. } | Op::Round { .. }));
        let frozen = if has_relations {
            self.lowered(&statements, Mode { live: false, ..mode })?
        } else {
            self.chunks[residuals].clone()
        };
        let relations = self.relations_of([Some(residuals), discrete_code]);
        let residues = self.residues(&relations, mode)?;
        let slots: Vec<Address> = system.iteration.iter().map(|&variable| self.layout.slot(variable)).collect();
        self.outputs = self.outputs.max(system.residuals.len() as u32);
        let (pattern, jacobian) = self.jacobian(&frozen, &slots, system.residuals.len());
        self.frozen.push(frozen);
        Ok(self.systems.push(System {
            kind: system.kind,
            unknowns: system.unknowns.clone(),
            iteration: system.iteration.clone(),
            slots,
            equations: system.residual_equations.clone(),
            residuals,
            discrete: system.discrete.iter().map(|assignment| assignment.variable).collect(),
            discrete_equations: system.discrete.iter().filter_map(|assignment| assignment.equation).collect(),
            discrete_code,
            following_code,
            has_own_edge: has_own_edge(&self.model.exprs, &system.discrete),
            relations,
            residues,
            pattern,
            jacobian,
            tangent: None,
        }))
    }

    /// The code of those discrete unknowns that follow from others without a relation, where some have one.
    fn following(&mut self, discrete: &[Statement], mode: Mode) -> Result<Option<ChunkId>, Diagnostic> {
        let mut following = Vec::new();
        for statement in discrete {
            let code = self.lowered(std::slice::from_ref(statement), mode)?;
            if !code.ops.iter().any(|op| matches!(op, Op::Relate { .. } | Op::Round { .. })) {
                following.push(*statement);
            }
        }
        let is_needed = !following.is_empty() && following.len() < discrete.len();
        is_needed.then(|| self.chunk(&following, mode)).transpose()
    }

    /// The relations that some pieces of code update.
    fn relations_of(&self, chunks: [Option<ChunkId>; 2]) -> Vec<RelationId> {
        let mut states = rustc_hash::FxHashSet::default();
        for op in chunks.into_iter().flatten().flat_map(|chunk| &self.chunks[chunk].ops) {
            if let Op::Relate { state, .. } | Op::Round { state, .. } = *op {
                states.insert(state);
            }
        }
        let mut relations: Vec<RelationId> =
            states.iter().filter_map(|state| self.relation_at.get(state)).copied().collect();
        relations.sort_unstable();
        relations
    }

    fn residues(&mut self, relations: &[RelationId], mode: Mode) -> Result<Option<ChunkId>, Diagnostic> {
        if relations.is_empty() {
            return Ok(None);
        }
        let statement = |(k, &id): (u32, &RelationId)| {
            Statement::to_slot(OUTPUT | k, self.layout.relations[id].residue, StatementOrigin::default())
        };
        let statements: Vec<Statement> = (0..).zip(relations).map(statement).collect();
        self.outputs = self.outputs.max(statements.len() as u32);
        self.chunk(&statements, Mode { live: false, ..mode }).map(Some)
    }

    /// Code for all entries at once where that stays small, else for one direction.
    fn jacobian(&mut self, frozen: &Code, slots: &[Address], rows: usize) -> (Pattern, JacobianCode) {
        let one = self.pool.constants.address(1.0);
        let seeds = (0..).zip(slots).map(|(k, &slot)| (slot, Gradient::from_slice(&[(k, one)]))).collect();
        let limit = 20_000 + 40 * frozen.ops.len();
        let exprs = &self.model.exprs;
        if let Some(mut made) = differentiate(frozen, &mut self.pool, exprs, Seeds::Given(seeds), limit) {
            let mut columns = vec![Vec::new(); slots.len()];
            let mut tangents = vec![Vec::new(); slots.len()];
            for row in 0..rows as u32 {
                for (column, tangent) in made.outputs.remove(&(OUTPUT | row)).unwrap_or_default() {
                    columns[column as usize].push(row);
                    tangents[column as usize].push(tangent);
                }
            }
            let origin = frozen.origins.last().copied();
            for (k, tangent) in (0..).zip(tangents.into_iter().flatten()) {
                origin.into_iter().for_each(|origin| made.output(&mut self.pool, k, Some(tangent), origin));
            }
            let pattern = Pattern::from_columns(rows, &columns);
            self.outputs = self.outputs.max(pattern.entries() as u32);
            let code = made.finish(&self.pool);
            return (pattern, JacobianCode::Entries(self.chunks.push(code)));
        }
        let mut active = vec![false; self.layout.tangible as usize];
        slots.iter().for_each(|&slot| active[slot as usize] = true);
        let code = self.direction(frozen, &mut active, rows);
        (Pattern::dense(rows, slots.len()), JacobianCode::Directions(self.chunks.push(code)))
    }

    /// The tangents of a system's residuals, to the output area.
    fn direction(&mut self, frozen: &Code, active: &mut [bool], rows: usize) -> Code {
        let seeds = Seeds::Memory { active, tangents: self.layout.tangents, exact: self.exact() };
        let made = differentiate(frozen, &mut self.pool, &self.model.exprs, seeds, usize::MAX);
        let (Some(mut made), Some(&origin)) = (made, frozen.origins.last()) else { return Code::default() };
        for row in 0..rows as u32 {
            let tangent = made.outputs.get(&(OUTPUT | row)).and_then(|gradient| gradient.first()).map(|part| part.1);
            made.output(&mut self.pool, row, tangent, origin);
        }
        made.finish(&self.pool)
    }

    /// Tangent code for every step of the dynamics that depends on states, inputs or time.
    fn tangents(&mut self, dynamics: &[SectionStep]) -> (Vec<SectionStep>, Vec<bool>) {
        let mut active = vec![false; self.layout.tangible as usize];
        active[TIME as usize] = true;
        for (variable, role) in self.schedule.roles.iter() {
            if matches!(role, Role::State { .. } | Role::Input) {
                active[self.layout.slot(variable) as usize] = true;
            }
        }
        (self.tangents_along(dynamics, &mut active), active)
    }

    /// Tangent code for every step that depends on active addresses; what such a step assigns becomes active.
    pub fn tangents_along(&mut self, steps: &[SectionStep], active: &mut [bool]) -> Vec<SectionStep> {
        let mut section = Vec::new();
        for &step in steps {
            match step {
                SectionStep::Code(chunk) => {
                    if let Some(kernel) = self.chunks[chunk].kernel.clone() {
                        section.extend(self.kernel_tangents(&kernel, active).map(SectionStep::Code));
                        continue;
                    }
                    let code = std::mem::take(&mut self.chunks[chunk]);
                    let seeds = Seeds::Memory { active, tangents: self.layout.tangents, exact: self.exact() };
                    let made = differentiate(&code, &mut self.pool, &self.model.exprs, seeds, usize::MAX);
                    self.chunks[chunk] = code;
                    let Some(made) = made.map(|made| made.finish(&self.pool)) else { continue };
                    if !made.ops.is_empty() {
                        section.push(SectionStep::Code(self.chunks.push(made)));
                    }
                }
                SectionStep::Solve(system) => {
                    let frozen = std::mem::take(&mut self.frozen[system]);
                    let mut depends = false;
                    let slots = std::mem::take(&mut self.systems[system].slots);
                    slots.iter().for_each(|&slot| active[slot as usize] = false);
                    for op in &frozen.ops {
                        op.for_each_source(|source| depends |= active.get(source as usize) == Some(&true));
                    }
                    if depends {
                        slots.iter().for_each(|&slot| active[slot as usize] = true);
                        let code = self.direction(&frozen, active, slots.len());
                        self.systems[system].tangent = Some(self.chunks.push(code));
                        section.push(step);
                    }
                    self.systems[system].slots = slots;
                    self.frozen[system] = frozen;
                }
            }
        }
        section
    }

    /// The tangents of a kernel. A hole counts as active where any of its addresses is; the tangents of the others stay
    /// zero in memory.
    fn kernel_tangents(&mut self, kernel: &Kernel, active: &mut [bool]) -> Option<ChunkId> {
        let is_active = |&address: &Address| active.get(address as usize) == Some(&true);
        let mut holes: Vec<bool> = (0..kernel.holes).map(|hole| kernel.row(hole).iter().any(is_active)).collect();
        let code = Code {
            ops: kernel.ops.clone(),
            origins: vec![ExprId::from_index(0); kernel.ops.len()],
            temporaries: kernel.temporaries,
            ..Code::default()
        };
        let seeds = Seeds::Memory { active: &mut holes, tangents: kernel.holes, exact: self.exact() };
        let made = differentiate(&code, &mut self.pool, &self.model.exprs, seeds, usize::MAX)?.finish(&self.pool);
        let (_, written) = kernel.usage();
        for hole in written {
            let depends = holes[hole as usize];
            for &address in kernel.row(hole) {
                if let Some(active) = active.get_mut(address as usize) {
                    *active = depends;
                }
            }
        }
        if made.ops.is_empty() {
            return None;
        }
        let kernel = kernel.with_tangents(made, self.layout.tangents);
        let code = Code { temporaries: kernel.scratch(), kernel: Some(Arc::new(kernel)), ..Code::default() };
        Some(self.chunks.push(code))
    }

    /// Which derivatives depend on which states; dense where that would take too long to find out.
    /// Also which columns change.
    fn ode_pattern(&self, dynamics: &[SectionStep]) -> (Pattern, Vec<bool>) {
        let states = &self.schedule.states;
        let values = states.iter().map(|state| self.layout.slot(state.variable));
        let mut dependencies = Dependencies::new(values, self.parameters());
        for &step in dynamics {
            if !self.follow(&mut dependencies, step) {
                return (Pattern::dense(states.len(), states.len()), vec![true; states.len()]);
            }
        }
        let derivative = |k: usize| dependencies.rows(self.layout.slot(states[k].derivative));
        (from_rows(states.len(), states.len(), derivative), dependencies.varying.clone())
    }

    /// Which addresses hold parameters.
    fn parameters(&self) -> Vec<bool> {
        let mut found = vec![false; self.layout.fixed as usize];
        for (variable, role) in self.schedule.roles.iter() {
            if matches!(role, Role::Constant | Role::Parameter) {
                found[self.layout.slot(variable) as usize] = true;
            }
        }
        found
    }

    /// The right-hand side with its systems taken apart. `None` where it has none, where one of them depends on no state,
    /// or where too much depends on too much.
    fn implicit(&self, dynamics: &[SectionStep]) -> Option<Implicit> {
        let systems: Vec<SystemId> = dynamics
            .iter()
            .filter_map(|step| match *step {
                SectionStep::Solve(system) => Some(system),
                SectionStep::Code(_) => None,
            })
            .collect();
        if systems.is_empty() || systems.iter().any(|&system| self.systems[system].tangent.is_none()) {
            return None;
        }
        let unknowns: Vec<Address> = systems.iter().flat_map(|&system| &self.systems[system].slots).copied().collect();
        let states = &self.schedule.states;
        let values = states.iter().map(|state| self.layout.slot(state.variable));
        let mut dependencies = Dependencies::new(values.chain(unknowns.iter().copied()), self.parameters());
        let mut residuals: Vec<Vec<u32>> = Vec::with_capacity(unknowns.len());
        for &step in dynamics {
            let within = match step {
                SectionStep::Code(chunk) => dependencies.follow(&self.chunks[chunk], &self.pool.calls),
                SectionStep::Solve(system) => {
                    let within = dependencies.follow(&self.frozen[system], &self.pool.calls);
                    let rows = 0..self.systems[system].pattern.rows;
                    residuals.extend(rows.map(|row| dependencies.output(row).to_vec()));
                    within
                }
            };
            if !within {
                return None;
            }
        }
        let size = states.len() + unknowns.len();
        let pattern = from_rows(size, size, |row| match row.checked_sub(states.len()) {
            Some(residual) => &residuals[residual],
            None => dependencies.rows(self.layout.slot(states[row].derivative)),
        });
        Some(Implicit { systems, unknowns, colours: colours(&pattern, &[]), pattern })
    }

    /// Conditions, values of reinit, asserted conditions. Calls for their effect are made where they are due, once.
    fn actions(
        &self,
        actions: &[dae::Action],
        slots: &[crate::layout::ActionSlots],
        wanted: impl Fn(&ActionKind) -> bool,
    ) -> Vec<Statement> {
        let mut statements = Vec::new();
        for (action, slots) in actions.iter().zip(slots).filter(|(action, _)| wanted(&action.kind)) {
            let value = match action.kind {
                ActionKind::Reinit { value, .. } => Some(value),
                ActionKind::Assert { holds, .. } => Some(holds),
                ActionKind::Call(_) | ActionKind::Terminate { .. } => None,
            };
            let origin = StatementOrigin::default();
            statements.extend(action.condition.map(|condition| Statement::to_slot(slots.active, condition, origin)));
            statements.extend(value.map(|value| Statement::to_slot(slots.value, value, origin)));
        }
        statements
    }

    fn roots(&mut self) -> Result<(Vec<Root>, ChunkId), Diagnostic> {
        let (mut roots, mut statements) = (Vec::new(), Vec::new());
        for (id, relation) in self.layout.relations.iter().filter(|(_, r)| r.class >= Class::Signal) {
            let value = relation.residue;
            let slot = OUTPUT | statements.len() as u32;
            statements.push(Statement::to_slot(slot, value, StatementOrigin::default()));
            match relation.kind {
                RelationKind::Compare { .. } => roots.push(Root { relation: id, side: Side::Residue }),
                RelationKind::Round { .. } => {
                    roots.push(Root { relation: id, side: Side::Lower });
                    roots.push(Root { relation: id, side: Side::Upper });
                }
            }
        }
        self.outputs = self.outputs.max(statements.len() as u32);
        Ok((roots, self.chunk(&statements, FROZEN)?))
    }

    /// Residues of relations in time, and their slopes.
    fn time_relations(&mut self) -> Result<(Vec<RelationId>, ChunkId, ChunkId), Diagnostic> {
        let (mut relations, mut statements) = (Vec::new(), Vec::new());
        for (id, relation) in self.layout.relations.iter().filter(|(_, r)| r.class == Class::Time) {
            let slot = OUTPUT | statements.len() as u32;
            statements.push(Statement::to_slot(slot, relation.residue, StatementOrigin::default()));
            relations.push(id);
        }
        self.outputs = self.outputs.max(statements.len() as u32);
        let chunk = self.chunk(&statements, FROZEN)?;
        let one = self.pool.constants.address(1.0);
        let seeds = Seeds::Given([(TIME, Gradient::from_slice(&[(0, one)]))].into_iter().collect());
        let made = differentiate(&self.chunks[chunk], &mut self.pool, &self.model.exprs, seeds, usize::MAX);
        let mut code = Code::default();
        if let Some(mut made) = made {
            for (k, statement) in (0..).zip(&statements) {
                let tangent = made.outputs.get(&(OUTPUT | k)).and_then(|gradient| gradient.first()).map(|part| part.1);
                made.output(&mut self.pool, k, tangent, statement.value);
            }
            code = made.finish(&self.pool);
        }
        Ok((relations, chunk, self.chunks.push(code)))
    }

    /// Code that updates the relations of some classes. Nobody reads their truth in the output area, but each has an address
    /// of its own there: `mod(time, 0.5)` is a rounding by itself and an operand of the relations behind it.
    fn update(&mut self, wanted: impl Fn(Class) -> bool) -> Result<ChunkId, Diagnostic> {
        let relations = self.layout.relations.values().filter(|relation| wanted(relation.class));
        let statements: Vec<Statement> = (0..)
            .zip(relations)
            .map(|(k, relation)| Statement::to_slot(OUTPUT | k, relation.expression, StatementOrigin::default()))
            .collect();
        self.outputs = self.outputs.max(statements.len() as u32);
        self.chunk(&statements, LIVE)
    }
}

/// Values of Integer variables that are literals must be exact at run time.
fn check_integers(model: &Model) -> Result<(), Diagnostic> {
    for variable in model.variables.values().filter(|variable| variable.ty == VariableType::Integer) {
        for value in [variable.binding, variable.attributes.start].into_iter().flatten() {
            let problem = match model.exprs.node(value) {
                Node::Integer(value) if !is_exact(value) => Some(inexact(value)),
                Node::Real(value) if value.abs() > LARGEST_INTEGER => Some(inexact(value as i64)),
                _ => None,
            };
            if let Some(problem) = problem {
                return Err(match variable.span {
                    Some(span) => problem.at(span, "declared here"),
                    None => problem,
                });
            }
        }
    }
    Ok(())
}
