//! From a flat hybrid DAE to a schedule: which equation determines which unknown, in which order, and how each
//! simultaneous system is solved.
//!
//! The passes, in order: clocks, parameters, vanishing coefficients, aliases, index reduction with choice of states, sorting
//! into blocks, the initial problem, inline integration where asked for, families of blocks. Each has a file of its own; `Work` is what they hand on.

use std::sync::Arc;

use base::{Diagnostic, IdVec};
use dae::{Model, VarId, Variability};

mod acting;
mod actions;
mod aliases;
mod attributes;
mod blocks;
mod cache;
mod cancellation;
mod clocks;
mod constants;
mod constrained;
mod decisions;
mod derivatives;
mod discrete;
mod false_derivatives;
pub mod families;
mod growth;
mod guesses;
mod initial;
mod inline_integration;
mod input_rates;
mod inverses;
mod linearity;
mod lost_checks;
pub mod modes;
mod occurrences;
mod opening;
mod options;
mod output;
mod parameters;
mod parts;
mod projection;
mod recording;
mod schedule;
mod singular;
mod sizes;
mod states;
pub mod structure;
mod system;
mod vanishing;
mod verify;
mod wishes;
mod work;
mod written;

pub use acting::Acting;
pub use decisions::{Decision, Decisions, Question, Subject};
pub use inline_integration::InlineIntegration;
pub use input_rates::integrate_inputs;
pub use opening::open_at;
pub use options::{Aliases, IndexReduction, Options, Switching};
pub use output::unknowns;
pub use parts::{
    Assignment, Block, EquationSystem, Family, InitialCheck, Matrix, Projection, Role, State, StateSet, Summary,
    SystemKind, Timing,
};
pub use schedule::Schedule;

use linearity::Level;
use modes::chains::Chains;
use parts::Problem;
use structure::Matching;
use system::System;
use work::Work;
use written::Written;

/// Sorts and solves a model as far as that can be done before the run.
pub fn transform(mut model: Model, options: &Options) -> Result<Schedule, Vec<Diagnostic>> {
    let notices = clocks::translate(&mut model)?;
    match options.switching {
        Switching::Difference => with_difference_formulas(model, options, notices),
        Switching::Modes => with_modes(model, options, notices),
    }
}

/// Sorts the model once with its derivatives, for the start, and once with formulas in their place.
fn with_difference_formulas(
    mut model: Model,
    options: &Options,
    notices: Vec<Diagnostic>,
) -> Result<Schedule, Vec<Diagnostic>> {
    modes::difference::check(&model)?;
    let written = with_modes(model.clone(), options, notices)?;
    let notices = written.summary.notices.clone();
    let difference = modes::difference::discretise(&mut model, written);
    let mut schedule = transform_single(model, options, Vec::new())?;
    // What is decided about the start is decided for the model as it was written.
    schedule.summary.notices = notices;
    schedule.difference = Some(difference);
    Ok(schedule)
}

fn with_modes(mut model: Model, options: &Options, notices: Vec<Diagnostic>) -> Result<Schedule, Vec<Diagnostic>> {
    let (conditions, decisions) = modes::find(&mut model);
    let differentiated = constrained::differentiated(&model);
    if conditions.is_empty() {
        let before = (!differentiated.is_empty()).then(|| model.clone());
        let mut schedule = transform_single(model, options, notices)?;
        schedule.constrained = constrained::computed(&schedule, &differentiated);
        schedule.decisions.extend(&decisions);
        // A signal inside a constraint may jump: the restart of the only mode knows what follows.
        if let Some(before) = before.filter(|_| schedule.has_constraints()) {
            schedule.modes = Some(Arc::new(modes::Modes::new(before, conditions, options.strict)));
        }
        return Ok(schedule);
    }
    let modes = Arc::new(modes::Modes::new(model, conditions, options.strict));
    match transform_single(modes.plain().clone(), options, notices) {
        // One structure may serve all modes. Where it becomes singular, the run goes on with modes.
        Ok(mut schedule) => {
            schedule.constrained = constrained::computed(&schedule, &differentiated);
            schedule.decisions.extend(&decisions);
            schedule.modes = Some(modes);
            Ok(schedule)
        }
        // The model as it is speaks more clearly than a mode that cannot be sorted either.
        Err(problems) => {
            let mut schedule = modes.any_schedule().ok_or(problems)?;
            schedule.decisions.extend(&decisions);
            Ok(schedule)
        }
    }
}

