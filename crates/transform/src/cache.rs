//! What passes found out about expressions, kept from mode to mode.
//!
//! Expressions are never changed or removed, and the modes of a model agree on what is a parameter and which value it has, so
//! an answer that was right once stays so. A model that is sorted once asks nothing twice and has no such memory.

use std::cell::RefCell;

use dae::{ExprId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::linearity::{Dependence, Level};
use crate::occurrences::Scanner;
use crate::parts::{Problem, Sides};

#[derive(Clone)]
pub struct Cache {
    /// Derivatives of expressions by variables.
    pub partial: FxHashMap<(ExprId, VarId), Option<ExprId>>,
    /// Derivatives of expressions by time.
    pub total: FxHashMap<ExprId, ExprId>,
    /// Equations solved for variables.
    pub solved: FxHashMap<(Sides, VarId), Option<ExprId>>,
    /// The factor of a leaf in an expression, and the rest.
    pub factors: FxHashMap<(ExprId, ExprId), Option<(ExprId, ExprId)>>,
    /// How the equations of components are solved.
    pub components: FxHashMap<ComponentKey, KnownComponent>,
    /// Groups of equations in which no constraint hides.
    pub without_hidden_constraints: FxHashSet<GroupKey>,
    /// The unknown that each equation was matched with last.
    pub partners: FxHashMap<(Problem, Sides), VarId>,
    pub scanner: RefCell<Scanner>,
}

impl Default for Cache {
    fn default() -> Self {
        Self {
            partial: FxHashMap::default(),
            total: FxHashMap::default(),
            solved: FxHashMap::default(),
            factors: FxHashMap::default(),
            components: FxHashMap::default(),
            without_hidden_constraints: FxHashSet::default(),
            partners: FxHashMap::default(),
            scanner: RefCell::new(Scanner::with_memory()),
        }
    }
}

/// Equations with their unknowns, and when the variables in them change: what decides how they are solved.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ComponentKey {
    pub problem: Problem,
    pub pairs: Vec<(Sides, VarId)>,
    pub levels: Vec<(VarId, Level)>,
}

/// How they were solved, in terms of their places: the numbers of equations are those of one mode.
#[derive(Clone)]
pub struct KnownComponent {
    pub iteration: Vec<VarId>,
    /// The variable, its value and the place of the equation.
    pub inner: Vec<(VarId, ExprId, u32)>,
    pub residual: Vec<u32>,
    pub found: Dependence,
}

/// Equations, each with where its unknowns that would have to cancel begin, and these.
pub type GroupKey = (Vec<(Sides, u32)>, Vec<VarId>);
