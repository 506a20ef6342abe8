//! Sensitivities on the axis of time: the variational equation over each step, and the tangents at events
//! (`crate::sensitivities`).

use solve::linear_ode;

use super::*;
use crate::sensitivities::{Sensitivities, SensitivityRows, refusal};

impl Simulation {
    /// Makes ready what differentiates the run, where somebody asked for it.
    pub(super) fn begin_sensitivities(&mut self) -> Result<(), Stop> {
        let Some(request) = &self.options.sensitivities else { return Ok(()) };
        if let Some(reason) = self.why_no_sensitivities() {
            return Err(Trouble::Model(Box::new(refusal(reason))).into());
        }
        let made =
            Sensitivities::new(&self.runtime.machine, request, self.options.start_time).map_err(Trouble::Model)?;
        self.runtime.machine.sensitivities = Some(Box::new(made));
        Ok(())
    }

    fn why_no_sensitivities(&self) -> Option<&'static str> {
        let Program { layout, schedule, .. } = &*self.program;
        if !layout.delays.is_empty() || !layout.transports.is_empty() {
            return Some("sensitivities of a model with delays are not computed: they depend on their own past");
        }
        let is_clock = |variable: &dae::Variable| variable.ty == dae::VariableType::Clock;
        if !layout.previous_pairs().is_empty() || schedule.model.variables.values().any(is_clock) {
            return Some("sensitivities of a model with clocks are not computed");
        }
        if self.options.steady_state || self.options.start_point.is_some() {
            return Some("sensitivities begin at the initial state of the model, and at no other point");
        }
        None
    }

    /// Tangents that ended on the way are told here: what becomes of a run does not depend on them.
    pub(super) fn check_sensitivities(&self) -> Result<(), Stop> {
        let Some(request) = &self.options.sensitivities else { return Ok(()) };
        let machine = &self.runtime.machine;
        let failure = match &machine.sensitivities {
            Some(known) => match known.failure() {
                Some(failure) => Some(failure.clone()),
                None if known.is_of(&self.program) => None,
                None => Some(self.structure_changes()),
            },
            None => Some(match Sensitivities::new(machine, request, self.options.start_time) {
                Ok(_) => self.structure_changes(),
                Err(failure) => *failure,
            }),
        };
        match failure {
            Some(failure) => Err(Trouble::Model(Box::new(failure)).into()),
            None => Ok(()),
        }
    }

    fn structure_changes(&self) -> Diagnostic {
        refusal(format!(
            "the structure of the model changes at time {}: sensitivities do not go through that",
            Decimal(self.time)
        ))
    }

    /// Start values that no mode agrees with are what was there before the start, which has no tangents.
    pub(super) fn end_sensitivities_before_start(&mut self) {
        let machine = &mut self.runtime.machine;
        let Some(request) = &self.options.sensitivities else { return };
        let Ok(mut made) = Sensitivities::new(machine, request, self.options.start_time) else { return };
        let message = "no mode agrees with all start values, so that values jump at the start of the run: sensitivities do not \
                       go through that";
        made.fail(machine, Trouble::Model(Box::new(refusal(message))));
        machine.sensitivities = Some(Box::new(made));
    }

    /// A relation that leaves zero does so when another branch begins to have a solution, and no residue says how that instant moves.
    pub(super) fn end_sensitivities_at_departure(&mut self, time: f64) {
        let machine = &mut self.runtime.machine;
        let Some(mut known) = machine.sensitivities.take() else { return };
        let message = format!(
            "at time {} a relation that rests at zero leaves it: sensitivities do not go through that",
            Decimal(time)
        );
        known.fail(machine, Trouble::Model(Box::new(refusal(message).names_time())));
        machine.sensitivities = Some(known);
    }

    /// Works on the tangents, where there are some.
    fn with_sensitivities(
        &mut self,
        work: impl FnOnce(&mut Self, &mut Sensitivities) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let Some(mut known) = self.runtime.machine.sensitivities.take() else { return Ok(()) };
        let outcome = work(self, &mut known);
        self.runtime.machine.sensitivities = Some(known);
        outcome
    }

    /// Follows the tangents to an event, and notes how fast residues moved before it: a relation that only touches the value
    /// at which it changes has lost its slope on the way.
    pub(super) fn approach_event(&mut self, time: f64) -> Result<(), Stop> {
        self.advance_sensitivities(time)?;
        self.with_sensitivities(|simulation, known| {
            known.forget_earlier();
            // A model that has no value there does not show it.
            if simulation.evaluate_at(known.before_event(time, simulation.last_step)).is_ok()
                && known.note_earlier(&mut simulation.runtime.machine).is_err()
            {
                known.forget_earlier();
            }
            Ok(())
        })
    }

    /// The left limits of an event are in memory.
    pub(super) fn sensitivities_left(&mut self, trigger: Trigger) -> Result<(), Stop> {
        let modes = self.modes.as_ref().map(|modes| modes.modes()).or(self.spare.as_deref());
        let variables = modes.map(|modes| modes.model().variables.len());
        self.with_sensitivities(|simulation, known| {
            let roots = &simulation.program.roots;
            let crossings = simulation.crossings.iter().filter(|_| trigger.crossed);
            let crossed: Vec<_> = crossings.map(|crossing| roots[crossing.function].relation).collect();
            variables.into_iter().for_each(|variables| simulation.runtime.carried(variables));
            let ModeRuntime { machine, carried, .. } = &mut *simulation.runtime;
            Ok(known.enter(machine, crossed, carried.as_deref())?)
        })
    }

    /// The event is passed, and everything evaluated behind it.
    pub(super) fn sensitivities_right(&mut self) -> Result<(), Stop> {
        self.check_sensitivities()?;
        self.with_sensitivities(|simulation, known| {
            Ok(known.leave(&mut simulation.runtime.machine, simulation.options.tolerance)?)
        })
    }

    /// Appends the derivatives at the point in memory to their rows.
    pub(super) fn write_sensitivities(&mut self) -> Result<(), Stop> {
        self.with_sensitivities(|simulation, known| {
            Ok(known.write(&mut simulation.runtime.machine, &mut simulation.sensitivity_rows)?)
        })
    }

    pub(crate) fn take_sensitivities(&mut self) -> Option<SensitivityRows> {
        let known = self.runtime.machine.sensitivities.take()?;
        let values = std::mem::take(&mut self.sensitivity_rows);
        Some(SensitivityRows { values, differenced: known.differenced() })
    }

    /// Takes better states where there are some, with their tangents; true if any state changed.
    pub(super) fn exchange_if_better(&mut self) -> Result<bool, Stop> {
        let sets = &self.program.schedule.state_sets;
        if sets.is_empty() || self.runtime.machine.sensitivities.is_none() {
            return Ok(exchange(&mut self.runtime.machine));
        }
        let candidates: Vec<VarId> = sets.iter().flat_map(|set| set.candidates.clone()).collect();
        let mut tangents = Vec::new();
        self.with_sensitivities(|simulation, known| {
            tangents = known.tangents(&mut simulation.runtime.machine, &candidates)?;
            Ok(())
        })?;
        let changed = exchange(&mut self.runtime.machine);
        self.with_sensitivities(|simulation, known| {
            for (place, state) in simulation.program.schedule.states.iter().enumerate().filter(|_| changed) {
                let now = simulation.state_now(state.variable);
                let Some(candidate) = candidates.iter().position(|&candidate| candidate == now) else { continue };
                for (column, tangents) in tangents.iter().enumerate() {
                    known.states[column][place] = tangents[candidate];
                }
            }
            known.known = None;
            Ok(())
        })?;
        Ok(changed)
    }

    /// Integrates the variational equation along the last step, up to a time in it.
    pub(super) fn advance_sensitivities(&mut self, time: f64) -> Result<(), Stop> {
        self.with_sensitivities(|simulation, known| {
            let mut length = time - known.time;
            while known.time < time && !same_instant(known.time, time) {
                let end = if known.time + 1.01 * length >= time { time } else { known.time + length };
                let begin = known.time;
                let error = simulation.step_sensitivities(known, end)?;
                if error <= 1.0 {
                    simulation.refuse_hidden_jump(known, begin, end)?;
                    simulation.refuse_corner(known, begin, end)?;
                }
                if error > 1.0 {
                    // The estimate has order 3.
                    length = (end - known.time) * f64::clamp(0.8 * error.powf(-0.25), 0.1, 0.5);
                    simulation.check_sensitivity_step(known.time, length)?;
                } else {
                    length *= 2.0;
                }
            }
            known.time = known.time.max(time);
            Ok(())
        })
    }

    /// Refuses sensitivities where something rests on its edge over a step, and a parameter makes it leave to either side.
    fn refuse_corner(&mut self, known: &mut Sensitivities, begin: f64, end: f64) -> Result<(), Stop> {
        /// Of a step and of the interval of the output: what is at its edge for a shorter time may be passing it.
        const INSIDE: f64 = 0.382;
        const SHORTEST: f64 = 1e-3;
        let shortest = SHORTEST * self.options.interval;
        let is_long = end - begin >= shortest;
        let since = known.last_look.as_ref().map_or(f64::NEG_INFINITY, |(time, _)| *time);
        if !is_long && end - since < shortest {
            return Ok(());
        }
        self.evaluate_at(end)?;
        let close = known.close_to_edges(&mut self.runtime.machine)?;
        let before = match known.last_look.replace((end, close.clone())) {
            _ if close.is_empty() => Vec::new(),
            _ if is_long => {
                self.evaluate_at(begin + INSIDE * (end - begin))?;
                let inside = known.close_to_edges(&mut self.runtime.machine)?;
                self.evaluate_at(end)?;
                inside
            }
            Some((_, before)) => before,
            None => return Ok(()),
        };
        let resting: Vec<usize> = close.into_iter().filter(|place| before.contains(place)).collect();
        Ok(known.compare_sides(&mut self.runtime.machine, &resting)?)
    }

    fn check_sensitivity_step(&self, time: f64, length: f64) -> Result<(), Stop> {
        if time + 0.1 * length > time {
            return Ok(());
        }
        let message = format!("sensitivities change too fast to be followed at time {}", Decimal(time));
        Err(Trouble::Model(Box::new(refusal(message).names_time())).into())
    }

    /// Tries a step to `end`; its error relative to what is allowed. A larger one than 1 leaves everything as it is.
    fn step_sensitivities(&mut self, known: &mut Sensitivities, end: f64) -> Result<f64, Stop> {
        let (begin, length) = (known.time, end - known.time);
        let first = match known.known.take() {
            Some(first) => first,
            None => self.variational_equation(known, begin)?,
        };
        let [one, two, three] = linear_ode::nodes().map(|node| begin + node * length);
        let stages = [
            self.variational_equation(known, one)?,
            self.variational_equation(known, two)?,
            self.variational_equation(known, three.min(end))?,
        ];
        let parameters = known.states.len() - 1;
        let Ok(made) = linear_ode::step(length, &first, &stages, &known.states[..parameters]) else {
            known.known = Some(first);
            return Ok(f64::INFINITY);
        };
        let sizes = known.sizes(&self.runtime.machine);
        let mut worst: f64 = 0.0;
        for (column, errors) in made.errors.iter().enumerate() {
            for (k, error) in errors.iter().enumerate() {
                let size = made.s[column][k].abs().max(known.states[column][k].abs()) + sizes[column][k];
                let relative = error.abs() / (self.options.tolerance * size);
                worst = if relative.is_nan() { f64::INFINITY } else { worst.max(relative) };
            }
        }
        if worst > 1.0 {
            known.known = Some(first);
            return Ok(worst);
        }
        known.states[..parameters].clone_from_slice(&made.s);
        let [.., last] = stages;
        (known.time, known.known) = (end, Some(last));
        Ok(worst)
    }

    fn variational_equation(&mut self, known: &mut Sensitivities, time: f64) -> Result<linear_ode::Coefficients, Stop> {
        self.evaluate_at(time)?;
        Ok(known.coefficients(&mut self.runtime.machine)?)
    }
}
