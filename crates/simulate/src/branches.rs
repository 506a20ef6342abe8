//! The branch of the solutions of nonlinear systems that a run is on.
//!
//! A nonlinear system may have several solutions. The one that continues the past is meant, and Newton's method finds it from
//! a guess that is near enough. So the unknowns are predicted from the points before; where what is found is far from what was
//! predicted, the way between is gone in shorter pieces. This follows the path as continuation methods do (Deuflhard,
//! *Newton Methods for Nonlinear Problems*, chapter 5), with time as the parameter.

use compile::{Address, Memory, Program, Step, SystemId};

use crate::machine::nominal;

/// How far from the prediction a solution may be, relative to the largest value that the unknown has had.
const LARGEST_SURPRISE: f64 = 0.03;
/// The same for the first step behind an event, when nothing is known but the value there.
const LARGEST_CHANGE: f64 = 0.3;
/// Values below this part of the nominal value are rounding errors, which nothing predicts.
const ROUNDING: f64 = 1e-6;
/// Unknowns that jump without reason so often are not followed any more.
const MOST_JUMPS: u32 = 20;

/// The unknowns of nonlinear systems at the points that were passed last.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    slots: Vec<Address>,
    /// Some of the systems are solved for results only.
    pub for_results: bool,
    /// The last points, the newest first; `known` of them.
    times: [f64; 2],
    values: [Vec<f64>; 2],
    known: usize,
    scales: Vec<f64>,
    /// Points of the step at hand, in order of time: the values at each follow one another.
    passed: Vec<f64>,
    passed_values: Vec<f64>,
    jumps: u32,
}

impl Branches {
    pub fn new(program: &Program, memory: &Memory) -> Self {
        let nonlinear = |section: &[Step]| -> Vec<SystemId> {
            let systems = section.iter().filter_map(|step| match step {
                Step::Solve(system) => Some(*system),
                _ => None,
            });
            systems.filter(|&system| program.systems[system].kind.matrix().is_none()).collect()
        };
        let results = nonlinear(&program.sections.outputs);
        let mut systems = nonlinear(&program.sections.dynamics);
        systems.extend(&results);
        let found = || systems.iter().map(|&system| &program.systems[system]);
        let slots: Vec<Address> = found().flat_map(|system| system.slots.iter().copied()).collect();
        let unknowns = found().flat_map(|system| system.iteration.iter());
        let scales = unknowns.map(|&variable| ROUNDING * nominal(program, memory, variable)).collect();
        Self {
            for_results: !results.is_empty(),
            values: [vec![0.0; slots.len()], vec![0.0; slots.len()]],
            scales,
            slots,
            ..Self::default()
        }
    }

    /// Whether there is something to follow.
    pub fn are_followed(&self) -> bool {
        !self.slots.is_empty() && self.jumps < MOST_JUMPS
    }

    /// The length of the last piece, if it is known how the solutions move.
    pub fn last_length(&self) -> Option<f64> {
        (self.known > 1).then(|| self.times[0] - self.times[1]).filter(|&length| length > 0.0)
    }

    /// Begins at the point in memory: what was before says nothing about what follows.
    pub fn begin(&mut self, memory: &Memory) {
        if self.are_followed() {
            self.known = 0;
            self.passed.clear();
            self.passed_values.clear();
            self.pass(memory);
        }
    }

    /// Forgets the points of the step before but its end.
    pub fn begin_step(&mut self) {
        self.passed.clear();
        self.passed_values.clear();
        if self.known > 0 {
            self.passed.push(self.times[0]);
            self.passed_values.extend_from_slice(&self.values[0]);
        }
    }

    /// Takes the solutions in memory for those that follow.
    pub fn pass(&mut self, memory: &Memory) {
        let time = memory.time();
        self.values.swap(0, 1);
        self.times = [time, self.times[0]];
        for ((value, scale), &slot) in self.values[0].iter_mut().zip(&mut self.scales).zip(&self.slots) {
            *value = memory.values[slot as usize];
            *scale = scale.max(value.abs());
        }
        self.known = (self.known + 1).min(2);
        self.passed.push(time);
        self.passed_values.extend_from_slice(&self.values[0]);
    }

    fn predicted(&self, unknown: usize, time: f64) -> f64 {
        let newest = self.values[0][unknown];
        let length = self.times[0] - self.times[1];
        if self.known < 2 || length <= 0.0 {
            return newest;
        }
        newest + (newest - self.values[1][unknown]) * (time - self.times[0]) / length
    }

    /// Writes the prediction to memory.
    pub fn predict(&self, memory: &mut Memory, time: f64) {
        for (unknown, &slot) in self.slots.iter().enumerate() {
            memory.values[slot as usize] = self.predicted(unknown, time);
        }
    }

    /// Whether the solutions in memory are near enough to the prediction.
    pub fn continue_past(&self, memory: &Memory) -> bool {
        let (time, limit) = (memory.time(), if self.known < 2 { LARGEST_CHANGE } else { LARGEST_SURPRISE });
        self.slots.iter().enumerate().all(|(unknown, &slot)| {
            let value = memory.values[slot as usize];
            let scale = self.scales[unknown].max(value.abs());
            (value - self.predicted(unknown, time)).abs() <= limit * scale
        })
    }

    /// What is found jumps, however short the way is.
    pub fn note_jump(&mut self) {
        self.jumps += 1;
    }

    /// Writes what lies between the points that were passed in this step.
    pub fn approach(&self, memory: &mut Memory, time: f64) {
        let count = self.slots.len();
        if !self.are_followed() || self.passed.is_empty() {
            return;
        }
        let after = self.passed.partition_point(|&passed| passed < time).min(self.passed.len() - 1);
        let before = after.saturating_sub(1);
        let length = self.passed[after] - self.passed[before];
        let share = if length > 0.0 { ((time - self.passed[before]) / length).clamp(0.0, 1.0) } else { 1.0 };
        let [start, end] = [before, after].map(|point| &self.passed_values[point * count..(point + 1) * count]);
        for ((&slot, start), end) in self.slots.iter().zip(start).zip(end) {
            memory.values[slot as usize] = start + share * (end - start);
        }
    }
}
