//! Sensitivities: the derivatives of a trajectory with respect to parameters, by forward differentiation of the model's own code.
//!
//! Between events the tangents s = ∂x/∂p of the states follow the variational equation ṡ = (∂f/∂x) s + ∂f/∂p along the
//! trajectory (`simulation::sensitivity` integrates it). At an event the instant itself moves with the parameters. All that
//! happens within it is linear in the tangents, so they go through every iteration of the event with its code
//! (`compile::LinearForm`), together with one more column: how everything moves with the instant. The instant follows from
//! the condition g = 0 that made the event, dt/dp = −(∂g/∂p) / (dg/dt), and then
//!
//!   s⁺ = ∂x⁺/∂p + (∂x⁺/∂t − f⁺) dt/dp,
//!
//! where x⁺ is what the event makes of the left limits (Rozenvasser, *General sensitivity equations of discontinuous systems*,
//! 1967; Galán, Feehery and Barton, *Parametric sensitivity functions for hybrid discrete/continuous systems*, 1999). What when
//! clauses assign is carried on by the tangents of left limits (`pre`). At the start tangents come from the initial problem.
//!
//! Where the structure changes, the tangents of all variables go from one mode to the next in terms that hold in both, and the
//! states behind a transition are what its restart makes of them (`modes::tangents`).

mod sides;

use std::sync::Arc;

use base::Diagnostic;
use compile::{Address, Program, RelationId, TIME};
use dae::{ActionKind, EquationRole, VarId};
use rustc_hash::FxHashMap;

use crate::clockwork::same_instant;
use crate::columns::root_of;
use crate::corners::Corners;
use crate::edges::{Edge, Edges};
use crate::exchange;
use crate::linear::{self, Linearizer};
use crate::machine::{Machine, Trouble};
use crate::modes::{self, Carried, CarriedTangents, Jump, ModeRuntime, RestartTangents, Switch};
use crate::variation::{Change, Variation};

/// What is to be differentiated.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SensitivityRequest {
    /// Real variables.
    pub of: Vec<VarId>,
    /// Real parameters that can be set.
    pub parameters: Vec<VarId>,
}

/// The derivatives of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SensitivityRows {
    /// For each row of the result and each variable the derivatives with respect to the parameters.
    pub values: Vec<f64>,
    /// Functions without a derivative that the model calls: what depends on them is a difference.
    pub differenced: Vec<String>,
}

/// The tangents of a run at an instant. Columns belong to the parameters; within an event the last one belongs to its instant.
#[derive(Clone)]
pub(crate) struct Sensitivities {
    request: Arc<SensitivityRequest>,
    /// Of the program in use.
    model: Linearizer,
    edges: Option<Edges>,
    corners: Option<Corners>,
    /// The integration between events, once it has begun.
    variation: Option<Variation>,
    /// Of the modes that were in use before.
    others: Vec<Other>,
    /// The tangents of the states.
    pub states: Vec<Vec<f64>>,
    /// The tangents of left limits, in the order of `Program::pre_pairs`.
    before: Vec<Vec<f64>>,
    /// The tangents of parameters that the initial problem determines.
    carried: Vec<Vec<f64>>,
    /// An event goes on, whose instant moves.
    moves: bool,
    /// The largest values of the states and of their derivatives so far, in the order of the states and of all modes.
    largest: Vec<Largest>,
    known_largest: FxHashMap<VarId, Largest>,
    /// The last event, or the start.
    since: f64,
    /// The slopes of residues by relation some time before the event at hand, where they are known.
    earlier: Vec<f64>,
    left: Left,
    /// The tangents of all variables at the left of what comes next within an event, by column.
    values: Vec<CarriedTangents>,
    /// Those before the last iteration, with its left limits.
    last: LastIteration,
    /// What positions have to move by in the restarts of the event at hand: the variable, and its tangent by column.
    moved: Vec<(VarId, Vec<f64>)>,
    /// When the trajectory was looked at last since the last event, and what was close to its edge then.
    pub last_look: Option<(f64, Vec<usize>)>,
    /// What rests on its edge since the last step although a parameter moves it, and changes nothing.
    resting: Vec<usize>,
    /// The conditions on their edges in the event at hand.
    on_edge: Vec<(Arc<Program>, Edge)>,
    /// The variables that are asked for, by what they are derivatives of.
    asked_for: Vec<(VarId, u32)>,
    /// What the variables that are asked for are in the structure in use: another one has other variables for derivatives.
    sources: Option<(Arc<Program>, Vec<Option<VarId>>)>,
    /// Why there are no derivatives from the event at hand on. What becomes of the event must not depend on it.
    failure: Option<Box<Diagnostic>>,
    /// How far the tangents have come.
    pub time: f64,
}

/// What belongs to a mode that is not in use.
#[derive(Clone)]
struct Other {
    model: Linearizer,
    edges: Option<Edges>,
    corners: Option<Corners>,
    variation: Option<Variation>,
}

/// The largest values so far.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Largest {
    pub value: f64,
    pub slope: f64,
    /// What rounding was seen to move the derivative by.
    pub noise: f64,
}

/// What an iteration of an event began with.
#[derive(Clone, Default)]
struct LastIteration {
    before: Vec<Vec<f64>>,
    values: Vec<CarriedTangents>,
}

/// What is known of an event before it is passed.
#[derive(Clone, Default)]
struct Left {
    /// The program before the event.
    program: Option<Arc<Program>>,
    /// The relations whose crossing makes the event.
    crossed: Vec<RelationId>,
    /// The tangents of residues by column and relation.
    residues: Vec<Vec<f64>>,
    /// The states of relations.
    signs: Vec<f64>,
    /// The residues of `Program::time_relations`.
    on_time: Vec<f64>,
    /// By sample that is due: the tangents of its instant.
    ticks: Vec<Vec<f64>>,
}

