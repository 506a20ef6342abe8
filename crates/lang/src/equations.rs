//! Equations (chapter 8): typed once for a class, expanded for each frame into scalar equations and actions.
//!
//! If-equations over parameters choose a branch now; others join the equations of their branches. When-clauses become
//! equations that hold the value outside of their instants, with one Boolean variable for each condition.

use std::sync::Arc;

use base::{Diagnostic, Name, Span};
use dae::{
    Action, ActionKind, Builtin, Equation, EquationRole, ExprId, Node, Origin, OriginKind, PathId, VarId, Variability,
    Variable, VariableType, WhenClause,
};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use syntax::ast;

use crate::elaborate::Elaborator;
use crate::instance::{Frame, Outcome};
use crate::state_machines;
use crate::symbolic::{Events, Expander, Mode, Symbolic, arrays, sizes_text};
use crate::typed::{Base, Expr, Iterator, Kind, Operator, StatementKind, Type};
use crate::typing::{Context, Outermost, Typer, convert, fits, unify};

#[derive(Debug)]
pub struct TypedEquation {
    pub kind: TypedEquationKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum TypedEquationKind {
    Equal(Expr, Expr),
    /// `(a, , b) = f(…)`.
    Several(Vec<Option<Expr>>, Expr),
    If {
        branches: Vec<(Expr, Vec<TypedEquation>)>,
        otherwise: Vec<TypedEquation>,
    },
    For {
        iterators: Vec<Iterator>,
        body: Vec<TypedEquation>,
    },
    When {
        branches: Vec<(Expr, Vec<TypedEquation>)>,
    },
    /// `assert`, `terminate`, `reinit`, a call for its effect.
    Action(StatementKind),
}

impl Typer<'_> {
    pub fn equations(&mut self, texts: &[ast::Equation]) -> Vec<TypedEquation> {
        texts
            .iter()
            .filter_map(|text| {
                let kind = stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.equation(text))?;
                Some(TypedEquation { kind, span: text.span })
            })
            .collect()
    }

    fn equation(&mut self, text: &ast::Equation) -> Option<TypedEquationKind> {
        match &text.kind {
            ast::EquationKind::Equal(left, right) => self.equality(left, right, text.span),
            // Connections are the matter of `connect`, which reads equation sections that hold at all times.
            ast::EquationKind::Connect(..) => {
                if self.initial {
                    let message = "a connection has no place in an initial equation";
                    self.report(Diagnostic::error("misplaced", message).at(text.span, "").specification("8.6"));
                }
                None
            }
            ast::EquationKind::If { branches, otherwise } => Some(TypedEquationKind::If {
                branches: branches
                    .iter()
                    .map(|(condition, body)| (self.condition(condition), self.equations(body)))
                    .collect(),
                otherwise: self.equations(otherwise),
            }),
            ast::EquationKind::For { iterators, body } => {
                let mut used = Vec::new();
                if iterators.iter().any(|iterator| iterator.range.is_none()) {
                    expressions_of(body, &mut used);
                }
                let used: Vec<&ast::Expr> = used.iter().collect();
                let (body, iterators) =
                    self.with_iterators(iterators, Outermost::First, &used, |typer| typer.equations(body));
                for iterator in &iterators {
                    if iterator.range.variability > Variability::Parameter {
                        let diagnostic =
                            Diagnostic::error("variability", "the range of a for-equation must not change")
                                .at(iterator.range.span, "this varies")
                                .specification("8.3.2");
                        self.report(diagnostic);
                    }
                }
                if body.is_empty() { None } else { Some(TypedEquationKind::For { iterators, body }) }
            }
            ast::EquationKind::When { branches } => {
                if self.in_when {
                    self.misplaced_when(text.span);
                    return None;
                }
                if self.initial {
                    let diagnostic =
                        Diagnostic::error("misplaced-when", "a when clause cannot stand in an initial equation")
                            .at(text.span, "")
                            .hint("an if-equation over `initial()` or a plain equation says what holds at the start")
                            .specification("8.6");
                    self.report(diagnostic);
                    return None;
                }
                let branches = branches
                    .iter()
                    .map(|(condition, body)| {
                        let condition = self.when_condition(condition);
                        self.in_when = true;
                        let body = self.equations(body);
                        self.in_when = false;
                        (condition, body)
                    })
                    .collect();
                Some(TypedEquationKind::When { branches })
            }
            ast::EquationKind::Call(call) => {
                if let ast::ExprKind::Call { function, .. } = &call.kind
                    && is_graph_operator(function)
                {
                    return None;
                }
                if let ast::ExprKind::Call { function, .. } = &call.kind
                    && state_machines::operator(function).is_some()
                {
                    // They are the matter of `state_machines`, which reads equation sections that hold at all times.
                    if self.initial {
                        let message = format!("`{}` has no place in an initial equation", function.parts[0].ident.name);
                        self.report(Diagnostic::error("misplaced", message).at(text.span, "").specification("17.1"));
                    }
                    return None;
                }
                self.call_statement(call, text.span).map(TypedEquationKind::Action)
            }
        }
    }

    fn equality(&mut self, left: &ast::Expr, right: &ast::Expr, span: Span) -> Option<TypedEquationKind> {
        if let ast::ExprKind::Tuple(items) = &left.kind {
            for item in items.iter().flatten().filter(|item| !matches!(item.kind, ast::ExprKind::Ref(_))) {
                let diagnostic = Diagnostic::breach("tuple-item", "a result is equated with an expression")
                    .at(item.span, "not a variable")
                    .hint("equate the result with a variable, and that with the expression in an equation of its own")
                    .specification("8.3.1");
                self.report(diagnostic);
            }
            let items: Vec<Option<Expr>> = items.iter().map(|item| item.as_ref().map(|item| self.expr(item))).collect();
            let right = self.expr_with_all_results(right);
            return self.several(items, right, span);
        }
        if let (ast::ExprKind::Call { .. }, ast::ExprKind::Tuple(_)) = (&left.kind, &right.kind) {
            return self.equality(right, left, span);
        }
        let (left, right) = (self.expr(left), self.expr(right));
        if left.ty.is_unknown() || right.ty.is_unknown() {
            return None;
        }
        self.check_assigned_in_when(&left);
        if let Some(ty) = unify(&left.ty, &right.ty)
            && !matches!(ty.base, Base::Component | Base::Function(_))
        {
            let (left, right) = (convert(left, &ty), convert(right, &ty));
            return Some(TypedEquationKind::Equal(left, right));
        }
        if let Some(right) = self.as_record(right.clone(), &left.ty) {
            return Some(TypedEquationKind::Equal(left, right));
        }
        if let Some(left) = self.as_record(left.clone(), &right.ty) {
            return Some(TypedEquationKind::Equal(left, right));
        }
        let diagnostic = Diagnostic::error(
            "type-mismatch",
            format!("the sides of the equation have the types `{}` and `{}`", left.ty.text(), right.ty.text()),
        )
        .at(span, "")
        .at(left.span, format!("this is `{}`", left.ty.text()))
        .at(right.span, format!("this is `{}`", right.ty.text()))
        .specification("8.3.1");
        self.report(diagnostic);
        None
    }

    fn several(&mut self, items: Vec<Option<Expr>>, right: Expr, span: Span) -> Option<TypedEquationKind> {
        if right.ty.is_unknown() {
            return None;
        }
        let types: Vec<Type> = match &right.ty.base {
            Base::Tuple(items) => items.to_vec(),
            _ => vec![right.ty.clone()],
        };
        if items.len() > types.len() {
            self.too_many_results(items.len(), types.len(), &right, span);
            return None;
        }
        for (item, ty) in items.iter().zip(&types) {
            if let Some(item) = item
                && !fits(ty, &item.ty)
            {
                let diagnostic = Diagnostic::error(
                    "type-mismatch",
                    format!("a result of type `{}` is equated with `{}`", ty.text(), item.ty.text()),
                )
                .at(item.span, format!("this is `{}`", item.ty.text()))
                .at(right.span, format!("this gives `{}`", ty.text()))
                .specification("8.3.1");
                self.report(diagnostic);
                return None;
            }
        }
        Some(TypedEquationKind::Several(items, right))
    }
}

