//! From a flat hybrid DAE to a schedule: which equation determines which unknown, in which order, and how each
//! simultaneous system is solved.
//!
//! The passes, in order: clocks, parameters, aliases, index reduction with choice of states, sorting into blocks, the initial
//! problem. Each has a file of its own; `Work` is what they hand on.

use base::{Diagnostic, IdVec};
use dae::{Model, VarId, Variability};

mod aliases;
mod blocks;
mod cancellation;
mod clocks;
mod constants;
mod derivatives;
mod discrete;
mod initial;
mod linearity;
mod occurrences;
pub mod options;
mod output;
mod parameters;
pub mod schedule;
mod singular;
mod states;
pub mod structure;
mod system;
mod work;

pub use options::{IndexReduction, Options};
pub use schedule::{
    Assignment, Block, EquationSystem, InitialCheck, Role, Schedule, State, StateSet, Summary, SystemKind, Timing,
};

use linearity::Level;
use structure::Matching;
use system::{Problem, System};
use work::Work;

/// Sorts and solves a model as far as that can be done before the run.
pub fn transform(mut model: Model, _options: &Options) -> Result<Schedule, Vec<Diagnostic>> {
    clocks::translate(&mut model)?;
    let spare = has_partial_derivatives(&model).then(|| model.clone());
    let work = Work::new(model);
    // Equations that were substituted into each other no longer look like what somebody wrote.
    let as_written = unbalanced(&work);
    let is_structural =
        |problems: &[Diagnostic]| problems.iter().all(|problem| singular::CODES.contains(&problem.code));
    let first = sort(work, Inlining::AfterReduction);
    let misled = match &first {
        Ok((_, doubtful)) => *doubtful,
        Err(problems) => is_structural(problems),
    };
    let outcome = match spare {
        Some(spare) if misled => sort(Work::new(spare), Inlining::BeforeReduction).or(first),
        _ => first,
    };
    let outcome = outcome.map(|(schedule, _)| schedule);
    outcome.map_err(|problems| match as_written {
        Some(as_written) if is_structural(&problems) => as_written,
        _ => problems,
    })
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

/// What is wrong with a model that has too many or too few equations, in terms of the equations as they were written.
fn unbalanced(work: &Work) -> Option<Vec<Diagnostic>> {
    if work.summary.equations == work.summary.unknowns {
        return None;
    }
    let sides = work.active.iter().map(|&eq| (work.model.equations[eq].left, work.model.equations[eq].right)).collect();
    let system = System::new(work, Problem::Dynamic, work.active.clone(), sides, |v| work.is_unknown(v));
    let matching = Matching::maximum(&system.matchable);
    Some(singular::report(work, &system, &matching)).filter(|problems| !problems.is_empty())
}

/// The schedule, and whether its states are doubtful.
fn sort(mut work: Work, inlining: Inlining) -> Result<(Schedule, bool), Vec<Diagnostic>> {
    parameters::order(&mut work)?;
    let conflicts = discrete::conflicts(&work);
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    aliases::eliminate(&mut work)?;
    constants::propagate(&mut work);
    if inlining == Inlining::BeforeReduction {
        derivatives::inline_all(&mut work);
    }
    let (states, state_sets) = derivatives::reduce(&mut work)?;
    let mut blocks = dynamic_blocks(&mut work)?;
    output::mark(&work, &states, &mut blocks);
    let (initial, initial_checks) = initial::problem(&mut work, &state_sets)?;
    let Work { model, roles, parameters, summary, doubtful, .. } = work;
    let schedule = Schedule { model, roles, states, state_sets, parameters, initial, initial_checks, blocks, summary };
    Ok((schedule, doubtful))
}

fn dynamic_blocks(work: &mut Work) -> Result<Vec<Block>, Vec<Diagnostic>> {
    let sides = work.active.iter().map(|&eq| work.dynamic[eq]).collect();
    let system = System::new(work, Problem::Dynamic, work.active.clone(), sides, |v| work.is_unknown(v));
    let matching = Matching::maximum(&system.matchable);
    if !matching.is_perfect() {
        return Err(singular::report(work, &system, &matching));
    }
    let mut levels: IdVec<VarId, Level> = work.model.variables.ids().map(|v| known_level(work, v)).collect();
    let blocks = blocks::make(work, Problem::Dynamic, &system, &matching, &mut levels)?;
    Ok(move_parameters(work, blocks, &levels))
}

fn known_level(work: &Work, variable: VarId) -> Level {
    match work.roles[variable] {
        Role::Constant | Role::Parameter if work.free[variable] => Level::Discrete,
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
                    && !work.model.exprs.dependencies(&[assignment.value]).variables.iter().any(|&v| stays[v]) =>
            {
                work.roles[assignment.variable] = Role::Parameter;
                work.model.variables[assignment.variable].binding = Some(assignment.value);
                moved.extend(assignment.equation);
                work.parameters.push(assignment);
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
