//! The automatic choice of a method, which may change during the run.
//!
//! Begins explicitly, unless a large system is plainly stiff from the beginning. Changes to an implicit method when the explicit one is limited by stability (detected as in DOPRI5);
//! the explicit one is tried again when the step times the norm of the Jacobian has been small for some time (Petzold,
//! *Automatic selection of methods for solving stiff and nonstiff systems*, 1983). Among the implicit methods the
//! multistep one is better the longer the solution stays smooth; one-step methods recover at once from an event. So the
//! number of steps between events decides at first.
//!
//! What such rules do not foresee is found out: now and then another method is on trial for a short while, and the one
//! that advances farther for the same effort stays. Effort is counted in evaluations, not in seconds, so that a run can
//! be repeated. Each trial that is lost doubles the effort until the next.

use crate::bdf::Bdf;
use crate::dissipation::fastest_decay;
use crate::dop853::Dop853;
use crate::error::StepError;
use crate::esdirk::Esdirk;
use crate::ode::{DenseOutput, Integrator, OdeProblem, Options, Statistics, Step};
use crate::rosenbrock::{self, Rosenbrock};
use crate::runge_kutta::Explicit;
use crate::tsit5::Tsit5;

/// Below this the explicit method of order eight needs less than the one of order five.
const TIGHT_TOLERANCE: f64 = 2e-8;
/// With fewer multistep steps than this between events, the one-step method is cheaper.
const STEPS_FOR_MULTISTEP: f64 = 30.0;
/// Below this product of step and Jacobian norm an explicit method can take the same step.
const EXPLICIT_LIMIT: f64 = 0.5;
/// So many such steps in a row before the explicit method is tried again; doubled with each relapse.
const PATIENCE: u64 = 30;
/// Effort before the first trial of another method, and effort of a trial.
const FIRST_TRIAL: f64 = 1500.0;
const TRIAL: f64 = 300.0;
/// A method on trial must be better by this factor, since every change has its price.
const CLEARLY_BETTER: f64 = 1.25;
/// By this factor when it shall take the place of an explicit one that seems at ease: at the same tolerance the explicit
/// methods are the more accurate ones.
const FAR_BETTER: f64 = 3.0;
/// The linearly implicit method needs a Jacobian and a factorisation for each step, which only small systems can afford.
const LARGEST_ROSENBROCK: usize = 100;

/// From this size on the Jacobian is looked at before the first step: explicit steps in vain are expensive.
const LARGE: usize = 100;
/// What decays so many times faster than the time to go would cost an explicit method hundreds of steps.
const PLAINLY_STIFF: f64 = 1e3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Active {
    Explicit,
    OneStep,
    Rosenbrock,
    Multistep,
}

/// Another method at work for a while.
#[derive(Clone, Copy, Debug)]
struct Trial {
    before: Active,
    /// Time for each unit of effort that the method before had made of late.
    pace: f64,
}

/// Goes over between an explicit and a stiff method.
#[derive(Clone)]
pub struct Auto {
    explicit: Box<dyn Explicit>,
    one_step: Esdirk,
    rosenbrock: Rosenbrock,
    multistep: Bdf,
    active: Active,
    /// Moving average of the steps from one event to the next.
    steps_between_events: f64,
    steps_since_event: u64,
    smooth_steps: u64,
    patience: u64,
    changes: u64,
    trial: Option<Trial>,
    /// A trial among the implicit methods was won: what was measured outweighs the rhythm of events.
    measured: bool,
    /// The next of the implicit methods to try.
    candidate: usize,
    /// Effort since the method was chosen or a trial was lost, and how much of it there is to be before the next trial.
    since: f64,
    until_trial: f64,
    /// Effort and time at two recent moments, half a trial apart or more, the older one first.
    marks: [(f64, f64); 2],
    x: Vec<f64>,
    /// No step has been taken yet.
    fresh: bool,
}

