//! The variational equation ṡ = (∂f/∂x) s + ∂f/∂p over the steps of a run: what its integration keeps from step to step.
//!
//! The right-hand side is one tangent of the model's code for each parameter, whatever the number of states is. The matrix
//! ∂f/∂x is evaluated where the iteration for a step becomes slow (`solve::linear_ode`).

use compile::{Address, Program};
use solve::Pattern;
use solve::linear_ode::{self, Allowed, LinearOde, Outcome, Piece};

use crate::linear::{Linearizer, VERTICAL};
use crate::machine::{Machine, Trouble};
use crate::sensitivities::slopes;
use crate::systems;

/// The model at a point of a step, ready for tangents.
#[derive(Clone)]
struct Point {
    time: f64,
    states: Vec<f64>,
    slopes: Vec<f64>,
    linearizer: Linearizer,
}

/// The beginning of a step, and where its stages are.
const POINTS: usize = 4;

/// How derivatives change over a step.
pub(crate) struct Change {
    /// What they differ by.
    pub found: Vec<f64>,
    /// What their own tangents along states and time say.
    pub expected: Vec<f64>,
    /// The largest values of states and derivatives on the way.
    pub states: Vec<f64>,
    pub slopes: Vec<f64>,
}

/// The integration of the tangents of states between events.
#[derive(Clone)]
pub(crate) struct Variation {
    ode: LinearOde,
    points: Vec<Point>,
    /// The first point and the slopes of the tangents belong to the beginning of the next step.
    has_point: bool,
    has_slopes: bool,
    /// The matrix was evaluated at the first point.
    is_fresh: bool,
    /// What the tangents are over the step of the run.
    pieces: Vec<Piece>,
    /// By parameter what belongs to its direction besides states.
    base: Vec<Vec<(Address, f64)>>,
    /// By parameter and state.
    sizes: Vec<Vec<f64>>,
    seeds: Vec<(Address, f64)>,
}

impl Variation {
    pub fn new(machine: &Machine, model: &Linearizer, parameters: usize) -> Result<Self, Trouble> {
        let program = &machine.program;
        let pattern: Pattern = systems::pattern(&program.ode_pattern);
        let is_constant = !program.ode_varying.contains(&true);
        let undefined = |_| crate::sensitivities::refused("the matrix of the variational equation is singular");
        let size = program.states.len();
        let point = Point { time: 0.0, states: vec![0.0; size], slopes: vec![0.0; size], linearizer: model.clone() };
        Ok(Self {
            ode: LinearOde::new(&pattern, parameters, program.ode_colours.len(), is_constant).map_err(undefined)?,
            points: vec![point; POINTS],
            has_point: false,
            has_slopes: false,
            is_fresh: false,
            pieces: Vec::new(),
            base: Vec::new(),
            sizes: Vec::new(),
            seeds: Vec::new(),
        })
    }

    /// What comes next does not go on smoothly.
    pub fn forget(&mut self) {
        self.ode.forget();
        self.return_to_nowhere();
        self.base.clear();
    }

    /// The next step begins somewhere else.
    fn return_to_nowhere(&mut self) {
        (self.has_point, self.has_slopes) = (false, false);
    }

    /// Whether the directions and sizes for the piece between two events are known.
    pub fn is_ready(&self) -> bool {
        !self.base.is_empty()
    }

    /// Takes directions and sizes for the piece between two events.
    pub fn begin(&mut self, base: Vec<Vec<(Address, f64)>>, sizes: Vec<Vec<f64>>) {
        let matters = |seeds: Vec<(Address, f64)>| seeds.into_iter().filter(|&(_, slope)| slope != 0.0).collect();
        self.base = base.into_iter().map(matters).collect();
        self.sizes = sizes;
    }

    /// A step of the run begins: what the tangents were over the one before is not asked for any more.
    pub fn begin_step(&mut self) {
        self.pieces.clear();
    }

    /// Whether the beginning of the next step is not known.
    pub fn wants_beginning(&self) -> bool {
        !self.has_point
    }

