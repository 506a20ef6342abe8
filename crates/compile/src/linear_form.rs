//! The model with the tangents of all its variables along states, inputs and parameters.
//!
//! The code of a run has tangents of the right-hand side along states and inputs only, because integrators need no more.
//! Linearisation asks for the tangents of what results show as well, and along parameters. That code is made when somebody
//! first asks for it, as a program of its own in which everything fixed lies at the same addresses: values go from one memory
//! to the other as they are.
//!
//! Sensitivities ask for more: within an event left limits have tangents too, and values of `reinit` and residues of relations
//! are differentiated ([`Program::event_form`]); the first point comes from the initial problem ([`Program::initial_form`]).
//!
//! All blocks take part in the order of the schedule, with frozen relations, also those that are evaluated at events only: a
//! step source is constant between events, but its height is a parameter. What a when clause assigned keeps its value: `pre`
//! has no tangent, but in an event.

use std::sync::Arc;

use base::Diagnostic;
use dae::{ExprId, Model, VarId, VariableType};
use transform::{Block, Role, Schedule};

use crate::build::Builder;
use crate::code::{Address, ChunkId};
use crate::commons::Shared;
use crate::layout::{RelationId, TIME};
use crate::memory::Memory;
use crate::program::{LinearForm, LinearFormCell, Program, Section, SectionStep, Sections, SystemId};
use crate::whole::untear;

/// What a form is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The model between events.
    Point,
    /// The model within an event, with tangents of left limits.
    Event,
    /// The initial problem.
    Initial,
}

impl Program {
    /// The tangents of everything, made when they are first asked for.
    pub fn linear_form(&self) -> Result<&Arc<LinearForm>, Diagnostic> {
        made(&self.linear_form, self, Kind::Point)
    }

    /// The same where left limits (`pre`) have tangents too, with those of what happens at events: values of `reinit`, residues
    /// of relations, instants of samples.
    pub fn event_form(&self) -> Result<&Arc<LinearForm>, Diagnostic> {
        made(&self.event_form, self, Kind::Event)
    }

    /// The tangents of the initial problem, along parameters.
    pub fn initial_form(&self) -> Result<&Arc<LinearForm>, Diagnostic> {
        made(&self.initial_form, self, Kind::Initial)
    }

    /// Whether tangents along a parameter exist: it is a number that can be set.
    pub fn has_parameter_tangent(&self, variable: VarId) -> bool {
        self.model().variables[variable].ty == VariableType::Real && self.is_tunable(variable)
    }
}

fn made<'a>(cell: &'a LinearFormCell, program: &Program, kind: Kind) -> Result<&'a Arc<LinearForm>, Diagnostic> {
    let made = cell.get_or_init(|| build(program, kind).map(Arc::new).map_err(Box::new));
    made.as_ref().map_err(|diagnostic| (**diagnostic).clone())
}

/// A program with the layout of another one.
fn build(program: &Program, kind: Kind) -> Result<LinearForm, Diagnostic> {
    let mut schedule = program.schedule.clone();
    (schedule.modes, schedule.inline) = (None, None);
    let Schedule { model, blocks, initial, .. } = &mut schedule;
    let Model { exprs, variables, .. } = model;
    for block in blocks.iter_mut().chain(initial) {
        if let Block::System { system, .. } = block {
            // A torn form may lose digits, and what is solved whole for that in a run is not torn here either.
            untear(system, exprs, |variable| variables[variable].ty == VariableType::Real);
        }
    }
    let layout = match kind {
        Kind::Point => program.layout.clone(),
        Kind::Event | Kind::Initial => program.layout.with_all_tangents(),
    };
    let mut shared = Shared::default();
    let mut builder = Builder::new(&schedule, &layout, &mut shared, program.pool.strings.clone());
    builder.is_exact = true;
    let mut active = vec![false; layout.tangible as usize];
    active[TIME as usize] = kind != Kind::Initial;
    for (variable, role) in schedule.roles.iter() {
        let is_known = matches!(role, Role::State { .. } | Role::Input) && kind != Kind::Initial;
        active[layout.slot(variable) as usize] |= is_known || program.has_parameter_tangent(variable);
    }
    let carried = if kind == Kind::Event { initial_parameters(&schedule) } else { Vec::new() };
    carried.iter().for_each(|&parameter| active[layout.slot(parameter) as usize] = true);
    if kind != Kind::Point {
        program.pre_pairs.iter().for_each(|&(_, pre)| active[pre as usize] = true);
    }
    let parameters = builder.parameter_tangents(&mut active, |variable| program.has_parameter_tangent(variable))?;
    let mut starts = Vec::new();
    if kind == Kind::Initial {
        let steps = builder.frozen_starts()?;
        starts = chunks(builder.tangents_along(&steps, &mut active));
    }
    let mut steps = match kind {
        Kind::Point | Kind::Event => builder.frozen_blocks()?,
        Kind::Initial => builder.frozen_initial()?,
    };
    let mut own_values = Vec::new();
    if kind == Kind::Event {
        steps.extend(builder.frozen_happenings()?);
        let residues = builder.frozen_residues(|relation| layout.residue(relation))?;
        own_values = chunks(residues.clone());
        steps.extend(residues);
    }
    let tangent_steps = builder.tangents_along(&steps, &mut active);
    let parts = builder.finish();
    let sections = Sections { dynamics: Section::from(steps), ..Sections::default() };
    let made = parts.program(schedule, layout, sections, (tangent_steps, active), &mut shared, Arc::default());
    let differenced = made.differenced_functions();
    Ok(LinearForm { program: Arc::new(made), parameters, starts, own_values, carried, differenced })
}

