//! The stationary state that a run from the initial state comes to, while time and inputs stand still.
//!
//! Newton's method with the exact Jacobian is tried first. It keeps what the equations conserve (`point`), and what it finds
//! counts where it cannot have gone elsewhere than a run: the Jacobian changes little on the way, nothing grows by itself, and no
//! relation changes. Otherwise the model runs while time stands still (`still`), through all events on the way, until all
//! derivatives of states have vanished. Only where such a run does not come to rest, what Newton's method found is taken, with a
//! warning. Relations and discrete variables stay as they are during an iteration; when it has ended they follow, and it begins
//! again if they changed.

use super::*;
use point::Point;
use solve::dense::DenseMatrix;
use still::Ended;

mod point;
mod still;

/// Corrections below this, relative to states and their nominal values, end the iteration.
const CONVERGED: f64 = 1e-10;
const MOST_ITERATIONS: usize = 60;
/// How often relations may change.
const MOST_ROUNDS: usize = 200;
/// Matrices are dense here.
const MOST_STATES: usize = 2000;
/// Above this number of states, what grows by itself is looked for at the end only.
const FEW_STATES: usize = 100;

/// What Newton's method came to.
enum Newton {
    /// A run comes to the same point.
    Found,
    /// A run may come to another one.
    Doubtful,
    Failed,
}

/// How a stationary state was found.
enum Way {
    Newton,
    Run,
    /// By Newton's method, where a run does not come to rest.
    NewtonOnly,
}

impl Simulation {
    /// Goes to the stationary state. Says which states it leaves open, or which derivatives do not vanish.
    pub(super) fn find_steady_state(&mut self) -> Result<(), Stop> {
        if self.runtime.machine.size() == 0 {
            return Ok(());
        }
        if self.projector.is_some() {
            let message = "a stationary state cannot be searched while all differentiated variables are integrated";
            let hint = "leave out the index reduction by projection";
            return Err(Trouble::Model(Box::new(Diagnostic::error("no-steady-state", message).hint(hint))).into());
        }
        let states = self.runtime.machine.size();
        if states > MOST_STATES {
            let message =
                format!("the search for a stationary state is made for {MOST_STATES} states at most, not {states}");
            let hint = "simulate until the model is at rest, and begin another run at the end of the result";
            return Err(Trouble::Model(Box::new(Diagnostic::error("no-steady-state", message).hint(hint))).into());
        }
        // What is stationary is so since ever: delays give what goes into them.
        self.forget_past();
        let (point, way) = self.search_steady_state()?;
        self.begin_past();
        self.describe_way(&way, &point);
        let free: Vec<String> = point.free().into_iter().map(|state| self.state_name(state)).collect();
        if !free.is_empty() {
            let other = if free.len() == 1 { "another value" } else { "other values" };
            let message = format!("there are stationary states with {other} of {}", free.join(", "));
            let note = match way {
                Way::Newton | Way::Run => "this is the one that a run from the initial state comes to",
                Way::NewtonOnly => "this is the one that Newton's method came to",
            };
            let hint =
                "what nothing returns to a place, such as a position without a spring, depends on the initial state";
            self.notices.push(Diagnostic::warning("free-states", message).note(note).hint(hint).decides());
        }
        Ok(())
    }

    /// Says how the point was found, where that was not by Newton's method alone, and whether a run stays there.
    fn describe_way(&mut self, way: &Way, point: &Point) {
        if matches!(way, Way::Run) {
            let message = "the stationary state was found by a run while time stands still";
            self.notices.push(Diagnostic::new(base::Severity::Note, "steady-state-run", message));
        }
        let is_unstable = point.grows();
        if matches!(way, Way::NewtonOnly) {
            let message = "a run from the initial state did not come to rest; Newton's method found a stationary state";
            let note = if is_unstable { "it is unstable: a run leaves it" } else { "a run may not lead there" };
            self.notices.push(Diagnostic::warning("steady-state-elsewhere", message).note(note).decides());
        } else if is_unstable {
            let message = "the stationary state is unstable: a run leaves it with the least disturbance";
            self.notices.push(Diagnostic::warning("unstable-steady-state", message));
        }
    }

    /// A stationary point of the branches that hold there.
    fn search_steady_state(&mut self) -> Result<(Point, Way), Stop> {
        let initial = self.clone();
        let mut point = self.point_here();
        if matches!(self.iterate_to_rest(&mut point)?, Newton::Found) && !self.follow_states(&point)? {
            return Ok((point, Way::Newton));
        }
        self.clone_from(&initial);
        let failure = match self.run_to_rest() {
            Ok(point) => return Ok((point, Way::Run)),
            Err(failure) => failure,
        };
        self.clone_from(&initial);
        match self.jump_to_rest() {
            Ok(Some(point)) => Ok((point, Way::NewtonOnly)),
            Ok(None) | Err(_) => Err(failure),
        }
    }

