//! Statements of algorithms and functions (chapter 11).

use base::{Diagnostic, Name, Span};
use dae::Variability;
use syntax::ast;

use super::{Context, Outermost, Typer, fits};
use crate::instance::ComponentType;
use crate::typed::{Base, Expr, Kind, Statement, StatementKind, Type};

impl Typer<'_> {
    pub fn statements(&mut self, texts: &[ast::Statement]) -> Vec<Statement> {
        texts.iter().filter_map(|text| self.statement(text)).collect()
    }

    fn statement(&mut self, text: &ast::Statement) -> Option<Statement> {
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || {
            let kind = self.statement_kind(text)?;
            Some(Statement { kind, span: text.span })
        })
    }

    fn statement_kind(&mut self, text: &ast::Statement) -> Option<StatementKind> {
        Some(match &text.kind {
            ast::StatementKind::Assign(target, value) => {
                let target = self.target(target);
                let value = self.expr(value);
                let value = self.assigned(value, &target, text.span)?;
                StatementKind::Assign(target, value)
            }
            ast::StatementKind::AssignSeveral(targets, call) => self.assign_several(targets, call, text.span)?,
            ast::StatementKind::If { branches, otherwise } => {
                self.branches += 1;
                let branches = branches
                    .iter()
                    .map(|(condition, body)| (self.condition(condition), self.statements(body)))
                    .collect();
                let otherwise = self.statements(otherwise);
                self.branches -= 1;
                StatementKind::If { branches, otherwise }
            }
            ast::StatementKind::For { iterators, body } => {
                let mut used = Vec::new();
                if iterators.iter().any(|iterator| iterator.range.is_none()) {
                    expressions_of(body, &mut used);
                }
                let targets: Vec<ast::Expr> = used;
                let references: Vec<&ast::Expr> = targets.iter().collect();
                if self.context == Context::Function {
                    for iterator in iterators.iter().filter(|iterator| iterator.range.is_none()) {
                        self.check_range_kept(iterator, &references, body);
                    }
                }
                let (body, iterators) =
                    self.with_iterators(iterators, Outermost::First, &references, |typer| typer.loop_body(body));
                StatementKind::For { iterators, body }
            }
            ast::StatementKind::While { condition, body } => {
                StatementKind::While { condition: self.condition(condition), body: self.loop_body(body) }
            }
            ast::StatementKind::When { branches } => {
                if self.context == Context::Function {
                    self.error(text.span, "when-in-function", "a function cannot contain `when`");
                    return None;
                }
                if self.in_when || self.loops > 0 || self.branches > 0 {
                    self.misplaced_when(text.span);
                    return None;
                }
                let branches = branches
                    .iter()
                    .map(|(text, body)| {
                        let condition = self.when_condition(text);
                        if matches!(condition.ty.base, Base::Clock) {
                            self.clock_in_algorithm(text.span);
                        }
                        self.in_when = true;
                        let body = self.statements(body);
                        self.in_when = false;
                        (condition, body)
                    })
                    .collect();
                StatementKind::When { branches }
            }
            ast::StatementKind::Break => {
                if self.loops == 0 {
                    self.error(text.span, "misplaced-break", "`break` may only stand in a loop");
                    return None;
                }
                StatementKind::Break
            }
            ast::StatementKind::Return => {
                if self.context == Context::Model {
                    self.error(text.span, "misplaced-return", "`return` may only stand in a function");
                    return None;
                }
                StatementKind::Return
            }
            ast::StatementKind::Call(call) => match self.call_statement(call, text.span)? {
                kind @ StatementKind::Reinit(..) => {
                    self.reinit_in_algorithm(text.span);
                    kind
                }
                kind => kind,
            },
        })
    }

    fn loop_body(&mut self, body: &[ast::Statement]) -> Vec<Statement> {
        self.loops += 1;
        let body = self.statements(body);
        self.loops -= 1;
        body
    }

    pub(crate) fn misplaced_when(&mut self, span: Span) {
        let message = match self.branches {
            0 => "a when clause cannot stand in another or in a loop",
            _ => "a when clause cannot stand in an if statement",
        };
        let diagnostic = Diagnostic::error("nested-when", message).at(span, "").specification("11.2.7");
        self.report(diagnostic);
    }

    fn clock_in_algorithm(&mut self, span: Span) {
        let diagnostic = Diagnostic::error("clock-in-algorithm", "clocked equations cannot stand in an algorithm")
            .at(span, "this is a clock")
            .hint("write the when clause in an equation section, where equations are sorted by their clocks")
            .specification("16.6");
        self.report(diagnostic);
    }

    /// In a when statement the new value is what the section has computed up to there. In a loop nobody says which turn counts.
    fn reinit_in_algorithm(&mut self, span: Span) {
        let diagnostic = Diagnostic::breach("misplaced-reinit", "`reinit` may only stand in a when equation")
            .at(span, "this is a statement")
            .hint("write the when clause in an equation section")
            .specification("8.3.6");
        self.report(if self.loops == 0 { diagnostic } else { diagnostic.refused() });
    }

    /// The condition of a when clause: a scalar or vector of Booleans, or a clock (8.3.5, 16.6).
    pub fn when_condition(&mut self, text: &ast::Expr) -> Expr {
        let condition = self.expr(text);
        let fits = match condition.ty.base {
            Base::Boolean => condition.ty.rank <= 1,
            Base::Clock => condition.ty.rank == 0,
            Base::Unknown => true,
            _ => false,
        };
        if !fits {
            let message = format!("the condition of `when` must be Boolean, not `{}`", condition.ty.text());
            return self.error(text.span, "type-mismatch", message);
        }
        // In a flat text such a condition is a branch of a clause that is active at instants only.
        let is_flat = self.elaborator.flat.model.is_from_flat_text;
        if condition.variability == Variability::Continuous && !is_flat {
            let diagnostic =
                Diagnostic::error("variability", "the condition of `when` must be a discrete-time expression")
                    .at(text.span, "this varies continuously")
                    .specification("8.3.5");
            self.report(diagnostic);
        }
        condition
    }

    /// What is assigned: a variable of the function or a component.
    pub fn target(&mut self, reference: &ast::ComponentRef) -> Expr {
        let target = self.reference(reference);
        match &target.kind {
            Kind::Error => {}
            Kind::Component(_) if self.context == Context::Function => {
                return self.error(reference.span, "not-assignable", "a function assigns its own variables only");
            }
            Kind::Component(_) if target.variability <= Variability::Parameter && !self.initial => {
                return self.error(reference.span, "not-assignable", "a parameter or constant cannot be assigned");
            }
            Kind::Component(_) | Kind::Local(_) | Kind::Index(..) | Kind::Field(..) => {
                if let Some(local) = target_local(&target)
                    && self.inputs.contains(&local)
                {
                    let name = self.locals[local].name;
                    let message = format!("the input `{name}` of a function cannot be assigned");
                    return self.error(reference.span, "not-assignable", message);
                }
                if let Some(message) = self.unassignable(&target) {
                    return self.error(reference.span, "not-assignable", message);
                }
            }
            _ => return self.error(reference.span, "not-assignable", "this cannot be assigned"),
        }
        self.check_assigned_in_when(&target);
        target
    }

    /// Why a variable of a function, or an iterator, cannot be assigned (11.2.2, 3.8).
    fn unassignable(&self, target: &Expr) -> Option<String> {
        let local = target_local(target)?;
        let name = self.locals[local].name;
        let Some((&component, _)) = self.components.iter().find(|(_, known)| **known == local) else {
            return Some(format!("the loop variable `{name}` cannot be assigned"));
        };
        let prefix = match self.elaborator.instances.component(component).type_prefixes.variability {
            ast::Variability::Constant => "constant",
            ast::Variability::Parameter => "parameter",
            _ => return None,
        };
        Some(format!("the {prefix} `{name}` cannot be assigned"))
    }

    fn assigned(&mut self, value: Expr, target: &Expr, span: Span) -> Option<Expr> {
        if let Some(value) = self.as_record(value.clone(), &target.ty) {
            return Some(value);
        }
        self.assignment_wrong(&value.ty, value.span, target, span);
        None
    }

    fn assignment_wrong(&mut self, ty: &Type, value: Span, target: &Expr, span: Span) {
        let diagnostic = Diagnostic::error(
            "type-mismatch",
            format!("a value of type `{}` cannot be assigned to `{}`", ty.text(), target.ty.text()),
        )
        .at(span, "")
        .at(target.span, format!("this is `{}`", target.ty.text()))
        .at(value, format!("this is `{}`", ty.text()))
        .specification("11.2.1");
        self.report(diagnostic);
    }

    fn assign_several(
        &mut self,
        targets: &[Option<ast::ComponentRef>],
        call: &ast::Expr,
        span: Span,
    ) -> Option<StatementKind> {
        let value = self.expr_with_all_results(call);
        let targets: Vec<Option<Expr>> =
            targets.iter().map(|target| target.as_ref().map(|target| self.target(target))).collect();
        if value.ty.is_unknown() {
            return None;
        }
        let types: Vec<Type> = match &value.ty.base {
            Base::Tuple(items) => items.to_vec(),
            _ => vec![value.ty.clone()],
        };
        if targets.len() > types.len() {
            self.too_many_results(targets.len(), types.len(), &value, span);
            return None;
        }
        for (target, ty) in targets.iter().zip(&types) {
            if let Some(target) = target
                && !fits(ty, &target.ty)
            {
                self.assignment_wrong(ty, value.span, target, span);
                return None;
            }
        }
        Some(StatementKind::AssignSeveral(targets, value))
    }

    pub(crate) fn too_many_results(&mut self, taken: usize, given: usize, call: &Expr, span: Span) {
        let mut diagnostic =
            Diagnostic::error("too-many-results", format!("{taken} results are taken from a call that gives {given}"))
                .at(span, "")
                .specification("12.4.3");
        if matches!(call.kind, Kind::Vectorized { .. }) {
            let note = "the arguments are arrays of what the function takes: it is called for each element";
            diagnostic = diagnostic
                .note(note)
                .hint("only a function with one result can be called so; write a loop over the elements")
                .specification("12.4.6");
        }
        self.report(diagnostic);
    }

    /// A when clause assigns what belongs to its own class, not to a model or block in it (4.4.4).
    pub(crate) fn check_assigned_in_when(&mut self, target: &Expr) {
        let Kind::Component(reference) = &target.kind else { return };
        let Some((last, above)) = reference.steps.split_last() else { return };
        if !self.in_when || above.is_empty() {
            return;
        }
        let last = last.component;
        let owner = above.iter().map(|step| step.component).find(|&component| {
            let ty = self.elaborator.instances.component_type(component);
            matches!(ty, Ok(ComponentType::Class(class)) if matches!(
                self.elaborator.instances.kind(class),
                ast::ClassKind::Model | ast::ClassKind::Block
            ))
        });
        let Some(owner) = owner else { return };
        let instances = &self.elaborator.instances;
        let (name, owner_name) = (instances.path(last), instances.path(owner));
        let message = format!("`{name}` is assigned in a when clause outside of `{owner_name}`, to which it belongs");
        let diagnostic = Diagnostic::breach("when-target", message)
            .at(target.span, "assigned here")
            .at(instances.span(last), "declared here")
            .hint(format!("assign it in the class of `{owner_name}`, or make it an input and connect it"))
            .specification("4.4.4");
        self.report(diagnostic);
    }

    /// The array whose size is the range of an iterator keeps its size in the loop (11.2.2.3).
    fn check_range_kept(&mut self, iterator: &ast::Iterator, used: &[&ast::Expr], body: &[ast::Statement]) {
        let Some(reference) = super::names::first_use(used, iterator.name.name) else { return };
        let [array] = reference.parts.as_slice() else { return };
        let Some(change) = whole_assignment(body, array.ident.name) else { return };
        let (iterator, name) = (iterator.name, array.ident.name);
        let message = format!("the size of `{name}` is the range of `{}` and changes in the loop", iterator.name);
        let diagnostic = Diagnostic::error("changing-range", message)
            .at(change, "assigned as a whole here")
            .at(iterator.span, "an iterator without a range")
            .hint(format!("give the range: `{} in 1:size({name}, 1)`", iterator.name))
            .specification("11.2.2.3");
        self.report(diagnostic);
    }

    /// `assert(…)`, `terminate(…)`, `reinit(…)`, or a function that is called for its effect.
    pub fn call_statement(&mut self, call: &ast::Expr, span: Span) -> Option<StatementKind> {
        let ast::ExprKind::Call { function, arguments } = &call.kind else {
            self.error(span, "not-a-statement", "a call is needed here");
            return None;
        };
        let name = match function.parts.as_slice() {
            [only] => only.ident.name.as_str(),
            _ => "",
        };
        match name {
            "assert" => self.assertion(arguments, span),
            "terminate" => {
                let message = self.named_argument(arguments, 0, "message", span)?;
                Some(StatementKind::Terminate(self.expect(message, &Type::STRING, "the message")))
            }
            "reinit" => {
                let target = self.named_argument(arguments, 0, "x", span)?;
                let value = self.named_argument(arguments, 1, "expr", span)?;
                if !matches!(target.kind, Kind::Component(_)) {
                    if !target.ty.is_unknown() {
                        self.error(target.span, "not-a-variable", "`reinit` needs a variable");
                    }
                    return None;
                }
                if target.variability != Variability::Continuous || !matches!(target.ty.base, Base::Real) {
                    self.error(target.span, "not-a-state", "`reinit` needs a continuous Real variable");
                    return None;
                }
                if !self.in_when {
                    let message = "`reinit` may only stand in a when clause, which says at which instant it acts";
                    let diagnostic = Diagnostic::error("misplaced-reinit", message)
                        .at(span, "")
                        .hint("a start value says where a variable begins: `(start = …, fixed = true)`")
                        .specification("8.3.6");
                    self.report(diagnostic);
                    return None;
                }
                let value = self.expect(value, &target.ty, "the new value");
                Some(StatementKind::Reinit(target, value))
            }
            _ => {
                let value = self.expr_with_all_results(call);
                if value.ty.is_unknown() { None } else { Some(StatementKind::Call(value)) }
            }
        }
    }

    fn assertion(&mut self, arguments: &ast::Arguments, span: Span) -> Option<StatementKind> {
        let condition = self.named_argument(arguments, 0, "condition", span)?;
        let condition = self.expect(condition, &Type::BOOLEAN, "the condition");
        let message = self.named_argument(arguments, 1, "message", span)?;
        let message = self.expect(message, &Type::STRING, "the message");
        let given = arguments.positional.len() + arguments.named.len() > 2;
        let level = if given { Some(self.named_argument(arguments, 2, "level", span)?) } else { None };
        if let Some(level) = &level
            && !matches!(level.ty.base, Base::Enumeration(_) | Base::Unknown)
        {
            self.error(level.span, "type-mismatch", "the level must be an `AssertionLevel`");
        }
        if let Some(level) = &level
            && level.variability > Variability::Parameter
            && self.context == Context::Model
        {
            self.error(level.span, "variability", "the level of an assertion must not change");
        }
        Some(StatementKind::Assert { condition, message, level })
    }

    fn named_argument(&mut self, arguments: &ast::Arguments, position: usize, name: &str, span: Span) -> Option<Expr> {
        let argument = arguments
            .positional
            .get(position)
            .or_else(|| arguments.named.iter().find(|(ident, _)| ident.name == name).map(|(_, value)| value));
        match argument {
            Some(ast::FunctionArgument::Expr(text)) => Some(self.expr(text)),
            _ => {
                self.error(span, "missing-argument", format!("the argument `{name}` is missing"));
                None
            }
        }
    }
}

