//! Statements of algorithm sections whose loops depend on what is known at run time only, as functions of what they read.
//!
//! Every component that the statement names becomes a variable of the function; one that it assigns is an output that begins
//! with the value the variable has before. What a function cannot compute (`time`, `pre(x)` …) is an input.

use base::{Name, Span};
use dae::effects::effects;
use dae::expr::{CallSite, CompareOp, Shape};
use dae::function::{LocalId, RELATIONS};
use dae::{ActionKind, FunctionId, Node};

use rustc_hash::FxHashSet;

use crate::elaborate::Elaborator;
use crate::instance::{ClassId, CompId, Outcome};
use crate::symbolic::{Events, Expander, Symbolic, from_shape, value_shape};
use crate::typed::{
    Base, Expr, Iterator, Kind, Local, Locals, Operator, Reference, ReferencePart, Statement, StatementKind, Subscript,
    Type,
};
use crate::typing::{rewrite, walk};
use crate::watch::watched;

/// A component, or an expression of the simulator, that is a variable of the function.
struct Captured {
    outside: Expr,
    local: LocalId,
    /// The output, for what is assigned.
    output: Option<LocalId>,
    /// The same just behind the instant, which relations of when clauses read (`right_limits`).
    behind: Option<LocalId>,
}

struct Outline {
    locals: Locals,
    /// The components that the statement names. A record that it names as a whole is one variable with all its members.
    named: Vec<Vec<CompId>>,
    captured: Vec<Captured>,
    /// An output that says that all assertions hold, of a statement that assigns nothing.
    holds: Option<LocalId>,
    /// Something was met that no function can do.
    failed: bool,
    /// Whether relations are evaluated just behind the instant, and whether this is inside of one.
    has_instants: bool,
    in_relation: bool,
}

