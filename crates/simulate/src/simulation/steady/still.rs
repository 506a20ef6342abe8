//! A run while time stands still: how a model comes to rest from a point, up to the next change of a relation.

use solve::OdeProblem;

use super::*;

/// Errors of a step, relative to the states: what nonlinear equations conserve is kept to this.
const TOLERANCE: f64 = 1e-8;
const MOST_STEPS: usize = 5000;
/// Successive steps in which no derivative changes, in a model that never comes to rest.
const UNCHANGED: usize = 8;
/// The largest correction, relative to the states, with which a run may end.
const NEAR: f64 = 1e-4;

/// How a run ended.
pub(super) enum Ended {
    AtRest,
    /// A relation changes at the point.
    LeftBranch,
    /// Derivatives do not vanish and do not change any more.
    Endless,
    /// The point is the last one that was reached.
    Exhausted,
}

/// The model at an instant, over the time of a run of its own.
struct Still<'a> {
    machine: &'a mut Machine,
    instant: f64,
    /// The exact Jacobian takes what delays give for known.
    exact: bool,
}

impl OdeProblem for Still<'_> {
    fn size(&self) -> usize {
        self.machine.size()
    }

    fn rhs(&mut self, _t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), solve::EvalError> {
        self.machine.rhs(self.instant, x, dx)
    }

    fn jacobian_pattern(&self) -> Option<&solve::Pattern> {
        if self.exact { self.machine.jacobian_pattern() } else { None }
    }

    fn jacobian(&mut self, _t: f64, x: &[f64], values: &mut [f64]) -> Result<bool, solve::EvalError> {
        if self.exact { self.machine.jacobian(self.instant, x, values) } else { Ok(false) }
    }
}

impl Simulation {
    fn still(&mut self) -> Still<'_> {
        let machine = &mut self.runtime.machine;
        let exact = machine.memory.delays.is_empty();
        Still { machine, instant: self.time, exact }
    }

    /// Runs from the point with the relations as they are.
    pub(super) fn run_still(&mut self, point: &mut Point) -> Result<Ended, Stop> {
        if !self.evaluate_point(point)? {
            return Err(self.last_trouble().into());
        }
        if let Some(rest) = self.end_at_rest(point)? {
            *point = rest;
            return Ok(Ended::AtRest);
        }
        let machine = &self.runtime.machine;
        let nominals: Vec<f64> = machine.program.states.iter().map(|state| machine.nominal(state.variable)).collect();
        let settings = solve::Options::with_nominals(TOLERANCE.min(self.options.tolerance), &nominals);
        let mut integrator = Method::Bdf.integrator(point.x.len(), settings);
        if integrator.start(&mut self.still(), 0.0, &point.x, None).is_err() {
            return Err(self.last_trouble().into());
        }
        let mut unchanged = 0;
        for _ in 0..MOST_STEPS {
            let Ok(step) = integrator.step(&mut self.still(), f64::MAX) else { return Ok(Ended::Exhausted) };
            let before = point.clone();
            point.x.copy_from_slice(integrator.state());
            if !self.evaluate_point(point)? {
                *point = before;
                return Ok(Ended::Exhausted);
            }
            if self.has_left_branch() {
                self.find_change(&*integrator, (step.t_old, step.t_new), point)?;
                return Ok(Ended::LeftBranch);
            }
            if let Some(rest) = self.end_at_rest(point)? {
                *point = rest;
                return Ok(Ended::AtRest);
            }
            let is_same = |(now, before): (&f64, &f64)| (now - before).abs() <= 1e-9 * (now.abs() + before.abs());
            let mut pairs = point.slope.iter().zip(&before.slope).enumerate();
            let rests = pairs.all(|(row, pair)| point.has_vanished(row) || is_same(pair));
            unchanged = if rests && !point.is_stationary() { unchanged + 1 } else { 0 };
            if unchanged > UNCHANGED {
                return Ok(Ended::Endless);
            }
        }
        Ok(Ended::Exhausted)
    }

    /// The stationary point next to one at which all derivatives have vanished; nothing where it is not near.
    fn end_at_rest(&mut self, point: &Point) -> Result<Option<Point>, Stop> {
        if !point.is_stationary() {
            return Ok(None);
        }
        let mut rest = point.clone();
        if matches!(self.iterate_to_rest(&mut rest)?, Newton::Failed) {
            // Steps that do not lead nearer: rounding keeps it from the place itself.
            let step = point.correction(&point.conserved());
            return Ok((distance(&step, &point.scale) <= CONVERGED.sqrt()).then(|| point.clone()));
        }
        let step: Vec<f64> = rest.x.iter().zip(&point.x).map(|(to, from)| to - from).collect();
        Ok((distance(&step, &point.scale) <= NEAR).then_some(rest))
    }

    /// Goes to the place within a step at which a relation has just changed.
    fn find_change(
        &mut self,
        integrator: &dyn solve::Integrator,
        (mut before, mut behind): (f64, f64),
        point: &mut Point,
    ) -> Result<(), Stop> {
        const HALVINGS: usize = 60;
        let mut x = point.x.clone();
        for _ in 0..HALVINGS {
            let middle = before + 0.5 * (behind - before);
            if middle <= before || middle >= behind {
                break;
            }
            integrator.interpolate(middle, &mut x);
            if self.runtime.machine.rhs(self.time, &x, &mut point.slope).is_ok() && !self.has_left_branch() {
                before = middle;
            } else {
                behind = middle;
            }
        }
        integrator.interpolate(behind, &mut point.x);
        self.runtime.machine.evaluate(self.time, &point.x)?;
        Ok(())
    }

    /// Whether a relation is not what it was at the beginning.
    fn has_left_branch(&mut self) -> bool {
        let program = &self.runtime.machine.program.clone();
        let mut residues = vec![0.0; program.roots.len()];
        program.crossings(&mut self.runtime.machine.memory, &mut residues);
        let values = &self.runtime.machine.memory.values;
        program.roots.iter().zip(&residues).any(|(root, &residue)| {
            let state = values[program.layout.relations[root.relation].state as usize];
            match root.side {
                compile::Side::Residue => residue * state < 0.0,
                compile::Side::Lower => residue < 0.0,
                compile::Side::Upper => residue > 0.0,
            }
        })
    }
}

fn distance(step: &[f64], scale: &[f64]) -> f64 {
    step.iter().zip(scale).map(|(step, scale)| (step / scale).abs()).fold(0.0, f64::max)
}
