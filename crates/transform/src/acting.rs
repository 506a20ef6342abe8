//! Which states and inputs act on a variable: by the equations as they were written, between events and through them.
//!
//! A variable that an equation determines depends on all variables of that equation, whatever the branch that is active and
//! whatever the values of parameters are; a variable of a simultaneous system on those of all its equations. `pre`, `previous`
//! and delays are followed like the variable itself. So nothing that acts is missing, while some of what is listed may never
//! act.

use base::Id;
use dae::{EqId, ExprId, Node, VarId, Variability};
use rustc_hash::FxHashMap;

use crate::parts::{Assignment, Block, Role};
use crate::schedule::Schedule;

/// Words of all sets together, beyond which everything counts as acting on everything.
const MOST_WORDS: usize = 4_000_000;

/// What acts on each variable.
pub struct Acting {
    knowns: Vec<VarId>,
    /// By variable, the words of its set.
    sets: Vec<u64>,
    words: usize,
    /// The representative of each alias set.
    representatives: Vec<VarId>,
}

impl Acting {
    /// The states and inputs that act on a variable.
    pub fn on(&self, variable: VarId) -> Vec<VarId> {
        let place = self.representatives.get(variable.index()).copied().unwrap_or(variable);
        let has = |k: usize| self.sets[place.index() * self.words + k / 64] >> (k % 64) & 1 != 0;
        self.knowns.iter().enumerate().filter(|(k, _)| has(*k)).map(|(_, &known)| known).collect()
    }
}

impl Schedule {
    /// Which states and inputs act on each variable. `None` where too much acts on too much to say, or where the structure
    /// changes during the run, and what acts with it.
    pub fn acting(&self) -> Option<Acting> {
        let has_conditions = self.modes.as_ref().is_some_and(|modes| !modes.conditions().is_empty());
        if self.mode.is_some() || has_conditions || self.difference.is_some() {
            return None;
        }
        let count = self.model.variables.len();
        let is_input = |variable: &VarId| {
            self.roles.get(*variable) == Some(&Role::Input)
                && self.model.variables[*variable].causality == dae::Causality::Input
        };
        let mut knowns: Vec<VarId> = self.states.iter().map(|state| state.variable).collect();
        knowns.extend(self.model.variables.ids().filter(is_input));
        let words = knowns.len().div_ceil(64);
        if count.saturating_mul(words) > MOST_WORDS {
            return None;
        }
        let representatives = (self.model.variables.ids()).map(|variable| self.representative(variable)).collect();
        let mut acting = Acting { knowns, sets: vec![0; count * words], words, representatives };
        for (k, known) in acting.knowns.iter().enumerate() {
            acting.sets[known.index() * words + k / 64] |= 1 << (k % 64);
        }
        let edges = Edges::of(self, &acting.representatives);
        // Blocks are sorted, so only what goes through `pre` needs more than one turn.
        while edges.iter().fold(false, |changed, edge| acting.join(edge) | changed) {}
        Some(acting)
    }

    fn representative(&self, variable: VarId) -> VarId {
        let mut found = variable;
        // A chain of aliases cannot be longer than the list of variables.
        for _ in 0..self.model.variables.len() {
            match self.roles.get(found) {
                Some(&Role::Alias { of, .. }) => found = of,
                _ => break,
            }
        }
        found
    }

    /// Both sides of an equation of the flat model, before anything was replaced in it.
    fn as_written(&self, equation: EqId) -> impl Iterator<Item = ExprId> {
        self.written.get(equation.index()).into_iter().flat_map(|&(left, right)| [left, right])
    }
}

/// What is computed together, and what that reads.
struct Edge {
    of: Vec<VarId>,
    reads: Vec<VarId>,
}

/// Finds the edges of a schedule.
struct Edges<'a> {
    schedule: &'a Schedule,
    representatives: &'a [VarId],
    /// The variable of the derivative of a variable.
    derivatives: FxHashMap<VarId, VarId>,
}