    fn point_here(&self) -> Point {
        let mut point = Point::new(self.runtime.machine.size());
        self.program.read_states(&self.runtime.machine.memory, &mut point.x);
        point
    }

    /// Runs through all events until the model rests.
    fn run_to_rest(&mut self) -> Result<Point, Stop> {
        for _ in 0..MOST_ROUNDS {
            let mut point = self.point_here();
            let ended = self.run_still(&mut point)?;
            let changed = self.follow_states(&point)?;
            match ended {
                Ended::AtRest if !changed => return Ok(point),
                Ended::AtRest | Ended::LeftBranch => {}
                Ended::Endless | Ended::Exhausted if changed => {}
                Ended::Endless => return Err(self.no_steady_state(&point, true).into()),
                Ended::Exhausted => return Err(self.no_steady_state(&point, false).into()),
            }
        }
        let message = "no stationary state was found: relations change again and again on the way to it";
        let hint = "the model may oscillate between two branches; simulate it from its initial state";
        Err(Trouble::Model(Box::new(Diagnostic::error("no-steady-state", message).hint(hint))).into())
    }

    /// Newton's method, over changes of relations; nothing where it does not converge.
    fn jump_to_rest(&mut self) -> Result<Option<Point>, Stop> {
        const MOST_JUMPS: usize = 10;
        for _ in 0..MOST_JUMPS {
            let mut point = self.point_here();
            if matches!(self.iterate_to_rest(&mut point)?, Newton::Failed) {
                return Ok(None);
            }
            if !self.follow_states(&point)? {
                return Ok(Some(point));
            }
        }
        Ok(None)
    }

    /// Evaluates the derivatives, and the Jacobian.
    fn evaluate_point(&mut self, point: &mut Point) -> Result<bool, Stop> {
        let machine = &mut self.runtime.machine;
        if machine.rhs(self.time, &point.x, &mut point.slope).is_err() || !all_finite(&point.slope) {
            return Ok(false);
        }
        for (place, state) in machine.program.states.iter().enumerate() {
            point.scale[place] = machine.nominal(state.variable).max(point.x[place].abs());
        }
        match machine.memory.delays.is_empty() {
            true => self.evaluate_jacobian(point),
            // The exact Jacobian takes what delays give for known.
            false => self.estimate_jacobian(point),
        }
    }

    fn evaluate_jacobian(&mut self, point: &mut Point) -> Result<bool, Stop> {
        let machine = &mut self.runtime.machine;
        let Some(pattern) = machine.jacobian_pattern().cloned() else { return Ok(false) };
        let mut values = vec![0.0; pattern.entries()];
        if machine.jacobian(self.time, &point.x, &mut values).is_err() || !all_finite(&values) {
            return Ok(false);
        }
        point.jacobian = DenseMatrix::zeros(point.x.len(), point.x.len());
        let mut values = values.iter();
        for column in 0..point.x.len() {
            for (&row, &value) in pattern.column(column).iter().zip(&mut values) {
                point.jacobian.set(row as usize, column, value);
            }
        }
        Ok(true)
    }

    fn estimate_jacobian(&mut self, point: &mut Point) -> Result<bool, Stop> {
        let step = f64::EPSILON.sqrt();
        let (mut x, mut slope) = (point.x.clone(), vec![0.0; point.x.len()]);
        for column in 0..x.len() {
            x[column] = point.x[column] + step * point.scale[column];
            let width = x[column] - point.x[column];
            if self.runtime.machine.rhs(self.time, &x, &mut slope).is_err() || !all_finite(&slope) {
                return Ok(false);
            }
            x[column] = point.x[column];
            for (row, (shifted, slope)) in slope.iter().zip(&point.slope).enumerate() {
                point.jacobian.set(row, column, (shifted - slope) / width);
            }
        }
        Ok(true)
    }