impl Expander<'_> {
    /// Executes a statement of a section as a call of a function made from it; `false` where it uses what a function cannot.
    pub(crate) fn outlined(&mut self, statement: &Statement) -> Outcome<bool> {
        let Some(section) = self.section.clone() else { return Ok(false) };
        if !is_closed(std::slice::from_ref(statement), false) || self.changes_something(statement) {
            return Ok(false);
        }
        let named = named_components(statement);
        let mut outline = Outline {
            locals: section.1.clone(),
            named,
            captured: Vec::new(),
            holds: None,
            failed: false,
            has_instants: self.events == Events::OnTime,
            in_relation: false,
        };
        outline.find_targets(self.elaborator, std::slice::from_ref(statement));
        let body = outline.statement(self.elaborator, statement);
        if outline.failed {
            return Ok(false);
        }
        if outline.captured.iter().all(|captured| captured.output.is_none()) {
            if !has_assertions(std::slice::from_ref(statement)) {
                return Ok(true);
            }
            outline.add_holds(statement.span);
        }
        outline.capture_iterators(&body);
        self.call_outlined(outline, body, std::ptr::from_ref(statement) as usize)?;
        Ok(true)
    }

    /// Whether a statement calls what is called for more than its assertions: that is not done in a function, which is
    /// evaluated as often as its value is needed.
    fn changes_something(&mut self, statement: &Statement) -> bool {
        let mut calls = Vec::new();
        called(std::slice::from_ref(statement), &mut calls);
        calls.into_iter().any(|call| {
            let Kind::Call(function, _) = call.kind else { return true };
            let Ok(id) = self.elaborator.flat_function(function) else { return true };
            effects(&self.elaborator.flat.model.functions, vec![id]).impure
        })
    }

    /// Executes the body as a call; where relations make events, another one follows them.
    fn call_outlined(&mut self, mut outline: Outline, body: Statement, written: usize) -> Outcome<()> {
        let span = body.span;
        let mut arguments = Vec::new();
        let mut outputs: Vec<(LocalId, Expr, Shape)> = Vec::new();
        for captured in &outline.captured {
            let value = self.expand(&captured.outside)?;
            let literal = |size: usize| Expr {
                kind: Kind::Integer(size as i64),
                ty: Type::INTEGER,
                variability: dae::Variability::Constant,
                span,
            };
            let sizes: Vec<Option<Expr>> = value.sizes().iter().map(|&size| Some(literal(size))).collect();
            outline.locals[captured.local].sizes = sizes.clone();
            if let Some(output) = captured.output {
                outline.locals[output].sizes = sizes;
                outputs.push((output, captured.outside.clone(), value_shape(self.elaborator, &value)));
            }
            arguments.push(value);
        }
        let mut inputs: Vec<LocalId> = outline.captured.iter().map(|captured| captured.local).collect();
        for (at, captured) in outline.captured.iter().enumerate() {
            let Some(behind) = captured.behind else { continue };
            outline.locals[behind].sizes = outline.locals[captured.local].sizes.clone();
            inputs.push(behind);
            let shape = value_shape(self.elaborator, &arguments[at]);
            let mut scalars = arguments[at].scalars().into_iter();
            arguments.push(from_shape(&shape, &mut || {
                let scalar = scalars.next().unwrap_or_else(|| self.exprs().real(0.0));
                self.just_behind(scalar)
            }));
        }
        let mut body = body;
        if let Some(reached) = self.path_condition {
            // Calls may be evaluated before it is known whether their results are needed; a loop may have no end then.
            let local = outline.add_reached(span);
            body = only_if(local, body);
            inputs.push(local);
            arguments.push(Symbolic::Scalar(reached));
        }
        outline.name_apart();
        let output_locals: Vec<LocalId> = outputs.iter().map(|(local, ..)| *local).chain(outline.holds).collect();
        let class = self.frame.class;
        let elaborator = &mut *self.elaborator;
        let shapes: Vec<Shape> = arguments.iter().map(|value| value_shape(elaborator, value)).collect();
        // A section is executed twice, and once for each component of its class.
        let key = (class, written, shapes.clone());
        let (function, watching) = match elaborator.functions.outlined.get(&key) {
            Some(&functions) => functions,
            None => {
                let name = Name::new(&format!("{}.algorithm", elaborator.instances.class_name(class)));
                let variables = (&inputs[..], &output_locals[..]);
                let body = std::slice::from_ref(&body);
                let function = elaborator.lower_section(name, class, &outline.locals, variables, body, span)?;
                (function, elaborator.watching_function((name, class), outline.locals, &inputs, &body[0])?)
            }
        };
        elaborator.functions.outlined.insert(key, (function, watching));
        let holds = outline.holds.map(|_| Shape::Scalar);
        let output_shapes: Vec<Shape> = outputs.iter().map(|(.., shape)| shape.clone()).chain(holds).collect();
        let mut scalars = Vec::new();
        arguments.iter().for_each(|value| value.for_each_scalar(&mut |id| scalars.push(id)));
        let exprs = self.exprs();
        let site = exprs.site(CallSite { function, inputs: shapes.clone(), outputs: output_shapes });
        let args = exprs.args(&scalars);
        let first = exprs.intern(Node::Call { site, args, output: 0 });
        if outline.holds.is_none() {
            self.check_call(first, None, span);
        }
        let mut next = 0;
        for (_, target, shape) in outputs {
            let value = from_shape(&shape, &mut || {
                next += 1;
                self.exprs().intern(Node::Call { site, args, output: next - 1 })
            });
            self.assign_component(&target, &value)?;
        }
        if outline.holds.is_some() {
            let holds = self.exprs().intern(Node::Call { site, args, output: next });
            let message = self.exprs().string("an assertion fails");
            self.push_action(ActionKind::Assert { holds, message, warning: false }, span);
        }
        if let Some(function) = watching.filter(|_| self.watches && self.events == Events::All) {
            let exprs = self.exprs();
            let outputs = vec![Shape::Scalar; 3];
            let site = exprs.site(CallSite { function, inputs: shapes, outputs });
            let watched = [0, 1, 2].map(|output| exprs.intern(Node::Call { site, args, output }));
            self.watch(watched, span);
        }
        Ok(())
    }
}

