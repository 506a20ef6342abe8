//! Loops and recursions whose derivative is not that of what they compute.
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
//!
//! A function that returns what it itself returns for another value of a Real iterates in the same way.

use base::Span;
use rustc_hash::FxHashSet;

use super::contains_reals;
use crate::function::{
    Accessor, ArithmeticOp, ArrayFunction, Body, Expr, Function, FunctionId, LocalId, Statement, StatementKind,
    Subscript, Target, for_each_statement,
};

type Locals = FxHashSet<LocalId>;

/// A loop that iterates, and the local by which it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Iteration {
    pub at: Span,
    pub local: LocalId,
    pub kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Until a condition is met.
    Loop,
    /// Comparisons alone carry the inputs into the result: the derivative is zero everywhere.
    Comparisons,
    Recursion,
}

/// The first such loop of a function, of which the inputs in `constant` do not change. Recursion is found by its own id.
pub fn iteration(function: &Function, id: Option<FunctionId>, constant: &[LocalId]) -> Option<Iteration> {
    let Body::Algorithm(statements) = &function.body else { return None };
    if !has_loop(statements) && !id.is_some_and(|id| calls(statements, id)) {
        return None;
    }
    let mut body = Flow::default();
    body.statements(statements);
    let moves = |id: &&LocalId| !constant.contains(id) && super::has_derivative(&function.locals[**id].ty);
    let inputs: Locals = function.inputs.iter().filter(moves).copied().collect();
    let is_real = |local: LocalId| function.locals.get(local).is_some_and(|local| contains_reals(&local.ty));
    let moving = body.reached(&inputs, |assignment| body.influences(assignment, 0), |_| true);
    let active = body.reached(&inputs, |assignment| data_reads(assignment.value), is_real);
    let mut turns = (0..body.loops.len()).map(|index| Turns::new(&body, index, &moving, &active, &is_real));
    turns.find_map(|turns| turns.check()).or_else(|| recursion(function, &body, id?, &inputs))
}

/// Whether a function of this id is called in statements.
fn calls(statements: &[Statement], id: FunctionId) -> bool {
    let mut found = false;
    for_each_statement(statements, &mut |statement| {
        if let StatementKind::Assign(_, value) | StatementKind::AssignSeveral(_, value) = &statement.kind {
            let mut stack = vec![value];
            while let Some(expr) = stack.pop() {
                found |= matches!(expr, Expr::Call(called, _) if *called == id);
                expr.for_each_operand(&mut |operand| stack.push(operand));
            }
        }
    });
    found
}

