//! One instant at which something may jump: all equations evaluated together, again and again until no discrete variable
//! changes any more (specification 8.5 and appendix B), with `reinit`, assertions and `terminate` on the way.

use base::{Decimal, Diagnostic};
use compile::{ActionSlots, Address, Program};
use dae::{Action, ActionKind, VarId, VariableType};

use crate::clockwork::Clockwork;
use crate::event_log::{Entry, Journal};
use crate::machine::{Machine, Phase, Trouble};
use crate::places::at_origin;
use crate::reinit::Reinit;
use crate::{resting, sensitivities};

/// Iterations after which an event counts as one that never comes to rest.
const MOST_ITERATIONS: u32 = 200;
/// How often relations may turn the way others go within one iteration.
const MOST_TURNS: u32 = 4;
/// Iterations after which residues that are no more than rounding change nothing.
const MOST_EXACT_ITERATIONS: u32 = 100;
/// The code of the error then.
pub const RESTLESS: &str = "event-iteration";
/// The last iterations, in which a cycle is looked for.
const LONGEST_CYCLE: u32 = 40;

/// What an event left behind.
#[derive(Clone, Debug, Default)]
pub struct Aftermath {
    pub iterations: u32,
    /// The message of `terminate`.
    pub terminated: Option<String>,
}

/// Names of discrete variables by address, for the log and for messages.
#[derive(Clone)]
pub struct Names {
    by_address: Vec<Option<VarId>>,
}

impl Names {
    pub fn new(machine: &Machine) -> Self {
        let layout = &machine.program.layout;
        let mut by_address = vec![None; layout.tangible as usize];
        for variable in machine.program.model().variables.ids() {
            let place = layout.place(variable);
            if !place.negated {
                by_address[place.slot as usize].get_or_insert(variable);
            }
        }
        Self { by_address }
    }

    pub fn variable(&self, address: Address) -> Option<VarId> {
        self.by_address.get(address as usize).copied().flatten()
    }
}

/// Follows whether values jump within the instant that must not.
pub trait Watch {
    /// Whether the values in memory may not be those of the instant. Then nothing outside of the model hears of them.
    fn is_in_doubt(&self, machine: &Machine) -> bool;
    /// States are about to be set: what jumped until here was not their doing.
    fn before_reinit(&mut self, machine: &Machine);
    /// Whether it has to know what the states that were set take along.
    fn follows_reinit(&self) -> bool;
    /// The values in memory follow from the states that were set.
    fn after_reinit(&mut self, machine: &Machine);
}

/// Nothing is looked at.
pub struct Unwatched;

impl Watch for Unwatched {
    fn is_in_doubt(&self, _: &Machine) -> bool {
        false
    }

    fn before_reinit(&mut self, _: &Machine) {}

    fn follows_reinit(&self) -> bool {
        false
    }

    fn after_reinit(&mut self, _: &Machine) {}
}

/// Goes through the instant until nothing changes. Left limits must be in `pre`, flags of samples raised.
pub fn iterate(machine: &mut Machine, names: &Names, log: &mut Journal) -> Result<Aftermath, Trouble> {
    iterate_watched(machine, names, log, &mut Unwatched)
}

fn iterate_watched(
    machine: &mut Machine,
    names: &Names,
    log: &mut Journal,
    watch: &mut dyn Watch,
) -> Result<Aftermath, Trouble> {
    let outcome = iterate_with_bands(machine, names, log, watch);
    turn_bands(machine, -1.0);
    outcome
}

/// Gives bands their effect (1) or takes it from them (−1).
fn turn_bands(machine: &mut Machine, sign: f64) {
    for relation in machine.program.layout.relations.values() {
        let band = &mut machine.memory.values[relation.band() as usize];
        *band = sign * band.abs();
    }
}