impl Elaborator {
    /// The function that follows the relations of a body, where there are any.
    fn watching_function(
        &mut self,
        (name, class): (Name, ClassId),
        mut locals: Locals,
        inputs: &[LocalId],
        body: &Statement,
    ) -> Outcome<Option<FunctionId>> {
        let Some((watch, statements)) = watched(&mut locals, body) else { return Ok(None) };
        let name = Name::new(&format!("{name}{RELATIONS}"));
        let outputs = [watch.outcome, watch.distance, watch.touching];
        self.lower_section(name, class, &locals, (inputs, &outputs), &statements, body.span).map(Some)
    }
}

/// A statement that is executed where a condition holds.
fn only_if(condition: LocalId, statement: Statement) -> Statement {
    let span = statement.span;
    let variability = dae::Variability::Discrete;
    let condition = Expr { kind: Kind::Local(condition), ty: Type::BOOLEAN, variability, span };
    let kind = StatementKind::If { branches: vec![(condition, vec![statement])], otherwise: Vec::new() };
    Statement { kind, span }
}

fn named_components(statement: &Statement) -> Vec<Vec<CompId>> {
    let mut named = Vec::new();
    visit(std::slice::from_ref(statement), &mut |_| {}, &mut |expr| {
        walk(expr, &mut |inner| {
            if let Kind::Component(reference) = &inner.kind {
                let path = components(reference);
                if !named.contains(&path) {
                    named.push(path);
                }
            }
        });
    });
    named
}

fn components(reference: &Reference) -> Vec<CompId> {
    reference.steps.iter().map(|step| step.component).collect()
}

fn has_assertions(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StatementKind::Assert { .. } | StatementKind::Call(_) => true,
        StatementKind::If { branches, otherwise } => {
            branches.iter().any(|(_, body)| has_assertions(body)) || has_assertions(otherwise)
        }
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => has_assertions(body),
        _ => false,
    })
}

/// Whether statements do only what a function can, and leave nothing but themselves.
fn is_closed(statements: &[Statement], in_loop: bool) -> bool {
    statements.iter().all(|statement| match &statement.kind {
        StatementKind::When { .. }
        | StatementKind::Reinit(..)
        | StatementKind::Terminate(_)
        | StatementKind::Return => false,
        StatementKind::Break => in_loop,
        StatementKind::If { branches, otherwise } => {
            branches.iter().all(|(_, body)| is_closed(body, in_loop)) && is_closed(otherwise, in_loop)
        }
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => is_closed(body, true),
        StatementKind::Assign(..)
        | StatementKind::AssignSeveral(..)
        | StatementKind::Assert { .. }
        | StatementKind::Call(_) => true,
    })
}

/// The functions that statements call for what they do.
fn called(statements: &[Statement], found: &mut Vec<Expr>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Call(call) => found.push(call.clone()),
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| called(body, found));
                called(otherwise, found);
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => called(body, found),
            _ => {}
        }
    }
}

