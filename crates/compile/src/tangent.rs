//! Derivatives at run time: Jacobians of systems, tangents of the whole right-hand side through its systems, and the
//! instants at which relations in time change.

use dae::VarId;

use crate::code::Address;
use crate::failure::Failure;
use crate::layout::RelationKind;
use crate::memory::Memory;
use crate::program::{JacobianCode, Program, SectionStep, SystemId, bounds};

/// Instants that rounding may exchange, relative to their size.
const NEAR: f64 = 1e-14;

impl Program {
    /// Evaluates the Jacobian of a system's residuals: the entries of `System::pattern`, at the point at which
    /// `residuals` was evaluated last.
    pub fn jacobian(&self, system: SystemId, memory: &mut Memory, out: &mut [f64]) -> Result<(), Failure> {
        let data = &self.systems[system];
        match data.jacobian {
            JacobianCode::Entries(chunk) => {
                self.execute(chunk, memory);
                self.read_outputs(memory, out);
            }
            JacobianCode::Directions(chunk) => {
                let tangent = |slot: Address| (self.layout.tangents + slot) as usize;
                data.slots.iter().for_each(|&slot| memory.values[tangent(slot)] = 0.0);
                for (column, &slot) in data.slots.iter().enumerate() {
                    memory.values[tangent(slot)] = 1.0;
                    self.execute(chunk, memory);
                    memory.values[tangent(slot)] = 0.0;
                    let rows = data.pattern.rows as usize;
                    self.read_outputs(memory, &mut out[column * rows..(column + 1) * rows]);
                }
                // Leaves no tangent of inner variables behind.
                self.execute(chunk, memory);
            }
        }
        Ok(())
    }

    /// The Jacobian of a system as a full matrix, column after column.
    pub fn dense_jacobian(&self, system: SystemId, memory: &mut Memory, out: &mut [f64]) -> Result<(), Failure> {
        let pattern = &self.systems[system].pattern;
        let rows = pattern.rows as usize;
        if pattern.entries() == out.len() {
            return self.jacobian(system, memory, out);
        }
        let mut entries = vec![0.0; pattern.entries()];
        self.jacobian(system, memory, &mut entries)?;
        out.fill(0.0);
        let mut entries = entries.iter();
        for column in 0..pattern.columns() {
            for (&row, &entry) in pattern.column(column).iter().zip(&mut entries) {
                out[column * rows + row as usize] = entry;
            }
        }
        Ok(())
    }

    /// Sets the direction along which `tangents` differentiates: of a state, an input or time.
    pub fn set_tangent(&self, memory: &mut Memory, slot: Address, value: f64) {
        if let Some(tangent) = self.layout.tangent(slot) {
            memory.values[tangent as usize] = value;
        }
    }

    /// The tangent of a variable after `tangents`. Variables that depend on no state have none: zero.
    pub fn tangent_value(&self, memory: &Memory, variable: VarId) -> f64 {
        let place = self.layout.place(variable);
        match self.active.get(place.slot as usize) {
            Some(true) => {
                let tangent = memory.values[(self.layout.tangents + place.slot) as usize];
                if place.negated { -tangent } else { tangent }
            }
            _ => 0.0,
        }
    }

