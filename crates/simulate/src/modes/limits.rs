//! What relations are just after an instant, in a mode that is tried.
//!
//! The sign of a residue is decided by the impulse in it if there is one, else by its value; where that is zero to
//! rounding, by where it goes: small steps into the future are taken, each larger than the one before, until the residue
//! leaves zero. This is what lets friction in its declarative form leave the stuck mode.

use super::left::{Left, Sizes};
use super::restart::Jump;
use super::runtime::{ModeRuntime, Switch};
use crate::future::Future;
use crate::machine::{Machine, Phase, Trouble};

/// Residues below this, relative to the magnitudes of what is in them, are zero at first.
pub const ZERO: f64 = 1e-9;
/// Residues that stay at zero have left it when they are larger than this.
const RESTING: f64 = 1e-7;
/// A residue has left zero when it changed by more than this.
const MOVED: f64 = 1e-9;
/// Rounding errors relative to the largest values that a residue is computed from.
const ROUNDING: f64 = 1e-13;
/// A residue that changes by less than this does not move.
const STILL: f64 = 1e-15;
/// Rounds after which relations that keep changing each other are left as they are.
const MOST_ROUNDS: usize = 12;

/// Growth of the steps with which residues at zero are followed: where one is about to leave, and before.
const GROWTH: f64 = 10.0;
const FASTEST_GROWTH: f64 = 100.0;

/// How far into the future a residue at zero may be followed, in steps that grow.
#[derive(Clone, Copy, Debug)]
pub struct Horizon {
    pub first: f64,
    pub last: f64,
    /// Residues below this, relative to the magnitudes of what is in them, are zero.
    pub zero: f64,
}

/// What was found out about relations.
#[derive(Default)]
pub struct Found {
    /// Relations (by their place in the list of the runtime) that stay at zero.
    pub open: Vec<usize>,
    /// Those of them that do not move at all.
    pub still: Vec<usize>,
    /// The residues that are zero, and how far from it they count as such.
    pub at_zero: Vec<(usize, f64)>,
}

/// What decided about a relation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    Impulse,
    Value,
    /// It is zero and is what it became when it made the event.
    Trigger,
    /// It is zero and leaves zero to this side.
    Future,
    /// It is zero and stays there.
    Rest,
}

impl Reason {
    pub fn name(self) -> &'static str {
        match self {
            Reason::Impulse => "impulse",
            Reason::Value => "value",
            Reason::Trigger => "crossing",
            Reason::Future => "direction",
            Reason::Rest => "rest",
        }
    }
}

/// Working space of a runtime.
#[derive(Clone, Default)]
pub struct Scratch {
    residues: Vec<f64>,
    impulses: Vec<f64>,
    scales: Vec<f64>,
    wanted: Vec<Option<f64>>,
    /// By the relations of the runtime.
    pub reasons: Vec<Reason>,
    before: Vec<f64>,
    future: Future,
    there: Vec<f64>,
}

/// What residues at zero are taken for.
#[derive(Clone, Copy, Debug)]
pub struct Assumption<'a> {
    /// The numbers of relations that made the event, or called for the mode, and what they became then.
    pub triggers: &'a [(usize, f64)],
    /// The numbers of relations that are known to stay at zero.
    pub resting: &'a [usize],
    /// The others are followed into the future; or they stay as they were until the jump is done.
    pub follow: bool,
}

impl Assumption<'_> {
    pub const NONE: Self = Self { triggers: &[], resting: &[], follow: true };
}

/// Evaluates the mode right of the instant and sets its relations to their right limits. The states in memory must be those
/// after the jump.
pub fn settle(
    runtime: &mut ModeRuntime,
    left: &Left,
    assumption: Assumption,
    jump: &Jump,
    sizes: &Sizes,
    horizon: Horizon,
) -> Result<Found, Trouble> {
    let Some(mut scratch) = runtime.switch.as_mut().map(|switch| std::mem::take(&mut switch.scratch)) else {
        return Ok(Found::default());
    };
    let Machine { program, memory, .. } = &mut runtime.machine;
    let delay = left.after - left.time;
    let is_behind = delay != 0.0 && program.is_just_behind(memory, delay);
    memory.set_ahead(if is_behind { delay } else { 0.0 });
    memory.set_time(left.after);
    let found = settle_after(runtime, left, assumption, jump, sizes, horizon, &mut scratch);
    runtime.machine.memory.set_time(left.time);
    if let Some(switch) = &mut runtime.switch {
        switch.scratch = scratch;
    }
    found
}

