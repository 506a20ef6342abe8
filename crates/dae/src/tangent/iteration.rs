//! Loops whose derivative is not that of what they compute.
//!
//! A loop that iterates to a tolerance gives a value near the solution, but its statements differentiated give the derivative of
//! the last turn: zero where the first guess is the solution already, and zero throughout where the solution is found by
//! comparisons alone, as in bisection (Griewank and Walther, *Evaluating Derivatives*, chapter 15). Such loops are told from
//! those that search a table, reduce a range or count up to a limit by what decides about their turns:
//!
//! - A condition that ends the loop depends on a Real that moves with the inputs and that each turn computes from its value in
//!   the turn before. Steps and factors that are the same in all turns are no iteration: the turns then differ by jumps of the
//!   function itself.
//! - A condition that ends the loop compares what is a product, power or function of an input and of a count of turns: the terms
//!   of a series.
//! - Inside of the loop, a condition that depends on the inputs decides how a Real goes on from turn to turn, and nothing else of
//!   the inputs goes into that Real.

use base::Span;
use rustc_hash::FxHashSet;

use super::contains_reals;
use crate::function::{
    ArithmeticOp, ArrayFunction, Body, Expr, Function, LocalId, Statement, StatementKind, Step, Subscript, Target,
};

type Locals = FxHashSet<LocalId>;

/// A loop that iterates, and the local by which it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Iteration {
    pub at: Span,
    pub local: LocalId,
    /// Whether comparisons alone carry the inputs into the result: then the derivative is zero everywhere.
    pub by_comparison: bool,
}

/// The first such loop of a function, of which the inputs in `constant` do not change.
pub fn iteration(function: &Function, constant: &[LocalId]) -> Option<Iteration> {
    let Body::Algorithm(statements) = &function.body else { return None };
    if !has_loop(statements) {
        return None;
    }
    let mut body = Flow::default();
    body.statements(statements);
    let moves = |id: &&LocalId| !constant.contains(id) && super::has_derivative(&function.locals[**id].ty);
    let inputs: Locals = function.inputs.iter().filter(moves).copied().collect();
    let is_real = |local: LocalId| function.locals.get(local).is_some_and(|local| contains_reals(&local.ty));
    let moving = body.reached(&inputs, |assignment| body.influences(assignment, 0), |_| true);
    let active = body.reached(&inputs, |assignment| data_reads(assignment.value), is_real);
    let real = &is_real;
    (0..body.loops.len()).find_map(|index| Turns { body: &body, index, moving: &moving, active: &active, real }.check())
}

fn has_loop(statements: &[Statement]) -> bool {
    let mut stack: Vec<&Statement> = statements.iter().collect();
    while let Some(statement) = stack.pop() {
        match &statement.kind {
            StatementKind::For { .. } | StatementKind::While { .. } => return true,
            StatementKind::If { branches, otherwise } => {
                stack.extend(branches.iter().flat_map(|(_, body)| body).chain(otherwise));
            }
            _ => {}
        }
    }
    false
}

struct Assignment<'f> {
    target: LocalId,
    is_whole: bool,
    value: &'f Expr,
    subscripts: Vec<&'f Expr>,
    /// The conditions around it, each with the number of loops around the condition.
    conditions: Vec<(usize, &'f Expr)>,
    /// The loops around it, from the outside.
    loops: Vec<usize>,
    /// It is the iterator of the innermost loop.
    is_iterator: bool,
}

struct Loop<'f> {
    at: Span,
    /// How many loops are around it.
    depth: usize,
    /// Conditions that end it.
    exits: Vec<&'f Expr>,
}

/// The statements of a function as a list.
#[derive(Default)]
struct Flow<'f> {
    assignments: Vec<Assignment<'f>>,
    loops: Vec<Loop<'f>>,
    conditions: Vec<(usize, &'f Expr)>,
    around: Vec<usize>,
}

