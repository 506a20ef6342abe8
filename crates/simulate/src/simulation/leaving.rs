//! What is zero after an event leaves zero as its derivative says.
//!
//! Where an event sets a limit to the value that is compared with it, the residue is zero at the restart, and its sign behind
//! it decides. Between the ends of a step the dense output is as good as the tolerance, no better: its slope at the beginning
//! may lead a small or quick quantity the wrong way. So a residue that leaves zero at once is compared with the slope of the
//! model itself; a step that contradicts it is too long to tell, and is taken again, shorter.

use solve::Step;
use solve::roots::{CrossingFunctions, Event};

use crate::modes::Station;

use super::retake::{RESOLUTION, SHORTEST};
use super::{Simulation, Stop};

/// The part of a step in which a residue leaves at once.
const AT_ONCE: f64 = 1e-6;
/// The part of a step over which the slope of the model is followed.
const PROBE: f64 = 1e-3;

impl Simulation {
    /// Whether a residue that is zero at the beginning of the step leaves it against its derivative there.
    pub(super) fn leaves_wrongly(&mut self, step: &Step, event: &Event) -> Result<bool, Stop> {
        let (begin, length) = (step.t_old, step.t_new - step.t_old);
        let at_once = (AT_ONCE * length).max(RESOLUTION * begin.abs());
        let is_long = length > SHORTEST * self.options.interval && PROBE * length > at_once;
        let fixed = self.options.solver.is_fixed_step();
        let roots = &self.station.roots;
        let suspects = roots.crossings().iter().any(|crossing| roots.began_at_zero(crossing.function));
        if !suspects || !is_long || fixed || event.t - begin > at_once {
            return Ok(false);
        }
        let count = self.program.roots.len();
        let (mut first, mut at_event, mut probed) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        self.residues_at(event.t, &mut at_event)?;
        self.residues_at(begin, &mut first)?;
        let Station { machine, roots, .. } = &mut *self.station;
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
        if !is_first || !is_long || !self.station.integrator.begins_straight() || self.program.roots.is_empty() {
            return Ok(false);
        }
        let count = self.program.roots.len();
        let (mut first, mut dense, mut probed) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        let probe = PROBE * length;
        self.residues_at(begin + probe, &mut dense)?;
        self.residues_at(begin, &mut first)?;
        let Station { machine, roots, .. } = &mut *self.station;
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

    /// The residues on the dense output; memory holds the point.
    fn residues_at(&mut self, time: f64, residues: &mut [f64]) -> Result<(), Stop> {
        let Station { machine, integrator, .. } = &mut *self.station;
        integrator.interpolate(time, &mut self.x);
        let outcome = CrossingFunctions::evaluate(machine, time, &self.x, residues);
        outcome.map_err(|_| self.last_trouble().into())
    }
}