/// `Connections.branch(…)` and the like: they describe a graph, not equations.
fn is_graph_operator(function: &ast::ComponentRef) -> bool {
    matches!(function.parts.as_slice(), [first, _] if first.ident.name == "Connections")
}

fn expressions_of(body: &[ast::Equation], found: &mut Vec<ast::Expr>) {
    for equation in body {
        match &equation.kind {
            ast::EquationKind::Equal(left, right) => found.extend([left.clone(), right.clone()]),
            ast::EquationKind::Connect(left, right) => {
                let expr =
                    |end: &ast::ComponentRef| ast::Expr { kind: ast::ExprKind::Ref(end.clone()), span: end.span };
                found.extend([expr(left), expr(right)]);
            }
            ast::EquationKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    found.push(condition.clone());
                    expressions_of(body, found);
                }
                expressions_of(otherwise, found);
            }
            ast::EquationKind::For { body, .. } => expressions_of(body, found),
            ast::EquationKind::When { branches } => {
                for (condition, body) in branches {
                    found.push(condition.clone());
                    expressions_of(body, found);
                }
            }
            ast::EquationKind::Call(call) => found.push(call.clone()),
        }
    }
}

/// What the equations of one branch come to.
#[derive(Default)]
struct Collected {
    equations: Vec<Pair>,
    actions: Vec<(Option<ExprId>, ActionKind, Span)>,
}

