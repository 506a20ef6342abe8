//! A run that begins where another one was: states and discrete variables have the values of a result, and neither start values
//! nor initial equations apply. What a result does not hold is found again: relations and conditions from the values, the
//! phase of clocks from the time at which the other run began.

use base::Diagnostic;
use compile::{Address, History, Probe, Program};
use dae::{Builtin, ExprId, Node, VarId, VariableType};
use rustc_hash::{FxHashMap, FxHashSet};
use transform::{Block, Role};

use crate::clockwork::{Clockwork, check_samples};
use crate::event_log::{Entry, Journal};
use crate::events::{self, Aftermath, Names};
use crate::exchange;
use crate::machine::{Machine, Phase, Trouble};

/// Functions whose values follow from more than their arguments.
const REMEMBERED: [Builtin; 11] = [
    Builtin::FloorEvent,
    Builtin::CeilEvent,
    Builtin::ModEvent,
    Builtin::DivEvent,
    Builtin::RemEvent,
    Builtin::Sample,
    Builtin::Initial,
    Builtin::Terminal,
    Builtin::Delay,
    Builtin::SpatialFirst,
    Builtin::SpatialSecond,
];

/// The values to begin with.
#[derive(Clone, PartialEq, Debug)]
pub struct StartPoint {
    values: Vec<(VarId, f64)>,
    /// When the other run began; `None` if the new one begins at another time than that of the values.
    begun: Option<f64>,
    /// What delays remember, by their expressions.
    pasts: Vec<(ExprId, Vec<(f64, f64)>)>,
}

/// The rows of a result up to the time at which another run begins.
pub struct Past<'a> {
    /// In terms of the new run.
    pub times: Vec<f64>,
    /// The value of a variable in a row.
    pub value: &'a dyn Fn(usize, VarId) -> Option<f64>,
}

/// What a result lacks.
#[derive(Clone, PartialEq, Debug)]
pub struct Lacking {
    /// States and discrete variables.
    pub variables: Vec<VarId>,
}

impl StartPoint {
    /// The values of a result at a time, which began at the time `begun`. Warnings say what is not in it and begins anew.
    pub fn new(
        program: &Program,
        value: impl Fn(VarId) -> Option<f64>,
        begun: Option<f64>,
        past: &Past,
    ) -> Result<(Self, Vec<Diagnostic>), Lacking> {
        let model = program.model();
        let free = determined_at_the_start(program);
        let is_wanted = |variable: &VarId| match program.schedule.roles[*variable] {
            Role::Constant | Role::Parameter => free.contains(variable),
            _ => true,
        };
        let known = |variable: VarId| Some((variable, value(variable)?));
        let values: Vec<(VarId, f64)> = model.variables.ids().filter(is_wanted).filter_map(known).collect();
        let slots: FxHashSet<Address> = values.iter().map(|(variable, _)| program.layout.slot(*variable)).collect();
        let missing = |variable: &VarId| !slots.contains(&program.layout.slot(*variable));
        let remembered = remembered(program);
        let variables: Vec<VarId> = states(program)
            .chain(remembered.iter().copied().filter(|&v| !model.variables[v].hidden))
            .filter(missing)
            .collect();
        if !variables.is_empty() {
            return Err(Lacking { variables });
        }
        let mut warnings = Vec::new();
        let mut warn = |message: String, hint: &str| {
            warnings.push(Diagnostic::warning("not-in-result", message).hint(hint).decides());
        };
        let mut pasts = Vec::new();
        for delay in &program.layout.delays {
            if let Some(points) = past.of(program, delay.expression) {
                pasts.push((delay.expression, points));
                continue;
            }
            let text = model.expression_text(delay.expression);
            warn(
                format!("the past of `{text}` is not in the result: before the start it is taken for constant"),
                "write all variables of what is delayed to the result",
            );
        }
        if !program.layout.transports.is_empty() {
            warn(
                "what is on its way through `spatialDistribution` is not in the result: it begins as at a first start"
                    .into(),
                "simulate from the beginning",
            );
        }
        let is_counter = |variable: &VarId| {
            let declared = &model.variables[*variable];
            declared.hidden && declared.ty != VariableType::Boolean
        };
        if remembered.iter().any(is_counter) {
            warn(
                "how far clocks have counted is not in the result: they begin to count, and what a clock integrates \
                 (`solverMethod`) begins with its start value at its next tick"
                    .into(),
                "simulate from the beginning",
            );
        }
        let object = model.variables.iter().find(|(_, declared)| declared.ty == VariableType::Object);
        if let Some((object, _)) = object {
            let name = model.variable_name(object);
            warn(
                format!("the state of the external object `{name}` is not in the result: it is made anew"),
                "simulate from the beginning, if it remembers more than what it was made with",
            );
        }
        let text = model.variables.iter().find(|(variable, declared)| {
            declared.ty == VariableType::String && matches!(program.schedule.roles[*variable], Role::Discrete)
        });
        if let Some((text, _)) = text {
            let name = model.variable_name(text);
            warn(
                format!("the String `{name}` is not in the result: it begins with its start value"),
                "simulate from the beginning",
            );
        }
        Ok((Self { values, begun, pasts }, warnings))
    }

