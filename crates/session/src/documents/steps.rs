//! The order of the documents: assignments, systems, the relations between them, and actions.
//!
//! A relation stands as soon as its residue is known and before it is used; where the block that uses it also determines its
//! residue, it stands behind the block, and the block uses the status of the evaluation before.

use dae::{Action, ActionKind, ExprId, Node, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use transform::{Assignment, Block, EquationSystem, Schedule, Timing};

pub enum Step<'s> {
    Assign { assignment: &'s Assignment, timing: Timing },
    System { system: &'s EquationSystem, timing: Timing, joined: Vec<&'s Assignment> },
    Relation(usize),
    Action(&'s Action),
}

#[derive(Default)]
pub struct Steps<'s> {
    pub list: Vec<Step<'s>>,
    /// Relations that are events, in the order of their numbers, which count from 1.
    pub relations: Vec<ExprId>,
    pub numbers: FxHashMap<ExprId, usize>,
    /// Alternatives that are the value of a variable: systems write the variable.
    pub named: FxHashMap<ExprId, VarId>,
}

impl<'s> Steps<'s> {
    pub fn of_run(schedule: &'s Schedule) -> Self {
        let mut steps = Builder { schedule, steps: Self::default(), done: FxHashSet::default() };
        steps.blocks(&schedule.blocks);
        for action in &schedule.model.actions {
            let roots = roots_of_action(action);
            steps.relations(&roots, &FxHashSet::default());
            steps.steps.list.push(Step::Action(action));
        }
        steps.steps
    }

    /// The initial problem; its relations are no events.
    pub fn of_start(schedule: &'s Schedule) -> Self {
        let step = |block: &'s Block| match block {
            Block::Assign { assignment, timing } => Step::Assign { assignment, timing: *timing },
            Block::System { system, timing } => Step::System { system, timing: *timing, joined: Vec::new() },
        };
        Self { list: schedule.initial.iter().map(step).collect(), ..Self::default() }
    }
}

impl Step<'_> {
    /// What is evaluated at events only.
    pub fn is_at_events(&self) -> bool {
        match self {
            Step::Assign { timing, .. } | Step::System { timing, .. } => *timing == Timing::Event,
            Step::Action(action) => action.condition.is_some() || !matches!(action.kind, ActionKind::Assert { .. }),
            Step::Relation(_) => false,
        }
    }
}

pub fn roots_of_action(action: &Action) -> Vec<ExprId> {
    let mut roots: Vec<ExprId> = action.condition.into_iter().collect();
    match action.kind {
        ActionKind::Reinit { value, .. } => roots.push(value),
        ActionKind::Assert { holds, .. } => roots.push(holds),
        ActionKind::Terminate { .. } => {}
        ActionKind::Call(call) => roots.push(call),
    }
    roots
}

struct Builder<'s> {
    schedule: &'s Schedule,
    steps: Steps<'s>,
    /// Assignments that were written before their turn.
    done: FxHashSet<VarId>,
}

impl<'s> Builder<'s> {
    fn blocks(&mut self, blocks: &'s [Block]) {
        let exprs = &self.schedule.model.exprs;
        let alternatives: FxHashMap<ExprId, (&'s Assignment, Timing)> = blocks
            .iter()
            .filter_map(|block| match block {
                Block::Assign { assignment, timing } => Some((assignment, *timing)),
                Block::System { .. } => None,
            })
            .filter(|(assignment, _)| matches!(exprs.node(assignment.value), Node::If { .. }))
            .map(|(assignment, timing)| (assignment.value, (assignment, timing)))
            .collect();
        for block in blocks {
            match block {
                Block::Assign { assignment, timing } => self.assign(assignment, *timing),
                Block::System { system, timing } => self.system(system, *timing, &alternatives),
            }
        }
    }

    fn assign(&mut self, assignment: &'s Assignment, timing: Timing) {
        if !self.done.insert(assignment.variable) {
            return;
        }
        self.relations(&[assignment.value], &FxHashSet::from_iter([assignment.variable]));
        self.steps.list.push(Step::Assign { assignment, timing });
        self.relations(&[assignment.value], &FxHashSet::default());
    }

    fn system(
        &mut self,
        system: &'s EquationSystem,
        timing: Timing,
        alternatives: &FxHashMap<ExprId, (&'s Assignment, Timing)>,
    ) {
        let exprs = &self.schedule.model.exprs;
        let mut roots = system.residuals.clone();
        roots.extend(system.inner.iter().chain(&system.discrete).map(|assignment| assignment.value));
        let unknowns: FxHashSet<VarId> = system.unknowns.iter().copied().collect();
        let mut joined = Vec::new();
        for id in exprs.postorder(&roots) {
            let Some(&(assignment, timing)) = alternatives.get(&id) else { continue };
            self.steps.named.insert(id, assignment.variable);
            match exprs.dependencies(&[id]).variables.iter().any(|variable| unknowns.contains(variable)) {
                false => self.assign(assignment, timing),
                true if self.done.insert(assignment.variable) => joined.push(assignment),
                true => {}
            }
        }
        self.relations(&roots, &unknowns);
        self.steps.list.push(Step::System { system, timing, joined });
        self.relations(&roots, &FxHashSet::default());
    }

    /// The relations in expressions that have no step yet and do not depend on the unknowns.
    fn relations(&mut self, roots: &[ExprId], unknowns: &FxHashSet<VarId>) {
        let exprs = &self.schedule.model.exprs;
        for id in exprs.postorder(roots) {
            if matches!(exprs.node(id), Node::Compare { event: true, .. })
                && !self.steps.numbers.contains_key(&id)
                && !exprs.dependencies(&[id]).variables.iter().any(|variable| unknowns.contains(variable))
            {
                self.steps.relations.push(id);
                self.steps.numbers.insert(id, self.steps.relations.len());
                self.steps.list.push(Step::Relation(self.steps.relations.len()));
            }
        }
    }
}