/// A program with the layout of another one that computes nothing but some expressions, from all variables.
fn of_expressions(program: &Program, expressions: &[ExprId]) -> Result<ExpressionTangents, Diagnostic> {
    let mut schedule = program.schedule.clone();
    (schedule.modes, schedule.inline) = (None, None);
    let layout = program.layout.with_tangents_and(expressions.len());
    let first = layout.tangible - expressions.len() as Address;
    let mut shared = Shared::default();
    let mut builder = Builder::new(&schedule, &layout, &mut shared, program.pool.strings.clone());
    builder.is_exact = true;
    let mut active = vec![false; layout.tangible as usize];
    active[TIME as usize] = true;
    for (variable, declared) in schedule.model.variables.iter() {
        active[layout.slot(variable) as usize] |= declared.ty == VariableType::Real;
    }
    program.pre_pairs.iter().for_each(|&(slot, pre)| active[pre as usize] = active[slot as usize]);
    let steps = builder.frozen_expressions(first, expressions)?;
    let own_values = chunks(steps.clone());
    let tangent_steps = builder.tangents_along(&steps, &mut active);
    let parts = builder.finish();
    let sections = Sections { dynamics: Section::from(steps), ..Sections::default() };
    let made = parts.program(schedule, layout, sections, (tangent_steps, active), &mut shared, Arc::default());
    let differenced = made.differenced_functions();
    let (parameters, starts, carried) = (Vec::new(), Vec::new(), Vec::new());
    let form = LinearForm { program: Arc::new(made), parameters, starts, own_values, carried, differenced };
    Ok(ExpressionTangents { form: Arc::new(form), first, count: expressions.len() })
}

/// The tangents of some expressions, in which every variable has a direction of its own.
#[derive(Clone)]
pub struct ExpressionTangents {
    form: Arc<LinearForm>,
    first: Address,
    count: usize,
}

impl ExpressionTangents {
    /// Of expressions of the program's model; relations in them are frozen.
    pub fn new(program: &Program, expressions: &[ExprId]) -> Result<Self, Diagnostic> {
        of_expressions(program, expressions)
    }

    /// Memory to differentiate in.
    pub fn memory(&self) -> Memory {
        self.form.memory()
    }

    /// The tangents of the expressions at the point in the memory `from` of the program, along a direction that is given by
    /// addresses.
    pub fn along(&self, from: &mut Memory, own: &mut Memory, seeds: &[(Address, f64)], out: &mut Vec<f64>) {
        self.form.borrow(from, own);
        // There is nothing to solve.
        let mut nothing = |_: SystemId, _: &mut Memory, _: &mut [f64]| Ok::<(), std::convert::Infallible>(());
        let Ok(()) = self.form.tangents_from(own, seeds, false, &mut nothing);
        out.clear();
        out.extend((0..self.count as Address).map(|k| self.form.tangent_at(own, self.first + k)));
        self.form.give_back(from, own);
    }

    /// Functions without a derivative: tangents through them are differences.
    pub fn differenced(&self) -> &[String] {
        &self.form.differenced
    }
}

/// The parameters that the initial problem determines. A mode that is entered later has no such problem.
fn initial_parameters(schedule: &Schedule) -> Vec<VarId> {
    let model = &schedule.model;
    let is_free = |&variable: &VarId| {
        let is_parameter = matches!(schedule.roles.get(variable), Some(Role::Parameter));
        let is_real = model.variables[variable].ty == VariableType::Real;
        is_parameter && is_real && schedule.free.get(variable) == Some(&true)
    };
    let is_computed = |variable: &VarId| schedule.parameters.iter().any(|known| known.variable == *variable);
    model.variables.ids().filter(is_free).filter(|variable| !is_computed(variable)).collect()
}

fn chunks(steps: Vec<SectionStep>) -> Vec<ChunkId> {
    let chunk = |step| match step {
        SectionStep::Code(chunk) => Some(chunk),
        SectionStep::Solve(_) => None,
    };
    steps.into_iter().filter_map(chunk).collect()
}

impl LinearForm {
    /// Memory to differentiate in.
    pub fn memory(&self) -> Memory {
        self.program.memory()
    }