/// Sorts a model as one structure.
fn transform_single(model: Model, options: &Options, notices: Vec<Diagnostic>) -> Result<Schedule, Vec<Diagnostic>> {
    let spare = has_partial_derivatives(&model).then(|| model.clone());
    let written = Written::of(&model);
    let mut work = Work::new(model);
    work.strict = options.strict;
    work.summary.notices.extend(notices.iter().cloned());
    let first = sort(&mut work, options, Inlining::AfterReduction);
    let misled = match &first {
        Ok(_) => work.choice.doubtful,
        Err(problems) => singular::are_structural(problems),
    };
    if misled && let Some(spare) = spare {
        let mut second = Work::new(spare);
        second.strict = options.strict;
        second.summary.notices.extend(notices);
        if let Ok(plan) = sort(&mut second, options, Inlining::BeforeReduction) {
            return Ok(plan.schedule(second, written));
        }
    }
    match first {
        Ok(plan) => Ok(plan.schedule(work, written)),
        // Equations that were substituted into each other no longer look like what somebody wrote.
        Err(problems) if singular::are_structural(&problems) => Err(written.problems(work).unwrap_or(problems)),
        Err(problems) => Err(problems),
    }
}

/// When calls are written out.
///
/// Derivatives by annotation that leave arguments out (`noDerivative`) save work, but a constraint through such an argument
/// looks different on each level, and then the choice of states can go wrong. Written out before, everything is
/// differentiated by the rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inlining {
    AfterReduction,
    BeforeReduction,
}

fn has_partial_derivatives(model: &Model) -> bool {
    let sites = model.exprs.call_sites().values();
    let mut functions = sites.filter_map(|site| model.functions.get(site.function));
    functions.any(|function| function.derivatives.iter().any(|annotation| !annotation.no_derivative.is_empty()))
}

/// What the passes made beside the model.
struct Plan {
    states: Vec<State>,
    state_sets: Vec<StateSet>,
    blocks: Vec<Block>,
    initial: Vec<Block>,
    initial_checks: Vec<InitialCheck>,
    families: Vec<Family>,
    initial_families: Vec<Family>,
    projection: Option<Projection>,
    inline: Option<InlineIntegration>,
}

impl Plan {
    fn schedule(self, work: Work, written: Written) -> Schedule {
        let Work { model, roles, parameters, decisions, summary, .. } = work;
        let Plan {
            states,
            state_sets,
            blocks,
            initial,
            initial_checks,
            families,
            initial_families,
            projection,
            inline,
        } = self;
        let schedule = Schedule {
            model,
            roles,
            states,
            state_sets,
            projection,
            parameters: parameters.assignments,
            initial,
            initial_checks,
            blocks,
            families,
            initial_families,
            inline,
            written: written.sides,
            free: parameters.free,
            decisions,
            summary,
            constrained: Vec::new(),
            mode: None,
            modes: None,
            difference: None,
        };
        debug_assert_eq!(verify::verify(&schedule), Vec::<String>::new(), "the schedule is malformed");
        schedule
    }
}

fn sort(work: &mut Work, options: &Options, inlining: Inlining) -> Result<Plan, Vec<Diagnostic>> {
    parameters::order(work)?;
    actions::split(work)?;
    check(work, "parameters and actions");
    let conflicts = discrete::conflicts(work);
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    vanishing::fold(work);
    aliases::eliminate(work, options.aliases)?;
    if options.aliases == Aliases::Eliminate {
        constants::propagate(work);
    }
    check(work, "aliases and constants");
    inverses::drop_false(work);
    let untrue = false_derivatives::drop_false(work);
    if inlining == Inlining::BeforeReduction {
        derivatives::inline_all(work);
    }
    discrete::wish_reinitialised_states(work);
    let reduced = match derivatives::reduce(work) {
        Ok(reduced) => reduced,
        Err(problems) => return Err(false_derivatives::explain(problems, untrue)),
    };
    false_derivatives::report(work, untrue);
    check(work, "index reduction");
    let (states, state_sets, projection) = match options.index_reduction {
        IndexReduction::DummyDerivatives => {
            let (states, sets) = states::choose(work, &reduced);
            (states, sets, None)
        }
        IndexReduction::Projection => {
            let (states, projection) = projection::integrate_all(work, &reduced);
            (states, Vec::new(), projection)
        }
    };
    check(work, "choice of states");
    let is_candidate = |variable| state_sets.iter().any(|set| set.candidates.contains(&variable));
    let is_state = |variable| {
        matches!(work.roles[variable], Role::State { .. })
            || is_candidate(variable)
            || work.begins_formula(variable)
            // Constraints tie it to others that are set, too; the run sees whether that can be met.
            || work.summary.dummy_states.contains(&variable)
    };
    let wrong_reinits = discrete::wrong_reinits(work, is_state);
    if !wrong_reinits.is_empty() {
        return Err(wrong_reinits);
    }
    let (mut blocks, levels) = dynamic_blocks(work, options)?;
    output::mark(work, &states, &mut blocks);
    check(work, "blocks");
    let (mut initial, initial_checks) = initial::problem(work, &state_sets)?;
    check(work, "initial problem");
    let inline = match options.inline_step {
        Some(step) => Some(inline_integration::make(work, &states, &blocks, levels, step)?),
        None => None,
    };
    check(work, "inline integration");
    let families = families::gather(&work.model, &mut blocks);
    let initial_families = families::gather(&work.model, &mut initial);
    Ok(Plan { states, state_sets, blocks, initial, initial_checks, families, initial_families, projection, inline })
}

