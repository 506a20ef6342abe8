//! Sensitivities: the derivatives of a trajectory with respect to parameters, by forward differentiation of the model's own code.
//!
//! Between events the tangents s = ∂x/∂p of the states follow the variational equation ṡ = (∂f/∂x) s + ∂f/∂p along the
//! trajectory (`simulation::sensitivity` integrates it). At an event the instant itself moves with the parameters. All that
//! happens within it is linear in the tangents, so they go through every iteration of the event with its code
//! (`compile::LinearForm`), together with one more column: how everything moves with the instant. The instant follows from
//! the condition g = 0 that made the event, dt/dp = −(∂g/∂p) / (dg/dt), and then
//!
//!   s⁺ = ∂x⁺/∂p + (∂x⁺/∂t − f⁺) dt/dp,
//!
//! where x⁺ is what the event makes of the left limits (Rozenvasser, *General sensitivity equations of discontinuous systems*,
//! 1967; Galán, Feehery and Barton, *Parametric sensitivity functions for hybrid discrete/continuous systems*, 1999). What when
//! clauses assign is carried on by the tangents of left limits (`pre`). At the start tangents come from the initial problem.

use std::sync::Arc;

use base::Diagnostic;
use compile::{Address, Program, RelationId, TIME};
use dae::{ActionKind, VarId};
use solve::linear_ode::Coefficients;

use crate::linear::{self, Linearizer};
use crate::machine::{Machine, Trouble};

/// What is to be differentiated.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SensitivityRequest {
    /// Real variables.
    pub of: Vec<VarId>,
    /// Real parameters that can be set.
    pub parameters: Vec<VarId>,
}

/// The derivatives of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SensitivityRows {
    /// For each row of the result and each variable the derivatives with respect to the parameters.
    pub values: Vec<f64>,
    /// Functions without a derivative that the model calls: what depends on them is a difference.
    pub differenced: Vec<String>,
}

/// The tangents of a run at an instant. Columns belong to the parameters; within an event the last one belongs to its instant.
#[derive(Clone)]
pub(crate) struct Sensitivities {
    request: Arc<SensitivityRequest>,
    model: Linearizer,
    start: Linearizer,
    /// The tangents of the states.
    pub states: Vec<Vec<f64>>,
    /// The tangents of left limits, in the order of `Program::pre_pairs`.
    before: Vec<Vec<f64>>,
    /// The tangents of parameters that the initial problem determines.
    carried: Vec<Vec<f64>>,
    /// An event goes on, whose instant moves.
    moves: bool,
    /// The largest values of the derivatives of the states so far.
    largest: Vec<f64>,
    /// The last event, or the start.
    since: f64,
    /// The slopes of residues by relation some time before the event at hand, where they are known.
    earlier: Vec<f64>,
    left: Left,
    /// How far the tangents have come.
    pub time: f64,
    /// The variational equation at that time, where it is known.
    pub known: Option<Coefficients>,
    rows: Vec<f64>,
}

/// What is known of an event before it is passed.
#[derive(Clone, Default)]
struct Left {
    /// The tangents of residues by column and relation.
    residues: Vec<Vec<f64>>,
    /// The states of relations.
    signs: Vec<f64>,
    /// The residues of `Program::time_relations`.
    on_time: Vec<f64>,
    /// By sample that is due: the tangents of its instant.
    ticks: Vec<Vec<f64>>,
}

/// Why there are no sensitivities.
pub(crate) fn refusal(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("no-sensitivity", message)
}

fn refused(message: impl Into<String>) -> Trouble {
    Trouble::Model(Box::new(refusal(message)))
}