impl<'a> Edges<'a> {
    fn of(schedule: &'a Schedule, representatives: &'a [VarId]) -> Vec<Edge> {
        let declared = schedule.model.variables.iter();
        let derivatives =
            declared.filter_map(|(variable, declared)| Some((declared.derivative_of?, variable))).collect();
        let edges = Self { schedule, representatives, derivatives };
        let mut found: Vec<Edge> = schedule.blocks.iter().map(|block| edges.of_block(block)).collect();
        found.extend(edges.without_blocks());
        found
    }

    fn of_block(&self, block: &Block) -> Edge {
        let mut expressions = Vec::new();
        let mut add = |assignment: &Assignment| {
            expressions.push(assignment.value);
            expressions.extend(assignment.equation.into_iter().flat_map(|it| self.schedule.as_written(it)));
        };
        let mut of = match block {
            Block::Assign { assignment, .. } => {
                add(assignment);
                vec![assignment.variable]
            }
            Block::System { system, .. } => {
                let assignments = || system.inner.iter().chain(&system.discrete);
                assignments().for_each(add);
                expressions.extend(&system.residuals);
                expressions.extend(system.equations.iter().flat_map(|&it| self.schedule.as_written(it)));
                let others = assignments().map(|assignment| &assignment.variable).chain(&system.iteration);
                system.unknowns.iter().chain(others).copied().collect()
            }
        };
        of.sort_unstable();
        of.dedup();
        Edge { of, reads: self.reads(&expressions) }
    }

    /// What was found to be constant for the values of parameters has no block; its equation speaks for it.
    fn without_blocks(&self) -> Vec<Edge> {
        let Schedule { model, roles, written, blocks, .. } = self.schedule;
        let mut is_sorted = vec![false; written.len()];
        let mut is_computed = vec![false; model.variables.len()];
        for block in blocks {
            let (equations, variables) = match block {
                Block::Assign { assignment, .. } => {
                    (assignment.equation.as_slice(), std::slice::from_ref(&assignment.variable))
                }
                Block::System { system, .. } => (&system.equations[..], &system.unknowns[..]),
            };
            for equation in equations.iter().map(|equation| equation.index()).filter(|&it| it < written.len()) {
                is_sorted[equation] = true;
                variables.iter().for_each(|variable| is_computed[variable.index()] = true);
            }
        }
        let is_left = |variable: &&VarId| match roles.get(**variable) {
            _ if is_computed[variable.index()] => false,
            Some(Role::Algebraic | Role::Discrete | Role::Constant) => true,
            // It follows from parameters alone, for their values.
            Some(Role::Parameter) => model.variables[**variable].variability > Variability::Parameter,
            _ => false,
        };
        let mut edges = Vec::new();
        for (&(left, right), _) in written.iter().zip(&is_sorted).filter(|(_, sorted)| !**sorted) {
            let reads = self.reads(&[left, right]);
            let of: Vec<VarId> = reads.iter().filter(is_left).copied().collect();
            edges.push(Edge { of, reads });
        }
        edges
    }

    /// The variables in some expressions, as representatives.
    fn reads(&self, expressions: &[ExprId]) -> Vec<VarId> {
        let exprs = &self.schedule.model.exprs;
        let mut found: Vec<VarId> = Vec::new();
        for id in exprs.postorder(expressions) {
            match exprs.node(id) {
                Node::Var(variable) | Node::Pre(variable) | Node::Previous(variable) => found.push(variable),
                Node::Der(variable) => found.extend(self.derivatives.get(&variable)),
                _ => {}
            }
        }
        for variable in &mut found {
            *variable = self.representatives[variable.index()];
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Acting {
    /// What acts on anything that is read acts on all that is computed; whether that is new.
    fn join(&mut self, edge: &Edge) -> bool {
        let mut changed = false;
        for word in 0..self.words {
            let of = |variable: &VarId| variable.index() * self.words + word;
            let read = edge.reads.iter().fold(0, |all, variable| all | self.sets[of(variable)]);
            for place in edge.of.iter().map(of).collect::<smallvec::SmallVec<[usize; 4]>>() {
                changed |= self.sets[place] | read != self.sets[place];
                self.sets[place] |= read;
            }
        }
        changed
    }
}