struct Pair {
    left: ExprId,
    right: ExprId,
    role: EquationRole,
    span: Span,
    /// Numbers, for which a difference makes sense.
    numeric: bool,
}

impl Elaborator {
    /// Expands an equation section that stands in the text of `frame.class`, without the equations that another class of the
    /// instance has already.
    pub fn expand_equations(
        &mut self,
        frame: &Frame,
        texts: &[ast::Equation],
        repeated: &FxHashSet<Span>,
        path: PathId,
        initial: bool,
    ) {
        let key = (frame.class, texts.as_ptr() as usize);
        let typed = match self.typed.equations.get(&key) {
            Some(typed) => typed.clone(),
            None => {
                let mut typed = self.typed_equations(frame, texts, initial);
                typed.retain(|equation| !repeated.contains(&equation.span));
                let typed = Arc::new(typed);
                self.typed.equations.insert(key, typed.clone());
                typed
            }
        };
        self.expand_typed(frame, &typed, path, initial);
    }

    /// Expands an equation that no text contains; nothing is remembered of it.
    pub fn expand_generated(&mut self, frame: &Frame, equation: ast::Equation, path: PathId) {
        let typed = self.typed_equations(frame, &[equation], false);
        self.expand_typed(frame, &typed, path, false);
    }

    fn typed_equations(&mut self, frame: &Frame, texts: &[ast::Equation], initial: bool) -> Vec<TypedEquation> {
        let mut typer = Typer::new(self, frame.class, Context::Model);
        (typer.initial, typer.always) = (initial, !initial);
        typer.equations(texts)
    }

    fn expand_typed(&mut self, frame: &Frame, typed: &[TypedEquation], path: PathId, initial: bool) {
        let mut expander = Expander::new(self, frame.clone(), Mode::Flat);
        expander.path = path;
        expander.initial = initial;
        let mut collected = Collected::default();
        for equation in typed {
            if let Err(diagnostic) = expander.equation(equation, &mut collected) {
                let diagnostic = *diagnostic;
                expander.elaborator.report(diagnostic);
            }
        }
        collected.actions.append(&mut expander.actions);
        self.push_collected(collected, path, initial);
    }