impl Sensitivities {
    pub fn new(machine: &Machine, request: &Arc<SensitivityRequest>) -> Result<Self, Box<Diagnostic>> {
        let program = &machine.program;
        for &variable in &request.of {
            linear::check_real(program, variable)?;
        }
        for &parameter in &request.parameters {
            linear::direction(machine, parameter)?;
            if !program.has_parameter_tangent(parameter) {
                let name = program.model().variable_name(parameter);
                return Err(Box::new(refusal(format!("`{name}` is no parameter that can be set"))));
            }
        }
        let columns = request.parameters.len() + 1;
        let model = Linearizer::within_events(program)?;
        Ok(Self {
            states: vec![vec![0.0; program.states.len()]; columns],
            before: vec![vec![0.0; program.pre_pairs.len()]; columns],
            carried: vec![vec![0.0; model.form().carried.len()]; columns],
            request: request.clone(),
            start: Linearizer::of_start(program)?,
            model,
            moves: false,
            largest: vec![0.0; program.states.len()],
            since: machine.memory.time(),
            earlier: Vec::new(),
            left: Left::default(),
            time: machine.memory.time(),
            known: None,
            rows: Vec::new(),
        })
    }

    /// Whether it is made for a program.
    pub fn is_of(&self, program: &Arc<Program>) -> bool {
        self.model.is_of(program)
    }

    fn parameters(&self) -> usize {
        self.request.parameters.len()
    }

    /// The columns that count now: the instant has one within events only.
    fn columns(&self) -> usize {
        self.parameters() + usize::from(self.moves)
    }

    /// The direction of a parameter alone.
    fn parameter_seed(&self, program: &Program, column: usize) -> Option<(Address, f64)> {
        let place = program.layout.place(*self.request.parameters.get(column)?);
        Some((place.slot, if place.negated { -1.0 } else { 1.0 }))
    }

    /// The direction of a column, without states.
    fn base_seeds(&self, machine: &Machine, column: usize) -> Vec<(Address, f64)> {
        let program = &machine.program;
        let mut seeds: Vec<(Address, f64)> = self.parameter_seed(program, column).into_iter().collect();
        let limits = program.pre_pairs.iter().map(|&(_, before)| before);
        seeds.extend(limits.zip(self.before[column].iter().copied()));
        seeds.extend(self.model.form().carried.iter().copied().zip(self.carried[column].iter().copied()));
        if column == self.parameters() {
            let time = machine.memory.time();
            seeds.push((TIME, 1.0));
            // Jumps are passed within the event, and with them the side from which a slope counts.
            let behind = machine.memory.driven.has_bent(time);
            seeds.extend(machine.memory.driven.slopes(time, behind));
        }
        seeds
    }

    fn seeds(&self, machine: &Machine, column: usize) -> Vec<(Address, f64)> {
        let mut seeds = self.base_seeds(machine, column);
        let states = machine.program.states.iter().map(|state| state.value);
        seeds.extend(states.zip(self.states[column].iter().copied()));
        seeds
    }

    /// Follows each column at the point in memory, and hands the linearizer to `read`.
    fn follow(
        &mut self,
        machine: &mut Machine,
        mut read: impl FnMut(usize, &Linearizer) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let seeds: Vec<_> = (0..self.columns()).map(|column| self.seeds(machine, column)).collect();
        let parameters = self.parameters();
        self.model.at_point(machine, |linearizer| {
            for (column, seeds) in seeds.iter().enumerate() {
                linearizer.follow_from(seeds, column < parameters)?;
                read(column, linearizer)?;
            }
            Ok(())
        })
    }

    /// The variational equation at the point in memory.
    pub fn coefficients(&mut self, machine: &mut Machine) -> Result<Coefficients, Trouble> {
        let program = &machine.program.clone();
        let base: Vec<_> = (0..self.parameters()).map(|column| self.base_seeds(machine, column)).collect();
        let mut made = Coefficients::default();
        self.model.at_point(machine, |linearizer| {
            let slope = |linearizer: &Linearizer, place: usize| {
                let slope = linearizer.tangent_at(program.states[place].derivative);
                let derivative = program.schedule.states[place].derivative;
                if slope.is_finite() { Ok(slope) } else { Err(linearizer.undefined(derivative)) }
            };
            let size = program.states.len();
            made.a = vec![0.0; size * size];
            // Columns without a row in common are followed together.
            for group in &program.ode_colours {
                let seeds: Vec<(Address, f64)> =
                    group.iter().map(|&column| (program.states[column as usize].value, 1.0)).collect();
                linearizer.follow_from(&seeds, false)?;
                for column in group.iter().map(|&column| column as usize) {
                    for row in program.ode_pattern.column(column).iter().map(|&row| row as usize) {
                        made.a[column * size + row] = slope(linearizer, row)?;
                    }
                }
            }
            for seeds in &base {
                linearizer.follow_from(seeds, true)?;
                made.b.push((0..size).map(|place| slope(linearizer, place)).collect::<Result<_, _>>()?);
            }
            Ok(())
        })?;
        Ok(made)
    }