/// The plan of a mode and the chains of its equations. Conditions are decided and derivatives have names.
fn sort_mode(work: &mut Work, entry: modes::Entry) -> Result<(Plan, Chains), Vec<Diagnostic>> {
    let reduced = derivatives::reduce_named(work)?;
    let chains = modes::chains::collect(work, &reduced)?;
    let (states, state_sets) = states::choose(work, &reduced);
    let (mut blocks, _) = dynamic_blocks(work, &Options::default())?;
    output::mark(work, &states, &mut blocks);
    let (mut initial, initial_checks) = match entry {
        modes::Entry::Start => initial::problem(work, &state_sets)?,
        modes::Entry::Running => (Vec::new(), Vec::new()),
    };
    // A mode that is entered during the run is looked at by nobody.
    let families = match entry {
        modes::Entry::Start => families::gather(&work.model, &mut blocks),
        modes::Entry::Running => Vec::new(),
    };
    let initial_families = families::gather(&work.model, &mut initial);
    let (projection, inline) = (None, None);
    let plan =
        Plan { states, state_sets, blocks, initial, initial_checks, families, initial_families, projection, inline };
    Ok((plan, chains))
}

/// Every pass leaves a model that is well formed.
fn check(work: &Work, pass: &str) {
    debug_assert_eq!(dae::verify_transformed(&work.model), Vec::<String>::new(), "the model is malformed after {pass}");
}

/// The blocks that hold at run time, and when what they compute changes.
fn dynamic_blocks(work: &mut Work, options: &Options) -> Result<(Vec<Block>, IdVec<VarId, Level>), Vec<Diagnostic>> {
    let sides = work.active.iter().map(|&eq| work.dynamic[eq]).collect();
    let system = System::new(work, Problem::Dynamic, work.active.clone(), sides, |v| work.is_unknown(v));
    let matching = Matching::near(&system.matchable, &system.partners(work));
    if !matching.is_perfect() {
        return Err(singular::report(work, &system, &matching));
    }
    system.remember(work, &matching);
    let mut levels: IdVec<VarId, Level> = work.model.variables.ids().map(|v| known_level(work, v)).collect();
    let blocks = blocks::make(work, Problem::Dynamic, &system, &matching, &mut levels)?;
    match options.aliases {
        // What is constant in one mode is not in another.
        Aliases::Eliminate if work.modes.touched.is_none() => Ok((move_parameters(work, blocks, &levels), levels)),
        _ => Ok((blocks, levels)),
    }
}

fn known_level(work: &Work, variable: VarId) -> Level {
    match work.roles[variable] {
        Role::Constant | Role::Parameter if work.parameters.free[variable] => Level::Discrete,
        Role::Constant | Role::Parameter => Level::Parameter,
        Role::Input if work.model.variables[variable].variability == Variability::Discrete => Level::Discrete,
        _ => Level::Continuous,
    }
}

/// What depends on parameters only is computed once, with them.
fn move_parameters(work: &mut Work, blocks: Vec<Block>, levels: &IdVec<VarId, Level>) -> Vec<Block> {
    let mut rest = Vec::with_capacity(blocks.len());
    let mut moved = rustc_hash::FxHashSet::default();
    // Systems are solved at run time even when only parameters are in them; what needs their unknowns has to wait.
    let mut stays: IdVec<VarId, bool> = IdVec::filled(false, work.model.variables.len());
    for block in blocks {
        match block {
            Block::Assign { assignment, .. }
                if levels[assignment.variable] == Level::Parameter
                    && !work.is_discrete(assignment.variable)
                    && !assignment.equation.is_some_and(|eq| constants::begins_otherwise(work, eq))
                    && !work.model.exprs.dependencies(&[assignment.value]).variables.iter().any(|&v| stays[v]) =>
            {
                work.roles[assignment.variable] = Role::Parameter;
                work.model.variables[assignment.variable].binding = Some(assignment.value);
                moved.extend(assignment.equation);
                work.parameters.assignments.push(assignment);
            }
            Block::Assign { assignment, timing } => {
                stays[assignment.variable] = true;
                rest.push(Block::Assign { assignment, timing });
            }
            Block::System { system, timing } => {
                system.unknowns.iter().for_each(|&unknown| stays[unknown] = true);
                rest.push(Block::System { system, timing });
            }
        }
    }
    work.active.retain(|eq| !moved.contains(eq));
    rest
}