fn settle_after(
    runtime: &mut ModeRuntime,
    left: &Left,
    assumption: Assumption,
    jump: &Jump,
    sizes: &Sizes,
    horizon: Horizon,
    scratch: &mut Scratch,
) -> Result<Found, Trouble> {
    runtime.run_events(Phase::Live)?;
    residue_scales(runtime, sizes, jump.depth > 0, &mut scratch.scales);
    let count = scratch.scales.len();
    let mut found = Found::default();
    for _ in 0..MOST_ROUNDS {
        evaluate(runtime, None, &mut scratch.residues);
        impulses(runtime, jump, &scratch.residues, &mut scratch.impulses);
        let Scratch { residues, impulses, scales, wanted, reasons, .. } = &mut *scratch;
        let largest_impulse = impulses.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        wanted.clear();
        wanted.resize(count, None);
        reasons.clear();
        reasons.resize(count, Reason::Rest);
        found.open.clear();
        found.still.clear();
        found.at_zero.clear();
        for k in 0..count {
            if impulses[k].abs() > 1e-9 * largest_impulse && impulses[k] != 0.0 {
                (wanted[k], reasons[k]) = (Some(impulses[k].signum()), Reason::Impulse);
            } else if residues[k].abs() > horizon.zero * scales[k] || residues[k] != 0.0 && is_timed(runtime, left, k) {
                (wanted[k], reasons[k]) = (Some(residues[k].signum()), Reason::Value);
            } else if residues[k] == 0.0 && left.is_end && is_of_time(runtime, k) {
                (wanted[k], reasons[k]) = (Some(0.0), Reason::Value);
            } else if residues[k].is_finite() {
                let number = runtime.switch.as_ref().map(|switch| switch.shared[k]);
                let trigger = assumption.triggers.iter().find(|(trigger, _)| Some(*trigger) == number);
                found.at_zero.push((k, residues[k].abs()));
                wanted[k] = trigger.map(|&(_, state)| state);
                found.open.push(k);
            }
        }
        let made = |&k: &usize| scratch.wanted[k].map(|became| (k, became));
        let triggers: Vec<(usize, f64)> = found.open.iter().filter_map(made).collect();
        if assumption.follow {
            let number = |k: usize| runtime.switch.as_ref().map(|switch| switch.shared[k]);
            let rests = |&k: &usize| number(k).is_some_and(|number| assumption.resting.contains(&number));
            let (resting, mut moving): (Vec<usize>, Vec<usize>) = found.open.iter().partition(|k| rests(k));
            follow(runtime, &mut moving, &mut found.still, horizon, scratch);
            moving.extend(resting);
            found.open = moving;
        }
        // What made the event is what it became, whichever way it goes from here, unless it stays.
        for &(k, became) in &triggers {
            if !assumption.follow || !found.open.contains(&k) {
                (scratch.wanted[k], scratch.reasons[k]) = (Some(became), Reason::Trigger);
                found.open.retain(|&open| open != k);
            }
        }
        // What counts as zero must not make events.
        let scales = &scratch.scales;
        found.at_zero.iter_mut().for_each(|(k, size)| *size = (4.0 * *size).max(2.0 * horizon.zero * scales[*k]));
        for &k in &found.open {
            // What a constraint of the mode holds at zero is as far from it as the constraint is met.
            found.at_zero.push((k, RESTING * scales[k]));
            let before = || runtime.switch.as_ref().and_then(|switch| left.relation(switch.shared[k]));
            scratch.wanted[k] = if assumption.follow { Some(0.0) } else { before() };
        }
        if !apply(runtime, &scratch.wanted) {
            break;
        }
        runtime.run_events(Phase::Decided)?;
    }
    Ok(found)
}

/// Whether a relation depends on time alone, which is taken just after the instant: its residue has no errors.
fn is_timed(runtime: &ModeRuntime, left: &Left, place: usize) -> bool {
    left.after > left.time && is_of_time(runtime, place)
}

fn is_of_time(runtime: &ModeRuntime, place: usize) -> bool {
    let Some(switch) = &runtime.switch else { return false };
    runtime.machine.program.layout.relations[switch.relations[place]].class == compile::Class::Time
}

/// Sets the states of relations; whether any changed.
fn apply(runtime: &mut ModeRuntime, wanted: &[Option<f64>]) -> bool {
    let Some(switch) = &runtime.switch else { return false };
    let layout = &runtime.machine.program.layout;
    let mut changed = false;
    for (&relation, wanted) in switch.relations.iter().zip(wanted) {
        let state = &mut runtime.machine.memory.values[layout.relations[relation].state as usize];
        if let Some(wanted) = *wanted
            && *state != wanted
        {
            *state = wanted;
            changed = true;
        }
    }
    changed
}