/// How often the tangents of a jump are computed anew because what they are computed from changes with them.
const MOST_ROUNDS: usize = 8;
/// Tangents that differ by less, relative to the largest of them, are the same.
const SAME: f64 = 1e-12;

/// Why there are no sensitivities.
pub(crate) fn refusal(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("no-sensitivity", message)
}

/// The same of an instant that the message names.
pub(crate) fn refused(message: impl Into<String>) -> Trouble {
    Trouble::Model(Box::new(refusal(message).names_time()))
}

impl Sensitivities {
    pub fn new(machine: &Machine, request: &Arc<SensitivityRequest>, start: f64) -> Result<Self, Box<Diagnostic>> {
        let program = &machine.program;
        for &variable in &request.of {
            linear::check_real(program, variable)?;
        }
        for &parameter in &request.parameters {
            linear::direction(machine, parameter)?;
            if !program.has_parameter_tangent(parameter) {
                let name = program.model().variable_name(parameter);
                return Err(Box::new(refusal(format!("`{name}` is no parameter that can be set"))));
            }
        }
        let columns = request.parameters.len() + 1;
        let model = Linearizer::within_events(program)?;
        Ok(Self {
            states: vec![vec![0.0; program.states.len()]; columns],
            before: vec![vec![0.0; program.pre_pairs.len()]; columns],
            carried: vec![vec![0.0; model.form().carried.len()]; columns],
            request: request.clone(),
            model,
            edges: None,
            corners: None,
            variation: None,
            others: Vec::new(),
            moves: false,
            largest: vec![Largest::default(); program.states.len()],
            known_largest: FxHashMap::default(),
            since: start,
            earlier: Vec::new(),
            left: Left::default(),
            values: Vec::new(),
            last: LastIteration::default(),
            moved: Vec::new(),
            last_look: None,
            resting: Vec::new(),
            on_edge: Vec::new(),
            sources: Some((program.clone(), request.of.iter().copied().map(Some).collect())),
            asked_for: request.of.iter().map(|&variable| root_of(program.model(), variable)).collect(),
            failure: None,
            time: start,
        })
    }

    /// Why there are no derivatives from here on, where that is so.
    pub fn failure(&self) -> Option<&Diagnostic> {
        self.failure.as_deref()
    }

    /// What when clauses assign in the iteration of a `reinit` has its tangents from the values before that, which the next
    /// iteration in modes does not have any more.
    pub fn pass_reinit(machine: &mut Machine) {
        let Some(mut known) = machine.sensitivities.take() else { return };
        let equations = machine.program.model().equations.values();
        if equations.clone().any(|equation| matches!(equation.role, EquationRole::When(_))) {
            let message = "`reinit` and equations of when clauses in a model whose structure changes: what they assign at one instant \
                           has no derivative that is known";
            known.fail(machine, Trouble::Model(Box::new(refusal(message))));
        }
        machine.sensitivities = Some(known);
    }

    /// There are no derivatives from here on, unless that is known already.
    pub fn fail(&mut self, machine: &Machine, trouble: Trouble) {
        if self.failure.is_none() {
            self.failure = Some(Box::new(trouble.diagnostic(machine.program.model())));
        }
    }

    /// Goes over to the program of a machine. The tangents of its states and left limits are to be set then.
    fn take_program(&mut self, machine: &Machine) -> Result<(), Trouble> {
        let program = &machine.program;
        if self.is_of(program) {
            return Ok(());
        }
        let new = match self.others.iter().position(|other| other.model.is_of(program)) {
            Some(place) => self.others.swap_remove(place),
            None => {
                let model = Linearizer::within_events(program).map_err(Trouble::Model)?;
                Other { model, edges: None, corners: None, variation: None }
            }
        };
        self.exchange_largest(program);
        let old = Other {
            model: std::mem::replace(&mut self.model, new.model),
            edges: std::mem::replace(&mut self.edges, new.edges),
            corners: std::mem::replace(&mut self.corners, new.corners),
            variation: std::mem::replace(&mut self.variation, new.variation),
        };
        self.resting.clear();
        self.last_look = None;
        let (new, known) = (self.model.form(), old.model.form());
        for carried in &mut self.carried {
            let tangent = |parameter| known.carried.iter().position(|it| it == parameter).map_or(0.0, |k| carried[k]);
            *carried = new.carried.iter().map(tangent).collect();
        }
        self.others.push(old);
        self.forget_course();
        self.states.iter_mut().for_each(|states| *states = vec![0.0; program.states.len()]);
        self.before.iter_mut().for_each(|before| *before = vec![0.0; program.pre_pairs.len()]);
        Ok(())
    }

    /// A state keeps how large it became, and how fast, in a mode that has it as well.
    fn exchange_largest(&mut self, program: &Program) {
        for (state, &largest) in self.model.program().schedule.states.iter().zip(&self.largest) {
            self.known_largest.insert(state.variable, largest);
        }
        let known = |state: &transform::State| self.known_largest.get(&state.variable).copied().unwrap_or_default();
        self.largest = program.schedule.states.iter().map(known).collect();
    }

    /// What comes next does not go on smoothly.
    pub fn forget_course(&mut self) {
        if let Some(variation) = &mut self.variation {
            variation.forget();
        }
    }

    /// Machine code of what runs often.
    pub fn speed_up(&self) {
        self.model.speed_up();
    }

    /// Whether it is made for a program.
    pub fn is_of(&self, program: &Arc<Program>) -> bool {
        self.model.is_of(program)
    }

    fn parameters(&self) -> usize {
        self.request.parameters.len()
    }

    /// The columns that count now: the instant has one within events only.
    fn columns(&self) -> usize {
        self.parameters() + usize::from(self.moves)
    }

