//! What is zero after an event leaves zero as its derivative says.
//!
//! Where an event sets a limit to the value that is compared with it, the residue is zero at the restart, and its sign behind
//! it decides. Between the ends of a step the dense output is as good as the tolerance, no better: its slope at the beginning
//! may lead a small or quick quantity the wrong way. So a residue that leaves zero at once is compared with the slope of the
//! model itself; a step that contradicts it is too long to tell, and is taken again, shorter.

use solve::roots::{CrossingFunctions, Event};
use solve::{OdeProblem, Step};

use crate::modes::ModeRuntime;

use super::retake::{RESOLUTION, SHORTEST};
use super::{Simulation, Stop};

/// The part of a step in which a residue leaves at once.
const AT_ONCE: f64 = 1e-6;
/// The part of a step over which the slope of the model is followed.
const PROBE: f64 = 1e-3;

/// A residue that goes to zero, or leaves it and returns.
struct Flight {
    function: usize,
    /// How long it takes, and how far it goes.
    time: f64,
    height: f64,
}

impl Simulation {
    /// Whether a residue that is zero at the beginning of the step leaves it against its derivative there.
    pub(super) fn leaves_wrongly(&mut self, step: &Step, event: &Event) -> Result<bool, Stop> {
        let (begin, length) = (step.t_old, step.t_new - step.t_old);
        let at_once = (AT_ONCE * length).max(RESOLUTION * begin.abs());
        let is_long = length > SHORTEST * self.options.interval && PROBE * length > at_once;
        let fixed = self.options.solver.is_fixed_step();
        let roots = &self.runtime.roots;
        let suspects = roots.crossings().iter().any(|crossing| roots.began_at_zero(crossing.function));
        if !suspects || !is_long || fixed || event.t - begin > at_once {
            return Ok(false);
        }
        let count = self.program.roots.len();
        let (mut first, mut at_event, mut probed) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        self.residues_at(event.t, &mut at_event)?;
        self.residues_at(begin, &mut first)?;
        let ModeRuntime { machine, roots, .. } = &mut *self.runtime;
        machine.program.read_derivatives(&machine.memory, &mut self.slopes);
        let probe = PROBE * length;
        self.x.iter_mut().zip(&self.slopes).for_each(|(x, slope)| *x += probe * slope);
        if CrossingFunctions::evaluate(machine, begin + probe, &self.x, &mut probed).is_err() {
            return Ok(false);
        }
        Ok(roots.crossings().iter().any(|crossing| {
            let k = crossing.function;
            let (model, dense) = (probed[k] - first[k], at_event[k] - first[k]);
            // Behind the probe the model is much farther than rounding could take it at the event.
            roots.began_at_zero(k) && model * dense < 0.0 && model.abs() > 4.0 * dense.abs()
        }))
    }

    /// Whether a residue turns back inside of the first step behind an event and the step does not know: the first step of a
    /// multistep method is a straight line, and a ball that hardly leaves the ground would fall through it.
    pub(super) fn turns_unseen(&mut self, step: &Step) -> Result<bool, Stop> {
        let (begin, length) = (step.t_old, step.t_new - step.t_old);
        let is_long = length > (SHORTEST * self.options.interval).max(RESOLUTION * begin.abs() / PROBE);
        let is_first = self.instant.0 == begin;
        if !is_first || !is_long || !self.runtime.integrator.begins_straight() || self.program.roots.is_empty() {
            return Ok(false);
        }
        let count = self.program.roots.len();
        let (mut first, mut dense, mut probed) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        let probe = PROBE * length;
        self.residues_at(begin + probe, &mut dense)?;
        self.residues_at(begin, &mut first)?;
        let ModeRuntime { machine, roots, .. } = &mut *self.runtime;
        machine.program.read_derivatives(&machine.memory, &mut self.slopes);
        self.x.iter_mut().zip(&self.slopes).for_each(|(x, slope)| *x += probe * slope);
        if CrossingFunctions::evaluate(machine, begin + probe, &self.x, &mut probed).is_err() {
            return Ok(false);
        }
        Ok((0..count).any(|k| {
            let (model, dense) = (probed[k] - first[k], dense[k] - first[k]);
            let leaves = f64::from(roots.status()[k]) * model.signum() <= 0.0;
            // The model leads to the other side within the step, the step does not, or by far not as soon.
            leaves && model.signum() * dense < 0.5 * model.abs() && PROBE * first[k].abs() < model.abs()
        }))
    }

    /// Has the first steps follow a residue that leaves zero and returns to it, or goes there. How far it goes may be less than the tolerance, so that the control of the error does not see it; but whether and when it returns decides
    /// about events. One-step methods follow it with the order they have; multistep methods begin with a straight line.
    /// It is looked for over the first step, or `least` where that is longer.
    pub(super) fn follow_short_flight(&mut self, time: f64, least: f64) -> Result<(), Stop> {
        /// The first step, a straight line, against the time until the return, in units of the root of the tolerance.
        const STRAIGHT: f64 = 0.1;
        /// What is predicted from a step is predicted again from the time until the return where that is shorter than this.
        const ENOUGH: f64 = 0.25;
        /// A flight that is so much less exact than the solution is exact enough.
        const EXACT: f64 = 10.0;
        self.sharp_until = f64::INFINITY;
        let Some(length) = self.runtime.integrator.planned_step() else { return Ok(()) };
        if self.program.roots.is_empty() {
            return Ok(());
        }
        let begin = self.x.clone();
        let mut probe = length.max(least).min(self.options.stop_time - time);
        let mut flight = None;
        for _ in 0..3 {
            flight = self.first_flight(time, &begin, probe);
            match flight {
                Some(Flight { time, .. }) if time < ENOUGH * probe => probe = time,
                _ => break,
            }
        }
        let Some(flight) = flight else { return Ok(()) };
        let shortest = (SHORTEST * self.options.interval).max(RESOLUTION * time.abs());
        let sharpness = self.sharpness_for(time, &begin, &flight).unwrap_or(1.0);
        if flight.time <= shortest || sharpness <= EXACT {
            return Ok(());
        }
        let straight = (STRAIGHT * self.options.tolerance.sqrt() * flight.time).max(shortest);
        self.sharp_until = time + 2.0 * flight.time;
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        integrator.sharpen(sharpness);
        let outcome = integrator.begin_anew(machine, time, &begin, straight.min(length));
        outcome.map_err(|error| self.step_trouble(error).into())
    }

