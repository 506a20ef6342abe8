//! How large states are for which nobody gave a nominal value.
//!
//! The error of a state is compared with its value and with a size of its own, which says what counts while it passes zero. A
//! nominal value is such a size; without one it is 1. That hides what begins much smaller: a fault of 1e-9 that grows, a
//! spark, an unstable balance would be lost in errors that are small beside 1, and what they grow to with it. So a state
//! that begins small has the largest value that it had so far as its size. One that begins at zero and acts on such states
//! has the size that they give it in the time in which they act on each other.
//!
//! What only decays by itself is no seed. Neither is rounding: sizes lie above what rounding errors of the terms of a slope add up to, and above what other
//! states make of the state. What decays keeps the size that it had.

use dae::VarId;
use solve::{Integrator, OdeProblem, Pattern};

use crate::machine::Machine;

/// States that begin below this are looked at. Errors beside 1 are small enough for others.
const SMALL: f64 = 1e-2;
/// A state that an event makes smaller than its size by this factor begins anew.
const SMALLER: f64 = 0.1;
/// Nothing grows by more powers of e than this during a run, or it leaves the range of numbers.
const MOST_GROWTH: f64 = 1e3;
/// Relative errors of the terms of a slope.
const ROUNDING: f64 = 1e-15;

/// The time over which a run is looked at, and the tolerance.
#[derive(Clone, Copy)]
pub struct Extent {
    pub span: f64,
    pub tolerance: f64,
}

#[derive(Clone, Default)]
pub struct Sizes {
    /// Of the states that begin small, with their sizes.
    small: Vec<(VarId, f64)>,
    /// Their places among the states of the program at hand.
    places: Vec<(usize, usize)>,
    /// The values of all states before the event at hand.
    left: Vec<(VarId, f64)>,
}

impl Sizes {
    /// All states begin at `x`.
    pub fn begin(&mut self, machine: &mut Machine, time: f64, x: &[f64], extent: Extent) {
        self.small.clear();
        self.left.clear();
        let open: Vec<bool> = (0..x.len()).map(|place| is_open(machine, place)).collect();
        self.measure(machine, time, x, &open, extent);
        self.find_places(machine);
    }

    /// Remembers the states before an event.
    pub fn note_left(&mut self, machine: &Machine, x: &[f64]) {
        for &(place, entry) in &self.places {
            let size = &mut self.small[entry].1;
            *size = x.get(place).map_or(0.0, |x| x.abs().min(1.0)).max(*size);
        }
        self.left.clear();
        self.left.extend(machine.program.states.iter().map(|state| state.variable).zip(x.iter().copied()));
    }

    /// The states are `x` behind an event: those that jumped begin anew where that makes them much smaller.
    pub fn arrive(&mut self, machine: &mut Machine, time: f64, x: &[f64], extent: Extent) {
        let shrunk: Vec<bool> = (0..x.len()).map(|place| self.shrinks(machine, place, x[place])).collect();
        if shrunk.contains(&true) {
            for (state, _) in machine.program.states.iter().zip(&shrunk).filter(|(_, shrunk)| **shrunk) {
                self.set_size(state.variable, 1.0);
            }
            self.measure(machine, time, x, &shrunk, extent);
        }
        self.left.clear();
        self.find_places(machine);
    }

    fn shrinks(&self, machine: &Machine, place: usize, value: f64) -> bool {
        let variable = machine.program.states[place].variable;
        let left = self.left.get(place).filter(|(before, _)| *before == variable);
        let left = left.or_else(|| self.left.iter().find(|(before, _)| *before == variable));
        let jumped = left.is_some_and(|(_, before)| *before != value);
        jumped && value.abs() < SMALL && value.abs() < SMALLER * self.size(variable) && is_open(machine, place)
    }

    fn size(&self, variable: VarId) -> f64 {
        self.small_size(variable).unwrap_or(1.0)
    }

    /// The size of a state that began small.
    pub fn small_size(&self, variable: VarId) -> Option<f64> {
        self.small.iter().find(|(small, _)| *small == variable).map(|(_, size)| *size)
    }

    fn set_size(&mut self, variable: VarId, size: f64) {
        match self.small.iter_mut().find(|(small, _)| *small == variable) {
            Some((_, known)) => *known = size,
            None => self.small.push((variable, size)),
        }
    }

    fn find_places(&mut self, machine: &Machine) {
        self.places.clear();
        if self.small.is_empty() {
            return;
        }
        for (place, state) in machine.program.states.iter().enumerate() {
            let entry = self.small.iter().position(|(variable, _)| *variable == state.variable);
            self.places.extend(entry.map(|entry| (place, entry)));
        }
    }

    /// Tells the integrator how large the states at hand are.
    pub fn apply(&self, integrator: &mut dyn Integrator, extent: Extent) {
        for &(place, entry) in &self.places {
            integrator.set_absolute_tolerance(place, extent.tolerance * self.small[entry].1);
        }
    }

    /// The states after a step: what has grown has another size.
    pub fn follow(&mut self, integrator: &mut dyn Integrator, extent: Extent) {
        /// A change that is worth to be told.
        const GROWTH: f64 = 1.5;
        for &(place, entry) in &self.places {
            let size = &mut self.small[entry].1;
            let value = integrator.state().get(place).map_or(0.0, |x| x.abs());
            if value > GROWTH * *size && *size < 1.0 {
                *size = value.min(1.0);
                integrator.set_absolute_tolerance(place, extent.tolerance * *size);
            }
        }
        if self.small.iter().all(|(_, size)| *size >= 1.0) {
            self.small.clear();
            self.places.clear();
        }
    }

