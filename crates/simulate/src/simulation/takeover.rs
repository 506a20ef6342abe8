//! How a run gets from one structure for all modes to the modes: at the start or at the event at which that structure is
//! singular, or at which it lets a differentiated variable jump; and events once the modes are in charge.

use super::*;
use crate::continuity::Broken;
use crate::modes::{Instant, Left, Start};
use crate::start_point::StartPoint;

impl Simulation {
    /// Initialises the structure for all modes; where that is singular, the modes.
    pub(super) fn begin_in_one(&mut self, start: f64) -> Result<Aftermath, Stop> {
        let span = (start, self.options.stop_time);
        let ModeRuntime { machine, names, .. } = &mut *self.runtime;
        let mut outcome = match &self.options.start_point {
            Some(point) => point.begin(machine, names, span, &mut self.log),
            None => initial::initialise(machine, names, span, &mut self.log),
        };
        // Before the start nothing was called for.
        machine.systems.take_missed();
        if self.spare.as_ref().is_some_and(|modes| !modes.conditions().is_empty()) && outcome.is_ok() {
            let settled = machine.run(|sections| &sections.dynamics, Phase::Frozen);
            outcome = settled.and_then(|()| machine.evaluate_outputs()).and(outcome);
        }
        if let Some(modes) = self.spare.as_ref().filter(|modes| !modes.conditions().is_empty())
            && needs_modes(&outcome, &self.runtime)
        {
            let strict = modes.strict;
            let modes = Box::new(Switching::new(modes.clone(), self.program.clone(), &self.options));
            let program = &self.program.clone();
            let begun = match &self.options.start_point.clone() {
                Some(point) => self.resume_in_modes(modes, point),
                None => self.begin_in_modes(modes, outcome.is_ok()),
            };
            match begun {
                Ok(aftermath) => return Ok(aftermath),
                Err(stop) if strict || matches!(&outcome, Err(trouble) if trouble.is_singular()) => return Err(stop),
                Err(stop) if has_code(&stop, crate::conditions::CODE) => return Err(stop),
                // The model as one structure speaks more clearly, and its solution of least norm is better than none.
                Err(_) => {
                    self.go_back_to(Box::new(ModeRuntime::new(Machine::new(program.clone()), &self.options)));
                    self.begin_sensitivities()?;
                    let ModeRuntime { machine, names, .. } = &mut *self.runtime;
                    outcome = outcome.and_then(|_| initial::initialise(machine, names, span, &mut Journal::default()));
                }
            }
        }
        let (clockwork, aftermath) = outcome?;
        self.clockwork = clockwork;
        Ok(aftermath)
    }

    /// Finds the first mode and the first point; `told`: the log says already that the model is initialised.
    pub(super) fn begin_in_modes(&mut self, mut modes: Box<Switching>, told: bool) -> Result<Aftermath, Stop> {
        let start = self.options.start_time;
        let found = modes.start(&mut self.runtime);
        if !told {
            self.log.write(&Entry::Initialised { time: start });
        }
        let outcome = match found {
            Ok(Start::Found(clockwork, aftermath)) => {
                self.clockwork = clockwork;
                if self.log.is_active() {
                    let left = Left::of(&mut self.runtime, modes.variables());
                    self.log.write(&Entry::Mode(&modes.change(&self.runtime, None, &left)));
                }
                let trigger = Trigger { crossed: false, relation: false, before: None };
                let rest = self.instant_in(&mut modes, start, trigger, |instant| instant.go_on());
                rest.map(|rest| Aftermath { terminated: aftermath.terminated.or(rest.terminated), ..rest })
            }
            Ok(Start::Before(left)) => {
                self.end_sensitivities_before_start();
                let Machine { program, memory, .. } = &self.runtime.machine;
                self.clockwork = Clockwork::new(program, memory, start, self.options.stop_time);
                let trigger = Trigger { crossed: false, relation: false, before: None };
                self.instant_in(&mut modes, start, trigger, |instant| instant.begin(left))
            }
            Err(trouble) => Err(trouble),
        };
        self.modes = Some(modes);
        self.take_program();
        Ok(outcome?)
    }

    /// Finds the mode that holds at the point of another run.
    pub(super) fn resume_in_modes(&mut self, mut modes: Box<Switching>, point: &StartPoint) -> Result<Aftermath, Stop> {
        let (start, stop) = (self.options.start_time, self.options.stop_time);
        point.prepare(&mut self.runtime.machine, start)?;
        self.clockwork = point.clockwork(&self.runtime.machine, (start, stop));
        let left = modes.resume(&mut self.runtime)?;
        self.log.write(&Entry::Initialised { time: start });
        let trigger = Trigger { crossed: false, relation: false, before: None };
        let outcome = self.instant_in(&mut modes, start, trigger, |instant| instant.begin(left));
        self.modes = Some(modes);
        self.take_program();
        Ok(outcome?)
    }

