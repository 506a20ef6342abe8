//! How large states are for which nobody gave a nominal value.
//!
//! The error of a state is compared with its value and with a size of its own, which says what counts while it passes zero. A
//! nominal value is such a size; without one it is 1. That hides what begins much smaller: a fault of 1e-9 that grows, a
//! spark, an unstable balance would be lost in errors that are small beside 1, and what they grow to with it. So a state
//! that begins small has the largest value that it had so far as its size. One that begins at zero and acts on such states
//! has the size that they give it in the time in which they act on each other; so has one that begins at zero and takes
//! part in a motion that grows by itself, which makes the smallest source count.
//!
//! Populations, infections or laser modes fall by many orders of magnitude and come back from what was left of them. States
//! that have fallen, whose slopes vanish with them and which others can let grow again, have a size that falls with them.
//!
//! What only decays by itself is no seed. Neither is rounding: sizes lie above what rounding errors of the terms of a slope add up to, and above what other
//! states make of the state. What decays keeps the size that it had.

use base::{Decimal, Diagnostic};
use dae::{Model, VarId};
use solve::{Integrator, OdeProblem, Pattern};

use crate::influences::Influences;
use crate::machine::Machine;
use crate::nominal;
use crate::places::about_variable;
use crate::trouble::Trouble;

/// States that begin below this are looked at. Errors beside 1 are small enough for others.
const SMALL: f64 = 1e-2;
/// What is smaller may be what rounding left of a zero.
const LEAST_SEED: f64 = 1e-14;
/// A state that an event makes smaller than its size by this factor begins anew.
const SMALLER: f64 = 0.1;
/// Nothing grows by more powers of e than this during a run, or it leaves the range of numbers.
const MOST_GROWTH: f64 = 1e3;
/// What falls by more powers of e than this in the time of a run has no part in what comes later.
const FASTEST_FALL: f64 = 1e4;
/// Relative errors of the terms of a slope.
const ROUNDING: f64 = 1e-15;
/// Steps of methods of high order over the times in which something changes by itself.
const LONG_STEP: f64 = 10.0;
/// Absolute errors below this are rounding errors of small terms: states that begin at zero have no smaller ones.
const LEAST_ERROR: f64 = 1e-21;
/// A value of fewer rounding errors than this may be what is left of a zero.
const ERRORS_OF_ZERO: f64 = 16.0;
/// A part of the time in which something changes that is hardly noticed.
const NEAR: f64 = 1e-3;
/// More states than this are not searched for what grows from zero.
const MOST_SEARCHED: usize = 500;
/// A state that is smaller than its size by this factor has fallen.
const FALLEN: f64 = 0.03;
/// In so many steps; in more where it has turned out to pass zero only.
const STEPS_BELOW: u32 = 1;
/// Remainders of slopes that are smaller than this part come from the curvature of what vanishes.
const CURVATURE: f64 = 0.1;
/// Sizes do not fall below this: nothing comes back from there, and what decays to it takes some hundred steps.
const LEAST_SIZE: f64 = 1e-60;

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
    /// The states of the program at hand that may fall and come back.
    returning: Vec<Returning>,
    /// The largest values that its states have had since they last began or fell, where some may come back.
    largest: Vec<f64>,
    /// The times since which states are smaller than their absolute errors may be, where some may come back.
    hidden: Vec<Option<f64>>,
    /// The states whose sizes have fallen with them.
    fallen: Vec<VarId>,
    /// Sizes do not fall any more: a method did not get on with them.
    given_up: bool,
}

/// A state whose influence on slopes changes during a run, so that what has decayed may grow again.
#[derive(Clone)]
struct Returning {
    place: usize,
    /// What it has to be much smaller than to be looked at.
    limit: f64,
    /// Steps that it still has to stay there to be looked at.
    wait: u32,
    /// How often it was looked at in vain.
    failures: u32,
}

