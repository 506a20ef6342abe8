//! The automatic choice of a method, which may change during the run.
//!
//! Begins explicitly. Changes to an implicit method when the explicit one is limited by stability (detected as in DOPRI5),
//! and back when the step times the norm of the Jacobian has been small for some time (Petzold, *Automatic selection
//! of methods for solving stiff and nonstiff systems*, 1983). Among the implicit methods the multistep one is better the
//! longer the solution stays smooth; one-step methods recover at once from an event. So the number of steps between
//! events decides.

use crate::bdf::Bdf;
use crate::dop853::Dop853;
use crate::error::StepError;
use crate::esdirk::Esdirk;
use crate::ode::{DenseOutput, Integrator, OdeProblem, Options, Statistics, Step};
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Active {
    Explicit,
    OneStep,
    Multistep,
}

pub struct Auto {
    explicit: Box<dyn Explicit>,
    one_step: Esdirk,
    multistep: Bdf,
    active: Active,
    /// Moving average of the steps from one event to the next.
    steps_between_events: f64,
    steps_since_event: u64,
    smooth_steps: u64,
    patience: u64,
    changes: u64,
    x: Vec<f64>,
}

impl Auto {
    pub fn new(size: usize, options: Options) -> Self {
        let explicit: Box<dyn Explicit> = if options.relative_tolerance < TIGHT_TOLERANCE {
            Box::new(Dop853::new(size, options.clone()))
        } else {
            Box::new(Tsit5::new(size, options.clone()))
        };
        Auto {
            explicit,
            one_step: Esdirk::new(size, options.clone()),
            multistep: Bdf::new(size, options),
            active: Active::Explicit,
            steps_between_events: f64::INFINITY,
            steps_since_event: 0,
            smooth_steps: 0,
            patience: PATIENCE,
            changes: 0,
            x: vec![0.0; size],
        }
    }

    /// How often the method changed.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    fn current(&self) -> &dyn Integrator {
        match self.active {
            Active::Explicit => &*self.explicit,
            Active::OneStep => &self.one_step,
            Active::Multistep => &self.multistep,
        }
    }

    fn current_mut(&mut self) -> &mut dyn Integrator {
        match self.active {
            Active::Explicit => &mut *self.explicit,
            Active::OneStep => &mut self.one_step,
            Active::Multistep => &mut self.multistep,
        }
    }

    fn next_step(&self) -> f64 {
        match self.active {
            Active::Explicit => self.explicit.next_step(),
            Active::OneStep => self.one_step.next_step(),
            Active::Multistep => self.multistep.next_step(),
        }
    }

    fn implicit_choice(&self) -> Active {
        if self.steps_between_events < STEPS_FOR_MULTISTEP { Active::OneStep } else { Active::Multistep }
    }

    fn change_to(&mut self, active: Active, problem: &mut dyn OdeProblem) -> Result<(), StepError> {
        if active == self.active {
            return Ok(());
        }
        let t = self.current().time();
        let mut x = std::mem::take(&mut self.x);
        x.copy_from_slice(self.current().state());
        // The multistep method starts at order one and finds its own first step.
        let h = if active == Active::Multistep { None } else { Some(self.next_step()) };
        self.active = active;
        self.changes += 1;
        self.smooth_steps = 0;
        let outcome = self.current_mut().start(problem, t, &x, h);
        self.x = x;
        outcome
    }

    fn reconsider(&mut self, problem: &mut dyn OdeProblem) -> Result<(), StepError> {
        if self.active == Active::Explicit {
            if self.explicit.is_stiff() {
                self.change_to(self.implicit_choice(), problem)?;
            }
            return Ok(());
        }
        if self.smooth_steps > self.patience {
            self.patience = self.patience.saturating_mul(2);
            return self.change_to(Active::Explicit, problem);
        }
        Ok(())
    }

    fn watch(&mut self, step: &Step) {
        self.steps_since_event += 1;
        let norm = match self.active {
            Active::Explicit => return,
            Active::OneStep => self.one_step.jacobian_norm(),
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
}

impl Integrator for Auto {
    fn start(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h0: Option<f64>) -> Result<(), StepError> {
        self.active = Active::Explicit;
        self.smooth_steps = 0;
        self.steps_since_event = 0;
        self.explicit.start(problem, t, x, h0)
    }

    fn step(&mut self, problem: &mut dyn OdeProblem, t_limit: f64) -> Result<Step, StepError> {
        self.reconsider(problem)?;
        match self.current_mut().step(problem, t_limit) {
            Ok(step) => {
                self.watch(&step);
                Ok(step)
            }
            Err(StepError::Evaluation { t, error }) if !error.recoverable => Err(StepError::Evaluation { t, error }),
            Err(first) => {
                // What stops one method may not stop another.
                let other = if self.active == Active::Multistep { Active::OneStep } else { Active::Multistep };
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
            Active::Explicit => Active::Explicit,
            // A one-step method takes fewer and longer steps.
            Active::OneStep if 3.0 * self.steps_between_events > 1.5 * STEPS_FOR_MULTISTEP => Active::Multistep,
            Active::OneStep => Active::OneStep,
            Active::Multistep => self.implicit_choice(),
        };
        if wanted == self.active {
            return self.current_mut().restart(problem, t, x);
        }
        if wanted == Active::Multistep {
            self.steps_between_events *= 3.0;
        } else {
            self.steps_between_events /= 3.0;
        }
        let h = if wanted == Active::OneStep { Some(3.0 * self.next_step()) } else { None };
        self.active = wanted;
        self.changes += 1;
        self.current_mut().start(problem, t, x, h)
    }

    fn reset(&mut self, size: usize) {
        self.explicit.reset(size);
        self.one_step.reset(size);
        self.multistep.reset(size);
        self.x = vec![0.0; size];
        self.active = Active::Explicit;
        self.patience = PATIENCE;
    }

    fn state(&self) -> &[f64] {
        self.current().state()
    }

    fn statistics(&self) -> Statistics {
        let mut total = self.explicit.statistics();
        total.add(&self.one_step.statistics());
        total.add(&self.multistep.statistics());
        total
    }

    fn name(&self) -> &'static str {
        "auto"
    }
}