    /// Puts the values into memory, also as left limits.
    fn put(&self, machine: &mut Machine) {
        let program = &machine.program.clone();
        let count = program.model().variables.len();
        for &(variable, value) in self.values.iter().filter(|(variable, _)| base::Id::index(*variable) < count) {
            program.set_value(&mut machine.memory, variable, value);
        }
        machine.memory.write_inputs();
        program.save_pre(&mut machine.memory);
    }

    /// Parameters, the rhythm of samples, and the values; relations follow from them.
    pub fn prepare(&self, machine: &mut Machine, time: f64) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        machine.memory.set_time(self.begun.unwrap_or(time));
        machine.run_parameters()?;
        machine.run(|sections| &sections.starts, Phase::Live)?;
        machine.systems.reset();
        self.put(machine);
        machine.run(|sections| &sections.samples, Phase::Live)?;
        check_samples(program, &machine.memory)?;
        machine.memory.set_time(time);
        self.put(machine);
        self.choose_states(machine)?;
        program.update_relations(&mut machine.memory);
        self.remember(machine);
        Ok(())
    }

    /// Gives delays their past. Two points at one time are the limits at an event.
    fn remember(&self, machine: &mut Machine) {
        let Machine { program, memory, .. } = machine;
        for (delay, history) in program.layout.delays.iter().zip(&mut memory.delays) {
            let known = self.pasts.iter().find(|(expression, _)| *expression == delay.expression);
            let (Some((_, points)), History::Past(buffer)) = (known, history) else { continue };
            let mut last = f64::NAN;
            for &(time, value) in points {
                if time == last {
                    buffer.pass_event(time);
                }
                buffer.record(time, value);
                last = time;
            }
        }
    }

    /// Of exchangeable states those are taken that determine the rest best.
    fn choose_states(&self, machine: &mut Machine) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        for set in &program.schedule.state_sets {
            let mut values = Vec::new();
            for entry in set.jacobian.iter().flatten() {
                let formula = entry.and_then(|variable| definition(program, variable));
                let value = match (entry, formula) {
                    (_, Some(formula)) => {
                        let found = program.evaluate(&[formula], &mut machine.memory);
                        let found = found.map_err(|diagnostic| Trouble::Model(Box::new(diagnostic)))?;
                        found.first().copied().unwrap_or(0.0)
                    }
                    // One that does not change is computed with the parameters.
                    (Some(variable), None) => machine.value(*variable),
                    (None, None) => 0.0,
                };
                values.push(value);
            }
            if let Some(best) = set.choose(&values) {
                let values = exchange::candidate_values(machine, set);
                exchange::take(program, machine, set, &best, &values);
            }
        }
        Ok(())
    }

    /// The instants that are known in advance; those of the time at hand are over if the other run had come to it.
    pub fn clockwork(&self, machine: &Machine, (time, stop): (f64, f64)) -> Clockwork {
        let mut clockwork = Clockwork::new(&machine.program, &machine.memory, time, stop);
        if self.begun.is_some() {
            clockwork.skip(time);
        }
        clockwork
    }

    /// Leaves memory at the first point, as `initial::initialise` does.
    pub fn begin(
        &self,
        machine: &mut Machine,
        names: &Names,
        (time, stop): (f64, f64),
        log: &mut Journal,
    ) -> Result<(Clockwork, Aftermath), Trouble> {
        self.prepare(machine, time)?;
        let program = &machine.program.clone();
        program.pass_event(&mut machine.memory);
        let mut clockwork = self.clockwork(machine, (time, stop));
        self.settle_conditions(machine)?;
        log.write(&Entry::Initialised { time });
        machine.systems.forget_factors(program);
        let aftermath = events::pass(machine, names, log, &mut clockwork, time, &mut events::Unwatched)?;
        program.take_arguments(&mut machine.memory);
        program.record_delays(&mut machine.memory);
        clockwork.begin_delays(machine);
        Ok((clockwork, aftermath))
    }

    /// What is true has not become true: conditions of when clauses are found from the values, and nothing that they would do
    /// stays.
    fn settle_conditions(&self, machine: &mut Machine) -> Result<(), Trouble> {
        const ROUNDS: usize = 3;
        for _ in 0..ROUNDS {
            machine.run(|sections| &sections.events, Phase::Live)?;
            self.put(machine);
        }
        Ok(())
    }
}