fn iterate_with_bands(
    machine: &mut Machine,
    names: &Names,
    log: &mut Journal,
    watch: &mut dyn Watch,
) -> Result<Aftermath, Trouble> {
    let program = &machine.program.clone();
    let mut aftermath = Aftermath::default();
    let mut cycle = Vec::new();
    let mut seen = log.is_active().then(|| Seen::new(machine));
    loop {
        aftermath.iterations += 1;
        evaluate(machine)?;
        machine.run(|sections| &sections.actions, Phase::Live)?;
        sensitivities::follow_iteration(machine);
        let actions = &program.model().actions;
        if has_effects(machine) && watch.is_in_doubt(machine) {
            let message = "a function is to be called with values that jump without an explanation";
            return Err(Trouble::Model(Box::new(Diagnostic::error("unexplained-jump", message))));
        }
        let sets = watch.follows_reinit() && sets_states(machine);
        if sets {
            watch.before_reinit(machine);
        }
        let reinit = Reinit::due(machine);
        let reinitialised = perform(machine, actions, &program.layout.actions, log, &mut aftermath)?;
        if reinitialised && let Some(reinit) = reinit {
            reinit.follow(machine)?;
        }
        if sets && reinitialised {
            follow_reinit(machine, watch);
        }
        let mut changed = false;
        let late = aftermath.iterations > MOST_ITERATIONS - LONGEST_CYCLE;
        if let Some(seen) = &mut seen {
            seen.tell(machine, log, aftermath.iterations);
        }
        for slot in program.changed(&machine.memory) {
            if is_discrete(machine, names, slot) {
                changed = true;
                if late {
                    cycle.push((aftermath.iterations, slot, machine.memory.values[slot as usize]));
                }
            }
        }
        program.save_pre(&mut machine.memory);
        if !changed && !reinitialised {
            return Ok(aftermath);
        }
        if aftermath.iterations == MOST_EXACT_ITERATIONS {
            turn_bands(machine, 1.0);
        }
        if aftermath.iterations >= MOST_ITERATIONS {
            return Err(restless(machine, names, &cycle));
        }
    }
}

/// Evaluates everything at the instant in memory.
fn evaluate(machine: &mut Machine) -> Result<(), Trouble> {
    let program = &machine.program.clone();
    machine.run(|sections| &sections.events, Phase::Live)?;
    while resting::decide(machine)? {
        machine.run(|sections| &sections.events, Phase::Live)?;
    }
    // A relation that changes here may turn the way another one goes from here.
    for _ in 0..MOST_TURNS {
        if machine.ahead == 0.0 || !program.look_ahead(&mut machine.memory, machine.ahead) {
            break;
        }
        machine.run(|sections| &sections.events, Phase::Live)?;
    }
    Ok(())
}

/// Shows what follows from the states that were set and from nothing else: relations change with them, but no `pre` does.
fn follow_reinit(machine: &mut Machine, watch: &mut dyn Watch) {
    let before = machine.memory.values.clone();
    // What cannot be evaluated fails in the next iteration, too.
    if evaluate(machine).is_ok() {
        watch.after_reinit(machine);
    }
    machine.memory.values = before;
    machine.unsettle();
}

/// Whether a function is to be called for its effect.
fn has_effects(machine: &Machine) -> bool {
    has_active(machine, |kind| matches!(kind, ActionKind::Call(_)))
}

/// Whether a state is to be set.
fn sets_states(machine: &Machine) -> bool {
    has_active(machine, |kind| matches!(kind, ActionKind::Reinit { .. }))
}

fn has_active(machine: &Machine, is_meant: impl Fn(&ActionKind) -> bool) -> bool {
    let (actions, slots) = (&machine.program.model().actions, &machine.program.layout.actions);
    let is_active = |slots: &ActionSlots| machine.memory.values[slots.active as usize] != 0.0;
    actions.iter().zip(slots).any(|(action, slots)| is_meant(&action.kind) && is_active(slots))
}

/// Signs of relations and values of discrete variables as the log knows them.
struct Seen {
    relations: Vec<f64>,
    variables: Vec<(VarId, f64)>,
}