    /// The sizes that errors are compared with: by parameter and state, what is asked for of a state beside its own size.
    pub fn sizes(&self, machine: &Machine) -> Vec<Vec<f64>> {
        let nominals: Vec<f64> = machine.program.states.iter().map(|state| machine.nominal(state.variable)).collect();
        let of_parameter = |&parameter: &VarId| {
            let value = machine.value(parameter).abs();
            let value = if value > 0.0 { value } else { 1.0 };
            nominals.iter().map(|nominal| nominal / value).collect()
        };
        self.request.parameters.iter().map(of_parameter).collect()
    }

    /// Appends the derivatives at the point in memory to the rows.
    pub fn write(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        let request = self.request.clone();
        let (of, parameters) = (&request.of, request.parameters.len());
        let mut row = vec![0.0; of.len() * parameters];
        let program = machine.program.clone();
        self.follow(machine, |column, linearizer| {
            for (place, &variable) in of.iter().enumerate().filter(|_| column < parameters) {
                // A parameter is what it is asked to be, also where the run computes nothing from it.
                let own = request.parameters.get(column) == Some(&variable);
                row[place * parameters + column] = match own && program.has_parameter_tangent(variable) {
                    true => 1.0,
                    false => linearizer.slope(variable)?,
                };
            }
            Ok(())
        })?;
        self.rows.append(&mut row);
        Ok(())
    }

    pub fn take_rows(self) -> SensitivityRows {
        SensitivityRows { values: self.rows, differenced: self.model.form().differenced.clone() }
    }

    /// The tangents at the first point, once the initial problem is solved.
    fn begin(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let seeds: Vec<_> = (0..self.parameters()).map(|column| self.parameter_seed(program, column)).collect();
        let Self { start, model, states, before, carried, .. } = self;
        start.at_point(machine, |linearizer| {
            for (column, seed) in seeds.iter().enumerate() {
                linearizer.follow_from(seed.as_slice(), true)?;
                for (tangent, state) in states[column].iter_mut().zip(&program.schedule.states) {
                    *tangent = linearizer.slope(state.variable)?;
                }
                let limits = before[column].iter_mut().zip(&program.pre_pairs);
                limits.for_each(|(tangent, &(slot, _))| *tangent = linearizer.tangent_at(slot));
                let determined = carried[column].iter_mut().zip(&model.form().carried);
                determined.for_each(|(tangent, &slot)| *tangent = linearizer.tangent_at(slot));
            }
            Ok(())
        })
    }

    /// Goes with one iteration of an event: what was assigned is the next left limit, and what was set is a state.
    fn iterate(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let resets = resets(machine)?;
        let (mut before, mut states) = (self.before.clone(), self.states.clone());
        self.follow(machine, |column, linearizer| {
            for &(place, address, sign) in &resets {
                states[column][place] = sign * linearizer.tangent_at(address);
            }
            for (tangent, &(slot, _)) in before[column].iter_mut().zip(&program.pre_pairs) {
                let reset = resets.iter().rev().find(|(place, ..)| program.states[*place].value == slot);
                *tangent = reset.map_or_else(|| linearizer.tangent_at(slot), |(place, ..)| states[column][*place]);
            }
            Ok(())
        })?;
        (self.before, self.states) = (before, states);
        Ok(())
    }

