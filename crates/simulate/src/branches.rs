//! The branch of the solutions of nonlinear systems that a run is on.
//!
//! A nonlinear system may have several solutions. The one that continues the past is meant, and Newton's method finds it from
//! a guess that is near enough. So the unknowns are predicted by the polynomial through the points before, for every point that
//! an integrator asks for; where what is found at the end of a step is far from what was predicted, or where nobody could know,
//! the way between is gone in shorter pieces. This follows the path as continuation methods do (Deuflhard,
//! *Newton Methods for Nonlinear Problems*, chapter 5), with time as the parameter.
//!
//! Far and near are measured by how much an unknown moves, not by how large it is: other solutions may be near one that is
//! large. Besides, the sign of the determinant of the Jacobian stays along a branch and differs on the next one.

use compile::{Address, Memory, Program, SectionStep, SystemId};
use dae::VarId;

use crate::nominal::nominal;
use crate::systems::Systems;

/// How far from the prediction a solution may be, relative to how far the unknown has moved: where the prediction is a straight
/// line, and where it is a parabola or a cubic.
const LARGEST_SURPRISE: [f64; 2] = [0.1, 0.01];
/// How far predictions of neighbouring orders may be from each other.
const LARGEST_DOUBT: f64 = 0.03;
/// How far a solution may be from the last one when nothing else is known, relative to its size.
const LARGEST_CHANGE: f64 = 0.03;
/// Movements below this part of the size of an unknown are not looked at: integrators do not follow states more exactly.
const LEAST_MOVEMENT: f64 = 1e-4;
/// Rounding errors of an unknown, relative to its size, which grow in predictions.
const ROUNDING: f64 = 1e-6;
/// Values below this part of the nominal value are rounding errors, which nothing predicts.
const SMALLEST: f64 = 1e-6;
/// Movements below this part of the size of an unknown are not continued.
const RESTING: f64 = 1e-7;
/// The sum of the weights that points may have in a prediction of higher order.
const LARGEST_WEIGHTS: f64 = 1e3;
/// A longer step, relative to the one before, is not predicted by a straight line.
const FAR: f64 = 5.0;
/// How long a piece may be where one ended on the next branch, relative to that one, and how soon longer ones are tried again.
const CAREFUL: f64 = 0.4;
const TRUSTING: f64 = 1.1;
/// Unknowns that jump without reason so often are not followed any more.
const MOST_JUMPS: u32 = 20;
/// Points that a prediction rests on.
const MOST_POINTS: usize = 6;
/// How much steeper a solution is next to its end than a short time ago, at least, how long ago that is, relative to the last
/// piece, and how far rounding may spoil the order of slopes.
const STEEP: f64 = 3.0;
const SHORT_AGO: f64 = 1e4;
const ROUGH: f64 = 1.1;
/// How much farther it jumps then than it moved over the last pieces.
const FAR_JUMP: f64 = 10.0;
const RECENT: usize = 3;
/// What moves less than this part of its size has the slopes of rounding errors.
const UNMOVED: f64 = 1e-9;

/// One nonlinear system of those that are followed.
#[derive(Clone, Debug)]
struct Followed {
    system: SystemId,
    /// The sign of the determinant of its Jacobian at the newest point.
    orientation: Option<f64>,
    /// Its first unknown.
    first: usize,
}

/// The unknowns of nonlinear systems at the points that were passed last.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    slots: Vec<Address>,
    unknowns: Vec<VarId>,
    systems: Vec<Followed>,
    /// Some of the systems are solved for results only.
    pub for_results: bool,
    /// Points in order of time, those of the step at hand and some before, and the values at each, which follow one another.
    times: Vec<f64>,
    values: Vec<f64>,
    scales: Vec<f64>,
    /// The longest piece, where a longer one led to the next branch.
    longest: Option<f64>,
    /// What was in memory before the last guess.
    last: Vec<f64>,
    jumps: u32,
}

/// How points count in a polynomial through them.
#[derive(Clone, Copy)]
struct Weights {
    first: usize,
    count: usize,
    weights: [f64; MOST_POINTS],
}

