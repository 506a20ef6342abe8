//! What the transformations make of a model, in the form that code is made from.
//!
//! Derivatives are variables here: for every `der(x)` that occurs there is a variable with `derivative_of`, and no
//! `Node::Der` is left in the blocks. Aliases are replaced by what they stand for. Everything that holds at run time
//! (continuous and discrete equations, conditions of when clauses) is one sorted list of blocks, the synchronous
//! principle; between events only the blocks with `Timing::Continuous` are evaluated.

use dae::{ExprId, Model, VarId};

use crate::parts::{Assignment, Block, Family, InitialCheck, Projection, Role, State, StateSet, Summary};

/// The program of a model in one structure (one mode).
#[derive(Clone)]
pub struct Schedule {
    /// The model with everything the transformations added: derivative variables, differentiated equations.
    pub model: Model,
    /// What each variable is for the simulation.
    pub roles: base::IdVec<VarId, Role>,
    /// In the order of the integrator's vector.
    pub states: Vec<State>,
    /// States that are chosen during the run; their variables are among `states`.
    pub state_sets: Vec<StateSet>,
    /// The constraints between states, where the user asked to integrate all of them.
    pub projection: Option<Projection>,
    /// Parameters and dependent constants, in order.
    pub parameters: Vec<Assignment>,
    /// The initial problem: determines states, discrete variables, `pre` values and parameters with `fixed = false`.
    pub initial: Vec<Block>,
    /// Conditions to verify after it.
    pub initial_checks: Vec<InitialCheck>,
    /// Everything at run time, sorted.
    pub blocks: Vec<Block>,
    /// Which of them have one shape, in their order.
    pub families: Vec<Family>,
    /// The same of the initial problem.
    pub initial_families: Vec<Family>,
    /// The blocks that take a whole step, where the user asked for them.
    pub inline: Option<crate::InlineIntegration>,
    /// The sides of the equations as they were written, before anything was replaced in them.
    pub written: Vec<(ExprId, ExprId)>,
    /// Parameters that the initial problem determines, and what depends on such.
    pub free: base::IdVec<VarId, bool>,
    /// What the values of parameters decided.
    pub decisions: crate::Decisions,
    /// What is reported about the transformations.
    pub summary: Summary,
    /// Of a model in one structure: the differentiated variables that constraints determine. They must not jump at an event
    /// without a reason.
    pub constrained: Vec<VarId>,
    /// The mode this schedule belongs to, where it is not for all of them.
    pub mode: Option<Box<crate::modes::Mode>>,
    /// Of a model with structural conditions or constraints that is sorted as one structure: its modes, for the case that this
    /// structure becomes singular or that a constraint makes something jump. Without conditions there is one.
    pub modes: Option<std::sync::Arc<crate::modes::Modes>>,
    /// Of a model whose derivatives were replaced by difference formulas.
    pub difference: Option<crate::modes::difference::Difference>,
}

impl Schedule {
    /// How many entries the run-time schedule has: families, and blocks of their own.
    pub fn entries(&self) -> usize {
        self.families.iter().fold(self.blocks.len(), |entries, family| entries + 1 - family.count)
    }

    /// Whether constraints hold between differentiated variables.
    pub fn has_constraints(&self) -> bool {
        !self.constrained.is_empty() || self.projection.is_some()
    }
}
