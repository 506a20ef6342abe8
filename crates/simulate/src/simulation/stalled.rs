//! Runs that hardly move because a slope jumps back and forth without events.
//!
//! Where `sign` or an event-free branch drives a state towards the place at which it switches, from both sides, the solution
//! stays there: a sliding mode. An integrator finds no step over a jump that is exact to the tolerance, but for steps so short
//! that they do not matter, and may need millions of them for a second. Nobody has written how the solution slides, so the run
//! stops with the reason, unless what jumps is rounding beside a size that was taken for that of the state (`crate::sizes`). It is not looked for unless steps have been much shorter than the output intervals for long, and a
//! run that comes to its end all the same goes on.

use base::{Decimal, Diagnostic};

use solve::OdeProblem;

use super::{Simulation, Stop};
use crate::influences::Influences;
use crate::machine::Trouble;
use crate::modes::ModeRuntime;

/// The mean of steps that are so much shorter than the distance of output points.
const SHORT: f64 = 1e-3;
/// So many such steps before slopes are looked at, and steps that are looked at then.
const MANY: u32 = 3000;
const WINDOW: u32 = 3000;
/// A run with so many steps still to go does not come to its end.
const TOO_MANY: f64 = 5e6;
/// A jump, relative to all that a slope does, and the part of all steps that have one. An oscillation that is followed by ten
/// steps a period changes its slope by a third of that in a step.
const JUMP: f64 = 0.8;
const OFTEN: f64 = 0.001;
/// How far a state went otherwise than the slopes at the ends of steps say, relative to their sum: steps of a multistep method
/// may all end on one side of the jump.
const ASTRAY: f64 = 0.3;

/// What is known of the last steps.
#[derive(Clone, Default)]
pub(super) struct Stalled {
    /// Steps since the time `begin`.
    steps: u32,
    begin: f64,
    /// The time at which the window began.
    since: f64,
    last: Vec<f64>,
    now: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    jumps: Vec<u32>,
    /// The states at the beginning of the second window, and where slopes lead from there; how far they led in all.
    from: Vec<f64>,
    path: Vec<f64>,
    length: Vec<f64>,
}

impl Simulation {
    /// After a step without event.
    pub(super) fn watch_progress(&mut self, time: f64) -> Result<(), Stop> {
        let stalled = &mut self.stalled;
        if stalled.steps == 0 {
            stalled.begin = time;
        }
        stalled.steps += 1;
        let Some(looked) = stalled.steps.checked_sub(MANY) else { return Ok(()) };
        let are_short = time - stalled.begin < SHORT * self.options.interval * f64::from(stalled.steps);
        if !are_short || self.options.solver.is_fixed_step() {
            stalled.steps = 0;
            return Ok(());
        }
        self.note_slopes(time, looked);
        if self.stalled.steps < MANY + 2 * WINDOW {
            return Ok(());
        }
        self.stalled.steps = 0;
        let length = (time - self.stalled.since) / f64::from(WINDOW);
        let slides = (0..self.x.len()).find(|&state| self.slides(state));
        match slides {
            Some(state) if self.options.stop_time - time > TOO_MANY * length && !self.is_stiff(time, length) => {
                if self.is_rounding(state) && self.forgets_size(state) {
                    return Ok(());
                }
                Err(self.sliding(state, time, length).into())
            }
            _ => Ok(()),
        }
    }

    /// An event explains jumps.
    pub(super) fn forget_progress(&mut self) {
        self.stalled.steps = 0;
    }

    /// Whether a motion that decays during a step shortens the steps: an explicit method jumps to and fro across it.
    fn is_stiff(&mut self, time: f64, length: f64) -> bool {
        let machine = &mut self.runtime.machine;
        let Some(pattern) = machine.jacobian_pattern().cloned() else { return false };
        let mut values = vec![0.0; pattern.entries()];
        let evaluated = matches!(machine.jacobian(time, &self.x, &mut values), Ok(true));
        let damping = Influences { pattern: &pattern, values: &values }.damping();
        evaluated && damping.iter().any(|damping| damping * length > 1.0)
    }