impl Outline {
    /// What is assigned must be known before anything is rewritten.
    fn find_targets(&mut self, elaborator: &mut Elaborator, statements: &[Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign(target, _) => self.add_target(elaborator, target),
                StatementKind::AssignSeveral(targets, _) => {
                    targets.iter().flatten().for_each(|target| self.add_target(elaborator, target));
                }
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.find_targets(elaborator, body));
                    self.find_targets(elaborator, otherwise);
                }
                StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                    self.find_targets(elaborator, body);
                }
                _ => {}
            }
        }
    }

    fn add_target(&mut self, elaborator: &mut Elaborator, target: &Expr) {
        let Kind::Component(reference) = &target.kind else {
            self.failed = true;
            return;
        };
        let Some(at) = self.capture(elaborator, reference, target) else { return };
        if self.captured[at].output.is_some() {
            return;
        }
        let input = self.captured[at].local;
        let mut local = self.locals[input].clone();
        let ty = local.ty.clone();
        let variability = dae::Variability::Continuous;
        self.locals[input].name = Name::new(&format!("{}_before", local.name));
        local.default = Some(Expr { kind: Kind::Local(input), ty, variability, span: target.span });
        self.captured[at].output = Some(self.locals.push(local));
    }

    fn add_holds(&mut self, span: Span) {
        let kind = Kind::Boolean(true);
        let variability = dae::Variability::Constant;
        let default = Some(Expr { kind, ty: Type::BOOLEAN, variability, span });
        let name = Name::new("holds");
        self.holds = Some(self.locals.push(Local { name, ty: Type::BOOLEAN, sizes: Vec::new(), default, span }));
    }

    fn add_reached(&mut self, span: Span) -> LocalId {
        let name = Name::new("reached");
        self.locals.push(Local { name, ty: Type::BOOLEAN, sizes: Vec::new(), default: None, span })
    }

    /// Gives every variable a name of its own: iterators of a section may share theirs, and expressions have none.
    fn name_apart(&mut self) {
        let mut seen: FxHashSet<Name> = FxHashSet::default();
        for local in self.locals.values_mut() {
            let written = local.name;
            let mut number = 2;
            while !seen.insert(local.name) {
                local.name = Name::new(&format!("{written}_{number}"));
                number += 1;
            }
        }
    }

    /// How many steps of a path lead to the largest part that the statement names.
    fn steps_to_whole(&self, path: &[CompId]) -> usize {
        let wholes = self.named.iter().filter(|named| path.starts_with(named));
        wholes.map(Vec::len).min().unwrap_or(path.len())
    }

    /// Whether an expression reads what the statement assigns.
    fn reads_target(&self, expr: &Expr) -> bool {
        let mut found = false;
        walk(expr, &mut |inner| {
            let Kind::Component(reference) = &inner.kind else { return };
            let path = components(reference);
            found |= self.captured.iter().any(|captured| match &captured.outside.kind {
                Kind::Component(target) if captured.output.is_some() => {
                    let target = components(target);
                    target.starts_with(&path) || path.starts_with(&target)
                }
                _ => false,
            });
        });
        found
    }

    /// The component that a reference names, with all elements of the arrays on its path.
    fn capture(&mut self, elaborator: &mut Elaborator, reference: &Reference, whole: &Expr) -> Option<usize> {
        let mut components = components(reference);
        components.truncate(self.steps_to_whole(&components));
        let &last = components.last()?;
        let known = self.captured.iter().position(|captured| match &captured.outside.kind {
            Kind::Component(other) => {
                other.steps.len() == components.len()
                    && other.steps.iter().zip(&components).all(|(step, &component)| step.component == component)
            }
            _ => false,
        });
        if known.is_some() {
            return known;
        }
        let mut rank = 0;
        let mut base = Base::Unknown;
        for &component in &components {
            match elaborator.component_type(component) {
                Ok(ty) => {
                    rank += ty.rank;
                    base = ty.base;
                }
                Err(_) => self.failed = true,
            }
        }
        if self.failed {
            return None;
        }
        let steps = components.iter().map(|&component| ReferencePart { component, subscripts: Vec::new() }).collect();
        let kind = Kind::Component(Box::new(Reference { steps }));
        let outside = Expr { kind, ty: Type::new(base, rank), variability: whole.variability, span: whole.span };
        let name = Name::new(&elaborator.instances.path(last));
        Some(self.add(name, outside))
    }

    fn add(&mut self, name: Name, outside: Expr) -> usize {
        let (ty, span) = (outside.ty.clone(), outside.span);
        let local = self.locals.push(Local { name, ty, sizes: Vec::new(), default: None, span });
        self.captured.push(Captured { outside, local, output: None, behind: None });
        self.captured.len() - 1
    }

    /// The variable that stands for what was captured at this place of the text.
    fn local_of(&mut self, at: usize) -> LocalId {
        let Captured { outside, local, output, behind } = &self.captured[at];
        let may_follow_time =
            outside.variability == dae::Variability::Continuous && matches!(outside.ty.base, Base::Real);
        let is_other = matches!(outside.kind, Kind::Operator(..));
        if let (Some(known), true) = (output.or(*behind), output.is_some() || self.in_relation) {
            return known;
        }
        if !self.in_relation || !may_follow_time || is_other {
            return *local;
        }
        let twin =
            Local { name: Name::new(&format!("{}_behind", self.locals[*local].name)), ..self.locals[*local].clone() };
        let twin = self.locals.push(twin);
        self.captured[at].behind = Some(twin);
        twin
    }

    /// Iterators of loops around the statement are inputs too.
    fn capture_iterators(&mut self, body: &Statement) {
        let mut bound: Vec<LocalId> =
            self.captured.iter().flat_map(|c| [Some(c.local), c.output, c.behind]).flatten().collect();
        let mut used: Vec<Expr> = Vec::new();
        visit(
            std::slice::from_ref(body),
            &mut |iterators| bound.extend(iterators.iter().map(|i| i.local)),
            &mut |expr| {
                walk(expr, &mut |inner| {
                    if let Kind::Local(_) = inner.kind {
                        used.push(inner.clone());
                    }
                });
            },
        );
        // Iterators inside of expressions are bound there.
        visit(std::slice::from_ref(body), &mut |_| {}, &mut |expr| {
            walk(expr, &mut |inner| {
                if let Kind::ArrayFor { iterators, .. } | Kind::Reduction { iterators, .. } = &inner.kind {
                    bound.extend(iterators.iter().map(|iterator| iterator.local));
                }
            });
        });
        for outside in used {
            let Kind::Local(local) = outside.kind else { continue };
            if !bound.contains(&local) {
                bound.push(local);
                self.captured.push(Captured { outside, local, output: None, behind: None });
            }
        }
    }

    fn expr(&mut self, elaborator: &mut Elaborator, expr: &Expr) -> Expr {
        rewrite(expr, &mut |expr| match &expr.kind {
            Kind::Component(reference) => {
                let at = self.capture(elaborator, reference, expr)?;
                let local = self.local_of(at);
                let whole = Expr { kind: Kind::Local(local), ..self.captured[at].outside.clone() };
                let (steps, members) = reference.steps.split_at(self.steps_to_whole(&components(reference)));
                let whole = self.indexed(elaborator, whole, steps);
                members.iter().try_fold(whole, |record, step| self.member(elaborator, record, step))
            }
            Kind::Operator(Operator::Change | Operator::Edge, arguments) if self.reads_target(expr) => {
                self.changed(elaborator, expr, arguments.first()?)
            }
            Kind::Compare(op, left, right) if self.has_instants && reads_one_kind(left, right) => {
                let outer = std::mem::replace(&mut self.in_relation, true);
                let [left, right] = [left, right].map(|side| Box::new(self.expr(elaborator, side)));
                self.in_relation = outer;
                Some(Expr { kind: Kind::Compare(*op, left, right), ..expr.clone() })
            }
            // What a function computes of time it computes of the instant.
            Kind::Call(..) | Kind::CallLocal(..) if self.in_relation => {
                self.in_relation = false;
                let made = self.expr(elaborator, expr);
                self.in_relation = true;
                Some(made)
            }
            // Functions make no events anyway.
            Kind::Operator(Operator::NoEvent, arguments) if self.has_instants => {
                let outer = (self.has_instants, self.in_relation);
                (self.has_instants, self.in_relation) = (false, false);
                let arguments = arguments.iter().map(|argument| self.expr(elaborator, argument)).collect();
                (self.has_instants, self.in_relation) = outer;
                Some(Expr { kind: Kind::Operator(Operator::NoEvent, arguments), ..expr.clone() })
            }
            Kind::Operator(Operator::NoEvent | Operator::Smooth, _) => None,
            Kind::Time | Kind::Operator(..) => {
                let is_before = matches!(expr.kind, Kind::Operator(Operator::Pre | Operator::Previous, _));
                let mut local = !is_before && self.reads_target(expr);
                walk(expr, &mut |inner| local |= matches!(inner.kind, Kind::Local(_)));
                if local {
                    self.failed = true;
                    return None;
                }
                let at = self.add(Name::new("u"), expr.clone());
                Some(Expr { kind: Kind::Local(self.local_of(at)), ..expr.clone() })
            }
            _ => None,
        })
    }

    /// The elements of an array that the subscripts along a path name.
    fn indexed(&mut self, elaborator: &mut Elaborator, whole: Expr, steps: &[ReferencePart]) -> Expr {
        if steps.iter().all(|step| step.subscripts.is_empty()) {
            return whole;
        }
        let mut subscripts = Vec::new();
        let mut rank = 0;
        for step in steps {
            for at in 0..elaborator.component_type(step.component).map_or(0, |ty| ty.rank) {
                let subscript = match step.subscripts.get(at) {
                    None | Some(Subscript::All) => Subscript::All,
                    Some(Subscript::Expr(inner)) => Subscript::Expr(self.expr(elaborator, inner)),
                };
                rank += match &subscript {
                    Subscript::All => 1,
                    Subscript::Expr(inner) => inner.ty.rank,
                };
                subscripts.push(subscript);
            }
        }
        let ty = whole.ty.with_rank(rank);
        Expr { ty, kind: Kind::Index(Box::new(whole.clone()), subscripts), ..whole }
    }

    /// A member of a record, or of each element of an array of records.
    fn member(&mut self, elaborator: &mut Elaborator, record: Expr, step: &ReferencePart) -> Option<Expr> {
        let name = elaborator.instances.component(step.component).name;
        let found = match &record.ty.base {
            Base::Record(record) => record.field(name).map(|at| (at, record.fields[at].ty.clone())),
            _ => None,
        };
        let Some((position, ty)) = found else {
            self.failed = true;
            return None;
        };
        let outer = record.ty.rank;
        let ty = ty.with_rank(outer + ty.rank);
        let member = Expr { kind: Kind::Field(Box::new(record.clone()), position as u32), ty, ..record };
        if step.subscripts.is_empty() {
            return Some(member);
        }
        let mut subscripts = vec![Subscript::All; outer];
        let mut rank = outer;
        for at in 0..member.ty.rank - outer {
            let subscript = match step.subscripts.get(at) {
                None | Some(Subscript::All) => Subscript::All,
                Some(Subscript::Expr(inner)) => Subscript::Expr(self.expr(elaborator, inner)),
            };
            rank += match &subscript {
                Subscript::All => 1,
                Subscript::Expr(inner) => inner.ty.rank,
            };
            subscripts.push(subscript);
        }
        let ty = member.ty.with_rank(rank);
        Some(Expr { ty, kind: Kind::Index(Box::new(member.clone()), subscripts), ..member })
    }

    /// `change(v)` is `v <> pre(v)` and `edge(b)` is `b and not pre(b)`, with the value that the variable has in the loop.
    fn changed(&mut self, elaborator: &mut Elaborator, expr: &Expr, variable: &Expr) -> Option<Expr> {
        if !variable.ty.is_scalar() {
            self.failed = true;
            return None;
        }
        let now = Box::new(self.expr(elaborator, variable));
        let before = Expr { kind: Kind::Operator(Operator::Pre, vec![variable.clone()]), ..variable.clone() };
        let before = Box::new(self.expr(elaborator, &before));
        let kind = match expr.kind {
            Kind::Operator(Operator::Edge, _) => {
                Kind::And(now, Box::new(Expr { kind: Kind::Not(before), ..expr.clone() }))
            }
            _ => Kind::Compare(CompareOp::NotEqual, now, before),
        };
        Some(Expr { kind, ..expr.clone() })
    }

    fn statements(&mut self, elaborator: &mut Elaborator, statements: &[Statement]) -> Vec<Statement> {
        statements.iter().map(|statement| self.statement(elaborator, statement)).collect()
    }

    fn statement(&mut self, elaborator: &mut Elaborator, statement: &Statement) -> Statement {
        let kind = match &statement.kind {
            StatementKind::Assign(target, value) => {
                StatementKind::Assign(self.expr(elaborator, target), self.expr(elaborator, value))
            }
            StatementKind::AssignSeveral(targets, value) => {
                let targets =
                    targets.iter().map(|target| target.as_ref().map(|target| self.expr(elaborator, target))).collect();
                StatementKind::AssignSeveral(targets, self.expr(elaborator, value))
            }
            StatementKind::If { branches, otherwise } => StatementKind::If {
                branches: branches
                    .iter()
                    .map(|(condition, body)| (self.expr(elaborator, condition), self.statements(elaborator, body)))
                    .collect(),
                otherwise: self.statements(elaborator, otherwise),
            },
            StatementKind::For { iterators, body } => {
                let iterators = iterators
                    .iter()
                    .map(|iterator| Iterator { local: iterator.local, range: self.expr(elaborator, &iterator.range) })
                    .collect();
                StatementKind::For { iterators, body: self.statements(elaborator, body) }
            }
            StatementKind::While { condition, body } => StatementKind::While {
                condition: self.expr(elaborator, condition),
                body: self.statements(elaborator, body),
            },
            StatementKind::Assert { condition, message, level } => StatementKind::Assert {
                condition: self.expr(elaborator, condition),
                message: self.expr(elaborator, message),
                level: level.clone(),
            },
            StatementKind::Call(call) => StatementKind::Call(self.expr(elaborator, call)),
            StatementKind::Break | StatementKind::Return => statement.kind.clone(),
            StatementKind::When { .. } | StatementKind::Terminate(_) | StatementKind::Reinit(..) => {
                self.failed = true;
                statement.kind.clone()
            }
        };
        Statement { kind, span: statement.span }
    }
}