impl Past<'_> {
    /// The values of a delayed expression in all rows; `None` where they do not follow from the variables of the result.
    fn of(&self, program: &Program, delay: ExprId) -> Option<Vec<(f64, f64)>> {
        let exprs = &program.model().exprs;
        let Node::Builtin(_, arguments) = exprs.node(delay) else { return None };
        let delayed = *exprs.arguments(arguments).first()?;
        // What relations were in a row is not in the result, nor what delays inside gave.
        let is_plain = |&id: &ExprId| match exprs.node(id) {
            Node::Compare { event, .. } => !event,
            Node::Builtin(op, _) => !REMEMBERED.contains(&op),
            Node::Pre(_) | Node::Previous(_) | Node::Der(_) | Node::Call { .. } => false,
            _ => true,
        };
        if !exprs.postorder(&[delayed]).iter().all(is_plain) {
            return None;
        }
        let variables = exprs.dependencies(&[delayed]).variables;
        let mut memory = program.memory();
        let probe = Probe::new(program, &[delayed], &mut memory).ok()?;
        let (mut points, mut found) = (Vec::with_capacity(self.times.len()), Vec::new());
        for (row, &time) in self.times.iter().enumerate() {
            memory.set_time(time);
            for &variable in &variables {
                program.set_value(&mut memory, variable, (self.value)(row, variable)?);
            }
            probe.run(program, &mut memory, &mut found);
            points.push((time, found.first().copied().filter(|value| value.is_finite())?));
        }
        Some(points)
    }
}

/// The expression that a variable is assigned.
fn definition(program: &Program, variable: VarId) -> Option<dae::ExprId> {
    program.schedule.blocks.iter().find_map(|block| match block {
        Block::Assign { assignment, .. } if assignment.variable == variable => Some(assignment.value),
        _ => None,
    })
}

/// What the initial problem determines, parameters included.
fn determined_at_the_start(program: &Program) -> FxHashSet<VarId> {
    let of_block = |block: &Block| match block {
        Block::Assign { assignment, .. } => vec![assignment.variable],
        Block::System { system, .. } => {
            let assigned = system.inner.iter().chain(&system.discrete).map(|assignment| assignment.variable);
            assigned.chain(system.iteration.iter().copied()).collect()
        }
    };
    program.schedule.initial.iter().flat_map(of_block).collect()
}

/// The variables that are integrated, or may be.
fn states(program: &Program) -> impl Iterator<Item = VarId> + '_ {
    let sets = &program.schedule.state_sets;
    let exchanged = |variable: VarId| sets.iter().any(|set| set.states.contains(&variable));
    let states = program.states.iter().map(|state| state.variable).filter(move |&variable| !exchanged(variable));
    states.chain(sets.iter().flat_map(|set| set.candidates.iter().copied()))
}

/// Discrete variables whose values before an event count.
fn remembered(program: &Program) -> Vec<VarId> {
    let mut by_slot: FxHashMap<Address, VarId> = FxHashMap::default();
    let model = program.model();
    for (variable, declared) in model.variables.iter() {
        let slot = program.layout.slot(variable);
        let is_number = !matches!(declared.ty, VariableType::String | VariableType::Object | VariableType::Clock);
        let is_own = matches!(program.schedule.roles[variable], Role::Discrete | Role::Alias { .. });
        let is_discrete = declared.ty != VariableType::Real || declared.variability <= dae::Variability::Discrete;
        if is_number && is_own && is_discrete && program.layout.pre(slot).is_some() {
            let known = by_slot.entry(slot).or_insert(variable);
            // One that can be seen has a column.
            if model.variables[*known].hidden && !declared.hidden {
                *known = variable;
            }
        }
    }
    let mut found: Vec<VarId> = by_slot.into_values().collect();
    found.sort();
    found
}