    /// The direction of a parameter alone.
    fn parameter_seed(&self, program: &Program, column: usize) -> Option<(Address, f64)> {
        let place = program.layout.place(*self.request.parameters.get(column)?);
        Some((place.slot, if place.negated { -1.0 } else { 1.0 }))
    }

    /// The direction of a column, without states.
    fn base_seeds(&self, machine: &Machine, column: usize) -> Vec<(Address, f64)> {
        let program = &machine.program;
        let mut seeds: Vec<(Address, f64)> = self.parameter_seed(program, column).into_iter().collect();
        let limits = program.pre_pairs.iter().map(|&(_, before)| before);
        seeds.extend(limits.zip(self.before[column].iter().copied()));
        let carried = self.model.form().carried.iter().map(|&parameter| program.layout.slot(parameter));
        seeds.extend(carried.zip(self.carried[column].iter().copied()));
        if column == self.parameters() {
            let time = machine.memory.time();
            seeds.push((TIME, 1.0));
            // Jumps are passed within the event, and with them the side from which a slope counts.
            let behind = machine.memory.driven.has_bent(time);
            seeds.extend(machine.memory.driven.slopes(time, behind));
        }
        seeds
    }

    fn seeds(&self, machine: &Machine, column: usize) -> Vec<(Address, f64)> {
        let mut seeds = self.base_seeds(machine, column);
        let states = machine.program.states.iter().map(|state| state.value);
        seeds.extend(states.zip(self.states[column].iter().copied()));
        seeds
    }

    /// Follows each column at the point in memory, and hands the linearizer to `read`.
    fn follow(
        &mut self,
        machine: &mut Machine,
        mut read: impl FnMut(usize, &Linearizer) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let seeds: Vec<_> = (0..self.columns()).map(|column| self.seeds(machine, column)).collect();
        let parameters = self.parameters();
        self.model.at_point(machine, |linearizer| {
            for (column, seeds) in seeds.iter().enumerate() {
                linearizer.follow_from(seeds, column < parameters)?;
                read(column, linearizer)?;
            }
            Ok(())
        })
    }

    /// The integration between events, ready for the piece that begins where the tangents are.
    pub fn variation(&mut self, machine: &Machine) -> Result<&mut Variation, Trouble> {
        let mut variation = match self.variation.take() {
            Some(variation) => variation,
            None => Variation::new(machine, &self.model, self.parameters())?,
        };
        if !variation.is_ready() {
            let base = (0..self.parameters()).map(|column| self.base_seeds(machine, column)).collect();
            variation.begin(base, self.sizes(machine));
        }
        Ok(self.variation.insert(variation))
    }

    /// A step of the run begins.
    pub fn begin_step(&mut self) {
        self.variation.iter_mut().for_each(Variation::begin_step);
    }

    /// Tries a step to `end`; the error relative to what is allowed.
    pub fn try_step(&mut self, machine: &mut Machine, end: f64, tolerance: f64) -> Result<f64, Trouble> {
        let Some(mut variation) = self.variation.take() else { return Ok(f64::INFINITY) };
        let states = &self.states[..self.parameters()];
        let outcome = variation.step(machine, self.time, end, states, tolerance);
        self.variation = Some(variation);
        outcome
    }

    /// The step that was tried last counts.
    pub fn accept_step(&mut self, end: f64) {
        let parameters = self.parameters();
        if let Some(variation) = &mut self.variation {
            variation.accept(&mut self.states[..parameters]);
        }
        self.time = end;
    }

    /// The run goes on at `time`, which may lie inside of its last step.
    pub fn go_back(&mut self, time: f64) {
        let parameters = self.parameters();
        let Some(variation) = self.variation.as_mut().filter(|_| time < self.time) else { return };
        if let Some(states) = variation.inside(time) {
            self.states[..parameters].clone_from_slice(&states);
            self.time = time;
        }
        variation.go_back();
    }

    /// How derivatives change over the step that was tried last, at whose stages the states have these rates where they are known.
    pub fn change(&mut self, machine: &mut Machine, rates: Option<[Vec<f64>; 3]>) -> Result<Change, Trouble> {
        let Some(mut variation) = self.variation.take() else { return Err(refused("there is no step")) };
        let change = variation.change(machine, rates, |machine, length| self.along_time(machine, length));
        self.variation = Some(variation);
        change
    }

    /// How fast each state changes by itself.
    pub fn own_rates(&self) -> Vec<f64> {
        self.variation.as_ref().map(Variation::own_rates).unwrap_or_default()
    }

    /// What states of these sizes contribute to derivatives.
    pub fn reach(&self, sizes: &[f64]) -> Vec<f64> {
        self.variation.as_ref().map_or_else(|| vec![0.0; sizes.len()], |variation| variation.reach(sizes))
    }

    /// The sizes that errors are compared with: by parameter and state, what is asked for of a state beside its own size.
    pub fn sizes(&self, machine: &Machine) -> Vec<Vec<f64>> {
        let nominals: Vec<f64> = machine.program.states.iter().map(|state| machine.nominal(state.variable)).collect();
        let of_parameter = |&parameter: &VarId| {
            let value = machine.value(parameter).abs();
            let value = if value > 0.0 { value } else { 1.0 };
            nominals.iter().map(|nominal| nominal / value).collect()
        };
        self.request.parameters.iter().map(of_parameter).collect()
    }

    /// Appends the derivatives at the point in memory to the rows.
    pub fn write(&mut self, machine: &mut Machine, rows: &mut Vec<f64>) -> Result<(), Trouble> {
        let time = machine.memory.time();
        let inside = match &self.variation {
            Some(variation) if time < self.time && !same_instant(time, self.time) => variation.inside(time),
            _ => None,
        };
        let Some(mut states) = inside else { return self.write_here(machine, rows) };
        states.resize(self.states.len(), vec![0.0; machine.program.states.len()]);
        let newest = std::mem::replace(&mut self.states, states);
        let outcome = self.write_here(machine, rows);
        self.states = newest;
        outcome
    }