/// A state that was lost in its absolute error and came back, though its slope vanishes with it: what it grows to comes from errors.
pub struct Resurrected {
    pub variable: VarId,
    pub hidden_since: f64,
    pub absolute_error: f64,
}

impl Resurrected {
    pub fn trouble(&self, time: f64, model: &Model) -> Trouble {
        let name = model.variable_name(self.variable);
        let (since, time, error) = (Decimal(self.hidden_since), Decimal(time), self.absolute_error);
        let headline = format!(
            "`{name}` fell below its absolute error {error:.1e} at time {since} and grows again at time {time}: what it becomes would come from errors of integration"
        );
        let hint = format!("give `{name}` a `nominal` of its size, or take a smaller `--tolerance`");
        let diagnostic = Diagnostic::error("lost-in-error", headline).hint(hint).names_time();
        about_variable(model, self.variable, diagnostic)
    }
}

/// The slopes at a point with their Jacobian.
struct Point<'a> {
    x: &'a [f64],
    slopes: Vec<f64>,
    pattern: Pattern,
    values: Vec<f64>,
}

impl<'a> Point<'a> {
    fn evaluate(machine: &mut Machine, time: f64, x: &'a [f64]) -> Option<Self> {
        let pattern = machine.jacobian_pattern().cloned()?;
        let (mut slopes, mut values) = (vec![0.0; x.len()], vec![0.0; pattern.entries()]);
        let evaluated = machine.rhs(time, x, &mut slopes).is_ok()
            && matches!(machine.jacobian(time, x, &mut values), Ok(true))
            && values.iter().chain(&slopes).all(|value| value.is_finite());
        evaluated.then_some(Self { x, slopes, pattern, values })
    }

    fn influences(&self) -> Influences<'_> {
        Influences { pattern: &self.pattern, values: &self.values }
    }

    /// What rounding errors of the terms of slopes add up to during a step.
    fn rounding(&self, step: f64) -> Vec<f64> {
        let magnitudes: Vec<f64> = self.x.iter().map(|x| x.abs()).collect();
        let mut terms = vec![0.0; self.x.len()];
        self.influences().multiply(&magnitudes, &mut terms);
        terms.iter_mut().for_each(|term| *term *= ROUNDING * step);
        terms
    }

    /// Rounding errors of slopes as they show: what slopes change by where states change by next to nothing, without what the
    /// Jacobian explains. Terms that hold no state, such as the voltages of a symmetrical grid that add up to zero, have such
    /// errors, too. Where time begins they may be exact, so a later time counts.
    fn noise(&self, machine: &mut Machine, time: f64, later: f64) -> Option<Vec<f64>> {
        let noise = self.noise_around(machine, time, later);
        // The memory has the values at the point again.
        machine.rhs(time, self.x, &mut vec![0.0; self.x.len()]).ok()?;
        noise.filter(|noise| noise.iter().all(|noise| noise.is_finite()))
    }

    fn noise_around(&self, machine: &mut Machine, time: f64, later: f64) -> Option<Vec<f64>> {
        /// Of the time in which something changes.
        const NEXT_TO_NOTHING: f64 = 1e-6;
        let count = self.x.len();
        let change = |place: usize, towards: f64| towards * nudge(place) * self.x[place];
        let (mut slopes, mut others) = (vec![0.0; count], vec![0.0; count]);
        let mut noise = vec![0.0_f64; count];
        for at in [time, time + later] {
            machine.rhs(at, self.x, &mut slopes).ok()?;
            for towards in [1.0, -1.0] {
                // Sources round otherwise at another time, and hardly move by it.
                let moment = if at > time { at + towards * NEXT_TO_NOTHING * later } else { at };
                let changed: Vec<f64> = (0..count).map(|place| self.x[place] + change(place, towards)).collect();
                machine.rhs(moment, &changed, &mut others).ok()?;
                let mut explained = vec![0.0; count];
                self.influences().each(|row, column, value| explained[row] += value * change(column, towards));
                for place in 0..count {
                    let rest = others[place] - slopes[place] - explained[place];
                    noise[place] = noise[place].max(rest.abs());
                }
            }
        }
        Some(noise)
    }
}