    /// Takes the point in memory as the beginning of the next step, or as a stage from 1 on.
    pub fn take_point(&mut self, place: usize, machine: &mut Machine) -> Result<(), Trouble> {
        let point = &mut self.points[place];
        point.time = machine.memory.time();
        let program = &machine.program;
        point.states.clear();
        point.states.extend(program.states.iter().map(|state| machine.memory.values[state.value as usize]));
        point.slopes = slopes(machine);
        if place == 0 {
            (self.has_point, self.is_fresh) = (true, false);
        }
        point.linearizer.at_point(machine, |_| Ok(()))
    }

    /// Tries a step from the tangents `s`. The error relative to what is allowed.
    pub fn step(
        &mut self,
        machine: &mut Machine,
        begin: f64,
        end: f64,
        s: &[Vec<f64>],
        tolerance: f64,
    ) -> Result<f64, Trouble> {
        if !self.has_slopes {
            self.find_slopes(machine, s)?;
        }
        loop {
            if self.ode.wants_matrix() && !self.is_fresh {
                self.find_matrix(machine)?;
            }
            match self.try_step(machine, begin, end, s, tolerance)? {
                Outcome::Done(error) => return Ok(error),
                Outcome::NoConvergence if self.is_fresh => return Ok(f64::INFINITY),
                Outcome::NoConvergence => {}
            }
            if !self.ode.wants_matrix() {
                // The factors were made for another step; the next attempt makes new ones.
                self.is_fresh = true;
            }
        }
    }

    fn try_step(
        &mut self,
        machine: &mut Machine,
        begin: f64,
        end: f64,
        s: &[Vec<f64>],
        tolerance: f64,
    ) -> Result<Outcome, Trouble> {
        let program = &machine.program.clone();
        let Self { ode, points, base, sizes, seeds, .. } = self;
        let allowed = Allowed { tolerance, sizes };
        let mut slope = |stage: usize, column: usize, s: &[f64], out: &mut [f64]| {
            points[stage + 1].slope(machine, program, &base[column], s, seeds, out)
        };
        ode.step(begin, end, s, allowed, &mut slope)
    }