    fn write_here(&mut self, machine: &mut Machine, rows: &mut Vec<f64>) -> Result<(), Trouble> {
        let request = self.request.clone();
        let program = machine.program.clone();
        let of = self.sources_in(&program);
        let parameters = request.parameters.len();
        let mut row = vec![f64::NAN; of.len() * parameters];
        self.follow(machine, |column, linearizer| {
            for (place, &variable) in of.iter().enumerate().filter(|_| column < parameters) {
                let Some(variable) = variable else { continue };
                // A parameter is what it is asked to be, also where the run computes nothing from it.
                let own = request.parameters.get(column) == Some(&variable);
                row[place * parameters + column] = match own && program.has_parameter_tangent(variable) {
                    true => 1.0,
                    false => linearizer.slope(variable)?,
                };
            }
            Ok(())
        })?;
        rows.append(&mut row);
        Ok(())
    }

    /// The variables that are asked for in a structure; none for a derivative that it does not have.
    fn sources_in(&mut self, program: &Arc<Program>) -> Vec<Option<VarId>> {
        if let Some((_, sources)) = self.sources.as_ref().filter(|(known, _)| Arc::ptr_eq(known, program)) {
            return sources.clone();
        }
        let model = program.model();
        let find = |&(variable, order): &(VarId, u32)| match order {
            0 => Some(variable),
            _ => model.variables.ids().find(|&other| root_of(model, other) == (variable, order)),
        };
        let sources: Vec<Option<VarId>> = self.asked_for.iter().map(find).collect();
        self.sources = Some((program.clone(), sources.clone()));
        sources
    }

    /// The functions without a derivative that were met.
    pub fn differenced(&self) -> Vec<String> {
        let mut differenced = self.model.form().differenced.clone();
        differenced.extend(self.others.iter().flat_map(|other| other.model.form().differenced.iter().cloned()));
        differenced.sort();
        differenced.dedup();
        differenced
    }

    /// The tangents at the first point, once the initial problem is solved.
    fn begin(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let seeds: Vec<_> = (0..self.parameters()).map(|column| self.parameter_seed(program, column)).collect();
        let mut start = Linearizer::of_start(program).map_err(Trouble::Model)?;
        let Self { model, states, before, carried, request, .. } = self;
        start.at_point(machine, |linearizer| {
            for (column, seed) in seeds.iter().enumerate() {
                linearizer.follow_from(seed.as_slice(), true)?;
                for (tangent, state) in states[column].iter_mut().zip(&program.schedule.states) {
                    *tangent = linearizer.slope(state.variable)?;
                }
                let limits = before[column].iter_mut().zip(&program.pre_pairs);
                limits.for_each(|(tangent, &(slot, _))| *tangent = linearizer.tangent_at(slot));
                let determined = carried[column].iter_mut().zip(&model.form().carried);
                determined.for_each(|(tangent, &parameter)| {
                    *tangent = linearizer.tangent_at(program.layout.slot(parameter));
                });
                check_implied(program, linearizer, request.parameters[column])?;
            }
            Ok(())
        })
    }