impl Seen {
    fn new(machine: &Machine) -> Self {
        let (model, schedule) = (machine.program.model(), &machine.program.schedule);
        let is_discrete = |&variable: &VarId| {
            let declared = &model.variables[variable];
            let is_value = declared.ty != VariableType::Real || declared.variability <= dae::Variability::Discrete;
            let role = schedule.roles.get(variable);
            let is_own = !matches!(role, Some(transform::Role::Alias { .. })) && !declared.hidden;
            is_own && (is_value || matches!(role, Some(transform::Role::Discrete)))
        };
        Self {
            relations: Self::relations(machine).collect(),
            variables: (model.variables.ids().filter(is_discrete).map(|id| (id, machine.value(id)))).collect(),
        }
    }

    fn relations(machine: &Machine) -> impl Iterator<Item = f64> {
        machine.program.layout.relations.values().map(|relation| machine.memory.values[relation.state as usize])
    }

    /// Writes what is different, and knows it from now on.
    fn tell(&mut self, machine: &Machine, log: &mut Journal, iteration: u32) {
        let (model, time) = (machine.program.model(), machine.memory.time());
        let relations = machine.program.layout.relations.values();
        for ((relation, now), seen) in relations.zip(Self::relations(machine)).zip(&mut self.relations) {
            let is_comparison = matches!(relation.kind, compile::RelationKind::Compare { .. });
            if is_comparison && *seen != now {
                let expression = model.expression_text(relation.expression);
                log.write(&Entry::Flip { time, iteration, expression: &expression, sign: now as i8 });
            }
            *seen = now;
        }
        for (variable, seen) in &mut self.variables {
            let now = machine.value(*variable);
            if seen.to_bits() != now.to_bits() {
                let name = model.variable_name(*variable);
                let (from, to) = (shown(machine, *variable, *seen), shown(machine, *variable, now));
                log.write(&Entry::Change { time, iteration, variable: &name, from: &from, to: &to });
            }
            *seen = now;
        }
    }
}

/// The whole of an instant: the samples that are due are true in it, and false again when it is over.
pub fn pass(
    machine: &mut Machine,
    names: &Names,
    log: &mut Journal,
    clockwork: &mut Clockwork,
    time: f64,
    watch: &mut dyn Watch,
) -> Result<Aftermath, Trouble> {
    let program = &machine.program.clone();
    if !clockwork.raise(program, &mut machine.memory, time) {
        return iterate_watched(machine, names, log, watch);
    }
    if log.is_active() {
        for sample in program.layout.samples.iter().filter(|sample| machine.memory.values[sample.flag as usize] != 0.0)
        {
            let expression = program.model().expression_text(sample.expression);
            log.write(&Entry::TimeEvent { time, expression: &expression });
        }
    }
    let aftermath = iterate_watched(machine, names, log, watch)?;
    Clockwork::lower(program, &mut machine.memory);
    // What reads the flags has to see that they fell, without a new edge.
    let rest = iterate_watched(machine, names, log, watch)?;
    Ok(Aftermath { terminated: aftermath.terminated.or(rest.terminated), ..aftermath })
}

/// The actions of initial sections.
pub fn perform_initial(machine: &mut Machine, log: &mut Journal) -> Result<Aftermath, Trouble> {
    let program = &machine.program.clone();
    let mut aftermath = Aftermath::default();
    machine.run(|sections| &sections.initial_actions, Phase::Live)?;
    perform(machine, &program.model().initial_actions, &program.layout.initial_actions, log, &mut aftermath)?;
    Ok(aftermath)
}

