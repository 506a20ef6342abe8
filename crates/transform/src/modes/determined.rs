//! Variables that equations determine from parameters alone, as the output of a source whose value is a parameter: a condition on
//! them is decided for the whole run, though it is written with a variable.

use dae::{EquationRole, ExprId, Memo, Node, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::work::Work;

/// So many equations are followed from a variable to parameters.
const LONGEST: usize = 30;

/// What equations of the form `v = …` say about variables.
pub struct Determined {
    /// The other sides of the equations of a variable.
    sides: FxHashMap<VarId, Vec<ExprId>>,
    /// What was found out: the variable in terms of parameters, if it is determined by them.
    known: FxHashMap<VarId, Option<ExprId>>,
}

impl Determined {
    pub fn new(work: &Work) -> Self {
        let mut sides: FxHashMap<VarId, Vec<ExprId>> = FxHashMap::default();
        for &eq in &work.active {
            let equation = &work.model.equations[eq];
            if !matches!(equation.role, EquationRole::Plain) {
                continue;
            }
            for (side, other) in [(equation.left, equation.right), (equation.right, equation.left)] {
                if let Node::Var(variable) = work.model.exprs.node(side)
                    && !work.is_parameter(variable)
                {
                    sides.entry(variable).or_default().push(other);
                }
            }
        }
        Self { sides, known: FxHashMap::default() }
    }

    /// The expression in terms of parameters, if all variables in it are determined by them.
    pub fn in_parameters(&mut self, work: &mut Work, expression: ExprId) -> Option<ExprId> {
        self.written_out(work, expression, &mut FxHashSet::default())
    }

    fn written_out(&mut self, work: &mut Work, expression: ExprId, path: &mut FxHashSet<VarId>) -> Option<ExprId> {
        let needs = work.model.exprs.dependencies(&[expression]);
        let is_steady =
            needs.derivatives.is_empty() && needs.pre.is_empty() && needs.previous.is_empty() && !needs.time;
        if !is_steady {
            return None;
        }
        let mut replacements: FxHashMap<VarId, ExprId> = FxHashMap::default();
        for variable in needs.variables {
            if !work.is_parameter(variable) {
                replacements.insert(variable, self.variable(work, variable, path)?);
            }
        }
        if replacements.is_empty() {
            return Some(expression);
        }
        let replaced = |variable: VarId| replacements.get(&variable).copied();
        Some(work.model.exprs.substitute(&[expression], &mut Memo::default(), replaced)[0])
    }

    fn variable(&mut self, work: &mut Work, variable: VarId, path: &mut FxHashSet<VarId>) -> Option<ExprId> {
        if let Some(&known) = self.known.get(&variable) {
            return known;
        }
        if path.len() >= LONGEST || !path.insert(variable) {
            return None;
        }
        let sides = self.sides.get(&variable).cloned().unwrap_or_default();
        let found = sides.into_iter().find_map(|side| self.written_out(work, side, path));
        path.remove(&variable);
        // On the way round a loop less is known than outside of it.
        if found.is_some() || path.is_empty() {
            self.known.insert(variable, found);
        }
        found
    }
}