    fn push_collected(&mut self, collected: Collected, path: PathId, initial: bool) {
        let model = &mut self.flat.model;
        for Pair { left, right, role, span, .. } in collected.equations {
            if let Some((one, other)) = crate::shared_objects::pair(model, left, right) {
                self.connected.equal_objects.push((one, other, span));
                continue;
            }
            let origin = Origin { component: path, span: Some(span), kind: OriginKind::Written };
            let equation = Equation { left, right, role, origin };
            if initial {
                model.initial_equations.push(equation);
            } else {
                model.equations.push(equation);
            }
        }
        for (condition, kind, span) in collected.actions {
            let origin = Origin { component: path, span: Some(span), kind: OriginKind::Written };
            let action = Action { kind, condition, origin };
            if initial {
                model.initial_actions.push(action);
            } else {
                model.actions.push(action);
            }
        }
    }

    /// A Boolean variable that follows an expression.
    pub(crate) fn auxiliary_boolean(&mut self, value: ExprId, path: PathId, span: Span) -> VarId {
        self.auxiliary(value, path, span, VariableType::Boolean, Variability::Discrete, "when")
    }

    /// A Real variable that follows an expression, so that it has a derivative.
    pub(crate) fn auxiliary_real(&mut self, value: ExprId, span: Span, path: PathId) -> VarId {
        self.auxiliary(value, path, span, VariableType::Real, Variability::Continuous, "expression")
    }

    fn auxiliary(
        &mut self,
        value: ExprId,
        path: PathId,
        span: Span,
        ty: VariableType,
        variability: Variability,
        what: &str,
    ) -> VarId {
        if let Some(&known) = self.expansion.auxiliary_variables.get(&value) {
            return known;
        }
        self.expansion.auxiliaries += 1;
        let name = Name::new(&format!("${what}{}", self.expansion.auxiliaries));
        let model = &mut self.flat.model;
        let own = model.paths.child(path, name, &[]);
        let variable = Variable { span: Some(span), ..Variable::hidden(own, ty, variability) };
        let variable = model.variables.push(variable);
        let left = model.exprs.var(variable);
        let origin = Origin { component: path, span: Some(span), kind: OriginKind::Auxiliary };
        model.equations.push(Equation { left, right: value, role: EquationRole::Plain, origin });
        self.expansion.auxiliary_variables.insert(value, variable);
        variable
    }

    /// What is left when all sections are expanded: parameters that became part of the structure are marked, and
    /// functions of one name get numbers.
    pub fn finish(&mut self) {
        let mut names: rustc_hash::FxHashMap<Name, usize> = Default::default();
        for function in self.flat.model.functions.values_mut() {
            let count = names.entry(function.name).or_default();
            *count += 1;
            if *count > 1 {
                let name = crate::functions::numbered(function.name, *count);
                Arc::make_mut(function).name = name;
            }
        }
        let mut decided = Vec::new();
        for (component, &span) in &self.structural {
            if let Some(scalars) = self.flat.scalars.get(component) {
                for &variable in scalars.variables.iter().flatten() {
                    self.flat.model.variables[variable].structural = true;
                    decided.push(dae::Decided { variable, span: Some(span) });
                }
            }
        }
        decided.sort_unstable_by_key(|decided| decided.variable);
        self.flat.model.decided.extend(decided);
    }
}