/// The assertions that hold between events; `Err` for one of level error.
pub fn check_assertions(machine: &mut Machine, log: &mut Journal) -> Result<(), Trouble> {
    if machine.program.sections.assertions.is_empty() {
        return Ok(());
    }
    let program = &machine.program.clone();
    machine.run(|sections| &sections.assertions, Phase::Frozen)?;
    for (action, slots) in program.model().actions.iter().zip(&program.layout.actions) {
        let values = &machine.memory.values;
        let (active, value) = (values[slots.active as usize], values[slots.value as usize]);
        // Those of when clauses are not active between events.
        if !matches!(action.kind, ActionKind::Assert { .. }) || active == 0.0 {
            continue;
        }
        if active.is_nan() || value.is_nan() {
            let address = if active.is_nan() { slots.active } else { slots.value };
            return Err(undefined(machine, action, address));
        }
        assertion(machine, action, slots, log)?;
    }
    Ok(())
}

/// Whether the conditions of actions and assertions are defined at a point that is evaluated, with the relations as they are.
pub fn check_actions(machine: &mut Machine) -> Result<(), Trouble> {
    let program = &machine.program.clone();
    let kept = machine.memory.values.clone();
    let mut outcome = machine.run(|sections| &sections.actions, Phase::Frozen);
    for (action, slots) in program.model().actions.iter().zip(&program.layout.actions) {
        let (active, value) =
            (machine.memory.values[slots.active as usize], machine.memory.values[slots.value as usize]);
        let address = if active.is_nan() { slots.active } else { slots.value };
        if outcome.is_ok() && (active.is_nan() || active != 0.0 && !value.is_finite()) {
            outcome = Err(undefined(machine, action, address));
        }
    }
    machine.memory.values = kept;
    outcome
}

/// Carries out the active actions; returns whether a state was set to another value.
pub fn perform(
    machine: &mut Machine,
    actions: &[Action],
    slots: &[ActionSlots],
    log: &mut Journal,
    aftermath: &mut Aftermath,
) -> Result<bool, Trouble> {
    let program = &machine.program.clone();
    let mut reinitialised = false;
    for (action, slots) in actions.iter().zip(slots) {
        let active = machine.memory.values[slots.active as usize];
        if active == 0.0 {
            continue;
        }
        if active.is_nan() || !machine.memory.values[slots.value as usize].is_finite() {
            let address = if active.is_nan() { slots.active } else { slots.value };
            return Err(undefined(machine, action, address));
        }
        match action.kind {
            ActionKind::Reinit { state, .. } => {
                let value = machine.memory.values[slots.value as usize];
                let before = machine.value(state);
                if log.is_active() {
                    let formula = program.schedule.difference.as_ref();
                    let named = formula.and_then(|formula| formula.variable_of(state)).unwrap_or(state);
                    let name = program.model().variable_name(named);
                    let time = machine.memory.time();
                    log.write(&Entry::Reinit { time, state: &name, from: before, to: value });
                }
                program.set_value(&mut machine.memory, state, value);
                reinitialised |= before.to_bits() != value.to_bits();
            }
            ActionKind::Assert { .. } => assertion(machine, action, slots, log)?,
            ActionKind::Terminate { message } => {
                let text = program.text(message, &mut machine.memory).map_err(|d| Trouble::Model(Box::new(d)))?;
                aftermath.terminated = Some(text);
            }
            ActionKind::Call(call) => {
                program
                    .perform(call, &mut machine.memory)
                    .map_err(|failure| effect_trouble(machine, action, failure))?;
            }
        }
    }
    Ok(reinitialised)
}

/// The condition of an action, or its value, has no finite value.
fn undefined(machine: &mut Machine, action: &Action, address: Address) -> Trouble {
    let program = &machine.program;
    let sections = [&program.sections.actions, &program.sections.assertions, &program.sections.initial_actions];
    let steps: Vec<_> = sections.into_iter().flat_map(|section| section.iter().copied()).collect();
    let failure = program.explain(&steps, address, &mut machine.memory);
    let what = match action.kind {
        ActionKind::Assert { .. } => "an assertion",
        ActionKind::Reinit { .. } => "a value for reinit",
        _ => "a condition",
    };
    let time = Decimal(machine.memory.time());
    let mut diagnostic = failure.diagnostic(program.model());
    diagnostic.message = format!("{} in {what} at time {time}", failure.message(program.model()));
    diagnostic = diagnostic.names_time();
    Trouble::Model(Box::new(at_origin(program.model(), &action.origin, "evaluated here", diagnostic)))
}