impl Weights {
    /// Of `count` points from `first` on, for the value at `time` (Lagrange's form).
    fn new(times: &[f64], first: usize, count: usize, time: f64) -> Self {
        let mut weights = [1.0; MOST_POINTS];
        let points = &times[first..first + count];
        for (weight, point) in weights.iter_mut().zip(points) {
            for other in points {
                if other != point {
                    *weight *= (time - other) / (point - other);
                }
            }
        }
        Self { first, count, weights }
    }

    fn sum(&self) -> f64 {
        self.weights[..self.count].iter().map(|weight| weight.abs()).sum()
    }
}

/// How what is found agrees with what was predicted.
#[derive(Clone, Copy, Debug)]
pub struct Agreement {
    /// The largest distance, in units of what is allowed.
    pub distance: f64,
    /// The unknown that is farthest away.
    pub farthest: usize,
    /// All determinants have the sign that they had.
    pub is_oriented: bool,
}

impl Agreement {
    /// What is not a number is not near.
    pub fn is_near(&self) -> bool {
        self.distance <= 1.0 && self.is_oriented
    }
}

impl Branches {
    pub fn new(program: &Program, memory: &Memory) -> Self {
        let nonlinear = |section: &[SectionStep]| -> Vec<SystemId> {
            let systems = section.iter().filter_map(|step| match step {
                SectionStep::Solve(system) => Some(*system),
                _ => None,
            });
            systems.filter(|&system| program.systems[system].kind.matrix().is_none()).collect()
        };
        let results = nonlinear(&program.sections.outputs);
        let mut branches = Self { for_results: !results.is_empty(), ..Self::default() };
        for system in nonlinear(&program.sections.dynamics).into_iter().chain(results) {
            let found = &program.systems[system];
            branches.systems.push(Followed { system, orientation: None, first: branches.slots.len() });
            branches.slots.extend_from_slice(&found.slots);
            branches.unknowns.extend_from_slice(&found.iteration);
        }
        let smallest = |&variable: &VarId| SMALLEST * nominal(program, memory, variable);
        branches.scales = branches.unknowns.iter().map(smallest).collect();
        branches
    }

    /// Whether there is something to follow.
    pub fn are_followed(&self) -> bool {
        !self.slots.is_empty() && self.jumps < MOST_JUMPS
    }

    /// The length of the last piece, if it is known how the solutions move.
    pub fn last_length(&self) -> Option<f64> {
        match self.times.as_slice() {
            [.., before, last] => Some(last - before),
            _ => None,
        }
    }

    /// The length of the longest piece.
    pub fn longest(&self) -> f64 {
        self.longest.unwrap_or(f64::INFINITY)
    }

    /// The sign of a determinant changes, however short the way is: the branches cross.
    pub fn note_crossing(&mut self) {
        self.longest = None;
    }

    /// A piece of this length led to the next branch: so near it is, whatever the unknowns have moved.
    pub fn take_care(&mut self, length: f64) {
        self.longest = Some(CAREFUL * length);
    }

    /// Begins at the point in memory: what was before says nothing about what follows.
    pub fn begin(&mut self, memory: &Memory, systems: &Systems) {
        if self.are_followed() {
            self.times.clear();
            self.values.clear();
            self.longest = None;
            self.pass(memory, systems);
        }
    }

    /// Forgets what lies behind the point in memory, which is one of the step at hand.
    pub fn go_back(&mut self, memory: &Memory, systems: &Systems) {
        if self.are_followed() {
            let kept = self.times.partition_point(|&time| time < memory.time());
            self.times.truncate(kept);
            self.values.truncate(kept * self.slots.len());
            self.pass(memory, systems);
        }
    }

    /// Forgets all points but the last ones.
    pub fn begin_step(&mut self) {
        let gone = self.times.len().saturating_sub(MOST_POINTS);
        self.times.drain(..gone);
        self.values.drain(..gone * self.slots.len());
    }

    /// Takes the solutions in memory for those that follow.
    pub fn pass(&mut self, memory: &Memory, systems: &Systems) {
        self.times.push(memory.time());
        for (scale, &slot) in self.scales.iter_mut().zip(&self.slots) {
            let value = memory.values[slot as usize];
            *scale = scale.max(value.abs());
            self.values.push(value);
        }
        self.longest = self.longest.map(|longest| TRUSTING * longest);
        for followed in &mut self.systems {
            followed.orientation = systems.orientation(followed.system).or(followed.orientation);
        }
    }