    /// Where the slopes of residues are looked at before an event at `time`: half a step earlier, behind the event before.
    pub fn before_event(&self, time: f64, step: f64) -> f64 {
        f64::max(time - 0.5 * step, self.since)
    }

    /// Notes the slopes of residues at the point in memory, before the event at hand.
    pub fn note_earlier(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let seeds = self.along(machine, &slopes(machine), 1.0);
        self.earlier = self.model.at_point(machine, |linearizer| {
            linearizer.follow_from(&seeds, false)?;
            Ok(program.layout.relations.ids().map(|relation| linearizer.residue(relation)).collect())
        })?;
        Ok(())
    }

    /// No slopes of residues are known before the event at hand.
    pub fn forget_earlier(&mut self) {
        self.earlier.clear();
    }

    /// Takes sizes of the derivatives of the states into account; the largest ones so far.
    pub fn note_largest(&mut self, sizes: &[f64]) -> Vec<f64> {
        self.largest.iter_mut().zip(sizes).for_each(|(largest, size)| *largest = largest.max(*size));
        self.largest.clone()
    }

    /// The direction of states and time together, between events.
    fn along(&self, machine: &Machine, states: &[f64], time: f64) -> Vec<(Address, f64)> {
        let base = self.base_seeds(machine, self.parameters());
        let mut seeds: Vec<_> = base.into_iter().map(|(address, slope)| (address, slope * time)).collect();
        seeds.extend(machine.program.states.iter().map(|state| state.value).zip(states.iter().copied()));
        seeds
    }

    /// How the derivatives of the states change with states and time together, at the point in memory.
    pub fn change_along(&mut self, machine: &mut Machine, states: &[f64], time: f64) -> Result<Vec<f64>, Trouble> {
        let program = &machine.program.clone();
        let seeds = self.along(machine, states, time);
        self.model.at_point(machine, |linearizer| {
            linearizer.follow_from(&seeds, false)?;
            Ok(program.states.iter().map(|state| linearizer.tangent_at(state.derivative)).collect())
        })
    }

    /// The event at hand begins: left limits are in memory.
    pub fn enter(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let last = self.parameters();
        self.states[last] = slopes(machine);
        self.before[last].fill(0.0);
        self.carried[last].fill(0.0);
        (self.moves, self.known) = (true, None);
        let mut left = Left {
            residues: vec![vec![0.0; program.layout.relations.len()]; last + 1],
            signs: signs(machine),
            on_time: program.time_residues(&mut machine.memory),
            ticks: Vec::new(),
        };
        let mut before = self.before.clone();
        self.follow(machine, |column, linearizer| {
            for (relation, residue) in program.layout.relations.ids().zip(&mut left.residues[column]) {
                *residue = linearizer.residue(relation);
            }
            let limits = before[column].iter_mut().zip(&program.pre_pairs);
            limits.for_each(|(tangent, &(slot, _))| *tangent = linearizer.tangent_at(slot));
            Ok(())
        })?;
        (self.before, self.left) = (before, left);
        Ok(())
    }

    /// The tangents of the instants of samples that are due.
    fn note_ticks(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let values = &machine.memory.values;
        let due: Vec<_> = (program.layout.samples.iter()).filter(|s| values[s.flag as usize] != 0.0).collect();
        if !self.left.ticks.is_empty() || due.is_empty() {
            return Ok(());
        }
        let time = machine.memory.time();
        let count = |sample: &compile::Sample| {
            let (start, interval) = (values[sample.start_value as usize], values[sample.interval_value as usize]);
            ((time - start) / interval).round()
        };
        let counts: Vec<f64> = due.iter().map(|sample| count(sample)).collect();
        let mut ticks = vec![vec![0.0; self.columns()]; due.len()];
        self.follow(machine, |column, linearizer| {
            for ((sample, count), tick) in due.iter().zip(&counts).zip(&mut ticks) {
                let tangent = |address| linearizer.tangent_at(address);
                tick[column] = tangent(sample.start_value) + count * tangent(sample.interval_value);
            }
            Ok(())
        })?;
        self.left.ticks = ticks;
        Ok(())
    }