/// A function that was called for its effect did not come to its end.
fn effect_trouble(machine: &Machine, action: &Action, mut failure: Diagnostic) -> Trouble {
    failure = failure.with_time(machine.memory.time());
    if let Some(span) = action.origin.span {
        failure = failure.at(span, "called here");
    }
    let component = machine.program.model().paths.text(action.origin.component);
    if !component.is_empty() {
        failure = failure.in_component(component);
    }
    Trouble::Model(Box::new(failure))
}

fn assertion(machine: &mut Machine, action: &Action, slots: &ActionSlots, log: &mut Journal) -> Result<(), Trouble> {
    let ActionKind::Assert { message, warning, .. } = action.kind else { return Ok(()) };
    let holds = machine.memory.values[slots.value as usize] != 0.0;
    if holds {
        if warning {
            log.assertions.holds(action);
        }
        return Ok(());
    }
    let program = &machine.program;
    let time = machine.memory.time();
    let mut text = || program.text(message, &mut machine.memory).map_err(|d| Trouble::Model(Box::new(d)));
    if warning {
        if log.is_active() {
            log.write(&Entry::Message { time, text: &text()? });
        }
        return log.assertions.fails(program.model(), action, time, text);
    }
    let text = text()?;
    Err(failed_assertion(machine, action, &text))
}

fn failed_assertion(machine: &Machine, action: &Action, text: &str) -> Trouble {
    let time = machine.memory.time();
    let component = machine.program.model().paths.text(action.origin.component);
    // The headline says when: texts of libraries have several lines, and often begin with an empty one.
    let (headline, rest) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
    let said = format!("{} (an assertion fails at time {})\n{rest}", headline.trim_end(), Decimal(time));
    let mut diagnostic = Diagnostic::error("assertion", said.trim_end()).names_time();
    if let Some(span) = action.origin.span {
        diagnostic = diagnostic.at(span, "this does not hold");
    }
    if !component.is_empty() {
        diagnostic = diagnostic.in_component(component);
    }
    Trouble::Model(Box::new(diagnostic))
}

/// The first assertion about parameters alone that does not hold. Where a model cannot be initialised, that is the reason.
pub fn forbidden_parameters(machine: &mut Machine) -> Option<Trouble> {
    let program = machine.program.clone();
    let model = program.model();
    for action in &model.actions {
        let ActionKind::Assert { holds, message, warning: false } = action.kind else { continue };
        let read: Vec<_> = action.condition.into_iter().chain([holds]).collect();
        if !reads_parameters_alone(&program, &model.exprs.dependencies(&read)) {
            continue;
        }
        let values = program.evaluate(&read, &mut machine.memory).unwrap_or_default();
        let is_active = action.condition.is_none() || values.first() == Some(&1.0);
        if is_active && values.len() == read.len() && values.last() == Some(&0.0) {
            let text = program.text(message, &mut machine.memory).ok()?;
            return Some(failed_assertion(machine, action, &text));
        }
    }
    None
}

/// Whether all that is read is known before the initial problem is solved.
fn reads_parameters_alone(program: &Program, read: &dae::Dependencies) -> bool {
    let model = program.model();
    let is_known = |&variable: &VarId| {
        let is_free = |fixed| model.exprs.as_boolean(fixed) == Some(false);
        matches!(program.schedule.roles[variable], transform::Role::Parameter | transform::Role::Constant)
            && !model.variables[variable].attributes.fixed.is_some_and(is_free)
    };
    let others = [&read.derivatives, &read.pre, &read.previous];
    !read.time && others.iter().all(|others| others.is_empty()) && read.variables.iter().all(is_known)
}