impl Expander<'_> {
    fn equation(&mut self, equation: &TypedEquation, out: &mut Collected) -> Outcome<()> {
        let span = equation.span;
        match &equation.kind {
            TypedEquationKind::Equal(left, right) => {
                let (a, b) = (self.expand(left)?, self.expand(right)?);
                self.equate(&a, &b, left, right, span, out)
            }
            TypedEquationKind::Several(items, right) => {
                let value = self.expand(right)?;
                let tuple = matches!(right.ty.base, Base::Tuple(_));
                for (position, item) in items.iter().enumerate() {
                    let Some(item) = item else { continue };
                    let output = if tuple { value.field(position) } else { Some(value.clone()) };
                    let Some(output) = output else { return Err(self.wrong_sizes(span, "a result is missing")) };
                    let left = self.expand(item)?;
                    self.equate(&left, &output, item, right, span, out)?;
                }
                Ok(())
            }
            TypedEquationKind::If { branches, otherwise } => self.if_equation(branches, otherwise, span, out),
            TypedEquationKind::For { iterators, body } => {
                let mut failed = None;
                self.for_each_iteration(iterators, &mut |expander| {
                    for equation in body {
                        if let Err(diagnostic) = expander.equation(equation, out) {
                            failed.get_or_insert(diagnostic);
                            break;
                        }
                    }
                    Ok(())
                })?;
                match failed {
                    Some(diagnostic) => Err(diagnostic),
                    None => Ok(()),
                }
            }
            TypedEquationKind::When { branches } => self.when_equation(branches, span, out),
            TypedEquationKind::Action(kind) => self.action(kind, span, out),
        }
    }

    fn equate(
        &mut self,
        a: &Symbolic,
        b: &Symbolic,
        left: &Expr,
        right: &Expr,
        span: Span,
        out: &mut Collected,
    ) -> Outcome<()> {
        let (x, y) = (a.scalars(), b.scalars());
        let empty = arrays::is_empty(a) && arrays::is_empty(b);
        if !empty && (a.sizes() != b.sizes() || x.len() != y.len()) {
            let diagnostic = Diagnostic::error(
                "size-mismatch",
                format!("the sides of the equation have sizes {} and {}", sizes_text(a.sizes()), sizes_text(b.sizes())),
            )
            .at(span, "")
            .at(left.span, format!("sizes {}", sizes_text(a.sizes())))
            .at(right.span, format!("sizes {}", sizes_text(b.sizes())))
            .specification("10.6.1");
            return Err(self.located(diagnostic));
        }
        let numeric = !matches!(
            left.ty.base,
            Base::Boolean | Base::String | Base::Enumeration(_) | Base::Clock | Base::Object(_)
        );
        for (left, right) in x.into_iter().zip(y) {
            out.equations.push(Pair { left, right, role: EquationRole::Plain, span, numeric });
        }
        Ok(())
    }

    fn action(&mut self, kind: &StatementKind, span: Span, out: &mut Collected) -> Outcome<()> {
        let kind = match kind {
            StatementKind::Assert { condition, message, level } => {
                let holds = self.scalar(condition)?;
                if self.exprs().as_boolean(holds) == Some(true) {
                    return Ok(());
                }
                let message = self.message(message)?;
                let warning = self.is_warning(level.as_ref())?;
                self.check_assertion(holds, message, warning, span)?;
                ActionKind::Assert { holds, message, warning }
            }
            StatementKind::Terminate(message) => ActionKind::Terminate { message: self.message(message)? },
            StatementKind::Reinit(target, value) => {
                let value = self.expand(value)?;
                self.reinit(target, &value, span)?;
                out.actions.append(&mut self.actions);
                return Ok(());
            }
            StatementKind::Call(call) => {
                let value = self.expand(call)?;
                match self.effect(&value) {
                    Some(effect) => effect,
                    None => return Ok(()),
                }
            }
            _ => return Ok(()),
        };
        out.actions.push((self.path_condition, kind, span));
        Ok(())
    }

    fn list(&mut self, body: &[TypedEquation], out: &mut Collected) -> Outcome<()> {
        body.iter().try_for_each(|equation| self.equation(equation, out))
    }

    fn if_equation(
        &mut self,
        branches: &[(Expr, Vec<TypedEquation>)],
        otherwise: &[TypedEquation],
        span: Span,
        out: &mut Collected,
    ) -> Outcome<()> {
        let mut open: Vec<(ExprId, &[TypedEquation])> = Vec::new();
        let mut last = otherwise;
        for (condition, body) in branches {
            let test = self.scalar(condition)?;
            let mut known = self.exprs().as_boolean(test);
            let is_open = known.is_none() && !self.elaborator.flat.model.is_from_flat_text;
            if is_open && condition.variability <= Variability::Parameter {
                known = self.evaluated_condition(condition).ok().flatten();
            }
            match known {
                Some(false) => {}
                Some(true) => {
                    last = body;
                    break;
                }
                None => open.push((test, body)),
            }
        }
        if open.is_empty() {
            return self.list(last, out);
        }
        // A branch may hold for an instant only, as a law of impact does, and relate values to those before it.
        let in_when = std::mem::replace(&mut self.in_when, true);
        let result = self.joined_branches(&open, last, span, out);
        self.in_when = in_when;
        result
    }

    /// Branches that stay: their equations are joined one by one.
    fn joined_branches(
        &mut self,
        open: &[(ExprId, &[TypedEquation])],
        last: &[TypedEquation],
        span: Span,
        out: &mut Collected,
    ) -> Outcome<()> {
        let outer = self.path_condition;
        let mut reached = outer;
        let mut parts = Vec::with_capacity(open.len() + 1);
        for &(test, body) in open {
            self.path_condition = Some(self.both(reached, test));
            let mut part = Collected::default();
            let result = self.list(body, &mut part);
            self.path_condition = outer;
            result?;
            parts.push(part);
            let not = self.exprs().not(test);
            reached = Some(self.both(reached, not));
        }
        self.path_condition = reached;
        let mut part = Collected::default();
        let result = self.list(last, &mut part);
        self.path_condition = outer;
        result?;
        parts.push(part);
        let count = parts[0].equations.len();
        if count > 0 && last.is_empty() {
            let diagnostic =
                Diagnostic::error("missing-else", "an if-equation whose condition varies needs an else branch")
                    .at(span, "this condition is not known at translation")
                    .hint(format!("add `else` with {}", crate::interfaces::count(count, "equation")))
                    .specification("8.3.4");
            return Err(self.located(diagnostic));
        }
        if let Some(odd) = parts.iter().find(|part| part.equations.len() != count) {
            let diagnostic = Diagnostic::error(
                "unequal-branches",
                format!("the branches of an if-equation have {count} and {} equations", odd.equations.len()),
            )
            .at(span, "this condition is not known at translation")
            .hint("give every branch as many equations, or make the condition a parameter")
            .specification("8.3.4");
            return Err(self.located(diagnostic));
        }
        for part in &mut parts {
            out.actions.append(&mut part.actions);
        }
        let tests: Vec<ExprId> = open.iter().map(|(test, _)| *test).collect();
        self.join_equations(&tests, parts, span, out);
        Ok(())
    }

    fn both(&mut self, reached: Option<ExprId>, test: ExprId) -> ExprId {
        match reached {
            Some(reached) => self.exprs().and(reached, test),
            None => test,
        }
    }

    fn join_equations(&mut self, tests: &[ExprId], mut parts: Vec<Collected>, span: Span, out: &mut Collected) {
        // Branches that define the same variables in another order are put in the order of the first.
        let first: Vec<ExprId> = parts[0].equations.iter().map(|pair| pair.left).collect();
        for part in parts.iter_mut().skip(1) {
            let mut order: Vec<usize> = Vec::with_capacity(first.len());
            for left in &first {
                match part.equations.iter().position(|pair| pair.left == *left) {
                    Some(at) if !order.contains(&at) => order.push(at),
                    _ => break,
                }
            }
            if order.len() == first.len() {
                let mut taken: Vec<Option<Pair>> = std::mem::take(&mut part.equations).into_iter().map(Some).collect();
                part.equations = order.into_iter().filter_map(|at| taken[at].take()).collect();
            }
        }
        for (at, &target) in first.iter().enumerate() {
            let same = parts.iter().all(|part| part.equations[at].left == target);
            let numeric = parts.iter().all(|part| part.equations[at].numeric);
            let role = match &parts[0].equations[at].role {
                EquationRole::When(clause) => EquationRole::When(clause.clone()),
                _ => EquationRole::Plain,
            };
            let mut sides: Vec<ExprId> = Vec::with_capacity(parts.len());
            for part in &parts {
                let Pair { left, right, .. } = part.equations[at];
                sides.push(if same || !numeric { right } else { self.exprs().sub(left, right) });
            }
            let Some(mut value) = sides.pop() else { continue };
            for (&test, &side) in tests.iter().zip(&sides).rev() {
                value = self.exprs().if_(test, side, value);
            }
            let left = if same || !numeric { first[at] } else { self.exprs().real(0.0) };
            out.equations.push(Pair { left, right: value, role, span, numeric });
        }
    }

    /// The Boolean variables of the elements of a when condition, and whether it is active: one of them just became true,
    /// or one is written as `initial()` and this is the initialisation. What merely comes to `initial()` is a condition like
    /// others (8.6).
    pub(crate) fn rising(&mut self, condition: &Symbolic, written: &Expr) -> (SmallVec<[VarId; 1]>, ExprId) {
        let span = written.span;
        let is_initial = |element: &Expr| matches!(element.kind, Kind::Operator(Operator::Initial, _));
        let mut variables = SmallVec::new();
        let mut active: Option<ExprId> = None;
        for (position, id) in condition.scalars().into_iter().enumerate() {
            let at_start = match &written.kind {
                Kind::Array(elements) => elements.get(position).is_some_and(is_initial),
                _ => is_initial(written),
            };
            let variable = match self.exprs().node(id) {
                Node::Builtin(Builtin::Initial, _) if at_start => {
                    active = Some(match active {
                        Some(active) => self.exprs().or(active, id),
                        None => id,
                    });
                    continue;
                }
                Node::Var(variable) if self.elaborator.flat.model.variables[variable].ty == VariableType::Boolean => {
                    variable
                }
                Node::Boolean(false) => continue,
                _ => self.elaborator.auxiliary_boolean(id, self.path, span),
            };
            variables.push(variable);
            let edge = self.exprs().rising(variable);
            active = Some(match active {
                Some(active) => self.exprs().or(active, edge),
                None => edge,
            });
        }
        let active = match active {
            Some(active) => active,
            None => self.exprs().boolean(false),
        };
        (variables, active)
    }

    fn when_equation(
        &mut self,
        branches: &[(Expr, Vec<TypedEquation>)],
        span: Span,
        out: &mut Collected,
    ) -> Outcome<()> {
        if let Some((clock, _)) = branches.iter().find(|(condition, _)| matches!(condition.ty.base, Base::Clock)) {
            let [(condition, body)] = branches else {
                return Err(Box::new(
                    Diagnostic::error("when-form", "a clock and another condition in one when clause")
                        .at(clock.span, "this is a clock")
                        .hint("write a when clause of its own, without `elsewhen`")
                        .specification("16.6"),
                ));
            };
            return self.clocked_when(condition, body, span, out);
        }
        let mut conditions: SmallVec<[VarId; 1]> = SmallVec::new();
        let mut parts = Vec::with_capacity(branches.len());
        let mut reached: Option<ExprId> = self.path_condition;
        let outer = self.path_condition;
        for (condition, body) in branches {
            let value = self.expand(condition)?;
            let (variables, active) = self.rising(&value, condition);
            for variable in variables {
                if !conditions.contains(&variable) {
                    conditions.push(variable);
                }
            }
            self.path_condition = Some(self.both(reached, active));
            let events = std::mem::replace(&mut self.events, Events::OnTime);
            let in_when = std::mem::replace(&mut self.in_when, true);
            let mut part = Collected::default();
            let result = self.list(body, &mut part);
            (self.events, self.in_when) = (events, in_when);
            self.path_condition = outer;
            result?;
            out.actions.append(&mut part.actions);
            parts.push((active, part.equations));
            let not = self.exprs().not(active);
            reached = Some(self.both(reached, not));
        }
        self.elaborator.expansion.clauses += 1;
        let clause = WhenClause { clause: self.elaborator.expansion.clauses, conditions };
        self.hold_outside(&clause, parts, span, out)
    }

    /// All branches of a when clause determine the same variables; one that is left out keeps its value.
    fn report_unequal_branches(&mut self, variable: VarId, place: Span) {
        let name = self.elaborator.flat.model.variable_name(variable);
        let diagnostic = Diagnostic::breach(
            "when-branches",
            format!("a branch of the when clause does not determine `{name}`, and another one does"),
        )
        .at(place, "determined here")
        .hint(format!("write `{name} = pre({name})` in the other branches, or a when clause of its own"))
        .specification("8.3.5.2");
        let diagnostic = self.located(diagnostic);
        self.elaborator.instances.report(diagnostic);
    }

    /// `v = if edge(c1) then e1 elseif edge(c2) then e2 else pre(v)` for every variable.
    fn hold_outside(
        &mut self,
        clause: &WhenClause,
        parts: Vec<(ExprId, Vec<Pair>)>,
        span: Span,
        out: &mut Collected,
    ) -> Outcome<()> {
        let mut order: Vec<VarId> = Vec::new();
        let mut values: rustc_hash::FxHashMap<VarId, Vec<(usize, ExprId, Span)>> = Default::default();
        let branches: Vec<ExprId> = parts.iter().map(|&(active, _)| active).collect();
        for (branch, (_, pairs)) in parts.into_iter().enumerate() {
            for pair in pairs {
                let (variable, value) = match (self.exprs().node(pair.left), self.exprs().node(pair.right)) {
                    (Node::Var(variable), _) => (variable, pair.right),
                    (_, Node::Var(variable)) => (variable, pair.left),
                    _ => {
                        let diagnostic = Diagnostic::error(
                            "when-form",
                            "an equation in a when clause must have a variable on its left side",
                        )
                        .at(pair.span, "")
                        .specification("8.3.5.1");
                        return Err(self.located(diagnostic));
                    }
                };
                let list = values.entry(variable).or_default();
                if list.is_empty() {
                    order.push(variable);
                }
                list.push((branch, value, pair.span));
            }
        }
        for variable in order {
            let Some(list) = values.remove(&variable) else { continue };
            if (0..branches.len()).any(|branch| !list.iter().any(|&(of, ..)| of == branch)) {
                self.report_unequal_branches(variable, list.first().map_or(span, |&(_, _, span)| span));
            }
            let kept = self.exprs().pre(variable);
            let mut value = kept;
            for (branch, &active) in branches.iter().enumerate().rev() {
                // A branch that does not assign the variable hides the later ones all the same.
                let assigned = list.iter().find(|&&(of, ..)| of == branch).map(|&(_, then, _)| then);
                value = self.exprs().if_(active, assigned.unwrap_or(kept), value);
            }
            let place = list.first().map_or(span, |&(_, _, span)| span);
            let declared = &mut self.elaborator.flat.model.variables[variable];
            declared.variability = declared.variability.min(Variability::Discrete);
            let left = self.exprs().var(variable);
            let role = EquationRole::When(clause.clone());
            out.equations.push(Pair { left, right: value, role, span: place, numeric: true });
        }
        Ok(())
    }

    /// `when Clock(…) then`: the equations hold at the ticks of that clock (16.6).
    fn clocked_when(
        &mut self,
        condition: &Expr,
        body: &[TypedEquation],
        span: Span,
        out: &mut Collected,
    ) -> Outcome<()> {
        let clock = self.scalar(condition)?;
        let mut part = Collected::default();
        let in_when = std::mem::replace(&mut self.in_when, true);
        let result = self.list(body, &mut part);
        self.in_when = in_when;
        result?;
        out.actions.append(&mut part.actions);
        self.elaborator.expansion.clauses += 1;
        let clause = i64::from(self.elaborator.expansion.clauses);
        let marker = self.exprs().int(clause);
        for pair in part.equations {
            // A sample with a third argument has no effect on the value: it ties it to the ticks of the clock, and the
            // equations of the clause to each other.
            let right = self.exprs().builtin(Builtin::SampleClocked, &[pair.right, clock, marker]);
            let _ = span;
            out.equations.push(Pair { right, ..pair });
        }
        Ok(())
    }
}