    fn value(&self, point: usize, unknown: usize) -> f64 {
        self.values[point * self.slots.len() + unknown]
    }

    /// What hardly moves stays where it is: rounding errors must not grow, not even those of unknowns that nothing determines.
    fn combined(&self, weights: &Weights, unknown: usize) -> f64 {
        let end = weights.first + weights.count;
        let newest = self.value(end - 1, unknown);
        let (mut sum, mut moved) = (newest, 0.0f64);
        for (point, weight) in (weights.first..end).zip(&weights.weights) {
            let difference = self.value(point, unknown) - newest;
            sum += weight * difference;
            moved = moved.max(difference.abs());
        }
        if moved > RESTING * self.scales[unknown] { sum } else { newest }
    }

    /// The prediction of the highest order that does not rest on differences of nearly equal numbers.
    fn prediction(&self, time: f64) -> Weights {
        let known = self.times.len();
        let mut count = known.min(MOST_POINTS);
        loop {
            let weights = Weights::new(&self.times, known - count, count, time);
            if count <= 2 || weights.sum() <= LARGEST_WEIGHTS {
                return weights;
            }
            count -= 1;
        }
    }

    /// Writes the prediction to memory.
    pub fn predict(&mut self, memory: &mut Memory, time: f64) {
        if !self.times.is_empty() {
            self.guess(memory, &self.prediction(time));
        }
    }

    fn guess(&mut self, memory: &mut Memory, weights: &Weights) {
        self.last.clear();
        for (unknown, &slot) in self.slots.iter().enumerate() {
            let guess = self.combined(weights, unknown);
            self.last.push(std::mem::replace(&mut memory.values[slot as usize], guess));
        }
    }

    /// Puts back what was in memory before the last guess, which led nowhere.
    pub fn take_back(&self, memory: &mut Memory) {
        self.slots.iter().zip(&self.last).for_each(|(&slot, &value)| memory.values[slot as usize] = value);
    }

    /// Writes the prediction for a point that the integrator tries, if it is a better guess than the point before.
    pub fn look_ahead(&mut self, memory: &mut Memory, time: f64) -> bool {
        let goes_back = time < memory.time();
        let is_better = self.are_followed() && memory.time() != time && (self.times.len() > 1 || goes_back);
        if is_better {
            self.predict(memory, time);
        }
        is_better
    }

    /// How the solutions in memory agree with the prediction.
    pub fn agreement(&self, memory: &Memory, systems: &Systems) -> Agreement {
        let time = memory.time();
        let same = |followed: &Followed| {
            let now = systems.orientation(followed.system);
            now.is_none() || followed.orientation.is_none() || now == followed.orientation
        };
        let is_oriented = self.systems.iter().all(same);
        let mut agreement = Agreement { distance: 0.0, farthest: 0, is_oriented };
        if self.times.is_empty() {
            return agreement;
        }
        let weights = self.prediction(time);
        let lower = Weights::new(&self.times, weights.first + 1, weights.count.saturating_sub(1), time);
        let rounding = LEAST_MOVEMENT.max(ROUNDING * weights.sum());
        for (unknown, &slot) in self.slots.iter().enumerate() {
            let value = memory.values[slot as usize];
            let size = self.scales[unknown].max(value.abs());
            let distance = self.distance(&weights, &lower, unknown, value, size, rounding * size);
            // What is not a number is farthest.
            if distance > agreement.distance || distance.is_nan() {
                (agreement.distance, agreement.farthest) = (distance, unknown);
            }
        }
        // Far beyond what was seen, a solution may be near a straight line by chance.
        let is_far = weights.count == 2 && self.last_length().is_some_and(|length| time - self.newest() > FAR * length);
        if is_far && agreement.distance > 0.0 {
            agreement.distance = f64::INFINITY;
        }
        agreement
    }