    /// Goes with one iteration of an event: what was assigned is the next left limit, and what was set is a state. Notes the
    /// tangents of all variables where `places` tells where these are.
    fn iterate(&mut self, machine: &mut Machine, places: Option<&Carried>) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        if self.moves {
            self.note_ticks(machine)?;
        }
        self.look_at_edges(machine)?;
        let resets = resets(machine)?;
        let (mut before, mut states) = (self.before.clone(), self.states.clone());
        let mut values = Vec::new();
        self.follow(machine, |column, linearizer| {
            for &(place, address, sign) in &resets {
                states[column][place] = sign * linearizer.tangent_at(address);
            }
            for (tangent, &(slot, _)) in before[column].iter_mut().zip(&program.pre_pairs) {
                let reset = resets.iter().rev().find(|(place, ..)| program.states[*place].value == slot);
                *tangent = reset.map_or_else(|| linearizer.tangent_at(slot), |(place, ..)| states[column][*place]);
            }
            values.extend(places.map(|places| places.tangents(|address| linearizer.tangent_at(address))));
            Ok(())
        })?;
        let before = std::mem::replace(&mut self.before, before);
        self.states = states;
        if places.is_some() {
            self.last = LastIteration { before, values: std::mem::replace(&mut self.values, values) };
        }
        Ok(())
    }

    /// Takes note of conditions that stand on their edges in this iteration.
    fn look_at_edges(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let mut edges = match self.edges.take() {
            Some(edges) => edges,
            None => Edges::new(machine)?,
        };
        let is_known = self.moves && self.left.program.as_ref().is_some_and(|left| Arc::ptr_eq(left, program));
        let slopes = if is_known { self.left.residues[self.parameters()].clone() } else { Vec::new() };
        let found = edges.find(machine, &slopes, |machine| self.everything(machine));
        self.edges = Some(edges);
        let mut found = found?;
        found.extend(self.corners_within(machine)?);
        if !self.moves {
            let mut left = found.iter().flat_map(|edge| (0..self.parameters()).map(move |column| (edge, column)));
            if let Some((edge, column)) = left.find(|(edge, column)| edge.is_left(*column, 0.0)) {
                return Err(edge.refusal(program, self.request.parameters[column], machine.memory.time()));
            }
            return Ok(());
        }
        self.on_edge.extend(found.into_iter().map(|edge| (program.clone(), edge)));
        Ok(())
    }

    /// Where parameters move a condition away from its edge, what happens in the event has no derivative.
    fn check_edges(&self, machine: &Machine, shifts: &[f64]) -> Result<(), Trouble> {
        for (program, edge) in &self.on_edge {
            if let Some((column, _)) = shifts.iter().enumerate().find(|&(column, &shift)| edge.is_left(column, shift)) {
                return Err(edge.refusal(program, self.request.parameters[column], machine.memory.time()));
            }
        }
        Ok(())
    }

    /// The tangents of everything at the point in memory, by column and address.
    fn everything(&mut self, machine: &mut Machine) -> Result<Vec<Vec<f64>>, Trouble> {
        let mut all = vec![Vec::new(); self.columns()];
        let count = machine.program.layout.fixed;
        self.follow(machine, |column, linearizer| {
            all[column] = (0..count).map(|address| linearizer.tangent_at(address)).collect();
            Ok(())
        })?;
        Ok(all)
    }

    /// States were set after the last iteration, and everything that follows from them is evaluated.
    pub fn note_reset(&mut self, runtime: &mut ModeRuntime) {
        let ModeRuntime { machine, carried: Some(places), .. } = runtime else { return };
        if self.failure.is_some() {
            return;
        }
        let next = std::mem::replace(&mut self.before, self.last.before.clone());
        let mut values = Vec::new();
        let outcome = self.follow(machine, |_, linearizer| {
            values.push(places.tangents(|address| linearizer.tangent_at(address)));
            Ok(())
        });
        (self.before, self.values) = (next, values);
        outcome.unwrap_or_else(|trouble| self.fail(machine, trouble));
    }

    /// The last iteration is taken back: the next one begins where it began, with the discrete variables that it found.
    pub fn take_back(&mut self, places: Option<&Carried>) {
        let Some(places) = places else { return };
        for (values, before) in self.values.iter_mut().zip(&mut self.last.values) {
            places.take_discrete(before, values);
            std::mem::swap(values, before);
        }
    }

    /// Goes with the transition into the mode of a runtime, which stands at the right of it with the actions of the iteration
    /// evaluated. `jump` is what its restart did; `None` where the states are those at the left.
    pub fn pass_transition(&mut self, runtime: &mut ModeRuntime, jump: Option<&Jump>) {
        if self.failure.is_some() {
            return;
        }
        let outcome = self.restart(runtime, jump);
        let ModeRuntime { machine, carried, .. } = runtime;
        let outcome = outcome.and_then(|()| self.iterate(machine, carried.as_deref()));
        outcome.unwrap_or_else(|trouble| self.fail(machine, trouble));
    }

    /// Goes with an iteration of an event in the mode of a runtime that only confirms the one before it.
    pub fn follow_rest(&mut self, runtime: &mut ModeRuntime) {
        if self.failure.is_some() {
            return;
        }
        let ModeRuntime { machine, carried, .. } = runtime;
        self.iterate(machine, carried.as_deref()).unwrap_or_else(|trouble| self.fail(machine, trouble));
    }

    /// The tangents of states and left limits, from those of all variables at the left.
    fn restart(&mut self, runtime: &mut ModeRuntime, jump: Option<&Jump>) -> Result<(), Trouble> {
        let ModeRuntime { machine, carried, switch, .. } = runtime;
        let program = &machine.program.clone();
        let (Some(places), Some(switch)) = (carried, switch) else { return Ok(()) };
        self.take_program(machine)?;
        if self.values.len() < self.columns() {
            let time = base::Decimal(machine.memory.time());
            return Err(refused(format!(
                "the structure of the model changes at time {time} in a way that has no derivative"
            )));
        }
        let mut left = vec![vec![0.0; program.layout.fixed as usize]; self.columns()];
        for (column, left) in left.iter_mut().enumerate() {
            places.put_tangents(&self.values[column], |address, tangent| left[address as usize] = tangent);
            let limits = self.before[column].iter_mut().zip(&program.pre_pairs);
            limits.for_each(|(tangent, &(slot, _))| *tangent = left[slot as usize]);
        }
        self.take_states(machine, &left);
        let Some(jump) = jump else { return Ok(()) };
        let Switch { restart, tangents, .. } = switch;
        if restart.has_no_constraints() {
            return Ok(());
        }
        let made = match tangents {
            Some(made) => made,
            none => none.insert(Box::new(RestartTangents::new(restart, program).map_err(Trouble::Model)?)),
        };
        let mut pass = made.begin(restart, program, &mut machine.memory, jump)?;
        let mut right = left.clone();
        // What the restart reads besides what it moves (coefficients, discrete variables) follows from what it moves.
        for _ in 0..MOST_ROUNDS {
            let all = self.everything(machine)?;
            let mut change = 0.0f64;
            let mut moved: Vec<(VarId, Vec<f64>)> = Vec::new();
            for ((column, all), right) in all.into_iter().enumerate().zip(&mut right) {
                let found = pass.pass(restart, program, &mut machine.memory, &left[column], all)?;
                change = change.max(modes::distance(restart, program, right, &found.values));
                *right = found.values;
                for (place, (variable, size)) in found.moved.into_iter().enumerate() {
                    if column == 0 {
                        moved.push((variable, Vec::new()));
                    }
                    moved[place].1.push(size);
                }
            }
            self.take_states(machine, &right);
            if change <= SAME {
                self.moved.extend(moved);
                return Ok(());
            }
        }
        Err(refused(format!(
            "how values jump at time {} depends on the jump itself: its derivatives are not computed",
            base::Decimal(machine.memory.time())
        )))
    }

    /// Takes the tangents of the states, by address.
    fn take_states(&mut self, machine: &Machine, tangents: &[Vec<f64>]) {
        let program = &machine.program;
        for (k, state) in program.schedule.states.iter().enumerate() {
            // Of states that are exchanged, the candidate in use.
            let now = program.layout.place(exchange::state_now(machine, state.variable));
            let own = program.layout.place(state.variable);
            let sign = if now.negated == own.negated { 1.0 } else { -1.0 };
            for (states, tangents) in self.states.iter_mut().zip(tangents) {
                states[k] = sign * tangents[now.slot as usize];
            }
        }
    }

    /// Where the slopes of residues are looked at before an event at `time`: half a step earlier, behind the event before.
    pub fn before_event(&self, time: f64, step: f64) -> f64 {
        f64::max(time - 0.5 * step, self.since)
    }

    /// Notes the slopes of residues at the point in memory, before the event at hand.
    pub fn note_earlier(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let seeds = self.along(machine, &slopes(machine), 1.0);
        self.earlier = self.model.at_point(machine, |linearizer| {
            linearizer.follow_from(&seeds, false)?;
            Ok(program.layout.relations.ids().map(|relation| linearizer.residue(relation)).collect())
        })?;
        Ok(())
    }

    /// No slopes of residues are known before the event at hand.
    pub fn forget_earlier(&mut self) {
        self.earlier.clear();
    }

    /// Takes sizes of states and of their derivatives into account; the largest ones so far.
    pub fn note_largest(&mut self, states: &[f64], slopes: &[f64]) -> &[Largest] {
        for ((largest, value), slope) in self.largest.iter_mut().zip(states).zip(slopes) {
            (largest.value, largest.slope) = (largest.value.max(*value), largest.slope.max(*slope));
        }
        &self.largest
    }

    /// Takes into account that rounding moves the derivative of a state.
    pub fn note_noise(&mut self, state: usize, noise: f64) {
        self.largest[state].noise = self.largest[state].noise.max(noise);
    }

    /// The direction of time alone, between events.
    fn along_time(&self, machine: &Machine, time: f64) -> Vec<(Address, f64)> {
        let base = self.base_seeds(machine, self.parameters());
        let seeds = base.into_iter().map(|(address, slope)| (address, slope * time));
        seeds.filter(|&(_, slope)| slope != 0.0).collect()
    }

    /// The direction of states and time together, between events.
    fn along(&self, machine: &Machine, states: &[f64], time: f64) -> Vec<(Address, f64)> {
        let mut seeds = self.along_time(machine, time);
        seeds.extend(machine.program.states.iter().map(|state| state.value).zip(states.iter().copied()));
        seeds
    }

    /// How the derivatives of the states change with states and time together, at the point in memory.
    pub fn change_along(&mut self, machine: &mut Machine, states: &[f64], time: f64) -> Result<Vec<f64>, Trouble> {
        let program = &machine.program.clone();
        let seeds = self.along(machine, states, time);
        self.model.at_point(machine, |linearizer| {
            linearizer.follow_from(&seeds, false)?;
            Ok(program.states.iter().map(|state| linearizer.tangent_at(state.derivative)).collect())
        })
    }

    /// The event at hand begins: left limits are in memory. `crossed` are the relations whose crossing makes the event; `places`
    /// tells where the variables are that go over into other modes.
    pub fn enter(
        &mut self,
        machine: &mut Machine,
        crossed: Vec<RelationId>,
        places: Option<&Carried>,
    ) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let last = self.parameters();
        self.states[last] = slopes(machine);
        self.before[last].fill(0.0);
        self.carried[last].fill(0.0);
        self.moves = true;
        self.forget_course();
        let mut left = Left {
            residues: vec![vec![0.0; program.layout.relations.len()]; last + 1],
            signs: signs(machine),
            on_time: program.time_residues(&mut machine.memory),
            ticks: Vec::new(),
            program: Some(program.clone()),
            crossed,
        };
        let mut values = Vec::new();
        let mut before = self.before.clone();
        self.follow(machine, |column, linearizer| {
            for (relation, residue) in program.layout.relations.ids().zip(&mut left.residues[column]) {
                *residue = linearizer.residue(relation);
            }
            let limits = before[column].iter_mut().zip(&program.pre_pairs);
            limits.for_each(|(tangent, &(slot, _))| *tangent = linearizer.tangent_at(slot));
            values.extend(places.map(|places| places.tangents(|address| linearizer.tangent_at(address))));
            Ok(())
        })?;
        (self.before, self.left, self.values) = (before, left, values);
        self.moved.clear();
        self.on_edge.clear();
        self.check_causes(machine)
    }

    /// The tangents of the instants of samples that are due.
    fn note_ticks(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let values = &machine.memory.values;
        let due: Vec<_> = (program.layout.samples.iter()).filter(|s| values[s.flag as usize] != 0.0).collect();
        if !self.left.ticks.is_empty() || due.is_empty() {
            return Ok(());
        }
        let time = machine.memory.time();
        let count = |sample: &compile::Sample| {
            let (start, interval) = (values[sample.start_value as usize], values[sample.interval_value as usize]);
            ((time - start) / interval).round()
        };
        let counts: Vec<f64> = due.iter().map(|sample| count(sample)).collect();
        let mut ticks = vec![vec![0.0; self.columns()]; due.len()];
        self.follow(machine, |column, linearizer| {
            for ((sample, count), tick) in due.iter().zip(&counts).zip(&mut ticks) {
                let tangent = |address| linearizer.tangent_at(address);
                tick[column] = tangent(sample.start_value) + count * tangent(sample.interval_value);
            }
            Ok(())
        })?;
        self.left.ticks = ticks;
        Ok(())
    }

    /// A first tick at the start of the run comes too early if a parameter moves it.
    fn check_first_ticks(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        self.note_ticks(machine)?;
        let ticks = std::mem::take(&mut self.left.ticks);
        let column = (0..self.parameters()).find(|&column| ticks.iter().any(|tick| tick[column] != 0.0));
        let Some(column) = column else { return Ok(()) };
        let parameter = machine.program.model().variable_name(self.request.parameters[column]);
        Err(refused(format!(
            "a sample begins at time {}, the start of the run, and `{parameter}` moves it: with an earlier beginning its first tick \
             is not part of the run, and the trajectory has no derivative",
            base::Decimal(machine.memory.time())
        )))
    }

    /// The run begins in modes: the tangents of all variables at its first point.
    pub fn note_start(&mut self, runtime: &mut ModeRuntime) {
        self.last.before = self.before.clone();
        self.note_reset(runtime);
    }

    /// The event is over: the tangents at a fixed time follow from those at its instant. `tolerance` is that of the integration.
    pub fn leave(&mut self, machine: &mut Machine, tolerance: f64) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let last = self.parameters();
        let slope = |k: usize| machine.memory.values[program.states[k].derivative as usize];
        let jumps: Vec<f64> = (0..program.states.len())
            .map(|k| {
                let (moved, slope) = (self.states[last][k], slope(k));
                // Rounding alone is no jump.
                let jump = moved - slope;
                if jump.abs() <= 1e-11 * (moved.abs() + slope.abs()) { 0.0 } else { jump }
            })
            .collect();
        let assigned = self.assigned(machine);
        let positions = self.moved.iter().map(|(_, tangents)| tangents[last]);
        let matters =
            jumps.iter().copied().chain(assigned.iter().copied()).chain(positions).any(|change| change != 0.0);
        let shifts = match matters || !self.on_edge.is_empty() {
            true => self.shifts(machine, tolerance)?,
            false => vec![0.0; last],
        };
        self.check_edges(machine, &shifts)?;
        self.check_moved(machine, &shifts)?;
        for (column, &shift) in shifts.iter().enumerate().filter(|_| matters) {
            self.states[column].iter_mut().zip(&jumps).for_each(|(s, jump)| *s += jump * shift);
            self.before[column].iter_mut().zip(&assigned).for_each(|(s, change)| *s += change * shift);
        }
        (self.moves, self.since) = (false, machine.memory.time());
        self.last_look = None;
        self.states[last].fill(0.0);
        self.before[last].fill(0.0);
        Ok(())
    }

    /// A position that meets the constraint of a mode at the instant at which the mode is entered meets it as well where a
    /// parameter moves the instant. Where it does not, it would have to jump.
    fn check_moved(&self, machine: &Machine, shifts: &[f64]) -> Result<(), Trouble> {
        /// What tangents are integrated to, relative to their size.
        const ROUNDING: f64 = 1e-5;
        let last = self.parameters();
        for (variable, tangents) in &self.moved {
            let terms = |column: usize| (tangents[column], tangents[last] * shifts[column]);
            let jumps = |column: &usize| {
                let (own, with_instant) = terms(*column);
                (own + with_instant).abs() > ROUNDING * own.abs().max(with_instant.abs())
            };
            if let Some(column) = (0..last).find(jumps) {
                let model = machine.program.model();
                let (variable, parameter) =
                    (model.variable_name(*variable), model.variable_name(self.request.parameters[column]));
                return Err(refused(format!(
                    "at time {} a constraint begins that `{variable}` meets for this value of `{parameter}` alone: with \
                     another one it would have to jump, and the trajectory has no derivative there",
                    base::Decimal(machine.memory.time())
                )));
            }
        }
        Ok(())
    }

    /// How the values that stay until the next event move with the instant; zero for what is continuous.
    fn assigned(&self, machine: &Machine) -> Vec<f64> {
        let program = &machine.program;
        let last = &self.before[self.parameters()];
        let is_kept = |slot: Address| {
            let mut own = program.model().variables.ids().filter(|&id| program.layout.place(id).slot == slot);
            own.any(|id| matches!(program.schedule.roles.get(id), Some(transform::Role::Discrete)))
        };
        let kept = program.pre_pairs.iter().zip(last);
        kept.map(|(&(slot, _), &change)| if change != 0.0 && is_kept(slot) { change } else { 0.0 }).collect()
    }

    /// How the instant of the event moves with the parameters.
    fn shifts(&self, machine: &Machine, tolerance: f64) -> Result<Vec<f64>, Trouble> {
        let program = self.left.program.as_ref().unwrap_or(&machine.program);
        let last = self.parameters();
        let time = machine.memory.time();
        let mut causes: Vec<(String, Vec<f64>)> = Vec::new();
        let text =
            |relation: RelationId| program.model().expression_text(program.layout.relations[relation].expression);
        for (place, relation) in program.layout.relations.ids().enumerate() {
            if !self.left.crossed.contains(&relation) && !self.is_due(program, machine, relation) {
                continue;
            }
            let slope = self.left.residues[last][place];
            let shift = |column: usize| -self.left.residues[column][place] / slope;
            let shifts: Vec<f64> = (0..last).map(shift).collect();
            // A residue is known to the tolerance, its slope at the place where it touches zero to the root of that.
            let earlier = self.earlier.get(place).copied().unwrap_or(slope);
            let touches = slope.abs() <= tolerance.sqrt() * (earlier - slope).abs();
            if slope == 0.0 || touches || shifts.iter().any(|shift| !shift.is_finite()) {
                return Err(refused(format!(
                    "at time {} `{}` touches the value at which it changes without crossing it: the trajectory has no \
                     derivative there",
                    base::Decimal(time),
                    text(relation)
                )));
            }
            causes.push((text(relation), shifts));
        }
        causes.extend(self.left.ticks.iter().map(|tick| ("sample".to_owned(), tick[..last].to_vec())));
        if machine.memory.driven.has_jumped(time) {
            causes.push(("an input".to_owned(), vec![0.0; last]));
        }
        let Some((first, shifts)) = causes.first() else {
            let message = format!("how the instant of the event at time {} moves is not known", base::Decimal(time));
            return Err(refused(message));
        };
        for (other, others) in &causes[1..] {
            let differs = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-6 * a.abs().max(b.abs());
            if let Some(column) = shifts.iter().zip(others).position(differs) {
                let parameter = program.model().variable_name(self.request.parameters[column]);
                return Err(refused(format!(
                    "at time {} `{first}` and `{other}` change together, and `{parameter}` moves their instants apart: the \
                     trajectory has no derivative there",
                    base::Decimal(time)
                )));
            }
        }
        Ok(shifts.clone())
    }

    /// Whether a relation on time changes at the instant of the event. A when clause may have taken it back since then.
    fn is_due(&self, program: &Program, machine: &Machine, relation: RelationId) -> bool {
        /// Relative to the time.
        const SAME: f64 = 1e-9;
        let time = machine.memory.time();
        let Some(known) = program.time_relations.iter().position(|&known| known == relation) else { return false };
        let place = base::Id::index(relation);
        match program.layout.relations[relation].kind {
            compile::RelationKind::Compare { .. } => {
                let slope = self.left.residues[self.parameters()][place];
                slope != 0.0 && (self.left.on_time[known] / slope).abs() <= SAME * time.abs()
            }
            compile::RelationKind::Round { .. } => {
                // Another mode has other numbers for the same expressions.
                let layout = &machine.program.layout;
                let now = layout.relation(program.layout.relations[relation].expression);
                now.is_some_and(|now| machine.memory.values[now.state as usize] != self.left.signs[place])
            }
        }
    }

    /// The tangents of variables at the point in memory, by column.
    pub fn tangents(&mut self, machine: &mut Machine, of: &[VarId]) -> Result<Vec<Vec<f64>>, Trouble> {
        let mut found = vec![Vec::new(); self.columns()];
        self.follow(machine, |column, linearizer| {
            found[column] = of.iter().map(|&variable| linearizer.slope(variable)).collect::<Result<_, _>>()?;
            Ok(())
        })?;
        Ok(found)
    }
}

