//! What schedules consist of: equations of a problem, roles of variables, blocks, states.

use dae::{EqId, ExprId, VarId};

/// The two sides of an equation.
pub type Sides = (ExprId, ExprId);

/// Which problem the rows belong to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Problem {
    /// A variable and its derivatives are one column.
    Reduction,
    Dynamic,
    /// States are unknowns, too: one step of inline integration.
    Step,
    /// Discrete variables may follow from continuous ones.
    Initial,
}

/// What a variable is for the simulation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Role {
    /// Known before the run; computed by `Schedule::parameters` where it has a binding that is not a literal.
    Constant,
    /// Fixed during a run.
    Parameter,
    /// A top-level input: keeps its start value unless something outside sets it.
    Input,
    /// Integrated; `derivative` is the variable of its derivative.
    State {
        /// The variable of its derivative.
        derivative: VarId,
    },
    /// Computed by a block: algebraic variables, derivatives of states, dummy derivatives.
    Algebraic,
    /// Computed by a block, keeps its value between events.
    Discrete,
    /// Always equal to another variable, or to its negative (for Booleans: its negation).
    Alias {
        /// The representative of the alias set.
        of: VarId,
        /// It is the negative, or the negation.
        negated: bool,
    },
}

/// When a block has to be evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// At every evaluation of the right-hand side, and at events.
    Continuous,
    /// At events only: everything in it is discrete.
    Event,
    /// Continuous, but neither derivatives, nor events, nor discrete variables depend on it: for output only.
    Output,
}

/// `variable := value`.
#[derive(Clone, PartialEq, Debug)]
pub struct Assignment {
    /// What is computed.
    pub variable: VarId,
    /// What it is computed from.
    pub value: ExprId,
    /// The equation it was solved from; `None` for start values and the like.
    pub equation: Option<EqId>,
}

/// One entry of a sorted list.
#[derive(Clone, PartialEq, Debug)]
pub enum Block {
    /// One unknown from one equation.
    Assign {
        /// The unknown and its value.
        assignment: Assignment,
        /// When it has to be evaluated.
        timing: Timing,
    },
    /// Several unknowns from as many equations.
    System {
        /// The unknowns and equations.
        system: Box<EquationSystem>,
        /// When it has to be evaluated.
        timing: Timing,
    },
}

/// How a system can be solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SystemKind {
    /// Linear in the iteration variables as long as relations are frozen.
    Linear(Matrix),
    /// Anything else.
    Nonlinear,
    /// Discrete unknowns among the continuous ones; the continuous rest is linear or nonlinear for given discrete values.
    Mixed {
        /// The matrix of the continuous part, where that is linear.
        linear: Option<Matrix>,
    },
}

/// When the matrix of a linear system changes, and so how often it has to be factorised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matrix {
    /// Never, once parameters are known.
    Constant,
    /// Only at events.
    Frozen,
    /// With every evaluation.
    Varying,
}

impl SystemKind {
    /// The name in summaries.
    pub fn name(self) -> &'static str {
        match self {
            SystemKind::Linear(_) => "linear",
            SystemKind::Nonlinear => "nonlinear",
            SystemKind::Mixed { .. } => "mixed",
        }
    }

    /// The matrix, if the system is linear for given discrete values.
    pub fn matrix(self) -> Option<Matrix> {
        match self {
            SystemKind::Linear(matrix) => Some(matrix),
            SystemKind::Nonlinear => None,
            SystemKind::Mixed { linear } => linear,
        }
    }
}

impl Matrix {
    /// The name in summaries.
    pub fn name(self) -> &'static str {
        match self {
            Matrix::Constant => "constant",
            Matrix::Frozen => "constant between events",
            Matrix::Varying => "varying",
        }
    }
}