impl Auto {
    /// For so many states.
    pub fn new(size: usize, options: Options) -> Self {
        let explicit: Box<dyn Explicit> = if options.relative_tolerance < TIGHT_TOLERANCE {
            Box::new(Dop853::new(size, options.clone()))
        } else {
            Box::new(Tsit5::new(size, options.clone()))
        };
        Auto {
            explicit,
            one_step: Esdirk::new(size, options.clone()),
            rosenbrock: Rosenbrock::new(size, options.clone()),
            multistep: Bdf::new(size, options),
            active: Active::Explicit,
            steps_between_events: f64::INFINITY,
            steps_since_event: 0,
            smooth_steps: 0,
            patience: PATIENCE,
            changes: 0,
            trial: None,
            measured: false,
            candidate: 0,
            since: 0.0,
            until_trial: FIRST_TRIAL,
            marks: [(0.0, 0.0); 2],
            x: vec![0.0; size],
            fresh: true,
        }
    }

    /// How often the method changed.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The method at work.
    pub fn active(&self) -> &'static str {
        self.current().name()
    }

    fn current(&self) -> &dyn Integrator {
        match self.active {
            Active::Explicit => &*self.explicit,
            Active::OneStep => &self.one_step,
            Active::Rosenbrock => &self.rosenbrock,
            Active::Multistep => &self.multistep,
        }
    }

    fn current_mut(&mut self) -> &mut dyn Integrator {
        match self.active {
            Active::Explicit => &mut *self.explicit,
            Active::OneStep => &mut self.one_step,
            Active::Rosenbrock => &mut self.rosenbrock,
            Active::Multistep => &mut self.multistep,
        }
    }

    fn next_step(&self) -> f64 {
        match self.active {
            Active::Explicit => self.explicit.next_step(),
            Active::OneStep => self.one_step.next_step(),
            Active::Rosenbrock => self.rosenbrock.next_step(),
            Active::Multistep => self.multistep.next_step(),
        }
    }

    fn implicit_choice(&self) -> Active {
        if self.steps_between_events < STEPS_FOR_MULTISTEP { Active::OneStep } else { Active::Multistep }
    }

    /// Effort of the method at work since its creation, in evaluations of the right-hand side; a solve counts as one.
    fn effort(&self) -> f64 {
        let Statistics { steps, rejected, rhs, jacobians, factorisations, newton_iterations, .. } =
            self.current().statistics();
        let solves = match self.active {
            Active::Rosenbrock => rosenbrock::STAGES as u64 * (steps + rejected),
            _ => newton_iterations,
        };
        (rhs + solves + 3 * jacobians + 2 * factorisations) as f64
    }

    fn change_to(&mut self, active: Active, problem: &mut dyn OdeProblem) -> Result<(), StepError> {
        if active == self.active {
            return Ok(());
        }
        let t = self.current().time();
        let mut x = std::mem::take(&mut self.x);
        x.copy_from_slice(self.current().state());
        let h = self.first_step(active);
        self.active = active;
        self.changes += 1;
        self.smooth_steps = 0;
        let outcome = self.current_mut().start(problem, t, &x, h);
        self.x = x;
        self.begin_count();
        outcome
    }

    /// The multistep method starts at order one and finds its own first step; others go on with the present one.
    fn first_step(&self, active: Active) -> Option<f64> {
        let factor = if self.active == Active::Multistep { 3.0 } else { 1.0 };
        if active == Active::Multistep { None } else { Some(factor * self.next_step()) }
    }

    fn begin_count(&mut self) {
        self.since = self.effort();
        self.marks = [(self.since, self.current().time()); 2];
    }

    /// Time for each unit of effort, of late.
    fn pace(&self) -> f64 {
        let (effort, time) = (self.effort(), self.current().time());
        let (effort_then, time_then) = self.marks[0];
        (time - time_then) / (effort - effort_then).max(1.0)
    }

    /// Takes the multistep method before the first step of a large system that is plainly stiff.
    fn first_look(&mut self, problem: &mut dyn OdeProblem, t_limit: f64) -> Result<(), StepError> {
        let t = self.current().time();
        if !std::mem::take(&mut self.fresh) || self.x.len() < LARGE {
            return Ok(());
        }
        let x = self.current().state().to_vec();
        match fastest_decay(problem, t, &x) {
            Some(rate) if rate * (t_limit - t) > PLAINLY_STIFF => self.change_to(Active::Multistep, problem),
            _ => Ok(()),
        }
    }

    fn reconsider(&mut self, problem: &mut dyn OdeProblem) -> Result<(), StepError> {
        let spent = self.effort() - self.since;
        if let Some(trial) = self.trial {
            return if spent >= TRIAL { self.judge(trial, problem) } else { Ok(()) };
        }
        if self.active == Active::Explicit && self.explicit.is_stiff() {
            self.until_trial = FIRST_TRIAL;
            return self.change_to(self.implicit_choice(), problem);
        }
        if self.smooth_steps > self.patience {
            self.patience = self.patience.saturating_mul(2);
            return self.try_method(Active::Explicit, problem);
        }
        if spent >= self.until_trial {
            let candidate = self.next_candidate();
            return self.try_method(candidate, problem);
        }
        Ok(())
    }

    fn next_candidate(&mut self) -> Active {
        if self.active == Active::Explicit {
            return self.implicit_choice();
        }
        loop {
            self.candidate += 1;
            let candidate = [Active::Multistep, Active::Rosenbrock, Active::OneStep][self.candidate % 3];
            let affordable = candidate != Active::Rosenbrock || self.x.len() <= LARGEST_ROSENBROCK;
            if candidate != self.active && affordable {
                return candidate;
            }
        }
    }

    fn try_method(&mut self, active: Active, problem: &mut dyn OdeProblem) -> Result<(), StepError> {
        let trial = Trial { before: self.active, pace: self.pace() };
        self.change_to(active, problem)?;
        self.trial = Some(trial);
        Ok(())
    }

    /// Keeps the method on trial, or returns to the one before.
    fn judge(&mut self, trial: Trial, problem: &mut dyn OdeProblem) -> Result<(), StepError> {
        self.trial = None;
        let factor = if trial.before == Active::Explicit { FAR_BETTER } else { CLEARLY_BETTER };
        if self.pace() > factor * trial.pace && !(self.active == Active::Explicit && self.explicit.is_stiff()) {
            self.until_trial = FIRST_TRIAL;
            self.measured = self.active != Active::Explicit;
            self.begin_count();
            return Ok(());
        }
        self.until_trial *= 2.0;
        self.change_to(trial.before, problem)
    }

    fn watch(&mut self, step: &Step) {
        self.steps_since_event += 1;
        let effort = self.effort();
        if effort - self.marks[1].0 >= 0.5 * TRIAL {
            self.marks = [self.marks[1], (effort, step.t_new)];
        }
        let norm = match self.active {
            Active::Explicit => return,
            Active::OneStep => self.one_step.jacobian_norm(),
            Active::Rosenbrock => self.rosenbrock.jacobian_norm(),
            Active::Multistep => self.multistep.jacobian_norm(),
        };
        if (step.t_new - step.t_old) * norm < EXPLICIT_LIMIT {
            self.smooth_steps += 1;
        } else {
            self.smooth_steps = 0;
        }
    }
}