    /// Newton's method with damping. What the equations conserve stays.
    fn iterate_to_rest(&mut self, point: &mut Point) -> Result<Newton, Stop> {
        const SHORTEST: f64 = 1e-4;
        let mut first: Option<Point> = None;
        let mut doubtful = false;
        for _ in 0..MOST_ITERATIONS {
            if !self.evaluate_point(point)? {
                return Ok(Newton::Failed);
            }
            let conserved = point.conserved();
            match &first {
                Some(first) => doubtful |= point.differs_from(first) || !first.conserves(&conserved),
                None => first = Some(point.clone()),
            }
            doubtful |= point.x.len() <= FEW_STATES && point.grows();
            let step = point.correction(&conserved);
            let length = step.iter().zip(&point.scale).map(|(step, scale)| (step / scale).abs()).fold(0.0, f64::max);
            if length <= CONVERGED {
                return Ok(match point.is_stationary() {
                    true if doubtful || point.grows() => Newton::Doubtful,
                    true => Newton::Found,
                    false => Newton::Failed,
                });
            }
            let before = point.residual(&point.slope);
            let mut damping = 1.0;
            loop {
                let trial: Vec<f64> = point.x.iter().zip(&step).map(|(x, step)| x + damping * step).collect();
                let mut slope = vec![0.0; trial.len()];
                let machine = &mut self.runtime.machine;
                let evaluated = machine.rhs(self.time, &trial, &mut slope).is_ok() && all_finite(&slope);
                if evaluated && (point.residual(&slope) <= (1.0 - 0.25 * damping) * before || length < 1e-6) {
                    point.x = trial;
                    break;
                }
                doubtful = true;
                damping *= 0.5;
                if damping < SHORTEST {
                    return Ok(if point.is_stationary() { Newton::Doubtful } else { Newton::Failed });
                }
            }
        }
        Ok(Newton::Failed)
    }

    /// Lets relations and discrete variables follow the states; whether that changed anything.
    fn follow_states(&mut self, point: &Point) -> Result<bool, Stop> {
        let time = self.time;
        self.runtime.machine.evaluate(time, &point.x)?;
        self.runtime.machine.evaluate_outputs()?;
        let before = (self.program.clone(), self.decided(), point.slope.clone());
        self.program.save_pre(&mut self.runtime.machine.memory);
        self.crossings.clear();
        let trigger = Trigger { crossed: false, relation: false, before: None };
        match self.modes.take() {
            Some(modes) => self.instant(modes, time, trigger)?,
            None => self.pass_in_one(time, trigger)?,
        };
        self.x.resize(self.runtime.machine.size(), 0.0);
        if !Arc::ptr_eq(&before.0, &self.program) {
            return Ok(true);
        }
        self.runtime.machine.refresh()?;
        self.runtime.machine.evaluate_outputs()?;
        if exchange(&mut self.runtime.machine) {
            return Ok(true);
        }
        self.program.read_states(&self.runtime.machine.memory, &mut self.x);
        Ok(self.x != point.x || self.decided() != before.1)
    }

    /// The states of relations and the values of discrete variables.
    fn decided(&self) -> Vec<f64> {
        let (program, memory) = (&self.program, &self.runtime.machine.memory);
        let relations = program.layout.relations.values().map(|relation| memory.values[relation.state as usize]);
        let roles = program.schedule.roles.iter();
        let discrete = roles.filter(|(_, role)| matches!(role, transform::Role::Discrete));
        relations.chain(discrete.map(|(variable, _)| program.value(memory, variable))).collect()
    }

    fn forget_past(&mut self) {
        self.runtime.machine.memory.delays = self.program.memory().delays;
    }

    /// Delays have always had what goes into them now.
    fn begin_past(&mut self) {
        self.forget_past();
        self.program.take_arguments(&mut self.runtime.machine.memory);
        self.program.record_delays(&mut self.runtime.machine.memory);
    }

    fn state_name(&self, state: usize) -> String {
        let variable = self.runtime.machine.program.states[state].variable;
        format!("`{}`", self.program.model().variable_name(variable))
    }

    /// `certain`: the derivatives do not change any more.
    fn no_steady_state(&self, point: &Point, certain: bool) -> Trouble {
        const MOST: usize = 6;
        let moving: Vec<usize> = (0..point.x.len()).filter(|&row| !point.has_vanished(row)).collect();
        let named = moving.iter().take(MOST).map(|&state| {
            let variable = self.runtime.machine.program.states[state].variable;
            let name = self.program.model().variable_name(variable);
            format!("der({name}) = {}", Decimal(rounded(point.slope[state])))
        });
        let mut list = named.collect::<Vec<_>>().join(", ");
        if moving.len() > MOST {
            list = format!("{list} and {} more", moving.len() - MOST);
        }
        let message = match moving.is_empty() {
            true => "no stationary state was found from the initial state".to_owned(),
            false if certain => format!("there is no stationary state: {list} do not vanish"),
            false => format!("no stationary state was found from the initial state: {list} do not vanish"),
        };
        let message = if moving.len() == 1 { message.replace(" do not vanish", " does not vanish") } else { message };
        let hint = "an integrator without feedback and an angle that turns have none; begin at the initial state, \
                    or give the model something that holds them";
        let mut diagnostic = Diagnostic::error("no-steady-state", message).hint(hint);
        if let Some(&first) = moving.first() {
            let declared = &self.program.model().variables[self.runtime.machine.program.states[first].variable];
            if let Some(span) = declared.span {
                diagnostic = diagnostic.at(span, "declared here");
            }
        }
        Trouble::Model(Box::new(diagnostic))
    }
}

fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// A few digits are enough for a message.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}