/// Initial conditions that others imply have to hold beside the value of a parameter as well.
fn check_implied(program: &Program, linearizer: &Linearizer, parameter: VarId) -> Result<(), Trouble> {
    /// Relative to the tangents of the variables in the condition.
    const ROUNDING: f64 = 1e-6;
    let model = program.model();
    for check in &program.schedule.initial_checks {
        let equation = &model.equations[check.equation];
        let variables = model.exprs.dependencies(&[equation.left, equation.right]).variables;
        let tangents = variables.iter().map(|&variable| linearizer.tangent_at(program.layout.slot(variable)).abs());
        let violation = linearizer.tangent_at(program.layout.slot(check.residual)).abs();
        if violation > ROUNDING * tangents.fold(0.0, f64::max) {
            let (condition, parameter) = (model.equation_text(check.equation), model.variable_name(parameter));
            let message = format!(
                "the initial condition `{condition}` agrees with the others for this value of `{parameter}` alone: with another \
                 one they contradict each other, and the trajectory has no derivative"
            );
            let hint = "leave one of the values open (`fixed = false`); it is then computed from the others";
            return Err(Trouble::Model(Box::new(refusal(message).hint(hint))));
        }
    }
    Ok(())
}

/// The derivatives of the states at the point in memory.
pub(crate) fn slopes(machine: &Machine) -> Vec<f64> {
    machine.program.states.iter().map(|state| machine.memory.values[state.derivative as usize]).collect()
}