impl<'f> Flow<'f> {
    fn statements(&mut self, statements: &'f [Statement]) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for statement in statements {
                self.statement(statement);
            }
        });
    }

    fn statement(&mut self, statement: &'f Statement) {
        match &statement.kind {
            StatementKind::Assign(target, value) => self.assign(target, value),
            StatementKind::AssignSeveral(targets, value) => {
                targets.iter().flatten().for_each(|target| self.assign(target, value));
            }
            StatementKind::If { branches, otherwise } => {
                let outside = self.conditions.len();
                for (condition, body) in branches {
                    self.conditions.push((self.around.len(), condition));
                    self.statements(body);
                }
                self.statements(otherwise);
                self.conditions.truncate(outside);
            }
            StatementKind::For { iterator, range, body } => {
                self.enter(statement.span, None);
                self.push(*iterator, true, range, Vec::new());
                if let Some(assignment) = self.assignments.last_mut() {
                    assignment.is_iterator = true;
                }
                self.statements(body);
                self.around.pop();
            }
            StatementKind::While { condition, body } => {
                self.conditions.push((self.around.len(), condition));
                self.enter(statement.span, Some(condition));
                self.statements(body);
                self.around.pop();
                self.conditions.pop();
            }
            StatementKind::Break => {
                if let Some(&innermost) = self.around.last() {
                    self.leave(innermost);
                }
            }
            StatementKind::Return => self.around.clone().into_iter().for_each(|index| self.leave(index)),
            StatementKind::Assert { .. } | StatementKind::Call(_) => {}
        }
    }

    fn enter(&mut self, at: Span, exit: Option<&'f Expr>) {
        self.loops.push(Loop { at, depth: self.around.len(), exits: exit.into_iter().collect() });
        self.around.push(self.loops.len() - 1);
    }

    fn leave(&mut self, index: usize) {
        let depth = self.loops[index].depth;
        let inside = self.conditions.iter().filter(|(around, _)| *around > depth).map(|(_, condition)| *condition);
        let exits: Vec<&Expr> = inside.collect();
        self.loops[index].exits.extend(exits);
    }

    fn assign(&mut self, target: &'f Target, value: &'f Expr) {
        let mut subscripts = Vec::new();
        for step in &target.steps {
            if let Step::Index(all) = step {
                subscripts.extend(all.iter().filter_map(|subscript| match subscript {
                    Subscript::Expr(expr) => Some(expr),
                    Subscript::All => None,
                }));
            }
        }
        self.push(target.local, target.steps.is_empty(), value, subscripts);
    }

    fn push(&mut self, target: LocalId, is_whole: bool, value: &'f Expr, subscripts: Vec<&'f Expr>) {
        let (conditions, loops) = (self.conditions.clone(), self.around.clone());
        self.assignments.push(Assignment {
            target,
            is_whole,
            value,
            subscripts,
            conditions,
            loops,
            is_iterator: false,
        });
    }

    /// All that an assignment depends on inside of so many loops: value, subscripts, conditions, and what ends the loops around it.
    fn influences(&self, assignment: &Assignment, depth: usize) -> Locals {
        let mut found = all_reads(assignment.value);
        assignment.subscripts.iter().for_each(|subscript| found.extend(all_reads(subscript)));
        for (around, condition) in &assignment.conditions {
            if *around >= depth {
                found.extend(all_reads(condition));
            }
        }
        for &index in assignment.loops.iter().skip(depth) {
            self.loops[index].exits.iter().for_each(|exit| found.extend(all_reads(exit)));
        }
        found
    }

    /// What is assigned from `start` on, in any number of steps.
    fn reached(
        &self,
        start: &Locals,
        reads: impl Fn(&Assignment<'f>) -> Locals,
        counts: impl Fn(LocalId) -> bool,
    ) -> Locals {
        let edges: Vec<(LocalId, Locals)> =
            self.assignments.iter().map(|assignment| (assignment.target, reads(assignment))).collect();
        let mut found = start.clone();
        loop {
            let before = found.len();
            for (target, reads) in &edges {
                if counts(*target) && !found.contains(target) && !found.is_disjoint(reads) {
                    found.insert(*target);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }
}

/// One loop of a function.
struct Turns<'a> {
    body: &'a Flow<'a>,
    index: usize,
    /// What depends on the inputs, also through conditions.
    moving: &'a Locals,
    /// What has a derivative.
    active: &'a Locals,
    real: &'a dyn Fn(LocalId) -> bool,
}

impl<'a> Turns<'a> {
    fn check(&self) -> Option<Iteration> {
        let Loop { at, depth, exits } = &self.body.loops[self.index];
        let inside: Vec<&Assignment> =
            self.body.assignments.iter().filter(|assignment| assignment.loops.contains(&self.index)).collect();
        let assigned: Locals = inside.iter().map(|assignment| assignment.target).collect();
        let inner = depth + 1;
        // What something depends on within a turn and over turns; what is not assigned here ends the way.
        let origins = |start: Locals, reads: &dyn Fn(&Assignment) -> Locals| {
            let mut found = start;
            loop {
                let more: Vec<LocalId> = inside
                    .iter()
                    .filter(|assignment| found.contains(&assignment.target))
                    .flat_map(|assignment| reads(assignment))
                    .filter(|local| !found.contains(local))
                    .collect();
                if more.is_empty() {
                    return found;
                }
                found.extend(more);
            }
        };
        // The range of the loop itself is evaluated before its first turn.
        let is_given = |assignment: &Assignment| assignment.is_iterator && assignment.loops.last() == Some(&self.index);
        let influences = |assignment: &Assignment| match is_given(assignment) {
            true => Locals::default(),
            false => self.body.influences(assignment, inner),
        };
        let values = |assignment: &Assignment| match is_given(assignment) {
            true => Locals::default(),
            false => data_reads(assignment.value),
        };
        let data = |assignment: &Assignment| {
            values(assignment).into_iter().filter(|&local| (self.real)(local)).collect::<Locals>()
        };
        let of = |local: LocalId| inside.iter().filter(move |assignment| assignment.target == local);
        let sources = |local: LocalId| origins(of(local).flat_map(|assignment| data(assignment)).collect(), &data);
        let mut carried: Vec<LocalId> = assigned
            .iter()
            .copied()
            .filter(|&local| (self.real)(local) && self.moving.contains(&local) && sources(local).contains(&local))
            .filter(|&local| !is_steady(local, of(local).copied(), &assigned))
            .collect();
        carried.sort_unstable();
        let found = |local: LocalId, by_comparison| Some(Iteration { at: *at, local, by_comparison });

        for &local in &carried {
            let ways = sources(local);
            if ways.iter().any(|way| !assigned.contains(way) && self.active.contains(way)) {
                continue;
            }
            let mut deciding = Locals::default();
            for assignment in inside.iter().filter(|assignment| ways.contains(&assignment.target)) {
                deciding.extend(condition_reads(assignment.value));
                let conditions = assignment.conditions.iter().filter(|(around, _)| *around >= inner);
                conditions.for_each(|(_, condition)| deciding.extend(all_reads(condition)));
            }
            let deciding = origins(deciding, &values);
            let from_outside = |local: &LocalId| !assigned.contains(local) && self.moving.contains(local);
            if deciding.contains(&local) && deciding.iter().any(from_outside) {
                return found(local, true);
            }
        }
        let ending = origins(exits.iter().flat_map(|exit| all_reads(exit)).collect(), &influences);
        if ending.is_disjoint(self.moving) {
            return None;
        }
        if let Some(&local) = carried.iter().find(|local| ending.contains(local)) {
            return found(local, false);
        }
        let &summed = carried.iter().find(|local| self.active.contains(local))?;
        let terms = inside.iter().filter(|assignment| ending.contains(&assignment.target)).map(|found| found.value);
        let is_series = exits.iter().copied().chain(terms).any(|expr| self.mixes(expr, &assigned));
        if is_series { found(summed, false) } else { None }
    }

    /// Whether a product, power or function of what changes from turn to turn and of what moves with the inputs is part of it.
    fn mixes(&self, expr: &Expr, assigned: &Locals) -> bool {
        let mut stack = vec![expr];
        while let Some(expr) = stack.pop() {
            let combines = match expr {
                Expr::Arithmetic(op, ..) | Expr::Elementwise(op, ..) => {
                    !matches!(op, ArithmeticOp::Add | ArithmeticOp::Sub)
                }
                Expr::Builtin(..) | Expr::Call(..) | Expr::CallLocal(..) => true,
                _ => false,
            };
            if combines {
                let reads = data_reads(expr);
                let moves = reads.iter().any(|local| !assigned.contains(local) && self.moving.contains(local));
                if moves && !reads.is_disjoint(assigned) {
                    return true;
                }
            }
            for_each_value(expr, &mut |operand| stack.push(operand));
        }
        false
    }
}

/// Whether each turn adds the same, or multiplies by the same.
fn is_steady<'f>(local: LocalId, mut assignments: impl Iterator<Item = &'f Assignment<'f>>, assigned: &Locals) -> bool {
    let mut all_add = None;
    assignments.all(|assignment| {
        let (adds, a, b, exchanges) = match assignment.value {
            Expr::Arithmetic(ArithmeticOp::Add, a, b) => (true, a, b, true),
            Expr::Arithmetic(ArithmeticOp::Sub, a, b) => (true, a, b, false),
            Expr::Arithmetic(ArithmeticOp::Mul, a, b) => (false, a, b, true),
            Expr::Arithmetic(ArithmeticOp::Div, a, b) => (false, a, b, false),
            _ => return false,
        };
        let is_it = |expr: &Expr| matches!(*expr, Expr::Local(found) if found == local);
        let step = match (is_it(a), is_it(b)) {
            (true, false) => b,
            (false, true) if exchanges => a,
            _ => return false,
        };
        let is_same_kind = *all_add.get_or_insert(adds) == adds;
        assignment.is_whole && is_same_kind && all_reads(step).is_disjoint(assigned)
    })
}

/// The operands whose values go into the value of an expression by arithmetic: no conditions, no subscripts, no sizes.
fn for_each_value<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    match expr {
        Expr::Index(base, _) => visit(base),
        Expr::If(_, then, otherwise) => {
            visit(then);
            visit(otherwise);
        }
        Expr::Whole(ArrayFunction::Size | ArrayFunction::Ndims, _) => {}
        other => other.for_each_operand(visit),
    }
}