    /// Whether a slope that jumps cannot move its state by what counts beside 1 until the run ends, such as the speed between two sides of a
    /// clutch that holds: what jumps is rounding then.
    fn is_rounding(&self, state: usize) -> bool {
        let Stalled { low, high, .. } = &self.stalled;
        let largest = low[state].abs().max(high[state].abs());
        largest * (self.options.stop_time - self.options.start_time) <= self.options.tolerance
    }

    /// A size that makes rounding count is taken back; whether there was one.
    fn forgets_size(&mut self, state: usize) -> bool {
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        self.sizes.forget(machine, &mut **integrator, state, self.options.tolerance)
    }

    fn slides(&self, state: usize) -> bool {
        let Stalled { jumps, from, path, length, .. } = &self.stalled;
        let Some(&jumps) = jumps.get(state) else { return false };
        let astray = (self.x[state] - from[state] - path[state]).abs();
        let size = self.x[state].abs().max(self.runtime.machine.nominal(self.program.states[state].variable));
        let is_astray = astray > ASTRAY * length[state] && astray > self.options.tolerance * size;
        is_astray || f64::from(jumps) > OFTEN * f64::from(WINDOW)
    }

    /// In the first window of steps the range of slopes is found, in the second one jumps are counted.
    fn note_slopes(&mut self, time: f64, looked: u32) {
        let size = self.x.len();
        self.runtime.integrator.interpolate(time, &mut self.x);
        if self.runtime.machine.evaluate(time, &self.x).is_err() {
            return self.forget_progress();
        }
        let stalled = &mut self.stalled;
        stalled.now.resize(size, 0.0);
        self.program.read_derivatives(&self.runtime.machine.memory, &mut stalled.now);
        if looked == 0 {
            (stalled.low, stalled.high) = (stalled.now.clone(), stalled.now.clone());
            stalled.jumps = vec![0; size];
        } else if looked <= WINDOW {
            stalled.since = time;
            stalled.low.iter_mut().zip(&stalled.now).for_each(|(low, now)| *low = low.min(*now));
            stalled.high.iter_mut().zip(&stalled.now).for_each(|(high, now)| *high = high.max(*now));
            if looked == WINDOW {
                stalled.from.clone_from(&self.x);
                (stalled.path, stalled.length) = (vec![0.0; size], vec![0.0; size]);
            }
        } else {
            for (place, slope) in stalled.now.iter().enumerate() {
                stalled.path[place] += self.last_step * slope;
                stalled.length[place] += self.last_step * slope.abs();
            }
            for (place, jumps) in stalled.jumps.iter_mut().enumerate() {
                let range = stalled.high[place] - stalled.low[place];
                let change = stalled.now[place] - stalled.last[place];
                *jumps += u32::from(range > 0.0 && change.abs() > JUMP * range);
            }
        }
        std::mem::swap(&mut stalled.last, &mut stalled.now);
    }

    fn sliding(&self, state: usize, time: f64, length: f64) -> Trouble {
        let variable = self.program.states[state].variable;
        let model = self.program.model();
        let name = model.variable_name(variable);
        let message = format!(
            "`der({name})` jumps back and forth without events from time {} on, so that steps are about {length:.1e} s long: a sliding mode",
            Decimal(time)
        );
        let hint = "`sign`, `noEvent` and the like switch as soon as they can: give them a hysteresis, a friction element or a slope of finite steepness";
        let diagnostic = Diagnostic::error("sliding-mode", message).hint(hint);
        let span = model.variables[variable].span;
        let placed = span.into_iter().fold(diagnostic, |diagnostic, span| diagnostic.at(span, "declared here"));
        Trouble::Model(Box::new(placed))
    }
}