    fn newest(&self) -> f64 {
        self.times.last().copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// How far a value is from the prediction, in units of what is allowed; zero below `least`.
    fn distance(&self, weights: &Weights, lower: &Weights, unknown: usize, value: f64, size: f64, least: f64) -> f64 {
        let surprise = (value - self.combined(weights, unknown)).abs();
        if weights.count < 2 {
            return surprise / (LARGEST_CHANGE * size);
        }
        let (mut low, mut high) = (value, value);
        for point in weights.first..weights.first + weights.count {
            let passed = self.value(point, unknown);
            (low, high) = (low.min(passed), high.max(passed));
        }
        let moved = high - low;
        let allowed = |part: f64| (part * moved).max(least);
        let is_curved = weights.count > 2;
        let distance =
            if surprise <= least { 0.0 } else { surprise / allowed(LARGEST_SURPRISE[usize::from(is_curved)]) };
        let doubt = (self.combined(weights, unknown) - self.combined(lower, unknown)).abs();
        match is_curved && doubt > least {
            true => distance.max(doubt / allowed(LARGEST_DOUBT)),
            false => distance,
        }
    }

    /// What is found jumps, however short the way is.
    pub fn note_jump(&mut self) {
        self.jumps += 1;
    }

    /// Whether the way of an unknown ends at the newest point, and what is in memory is elsewhere: it becomes steeper and steeper,
    /// as next to the point where two solutions meet and vanish, and then jumps. Where an expression jumps, solutions before
    /// it do not know.
    pub fn ends(&self, unknown: usize, memory: &Memory) -> bool {
        let known = self.times.len();
        if known < RECENT + 1 {
            return false;
        }
        let value = |point: usize| self.value(point, unknown);
        let jump = memory.values[self.slots[unknown] as usize] - value(known - 1);
        let moved = value(known - 1) - value(known - 1 - RECENT);
        let slope = |point: usize| (value(point) - value(point - 1)) / (self.times[point] - self.times[point - 1]);
        let last = slope(known - 1);
        let span = SHORT_AGO * (self.times[known - 1] - self.times[known - 2]);
        let mut first = last;
        for point in (1..known - 1).rev() {
            let before = slope(point);
            let is_recent = self.times[known - 1] - self.times[point - 1] <= span;
            if !is_recent || before * first < 0.0 || before.abs() > ROUGH * first.abs() {
                break;
            }
            first = before;
        }
        let is_moving = moved.abs() > UNMOVED * self.scales[unknown];
        is_moving && jump.abs() > FAR_JUMP * moved.abs() && last.abs() > STEEP * first.abs()
    }

    /// An unknown that is followed, and its system.
    pub fn owner(&self, unknown: usize) -> Option<(SystemId, VarId)> {
        let after = self.systems.partition_point(|followed| followed.first <= unknown);
        let followed = self.systems.get(after.checked_sub(1)?)?;
        Some((followed.system, *self.unknowns.get(unknown)?))
    }

    /// The values that the unknowns of the system of an unknown have at the newest point.
    pub fn newest_of(&self, system: SystemId) -> Vec<(VarId, f64)> {
        let Some(newest) = self.times.len().checked_sub(1) else { return Vec::new() };
        let own = |unknown: &usize| self.owner(*unknown).is_some_and(|(owner, _)| owner == system);
        let unknowns = (0..self.slots.len()).filter(own);
        unknowns.map(|unknown| (self.unknowns[unknown], self.value(newest, unknown))).collect()
    }

    /// Writes what lies between the points that were passed in this step.
    pub fn approach(&mut self, memory: &mut Memory, time: f64) {
        let known = self.times.len();
        if !self.are_followed() || known == 0 {
            return;
        }
        let after = self.times.partition_point(|&passed| passed < time);
        if after == known {
            self.predict(memory, time);
            return;
        }
        let count = known.min(MOST_POINTS);
        let first = after.saturating_sub(MOST_POINTS / 2).min(known - count);
        let mut weights = Weights::new(&self.times, first, count, time);
        if weights.sum() > LARGEST_WEIGHTS {
            let before = after.saturating_sub(1);
            weights = Weights::new(&self.times, before, after + 1 - before, time);
        }
        self.guess(memory, &weights);
    }
}