/// A simultaneous system, torn: guess `iteration`, run `inner` in order, then `residuals` have to vanish.
/// An untorn system has no inner assignments.
#[derive(Clone, PartialEq, Debug)]
pub struct EquationSystem {
    /// How it can be solved.
    pub kind: SystemKind,
    /// All unknowns and all equations of it, for messages and counts.
    pub unknowns: Vec<VarId>,
    /// All equations.
    pub equations: Vec<EqId>,
    /// The unknowns that are guessed.
    pub iteration: Vec<VarId>,
    /// What follows from the guesses, in order.
    pub inner: Vec<Assignment>,
    /// Expressions that are zero at the solution, as many as iteration variables.
    pub residuals: Vec<ExprId>,
    /// The equation each residual comes from.
    pub residual_equations: Vec<EqId>,
    /// Discrete unknowns of a mixed system, evaluated after the continuous part converged; iterated until they stay.
    pub discrete: Vec<Assignment>,
}

/// An integrated variable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    /// The variable.
    pub variable: VarId,
    /// The variable of its derivative.
    pub derivative: VarId,
}

/// States that are exchanged during the run because no choice of them is safe everywhere: of a pendulum in Cartesian
/// coordinates neither x nor y can be a state all the way round.
///
/// The integrated variables are `states[i] = Σ_j selection[i][j]·candidates[j]`, and these equations are part of the
/// schedule. The selection variables have `Role::Input`: the simulator sets them, each row to one 1 and else 0, first after
/// the initial problem is solved. A choice is good as long as the columns of the Jacobian that belong to the candidates
/// not chosen, together with the dependent columns, are well conditioned; `choose` finds the best one. When it changes,
/// the values of the states change with it and integration starts anew; everything else stays continuous.
#[derive(Clone, PartialEq, Debug)]
pub struct StateSet {
    /// What the states are chosen from.
    pub candidates: Vec<VarId>,
    /// What is integrated.
    pub states: Vec<VarId>,
    /// One row for each state, one entry for each candidate.
    pub selection: Vec<Vec<VarId>>,
    /// The constraints' partial derivatives, a row for each constraint: first by variables that never are states, then by
    /// the candidates. Each is a variable of the schedule, for output only; `None` for zero. There are as many
    /// constraints as dependent variables and candidates that are not states.
    pub jacobian: Vec<Vec<Option<VarId>>>,
    /// How many variables in the constraints never are states.
    pub dependent: usize,
    /// The candidates that the model asks for as states: none, or as many as there are states.
    pub asked: Vec<usize>,
    /// It does so by `StateSelect.always`: they are not exchanged.
    pub demanded: bool,
}

/// A choice is kept until it determines the rest worse than the best one by this factor; what the model asks for is kept a
/// little longer, and taken again later.
const WORSE: f64 = 0.5;
const WORSE_THAN_ASKED: f64 = 0.35;
const GOOD_AGAIN: f64 = 0.6;

impl StateSet {
    /// Which candidates to integrate where some are in use, or none yet: what the model asks for, as long as that is good
    /// enough; else what is in use, as long as it is; else the best. `None` if the constraints are singular.
    pub fn prefer(&self, values: &[f64], current: &[usize]) -> Option<Vec<usize>> {
        let best = self.choose(values)?;
        let quality = self.quality(values, &best);
        if !self.asked.is_empty() {
            let enough = if current == self.asked { WORSE_THAN_ASKED } else { GOOD_AGAIN };
            if self.demanded || self.quality(values, &self.asked) >= enough * quality {
                return Some(self.asked.clone());
            }
        }
        let is_good = current != self.asked && self.quality(values, current) >= WORSE * quality;
        Some(if is_good && !current.is_empty() { current.to_vec() } else { best })
    }

    /// Which candidates to integrate, given the values of the Jacobian row by row: those that remain when constraints take
    /// away the columns with the largest pivots. `None` if the constraints are singular there.
    pub fn choose(&self, values: &[f64]) -> Option<Vec<usize>> {
        let mut elimination = Elimination::new(self, values);
        let all = self.dependent + self.candidates.len();
        for step in 0..self.jacobian.len() {
            let columns = if step < self.dependent { 0..self.dependent } else { self.dependent..all };
            elimination.step(columns)?;
        }
        Some((0..self.candidates.len()).filter(|&index| !elimination.used_columns[self.dependent + index]).collect())
    }