fn data_reads(expr: &Expr) -> Locals {
    let (mut found, mut stack) = (Locals::default(), vec![expr]);
    while let Some(expr) = stack.pop() {
        found.extend(own_read(expr));
        for_each_value(expr, &mut |operand| stack.push(operand));
    }
    found
}

fn all_reads(expr: &Expr) -> Locals {
    let (mut found, mut stack) = (Locals::default(), vec![expr]);
    while let Some(expr) = stack.pop() {
        found.extend(own_read(expr));
        if !matches!(expr, Expr::Whole(ArrayFunction::Size | ArrayFunction::Ndims, _)) {
            expr.for_each_operand(&mut |operand| stack.push(operand));
        }
    }
    found
}

/// What the conditions inside of an expression read.
fn condition_reads(expr: &Expr) -> Locals {
    let (mut found, mut stack) = (Locals::default(), vec![expr]);
    while let Some(expr) = stack.pop() {
        if let Expr::If(condition, ..) = expr {
            found.extend(all_reads(condition));
        }
        expr.for_each_operand(&mut |operand| stack.push(operand));
    }
    found
}

fn own_read(expr: &Expr) -> Option<LocalId> {
    match expr {
        Expr::Local(local) | Expr::CallLocal(local, _) | Expr::LocalValue(local, _) => Some(*local),
        _ => None,
    }
}