    /// Tangents of everything `dynamics` computes along the direction set by `set_tangent`, at the point at which
    /// `dynamics` ran last. `solve` replaces the right-hand side b by the solution of J·d = b, where J is the
    /// Jacobian of the system at this point.
    pub fn tangents<E>(
        &self,
        memory: &mut Memory,
        solve: &mut dyn FnMut(SystemId, &mut Memory, &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rhs = std::mem::take(&mut memory.scratch);
        let outcome = self.tangents_with(&mut rhs, memory, solve);
        memory.scratch = rhs;
        outcome
    }

    fn tangents_with<E>(
        &self,
        rhs: &mut Vec<f64>,
        memory: &mut Memory,
        solve: &mut dyn FnMut(SystemId, &mut Memory, &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        for step in &self.tangent_steps {
            match *step {
                SectionStep::Code(chunk) => {
                    self.execute(chunk, memory);
                }
                SectionStep::Solve(system) => {
                    let data = &self.systems[system];
                    let Some(chunk) = data.tangent else { continue };
                    let tangent = |slot: Address| (self.layout.tangents + slot) as usize;
                    data.slots.iter().for_each(|&slot| memory.values[tangent(slot)] = 0.0);
                    self.execute(chunk, memory);
                    rhs.resize(data.slots.len(), 0.0);
                    self.read_outputs(memory, rhs);
                    solve(system, memory, rhs)?;
                    for (&slot, &value) in data.slots.iter().zip(&*rhs) {
                        memory.values[tangent(slot)] = -value;
                    }
                    // Once more for the inner variables, which follow the iteration variables.
                    self.execute(chunk, memory);
                }
            }
        }
        Ok(())
    }

    /// ∂ẋ/∂x: the entries of `ode_pattern`, one evaluation of `tangents` for each group of columns.
    pub fn ode_jacobian<E>(
        &self,
        memory: &mut Memory,
        out: &mut [f64],
        solve: &mut dyn FnMut(SystemId, &mut Memory, &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.ode_columns(|_| true, memory, out, solve)
    }

    /// Those entries of ∂ẋ/∂x that change during a run; `out` has the others from an earlier evaluation.
    pub fn renew_ode_jacobian<E>(
        &self,
        memory: &mut Memory,
        out: &mut [f64],
        solve: &mut dyn FnMut(SystemId, &mut Memory, &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.ode_columns(|column| self.ode_varying[column as usize], memory, out, solve)
    }

    fn ode_columns<E>(
        &self,
        wanted: impl Fn(u32) -> bool,
        memory: &mut Memory,
        out: &mut [f64],
        solve: &mut dyn FnMut(SystemId, &mut Memory, &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        for state in &self.states {
            self.set_tangent(memory, state.value, 0.0);
        }
        for group in self.ode_colours.iter().filter(|group| group.iter().any(|&column| wanted(column))) {
            for &column in group {
                self.set_tangent(memory, self.states[column as usize].value, 1.0);
            }
            let result = self.tangents(memory, solve);
            for &column in group {
                self.set_tangent(memory, self.states[column as usize].value, 0.0);
                let start = self.ode_pattern.column_starts[column as usize] as usize;
                for (k, &row) in self.ode_pattern.column(column as usize).iter().enumerate() {
                    out[start + k] = self.tangent_at(memory, self.states[row as usize].derivative);
                }
            }
            result?;
        }
        Ok(())
    }

    pub(crate) fn tangent_at(&self, memory: &Memory, slot: Address) -> f64 {
        match self.active.get(slot as usize) {
            Some(true) => memory.values[(self.layout.tangents + slot) as usize],
            _ => 0.0,
        }
    }

    /// Lets relations on time see it later by `delay` than everything else does: at the instant of an event they have their
    /// right limits, while `time` is that instant. Whether any of them sees it in another direction than before.
    pub fn look_ahead(&self, memory: &mut Memory, delay: f64) -> bool {
        let mut slopes = vec![0.0; self.time_relations.len()];
        if delay != 0.0 {
            self.execute(self.slope_code, memory);
            self.read_outputs(memory, &mut slopes);
        }
        let mut turned = false;
        for (&relation, slope) in self.time_relations.iter().zip(slopes) {
            let shift = slope * delay;
            let place = &mut memory.values[self.layout.relations[relation].shift() as usize];
            let shift = if shift.is_finite() { shift } else { 0.0 };
            turned |= *place * shift < 0.0 || (*place == 0.0) != (shift == 0.0);
            *place = shift;
        }
        turned
    }

    /// Whether the present instant counts as just behind the present time, for a delay within it: a comparison with time changes
    /// there, not at the time itself. `false` where nobody asks for that.
    pub fn is_just_behind(&self, memory: &mut Memory, delay: f64) -> bool {
        /// The instant was computed from the residue, and rounded.
        const ROUNDING_ERRORS: f64 = 16.0;
        if !self.layout.looks_behind {
            return false;
        }
        let count = self.time_relations.len();
        let (mut residues, mut slopes) = (vec![0.0; count], vec![0.0; count]);
        self.execute(self.time_code, memory);
        self.read_outputs(memory, &mut residues);
        self.execute(self.slope_code, memory);
        self.read_outputs(memory, &mut slopes);
        self.time_relations.iter().zip(residues.iter().zip(slopes)).any(|(&relation, (residue, slope))| {
            let [rising, falling] = self.layout.relations[relation].changes_behind;
            let is_here = residue.abs() <= ROUNDING_ERRORS * slope.abs() * delay;
            is_here && (rising && slope > 0.0 || falling && slope < 0.0)
        })
    }

    /// The residues of `time_relations` at the present time.
    pub fn time_residues(&self, memory: &mut Memory) -> Vec<f64> {
        let mut residues = vec![0.0; self.time_relations.len()];
        self.execute(self.time_code, memory);
        self.read_outputs(memory, &mut residues);
        residues
    }

    /// For each of `time_relations` the next instant after now at which it changes; infinity for none. At the instant
    /// of a comparison its residue is zero; at that of a rounding the rounded value is a new one.
    pub fn time_events(&self, memory: &mut Memory, out: &mut [f64]) {
        let now = memory.time();
        let count = self.time_relations.len();
        let (mut offsets, mut slopes, mut grains) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        memory.set_time(0.0);
        self.execute(self.time_code, memory);
        self.read_outputs(memory, &mut offsets);
        memory.set_time(now);
        self.execute(self.slope_code, memory);
        self.read_outputs(memory, &mut slopes);
        for (k, &relation) in self.time_relations.iter().enumerate() {
            let relation = &self.layout.relations[relation];
            let (offset, slope) = (offsets[k], slopes[k]);
            let instant = match relation.kind {
                RelationKind::Compare { .. } => -offset / slope,
                RelationKind::Round { rounding, .. } => {
                    let (lower, upper) = bounds(rounding, memory.values[relation.state as usize]);
                    let bound = if slope > 0.0 { upper } else { lower };
                    // Terms that cancel in the sums may be larger than these; the search doubles its distances.
                    grains[k] = f64::EPSILON * (1.0 + bound.abs() + offset.abs()) / slope.abs();
                    (bound - offset) / slope
                }
            };
            // A rounding may change within the rounding errors of now and of its argument; at zero that is now itself.
            let nearly = now - NEAR * now.abs() - 4.0 * grains[k];
            let later = instant > now || instant >= nearly && matches!(relation.kind, RelationKind::Round { .. });
            out[k] = if slope != 0.0 && later { instant } else { f64::INFINITY };
        }
        // What comes first has to be exact; the others will be looked at when they do.
        while let Some(k) = self.first_rounding(out, &slopes) {
            let RelationKind::Round { rounding, .. } = self.layout.relations[self.time_relations[k]].kind else {
                break;
            };
            let instant = self.after_rounding(memory, k, rounding, out[k], grains[k]);
            out[k] = if instant > now { instant } else { f64::INFINITY };
            slopes[k] = 0.0;
        }
        memory.set_time(now);
    }

    /// A rounding among the earliest of `instants` that has not been looked at yet: those that have, have no slope any more.
    fn first_rounding(&self, instants: &[f64], slopes: &[f64]) -> Option<usize> {
        let first = instants.iter().copied().fold(f64::INFINITY, f64::min);
        let rounds =
            |k: usize| matches!(self.layout.relations[self.time_relations[k]].kind, RelationKind::Round { .. });
        (0..instants.len()).find(|&k| {
            instants[k].is_finite() && instants[k] <= first + NEAR * first.abs() && slopes[k] != 0.0 && rounds(k)
        })
    }

    /// The first number at or behind `instant` at which the rounded argument differs from its frozen state. The argument may be
    /// coarser than the time, so that it does not change from one time to the next: `grain` is the time in which it does.
    fn after_rounding(
        &self,
        memory: &mut Memory,
        k: usize,
        rounding: crate::code::Rounding,
        instant: f64,
        grain: f64,
    ) -> f64 {
        /// Tries one number after the other, then in distances that double, for what cancels in the argument.
        const EXACT_TRIES: u32 = 8;
        const MOST_TRIES: u32 = 32;
        let state = memory.values[self.layout.relations[self.time_relations[k]].state as usize];
        let (mut candidate, mut distance) = (instant, grain);
        for tries in 0..MOST_TRIES {
            if !candidate.is_finite() {
                break;
            }
            memory.set_time(candidate);
            self.execute(self.time_code, memory);
            let argument = memory.values[self.regions.outputs as usize + k];
            if crate::interpret::round(rounding, argument) != state {
                return candidate;
            }
            candidate = candidate.next_up();
            if tries >= EXACT_TRIES {
                candidate = candidate.max(instant + distance);
                distance *= 2.0;
            }
        }
        instant
    }
}