fn evaluate(runtime: &mut ModeRuntime, at: Option<&mut compile::Memory>, residues: &mut Vec<f64>) {
    let program = &runtime.machine.program;
    program.comparison_residues(at.unwrap_or(&mut runtime.machine.memory), residues);
}

/// The magnitude of what each residue is made of, behind a jump or not.
fn residue_scales(runtime: &mut ModeRuntime, sizes: &Sizes, jumped: bool, scales: &mut Vec<f64>) {
    scales.clear();
    let Some(Switch { relations, residues, origins, .. }) = &mut runtime.switch else { return };
    let Machine { program, memory, .. } = &runtime.machine;
    residues.sizes(program, memory, sizes, scales);
    origins.note(program, memory, sizes, jumped);
    for (place, (scale, &relation)) in scales.iter_mut().zip(&*relations).enumerate() {
        // What is zero by a sum of others has their rounding errors; time is no such sum.
        let errors = match program.layout.relations[relation].class {
            compile::Class::Time => 0.0,
            _ => ROUNDING * origins.of_expression(place),
        };
        *scale = scale.max(errors / ZERO).max(f64::MIN_POSITIVE);
    }
}

/// The magnitude of what the residue of one relation is made of.
pub fn residue_scale(runtime: &mut ModeRuntime, sizes: &Sizes, relation: compile::RelationId) -> f64 {
    let mut scales = Vec::new();
    residue_scales(runtime, sizes, false, &mut scales);
    let relations = runtime.switch.as_ref().map(|switch| &switch.relations[..]).unwrap_or_default();
    let place = relations.iter().position(|&known| known == relation);
    place.map_or(0.0, |place| scales[place])
}

/// The impulse in each residue.
fn impulses(runtime: &mut ModeRuntime, jump: &Jump, residues: &[f64], impulses: &mut Vec<f64>) {
    impulses.clear();
    impulses.resize(residues.len(), 0.0);
    if jump.depth == 0 {
        return;
    }
    let program = &runtime.machine.program;
    let mut memory = runtime.machine.memory.clone();
    for pulse in &jump.pulses {
        let value = program.value(&memory, pulse.variable) + pulse.size;
        program.set_value(&mut memory, pulse.variable, value);
    }
    let mut with = Vec::new();
    evaluate(runtime, Some(&mut memory), &mut with);
    for ((impulse, with), without) in impulses.iter_mut().zip(&with).zip(residues) {
        let difference = with - without;
        if difference.abs() > 1e-12 * (with.abs() + without.abs()) {
            *impulse = difference;
        }
    }
}

/// Follows the residues at `open`, which are zero, into the future; those that do not leave zero remain, and those that do not
/// change by more than rounding are `still`. A step that cannot be taken says nothing about residues.
fn follow(
    runtime: &mut ModeRuntime,
    open: &mut Vec<usize>,
    still: &mut Vec<usize>,
    horizon: Horizon,
    scratch: &mut Scratch,
) {
    if open.is_empty() {
        return;
    }
    let Scratch { residues, scales, wanted, reasons, before, future, there, .. } = scratch;
    before.clone_from(&runtime.machine.memory.values);
    let (time, program) = (runtime.machine.memory.time(), &runtime.machine.program.clone());
    let mut step = horizon.first;
    let mut outcome = future.begin(&mut runtime.machine, time, Machine::evaluate);
    while outcome.is_ok() && !open.is_empty() && step <= horizon.last {
        outcome = future.evaluate(&mut runtime.machine, time, step, Machine::evaluate);
        if outcome.is_err() {
            break;
        }
        evaluate(runtime, None, there);
        // A residue that has hardly moved is far from leaving, also if it goes with the square of time.
        let mut growth = FASTEST_GROWTH;
        still.clear();
        open.retain(|&k| {
            let moved = there[k] - residues[k];
            let (distance, end) = (moved.abs(), MOVED * scales[k]);
            if distance > end {
                (wanted[k], reasons[k]) = (Some(moved.signum()), Reason::Future);
            } else if distance * FASTEST_GROWTH > end {
                growth = GROWTH;
            }
            if distance <= STILL * scales[k] {
                still.push(k);
            }
            distance <= end
        });
        step *= growth;
    }
    runtime.machine.memory.values.clone_from(before);
    runtime.machine.systems.forget_factors(program);
}