    /// Goes through an event in the structure for all modes; where that is singular, or lets something jump that must not,
    /// in the modes.
    pub(super) fn pass_in_one(&mut self, time: f64, trigger: Trigger) -> Result<Aftermath, Stop> {
        let clockwork = self.spare.as_ref().map(|_| {
            self.fallback.remember(&self.runtime.machine.memory.values);
            self.fallback.tangents.clone_from(&self.runtime.machine.sensitivities);
            self.clockwork.clone()
        });
        let ModeRuntime { machine, bands, signals, .. } = &mut *self.runtime;
        bands.prepare(&mut machine.memory, &self.program, signals, &self.crossings);
        self.runtime.bands.enter(&mut self.runtime.machine.memory, &self.program, &self.crossings);
        self.enter_departure(time);
        let delay = if trigger.relation { self.clockwork.just_after(time) - time } else { 0.0 };
        let ModeRuntime { machine, names, .. } = &mut *self.runtime;
        machine.ahead = delay;
        let span = (self.options.stop_time - self.options.start_time).abs();
        machine.resting.begin(time, span, 0.1 * self.last_step);
        let is_behind = delay != 0.0 && self.program.is_just_behind(&mut machine.memory, delay);
        machine.memory.set_ahead(if is_behind { delay } else { 0.0 });
        self.program.look_ahead(&mut machine.memory, delay);
        if trigger.relation && delay == 0.0 {
            // The run ends here: nothing lies behind the instant, and systems keep relations at zero as they were.
            machine.memory.set_time(time);
            self.program.update_exact_relations(&mut machine.memory);
        }
        let mut outcome = match &clockwork {
            Some(_) => events::pass(machine, names, &mut self.log, &mut self.clockwork, time, &mut self.fallback),
            None => events::pass(machine, names, &mut self.log, &mut self.clockwork, time, &mut events::Unwatched),
        };
        machine.ahead = 0.0;
        machine.memory.set_ahead(0.0);
        self.program.look_ahead(&mut machine.memory, 0.0);
        if outcome.is_err() {
            // Messages speak of the instant, not of the rounding error by which it was passed.
            machine.memory.set_time(time);
        }
        let Some(clockwork) = clockwork else { return Ok(outcome?) };
        let has_alternatives = self.spare.as_ref().is_some_and(|modes| !modes.conditions().is_empty());
        if has_alternatives && outcome.is_ok() {
            machine.memory.set_time(time);
            // What is singular must show while there is a way out.
            let settled = machine.run(|sections| &sections.dynamics, Phase::Frozen);
            outcome = settled.and_then(|()| machine.evaluate_outputs()).and(outcome);
        }
        let missed = self.runtime.machine.systems.take_missed();
        if has_alternatives && (missed | needs_modes(&outcome, &self.runtime)) {
            return self.take_over(time, trigger, clockwork, Ok(outcome));
        }
        if outcome.is_err() && self.fallback.has_jumped(&self.runtime.machine) {
            // What went wrong may be a consequence of values that nothing explains.
            return self.take_over(time, trigger, clockwork, Ok(outcome));
        }
        let aftermath = outcome?;
        match self.unexplained(time)? {
            Some(broken) => self.take_over(time, trigger, clockwork, Err(broken)),
            None => Ok(aftermath),
        }
    }

    /// Goes through an event in the modes that was begun in the structure for all of them. `outcome` is what came of it
    /// there, or what jumped.
    fn take_over(
        &mut self,
        time: f64,
        trigger: Trigger,
        clockwork: Clockwork,
        outcome: Result<Result<Aftermath, Trouble>, Broken>,
    ) -> Result<Aftermath, Stop> {
        let Some(mut modes) = self.take_modes() else {
            return Ok(outcome.unwrap_or_else(|_| Ok(Aftermath::default()))?);
        };
        let strict = modes.modes().strict;
        let left = self.fallback.left(&mut self.runtime, modes.variables());
        let mut entered = match &outcome {
            Ok(_) => modes.enter(&mut self.runtime, &left, &self.crossings),
            Err(_) => {
                // The mode before the event is that of the values before it.
                let values = &mut self.runtime.machine.memory.values;
                let after = std::mem::replace(values, self.fallback.values.clone());
                let entered = modes.enter(&mut self.runtime, &left, &self.crossings);
                if entered.is_err() {
                    self.runtime.machine.memory.values = after;
                }
                entered
            }
        };
        if outcome.is_err() && entered.is_err() {
            entered = modes.enter(&mut self.runtime, &left, &self.crossings);
        }
        self.violation = self.violation.take().or_else(|| modes.violation().cloned());
        match entered {
            Ok((crossings, before)) => {
                self.runtime.machine.sensitivities = self.fallback.tangents.take();
                let found = std::mem::replace(&mut self.crossings, crossings);
                let Machine { program, memory, .. } = &self.runtime.machine;
                let other = clockwork.in_program(program, memory);
                let clockwork = std::mem::replace(&mut self.clockwork, other);
                match (self.instant(modes, time, trigger), before, outcome) {
                    // A solution of least norm is better than none, unless something may move as it likes.
                    (Err(stop), Some(before), Ok(outcome))
                        if outcome.is_ok() && !strict && !leaves_motion_undetermined(&stop) =>
                    {
                        (self.crossings, self.clockwork) = (found, clockwork);
                        self.go_back_to(before);
                        Ok(outcome?)
                    }
                    (Err(Stop::Trouble(trouble)), _, Err(broken)) => {
                        Err(self.unexplained_jump(time, broken, trouble).into())
                    }
                    (Err(_), _, Ok(Err(trouble))) if is_restless(&trouble) => Err(trouble.into()),
                    (passed, ..) => passed,
                }
            }
            Err(trouble) => match outcome {
                Ok(Ok(aftermath)) => Ok(aftermath),
                Ok(Err(restless)) if is_restless(&restless) => Err(restless.into()),
                Ok(Err(_)) => Err(trouble.into()),
                Err(broken) => Err(self.unexplained_jump(time, broken, trouble).into()),
            },
        }
    }