    /// A flight that did not end is over.
    pub(super) fn end_short_flight(&mut self) {
        if self.time > self.sharp_until {
            self.sharp_until = f64::INFINITY;
            self.runtime.integrator.sharpen(1.0);
        }
    }

    /// The first residue that reaches zero, or reaches it again, by the parabolas that the model begins with.
    fn first_flight(&mut self, time: f64, begin: &[f64], probe: f64) -> Option<Flight> {
        /// Parabolas are followed for so many times the length that they were found from.
        const FURTHEST: f64 = 1e3;
        /// A curvature that only rounding makes is none.
        const ROUNDING: f64 = 1e-10;
        if probe <= RESOLUTION * time.abs() {
            return None;
        }
        let count = self.program.roots.len();
        let machine = &mut self.runtime.machine;
        let (mut first, mut slopes) = (vec![0.0; begin.len()], vec![0.0; begin.len()]);
        machine.rhs(time, begin, &mut first).ok()?;
        let mut residues = [vec![0.0; count], vec![0.0; count], vec![0.0; count]];
        for (residues, part) in residues.iter_mut().zip([0.0, 0.5, 1.0]) {
            let length = part * probe;
            // The method of Heun, which knows the curvature.
            let along = |slopes: &[f64], x: &mut [f64]| {
                for ((x, begin), slope) in x.iter_mut().zip(begin).zip(slopes) {
                    *x = begin + length * slope;
                }
            };
            along(&first, &mut self.x);
            machine.rhs(time + length, &self.x, &mut slopes).ok()?;
            slopes.iter_mut().zip(&first).for_each(|(slope, first)| *slope = 0.5 * (*slope + first));
            along(&slopes, &mut self.x);
            CrossingFunctions::evaluate(machine, time + length, &self.x, residues).ok()?;
        }
        let (bands, [begin, middle, end]) = (&self.runtime.bands, &residues);
        let flights = (0..count).filter_map(|function| {
            let (begin, middle, end) = (begin[function], middle[function], end[function]);
            // r = begin + slope·s + curvature·s², with s in units of the probe.
            let curvature = 2.0 * (end - 2.0 * middle + begin);
            let slope = end - begin - curvature;
            let size = begin.abs().max(middle.abs()).max(end.abs());
            let discriminant = slope * slope - 4.0 * curvature * begin;
            let is_rounding = size <= bands.width(function) || curvature.abs() <= ROUNDING * size;
            let has_roots = discriminant > 0.0 && !is_rounding;
            if !has_roots {
                return None;
            }
            // The later one of the two places at which it is zero; the other one is where it leaves, or lies behind.
            let last = 0.5 * (discriminant.sqrt() - slope * curvature.signum()) / curvature.abs();
            let turns = slope * curvature < 0.0;
            let turn = if turns { 0.25 * slope * slope / curvature } else { 0.0 };
            let height = begin.abs().max((begin - turn).abs());
            (last > 0.0 && last <= FURTHEST).then_some(Flight { function, time: last * probe, height })
        });
        flights.min_by(|a, b| a.time.total_cmp(&b.time))
    }

    /// By what factor errors must be smaller than what the tolerance allows, so that they are small against a flight; less
    /// where rounding is in the way.
    fn sharpness_for(&mut self, time: f64, begin: &[f64], flight: &Flight) -> Option<f64> {
        /// Relative errors below this are rounding.
        const ROUNDING: f64 = 1e-12;
        let count = self.program.roots.len();
        let (mut first, mut moved) = (vec![0.0; count], vec![0.0; count]);
        let tolerance = self.options.tolerance;
        let machine = &mut self.runtime.machine;
        CrossingFunctions::evaluate(machine, time, begin, &mut first).ok()?;
        let mut finest = f64::INFINITY;
        for (place, (x, begin)) in self.x.iter_mut().zip(begin).enumerate() {
            let variable = self.program.states[place].variable;
            let size = self.sizes.small_size(variable).unwrap_or_else(|| machine.nominal(variable).abs());
            let allowed = tolerance * (begin.abs() + size);
            finest = finest.min(allowed / (ROUNDING * begin.abs()));
            // Uneven parts, so that what is compared with each other does not move alike.
            let uneven = 0.5 + 0.5 * (0.618_033_988_75 * (place + 1) as f64).fract();
            *x = begin + allowed * uneven;
        }
        CrossingFunctions::evaluate(machine, time, &self.x, &mut moved).ok()?;
        let allowed = (moved[flight.function] - first[flight.function]).abs();
        Some((allowed / (tolerance * flight.height)).min(finest))
    }

    /// The residues on the dense output; memory holds the point.
    fn residues_at(&mut self, time: f64, residues: &mut [f64]) -> Result<(), Stop> {
        let ModeRuntime { machine, integrator, .. } = &mut *self.runtime;
        integrator.interpolate(time, &mut self.x);
        let outcome = CrossingFunctions::evaluate(machine, time, &self.x, residues);
        outcome.map_err(|_| self.last_trouble().into())
    }
}