impl DenseOutput for Auto {
    fn time(&self) -> f64 {
        self.current().time()
    }

    fn interpolate(&self, t: f64, out: &mut [f64]) {
        self.current().interpolate(t, out);
    }

    fn interpolate_some(&self, t: f64, components: &[usize], out: &mut [f64]) {
        self.current().interpolate_some(t, components, out);
    }

    fn degree(&self) -> usize {
        self.current().degree()
    }
}

impl Integrator for Auto {
    fn start(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h0: Option<f64>) -> Result<(), StepError> {
        self.active = Active::Explicit;
        self.fresh = true;
        self.smooth_steps = 0;
        self.steps_since_event = 0;
        self.trial = None;
        let outcome = self.explicit.start(problem, t, x, h0);
        self.begin_count();
        outcome
    }

    fn step(&mut self, problem: &mut dyn OdeProblem, t_limit: f64) -> Result<Step, StepError> {
        self.first_look(problem, t_limit)?;
        self.reconsider(problem)?;
        match self.current_mut().step(problem, t_limit) {
            Ok(step) => {
                self.watch(&step);
                Ok(step)
            }
            Err(StepError::Evaluation { t, error }) if !error.recoverable => Err(StepError::Evaluation { t, error }),
            Err(first) => {
                // What stops one method may not stop another.
                let other = match self.trial.take() {
                    Some(trial) => trial.before,
                    None if self.active == Active::Multistep => Active::OneStep,
                    None => Active::Multistep,
                };
                self.change_to(other, problem)?;
                let step = self.current_mut().step(problem, t_limit).map_err(|_| first)?;
                self.watch(&step);
                Ok(step)
            }
        }
    }