    /// The modes that stand by, made when they are first needed.
    pub(super) fn take_modes(&mut self) -> Option<Box<Switching>> {
        let modes = self.spare.as_ref()?;
        let new = || Box::new(Switching::new(modes.clone(), self.program.clone(), &self.options));
        let mut modes = self.fallback.modes.take().unwrap_or_else(new);
        self.fallback.tell_sizes(&mut modes, &mut self.runtime);
        Some(modes)
    }

    /// Goes on with the structure for all modes, for good.
    pub(super) fn go_back_to(&mut self, runtime: Box<ModeRuntime>) {
        self.violation = self.take_violation();
        (self.runtime, self.modes, self.spare) = (runtime, None, None);
        self.take_program();
        self.projector = Projector::new(&self.runtime.machine, self.options.tolerance);
    }

    /// What the values of parameters change about a mode that was asked for.
    fn take_violation(&mut self) -> Option<Diagnostic> {
        let modes = [&self.modes, &self.fallback.modes].into_iter().flatten();
        let found = modes.filter_map(|modes| modes.violation()).next().cloned();
        self.violation.take().or(found)
    }

    /// Fails where something was found without a mode that other values of parameters change.
    pub(super) fn check_violation(&mut self) -> Result<(), Stop> {
        match self.take_violation() {
            Some(violation) => Err(Trouble::Model(Box::new(violation)).into()),
            None => Ok(()),
        }
    }

    /// Goes through an event at which the mode may change.
    pub(super) fn instant(
        &mut self,
        mut modes: Box<Switching>,
        time: f64,
        trigger: Trigger,
    ) -> Result<Aftermath, Stop> {
        let outcome = self.instant_in(&mut modes, time, trigger, |instant| instant.pass());
        self.modes = Some(modes);
        self.take_program();
        Ok(outcome?)
    }

    pub(super) fn instant_in<T>(
        &mut self,
        modes: &mut Switching,
        time: f64,
        trigger: Trigger,
        work: impl FnOnce(&mut Instant<'_>) -> T,
    ) -> T {
        work(&mut Instant {
            switching: modes,
            runtime: &mut self.runtime,
            clockwork: &mut self.clockwork,
            log: &mut self.log,
            time,
            timed: trigger.relation,
            crossings: if trigger.crossed { &self.crossings } else { &[] },
            last_step: self.last_step,
            impulses: &mut self.impulses,
        })
    }

    /// Takes over the program of the mode in use.
    pub(super) fn take_program(&mut self) {
        let program = &self.runtime.machine.program;
        if !Arc::ptr_eq(&self.program, program) {
            self.program = program.clone();
            self.derivatives = OnceLock::new();
            self.x.resize(self.runtime.machine.size(), 0.0);
            self.slopes.resize(self.runtime.machine.size(), 0.0);
            // Each mode has constraints of its own, which its states meet by themselves.
            self.projector = None;
        }
    }
}

/// Whether a law is missing for how something moves.
fn leaves_motion_undetermined(stop: &Stop) -> bool {
    has_code(stop, transform::modes::MISSING_LAW)
}

fn has_code(stop: &Stop, code: &str) -> bool {
    matches!(stop, Stop::Trouble(Trouble::Model(diagnostic)) if diagnostic.code == code)
}

/// Whether a structure for all modes has become singular.
fn needs_modes<T>(outcome: &Result<T, Trouble>, runtime: &ModeRuntime) -> bool {
    match outcome {
        // Initial conditions that say something twice leave something else open, but the structure of the run is none of it.
        Ok(_) => runtime.machine.systems.shared.iter().any(|&system| {
            let sections = &runtime.machine.program.sections;
            let of_run = [&sections.dynamics, &sections.events, &sections.outputs];
            of_run.into_iter().any(|section| section.contains(&compile::SectionStep::Solve(system)))
        }),
        Err(Trouble::System(failure)) => failure.is_structural(),
        Err(trouble) => is_restless(trouble),
    }
}

/// Whether an event does not come to rest: at the point at which it was located, rounding may contradict itself, where modes look
/// at what comes behind it.
fn is_restless(trouble: &Trouble) -> bool {
    matches!(trouble, Trouble::Model(diagnostic) if diagnostic.code == events::RESTLESS)
}