fn signs(machine: &Machine) -> Vec<f64> {
    let relations = machine.program.layout.relations.values();
    relations.map(|relation| machine.memory.values[relation.state as usize]).collect()
}

/// What active actions set: the place of the state, the address of the value and its sign.
fn resets(machine: &Machine) -> Result<Vec<(usize, Address, f64)>, Trouble> {
    let program = &machine.program;
    let mut found = Vec::new();
    for (action, slots) in program.model().actions.iter().zip(&program.layout.actions) {
        let ActionKind::Reinit { state, .. } = action.kind else { continue };
        if machine.memory.values[slots.active as usize] == 0.0 {
            continue;
        }
        let place = program.layout.place(state);
        let known = program.states.iter().position(|known| known.value == place.slot);
        let Some(known) = known.filter(|_| program.schedule.state_sets.is_empty()) else {
            let name = program.model().variable_name(state);
            let message = format!(
                "`{name}` is set by reinit, and constraints tie it to the states: sensitivities do not go through that"
            );
            return Err(Trouble::Model(Box::new(refusal(message))));
        };
        found.push((known, slots.value, if place.negated { -1.0 } else { 1.0 }));
    }
    Ok(found)
}

/// Works on the tangents of a machine. What goes wrong is told where the event is over.
fn with(machine: &mut Machine, work: impl FnOnce(&mut Sensitivities, &mut Machine) -> Result<(), Trouble>) {
    let Some(mut sensitivities) = machine.sensitivities.take() else { return };
    if sensitivities.failure.is_none()
        && let Err(trouble) = work(&mut sensitivities, machine)
    {
        sensitivities.fail(machine, trouble);
    }
    machine.sensitivities = Some(sensitivities);
}

/// The initial problem is solved at the point in memory.
pub(crate) fn follow_initial(machine: &mut Machine) {
    with(machine, |sensitivities, machine| sensitivities.begin(machine));
}

/// An iteration of an event is evaluated; its actions have their values and are not carried out yet.
pub(crate) fn follow_iteration(machine: &mut Machine) {
    with(machine, |sensitivities, machine| {
        match sensitivities.moves {
            true => sensitivities.note_ticks(machine)?,
            false => sensitivities.check_first_ticks(machine)?,
        }
        sensitivities.iterate(machine, None)
    });
}
