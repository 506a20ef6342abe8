//! Symbolic execution of statements (chapter 11): branches that are not known are both executed and joined by
//! if-expressions, loops are unrolled, `when` becomes a branch on its rising edge.

use base::{Diagnostic, Span};
use dae::expr::CompareOp;
use dae::{ActionKind, ExprId, Node, VarId, Variability};
use rustc_hash::FxHashMap;

use super::references::{Axis, Choice};
use super::{Events, Expander, Mode, Positions, Symbolic, sizes_text};
use crate::instance::{CompId, Outcome};
use crate::typed::{Base, Expr, Kind, Statement, StatementKind};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    Next,
    Break,
    Return,
}

type State = (Vec<Option<Symbolic>>, Option<FxHashMap<VarId, ExprId>>);

impl Expander<'_> {
    pub fn run(&mut self, statements: &[Statement]) -> Outcome<Flow> {
        for (position, statement) in statements.iter().enumerate() {
            if self.budget == 0 {
                return Err(self.too_long(statement.span));
            }
            self.budget -= 1;
            // Only loops may have done something before they fail.
            let is_loop = matches!(statement.kind, StatementKind::For { .. } | StatementKind::While { .. });
            let before: Option<State> = is_loop.then(|| (self.locals.clone(), self.assigned.clone()));
            let stops = (self.broken, self.returned);
            let actions = self.actions.len();
            let flow = stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.statement(statement));
            let flow = match flow {
                Ok(flow) => flow,
                // What is wrong stays wrong; only what is not known yet is left to run time.
                Err(diagnostic) if !matches!(diagnostic.code, "too-long" | "not-constant") => return Err(diagnostic),
                Err(diagnostic) => {
                    (self.broken, self.returned) = stops;
                    self.actions.truncate(actions);
                    if let Some(before) = before {
                        (self.locals, self.assigned) = before;
                    }
                    match self.outlined(statement)? {
                        true => Flow::Next,
                        false => return Err(diagnostic),
                    }
                }
            };
            if flow != Flow::Next {
                return Ok(flow);
            }
            let rest = &statements[position + 1..];
            if let (Some(left), Some(next)) = (self.left(), rest.first()) {
                return self.guarded(left, next.span, &mut |expander| expander.run(rest));
            }
        }
        Ok(Flow::Next)
    }

    /// The condition under which a `break` or `return` was reached before, where it is not known now.
    fn left(&mut self) -> Option<ExprId> {
        match (self.broken, self.returned) {
            (Some(broken), Some(returned)) => Some(self.exprs().or(broken, returned)),
            (broken, returned) => broken.or(returned),
        }
    }

    /// Runs only where neither `break` nor `return` was reached before.
    fn guarded(&mut self, left: ExprId, span: Span, body: &mut dyn FnMut(&mut Self) -> Outcome<Flow>) -> Outcome<Flow> {
        let stays = self.exprs().not(left);
        self.branch(
            stays,
            span,
            &mut |expander| {
                (expander.broken, expander.returned) = (None, None);
                body(expander)
            },
            &mut |_| Ok(Flow::Next),
        )
    }

    fn too_long(&self, span: Span) -> Box<Diagnostic> {
        self.located(
            Diagnostic::error("too-long", "this algorithm takes too many steps to be written out").at(span, ""),
        )
    }

    fn statement(&mut self, statement: &Statement) -> Outcome<Flow> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign(target, value) => {
                let value = self.expand(value)?;
                self.assign_component(target, &value)?;
            }
            StatementKind::AssignSeveral(targets, call) => {
                let value = self.expand(call)?;
                let tuple = matches!(call.ty.base, Base::Tuple(_));
                for (position, target) in targets.iter().enumerate() {
                    let Some(target) = target else { continue };
                    let output = if tuple { value.field(position) } else { Some(value.clone()) };
                    let Some(output) = output else { return Err(self.wrong_sizes(span, "a result is missing")) };
                    self.assign_component(target, &output)?;
                }
            }
            StatementKind::If { branches, otherwise } => return self.run_if(branches, otherwise),
            StatementKind::For { iterators, body } => {
                let mut flow = Flow::Next;
                let outer = self.broken.take();
                // The first iterator is the outermost loop of a statement.
                let reversed: Vec<_> = iterators.iter().rev().cloned().collect();
                let mut ran = false;
                self.for_each_iteration(&reversed, &mut |expander| {
                    ran = true;
                    if flow != Flow::Next {
                        return Ok(());
                    }
                    flow = match expander.left() {
                        Some(left) => expander.guarded(left, span, &mut |expander| expander.run(body))?,
                        None => expander.run(body)?,
                    };
                    Ok(())
                })?;
                self.broken = outer;
                if self.finds_targets && !ran {
                    // What a loop without turns assigns keeps its value (11.1.2).
                    let first = Symbolic::Scalar(self.exprs().int(1));
                    iterators.iter().for_each(|iterator| self.set_local(iterator.local, Some(first.clone())));
                    self.note_targets(body);
                }
                if flow == Flow::Return {
                    return Ok(Flow::Return);
                }
            }
            StatementKind::While { condition, body } => return self.run_while(condition, body),
            StatementKind::When { branches } => return self.run_when(branches),
            StatementKind::Break => return Ok(Flow::Break),
            StatementKind::Return => return Ok(Flow::Return),
            StatementKind::Assert { condition, message, level } => {
                let holds = self.scalar(condition)?;
                if self.exprs().as_boolean(holds) == Some(true) {
                    return Ok(Flow::Next);
                }
                let message = self.message(message)?;
                let warning = self.is_warning(level.as_ref())?;
                self.check_assertion(holds, message, warning, span)?;
                self.push_action(ActionKind::Assert { holds, message, warning }, span);
            }
            StatementKind::Terminate(message) => {
                let message = self.message(message)?;
                self.push_action(ActionKind::Terminate { message }, span);
            }
            StatementKind::Reinit(target, value) => {
                let value = self.expand(value)?;
                self.reinit(target, &value, span)?;
            }
            StatementKind::Call(call) => {
                let value = self.expand(call)?;
                if let Some(effect) = self.effect(&value) {
                    self.push_action(effect, span);
                }
            }
        }
        Ok(Flow::Next)
    }

    /// A text that is made only where it is needed: what it checks is checked then.
    pub(crate) fn message(&mut self, message: &Expr) -> Outcome<ExprId> {
        let before = self.actions.len();
        let text = self.scalar(message);
        self.actions.truncate(before);
        text
    }

    pub(crate) fn push_action(&mut self, kind: ActionKind, span: Span) {
        self.actions.push((self.path_condition, kind, span));
    }

    /// What a call for its effect leaves to do besides its checks, for which it asked itself.
    pub(crate) fn effect(&mut self, results: &Symbolic) -> Option<ActionKind> {
        let first = *results.scalars().first()?;
        let is_call = matches!(self.exprs().node(first), Node::Call { .. });
        (is_call && !self.is_checked_call(first)).then_some(ActionKind::Call(first))
    }

    /// An assertion that never holds is an error already now.
    pub(crate) fn check_assertion(&mut self, holds: ExprId, message: ExprId, warning: bool, span: Span) -> Outcome<()> {
        if warning || self.path_condition.is_some() || self.exprs().as_boolean(holds) != Some(false) {
            return Ok(());
        }
        let text = self.exprs().as_string(message).unwrap_or("its condition is false");
        let diagnostic =
            Diagnostic::error("assertion", format!("an assertion fails: {text}")).at(span, "").specification("8.3.7");
        Err(self.located(diagnostic))
    }

    pub(crate) fn is_warning(&mut self, level: Option<&Expr>) -> Outcome<bool> {
        let Some(level) = level else { return Ok(false) };
        // `AssertionLevel.warning` is the first literal.
        Ok(self.integer(level)? == 1)
    }

    /// One action for each scalar of the states.
    pub(crate) fn reinit(&mut self, target: &Expr, value: &Symbolic, span: Span) -> Outcome<()> {
        let assigned = self.assigned.take();
        let states = self.expand(target);
        self.assigned = assigned;
        let (states, values) = (states?.scalars(), value.scalars());
        if states.len() != values.len() {
            return Err(self.wrong_sizes(span, "the new values have other sizes than the variable"));
        }
        for (state, value) in states.into_iter().zip(values) {
            let Node::Var(state) = self.exprs().node(state) else {
                return Err(self.located(Diagnostic::error("not-a-variable", "`reinit` needs a variable").at(span, "")));
            };
            self.push_action(ActionKind::Reinit { state, value }, span);
        }
        Ok(())
    }

    fn run_if(&mut self, branches: &[(Expr, Vec<Statement>)], otherwise: &[Statement]) -> Outcome<Flow> {
        let Some(((condition, body), rest)) = branches.split_first() else { return self.run(otherwise) };
        let test = self.scalar(condition)?;
        if let Some(known) = self.exprs().as_boolean(test) {
            return self.run_known(known, branches, otherwise);
        }
        let both = |expander: &mut Self| {
            expander.branch(test, condition.span, &mut |e| e.run(body), &mut |e| e.run_if(rest, otherwise))
        };
        if condition.variability > Variability::Parameter || self.mode != Mode::Flat || self.function.is_some() {
            return both(self);
        }
        let before: State = (self.locals.clone(), self.assigned.clone());
        let (stops, path_condition, actions) = ((self.broken, self.returned), self.path_condition, self.actions.len());
        let joined = both(self);
        // One branch makes no sense for the sizes of this instance: the condition chooses now.
        if joined.is_err()
            && let Ok(Some(known)) = self.evaluated_condition(condition)
        {
            (self.locals, self.assigned) = before;
            ((self.broken, self.returned), self.path_condition) = (stops, path_condition);
            self.actions.truncate(actions);
            return self.run_known(known, branches, otherwise);
        }
        joined
    }

    /// The first branch, or the others, by a condition that is known.
    fn run_known(
        &mut self,
        condition: bool,
        branches: &[(Expr, Vec<Statement>)],
        otherwise: &[Statement],
    ) -> Outcome<Flow> {
        let Some(((_, body), rest)) = branches.split_first() else { return self.run(otherwise) };
        if condition {
            if self.finds_targets {
                let others = rest.iter().map(|(_, body)| body.as_slice());
                others.chain([otherwise]).for_each(|body| self.note_targets(body));
            }
            return self.run(body);
        }
        if self.finds_targets {
            self.note_targets(body);
        }
        self.run_if(rest, otherwise)
    }

    /// Counts what a branch that is never taken assigns among the variables of the section (11.1): they keep their values.
    /// What is wrong in such a branch does not matter.
    fn note_targets(&mut self, body: &[Statement]) {
        let before: State = (self.locals.clone(), self.assigned.clone());
        let (broken, returned, actions) = (self.broken, self.returned, self.actions.len());
        let path_condition = self.path_condition;
        let said = self.elaborator.instances.diagnostics.len();
        let _ = self.run(body);
        self.elaborator.instances.diagnostics.truncate(said);
        let found = std::mem::replace(&mut self.assigned, before.1);
        self.locals = before.0;
        (self.broken, self.returned, self.path_condition) = (broken, returned, path_condition);
        self.actions.truncate(actions);
        for variable in found.into_iter().flat_map(|found| found.into_keys()) {
            let value = self.exprs().var(variable);
            if let Some(assigned) = &mut self.assigned {
                assigned.entry(variable).or_insert(value);
            }
        }
    }

    /// Both branches, joined by the condition.
    fn branch(
        &mut self,
        test: ExprId,
        span: Span,
        then: &mut dyn FnMut(&mut Self) -> Outcome<Flow>,
        otherwise: &mut dyn FnMut(&mut Self) -> Outcome<Flow>,
    ) -> Outcome<Flow> {
        let before: State = (self.locals.clone(), self.assigned.clone());
        let stops = (self.broken, self.returned);
        let outer = self.path_condition;
        let joined = |expander: &mut Self, condition| match outer {
            Some(outer) => expander.exprs().and(outer, condition),
            None => condition,
        };
        self.path_condition = Some(joined(self, test));
        let first = then(self)?;
        let first_stops = self.stops(first);
        (self.broken, self.returned) = stops;
        let after: State =
            (std::mem::replace(&mut self.locals, before.0), std::mem::replace(&mut self.assigned, before.1));
        let not = self.exprs().not(test);
        self.path_condition = Some(joined(self, not));
        let second = otherwise(self)?;
        let second_stops = self.stops(second);
        self.path_condition = outer;
        self.merge(test, after, span)?;
        if first == second && first != Flow::Next {
            (self.broken, self.returned) = stops;
            return Ok(first);
        }
        self.broken = self.join_stops(test, first_stops.0, second_stops.0);
        self.returned = self.join_stops(test, first_stops.1, second_stops.1);
        Ok(Flow::Next)
    }

    /// When the branch that just ended was left by `break` or `return`.
    fn stops(&mut self, flow: Flow) -> (Option<ExprId>, Option<ExprId>) {
        let always = self.exprs().boolean(true);
        match flow {
            Flow::Next => (self.broken, self.returned),
            Flow::Break => (Some(always), self.returned),
            Flow::Return => (self.broken, Some(always)),
        }
    }

    fn join_stops(&mut self, test: ExprId, then: Option<ExprId>, otherwise: Option<ExprId>) -> Option<ExprId> {
        let joined = match (then, otherwise) {
            (None, None) => return None,
            (Some(then), None) => self.exprs().and(test, then),
            (None, Some(otherwise)) => {
                let not = self.exprs().not(test);
                self.exprs().and(not, otherwise)
            }
            (Some(then), Some(otherwise)) => self.exprs().if_(test, then, otherwise),
        };
        if self.exprs().as_boolean(joined) == Some(false) { None } else { Some(joined) }
    }

    fn merge(&mut self, test: ExprId, then: State, span: Span) -> Outcome<()> {
        let (locals, assigned) = then;
        let length = locals.len().max(self.locals.len());
        self.locals.resize(length, None);
        for (at, value) in locals.into_iter().enumerate() {
            let joined = match (value, self.locals[at].take()) {
                (Some(a), Some(b)) if a == b => Some(a),
                (Some(a), Some(b)) => {
                    let exprs = self.exprs();
                    match a.zip(&b, &mut |x, y| exprs.if_(test, x, y)) {
                        Some(joined) => Some(joined),
                        None => return Err(self.wrong_sizes(span, "the branches give different sizes")),
                    }
                }
                _ => None,
            };
            self.locals[at] = joined;
        }
        let (Some(assigned), Some(mut own)) = (assigned, self.assigned.take()) else { return Ok(()) };
        for (variable, value) in assigned {
            let other = match own.get(&variable) {
                Some(&other) => other,
                None => self.exprs().var(variable),
            };
            let joined = self.exprs().if_(test, value, other);
            own.insert(variable, joined);
        }
        self.assigned = Some(own);
        Ok(())
    }

    fn run_while(&mut self, condition: &Expr, body: &[Statement]) -> Outcome<Flow> {
        let outer = self.broken.take();
        loop {
            let test = self.scalar(condition)?;
            match self.exprs().as_boolean(test) {
                Some(true) => {}
                Some(false) => break,
                None => return Err(self.too_long(condition.span)),
            }
            if self.budget == 0 {
                return Err(self.too_long(condition.span));
            }
            self.budget -= 1;
            let flow = match self.left() {
                Some(left) => self.guarded(left, condition.span, &mut |expander| expander.run(body))?,
                None => self.run(body)?,
            };
            match flow {
                Flow::Next => {}
                Flow::Break => break,
                Flow::Return => {
                    self.broken = outer;
                    return Ok(Flow::Return);
                }
            }
        }
        self.broken = outer;
        Ok(Flow::Next)
    }

    /// `when c then … elsewhen d then …`: a branch on the rising edge of each condition in turn.
    fn run_when(&mut self, branches: &[(Expr, Vec<Statement>)]) -> Outcome<Flow> {
        let Some(builder) = self.when else {
            let span = branches.first().map_or_else(|| self.frame_span(), |(condition, _)| condition.span);
            return Err(self.too_long(span));
        };
        // All conditions are taken before any body runs.
        let mut active = Vec::with_capacity(branches.len());
        for (condition, _) in branches {
            let value = self.expand(condition)?;
            active.push(builder(self, value, condition)?);
        }
        let events = std::mem::replace(&mut self.events, Events::OnTime);
        let in_when = std::mem::replace(&mut self.in_when, true);
        let result = self.run_active(&active, branches);
        self.in_when = in_when;
        self.events = events;
        result
    }

    fn run_active(&mut self, active: &[ExprId], branches: &[(Expr, Vec<Statement>)]) -> Outcome<Flow> {
        let (Some((&test, active)), Some(((condition, body), rest))) = (active.split_first(), branches.split_first())
        else {
            return Ok(Flow::Next);
        };
        self.branch(test, condition.span, &mut |e| e.run(body), &mut |e| e.run_active(active, rest))
    }

    fn frame_span(&self) -> Span {
        self.elaborator.instances.definition(self.frame.class).span
    }

    pub(crate) fn assign_component(&mut self, target: &Expr, value: &Symbolic) -> Outcome<()> {
        if self.mode != Mode::Flat || self.assigned.is_none() {
            return Err(self.not_constant(target.span, "this assignment"));
        }
        let targets = self.targets(target)?;
        if self.finds_targets {
            self.note_whole(target)?;
        }
        if targets.len() > 1 || targets.iter().any(|(condition, _)| condition.is_some()) {
            return self.assign_one_of(targets, target, value);
        }
        let Some((_, variables)) = targets.into_iter().next() else { return Ok(()) };
        let flat: Vec<ExprId> = variables.scalars();
        let values = value.scalars();
        if flat.len() != values.len() || variables.sizes() != value.sizes() {
            let message =
                format!("sizes {} are assigned to sizes {}", sizes_text(value.sizes()), sizes_text(variables.sizes()));
            return Err(self.wrong_sizes(target.span, message));
        }
        for (variable, value) in flat.into_iter().zip(values) {
            match self.exprs().node(variable) {
                Node::Var(variable) => self.set_variable(variable, value),
                // A constant of a record, which has its value already.
                _ if variable == value => {}
                _ => return Err(self.not_constant(target.span, "what is assigned")),
            }
        }
        Ok(())
    }

    /// With one element the whole array is a variable of the section (11.1.2).
    fn note_whole(&mut self, target: &Expr) -> Outcome<()> {
        let mut whole = target.clone();
        let Kind::Component(reference) = &mut whole.kind else { return Ok(()) };
        let mut is_element = false;
        for (from_last, step) in reference.steps.iter_mut().rev().enumerate() {
            // An array of records is one of their fields, too; components of models are variables of their own.
            if from_last > 0 && !self.elaborator.instances.is_record_component(step.component) {
                break;
            }
            is_element |= !step.subscripts.is_empty();
            step.subscripts.clear();
        }
        if !is_element {
            return Ok(());
        }
        let assigned = self.assigned.take();
        let variables = self.expand(&whole);
        self.assigned = assigned;
        for id in variables?.scalars() {
            if let (Node::Var(variable), Some(assigned)) =
                (self.elaborator.flat.model.exprs.node(id), &mut self.assigned)
            {
                assigned.entry(variable).or_insert(id);
            }
        }
        Ok(())
    }

    fn set_variable(&mut self, variable: VarId, value: ExprId) {
        if self.in_when {
            self.assigned_in_when.insert(variable);
        }
        if let Some(assigned) = &mut self.assigned {
            assigned.insert(variable, value);
        }
    }

    /// With a subscript that is known at run time only, every element may be the one that is assigned.
    fn assign_one_of(
        &mut self,
        targets: Vec<(Option<ExprId>, Symbolic)>,
        target: &Expr,
        value: &Symbolic,
    ) -> Outcome<()> {
        let values = value.scalars();
        for (condition, variables) in targets {
            let flat = variables.scalars();
            if flat.len() != values.len() {
                return Err(self.wrong_sizes(target.span, "the sizes of the assigned part and the value differ"));
            }
            for (variable, &value) in flat.into_iter().zip(&values) {
                let Node::Var(variable) = self.exprs().node(variable) else {
                    return Err(self.not_constant(target.span, "what is assigned"));
                };
                let before = self.assigned.as_ref().and_then(|assigned| assigned.get(&variable).copied());
                let before = match before {
                    Some(before) => before,
                    None => self.exprs().var(variable),
                };
                let value = match condition {
                    Some(condition) => self.exprs().if_(condition, value, before),
                    None => value,
                };
                self.set_variable(variable, value);
            }
        }
        Ok(())
    }

    /// The variables that a target names. With subscripts that are known at run time only, there is one entry for each
    /// position, with the condition that it is the one.
    fn targets(&mut self, target: &Expr) -> Outcome<Vec<(Option<ExprId>, Symbolic)>> {
        let Kind::Component(reference) = &target.kind else {
            return Err(self.elaborator.failed_above(target.span));
        };
        let Some(last) = reference.steps.last().map(|step| step.component) else {
            return Err(self.elaborator.failed_above(target.span));
        };
        let axes = self.axes(reference)?;
        let assigned = self.assigned.take();
        let found = self.possible(last, axes, target);
        self.assigned = assigned;
        found
    }

    fn possible(
        &mut self,
        component: CompId,
        axes: Vec<Axis>,
        target: &Expr,
    ) -> Outcome<Vec<(Option<ExprId>, Symbolic)>> {
        let mut open: Vec<(Option<ExprId>, Vec<Axis>)> = vec![(None, axes)];
        let mut done = Vec::new();
        while let Some((condition, axes)) = open.pop() {
            let dynamic = axes.iter().position(|axis| matches!(axis.choice, Choice::Dynamic(_)));
            let Some(at) = dynamic else {
                done.push((condition, self.gather(component, &axes, target)?));
                continue;
            };
            let Choice::Dynamic(position) = axes[at].choice else { continue };
            for k in 0..axes[at].size {
                let number = self.exprs().int(k as i64 + 1);
                let here = self.exprs().compare(CompareOp::Equal, false, position, number);
                let both = match condition {
                    Some(condition) => self.exprs().and(condition, here),
                    None => here,
                };
                let mut fixed = axes.clone();
                fixed[at].choice = Choice::Fixed(Positions::One(k));
                open.push((Some(both), fixed));
            }
        }
        Ok(done)
    }
}