    /// Like `choose`, but candidates that are wanted are left for last: they are states as far as the constraints allow.
    pub fn choose_with(&self, values: &[f64], wanted: &[usize]) -> Option<Vec<usize>> {
        /// What the others determine worse than the wanted ones by this factor, they do not determine.
        const SINGULAR: f64 = 1e-9;
        let mut elimination = Elimination::new(self, values);
        for _ in 0..self.dependent {
            elimination.step(0..self.dependent)?;
        }
        let all = self.dependent..self.dependent + self.candidates.len();
        let others: Vec<usize> = all.clone().filter(|column| !wanted.contains(&(column - self.dependent))).collect();
        for _ in self.dependent..self.jacobian.len() {
            let best = elimination.largest(all.clone());
            let other = elimination.largest(others.iter().copied());
            elimination.eliminate(if other.0 > SINGULAR * best.0 { other } else { best })?;
        }
        Some((0..self.candidates.len()).filter(|&index| !elimination.used_columns[self.dependent + index]).collect())
    }

    /// The constraints between the candidates alone, one row each: without the variables that never are states. `None` where
    /// these are not determined.
    pub fn between_candidates(&self, values: &[f64]) -> Option<Vec<Vec<f64>>> {
        let mut elimination = Elimination::new(self, values);
        for _ in 0..self.dependent {
            elimination.step(0..self.dependent)?;
        }
        let rows = elimination.matrix.iter().zip(&elimination.used_rows).filter(|(_, used)| !**used);
        Some(rows.map(|(row, _)| row[self.dependent..].to_vec()).collect())
    }

    /// How well the constraints determine what is not a state if the given candidates are: a determinant, to compare
    /// choices by.
    pub fn quality(&self, values: &[f64], states: &[usize]) -> f64 {
        let mut elimination = Elimination::new(self, values);
        let all = self.dependent + self.candidates.len();
        for &state in states {
            elimination.used_columns[self.dependent + state] = true;
        }
        (0..self.jacobian.len()).map(|_| elimination.step(0..all).unwrap_or(0.0)).product()
    }

    /// The determinant itself. Where it changes its sign, the constraints leave those candidates undetermined in between.
    pub fn determinant(&self, values: &[f64], states: &[usize]) -> f64 {
        let columns: Vec<usize> = (0..self.dependent + self.candidates.len())
            .filter(|&column| column < self.dependent || !states.contains(&(column - self.dependent)))
            .collect();
        let width = self.dependent + self.candidates.len();
        let mut matrix: Vec<Vec<f64>> =
            values.chunks(width.max(1)).map(|row| columns.iter().map(|&column| row[column]).collect()).collect();
        let mut determinant = 1.0;
        for place in 0..matrix.len().min(columns.len()) {
            let size = |&row: &usize| matrix[row][place].abs();
            let Some(best) = (place..matrix.len()).max_by(|a, b| size(a).total_cmp(&size(b))) else { return 0.0 };
            if best != place {
                matrix.swap(best, place);
                determinant = -determinant;
            }
            let (above, below) = matrix.split_at_mut(place + 1);
            let pivot = &above[place];
            determinant *= pivot[place];
            if pivot[place] == 0.0 || !pivot[place].is_finite() {
                return 0.0;
            }
            for row in below {
                let factor = row[place] / pivot[place];
                row.iter_mut().zip(pivot).for_each(|(x, y)| *x -= factor * y);
            }
        }
        determinant
    }
}

/// Gaussian elimination with full pivoting, step by step.
struct Elimination {
    matrix: Vec<Vec<f64>>,
    used_rows: Vec<bool>,
    used_columns: Vec<bool>,
}

