//! Crossings without an effect, of a residue that hardly left zero since the last one.
//!
//! The velocity of a brake that holds is zero but for rounding errors, and the torque at which it begins to slide is reached but
//! for those of a large system of equations. Each change of sign would be an event that leaves everything as it was, and the
//! next one follows at once. After a few of them the relation keeps its state in a band that is wider than the residue went,
//! until an event of it has an effect. Events with an effect, such as those of a ball that comes to rest, are given no such band.
//!
//! A residue that only drifts is another matter: the level of a tank whose outlet has just closed moves by the rounding errors of
//! a flow that is zero. Where it would not get anywhere in the whole run, its crossings have no cause, whatever their effect is, and
//! the relation keeps its state in a band as wide as that drift.

use std::sync::Arc;

use compile::Program;
use solve::RootFinder;
use solve::roots::Crossing;

use crate::bands::Bands;
use crate::events::{self, Names};
use crate::machine::Machine;

/// A residue that went no further than this, relative to the largest that it ever had, hardly left zero: rounding errors of
/// large systems, and a part of the tolerance of integration.
const ROUNDING: f64 = 1e-9;
const PART_OF_TOLERANCE: f64 = 0.1;
/// So many such crossings in a row widen the band.
const PATIENCE: u32 = 3;
/// The band, relative to how far the residue went.
const WIDTH: f64 = 4.0;
/// A residue that would go no further than this in the whole run, relative to the largest that it ever had, drifts.
const DRIFT: f64 = 1e-9;
/// Derivatives are the same if they lead to the same states after an interval, relative to the tolerance.
const SAME: f64 = 1e-3;

/// What an event has to change in order to have an effect.
#[derive(Clone, Default)]
pub struct IdleCrossings {
    /// The program in use, its discrete variables, states and derivatives left of the event, if a crossing may be idle.
    before: Option<Before>,
    /// By crossing function: how many idle ones there were in a row.
    counts: Vec<u32>,
    /// When the states of relations were frozen last.
    frozen_at: Option<f64>,
}

#[derive(Clone)]
struct Before {
    program: Arc<Program>,
    values: Vec<f64>,
    states: Vec<f64>,
    derivatives: Vec<f64>,
}

/// How far derivatives count.
#[derive(Clone, Copy)]
pub struct Horizon {
    pub interval: f64,
    pub tolerance: f64,
    /// The present time, and how long the whole run takes.
    pub time: f64,
    pub span: f64,
}

impl IdleCrossings {
    /// Left limits of an event are in memory. Crossings come with how far their residues went, relative to the largest.
    pub fn begin(&mut self, machine: &Machine, bands: &mut Bands, crossings: &[Crossing], excursions: &[f64]) {
        let faint = faint(machine.systems.tolerance);
        self.before = excursions.iter().any(|&excursion| excursion < faint).then(|| Before::new(machine));
        if self.before.is_none() && !self.counts.is_empty() {
            crossings.iter().for_each(|crossing| self.count(bands, crossing.function, None));
        }
    }

    /// The event is over: bands of its relations become wider, or narrow again.
    pub fn end(
        &mut self,
        machine: &Machine,
        names: &Names,
        bands: &mut Bands,
        roots: &RootFinder,
        crossings: &[Crossing],
        horizon: Horizon,
    ) {
        if let Some(frozen_at) = self.frozen_at.replace(horizon.time) {
            let since = horizon.time - frozen_at;
            crossings.iter().for_each(|crossing| note_drift(bands, roots, crossing.function, since, horizon));
        }
        let Some(before) = self.before.take() else { return };
        let is_idle = before.agrees(machine, names, horizon);
        let faint = faint(horizon.tolerance);
        self.counts.resize(machine.program.roots.len(), 0);
        for crossing in crossings {
            let (largest, excursion) = roots.sizes(crossing.function);
            let is_faint = is_idle && excursion < faint * largest;
            let width = is_faint.then(|| (WIDTH * excursion).min(faint * largest));
            self.count(bands, crossing.function, width);
        }
    }

    /// Counts a crossing: an idle one with the band that it asks for.
    fn count(&mut self, bands: &mut Bands, function: usize, width: Option<f64>) {
        let Some(count) = self.counts.get_mut(function) else { return };
        *count = if width.is_some() { *count + 1 } else { 0 };
        match width {
            Some(width) if *count >= PATIENCE => bands.set_idle(function, width),
            Some(_) => {}
            None => bands.set_idle(function, 0.0),
        }
    }
}

/// Gives a relation whose residue drifted to this crossing its band, and takes it back where the residue moves.
fn note_drift(bands: &mut Bands, roots: &RootFinder, function: usize, since: f64, horizon: Horizon) {
    let (largest, excursion) = roots.sizes(function);
    if excursion > faint(horizon.tolerance) * largest {
        bands.set_drift(function, 0.0);
    } else if excursion > 0.0 && since > 0.0 && excursion / since * horizon.span <= DRIFT * largest {
        bands.set_drift(function, (WIDTH * excursion).max(excursion / since * horizon.span));
    }
}

fn faint(tolerance: f64) -> f64 {
    (PART_OF_TOLERANCE * tolerance).max(ROUNDING)
}

impl Before {
    fn new(machine: &Machine) -> Self {
        let size = machine.program.states.len();
        let (mut states, mut derivatives) = (vec![0.0; size], vec![0.0; size]);
        machine.program.read_states(&machine.memory, &mut states);
        machine.program.read_derivatives(&machine.memory, &mut derivatives);
        Self { program: machine.program.clone(), values: machine.memory.values.clone(), states, derivatives }
    }

    /// Whether discrete variables and states are as they were, and the derivatives lead to the same states.
    fn agrees(&self, machine: &Machine, names: &Names, horizon: Horizon) -> bool {
        if !Arc::ptr_eq(&self.program, &machine.program) {
            return false;
        }
        let now = Self::new(machine);
        let is_same_discrete = (0..self.program.layout.tangible).all(|slot| {
            let (before, now) = (self.values[slot as usize], now.values[slot as usize]);
            before.to_bits() == now.to_bits() || !events::is_discrete(machine, names, slot)
        });
        let leads_to_same = |k: usize| {
            let size = now.states[k].abs().max(machine.nominal(self.program.states[k].variable));
            let difference = (self.derivatives[k] - now.derivatives[k]).abs();
            difference * horizon.interval <= SAME * horizon.tolerance * size
        };
        is_same_discrete && self.states == now.states && (0..now.states.len()).all(leads_to_same)
    }
}
