//! What the transformations make of a model, in the form that code is made from.
//!
//! Derivatives are variables here: for every `der(x)` that occurs there is a variable with `derivative_of`, and no
//! `Node::Der` is left in the blocks. Aliases are replaced by what they stand for. Everything that holds at run time
//! (continuous and discrete equations, conditions of when clauses) is one sorted list of blocks, the synchronous
//! principle; between events only the blocks with `Timing::Continuous` are evaluated.

use dae::{EqId, ExprId, Model, VarId};

/// What a variable is for the simulation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Role {
    /// Known before the run; computed by `Schedule::parameters` where it has a binding that is not a literal.
    Constant,
    Parameter,
    /// A top-level input: keeps its start value unless something outside sets it.
    Input,
    /// Integrated; `derivative` is the variable of its derivative.
    State {
        derivative: VarId,
    },
    /// Computed by a block: algebraic variables, derivatives of states, dummy derivatives.
    Algebraic,
    /// Computed by a block, keeps its value between events.
    Discrete,
    /// Always equal to another variable, or to its negative (for Booleans: its negation).
    Alias {
        of: VarId,
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
    pub variable: VarId,
    pub value: ExprId,
    /// The equation it was solved from; `None` for start values and the like.
    pub equation: Option<EqId>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Block {
    Assign { assignment: Assignment, timing: Timing },
    System { system: Box<EquationSystem>, timing: Timing },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SystemKind {
    /// Linear in the iteration variables as long as relations are frozen. `constant`: so is its matrix once parameters
    /// are known, `frozen`: it changes only at events.
    Linear {
        constant: bool,
        frozen: bool,
    },
    Nonlinear,
    /// Discrete unknowns among the continuous ones; the continuous rest is linear or nonlinear for given discrete values.
    Mixed {
        linear: bool,
    },
}

/// A simultaneous system, torn: guess `iteration`, run `inner` in order, then `residuals` have to vanish.
/// An untorn system has no inner assignments.
#[derive(Clone, PartialEq, Debug)]
pub struct EquationSystem {
    pub kind: SystemKind,
    /// All unknowns and all equations of it, for messages and counts.
    pub unknowns: Vec<VarId>,
    pub equations: Vec<EqId>,
    pub iteration: Vec<VarId>,
    pub inner: Vec<Assignment>,
    /// Expressions that are zero at the solution, as many as iteration variables.
    pub residuals: Vec<ExprId>,
    /// The equation each residual comes from.
    pub residual_equations: Vec<EqId>,
    /// Discrete unknowns of a mixed system, evaluated after the continuous part converged; iterated until they stay.
    pub discrete: Vec<Assignment>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    pub variable: VarId,
    pub derivative: VarId,
}

/// An initial condition that the others imply by structure. It has to hold at the solution of the initial problem;
/// otherwise the conditions contradict each other.
#[derive(Clone, PartialEq, Debug)]
pub struct InitialCheck {
    pub equation: EqId,
    /// Zero if it holds.
    pub residual: ExprId,
    /// The equations and conditions that imply it, to be named in the message.
    pub implied_by: Vec<EqId>,
}

/// The program of a model in one structure (one mode).
#[derive(Clone)]
pub struct Schedule {
    /// The model with everything the transformations added: derivative variables, differentiated equations.
    pub model: Model,
    pub roles: base::IdVec<VarId, Role>,
    /// In the order of the integrator's vector.
    pub states: Vec<State>,
    /// Parameters and dependent constants, in order.
    pub parameters: Vec<Assignment>,
    /// The initial problem: determines states, discrete variables, `pre` values and parameters with `fixed = false`.
    pub initial: Vec<Block>,
    /// Conditions to verify after it.
    pub initial_checks: Vec<InitialCheck>,
    /// Everything at run time, sorted.
    pub blocks: Vec<Block>,
    pub summary: Summary,
}

/// What is told to the user about the transformations.
#[derive(Clone, Default, Debug)]
pub struct Summary {
    /// Counts of the flat model.
    pub equations: usize,
    pub unknowns: usize,
    pub parameters: usize,
    pub discrete: usize,
    pub aliases: usize,
    /// States that became algebraic by index reduction.
    pub dummy_states: Vec<VarId>,
    /// Differentiated equations (of the flat model) and how often.
    pub differentiated: Vec<(EqId, u32)>,
    /// Messages about choices made for the user, such as start values used as initial conditions.
    pub notices: Vec<base::Diagnostic>,
}