impl Elimination {
    fn new(set: &StateSet, values: &[f64]) -> Self {
        let (rows, columns) = (set.jacobian.len(), set.dependent + set.candidates.len());
        let matrix = values.chunks(columns.max(1)).take(rows).map(<[f64]>::to_vec).collect();
        Self { matrix, used_rows: vec![false; rows], used_columns: vec![false; columns] }
    }

    /// Takes the largest entry of the given columns as pivot; its size, `None` if there is none but zero.
    fn step(&mut self, columns: std::ops::Range<usize>) -> Option<f64> {
        self.eliminate(self.largest(columns))
    }

    /// The largest entry of the given columns in rows and columns that are not used yet: size, row, column.
    fn largest(&self, columns: impl Iterator<Item = usize> + Clone) -> (f64, usize, usize) {
        let mut best = (0.0, 0, 0);
        for (row, values) in self.matrix.iter().enumerate().filter(|(row, _)| !self.used_rows[*row]) {
            for column in columns.clone().filter(|&column| !self.used_columns[column]) {
                if values[column].abs() > best.0 {
                    best = (values[column].abs(), row, column);
                }
            }
        }
        best
    }

    /// Takes an entry as pivot; its size, `None` if it is zero.
    fn eliminate(&mut self, (size, pivot_row, pivot_column): (f64, usize, usize)) -> Option<f64> {
        if size == 0.0 {
            return None;
        }
        self.used_rows[pivot_row] = true;
        self.used_columns[pivot_column] = true;
        let pivot = self.matrix[pivot_row].clone();
        for (row, values) in self.matrix.iter_mut().enumerate() {
            if !self.used_rows[row] {
                let factor = values[pivot_column] / pivot[pivot_column];
                values.iter_mut().zip(&pivot).for_each(|(x, y)| *x -= factor * y);
            }
        }
        Some(size)
    }
}

/// What holds between states that are all integrated (`IndexReduction::Projection`): the equations that were replaced by
/// their derivatives. Integration drifts away from them; the simulator moves the states back.
#[derive(Clone, PartialEq, Debug)]
pub struct Projection {
    /// Zero where the constraints hold. Like the Jacobian, variables of the schedule, for output only.
    pub residuals: Vec<VarId>,
    /// The residuals' partial derivatives that are not zero: the residual, the number of the state, the value.
    pub jacobian: Vec<(u32, u32, VarId)>,
    /// How many orders below its highest derivative each constraint is, and each state. A constraint holds states of its own
    /// level, which it determines, and of higher levels: positions above velocities.
    pub constraint_levels: Vec<usize>,
    /// How many orders below its highest derivative each state is.
    pub state_levels: Vec<usize>,
}

/// An initial condition that the others imply by structure. It has to hold at the solution of the initial problem;
/// otherwise the conditions contradict each other.
#[derive(Clone, PartialEq, Debug)]
pub struct InitialCheck {
    /// The condition.
    pub equation: EqId,
    /// The last blocks of the initial problem compute it; zero if the condition holds.
    pub residual: VarId,
    /// The equations and conditions that imply it, to be named in the message.
    pub implied_by: Vec<EqId>,
    /// They are the same in every mode and have no alternatives.
    pub is_lasting: bool,
}

/// Blocks that stand next to each other, have one shape and do not depend on each other: one entry of the schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Family {
    /// The first block.
    pub first: usize,
    /// How many blocks there are.
    pub count: usize,
}

/// What is reported to the user about the transformations.
#[derive(Clone, Default, Debug)]
pub struct Summary {
    /// Counts of the flat model.
    pub equations: usize,
    /// Variables that equations determine.
    pub unknowns: usize,
    /// Parameters and constants.
    pub parameters: usize,
    /// Discrete unknowns.
    pub discrete: usize,
    /// Variables that always are equal to others.
    pub aliases: usize,
    /// States that became algebraic by index reduction.
    pub dummy_states: Vec<VarId>,
    /// Differentiated equations (of the flat model) and how often.
    pub differentiated: Vec<(EqId, u32)>,
    /// Messages about choices made for the user, such as start values used as initial conditions.
    pub notices: Vec<base::Diagnostic>,
}