    fn correct(&mut self, problem: &mut dyn OdeProblem, x: &[f64]) -> Result<(), StepError> {
        self.current_mut().correct(problem, x)
    }

    fn restart(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Result<(), StepError> {
        let steps = std::mem::take(&mut self.steps_since_event) as f64;
        let average = self.steps_between_events;
        // The first event counts at once, later ones by a fifth. Several at one instant, or one at the start, are no rhythm.
        if steps > 0.0 {
            self.steps_between_events = if average.is_finite() { average + 0.2 * (steps - average) } else { steps };
        }
        let wanted = match self.active {
            _ if self.trial.is_some() || self.measured => self.active,
            // A one-step method takes fewer and longer steps.
            Active::OneStep if 3.0 * self.steps_between_events > 1.5 * STEPS_FOR_MULTISTEP => Active::Multistep,
            Active::Multistep => self.implicit_choice(),
            active => active,
        };
        if wanted == self.active {
            return self.current_mut().restart(problem, t, x);
        }
        if wanted == Active::Multistep {
            self.steps_between_events *= 3.0;
        } else {
            self.steps_between_events /= 3.0;
        }
        let h = self.first_step(wanted);
        self.active = wanted;
        self.changes += 1;
        let outcome = self.current_mut().start(problem, t, x, h);
        self.begin_count();
        outcome
    }

    fn defect(&mut self, t: f64, slope: &[f64]) -> f64 {
        self.current_mut().defect(t, slope)
    }

    fn begins_straight(&self) -> bool {
        self.current().begins_straight()
    }

    fn planned_step(&self) -> Option<f64> {
        self.current().planned_step()
    }

    fn begin_anew(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h: f64) -> Result<(), StepError> {
        self.current_mut().begin_anew(problem, t, x, h)
    }

    fn sharpen(&mut self, factor: f64) {
        self.multistep.sharpen(factor);
    }

    fn set_absolute_tolerance(&mut self, component: usize, absolute: f64) {
        self.explicit.set_absolute_tolerance(component, absolute);
        self.one_step.set_absolute_tolerance(component, absolute);
        self.rosenbrock.set_absolute_tolerance(component, absolute);
        self.multistep.set_absolute_tolerance(component, absolute);
    }

    fn retake(&mut self, problem: &mut dyn OdeProblem, t: f64, h: f64) -> Result<(), StepError> {
        self.current_mut().retake(problem, t, h)
    }

    fn reset(&mut self, size: usize) {
        self.explicit.reset(size);
        self.one_step.reset(size);
        self.rosenbrock.reset(size);
        self.multistep.reset(size);
        self.x = vec![0.0; size];
        self.active = Active::Explicit;
        self.patience = PATIENCE;
        self.trial = None;
        self.measured = false;
        self.until_trial = FIRST_TRIAL;
    }

    fn state(&self) -> &[f64] {
        self.current().state()
    }

    fn statistics(&self) -> Statistics {
        let mut total = self.explicit.statistics();
        total.add(&self.one_step.statistics());
        total.add(&self.rosenbrock.statistics());
        total.add(&self.multistep.statistics());
        total
    }

    fn name(&self) -> &'static str {
        "auto"
    }
}