/// A function that returns what it returns for other inputs, until a condition on them is met.
fn recursion(function: &Function, body: &Flow, id: FunctionId, moving: &Locals) -> Option<Iteration> {
    for assignment in body.assignments.iter().filter(|found| found.is_whole && function.outputs.contains(&found.target))
    {
        let around = assignment.conditions.iter().map(|(_, condition)| *condition).collect();
        let mut stack: Vec<(&Expr, Vec<&Expr>)> = vec![(assignment.value, around)];
        while let Some((value, conditions)) = stack.pop() {
            match value {
                Expr::If(condition, then, otherwise) => {
                    let inside: Vec<&Expr> = conditions.into_iter().chain([&**condition]).collect();
                    stack.push((then, inside.clone()));
                    stack.push((otherwise, inside));
                }
                Expr::Call(called, arguments) if *called == id => {
                    let is_same = |(input, argument): &(&LocalId, &Expr)| matches!(argument, Expr::Local(passed) if passed == *input);
                    let changed: Locals = function
                        .inputs
                        .iter()
                        .zip(arguments)
                        .filter(|pair| !is_same(pair))
                        .map(|(&input, _)| input)
                        .collect();
                    let deciding = body.sources(conditions.iter().flat_map(|condition| all_reads(condition)).collect());
                    for (&input, argument) in function.inputs.iter().zip(arguments) {
                        let improves = changed.contains(&input) && moving.contains(&input) && deciding.contains(&input);
                        if improves && steady_step(input, argument, &changed).is_none() {
                            return Some(Iteration { at: assignment.at, local: input, kind: Kind::Recursion });
                        }
                    }
                }
                _ => {}
            }
        }
    }
    None
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
    at: Span,
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
    at: Option<Span>,
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
        self.at = Some(statement.span);
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
            if let Accessor::Index(all) = step {
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
        let Some(at) = self.at else { return };
        self.assignments.push(Assignment {
            target,
            is_whole,
            value,
            subscripts,
            conditions,
            loops,
            is_iterator: false,
            at,
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

    /// All that some locals depend on.
    fn sources(&self, start: Locals) -> Locals {
        let mut found = start;
        loop {
            let before = found.len();
            for assignment in &self.assignments {
                if found.contains(&assignment.target) {
                    found.extend(self.influences(assignment, 0));
                }
            }
            if found.len() == before {
                return found;
            }
        }
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

/// One loop of a function, and what each assignment in it reads.
struct Turns<'a> {
    turn: &'a Loop<'a>,
    inside: Vec<&'a Assignment<'a>>,
    assigned: Locals,
    /// All that decides about each assignment inside of the loop.
    influences: Vec<Locals>,
    /// What each value is computed from, of any type and of Reals alone.
    values: Vec<Locals>,
    data: Vec<Locals>,
    /// What depends on the inputs, also through conditions.
    moving: &'a Locals,
    /// What has a derivative.
    active: &'a Locals,
}

impl<'a> Turns<'a> {
    fn new(
        body: &'a Flow<'a>,
        index: usize,
        moving: &'a Locals,
        active: &'a Locals,
        is_real: &dyn Fn(LocalId) -> bool,
    ) -> Self {
        let turn = &body.loops[index];
        let inside: Vec<&Assignment> = body.assignments.iter().filter(|found| found.loops.contains(&index)).collect();
        // The range of the loop itself is evaluated before its first turn.
        let is_given = |found: &Assignment| found.is_iterator && found.loops.last() == Some(&index);
        let read = |found: &&Assignment| if is_given(found) { Locals::default() } else { data_reads(found.value) };
        let values: Vec<Locals> = inside.iter().map(read).collect();
        let influence = |found: &&Assignment| match is_given(found) {
            true => Locals::default(),
            false => body.influences(found, turn.depth + 1),
        };
        Self {
            turn,
            assigned: inside.iter().map(|assignment| assignment.target).collect(),
            influences: inside.iter().map(influence).collect(),
            data: values.iter().map(|all| all.iter().copied().filter(|&local| is_real(local)).collect()).collect(),
            values,
            inside,
            moving,
            active,
        }
    }

    /// What something depends on within a turn and over turns; what is not assigned here ends the way.
    fn origins(&self, start: Locals, reads: &[Locals]) -> Locals {
        let mut found = start;
        loop {
            let before = found.len();
            for (assignment, reads) in self.inside.iter().zip(reads) {
                if found.contains(&assignment.target) {
                    found.extend(reads);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// The Reals that the value of a local comes from.
    fn sources(&self, local: LocalId) -> Locals {
        let own = self.inside.iter().zip(&self.data).filter(|(assignment, _)| assignment.target == local);
        self.origins(own.flat_map(|(_, reads)| reads.iter().copied()).collect(), &self.data)
    }

    /// Reals that each turn computes from their values in the turn before, and not by steps that stay the same.
    fn carried(&self) -> Vec<LocalId> {
        let of = |local: LocalId| self.inside.iter().copied().filter(move |assignment| assignment.target == local);
        let mut carried: Vec<LocalId> = self
            .assigned
            .iter()
            .copied()
            .filter(|&local| self.moving.contains(&local) && self.sources(local).contains(&local))
            .filter(|&local| !is_steady(local, of(local), &self.assigned))
            .collect();
        carried.sort_unstable();
        carried
    }

    fn check(&self) -> Option<Iteration> {
        let carried = self.carried();
        if carried.is_empty() {
            return None;
        }
        let found = |local: LocalId, kind| Some(Iteration { at: self.turn.at, local, kind });
        if let Some(&local) = carried.iter().find(|&&local| self.is_decided(local)) {
            return found(local, Kind::Comparisons);
        }
        let exits = self.turn.exits.iter().flat_map(|exit| all_reads(exit)).collect();
        let ending = self.origins(exits, &self.influences);
        if ending.is_disjoint(self.moving) {
            return None;
        }
        if let Some(&local) = carried.iter().find(|local| ending.contains(local)) {
            return found(local, Kind::Loop);
        }
        let &summed = carried.iter().find(|local| self.active.contains(local))?;
        let terms =
            self.inside.iter().filter(|assignment| ending.contains(&assignment.target)).map(|found| found.value);
        let is_series = self.turn.exits.iter().copied().chain(terms).any(|expr| self.mixes(expr));
        if is_series { found(summed, Kind::Loop) } else { None }
    }

    /// Whether comparisons with the inputs alone decide how a local goes on.
    fn is_decided(&self, local: LocalId) -> bool {
        let ways = self.sources(local);
        let is_outside = |local: &LocalId| !self.assigned.contains(local);
        if ways.iter().any(|way| is_outside(way) && self.active.contains(way)) {
            return false;
        }
        let mut deciding = Locals::default();
        for assignment in self.inside.iter().filter(|assignment| ways.contains(&assignment.target)) {
            deciding.extend(condition_reads(assignment.value));
            let conditions = assignment.conditions.iter().filter(|(around, _)| *around > self.turn.depth);
            conditions.for_each(|(_, condition)| deciding.extend(all_reads(condition)));
        }
        let deciding = self.origins(deciding, &self.values);
        deciding.contains(&local) && deciding.iter().any(|local| is_outside(local) && self.moving.contains(local))
    }

    /// Whether a product, power or function of what changes from turn to turn and of what moves with the inputs is part of it.
    fn mixes(&self, expr: &Expr) -> bool {
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
                let moves = reads.iter().any(|local| !self.assigned.contains(local) && self.moving.contains(local));
                if moves && !reads.is_disjoint(&self.assigned) {
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
    let mut first = None;
    assignments.all(|assignment| match steady_step(local, assignment.value, assigned) {
        Some(adds) => assignment.is_whole && *first.get_or_insert(adds) == adds,
        None => false,
    })
}

/// Whether a value is the local plus (`true`) or times (`false`) what does not change; `None` if it is neither.
fn steady_step(local: LocalId, value: &Expr, changing: &Locals) -> Option<bool> {
    let (adds, a, b, exchanges) = match value {
        Expr::Arithmetic(ArithmeticOp::Add, a, b) => (true, a, b, true),
        Expr::Arithmetic(ArithmeticOp::Sub, a, b) => (true, a, b, false),
        Expr::Arithmetic(ArithmeticOp::Mul, a, b) => (false, a, b, true),
        Expr::Arithmetic(ArithmeticOp::Div, a, b) => (false, a, b, false),
        _ => return None,
    };
    let is_it = |expr: &Expr| matches!(*expr, Expr::Local(found) if found == local);
    let step = match (is_it(a), is_it(b)) {
        (true, false) => b,
        (false, true) if exchanges => a,
        _ => return None,
    };
    all_reads(step).is_disjoint(changing).then_some(adds)
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