    /// Takes over values from the memory of a run, at a point that is evaluated. Texts and the past of delays are lent;
    /// [`give_back`](Self::give_back) returns them.
    pub fn borrow(&self, from: &mut Memory, to: &mut Memory) {
        let known = self.program.layout.tangents as usize;
        let known = known.min(from.values.len());
        to.values[..known].copy_from_slice(&from.values[..known]);
        self.lend(from, to);
    }

    /// Lends texts and the past of delays alone, for a point whose values were taken over before.
    pub fn lend(&self, from: &mut Memory, to: &mut Memory) {
        to.native = from.native.clone();
        std::mem::swap(&mut from.strings, &mut to.strings);
        std::mem::swap(&mut from.delays, &mut to.delays);
        self.own_values.iter().for_each(|&chunk| _ = self.program.execute(chunk, to));
    }

    /// Gives back what was lent.
    pub fn give_back(&self, from: &mut Memory, to: &mut Memory) {
        std::mem::swap(&mut from.strings, &mut to.strings);
        std::mem::swap(&mut from.delays, &mut to.delays);
    }

    /// Tangents of everything along a direction: variables that are states, inputs or parameters with the components of the
    /// direction. `solve` replaces the right-hand side b by the solution of J·d = b, where J is the Jacobian of the system at
    /// the point in memory. A parameter that is computed follows the others, unless it is part of the direction.
    pub fn tangents<E>(
        &self,
        memory: &mut Memory,
        direction: &[(VarId, f64)],
        solve: &mut dyn FnMut(SystemId, &mut Memory, &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let layout = &self.program.layout;
        let mut has_parameters = false;
        let seeds: Vec<(Address, f64)> = (direction.iter())
            .map(|&(variable, value)| {
                let place = layout.place(variable);
                let role = self.program.schedule.roles.get(variable);
                has_parameters |= !matches!(role, Some(Role::State { .. } | Role::Input));
                (place.slot, if place.negated { -value } else { value })
            })
            .collect();
        self.tangents_from(memory, &seeds, has_parameters, solve)
    }

    /// The same along a direction that is given by addresses.
    pub fn tangents_from<E>(
        &self,
        memory: &mut Memory,
        seeds: &[(Address, f64)],
        has_parameters: bool,
        solve: &mut dyn FnMut(SystemId, &mut Memory, &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let layout = &self.program.layout;
        let tangents = layout.tangents as usize..(layout.tangents + layout.tangible) as usize;
        memory.values[tangents].fill(0.0);
        // A variable and its alias are one direction.
        for &(slot, value) in seeds {
            memory.values[(layout.tangents + slot) as usize] += value;
        }
        for &(chunk, own) in self.parameters.iter().filter(|_| has_parameters) {
            self.program.execute(chunk, memory);
            // What is set is not computed.
            if let Some((slot, value)) = own.and_then(|own| seeds.iter().find(|(slot, _)| *slot == own)) {
                memory.values[(layout.tangents + slot) as usize] = *value;
            }
        }
        self.starts.iter().for_each(|&chunk| _ = self.program.execute(chunk, memory));
        self.program.tangents(memory, solve)
    }

    /// The tangent of what lies at an address, after [`tangents_from`](Self::tangents_from).
    pub fn tangent_at(&self, memory: &Memory, slot: Address) -> f64 {
        self.program.tangent_at(memory, slot)
    }

    /// The tangent of the residue of a relation, in the form of events.
    pub fn residue_tangent(&self, memory: &Memory, relation: RelationId) -> f64 {
        self.program.tangent_at(memory, self.program.layout.residue(relation))
    }

    /// The residue of a relation, in the form of events.
    pub fn residue(&self, memory: &Memory, relation: RelationId) -> f64 {
        memory.values[self.program.layout.residue(relation) as usize]
    }

    /// The tangent of a variable along the direction of the last call of [`tangents`](Self::tangents).
    pub fn tangent(&self, memory: &Memory, variable: VarId) -> f64 {
        self.program.tangent_value(memory, variable)
    }
}

impl Builder<'_> {
    /// The tangents of the parameters that are computed. One that can be set has code of its own.
    fn parameter_tangents(
        &mut self,
        active: &mut [bool],
        can_be_set: impl Fn(VarId) -> bool,
    ) -> Result<Vec<(ChunkId, Option<Address>)>, Diagnostic> {
        let mut made = Vec::new();
        let assignments = &self.schedule.parameters;
        for group in assignments.chunk_by(|a, b| !can_be_set(a.variable) && !can_be_set(b.variable)) {
            let steps = self.frozen_assignments(group)?;
            let own = group.first().map(|assignment| assignment.variable).filter(|&variable| can_be_set(variable));
            let own = own.map(|variable| self.layout.slot(variable));
            for step in self.tangents_along(&steps, active) {
                if let SectionStep::Code(chunk) = step {
                    made.push((chunk, own));
                }
            }
            if let Some(own) = own {
                active[own as usize] = true;
            }
        }
        Ok(made)
    }
}