/// The variable of a function of which a target is a part.
fn target_local(target: &Expr) -> Option<dae::function::LocalId> {
    let mut current = target;
    loop {
        match &current.kind {
            Kind::Local(local) => return Some(*local),
            Kind::Index(base, _) | Kind::Field(base, _) => current = base,
            _ => return None,
        }
    }
}

/// Where a variable is assigned without subscripts.
fn whole_assignment(body: &[ast::Statement], name: Name) -> Option<Span> {
    let is_whole = |target: &ast::ComponentRef| matches!(target.parts.as_slice(), [only] if only.ident.name == name && only.subscripts.is_empty());
    body.iter().find_map(|statement| match &statement.kind {
        ast::StatementKind::Assign(target, _) => is_whole(target).then_some(target.span),
        ast::StatementKind::AssignSeveral(targets, _) => {
            targets.iter().flatten().find(|target| is_whole(target)).map(|target| target.span)
        }
        ast::StatementKind::If { branches, otherwise } => branches
            .iter()
            .find_map(|(_, body)| whole_assignment(body, name))
            .or_else(|| whole_assignment(otherwise, name)),
        ast::StatementKind::For { body, .. } | ast::StatementKind::While { body, .. } => whole_assignment(body, name),
        ast::StatementKind::When { branches } => branches.iter().find_map(|(_, body)| whole_assignment(body, name)),
        ast::StatementKind::Call(_) | ast::StatementKind::Break | ast::StatementKind::Return => None,
    })
}

/// Expressions in which an iterator without a range may be a subscript.
fn expressions_of(body: &[ast::Statement], found: &mut Vec<ast::Expr>) {
    let reference = |r: &ast::ComponentRef| ast::Expr { kind: ast::ExprKind::Ref(r.clone()), span: r.span };
    for statement in body {
        match &statement.kind {
            ast::StatementKind::Assign(target, value) => {
                found.push(reference(target));
                found.push(value.clone());
            }
            ast::StatementKind::AssignSeveral(targets, value) => {
                found.extend(targets.iter().flatten().map(reference));
                found.push(value.clone());
            }
            ast::StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    found.push(condition.clone());
                    expressions_of(body, found);
                }
                expressions_of(otherwise, found);
            }
            ast::StatementKind::For { body, .. } => expressions_of(body, found),
            ast::StatementKind::While { condition, body } => {
                found.push(condition.clone());
                expressions_of(body, found);
            }
            ast::StatementKind::When { branches } => {
                for (condition, body) in branches {
                    found.push(condition.clone());
                    expressions_of(body, found);
                }
            }
            ast::StatementKind::Call(call) => found.push(call.clone()),
            ast::StatementKind::Break | ast::StatementKind::Return => {}
        }
    }
}
