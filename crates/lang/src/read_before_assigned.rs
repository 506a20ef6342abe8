//! Variables of functions that the first turn of a loop reads and later ones assign (12.4.4).
//!
//! Their value at the start of a call is undefined. Libraries rely on what other tools give them there, which is zero: the
//! variable begins with it, and a warning decides. Only a read that every first turn makes is taken for one, so that a guard
//! (`if i > 1 then …`) is believed, and only one whose loop assigns the variable later: what is read without any assignment
//! stays an error.

use base::Diagnostic;
use dae::function::{ArrayFunction, Body, Expr, Function, LocalId, Statement, StatementKind, Type, for_each_statement};
use rustc_hash::FxHashSet;

use crate::unassigned_members::targets;

/// Gives such variables their zeros; the warnings name them.
pub(crate) fn complete(function: &mut Function) -> Vec<Diagnostic> {
    let Body::Algorithm(statements) = &function.body else { return Vec::new() };
    let mut search = Search { function, assigned: FxHashSet::default(), loops: Vec::new(), found: Vec::new() };
    search.assigned.extend(function.inputs.iter().copied());
    search.assigned.extend(function.locals.iter().filter(|(_, local)| local.default.is_some()).map(|(id, _)| id));
    search.statements(statements);
    let found = search.found;
    let mut warnings = Vec::with_capacity(found.len());
    for (local, zero) in found {
        let name = function.locals[local].name;
        let message = format!("`{name}` of `{}` is read before it has a value", function.name);
        let diagnostic = Diagnostic::breach("read-before-assigned", message)
            .at(function.locals[local].span, "counts as zero in the first turn of the loop that assigns it")
            .hint(format!("give `{name}` a value where it is declared, or before the loop"))
            .specification("12.4.4");
        warnings.push(diagnostic);
        function.locals[local].default = Some(zero);
    }
    warnings
}

struct Search<'f> {
    function: &'f Function,
    /// What may have a value, as far as the text goes.
    assigned: FxHashSet<LocalId>,
    /// What the loops around assign anywhere in them.
    loops: Vec<FxHashSet<LocalId>>,
    found: Vec<(LocalId, Expr)>,
}

impl<'f> Search<'f> {
    /// Statements that are reached in every first turn.
    fn statements(&mut self, statements: &'f [Statement]) {
        for statement in statements {
            statement.for_each_expression(&mut |expr| self.reads(expr));
            match &statement.kind {
                StatementKind::For { iterator, range, body } => {
                    self.assigned.insert(*iterator);
                    match self.is_given(range) {
                        true => self.turn(body),
                        false => self.assigned.extend(assigned_in(body)),
                    }
                }
                StatementKind::While { body, .. } if self.loops.is_empty() => self.turn(body),
                StatementKind::While { body, .. } => self.assigned.extend(assigned_in(body)),
                // Which branch is taken is not known: none is believed to read, all are believed to assign. Behind a way
                // out nothing need be reached.
                StatementKind::If { branches, otherwise } => {
                    let bodies = || branches.iter().map(|(_, body)| body).chain([otherwise]);
                    bodies().for_each(|body| self.assigned.extend(assigned_in(body)));
                    if bodies().any(|body| leaves(body)) {
                        return;
                    }
                }
                StatementKind::Break | StatementKind::Return => return,
                _ => self.assigned.extend(targets(statement).map(|target| target.local)),
            }
        }
    }

    /// Whether the arguments of the function decide how often a loop turns: others count, and begin with no turn.
    fn is_given(&self, range: &Expr) -> bool {
        let (mut stack, mut given) = (vec![range], true);
        while let Some(expr) = stack.pop() {
            match expr {
                Expr::Local(local) => given &= self.function.inputs.contains(local),
                Expr::Whole(ArrayFunction::Size | ArrayFunction::Ndims, _) => {}
                _ => expr.for_each_operand(&mut |operand| stack.push(operand)),
            }
        }
        given
    }

    fn turn(&mut self, body: &'f [Statement]) {
        self.loops.push(assigned_in(body).collect());
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.statements(body));
        self.loops.pop();
        self.assigned.extend(assigned_in(body));
    }

    /// What an expression reads whatever its conditions are.
    fn reads(&mut self, expr: &Expr) {
        let mut stack = vec![expr];
        while let Some(expr) = stack.pop() {
            match expr {
                Expr::Local(local) => self.read(*local),
                Expr::If(condition, ..) | Expr::And(condition, _) | Expr::Or(condition, _) => stack.push(condition),
                // The size of a variable is known without its value.
                Expr::Whole(ArrayFunction::Size | ArrayFunction::Ndims, _) => {}
                // What iterates may have no turn at all, and its iterators are no variables.
                Expr::ArrayFor { .. } | Expr::Reduction { .. } => {}
                _ => expr.for_each_operand(&mut |operand| stack.push(operand)),
            }
        }
    }

    fn read(&mut self, local: LocalId) {
        if !self.assigned.contains(&local)
            && self.loops.iter().any(|assigned| assigned.contains(&local))
            && let Some(zero) = self.zero(local)
        {
            self.assigned.insert(local);
            self.found.push((local, zero));
        }
    }

    /// Zero of a variable with declared sizes.
    fn zero(&self, local: LocalId) -> Option<Expr> {
        let local = &self.function.locals[local];
        let element = match &local.ty {
            Type::Real => Expr::Real(0.0),
            Type::Integer => Expr::Integer(0),
            Type::Boolean => Expr::Boolean(false),
            _ => return None,
        };
        if local.sizes.is_empty() {
            return Some(element);
        }
        let mut arguments = vec![element];
        for size in &local.sizes {
            arguments.push(size.clone()?);
        }
        Some(Expr::Whole(ArrayFunction::Fill, arguments))
    }
}

fn assigned_in(statements: &[Statement]) -> impl Iterator<Item = LocalId> {
    let mut found = Vec::new();
    for_each_statement(statements, &mut |statement| found.extend(targets(statement).map(|target| target.local)));
    found.into_iter()
}

fn leaves(statements: &[Statement]) -> bool {
    let mut leaves = false;
    for_each_statement(statements, &mut |statement| {
        leaves |= matches!(statement.kind, StatementKind::Return | StatementKind::Break);
    });
    leaves
}