    /// The event is over: the tangents at a fixed time follow from those at its instant. `crossed` are the relations whose
    /// crossing made the event, and `tolerance` is that of the integration.
    pub fn leave(&mut self, machine: &mut Machine, crossed: &[RelationId], tolerance: f64) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let last = self.parameters();
        let slope = |k: usize| machine.memory.values[program.states[k].derivative as usize];
        let jumps: Vec<f64> = (0..program.states.len())
            .map(|k| {
                let (moved, slope) = (self.states[last][k], slope(k));
                // Rounding alone is no jump.
                let jump = moved - slope;
                if jump.abs() <= 1e-11 * (moved.abs() + slope.abs()) { 0.0 } else { jump }
            })
            .collect();
        let assigned = self.assigned(machine);
        let matters = jumps.iter().chain(&assigned).any(|&change| change != 0.0);
        if matters {
            let shifts = self.shifts(machine, crossed, tolerance)?;
            for (column, &shift) in shifts.iter().enumerate() {
                self.states[column].iter_mut().zip(&jumps).for_each(|(s, jump)| *s += jump * shift);
                self.before[column].iter_mut().zip(&assigned).for_each(|(s, change)| *s += change * shift);
            }
        }
        (self.moves, self.since) = (false, machine.memory.time());
        self.states[last].fill(0.0);
        self.before[last].fill(0.0);
        Ok(())
    }

    /// How the values that stay until the next event move with the instant; zero for what is continuous.
    fn assigned(&self, machine: &Machine) -> Vec<f64> {
        let program = &machine.program;
        let last = &self.before[self.parameters()];
        let is_kept = |slot: Address| {
            let mut own = program.model().variables.ids().filter(|&id| program.layout.place(id).slot == slot);
            own.any(|id| matches!(program.schedule.roles.get(id), Some(transform::Role::Discrete)))
        };
        let kept = program.pre_pairs.iter().zip(last);
        kept.map(|(&(slot, _), &change)| if change != 0.0 && is_kept(slot) { change } else { 0.0 }).collect()
    }

    /// How the instant of the event moves with the parameters.
    fn shifts(&self, machine: &Machine, crossed: &[RelationId], tolerance: f64) -> Result<Vec<f64>, Trouble> {
        let program = &machine.program;
        let last = self.parameters();
        let time = machine.memory.time();
        let now = signs(machine);
        let mut causes: Vec<(String, Vec<f64>)> = Vec::new();
        let text =
            |relation: RelationId| program.model().expression_text(program.layout.relations[relation].expression);
        for (place, relation) in program.layout.relations.ids().enumerate() {
            if !crossed.contains(&relation) && !self.is_due(program, relation, time, &now) {
                continue;
            }
            let slope = self.left.residues[last][place];
            let shift = |column: usize| -self.left.residues[column][place] / slope;
            let shifts: Vec<f64> = (0..last).map(shift).collect();
            // A residue is known to the tolerance, its slope at the place where it touches zero to the root of that.
            let earlier = self.earlier.get(place).copied().unwrap_or(slope);
            let touches = slope.abs() <= tolerance.sqrt() * (earlier - slope).abs();
            if slope == 0.0 || touches || shifts.iter().any(|shift| !shift.is_finite()) {
                return Err(refused(format!(
                    "at time {} `{}` touches the value at which it changes without crossing it: the trajectory has no \
                     derivative there",
                    base::Decimal(time),
                    text(relation)
                )));
            }
            causes.push((text(relation), shifts));
        }
        causes.extend(self.left.ticks.iter().map(|tick| ("sample".to_owned(), tick[..last].to_vec())));
        if machine.memory.driven.has_jumped(time) {
            causes.push(("an input".to_owned(), vec![0.0; last]));
        }
        let Some((first, shifts)) = causes.first() else {
            let message = format!("how the instant of the event at time {} moves is not known", base::Decimal(time));
            return Err(refused(message));
        };
        for (other, others) in &causes[1..] {
            let differs = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-6 * a.abs().max(b.abs());
            if let Some(column) = shifts.iter().zip(others).position(differs) {
                let parameter = program.model().variable_name(self.request.parameters[column]);
                return Err(refused(format!(
                    "at time {} `{first}` and `{other}` change together, and `{parameter}` moves their instants apart: the \
                     trajectory has no derivative there",
                    base::Decimal(time)
                )));
            }
        }
        Ok(shifts.clone())
    }

    /// Whether a relation on time changes at the instant of the event. A when clause may have taken it back since then.
    fn is_due(&self, program: &Program, relation: RelationId, time: f64, now: &[f64]) -> bool {
        /// Relative to the time.
        const SAME: f64 = 1e-9;
        let Some(known) = program.time_relations.iter().position(|&known| known == relation) else { return false };
        let place = base::Id::index(relation);
        match program.layout.relations[relation].kind {
            compile::RelationKind::Compare { .. } => {
                let slope = self.left.residues[self.parameters()][place];
                slope != 0.0 && (self.left.on_time[known] / slope).abs() <= SAME * time.abs()
            }
            compile::RelationKind::Round { .. } => now[place] != self.left.signs[place],
        }
    }

    /// The tangents of variables at the point in memory, by column.
    pub fn tangents(&mut self, machine: &mut Machine, of: &[VarId]) -> Result<Vec<Vec<f64>>, Trouble> {
        let mut found = vec![Vec::new(); self.columns()];
        self.follow(machine, |column, linearizer| {
            found[column] = of.iter().map(|&variable| linearizer.slope(variable)).collect::<Result<_, _>>()?;
            Ok(())
        })?;
        Ok(found)
    }
}