    /// The slopes of the tangents at the beginning of the next step.
    fn find_slopes(&mut self, machine: &mut Machine, s: &[Vec<f64>]) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let Self { ode, points, base, seeds, .. } = self;
        for ((base, s), out) in base.iter().zip(s).zip(&mut ode.slopes) {
            points[0].slope(machine, program, base, s, seeds, out)?;
        }
        self.has_slopes = true;
        Ok(())
    }

    /// ∂f/∂x at the beginning of the next step. Columns without a row in common are followed together.
    fn find_matrix(&mut self, machine: &mut Machine) -> Result<(), Trouble> {
        let program = &machine.program.clone();
        let Self { ode, points, seeds, .. } = self;
        let mut entries = vec![0.0; ode.pattern().entries()];
        let pattern = ode.pattern();
        points[0].linearizer.at_same_point(machine, |linearizer| {
            for group in &program.ode_colours {
                seeds.clear();
                seeds.extend(group.iter().map(|&column| (program.states[column as usize].value, 1.0)));
                linearizer.follow_from(seeds, false)?;
                for column in group.iter().map(|&column| column as usize) {
                    let part = pattern.starts[column]..pattern.starts[column + 1];
                    for (entry, &row) in entries[part].iter_mut().zip(pattern.column(column)) {
                        let tangent = linearizer.tangent_at(program.states[row as usize].derivative);
                        // The matrix decides how fast the iteration is, and nothing else. Beside a vertical slope all others
                        // would be lost in rounding.
                        *entry = if tangent.abs() < VERTICAL { tangent } else { 0.0 };
                    }
                }
            }
            Ok(())
        })?;
        ode.set_matrix(&entries);
        self.is_fresh = true;
        Ok(())
    }

    /// The step that was tried last counts: `s` are the tangents at its end.
    pub fn accept(&mut self, s: &mut [Vec<f64>]) {
        self.ode.accept();
        self.ode.piece.end_into(s);
        self.pieces.push(self.ode.piece.clone());
        self.points.swap(0, POINTS - 1);
        (self.has_point, self.has_slopes) = (true, true);
        self.is_fresh = false;
    }

    /// The tangents at a time of the step of the run, where that is not their newest point.
    pub fn inside(&self, time: f64) -> Option<Vec<Vec<f64>>> {
        let piece = self.pieces.iter().find(|piece| piece.begin <= time && time < piece.end)?;
        let mut s = self.ode.slopes.clone();
        piece.at(time, &mut s);
        Some(s)
    }

    /// The run goes on at a time inside of its last step.
    pub fn go_back(&mut self) {
        self.return_to_nowhere();
        self.pieces.clear();
    }

    /// How derivatives change over the step that was tried last. `rates` are those of the states at its stages, where the dense output
    /// tells; `with_time` gives the direction of time at a point.
    pub fn change(
        &mut self,
        machine: &mut Machine,
        rates: Option<[Vec<f64>; 3]>,
        with_time: impl Fn(&Machine, f64) -> Vec<(Address, f64)>,
    ) -> Result<Change, Trouble> {
        let program = &machine.program.clone();
        let (first, last) = (&self.points[0], &self.points[POINTS - 1]);
        let length = last.time - first.time;
        let larger = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a.abs().max(b.abs())).collect();
        let mut change = Change {
            found: first.slopes.iter().zip(&last.slopes).map(|(a, b)| b - a).collect(),
            expected: vec![0.0; first.slopes.len()],
            states: larger(&first.states, &last.states),
            slopes: larger(&first.slopes, &last.slopes),
        };
        let time_seeds = with_time(machine, length);
        let rates = rates.unwrap_or_else(|| self.rates(length));
        for ((rates, weight), point) in rates.iter().zip(linear_ode::quadrature()).zip(&mut self.points[1..]) {
            self.seeds.clear();
            self.seeds.extend(time_seeds.iter().copied());
            let states = program.states.iter().map(|state| state.value);
            self.seeds.extend(states.zip(rates.iter().map(|rate| rate * length)));
            let seeds = &self.seeds;
            let slopes = &point.slopes;
            point.linearizer.at_same_point(machine, |linearizer| {
                linearizer.follow_from(seeds, false)?;
                for (k, state) in program.states.iter().enumerate() {
                    let tangent = linearizer.tangent_at(state.derivative);
                    change.expected[k] += weight * tangent;
                    change.slopes[k] = change.slopes[k].max(slopes[k].abs()).max(tangent.abs());
                }
                Ok(())
            })?;
        }
        Ok(change)
    }

    /// The rates of the states at the stages, by the polynomial through the points.
    fn rates(&self, length: f64) -> [Vec<f64>; 3] {
        let slopes = linear_ode::slopes_at_nodes();
        slopes.map(|weights| {
            let mut rates = vec![0.0; self.points[0].states.len()];
            for (weight, point) in weights.iter().zip(&self.points) {
                rates.iter_mut().zip(&point.states).for_each(|(rate, x)| *rate += weight / length * x);
            }
            rates
        })
    }

    /// How fast each state changes by itself.
    pub fn own_rates(&self) -> Vec<f64> {
        self.ode.own_rates()
    }

    /// What states of these sizes contribute to derivatives.
    pub fn reach(&self, sizes: &[f64]) -> Vec<f64> {
        let mut reach = vec![0.0; sizes.len()];
        self.ode.add_reach(sizes, &mut reach);
        reach
    }
}

impl Point {
    /// (∂f/∂x) s + ∂f/∂p at the point.
    fn slope(
        &mut self,
        machine: &mut Machine,
        program: &Program,
        base: &[(Address, f64)],
        s: &[f64],
        seeds: &mut Vec<(Address, f64)>,
        out: &mut [f64],
    ) -> Result<(), Trouble> {
        seeds.clear();
        seeds.extend_from_slice(base);
        seeds.extend(program.states.iter().map(|state| state.value).zip(s.iter().copied()));
        self.linearizer.at_same_point(machine, |linearizer| {
            linearizer.follow_from(seeds, true)?;
            for (place, out) in out.iter_mut().enumerate() {
                *out = slope_of(linearizer, program, place)?;
            }
            Ok(())
        })
    }
}

/// The tangent of the derivative of a state.
fn slope_of(linearizer: &Linearizer, program: &Program, place: usize) -> Result<f64, Trouble> {
    let slope = linearizer.tangent_at(program.states[place].derivative);
    match slope.is_finite() {
        true => Ok(slope),
        false => Err(linearizer.undefined(program.schedule.states[place].derivative)),
    }
}