pub fn is_discrete(machine: &Machine, names: &Names, slot: Address) -> bool {
    names.variable(slot).is_some_and(|variable| {
        let declared = &machine.program.model().variables[variable];
        declared.ty != VariableType::Real
            || declared.variability <= dae::Variability::Discrete
            || matches!(machine.program.schedule.roles[variable], transform::Role::Discrete)
    })
}

pub fn log_change(machine: &Machine, names: &Names, log: &mut Journal, iteration: u32, slot: Address) {
    let program = &machine.program;
    let (Some(variable), Some(pre)) = (names.variable(slot), program.layout.pre(slot)) else { return };
    // What when clauses remember of their conditions has no name that a user gave.
    if program.model().variables[variable].hidden {
        return;
    }
    let name = program.model().variable_name(variable);
    let from = shown(machine, variable, machine.memory.values[pre as usize]);
    let to = shown(machine, variable, machine.memory.values[slot as usize]);
    let time = machine.memory.time();
    log.write(&Entry::Change { time, iteration, variable: &name, from: &from, to: &to });
}

/// A value as the type of its variable writes it.
pub fn shown(machine: &Machine, variable: VarId, value: f64) -> String {
    let model = machine.program.model();
    match model.variables[variable].ty {
        VariableType::Boolean => if value != 0.0 { "true" } else { "false" }.to_string(),
        VariableType::Enumeration(of) => {
            let literals = model.enumerations.get(of as usize).map(|found| &found.literals);
            let literal = literals.and_then(|literals| literals.get(value as usize - 1));
            literal.map_or_else(|| value.to_string(), |name| name.to_string())
        }
        _ => value.to_string(),
    }
}

/// A change: iteration, place, new value.
type Change = (u32, Address, f64);

/// The changes of one round of the cycle that the last iterations go through, by iteration.
fn one_round(changes: &[Change]) -> Vec<Vec<(Address, f64)>> {
    let mut iterations: Vec<Vec<(Address, f64)>> = Vec::new();
    let mut last = 0;
    for &(iteration, slot, value) in changes {
        if iteration != last || iterations.is_empty() {
            iterations.push(Vec::new());
            last = iteration;
        }
        if let Some(list) = iterations.last_mut() {
            list.push((slot, value));
        }
    }
    let repeats = |period: &usize| (0..iterations.len() - period).all(|k| iterations[k] == iterations[k + period]);
    match (1..=iterations.len() / 2).find(repeats) {
        Some(period) => iterations.split_off(iterations.len() - period),
        None => iterations.split_off(iterations.len().saturating_sub(2)),
    }
}

fn restless(machine: &Machine, names: &Names, changes: &[Change]) -> Trouble {
    let model = machine.program.model();
    let round = one_round(changes);
    let mut variables: Vec<VarId> = Vec::new();
    for variable in round.iter().flatten().filter_map(|&(slot, _)| names.variable(slot)) {
        if !variables.contains(&variable) {
            variables.push(variable);
        }
    }
    let list: Vec<String> = variables.iter().take(8).map(|&variable| model.variable_name(variable)).collect();
    let mut diagnostic = Diagnostic::error(
        RESTLESS,
        format!(
            "the event at time {} never comes to rest: after {MOST_ITERATIONS} iterations {} still change",
            Decimal(machine.memory.time()),
            list.join(", ")
        ),
    )
    .names_time()
    .hint("a condition depends on its own consequence; break the cycle with pre(…), or give it hysteresis");
    for changes in round.iter().take(8) {
        let change = |&(slot, value): &(Address, f64)| {
            let variable = names.variable(slot)?;
            Some(format!("{} becomes {}", model.variable_name(variable), shown(machine, variable, value)))
        };
        let texts: Vec<String> = changes.iter().filter_map(change).take(8).collect();
        diagnostic = diagnostic.note(format!("then {}", texts.join(", ")));
    }
    for &variable in variables.iter().take(4) {
        if let Some(span) = model.variables[variable].span {
            diagnostic = diagnostic.at(span, "keeps changing");
        }
    }
    Trouble::Model(Box::new(diagnostic))
}