/// The derivatives of the states at the point in memory.
pub(crate) fn slopes(machine: &Machine) -> Vec<f64> {
    machine.program.states.iter().map(|state| machine.memory.values[state.derivative as usize]).collect()
}

fn signs(machine: &Machine) -> Vec<f64> {
    let relations = machine.program.layout.relations.values();
    relations.map(|relation| machine.memory.values[relation.state as usize]).collect()
}

/// What active actions set: the place of the state, the address of the value and its sign.
fn resets(machine: &Machine) -> Result<Vec<(usize, Address, f64)>, Trouble> {
    let program = &machine.program;
    let mut found = Vec::new();
    for (action, slots) in program.model().actions.iter().zip(&program.layout.actions) {
        let ActionKind::Reinit { state, .. } = action.kind else { continue };
        if machine.memory.values[slots.active as usize] == 0.0 {
            continue;
        }
        let place = program.layout.place(state);
        let known = program.states.iter().position(|known| known.value == place.slot);
        let Some(known) = known.filter(|_| program.schedule.state_sets.is_empty()) else {
            let name = program.model().variable_name(state);
            return Err(refused(format!(
                "`{name}` is set by reinit, and constraints tie it to the states: sensitivities do not go through that"
            )));
        };
        found.push((known, slots.value, if place.negated { -1.0 } else { 1.0 }));
    }
    Ok(found)
}

/// Works on the tangents of a machine.
fn with(
    machine: &mut Machine,
    work: impl FnOnce(&mut Sensitivities, &mut Machine) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let Some(mut sensitivities) = machine.sensitivities.take() else { return Ok(()) };
    let outcome = work(&mut sensitivities, machine);
    machine.sensitivities = Some(sensitivities);
    outcome
}

/// The initial problem is solved at the point in memory.
pub(crate) fn follow_initial(machine: &mut Machine) -> Result<(), Trouble> {
    with(machine, |sensitivities, machine| sensitivities.begin(machine))
}

/// An iteration of an event is evaluated; its actions have their values and are not carried out yet.
pub(crate) fn follow_iteration(machine: &mut Machine) -> Result<(), Trouble> {
    with(machine, |sensitivities, machine| {
        if sensitivities.moves {
            sensitivities.note_ticks(machine)?;
        }
        sensitivities.iterate(machine)
    })
}
