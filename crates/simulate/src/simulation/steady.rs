//! The stationary state: all derivatives of states vanish while time and inputs stand still.
//!
//! Newton's method with the exact Jacobian begins at the initial state; of a singular Jacobian the correction of least norm is
//! taken, so that what nothing determines stays where it is. Where it does not converge, the states follow their derivatives by
//! steps of implicit Euler that become longer and longer, as in a run in which time stands still (pseudo-transient
//! continuation; Kelley and Keyes, *Convergence analysis of pseudo-transient continuation*, 1998). Relations and discrete
//! variables stay as they are during the iteration; when it has ended they follow, and it begins again if they changed.

use solve::dense::{DenseLu, DenseMatrix, least_squares};

use super::*;

/// Corrections below this, relative to states and their nominal values, end the iteration.
const CONVERGED: f64 = 1e-10;
/// Derivatives that errors of this relative size in the states explain are zero.
const VANISHED: f64 = 1e-8;
const MOST_ITERATIONS: usize = 60;
const MOST_STEPS: usize = 400;
/// How often relations may change, and how often Newton's method may go over such changes.
const MOST_ROUNDS: usize = 200;
const MOST_JUMPS: usize = 10;
/// Columns whose rest is smaller, relative to the largest, depend on others.
const DEPENDENT: f64 = 1e-11;

/// Matrices are dense here.
const MOST_STATES: usize = 2000;

/// A point of the search.
struct Point {
    x: Vec<f64>,
    slope: Vec<f64>,
    /// ∂ẋ/∂x.
    jacobian: DenseMatrix,
    /// The sizes that states are measured by.
    scale: Vec<f64>,
}

impl Point {
    fn new(size: usize) -> Self {
        Self {
            x: vec![0.0; size],
            slope: vec![0.0; size],
            jacobian: DenseMatrix::zeros(size, size),
            scale: vec![1.0; size],
        }
    }

    /// What a derivative may be due to errors of the states.
    fn negligible(&self, row: usize) -> f64 {
        let size = |column: usize| (self.jacobian.get(row, column) * self.scale[column]).abs();
        VANISHED * (0..self.x.len()).map(size).sum::<f64>()
    }

    fn has_vanished(&self, row: usize) -> bool {
        self.slope[row] == 0.0 || self.slope[row].abs() <= self.negligible(row)
    }

    fn is_stationary(&self) -> bool {
        (0..self.x.len()).all(|row| self.has_vanished(row))
    }

    /// The derivatives, each in units of what it feels of the states.
    fn residual(&self, slope: &[f64]) -> f64 {
        let unit = |row: usize| (self.negligible(row) / VANISHED).max(f64::MIN_POSITIVE);
        slope.iter().enumerate().map(|(row, slope)| (slope / unit(row)).powi(2)).sum::<f64>().sqrt()
    }

    /// The correction of Newton's method; the one of least norm, in units of the scales, where there are several.
    fn correction(&self) -> Vec<f64> {
        let size = self.x.len();
        let mut matrix = DenseMatrix::zeros(size, size);
        let mut right = vec![0.0; size];
        for (row, right) in right.iter_mut().enumerate() {
            let unit = self.negligible(row) / VANISHED;
            // A derivative that depends on no state is none of Newton's business.
            let factor = if unit > 0.0 { 1.0 / unit } else { 0.0 };
            *right = -factor * self.slope[row];
            for column in 0..size {
                matrix.set(row, column, factor * self.jacobian.get(row, column) * self.scale[column]);
            }
        }
        let mut step = vec![0.0; size];
        least_squares(&matrix, &right, DEPENDENT, &mut step);
        step.iter().zip(&self.scale).map(|(step, scale)| step * scale).collect()
    }

    /// The states that the derivatives leave open: columns that depend on those before them.
    fn free(&self) -> Vec<usize> {
        let size = self.x.len();
        let unit = |row: usize| (self.negligible(row) / VANISHED).max(f64::MIN_POSITIVE);
        let entry = |row: usize, column: usize| self.jacobian.get(row, column) * self.scale[column] / unit(row);
        let mut rows: Vec<Vec<f64>> =
            (0..size).map(|row| (0..size).map(|column| entry(row, column)).collect()).collect();
        let mut open: Vec<usize> = (0..size).collect();
        for step in 0..size {
            let places = (step..size).flat_map(|row| open.iter().map(move |&column| (row, column)));
            let largest = places.max_by(|a, b| rows[a.0][a.1].abs().total_cmp(&rows[b.0][b.1].abs()));
            let Some((row, column)) = largest.filter(|&(row, column)| rows[row][column].abs() > DEPENDENT) else {
                break;
            };
            rows.swap(step, row);
            open.retain(|&other| other != column);
            let pivot = rows[step].clone();
            for other in &mut rows[step + 1..] {
                let factor = other[column] / pivot[column];
                other.iter_mut().zip(&pivot).for_each(|(other, pivot)| *other -= factor * pivot);
            }
        }
        open
    }
}

