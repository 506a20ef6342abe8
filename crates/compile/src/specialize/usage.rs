//! What the statements of a function do to its variables: which are assigned, and how deep in branches and loops.

use dae::function::{Function, LocalId, Statement, StatementKind, Target};
use rustc_hash::FxHashSet;

/// What the statements do to the variables of a function.
pub(super) struct Usage {
    /// Variables that are assigned as a whole and outside of branches and loops only: such an assignment just names a
    /// value.
    pub names: FxHashSet<LocalId>,
    /// Whether the function can end before its last statement.
    pub leaves_early: bool,
}

impl Usage {
    pub fn of(function: &Function, statements: &[Statement]) -> Self {
        let mut usage = Usage { names: function.locals.ids().collect(), leaves_early: false };
        usage.visit(statements, 0);
        if usage.leaves_early {
            usage.names.retain(|local| !function.outputs.contains(local));
        }
        usage
    }

    fn visit(&mut self, statements: &[Statement], depth: usize) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign(target, _) => self.assigned(target, depth),
                StatementKind::AssignSeveral(targets, _) => {
                    targets.iter().flatten().for_each(|target| self.assigned(target, depth));
                }
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.visit(body, depth + 1));
                    self.visit(otherwise, depth + 1);
                }
                StatementKind::For { body, .. } | StatementKind::While { body, .. } => self.visit(body, depth + 1),
                StatementKind::Return => self.leaves_early = true,
                StatementKind::Assert { warning, .. } => self.leaves_early |= !warning,
                // What is called for its effect may end it with an error.
                StatementKind::Call(_) => self.leaves_early = true,
                StatementKind::Break => {}
            }
        }
    }

    fn assigned(&mut self, target: &Target, depth: usize) {
        if depth > 0 || !target.steps.is_empty() {
            self.names.remove(&target.local);
        }
    }
}

/// Whether a loop is left from within.
pub(super) fn breaks(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StatementKind::Break => true,
        StatementKind::If { branches, otherwise } => branches.iter().any(|(_, body)| breaks(body)) || breaks(otherwise),
        _ => false,
    })
}

pub(super) fn weight(statements: &[Statement]) -> usize {
    let inner = |statement: &Statement| match &statement.kind {
        StatementKind::If { branches, otherwise } => {
            branches.iter().map(|(_, body)| weight(body)).sum::<usize>() + weight(otherwise)
        }
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => 8 * weight(body),
        _ => 0,
    };
    statements.iter().map(|statement| 1 + inner(statement)).sum()
}