/// A part of a state that is enough to round otherwise.
fn nudge(place: usize) -> f64 {
    const NUDGE: f64 = 1e-13;
    NUDGE * (1.0 + (2.3 * place as f64).sin())
}

impl Sizes {
    /// All states begin at `x`.
    pub fn begin(&mut self, machine: &mut Machine, time: f64, x: &[f64], extent: Extent) {
        *self = Self::default();
        let open: Vec<bool> = (0..x.len()).map(|place| is_open(machine, place)).collect();
        self.measure(machine, time, x, &open, extent);
        self.find_places(machine, x);
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
        self.find_places(machine, x);
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

    fn find_places(&mut self, machine: &Machine, x: &[f64]) {
        self.find_returning(machine, x);
        self.find_small(machine);
    }

    fn find_returning(&mut self, machine: &Machine, x: &[f64]) {
        self.returning.clear();
        self.largest.clear();
        self.hidden.clear();
        for (place, varying) in machine.program.ode_varying.iter().enumerate() {
            if *varying && is_open(machine, place) {
                self.returning.push(Returning { place, limit: 0.0, wait: STEPS_BELOW, failures: 0 });
            }
        }
        if !self.returning.is_empty() {
            self.largest.extend(x.iter().map(|x| x.abs().min(1.0)));
            self.hidden.resize(x.len(), None);
        }
    }

    fn find_small(&mut self, machine: &Machine) {
        self.places.clear();
        if self.small.is_empty() {
            return;
        }
        for (place, state) in machine.program.states.iter().enumerate() {
            let entry = self.small.iter().position(|(variable, _)| *variable == state.variable);
            self.places.extend(entry.map(|entry| (place, entry)));
        }
    }

    /// Tells the integrator how large the states at hand are, now that parameters are known.
    pub fn apply(&self, machine: &Machine, integrator: &mut dyn Integrator, extent: Extent) {
        let program = &machine.program;
        for (place, state) in program.states.iter().enumerate() {
            if nominal::follows_from_parameters(program, state.variable) {
                integrator.set_absolute_tolerance(place, extent.tolerance * machine.nominal(state.variable));
            }
        }
        for &(place, entry) in &self.places {
            integrator.set_absolute_tolerance(place, extent.tolerance * self.small[entry].1);
        }
    }

    /// The states after a step: what has grown or fallen has another size.
    pub fn follow(
        &mut self,
        machine: &mut Machine,
        integrator: &mut dyn Integrator,
        extent: Extent,
    ) -> Result<(), Resurrected> {
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
        if self.has_fallen(integrator.state()) && !self.given_up {
            self.shrink(machine, integrator, extent);
        }
        if self.small.iter().all(|(_, size)| *size >= 1.0) {
            self.small.clear();
            self.places.clear();
        }
        self.look_for_resurrected(machine, integrator, extent)
    }

    /// Notes which states are smaller than their absolute errors may be, and looks at those that are not any more.
    fn look_for_resurrected(
        &mut self,
        machine: &mut Machine,
        integrator: &dyn Integrator,
        extent: Extent,
    ) -> Result<(), Resurrected> {
        /// In absolute errors. An oscillation may go to and fro between states of which some are far smaller than others.
        const BACK: f64 = 1e3;
        const SEEN: f64 = 1e3;
        for place in 0..self.hidden.len() {
            let (value, hidden) = (integrator.state()[place].abs(), self.hidden[place]);
            if hidden.is_none() && value >= extent.tolerance || !is_open(machine, place) {
                continue;
            }
            let variable = machine.program.states[place].variable;
            let absolute_error = extent.tolerance * self.size(variable);
            if value < absolute_error {
                self.hidden[place] = hidden.or(Some(integrator.time()));
            } else if let Some(hidden_since) = hidden.filter(|_| value > BACK * absolute_error) {
                let was_seen = self.largest[place] > SEEN * absolute_error;
                match was_seen.then(|| self.own_growth(machine, integrator, place)).flatten() {
                    None => self.hidden[place] = None,
                    Some(growth) if growth > 0.0 => return Err(Resurrected { variable, hidden_since, absolute_error }),
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    /// The slope, away from zero, of a state that moves only because it, or others that were hidden, are not zero.
    fn own_growth(&self, machine: &mut Machine, integrator: &dyn Integrator, place: usize) -> Option<f64> {
        /// The part of a slope that may be a rounding error.
        const DRIVEN: f64 = 1e-6;
        let (time, x) = (integrator.time(), integrator.state());
        let (mut slopes, mut rest) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let mut group: Vec<bool> = self.hidden.iter().map(Option::is_some).collect();
        let mut is_alone = false;
        while group[place] && !is_alone {
            let without: Vec<f64> = x.iter().zip(&group).map(|(x, hidden)| if *hidden { 0.0 } else { *x }).collect();
            machine.rhs(time, &without, &mut rest).ok()?;
            machine.rhs(time, x, &mut slopes).ok()?;
            is_alone = true;
            for k in 0..x.len() {
                let is_driven = rest[k].is_nan() || rest[k].abs() > DRIVEN * slopes[k].abs();
                if group[k] && is_driven {
                    (group[k], is_alone) = (false, false);
                }
            }
        }
        let may_vary = self.returning.iter().any(|returning| group[returning.place]);
        (is_alone && may_vary).then(|| slopes[place] * x[place].signum())
    }

    /// Whether there is nothing to follow.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.returning.is_empty()
    }

    /// Whether a state has been far below what it was for some steps.
    fn has_fallen(&mut self, x: &[f64]) -> bool {
        for (largest, x) in self.largest.iter_mut().zip(x) {
            *largest = x.abs().min(1.0).max(*largest);
        }
        let mut any = false;
        for returning in &mut self.returning {
            let (value, largest) = (x[returning.place].abs(), self.largest[returning.place]);
            if value > FALLEN * largest {
                (returning.wait, returning.limit) = (STEPS_BELOW << returning.failures, largest);
            } else if value > LEAST_SIZE && value <= FALLEN * returning.limit {
                returning.wait = returning.wait.saturating_sub(1);
                any |= returning.wait == 0;
            }
        }
        any
    }

    /// What has fallen and can come back gets a smaller size.
    fn shrink(&mut self, machine: &mut Machine, integrator: &mut dyn Integrator, extent: Extent) {
        const MOST_FAILURES: u32 = 6;
        let x = integrator.state().to_vec();
        let sizes = self.fallen(machine, integrator.time(), &x, extent).unwrap_or_else(|| vec![None; x.len()]);
        for (place, size) in sizes.iter().enumerate().filter_map(|(place, size)| Some((place, (*size)?))) {
            let variable = machine.program.states[place].variable;
            self.set_size(variable, size);
            self.largest[place] = size;
            self.fallen.push(variable);
            integrator.set_absolute_tolerance(place, extent.tolerance * size);
        }
        for returning in &mut self.returning {
            match sizes[returning.place] {
                Some(_) => returning.failures = 0,
                None if returning.wait == 0 => returning.failures = (returning.failures + 1).min(MOST_FAILURES),
                None => continue,
            }
            returning.limit = x[returning.place].abs();
            returning.wait = STEPS_BELOW << returning.failures;
        }
        self.find_small(machine);
    }

    /// Takes back the size of a state that is rounding; whether it had one.
    pub fn forget(&mut self, machine: &Machine, integrator: &mut dyn Integrator, place: usize, tolerance: f64) -> bool {
        let variable = machine.program.states[place].variable;
        let is_small = self.small_size(variable).is_some_and(|size| size < 1.0);
        if is_small {
            self.set_size(variable, 1.0);
            integrator.set_absolute_tolerance(place, tolerance);
        }
        is_small
    }

    /// Takes back what has fallen, for a method that does not get on with it. Whether there was anything.
    pub fn release(&mut self, machine: &Machine, integrator: &mut dyn Integrator, extent: Extent) -> bool {
        let fallen = std::mem::take(&mut self.fallen);
        fallen.iter().for_each(|&variable| self.set_size(variable, 1.0));
        self.given_up = true;
        self.find_small(machine);
        self.apply(machine, integrator, extent);
        !fallen.is_empty()
    }

    /// The new sizes of states that have fallen: of groups whose slopes vanish with them and change with something else.
    fn fallen(&self, machine: &mut Machine, time: f64, x: &[f64], extent: Extent) -> Option<Vec<Option<f64>>> {
        /// Below this they may be rounding errors.
        const ROUNDED: f64 = 1e-10;
        /// What an implicit step takes from something that is gone long before its end.
        const GONE: f64 = 0.9;
        let is_small = |place: usize| is_open(machine, place) && x[place].abs() <= FALLEN * self.largest[place];
        let small: Vec<bool> = (0..x.len()).map(is_small).collect();
        let point = Point::evaluate(machine, time, x)?;
        let influences = point.influences();
        let sure = |place: usize| if x[place].abs() > ROUNDED { CURVATURE } else { extent.tolerance };
        let closed = influences.closed_group(x, &point.slopes, small, sure);
        let doubtful: Vec<bool> = (0..x.len()).map(|place| closed[place] && x[place].abs() <= ROUNDED).collect();
        if !is_exact(machine, time, &point, &closed, &doubtful, extent) {
            return None;
        }
        let varying = closed.iter().zip(&machine.program.ode_varying).map(|(closed, varying)| *closed && *varying);
        let acting = influences.acting_on(&varying.collect::<Vec<_>>());
        let group: Vec<bool> = closed.iter().zip(&acting).map(|(closed, acting)| *closed && *acting).collect();
        let moved = influences.displacement(&point.slopes, extent.span / FASTEST_FALL)?;
        if (0..x.len()).any(|place| group[place] && moved[place].abs() > GONE * x[place].abs()) {
            return None;
        }
        let rate = influences.fastest_rate(&group);
        let time_scale = if rate > 0.0 { 1.0 / rate } else { 0.0 };
        let rounding = point.rounding(LONG_STEP * time_scale);
        let least = |place: usize| x[place].abs().max(rounding[place] / extent.tolerance).max(LEAST_SIZE);
        let begin = (0..x.len()).map(|place| if group[place] { least(place) } else { 0.0 }).collect();
        let sizes = influences.spread(begin, time_scale);
        let size = |place: usize| {
            let smaller = sizes[place];
            (group[place] && smaller < self.size(machine.program.states[place].variable)).then_some(smaller)
        };
        Some((0..x.len()).map(size).collect())
    }

    /// Finds the sizes of those states at `x` that are open.
    fn measure(&mut self, machine: &mut Machine, time: f64, x: &[f64], open: &[bool], extent: Extent) {
        let has_extent = extent.span > 0.0 && extent.span.is_finite();
        let is_seed = |place: usize| open[place] && x[place].abs() < SMALL;
        if !has_extent || !(0..x.len()).any(is_seed) {
            return;
        }
        let Some(point) = Point::evaluate(machine, time, x) else { return };
        let influences = point.influences();
        let seeds = seeds(&point, open, extent);
        if !seeds.contains(&true) {
            return;
        }
        let near = influences.acting_on(&seeds);
        let longest = extent.span / MOST_GROWTH;
        let rate = influences.fastest_rate(&near);
        let time_scale = if rate * longest > 1.0 { 1.0 / rate } else { longest };
        let step = longest.max(LONG_STEP * time_scale);
        let mut rounding = point.rounding(step);
        // Next to the point a table may have its end.
        for (rounding, noise) in
            rounding.iter_mut().zip(point.noise(machine, time, NEAR * time_scale).unwrap_or_default())
        {
            *rounding = rounding.max(step * noise);
        }
        let least = |place: usize| {
            let least = if x[place].abs() < LEAST_SEED { LEAST_ERROR } else { 0.0 };
            let moved = x[place].abs().max(time_scale * point.slopes[place].abs());
            moved.max(rounding[place].max(least) / extent.tolerance)
        };
        let sizes = influences.spread((0..x.len()).map(least).collect(), time_scale);
        for place in (0..x.len()).filter(|&place| open[place] && near[place]) {
            if sizes[place] > 0.0 && sizes[place] < SMALL {
                self.set_size(machine.program.states[place].variable, sizes[place]);
            }
        }
    }
}

/// Whether the slopes of a small group have no rounding errors that count beside the tolerance: those of its states that
/// are `doubtful` become half as large with the group, and all stay what they are where others change by as much as rounding.
fn is_exact(
    machine: &mut Machine,
    time: f64,
    point: &Point,
    group: &[bool],
    doubtful: &[bool],
    extent: Extent,
) -> bool {
    let Point { x, slopes, .. } = point;
    let mut others = vec![0.0; x.len()];
    let damping = point.influences().damping();
    let mut agrees = |machine: &mut Machine, at: Vec<f64>, judged: &[bool], factor: f64| {
        let is_alike = |place: usize, other: f64| {
            // An error of the slope of what is damped moves it by no more than lasts.
            let rate = damping[place].max(1.0 / extent.span);
            let scale = slopes[place].abs().max(x[place].abs() * rate);
            (factor * other - slopes[place]).abs() <= 0.1 * extent.tolerance * scale
        };
        machine.rhs(time, &at, &mut others).is_ok()
            && (0..x.len()).all(|place| !judged[place] || is_alike(place, others[place]))
    };
    let half = x.iter().zip(group).map(|(x, halved)| if *halved { 0.5 * x } else { *x }).collect();
    let nudged = |towards: f64| {
        let nudged = |place: usize| x[place] * (1.0 + towards * nudge(place));
        (0..x.len()).map(|place| if group[place] { x[place] } else { nudged(place) }).collect()
    };
    let exact = agrees(machine, half, doubtful, 2.0)
        && agrees(machine, nudged(1.0), group, 1.0)
        && agrees(machine, nudged(-1.0), group, 1.0);
    // The memory has the values at the point again.
    machine.rhs(time, x, &mut others).is_ok() && exact
}

/// States that begin small and may grow: those that something sets going, and those at zero in a motion that grows. What is
/// smaller than the rounding errors of the terms that move it, as currents of a machine that begins in its steady state, is zero.
fn seeds(point: &Point, open: &[bool], extent: Extent) -> Vec<bool> {
    let Point { x, .. } = point;
    let influences = point.influences();
    let rate = influences.fastest_rate(&vec![true; x.len()]);
    let rounding = point.rounding(if rate > 0.0 { LONG_STEP / rate } else { 0.0 });
    let is_zero = |place: usize| x[place].abs() < LEAST_SEED.max(ERRORS_OF_ZERO * rounding[place]);
    let decays = influences.decaying();
    let is_seed = |place: usize| open[place] && !is_zero(place) && x[place].abs() < SMALL && !decays[place];
    let mut seeds: Vec<bool> = (0..x.len()).map(is_seed).collect();
    let resting: Vec<bool> = (0..x.len()).map(|place| open[place] && is_zero(place)).collect();
    if x.len() > MOST_SEARCHED || !resting.contains(&true) {
        return seeds;
    }
    if rate > 0.0 {
        let growing = influences.growing(extent.span, rate);
        seeds.iter_mut().zip(resting).zip(growing).for_each(|((seed, resting), growing)| *seed |= resting && growing);
    }
    seeds
}

/// Whether nobody said how large a state is.
fn is_open(machine: &Machine, place: usize) -> bool {
    nominal::given(&machine.program, &machine.memory, machine.program.states[place].variable).is_none()
}