/// Calls `loops` with the iterators and `exprs` with the expressions of all statements.
fn visit(statements: &[Statement], loops: &mut dyn FnMut(&[Iterator]), exprs: &mut dyn FnMut(&Expr)) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign(target, value) => {
                exprs(target);
                exprs(value);
            }
            StatementKind::AssignSeveral(targets, value) => {
                targets.iter().flatten().for_each(&mut *exprs);
                exprs(value);
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    exprs(condition);
                    visit(body, loops, exprs);
                }
                visit(otherwise, loops, exprs);
            }
            StatementKind::For { iterators, body } => {
                loops(iterators);
                iterators.iter().for_each(|iterator| exprs(&iterator.range));
                visit(body, loops, exprs);
            }
            StatementKind::While { condition, body } => {
                exprs(condition);
                visit(body, loops, exprs);
            }
            StatementKind::Assert { condition, message, .. } => {
                exprs(condition);
                exprs(message);
            }
            StatementKind::Call(call) => exprs(call),
            StatementKind::Break
            | StatementKind::Return
            | StatementKind::When { .. }
            | StatementKind::Terminate(_)
            | StatementKind::Reinit(..) => {}
        }
    }
}

/// Whether a relation that may follow time reads `time` itself, or variables that may follow it, but not both: with a state on
/// the other side it is one of states.
fn reads_one_kind(left: &Expr, right: &Expr) -> bool {
    let (mut time, mut variables) = (false, false);
    for side in [left, right] {
        walk(side, &mut |inner| match &inner.kind {
            Kind::Time => time = true,
            Kind::Component(_) if inner.variability == dae::Variability::Continuous => variables = true,
            _ => {}
        });
    }
    time != variables
}