impl Simulation {
    /// Goes to the stationary state. Says which states it leaves open, or which derivatives do not vanish.
    pub(super) fn find_steady_state(&mut self) -> Result<(), Stop> {
        if self.runtime.machine.size() == 0 {
            return Ok(());
        }
        if self.projector.is_some() {
            let message = "a stationary state cannot be searched while all differentiated variables are integrated";
            let hint = "leave out `--index-reduction projection`";
            return Err(Trouble::Model(Box::new(Diagnostic::error("no-steady-state", message).hint(hint))).into());
        }
        let states = self.runtime.machine.size();
        if states > MOST_STATES {
            let message =
                format!("the search for a stationary state is made for {MOST_STATES} states at most, not {states}");
            let hint = "simulate until the model is at rest, and go on from there with --start-from";
            return Err(Trouble::Model(Box::new(Diagnostic::error("no-steady-state", message).hint(hint))).into());
        }
        // What is stationary is so since ever: delays give what goes into them.
        self.forget_past();
        let point = self.search_steady_state()?;
        self.begin_past();
        let free: Vec<String> = point.free().into_iter().map(|state| self.state_name(state)).collect();
        if !free.is_empty() {
            let message = format!("any value of {} is stationary; the search left it where it was", free.join(", "));
            let hint =
                "a state that nothing returns to a place, such as a position without a spring, keeps its start value";
            self.notices.push(Diagnostic::warning("free-states", message).hint(hint).decides());
        }
        Ok(())
    }

    fn search_steady_state(&mut self) -> Result<Point, Stop> {
        let mut changes = 0;
        let mut by_steps = false;
        for round in 0..MOST_ROUNDS {
            by_steps |= round >= MOST_JUMPS;
            let mut point = Point::new(self.runtime.machine.size());
            self.program.read_states(&self.runtime.machine.memory, &mut point.x);
            let first = point.x.clone();
            let mut found = !by_steps && self.iterate_to_rest(&mut point)?;
            if !found {
                by_steps = true;
                point.x = first;
                found = self.follow_to_rest(&mut point)?;
            }
            let changed = self.follow_states(&point)?;
            if !changed && !found {
                return Err(self.no_steady_state(&point).into());
            }
            changes += u32::from(changed);
            if !changed {
                if changes > 0 {
                    let message = "relations or discrete variables changed on the way to the stationary state";
                    let note = "it is that of the branches and the mode which hold there";
                    self.notices.push(Diagnostic::warning("steady-state-events", message).note(note));
                }
                return Ok(point);
            }
        }
        let message = "no stationary state was found: relations change again and again on the way to it";
        let hint = "the model may oscillate between two branches; simulate it without --steady-state";
        Err(Trouble::Model(Box::new(Diagnostic::error("no-steady-state", message).hint(hint))).into())
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

    /// Newton's method with damping; whether it found a stationary point.
    fn iterate_to_rest(&mut self, point: &mut Point) -> Result<bool, Stop> {
        const SHORTEST: f64 = 1e-4;
        for _ in 0..MOST_ITERATIONS {
            if !self.evaluate_point(point)? {
                return Ok(false);
            }
            let step = point.correction();
            let length = step.iter().zip(&point.scale).map(|(step, scale)| (step / scale).abs()).fold(0.0, f64::max);
            if length <= CONVERGED {
                return Ok(point.is_stationary());
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
                damping *= 0.5;
                if damping < SHORTEST {
                    return Ok(point.is_stationary());
                }
            }
        }
        Ok(false)
    }

    /// Steps of implicit Euler, each longer than the one before; whether they lead to a stationary point.
    fn follow_to_rest(&mut self, point: &mut Point) -> Result<bool, Stop> {
        let span = self.options.stop_time - self.options.start_time;
        let mut step = 1e-3 * if span > 0.0 { span } else { 1.0 };
        let size = point.x.len();
        let mut lu = DenseLu::new(size);
        let mut unchanged = 0;
        if !self.evaluate_point(point)? {
            return Err(self.last_trouble().into());
        }
        for _ in 0..MOST_STEPS {
            let mut matrix = DenseMatrix::zeros(size, size);
            for column in 0..size {
                for row in 0..size {
                    let identity = f64::from(u8::from(row == column));
                    matrix.set(row, column, identity - step * point.jacobian.get(row, column));
                }
            }
            let mut change: Vec<f64> = point.slope.iter().map(|slope| step * slope).collect();
            let solved = lu.factor(&matrix.values).is_ok();
            if solved {
                lu.solve(&mut change);
            }
            let before = (point.x.clone(), point.slope.clone());
            let moved =
                change.iter().zip(&point.scale).map(|(change, scale)| (change / scale).abs()).fold(0.0, f64::max);
            point.x.iter_mut().zip(&change).for_each(|(x, change)| *x += change);
            if !solved || !moved.is_finite() || !self.evaluate_point(point)? {
                (point.x, point.slope) = before;
                step *= 0.1;
                if step < 1e-12 * span.abs().max(1e-12) {
                    break;
                }
                self.evaluate_point(point)?;
                continue;
            }
            if point.is_stationary() && moved <= 1e-3 {
                return self.iterate_to_rest(point);
            }
            let is_same = |(now, before): (&f64, &f64)| (now - before).abs() <= 1e-9 * (now.abs() + before.abs());
            let mut pairs = point.slope.iter().zip(&before.1).enumerate();
            let rests = pairs.all(|(row, pair)| point.has_vanished(row) || is_same(pair));
            unchanged = if rests { unchanged + 1 } else { 0 };
            if unchanged > 8 || self.has_left_branch() {
                break;
            }
            step *= if moved < 1.0 { 2.0 } else { 1.0 };
        }
        Ok(false)
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

    fn no_steady_state(&self, point: &Point) -> Trouble {
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
            false => format!("there is no stationary state: {list} do not vanish"),
        };
        let message = if moving.len() == 1 { message.replace(" do not vanish", " does not vanish") } else { message };
        let hint = "an integrator without feedback and an angle that turns have none; leave --steady-state out, or give the \
                    model something that holds them";
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