    /// Whether there is nothing to follow.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Finds the sizes of those states at `x` that are open.
    fn measure(&mut self, machine: &mut Machine, time: f64, x: &[f64], open: &[bool], extent: Extent) {
        let is_seed = |place: usize| open[place] && x[place] != 0.0 && x[place].abs() < SMALL;
        let mut seeds: Vec<bool> = (0..x.len()).map(is_seed).collect();
        let has_extent = extent.span > 0.0 && extent.span.is_finite();
        if !has_extent || !seeds.contains(&true) {
            return;
        }
        let Some(pattern) = machine.jacobian_pattern().cloned() else { return };
        let (mut slopes, mut values) = (vec![0.0; x.len()], vec![0.0; pattern.entries()]);
        let evaluated = machine.rhs(time, x, &mut slopes).is_ok()
            && matches!(machine.jacobian(time, x, &mut values), Ok(true))
            && values.iter().all(|value| value.is_finite());
        if !evaluated {
            return;
        }
        let influences = Influences { pattern: &pattern, values: &values };
        let decays = influences.decaying();
        seeds.iter_mut().zip(&decays).for_each(|(seed, decays)| *seed &= !decays);
        if !seeds.contains(&true) {
            return;
        }
        let near = influences.acting_on(&seeds);
        let longest = extent.span / MOST_GROWTH;
        let rate = influences.fastest_rate(&near);
        let time_scale = if rate * longest > 1.0 { 1.0 / rate } else { longest };
        let begin = x.iter().zip(&slopes).map(|(x, slope)| x.abs().max(time_scale * slope.abs()));
        let sizes = influences.spread(begin.collect(), time_scale);
        let magnitudes: Vec<f64> = x.iter().map(|x| x.abs()).collect();
        let mut terms = vec![0.0; x.len()];
        influences.multiply(&magnitudes, &mut terms);
        for place in (0..x.len()).filter(|&place| open[place] && near[place]) {
            let size = sizes[place].max(ROUNDING * longest * terms[place] / extent.tolerance);
            if size > 0.0 && size < SMALL {
                self.set_size(machine.program.states[place].variable, size);
            }
        }
    }
}

/// Whether nobody said how large a state is.
fn is_open(machine: &Machine, place: usize) -> bool {
    let model = machine.program.model();
    model.variables[machine.program.states[place].variable].attributes.nominal.is_none()
}

/// What states make of each other, by the Jacobian of their slopes.
struct Influences<'a> {
    pattern: &'a Pattern,
    values: &'a [f64],
}

impl Influences<'_> {
    /// Calls back for each influence with row, column and its size.
    fn each(&self, mut call: impl FnMut(usize, usize, f64)) {
        for column in 0..self.pattern.columns {
            let values = &self.values[self.pattern.starts[column]..];
            for (&row, value) in self.pattern.column(column).iter().zip(values) {
                call(row as usize, column, value.abs());
            }
        }
    }

    /// The states on which no other one acts and which decay by themselves: nothing grows in them.
    fn decaying(&self) -> Vec<bool> {
        let mut decaying = vec![false; self.pattern.rows];
        let mut driven = vec![false; self.pattern.rows];
        for column in 0..self.pattern.columns {
            let values = &self.values[self.pattern.starts[column]..];
            for (&row, &value) in self.pattern.column(column).iter().zip(values) {
                let row = row as usize;
                decaying[row] |= row == column && value < 0.0;
                driven[row] |= row != column && value != 0.0;
            }
        }
        decaying.iter().zip(&driven).map(|(decays, driven)| *decays && !driven).collect()
    }

    /// The states that act on those given, by way of others too, and these themselves.
    fn acting_on(&self, given: &[bool]) -> Vec<bool> {
        let mut near = given.to_vec();
        let mut pending: Vec<usize> = (0..given.len()).filter(|&place| given[place]).collect();
        let mut causes = vec![Vec::new(); given.len()];
        self.each(|row, column, _| causes[row].push(column));
        while let Some(place) = pending.pop() {
            for &cause in &causes[place] {
                if !std::mem::replace(&mut near[cause], true) {
                    pending.push(cause);
                }
            }
        }
        near
    }

    fn multiply(&self, vector: &[f64], product: &mut [f64]) {
        product.fill(0.0);
        self.each(|row, column, value| product[row] += value * vector[column]);
    }

    /// A bound for the rate at which some states change by each other, whatever their units.
    fn fastest_rate(&self, of: &[bool]) -> f64 {
        const ITERATIONS: i32 = 40;
        let mut vector: Vec<f64> = of.iter().map(|&of| if of { 1.0 } else { 0.0 }).collect();
        let mut product = vec![0.0; of.len()];
        let mut growth = 0.0;
        for _ in 0..ITERATIONS {
            self.multiply(&vector, &mut product);
            product.iter_mut().zip(of).filter(|(_, of)| !**of).for_each(|(product, _)| *product = 0.0);
            let length = product.iter().copied().fold(0.0, f64::max);
            if !(length > 0.0 && length.is_finite()) {
                return 0.0;
            }
            growth += length.ln();
            vector.iter_mut().zip(&product).for_each(|(v, p)| *v = p / length);
        }
        (growth / f64::from(ITERATIONS)).exp()
    }

    /// Each state is as large as what any other one makes of it in the time given.
    fn spread(&self, mut sizes: Vec<f64>, time: f64) -> Vec<f64> {
        for _ in 0..sizes.len() {
            let mut changed = false;
            let before = sizes.clone();
            self.each(|row, column, value| {
                let made = (time * value * before[column]).min(1.0);
                if made > 1.01 * sizes[row] {
                    sizes[row] = made;
                    changed = true;
                }
            });
            if !changed {
                break;
            }
        }
        sizes
    }
}
